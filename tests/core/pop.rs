//! Popping and peeking: the order of a queue, expired locks in their two phases, promotion of due
//! jobs, limits, and ghosts that must not stop a queue.

use serde_json::json;

use crate::support::core::{Core, Reply};

/// A database with `count` jobs `j0` … of queue `q`, popped by `w1` at 0, so that they expire at 60.
fn popped(count: usize, options: &str) -> Core {
    let mut core = Core::new();
    for n in 0..count {
        core.ok(&format!("put 0 w q j{n} K {{}} 0{options}"));
    }
    core.ok(&format!("pop 0 q w1 {count}"));
    core.events();
    core
}

#[test]
fn the_larger_priority_is_popped_first() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0 priority -1; put 1 w q b K {} 0; put 2 w q c K {} 0 priority 7");
    assert_eq!(core.jids("pop 3 q w1 3"), ["c", "b", "a"]);
}

#[test]
fn equal_priorities_are_popped_by_age_and_twins_in_reverse_order_of_name() {
    let mut core = Core::new();
    core.all("put 1 w q m K {} 0; put 0 w q z K {} 0; put 2 w q a K {} 0; put 2 w q b K {} 0");
    assert_eq!(core.jids("pop 3 q w1 4"), ["z", "m", "b", "a"]);
}

#[test]
fn popping_writes_all_that_belongs_to_a_running_job() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    core.events();
    let jobs = core.json("pop 2.5 q w1 1");
    assert_eq!(jobs[0]["state"], "running");
    assert_eq!(
        (&jobs[0]["worker"], &jobs[0]["expires"]),
        (&json!("w1"), &json!(62.5))
    );
    assert_eq!(
        jobs[0]["history"][1],
        json!({"when": 2, "what": "popped", "worker": "w1"})
    );
    for key in ["ql:q:q-locks", "ql:w:w1:jobs"] {
        assert_eq!(core.score(key, "j"), Some(62.5));
    }
    assert_eq!(core.score("ql:workers", "w1"), Some(2.5));
    assert_eq!(core.score("ql:q:q-work", "j"), None);
    assert_eq!(core.field("j", "time").unwrap().parse(), Ok(2.5));
    // Popping an untracked job publishes nothing, and an unknown queue is not listed.
    assert!(core.events().is_empty());
    core.ok("pop 3 elsewhere w1 1");
    assert_eq!(core.score("ql:queues", "elsewhere"), None);
}

#[test]
fn the_heartbeat_of_the_queue_overrides_the_global_one() {
    let mut core = Core::new();
    core.all("config.set 0 heartbeat 30; config.set 0 q-heartbeat 7; put 0 w q a K {} 0; put 0 w p b K {} 0");
    assert_eq!(core.json("pop 0 q w1 1")[0]["expires"], 7);
    assert_eq!(core.json("pop 0 p w1 1")[0]["expires"], 30);
    assert_eq!(core.ok("heartbeat 1 a w1"), Reply::Int(8));
    core.ok("config.set 0 heartbeat-q 99");
    assert_eq!(core.ok("heartbeat 1 a w1"), Reply::Int(8));
}

#[test]
fn a_pop_of_zero_jobs_registers_the_worker() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    assert!(core.jids("pop 5 q w1 0").is_empty());
    assert_eq!(core.score("ql:workers", "w1"), Some(5.0));
    assert_eq!(core.state("j"), "waiting");
}

#[test]
fn a_negative_pop_count_takes_all_but_the_last() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 1 w q b K {} 0; put 2 w q c K {} 0; put 0 w q s K {} 3");
    // `s` is due and, scored 5, is last.
    assert_eq!(core.jids("pop 5 q w1 -2"), ["a", "b"]);
    assert_eq!(core.jids("pop 6 q w1 -1"), ["c"]);
    assert!(core.jids("pop 7 q w1 -1").is_empty());
    assert_eq!(core.state("s"), "waiting");
}

