//! Failure groups, and how jobs leave them.

use serde_json::json;

use crate::support::core::{Core, Reply};

/// Jobs `j0` … failed one after another, at 10, 11 …
fn failed(count: usize) -> Core {
    let mut core = Core::new();
    for n in 0..count {
        core.ok(&format!("put 0 w q j{n} K {{}} 0"));
        core.ok("pop 1 q w1 1");
        core.ok(&format!("fail {} j{n} w1 G M", 10 + n));
    }
    core.events();
    core
}

#[test]
fn groups_are_counted() {
    let mut core = failed(2);
    core.all("put 0 w q k K {} 0; pop 1 q w1 1; fail 2 k w1 H M");
    assert_eq!(core.json("failed 3"), json!({"G": 2, "H": 1}));
    assert_eq!(Core::new().ok("failed 3").text(), "{}");
}

#[test]
fn a_failure_group_is_paged_newest_first() {
    let mut core = failed(4);
    assert_eq!(
        core.json("failed 99 G"),
        json!({"total": 4, "jobs": ["j3", "j2", "j1", "j0"]})
    );
    assert_eq!(core.json("failed 99 G 1 2")["jobs"], json!(["j2", "j1"]));
    assert_eq!(
        core.json("failed 99 G 0 0")["jobs"],
        json!(["j3", "j2", "j1", "j0"])
    );
    assert_eq!(
        core.json("failed 99 G 0 -1")["jobs"],
        json!(["j3", "j2", "j1"])
    );
    assert_eq!(core.json("failed 99 G 9")["jobs"], json!({}));
    assert_eq!(core.json("failed 99 nope"), json!({"total": 0, "jobs": {}}));
}

#[test]
fn unfail_takes_the_oldest_failures() {
    let mut core = failed(4);
    assert_eq!(core.ok("unfail 50 p G 3"), Reply::Int(3));
    assert_eq!(core.json("failed 51 G")["jobs"], json!(["j3"]));
    assert_eq!(core.jids("pop 51 p w1 9").len(), 3);
    assert_eq!(core.ok("unfail 52 p G"), Reply::Int(1));
    assert_eq!(core.json("failed 53"), json!({}));
    assert_eq!(core.ok("unfail 53 p G"), Reply::Int(0));
    assert_eq!(core.ok("unfail 53 p nope 10000"), Reply::Int(0));
}

#[test]
fn an_unfailed_job_waits_in_the_given_queue_with_all_retries() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0 retries 0; pop 1 q w1 1; retry 2 j q w1");
    assert_eq!(core.field("j", "remaining").as_deref(), Some("-1"));
    core.events();
    core.ok("unfail 9.5 p failed-retries-q");
    let job = core.json("get 10 j");
    assert_eq!(
        (&job["state"], &job["queue"], &job["remaining"]),
        (&json!("waiting"), &json!("p"), &json!(0))
    );
    assert_eq!(job["failure"]["group"], "failed-retries-q");
    assert_eq!(core.field("j", "time").unwrap().parse(), Ok(1.0));
    assert_eq!(core.score("ql:q:p-work", "j"), Some(-9.5 / 1e10));
    assert_eq!(core.history("j").last().unwrap(), r#"[9,"put",{"q":"p"}]"#);
    assert!(core.events().is_empty());
    // D-40
    assert_eq!(core.score("ql:queues", "p"), Some(9.5));
}

#[test]
fn a_negative_unfail_count_leaves_that_many_failures() {
    let mut core = failed(3);
    assert_eq!(core.ok("unfail 50 q G -1"), Reply::Int(2));
    assert_eq!(core.json("failed 51 G")["jobs"], json!(["j2"]));
}

#[test]
fn unfail_jobs_moves_only_those() {
    let mut core = failed(5);
    core.all("put 0 w q o K {} 0; pop 1 q w1 1; fail 2 o w1 H M; put 3 w q x K {} 0");
    assert_eq!(
        core.ok("unfail.jobs 50 p G j3 o nope x j1 j3"),
        Reply::Int(2)
    );
    assert_eq!(core.json("failed 51 G")["jobs"], json!(["j4", "j2", "j0"]));
    assert_eq!(core.json("failed 51 H")["jobs"], json!(["o"]));
    assert_eq!(core.jids("pop 51 p w1 9").len(), 2);
    assert_eq!(core.state("x"), "waiting");
    assert_eq!(core.json("stats 51 q 51")["failed"], json!(4));
    assert_eq!(core.ok("unfail.jobs 53 p G"), Reply::Int(0));
    assert_eq!(core.ok("unfail.jobs 54 p G j0 j4 j2"), Reply::Int(3));
    assert_eq!(core.json("failed 55"), json!({"H": 1}));
}

#[test]
fn words_behind_the_count_of_an_unfail_mean_nothing() {
    for line in ["unfail 50 p G 2 more", "unfail 50 p G -1 j0 j1"] {
        let mut core = failed(3);
        assert_eq!(core.ok(line), Reply::Int(2), "{line}");
        assert_eq!(core.json("failed 51 G")["jobs"], json!(["j2"]), "{line}");
    }
}

#[test]
fn unreadable_retries_become_five() {
    for damage in ["HDEL ql:j:j0 retries", "HSET ql:j:j0 retries many"] {
        let mut core = failed(1);
        core.redis(damage);
        core.ok("unfail 50 q G");
        assert_eq!(
            core.field("j0", "remaining").as_deref(),
            Some("5"),
            "{damage}"
        );
    }
}

