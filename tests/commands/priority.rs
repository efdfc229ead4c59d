//! `qless priority`

use expect_test::expect;

use crate::support::redis::Redis;

fn waiting() -> Redis {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a");
    redis.ok(2, "put mail K --jid b --priority 5 --tag vip");
    redis
}

#[test]
fn the_jid_and_both_priorities_are_printed() {
    let redis = waiting();
    redis.session(expect![[r#"
        10 $ qless priority a --to 10
        a	0	10
        10 $ qless priority a b --to -3
        a	10	-3
        b	5	-3
        --- stderr
        2 changed
        10 $ qless priority a --to 7 -o raw
        7
        10 $ qless priority a --to 10 -o ndjson
        {"jid":"a","result":"done","code":"ok","detail":"7 → 10","queue":"mail","state_before":"waiting","state_after":"waiting"}
        {"summary":{"action":"priority","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
    "#]]);
    assert_eq!(redis.ok(11, "pop mail --worker w -o jid"), "a");
}

#[test]
fn an_invalid_priority_is_refused_and_a_selector_asks_for_confirmation() {
    let redis = waiting();
    redis.session(expect![[r#"
        10 $ qless priority a --to inf
        --- stderr
        error: `--to` expects a whole number between -9007199254740992 and 9007199254740992, not `inf`
        --- exit 2
        10 $ qless priority a --to 9007199254740993 &>/dev/null
        --- exit 2
        10 $ qless priority a
        --- stderr
        error: `--to` is missing
        hint: usage: `qless priority --to <N> <JID>...`
        --- exit 2
        10 $ qless priority nope none --to 1
        --- stderr
        0 changed, 2 skipped
          skipped  2  gone: nope, none
        --- exit 4
        10 $ qless priority --tag vip --to 9
        --- stderr
        error: cannot ask whether to change the priority of 1 waiting job on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        10 $ qless priority --tag vip --to 9 --yes
        b	5	9
        --- stderr
        1 changed
        10 $ qless priority --tag none --to 9 --yes
        --- stderr
        no jobs to change the priority of
    "#]]);
}

#[test]
fn a_selector_selects_no_complete_jobs_unless_it_says_so() {
    let redis = waiting();
    redis.ok(3, "pop mail --worker w");
    redis.ok(4, "complete b --worker w");
    redis.session(expect![[r#"
        10 $ qless priority --klass K --to 9 --dry-run
        --- stderr
        Change the priority of 1 waiting job on unix://DIR/s

          mail	waiting	1	1970-01-01T00:00:01.000Z	1970-01-01T00:00:01.000Z
        would change the priority of 1
        10 $ qless priority --klass K --state complete,waiting --to 9 --dry-run
        --- stderr
        Change the priority of 2 jobs on unix://DIR/s

          –	complete	1	1970-01-01T00:00:04.000Z	1970-01-01T00:00:04.000Z
          mail	waiting	1	1970-01-01T00:00:01.000Z	1970-01-01T00:00:01.000Z
        would change the priority of 2
    "#]]);
}
