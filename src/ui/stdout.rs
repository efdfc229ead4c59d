//! stdout, which refuses output if it was closed when the process began.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether stdout was closed when the process began. Before `main`, Rust opens `/dev/null` in place of a closed
/// stdout. Output, such as the jobs of a `pop`, would then be lost without an error.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Sets [`WAS_CLOSED`] before `main`, and before Rust opens `/dev/null`.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[allow(unsafe_code)]
#[used]
// SAFETY: the loader calls each function of this section once, before other threads exist. The function makes
// one system call and writes an atomic, and needs nothing that `main` would have to set up.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn look() {
        let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
        WAS_CLOSED.store(is_closed, Ordering::Relaxed);
    }
    look
};

/// The process's stdout.
pub(super) struct StdoutIfOpen(io::Stdout);

impl StdoutIfOpen {
    pub(super) fn new() -> StdoutIfOpen {
        StdoutIfOpen(io::stdout())
    }
}

impl Write for StdoutIfOpen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if WAS_CLOSED.load(Ordering::Relaxed) {
            return Err(rustix::io::Errno::BADF.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
