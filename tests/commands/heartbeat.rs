//! `qless heartbeat`

use expect_test::expect;

use crate::support::redis::Redis;

fn running() -> Redis {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid a").ok();
    redis.at(2).run("put mail K --jid b --delay 1h").ok();
    redis.at(10).run("pop mail --worker w1").ok();
    redis
}

#[test]
fn heartbeat_prints_the_new_expiry_of_the_lock() {
    let redis = running();
    redis
        .at(40)
        .run("heartbeat a --worker w1")
        .shows(expect![[r#"
            1970-01-01T00:01:40.000Z
        "#]]);
    redis
        .at(50)
        .run("heartbeat a --as-holder -o json")
        .shows(expect![[r#"
            {
              "kind": "lock",
              "v": 1,
              "jid": "a",
              "worker": "w1",
              "expires": "1970-01-01T00:01:50.000Z"
            }
        "#]]);
    redis
        .at(60)
        .run("heartbeat a --worker w1 -o raw")
        .shows(expect![[r#"
            120
        "#]]);
}

#[test]
fn heartbeat_keeps_data_byte_for_byte() {
    let redis = running();
    redis
        .at(40)
        .args([
            "heartbeat",
            "a",
            "--worker",
            "w1",
            "--data",
            r#"{"n":9007199254740993,"l":[]}"#,
        ])
        .ok();
    assert_eq!(
        redis.at(41).run("get a --data").ok(),
        r#"{"n":9007199254740993,"l":[]}"#
    );
}

#[test]
fn only_the_holder_extends_a_lock() {
    let redis = running();
    redis
        .at(40)
        .run("heartbeat a --worker w2")
        .shows(expect![[r#"
            --- stderr
            error: cannot heartbeat `a`: it is held by `w1`
            hint: `--as-holder` acts as the worker that holds the job
            --- exit 5
        "#]]);
    redis
        .at(40)
        .run("heartbeat b --worker w1")
        .shows(expect![[r#"
            --- stderr
            error: cannot heartbeat `b`: its state is `scheduled`, not `running`
            --- exit 5
        "#]]);
    redis
        .at(40)
        .run("heartbeat nope --worker w1")
        .shows(expect![[r#"
            --- stderr
            error: job `nope` does not exist
            --- exit 4
        "#]]);
    redis
        .at(40)
        .run("heartbeat a --worker w1 -n")
        .shows(expect![[r#"
            --- stderr
            would extend the lock on a
        "#]]);
}

#[test]
fn the_locks_of_many_jobs_are_extended() {
    let redis = running();
    redis.at(11).run("put mail K --jid c").ok();
    redis.at(11).run("put mail K --jid d").ok();
    redis.at(12).run("pop mail --worker w1").ok();
    redis.at(13).run("pop mail --worker w2").ok();
    redis
        .at(40)
        .input("a\nb\nc\nd\nnope\n")
        .run("heartbeat - --worker w1")
        .shows(expect![[r#"
            a	1970-01-01T00:01:40.000Z
            d	1970-01-01T00:01:40.000Z
            --- stderr
            2 extended, 2 skipped, 1 failed
              skipped  1  gone: nope
                       1  scheduled, not running: b
              failed   1  held by `w2`: c
            --- exit 3
        "#]]);
    redis
        .at(50)
        .run("heartbeat a c --as-holder -o ndjson")
        .shows(expect![[r#"
            {"jid":"a","result":"done","code":"ok","detail":"the lock expires 1970-01-01T00:01:50.000Z","queue":"mail","state_before":"running","state_after":null}
            {"jid":"c","result":"done","code":"ok","detail":"the lock expires 1970-01-01T00:01:50.000Z","queue":"mail","state_before":"running","state_after":null}
            {"summary":{"action":"heartbeat","dry_run":false,"context":null,"matched":2,"done":2,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
            --- stderr
            2 extended
        "#]]);
    redis
        .at(50)
        .run("heartbeat a c --worker w1 -o raw")
        .shows(expect![[r#"
            110
            --- stderr
            1 extended, 1 failed
              failed   1  held by `w2`: c
            --- exit 3
        "#]]);
    redis
        .at(50)
        .run("heartbeat a b --worker w1 --dry-run")
        .shows(expect![[r#"
            --- stderr
            Extend the lock on 1 running job on unix://DIR/s

              mail	running	1	1970-01-01T00:00:10.000Z	1970-01-01T00:00:10.000Z
            would extend the lock on 1, 1 skipped
              skipped  1  scheduled, not running: b
        "#]]);
}