#[test]
fn d_27_a_paused_queue_gives_no_jobs_and_updates_nothing() {
    let mut core = popped(1, "");
    core.all("put 0 w q k K {} 0; put 0 w q s K {} 5; pause 0 q");
    core.events();
    let before = core.dump();
    assert_eq!(core.ok("pop 1000 q w2 5").text(), "{}");
    assert_eq!(core.ok("pop 1000 q w2 1.5").text(), "{}");
    assert_eq!(core.dump(), before);
    assert!(core.events().is_empty());
    assert_eq!(core.jids("peek 1000 q 5"), ["j0", "k", "s"]);
    core.ok("unpause 1000 q");
    assert_eq!(core.jids("pop 1000 q w2 5").len(), 2);
}

// expired locks

#[test]
fn an_expired_lock_is_first_a_warning_and_then_lost() {
    let mut core = popped(1, "");
    assert!(core.jids("pop 60 q w2 1").is_empty());
    assert_eq!(
        core.published(),
        [
            r#"ql:w:w1 {"jid":"j0","event":"lock_lost","worker":"w1"}"#,
            r#"ql:log {"jid":"j0","event":"lock_lost","worker":"w1"}"#,
        ]
    );
    assert_eq!(core.score("ql:q:q-locks", "j0"), Some(70.0));
    assert_eq!(core.json("get 60 j0")["worker"], "w1");
    assert!(core.jids("pop 69 q w2 1").is_empty());
    let jobs = core.json("pop 70 q w2 1");
    assert_eq!(
        (&jobs[0]["worker"], &jobs[0]["remaining"]),
        (&json!("w2"), &json!(4))
    );
    assert!(core.events().is_empty());
    let whats: Vec<_> = jobs[0]["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["what"])
        .collect();
    assert_eq!(whats, ["put", "popped", "timed-out", "popped"]);
}

#[test]
fn a_lost_job_may_be_popped_by_the_same_worker() {
    let mut core = popped(1, "");
    core.ok("pop 60 q w1 1");
    assert_eq!(core.jids("pop 70 q w1 1"), ["j0"]);
    assert_eq!(core.json("workers 71 w1")["jobs"], json!(["j0"]));
}

#[test]
fn without_a_grace_period_warning_and_loss_coincide() {
    let mut core = popped(1, "");
    core.ok("config.set 0 grace-period 0");
    core.events();
    assert_eq!(core.jids("pop 60 q w2 1"), ["j0"]);
    assert_eq!(core.published().len(), 2);
    assert_eq!(core.json("stats 60 q 60")["retries"], 1);
}

#[test]
fn a_job_can_be_lost_once_more_than_it_has_retries() {
    let mut core = popped(1, " retries 2");
    core.ok("config.set 0 grace-period -1");
    assert_eq!(core.json("pop 100 q w1 1")[0]["remaining"], 1);
    assert_eq!(core.json("pop 200 q w1 1")[0]["remaining"], 0);
    assert!(core.jids("pop 300 q w1 1").is_empty());
    assert_eq!(core.state("j0"), "failed");
    assert_eq!(
        core.json("failed 300 failed-retries-q")["jobs"],
        json!(["j0"])
    );
}

#[test]
fn warnings_and_failures_do_not_count_as_popped() {
    let mut core = popped(2, "");
    core.ok("put 1 w q k K {} 0");
    assert_eq!(core.jids("pop 60 q w2 1"), ["k"]);
    assert_eq!(core.field("j0", "grace").as_deref(), Some("1"));
    assert_eq!(core.field("j1", "grace"), None);
}

#[test]
fn lost_jobs_are_popped_before_waiting_ones() {
    let mut core = popped(1, "");
    core.all("put 1 w q k K {} 0 priority 99; pop 60 q w2 0; pop 60 q w2 -1");
    assert_eq!(core.jids("pop 70 q w2 2")[0], "j0");
}

#[test]
fn d_21_a_warned_worker_no_longer_lists_the_job() {
    let mut core = popped(1, "");
    core.ok("pop 60 q w2 1");
    assert_eq!(
        core.json("workers 60 w1"),
        json!({"jobs": {}, "stalled": {}})
    );
    assert_eq!(core.field("j0", "expires").as_deref(), Some("60"));
}

#[test]
fn d_26_the_time_of_an_exhausted_job_is_whole_seconds() {
    let mut core = popped(1, " retries 0");
    core.all("track 0 track j0; pop 60 q w2 1");
    core.events();
    core.ok("pop 70.75 q w2 1");
    let message = r#"Job exhausted retries in queue "q""#;
    assert_eq!(
        core.json("get 71 j0")["failure"],
        json!({"group": "failed-retries-q", "message": message, "when": 70, "worker": ""})
    );
    assert_eq!(
        core.published(),
        [
            "ql:failed j0",
            r#"ql:log {"message":"Job exhausted retries in queue \"q\"","jid":"j0","group":"failed-retries-q","event":"failed","worker":"w1"}"#,
        ]
    );
}

#[test]
fn d_13_fractional_retries_do_not_stop_a_queue() {
    let mut core = popped(1, " retries 0.5");
    core.redis("HSET ql:j:j0 remaining 0.5");
    core.ok("put 1 w q k K {} 0");
    core.ok("config.set 0 grace-period 0");
    assert_eq!(core.jids("pop 60 q w2 2"), ["k"]);
    assert_eq!(core.state("j0"), "failed");
}

#[test]
fn a_lost_job_leaves_the_list_of_a_worker_with_an_empty_name() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 0 q '' 1; pop 60 q w1 1");
    assert!(!core.dump().has("ql:w::jobs"));
}

