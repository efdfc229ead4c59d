//! The address of a listener: `HOST:PORT`, `:PORT` or `unix:PATH`.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use url::Host;

use crate::text::Sanitized;

/// The forms that `--listen` expects.
const FORMS: &str = "an address such as `127.0.0.1:9123`, `[::1]:9123`, `:9123` or `unix:PATH`";

/// Where a listener answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// A host name or address of this machine. With port 0, the system chooses a free port.
    Tcp { host: Host, port: u16 },
    /// The path of a socket in the file system. Only this user can connect to it.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Parses an address. A port without a host means 127.0.0.1. The error is the list of expected forms.
    pub fn parse(input: &OsStr) -> Result<ListenAddress, String> {
        match input.as_bytes().strip_prefix(b"unix:") {
            Some(b"") => Err(FORMS.into()),
            Some(path) => Ok(ListenAddress::Unix(OsStr::from_bytes(path).into())),
            None => input
                .to_str()
                .and_then(parse_tcp)
                .ok_or_else(|| FORMS.into()),
        }
    }
}

fn parse_tcp(input: &str) -> Option<ListenAddress> {
    let (host, port) = split_port(input);
    let host = match host {
        "" => Host::Ipv4(Ipv4Addr::LOCALHOST),
        host => Host::parse(host).ok()?,
    };
    let port = port?;
    // `parse` alone accepts a sign.
    let port = port
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(port)?;
    Some(ListenAddress::Tcp {
        host,
        port: port.parse().ok()?,
    })
}

/// Splits a text into the host and the port. `None` if there is no port. An IPv6 address keeps its brackets.
pub(super) fn split_port(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    }
}

/// The addresses that a host stands for.
pub(super) fn resolve_host(host: &Host, port: u16) -> io::Result<Vec<SocketAddr>> {
    match host {
        Host::Ipv4(address) => Ok(vec![(*address, port).into()]),
        Host::Ipv6(address) => Ok(vec![(*address, port).into()]),
        Host::Domain(name) => Ok((name.as_str(), port).to_socket_addrs()?.collect()),
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ListenAddress::Tcp { host, port } => write!(out, "{host}:{port}"),
            ListenAddress::Unix(path) => {
                write!(out, "unix:{}", Sanitized(path.as_os_str().as_bytes()))
            }
        }
    }
}
