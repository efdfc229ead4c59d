//! `qless timeout`

use expect_test::expect;

use crate::support::redis::Redis;

fn running() -> Redis {
    let redis = Redis::start();
    for (now, jid) in [(1, "a"), (2, "b"), (3, "c")] {
        redis.ok(now, &format!("put mail K --jid {jid}"));
    }
    redis.ok(10, "pop mail --worker w1 --count 2");
    redis
}

#[test]
fn timeout_revokes_the_lock_and_uses_no_retry() {
    let redis = running();
    redis.session(expect![[r#"
        20 $ qless timeout c
        --- stderr
        error: cannot time out `c`: its state is `waiting`, not `running`
        --- exit 5
        20 $ qless timeout b
        21 $ qless jobs --columns jid,state,remaining
        a	running	5/5
        b	stalled	5/5
        c	waiting	5/5
        22 $ qless pop mail --worker w2 -o jid
        b
        23 $ qless timeout a -o ndjson
        {"jid":"a","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"running","state_after":"stalled"}
        {"summary":{"action":"timeout","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
    "#]]);
}

#[test]
fn a_selector_for_timeout_means_running_jobs_and_asks_for_confirmation() {
    let redis = running();
    redis.session(expect![[r#"
        20 $ qless timeout --queue mail
        --- stderr
        error: cannot ask whether to time out 2 running jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        20 $ qless timeout --queue mail -n -o jid
        a
        b
        --- stderr
        Time out 2 running jobs on unix://DIR/s

          mail	running	2	1970-01-01T00:00:10.000Z	1970-01-01T00:00:10.000Z
        would time out 2
        20 $ qless timeout --queue mail --yes
        --- stderr
        2 timed out
        20 $ qless timeout a --queue mail --yes
        --- stderr
        error: give either jids or flags that select jobs, not both
        --- exit 2
        21 $ qless pop mail --worker w1 --count 2 -o jid
        b
        a
        22 $ qless timeout a b c
        --- stderr
        2 timed out, 1 skipped
          skipped  1  waiting, not running: c
    "#]]);
}

#[test]
fn a_terminal_gets_one_sentence() {
    let redis = running();
    let shown = redis.on_terminal(20.0, "timeout a");
    assert_eq!(shown, "revoked the lock on a\n");
}
