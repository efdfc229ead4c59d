//! Worked examples of lanes, throttles and merging, with the replies written out.

use serde_json::json;

use crate::support::core::{Core, Reply};

impl Core {
    /// The jids of a lane in order.
    pub(super) fn lane(&mut self, lane: &str) -> Vec<String> {
        self.redis_words(&[b"ZRANGE", format!("ql:k:{lane}").as_bytes(), b"0", b"-1"])
            .texts()
    }

    /// The payloads of a merge job with their scores, in order: `"v1" 1, "v2" 2`.
    pub(super) fn payloads(&mut self, jid: &str) -> String {
        let key = format!("ql:j:{jid}-payloads");
        let words = self
            .redis_words(&[b"ZRANGE", key.as_bytes(), b"0", b"-1", b"WITHSCORES"])
            .texts();
        let pairs = words.chunks(2).map(|pair| pair.join(" "));
        pairs.collect::<Vec<_>>().join(", ")
    }

    /// The stored data of a job.
    pub(super) fn data(&mut self, jid: &str) -> String {
        self.field(jid, "data").unwrap_or_default()
    }

    /// Whether the job is stored.
    pub(super) fn has(&mut self, jid: &str) -> bool {
        self.redis_words(&[b"EXISTS", format!("ql:j:{jid}").as_bytes()]) == Reply::Int(1)
    }

    /// The states of several jobs.
    pub(super) fn states(&mut self, jids: &str) -> String {
        let states = jids.split(' ').map(|jid| self.state(jid));
        states.collect::<Vec<_>>().join(" ")
    }

    /// The names of all keys that contain a text.
    pub(super) fn keys_with(&mut self, part: &str) -> Vec<String> {
        let dump = self.dump();
        let names = dump.0.into_keys().filter(|name| name.contains(part));
        names.collect()
    }
}

#[test]
fn e1_a_lane_waits_for_its_first_job_until_it_has_failed() {
    let mut core = Core::new();
    for (now, jid) in [(1, "m1"), (2, "m2"), (3, "m3")] {
        let put = format!("put {now} me q {jid} K {{}} 0 key o1 retries 1");
        assert_eq!(core.ok(&put).text(), jid);
    }
    assert_eq!(core.ok("put 4 me q n1 K {} 0 key o2").text(), "n1");
    assert_eq!(core.jids("pop 5 q w1 5"), ["m1", "n1"]);
    assert_eq!(core.states("m2 m3"), "depends depends");

    assert_eq!(core.ok("retry 6 m1 q w1 60").int(), 0);
    assert_eq!(core.jids("pop 6 q w1 5"), [""; 0]);
    assert_eq!(core.states("m1 m2"), "scheduled depends");

    assert_eq!(core.ok("complete 7 n1 w1 q {}").text(), "complete");
    assert_eq!(core.jids("pop 65 q w1 5"), [""; 0]);
    assert_eq!(core.jids("pop 66 q w1 5"), ["m1"]);
    assert_eq!(core.ok("retry 67 m1 q w1").int(), -1);
    assert_eq!(core.state("m1"), "failed");

    assert_eq!(core.jids("pop 68 q w1 5"), ["m2"]);
    assert_eq!(core.lane("q/o1"), ["m2", "m3"]);
    assert_eq!(core.ok("cancel 69 m3").texts(), ["m3"]);
    assert_eq!(core.lane("q/o1"), ["m2"]);
    assert_eq!(
        core.json("key.get 69 q/o1"),
        json!({"key": "q/o1", "jobs": [{"jid": "m2", "state": "running", "queue": "q"}]})
    );
    assert_eq!(core.ok("complete 70 m2 w1 q {}").text(), "complete");
    assert_eq!(core.keys_with("ql:k:"), [""; 0]);
}

/// A merge job with two payloads that has failed once.
fn failed_once() -> Core {
    let mut core = Core::new();
    let put = |now: u64, jid: &str, payload: &str, score: u64| {
        format!("put {now} me q {jid} K \"{payload}\" 0 key id dup merge score {score} retries 25")
    };
    assert_eq!(core.ok(&put(1_536_323_200, "a", "v1", 1)).text(), "a");
    assert_eq!(core.ok(&put(1_536_323_201, "b", "v2", 2)).text(), "a");
    assert_eq!(core.jids("pop 1536323210 q w1 5"), ["a"]);
    assert_eq!(core.ok("retry 1536323238 a q w1 50").int(), 24);
    core
}

