//! Failed jobs with an age: `jobs-failed-history`, and the list by which qless-php deletes jobs.

use serde_json::json;

use crate::support::core::{Core, short};

/// The list of times of failures.
const TIMES: &str = "ql:failed-jobs-list";

/// Puts, pops and fails a job.
fn fail(core: &mut Core, now: u64, jid: &str) {
    core.all(&format!(
        "put {now} me q {jid} K {{}} 0 tags [\"t\"]; popByJid {now} q {jid} w1; fail {now} {jid} w1 G M"
    ));
}

fn exists(core: &mut Core, jid: &str) -> bool {
    !core.state(jid).is_empty()
}

/// What the core of qless-php does with each failure: it deletes what the list names since a week,
/// whatever it does by then.
fn delete_as_qless_php(core: &mut Core, now: u64) {
    let old = format!("ZRANGEBYSCORE {TIMES} 0 {}", now - 604_800);
    for jid in core.redis(&old).texts() {
        core.redis(&format!("DEL ql:j:{jid} ql:j:{jid}-history"));
        core.redis(&format!("LREM ql:f:G 0 {jid}"));
        core.redis(&format!("ZREM {TIMES} {jid}"));
    }
}

#[test]
fn without_the_setting_failed_jobs_stay_and_nothing_is_written() {
    let mut core = Core::new();
    fail(&mut core, 1, "a");
    fail(&mut core, 900_000_000, "b");
    assert!(exists(&mut core, "a"));
    assert!(!core.dump().has(TIMES));
}

#[test]
fn the_next_failure_deletes_jobs_that_failed_too_long_ago() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-failed-history 100");
    fail(&mut core, 1, "a");
    core.ok("track 2 track a");
    fail(&mut core, 50, "b");
    assert!(exists(&mut core, "a"));
    core.events();
    fail(&mut core, 101, "c");
    assert!(!exists(&mut core, "a"));
    let events = core.published();
    assert!(
        events.iter().any(|event| event == "ql:canceled a"),
        "{events:?}"
    );
    assert_eq!(core.json("failed 102 G")["jobs"], json!(["c", "b"]));
    assert_eq!(core.json("tag 102 get t")["total"], 2);
    assert_eq!(core.json("stats 102 q 102")["failed"], 2);
    assert_eq!(core.score(TIMES, "a"), None);
    core.must_be_clean(103.0, Default::default());
}

#[test]
fn every_way_to_fail_counts() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-failed-history 100");
    core.all("put 1 me q retried K {} 0 retries 0; pop 1 q w1 1; retry 2 retried q w1");
    core.all("put 3 me q buried K {} 0; bury 3 buried G M");
    core.all("config.set 4 grace-period 0; put 4 me q lost K {} 0 retries 0; pop 4 q w1 1; pop 64 q w1 1");
    core.all("put 65 me q batch K {} 0; pop 65 q w1 1; guard.finish 65 w1 5 batch q fail G M");
    core.all(
        "put 66 me q worn K {} 0 retries 0; pop 66 q w1 1; guard.finish 66 w1 4 worn q retry 0",
    );
    core.ok(r#"guard.put 67 {} 7 q restored K {} 0 failed {"group":"G","message":"M","when":1,"worker":"w"}"#);
    for (jid, when) in [
        ("retried", 2.0),
        ("buried", 3.0),
        ("lost", 64.0),
        ("batch", 65.0),
        ("worn", 66.0),
        // What is restored is not deleted by the next failure.
        ("restored", 67.0),
    ] {
        assert_eq!(core.score(TIMES, jid), Some(when), "{jid}");
    }
    core.must_be_clean(68.0, Default::default());
    fail(&mut core, 165, "next");
    let left: Vec<bool> = [
        "retried", "buried", "lost", "batch", "worn", "restored", "next",
    ]
    .map(|jid| exists(&mut core, jid))
    .to_vec();
    assert_eq!(left, [false, false, false, false, true, true, true]);
    core.must_be_clean(166.0, Default::default());
}

#[test]
fn a_job_with_dependents_stays() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-failed-history 100");
    fail(&mut core, 1, "a");
    core.ok(r#"put 2 me q needs K {} 0 depends ["a"]"#);
    fail(&mut core, 150, "b");
    assert!(exists(&mut core, "a"));
    core.ok("cancel 151 needs");
    fail(&mut core, 152, "c");
    assert!(!exists(&mut core, "a"));
    core.must_be_clean(153.0, Default::default());
}

