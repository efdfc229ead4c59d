//! The verification of a scan's candidates, the possible inconsistencies. The core verifies them in batches. The
//! confirmed findings are counted, reported and queued for a repair.

pub(crate) mod batch;
pub(crate) mod batch_size;
mod blocking_findings;
mod calls;
mod candidates;
pub(crate) mod collector;
pub(crate) mod diagnosis;
pub(crate) mod expected;
pub(crate) mod finding_filter;
mod lost_dependencies;
pub(crate) mod options;
pub(crate) mod overlaps;
pub(crate) mod progress;
pub(crate) mod repair_queue;
pub(crate) mod run;
pub(crate) mod unlisted;
mod verdicts;
pub(crate) mod verifier;
