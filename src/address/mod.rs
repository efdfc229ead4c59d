//! Addresses of servers: strict parsing, and the one place that shows them.
//!
//! `redis://[USER[:PASSWORD]@]HOST[:PORT][/DB]`, `rediss://` for the same with TLS,
//! `redis-cluster://H1[:P1],H2[:P2],…[/DB]`, `redis-sentinel://H1[:P1],…/[DB]?master=NAME`,
//! `unix:///PATH[?db=N][&user=U]` and `local:[/DIR][?fsync=always]`; `valkey://`, `valkeys://` and
//! `redis+unix://` are other spellings, and `rediss-cluster://` and `rediss-sentinel://` use TLS.
//!
//! The `redis` crate reads addresses, too, but only of one server, with TLS only through its own stack,
//! and with a password of UTF-8. It ignores a query key that it does not know.

pub(crate) mod nodes;
pub(crate) mod secret;
pub(crate) mod tls;
pub(crate) mod variables;

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use strum::{EnumString, IntoStaticStr};

use url::Url;

use self::nodes::REDIS_PORT;
pub(crate) use self::nodes::{Node, Sentinels};
use self::secret::Secret;
use self::tls::Tls;
use crate::error::Error;

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp(Node),
    /// Nodes of a Redis Cluster. Any of them leads to the others.
    Cluster(Vec<Node>),
    /// Sentinels, which know the master.
    Sentinel(Sentinels),
    Unix(PathBuf),
    /// The private server of this machine.
    Local {
        /// The server's directory, if not the default one.
        dir: Option<PathBuf>,
        /// The `fsync` policy, if the address names one.
        fsync: Option<AppendFsync>,
        /// Whether connecting starts the server if it does not run. True unless the address was made for commands
        /// that only connect.
        may_start: bool,
    },
}

/// When the private server syncs its append-only file to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum AppendFsync {
    Always,
    Everysec,
}

/// An address with the login. `Display` shows it without the password, and without a user that has no password: many
/// write the password there, as `redis-cli` takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTarget {
    pub address: Address,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub db: u32,
    /// `None`: the connection is not encrypted.
    pub tls: Option<Tls>,
}

/// What is wrong with an address. The text does not repeat the address, which may hold a password.
#[derive(Debug)]
pub(crate) struct WrongAddress {
    /// The text follows the name of the address: `has no scheme`.
    pub why: String,
    hint: Option<String>,
}

