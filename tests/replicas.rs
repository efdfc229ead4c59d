//! `--wait-replicas`, with a real replica.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use expect_test::expect;

use crate::support::redis::Redis;

/// A primary with a replica that has caught up.
pub(super) fn pair() -> (Redis, Redis) {
    // Another process may take the port before the server does: then try the next one.
    let (primary, port) = (0..20)
        .find_map(|_| {
            let port = TcpListener::bind("127.0.0.1:0")
                .ok()?
                .local_addr()
                .ok()?
                .port();
            let primary = Redis::start();
            let set = ["CONFIG", "SET", "port", &port.to_string()].map(String::from);
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            let done = redis::cmd(set[0])
                .arg(&set[1..])
                .exec(&mut primary.connection());
            done.ok().map(|()| (primary, port.to_string()))
        })
        .expect("a free port");
    primary.send(&["CONFIG", "SET", "repl-diskless-sync-delay", "0"]);
    let replica = Redis::start();
    replica.send(&["REPLICAOF", "127.0.0.1", &port]);
    let deadline = Instant::now() + Duration::from_secs(20);
    // A replica may acknowledge before it calls its link up.
    let is_up = || {
        let info: String = redis::cmd("INFO").query(&mut replica.connection()).unwrap();
        info.contains("master_link_status:up")
    };
    while primary.send(&["WAIT", "1", "100"]) != redis::Value::Int(1) || !is_up() {
        assert!(Instant::now() < deadline, "the replica does not come");
    }
    (primary, replica)
}

#[test]
fn a_change_is_on_the_replica_before_it_is_reported() {
    let (primary, replica) = pair();
    let lines: String = (0..500)
        .map(|n| format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{n}\"}}\n"))
        .collect();
    let qless = primary.at(100).input(lines);
    qless.run("put --from - --wait-replicas 1").ok();
    assert_eq!(replica.dump(), primary.dump());
    primary.at(101).run("put q K --wait-replicas 1").ok();
    assert_eq!(replica.dump(), primary.dump());
    primary
        .at(102)
        .run("tag --queue q --add t --wait-replicas 1 --yes")
        .ok();
    assert_eq!(replica.dump(), primary.dump());
}

#[test]
fn too_few_replicas_stop_the_command_and_keep_earlier_changes() {
    let redis = Redis::start();
    let qless = redis.at(100);
    let bad = "--timeout 1s --wait-replicas 2";
    qless
        .run(&format!("put q K --jid a {bad}"))
        .shows(expect![[r#"
            a
            --- stderr
            error: 0 of 2 replicas had it within 1s; the change was made
            hint: `redis-cli INFO replication` shows how far each replica is
            --- exit 6
        "#]]);
    assert_eq!(qless.run("length q").ok(), "1");
    let lines = "{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"b\"}\n";
    let put = redis
        .at(100)
        .input(lines)
        .run(&format!("put --from - {bad} -o json"));
    assert_eq!(put.code(), 6);
    put.says(r#""code":"replication""#);
    assert_eq!(qless.run("length q").ok(), "2");
    qless
        .run(&format!("priority --queue q --to 7 --yes {bad}"))
        .shows(expect![[r#"
            b	0	7
            a	0	7
            --- stderr
            2 changed
            error: 0 of 2 replicas had it within 1s; the change was made
            hint: `redis-cli INFO replication` shows how far each replica is
            --- exit 6
        "#]]);
    assert_eq!(qless.run("get b --field priority").ok(), "7");
    qless.run("put q K --wait-replicas 0").shows(expect![[r#"
        --- stderr
        error: `--wait-replicas` expects a whole number between 1 and 9007199254740992, not `0`
        --- exit 2
    "#]]);
}
