//! Errors about clusters and Sentinels, and about addresses of one kind that lead to a server of another kind.

use std::time::Duration;

use super::ServerError;
use crate::address::nodes::join_nodes;
use crate::address::{Address, Node, Sentinels, ServerTarget};
use crate::core::script::with_hash_tag;
use crate::error::{Cause, Error, Kind};
use crate::name::Name;
use crate::text::{Sanitized, format_count};

/// Maximum number of names in a hint.
const NAMES: usize = 5;

/// The error for a cluster if the prefix has no hash tag. The keys of such a prefix would be on many nodes, but a
/// script can use only keys of one node.
pub(crate) fn untagged_cluster_prefix(prefix: &str, target: &ServerTarget) -> Error {
    untagged_cluster_prefix_naming_tagged(prefix, target, &[])
}

/// The error for a cluster if the prefix has no hash tag. The hint names the prefixes with a hash tag (`used`) under
/// which the cluster has queues.
pub(crate) fn untagged_cluster_prefix_naming_tagged(
    prefix: &str,
    target: &ServerTarget,
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
    let redis = matches!(target.address, Address::Tcp(_)).then(|| with_cluster_scheme(target));
    Error::new(Kind::ClusterPrefix, message)
        .hint(format!("give a hash tag: `--prefix '{tagged}'`{used}"))
        .caused_by(Cause::WrongAddressKind {
            redis,
            prefix: Some(tagged),
        })
}

/// The error for a `redis://` address whose server is a node of a cluster. The hint names `redis-cluster://`.
pub(crate) fn address_is_cluster_node(target: &ServerTarget) -> Error {
    let address = with_cluster_scheme(target);
    Error::usage(format!("`{target}` is a node of a Redis Cluster"))
        .hint(format!(
            "use `{}`",
            redis_scheme_keeping_tls(target, "-cluster")
        ))
        .caused_by(Cause::WrongAddressKind {
            redis: Some(address),
            prefix: None,
        })
}

/// The error for a `redis-cluster://` address that names a server outside any cluster. The hint names `redis://`.
pub(crate) fn address_is_not_cluster_node(target: &ServerTarget, node: &Node) -> Error {
    let address = target.for_one_node(node).to_string();
    Error::usage(format!(
        "`{}` is not a node of a Redis Cluster",
        Sanitized(node.to_string())
    ))
    .hint(format!("use `{}`", redis_scheme_keeping_tls(target, "")))
    .caused_by(Cause::WrongAddressKind {
        redis: Some(address),
        prefix: None,
    })
}

/// The error for a `redis://` address whose server is a Sentinel. The hint names the masters that the Sentinel knows
/// (`master_names`).
pub(crate) fn address_is_sentinel(target: &ServerTarget, master_names: Vec<Name>) -> Error {
    let place = Sanitized(target.host_port_or_socket());
    let error = Error::usage(format!("`{place}` is a Sentinel, which has no jobs"));
    let node = target.first_host_and_port().cloned();
    with_master_names(error, target, node.into_iter().collect(), master_names)
}