#[test]
fn d_53_an_unfail_count_of_zero_takes_no_job() {
    let mut core = failed(2);
    let before = core.dump();
    assert_eq!(core.ok("unfail 50 q G 0"), Reply::Int(0));
    assert_eq!(core.dump(), before);
}

#[test]
fn ten_thousand_jobs_are_unfailed_in_one_call() {
    let mut core = Core::new();
    core.many((0..8100).map(|n| format!("put 0 w q j{n} K {{}} 0")));
    core.ok("pop 1 q w1 8100");
    core.many((0..8100).map(|n| format!("fail 2 j{n} w1 G M")));
    assert_eq!(core.ok("unfail 3 q G 10000"), Reply::Int(8100));
    assert_eq!(core.dump().zset("ql:q:q-work").len(), 8100);
    assert_eq!(core.json("stats 3 q 3")["failed"], 0);
    assert_eq!(core.json("failed 4"), json!({}));
}

#[test]
fn d_20_unfail_moves_only_failed_jobs_and_removes_each_from_the_list() {
    let mut core = failed(2);
    core.all("put 0 w q run K {} 0; pop 1 q w1 1");
    core.redis("RPUSH ql:f:G gone run");
    core.ok("unfail 50 q G");
    assert_eq!(
        (core.state("j0"), core.state("j1")),
        ("waiting".into(), "waiting".into())
    );
    assert_eq!(core.state("run"), "running");
    let dump = core.dump();
    assert!(!dump.has("ql:j:gone") && !dump.has("ql:f:G") && !dump.has("ql:failures"));
    assert_eq!(dump.zset("ql:q:q-work").len(), 2);
}

#[test]
fn d_60_a_job_that_left_failed_is_in_no_failure_group() {
    for line in ["put 50 w q j0 K {} 0", "unfail 50 q G", "unfail 50 q H"] {
        let mut core = failed(1);
        core.redis("LPUSH ql:f:H j0");
        core.redis("SADD ql:failures H");
        core.ok(line);
        assert_eq!(core.jids("pop 51 q w2 5"), ["j0"], "{line}");
        core.all("unfail 52 q G; unfail 52 q H");
        assert_eq!(core.state("j0"), "running", "{line}");
        let dump = core.dump();
        assert!(
            !dump.has("ql:q:q-work") && !dump.has("ql:failures"),
            "{line}"
        );
    }
    let mut core = failed(1);
    core.redis("LPUSH ql:f:H j0");
    core.redis("SADD ql:failures H");
    core.all("cancel 50 j0; unfail 52 q G; unfail 52 q H");
    let dump = core.dump();
    assert!(!dump.has("ql:j:j0") && !dump.has("ql:q:q-work") && !dump.has("ql:failures"));
}

#[test]
fn d_34_a_failed_job_whose_failure_is_lost_can_be_put_and_cancelled() {
    for damage in [
        "HDEL ql:j:j0 failure",
        "HSET ql:j:j0 failure {}",
        "HSET ql:j:j0 failure oops",
    ] {
        for line in ["put 50 w q j0 K {} 0", "cancel 50 j0"] {
            let mut core = failed(1);
            core.redis(damage);
            core.ok(line);
            let dump = core.dump();
            assert!(dump.list("ql:f:G").is_empty(), "{damage}, {line}");
            assert!(!dump.has("ql:failures"), "{damage}, {line}");
        }
    }
    let mut core = failed(1);
    core.redis("HSET ql:j:j0 tags {]");
    assert_eq!(core.ok("cancel 50 j0").texts(), ["j0"]);
    assert!(!core.dump().has("ql:j:j0"));
}

#[test]
fn d_60_every_exit_from_failed_takes_all_entries_off_the_list() {
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
        let mut core = failed(3);
        core.redis("LINSERT ql:f:G BEFORE j1 j0");
        core.redis("LPUSH ql:f:G j0");
        core.ok(line);
        let left = core.dump().list("ql:f:G");
        assert!(left.iter().all(|jid| jid != "j0"), "{line}: {left:?}");
        assert!(left.contains(&"j2".to_owned()), "{line}: {left:?}");
    }
    let mut core = failed(1);
    core.redis("LPUSH ql:f:G j0");
    core.ok("put 50 w q j0 K {} 0");
    assert!(!core.dump().has("ql:f:G") && !core.dump().has("ql:failures"));
    let mut core = failed(1);
    core.redis("LPUSH ql:f:G j0");
    core.ok("unfail 50 q G 1");
    assert!(!core.dump().has("ql:f:G") && !core.dump().has("ql:failures"));
}

#[test]
fn d_60_many_jobs_that_leave_failed_take_all_their_entries_off_the_list() {
    let items = |word: &str| -> String { (0..20).map(|n| format!(" j{n}{word}")).collect() };
    for line in [
        format!("cancel 50{}", items("")),
        format!("guard.requeue 50 {{}} ''{}", items(" '' ''")),
        format!("guard.cancel 50 refuse{}", items(" ''")),
        "unfail 50 q G 20".to_owned(),
    ] {
        let mut core = failed(30);
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
    for line in [
        "put 50 w q j0 K {} 0",
        "unfail 50 q G 1",
        "guard.requeue 50 {} '' j0 '' ''",
    ] {
        let mut core = failed(1);
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
