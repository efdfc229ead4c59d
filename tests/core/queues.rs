//! Queues and workers as they are listed: counts, pages, pauses, forgotten names.

use serde_json::json;

use crate::support::core::{Core, Reply};

#[test]
fn a_queue_is_counted_by_its_sets() {
    let mut core = super::errors::one_of_each();
    assert_eq!(
        core.json("queues 9 q"),
        json!({
            "name": "q", "waiting": 2, "running": 1, "stalled": 0, "scheduled": 1, "depends": 1,
            "recurring": 1, "paused": false,
        })
    );
    assert_eq!(core.ok("length 9 q"), Reply::Int(4));
    assert_eq!(core.json("queues 63 q")["stalled"], 1);
    assert_eq!(core.json("queues 63 q")["running"], 0);
}

#[test]
fn unknown_queues_have_zero_counts() {
    let mut core = Core::new();
    assert_eq!(
        core.json("queues 0 nope"),
        json!({
            "name": "nope", "waiting": 0, "running": 0, "stalled": 0, "scheduled": 0, "depends": 0,
            "recurring": 0, "paused": false,
        })
    );
    assert_eq!(core.ok("queues 0").text(), "{}");
    assert_eq!(core.ok("length 0 nope"), Reply::Int(0));
}

#[test]
fn queues_are_listed_in_the_order_in_which_they_were_seen() {
    let mut core = Core::new();
    core.all("put 2 w z a K {} 0; put 1 w y b K {} 0; put 2 w x c K {} 0");
    let names: Vec<_> = core
        .json("queues 3")
        .as_array()
        .unwrap()
        .iter()
        .map(|queue| queue["name"].clone())
        .collect();
    assert_eq!(names, ["y", "x", "z"]);
}

#[test]
fn d_42_counting_a_queue_promotes_all_due_jobs() {
    let mut core = Core::new();
    core.many((0..30).map(|n| format!("put 0 w q j{n} K {{}} 5")));
    assert_eq!(core.json("queues 4 q")["scheduled"], 30);
    assert_eq!(core.json("queues 5")[0]["waiting"], 30);
    core.ok("put 6 w q late K {} 5");
    assert!(core.ok("jobs 11 scheduled q").texts().is_empty());
    assert_eq!(core.state("late"), "waiting");
}

#[test]
fn jobs_are_paged_by_rank_or_by_limit() {
    let mut core = Core::new();
    for n in 0..4 {
        core.ok(&format!("put {n} w q j{n} K {{}} 0"));
        core.ok(&format!("pop {n} q w1 1"));
        core.ok(&format!("put {n} w q s{n} K {{}} {}", 1000 + n));
    }
    // By rank: 0 is all, -1 all but the last, a negative offset counts from the end.
    assert_eq!(core.ok("jobs 9 scheduled q 1 2").texts(), ["s1", "s2"]);
    assert_eq!(
        core.ok("jobs 9 scheduled q 0 0").texts(),
        ["s0", "s1", "s2", "s3"]
    );
    assert_eq!(
        core.ok("jobs 9 scheduled q 0 -1").texts(),
        ["s0", "s1", "s2"]
    );
    assert_eq!(core.ok("jobs 9 scheduled q -2 2").texts(), ["s2", "s3"]);
    // By limit: 0 is none, -1 all, a negative offset none.
    assert_eq!(core.ok("jobs 9 running q 1 2").texts(), ["j1", "j2"]);
    assert!(core.ok("jobs 9 running q 0 0").texts().is_empty());
    assert_eq!(
        core.ok("jobs 9 running q 0 -1").texts(),
        ["j0", "j1", "j2", "j3"]
    );
    assert!(core.ok("jobs 9 running q -2 2").texts().is_empty());
    assert_eq!(core.ok("jobs 62 stalled q").texts(), ["j0", "j1", "j2"]);
    assert_eq!(core.ok("jobs 62 running q").texts(), ["j2", "j3"]);
    // A worker's jobs begin with the lock that ends last.
    let held = core.json("workers 62 w1");
    assert_eq!(
        held,
        json!({"jobs": ["j3", "j2"], "stalled": ["j2", "j1", "j0"]})
    );
}

#[test]
fn jobs_returns_twenty_five_by_default() {
    let mut core = Core::new();
    for n in 0..40 {
        core.ok(&format!("put 0 w q j{n} K {{}} 1000"));
        core.ok(&format!("recur 0 q r{n} K {{}} interval 60 {n}"));
    }
    core.ok("put 0 w q a K {} 0");
    core.many((0..40).map(|n| format!("put {n} w q d{n} K {{}} 0 depends [\"a\"]")));
    for state in ["scheduled", "depends", "recurring"] {
        assert_eq!(core.ok(&format!("jobs 50 {state} q")).list().len(), 25);
        assert_eq!(core.ok(&format!("jobs 50 {state} q 30")).list().len(), 10);
    }
    assert_eq!(core.ok("jobs 50 depends q 0 2").texts(), ["d0", "d1"]);
    assert_eq!(core.ok("jobs 50 recurring q 0 2").texts(), ["r0", "r1"]);
    assert_eq!(core.ok("jobs 9 recurring q 38").texts(), ["r38", "r39"]);
}

#[test]
fn complete_jobs_are_listed_newest_first() {
    let mut core = Core::new();
    for n in 0..3 {
        core.all(&format!(
            "put {n} w q j{n} K {{}} 0; pop {n} q w1 1; complete {n} j{n} w1 q {{}}"
        ));
    }
    assert_eq!(core.ok("jobs 9 complete").texts(), ["j2", "j1", "j0"]);
    assert_eq!(core.ok("jobs 9 complete 1 1").texts(), ["j1"]);
    assert_eq!(core.ok("jobs 9 complete -1 1").texts(), ["j0"]);
}

