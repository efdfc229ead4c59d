//! `qless pop`

use std::sync::{Arc, OnceLock};

use expect_test::expect;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::proxy::{Cut, proxy_then};
use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;
use crate::support::text::words;

fn waiting() -> Redis {
    let redis = Redis::start();
    for (now, line) in [
        (1, "put mail K --jid a --arg n:=9007199254740993"),
        (2, "put mail K --jid b --arg n:=9007199254740993"),
        (3, "put images K --jid c --arg n:=9007199254740993"),
    ] {
        redis.ok(now, line);
    }
    redis
}

#[test]
fn jobs_are_popped_in_the_order_of_the_queues() {
    let redis = waiting();
    redis.qless().env("QLESS_WORKER", "w2").session(expect![[r#"
        10 $ qless pop images mail --count 2 --worker w1
        c	K	running	images	0	5/5	1970-01-01T00:00:10.000Z	w1, lock until 1970-01-01T00:01:10.000Z
        a	K	running	mail	0	5/5	1970-01-01T00:00:10.000Z	w1, lock until 1970-01-01T00:01:10.000Z
        11 $ qless pop images mail -o ndjson
        {"jid":"b","klass":"K","queue":"mail","state":"running","state_stored":"running","priority":0,"retries":5,"remaining":5,"worker":"w2","expires":"1970-01-01T00:01:11.000Z","tracked":false,"tags":[],"data":{"n":9007199254740993},"failure":null,"dependencies":[],"dependents":[],"spawned_from":null,"scheduled_for":null,"since":"1970-01-01T00:00:11.000Z"}
        12 $ qless pop nothing
        --- exit 4
        12 $ qless pop nothing -o json
        --- exit 4
        12 $ qless pop nothing -o ndjson
        --- exit 4
        12 $ qless pop nothing -o jid
        --- exit 4
        12 $ qless pop nothing -o raw
        --- exit 4
    "#]]);
}

#[test]
fn the_default_worker_name_is_stable() {
    let redis = waiting();
    let as_ann = || redis.at(10).env("USER", "ann");
    let job = as_ann().run("pop mail -o json").json();
    let worker = job["items"][0]["worker"].as_str().unwrap().to_string();
    assert!(worker.starts_with("cli-ann@"), "{worker}");
    as_ann().run("complete a").ok();
}

#[test]
fn a_script_of_another_session_cannot_complete_the_job() {
    let redis = waiting();
    let in_session = |line: &str| {
        let ann = redis.at(10).env("USER", "ann");
        let mut setsid = ann.shell("exec setsid --wait \"$0\" \"$@\"");
        RunOutput::of(setsid.args(words(line)))
    };
    let popped = in_session("pop mail -o json");
    let holder = popped.json()["items"][0]["worker"]
        .as_str()
        .unwrap()
        .to_owned();
    let refused = in_session("complete a").exits(5);
    let printed = format!(
        "error: cannot complete `a`: it is held by `{holder}`\n\
         hint: `--as-holder` acts as the worker that holds the job\n"
    );
    assert_eq!(refused.stderr(), printed);
    in_session("complete a --as-holder").ok();
}

#[test]
fn the_document_of_pop_equals_that_of_get() {
    let redis = waiting();
    let popped = redis.json(10, "pop mail --worker w -o json");
    let mut job = redis.json(10, "get a -o json");
    let fields = job.as_object_mut().unwrap();
    fields.remove("kind");
    fields.remove("v");
    fields.remove("history");
    assert_eq!(popped["kind"], "jobs");
    assert_eq!(popped["items"][0], job);
}

#[test]
fn raw_prints_the_reply_of_pop() {
    let redis = waiting();
    let raw = redis.ok(10, "pop mail --worker w --count 5 -o raw");
    let jobs: serde_json::Value = serde_json::from_str(&raw).unwrap();
    assert_eq!(jobs[0]["jid"], "a");
    assert_eq!(jobs[1]["data"], r#"{"n":9007199254740993}"#);
}

#[test]
fn many_jobs_are_popped_in_several_calls() {
    let redis = many_waiting();
    let pop = || redis.ok(10, "pop q --worker w --count 1050 -o jid");
    assert_eq!(pop().lines().count(), 1050);
    assert_eq!(pop().lines().count(), 150);
}

/// A server with 1,200 jobs in `q`.
fn many_waiting() -> Redis {
    let redis = Redis::start();
    redis.calls((0..1200).map(|n| (1.0, words(&format!("put me q j{n:04} K {{}} 0")))));
    redis
}

/// Checks that `w` holds the jobs that were printed.
fn assert_all_printed(redis: &Redis, printed: usize) {
    let held = redis.send(&["ZCARD", "ql:w:w:jobs"]);
    assert_eq!(held, redis::Value::Int(printed as i64));
}

#[test]
fn jobs_that_were_popped_before_an_error_are_printed() {
    let faults: [(Cut, &[&str], &str); 2] = [
        (
            Cut::Meanwhile(3),
            &["CONFIG", "SET", "maxmemory", "1"],
            "error: 500 jobs were popped, and then: `redis://127.0.0.1:PORT/0` is out of memory\n",
        ),
        (
            Cut::Before(3),
            &["PING"],
            "error: 500 jobs were popped, and then: lost `redis://127.0.0.1:PORT/0` while popping",
        ),
    ];
    for (cut, command, printed) in faults {
        let redis = Arc::new(many_waiting());
        // The threads of a proxy do not end: they do not keep the server.
        let shared = Arc::downgrade(&redis);
        let port = proxy_then(redis.socket(), cut, move || {
            _ = shared.upgrade().unwrap().send(command);
        });
        let ran = Qless::bare()
            .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
            .at(10)
            .hide(&port.to_string(), "PORT")
            .run("pop q --count 1200 --worker w -o jid")
            .exits(6);
        assert_eq!(ran.stdout().lines().count(), 500);
        assert_all_printed(&redis, 500);
        assert!(ran.stderr().starts_with(printed), "{}", ran.stderr());
    }
}

#[test]
fn a_signal_ends_a_pop_after_the_call_and_the_jobs_are_printed() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 143)] {
        let redis = many_waiting();
        let pid = Arc::new(OnceLock::new());
        let shared = pid.clone();
        let port = proxy_then(redis.socket(), Cut::Meanwhile(3), move || {
            kill_process(*shared.wait(), signal).unwrap();
        });
        let qless = Qless::bare().env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
        let running = qless.at(10).start("pop q --count 1200 --worker w -o jid");
        pid.set(Pid::from_child(&running.child)).unwrap();
        let ran = running.end().exits(code);
        assert_eq!(ran.stdout().lines().count(), 1000);
        assert_all_printed(&redis, 1000);
        let printed = "error: 1,000 jobs were popped, and then: interrupted\n";
        assert_eq!(ran.stderr(), printed);
    }
}

#[test]
fn a_dry_run_is_what_the_pop_then_does() {
    let redis = waiting();
    redis.session(expect![[r#"
        10 $ qless pop mail -n -o jid
        a
        --- stderr
        would pop 1
        10 $ qless pop mail -n -o json | jq -c '[.kind, .dry_run, .total]'
        ["jobs",true,1]
        --- stderr
        would pop 1
        10 $ qless peek mail -o json | jq -c '[.kind, .dry_run]'
        ["jobs",null]
        10 $ qless get a --field state
        waiting
        10 $ qless pause mail
        11 $ qless pop mail -n
        --- exit 4
        12 $ qless unpause mail
        12 $ qless put held K --jid h --throttle s3 &>/dev/null
        12 $ qless throttle set s3 -1
        13 $ qless pop held -n
        --- exit 4
        14 $ qless recur put due K --every 1m --jid tick &>/dev/null
        14 $ qless config set mail-heartbeat 5 &>/dev/null
        14 $ qless pop mail --worker w1 &>/dev/null
    "#]]);
    // The worker of an expired lock is warned first.
    for now in [30, 30, 41, 41] {
        let before = redis.dump();
        let line = format!("pop held due mail --count 3 --worker w{now}");
        let said = redis.at(now).run(&format!("{line} -n -o jid")).stdout();
        assert_eq!(redis.dump(), before);
        assert_eq!(redis.at(now).run(&format!("{line} -o jid")).stdout(), said);
    }
}

#[test]
fn a_terminal_shows_that_a_queue_does_not_exist() {
    let redis = waiting();
    for (line, note) in [
        ("pop mial", "nothing to pop: queue `mial` does not exist"),
        ("length mial", "queue `mial` does not exist"),
    ] {
        let written = redis.on_terminal(10.0, line);
        assert!(written.contains(note), "{written}");
        assert!(written.contains("hint: did you mean `mail`?"), "{written}");
    }
}

#[test]
fn an_invalid_pop_name_or_count_is_refused() {
    let redis = waiting();
    redis.session(expect![[r#"
        10 $ qless pop ''
        --- stderr
        error: `QUEUE` is empty
        --- exit 2
        10 $ qless pop mail --worker ''
        --- stderr
        error: `--worker` is empty
        --- exit 2
        10 $ qless pop mail --count 0
        --- stderr
        error: `--count` expects a whole number between 1 and 9007199254740992, not `0`
        --- exit 2
        10 $ qless pop
        --- stderr
        error: `QUEUE` is missing
        hint: usage: `qless pop <QUEUE>...`
        --- exit 2
    "#]]);
}

#[test]
fn the_worker_name_may_come_from_the_environment() {
    let redis = Redis::start();
    redis.ok(0, "api put w q j K {} 0");
    let at = redis.at(0).env("QLESS_WORKER", "a\nb");
    for line in ["pop q", "complete j", "heartbeat j"] {
        let ran = at.run(line).exits(2);
        let printed = "error: `QLESS_WORKER` holds a control character, U+000A\n";
        assert_eq!(ran.stderr(), printed);
    }
    assert_eq!(redis.ok(0, "workers"), "");
}
