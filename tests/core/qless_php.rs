//! The calls that only qless-php makes, in every script, and what the script for qless-php does
//! differently.

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

/// What popByJid replies if it grants nothing.
const NOTHING: &str = "[{}]";

/// A call of popByJid that grants nothing and changes nothing.
#[track_caller]
fn grants_nothing(core: &mut Core, line: &str) {
    let before = core.dump();
    core.events();
    assert_eq!(core.ok(line).text(), NOTHING, "{line}");
    assert_eq!(core.dump(), before, "{line}");
    assert_eq!(core.published(), [""; 0], "{line}");
}

#[test]
fn a_named_job_is_popped_as_by_pop() {
    let put = "config.set 0 q-heartbeat 30; put 1 me q a K {} 0; put 2 me q b K {} 0 tags [\"t\"]; track 3 track b";
    let (mut named, mut usual) = (Core::new(), Core::new());
    named.all(put);
    usual.all(put);
    usual.all("priority 3 b 1");
    named.all("priority 3 b 1");
    named.events();
    usual.events();
    let reply = usual.ok("pop 5 q w1 1");
    assert_eq!(named.ok("popByJid 5 q b w1"), reply);
    assert_eq!(named.events(), usual.events());
    assert_eq!(named.dump(), usual.dump());
    // Also a job that is not the next one.
    assert_eq!(named.jids("popByJid 6 q a w2"), ["a"]);
    assert_eq!(named.field("a", "worker").as_deref(), Some("w2"));
    named.all("complete 7 a w2 q {}; complete 7 b w1 q {}");
    named.must_be_clean(8.0, Default::default());
}

#[test]
fn a_job_that_a_pop_could_not_return_is_not_granted() {
    let mut core = Core::new();
    core.all("put 1 me q waits K {} 0; put 1 me q later K {} 50; put 1 me p other K {} 0");
    core.all(
        "put 1 me q runs K {} 0; popByJid 2 q runs w1; put 1 me q needs K {} 0 depends [\"waits\"]",
    );
    core.all("put 2 me q failed K {} 0; popByJid 3 q failed w1; fail 3 failed w1 G M");
    core.all("put 3 me q done K {} 0; popByJid 3 q done w1; complete 3 done w1 q {}");
    for jid in ["nope", "later", "other", "runs", "needs", "failed", "done"] {
        grants_nothing(&mut core, &format!("popByJid 4 q {jid} w2"));
    }
    // Its lock has expired: the holder is warned by a pop of the queue, and not by this one.
    grants_nothing(&mut core, "popByJid 90 q runs w2");
    core.ok("pause 91 q");
    grants_nothing(&mut core, "popByJid 92 q waits w2");
    core.all("unpause 92 q; config.set 92 q-max-concurrency 1; put 92 me q more K {} 0");
    assert_eq!(core.jids("popByJid 93 q waits w2"), ["waits"]);
    grants_nothing(&mut core, "popByJid 94 q more w2");
}

#[test]
fn a_due_job_and_one_whose_lock_was_revoked_are_granted() {
    let mut core = Core::new();
    core.all("put 1 me q due K {} 5; put 1 me q revoked K {} 0; popByJid 2 q revoked w1; timeout 3 revoked");
    grants_nothing(&mut core, "popByJid 5 q due w2");
    assert_eq!(core.jids("popByJid 6 q due w2"), ["due"]);
    assert_eq!(core.jids("popByJid 6 q revoked w2"), ["revoked"]);
    // An expired pause ends, as in pop.
    core.all("put 7 me q paused K {} 0; guard.pause 7 9 '' q");
    grants_nothing(&mut core, "popByJid 8 q paused w2");
    assert_eq!(core.jids("popByJid 9 q paused w2"), ["paused"]);
    core.must_be_clean(10.0, Default::default());
}

#[test]
fn lanes_and_throttles_hold_a_named_job() {
    let mut core = Core::new();
    core.all("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k");
    grants_nothing(&mut core, "popByJid 3 q b w1");
    let job = &core.json("popByJid 3 q a w1")[0];
    assert_eq!((&job["jid"], &job["fence"]), (&json!("a"), &json!(1)));
    core.all("throttle.set 4 t 1; put 4 me q c K {} 0; put 4 me q d K {} 0");
    core.ok("config.set 4 q-defaults {\"throttles\":[\"t\"]}");
    // The defaults of the queue hold for jobs of other clients, too.
    assert_eq!(core.jids("popByJid 5 q c w1"), ["c"]);
    grants_nothing(&mut core, "popByJid 5 q d w1");
    core.ok("complete 6 c w1 q {}");
    assert_eq!(core.jids("popByJid 7 q d w1"), ["d"]);
    core.must_be_clean(8.0, Default::default());
}

