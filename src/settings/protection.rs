//! Finds the contexts that protect the database in use, wherever its address is from and however it is spelled.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::values::ConfigValues;
use super::{ConfigFile, ContextSettings};
use crate::address::{Address, Node, ServerTarget};
use crate::args::globals::{AddressOrigin, Globals};
use crate::core::call::local::LocalServer;
use crate::core::script::USUAL_PREFIX;
use crate::fs::trust::ResolvedPath;

/// A database of a server, of a cluster, or of a master that Sentinels know, without the spelling of its address.
#[derive(Debug)]
struct Database {
    servers: Vec<ServerIdentity>,
    /// The name of the master, for an address with Sentinels.
    master: Option<String>,
    db: u32,
}

#[derive(Debug, PartialEq, Eq)]
enum ServerIdentity {
    /// A port of this machine, given by any loopback name or address.
    Loopback(u16),
    Tcp(String, u16),
    PlainOrTlsSocket(PathBuf),
}

impl Database {
    /// The database of an address. `None` for an address that this build cannot use.
    fn parse(address: &str) -> Option<Database> {
        let ServerTarget { address, db, .. } = ServerTarget::parse(address).ok()?;
        let mut master = None;
        let servers = match address {
            Address::Tcp(node) => vec![ServerIdentity::from_node(&node)],
            Address::Cluster(nodes) => nodes.iter().map(ServerIdentity::from_node).collect(),
            Address::Sentinel(sentinels) => {
                master = Some(sentinels.master);
                sentinels
                    .nodes
                    .iter()
                    .map(ServerIdentity::from_node)
                    .collect()
            }
            Address::Unix(socket) => vec![ServerIdentity::PlainOrTlsSocket(resolve_links(&socket))],
            Address::Local { dir, .. } => {
                let socket = LocalServer::new(dir.as_deref()).ok()?.socket_path();
                vec![ServerIdentity::PlainOrTlsSocket(resolve_links(&socket))]
            }
        };
        Some(Database {
            servers,
            master,
            db,
        })
    }

    /// Whether two addresses name one database. TLS makes no difference, because a port has one server. Two clusters
    /// are equal if they have a node in common.
    fn is_same_database(&self, other: &Database) -> bool {
        let mut servers = self.servers.iter();
        self.db == other.db
            && self.master == other.master
            && servers.any(|server| other.servers.contains(server))
    }
}

impl ServerIdentity {
    fn from_node(node: &Node) -> ServerIdentity {
        let (host, port) = (&node.host, node.port);
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let ip = host.parse().map(|ip: IpAddr| ip.to_canonical());
        match ip {
            _ if host == "localhost" => ServerIdentity::Loopback(port),
            // A connection to the unspecified address (`0.0.0.0` or `::`) goes to this machine.
            Ok(ip) if ip.is_loopback() || ip.is_unspecified() => ServerIdentity::Loopback(port),
            Ok(ip) => ServerIdentity::Tcp(ip.to_string(), port),
            Err(_) => ServerIdentity::Tcp(host, port),
        }
    }
}

/// The path with its symbolic links resolved. Parts that do not exist stay as they are.
fn resolve_links(path: &Path) -> PathBuf {
    ResolvedPath::follow_links_noting_route(path)
        .map_or_else(|_| path.to_path_buf(), |resolved| resolved.target)
}

/// Whether two addresses name different databases, however each is spelled. Host names are not looked up.
pub(crate) fn are_different_databases(one: &str, other: &str) -> bool {
    match (Database::parse(one), Database::parse(other)) {
        (Some(one), Some(other)) => !one.is_same_database(&other),
        _ => one != other,
    }
}

