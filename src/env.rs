//! Environment variables. An empty variable counts as unset.

use std::ffi::OsString;

use crate::error::Error;

/// The value of an environment variable, `None` if it is unset or empty.
pub(crate) fn nonempty_var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// A variable that must be text.
pub(crate) fn nonempty_utf8_var(name: &str) -> Result<Option<String>, Error> {
    match nonempty_var(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(Error::usage(format!("`{name}` is not UTF-8"))),
    }
}

/// Whether an environment variable decides if output is colored.
pub(crate) fn environment_decides_color() -> bool {
    ["CLICOLOR_FORCE", "NO_COLOR", "CLICOLOR"]
        .into_iter()
        .any(|name| nonempty_var(name).is_some())
}
