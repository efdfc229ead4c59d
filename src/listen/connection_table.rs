//! The connections that are open, at most 64, and which of them makes room for another one.

use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::socket::Socket;

/// Maximum number of connections at the same time.
pub const MAX_CONNECTIONS: usize = 64;

/// Maximum number of threads of connections, with those that were closed and are about to end.
const MAX_THREADS: usize = 2 * MAX_CONNECTIONS;

/// How long responses may be sent after the listener was asked to stop.
const FINISH: Duration = Duration::from_secs(5);

/// How long a closed connection may take to leave the table.
const LEAVE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct ConnectionTable {
    entries: Mutex<Vec<Row>>,
    left: Condvar,
    stopping: AtomicBool,
}

#[derive(Debug)]
struct Row {
    socket: Arc<Socket>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// No whole request has arrived since then, or a stream has been sent.
    Waiting(Instant),
    Responding,
    /// The connection made room for another one, and its thread is about to end.
    Closed,
}

/// The place of a connection in the table. Dropping it frees the place.
#[derive(Debug)]
pub(super) struct TableEntry<'t> {
    table: &'t ConnectionTable,
    pub socket: Arc<Socket>,
}

impl ConnectionTable {
    /// Adds a connection. In a full table, the one that has waited longest for its request is closed, so
    /// that slow clients do not lock out others. Returns the socket if all are being answered.
    pub(super) fn enter(&self, socket: Socket) -> Result<TableEntry<'_>, Socket> {
        let mut rows = self.rows();
        if rows.len() >= MAX_THREADS {
            rows = self.wait(rows, LEAVE);
        }
        let open = rows.iter().filter(|row| row.phase != Phase::Closed).count();
        let has_room = open < MAX_CONNECTIONS || close_longest_waiting(&mut rows);
        if !has_room || rows.len() >= MAX_THREADS {
            return Err(socket);
        }
        let socket = Arc::new(socket);
        rows.push(Row {
            socket: socket.clone(),
            phase: Phase::Waiting(Instant::now()),
        });
        Ok(TableEntry {
            table: self,
            socket,
        })
    }

    /// Closes the connection that has waited longest for its request. Waits until one has ended, but not
    /// longer than this.
    pub(super) fn end_one(&self, patience: Duration) {
        let mut rows = self.rows();
        close_longest_waiting(&mut rows);
        drop(self.wait(rows, patience));
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Lets connections finish the responses under way, and ends those that only wait for requests.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        let deadline = Instant::now() + FINISH;
        let mut rows = self.rows();
        rows.iter()
            .for_each(|row| row.socket.shut_down(Shutdown::Read));
        while !rows.is_empty() {
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            rows = self.wait(rows, rest);
        }
        rows.iter()
            .for_each(|row| row.socket.shut_down(Shutdown::Both));
    }

    fn rows(&self) -> MutexGuard<'_, Vec<Row>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a connection leaves the table.
    fn wait<'t>(
        &self,
        rows: MutexGuard<'t, Vec<Row>>,
        patience: Duration,
    ) -> MutexGuard<'t, Vec<Row>> {
        let waited = self.left.wait_timeout(rows, patience);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn close_longest_waiting(rows: &mut [Row]) -> bool {
    let longest = rows
        .iter_mut()
        .filter_map(|row| match row.phase {
            Phase::Waiting(since) => Some((since, row)),
            Phase::Responding | Phase::Closed => None,
        })
        .min_by_key(|(since, _)| *since);
    let Some((_, row)) = longest else {
        return false;
    };
    row.phase = Phase::Closed;
    row.socket.shut_down(Shutdown::Both);
    true
}

impl TableEntry<'_> {
    /// Notes that a whole request has arrived. False if the connection was closed meanwhile.
    pub(super) fn begin_response(&self) -> bool {
        self.set_phase(Phase::Responding)
    }

    /// Notes that a stream begins. In a full table, a stream is closed as a connection without a request is: its client
    /// connects again. False if the connection was closed meanwhile.
    pub(super) fn begin_stream(&self) -> bool {
        self.set_phase(Phase::Waiting(Instant::now()))
    }

    /// Notes that the response was sent. False if no further request may follow.
    pub(super) fn end_response(&self) -> bool {
        self.set_phase(Phase::Waiting(Instant::now())) && !self.is_stopping()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.table.is_stopping()
    }

    fn set_phase(&self, phase: Phase) -> bool {
        let mut rows = self.table.rows();
        let own = rows
            .iter_mut()
            .find(|row| Arc::ptr_eq(&row.socket, &self.socket));
        match own {
            Some(row) if row.phase != Phase::Closed => {
                row.phase = phase;
                true
            }
            _ => false,
        }
    }
}

impl Drop for TableEntry<'_> {
    fn drop(&mut self) {
        let mut rows = self.table.rows();
        rows.retain(|row| !Arc::ptr_eq(&row.socket, &self.socket));
        self.table.left.notify_all();
    }
}
