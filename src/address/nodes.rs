//! Servers by host and port, and the addresses that name several of them.

use std::fmt;

use url::Url;

use super::secret::Secret;
use super::{Address, ServerTarget, parse_tcp, percent_decode_utf8};

/// The port of a Redis server.
pub(super) const REDIS_PORT: u16 = 6379;

/// The port of a Sentinel.
const SENTINEL_PORT: u16 = 26379;

/// A server by its host and port. `Display` shows `HOST:PORT`, with an IPv6 address in brackets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    pub host: String,
    pub port: u16,
}

impl Node {
    pub fn new(host: impl Into<String>, port: u16) -> Node {
        let host = host.into();
        Node { host, port }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Nodes as an address lists them: `H1:P1,H2:P2`.
pub(crate) fn join_nodes(nodes: &[Node]) -> String {
    let nodes: Vec<String> = nodes.iter().map(Node::to_string).collect();
    nodes.join(",")
}

/// The Sentinels of an address, and the name of the master to ask them for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentinels {
    pub nodes: Vec<Node>,
    pub master: String,
    /// The user of the login at the Sentinels. The login in the address is for the master.
    pub user: Option<String>,
    pub password: Option<Secret>,
}

/// Parses the address of a cluster: `redis-cluster://[USER[:PASSWORD]@]H1[:P1],H2[:P2],…[/DB]`.
pub(super) fn parse_cluster(given: &str) -> Result<ServerTarget, String> {
    let AddressParts { query, .. } = AddressParts::split_address(given);
    if query.is_some() {
        return Err("has a query, `?…`, which an address of a cluster does not take".into());
    }
    parse_nodes(given, REDIS_PORT, Address::Cluster)
}

/// Parses the address of Sentinels:
/// `redis-sentinel://[USER[:PASSWORD]@]H1[:P1],H2[:P2],…/[DB]?master=NAME`.
pub(super) fn parse_sentinel(given: &str) -> Result<ServerTarget, String> {
    let mut master = None;
    for (key, value) in super::query_pairs(AddressParts::split_address(given).query) {
        match key {
            "master" if master.is_some() => return Err("has `master` twice".into()),
            "master" => master = Some(percent_decode_utf8(value, "master")?),
            other => return Err(format!("has an unknown query key `{other}`")),
        }
    }
    let Some(master) = master.filter(|master| !master.is_empty()) else {
        return Err("names no master: end it with `/0?master=NAME`".into());
    };
    parse_nodes(given, SENTINEL_PORT, |nodes| {
        Address::Sentinel(Sentinels {
            nodes,
            master,
            user: None,
            password: None,
        })
    })
}

/// The parts of an address of several nodes.
struct AddressParts<'a> {
    scheme: &'a str,
    /// User and password, up to and including the `@`; empty if there are none.
    login: &'a str,
    hosts: &'a str,
    path: &'a str,
    query: Option<&'a str>,
}

impl AddressParts<'_> {
    fn split_address(given: &str) -> AddressParts<'_> {
        let (scheme, rest) = given.split_once("://").unwrap_or((given, ""));
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (login, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        AddressParts {
            scheme,
            login,
            hosts,
            path,
            query,
        }
    }
}

/// Parses an address of several nodes. Each node is parsed as an address of one server with the common login.
fn parse_nodes(
    given: &str,
    port: u16,
    address: impl FnOnce(Vec<Node>) -> Address,
) -> Result<ServerTarget, String> {
    if given.contains('#') {
        return Err("has a fragment, `#…`".into());
    }
    let AddressParts {
        scheme,
        login,
        hosts,
        path,
        ..
    } = AddressParts::split_address(given);
    let own = if scheme.starts_with("rediss") {
        "rediss"
    } else {
        "redis"
    };
    let mut nodes = Vec::new();
    let mut found = None;
    for host in hosts.split(',') {
        let url = Url::parse(&format!("{own}://{login}{host}{path}"));
        let target = parse_tcp(
            &url.map_err(|error| format!("cannot be read: {error}"))?,
            port,
        )?;
        if let Address::Tcp(node) = &target.address
            && !nodes.contains(node)
        {
            nodes.push(node.clone());
        }
        found = Some(target);
    }
    let target = found.ok_or("names no host")?;
    Ok(ServerTarget {
        address: address(nodes),
        ..target
    })
}
