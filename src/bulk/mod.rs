//! Changing many jobs: list, plan, confirm, act in slices, report.
//!
//! A command reads the jobs that it was given and puts the jobs that it may change into a
//! [`BulkPlan`]. The other jobs are excluded: that is an error if one job was named, else an item of
//! the report. [`BulkPlan::run_in_slices`] changes the rest in slices. Each change is guarded by the job's
//! snapshot.

mod act;
pub(crate) mod acting_worker;
pub(crate) mod action;
pub(crate) mod bury;
pub(crate) mod cancel;
pub(crate) mod checksum;
pub(crate) mod exit;
pub(crate) mod lanes;
pub(crate) mod ledger;
pub(crate) mod maxima;
pub(crate) mod new_queues;
mod options;
mod order;
mod outcome;
pub(crate) mod pace;
mod plan;
pub(crate) mod requeue;
pub(crate) mod restart;
mod running;
pub(crate) mod save;
mod slice;
mod tally;

pub(crate) use action::{BulkAction, JobSlice};
pub(crate) use options::BulkOptions;
pub(crate) use outcome::JobOutcome;
pub(crate) use plan::BulkPlan;
pub(crate) use slice::{SliceOutcome, failed_call_outcome};
pub(crate) use tally::BulkTally;

/// Maximum number of jobs changed between two checks of the clock and of signals.
pub(crate) const SLICE: usize = 200;
