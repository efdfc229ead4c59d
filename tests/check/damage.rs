//! One kind of damage at a time, made by raw Redis commands in a database with something of
//! everything: what is found, what is repaired without approval and what only by name, and what
//! remains. For each: a scan writes nothing, no part of a job is lost, a second repair finds
//! nothing to do, everything can be reverted exactly, and every job that should run can be popped.
//! First call by call, then through the binary, which must report and do the same; one in six of
//! `make test`, and all of `make soak`, with the way back and with a repair of one queue.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::{Expect, expect};

use super::invariants::{Excuses, broken};
use super::slice::{NOW, busy, fill};
use crate::support::check_calls::{Finding, verify_all};
use crate::support::clean::{agree, tolerated};
use crate::support::core::{Core, Key, Reply};
use crate::support::random;
use crate::support::repair::{RepairCycle, RepairStages, Stage, jobs_preserved, repair_by_calls};
use crate::support::scan;

/// The findings as lines, each once.
fn lines(found: &[Finding]) -> Vec<String> {
    let lines: BTreeSet<String> = found.iter().map(Finding::describe).collect();
    lines.into_iter().collect()
}

/// The findings of three scans: the first in full, then the differences from its outcomes. A repair
/// leaves findings that need a decision and those that are only reported; naming all findings
/// leaves the latter. A single line has no line end.
pub(crate) fn report(found: &[Finding], left: &[Finding], remains: &[Finding]) -> String {
    let mut report = lines(found);
    for (title, before, stay, after) in [
        ("after repair", found, &["decide", "report"][..], left),
        ("after naming", left, &["report"], remains),
    ] {
        let mut wanted = before.to_vec();
        wanted.retain(|one| stay.contains(&one.outcome.as_str()));
        if lines(after) != lines(&wanted) {
            report.push(title.to_owned());
            report.extend(lines(after).iter().map(|line| format!("  {line}")));
            if after.is_empty() {
                report.push("  nothing".to_owned());
            }
        }
    }
    match &report[..] {
        [one] => one.clone(),
        lines => lines.iter().map(|line| format!("{line}\n")).collect(),
    }
}

/// Every job that should run can be popped, unless the check reported why not.
fn comes_out(core: &mut Core, remains: &[Finding]) {
    let after = core.dump();
    let jobs: BTreeMap<String, BTreeMap<String, String>> = after
        .0
        .iter()
        .filter_map(|(name, key)| match key {
            Key::Hash(job) => Some((name.strip_prefix("ql:j:")?.to_owned(), job.clone())),
            _ => None,
        })
        .collect();
    let mut queues: Vec<String> = jobs
        .values()
        .filter_map(|job| job.get("queue").cloned())
        .collect();
    queues.sort();
    queues.dedup();
    core.redis("DEL ql:paused_queues");
    core.redis("HDEL ql:config run-max-concurrency q-max-concurrency");
    for later in [20_000.0, 20_100.0] {
        for queue in queues.iter().filter(|queue| !queue.is_empty()) {
            let moment = (NOW + later).to_string();
            let answer = core.call(&[
                b"pop",
                moment.as_bytes(),
                queue.as_bytes(),
                b"popper",
                b"100",
            ]);
            if let Err(error) = answer {
                let output = remains.iter().any(|one| one.id == "key-type");
                assert!(output, "pop of {queue} says {error}");
            }
        }
    }
    for (jid, job) in jobs {
        let state = job.get("state").map_or("", String::as_str);
        let queue = job.get("queue").map_or("", String::as_str);
        if !["waiting", "stalled", "scheduled", "running"].contains(&state) || queue.is_empty() {
            continue;
        }
        let now = core.field(&jid, "worker").unwrap_or_default();
        let explained = remains.iter().any(|one| {
            one.item == jid
                || one.item.contains(&format!(":{jid}"))
                || one.item == format!("q:{queue}-work")
        });
        assert!(
            now == "popper" || core.state(&jid) == "failed" || explained,
            "{jid}, {state} in {queue}, did not come out: {:?}",
            core.dump().hash(&format!("ql:j:{jid}"))
        );
    }
}

fn damaged(damage: &[&str], expect: &Expect) {
    let mut core = busy();
    for line in damage {
        let reply = core.redis(line);
        assert!(!matches!(reply, Reply::Error(_)), "{line}: {reply:?}");
    }
    let before = core.dump();
    let found = verify_all(&mut core, NOW, "");
    let is_played = random::is_played(damage.concat().len(), 6);
    if is_played {
        scan::finds(&mut core, NOW, &found);
    }
    agree(&before, &found, Excuses::default()).unwrap_or_else(|fault| panic!("{fault}"));

    let course = repair_by_calls(&mut core, NOW, found);
    let RepairStages { stages, remains } = course.unwrap_or_else(|fault| panic!("{fault}"));
    let [before, repaired, named] = &stages;
    expect.assert_eq(&report(&before.findings, &repaired.findings, &remains));
    if remains.is_empty() {
        let mut wrong = broken(&named.keys, Excuses::default());
        wrong.retain(|text| !tolerated(text));
        assert_eq!(wrong, Vec::<String>::new(), "after the repair");
    }
    let mut cycle = RepairCycle::new(&mut core, NOW);
    let played = if is_played {
        cycle.full_cycle(before, repaired, named)
    } else {
        cycle.short_cycle(before, named)
    };
    played.unwrap_or_else(|fault| panic!("{fault}"));
    comes_out(&mut core, &remains);
    if is_played {
        one_queue(&mut core, damage, [before, repaired]);
    }
}

/// A repair of one queue causes no new findings, and a later repair of everything gives the same
/// result as without it.
fn one_queue(core: &mut Core, damage: &[&str], [before, repaired]: [&Stage; 2]) {
    fill(core);
    damage.iter().for_each(|line| drop(core.redis(line)));
    let queue = ["q", "run", "p"][damage.join("\n").len() % 3];
    let mut cycle = RepairCycle::new(core, NOW);
    let ran = cycle.repair(&format!("--queue {queue}"), "one");
    // Without the list of queues no queue can be named, and the error suggests a check of
    // everything.
    let unlisted = matches!(before.keys.0.get("ql:queues"), Some(Key::Text(_)));
    let report = ran.code() == 1 && unlisted && ran.stderr().contains("--only key-type");
    assert!(
        report || [0, 4, 7].contains(&ran.code()),
        "{}",
        ran.stderr()
    );
    jobs_preserved(&before.keys, &cycle.core.dump()).unwrap_or_else(|fault| panic!("{fault}"));
    let known = |one: &Finding| {
        let same = |other: &Finding| (&other.id, &other.item) == (&one.id, &one.item);
        before.findings.iter().chain(&repaired.findings).any(same)
    };
    let new: Vec<Finding> = verify_all(cycle.core, NOW, "")
        .into_iter()
        .filter(|one| !known(one) && one.id != "lost-key")
        .collect();
    assert_eq!(
        lines(&new),
        Vec::<String>::new(),
        "made by `--queue {queue}`"
    );
    cycle.repair("", "rest");
    cycle
        .has_keys(&repaired.keys)
        .unwrap_or_else(|fault| panic!("`--queue {queue}`, then all: {fault}"));
}

/// One test for each kind of damage: its name, its commands, the expected findings.
macro_rules! damages {
    ($($name:ident: $($command:literal)+ => $report:expr;)+) => {$(
        #[test]
        fn $name() {
            damaged(&[$($command),+], &$report);
        }
    )+};
}

