//! `qless check` when it cannot see everything: never clean, and it reports how far it got.

use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;

use crate::replicas::pair;
use crate::support::jobs::call;
use crate::support::qless::Running;
use crate::support::redis::Redis;

/// So many waiting jobs that a slow scan takes long.
fn many() -> Redis {
    let redis = Redis::start();
    redis.calls((0..1500_u32).map(|n| call(f64::from(n), &format!("put me mail j{n} K {{}} 0"))));
    redis
}

/// Starts a scan that takes ten seconds, and waits until it reads keys.
fn slowly(redis: &Redis, flags: &str) -> Running {
    redis.send(&["CONFIG", "RESETSTAT"]);
    let line = format!("--timeout 1s check --rate 500/s {flags}");
    let running = redis.qless().start(&line);
    let deadline = Instant::now() + Duration::from_secs(20);
    let scans = || {
        let info = redis.send(&["INFO", "commandstats"]);
        format!("{info:?}").contains("cmdstat_scan:")
    };
    while !scans() {
        assert!(Instant::now() < deadline, "it never began to look");
        std::thread::sleep(Duration::from_millis(5));
    }
    running
}

#[test]
fn an_interrupted_scan_reports_how_far_it_got() {
    let redis = many();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let running = slowly(&redis, "");
        running.signal(signal);
        let ran = running.end();
        let err = ran.stderr();
        assert_eq!((ran.code(), ran.stdout().as_str()), (code, ""), "{err}");
        assert!(err.contains("incomplete: "), "{err}");
        assert!(
            err.contains(" of 3,002 keys scanned: interrupted\n"),
            "{err}"
        );
        assert!(!err.contains("no inconsistency"), "{err}");
    }
    let running = slowly(&redis, "-o json");
    running.signal(Signal::INT);
    let ran = running.end();
    let (out, err) = (ran.stdout(), ran.stderr());
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&document["complete"], &document["clean"]),
        (&false.into(), &false.into())
    );
    assert!(
        err.contains("\"code\":\"interrupted\",\"exit\":130"),
        "{err}"
    );
}

#[test]
fn a_scan_that_loses_the_server_is_not_clean() {
    let mut redis = many();
    let running = slowly(&redis, "-o json");
    redis.kill();
    let ran = running.end();
    let err = ran.stderr();
    assert_eq!((ran.code(), ran.stdout().as_str()), (6, ""), "{err}");
    let error: serde_json::Value = serde_json::from_str(err.lines().last().unwrap()).unwrap();
    assert_eq!(error["code"], "unreachable");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(" of 3,002 keys scanned: "), "{err}");
}

#[test]
fn a_scan_without_the_rights_to_read_is_not_clean() {
    let redis = many();
    let refused = |right: &str| {
        let mut words = vec![
            "ACL", "SETUSER", "ops", "reset", "on", ">x", "~*", "&*", "+@all",
        ];
        // The minimal rights do not include counting keys.
        words.push("-dbsize");
        words.push(right);
        redis.send(&words);
        let qless = redis.qless().with_user(&redis.url(), "ops", "x");
        let ran = qless
            .at(1)
            .hide(&redis.url(), "unix:///s")
            .run("check --skip clock");
        (ran.code(), ran.stdout() + &ran.stderr())
    };
    for right in ["-scan", "-zrevrange", "-lrange"] {
        let (code, printed) = refused(right);
        assert_eq!(code, 6, "{right}: {printed}");
        assert!(
            printed.contains(" of 3,002 keys scanned: user `ops` may not run"),
            "{printed}"
        );
        assert!(
            !printed.contains("clean") && !printed.contains("nothing"),
            "{printed}"
        );
    }
    // Less is known about the server itself.
    assert_eq!(refused("-info").0, 0);
    let (_, printed) = refused("-scan");
    expect![[r#"
        error: incomplete: 0 of 3,002 keys scanned: user `ops` may not run `scan`
        hint: `qless help acl` prints the line an administrator needs
    "#]]
    .assert_eq(&printed);
}

#[test]
fn a_replica_can_be_checked_but_proves_nothing_about_its_primary() {
    let (primary, replica) = pair();
    primary
        .at(1)
        .run("put mail K {} --jid j --wait-replicas 1")
        .ok();
    let look = |flags: &str| {
        let qless = replica.at(2).hide(&replica.url(), "unix:///s");
        qless.run(&format!("check {flags}"))
    };
    look("").shows(expect![[r#"
        --- stderr
        scanned 4 keys, 1 job, 1 queue in 0.0s
        error: incomplete: 4 of 4 keys scanned: `unix://DIR/s` is a replica, which may lack changes of its primary
        hint: point `--redis` at its primary; `--read-only` scans the replica itself
        --- exit 6
    "#]]);
    look("--read-only").shows(expect![[r#"
        --- stderr
        scanned 4 keys, 1 job, 1 queue in 0.0s, no inconsistency
    "#]]);
    primary
        .at(3)
        .run("put mail K {} --jid k --wait-replicas 1")
        .ok();
    primary.send(&["DEL", "ql:j:j"]);
    primary.send(&["WAIT", "1", "10000"]);
    look("").shows(expect![[r#"
        critical	ghost-waiting	1	id waits in a queue, the job does not exist	mail: j
        info	history-orphan	1	history of a job that does not exist	j:j-history
        --- stderr
        scanned 5 keys, 1 job, 1 queue in 0.0s
        likely cause: keys of jobs were deleted (DEL) instead of the jobs: 1 history is left behind
        likely cause: this is a replica: it may lack the latest changes of its primary
        error: incomplete: 5 of 5 keys scanned, 3 candidates verified: `unix://DIR/s` is a replica, which may lack changes of its primary
        hint: point `--redis` at its primary; `--read-only` scans the replica itself
        --- exit 6
    "#]]);
    look("--read-only").shows(expect![[r#"
        critical	ghost-waiting	1	id waits in a queue, the job does not exist	mail: j
        info	history-orphan	1	history of a job that does not exist	j:j-history
        --- stderr
        scanned 5 keys, 1 job, 1 queue in 0.0s
        likely cause: keys of jobs were deleted (DEL) instead of the jobs: 1 history is left behind
        likely cause: this is a replica: it may lack the latest changes of its primary
        hint: show the plan: qless check --repair --dry-run
        --- exit 7
    "#]]);
    look("-o json --only ghost-waiting -q").exits(6);
    drop(primary);
    let deadline = Instant::now() + Duration::from_secs(20);
    let up = || format!("{:?}", replica.send(&["INFO", "replication"])).contains("link_status:up");
    while up() {
        assert!(Instant::now() < deadline, "the link stays up");
        std::thread::sleep(Duration::from_millis(5));
    }
    look("--read-only -o ndjson --skip queue-empty").exits(6);
    replica.send(&["CONFIG", "SET", "replica-serve-stale-data", "no"]);
    look("--timeout 1s --read-only").shows(expect![[r#"
        --- stderr
        error: incomplete: 0 of 5 keys scanned: replica `unix://DIR/s` has lost its primary
        --- exit 6
    "#]]);
}
