//! A script without knowledge of lanes and throttles serves the same database: one test for each
//! effect, and random histories in which both take part (C3).

use serde_json::json;

use super::ledger::Ledger;
use super::steps::{Profile, Steps};
use crate::extensions::invariants::Excuses;
use crate::support::core::Core;
use crate::support::random::Draw;

/// A plain second implementation of what an old script does.
pub(super) const FOREIGN: &str = include_str!("foreign.lua");

/// Our core and a foreign script on one server.
fn both() -> (Core, Core) {
    let core = Core::new();
    let foreign = core.beside(FOREIGN);
    (core, foreign)
}

/// A script that is ours for even numbers.
fn either(core: &Core, n: u64) -> Core {
    match n % 2 {
        0 => core.beside(crate::support::core::script()),
        _ => core.beside(FOREIGN),
    }
}

#[test]
fn f1_a_job_put_by_a_foreign_script_is_outside_lanes_and_gets_the_defaults_when_it_is_popped() {
    let (mut core, mut foreign) = both();
    core.ok(r#"config.set 0 q-defaults {"lock":"*","key":"k","backoff":"fixed:7"}"#);
    foreign.all("put 1 me q a K {} 0; put 2 me q b K {} 0");
    assert_eq!(core.jids("pop 3 q w1 5"), ["a"]);
    let job = core.json("get 3 a");
    assert_eq!(job["backoff"], "fixed:7");
    assert_eq!(job["throttles"].as_array().map(Vec::len), Some(1));
    assert_eq!(job.get("key"), None, "a key cannot be added late");
    assert_eq!(core.keys_with("ql:k:"), [""; 0]);
    assert_eq!(core.state("b"), "throttled");
    core.ok("retry 4 a q w1");
    assert_eq!(core.score("ql:q:q-scheduled", "a"), Some(11.0));
    // Neither is merged with a merging put.
    foreign.ok("put 5 me p x K 1 0");
    assert_eq!(core.ok("put 6 me p y K 2 0 key k dup merge").text(), "y");
}

#[test]
fn f2_a_foreign_put_and_advance_of_a_lane_job_keep_its_place() {
    for step in ["put 4 me p a K {} 0", "complete 4 a w1 q {} next p"] {
        let (mut core, mut foreign) = both();
        core.all("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w1 1");
        foreign.ok(step);
        assert_eq!(core.lane("q/k"), ["a", "b"]);
        assert_eq!(core.states("a b"), "waiting depends");
        assert_eq!(core.jids("pop 5 q w1 5"), [""; 0]);
        assert_eq!(core.jids("pop 5 p w1 5"), ["a"]);
        core.ok("complete 6 a w1 p {}");
        assert_eq!(core.jids("pop 7 q w1 5"), ["b"]);
    }
    // Of a job in the middle.
    let (mut core, mut foreign) = both();
    core.many((0..3).map(|n| format!("put {n} me q j{n} K {{}} 0 key k")));
    foreign.ok("put 4 me p j1 K {} 0");
    assert_eq!(core.states("j0 j1 j2"), "waiting depends depends");
    assert_eq!(core.lane("q/k"), ["j0", "j1", "j2"]);
}

#[test]
fn f2_data_put_by_a_foreign_script_is_lost_at_the_next_merge() {
    let (mut core, mut foreign) = both();
    core.ok(r#"put 1 me q a K "v1" 0 key k dup merge score 1"#);
    foreign.ok(r#"put 2 me q a K "other" 0"#);
    assert_eq!(core.data("a"), r#""other""#);
    assert_eq!(
        core.ok(r#"put 3 me q b K "v2" 0 key k dup merge score 2"#)
            .text(),
        "a"
    );
    assert_eq!(core.data("a"), r#"["v1","v2"]"#);
}

#[test]
fn f3_a_foreign_pop_sees_first_jobs_only_with_all_payloads_and_no_limit() {
    let (mut core, mut foreign) = both();
    core.all("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k");
    core.all("put 3 me q m K 1 0 key l dup merge; put 4 me q n K 2 0 key l dup merge");
    assert_eq!(foreign.jids("pop 5 q old 9"), ["a", "m"]);
    assert_eq!(core.data("m"), "[1,2]");
    assert_eq!(foreign.jids("pop 6 q old 9"), [""; 0]);
    assert_eq!(core.jids("pop 6 q w1 9"), [""; 0]);

    // Both jobs were put before one of them runs.
    let (mut core, mut foreign) = both();
    core.all("put 1 me q c K {} 0 lock one; put 2 me q d K {} 0 lock one");
    assert_eq!(foreign.jids("pop 3 q old 9"), ["c", "d"]);
}

#[test]
fn f4_a_foreign_completion_releases_the_next_job_and_heals() {
    let (mut core, mut foreign) = both();
    core.all("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w1 5");
    foreign.ok("complete 4 a w1 q {}");
    assert_eq!(core.jids("pop 5 q w1 5"), ["b"]);
    // The next keyed put removes the dead entry and stands behind b.
    core.ok("put 6 me q c K {} 0 key k");
    assert_eq!(core.lane("q/k"), ["b", "c"]);
    assert_eq!(core.state("c"), "depends");

    // A slot is taken back when the throttle is found full.
    let (mut core, mut foreign) = both();
    core.all("put 1 me q a K {} 0 lock one; pop 2 q w1 1; put 3 me q b K {} 0 lock one");
    foreign.ok("complete 4 a w1 q {}");
    assert_eq!(core.json("throttle.locks 4 lock:one"), json!(["a"]));
    let mut popped = Vec::new();
    for now in 5..8 {
        popped.extend(core.jids(&format!("pop {now} q w1 5")));
    }
    assert_eq!(popped, ["b"]);
    assert_eq!(core.json("throttle.locks 9 lock:one"), json!(["b"]));
}

#[test]
fn f4_the_payloads_of_a_job_completed_by_a_foreign_script_are_left() {
    let (mut core, mut foreign) = both();
    core.all("put 1 me q a K 1 0 key k dup merge; pop 2 q w1 1");
    foreign.ok("complete 3 a w1 q {}");
    assert_eq!(core.keys_with("-payloads"), ["ql:j:a-payloads"]);
    // They do no harm: the next put starts another job.
    assert_eq!(core.ok("put 4 me q b K 2 0 key k dup merge").text(), "b");
    assert_eq!(core.state("b"), "waiting");
    assert_eq!(core.data("b"), "[2]");
}

#[test]
fn f5_after_a_foreign_failure_the_lane_waits_until_a_keyed_call_heals_it() {
    for failure in ["fail 4 a w1 G M", "retry 4 a q w1"] {
        for (heal, runs) in [
            ("put 6 me q c K {} 0 key k", "b"),
            ("unfail 6 q @ 1", "b"),
            ("cancel 6 a", "b"),
        ] {
            let (mut core, mut foreign) = both();
            core.all("put 1 me q a K {} 0 key k retries 0; put 2 me q b K {} 0 key k");
            assert_eq!(core.jids("pop 3 q w1 5"), ["a"]);
            foreign.ok(failure);
            assert_eq!(core.states("a b"), "failed depends");
            assert_eq!(core.jids("pop 5 q w1 5"), [""; 0]);
            let group = if failure.starts_with("fail") {
                "G"
            } else {
                "failed-retries-q"
            };
            core.ok(&heal.replace('@', group));
            assert_eq!(core.jids("pop 7 q w1 5"), [runs], "{failure}; {heal}");
        }
    }
}

#[test]
fn f5_a_merge_job_failed_by_a_foreign_script_fails_whole_and_its_slot_is_healed() {
    let (mut core, mut foreign) = both();
    core.all("put 1 me q a K 1 0 key k dup merge retries 0; put 1 me q b K 2 0 key k dup merge");
    assert_eq!(core.jids("pop 2 q w1 5"), ["a"]);
    assert_eq!(foreign.ok("retry 3 a q w1").int(), -1);
    assert_eq!(core.data("a"), "[1,2]");
    assert_eq!(core.state("a"), "failed");
    assert!(!core.has("a~1"));
    assert_eq!(core.ok("unfail 4 q failed-retries-q").int(), 1);
    assert_eq!(core.jids("pop 5 q w1 5"), ["a"]);

    let (mut core, mut foreign) = both();
    core.all("put 1 me q a K {} 0 lock one; pop 2 q w1 1; put 3 me q b K {} 0 lock one");
    foreign.ok("fail 4 a w1 G M");
    let mut popped = Vec::new();
    for now in 5..8 {
        popped.extend(core.jids(&format!("pop {now} q w1 5")));
    }
    assert_eq!(popped, ["b"]);
}

#[test]
fn f6_a_foreign_cancel_is_refused_while_a_successor_waits_and_healed_otherwise() {
    let (mut core, mut foreign) = both();
    core.many((0..3).map(|n| format!("put {n} me q j{n} K {{}} 0 key k")));
    assert!(
        foreign
            .run("cancel 4 j0")
            .unwrap_err()
            .contains("is a dependency of j1")
    );
    assert!(
        foreign
            .run("cancel 4 j1")
            .unwrap_err()
            .contains("is a dependency of j2")
    );
    foreign.ok("cancel 4 j2");
    assert_eq!(core.states("j0 j1"), "waiting depends");
    core.ok("put 5 me q j3 K {} 0 key k");
    assert_eq!(core.lane("q/k"), ["j0", "j1", "j3"]);
    for (now, jid) in [(6, "j0"), (7, "j1"), (8, "j3")] {
        assert_eq!(core.jids(&format!("pop {now} q w1 5")), [jid]);
        core.ok(&format!("complete {now} {jid} w1 q {{}}"));
    }

    let (mut core, mut foreign) = both();
    core.ok("put 1 me q a K 1 0 key k dup merge");
    foreign.ok("cancel 2 a");
    assert_eq!(core.keys_with("-payloads"), ["ql:j:a-payloads"]);
    // A new job of this name starts with its own payload.
    assert_eq!(core.ok("put 3 me q a K 2 0 key k dup merge").text(), "a");
    assert_eq!(core.data("a"), "[2]");
    assert_eq!(core.jids("pop 4 q w1 5"), ["a"]);
}

#[test]
fn f7_a_failed_lane_job_unfailed_by_a_foreign_script_joins_its_lane_before_we_run_it() {
    for back in ["unfail 5 q G", "put 5 me q a K {} 0"] {
        let (mut core, mut foreign) = both();
        core.all("put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w1 5");
        core.ok("fail 4 a w1 G M");
        assert_eq!(core.jids("pop 4 q w1 5"), ["b"]);
        foreign.ok(back);
        assert_eq!(core.state("a"), "waiting");
        assert_eq!(core.jids("pop 6 q w2 5"), [""; 0]);
        assert_eq!(core.state("a"), "depends");
        assert_eq!(core.lane("q/k"), ["b", "a"]);
        core.ok("complete 7 b w1 q {}");
        assert_eq!(core.jids("pop 8 q w2 5"), ["a"]);
    }
}

#[test]
fn f9_a_repair_frees_lanes_slots_and_payloads_that_a_foreign_script_left() {
    let (mut core, mut foreign) = both();
    core.many((0..3).map(|n| format!("put {n} me q j{n} K {{}} 0 key k")));
    core.all("put 3 me m x K 1 0 key x dup merge; put 3.5 me m y K 2 0 key y dup merge");
    core.all("put 3 me s t1 K {} 0 lock one; put 3.5 me s t2 K {} 0 lock one");
    core.all("pop 4 q w1 1; pop 4 m w1 1; pop 4 s w1 2");
    assert_eq!(
        core.states("j0 x t1 t2"),
        "running running running throttled"
    );
    foreign.all("fail 5 j0 w1 G why; complete 5 x w1 m {}; cancel 5 y; complete 5 t1 w1 s {}");
    assert_eq!(core.states("j1 j2"), "depends depends");
    assert!(!core.keys_with("ql:j:x-payloads").is_empty());

    let ran = core.qless().at(30.0).args(["check", "--repair", "--yes"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.stdout(), ran.stderr());
    assert_eq!(core.lane("q/k"), ["j1", "j2"]);
    assert_eq!(core.states("j1 j2 t2"), "waiting depends waiting");
    assert_eq!(core.keys_with("ql:j:x-payloads"), [""; 0]);
    assert_eq!(core.keys_with("ql:k:m"), [""; 0]);
    assert_eq!(core.keys_with("ql:th:"), [""; 0]);
    assert_eq!(core.jids("pop 31 q w1 5"), ["j1"]);
    assert_eq!(core.jids("pop 31 s w1 5"), ["t2"]);
}

#[test]
fn f8_a_lane_keeps_its_order_whoever_pops_and_completes() {
    let mut core = Core::new();
    core.many((0..12).map(|n| format!("put {n} me q j{n:02} K {{}} 0 key k")));
    for n in 0..12 {
        let jid = format!("j{n:02}");
        let popped = either(&core, n).jids(&format!("pop {} q w 5", 20 + n));
        assert_eq!(popped, [jid.as_str()]);
        either(&core, n / 2).ok(&format!("complete {} {jid} w q {{}}", 20 + n));
    }
}

/// A call of the foreign script: of running jobs, and puts of new and live ones.
fn foreign_call(draw: &mut Draw, ledger: &Ledger<'_>, count: usize) -> String {
    let of_state = |draw: &mut Draw, states: &[&str]| {
        let n = draw.below(1 << 20);
        let jobs: Vec<(String, String, String)> = ledger
            .jobs()
            .filter(|(_, hash)| states.contains(&hash["state"].as_str()))
            .map(|(jid, hash)| {
                (
                    jid.to_owned(),
                    hash["worker"].clone(),
                    hash["queue"].clone(),
                )
            })
            .collect();
        match jobs.len() as u64 {
            0 => None,
            len => Some(jobs[(n % len) as usize].clone()),
        }
    };
    let queue = draw.of(&["a", "a", "b"]);
    let pop = format!("pop {queue} old {}", 1 + draw.below(4));
    let roll = draw.below(20);
    if roll < 8 {
        return pop;
    }
    if roll < 10 {
        return format!("put me {queue} f{count} K {{}} 0 retries {}", draw.below(3));
    }
    let live = ["waiting", "scheduled", "depends", "stalled", "running"];
    let states = if roll < 18 {
        &["running"][..]
    } else {
        &live[..]
    };
    let Some((jid, worker, own)) = of_state(draw, states) else {
        return pop;
    };
    match roll {
        10..13 => format!("complete {jid} {worker} {own} {{}}"),
        13 => format!("complete {jid} {worker} {own} {{}} next {queue}"),
        14 => format!("fail {jid} {worker} G M"),
        15..18 => format!("retry {jid} {own} {worker} {}", draw.of(&["0", "15"])),
        18 => format!("put old {queue} {jid} K {{}} {}", draw.of(&["0", "20"])),
        _ => format!("cancel {jid}"),
    }
}

/// Plays a history in which every other call is made by the foreign script.
pub(super) fn play(core: &mut Core, foreign: &mut Core, numbers: &[u64]) -> Result<(), String> {
    foreign.events();
    let excuses = Excuses {
        foreign: true,
        ..Excuses::default()
    };
    let mut ledger = Ledger::new(core, excuses);
    ledger.limited = true;
    let mut steps = Steps::new(Profile::Lanes);
    for line in steps.settings(numbers[0]) {
        ledger.call(&line)?;
    }
    for (count, number) in numbers[1..].iter().enumerate() {
        let mut draw = Draw::new(*number);
        if draw.below(2) == 0 {
            let line = foreign_call(&mut draw, &ledger, count);
            ledger.now += draw.of(&[0.0, 1.0, 12.0, 61.0]);
            ledger.call_through(foreign, &line)?;
        } else {
            let (after, line) = steps.next(draw.below(u64::MAX), &ledger);
            ledger.now += after;
            ledger.call(&line)?;
        }
    }
    if numbers[0].is_multiple_of(2) {
        ledger.repair()?;
    }
    ledger.drain()
}
