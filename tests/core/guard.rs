//! `guard.*`: writes that happen only if the job is as the caller saw it; each job is changed
//! completely or not at all.

use serde_json::json;

use crate::support::core::{Core, Reply, short};

/// One row as words; nil is `-`.
fn words(row: &Reply) -> Vec<String> {
    let word = |item: &Reply| match item {
        Reply::Nil => "-".to_owned(),
        item => item.text().to_owned(),
    };
    row.list().iter().map(word).collect()
}

/// The rows of a reply, each as words separated by blanks.
#[track_caller]
fn rows(core: &mut Core, line: &str) -> Vec<String> {
    let reply = core.ok(line);
    reply
        .list()
        .iter()
        .map(|row| words(row).join(" "))
        .collect()
}

fn mark(core: &mut Core, jid: &str) -> String {
    core.ok(&format!("look.jobs 99 mark {jid}")).list()[0]
        .field("mark")
        .expect("a mark")
        .text()
        .to_owned()
}

fn failed(core: &mut Core, jid: &str, options: &str) {
    core.all(&format!(
        "put 0 w q {jid} K {{}} 0{options}; pop 1 q w1 1; fail 2 {jid} w1 G M"
    ));
    core.events();
}

// put

#[test]
fn guard_put_stores_a_new_job_as_put_does() {
    let mut core = Core::new();
    let line =
        r#"guard.put 1.5 {} 13 q j K {"a":[]} 0 tags ["t"] priority 2 retries 3 depends ["gone"]"#;
    assert_eq!(rows(&mut core, line), ["missing_dependency  gone"]);
    assert!(core.dump().0.is_empty());
    let line = r#"guard.put 1.5 {"missing":"allow"} 13 q j K {"a":[]} 0 tags ["t"] priority 2 retries 3 depends ["gone"]"#;
    assert_eq!(rows(&mut core, line), ["done  waiting gone"]);
    assert_eq!(
        core.published(),
        [r#"ql:log {"jid":"j","event":"put","queue":"q"}"#]
    );
    let guarded = core.dump();
    core.flush();
    core.ok(r#"put 1.5 w q j K {"a":[]} 0 tags ["t"] priority 2 retries 3 depends ["gone"]"#);
    assert_eq!(guarded, core.dump());
}

#[test]
fn guard_put_leaves_an_existing_job_alone() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; log 3 j note; put 5 w q j K {} 0; pop 6 q w1 1");
    let before = core.dump();
    assert_eq!(
        rows(&mut core, "guard.put 9 {} 5 p j K2 [] 0"),
        ["exists running:6:4:q 0 5"]
    );
    assert_eq!(core.dump(), before);
}

#[test]
fn guard_put_sets_maxima_only_with_a_job() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0 throttles [\"t\"] key k; pop 1 q w1 1; throttle.set 2 old 1 3600");
    let line = |job: &str| {
        format!(r#"guard.put 3 {{"maxima":{{"t":1,"old":2}},"by":"ann","lanes":true}} {job}"#)
    };
    let before = core.dump();
    for job in [
        "5 q a K {} 0",
        "9 q b K {} 0 key k dup skip",
        r#"7 q b K {} 0 depends ["gone"]"#,
    ] {
        rows(&mut core, &line(job));
        assert_eq!(core.dump(), before, "{job}");
    }
    // The put counts with the maximum that it sets: the slot is taken.
    let job = r#"7 q b K {} 0 throttles ["t"]"#;
    assert_eq!(rows(&mut core, &line(job)), ["done  throttled b "]);
    let fields = |core: &mut Core, id: &str| {
        let reply = core.redis(&format!("HMGET ql:th:{id} maximum by changed"));
        reply.texts().join(" ")
    };
    assert_eq!(fields(&mut core, "t"), "1 ann 3");
    assert_eq!(fields(&mut core, "old"), "2 ann 3");
    assert!(core.redis("TTL ql:th:old").int() > 3000);
    // A larger maximum lets the held job run.
    assert_eq!(
        rows(&mut core, r#"guard.put 4 {"maxima":{"t":2}} 5 q c K {} 0"#),
        ["done  waiting"]
    );
    assert_eq!(mark(&mut core, "b").split(':').next(), Some("waiting"));
}

#[test]
fn a_job_with_an_unreadable_history_still_exists() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    core.redis("DEL ql:j:j-history");
    assert_eq!(
        rows(&mut core, "guard.put 9 {} 5 q j K {} 0"),
        ["exists waiting:-:0:q - -"]
    );
    core.ok("log 3 j note");
    assert_eq!(
        rows(&mut core, "guard.put 9 {} 5 q j K {} 0"),
        ["exists waiting:3:1:q 3 -"]
    );
}

#[test]
fn guard_put_replaces_an_existing_job_if_requested() {
    let mut core = Core::new();
    failed(&mut core, "j", "");
    assert_eq!(
        rows(&mut core, r#"guard.put 9 {"replace":true} 5 p j K2 [] 0"#),
        ["done  waiting"]
    );
    let job = core.json("get 9 j");
    assert_eq!(
        (job["queue"].as_str(), job["klass"].as_str()),
        (Some("p"), Some("K2"))
    );
    assert_eq!(core.json("failed 9"), json!({}));
    assert_eq!(core.json("stats 9 q 2")["failed"], 0);
}

#[test]
fn the_worker_of_the_policy_gets_no_event_for_its_own_put() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 1 q w1 1");
    core.events();
    core.ok(r#"guard.put 2 {"replace":true,"me":"w1"} 5 q j K {} 0"#);
    assert_eq!(core.published().len(), 1);
    core.ok("pop 3 q w1 1");
    core.ok(r#"guard.put 4 {"replace":true} 5 q j K {} 0"#);
    assert_eq!(core.published().len(), 3);
}

#[test]
fn jobs_are_put_in_order_and_a_later_one_may_depend_on_an_earlier() {
    let mut core = Core::new();
    let line = r#"guard.put 1 {} 5 q a K {} 0 7 q b K {} 0 depends ["a"] 7 q c K {} 0 depends ["d"] 5 q d K {} 0"#;
    assert_eq!(
        rows(&mut core, line),
        [
            "done  waiting",
            "done  depends",
            "missing_dependency  d",
            "done  waiting"
        ]
    );
    assert_eq!(core.json("get 2 b")["dependencies"], json!(["a"]));
    assert_eq!(core.ok("get 2 c"), Reply::Nil);
}

#[test]
fn complete_dependencies_are_reported() {
    let mut core = super::errors::one_of_each();
    let line = r#"guard.put 9 {} 7 q n K {} 0 depends ["complete","failed"]"#;
    assert_eq!(rows(&mut core, line), ["done  depends complete"]);
}

#[test]
fn a_cycle_is_refused_with_its_jids() {
    let mut core = Core::new();
    assert_eq!(
        rows(&mut core, r#"guard.put 1 {} 7 q a K {} 0 depends ["a"]"#),
        ["cycle  a"]
    );
    core.ok("put 0 w q a K {} 0");
    core.ok(r#"put 0 w q b K {} 0 depends ["a"]"#);
    core.ok(r#"put 0 w q c K {} 0 depends ["b"]"#);
    let before = core.dump();
    let row = rows(
        &mut core,
        r#"guard.put 1 {"replace":true} 7 q a K {} 0 depends ["c"]"#,
    )
    .remove(0);
    let mut answers: Vec<&str> = row.split(' ').collect();
    assert_eq!(answers[..2], ["cycle", "waiting:0:1:q"]);
    answers[2..].sort();
    assert_eq!(answers[2..], ["a", "b", "c"]);
    assert_eq!(core.dump(), before);
}

#[test]
fn a_job_may_be_put_with_a_due_time() {
    let mut core = Core::new();
    assert_eq!(
        rows(&mut core, "guard.put 10 {} 7 q j K {} 0 at 50.5"),
        ["done  scheduled"]
    );
    assert_eq!(core.score("ql:q:q-scheduled", "j"), Some(50.5));
    assert_eq!(
        rows(&mut core, "guard.put 10 {} 7 q k K {} 0 at 10"),
        ["done  waiting"]
    );
    assert_eq!(
        rows(&mut core, "guard.put 10 {} 7 q l K {} 0 at 3"),
        ["done  waiting"]
    );
}

#[test]
fn a_note_is_the_last_entry_of_the_history() {
    let mut core = Core::new();
    core.ok(r#"guard.put 10.9 {} 7 q j K {} 0 note {"by":"ann","n":1.5,"ok":true,"x":null}"#);
    assert_eq!(
        core.history("j"),
        [
            r#"[10,"put",{"q":"q"}]"#,
            r#"[10,"cli",{"by":"ann","n":1.5,"ok":true,"x":null}]"#
        ]
    );
    let job = core.json("get 11 j");
    assert_eq!(job["history"][1]["by"], "ann");
    core.ok(r#"guard.put 11 {} 7 q k K {} 0 note ''"#);
    assert_eq!(core.history("k").len(), 1);
}

#[test]
fn a_job_is_restored_with_its_history() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0 retries 7; pop 1 q w1 1; log 2 j note {\"a\":[]}");
    let entries = core.history("j");
    core.ok("cancel 3 j");
    let history = serde_json::to_string(&entries).unwrap();
    core.call(&[
        b"guard.put",
        b"9",
        b"{}",
        b"15",
        b"q",
        b"j",
        b"K",
        b"{}",
        b"0",
        b"history",
        history.as_bytes(),
        b"remaining",
        b"2",
        b"retries",
        b"7",
        b"spawned_from_jid",
        b"r",
        b"note",
        b"{\"by\":\"ann\"}",
    ])
    .unwrap();
    let mut wanted = entries;
    wanted.extend([
        r#"[9,"put",{"q":"q"}]"#.to_owned(),
        r#"[9,"cli",{"by":"ann"}]"#.to_owned(),
    ]);
    assert_eq!(core.history("j"), wanted);
    let job = core.json("get 10 j");
    assert_eq!((&job["remaining"], &job["retries"]), (&json!(2), &json!(7)));
    assert_eq!(job["spawned_from_jid"], "r");
}

#[test]
fn a_restored_history_replaces_the_old_one_and_is_trimmed() {
    let mut core = Core::new();
    core.all("config.set 0 max-job-history 3; put 0 w q j K {} 0; log 1 j old");
    let history = r#"["[1,\"put\",{\"q\":\"x\"}]","[2,\"a\"]","[3,\"b\"]","[4,\"c\"]"]"#;
    core.call(&[
        b"guard.put",
        b"9",
        br#"{"replace":true}"#,
        b"7",
        b"q",
        b"j",
        b"K",
        b"{}",
        b"0",
        b"history",
        history.as_bytes(),
    ])
    .unwrap();
    assert_eq!(
        core.history("j"),
        [
            r#"[1,"put",{"q":"x"}]"#,
            r#"[4,"c"]"#,
            r#"[9,"put",{"q":"q"}]"#
        ]
    );
}

#[test]
fn a_job_is_restored_as_failed() {
    let mut core = Core::new();
    let line = r#"guard.put 90000 {} 9 q j K {} 0 failed {"group":"G","message":"M","when":5,"worker":"w1"} remaining -1"#;
    assert_eq!(rows(&mut core, line), ["done  failed"]);
    assert_eq!(core.json("failed 9 G")["jobs"], json!(["j"]));
    assert_eq!(core.field("j", "expires").as_deref(), Some(""));
    assert_eq!(
        core.json("get 9 j")["failure"],
        json!({"group": "G", "message": "M", "when": 5, "worker": "w1"})
    );
    let stats = core.json("stats 9 q 5");
    assert_eq!(
        (&stats["failed"], &stats["failures"]),
        (&json!(1), &json!(0))
    );
    core.must_be_clean(90000.0, Default::default());
    assert_eq!(core.ok("unfail 90001 q G"), Reply::Int(1));
    assert_eq!(core.json("stats 9 q 5")["failed"], 0);
}

#[test]
fn guard_put_refuses_bad_usage_before_any_job_is_put() {
    let mut core = Core::new();
    core.ok("put 0 w q old K {} 0");
    let good = "5 q good K {} 0";
    for line in [
        "guard.put 1",
        "guard.put 1 {]",
        "guard.put 1 []",
        "guard.put 1 ''",
        r#"guard.put 1 {"nope":1}"#,
        r#"guard.put 1 {"missing":"maybe"}"#,
        r#"guard.put 1 {"replace":"yes"}"#,
        r#"guard.put 1 {"me":5}"#,
        r#"guard.put 1 {"dry":1}"#,
        r#"guard.put 1 {"maxima":{"a-locks":1}}"#,
        r#"guard.put 1 {"maxima":{"a":1.5}}"#,
        r#"guard.put 1 {"maxima":{"a":"1"}}"#,
        r#"guard.put 1 {"maxima":[1]}"#,
        &format!("guard.put 1 {{}} {good} 4 q j K {{}}"),
        &format!("guard.put 1 {{}} {good} 6 q j K {{}} 0 tags"),
        &format!("guard.put 1 {{}} {good} 9 q j K {{}} 0"),
        &format!("guard.put 1 {{}} {good} x q j K {{}} 0"),
        &format!("guard.put 1 {{}} {good} 1.5 q"),
        &format!("guard.put 1 {{}} {good} 0"),
        &format!("guard.put 1 {{}} {good} -5 q j K {{}} 0"),
        &format!("guard.put 1 {{}} {good} 5 q j K {{] 0"),
        &format!("guard.put 1 {{}} {good} 5 q j K '' 0"),
        &format!("guard.put 1 {{}} {good} 5 q j K {{}} x"),
        &format!("guard.put 1 {{}} {good} 5 q j K {{}} nan"),
        &format!("guard.put 1 {{}} {good} 5 q j K {{}} inf"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 nope 1"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 priority inf"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 retries nan"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 remaining 1.5"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 at soon"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 5 at 50"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 tags [[]]"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 depends {{]"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 note []"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 note {{\"a\":[]}}"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 note {{\"a\":NaN}}"),
        &format!(
            "guard.put 1 {{}} {good} 7 q j K {{}} 0 note {{\"a\":\"{}\"}}",
            "x".repeat(4096)
        ),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 history {{}}x"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 history [5]"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 history [\"x\"]"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 history [\"[1,2]\"]"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 history [\"[1,\\\"x\\\",5]\"]"),
        &format!(
            "guard.put 1 {{}} {good} 7 q j K {{}} 0 history [\"[1,\\\"x\\\",{{\\\"a\\\":NaN}}]\"]"
        ),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 failed {{}}"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 0 failed {{\"group\":\"G\"}}"),
        &format!("guard.put 1 {{}} {good} 7 q j K {{}} 5 failed {{\"group\":\"G\",\"when\":1}}"),
        &format!(
            "guard.put 1 {{}} {good} 9 q j K {{}} 0 at 9 failed {{\"group\":\"G\",\"when\":1}}"
        ),
        &format!(
            "guard.put 1 {{}} {good} 9 q j K {{}} 0 depends [\"old\"] failed {{\"group\":\"G\",\"when\":1}}"
        ),
    ] {
        let error = short(&core.refused(line));
        assert!(
            error.starts_with("user_script:N: Guard(): "),
            "`{line}` says `{error}`"
        );
    }
    let many: String = (0..501).map(|n| format!(" 5 q j{n} K {{}} 0")).collect();
    let error = short(&core.refused(&format!("guard.put 1 {{}}{many}")));
    assert!(error.starts_with("user_script:N: Guard(): "), "{error}");
    assert_eq!(core.ok("guard.put 1 {}"), Reply::List(Vec::new()));
    assert_eq!(
        core.ok("guard.put 1 {\"replace\":null,\"missing\":null,\"me\":null}"),
        Reply::List(Vec::new())
    );
}

#[test]
fn a_nul_byte_in_a_json_argument_is_bad_usage() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    for argv in [
        &[
            &b"guard.put"[..],
            b"1",
            b"{}\0",
            b"5",
            b"q",
            b"n",
            b"K",
            b"{}",
            b"0",
        ][..],
        &[
            b"guard.put",
            b"1",
            b"{}",
            b"5",
            b"q",
            b"n",
            b"K",
            b"{}\0x",
            b"0",
        ],
        &[
            b"guard.put",
            b"1",
            b"{}",
            b"7",
            b"q",
            b"n",
            b"K",
            b"{}",
            b"0",
            b"tags",
            b"[]\0",
        ],
        &[
            b"guard.put",
            b"1",
            b"{}",
            b"7",
            b"q",
            b"n",
            b"K",
            b"{}",
            b"0",
            b"note",
            b"{}\0",
        ],
        &[b"guard.requeue", b"1", b"{}\0", b"", b"j", b"", b""],
        &[b"guard.requeue", b"1", b"{}", b"{}\0", b"j", b"", b""],
        &[b"guard.pause", b"1", b"", b"{}\0", b"q"],
    ] {
        let error = short(&core.refused_words(argv));
        assert!(error.starts_with("user_script:N: Guard(): "), "{error}");
    }
}

#[test]
fn a_jid_with_a_reserved_suffix_is_invalid() {
    let mut core = Core::new();
    let line = "guard.put 1 {} 5 q j-history K {} 0 5 q k K {} 0 5 q j-dependents K {} 0";
    let answers = rows(&mut core, line);
    assert!(
        answers[0].starts_with("invalid  ") && answers[2].starts_with("invalid  "),
        "{answers:?}"
    );
    assert_eq!(answers[1], "done  waiting");
}

#[test]
fn an_unreadable_key_is_refused_or_reported_with_the_message_of_the_server() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 0 w q b K {} 0; put 0 w q c K {} 0 depends [\"a\"]");
    core.redis("ACL SETUSER ops on >p &* +@all ~ql:j:a* ~ql:q* ~ql:config ~ql:tracked ~ql:failed-jobs-list");
    core.redis("AUTH ops p");
    let move_all = r#"{"from":["waiting"],"to":"q2"}"#;
    let before = [
        "guard.put 1 {} 5 q b K {} 0".to_owned(),
        "guard.cancel 1 refuse b ''".to_owned(),
        // The dependents of `a` are unreadable, so they are not reported as none.
        "guard.cancel 1 refuse a ''".to_owned(),
        "guard.call 1 b '' '' priority b 5".to_owned(),
        "guard.depends 1 c '' '' a".to_owned(),
        "look.jobs 1 brief b".to_owned(),
        "look.recurs 1 b".to_owned(),
        format!("guard.requeue 1 {move_all} '' b '' ''"),
    ];
    for line in before {
        let error = core.run(&line).expect_err(&line);
        assert!(
            ["NOPERM", "can't access", "No permissions"]
                .iter()
                .any(|words| error.contains(words)),
            "{line}: {error}"
        );
    }
    // Nothing was left half-done: earlier jobs are changed, and the others reported.
    for line in [
        "guard.put 1 {} 5 q an K {} 0 5 q b K {} 0 5 q am K {} 0".to_owned(),
        format!("guard.requeue 1 {move_all} '' an '' '' b '' '' am '' ''"),
    ] {
        let rows = rows(&mut core, &line);
        assert!(
            rows[0].starts_with("done") && rows[2].starts_with("done"),
            "{rows:?}"
        );
        assert!(
            rows[1].starts_with("invalid") && !rows[1].contains("is no"),
            "{rows:?}"
        );
    }
    core.redis("AUTH default ''");
    assert_eq!(core.state("b"), "waiting");
}

#[test]
fn a_key_of_a_wrong_type_makes_only_its_own_job_invalid() {
    for (key, kind) in [
        ("ql:j:j", "SET"),
        ("ql:j:j-history", "SET"),
        ("ql:j:j-dependencies", "SET"),
        ("ql:q:q-work", "SET"),
        ("ql:t:t", "SET"),
    ] {
        let mut core = Core::new();
        core.redis(&format!("{kind} {key} x"));
        let before = core.dump();
        let answers = rows(
            &mut core,
            r#"guard.put 1 {} 7 q j K {} 0 tags ["t"] 5 p k K {} 0"#,
        );
        assert!(answers[0].starts_with("invalid "), "{key}: {answers:?}");
        assert_eq!(answers[1], "done  waiting", "{key}");
        core.all("cancel 2 k; queue.forget 2 p");
        assert_eq!(core.dump(), before, "{key}");
    }
}

// requeue

#[test]
fn guard_requeue_returns_a_failed_job_to_its_queue_with_all_retries() {
    let mut core = Core::new();
    failed(&mut core, "j", r#" tags ["t"] priority 4 retries 2"#);
    core.redis("HSET ql:j:j remaining -1");
    let seen = mark(&mut core, "j");
    assert_eq!(seen, "failed:2:3:q");
    let line =
        format!(r#"guard.requeue 9 {{}} {{"verb":"retry","by":"ann@h","reason":"x"}} j {seen} ''"#);
    assert_eq!(rows(&mut core, &line), ["done  waiting q"]);
    assert_eq!(
        core.published(),
        [r#"ql:log {"jid":"j","event":"put","queue":"q"}"#]
    );
    let job = core.json("get 10 j");
    assert_eq!(
        (&job["remaining"], &job["priority"]),
        (&json!(2), &json!(4))
    );
    assert_eq!(job["tags"], json!(["t"]));
    assert_eq!(
        job["history"][4],
        json!({"when": 9, "what": "cli", "verb": "retry", "by": "ann@h", "reason": "x"})
    );
    assert_eq!(core.history("j")[3], r#"[9,"put",{"q":"q"}]"#);
    assert_eq!(core.json("failed 9"), json!({}));
    assert_eq!(core.json("stats 9 q 2")["failed"], 0);
    assert_eq!(
        core.score("ql:t:t", "j"),
        Some(0.0),
        "the tag index is not touched"
    );
    core.must_be_clean(1000.0, Default::default());
}

#[test]
fn an_outdated_mark_is_answered_with_the_current_one() {
    let mut core = Core::new();
    failed(&mut core, "j", "");
    let seen = mark(&mut core, "j");
    core.ok("log 3 j note");
    let before = core.dump();
    assert_eq!(
        rows(&mut core, &format!("guard.requeue 9 {{}} '' j {seen} ''")),
        ["state_changed failed:3:4:q"]
    );
    assert_eq!(core.dump(), before);
    assert_eq!(
        rows(
            &mut core,
            "guard.requeue 9 {} '' j failed:3:4:q '' nope '' ''"
        ),
        ["done  waiting q", "gone "]
    );
}

#[test]
fn only_jobs_in_the_given_states_are_moved() {
    for state in super::errors::STATES {
        if state == "failed" {
            continue;
        }
        let mut core = super::errors::one_of_each();
        let seen = mark(&mut core, state);
        assert_eq!(
            rows(&mut core, &format!("guard.requeue 9 {{}} '' {state} '' ''")),
            [format!("state_changed {seen}")]
        );
        let line = format!(r#"guard.requeue 9 {{"from":["{state}"]}} '' {state} '' ''"#);
        let placed = if state == "depends" {
            "depends"
        } else {
            "waiting"
        };
        assert_eq!(rows(&mut core, &line), [format!("done  {placed} q")]);
        core.must_be_clean(1000.0, Default::default());
    }
}

#[test]
fn the_holder_of_a_moved_job_gets_an_event() {
    let mut core = super::errors::one_of_each();
    core.ok(r#"guard.requeue 9 {"from":["running"],"to":"p"} '' running '' ''"#);
    assert_eq!(
        core.published(),
        [
            r#"ql:log {"jid":"running","event":"put","queue":"p"}"#,
            r#"ql:w:w1 {"jid":"running","event":"lock_lost","worker":"w1"}"#,
            r#"ql:log {"jid":"running","event":"lock_lost","worker":"w1"}"#,
        ]
    );
    assert_eq!(core.json("get 9 running")["queue"], "p");
}

#[test]
fn a_due_time_in_the_future_schedules_and_any_other_does_not() {
    let mut core = super::errors::one_of_each();
    let line = r#"guard.requeue 9 {"from":["failed","scheduled","waiting","depends"]} '' failed '' 50 scheduled '' 5 waiting '' ''"#;
    assert_eq!(
        rows(&mut core, line),
        ["done  scheduled q", "done  waiting q", "done  waiting q"]
    );
    assert_eq!(core.score("ql:q:q-scheduled", "failed"), Some(50.0));
    assert_eq!(
        rows(
            &mut core,
            r#"guard.requeue 9 {"from":["depends"]} '' depends '' 70"#
        ),
        ["done  depends q"]
    );
    assert_eq!(core.field("depends", "scheduled").as_deref(), Some("70"));
    assert_eq!(
        rows(
            &mut core,
            r#"guard.requeue 9 {"from":["depends"]} '' depends '' ''"#
        ),
        ["done  depends q"]
    );
    assert_eq!(core.field("depends", "scheduled"), None);
}

#[test]
fn guard_requeue_keeps_remaining_retries_if_requested() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 50 retries 5");
    core.redis("HSET ql:j:j remaining 2");
    core.ok(r#"guard.requeue 9 {"from":["scheduled"],"keep":true,"priority":7.5} '' j '' ''"#);
    assert_eq!(core.field("j", "remaining").as_deref(), Some("2"));
    assert_eq!(core.score("ql:q:q-work", "j"), Some(7.5 - 9.0 / 1e10));
}

#[test]
fn a_complete_job_returns_to_the_queue_of_its_newest_put() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 1 q w1 1; complete 2 j w1 q {} next p; pop 3 p w1 1; complete 4 j w1 p {}");
    assert_eq!(
        rows(
            &mut core,
            r#"guard.requeue 9 {"from":["complete"]} '' j '' ''"#
        ),
        ["done  waiting p"]
    );
    assert!(!core.dump().has("ql:completed"));
    core.all("pop 10 p w1 1; complete 11 j w1 p {}");
    core.redis("DEL ql:j:j-history");
    let answers = rows(
        &mut core,
        r#"guard.requeue 12 {"from":["complete"]} '' j '' ''"#,
    );
    assert!(
        answers[0].starts_with("invalid complete:-:0: "),
        "{answers:?}"
    );
    assert_eq!(
        rows(
            &mut core,
            r#"guard.requeue 12 {"from":["complete"],"to":"z"} '' j '' ''"#
        ),
        ["done  waiting z"]
    );
}

#[test]
fn the_second_mention_of_a_jid_sees_the_result_of_the_first() {
    let mut core = Core::new();
    failed(&mut core, "j", "");
    let seen = mark(&mut core, "j");
    assert_eq!(
        rows(
            &mut core,
            &format!("guard.requeue 9 {{}} '' j {seen} '' j {seen} ''")
        ),
        ["done  waiting q", "state_changed waiting:9:4:q"]
    );
}

#[test]
fn many_failed_jobs_are_requeued_in_slices() {
    let mut core = Core::new();
    core.many((0..1200).map(|n| format!("put 0 w q j{n} K {{}} 0")));
    core.ok("pop 1 q w1 1200");
    core.many((0..1200).map(|n| format!("fail 2 j{n} w1 G M")));
    for slice in 0..3 {
        let items: String = (0..400)
            .map(|n| format!(" j{} failed:2:3:q ''", slice * 400 + n))
            .collect();
        let answers = rows(&mut core, &format!("guard.requeue 9 {{}} ''{items}"));
        assert!(answers.iter().all(|row| row == "done  waiting q"));
    }
    assert_eq!(core.json("failed 9"), json!({}));
    assert_eq!(core.json("stats 9 q 2")["failed"], 0);
    assert_eq!(core.ok("length 9 q"), Reply::Int(1200));
}

#[test]
fn a_failure_that_names_no_group_is_found_in_its_list() {
    for damage in [
        "HDEL ql:j:j failure",
        "HSET ql:j:j failure {}",
        "HSET ql:j:j failure oops",
    ] {
        let mut core = Core::new();
        failed(&mut core, "j", "");
        failed(&mut core, "k", "");
        core.redis(damage);
        assert_eq!(
            rows(&mut core, "guard.requeue 9 {} '' j '' '' k '' ''"),
            ["done  waiting q", "done  waiting q"]
        );
        assert!(
            !core.dump().has("ql:f:G") && !core.dump().has("ql:failures"),
            "{damage}"
        );
    }
}

#[test]
fn a_counter_of_failed_jobs_never_falls_below_zero() {
    let mut core = Core::new();
    failed(&mut core, "j", "");
    core.redis("HSET ql:s:stats:0:q failed 0");
    core.ok("guard.requeue 9 {} '' j '' ''");
    assert_eq!(core.json("stats 9 q 2")["failed"], 0);
    failed(&mut core, "k", "");
    core.redis("HDEL ql:s:stats:0:q failed");
    core.ok("guard.requeue 9 {} '' k '' ''");
    assert_eq!(core.json("stats 9 q 2")["failed"], 0);
}

#[test]
fn guard_requeue_refuses_bad_usage() {
    let mut core = Core::new();
    failed(&mut core, "j", "");
    for line in [
        "guard.requeue 9",
        "guard.requeue 9 {}",
        "guard.requeue 9 {} '' j",
        "guard.requeue 9 {} '' j ''",
        "guard.requeue 9 {} '' j '' '' k",
        "guard.requeue 9 [] '' j '' ''",
        "guard.requeue 9 {] '' j '' ''",
        "guard.requeue 9 {\"nope\":1} '' j '' ''",
        "guard.requeue 9 {\"from\":\"failed\"} '' j '' ''",
        "guard.requeue 9 {\"from\":[\"nope\"]} '' j '' ''",
        "guard.requeue 9 {\"from\":[5]} '' j '' ''",
        "guard.requeue 9 {\"priority\":\"1\"} '' j '' ''",
        "guard.requeue 9 {\"priority\":1e999} '' j '' ''",
        "guard.requeue 9 {\"keep\":1} '' j '' ''",
        "guard.requeue 9 {\"to\":5} '' j '' ''",
        "guard.requeue 9 {} x j '' ''",
        "guard.requeue 9 {} [] j '' ''",
        "guard.requeue 9 {} {\"a\":{}} j '' ''",
        "guard.requeue 9 {} '' j '' soon",
        "guard.requeue 9 {} '' j '' nan",
        "guard.requeue 9 {} '' j '' inf",
    ] {
        let error = short(&core.refused(line));
        assert!(
            error.starts_with("user_script:N: Guard(): "),
            "`{line}` says `{error}`"
        );
    }
    let many: String = (0..501).map(|n| format!(" j{n} '' ''")).collect();
    core.refused(&format!("guard.requeue 9 {{}} ''{many}"));
    assert_eq!(core.ok("guard.requeue 9 {} ''"), Reply::List(Vec::new()));
}

// cancel

/// `b` depends on `a`, and `c` on `b`.
fn chain() -> Core {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    core.ok(r#"put 0 w q b K {} 0 depends ["a"]"#);
    core.ok(r#"put 0 w q c K {} 0 depends ["b"]"#);
    core.events();
    core
}

#[test]
fn guard_cancel_answers_the_outcome_of_each_job() {
    let mut core = super::errors::one_of_each();
    assert_eq!(
        rows(
            &mut core,
            "guard.cancel 9 refuse complete '' nope '' failed '' running waiting:1:1:q waiting ''"
        ),
        [
            "complete complete:2:3:",
            "gone ",
            "done ",
            "state_changed running:3:2:q",
            "has_dependents waiting:0:1:q depends",
        ]
    );
    assert_eq!(
        core.published(),
        [r#"ql:log {"jid":"failed","queue":"q","event":"canceled","worker":""}"#]
    );
    assert_eq!(core.json("stats 9 q 2")["failed"], 0);
}

#[test]
fn guard_cancel_refuse_cancels_jobs_without_other_dependents() {
    let mut core = chain();
    assert_eq!(
        rows(&mut core, "guard.cancel 9 refuse a '' b ''"),
        [
            "has_dependents waiting:0:1:q b",
            "has_dependents depends:0:1:q c"
        ]
    );
    assert_eq!(
        rows(&mut core, "guard.cancel 9 refuse a '' b '' c ''"),
        ["done ", "done ", "done "]
    );
    let left: Vec<String> = core.dump().0.into_keys().collect();
    assert_eq!(left, ["ql:queues"]);
}

#[test]
fn guard_cancel_cancels_the_whole_tree_of_dependents() {
    let mut core = chain();
    let answers = rows(&mut core, "guard.cancel 9 cancel a ''");
    let mut words: Vec<&str> = answers[0].split(' ').collect();
    words[2..].sort();
    assert_eq!(words, ["done", "", "b", "c"]);
    assert_eq!(core.events().len(), 3);
    let left: Vec<String> = core.dump().0.into_keys().collect();
    assert_eq!(left, ["ql:queues"]);
}

#[test]
fn a_jid_cascaded_or_named_twice_is_answered_each_time() {
    let mut core = chain();
    let answers = rows(&mut core, "guard.cancel 9 cancel a '' c '' a ''");
    assert!(
        answers.iter().all(|row| row.starts_with("done ")),
        "{answers:?}"
    );
    assert_eq!(core.events().len(), 3);
}

#[test]
fn an_outdated_mark_keeps_the_job_and_its_dependencies() {
    let mut core = chain();
    assert_eq!(
        rows(&mut core, "guard.cancel 9 cancel a '' c waiting:1:1:q"),
        [
            "has_dependents waiting:0:1:q b",
            "state_changed depends:0:1:q"
        ]
    );
    assert_eq!(
        (core.state("a"), core.state("b"), core.state("c")),
        ("waiting".into(), "depends".into(), "depends".into())
    );
    assert!(core.events().is_empty());
}

#[test]
fn guard_cancel_release_releases_the_dependents() {
    let mut core = chain();
    core.ok(r#"put 0 w q d K {} 80 depends ["a"]"#);
    core.ok(r#"put 0 w q e K {} 0 depends ["a","c"]"#);
    core.events();
    let answers = rows(&mut core, "guard.cancel 9 release a ''");
    let mut words: Vec<&str> = answers[0].split(' ').collect();
    words[2..].sort();
    assert_eq!(words, ["done", "", "b", "d"]);
    assert_eq!(
        (core.state("b"), core.state("d")),
        ("waiting".into(), "scheduled".into())
    );
    assert_eq!(core.score("ql:q:q-scheduled", "d"), Some(80.0));
    assert_eq!(
        (core.state("c"), core.state("e")),
        ("depends".into(), "depends".into())
    );
    assert_eq!(core.json("get 9 e")["dependencies"], json!(["c"]));
    assert_eq!(
        core.published(),
        [r#"ql:log {"jid":"a","queue":"q","event":"canceled","worker":""}"#]
    );
    core.must_be_clean(1000.0, Default::default());
}

#[test]
fn leftover_entries_are_not_dependents() {
    for policy in ["refuse", "cancel", "release"] {
        let mut core = Core::new();
        core.all("put 0 w q a K {} 0; put 0 w q other K {} 0");
        core.redis("SADD ql:j:a-dependents gone other");
        assert_eq!(
            rows(&mut core, &format!("guard.cancel 9 {policy} a ''")),
            ["done "]
        );
        assert_eq!(core.state("other"), "waiting");
        assert!(!core.dump().has("ql:j:a-dependents"));
    }
}

#[test]
fn the_holder_of_a_cancelled_job_gets_an_event() {
    let mut core = super::errors::one_of_each();
    let seen = mark(&mut core, "running");
    assert_eq!(
        rows(&mut core, &format!("guard.cancel 9 refuse running {seen}")),
        ["done "]
    );
    assert_eq!(
        core.published()[1],
        r#"ql:w:w1 {"jid":"running","queue":"q","event":"canceled","worker":"w1"}"#
    );
}

#[test]
fn guard_cancel_refuses_bad_usage() {
    let mut core = chain();
    for line in [
        "guard.cancel 9",
        "guard.cancel 9 nope c ''",
        "guard.cancel 9 cancel c",
        "guard.cancel 9 refuse c '' b",
    ] {
        let error = short(&core.refused(line));
        assert!(
            error.starts_with("user_script:N: Guard(): "),
            "`{line}` says `{error}`"
        );
    }
    let many: String = (0..501).map(|n| format!(" j{n} ''")).collect();
    core.refused(&format!("guard.cancel 9 refuse{many}"));
    assert_eq!(core.ok("guard.cancel 9 refuse"), Reply::List(Vec::new()));
}

#[test]
fn five_hundred_failed_jobs_are_cancelled_in_one_call() {
    let mut core = Core::new();
    core.many((0..500).map(|n| format!("put 0 w q j{n} K {{}} 0 tags [\"t\"]")));
    core.ok("pop 1 q w1 500");
    core.many((0..500).map(|n| format!("fail 2 j{n} w1 G{} M", n % 3)));
    let items: String = (0..500).map(|n| format!(" j{n} failed:2:3:q")).collect();
    let answers = rows(&mut core, &format!("guard.cancel 9 refuse{items}"));
    assert!(answers.iter().all(|row| row == "done "));
    let dump = core.dump();
    assert!(!dump.0.keys().any(|key| key.starts_with("ql:j:")
        || key.starts_with("ql:f:")
        || key.starts_with("ql:t")));
    assert_eq!(dump.hash("ql:s:stats:0:q")["failed"], "0");
}

// depends

#[test]
fn dependencies_are_added_all_or_none() {
    let mut core = super::errors::one_of_each();
    let before = core.dump();
    let answers = |core: &mut Core, line: &str| words(&core.ok(line)).join(" ");
    assert_eq!(
        answers(&mut core, "guard.depends 9 depends '' '' running gone"),
        "missing_dependency depends:0:1:q gone"
    );
    assert_eq!(
        answers(
            &mut core,
            "guard.depends 9 depends waiting:1:1:q '' running"
        ),
        "state_changed depends:0:1:q"
    );
    assert_eq!(
        answers(&mut core, "guard.depends 9 waiting '' '' running"),
        "state_changed waiting:0:1:q"
    );
    assert_eq!(
        answers(&mut core, "guard.depends 9 gone '' '' running"),
        "gone "
    );
    assert_eq!(
        answers(&mut core, "guard.depends 9 depends '' '' depends"),
        "cycle depends:0:1:q depends"
    );
    assert_eq!(core.dump(), before);
    assert_eq!(
        answers(
            &mut core,
            r#"guard.depends 9 depends depends:0:1:q {"by":"ann"} running complete failed running"#
        ),
        "done  complete"
    );
    let mut names = core.json("get 9 depends")["dependencies"]
        .as_array()
        .unwrap()
        .clone();
    names.sort_by_key(|name| name.to_string());
    assert_eq!(names, ["failed", "running", "waiting"]);
    assert_eq!(core.history("depends")[1], r#"[9,"cli",{"by":"ann"}]"#);
    assert!(core.events().is_empty());
}

#[test]
fn a_cycle_is_found_upwards() {
    let mut core = chain();
    core.ok(r#"put 0 w q z K {} 0"#);
    core.ok(r#"put 0 w q x K {} 0 depends ["z"]"#);
    core.ok(r#"put 0 w q y K {} 0 depends ["x","c"]"#);
    let before = core.dump();
    let answers = words(&core.ok("guard.depends 9 b '' '' y"));
    assert_eq!(answers[0], "cycle");
    let mut path = answers[2..].to_vec();
    path.sort();
    assert_eq!(path, ["b", "c", "y"]);
    assert_eq!(core.dump(), before);
    assert_eq!(words(&core.ok("guard.depends 9 y '' '' b"))[0], "done");
}

#[test]
fn a_search_for_cycles_is_limited() {
    let mut core = Core::new();
    core.ok("put 0 w q top K {} 0");
    core.ok("put 0 w q job K {} 0 depends [\"top\"]");
    core.ok("put 0 w q below K {} 0 depends [\"job\"]");
    core.many((0..10_002).map(|n| format!("put 0 w q m{n} K {{}} 0")));
    let list: Vec<String> = (0..10_002).map(|n| format!("\"m{n}\"")).collect();
    core.ok(&format!(
        "put 0 w q wide K {{}} 0 depends [{}]",
        list.join(",")
    ));
    let answers = words(&core.ok("guard.depends 9 job '' '' wide"));
    assert_eq!(answers[0], "invalid", "{answers:?}");
    // No search is needed for a job without dependents.
    assert_eq!(
        words(&core.ok("guard.depends 9 below '' '' wide"))[0],
        "done"
    );
}

#[test]
fn guard_depends_refuses_bad_usage() {
    let mut core = chain();
    for line in [
        "guard.depends 9",
        "guard.depends 9 b",
        "guard.depends 9 b ''",
        "guard.depends 9 b '' [] a",
    ] {
        let error = short(&core.refused(line));
        assert!(
            error.starts_with("user_script:N: Guard(): "),
            "`{line}` says `{error}`"
        );
    }
}

// pause

#[test]
fn a_pause_stores_its_reason_and_looks_plain_to_other_clients() {
    let mut core = Core::new();
    assert_eq!(
        core.ok(r#"guard.pause 10.5 '' {"reason":"deploy","by":"ann","verb":"pause"} q p"#),
        Reply::Nil
    );
    assert!(core.events().is_empty());
    assert_eq!(core.dump().set("ql:paused_queues").len(), 2);
    let pause = core.dump().hash("ql:pauses")["q"].clone();
    let pause: serde_json::Value = serde_json::from_str(&pause).unwrap();
    assert_eq!(
        (&pause["since"], &pause["until"]),
        (&json!(10.5), &json!(null))
    );
    assert_eq!(
        (&pause["reason"], &pause["by"]),
        (&json!("deploy"), &json!("ann"))
    );
    core.ok("unpause 11 q");
    assert_eq!(core.dump().hash("ql:pauses").len(), 1);
    core.ok("pause 12 p");
    assert!(!core.dump().has("ql:pauses"));
    assert_eq!(core.json("queues 13 p")["paused"], true);
}

#[test]
fn a_pause_ends_at_the_first_own_call_after_its_time() {
    for line in ["pop 20 q w1 5", "peek 20 q 5", "queues 20 q", "queues 20"] {
        let mut core = Core::new();
        core.all("put 0 w q j K {} 0; guard.pause 1 20 '' q");
        assert!(core.jids("pop 19.9 q w1 5").is_empty());
        core.ok(line);
        assert!(
            !core.dump().has("ql:paused_queues") && !core.dump().has("ql:pauses"),
            "{line}"
        );
        core.ok("pop 21 q w1 5");
        assert_eq!(core.state("j"), "running", "{line}");
    }
}

#[test]
fn a_pop_after_the_end_of_a_pause_takes_jobs() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; guard.pause 1 20 '' q");
    assert_eq!(core.jids("pop 20 q w1 5"), ["j"]);
}

#[test]
fn a_pop_that_is_refused_ends_no_pause() {
    let mut core = Core::new();
    core.ok("guard.pause 1 20 '' q");
    core.refused("pop 20 q w1 1.5");
    core.refused("peek 20 q 1.5");
    assert!(core.dump().has("ql:pauses"));
}

#[test]
fn an_entry_counts_only_while_its_queue_is_paused() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; guard.pause 1 20 '' q");
    core.redis("SREM ql:paused_queues q");
    assert_eq!(core.jids("pop 2 q w1 5"), ["j"]);
    core.redis("SADD ql:paused_queues q");
    assert!(core.jids("pop 19 q w1 5").is_empty());
    assert_eq!(core.json("queues 20 q")["paused"], false);
}

#[test]
fn guard_pause_refuses_bad_usage() {
    let mut core = Core::new();
    for line in [
        "guard.pause 9",
        "guard.pause 9 ''",
        "guard.pause 9 '' ''",
        "guard.pause 9 soon '' q",
        "guard.pause 9 nan '' q",
        "guard.pause 9 inf '' q",
        "guard.pause 9 '' [] q",
        "guard.pause 9 '' {\"a\":[]} q",
    ] {
        let error = short(&core.refused(line));
        assert!(
            error.starts_with("user_script:N: Guard(): "),
            "`{line}` says `{error}`"
        );
    }
}

// keys of a wrong type

/// Each key of the database in turn becomes a string; the call must then answer `invalid` for its
/// job or change it completely, and change the other job in any case.
#[track_caller]
fn survives_foreign_keys(prepare: &str, line: &str) {
    let mut core = Core::new();
    core.all(prepare);
    let mut names: Vec<String> = core.dump().0.into_keys().collect();
    core.ok(line);
    names.extend(core.dump().0.into_keys());
    for name in names {
        core.flush();
        core.all(prepare);
        core.redis_words(&[b"DEL", name.as_bytes()]);
        core.redis_words(&[b"SET", name.as_bytes(), b"x"]);
        core.events();
        let before = core.dump();
        match core.run(line) {
            Ok(reply) => {
                let list = reply.list();
                let answers: Vec<String> = match list.first() {
                    Some(Reply::List(_)) => list.iter().map(|row| words(row).join(" ")).collect(),
                    _ => vec![words(&reply).join(" ")],
                };
                if answers.iter().all(|row| row.starts_with("invalid")) {
                    assert_eq!(core.dump(), before, "{name}: {answers:?}");
                    assert!(core.events().is_empty(), "{name}: {answers:?}");
                }
            }
            Err(error) => {
                assert_eq!(core.dump(), before, "{name}: {error}");
                assert!(core.events().is_empty(), "{name}: {error}");
                assert!(error.contains("Guard(): "), "{name}: {error}");
            }
        }
    }
}

const JOBS: &str = r#"put 0 w q j K {} 0 tags ["t"]; pop 1 q w1 1; put 0 w q h K {} 0 tags ["t"]; put 0 w q d K {} 0 depends ["j"]; track 1 track j; track 1 track h; config.set 1 max-job-history 50"#;

#[test]
fn guard_put_survives_keys_of_a_wrong_type() {
    survives_foreign_keys(
        JOBS,
        r#"guard.put 9 {"replace":true} 9 p j K {} 0 tags ["u"] depends ["h"]"#,
    );
    survives_foreign_keys(
        JOBS,
        r#"guard.put 9 {} 9 p n K {} 0 tags ["u"] depends ["h"]"#,
    );
    survives_foreign_keys(
        JOBS,
        r#"guard.put 9 {} 7 p n K {} 0 failed {"group":"G","when":5}"#,
    );
    let failed = format!("{JOBS}; fail 2 j w1 G M");
    survives_foreign_keys(&failed, r#"guard.put 9 {"replace":true} 5 p j K {} 0"#);
}

#[test]
fn guard_requeue_survives_keys_of_a_wrong_type() {
    survives_foreign_keys(
        JOBS,
        r#"guard.requeue 9 {"from":["running"],"to":"p"} {"by":"ann"} j '' ''"#,
    );
    let failed = format!("{JOBS}; fail 2 j w1 G M");
    survives_foreign_keys(&failed, "guard.requeue 9 {} {\"by\":\"ann\"} j '' 50");
    let complete = format!("{JOBS}; complete 2 j w1 q {{}}");
    survives_foreign_keys(
        &complete,
        r#"guard.requeue 9 {"from":["complete"]} '' j '' ''"#,
    );
}

#[test]
fn guard_cancel_survives_keys_of_a_wrong_type() {
    for policy in ["refuse", "cancel", "release"] {
        survives_foreign_keys(JOBS, &format!("guard.cancel 9 {policy} j '' d ''"));
        survives_foreign_keys(JOBS, &format!("guard.cancel 9 {policy} j ''"));
        let failed = format!("{JOBS}; fail 2 j w1 G M");
        survives_foreign_keys(&failed, &format!("guard.cancel 9 {policy} j '' d ''"));
    }
}

#[test]
fn guard_depends_and_pause_survive_keys_of_a_wrong_type() {
    survives_foreign_keys(JOBS, r#"guard.depends 9 d '' {"by":"ann"} h"#);
    let mut core = Core::new();
    for key in ["ql:pauses", "ql:paused_queues"] {
        core.flush();
        core.redis(&format!("SET {key} x"));
        let error = core.refused("guard.pause 9 '' '' q");
        assert!(error.contains("Guard(): "), "{error}");
    }
}

#[test]
fn one_key_of_a_wrong_type_affects_one_job_only() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M; put 0 w q k K {} 0; pop 1 q w1 1; fail 2 k w1 H M");
    core.redis("DEL ql:f:G");
    core.redis("SET ql:f:G x");
    let answers = rows(&mut core, "guard.requeue 9 {} '' j '' '' k '' ''");
    assert!(
        answers[0].starts_with("invalid failed:2:3:q "),
        "{answers:?}"
    );
    assert_eq!(answers[1], "done  waiting q");
    assert_eq!(
        (core.state("j"), core.state("k")),
        ("failed".into(), "waiting".into())
    );
}

// call

/// The one row of a reply of guard.call, as words.
#[track_caller]
fn called(core: &mut Core, line: &str) -> Vec<String> {
    let reply = core.ok(line);
    words(&Reply::List(reply.list().to_vec()))
}

#[test]
fn a_guarded_call_does_what_the_command_does_and_records_it_in_the_history() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; pop 1 q w1 1");
    core.events();
    let mark = mark(&mut core, "a");
    let line = format!(r#"guard.call 5 a {mark} {{"verb":"timeout"}} timeout a"#);
    assert_eq!(called(&mut core, &line), ["done", "", "-"]);
    assert_eq!(core.state("a"), "stalled");
    assert_eq!(
        core.published(),
        [
            r#"ql:w:w1 {"jid":"a","event":"lock_lost","worker":"w1"}"#,
            r#"ql:log {"jid":"a","event":"lock_lost","worker":"w1"}"#
        ]
    );
    assert_eq!(
        core.history("a")[2..],
        [r#"[5,"timed-out"]"#, r#"[5,"cli",{"verb":"timeout"}]"#]
    );
}

#[test]
fn a_guarded_call_answers_numbers_and_documents_as_text() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 0 w q b K {} 0; pop 1 q w1 1");
    let line = "guard.call 5 a '' '' priority a 7";
    assert_eq!(called(&mut core, line), ["done", "", "7"]);
    let line = "guard.call 5 a '' '' tag add a x y";
    assert_eq!(called(&mut core, line), ["done", "", r#"["x","y"]"#]);
    let line = "guard.call 5 a '' '' track track a";
    assert_eq!(called(&mut core, line), ["done", "", "1"]);
    let line = "guard.call 5 b '' '' retry b q w1";
    assert_eq!(called(&mut core, line), ["done", "", "4"]);
}

#[test]
fn tags_are_replaced_in_one_call_with_one_note() {
    let mut core = Core::new();
    core.ok(r#"put 0 w q a K {} 0 tags ["new","eu"]"#);
    let seen = mark(&mut core, "a");
    let line = format!(r#"guard.call 5 a {seen} {{"verb":"tag"}} tag swap a 2 new gone seen add"#);
    assert_eq!(
        called(&mut core, &line),
        ["done", "", r#"["eu","seen","add"]"#]
    );
    assert_eq!(core.history("a")[1..], [r#"[5,"cli",{"verb":"tag"}]"#]);
    assert_eq!(core.ok("tag 6 get new").text(), r#"{"total":0,"jobs":{}}"#);
    let line = "guard.call 5 a '' '' tag swap a 1 eu";
    assert_eq!(called(&mut core, line), ["done", "", r#"["seen","add"]"#]);
}

#[test]
fn a_guarded_call_leaves_a_job_that_changed_as_it_is() {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    let seen = mark(&mut core, "a");
    core.ok("log 3 a looked");
    let now = mark(&mut core, "a");
    let before = core.dump();
    let line = format!(r#"guard.call 5 a {seen} {{"verb":"priority"}} priority a 7"#);
    assert_eq!(called(&mut core, &line), ["state_changed", &now]);
    let line = "guard.call 5 nobody '' '' priority nobody 7";
    assert_eq!(called(&mut core, line), ["gone", ""]);
    assert_eq!(before, core.dump());
}

#[test]
fn a_job_deleted_by_the_call_gets_no_note() {
    let mut core = Core::new();
    core.all("config.set 0 jobs-history -1; put 0 w q a K {} 0; pop 1 q w1 1");
    let line = r#"guard.call 5 a '' {"verb":"complete"} complete a w1 q {}"#;
    assert_eq!(called(&mut core, line), ["done", "", "complete"]);
    assert!(!core.dump().has("ql:j:a-history"));
}

#[test]
fn a_guarded_command_refuses_with_its_own_message() {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    let before = core.dump();
    let error = core.refused(r#"guard.call 5 a '' {"verb":"fail"} fail a w1 G M"#);
    assert!(
        error.contains("Fail(): Job anot currently running: waiting"),
        "{error}"
    );
    for line in [
        "guard.call 5",
        "guard.call 5 a",
        "guard.call 5 a ''",
        "guard.call 5 a '' ''",
        "guard.call 5 a '' '' cancel a",
        "guard.call 5 a '' '' read a",
        "guard.call 5 a '' '' put w q a K {} 0",
        "guard.call 5 a '' '' priority b 7",
        "guard.call 5 a '' '' priority",
        "guard.call 5 a '' '' timeout a b",
        "guard.call 5 a '' '' tag get a",
        "guard.call 5 a '' '' tag add b x",
        "guard.call 5 a '' '' tag swap a",
        "guard.call 5 a '' '' tag swap a 2 x",
        "guard.call 5 a '' '' tag swap a -1 x",
        "guard.call 5 a '' '' tag swap a 0.5 x",
        "guard.call 5 a '' '' tag swap a nan x",
        "guard.call 5 a '' '' tag swap b 1 x y",
        "guard.call 5 a '' '' track track b",
        "guard.call 5 a '' [] priority a 7",
    ] {
        let error = core.refused(line);
        assert!(error.contains("Guard(): "), "{line}: {error}");
    }
    assert_eq!(before, core.dump());
}

#[test]
fn a_guarded_call_does_not_touch_a_job_whose_history_is_not_a_list() {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    core.redis("DEL ql:j:a-history");
    core.redis("SET ql:j:a-history x");
    let before = core.dump();
    let row = called(&mut core, r#"guard.call 5 a '' {"verb":"x"} priority a 7"#);
    assert_eq!(row[0], "invalid");
    assert_eq!(before, core.dump());
}

#[test]
fn a_guarded_complete_without_data_keeps_the_data() {
    let mut core = Core::new();
    core.all(r#"put 0 w q j K {"l":[],"n":1.10} 0; put 0 w q k K {} 0; pop 1 q w1 2"#);
    let seen = mark(&mut core, "j");
    core.ok(&format!("guard.call 9 j {seen} '' complete j w1 q ''"));
    assert_eq!(core.field("j", "state").as_deref(), Some("complete"));
    assert_eq!(
        core.field("j", "data").as_deref(),
        Some(r#"{"l":[],"n":1.10}"#)
    );
    core.ok("guard.call 9 k '' '' complete k w1 q [2]");
    assert_eq!(core.field("k", "data").as_deref(), Some("[2]"));
}
