//! The versions of the binary and of its core.

use serde::Serialize;

use super::field::Field;

/// The versions of the binary and of its core.
#[derive(Debug, Serialize)]
pub(crate) struct Version {
    pub version: &'static str,
    /// The commit that it was built from, if the build set QLESS_COMMIT.
    pub commit: Option<&'static str>,
    /// The SHA-1 of the script.
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
