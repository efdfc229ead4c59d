//! One damage at a time, done by raw Redis commands to a database with something of everything:
//! what is found, what is mended without a word and what only by name, and what remains. For each:
//! a look writes nothing, nothing of a job is lost, a second repair finds nothing to do, everything
//! can be put back exactly, and whatever should run can be popped. Call by call first, then through
//! the binary, which must tell and make the same.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use super::check::{NOW, busy, fill};
use super::invariants::{Excuses, broken};
use crate::house::clean::tolerated;
use crate::house::core::{Core, Key, Reply};
use crate::house::judge::{Finding, IDS, look, repair, revert};
use crate::house::mend::{Mend, Stage, kept};
use crate::house::walk;

fn told(title: &str, found: &[Finding], into: &mut String) {
    let mut lines: Vec<String> = found.iter().map(Finding::told).collect();
    lines.sort();
    lines.dedup();
    if !lines.is_empty() || into.is_empty() {
        into.push_str(&format!("{title}\n"));
    }
    for line in lines {
        into.push_str(&format!("  {line}\n"));
    }
}

/// Whatever should run comes out of a queue, unless the check said why not.
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
                let said = remains.iter().any(|one| one.id == "key-type");
                assert!(said, "pop of {queue} says {error}");
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

fn lines(found: &[Finding]) -> Vec<String> {
    let mut lines: Vec<String> = found.iter().map(Finding::told).collect();
    lines.sort();
    lines
}

fn damaged(damage: &str, expect: &Expect) {
    let mut core = busy();
    for line in damage.lines() {
        let reply = core.redis(line.trim());
        assert!(!matches!(reply, Reply::Error(_)), "{line}: {reply:?}");
    }
    let before = core.dump();
    let mut text = String::new();
    let found = look(&mut core, NOW, "");
    told("found", &found, &mut text);
    walk::finds(&mut core, NOW, &found);

    // The second implementation has eyes for the same.
    let quiet = std::panic::catch_unwind(|| broken(&before, Excuses::default()));
    if let Ok(mut wrong) = quiet {
        wrong.retain(|text| !tolerated(text));
        assert!(
            wrong.is_empty() || !found.is_empty(),
            "the check is silent, but {wrong:?}"
        );
    }

    let mut mended = repair(&mut core, NOW, "");
    let first = core.dump();
    kept(&before, &first);
    let left = look(&mut core, NOW, "");
    told("after repair", &left, &mut text);
    assert!(
        left.iter().all(|one| one.outcome != "found"),
        "not mended: {:?}",
        lines(&left)
    );
    let again = repair(&mut core, NOW, "");
    assert_eq!(lines(&again), Vec::<String>::new(), "a second repair");

    let named: Vec<&str> = IDS.iter().copied().filter(|id| *id != "lost-key").collect();
    let named = named.join(",");
    mended.extend(repair(&mut core, NOW, &named));
    let second = core.dump();
    kept(&before, &second);
    let remains = look(&mut core, NOW, &named);
    told("after naming", &remains, &mut text);
    assert!(
        remains.iter().all(|one| one.outcome == "report"),
        "not mended: {:?}",
        lines(&remains)
    );
    expect.assert_eq(&text);
    if remains.is_empty() {
        let mut wrong = broken(&second, Excuses::default());
        wrong.retain(|text| !tolerated(text));
        assert_eq!(wrong, Vec::<String>::new(), "after the repair");
    }
    let last = look(&mut core, NOW, "");

    let (_, alone) = revert(&mut core, &mended);
    assert_eq!(core.dump(), before, "all is as it was");
    assert_eq!(alone, 0, "left alone");
    // Once more does nothing.
    revert(&mut core, &mended);
    assert_eq!(core.dump(), before, "all is as it was, still");

    let [before, mended, after] =
        [(found, before), (left, first), (last, second)].map(|(told, keys)| Stage { told, keys });
    Mend::new(&mut core, NOW)
        .whole_way(&before, &mended, &after)
        .unwrap_or_else(|fault| panic!("{fault}"));
    comes_out(&mut core, &remains);
    one_queue(&mut core, damage, [&before, &mended]);
}

/// A repair of one queue makes no damage that was not there, and what is left of it a repair of all
/// mends as it would have without the first.
fn one_queue(core: &mut Core, damage: &str, [before, mended]: [&Stage; 2]) {
    fill(core);
    damage
        .lines()
        .for_each(|line| drop(core.redis(line.trim())));
    let queue = ["q", "run", "p"][damage.len() % 3];
    let mut mend = Mend::new(core, NOW);
    let ran = mend.repair(&format!("--queue {queue}"), "one");
    // Without a list of queues none can be named, and who asks is told of the check of all.
    let unlisted = matches!(before.keys.0.get("ql:queues"), Some(Key::Text(_)));
    let told = ran.code() == 1 && unlisted && ran.stderr().contains("--only key-type");
    assert!(told || [0, 4, 7].contains(&ran.code()), "{}", ran.stderr());
    kept(&before.keys, &mend.core.dump());
    let known = |one: &Finding| {
        let same = |other: &Finding| (&other.id, &other.item) == (&one.id, &one.item);
        before.told.iter().chain(&mended.told).any(same)
    };
    let new: Vec<Finding> = look(mend.core, NOW, "")
        .into_iter()
        .filter(|one| !known(one) && one.id != "lost-key")
        .collect();
    assert_eq!(
        lines(&new),
        Vec::<String>::new(),
        "made by `--queue {queue}`"
    );
    mend.repair("", "rest");
    mend.alike(&mended.keys)
        .unwrap_or_else(|fault| panic!("`--queue {queue}`, then all: {fault}"));
}

