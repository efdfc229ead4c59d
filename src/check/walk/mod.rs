//! The walk that finds candidates. What it suspects is judged by `check.slice`, and only that
//! verdict is told: a false candidate costs a call, a missed one is a defect.

mod naive;

use crate::core::Core;
use crate::core::check::Place;
use crate::error::Error;
use crate::model::moment::Moment;
use crate::model::name::Name;

/// What a walk goes through.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Only what belongs to these queues; everything if empty.
    pub queues: Vec<Name>,
}

/// What a walk went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub keys: u64,
    pub jobs: u64,
    pub queues: u64,
}

/// Who is told of candidates.
pub trait Sink {
    /// Takes a candidate. The same one may come more than once.
    fn suspect(&mut self, core: &mut Core, place: &Place, item: Name) -> Result<(), Error>;

    /// Is told how far the walk has come: what it has seen since it was told last. Sets the pace,
    /// and ends the walk by an error.
    fn seen(&mut self, core: &mut Core, seen: Seen) -> Result<(), Error>;

    /// Is told that everything was walked. The candidates that follow may be asked about what needs
    /// that (`core.md` 9.5): jobs in `depends` that wait for nothing, `names` of `tags`, and the
    /// counters of failed jobs.
    fn whole(&mut self, core: &mut Core) -> Result<(), Error>;
}

/// Walks, and returns what was seen.
pub fn run(
    core: &mut Core,
    now: Moment,
    scope: &Scope,
    sink: &mut dyn Sink,
) -> Result<Seen, Error> {
    naive::run(core, now, scope, sink)
}
