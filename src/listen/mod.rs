//! The HTTP server of `--listen`. It has one thread per connection, at most 64 connections, and no async runtime.
//!
//! [`Listener::bind`] opens the address, and [`Listener::serve`] answers requests until it is asked to stop. The caller
//! makes a [`Response`] for each [`Request`]. This module reads requests, limits their size and time, and refuses bad
//! ones: see `docs/security.md`. It uses no other part of the program, such as Redis.

mod access;
mod address;
mod cached_value;
mod connection;
mod connection_table;
mod options;
mod request;
mod request_reader;
mod response;
mod server_sent_events;
mod server_socket;
mod socket;
mod unix_socket;

use std::thread;
use std::time::Duration;

pub use self::access::AccessRules;
pub use self::address::ListenAddress;
pub use self::cached_value::CachedValue;
pub(crate) use self::cached_value::{ReadPace, lock_within};
use self::connection::Connection;
use self::connection_table::ConnectionTable;
pub use self::connection_table::MAX_CONNECTIONS;
pub(crate) use self::options::listen_address;
pub use self::options::{AccessOptions, ListenOptions};
pub use self::request::{Method, Request};
use self::response::Body;
pub use self::response::{Response, Status};
pub use self::server_sent_events::ServerSentEvents;
use self::server_socket::ServerSocket;
use self::socket::ClientSocket;
use crate::error::Error;
use crate::threads;

/// How often the listener checks whether to stop.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// An address that is open for requests.
#[derive(Debug)]
pub struct Listener {
    socket: ServerSocket,
    access: AccessRules,
    takes_posts: bool,
}

impl Listener {
    /// Opens the address. Refuses an address that other machines can reach if `access` has no token.
    pub fn bind(address: &ListenAddress, mut access: AccessRules) -> Result<Listener, Error> {
        let socket = ServerSocket::bind(address, access.token.is_some())?;
        if let ListenAddress::Tcp { host, .. } = address {
            access.hosts.push(host.clone());
        }
        Ok(Listener {
            socket,
            access,
            takes_posts: false,
        })
    }

    /// Accepts POST besides GET and HEAD.
    pub fn accepting_posts(self) -> Listener {
        Listener {
            takes_posts: true,
            ..self
        }
    }

    /// The URL of the listener, with the port that was opened: `http://127.0.0.1:9123`.
    pub fn url(&self) -> String {
        self.socket.url()
    }

    /// Answers requests until `stop` returns true. Then gives the open responses 5 seconds to be sent, and waits until
    /// each call of `respond` has returned.
    ///
    /// `respond` runs in several threads at the same time.
    pub fn serve<'a>(
        &self,
        respond: impl Fn(&Request) -> Response<'a> + Sync,
        stop: impl Fn() -> bool,
    ) {
        let table = ConnectionTable::default();
        thread::scope(|scope| {
            while !stop() {
                let socket = match self.socket.accept(STOP_CHECK_INTERVAL) {
                    Ok(Some(socket)) => socket,
                    Ok(None) => continue,
                    // The system has no file descriptors or memory left. Closing one connection frees some.
                    Err(_) => {
                        table.close_longest_waiting_and_wait(STOP_CHECK_INTERVAL);
                        continue;
                    }
                };
                match table.add_evicting_longest_waiting(socket) {
                    Ok(entry) => {
                        let connection = Connection::new(entry, &self.access, self.takes_posts);
                        let run = || connection.answer_requests(&respond);
                        // If no thread can be started, the connection is dropped and so closed.
                        _ = threads::spawn_scoped(scope, run);
                    }
                    Err(socket) => refuse_busy(&socket),
                }
            }
            table.stop_connections_and_wait();
        });
    }
}

/// Sends a client the response that too many requests are being answered. Does not wait for the client to read it.
fn refuse_busy(socket: &ClientSocket) {
    let busy = Response::text(
        Status::ServiceUnavailable,
        "too many requests at the same time",
    );
    let busy = busy.with_header("Retry-After", "1");
    let mut bytes = busy.head_bytes(false);
    if let Body::Bytes(body) = busy.body {
        bytes.extend(body);
    }
    socket.send_without_waiting_and_end(&bytes);
}
