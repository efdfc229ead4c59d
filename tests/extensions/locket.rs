//! What Locket promised: jobs with equal locks never run at once, and
//! no queue starves behind them.

use expect_test::expect;
use rustix::process::Signal;
use serde_json::json;

use crate::support::core::Core;
use crate::support::redis::Redis;
use crate::support::work::WorkSite;

/// A core whose queues `q`, `hi` and `lo` guard equal jobs.
fn guarded() -> Core {
    let mut core = Core::new();
    for queue in ["q", "hi", "lo"] {
        core.ok(&format!("config.set 0 {queue}-defaults {{\"lock\":\"*\"}}"));
    }
    core
}

#[test]
fn l1_two_identical_jobs_run_one_after_the_other() {
    let mut core = guarded();
    core.all("put 1 me q a K {\"n\":1} 0; put 2 me q b K {\"n\":1} 0");
    assert_eq!(core.jids("pop 3 q w1 1"), ["a"]);
    assert_eq!(core.jids("pop 3 q w2 1"), [""; 0]);
    core.ok("complete 4 a w1 q {}");
    assert_eq!(core.jids("pop 5 q w2 1"), ["b"]);
    core.ok("complete 6 b w2 q {}");
    assert_eq!(core.states("a b"), "complete complete");
}

#[test]
fn l2_two_identical_jobs_of_two_queues_run_one_after_the_other() {
    let mut core = guarded();
    core.all("put 1 me hi a K {\"n\":1} 0; put 2 me lo b K {\"n\":1} 0");
    assert_eq!(core.jids("pop 3 lo w2 1"), ["b"]);
    assert_eq!(core.jids("pop 3 hi w1 1"), [""; 0]);
    core.ok("complete 4 b w2 lo {}");
    assert_eq!(core.jids("pop 5 hi w1 1"), ["a"]);
}

#[test]
fn l3_jobs_with_other_data_or_another_klass_run_at_the_same_time() {
    let mut core = guarded();
    core.all("put 1 me q a K {\"n\":1} 0; put 2 me q b K {\"n\":2} 0; put 3 me q c L {\"n\":1} 0");
    assert_eq!(core.jids("pop 4 q w1 5"), ["a", "b", "c"]);
}

