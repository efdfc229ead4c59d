//! `qless heartbeat`

use expect_test::expect;

use crate::support::redis::Redis;

fn running() -> Redis {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a");
    redis.ok(2, "put mail K --jid b --delay 1h");
    redis.ok(10, "pop mail --worker w1");
    redis
}

#[test]
fn a_holder_extends_its_lock_and_may_give_new_data() {
    running().session(expect![[r#"
        40 $ qless heartbeat a --worker w2
        --- stderr
        error: cannot heartbeat `a`: it is held by `w1`
        hint: `--as-holder` acts as the worker that holds the job
        --- exit 5
        40 $ qless heartbeat b --worker w1
        --- stderr
        error: cannot heartbeat `b`: its state is `scheduled`, not `running`
        --- exit 5
        40 $ qless heartbeat nope --worker w1
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        40 $ qless heartbeat a --worker w1 -n
        --- stderr
        would extend the lock on a
        40 $ qless heartbeat a --worker w1 --data '{"n":9007199254740993,"l":[]}'
        1970-01-01T00:01:40.000Z
        41 $ qless get a --data
        {"n":9007199254740993,"l":[]}
        --- no newline
        50 $ qless heartbeat a --as-holder -o json | jq -c
        {"kind":"lock","v":1,"jid":"a","worker":"w1","expires":"1970-01-01T00:01:50.000Z"}
        60 $ qless heartbeat a --worker w1 -o raw
        120
    "#]]);
}

#[test]
fn the_locks_of_many_jobs_are_extended() {
    running().session(expect![[r#"
        11 $ qless put mail K --jid c &>/dev/null
        11 $ qless put mail K --jid d &>/dev/null
        12 $ qless pop mail --worker w1 &>/dev/null
        13 $ qless pop mail --worker w2 &>/dev/null
        40 $ printf 'a\nb\nc\nd\nnope\n' | qless heartbeat - --worker w1
        a	1970-01-01T00:01:40.000Z
        d	1970-01-01T00:01:40.000Z
        --- stderr
        2 extended, 2 skipped, 1 failed
          skipped  1  gone: nope
                   1  scheduled, not running: b
          failed   1  held by `w2`: c
        --- exit 3
        50 $ qless heartbeat a c --as-holder -o ndjson
        {"jid":"a","result":"done","code":"ok","detail":"the lock expires 1970-01-01T00:01:50.000Z","queue":"mail","state_before":"running","state_after":null}
        {"jid":"c","result":"done","code":"ok","detail":"the lock expires 1970-01-01T00:01:50.000Z","queue":"mail","state_before":"running","state_after":null}
        {"summary":{"action":"heartbeat","dry_run":false,"context":null,"matched":2,"done":2,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        2 extended
        50 $ qless heartbeat a c --worker w1 -o raw
        110
        --- stderr
        1 extended, 1 failed
          failed   1  held by `w2`: c
        --- exit 3
        50 $ qless heartbeat a b --worker w1 --dry-run
        --- stderr
        Extend the lock on 1 running job on unix://DIR/s

          mail	running	1	1970-01-01T00:00:10.000Z	1970-01-01T00:00:10.000Z
        would extend the lock on 1, 1 skipped
          skipped  1  scheduled, not running: b
    "#]]);
}