// limits

#[test]
fn a_queue_gives_no_more_than_its_limit() {
    let mut core = Core::new();
    core.ok("config.set 0 q-max-concurrency 2");
    core.many((0..3).map(|n| format!("put 0 w q j{n} K {{}} 0")));
    assert_eq!(core.jids("pop 1 q w1 5").len(), 2);
    assert!(core.jids("pop 2 q w1 5").is_empty());
    assert_eq!(core.score("ql:workers", "w1"), Some(2.0));
    core.ok("complete 3 j2 w1 q {}");
    assert_eq!(core.jids("pop 4 q w1 5"), ["j0"]);
}

#[test]
fn d_08_a_lock_that_expires_now_still_counts_against_the_limit() {
    let mut core = popped(1, "");
    core.all("config.set 0 q-max-concurrency 1; put 0 w q k K {} 0");
    core.events();
    assert!(core.jids("pop 60 q w2 1").is_empty());
    assert!(
        core.events().is_empty(),
        "the lapsed lock was not even looked at"
    );
    assert_eq!(core.ok("jobs 60 running q").texts(), ["j0"]);
    assert_eq!(core.ok("jobs 60 stalled q").texts(), ["j0"]);
}

#[test]
fn d_07_a_warned_job_still_counts_against_the_limit() {
    let mut core = popped(1, "");
    core.all("config.set 0 q-max-concurrency 1; put 0 w q k K {} 0");
    assert!(core.jids("pop 61 q w2 5").is_empty());
    assert_eq!(core.state("k"), "waiting");
    assert_eq!(core.jids("pop 72 q w2 5"), ["j0"]);
}

#[test]
fn d_07_without_grace_a_lost_job_is_popped_again_at_the_limit() {
    let mut core = popped(1, "");
    core.all("config.set 0 q-max-concurrency 1; config.set 0 grace-period 0; put 0 w q k K {} 0");
    assert_eq!(core.jids("pop 61 q w2 5"), ["j0"]);
    assert_eq!(core.dump().zset("ql:q:q-locks").len(), 1);
}

// due jobs

#[test]
fn scheduled_jobs_become_waiting_when_they_are_due() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 10; put 0 w q b K {} 5; put 0 w q c K {} 20");
    assert!(core.jids("pop 4 q w1 9").is_empty());
    assert_eq!(core.jids("pop 10 q w1 9"), ["b", "a"]);
    assert_eq!(core.state("c"), "scheduled");
}

