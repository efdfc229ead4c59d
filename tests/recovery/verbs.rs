//! Each verb over jobs with hostile names, given in every possible way: one jid, many, standard
//! input, a file, a selector; first as a dry run. And what each verb does with jobs in other
//! states.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::config::ConfigHome;
use crate::support::core::script_sha;
use crate::support::qless::RunOutput;
use crate::support::random;
use crate::support::redis::{Redis, load_script};

/// A blank, a line end, a pattern, an option, no text at all, an escape.
const JIDS: [&[u8]; 6] = [
    b"a b",
    b"two\nlines",
    b"*",
    b"-x",
    b"\xff\xfe",
    b"\x1b[31mred",
];
const QUEUE: &[u8] = b"q*\x1b[1m\xff";
const TAG: &[u8] = b"t \x1b[2m\xfe";
const WORKER: &[u8] = b"w\x1b[1m\xfd";

/// The state of the jobs for a verb.
#[derive(Clone, Copy, PartialEq)]
enum As {
    Waiting,
    Scheduled,
    Depends,
    Running,
    Failed,
}

/// The verbs: how they are typed, and the state of the jobs they are for.
const VERBS: [(&[&str], As); 14] = [
    (&["retry"], As::Failed),
    (&["retry", "--force"], As::Running),
    (&["promote"], As::Scheduled),
    (&["move", "--to", "slow lane"], As::Waiting),
    (&["cancel"], As::Failed),
    (
        &["fail", "--group", "g", "--message", "m", "--as-holder"],
        As::Running,
    ),
    (&["timeout"], As::Running),
    (&["priority", "--to", "7"], As::Waiting),
    (&["tag", "--add", "more tags"], As::Waiting),
    (&["track"], As::Failed),
    (&["depends", "--off-all"], As::Depends),
    (&["bury", "--group", "g", "--message", "m"], As::Waiting),
    (
        &["bury", "--group", "g", "--message", "m\u{1b}"],
        As::Scheduled,
    ),
    (&["bury", "--group", "g", "--message", "m"], As::Depends),
];

/// The members of the report of every verb, in their order.
const REPORT_MEMBERS: &str =
    "kind v action dry_run context matched done skipped failed remaining elapsed_s items";

fn run(redis: &Redis, input: &[u8], words: &[&[u8]]) -> RunOutput {
    let words = words.iter().map(|word| OsStr::from_bytes(word));
    redis.at(100).input(input).args(words)
}

/// Replaces everything by jobs with hostile names in one state.
fn put_jobs(redis: &Redis, state: As) {
    redis.send(&["FLUSHALL"]);
    let mut connection = redis.connection();
    load_script(&mut connection);
    let mut call = |now: u32, words: &[&[u8]]| {
        let mut call = redis::cmd("EVALSHA");
        call.arg(script_sha()).arg(0);
        call.arg(words[0]).arg(now).arg(&words[1..]);
        let _: redis::Value = call.query(&mut connection).unwrap();
    };
    call(1, &[b"put", b"me", b"root", b"root", b"K", b"{}", b"0"]);
    let tags = [b"[\"", TAG, b"\"]"].concat();
    let tags = tags.iter().flat_map(|byte| match byte {
        0x1b => b"\\u001b".to_vec(),
        byte => vec![*byte],
    });
    let tags: Vec<u8> = tags.collect();
    let delay: &[u8] = if state == As::Scheduled { b"900" } else { b"0" };
    let depends: &[u8] = if state == As::Depends {
        b"[\"root\"]"
    } else {
        b"[]"
    };
    for jid in JIDS {
        let put = [b"put", b"me".as_slice(), QUEUE, jid, b"K", b"{}", delay];
        let more = [b"tags".as_slice(), &tags, b"depends", depends];
        call(2, &[put.as_slice(), &more].concat());
    }
    if matches!(state, As::Running | As::Failed) {
        call(90, &[b"pop", QUEUE, WORKER, b"10"]);
    }
    if state == As::Failed {
        for jid in JIDS {
            call(91, &[b"fail", jid, WORKER, b"boom\x1b", b"no\x1b"]);
        }
    }
}

/// Only text, newlines and tabs.
fn is_clean(ran: &RunOutput, what: &str) {
    for text in [ran.bytes(), ran.stderr().as_bytes()] {
        let text = std::str::from_utf8(text).unwrap_or_else(|_| panic!("{what}: {text:?}"));
        let acts = text
            .chars()
            .find(|c| c.is_control() && !"\n\t".contains(*c));
        assert_eq!(acts, None, "{what}: {text:?}");
    }
}

