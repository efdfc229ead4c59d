//! Redis Cluster: the node that has the keys of the prefix.
//!
//! The keys of one prefix are in one slot, so there is one connection, to the node that has the slot. Each call also
//! names two keys that never exist. So a node without the slot refuses the call; while the slot moves, both of its
//! nodes refuse it. `ASKING` is not used: it would run the call with only the keys that have moved already.

use std::time::{Duration, Instant};

use serde::Deserialize;

use super::connect::{Connection, WireEncodedCommands};
use super::handshake::{ServerInfo, ServerMode};
use super::reply::Bytes;
use super::route::{MAX_MOVES, MovedReply, ReachedServer, attempt_deadline};
use super::{Call, Core, Value, error, reply, server_error};
use crate::address::{Address, Node};
use crate::clock::moment::Moment;
use crate::core::script::Script;
use crate::error::{Error, Kind};
use crate::name::Name;

/// The number of slots of a cluster.
const SLOT_COUNT: i64 = 16_384;

/// The search for prefixes on one node: the maximum number of SCAN calls, and the number of keys that each examines.
const PREFIX_SEARCH: (usize, &str) = (20, "1000");

/// Maximum duration of this search.
const SEARCH_TIME: Duration = Duration::from_secs(1);

/// How long the nodes of the address that the map of the cluster does not name may take to reply, all together.
const STRANGER_PATIENCE: Duration = Duration::from_millis(300);

/// The nodes of a cluster, as one of its nodes reports them.
struct ClusterNodes {
    primaries: Vec<Node>,
    replicas: Vec<Node>,
    /// The ids of all nodes. A node keeps its id when its address changes.
    ids: Vec<Vec<u8>>,
    /// Whether the primaries have all slots.
    complete: bool,
}

/// A range of slots, and the nodes that have these slots: the primary first.
#[derive(Deserialize)]
#[serde(rename = "row")]
struct SlotRange {
    first: i64,
    last: i64,
    #[serde(rename = "..")]
    nodes: Vec<NodeRow>,
}

#[derive(Deserialize)]
#[serde(rename = "row")]
struct NodeRow {
    host: Option<String>,
    port: i64,
    #[serde(default)]
    id: Option<Name>,
}

/// Where the keys of the prefix are, as a node reports it.
enum PrefixKeysLocation {
    Here,
    Elsewhere(MovedReply),
    /// The node belongs to another cluster.
    Foreign,
    /// The cluster serves no call now.
    Down,
}

impl Core {
    /// Connects to the node of the cluster that has the keys of the prefix.
    pub(super) fn connect_to_owner(
        &mut self,
        seeds: &[Node],
        deadline: Instant,
    ) -> Result<ReachedServer, Error> {
        let mut waiting = self.route.nodes_to_try(seeds);
        let (mut unreachable, mut down): (Vec<Node>, Vec<Node>) = Default::default();
        let (mut named, mut owner, mut foreign) = (None, None, None);
        let (mut moves, mut last) = (0, None);
        while !waiting.is_empty() && Instant::now() < deadline {
            let node = waiting.remove(0);
            let attempt = attempt_deadline(deadline, waiting.len());
            let arrival = match self.connect_and_log_in_at(&node, attempt) {
                Ok((connection, server)) => {
                    self.locate_keys_and_adopt_map(connection, server, &node, attempt)?
                }
                Err(error) if is_next_node_worth_trying(&error) => {
                    last = last.or(Some(error));
                    if named.as_ref() == Some(&node) {
                        owner = Some(node.clone());
                    }
                    unreachable.push(node);
                    continue;
                }
                Err(error) => return Err(error),
            };
            match arrival {
                (arrival, PrefixKeysLocation::Here) => {
                    self.require_one_cluster(seeds, &node, deadline)?;
                    return Ok(arrival);
                }
                (_, PrefixKeysLocation::Down) => {
                    last = Some(error::cluster_down(&self.target));
                    down.push(node);
                }
                (_, PrefixKeysLocation::Foreign) => foreign = Some(node),
                (_, PrefixKeysLocation::Elsewhere(moved)) => {
                    let next = moved.moved_to_node(&node);
                    if unreachable.contains(&next) {
                        owner = Some(next);
                        continue;
                    }
                    // The named owner of the keys was tried and does not serve calls yet. If another node names it
                    // again, that is no circular redirection.
                    if down.contains(&next) {
                        continue;
                    }
                    moves += 1;
                    if moves > MAX_MOVES {
                        return Err(error::circular_redirection(&self.target, &moved.slot));
                    }
                    waiting.retain(|waiting| *waiting != next);
                    waiting.insert(0, next.clone());
                    named = Some(next);
                }
            }
        }
        self.route.next = None;
        // If the owner of the keys is unreachable, report that before all else: the error says that the cluster may be
        // about to replace the owner.
        Err(match (owner, foreign, last) {
            (Some(owner), ..) => error::owner_lost(&self.target, self.prefix(), &owner),
            (None, Some(foreign), _) => error::other_cluster(&self.target, &[foreign]),
            (None, None, Some(error)) => error::no_node_replies(&self.target, error),
            (None, None, None) => error::cluster_down(&self.target),
        })
    }