#[test]
fn jobs_that_stay_do_not_hide_others() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-failed-history 100");
    for n in 0..250 {
        fail(&mut core, 1, &format!("needed{n}"));
        core.ok(&format!(
            r#"put 1 me q needs{n} K {{}} 0 depends ["needed{n}"]"#
        ));
    }
    fail(&mut core, 2, "old");
    for now in 150..153 {
        fail(&mut core, now, &format!("new{now}"));
    }
    assert!(!exists(&mut core, "old"));
    assert!(exists(&mut core, "needed249"));
}

#[test]
fn one_call_deletes_at_most_100_jobs() {
    let mut core = Core::new();
    for n in 0..250 {
        fail(&mut core, 1, &format!("old{n}"));
    }
    core.ok("config.set 0 jobs-failed-history 100");
    for n in 0..250 {
        core.redis(&format!("ZADD {TIMES} 1 old{n}"));
    }
    for (now, left) in [(200, 151), (201, 52), (202, 3)] {
        fail(&mut core, now, &format!("new{now}"));
        assert_eq!(core.json("failed 203 G")["total"], left);
    }
    core.must_be_clean(204.0, Default::default());
}

#[test]
fn with_0_a_job_is_deleted_as_soon_as_it_fails() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-failed-history 0");
    fail(&mut core, 5, "a");
    assert!(!exists(&mut core, "a"));
    // The same with a throttle, and for one whose lock was lost.
    core.all(r#"put 6 me q b K {} 0 throttles ["t"]; popByJid 6 q b w1; fail 7 b w1 G M"#);
    core.all("config.set 7 grace-period 0; put 7 me q c K {} 0 retries 0; popByJid 7 q c w1; pop 67 q w2 1");
    assert_eq!(core.json("failed 68"), json!({}));
    core.must_be_clean(69.0, Default::default());
}

#[test]
fn a_setting_that_cannot_be_used_deletes_nothing() {
    for setting in ["soon", "-1", "''"] {
        let mut core = Core::new();
        core.ok(&format!("config.set 0 jobs-failed-history {setting}"));
        fail(&mut core, 1, "a");
        fail(&mut core, 900_000, "b");
        assert!(exists(&mut core, "a"), "{setting}");
    }
}

#[test]
fn a_job_that_stops_being_failed_leaves_the_list() {
    for (leaves, why) in [
        ("put 9 me q a K {} 0", "put"),
        ("requeue 9 me q a K {} 0", "requeue"),
        ("unfail 9 q G", "unfail"),
        ("unfail.jobs 9 q G a", "unfail of one"),
        ("cancel 9 a", "cancel"),
        ("cancel 9 a b", "cancel of several"),
        ("guard.requeue 9 {} '' a '' ''", "retry"),
        ("guard.cancel 9 cancel a ''", "guarded cancel"),
        (
            r#"guard.put 9 {"replace":true} 5 q a K {} 0"#,
            "guarded put",
        ),
    ] {
        let mut core = Core::new();
        fail(&mut core, 1, "a");
        // The entry of another script.
        core.redis(&format!("ZADD {TIMES} 1 a"));
        core.ok(leaves);
        assert_eq!(core.score(TIMES, "a"), None, "{why}");
        delete_as_qless_php(&mut core, 604_900);
        let survives = !leaves.contains("cancel");
        assert_eq!(exists(&mut core, "a"), survives, "{why}");
    }
}

#[test]
fn jobs_brought_back_by_the_binary_survive_the_deletion_of_qless_php() {
    let mut core = Core::new();
    let qless = core.qless();
    for n in 0..30 {
        fail(&mut core, 1, &format!("j{n}"));
        core.redis(&format!("ZADD {TIMES} 1 j{n}"));
    }
    qless.run("retry --group G --yes").ok();
    delete_as_qless_php(&mut core, 605_000);
    let waiting = core.ok("length 605000 q");
    assert_eq!(waiting, crate::support::core::Reply::Int(30));
    assert_eq!(core.jids("pop 2000000000 q w1 50").len(), 30);
}

