//! What put, requeue, complete, fail, retry, heartbeat, timeout, cancel, priority, log and get do
//! to a job, one fact per test.

use serde_json::json;

use crate::support::core::{Core, Reply, short};

/// A database with job `j` of queue `q`, held by `w1` since 10.
fn held() -> Core {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 10 q w1 1");
    core.events();
    core
}

fn sets(core: &mut Core, jid: &str) -> Vec<String> {
    let dump = core.dump();
    let names = dump.0.keys().filter(|name| name.starts_with("ql:q:"));
    names
        .filter(|name| dump.score(name, jid).is_some())
        .cloned()
        .collect()
}

// put

#[test]
fn a_new_job_has_the_defaults_and_no_other_fields() {
    let mut core = Core::new();
    core.ok("put 1352375211.623456 w q j K {} 0");
    let hash = core.dump().hash("ql:j:j");
    let names: Vec<&str> = hash.keys().map(String::as_str).collect();
    let wanted = [
        "data",
        "expires",
        "jid",
        "klass",
        "priority",
        "queue",
        "remaining",
        "retries",
        "state",
        "tags",
        "time",
        "worker",
    ];
    assert_eq!(names, wanted);
    assert_eq!(hash["time"], "1352375211.62345600128173828125");
    assert_eq!(
        (hash["tags"].as_str(), hash["expires"].as_str()),
        ("{}", "0")
    );
    assert_eq!(
        (hash["retries"].as_str(), hash["remaining"].as_str()),
        ("5", "5")
    );
}

#[test]
fn job_json_has_all_its_fields_and_empty_arrays_are_objects() {
    let mut core = Core::new();
    core.ok("put 1.5 w q j K [] 0");
    assert_eq!(
        core.json("get 2 j"),
        json!({
            "jid": "j", "klass": "K", "state": "waiting", "queue": "q", "worker": "",
            "tracked": false, "priority": 0, "expires": 0, "retries": 5, "remaining": 5,
            "data": "[]", "tags": {}, "history": [{"when": 1, "what": "put", "q": "q"}],
            "failure": {}, "spawned_from_jid": false, "dependents": {}, "dependencies": {},
        })
    );
    core.ok("put 2 w q often K {} 0 retries 12.5 priority -3");
    let job = core.json("get 2 often");
    assert_eq!(
        (&job["retries"], &job["remaining"], &job["priority"]),
        (&json!(12.5), &json!(12), &json!(-3))
    );
}

#[test]
fn data_is_stored_byte_for_byte() {
    let mut core = Core::new();
    for data in [
        "[]",
        r#"{"b":[],"a":12345678901234567890}"#,
        r#""a/bé\u00e9""#,
        "null",
        "  {  } ",
        "1e2",
        "true",
    ] {
        core.call(&[b"put", b"1", b"w", b"q", b"j", b"K", data.as_bytes(), b"0"])
            .unwrap();
        assert_eq!(core.field("j", "data").as_deref(), Some(data));
        assert_eq!(core.json("get 2 j")["data"], data);
        core.call(&[b"pop", b"2", b"q", b"w1", b"1"]).unwrap();
        core.call(&[b"complete", b"3", b"j", b"w1", b"q", data.as_bytes()])
            .unwrap();
        assert_eq!(core.field("j", "data").as_deref(), Some(data));
    }
}

#[test]
fn putting_again_keeps_options_that_are_not_given() {
    let mut core = Core::new();
    core.ok(r#"put 0 w q j K {} 0 priority 3 tags ["x"] retries 2"#);
    core.ok("put 1 w q2 j K2 [] 0");
    let job = core.json("get 2 j");
    assert_eq!(
        (&job["priority"], &job["tags"], &job["retries"]),
        (&json!(3), &json!(["x"]), &json!(2))
    );
    assert_eq!((&job["klass"], &job["queue"]), (&json!("K2"), &json!("q2")));
    assert_eq!(sets(&mut core, "j"), ["ql:q:q2-work"]);
}

#[test]
fn putting_again_restores_all_retries() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0 retries 3; pop 1 q w1 1; retry 2 j q w1");
    assert_eq!(core.field("j", "remaining").as_deref(), Some("2"));
    core.ok("put 3 w q j K {} 0");
    assert_eq!(core.field("j", "remaining").as_deref(), Some("3"));
}

#[test]
fn a_repeated_option_counts_with_its_last_value_and_unknown_ones_are_ignored() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0 priority x priority 4 interval 5 replace 0");
    assert_eq!(core.json("get 1 j")["priority"], 4);
}

#[test]
fn a_delay_that_is_not_positive_means_immediately() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 0 w q b K {} -5; put 0 w q c K {} 0.5");
    assert_eq!(
        (core.state("a"), core.state("b")),
        ("waiting".into(), "waiting".into())
    );
    assert_eq!(core.state("c"), "scheduled");
    assert_eq!(core.score("ql:q:q-scheduled", "c"), Some(0.5));
}

#[test]
fn putting_a_job_that_another_worker_holds_notifies_that_worker() {
    let mut core = held();
    core.ok("put 20 w2 q j K {} 0");
    assert_eq!(
        core.published(),
        [
            r#"ql:log {"jid":"j","event":"put","queue":"q"}"#,
            r#"ql:w:w1 {"jid":"j","event":"lock_lost","worker":"w1"}"#,
            r#"ql:log {"jid":"j","event":"lock_lost","worker":"w1"}"#,
        ]
    );
    assert_eq!(core.field("j", "worker").as_deref(), Some(""));
    assert!(!core.dump().has("ql:w:w1:jobs"));
    let error = core.refused("heartbeat 21 j w1");
    assert!(error.contains("not currently running: waiting"), "{error}");
}

