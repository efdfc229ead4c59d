//! Popping and peeking: the order of a queue, expired locks in their two phases, promotion of due
//! jobs, limits, and ghosts that must not stop a queue.

use expect_test::expect;

use crate::support::core::{Core, Reply};

#[test]
fn jobs_are_popped() {
    Core::new().session(expect![[r#"
        == The larger priority is popped first
        put 0 w q a K {} 0 priority -1; put 1 w q b K {} 0; put 2 w q c K {} 0 priority 7
        pop 3 q w1 3 | jid → c b a

        == Equal priorities are popped by age and twins in reverse order of name
        put 1 w q m K {} 0; put 0 w q z K {} 0; put 2 w q a K {} 0; put 2 w q b K {} 0
        pop 3 q w1 4 | jid → z m b a

        == Popping writes all that belongs to a running job
        put 0 w q j K {} 0; events
        pop 2.5 q w1 1 | 0.state 0.worker 0.expires 0.history.1 → running w1 62.5 {"what":"popped","when":2,"worker":"w1"}
        score ql:q:q-locks j → 62.5
        score ql:w:w1:jobs j → 62.5
        score ql:workers w1 → 2.5
        score ql:q:q-work j → nil
        HGET ql:j:j time → 2.50000000000000000000
        -- Popping an untracked job publishes nothing, and an unknown queue is not listed.
        events → none
        pop 3 elsewhere w1 1
        score ql:queues elsewhere → nil

        == The heartbeat of the queue overrides the global one
        config.set 0 heartbeat 30; config.set 0 q-heartbeat 7; put 0 w q a K {} 0; put 0 w p b K {} 0
        pop 0 q w1 1 | 0.expires → 7
        pop 0 p w1 1 | 0.expires → 30
        heartbeat 1 a w1 → :8
        config.set 0 heartbeat-q 99
        heartbeat 1 a w1 → :8

        == A pop of zero jobs registers the worker
        put 0 w q j K {} 0
        pop 5 q w1 0 | jid → {}
        score ql:workers w1 → 5
        states j → waiting

        == A negative pop count takes all but the last
        put 0 w q a K {} 0; put 1 w q b K {} 0; put 2 w q c K {} 0; put 0 w q s K {} 3
        -- `s` is due and, scored 5, is last.
        pop 5 q w1 -2 | jid → a b
        pop 6 q w1 -1 | jid → c
        pop 7 q w1 -1 | jid → {}
        states s → waiting

        == D-27: a paused queue gives no jobs and updates nothing
        put 0 w q j0 K {} 0; pop 0 q w1 1; put 0 w q k K {} 0; put 0 w q s K {} 5; pause 0 q; events; remember
        pop 1000 q w2 5 → {}
        pop 1000 q w2 1.5 → {}
        unchanged
        events → none
        peek 1000 q 5 | jid → j0 k s
        unpause 1000 q
        pop 1000 q w2 5 | jid → k s
    "#]]);
}

// expired locks

#[test]
fn locks_expire() {
    Core::new().session(expect![[r#"
        == A lost job may be popped by the same worker
        put 0 w q j0 K {} 0; pop 0 q w1 1; pop 60 q w1 1
        pop 70 q w1 1 | jid → j0
        workers 71 w1 | jobs → ["j0"]

        == Without a grace period warning and loss coincide
        put 0 w q j0 K {} 0; pop 0 q w1 1; config.set 0 grace-period 0; events
        pop 60 q w2 1 | jid → j0
        events →
            * ql:w:w1 {"jid":"j0","event":"lock_lost","worker":"w1"}
            * ql:log {"jid":"j0","event":"lock_lost","worker":"w1"}
        stats 60 q 60 | retries → 1

        == A job can be lost once more than it has retries
        put 0 w q j0 K {} 0 retries 2; pop 0 q w1 1; config.set 0 grace-period -1
        pop 100 q w1 1 | 0.remaining → 1
        pop 200 q w1 1 | 0.remaining → 0
        pop 300 q w1 1 | jid → {}
        states j0 → failed
        failed 300 failed-retries-q | jobs → ["j0"]

        == Warnings and failures do not count as popped
        put 0 w q j0 K {} 0; put 0 w q j1 K {} 0; pop 0 q w1 2; put 1 w q k K {} 0
        pop 60 q w2 1 | jid → k
        HGET ql:j:j0 grace → 1
        HGET ql:j:j1 grace → nil

        == Lost jobs are popped before waiting ones
        put 0 w q j0 K {} 0; pop 0 q w1 1; put 1 w q k K {} 0 priority 99; pop 60 q w2 0; pop 60 q w2 -1
        pop 70 q w2 2 | jid → j0 k

        == D-21: a warned worker no longer lists the job
        put 0 w q j0 K {} 0; pop 0 q w1 1; pop 60 q w2 1
        workers 60 w1 → {"jobs":{},"stalled":{}}
        HGET ql:j:j0 expires → 60

        == D-26: the time of an exhausted job is whole seconds
        put 0 w q j0 K {} 0 retries 0; pop 0 q w1 1; track 0 track j0; pop 60 q w2 1; events; pop 70.75 q w2 1
        get 71 j0 | failure → {"group":"failed-retries-q","message":"Job exhausted retries in queue \"q\"","when":70,"worker":""}
        events →
            * ql:failed j0
            * ql:log {"message":"Job exhausted retries in queue \"q\"","jid":"j0","group":"failed-retries-q","event":"failed","worker":"w1"}

        == D-13: fractional retries do not stop a queue
        put 0 w q j0 K {} 0 retries 0.5; pop 0 q w1 1; HSET ql:j:j0 remaining 0.5; put 1 w q k K {} 0
        config.set 0 grace-period 0
        pop 60 q w2 2 | jid → k
        states j0 → failed

        == A lost job leaves the list of a worker with an empty name
        put 0 w q j K {} 0; pop 0 q '' 1; pop 60 q w1 1
        EXISTS ql:w::jobs → :0

        == An expired lock is first a warning and then lost
        put 0 w q j0 K {} 0; pop 0 q w1 1; events
        pop 60 q w2 1 → {}
        events →
            * ql:w:w1 {"jid":"j0","event":"lock_lost","worker":"w1"}
            * ql:log {"jid":"j0","event":"lock_lost","worker":"w1"}
        score ql:q:q-locks j0 → 70
        HGET ql:j:j0 worker → w1
        pop 69 q w2 1 → {}
        pop 70 q w2 1 | worker remaining → w2 4
        events → none
        history j0 → [0,"put",{"q":"q"}] · [0,"popped",{"worker":"w1"}] · [60,"timed-out"] · [70,"popped",{"worker":"w2"}]
    "#]]);
}

// limits

#[test]
fn queues_have_limits() {
    Core::new().session(expect![[r#"
        == D-08: a lock that expires now still counts against the limit
        put 0 w q j0 K {} 0; pop 0 q w1 1; config.set 0 q-max-concurrency 1; put 0 w q k K {} 0; events
        pop 60 q w2 1 | jid → {}
        events → none
        jobs 60 running q → j0
        jobs 60 stalled q → j0

        == D-07: a warned job still counts against the limit
        put 0 w q j0 K {} 0; pop 0 q w1 1; config.set 0 q-max-concurrency 1; put 0 w q k K {} 0
        pop 61 q w2 5 | jid → {}
        states k → waiting
        pop 72 q w2 5 | jid → j0

        == D-07: without grace a lost job is popped again at the limit
        put 0 w q j0 K {} 0; pop 0 q w1 1; config.set 0 q-max-concurrency 1; config.set 0 grace-period 0
        put 0 w q k K {} 0
        pop 61 q w2 5 | jid → j0
        ZCARD ql:q:q-locks → :1

        == A queue gives no more than its limit
        config.set 0 q-max-concurrency 2; put 0 w q j0 K {} 0; put 0 w q j1 K {} 0; put 0 w q j2 K {} 0
        pop 1 q w1 5 | jid → j2 j1
        pop 2 q w1 5 → {}
        score ql:workers w1 → 2
        complete 3 j2 w1 q {}
        pop 4 q w1 5 | jid → j0
    "#]]);
}

// due jobs

#[test]
fn due_jobs_are_promoted() {
    Core::new().session(expect![[r#"
        == Scheduled jobs become waiting when they are due
        put 0 w q a K {} 10; put 0 w q b K {} 5; put 0 w q c K {} 20
        pop 4 q w1 9 | jid → {}
        pop 10 q w1 9 | jid → b a
        states c → scheduled

        == D-36: promotion is as large as the pop and forgets the due time
        put 0 w q a K {} 1; put 0 w q b K {} 2; put 0 w q c K {} 3 priority 9
        pop 10 q w1 2 | jid → b a
        states c → scheduled
        queues 11 q
        states c → waiting
        score ql:q:q-work c → 8.9999999989

        == Peeking promotes and changes nothing else
        put 0 w q j0 K {} 0; pop 0 q w1 1; put 0 w q a K {} 5; put 1 w q b K {} 0; put 1 w q c K {} 99; events
        peek 61 q 2 | 0.jid 0.state 1.jid → j0 running b
        states a → waiting
        peek 61 q 9 | jid → j0 b a
        events → none
        score ql:workers w2 → nil

        == Peeking omits jobs in their grace period
        put 0 w q j0 K {} 0; pop 0 q w1 1; put 0 w q k K {} 0; pop 61 q w2 0; config.set 61 q-max-concurrency 0
        pop 61 q w2 1
        peek 62 q 9 | jid → {}
        peek 71 q 9 | jid → j0
    "#]]);
}

// ghosts

#[test]
fn ghosts_are_dropped() {
    Core::new().session(expect![[r#"
        == D-01: a waiting jid without a job is dropped
        put 0 w q a K {} 0; put 1 w q ghost K {} 0; put 2 w q b K {} 0; DEL ql:j:ghost
        peek 3 q 5 | jid → a b
        pop 3 q w1 2 | jid → a b
        EXISTS ql:q:q-work → :0
        ZADD ql:q:q-work 5 ghost
        pop 4 q w1 1 | jid → {}
        EXISTS ql:q:q-work → :0

        == D-02: a locked jid without a job is dropped
        put 0 w q j0 K {} 0; pop 0 q w1 1; put 1 w q k K {} 0; DEL ql:j:j0; ZADD ql:q:q-work 5 j0
        ZADD ql:q:q-scheduled 5 j0
        pop 61 q w2 1 | jid → k
        EXISTS ql:j:j0 → :0
        score ql:q:q-locks j0 → nil
        score ql:q:q-work j0 → nil

        == D-05: a scheduled job stays scheduled
        put 0 w q j K {} 100; ZADD ql:q:q-work 1 j
        pop 1 q w1 1 | jid → {}
        EXISTS ql:q:q-work → :0
        pop 200 q w1 1 | jid → j
        complete 201 j w1 q {}
        pop 400 q w1 1 | jid → {}

        == A job left in another queue is popped from there
        put 0 w q j K {} 0; ZADD ql:q:p-work 1 j; pop 1 p w1 1; pop 1 q w1 1
        get 2 j | state → running

        == D-05: only waiting jobs are popped
        one_of_each; DEL ql:q:q-work ql:q:q-scheduled ql:q:q-depends
        ZADD ql:q:q-work 1 waiting 1 scheduled 1 depends 1 running 1 stalled 1 failed 1 complete
        pop 9 q w2 9 | jid → waiting stalled scheduled
        states depends running failed complete → depends running failed complete
        EXISTS ql:q:q-work → :0
        HGET ql:j:running worker → w1
    "#]]);
}

#[test]
fn d_03_a_scheduled_jid_without_a_job_is_dropped() {
    let mut core = Core::new();
    for line in [
        "pop 10 q w1 5",
        "peek 10 q 5",
        "queues 10 q",
        "queues 10",
        "jobs 10 scheduled q",
    ] {
        core.flush();
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
    core.put_jobs(0, (0..10_000).map(|n| format!("q j{n:05} K {{}} 0")));
    assert_eq!(core.jids("pop 1 q w1 10000").len(), 10_000);
    let dump = core.dump();
    assert!(!dump.has("ql:q:q-work"));
    assert_eq!(dump.zset("ql:q:q-locks").len(), 10_000);
    assert_eq!(dump.zset("ql:w:w1:jobs").len(), 10_000);
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