    /// Asks a node where the keys of the prefix are, and adopts its map of the cluster. Fails if the node is in no
    /// cluster.
    fn locate_keys_and_adopt_map(
        &mut self,
        connection: Connection,
        server: ServerInfo,
        node: &Node,
        deadline: Instant,
    ) -> Result<(ReachedServer, PrefixKeysLocation), Error> {
        if server.mode != ServerMode::Cluster {
            return Err(error::address_is_not_cluster_node(&self.target, node));
        }
        let (map, mut place) = self.locate_keys(&connection, node, deadline);
        match map {
            // A node that was reset or lost its configuration has a map without nodes, which does not show where keys
            // are.
            Some(map) if map.ids.is_empty() => place = PrefixKeysLocation::Down,
            // The node's map shares no node with the cluster in use: the address names nodes of two clusters.
            Some(map) if !self.is_same_cluster(&map.ids) => place = PrefixKeysLocation::Foreign,
            map => {
                self.adopt_cluster_map(map);
                self.require_hash_tag_unless_one_primary(deadline)?;
            }
        }
        let node = Some(node.clone());
        let arrival = ReachedServer {
            connection,
            server,
            node,
        };
        Ok((arrival, place))
    }

    /// At the first connection, fails if the address names nodes of two clusters. Asks only the nodes that the map of
    /// the cluster does not name: such a node may also be down, or the map may name it differently.
    fn require_one_cluster(
        &self,
        seeds: &[Node],
        reached: &Node,
        deadline: Instant,
    ) -> Result<(), Error> {
        if self.was_connected || self.route.ids.is_empty() {
            return Ok(());
        }
        let deadline = deadline.min(Instant::now() + STRANGER_PATIENCE);
        let unnamed = |seed: &&Node| *seed != reached && !self.route.listed.contains(seed);
        let is_foreign = |seed: &&Node| {
            let arrival = self.connect_and_log_in_at(seed, deadline);
            let map = arrival
                .ok()
                .and_then(|(connection, _)| self.locate_keys(&connection, seed, deadline).0);
            map.is_some_and(|map| !map.ids.is_empty() && !self.is_same_cluster(&map.ids))
        };
        let unnamed = seeds.iter().filter(unnamed);
        let foreign: Vec<Node> = unnamed.filter(is_foreign).cloned().collect();
        if foreign.is_empty() {
            Ok(())
        } else {
            Err(error::other_cluster(&self.target, &foreign))
        }
    }

    /// Whether one of these nodes belongs to the cluster in use. True if no cluster is in use yet.
    fn is_same_cluster(&self, ids: &[Vec<u8>]) -> bool {
        let known = &self.route.ids;
        known.is_empty() || ids.iter().any(|id| known.contains(id))
    }

    fn adopt_cluster_map(&mut self, map: Option<ClusterNodes>) {
        if let Some(map) = map {
            self.route.one_primary = map.complete && map.primaries.len() == 1;
            self.route.listed = map.primaries_then_replicas().cloned().collect();
            self.route.primaries = map.primaries;
            self.route.ids = map.ids;
            if self.relies_on_single_cluster_primary() {
                self.script = Script::for_one_primary_cluster(self.prefix());
            }
        }
    }