impl WrongAddress {
    fn with_hint(self, hint: impl Into<String>) -> WrongAddress {
        WrongAddress {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl From<String> for WrongAddress {
    fn from(why: String) -> WrongAddress {
        WrongAddress { why, hint: None }
    }
}

impl ServerTarget {
    /// The address if none is given.
    pub const DEFAULT: &str = "redis://127.0.0.1:6379/0";

    /// Parses an address.
    pub fn parse(text: &str) -> Result<ServerTarget, Error> {
        ServerTarget::parse_address(text).map_err(|wrong| {
            let what = format!("address `{}` {}", mask_password(text), wrong.why);
            Error::usage(what).hint_if(wrong.hint)
        })
    }

    /// Parses an address. The error does not contain the address: the caller names it.
    pub(crate) fn parse_address(text: &str) -> Result<ServerTarget, WrongAddress> {
        let no_scheme = WrongAddress::from("has no scheme".to_owned());
        let in_directory = text.strip_prefix("./").map(|path| format!("$PWD/{path}"));
        if let Some(path) = in_directory.or(text.starts_with('/').then(|| text.to_owned())) {
            return Err(no_scheme.with_hint(format!("write `unix://{}`", mask_password(&path))));
        }
        // A scheme is required: a bare host could mean several kinds of address.
        let scheme = match text.split_once(':') {
            Some((_, port)) if port.parse::<u16>().is_ok() => None,
            parts => parts.map(|(scheme, _)| scheme),
        };
        let Some(scheme) = scheme else {
            return Err(no_scheme.with_hint("write `redis://HOST:6379`"));
        };
        if scheme == "local" {
            return Ok(parse_local(text)?);
        }
        if !SCHEMES.contains(&scheme) {
            let wrong = WrongAddress::from(format!("has an unknown scheme `{scheme}:`"));
            return Err(wrong.with_hint(
                "known are `redis://`, `valkey://`, `redis-cluster://`, `redis-sentinel://`, with TLS \
                 `rediss://`, `valkeys://`, `rediss-cluster://`, `rediss-sentinel://`, and `unix://`, \
                 `local:`",
            ));
        }
        let target = match Url::parse(text) {
            _ if scheme.ends_with("-cluster") => nodes::parse_cluster(text),
            _ if scheme.ends_with("-sentinel") => nodes::parse_sentinel(text),
            Ok(url) if url.fragment().is_some() => Err("has a fragment, `#…`".into()),
            Ok(url) if scheme.ends_with("unix") => parse_unix(&url, text),
            Ok(url) => parse_tcp(&url, REDIS_PORT),
            Err(error) => Err(format!("cannot be read: {error}")),
        };
        target.map_err(|why| match text.rsplit_once('@') {
            // The error leaves out the reason, whose text may contain a part of the password.
            Some((login, _)) if has_delimiter_in_login(login) => {
                WrongAddress::from("cannot be read".to_owned())
                    .with_hint("percent-encode the password, or use `--password-file FILE`")
            }
            _ => why.into(),
        })
    }

    /// Whether the address has a password.
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// Whether the address has a user without a password, which may be a password.
    pub(crate) fn has_only_user(&self) -> bool {
        self.user.is_some() && self.password.is_none() && self.first_host_and_port().is_some()
    }

    /// The address without user and password.
    pub(crate) fn without_login(self) -> ServerTarget {
        let (user, password) = (None, None);
        ServerTarget {
            user,
            password,
            ..self
        }
    }

    /// The address for printed commands: without its password, and without a user that may be a password.
    pub(crate) fn text_for_command(&self) -> String {
        let address = self.clone().without_login().to_string();
        match &self.user {
            Some(user) if self.has_password() => address.replacen("://", &format!("://{user}@"), 1),
            _ => address,
        }
    }

    /// The address for display if the password is stored elsewhere: the user is not a password, and is shown.
    pub(crate) fn with_user_shown(self) -> ServerTarget {
        let absent = || Secret::new(Vec::new());
        let password = self
            .password
            .or_else(|| self.user.as_ref().map(|_| absent()));
        ServerTarget { password, ..self }
    }

    /// The address of one of these servers, with the login, database and TLS settings of this address.
    pub(crate) fn for_one_node(&self, node: &Node) -> ServerTarget {
        ServerTarget {
            address: Address::Tcp(node.clone()),
            ..self.clone()
        }
    }

    /// The server that the address names first.
    pub(crate) fn first_host_and_port(&self) -> Option<&Node> {
        match &self.address {
            Address::Tcp(node) => Some(node),
            Address::Cluster(nodes) | Address::Sentinel(Sentinels { nodes, .. }) => nodes.first(),
            Address::Unix(_) | Address::Local { .. } => None,
        }
    }

    /// `HOST:PORT` or the socket, for sentences about the connection.
    pub fn host_port_or_socket(&self) -> String {
        match &self.address {
            Address::Tcp(node) => node.to_string(),
            Address::Cluster(nodes) | Address::Sentinel(Sentinels { nodes, .. }) => {
                nodes::join_nodes(nodes)
            }
            Address::Unix(path) => path.display().to_string(),
            Address::Local { .. } => self.to_string(),
        }
    }
}

impl fmt::Display for ServerTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Address::Tcp(_) | Address::Cluster(_) | Address::Sentinel(_) => {
                let tls = if self.tls.is_some() { "s" } else { "" };
                let kind = match &self.address {
                    Address::Cluster(_) => "-cluster",
                    Address::Sentinel(_) => "-sentinel",
                    _ => "",
                };
                write!(f, "redis{tls}{kind}://")?;
                match (&self.user, &self.password) {
                    (Some(user), Some(_)) => write!(f, "{user}:***@")?,
                    (None, Some(_)) => f.write_str(":***@")?,
                    (Some(_), None) => f.write_str("***@")?,
                    (None, None) => {}
                }
                f.write_str(&self.host_port_or_socket())?;
                match &self.address {
                    Address::Cluster(_) if self.db == 0 => Ok(()),
                    Address::Sentinel(Sentinels { master, .. }) => {
                        let master = master.replace('%', "%25").replace('&', "%26");
                        write!(f, "/{}?master={}", self.db, master.replace('#', "%23"))
                    }
                    _ => write!(f, "/{}", self.db),
                }
            }
            Address::Unix(path) => {
                write!(f, "unix://{}", path.display())?;
                match self.db {
                    0 => Ok(()),
                    db => write!(f, "?db={db}"),
                }
            }
            Address::Local { dir, .. } => match dir {
                Some(dir) => write!(f, "local:{}", dir.display()),
                None => f.write_str("local:"),
            },
        }
    }
}

