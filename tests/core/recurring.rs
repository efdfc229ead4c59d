//! Templates and the jobs that they spawn.

use serde_json::json;

use crate::support::core::{Core, Reply};

fn every(interval: &str, rest: &str) -> Core {
    let mut core = Core::new();
    core.ok(&format!("recur 0 q r K {{}} interval {interval} {rest}"));
    core
}

#[test]
fn a_template_has_the_defaults() {
    let mut core = every("60", "0");
    assert_eq!(
        core.json("recur.get 1 r"),
        json!({
            "jid": "r", "klass": "K", "state": "recur", "queue": "q", "priority": 0, "interval": 60,
            "retries": 0, "count": 0, "data": "{}", "tags": {}, "backlog": 0,
        })
    );
    assert!(core.events().is_empty());
    assert_eq!(core.ok("recur.get 1 nope"), Reply::Nil);
    assert_eq!(core.ok("jobs 1 recurring q").texts(), ["r"]);
}

#[test]
fn the_first_run_is_after_the_offset() {
    let mut core = every("60", "30");
    assert!(core.jids("pop 29 q w1 5").is_empty());
    assert_eq!(core.jids("pop 30 q w1 5"), ["r-1"]);
    assert_eq!(core.score("ql:q:q-recur", "r"), Some(90.0));
}

