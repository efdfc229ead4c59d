//! `qless move`

use expect_test::expect;

use crate::support::jobs::mixed;
use crate::support::redis::Redis;

#[test]
fn move_puts_a_job_into_another_queue() {
    mixed().session(expect![[r#"
        20 $ qless move w --to slow
        20 $ qless move f1 --to slow
        20 $ qless move c --to slow
        21 $ qless jobs --queue slow --columns jid,state,pri,remaining,detail --time-format unix
        f1	waiting	7	3/3	waits since 20
        w	waiting	0	5/5	waits since 20
        c	waiting	0	5/5	waits since 20
        22 $ qless move w --to slow
        --- stderr
        error: cannot move `w`: it is in `slow` already
        --- exit 5
    "#]]);
}

#[test]
fn move_keeps_a_future_due_time_unless_one_is_given() {
    mixed().session(expect![[r#"
        20 $ qless move s d --to slow
        --- stderr
        2 moved
        21 $ qless jobs --queue slow --columns jid,state,detail --time-format unix
        s	scheduled	612
        d	depends	on 1 job
        22 $ qless move s d --to slow --delay 10m
        --- stderr
        2 moved
        23 $ qless move d --to other
        24 $ qless cancel w --dependents release --yes &>/dev/null
        25 $ qless jobs --queue other --columns jid,state,detail --time-format unix
        d	scheduled	622
        26 $ qless move s --to slow --delay 0s
        27 $ qless jobs --queue slow --columns jid,state,detail --time-format unix
        s	waiting	waits since 26
        28 $ qless move s --to slow --at 1970-01-01T01:00:00Z
        29 $ qless jobs --queue slow --columns jid,state,detail --time-format unix
        s	scheduled	3600
    "#]]);
}

#[test]
fn move_takes_a_running_job_only_with_force() {
    // No worker holds an expired lock.
    mixed().session(expect![[r#"
        20 $ qless move r --to 'slow lane'
        --- stderr
        error: cannot move `r`: it is running, held by `w1`
        hint: take its lock away: `qless move --force --to='slow lane' r`
        --- exit 5
        20 $ qless move r --to 'slow lane' --force
        21 $ qless complete r --worker w1
        --- stderr
        error: cannot complete `r`: its state is `waiting`, not `running`
        --- exit 5
        22 $ qless pop mail --worker w2 -o jid
        w
        5000 $ qless move w --to slow
    "#]]);
}

#[test]
fn a_selector_for_move_means_all_but_complete_jobs() {
    mixed().session(expect![[r#"
        20 $ qless move --queue mail --to slow --dry-run
        --- stderr
        Move 4 jobs on unix://DIR/s

          mail	depends	1	1970-01-01T00:00:13.000Z	1970-01-01T00:00:13.000Z
          mail	failed	1	1970-01-01T00:00:07.000Z	1970-01-01T00:00:07.000Z
          mail	scheduled	1	1970-01-01T00:00:12.000Z	1970-01-01T00:00:12.000Z
          mail	waiting	1	1970-01-01T00:00:11.000Z	1970-01-01T00:00:11.000Z

          all go to `slow` with fresh retries; 1 of them failed or is complete: it runs again
          queue `slow` is new
        would move 4, 1 skipped
          skipped  1  running, held by `w1`: r
        20 $ qless move --queue mail --to slow
        --- stderr
        error: cannot ask whether to move 4 jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        20 $ qless move --queue mail --to slow --yes
        --- stderr
        4 moved, 1 skipped
          skipped  1  running, held by `w1`: r
        21 $ qless jobs --queue slow --columns jid,state
        f1	waiting
        w	waiting
        s	scheduled
        d	depends
        21 $ qless move --state complete --to slow --yes -o jid
        c
        --- stderr
        1 moved
        21 $ qless move w
        --- stderr
        error: `--to` is missing
        hint: usage: `qless move --to <QUEUE> <JID>...`
        --- exit 2
        21 $ qless move w --to ''
        --- stderr
        error: `--to` is empty
        --- exit 2
        21 $ qless move w --queue mail --to slow
        --- stderr
        error: give either jids or flags that select jobs, not both
        --- exit 2
    "#]]);
}

#[test]
fn move_spreads_many_jobs_over_time() {
    let redis = Redis::start();
    for jid in ["a", "b", "c", "d"] {
        redis.ok(1, &format!("put mail K --jid {jid}"));
    }
    redis.session(expect![[r#"
        1 $ qless put mail K --jid later --delay 1h &>/dev/null
        10 $ qless move a b c d later --to at-once --spread 10m &>/dev/null
        11 $ qless jobs --queue at-once --columns jid,state,detail --time-format unix
        a	waiting	waits since 10
        b	scheduled	130
        c	scheduled	250
        d	scheduled	370
        later	scheduled	3601
        10 $ qless move a b c d later --to delayed --spread 10m --delay 1m &>/dev/null
        11 $ qless jobs --queue delayed --columns jid,state,detail --time-format unix
        a	scheduled	70
        b	scheduled	190
        c	scheduled	310
        d	scheduled	430
        later	scheduled	550
        10 $ qless move a b c d later --to at --spread 10m --at 1970-01-01T00:30:00Z &>/dev/null
        11 $ qless jobs --queue at --columns jid,state,detail --time-format unix
        a	scheduled	1800
        b	scheduled	1920
        c	scheduled	2040
        d	scheduled	2160
        later	scheduled	2280
    "#]]);
}
