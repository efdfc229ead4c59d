//! Random calls, random damage, repair: then the check is silent but for what nobody can mend, a
//! second repair finds nothing, and all can be put back.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

use super::damage::{PRELUDE, damage};
use super::invariants::Excuses;
use super::model::Model;
use super::property::{Step, cases, fill, step};
use super::refusal::{changed, still_works};
use crate::house::clean::agree;
use crate::house::core::Core;
use crate::house::judge::{Finding, all_named, look, repair, revert, told};
use crate::house::mend::{Mend, Stage, kept};
use crate::house::walk;

#[derive(Clone, Debug)]
enum Event {
    Call(Step),
    Damage(String),
}

fn lines(found: &[Finding]) -> String {
    told(found).join("\n    ")
}

/// Plays on an empty server; returns the moment and what was sent.
fn damage_done(core: &mut Core, events: &[Event]) -> (f64, String) {
    core.flush();
    core.many(PRELUDE.lines().map(str::to_owned));
    let mut now = 1000.0;
    let mut told: Vec<String> = Vec::new();
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
        told.push(words.join(" "));
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        match event {
            Event::Damage(_) => drop(core.redis_words(&argv)),
            Event::Call(_) => drop(core.call(&argv)),
        }
    }
    core.events();
    (now, told.join("\n    "))
}

fn play(core: &mut Core, events: &[Event], binary: bool) -> Result<(), TestCaseError> {
    let (now, script) = damage_done(core, events);
    let before = core.dump();
    let found = look(core, now, "");
    let excuses = Excuses {
        edited: true,
        ..Excuses::default()
    };
    agree(&before, &found, excuses)
        .map_err(|fault| TestCaseError::fail(format!("\n    {script}\n{fault}")))?;
    let mut missed = walk::missed(core, now, &found, 1 << 22);
    // An edge that only one side knows may close a cycle, or not.
    let torn = found.iter().any(|one| one.id == "dependency-one-sided");
    missed.retain(|one| !torn || one.id != "dependency-cycle");
    prop_assert!(
        missed.is_empty(),
        "\n    {script}\nthe walk misses\n    {}",
        lines(&missed)
    );
    let named = all_named();
    let mut mended = repair(core, now, "");
    let first = core.dump();
    let left = look(core, now, "");
    let found_again = left.iter().any(|one| one.outcome == "found");
    prop_assert!(
        !found_again,
        "\n    {script}\nfound\n    {}\nbut after the repair\n    {}",
        lines(&found),
        lines(&left)
    );
    mended.extend(repair(core, now, &named));
    let after = core.dump();
    let last = look(core, now, "");
    let remains = look(core, now, &named);
    let all_told = remains.iter().all(|one| one.outcome == "report");
    prop_assert!(
        all_told,
        "\n    {script}\nfound\n    {}\nand after naming all\n    {}",
        lines(&found),
        lines(&remains)
    );
    prop_assert!(
        core.events().is_empty(),
        "\n    {script}\nmended with events"
    );
    for keys in [&first, &after] {
        let lost = std::panic::catch_unwind(|| kept(&before, keys)).is_err();
        prop_assert!(!lost, "\n    {script}\nlost something of a job");
    }
    let (_, alone) = revert(core, &mended);
    let back = core.dump();
    prop_assert!(
        back == before && alone == 0,
        "\n    {script}\nmended\n    {}\nput back, {alone} left alone, but\n{}",
        lines(&mended),
        changed(&before, &back)
    );
    if binary {
        let [found, mended, named] = [(found, before), (left, first), (last, after.clone())]
            .map(|(told, keys)| Stage { told, keys });
        Mend::new(core, now)
            .whole_way(&found, &mended, &named)
            .map_err(|fault| TestCaseError::fail(format!("\n    {script}\nthen\n    {fault}")))?;
    } else {
        repair(core, now, "");
        repair(core, now, &named);
    }
    still_works(core, now, &after)
        .map_err(|fault| TestCaseError::fail(format!("\n    {script}\nthen\n    {fault}")))
}

fn run(default: u32, binary: bool) {
    let core = RefCell::new(Core::new());
    let event = prop_oneof![
        3 => step(true).prop_map(Event::Call),
        2 => damage().prop_map(Event::Damage),
    ];
    let events = prop::collection::vec(event, 1..30);
    let outcome = TestRunner::new(cases(default)).run(&events, |events| {
        play(&mut core.borrow_mut(), &events, binary)
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn whatever_was_damaged_is_mended() {
    run(60, false);
}

#[test]
fn whatever_was_damaged_is_mended_by_the_binary() {
    run(20, true);
}
