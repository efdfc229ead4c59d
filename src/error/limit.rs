//! Errors of the system that come from a limit, each with its next step.

use std::io;

use rustix::io::Errno;

use super::{Cause, Error, Kind, io_message};

/// What to do first about an error of the system, if a limit or a full disk is the reason.
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

/// The error for a thread that the system did not start.
pub(crate) fn no_thread_error(fault: &io::Error) -> Error {
    let why = io_message(fault);
    Error::new(Kind::Error, format!("cannot start a thread: {why}"))
        .caused_by(Cause::ProcessLimit)
        .hint(
            "too many processes and threads run for this user (`ulimit -u`), unit or container \
             (TasksMax), or memory is limited (`ulimit -v`)",
        )
}

/// The error for a connection that was not opened since too many files are open.
pub(crate) fn connection_limit_error(fault: &io::Error) -> Option<Error> {
    let errno = Errno::from_io_error(fault)?;
    let hint = limit_hint(fault).filter(|_| matches!(errno, Errno::MFILE | Errno::NFILE))?;
    let message = format!("cannot open a connection: {}", io_message(fault));
    let error = Error::new(Kind::Error, message);
    Some(error.caused_by(Cause::ProcessLimit).hint(hint))
}
