//! Global flags from environment variables. An empty variable counts as unset.

use std::path::PathBuf;

use clap::ValueEnum;

use super::format::{OutputFormatArg, TimeFormat};
use super::globals::{AddressOrigin, GivenFlags, Globals, TlsFiles};
use super::invalid::Invalid;
use super::value;
use crate::address::{ServerTarget, variables};
use crate::env;
use crate::error::Error;
use crate::name::Name;

impl Globals {
    /// Fills in the flags that the command line does not give.
    pub(crate) fn record_given_and_fill_from_env(&mut self) -> Result<(), Error> {
        self.given = GivenFlags {
            destination: self.given_server_flags_without_password(),
            output: self.output.is_some(),
            prefix: self.prefix.is_some(),
            read_only: self.read_only,
            tls: self.tls.clone(),
        };
        self.origin = AddressOrigin::Typed;
        if self.redis.is_none() {
            self.redis = match env::nonempty_utf8_var("QLESS_REDIS_URL")? {
                None => env::nonempty_utf8_var("REDIS_URL")?,
                some => some,
            };
            self.origin = match self.redis {
                Some(_) => AddressOrigin::Environment,
                None => AddressOrigin::Nowhere,
            };
        }
        if self.context.is_empty() {
            self.context = env::nonempty_utf8_var("QLESS_CONTEXT")?
                .into_iter()
                .collect();
        }
        if self.config.is_none() {
            self.config = env::nonempty_var("QLESS_CONFIG");
        }
        let file = |name: &str| env::nonempty_var(name).map(PathBuf::from);
        self.tls = self.tls.or_defaults(&TlsFiles {
            ca: file("QLESS_TLS_CA"),
            cert: file("QLESS_TLS_CERT"),
            key: file("QLESS_TLS_KEY"),
        });
        if self.prefix.is_none() {
            self.prefix = parse_variable("QLESS_PREFIX", value::prefix)?;
        }
        if self.timeout.is_none() {
            self.timeout = parse_variable("QLESS_TIMEOUT", value::positive_duration)?;
        }
        if self.output.is_none() {
            self.output = parse_variable("QLESS_OUTPUT", |word| {
                OutputFormatArg::from_word(word).ok_or(Invalid::expects(OutputFormatArg::WORDS))
            })?;
        }
        if self.time_format.is_none() {
            self.time_format = parse_variable("QLESS_TIME_FORMAT", |word| {
                TimeFormat::from_str(word, false)
                    .map_err(|_| Invalid::expects("auto, relative, iso or unix"))
            })?;
        }
        self.no_input |= env::nonempty_var("QLESS_NO_INPUT").is_some();
        self.read_only |= env::nonempty_var("QLESS_READ_ONLY").is_some();
        Ok(())
    }
}

impl Globals {
    /// Whether the password comes from a flag or a variable, not from the address.
    pub(crate) fn has_password_source(&self) -> bool {
        let mut variables = variables::PASSWORDS.into_iter();
        self.password_file.is_some()
            || self.askpass
            || variables.any(|name| env::nonempty_var(name).is_some())
    }

    /// The given flags that name the server of the command. The password of the address is left out, and a user that
    /// may be a password.
    fn given_server_flags_without_password(&self) -> Vec<(&'static str, Name)> {
        let redis = self.redis.as_ref().and_then(|text| {
            let target = ServerTarget::parse(text).ok()?;
            let hides_user = target.has_only_user() && !self.has_password_source();
            Some(if target.has_password() || hides_user {
                target.text_for_command().into()
            } else {
                Name::from(text.as_str())
            })
        });
        let name = |text: &Option<String>| text.as_deref().map(Name::from);
        let config = self.config.as_deref().map(Name::from);
        let contexts = self.context.iter();
        let contexts = contexts.map(|context| ("--context", Some(Name::from(context.as_str()))));
        let flags = [("--redis", redis), ("--config", config)].into_iter();
        let flags = flags.chain(contexts);
        flags
            .chain([("--prefix", name(&self.prefix))])
            .filter_map(|(flag, value)| Some((flag, value?)))
            .collect()
    }
}

fn parse_variable<T>(
    name: &str,
    parse: impl Fn(&str) -> Result<T, Invalid>,
) -> Result<Option<T>, Error> {
    match env::nonempty_utf8_var(name)? {
        None => Ok(None),
        Some(text) => match parse(&text) {
            Ok(value) => Ok(Some(value)),
            Err(why) => {
                let error = Error::usage(why.refusal_sentence(name, &text));
                Err(if name == "QLESS_PREFIX" {
                    value::suggest_working_prefix(error, &text)
                } else {
                    error
                })
            }
        },
    }
}
