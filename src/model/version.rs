//! The versions of the binary and of its core.

use schemars::JsonSchema;
use serde::Serialize;

/// The versions of the binary and of its core.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Version {
    /// The version of the binary
    pub version: &'static str,
    /// The commit that it was built from
    pub commit: Option<&'static str>,
    /// The SHA-1 of its Lua core
    pub core: String,
}