#[test]
fn d_36_promotion_is_as_large_as_the_pop_and_forgets_the_due_time() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 1; put 0 w q b K {} 2; put 0 w q c K {} 3 priority 9");
    assert_eq!(core.jids("pop 10 q w1 2"), ["b", "a"]);
    assert_eq!(core.state("c"), "scheduled");
    core.ok("queues 11 q");
    assert_eq!(core.state("c"), "waiting");
    assert_eq!(core.score("ql:q:q-work", "c"), Some(9.0 - 11.0 / 1e10));
}

#[test]
fn peeking_promotes_and_changes_nothing_else() {
    let mut core = popped(1, "");
    core.all("put 0 w q a K {} 5; put 1 w q b K {} 0; put 1 w q c K {} 99");
    core.events();
    let jobs = core.json("peek 61 q 2");
    assert_eq!(
        (&jobs[0]["jid"], &jobs[0]["state"]),
        (&json!("j0"), &json!("running"))
    );
    assert_eq!(jobs[1]["jid"], "b");
    assert_eq!(core.state("a"), "waiting");
    assert_eq!(core.jids("peek 61 q 9"), ["j0", "b", "a"]);
    assert!(core.events().is_empty());
    assert_eq!(core.score("ql:workers", "w2"), None);
}

#[test]
fn peeking_omits_jobs_in_their_grace_period() {
    let mut core = popped(1, "");
    core.all("put 0 w q k K {} 0; pop 61 q w2 0; config.set 61 q-max-concurrency 0; pop 61 q w2 1");
    assert!(core.jids("peek 62 q 9").is_empty());
    assert_eq!(core.jids("peek 71 q 9"), ["j0"]);
}

// ghosts

#[test]
fn d_01_a_waiting_jid_without_a_job_is_dropped() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 1 w q ghost K {} 0; put 2 w q b K {} 0");
    core.redis("DEL ql:j:ghost");
    assert_eq!(core.jids("peek 3 q 5"), ["a", "b"]);
    assert_eq!(core.jids("pop 3 q w1 2"), ["a", "b"]);
    assert!(!core.dump().has("ql:q:q-work"));
    core.redis("ZADD ql:q:q-work 5 ghost");
    assert!(core.jids("pop 4 q w1 1").is_empty());
    assert!(!core.dump().has("ql:q:q-work"));
}

#[test]
fn d_02_a_locked_jid_without_a_job_is_dropped() {
    let mut core = popped(1, "");
    core.ok("put 1 w q k K {} 0");
    core.redis("DEL ql:j:j0");
    core.redis("ZADD ql:q:q-work 5 j0");
    core.redis("ZADD ql:q:q-scheduled 5 j0");
    assert_eq!(core.jids("pop 61 q w2 1"), ["k"]);
    let dump = core.dump();
    assert!(!dump.has("ql:j:j0"));
    assert_eq!(dump.score("ql:q:q-locks", "j0"), None);
    assert_eq!(dump.score("ql:q:q-work", "j0"), None);
}

#[test]
fn d_03_a_scheduled_jid_without_a_job_is_dropped() {
    for line in [
        "pop 10 q w1 5",
        "peek 10 q 5",
        "queues 10 q",
        "queues 10",
        "jobs 10 scheduled q",
    ] {
        let mut core = Core::new();
        core.all("put 0 w q ghost K {} 5; put 0 w q a K {} 5");
        core.redis("DEL ql:j:ghost");
        core.ok(line);
        let dump = core.dump();
        assert!(!dump.has("ql:j:ghost"), "{line}");
        assert_eq!(dump.score("ql:q:q-scheduled", "ghost"), None, "{line}");
        assert_eq!(dump.score("ql:q:q-work", "ghost"), None, "{line}");
    }
}

