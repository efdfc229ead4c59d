//! Settings by name, as they are shown: without passwords.

use serde::Serialize;

use super::list::List;
use crate::core::url;
use crate::settings;
use crate::settings::key::Values;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Context {
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
    pub fn new(
        context: &settings::Context,
        defaults: &Values,
        default: bool,
        used: bool,
    ) -> Context {
        let own = &context.values;
        let values = own.or(defaults);
        let stands = values.redis.as_deref().is_some_and(url::holds_password);
        let password = match (&own.password_command, &own.password_env) {
            (Some(_), _) => Some("password-command"),
            (_, Some(_)) => Some("password-env"),
            _ if stands => Some("redis"),
            _ => None,
        };
        let address = values.redis.as_deref();
        Context {
            name: context.name.clone(),
            redis: address.map(|address| url::shown(address, password.is_some())),
            prefix: values.prefix.clone(),
            label: context.label().into(),
            protected: own.protected,
            read_only: values.read_only == Some(true),
            password,
            default,
            used,
            server: None,
            error: None,
        }
    }

    /// Returns what it forbids, in words.
    pub fn flags(&self) -> String {
        let flags = [(self.protected, "protected"), (self.read_only, "read-only")];
        let set = flags.into_iter().filter(|(set, _)| *set);
        set.map(|(_, word)| word).collect::<Vec<_>>().join(", ")
    }
}

/// One context, told at length.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct One(pub List<Context>);

/// Contexts with what came of connecting.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Validated(pub List<Context>);