    /// Refuses a prefix without a hash tag, because its keys would be on many nodes, unless the cluster has one primary
    /// for all slots.
    fn require_hash_tag_unless_one_primary(&self, deadline: Instant) -> Result<(), Error> {
        if self.script.has_tagged_prefix() || self.route.one_primary {
            return Ok(());
        }
        let used = self.find_prefixes_with_hash_tag(deadline.min(Instant::now() + SEARCH_TIME));
        Err(error::untagged_cluster_prefix_naming_tagged(
            self.prefix(),
            &self.target,
            &used,
        ))
    }

    /// Refuses a node of a cluster at the address of one server, unless the cluster has one primary and
    /// this node has the keys.
    pub(super) fn require_sole_primary_with_keys(
        &mut self,
        connection: &Connection,
        deadline: Instant,
    ) -> Result<(), Error> {
        let node = match &self.target.address {
            Address::Tcp(node) => node.clone(),
            _ => Node::new("localhost", 0),
        };
        let (map, place) = self.locate_keys(connection, &node, deadline);
        self.adopt_cluster_map(map);
        self.require_hash_tag_unless_one_primary(deadline)?;
        match (self.route.one_primary, place) {
            (true, PrefixKeysLocation::Here) => Ok(()),
            _ => Err(error::address_is_cluster_node(&self.target)),
        }
    }

    /// Asks a node for the map of its cluster, and whether it has the keys of the prefix. The map is `None` if the user
    /// may not ask for it.
    fn locate_keys(
        &self,
        connection: &Connection,
        node: &Node,
        deadline: Instant,
    ) -> (Option<ClusterNodes>, PrefixKeysLocation) {
        let mut packed = WireEncodedCommands::default();
        let mut first = 0;
        if self.read_only {
            // A replica redirects even reads until it gets this command.
            packed.add_command(&["READONLY"]);
            first = 1;
        }
        packed.add_command(&["CLUSTER", "SLOTS"]);
        if self.script.has_tagged_prefix() {
            packed.begin_command(1 + self.script.routing_keys().len());
            packed.add_word_to_current_command(b"EXISTS");
            for key in self.script.routing_keys() {
                packed.add_word_to_current_command(key.as_bytes());
            }
        }
        let received = connection.exchange(packed, deadline);
        let mut replies = received.replies.into_iter().skip(first);
        let map = replies
            .next()
            .and_then(|slots| ClusterNodes::from_reply(slots, node));
        let place = match replies.next() {
            Some(reply) => PrefixKeysLocation::from_reply(&reply),
            None if received.fault.is_some() => PrefixKeysLocation::Down,
            None => PrefixKeysLocation::Here,
        };
        (map, place)
    }

    /// Makes a call that waits while the keys of the prefix move, and follows them. If they moved,
    /// [`Core::route_version`] has changed afterwards. Does nothing outside a cluster.
    pub(crate) fn follow_moving_keys(&mut self) -> Result<(), Error> {
        if !self.has_cluster_address() || !self.script.has_tagged_prefix() {
            return Ok(());
        }
        let keys = self.script.routing_keys().to_vec();
        self.call(self.now(), Call::redis_read_command("EXISTS").args(keys))
    }

    /// The number of keys in the slot of the prefix, if the user may ask; `None` outside a cluster.
    pub(crate) fn count_keys_in_slot(&mut self, now: Moment) -> Option<u64> {
        if !self.has_cluster_address() || !self.script.has_tagged_prefix() {
            return None;
        }
        let prefix = self.prefix().to_owned();
        let slot = Call::redis_read_command("CLUSTER")
            .arg("KEYSLOT")
            .arg(prefix);
        let slot: i64 = self.call(now, slot).ok()?;
        let count = Call::redis_read_command("CLUSTER").arg("COUNTKEYSINSLOT");
        self.call(now, count.arg(slot.to_string())).ok()
    }

    /// The node of the cluster that the last connection went to; `None` outside a cluster.
    pub(crate) fn last_connected_cluster_node(&self) -> Option<Node> {
        let node = self.route.node.clone();
        node.filter(|_| self.has_cluster_address())
    }

