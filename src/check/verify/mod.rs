//!

pub(crate) mod batch_size;
pub(crate) mod diagnosis;
pub(crate) mod finding_filter;
pub(crate) mod judge;
pub(crate) mod look;
pub(crate) mod overlaps;
pub(crate) mod repair_queue;
pub(crate) mod stage;
