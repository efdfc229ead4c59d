//! A trial connection to a server, which measures each step: resolving the name, connecting, the TLS handshake. Also a
//! test of all cluster nodes or Sentinels of an address; a call needs only one of them.

use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::connect::{Fault, connect_stream};
use super::local::LocalServer;
use super::route::attempt_deadline;
use super::sentinel::SentinelReply;
use super::stream::ConnectStep;
use super::tls::{TlsClient, TlsSessionInfo};
use super::{Core, error, sentinel};
use crate::address::{Address, Node, ServerTarget};
use crate::error::{Error, Kind};
use crate::threads;

/// The result of a trial connection: the duration of each step that succeeded, and the error of the step that failed.
#[derive(Debug, Default)]
pub(crate) struct ReachReport {
    /// How long it took to resolve the name of the server.
    pub resolved: Option<Duration>,
    /// How long the system took to connect.
    pub connected: Option<Duration>,
    /// The IP address and port to which the system connected.
    pub peer: Option<SocketAddr>,
    /// How long the handshake of TLS took.
    pub encrypted: Option<Duration>,
    /// The TLS version of the connection, and the names and the expiry of the server's certificate.
    pub session: Option<TlsSessionInfo>,
    /// Why the attempt went no further.
    pub error: Option<Error>,
}

/// Connects to one server, measures each step and closes the connection again. Sends at most the TLS handshake, no
/// Redis command.
pub(crate) fn probe_server(target: &ServerTarget, timeout: Duration) -> ReachReport {
    let mut report = ReachReport::default();
    match address_that_starts_no_server(target) {
        Ok(address) => report.probe_connection(target, address, timeout),
        Err(error) => report.error = Some(error),
    }
    report
}

/// The address of the server. A `local:` address comes with the flag that a connection to it starts no server.
fn address_that_starts_no_server(target: &ServerTarget) -> Result<Address, Error> {
    match &target.address {
        Address::Local { dir, .. } => {
            LocalServer::new(dir.as_deref()).map(|local| local.target_without_start().address)
        }
        address => Ok(address.clone()),
    }
}

/// Reads the certificates and keys for TLS from their files; `None` for an address without TLS.
fn read_tls_client(target: &ServerTarget) -> Result<Option<TlsClient>, Error> {
    match (&target.tls, target.first_host_and_port()) {
        (Some(tls), Some(node)) => TlsClient::new(tls, &node.host).map(Some),
        _ => Ok(None),
    }
}

/// A report of the thread that connects.
enum ConnectProgress {
    Step(ConnectStep),
    Session(TlsSessionInfo),
    Failed(Fault),
}

/// Connects in a new thread, since not every step has a time limit. The thread reports each step through the channel,
/// and closes the channel when the attempt has ended.
fn start_connecting(
    address: Address,
    tls: Option<TlsClient>,
    deadline: Instant,
) -> Result<Receiver<ConnectProgress>, Fault> {
    let (sender, progress) = mpsc::channel();
    threads::spawn(move || {
        let end = connect_stream(&address, tls.as_ref(), deadline, &mut |step| {
            _ = sender.send(ConnectProgress::Step(step));
        });
        let end = match end {
            Ok(stream) => stream.tls_session().map(ConnectProgress::Session),
            Err(fault) => Some(ConnectProgress::Failed(fault)),
        };
        end.map(|end| sender.send(end))
    })?;
    Ok(progress)
}

impl ReachReport {
    fn probe_connection(&mut self, target: &ServerTarget, address: Address, timeout: Duration) {
        let tls = match read_tls_client(target) {
            Ok(tls) => tls,
            Err(error) => {
                // If the certificate files cannot be read, test the connection without TLS: the report should still
                // say whether the port can be reached.
                let is_lasting = error.kind() == Kind::Usage;
                self.error = Some(error);
                if is_lasting {
                    return;
                }
                None
            }
        };
        let deadline = Instant::now() + timeout;
        let progress = start_connecting(address, tls, deadline);
        let end = progress.and_then(|progress| self.follow_progress(&progress, deadline));
        if let Err(fault) = end {
            self.error = Some(error::not_connected(fault, target, timeout));
        }
    }

    fn follow_progress(
        &mut self,
        progress: &Receiver<ConnectProgress>,
        deadline: Instant,
    ) -> Result<(), Fault> {
        let mut begun = Instant::now();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match progress.recv_timeout(left) {
                Ok(ConnectProgress::Step(step)) => {
                    self.note_step(step, begun.elapsed());
                    begun = Instant::now();
                }
                Ok(ConnectProgress::Session(session)) => self.session = Some(session),
                Ok(ConnectProgress::Failed(fault)) => return Err(fault),
                Err(RecvTimeoutError::Timeout) => return Err(Fault::TimedOut),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn note_step(&mut self, step: ConnectStep, elapsed: Duration) {
        match step {
            ConnectStep::Resolved => self.resolved = Some(elapsed),
            ConnectStep::Connected(peer) => {
                self.connected = Some(elapsed);
                self.peer = peer;
            }
            ConnectStep::Encrypted => self.encrypted = Some(elapsed),
        }
    }
}

impl Core {
    /// Logs in to each cluster node, or asks each Sentinel, that the address names. Returns the nodes, each with the
    /// error if the node cannot be used. Empty for other addresses. All attempts share the timeout of one call.
    pub(crate) fn probe_named_nodes(&self) -> Vec<(Node, Option<Error>)> {
        let deadline = Instant::now() + self.timeout;
        let named = match &self.target.address {
            Address::Cluster(nodes) => nodes,
            Address::Sentinel(sentinels) => &sentinels.nodes,
            Address::Tcp(_) | Address::Unix(_) | Address::Local { .. } => return Vec::new(),
        };
        let probe = |(at, node): (usize, &Node)| {
            let attempt = attempt_deadline(deadline, named.len() - 1 - at);
            let error = match &self.target.address {
                Address::Sentinel(sentinels) => {
                    let end = attempt.min(Instant::now() + sentinel::PATIENCE);
                    match self.ask_sentinel(sentinels, node, end) {
                        Ok(SentinelReply::Master(_)) => None,
                        Ok(SentinelReply::Unknown(names)) => {
                            Some(error::unknown_master(&self.target, sentinels, names))
                        }
                        Err(error) => Some(error),
                    }
                }
                _ => self.connect_and_log_in_at(node, attempt).err(),
            };
            (node.clone(), error)
        };
        named.iter().enumerate().map(probe).collect()
    }

    /// The node of the open or last connection, if the address is of a cluster or of Sentinels.
    pub(crate) fn reached_cluster_node_or_master(&self) -> Option<&Node> {
        self.route.node.as_ref()
    }
}
