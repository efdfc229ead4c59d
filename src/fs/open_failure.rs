//! Why a file was not opened, and the error that says so.

use std::io;

use crate::error::{Error, Kind};

/// Why a file was not opened.
#[derive(Debug)]
pub(crate) enum OpenFailure {
    Failed(io::Error),
    /// `qless` refused the file: it is not of the expected kind, or not safe to use.
    Refused {
        why: String,
        hint: Option<String>,
    },
}

impl OpenFailure {
    pub(crate) fn refused(why: impl Into<String>) -> OpenFailure {
        let (why, hint) = (why.into(), None);
        OpenFailure::Refused { why, hint }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> OpenFailure {
        match self {
            OpenFailure::Refused { why, .. } => OpenFailure::Refused {
                why,
                hint: Some(hint.into()),
            },
            failed => failed,
        }
    }

    /// The kind of the operating system's error; `None` for a file that `qless` refused.
    pub(crate) fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            OpenFailure::Failed(fault) => Some(fault.kind()),
            OpenFailure::Refused { .. } => None,
        }
    }

    /// The error for this failure, with a message that begins with `what`, such as ``cannot write `F` ``. Its kind is
    /// `Usage` for a refused file, and `kind_if_failed` for an error of the operating system.
    pub(crate) fn into_error(self, what: &str, kind_if_failed: Kind) -> Error {
        match &self {
            OpenFailure::Failed(_) => self.into_error_of_kind(what, kind_if_failed),
            OpenFailure::Refused { .. } => self.into_error_of_kind(what, Kind::Usage),
        }
    }

    /// The error for this failure, of this kind, with a message that begins with `what`.
    pub(crate) fn into_error_of_kind(self, what: &str, kind: Kind) -> Error {
        let (why, hint) = match self {
            OpenFailure::Failed(fault) => return Error::from_io(kind, what, &fault),
            OpenFailure::Refused { why, hint } => (why, hint),
        };
        Error::new(kind, format!("{what}: {why}")).hint_if(hint)
    }
}

impl From<io::Error> for OpenFailure {
    fn from(fault: io::Error) -> OpenFailure {
        OpenFailure::Failed(fault)
    }
}
