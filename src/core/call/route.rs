//! The choice of the server for the next connection if the address names several: the last good node first, and
//! each with its share of the time. It also follows `MOVED`.

use std::time::{Duration, Instant};

use super::connect::Connection;
use super::handshake::ServerInfo;
use super::{Core, Value, server_error};
use crate::address::Node;

/// Maximum number of `MOVED` replies that one call follows. Nodes that agree about a slot send one.
pub(super) const MAX_MOVES: usize = 5;

/// How long one node may take to reply while there are others to try.
const NODE_TIME_LIMIT: Duration = Duration::from_secs(1);

/// The known facts about the nodes of an address that names several: which one to use, and which others there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    /// The node that the next connection goes to, if one is known: the last good one, or the one that
    /// another node named.
    pub next: Option<Node>,
    /// The nodes of the cluster, as one of them listed them last.
    pub listed: Vec<Node>,
    /// The nodes in `listed` that are primaries.
    pub primaries: Vec<Node>,
    /// The ids of all nodes of the cluster, from the same listing.
    pub ids: Vec<Vec<u8>>,
    /// The Sentinel that replied last.
    pub sentinel: Option<Node>,
    /// The node of the open connection, or of the last one.
    pub node: Option<Node>,
    /// A number that goes up when the keys move to another node, or begin to.
    pub changes: u64,
    /// Whether the cluster has one primary, which holds all keys of any prefix.
    pub one_primary: bool,
}

impl Route {
    /// The nodes in the order in which they are tried.
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
    /// The node of this server, if the address that the user gave names several servers.
    pub node: Option<Node>,
}

/// The deadline of an attempt at one node, so that the nodes after it also get a share of the time.
pub(super) fn attempt_deadline(deadline: Instant, later_nodes: usize) -> Instant {
    let now = Instant::now();
    let rest = deadline.saturating_duration_since(now);
    match later_nodes {
        0 => deadline,
        later_nodes => now + (rest / (later_nodes as u32 + 1)).min(NODE_TIME_LIMIT),
    }
}

/// The reply of a cluster node that does not have the keys of a call.
pub(super) struct MovedReply {
    pub slot: String,
    /// `None`: the host of the node that replied.
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

    /// The node that the reply names. `replying`: the node that replied.
    pub(super) fn named_node(&self, replying: &Node) -> Node {
        let host = self.host.as_ref().unwrap_or(&replying.host);
        Node::new(host.clone(), self.port)
    }
}

impl Core {
    /// Drops the connection and goes to the node that a reply names.
    pub(super) fn follow_moved(&mut self, moved: &MovedReply) {
        let Some(from) = self.route.node.clone() else {
            return;
        };
        self.route.changes += 1;
        self.route.next = Some(moved.named_node(&from));
        self.connection = None;
    }

    /// A number that goes up when the keys move to another server, or begin to. A cursor of
    /// SCAN is meaningless after that.
    pub(crate) fn route_version(&self) -> u64 {
        self.route.changes
    }
}