#[test]
fn only_failed_jobs_are_deleted_whatever_the_list_says() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-failed-history 100");
    core.all("put 1 me q waits K {} 0; put 1 me q runs K {} 0; popByJid 1 q runs w1");
    fail(&mut core, 1, "again");
    fail(&mut core, 1, "old");
    core.redis(&format!("ZADD {TIMES} 1 waits 1 runs 1 nope"));
    // A script without the setting does not note that it failed again.
    core.redis(r#"HSET ql:j:again failure {"group":"G","message":"M","when":190,"worker":"w1"}"#);
    fail(&mut core, 200, "next");
    let left = ["waits", "runs", "again", "old"].map(|jid| exists(&mut core, jid));
    assert_eq!(left, [true, true, true, false]);
    let times = core.dump().zset(TIMES);
    let times: Vec<(&str, f64)> = times
        .iter()
        .map(|(jid, when)| (jid.as_str(), *when))
        .collect();
    assert_eq!(times, [("again", 190.0), ("next", 200.0)]);
}

#[test]
fn a_list_of_another_type_is_named_before_anything_is_written() {
    let mut core = Core::new();
    fail(&mut core, 1, "a");
    core.all(
        "put 2 me q b K {} 0; put 2 me q c K {} 0 retries 0; popByJid 2 q b w1; popByJid 2 q c w1",
    );
    core.redis(&format!("SET {TIMES} x"));
    // Without the setting, no call needs it.
    core.all("unfail 3 q G; popByJid 3 q a w1; fail 3 a w1 G M; put 3 me q a K {} 0");
    core.ok("config.set 4 jobs-failed-history 100");
    for (line, who) in [
        ("fail 5 b w1 G M", "Fail"),
        ("retry 5 c q w1", "Retry"),
        ("bury 5 a G M", "Bury"),
    ] {
        let text = format!("user_script:N: {who}(): {TIMES} is no zset");
        assert_eq!(short(&core.refused(line)), text);
    }
    let rows = core.ok("guard.finish 6 w1 5 b q fail G M 4 c q retry 0");
    let why = format!("{TIMES} is no zset");
    for row in rows.list() {
        assert_eq!(row.texts(), ["invalid", why.as_str()]);
    }
    // A queue goes on, and so do jobs that do not fail.
    core.all("retry 7 b q w1; pop 8 q w1 1; config.set 8 grace-period 0; pop 100 q w2 9");
    assert_eq!(core.state("c"), "failed");
}

#[test]
fn the_script_for_qless_php_keeps_failed_jobs_for_a_week() {
    let mut core = Core::with(&qless::internals::Script::for_qless_php("ql:").script_text());
    fail(&mut core, 1, "a");
    assert_eq!(core.score(TIMES, "a"), Some(1.0));
    fail(&mut core, 604_800, "b");
    assert!(exists(&mut core, "a"));
    fail(&mut core, 604_801, "c");
    assert!(!exists(&mut core, "a"));
    core.must_be_clean(604_802.0, Default::default());
}

#[test]
fn a_new_job_does_not_inherit_the_time_of_a_deleted_one() {
    for puts in [
        "put 9 me q new K {} 0",
        "guard.put 9 {} 5 q new K {} 0",
        "guard.put 9 {} 7 q new K {} 0 depends []",
        "recur 9 q new K {} interval 100 0; pop 9 q w1 1",
    ] {
        let mut core = Core::new();
        // Another script has deleted the failed job.
        core.redis(&format!("ZADD {TIMES} 1 new 1 new-1"));
        core.all(puts);
        delete_as_qless_php(&mut core, 604_900);
        assert!(
            exists(&mut core, "new") || exists(&mut core, "new-1"),
            "{puts}"
        );
    }
}

#[test]
fn a_job_that_cannot_be_deleted_stays_and_stops_no_other() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-failed-history 100");
    for jid in ["a", "b", "c"] {
        core.ok(&format!("put 1 me q {jid} K {{}} 0 tags [\"t{jid}\"]"));
        core.all(&format!("popByJid 1 q {jid} w1; fail 1 {jid} w1 G M"));
    }
    core.redis("SET ql:t:tb x");
    core.events();
    fail(&mut core, 200, "next");
    let left = ["a", "b", "c"].map(|jid| exists(&mut core, jid));
    assert_eq!(left, [false, true, false]);
    assert_eq!(core.json("failed 201 G")["jobs"], json!(["next", "b"]));
    assert_eq!(core.score(TIMES, "b"), Some(1.0));
    let events = core.published();
    let canceled = events.iter().filter(|event| event.contains("canceled"));
    assert_eq!(canceled.count(), 2, "{events:?}");
}
