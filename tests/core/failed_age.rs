//! Failed jobs with an age: `jobs-failed-history`, and the list by which qless-php deletes jobs.

use expect_test::expect;

use crate::support::core::Core;

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
fn ages_of_failures() {
    Core::new().session(expect![[r#"
        == The next failure deletes jobs that failed too long ago
        config.set 0 jobs-failed-history 100; put 1 me q a K {} 0 tags ["t"]; popByJid 1 q a w1; fail 1 a w1 G M
        track 2 track a; put 50 me q b K {} 0 tags ["t"]; popByJid 50 q b w1; fail 50 b w1 G M
        EXISTS ql:j:a → :1
        events; put 101 me q c K {} 0 tags ["t"]; popByJid 101 q c w1; fail 101 c w1 G M
        EXISTS ql:j:a → :0
        events →
            * ql:log {"jid":"c","event":"put","queue":"q"}
            * ql:log {"message":"M","jid":"c","group":"G","event":"failed","worker":"w1"}
            * ql:log {"jid":"a","queue":"q","event":"canceled","worker":""}
            * ql:canceled a
        failed 102 G | jobs → ["c","b"]
        tag 102 get t | total → 2
        stats 102 q 102 | failed → 2
        score ql:failed-jobs-list a → nil
        clean 103

        == A job with dependents stays
        config.set 0 jobs-failed-history 100; put 1 me q a K {} 0 tags ["t"]; popByJid 1 q a w1; fail 1 a w1 G M
        put 2 me q needs K {} 0 depends ["a"]; put 150 me q b K {} 0 tags ["t"]; popByJid 150 q b w1
        fail 150 b w1 G M
        EXISTS ql:j:a → :1
        cancel 151 needs; put 152 me q c K {} 0 tags ["t"]; popByJid 152 q c w1; fail 152 c w1 G M
        EXISTS ql:j:a → :0
        clean 153

        == With 0 a job is deleted as soon as it fails
        config.set 0 jobs-failed-history 0; put 5 me q a K {} 0 tags ["t"]; popByJid 5 q a w1; fail 5 a w1 G M
        EXISTS ql:j:a → :0
        -- The same with a throttle, and for one whose lock was lost.
        put 6 me q b K {} 0 throttles ["t"]; popByJid 6 q b w1; fail 7 b w1 G M; config.set 7 grace-period 0
        put 7 me q c K {} 0 retries 0; popByJid 7 q c w1; pop 67 q w2 1
        failed 68 → {}
        clean 69

        == Without the setting, or with one that cannot be used, failed jobs stay and nothing is written
        put 1 me q a K {} 0; popByJid 1 q a w1; fail 1 a w1 G M
        put 900000000 me q b K {} 0; popByJid 900000000 q b w1; fail 900000000 b w1 G M
        EXISTS ql:j:a ql:failed-jobs-list → :1
        config.set 900000000 jobs-failed-history soon; put 900000000 me q c K {} 0; popByJid 900000000 q c w1
        fail 900000000 c w1 G M; config.set 900000000 jobs-failed-history -1; put 900000000 me q d K {} 0
        popByJid 900000000 q d w1; fail 900000000 d w1 G M; config.set 900000000 jobs-failed-history ''
        put 900000000 me q e K {} 0; popByJid 900000000 q e w1; fail 900000000 e w1 G M
        states a b c d e → failed failed failed failed failed

        == Every way to fail counts
        config.set 0 jobs-failed-history 100; put 1 me q retried K {} 0 retries 0; pop 1 q w1 1; retry 2 retried q w1
        put 3 me q buried K {} 0; bury 3 buried G M
        config.set 4 grace-period 0; put 4 me q lost K {} 0 retries 0; pop 4 q w1 1; pop 64 q w1 1
        put 65 me q batch K {} 0; pop 65 q w1 1; guard.finish 65 w1 5 batch q fail G M
        put 66 me q worn K {} 0 retries 0; pop 66 q w1 1; guard.finish 66 w1 4 worn q retry 0
        guard.put 67 {} 7 q restored K {} 0 failed {"group":"G","message":"M","when":1,"worker":"w"}
        -- What is restored is not deleted by the next failure.
        ZRANGE ql:failed-jobs-list 0 -1 WITHSCORES → retried 2 buried 3 lost 64 batch 65 worn 66 restored 67
        clean 68; put 165 me q next K {} 0; popByJid 165 q next w1; fail 165 next w1 G M
        states retried buried lost batch worn restored next → none none none none failed failed failed
        clean 166

        == Only failed jobs are deleted whatever the list says
        config.set 0 jobs-failed-history 100; put 1 me q waits K {} 0; put 1 me q runs K {} 0; popByJid 1 q runs w1
        put 1 me q again K {} 0; popByJid 1 q again w1; fail 1 again w1 G M
        put 1 me q old K {} 0; popByJid 1 q old w1; fail 1 old w1 G M; ZADD ql:failed-jobs-list 1 waits 1 runs 1 nope
        -- A script without the setting does not note that it failed again.
        HSET ql:j:again failure {"group":"G","message":"M","when":190,"worker":"w1"}
        put 200 me q next K {} 0; popByJid 200 q next w1; fail 200 next w1 G M
        states waits runs again old → waiting running failed none
        ZRANGE ql:failed-jobs-list 0 -1 WITHSCORES → again 190 next 200

        == A list of another type is named before anything is written
        put 1 me q a K {} 0; popByJid 1 q a w1; fail 1 a w1 G M; put 2 me q b K {} 0; put 2 me q c K {} 0 retries 0
        popByJid 2 q b w1; popByJid 2 q c w1; SET ql:failed-jobs-list x
        -- Without the setting, no call needs it.
        unfail 3 q G; popByJid 3 q a w1; fail 3 a w1 G M; put 3 me q a K {} 0; config.set 4 jobs-failed-history 100
        fail 5 b w1 G M → error Fail(): ql:failed-jobs-list is no zset
        retry 5 c q w1 → error Retry(): ql:failed-jobs-list is no zset
        bury 5 a G M → error Bury(): ql:failed-jobs-list is no zset
        guard.finish 6 w1 5 b q fail G M 4 c q retry 0 → invalid ql:failed-jobs-list is no zset · invalid ql:failed-jobs-list is no zset
        -- A queue goes on, and so do jobs that do not fail.
        retry 7 b q w1; pop 8 q w1 1; config.set 8 grace-period 0; pop 100 q w2 9
        states c → failed

        == A job that cannot be deleted stays and stops no other
        config.set 0 jobs-failed-history 100; put 1 me q a K {} 0 tags ["ta"]; popByJid 1 q a w1; fail 1 a w1 G M
        put 1 me q b K {} 0 tags ["tb"]; popByJid 1 q b w1; fail 1 b w1 G M; DEL ql:t:tb; SET ql:t:tb x
        put 1 me q c K {} 0 tags ["tc"]; popByJid 1 q c w1; fail 1 c w1 G M
        put 200 me q next K {} 0; popByJid 200 q next w1; events; fail 200 next w1 G M
        events →
            * ql:log {"message":"M","jid":"next","group":"G","event":"failed","worker":"w1"}
            * ql:log {"jid":"a","queue":"q","event":"canceled","worker":""}
            * ql:log {"jid":"c","queue":"q","event":"canceled","worker":""}
        states a b c → none failed none
        failed 201 G | jobs → ["next","b"]
        score ql:failed-jobs-list b → 1
    "#]]);
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
fn a_job_that_stops_being_failed_leaves_the_list() {
    let mut core = Core::new();
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
        core.flush();
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
fn a_new_job_does_not_inherit_the_time_of_a_deleted_one() {
    let mut core = Core::new();
    for puts in [
        "put 9 me q new K {} 0",
        "guard.put 9 {} 5 q new K {} 0",
        "guard.put 9 {} 7 q new K {} 0 depends []",
        "recur 9 q new K {} interval 100 0; pop 9 q w1 1",
    ] {
        core.flush();
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
fn the_script_for_qless_php_keeps_failed_jobs_for_a_week() {
    let script = qless::internals::Script::for_qless_php("ql:");
    Core::with(&script.script_text()).session(expect![[r#"
        put 1 me q a K {} 0; popByJid 1 q a w1; fail 1 a w1 G M
        score ql:failed-jobs-list a → 1
        put 604800 me q b K {} 0; popByJid 604800 q b w1; fail 604800 b w1 G M
        states a → failed
        put 604801 me q c K {} 0; popByJid 604801 q c w1; fail 604801 c w1 G M
        states a → none
        clean 604802
    "#]]);
}
