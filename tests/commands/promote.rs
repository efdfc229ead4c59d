//! `qless promote`

use expect_test::expect;

use crate::support::jobs::mixed;
use crate::support::redis::Redis;

#[test]
fn promote_makes_a_scheduled_job_wait() {
    mixed().session(expect![[r#"
        20 $ qless promote s
        21 $ qless jobs --queue mail --state waiting --columns jid,state,remaining,detail --time-format unix
        w	waiting	5/5	waits since 11
        s	waiting	5/5	waits since 20
        22 $ qless promote s
        --- stderr
        error: cannot promote `s`: its state is `waiting`
        --- exit 5
    "#]]);
}

#[test]
fn jobs_that_are_not_scheduled_are_refused() {
    mixed().session(expect![[r#"
        20 $ qless promote w
        --- stderr
        error: cannot promote `w`: its state is `waiting`
        --- exit 5
        20 $ qless promote d
        --- stderr
        error: cannot promote `d`: it waits for other jobs
        hint: let it wait no longer: `qless depends --off-all d`
        --- exit 5
        20 $ qless promote r
        --- stderr
        error: cannot promote `r`: it is running, held by `w1`
        --- exit 5
        20 $ qless promote f1
        --- stderr
        error: cannot promote `f1`: its state is `failed`
        hint: `qless retry f1`
        --- exit 5
        20 $ qless promote c
        --- stderr
        error: cannot promote `c`: it is complete
        --- exit 5
        20 $ qless promote nope
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        20 $ printf 'w\ns\nnope\nd\n' | qless promote - -o ndjson
        {"jid":"w","result":"skipped","code":"state_changed","detail":"it is waiting","queue":"mail","state_before":"waiting","state_after":null}
        {"jid":"nope","result":"skipped","code":"gone","detail":"it does not exist","queue":null,"state_before":null,"state_after":null}
        {"jid":"d","result":"skipped","code":"state_changed","detail":"it waits for other jobs","queue":"mail","state_before":"depends","state_after":null}
        {"jid":"s","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"scheduled","state_after":"waiting"}
        {"summary":{"action":"promote","dry_run":false,"context":null,"matched":4,"done":1,"skipped":3,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        1 promoted, 3 skipped
          skipped  1  gone: nope
                   1  it waits for other jobs: d
                   1  waiting: w
    "#]]);
}

#[test]
fn a_selector_for_promote_means_scheduled_jobs() {
    let redis = mixed();
    redis.session(expect![[r#"
        20 $ qless promote --queue mail
        --- stderr
        error: cannot ask whether to promote 1 scheduled job on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        20 $ qless promote --queue mail --dry-run
        --- stderr
        Promote 1 scheduled job on unix://DIR/s

          mail	scheduled	1	1970-01-01T00:00:12.000Z	1970-01-01T00:00:12.000Z
        would promote 1
        20 $ qless promote --queue mail --yes -o jid
        s
        --- stderr
        1 promoted
        20 $ qless promote --queue mail --yes
        --- stderr
        no jobs to promote
    "#]]);
}

#[test]
fn promote_spreads_many_jobs_over_time() {
    let redis = Redis::start();
    for jid in ["a", "b", "c", "d"] {
        redis.ok(1, &format!("put mail K --jid {jid} --delay 1h"));
    }
    redis.session(expect![[r#"
        10 $ qless promote --queue mail --spread 2m --yes
        --- stderr
        4 promoted
        11 $ qless jobs --queue mail --columns jid,state,detail --time-format unix
        a	waiting	waits since 10
        b	scheduled	40
        c	scheduled	70
        d	scheduled	100
    "#]]);
}
