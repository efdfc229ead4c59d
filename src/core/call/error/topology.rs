//! Errors about clusters and Sentinels, and about addresses that are not of the kind they claim.

use super::ServerError;
use crate::address::nodes::join_nodes;
use crate::address::{Address, Node, Sentinels, Target};
use crate::core::script::with_hash_tag;
use crate::error::{Cause, Error, Kind};
use crate::name::Name;
use crate::text::{Sanitized, format_count};

/// Maximum number of names in a hint.
const NAMES: usize = 5;

/// The error for a prefix without hash tag in a cluster: its keys would be on many nodes.
pub(crate) fn untagged_cluster_prefix(prefix: &str, target: &Target) -> Error {
    untagged_cluster_prefix_with_tagged(prefix, target, &[])
}

/// The error for a prefix without hash tag in a cluster, with a hint at the prefixes with one that have queues there.
pub(crate) fn untagged_cluster_prefix_with_tagged(
    prefix: &str,
    target: &Target,
    used: &[String],
) -> Error {
    let tagged = with_hash_tag(prefix);
    let listed: Vec<String> = used
        .iter()
        .take(NAMES)
        .map(|prefix| format!("`{}`", Sanitized(prefix)))
        .collect();
    let used = if listed.is_empty() {
        String::new()
    } else {
        format!(" (queues are under {})", listed.join(", "))
    };
    let message = format!("prefix `{prefix}` cannot live in a Redis Cluster");
    let redis = matches!(target.address, Address::Tcp(_)).then(|| cluster_address(target));
    Error::new(Kind::ClusterPrefix, message)
        .hint(format!("give a hash tag: `--prefix '{tagged}'`{used}"))
        .caused_by(Cause::WrongAddressKind {
            redis,
            prefix: Some(tagged),
        })
}

/// The error for the address of one server that is a node of a cluster.
pub(crate) fn address_is_cluster_node(target: &Target) -> Error {
    let address = cluster_address(target);
    Error::usage(format!("`{target}` is a node of a Redis Cluster"))
        .hint(format!("use `{}`", address_scheme(target, "-cluster")))
        .caused_by(Cause::WrongAddressKind {
            redis: Some(address),
            prefix: None,
        })
}

/// The error for the address of a cluster whose node is in none.
pub(crate) fn not_a_cluster_node(target: &Target, node: &Node) -> Error {
    let address = target.for_one_node(node).to_string();
    Error::usage(format!(
        "`{}` is not a node of a Redis Cluster",
        Sanitized(node.to_string())
    ))
    .hint(format!("use `{}`", address_scheme(target, "")))
    .caused_by(Cause::WrongAddressKind {
        redis: Some(address),
        prefix: None,
    })
}

/// The error for an address of a server that is a Sentinel. `master_names`: the names of its masters.
pub(crate) fn address_is_sentinel(target: &Target, master_names: Vec<Name>) -> Error {
    let place = Sanitized(target.location());
    let error = Error::usage(format!("`{place}` is a Sentinel, which has no jobs"));
    let node = target.first_node().cloned();
    with_master_names(error, target, node.into_iter().collect(), master_names)
}

/// Adds the address of the only master that these Sentinels know, or the names of all.
fn with_master_names(
    error: Error,
    target: &Target,
    nodes: Vec<Node>,
    mut master_names: Vec<Name>,
) -> Error {
    master_names.sort_unstable();
    master_names.dedup();
    let Some(first) = master_names.first() else {
        return error.hint("no master at all is known there");
    };
    let sentinels = Sentinels {
        nodes,
        master: first.lossless_text().into_owned(),
        user: None,
        password: None,
    };
    let redis = Target {
        address: Address::Sentinel(sentinels),
        ..target.clone()
    };
    let redis = redis.to_string();
    let names = master_names
        .iter()
        .take(NAMES)
        .map(|name| format!("`{name}`"));
    let names: Vec<String> = names.collect();
    let error = error.hint(format!(
        "known there: {}; use `--redis '{}'`",
        names.join(", "),
        Sanitized(&redis)
    ));
    if master_names.len() > 1 {
        return error;
    }
    error.caused_by(Cause::WrongAddressKind {
        redis: Some(redis),
        prefix: None,
    })
}

