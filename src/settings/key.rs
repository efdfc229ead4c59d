//! The keys of the configuration file, in one table that the parser and the page `qless-config(5)`
//! use.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use crate::args::format::{Output, TimeFormat, When};
use crate::args::invalid::Invalid;
use crate::args::tls::TlsFiles;
use crate::args::value;
use crate::name;
use crate::name::Name;

/// The settings of a context, or of `[defaults]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Values {
    pub redis: Option<String>,
    pub prefix: Option<String>,
    pub password_command: Option<Vec<String>>,
    pub password_env: Option<String>,
    pub tls: TlsFiles,
    pub protected: bool,
    pub label: Option<String>,
    pub read_only: Option<bool>,
    pub timeout: Option<Duration>,
    pub output: Option<Output>,
    pub headers: Option<When>,
    pub time_format: Option<TimeFormat>,
    pub color: Option<When>,
    pub no_input: Option<bool>,
    pub no_pager: Option<bool>,
}

impl Values {
    /// Returns these settings, completed from `[defaults]`.
    pub(crate) fn or(&self, defaults: &Values) -> Values {
        Values {
            redis: self.redis.clone().or_else(|| defaults.redis.clone()),
            prefix: self.prefix.clone().or_else(|| defaults.prefix.clone()),
            tls: self.tls.or(&defaults.tls),
            read_only: self.read_only.or(defaults.read_only),
            timeout: self.timeout.or(defaults.timeout),
            output: self.output.or(defaults.output),
            headers: self.headers.or(defaults.headers),
            time_format: self.time_format.or(defaults.time_format),
            color: self.color.or(defaults.color),
            no_input: self.no_input.or(defaults.no_input),
            no_pager: self.no_pager.or(defaults.no_pager),
            ..self.clone()
        }
    }
}

/// A key of a context.
pub(crate) struct ConfigKey {
    pub name: &'static str,
    pub of: ValueType,
    /// Whether `[defaults]` has the key, too.
    pub in_defaults: bool,
    /// The default value, for the manual.
    pub default: &'static str,
    pub says: &'static str,
    take: Setter,
}

/// The type of a value in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    Text,
    Switch,
    Words,
    /// Text, or a number of seconds.
    Time,
}

impl ValueType {
    /// Returns the expected value, for an error about a wrong type.
    pub(crate) const fn wants(self) -> &'static str {
        match self {
            ValueType::Text => "a text in quotes",
            ValueType::Switch => "`true` or `false`",
            ValueType::Words => "a list of words such as `[\"pass\", \"show\", \"redis/prod\"]`",
            ValueType::Time => "a duration such as `\"90s\"`",
        }
    }

    /// Returns the name of the type, for the manual.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            ValueType::Text => "text",
            ValueType::Switch => "true or false",
            ValueType::Words => "list of words",
            ValueType::Time => "duration",
        }
    }
}

/// Stores a value, or returns why it is invalid.
#[derive(Clone, Copy)]
enum Setter {
    Text(fn(&mut Values, &str) -> Result<(), Invalid>),
    Switch(fn(&mut Values, bool)),
    Words(fn(&mut Values, Vec<String>)),
}

const fn text(
    name: &'static str,
    default: &'static str,
    says: &'static str,
    take: fn(&mut Values, &str) -> Result<(), Invalid>,
) -> ConfigKey {
    ConfigKey {
        name,
        of: ValueType::Text,
        in_defaults: false,
        default,
        says,
        take: Setter::Text(take),
    }
}

const fn switch(name: &'static str, says: &'static str, take: fn(&mut Values, bool)) -> ConfigKey {
    ConfigKey {
        name,
        of: ValueType::Switch,
        in_defaults: false,
        default: "false",
        says,
        take: Setter::Switch(take),
    }
}

impl ConfigKey {
    const fn in_defaults(self) -> ConfigKey {
        ConfigKey {
            in_defaults: true,
            ..self
        }
    }

    const fn of(self, of: ValueType) -> ConfigKey {
        ConfigKey { of, ..self }
    }

