//! The calls that only qless-php makes, in every script, and what the script for qless-php does
//! differently.

use expect_test::expect;
use serde_json::json;

use crate::support::core::{Core, Reply, short};

/// The script for qless-php.
fn php_script() -> String {
    let script = qless::internals::Script::for_qless_php("ql:");
    script.script_text().to_owned()
}

fn php() -> Core {
    Core::with(&php_script())
}

#[test]
fn calls_of_qless_php() {
    Core::new().session(expect![[r#"
        == Missing words of popByJid are refused
        put 1 me q a K {} 0
        popByJid 2 → error Queue(): no queue name provided
        popByJid 2 q → error Pop(): Arg "jid" missing
        popByJid 2 q a → error Pop(): Arg "worker" missing

        == The jobs of a worker are listed by the end of their locks
        put 1 me q a K {} 0; put 1 me q b K {} 0; popByJid 10 q b w1; popByJid 20 q a w1
        workerJobs 21 w1 → ["b","a"]
        workerJobs 21 w1 70 → ["b","a"]
        workerJobs 21 w1 70.5 → ["a"]
        workerJobs 21 w1 '' → ["b","a"]
        workerJobs 21 w2 → {}
        workerJobs 21 → null
        workerJobs 21 w1 soon → error WorkerJobs(): Arg "from" not a number: soon

        == Tracked jobs and tags are listed
        tracked 1 → {}
        tags 1 0 5 → {}
        put 1 me q a K {} 0 tags ["x","y"]; put 1 me q b K {} 0 tags ["y","z"]; put 1 me q c K {} 0 tags ["y"]
        track 2 track b; track 3 track a
        tracked 4 → ["b","a"]
        tags 4 0 9 → ["y","z","x"]
        tags 4 1 1 → ["z"]
        tags 4 3 9 → {}
        -- An older script leaves the counters of unused tags.
        ZADD ql:tags 0 gone -1 lost
        tags 4 → ["y","z","x"]
        tags 4 x → error Tags(): Arg "offset" not a number: x
        tags 4 0 x → error Tags(): Arg "count" not a number: x

        == Waiting jobs are listed in the order of pop
        put 1 me q a K {} 0; put 2 me q b K {} 0 priority 5; put 3 me q c K {} 0
        jobs 4 waiting q → b a c
        jobs 4 waiting q 1 1 → a
        jobs 4 waiting q 0 0 → none
        jobs 4 waiting p → none
        pop 4 q w1 3 | jid → b a c
        jobs 5 waiting → error Jobs(): Arg "queue" missing

        == Wrong back-offs are refused
        put 1 me q j K {} 0 backoff '[5]' → error Put(): Arg "backoff" not a policy: [5]
        put 1 me q j K {} 0 backoff '{"delay":5}' → error Put(): Arg "backoff" not a policy: {"delay":5}
        put 1 me q j K {} 0 backoff '{"initial_delay":-1}' → error Put(): Arg "backoff" not a policy: {"initial_delay":-1}
        put 1 me q j K {} 0 backoff '{"initial_delay":"5"}' → error Put(): Arg "backoff" not a policy: {"initial_delay":"5"}
        put 1 me q j K {} 0 backoff '{"initial_delay":null}' → error Put(): Arg "backoff" not a policy: {"initial_delay":null}
        put 1 me q j K {} 0 backoff '{"factor":1e999}' → error Put(): Arg "backoff" not a policy: {"factor":1e999}
        put 1 me q j K {} 0 backoff '{"factor":nan}' → error Put(): Arg "backoff" not a policy: {"factor":nan}
        put 1 me q j K {} 0 backoff '{"initial_delay":5' → error Put(): Arg "backoff" not a policy: {"initial_delay":5
        put 1 me q j K {} 0 backoff '5' → error Put(): Arg "backoff" not a policy: 5
        put 1 me q j K {} 0 backoff 'soon' → error Put(): Arg "backoff" not a policy: soon
        put 1 me q j K {} 0 backoff '{"initial_delay":0.5}'
        get 1 j | backoff → "{\"initial_delay\":0.5}"

        == A named job is popped as by pop
        config.set 0 q-heartbeat 30; put 1 me q a K {} 0; put 2 me q b K {} 0 tags ["t"] priority 1; track 3 track b; events
        pop 5 q w1 1 → [{"data":"{}","dependencies":{},"dependents":{},"expires":35,"failure":{},"history":[{"q":"q","what":"put","when":2},{"what":"popped","when":5,"worker":"w1"}],"jid":"b","klass":"K","priority":1,"queue":"q","remaining":5,"retries":5,"spawned_from_jid":false,"state":"running","tags":["t"],"tracked":true,"worker":"w1"}]
        events →
            * ql:popped b
        remember; FLUSHALL
        config.set 0 q-heartbeat 30; put 1 me q a K {} 0; put 2 me q b K {} 0 tags ["t"] priority 1; track 3 track b; events
        popByJid 5 q b w1 → [{"data":"{}","dependencies":{},"dependents":{},"expires":35,"failure":{},"history":[{"q":"q","what":"put","when":2},{"what":"popped","when":5,"worker":"w1"}],"jid":"b","klass":"K","priority":1,"queue":"q","remaining":5,"retries":5,"spawned_from_jid":false,"state":"running","tags":["t"],"tracked":true,"worker":"w1"}]
        events →
            * ql:popped b
        unchanged
        -- Also a job that is not the next one.
        put 5 me q c K {} 0 priority 3
        popByJid 6 q a w2 | jid worker → a w2
        complete 7 a w2 q {}; complete 7 b w1 q {}; clean 8

        == A job that a pop could not return is not granted
        put 1 me q waits K {} 0; put 1 me q later K {} 50; put 1 me p other K {} 0
        put 1 me q runs K {} 0; popByJid 2 q runs w1; put 1 me q needs K {} 0 depends ["waits"]
        put 2 me q failed K {} 0; popByJid 3 q failed w1; fail 3 failed w1 G M
        put 3 me q done K {} 0; popByJid 3 q done w1; complete 3 done w1 q {}; events; remember
        popByJid 4 q nope w2 → [{}]
        popByJid 4 q later w2 → [{}]
        popByJid 4 q other w2 → [{}]
        popByJid 4 q runs w2 → [{}]
        popByJid 4 q needs w2 → [{}]
        popByJid 4 q failed w2 → [{}]
        popByJid 4 q done w2 → [{}]
        -- Its lock has expired: the holder is warned by a pop of the queue, and not by this one.
        popByJid 90 q runs w2 → [{}]
        unchanged
        events → none
        pause 91 q; remember
        popByJid 92 q waits w2 → [{}]
        unchanged; unpause 92 q; config.set 92 q-max-concurrency 1; put 92 me q more K {} 0
        popByJid 93 q waits w2 | jid → waits
        remember
        popByJid 94 q more w2 → [{}]
        unchanged

        == A due job and one whose lock was revoked are granted
        put 1 me q due K {} 5; put 1 me q revoked K {} 0; popByJid 2 q revoked w1; timeout 3 revoked; remember
        popByJid 5 q due w2 → [{}]
        unchanged
        popByJid 6 q due w2 | jid → due
        popByJid 6 q revoked w2 | jid → revoked
        -- An expired pause ends, as in pop.
        put 7 me q paused K {} 0; guard.pause 7 9 '' q; remember
        popByJid 8 q paused w2 → [{}]
        unchanged
        popByJid 9 q paused w2 | jid → paused
        clean 10

        == Lanes and throttles hold a named job
        put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; remember
        popByJid 3 q b w1 → [{}]
        unchanged
        popByJid 3 q a w1 | jid fence → a 1
        throttle.set 4 t 1; put 4 me q c K {} 0; put 4 me q d K {} 0; config.set 4 q-defaults {"throttles":["t"]}
        -- The defaults of the queue hold for jobs of other clients, too.
        popByJid 5 q c w1 | jid → c
        remember
        popByJid 5 q d w1 → [{}]
        unchanged; complete 6 c w1 q {}
        popByJid 7 q d w1 | jid → d
        clean 8

        == Wrong words and keys of topics are refused
        SET ql:topicsbad x
        subscription 1 → error Subscription(): Arg "queue" missing
        subscription 1 q → error Subscription(): Arg "command" must be "add", "remove", "exists", "get" or "all"
        subscription 1 q list → error Subscription(): Arg "command" must be "add", "remove", "exists", "get" or "all"
        subscription 1 q add → error Subscription(): Arg "topic" missing
        subscription 1 q exists → error Subscription(): Arg "topic" missing
        subscription 1 bad add t → error Subscription(): ql:topicsbad is no hash
        subscription 1 bad exists t → error Subscription(): ql:topicsbad is no hash
        -- Other queues are not concerned, and neither are other calls.
        subscription 1 q add t
        subscription 1 any all → error Subscription(): ql:topicsbad is no hash
        put 2 me bad j K {} 0; pop 3 bad w1 1; fail 4 j w1 G M

        == An empty back-off leaves a job plain
        put 1 me q a K {} 0 backoff []; put 1 me q b K {} 0 backoff {}; guard.put 1 {} 7 q e K {} 0 backoff []
        HMGET ql:j:a backoff throttles → [] nil
        HMGET ql:j:b backoff throttles → {} nil
        HMGET ql:j:e backoff throttles → [] nil
        get 1 a → {"data":"{}","dependencies":{},"dependents":{},"expires":0,"failure":{},"history":[{"q":"q","what":"put","when":1}],"jid":"a","klass":"K","priority":0,"queue":"q","remaining":5,"retries":5,"spawned_from_jid":false,"state":"waiting","tags":{},"tracked":false,"worker":""}
        -- It asks for nothing, so the default of the queue holds; a policy is replaced.
        config.set 2 q-defaults {"backoff":"fixed:5"}; put 2 me q c K {} 0 backoff []
        HGET ql:j:c backoff → fixed:5
        -- So it does for a job that is put again.
        cancel 2 a b e; put 2 me q c K {} 0 backoff []; pop 3 q w1 9; retry 4 c q w1
        score ql:q:q-scheduled c → 9
        put 3 me p d K {} 0 backoff exp:5; put 4 me p d K {} 0 backoff []
        HGET ql:j:d backoff → []
        clean 5
    "#]]);
}

#[test]
fn workers_are_paged_by_position_last_seen_first() {
    let mut core = Core::new();
    core.all("pop 1 q w1 1; pop 2 q w2 1; put 3 me q j K {} 0; pop 3 q w3 1");
    let names = |core: &mut Core, line: &str| {
        let workers = core.json(line);
        let names = workers.as_array().into_iter().flatten();
        let names = names.map(|worker| worker["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&mut core, "workers 4 '' 0 1"), ["w3", "w2"]);
    assert_eq!(names(&mut core, "workers 4 '' 1 -1"), ["w2", "w1"]);
    assert_eq!(names(&mut core, "workers 4 '' 2"), ["w1"]);
    assert_eq!(core.ok("workers 4 '' 5 9").text(), "{}");
    // Without positions an empty name is a name, except in the script for qless-php.
    let one = json!({"stalled": {}, "jobs": {}});
    assert_eq!(core.json("workers 4 ''"), one);
    let mut php = core.beside(&php_script());
    assert_eq!(names(&mut php, "workers 4 ''"), ["w3", "w2", "w1"]);
    assert_eq!(
        php.json("workers 4 w3 7 8"),
        json!({"stalled": {}, "jobs": ["j"]})
    );
    core.session(expect![[r#"
        workers 4 '' x → error Workers(): Arg "start" not a number: x
        workers 4 '' 0 y → error Workers(): Arg "last" not a number: y
        workers 200000 '' 0.5 → error of Redis
        workersCount 200000 → :3
        workers 200000 '' 0 → {}
        workersCount 200000 → :0
    "#]]);
}

#[test]
fn complete_jobs_are_listed_by_queue_in_the_script_for_qless_php() {
    let mut php = php();
    let mut core = php.beside(crate::support::core::script());
    for (at, (queue, jid)) in [("q", "a"), ("q", "b"), ("5", "c"), ("q", "d")]
        .iter()
        .enumerate()
    {
        php.all(&format!(
            "put {at} me {queue} {jid} K {{}} 0; popByJid {at} {queue} {jid} w1"
        ));
        php.ok(&format!("complete {} {jid} w1 {queue} {{}}", at + 10));
    }
    // A page from an offset has the requested number of jobs.
    for (line, jids) in [
        ("jobs 20 complete q 1 2", &["b", "a"][..]),
        ("jobs 20 complete q", &["d", "b", "a"]),
        ("jobs 20 complete 5 0 9", &["c"]),
        ("jobs 20 complete '' 0 2", &["d", "c"]),
        ("jobs 20 complete", &["d", "c", "b", "a"]),
        ("jobs 20 complete 1 2", &["c", "b"]),
        ("jobs 20 complete q 0 0", &[]),
    ] {
        assert_eq!(php.ok(line).texts(), jids, "{line}");
        assert_eq!(core.ok(line).texts(), jids, "{line}");
    }
    // One word is a queue for qless-php, and an offset for others if it is a number.
    assert_eq!(php.ok("jobs 20 complete 5").texts(), ["c"]);
    assert_eq!(core.ok("jobs 20 complete 1").texts(), ["c", "b", "a"]);
    let error = core.refused("jobs 20 complete p");
    assert_eq!(
        short(&error),
        "user_script:N: Jobs(): Arg \"offset\" not a number: p"
    );
    assert_eq!(php.ok("jobs 20 complete p").texts(), [""; 0]);
    // The list follows the limits of complete jobs, and loses jobs that run again.
    php.all("put 21 me p a K {} 0; config.set 21 jobs-history-count 1; popByJid 22 p a w1");
    assert_eq!(php.ok("jobs 23 complete q").texts(), ["d", "b"]);
    php.all(
        "complete 24 a w1 p {}; put 25 me q e K {} 0; popByJid 25 q e w1; complete 26 e w1 q {}",
    );
    assert_eq!(php.ok("jobs 27 complete q").texts(), ["e"]);
    // The common script keeps no such list.
    let mut plain = Core::new();
    plain.all("put 1 me q a K {} 0; pop 1 q w1 1; complete 2 a w1 q {}");
    assert!(!plain.dump().has("ql:q:q-completed"));
}

#[test]
fn topics_are_kept_by_queue() {
    let mut core = Core::new();
    assert_eq!(core.ok("subscription 1 q add big.*").text(), r#"["q"]"#);
    assert_eq!(core.ok("subscription 1 q add big.*").text(), r#"["q"]"#);
    assert_eq!(core.ok("subscription 1 q add small").text(), r#"["q","q"]"#);
    core.ok("subscription 1 p add big.*");
    assert_eq!(core.ok("subscription 1 q exists small").text(), "true");
    assert_eq!(core.ok("subscription 1 p exists small").text(), "false");
    assert_eq!(core.ok("subscription 1 q get").text(), r#"["ql:topicsq"]"#);
    assert_eq!(core.ok("subscription 1 nope get").text(), "{}");
    let queues = |core: &mut Core, now: &str, topic: &str| {
        let all = core.json(&format!("subscription {now} any all"));
        let queues = all[topic].as_object().into_iter().flatten();
        let mut queues: Vec<_> = queues
            .map(|(_, queue)| queue.as_str().unwrap().to_owned())
            .collect();
        queues.sort();
        queues
    };
    assert_eq!(queues(&mut core, "2", "big.*"), ["p", "q"]);
    assert_eq!(queues(&mut core, "2", "small"), ["q"]);
    assert_eq!(core.ok("subscription 3 q remove small").text(), "true");
    assert_eq!(core.ok("subscription 3 q remove small").text(), "false");
    assert_eq!(queues(&mut core, "3", "small"), [""; 0]);
    core.all("subscription 4 q remove big.*; subscription 4 p remove big.*");
    assert_eq!(core.ok("subscription 5 any all").text(), "{}");
    core.must_be_clean(6.0, Default::default());
}

#[test]
fn topics_of_other_scripts_are_found_within_ten_seconds() {
    let mut core = Core::new();
    core.redis("HSET ql:topicsold t old");
    let topics = |core: &mut Core, now: &str| {
        let all = core.json(&format!("subscription {now} any all"));
        let all = all.as_object().into_iter().flatten();
        all.map(|(topic, _)| topic.clone()).collect::<Vec<_>>()
    };
    assert_eq!(topics(&mut core, "1"), ["t"]);
    core.redis("HSET ql:topicsnew u new");
    assert_eq!(topics(&mut core, "9"), ["t"]);
    assert_eq!(topics(&mut core, "11"), ["t", "u"]);
    core.redis("DEL ql:topicsold");
    assert_eq!(topics(&mut core, "12"), ["u"]);
    // However many keys there are, a call after the first one reads a slice of them.
    core.put_jobs(12, (0..3000).map(|n| format!("q j{n} K {{}} 0")));
    core.redis("CONFIG RESETSTAT");
    for now in 20..40 {
        topics(&mut core, &now.to_string());
    }
    let stats = core.redis("INFO commandstats");
    let scans = stats
        .text()
        .lines()
        .find(|line| line.starts_with("cmdstat_scan:"));
    let calls = scans.unwrap().split(['=', ',']).nth(1).unwrap();
    assert!(calls.parse::<u32>().unwrap() <= 20, "{calls}");
    core.redis("HSET ql:topicslate v late");
    let found = (40..60).any(|now| topics(&mut core, &now.to_string()) == ["u", "v"]);
    assert!(found);
    // Neither does the first call read all keys: it reads the listed queues, and a slice.
    core.put_jobs(60, (0..6_000).map(|n| format!("r k{n} K {{}} 0")));
    core.redis("DEL ql:subscriptions");
    core.redis("HSET ql:topicsq w q");
    core.redis("CONFIG RESETSTAT");
    assert!(topics(&mut core, "70").contains(&"w".to_owned()));
    let stats = core.redis("INFO commandstats");
    assert!(stats.text().contains("cmdstat_scan:calls=1,"));
}

#[test]
fn the_script_for_qless_php_has_its_defaults() {
    let (mut php, mut core) = (php(), Core::new());
    let mut expected = core.json("config.get 1");
    expected["jobs-failed-history"] = json!(604_800);
    expected["backoff-initial-delay"] = json!(0);
    expected["backoff-factor"] = json!(3);
    assert_eq!(php.json("config.get 1"), expected);
    assert_eq!(php.ok("config.get 1 backoff-factor"), Reply::Int(3));
    assert_eq!(core.ok("config.get 1 backoff-factor"), Reply::Nil);
    for script in [&mut php, &mut core] {
        script.all("pop 1 q w1 1; pop 1 q w2 1");
    }
    assert_eq!(php.ok("worker.deregister 2 w1 w2 w3"), Reply::Int(2));
    assert_eq!(core.ok("worker.deregister 2 w1 w2 w3"), Reply::Nil);
}

#[test]
fn the_script_for_qless_php_leaves_out_tags_of_blanks() {
    let (mut php, mut core) = (php(), Core::new());
    for (script, tags, added, recurring) in [
        (
            &mut php,
            json!(["a", " b"]),
            json!(["a", " b", "c"]),
            json!(["x", "y "]),
        ),
        (
            &mut core,
            json!(["", "  ", "a", " b"]),
            json!(["", "  ", "a", " b", " ", "c"]),
            json!([" ", "x", "", "y "]),
        ),
    ] {
        script.ok("put 1 me q j K {} 0 tags '[\"\",\"  \",\"a\",\" b\"]'");
        assert_eq!(script.json("get 1 j")["tags"], tags);
        assert_eq!(script.json("tag 2 add j '' ' ' c"), added);
        script.ok("recur 3 q r K {} interval 10 0 tags '[\" \",\"x\"]'");
        assert_eq!(script.json("recur.tag 4 r '' 'y '"), recurring);
        script.must_be_clean(5.0, Default::default());
    }
}

#[test]
fn workers_of_both_scripts_share_a_queue() {
    let mut core = Core::new();
    core.many((0..400).map(|n| format!("put 1 me q j{n} K {{}} 0 backoff []")));
    let mut others = [core.beside(&php_script()), core.beside(&php_script())];
    let mut own = [core.beside(crate::support::core::script()), core];
    let mut runs = std::collections::BTreeMap::new();
    for round in 0..100_u64 {
        let now = 2 + round;
        for (at, worker) in own.iter_mut().chain(&mut others).enumerate() {
            let line = match round % 3 {
                0 => format!(
                    "popByJid {now} q j{} w{at}",
                    (round * 7 + at as u64 * 31) % 400
                ),
                _ => format!("pop {now} q w{at} 2"),
            };
            let jobs = worker.json(&line);
            let jids = jobs.as_array().into_iter().flatten();
            for jid in jids.filter_map(|job| job["jid"].as_str()) {
                *runs.entry(jid.to_owned()).or_insert(0) += 1;
                worker.ok(&format!("complete {now} {jid} w{at} q {{}}"));
            }
        }
    }
    assert_eq!(runs.len(), 400);
    assert!(runs.values().all(|count| *count == 1));
    own[1].must_be_clean(200.0, Default::default());
}

#[test]
fn a_job_completed_elsewhere_and_put_again_is_no_longer_listed() {
    php().session(expect![[r#"
        put 1 me q1 a K {} 0; pop 1 q1 w1 1; retry 2 a q2 w1; pop 3 q2 w1 1; complete 4 a w1 q2 {}
        jobs 5 complete q2 → a
        put 5 '' q3 a K {} 0
        jobs 6 complete q2 → none
        pop 6 q3 w1 1; complete 7 a w1 q3 {}; guard.requeue 8 {"from":["complete"]} '' a '' ''
        jobs 9 complete q3 → none
    "#]]);
}
