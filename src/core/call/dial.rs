//! Opens a connection: connects, logs in, and waits for a server that is not ready yet. The waits between attempts
//! to connect grow, and so do the waits between the attempts of a call.

use std::hash::{BuildHasher, RandomState};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::connect::{Connection, Fault};
use super::error;
use super::handshake::{self, LoginFailure, OptionalLoginQueries, ServerInfo, ServerMode};
use super::local::LocalServer;
use super::route::ReachedServer;
use super::tls::TlsClient;
use super::{Core, RUN_READ_ONLY};
use crate::address::{Address, AppendFsync, Node, ServerTarget};
use crate::error::{Cause, Error, Kind};

/// How long opening a connection waits for the nodes of a cluster to agree where a slot is: while slots move fast, the
/// maps of the nodes differ for a moment.
const DISAGREEMENT_PATIENCE: Duration = Duration::from_secs(2);

impl Core {
    /// Opens a connection, and tries again while the server is not ready. A process that was never connected does not
    /// wait for an unreachable server, because the address is probably wrong. If a later attempt times out, the error
    /// of the attempt before it is reported.
    pub(super) fn open_connection_with_retries(
        &mut self,
        deadline: Instant,
        backoff: &mut Backoff,
    ) -> Result<(), Error> {
        let (begun, mut reason) = (Instant::now(), None);
        loop {
            let error = match self.open_connection_once(deadline) {
                Ok(()) => return Ok(()),
                Err(error) => match (error.kind(), reason.take()) {
                    (Kind::Timeout, Some(reason)) => return Err(reason),
                    _ => error,
                },
            };
            let was_there = self.was_connected && self.waits_for_lost_server;
            let is_reported = self.was_connected && !self.waits_for_lost_server;
            let is_lost = matches!(error.kind(), Kind::ClusterDown | Kind::NoMaster);
            let may_agree = error.cause() == Some(&Cause::CircularRedirection)
                && begun.elapsed() < DISAGREEMENT_PATIENCE;
            if is_lost && is_reported
                || !(may_agree || error::may_connect_soon(&error, was_there))
                || !backoff.wait_for_next_attempt(deadline)
            {
                return Err(error);
            }
            reason = Some(error);
        }
    }

    pub(super) fn open_connection_once(&mut self, deadline: Instant) -> Result<(), Error> {
        let begun = Instant::now();
        let ReachedServer {
            connection,
            server,
            node,
        } = self.connect_and_log_in(deadline)?;
        let place = match &node {
            Some(node) => self.target.for_one_node(node).to_string(),
            None => self.target.to_string(),
        };
        let line = format!("connected to {place}, Redis {}", server.version);
        self.trace
            .print_timed_line_if_verbose(&line, begun.elapsed());
        if let Some(node) = node {
            self.route.note_connected(node);
        }
        if self.read_only && server.has_read_only_scripts() {
            self.run = RUN_READ_ONLY;
        }
        self.clock.set_server_time(server.time, server.asked_at);
        self.version = server.version;
        self.missing_rights = server.missing_rights;
        self.eviction = server.eviction;
        self.lag = server.lag;
        self.connection = Some(if self.stays_in_thread {
            connection.take_stream_from_thread()
        } else {
            connection
        });
        self.connections += 1;
        self.was_connected = true;
        Ok(())
    }

    /// Connects to the server that has the data, and logs in.
    fn connect_and_log_in(&mut self, deadline: Instant) -> Result<ReachedServer, Error> {
        match self.target.address.clone() {
            Address::Cluster(nodes) => self.connect_to_owner(&nodes, deadline),
            Address::Sentinel(sentinels) => self.connect_to_master(&sentinels, deadline),
            Address::Tcp(_) | Address::Unix(_) | Address::Local { .. } => {
                let target = self.target.clone();
                let (connection, server) =
                    self.connect_and_log_in_to(&target, self.tls.clone(), deadline)?;
                if server.mode == ServerMode::Cluster {
                    self.require_sole_primary_with_keys(&connection, deadline)?;
                }
                Ok(ReachedServer {
                    connection,
                    server,
                    node: None,
                })
            }
        }
    }

