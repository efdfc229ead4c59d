//! What put, requeue, complete, fail, retry, heartbeat, timeout, cancel, priority, log and get do
//! to a job, one fact per test.

use expect_test::expect;
use serde_json::json;

use crate::support::core::{Core, Reply, short};

/// Fills an empty database with job `j` of queue `q`, held by `w1` since 10.
fn hold(core: &mut Core) {
    core.flush();
    core.all("put 0 w q j K {} 0; pop 10 q w1 1");
}

fn sets(core: &mut Core, jid: &str) -> Vec<String> {
    let dump = core.dump();
    let names = dump.0.keys().filter(|name| name.starts_with("ql:q:"));
    names
        .filter(|name| dump.score(name, jid).is_some())
        .cloned()
        .collect()
}

// put

#[test]
fn jobs_are_put_and_requeued() {
    Core::new().session(expect![[r#"
        == The JSON of a job has all its fields, and empty arrays are objects
        put 1.5 w q j K [] 0
        get 2 j → {"data":"[]","dependencies":{},"dependents":{},"expires":0,"failure":{},"history":[{"q":"q","what":"put","when":1}],"jid":"j","klass":"K","priority":0,"queue":"q","remaining":5,"retries":5,"spawned_from_jid":false,"state":"waiting","tags":{},"tracked":false,"worker":""}
        put 2 w q often K {} 0 retries 12.5 priority -3
        get 2 often | retries remaining priority → 12.5 12 -3

        == Putting again keeps options that are not given
        put 0 w q j K {} 0 priority 3 tags ["x"] retries 2; put 1 w q2 j K2 [] 0
        get 2 j | priority tags retries klass queue → 3 ["x"] 2 K2 q2
        sets j → q2-work

        == Putting again restores all retries
        put 0 w q j K {} 0 retries 3; pop 1 q w1 1; retry 2 j q w1
        HGET ql:j:j remaining → 2
        put 3 w q j K {} 0
        HGET ql:j:j remaining → 3

        == A repeated option counts with its last value and unknown ones are ignored
        put 0 w q j K {} 0 priority x priority 4 interval 5 replace 0
        get 1 j | priority → 4

        == A delay that is not positive means immediately
        put 0 w q a K {} 0; put 0 w q b K {} -5; put 0 w q c K {} 0.5
        states a b c → waiting waiting scheduled
        score ql:q:q-scheduled c → 0.5

        == Putting a job that another worker holds notifies that worker
        put 0 w q j K {} 0; pop 10 q w1 1; events; put 20 w2 q j K {} 0
        events →
            * ql:log {"jid":"j","event":"put","queue":"q"}
            * ql:w:w1 {"jid":"j","event":"lock_lost","worker":"w1"}
            * ql:log {"jid":"j","event":"lock_lost","worker":"w1"}
        HGET ql:j:j worker → ''
        EXISTS ql:w:w1:jobs → :0
        heartbeat 21 j w1 → error Heartbeat(): Job j not currently running: waiting

        == D-28: a put by the holder notifies no worker
        put 0 w q j K {} 0; pop 10 q w1 1; events; put 20 w1 q j K {} 0
        events →
            * ql:log {"jid":"j","event":"put","queue":"q"}

        == Putting a complete job removes it from the complete jobs
        put 0 w q j K {} 0; pop 10 q w1 1; complete 11 j w1 q {}; put 12 w q j K {} 0
        EXISTS ql:completed → :0
        states j → waiting

        == Putting a failed job keeps its failure readable until completion
        put 0 w q j K {} 0; pop 10 q w1 1; fail 11 j w1 G M; put 12 w q j K {} 0
        get 13 j | failure.group → G
        EXISTS ql:failures → :0
        pop 14 q w1 1; complete 15 j w1 q {}
        get 16 j | failure → {}

        == A queue is listed with the time it was first seen
        put 5 w q a K {} 0; put 9 w q b K {} 0
        score ql:queues q → 5

        == A tracked job is announced last
        put 0 w q j K {} 0; track 0 track j; events; put 1 w q j K {} 0
        events →
            * ql:log {"jid":"j","event":"put","queue":"q"}
            * ql:put j

        == D-38: a put with a bad option leaves the tags
        put 0 w q j K {} 0 tags ["x"]
        put 1 w q j K {} 0 retries x → error Put(): Arg "retries" not a number: x
        put 1 w q j K {} 0 tags {] → error Expected object key string but found T_ARR_END at character 2
        get 2 j | tags → ["x"]
        tag 2 get x | jobs → ["j"]

        == D-79: empty names are names
        put 0 '' '' '' '' {} 0
        pop 1 '' '' 1 | jid → ""
        complete 2 '' '' '' {} → complete

        == An empty object is an empty list and blanks are ignored
        put 0 w q a K {} 0 tags ["x"]; put 0 w q a K {} 0 tags {} depends {}
        get 1 a | tags → {}
        put 0 w q a K {} 0 tags ' [ "x" ] ' depends '  [ ] '
        get 1 a | tags → ["x"]
        recur 0 q r K {} interval 60 1000 tags {}; pop 2 q w1 1
        complete 3 a w1 q {} next q depends {} → waiting

        == Requeue is put for existing jobs
        put 0 w q j K {} 0 tags ["x"]
        requeue 1 w q2 j K2 [1] 0 priority 2 tags [] retries 1 depends [] → j
        get 2 j | queue tags priority → q2 {} 2

        == A new job has the defaults and no other fields
        put 1352375211.623456 w q j K {} 0
        HGETALL ql:j:j → jid j klass K data {} priority 0 tags {} state waiting worker '' expires 0 queue q retries 5 remaining 5 time 1352375211.62345600128173828125

        == D-25: a retried job still names its last worker, which is notified of a put
        put 0 w q j K {} 0; pop 10 q w1 1; retry 11 j q w1
        get 12 j | worker expires → w1 70
        events; put 13 w2 q j K {} 0
        events →
            * ql:log {"jid":"j","event":"put","queue":"q"}
            * ql:w:w1 {"jid":"j","event":"lock_lost","worker":"w1"}
            * ql:log {"jid":"j","event":"lock_lost","worker":"w1"}
    "#]]);
}

#[test]
fn data_is_stored_byte_for_byte() {
    let mut core = Core::new();
    for data in [
        "[]",
        r#"{"b":[],"a":12345678901234567890}"#,
        r#""a/bé\u00e9""#,
        "null",
        "  {  } ",
        "1e2",
        "true",
    ] {
        core.call(&[b"put", b"1", b"w", b"q", b"j", b"K", data.as_bytes(), b"0"])
            .unwrap();
        assert_eq!(core.field("j", "data").as_deref(), Some(data));
        assert_eq!(core.json("get 2 j")["data"], data);
        core.call(&[b"pop", b"2", b"q", b"w1", b"1"]).unwrap();
        core.call(&[b"complete", b"3", b"j", b"w1", b"q", data.as_bytes()])
            .unwrap();
        assert_eq!(core.field("j", "data").as_deref(), Some(data));
    }
}

#[test]
fn job_names_may_hold_any_bytes() {
    let mut core = Core::new();
    let name = b"a b\n\"\\\x00\x1b/\xff";
    core.call(&[b"put", b"0", b"w", name, name, name, b"{}", b"0"])
        .unwrap();
    let reply = core.call(&[b"pop", b"1", name, name, b"1"]).unwrap();
    assert!(reply.text().contains("\"state\":\"running\""), "{reply:?}");
    core.call(&[b"heartbeat", b"2", name, name]).unwrap();
    let reply = core
        .call(&[b"complete", b"3", name, name, name, b"{}"])
        .unwrap();
    assert_eq!(reply, Reply::Text("complete".into()));
    core.events();
}

#[test]
fn the_time_may_be_any_number_that_lua_reads() {
    let mut core = Core::new();
    for (now, time) in [
        ("0x10", 16.0),
        (" 7 ", 7.0),
        ("1e3", 1000.0),
        ("-5.5", -5.5),
        (".5", 0.5),
    ] {
        core.call(&[b"put", now.as_bytes(), b"w", b"q", b"j", b"K", b"{}", b"0"])
            .unwrap();
        assert_eq!(core.field("j", "time").unwrap().parse(), Ok(time), "{now}");
        core.ok("cancel 0 j");
    }
}

// complete

#[test]
fn jobs_are_completed() {
    Core::new().session(expect![[r#"
        == A completed job has no lock and no worker
        put 0 w q j K {} 0; pop 10 q w1 1; events
        complete 12.5 j w1 q {"done":1} → complete
        get 13 j | state queue worker data expires → complete "" "" "{\"done\":1}" 0
        history j → [0,"put",{"q":"q"}] · [10,"popped",{"worker":"w1"}] · [12,"done"]
        events →
            * ql:log {"jid":"j","event":"completed","queue":"q"}

        == The holder may complete under an expired lock
        put 0 w q j K {} 0; pop 10 q w1 1; pop 5000 q w2 1
        complete 5005 j w1 q {} → complete

        == Advancing publishes completed before the log
        put 0 w q j K {} 0; pop 10 q w1 1; track 10 track j; events
        complete 12 j w1 q {} next q2 → waiting
        events →
            * ql:completed j
            * ql:log {"jid":"j","to":"q2","event":"advanced","queue":"q"}
        history j → [0,"put",{"q":"q"}] · [10,"popped",{"worker":"w1"}] · [12,"done"] · [12,"put",{"q":"q2"}]

        == Clients send delay and depends always
        put 0 w q j K {} 0; pop 10 q w1 1
        complete 12 j w1 q {} next q2 delay 0 depends [] → waiting

        == D-33: a next without a queue completes the job
        put 0 w q j K {} 0; pop 10 q w1 1
        complete 12 j w1 q {} next → complete

        == D-29: advancing with a delay makes the job scheduled
        put 0 w q j K {} 0; pop 10 q w1 1
        complete 12 j w1 q {} next q2 delay 10 → scheduled
        states j → scheduled
        score ql:q:q2-scheduled j → 22

        == D-30: advancing with a delay and satisfied dependencies schedules the job
        put 0 w q j K {} 0; pop 10 q w1 1
        complete 12 j w1 q {} next q2 delay 10 depends ["gone"] → scheduled
        sets j → q2-scheduled

        == D-70: advancing with a dependency on itself is no dependency
        put 0 w q j K {} 0; pop 10 q w1 1
        complete 12 j w1 q {} next q2 depends ["j"] → waiting

        == The oldest complete jobs expire by age and by number
        config.set 0 jobs-history-count 2; put 0 w q a K {} 0; pop 0 q w1 1; complete 0 a w1 q {}
        put 1 w q b K {} 0; pop 1 q w1 1; complete 1 b w1 q {}; put 2 w q c K {} 0; pop 2 q w1 1
        complete 2 c w1 q {}
        jobs 9 complete → c b
        get 9 a → nil
        EXISTS ql:j:a-history → :0
        config.set 0 jobs-history 100; put 200 w q d K {} 0; pop 200 q w1 1; complete 200 d w1 q {}
        jobs 201 complete → d

        == A job can expire while it is completed
        put 0 w q j K {} 0; pop 10 q w1 1; put 10 w q k K {} 0 depends ["j"]; config.set 0 jobs-history -1
        complete 12 j w1 q {} → complete
        get 13 j → nil
        states k → waiting

        == D-11: an invalid old job does not stop a completion
        put 0 w q j K {} 0; pop 10 q w1 1; put 10 w q k K {} 0 depends ["j"]; put 10 w p old K {} 0; pop 10 p w1 1
        complete 10 old w1 p {}; HSET ql:j:old tags {]; config.set 0 jobs-history-count 1
        complete 12 j w1 q {} → complete
        states k → waiting
        get 13 old → nil
    "#]]);
}

#[test]
fn d_75_at_most_a_thousand_jobs_expire_in_one_call() {
    let mut core = Core::new();
    core.many((0..1100).map(|n| format!("put 0 w q j{n} K {{}} 0")));
    core.ok("pop 0 q w1 1100");
    core.many((0..1100).map(|n| format!("complete 1 j{n} w1 q {{}}")));
    core.ok("config.set 0 jobs-history 10");
    core.all("put 100 w q k K {} 0; pop 100 q w1 1; complete 100 k w1 q {}");
    assert_eq!(core.dump().zset("ql:completed").len(), 101);
    core.all("put 101 w q l K {} 0; pop 101 q w1 1; complete 101 l w1 q {}");
    assert_eq!(core.dump().zset("ql:completed").len(), 2);
}

// fail

#[test]
fn jobs_fail() {
    Core::new().session(expect![[r#"
        == Failing keeps the queue and the remaining retries
        put 0 w q j K {} 0; pop 10 q w1 1
        fail 12.75 j w1 G M → j
        get 13 j | state queue worker remaining expires failure → failed q "" 5 0 {"group":"G","message":"M","when":12,"worker":"w1"}
        HGET ql:j:j expires → ''
        history j → [0,"put",{"q":"q"}] · [10,"popped",{"worker":"w1"}] · [12,"failed",{"group":"G","worker":"w1"}]

        == D-61: fail and heartbeat store the text they were given
        put 0 w q j K {} 0; pop 10 q w1 1; heartbeat 11 j w1 {"b":[],"a":12345678901234567890,"c":"x/y"}
        HGET ql:j:j data → {"a":12345678901234567890,"b":[],"c":"x/y"}
        heartbeat 11 j w1 []
        HGET ql:j:j data → []
        fail 12 j w1 G M {"b":[],"a":12345678901234567890,"c":"x/y"}
        HGET ql:j:j data → {"a":12345678901234567890,"b":[],"c":"x/y"}

        == The document `false` leaves the data of fail and heartbeat
        put 0 w q j K {} 0; pop 10 q w1 1; heartbeat 11 j w1 false
        HGET ql:j:j data → {}
        fail 12 j w1 G M false
        HGET ql:j:j data → {}
    "#]]);
}

#[test]
fn d_15_failing_with_an_over_range_number_does_not_lose_the_job() {
    let mut core = Core::new();
    hold(&mut core);
    for data in ["1e999", "[NaN]", "[-Infinity]"] {
        match core.run(&format!("fail 12 j w1 G M {data}")) {
            Ok(_) => {
                assert_eq!(core.state("j"), "failed");
                core.json("get 13 j");
                core.all("put 14 w q j K {} 0; pop 15 q w1 1");
            }
            Err(_) => assert_eq!(sets(&mut core, "j"), ["ql:q:q-locks"]),
        }
    }
}

// retry

#[test]
fn jobs_are_retried() {
    Core::new().session(expect![[r#"
        == A retry uses one retry and leaves no entry in the history
        put 0 w q j K {} 0; pop 10 q w1 1; events
        retry 11 j q w1 → :4
        history j → [0,"put",{"q":"q"}] · [10,"popped",{"worker":"w1"}]
        events → none
        sets j → q-work
        score ql:q:q-work j → -0.0000000011

        == A retry with group and message stores a failure
        put 0 w q j K {} 0; pop 10 q w1 1; retry 11.5 j q w1 0 G M
        get 12 j | failure state → {"group":"G","message":"M","when":11,"worker":"w1"} waiting
        failed 12 → {}

        == An exhausted retry of a tracked job is published but not logged
        put 0 w q j K {} 0 retries 0; track 0 track j; pop 1 q w1 1; events
        retry 2 j q w1 → :-1
        events →
            * ql:failed j

        == D-18: a retry into another queue moves the job there
        put 0 w q j K {} 0; pop 10 q w1 1
        retry 11 j q2 w1 → :4
        HGET ql:j:j queue → q2
        sets j → q2-work
        score ql:queues q2 → 11
        pop 12 q2 w1 1
        complete 13 j w1 q2 {} → complete
        sets j → none

        == D-18: an exhausted retry into another queue fails there
        put 0 w q j K {} 0 retries 0; pop 1 q w1 1; retry 2 j q2 w1
        HGET ql:j:j queue → q2
        stats 2 q2 2 | failed → 1
        cancel 3 j
        stats 3 q2 2 | failed → 0

        == D-13: retries may be fractions
        put 0 w q j K {} 0 retries 1.5; pop 1 q w1 1
        HGET ql:j:j remaining → 1
        get 1 j | retries → 1.5
        retry 2 j q w1 → :0
        pop 3 q w1 1; pop 100 q w2 1; pop 200 q w2 1
        states j → failed
        HSET ql:j:j remaining 1.5 state running worker w1
        retry 201 j q w1 → :0

        == A retry with only a group stores no failure until it is exhausted
        put 0 w q j K {} 0 retries 1; pop 1 q w1 1; retry 2 j q w1 0 G
        get 3 j | failure → {}
        pop 3 q w1 1
        -- D-26: whole seconds.
        retry 4.5 j q w1 0 G → :-1
        get 5 j | failure → {"group":"G","message":"Job exhausted retries in queue \"q\"","when":4,"worker":""}
        failed 5 → {"G":1}
    "#]]);
}

/// A job whose older scripts retried and popped it in queue `p`: its hash still names `q`.
fn hold_elsewhere(core: &mut Core) {
    hold(core);
    core.ok("put 10 w p other K {} 0");
    core.redis("ZREM ql:q:q-locks j");
    core.redis("ZADD ql:q:p-locks 70 j");
}

#[test]
fn d_18_a_job_that_an_older_script_runs_in_another_queue_leaves_it() {
    let mut core = Core::new();
    for line in [
        "complete 11 j w1 q {}",
        "fail 11 j w1 G M",
        "cancel 11 j",
        "cancel 11 j nope",
        "guard.cancel 11 refuse j ''",
    ] {
        hold_elsewhere(&mut core);
        core.ok(line);
        assert!(sets(&mut core, "j").is_empty(), "{line}");
    }
    for (line, set) in [
        ("complete 11 j w1 q {} next q", "ql:q:q-work"),
        ("complete 11 j w1 q {} next p", "ql:q:p-work"),
        ("retry 11 j q w1", "ql:q:q-work"),
        ("retry 11 j p w1 30", "ql:q:p-scheduled"),
        ("timeout 11 j", "ql:q:q-work"),
        ("put 11 w1 q j K {} 0", "ql:q:q-work"),
        ("requeue 11 w1 p j K {} 0", "ql:q:p-work"),
    ] {
        hold_elsewhere(&mut core);
        core.ok(line);
        assert_eq!(sets(&mut core, "j"), [set], "{line}");
    }
}

#[test]
fn a_job_that_is_only_in_a_throttled_set_leaves_it() {
    for queue in ["q", "p"] {
        for line in ["cancel 11 j", "put 11 w r j K {} 0"] {
            let mut core = Core::new();
            core.all("put 0 w q j K {} 0; put 0 w p other K {} 0");
            core.redis("ZREM ql:q:q-work j");
            core.redis(&format!("ZADD ql:q:{queue}-throttled 5 j"));
            core.ok(line);
            let left = sets(&mut core, "j");
            assert!(
                !left.iter().any(|set| set.ends_with("throttled")),
                "{line}: {left:?}"
            );
        }
    }
}

#[test]
fn d_18_a_job_that_waits_in_several_sets_of_another_queue_leaves_them_all() {
    let mut core = Core::new();
    for line in ["cancel 11 j", "put 11 w r j K {} 0 ", "cancel 11 j other"] {
        core.flush();
        core.all("put 0 w q j K {} 0; put 0 w p other K {} 0");
        core.redis("ZREM ql:q:q-work j");
        core.redis("ZADD ql:q:p-work 0 j");
        core.redis("ZADD ql:q:p-locks 70 j");
        core.redis("ZADD ql:q:p-scheduled 70 j");
        core.ok(line.trim());
        let left = sets(&mut core, "j");
        assert!(
            left.iter().all(|set| !set.starts_with("ql:q:p")),
            "{line}: {left:?}"
        );
    }
}

// heartbeat

#[test]
fn locks_are_extended() {
    Core::new().session(expect![[r#"
        == A heartbeat answers whole seconds and stores all
        put 0 w q j K {} 0; pop 10 q w1 1; events
        heartbeat 20.75 j w1 → :80
        score ql:q:q-locks j → 80.75
        score ql:w:w1:jobs j → 80.75
        get 21 j | expires → 80.75
        score ql:workers w1 → 20.75
        events → none
        history j → [0,"put",{"q":"q"}] · [10,"popped",{"worker":"w1"}]

        == A heartbeat is allowed in the grace period
        put 0 w q j K {} 0; pop 10 q w1 1; pop 100 q w2 1
        heartbeat 105 j w1 → :165
        workers 106 w1 | jobs → ["j"]

        == D-09: a renewed lock gets its grace again
        put 0 w q j K {} 0; pop 10 q w1 1; pop 100 q w2 1; heartbeat 105 j w1
        HGET ql:j:j grace → nil
        events
        pop 200 q w2 1 | jid → {}
        events →
            * ql:w:w1 {"jid":"j","event":"lock_lost","worker":"w1"}
            * ql:log {"jid":"j","event":"lock_lost","worker":"w1"}
        pop 210 q w2 1 | jid → j

        == D-09: a job that leaves running loses its grace
        put 0 w q a K {} 0; put 0 w q b K {} 0; put 0 w q c K {} 0; put 0 w q d K {} 0; put 0 w q e K {} 0
        put 0 w q f K {} 0; pop 10 q w1 9; pop 100 q w2 9; pop 100 q w2 9
        HMGET ql:j:a grace state → 1 running
        HMGET ql:j:f grace state → 1 running
        put 105 w q a K {} 0; complete 105 b w1 q {} next q2; complete 105 c w1 q {}; fail 105 d w1 G M
        timeout 105 e; retry 105 f q w1
        HGET ql:j:a grace → nil
        HGET ql:j:b grace → nil
        HGET ql:j:c grace → nil
        HGET ql:j:d grace → nil
        HGET ql:j:e grace → nil
        HGET ql:j:f grace → nil
    "#]]);
}

// timeout

#[test]
fn jobs_are_timed_out() {
    Core::new().session(expect![[r#"
        == Timeout makes a job stalled and first in line
        put 0 w q j K {} 0; pop 10 q w1 1; put 10 w q k K {} 0 priority 1000; events
        timeout 11 j → nil
        states j → stalled
        score ql:q:q-work j → inf
        -- D-24: it uses no retry, is counted nowhere and is not published as stalled.
        HGET ql:j:j remaining → 5
        stats 11 q 11 | retries → 0
        events →
            * ql:w:w1 {"jid":"j","event":"lock_lost","worker":"w1"}
            * ql:log {"jid":"j","event":"lock_lost","worker":"w1"}
        jobs 12 stalled q → none
        pop 12 q w2 1 | jid → j

        == D-22: a timed-out job is removed from its worker
        put 0 w q j K {} 0; pop 10 q w1 1; timeout 11 j
        HGET ql:j:j worker → w1
        workers 11 w1 → {"jobs":{},"stalled":{}}
        pop 12 q w2 1; complete 13 j w2 q {}
        EXISTS ql:w:w1:jobs → :0

        == Timeout changes all jobs or none
        put 0 w q j K {} 0; pop 10 q w1 1; put 10 w q k K {} 0; pop 10 q w1 1
        timeout 11 j k → nil
        timeout 11 → nil
        states j k → stalled stalled
    "#]]);
}

// cancel

#[test]
fn jobs_are_cancelled() {
    Core::new().session(expect![[r#"
        == Cancelling a running job notifies its holder
        put 0 w q j K {} 0; pop 10 q w1 1; events
        cancel 11 j → j
        events →
            * ql:log {"jid":"j","queue":"q","event":"canceled","worker":"w1"}
            * ql:w:w1 {"jid":"j","queue":"q","event":"canceled","worker":"w1"}
        keys * → ql:queues ql:s:wait:0:q ql:workers

        == D-56: a complete job is not cancelled but answered
        put 0 w q j K {} 0; pop 10 q w1 1; complete 11 j w1 q {}; events; remember
        cancel 12 j → j
        unchanged
        events → none

        == D-56: a missing or repeated job is announced with false
        put 0 w q j K {} 0; events
        cancel 1 j j → j j
        events →
            * ql:log {"jid":"j","queue":"q","event":"canceled","worker":""}
            * ql:log {"jid":"j","queue":false,"event":"canceled","worker":false}
        cancel 1 → none

        == A cancelled job stays tracked
        put 0 w q j K {} 0; track 0 track j; events; cancel 1 j
        events →
            * ql:log {"jid":"j","queue":"q","event":"canceled","worker":""}
            * ql:canceled j
        track 2 → {"expired":["j"],"jobs":{}}
    "#]]);
}

// priority

#[test]
fn priorities_are_set() {
    Core::new().session(expect![[r#"
        == D-63: jobs of equal priority are ordered by age
        put 1 w q a K {} 0 priority 5; put 2 w q b K {} 0; put 3 w q c K {} 0 priority 5
        priority 9 b 5 → :5
        pop 10 q w 3 | jid → a b c

        == D-63: a stalled job stays first in line
        put 0 w q j K {} 0; pop 10 q w1 1; timeout 11 j; priority 12 j 3
        score ql:q:q-work j → inf
        HGET ql:j:j priority → 3

        == A priority can be set in every state and is answered truncated
        one_of_each
        priority 9 waiting 1.7 → :1
        priority 9 waiting -1.7 → :-1
        priority 9 scheduled -1.7; priority 9 depends -1.7; priority 9 running -1.7; priority 9 stalled -1.7
        priority 9 failed -1.7; priority 9 complete -1.7
        multiget 9 waiting scheduled depends running stalled failed complete | state priority → waiting -1.7 · scheduled -1.7 · depends -1.7 · running -1.7 · stalled -1.7 · failed -1.7 · complete -1.7
    "#]]);
}

// log

#[test]
fn a_note_is_stored_in_the_history_in_every_state() {
    let mut core = super::errors::one_of_each();
    for state in super::errors::STATES {
        assert_eq!(
            core.ok(&format!("log 9.9 {state} note {{\"k\":1}}")),
            Reply::Nil
        );
        let job = core.json(&format!("get 9 {state}"));
        let last = job["history"].as_array().unwrap().last().unwrap();
        assert_eq!(*last, json!({"when": 9, "what": "note", "k": 1}));
    }
}

#[test]
fn notes_are_kept() {
    Core::new().session(expect![[r#"
        == Members named `when` and `what` belong to the entry
        put 0 w q j K {} 0; pop 10 q w1 1; log 11 j note {"when":1,"what":"x","y":2}
        get 12 j | history.2 → {"what":"note","when":11,"y":2}

        == D-62: a note is stored unchanged
        put 0 w q j K {} 0; pop 10 q w1 1; log 11 j note {"b":[],"a":12345678901234567890,"c":"x/y"}
        history j → [0,"put",{"q":"q"}] · [10,"popped",{"worker":"w1"}] · [11,"note",{"b":[],"a":12345678901234567890,"c":"x/y"}]

        == D-51: a note that is not an object is kept under data
        put 0 w q j K {} 0; log 11 j note 5; log 12 j note "x"; log 13 j note true; log 14 j note [1,2]; log 15 j note null
        history j → [0,"put",{"q":"q"}] · [11,"note",{"data":5}] · [12,"note",{"data":"x"}] · [13,"note",{"data":true}] · [14,"note",{"data":[1,2]}] · [15,"note",{"data":null}]
        get 16 j | history → [{"q":"q","what":"put","when":0},{"data":5,"what":"note","when":11},{"data":"x","what":"note","when":12},{"data":true,"what":"note","when":13},{"data":[1,2],"what":"note","when":14},{"data":null,"what":"note","when":15}]
    "#]]);
}

#[test]
fn a_note_that_cannot_be_read_back_is_never_stored() {
    let mut core = Core::new();
    hold(&mut core);
    for data in [
        "1e999",
        "[NaN]",
        r#"{"a":Infinity}"#,
        "0x10",
        r#"{"a":-inf}"#,
    ] {
        _ = core.run(&format!("log 11 j note {data}"));
        core.json("get 12 j");
        assert!(core.json("multiget 12 j").is_array());
    }
    let deep = format!("{}{}", "[".repeat(999), "]".repeat(999));
    _ = core.run(&format!("log 11 j note {deep}"));
    core.json("get 12 j");
}

#[test]
fn the_first_entry_and_the_newest_are_kept() {
    let mut core = Core::new();
    core.ok("config.set 0 max-job-history 5");
    core.ok("put 0 w q j K {} 0");
    for n in 1..=20 {
        core.ok(&format!("log {n} j note"));
    }
    let kept = [
        r#"[0,"put",{"q":"q"}]"#,
        r#"[17,"note"]"#,
        r#"[18,"note"]"#,
        r#"[19,"note"]"#,
        r#"[20,"note"]"#,
    ];
    assert_eq!(core.history("j"), kept);
}

#[test]
fn a_limit_that_is_not_positive_keeps_everything() {
    let mut core = Core::new();
    for limit in ["0", "-1"] {
        core.flush();
        core.all(&format!(
            "config.set 0 max-job-history {limit}; put 0 w q j K {{}} 0"
        ));
        for n in 1..=120 {
            core.ok(&format!("log {n} j note"));
        }
        assert_eq!(core.history("j").len(), 121);
    }
}

#[test]
fn a_hundred_entries_are_kept_by_default() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    for n in 1..=150 {
        core.ok(&format!("log {n} j note"));
    }
    assert_eq!(core.history("j").len(), 100);
    assert_eq!(core.history("j")[0], r#"[0,"put",{"q":"q"}]"#);
}

#[test]
fn d_68_small_limits_keep_exactly_that_many_entries() {
    let mut core = Core::new();
    for limit in [1, 2] {
        core.flush();
        core.all(&format!(
            "config.set 0 max-job-history {limit}; put 0 w q j K {{}} 0"
        ));
        for n in 1..=5 {
            core.ok(&format!("log {n} j note"));
        }
        assert_eq!(core.history("j").len(), limit);
        core.all("pop 6 q w1 1; complete 7 j w1 q {} next q2; put 8 w q j K {} 0");
        assert_eq!(core.history("j").len(), limit);
        core.all("pop 9 q w1 1; fail 10 j w1 G M");
        assert_eq!(core.history("j").len(), limit);
        core.all("unfail 11 q G; pop 12 q w1 1; timeout 13 j");
        assert!(core.history("j").len() <= 3);
        core.json("get 14 j");
    }
}

// get, multiget

#[test]
fn jobs_are_read() {
    Core::new().session(expect![[r#"
        == Multiget answers in the order given and skips missing jobs
        put 0 w q a K {} 0; put 0 w q b K {} 0
        multiget 1 b nope a b | jid → b a b
        multiget 1 | jid → {}
        multiget 1 nope | jid → {}

        == Reading a missing job answers nil
        recur 0 q t K {} interval 60 1000
        get 1 nope → nil
        get 1 t → nil
        multiget 1 t | jid → {}

        == A history that cannot be read twice in one call stays as it is
        put 0 w q j K {} 0; pop 10 q w1 1; HSET ql:j:j history oops
        multiget 11 j j | jid → j j
        HGET ql:j:j history → oops
        history j → [0,"put",{"q":"q"}] · [10,"popped",{"worker":"w1"}]

        == Log writes to a job whose hash has no jid
        put 0 w q j K {} 0; pop 10 q w1 1; HDEL ql:j:j jid
        log 11 j note {} → nil
        history j → [0,"put",{"q":"q"}] · [10,"popped",{"worker":"w1"}] · [11,"note",{}]
        log 11 nope note → error Log(): Job nope does not exist

        == D-64: numbers in JSON have fourteen digits
        put 1352375269.123456 w q j K {} 0; pop 1352375269.123456 q w1 1
        get 1352375270 j | expires → 1352375329.1235
        score ql:q:q-locks j → 1352375329.123456

        == D-67: a legacy history is moved into the list
        put 0 w q j K {} 0; DEL ql:j:j-history
        HSET ql:j:j history '[{"q":"q","put":1,"popped":2,"worker":"w0","failed":3},{"q":"x"},{"q":"q","put":5,"done":6}]'
        get 11 j | history → [{"q":"q","what":"put","when":1},{"what":"popped","when":2,"worker":"w0"},{"what":"failed","when":3},{"q":"q","what":"put","when":5},{"what":"done","when":6}]
        HGET ql:j:j history → nil
        history j → [1,"put",{"q":"q"}] · [2,"popped",{"worker":"w0"}] · [3,"failed"] · [5,"put",{"q":"q"}] · [6,"done"]
    "#]]);
}

#[test]
fn d_10_an_invalid_field_does_not_stop_a_read() {
    let mut core = Core::new();
    hold(&mut core);
    core.all("put 10 w q k K {} 0; track 10 track j; track 10 track k");
    for damage in [
        "HSET ql:j:j tags {]",
        "HSET ql:j:j failure oops",
        "HSET ql:j:j remaining many",
        "HSET ql:j:j priority nan",
        "HSET ql:j:j retries inf",
        "HSET ql:j:j retries 5",
        "HSET ql:j:j expires soon",
        "RPUSH ql:j:j-history oops",
        r#"RPUSH ql:j:j-history [1,"x",5]"#,
        r#"RPUSH ql:j:j-history 5"#,
        r#"RPUSH ql:j:j-history {}"#,
        "HDEL ql:j:j tags remaining",
    ] {
        core.redis(damage);
        assert_eq!(core.json("get 11 j")["jid"], "j", "{damage}");
        assert_eq!(core.jids("multiget 11 j k"), ["j", "k"], "{damage}");
        assert_eq!(
            core.json("track 11")["jobs"].as_array().unwrap().len(),
            2,
            "{damage}"
        );
    }
    let job = core.json("get 11 j");
    assert_eq!((&job["tags"], &job["failure"]), (&json!({}), &json!({})));
    assert_eq!(job["history"][0]["what"], "put");
    assert_eq!(core.jids("pop 100 q w2 5"), ["k"]);
    assert_eq!(core.jids("pop 110 q w2 5"), ["j"]);
}

#[test]
fn a_legacy_history_comes_before_appended_entries() {
    let mut core = Core::new();
    for line in [
        "log 11 j note",
        "fail 11 j w1 G M",
        "timeout 11 j",
        "complete 11 j w1 q {}",
        "put 11 w q j K {} 0",
    ] {
        hold(&mut core);
        core.redis("DEL ql:j:j-history");
        core.redis_words(&[b"HSET", b"ql:j:j", b"history", br#"[{"q":"q","put":1}]"#]);
        core.ok(line);
        assert_eq!(core.history("j")[0], r#"[1,"put",{"q":"q"}]"#, "{line}");
        assert_eq!(core.history("j").len(), 2, "{line}");
        assert_eq!(core.field("j", "history"), None, "{line}");
    }
}

#[test]
fn a_legacy_history_is_moved_once_however_often_a_call_names_the_job() {
    let mut core = Core::new();
    for line in [
        "multiget 11 j j",
        "multiget 11 j k j j",
        "peek 200 q 9",
        "pop 200 q w2 9",
        "guard.requeue 11 {\"from\":[\"running\",\"waiting\"]} '' j '' '' j '' ''",
        "guard.put 11 {\"replace\":true} 5 q j K {} 0 5 q j K {} 0",
    ] {
        hold(&mut core);
        core.ok("put 10 w q k K {} 0");
        // A pop that broke off left the running job in line as well.
        core.redis("ZADD ql:q:q-work 5 j");
        core.redis("DEL ql:j:j-history");
        core.redis_words(&[b"HSET", b"ql:j:j", b"history", br#"[{"q":"q","put":1}]"#]);
        core.ok(line);
        let history = core.history("j");
        let moved = history
            .iter()
            .filter(|entry| *entry == r#"[1,"put",{"q":"q"}]"#);
        assert_eq!(moved.count(), 1, "{line}");
        assert_eq!(core.field("j", "history"), None, "{line}");
        core.ok(line);
        assert_eq!(core.history("j")[0], r#"[1,"put",{"q":"q"}]"#, "{line}");
        assert_ne!(
            core.history("j").get(1),
            core.history("j").first(),
            "{line}"
        );
    }
}

// calls with many arguments

#[test]
fn d_77_a_call_may_have_more_arguments_than_unpack_allows() {
    let mut core = Core::new();
    let names: Vec<String> = (0..9000).map(|n| format!("n{n}")).collect();
    let call = |core: &mut Core, front: &[&str]| {
        let mut argv: Vec<&[u8]> = front.iter().map(|word| word.as_bytes()).collect();
        argv.extend(names.iter().map(|name| name.as_bytes()));
        core.call(&argv)
            .unwrap_or_else(|error| panic!("{front:?}: {error}"))
    };
    core.all(
        r#"put 0 w q j K {} 0; put 0 w q k K {} 0 depends ["j"]; recur 0 q r K {} interval 9 9"#,
    );
    assert_eq!(call(&mut core, &["multiget", "1"]).text(), "{}");
    assert_eq!(call(&mut core, &["cancel", "1"]).list().len(), 9000);
    core.events();
    assert_eq!(call(&mut core, &["pause", "1"]), Reply::Nil);
    assert_eq!(core.dump().set("ql:paused_queues").len(), 9000);
    call(&mut core, &["unpause", "1"]);
    call(&mut core, &["queue.forget", "1"]);
    call(&mut core, &["worker.deregister", "1"]);
    assert_eq!(call(&mut core, &["depends", "1", "k", "on"]), Reply::Int(1));
    assert_eq!(
        call(&mut core, &["depends", "1", "k", "off"]),
        Reply::Int(1)
    );
    assert_eq!(call(&mut core, &["tag", "1", "remove", "j"]).text(), "{}");
    call(&mut core, &["recur.untag", "1", "r"]);
    assert!(!core.dump().has("ql:tags"));
    let error = {
        let mut argv: Vec<&[u8]> = vec![b"timeout", b"1"];
        argv.extend(names.iter().map(|name| name.as_bytes()));
        core.call(&argv).unwrap_err()
    };
    assert_eq!(
        short(&error),
        "user_script:N: Timeout(): Job n0 does not exist"
    );
}