#[test]
fn e2_merging_keeps_the_smaller_score_the_retries_and_the_time() {
    let mut core = failed_once();
    let put = "put 1536323239 me q c K \"v2\" 5000 key id dup merge score 3 retries 3 priority 9";
    assert_eq!(core.ok(put).text(), "a");
    let put = "put 1536323240 me q d K \"v3\" 0 key id dup merge score 4 retries 3";
    assert_eq!(core.ok(put).text(), "a");
    assert_eq!(core.payloads("a"), r#""v1" 1, "v2" 2, "v3" 4"#);
    assert_eq!(core.data("a"), r#"["v1","v2","v3"]"#);
    let job = core.json("get 1536323240 a");
    assert_eq!(
        (&job["remaining"], &job["retries"], &job["priority"]),
        (&json!(24), &json!(25), &json!(0))
    );
    assert_eq!(job["state"], "scheduled");
    assert_eq!(core.score("ql:q:q-scheduled", "a"), Some(1_536_323_288.0));
    assert!(!core.has("b") && !core.has("c") && !core.has("d"));
}

#[test]
fn e2_with_rescore_max_the_larger_score_stays() {
    let mut core = failed_once();
    let put = "put 1536323239 me q c K \"v2\" 0 key id dup merge score 3 rescore max";
    assert_eq!(core.ok(put).text(), "a");
    let put = "put 1536323240 me q d K \"v1\" 0 key id dup merge score 0 rescore max";
    assert_eq!(core.ok(put).text(), "a");
    assert_eq!(core.payloads("a"), r#""v1" 1, "v2" 3"#);
}

#[test]
fn e3_failed_payloads_are_absorbed_split_and_brought_together_again() {
    let mut core = Core::new();
    let put = |now: u64, jid: &str, payload: &str, score: u64| {
        format!("put {now} me q {jid} K \"{payload}\" 0 key k dup merge score {score}")
    };
    assert_eq!(
        core.ok(&format!("{} retries 1", put(1, "a", "v1", 1)))
            .text(),
        "a"
    );
    assert_eq!(core.jids("pop 2 q w1 1"), ["a"]);
    assert_eq!(core.ok(&put(3, "b", "v2", 2)).text(), "b");
    assert_eq!(core.state("b"), "depends");
    assert_eq!(core.data("b"), r#"["v2"]"#);

    core.events();
    assert_eq!(core.ok("retry 4 a q w1 10").int(), 0);
    assert_eq!(
        core.published(),
        [r#"ql:ext {"jid":"b","event":"merged","into":"a"}"#]
    );
    assert_eq!(core.state("a"), "scheduled");
    assert_eq!(core.data("a"), r#"["v1","v2"]"#);
    assert_eq!(core.json("get 4 a")["remaining"], 0);
    assert!(!core.has("b"));
    assert_eq!(core.lane("q/k"), ["a"]);

    assert_eq!(core.ok(&put(5, "c", "v1", 9)).text(), "a");
    assert_eq!(core.payloads("a"), r#""v1" 1, "v2" 2"#);

    assert_eq!(core.jids("pop 14 q w1 1"), ["a"]);
    assert_eq!(core.ok(&put(15, "d", "v3", 3)).text(), "d");
    assert_eq!(core.ok("retry 16 a q w1").int(), -1);
    assert_eq!(core.state("a"), "failed");
    assert_eq!(core.data("a"), r#"["v1"]"#);
    assert_eq!(core.state("a~1"), "waiting");
    assert_eq!(core.data("a~1"), r#"["v2","v3"]"#);
    assert_eq!(core.json("get 16 a~1")["remaining"], 1);
    assert!(!core.has("d"));
    assert_eq!(core.lane("q/k"), ["a~1"]);

    assert_eq!(core.ok(&put(17, "e", "v4", 4)).text(), "a~1");
    assert_eq!(core.ok("unfail 18 q failed-retries-q").int(), 1);
    assert_eq!(core.payloads("a~1"), r#""v1" 1, "v2" 2, "v3" 3, "v4" 4"#);
    assert_eq!(core.data("a~1"), r#"["v1","v2","v3","v4"]"#);
    assert!(!core.has("a"));
    assert_eq!(core.jids("pop 18 q w1 5"), ["a~1"]);
}

#[test]
fn e4_equal_jobs_wait_outside_the_work_set_and_the_low_queue_is_served() {
    let mut core = Core::new();
    core.ok(r#"config.set 0 hi-defaults {"lock":"*"}"#);
    core.ok(r#"config.set 0 lo-defaults {"lock":"*"}"#);
    core.many((0..50).map(|n| format!("put {n} me hi h{n} K {{\"same\":1}} 0")));
    core.ok("put 50 me lo l0 K {} 0");
    assert_eq!(core.jids("pop 60 hi w1 1"), ["h0"]);
    assert_eq!(core.jids("pop 60 hi w2 1"), [""; 0]);
    assert_eq!(core.jids("pop 60 lo w2 1"), ["l0"]);
    let hi = core.json("queues 60 hi");
    assert_eq!(
        (&hi["waiting"], &hi["throttled"], &hi["running"]),
        (&json!(0), &json!(49), &json!(1))
    );

    // The lock ends at 120; the grace period takes ten seconds.
    assert_eq!(core.jids("pop 121 hi w2 5"), [""; 0]);
    assert_eq!(core.jids("pop 132 hi w2 5"), ["h0"]);
    assert_eq!(core.json("queues 132 hi")["throttled"], 49);
    assert_eq!(core.ok("complete 133 h0 w2 hi {}").text(), "complete");
    assert_eq!(core.jids("pop 134 hi w2 5"), ["h1"]);
}

#[test]
fn e5_a_job_holds_all_its_throttles_or_none() {
    let mut core = Core::new();
    core.all("throttle.set 0 db 1; throttle.set 0 api 2");
    core.ok(r#"put 1 me q a K {} 0 throttles ["db","api"]"#);
    core.ok(r#"put 2 me q b K {} 0 throttles ["api"]"#);
    core.ok(r#"put 3 me q c K {} 0 throttles ["db","api"]"#);
    core.ok(r#"put 4 me q d K {} 0 throttles ["api"] priority 5"#);
    assert_eq!(core.jids("pop 5 q w1 9"), ["d", "a"]);
    assert_eq!(core.json("throttle.pending 5 db"), json!(["c"]));
    assert_eq!(core.json("throttle.pending 5 api"), json!(["b"]));
    assert_eq!(core.json("throttle.locks 5 db"), json!(["a"]));
    assert_eq!(
        core.states("a b c d"),
        "running throttled throttled running"
    );
    assert_eq!(core.ok("complete 6 d w1 q {}").text(), "complete");
    assert_eq!(core.jids("pop 7 q w1 9"), ["b"]);
    assert_eq!(core.json("throttle.pending 7 api"), json!([]));
    assert_eq!(core.json("throttle.pending 7 db"), json!(["c"]));
}

#[test]
fn e6_a_paused_queue_does_not_keep_the_slot_from_others() {
    let mut core = Core::new();
    core.ok("throttle.set 0 t 1");
    core.ok(r#"put 1 me A a0 K {} 0 throttles ["t"]"#);
    assert_eq!(core.jids("pop 2 A w1 1"), ["a0"]);
    core.ok(r#"put 3 me A a1 K {} 0 throttles ["t"]"#);
    core.ok(r#"put 4 me B b1 K {} 0 throttles ["t"]"#);
    assert_eq!(core.states("a1 b1"), "throttled throttled");
    core.ok("pause 5 A");
    assert_eq!(core.ok("complete 6 a0 w1 A {}").text(), "complete");
    assert_eq!(core.jids("pop 7 B w1 1"), ["b1"]);
}

#[test]
fn e7_held_jobs_do_not_hide_a_free_one() {
    let mut core = Core::new();
    core.ok("throttle.set 0 t 1");
    core.many((0..5).map(|n| format!("put {n} me q j{n} K {{}} 0 throttles [\"t\"]")));
    core.ok("put 5 me q free K {} 0");
    assert_eq!(core.jids("pop 6 q w1 1"), ["j0"]);
    assert_eq!(core.jids("pop 7 q w1 1"), ["free"]);
}

#[test]
fn e8_a_skipped_put_answers_with_the_job_in_its_place() {
    let mut core = Core::new();
    assert_eq!(core.ok("put 1 me q a K {} 0 key u dup skip").text(), "a");
    core.events();
    assert_eq!(core.ok("put 2 me q b K {} 0 key u dup skip").text(), "a");
    let skipped: Vec<serde_json::Value> = core
        .events()
        .into_iter()
        .filter(|(channel, _)| channel == "ql:ext")
        .map(|(_, payload)| serde_json::from_str(&payload).expect("a document"))
        .collect();
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0]["event"], "skipped");
    assert_eq!(skipped[0]["queue"], "q");
    assert_eq!(core.jids("pop 3 q w1 5"), ["a"]);
    assert_eq!(core.ok("put 4 me q c K {} 0 key u dup skip").text(), "a");
    assert_eq!(
        core.ok("put 5 me q d K {} 0 key u dup skip until start")
            .text(),
        "d"
    );
    assert_eq!(core.state("d"), "depends");
    assert_eq!(core.lane("q/u"), ["a", "d"]);
    assert!(!core.has("b") && !core.has("c"));
}