#[test]
fn pause_publishes_nothing_and_accepts_several_names() {
    let mut core = Core::new();
    assert_eq!(core.ok("pause 0 q p"), Reply::Nil);
    assert_eq!(core.json("queues 0 q")["paused"], true);
    assert_eq!(core.ok("unpause 0 q nope"), Reply::Nil);
    assert_eq!(core.json("queues 0 q")["paused"], false);
    assert_eq!(core.json("queues 0 p")["paused"], true);
    assert!(core.events().is_empty());
    assert_eq!(
        core.ok("queues 0").text(),
        "{}",
        "pausing makes no queue known"
    );
}

#[test]
fn d_41_a_forgotten_queue_keeps_its_jobs_and_is_listed_again() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; queue.forget 1 q nope");
    assert_eq!(core.ok("queues 2").text(), "{}");
    assert_eq!(core.json("queues 2 q")["waiting"], 1);
    core.ok("put 3 w q k K {} 0");
    assert_eq!(core.score("ql:queues", "q"), Some(3.0));
}

#[test]
fn d_40_every_call_that_adds_a_job_lists_its_queue() {
    for line in [
        "retry 5 j q w1",
        "unfail 5 q G",
        "complete 5 j w1 q {} next q",
    ] {
        let mut core = Core::new();
        core.all("put 0 w q j K {} 0; pop 1 q w1 1");
        if line.starts_with("unfail") {
            core.ok("fail 2 j w1 G M");
        }
        core.ok("queue.forget 3 q");
        core.ok(line);
        assert_eq!(core.score("ql:queues", "q"), Some(5.0), "{line}");
    }
}

// workers

#[test]
fn workers_are_listed_by_their_last_activity() {
    let mut core = Core::new();
    core.all(
        "put 0 w q a K {} 0; put 0 w q b K {} 0; pop 1 q w1 1; pop 2 q w2 1; heartbeat 3 b w1",
    );
    assert_eq!(
        core.json("workers 4"),
        json!([{"name": "w1", "jobs": 1, "stalled": 0}, {"name": "w2", "jobs": 1, "stalled": 0}])
    );
    assert_eq!(
        core.json("workers 4 w1"),
        json!({"jobs": ["b"], "stalled": {}})
    );
    assert_eq!(
        core.json("workers 4 nobody"),
        json!({"jobs": {}, "stalled": {}})
    );
    assert_eq!(core.ok("workers 5").json()[1]["name"], "w2");
}

#[test]
fn d_08_a_lock_that_expires_now_counts_as_held_and_as_stalled() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 0 q w1 1");
    assert_eq!(
        core.json("workers 60 w1"),
        json!({"jobs": ["j"], "stalled": ["j"]})
    );
    assert_eq!(
        core.json("workers 60")[0],
        json!({"name": "w1", "jobs": 1, "stalled": 1})
    );
    assert_eq!(
        core.json("workers 61 w1"),
        json!({"jobs": {}, "stalled": ["j"]})
    );
}

#[test]
fn jobs_of_a_worker_are_listed_by_descending_expiry() {
    let mut core = Core::new();
    for (n, jid) in ["c", "a", "b"].iter().enumerate() {
        core.all(&format!("put {n} w q {jid} K {{}} 0; pop {n} q w1 1"));
    }
    assert_eq!(core.json("workers 5 w1")["jobs"], json!(["b", "a", "c"]));
}

#[test]
fn a_lock_more_than_a_hundred_days_ahead_counts_nowhere() {
    let mut core = Core::new();
    core.all("config.set 0 heartbeat 8640001; put 0 w q j K {} 0; pop 0 q w1 1");
    assert_eq!(
        core.json("workers 0 w1"),
        json!({"jobs": {}, "stalled": {}})
    );
    assert_eq!(core.json("workers 1 w1")["jobs"], json!(["j"]));
}

#[test]
fn d_73_workers_silent_for_long_are_removed() {
    let mut core = Core::new();
    core.all("config.set 0 max-worker-age 100; config.set 0 heartbeat 1000; put 0 w q j K {} 0; pop 0 q w1 1; pop 50 q w2 1");
    assert_eq!(
        core.json("workers 100"),
        json!([{"name": "w2", "jobs": 0, "stalled": 0}])
    );
    assert!(!core.dump().has("ql:w:w1:jobs"));
    // The job itself does not change.
    assert_eq!(core.ok("jobs 101 running q").texts(), ["j"]);
    assert_eq!(core.ok("heartbeat 101 j w1"), Reply::Int(1101));
    assert_eq!(core.json("workers 101 w1")["jobs"], json!(["j"]));
}

#[test]
fn d_74_a_deregistered_worker_keeps_its_jobs() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 0 q w1 1; worker.deregister 1 w1 nobody");
    assert_eq!(core.ok("workers 2").text(), "{}");
    assert_eq!(core.json("workers 2 w1")["jobs"], json!(["j"]));
}

#[test]
fn a_page_of_scheduled_jobs_that_is_refused_has_promoted_none() {
    // Whether a negative zero is an integer is for the server to say.
    for page in ["-0", "-0.0", "-0 5", "-1e-999"] {
        let mut core = Core::new();
        core.ok("put 0 w q j K {} 30");
        let refused = core.run(&format!("jobs 60 scheduled q {page}")).is_err();
        let scheduled = core.score("ql:q:q-scheduled", "j").is_some();
        assert_eq!(refused, scheduled, "{page}");
    }
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 90");
    assert_eq!(core.ok("jobs 60 scheduled q 0 -0").texts(), ["j"]);
}
