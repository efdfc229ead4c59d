//! Queues and workers as they are listed: counts, pages, pauses, forgotten names.

use expect_test::expect;

use crate::support::core::Core;

#[test]
fn queues_are_counted_and_listed() {
    Core::new().session(expect![[r#"
        == A queue is counted by its sets
        one_of_each
        queues 9 q → {"depends":1,"name":"q","paused":false,"recurring":1,"running":1,"scheduled":1,"stalled":0,"waiting":2}
        length 9 q → :4
        queues 63 q | stalled → 1
        queues 63 q | running → 0

        == Unknown queues have zero counts
        queues 0 nope → {"depends":0,"name":"nope","paused":false,"recurring":0,"running":0,"scheduled":0,"stalled":0,"waiting":0}
        queues 0 → {}
        length 0 nope → :0

        == Complete jobs are listed newest first
        put 0 w q j0 K {} 0; pop 0 q w1 1; complete 0 j0 w1 q {}; put 1 w q j1 K {} 0; pop 1 q w1 1
        complete 1 j1 w1 q {}; put 2 w q j2 K {} 0; pop 2 q w1 1; complete 2 j2 w1 q {}
        jobs 9 complete → j2 j1 j0
        jobs 9 complete 1 1 → j1
        jobs 9 complete -1 1 → j0

        == Pause publishes nothing and accepts several names
        pause 0 q p → nil
        queues 0 q | paused → true
        unpause 0 q nope → nil
        queues 0 q | paused → false
        queues 0 p | paused → true
        events → none
        -- pausing makes no queue known
        queues 0 → {}

        == D-41: a forgotten queue keeps its jobs and is listed again
        put 0 w q j K {} 0; queue.forget 1 q nope
        queues 2 → {}
        queues 2 q | waiting → 1
        put 3 w q k K {} 0
        score ql:queues q → 3

        == Queues are listed in the order in which they were seen
        put 2 w z a K {} 0; put 1 w y b K {} 0; put 2 w x c K {} 0
        queues 3 | name → y x z

        == D-40: every call that adds a job lists its queue
        put 0 w q j K {} 0; pop 1 q w1 1; queue.forget 3 q; retry 5 j q w1
        score ql:queues q → 5
        pop 5 q w1 1; queue.forget 6 q; complete 7 j w1 q {} next q
        score ql:queues q → 7
        pop 7 q w1 1; fail 7 j w1 G M; queue.forget 8 q; unfail 9 q G
        score ql:queues q → 9

        == Jobs are paged by rank or by limit
        put 0 w q j0 K {} 0; pop 0 q w1 1; put 1 w q j1 K {} 0; pop 1 q w1 1
        put 2 w q j2 K {} 0; pop 2 q w1 1; put 3 w q j3 K {} 0; pop 3 q w1 1
        put 0 w q s0 K {} 1000; put 1 w q s1 K {} 1000; put 2 w q s2 K {} 1000; put 3 w q s3 K {} 1000
        -- By rank: 0 is all, -1 all but the last, a negative offset counts from the end.
        jobs 9 scheduled q 1 2 → s1 s2
        jobs 9 scheduled q 0 0 → s0 s1 s2 s3
        jobs 9 scheduled q 0 -1 → s0 s1 s2
        jobs 9 scheduled q -2 2 → s2 s3
        -- By limit: 0 is none, -1 all, a negative offset none.
        jobs 9 running q 1 2 → j1 j2
        jobs 9 running q 0 0 → none
        jobs 9 running q 0 -1 → j0 j1 j2 j3
        jobs 9 running q -2 2 → none
        jobs 62 stalled q → j0 j1 j2
        jobs 62 running q → j2 j3
        -- A worker's jobs begin with the lock that ends last.
        workers 62 w1 → {"jobs":["j3","j2"],"stalled":["j2","j1","j0"]}
    "#]]);
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

// workers

#[test]
fn workers_are_listed() {
    Core::new().session(expect![[r#"
        == Workers are listed by their last activity
        put 0 w q a K {} 0; put 0 w q b K {} 0; pop 1 q w1 1; pop 2 q w2 1; heartbeat 3 b w1
        workers 4 → [{"jobs":1,"name":"w1","stalled":0},{"jobs":1,"name":"w2","stalled":0}]
        workers 4 w1 → {"jobs":["b"],"stalled":{}}
        workers 4 nobody → {"jobs":{},"stalled":{}}
        workers 5 | 1.name → w2

        == D-08: a lock that expires now counts as held and as stalled
        put 0 w q j K {} 0; pop 0 q w1 1
        workers 60 w1 → {"jobs":["j"],"stalled":["j"]}
        workers 60 | 0 → {"jobs":1,"name":"w1","stalled":1}
        workers 61 w1 → {"jobs":{},"stalled":["j"]}

        == A lock more than a hundred days ahead counts nowhere
        config.set 0 heartbeat 8640001; put 0 w q j K {} 0; pop 0 q w1 1
        workers 0 w1 → {"jobs":{},"stalled":{}}
        workers 1 w1 | jobs → ["j"]

        == D-73: workers silent for long are removed
        config.set 0 max-worker-age 100; config.set 0 heartbeat 1000; put 0 w q j K {} 0; pop 0 q w1 1
        pop 50 q w2 1
        workers 100 → [{"jobs":0,"name":"w2","stalled":0}]
        EXISTS ql:w:w1:jobs → :0
        -- The job itself does not change.
        jobs 101 running q → j
        heartbeat 101 j w1 → :1101
        workers 101 w1 | jobs → ["j"]

        == D-74: a deregistered worker keeps its jobs
        put 0 w q j K {} 0; pop 0 q w1 1; worker.deregister 1 w1 nobody
        workers 2 → {}
        workers 2 w1 | jobs → ["j"]
    "#]]);
}

#[test]
fn a_page_of_scheduled_jobs_that_is_refused_has_promoted_none() {
    let mut core = Core::new();
    // Whether a negative zero is an integer is for the server to say.
    for page in ["-0", "-0.0", "-0 5", "-1e-999"] {
        core.flush();
        core.ok("put 0 w q j K {} 30");
        let refused = core.run(&format!("jobs 60 scheduled q {page}")).is_err();
        let scheduled = core.score("ql:q:q-scheduled", "j").is_some();
        assert_eq!(refused, scheduled, "{page}");
    }
    core.flush();
    core.ok("put 0 w q j K {} 90");
    assert_eq!(core.ok("jobs 60 scheduled q 0 -0").texts(), ["j"]);
}