/// Other contexts for the database in use that are protected or read-only.
///
/// If the context in use has `read-only = false` and the address is its own, other contexts do not make the database
/// read-only: the operator has allowed changes in the file.
pub(super) fn other_protecting_contexts(
    globals: &Globals,
    file: &ConfigFile,
) -> Vec<ContextSettings> {
    let address = |given: &Option<String>| {
        let given = given.as_deref();
        Database::parse(given.unwrap_or(ServerTarget::DEFAULT))
    };
    let prefix = |given: &Option<String>| given.clone().unwrap_or_else(|| USUAL_PREFIX.into());
    let Some(database) = address(&globals.redis) else {
        return Vec::new();
    };
    let in_use = file.context.as_ref();
    let writable = globals.origin == AddressOrigin::File
        && in_use.is_some_and(|context| context.values.read_only == Some(false));
    let mut found = file.contexts();
    found.retain_mut(|context| {
        context.values.read_only = context.values.read_only.filter(|_| !writable);
        if !context.values.is_protected() && context.values.read_only != Some(true) {
            return false;
        }
        let places = match &context.values.members {
            Some(names) => {
                let place = |name: &String| file.contents.contexts.get(name);
                names.iter().filter_map(place).collect()
            }
            None => vec![&context.values],
        };
        let is_in_use = |place: &&ConfigValues| {
            let values = place.or_defaults(&file.contents.defaults);
            let is_same_prefix = match &values.prefixes {
                Some(prefixes) => prefixes.contains(&prefix(&globals.prefix)),
                None => prefix(&values.prefix) == prefix(&globals.prefix),
            };
            is_same_prefix
                && address(&values.redis).is_some_and(|other| other.is_same_database(&database))
        };
        in_use.is_none_or(|in_use| in_use.name != context.name) && places.iter().any(is_in_use)
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        !are_different_databases(one, other)
    }

    #[test]
    fn spellings_of_one_address_are_one_database() {
        for (one, other) in [
            ("redis://db.example", "redis://ops:pw@DB.example.:6379/0"),
            ("redis://%64b.example/3", "valkey://db.example:6379/3"),
            ("redis://db.example:7000", "rediss://db.example:7000"),
            ("redis://localhost", "redis://127.0.0.1:6379"),
            ("redis://127.0.0.1", "redis://[::1]/0"),
            ("redis://127.0.0.1", "redis://[::ffff:127.0.0.1]/0"),
            ("redis://127.0.0.1", "redis://0.0.0.0"),
            ("redis://[2001:db8::1]", "redis://[2001:DB8:0::1]"),
            ("unix:///run/my%72edis", "redis+unix:///run/../run/myredis"),
            ("unix:///s?db=0", "unix:///s"),
            ("local:/no/dir", "unix:///no/dir/redis.sock"),
            ("local:/no/dir", "local:/no/dir?fsync=always"),
            ("redis-cluster://a,b:7001", "rediss-cluster://B:7001,c"),
            ("redis-cluster://a,b:7001", "redis://b:7001"),
            (
                "redis-sentinel://a,b/0?master=m",
                "redis-sentinel://b/0?master=m",
            ),
        ] {
            assert!(same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn other_databases_and_servers_are_told_apart() {
        for (one, other) in [
            ("redis://db.example", "redis://db.example/1"),
            ("redis://db.example", "redis://db.example:6380"),
            ("redis://db.example", "redis://db2.example"),
            ("redis://localhost", "redis://10.0.0.1"),
            ("unix:///s", "unix:///s?db=1"),
            ("unix:///s", "unix:///t"),
            ("local:/no/dir", "local:/no/other"),
            ("redis-cluster://a", "redis-cluster://b"),
            (
                "redis-sentinel://a/0?master=m",
                "redis-sentinel://a/0?master=n",
            ),
        ] {
            assert!(!same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_link_to_a_socket_or_its_directory_is_the_same_server() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir(path("real")).unwrap();
        std::fs::write(path("real/redis.sock"), "").unwrap();
        std::os::unix::fs::symlink(path("real"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("real/redis.sock"), path("s")).unwrap();
        let url = |name: &str| format!("unix://{}", path(name).display());
        let real = url("real/redis.sock");
        for other in [url("s"), url("link/redis.sock"), url("real/./redis.sock")] {
            assert!(same(&real, &other), "{other}");
        }
        assert!(same(&real, &format!("local:{}", path("link").display())));
        // The socket of a server that does not run yet.
        assert!(same(&url("real/new"), &url("link/new")));
    }
}
