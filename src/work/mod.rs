//! `qless work`: running the jobs of queues with any program.

pub mod process;
