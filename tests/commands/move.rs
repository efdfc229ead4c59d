//! `qless move`

use expect_test::expect;

use crate::support::jobs::mixed;
use crate::support::redis::Redis;
use crate::support::text::Shows;

/// What a list shows of the jobs of a queue.
fn listed(queue: &str) -> String {
    format!("jobs --queue {queue} --columns jid,state,pri,remaining,detail --time-format unix")
}

#[test]
fn move_puts_a_job_into_another_queue() {
    let redis = mixed();
    redis.at(20).run("move w --to slow").shows(expect![[""]]);
    redis.at(20).run("move f1 --to slow").shows(expect![[""]]);
    redis.at(20).run("move c --to slow").shows(expect![[""]]);
    redis.at(21).run(&listed("slow")).shows(expect![[r#"
        f1	waiting	7	3/3	waits since 20
        w	waiting	0	5/5	waits since 20
        c	waiting	0	5/5	waits since 20
    "#]]);
    redis.at(22).run("move w --to slow").shows(expect![[r#"
        --- stderr
        error: cannot move `w`: it is in `slow` already
        --- exit 5
    "#]]);
}

#[test]
fn move_keeps_a_future_due_time_unless_one_is_given() {
    let redis = mixed();
    redis.at(20).run("move s d --to slow").shows(expect![[r#"
        --- stderr
        2 moved
    "#]]);
    redis.at(21).run(&listed("slow")).shows(expect![[r#"
        s	scheduled	0	5/5	612
        d	depends	0	5/5	on 1 job
    "#]]);
    redis.session(expect![[r#"
        22 $ qless move s d --to slow --delay 10m
        --- stderr
        2 moved
        23 $ qless move d --to other
    "#]]);
    redis.at(24).run("cancel w --dependents release --yes");
    redis.at(25).run(&listed("other")).shows(expect![[r#"
        d	scheduled	0	5/5	622
    "#]]);
    redis
        .at(26)
        .run("move s --to slow --delay 0s")
        .shows(expect![[""]]);
    redis.at(27).run(&listed("slow")).shows(expect![[r#"
        s	waiting	0	5/5	waits since 26
    "#]]);
    redis
        .at(28)
        .run("move s --to slow --at 1970-01-01T01:00:00Z")
        .shows(expect![[""]]);
    redis.at(29).run(&listed("slow")).shows(expect![[r#"
        s	scheduled	0	5/5	3600
    "#]]);
}

#[test]
fn move_takes_a_running_job_only_with_force() {
    let redis = mixed();
    redis.session(expect![[r#"
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
    "#]]);
    // No worker holds an expired lock.
    redis.ok(22, "pop mail --worker w2");
    redis.at(5000).run("move w --to slow").shows(expect![[""]]);
}

#[test]
fn a_selector_for_move_means_all_but_complete_jobs() {
    let redis = mixed();
    redis.session(expect![[r#"
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
    "#]]);
    redis.at(21).run(&listed("slow")).shows(expect![[r#"
        f1	waiting	7	3/3	waits since 20
        w	waiting	0	5/5	waits since 20
        s	scheduled	0	5/5	612
        d	depends	0	5/5	on 1 job
    "#]]);
    redis.session(expect![[r#"
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
    redis.ok(1, "put mail K --jid later --delay 1h");
    let moved = |to: &str, when: &str| {
        let line = format!("move a b c d later --to {to} --spread 10m {when}");
        redis.ok(10, &line);
        redis.ok(11, &listed(to))
    };
    moved("at-once", "").shows(expect![[r#"
        a	waiting	0	5/5	waits since 10
        b	scheduled	0	5/5	130
        c	scheduled	0	5/5	250
        d	scheduled	0	5/5	370
        later	scheduled	0	5/5	3601"#]]);
    moved("delayed", "--delay 1m").shows(expect![[r#"
        a	scheduled	0	5/5	70
        b	scheduled	0	5/5	190
        c	scheduled	0	5/5	310
        d	scheduled	0	5/5	430
        later	scheduled	0	5/5	550"#]]);
    moved("at", "--at 1970-01-01T00:30:00Z").shows(expect![[r#"
        a	scheduled	0	5/5	1800
        b	scheduled	0	5/5	1920
        c	scheduled	0	5/5	2040
        d	scheduled	0	5/5	2160
        later	scheduled	0	5/5	2280"#]]);
}
