//! The environment variables that hold a secret.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Variables with the password of the server. The first one that is set counts.
pub(crate) const PASSWORDS: [&str; 2] = ["QLESS_REDIS_PASSWORD", "REDISCLI_AUTH"];

/// The variable with the user of Sentinels.
pub(crate) const SENTINEL_USER: &str = "QLESS_SENTINEL_USER";

/// The variable with the password of Sentinels.
pub(crate) const SENTINEL_PASSWORD: &str = "QLESS_SENTINEL_PASSWORD";

/// The names of the environment variables of this process that hold a password, or an address with a password.
pub(crate) fn secret_variables() -> Vec<OsString> {
    std::env::vars_os()
        .filter(|(name, value)| holds_secret(name.to_str().unwrap_or_default(), value))
        .map(|(name, _)| name)
        .collect()
}

fn holds_secret(name: &str, value: &OsStr) -> bool {
    let is_password = PASSWORDS.contains(&name) || name == SENTINEL_PASSWORD;
    let is_address = name == "REDIS_URL" || (name.starts_with("QLESS_") && name.ends_with("_URL"));
    is_password || (is_address && holds_password(value))
}

/// Whether an address has a password, even in a form that only other clients accept.
fn holds_password(value: &OsStr) -> bool {
    match value.to_str() {
        Some(text) => super::holds_password(text) || text.contains("password="),
        // Such an address is useless.
        None => value.as_bytes().contains(&b'@'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_secrets_and_plain_addresses_are_not() {
        for (name, value, is_secret) in [
            ("QLESS_REDIS_PASSWORD", "x", true),
            ("REDISCLI_AUTH", "x", true),
            ("QLESS_SENTINEL_PASSWORD", "", true),
            ("QLESS_REDIS_URL", "redis://:secret@h/0", true),
            ("QLESS_REDIS_URL", "redis://user:secret@h/0", true),
            ("QLESS_REDIS_URL", "redis://h/0", false),
            ("QLESS_REDIS_URL", "redis://user@h/0", false),
            ("QLESS_REDIS_URL", "redis://h/0?password=secret", true),
            ("QLESS_SENTINEL_URL", "redis-sentinel://:secret@h/m", true),
            ("REDIS_URL", ":secret@h", true),
            ("REDIS_URL", "unix:///run/redis.sock", false),
            ("DATABASE_URL", "postgres://me:secret@h/db", false),
            ("QLESS_PREFIX", "ql:", false),
            ("PATH", "/bin", false),
        ] {
            let secret = holds_secret(name, OsStr::new(value));
            assert_eq!(secret, is_secret, "{name}={value}");
        }
    }
}