    /// Returns the key with this name.
    pub(crate) fn named(name: &str, defaults: bool) -> Option<&'static ConfigKey> {
        ConfigKey::known(defaults).find(|key| key.name == name)
    }

    /// Returns the keys of a context, or of `[defaults]`.
    pub(crate) fn known(defaults: bool) -> impl Iterator<Item = &'static ConfigKey> {
        KEYS.iter().filter(move |key| key.in_defaults || !defaults)
    }

    pub(crate) fn take_text(&self, values: &mut Values, given: &str) -> Result<(), Invalid> {
        match self.take {
            Setter::Text(take) => take(values, given),
            _ => Err(Invalid::expects(self.of.wants())),
        }
    }

    pub(crate) fn take_switch(&self, values: &mut Values, given: bool) -> Result<(), Invalid> {
        match self.take {
            Setter::Switch(take) => {
                take(values, given);
                Ok(())
            }
            _ => Err(Invalid::expects(self.of.wants())),
        }
    }

    pub(crate) fn take_words(
        &self,
        values: &mut Values,
        given: Vec<String>,
    ) -> Result<(), Invalid> {
        match self.take {
            Setter::Words(_) if given.first().is_none_or(String::is_empty) => {
                Err("names no program".into())
            }
            Setter::Words(_) if given.iter().any(|word| word.contains('\0')) => {
                Err("holds a NUL".into())
            }
            Setter::Words(take) => {
                take(values, given);
                Ok(())
            }
            _ => Err(Invalid::expects(self.of.wants())),
        }
    }
}

/// The items at the top level of the file.
pub(crate) const TABLES: [(&str, &str); 3] = [
    ("default", "the context that is used where none is named"),
    ("[defaults]", "what holds in all contexts, and without one"),
    ("[context.NAME]", "the settings that `--context NAME` uses"),
];

/// An example file, for the manual.
pub(crate) const EXAMPLE: &str = "\
default = \"local\"

[defaults]
output = \"table\"

[context.local]
redis = \"redis://127.0.0.1:6379/0\"

