//! Dependencies: how jobs get them, how jobs are released, and which leftovers are allowed.

use serde_json::json;

use crate::support::core::{Core, short};

/// `a` waits in `q`; `b` depends on it.
fn chain() -> Core {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    core.ok(r#"put 1 w q b K {} 0 depends ["a"]"#);
    core.events();
    core
}

fn finish(core: &mut Core, now: u32, jid: &str) {
    assert_eq!(core.jids(&format!("pop {now} q w1 1")), [jid]);
    core.ok(&format!("complete {now} {jid} w1 q {{}}"));
}

#[test]
fn a_dependency_is_stored_on_both_jobs() {
    let mut core = chain();
    assert_eq!(core.json("get 2 a")["dependents"], json!(["b"]));
    let job = core.json("get 2 b");
    assert_eq!(
        (&job["state"], &job["dependencies"]),
        (&json!("depends"), &json!(["a"]))
    );
    assert_eq!(core.ok("jobs 2 depends q").texts(), ["b"]);
    assert_eq!(core.score("ql:q:q-depends", "b"), Some(1.0));
}

#[test]
fn completion_releases_dependents_without_events() {
    let mut core = chain();
    finish(&mut core, 5, "a");
    assert_eq!(core.state("b"), "waiting");
    assert_eq!(core.score("ql:q:q-work", "b"), Some(-5.0 / 1e10));
    assert_eq!(
        core.published(),
        [r#"ql:log {"jid":"a","event":"completed","queue":"q"}"#]
    );
    assert_eq!(core.history("b").len(), 1);
}

#[test]
fn a_job_is_released_after_its_last_dependency() {
    let mut core = chain();
    core.ok(r#"put 1 w q c K {} 0 depends ["a","b"]"#);
    finish(&mut core, 5, "a");
    assert_eq!(core.state("c"), "depends");
    finish(&mut core, 6, "b");
    assert_eq!(core.state("c"), "waiting");
}

#[test]
fn a_delay_applies_after_the_last_dependency() {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    core.ok(r#"put 0 w q b K {} 50 depends ["a"]"#);
    core.ok(r#"put 0 w q c K {} 3 depends ["a"]"#);
    finish(&mut core, 5, "a");
    assert_eq!(core.state("b"), "scheduled");
    assert_eq!(core.score("ql:q:q-scheduled", "b"), Some(50.0));
    // Even if the time has passed by then.
    assert_eq!(core.score("ql:q:q-scheduled", "c"), Some(3.0));
    assert_eq!(core.field("b", "scheduled"), None);
}

#[test]
fn missing_and_complete_jobs_are_satisfied() {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    finish(&mut core, 1, "a");
    core.ok(r#"put 2 w q b K {} 0 depends ["a","gone"]"#);
    assert_eq!(core.state("b"), "waiting");
    assert!(!core.dump().has("ql:j:a-dependents"));
}

#[test]
fn stalled_and_failed_jobs_are_not_satisfied() {
    let mut core = super::errors::one_of_each();
    for state in &super::errors::STATES[..6] {
        core.ok(&format!(
            r#"put 9 w p on-{state} K {{}} 0 depends ["{state}"]"#
        ));
        assert_eq!(core.state(&format!("on-{state}")), "depends");
    }
    core.ok(r#"put 9 w p on-template K {} 0 depends ["template"]"#);
    assert_eq!(core.state("on-template"), "waiting");
}

#[test]
fn a_failed_job_blocks_its_dependents() {
    let mut core = chain();
    core.all("pop 2 q w1 1; fail 3 a w1 G M");
    assert_eq!(core.state("b"), "depends");
    core.ok("unfail 4 q G");
    finish(&mut core, 5, "a");
    assert_eq!(core.state("b"), "waiting");
}

#[test]
fn advancing_releases_no_dependents() {
    let mut core = chain();
    core.all("pop 2 q w1 1; complete 3 a w1 q {} next p");
    assert_eq!(core.state("b"), "depends");
    core.all("pop 4 p w1 1; complete 5 a w1 p {}");
    assert_eq!(core.state("b"), "waiting");
}

#[test]
fn d_35_putting_again_without_dependencies_keeps_the_old_ones() {
    let mut core = chain();
    core.ok("put 2 w p b K {} 0 depends []");
    assert_eq!(core.state("b"), "depends");
    assert_eq!(core.score("ql:q:p-depends", "b"), Some(2.0));
    assert_eq!(core.score("ql:q:q-depends", "b"), None);
    core.ok(r#"put 3 w p b K {} 0 depends ["gone"]"#);
    assert_eq!(core.state("b"), "waiting");
    assert!(!core.dump().has("ql:j:a-dependents"));
}

#[test]
fn putting_again_with_other_dependencies_drops_the_old_ones() {
    let mut core = chain();
    core.ok("put 1 w q c K {} 0");
    core.ok(r#"put 2 w q b K {} 0 depends ["c"]"#);
    assert_eq!(core.json("get 3 b")["dependencies"], json!(["c"]));
    assert_eq!(core.json("get 3 a")["dependents"], json!({}));
}

#[test]
fn d_70_a_dependency_on_oneself_is_satisfied() {
    let mut core = chain();
    core.ok(r#"put 2 w q c K {} 0 depends ["c"]"#);
    assert_eq!(core.state("c"), "waiting");
    core.ok(r#"put 3 w q c K {} 0 depends ["c"]"#);
    assert_eq!(core.state("c"), "waiting");
    core.ok("depends 4 b on b");
    assert_eq!(core.json("get 5 b")["dependencies"], json!(["a"]));
}

#[test]
fn d_23_putting_again_without_a_delay_clears_the_old_delay() {
    let mut core = chain();
    core.ok(r#"put 2 w q c K {} 100 depends ["a"]"#);
    core.ok("put 3 w q c K {} 0");
    assert_eq!(core.field("c", "scheduled"), None);
    finish(&mut core, 5, "a");
    assert_eq!(core.state("c"), "waiting");
}

#[test]
fn dependencies_can_be_added_and_dropped() {
    let mut core = chain();
    core.all("put 1 w q c K {} 0; put 1 w q d K {} 0");
    assert_eq!(core.ok("depends 2 b on c d gone").int(), 1);
    let mut names = core.json("get 3 b")["dependencies"]
        .as_array()
        .unwrap()
        .clone();
    names.sort_by_key(|name| name.to_string());
    assert_eq!(names, [json!("a"), json!("c"), json!("d")]);
    assert_eq!(core.ok("depends 4 b off a d").int(), 1);
    assert_eq!(core.json("get 5 b")["dependencies"], json!(["c"]));
    assert_eq!(core.ok("depends 6 b off gone").int(), 1);
    assert_eq!(core.ok("depends 6 b off").int(), 1);
    assert_eq!(core.ok("depends 6 b on").int(), 1);
    assert_eq!(core.state("b"), "depends");
    assert_eq!(core.ok("depends 7 b off c").int(), 1);
    assert_eq!(core.state("b"), "waiting");
    assert_eq!(core.score("ql:q:q-work", "b"), Some(-7.0 / 1e10));
    assert!(
        core.events()
            .iter()
            .all(|(_, payload)| payload.contains(r#""event":"put""#))
    );
}

#[test]
fn all_dependencies_can_be_dropped_together() {
    let mut core = chain();
    core.all("put 1 w q c K {} 0; depends 2 b on c; depends 3 b off all");
    assert_eq!(core.state("b"), "waiting");
    let dump = core.dump();
    assert!(!dump.has("ql:j:a-dependents") && !dump.has("ql:j:c-dependents"));
    assert!(!dump.has("ql:j:b-dependencies") && !dump.has("ql:q:q-depends"));
}

#[test]
fn d_32_dropping_the_last_dependency_respects_a_future_delay() {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    core.ok(r#"put 0 w q b K {} 50 depends ["a"]"#);
    core.ok(r#"put 0 w q c K {} 3 depends ["a"]"#);
    core.all("depends 5 b off all; depends 5 c off a");
    assert_eq!(core.score("ql:q:q-scheduled", "b"), Some(50.0));
    assert_eq!(
        (core.state("b"), core.state("c")),
        ("scheduled".into(), "waiting".into())
    );
    assert_eq!(
        (core.field("b", "scheduled"), core.field("c", "scheduled")),
        (None, None)
    );
}

#[test]
fn a_job_is_cancelled_with_its_dependents_in_any_order() {
    let mut core = chain();
    core.ok(r#"put 1 w q c K {} 0 depends ["b"]"#);
    let error = core.refused("cancel 2 a b");
    assert_eq!(
        short(&error),
        "user_script:N: Cancel(): b is a dependency of c but is not mentioned to be canceled"
    );
    assert_eq!(core.ok("cancel 2 c a b").texts(), ["c", "a", "b"]);
    let left: Vec<String> = core.dump().0.into_keys().collect();
    assert_eq!(left, ["ql:queues"]);
}

#[test]
fn cancelling_a_dependent_removes_it_from_its_dependency() {
    let mut core = chain();
    core.ok("cancel 2 b");
    assert_eq!(core.json("get 3 a")["dependents"], json!({}));
}

#[test]
fn d_17_a_leftover_entry_restarts_no_job() {
    let mut core = chain();
    core.all("put 1 w p run K {} 0; pop 1 p w2 1; put 1 w p done K {} 0; pop 1 p w2 1; complete 2 done w2 p {}");
    core.redis("SADD ql:j:a-dependents run done gone");
    core.events();
    finish(&mut core, 5, "a");
    assert_eq!(
        (core.state("run"), core.state("done")),
        ("running".into(), "complete".into())
    );
    assert_eq!(core.state("b"), "waiting");
    let dump = core.dump();
    assert!(!dump.has("ql:j:gone") && !dump.has("ql:j:a-dependents") && !dump.has("ql:q:p-work"));
}

#[test]
fn d_59_a_leftover_entry_does_not_block_a_cancel() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 0 w q other K {} 0");
    core.redis("SADD ql:j:a-dependents gone other");
    assert_eq!(core.ok("cancel 1 a").texts(), ["a"]);
    assert!(!core.dump().has("ql:j:a-dependents"));
}

#[test]
fn d_57_a_cancelled_or_expired_job_leaves_no_keys() {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    core.redis("SADD ql:j:a-dependents gone");
    core.ok("cancel 1 a");
    assert!(!core.dump().has("ql:j:a-dependents"));
    core.ok("put 0 w q a K {} 0");
    finish(&mut core, 2, "a");
    core.redis("SADD ql:j:a-dependents gone");
    core.redis("SADD ql:j:a-dependencies gone");
    core.all("config.set 2 jobs-history-count 1; put 3 w q b K {} 0");
    finish(&mut core, 4, "b");
    let dump = core.dump();
    assert!(
        !dump.has("ql:j:a") && !dump.has("ql:j:a-dependents") && !dump.has("ql:j:a-dependencies")
    );
}

#[test]
fn d_14_d_19_dependencies_are_a_list_of_ids() {
    let mut core = chain();
    core.all("put 1 w p run K {} 0; pop 1 p w2 1");
    for depends in ["[[]]", "[{}]", "5"] {
        core.refused(&format!(
            "complete 3 run w2 p {{}} next q depends {depends}"
        ));
        core.refused(&format!("put 3 w q run K {{}} 0 depends {depends}"));
    }
    assert_eq!(core.state("run"), "running");
    assert!(core.score("ql:q:p-locks", "run").is_some());
}

#[test]
fn a_dependency_named_twice_counts_once() {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    core.ok(r#"put 0 w q b K {} 0 depends ["a","a"]"#);
    finish(&mut core, 1, "a");
    assert_eq!(core.state("b"), "waiting");
}

#[test]
fn d_14_d_19_an_object_names_no_dependency() {
    for object in [r#"{"a":"b"}"#, r#"{"1":"a"}"#] {
        let mut core = chain();
        core.all("put 1 w p run K {} 0; pop 1 p w2 1");
        core.ok(&format!("put 2 w q new K {{}} 0 depends {object}"));
        assert_eq!(core.state("new"), "waiting", "{object}");
        // As with an empty list, nothing is dropped.
        let before = core.dump().set("ql:j:b-dependencies");
        core.ok(&format!("requeue 2 w q b K {{}} 0 depends {object}"));
        assert_eq!(core.dump().set("ql:j:b-dependencies"), before, "{object}");
        let line = format!("complete 3 run w2 p {{}} next q delay 30 depends {object}");
        assert_eq!(core.ok(&line).text(), "scheduled", "{object}");
        core.refused(&format!("guard.put 4 {{}} 7 q k K {{}} 0 depends {object}"));
    }
}
