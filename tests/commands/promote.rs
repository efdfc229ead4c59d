//! `qless promote`

use expect_test::expect;

use crate::support::jobs::mixed;
use crate::support::redis::Redis;

/// What a list shows.
const COLUMNS: &str = "jobs --columns jid,state,queue,remaining,detail --time-format unix";

#[test]
fn promote_makes_a_scheduled_job_wait() {
    let redis = mixed();
    redis.at(20).run("promote s").shows(expect![[""]]);
    redis
        .at(21)
        .run(&format!("{COLUMNS} --queue mail --state waiting"))
        .shows(expect![[r#"
            w	waiting	mail	5/5	waits since 11
            s	waiting	mail	5/5	waits since 20
        "#]]);
    redis.at(22).run("promote s").shows(expect![[r#"
        --- stderr
        error: cannot promote `s`: its state is `waiting`
        --- exit 5
    "#]]);
}

#[test]
fn jobs_that_are_not_scheduled_are_refused() {
    let redis = mixed();
    for jid in ["w", "d", "r", "f1", "c", "nope"] {
        redis
            .at(20)
            .run(&format!("promote {jid}"))
            .shows(match jid {
                "w" => expect![[r#"
                    --- stderr
                    error: cannot promote `w`: its state is `waiting`
                    --- exit 5
                "#]],
                "d" => expect![[r#"
                    --- stderr
                    error: cannot promote `d`: it waits for other jobs
                    hint: let it wait no longer: `qless depends --off-all d`
                    --- exit 5
                "#]],
                "r" => expect![[r#"
                    --- stderr
                    error: cannot promote `r`: it is running, held by `w1`
                    --- exit 5
                "#]],
                "f1" => expect![[r#"
                    --- stderr
                    error: cannot promote `f1`: its state is `failed`
                    hint: `qless retry f1`
                    --- exit 5
                "#]],
                "c" => expect![[r#"
                    --- stderr
                    error: cannot promote `c`: it is complete
                    --- exit 5
                "#]],
                _ => expect![[r#"
                    --- stderr
                    error: job `nope` does not exist
                    --- exit 4
                "#]],
            });
    }
}

#[test]
fn scheduled_jobs_are_promoted_and_the_others_skipped() {
    let redis = mixed();
    redis
        .at(20)
        .input("w\ns\nnope\nd\n")
        .run("promote - -o ndjson")
        .shows(expect![[r#"
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
    "#]]);
    redis
        .at(11)
        .run(&format!("{COLUMNS} --queue mail"))
        .shows(expect![[r#"
            a	waiting	mail	5/5	waits since 10
            b	scheduled	mail	5/5	40
            c	scheduled	mail	5/5	70
            d	scheduled	mail	5/5	100
        "#]]);
}