/// A text that is perhaps not an address, with everything that may be a password replaced by `***`.
pub(crate) fn mask_password(text: &str) -> String {
    let slashes = text.find("//").map(|at| at + 2);
    let start = slashes.or_else(|| text.find(':').map(|at| at + 1));
    let shown = match (start.unwrap_or_default(), text.rfind('@')) {
        (start, Some(at)) if start <= at => format!("{}***{}", &text[..start], &text[at..]),
        _ => text.to_string(),
    };
    mask_query_secrets(&shown)
}

/// The text with `***` for passwords in its query. Other clients accept passwords there, `qless` does not.
fn mask_query_secrets(shown: &str) -> String {
    let query = shown.find('?').map_or(0, |at| at + 1);
    let (before, query) = shown.split_at(query);
    let is_secret = |key: &str| {
        let key = key.to_ascii_lowercase();
        ["pass", "pwd", "auth", "secret"]
            .iter()
            .any(|word| key.contains(word))
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, _)) if is_secret(key) => format!("{key}=***"),
        _ => pair.to_owned(),
    });
    format!("{before}{}", pairs.collect::<Vec<_>>().join("&"))
}

/// Whether an address has a password, even an address that cannot be used.
pub(crate) fn holds_password(text: &str) -> bool {
    match (ServerTarget::parse(text), Url::parse(text)) {
        (Ok(target), _) => target.has_password(),
        (Err(_), Ok(url)) => {
            let in_login = url.password().is_some_and(|password| !password.is_empty());
            in_login
                || url
                    .query()
                    .is_some_and(|query| mask_query_secrets(query) != query)
        }
        (Err(_), Err(_)) => mask_password(text) != text,
    }
}

/// The schemes with `//`.
const SCHEMES: [&str; 10] = [
    "redis",
    "rediss",
    "valkey",
    "valkeys",
    "redis-cluster",
    "rediss-cluster",
    "redis-sentinel",
    "rediss-sentinel",
    "unix",
    "redis+unix",
];

/// An address for display, with `***` for its password, whether it can be used or not. With `has_stored_password`,
/// `***` also stands for a password that is stored elsewhere.
pub(crate) fn display_address(text: &str, has_stored_password: bool) -> String {
    if let Ok(mut target) = ServerTarget::parse(text) {
        let local = matches!(target.address, Address::Unix(_) | Address::Local { .. });
        if has_stored_password && !local {
            target.password = Some(Secret::new(Vec::new()));
        }
        return target.to_string();
    }
    let Ok(mut url) = Url::parse(text) else {
        return mask_password(text);
    };
    if url.password().is_none() && !url.username().is_empty() && !has_stored_password {
        return mask_password(text);
    }
    let hides = url.password().is_some() || (has_stored_password && !url.username().is_empty());
    if !hides || url.set_password(Some("***")).is_ok() {
        mask_query_secrets(url.as_str())
    } else {
        mask_password(text)
    }
}

/// Whether the part before the last `@` has a `#`, `?` or `/`, at which a URL parser would end the login.
fn has_delimiter_in_login(login: &str) -> bool {
    let login = login.split_once("://").map_or(login, |(_, login)| login);
    login.contains(['#', '?', '/'])
}

/// Parses an address of one server with this default port.
fn parse_tcp(url: &Url, default_port: u16) -> Result<ServerTarget, String> {
    let host = match url.host() {
        Some(url::Host::Ipv6(ip)) => ip.to_string(),
        Some(host) => percent_decode_utf8(&host.to_string(), "host")?,
        None => String::new(),
    };
    if host.is_empty() {
        return Err("names no host".into());
    }
    if url.query().is_some() {
        return Err("has a query, `?…`; the database belongs in the path: `/3`".into());
    }
    let db = match url.path().trim_start_matches('/') {
        "" => 0,
        db => parse_database(db)?,
    };
    let user = Some(url.username()).filter(|user| !user.is_empty());
    Ok(ServerTarget {
        address: Address::Tcp(Node::new(host, url.port().unwrap_or(default_port))),
        user: user
            .map(|user| percent_decode_utf8(user, "user"))
            .transpose()?,
        password: match url.password() {
            Some(password) => Some(Secret::new(percent_decode(password)?)),
            None => None,
        },
        db,
        tls: matches!(url.scheme(), "rediss" | "valkeys").then(Tls::default),
    })
}

