//! Why a connection could not be opened, or can no longer be used.

use std::io;

use super::tls::fault::TlsFault;
use crate::error::{Error, connection_limit_error, io_message};

/// Why a connection could not be opened, or can no longer be used.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The name has no address.
    Unresolved,
    /// The server is not there. The text is the system's message.
    Unreachable(io::ErrorKind, String),
    /// A limit of this process, user or machine keeps it from connecting.
    ProcessLimit(Box<Error>),
    /// The deadline passed.
    TimedOut,
    /// The connection ended.
    Closed,
    /// The reply is not in the Redis protocol.
    MalformedReply,
    /// A reply is longer than any of Redis.
    TooLong,
    /// The replies to one request take more memory than they may.
    TooMuch,
    /// This process has too little memory for the replies to one request.
    OutOfMemory,
    /// The server's error message is not UTF-8, so the crate cannot read it.
    InvalidUtf8,
    /// A process of another user listens on the socket of a private server.
    ForeignServer,
    /// The server speaks TLS, and this end does not.
    RequiresTls,
    /// There is no encrypted connection.
    Tls(TlsFault),
}

impl Fault {
    /// The fault of an error of the system.
    pub(super) fn from_io(error: &io::Error) -> Fault {
        if let Some(limit) = connection_limit_error(error) {
            return limit.into();
        }
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Fault::TimedOut,
            io::ErrorKind::UnexpectedEof => Fault::Closed,
            kind => Fault::Unreachable(kind, io_message(error)),
        }
    }
}

impl From<Error> for Fault {
    fn from(limit: Error) -> Fault {
        Fault::ProcessLimit(Box::new(limit))
    }
}
