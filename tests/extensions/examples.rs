//! Worked examples of lanes, throttles and merging, with the replies written out.

use expect_test::expect;

use crate::support::core::Core;

impl Core {
    /// The jids of a lane in order.
    pub(super) fn lane(&mut self, lane: &str) -> Vec<String> {
        self.redis_words(&[b"ZRANGE", format!("ql:k:{lane}").as_bytes(), b"0", b"-1"])
            .texts()
    }

    /// The payloads of a merge job with their scores, in order: `"v1" 1, "v2" 2`.
    pub(crate) fn payloads(&mut self, jid: &str) -> String {
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
fn worked_examples() {
    Core::new().session(expect![[r#"
        == E1: a lane waits for its first job until it has failed
        put 1 me q m1 K {} 0 key o1 retries 1 → m1
        put 2 me q m2 K {} 0 key o1 retries 1 → m2
        put 3 me q m3 K {} 0 key o1 retries 1 → m3
        put 4 me q n1 K {} 0 key o2 → n1
        pop 5 q w1 5 | jid → m1 n1
        states m2 m3 → depends depends
        retry 6 m1 q w1 60 → :0
        pop 6 q w1 5 | jid → {}
        states m1 m2 → scheduled depends
        complete 7 n1 w1 q {} → complete
        pop 65 q w1 5 | jid → {}
        pop 66 q w1 5 | jid → m1
        retry 67 m1 q w1 → :-1
        states m1 → failed
        pop 68 q w1 5 | jid → m2
        ZRANGE ql:k:q/o1 0 -1 → m2 m3
        cancel 69 m3 → m3
        ZRANGE ql:k:q/o1 0 -1 → m2
        key.get 69 q/o1 → {"jobs":[{"jid":"m2","queue":"q","state":"running"}],"key":"q/o1"}
        complete 70 m2 w1 q {} → complete
        keys ql:k:* → none

        == E2: merging keeps the smaller score, the retries and the time
        put 1536323200 me q a K "v1" 0 key id dup merge score 1 retries 25
        put 1536323201 me q b K "v2" 0 key id dup merge score 2 retries 25; pop 1536323210 q w1 5
        retry 1536323238 a q w1 50
        put 1536323239 me q c K "v2" 5000 key id dup merge score 3 retries 3 priority 9 → a
        put 1536323240 me q d K "v3" 0 key id dup merge score 4 retries 3 → a
        payloads a → "v1" 1, "v2" 2, "v3" 4
        HGET ql:j:a data → ["v1","v2","v3"]
        get 1536323240 a | remaining retries priority state → 24 25 0 scheduled
        score ql:q:q-scheduled a → 1536323288
        EXISTS ql:j:b ql:j:c ql:j:d → :0

        == E2: with rescore max the larger score stays
        put 1536323200 me q a K "v1" 0 key id dup merge score 1 retries 25
        put 1536323201 me q b K "v2" 0 key id dup merge score 2 retries 25; pop 1536323210 q w1 5
        retry 1536323238 a q w1 50
        put 1536323239 me q c K "v2" 0 key id dup merge score 3 rescore max → a
        put 1536323240 me q d K "v1" 0 key id dup merge score 0 rescore max → a
        payloads a → "v1" 1, "v2" 3

        == E5: a job holds all its throttles or none
        throttle.set 0 db 1; throttle.set 0 api 2; put 1 me q a K {} 0 throttles ["db","api"]
        put 2 me q b K {} 0 throttles ["api"]; put 3 me q c K {} 0 throttles ["db","api"]
        put 4 me q d K {} 0 throttles ["api"] priority 5
        pop 5 q w1 9 | jid → d a
        throttle.pending 5 db → ["c"]
        throttle.pending 5 api → ["b"]
        throttle.locks 5 db → ["a"]
        states a b c d → running throttled throttled running
        complete 6 d w1 q {} → complete
        pop 7 q w1 9 | jid → b
        throttle.pending 7 api → []
        throttle.pending 7 db → ["c"]

        == E3: failed payloads are absorbed, split and brought together again
        put 1 me q a K "v1" 0 key k dup merge score 1 retries 1 → a
        pop 2 q w1 1 | jid → a
        put 3 me q b K "v2" 0 key k dup merge score 2 → b
        HMGET ql:j:b state data → depends ["v2"]
        events
        retry 4 a q w1 10 → :0
        events →
            * ql:ext {"jid":"b","event":"merged","into":"a"}
        HMGET ql:j:a state data remaining → scheduled ["v1","v2"] 0
        EXISTS ql:j:b → :0
        ZRANGE ql:k:q/k 0 -1 → a
        put 5 me q c K "v1" 0 key k dup merge score 9 → a
        payloads a → "v1" 1, "v2" 2
        pop 14 q w1 1 | jid → a
        put 15 me q d K "v3" 0 key k dup merge score 3 → d
        retry 16 a q w1 → :-1
        HMGET ql:j:a state data → failed ["v1"]
        HMGET ql:j:a~1 state data remaining → waiting ["v2","v3"] 1
        EXISTS ql:j:d → :0
        ZRANGE ql:k:q/k 0 -1 → a~1
        put 17 me q e K "v4" 0 key k dup merge score 4 → a~1
        unfail 18 q failed-retries-q → :1
        payloads a~1 → "v1" 1, "v2" 2, "v3" 3, "v4" 4
        HGET ql:j:a~1 data → ["v1","v2","v3","v4"]
        EXISTS ql:j:a → :0
        pop 18 q w1 5 | jid → a~1

        == E8: a skipped put answers with the job in its place
        put 1 me q a K {} 0 key u dup skip → a
        events
        put 2 me q b K {} 0 key u dup skip → a
        events →
            * ql:ext {"jid":"b","event":"skipped","key":"q\/u","queue":"q"}
        pop 3 q w1 5 | jid → a
        put 4 me q c K {} 0 key u dup skip → a
        put 5 me q d K {} 0 key u dup skip until start → d
        states d → depends
        ZRANGE ql:k:q/u 0 -1 → a d
        EXISTS ql:j:b ql:j:c → :0
    "#]]);
}

#[test]
fn e4_equal_jobs_wait_outside_the_work_set_and_the_low_queue_is_served() {
    let mut core = Core::new();
    core.ok(r#"config.set 0 hi-defaults {"lock":"*"}"#);
    core.ok(r#"config.set 0 lo-defaults {"lock":"*"}"#);
    core.many((0..50).map(|n| format!("put {n} me hi h{n} K {{\"same\":1}} 0")));
    core.session(expect![[r#"
        put 50 me lo l0 K {} 0
        pop 60 hi w1 1 | jid → h0
        pop 60 hi w2 1 | jid → {}
        pop 60 lo w2 1 | jid → l0
        queues 60 hi | waiting throttled running → 0 49 1
        -- The lock ends at 120; the grace period takes ten seconds.
        pop 121 hi w2 5 | jid → {}
        pop 132 hi w2 5 | jid → h0
        queues 132 hi | throttled → 49
        complete 133 h0 w2 hi {} → complete
        pop 134 hi w2 5 | jid → h1
    "#]]);
}
