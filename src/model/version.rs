//! The version of the binary and of its core.

use serde::Serialize;

use super::field::Field;

#[derive(Debug, Serialize)]
pub(crate) struct Version {
    pub version: &'static str,
    /// What it was built from, where the build was told (QLESS_COMMIT).
    pub commit: Option<&'static str>,
    /// SHA-1 of the script.
    pub core: String,
}

impl Version {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::text("version", "the version of the binary"),
        Field::text("commit", "the commit that it was built from").null(),
        Field::text("core", "the SHA-1 of its Lua core"),
    ];
}