fn parse_unix(url: &Url, given: &str) -> Result<ServerTarget, String> {
    if url.host_str().is_some_and(|host| !host.is_empty()) || !given.contains(":///") {
        return Err("requires three slashes: `unix:///run/redis.sock`".into());
    }
    let path = percent_decode_path(url.path())?;
    let mut target = ServerTarget {
        address: Address::Unix(path),
        user: None,
        password: None,
        db: 0,
        tls: None,
    };
    let (mut db, mut user) = (false, false);
    for (key, value) in query_pairs(url.query()) {
        match key {
            "db" if !std::mem::replace(&mut db, true) => target.db = parse_database(value)?,
            "user" if !std::mem::replace(&mut user, true) => {
                target.user = Some(percent_decode_utf8(value, "user")?);
            }
            "db" | "user" => return Err(format!("has `{key}` twice")),
            "password" => return Err("takes no password in its query".into()),
            other => return Err(format!("has an unknown query key `{other}`")),
        }
    }
    Ok(target)
}

fn parse_local(given: &str) -> Result<ServerTarget, String> {
    let rest = given.trim_start_matches("local:");
    let (dir, query) = match rest.split_once('?') {
        Some((dir, query)) => (dir, Some(query)),
        None => (rest, None),
    };
    if dir.contains('#') {
        return Err("has a fragment, `#…`".into());
    }
    if !dir.is_empty() && (!dir.starts_with('/') || dir.starts_with("//")) {
        return Err("requires an absolute directory: `local:/DIR` or `local:$PWD/DIR`".into());
    }
    let mut fsync = None;
    for (key, value) in query_pairs(query) {
        if key != "fsync" {
            return Err(format!("has an unknown query key `{key}`"));
        }
        fsync = match value.parse() {
            Ok(fsync) => Some(fsync),
            Err(_) => {
                return Err(
                    "has an unknown `fsync`; known are `fsync=always` and `fsync=everysec`".into(),
                );
            }
        };
    }
    let dir = match dir {
        "" => None,
        dir => Some(percent_decode_path(dir)?),
    };
    Ok(ServerTarget {
        address: Address::Local {
            dir,
            fsync,
            may_start: true,
        },
        user: None,
        password: None,
        db: 0,
        tls: None,
    })
}

fn query_pairs(query: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
    let parts = query.unwrap_or_default().split('&');
    parts
        .filter(|part| !part.is_empty())
        .map(|part| part.split_once('=').unwrap_or((part, "")))
}

fn parse_database(text: &str) -> Result<u32, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| format!("expects a number as database, not `{text}`"))
}

fn percent_decode_path(encoded: &str) -> Result<PathBuf, String> {
    let bytes = percent_decode(encoded)?;
    if bytes.contains(&0) {
        Err("has a NUL in its path".into())
    } else {
        Ok(PathBuf::from(OsString::from_vec(bytes)))
    }
}

fn percent_decode_utf8(encoded: &str, what: &str) -> Result<String, String> {
    String::from_utf8(percent_decode(encoded)?)
        .map_err(|_| format!("has a {what} that is not UTF-8"))
}