/// Adds a hint to the error: the names of the masters that these Sentinels know, and the address of the first. If there
/// is only one master, its address also becomes part of the error's cause.
fn with_master_names(
    error: Error,
    target: &ServerTarget,
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
    let redis = ServerTarget {
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

/// The error for a Sentinel address whose node is an ordinary Redis server. The hint names `redis://`.
pub(crate) fn not_a_sentinel(target: &ServerTarget, node: &Node) -> Error {
    let redis = target.for_one_node(node).to_string();
    let node = node.to_string();
    Error::usage(format!("`{}` is not a Sentinel", Sanitized(node)))
        .hint(format!(
            "use `{}` if it is the server itself",
            redis_scheme_keeping_tls(target, "")
        ))
        .caused_by(Cause::WrongAddressKind {
            redis: Some(redis),
            prefix: None,
        })
}

/// A `redis://` address rewritten with the scheme `redis-cluster://`. Any other address stays as it is.
fn with_cluster_scheme(target: &ServerTarget) -> String {
    match &target.address {
        Address::Tcp(node) => ServerTarget {
            address: Address::Cluster(vec![node.clone()]),
            ..target.clone()
        }
        .to_string(),
        _ => target.to_string(),
    }
}

fn redis_scheme_keeping_tls(target: &ServerTarget, kind: &str) -> String {
    let tls = if target.tls.is_some() { "s" } else { "" };
    format!("redis{tls}{kind}://")
}

/// The error for a cluster whose nodes refuse all calls with CLUSTERDOWN.
pub(crate) fn cluster_down(target: &ServerTarget) -> Error {
    Error::new(
        Kind::ClusterDown,
        format!("the cluster at `{target}` is down"),
    )
    .hint("`redis-cli CLUSTER INFO` on one of its nodes says why")
}

/// The error for a cluster in which the node that has the keys of the prefix cannot be reached.
pub(crate) fn owner_lost(target: &ServerTarget, prefix: &str, owner: &Node) -> Error {
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

/// The error for an address whose nodes belong to two clusters. `foreign` are the nodes outside the cluster in use.
pub(crate) fn other_cluster(target: &ServerTarget, foreign: &[Node]) -> Error {
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

/// The error for a cluster without a reachable node: the error of the last node that was tried, worded for all nodes if
/// the address names several.
pub(crate) fn no_node_replies(target: &ServerTarget, last_error: Error) -> Error {
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

/// The error for a call that timed out while its cluster slot was moving to another node.
pub(super) fn slot_moving(refused: &ServerError, prefix: &str, target: &ServerTarget) -> Error {
    let slot = refused.message.split_ascii_whitespace().next();
    let slot = slot.filter(|slot| slot.bytes().all(|byte| byte.is_ascii_digit()));
    let what = match slot {
        Some(slot) => format!("slot {slot} of prefix `{prefix}` is being moved"),
        None => format!("the slot of prefix `{prefix}` is being moved"),
    };
    Error::new(Kind::SlotMoving, format!("{what} in `{target}`"))
        .hint("run the command again when the move has ended, or with a longer `--timeout`")
}

/// The error for a scan that `qless` gave up, because the keys moved to another node while the scan read them.
pub(crate) fn moved_while_scanning(target: &ServerTarget, prefix: &str) -> Error {
    let message =
        format!("the keys of prefix `{prefix}` in `{target}` moved while they were scanned");
    Error::new(Kind::SlotMoving, message).hint("run the command again when the moves have ended")
}

/// The error for cluster nodes that redirect a call to each other in a circle, by MOVED replies.
pub(crate) fn circular_redirection(target: &ServerTarget, slot: &str) -> Error {
    let slot = Sanitized(slot);
    Error::new(
        Kind::ClusterDown,
        format!("the nodes of `{target}` send each other's addresses for slot {slot}"),
    )
    .caused_by(Cause::CircularRedirection)
    .hint("`redis-cli --cluster check HOST:PORT` shows what they disagree about")
}

/// The error if no Sentinel of the address names a master. `last`, the error of the last Sentinel, is reported in its
/// own words if it is about the login or about TLS.
pub(crate) fn no_sentinel_replies(
    target: &ServerTarget,
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

/// The error for a failover that the Sentinels have not ended within the timeout of a call.
pub(crate) fn failover_goes_on(target: &ServerTarget, timeout: Duration) -> Error {
    let timeout = humantime::format_duration(timeout);
    let message = format!(
        "the Sentinels of `{target}` have not ended a failover of its master within {timeout}"
    );
    Error::new(Kind::NoMaster, message).hint("run the command again when it has ended")
}

/// The error for a signal that ended the wait for a failover. The old master may have acknowledged changes that are lost.
pub(crate) fn interrupted_in_failover(kind: Kind, target: &ServerTarget) -> Error {
    Error::new(
        kind,
        format!(
            "interrupted while the Sentinels of `{target}` carry out a failover of its master: acknowledged \
             changes may be lost"
        ),
    )
}

/// The error for an address with the name of a master that no Sentinel knows. The hint names the masters that the
/// Sentinels know (`known_masters`).
pub(crate) fn unknown_master(
    target: &ServerTarget,
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

/// The error for a server that a Sentinel named as the master, but that is a replica.
pub(crate) fn named_master_is_replica(target: &ServerTarget, node: &Node) -> Error {
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

/// The error for a master that a Sentinel named, but to which `qless` cannot connect.
pub(crate) fn named_master_unreachable(target: &ServerTarget, error: Error) -> Error {
    Error::new(
        Kind::NoMaster,
        format!("the master of `{target}` is away: {}", error.message()),
    )
    .hint("a failover may be on its way; `redis-cli -p PORT SENTINEL MASTERS` shows it")
}
