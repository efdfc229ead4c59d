//! Every refusal of the reference's commands, in the order of the checks, and that no refusal
//! changes anything.

use super::script::COMMANDS;
use crate::support::core::{Core, Reply, Wire, script, short};

/// The call is refused with exactly this text after the position, and changes nothing.
#[track_caller]
fn says(core: &mut Core, line: &str, text: &str) {
    let error = core.refused(line);
    assert_eq!(
        short(&error),
        format!("user_script:N: {text}"),
        "`{line}` says `{error}`"
    );
}

/// The call is refused with a message of Redis, which has no position, and changes nothing.
#[track_caller]
fn server_says(core: &mut Core, line: &str, text: &str) {
    let error = core.refused(line);
    assert!(error.contains(text), "`{line}` says `{error}`");
}

/// A database with one job in each state, named after it, and a template `template`. The running
/// one is held by `w1` in `q`.
pub(crate) fn one_of_each() -> Core {
    let mut core = Core::new();
    core.all("put 0 w q complete K {} 0; pop 1 q w1 1; complete 2 complete w1 q {}");
    core.all("put 0 w q failed K {} 0; pop 1 q w1 1; fail 2 failed w1 G M");
    core.all("put 0 w q running K {} 0; pop 3 q w1 1");
    core.all("put 0 w q stalled K {} 0; pop 3 q w1 1; timeout 4 stalled");
    core.all("put 0 w q waiting K {} 0; put 0 w q scheduled K {} 1000");
    core.ok(r#"put 0 w q depends K {} 0 depends ["waiting"]"#);
    core.ok("recur 0 q template K {} interval 60 1000");
    core.events();
    core
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

/// `line` with `@` replaced by invalid documents.
#[track_caller]
fn wants_json(core: &mut Core, line: &str) {
    for (document, text) in NOT_JSON {
        says(core, &line.replace('@', document), text);
    }
    let deep = "[".repeat(1001);
    says(
        core,
        &line.replace('@', &deep),
        "Found too many nested data structures (1001) at character 1001",
    );
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
fn an_unknown_command_is_refused_before_a_bad_time() {
    let core = &mut Core::new();
    says(core, "nope", "Unknown command nope");
    says(core, "nope x", "Unknown command nope");
    says(core, "Put 0 w q j K {} 0", "Unknown command Put");
    says(core, "'' 0", "Unknown command ");
    says(
        core,
        "ConsistencyCheck 0",
        "Unknown command ConsistencyCheck",
    );
    says(core, "command 0", "Unknown command command");
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
    let text = "Queue(): no queue name provided";
    let position = error.find("user_script:").expect("a position");
    let rest = &error[position + "user_script:".len()..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    assert!(digits > 0, "{error}");
    assert!(rest[digits..].starts_with(&format!(": {text}")), "{error}");
    assert!(error.starts_with("ERR "), "{error}");
}

#[test]
fn commands_about_a_job_require_its_id() {
    let core = &mut Core::new();
    for command in [
        "get",
        "complete",
        "fail",
        "retry",
        "depends",
        "heartbeat",
        "priority",
    ] {
        says(core, &format!("{command} 0"), "Job(): no jid provided");
    }
    for line in ["requeue 0", "requeue 0 w", "requeue 0 w q"] {
        says(core, line, "Job(): no jid provided");
    }
}

#[test]
fn commands_about_a_template_require_its_id() {
    let core = &mut Core::new();
    for command in [
        "unrecur",
        "recur.get",
        "recur.update",
        "recur.tag",
        "recur.untag",
    ] {
        says(
            core,
            &format!("{command} 0"),
            "Recurring(): no jid provided",
        );
    }
}

#[test]
fn commands_about_a_queue_require_its_name() {
    let core = &mut Core::new();
    for command in ["stats", "peek", "pop", "put", "unfail", "recur", "length"] {
        says(
            core,
            &format!("{command} 0"),
            "Queue(): no queue name provided",
        );
    }
    says(core, "put 0 w", "Queue(): no queue name provided");
}

#[test]
fn config_set_and_unset_require_their_arguments() {
    let core = &mut Core::new();
    says(
        core,
        "config.set 0",
        r#"config.set(): Arg "option" missing"#,
    );
    says(
        core,
        "config.set 0 heartbeat",
        r#"config.set(): Arg "value" missing"#,
    );
    says(
        core,
        "config.unset 0",
        r#"config.unset(): Arg "option" missing"#,
    );
}

#[test]
fn complete_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(
        core,
        "complete 9 nope",
        r#"Complete(): Arg "worker" missing"#,
    );
    says(
        core,
        "complete 9 nope w",
        r#"Complete(): Arg "queue" missing"#,
    );
    // D-66: the intended message, not the one of the interpreter.
    says(
        core,
        "complete 9 nope w q",
        r#"Complete(): Arg "data" missing or not JSON: nil"#,
    );
    wants_json(core, "complete 9 nope w q @ delay x depends {]");
    says(
        core,
        "complete 9 nope w q false",
        r#"Complete(): Arg "data" missing or not JSON: false"#,
    );
    says(
        core,
        "complete 9 nope w q {} delay x depends {]",
        "assertion failed!",
    );
    wants_json(core, "complete 9 nope w q {} delay 0 depends @");
    says(
        core,
        "complete 9 nope w q {} delay 0 depends false",
        r#"Complete(): Arg "depends" not JSON: false"#,
    );
    says(
        core,
        "complete 9 nope w q {} delay 1 depends []",
        r#"Complete(): "delay" cannot be used without a "next"."#,
    );
    says(
        core,
        r#"complete 9 nope w q {} depends ["a"]"#,
        r#"Complete(): "depends" cannot be used without a "next"."#,
    );
    says(
        core,
        "complete 9 nope w q {} next q2",
        "Complete(): Job nope does not exist",
    );
    for state in [
        "waiting",
        "scheduled",
        "depends",
        "stalled",
        "failed",
        "complete",
    ] {
        says(
            core,
            &format!("complete 9 {state} w2 q2 {{}}"),
            &format!("Complete(): Job {state} is not currently running: {state}"),
        );
    }
    says(
        core,
        "complete 9 template w q {}",
        "Complete(): Job template does not exist",
    );
    says(
        core,
        "complete 9 running w2 q2 {}",
        "Complete(): Job running has been handed out to another worker: w1",
    );
    says(
        core,
        "complete 9 running w1 q2 {}",
        "Complete(): Job running running in another queue: q",
    );
}

#[test]
fn complete_requires_an_array_of_ids_as_dependencies() {
    // D-14: refused before anything is written; the reference lost the job.
    let core = &mut one_of_each();
    for depends in [
        "[[]]",
        "[{}]",
        r#"["waiting",{"a":1}]"#,
        "5",
        r#""waiting""#,
    ] {
        core.refused(&format!(
            "complete 9 running w1 q {{}} next q2 depends {depends}"
        ));
    }
    assert_eq!(core.json("get 9 running")["state"], "running");
}

#[test]
fn complete_judges_the_job_before_the_shape_of_its_dependencies() {
    let core = &mut one_of_each();
    for odd in ["5", "null", "[[]]", r#""a""#] {
        says(
            core,
            &format!("complete 9 running w1 q {{}} depends {odd}"),
            r#"Complete(): "depends" cannot be used without a "next"."#,
        );
        says(
            core,
            &format!("complete 9 nope w1 q {{}} next q2 depends {odd}"),
            "Complete(): Job nope does not exist",
        );
        says(
            core,
            &format!("complete 9 waiting w1 q {{}} next q2 depends {odd}"),
            "Complete(): Job waiting is not currently running: waiting",
        );
        says(
            core,
            &format!("complete 9 running w2 q {{}} next q2 depends {odd}"),
            "Complete(): Job running has been handed out to another worker: w1",
        );
        let word = odd.trim_matches('"');
        let error = core.refused(&format!(
            "complete 9 running w1 q {{}} next q2 depends {odd}"
        ));
        assert!(short(&error).contains(word), "{error}");
        assert!(
            short(&error).contains(r#"Complete(): Arg "depends" not JSON"#),
            "{error}"
        );
    }
}

#[test]
fn fail_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(core, "fail 9 nope", r#"Fail(): Arg "worker" missing"#);
    says(core, "fail 9 nope w", r#"Fail(): Arg "group" missing"#);
    says(core, "fail 9 nope w G", r#"Fail(): Arg "message" missing"#);
    wants_json(core, "fail 9 nope w G M @");
    says(core, "fail 9 nope w G M", "Fail(): Job nopedoes not exist");
    says(
        core,
        "fail 9 template w G M",
        "Fail(): Job templatedoes not exist",
    );
    for state in [
        "waiting",
        "scheduled",
        "depends",
        "stalled",
        "failed",
        "complete",
    ] {
        says(
            core,
            &format!("fail 9 {state} w2 G M {{}}"),
            &format!("Fail(): Job {state}not currently running: {state}"),
        );
    }
    says(
        core,
        "fail 9 running w2 G M",
        "Fail(): Job running running with another worker: w1",
    );
}

#[test]
fn retry_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(core, "retry 9 nope", r#"Retry(): Arg "queue" missing"#);
    says(core, "retry 9 nope q", r#"Retry(): Arg "worker" missing"#);
    says(
        core,
        "retry 9 nope q w x",
        r#"Retry(): Arg "delay" not a number: x"#,
    );
    says(core, "retry 9 nope q w", "Retry(): Job nope does not exist");
    says(
        core,
        "retry 9 template q w",
        "Retry(): Job template does not exist",
    );
    for state in [
        "waiting",
        "scheduled",
        "depends",
        "stalled",
        "failed",
        "complete",
    ] {
        says(
            core,
            &format!("retry 9 {state} q w2"),
            &format!("Retry(): Job {state} is not currently running: {state}"),
        );
    }
    says(
        core,
        "retry 9 running q w2",
        "Retry(): Job running has been given to another worker: w1",
    );
}

#[test]
fn heartbeat_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(
        core,
        "heartbeat 9 nope",
        r#"Heatbeat(): Arg "worker" missing"#,
    );
    wants_json(core, "heartbeat 9 nope w @");
    says(
        core,
        "heartbeat 9 nope w",
        "Heartbeat(): Job nope does not exist",
    );
    says(
        core,
        "heartbeat 9 template w",
        "Heartbeat(): Job template does not exist",
    );
    for state in [
        "waiting",
        "scheduled",
        "depends",
        "stalled",
        "failed",
        "complete",
    ] {
        says(
            core,
            &format!("heartbeat 9 {state} w2"),
            &format!("Heartbeat(): Job {state} not currently running: {state}"),
        );
    }
    says(
        core,
        "heartbeat 9 running w2",
        "Heartbeat(): Job running given out to another worker: w1",
    );
}

#[test]
fn an_empty_worker_name_can_pop_and_complete_but_never_heartbeat() {
    let core = &mut Core::new();
    core.all("put 0 w q j K {} 0; pop 0 q '' 1");
    says(
        core,
        "heartbeat 1 j ''",
        "Heartbeat(): Job j given out to another worker: ",
    );
    assert_eq!(core.ok("complete 1 j '' q {}").text(), "complete");
}

#[test]
fn depends_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(
        core,
        "depends 9 nope",
        r#"Depends(): Arg "command" missing"#,
    );
    says(
        core,
        "depends 9 nope on a",
        "Depends(): Job nope not in the depends state: false",
    );
    says(
        core,
        "depends 9 template zap",
        "Depends(): Job template not in the depends state: false",
    );
    for state in [
        "waiting",
        "scheduled",
        "running",
        "stalled",
        "failed",
        "complete",
    ] {
        says(
            core,
            &format!("depends 9 {state} zap"),
            &format!("Depends(): Job {state} not in the depends state: {state}"),
        );
    }
    says(
        core,
        "depends 9 depends zap",
        r#"Depends(): Argument "command" must be "on" or "off""#,
    );
}

#[test]
fn priority_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(
        core,
        "priority 9 nope",
        r#"Priority(): Arg "priority" missing or not a number: nil"#,
    );
    says(
        core,
        "priority 9 nope x",
        r#"Priority(): Arg "priority" missing or not a number: x"#,
    );
    says(
        core,
        "priority 9 nope 1",
        "Priority(): Job nope does not exist",
    );
    says(
        core,
        "priority 9 template 1",
        "Priority(): Job template does not exist",
    );
}

#[test]
fn d_63_a_priority_that_is_not_finite_is_not_a_number() {
    let core = &mut one_of_each();
    for number in ["nan", "inf", "-inf", "1e999"] {
        says(
            core,
            &format!("priority 9 waiting {number}"),
            &format!(r#"Priority(): Arg "priority" missing or not a number: {number}"#),
        );
        says(
            core,
            &format!("put 9 w q waiting K {{}} 0 priority {number}"),
            &format!(r#"Put(): Arg "priority" not a number{number}"#),
        );
        says(
            core,
            &format!("recur 9 q r K {{}} interval 60 0 priority {number}"),
            &format!(r#"Recur(): Arg "priority" not a number: {number}"#),
        );
        says(
            core,
            &format!("recur.update 9 template priority {number}"),
            &format!(r#"Recur(): Arg "priority" must be a number: {number}"#),
        );
    }
}

#[test]
fn timeout_refuses_and_leaves_the_others_alone() {
    let core = &mut one_of_each();
    says(core, "timeout 9 nope", "Timeout(): Job nope does not exist");
    says(
        core,
        "timeout 9 template",
        "Timeout(): Job template does not exist",
    );
    for state in [
        "waiting",
        "scheduled",
        "depends",
        "stalled",
        "failed",
        "complete",
    ] {
        says(
            core,
            &format!("timeout 9 {state}"),
            &format!("Timeout(): Job {state} not running"),
        );
        // The reference would have timed out the first job.
        says(
            core,
            &format!("timeout 9 running {state}"),
            &format!("Timeout(): Job {state} not running"),
        );
    }
    says(
        core,
        "timeout 9 running running",
        "Timeout(): Job running not running",
    );
}

#[test]
fn log_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(core, "log 9", "Log(): Argument 'jid' missing");
    says(core, "log 9 nope", "Log(): Argument 'message' missing");
    wants_json(core, "log 9 nope hi @");
    says(
        core,
        "log 9 nope hi false",
        "Log(): Argument 'data' not cjson: false",
    );
    says(core, "log 9 nope hi", "Log(): Job nope does not exist");
    says(
        core,
        "log 9 template hi {}",
        "Log(): Job template does not exist",
    );
}

#[test]
fn cancel_names_the_first_dependent_that_is_not_cancelled() {
    let core = &mut one_of_each();
    says(
        core,
        "cancel 9 running waiting",
        "Cancel(): waiting is a dependency of depends but is not mentioned to be canceled",
    );
}

#[test]
fn put_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(core, "put 9 w q", r#"Put(): Arg "jid" missing"#);
    says(core, "put 9 w q waiting", r#"Put(): Arg "klass" missing"#);
    // D-66
    says(
        core,
        "put 9 w q waiting K",
        r#"Put(): Arg "data" missing or not JSON: nil"#,
    );
    wants_json(core, "put 9 w q waiting K @ x tags");
    says(
        core,
        "put 9 w q waiting K false x",
        r#"Put(): Arg "data" missing or not JSON: false"#,
    );
    says(
        core,
        "put 9 w q waiting K {}",
        r#"Put(): Arg "delay" not a number: nil"#,
    );
    says(
        core,
        "put 9 w q waiting K {} x tags",
        r#"Put(): Arg "delay" not a number: x"#,
    );
    put_options(core, "put 9 w q waiting K {} 0");
    put_options(core, "put 9 w q new K {} 0");
}

#[test]
fn requeue_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(
        core,
        "requeue 9 w q nope",
        "Requeue(): Job nope does not exist",
    );
    says(
        core,
        "requeue 9 w q template K {} 0",
        "Requeue(): Job template does not exist",
    );
    says(
        core,
        "requeue 9 w q waiting",
        r#"Put(): Arg "klass" missing"#,
    );
    says(
        core,
        "requeue 9 w q waiting K {} x",
        r#"Put(): Arg "delay" not a number: x"#,
    );
    put_options(core, "requeue 9 w q waiting K {} 0");
}

/// D-38: options are checked before the tags of the job change.
fn put_options(core: &mut Core, line: &str) {
    for odd in ["tags", "tags [] priority", "retries x tags {] depends"] {
        let error = core.refused(&format!("{line} {odd}"));
        let text = short(&error);
        assert!(
            text.starts_with("user_script:N: Odd number of additional args: table: 0x"),
            "{error}"
        );
    }
    says(
        core,
        &format!("{line} depends {{] priority x tags {{] retries x"),
        r#"Put(): Arg "retries" not a number: x"#,
    );
    wants_json(core, &format!("{line} depends {{] priority x tags @"));
    says(
        core,
        &format!("{line} depends {{] priority x tags false"),
        r#"Put(): Arg "tags" not JSONfalse"#,
    );
    says(
        core,
        &format!("{line} depends {{] priority x tags []"),
        r#"Put(): Arg "priority" not a numberx"#,
    );
    wants_json(core, &format!("{line} depends @"));
    says(
        core,
        &format!("{line} depends false"),
        r#"Put(): Arg "depends" not JSON: false"#,
    );
    // The shape of what parses is judged last.
    says(
        core,
        &format!("{line} tags 5 depends false priority x"),
        r#"Put(): Arg "priority" not a numberx"#,
    );
    says(
        core,
        &format!("{line} tags 5 depends false"),
        r#"Put(): Arg "depends" not JSON: false"#,
    );
    says(
        core,
        &format!("{line} tags [[]] depends 5"),
        r#"Put(): Arg "depends" not JSON: 5"#,
    );
    says(
        core,
        &format!("{line} tags null depends [null]"),
        r#"Put(): Arg "tags" not JSONnull"#,
    );
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

#[test]
fn unfail_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(core, "unfail 9 q", r#"Unfail(): Arg "group" missing"#);
    says(
        core,
        "unfail 9 q G x",
        r#"Unfail(): Arg "count" not a number: x"#,
    );
}

#[test]
fn recur_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(core, "recur 9 q", r#"RecurringJob On(): Arg "jid" missing"#);
    says(
        core,
        "recur 9 q template",
        r#"RecurringJob On(): Arg "klass" missing"#,
    );
    says(
        core,
        "recur 9 q template K",
        r#"RecurringJob On(): Arg "spec" missing"#,
    );
    says(
        core,
        "recur 9 q template K {]",
        r#"RecurringJob On(): Arg "spec" missing"#,
    );
    wants_json(core, "recur 9 q template K @ cron x y");
    says(
        core,
        "recur 9 q template K false cron x y",
        r#"RecurringJob On(): Arg "data" not JSON: false"#,
    );
    says(
        core,
        "recur 9 q template K {} cron x y",
        r#"Recur(): schedule type "cron" unknown"#,
    );
    let line = "recur 9 q template K {} interval";
    says(core, line, r#"Recur(): Arg "interval" not a number: nil"#);
    says(
        core,
        &format!("{line} x y"),
        r#"Recur(): Arg "interval" not a number: x"#,
    );
    says(
        core,
        &format!("{line} 0"),
        r#"Recur(): Arg "offset" not a number: nil"#,
    );
    says(
        core,
        &format!("{line} 0 y"),
        r#"Recur(): Arg "offset" not a number: y"#,
    );
    let positive = r#"Recur(): Arg "interval" must be greater than 0"#;
    says(core, &format!("{line} 0 0 tags"), positive);
    says(core, &format!("{line} -5 0 tags"), positive);
    let error = core.refused(&format!("{line} 60 0 tags"));
    assert!(
        short(&error).starts_with("user_script:N: Odd number of additional args: table: 0x"),
        "{error}"
    );
    wants_json(
        core,
        &format!("{line} 60 0 backlog x retries x priority x tags @"),
    );
    says(
        core,
        &format!("{line} 60 0 backlog x retries x priority x tags false"),
        r#"Recur(): Arg "tags" must be JSON string array: false"#,
    );
    says(
        core,
        &format!("{line} 60 0 backlog x retries x priority x tags []"),
        r#"Recur(): Arg "priority" not a number: x"#,
    );
    says(
        core,
        &format!("{line} 60 0 backlog x retries x"),
        r#"Recur(): Arg "retries" not a number: x"#,
    );
    says(
        core,
        &format!("{line} 60 0 backlog x"),
        r#"Recur(): Arg "backlog" not a number: x"#,
    );
}

#[test]
fn recur_update_refuses_and_leaves_the_earlier_pairs_alone() {
    // D-49: all pairs are checked before the first is applied.
    let core = &mut one_of_each();
    says(
        core,
        "recur.update 9 nope priority x",
        "Recur(): No recurring job nope",
    );
    says(
        core,
        "recur.update 9 waiting priority 1",
        "Recur(): No recurring job waiting",
    );
    says(
        core,
        "recur.update 9 template priority",
        "No value provided for priority",
    );
    says(
        core,
        "recur.update 9 template klass K2 data",
        "No value provided for data",
    );
    for key in ["priority", "interval", "retries"] {
        says(
            core,
            &format!("recur.update 9 template klass K2 queue q2 {key} x"),
            &format!(r#"Recur(): Arg "{key}" must be a number: x"#),
        );
    }
    wants_json(core, "recur.update 9 template klass K2 data @");
    says(
        core,
        "recur.update 9 template klass K2 data false",
        r#"Recur(): Arg "data" is not JSON-encoded: false"#,
    );
    says(
        core,
        "recur.update 9 template klass K2 backlog x",
        r#"Recur(): Arg "backlog" not a number: x"#,
    );
    says(
        core,
        "recur.update 9 template klass K2 zap 1",
        r#"Recur(): Unrecognized option "zap""#,
    );
}

#[test]
fn d_43_an_interval_that_is_not_positive_is_refused_by_recur_update() {
    let core = &mut one_of_each();
    for interval in ["0", "-1", "-0.5"] {
        says(
            core,
            &format!("recur.update 9 template interval {interval}"),
            r#"Recur(): Arg "interval" must be greater than 0"#,
        );
    }
}

#[test]
fn recur_tag_and_untag_require_a_template() {
    let core = &mut one_of_each();
    for jid in ["nope", "waiting"] {
        says(
            core,
            &format!("recur.tag 9 {jid} t"),
            &format!("Tag(): Job {jid} does not exist"),
        );
        says(
            core,
            &format!("recur.untag 9 {jid} t"),
            &format!("Untag(): Job {jid} does not exist"),
        );
    }
}

#[test]
fn jobs_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(core, "jobs 9", r#"Jobs(): Arg "state" missing"#);
    says(
        core,
        "jobs 9 complete x y",
        r#"Jobs(): Arg "offset" not a number: x"#,
    );
    says(
        core,
        "jobs 9 complete 0 y",
        r#"Jobs(): Arg "count" not a number: y"#,
    );
    for state in [
        "running",
        "stalled",
        "scheduled",
        "depends",
        "recurring",
        "waiting",
        "zap",
    ] {
        says(
            core,
            &format!("jobs 9 {state}"),
            r#"Jobs(): Arg "queue" missing"#,
        );
        says(
            core,
            &format!("jobs 9 {state} q x y"),
            r#"Jobs(): Arg "offset" not a number: x"#,
        );
        says(
            core,
            &format!("jobs 9 {state} q 0 y"),
            r#"Jobs(): Arg "count" not a number: y"#,
        );
    }
    for state in ["zap", "failed", "Running", "''"] {
        let shown = if state == "''" { "" } else { state };
        says(
            core,
            &format!("jobs 9 {state} q"),
            &format!(r#"Jobs(): Unknown type "{shown}""#),
        );
    }
}

#[test]
fn failed_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(
        core,
        "failed 9 G x y",
        r#"Failed(): Arg "start" is not a number: x"#,
    );
    says(
        core,
        "failed 9 G 0 y",
        r#"Failed(): Arg "limit" is not a number: y"#,
    );
}

#[test]
fn track_refuses_in_this_order() {
    let core = &mut one_of_each();
    for action in ["track", "untrack", "zap"] {
        says(
            core,
            &format!("track 9 {action}"),
            r#"Track(): Arg "jid" missing"#,
        );
        says(
            core,
            &format!("track 9 {action} nope"),
            "Track(): Job does not exist",
        );
        says(
            core,
            &format!("track 9 {action} template"),
            "Track(): Job does not exist",
        );
    }
    says(
        core,
        "track 9 zap waiting",
        r#"Track(): Unknown action "zap""#,
    );
}

#[test]
fn tag_refuses_in_this_order() {
    let core = &mut one_of_each();
    says(
        core,
        "tag 9",
        r#"Tag(): Arg "command" must be "add", "remove", "get" or "top""#,
    );
    for action in ["add", "remove"] {
        says(
            core,
            &format!("tag 9 {action}"),
            r#"Tag(): Arg "jid" missing"#,
        );
        says(
            core,
            &format!("tag 9 {action} nope t"),
            "Tag(): Job nope does not exist",
        );
        says(
            core,
            &format!("tag 9 {action} template t"),
            "Tag(): Job template does not exist",
        );
    }
    says(core, "tag 9 get", r#"Tag(): Arg "tag" missing"#);
    says(
        core,
        "tag 9 get t x y",
        r#"Tag(): Arg "offset" not a number: x"#,
    );
    says(
        core,
        "tag 9 get t 0 y",
        r#"Tag(): Arg "count" not a number: y"#,
    );
    says(
        core,
        "tag 9 top x y",
        r#"Tag(): Arg "offset" not a number: x"#,
    );
    says(
        core,
        "tag 9 top 0 y",
        r#"Tag(): Arg "count" not a number: y"#,
    );
    for action in ["zap", "Add", "''"] {
        says(
            core,
            &format!("tag 9 {action} waiting t"),
            r#"Tag(): First argument must be "add", "remove" or "get""#,
        );
    }
}

#[test]
fn stats_peek_and_pop_refuse_in_this_order() {
    let core = &mut one_of_each();
    says(
        core,
        "stats 9 q",
        r#"Stats(): Arg "date" missing or not a number: nil"#,
    );
    says(
        core,
        "stats 9 q today",
        r#"Stats(): Arg "date" missing or not a number: today"#,
    );
    says(
        core,
        "peek 9 q",
        r#"Peek(): Arg "count" missing or not a number: nil"#,
    );
    says(
        core,
        "peek 9 q x",
        r#"Peek(): Arg "count" missing or not a number: x"#,
    );
    says(core, "pop 9 q", r#"Pop(): Arg "worker" missing"#);
    says(
        core,
        "pop 9 q w",
        r#"Pop(): Arg "count" missing or not a number: nil"#,
    );
    says(
        core,
        "pop 9 q w x",
        r#"Pop(): Arg "count" missing or not a number: x"#,
    );
}

#[test]
fn commands_over_names_require_at_least_one() {
    let core = &mut one_of_each();
    for command in ["pause", "unpause", "queue.forget", "worker.deregister"] {
        server_says(core, &format!("{command} 9"), "rong number of arg");
    }
}

#[test]
fn a_fraction_where_redis_expects_an_integer_is_refused_with_its_message() {
    let core = &mut one_of_each();
    for line in [
        "pop 9 q w1 1.5",
        "peek 9 q 1.5",
        "jobs 9 complete 0.5",
        "jobs 9 complete 0 0.5",
        "jobs 9 running q 0.5",
        "jobs 9 stalled q 0 0.5",
        "jobs 9 scheduled q 0.5",
        "jobs 9 depends q 0 0.5",
        "jobs 9 recurring q 0.5",
        "failed 9 G 0.5",
        "failed 9 G 0 0.5",
        "tag 9 get t 0.5",
        "tag 9 get t 0 0.5",
        "tag 9 top 0.5",
        "tag 9 top 0 0.5",
        "unfail 9 q G 1.5",
    ] {
        server_says(core, line, "value is not an integer or out of range");
    }
}
