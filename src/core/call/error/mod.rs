//! Converts the server's error replies, and lost replies, into errors of this crate. No other module does this.
//!
//! The first word of an error reply determines the error. If that word is `ERR`, the text is compared with a short list
//! of known texts, which the core or the server itself writes.

mod connection;
mod raised;
mod refused;
mod server_error;
mod tls;
mod topology;

pub(crate) use self::connection::{
    blocks_writes, call_lost, connected_server_timed_out, may_answer_later, may_connect_soon,
    not_connected,
};
pub(crate) use self::refused::{call_refused, login_refused, refusal_with_code, server_disk_full};
pub(crate) use self::server_error::ServerError;
pub(crate) use self::topology::{
    address_is_cluster_node, address_is_not_cluster_node, address_is_sentinel,
    circular_redirection, cluster_down, failover_goes_on, interrupted_in_failover,
    moved_while_scanning, named_master_is_replica, named_master_unreachable, no_node_replies,
    no_sentinel_replies, not_a_sentinel, other_cluster, owner_lost, unknown_master,
    untagged_cluster_prefix, untagged_cluster_prefix_naming_tagged,
};

#[cfg(test)]
mod tests;
