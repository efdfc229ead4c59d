//! `qless check` of damage that no list leads to and that two scans may reach.

use crate::support::jobs::call;
use crate::support::qless::Qless;
use crate::support::redis::Redis;
use redis::Value;

const NOW: u32 = 10_000;

/// Enough problems of a kind that some are reached from either side first.
const MANY: u32 = 12;

fn at(redis: &Redis) -> Qless {
    redis.at(NOW)
}

/// Waiting jobs `a0` and so on.
fn waiting_jobs(now: f64) -> Redis {
    let redis = Redis::start();
    redis.calls((0..MANY).map(|number| call(now, &format!("put me mail a{number} K {{}} 0"))));
    redis
}

/// Waiting jobs `a0` and so on, removed from their set; for each, another in a queue of its own
/// that is not listed.
fn lost(part: &str, score: &str) -> Redis {
    let redis = waiting_jobs(9_000.0);
    redis.send(&["DEL", "ql:q:mail-work"]);
    for number in 0..MANY {
        let key = format!("ql:q:zz{number}-{part}");
        redis.send(&["ZADD", &key, score, &format!("a{number}")]);
    }
    redis
}

fn waiting(redis: &Redis) -> Value {
    redis.send(&["ZCARD", "ql:q:mail-work"])
}

#[test]
fn a_locked_job_of_an_unlisted_queue_is_not_added_to_its_work_set() {
    let redis = lost("locks", "10500");
    for flags in ["--only in-no-set", "--queue mail", ""] {
        let plan = at(&redis).run(&format!("check --repair -n -v {flags}"));
        assert!(!plan.stdout().contains("q:mail-work"), "{}", plan.stdout());
        let flags = format!("check --repair --yes {flags}");
        at(&redis).run(&flags);
        assert_eq!(waiting(&redis), Value::Int(0), "{flags}");
    }
    // A finished job is dropped.
    let later = redis.at(11_000);
    later.run("check --repair --yes").exits(0);
    assert_eq!(waiting(&redis), Value::Int(MANY.into()));
}

#[test]
fn a_locked_job_of_an_unlisted_queue_is_not_moved() {
    let redis = lost("locks", "10500");
    for number in 0..MANY {
        redis.send(&["ZADD", "ql:q:listed-work", "1", &format!("a{number}")]);
    }
    redis.send(&["ZADD", "ql:queues", "9000", "listed"]);
    let plan = at(&redis).run("check --repair -n -v");
    assert!(!plan.stdout().contains("q:mail-work"), "{}", plan.stdout());
    at(&redis).run("check --repair --yes").exits(7);
    assert_eq!(waiting(&redis), Value::Int(0));
}

#[test]
fn a_job_found_in_another_queue_is_not_added_twice() {
    let redis = lost("work", "0");
    at(&redis)
        .run("check --repair --yes --only in-no-set")
        .exits(0);
    assert_eq!(waiting(&redis), Value::Int(0));
    at(&redis).run("check --repair --yes").exits(0);
    assert_eq!(waiting(&redis), Value::Int(MANY.into()));

    let redis = waiting_jobs(9_990.0);
    redis.calls([call(9_990.0, &format!("pop mail w1 {MANY}"))]);
    for number in 0..MANY {
        let zz = format!("ql:q:zz{number}-locks");
        redis.send(&["ZADD", &zz, "10050", &format!("a{number}")]);
    }
    redis.send(&["DEL", "ql:q:mail-locks"]);
    at(&redis)
        .run("check --repair --yes --only running-without-lock")
        .exits(0);
    let locks = redis.send(&["ZCARD", "ql:q:mail-locks"]);
    assert_eq!(locks, Value::Int(0));
}

#[test]
fn a_failed_job_in_the_list_of_another_group_is_one_finding() {
    let redis = waiting_jobs(9_000.0);
    redis.calls([call(9_000.0, &format!("pop mail w1 {MANY}"))]);
    for number in 0..MANY {
        let jid = format!("a{number}");
        redis.calls([call(9_000.0, &format!("fail {jid} w1 boom no"))]);
        redis.send(&["RPUSH", &format!("ql:f:zz{number}"), &jid]);
    }
    redis.send(&["DEL", "ql:f:boom"]);
    let printed = at(&redis).run("check").stdout();
    assert!(printed.contains("failed-stray\t12\t"), "{printed}");
    assert!(!printed.contains("failed-unlisted"), "{printed}");
    let one = "check --repair --yes --only failed-unlisted";
    at(&redis).run(one).exits(0);
    assert_eq!(redis.send(&["LLEN", "ql:f:boom"]), Value::Int(0));
    let repaired = at(&redis).run("check --repair --yes").stdout();
    assert!(!repaired.contains("failed-twice"), "{repaired}");
    assert_eq!(redis.send(&["LLEN", "ql:f:boom"]), Value::Int(MANY.into()));
    at(&redis).run("check").exits(0);
}

#[test]
fn a_recurring_job_in_another_queue_is_one_finding() {
    let redis = Redis::start();
    for number in 0..MANY {
        let recur = format!("recur mail t{number} K {{}} interval 60 60");
        redis.calls([call(9_000.0, &recur)]);
        let zz = format!("ql:q:zz{number}-recur");
        redis.send(&["ZADD", &zz, "10100", &format!("t{number}")]);
    }
    redis.send(&["DEL", "ql:q:mail-recur"]);
    let printed = at(&redis).run("check").stdout();
    assert!(printed.contains("recurring-foreign\t12\t"), "{printed}");
    assert!(!printed.contains("recurring-unscheduled"), "{printed}");
    let one = "check --repair --yes --only recurring-unscheduled";
    at(&redis).run(one).exits(0);
    let recur = ["ZCARD", "ql:q:mail-recur"];
    assert_eq!(redis.send(&recur), Value::Int(0));
    at(&redis).run("check --repair --yes").exits(0);
    assert_eq!(redis.send(&recur), Value::Int(MANY.into()));
}

#[test]
fn of_two_overlapping_findings_the_more_complete_one_is_repaired() {
    let redis = Redis::start();
    for number in 0..MANY {
        let jid = format!("a{number}");
        redis.send(&["HSET", &format!("ql:j:{jid}"), "worker", "x"]);
        redis.send(&["ZADD", &format!("ql:q:zz{number}-locks"), "5000", &jid]);
    }
    let plan = at(&redis).run("check --repair -n -v").stdout();
    for number in 0..MANY {
        let remove = format!("ZREM ql:q:zz{number}-locks a{number}\n");
        assert_eq!(plan.matches(&remove).count(), 1, "{plan}");
        let aside = format!("RENAME ql:j:a{number} ");
        assert_eq!(plan.matches(&aside).count(), 1, "{plan}");
    }
    at(&redis).run("check --repair --yes").exits(0);
    assert_eq!(redis.send(&["EXISTS", "ql:queues"]), Value::Int(0));
}