    /// Connects to one node of a cluster, or to one of the servers of a Sentinel, and logs in.
    pub(super) fn connect_and_log_in_at(
        &self,
        node: &Node,
        deadline: Instant,
    ) -> Result<(Connection, ServerInfo), Error> {
        self.connect_and_log_in_to(
            &self.target.for_one_node(node),
            self.tls_client_for(node)?,
            deadline,
        )
    }

    /// The TLS settings for a connection to this node, whose certificate must have the node's host name; `None` without
    /// TLS.
    pub(super) fn tls_client_for(&self, node: &Node) -> Result<Option<TlsClient>, Error> {
        let named = |tls: &TlsClient| tls.for_host(&node.host);
        self.tls.as_ref().map(named).transpose()
    }

    /// Connects and logs in. `local:` starts its server first if it does not run.
    fn connect_and_log_in_to(
        &self,
        target: &ServerTarget,
        tls: Option<TlsClient>,
        deadline: Instant,
    ) -> Result<(Connection, ServerInfo), Error> {
        let failure = |fault| match (&fault, self.was_connected) {
            (Fault::TimedOut, true) => error::connected_server_timed_out(target, self.timeout),
            _ => error::not_connected(fault, target, self.timeout),
        };
        let questions = OptionalLoginQueries {
            rights: self.writes.then_some(self.script.prefix()),
            eviction: self.asks_for_eviction,
            lag: self.read_only,
        };
        loop {
            let connection = match &target.address {
                Address::Local {
                    dir,
                    fsync,
                    may_start,
                } => {
                    let local = LocalServer::new(dir.as_deref())?;
                    // A server that syncs each change stops when its disk is full. Do not start it again
                    // before there is room.
                    let may_end = self.was_connected || *fsync == Some(AppendFsync::Always);
                    if self.writes
                        && may_end
                        && !local.has_disk_space_for_change(self.was_connected)
                    {
                        return Err(error::server_disk_full(target));
                    }
                    local.connect(*may_start, *fsync, deadline, failure)?
                }
                address => Connection::open(address, tls.as_ref(), deadline).map_err(failure)?,
            };
            let local = matches!(target.address, Address::Local { .. });
            match handshake::login(&connection, target, &self.name, questions, deadline) {
                Ok(server) => return Ok((connection, server)),
                // A private server that is shutting down still accepts connections. The next
                // attempt finds it stopped and starts it again.
                Err(LoginFailure::Fault(Fault::Closed)) if local && Instant::now() < deadline => {
                    sleep(Duration::from_millis(5));
                }
                Err(failed) => return Err(failed.into_error(failure)),
            }
        }
    }
}

/// The longest wait of [`Backoff`].
const MAX_WAIT: Duration = Duration::from_secs(2);

/// The waits of one call or connection: exponential back-off from 50 ms to 2 s, with full jitter (each wait is a random
/// part of that time).
#[derive(Debug)]
pub(crate) struct Backoff {
    longest: Duration,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff {
            longest: Duration::from_millis(50),
        }
    }
}

impl Backoff {
    /// Sleeps before the next attempt of a call, and doubles the next wait. Returns false if the deadline has passed.
    pub(crate) fn wait_for_next_attempt(&mut self, deadline: Instant) -> bool {
        let remaining = deadline.saturating_duration_since(Instant::now());
        sleep(self.longest.mul_f64(random_fraction()).min(remaining));
        self.longest = (self.longest * 2).min(MAX_WAIT);
        Instant::now() < deadline
    }
}

/// A random number between 0 and 1. The source is the standard library's hasher, which hashes with new random keys each
/// time.
fn random_fraction() -> f64 {
    let number = RandomState::new().hash_one(0);
    number as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_doubles_up_to_two_seconds() {
        let mut backoff = Backoff::default();
        let over = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..8 {
            waits.push(backoff.longest.as_millis());
            assert!(!backoff.wait_for_next_attempt(over));
        }
        assert_eq!(waits, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
    }
}
