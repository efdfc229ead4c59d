//! What Lowkiq promised, as far as the core keeps it:
//! payloads of one id are merged, the jobs of a key run in order, failed ones back off.

use crate::support::core::Core;

/// A merging put.
fn merge(now: u64, jid: &str, key: &str, payload: &str, score: i64) -> String {
    format!("put {now} me q {jid} K \"{payload}\" 0 key {key} dup merge score {score}")
}

#[test]
fn k3_payloads_accumulate_with_the_smaller_or_the_larger_score() {
    for (rescore, wanted) in [
        ("", r#""v1" 1, "v2" 2, "v3" 4"#),
        (" rescore min", r#""v1" 1, "v2" 2, "v3" 4"#),
        (" rescore max", r#""v1" 1, "v2" 3, "v3" 4"#),
    ] {
        let mut core = Core::new();
        for (jid, payload, score) in [
            ("a", "v1", 1),
            ("b", "v2", 2),
            ("c", "v2", 3),
            ("d", "v3", 4),
        ] {
            let put = format!("{}{rescore}", merge(1, jid, "id", payload, score));
            assert_eq!(core.ok(&put).text(), "a");
        }
        assert_eq!(core.payloads("a"), wanted);
        let job = core.json("get 2 a");
        assert_eq!(job["data"], r#"["v1","v2","v3"]"#);
        let first = &job["payloads"][0];
        assert_eq!(
            (&first[0], first[1].as_f64()),
            (&r#""v1""#.into(), Some(1.0))
        );
    }
}

#[test]
fn k4_a_failed_run_takes_the_waiting_payloads_along_and_gives_up_the_oldest() {
    let mut core = Core::new();
    core.ok(&format!("{} retries 1", merge(1, "a", "k", "v1", 1)));
    assert_eq!(core.jids("pop 2 q w1 5"), ["a"]);
    assert_eq!(core.ok(&merge(3, "b", "k", "v2", 2)).text(), "b");
    assert_eq!(core.ok(&merge(3, "c", "k", "v3", 3)).text(), "b");
    assert_eq!(core.ok("retry 4 a q w1").int(), 0);
    assert_eq!(core.payloads("a"), r#""v1" 1, "v2" 2, "v3" 3"#);
    assert_eq!(core.jids("pop 5 q w1 5"), ["a"]);
    assert_eq!(core.ok(&merge(6, "d", "k", "v0", 0)).text(), "d");
    assert_eq!(core.ok("retry 7 a q w1").int(), -1);
    // The payload that joined last has the lowest score.
    assert_eq!(core.data("a"), r#"["v0"]"#);
    assert_eq!(core.data("a~1"), r#"["v1","v2","v3"]"#);
    assert_eq!(core.states("a a~1"), "failed waiting");
    assert!(!core.has("b") && !core.has("d"));
}

#[test]
fn k5_an_equal_payload_with_a_smaller_score_lowers_it() {
    let mut core = Core::new();
    core.ok(&merge(1, "a", "k", "v1", 5));
    core.ok(&merge(1, "b", "k", "v2", 6));
    assert_eq!(core.ok(&merge(2, "c", "k", "v2", 3)).text(), "a");
    assert_eq!(core.payloads("a"), r#""v2" 3, "v1" 5"#);
    assert_eq!(core.data("a"), r#"["v2","v1"]"#);
    // The score is the time of the put if none is given.
    core.ok(r#"put 4 me q d K "v3" 0 key k dup merge"#);
    assert_eq!(core.payloads("a"), r#""v2" 3, "v3" 4, "v1" 5"#);
}

#[test]
fn k5_payloads_with_equal_scores_are_ordered_by_their_bytes_and_kept_byte_for_byte() {
    let mut core = Core::new();
    for (jid, payload) in [
        ("a", "[1, 2.50]"),
        ("b", "{\"b\":1,\"a\":[]}"),
        ("c", "1e3"),
    ] {
        core.ok(&format!(
            "put 1 me q {jid} K '{payload}' 0 key k dup merge score 1"
        ));
    }
    assert_eq!(core.data("a"), r#"[1e3,[1, 2.50],{"b":1,"a":[]}]"#);
}

#[test]
fn k6_a_payload_that_arrives_during_the_run_is_run_after_it() {
    let mut core = Core::new();
    core.ok(&merge(1, "a", "k", "v1", 1));
    assert_eq!(core.jids("pop 2 q w1 5"), ["a"]);
    assert_eq!(core.ok(&merge(3, "b", "k", "v1", 1)).text(), "b");
    assert_eq!(core.data("a"), r#"["v1"]"#);
    assert_eq!(core.jids("pop 4 q w2 5"), [""; 0]);
    core.ok("complete 5 a w1 q {}");
    assert_eq!(core.jids("pop 6 q w2 5"), ["b"]);
    assert_eq!(core.data("b"), r#"["v1"]"#);
    core.ok("complete 7 b w2 q {\"result\":1}");
    // The worker's own data is stored.
    assert_eq!(core.data("b"), r#"{"result":1}"#);
    assert_eq!(core.keys_with("-payloads"), [""; 0]);
}

/// The delays of the retries of a job with this policy.
fn delays(retries: usize, policy: &str, jid: &str) -> Vec<f64> {
    let mut core = Core::new();
    let mut now = 1000.0;
    core.ok(&format!(
        "put {now} me q {jid} K {{}} 0 retries {retries} backoff {policy}"
    ));
    let mut delays = Vec::new();
    loop {
        assert_eq!(core.jids(&format!("pop {now} q w1 1")), [jid]);
        now += 10.0;
        if core.ok(&format!("retry {now} {jid} q w1")).int() < 0 {
            break;
        }
        let due = core.score("ql:q:q-scheduled", jid).unwrap_or(now);
        delays.push(due - now);
        now = due;
    }
    assert_eq!(core.state(jid), "failed");
    delays
}

fn near(seen: &[f64], wanted: &[f64]) -> bool {
    seen.len() == wanted.len() && seen.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5)
}

#[test]
fn k7_retries_are_delayed_by_the_policy_counted_from_0() {
    for (policy, wanted) in [
        ("fixed:7", [7.0, 7.0, 7.0, 7.0]),
        ("linear:10", [10.0, 20.0, 30.0, 40.0]),
        ("exp:2", [2.0, 4.0, 8.0, 16.0]),
        ("exp:5:3", [5.0, 15.0, 45.0, 135.0]),
        ("exp:5:3:40", [5.0, 15.0, 40.0, 40.0]),
    ] {
        let seen = delays(4, policy, "j");
        assert!(near(&seen, &wanted), "{policy}: {seen:?}");
    }
    // One retry is two runs.
    assert_eq!(delays(1, "fixed:7", "j"), [7.0]);
    assert_eq!(delays(0, "fixed:7", "j"), [0.0; 0]);
}

#[test]
fn k7_jitter_stays_in_its_range_and_differs_between_jobs() {
    let mut firsts = std::collections::BTreeSet::new();
    for jid in ["a", "b", "c", "d", "e"] {
        let seen = delays(3, "exp:100:2:1000:0.5", jid);
        firsts.insert(format!("{:.3}", seen[0]));
        for (delay, plain) in seen.iter().zip([100.0, 200.0, 400.0]) {
            assert!(
                (plain * 0.5..=plain * 1.5).contains(delay),
                "{jid}: {seen:?}"
            );
        }
        // The same job at the same time has the same delay.
        assert_eq!(seen, delays(3, "exp:100:2:1000:0.5", jid));
    }
    assert!(firsts.len() > 1, "{firsts:?}");
}

#[test]
fn k7_an_explicit_delay_wins_and_0_means_the_policy() {
    let mut core = Core::new();
    core.ok("put 1 me q j K {} 0 retries 9 backoff fixed:7");
    core.ok("pop 2 q w1 1");
    core.ok("retry 3 j q w1 100");
    assert_eq!(core.score("ql:q:q-scheduled", "j"), Some(103.0));
    core.ok("pop 103 q w1 1");
    core.ok("retry 104 j q w1 0");
    assert_eq!(core.score("ql:q:q-scheduled", "j"), Some(111.0));
    core.ok("pop 111 q w1 1");
    core.ok("guard.finish 112 w1 4 j q retry 0");
    assert_eq!(core.score("ql:q:q-scheduled", "j"), Some(119.0));
    // A lost lock is run again at once, and counts as a retry.
    core.ok("config.set 119 grace-period 0");
    core.ok("pop 119 q w1 1");
    assert_eq!(core.jids("pop 180 q w2 1"), ["j"]);
    assert_eq!(core.field("j", "remaining").as_deref(), Some("5"));
}

/// Days of life with the policy `lowkiq`, by retries.
const LIFE: [(usize, u64); 10] = [
    (14, 1),
    (16, 2),
    (18, 3),
    (19, 5),
    (20, 6),
    (21, 8),
    (22, 10),
    (23, 13),
    (24, 16),
    (25, 20),
];

#[test]
fn k8_the_policy_lowkiq_lives_as_long_as_the_table_says() {
    let days = |sum: f64| (sum / 86_400.0).floor() as u64;
    for (retries, life) in LIFE {
        let seen = delays(retries, "lowkiq", "j");
        assert_eq!(seen.len(), retries);
        let (mut least, mut most) = (0.0, 0.0);
        for (n, delay) in seen.iter().enumerate() {
            let n = n as f64;
            let low = n.powi(4) + 15.0;
            let high = low + 29.0 * (n + 1.0);
            assert!(
                (low - 1e-4..=high + 1e-4).contains(delay),
                "retry {n} after {delay}"
            );
            least += low;
            most += high;
        }
        // Whole days of the sum, for the jitters 0, 29 and the drawn ones.
        assert_eq!(days(least), life, "{retries} retries, jitter 0");
        assert_eq!(days(most), life, "{retries} retries, jitter 29");
        assert_eq!(days(seen.iter().sum()), life, "{retries} retries");
    }
    let seen = delays(12, "lowkiq:1000", "j");
    assert!(seen.iter().all(|delay| *delay <= 1000.0), "{seen:?}");
}

#[test]
fn k9_a_job_behind_payloads_that_move_on_stays_in_its_lane() {
    for by_expiry in [false, true] {
        let mut core = Core::new();
        core.ok("config.set 0 grace-period 0");
        core.ok(&format!("{} retries 0", merge(1, "a", "k", "v1", 1)));
        assert_eq!(core.jids("pop 2 q w1 1"), ["a"]);
        core.ok(&merge(3, "b", "k", "v2", 2));
        core.ok("put 3 me q c K {} 0 key k");
        assert_eq!(core.states("a b c"), "running depends depends");
        // A pop would bring a released job back into its lane: the states before it count.
        if by_expiry {
            assert_eq!(core.jids("pop 63 q w2 1"), ["a~1"]);
            assert_eq!(core.states("a a~1 c"), "failed running depends");
        } else {
            assert_eq!(core.ok("retry 4 a q w1").int(), -1);
            assert_eq!(core.states("a a~1 c"), "failed waiting depends");
            assert_eq!(core.jids("pop 63 q w2 5"), ["a~1"]);
        }
        assert_eq!(core.lane("q/k"), ["a~1", "c"]);
        core.ok("complete 64 a~1 w2 q {}");
        assert_eq!(core.jids("pop 65 q w2 5"), ["c"]);
    }
}

#[test]
fn k9_when_retries_are_exhausted_the_lowest_score_fails_and_the_rest_starts_anew() {
    for by_expiry in [false, true] {
        let mut core = Core::new();
        core.ok("config.set 0 grace-period 0");
        core.ok(&format!(
            "{} retries 0 priority 2",
            merge(1, "a", "k", "v2", 2)
        ));
        core.ok(&merge(1, "b", "k", "v1", 1));
        core.ok(&merge(1, "c", "k", "v3", 3));
        assert_eq!(core.jids("pop 2 q w1 1"), ["a"]);
        if by_expiry {
            // The rest is due at once: the pop that finds the lock expired returns it.
            assert_eq!(core.jids("pop 63 q w2 1"), ["a~1"]);
            core.ok("timeout 63 a~1");
        } else {
            assert_eq!(core.ok("retry 3 a q w1").int(), -1);
            assert_eq!(core.state("a~1"), "waiting");
        }
        assert_eq!(core.data("a"), r#"["v1"]"#);
        assert_eq!(core.data("a~1"), r#"["v2","v3"]"#);
        assert_eq!(core.state("a"), "failed");
        let job = core.json("get 64 a~1");
        assert_eq!((&job["remaining"], &job["retries"]), (&0.into(), &0.into()));
        assert_eq!((&job["priority"], &job["key"]), (&2.into(), &"q/k".into()));
        assert_eq!(core.lane("q/k"), ["a~1"]);
        // The next part has the next number.
        assert_eq!(core.jids("pop 70 q w1 1"), ["a~1"]);
        assert_eq!(core.ok("retry 71 a~1 q w1").int(), -1);
        assert_eq!(core.data("a~1"), r#"["v2"]"#);
        assert_eq!(core.data("a~2"), r#"["v3"]"#);
        assert_eq!(core.jids("pop 72 q w1 1"), ["a~2"]);
        // One payload is left: the whole job fails.
        assert_eq!(core.ok("retry 73 a~2 q w1").int(), -1);
        assert_eq!(core.states("a a~1 a~2"), "failed failed failed");
        assert_eq!(core.lane("q/k"), [""; 0]);
    }
}

/// Three failed jobs of the keys k1 to k3.
fn morgue() -> Core {
    let mut core = Core::new();
    for n in 1..=3 {
        core.ok(&format!(
            "{} retries 0",
            merge(
                n,
                &format!("f{n}"),
                &format!("k{n}"),
                &format!("v{n}"),
                n as i64
            )
        ));
    }
    assert_eq!(core.jids("pop 4 q w1 5"), ["f1", "f2", "f3"]);
    for n in 1..=3 {
        assert_eq!(core.ok(&format!("retry 5 f{n} q w1")).int(), -1);
    }
    core
}

#[test]
fn k10_one_failed_job_is_requeued_onto_an_empty_and_onto_a_busy_lane() {
    let mut core = morgue();
    assert_eq!(core.ok("unfail.jobs 6 q failed-retries-q f2").int(), 1);
    assert_eq!(core.states("f1 f2 f3"), "failed waiting failed");
    assert_eq!(core.lane("q/k2"), ["f2"]);

    // Onto a waiting job: the payload joins it.
    core.ok(&merge(7, "n1", "k1", "v9", 9));
    assert_eq!(core.ok("unfail.jobs 8 q failed-retries-q f1").int(), 1);
    assert!(!core.has("f1"));
    assert_eq!(core.data("n1"), r#"["v1","v9"]"#);

    // Onto a running job: it runs after it.
    core.ok(&merge(9, "n3", "k3", "v9", 9));
    assert_eq!(core.jids("pop 10 q w1 9"), ["f2", "n1", "n3"]);
    assert_eq!(core.ok("unfail.jobs 11 q failed-retries-q f3").int(), 1);
    assert_eq!(core.state("f3"), "depends");
    assert_eq!(core.lane("q/k3"), ["n3", "f3"]);
    core.ok("complete 12 n3 w1 q {}");
    assert_eq!(core.jids("pop 13 q w1 9"), ["f3"]);
    assert_eq!(core.data("f3"), r#"["v3"]"#);
}

#[test]
fn k10_all_failed_jobs_are_requeued_and_a_payload_that_arrives_meanwhile_is_kept() {
    let mut core = morgue();
    // Requeued in slices; a payload arrives between them.
    assert_eq!(core.ok("unfail 6 q failed-retries-q 1").int(), 1);
    core.ok(&merge(6, "n2", "k2", "v0", 0));
    core.ok(&merge(6, "n1", "k1", "v0", 0));
    assert_eq!(core.ok("unfail 6 q failed-retries-q 10").int(), 2);
    assert_eq!(core.json("failed 6"), serde_json::json!({}));
    let mut data: Vec<String> = Vec::new();
    for jid in core.jids("pop 7 q w1 9") {
        data.push(core.data(&jid));
        core.ok(&format!("complete 8 {jid} w1 q {{}}"));
    }
    data.sort();
    assert_eq!(data, [r#"["v0","v1"]"#, r#"["v0","v2"]"#, r#"["v3"]"#]);
}

#[test]
fn k10_failed_jobs_are_deleted_one_by_one_or_all() {
    let mut core = morgue();
    core.ok("cancel 6 f1");
    core.ok("guard.cancel 7 refuse f2 '' f3 ''");
    assert_eq!(core.keys_with("ql:j:"), [""; 0]);
    assert_eq!(core.keys_with("ql:k:"), [""; 0]);
    assert_eq!(core.json("failed 8"), serde_json::json!({}));
}

#[test]
fn k15_a_slow_key_delays_no_other() {
    let mut core = Core::new();
    for key in 0..5 {
        for n in 0..10 {
            core.ok(&format!("put {n} me q j{key}-{n} K {{}} 0 key k{key}"));
        }
    }
    // The job of k0 runs all the time.
    let first = core.jids("pop 20 q slow 1");
    let slow: String = first[0].chars().take(2).collect();
    let mut done = std::collections::BTreeMap::new();
    for now in 21..31 {
        let popped = core.jids(&format!("pop {now} q w1 9"));
        assert_eq!(popped.len(), 4, "one job of each other key: {popped:?}");
        for jid in popped {
            let (key, n) = jid.split_once('-').expect("a number");
            assert_ne!(key, slow);
            let next: &mut usize = done.entry(key.to_owned()).or_default();
            assert_eq!(n, next.to_string());
            *next += 1;
            core.ok(&format!("complete {now} {jid} w1 q {{}}"));
        }
    }
    assert_eq!(done.values().copied().collect::<Vec<_>>(), [10; 4]);
}

#[test]
fn k15_lanes_take_turns_and_a_busy_key_does_not_crowd_out_others() {
    let mut core = Core::new();
    core.many((0..20).map(|n| format!("put 1 me q busy{n:02} K {{}} 0 key busy")));
    core.ok("put 2 me q other K {} 0 key other");
    assert_eq!(core.jids("pop 3 q w1 1"), ["busy00"]);
    core.ok("complete 4 busy00 w1 q {}");
    assert_eq!(core.jids("pop 5 q w1 1"), ["other"]);
}

#[test]
fn k18_hold_blocks_the_lane_until_the_failed_job_is_resolved() {
    for resolution in ["unfail", "put", "cancel", "requeue"] {
        let mut core = Core::new();
        core.all("put 1 me q a K {} 0 key k hold 1 retries 0; put 2 me q b K {} 0 key k");
        assert_eq!(core.jids("pop 3 q w1 5"), ["a"]);
        core.ok("retry 4 a q w1");
        assert_eq!(core.states("a b"), "failed depends");
        assert_eq!(core.jids("pop 5 q w1 5"), [""; 0]);
        assert_eq!(core.lane("q/k"), ["a", "b"]);
        let next = match resolution {
            "unfail" => {
                assert_eq!(core.ok("unfail 6 q failed-retries-q").int(), 1);
                "a"
            }
            "put" => {
                core.ok("put 6 me q a K {} 0");
                "a"
            }
            "requeue" => {
                core.ok("guard.requeue 6 {} '' a '' ''");
                "a"
            }
            _ => {
                core.ok("cancel 6 a");
                "b"
            }
        };
        assert_eq!(core.jids("pop 7 q w1 5"), [next], "{resolution}");
        core.ok(&format!("complete 8 {next} w1 q {{}}"));
        let rest = core.jids("pop 9 q w1 5");
        assert_eq!(rest.len(), usize::from(next == "a"), "{resolution}");
    }
    // Without hold, the next job runs.
    let mut core = Core::new();
    core.all("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w1 5");
    core.ok("fail 4 a w1 G M");
    assert_eq!(core.jids("pop 5 q w1 5"), ["b"]);
}

#[test]
fn k19_a_full_merge_job_takes_no_more_and_the_next_put_opens_another() {
    let mut core = Core::new();
    core.ok("config.set 0 merge-max 2");
    for (jid, payload, wanted) in [
        ("a", "v1", "a"),
        ("b", "v2", "a"),
        ("c", "v3", "c"),
        ("d", "v4", "c"),
        ("e", "v5", "e"),
    ] {
        assert_eq!(core.ok(&merge(1, jid, "k", payload, 1)).text(), wanted);
    }
    assert_eq!(core.lane("q/k"), ["a", "c", "e"]);
    assert_eq!(core.jids("pop 2 q w1 9"), ["a"]);
    // The retried job is full: it absorbs nothing.
    core.ok("retry 3 a q w1");
    assert_eq!(core.lane("q/k"), ["a", "c", "e"]);
    let mut seen = Vec::new();
    for now in 4..7 {
        for jid in core.jids(&format!("pop {now} q w1 9")) {
            seen.push(core.data(&jid));
            core.ok(&format!("complete {now} {jid} w1 q {{}}"));
        }
    }
    assert_eq!(seen, [r#"["v1","v2"]"#, r#"["v3","v4"]"#, r#"["v5"]"#]);
}

#[test]
fn k20_a_key_that_backs_off_blocks_only_its_lane() {
    let mut core = Core::new();
    core.all("put 1 me q a1 K {} 0 key a backoff fixed:100; put 2 me q a2 K {} 0 key a");
    core.all("put 3 me q b1 K {} 0 key b; put 4 me q b2 K {} 0 key b");
    assert_eq!(core.jids("pop 5 q w1 9"), ["a1", "b1"]);
    core.all("retry 6 a1 q w1; complete 6 b1 w1 q {}");
    assert_eq!(core.states("a1 a2"), "scheduled depends");
    assert_eq!(core.jids("pop 7 q w1 9"), ["b2"]);
    core.ok("complete 8 b2 w1 q {}");
    assert_eq!(core.jids("pop 105 q w1 9"), [""; 0]);
    assert_eq!(core.jids("pop 106 q w1 9"), ["a1"]);
    core.ok("complete 107 a1 w1 q {}");
    assert_eq!(core.jids("pop 108 q w1 9"), ["a2"]);
}
