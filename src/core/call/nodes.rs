//! Asking each server that an address names, even a server that is not needed now.

use std::time::Instant;

use super::error;
use super::route::attempt_deadline;
use super::sentinel::SentinelReply;
use super::{Core, sentinel};
use crate::address::{Address, Node};
use crate::error::Error;

impl Core {
    /// The servers that the address names, each with the reason why it cannot be used; none for an address of
    /// one server. All of them together get the time of one call.
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
                _ => self.log_in_at(node, attempt).err(),
            };
            (node.clone(), error)
        };
        named.iter().enumerate().map(probe).collect()
    }

    /// The server of the open connection, if the address names several.
    pub(crate) fn reached_node(&self) -> Option<&Node> {
        self.route.node.as_ref()
    }
}
