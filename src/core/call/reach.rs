//! Opening a connection step by step, to say how far it comes and how long each step takes.

use std::net::SocketAddr;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::connect::{ConnectStep, connect_stream};
use super::error;
use super::fault::Fault;
use super::local::LocalServer;
use super::tls::{TlsClient, TlsSession};
use crate::address::{Address, Target};
use crate::error::{Error, Kind};

/// How far a connection came.
#[derive(Debug, Default)]
pub(crate) struct ReachReport {
    /// How long it took to resolve the name of the server.
    pub resolved: Option<Duration>,
    /// How long the system took to connect.
    pub connected: Option<Duration>,
    /// The address that the name of the server led to.
    pub peer: Option<SocketAddr>,
    /// How long the handshake of TLS took, and what it agreed on.
    pub encrypted: Option<(Duration, TlsSession)>,
    /// Why it came no further.
    pub error: Option<Error>,
}

/// Connects to one server and closes the connection again. Nothing is sent but the handshake of TLS.
pub(crate) fn reach(target: &Target, timeout: Duration) -> ReachReport {
    let mut report = ReachReport::default();
    let address = match &target.address {
        Address::Local { dir, .. } => {
            LocalServer::new(dir.as_deref()).map(|local| local.target().address)
        }
        address => Ok(address.clone()),
    };
    let address = match address {
        Ok(address) => address,
        Err(error) => {
            report.error = Some(error);
            return report;
        }
    };
    let tls = match (&target.tls, target.first_node()) {
        (Some(tls), Some(node)) => TlsClient::new(tls, &node.host).map(Some),
        _ => Ok(None),
    };
    let tls = match tls {
        Ok(tls) => tls,
        Err(error) => {
            // Without the files of TLS, the port can still be reached.
            let is_lasting = error.kind() == Kind::Usage;
            report.error = Some(error);
            if is_lasting {
                return report;
            }
            None
        }
    };
    let deadline = Instant::now() + timeout;
    let (sender, steps) = mpsc::channel();
    thread::spawn(move || {
        let end = connect_stream(&address, tls.as_ref(), deadline, &mut |step| {
            _ = sender.send(Ok(step));
        });
        // The end of the channel is the end of the last step.
        if let Err(fault) = end {
            _ = sender.send(Err(fault));
        }
    });
    let mut begun = Instant::now();
    let fault = loop {
        match steps.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok(step)) => {
                report.note_step(step, begun.elapsed());
                begun = Instant::now();
            }
            Ok(Err(fault)) => break Some(fault),
            Err(RecvTimeoutError::Timeout) => break Some(Fault::TimedOut),
            Err(RecvTimeoutError::Disconnected) => break None,
        }
    };
    if let Some(fault) = fault {
        report.error = Some(error::not_connected(fault, target, timeout));
    }
    report
}

impl ReachReport {
    fn note_step(&mut self, step: ConnectStep, took: Duration) {
        match step {
            ConnectStep::Resolved => self.resolved = Some(took),
            ConnectStep::Connected(peer) => {
                self.connected = Some(took);
                self.peer = peer;
            }
            ConnectStep::Encrypted(session) => self.encrypted = Some((took, session)),
        }
    }
}
