//! Finds the master by asking Redis Sentinels, and connects to it.
//!
//! A Sentinel that does not reply within 300 ms is skipped. A Sentinel is also skipped if the server that it names
//! turns out to be a replica.

use std::time::{Duration, Instant};

use super::connect::{Connection, PackedCommands};
use super::handshake::{self, read_master_names};
use super::route::{ReachedServer, attempt_deadline};
use super::{Core, Value, error, reply, server_error};
use crate::address::{Address, Node, Sentinels, ServerTarget};
use crate::error::{Error, Kind};
use crate::name::Name;

/// Time limit for one Sentinel.
pub(super) const PATIENCE: Duration = Duration::from_millis(300);

/// The reply of a Sentinel about the master.
pub(super) enum SentinelReply {
    Master(Node),
    /// The Sentinel knows no master with the name in the address. It knows masters with these names.
    Unknown(Vec<Name>),
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
            match self.connect_and_log_in_at(&master, attempt_deadline(deadline, 1)) {
                Ok((connection, server)) if !server.is_replica => {
                    self.route.sentinel = Some(node.clone());
                    return Ok(ReachedServer {
                        connection,
                        server,
                        node: Some(master),
                    });
                }
                Ok(_) => last = Some(error::not_a_master(&self.target, &master)),
                // The master refuses this client, and will not accept it later. Asking another Sentinel does not help.
                Err(error) if is_lasting_refusal(&error) => return Err(error),
                Err(error) => last = Some(error::master_lost(&self.target, error)),
            }
        }
        Err(match (last, known, refused) {
            (Some(error), ..) => error,
            (None, Some(known), _) => error::unknown_master(&self.target, sentinels, known),
            (None, None, refused) => error::no_sentinel_replies(&self.target, sentinels, refused),
        })
    }

    /// Drops the connection to a master, so that the next call asks the Sentinels again.
    pub(super) fn disconnect_to_ask_sentinels_if_any(&mut self) {
        if matches!(self.target.address, Address::Sentinel(_)) {
            self.connection = None;
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
        let mut packed = PackedCommands::default();
        packed.add_command(&["SENTINEL", "get-master-addr-by-name", &sentinels.master]);
        packed.add_command(&["SENTINEL", "masters"]);
        let received = connection.exchange(packed, deadline);
        if let Some(fault) = received.fault {
            return Err(failure(fault));
        }
        let mut replies = received.replies.into_iter();
        let (place, masters) = (replies.next(), replies.next());
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
            return Ok(SentinelReply::Master(Node::new(host.lossless_text(), port)));
        }
        Ok(SentinelReply::Unknown(read_master_names(masters)))
    }
}

/// Whether a master refused this client for a reason that will not pass by itself, such as a wrong password.
fn is_lasting_refusal(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Auth | Kind::Usage | Kind::NoPerm | Kind::Tls | Kind::Unsupported
    )
}
