//! Environment variables. An empty variable counts as unset.

use std::ffi::OsString;

use crate::error::Error;

/// A variable, `None` if it is unset or empty.
pub(crate) fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// A variable that must be text.
pub(crate) fn utf8_var(name: &str) -> Result<Option<String>, Error> {
    match var(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(Error::usage(format!("`{name}` is not UTF-8"))),
    }
}

/// Whether an environment variable decides if output is colored.
pub(crate) fn environment_decides_color() -> bool {
    ["CLICOLOR_FORCE", "NO_COLOR", "CLICOLOR"]
        .into_iter()
        .any(|name| var(name).is_some())
}
