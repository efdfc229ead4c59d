//! Settings by name, as they are shown: without passwords.

use serde::Serialize;

use super::list::List;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Context {
    pub name: String,
    /// The address, its password masked.
    pub redis: Option<String>,
    pub prefix: Option<String>,
    pub label: String,
    pub protected: bool,
    pub read_only: bool,
    /// Where its password comes from.
    pub password: Option<&'static str>,
    pub default: bool,
    pub used: bool,
    /// What answered, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Why nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Context {
    /// Returns what it forbids, in words.
    pub(crate) fn flags(&self) -> String {
        let flags = [(self.protected, "protected"), (self.read_only, "read-only")];
        let set = flags.into_iter().filter(|(set, _)| *set);
        set.map(|(_, word)| word).collect::<Vec<_>>().join(", ")
    }
}

/// One context, told at length.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct One(pub List<Context>);

/// Contexts with what came of connecting.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Validated(pub List<Context>);
