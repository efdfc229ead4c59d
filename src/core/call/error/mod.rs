//! What the server's errors and silences mean: the one place that turns them into our errors.
//!
//! The first word of an error decides. For `ERR` a short list of known texts decides: those of
//! `core.md` 1.3, which the core raises, and a few of the server itself.

mod connection;
mod login;
mod lost;
mod raised;
mod refused;
mod server_error;
mod tls;

pub(crate) use self::connection::{cluster_prefix, is_temporary, not_connected};
pub(crate) use self::login::login_refused;
pub(crate) use self::lost::{blocks_writes, call_lost};
pub(crate) use self::refused::{call_refused, disk_full};
pub(crate) use self::server_error::ServerError;

#[cfg(test)]
mod tests;
