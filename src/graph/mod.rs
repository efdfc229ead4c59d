//! Which jobs depend on which.

pub(crate) mod walk;
