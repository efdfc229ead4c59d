//! The version of the binary and of its core.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Version {
    pub version: &'static str,
    /// What it was built from, where the build was told (QLESS_COMMIT).
    pub commit: Option<&'static str>,
    /// SHA-1 of the script.
    pub core: String,
}
