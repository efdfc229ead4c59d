//! Addresses of servers.

use std::path::PathBuf;

use crate::error::Error;

/// Where the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp(String, u16),
    Unix(PathBuf),
}

/// An address with what it takes to log in.
#[derive(Clone, Debug)]
pub struct Target {
    pub address: Address,
    pub db: i64,
}

impl Target {
    pub fn parse(text: &str) -> Result<Target, Error> {
        let url = ::url::Url::parse(text).map_err(|_| Error::usage("the address is no URL"))?;
        match url.scheme() {
            "redis" => Ok(Target {
                address: Address::Tcp(
                    url.host_str().unwrap_or("127.0.0.1").to_string(),
                    url.port().unwrap_or(6379),
                ),
                db: url.path().trim_matches('/').parse().unwrap_or(0),
            }),
            "unix" | "redis+unix" => Ok(Target {
                address: Address::Unix(PathBuf::from(url.path())),
                db: 0,
            }),
            other => Err(Error::usage(format!("unknown scheme `{other}:`"))),
        }
    }
}
