//! What reqless promises of throttles, in its names: a throttle's
//! jobs hold slots while they run and are pending otherwise. By design not: a throttle of the queue
//! in every job's list, and a released pending job that vanishes.

use serde_json::json;

use crate::support::core::Core;

/// Puts `j1`, `j2`, … one second apart from 1, all with the throttle `t`.
fn with_jobs(maximum: i64, count: usize) -> Core {
    let mut core = Core::new();
    core.ok(&format!("throttle.set 0 t {maximum}"));
    core.many((1..=count).map(|n| format!("put {n} me q j{n} K {{}} 0 throttles [\"t\"]")));
    core
}

impl Core {
    /// The holders of `t`, its pending jobs, and the held jobs of `q`.
    fn shares(&mut self) -> String {
        let locks = self.json("throttle.locks 90 t");
        let pending = self.json("throttle.pending 90 t");
        let held = self.ok("jobs 90 throttled q").texts();
        format!("{locks} {pending} {held:?}").replace('"', "")
    }
}

#[test]
fn r1_a_paused_queue_does_not_swallow_the_wake_up_of_another() {
    // reqless wakes one job, whatever its queue: with the queue paused, nothing runs for ever.
    let mut core = Core::new();
    core.ok("throttle.set 0 t 1");
    core.all(r#"put 1 me A a0 K {} 0 throttles ["t"]; pop 2 A w1 1"#);
    core.all(r#"put 3 me A a1 K {} 0 throttles ["t"]; put 4 me B b1 K {} 0 throttles ["t"]"#);
    core.all("pause 5 A; complete 6 a0 w1 A {}");
    assert_eq!(core.jids("pop 7 B w1 1"), ["b1"]);
    core.all("complete 8 b1 w1 B {}; unpause 9 A");
    assert_eq!(core.jids("pop 10 A w1 1"), ["a1"]);
}

#[test]
fn r1_a_queue_that_nobody_attends_does_not_swallow_the_wake_up_of_another() {
    let mut core = Core::new();
    core.ok("throttle.set 0 t 1");
    core.all(r#"put 1 me A a0 K {} 0 throttles ["t"]; pop 2 A w1 1"#);
    core.all(r#"put 3 me A a1 K {} 0 throttles ["t"]; put 4 me B b1 K {} 0 throttles ["t"]"#);
    core.ok("complete 5 a0 w1 A {}");
    // Nobody pops A any more.
    assert_eq!(core.jids("pop 6 B w1 1"), ["b1"]);
}

#[test]
fn r1_no_pop_is_empty_while_a_job_can_run() {
    let mut core = with_jobs(1, 5);
    core.ok("put 6 me q free K {} 0");
    assert_eq!(core.jids("pop 7 q w1 1"), ["j1"]);
    assert_eq!(core.jids("pop 8 q w1 1"), ["free"]);
}

#[test]
fn r1_the_slot_of_a_lost_job_of_a_queue_without_workers_is_taken_back() {
    let mut core = Core::new();
    core.ok("throttle.set 0 t 1");
    core.all(r#"put 1 me A a0 K {} 0 throttles ["t"]; pop 2 A w1 1"#);
    core.ok(r#"put 3 me B b1 K {} 0 throttles ["t"]"#);
    // Nobody pops A; the lock ends at 62, the grace period takes ten seconds.
    assert_eq!(core.jids("pop 60 B w2 1"), [""; 0]);
    assert_eq!(core.jids("pop 71 B w2 1"), [""; 0]);
    assert_eq!(core.state("a0"), "running");
    let mut popped = core.jids("pop 73 B w2 1");
    for now in 80..83 {
        popped.extend(core.jids(&format!("pop {now} B w2 1")));
    }
    assert_eq!(popped, ["b1"]);
    assert_eq!(core.field("a0", "remaining").as_deref(), Some("4"));
    assert_ne!(core.state("a0"), "running");
    core.ok("complete 85 b1 w2 B {}");
    assert_eq!(core.jids("pop 90 A w1 1"), ["a0"]);
}

#[test]
fn r2_a_maximum_is_set_with_or_without_an_end() {
    let mut core = Core::new();
    core.ok("throttle.set 0 t 5 0");
    let hash = core.dump().hash("ql:th:t");
    assert_eq!(hash["id"], "t");
    assert_eq!(hash["maximum"], "5");
    assert_eq!(core.redis("TTL ql:th:t").int(), -1);
    assert_eq!(
        core.json("throttle.get 1 t"),
        json!({"id": "t", "maximum": 5, "ttl": -1})
    );
    core.ok("throttle.set 2 t 7 1000");
    let ttl = core.redis("TTL ql:th:t").int();
    assert!((990..=1000).contains(&ttl), "{ttl}");
    let throttle = core.json("throttle.get 3 t");
    assert_eq!(throttle["maximum"], 7);
    assert!((990..=1000).contains(&throttle["ttl"].as_i64().unwrap_or(0)));
    // Set again without seconds, it stays for good.
    core.ok("throttle.set 4 t 7");
    assert_eq!(core.redis("TTL ql:th:t").int(), -1);
}

#[test]
fn r2_what_reqless_stored_is_read_and_what_nobody_stored_is_unlimited() {
    let mut core = Core::new();
    core.redis("HMSET ql:th:t id t maximum 5");
    assert_eq!(core.json("throttle.get 0 t")["maximum"], 5);
    assert_eq!(
        core.json("throttle.get 0 other"),
        json!({"id": "other", "maximum": 0, "ttl": -2})
    );
    core.ok("throttle.delete 0 t");
    assert_eq!(
        core.json("throttle.get 0 t"),
        json!({"id": "t", "maximum": 0, "ttl": -2})
    );
    assert_eq!(core.json("throttle.locks 0 t"), json!([]));
    assert_eq!(core.json("throttle.pending 0 t"), json!([]));
}

#[test]
fn r2_releasing_the_holder_and_then_the_pending_job_leaves_none() {
    let mut core = with_jobs(1, 2);
    core.ok("pop 4 q w1 2");
    assert_eq!(core.shares(), "[j1] [j2] [j2]");
    core.ok("throttle.release 6 t j1 j2");
    assert_eq!(core.shares(), "[] [] []");
    assert_eq!(core.jids("peek 9 q 1"), ["j2"]);
    core.ok("cancel 10 j1 j2");
    assert_eq!(core.shares(), "[] [] []");
    assert_eq!(core.ok("jobs 11 running q").texts(), [""; 0]);
}

#[test]
fn r2_a_released_pending_job_runs_without_the_throttle() {
    // In reqless such a job vanishes from all sets.
    let mut core = with_jobs(1, 2);
    core.ok("pop 4 q w1 2");
    core.ok("throttle.release 6 t j2 j1");
    assert_eq!(core.shares(), "[] [] []");
    assert_eq!(core.jids("pop 9 q w1 5"), ["j2"]);
    assert_eq!(core.json("throttle.locks 9 t"), json!([]));
}

#[test]
fn r2_the_jobs_list_has_the_throttles_that_were_asked_for() {
    // In reqless each list ends with the throttle of the queue.
    let mut core = Core::new();
    core.ok("put 0 me q a K {} 0");
    core.ok(r#"put 0 me q b K {} 0 throttles ["t","u","t"]"#);
    assert_eq!(core.json("get 0 a").get("throttles"), None);
    assert_eq!(core.json("get 0 b")["throttles"], json!(["t", "u"]));
}

#[test]
fn r2_slots_are_recorded_without_a_maximum() {
    let mut core = Core::new();
    core.ok(r#"put 1 me q j1 K {} 0 throttles ["t"]"#);
    core.ok("pop 2 q w1 1");
    assert_eq!(core.shares(), "[j1] [] []");
    core.ok("complete 3 j1 w1 q {}");
    assert_eq!(core.shares(), "[] [] []");
}

#[test]
fn r2_no_more_than_the_maximum_run_and_the_others_are_pending_in_order() {
    let mut core = with_jobs(1, 4);
    assert_eq!(core.jids("pop 5 q w1 4"), ["j1"]);
    assert_eq!(core.shares(), "[j1] [j2,j3,j4] [j2, j3, j4]");
}

#[test]
fn r2_a_canceled_pending_job_is_pending_no_more() {
    let mut core = with_jobs(1, 2);
    core.ok("pop 3 q w1 2");
    core.ok("cancel 4 j2");
    assert_eq!(core.shares(), "[j1] [] []");
}

#[test]
fn r2_each_end_moves_the_next_job_to_work_which_takes_the_slot_when_it_is_popped() {
    for end in [
        "complete 4 j1 w1 q {}",
        "cancel 4 j1",
        "fail 4 j1 w1 G M",
        "timeout 4 j1",
    ] {
        let mut core = with_jobs(1, 2);
        core.ok("pop 3 q w1 2");
        assert_eq!(core.shares(), "[j1] [j2] [j2]");
        assert_eq!(core.ok("jobs 3 running q").texts(), ["j1"]);
        core.ok(end);
        assert_eq!(core.shares(), "[] [] []", "{end}");
        assert_eq!(core.ok("jobs 5 running q").texts(), [""; 0]);
        // A timed-out job is popped before all others.
        let next = if end.starts_with("timeout") {
            "j1"
        } else {
            "j2"
        };
        assert_eq!(core.jids("pop 6 q w1 1"), [next], "{end}");
        let locks = core.json("throttle.locks 6 t");
        assert_eq!(locks, json!([next]));
        assert_eq!(core.ok("jobs 6 running q").texts(), [next]);
    }
}

#[test]
fn r2_a_retried_job_gets_its_slot_again_if_nothing_is_before_it() {
    let mut core = with_jobs(1, 1);
    core.ok("pop 2 q w1 1");
    core.ok("retry 3 j1 q w1 0 retry why");
    assert_eq!(core.shares(), "[] [] []");
    assert_eq!(core.jids("pop 4 q w1 1"), ["j1"]);
    assert_eq!(core.shares(), "[j1] [] []");
}

#[test]
fn r2_a_retried_job_stands_behind_the_pending_one() {
    let mut core = with_jobs(1, 2);
    core.ok("pop 3 q w1 2");
    core.ok("retry 6 j1 q w1 0 retry why");
    assert_eq!(core.json("throttle.locks 7 t"), json!([]));
    assert_eq!(core.json("throttle.pending 7 t"), json!([]));
    assert_eq!(core.jids("pop 10 q w1 2"), ["j2"]);
    assert_eq!(core.shares(), "[j2] [j1] [j1]");
}

#[test]
fn r2_dependents_take_the_slot_after_the_success_of_their_dependency() {
    let mut core = Core::new();
    core.ok("throttle.set 0 t 1");
    core.ok(r#"put 1 me q j1 K {} 0 throttles ["t"]"#);
    core.ok(r#"put 2 me q j2 K {} 0 depends ["j1"] throttles ["t"]"#);
    core.ok(r#"put 3 me q j3 K {} 0 depends ["j2"] throttles ["t"]"#);
    for (now, jid) in [(10, "j1"), (20, "j2"), (30, "j3")] {
        assert_eq!(core.jids(&format!("pop {now} q w1 3")), [jid]);
        assert_eq!(core.shares(), format!("[{jid}] [] []"));
        core.ok(&format!("complete {now} {jid} w1 q {{}}"));
    }
    assert_eq!(core.shares(), "[] [] []");
}

#[test]
fn r2_dependents_of_a_failed_or_retried_job_wait_without_a_slot() {
    let chain = || {
        let mut core = Core::new();
        core.ok("throttle.set 0 t 1");
        core.ok(r#"put 1 me q j1 K {} 0 throttles ["t"]"#);
        core.ok(r#"put 2 me q j2 K {} 0 depends ["j1"] throttles ["t"]"#);
        core.ok("pop 3 q w1 1");
        core
    };
    let mut core = chain();
    core.ok("fail 4 j1 w1 G M {}");
    assert_eq!(core.shares(), "[] [] []");
    assert_eq!(core.jids("pop 5 q w1 2"), [""; 0]);
    let mut core = chain();
    core.ok("retry 4 j1 q w1 0 retry why");
    assert_eq!(core.jids("pop 5 q w1 2"), ["j1"]);
    assert_eq!(core.shares(), "[j1] [] []");
    core.ok("complete 6 j1 w1 q {}");
    assert_eq!(core.jids("pop 7 q w1 2"), ["j2"]);
}

#[test]
fn r2_a_raised_maximum_lets_pending_jobs_run() {
    let mut core = with_jobs(1, 3);
    core.ok("pop 4 q w1 3");
    assert_eq!(core.shares(), "[j1] [j2,j3] [j2, j3]");
    core.ok("throttle.set 7 t 3");
    assert_eq!(core.shares(), "[j1] [] []");
    core.ok("complete 8 j1 w1 q {}");
    assert_eq!(core.jids("pop 12 q w1 2"), ["j2", "j3"]);
}

#[test]
fn r2_a_deleted_maximum_lets_all_pending_jobs_run() {
    let mut core = with_jobs(1, 5);
    core.ok("pop 6 q w1 9");
    core.ok("throttle.delete 7 t");
    assert_eq!(core.shares(), "[j1] [] []");
    assert_eq!(core.jids("pop 8 q w1 9").len(), 4);
}

#[test]
fn r2_a_lowered_maximum_stops_nothing_that_runs_and_holds_once_it_has_ended() {
    for popped_first in [3, 5] {
        let mut core = with_jobs(3, 5);
        core.ok(&format!("pop 6 q w1 {popped_first}"));
        core.ok("throttle.set 9 t 1");
        assert_eq!(core.jids("pop 11 q w1 2"), [""; 0]);
        assert_eq!(core.shares(), "[j1,j2,j3] [j4,j5] [j4, j5]");
        core.ok("complete 12 j1 w1 q {}");
        assert_eq!(core.shares(), "[j2,j3] [j4,j5] [j4, j5]");
        core.ok("complete 13 j2 w1 q {}");
        assert_eq!(core.shares(), "[j3] [j4,j5] [j4, j5]");
        core.ok("complete 14 j3 w1 q {}");
        assert_eq!(core.shares(), "[] [j5] [j5]");
        assert_eq!(core.jids("pop 15 q w1 1"), ["j4"]);
        assert_eq!(core.shares(), "[j4] [j5] [j5]");
        core.ok("complete 16 j4 w1 q {}");
        assert_eq!(core.shares(), "[] [] []");
        assert_eq!(core.jids("pop 17 q w1 2"), ["j5"]);
    }
}

#[test]
fn r2_a_negative_maximum_allows_none() {
    let mut core = with_jobs(-1, 2);
    assert_eq!(core.jids("pop 3 q w1 2"), [""; 0]);
    assert_eq!(core.shares(), "[] [j1,j2] [j1, j2]");
    core.ok("throttle.set 4 t 2");
    assert_eq!(core.jids("pop 5 q w1 2"), ["j1", "j2"]);
}

#[test]
fn r2_the_throttle_of_a_queue_is_its_maximum_concurrency() {
    let mut core = Core::new();
    core.ok("queue.throttle.set 0 q 2");
    assert_eq!(core.json("queue.throttle.get 0 q")["maximum"], 2);
    assert_eq!(core.ok("config.get 0 q-max-concurrency").text(), "2");
    assert_eq!(core.dump().hash("ql:th:ql:q:q")["maximum"], "2");
    core.many((1..=4).map(|n| format!("put {n} me q j{n} K {{}} 0")));
    assert_eq!(core.jids("pop 5 q w1 4"), ["j1", "j2"]);
    assert_eq!(core.jids("pop 5 q w1 4"), [""; 0]);
    core.ok("complete 6 j1 w1 q {}");
    assert_eq!(core.jids("pop 7 q w1 4"), ["j3"]);
}