    fn has_cluster_address(&self) -> bool {
        matches!(self.target.address, Address::Cluster(_))
    }

    /// The error for a scan that a moving slot disturbed twice.
    pub(crate) fn moved_while_scanning(&self) -> Error {
        error::moved_while_scanning(&self.target, self.prefix())
    }

    /// The prefixes with a hash tag that have queues in this cluster, as far as a short search
    /// finds them.
    fn find_prefixes_with_hash_tag(&self, deadline: Instant) -> Vec<String> {
        let mut found = Vec::new();
        for node in &self.route.primaries {
            let Ok((connection, _)) =
                self.connect_and_log_in_at(node, attempt_deadline(deadline, 1))
            else {
                continue;
            };
            let mut cursor = b"0".to_vec();
            for _ in 0..PREFIX_SEARCH.0 {
                let mut packed = WireEncodedCommands::default();
                let count: &[u8] = PREFIX_SEARCH.1.as_bytes();
                packed.add_command(&[
                    b"SCAN",
                    &*cursor,
                    b"MATCH",
                    b"*{*}*:queues",
                    b"COUNT",
                    count,
                ]);
                let reply = connection.exchange(packed, deadline).replies.pop();
                let page = reply.and_then(|page| reply::read_reply("SCAN", page).ok());
                let (next, keys): (Bytes, Vec<Name>) = page.unwrap_or_default();
                for key in keys {
                    let key = key.lossless_text();
                    found.extend(key.strip_suffix("queues").map(str::to_owned));
                }
                cursor = next.0;
                if matches!(&*cursor, b"" | b"0") {
                    break;
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether the server is a cluster with one primary, so that a prefix without a hash tag works
    /// for now.
    pub(crate) fn relies_on_single_cluster_primary(&self) -> bool {
        self.route.one_primary && !self.script.has_tagged_prefix()
    }
}

/// Whether to try the next node after this error, because another node may reply.
fn is_next_node_worth_trying(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Unreachable
            | Kind::Timeout
            | Kind::Protocol
            | Kind::ConnectionRefused
            | Kind::Loading
            | Kind::Busy
            | Kind::Stale
    )
}

impl PrefixKeysLocation {
    fn from_reply(reply: &Value) -> PrefixKeysLocation {
        match (MovedReply::from_reply(reply), server_error(reply)) {
            (Some(moved), _) => PrefixKeysLocation::Elsewhere(moved),
            (None, Some(error)) if error.code == "CLUSTERDOWN" => PrefixKeysLocation::Down,
            // Any reply that neither redirects nor reports CLUSTERDOWN means that the node has the keys, even if they
            // are about to move.
            _ => PrefixKeysLocation::Here,
        }
    }
}

impl ClusterNodes {
    fn primaries_then_replicas(&self) -> impl Iterator<Item = &Node> {
        self.primaries.iter().chain(&self.replicas)
    }

    /// Reads the reply to `CLUSTER SLOTS`: ranges of slots, each with its primary and its replicas.
    fn from_reply(reply: Value, asked_node: &Node) -> Option<ClusterNodes> {
        let (mut primaries, mut replicas, mut slots) = (Vec::new(), Vec::new(), 0);
        let mut ids = Vec::new();
        for range in reply::read_reply::<Vec<SlotRange>>("CLUSTER SLOTS", reply).ok()? {
            if range.first < 0 || range.last < range.first || range.last >= SLOT_COUNT {
                return None;
            }
            slots += range.last - range.first + 1;
            for (at, node) in range.nodes.into_iter().enumerate() {
                let host = node.host.filter(|host| !matches!(host.as_str(), "" | "?"));
                let host = host.unwrap_or_else(|| asked_node.host.clone());
                ids.extend(node.id.map(Name::into_bytes));
                let node = Node::new(host, node.port.try_into().ok()?);
                let nodes = if at == 0 {
                    &mut primaries
                } else {
                    &mut replicas
                };
                if !nodes.contains(&node) {
                    nodes.push(node);
                }
            }
        }
        Some(ClusterNodes {
            primaries,
            replicas,
            ids,
            complete: slots == SLOT_COUNT,
        })
    }
}