#[test]
fn d_05_only_waiting_jobs_are_popped() {
    let mut core = super::errors::one_of_each();
    core.redis("DEL ql:q:q-work ql:q:q-scheduled ql:q:q-depends");
    for state in super::errors::STATES {
        core.redis(&format!("ZADD ql:q:q-work 1 {state}"));
    }
    let mut jids = core.jids("pop 9 q w2 9");
    jids.sort();
    assert_eq!(jids, ["scheduled", "stalled", "waiting"]);
    for state in ["depends", "running", "failed", "complete"] {
        assert_eq!(core.state(state), state);
        assert_eq!(core.score("ql:q:q-work", state), None, "{state}");
    }
    assert_eq!(core.json("get 9 running")["worker"], "w1");
}

#[test]
fn d_05_a_scheduled_job_stays_scheduled() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 100");
    core.redis("ZADD ql:q:q-work 1 j");
    assert!(core.jids("pop 1 q w1 1").is_empty());
    assert!(!core.dump().has("ql:q:q-work"));
    assert_eq!(core.jids("pop 200 q w1 1"), ["j"]);
    core.ok("complete 201 j w1 q {}");
    assert!(core.jids("pop 400 q w1 1").is_empty());
}

#[test]
fn d_05_a_batch_continues_after_dropped_entries() {
    let mut core = Core::new();
    core.many((0..20).map(|n| format!("put {n} w q j{n:02} K {{}} 0")));
    core.all("pop 20 q w1 5");
    for n in 0..5 {
        core.redis(&format!("ZADD ql:q:q-work 1 j{n:02}"));
        core.redis(&format!("ZADD ql:q:q-work 2 ghost{n}"));
    }
    assert_eq!(core.jids("pop 21 q w1 3"), ["j05", "j06", "j07"]);
    assert_eq!(core.dump().zset("ql:q:q-work").len(), 12);
}

#[test]
fn d_06_ten_thousand_jobs_are_popped_in_one_call() {
    let mut core = Core::new();
    core.many((0..10_000).map(|n| format!("put 0 w q j{n:05} K {{}} 0")));
    assert_eq!(core.jids("pop 1 q w1 10000").len(), 10_000);
    let dump = core.dump();
    assert!(!dump.has("ql:q:q-work"));
    assert_eq!(dump.zset("ql:q:q-locks").len(), 10_000);
    assert_eq!(dump.zset("ql:w:w1:jobs").len(), 10_000);
}

#[test]
fn a_job_left_in_another_queue_is_popped_from_there() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    core.redis("ZADD ql:q:p-work 1 j");
    _ = core.jids("pop 1 p w1 1");
    _ = core.jids("pop 1 q w1 1");
    assert_eq!(core.json("get 2 j")["state"], "running");
}

#[test]
fn d_12_settings_that_are_not_numbers_count_as_unset() {
    let mut core = Core::new();
    for option in [
        "heartbeat",
        "q-heartbeat",
        "grace-period",
        "q-max-concurrency",
        "jobs-history",
        "jobs-history-count",
        "max-job-history",
        "max-worker-age",
    ] {
        for value in ["soon", "''", "nan", "inf"] {
            core.ok(&format!("config.set 0 {option} {value}"));
            core.all("put 0 w q j K {} 0; put 0 w q k K {} 0");
            assert_eq!(core.jids("pop 0 q w1 2").len(), 2, "{option} {value}");
            assert_eq!(
                core.ok("heartbeat 0 j w1"),
                Reply::Int(60),
                "{option} {value}"
            );
            core.ok("complete 1 k w1 q {}");
            assert!(core.jids("pop 60 q w2 1").is_empty());
            assert_eq!(
                core.score("ql:q:q-locks", "j"),
                Some(70.0),
                "{option} {value}"
            );
            core.all("complete 61 j w1 q {}; workers 62; config.unset 62 heartbeat; cancel 62 j k");
            assert_eq!(
                core.json("get 62 j")["state"],
                "complete",
                "{option} {value}"
            );
        }
        core.ok(&format!("config.unset 0 {option}"));
    }
}
