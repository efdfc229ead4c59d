//! Random numbers for the tests: this module is the only source of seeds.
//!
//! `make test` plays one round with the fixed seed below, so that two runs give the same verdict.
//! `make soak` plays many longer rounds, each with a fresh seed, and prints the seed of a round that
//! fails. `TEST_SEED=7` repeats a round; `TEST_ROUNDS=20` plays that many.

use std::fmt::Debug;
use std::hash::{BuildHasher, RandomState};
use std::thread;

use proptest::prelude::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

/// The seed of `make test`.
const SEED: u64 = 20_261_122;

/// Checks a property on random values, `cases` per round.
#[track_caller]
pub(crate) fn property<S: Strategy>(
    cases: u32,
    values: S,
    mut check: impl FnMut(S::Value) -> Result<(), TestCaseError>,
) where
    S::Value: Clone + Debug,
{
    rounds(|seed| {
        let config = Config {
            cases,
            rng_seed: RngSeed::Fixed(seed),
            failure_persistence: None,
            max_shrink_iters: 20_000,
            ..Config::default()
        };
        // A runner calls through a shared reference.
        let check = std::cell::RefCell::new(&mut check);
        let outcome = TestRunner::new(config).run(&values, |value| (check.borrow_mut())(value));
        if let Err(error) = outcome {
            panic!("{error}");
        }
    });
}

/// Plays the rounds of a test, each with its seed.
pub(crate) fn rounds(mut play: impl FnMut(u64)) {
    for seed in seeds() {
        let hint = Hint(seed);
        play(seed);
        drop(hint);
    }
}

/// Whether this is a round of `make soak`, or the repetition of one.
pub(crate) fn soaking() -> bool {
    let given = |name: &str| std::env::var_os(name).is_some();
    given("TEST_SEED") || given("TEST_ROUNDS")
}

/// Whether an expensive case is played: one in `each` in `make test`, all in `make soak`.
pub(crate) fn is_played(case: usize, each: usize) -> bool {
    soaking() || case.is_multiple_of(each)
}

/// The number of cases of an expensive test. `make soak` runs twelve times this number.
pub(crate) fn more_in_soak(cases: u32) -> u32 {
    if soaking() { 12 * cases } else { cases }
}

fn seeds() -> Vec<u64> {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        let number: Result<u64, _> = text.parse();
        Some(number.unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
    };
    match (number("TEST_SEED"), number("TEST_ROUNDS")) {
        (Some(seed), _) => vec![seed],
        (None, None) => vec![SEED],
        (None, Some(rounds)) => (0..rounds).map(|_| fresh()).collect(),
    }
}

/// A seed that no earlier run used: the standard library seeds its hash maps from the system.
fn fresh() -> u64 {
    RandomState::new().hash_one("seed") >> 32
}

/// Prints how to repeat a round that fails.
struct Hint(u64);

impl Drop for Hint {
    fn drop(&mut self) {
        if thread::panicking() {
            let current = thread::current();
            let test = current.name().unwrap_or_default();
            eprintln!(
                "to repeat: TEST_SEED={} cargo test --locked -- --exact {test}",
                self.0
            );
        }
    }
}

/// A small generator of random numbers, for tests that need no shrinking.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }

    /// One element of a list.
    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// Up to `most` elements of a list, possibly repeated.
    pub(crate) fn some(&mut self, list: &[&str], most: u64) -> Vec<String> {
        let count = self.below(most + 1);
        (0..count).map(|_| self.of(list).to_owned()).collect()
    }
}
