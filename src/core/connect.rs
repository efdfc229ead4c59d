//! Connecting: address, timeout, handshake; what "unreachable" means.

use redis::{Client, Connection, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo};

use super::Settings;
use super::url::{Address, Target};
use crate::error::{Error, Kind};

/// Connects, bare: the crate itself sends nothing.
pub fn connect(settings: &Settings) -> Result<Connection, Error> {
    let url = settings
        .url
        .as_deref()
        .unwrap_or("redis://127.0.0.1:6379/0");
    let target = Target::parse(url)?;
    let address = match target.address {
        Address::Tcp(host, port) => ConnectionAddr::Tcp(host, port),
        Address::Unix(path) => ConnectionAddr::Unix(path),
    };
    let unreachable = |_| Error::new(Kind::Unreachable, format!("cannot reach Redis at `{url}`"));
    let info = address
        .into_connection_info()
        .map_err(unreachable)?
        .set_redis_settings(RedisConnectionInfo::default().set_skip_set_lib_name());
    let client = Client::open(info).map_err(unreachable)?;
    let connection = client
        .get_connection_with_timeout(settings.timeout)
        .map_err(unreachable)?;
    Ok(connection)
}
