//! `qless track`

use expect_test::expect;

use super::jobs::busy;
use crate::support::redis::Redis;

#[test]
fn tracked_jobs_are_listed_and_expired_ones_reported() {
    let redis = busy();
    redis.session(expect![[r#"
        79 $ qless track
        79 $ qless track -o json | jq -c
        {"kind":"jobs","v":1,"total":0,"offset":0,"items":[],"missing":[]}
    "#]]);
    for (now, jid) in [(80, "waits"), (81, "runs"), (82, "waits-2")] {
        redis.ok(now, &format!("api track track {jid}"));
    }
    redis.ok(90, "api cancel waits-2");
    redis.session(expect![[r#"
        100 $ qless track --columns jid,state
        waits	waiting
        runs	running
        --- stderr
        1 tracked job has expired: waits-2
        100 $ qless track -o json | jq -c '[.items[0].tracked, .missing]'
        [true,["waits-2"]]
        --- stderr
        1 tracked job has expired: waits-2
    "#]]);
}

#[test]
fn jobs_are_tracked_and_untracked() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a");
    redis.ok(2, "put mail K --jid b");
    redis.session(expect![[r#"
        3 $ qless track a b
        --- stderr
        2 tracked
        3 $ qless track a -o raw
        0
        4 $ qless track --columns jid
        a
        b
        5 $ qless track a --remove -o ndjson
        {"jid":"a","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"waiting","state_after":null}
        {"summary":{"action":"untrack","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        6 $ qless track --columns jid
        b
        7 $ qless track nope --remove &>/dev/null
        --- exit 4
        7 $ qless track --remove
        --- stderr
        error: no jobs are given
        hint: give jids, or select jobs by flags: `qless help selectors`
        --- exit 2
    "#]]);
}

#[test]
fn prune_untracks_expired_jobs() {
    let redis = Redis::start();
    for jid in ["a", "b", "c"] {
        redis.ok(1, &format!("put mail K --jid {jid}"));
    }
    redis.ok(2, "track a b c");
    redis.ok(3, "cancel a b --yes");
    redis.session(expect![[r#"
        4 $ qless track a --remove -o jid
        a
        5 $ qless track --prune -n -o jid
        b
        --- stderr
        Stop tracking 1 job on unix://DIR/s

          –	–	1	–	–
        would stop tracking 1
        5 $ qless track --prune
        --- stderr
        1 no longer tracked
        6 $ qless track --columns jid
        c
        6 $ qless track --prune
        --- stderr
        no jobs to stop tracking
    "#]]);
}
