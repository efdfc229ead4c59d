//! `look.*`: reads that change nothing.

use crate::support::core::{Core, Reply, short};

fn text(reply: &Reply) -> Option<String> {
    match reply {
        Reply::Nil => None,
        reply => Some(reply.text().to_owned()),
    }
}

fn of(reply: &Reply, name: &str) -> Option<String> {
    reply.field(name).and_then(text)
}

/// One row of a `look` call about one item.
fn row(core: &mut Core, line: &str) -> Reply {
    core.ok(line).list()[0].clone()
}

fn index(core: &mut Core, line: &str) -> (String, Vec<String>) {
    let mut words = core.ok(&format!("look.index 99 {line}")).texts();
    let total = words.remove(0);
    (total, words)
}

// jobs

#[test]
fn a_job_is_shown_with_its_stored_fields_by_their_names() {
    let mut core = Core::new();
    core.ok(r#"put 5.5 w q j K {"a":[]} 0 tags ["t"] priority 2"#);
    let stored = core.dump().hash("ql:j:j");
    let job = row(&mut core, "look.jobs 9 brief j");
    for (name, value) in stored {
        assert_eq!(of(&job, &name), Some(value), "{name}");
    }
    assert_eq!(of(&job, "shown").as_deref(), Some("waiting"));
    assert_eq!(of(&job, "since").as_deref(), Some("5"));
    assert_eq!(of(&job, "mark").as_deref(), Some("waiting:5:1:q"));
    assert_eq!(of(&job, "tracked").as_deref(), Some("0"));
    assert_eq!(job.field("dependencies"), Some(&Reply::List(Vec::new())));
    assert_eq!(job.field("dependents"), Some(&Reply::List(Vec::new())));
    for absent in ["due", "lock", "history", "failure", "grace", "legacy"] {
        assert_eq!(job.field(absent), None, "{absent}");
    }
}

#[test]
fn longer_data_is_cut_on_request() {
    let mut core = Core::new();
    core.ok(r#"put 5 w q j K {"a":[1,2,3]} 0"#);
    for (fields, data, length) in [
        ("brief", r#"{"a":[1,2,3]}"#, None),
        ("brief:13", r#"{"a":[1,2,3]}"#, None),
        ("brief:12", r#"{"a":[1,2,3]"#, Some("13")),
        ("full:1", "{", Some("13")),
        ("full:0", "", Some("13")),
    ] {
        let job = row(&mut core, &format!("look.jobs 9 {fields} j"));
        assert_eq!(of(&job, "data").as_deref(), Some(data), "{fields}");
        assert_eq!(of(&job, "data_length").as_deref(), length, "{fields}");
    }
}

#[test]
fn dependencies_and_due_time_are_shown() {
    let mut core = super::errors::one_of_each();
    core.ok("track 9 track running");
    let job = row(&mut core, "look.jobs 9 brief running");
    assert_eq!(
        (of(&job, "lock"), of(&job, "tracked")),
        (Some("63".into()), Some("1".into()))
    );
    let job = row(&mut core, "look.jobs 9 brief scheduled");
    assert_eq!(of(&job, "due").as_deref(), Some("1000"));
    let job = row(&mut core, "look.jobs 9 brief depends");
    assert_eq!(job.field("dependencies").unwrap().texts(), ["waiting"]);
    let job = row(&mut core, "look.jobs 9 brief waiting");
    assert_eq!(job.field("dependents").unwrap().texts(), ["depends"]);
    let job = row(&mut core, "look.jobs 9 brief failed");
    assert_eq!(
        of(&job, "failure").as_deref(),
        Some(r#"{"group":"G","message":"M","when":2,"worker":"w1"}"#)
    );
    assert_eq!(of(&job, "mark").as_deref(), Some("failed:2:3:q"));
    let job = row(&mut core, "look.jobs 9 brief complete");
    assert_eq!(of(&job, "mark").as_deref(), Some("complete:2:3:"));
}

#[test]
fn a_running_job_with_an_expired_lock_is_shown_as_stalled() {
    let mut core = super::errors::one_of_each();
    for (now, shown) in [(62, "running"), (63, "stalled"), (99, "stalled")] {
        let job = row(&mut core, &format!("look.jobs {now} brief running"));
        assert_eq!(of(&job, "shown").as_deref(), Some(shown));
        assert_eq!(of(&job, "state").as_deref(), Some("running"));
        assert!(of(&job, "mark").unwrap().starts_with("running:"));
    }
}

#[test]
fn the_full_view_adds_the_raw_history() {
    let mut core = super::errors::one_of_each();
    let wanted = core.history("failed");
    let job = row(&mut core, "look.jobs 9 full failed");
    assert_eq!(job.field("history").unwrap().texts(), wanted);
}

#[test]
fn a_list_of_fields_reads_only_these() {
    let mut core = super::errors::one_of_each();
    let job = row(&mut core, "look.jobs 9 data,mark waiting");
    assert_eq!(job.texts().len(), 4);
    assert_eq!(
        (of(&job, "data"), of(&job, "mark")),
        (Some("{}".into()), Some("waiting:0:1:q".into()))
    );
    let job = row(&mut core, "look.jobs 9 state,nope waiting");
    assert_eq!(job.texts(), ["state", "waiting"]);
    let job = row(&mut core, "look.jobs 9 history,dependents waiting");
    assert_eq!(
        job.field("history").unwrap().texts(),
        core.history("waiting")
    );
    assert_eq!(job.list().len(), 4);
}

#[test]
fn a_missing_job_is_nil_at_its_position() {
    let mut core = super::errors::one_of_each();
    core.redis("HSET ql:j:zombie state waiting");
    core.redis("SET ql:j:foreign x");
    let reply = core.ok("look.jobs 9 brief nope waiting zombie foreign waiting-history template");
    let shown: Vec<bool> = reply.list().iter().map(|row| *row != Reply::Nil).collect();
    assert_eq!(shown, [false, true, false, false, false, false]);
    for names in ["data", "full"] {
        let reply = core.ok(&format!("look.jobs 9 {names} zombie foreign waiting"));
        assert_eq!(reply.list()[..2], [Reply::Nil, Reply::Nil]);
    }
}

#[test]
fn unreadable_fields_are_shown_as_they_are_and_nothing_is_migrated() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    core.redis("HSET ql:j:j tags {] failure oops remaining many history [{\"put\":1}]");
    core.redis("RPUSH ql:j:j-history oops");
    let before = core.dump();
    let job = row(&mut core, "look.jobs 9 full j");
    assert_eq!(of(&job, "tags").as_deref(), Some("{]"));
    assert_eq!(of(&job, "legacy").as_deref(), Some(r#"[{"put":1}]"#));
    assert_eq!(
        job.field("history")
            .unwrap()
            .texts()
            .last()
            .map(String::as_str),
        Some("oops")
    );
    assert!(
        of(&job, "mark").unwrap().starts_with("waiting:-:2:")
            || of(&job, "mark").unwrap().starts_with("waiting:0:2:")
    );
    assert_eq!(
        row(&mut core, "look.jobs 9 legacy j").texts(),
        ["legacy", r#"[{"put":1}]"#]
    );
    assert_eq!(core.dump(), before);
}

#[test]
fn dependencies_are_sorted_by_bytes() {
    let mut core = Core::new();
    for jid in ["b", "A", "a", "é", "Z"] {
        core.ok(&format!("put 0 w q {jid} K {{}} 0"));
    }
    core.ok(r#"put 0 w q j K {} 0 depends ["b","A","a","é","Z"]"#);
    let job = row(&mut core, "look.jobs 9 brief j");
    assert_eq!(
        job.field("dependencies").unwrap().texts(),
        ["A", "Z", "a", "b", "é"]
    );
}

#[test]
fn large_numbers_keep_their_text() {
    let mut core = Core::new();
    core.all("put 1352375269.123456 w q j K {} 0; pop 1352375269.123456 q w1 1");
    let stored = core.field("j", "expires");
    let job = row(&mut core, "look.jobs 1352375270 brief j");
    assert_eq!(of(&job, "expires"), stored);
}

#[test]
fn the_mark_changes_exactly_when_the_job_changes() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    let mark = |core: &mut Core| of(&row(core, "look.jobs 9 mark j"), "mark").unwrap();
    let mut last = mark(&mut core);
    for (line, changes) in [
        ("priority 1 j 5", false),
        ("tag 1 add j t", false),
        ("put 1 w q j K {} 0", true),
        ("pop 2 q w1 1", true),
        ("heartbeat 3 j w1", false),
        ("retry 4 j q w1", true),
        ("pop 5 q w1 1", true),
        ("log 6 j note", true),
        ("timeout 7 j", true),
        ("pop 8 q w1 1", true),
        ("pop 100 q w2 1", true),
        ("fail 101 j w1 G M", true),
        ("unfail 102 q G", true),
        ("pop 103 q w1 1", true),
        ("complete 104 j w1 q {}", true),
    ] {
        core.ok(line);
        let now = mark(&mut core);
        assert_eq!(now != last, changes, "{line}: {last} → {now}");
        last = now;
    }
}

// templates

#[test]
fn a_template_is_shown_with_its_next_run() {
    let mut core = Core::new();
    core.ok("recur 0 q r K {} interval 60 30.5");
    let stored = core.dump().hash("ql:r:r");
    let reply = core.ok("look.recurs 9 nope r");
    assert_eq!(reply.list()[0], Reply::Nil);
    for (name, value) in stored {
        assert_eq!(of(&reply.list()[1], &name), Some(value));
    }
    assert_eq!(of(&reply.list()[1], "next").as_deref(), Some("30.5"));
}

// indexes

#[test]
fn each_index_is_paged_in_the_order_of_the_core() {
    let mut core = super::errors::one_of_each();
    core.all("put 5 w q late K {} 0; tag 6 add waiting t; tag 5 add late t; track 7 track late; track 8 track waiting");
    core.all("put 0 w q f2 K {} 0 priority 9; pop 1 p w0 1; guard.pause 9 '' '' b A a");
    let pages = |line: &str, core: &mut Core| index(core, line);
    assert_eq!(
        pages("waiting q 0 9", &mut core),
        (
            "4".into(),
            ["stalled", "f2", "waiting", "late"]
                .map(String::from)
                .into()
        )
    );
    assert_eq!(pages("waiting q 1 2", &mut core).1, ["f2", "waiting"]);
    assert_eq!(pages("waiting q 0 0", &mut core), ("4".into(), Vec::new()));
    assert_eq!(pages("waiting q 9 5", &mut core), ("4".into(), Vec::new()));
    assert_eq!(pages("locks q 0 9", &mut core).1, ["running"]);
    assert_eq!(pages("scheduled q 0 9", &mut core).1, ["scheduled"]);
    assert_eq!(pages("depends q 0 9", &mut core).1, ["depends"]);
    assert_eq!(pages("recurring q 0 9", &mut core).1, ["template"]);
    assert_eq!(pages("failed G 0 9", &mut core).1, ["failed"]);
    assert_eq!(pages("worker w1 0 9", &mut core).1, ["running"]);
    assert_eq!(pages("tag t 0 9", &mut core).1, ["late", "waiting"]);
    assert_eq!(pages("complete '' 0 9", &mut core).1, ["complete"]);
    assert_eq!(pages("tracked '' 0 9", &mut core).1, ["late", "waiting"]);
    assert_eq!(pages("queues '' 0 9", &mut core).1, ["q"]);
    assert_eq!(pages("workers '' 0 9", &mut core).1, ["w0", "w1"]);
    assert_eq!(
        pages("tags '' 0 9", &mut core),
        ("1".into(), vec!["t".into()])
    );
    assert_eq!(pages("groups '' 0 9", &mut core).1, ["G"]);
    assert_eq!(pages("paused '' 0 9", &mut core).1, ["A", "a", "b"]);
    assert_eq!(
        pages("paused '' 1 1", &mut core),
        ("3".into(), vec!["a".into()])
    );
    assert_eq!(
        pages("waiting nope 0 9", &mut core),
        ("0".into(), Vec::new())
    );
}

#[test]
fn failures_are_paged_oldest_first() {
    let mut core = Core::new();
    for n in 0..5 {
        core.all(&format!(
            "put 0 w q j{n} K {{}} 0; pop 1 q w1 1; fail {n} j{n} w1 G M"
        ));
    }
    assert_eq!(
        index(&mut core, "failed G 0 3"),
        ("5".into(), ["j0", "j1", "j2"].map(String::from).into())
    );
    assert_eq!(index(&mut core, "failed G 3 9").1, ["j3", "j4"]);
    assert_eq!(index(&mut core, "failed G 9 9").1, Vec::<String>::new());
}

#[test]
fn look_calls_promote_spawn_and_age_nothing() {
    let mut core = super::errors::one_of_each();
    core.ok("config.set 0 max-worker-age 10");
    let before = core.dump();
    for line in [
        "look.index 5000 scheduled q 0 9",
        "look.index 5000 recurring q 0 9",
        "look.index 5000 workers '' 0 9",
        "look.queues 5000",
        "look.workers 5000",
        "look.jobs 5000 full scheduled",
    ] {
        core.ok(line);
    }
    assert_eq!(core.dump(), before);
}

// scan

#[test]
fn a_scan_returns_every_job_template_and_key() {
    let mut core = super::errors::one_of_each();
    core.many((0..200).map(|n| format!("put 0 w p j{n} K {{}} 0")));
    for (kind, wanted) in [
        ("jobs", 207),
        ("recurring", 1),
        ("keys", core.dump().0.len()),
    ] {
        let mut names = std::collections::BTreeSet::new();
        let mut cursor = "0".to_owned();
        loop {
            let mut step = core.ok(&format!("look.scan 9 {kind} {cursor} 50")).texts();
            cursor = step.remove(0);
            names.extend(step);
            if cursor == "0" {
                break;
            }
        }
        assert_eq!(names.len(), wanted, "{kind}");
        assert!(names.iter().all(|name| !name.starts_with("ql:")), "{kind}");
    }
}

// queues and workers

#[test]
fn queues_are_ready_if_a_pop_may_bring_a_job_now() {
    let mut core = Core::new();
    core.all("put 1 w waits a K {} 0; put 1 w due b K {} 5; put 1 w later c K {} 500");
    core.all(
        "put 1 w runs d K {} 0; pop 1 runs w 1; put 1 w lost e K {} 0; config.set 1 lost-heartbeat 3",
    );
    core.all(
        "pop 1 lost w 1; put 1 w paused f K {} 0; pause 1 paused; recur 1 often r K {} interval 60 5",
    );
    core.all("guard.pause 1 8 '' briefly; put 1 w briefly g K {} 0; put 1 w blocked h K {} 0 depends [\"a\"]");
    core.all("throttle.set 1 t 1; put 1 w held i K {} 0 throttles [\"t\"]; put 1 w held j K {} 0 throttles [\"t\"]");
    core.ok("pop 1 held w 2");
    // Behind the queues, in how many seconds the next one is due, a millisecond later.
    let ready = |core: &mut Core, call: &str| {
        let mut ready = core.ok(call).texts();
        ready.rotate_left(1);
        let names = ready.len() - 1;
        ready[..names].sort();
        ready.join(" ")
    };
    assert_eq!(ready(&mut core, "look.ready 2"), "held waits 2.001");
    assert_eq!(
        ready(&mut core, "look.ready 6"),
        "due held lost often waits 2.001"
    );
    assert_eq!(
        ready(&mut core, "look.ready 9 due runs none briefly"),
        "briefly due 52.001"
    );
    assert_eq!(ready(&mut core, "look.ready 9 none paused"), "");
}

#[test]
fn queues_are_counted_by_state() {
    let mut core = super::errors::one_of_each();
    core.ok("put 5 w q due K {} 5");
    let queue = row(&mut core, "look.queues 9 q");
    let counts = |queue: &Reply| {
        [
            "running",
            "stalled",
            "waiting",
            "scheduled",
            "depends",
            "recurring",
        ]
        .map(|name| of(queue, name).unwrap())
    };
    assert_eq!(counts(&queue), ["1", "1", "1", "2", "1", "1"]);
    let queue = row(&mut core, "look.queues 10 q");
    assert_eq!(
        counts(&queue),
        ["1", "1", "2", "1", "1", "1"],
        "what is due waits"
    );
    let queue = row(&mut core, "look.queues 63 q");
    assert_eq!(
        counts(&queue),
        ["0", "2", "2", "1", "1", "1"],
        "what has lapsed is stalled"
    );
    assert_eq!(
        (of(&queue, "name"), of(&queue, "known")),
        (Some("q".into()), Some("1".into()))
    );
    assert_eq!(of(&queue, "paused").as_deref(), Some("0"));
    for absent in ["since", "until", "reason", "by"] {
        assert_eq!(of(&queue, absent), None, "{absent}");
    }
    // The first in order is the stalled job, which was timed out at 4.
    assert_eq!(of(&queue, "head").as_deref(), Some("4.000"));
}

#[test]
fn the_head_of_a_queue_is_its_first_waiting_or_due_job() {
    let mut core = Core::new();
    core.all("put 1 w q a K {} 50; put 2 w q b K {} 20");
    assert_eq!(
        row(&mut core, "look.queues 9 q").field("head"),
        Some(&Reply::Nil)
    );
    assert_eq!(
        of(&row(&mut core, "look.queues 60 q"), "head").as_deref(),
        Some("2.000")
    );
    core.ok("put 3 w q c K {} 0");
    assert_eq!(
        of(&row(&mut core, "look.queues 60 q"), "head").as_deref(),
        Some("3.000")
    );
}

#[test]
fn a_large_priority_does_not_blur_since_when_a_job_waits() {
    let mut core = Core::new();
    core.ok("put 50 w q j K {} 0 priority 1000000");
    let queue = row(&mut core, "look.queues 90 q");
    assert_eq!(of(&queue, "head").as_deref(), Some("50.000"));
    let lag = core.ok("look.lag 90 q").list()[0].list().to_vec();
    assert_eq!((lag[0].text(), lag[1].text()), ("50.000", "j"));
}

#[test]
fn known_queues_are_shown_and_unknown_ones_if_named() {
    let mut core = Core::new();
    core.all("put 1 w b j K {} 0; put 2 w a k K {} 0");
    let names: Vec<_> = core
        .ok("look.queues 9")
        .list()
        .iter()
        .map(|row| of(row, "name").unwrap())
        .collect();
    assert_eq!(names, ["b", "a"]);
    let queue = row(&mut core, "look.queues 9 nope");
    assert_eq!(
        (of(&queue, "known"), of(&queue, "waiting")),
        (Some("0".into()), Some("0".into()))
    );
    assert_eq!(Core::new().ok("look.queues 9"), Reply::List(Vec::new()));
}

#[test]
fn a_pause_is_shown_with_its_reason_until_it_ends() {
    let mut core = Core::new();
    core.all(r#"put 0 w q j K {} 0; guard.pause 10.5 20 {"reason":"deploy","by":"ann@h"} q"#);
    let queue = row(&mut core, "look.queues 19 q");
    assert_eq!(of(&queue, "paused").as_deref(), Some("1"));
    assert_eq!(
        (of(&queue, "since"), of(&queue, "until")),
        (Some("10.5".into()), Some("20".into()))
    );
    assert_eq!(
        (of(&queue, "reason"), of(&queue, "by")),
        (Some("deploy".into()), Some("ann@h".into()))
    );
    let queue = row(&mut core, "look.queues 20 q");
    assert_eq!(of(&queue, "paused").as_deref(), Some("0"));
    for name in ["since", "until", "reason", "by"] {
        assert_eq!(of(&queue, name), None, "{name}");
    }
    core.ok("pause 21 p");
    let queue = row(&mut core, "look.queues 22 p");
    assert_eq!(of(&queue, "paused").as_deref(), Some("1"));
    assert_eq!(of(&queue, "since"), None);
}

#[test]
fn workers_are_counted_by_the_jobs_they_hold() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 0 w q b K {} 0; pop 1 q w1 1; pop 5 q w2 1; pop 9 q w3 1");
    let shown = |core: &mut Core, line: &str| -> Vec<[String; 4]> {
        let reply = core.ok(line);
        let rows = reply.list().iter();
        rows.map(|row| {
            ["name", "seen", "running", "stalled"].map(|name| of(row, name).unwrap_or_default())
        })
        .collect()
    };
    let wanted = [
        ["w3", "9", "0", "0"],
        ["w2", "5", "1", "0"],
        ["w1", "1", "0", "1"],
    ];
    assert_eq!(shown(&mut core, "look.workers 61"), wanted);
    assert_eq!(
        shown(&mut core, "look.workers 61 w1 nobody"),
        [["w1", "1", "0", "1"], ["nobody", "", "0", "0"]]
    );
    core.ok("config.set 0 max-worker-age 10");
    assert_eq!(shown(&mut core, "look.workers 15"), [["w3", "9", "0", "0"]]);
    assert!(core.dump().has("ql:w:w1:jobs"));
}

// bad usage

#[test]
fn look_calls_name_themselves_when_they_refuse() {
    let mut core = Core::new();
    let many: Vec<String> = (0..501).map(|n| format!("j{n}")).collect();
    let many = many.join(" ");
    for line in [
        "look.jobs 0",
        "look.index 0",
        "look.index 0 waiting",
        "look.index 0 waiting q",
        "look.index 0 waiting q 0",
        "look.index 0 nope q 0 5",
        "look.index 0 waiting q -1 5",
        "look.index 0 waiting q 0 -1",
        "look.index 0 waiting q 0.5 5",
        "look.index 0 waiting q 0 x",
        "look.index 0 waiting q nan 5",
        "look.index 0 waiting q 0 inf",
        "look.index 0 waiting q 0 10001",
        "look.scan 0",
        "look.scan 0 nope 0 5",
        "look.scan 0 jobs x 5",
        "look.scan 0 jobs 0",
        "look.scan 0 jobs 0 0",
        "look.scan 0 jobs 0 x",
        &format!("look.jobs 0 brief {many}"),
        &format!("look.recurs 0 {many}"),
    ] {
        let error = short(&core.refused(line));
        assert!(
            error.starts_with("user_script:N: Look(): "),
            "`{line}` says `{error}`"
        );
    }
    assert_eq!(core.ok("look.jobs 0 brief"), Reply::List(Vec::new()));
    assert_eq!(core.ok("look.index 0 waiting q 0 10000").texts(), ["0"]);
}

#[test]
fn a_key_of_another_type_does_not_stop_a_look() {
    let mut core = super::errors::one_of_each();
    core.redis("DEL ql:j:waiting-history ql:j:waiting-dependents");
    core.redis("SET ql:j:waiting-history x");
    core.redis("SET ql:j:waiting-dependents x");
    let reply = core.ok("look.jobs 9 full waiting running");
    assert_eq!(of(&reply.list()[1], "state").as_deref(), Some("running"));
}

// pop

#[test]
fn look_pop_tells_what_a_pop_meets() {
    let mut core = Core::new();
    core.ok("config.set 0 q-max-concurrency 2");
    for (at, jid) in ["a", "b", "c"].iter().enumerate() {
        core.ok(&format!("put {at} w q {jid} K {{}} 0"));
    }
    core.ok("put 3 w q urgent K {} 0 priority 5");
    let reply = core.ok("look.pop 50 q b");
    assert_eq!(of(&reply, "limit").as_deref(), Some("2"));
    assert_eq!(of(&reply, "held").as_deref(), Some("0"));
    assert_eq!(of(&reply, "ahead").as_deref(), Some("2"));
    assert_eq!(of(&reply, "oldest").as_deref(), Some("0.000"));
    assert_eq!(of(&reply, "oldest_jid").as_deref(), Some("a"));
    assert_eq!(of(&reply, "next").as_deref(), Some("urgent"));
    assert_eq!(of(&reply, "ready").as_deref(), Some("3.000"));
    for absent in ["popped", "seen", "pace", "ghost"] {
        assert_eq!(of(&reply, absent), None, "{absent}");
    }
    core.ok("pop 60 q w1 2");
    core.redis("ZADD ql:q:q-work 9 nobody");
    let reply = core.ok("look.pop 70 q b");
    assert_eq!(of(&reply, "held").as_deref(), Some("2"));
    assert_eq!(of(&reply, "holder").as_deref(), Some("w1"));
    assert_eq!(of(&reply, "seen").as_deref(), Some("60"));
    assert_eq!(of(&reply, "next"), None, "the limit is reached");
    assert_eq!(of(&reply, "ghost").as_deref(), Some("nobody"));
    assert_eq!(of(&reply, "ahead").as_deref(), Some("1"));
    assert_eq!(of(&core.ok("look.pop 70 q zzz"), "listed"), None);
    assert!(
        core.refused("look.pop 70")
            .contains("Look(): queue missing")
    );
}

#[test]
fn the_pace_of_a_queue_is_that_of_the_last_five_minutes() {
    let mut core = Core::new();
    core.all("put 500 w r old K {} 0; pop 500 r w 1; complete 500 old w r {}");
    for n in 0..9 {
        core.ok(&format!("put 1000 w {} j{n} K {{}} 0", ["q", "r"][n % 2]));
        core.ok(&format!("pop 1000 {} w 1", ["q", "r"][n % 2]));
        core.ok(&format!("complete 1010 j{n} w {} {{}}", ["q", "r"][n % 2]));
    }
    core.ok("put 1010 w q a K {} 0");
    core.ok("put 1011 w q b K {} 0");
    let pace = |core: &mut Core, now: u32| of(&core.ok(&format!("look.pop {now} q b")), "pace");
    assert_eq!(pace(&mut core, 1020).as_deref(), Some("1.00"));
    assert_eq!(pace(&mut core, 1400), None);
}

#[test]
fn jobs_of_one_call_are_ahead_of_each_other_in_the_order_of_pops() {
    let mut core = Core::new();
    for jid in ["a", "b", "c"] {
        core.ok(&format!("put 5 w q {jid} K {{}} 0"));
    }
    let ahead = |core: &mut Core, jid: &str| of(&core.ok(&format!("look.pop 9 q {jid}")), "ahead");
    assert_eq!(ahead(&mut core, "c").as_deref(), Some("0"));
    assert_eq!(ahead(&mut core, "a").as_deref(), Some("2"));
}

#[test]
fn the_oldest_wait_may_be_behind_jobs_of_higher_priority() {
    let mut core = Core::new();
    core.ok("put 10 w q old K {} 0 priority -3");
    core.ok("put 20 w q mid K {} 0");
    core.ok("put 30 w q new K {} 0 priority 7");
    core.ok("put 40 w q moved K {} 0");
    core.ok("priority 41 moved 0");
    let reply = core.ok("look.pop 50 q");
    assert_eq!(of(&reply, "oldest_jid").as_deref(), Some("old"));
    core.ok("cancel 51 old");
    let reply = core.ok("look.pop 52 q");
    assert_eq!(of(&reply, "oldest_jid").as_deref(), Some("mid"));
}

// status

#[test]
fn look_status_counts_failures_since_a_time() {
    let mut core = Core::new();
    for at in 0..20 {
        core.ok(&format!("put {at} w q j{at} K {{}} 0"));
        core.ok(&format!("pop {at} q w 1"));
        core.ok(&format!("fail {at} j{at} w g m"));
    }
    for since in [0, 1, 7, 19, 20] {
        let reply = core.ok(&format!("look.status 99 {since} counts"));
        let groups = reply.list()[7].list();
        assert_eq!(groups[0].texts(), ["g", "20", &(20 - since).to_string()]);
    }
    // More are counted to a sixteenth.
    for at in 100..1000 {
        core.ok(&format!("put {at} w q k{at} K {{}} 0"));
        core.ok(&format!("pop {at} q w 1"));
        core.ok(&format!("fail {at} k{at} w g m"));
    }
    let reply = core.ok("look.status 1000 500 counts");
    let recent: f64 = reply.list()[7].list()[0].texts()[2].parse().unwrap();
    assert!((470.0..=500.0).contains(&recent), "{recent}");
    let reply = core.ok("look.status 99 0 counts");
    let queue = &reply.list()[8].list()[0];
    for count in ["popped", "failures"] {
        assert_eq!(queue.field(count).unwrap().text(), "920");
    }
    assert!(reply.list()[1].text().contains("redis_version:"));
    assert!(
        core.refused("look.status 99 x counts")
            .contains("Look(): since")
    );
    assert!(
        core.refused("look.status 99 0 x")
            .contains("Look(): neither")
    );
}
