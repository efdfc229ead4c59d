//! Every refusal of the reference's commands, in the order of the checks, and that no refusal
//! changes anything: those that a table can hold are in `errors.txt`.

use expect_test::expect;

use super::script::COMMANDS;
use crate::support::core::{Core, Reply, Wire, script, short};

/// The call is refused with this text, and changes nothing. Texts of the core have a position before
/// them, those of Redis need not: `…` at an end stands for anything.
#[track_caller]
fn says(core: &mut Core, line: &str, text: &str) {
    let error = core.refused(line);
    let error = short(&error);
    let is_as_expected = match (text.strip_prefix('…'), text.strip_suffix('…')) {
        (Some(rest), _) => error.contains(rest.trim_end_matches('…')),
        (None, Some(start)) => error.starts_with(&format!("user_script:N: {start}")),
        (None, None) => error.trim_end() == format!("user_script:N: {}", text.trim_end()),
    };
    assert!(is_as_expected, "`{line}` says `{error}`, not `{text}`");
}

/// The states of [`one_of_each`].
pub(crate) const STATES: [&str; 7] = [
    "waiting",
    "scheduled",
    "depends",
    "running",
    "stalled",
    "failed",
    "complete",
];

/// A database with one job in each state, named after it, and a template `template`. The running
/// one is held by `w1` in `q`.
pub(crate) fn one_of_each() -> Core {
    let mut core = Core::new();
    put_one_of_each(&mut core);
    core
}

