//! Damage by raw Redis commands in a database with something of everything, several kinds at a time
//! if they are about different items: what is found, what is repaired without approval and what only
//! by name, and what remains. For each: a scan writes nothing, no part of a job is lost, a second repair finds
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

/// One test for each database: its name, the commands that damage it, the expected findings. A finding that is only
/// reported stands apart from those that are repaired: [`broken`] verifies only a state without findings.
macro_rules! damages {
    ($($name:ident: $($command:literal)+ => $report:expr;)+) => {$(
        #[test]
        fn $name() {
            damaged(&[$($command),+], &$report);
        }
    )+};
}

damages! {
    jobs_of_each_state_are_deleted: "DEL ql:j:w2 ql:j:r2 ql:j:s2 ql:j:d1 ql:j:d5 ql:j:c1" => expect![[r#"
        completed-stray c1 found [gone]
        dependency-missing d3 decide [d1]
        dependency-one-sided d1 found [w1]
        edges-orphan j:d1-dependencies decide [no job]
        edges-orphan j:d1-dependents decide [no job]
        ghost-depends d1 found [q]
        ghost-lock r2 found [run]
        ghost-scheduled s2 found [q]
        ghost-waiting d5 found [q]
        ghost-waiting w2 found [q]
        history-orphan j:c1-history decide [no job]
        history-orphan j:d1-history decide [no job]
        history-orphan j:d5-history decide [no job]
        history-orphan j:r2-history decide [no job]
        history-orphan j:s2-history decide [no job]
        history-orphan j:w2-history decide [no job]
        tag-index c1 found [z]
        tag-index d1 found [x]
        tag-index s2 found [z]
        tag-index w2 found [x]
        tracked-gone c1 decide []
        worker-stray r2 found [a]
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

    ids_of_nobody_are_in_every_set:
        "ZADD ql:q:q-work 5 nobody"
        "ZADD ql:q:q-locks 9 nobody"
        "ZADD ql:q:q-scheduled 5 nobody"
        "ZADD ql:q:q-depends 5 nobody"
        "ZADD ql:q:q-recur 5 nobody"
        r#"ZADD ql:q:q-work 5 'a b\x'"#
        "DEL ql:r:tpl" => expect![[r#"
            ghost-depends nobody found [q]
            ghost-lock nobody found [q]
            ghost-recurring nobody found [q]
            ghost-recurring tpl found [q]
            ghost-scheduled nobody found [q]
            ghost-waiting a b\x found [q]
            ghost-waiting nobody found [q]
            queue-stuck q report [locks since 9]
            after repair
              nothing
        "#]];

    waiting_jobs_are_also_locked_or_scheduled:
        "ZADD ql:q:p-locks 200900 p2"
        "ZADD ql:q:q-scheduled 205000 d5" => expect![[r#"
            in-two-sets d5 found [q:q-scheduled]
            in-two-sets p2 found [q:p-locks]
        "#]];

    waiting_jobs_are_only_locked_scheduled_or_blocked:
        "ZREM ql:q:q-work d5"
        "ZREM ql:q:p-work p2 u1"
        "ZADD ql:q:p-locks 200900 p2"
        "ZADD ql:q:q-depends 200000 d5"
        "ZADD ql:q:p-scheduled 205000 u1" => expect![[r#"
            in-two-sets d5 found [q:q-depends]
            in-two-sets p2 found [q:p-locks]
        "#]];

    waiting_and_blocked_jobs_are_locked_as_if_they_ran:
        "ZADD ql:q:q-locks 202000 w2"
        "ZREM ql:q:q-work w1 d5"
        "ZADD ql:q:q-locks 202000 d5"
        "ZADD ql:q:p-locks 202000 w1"
        "HSET ql:j:d4 worker a"
        "ZADD ql:q:q-locks 230000 d4" => expect![[r#"
            in-foreign-queue w1 report [q:p-locks]
            in-two-sets d4 report [q:q-locks]
            in-two-sets d5 report [q:q-locks]
            in-two-sets w2 report [q:q-locks]
        "#]];

    scheduled_and_blocked_jobs_are_waiting_too_or_only:
        "ZADD ql:q:q-work 3 s2"
        "ZREM ql:q:q-scheduled s1"
        "ZADD ql:q:q-work -0.00003 s1"
        "ZADD ql:q:q-work 0 d2"
        "ZREM ql:q:q-depends d3"
        "ZADD ql:q:q-work 0 d3" => expect![[r#"
            in-two-sets d2 found [q:q-work]
            in-two-sets d3 found [q:q-work]
            in-two-sets s1 found [q:q-work]
            in-two-sets s2 found [q:q-work]
        "#]];

    blocked_jobs_that_nobody_holds_are_locked_here_and_elsewhere:
        "ZADD ql:q:q-locks 230000 d2"
        "ZADD ql:q:p-locks 230000 d1" => expect![[r#"
            in-foreign-queue d1 found [q:p-locks]
            in-two-sets d2 found [q:q-locks]
        "#]];

    running_stalled_and_ended_jobs_wait_or_are_locked:
        "ZADD ql:q:run-work 3 r2"
        "ZREM ql:q:run-locks r1"
        "ZADD ql:q:run-work 0 r1"
        "ZADD ql:q:run-locks 200500 st"
        "ZADD ql:q:run-work 0 c1"
        "ZADD ql:q:run-locks 207000 c2"
        "ZADD ql:q:run-work 0 f1"
        "ZADD ql:q:run-locks 9 f1"
        "ZADD ql:q:q-work 0 f2"
        "ZADD ql:q:q-scheduled 205000 f2"
        "ZADD ql:q:p-locks 1 f2"
        "ZADD ql:q:q-locks 1 f2" => expect![[r#"
            in-two-sets c1 found [q:run-work]
            in-two-sets f1 found [q:run-work]
            in-two-sets f2 found [q:q-scheduled]
            in-two-sets f2 found [q:q-work]
            in-two-sets r1 found [q:run-work]
            in-two-sets r2 found [q:run-work]
            in-two-sets st found [q:run-locks]
            lock-without-run c2 found [q:run-locks]
            lock-without-run f1 found [q:run-locks]
            lock-without-run f2 found [q:p-locks]
            lock-without-run f2 found [q:q-locks]
            queue-stuck p report [locks since 1]
            queue-stuck q report [locks since 1]
            queue-stuck run report [locks since 9]
            after repair
              nothing
        "#]];

    jobs_are_also_in_other_queues:
        "ZADD ql:q:p-work 6.99998 w2"
        "ZADD ql:q:p-work 4.99998 w1"
        "ZADD ql:q:run-scheduled 205000 w1"
        "ZADD ql:q:q-locks 205500 r2" => expect![[r#"
            in-foreign-queue r2 found [q:q-locks]
            in-foreign-queue w1 found [q:p-work]
            in-foreign-queue w1 found [q:run-scheduled]
            in-foreign-queue w2 found [q:p-work]
        "#]];

    jobs_are_only_in_another_queue:
        "ZREM ql:q:q-work w2 d5"
        "ZADD ql:q:p-work 6.99998 w2"
        "ZADD ql:q:p-scheduled 205000 d5"
        "ZREM ql:q:q-scheduled s2"
        "ZADD ql:q:other-scheduled 205000 s2"
        "ZREM ql:q:run-locks r1 r2"
        "ZADD ql:q:q-work 0 r1"
        "ZADD ql:q:q-locks 205500 r2"
        "ZREM ql:q:late-locks l1"
        "ZADD ql:q:q-locks 201000000 l1"
        "ZREM ql:q:q-depends d2"
        "ZADD ql:q:p-depends 200032 d2"
        "HSET ql:j:p2 queue q" => expect![[r#"
            in-foreign-queue d2 found [q:p-depends]
            in-foreign-queue d5 found [q:p-scheduled]
            in-foreign-queue l1 found [q:q-locks]
            in-foreign-queue p2 found [q:p-work]
            in-foreign-queue r1 found [q:q-work]
            in-foreign-queue r2 found [q:q-locks]
            in-foreign-queue s2 found [q:other-scheduled]
            in-foreign-queue w2 found [q:p-work]
            queue-unlisted other found []
        "#]];

    a_job_and_a_template_are_only_in_two_other_queues:
        "ZREM ql:q:q-work w2"
        "ZADD ql:q:p-work 6.99998 w2"
        "ZADD ql:q:other-work 6.99998 w2"
        "ZREM ql:q:q-recur tpl"
        "ZADD ql:q:p-recur 205000 tpl"
        "ZADD ql:q:run-recur 205060 tpl" => expect![[r#"
            in-foreign-queue w2 found [q:other-work]
            in-foreign-queue w2 found [q:p-work]
            queue-unlisted other found []
            recurring-foreign tpl found [p]
        "#]];

    jobs_are_locked_until_never_and_times_are_in_milliseconds:
        "HSET ql:j:r1 time 99999999"
        "HSET ql:j:r1 expires 99999999"
        "ZADD ql:q:run-locks 99999999 r1"
        "HSET ql:j:r2 expires soon"
        "ZREM ql:q:run-locks r2"
        "ZADD ql:q:q-locks 201000000 r2"
        "ZADD ql:q:late-locks 201000000000 l1"
        "HSET ql:j:p2 time 201000000000" => expect![[r#"
            clock l1 report [locked until 201000000000]
            clock p2 report [time is 201000000000]
            clock r1 report [locked until 99999999]
            clock r1 report [time is 99999999]
            in-foreign-queue r2 report [q:q-locks]
        "#]];

    running_jobs_should_be_locked_until_never:
        "HSET ql:j:r1 expires 201000000"
        "HSET ql:j:r2 expires 201000000"
        "HSET ql:j:rg expires 201000000"
        "ZREM ql:q:run-locks r1 r2 rg"
        "ZADD ql:q:q-locks 205500 r1"
        "ZADD ql:q:run-work 0 rg" => expect![[r#"
            clock r1 report [locked until 201000000]
            clock r2 report [locked until 201000000]
            clock rg report [locked until 201000000]
            in-foreign-queue r1 found [q:q-locks]
            in-two-sets rg report [q:run-work]
            running-without-lock r2 report [run]
            after repair
              clock r2 report [locked until 201000000]
              clock rg report [locked until 201000000]
              in-two-sets rg report [q:run-work]
              running-without-lock r2 report [run]
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

    jobs_of_each_state_are_in_no_set:
        "ZREM ql:q:q-work w2"
        "ZREM ql:q:run-work st"
        "ZREM ql:q:q-scheduled s1 s2"
        "HSET ql:j:s1 scheduled 205000"
        "ZREM ql:q:q-depends d2" => expect![[r#"
            field-leftover s1 decide [scheduled]
            in-no-set d2 found [q]
            in-no-set s1 found [q]
            in-no-set s2 found [q]
            in-no-set st found [run]
            in-no-set w2 found [q]
        "#]];

    a_work_set_is_missing: "DEL ql:q:q-work" => expect![[r#"
        in-no-set d5 found [q]
        in-no-set tpl-1 found [q]
        in-no-set tpl-2 found [q]
        in-no-set w1 found [q]
        in-no-set w2 found [q]
    "#]];

    all_locks_are_missing_and_with_some_the_time_or_the_entry_of_the_worker:
        "DEL ql:q:run-locks"
        "HSET ql:j:r2 expires soon"
        "HSET ql:j:rg grace 1"
        "ZREM ql:w:a:jobs rg" => expect![[r#"
            running-without-lock r1 found [run]
            running-without-lock r2 found [run]
            running-without-lock rg found [run]
        "#]];

    states_were_changed:
        "HSET ql:j:w2 state running"
        "HSET ql:j:r2 state waiting" => expect![[r#"
            in-two-sets r2 report [q:run-locks]
            in-two-sets w2 found [q:q-work]
            worker-stray r2 found [a]
            after repair
              in-two-sets r2 report [q:run-locks]
              queue-stuck q report [locks since 0]
        "#]];

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

    little_is_left_of_two_waiting_jobs_of_which_one_is_everywhere:
        "DEL ql:j:w2 ql:j:p2"
        "HSET ql:j:p2 state waiting"
        "HSET ql:j:w2 state waiting remaining 4 grace 1"
        "ZADD ql:q:p-locks 9 w2"
        "ZADD ql:completed 9 w2"
        "RPUSH ql:f:G w2" => expect![[r#"
            job-stub p2 found [nothing but leftovers]
            job-stub w2 found [nothing but leftovers]
            queue-stuck p report [locks since 9]
            after repair
              history-orphan j:p2-history decide [no job]
              history-orphan j:w2-history decide [no job]
              lost-key lost:run1:j:p2 decide [hash of 1]
              lost-key lost:run1:j:w2 decide [hash of 3]
        "#]];

    values_that_only_a_client_knows_are_missing_or_wrong:
        "HDEL ql:j:w2 jid"
        "HSET ql:j:p2 jid w3"
        "HDEL ql:j:d5 klass"
        "HDEL ql:j:u1 data"
        "HDEL ql:j:i1 state"
        "HDEL ql:j:tpl-1 queue"
        "HSET ql:j:tpl-2 state sleeping"
        "HSET ql:j:w1 data {]"
        "HSET ql:j:p1 retries some"
        "HSET ql:j:st remaining 9" => expect![[r#"
            job-stub d5 report [no klass]
            job-stub i1 report [no state]
            job-stub p2 decide [jid is w3]
            job-stub tpl-1 report [no queue]
            job-stub u1 report [no data]
            job-stub w2 decide [no jid]
            job-unreadable p1 report [retries]
            job-unreadable tpl-2 report [state]
            job-unreadable w1 report [data]
            remaining st report [9 of 5]
        "#]];

    numbers_and_the_worker_of_waiting_jobs_are_missing_or_unreadable:
        "HDEL ql:j:w2 priority"
        "HSET ql:j:p2 priority inf"
        "ZADD ql:q:p-work inf p2"
        "HSET ql:j:d5 priority high"
        "HSET ql:j:u1 remaining 3.5"
        "HDEL ql:j:i1 remaining"
        "HSET ql:j:tpl-1 remaining some retries 2"
        "HDEL ql:j:p1 worker expires"
        "HDEL ql:j:w1 time" => expect![[r#"
            job-unreadable d5 found [priority]
            job-unreadable i1 found [no remaining]
            job-unreadable p1 found [no expires]
            job-unreadable p1 found [no worker]
            job-unreadable p2 found [priority]
            job-unreadable tpl-1 found [remaining]
            job-unreadable u1 found [remaining]
            job-unreadable w1 found [no time]
            job-unreadable w2 found [no priority]
        "#]];

    tags_of_jobs_are_missing_or_unreadable:
        "HDEL ql:j:w1 tags"
        r#"HSET ql:j:w2 tags ["x","#
        r#"HSET ql:j:p1 tags [["y"]]"#
        r#"HSET ql:j:d1 tags {"a":"x"}"# => expect![[r#"
            job-unreadable d1 found [tags]
            job-unreadable p1 found [tags]
            job-unreadable w1 found [no tags]
            job-unreadable w2 found [tags]
        "#]];

    a_history_holds_entries_of_another_shape:
        r#"RPUSH ql:j:w2-history [1,"x",5] [1,"x",[2,{}]] [1,"x",null] [1,"a\"b","t"] [1,"x",{"a":1e999}] [1,"x",{},4]"#
        => expect![[r#"
            job-unreadable w2 found [history]
            job-unreadable w2 report [history has entries of more than three elements]
        "#]];

    histories_hold_what_is_no_entry_and_those_of_an_old_version_are_unreadable:
        r#"RPUSH ql:j:st-history oops 5 {} [1] ["x","y"] [1e999,"x"]"#
        "HSET ql:j:w1 history garbage"
        "HSET ql:j:w2 history 5"
        "HSET ql:j:p1 history [5]"
        "HSET ql:j:p2 history ''"
        r#"HSET ql:j:d5 history '""'"#
        "HSET ql:j:u1 history null"
        r#"HSET ql:j:i1 history [{"q":"x"}]"#
        r#"HSET ql:j:tpl-1 history [{"q":"q","put":5.5,"popped":7,"worker":"w","done":null},{"put":1e999}]"#
        "HSET ql:j:f1 history garbage"
        "HSET ql:j:s1 history garbage"
        r#"HSET ql:j:tpl-2 history [{"put":1},5]"#
        "DEL ql:j:tpl-2-history"
        "SET ql:j:tpl-2-history x" => expect![[r#"
            job-unreadable d5 found [field history of a waiting job]
            job-unreadable f1 found [field history]
            job-unreadable i1 found [field history of a waiting job]
            job-unreadable p1 found [field history of a waiting job]
            job-unreadable p2 found [field history of a waiting job]
            job-unreadable s1 found [field history]
            job-unreadable st found [history]
            job-unreadable tpl-1 found [field history of a waiting job]
            job-unreadable u1 found [field history of a waiting job]
            job-unreadable w1 found [field history of a waiting job]
            job-unreadable w2 found [field history of a waiting job]
            key-type j:tpl-2-history decide [is a string, not a list]
        "#]];

    times_for_later_of_blocked_jobs_are_unreadable:
        "HSET ql:j:d4 scheduled garbage"
        "HSET ql:j:d1 scheduled ''"
        "HSET ql:j:d2 scheduled nan" => expect![[r#"
            job-unreadable d1 found [scheduled]
            job-unreadable d2 found [scheduled]
            job-unreadable d4 found [scheduled]
        "#]];

    blocked_and_scheduled_jobs_are_never_due:
        "HSET ql:j:d4 scheduled inf"
        "HSET ql:j:d1 scheduled -3"
        "ZADD ql:q:q-scheduled inf s1"
        "ZADD ql:q:q-scheduled -5 s2"
        "ZADD ql:q:p-scheduled 201000000000 c3"
        "ZADD ql:q:run-scheduled -inf y1" => expect![[r#"
            never-due c3 report [scheduled for 201000000000]
            never-due d1 report [scheduled for -3]
            never-due d4 report [scheduled for inf]
            never-due s1 report [scheduled for inf]
            never-due s2 report [scheduled for -5]
            never-due y1 report [scheduled for -inf]
        "#]];

    hashes_are_in_the_places_of_keys_of_a_job_and_of_one_that_is_gone:
        "HSET ql:j:w2-dependencies a b"
        "HSET ql:j:gone-history a b"
        "HSET ql:j:gone-dependents a b"
        "ZADD ql:q:q-work 3 gone-dependents" => expect![[r#"
            key-type j:gone-dependents decide [is a hash, not a set]
            key-type j:gone-history decide [is a hash, not a list]
            key-type j:w2-dependencies decide [is a hash, not a set]
        "#]];

    fields_were_left_behind:
        "HSET ql:j:w2 grace 1"
        "HSET ql:j:w2 scheduled 300000"
        "HSET ql:j:r2 grace 1" => expect![[r#"
            field-leftover r2 decide [grace]
            field-leftover w2 decide [grace]
            field-leftover w2 decide [scheduled]
        "#]];

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

    locks_end_at_another_time_than_their_jobs_and_scores_are_beyond_their_priority:
        "ZADD ql:q:run-locks 202000 r2"
        "ZADD ql:q:run-locks 209000 rg"
        "HSET ql:j:r1 expires soon"
        "ZADD ql:q:q-work 9 w2"
        "ZADD ql:q:q-work inf w1" => expect![[r#"
            score r1 found [locked until 205010, expires soon]
            score r2 found [locked until 202000, expires 205003]
            score rg found [locked until 209000, expires 205003]
            score w1 found [priority 5, placed at inf]
            score w2 found [priority 7, placed at 9]
        "#]];

    the_list_of_a_worker_has_strays_a_gap_and_another_expiry:
        "ZADD ql:w:a:jobs 205000 w2 205000 nobody"
        "ZREM ql:w:a:jobs r2"
        "ZADD ql:w:a:jobs 100 r1" => expect![[r#"
            worker-gap r1 found [a]
            worker-gap r2 found [a]
            worker-stray nobody found [a]
            worker-stray w2 found [a]
        "#]];

    one_worker_was_aged_out_and_one_that_holds_jobs_is_not_listed:
        "DEL ql:w:a:jobs"
        "ZREM ql:workers a b" => expect![[r#"
            worker-gap r1 report [a]
            worker-gap r2 report [a]
            worker-gap rg report [a]
            worker-unknown a report []
            worker-unknown b report []
        "#]];

    the_only_dependency_and_one_of_two_are_missing:
        "DEL ql:j:p1"
        "DEL ql:j:r1 ql:j:r1-history"
        "ZREM ql:q:run-locks r1"
        "ZREM ql:w:a:jobs r1"
        "ZREM ql:t:x r1"
        "ZINCRBY ql:tags -1 x" => expect![[r#"
            dependency-missing d2 decide [r1]
            dependency-missing d4 decide [p1]
            edges-orphan j:p1-dependents decide [no job]
            edges-orphan j:r1-dependents decide [no job]
            ghost-waiting p1 found [p]
            history-orphan j:p1-history decide [no job]
            tag-index p1 found [y]
        "#]];

    a_dependency_is_gone_with_all:
        "DEL ql:j:p1 ql:j:p1-history ql:j:p1-dependents"
        "ZREM ql:q:p-work p1"
        "ZREM ql:t:y p1"
        "ZINCRBY ql:tags -1 y" => expect!["dependency-missing d4 decide [p1]"];

    dependencies_are_complete:
        "SADD ql:j:d2-dependencies c2"
        "SADD ql:j:c2-dependents d2"
        "DEL ql:j:d1-dependencies ql:j:d3-dependencies ql:j:d4-dependencies"
        "SREM ql:j:w1-dependents d1"
        "SREM ql:j:d1-dependents d3"
        "SREM ql:j:p1-dependents d4"
        "SADD ql:j:d1-dependencies c1"
        "SADD ql:j:d3-dependencies c1"
        "SADD ql:j:c1-dependents d1 d3"
        "ZREM ql:q:q-depends d3"
        "SADD ql:j:d4-dependencies c1" => expect![[r#"
            dependency-complete d1 found [c1]
            dependency-complete d2 found [c2]
            dependency-complete d3 found [c1]
            dependency-complete d4 found [c1]
            in-no-set d3 found [q]
        "#]];

    dependencies_are_complete_while_somebody_works_here_or_elsewhere:
        "DEL ql:j:d1-dependencies ql:j:d3-dependencies ql:j:d4-dependencies"
        "SREM ql:j:w1-dependents d1"
        "SREM ql:j:d1-dependents d3"
        "SREM ql:j:p1-dependents d4"
        "SADD ql:j:d1-dependencies c1"
        "SADD ql:j:d3-dependencies c1 c2"
        "SADD ql:j:d4-dependencies c1"
        "HSET ql:j:d1 worker a"
        "HSET ql:j:d3 worker a"
        "HSET ql:j:d4 worker a"
        "ZADD ql:q:q-locks 202000 d1 202000 d3"
        "ZADD ql:q:p-locks 202000 d4" => expect![[r#"
            dependency-complete d1 report [c1]
            dependency-complete d3 found [c1]
            dependency-complete d3 report [c2]
            dependency-complete d4 report [c1]
            in-foreign-queue d4 report [q:p-locks]
            in-two-sets d1 report [q:q-locks]
            in-two-sets d3 report [q:q-locks]
        "#]];

    a_dependency_is_gone_and_one_is_unknown_while_somebody_works:
        "DEL ql:j:p1 ql:j:p1-history ql:j:p1-dependents"
        "ZREM ql:q:p-work p1"
        "ZREM ql:t:y p1"
        "ZINCRBY ql:tags -1 y"
        "HSET ql:j:d4 worker a"
        "ZADD ql:q:q-locks 202000 d4"
        "DEL ql:j:d3-dependencies ql:j:d1-dependents"
        "HSET ql:j:d3 worker a"
        "ZADD ql:q:p-locks 202000 d3" => expect![[r#"
            dependency-missing d4 report [p1]
            depends-on-nothing d3 report [locked]
            in-foreign-queue d3 report [q:p-locks]
            in-two-sets d4 report [q:q-locks]
        "#]];

    dependencies_are_known_to_one_side_only:
        "SREM ql:j:w1-dependents d1"
        "SADD ql:j:w1-dependents p2 d3 nobody"
        "DEL ql:j:d2-dependencies"
        "SADD ql:j:w2-dependencies p1"
        "SADD ql:j:p1-dependents w2" => expect![[r#"
            dependency-one-sided d1 found [w1]
            dependency-one-sided d2 found [r1]
            dependency-one-sided d2 found [w1]
            dependency-one-sided d3 found [w1]
            dependency-one-sided nobody found [w1]
            dependency-one-sided p2 found [w1]
            dependency-one-sided w2 decide [p1]
        "#]];

    nobody_knows_what_jobs_wait_for_of_which_one_is_delayed:
        "DEL ql:j:d1-dependencies"
        "SREM ql:j:w1-dependents d1"
        "DEL ql:j:d4-dependencies ql:j:p1-dependents" => expect![[r#"
            depends-on-nothing d1 found []
            depends-on-nothing d4 found []
        "#]];

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

    the_dependents_of_a_job_are_unreadable:
        "SET ql:j:w2-dependents text"
        "DEL ql:j:d4-dependencies ql:j:p1-dependents"
        => expect!["key-type j:w2-dependents decide [is a string, not a set]"];

    jobs_wait_for_what_cannot_end_themselves_each_other_and_a_failed_job:
        "SADD ql:j:d4-dependencies d4"
        "SADD ql:j:d4-dependents d4"
        "SADD ql:j:d1-dependencies d3"
        "SADD ql:j:d3-dependents d1"
        "SADD ql:j:d2-dependencies f1"
        "SADD ql:j:f1-dependents d2" => expect![[r#"
            dependency-cycle d1 report [d3 needs d1]
            dependency-cycle d4 report [d4]
            depends-on-failed d2 report [f1]
        "#]];

    companions_have_no_job:
        r#"RPUSH ql:j:nobody-history '[1,"put",{}]'"#
        "SADD ql:j:nobody-dependencies w1"
        "SADD ql:j:nobody-dependents w2" => expect![[r#"
            edges-orphan j:nobody-dependencies decide [no job]
            edges-orphan j:nobody-dependents decide [no job]
            history-orphan j:nobody-history decide [no job]
        "#]];

    a_failed_job_is_in_no_list_and_a_list_is_missing:
        "LREM ql:f:G 0 f1"
        "DEL ql:f:H" => expect![[r#"
            failed-unlisted f1 found [G]
            failed-unlisted f3 found [H]
            group-set H found [empty]
        "#]];

    failed_jobs_are_in_the_list_of_another_group_in_two_and_twice_in_one:
        "LREM ql:f:G 0 f1"
        "RPUSH ql:f:H f1"
        "LPUSH ql:f:H f2"
        "RPUSH ql:f:H f3" => expect![[r#"
            failed-stray f1 found [H]
            failed-twice f2 found [H]
            failed-twice f3 found [H]
        "#]];

    lists_hold_jobs_that_have_not_failed:
        "RPUSH ql:f:G w1 w2 nobody"
        "LPUSH ql:f:G r1"
        "LPUSH ql:f:H r2"
        "RPUSH ql:f:new p1"
        "SADD ql:failures new"
        "RPUSH ql:f:unlisted p2 nobody"
        "SADD ql:failures nothing" => expect![[r#"
            failed-stray nobody found [G]
            failed-stray nobody found [unlisted]
            failed-stray p1 found [new]
            failed-stray p2 found [unlisted]
            failed-stray r1 found [G]
            failed-stray r2 found [H]
            failed-stray w1 found [G]
            failed-stray w2 found [G]
            group-set nothing found [empty]
        "#]];

    an_unknown_list_holds_strays_and_more:
        "RPUSH ql:f:G w1 nobody"
        "SREM ql:failures G" => expect![[r#"
            failed-stray nobody found [G]
            failed-stray w1 found [G]
            group-set G found [unlisted]
        "#]];

    a_list_holds_a_stray_and_lacks_a_failed_job:
        "RPUSH ql:f:G ghost"
        "LREM ql:f:G 0 f1" => expect![[r#"
            failed-stray ghost found [G]
            failed-unlisted f1 found [G]
        "#]];

    failures_are_missing_and_unreadable_and_tell_no_moment:
        "HDEL ql:j:f1 failure"
        "HSET ql:j:f2 failure {]"
        "LREM ql:f:G 0 f2"
        "HSET ql:j:f3 failure '{\"group\":\"G\",\"message\":\"why\"}'" => expect![[r#"
            failed-stray f3 found [H]
            failed-unlisted f2 found [G]
            job-unreadable f1 found [no failure]
            job-unreadable f2 found [failure]
            job-unreadable f3 found [failure]
        "#]];

    what_failures_lack_no_history_tells:
        "DEL ql:j:f1-history ql:j:f2-history ql:j:f3-history"
        "HSET ql:j:f1 failure {}"
        "LREM ql:f:G 0 f1"
        "HDEL ql:j:f2 failure"
        "HSET ql:j:f3 failure '{\"group\":\"H\"}'" => expect![[r#"
            job-unreadable f1 report [failure, in no list]
            job-unreadable f2 report [no failure]
            job-unreadable f3 report [failure]
        "#]];

    counters_are_too_high_below_zero_and_of_another_day:
        "HINCRBY ql:s:stats:172800:run failed 3"
        "HSET ql:s:stats:172800:q failed -1"
        "HSET ql:s:stats:86400:run failed 2" => expect![[r#"
            failed-counter s:stats:172800:q found [-1, is 0]
            failed-counter s:stats:172800:run found [7, is 4]
            failed-counter s:stats:86400:run found [2, is 0]
        "#]];

    the_statistics_of_a_day_are_missing: "DEL ql:s:stats:172800:run"
        => expect!["failed-counter s:stats:172800:run found [none, is 4]"];

    the_list_of_complete_jobs_lacks_one_and_has_others:
        "ZREM ql:completed c1"
        "ZADD ql:completed 200000 w1 200000 r1 200000 f1" => expect![[r#"
            completed-stray f1 found [failed]
            completed-stray r1 found [running]
            completed-stray w1 found [waiting]
            completed-unlisted c1 found []
        "#]];

    the_list_of_complete_jobs_is_missing: "DEL ql:completed" => expect![[r#"
        completed-unlisted c1 found []
        completed-unlisted c2 found []
    "#]];

    a_complete_job_has_a_queue_and_one_completes_in_the_future:
        "HSET ql:j:c1 queue q"
        "ZADD ql:q:q-work 0 c1"
        "ZADD ql:completed 201000000 c2" => expect![[r#"
            clock c2 report [completed at 201000000]
            completed-stray c1 report [complete in queue q]
        "#]];

    tags_do_not_list_their_jobs_and_list_others:
        "ZREM ql:t:x w1"
        "ZADD ql:t:x 5 r2 6 nobody"
        "DEL ql:t:y"
        r#"HSET ql:j:w2 tags ["new"]"# => expect![[r#"
            tag-index f1 found [y]
            tag-index nobody found [x]
            tag-index p1 found [y]
            tag-index r2 found [x]
            tag-index w1 found [x]
            tag-index w1 found [y]
            tag-index w2 found [new]
            tag-index w2 found [x]
        "#]];

    tag_counters_are_wrong_and_missing_and_without_a_set:
        "ZINCRBY ql:tags 5 x"
        "ZREM ql:tags y"
        "ZADD ql:tags 0 none -3 less" => expect![[r#"
            tag-count less found [-3, is 0]
            tag-count none found [0, is 0]
            tag-count x found [9, is 4]
            tag-count y found [none, is 3]
        "#]];

    maxima_are_not_listed_and_a_listed_one_expired:
        "HSET ql:th:api id api maximum 3"
        "HSET ql:th:earlier id earlier maximum 3 changed 200007.5"
        "ZADD ql:throttles 5 gone" => expect![[r#"
            throttle-gone gone found []
            throttle-unlisted api found []
            throttle-unlisted earlier found []
        "#]];

    templates_have_no_next_run_and_the_queue_of_one_is_not_known:
        "ZREM ql:q:p-recur tpm"
        "ZREM ql:q:q-recur tpl"
        "HSET ql:r:tpl queue new" => expect![[r#"
            queue-unlisted new found []
            recurring-unscheduled tpl decide [new]
            recurring-unscheduled tpm decide [p]
            after repair
              queue-empty new report [nothing in it]
              recurring-unscheduled tpl decide [new]
              recurring-unscheduled tpm decide [p]
            after naming
              nothing
        "#]];

    templates_are_in_another_queue_and_a_missing_one_is_all_of_a_queue:
        "ZREM ql:q:q-recur tpl"
        "ZADD ql:q:p-recur 300080 tpl"
        "ZADD ql:q:q-recur 209036 tpm"
        "ZADD ql:q:new-recur 205000 nobody" => expect![[r#"
            ghost-recurring nobody found [new]
            queue-unlisted new found []
            recurring-foreign tpl found [p]
            recurring-foreign tpm found [q]
        "#]];

    the_tags_and_numbers_of_templates_are_unusable:
        "HSET ql:r:tpl tags [ count 0"
        "HSET ql:r:tpm priority high retries some backlog all" => expect![[r#"
            recurring-count tpl found [2]
            recurring-invalid tpl found [tags]
            recurring-invalid tpm found [backlog]
            recurring-invalid tpm found [priority]
            recurring-invalid tpm found [retries]
        "#]];

    intervals_of_templates_are_zero_and_missing:
        "HSET ql:r:tpl interval 0"
        "HDEL ql:r:tpm interval" => expect![[r#"
            recurring-invalid tpl found [interval]
            recurring-invalid tpm found [interval]
            after repair
              recurring-invalid tpl report [interval]
              recurring-invalid tpm report [interval]
        "#]];

    a_template_never_runs_and_one_lacks_what_only_a_client_knows:
        "ZADD ql:q:q-recur -5 tpl"
        "HSET ql:r:tpm count many"
        "HDEL ql:r:tpm data klass queue" => expect![[r#"
            queue-stuck q report [recur since -5]
            recurring-invalid tpl report [next run at -5]
            recurring-invalid tpm report [count]
            recurring-invalid tpm report [data]
            recurring-invalid tpm report [klass]
            recurring-invalid tpm report [queue]
        "#]];

    the_documents_of_paused_templates_are_unusable:
        "HSET ql:paused_recurring broken {"
        r#"HSET ql:paused_recurring other '{"since":"5","fields":["jid","another"]}'"#
        r#"HSET ql:paused_recurring few '{"since":"5","fields":["jid","few","priority","high","interval","-1"]}'"#
        r#"HSET ql:paused_recurring never '{"since":"5","next":"-5","fields":["jid","never","queue","q","interval","5","count","0","priority","0","retries","5","backlog","0","tags","{}","data","{}","klass","K"]}'"#
        => expect![[r#"
            recurring-invalid broken report [paused: its document cannot be read]
            recurring-invalid few report [paused: backlog]
            recurring-invalid few report [paused: count]
            recurring-invalid few report [paused: data]
            recurring-invalid few report [paused: interval]
            recurring-invalid few report [paused: klass]
            recurring-invalid few report [paused: priority]
            recurring-invalid few report [paused: queue]
            recurring-invalid few report [paused: retries]
            recurring-invalid few report [paused: tags]
            recurring-invalid never report [paused: next run at -5]
            recurring-invalid other report [paused: its document cannot be read]
        "#]];

    jobs_their_companions_and_indexes_are_texts:
        "DEL ql:j:w2 ql:j:w1-history ql:j:w1-dependents ql:j:d2-dependencies ql:q:idle-work ql:f:H ql:t:z ql:w:b:jobs"
        "SET ql:j:w2 text"
        "SET ql:j:w1-history text"
        "SET ql:j:w1-dependents text"
        "SET ql:j:d2-dependencies text"
        "SET ql:q:idle-work text"
        "SET ql:q:nowhere-work text"
        "SET ql:f:H text"
        "SET ql:t:z text"
        "SET ql:w:b:jobs text" => expect![[r#"
            key-type f:H decide [is a string, not a list]
            key-type j:d2-dependencies decide [is a string, not a set]
            key-type j:w1-dependents decide [is a string, not a set]
            key-type j:w1-history decide [is a string, not a list]
            key-type j:w2 decide [is a string, not a hash]
            key-type q:idle-work decide [is a string, not a zset]
            key-type q:nowhere-work decide [is a string, not a zset]
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
        "SET ql:tracked text"
        "SET ql:throttles text"
        "HSET ql:th:api id api maximum 3" => expect![[r#"
            key-type completed decide [is a string, not a zset]
            key-type config decide [is a string, not a hash]
            key-type failures decide [is a string, not a set]
            key-type paused_queues decide [is a string, not a set]
            key-type queues decide [is a string, not a zset]
            key-type tags decide [is a string, not a zset]
            key-type throttles decide [is a string, not a zset]
            key-type tracked decide [is a string, not a zset]
            key-type workers decide [is a string, not a zset]
            after naming
              worker-unknown a report []
              worker-unknown b report []
        "#]];

    keys_of_nobody_and_of_an_earlier_repair:
        "SET ql:nothing text"
        "HSET ql:x:y a b"
        "SET ql:q:mail-none text"
        "HSET ql:lost:r0:j:old state waiting" => expect![[r#"
            key-unknown nothing report [string]
            key-unknown q:mail-none report [string]
            key-unknown x:y report [hash]
            lost-key lost:r0:j:old decide [hash of 1]
        "#]];

    settings_are_no_numbers:
        "HSET ql:config heartbeat soon q-heartbeat '' max-job-history all q-max-concurrency -1 application 5x"
        "HSET ql:config stats-history soon" => expect![[r#"
            config-value heartbeat report [is no number]
            config-value max-job-history report [is no number]
            config-value q-heartbeat report [is no number]
            config-value q-max-concurrency report [is below 0]
            config-value stats-history report [nobody reads it, is no number]
        "#]];

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
