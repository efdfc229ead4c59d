//! What reqless promises of throttles, in its names: a throttle's
//! jobs hold slots while they run and are pending otherwise. By design not: a throttle of the queue
//! in every job's list, and a released pending job that vanishes.

use expect_test::expect;
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
    pub(crate) fn shares(&mut self) -> String {
        let locks = self.json("throttle.locks 90 t");
        let pending = self.json("throttle.pending 90 t");
        let held = self.ok("jobs 90 throttled q").texts();
        format!("{locks} {pending} {held:?}").replace('"', "")
    }
}

#[test]
fn promises_of_reqless() {
    Core::new().session(expect![[r#"
        == R1: a paused queue does not swallow the wake-up of another
        -- reqless wakes one job, whatever its queue: with the queue paused, nothing runs for ever.
        throttle.set 0 t 1; put 1 me A a0 K {} 0 throttles ["t"]; pop 2 A w1 1; put 3 me A a1 K {} 0 throttles ["t"]
        put 4 me B b1 K {} 0 throttles ["t"]; pause 5 A; complete 6 a0 w1 A {}
        pop 7 B w1 1 | jid → b1
        complete 8 b1 w1 B {}; unpause 9 A
        pop 10 A w1 1 | jid → a1

        == R1: a queue that nobody attends does not swallow the wake-up of another
        throttle.set 0 t 1; put 1 me A a0 K {} 0 throttles ["t"]; pop 2 A w1 1; put 3 me A a1 K {} 0 throttles ["t"]
        put 4 me B b1 K {} 0 throttles ["t"]; complete 5 a0 w1 A {}
        -- Nobody pops A any more.
        pop 6 B w1 1 | jid → b1

        == R1: no pop is empty while a job can run
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]; put 2 me q j2 K {} 0 throttles ["t"]
        put 3 me q j3 K {} 0 throttles ["t"]; put 4 me q j4 K {} 0 throttles ["t"]
        put 5 me q j5 K {} 0 throttles ["t"]; put 6 me q free K {} 0
        pop 7 q w1 1 | jid → j1
        pop 8 q w1 1 | jid → free

        == R2: what reqless stored is read and what nobody stored is unlimited
        HMSET ql:th:t id t maximum 5
        throttle.get 0 t | maximum → 5
        throttle.get 0 other → {"id":"other","maximum":0,"ttl":-2}
        throttle.delete 0 t
        throttle.get 0 t → {"id":"t","maximum":0,"ttl":-2}
        throttle.locks 0 t → []
        throttle.pending 0 t → []

        == R2: releasing the holder and then the pending job leaves none
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]; put 2 me q j2 K {} 0 throttles ["t"]; pop 4 q w1 2
        shares → [j1] [j2] [j2]
        throttle.release 6 t j1 j2
        shares → [] [] []
        peek 9 q 1 | jid → j2
        cancel 10 j1 j2
        shares → [] [] []
        jobs 11 running q → none

        == R2: a released pending job runs without the throttle
        -- In reqless such a job vanishes from all sets.
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]; put 2 me q j2 K {} 0 throttles ["t"]; pop 4 q w1 2
        throttle.release 6 t j2 j1
        shares → [] [] []
        pop 9 q w1 5 | jid → j2
        throttle.locks 9 t → []

        == R2: the jobs list has the throttles that were asked for
        -- In reqless each list ends with the throttle of the queue.
        put 0 me q a K {} 0; put 0 me q b K {} 0 throttles ["t","u","t"]
        get 0 a | throttles → -
        get 0 b | throttles → ["t","u"]

        == R2: slots are recorded without a maximum
        put 1 me q j1 K {} 0 throttles ["t"]; pop 2 q w1 1
        shares → [j1] [] []
        complete 3 j1 w1 q {}
        shares → [] [] []

        == R2: no more than the maximum run and the others are pending in order
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]; put 2 me q j2 K {} 0 throttles ["t"]
        put 3 me q j3 K {} 0 throttles ["t"]; put 4 me q j4 K {} 0 throttles ["t"]
        pop 5 q w1 4 | jid → j1
        shares → [j1] [j2,j3,j4] [j2, j3, j4]

        == R2: a canceled pending job is pending no more
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]; put 2 me q j2 K {} 0 throttles ["t"]; pop 3 q w1 2
        cancel 4 j2
        shares → [j1] [] []

        == R2: a retried job gets its slot again if nothing is before it
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]; pop 2 q w1 1; retry 3 j1 q w1 0 retry why
        shares → [] [] []
        pop 4 q w1 1 | jid → j1
        shares → [j1] [] []

        == R2: a retried job stands behind the pending one
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]; put 2 me q j2 K {} 0 throttles ["t"]; pop 3 q w1 2
        retry 6 j1 q w1 0 retry why
        throttle.locks 7 t → []
        throttle.pending 7 t → []
        pop 10 q w1 2 | jid → j2
        shares → [j2] [j1] [j1]

        == R2: dependents take the slot after the success of their dependency
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]
        put 2 me q j2 K {} 0 depends ["j1"] throttles ["t"]; put 3 me q j3 K {} 0 depends ["j2"] throttles ["t"]
        pop 10 q w1 3 | jid → j1
        shares → [j1] [] []
        complete 10 j1 w1 q {}
        pop 20 q w1 3 | jid → j2
        shares → [j2] [] []
        complete 20 j2 w1 q {}
        pop 30 q w1 3 | jid → j3
        shares → [j3] [] []
        complete 30 j3 w1 q {}
        shares → [] [] []

        == R2: a raised maximum lets pending jobs run
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]; put 2 me q j2 K {} 0 throttles ["t"]
        put 3 me q j3 K {} 0 throttles ["t"]; pop 4 q w1 3
        shares → [j1] [j2,j3] [j2, j3]
        throttle.set 7 t 3
        shares → [j1] [] []
        complete 8 j1 w1 q {}
        pop 12 q w1 2 | jid → j2 j3

        == R2: a deleted maximum lets all pending jobs run
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]; put 2 me q j2 K {} 0 throttles ["t"]
        put 3 me q j3 K {} 0 throttles ["t"]; put 4 me q j4 K {} 0 throttles ["t"]
        put 5 me q j5 K {} 0 throttles ["t"]; pop 6 q w1 9; throttle.delete 7 t
        shares → [j1] [] []
        pop 8 q w1 9 | jid → j2 j3 j4 j5

        == R2: a negative maximum allows none
        throttle.set 0 t -1; put 1 me q j1 K {} 0 throttles ["t"]; put 2 me q j2 K {} 0 throttles ["t"]
        pop 3 q w1 2 | jid → {}
        shares → [] [j1,j2] [j1, j2]
        throttle.set 4 t 2
        pop 5 q w1 2 | jid → j1 j2

        == R1: the slot of a lost job of a queue without workers is taken back
        throttle.set 0 t 1; put 1 me A a0 K {} 0 throttles ["t"]; pop 2 A w1 1; put 3 me B b1 K {} 0 throttles ["t"]
        -- Nobody pops A; the lock ends at 62, the grace period takes ten seconds.
        pop 60 B w2 1 → {}
        pop 71 B w2 1 → {}
        states a0 → running
        pop 73 B w2 1; pop 80 B w2 1; pop 81 B w2 1; pop 82 B w2 1
        states a0 b1 → stalled running
        HGET ql:j:a0 remaining → 4
        complete 85 b1 w2 B {}
        pop 90 A w1 1 | jid → a0

        == R2: dependents of a failed or retried job wait without a slot
        throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]; put 2 me q j2 K {} 0 depends ["j1"] throttles ["t"]
        pop 3 q w1 1; retry 4 j1 q w1 0 retry why
        pop 5 q w1 2 | jid → j1
        shares → [j1] [] []
        complete 6 j1 w1 q {}
        pop 7 q w1 2 | jid → j2
        FLUSHALL; throttle.set 0 t 1; put 1 me q j1 K {} 0 throttles ["t"]
        put 2 me q j2 K {} 0 depends ["j1"] throttles ["t"]; pop 3 q w1 1; fail 4 j1 w1 G M {}
        shares → [] [] []
        pop 5 q w1 2 → {}

        == R2: the throttle of a queue is its maximum concurrency
        queue.throttle.set 0 q 2
        queue.throttle.get 0 q | maximum → 2
        config.get 0 q-max-concurrency → 2
        HGET ql:th:ql:q:q maximum → 2
        put 1 me q j1 K {} 0; put 2 me q j2 K {} 0; put 3 me q j3 K {} 0; put 4 me q j4 K {} 0
        pop 5 q w1 4 | jid → j1 j2
        pop 5 q w1 4 → {}
        complete 6 j1 w1 q {}
        pop 7 q w1 4 | jid → j3
    "#]]);
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
