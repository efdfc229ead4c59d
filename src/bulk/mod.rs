//! Changes of many jobs, in these steps: list, plan, confirm, change, report.
//!
//! A command reads its jobs and makes a [`BulkPlan`] of those that it may change. A job that it may not change is
//! an error if only one job was named, else an item of the report. [`BulkPlan::ask_consent_or_print_plan`] gives the
//! consent that [`BulkPlan::change_in_slices`] requires. That changes up to [`SLICE`] jobs at a time, and leaves a job as
//! it is if the job has changed since the command read it.

mod act;
pub(crate) mod acting_worker;
pub(crate) mod bury;
pub(crate) mod cancel;
pub(crate) mod checksum;
pub(crate) mod lanes;
pub(crate) mod ledger;
pub(crate) mod maxima;
pub(crate) mod new_queues;
mod order;
mod outcome;
pub(crate) mod pace;
mod plan;
pub(crate) mod requeue;
pub(crate) mod restart;
mod running;
pub(crate) mod save;
pub(crate) mod tally;

pub(crate) use crate::model::bulk::JobOutcome;
pub(crate) use outcome::{add_outcomes_of_replies, failed_call_outcome};
pub(crate) use plan::BulkPlan;

/// Maximum number of jobs that are changed between two checks of the clock and of signals.
pub(crate) const SLICE: usize = 200;
