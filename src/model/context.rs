//! Contexts as they are shown: without passwords.

use serde::Serialize;

use super::field::Field;
use super::list::List;

/// A context: named settings of the config file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Context {
    pub name: String,
    /// The address, its password masked.
    pub redis: Option<String>,
    pub prefix: Option<String>,
    pub label: String,
    pub protected: bool,
    pub read_only: bool,
    /// The source of its password.
    pub password: Option<&'static str>,
    /// The file of the CAs that it trusts, if not those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_ca: Option<String>,
    /// The file of the certificate that identifies the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<String>,
    /// The file of the key of that certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<String>,
    pub default: bool,
    pub used: bool,
    /// The server that replied, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Why no server replied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Context {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::text("name", "the context"),
        Field::text("redis", "its address; a password is shown as `***`").null(),
        Field::text("prefix", "the prefix of its keys, if the file has one").null(),
        Field::text("label", "its name in prompts"),
        Field::bool("protected", "whether writes to many jobs ask for the label"),
        Field::bool("read_only", "whether writes are refused"),
        Field::text(
            "password",
            "the source of its password: password-command, password-env or redis",
        )
        .null(),
        Field::text("tls_ca", "the file of the CAs that it trusts").optional(),
        Field::text("tls_cert", "the file of the client's certificate").optional(),
        Field::text("tls_key", "the file of the key of that certificate").optional(),
        Field::bool("default", "whether it is the file's default"),
        Field::bool("used", "whether commands use it"),
        Field::text("server", "the server that replied: context validate").optional(),
        Field::text("error", "why no server replied: context validate").optional(),
    ];
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
