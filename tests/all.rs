//! The only test binary: a list of modules.
