//! The data of qless-php: its keys are known, entries by which it would delete living jobs are found
//! and repaired, and random calls of both dialects leave nothing to find.

use expect_test::expect;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

use crate::support::check_calls::verify_all;
use crate::support::core::{Core, script};
use crate::support::qless::Qless;
use crate::support::random;
use crate::support::text::Shows;

/// The binary at 1000.
fn qless(core: &Core) -> Qless {
    core.qless().env("QLESS_NOW", "1000")
}

/// Findings as lines of `check`.
fn finds(core: &Core) -> String {
    qless(core).run("check").stdout()
}

/// What a core of qless-php leaves: jobs of all kinds, topics, lists of failures and of complete jobs.
fn used() -> Core {
    let mut core = Core::with(&qless::internals::Script::for_qless_php("ql:").script_text());
    for (at, jid) in ["failed", "again", "waits", "done"].into_iter().enumerate() {
        let at = 900 + at;
        core.all(&format!(
            "put {at} me q {jid} K {{}} 0 backoff []; popByJid {at} q {jid} w1"
        ));
    }
    core.all("fail 910 failed w1 G M; fail 911 again w1 G M; fail 912 waits w1 G M; complete 913 done w1 q {}");
    core.ok("subscription 914 q add big.*");
    core
}

#[test]
fn the_keys_of_qless_php_are_known() {
    let core = used();
    for key in [
        "ql:topicsq",
        "ql:subscriptions",
        "ql:failed-jobs-list",
        "ql:q:q-completed",
    ] {
        let mut core = core.beside(script());
        assert_eq!(core.redis(&format!("EXISTS {key}")).int(), 1, "{key}");
    }
    finds(&core).shows(expect![[r#"
        info	queue-empty	1	queue is listed or paused, but empty	q: nothing in it
    "#]]);
}

#[test]
fn entries_that_would_delete_living_jobs_are_repaired_and_reverted() {
    let mut core = used();
    // The core of qless-php leaves the entry of a job that is put again.
    core.ok("put 920 me q waits K {} 0");
    core.redis("ZADD ql:failed-jobs-list 912 waits");
    // A script without the setting does not note when it failed again.
    core.redis(r#"HSET ql:j:again failure {"group":"G","message":"M","when":950,"worker":"w1"}"#);
    core.redis("ZADD ql:failed-jobs-list 5 gone");
    core.redis("ZADD ql:q:q-completed 5 gone 6 waits");
    core.redis("ZADD ql:q:other-completed 5 gone 913 done");
    finds(&core).shows(expect![[r#"
            error	failed-time	2	qless-php will delete a job as failed long ago	again: failed again at 950, waits: is waiting
            info	completed-in-queue	3	complete job of a queue is gone or not complete	other: gone; q: gone, waits
            info	failed-time-ghost	1	time of the failure of a job that does not exist	gone
        "#]]);
    assert_eq!(qless(&core).run("check").code(), 7);
    let before = core.dump();
    let folder = tempfile::tempdir().unwrap();
    let undo = folder.path().join("undo");
    let repair = format!("check --repair --yes --undo {}", undo.display());
    qless(&core).run(&repair).ok();
    finds(&core).shows(expect![""]);
    let times = core.dump().zset("ql:failed-jobs-list");
    let times: Vec<String> = times
        .iter()
        .map(|(jid, at)| format!("{jid} {at}"))
        .collect();
    assert_eq!(times, ["again 950", "failed 910"]);
    assert_eq!(core.dump().zset("ql:q:q-completed").len(), 1);
    assert_eq!(core.dump().zset("ql:q:other-completed").len(), 1);
    let revert = format!("check --revert {} --yes", undo.display());
    qless(&core).run(&revert).ok();
    assert_eq!(core.dump(), before);
}

#[test]
fn a_check_of_one_queue_finds_its_entries_only() {
    let mut core = used();
    core.all("put 920 me q waits K {} 0; put 920 me other b K {} 0");
    core.redis("ZADD ql:failed-jobs-list 912 waits 5 b");
    core.redis("ZADD ql:q:q-completed 6 waits");
    let check = |queue: &str| {
        let printed = qless(&core).run(&format!("check --queue {queue}")).stdout();
        let lines = printed
            .lines()
            .map(|line| line.split('\t').nth(1).unwrap().to_owned());
        lines.collect::<Vec<_>>()
    };
    assert_eq!(check("q"), ["failed-time", "completed-in-queue"]);
    assert_eq!(check("other"), ["failed-time"]);
}

#[test]
fn keys_of_another_type_and_wrong_settings_are_found() {
    let mut core = Core::new();
    core.all("put 1 me q a K {} 0; config.set 1 jobs-failed-history soon; config.set 1 backoff-factor -1");
    core.redis("SET ql:failed-jobs-list x");
    core.redis("SET ql:topicsq x");
    core.redis("SET ql:subscriptions x");
    core.redis("SET ql:q:q-completed x");
    finds(&core).shows(expect![[r#"
            critical	key-type	4	key of a wrong type, or id with a reserved suffix	subscriptions: is a string, not a hash, topicsq: is a string, not a hash, failed-jobs-list: is a string, not a zset
            warn	config-value	2	setting has a value that cannot be used	backoff-factor: is ignored, is below 0, jobs-failed-history: is ignored, is no number
        "#]]);
}

/// A call of either client.
fn call() -> impl Strategy<Value = String> {
    let jid = || select(&["a", "b", "c", "d", "e"][..]);
    let queue = || select(&["q", "p"][..]);
    let worker = || select(&["w1", "w2"][..]);
    let backoff = select(
        &[
            "",
            " backoff []",
            " backoff {\"initial_delay\":5,\"factor\":2}",
            " backoff {\"initial_delay\":50}",
            " backoff fixed:9",
            " key k",
            " throttles [\"t\"]",
            " depends [\"a\"]",
            " tags [\"x\",\"\"]",
        ][..],
    );
    let put = (queue(), jid(), select(&["0", "0", "30"][..]), backoff, 0..3);
    prop_oneof![
        5 => put.prop_map(|(queue, jid, delay, option, retries)| {
            format!("put {{now}} me {queue} {jid} K {{}} {delay}{option} retries {retries}")
        }),
        3 => (queue(), worker(), 1..3).prop_map(|(queue, worker, count)| format!("pop {{now}} {queue} {worker} {count}")),
        3 => (queue(), jid(), worker())
            .prop_map(|(queue, jid, worker)| format!("popByJid {{now}} {queue} {jid} {worker}")),
        2 => (jid(), worker(), queue())
            .prop_map(|(jid, worker, queue)| format!("complete {{now}} {jid} {worker} {queue} {{}}")),
        4 => (jid(), worker()).prop_map(|(jid, worker)| format!("fail {{now}} {jid} {worker} G M")),
        1 => (jid(), worker(), queue())
            .prop_map(|(jid, worker, queue)| format!("retry {{now}} {jid} {queue} {worker}")),
        1 => jid().prop_map(|jid| format!("cancel {{now}} {jid}")),
        1 => queue().prop_map(|queue| format!("unfail {{now}} {queue} G")),
        1 => jid().prop_map(|jid| format!("timeout {{now}} {jid}")),
        1 => (queue(), select(&["add", "remove", "exists"][..]), select(&["t", "u.*"][..]))
            .prop_map(|(queue, verb, topic)| format!("subscription {{now}} {queue} {verb} {topic}")),
        1 => select(&["subscription {now} '' all", "workers {now} '' 0 5", "tags {now} 0 9", "tracked {now}",
            "workersCount {now}", "workerJobs {now} w1", "jobs {now} complete q 0 9", "jobs {now} waiting q",
            "jobs {now} complete '' 0 9", "queues {now}", "config.set {now} jobs-failed-history 200",
            "config.set {now} backoff-initial-delay 20", "config.unset {now} backoff-initial-delay"][..])
            .prop_map(str::to_owned),
    ]
}

#[test]
fn random_calls_of_both_dialects_leave_nothing_to_find() {
    let mut core = Core::new();
    let mut php = core.beside(&qless::internals::Script::for_qless_php("ql:").script_text());
    let calls = prop::collection::vec((call(), any::<bool>(), 0..40_u32), 1..100);
    random::property(random::more_in_soak(50), calls, |calls| {
        core.flush();
        php.flush();
        let mut now = 604_800;
        for (line, is_php, after) in &calls {
            now += after;
            let line = line.replace("{now}", &now.to_string());
            let which = if *is_php { &mut php } else { &mut core };
            // Some calls are refused: a job in another state, a cycle.
            let _ = which.run(&line);
        }
        let ghosts = verify_all(&mut core, f64::from(now), "failed-time-ghost");
        if !ghosts.is_empty() {
            return Err(TestCaseError::fail(format!("{ghosts:?}")));
        }
        match core.damage_within(f64::from(now), Default::default()) {
            Ok(damage) if damage.is_empty() => Ok(()),
            Ok(damage) => Err(TestCaseError::fail(damage)),
            Err(fault) => Err(TestCaseError::fail(fault)),
        }
    });
}
