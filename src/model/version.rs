//! The document of `qless version`: the versions of the binary and of its Lua core.

use schemars::JsonSchema;
use serde::Serialize;

use crate::view::document::DocumentKind;
use crate::view::{RenderOptions, View};

/// The versions of the binary and of its core.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Version {
    /// The version of the binary
    pub version: &'static str,
    /// The commit that the binary was built from
    pub commit: Option<&'static str>,
    /// The SHA-1 of its Lua core
    pub core: String,
}

impl View for Version {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<Version>("version", "The binary and its core: version");

    fn text(&self, _: &RenderOptions) -> String {
        let commit = self.commit.map(|commit| format!("commit {commit}\n"));
        let commit = commit.unwrap_or_default();
        format!("qless {}\n{commit}core {}\n", self.version, self.core)
    }
}
