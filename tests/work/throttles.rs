//! Throttles and locks with real workers: a ledger that the programs write shows what ran together.

use std::collections::HashMap;

use rustix::process::Signal;

use super::lanes::wait_for_looks;
use crate::support::work::{WorkSite, Worker};

/// A run has a line when it starts and one when it has ended.
const LEDGER: &str = r#"
    echo "start $QLESS_JID" >> $D/ledger
    sleep 0.03
    echo "end $QLESS_JID" >> $D/ledger
"#;

/// The most runs of chosen jobs at the same time.
#[track_caller]
fn most_together(ledger: &str, is_meant: impl Fn(&str) -> bool) -> usize {
    let (mut running, mut most): (HashMap<&str, usize>, _) = (HashMap::new(), 0);
    for line in ledger.lines() {
        let (what, jid) = line.split_once(' ').unwrap();
        if !is_meant(jid) {
            continue;
        }
        let count = running.entry(jid).or_default();
        match what {
            "start" => *count += 1,
            _ => *count -= 1,
        }
        most = most.max(running.values().sum());
    }
    most
}

/// A site whose queues run identical jobs one after the other.
fn guarded(queues: &[&str]) -> WorkSite {
    let mut site = WorkSite::new();
    for queue in queues {
        site.config(&format!("{queue}-defaults"), r#"{"lock":"*"}"#);
    }
    site
}

#[track_caller]
fn end_all(workers: Vec<Worker>) {
    for worker in workers {
        worker.end().exits(0);
    }
}

#[test]
fn l1_identical_jobs_never_overlap_between_two_workers_and_all_run() {
    let mut site = guarded(&["hi"]);
    for at in 0..6 {
        site.put("hi", &format!("same-{at}"), r#"{"a":1}"#);
    }
    let start = |site: &mut WorkSite| site.start("hi --drain -c 2 --poll 100ms", LEDGER);
    let workers = vec![start(&mut site), start(&mut site)];
    end_all(workers);
    let ledger = site.file("ledger");
    assert_eq!(ledger.lines().count(), 12, "{ledger}");
    assert_eq!(most_together(&ledger, |_| true), 1, "{ledger}");
    site.must_keep_invariants();
}

#[test]
fn l2_identical_jobs_of_two_queues_never_overlap() {
    let mut site = guarded(&["hi", "lo"]);
    for at in 0..3 {
        for queue in ["hi", "lo"] {
            site.put(queue, &format!("{queue}-{at}"), r#"{"a":1}"#);
        }
    }
    let workers = ["hi lo", "lo hi"];
    let workers = workers.map(|queues| {
        let line = format!("{queues} --drain -c 2 --poll 100ms");
        site.start(&line, LEDGER)
    });
    end_all(workers.into());
    let ledger = site.file("ledger");
    assert_eq!(ledger.lines().count(), 12, "{ledger}");
    assert_eq!(most_together(&ledger, |_| true), 1, "{ledger}");
    site.must_keep_invariants();
}

#[test]
fn l3_jobs_with_different_data_run_together() {
    let mut site = guarded(&["hi"]);
    site.put("hi", "a", r#"{"a":1}"#);
    site.put("hi", "b", r#"{"a":2}"#);
    let script = "touch $D/in-$QLESS_JID
        until test -e $D/in-a && test -e $D/in-b; do sleep 0.02; done";
    let workers = (0..2).map(|_| site.start("hi --count 1", script));
    end_all(workers.collect());
    site.must_keep_invariants();
}

#[test]
fn l5_a_job_longer_than_its_lock_is_not_started_twice() {
    let mut site = guarded(&["hi"]);
    site.config("heartbeat", "1.5");
    site.put("hi", "long", "{}");
    site.put("hi", "next", "{}");
    let script = r#"
        echo "start $QLESS_JID" >> $D/ledger
        test $QLESS_JID = next || sleep 4.5
        echo "end $QLESS_JID" >> $D/ledger
    "#;
    let workers = (0..2).map(|_| site.start("hi --drain --poll 100ms", script));
    end_all(workers.collect());
    assert_eq!(
        site.words("ledger"),
        "start long end long start next end next"
    );
    site.must_keep_invariants();
}

#[test]
fn l6_after_a_killed_worker_the_same_job_starts_before_identical_ones() {
    let mut site = guarded(&["hi"]);
    site.config("heartbeat", "0.6");
    site.config("grace-period", "1");
    for jid in ["a", "b"] {
        site.put("hi", jid, "{}");
    }
    let script = "echo $QLESS_FENCE $QLESS_JID >> $D/ran; test -e $D/killed || exec sleep 100";
    let worker = site.start("hi", script);
    site.until_lines("ran", 1);
    std::fs::write(site.dir().join("killed"), "").unwrap();
    worker.signal(Signal::KILL);
    site.work("hi --drain -c 2 --poll 100ms", script).exits(0);
    assert_eq!(site.words("ran"), "1 a 2 a 3 b");
    site.must_keep_invariants();
}

#[test]
fn l8_the_low_queue_is_served_in_the_first_round() {
    let mut site = guarded(&["hi"]);
    for at in 0..50 {
        site.put("hi", &format!("hi-{at}"), r#"{"same":1}"#);
    }
    site.put("lo", "lo", "{}");
    // The first job of `hi` does not end before the one of `lo` has started.
    let script = r#"
        echo "start $QLESS_JID" >> $D/ledger
        test $QLESS_QUEUE = hi || touch $D/lo
        until test -e $D/lo; do sleep 0.02; done
        echo "end $QLESS_JID" >> $D/ledger
    "#;
    site.work("hi lo -c 4 --drain --poll 1h", script).exits(0);
    let ledger = site.file("ledger");
    assert_eq!(ledger.lines().count(), 102);
    let is_high = |jid: &str| jid.starts_with("hi");
    assert_eq!(most_together(&ledger, is_high), 1, "{ledger}");
    site.must_keep_invariants();
}

#[test]
fn not_more_than_ten_of_a_hundred_jobs_run_at_the_same_time() {
    let mut site = WorkSite::new();
    site.client.call(&["throttle.set", "api", "10"]).unwrap();
    for at in 0..100 {
        let queue = ["mail", "sms"][at % 2];
        site.put_with(queue, &at.to_string(), "{}", &["throttles", r#"["api"]"#]);
    }
    // The first ten wait until ten have started, so the limit is reached.
    let script = r#"
        echo "start $QLESS_JID" >> $D/ledger
        until test $(grep -c start $D/ledger) -ge 10; do sleep 0.02; done
        echo "end $QLESS_JID" >> $D/ledger
    "#;
    let lines = ["mail sms -c 8", "sms mail -c 8", "mail -c 4"];
    let workers = lines.map(|line| site.start(&format!("{line} --drain --poll 200ms"), script));
    end_all(workers.into());
    let ledger = site.file("ledger");
    assert_eq!(ledger.lines().count(), 200);
    assert_eq!(most_together(&ledger, |_| true), 10, "{ledger}");
    site.must_keep_invariants();
}

#[test]
fn a_drain_waits_for_held_jobs_that_can_run_and_for_no_others() {
    let mut site = WorkSite::new();
    site.client.call(&["throttle.set", "one", "1"]).unwrap();
    site.client.call(&["throttle.set", "none", "-1"]).unwrap();
    site.put_with("other", "holder", "{}", &["throttles", r#"["one"]"#]);
    site.put_with("mail", "held", "{}", &["throttles", r#"["one"]"#]);
    assert_eq!(site.client.pop("other", "me", 1), ["holder"]);
    let worker = site.start("mail --drain --poll 100ms", LEDGER);
    wait_for_looks(&site);
    assert_eq!(site.state("held"), "throttled");
    site.client
        .call(&["complete", "holder", "me", "other", "{}"])
        .unwrap();
    let ended = worker.end();
    let state = site.state("held");
    assert_eq!(
        [ended.code.to_string(), state],
        ["0", "complete"],
        "{}",
        ended.stderr
    );
    // No slot of this throttle will ever be free.
    site.put_with("mail", "never", "{}", &["throttles", r#"["none"]"#]);
    let ran = site.work("mail --drain", LEDGER).exits(0);
    assert_eq!(site.state("never"), "throttled");
    let note = "note: queue `mail` still has jobs: 1 throttled";
    ran.says(note);
    // Nothing of a paused queue runs.
    site.put_with("other", "holder", "{}", &["throttles", r#"["one"]"#]);
    site.put_with("mail", "paused", "{}", &["throttles", r#"["one"]"#]);
    assert_eq!(site.client.pop("other", "me", 1), ["holder"]);
    site.client.call(&["pop", "mail", "me", "1"]).unwrap();
    site.client.call(&["pause", "mail"]).unwrap();
    site.work("mail --drain", LEDGER).exits(0);
    assert_eq!(site.state("paused"), "throttled");
    site.must_keep_invariants();
}

#[test]
fn a_drain_goes_on_behind_more_held_jobs_and_ghosts_than_one_pop_looks_at() {
    let mut site = WorkSite::new();
    site.config("max-pop-scan", "10");
    site.client.call(&["throttle.set", "none", "-1"]).unwrap();
    for at in 0..35 {
        let first = ["throttles", r#"["none"]"#, "priority", "5"];
        site.put_with("mail", &format!("held-{at}"), "{}", &first);
    }
    site.put("mail", "free", "{}");
    site.work("mail --drain", LEDGER).exits(0);
    assert_eq!(site.state("free"), "complete");
    // A pop looks at a thousand ids without jobs more than it wants jobs.
    site.put("ghosts", "last", "{}");
    let ghosts = "for i = 1, 3500 do redis.call('zadd', 'ql:q:ghosts-work', 9, 'ghost' .. i) end";
    site.redis.send(&["EVAL", ghosts, "0"]);
    site.work("ghosts --drain", LEDGER).exits(0);
    assert_eq!(site.state("last"), "complete");
    site.must_keep_invariants();
}

#[test]
fn one_job_behind_many_held_ones_is_found_at_once() {
    let mut site = WorkSite::new();
    site.config("max-pop-scan", "10");
    site.client.call(&["throttle.set", "none", "-1"]).unwrap();
    for at in 0..95 {
        let first = ["throttles", r#"["none"]"#, "priority", "5"];
        site.put_with("mail", &format!("held-{at}"), "{}", &first);
    }
    site.put("mail", "free", "{}");
    // Ten pops, each a minute after the one before, would end after the deadline of the test.
    site.work("mail --count 1 --poll 1m", LEDGER).exits(0);
    assert_eq!(site.state("free"), "complete");
}
