//! Rules of the core itself: the number of commands,
//! recurring jobs that do not overlap, uniqueness windows, replacement, fixed windows.

use serde_json::json;

use super::foreign::FOREIGN;
use crate::core::cost::commands;
use crate::support::core::{Core, Reply};

/// The commands of Redis that one call runs.
fn cost(core: &mut Core, line: &str) -> u64 {
    commands(core, &[line.to_owned()])
}

/// A core after these calls.
fn after(lines: &str) -> Core {
    let mut core = Core::new();
    core.all(lines);
    core
}

/// Asserts that a call with an extension costs at most `extra` commands more than the same call of a
/// plain job. Both are made on a core of their own, after their preparations.
#[track_caller]
fn costs_more(plain: (&str, &str), extended: (&str, &str), extra: u64) {
    let base = cost(&mut after(plain.0), plain.1);
    let seen = cost(&mut after(extended.0), extended.1);
    assert!(
        seen <= base + extra,
        "`{}` runs {seen} commands, `{}` {base}: more than {extra} beside",
        extended.1,
        plain.1
    );
}

/// A call that meets a job with any extension reads its further fields by one command. In return,
/// all other jobs cost one field more, and no command. The commands of qless-core differ: its
/// plain `put`, `pop` and `get` run 12, 37 and 6 commands where this core runs 8, 16 and 3.
const FIELDS: u64 = 1;

const PUT: (&str, &str) = ("put 0 me q x K {} 0", "put 2 me q j K {} 0");

#[test]
fn c2_a_put_with_a_key_costs_4_commands_more_and_9_behind_another_job() {
    costs_more(PUT, (PUT.0, "put 2 me q j K {} 0 key k"), 4);
    let before = "put 0 me q x K {} 0 key k";
    costs_more(PUT, (before, "put 2 me q j K {} 0 key k"), 9);
}

#[test]
fn c2_a_merging_put_runs_at_most_8_commands_and_a_skipped_one_5() {
    let mut core = after("put 0 me q x K 1 0 key k dup merge score 1");
    let seen = cost(&mut core, "put 2 me q j K 2 0 key k dup merge score 2");
    assert!(seen <= 8 + FIELDS, "a merge at the end: {seen}");
    let seen = cost(&mut core, "put 3 me q j K 0 0 key k dup merge score 0");
    assert!(seen <= 8 + FIELDS, "a merge at the begin: {seen}");
    assert_eq!(core.data("x"), "[0,1,2]");
    let mut core = after("put 0 me q x K 1 0 key k dup skip");
    let seen = cost(&mut core, "put 2 me q j K 2 0 key k dup skip");
    assert!(seen <= 5, "a skip: {seen}");
    let mut core = after("put 0 me q x K 1 0 key k dup skip ttl 50; cancel 1 nobody");
    let seen = cost(&mut core, "put 2 me q j K 2 0 key k dup skip");
    assert!(seen <= 5, "a skip by its window: {seen}");
}

