//! `lag`: how long the oldest due job of a queue has been due.

use serde_json::json;

use crate::support::core::Core;

/// The lag of `q`.
fn lag(core: &mut Core, now: &str) -> f64 {
    core.json(&format!("lag {now} q"))["q"].as_f64().unwrap()
}

#[test]
fn the_lag_is_the_age_of_the_first_waiting_job() {
    let mut core = Core::new();
    assert_eq!(core.json("lag 5 q p"), json!({"q": 0, "p": 0}));
    core.all("put 10 w q a K {} 0; put 12 w q b K {} 0");
    assert_eq!(core.ok("lag 15.5 q p q").text(), r#"{"q":5.5,"p":0}"#);
    // Like the next pop, it sees the highest priority first.
    core.ok("priority 16 b 3");
    assert_eq!(lag(&mut core, "17"), 5.0);
    core.ok("pop 18 q w1 1");
    assert_eq!(lag(&mut core, "20"), 10.0);
    core.ok("pop 20 q w1 1");
    assert_eq!(lag(&mut core, "20"), 0.0);
}

#[test]
fn a_scheduled_job_counts_from_its_time() {
    let mut core = Core::new();
    core.all("put 10 w q a K {} 20; put 10 w q b K {} 30");
    assert_eq!(lag(&mut core, "29"), 0.0);
    assert_eq!(lag(&mut core, "33"), 3.0);
}

#[test]
fn an_expired_lock_counts_from_its_expiry() {
    let mut core = Core::new();
    core.all("config.set 0 heartbeat 60; put 10 w q a K {} 0; pop 20 q w1 1");
    assert_eq!(lag(&mut core, "79"), 0.0);
    assert_eq!(lag(&mut core, "85"), 5.0);
    // The grace period extends the lock.
    core.ok("pop 85 q w2 1");
    assert_eq!(lag(&mut core, "86"), 0.0);
    assert_eq!(lag(&mut core, "96"), 1.0);
}

#[test]
fn a_job_without_a_time_in_its_score_counts_from_its_newest_entry() {
    let mut core = Core::new();
    core.all("put 10 w q a K {} 0; pop 20 q w1 1; timeout 30 a");
    assert_eq!(core.score("ql:q:q-work", "a"), Some(f64::INFINITY));
    assert_eq!(lag(&mut core, "33"), 3.0);
    core.all("cancel 34 a; put 40 w q b K {} 0 priority 9007199254740992");
    assert_eq!(lag(&mut core, "44"), 4.0);
}

#[test]
fn a_job_of_a_client_whose_clock_is_ahead_has_no_lag() {
    let mut core = Core::new();
    core.ok("put 50 w q a K {} 0");
    assert_eq!(lag(&mut core, "40"), 0.0);
}

#[test]
fn lag_needs_a_queue_and_writes_nothing() {
    let mut core = Core::new();
    let error = core.refused("lag 0");
    assert!(error.contains("Queue(): no queue name provided"), "{error}");
    core.all("put 1 w q a K {} 0; put 1 w q s K {} 1; recur 1 q r K {} interval 1 0");
    let before = core.dump();
    core.ok("lag 9 q nope");
    assert_eq!(core.dump(), before);
    core.redis("SET ql:q:x-work text");
    assert!(core.run("lag 9 x").unwrap_err().contains("WRONGTYPE"));
    assert_eq!(lag(&mut core, "9"), 8.0);
}
