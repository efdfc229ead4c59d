//! The choice of the node for the next connection to a cluster or to the master of Sentinels. The node of the last good
//! connection is tried first, and each node gets a share of the time. A `MOVED` reply of a cluster names the next node.

use std::time::{Duration, Instant};

use super::connect::Connection;
use super::handshake::ServerInfo;
use super::{Core, Value, server_error};
use crate::address::Node;

/// Maximum number of `MOVED` replies that are followed without a wait. If the nodes agree about the slots, the first
/// `MOVED` names the right node.
pub(super) const MAX_MOVES: usize = 5;

/// How long one node may take to reply while there are others to try.
const NODE_TIME_LIMIT: Duration = Duration::from_secs(1);

/// The known nodes of a cluster or of Sentinels: the one to use next, and the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    /// The node to try first for the next connection, if one is known: the node of the last good connection, or the
    /// node that a `MOVED` reply named.
    pub next: Option<Node>,
    /// The nodes of the cluster, from the latest list that a node sent.
    pub listed: Vec<Node>,
    /// The primaries of the cluster: the nodes in `listed` that are no replicas.
    pub primaries: Vec<Node>,
    /// The ids of all nodes of the cluster, from the list that filled `listed`.
    pub ids: Vec<Vec<u8>>,
    /// The Sentinel that replied last.
    pub sentinel: Option<Node>,
    /// When a Sentinel was asked last.
    pub sentinel_asked_at: Option<Instant>,
    /// The number of the failover that made the connected server the master. A Sentinel that names a smaller one is cut
    /// off from the others. 0 if it is unknown.
    pub master_epoch: u64,
    /// The node of the open connection, or of the last one.
    pub node: Option<Node>,
    /// A counter that grows whenever the keys move, or begin to move, to another node.
    pub changes: u64,
    /// Whether the cluster has exactly one primary. That primary has all keys, even if the prefix has no hash tag.
    pub one_primary: bool,
}

impl Route {
    /// The nodes in the order in which a connection tries them: `next`, the listed nodes, and the nodes in the address
    /// (`seeds`).
    pub(super) fn nodes_to_try(&self, seeds: &[Node]) -> Vec<Node> {
        let all = self.next.iter().chain(&self.listed).chain(seeds);
        let mut candidates = Vec::new();
        for node in all {
            if !candidates.contains(node) {
                candidates.push(node.clone());
            }
        }
        candidates
    }

    /// Notes the node of a new connection.
    pub(super) fn note_connected(&mut self, node: Node) {
        if self.node.as_ref().is_some_and(|last| *last != node) {
            self.changes += 1;
        }
        self.next = Some(node.clone());
        self.node = Some(node);
    }
}

/// A connection to the server that has the keys of the prefix, and what its login reported.
pub(super) struct ReachedServer {
    pub connection: Connection,
    pub server: ServerInfo,
    /// The node that was reached, if the address is of a cluster or of Sentinels.
    pub node: Option<Node>,
}

/// The deadline for the attempt to reach one node. It leaves a share of the time for each of `later_nodes`.
pub(super) fn attempt_deadline(deadline: Instant, later_nodes: usize) -> Instant {
    let now = Instant::now();
    let rest = deadline.saturating_duration_since(now);
    match later_nodes {
        0 => deadline,
        later_nodes => now + (rest / (later_nodes as u32 + 1)).min(NODE_TIME_LIMIT),
    }
}

/// The `MOVED` reply of a cluster node that does not have the keys of a call. It names the node that has them.
pub(super) struct MovedReply {
    pub slot: String,
    /// The host of the node that has the keys; `None` for the host of the node that replied.
    host: Option<String>,
    port: u16,
}

impl MovedReply {
    /// Reads `MOVED 5698 127.0.0.1:7001`.
    pub(super) fn from_reply(reply: &Value) -> Option<MovedReply> {
        let error = server_error(reply)?;
        let error = error.innermost_error();
        if error.code != "MOVED" {
            return None;
        }
        let mut words = error.message.split_ascii_whitespace();
        let (slot, place) = (words.next()?, words.next()?);
        let (host, port) = place.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Some(MovedReply {
            slot: slot.to_owned(),
            host: Some(host.to_owned()).filter(|host| !matches!(host.as_str(), "" | "?")),
            port: port.parse().ok()?,
        })
    }

    /// The node that has the keys. If the `MOVED` reply names no host, the host is that of `replying`, which sent it.
    pub(super) fn moved_to_node(&self, replying: &Node) -> Node {
        let host = self.host.as_ref().unwrap_or(&replying.host);
        Node::new(host.clone(), self.port)
    }
}

impl Core {
    /// Drops the connection, and makes the node that a `MOVED` reply names the next one to connect to.
    pub(super) fn disconnect_to_follow_moved(&mut self, moved: &MovedReply) {
        let Some(from) = self.route.node.clone() else {
            return;
        };
        self.route.changes += 1;
        self.route.next = Some(moved.moved_to_node(&from));
        self.connection = None;
    }

    /// A counter that grows whenever the keys move, or begin to move, to another server. A SCAN cursor from before that
    /// is no longer valid.
    pub(crate) fn route_version(&self) -> u64 {
        self.route.changes
    }
}
