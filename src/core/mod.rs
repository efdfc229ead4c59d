//! The only modules that talk to Redis. They return models or errors and print nothing.

pub(crate) mod api;
pub(crate) mod call;
pub(crate) mod script;
