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
fn promises_of_locket() {
    Core::new().session(expect![[r#"
        == L1: two identical jobs run one after the other
        config.set 0 q-defaults {"lock":"*"}; config.set 0 hi-defaults {"lock":"*"}
        config.set 0 lo-defaults {"lock":"*"}; put 1 me q a K {"n":1} 0; put 2 me q b K {"n":1} 0
        pop 3 q w1 1 | jid → a
        pop 3 q w2 1 | jid → {}
        complete 4 a w1 q {}
        pop 5 q w2 1 | jid → b
        complete 6 b w2 q {}
        states a b → complete complete

        == L2: two identical jobs of two queues run one after the other
        config.set 0 q-defaults {"lock":"*"}; config.set 0 hi-defaults {"lock":"*"}
        config.set 0 lo-defaults {"lock":"*"}; put 1 me hi a K {"n":1} 0; put 2 me lo b K {"n":1} 0
        pop 3 lo w2 1 | jid → b
        pop 3 hi w1 1 | jid → {}
        complete 4 b w2 lo {}
        pop 5 hi w1 1 | jid → a

        == L3: jobs with other data or another klass run at the same time
        config.set 0 q-defaults {"lock":"*"}; config.set 0 hi-defaults {"lock":"*"}
        config.set 0 lo-defaults {"lock":"*"}; put 1 me q a K {"n":1} 0; put 2 me q b K {"n":2} 0
        put 3 me q c L {"n":1} 0
        pop 4 q w1 5 | jid → a b c

        == L4: a lock template ignores the fields that it does not name
        config.set 0 q-defaults {"lock":"{klass}-{data.user.id}"}; put 1 me q a K {"user":{"id":7},"at":1} 0
        put 2 me q b K {"user":{"id":7},"at":2} 0; put 3 me q c K {"user":{"id":8},"at":1} 0
        -- Without a value for a placeholder there is no lock.
        put 4 me q d K {"at":1} 0; put 5 me q e K {"at":1} 0
        pop 6 q w1 9 | jid → a c d e
        states b → throttled
        keys *lock:K-7-locks* → ql:th:lock:K-7-locks

        == L11: only queues with the default are guarded
        config.set 0 safe-defaults {"lock":"*"}
        -- The puts of classic clients, with their usual words.
        put 1 me safe s1 K {} 0 priority 0 tags [] retries 5 depends []
        put 1 me safe s2 K {} 0 priority 0 tags [] retries 5 depends []
        put 1 me free f1 K {} 0 priority 0 tags [] retries 5 depends []
        put 1 me free f2 K {} 0 priority 0 tags [] retries 5 depends []
        pop 2 safe w1 5 | jid → s2
        pop 2 free w1 5 | jid → f2 f1
        -- A foreign script put this one: it gets the lock when it is popped.
        config.unset 3 safe-defaults; put 3 me safe s3 K {} 0; config.set 3 safe-defaults {"lock":"*"}
        HGET ql:j:s3 throttles → nil
        pop 4 safe w1 5 | jid → {}
        states s3 → throttled

        == L10: held jobs keep their order and priority
        put 1 me q a K {} 0 lock one; pop 2 q w1 1; put 3 me q b K {} 0 lock one; put 4 me q c K {} 0 lock one
        put 5 me q d K {} 0 lock one priority 3; put 6 me q e K {} 0 lock one; priority 7 e 2
        states b c d e → throttled throttled throttled throttled
        complete 10 a w1 q {}
        pop 10 q w1 5 | jid → d
        complete 11 d w1 q {}
        pop 11 q w1 5 | jid → e
        complete 12 e w1 q {}
        pop 12 q w1 5 | jid → b
        complete 13 b w1 q {}
        pop 13 q w1 5 | jid → c

        == Numbers in templates keep the digits of the data
        config.set 0 q-defaults {"key":"{data.n}"}; config.set 0 deep-defaults {"key":"{data.a.b}-{data.c}"}
        put 1 me q j1 K {"n":901234567890123456} 0; put 2 me q j2 K {"n":901234567890123999} 0
        put 3 me q j3 K {"n":1.50} 0; put 4 me q j4 K {"n":1e3} 0; put 5 me q j5 K {"n":-7} 0
        put 6 me q j6 K '{"n":-1.25E+10 }' 0; put 7 me q j7 K {"n":7} 0
        -- Texts stay, with quotes, backslashes and digits inside.
        put 8 me q j8 K '{"x":"\\","y":"\"1, \\\"2","3\"":4,"n":12345678901234567890}' 0
        put 9 me q j9 K '{"m":5,"n":"a \"12\\ 3"}' 0; put 10 me q j10 K {"m":[1,true,null,false,-2],"n":true} 0
        put 11 me deep j11 K {"a":{"b":100000000000000000001,"c":[1]},"c":"x9"} 0
        put 12 me deep j12 K {"a":{"b":0.1},"c":100000000000000000000002} 0
        HGET ql:j:j1 key → q/901234567890123456
        HGET ql:j:j2 key → q/901234567890123999
        HGET ql:j:j3 key → q/1.50
        HGET ql:j:j4 key → q/1e3
        HGET ql:j:j5 key → q/-7
        HGET ql:j:j6 key → q/-1.25E+10
        HGET ql:j:j7 key → q/7
        HGET ql:j:j8 key → q/12345678901234567890
        HGET ql:j:j9 key → q/a "12\ 3
        HGET ql:j:j10 key → q/true
        HGET ql:j:j11 key → deep/100000000000000000001-x9
        HGET ql:j:j12 key → deep/0.1-100000000000000000000002
        -- A null and a path through a number have no value: no lane.
        put 50 me q none K {"n":null} 0; put 51 me deep through K {"a":5,"c":1} 0
        HGET ql:j:none key → nil
        HGET ql:j:through key → nil
        config.set 60 l-defaults {"lock":"u{data.n}","throttles":["t{data.n}"]}; put 61 me l l1 K {"n":901234567890123456} 0
        HGET ql:j:l1 throttles → ["t901234567890123456","lock:u901234567890123456"]
    "#]]);
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
    let mut core = Core::new();
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
        core.flush();
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
