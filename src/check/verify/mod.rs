//!

pub(crate) mod batch_size;
pub(crate) mod diagnosis;
pub(crate) mod finding_filter;
pub(crate) mod overlaps;
pub(crate) mod repair_queue;
pub(crate) mod run;
pub(crate) mod stage;
pub(crate) mod verifier;
