//! Finds the master by asking Redis Sentinels, and connects to it.
//!
//! A Sentinel that does not reply within 300 ms is skipped. A Sentinel is also skipped if the server that it names
//! turns out to be a replica.
//!
//! A master that was replaced goes on acknowledging changes, which are lost, until the Sentinels demote it: some 10
//! seconds after a planned failover, or as long as it was cut off. So calls ask a Sentinel about once per second whether
//! it still names that master.

use std::time::{Duration, Instant};

use super::connect::{Connection, WireEncodedCommands};
use super::handshake::{self, read_masters};
use super::route::{ReachedServer, attempt_deadline};
use super::{Core, Value, error, reply, server_error};
use crate::address::{Address, Node, Sentinels, ServerTarget};
use crate::error::{Error, Kind};
use crate::interrupt::InterruptFlags;
use crate::name::Name;

/// Time limit for one Sentinel.
pub(super) const PATIENCE: Duration = Duration::from_millis(300);

/// Time between two questions to a Sentinel whether it still names the connected master.
const ASK_INTERVAL: Duration = Duration::from_secs(1);

/// Time between two questions to all Sentinels while one of them carries out a failover.
const FAILOVER_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The reply of a Sentinel about the master.
pub(super) enum SentinelReply {
    Master(ReportedMaster),
    /// The Sentinel knows no master with the name in the address. It knows masters with these names.
    Unknown(Vec<Name>),
}

/// The master that a Sentinel names.
pub(super) struct ReportedMaster {
    node: Node,
    /// Of Sentinels that disagree, the one with the greater epoch knows of a later failover.
    config_epoch: u64,
    /// Whether this Sentinel carries out a failover. It names the old master until the new one says that it is a master.
    is_failing_over: bool,
}

impl Core {
    /// Asks one Sentinel after the other for the master, until a login at the named master succeeds.
    pub(super) fn connect_to_master(
        &mut self,
        sentinels: &Sentinels,
        deadline: Instant,
    ) -> Result<ReachedServer, Error> {
        let mut nodes = sentinels.nodes.clone();
        // Ask first the Sentinel that named the master last time.
        nodes.sort_by_key(|node| self.route.sentinel.as_ref() != Some(node));
        let (mut known, mut last, mut refused): (Option<Vec<Name>>, _, _) = (None, None, None);
        for node in &nodes {
            let end = deadline.min(Instant::now() + PATIENCE);
            let master = match self.ask_sentinel(sentinels, node, end) {
                Ok(SentinelReply::Master(master)) => master,
                Ok(SentinelReply::Unknown(names)) => {
                    known.get_or_insert_default().extend(names);
                    continue;
                }
                Err(error) => {
                    refused = Some(error);
                    continue;
                }
            };
            match self.connect_and_log_in_at(&master.node, attempt_deadline(deadline, 1)) {
                Ok((connection, server)) if !server.is_replica => {
                    self.route.master_epoch = master.config_epoch;
                    self.route.sentinel = Some(node.clone());
                    self.route.sentinel_asked_at = Some(Instant::now());
                    return Ok(ReachedServer {
                        connection,
                        server,
                        node: Some(master.node),
                    });
                }
                Ok(_) => last = Some(error::named_master_is_replica(&self.target, &master.node)),
                // The master refuses this client, and will not accept it later. Asking another Sentinel does not help.
                Err(error) if is_lasting_master_refusal(&error) => return Err(error),
                Err(error) => last = Some(error::named_master_unreachable(&self.target, error)),
            }
        }
        Err(match (last, known, refused) {
            (Some(error), ..) => error,
            (None, Some(known), _) => error::unknown_master(&self.target, sentinels, known),
            (None, None, refused) => error::no_sentinel_replies(&self.target, sentinels, refused),
        })
    }

    /// Drops the connection if the Sentinel that replied last names another master by now: the next attempt then
    /// connects to that one. Asks about once per second; does nothing outside Sentinels.
    pub(super) fn disconnect_if_last_sentinel_names_another_master(&mut self, deadline: Instant) {
        let asked_at = self.route.sentinel_asked_at;
        let is_due = asked_at.is_none_or(|asked_at| asked_at.elapsed() >= ASK_INTERVAL);
        let Address::Sentinel(sentinels) = &self.target.address else {
            return;
        };
        if !is_due || self.connection.is_none() {
            return;
        }
        let mut nodes = sentinels.nodes.iter().cycle();
        let last = |node: &&Node| self.route.sentinel.as_ref() == Some(*node);
        let Some(node) = nodes.by_ref().take(sentinels.nodes.len()).find(last) else {
            return;
        };
        let end = deadline.min(Instant::now() + PATIENCE);
        match self.ask_sentinel(sentinels, node, end) {
            Ok(SentinelReply::Master(master))
                if master.config_epoch == 0 || master.config_epoch >= self.route.master_epoch =>
            {
                if self.route.node.as_ref() != Some(&master.node) {
                    self.connection = None;
                }
            }
            // Ask the next Sentinel in a second, so that one that is frozen delays one call only.
            Ok(_) | Err(_) => self.route.sentinel = nodes.next().cloned(),
        }
        self.route.sentinel_asked_at = Some(Instant::now());
    }

