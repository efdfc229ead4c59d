//! The version of the binary and of its core.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Version {
    pub version: &'static str,
    /// SHA-1 of the script.
    pub core: String,
}