/// The error for an address of a Sentinel that is a server of data.
pub(crate) fn not_a_sentinel(target: &Target, node: &Node) -> Error {
    let redis = target.for_one_node(node).to_string();
    let node = node.to_string();
    Error::usage(format!("`{}` is not a Sentinel", Sanitized(node)))
        .hint(format!(
            "use `{}` if it is the server itself",
            address_scheme(target, "")
        ))
        .caused_by(Cause::WrongAddressKind {
            redis: Some(redis),
            prefix: None,
        })
}

/// The address in its `redis-cluster://` form.
fn cluster_address(target: &Target) -> String {
    match &target.address {
        Address::Tcp(node) => Target {
            address: Address::Cluster(vec![node.clone()]),
            ..target.clone()
        }
        .to_string(),
        _ => target.to_string(),
    }
}

fn address_scheme(target: &Target, kind: &str) -> String {
    let tls = if target.tls.is_some() { "s" } else { "" };
    format!("redis{tls}{kind}://")
}

/// The error for a cluster that serves no call.
pub(crate) fn cluster_down(target: &Target) -> Error {
    Error::new(
        Kind::ClusterDown,
        format!("the cluster at `{target}` is down"),
    )
    .hint("`redis-cli CLUSTER INFO` on one of its nodes says why")
}

/// The error for a cluster whose node with the data cannot be reached.
pub(crate) fn owner_lost(target: &Target, prefix: &str, owner: &Node) -> Error {
    let owner = owner.to_string();
    Error::new(
        Kind::ClusterDown,
        format!(
            "node `{}` of the cluster at `{target}`, which has prefix `{prefix}`, cannot be reached",
            Sanitized(owner)
        ),
    )
    .hint("a replica takes its place after `cluster-node-timeout`, if it has one")
}

/// The error for nodes that belong to another cluster than the one in use.
pub(crate) fn other_cluster(target: &Target, foreign: &[Node]) -> Error {
    let belong = if foreign.len() > 1 {
        "belong"
    } else {
        "belongs"
    };
    let error = Error::usage(format!(
        "`{}` {belong} to another cluster than the other nodes of `{target}`",
        Sanitized(join_nodes(foreign))
    ));
    let mut own = target.clone();
    if let Address::Cluster(nodes) = &mut own.address {
        nodes.retain(|node| !foreign.contains(node));
    }
    error
        .hint("name nodes of one cluster in `--redis`")
        .caused_by(Cause::WrongAddressKind {
            redis: Some(own.to_string()),
            prefix: None,
        })
}

/// The error for a cluster without a reachable node. `last_error`: the error of one node.
pub(crate) fn no_node_replies(target: &Target, last_error: Error) -> Error {
    match &target.address {
        Address::Cluster(nodes) if nodes.len() > 1 && last_error.kind() != Kind::ClusterDown => {
            let message = format!(
                "cannot reach any node of `{target}`: {}",
                last_error.message()
            );
            let error = Error::new(last_error.kind(), message);
            error.hint_if(last_error.hint_text().map(str::to_owned))
        }
        _ => last_error,
    }
}

/// The error for a slot that is being moved for longer than the call may take.
pub(super) fn slot_moving(refused: &ServerError, prefix: &str, target: &Target) -> Error {
    let slot = refused.message.split_ascii_whitespace().next();
    let slot = slot.filter(|slot| slot.bytes().all(|byte| byte.is_ascii_digit()));
    let what = match slot {
        Some(slot) => format!("slot {slot} of prefix `{prefix}` is being moved"),
        None => format!("the slot of prefix `{prefix}` is being moved"),
    };
    Error::new(Kind::SlotMoving, format!("{what} in `{target}`"))
        .hint("run the command again when the move has ended, or with a longer `--timeout`")
}

