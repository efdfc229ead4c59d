//! Failure groups, and how jobs leave them.

use expect_test::expect;
use serde_json::json;

use crate::support::core::{Core, Reply};

/// Fills an empty database with jobs `j0` …, which failed one after another, at 10, 11 …
fn fail(core: &mut Core, count: usize) {
    core.flush();
    for n in 0..count {
        core.ok(&format!("put 0 w q j{n} K {{}} 0"));
        core.ok("pop 1 q w1 1");
        core.ok(&format!("fail {} j{n} w1 G M", 10 + n));
    }
}

#[test]
fn failures_are_counted_and_unfailed() {
    Core::new().session(expect![[r#"
        == A failure group is paged newest first
        put 0 w q j0 K {} 0; pop 1 q w1 1; fail 10 j0 w1 G M; put 0 w q j1 K {} 0; pop 1 q w1 1; fail 11 j1 w1 G M
        put 0 w q j2 K {} 0; pop 1 q w1 1; fail 12 j2 w1 G M; put 0 w q j3 K {} 0; pop 1 q w1 1; fail 13 j3 w1 G M
        failed 99 G → {"jobs":["j3","j2","j1","j0"],"total":4}
        failed 99 G 1 2 | jobs → ["j2","j1"]
        failed 99 G 0 0 | jobs → ["j3","j2","j1","j0"]
        failed 99 G 0 -1 | jobs → ["j3","j2","j1"]
        failed 99 G 9 | jobs → {}
        failed 99 nope → {"jobs":{},"total":0}

        == Unfail takes the oldest failures
        put 0 w q j0 K {} 0; pop 1 q w1 1; fail 10 j0 w1 G M; put 0 w q j1 K {} 0; pop 1 q w1 1; fail 11 j1 w1 G M
        put 0 w q j2 K {} 0; pop 1 q w1 1; fail 12 j2 w1 G M; put 0 w q j3 K {} 0; pop 1 q w1 1; fail 13 j3 w1 G M
        unfail 50 p G 3 → :3
        failed 51 G | jobs → ["j3"]
        pop 51 p w1 9 | jid → j2 j1 j0
        unfail 52 p G → :1
        failed 53 → {}
        unfail 53 p G → :0
        unfail 53 p nope 10000 → :0

        == An unfailed job waits in the given queue with all retries
        put 0 w q j K {} 0 retries 0; pop 1 q w1 1; retry 2 j q w1
        HGET ql:j:j remaining → -1
        events; unfail 9.5 p failed-retries-q
        get 10 j | state queue remaining failure.group → waiting p 0 failed-retries-q
        HGET ql:j:j time → 1.00000000000000000000
        score ql:q:p-work j → -0.00000000095
        history j → [0,"put",{"q":"q"}] · [1,"popped",{"worker":"w1"}] · [2,"failed",{"group":"failed-retries-q"}] · [9,"put",{"q":"p"}]
        events → none
        -- D-40
        score ql:queues p → 9.5

        == A negative unfail count leaves that many failures
        put 0 w q j0 K {} 0; pop 1 q w1 1; fail 10 j0 w1 G M; put 0 w q j1 K {} 0; pop 1 q w1 1; fail 11 j1 w1 G M
        put 0 w q j2 K {} 0; pop 1 q w1 1; fail 12 j2 w1 G M
        unfail 50 q G -1 → :2
        failed 51 G | jobs → ["j2"]

        == unfail.jobs moves only those
        put 0 w q j0 K {} 0; pop 1 q w1 1; fail 10 j0 w1 G M; put 0 w q j1 K {} 0; pop 1 q w1 1; fail 11 j1 w1 G M
        put 0 w q j2 K {} 0; pop 1 q w1 1; fail 12 j2 w1 G M; put 0 w q j3 K {} 0; pop 1 q w1 1; fail 13 j3 w1 G M
        put 0 w q j4 K {} 0; pop 1 q w1 1; fail 14 j4 w1 G M; put 0 w q o K {} 0; pop 1 q w1 1; fail 2 o w1 H M
        put 3 w q x K {} 0
        unfail.jobs 50 p G j3 o nope x j1 j3 → :2
        failed 51 G | jobs → ["j4","j2","j0"]
        failed 51 H | jobs → ["o"]
        pop 51 p w1 9 | jid → j3 j1
        states x → waiting
        stats 51 q 51 | failed → 4
        unfail.jobs 53 p G → :0
        unfail.jobs 54 p G j0 j4 j2 → :3
        failed 55 → {"H":1}

        == Words behind the count of an unfail mean nothing
        put 0 w q j0 K {} 0; pop 1 q w1 1; fail 10 j0 w1 G M; put 0 w q j1 K {} 0; pop 1 q w1 1; fail 11 j1 w1 G M
        put 0 w q j2 K {} 0; pop 1 q w1 1; fail 12 j2 w1 G M
        unfail 50 p G 2 more → :2
        failed 51 G | jobs → ["j2"]
        FLUSHALL; put 0 w q j0 K {} 0; pop 1 q w1 1; fail 10 j0 w1 G M; put 0 w q j1 K {} 0; pop 1 q w1 1
        fail 11 j1 w1 G M; put 0 w q j2 K {} 0; pop 1 q w1 1; fail 12 j2 w1 G M
        unfail 50 p G -1 j0 j1 → :2
        failed 51 G | jobs → ["j2"]

        == Unreadable retries become five
        put 0 w q j0 K {} 0; pop 1 q w1 1; fail 10 j0 w1 G M; HDEL ql:j:j0 retries; unfail 50 q G
        HGET ql:j:j0 remaining → 5
        FLUSHALL; put 0 w q j0 K {} 0; pop 1 q w1 1; fail 10 j0 w1 G M; HSET ql:j:j0 retries many; unfail 50 q G
        HGET ql:j:j0 remaining → 5

        == D-53: an unfail count of zero takes no job
        put 0 w q j0 K {} 0; pop 1 q w1 1; fail 10 j0 w1 G M; put 0 w q j1 K {} 0; pop 1 q w1 1; fail 11 j1 w1 G M
        remember
        unfail 50 q G 0 → :0
        unchanged

        == D-20: unfail moves only failed jobs and removes each from the list
        put 0 w q j0 K {} 0; pop 1 q w1 1; fail 10 j0 w1 G M; put 0 w q j1 K {} 0; pop 1 q w1 1; fail 11 j1 w1 G M
        put 0 w q run K {} 0; pop 1 q w1 1; RPUSH ql:f:G gone run; unfail 50 q G
        states j0 j1 run → waiting waiting running
        EXISTS ql:j:gone ql:f:G ql:failures → :0
        ZCARD ql:q:q-work → :2

        == Groups are counted
        failed 3 → {}
        put 0 w q a K {} 0; put 0 w q b K {} 0; put 0 w q c K {} 0; pop 1 q w1 3
        fail 2 a w1 G M; fail 2 b w1 G M; fail 2 c w1 H M
        failed 3 → {"G":2,"H":1}
    "#]]);
}

#[test]
fn ten_thousand_jobs_are_unfailed_in_one_call() {
    let mut core = Core::new();
    core.put_jobs(0, (0..8100).map(|n| format!("q j{n} K {{}} 0")));
    core.ok("pop 1 q w1 8100");
    core.many((0..8100).map(|n| format!("fail 2 j{n} w1 G M")));
    assert_eq!(core.ok("unfail 3 q G 10000"), Reply::Int(8100));
    assert_eq!(core.dump().zset("ql:q:q-work").len(), 8100);
    assert_eq!(core.json("stats 3 q 3")["failed"], 0);
    assert_eq!(core.json("failed 4"), json!({}));
}

#[test]
fn d_60_a_job_that_left_failed_is_in_no_failure_group() {
    let mut core = Core::new();
    for (line, left) in [
        ("put 50 w q j0 K {} 0", "running"),
        ("unfail 50 q G", "running"),
        ("unfail 50 q H", "running"),
        ("cancel 50 j0", ""),
    ] {
        fail(&mut core, 1);
        core.redis("LPUSH ql:f:H j0");
        core.redis("SADD ql:failures H");
        core.all(&format!(
            "{line}; pop 51 q w2 5; unfail 52 q G; unfail 52 q H"
        ));
        assert_eq!(core.state("j0"), left, "{line}");
        let dump = core.dump();
        assert!(
            !dump.has("ql:q:q-work") && !dump.has("ql:failures"),
            "{line}"
        );
    }
}

#[test]
fn d_34_a_failed_job_whose_failure_is_lost_can_be_put_and_cancelled() {
    let mut core = Core::new();
    for damage in [
        "HDEL ql:j:j0 failure",
        "HSET ql:j:j0 failure {}",
        "HSET ql:j:j0 failure oops",
    ] {
        for line in ["put 50 w q j0 K {} 0", "cancel 50 j0"] {
            fail(&mut core, 1);
            core.redis(damage);
            core.ok(line);
            let dump = core.dump();
            assert!(dump.list("ql:f:G").is_empty(), "{damage}, {line}");
            assert!(!dump.has("ql:failures"), "{damage}, {line}");
        }
    }
    fail(&mut core, 1);
    core.redis("HSET ql:j:j0 tags {]");
    assert_eq!(core.ok("cancel 50 j0").texts(), ["j0"]);
    assert!(!core.dump().has("ql:j:j0"));
}

#[test]
fn d_60_every_exit_from_failed_takes_all_entries_off_the_list() {
    let mut core = Core::new();
    for line in [
        "put 50 w q j0 K {} 0",
        "put 50 w q j0 K {} 30",
        "requeue 50 w p j0 K {} 0",
        "cancel 50 j0",
        "cancel 50 j0 j1",
        "unfail 50 q G 1",
        "guard.requeue 50 {} '' j0 '' ''",
        "guard.requeue 50 {} '' j0 '' '' j1 '' ''",
        "guard.cancel 50 refuse j0 ''",
        "guard.put 50 {\"replace\":true} 5 q j0 K {} 0",
        "guard.put 50 {\"replace\":true} 7 q j0 K {} 0 failed {\"group\":\"H\",\"when\":9}",
    ] {
        fail(&mut core, 3);
        core.redis("LINSERT ql:f:G BEFORE j1 j0");
        core.redis("LPUSH ql:f:G j0");
        core.ok(line);
        let left = core.dump().list("ql:f:G");
        assert!(left.iter().all(|jid| jid != "j0"), "{line}: {left:?}");
        assert!(left.contains(&"j2".to_owned()), "{line}: {left:?}");
    }
    fail(&mut core, 1);
    core.redis("LPUSH ql:f:G j0");
    core.ok("put 50 w q j0 K {} 0");
    assert!(!core.dump().has("ql:f:G") && !core.dump().has("ql:failures"));
    fail(&mut core, 1);
    core.redis("LPUSH ql:f:G j0");
    core.ok("unfail 50 q G 1");
    assert!(!core.dump().has("ql:f:G") && !core.dump().has("ql:failures"));
}

#[test]
fn d_60_many_jobs_that_leave_failed_take_all_their_entries_off_the_list() {
    let mut core = Core::new();
    let items = |word: &str| -> String { (0..20).map(|n| format!(" j{n}{word}")).collect() };
    for line in [
        format!("cancel 50{}", items("")),
        format!("guard.requeue 50 {{}} ''{}", items(" '' ''")),
        format!("guard.cancel 50 refuse{}", items(" ''")),
        "unfail 50 q G 20".to_owned(),
    ] {
        fail(&mut core, 30);
        for n in 0..20 {
            core.redis(&format!("LPUSH ql:f:G j{n}"));
        }
        core.ok(&line);
        let left = core.dump().list("ql:f:G");
        let wanted: Vec<String> = (20..30).rev().map(|n| format!("j{n}")).collect();
        assert_eq!(left, wanted, "{line}");
    }
}

#[test]
fn d_60_in_a_list_of_more_than_a_thousand_a_further_entry_may_stay_and_brings_nothing_back() {
    let mut core = Core::new();
    for line in [
        "put 50 w q j0 K {} 0",
        "unfail 50 q G 1",
        "guard.requeue 50 {} '' j0 '' ''",
    ] {
        fail(&mut core, 1);
        let many: String = (0..1000).map(|n| format!(" other{n}")).collect();
        core.redis(&format!("LPUSH ql:f:G{many} j0"));
        core.ok(line);
        core.ok("pop 51 q w2 1");
        core.ok("unfail 52 q G 2000");
        assert_eq!(core.state("j0"), "running", "{line}");
        assert!(
            !core.dump().has("ql:f:G") && !core.dump().has("ql:q:q-work"),
            "{line}"
        );
    }
}