damages! {
    a_waiting_job_is_deleted: "DEL ql:j:w2" => expect![[r#"
        ghost-waiting w2 found [q]
        history-orphan j:w2-history decide [no job]
        tag-index w2 found [x]
    "#]];

    a_waiting_job_with_dependents_is_deleted: "DEL ql:j:w1" => expect![[r#"
        dependency-missing d1 decide [w1]
        dependency-missing d2 decide [w1]
        edges-orphan j:w1-dependents decide [no job]
        ghost-waiting w1 found [q]
        history-orphan j:w1-history decide [no job]
        tag-index w1 found [x]
        tag-index w1 found [y]
        tracked-gone w1 decide []
    "#]];

    a_running_job_is_deleted: "DEL ql:j:r2" => expect![[r#"
        ghost-lock r2 found [run]
        history-orphan j:r2-history decide [no job]
        worker-stray r2 found [a]
    "#]];

    a_scheduled_job_is_deleted: "DEL ql:j:s2" => expect![[r#"
        ghost-scheduled s2 found [q]
        history-orphan j:s2-history decide [no job]
        tag-index s2 found [z]
    "#]];

    a_blocked_job_is_deleted:
        "DEL ql:j:d5"
        "DEL ql:j:d1" => expect![[r#"
            dependency-missing d3 decide [d1]
            dependency-one-sided d1 found [w1]
            edges-orphan j:d1-dependencies decide [no job]
            edges-orphan j:d1-dependents decide [no job]
            ghost-depends d1 found [q]
            ghost-waiting d5 found [q]
            history-orphan j:d1-history decide [no job]
            history-orphan j:d5-history decide [no job]
            tag-index d1 found [x]
        "#]];

    ids_of_nobody_are_in_every_set:
        "ZADD ql:q:q-work 5 nobody"
        "ZADD ql:q:q-locks 9 nobody"
        "ZADD ql:q:q-scheduled 5 nobody"
        "ZADD ql:q:q-depends 5 nobody"
        "ZADD ql:q:q-recur 5 nobody" => expect![[r#"
            ghost-depends nobody found [q]
            ghost-lock nobody found [q]
            ghost-recurring nobody found [q]
            ghost-scheduled nobody found [q]
            ghost-waiting nobody found [q]
            queue-stuck q report [locks since 9]
            after repair
              nothing
        "#]];

    a_template_is_deleted: "DEL ql:r:tpl" => expect!["ghost-recurring tpl found [q]"];

    a_binary_ghost: r#"ZADD ql:q:q-work 5 'a b\x'"# => expect![r#"ghost-waiting a b\x found [q]"#];

    a_running_job_is_still_waiting: "ZADD ql:q:run-work 3 r2" => expect!["in-two-sets r2 found [q:run-work]"];

    a_waiting_job_has_a_live_lock: "ZADD ql:q:q-locks 202000 w2"
        => expect!["in-two-sets w2 report [q:q-locks]"];

    a_waiting_job_has_a_dead_lock: "ZADD ql:q:q-locks 200900 w2"
        => expect!["in-two-sets w2 found [q:q-locks]"];

    a_waiting_job_has_only_a_live_lock:
        "ZREM ql:q:q-work w2"
        "ZADD ql:q:q-locks 202000 w2" => expect!["in-two-sets w2 report [q:q-locks]"];

    a_waiting_job_has_only_a_dead_lock:
        "ZREM ql:q:q-work w2"
        "ZADD ql:q:q-locks 200900 w2" => expect!["in-two-sets w2 found [q:q-locks]"];

    a_waiting_job_is_also_scheduled: "ZADD ql:q:q-scheduled 205000 w2"
        => expect!["in-two-sets w2 found [q:q-scheduled]"];

    a_waiting_job_is_only_scheduled:
        "ZREM ql:q:q-work w2"
        "ZADD ql:q:q-scheduled 205000 w2" => expect![""];

    a_waiting_job_is_only_blocked:
        "ZREM ql:q:q-work w2"
        "ZADD ql:q:q-depends 200000 w2" => expect!["in-two-sets w2 found [q:q-depends]"];

    a_scheduled_job_is_also_waiting: "ZADD ql:q:q-work 3 s2" => expect!["in-two-sets s2 found [q:q-work]"];

    a_scheduled_job_is_only_waiting:
        "ZREM ql:q:q-scheduled s2"
        "ZADD ql:q:q-work 2.99998 s2" => expect!["in-two-sets s2 found [q:q-work]"];

    a_blocked_job_is_also_waiting: "ZADD ql:q:q-work 0 d2" => expect!["in-two-sets d2 found [q:q-work]"];

    a_blocked_job_is_only_waiting:
        "ZREM ql:q:q-depends d2"
        "ZADD ql:q:q-work 0 d2" => expect!["in-two-sets d2 found [q:q-work]"];

    a_blocked_job_that_nobody_holds_is_locked: "ZADD ql:q:q-locks 230000 d2"
        => expect!["in-two-sets d2 found [q:q-locks]"];

    a_blocked_job_that_nobody_holds_is_locked_elsewhere: "ZADD ql:q:p-locks 230000 d2"
        => expect!["in-foreign-queue d2 found [q:p-locks]"];

    a_blocked_job_of_a_worker_is_locked:
        "HSET ql:j:d2 worker a"
        "ZADD ql:q:q-locks 230000 d2" => expect!["in-two-sets d2 report [q:q-locks]"];

    a_running_job_is_only_waiting:
        "ZREM ql:q:run-locks r2"
        "ZADD ql:q:run-work 0 r2" => expect!["in-two-sets r2 found [q:run-work]"];

    a_stalled_job_is_also_locked: "ZADD ql:q:run-locks 200500 st"
        => expect!["in-two-sets st found [q:run-locks]"];

    a_complete_job_is_in_the_work_set: "ZADD ql:q:run-work 0 c1"
        => expect!["in-two-sets c1 found [q:run-work]"];

    a_complete_job_is_locked: "ZADD ql:q:run-locks 207000 c2"
        => expect!["lock-without-run c2 found [q:run-locks]"];

    a_failed_job_waits_and_is_locked:
        "ZADD ql:q:run-work 0 f1"
        "ZADD ql:q:run-locks 9 f1" => expect![[r#"
            in-two-sets f1 found [q:run-work]
            lock-without-run f1 found [q:run-locks]
            queue-stuck run report [locks since 9]
            after repair
              nothing
        "#]];

    a_waiting_job_is_in_another_queue:
        "ZREM ql:q:q-work w2"
        "ZADD ql:q:p-work 6.99998 w2" => expect!["in-foreign-queue w2 found [q:p-work]"];

    a_waiting_job_is_also_in_another_queue: "ZADD ql:q:p-work 6.99998 w2"
        => expect!["in-foreign-queue w2 found [q:p-work]"];

    a_waiting_job_is_also_in_two_other_queues:
        "ZADD ql:q:p-work 6.99998 w2"
        "ZADD ql:q:run-scheduled 205000 w2" => expect![[r#"
            in-foreign-queue w2 found [q:p-work]
            in-foreign-queue w2 found [q:run-scheduled]
        "#]];

    a_waiting_job_is_only_in_two_other_queues:
        "ZREM ql:q:q-work w2"
        "ZADD ql:q:p-work 6.99998 w2"
        "ZADD ql:q:other-work 6.99998 w2" => expect![[r#"
            in-foreign-queue w2 found [q:other-work]
            in-foreign-queue w2 found [q:p-work]
            queue-unlisted other found []
        "#]];

    a_failed_job_is_in_three_sets:
        "ZADD ql:q:q-work 0 f1"
        "ZADD ql:q:q-scheduled 205000 f1"
        "ZADD ql:q:p-locks 1 f1"
        "ZADD ql:q:q-locks 1 f1" => expect![[r#"
            in-two-sets f1 found [q:q-scheduled]
            in-two-sets f1 found [q:q-work]
            lock-without-run f1 found [q:p-locks]
            lock-without-run f1 found [q:q-locks]
            queue-stuck p report [locks since 1]
            queue-stuck q report [locks since 1]
            after repair
              nothing
        "#]];

    a_template_is_only_in_two_other_queues:
        "ZREM ql:q:q-recur tpl"
        "ZADD ql:q:p-recur 205000 tpl"
        "ZADD ql:q:run-recur 205060 tpl" => expect!["recurring-foreign tpl found [p]"];

    clocks_of_a_job_are_wrong_twice:
        "HSET ql:j:r1 time 99999999"
        "HSET ql:j:r1 expires 99999999"
        "ZADD ql:q:run-locks 99999999 r1" => expect![[r#"
            clock r1 report [locked until 99999999]
            clock r1 report [time is 99999999]
        "#]];

    a_running_job_is_locked_elsewhere_until_never:
        "ZREM ql:q:run-locks r2"
        "ZADD ql:q:q-locks 201000000 r2" => expect!["in-foreign-queue r2 found [q:q-locks]"];

    a_running_job_is_locked_elsewhere_and_should_have_been_until_never:
        "ZREM ql:q:run-locks r2"
        "HSET ql:j:r2 expires 201000000"
        "ZADD ql:q:q-locks 205500 r2" => expect![[r#"
            clock r2 report [locked until 201000000]
            in-foreign-queue r2 found [q:q-locks]
            after repair
              nothing
        "#]];

    a_running_job_has_only_an_absurd_lock_elsewhere:
        "ZREM ql:q:run-locks r2"
        "HSET ql:j:r2 expires soon"
        "ZADD ql:q:q-locks 201000000 r2" => expect!["in-foreign-queue r2 report [q:q-locks]"];

    a_running_job_has_no_lock_and_should_have_it_until_never:
        "ZREM ql:q:run-locks r2"
        "HSET ql:j:r2 expires 201000000" => expect![[r#"
            clock r2 report [locked until 201000000]
            running-without-lock r2 report [run]
        "#]];

    a_running_job_only_waits_and_should_be_locked_until_never:
        "ZREM ql:q:run-locks r2"
        "HSET ql:j:r2 expires 201000000"
        "ZADD ql:q:run-work 0 r2" => expect![[r#"
            clock r2 report [locked until 201000000]
            in-two-sets r2 report [q:run-work]
        "#]];

    jobs_with_wrong_clocks_are_nowhere:
        "HSET ql:j:w2 time 201000000"
        "HSET ql:j:d2 time 201000000"
        "HSET ql:j:c1 time 201000000"
        "ZREM ql:q:q-work w2"
        "ZREM ql:q:q-depends d2"
        "ZREM ql:completed c1"
        "ZREM ql:t:x w2" => expect![[r#"
            clock c1 report [time is 201000000]
            clock d2 report [time is 201000000]
            clock w2 report [time is 201000000]
            completed-unlisted c1 report []
            in-no-set d2 found [q]
            in-no-set w2 found [q]
            tag-index w2 found [x]
        "#]];

    only_a_wrong_clock_tells_when_a_job_was_put:
        "HDEL ql:j:w2 time"
        "HDEL ql:j:w1 time"
        "DEL ql:j:w2-history"
        "RPUSH ql:j:w2-history [201000000,\"x\"]"
        "RPUSH ql:j:w1-history [201000000,\"x\"]" => expect![[r#"
            job-unreadable w1 found [no time]
            job-unreadable w2 report [no time]
        "#]];

    a_waiting_job_is_only_scheduled_elsewhere:
        "ZREM ql:q:q-work w2"
        "ZADD ql:q:p-scheduled 205000 w2" => expect!["in-foreign-queue w2 found [q:p-scheduled]"];

    a_scheduled_job_is_in_another_queue:
        "ZREM ql:q:q-scheduled s2"
        "ZADD ql:q:other-scheduled 205000 s2" => expect![[r#"
            in-foreign-queue s2 found [q:other-scheduled]
            queue-unlisted other found []
        "#]];

    a_running_job_is_locked_in_another_queue:
        "ZREM ql:q:run-locks r2"
        "ZADD ql:q:q-locks 205500 r2" => expect!["in-foreign-queue r2 found [q:q-locks]"];

    a_running_job_is_also_locked_in_another_queue:
        "ZADD ql:q:q-locks 205500 r2" => expect!["in-foreign-queue r2 found [q:q-locks]"];

    a_running_job_waits_in_another_queue:
        "ZREM ql:q:run-locks r2"
        "ZADD ql:q:q-work 0 r2" => expect!["in-foreign-queue r2 found [q:q-work]"];

    a_blocked_job_is_in_another_queue:
        "ZREM ql:q:q-depends d2"
        "ZADD ql:q:p-depends 200032 d2" => expect!["in-foreign-queue d2 found [q:p-depends]"];

    a_waiting_job_is_locked_elsewhere:
        "ZREM ql:q:q-work w2"
        "ZADD ql:q:p-locks 202000 w2" => expect!["in-foreign-queue w2 report [q:p-locks]"];

    a_queue_field_was_changed: "HSET ql:j:w2 queue p" => expect!["in-foreign-queue w2 found [q:q-work]"];

    a_waiting_job_is_in_no_set: "ZREM ql:q:q-work w2" => expect!["in-no-set w2 found [q]"];

    a_stalled_job_is_in_no_set: "ZREM ql:q:run-work st" => expect!["in-no-set st found [run]"];

    a_scheduled_job_is_in_no_set: "ZREM ql:q:q-scheduled s2" => expect!["in-no-set s2 found [q]"];

    a_scheduled_job_with_a_known_time_is_nowhere:
        "ZREM ql:q:q-scheduled s2"
        "HSET ql:j:s2 scheduled 205000" => expect![[r#"
            field-leftover s2 decide [scheduled]
            in-no-set s2 found [q]
        "#]];

    a_blocked_job_is_in_no_set: "ZREM ql:q:q-depends d2" => expect!["in-no-set d2 found [q]"];

    a_work_set_is_missing: "DEL ql:q:q-work" => expect![[r#"
        in-no-set d5 found [q]
        in-no-set tpl-1 found [q]
        in-no-set tpl-2 found [q]
        in-no-set w1 found [q]
        in-no-set w2 found [q]
    "#]];

    a_running_job_has_no_lock: "ZREM ql:q:run-locks r2" => expect!["running-without-lock r2 found [run]"];

    a_running_job_has_no_lock_and_no_time:
        "ZREM ql:q:run-locks r2"
        "HSET ql:j:r2 expires soon" => expect!["running-without-lock r2 found [run]"];

    all_locks_are_missing: "DEL ql:q:run-locks" => expect![[r#"
        running-without-lock r1 found [run]
        running-without-lock r2 found [run]
        running-without-lock rg found [run]
    "#]];

    a_state_was_changed: "HSET ql:j:w2 state running" => expect![[r#"
        in-two-sets w2 found [q:q-work]
        after repair
          queue-stuck q report [locks since 0]
    "#]];

    a_running_job_is_marked_as_waiting: "HSET ql:j:r2 state waiting" => expect![[r#"
        in-two-sets r2 report [q:run-locks]
        worker-stray r2 found [a]
    "#]];

    a_queue_was_forgotten: "ZREM ql:queues q" => expect!["queue-unlisted q found []"];

    the_list_of_queues_is_missing: "DEL ql:queues" => expect![[r#"
        queue-unlisted idle found []
        queue-unlisted late found []
        queue-unlisted p found []
        queue-unlisted q found []
        queue-unlisted run found []
    "#]];

    an_empty_queue_is_listed_and_one_is_paused:
        "ZADD ql:queues 5 nothing"
        "SADD ql:paused_queues typo" => expect![[r#"
            queue-empty nothing report [nothing in it]
            queue-empty typo report [paused, nothing in it]
        "#]];

    nothing_is_left_of_a_waiting_job_but_its_state:
        "DEL ql:j:w2"
        "HSET ql:j:w2 state waiting" => expect![[r#"
            job-stub w2 found [nothing but leftovers]
            after repair
              history-orphan j:w2-history decide [no job]
              lost-key lost:run1:j:w2 decide [hash of 1]
        "#]];

    a_stub_is_everywhere:
        "DEL ql:j:w2"
        "HSET ql:j:w2 state waiting remaining 4 grace 1"
        "ZADD ql:q:p-locks 9 w2"
        "ZADD ql:completed 9 w2"
        "RPUSH ql:f:G w2" => expect![[r#"
            job-stub w2 found [nothing but leftovers]
            queue-stuck p report [locks since 9]
            after repair
              history-orphan j:w2-history decide [no job]
              lost-key lost:run1:j:w2 decide [hash of 3]
        "#]];

    a_job_has_no_jid: "HDEL ql:j:w2 jid" => expect!["job-stub w2 decide [no jid]"];

    a_job_has_another_jid: "HSET ql:j:w2 jid w3" => expect!["job-stub w2 decide [jid is w3]"];

    a_job_has_no_klass: "HDEL ql:j:w2 klass" => expect!["job-stub w2 report [no klass]"];

    a_job_has_no_data: "HDEL ql:j:w2 data" => expect!["job-stub w2 report [no data]"];

    a_job_has_no_state: "HDEL ql:j:w2 state" => expect!["job-stub w2 report [no state]"];

    a_job_has_no_queue: "HDEL ql:j:w2 queue" => expect!["job-stub w2 report [no queue]"];

    a_job_has_an_unknown_state: "HSET ql:j:w2 state sleeping" => expect!["job-unreadable w2 report [state]"];

    data_is_not_json: "HSET ql:j:w2 data {]" => expect!["job-unreadable w2 report [data]"];

    priority_is_missing: "HDEL ql:j:w2 priority" => expect!["job-unreadable w2 found [no priority]"];

    priority_is_infinite:
        "HSET ql:j:w2 priority inf"
        "ZADD ql:q:q-work inf w2" => expect!["job-unreadable w2 found [priority]"];

    priority_is_a_word: "HSET ql:j:w2 priority high" => expect!["job-unreadable w2 found [priority]"];

    tags_are_missing: "HDEL ql:j:w1 tags" => expect!["job-unreadable w1 found [no tags]"];

    tags_are_no_json: r#"HSET ql:j:w1 tags ["x","# => expect!["job-unreadable w1 found [tags]"];

    tags_are_nested: r#"HSET ql:j:w1 tags [["x"]]"# => expect!["job-unreadable w1 found [tags]"];

    tags_are_an_object: r#"HSET ql:j:w1 tags {"a":"x"}"# => expect!["job-unreadable w1 found [tags]"];

    remaining_is_a_fraction: "HSET ql:j:w2 remaining 3.5" => expect!["job-unreadable w2 found [remaining]"];

    remaining_is_missing: "HDEL ql:j:w2 remaining" => expect!["job-unreadable w2 found [no remaining]"];

    remaining_is_a_word:
        "HSET ql:j:w2 remaining some"
        "HSET ql:j:w2 retries 2" => expect!["job-unreadable w2 found [remaining]"];

    retries_are_a_word: "HSET ql:j:w2 retries some" => expect!["job-unreadable w2 report [retries]"];

    worker_and_expires_are_missing: "HDEL ql:j:w2 worker expires" => expect![[r#"
        job-unreadable w2 found [no expires]
        job-unreadable w2 found [no worker]
    "#]];

    time_is_missing: "HDEL ql:j:w2 time" => expect!["job-unreadable w2 found [no time]"];

    history_holds_what_is_no_entry:
        r#"RPUSH ql:j:w2-history oops 5 {} [1] ["x","y"] [1e999,"x"]"#
        => expect!["job-unreadable w2 found [history]"];

    history_holds_entries_of_another_shape:
        r#"RPUSH ql:j:w2-history [1,"x",5] [1,"x",[2,{}]] [1,"x",null] [1,"a\"b","t"] [1,"x",{"a":1e999}] [1,"x",{},4]"# => expect![[r#"
            job-unreadable w2 found [history]
            job-unreadable w2 report [history has entries of more than three elements]
        "#]];

    a_history_of_an_old_version_is_no_json:
        "HSET ql:j:w2 history garbage" => expect!["job-unreadable w2 found [field history of a waiting job]"];

    a_history_of_an_old_version_is_a_number:
        "HSET ql:j:w2 history 5" => expect!["job-unreadable w2 found [field history of a waiting job]"];

    a_history_of_an_old_version_holds_a_number:
        "HSET ql:j:w2 history [5]" => expect!["job-unreadable w2 found [field history of a waiting job]"];

    a_history_of_an_old_version_is_an_empty_text:
        "HSET ql:j:w2 history ''" => expect!["job-unreadable w2 found [field history of a waiting job]"];

    a_history_of_an_old_version_is_a_json_text:
        r#"HSET ql:j:w2 history '""'"# => expect!["job-unreadable w2 found [field history of a waiting job]"];

    a_history_of_an_old_version_is_null:
        "HSET ql:j:w2 history null" => expect!["job-unreadable w2 found [field history of a waiting job]"];

    a_history_of_an_old_version_does_not_say_when_the_job_was_put:
        r#"HSET ql:j:w2 history [{"q":"x"}]"#
        => expect!["job-unreadable w2 found [field history of a waiting job]"];

    a_history_of_an_old_version_can_be_read_in_part:
        r#"HSET ql:j:w2 history [{"q":"q","put":5.5,"popped":7,"worker":"w","done":null},{"put":1e999}]"#
        => expect!["job-unreadable w2 found [field history of a waiting job]"];

    jobs_that_do_not_wait_have_an_unreadable_old_history:
        "HSET ql:j:f1 history garbage"
        "HSET ql:j:s1 history garbage" => expect![[r#"
            job-unreadable f1 found [field history]
            job-unreadable s1 found [field history]
        "#]];

    a_history_of_an_old_version_is_unreadable_and_the_list_is_no_list:
        r#"HSET ql:j:w2 history [{"put":1},5]"#
        "DEL ql:j:w2-history"
        "SET ql:j:w2-history x" => expect!["key-type j:w2-history decide [is a string, not a list]"];

    a_time_for_later_is_no_number:
        "HSET ql:j:d4 scheduled garbage" => expect!["job-unreadable d4 found [scheduled]"];

    a_time_for_later_is_empty:
        "HSET ql:j:d1 scheduled ''" => expect!["job-unreadable d1 found [scheduled]"];

    a_time_for_later_is_nan:
        "HSET ql:j:d4 scheduled nan" => expect!["job-unreadable d4 found [scheduled]"];

    a_time_for_later_never_comes:
        "HSET ql:j:d4 scheduled inf"
        "HSET ql:j:d1 scheduled -3" => expect![[r#"
            never-due d1 report [scheduled for -3]
            never-due d4 report [scheduled for inf]
        "#]];

    scheduled_jobs_are_never_due:
        "ZADD ql:q:q-scheduled inf s1"
        "ZADD ql:q:q-scheduled -5 s2"
        "ZADD ql:q:p-scheduled 201000000000 c3" => expect![[r#"
            never-due c3 report [scheduled for 201000000000]
            never-due s1 report [scheduled for inf]
            never-due s2 report [scheduled for -5]
        "#]];

    a_scheduled_job_waits_for_minus_infinity:
        "ZADD ql:q:q-scheduled -inf s1" => expect!["never-due s1 report [scheduled for -inf]"];

    a_hash_is_in_the_place_of_the_dependencies_of_a_job: "HSET ql:j:w2-dependencies a b"
        => expect!["key-type j:w2-dependencies decide [is a hash, not a set]"];

    hashes_are_in_the_places_of_keys_of_a_job_that_is_gone:
        "HSET ql:j:gone-history a b"
        "HSET ql:j:gone-dependents a b"
        "ZADD ql:q:q-work 3 gone-dependents" => expect![[r#"
            key-type j:gone-dependents decide [is a hash, not a set]
            key-type j:gone-history decide [is a hash, not a list]
        "#]];

    more_tries_remain_than_retries_allow: "HSET ql:j:w2 remaining 9"
        => expect!["remaining w2 report [9 of 5]"];

    grace_and_scheduled_were_left_behind:
        "HSET ql:j:w2 grace 1"
        "HSET ql:j:w2 scheduled 300000" => expect![[r#"
            field-leftover w2 decide [grace]
            field-leftover w2 decide [scheduled]
        "#]];

    a_renewed_lock_still_has_its_grace: "HSET ql:j:r2 grace 1" => expect!["field-leftover r2 decide [grace]"];

    a_jid_ends_like_a_companion:
        "HSET ql:j:x-history jid x-history klass K data {} state waiting" => expect![[r#"
            job-stub x-history report [no queue]
            job-unreadable x-history found [no expires]
            job-unreadable x-history found [no priority]
            job-unreadable x-history found [no remaining]
            job-unreadable x-history found [no tags]
            job-unreadable x-history found [no worker]
            job-unreadable x-history report [no retries]
            job-unreadable x-history report [no time]
            key-type j:x-history report [is a hash, not a list]
            key-type j:x-history report [job id with a reserved ending]
        "#]];

    a_lock_ends_before_the_job_expires: "ZADD ql:q:run-locks 202000 r2"
        => expect!["score r2 found [locked until 202000, expires 205003]"];

    a_lock_ends_after_the_job_expires: "ZADD ql:q:run-locks 209000 r2"
        => expect!["score r2 found [locked until 209000, expires 205003]"];

    the_expiry_of_a_job_is_not_a_time: "HSET ql:j:r2 expires soon"
        => expect!["score r2 found [locked until 205003, expires soon]"];

    a_lock_is_in_milliseconds: "ZADD ql:q:run-locks 201000000000 r2"
        => expect!["clock r2 report [locked until 201000000000]"];

    a_time_is_in_milliseconds: "HSET ql:j:w2 time 201000000000"
        => expect!["clock w2 report [time is 201000000000]"];

    a_score_is_beyond_its_priority: "ZADD ql:q:q-work 9 w2"
        => expect!["score w2 found [priority 7, placed at 9]"];

    a_waiting_job_has_an_infinite_score: "ZADD ql:q:q-work inf w2"
        => expect!["score w2 found [priority 7, placed at inf]"];

    a_worker_lists_a_job_it_does_not_hold:
        "ZADD ql:w:a:jobs 205000 w2 205000 nobody" => expect![[r#"
            worker-stray nobody found [a]
            worker-stray w2 found [a]
        "#]];

    a_worker_does_not_list_a_job_it_holds: "ZREM ql:w:a:jobs r2" => expect!["worker-gap r2 found [a]"];

    a_worker_lists_a_job_with_another_expiry: "ZADD ql:w:a:jobs 100 r2" => expect!["worker-gap r2 found [a]"];

    a_worker_was_aged_out:
        "DEL ql:w:a:jobs"
        "ZREM ql:workers a" => expect![[r#"
            worker-gap r1 report [a]
            worker-gap r2 report [a]
            worker-gap rg report [a]
            worker-unknown a report []
        "#]];

    a_worker_that_holds_jobs_is_not_listed: "ZREM ql:workers a" => expect!["worker-unknown a report []"];

    a_dependency_is_missing: "DEL ql:j:p1" => expect![[r#"
        dependency-missing d4 decide [p1]
        edges-orphan j:p1-dependents decide [no job]
        ghost-waiting p1 found [p]
        history-orphan j:p1-history decide [no job]
        tag-index p1 found [y]
    "#]];

    a_dependency_is_gone_with_all:
        "DEL ql:j:p1 ql:j:p1-history ql:j:p1-dependents"
        "ZREM ql:q:p-work p1"
        "ZREM ql:t:y p1"
        "ZINCRBY ql:tags -1 y" => expect!["dependency-missing d4 decide [p1]"];

    one_of_two_dependencies_is_gone:
        "DEL ql:j:r1 ql:j:r1-history"
        "ZREM ql:q:run-locks r1"
        "ZREM ql:w:a:jobs r1"
        "ZREM ql:t:x r1"
        "ZINCRBY ql:tags -1 x" => expect![[r#"
            dependency-missing d2 decide [r1]
            edges-orphan j:r1-dependents decide [no job]
        "#]];

    a_dependency_is_complete:
        "SADD ql:j:d1-dependencies c1"
        "SADD ql:j:c1-dependents d1" => expect!["dependency-complete d1 found [c1]"];

    the_only_dependency_is_complete:
        "SMOVE ql:j:d1-dependencies ql:j:d1-gone w1"
        "DEL ql:j:d1-gone"
        "SREM ql:j:w1-dependents d1"
        "SADD ql:j:d1-dependencies c1"
        "SADD ql:j:c1-dependents d1" => expect!["dependency-complete d1 found [c1]"];

    the_only_dependency_is_complete_while_somebody_works:
        "DEL ql:j:d1-dependencies"
        "SREM ql:j:w1-dependents d1"
        "SADD ql:j:d1-dependencies c1"
        "HSET ql:j:d1 worker a"
        "ZADD ql:q:q-locks 202000 d1" => expect![[r#"
            dependency-complete d1 report [c1]
            in-two-sets d1 report [q:q-locks]
        "#]];

    the_only_dependency_is_complete_while_somebody_works_elsewhere:
        "DEL ql:j:d1-dependencies"
        "SREM ql:j:w1-dependents d1"
        "SADD ql:j:d1-dependencies c1"
        "HSET ql:j:d1 worker a"
        "ZADD ql:q:p-locks 202000 d1" => expect![[r#"
            dependency-complete d1 report [c1]
            in-foreign-queue d1 report [q:p-locks]
        "#]];

    two_dependencies_are_complete_while_somebody_works:
        "DEL ql:j:d1-dependencies"
        "SREM ql:j:w1-dependents d1"
        "SADD ql:j:d1-dependencies c1 c2"
        "HSET ql:j:d1 worker a"
        "ZADD ql:q:q-locks 202000 d1" => expect![[r#"
            dependency-complete d1 found [c1]
            dependency-complete d1 report [c2]
            in-two-sets d1 report [q:q-locks]
        "#]];

    a_dependency_is_gone_while_somebody_works:
        "DEL ql:j:p1 ql:j:p1-history ql:j:p1-dependents"
        "ZREM ql:q:p-work p1"
        "ZREM ql:t:y p1"
        "ZINCRBY ql:tags -1 y"
        "HSET ql:j:d4 worker a"
        "ZADD ql:q:q-locks 202000 d4" => expect![[r#"
            dependency-missing d4 report [p1]
            in-two-sets d4 report [q:q-locks]
        "#]];

    a_job_waits_for_nothing_while_somebody_works_elsewhere:
        "DEL ql:j:d4-dependencies ql:j:p1-dependents"
        "HSET ql:j:d4 worker a"
        "ZADD ql:q:p-locks 202000 d4" => expect![[r#"
            depends-on-nothing d4 report [locked]
            in-foreign-queue d4 report [q:p-locks]
        "#]];

    a_job_in_no_set_waits_for_a_complete_one:
        "SMOVE ql:j:d1-dependencies ql:j:d1-gone w1"
        "DEL ql:j:d1-gone"
        "SREM ql:j:w1-dependents d1"
        "SADD ql:j:d1-dependencies c1"
        "SADD ql:j:c1-dependents d1"
        "ZREM ql:q:q-depends d1" => expect![[r#"
            dependency-complete d1 found [c1]
            in-no-set d1 found [q]
        "#]];

    a_delayed_job_waits_for_a_complete_one:
        "DEL ql:j:d4-dependencies"
        "SREM ql:j:p1-dependents d4"
        "SADD ql:j:d4-dependencies c1" => expect!["dependency-complete d4 found [c1]"];

    a_dependency_does_not_list_its_dependent: "SREM ql:j:w1-dependents d1"
        => expect!["dependency-one-sided d1 found [w1]"];

    a_dependency_lists_a_job_that_is_not_a_dependent: "SADD ql:j:w1-dependents p2 d3 nobody" => expect![[r#"
        dependency-one-sided d3 found [w1]
        dependency-one-sided nobody found [w1]
        dependency-one-sided p2 found [w1]
    "#]];

    the_dependencies_of_a_job_are_missing: "DEL ql:j:d2-dependencies" => expect![[r#"
        dependency-one-sided d2 found [r1]
        dependency-one-sided d2 found [w1]
    "#]];

    nobody_knows_what_a_job_waits_for:
        "DEL ql:j:d1-dependencies"
        "SREM ql:j:w1-dependents d1" => expect!["depends-on-nothing d1 found []"];

    one_of_those_who_know_what_waits_is_in_another_queue:
        "DEL ql:j:d2-dependencies"
        "ZADD ql:q:other-work 1 w1" => expect![[r#"
            dependency-one-sided d2 found [r1]
            dependency-one-sided d2 found [w1]
            in-foreign-queue w1 found [q:other-work]
            queue-unlisted other found []
        "#]];

    a_waiting_job_is_scheduled_and_misplaced:
        "ZADD ql:q:q-scheduled 205000 w2"
        "ZADD ql:q:q-work 99 w2" => expect![[r#"
            in-two-sets w2 found [q:q-scheduled]
            score w2 found [priority 7, placed at 99]
        "#]];

    a_running_job_with_grace_has_no_lock:
        "HSET ql:j:r2 grace 1"
        "ZREM ql:w:a:jobs r2"
        "ZREM ql:q:run-locks r2" => expect!["running-without-lock r2 found [run]"];

    a_list_holds_a_stray_and_lacks_a_failed_job:
        "RPUSH ql:f:G ghost"
        "LREM ql:f:G 0 f1" => expect![[r#"
            failed-stray ghost found [G]
            failed-unlisted f1 found [G]
        "#]];

    only_a_job_that_is_gone_knows_what_waits_for_it:
        "DEL ql:j:p1 ql:j:d4-dependencies"
        "ZREM ql:q:p-work p1" => expect![[r#"
            dependency-missing d4 decide [p1]
            edges-orphan j:p1-dependents decide [no job]
            history-orphan j:p1-history decide [no job]
            tag-index p1 found [y]
        "#]];

    only_a_job_without_queue_knows_what_waits_for_it:
        "HDEL ql:j:p1 queue"
        "DEL ql:j:d4-dependencies" => expect!["job-stub p1 report [no queue]"];

    only_a_job_of_an_unknown_state_knows_what_waits_for_it:
        "HSET ql:j:p1 state sleeping"
        "DEL ql:j:d4-dependencies" => expect!["job-unreadable p1 report [state]"];

    only_a_stub_knows_what_waits_for_it:
        "DEL ql:j:p1"
        "HSET ql:j:p1 state waiting"
        "DEL ql:j:d4-dependencies" => expect![[r#"
            job-stub p1 found [nothing but leftovers]
            after repair
              dependency-missing d4 decide [p1]
              edges-orphan j:p1-dependents decide [no job]
              history-orphan j:p1-history decide [no job]
              lost-key lost:run1:j:p1 decide [hash of 1]
        "#]];

    only_a_text_knows_what_waits_for_it:
        "DEL ql:j:p1"
        "SET ql:j:p1 text"
        "DEL ql:j:d4-dependencies" => expect!["key-type j:p1 decide [is a string, not a hash]"];

    a_text_is_no_content_of_a_queue:
        "SET ql:q:nowhere-work text" => expect!["key-type q:nowhere-work decide [is a string, not a zset]"];

    the_dependents_of_a_job_are_unreadable:
        "SET ql:j:w2-dependents text"
        "DEL ql:j:d4-dependencies ql:j:p1-dependents"
        => expect!["key-type j:w2-dependents decide [is a string, not a set]"];

    a_delayed_job_waits_for_nothing:
        "DEL ql:j:d4-dependencies ql:j:p1-dependents" => expect!["depends-on-nothing d4 found []"];

    a_job_waits_for_itself:
        "SADD ql:j:d1-dependencies d1"
        "SADD ql:j:d1-dependents d1" => expect!["dependency-cycle d1 report [d1]"];

    jobs_wait_for_each_other:
        "SADD ql:j:d1-dependencies d3"
        "SADD ql:j:d3-dependents d1" => expect!["dependency-cycle d1 report [d3 needs d1]"];

    a_waiting_job_has_dependencies:
        "SADD ql:j:w2-dependencies w1"
        "SADD ql:j:w1-dependents w2" => expect!["dependency-one-sided w2 decide [w1]"];

    a_job_waits_for_a_failed_one:
        "SADD ql:j:d1-dependencies f1"
        "SADD ql:j:f1-dependents d1" => expect!["depends-on-failed d1 report [f1]"];

    companions_have_no_job:
        r#"RPUSH ql:j:nobody-history '[1,"put",{}]'"#
        "SADD ql:j:nobody-dependencies w1"
        "SADD ql:j:nobody-dependents w2" => expect![[r#"
            edges-orphan j:nobody-dependencies decide [no job]
            edges-orphan j:nobody-dependents decide [no job]
            history-orphan j:nobody-history decide [no job]
        "#]];

    a_failed_job_is_in_no_list: "LREM ql:f:G 0 f1" => expect!["failed-unlisted f1 found [G]"];

    a_failure_list_is_missing: "DEL ql:f:H" => expect![[r#"
        failed-unlisted f3 found [H]
        group-set H found [empty]
    "#]];

    a_failed_job_is_in_the_list_of_another_group:
        "LREM ql:f:G 0 f1"
        "RPUSH ql:f:H f1" => expect!["failed-stray f1 found [H]"];

    a_failed_job_is_in_two_lists: "LPUSH ql:f:H f1" => expect!["failed-twice f1 found [H]"];

    a_failed_job_is_in_a_list_twice: "RPUSH ql:f:G f1" => expect!["failed-twice f1 found [G]"];

    lists_hold_jobs_that_have_not_failed:
        "RPUSH ql:f:G w1 nobody"
        "LPUSH ql:f:H r1" => expect![[r#"
            failed-stray nobody found [G]
            failed-stray r1 found [H]
            failed-stray w1 found [G]
        "#]];

    a_list_holds_only_a_stray:
        "RPUSH ql:f:new w1"
        "SADD ql:failures new" => expect!["failed-stray w1 found [new]"];

    an_unlisted_group_holds_only_misplaced_jobs: "RPUSH ql:f:new w1 nobody" => expect![[r#"
        failed-stray nobody found [new]
        failed-stray w1 found [new]
    "#]];

    an_unknown_list_holds_a_stray_and_more:
        "RPUSH ql:f:G w1 nobody"
        "SREM ql:failures G" => expect![[r#"
            failed-stray nobody found [G]
            failed-stray w1 found [G]
            group-set G found [unlisted]
        "#]];

    a_group_is_not_listed: "SREM ql:failures G" => expect!["group-set G found [unlisted]"];

    several_jobs_are_in_a_failure_list_where_they_do_not_belong:
        "RPUSH ql:f:G w1 w2 nobody"
        "LPUSH ql:f:G r1" => expect![[r#"
            failed-stray nobody found [G]
            failed-stray r1 found [G]
            failed-stray w1 found [G]
            failed-stray w2 found [G]
        "#]];

    a_group_is_empty: "SADD ql:failures nothing" => expect!["group-set nothing found [empty]"];

    a_failure_is_missing: "HDEL ql:j:f1 failure" => expect!["job-unreadable f1 found [no failure]"];

    a_failure_is_no_json:
        "HSET ql:j:f1 failure {]"
        "LREM ql:f:G 0 f1" => expect![[r#"
            failed-unlisted f1 found [G]
            job-unreadable f1 found [failure]
        "#]];

    a_failure_tells_no_moment:
        "HSET ql:j:f1 failure '{\"group\":\"H\",\"message\":\"why\"}'" => expect![[r#"
            failed-stray f1 found [G]
            job-unreadable f1 found [failure]
        "#]];

    a_failure_tells_no_moment_and_no_history_does:
        "HSET ql:j:f1 failure '{\"group\":\"G\"}'"
        "DEL ql:j:f1-history" => expect!["job-unreadable f1 report [failure]"];

    a_failure_is_missing_and_no_history_tells:
        "HDEL ql:j:f1 failure"
        "DEL ql:j:f1-history" => expect!["job-unreadable f1 report [no failure]"];

    a_failure_is_empty_and_no_history_tells:
        "HSET ql:j:f1 failure {}"
        "DEL ql:j:f1-history"
        "LREM ql:f:G 0 f1" => expect!["job-unreadable f1 report [failure, in no list]"];

    a_counter_is_too_high: "HINCRBY ql:s:stats:172800:run failed 3"
        => expect!["failed-counter s:stats:172800:run found [7, is 4]"];

    a_counter_is_below_zero: "HSET ql:s:stats:172800:run failed -1"
        => expect!["failed-counter s:stats:172800:run found [-1, is 4]"];

    a_counter_is_missing: "HDEL ql:s:stats:172800:run failed"
        => expect!["failed-counter s:stats:172800:run found [none, is 4]"];

    the_statistics_of_a_day_are_missing: "DEL ql:s:stats:172800:run"
        => expect!["failed-counter s:stats:172800:run found [none, is 4]"];

    a_counter_belongs_to_another_day: "HSET ql:s:stats:86400:run failed 2"
        => expect!["failed-counter s:stats:86400:run found [2, is 0]"];

    a_complete_job_is_not_listed: "ZREM ql:completed c1" => expect!["completed-unlisted c1 found []"];

    the_list_of_complete_jobs_is_missing: "DEL ql:completed" => expect![[r#"
        completed-unlisted c1 found []
        completed-unlisted c2 found []
    "#]];

    jobs_that_are_not_complete_are_listed:
        "ZADD ql:completed 200000 w1 200000 r1 200000 f1" => expect![[r#"
            completed-stray f1 found [failed]
            completed-stray r1 found [running]
            completed-stray w1 found [waiting]
        "#]];

    a_complete_job_is_deleted: "DEL ql:j:c1" => expect![[r#"
        completed-stray c1 found [gone]
        history-orphan j:c1-history decide [no job]
        tag-index c1 found [z]
        tracked-gone c1 decide []
    "#]];

    a_complete_job_has_a_queue:
        "HSET ql:j:c1 queue q"
        "ZADD ql:q:q-work 0 c1" => expect!["completed-stray c1 report [complete in queue q]"];

    a_completion_is_in_the_future: "ZADD ql:completed 201000000 c1"
        => expect!["clock c1 report [completed at 201000000]"];

    a_tag_does_not_list_a_job: "ZREM ql:t:x w1" => expect!["tag-index w1 found [x]"];

    a_tag_lists_a_job_without_the_tag: "ZADD ql:t:x 5 r2 6 nobody" => expect![[r#"
        tag-index nobody found [x]
        tag-index r2 found [x]
    "#]];

    a_tag_set_is_missing: "DEL ql:t:x" => expect![[r#"
        tag-index d1 found [x]
        tag-index r1 found [x]
        tag-index w1 found [x]
        tag-index w2 found [x]
    "#]];

    a_tag_counter_is_wrong: "ZINCRBY ql:tags 5 x" => expect!["tag-count x found [9, is 4]"];

    a_tag_counter_is_missing: "ZREM ql:tags x" => expect!["tag-count x found [none, is 4]"];

    tag_counters_without_a_set: "ZADD ql:tags 0 none -3 less" => expect![[r#"
        tag-count less found [-3, is 0]
        tag-count none found [0, is 0]
    "#]];

    the_tags_of_a_job_were_changed: r#"HSET ql:j:w1 tags ["y","new"]"# => expect![[r#"
        tag-index w1 found [new]
        tag-index w1 found [x]
    "#]];

    a_tracked_job_is_missing: "ZADD ql:tracked 5 nobody" => expect!["tracked-gone nobody decide []"];

    a_client_with_another_core_set_a_maximum: "HSET ql:th:api id api maximum 3"
        => expect!["throttle-unlisted api found []"];

    an_earlier_version_set_a_maximum: "HSET ql:th:api id api maximum 3 changed 200007.5"
        => expect!["throttle-unlisted api found []"];

    a_listed_maximum_expired: "ZADD ql:throttles 5 api" => expect!["throttle-gone api found []"];

    the_list_of_throttles_is_a_text:
        "SET ql:throttles text"
        "HSET ql:th:api id api maximum 3" => expect!["key-type throttles decide [is a string, not a zset]"];

    a_template_has_no_next_run: "ZREM ql:q:q-recur tpl" => expect!["recurring-unscheduled tpl decide [q]"];

    a_template_has_no_next_run_and_its_queue_is_not_known:
        "ZREM ql:q:q-recur tpl"
        "HSET ql:r:tpl queue new" => expect![[r#"
            queue-unlisted new found []
            recurring-unscheduled tpl decide [new]
            after repair
              queue-empty new report [nothing in it]
              recurring-unscheduled tpl decide [new]
            after naming
              nothing
        "#]];

    an_unlisted_queue_schedules_only_a_missing_template: "ZADD ql:q:new-recur 205000 nobody" => expect![[r#"
        ghost-recurring nobody found [new]
        queue-unlisted new found []
    "#]];

    a_template_is_in_another_queue:
        "ZREM ql:q:q-recur tpl"
        "ZADD ql:q:p-recur 300080 tpl" => expect!["recurring-foreign tpl found [p]"];

    a_template_is_in_two_queues: "ZADD ql:q:p-recur 300080 tpl" => expect!["recurring-foreign tpl found [p]"];

    an_interval_is_zero: "HSET ql:r:tpl interval 0" => expect![[r#"
        recurring-invalid tpl found [interval]
        after repair
          recurring-invalid tpl report [interval]
    "#]];

    an_interval_is_missing: "HDEL ql:r:tpl interval" => expect![[r#"
        recurring-invalid tpl found [interval]
        after repair
          recurring-invalid tpl report [interval]
    "#]];

    the_tags_of_a_template_are_not_json: "HSET ql:r:tpl tags ["
        => expect!["recurring-invalid tpl found [tags]"];

    the_numbers_of_a_template_are_words:
        "HSET ql:r:tpl priority high retries some backlog all" => expect![[r#"
            recurring-invalid tpl found [backlog]
            recurring-invalid tpl found [priority]
            recurring-invalid tpl found [retries]
        "#]];

    the_count_of_a_template_is_not_a_number: "HSET ql:r:tpl count many"
        => expect!["recurring-invalid tpl report [count]"];

    a_template_has_no_data_klass_and_queue:
        "HDEL ql:r:tpl data klass queue" => expect![[r#"
            recurring-invalid tpl report [data]
            recurring-invalid tpl report [klass]
            recurring-invalid tpl report [queue]
        "#]];

    the_document_of_a_paused_template_is_not_json: "HSET ql:paused_recurring tpp {"
        => expect!["recurring-invalid tpp report [paused: its document cannot be read]"];

    the_document_of_a_paused_template_is_of_another:
        r#"HSET ql:paused_recurring tpp '{"since":"5","fields":["jid","other"]}'"#
        => expect!["recurring-invalid tpp report [paused: its document cannot be read]"];

    a_paused_template_has_only_a_jid_and_wrong_numbers:
        r#"HSET ql:paused_recurring tpp '{"since":"5","fields":["jid","tpp","priority","high","interval","-1"]}'"# => expect![[r#"
            recurring-invalid tpp report [paused: backlog]
            recurring-invalid tpp report [paused: count]
            recurring-invalid tpp report [paused: data]
            recurring-invalid tpp report [paused: interval]
            recurring-invalid tpp report [paused: klass]
            recurring-invalid tpp report [paused: priority]
            recurring-invalid tpp report [paused: queue]
            recurring-invalid tpp report [paused: retries]
            recurring-invalid tpp report [paused: tags]
        "#]];

    a_paused_template_never_runs:
        r#"HSET ql:paused_recurring tpp '{"since":"5","next":"-5","fields":["jid","tpp","queue","q","interval","5","count","0","priority","0","retries","5","backlog","0","tags","{}","data","{}","klass","K"]}'"#
        => expect!["recurring-invalid tpp report [paused: next run at -5]"];

    a_template_never_runs: "ZADD ql:q:q-recur -5 tpl" => expect![[r#"
        queue-stuck q report [recur since -5]
        recurring-invalid tpl report [next run at -5]
    "#]];

    a_template_has_not_counted_its_children: "HSET ql:r:tpl count 0"
        => expect!["recurring-count tpl found [2]"];

    a_job_is_a_text:
        "DEL ql:j:w2"
        "SET ql:j:w2 text" => expect!["key-type j:w2 decide [is a string, not a hash]"];

    a_set_is_a_text:
        "DEL ql:q:idle-work"
        "SET ql:q:idle-work text" => expect!["key-type q:idle-work decide [is a string, not a zset]"];

    companions_are_texts:
        "DEL ql:j:w1-history ql:j:w1-dependents ql:j:d2-dependencies"
        "SET ql:j:w1-history text"
        "SET ql:j:w1-dependents text"
        "SET ql:j:d2-dependencies text" => expect![[r#"
            key-type j:d2-dependencies decide [is a string, not a set]
            key-type j:w1-dependents decide [is a string, not a set]
            key-type j:w1-history decide [is a string, not a list]
        "#]];

    indexes_are_texts:
        "DEL ql:f:H ql:t:z ql:w:b:jobs"
        "SET ql:f:H text"
        "SET ql:t:z text"
        "SET ql:w:b:jobs text" => expect![[r#"
            key-type f:H decide [is a string, not a list]
            key-type t:z decide [is a string, not a zset]
            key-type w:b:jobs decide [is a string, not a zset]
        "#]];

    names_are_texts:
        "DEL ql:queues ql:tags ql:failures ql:completed ql:workers ql:paused_queues ql:config ql:tracked"
        "SET ql:queues text"
        "SET ql:tags text"
        "SET ql:failures text"
        "SET ql:completed text"
        "SET ql:workers text"
        "SET ql:paused_queues text"
        "SET ql:config text"
        "SET ql:tracked text" => expect![[r#"
            key-type completed decide [is a string, not a zset]
            key-type config decide [is a string, not a hash]
            key-type failures decide [is a string, not a set]
            key-type paused_queues decide [is a string, not a set]
            key-type queues decide [is a string, not a zset]
            key-type tags decide [is a string, not a zset]
            key-type tracked decide [is a string, not a zset]
            key-type workers decide [is a string, not a zset]
            after naming
              worker-unknown a report []
              worker-unknown b report []
        "#]];

    keys_of_nobody:
        "SET ql:nothing text"
        "HSET ql:x:y a b"
        "SET ql:q:mail-none text" => expect![[r#"
            key-unknown nothing report [string]
            key-unknown q:mail-none report [string]
            key-unknown x:y report [hash]
        "#]];

    keys_set_aside_by_an_earlier_repair: "HSET ql:lost:r0:j:old state waiting"
        => expect!["lost-key lost:r0:j:old decide [hash of 1]"];

    settings_are_no_numbers:
        "HSET ql:config heartbeat soon q-heartbeat '' max-job-history all q-max-concurrency -1 application 5x" => expect![[r#"
            config-value heartbeat report [is no number]
            config-value max-job-history report [is no number]
            config-value q-heartbeat report [is no number]
            config-value q-max-concurrency report [is below 0]
        "#]];

    an_unused_setting_is_not_a_number: "HSET ql:config stats-history soon"
        => expect!["config-value stats-history report [nobody reads it, is no number]"];

    a_queue_runs_more_than_it_may: "HSET ql:config run-max-concurrency 1"
        => expect!["over-limit run report [3 of 1]"];

    statistics_do_not_add_up:
        "HINCRBY ql:s:wait:172800:run total 1"
        "HSET ql:s:run:172800:run vk -5"
        "HSET ql:s:wait:172800:late mean nan" => expect![[r#"
            stats-sum s:run:172800:run report [vk is -5]
            stats-sum s:wait:172800:late report [mean is nan]
            stats-sum s:wait:172800:run report [total is 14, slots hold 13]
        "#]];

    work_is_old:
        "ZADD ql:q:late-locks 100 l1"
        "HSET ql:j:l1 expires 100"
        "ZADD ql:w:b:jobs 100 l1" => expect!["queue-stuck late report [locks since 100]"];

    clocks_are_wrong:
        "ZADD ql:workers 201000000 a"
        "ZADD ql:queues 201000000 q" => expect![[r#"
            clock a report [seen at 201000000]
            clock q report [first seen at 201000000]
        "#]];
}
