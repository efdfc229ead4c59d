//! What Lowkiq promised, as far as the core keeps it:
//! payloads of one id are merged, the jobs of a key run in order, failed ones back off.

use crate::support::core::Core;
use expect_test::expect;

/// A merging put.
fn merge(now: u64, jid: &str, key: &str, payload: &str, score: i64) -> String {
    format!("put {now} me q {jid} K \"{payload}\" 0 key {key} dup merge score {score}")
}

#[test]
fn promises_of_lowkiq() {
    Core::new().session(expect![[r#"
        == K4: a failed run takes the waiting payloads along and gives up the oldest
        put 1 me q a K "v1" 0 key k dup merge score 1 retries 1
        pop 2 q w1 5 | jid → a
        put 3 me q b K "v2" 0 key k dup merge score 2 → b
        put 3 me q c K "v3" 0 key k dup merge score 3 → b
        retry 4 a q w1 → :0
        payloads a → "v1" 1, "v2" 2, "v3" 3
        pop 5 q w1 5 | jid → a
        put 6 me q d K "v0" 0 key k dup merge score 0 → d
        retry 7 a q w1 → :-1
        -- The payload that joined last has the lowest score.
        HGET ql:j:a data → ["v0"]
        HGET ql:j:a~1 data → ["v1","v2","v3"]
        states a a~1 → failed waiting
        EXISTS ql:j:b ql:j:d → :0

        == K5: an equal payload with a smaller score lowers it
        put 1 me q a K "v1" 0 key k dup merge score 5; put 1 me q b K "v2" 0 key k dup merge score 6
        put 2 me q c K "v2" 0 key k dup merge score 3 → a
        payloads a → "v2" 3, "v1" 5
        HGET ql:j:a data → ["v2","v1"]
        -- The score is the time of the put if none is given.
        put 4 me q d K "v3" 0 key k dup merge
        payloads a → "v2" 3, "v3" 4, "v1" 5

        == K5: payloads with equal scores are ordered by their bytes and kept byte for byte
        put 1 me q a K '[1, 2.50]' 0 key k dup merge score 1
        put 1 me q b K '{"b":1,"a":[]}' 0 key k dup merge score 1; put 1 me q c K '1e3' 0 key k dup merge score 1
        HGET ql:j:a data → [1000.0,[1,2.5],{"a":[],"b":1}]

        == K6: a payload that arrives during the run is run after it
        put 1 me q a K "v1" 0 key k dup merge score 1
        pop 2 q w1 5 | jid → a
        put 3 me q b K "v1" 0 key k dup merge score 1 → b
        HGET ql:j:a data → ["v1"]
        pop 4 q w2 5 | jid → {}
        complete 5 a w1 q {}
        pop 6 q w2 5 | jid → b
        HGET ql:j:b data → ["v1"]
        complete 7 b w2 q {"result":1}
        -- The worker's own data is stored.
        HGET ql:j:b data → {"result":1}
        keys *-payloads* → none

        == K7: an explicit delay wins and 0 means the policy
        put 1 me q j K {} 0 retries 9 backoff fixed:7; pop 2 q w1 1; retry 3 j q w1 100
        score ql:q:q-scheduled j → 103
        pop 103 q w1 1; retry 104 j q w1 0
        score ql:q:q-scheduled j → 111
        pop 111 q w1 1; guard.finish 112 w1 4 j q retry 0
        score ql:q:q-scheduled j → 119
        -- A lost lock is run again at once, and counts as a retry.
        config.set 119 grace-period 0; pop 119 q w1 1
        pop 180 q w2 1 | jid → j
        HGET ql:j:j remaining → 5

        == K10: one failed job is requeued onto an empty and onto a busy lane
        put 1 me q f1 K "v1" 0 key k1 dup merge score 1 retries 0
        put 2 me q f2 K "v2" 0 key k2 dup merge score 2 retries 0
        put 3 me q f3 K "v3" 0 key k3 dup merge score 3 retries 0; pop 4 q w1 5; retry 5 f1 q w1; retry 5 f2 q w1
        retry 5 f3 q w1
        unfail.jobs 6 q failed-retries-q f2 → :1
        states f1 f2 f3 → failed waiting failed
        ZRANGE ql:k:q/k2 0 -1 → f2
        -- Onto a waiting job: the payload joins it.
        put 7 me q n1 K "v9" 0 key k1 dup merge score 9
        unfail.jobs 8 q failed-retries-q f1 → :1
        EXISTS ql:j:f1 → :0
        HGET ql:j:n1 data → ["v1","v9"]
        -- Onto a running job: it runs after it.
        put 9 me q n3 K "v9" 0 key k3 dup merge score 9
        pop 10 q w1 9 | jid → f2 n1 n3
        unfail.jobs 11 q failed-retries-q f3 → :1
        states f3 → depends
        ZRANGE ql:k:q/k3 0 -1 → n3 f3
        complete 12 n3 w1 q {}
        pop 13 q w1 9 | jid → f3
        HGET ql:j:f3 data → ["v3"]

        == K10: failed jobs are deleted one by one or all
        put 1 me q f1 K "v1" 0 key k1 dup merge score 1 retries 0
        put 2 me q f2 K "v2" 0 key k2 dup merge score 2 retries 0
        put 3 me q f3 K "v3" 0 key k3 dup merge score 3 retries 0; pop 4 q w1 5; retry 5 f1 q w1; retry 5 f2 q w1
        retry 5 f3 q w1; cancel 6 f1; guard.cancel 7 refuse f2 '' f3 ''
        keys ql:j:* → none
        keys ql:k:* → none
        failed 8 → {}

        == K20: a key that backs off blocks only its lane
        put 1 me q a1 K {} 0 key a backoff fixed:100; put 2 me q a2 K {} 0 key a; put 3 me q b1 K {} 0 key b
        put 4 me q b2 K {} 0 key b
        pop 5 q w1 9 | jid → a1 b1
        retry 6 a1 q w1; complete 6 b1 w1 q {}
        states a1 a2 → scheduled depends
        pop 7 q w1 9 | jid → b2
        complete 8 b2 w1 q {}
        pop 105 q w1 9 | jid → {}
        pop 106 q w1 9 | jid → a1
        complete 107 a1 w1 q {}
        pop 108 q w1 9 | jid → a2

        == K3: payloads accumulate with the smaller or the larger score
        put 1 me q a K "v1" 0 key id dup merge score 1; put 1 me q b K "v2" 0 key id dup merge score 2
        put 1 me q c K "v2" 0 key id dup merge score 3; put 1 me q d K "v3" 0 key id dup merge score 4
        payloads a → "v1" 1, "v2" 2, "v3" 4
        get 2 a | data payloads → "[\"v1\",\"v2\",\"v3\"]" [["\"v1\"",1],["\"v2\"",2],["\"v3\"",4]]
        put 1 me q min-a K "v1" 0 key min dup merge score 1 rescore min; put 1 me q min-b K "v2" 0 key min dup merge score 2 rescore min
        put 1 me q min-c K "v2" 0 key min dup merge score 3 rescore min; put 1 me q min-d K "v3" 0 key min dup merge score 4 rescore min
        payloads min-a → "v1" 1, "v2" 2, "v3" 4
        put 1 me q max-a K "v1" 0 key max dup merge score 1 rescore max; put 1 me q max-b K "v2" 0 key max dup merge score 2 rescore max
        put 1 me q max-c K "v2" 0 key max dup merge score 3 rescore max; put 1 me q max-d K "v3" 0 key max dup merge score 4 rescore max
        payloads max-a → "v1" 1, "v2" 3, "v3" 4
        get 2 max-a | data → "[\"v1\",\"v2\",\"v3\"]"
        keys ql:j:*-payloads → ql:j:a-payloads ql:j:max-a-payloads ql:j:min-a-payloads

        == K10: all failed jobs are requeued and a payload that arrives meanwhile is kept
        put 1 me q f1 K "v1" 0 key k1 dup merge score 1 retries 0; put 2 me q f2 K "v2" 0 key k2 dup merge score 2 retries 0
        put 3 me q f3 K "v3" 0 key k3 dup merge score 3 retries 0; pop 4 q w1 5
        retry 5 f1 q w1; retry 5 f2 q w1; retry 5 f3 q w1
        -- Requeued in slices; a payload arrives between them.
        unfail 6 q failed-retries-q 1 → :1
        put 6 me q n2 K "v0" 0 key k2 dup merge score 0; put 6 me q n1 K "v0" 0 key k1 dup merge score 0
        unfail 6 q failed-retries-q 10 → :2
        failed 6 → {}
        pop 7 q w1 9 | jid data → n2 "[\"v0\",\"v2\"]" · f3 "[\"v3\"]" · f1 "[\"v0\",\"v1\"]"

        == K19: a full merge job takes no more and the next put opens another
        config.set 0 merge-max 2; put 1 me q a K "v1" 0 key k dup merge score 1; put 1 me q b K "v2" 0 key k dup merge score 1
        put 1 me q c K "v3" 0 key k dup merge score 1; put 1 me q d K "v4" 0 key k dup merge score 1
        put 1 me q e K "v5" 0 key k dup merge score 1
        ZRANGE ql:k:q/k 0 -1 → a c e
        pop 2 q w1 9 | jid data → a "[\"v1\",\"v2\"]"
        -- The retried job is full: it absorbs nothing.
        retry 3 a q w1
        ZRANGE ql:k:q/k 0 -1 → a c e
        pop 4 q w1 9 | jid data → a "[\"v1\",\"v2\"]"
        complete 4 a w1 q {}
        pop 5 q w1 9 | jid data → c "[\"v3\",\"v4\"]"
        complete 5 c w1 q {}
        pop 6 q w1 9 | jid data → e "[\"v5\"]"
    "#]]);
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
    let mut core = Core::new();
    for by_expiry in [false, true] {
        core.flush();
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
    let mut core = Core::new();
    for by_expiry in [false, true] {
        core.flush();
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
    let mut core = Core::new();
    for (resolution, next, last) in [
        ("unfail 6 q failed-retries-q", "a", &["b"][..]),
        ("put 6 me q a K {} 0", "a", &["b"]),
        ("guard.requeue 6 {} '' a '' ''", "a", &["b"]),
        ("cancel 6 a", "b", &[]),
    ] {
        core.flush();
        core.all("put 1 me q a K {} 0 key k hold 1 retries 0; put 2 me q b K {} 0 key k");
        assert_eq!(core.jids("pop 3 q w1 5"), ["a"]);
        core.ok("retry 4 a q w1");
        assert_eq!(core.states("a b"), "failed depends");
        assert_eq!(core.jids("pop 5 q w1 5"), [""; 0]);
        assert_eq!(core.lane("q/k"), ["a", "b"]);
        core.ok(resolution);
        assert_eq!(core.jids("pop 7 q w1 5"), [next], "{resolution}");
        core.ok(&format!("complete 8 {next} w1 q {{}}"));
        assert_eq!(core.jids("pop 9 q w1 5"), last, "{resolution}");
    }
    // Without hold, the next job runs.
    core.flush();
    core.all("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w1 5; fail 4 a w1 G M");
    assert_eq!(core.jids("pop 5 q w1 5"), ["b"]);
}