/// Fills an empty database as [`one_of_each`] does.
pub(crate) fn put_one_of_each(core: &mut Core) {
    core.all("put 0 w q complete K {} 0; pop 1 q w1 1; complete 2 complete w1 q {}");
    core.all("put 0 w q failed K {} 0; pop 1 q w1 1; fail 2 failed w1 G M");
    core.all("put 0 w q running K {} 0; pop 3 q w1 1");
    core.all("put 0 w q stalled K {} 0; pop 3 q w1 1; timeout 4 stalled");
    core.all("put 0 w q waiting K {} 0; put 0 w q scheduled K {} 1000");
    core.ok(r#"put 0 w q depends K {} 0 depends ["waiting"]"#);
    core.ok("recur 0 q template K {} interval 60 1000");
    core.events();
}

/// How a JSON argument fails, with the messages of the decoder.
const NOT_JSON: [(&str, &str); 3] = [
    (
        "{]",
        "Expected object key string but found T_ARR_END at character 2",
    ),
    ("''", "Expected value but found T_END at character 1"),
    (
        "'1 2'",
        "Expected the end but found T_NUMBER at character 3",
    ),
];

#[test]
fn calls_are_refused_with_the_text_of_the_table() {
    let core = &mut one_of_each();
    let deep = "[".repeat(1001);
    let too_deep = "Found too many nested data structures (1001) at character 1001";
    let mut calls = 0;
    for row in include_str!("errors.txt").lines() {
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        let (line, text) = row.split_once(" => ").expect("two columns");
        calls += 1;
        if text == "@" {
            for (document, text) in NOT_JSON.into_iter().chain([(&*deep, too_deep)]) {
                says(core, &line.replace('@', document), text);
            }
        } else {
            says(core, line, text);
        }
    }
    assert!(calls > 300, "{calls}");
}

#[test]
fn keys_are_refused_before_anything_else() {
    let mut core = Core::new();
    let script = script();
    let mut wire = Wire::connect(core.socket());
    for words in [&["k"][..], &["k", "get", "0", "j"], &["k", "nope", "x"]] {
        let mut argv: Vec<&[u8]> = vec![b"EVAL", script.as_bytes(), b"1"];
        argv.extend(words.iter().map(|word| word.as_bytes()));
        match wire.ask(&argv) {
            Reply::Error(error) => {
                assert_eq!(short(&error), "user_script:N: No Keys should be provided");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(core.dump().0.is_empty());
}

#[test]
fn a_call_without_a_command_is_refused() {
    let mut core = Core::new();
    let error = core.refused_words(&[]);
    assert_eq!(short(&error), "user_script:N: Must provide a command");
}

#[test]
fn a_bad_time_is_refused_before_every_argument() {
    let core = &mut Core::new();
    for command in COMMANDS {
        says(
            core,
            command,
            "bad argument #1 to 'tonumber' (value expected)",
        );
        says(
            core,
            &format!("{command} soon"),
            r#"Arg "now" missing or not a number: nil"#,
        );
        says(
            core,
            &format!("{command} ''"),
            r#"Arg "now" missing or not a number: nil"#,
        );
    }
}

#[test]
fn the_server_adds_its_prefix_to_the_error_text() {
    let mut core = Core::new();
    let error = core.refused("put 0 w");
    // Redis 6.2 has a position more before this one.
    let (prefix, _) = error
        .split_once(": Queue(): no queue name provided")
        .expect("the text");
    let (_, line) = prefix.rsplit_once("user_script:").expect("a position");
    assert!(line.parse::<usize>().is_ok(), "{error}");
    assert!(error.starts_with("ERR "), "{error}");
}

#[test]
fn complete_judges_its_arguments_in_order() {
    Core::new().session(expect![[r#"
        == Complete judges the job before the shape of its dependencies
        one_of_each
        complete 9 running w1 q {} depends 5 → error Complete(): "depends" cannot be used without a "next".
        complete 9 nope w1 q {} next q2 depends 5 → error Complete(): Job nope does not exist
        complete 9 waiting w1 q {} next q2 depends 5 → error Complete(): Job waiting is not currently running: waiting
        complete 9 running w2 q {} next q2 depends 5 → error Complete(): Job running has been handed out to another worker: w1
        complete 9 running w1 q {} next q2 depends 5 → error Complete(): Arg "depends" not JSON: 5
        complete 9 running w1 q {} depends null → error Complete(): "depends" cannot be used without a "next".
        complete 9 nope w1 q {} next q2 depends null → error Complete(): Job nope does not exist
        complete 9 waiting w1 q {} next q2 depends null → error Complete(): Job waiting is not currently running: waiting
        complete 9 running w2 q {} next q2 depends null → error Complete(): Job running has been handed out to another worker: w1
        complete 9 running w1 q {} next q2 depends null → error Complete(): Arg "depends" not JSON: null
        complete 9 running w1 q {} depends [[]] → error Complete(): "depends" cannot be used without a "next".
        complete 9 nope w1 q {} next q2 depends [[]] → error Complete(): Job nope does not exist
        complete 9 waiting w1 q {} next q2 depends [[]] → error Complete(): Job waiting is not currently running: waiting
        complete 9 running w2 q {} next q2 depends [[]] → error Complete(): Job running has been handed out to another worker: w1
        complete 9 running w1 q {} next q2 depends [[]] → error Complete(): Arg "depends" not JSON: [[]]
        complete 9 running w1 q {} depends "a" → error Complete(): "depends" cannot be used without a "next".
        complete 9 nope w1 q {} next q2 depends "a" → error Complete(): Job nope does not exist
        complete 9 waiting w1 q {} next q2 depends "a" → error Complete(): Job waiting is not currently running: waiting
        complete 9 running w2 q {} next q2 depends "a" → error Complete(): Job running has been handed out to another worker: w1
        complete 9 running w1 q {} next q2 depends "a" → error Complete(): Arg "depends" not JSON: "a"

        == D-14: complete requires an array of ids as dependencies
        one_of_each
        complete 9 running w1 q {} next q2 depends [{}] → error Complete(): Arg "depends" not JSON: [{}]
        complete 9 running w1 q {} next q2 depends ["waiting",{"a":1}] → error Complete(): Arg "depends" not JSON: ["waiting",{"a":1}]
        states running → running

        == An empty worker name can pop and complete but never heartbeat
        put 0 w q j K {} 0; pop 0 q '' 1
        heartbeat 1 j '' → error Heartbeat(): Job j given out to another worker:
        complete 1 j '' q {} → complete
    "#]]);
}

#[test]
fn put_requires_arrays_of_plain_values() {
    // D-19: refused before anything is written; the reference lost the job.
    let core = &mut one_of_each();
    for list in ["[[]]", "[{}]", r#"["a",{"b":1}]"#, "5", r#""a""#] {
        core.refused(&format!("put 9 w q2 waiting K {{}} 0 tags {list}"));
        core.refused(&format!("put 9 w q2 waiting K {{}} 0 depends {list}"));
        core.refused(&format!("put 9 w q2 new K {{}} 0 depends {list}"));
    }
    assert_eq!(core.json("get 9 waiting")["queue"], "q");
}

#[test]
fn d_76_a_job_id_with_a_reserved_suffix_is_refused() {
    let core = &mut one_of_each();
    for suffix in ["-history", "-dependencies", "-dependents"] {
        for jid in [
            format!("waiting{suffix}"),
            format!("new{suffix}"),
            suffix.to_owned(),
        ] {
            let error = core.refused(&format!("put 9 w q {jid} K {{}} 0"));
            assert!(
                short(&error).starts_with("user_script:N: Put(): "),
                "{error}"
            );
            assert!(error.contains(suffix), "{error}");
        }
    }
    core.ok("put 9 w q a-history-1 K {} 0");
    core.ok("put 9 w q history K {} 0");
}
