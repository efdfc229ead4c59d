//! Opening a connection: connect, log in, and wait for a server that is not ready yet.

use std::time::{Duration, Instant};

use super::connect::Connection;
use super::error;
use super::fault::Fault;
use super::handshake::{self, LoginFailure, LoginQuestions, ServerInfo, ServerMode};
use super::local::LocalServer;
use super::retry_policy::Backoff;
use super::route::ReachedServer;
use super::tls::TlsClient;
use super::{Core, RUN_READ_ONLY};
use crate::address::{Address, AppendFsync, Node, Target};
use crate::error::{Cause, Error, Kind};

/// How long a first connection gives the nodes of a cluster to agree where a slot is: while slots move fast, their maps
/// differ for a moment.
const DISAGREEMENT_PATIENCE: Duration = Duration::from_secs(2);

impl Core {
    /// Opens a connection, and waits for a server that is not ready. The first attempt of a process does not
    /// wait for a server that is not there: its address is probably wrong. If the time runs out during a
    /// later attempt, the error of the attempt before it counts.
    pub(super) fn dial_with_retries(
        &mut self,
        deadline: Instant,
        backoff: &mut Backoff,
    ) -> Result<(), Error> {
        let (begun, mut reason) = (Instant::now(), None);
        loop {
            let error = match self.dial_once(deadline) {
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
                || !(may_agree || error::is_temporary(&error, was_there))
                || !backoff.wait_for_next_attempt(deadline)
            {
                return Err(error);
            }
            reason = Some(error);
        }
    }

    pub(super) fn dial_once(&mut self, deadline: Instant) -> Result<(), Error> {
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
        self.trace.print_exchange(&line, begun.elapsed());
        if let Some(node) = node {
            self.route.note_connected(node);
        }
        if self.read_only && server.has_read_only_scripts() {
            self.run = RUN_READ_ONLY;
        }
        self.clock.set_server_time(server.time);
        self.version = server.version;
        self.missing_rights = server.missing_rights;
        self.eviction = server.eviction;
        self.lag = server.lag;
        self.connection = Some(if self.stays_in_thread {
            connection.without_thread()
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
                let (connection, server) = self.log_in(&target, self.tls.clone(), deadline)?;
                if server.mode == ServerMode::Cluster {
                    self.require_one_primary(&connection, deadline)?;
                }
                Ok(ReachedServer {
                    connection,
                    server,
                    node: None,
                })
            }
        }
    }

    /// Connects to one of several servers, and logs in.
    pub(super) fn log_in_at(
        &self,
        node: &Node,
        deadline: Instant,
    ) -> Result<(Connection, ServerInfo), Error> {
        self.log_in(
            &self.target.for_one_node(node),
            self.tls_client_for(node)?,
            deadline,
        )
    }

    /// The settings for a connection with TLS to this server: the certificate must have the server's name.
    pub(super) fn tls_client_for(&self, node: &Node) -> Result<Option<TlsClient>, Error> {
        let named = |tls: &TlsClient| tls.for_host(&node.host);
        self.tls.as_ref().map(named).transpose()
    }

    /// Connects and logs in. `local:` starts its server first if it does not run.
    fn log_in(
        &self,
        target: &Target,
        tls: Option<TlsClient>,
        deadline: Instant,
    ) -> Result<(Connection, ServerInfo), Error> {
        let failure = |fault| error::not_connected(fault, target, self.timeout);
        let questions = LoginQuestions {
            rights: self.writes.then_some(self.script.prefix()),
            eviction: self.asks_for_eviction,
            lag: self.read_only,
        };
        loop {
            let connection = match &target.address {
                Address::Local { dir, fsync, starts } => {
                    let local = LocalServer::new(dir.as_deref())?;
                    // A server that syncs each change stops when its disk is full. Do not start it again
                    // before there is room.
                    let may_end = self.was_connected || *fsync == Some(AppendFsync::Always);
                    if self.writes && may_end && !local.has_disk_space(self.was_connected) {
                        return Err(error::server_disk_full(target));
                    }
                    local.connect(*starts, *fsync, deadline, failure)?
                }
                address => Connection::open(address, tls.as_ref(), deadline).map_err(failure)?,
            };
            let local = matches!(target.address, Address::Local { .. });
            match handshake::login(&connection, target, &self.name, questions, deadline) {
                Ok(server) => return Ok((connection, server)),
                // A private server that is shutting down still accepts connections. The next
                // attempt finds it stopped and starts it again.
                Err(LoginFailure::Fault(Fault::Closed)) if local && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(failed) => return Err(failed.into_error(failure)),
            }
        }
    }
}