#[test]
fn a_waiting_job_is_deleted() {
    damaged(
        r#"DEL ql:j:w2"#,
        &expect![[r#"
        found
          ghost-waiting w2 found [q]
          history-orphan j:w2-history decide [no job]
          tag-index w2 found [x]
        after repair
          history-orphan j:w2-history decide [no job]
    "#]],
    );
}

#[test]
fn a_waiting_job_with_dependents_is_deleted() {
    damaged(
        r#"DEL ql:j:w1"#,
        &expect![[r#"
        found
          dependency-missing d1 decide [w1]
          dependency-missing d2 decide [w1]
          edges-orphan j:w1-dependents decide [no job]
          ghost-waiting w1 found [q]
          history-orphan j:w1-history decide [no job]
          tag-index w1 found [x]
          tag-index w1 found [y]
          tracked-gone w1 decide []
        after repair
          dependency-missing d1 decide [w1]
          dependency-missing d2 decide [w1]
          edges-orphan j:w1-dependents decide [no job]
          history-orphan j:w1-history decide [no job]
          tracked-gone w1 decide []
    "#]],
    );
}

#[test]
fn a_running_job_is_deleted() {
    damaged(
        r#"DEL ql:j:r2"#,
        &expect![[r#"
        found
          ghost-lock r2 found [run]
          history-orphan j:r2-history decide [no job]
          worker-stray r2 found [a]
        after repair
          history-orphan j:r2-history decide [no job]
    "#]],
    );
}

#[test]
fn a_scheduled_job_is_deleted() {
    damaged(
        r#"DEL ql:j:s2"#,
        &expect![[r#"
        found
          ghost-scheduled s2 found [q]
          history-orphan j:s2-history decide [no job]
          tag-index s2 found [z]
        after repair
          history-orphan j:s2-history decide [no job]
    "#]],
    );
}

#[test]
fn a_blocked_job_is_deleted() {
    damaged(
        r#"DEL ql:j:d5
DEL ql:j:d1"#,
        &expect![[r#"
            found
              dependency-missing d3 decide [d1]
              dependency-one-sided d1 found [w1]
              edges-orphan j:d1-dependencies decide [no job]
              edges-orphan j:d1-dependents decide [no job]
              ghost-depends d1 found [q]
              ghost-waiting d5 found [q]
              history-orphan j:d1-history decide [no job]
              history-orphan j:d5-history decide [no job]
              tag-index d1 found [x]
            after repair
              dependency-missing d3 decide [d1]
              edges-orphan j:d1-dependencies decide [no job]
              edges-orphan j:d1-dependents decide [no job]
              history-orphan j:d1-history decide [no job]
              history-orphan j:d5-history decide [no job]
        "#]],
    );
}

#[test]
fn ids_of_nobody_are_in_every_set() {
    damaged(
        r#"ZADD ql:q:q-work 5 nobody
ZADD ql:q:q-locks 9 nobody
ZADD ql:q:q-scheduled 5 nobody
ZADD ql:q:q-depends 5 nobody
ZADD ql:q:q-recur 5 nobody"#,
        &expect![[r#"
            found
              ghost-depends nobody found [q]
              ghost-lock nobody found [q]
              ghost-recurring nobody found [q]
              ghost-scheduled nobody found [q]
              ghost-waiting nobody found [q]
              queue-stuck q report [locks since 9]
        "#]],
    );
}

#[test]
fn a_template_is_deleted() {
    damaged(
        r#"DEL ql:r:tpl"#,
        &expect![[r#"
        found
          ghost-recurring tpl found [q]
    "#]],
    );
}

#[test]
fn a_binary_ghost() {
    damaged(
        r#"ZADD ql:q:q-work 5 'a b\x'"#,
        &expect![[r#"
        found
          ghost-waiting a b\x found [q]
    "#]],
    );
}

#[test]
fn a_running_job_is_still_waiting() {
    damaged(
        r#"ZADD ql:q:run-work 3 r2"#,
        &expect![[r#"
        found
          in-two-sets r2 found [q:run-work]
    "#]],
    );
}

#[test]
fn a_waiting_job_has_a_live_lock() {
    damaged(
        r#"ZADD ql:q:q-locks 202000 w2"#,
        &expect![[r#"
        found
          in-two-sets w2 report [q:q-locks]
        after repair
          in-two-sets w2 report [q:q-locks]
        after naming
          in-two-sets w2 report [q:q-locks]
    "#]],
    );
}

#[test]
fn a_waiting_job_has_a_dead_lock() {
    damaged(
        r#"ZADD ql:q:q-locks 200900 w2"#,
        &expect![[r#"
        found
          in-two-sets w2 found [q:q-locks]
    "#]],
    );
}

#[test]
fn a_waiting_job_has_only_a_live_lock() {
    damaged(
        r#"ZREM ql:q:q-work w2
ZADD ql:q:q-locks 202000 w2"#,
        &expect![[r#"
            found
              in-two-sets w2 report [q:q-locks]
            after repair
              in-two-sets w2 report [q:q-locks]
            after naming
              in-two-sets w2 report [q:q-locks]
        "#]],
    );
}

#[test]
fn a_waiting_job_has_only_a_dead_lock() {
    damaged(
        r#"ZREM ql:q:q-work w2
ZADD ql:q:q-locks 200900 w2"#,
        &expect![[r#"
            found
              in-two-sets w2 found [q:q-locks]
        "#]],
    );
}

#[test]
fn a_waiting_job_is_also_scheduled() {
    damaged(
        r#"ZADD ql:q:q-scheduled 205000 w2"#,
        &expect![[r#"
        found
          in-two-sets w2 found [q:q-scheduled]
    "#]],
    );
}

#[test]
fn a_waiting_job_is_only_scheduled() {
    damaged(
        r#"ZREM ql:q:q-work w2
ZADD ql:q:q-scheduled 205000 w2"#,
        &expect![[r#"
            found
        "#]],
    );
}

#[test]
fn a_waiting_job_is_only_blocked() {
    damaged(
        r#"ZREM ql:q:q-work w2
ZADD ql:q:q-depends 200000 w2"#,
        &expect![[r#"
            found
              in-two-sets w2 found [q:q-depends]
        "#]],
    );
}

#[test]
fn a_scheduled_job_is_also_waiting() {
    damaged(
        r#"ZADD ql:q:q-work 3 s2"#,
        &expect![[r#"
        found
          in-two-sets s2 found [q:q-work]
    "#]],
    );
}

#[test]
fn a_scheduled_job_is_only_waiting() {
    damaged(
        r#"ZREM ql:q:q-scheduled s2
ZADD ql:q:q-work 2.99998 s2"#,
        &expect![[r#"
            found
              in-two-sets s2 found [q:q-work]
        "#]],
    );
}

#[test]
fn a_blocked_job_is_also_waiting() {
    damaged(
        r#"ZADD ql:q:q-work 0 d2"#,
        &expect![[r#"
        found
          in-two-sets d2 found [q:q-work]
    "#]],
    );
}

#[test]
fn a_blocked_job_is_only_waiting() {
    damaged(
        r#"ZREM ql:q:q-depends d2
ZADD ql:q:q-work 0 d2"#,
        &expect![[r#"
            found
              in-two-sets d2 found [q:q-work]
        "#]],
    );
}

#[test]
fn a_running_job_is_only_waiting() {
    damaged(
        r#"ZREM ql:q:run-locks r2
ZADD ql:q:run-work 0 r2"#,
        &expect![[r#"
            found
              in-two-sets r2 found [q:run-work]
        "#]],
    );
}

#[test]
fn a_stalled_job_is_also_locked() {
    damaged(
        r#"ZADD ql:q:run-locks 200500 st"#,
        &expect![[r#"
        found
          in-two-sets st found [q:run-locks]
    "#]],
    );
}

#[test]
fn a_complete_job_waits() {
    damaged(
        r#"ZADD ql:q:run-work 0 c1"#,
        &expect![[r#"
        found
          in-two-sets c1 found [q:run-work]
    "#]],
    );
}

#[test]
fn a_complete_job_is_locked() {
    damaged(
        r#"ZADD ql:q:run-locks 207000 c2"#,
        &expect![[r#"
        found
          lock-without-run c2 found [q:run-locks]
    "#]],
    );
}

#[test]
fn a_failed_job_waits_and_is_locked() {
    damaged(
        r#"ZADD ql:q:run-work 0 f1
ZADD ql:q:run-locks 9 f1"#,
        &expect![[r#"
            found
              in-two-sets f1 found [q:run-work]
              lock-without-run f1 found [q:run-locks]
              queue-stuck run report [locks since 9]
        "#]],
    );
}

#[test]
fn a_waiting_job_is_in_another_queue() {
    damaged(
        r#"ZREM ql:q:q-work w2
ZADD ql:q:p-work 6.99998 w2"#,
        &expect![[r#"
            found
              in-foreign-queue w2 found [q:p-work]
        "#]],
    );
}

#[test]
fn a_waiting_job_is_also_in_another_queue() {
    damaged(
        r#"ZADD ql:q:p-work 6.99998 w2"#,
        &expect![[r#"
        found
          in-foreign-queue w2 found [q:p-work]
    "#]],
    );
}

#[test]
fn a_waiting_job_is_also_in_two_other_queues() {
    damaged(
        r#"ZADD ql:q:p-work 6.99998 w2
ZADD ql:q:run-scheduled 205000 w2"#,
        &expect![[r#"
            found
              in-foreign-queue w2 found [q:p-work]
              in-foreign-queue w2 found [q:run-scheduled]
        "#]],
    );
}

#[test]
fn a_waiting_job_is_only_in_two_other_queues() {
    damaged(
        r#"ZREM ql:q:q-work w2
ZADD ql:q:p-work 6.99998 w2
ZADD ql:q:other-work 6.99998 w2"#,
        &expect![[r#"
            found
              in-foreign-queue w2 found [q:other-work]
              in-foreign-queue w2 found [q:p-work]
              queue-unlisted other found []
        "#]],
    );
}

#[test]
fn a_failed_job_is_in_three_sets() {
    damaged(
        r#"ZADD ql:q:q-work 0 f1
ZADD ql:q:q-scheduled 205000 f1
ZADD ql:q:p-locks 1 f1
ZADD ql:q:q-locks 1 f1"#,
        &expect![[r#"
            found
              in-two-sets f1 found [q:q-scheduled]
              in-two-sets f1 found [q:q-work]
              lock-without-run f1 found [q:p-locks]
              lock-without-run f1 found [q:q-locks]
              queue-stuck p report [locks since 1]
              queue-stuck q report [locks since 1]
        "#]],
    );
}

#[test]
fn a_template_is_only_in_two_other_queues() {
    damaged(
        r#"ZREM ql:q:q-recur tpl
ZADD ql:q:p-recur 205000 tpl
ZADD ql:q:run-recur 205060 tpl"#,
        &expect![[r#"
            found
              recurring-foreign tpl found [p]
        "#]],
    );
}

#[test]
fn clocks_of_a_job_are_wrong_twice() {
    damaged(
        r#"HSET ql:j:r1 time 99999999
HSET ql:j:r1 expires 99999999
ZADD ql:q:run-locks 99999999 r1"#,
        &expect![[r#"
            found
              clock r1 report [locked until 99999999]
              clock r1 report [time is 99999999]
            after repair
              clock r1 report [locked until 99999999]
              clock r1 report [time is 99999999]
            after naming
              clock r1 report [locked until 99999999]
              clock r1 report [time is 99999999]
        "#]],
    );
}

#[test]
fn a_waiting_job_is_only_scheduled_elsewhere() {
    damaged(
        r#"ZREM ql:q:q-work w2
ZADD ql:q:p-scheduled 205000 w2"#,
        &expect![[r#"
            found
              in-foreign-queue w2 found [q:p-scheduled]
        "#]],
    );
}

#[test]
fn a_scheduled_job_is_in_another_queue() {
    damaged(
        r#"ZREM ql:q:q-scheduled s2
ZADD ql:q:other-scheduled 205000 s2"#,
        &expect![[r#"
            found
              in-foreign-queue s2 found [q:other-scheduled]
              queue-unlisted other found []
        "#]],
    );
}

#[test]
fn a_running_job_is_locked_in_another_queue() {
    damaged(
        r#"ZREM ql:q:run-locks r2
ZADD ql:q:q-locks 205500 r2"#,
        &expect![[r#"
            found
              in-foreign-queue r2 found [q:q-locks]
        "#]],
    );
}

#[test]
fn a_running_job_is_also_locked_in_another_queue() {
    damaged(
        r#"ZADD ql:q:q-locks 205500 r2"#,
        &expect![[r#"
        found
          in-foreign-queue r2 found [q:q-locks]
    "#]],
    );
}

#[test]
fn a_running_job_waits_in_another_queue() {
    damaged(
        r#"ZREM ql:q:run-locks r2
ZADD ql:q:q-work 0 r2"#,
        &expect![[r#"
            found
              in-foreign-queue r2 found [q:q-work]
        "#]],
    );
}

#[test]
fn a_blocked_job_is_in_another_queue() {
    damaged(
        r#"ZREM ql:q:q-depends d2
ZADD ql:q:p-depends 200032 d2"#,
        &expect![[r#"
            found
              in-foreign-queue d2 found [q:p-depends]
        "#]],
    );
}

#[test]
fn a_waiting_job_is_locked_elsewhere() {
    damaged(
        r#"ZREM ql:q:q-work w2
ZADD ql:q:p-locks 202000 w2"#,
        &expect![[r#"
            found
              in-foreign-queue w2 report [q:p-locks]
            after repair
              in-foreign-queue w2 report [q:p-locks]
            after naming
              in-foreign-queue w2 report [q:p-locks]
        "#]],
    );
}

#[test]
fn a_queue_field_was_changed() {
    damaged(
        r#"HSET ql:j:w2 queue p"#,
        &expect![[r#"
        found
          in-foreign-queue w2 found [q:q-work]
    "#]],
    );
}

#[test]
fn a_waiting_job_is_nowhere() {
    damaged(
        r#"ZREM ql:q:q-work w2"#,
        &expect![[r#"
        found
          in-no-set w2 found [q]
    "#]],
    );
}

#[test]
fn a_stalled_job_is_nowhere() {
    damaged(
        r#"ZREM ql:q:run-work st"#,
        &expect![[r#"
        found
          in-no-set st found [run]
    "#]],
    );
}

#[test]
fn a_scheduled_job_is_nowhere() {
    damaged(
        r#"ZREM ql:q:q-scheduled s2"#,
        &expect![[r#"
        found
          in-no-set s2 found [q]
    "#]],
    );
}

#[test]
fn a_scheduled_job_with_a_known_time_is_nowhere() {
    damaged(
        r#"ZREM ql:q:q-scheduled s2
HSET ql:j:s2 scheduled 205000"#,
        &expect![[r#"
            found
              field-leftover s2 decide [scheduled]
              in-no-set s2 found [q]
            after repair
              field-leftover s2 decide [scheduled]
        "#]],
    );
}

#[test]
fn a_blocked_job_is_nowhere() {
    damaged(
        r#"ZREM ql:q:q-depends d2"#,
        &expect![[r#"
        found
          in-no-set d2 found [q]
    "#]],
    );
}

#[test]
fn a_set_is_gone() {
    damaged(
        r#"DEL ql:q:q-work"#,
        &expect![[r#"
        found
          in-no-set d5 found [q]
          in-no-set tpl-1 found [q]
          in-no-set tpl-2 found [q]
          in-no-set w1 found [q]
          in-no-set w2 found [q]
    "#]],
    );
}

#[test]
fn a_running_job_has_no_lock() {
    damaged(
        r#"ZREM ql:q:run-locks r2"#,
        &expect![[r#"
        found
          running-without-lock r2 found [run]
    "#]],
    );
}

#[test]
fn a_running_job_has_no_lock_and_no_time() {
    damaged(
        r#"ZREM ql:q:run-locks r2
HSET ql:j:r2 expires soon"#,
        &expect![[r#"
            found
              running-without-lock r2 found [run]
        "#]],
    );
}

#[test]
fn all_locks_are_gone() {
    damaged(
        r#"DEL ql:q:run-locks"#,
        &expect![[r#"
        found
          running-without-lock r1 found [run]
          running-without-lock r2 found [run]
          running-without-lock rg found [run]
    "#]],
    );
}

#[test]
fn a_state_was_changed() {
    damaged(
        r#"HSET ql:j:w2 state running"#,
        &expect![[r#"
        found
          in-two-sets w2 found [q:q-work]
        after repair
          queue-stuck q report [locks since 0]
        after naming
          queue-stuck q report [locks since 0]
    "#]],
    );
}

#[test]
fn a_running_job_was_declared_waiting() {
    damaged(
        r#"HSET ql:j:r2 state waiting"#,
        &expect![[r#"
        found
          in-two-sets r2 report [q:run-locks]
          worker-stray r2 found [a]
        after repair
          in-two-sets r2 report [q:run-locks]
        after naming
          in-two-sets r2 report [q:run-locks]
    "#]],
    );
}

#[test]
fn a_queue_was_forgotten() {
    damaged(
        r#"ZREM ql:queues q"#,
        &expect![[r#"
        found
          queue-unlisted q found []
    "#]],
    );
}

#[test]
fn the_list_of_queues_is_gone() {
    damaged(
        r#"DEL ql:queues"#,
        &expect![[r#"
        found
          queue-unlisted idle found []
          queue-unlisted late found []
          queue-unlisted p found []
          queue-unlisted q found []
          queue-unlisted run found []
    "#]],
    );
}

#[test]
fn an_empty_queue_is_listed_and_one_is_paused() {
    damaged(
        r#"ZADD ql:queues 5 nothing
SADD ql:paused_queues typo"#,
        &expect![[r#"
            found
              queue-empty nothing report [nothing in it]
              queue-empty typo report [paused, nothing in it]
            after repair
              queue-empty nothing report [nothing in it]
              queue-empty typo report [paused, nothing in it]
            after naming
              queue-empty nothing report [nothing in it]
              queue-empty typo report [paused, nothing in it]
        "#]],
    );
}

#[test]
fn nothing_is_left_of_a_waiting_job_but_its_state() {
    damaged(
        r#"DEL ql:j:w2
HSET ql:j:w2 state waiting"#,
        &expect![[r#"
            found
              job-stub w2 found [nothing but leftovers]
            after repair
              history-orphan j:w2-history decide [no job]
              lost-key lost:run1:j:w2 decide [hash of 1]
        "#]],
    );
}

#[test]
fn a_stub_is_everywhere() {
    damaged(
        r#"DEL ql:j:w2
HSET ql:j:w2 state waiting remaining 4 grace 1
ZADD ql:q:p-locks 9 w2
ZADD ql:completed 9 w2
RPUSH ql:f:G w2"#,
        &expect![[r#"
            found
              job-stub w2 found [nothing but leftovers]
              queue-stuck p report [locks since 9]
            after repair
              history-orphan j:w2-history decide [no job]
              lost-key lost:run1:j:w2 decide [hash of 3]
        "#]],
    );
}

#[test]
fn a_job_has_no_jid() {
    damaged(
        r#"HDEL ql:j:w2 jid"#,
        &expect![[r#"
        found
          job-stub w2 decide [no jid]
        after repair
          job-stub w2 decide [no jid]
    "#]],
    );
}

#[test]
fn a_job_has_another_jid() {
    damaged(
        r#"HSET ql:j:w2 jid w3"#,
        &expect![[r#"
        found
          job-stub w2 decide [jid is w3]
        after repair
          job-stub w2 decide [jid is w3]
    "#]],
    );
}

#[test]
fn a_job_has_no_klass() {
    damaged(
        r#"HDEL ql:j:w2 klass"#,
        &expect![[r#"
        found
          job-stub w2 report [no klass]
        after repair
          job-stub w2 report [no klass]
        after naming
          job-stub w2 report [no klass]
    "#]],
    );
}

#[test]
fn a_job_has_no_data() {
    damaged(
        r#"HDEL ql:j:w2 data"#,
        &expect![[r#"
        found
          job-stub w2 report [no data]
        after repair
          job-stub w2 report [no data]
        after naming
          job-stub w2 report [no data]
    "#]],
    );
}

#[test]
fn a_job_has_no_state() {
    damaged(
        r#"HDEL ql:j:w2 state"#,
        &expect![[r#"
        found
          job-stub w2 report [no state]
        after repair
          job-stub w2 report [no state]
        after naming
          job-stub w2 report [no state]
    "#]],
    );
}

#[test]
fn a_job_has_no_queue() {
    damaged(
        r#"HDEL ql:j:w2 queue"#,
        &expect![[r#"
        found
          job-stub w2 report [no queue]
        after repair
          job-stub w2 report [no queue]
        after naming
          job-stub w2 report [no queue]
    "#]],
    );
}

#[test]
fn a_job_has_an_unknown_state() {
    damaged(
        r#"HSET ql:j:w2 state sleeping"#,
        &expect![[r#"
        found
          job-unreadable w2 report [state]
        after repair
          job-unreadable w2 report [state]
        after naming
          job-unreadable w2 report [state]
    "#]],
    );
}

#[test]
fn data_is_no_json() {
    damaged(
        r#"HSET ql:j:w2 data {]"#,
        &expect![[r#"
        found
          job-unreadable w2 report [data]
        after repair
          job-unreadable w2 report [data]
        after naming
          job-unreadable w2 report [data]
    "#]],
    );
}

#[test]
fn priority_is_missing() {
    damaged(
        r#"HDEL ql:j:w2 priority"#,
        &expect![[r#"
        found
          job-unreadable w2 found [no priority]
    "#]],
    );
}

#[test]
fn priority_is_infinite() {
    damaged(
        r#"HSET ql:j:w2 priority inf
ZADD ql:q:q-work inf w2"#,
        &expect![[r#"
            found
              job-unreadable w2 found [priority]
        "#]],
    );
}

#[test]
fn priority_is_a_word() {
    damaged(
        r#"HSET ql:j:w2 priority high"#,
        &expect![[r#"
        found
          job-unreadable w2 found [priority]
    "#]],
    );
}

#[test]
fn tags_are_missing() {
    damaged(
        r#"HDEL ql:j:w1 tags"#,
        &expect![[r#"
        found
          job-unreadable w1 found [no tags]
    "#]],
    );
}

#[test]
fn tags_are_no_json() {
    damaged(
        r#"HSET ql:j:w1 tags ["x","#,
        &expect![[r#"
        found
          job-unreadable w1 found [tags]
    "#]],
    );
}

#[test]
fn tags_are_nested() {
    damaged(
        r#"HSET ql:j:w1 tags [["x"]]"#,
        &expect![[r#"
        found
          job-unreadable w1 found [tags]
    "#]],
    );
}

#[test]
fn tags_are_an_object() {
    damaged(
        r#"HSET ql:j:w1 tags {"a":"x"}"#,
        &expect![[r#"
        found
          job-unreadable w1 found [tags]
    "#]],
    );
}

#[test]
fn remaining_is_a_fraction() {
    damaged(
        r#"HSET ql:j:w2 remaining 3.5"#,
        &expect![[r#"
        found
          job-unreadable w2 found [remaining]
    "#]],
    );
}

#[test]
fn remaining_is_missing() {
    damaged(
        r#"HDEL ql:j:w2 remaining"#,
        &expect![[r#"
        found
          job-unreadable w2 found [no remaining]
    "#]],
    );
}

#[test]
fn remaining_is_a_word() {
    damaged(
        r#"HSET ql:j:w2 remaining some
HSET ql:j:w2 retries 2"#,
        &expect![[r#"
            found
              job-unreadable w2 found [remaining]
        "#]],
    );
}

#[test]
fn retries_are_a_word() {
    damaged(
        r#"HSET ql:j:w2 retries some"#,
        &expect![[r#"
        found
          job-unreadable w2 report [retries]
        after repair
          job-unreadable w2 report [retries]
        after naming
          job-unreadable w2 report [retries]
    "#]],
    );
}

#[test]
fn worker_and_expires_are_missing() {
    damaged(
        r#"HDEL ql:j:w2 worker expires"#,
        &expect![[r#"
        found
          job-unreadable w2 found [no expires]
          job-unreadable w2 found [no worker]
    "#]],
    );
}

#[test]
fn time_is_missing() {
    damaged(
        r#"HDEL ql:j:w2 time"#,
        &expect![[r#"
        found
          job-unreadable w2 found [no time]
    "#]],
    );
}

#[test]
fn history_holds_what_is_no_entry() {
    damaged(
        r#"RPUSH ql:j:w2-history oops 5 {} [1] ["x","y"] [1e999,"x"]"#,
        &expect![[r#"
            found
              job-unreadable w2 found [history]
        "#]],
    );
}

#[test]
fn history_holds_entries_of_another_shape() {
    damaged(
        r#"RPUSH ql:j:w2-history [1,"x",5] [1,"x",[2,{}]] [1,"x",null] [1,"a\"b","t"] [1,"x",{"a":1e999}] [1,"x",{},4]"#,
        &expect![[r#"
            found
              job-unreadable w2 found [history]
              job-unreadable w2 report [history has entries of more than three elements]
            after repair
              job-unreadable w2 report [history has entries of more than three elements]
            after naming
              job-unreadable w2 report [history has entries of more than three elements]
        "#]],
    );
}

#[test]
fn more_tries_are_left_than_allowed() {
    damaged(
        r#"HSET ql:j:w2 remaining 9"#,
        &expect![[r#"
        found
          remaining w2 report [9 of 5]
        after repair
          remaining w2 report [9 of 5]
        after naming
          remaining w2 report [9 of 5]
    "#]],
    );
}

#[test]
fn grace_and_scheduled_were_left_behind() {
    damaged(
        r#"HSET ql:j:w2 grace 1
HSET ql:j:w2 scheduled 300000"#,
        &expect![[r#"
            found
              field-leftover w2 decide [grace]
              field-leftover w2 decide [scheduled]
            after repair
              field-leftover w2 decide [grace]
              field-leftover w2 decide [scheduled]
        "#]],
    );
}

#[test]
fn grace_was_left_on_a_renewed_lock() {
    damaged(
        r#"HSET ql:j:r2 grace 1"#,
        &expect![[r#"
        found
          field-leftover r2 decide [grace]
        after repair
          field-leftover r2 decide [grace]
    "#]],
    );
}

#[test]
fn a_jid_ends_like_a_companion() {
    damaged(
        r#"HSET ql:j:x-history jid x-history klass K data {} state waiting"#,
        &expect![[r#"
            found
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
            after repair
              job-stub x-history report [no queue]
              job-unreadable x-history report [no retries]
              job-unreadable x-history report [no time]
              key-type j:x-history report [is a hash, not a list]
              key-type j:x-history report [job id with a reserved ending]
            after naming
              job-stub x-history report [no queue]
              job-unreadable x-history report [no retries]
              job-unreadable x-history report [no time]
              key-type j:x-history report [is a hash, not a list]
              key-type j:x-history report [job id with a reserved ending]
        "#]],
    );
}

#[test]
fn a_lock_ends_before_the_job_expires() {
    damaged(
        r#"ZADD ql:q:run-locks 202000 r2"#,
        &expect![[r#"
        found
          score r2 found [locked until 202000, expires 205003]
    "#]],
    );
}

#[test]
fn a_lock_ends_after_the_job_expires() {
    damaged(
        r#"ZADD ql:q:run-locks 209000 r2"#,
        &expect![[r#"
        found
          score r2 found [locked until 209000, expires 205003]
    "#]],
    );
}

#[test]
fn a_job_expires_at_no_time() {
    damaged(
        r#"HSET ql:j:r2 expires soon"#,
        &expect![[r#"
        found
          score r2 found [locked until 205003, expires soon]
    "#]],
    );
}

#[test]
fn a_lock_is_in_milliseconds() {
    damaged(
        r#"ZADD ql:q:run-locks 201000000000 r2"#,
        &expect![[r#"
        found
          clock r2 report [locked until 201000000000]
        after repair
          clock r2 report [locked until 201000000000]
        after naming
          clock r2 report [locked until 201000000000]
    "#]],
    );
}

#[test]
fn a_time_is_in_milliseconds() {
    damaged(
        r#"HSET ql:j:w2 time 201000000000"#,
        &expect![[r#"
        found
          clock w2 report [time is 201000000000]
        after repair
          clock w2 report [time is 201000000000]
        after naming
          clock w2 report [time is 201000000000]
    "#]],
    );
}

#[test]
fn a_place_is_beyond_its_priority() {
    damaged(
        r#"ZADD ql:q:q-work 9 w2"#,
        &expect![[r#"
        found
          score w2 found [priority 7, placed at 9]
    "#]],
    );
}

#[test]
fn a_waiting_job_stands_in_front_of_all() {
    damaged(
        r#"ZADD ql:q:q-work inf w2"#,
        &expect![[r#"
        found
          score w2 found [priority 7, placed at inf]
    "#]],
    );
}

#[test]
fn a_worker_lists_what_it_does_not_hold() {
    damaged(
        r#"ZADD ql:w:a:jobs 205000 w2 205000 nobody"#,
        &expect![[r#"
            found
              worker-stray nobody found [a]
              worker-stray w2 found [a]
        "#]],
    );
}

#[test]
fn a_worker_does_not_list_what_it_holds() {
    damaged(
        r#"ZREM ql:w:a:jobs r2"#,
        &expect![[r#"
        found
          worker-gap r2 found [a]
    "#]],
    );
}

#[test]
fn a_worker_lists_another_time() {
    damaged(
        r#"ZADD ql:w:a:jobs 100 r2"#,
        &expect![[r#"
        found
          worker-gap r2 found [a]
    "#]],
    );
}

#[test]
fn a_worker_was_aged_out() {
    damaged(
        r#"DEL ql:w:a:jobs
ZREM ql:workers a"#,
        &expect![[r#"
            found
              worker-gap r1 report [a]
              worker-gap r2 report [a]
              worker-gap rg report [a]
              worker-unknown a report []
            after repair
              worker-gap r1 report [a]
              worker-gap r2 report [a]
              worker-gap rg report [a]
              worker-unknown a report []
            after naming
              worker-gap r1 report [a]
              worker-gap r2 report [a]
              worker-gap rg report [a]
              worker-unknown a report []
        "#]],
    );
}

#[test]
fn a_worker_was_forgotten() {
    damaged(
        r#"ZREM ql:workers a"#,
        &expect![[r#"
        found
          worker-unknown a report []
        after repair
          worker-unknown a report []
        after naming
          worker-unknown a report []
    "#]],
    );
}

#[test]
fn a_dependency_is_gone() {
    damaged(
        r#"DEL ql:j:p1"#,
        &expect![[r#"
        found
          dependency-missing d4 decide [p1]
          edges-orphan j:p1-dependents decide [no job]
          ghost-waiting p1 found [p]
          history-orphan j:p1-history decide [no job]
          tag-index p1 found [y]
        after repair
          dependency-missing d4 decide [p1]
          edges-orphan j:p1-dependents decide [no job]
          history-orphan j:p1-history decide [no job]
    "#]],
    );
}

#[test]
fn a_dependency_is_gone_with_all() {
    damaged(
        r#"DEL ql:j:p1 ql:j:p1-history ql:j:p1-dependents
ZREM ql:q:p-work p1
ZREM ql:t:y p1
ZINCRBY ql:tags -1 y"#,
        &expect![[r#"
            found
              dependency-missing d4 decide [p1]
            after repair
              dependency-missing d4 decide [p1]
        "#]],
    );
}

#[test]
fn one_of_two_dependencies_is_gone() {
    damaged(
        r#"DEL ql:j:r1 ql:j:r1-history
ZREM ql:q:run-locks r1
ZREM ql:w:a:jobs r1
ZREM ql:t:x r1
ZINCRBY ql:tags -1 x"#,
        &expect![[r#"
            found
              dependency-missing d2 decide [r1]
              edges-orphan j:r1-dependents decide [no job]
            after repair
              dependency-missing d2 decide [r1]
              edges-orphan j:r1-dependents decide [no job]
        "#]],
    );
}

#[test]
fn a_dependency_is_complete() {
    damaged(
        r#"SADD ql:j:d1-dependencies c1
SADD ql:j:c1-dependents d1"#,
        &expect![[r#"
            found
              dependency-complete d1 found [c1]
        "#]],
    );
}

#[test]
fn the_only_dependency_is_complete() {
    damaged(
        r#"SMOVE ql:j:d1-dependencies ql:j:d1-gone w1
DEL ql:j:d1-gone
SREM ql:j:w1-dependents d1
SADD ql:j:d1-dependencies c1
SADD ql:j:c1-dependents d1"#,
        &expect![[r#"
            found
              dependency-complete d1 found [c1]
        "#]],
    );
}

#[test]
fn a_job_in_no_set_waits_for_a_complete_one() {
    damaged(
        r#"SMOVE ql:j:d1-dependencies ql:j:d1-gone w1
DEL ql:j:d1-gone
SREM ql:j:w1-dependents d1
SADD ql:j:d1-dependencies c1
SADD ql:j:c1-dependents d1
ZREM ql:q:q-depends d1"#,
        &expect![[r#"
            found
              dependency-complete d1 found [c1]
              in-no-set d1 found [q]
        "#]],
    );
}

#[test]
fn a_delayed_job_waits_for_a_complete_one() {
    damaged(
        r#"DEL ql:j:d4-dependencies
SREM ql:j:p1-dependents d4
SADD ql:j:d4-dependencies c1"#,
        &expect![[r#"
            found
              dependency-complete d4 found [c1]
        "#]],
    );
}

#[test]
fn a_dependency_does_not_know() {
    damaged(
        r#"SREM ql:j:w1-dependents d1"#,
        &expect![[r#"
        found
          dependency-one-sided d1 found [w1]
    "#]],
    );
}

#[test]
fn a_dependency_knows_too_much() {
    damaged(
        r#"SADD ql:j:w1-dependents p2 d3 nobody"#,
        &expect![[r#"
        found
          dependency-one-sided d3 found [w1]
          dependency-one-sided nobody found [w1]
          dependency-one-sided p2 found [w1]
    "#]],
    );
}

#[test]
fn the_dependencies_of_a_job_are_gone() {
    damaged(
        r#"DEL ql:j:d2-dependencies"#,
        &expect![[r#"
        found
          dependency-one-sided d2 found [r1]
          dependency-one-sided d2 found [w1]
    "#]],
    );
}

#[test]
fn nobody_knows_what_a_job_waits_for() {
    damaged(
        r#"DEL ql:j:d1-dependencies
SREM ql:j:w1-dependents d1"#,
        &expect![[r#"
            found
              depends-on-nothing d1 found []
        "#]],
    );
}

#[test]
fn a_delayed_job_waits_for_nothing() {
    damaged(
        r#"DEL ql:j:d4-dependencies ql:j:p1-dependents"#,
        &expect![[r#"
            found
              depends-on-nothing d4 found []
        "#]],
    );
}

#[test]
fn a_job_waits_for_itself() {
    damaged(
        r#"SADD ql:j:d1-dependencies d1
SADD ql:j:d1-dependents d1"#,
        &expect![[r#"
            found
              dependency-cycle d1 report [d1]
            after repair
              dependency-cycle d1 report [d1]
            after naming
              dependency-cycle d1 report [d1]
        "#]],
    );
}

#[test]
fn jobs_wait_for_each_other() {
    damaged(
        r#"SADD ql:j:d1-dependencies d3
SADD ql:j:d3-dependents d1"#,
        &expect![[r#"
            found
              dependency-cycle d1 report [d3 needs d1]
            after repair
              dependency-cycle d1 report [d3 needs d1]
            after naming
              dependency-cycle d1 report [d3 needs d1]
        "#]],
    );
}

#[test]
fn a_waiting_job_has_dependencies() {
    damaged(
        r#"SADD ql:j:w2-dependencies w1
SADD ql:j:w1-dependents w2"#,
        &expect![[r#"
            found
              dependency-one-sided w2 decide [w1]
            after repair
              dependency-one-sided w2 decide [w1]
        "#]],
    );
}

#[test]
fn a_job_waits_for_a_failed_one() {
    damaged(
        r#"SADD ql:j:d1-dependencies f1
SADD ql:j:f1-dependents d1"#,
        &expect![[r#"
            found
              depends-on-failed d1 report [f1]
            after repair
              depends-on-failed d1 report [f1]
            after naming
              depends-on-failed d1 report [f1]
        "#]],
    );
}

#[test]
fn companions_have_no_job() {
    damaged(
        r#"RPUSH ql:j:nobody-history '[1,"put",{}]'
SADD ql:j:nobody-dependencies w1
SADD ql:j:nobody-dependents w2"#,
        &expect![[r#"
            found
              edges-orphan j:nobody-dependencies decide [no job]
              edges-orphan j:nobody-dependents decide [no job]
              history-orphan j:nobody-history decide [no job]
            after repair
              edges-orphan j:nobody-dependencies decide [no job]
              edges-orphan j:nobody-dependents decide [no job]
              history-orphan j:nobody-history decide [no job]
        "#]],
    );
}

#[test]
fn a_failed_job_is_in_no_list() {
    damaged(
        r#"LREM ql:f:G 0 f1"#,
        &expect![[r#"
        found
          failed-unlisted f1 found [G]
    "#]],
    );
}

#[test]
fn a_failure_list_is_gone() {
    damaged(
        r#"DEL ql:f:H"#,
        &expect![[r#"
        found
          failed-unlisted f3 found [H]
          group-set H found [empty]
    "#]],
    );
}

#[test]
fn a_failed_job_is_in_the_list_of_another_group() {
    damaged(
        r#"LREM ql:f:G 0 f1
RPUSH ql:f:H f1"#,
        &expect![[r#"
            found
              failed-stray f1 found [H]
        "#]],
    );
}

#[test]
fn a_failed_job_is_in_two_lists() {
    damaged(
        r#"LPUSH ql:f:H f1"#,
        &expect![[r#"
        found
          failed-twice f1 found [H]
    "#]],
    );
}

#[test]
fn a_failed_job_is_in_a_list_twice() {
    damaged(
        r#"RPUSH ql:f:G f1"#,
        &expect![[r#"
        found
          failed-twice f1 found [G]
    "#]],
    );
}

#[test]
fn lists_hold_jobs_that_have_not_failed() {
    damaged(
        r#"RPUSH ql:f:G w1 nobody
LPUSH ql:f:H r1"#,
        &expect![[r#"
            found
              failed-stray nobody found [G]
              failed-stray r1 found [H]
              failed-stray w1 found [G]
        "#]],
    );
}

#[test]
fn a_list_holds_only_a_stray() {
    damaged(
        r#"RPUSH ql:f:new w1
SADD ql:failures new"#,
        &expect![[r#"
            found
              failed-stray w1 found [new]
        "#]],
    );
}

#[test]
fn a_group_is_not_known() {
    damaged(
        r#"SREM ql:failures G"#,
        &expect![[r#"
            found
              group-set G found [unlisted]
        "#]],
    );
}

#[test]
fn a_group_is_empty() {
    damaged(
        r#"SADD ql:failures nothing"#,
        &expect![[r#"
        found
          group-set nothing found [empty]
    "#]],
    );
}

#[test]
fn a_failure_is_missing() {
    damaged(
        r#"HDEL ql:j:f1 failure"#,
        &expect![[r#"
        found
          job-unreadable f1 decide [no failure]
        after repair
          job-unreadable f1 decide [no failure]
    "#]],
    );
}

#[test]
fn a_failure_is_no_json() {
    damaged(
        r#"HSET ql:j:f1 failure {]
LREM ql:f:G 0 f1"#,
        &expect![[r#"
            found
              failed-unlisted f1 found [G]
              job-unreadable f1 decide [failure]
            after repair
              job-unreadable f1 decide [failure]
        "#]],
    );
}

#[test]
fn a_failure_is_empty_and_no_history_tells() {
    damaged(
        r#"HSET ql:j:f1 failure {}
DEL ql:j:f1-history
LREM ql:f:G 0 f1"#,
        &expect![[r#"
            found
              failed-unlisted f1 report [no group]
              job-unreadable f1 report [failure]
            after repair
              failed-unlisted f1 report [no group]
              job-unreadable f1 report [failure]
            after naming
              failed-unlisted f1 report [no group]
              job-unreadable f1 report [failure]
        "#]],
    );
}

#[test]
fn a_counter_is_too_high() {
    damaged(
        r#"HINCRBY ql:s:stats:172800:run failed 3"#,
        &expect![[r#"
        found
          failed-counter s:stats:172800:run found [7, is 4]
    "#]],
    );
}

#[test]
fn a_counter_is_below_zero() {
    damaged(
        r#"HSET ql:s:stats:172800:run failed -1"#,
        &expect![[r#"
        found
          failed-counter s:stats:172800:run found [-1, is 4]
    "#]],
    );
}

#[test]
fn a_counter_is_missing() {
    damaged(
        r#"HDEL ql:s:stats:172800:run failed"#,
        &expect![[r#"
        found
          failed-counter s:stats:172800:run found [none, is 4]
    "#]],
    );
}

#[test]
fn the_statistics_of_a_day_are_gone() {
    damaged(
        r#"DEL ql:s:stats:172800:run"#,
        &expect![[r#"
        found
          failed-counter s:stats:172800:run found [none, is 4]
    "#]],
    );
}

#[test]
fn a_counter_of_another_day() {
    damaged(
        r#"HSET ql:s:stats:86400:run failed 2"#,
        &expect![[r#"
        found
          failed-counter s:stats:86400:run found [2, is 0]
    "#]],
    );
}

#[test]
fn a_complete_job_is_not_listed() {
    damaged(
        r#"ZREM ql:completed c1"#,
        &expect![[r#"
        found
          completed-unlisted c1 found []
    "#]],
    );
}

#[test]
fn the_list_of_complete_jobs_is_gone() {
    damaged(
        r#"DEL ql:completed"#,
        &expect![[r#"
        found
          completed-unlisted c1 found []
          completed-unlisted c2 found []
    "#]],
    );
}

#[test]
fn jobs_that_are_not_complete_are_listed() {
    damaged(
        r#"ZADD ql:completed 200000 w1 200000 r1 200000 f1"#,
        &expect![[r#"
            found
              completed-stray f1 found [failed]
              completed-stray r1 found [running]
              completed-stray w1 found [waiting]
        "#]],
    );
}

#[test]
fn a_complete_job_is_deleted() {
    damaged(
        r#"DEL ql:j:c1"#,
        &expect![[r#"
        found
          completed-stray c1 found [gone]
          history-orphan j:c1-history decide [no job]
          tag-index c1 found [z]
          tracked-gone c1 decide []
        after repair
          history-orphan j:c1-history decide [no job]
          tracked-gone c1 decide []
    "#]],
    );
}

#[test]
fn a_complete_job_has_a_queue() {
    damaged(
        r#"HSET ql:j:c1 queue q
ZADD ql:q:q-work 0 c1"#,
        &expect![[r#"
            found
              completed-stray c1 report [complete in queue q]
            after repair
              completed-stray c1 report [complete in queue q]
            after naming
              completed-stray c1 report [complete in queue q]
        "#]],
    );
}

#[test]
fn a_completion_is_in_the_future() {
    damaged(
        r#"ZADD ql:completed 201000000 c1"#,
        &expect![[r#"
        found
          clock c1 report [completed at 201000000]
        after repair
          clock c1 report [completed at 201000000]
        after naming
          clock c1 report [completed at 201000000]
    "#]],
    );
}

#[test]
fn a_tag_does_not_list_a_job() {
    damaged(
        r#"ZREM ql:t:x w1"#,
        &expect![[r#"
        found
          tag-index w1 found [x]
    "#]],
    );
}

#[test]
fn a_tag_lists_too_many() {
    damaged(
        r#"ZADD ql:t:x 5 r2 6 nobody"#,
        &expect![[r#"
        found
          tag-index nobody found [x]
          tag-index r2 found [x]
    "#]],
    );
}

#[test]
fn a_tag_is_gone() {
    damaged(
        r#"DEL ql:t:x"#,
        &expect![[r#"
        found
          tag-index d1 found [x]
          tag-index r1 found [x]
          tag-index w1 found [x]
          tag-index w2 found [x]
    "#]],
    );
}

#[test]
fn a_tag_counter_is_wrong() {
    damaged(
        r#"ZINCRBY ql:tags 5 x"#,
        &expect![[r#"
        found
          tag-count x found [9, is 4]
    "#]],
    );
}

#[test]
fn a_tag_counter_is_missing() {
    damaged(
        r#"ZREM ql:tags x"#,
        &expect![[r#"
        found
          tag-count x found [none, is 4]
    "#]],
    );
}

#[test]
fn tag_counters_of_nothing() {
    damaged(
        r#"ZADD ql:tags 0 none -3 less"#,
        &expect![[r#"
        found
          tag-count less found [-3, is 0]
          tag-count none found [0, is 0]
    "#]],
    );
}

#[test]
fn the_tags_of_a_job_were_changed() {
    damaged(
        r#"HSET ql:j:w1 tags ["y","new"]"#,
        &expect![[r#"
        found
          tag-index w1 found [new]
          tag-index w1 found [x]
    "#]],
    );
}

#[test]
fn a_tracked_job_is_gone() {
    damaged(
        r#"ZADD ql:tracked 5 nobody"#,
        &expect![[r#"
        found
          tracked-gone nobody decide []
        after repair
          tracked-gone nobody decide []
    "#]],
    );
}

#[test]
fn a_template_has_no_next_run() {
    damaged(
        r#"ZREM ql:q:q-recur tpl"#,
        &expect![[r#"
        found
          recurring-unscheduled tpl decide [q]
        after repair
          recurring-unscheduled tpl decide [q]
    "#]],
    );
}

#[test]
fn a_template_is_in_another_queue() {
    damaged(
        r#"ZREM ql:q:q-recur tpl
ZADD ql:q:p-recur 300080 tpl"#,
        &expect![[r#"
            found
              recurring-foreign tpl found [p]
        "#]],
    );
}

#[test]
fn a_template_is_in_two_queues() {
    damaged(
        r#"ZADD ql:q:p-recur 300080 tpl"#,
        &expect![[r#"
        found
          recurring-foreign tpl found [p]
    "#]],
    );
}

#[test]
fn an_interval_is_zero() {
    damaged(
        r#"HSET ql:r:tpl interval 0"#,
        &expect![[r#"
        found
          recurring-invalid tpl found [interval]
        after repair
          recurring-invalid tpl report [interval]
        after naming
          recurring-invalid tpl report [interval]
    "#]],
    );
}

#[test]
fn an_interval_is_missing() {
    damaged(
        r#"HDEL ql:r:tpl interval"#,
        &expect![[r#"
        found
          recurring-invalid tpl found [interval]
        after repair
          recurring-invalid tpl report [interval]
        after naming
          recurring-invalid tpl report [interval]
    "#]],
    );
}

#[test]
fn the_tags_of_a_template_are_no_json() {
    damaged(
        r#"HSET ql:r:tpl tags ["#,
        &expect![[r#"
        found
          recurring-invalid tpl found [tags]
    "#]],
    );
}

#[test]
fn the_numbers_of_a_template_are_words() {
    damaged(
        r#"HSET ql:r:tpl priority high retries some backlog all"#,
        &expect![[r#"
            found
              recurring-invalid tpl found [backlog]
              recurring-invalid tpl found [priority]
              recurring-invalid tpl found [retries]
        "#]],
    );
}

#[test]
fn a_template_counts_nonsense() {
    damaged(
        r#"HSET ql:r:tpl count many"#,
        &expect![[r#"
        found
          recurring-invalid tpl report [count]
        after repair
          recurring-invalid tpl report [count]
        after naming
          recurring-invalid tpl report [count]
    "#]],
    );
}

#[test]
fn a_template_has_no_data_klass_and_queue() {
    damaged(
        r#"HDEL ql:r:tpl data klass queue"#,
        &expect![[r#"
            found
              recurring-invalid tpl report [data]
              recurring-invalid tpl report [klass]
              recurring-invalid tpl report [queue]
            after repair
              recurring-invalid tpl report [data]
              recurring-invalid tpl report [klass]
              recurring-invalid tpl report [queue]
            after naming
              recurring-invalid tpl report [data]
              recurring-invalid tpl report [klass]
              recurring-invalid tpl report [queue]
        "#]],
    );
}

#[test]
fn a_template_runs_never() {
    damaged(
        r#"ZADD ql:q:q-recur -5 tpl"#,
        &expect![[r#"
        found
          queue-stuck q report [recur since -5]
          recurring-invalid tpl report [next run at -5]
        after repair
          queue-stuck q report [recur since -5]
          recurring-invalid tpl report [next run at -5]
        after naming
          queue-stuck q report [recur since -5]
          recurring-invalid tpl report [next run at -5]
    "#]],
    );
}

#[test]
fn a_template_has_not_counted_its_children() {
    damaged(
        r#"HSET ql:r:tpl count 0"#,
        &expect![[r#"
            found
              recurring-count tpl found [2]
        "#]],
    );
}

#[test]
fn a_job_is_a_text() {
    damaged(
        r#"DEL ql:j:w2
SET ql:j:w2 text"#,
        &expect![[r#"
            found
              key-type j:w2 decide [is a string, not a hash]
            after repair
              key-type j:w2 decide [is a string, not a hash]
        "#]],
    );
}

#[test]
fn a_set_is_a_text() {
    damaged(
        r#"DEL ql:q:idle-work
SET ql:q:idle-work text"#,
        &expect![[r#"
            found
              key-type q:idle-work decide [is a string, not a zset]
            after repair
              key-type q:idle-work decide [is a string, not a zset]
        "#]],
    );
}

#[test]
fn companions_are_texts() {
    damaged(
        r#"DEL ql:j:w1-history ql:j:w1-dependents ql:j:d2-dependencies
SET ql:j:w1-history text
SET ql:j:w1-dependents text
SET ql:j:d2-dependencies text"#,
        &expect![[r#"
            found
              key-type j:d2-dependencies decide [is a string, not a set]
              key-type j:w1-dependents decide [is a string, not a set]
              key-type j:w1-history decide [is a string, not a list]
            after repair
              key-type j:d2-dependencies decide [is a string, not a set]
              key-type j:w1-dependents decide [is a string, not a set]
              key-type j:w1-history decide [is a string, not a list]
        "#]],
    );
}

#[test]
fn indexes_are_texts() {
    damaged(
        r#"DEL ql:f:H ql:t:z ql:w:b:jobs
SET ql:f:H text
SET ql:t:z text
SET ql:w:b:jobs text"#,
        &expect![[r#"
            found
              key-type f:H decide [is a string, not a list]
              key-type t:z decide [is a string, not a zset]
              key-type w:b:jobs decide [is a string, not a zset]
            after repair
              key-type f:H decide [is a string, not a list]
              key-type t:z decide [is a string, not a zset]
              key-type w:b:jobs decide [is a string, not a zset]
        "#]],
    );
}

#[test]
fn names_are_texts() {
    damaged(
        r#"DEL ql:queues ql:tags ql:failures ql:completed ql:workers ql:paused_queues ql:config ql:tracked
SET ql:queues text
SET ql:tags text
SET ql:failures text
SET ql:completed text
SET ql:workers text
SET ql:paused_queues text
SET ql:config text
SET ql:tracked text"#,
        &expect![[r#"
            found
              key-type completed decide [is a string, not a zset]
              key-type config decide [is a string, not a hash]
              key-type failures decide [is a string, not a set]
              key-type paused_queues decide [is a string, not a set]
              key-type queues decide [is a string, not a zset]
              key-type tags decide [is a string, not a zset]
              key-type tracked decide [is a string, not a zset]
              key-type workers decide [is a string, not a zset]
            after repair
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
        "#]],
    );
}

#[test]
fn keys_of_nobody() {
    damaged(
        r#"SET ql:nothing text
HSET ql:x:y a b
SET ql:q:mail-none text"#,
        &expect![[r#"
            found
              key-unknown nothing report [string]
              key-unknown q:mail-none report [string]
              key-unknown x:y report [hash]
            after repair
              key-unknown nothing report [string]
              key-unknown q:mail-none report [string]
              key-unknown x:y report [hash]
            after naming
              key-unknown nothing report [string]
              key-unknown q:mail-none report [string]
              key-unknown x:y report [hash]
        "#]],
    );
}

#[test]
fn what_a_repair_left() {
    damaged(
        r#"HSET ql:lost:r0:j:old state waiting"#,
        &expect![[r#"
            found
              lost-key lost:r0:j:old decide [hash of 1]
            after repair
              lost-key lost:r0:j:old decide [hash of 1]
        "#]],
    );
}

#[test]
fn settings_are_no_numbers() {
    damaged(
        r#"HSET ql:config heartbeat soon q-heartbeat '' max-job-history all q-max-concurrency -1 application 5x"#,
        &expect![[r#"
            found
              config-value heartbeat report [is no number]
              config-value max-job-history report [is no number]
              config-value q-heartbeat report [is no number]
              config-value q-max-concurrency report [is below 0]
            after repair
              config-value heartbeat report [is no number]
              config-value max-job-history report [is no number]
              config-value q-heartbeat report [is no number]
              config-value q-max-concurrency report [is below 0]
            after naming
              config-value heartbeat report [is no number]
              config-value max-job-history report [is no number]
              config-value q-heartbeat report [is no number]
              config-value q-max-concurrency report [is below 0]
        "#]],
    );
}

#[test]
fn a_queue_runs_more_than_it_may() {
    damaged(
        r#"HSET ql:config run-max-concurrency 1"#,
        &expect![[r#"
        found
          over-limit run report [3 of 1]
        after repair
          over-limit run report [3 of 1]
        after naming
          over-limit run report [3 of 1]
    "#]],
    );
}

#[test]
fn statistics_do_not_add_up() {
    damaged(
        r#"HINCRBY ql:s:wait:172800:run total 1
HSET ql:s:run:172800:run vk -5
HSET ql:s:wait:172800:late mean nan"#,
        &expect![[r#"
            found
              stats-sum s:run:172800:run report [vk is -5]
              stats-sum s:wait:172800:late report [mean is nan]
              stats-sum s:wait:172800:run report [total is 14, slots hold 13]
            after repair
              stats-sum s:run:172800:run report [vk is -5]
              stats-sum s:wait:172800:late report [mean is nan]
              stats-sum s:wait:172800:run report [total is 14, slots hold 13]
            after naming
              stats-sum s:run:172800:run report [vk is -5]
              stats-sum s:wait:172800:late report [mean is nan]
              stats-sum s:wait:172800:run report [total is 14, slots hold 13]
        "#]],
    );
}

#[test]
fn work_is_old() {
    damaged(
        r#"ZADD ql:q:late-locks 100 l1
HSET ql:j:l1 expires 100
ZADD ql:w:b:jobs 100 l1"#,
        &expect![[r#"
            found
              queue-stuck late report [locks since 100]
            after repair
              queue-stuck late report [locks since 100]
            after naming
              queue-stuck late report [locks since 100]
        "#]],
    );
}

#[test]
fn clocks_are_wrong() {
    damaged(
        r#"ZADD ql:workers 201000000 a
ZADD ql:queues 201000000 q"#,
        &expect![[r#"
            found
              clock a report [seen at 201000000]
              clock q report [first seen at 201000000]
            after repair
              clock a report [seen at 201000000]
              clock q report [first seen at 201000000]
            after naming
              clock a report [seen at 201000000]
              clock q report [first seen at 201000000]
        "#]],
    );
}
