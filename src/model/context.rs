//! Contexts as they are shown: without passwords.

use schemars::JsonSchema;
use serde::Serialize;

use super::list::List;

/// A context: named settings of the config file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Context {
    /// The context
    pub name: String,
    /// Its address; a password is shown as `***`
    pub redis: Option<String>,
    /// The prefix of its keys, if the file has one
    pub prefix: Option<String>,
    /// Its name in prompts
    pub label: String,
    /// Whether changes ask for the label
    pub protected: bool,
    /// Whether writes are refused
    pub read_only: bool,
    /// The source of its password: password-command, password-env or redis
    pub password: Option<&'static str>,
    /// The file of the CAs that it trusts
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_ca: Option<String>,
    /// The file of the client's certificate
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<String>,
    /// The file of the key of that certificate
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<String>,
    /// Whether it is the file's default
    pub default: bool,
    /// Whether commands use it
    pub used: bool,
    /// The server that replied: context validate
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Why no server replied: context validate
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Context {
    /// Returns the protections that are on: `protected, read-only`.
    pub(crate) fn flags(&self) -> String {
        let flags = [(self.protected, "protected"), (self.read_only, "read-only")];
        let set = flags.into_iter().filter(|(set, _)| *set);
        set.map(|(_, word)| word).collect::<Vec<_>>().join(", ")
    }
}

/// Contexts that are shown in full.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct ContextsInFull(pub List<Context>);

/// Contexts with the result of connecting to each.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct ValidatedContexts(pub List<Context>);
