//! A script without knowledge of lanes and throttles serves the same database: one test for each
//! effect, and random histories in which both take part (C3).

use expect_test::expect;

use super::ledger::Ledger;
use super::steps::{Profile, Steps};
use crate::extensions::invariants::Excuses;
use crate::support::core::Core;
use crate::support::random::Draw;

/// A plain second implementation of what an old script does.
pub(crate) const FOREIGN: &str = include_str!("foreign.lua");

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
fn each_effect_of_a_foreign_script() {
    Core::new().session(expect![[r#"
        == F1: a job put by a foreign script is outside lanes and gets the defaults when it is popped
        config.set 0 q-defaults {"lock":"*","key":"k","backoff":"fixed:7"}; foreign put 1 me q a K {} 0
        foreign put 2 me q b K {} 0
        pop 3 q w1 5 | jid → a
        -- A key cannot be added late.
        get 3 a | backoff throttles key → fixed:7 ["lock:K:bf21a9e8fbc5a3846fb05b4fa0859e0917b2202f"] -
        keys ql:k:* → none
        states b → throttled
        retry 4 a q w1
        score ql:q:q-scheduled a → 11
        -- Neither is merged with a merging put.
        foreign put 5 me p x K 1 0
        put 6 me p y K 2 0 key k dup merge → y

        == F2: a foreign put and advance of a lane job keep its place
        put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w1 1; foreign put 4 me p a K {} 0
        ZRANGE ql:k:q/k 0 -1 → a b
        states a b → waiting depends
        pop 5 q w1 5 → {}
        pop 5 p w1 5 | jid → a
        foreign complete 6 a w1 p {} next q
        ZRANGE ql:k:q/k 0 -1 → a b
        states a b → waiting depends
        pop 7 p w1 5 → {}
        pop 7 q w1 5 | jid → a
        complete 8 a w1 q {}
        pop 9 q w1 5 | jid → b
        -- Of a job in the middle.
        FLUSHALL; put 0 me q j0 K {} 0 key k; put 1 me q j1 K {} 0 key k; put 2 me q j2 K {} 0 key k
        foreign put 4 me p j1 K {} 0
        states j0 j1 j2 → waiting depends depends
        ZRANGE ql:k:q/k 0 -1 → j0 j1 j2

        == F2: data put by a foreign script is lost at the next merge
        put 1 me q a K "v1" 0 key k dup merge score 1; foreign put 2 me q a K "other" 0
        HGET ql:j:a data → "other"
        put 3 me q b K "v2" 0 key k dup merge score 2 → a
        HGET ql:j:a data → ["v1","v2"]

        == F3: a foreign pop sees first jobs only, with all payloads and no limit
        put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k
        put 3 me q m K 1 0 key l dup merge; put 4 me q n K 2 0 key l dup merge
        foreign pop 5 q old 9 | jid → a m
        HGET ql:j:m data → [1,2]
        foreign pop 6 q old 9 → {}
        pop 6 q w1 9 → {}
        -- Both jobs were put before one of them runs.
        put 7 me r c K {} 0 lock one; put 7.5 me r d K {} 0 lock one
        foreign pop 8 r old 9 | jid → c d

        == F4: a foreign completion releases the next job and heals
        put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w1 5; foreign complete 4 a w1 q {}
        pop 5 q w1 5 | jid → b
        -- The next keyed put removes the dead entry and stands behind b.
        put 6 me q c K {} 0 key k
        ZRANGE ql:k:q/k 0 -1 → b c
        states c → depends
        -- A slot is taken back when the throttle is found full.
        FLUSHALL; put 1 me q a K {} 0 lock one; pop 2 q w1 1; put 3 me q b K {} 0 lock one
        foreign complete 4 a w1 q {}
        throttle.locks 4 lock:one → ["a"]
        pop 5 q w1 5; pop 6 q w1 5; pop 7 q w1 5
        states b → running
        throttle.locks 9 lock:one → ["b"]

        == F4: the payloads of a job completed by a foreign script are left
        put 1 me q a K 1 0 key k dup merge; pop 2 q w1 1; foreign complete 3 a w1 q {}
        keys *-payloads → ql:j:a-payloads
        -- They do no harm: the next put starts another job.
        put 4 me q b K 2 0 key k dup merge → b
        HMGET ql:j:b state data → waiting [2]

        == F5: a merge job failed by a foreign script fails whole and its slot is healed
        put 1 me q a K 1 0 key k dup merge retries 0; put 1 me q b K 2 0 key k dup merge
        pop 2 q w1 5 | jid → a
        foreign retry 3 a q w1 → :-1
        HMGET ql:j:a data state → [1,2] failed
        EXISTS ql:j:a~1 → :0
        unfail 4 q failed-retries-q → :1
        pop 5 q w1 5 | jid → a
        FLUSHALL; put 1 me q a K {} 0 lock one; pop 2 q w1 1; put 3 me q b K {} 0 lock one; foreign fail 4 a w1 G M
        pop 5 q w1 5; pop 6 q w1 5; pop 7 q w1 5
        states b → running

        == F6: a foreign cancel is refused while a successor waits, and healed otherwise
        put 0 me q j0 K {} 0 key k; put 1 me q j1 K {} 0 key k; put 2 me q j2 K {} 0 key k
        foreign cancel 4 j0 → error Foreign(): j0 is a dependency of j1 but is not mentioned to be canceled
        foreign cancel 4 j1 → error Foreign(): j1 is a dependency of j2 but is not mentioned to be canceled
        foreign cancel 4 j2
        states j0 j1 → waiting depends
        put 5 me q j3 K {} 0 key k
        ZRANGE ql:k:q/k 0 -1 → j0 j1 j3
        pop 6 q w1 5 | jid → j0
        complete 6 j0 w1 q {}
        pop 7 q w1 5 | jid → j1
        complete 7 j1 w1 q {}
        pop 8 q w1 5 | jid → j3
        FLUSHALL; put 1 me q a K 1 0 key k dup merge; foreign cancel 2 a
        keys *-payloads → ql:j:a-payloads
        -- A new job of this name starts with its own payload.
        put 3 me q a K 2 0 key k dup merge → a
        HGET ql:j:a data → [2]
        pop 4 q w1 5 | jid → a

        == F7: a failed lane job unfailed by a foreign script joins its lane before we run it
        put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w1 5; fail 4 a w1 G M
        pop 4 q w1 5 | jid → b
        foreign unfail 5 q G
        states a → waiting
        pop 6 q w2 5 → {}
        states a → depends
        ZRANGE ql:k:q/k 0 -1 → b a
        complete 7 b w1 q {}
        pop 8 q w2 5 | jid → a
        -- The same by a put.
        FLUSHALL; put 1 me q a K {} 0 key k; put 2 me q b K {} 0 key k; pop 3 q w1 5; fail 4 a w1 G M
        pop 4 q w1 5; foreign put 5 me q a K {} 0
        pop 6 q w2 5 → {}
        states a b → depends running
        ZRANGE ql:k:q/k 0 -1 → b a
        complete 7 b w1 q {}
        pop 8 q w2 5 | jid → a
    "#]]);
}

#[test]
fn f5_after_a_foreign_failure_the_lane_waits_until_a_keyed_call_heals_it() {
    let (mut core, mut foreign) = both();
    for failure in ["fail 4 a w1 G M", "retry 4 a q w1"] {
        for (heal, runs) in [
            ("put 6 me q c K {} 0 key k", "b"),
            ("unfail 6 q @ 1", "b"),
            ("cancel 6 a", "b"),
        ] {
            core.flush();
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
