//! `bury`: a job that has not started becomes failed.

use serde_json::json;

use crate::check::invariants::Excuses;
use crate::support::core::{Core, Reply};

/// `w` waits, `s` is scheduled, `d` depends on `w`, `t` is stalled.
fn core() -> Core {
    let mut core = Core::new();
    core.all("put 1 w q t K {} 0; pop 2 q w1 1; timeout 3 t");
    core.all("put 4 w q w K {} 0; put 5 w q s K {} 60; put 6 w q d K {} 60 depends [\"w\"]");
    core.events();
    core
}

#[test]
fn a_job_in_each_state_before_a_run_becomes_failed_as_by_fail() {
    for jid in ["w", "s", "d", "t"] {
        let mut core = core();
        assert_eq!(
            core.ok(&format!("bury 9.5 {jid} G M")),
            Reply::Text(jid.into())
        );
        let job = core.json(&format!("get 10 {jid}"));
        assert_eq!(job["state"], "failed", "{jid}");
        assert_eq!(job["queue"], "q");
        assert_eq!(
            job["failure"],
            json!({"group": "G", "message": "M", "when": 9, "worker": ""})
        );
        assert_eq!((&job["worker"], &job["expires"]), (&json!(""), &json!(0)));
        assert_eq!(
            core.history(jid).last().unwrap(),
            r#"[9,"failed",{"group":"G","worker":""}]"#
        );
        assert_eq!(core.json("failed 10 G")["jobs"], json!([jid]));
        let stats = core.json("stats 10 q 10");
        assert_eq!(
            (&stats["failures"], &stats["failed"]),
            (&json!(1), &json!(1))
        );
        assert_eq!(core.field(jid, "scheduled"), None);
        for set in ["work", "scheduled", "depends", "locks"] {
            assert_eq!(
                core.score(&format!("ql:q:q-{set}"), jid),
                None,
                "{jid} {set}"
            );
        }
        assert!(!core.dump().has(&format!("ql:j:{jid}-dependencies")));
        core.must_be_clean(10.0, Excuses::default());
    }
}

#[test]
fn the_event_and_the_tracked_jid_are_published_as_by_fail() {
    let mut core = core();
    core.ok("track 7 track w");
    core.events();
    core.ok("bury 9 w G M");
    let events = core.published();
    assert_eq!(
        events,
        [
            r#"ql:log {"message":"M","jid":"w","group":"G","event":"failed","worker":""}"#,
            "ql:failed w"
        ]
    );
}

#[test]
fn dependents_of_a_buried_job_stay() {
    let mut core = core();
    core.ok("bury 9 w G M");
    let job = core.json("get 10 d");
    assert_eq!(
        (&job["state"], &job["dependencies"]),
        (&json!("depends"), &json!(["w"]))
    );
    core.all("unfail 11 q G; pop 12 q w1 9; complete 13 w w1 q {}");
    assert_eq!(core.json("get 14 d")["state"], "scheduled");
}

#[test]
fn a_buried_job_depends_on_nothing_any_more() {
    let mut core = core();
    core.all("bury 9 d G M; pop 10 q w1 9; complete 11 w w1 q {}");
    assert_eq!(core.json("get 12 d")["state"], "failed");
    core.ok("unfail 13 q G");
    assert_eq!(core.jids("pop 14 q w2 9"), ["d"]);
}