#[test]
fn a_child_has_the_scheduled_time_of_its_run() {
    let mut core = every("60", r#"0 tags ["t"] priority 3 retries 2"#);
    let job = core.json("pop 65 q w1 1")[0].clone();
    assert_eq!(
        (&job["jid"], &job["spawned_from_jid"]),
        (&json!("r-1"), &json!("r"))
    );
    assert_eq!(
        (&job["priority"], &job["retries"], &job["remaining"]),
        (&json!(3), &json!(2), &json!(2))
    );
    assert_eq!(job["tags"], json!(["t"]));
    assert_eq!(
        job["history"][0],
        json!({"when": 0, "what": "put", "q": "q"})
    );
    assert_eq!(core.json("stats 65 q 65")["wait"]["mean"], 65);
    assert!(core.events().is_empty());
    assert_eq!(core.json("tag 65 get t")["jobs"], json!(["r-1"]));
}

#[test]
fn missed_runs_are_made_up() {
    let mut core = every("60", "0");
    assert_eq!(core.jids("pop 180 q w1 10"), ["r-1", "r-2", "r-3", "r-4"]);
    assert_eq!(core.json("recur.get 180 r")["count"], 4);
}

#[test]
fn d_46_a_pop_spawns_no_more_jobs_than_it_takes() {
    let mut core = every("60", "0");
    assert_eq!(core.jids("pop 180 q w1 1"), ["r-1"]);
    assert_eq!(core.jids("peek 180 q 2"), ["r-2", "r-3"]);
    assert_eq!(core.json("recur.get 180 r")["count"], 3);
}

#[test]
fn d_45_a_backlog_skips_older_runs_and_leaves_one_more() {
    for (now, runs) in [
        (600, vec![540.0, 600.0]),
        (599, vec![540.0]),
        (601, vec![600.0]),
    ] {
        let mut core = every("60", "0 backlog 1");
        core.ok("pop 0 q w1 1");
        core.ok(&format!("pop {now} q w1 10"));
        let last = runs.len() + 1;
        let whens: Vec<f64> = (2..=last)
            .map(|n| {
                core.json(&format!("get {now} r-{n}"))["history"][0]["when"]
                    .as_f64()
                    .unwrap()
            })
            .collect();
        assert_eq!(whens, runs);
        assert_eq!(core.ok(&format!("get {now} r-{}", last + 1)), Reply::Nil);
    }
}

#[test]
fn d_50_a_negative_backlog_is_zero() {
    let mut core = every("60", "0 backlog -1");
    assert_eq!(core.jids("pop 120 q w1 10"), ["r-1", "r-2", "r-3"]);
}

#[test]
fn d_44_the_next_run_loses_its_fraction_at_every_call() {
    let mut core = every("1.5", "0.75");
    assert_eq!(core.jids("pop 0.75 q w1 1"), ["r-1"]);
    assert_eq!(core.score("ql:q:q-recur", "r"), Some(1.5));
    core.ok("pop 1.5 q w1 1");
    assert_eq!(core.score("ql:q:q-recur", "r"), Some(2.5));
}

#[test]
fn templates_are_spawned_by_pop_and_peek_only() {
    let mut core = every("60", "0");
    assert_eq!(core.json("queues 100 q")["waiting"], 0);
    assert_eq!(core.json("queues 100 q")["recurring"], 1);
    assert_eq!(core.ok("length 100 q"), Reply::Int(0));
    core.ok("pause 100 q");
    assert!(core.jids("pop 100 q w1 1").is_empty());
    assert_eq!(core.jids("peek 100 q 1"), ["r-1"]);
}

#[test]
fn d_47_putting_a_template_again_resets_all_but_its_count() {
    let mut core = every("60", r#"0 tags ["t"] priority 3 retries 2 backlog 5"#);
    core.ok("pop 0 q w1 1");
    core.ok("recur 10 p r K2 [] interval 30 0");
    assert_eq!(
        core.json("recur.get 10 r"),
        json!({
            "jid": "r", "klass": "K2", "state": "recur", "queue": "p", "priority": 0, "interval": 30,
            "retries": 0, "count": 1, "data": "[]", "tags": {}, "backlog": 0,
        })
    );
    assert_eq!(core.score("ql:q:q-recur", "r"), None);
    assert_eq!(core.jids("pop 10 p w1 1"), ["r-2"]);
}

#[test]
fn unrecur_leaves_the_children() {
    let mut core = every("60", "0");
    core.ok("pop 0 q w1 1");
    assert_eq!(core.ok("unrecur 1 r"), Reply::Int(1));
    assert_eq!(core.ok("unrecur 1 r"), Reply::Int(1));
    assert_eq!(core.state("r-1"), "running");
    assert!(!core.dump().has("ql:r:r") && !core.dump().has("ql:q:q-recur"));
}

#[test]
fn d_16_children_never_overwrite_a_job() {
    let mut core = every("60", "0");
    core.all("pop 120 q w1 3; complete 121 r-1 w1 q {}; fail 121 r-2 w1 G M; unrecur 122 r");
    core.ok("recur 122 q r K {} interval 60 0");
    assert_eq!(core.jids("pop 122 q w2 1"), ["r-4"]);
    assert_eq!(
        (core.state("r-1"), core.state("r-2")),
        ("complete".into(), "failed".into())
    );
    assert_eq!(core.json("get 123 r-3")["worker"], "w1");
    assert_eq!(core.json("recur.get 123 r")["count"], 4);
}

#[test]
fn d_04_an_entry_without_a_template_is_dropped_when_it_is_due() {
    for line in ["pop 10 q w1 5", "peek 10 q 5"] {
        let mut core = every("60", "5");
        core.ok("put 0 w q j K {} 0");
        core.redis("DEL ql:r:r");
        assert_eq!(core.jids(line), ["j"]);
        assert!(!core.dump().has("ql:q:q-recur"));
    }
}

#[test]
fn d_04_unreadable_tags_count_as_none() {
    for line in ["pop 10 q w1 5", "peek 10 q 5"] {
        let mut core = every("60", "5");
        core.redis("HSET ql:r:r tags {]");
        assert_eq!(core.json("recur.get 1 r")["tags"], json!({}));
        let jobs = core.json(line);
        assert_eq!(
            (&jobs[0]["jid"], &jobs[0]["tags"]),
            (&json!("r-1"), &json!({}))
        );
        assert_eq!(core.field("r-1", "tags").as_deref(), Some("{}"));
    }
}

#[test]
fn an_invalid_interval_does_not_stop_a_queue() {
    for interval in ["0", "-5", "soon", "nan", "inf"] {
        let mut core = every("60", "5");
        core.ok("put 0 w q j K {} 0");
        core.redis(&format!("HSET ql:r:r interval {interval}"));
        assert!(
            core.jids("pop 100 q w1 3").contains(&"j".to_owned()),
            "{interval}"
        );
        assert!(core.dump().zset("ql:q:q-locks").len() <= 3);
    }
}

#[test]
fn d_40_spawning_lists_a_forgotten_queue_again() {
    let mut core = every("60", "0");
    core.ok("queue.forget 1 q");
    core.ok("pop 10 q w1 1");
    assert_eq!(core.score("ql:queues", "q"), Some(10.0));
}

#[test]
fn d_13_a_template_may_have_fractional_retries() {
    let mut core = every("60", "0 retries 1.5");
    core.ok("pop 0 q w1 1");
    assert_eq!(core.field("r-1", "remaining").as_deref(), Some("1"));
    assert_eq!(core.ok("retry 1 r-1 q w1"), Reply::Int(0));
}

#[test]
fn recur_update_changes_only_the_given_options() {
    let mut core = every("60", "30");
    let line =
        "recur.update 5 r priority 4 interval 90 retries 2 data [1] klass K2 queue p backlog 3";
    assert_eq!(core.ok(line), Reply::Int(1));
    assert_eq!(
        core.json("recur.get 6 r"),
        json!({
            "jid": "r", "klass": "K2", "state": "recur", "queue": "p", "priority": 4, "interval": 90,
            "retries": 2, "count": 0, "data": "[1]", "tags": {}, "backlog": 3,
        })
    );
    // The next run moves by as much as the interval grew.
    assert_eq!(core.score("ql:q:p-recur", "r"), Some(60.0));
    assert_eq!(core.score("ql:q:q-recur", "r"), None);
    assert_eq!(core.score("ql:queues", "p"), Some(5.0));
    assert_eq!(core.ok("recur.update 7 r"), Reply::Int(1));
}

#[test]
fn d_49_a_duplicate_tag_is_stored_once() {
    let mut core = every("60", r#"0 tags ["t","t"]"#);
    assert_eq!(core.json("recur.get 1 r")["tags"], json!(["t"]));
    assert_eq!(core.json("recur.tag 1 r u u t"), json!(["t", "u"]));
    assert_eq!(core.json("recur.untag 2 r t nope"), json!(["u"]));
    assert_eq!(core.json("recur.untag 2 r u"), json!({}));
    assert_eq!(core.field("r", "tags"), None);
    assert!(!core.dump().has("ql:tags"), "templates are in no index");
}

#[test]
fn several_templates_share_one_pop() {
    let mut core = every("60", "0");
    core.ok("recur 0 q s K {} interval 60 10");
    assert_eq!(core.jids("pop 70 q w1 3").len(), 3);
    let counts = [
        core.json("recur.get 70 r")["count"].clone(),
        core.json("recur.get 70 s")["count"].clone(),
    ];
    assert_eq!(counts, [json!(2), json!(1)]);
}

#[test]
fn a_template_and_a_job_may_have_the_same_name() {
    let mut core = every("60", "1000");
    core.ok("put 0 w q r K {} 0");
    assert_eq!(core.json("get 1 r")["state"], "waiting");
    assert_eq!(core.json("recur.get 1 r")["state"], "recur");
    core.ok("cancel 2 r");
    assert_eq!(core.json("recur.get 3 r")["state"], "recur");
}

#[test]
fn d_48_tags_that_are_no_list_of_texts_are_left_out() {
    for (tags, kept) in [
        ("7", json!({})),
        ("null", json!({})),
        ("true", json!({})),
        (r#""x""#, json!({})),
        (r#"{"a":"b"}"#, json!({})),
        ("[[]]", json!({})),
        (r#"["x",null,7,["y"],{"z":1},false,"x"]"#, json!(["x", "7"])),
    ] {
        let mut core = every("60", &format!("0 tags '{tags}'"));
        assert_eq!(core.json("recur.get 1 r")["tags"], kept, "{tags}");
        assert_eq!(core.jids("pop 30 q w1 5"), ["r-1"], "{tags}");
        assert_eq!(core.json("get 31 r-1")["tags"], kept, "{tags}");
        core.all("recur.tag 32 r t; recur.untag 33 r t");
        assert_eq!(core.jids("pop 90 q w1 1").len(), 1, "{tags}");
    }
}

// pause and resume

/// A template with everything, bytes included that JSON and numbers would not keep.
fn template_of_everything() -> Core {
    let mut core = Core::new();
    core.ok(r#"recur 0.5 q r K {"n":1.10,"l":[]} interval 60 30.0625 tags ["t","é"] retries 2 priority 1 backlog 3"#);
    core.redis("HSET ql:r:r own 9007199254740993.5 klass K\u{e9}\u{1} count 7");
    core
}

/// What a call of `guard.recur` says about its jids.
fn said(core: &mut Core, line: &str) -> Vec<String> {
    let reply = core.ok(line);
    let rows = reply.list().iter().map(|row| row.texts().join(" "));
    rows.collect()
}

#[test]
fn a_paused_template_is_invisible_and_restored_exactly() {
    let mut core = template_of_everything();
    let before = core.dump();
    let order = core.redis("HGETALL ql:r:r").texts();
    let note = r#"{"verb":"pause","by":"me@here","reason":"disk/1"}"#;
    assert_eq!(
        said(&mut core, &format!("guard.recur 10.125 pause {note} r")),
        ["done "]
    );
    assert_eq!(core.ok("recur.get 11 r"), Reply::Nil);
    assert!(!core.dump().has("ql:r:r") && !core.dump().has("ql:q:q-recur"));
    assert!(core.jids("pop 500 q w1 5").is_empty());
    assert_eq!(core.json("queues 500 q")["recurring"], 0);
    core.must_be_clean(500.0, Default::default());
    // Again, and of a template that does not exist.
    assert_eq!(
        said(&mut core, &format!("guard.recur 12 pause {note} r nope")),
        ["done ", "gone "]
    );
    let row = core.ok("look.recurs 12 r").list()[0].clone();
    assert_eq!(row.field("paused").unwrap().text(), "10.125");
    assert_eq!(row.field("next").unwrap().text(), "30.5625");
    assert_eq!(row.field("reason").unwrap().text(), "disk/1");
    assert_eq!(
        core.ok("look.index 12 paused_recurring '' 0 9").texts(),
        ["1", "r"]
    );
    // No run falls into this pause.
    assert_eq!(
        said(&mut core, "guard.recur 20 resume r nope"),
        ["done  30.5625", "gone "]
    );
    assert_eq!(said(&mut core, "guard.recur 20 resume r"), ["done "]);
    core.redis("DEL ql:workers");
    assert_eq!(core.dump(), before);
    assert_eq!(core.redis("HGETALL ql:r:r").texts(), order);
}

#[test]
fn runs_that_fall_into_a_pause_are_left_out() {
    for (paused, resumed, next) in [
        // Before the first run, and in the middle of the schedule.
        (10, 29, "30"),
        (10, 30, "90"),
        (10, 89, "90"),
        (10, 200, "210"),
        // One run is overdue when it is paused, and stays due.
        (40, 80, "30"),
        (40, 100, "90"),
        (40, 215, "210"),
        // Three are.
        (150, 300, "150"),
    ] {
        let mut core = every("60", "30");
        core.ok(&format!("guard.recur {paused} pause {{}} r"));
        let row = format!("done  {next}");
        assert_eq!(
            said(&mut core, &format!("guard.recur {resumed} resume r")),
            [row]
        );
        let due = if paused < 30 {
            0
        } else {
            (paused - 30) / 60 + 1
        };
        let spawned = core.jids(&format!("pop {resumed} q w1 50"));
        assert_eq!(spawned.len(), due, "{paused} {resumed}: {spawned:?}");
        core.must_be_clean(resumed.into(), Default::default());
    }
}

#[test]
fn a_jid_that_was_used_again_is_not_overwritten() {
    let mut core = every("60", "30");
    core.ok("guard.recur 1 pause {} r");
    core.ok("recur 2 p r New {} interval 10 0");
    let before = core.dump();
    assert_eq!(said(&mut core, "guard.recur 3 resume r"), ["exists "]);
    assert_eq!(said(&mut core, "guard.recur 3 pause {} r"), ["exists "]);
    assert_eq!(core.dump(), before);
    assert_eq!(said(&mut core, "guard.recur 4 remove r"), ["done "]);
    assert!(!core.dump().has("ql:r:r") && !core.dump().has("ql:paused_recurring"));
    assert_eq!(said(&mut core, "guard.recur 5 remove r"), ["gone "]);
}

#[test]
fn the_next_run_is_set_with_other_fields_or_not_at_all() {
    let mut core = every("60", "30");
    assert_eq!(
        said(
            &mut core,
            "guard.recur 1 update 500.5 r interval 100 queue p"
        ),
        ["done  500.5"]
    );
    assert_eq!(core.score("ql:q:p-recur", "r"), Some(500.5));
    assert!(!core.dump().has("ql:q:q-recur"));
    let before = core.dump();
    core.refused("guard.recur 1 update soon r");
    core.refused("guard.recur 1 update 700 r interval 0");
    core.refused("guard.recur 1 nonsense {} r");
    core.refused("guard.recur 1 pause nonsense r");
    assert_eq!(
        said(&mut core, "guard.recur 1 update 700 nope priority 1"),
        ["gone "]
    );
    assert_eq!(core.dump(), before);
    core.ok("guard.recur 1 pause {} r");
    // A paused one is changed, and stays paused.
    assert_eq!(said(&mut core, "guard.recur 1 update 700 r"), ["done  700"]);
    assert!(!core.dump().has("ql:r:r"));
    assert_eq!(said(&mut core, "guard.recur 1 resume r"), ["done  700"]);
}

#[test]
fn keys_of_wrong_types_refuse_a_pause_before_any_write() {
    for damage in [
        "SET ql:paused_recurring x",
        "DEL ql:q:q-recur\nSET ql:q:q-recur x",
        "HSET ql:paused_recurring r nonsense",
    ] {
        let mut core = every("60", "30");
        for line in damage.lines() {
            core.redis(line);
        }
        let before = core.dump();
        let outcome = said(&mut core, "guard.recur 3 pause {} r");
        assert!(outcome[0].starts_with("invalid "), "{outcome:?}");
        assert_eq!(core.dump(), before);
    }
}
