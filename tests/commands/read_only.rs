//! `--read-only`

use expect_test::expect;

use super::jobs::busy;
use crate::support::qless::Qless;
use crate::support::redis::Redis;

#[test]
fn read_only_refuses_writes_before_connecting() {
    let nowhere = Qless::bare().env("QLESS_REDIS_URL", "unix:///nowhere/at/all");
    nowhere.session(expect![[r#"
        $ qless put q K --read-only
        --- stderr
        error: `qless put` may change something, and `--read-only` was given
        --- exit 9
        $ qless put q K --read-only -o json
        --- stderr
        {"kind":"error","v":1,"code":"not_confirmed","exit":9,"message":"`qless put` may change something, and `--read-only` was given","hint":null,"jid":null}
        --- exit 9
    "#]]);
    let looking = nowhere.env("QLESS_READ_ONLY", "1");
    for line in [
        "pop q",
        "retry j",
        "cancel j",
        "pause q",
        "config set heartbeat 5",
        "recur rm nightly",
        "track j",
        "tag j --add t",
        "depends j --off-all",
        "failed --group g --retry-all --yes",
        "api put me q j K {} 0",
        "api queues",
        "queues -o raw",
        "workers -o raw",
        "jobs --queue q --state scheduled -o raw",
    ] {
        assert_eq!(looking.run(line).code(), 9, "{line}");
    }
}

#[test]
fn read_only_allows_reads_and_the_server_enforces_it() {
    let redis = busy();
    redis.send(&["SCRIPT", "FLUSH"]);
    redis.send(&["CONFIG", "RESETSTAT"]);
    for line in [
        "queues",
        "jobs",
        "jobs --queue mail --state running -o raw",
        "get waits",
        "get waits -o raw",
        "workers",
        "failed",
        "stats mail",
        "track",
        "tag",
        "config list",
        "recur list",
        "depends blocked",
        "graph blocked",
        "graph --queue mail",
        "length mail",
        "peek mail",
    ] {
        redis.ok(10_000, &format!("{line} --read-only"));
    }
    // A put that only tells what it would do is a read, also of a call that is typed.
    let dry = ["api", "guard.put", r#"{"dry":true}"#];
    let job = ["5", "mail", "new", "K", "{}", "0", "--read-only"];
    let said = redis.at(10_000).args(dry.into_iter().chain(job)).ok();
    assert_eq!(said, "done\t\twaiting");
    let info: String = redis::cmd("INFO")
        .arg("commandstats")
        .query(&mut redis.connection())
        .unwrap();
    let is_called = |command: &str| info.contains(&format!("cmdstat_{command}:"));
    // Redis 6.2 has no calls of scripts that only read.
    let has_read_only_calls = Redis::has_selective_rights();
    assert_eq!(is_called("evalsha_ro"), has_read_only_calls, "{info}");
    let may_write = is_called("evalsha") || is_called("eval");
    assert_eq!(may_write, !has_read_only_calls, "{info}");
}

#[test]
fn a_legacy_history_is_shown_without_being_moved() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid old");
    redis.send(&["DEL", "ql:j:old-history"]);
    let legacy = r#"[{"put":1,"q":"q","popped":2,"worker":"w"}]"#;
    redis.send(&["HSET", "ql:j:old", "history", legacy]);
    for line in ["get old -o raw", "api multiget old"] {
        let said = redis.ok(3, &format!("{line} --read-only"));
        let history = r#""history":[{"#;
        assert!(said.contains(history), "{line}: {said}");
        for entry in [r#""what":"put""#, r#""what":"popped""#] {
            assert!(said.contains(entry), "{line}: {said}");
        }
    }
    if Redis::has_selective_rights() {
        let kept = redis.send(&["HGET", "ql:j:old", "history"]);
        assert_eq!(kept, redis::Value::BulkString(legacy.into()));
    }
}
