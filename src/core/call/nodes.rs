//! A test of all servers that an address names: cluster nodes or Sentinels. Calls need only one of them.

use std::time::Instant;

use super::error;
use super::route::attempt_deadline;
use super::sentinel::SentinelReply;
use super::{Core, sentinel};
use crate::address::{Address, Node};
use crate::error::Error;

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
