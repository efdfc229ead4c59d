//! What the environment says. An empty variable counts as unset.

use std::ffi::OsString;

use super::usage::refused;
use clap::ValueEnum;

use super::{Format, Given, Globals, Origin, TimeFormat, value};
use crate::error::Error;

/// Returns a variable, `None` if it is unset or empty.
pub fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns a variable that must be text.
pub fn text(name: &str) -> Result<Option<String>, Error> {
    match var(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(Error::usage(format!("`{name}` is not UTF-8"))),
    }
}

/// Whether the environment says whether to colour.
pub fn tells_color() -> bool {
    ["CLICOLOR_FORCE", "NO_COLOR", "CLICOLOR"]
        .into_iter()
        .any(|name| var(name).is_some())
}

impl Globals {
    /// Fills in what was not typed.
    pub(super) fn fill_from_env(&mut self) -> Result<(), Error> {
        self.given = Given {
            prefix: self.prefix.is_some(),
            read_only: self.read_only,
        };
        self.origin = Origin::Typed;
        if self.redis.is_none() {
            self.redis = match text("QLESS_REDIS_URL")? {
                None => text("REDIS_URL")?,
                some => some,
            };
            self.origin = match self.redis {
                Some(_) => Origin::Environment,
                None => Origin::Nowhere,
            };
        }
        if self.context.is_none() {
            self.context = text("QLESS_CONTEXT")?;
        }
        if self.config.is_none() {
            self.config = var("QLESS_CONFIG");
        }
        if self.prefix.is_none() {
            self.prefix = read("QLESS_PREFIX", value::prefix)?;
        }
        if self.timeout.is_none() {
            self.timeout = read("QLESS_TIMEOUT", value::timeout)?;
        }
        if self.output.is_none() {
            self.output = read("QLESS_OUTPUT", |word| {
                Format::of(word).ok_or("wants table, json, ndjson, jid or raw".into())
            })?;
        }
        if self.time_format.is_none() {
            self.time_format = read("QLESS_TIME_FORMAT", |word| {
                TimeFormat::from_str(word, false)
                    .map_err(|_| "is none of auto, relative, iso, unix".into())
            })?;
        }
        self.no_input |= var("QLESS_NO_INPUT").is_some();
        self.read_only |= var("QLESS_READ_ONLY").is_some();
        Ok(())
    }
}

fn read<T>(name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Error> {
    match text(name)? {
        None => Ok(None),
        Some(text) => match parse(&text) {
            Ok(value) => Ok(Some(value)),
            Err(why) => Err(Error::usage(refused(name, &text, &why))),
        },
    }
}