/// Percent-decodes once; `+` stays `+`.
fn percent_decode(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digit = |at: usize| tail.get(at).and_then(|byte| (*byte as char).to_digit(16));
        let (Some(high), Some(low)) = (digit(0), digit(1)) else {
            return Err("has a `%` without two hex digits after it; write `%25`".into());
        };
        bytes.push((high * 16 + low) as u8);
        rest = &tail[2..];
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> ServerTarget {
        ServerTarget::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.message()))
    }

    fn refused(text: &str) -> String {
        let error = ServerTarget::parse(text).expect_err(text);
        match error.hint_text() {
            Some(hint) => format!("{} / {hint}", error.message()),
            None => error.message().to_string(),
        }
    }

    #[test]
    fn tcp_addresses_have_defaults() {
        let target = parse("redis://db.example");
        assert_eq!(target.address, Address::Tcp(Node::new("db.example", 6379)));
        assert_eq!((target.db, target.user), (0, None));
        let target = parse("valkey://[::1]:7000/15");
        assert_eq!(target.address, Address::Tcp(Node::new("::1", 7000)));
        assert_eq!(target.db, 15);
        assert_eq!(target.to_string(), "redis://[::1]:7000/15");
    }

    #[test]
    fn tls_is_a_scheme() {
        for scheme in ["rediss", "valkeys"] {
            let target = parse(&format!("{scheme}://ops:pw@[::1]/3"));
            assert_eq!(target.address, Address::Tcp(Node::new("::1", 6379)));
            assert_eq!(target.tls, Some(Tls::default()));
            assert_eq!(target.to_string(), "rediss://ops:***@[::1]:6379/3");
        }
        assert_eq!(parse("redis://h").tls, None);
        assert_eq!(parse("unix:///s").tls, None);
    }

    #[test]
    fn several_nodes_have_one_login() {
        let nodes = |list: &[(&str, u16)]| -> Vec<Node> {
            list.iter()
                .map(|(host, port)| Node::new(*host, *port))
                .collect()
        };
        let target = parse("rediss-cluster://ops:p,w%40@h1:7000,[::1],h1:7000");
        let two = nodes(&[("h1", 7000), ("::1", 6379)]);
        assert_eq!(target.address, Address::Cluster(two));
        assert_eq!(target.password.as_ref().unwrap().reveal(), b"p,w@");
        assert_eq!(target.tls, Some(Tls::default()));
        let shown = "rediss-cluster://ops:***@h1:7000,[::1]:6379";
        assert_eq!(target.to_string(), shown);
        assert_eq!(
            parse("redis-cluster://h/2").to_string(),
            "redis-cluster://h:6379/2"
        );

        let target = parse("redis-sentinel://:pw@s1,s2:26380/3?master=my%20master");
        let Address::Sentinel(sentinels) = &target.address else {
            panic!("{target:?}");
        };
        assert_eq!(sentinels.nodes, nodes(&[("s1", 26379), ("s2", 26380)]));
        assert_eq!((sentinels.master.as_str(), target.db), ("my master", 3));
        let shown = "redis-sentinel://:***@s1:26379,s2:26380/3?master=my master";
        assert_eq!(target.to_string(), shown);
    }

    #[test]
    fn logins_are_decoded_once_and_never_shown() {
        let target = parse("redis://o%70s:p%2540+%2f%ff@h/0");
        assert_eq!(target.user.as_deref(), Some("ops"));
        assert_eq!(target.password.as_ref().unwrap().reveal(), b"p%40+/\xff");
        assert_eq!(target.to_string(), "redis://ops:***@h:6379/0");
        assert!(!format!("{target:?}").contains("40"));
        assert_eq!(parse("redis://:pw@h").to_string(), "redis://:***@h:6379/0");
        let only_user = parse("redis://ops@h");
        assert_eq!(only_user.to_string(), "redis://***@h:6379/0");
        assert_eq!(only_user.text_for_command(), "redis://h:6379/0");
        let shown = only_user.with_user_shown().to_string();
        assert_eq!(shown, "redis://ops:***@h:6379/0");
        let command = parse("rediss-sentinel://ops:pw@h/0?master=m").text_for_command();
        assert_eq!(command, "rediss-sentinel://ops@h:26379/0?master=m");
        let display = |text| display_address(text, false);
        assert_eq!(display("redis://secret@h/0"), "redis://***@h:6379/0");
        assert_eq!(display("redis://secret@h/x"), "redis://***@h/x");
    }

    #[test]
    fn unix_sockets_have_a_query() {
        let target = parse("unix:///run/my%20r.sock?db=3&user=ops");
        assert_eq!(target.address, Address::Unix("/run/my r.sock".into()));
        assert_eq!((target.db, target.user.as_deref()), (3, Some("ops")));
        assert_eq!(parse("redis+unix:///s").address, Address::Unix("/s".into()));
    }

    #[test]
    fn a_path_is_suggested_as_a_unix_socket() {
        let hint = |text: &str| ServerTarget::parse_address(text).unwrap_err().hint.unwrap();
        assert_eq!(hint("/run/r.sock"), "write `unix:///run/r.sock`");
        assert_eq!(hint("/run/a:b"), "write `unix:///run/a:b`");
        assert_eq!(hint("./r.sock"), "write `unix://$PWD/r.sock`");
        assert_eq!(hint("h"), "write `redis://HOST:6379`");
        assert_eq!(hint("127.0.0.1:7711"), "write `redis://HOST:6379`");
    }

    #[test]
    fn local_has_a_directory() {
        let local = |dir: Option<&str>, fsync| Address::Local {
            dir: dir.map(PathBuf::from),
            fsync,
            may_start: true,
        };
        assert_eq!(parse("local:").address, local(None, None));
        assert_eq!(parse("local:/a/b c").address, local(Some("/a/b c"), None));
        let always = Some(AppendFsync::Always);
        assert_eq!(parse("local:?fsync=always").address, local(None, always));
        assert_eq!(
            parse("local:/d?fsync=always").address,
            local(Some("/d"), always)
        );
    }

    #[test]
    fn invalid_addresses_are_refused() {
        for text in [
            "",
            "localhost",
            "localhost:6379",
            "http://h",
            "rediss-sentinel://h",
            "redis-sentinel://h/0?master=",
            "redis-sentinel://h/0?master=a&master=b",
            "redis-sentinel://h/0?name=a",
            "redis-sentinel://h,/0?master=a",
            "redis-sentinel:///0?master=a",
            "redis-sentinel://h/0?master=a#x",
            "redis-sentinel://h/x?master=a",
            "redis-cluster://",
            "redis-cluster:h",
            "redis-cluster://h,",
            "redis-cluster://h:x,g",
            "redis-cluster://h,u@g:1:2",
            "redis-cluster://h?db=1",
            "redis-cluster://h/x",
            "rediss://h#insecure",
            "rediss://h?verify=none",
            "redis://",
            "redis:///0",
            "redis://h/x",
            "redis://h/1/2",
            "redis://h/-1",
            "redis://h/+1",
            "redis://h/0?db=4",
            "redis://h?timeout=3",
            "redis://h/0#x",
            "redis://h:99999",
            "redis://h:port",
            "redis://u%zz@h",
            "unix://run/r.sock",
            "unix:/run/r.sock",
            "unix:///s?db=x",
            "unix:///s?password=x",
            "unix:///s?db=1&db=2",
            "unix:///s%00",
            "local:dir",
            "local://dir",
            "local:/d?fsync=no",
            "local:/d?x=1",
            "local:/d#x",
            "redis://h/%zz",
        ] {
            refused(text);
        }
    }

    #[test]
    fn a_password_is_hidden_even_in_an_invalid_address() {
        for (text, shown) in [
            ("redis//u:secret@h", "redis//***@h"),
            ("redis:u:secret@h", "redis:***@h"),
            (
                "unix:///x?password=secret&db=1",
                "unix:///x?password=***&db=1",
            ),
            ("redis://h?password=secret", "redis://h?password=***"),
            ("unix:///x?pass=secret&db=1", "unix:///x?pass=***&db=1"),
            ("unix:///x?db=1&PASSWD=secret", "unix:///x?db=1&PASSWD=***"),
            ("redis://h:6379/0", "redis://h:6379/0"),
            ("u@h", "***@h"),
        ] {
            assert_eq!(mask_password(text), shown);
            assert!(!refused_or_none(text).contains("secret"), "{text}");
        }
    }

    fn refused_or_none(text: &str) -> String {
        match ServerTarget::parse(text) {
            Ok(_) => String::new(),
            Err(_) => refused(text),
        }
    }

    #[test]
    fn a_password_that_breaks_the_address_is_hidden_and_explained() {
        for text in [
            "redis://:se#cret@h/0",
            "redis://u:se/cret@h/0",
            "redis://u:se?cret@h",
            "redis://u:12/secret@h",
            "redis-sentinel://:pa?secret@h/0?master=m",
            "redis-cluster://u:12/secret@h:7000",
        ] {
            let message = refused(text);
            assert!(!message.contains("cret"), "{message}");
            assert!(message.contains("percent-encode"), "{message}");
        }
        assert!(!refused("rediss-cluster://u:secret@h:x").contains("secret"));
        assert!(!refused("redis://u:12345/x").contains("percent"));
    }
}