#[test]
fn other_jobs_are_refused_and_stay() {
    let mut core = core();
    core.all(
        "put 7 w r r K {} 0; pop 7 r w1 1; put 7 w r c K {} 0; pop 7 r w2 1; complete 7 c w2 r {}",
    );
    core.all("put 7 w r f K {} 0; pop 7 r w2 1; fail 7 f w2 G M");
    for (line, why) in [
        ("bury 9", "Job(): no jid provided"),
        ("bury 9 w", r#"Bury(): Arg "group" missing"#),
        ("bury 9 w G", r#"Bury(): Arg "message" missing"#),
        ("bury 9 nope G M", "Bury(): Job nope does not exist"),
        ("bury 9 r G M", "Bury(): Job r is running"),
        ("bury 9 c G M", "Bury(): Job c is complete"),
        ("bury 9 f G M", "Bury(): Job f is failed"),
    ] {
        let error = core.refused(line);
        assert!(error.contains(why), "{line}: {error}");
    }
}

#[test]
fn a_guarded_bury_needs_the_mark_and_leaves_a_note() {
    let mut core = core();
    let mark = core.ok("look.jobs 9 mark w").list()[0]
        .field("mark")
        .unwrap()
        .text()
        .to_owned();
    let note = r#"{"verb":"bury"}"#;
    let reply = core.ok(&format!("guard.call 9 w waiting:0:0:q '{note}' bury w G M"));
    assert_eq!(reply.list()[0].text(), "state_changed");
    let reply = core.ok(&format!("guard.call 9 w {mark} '{note}' bury w G M"));
    assert_eq!(reply.list()[0].text(), "done");
    assert_eq!(
        core.history("w").last().unwrap(),
        r#"[9,"cli",{"verb":"bury"}]"#
    );
    assert_eq!(core.json("get 10 w")["state"], "failed");
}

#[test]
fn a_buried_job_that_a_throttle_held_leaves_it() {
    let mut core = Core::new();
    core.all("throttle.set 0 t 1; put 1 w q a K {} 0 throttles [\"t\"]; pop 2 q w1 1");
    core.ok("put 3 w q b K {} 0 throttles [\"t\"]");
    assert_eq!(core.state("b"), "throttled");
    core.ok("bury 4 b G M");
    assert_eq!(core.state("b"), "failed");
    assert_eq!(core.json("throttle.pending 5 t"), json!([]));
    assert!(!core.dump().has("ql:q:q-throttled"));
    core.ok("complete 6 a w1 q {}");
    assert_eq!(core.state("b"), "failed");
    core.ok("unfail 7 q G");
    assert_eq!(core.jids("pop 8 q w1 9"), ["b"]);
}

#[test]
fn a_buried_job_gives_back_the_slot_that_it_kept() {
    let mut core = Core::new();
    core.all("throttle.set 0 t 1; put 1 w q a K {} 0 throttles [\"t\"]; pop 2 q w1 1; timeout 3 a");
    core.all("put 4 w q b K {} 0 throttles [\"t\"]; bury 5 a G M");
    assert_eq!(core.jids("pop 6 q w1 9"), ["b"]);
}

#[test]
fn a_buried_job_leaves_its_lane_and_the_next_one_runs() {
    let mut core = Core::new();
    core.all("put 1 w q a K {} 0 key k; put 2 w q b K {} 0 key k; put 3 w q c K {} 0 key k");
    let lane = |core: &mut Core| {
        let jobs = core.json("key.get 9 q/k")["jobs"].clone();
        let jobs = jobs.as_array().into_iter().flatten();
        jobs.map(|job| format!("{} {}", job["jid"], job["state"]).replace('"', ""))
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(lane(&mut core), "a waiting, b depends, c depends");
    core.ok("bury 4 b G M");
    assert_eq!(lane(&mut core), "a waiting, c depends");
    assert_eq!(core.json("get 5 c")["dependencies"], json!(["a"]));
    core.ok("bury 5 a G M");
    assert_eq!(lane(&mut core), "c waiting");
    assert!(!core.dump().has("ql:j:b-dependencies"));
    core.ok("unfail.jobs 6 q G b");
    assert_eq!(lane(&mut core), "c waiting, b depends");
    assert_eq!(core.jids("pop 7 q w1 9"), ["c"]);
}

#[test]
fn a_buried_job_with_hold_keeps_its_place_and_blocks_its_lane() {
    let mut core = Core::new();
    core.all("put 1 w q a K {} 0 key k; put 2 w q b K {} 0 key k hold 1; put 3 w q c K {} 0 key k");
    core.ok("bury 4 b G M");
    core.all("pop 5 q w1 9; complete 6 a w1 q {}");
    assert_eq!(core.ok("pop 7 q w1 9").text(), "{}");
    assert_eq!(
        (core.state("b"), core.state("c")),
        ("failed".into(), "depends".into())
    );
    core.ok("unfail 8 q G");
    assert_eq!(core.jids("pop 9 q w1 9"), ["b"]);
    core.ok("complete 10 b w1 q {}");
    assert_eq!(core.jids("pop 11 q w1 9"), ["c"]);
}

#[test]
fn a_merge_job_is_buried_as_a_whole() {
    let mut core = Core::new();
    core.all(
        "put 1 w q a K 1 0 key k dup merge score 1; put 2 w q b K 2 0 key k dup merge score 2",
    );
    core.ok("bury 3 a G M");
    let job = core.json("get 4 a");
    assert_eq!(
        (&job["state"], &job["data"]),
        (&json!("failed"), &json!("[1,2]"))
    );
    core.all("put 5 w q c K 3 0 key k dup merge score 3; unfail.jobs 6 q G a");
    assert_eq!(core.json("get 7 c")["data"], "[1,2,3]");
    assert_eq!(core.ok("get 7 a"), Reply::Nil);
    assert_eq!(core.json("failed 7"), json!({}));
}
