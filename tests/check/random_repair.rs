//! Random calls, random damage, repair: then the check finds only what cannot be repaired, a second
//! repair finds nothing, and everything can be reverted.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::invariants::Excuses;
use super::random_damage::{PRELUDE, damage};
use crate::core::model::Model;
use crate::core::property::{Step, fill, step};
use crate::core::refusal::still_works;
use crate::support::check_calls::{all_named, describe_all, repair, verify_all};
use crate::support::clean::agree;
use crate::support::core::Core;
use crate::support::random;
use crate::support::repair::{RepairCycle, RepairStages, repair_by_calls};
use crate::support::scan;

#[derive(Clone, Debug)]
enum Event {
    Call(Step),
    Damage(String),
}

/// Makes the calls and the damage on an empty server. Returns the time and the commands.
fn damage_done(core: &mut Core, events: &[Event]) -> (f64, String) {
    core.flush();
    core.many(PRELUDE.lines().map(str::to_owned));
    let mut now = 1000.0;
    let mut calls: Vec<String> = Vec::new();
    for event in events {
        let model = Model::over(core.dump());
        let mut words = match event {
            Event::Damage(line) => fill(line, now, &model),
            Event::Call(step) => {
                now += step.after;
                fill(&step.line, now, &model)
            }
        };
        if matches!(event, Event::Damage(_)) {
            words.remove(1);
        }
        calls.push(words.join(" "));
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        match event {
            Event::Damage(_) => drop(core.redis_words(&argv)),
            Event::Call(_) => drop(core.call(&argv)),
        }
    }
    core.events();
    (now, calls.join("\n    "))
}

fn play(core: &mut Core, events: &[Event], binary: bool) -> Result<(), TestCaseError> {
    let (now, script) = damage_done(core, events);
    let found = verify_all(core, now, "");
    let excuses = Excuses {
        edited: true,
        ..Excuses::default()
    };
    let fault = |what: String| TestCaseError::fail(format!("\n    {script}\n{what}"));
    agree(&core.dump(), &found, excuses).map_err(fault)?;
    let mut missed = scan::missed(core, now, &found, 1 << 22);
    // A one-sided edge may close a cycle, or not.
    let torn = found.iter().any(|one| one.id == "dependency-one-sided");
    missed.retain(|one| !torn || one.id != "dependency-cycle");
    if !missed.is_empty() {
        let missed = describe_all(&missed).join("\n    ");
        return Err(fault(format!("the scan misses\n    {missed}")));
    }
    let RepairStages { stages, .. } = repair_by_calls(core, now, found).map_err(fault)?;
    let [damaged, repaired, named] = &stages;
    if binary {
        let mut cycle = RepairCycle::new(core, now);
        cycle.full_cycle(damaged, repaired, named).map_err(fault)?;
    } else {
        repair(core, now, "");
        repair(core, now, &all_named());
    }
    still_works(core, now, &named.keys).map_err(fault)
}

fn run(cases: u32, binary: bool) {
    let mut core = Core::new();
    let event = prop_oneof![
        3 => step(true).prop_map(Event::Call),
        2 => damage().prop_map(Event::Damage),
    ];
    let events = prop::collection::vec(event, 1..30);
    random::property(random::more_in_soak(cases), events, |events| {
        play(&mut core, &events, binary)
    });
}

#[test]
fn random_damage_is_repaired() {
    run(5, false);
}

#[test]
fn random_damage_is_repaired_by_the_binary() {
    run(2, true);
}
