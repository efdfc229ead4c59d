//! Tags and tracking: indexes to find jobs again.

use serde_json::json;

use crate::support::core::{Core, Reply};

fn counters(core: &mut Core) -> Vec<(String, f64)> {
    core.dump().zset("ql:tags").into_iter().collect()
}

#[test]
fn tags_are_added_in_order_and_removed() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    assert_eq!(core.json("tag 1 add j b a"), json!(["b", "a"]));
    assert_eq!(core.json("tag 2 add j c a"), json!(["b", "a", "c"]));
    assert_eq!(core.json("tag 3 remove j a nope"), json!(["b", "c"]));
    assert_eq!(core.json("tag 4 remove j b c"), json!({}));
    assert_eq!(core.json("tag 4 add j"), json!({}));
    assert_eq!(core.field("j", "tags").as_deref(), Some("{}"));
    assert!(
        core.events()
            .iter()
            .all(|(_, payload)| payload.contains("put"))
    );
}

#[test]
fn tagged_jobs_are_paged_oldest_first() {
    let mut core = Core::new();
    core.all("put 3 w q a K {} 0; put 1 w q b K {} 0; put 1 w q c K {} 0");
    core.all("tag 3 add a t; tag 1 add b t; tag 1 add c t");
    assert_eq!(
        core.json("tag 9 get t"),
        json!({"total": 3, "jobs": ["b", "c", "a"]})
    );
    assert_eq!(
        core.json("tag 9 get t 1 1"),
        json!({"total": 3, "jobs": ["c"]})
    );
    assert_eq!(core.json("tag 9 get t 5"), json!({"total": 3, "jobs": {}}));
    assert_eq!(core.json("tag 9 get t 0 0")["jobs"], json!(["b", "c", "a"]));
    assert_eq!(core.json("tag 9 get t 0 -1")["jobs"], json!(["b", "c"]));
    assert_eq!(core.json("tag 9 get t -1")["jobs"], json!(["a"]));
    assert_eq!(core.json("tag 9 get nope"), json!({"total": 0, "jobs": {}}));
}

#[test]
fn top_tags_have_at_least_two_jobs() {
    let mut core = Core::new();
    for (jid, tags) in [("a", "x y z"), ("b", "x y"), ("c", "x")] {
        core.all(&format!("put 0 w q {jid} K {{}} 0; tag 0 add {jid} {tags}"));
    }
    assert_eq!(core.json("tag 1 top"), json!(["x", "y"]));
    assert_eq!(core.json("tag 1 top 1 5"), json!(["y"]));
    assert_eq!(core.json("tag 1 top 9"), json!({}));
    core.ok("tag 2 add c y");
    assert_eq!(core.json("tag 3 top"), json!(["y", "x"]));
}

#[test]
fn d_48_only_real_changes_are_counted() {
    let mut core = Core::new();
    core.ok(r#"put 0 w q j K {} 0 tags ["x","x"]"#);
    assert_eq!(core.json("get 0 j")["tags"], json!(["x"]));
    core.all("tag 1 add j x x y; tag 2 remove j nope; tag 3 add j y");
    assert_eq!(counters(&mut core), [("x".into(), 1.0), ("y".into(), 1.0)]);
    core.ok(r#"put 4 w q j K {} 0 tags ["y","z"]"#);
    assert_eq!(counters(&mut core), [("y".into(), 1.0), ("z".into(), 1.0)]);
    core.ok("cancel 5 j");
    assert!(counters(&mut core).is_empty());
}

#[test]
fn d_48_tags_are_texts() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0 tags [1,\"b\"]");
    let tags = core.json("get 0 j")["tags"].clone();
    assert_eq!(tags, json!(["1", "b"]));
    assert_eq!(core.json("tag 0 get 1")["jobs"], json!(["j"]));
    core.ok("tag 1 add j 123456789012345678");
    assert_eq!(core.json("tag 1 get 123456789012345678")["total"], 1);
    core.ok("cancel 2 j");
    assert!(!core.dump().0.keys().any(|key| key.starts_with("ql:t")));
}

#[test]
fn d_54_tagging_again_makes_it_newer() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 0 w q b K {} 0; tag 1 add a t; tag 2 add b t; tag 3 add a t");
    assert_eq!(core.json("tag 4 get t")["jobs"], json!(["b", "a"]));
}

#[test]
fn tags_can_be_changed_in_every_state() {
    let mut core = super::errors::one_of_each();
    for state in super::errors::STATES {
        assert_eq!(core.json(&format!("tag 9 add {state} t")), json!(["t"]));
    }
    assert_eq!(core.json("tag 9 get t")["total"], 7);
    for state in super::errors::STATES {
        assert_eq!(core.json(&format!("tag 9 remove {state} t")), json!({}));
    }
}

#[test]
fn an_expired_job_is_removed_from_its_tags() {
    let mut core = Core::new();
    core.all("config.set 0 jobs-history-count 0; put 0 w q j K {} 0 tags [\"t\"]; pop 1 q w1 1; complete 2 j w1 q {}");
    assert_eq!(core.json("tag 3 get t")["total"], 0);
    assert!(!core.dump().has("ql:tags"));
}

