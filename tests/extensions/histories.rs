//! C3: random histories. The invariants hold after every call, and after a drain nothing is held.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::foreign::{self, FOREIGN};
use super::steps::{self, Profile};
use crate::check::invariants::Excuses;
use crate::support::core::Core;
use crate::support::random;

/// The number of histories in `make test`; a round of `make soak` plays `SOAK` times as many, so
/// that its 20 rounds play 100,000 of all kinds.
const SOAK: u32 = 50;

/// The numbers of a history: the first draws its settings, each further one a call.
fn numbers(most: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(any::<u64>().no_shrink(), 2..most)
}

/// The number of histories to play.
fn histories(cases: u32) -> u32 {
    if random::soaking() {
        cases * SOAK
    } else {
        cases
    }
}

fn run(cases: u32, most: usize, profile: Profile) {
    let mut core = Core::new();
    random::property(histories(cases), numbers(most), |numbers| {
        play(&mut core, &numbers, profile).map_err(TestCaseError::fail)
    });
}

fn play(core: &mut Core, numbers: &[u64], profile: Profile) -> Result<(), String> {
    let now = {
        let mut ledger = steps::play(core, numbers, profile)?;
        ledger.check()?;
        // Full slots and a failed job of a merging lane may leave two jobs for a moment.
        ledger.excuses.mixed_lanes = None;
        ledger.drain()?;
        ledger.now
    };
    let excuses = Excuses {
        reference: true,
        unrecurred: true,
        kept: true,
        ..Excuses::default()
    };
    match core.damage_within(now, excuses)? {
        damage if damage.is_empty() => Ok(()),
        damage => Err(format!("check reports\n{damage}")),
    }
}

#[test]
fn c3_random_histories_keep_the_invariants() {
    run(25, 40, Profile::Everything);
}

#[test]
fn c3_random_histories_with_dependencies_keep_the_invariants() {
    run(20, 40, Profile::Dependencies);
}

#[test]
fn c3_random_histories_of_merging_puts_keep_the_invariants() {
    run(20, 40, Profile::Merging);
}

#[test]
fn c3_random_histories_of_throttles_keep_the_invariants() {
    run(15, 40, Profile::Throttles);
}

#[test]
fn c3_random_histories_of_lanes_keep_the_invariants() {
    run(10, 40, Profile::Lanes);
}

#[test]
fn c3_random_histories_with_a_foreign_script_keep_lanes_exclusive() {
    let mut core = Core::new();
    let mut old = core.beside(FOREIGN);
    random::property(histories(10), numbers(40), |numbers| {
        foreign::play(&mut core, &mut old, &numbers).map_err(TestCaseError::fail)
    });
}