#[test]
fn missing_words_of_pop_by_jid_are_refused() {
    let mut core = Core::new();
    core.ok("put 1 me q a K {} 0");
    for (line, text) in [
        ("popByJid 2", "Queue(): no queue name provided"),
        ("popByJid 2 q", "Pop(): Arg \"jid\" missing"),
        ("popByJid 2 q a", "Pop(): Arg \"worker\" missing"),
    ] {
        let error = core.refused(line);
        assert_eq!(short(&error), format!("user_script:N: {text}"), "{line}");
    }
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
    for (line, text) in [
        ("workers 4 '' x", "Workers(): Arg \"start\" not a number: x"),
        (
            "workers 4 '' 0 y",
            "Workers(): Arg \"last\" not a number: y",
        ),
    ] {
        assert_eq!(short(&core.refused(line)), format!("user_script:N: {text}"));
    }
    core.refused("workers 200000 '' 0.5");
    assert_eq!(core.ok("workersCount 200000"), Reply::Int(3));
    assert_eq!(core.ok("workers 200000 '' 0").text(), "{}");
    assert_eq!(core.ok("workersCount 200000"), Reply::Int(0));
}

#[test]
fn the_jobs_of_a_worker_are_listed_by_the_end_of_their_locks() {
    let mut core = Core::new();
    core.all("put 1 me q a K {} 0; put 1 me q b K {} 0; popByJid 10 q b w1; popByJid 20 q a w1");
    assert_eq!(core.json("workerJobs 21 w1"), json!(["b", "a"]));
    assert_eq!(core.json("workerJobs 21 w1 70"), json!(["b", "a"]));
    assert_eq!(core.json("workerJobs 21 w1 70.5"), json!(["a"]));
    assert_eq!(core.json("workerJobs 21 w1 ''"), json!(["b", "a"]));
    assert_eq!(core.ok("workerJobs 21 w2").text(), "{}");
    assert_eq!(core.ok("workerJobs 21").text(), "null");
    let error = core.refused("workerJobs 21 w1 soon");
    assert_eq!(
        short(&error),
        "user_script:N: WorkerJobs(): Arg \"from\" not a number: soon"
    );
}

#[test]
fn tracked_jobs_and_tags_are_listed() {
    let mut core = Core::new();
    assert_eq!(core.ok("tracked 1").text(), "{}");
    assert_eq!(core.ok("tags 1 0 5").text(), "{}");
    core.all("put 1 me q a K {} 0 tags [\"x\",\"y\"]; put 1 me q b K {} 0 tags [\"y\",\"z\"]; put 1 me q c K {} 0 tags [\"y\"]");
    core.all("track 2 track b; track 3 track a");
    assert_eq!(core.json("tracked 4"), json!(["b", "a"]));
    assert_eq!(core.json("tags 4 0 9"), json!(["y", "z", "x"]));
    assert_eq!(core.json("tags 4 1 1"), json!(["z"]));
    assert_eq!(core.ok("tags 4 3 9").text(), "{}");
    // An older script leaves the counters of unused tags.
    core.redis("ZADD ql:tags 0 gone -1 lost");
    assert_eq!(core.json("tags 4"), json!(["y", "z", "x"]));
    for (line, name) in [("tags 4 x", "offset"), ("tags 4 0 x", "count")] {
        let text = format!("user_script:N: Tags(): Arg \"{name}\" not a number: x");
        assert_eq!(short(&core.refused(line)), text);
    }
}

#[test]
fn waiting_jobs_are_listed_in_the_order_of_pop() {
    let mut core = Core::new();
    core.all("put 1 me q a K {} 0; put 2 me q b K {} 0 priority 5; put 3 me q c K {} 0");
    assert_eq!(core.ok("jobs 4 waiting q").texts(), ["b", "a", "c"]);
    assert_eq!(core.ok("jobs 4 waiting q 1 1").texts(), ["a"]);
    assert_eq!(core.ok("jobs 4 waiting q 0 0").texts(), [""; 0]);
    assert_eq!(core.ok("jobs 4 waiting p").texts(), [""; 0]);
    assert_eq!(core.jids("pop 4 q w1 3"), ["b", "a", "c"]);
    let error = core.refused("jobs 5 waiting");
    assert_eq!(
        short(&error),
        "user_script:N: Jobs(): Arg \"queue\" missing"
    );
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
    core.many((0..3000).map(|n| format!("put 12 me q j{n} K {{}} 0")));
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
    core.many((0..30_000).map(|n| format!("put 60 me r k{n} K {{}} 0")));
    core.redis("DEL ql:subscriptions");
    core.redis("HSET ql:topicsq w q");
    core.redis("CONFIG RESETSTAT");
    assert!(topics(&mut core, "70").contains(&"w".to_owned()));
    let stats = core.redis("INFO commandstats");
    assert!(stats.text().contains("cmdstat_scan:calls=1,"));
}