    /// Asks all Sentinels, and drops the connection if they name another master by now: the next call then connects to
    /// that one. Waits for a failover that goes on, within the timeout of a call. It is an error if no Sentinel names
    /// a master, if the failover takes longer, or if a signal comes meanwhile. Does nothing outside Sentinels.
    pub(crate) fn disconnect_if_sentinels_name_another_master(
        &mut self,
        interrupt: &InterruptFlags,
    ) -> Result<(), Error> {
        let Address::Sentinel(sentinels) = self.target.address.clone() else {
            return Ok(());
        };
        let deadline = Instant::now() + self.timeout;
        loop {
            let (mut named, mut known, mut refused) = (Vec::new(), None::<Vec<Name>>, None);
            for sentinel in &sentinels.nodes {
                let end = deadline.min(Instant::now() + PATIENCE);
                match self.ask_sentinel(&sentinels, sentinel, end) {
                    Ok(SentinelReply::Master(master)) => named.push((sentinel, master)),
                    Ok(SentinelReply::Unknown(names)) => {
                        known.get_or_insert_default().extend(names);
                    }
                    Err(error) => refused = Some(error),
                }
            }
            self.route.sentinel_asked_at = Some(Instant::now());
            let Some(newest) = named.iter().map(|(_, master)| master.config_epoch).max() else {
                let target = &self.target;
                return Err(match known {
                    Some(known) => error::unknown_master(target, &sentinels, known),
                    None => error::no_sentinel_replies(target, &sentinels, refused),
                });
            };
            named.retain(|(_, master)| master.config_epoch == newest);
            let node = self.route.node.as_ref();
            if !named.iter().any(|(_, master)| Some(&master.node) == node) {
                // The next connection asks this Sentinel first.
                self.route.sentinel = named.first().map(|(sentinel, _)| Node::clone(sentinel));
                self.connection = None;
                return Ok(());
            }
            if !named.iter().any(|(_, master)| master.is_failing_over) {
                return Ok(());
            }
            if Instant::now() + FAILOVER_POLL_INTERVAL >= deadline {
                return Err(error::failover_goes_on(&self.target, self.timeout));
            }
            if let Some(kind) = interrupt.wait_for_signal(FAILOVER_POLL_INTERVAL) {
                return Err(error::interrupted_in_failover(kind, &self.target));
            }
        }
    }

    /// Asks one Sentinel for the master.
    pub(super) fn ask_sentinel(
        &self,
        sentinels: &Sentinels,
        node: &Node,
        deadline: Instant,
    ) -> Result<SentinelReply, Error> {
        let target = ServerTarget {
            user: sentinels.user.clone(),
            password: sentinels.password.clone(),
            db: 0,
            ..self.target.for_one_node(node)
        };
        let failure = |fault| error::not_connected(fault, &target, PATIENCE);
        let tls = self.tls_client_for(node)?;
        let connection =
            Connection::open(&target.address, tls.as_ref(), deadline).map_err(failure)?;
        handshake::login_to_sentinel(&connection, &target, &self.name, deadline)
            .map_err(|failed| failed.into_error(failure))?;
        let mut packed = WireEncodedCommands::default();
        packed.add_command(&["SENTINEL", "get-master-addr-by-name", &sentinels.master]);
        packed.add_command(&["SENTINEL", "masters"]);
        let received = connection.exchange(packed, deadline);
        if let Some(fault) = received.fault {
            return Err(failure(fault));
        }
        let mut replies = received.replies.into_iter();
        let (place, masters) = (replies.next(), replies.next());
        let mut masters = read_masters(masters).into_iter();
        let place = place.unwrap_or(Value::Nil);
        if let Some(refused) = server_error(&place) {
            return Err(match refused.code.as_str() {
                // `ERR unknown command 'SENTINEL'`
                "ERR" => error::not_a_sentinel(&self.target, node),
                _ => error::login_refused(&refused, &target),
            });
        }
        if let Ok((host, port)) = reply::read_reply::<(Name, Name)>("SENTINEL", place)
            && let Ok(port) = port.lossless_text().parse()
        {
            let watched = masters.find(|one| one.name == Name::from(&*sentinels.master));
            return Ok(SentinelReply::Master(ReportedMaster {
                node: Node::new(host.lossless_text(), port),
                config_epoch: watched.as_ref().map_or(0, |one| one.config_epoch),
                is_failing_over: watched
                    .is_some_and(|one| one.flags.contains("failover_in_progress")),
            }));
        }
        Ok(SentinelReply::Unknown(
            masters.map(|one| one.name).collect(),
        ))
    }
}

/// Whether a master refused this client for a reason that will not pass by itself, such as a wrong password.
fn is_lasting_master_refusal(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Auth | Kind::Usage | Kind::NoPerm | Kind::Tls | Kind::Unsupported
    )
}