#[test]
fn d_28_a_put_by_the_holder_notifies_no_worker() {
    let mut core = held();
    core.ok("put 20 w1 q j K {} 0");
    assert_eq!(
        core.published(),
        [r#"ql:log {"jid":"j","event":"put","queue":"q"}"#]
    );
}

#[test]
fn d_25_a_retried_job_still_names_its_last_worker_which_is_notified_of_a_put() {
    let mut core = held();
    core.ok("retry 11 j q w1");
    let job = core.json("get 12 j");
    assert_eq!(
        (&job["worker"], &job["expires"]),
        (&json!("w1"), &json!(70))
    );
    core.ok("put 13 w2 q j K {} 0");
    assert!(
        core.published()
            .contains(&r#"ql:w:w1 {"jid":"j","event":"lock_lost","worker":"w1"}"#.into())
    );
}

#[test]
fn putting_a_complete_job_removes_it_from_the_complete_jobs() {
    let mut core = held();
    core.all("complete 11 j w1 q {}; put 12 w q j K {} 0");
    assert!(!core.dump().has("ql:completed"));
    assert_eq!(core.state("j"), "waiting");
}

#[test]
fn putting_a_failed_job_keeps_its_failure_readable_until_completion() {
    let mut core = held();
    core.all("fail 11 j w1 G M; put 12 w q j K {} 0");
    assert_eq!(core.json("get 13 j")["failure"]["group"], "G");
    assert!(!core.dump().has("ql:failures"));
    core.all("pop 14 q w1 1; complete 15 j w1 q {}");
    assert_eq!(core.json("get 16 j")["failure"], json!({}));
}

#[test]
fn a_queue_is_listed_with_the_time_it_was_first_seen() {
    let mut core = Core::new();
    core.all("put 5 w q a K {} 0; put 9 w q b K {} 0");
    assert_eq!(core.score("ql:queues", "q"), Some(5.0));
}

#[test]
fn a_tracked_job_is_announced_last() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; track 0 track j");
    core.events();
    core.ok("put 1 w q j K {} 0");
    assert_eq!(
        core.published(),
        [
            r#"ql:log {"jid":"j","event":"put","queue":"q"}"#,
            "ql:put j"
        ]
    );
}

#[test]
fn d_38_a_put_with_a_bad_option_leaves_the_tags() {
    let mut core = Core::new();
    core.ok(r#"put 0 w q j K {} 0 tags ["x"]"#);
    core.refused("put 1 w q j K {} 0 retries x");
    core.refused("put 1 w q j K {} 0 tags {]");
    assert_eq!(core.json("get 2 j")["tags"], json!(["x"]));
    assert_eq!(core.json("tag 2 get x")["jobs"], json!(["j"]));
}

#[test]
fn d_79_empty_names_are_names() {
    let mut core = Core::new();
    core.ok("put 0 '' '' '' '' {} 0");
    assert_eq!(core.jids("pop 1 '' '' 1"), [""]);
    assert_eq!(core.ok("complete 2 '' '' '' {}").text(), "complete");
}

#[test]
fn job_names_may_hold_any_bytes() {
    let mut core = Core::new();
    let name = b"a b\n\"\\\x00\x1b/\xff";
    core.call(&[b"put", b"0", b"w", name, name, name, b"{}", b"0"])
        .unwrap();
    let reply = core.call(&[b"pop", b"1", name, name, b"1"]).unwrap();
    assert!(reply.text().contains("\"state\":\"running\""), "{reply:?}");
    core.call(&[b"heartbeat", b"2", name, name]).unwrap();
    let reply = core
        .call(&[b"complete", b"3", name, name, name, b"{}"])
        .unwrap();
    assert_eq!(reply, Reply::Text("complete".into()));
    core.events();
}

#[test]
fn the_time_may_be_any_number_that_lua_reads() {
    let mut core = Core::new();
    for (now, time) in [
        ("0x10", 16.0),
        (" 7 ", 7.0),
        ("1e3", 1000.0),
        ("-5.5", -5.5),
        (".5", 0.5),
    ] {
        core.call(&[b"put", now.as_bytes(), b"w", b"q", b"j", b"K", b"{}", b"0"])
            .unwrap();
        assert_eq!(core.field("j", "time").unwrap().parse(), Ok(time), "{now}");
        core.ok("cancel 0 j");
    }
}

#[test]
fn an_empty_object_is_an_empty_list_and_blanks_are_ignored() {
    let mut core = Core::new();
    core.ok(r#"put 0 w q a K {} 0 tags ["x"]"#);
    core.ok("put 0 w q a K {} 0 tags {} depends {}");
    assert_eq!(core.json("get 1 a")["tags"], json!({}));
    core.ok(r#"put 0 w q a K {} 0 tags ' [ "x" ] ' depends '  [ ] '"#);
    assert_eq!(core.json("get 1 a")["tags"], json!(["x"]));
    core.ok("recur 0 q r K {} interval 60 1000 tags {}");
    core.ok("pop 2 q w1 1");
    assert_eq!(
        core.ok("complete 3 a w1 q {} next q depends {}").text(),
        "waiting"
    );
}

// requeue

#[test]
fn requeue_is_put_for_existing_jobs() {
    let mut core = Core::new();
    core.ok(r#"put 0 w q j K {} 0 tags ["x"]"#);
    assert_eq!(
        core.ok(r#"requeue 1 w q2 j K2 [1] 0 priority 2 tags [] retries 1 depends []"#)
            .text(),
        "j"
    );
    let job = core.json("get 2 j");
    assert_eq!(
        (&job["queue"], &job["tags"], &job["priority"]),
        (&json!("q2"), &json!({}), &json!(2))
    );
}

// complete

#[test]
fn a_completed_job_has_no_lock_and_no_worker() {
    let mut core = held();
    assert_eq!(
        core.ok(r#"complete 12.5 j w1 q {"done":1}"#).text(),
        "complete"
    );
    let job = core.json("get 13 j");
    assert_eq!(
        (&job["state"], &job["queue"], &job["worker"]),
        (&json!("complete"), &json!(""), &json!(""))
    );
    assert_eq!(
        (&job["data"], &job["expires"]),
        (&json!(r#"{"done":1}"#), &json!(0))
    );
    assert_eq!(
        core.history("j").last().map(String::as_str),
        Some(r#"[12,"done"]"#)
    );
    assert_eq!(
        core.published(),
        [r#"ql:log {"jid":"j","event":"completed","queue":"q"}"#]
    );
}

#[test]
fn the_holder_may_complete_under_an_expired_lock() {
    let mut core = held();
    core.ok("pop 5000 q w2 1");
    assert_eq!(core.ok("complete 5005 j w1 q {}").text(), "complete");
}

#[test]
fn advancing_publishes_completed_before_the_log() {
    let mut core = held();
    core.ok("track 10 track j");
    core.events();
    assert_eq!(core.ok("complete 12 j w1 q {} next q2").text(), "waiting");
    assert_eq!(
        core.published(),
        [
            "ql:completed j",
            r#"ql:log {"jid":"j","to":"q2","event":"advanced","queue":"q"}"#
        ]
    );
    assert_eq!(
        core.history("j")[2..],
        [r#"[12,"done"]"#, r#"[12,"put",{"q":"q2"}]"#]
    );
}

#[test]
fn clients_send_delay_and_depends_always() {
    let mut core = held();
    assert_eq!(
        core.ok("complete 12 j w1 q {} next q2 delay 0 depends []")
            .text(),
        "waiting"
    );
}

#[test]
fn d_33_a_next_without_a_queue_completes_the_job() {
    let mut core = held();
    assert_eq!(core.ok("complete 12 j w1 q {} next").text(), "complete");
}

#[test]
fn d_29_advancing_with_a_delay_makes_the_job_scheduled() {
    let mut core = held();
    assert_eq!(
        core.ok("complete 12 j w1 q {} next q2 delay 10").text(),
        "scheduled"
    );
    assert_eq!(core.state("j"), "scheduled");
    assert_eq!(core.score("ql:q:q2-scheduled", "j"), Some(22.0));
}

#[test]
fn d_30_advancing_with_a_delay_and_satisfied_dependencies_schedules_the_job() {
    let mut core = held();
    let line = r#"complete 12 j w1 q {} next q2 delay 10 depends ["gone"]"#;
    assert_eq!(core.ok(line).text(), "scheduled");
    assert_eq!(sets(&mut core, "j"), ["ql:q:q2-scheduled"]);
}

#[test]
fn d_70_advancing_with_a_dependency_on_itself_is_no_dependency() {
    let mut core = held();
    assert_eq!(
        core.ok(r#"complete 12 j w1 q {} next q2 depends ["j"]"#)
            .text(),
        "waiting"
    );
}

#[test]
fn the_oldest_complete_jobs_expire_by_age_and_by_number() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-history-count 2");
    for (at, jid) in ["a", "b", "c"].iter().enumerate() {
        core.all(&format!(
            "put {at} w q {jid} K {{}} 0; pop {at} q w1 1; complete {at} {jid} w1 q {{}}"
        ));
    }
    assert_eq!(core.ok("jobs 9 complete").texts(), ["c", "b"]);
    assert_eq!(core.ok("get 9 a"), Reply::Nil);
    assert!(!core.dump().has("ql:j:a-history"));
    core.ok("config.set 0 jobs-history 100");
    core.all("put 200 w q d K {} 0; pop 200 q w1 1; complete 200 d w1 q {}");
    assert_eq!(core.ok("jobs 201 complete").texts(), ["d"]);
}

#[test]
fn a_job_can_expire_while_it_is_completed() {
    let mut core = held();
    core.ok("put 10 w q k K {} 0 depends [\"j\"]");
    core.ok("config.set 0 jobs-history -1");
    assert_eq!(core.ok("complete 12 j w1 q {}").text(), "complete");
    assert_eq!(core.ok("get 13 j"), Reply::Nil);
    assert_eq!(core.state("k"), "waiting");
}

#[test]
fn d_11_an_invalid_old_job_does_not_stop_a_completion() {
    let mut core = held();
    core.ok("put 10 w q k K {} 0 depends [\"j\"]");
    core.all("put 10 w p old K {} 0; pop 10 p w1 1; complete 10 old w1 p {}");
    core.redis("HSET ql:j:old tags {]");
    core.ok("config.set 0 jobs-history-count 1");
    assert_eq!(core.ok("complete 12 j w1 q {}").text(), "complete");
    assert_eq!(core.state("k"), "waiting");
    assert_eq!(core.ok("get 13 old"), Reply::Nil);
}

#[test]
fn d_75_at_most_a_thousand_jobs_expire_in_one_call() {
    let mut core = Core::new();
    core.many((0..1100).map(|n| format!("put 0 w q j{n} K {{}} 0")));
    core.ok("pop 0 q w1 1100");
    core.many((0..1100).map(|n| format!("complete 1 j{n} w1 q {{}}")));
    core.ok("config.set 0 jobs-history 10");
    core.all("put 100 w q k K {} 0; pop 100 q w1 1; complete 100 k w1 q {}");
    assert_eq!(core.dump().zset("ql:completed").len(), 101);
    core.all("put 101 w q l K {} 0; pop 101 q w1 1; complete 101 l w1 q {}");
    assert_eq!(core.dump().zset("ql:completed").len(), 2);
}

// fail

#[test]
fn failing_keeps_the_queue_and_the_remaining_retries() {
    let mut core = held();
    assert_eq!(core.ok("fail 12.75 j w1 G M").text(), "j");
    let job = core.json("get 13 j");
    assert_eq!(
        (&job["state"], &job["queue"], &job["worker"]),
        (&json!("failed"), &json!("q"), &json!(""))
    );
    assert_eq!((&job["remaining"], &job["expires"]), (&json!(5), &json!(0)));
    assert_eq!(
        job["failure"],
        json!({"group": "G", "message": "M", "when": 12, "worker": "w1"})
    );
    assert_eq!(core.field("j", "expires").as_deref(), Some(""));
    assert_eq!(
        core.history("j").last().unwrap(),
        r#"[12,"failed",{"group":"G","worker":"w1"}]"#
    );
}

#[test]
fn d_61_fail_and_heartbeat_store_the_text_they_were_given() {
    let mut core = held();
    let data = r#"{"b":[],"a":12345678901234567890,"c":"x/y"}"#;
    core.ok(&format!("heartbeat 11 j w1 {data}"));
    assert_eq!(core.field("j", "data").as_deref(), Some(data));
    core.ok("heartbeat 11 j w1 []");
    assert_eq!(core.field("j", "data").as_deref(), Some("[]"));
    core.ok(&format!("fail 12 j w1 G M {data}"));
    assert_eq!(core.field("j", "data").as_deref(), Some(data));
}

#[test]
fn the_document_false_leaves_the_data_of_fail_and_heartbeat() {
    let mut core = held();
    core.ok("heartbeat 11 j w1 false");
    assert_eq!(core.field("j", "data").as_deref(), Some("{}"));
    core.ok("fail 12 j w1 G M false");
    assert_eq!(core.field("j", "data").as_deref(), Some("{}"));
}

#[test]
fn d_15_failing_with_an_over_range_number_does_not_lose_the_job() {
    let mut core = held();
    for data in ["1e999", "[NaN]", "[-Infinity]"] {
        match core.run(&format!("fail 12 j w1 G M {data}")) {
            Ok(_) => {
                assert_eq!(core.state("j"), "failed");
                core.json("get 13 j");
                core.all("put 14 w q j K {} 0; pop 15 q w1 1");
            }
            Err(_) => assert_eq!(sets(&mut core, "j"), ["ql:q:q-locks"]),
        }
    }
}

// retry

#[test]
fn a_retry_uses_one_retry_and_leaves_no_entry_in_the_history() {
    let mut core = held();
    assert_eq!(core.ok("retry 11 j q w1"), Reply::Int(4));
    assert_eq!(core.history("j").len(), 2);
    assert!(core.published().is_empty());
    assert_eq!(sets(&mut core, "j"), ["ql:q:q-work"]);
    assert_eq!(core.score("ql:q:q-work", "j"), Some(-11.0 / 1e10));
}

#[test]
fn a_retry_with_group_and_message_stores_a_failure() {
    let mut core = held();
    core.ok("retry 11.5 j q w1 0 G M");
    let job = core.json("get 12 j");
    assert_eq!(
        job["failure"],
        json!({"group": "G", "message": "M", "when": 11, "worker": "w1"})
    );
    assert_eq!(job["state"], "waiting");
    assert_eq!(core.json("failed 12"), json!({}));
}

#[test]
fn a_retry_with_only_a_group_stores_no_failure_until_it_is_exhausted() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0 retries 1; pop 1 q w1 1; retry 2 j q w1 0 G");
    assert_eq!(core.json("get 3 j")["failure"], json!({}));
    core.ok("pop 3 q w1 1");
    assert_eq!(core.ok("retry 4.5 j q w1 0 G"), Reply::Int(-1));
    // D-26: whole seconds.
    let message = "Job exhausted retries in queue \"q\"";
    let failure = json!({"group": "G", "message": message, "when": 4, "worker": ""});
    assert_eq!(core.json("get 5 j")["failure"], failure);
    assert_eq!(core.json("failed 5"), json!({"G": 1}));
}

#[test]
fn an_exhausted_retry_of_a_tracked_job_is_published_but_not_logged() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0 retries 0; track 0 track j; pop 1 q w1 1");
    core.events();
    assert_eq!(core.ok("retry 2 j q w1"), Reply::Int(-1));
    assert_eq!(core.published(), ["ql:failed j"]);
}

#[test]
fn d_18_a_retry_into_another_queue_moves_the_job_there() {
    let mut core = held();
    assert_eq!(core.ok("retry 11 j q2 w1"), Reply::Int(4));
    assert_eq!(core.field("j", "queue").as_deref(), Some("q2"));
    assert_eq!(sets(&mut core, "j"), ["ql:q:q2-work"]);
    assert_eq!(core.score("ql:queues", "q2"), Some(11.0));
    core.ok("pop 12 q2 w1 1");
    assert_eq!(core.ok("complete 13 j w1 q2 {}").text(), "complete");
    assert!(sets(&mut core, "j").is_empty());
}

#[test]
fn d_18_an_exhausted_retry_into_another_queue_fails_there() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0 retries 0; pop 1 q w1 1; retry 2 j q2 w1");
    assert_eq!(core.field("j", "queue").as_deref(), Some("q2"));
    assert_eq!(core.json("stats 2 q2 2")["failed"], 1);
    core.ok("cancel 3 j");
    assert_eq!(core.json("stats 3 q2 2")["failed"], 0);
}

/// A job whose older scripts retried and popped it in queue `p`: its hash still names `q`.
fn held_elsewhere() -> Core {
    let mut core = held();
    core.ok("put 10 w p other K {} 0");
    core.redis("ZREM ql:q:q-locks j");
    core.redis("ZADD ql:q:p-locks 70 j");
    core
}

#[test]
fn d_18_a_job_that_an_older_script_runs_in_another_queue_leaves_it() {
    for line in [
        "complete 11 j w1 q {}",
        "fail 11 j w1 G M",
        "cancel 11 j",
        "cancel 11 j nope",
        "guard.cancel 11 refuse j ''",
    ] {
        let mut core = held_elsewhere();
        core.ok(line);
        assert!(sets(&mut core, "j").is_empty(), "{line}");
    }
    for (line, set) in [
        ("complete 11 j w1 q {} next q", "ql:q:q-work"),
        ("complete 11 j w1 q {} next p", "ql:q:p-work"),
        ("retry 11 j q w1", "ql:q:q-work"),
        ("retry 11 j p w1 30", "ql:q:p-scheduled"),
        ("timeout 11 j", "ql:q:q-work"),
        ("put 11 w1 q j K {} 0", "ql:q:q-work"),
        ("requeue 11 w1 p j K {} 0", "ql:q:p-work"),
    ] {
        let mut core = held_elsewhere();
        core.ok(line);
        assert_eq!(sets(&mut core, "j"), [set], "{line}");
    }
}

#[test]
fn a_job_that_is_only_in_a_throttled_set_leaves_it() {
    for queue in ["q", "p"] {
        for line in ["cancel 11 j", "put 11 w r j K {} 0"] {
            let mut core = Core::new();
            core.all("put 0 w q j K {} 0; put 0 w p other K {} 0");
            core.redis("ZREM ql:q:q-work j");
            core.redis(&format!("ZADD ql:q:{queue}-throttled 5 j"));
            core.ok(line);
            let left = sets(&mut core, "j");
            assert!(
                !left.iter().any(|set| set.ends_with("throttled")),
                "{line}: {left:?}"
            );
        }
    }
}

#[test]
fn d_18_a_job_that_waits_in_several_sets_of_another_queue_leaves_them_all() {
    for line in ["cancel 11 j", "put 11 w r j K {} 0 ", "cancel 11 j other"] {
        let mut core = Core::new();
        core.all("put 0 w q j K {} 0; put 0 w p other K {} 0");
        core.redis("ZREM ql:q:q-work j");
        core.redis("ZADD ql:q:p-work 0 j");
        core.redis("ZADD ql:q:p-locks 70 j");
        core.redis("ZADD ql:q:p-scheduled 70 j");
        core.ok(line.trim());
        let left = sets(&mut core, "j");
        assert!(
            left.iter().all(|set| !set.starts_with("ql:q:p")),
            "{line}: {left:?}"
        );
    }
}

#[test]
fn d_13_retries_may_be_fractions() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0 retries 1.5; pop 1 q w1 1");
    assert_eq!(core.field("j", "remaining").as_deref(), Some("1"));
    assert_eq!(core.json("get 1 j")["retries"], 1.5);
    assert_eq!(core.ok("retry 2 j q w1"), Reply::Int(0));
    core.ok("pop 3 q w1 1");
    core.all("pop 100 q w2 1; pop 200 q w2 1");
    assert_eq!(core.state("j"), "failed");
    core.redis("HSET ql:j:j remaining 1.5 state running worker w1");
    assert_eq!(core.ok("retry 201 j q w1"), Reply::Int(0));
}

// heartbeat

#[test]
fn a_heartbeat_answers_whole_seconds_and_stores_all() {
    let mut core = held();
    assert_eq!(core.ok("heartbeat 20.75 j w1"), Reply::Int(80));
    for (key, member) in [("ql:q:q-locks", "j"), ("ql:w:w1:jobs", "j")] {
        assert_eq!(core.score(key, member), Some(80.75));
    }
    assert_eq!(core.json("get 21 j")["expires"], 80.75);
    assert_eq!(core.score("ql:workers", "w1"), Some(20.75));
    assert!(core.published().is_empty());
    assert_eq!(core.history("j").len(), 2);
}

#[test]
fn a_heartbeat_is_allowed_in_the_grace_period() {
    let mut core = held();
    core.ok("pop 100 q w2 1");
    assert_eq!(core.ok("heartbeat 105 j w1"), Reply::Int(165));
    assert_eq!(core.json("workers 106 w1")["jobs"], json!(["j"]));
}

#[test]
fn d_09_a_renewed_lock_gets_its_grace_again() {
    let mut core = held();
    core.all("pop 100 q w2 1; heartbeat 105 j w1");
    assert_eq!(core.field("j", "grace"), None);
    core.events();
    assert!(core.jids("pop 200 q w2 1").is_empty());
    assert_eq!(core.published().len(), 2);
    assert_eq!(core.jids("pop 210 q w2 1"), ["j"]);
}

#[test]
fn d_09_a_job_that_leaves_running_loses_its_grace() {
    for line in [
        "put 105 w q j K {} 0",
        "complete 105 j w1 q {} next q2",
        "complete 105 j w1 q {}",
        "fail 105 j w1 G M",
        "timeout 105 j",
        "retry 105 j q w1",
    ] {
        let mut core = held();
        core.ok("pop 100 q w2 1");
        assert_eq!(core.field("j", "grace").as_deref(), Some("1"));
        core.ok(line);
        assert_eq!(core.field("j", "grace"), None, "{line}");
    }
}

// timeout

#[test]
fn timeout_makes_a_job_stalled_and_first_in_line() {
    let mut core = held();
    core.ok("put 10 w q k K {} 0 priority 1000");
    core.events();
    assert_eq!(core.ok("timeout 11 j"), Reply::Nil);
    assert_eq!(core.state("j"), "stalled");
    assert_eq!(core.score("ql:q:q-work", "j"), Some(f64::INFINITY));
    // D-24: it uses no retry, is counted nowhere and is not published as stalled.
    assert_eq!(core.field("j", "remaining").as_deref(), Some("5"));
    assert_eq!(core.json("stats 11 q 11")["retries"], 0);
    assert_eq!(
        core.published(),
        [
            r#"ql:w:w1 {"jid":"j","event":"lock_lost","worker":"w1"}"#,
            r#"ql:log {"jid":"j","event":"lock_lost","worker":"w1"}"#,
        ]
    );
    assert!(core.ok("jobs 12 stalled q").texts().is_empty());
    assert_eq!(core.jids("pop 12 q w2 1"), ["j"]);
}

#[test]
fn d_22_a_timed_out_job_is_removed_from_its_worker() {
    let mut core = held();
    core.ok("timeout 11 j");
    assert_eq!(core.field("j", "worker").as_deref(), Some("w1"));
    assert_eq!(
        core.json("workers 11 w1"),
        json!({"jobs": {}, "stalled": {}})
    );
    core.all("pop 12 q w2 1; complete 13 j w2 q {}");
    assert!(!core.dump().has("ql:w:w1:jobs"));
}

#[test]
fn timeout_changes_all_jobs_or_none() {
    let mut core = held();
    core.all("put 10 w q k K {} 0; pop 10 q w1 1");
    assert_eq!(core.ok("timeout 11 j k"), Reply::Nil);
    assert_eq!(core.ok("timeout 11"), Reply::Nil);
    assert_eq!(
        (core.state("j"), core.state("k")),
        ("stalled".into(), "stalled".into())
    );
}

// cancel

#[test]
fn cancelling_a_running_job_notifies_its_holder() {
    let mut core = held();
    assert_eq!(core.ok("cancel 11 j").texts(), ["j"]);
    assert_eq!(
        core.published(),
        [
            r#"ql:log {"jid":"j","queue":"q","event":"canceled","worker":"w1"}"#,
            r#"ql:w:w1 {"jid":"j","queue":"q","event":"canceled","worker":"w1"}"#,
        ]
    );
    let left: Vec<String> = core.dump().0.into_keys().collect();
    assert_eq!(left, ["ql:queues", "ql:s:wait:0:q", "ql:workers"]);
}

#[test]
fn d_56_a_complete_job_is_not_cancelled_but_answered() {
    let mut core = held();
    core.ok("complete 11 j w1 q {}");
    core.events();
    let before = core.dump();
    assert_eq!(core.ok("cancel 12 j").texts(), ["j"]);
    assert_eq!(core.dump(), before);
    assert!(core.events().is_empty());
}

#[test]
fn d_56_a_missing_or_repeated_job_is_announced_with_false() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    core.events();
    assert_eq!(core.ok("cancel 1 j j").texts(), ["j", "j"]);
    assert_eq!(
        core.published(),
        [
            r#"ql:log {"jid":"j","queue":"q","event":"canceled","worker":""}"#,
            r#"ql:log {"jid":"j","queue":false,"event":"canceled","worker":false}"#,
        ]
    );
    assert_eq!(core.ok("cancel 1"), Reply::List(Vec::new()));
}

#[test]
fn a_cancelled_job_stays_tracked() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; track 0 track j");
    core.events();
    core.ok("cancel 1 j");
    assert_eq!(core.published()[1], "ql:canceled j");
    assert_eq!(core.json("track 2"), json!({"jobs": {}, "expired": ["j"]}));
}

// priority

#[test]
fn d_63_jobs_of_equal_priority_are_ordered_by_age() {
    let mut core = Core::new();
    core.all("put 1 w q a K {} 0 priority 5; put 2 w q b K {} 0; put 3 w q c K {} 0 priority 5");
    assert_eq!(core.ok("priority 9 b 5"), Reply::Int(5));
    assert_eq!(core.jids("pop 10 q w 3"), ["a", "b", "c"]);
}

#[test]
fn d_63_a_stalled_job_stays_first_in_line() {
    let mut core = held();
    core.all("timeout 11 j; priority 12 j 3");
    assert_eq!(core.score("ql:q:q-work", "j"), Some(f64::INFINITY));
    assert_eq!(core.field("j", "priority").as_deref(), Some("3"));
}

#[test]
fn a_priority_can_be_set_in_every_state_and_is_answered_truncated() {
    let mut core = super::errors::one_of_each();
    for state in super::errors::STATES {
        assert_eq!(core.ok(&format!("priority 9 {state} 1.7")), Reply::Int(1));
        assert_eq!(core.ok(&format!("priority 9 {state} -1.7")), Reply::Int(-1));
        assert_eq!(core.json(&format!("get 9 {state}"))["priority"], -1.7);
    }
}

// log

#[test]
fn a_note_is_stored_in_the_history_in_every_state() {
    let mut core = super::errors::one_of_each();
    for state in super::errors::STATES {
        assert_eq!(
            core.ok(&format!("log 9.9 {state} note {{\"k\":1}}")),
            Reply::Nil
        );
        let job = core.json(&format!("get 9 {state}"));
        let last = job["history"].as_array().unwrap().last().unwrap();
        assert_eq!(*last, json!({"when": 9, "what": "note", "k": 1}));
    }
}

#[test]
fn members_named_when_and_what_belong_to_the_entry() {
    let mut core = held();
    core.ok(r#"log 11 j note {"when":1,"what":"x","y":2}"#);
    assert_eq!(
        core.json("get 12 j")["history"][2],
        json!({"when": 11, "what": "note", "y": 2})
    );
}

#[test]
fn d_51_a_note_that_is_not_an_object_is_kept_under_data() {
    let mut core = held();
    for (data, shown) in [
        ("5", json!(5)),
        (r#""x""#, json!("x")),
        ("true", json!(true)),
        ("[1,2]", json!([1, 2])),
        ("null", json!(null)),
    ] {
        core.ok(&format!("log 11 j note {data}"));
        assert_eq!(
            core.history("j").last().unwrap(),
            &format!(r#"[11,"note",{{"data":{data}}}]"#)
        );
        let job = core.json("get 12 j");
        let last = job["history"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last, json!({"when": 11, "what": "note", "data": shown}));
    }
}

#[test]
fn d_62_a_note_is_stored_unchanged() {
    let mut core = held();
    let data = r#"{"b":[],"a":12345678901234567890,"c":"x/y"}"#;
    core.ok(&format!("log 11 j note {data}"));
    assert_eq!(
        core.history("j").last().unwrap(),
        &format!(r#"[11,"note",{data}]"#)
    );
}

#[test]
fn a_note_that_cannot_be_read_back_is_never_stored() {
    let mut core = held();
    for data in [
        "1e999",
        "[NaN]",
        r#"{"a":Infinity}"#,
        "0x10",
        r#"{"a":-inf}"#,
    ] {
        _ = core.run(&format!("log 11 j note {data}"));
        core.json("get 12 j");
        assert!(core.json("multiget 12 j").is_array());
    }
    let deep = format!("{}{}", "[".repeat(999), "]".repeat(999));
    _ = core.run(&format!("log 11 j note {deep}"));
    core.json("get 12 j");
}

#[test]
fn the_first_entry_and_the_newest_are_kept() {
    let mut core = Core::new();
    core.ok("config.set 0 max-job-history 5");
    core.ok("put 0 w q j K {} 0");
    for n in 1..=20 {
        core.ok(&format!("log {n} j note"));
    }
    let kept = [
        r#"[0,"put",{"q":"q"}]"#,
        r#"[17,"note"]"#,
        r#"[18,"note"]"#,
        r#"[19,"note"]"#,
        r#"[20,"note"]"#,
    ];
    assert_eq!(core.history("j"), kept);
}

#[test]
fn a_limit_that_is_not_positive_keeps_everything() {
    for limit in ["0", "-1"] {
        let mut core = Core::new();
        core.all(&format!(
            "config.set 0 max-job-history {limit}; put 0 w q j K {{}} 0"
        ));
        for n in 1..=120 {
            core.ok(&format!("log {n} j note"));
        }
        assert_eq!(core.history("j").len(), 121);
    }
}

#[test]
fn a_hundred_entries_are_kept_by_default() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    for n in 1..=150 {
        core.ok(&format!("log {n} j note"));
    }
    assert_eq!(core.history("j").len(), 100);
    assert_eq!(core.history("j")[0], r#"[0,"put",{"q":"q"}]"#);
}

#[test]
fn d_68_small_limits_keep_exactly_that_many_entries() {
    for limit in [1, 2] {
        let mut core = Core::new();
        core.all(&format!(
            "config.set 0 max-job-history {limit}; put 0 w q j K {{}} 0"
        ));
        for n in 1..=5 {
            core.ok(&format!("log {n} j note"));
        }
        assert_eq!(core.history("j").len(), limit);
        core.all("pop 6 q w1 1; complete 7 j w1 q {} next q2; put 8 w q j K {} 0");
        assert_eq!(core.history("j").len(), limit);
        core.all("pop 9 q w1 1; fail 10 j w1 G M");
        assert_eq!(core.history("j").len(), limit);
        core.all("unfail 11 q G; pop 12 q w1 1; timeout 13 j");
        assert!(core.history("j").len() <= 3);
        core.json("get 14 j");
    }
}

// get, multiget

#[test]
fn multiget_answers_in_the_order_given_and_skips_missing_jobs() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 0 w q b K {} 0");
    assert_eq!(core.jids("multiget 1 b nope a b"), ["b", "a", "b"]);
    assert!(core.jids("multiget 1").is_empty());
    assert!(core.jids("multiget 1 nope").is_empty());
}

#[test]
fn reading_a_missing_job_answers_nil() {
    let mut core = Core::new();
    core.ok("recur 0 q t K {} interval 60 1000");
    assert_eq!(core.ok("get 1 nope"), Reply::Nil);
    assert_eq!(core.ok("get 1 t"), Reply::Nil);
    assert!(core.jids("multiget 1 t").is_empty());
}

#[test]
fn d_64_numbers_in_json_have_fourteen_digits() {
    let mut core = Core::new();
    core.all("put 1352375269.123456 w q j K {} 0; pop 1352375269.123456 q w1 1");
    assert!(
        core.ok("get 1352375270 j")
            .text()
            .contains(r#""expires":1352375329.1235"#)
    );
    assert_eq!(
        core.score("ql:q:q-locks", "j"),
        Some(1352375269.123456 + 60.0)
    );
}

#[test]
fn d_10_an_invalid_field_does_not_stop_a_read() {
    let mut core = held();
    core.all("put 10 w q k K {} 0; track 10 track j; track 10 track k");
    for damage in [
        "HSET ql:j:j tags {]",
        "HSET ql:j:j failure oops",
        "HSET ql:j:j remaining many",
        "HSET ql:j:j priority nan",
        "HSET ql:j:j retries inf",
        "HSET ql:j:j retries 5",
        "HSET ql:j:j expires soon",
        "RPUSH ql:j:j-history oops",
        r#"RPUSH ql:j:j-history [1,"x",5]"#,
        r#"RPUSH ql:j:j-history 5"#,
        r#"RPUSH ql:j:j-history {}"#,
        "HDEL ql:j:j tags remaining",
    ] {
        core.redis(damage);
        assert_eq!(core.json("get 11 j")["jid"], "j", "{damage}");
        assert_eq!(core.jids("multiget 11 j k"), ["j", "k"], "{damage}");
        assert_eq!(
            core.json("track 11")["jobs"].as_array().unwrap().len(),
            2,
            "{damage}"
        );
    }
    let job = core.json("get 11 j");
    assert_eq!((&job["tags"], &job["failure"]), (&json!({}), &json!({})));
    assert_eq!(job["history"][0]["what"], "put");
    assert_eq!(core.jids("pop 100 q w2 5"), ["k"]);
    assert_eq!(core.jids("pop 110 q w2 5"), ["j"]);
}

#[test]
fn d_67_a_legacy_history_is_moved_into_the_list() {
    let mut core = held();
    core.redis("DEL ql:j:j-history");
    let old = r#"[{"q":"q","put":1,"popped":2,"worker":"w0","failed":3},{"q":"x"},{"q":"q","put":5,"done":6}]"#;
    core.redis_words(&[b"HSET", b"ql:j:j", b"history", old.as_bytes()]);
    let job = core.json("get 11 j");
    let whats: Vec<_> = job["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["what"].as_str().unwrap())
        .collect();
    assert_eq!(whats, ["put", "popped", "failed", "put", "done"]);
    assert_eq!(core.field("j", "history"), None);
    assert_eq!(core.history("j")[0], r#"[1,"put",{"q":"q"}]"#);
    assert_eq!(core.history("j")[1], r#"[2,"popped",{"worker":"w0"}]"#);
    assert_eq!(core.history("j")[2], r#"[3,"failed"]"#);
}

#[test]
fn a_legacy_history_comes_before_appended_entries() {
    for line in [
        "log 11 j note",
        "fail 11 j w1 G M",
        "timeout 11 j",
        "complete 11 j w1 q {}",
        "put 11 w q j K {} 0",
    ] {
        let mut core = held();
        core.redis("DEL ql:j:j-history");
        core.redis_words(&[b"HSET", b"ql:j:j", b"history", br#"[{"q":"q","put":1}]"#]);
        core.ok(line);
        assert_eq!(core.history("j")[0], r#"[1,"put",{"q":"q"}]"#, "{line}");
        assert_eq!(core.history("j").len(), 2, "{line}");
        assert_eq!(core.field("j", "history"), None, "{line}");
    }
}

#[test]
fn a_legacy_history_is_moved_once_however_often_a_call_names_the_job() {
    for line in [
        "multiget 11 j j",
        "multiget 11 j k j j",
        "peek 200 q 9",
        "pop 200 q w2 9",
        "guard.requeue 11 {\"from\":[\"running\",\"waiting\"]} '' j '' '' j '' ''",
        "guard.put 11 {\"replace\":true} 5 q j K {} 0 5 q j K {} 0",
    ] {
        let mut core = held();
        core.ok("put 10 w q k K {} 0");
        // A pop that broke off left the running job in line as well.
        core.redis("ZADD ql:q:q-work 5 j");
        core.redis("DEL ql:j:j-history");
        core.redis_words(&[b"HSET", b"ql:j:j", b"history", br#"[{"q":"q","put":1}]"#]);
        core.ok(line);
        let history = core.history("j");
        let moved = history
            .iter()
            .filter(|entry| *entry == r#"[1,"put",{"q":"q"}]"#);
        assert_eq!(moved.count(), 1, "{line}");
        assert_eq!(core.field("j", "history"), None, "{line}");
        core.ok(line);
        assert_eq!(core.history("j")[0], r#"[1,"put",{"q":"q"}]"#, "{line}");
        assert_ne!(
            core.history("j").get(1),
            core.history("j").first(),
            "{line}"
        );
    }
}

#[test]
fn a_history_that_cannot_be_read_twice_in_one_call_stays_as_it_is() {
    let mut core = held();
    core.redis_words(&[b"HSET", b"ql:j:j", b"history", b"oops"]);
    assert_eq!(core.jids("multiget 11 j j"), ["j", "j"]);
    assert_eq!(core.field("j", "history").as_deref(), Some("oops"));
    assert_eq!(core.history("j").len(), 2);
}

#[test]
fn log_writes_to_a_job_whose_hash_has_no_jid() {
    let mut core = held();
    core.redis("HDEL ql:j:j jid");
    assert_eq!(core.ok("log 11 j note {}"), Reply::Nil);
    assert_eq!(core.history("j").last().unwrap(), r#"[11,"note",{}]"#);
    core.refused("log 11 nope note");
}

// calls with many arguments

#[test]
fn d_77_a_call_may_have_more_arguments_than_unpack_allows() {
    let mut core = Core::new();
    let names: Vec<String> = (0..9000).map(|n| format!("n{n}")).collect();
    let call = |core: &mut Core, front: &[&str]| {
        let mut argv: Vec<&[u8]> = front.iter().map(|word| word.as_bytes()).collect();
        argv.extend(names.iter().map(|name| name.as_bytes()));
        core.call(&argv)
            .unwrap_or_else(|error| panic!("{front:?}: {error}"))
    };
    core.all(
        r#"put 0 w q j K {} 0; put 0 w q k K {} 0 depends ["j"]; recur 0 q r K {} interval 9 9"#,
    );
    assert_eq!(call(&mut core, &["multiget", "1"]).text(), "{}");
    assert_eq!(call(&mut core, &["cancel", "1"]).list().len(), 9000);
    core.events();
    assert_eq!(call(&mut core, &["pause", "1"]), Reply::Nil);
    assert_eq!(core.dump().set("ql:paused_queues").len(), 9000);
    call(&mut core, &["unpause", "1"]);
    call(&mut core, &["queue.forget", "1"]);
    call(&mut core, &["worker.deregister", "1"]);
    assert_eq!(call(&mut core, &["depends", "1", "k", "on"]), Reply::Int(1));
    assert_eq!(
        call(&mut core, &["depends", "1", "k", "off"]),
        Reply::Int(1)
    );
    assert_eq!(call(&mut core, &["tag", "1", "remove", "j"]).text(), "{}");
    call(&mut core, &["recur.untag", "1", "r"]);
    assert!(!core.dump().has("ql:tags"));
    let error = {
        let mut argv: Vec<&[u8]> = vec![b"timeout", b"1"];
        argv.extend(names.iter().map(|name| name.as_bytes()));
        core.call(&argv).unwrap_err()
    };
    assert_eq!(
        short(&error),
        "user_script:N: Timeout(): Job n0 does not exist"
    );
}