#[test]
fn l4_a_lock_template_ignores_the_fields_that_it_does_not_name() {
    let mut core = Core::new();
    core.ok(r#"config.set 0 q-defaults {"lock":"{klass}-{data.user.id}"}"#);
    core.ok(r#"put 1 me q a K {"user":{"id":7},"at":1} 0"#);
    core.ok(r#"put 2 me q b K {"user":{"id":7},"at":2} 0"#);
    core.ok(r#"put 3 me q c K {"user":{"id":8},"at":1} 0"#);
    // Without a value for a placeholder there is no lock.
    core.ok(r#"put 4 me q d K {"at":1} 0"#);
    core.ok(r#"put 5 me q e K {"at":1} 0"#);
    assert_eq!(core.jids("pop 6 q w1 9"), ["a", "c", "d", "e"]);
    assert_eq!(core.state("b"), "throttled");
    assert_eq!(core.keys_with("lock:K-7-locks"), ["ql:th:lock:K-7-locks"]);
}

#[test]
fn numbers_in_templates_keep_the_digits_of_the_data() {
    let mut core = Core::new();
    core.ok(r#"config.set 0 q-defaults '{"key":"{data.n}"}'"#);
    core.ok(r#"config.set 0 deep-defaults '{"key":"{data.a.b}-{data.c}"}'"#);
    for (at, (queue, data, lane)) in [
        ("q", r#"{"n":901234567890123456}"#, "901234567890123456"),
        ("q", r#"{"n":901234567890123999}"#, "901234567890123999"),
        ("q", r#"{"n":1.50}"#, "1.50"),
        ("q", r#"{"n":1e3}"#, "1e3"),
        ("q", r#"{"n":-7}"#, "-7"),
        ("q", r#"{"n":-1.25E+10 }"#, "-1.25E+10"),
        ("q", r#"{"n":7}"#, "7"),
        // Texts stay, with quotes, backslashes and digits inside.
        (
            "q",
            r#"{"x":"\\","y":"\"1, \\\"2","3\"":4,"n":12345678901234567890}"#,
            "12345678901234567890",
        ),
        ("q", r#"{"m":5,"n":"a \"12\\ 3"}"#, r#"a "12\ 3"#),
        ("q", r#"{"m":[1,true,null,false,-2],"n":true}"#, "true"),
        (
            "deep",
            r#"{"a":{"b":100000000000000000001,"c":[1]},"c":"x9"}"#,
            "100000000000000000001-x9",
        ),
        (
            "deep",
            r#"{"a":{"b":0.1},"c":100000000000000000000002}"#,
            "0.1-100000000000000000000002",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        core.ok(&format!("put {} me {queue} j{at} K '{data}' 0", at + 1));
        let stored = core.field(&format!("j{at}"), "key");
        assert_eq!(stored, Some(format!("{queue}/{lane}")), "{data}");
    }
    // A null and a path through a number have no value: no lane.
    core.ok(r#"put 50 me q none K '{"n":null}' 0"#);
    core.ok(r#"put 51 me deep through K '{"a":5,"c":1}' 0"#);
    assert_eq!(core.field("none", "key"), None);
    assert_eq!(core.field("through", "key"), None);

    core.ok(r#"config.set 60 l-defaults '{"lock":"u{data.n}","throttles":["t{data.n}"]}'"#);
    core.ok(r#"put 61 me l l1 K '{"n":901234567890123456}' 0"#);
    let stored = core.field("l1", "throttles");
    let ids = r#"["t901234567890123456","lock:u901234567890123456"]"#;
    assert_eq!(stored.as_deref(), Some(ids));
}

#[test]
fn l5_a_handler_three_heartbeats_long_is_not_started_twice() {
    let mut site = WorkSite::on(Redis::start());
    site.config("heartbeat", "1");
    site.config("grace-period", "0");
    site.config("q-defaults", r#"{"lock":"*"}"#);
    site.put("q", "a", "{}");
    site.put("q", "b", "{}");
    let script = "echo start >> $D/ran; sleep 3; echo end >> $D/ran";
    let workers = [
        site.start("q --drain --concurrency 2", script),
        site.start("q --drain --concurrency 2", script),
    ];
    site.until_lines("ran", 4);
    for worker in workers {
        assert_eq!(worker.end().code, 0);
    }
    assert_eq!(site.words("ran"), "start end start end");
    for jid in ["a", "b"] {
        let entry = site.client.entry(jid).expect("a job");
        assert_eq!(
            (entry.state.as_str(), entry.count("popped")),
            ("complete", 1)
        );
    }
}

#[test]
fn l6_after_a_killed_worker_the_same_job_starts_first() {
    let mut site = WorkSite::on(Redis::start());
    site.config("heartbeat", "1");
    site.config("grace-period", "1");
    site.config("q-defaults", r#"{"lock":"*"}"#);
    site.put("q", "a", "{}");
    let killed = site.start("q", "echo $QLESS_JID >> $D/ran; sleep 30");
    site.until_lines("ran", 1);
    site.put("q", "b", "{}");
    killed.signal(Signal::KILL);
    let worker = site.start("q --poll 100ms", "echo $QLESS_JID >> $D/ran");
    site.until_lines("ran", 3);
    assert_eq!(worker.stop().code, 0);
    assert_eq!(site.words("ran"), "a a b");
}

#[test]
fn l7_every_end_of_a_job_frees_its_slot_at_once() {
    for end in [
        "complete 3 a w1 q {}",
        "complete 3 a w1 q {} next other",
        "fail 3 a w1 G M",
        "retry 3 a q w1 5",
        "cancel 3 a",
        "timeout 3 a",
        "put 3 me other a K {} 60",
        "guard.finish 3 w1 4 a q complete {}",
        "guard.finish 3 w1 4 a q retry 9",
        "guard.finish 3 w1 5 a q fail G M",
        "guard.requeue 3 {\"from\":[\"running\"]} '' a '' 90",
        "guard.cancel 3 cancel a ''",
        "guard.call 3 a '' '' fail a w1 G M",
    ] {
        let mut core = Core::new();
        core.ok("put 1 me q a K {} 0 lock one priority 1");
        assert_eq!(core.jids("pop 2 q w1 1"), ["a"]);
        core.ok("put 2 me q b K {} 0 lock one");
        assert_eq!(core.json("throttle.locks 2 lock:one"), json!(["a"]));
        core.ok(end);
        assert_eq!(core.json("throttle.locks 3 lock:one"), json!([]), "{end}");
        assert_eq!(core.state("b"), "waiting", "{end}");
    }
}

#[test]
fn l8_the_low_queue_is_served_in_the_first_round_behind_1000_locked_jobs() {
    let mut core = guarded();
    core.many((0..1001).map(|n| format!("put 1 me hi h{n} K {{}} 0")));
    core.ok("put 1 me lo l0 K {\"other\":1} 0");
    assert_eq!(core.jids("pop 2 hi w1 1").len(), 1);
    assert_eq!(core.jids("pop 2 hi w2 1"), [""; 0]);
    assert_eq!(core.jids("pop 2 lo w2 1"), ["l0"]);
    assert_eq!(core.json("queues 2 hi")["throttled"], 1000);
    // Only the running job is counted: the held ones are outside the work set.
    assert_eq!(core.ok("length 2 hi").int(), 1);
}

#[test]
fn l9_a_free_job_behind_1000_locked_ones_is_popped_by_the_first_call() {
    let mut core = Core::new();
    core.many((0..1000).map(|n| format!("put {n} me q j{n} K {{}} 0 lock one")));
    core.ok("put 1000 me q free K {} 0");
    assert_eq!(core.jids("pop 1001 q w1 1"), ["j0"]);
    assert_eq!(core.jids("pop 1002 q w1 1"), ["free"]);
}

#[test]
fn l10_held_jobs_keep_their_order_and_priority() {
    let mut core = Core::new();
    core.all("put 1 me q a K {} 0 lock one; pop 2 q w1 1");
    core.all("put 3 me q b K {} 0 lock one; put 4 me q c K {} 0 lock one");
    core.ok("put 5 me q d K {} 0 lock one priority 3");
    core.ok("put 6 me q e K {} 0 lock one");
    core.ok("priority 7 e 2");
    assert_eq!(
        core.states("b c d e"),
        "throttled throttled throttled throttled"
    );
    let mut order = Vec::new();
    let mut last = "a".to_owned();
    for now in 10..14 {
        core.ok(&format!("complete {now} {last} w1 q {{}}"));
        let popped = core.jids(&format!("pop {now} q w1 5"));
        assert_eq!(popped.len(), 1);
        last = popped[0].clone();
        order.push(last.clone());
    }
    assert_eq!(order, ["d", "e", "b", "c"]);
}

#[test]
fn l11_only_queues_with_the_default_are_guarded() {
    let mut core = Core::new();
    core.ok(r#"config.set 0 safe-defaults {"lock":"*"}"#);
    // The puts of classic clients, with their usual words.
    for jid in ["s1", "s2"] {
        core.ok(&format!(
            "put 1 me safe {jid} K {{}} 0 priority 0 tags [] retries 5 depends []"
        ));
    }
    for jid in ["f1", "f2"] {
        core.ok(&format!(
            "put 1 me free {jid} K {{}} 0 priority 0 tags [] retries 5 depends []"
        ));
    }
    assert_eq!(core.jids("pop 2 safe w1 5").len(), 1);
    assert_eq!(core.jids("pop 2 free w1 5").len(), 2);
    // A foreign script put this one: it gets the lock when it is popped.
    core.ok("config.unset 3 safe-defaults");
    core.ok("put 3 me safe s3 K {} 0");
    core.ok(r#"config.set 3 safe-defaults {"lock":"*"}"#);
    assert_eq!(core.field("s3", "throttles"), None);
    assert_eq!(core.jids("pop 4 safe w1 5"), [""; 0]);
    assert_eq!(core.state("s3"), "throttled");
}

#[test]
fn l12_a_heartbeat_not_below_the_lock_is_refused() {
    let site = WorkSite::on(Redis::start());
    site.qless().run("config set q-heartbeat 35 --yes").exits(0);
    site.qless()
        .run("work q --heartbeat 35s -- true")
        .shows(expect![[r#"
            --- stderr
            error: `--heartbeat 35s` is too long: a lock of queue `q` lasts 35s
            hint: without `--heartbeat`, a lock is extended three times before it expires
            --- exit 2
        "#]]);
}

#[test]
fn l13_no_key_of_a_lock_remains_after_the_last_job() {
    let mut core = guarded();
    core.many((0..20).map(|n| format!("put 1 me q j{n} K {{\"n\":{}}} 0", n % 3)));
    for now in 2..60 {
        for jid in core.jids(&format!("pop {now} q w1 5")) {
            let end = match now % 5 {
                0 => format!("fail {now} {jid} w1 G M"),
                1 => format!("cancel {now} {jid}"),
                2 => format!("retry {now} {jid} q w1"),
                _ => format!("complete {now} {jid} w1 q {{}}"),
            };
            core.ok(&end);
        }
    }
    let queue = core.json("queues 60 q");
    assert_eq!(
        (&queue["waiting"], &queue["running"]),
        (&0.into(), &0.into())
    );
    assert_eq!(core.keys_with("lock:"), [""; 0]);
    assert_eq!(core.keys_with("-throttled"), [""; 0]);
}