/// The error for a scan that a moving slot disturbed twice.
pub(crate) fn moved_while_scanning(target: &Target, prefix: &str) -> Error {
    let message =
        format!("the keys of prefix `{prefix}` in `{target}` moved while they were scanned");
    Error::new(Kind::SlotMoving, message).hint("run the command again when the moves have ended")
}

/// The error for nodes that send a call round in a circle.
pub(crate) fn circular_redirection(target: &Target, slot: &str) -> Error {
    let slot = Sanitized(slot);
    Error::new(
        Kind::ClusterDown,
        format!("the nodes of `{target}` send each other's addresses for slot {slot}"),
    )
    .caused_by(Cause::CircularRedirection)
    .hint("`redis-cli --cluster check HOST:PORT` shows what they disagree about")
}

/// The error for Sentinels of which none replies. `last`: the error of one of them.
pub(crate) fn no_sentinel_replies(
    target: &Target,
    sentinels: &Sentinels,
    last: Option<Error>,
) -> Error {
    if let Some(last) = &last {
        let (kind, message) = (last.kind(), last.message());
        match kind {
            Kind::Auth if last.cause() == Some(&Cause::NoPassword) => {
                return Error::new(kind, format!("a Sentinel refuses the login: {message}"))
                    .hint("unset QLESS_SENTINEL_PASSWORD");
            }
            Kind::Auth => {
                return Error::new(kind, format!("a Sentinel refuses the login: {message}")).hint(
                    "set QLESS_SENTINEL_USER and QLESS_SENTINEL_PASSWORD to the login of the Sentinels",
                );
            }
            Kind::Usage | Kind::Tls | Kind::NoPerm => {
                return last.clone();
            }
            _ => {}
        }
    }
    let nodes = join_nodes(&sentinels.nodes);
    let message = match sentinels.nodes.len() {
        1 => format!("Sentinel `{nodes}` does not reply"),
        count => format!("none of {count} Sentinels replies: `{nodes}`"),
    };
    let refused = last.is_some_and(|last| last.kind() == Kind::Unreachable);
    let error = Error::new(Kind::NoMaster, message)
        .hint("pass the right ones with `--redis URL`, or set QLESS_REDIS_URL");
    if refused && !matches!(target.address, Address::Tcp(_)) {
        error.caused_by(Cause::NothingListens)
    } else {
        error
    }
}

/// The error for a name that the Sentinels do not know. `known_masters`: the names that they do.
pub(crate) fn unknown_master(
    target: &Target,
    sentinels: &Sentinels,
    known_masters: Vec<Name>,
) -> Error {
    let count = format_count(sentinels.nodes.len() as u64, "Sentinel", "Sentinels");
    let master = Sanitized(&sentinels.master);
    let error = Error::new(
        Kind::NoMaster,
        format!("no master `{master}` is known to {count}"),
    );
    let error = error.caused_by(Cause::Permanent);
    with_master_names(error, target, sentinels.nodes.clone(), known_masters)
}

/// The error for a server that a Sentinel calls the master, and that is none.
pub(crate) fn not_a_master(target: &Target, node: &Node) -> Error {
    let node = node.to_string();
    Error::new(
        Kind::NoMaster,
        format!(
            "`{}`, which the Sentinels of `{target}` name, is not a master",
            Sanitized(node)
        ),
    )
    .hint("a failover may be on its way; `redis-cli -p PORT SENTINEL MASTERS` shows it")
}

/// The error for a master that cannot be reached.
pub(crate) fn master_lost(target: &Target, error: Error) -> Error {
    Error::new(
        Kind::NoMaster,
        format!("the master of `{target}` is away: {}", error.message()),
    )
    .hint("a failover may be on its way; `redis-cli -p PORT SENTINEL MASTERS` shows it")
}
