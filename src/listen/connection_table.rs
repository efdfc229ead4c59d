//! The table of open connections, at most 64. In a full table, the connection that has waited longest for a request is
//! closed for a new one.

use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::socket::ClientSocket;

/// Maximum number of connections at the same time.
pub const MAX_CONNECTIONS: usize = 64;

/// Maximum number of connection threads. The thread of a closed connection counts until it ends.
const MAX_THREADS: usize = 2 * MAX_CONNECTIONS;

/// How long connections may go on sending their responses after the listener was asked to stop.
const MAX_TIME_TO_FINISH: Duration = Duration::from_secs(5);

/// How long a new connection waits, if there are too many threads, for one of them to end.
const MAX_TIME_TO_LEAVE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct ConnectionTable {
    entries: Mutex<Vec<ConnectionRow>>,
    left: Condvar,
    stopping: AtomicBool,
}

#[derive(Debug)]
struct ConnectionRow {
    socket: Arc<ClientSocket>,
    phase: ConnectionPhase,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ConnectionPhase {
    /// Since this moment, the connection has waited for a complete request, or has sent a stream.
    Waiting(Instant),
    Responding,
    /// The table has closed the connection to make room for another one. The connection's thread is about to end.
    Closed,
}

/// The entry of a connection in the table. Dropping it removes the connection from the table.
#[derive(Debug)]
pub(super) struct ConnectionRegistration<'t> {
    table: &'t ConnectionTable,
    pub socket: Arc<ClientSocket>,
}

impl ConnectionTable {
    /// Adds a connection. If the table is full, closes the connection that has waited longest for a request, so that
    /// slow clients do not lock out others. Returns the socket if no connection waits, or if too many threads have not
    /// ended yet.
    pub(super) fn add_evicting_longest_waiting(
        &self,
        socket: ClientSocket,
    ) -> Result<ConnectionRegistration<'_>, ClientSocket> {
        let mut rows = self.lock_rows();
        if rows.len() >= MAX_THREADS {
            rows = self.wait_for_departure(rows, MAX_TIME_TO_LEAVE);
        }
        let open = rows
            .iter()
            .filter(|row| row.phase != ConnectionPhase::Closed)
            .count();
        let has_room = open < MAX_CONNECTIONS || close_longest_waiting_if_any(&mut rows);
        if !has_room || rows.len() >= MAX_THREADS {
            return Err(socket);
        }
        let socket = Arc::new(socket);
        rows.push(ConnectionRow {
            socket: socket.clone(),
            phase: ConnectionPhase::Waiting(Instant::now()),
        });
        Ok(ConnectionRegistration {
            table: self,
            socket,
        })
    }

    /// Closes the connection that has waited longest for a request. Waits up to `patience` until a connection leaves
    /// the table.
    pub(super) fn close_longest_waiting_and_wait(&self, patience: Duration) {
        let mut rows = self.lock_rows();
        close_longest_waiting_if_any(&mut rows);
        drop(self.wait_for_departure(rows, patience));
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Ends all connections. Those that wait for a request end immediately. The others get 5 seconds to finish their
    /// responses.
    pub(super) fn stop_connections_and_wait(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        let deadline = Instant::now() + MAX_TIME_TO_FINISH;
        let mut rows = self.lock_rows();
        rows.iter()
            .for_each(|row| row.socket.shut_down(Shutdown::Read));
        while !rows.is_empty() {
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            rows = self.wait_for_departure(rows, rest);
        }
        rows.iter()
            .for_each(|row| row.socket.shut_down(Shutdown::Both));
    }

    fn lock_rows(&self) -> MutexGuard<'_, Vec<ConnectionRow>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits up to `patience` until a connection leaves the table.
    fn wait_for_departure<'t>(
        &self,
        rows: MutexGuard<'t, Vec<ConnectionRow>>,
        patience: Duration,
    ) -> MutexGuard<'t, Vec<ConnectionRow>> {
        let waited = self.left.wait_timeout(rows, patience);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn close_longest_waiting_if_any(rows: &mut [ConnectionRow]) -> bool {
    let longest = rows
        .iter_mut()
        .filter_map(|row| match row.phase {
            ConnectionPhase::Waiting(since) => Some((since, row)),
            ConnectionPhase::Responding | ConnectionPhase::Closed => None,
        })
        .min_by_key(|(since, _)| *since);
    let Some((_, row)) = longest else {
        return false;
    };
    row.phase = ConnectionPhase::Closed;
    row.socket.shut_down(Shutdown::Both);
    true
}

impl ConnectionRegistration<'_> {
    /// Marks the connection as responding, because a complete request has arrived. False if the table has closed the
    /// connection.
    pub(super) fn begin_response_if_open(&self) -> bool {
        self.set_phase_if_open(ConnectionPhase::Responding)
    }

    /// Marks the connection as waiting, because it begins to send a stream. So a full table may close it, and its
    /// client connects again. False if the table has already closed the connection.
    pub(super) fn begin_stream_if_open(&self) -> bool {
        self.set_phase_if_open(ConnectionPhase::Waiting(Instant::now()))
    }

    /// Marks the connection as waiting, because its response was sent. False if the connection may not read another
    /// request.
    pub(super) fn end_response_and_may_continue(&self) -> bool {
        self.set_phase_if_open(ConnectionPhase::Waiting(Instant::now())) && !self.is_stopping()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.table.is_stopping()
    }

    fn set_phase_if_open(&self, phase: ConnectionPhase) -> bool {
        let mut rows = self.table.lock_rows();
        let own = rows
            .iter_mut()
            .find(|row| Arc::ptr_eq(&row.socket, &self.socket));
        match own {
            Some(row) if row.phase != ConnectionPhase::Closed => {
                row.phase = phase;
                true
            }
            _ => false,
        }
    }
}

impl Drop for ConnectionRegistration<'_> {
    fn drop(&mut self) {
        let mut rows = self.table.lock_rows();
        rows.retain(|row| !Arc::ptr_eq(&row.socket, &self.socket));
        self.table.left.notify_all();
    }
}
