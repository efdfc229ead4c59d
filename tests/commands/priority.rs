//! `qless priority`

use expect_test::expect;

use crate::support::redis::Redis;

fn waiting() -> Redis {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid a").ok();
    redis
        .at(2)
        .run("put mail K --jid b --priority 5 --tag vip")
        .ok();
    redis
}

#[test]
fn the_jid_and_both_priorities_are_printed() {
    let redis = waiting();
    redis.at(10).run("priority a --to 10").shows(expect![[r#"
            a	0	10
        "#]]);
    redis.at(10).run("priority a b --to -3").shows(expect![[r#"
            a	10	-3
            b	5	-3
            --- stderr
            2 changed
        "#]]);
    redis
        .at(10)
        .run("priority a --to 7 -o raw")
        .shows(expect![[r#"
            7
        "#]]);
    redis
        .at(10)
        .run("priority a --to 10 -o ndjson")
        .shows(expect![[r#"
            {"jid":"a","result":"done","code":"ok","detail":"7 → 10","queue":"mail","state_before":"waiting","state_after":null}
            {"summary":{"action":"priority","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        "#]]);
    assert_eq!(redis.at(11).run("pop mail --worker w -o jid").ok(), "a");
}

#[test]
fn an_invalid_priority_is_refused() {
    let redis = waiting();
    redis
        .at(10)
        .run("priority a --to inf")
        .shows(expect![[r#"
            --- stderr
            error: `--to` expects a whole number between -9007199254740992 and 9007199254740992, not `inf`
            --- exit 2
        "#]]);
    redis
        .at(10)
        .run("priority a --to 9007199254740993")
        .exits(2);
    redis.at(10).run("priority a").shows(expect![[r#"
        --- stderr
        error: `--to` is missing
        hint: usage: `qless priority --to <N> <JID>...`
        --- exit 2
    "#]]);
    redis
        .at(10)
        .run("priority nope none --to 1")
        .shows(expect![[r#"
            --- stderr
            0 changed, 2 skipped
              skipped  2  gone: nope, none
            --- exit 4
        "#]]);
}

#[test]
fn a_selector_for_priority_asks_for_confirmation() {
    let redis = waiting();
    redis
        .at(10)
        .run("priority --tag vip --to 9")
        .shows(expect![[r#"
            --- stderr
            error: cannot ask whether to change the priority of 1 waiting job on unix://DIR/s; nothing was changed
            hint: add `--yes`
            --- exit 9
        "#]]);
    redis
        .at(10)
        .run("priority --tag vip --to 9 --yes")
        .shows(expect![[r#"
            b	5	9
            --- stderr
            1 changed
        "#]]);
    redis
        .at(10)
        .run("priority --tag none --to 9 --yes")
        .shows(expect![[r#"
            --- stderr
            no jobs to change the priority of
        "#]]);
}

#[test]
fn a_selector_selects_no_complete_jobs_unless_it_says_so() {
    let redis = waiting();
    redis.at(3).run("pop mail --worker w").ok();
    redis.at(4).run("complete b --worker w").ok();
    redis
        .at(10)
        .run("priority --klass K --to 9 --dry-run")
        .shows(expect![[r#"
            --- stderr
            Change the priority of 1 waiting job on unix://DIR/s

              mail	waiting	1	1970-01-01T00:00:01.000Z	1970-01-01T00:00:01.000Z
            would change the priority of 1
        "#]]);
    redis
        .at(10)
        .run("priority --klass K --state complete,waiting --to 9 --dry-run")
        .shows(expect![[r#"
            --- stderr
            Change the priority of 2 jobs on unix://DIR/s

              –	complete	1	1970-01-01T00:00:04.000Z	1970-01-01T00:00:04.000Z
              mail	waiting	1	1970-01-01T00:00:01.000Z	1970-01-01T00:00:01.000Z
            would change the priority of 2
        "#]]);
}