#[test]
fn unreadable_tags_do_not_stop_a_change() {
    for line in [
        "tag 1 add j t",
        "tag 1 remove j t",
        "put 1 w q j K {} 0",
        "cancel 1 j",
    ] {
        let mut core = Core::new();
        core.ok("put 0 w q j K {} 0");
        core.redis("HSET ql:j:j tags {]");
        core.ok(line);
    }
}

#[test]
fn tags_may_hold_any_bytes() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    core.call(&[b"tag", b"1", b"add", b"j", b"a/b\"\\\x01", b"", b"\xff"])
        .unwrap();
    assert_eq!(core.json("tag 2 get ''")["jobs"], json!(["j"]));
    core.call(&[b"tag", b"3", b"remove", b"j", b"a/b\"\\\x01", b"", b"\xff"])
        .unwrap();
    assert!(!core.dump().has("ql:tags"));
}

// tracking

#[test]
fn a_tracked_job_is_listed_with_its_fields() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 0 w q b K {} 0");
    core.events();
    assert_eq!(core.ok("track 2 track b").text(), "1");
    assert_eq!(core.ok("track 3 TRACK a").text(), "1");
    assert_eq!(core.ok("track 4 track b").text(), "0");
    let listed = core.json("track 5");
    assert_eq!(
        (&listed["jobs"][0]["jid"], &listed["jobs"][1]["jid"]),
        (&json!("a"), &json!("b"))
    );
    assert_eq!(listed["jobs"][0]["tracked"], true);
    assert_eq!(listed["expired"], json!({}));
    assert_eq!(core.published(), ["ql:track b", "ql:track a", "ql:track b"]);
    assert_eq!(core.ok("track 6 Untrack a").text(), "1");
    assert_eq!(core.ok("track 6 untrack a").text(), "0");
    assert_eq!(core.json("get 7 a")["tracked"], false);
}

#[test]
fn every_change_of_a_tracked_job_is_published() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0 retries 0; track 0 track j");
    core.events();
    let published = |core: &mut Core, line: &str| -> Vec<String> {
        core.ok(line);
        let events = core
            .events()
            .into_iter()
            .filter(|(_, payload)| payload == "j");
        events.map(|(channel, _)| channel).collect()
    };
    assert_eq!(published(&mut core, "put 1 w q j K {} 0"), ["ql:put"]);
    assert_eq!(published(&mut core, "pop 2 q w1 1"), ["ql:popped"]);
    assert_eq!(published(&mut core, "pop 100 q w1 1"), ["ql:stalled"]);
    assert_eq!(published(&mut core, "pop 110 q w1 1"), ["ql:failed"]);
    assert!(published(&mut core, "unfail 111 q failed-retries-q").is_empty());
    assert_eq!(published(&mut core, "pop 112 q w1 1"), ["ql:popped"]);
    assert_eq!(
        published(&mut core, "complete 113 j w1 q {} next p"),
        ["ql:completed"]
    );
    assert_eq!(published(&mut core, "pop 114 p w1 1"), ["ql:popped"]);
    assert_eq!(published(&mut core, "fail 115 j w1 G M"), ["ql:failed"]);
    assert_eq!(published(&mut core, "cancel 116 j"), ["ql:canceled"]);
}

#[test]
fn d_55_an_id_without_a_job_can_be_untracked_if_it_is_tracked() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; track 0 track j; cancel 1 j");
    core.events();
    let error = core.refused("track 2 track j");
    assert!(error.contains("Track(): Job does not exist"), "{error}");
    assert_eq!(core.ok("track 2 untrack j").text(), "1");
    assert_eq!(core.published(), ["ql:untrack j"]);
    assert!(!core.dump().has("ql:tracked"));
    let error = core.refused("track 3 untrack j");
    assert!(error.contains("Track(): Job does not exist"), "{error}");
}

#[test]
fn d_58_an_expired_job_stays_tracked() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; track 0 track j; config.set 0 jobs-history-count 0; pop 1 q w1 1; complete 2 j w1 q {}");
    assert_eq!(core.json("track 3"), json!({"jobs": {}, "expired": ["j"]}));
    assert_eq!(core.ok("get 3 j"), Reply::Nil);
}

#[test]
fn d_48_tags_that_are_an_object_are_none() {
    for object in [r#"{"a":"b"}"#, r#" {"1":"x"}"#, "{}"] {
        let mut core = Core::new();
        for command in ["put", "requeue"] {
            core.ok(r#"put 0 w q j K {} 0 tags ["x"]"#);
            core.ok(&format!("{command} 1 w q j K {{}} 0 tags '{object}'"));
            assert_eq!(core.field("j", "tags").as_deref(), Some("{}"), "{object}");
            assert!(counters(&mut core).is_empty(), "{object}");
        }
        core.ok("tag 2 add j y");
        assert_eq!(core.json("get 3 j")["tags"], json!(["y"]));
    }
    let mut core = Core::new();
    core.refused(r#"guard.put 1 {} 7 q j K {} 0 tags {"a":"b"}"#);
}
