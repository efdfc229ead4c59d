//! Why a connection could not be opened, or can no longer be used.

use std::io;

use super::tls::fault::TlsFault;
use crate::error::{Error, connection_open_file_limit_error, io_message_without_errno};

/// Why a connection could not be opened, or can no longer be used.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The name has no address.
    Unresolved,
    /// The system could not connect to the server. The text is the system's message.
    Unreachable(io::ErrorKind, String),
    /// A limit of this process, user or machine, such as the number of open files, prevents the connection.
    ProcessLimit(Box<Error>),
    /// The deadline passed.
    TimedOut,
    /// The connection ended.
    Closed,
    /// The reply is not in the Redis protocol.
    MalformedReply,
    /// A reply is longer than any of Redis.
    TooLong,
    /// The replies to one request take more memory than this program allows.
    TooMuch,
    /// This process has too little memory for the replies to one request.
    OutOfMemory,
    /// The server's error message is not UTF-8, so the `redis` crate cannot read it.
    InvalidUtf8,
    /// A process of another user listens on the socket of a private server.
    ForeignServer,
    /// The server requires TLS, and this connection does not use it.
    RequiresTls,
    /// There is no encrypted connection.
    Tls(TlsFault),
}

impl Fault {
    /// The fault of an error of the system.
    pub(super) fn from_io(error: &io::Error) -> Fault {
        if let Some(limit) = connection_open_file_limit_error(error) {
            return limit.into();
        }
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Fault::TimedOut,
            io::ErrorKind::UnexpectedEof => Fault::Closed,
            kind => Fault::Unreachable(kind, io_message_without_errno(error)),
        }
    }
}

impl From<Error> for Fault {
    fn from(limit: Error) -> Fault {
        Fault::ProcessLimit(Box::new(limit))
    }
}
