//! `qless bury`

use expect_test::expect;

use crate::support::jobs::mixed;
use crate::support::redis::Redis;

#[test]
fn a_job_that_has_not_started_becomes_failed() {
    mixed().session(expect![[r#"
        20 $ qless bury w --group hold --message 'bad address' --reason why
        21 $ qless failed --group hold
        w	K	failed	mail	0	5/5	1970-01-01T00:00:20.000Z	hold: bad address
        21 $ qless get w -o json | jq -c '[.history[2].verb, .history[2].reason]'
        ["bury","why"]
        22 $ qless bury s --group hold --message m -o ndjson
        {"jid":"s","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"scheduled","state_after":"failed"}
        {"summary":{"action":"bury","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        23 $ qless retry w s -o jid
        w
        s
        --- stderr
        2 retried
        24 $ qless bury w s --group hold --message m --report DIR/report &>/dev/null
        25 $ qless retry w &>/dev/null
        26 $ qless bury w s --group hold --message m --report DIR/report
        --- stderr
        0 buried, 2 skipped
          skipped  2  done already, as `DIR/report` tells: w, s
    "#]]);
}

#[test]
fn only_jobs_that_have_not_started_are_buried() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless bury r --group g --message m
        --- stderr
        error: cannot bury `r`: it is running, held by `w1`
        hint: fail it for its worker: `qless fail --as-holder --group=g --message=m r`
        --- exit 5
        20 $ qless bury f1 --group g --message m
        --- stderr
        error: cannot bury `f1`: its state is `failed`
        --- exit 5
        20 $ qless bury c --group g --message m
        --- stderr
        error: cannot bury `c`: it is complete
        --- exit 5
        20 $ qless bury nope --group g --message m
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        20 $ qless bury w --group g
        --- stderr
        error: `--message` is missing
        hint: usage: `qless bury --group <G> --message <M> <JID>...`
        --- exit 2
        20 $ qless bury --queue mail --group hold --message m --dry-run
        --- stderr
        Bury 3 jobs on unix://DIR/s

          mail	depends	1	1970-01-01T00:00:13.000Z	1970-01-01T00:00:13.000Z
          mail	scheduled	1	1970-01-01T00:00:12.000Z	1970-01-01T00:00:12.000Z
          mail	waiting	1	1970-01-01T00:00:11.000Z	1970-01-01T00:00:11.000Z

          their group becomes `hold`
        would bury 3
        20 $ qless bury --queue mail --group hold --message m
        --- stderr
        error: cannot ask whether to bury 3 jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        20 $ qless bury --queue mail --group hold --message m --yes -o jid
        w
        s
        d
        --- stderr
        3 buried
    "#]]);
    redis.must_be_clean();
}

/// A lane of ten jobs, put one by one.
fn lane() -> Redis {
    let redis = Redis::start();
    for n in 1..=10 {
        // Within one second, as a loop in a shell puts them.
        let now = 10.0 + f64::from(n) / 100.0;
        redis.ok(now, &format!("put p K --key k --jid p{n}"));
    }
    redis
}

/// The jids of the lane, in order.
fn order(redis: &Redis) -> Vec<String> {
    let jids = redis.ok(99, "key p k -o jid");
    jids.lines().map(str::to_owned).collect()
}

const ALL: [&str; 10] = ["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10"];

#[test]
fn a_whole_lane_is_buried_and_retried_in_its_order() {
    let redis = lane();
    redis.session(expect![[r#"
        20 $ qless bury --key k --group hold --message m --yes
        --- stderr
        10 buried
        20 $ qless pop p &>/dev/null
        --- exit 4
    "#]]);
    redis.must_be_clean();
    redis.session(expect![[r#"
        30 $ qless retry --group hold --yes
        --- stderr
        10 retried
    "#]]);
    assert_eq!(order(&redis), ALL);
    redis.must_be_clean();
}

#[test]
fn named_jobs_of_a_lane_are_buried_from_its_end() {
    let redis = lane();
    redis.session(expect![[r#"
        20 $ qless bury p4 p5 p6 p1 --group hold --message m -o jid
        p6
        p1
        p5
        p4
        --- stderr
        4 buried
    "#]]);
    assert_eq!(order(&redis), ["p2", "p3", "p7", "p8", "p9", "p10"]);
    redis.at(30).run("retry p6 p1 p4 p5").exits(0);
    let sorted = ["p2", "p3", "p7", "p8", "p9", "p10", "p1", "p4", "p5", "p6"];
    assert_eq!(order(&redis), sorted);
}

#[test]
fn a_lane_whose_first_job_failed_is_retried_with_that_job_first() {
    let redis = lane();
    redis.session(expect![[r#"
        20 $ qless pop p --worker w -o jid
        p1
        21 $ qless fail p1 --worker w --group hold --message m
        21 $ qless bury --key k --group hold --message m --yes &>/dev/null
        30 $ qless retry --group hold --yes &>/dev/null
    "#]]);
    assert_eq!(order(&redis), ALL);
}

#[test]
fn a_lane_that_one_call_put_is_retried_in_its_order() {
    let redis = Redis::start();
    let lines = ALL.map(|jid| format!("{{\"jid\":\"{jid}\"}}\n"));
    redis.at(10).input(lines.concat()).session(expect![[r#"
        10 $ qless put p K --key k --from - &>/dev/null
        20 $ qless bury --key k --group hold --message m --yes &>/dev/null
        30 $ qless retry --group hold --yes &>/dev/null
    "#]]);
    assert_eq!(order(&redis), ALL);
}
