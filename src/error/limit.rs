//! Errors because of a limit of the operating system, such as open files, threads or disk space, each with a hint.

use std::io;

use rustix::io::Errno;

use super::{Cause, Error, Kind, io_message_without_errno};

/// The hint for an error of the operating system whose reason is a limit or a full disk; `None` for other reasons.
pub(crate) fn limit_hint(fault: &io::Error) -> Option<&'static str> {
    match (Errno::from_io_error(fault), fault.kind()) {
        (Some(Errno::MFILE), _) => Some("raise `ulimit -n`, the number of open files"),
        (Some(Errno::NFILE), _) => Some("end other programs: they have too many files open"),
        (_, io::ErrorKind::StorageFull) => Some("make room on the disk"),
        (_, io::ErrorKind::QuotaExceeded) => Some("delete files: your disk quota is used up"),
        (_, io::ErrorKind::FileTooLarge) => Some("raise `ulimit -f`, the size of a file"),
        _ => None,
    }
}

/// The error for a thread that the operating system refused to start.
pub(crate) fn no_thread_error(fault: &io::Error) -> Error {
    let why = io_message_without_errno(fault);
    Error::new(Kind::Error, format!("cannot start a thread: {why}"))
        .caused_by(Cause::ProcessLimit)
        .hint(
            "too many processes and threads run for this user (`ulimit -u`), unit or container \
             (TasksMax), or memory is limited (`ulimit -v`)",
        )
}

/// The error for a connection that the system refused to open because too many files are open; `None` for other faults.
pub(crate) fn connection_open_file_limit_error(fault: &io::Error) -> Option<Error> {
    let errno = Errno::from_io_error(fault)?;
    let hint = limit_hint(fault).filter(|_| matches!(errno, Errno::MFILE | Errno::NFILE))?;
    let message = format!(
        "cannot open a connection: {}",
        io_message_without_errno(fault)
    );
    let error = Error::new(Kind::Error, message);
    Some(error.caused_by(Cause::ProcessLimit).hint(hint))
}
