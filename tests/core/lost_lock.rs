//! The back-off of jobs that lost their lock.

use expect_test::expect;
use serde_json::json;

use crate::support::core::Core;

/// Loses the lock of `j` for good: a pop after its end warns the holder, the next one takes the job. The result is the
/// time of the next one.
fn lose(core: &mut Core, popped: u64) -> u64 {
    assert_eq!(core.jids(&format!("pop {} q w2 1", popped + 60)), [""; 0]);
    popped + 70
}

#[test]
fn a_job_waits_longer_after_each_lost_lock() {
    let mut core = Core::new();
    core.ok(r#"put 0 me q j K {} 0 retries 3 backoff {"initial_delay":5,"factor":2}"#);
    let mut now = 1;
    for (remaining, delay) in [(2, 10), (1, 20), (0, 40)] {
        core.ok(&format!("pop {now} q w1 1"));
        let lost = lose(&mut core, now);
        assert_eq!(core.jids(&format!("pop {lost} q w2 1")), [""; 0]);
        let job = core.json(&format!("get {lost} j"));
        assert_eq!(
            (&job["state"], &job["remaining"], &job["worker"]),
            (&json!("scheduled"), &json!(remaining), &json!(""))
        );
        let due = core.score("ql:q:q-scheduled", "j");
        assert_eq!(due, Some((lost + delay) as f64));
        core.must_be_clean(lost as f64, Default::default());
        now = lost + delay;
    }
    core.ok(&format!("pop {now} q w1 1"));
    let lost = lose(&mut core, now);
    core.ok(&format!("pop {lost} q w2 1"));
    assert_eq!(core.state("j"), "failed");
    core.must_be_clean(lost as f64, Default::default());
}

#[test]
fn the_settings_hold_for_jobs_without_a_policy_of_their_own() {
    let mut core = Core::new();
    for (config, backoff, due) in [
        ("", "", None),
        ("", "[]", None),
        ("", r#"{"factor":4}"#, None),
        ("backoff-initial-delay 7", "", Some(7.0 * 3.0)),
        (
            "backoff-initial-delay 7",
            r#"{"factor":4}"#,
            Some(7.0 * 4.0),
        ),
        ("backoff-initial-delay 7", r#"{"initial_delay":0}"#, None),
        (
            "backoff-factor 2",
            r#"{"initial_delay":6}"#,
            Some(6.0 * 2.0),
        ),
        // A policy for retries concerns only retries.
        ("", "fixed:9", None),
        ("backoff-initial-delay 7", "fixed:9", Some(7.0 * 3.0)),
        // What cannot be used counts as not set.
        ("backoff-initial-delay -7", "", None),
        ("backoff-initial-delay soon", "", None),
        (
            "backoff-factor -2",
            r#"{"initial_delay":6}"#,
            Some(6.0 * 3.0),
        ),
        // No delay is longer than 30 years.
        (
            "",
            r#"{"initial_delay":1e300,"factor":1e300}"#,
            Some(946_080_000.0),
        ),
    ] {
        core.flush();
        if !config.is_empty() {
            core.ok(&format!("config.set 0 {config}"));
        }
        let option = match backoff {
            "" => String::new(),
            policy => format!(" backoff {policy}"),
        };
        core.all(&format!("put 0 me q j K {{}} 0{option}; pop 1 q w1 1"));
        let lost = lose(&mut core, 1);
        let granted = core.jids(&format!("pop {lost} q w2 1"));
        let case = format!("{config} {backoff}");
        assert_eq!(granted.is_empty(), due.is_some(), "{case}");
        let due = due.map(|delay| lost as f64 + delay);
        assert_eq!(core.score("ql:q:q-scheduled", "j"), due, "{case}");
    }
}

#[test]
fn lost_locks_and_retries() {
    Core::new().session(expect![[r#"
        == A retry is not delayed by a back-off for lost locks
        put 0 me q j K {} 0 backoff {"initial_delay":5}; pop 1 q w1 1; retry 2 j q w1
        pop 3 q w1 1 | jid → j

        == Without a grace period the first expiry counts
        config.set 0 grace-period 0; put 0 me q j K {} 0 backoff {"initial_delay":5}; pop 1 q w1 1
        pop 61 q w2 1 | jid → {}
        score ql:q:q-scheduled j → 76

        == A job that waits for its back-off gives back its slots and keeps its lane
        throttle.set 0 t 1; put 0 me q j K {} 0 key k throttles ["t"] backoff {"initial_delay":5}
        put 0 me q k K {} 0 key k; put 0 me q other K {} 0 throttles ["t"]; popByJid 1 q j w1; pop 61 q w2 2
        -- The slot is free again, and the lane waits for its first job.
        pop 71 q w2 2 | jid → other
        states j k → scheduled depends
        clean 72; complete 73 other w2 q {}
        pop 86 q w2 9 | jid → j
        clean 87
    "#]]);
}
