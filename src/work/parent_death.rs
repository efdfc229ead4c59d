//! Ends a process when its parent dies.

/// Asks the system to send SIGTERM to this process when its parent dies, for any reason. Only Linux can do this. The
/// function allocates no memory, so that a child may call it between fork and exec.
#[cfg(target_os = "linux")]
pub(crate) fn terminate_when_parent_dies() -> rustix::io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::TERM))
}

/// Other systems have no such option.
#[cfg(not(target_os = "linux"))]
pub(crate) fn terminate_when_parent_dies() -> rustix::io::Result<()> {
    Ok(())
}