fn words<'a>(verb: &'a [&'a str]) -> Vec<&'a [u8]> {
    verb.iter().map(|word| word.as_bytes()).collect()
}

/// How many were done, from the last line of `-o ndjson`.
fn done(ran: &RunOutput, what: &str) -> Value {
    let text = ran.stdout();
    assert_eq!(ran.code(), 0, "{what}: {text}{}", ran.stderr());
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    last["summary"]["done"].clone()
}

#[test]
fn each_way_to_name_jobs_selects_the_same_jobs() {
    let (redis, dir) = (Redis::start(), tempfile::tempdir().unwrap());
    for (at, (verb, state)) in VERBS.into_iter().enumerate() {
        // A selector of `retry` means failed jobs unless another state is given.
        let stated: &[&[u8]] = match (verb[0], state) {
            ("retry", As::Running) => &[b"--state", b"running"],
            _ => &[],
        };
        let selector = [&[b"--tag".as_slice(), TAG, b"--yes"], stated].concat();
        let list = dir.path().join("jobs");
        let file = OsString::from_vec([b"@", list.as_os_str().as_bytes()].concat());
        let many: Vec<&[u8]> = [b"--yes", b"--".as_slice()]
            .into_iter()
            .chain(JIDS)
            .collect();
        let ways: [(&str, Vec<&[u8]>); 4] = [
            ("many", many),
            ("stdin", vec![b"--yes", b"-"]),
            ("file", vec![b"--yes", file.as_bytes()]),
            ("selector", selector),
        ];
        // In `make test` the verbs share the ways among them; in `make soak` each takes every way.
        let (first, count) = if random::soaking() {
            (0, 4)
        } else {
            (at % 4, 1)
        };
        for (way, named) in ways.into_iter().skip(first).take(count) {
            let what = format!("{verb:?} by {way}");
            put_jobs(&redis, state);
            let listed = run(&redis, b"", &[b"jobs", b"--tag", TAG, b"-o", b"ndjson"]);
            std::fs::write(&list, listed.bytes()).unwrap();
            let before = redis.dump();
            let flags = [b"-n".as_slice(), b"-o", b"ndjson"];
            let line = [words(verb), flags.to_vec(), named.clone()].concat();
            assert_eq!(done(&run(&redis, listed.bytes(), &line), &what), 0);
            assert!(
                redis.dump() == before,
                "{what}: a dry run changed something"
            );
            let line = [words(verb), flags[1..].to_vec(), named.clone()].concat();
            assert_eq!(
                done(&run(&redis, listed.bytes(), &line), &what),
                6,
                "{what}"
            );
            assert!(redis.dump() != before, "{what}: nothing was changed");

            put_jobs(&redis, state);
            let line = [words(verb), named].concat();
            let ran = run(&redis, listed.bytes(), &line).exits(0);
            is_clean(&ran, &what);
            redis.must_be_clean();
        }
    }
}

#[test]
fn a_verb_changes_or_refuses_one_job() {
    let redis = Redis::start();
    for (verb, state) in VERBS {
        put_jobs(&redis, state);
        for jid in JIDS {
            let what = format!("{verb:?} {jid:?}");
            let before = redis.dump();
            let line = [words(verb), vec![b"--", jid]].concat();
            let ran = run(&redis, b"", &line).exits(0);
            is_clean(&ran, &what);
            assert!(redis.dump() != before, "{what}: nothing was changed");
        }
        // Alone, `track` lists the tracked jobs.
        if verb[0] != "track" {
            let ran = run(&redis, b"", &words(verb)).exits(2);
            assert_eq!(
                ran.stderr(),
                "error: no jobs are given\nhint: give jids, or select jobs by flags: `qless help selectors`\n",
                "{verb:?}"
            );
        }
        let line = [words(verb), vec![b"no\x1bsuch"]].concat();
        let ran = run(&redis, b"", &line).exits(4);
        is_clean(&ran, verb[0]);
        assert_eq!(ran.stderr(), "error: job `no\\x1bsuch` does not exist\n");
        // Several unknown jids are skipped, and no job remains.
        let line = [words(verb), vec![b"--yes", b"no", b"such"]].concat();
        run(&redis, b"", &line).exits(4);
        redis.must_be_clean();
    }
}

#[test]
fn a_verb_for_several_jobs_asks_and_keeps_its_pace() {
    let redis = Redis::start();
    let home = ConfigHome::new(&format!(
        "[context.prod]\nredis = \"{}\"\nprotected = true\n",
        redis.url()
    ));
    for (verb, state) in VERBS {
        put_jobs(&redis, state);
        let run = |flags: &str| {
            let qless = redis.at(100).env("QLESS_REDIS_URL", "");
            let flags = flags.split_whitespace().map(str::as_bytes).collect();
            let line = [words(verb), flags, vec![b"--"], JIDS.to_vec()].concat();
            let line = line.iter().map(|word| OsStr::from_bytes(word));
            home.with(qless).env("QLESS_CONTEXT", "prod").args(line)
        };
        let before = redis.dump();
        for unconfirmed in ["", "--yes", "--confirm prod", "--yes --confirm PROD"] {
            assert_eq!(run(unconfirmed).code(), 9, "{verb:?} {unconfirmed}");
        }
        let plan = run("-n --rate 40/s").exits(0).stderr().to_owned();
        assert!(
            plan.contains("at most 40 jobs a second"),
            "{verb:?}: {plan}"
        );
        assert!(redis.dump() == before, "{verb:?}: something was changed");
        let begun = Instant::now();
        let report = run("--yes --confirm prod --rate 40/s -o json").json();
        // Four jobs, then two.
        assert!(begun.elapsed() >= Duration::from_millis(90), "{verb:?}");
        let members: Vec<&str> = report
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(members.join(" "), REPORT_MEMBERS, "{verb:?}");
        assert_eq!(
            (&report["done"], &report["context"]),
            (&6.into(), &"prod".into())
        );
    }
}

#[test]
fn a_verb_for_several_jobs_can_be_repeated() {
    let redis = Redis::start();
    for (verb, state) in VERBS {
        put_jobs(&redis, state);
        let named = |jids: &[&'static [u8]]| {
            let line = [words(verb), vec![b"--yes", b"--"], jids.to_vec()].concat();
            run(&redis, b"", &line).code()
        };
        assert_eq!(named(&JIDS), 0, "{verb:?}");
        let again = if verb == ["cancel"] { 4 } else { 0 };
        assert_eq!(named(&JIDS), again, "{verb:?}, again");
        if !matches!(verb[0], "cancel" | "priority" | "tag" | "track") {
            assert_eq!(named(&[JIDS[0], b"no such"]), 5, "{verb:?}, one is gone");
        }
    }
    // Another group, queue or priority is not what was asked for.
    for (first, second) in [
        (
            "fail --group g --message m --as-holder",
            "fail --group h --message m",
        ),
        ("bury --group g --message m", "bury --group h --message m"),
        ("retry", "retry --to other"),
        ("retry", "retry --priority 9"),
        ("retry", "retry --delay 1h"),
        ("timeout", "heartbeat"),
    ] {
        let state = match first.split(' ').next() {
            Some("bury") => As::Waiting,
            Some("retry") => As::Failed,
            _ => As::Running,
        };
        put_jobs(&redis, state);
        for (line, code) in [(first, 0), (second, 5)] {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            run(&redis, b"", &[words, vec![b"--"], JIDS.to_vec()].concat()).exits(code);
        }
    }
}

#[test]
fn a_job_in_another_state_is_a_conflict_or_skipped() {
    let redis = Redis::start();
    // The states a verb is not for; the others accept any state.
    for (verb, others) in [
        (
            0,
            vec![As::Waiting, As::Scheduled, As::Depends, As::Running],
        ),
        (2, vec![As::Waiting, As::Depends, As::Running, As::Failed]),
        (3, vec![As::Running]),
        (5, vec![As::Waiting, As::Scheduled, As::Depends, As::Failed]),
        (6, vec![As::Waiting, As::Scheduled, As::Depends, As::Failed]),
        (
            10,
            vec![As::Waiting, As::Scheduled, As::Running, As::Failed],
        ),
        (11, vec![As::Running, As::Failed]),
    ] {
        let (verb, _) = VERBS[verb];
        for state in others {
            put_jobs(&redis, state);
            let before = redis.dump();
            let line = [words(verb), vec![b"--", JIDS[0]]].concat();
            let ran = run(&redis, b"", &line).exits(5);
            is_clean(&ran, verb[0]);
            let line = [
                words(verb),
                vec![b"--yes", b"-o", b"ndjson", b"--"],
                JIDS.to_vec(),
            ];
            let ran = run(&redis, b"", &line.concat());
            // As one, unless all of them are as the verb leaves them.
            let as_asked = matches!(
                (verb[0], state),
                ("retry" | "promote", As::Waiting) | ("depends", As::Waiting | As::Scheduled)
            );
            let code = if as_asked { 0 } else { 5 };
            assert_eq!(ran.code(), code, "{verb:?}: {}", ran.stderr());
            assert!(ran.stdout().contains("\"done\":0"), "{}", ran.stdout());
            assert!(redis.dump() == before, "{verb:?}: something was changed");
        }
    }
}
