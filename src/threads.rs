//! Starts threads. If the system starts no further thread, these functions return an error. The functions of
//! `std::thread` would panic, so `clippy.toml` forbids them.

use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use crate::error::{Error, no_thread_error};

pub(crate) fn spawn<T: Send + 'static>(
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Error> {
    let thread = Builder::new().spawn(run);
    thread.map_err(|fault| no_thread_error(&fault))
}

pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    run: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Error> {
    let thread = Builder::new().spawn_scoped(scope, run);
    thread.map_err(|fault| no_thread_error(&fault))
}