#[test]
fn c2_each_throttle_costs_2_commands_in_a_put() {
    costs_more(PUT, (PUT.0, r#"put 2 me q j K {} 0 throttles ["t"]"#), 2);
    costs_more(
        PUT,
        (PUT.0, r#"put 2 me q j K {} 0 throttles ["t","u","v"]"#),
        6,
    );
}

#[test]
fn c2_a_back_off_and_queue_defaults_cost_no_command_in_a_put() {
    costs_more(PUT, (PUT.0, "put 2 me q j K {} 0 backoff exp:5"), 0);
    let before = r#"put 0 me q x K {} 0; config.set 1 q-defaults {"backoff":"exp:5","retries":3}"#;
    costs_more(PUT, (before, PUT.1), 0);
}

const POP: (&str, &str) = ("put 0 me q j K {} 0", "pop 2 q w1 1");

#[test]
fn c2_a_pop_costs_1_command_more_for_a_key_3_for_each_throttle_and_1_for_the_fence() {
    costs_more(POP, ("put 0 me q j K {} 0 key k", POP.1), 2 + FIELDS);
    costs_more(
        POP,
        (r#"put 0 me q j K {} 0 throttles ["t"]"#, POP.1),
        4 + FIELDS,
    );
    let two = r#"throttle.set 0 t 3; put 0 me q j K {} 0 throttles ["t","u"]"#;
    costs_more(POP, (two, POP.1), 7 + FIELDS);
    let both = r#"put 0 me q j K {} 0 key k throttles ["t"]"#;
    costs_more(POP, (both, POP.1), 5 + FIELDS);
}

#[test]
fn c2_holding_a_candidate_costs_about_8_commands_once() {
    let mut core = Core::new();
    core.many((0..100).map(|n| format!("put {n} me q j{n} K {{}} 0 lock one")));
    core.ok("pop 200 q w1 1");
    let all = cost(&mut core, "pop 201 q w1 1");
    assert!(all <= 99 * 9 + 20, "holding 99 candidates: {all}");
    let again = cost(&mut core, "pop 202 q w1 1");
    assert!(again <= 60, "they are not candidates again: {again}");
    // What is left is the re-check of ten held jobs, however many there are.
    let mut small = Core::new();
    small.many((0..20).map(|n| format!("put {n} me q j{n} K {{}} 0 lock one")));
    small.all("pop 200 q w1 1; pop 201 q w1 1");
    let few = cost(&mut small, "pop 202 q w1 1");
    assert!(
        again.abs_diff(few) <= 10,
        "{again} with 99 held jobs, {few} with 19"
    );
}

#[test]
fn c2_the_end_of_a_keyed_job_costs_2_to_8_commands_more() {
    let plain = "put 0 me q j K {} 0; pop 1 q w1 1";
    let alone = "put 0 me q j K {} 0 key k; pop 1 q w1 1";
    let followed = "put 0 me q j K {} 0 key k; put 0 me q n K {} 0 key k; pop 1 q w1 1";
    for end in ["complete 2 j w1 q {}", "fail 2 j w1 G M", "cancel 2 j"] {
        costs_more((plain, end), (alone, end), 8 + FIELDS);
    }
    // The next job of a lane is released as a dependent is.
    let dependent = r#"put 0 me q j K {} 0; put 0 me q n K {} 0 depends ["j"]; pop 1 q w1 1"#;
    let complete = "complete 2 j w1 q {}";
    costs_more((dependent, complete), (followed, complete), 8 + FIELDS);
    costs_more(
        (plain, "retry 2 j q w1 5"),
        (followed, "retry 2 j q w1 5"),
        2 + FIELDS,
    );
}

#[test]
fn c2_the_end_of_a_throttled_job_costs_2_commands_and_8_for_each_woken_job() {
    let plain = "put 0 me q j K {} 0; pop 1 q w1 1";
    let alone = r#"put 0 me q j K {} 0 throttles ["t"]; pop 1 q w1 1"#;
    let pending = format!(
        "throttle.set 0 t 1; {alone}; {}",
        r#"put 2 me q n K {} 0 throttles ["t"]"#
    );
    for end in [
        "complete 2 j w1 q {}",
        "fail 2 j w1 G M",
        "retry 2 j q w1 5",
        "cancel 2 j",
    ] {
        costs_more((plain, end), (alone, end), 2 + FIELDS);
        costs_more((plain, end), (&pending, end), 10 + FIELDS);
    }
    let policy = "put 0 me q j K {} 0 backoff fixed:5; pop 1 q w1 1";
    // The policy is read before the call writes, the other fields after it.
    let retries = ("retry 2 j q w1 5", "retry 2 j q w1");
    costs_more((plain, retries.0), (policy, retries.1), 2 * FIELDS);
}

#[test]
fn c2_heartbeats_peeks_and_reads_cost_no_more() {
    let plain = "put 0 me q j K {} 0; pop 1 q w1 1";
    let extended = r#"put 0 me q j K {} 0 key k throttles ["t"] backoff fixed:5; pop 1 q w1 1"#;
    for line in ["heartbeat 2 j w1", "get 2 j", "multiget 2 j"] {
        let read = if line.contains("get") { FIELDS } else { 0 };
        costs_more((plain, line), (extended, line), read);
    }
    let (plain, extended) = ("put 0 me q j K {} 0", "put 0 me q j K {} 0 key k lock one");
    costs_more((plain, "peek 2 q 1"), (extended, "peek 2 q 1"), FIELDS);
    let merge = "put 0 me q j K {} 0 key k dup merge";
    costs_more((plain, "get 2 j"), (merge, "get 2 j"), 1 + FIELDS);
}

#[test]
fn c2_the_cost_does_not_grow_with_jobs_lanes_and_throttles() {
    let cycle = |core: &mut Core| {
        [
            "put 900 me q j K {} 0 key mine lock mine",
            "pop 901 q w1 1",
            "complete 902 j w1 q {}",
        ]
        .map(|line| cost(core, line))
    };
    let mut core = Core::new();
    let alone = cycle(&mut core);
    let mut core = Core::new();
    core.many((0..300).map(|n| format!("put 1 me q k{n} K {{}} 0 key k{} priority -1", n % 30)));
    core.many((0..300).map(|n| format!("put 2 me q t{n} K {{}} 0 lock l{} priority -1", n % 30)));
    assert_eq!(cycle(&mut core), alone);
}

#[test]
fn an_unfail_lists_its_queue_even_if_the_job_waits_in_its_lane() {
    let mut core = after(
        "put 0 me a j1 K {} 0 key /g; pop 1 a w1 1; fail 2 j1 w1 G M; put 3 me a j2 K {} 0 key /g",
    );
    // An older script may have left a further entry.
    core.redis("RPUSH ql:f:G j1");
    assert_eq!(core.ok("unfail 4 b G 1"), Reply::Int(1));
    assert_eq!(core.json("get 4 j1")["state"], "depends");
    assert_eq!(core.json("queues 4 b")["depends"], 1);
    assert!(core.score("ql:queues", "b").is_some(), "b is not listed");
    assert_eq!(core.ok("failed 4"), Reply::Text("{}".into()));
}

#[test]
fn an_unfail_brings_failed_jobs_back_in_the_order_of_their_lane() {
    let mut core = Core::new();
    for (at, jid) in [(0, "c"), (10, "a"), (20, "b")] {
        core.ok(&format!("put {at} me q {jid} K {{}} 0 key k"));
        core.ok(&format!("pop {} q w1 1", at + 1));
        core.ok(&format!("fail {} {jid} w1 G M", at + 2));
    }
    assert_eq!(core.ok("unfail 30 q G 25"), Reply::Int(3));
    assert_eq!(core.lane("q/k"), ["c", "a", "b"]);
    assert_eq!(core.states("c a b"), "waiting depends depends");
}

#[test]
fn a_requeued_job_is_held_if_a_throttle_is_full() {
    let mut core = after(
        r#"throttle.set 0 t 1; put 1 me q a K {} 0 throttles ["t"]; pop 1 q w 1; put 2 me p b K {} 0 throttles ["t"]"#,
    );
    core.ok(r#"put 3 me p c K {} 0 throttles ["t"] priority 5"#);
    let line = r#"guard.requeue 4 {"from":["throttled"],"to":"q"} '' b '' '' c '' ''"#;
    let reply = core.ok(line);
    for row in reply.list() {
        let row = row.texts();
        assert_eq!(
            (&row[0][..], &row[2][..], &row[3][..]),
            ("done", "throttled", "q")
        );
    }
    assert_eq!(core.state("b"), "throttled");
    assert_eq!(core.keys_with("-throttled"), ["ql:q:q-throttled"]);
    assert_eq!(
        core.ok("throttle.pending 5 t"),
        Reply::Text(r#"["c","b"]"#.into())
    );
    let history = core.history("b");
    let last = history.last().unwrap();
    assert_eq!(last, r#"[4,"throttled",{"q":"q","throttle":"t"}]"#);
    // A job that is due later takes no notice of the throttle, nor does one that depends on another.
    core.ok(r#"guard.requeue 6 {"from":["throttled"]} '' b '' 90"#);
    assert_eq!(core.state("b"), "scheduled");
    // The holder frees its slot and takes its place among the others.
    core.ok(r#"guard.requeue 7 {"from":["running"]} '' a '' ''"#);
    assert_eq!(core.jids("pop 8 q w 5"), ["c"]);
    assert_eq!(core.state("a"), "throttled");
    core.ok("complete 9 c w q {}");
    assert_eq!(core.jids("pop 10 q w 5"), ["a"]);
    // What holds the job must be a sorted set, and is tested before anything is written.
    core.redis("SET ql:q:z-throttled x");
    let before = core.dump();
    let reply = core.ok(r#"guard.requeue 11 {"from":["scheduled"],"to":"z"} '' b '' ''"#);
    assert_eq!(reply.list()[0].texts()[0], "invalid");
    assert!(core.dump() == before);
}

#[test]
fn a_job_whose_lock_expired_and_that_is_held_keeps_no_slot() {
    let mut core = after(
        r#"throttle.set 0 t 1; throttle.set 0 u 1; put 1 me b j K {} 0 throttles ["t","u"]; pop 1 b w1 1"#,
    );
    core.all(
        r#"throttle.release 2 t j; put 2 me a k K {} 0 throttles ["t"]; pop 2 a w2 1; heartbeat 60 k w2"#,
    );
    core.all(r#"put 61 me a l K {} 0 throttles ["u"]; pop 61 a w2 1; pop 62 b w3 1"#);
    assert_eq!(
        core.ok("throttle.locks 62 u"),
        Reply::Text(r#"["j"]"#.into())
    );
    // `k` has the only slot of `t` now, so `j` may not run again, and lets `l` have that of `u`.
    assert_eq!(core.jids("pop 75 b w3 1"), [""; 0]);
    assert_eq!(core.json("get 75 j")["state"], "throttled");
    assert_eq!(core.ok("throttle.locks 75 u"), Reply::Text("[]".into()));
    assert_eq!(core.jids("pop 75 a w3 1"), ["l"]);
}

#[test]
fn a_job_that_waited_for_a_holder_whose_lock_expired_in_another_queue_is_popped_at_once() {
    let mut core = Core::new();
    core.all("config.set 0 grace-period 0; throttle.set 0 t 1");
    core.all(
        "put 1 me a j1 K {} 0 retries 0 key /g throttles [\"t\"]; put 2 me b j2 K {} 0 key /g",
    );
    core.ok("put 3 me b j3 K {} 0 priority 2 throttles [\"t\"]");
    assert_eq!(core.jids("pop 4 a w1 1"), ["j1"]);
    assert_eq!(core.states("j1 j2 j3"), "running depends waiting");
    // The pop fails j1 for the slot that j3 needs. The end of j1 puts j2 into the queue that is being popped.
    assert_eq!(core.jids("pop 101 b w2 5"), ["j3", "j2"]);
    assert_eq!(core.states("j1 j2 j3"), "failed running running");
}

#[test]
fn a_job_that_a_pop_holds_and_then_brings_back_is_popped() {
    let mut core = Core::new();
    core.all("config.set 0 grace-period 0; throttle.set 0 u 4; throttle.set 0 t 1");
    core.ok("put 1 me q j K {} 0 priority 5 throttles [\"u\"]");
    core.ok("put 1 me q k K {} 0 throttles [\"t\"]");
    for jid in ["r1", "r2", "r3"] {
        core.ok(&format!("put 1 me a {jid} K {{}} 0 throttles [\"u\"]"));
    }
    assert_eq!(core.jids("pop 2 a w1 3").len(), 3);
    core.ok("put 3 me b h K {} 0 retries 0 throttles [\"u\",\"t\"]");
    assert_eq!(core.jids("pop 4 b w2 1"), ["h"]);
    for jid in ["r1", "r2", "r3"] {
        core.ok(&format!("heartbeat 50 {jid} w1"));
    }
    // `h` is the fourth holder of `u`, so `j` is held. `k` finds the lock of `h` over, and its end wakes `j`.
    assert_eq!(core.jids("pop 100 q w3 5"), ["k", "j"]);
    assert_eq!(core.states("h j k"), "failed running running");
}

#[test]
fn a_pop_looks_again_at_all_held_jobs_if_they_are_up_to_ten() {
    // Whatever the second of the pop: only the job held last may run, and nobody woke it.
    for now in 101..110 {
        let mut core = Core::new();
        core.all(
            "throttle.set 0 t 1; throttle.set 0 u 1; put 1 me q holder K {} 0 throttles [\"t\"]",
        );
        core.ok("put 2 me q other K {} 0 throttles [\"u\"]");
        assert_eq!(core.jids("pop 90 q w 2"), ["holder", "other"]);
        for at in 0..7 {
            core.ok(&format!(
                "put {} me q t{at} K {{}} 0 throttles [\"t\"]",
                91 + at
            ));
        }
        core.ok("put 99 me q last K {} 0 throttles [\"u\"]");
        core.redis("ZREM ql:th:u-locks other");
        assert_eq!(core.jids(&format!("pop {now} q w 5")), ["last"], "at {now}");
    }
}

#[test]
fn a_buried_job_that_keeps_its_place_does_not_wait_for_a_deleted_job() {
    for gone in ["guard.cancel 5 release a ''", "guard.cancel 5 refuse a ''"] {
        let mut core = Core::new();
        core.ok("put 1 me q a K {} 0");
        core.ok(r#"put 2 me q b K {} 0 key k hold 1 depends ["a"]"#);
        core.ok("bury 3 b G M");
        core.ok(gone);
        assert_eq!(core.state("b"), "failed");
        core.ok("unfail 6 q G 1");
        assert_eq!(core.jids("pop 7 q w 5"), ["b"], "after {gone}");
    }
}

#[test]
fn a_pop_passes_a_thousand_numbers_of_children_that_are_in_use() {
    let mut core = Core::new();
    core.many((1..=2500).map(|number| format!("put 0 me other r-{number} K {{}} 0")));
    core.ok("recur 1 q r K {} interval 60 0 throttles [\"t\"]");
    assert_eq!(core.jids("pop 2 q w 9"), [""; 0]);
    assert_eq!(core.jids("pop 3 q w 9"), [""; 0]);
    assert_eq!(core.jids("pop 4 q w 9"), ["r-2501"]);
    assert_eq!(core.jids("pop 62 q w 9"), ["r-2502"]);
}

#[test]
fn c4_recurring_jobs_with_their_own_key_and_skip_do_not_overlap() {
    let mut core = Core::new();
    core.ok("recur 0 q r K {} interval 10 0 retries 1 key r dup skip");
    assert_eq!(core.jids("pop 0 q w1 5"), ["r-1"]);
    // Three further runs are due while the first one runs: none is made, and none is counted.
    assert_eq!(core.jids("pop 35 q w1 5"), [""; 0]);
    assert_eq!(core.json("recur.get 35 r")["count"], 1);
    assert_eq!(
        core.keys_with("ql:j:r-").len(),
        2,
        "the job and its history"
    );
    assert_eq!(core.score("ql:q:q-recur", "r"), Some(40.0));
    core.ok("complete 36 r-1 w1 q {}");
    assert_eq!(core.jids("pop 39 q w1 5"), [""; 0]);
    assert_eq!(core.jids("pop 40 q w1 5"), ["r-2"]);
    // A lost lock does not let the next run start.
    core.ok("config.set 40 grace-period 0");
    assert_eq!(core.jids("pop 101 q w2 5"), ["r-2"]);
    assert_eq!(core.json("recur.get 101 r")["count"], 2);
    // After it has failed for good, the next tick runs.
    core.ok("fail 102 r-2 w2 G M");
    assert_eq!(core.jids("pop 110 q w2 5"), ["r-3"]);
}

#[test]
fn c4_the_options_of_a_template_are_those_of_its_children() {
    let mut core = Core::new();
    core.ok(r#"recur 0 q r K 1 interval 10 0 key k throttles ["t"] backoff fixed:5 hold 1"#);
    core.ok("pop 0 q w1 1");
    let job = core.json("get 0 r-1");
    assert_eq!(
        (
            &job["key"],
            &job["throttles"],
            &job["backoff"],
            &job["hold"]
        ),
        (
            &json!("q/k"),
            &json!(["t"]),
            &json!("fixed:5"),
            &json!(true)
        )
    );
    core.ok("peek 20 q 5");
    assert_eq!(core.lane("q/k"), ["r-1", "r-2", "r-3"]);
    // Merging children: the payload of the template is one payload.
    core.ok("recur.update 20 r key m dup merge");
    core.ok("peek 40 q 5");
    assert_eq!(core.lane("q/m").len(), 1);
}

#[test]
fn c5_a_uniqueness_window_outlives_completion_and_failure_and_ends_with_cancel() {
    for (end, closes) in [
        ("complete 4 a w1 q {}", false),
        ("fail 4 a w1 G M", false),
        ("cancel 4 a", true),
    ] {
        let mut core = Core::new();
        core.ok("put 1 me q a K {} 0 key u dup skip ttl 100");
        assert_eq!(core.ok("put 2 me q b K {} 0 key u dup skip").text(), "a");
        core.all("pop 3 q w1 1");
        core.ok(end);
        let answer = core
            .ok("put 5 me q c K {} 0 key u dup skip ttl 100")
            .text()
            .to_owned();
        assert_eq!(answer, if closes { "c" } else { "a" }, "{end}");
        // The window of a ends at 101.
        let answer = core
            .ok("put 102 me q d K {} 0 key u dup skip ttl 100")
            .text()
            .to_owned();
        assert_eq!(answer, if closes { "c" } else { "d" }, "{end}");
    }
}

#[test]
fn c5_without_ttl_the_place_is_free_once_the_job_has_ended() {
    for end in ["complete 4 a w1 q {}", "fail 4 a w1 G M", "cancel 4 a"] {
        let mut core = Core::new();
        core.all("put 1 me q a K {} 0 key u dup skip; pop 2 q w1 1");
        assert_eq!(core.ok("put 3 me q b K {} 0 key u dup skip").text(), "a");
        core.ok(end);
        assert_eq!(
            core.ok("put 5 me q c K {} 0 key u dup skip").text(),
            "c",
            "{end}"
        );
        assert_eq!(core.state("c"), "waiting");
    }
}

#[test]
fn c5_replace_starts_the_delay_again() {
    let mut core = Core::new();
    assert_eq!(core.ok("put 1 me q a K 1 30 key u dup replace").text(), "a");
    assert_eq!(
        core.ok(r#"put 20 me q b L 2 30 key u dup replace priority 4 tags ["x"] retries 2"#)
            .text(),
        "a"
    );
    assert_eq!(core.score("ql:q:q-scheduled", "a"), Some(50.0));
    assert_eq!(core.jids("pop 31 q w1 1"), [""; 0]);
    let job = core.json("get 32 a");
    assert_eq!(
        (
            &job["klass"],
            &job["data"],
            &job["priority"],
            &job["tags"],
            &job["retries"]
        ),
        (
            &json!("L"),
            &json!("2"),
            &json!(4),
            &json!(["x"]),
            &json!(2)
        )
    );
    assert!(!core.has("b"));
    assert_eq!(core.jids("pop 50 q w1 1"), ["a"]);
    // Once it has started, the next put is a job of its own.
    assert_eq!(
        core.ok("put 51 me q c K 3 30 key u dup replace").text(),
        "c"
    );
    assert_eq!(core.state("c"), "depends");
    core.ok("complete 52 a w1 q {}");
    assert_eq!(core.score("ql:q:q-scheduled", "c"), Some(81.0));
}

#[test]
fn c5_a_delayed_first_put_and_merge_are_a_fixed_window() {
    let mut core = Core::new();
    assert_eq!(core.ok("put 1 me q a K 1 30 key u dup merge").text(), "a");
    assert_eq!(core.ok("put 15 me q b K 2 30 key u dup merge").text(), "a");
    assert_eq!(core.ok("put 29 me q c K 3 30 key u dup merge").text(), "a");
    assert_eq!(core.jids("pop 30 q w1 1"), [""; 0]);
    assert_eq!(core.jids("pop 31 q w1 1"), ["a"]);
    assert_eq!(core.data("a"), "[1,2,3]");
    assert_eq!(core.ok("put 32 me q d K 4 30 key u dup merge").text(), "d");
}

#[test]
fn a_job_whose_name_ends_in_a_large_number_is_split() {
    let mut core = after(
        "put 1 me q order~1700000000000000000 K 1 0 key k dup merge retries 0; put 2 me q x K 2 0 key k dup merge; \
         pop 3 q w 1",
    );
    core.ok("retry 4 order~1700000000000000000 q w");
    assert_eq!(core.jids("pop 5 q w 9"), ["order~1700000000000000000~1"]);
}

#[test]
fn a_replacing_put_closes_no_cycle() {
    let mut core =
        after(r#"put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k dup replace depends ["a"]"#);
    assert_eq!(
        core.jids("pop 3 q w 9"),
        ["a"],
        "a dependency on itself is none"
    );
    let mut core = after(r#"put 1 me q a K {} 0 key k; put 2 me q c K {} 0 depends ["a"]"#);
    let before = core.dump();
    let put = r#"put 3 me q b K {} 0 key k dup replace depends ["c"]"#;
    let error = core.refused(put);
    assert!(
        error.contains(r#"Put(): Arg "depends" closes a cycle: a c"#),
        "{error}"
    );
    for depends in [r#"["c"]"#, r#"["a"]"#] {
        let put = format!("guard.put 3 {{}} 11 q b K {{}} 0 key k dup replace depends {depends}");
        let reply = core.ok(&put);
        assert!(format!("{reply:?}").contains("cycle"), "{reply:?}");
    }
    assert_eq!(core.dump(), before);
}

#[test]
fn a_job_of_a_lane_does_not_come_to_depend_on_one_behind_it() {
    let mut core = after("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k");
    let before = core.dump();
    let error = core.refused(r#"put 3 me q a K {} 0 depends ["b"]"#);
    assert!(
        error.contains(r#"Put(): Arg "depends" closes a cycle: a b"#),
        "{error}"
    );
    assert_eq!(core.dump(), before);
    // Outside of the lane, nothing waits for it.
    core.ok(r#"put 4 me q a K {} 0 key '' depends ["b"]"#);
    assert_eq!(core.jids("pop 5 q w 9"), ["b"]);
}

#[test]
fn a_completed_job_goes_behind_the_job_of_its_lane_on_which_it_comes_to_depend() {
    let mut core = after(
        "put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; put 3 me q c K {} 0 key k; pop 4 q w 9",
    );
    core.ok(r#"complete 5 a w q {} next q depends ["b"]"#);
    for jid in ["b", "c", "a"] {
        assert_eq!(core.jids("pop 6 q w 9"), [jid]);
        core.ok(&format!("complete 7 {jid} w q {{}}"));
    }
    assert_eq!(core.jids("pop 8 q w 9"), [""; 0]);
}

#[test]
fn a_key_of_another_type_refuses_a_call_before_lanes_change() {
    let mut core = after(
        "put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; put 3 me q c K {} 0; pop 4 q w 1",
    );
    for (key, line) in [
        ("ql:j:a-history", "complete 5 a w q {} next p key l"),
        ("ql:k:p/l", "complete 5 a w q {} next p key l"),
        (
            "ql:j:c-dependents",
            r#"complete 5 a w q {} next p key l depends ["c"]"#,
        ),
        ("ql:j:b-history", "put 5 me q b K {} 0 key l"),
        ("ql:k:q/l", "put 5 me q b K {} 0 key l"),
    ] {
        core.redis(&format!("SET {key} x"));
        let before = core.dump();
        core.refused(line);
        assert_eq!(core.dump(), before, "{key}: {line}");
        core.redis(&format!("DEL {key}"));
    }
}

#[test]
fn a_key_of_another_type_does_not_stop_the_jobs_of_a_lane() {
    let mut core = after(
        "put 1 me q a K {} 0 key k; put 1 me q b K {} 0 key l; pop 2 q w 2; fail 3 a w g m; fail 3 b w g m",
    );
    core.redis("SET ql:k:q/l x");
    let rows = core.ok("guard.requeue 4 {} '' a '' '' b '' ''");
    assert_eq!(
        rows.list()
            .iter()
            .map(|row| row.texts()[0].clone())
            .collect::<Vec<_>>(),
        ["done", "done"]
    );
    assert!(!core.dump().has("ql:f:g"));
    assert_eq!(core.jids("pop 5 q w 9"), ["b", "a"]);

    let mut core = after("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w 9");
    core.redis("SET ql:j:a-dependents x");
    core.ok("complete 4 a w q {}");
    assert_eq!(core.jids("pop 5 q w 9"), ["b"]);
}

#[test]
fn a_key_of_another_type_refuses_a_call_before_slots_and_dependents_change() {
    let running = r#"throttle.set 1 t 1; put 1 me q b K {} 0 throttles ["t"]"#;
    for (start, key, line) in [
        (
            format!("{running} key k; pop 2 q w 9"),
            "ql:k:q/k",
            "put 5 me q b K {} 0",
        ),
        (
            format!("{running}; pop 2 q w 9"),
            "ql:k:q/l",
            "put 5 me q b K {} 0 key l",
        ),
        (
            r#"put 1 me q a K {} 0; put 1 me q b K {} 0 depends ["a"]; put 1 me q c K {} 0"#
                .to_owned(),
            "ql:j:b-dependencies",
            "depends 5 b on c",
        ),
    ] {
        let mut core = after(&start);
        core.redis(&format!("SET {key} x"));
        let before = core.dump();
        core.refused(line);
        assert_eq!(core.dump(), before, "{key}: {line}");
    }
}

#[test]
fn payloads_of_another_type_leave_a_failed_job_in_its_list() {
    let mut core = after(
        "put 1 me q a K 1 0 key k dup merge; pop 2 q w 9; fail 3 a w g m; put 4 me q b K {} 0",
    );
    core.redis("SET ql:j:a-payloads x");
    let before = core.dump();
    let rows = core.ok("guard.requeue 5 {} '' a '' ''");
    assert_eq!(rows.list()[0].texts()[0], "invalid");
    assert_eq!(core.dump(), before);
}

#[test]
fn payloads_of_another_type_do_not_stop_an_unfail_half_way() {
    let mut core = after(
        "put 1 me q a K 1 0 key k dup merge; put 1 me q b K 1 0; pop 2 q w 9; fail 3 a w g m; fail 3 b w g m",
    );
    core.redis("SET ql:j:a-payloads x");
    assert_eq!(core.ok("unfail 4 q g 9").int(), 2);
    assert!(!core.dump().has("ql:f:g"));
    let mut jids = core.jids("pop 5 q w 9");
    jids.sort();
    assert_eq!(jids, ["a", "b"]);
}

#[test]
fn a_job_that_joins_a_lane_goes_behind_the_one_that_runs() {
    let mut core = after(
        r#"put 1 me q x K {} 0 key k; put 2 me q a K {} 0 key k; put 3 me q b K {} 0 key k depends ["x"]; pop 4 q w 9"#,
    );
    core.all("fail 5 x w g m; pop 6 q w 9; unfail 7 q g 1");
    // While a runs, neither of the others does.
    assert_eq!(core.jids("pop 8 q w 9"), [""; 0]);
    core.ok("complete 9 a w q {}");
    for jid in ["x", "b"] {
        assert_eq!(core.jids("pop 10 q w 9"), [jid]);
        core.ok(&format!("complete 11 {jid} w q {{}}"));
    }
}

#[test]
fn a_job_of_a_lane_does_not_come_to_wait_for_itself_by_depends() {
    let mut core =
        after("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; put 3 me q c K {} 0 key k");
    let why = core.refused("depends 4 b on c");
    assert!(why.contains("closes a cycle: b c"), "{why}");
    for jid in ["a", "b", "c"] {
        assert_eq!(core.jids("pop 5 q w 9"), [jid]);
        core.ok(&format!("complete 6 {jid} w q {{}}"));
    }
}

#[test]
fn a_pop_does_not_make_a_job_depend_on_itself_behind_entries_without_jobs() {
    let mut core = after(
        "put 1 me q a K {} 0 key k; pop 2 q w 1; put 3 me q b K {} 0 key k; put 4 me q c K {} 0 key k; \
         put 5 me q d K {} 0 key k",
    );
    core.redis("DEL ql:j:b ql:j:c");
    core.ok("depends 6 d off c");
    assert!(core.jids("pop 7 q w 9").is_empty());
    core.ok("complete 8 a w q {}");
    assert_eq!(core.jids("pop 9 q w 9"), ["d"]);
}

#[test]
fn any_number_of_jobs_can_join_a_lane_before_the_same_job() {
    let names: Vec<String> = (0..60).map(|n| format!("z{n:02}")).collect();
    let mut core = after("put 1 me q a K {} 0 key k");
    core.many(names.iter().map(|jid| format!("put 2 me p {jid} K {{}} 0")));
    core.ok(&format!(
        "put 3 me q last K {{}} 0 key k depends {}",
        json!(names)
    ));
    core.many(
        names
            .iter()
            .map(|jid| format!("put 4 me q {jid} K {{}} 0 key k")),
    );
    let mut order = Vec::new();
    for now in 5.. {
        let jids = core.jids(&format!("pop {now} q w 9"));
        let [jid] = &jids[..] else {
            assert!(jids.is_empty(), "{jids:?}");
            break;
        };
        core.ok(&format!("complete {now} {jid} w q {{}}"));
        order.push(jid.clone());
    }
    assert_eq!(order[0], "a");
    assert_eq!(order[1..61], names);
    assert_eq!(order[61..], ["last"]);
}

#[test]
fn a_put_that_another_job_takes_heals_the_lane_first() {
    for put in [
        "put 5 me q c K 3 0 key k dup merge",
        "put 5 me q c K 3 0 key k dup skip",
        "put 5 me q c K 3 0 key k dup replace",
        "put 5 me q b K 3 0",
    ] {
        let mut core = after(
            "put 1 me q a K 1 0 key k dup merge; pop 2 q w 1; put 3 me q b K 2 0 key k dup merge",
        );
        core.beside(FOREIGN).ok("fail 4 a w group message {}");
        assert!(core.jids("pop 4 q w 9").is_empty());
        core.ok(put);
        assert_eq!(core.jids("pop 6 q w 9"), ["b"], "{put}");
    }
}

/// The maximum of a throttle, and whether it is set.
fn maximum(core: &mut Core, id: &str) -> (i64, bool) {
    let throttle = core.json(&format!("throttle.get 9 {id}"));
    (throttle["maximum"].as_i64().unwrap(), throttle["ttl"] == -1)
}

#[test]
fn defaults_give_a_throttle_that_has_none_a_maximum() {
    let put = |n: u32, c: &str| format!(r#"put 2 me q {c}{n} K {{"c":"{c}"}} 0"#);
    let mut core = after(r#"config.set 1 q-defaults {"throttles":["c:{data.c}=3","a=b="]}"#);
    for n in 0..6 {
        core.ok(&put(n, "x"));
    }
    assert_eq!(maximum(&mut core, "c:x"), (3, true));
    assert_eq!(maximum(&mut core, "a=b"), (0, false));
    assert_eq!(core.jids("pop 3 q w 9").len(), 3);
    assert_eq!(core.ok("jobs 3 throttled q 0 9").list().len(), 3);
    // Each throttle has its own; what the data has after a `=` is part of the id.
    core.ok(&put(0, "y=7"));
    assert_eq!(maximum(&mut core, "c:y=7"), (3, true));
    // A maximum that is set wins, until it is deleted.
    core.ok("throttle.set 4 c:x 1");
    core.ok(&put(7, "x"));
    assert_eq!(maximum(&mut core, "c:x"), (1, true));
    core.ok("throttle.delete 4 c:x");
    core.ok(&put(8, "x"));
    assert_eq!(maximum(&mut core, "c:x"), (3, true));
    // In the option of a put, all of a member is the id.
    core.ok(r#"put 5 me q own K {} 0 throttles ["z=2"]"#);
    assert_eq!(maximum(&mut core, "z=2"), (0, false));
    // No maximum where nothing is put, or where the key cannot be one.
    core.redis("SET ql:th:c:w x");
    core.ok(&put(1, "w"));
    assert_eq!(core.redis("GET ql:th:c:w"), Reply::Text("x".into()));
}

#[test]
fn a_pop_gives_a_throttle_the_maximum_of_the_defaults() {
    let puts = "put 1 me q a K {} 0; put 1 me q b K {} 0; put 1 me q c K {} 0";
    for line in ["pop 3 q w 9", "popByJid 3 q b w"] {
        let mut core = after(puts);
        core.ok(r#"config.set 2 q-defaults {"throttles":["t=1"]}"#);
        let popped = core.ok(line).json();
        assert_eq!(popped.as_array().unwrap().len(), 1, "{line}");
        assert_eq!(maximum(&mut core, "t"), (1, true), "{line}");
        assert!(core.jids("pop 4 q w 9").is_empty(), "{line}");
    }
}

#[test]
fn a_maximum_of_the_defaults_costs_a_put_no_command_once_it_is_set() {
    let before =
        r#"put 0 me q x K {} 0; throttle.set 1 t 9; config.set 1 q-defaults {"throttles":["#;
    let plain = format!(r#"{before}"t"]}}"#);
    let given = format!(r#"{before}"t=3"]}}"#);
    costs_more((&plain, PUT.1), (&given, PUT.1), 0);
}

#[test]
fn the_names_of_the_lists_of_a_throttle_are_no_throttles() {
    let mut core =
        after("throttle.set 1 x 1; config.set 1 p-defaults {\"throttles\":[\"{data.t}-locks\"]}");
    for line in [
        "throttle.set 1 x-pending 1",
        "throttle.set 1 x-locks 1",
        "throttle.delete 1 x-locks",
        r#"put 1 me q a K {} 0 throttles ["x-pending"]"#,
        r#"guard.put 1 {} 7 q a K {} 0 throttles ["x-pending"]"#,
    ] {
        let before = core.dump();
        let reply = core.run(line);
        let reply = format!("{reply:?}");
        assert!(
            reply.contains("ends in -locks or -pending"),
            "{line}: {reply}"
        );
        assert_eq!(core.dump(), before, "{line}");
    }
    core.ok(r#"put 1 me p a K {"t":"x"} 0"#);
    assert_eq!(core.jids("pop 2 p w 9"), ["a"], "a default is left out");
    // Locks have no setting, so any text will do.
    core.all("put 3 me q b K {} 0 lock x; put 3 me q c K {} 0 lock x-pending");
}

#[test]
fn a_put_that_cannot_be_held_is_refused_whole_and_a_pop_goes_on() {
    let mut core = after(
        r#"throttle.set 1 x 1; put 2 me q a K {} 0 throttles ["x"]; put 3 me q b K {} 0 throttles ["x"]; put 3 me q c K {} 0"#,
    );
    core.redis("SET ql:th:x-pending text");
    assert_eq!(core.jids("pop 4 q w 9"), ["a", "c"]);
    let before = core.dump();
    core.refused(r#"put 4 me q d K {} 0 throttles ["x"]"#);
    let reply = core.ok(r#"guard.put 4 {} 7 q d K {} 0 throttles ["x"]"#);
    assert!(format!("{reply:?}").contains("invalid"), "{reply:?}");
    assert_eq!(core.dump(), before);
    core.ok("complete 5 a w q {}");
    assert_eq!(core.jids("pop 6 q w 9"), ["b"]);
}

#[test]
fn a_pop_returns_work_behind_due_jobs_that_are_held() {
    let mut core = after(r#"throttle.set 1 t 1; put 1 me q h K {} 0 throttles ["t"]; pop 2 q w 1"#);
    core.many((0..30).map(|n| format!(r#"put 3 me q a{n} K {{}} 5 throttles ["t"]"#)));
    core.ok("put 3 me q free K {} 6");
    assert_eq!(core.jids("pop 11 q w 1"), ["free"]);
    // Runs of templates that are skipped.
    let mut core = after("put 1 me q h K {} 0 key k");
    core.many((0..3).map(|n| format!("recur 2 q r{n} K {{}} interval 100 0 key k dup skip")));
    core.ok("recur 2 q s K {} interval 100 1");
    assert_eq!(core.jids("pop 3 q w 1"), ["h"]);
    assert_eq!(core.jids("pop 4 q w 1"), ["s-1"]);
}

#[test]
fn a_pop_holds_no_more_jobs_than_max_pop_scan() {
    let mut core = after("config.set 1 max-pop-scan 10; throttle.set 1 x -1");
    core.many((0..50).map(|n| format!(r#"put 2 me q j{n:02} K {{}} 0 lock l{n}"#)));
    core.many((0..50).map(|n| format!("throttle.set 3 lock:l{n} -1")));
    assert!(core.jids("pop 4 q w 50").is_empty());
    let held = core.redis("ZCARD ql:q:q-throttled");
    assert_eq!(held.int(), 10);
}

#[test]
fn a_window_ends_with_its_job_also_if_that_has_another_key_now() {
    let mut core = after(
        "put 1 me q a K {} 0 key k dup skip ttl 100; put 2 me q a K {} 0 key other; \
         put 3 me q b K {} 0 key k dup skip",
    );
    assert_eq!(core.jids("pop 4 q w 9"), ["a", "b"]);
    let mut core = after("put 1 me q a K {} 0 key k; put 2 me q a K {} 0 key k dup skip ttl 100");
    assert_eq!(core.redis("EXISTS ql:u:q/k").int(), 0, "it created no job");
}

#[test]
fn defaults_hold_for_scores_and_false_is_a_value() {
    let mut core = after(
        r#"config.set 1 q-defaults {"key":"k","dup":"merge","score":5,"backoff":"fixed:9"}; put 2 me q a K 1 0; put 3 me q b K 2 0 score 4"#,
    );
    assert_eq!(core.data("a"), "[2,1]");
    core.ok("put 4 me q c K 1 0 key other backoff ''");
    let jobs = core.json("pop 5 q w 9");
    let policies: Vec<_> = jobs
        .as_array()
        .unwrap()
        .iter()
        .map(|job| &job["backoff"])
        .collect();
    assert_eq!(json!(policies), json!(["fixed:9", null]));
    let mut core =
        after(r#"config.set 1 q-defaults {"lock":"x{data.f}"}; put 2 me q a K {"f":false} 0"#);
    assert_eq!(core.json("get 3 a")["throttles"], json!(["lock:xfalse"]));
}

#[test]
fn a_payload_with_a_nul_byte_leaves_the_data_json() {
    let mut core = after("put 1 me q a K [1] 0 key k dup merge");
    let put = b"put 2 me q b K [2]\0x 0 key k dup merge";
    let words: Vec<&[u8]> = put.split(|byte| *byte == b' ').collect();
    core.call(&words).unwrap();
    assert_eq!(core.data("a"), "[[1],[2]]");
}

#[test]
fn a_held_job_of_a_very_large_priority_gets_another() {
    let mut core = after(
        r#"throttle.set 1 t -1; put 1 me q a K {} 0 throttles ["t"] priority 1e18; put 2 me q b K {} 0 throttles ["t"] priority 5; priority 3 a 7; throttle.set 3 t 1"#,
    );
    assert_eq!(core.jids("pop 4 q w 1"), ["a"]);
}

#[test]
fn a_queue_has_no_limit_below_0() {
    let mut core = Core::new();
    core.refused("queue.throttle.set 1 q -1");
    core.ok("config.set 1 q-max-concurrency 1.7");
    assert_eq!(core.json("queue.throttle.get 1 q")["maximum"], json!(1));
}

#[test]
fn places_that_a_foreign_hand_changed_do_not_stop_a_lane() {
    for place in ["inf", "-inf", "1e18"] {
        let mut core = after("put 1 me q u K {} 0 key k");
        core.redis(&format!("ZADD ql:k:q/k {place} u"));
        core.all("put 2 me q n1 K {} 0 key k; put 3 me q n2 K {} 0 key k");
        for (now, jid) in [(4, "u"), (5, "n1"), (6, "n2")] {
            assert_eq!(core.jids(&format!("pop {now} q w 9")), [jid], "{place}");
            core.ok(&format!("complete {now} {jid} w q {{}}"));
        }
    }
    let mut core = after("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k");
    core.redis("ZADD ql:k:q/k -1 b");
    assert_eq!(core.jids("pop 3 q w 9"), ["a"]);
    core.ok("complete 4 a w q {}");
    assert_eq!(core.jids("pop 5 q w 9"), ["b"]);
}

#[test]
fn a_payload_without_a_finite_score_can_be_read() {
    let mut core = after("put 1 me q m K 1 0 key k dup merge; put 2 me q n K 2 0 key k dup merge");
    core.redis("ZADD ql:j:m-payloads inf 2");
    assert_eq!(core.jids("pop 3 q w 9"), ["m"]);
    let payloads = &core.json("get 4 m")["payloads"];
    assert_eq!(payloads, &json!([["1", 1], ["2", f64::MAX]]));
}

#[test]
fn a_pop_makes_a_bounded_number_of_children_that_cannot_run() {
    for (options, interval) in [("key k", "1"), ("lock l", "1"), ("key k", "0.04")] {
        let mut core = after(&format!("put 1 me q h K {{}} 0 {options}; pop 2 q w 1"));
        core.ok(&format!(
            "recur 3 q r K {{}} interval {interval} 0 {options}"
        ));
        assert!(core.jids("pop 30003 q w 1").is_empty());
        let children = core
            .dump()
            .0
            .keys()
            .filter(|key| key.starts_with("ql:j:r-") && key.ends_with("-history"))
            .count();
        assert!(
            (20..1100).contains(&children),
            "{options} {interval}: {children}"
        );
    }
    let mut core = after("put 1 me q h K {} 0 key k; pop 2 q w 1");
    core.many((0..20).map(|n| format!("recur 3 q r{n} K {{}} interval 1 0 key k dup skip")));
    let seen = cost(&mut core, "pop 10003 q w 1");
    assert!(seen < 20_000, "{seen} commands");
    // Numbers in use are looked at once, also where another job takes each child.
    let mut core = after("put 1 me q h K {} 0 key k; pop 2 q w 1");
    core.many((1..900).map(|n| format!("put 2 me p r-{n} K {{}} 0")));
    core.ok("recur 3 q r K {} interval 1 0 key k dup skip");
    let seen = cost(&mut core, "pop 503 q w 1");
    assert!(seen < 10_000, "{seen} commands");
}

#[test]
fn a_job_joins_a_long_lane_whose_last_job_waits_for_it_in_a_bounded_number_of_commands() {
    let mut core = after("put 1 me p x K {} 0");
    core.many((0..400).map(|n| format!("put 2 me q b{n} K {{}} 0 key k")));
    core.ok(r#"put 3 me q z K {} 0 key k depends ["x"]"#);
    let seen = cost(&mut core, "put 4 me q x K {} 0 key k");
    assert!(seen < 5000, "{seen} commands");
    let mut order = Vec::new();
    while let [jid] = &core.jids("pop 6 q w 1")[..] {
        core.ok(&format!("complete 7 {jid} w q {{}}"));
        order.push(jid.clone());
    }
    assert_eq!(order.len(), 402);
    assert_eq!(order[400..], ["x", "z"]);
}

#[test]
fn a_merge_job_takes_16_mib_of_data() {
    let mut core = Core::new();
    let put = |core: &mut Core, jid: &str, payload: &str, size: usize| {
        let data = format!("\"{payload}{}\"", "x".repeat(size));
        let words = [
            "put", "1", "me", "q", jid, "K", &data, "0", "key", "k", "dup", "merge",
        ];
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        core.call(&words).unwrap().text().to_owned()
    };
    const MIB: usize = 1 << 20;
    assert_eq!(put(&mut core, "a", "1", 9 * MIB), "a");
    assert_eq!(put(&mut core, "b", "2", 6 * MIB), "a");
    // The same payload again needs no room.
    assert_eq!(put(&mut core, "c", "2", 6 * MIB), "a");
    assert_eq!(put(&mut core, "c", "3", 2 * MIB), "c");
    assert_eq!(put(&mut core, "d", "4", 2 * MIB), "c");
    // A job that is put alone may be longer.
    assert_eq!(put(&mut core, "e", "5", 17 * MIB), "e");
    // A job that runs again does not take what would be too long.
    core.all("pop 2 q w 1; retry 3 a q w 0");
    let count =
        |core: &mut Core, jid: &str| core.redis(&format!("ZCARD ql:j:{jid}-payloads")).int();
    assert_eq!((count(&mut core, "a"), count(&mut core, "c")), (2, 2));
    // But what has room.
    core.all("pop 4 q w 1; complete 5 a w q {}; pop 6 q w 1");
    assert_eq!(put(&mut core, "f", "6", MIB), "f");
    assert_eq!(put(&mut core, "g", "7", MIB), "f");
}