[context.prod]
redis            = \"rediss://ops@redis.prod.example:6380/0\"
tls-ca           = \"prod-ca.pem\"    # beside this file
password-command = [\"pass\", \"show\", \"redis/prod\"]
protected        = true      # changes ask for the label
label            = \"PROD\"    # shown in prompts and dry runs

[context.viewer]
redis     = \"redis://replica.prod.example:6379/0\"
read-only = true
";

/// All keys, in the order of the manual.
pub(crate) const KEYS: [ConfigKey; 17] = [
    text(
        "redis",
        "redis://127.0.0.1:6379/0",
        "address of the server, as `--redis`",
        |values, given| if given.is_empty() {
Err("is empty".into())
} else {
values.redis = Some(given.into());
                Ok(())
},
    )
    .in_defaults(),
    text(
        "prefix",
        "ql:",
        "prefix of all keys and channels, as `--prefix`",
        |values, given| {
            values.prefix = Some(value::prefix(given)?);
            Ok(())
        },
    )
    .in_defaults(),
    ConfigKey {
        name: "password-command",
        of: ValueType::Words,
        in_defaults: false,
        default: "none",
        says: "program and arguments that print the password in their first line; run without a \
               shell, for 10 seconds at most, and only to connect",
        take: Setter::Words(|values, given| values.password_command = Some(given)),
    },
    text(
        "password-env",
        "none",
        "environment variable that holds the password",
        |values, given| if given.is_empty() || given.contains(['=', '\0']) {
Err("is not the name of a variable".into())
} else {
values.password_env = Some(given.into());
                Ok(())
},
    ),
    text(
        "tls-ca",
        "the CAs of the system",
        "file of the CA certificates to trust, as `--tls-ca`; a relative path starts at the \
         directory of this file",
        |values, given| {
            values.tls.ca = Some(file(given)?);
            Ok(())
        },
    )
    .in_defaults(),
    text(
        "tls-cert",
        "none",
        "file of the certificate that identifies `qless` to the server, as `--tls-cert`; its path \
         as that of tls-ca",
        |values, given| {
            values.tls.cert = Some(file(given)?);
            Ok(())
        },
    )
    .in_defaults(),
    text(
        "tls-key",
        "none",
        "file of the private key of that certificate, as `--tls-key`; its path as that of tls-ca",
        |values, given| {
            values.tls.key = Some(file(given)?);
            Ok(())
        },
    )
    .in_defaults(),
    switch(
        "protected",
        "changes ask for the label to be typed, except a `put` of one job that sets no maximum of a \
         throttle, the calls of workers and changes of one named job; a script gives `--yes` and `--confirm LABEL`; holds for the server and \
         prefix, however the address is given; no flag lifts it",
        |values, given| values.protected = given,
    ),
    text(
        "label",
        "the context's name",
        "what prompts and dry runs call it, and what is typed where it is protected",
        |values, given| {
            let label = given.trim();
            name::refuse_new(label.as_bytes())?;
            values.label = Some(label.into());
            Ok(())
        },
    ),
    switch(
        "read-only",
        "refuse whatever may change something, as `--read-only`; holds for the server and prefix, \
         however the address is given, except in a context of it that says `false`; no flag lifts it",
        |values, given| values.read_only = Some(given),
    )
    .in_defaults(),
    text(
        "timeout",
        "10s",
        "longest wait to be connected, and for one call, as `--timeout`",
        |values, given| {
            values.timeout = Some(value::timeout(given)?);
            Ok(())
        },
    )
    .of(ValueType::Time)
    .in_defaults(),
    text(
        "output",
        "table",
        "table, tsv, json, ndjson, jid or raw, as `--output`",
        |values, given| {
            let output = Output::of(given).ok_or(Invalid::expects(Output::WORDS))?;
            values.output = Some(output);
            Ok(())
        },
    )
    .in_defaults(),
    text(
        "headers",
        "auto",
        "whether a table has headers: auto, always or never, as `--headers`",
        |values, given| {
            values.headers = Some(when(given)?);
            Ok(())
        },
    )
    .in_defaults(),
    text(
        "time-format",
        "auto",
        "how moments are written: auto, relative, iso or unix, as `--time-format`",
        |values, given| {
            let expected = || Invalid::expects("auto, relative, iso or unix");
            values.time_format = Some(TimeFormat::from_str(given, false).map_err(|_| expected())?);
            Ok(())
        },
    )
    .in_defaults(),
    text(
        "color",
        "auto",
        "whether to colour: auto, always or never, as `--color`",
        |values, given| {
            values.color = Some(when(given)?);
            Ok(())
        },
    )
    .in_defaults(),
    switch(
        "no-pager",
        "show what is longer than the screen without a pager, as `--no-pager`",
        |values, given| values.no_pager = Some(given),
    )
    .in_defaults(),
    switch(
        "no-input",
        "never prompt, as `--no-input`",
        |values, given| values.no_input = Some(given),
    )
    .in_defaults(),
];

fn file(given: &str) -> Result<PathBuf, Invalid> {
    if given.is_empty() || given.contains('\0') {
        Err("is not the path of a file".into())
    } else {
        Ok(given.into())
    }
}

fn when(given: &str) -> Result<When, Invalid> {
    When::from_str(given, false).map_err(|_| Invalid::expects("auto, always or never"))
}

/// Returns the hint for an unknown key: the most similar key, or all keys.
pub(crate) fn advice<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let names: Vec<Name> = known.iter().map(|name| Name::from(*name)).collect();
    match crate::text::nearest(Name::from(typed), &names) {
        Some(near) => format!(
            "did you mean `{}`?",
            String::from_utf8_lossy(near.as_bytes())
        ),
        None => format!("known are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::read::read;

    #[test]
    fn the_example_of_the_manual_is_understood() {
        let contents = read(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(contents.order, ["local", "prod", "viewer"]);
        assert!(contents.contexts["prod"].protected);
        let (default, _) = contents.default.unwrap();
        assert!(contents.contexts.contains_key(&default));
    }

    #[test]
    fn each_key_is_there_once_and_takes_what_it_says() {
        for (at, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..at].iter().all(|other| other.name != key.name));
            let mut values = Values::default();
            let taken = match key.of {
                ValueType::Switch => key.take_switch(&mut values, true),
                ValueType::Words => key.take_words(&mut values, vec!["pass".into()]),
                ValueType::Text | ValueType::Time => match key.name {
                    "password-env" => key.take_text(&mut values, "PW"),
                    "label" => key.take_text(&mut values, "PROD"),
                    _ => key.take_text(&mut values, key.default),
                },
            };
            assert_eq!(taken, Ok(()), "{}", key.name);
            assert_ne!(values, Values::default(), "{}", key.name);
        }
    }

    #[test]
    fn what_defaults_know_holds_in_contexts_that_are_silent() {
        for key in ConfigKey::known(true) {
            let mut defaults = Values::default();
            let taken = match key.of {
                ValueType::Switch => key.take_switch(&mut defaults, true),
                _ => key.take_text(&mut defaults, key.default),
            };
            assert_eq!(taken, Ok(()));
            assert_eq!(Values::default().or(&defaults), defaults, "{}", key.name);
        }
    }
}