#[test]
fn wrong_words_and_keys_of_topics_are_refused() {
    let mut core = Core::new();
    let verbs = "Arg \"command\" must be \"add\", \"remove\", \"exists\", \"get\" or \"all\"";
    core.redis("SET ql:topicsbad x");
    for (line, text) in [
        ("subscription 1", "Arg \"queue\" missing"),
        ("subscription 1 q", verbs),
        ("subscription 1 q list", verbs),
        ("subscription 1 q add", "Arg \"topic\" missing"),
        ("subscription 1 q exists", "Arg \"topic\" missing"),
        ("subscription 1 bad add t", "ql:topicsbad is no hash"),
        ("subscription 1 bad exists t", "ql:topicsbad is no hash"),
    ] {
        let error = core.refused(line);
        assert_eq!(
            short(&error),
            format!("user_script:N: Subscription(): {text}"),
            "{line}"
        );
    }
    // Other queues are not concerned, and neither are other calls.
    core.ok("subscription 1 q add t");
    let error = core.run("subscription 1 any all").unwrap_err();
    assert_eq!(
        short(&error),
        "user_script:N: Subscription(): ql:topicsbad is no hash"
    );
    core.all("put 2 me bad j K {} 0; pop 3 bad w1 1; fail 4 j w1 G M");
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
fn an_empty_back_off_leaves_a_job_plain() {
    let mut core = Core::new();
    for (jid, empty) in [("a", "[]"), ("b", "{}")] {
        core.ok(&format!("put 1 me q {jid} K {{}} 0"));
        let plain = core.json(&format!("get 1 {jid}"));
        core.ok(&format!("cancel 1 {jid}"));
        core.ok(&format!("put 1 me q {jid} K {{}} 0 backoff {empty}"));
        assert_eq!(core.json(&format!("get 1 {jid}")), plain);
        assert_eq!(core.field(jid, "backoff").as_deref(), Some(empty));
        assert_eq!(core.field(jid, "throttles"), None);
    }
    core.ok("guard.put 1 {} 7 q e K {} 0 backoff []");
    assert_eq!(core.field("e", "backoff").as_deref(), Some("[]"));
    assert_eq!(core.field("e", "throttles"), None);
    // It asks for nothing, so the default of the queue holds; a policy is replaced.
    core.ok(r#"config.set 2 q-defaults {"backoff":"fixed:5"}"#);
    core.ok("put 2 me q c K {} 0 backoff []");
    assert_eq!(core.field("c", "backoff").as_deref(), Some("fixed:5"));
    // So it does for a job that is put again.
    core.all("cancel 2 a b e; put 2 me q c K {} 0 backoff []; pop 3 q w1 9; retry 4 c q w1");
    assert_eq!(core.score("ql:q:q-scheduled", "c"), Some(4.0 + 5.0));
    core.all("put 3 me p d K {} 0 backoff exp:5; put 4 me p d K {} 0 backoff []");
    assert_eq!(core.field("d", "backoff").as_deref(), Some("[]"));
    core.must_be_clean(5.0, Default::default());
}

#[test]
fn wrong_back_offs_are_refused() {
    let mut core = Core::new();
    for wrong in [
        "[5]",
        "{\"delay\":5}",
        "{\"initial_delay\":-1}",
        "{\"initial_delay\":\"5\"}",
        "{\"initial_delay\":null}",
        "{\"factor\":1e999}",
        "{\"factor\":nan}",
        "{\"initial_delay\":5",
        "5",
        "soon",
    ] {
        let error = core.refused(&format!("put 1 me q j K {{}} 0 backoff '{wrong}'"));
        let text = format!("user_script:N: Put(): Arg \"backoff\" not a policy: {wrong}");
        assert_eq!(short(&error), text);
    }
    core.ok("put 1 me q j K {} 0 backoff '{\"initial_delay\":0.5}'");
    assert_eq!(core.json("get 1 j")["backoff"], r#"{"initial_delay":0.5}"#);
}

#[test]
fn a_job_completed_elsewhere_and_put_again_is_no_longer_listed() {
    let mut php = php();
    php.all("put 1 me q1 a K {} 0; pop 1 q1 w1 1; retry 2 a q2 w1; pop 3 q2 w1 1; complete 4 a w1 q2 {}");
    assert_eq!(php.ok("jobs 5 complete q2").texts(), ["a"]);
    php.ok("put 5 '' q3 a K {} 0");
    assert_eq!(php.ok("jobs 6 complete q2").texts(), [""; 0]);
    php.all("pop 6 q3 w1 1; complete 7 a w1 q3 {}");
    php.ok(r#"guard.requeue 8 {"from":["complete"]} '' a '' ''"#);
    assert_eq!(php.ok("jobs 9 complete q3").texts(), [""; 0]);
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
