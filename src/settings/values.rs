//! The settings of the configuration file, as one struct that serde reads and writes. The manual page
//! `qless-config(5)` takes its texts from the doc comments of the fields.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use toml_edit::Datetime;

use crate::address::ServerTarget;
use crate::args::format::{DisplayWhen, OutputFormatArg, TimeFormat};
use crate::args::globals::TlsFiles;
use crate::args::invalid::Invalid;
use crate::args::value;
use crate::name::refuse_as_new_name;
use crate::text::Sanitized;

/// The settings of a context, or of `[defaults]`.
///
/// The error about a wrong value does not name the key: `settings/read` adds the key when it reads the file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub(crate) struct ConfigValues {
    /// Address of the server, as `--redis`
    #[serde(deserialize_with = "read_redis_address")]
    #[schemars(extend("default" = "redis://127.0.0.1:6379/0"))]
    pub redis: Option<String>,
    /// Prefix of all keys and channels, as `--prefix`
    #[serde(deserialize_with = "read_key_prefix")]
    #[schemars(extend("default" = "ql:"))]
    pub prefix: Option<String>,
    /// Prefixes of several namespaces that commands use as one, in place of `prefix`; new ones go to the
    /// end of the list
    #[serde(deserialize_with = "read_key_prefixes")]
    #[schemars(extend("default" = "none"))]
    pub prefixes: Option<Vec<String>>,
    /// Names of other contexts whose servers commands use as one, in place of an address; new ones go to
    /// the end of the list
    #[serde(deserialize_with = "read_member_names")]
    #[schemars(extend("default" = "none"))]
    pub members: Option<Vec<String>>,
    /// Program and arguments that print the password in their first line; run without a shell, for 10
    /// seconds at most, and only to connect
    #[serde(deserialize_with = "read_program_argv")]
    #[schemars(extend("default" = "none"))]
    pub password_command: Option<Vec<String>>,
    /// Environment variable that holds the password
    #[serde(deserialize_with = "read_env_variable_name")]
    #[schemars(extend("default" = "none"))]
    pub password_env: Option<String>,
    /// File of the CA certificates to trust, as `--tls-ca`; a relative path starts at the directory of
    /// this file
    #[serde(deserialize_with = "read_nonempty_path")]
    #[schemars(extend("default" = "the CAs of the system"))]
    pub tls_ca: Option<PathBuf>,
    /// File of the certificate that identifies `qless` to the server, as `--tls-cert`; a relative path
    /// starts at the directory of this file
    #[serde(deserialize_with = "read_nonempty_path")]
    #[schemars(extend("default" = "none"))]
    pub tls_cert: Option<PathBuf>,
    /// File of the private key of the certificate in tls-cert, as `--tls-key`; a relative path starts at
    /// the directory of this file
    #[serde(deserialize_with = "read_nonempty_path")]
    #[schemars(extend("default" = "none"))]
    pub tls_key: Option<PathBuf>,
    /// Changes ask for the label to be typed, except a `put` of one job that sets no maximum of a
    /// throttle, the calls of workers and changes of one named job; a script gives `--yes` and
    /// `--confirm LABEL`; holds for the server and prefix, however the address is given; no flag lifts
    /// it
    #[serde(deserialize_with = "read_true_or_false")]
    #[schemars(extend("default" = "false"))]
    pub protected: Option<bool>,
    /// The name of the context in prompts and dry runs; in a protected context it is typed to confirm
    #[serde(deserialize_with = "read_context_label")]
    #[schemars(extend("default" = "the context's name"))]
    pub label: Option<String>,
    /// Refuse whatever may change something, as `--read-only`; holds for the server and prefix, however
    /// the address is given, except in a context for them that says `false`; no flag lifts it
    #[serde(deserialize_with = "read_true_or_false")]
    #[schemars(extend("default" = "false"))]
    pub read_only: Option<bool>,
    /// Longest wait to be connected, and for one call, as `--timeout`
    #[serde(deserialize_with = "read_timeout", skip_serializing)]
    #[schemars(with = "String", extend("default" = "10s", "format" = "duration"))]
    pub timeout: Option<Duration>,
    /// Table, tsv, json, ndjson, jid or raw, as `--output`
    #[serde(deserialize_with = "read_output_format", skip_serializing)]
    #[schemars(with = "String", extend("default" = "table"))]
    pub output: Option<OutputFormatArg>,
    /// Whether a table has headers: auto, always or never, as `--headers`
    #[serde(deserialize_with = "read_display_when", skip_serializing)]
    #[schemars(with = "String", extend("default" = "auto"))]
    pub headers: Option<DisplayWhen>,
    /// How moments are written: auto, relative, iso or unix, as `--time-format`
    #[serde(deserialize_with = "read_time_format", skip_serializing)]
    #[schemars(with = "String", extend("default" = "auto"))]
    pub time_format: Option<TimeFormat>,
    /// Whether to color: auto, always or never, as `--color`
    #[serde(deserialize_with = "read_display_when", skip_serializing)]
    #[schemars(with = "String", extend("default" = "auto"))]
    pub color: Option<DisplayWhen>,
    /// Show what is longer than the screen without a pager, as `--no-pager`
    #[serde(deserialize_with = "read_true_or_false")]
    #[schemars(extend("default" = "false"))]
    pub no_pager: Option<bool>,
    /// Never prompt, as `--no-input`
    #[serde(deserialize_with = "read_true_or_false")]
    #[schemars(extend("default" = "false"))]
    pub no_input: Option<bool>,
}

/// The keys that `[defaults]` lacks.
pub(super) const ONLY_IN_CONTEXTS: [&str; 6] = [
    "prefixes",
    "members",
    "password-command",
    "password-env",
    "protected",
    "label",
];

/// The keys that say how to reach a server. A context with `members` cannot set them, because its members set their
/// own.
pub(super) const ADDRESS_KEYS: [&str; 8] = [
    "redis",
    "prefix",
    "prefixes",
    "password-command",
    "password-env",
    "tls-ca",
    "tls-cert",
    "tls-key",
];

impl ConfigValues {
    /// A copy of these settings, in which `[defaults]` fills the keys that are not set.
    pub(crate) fn or_defaults(&self, defaults: &ConfigValues) -> ConfigValues {
        let tls = self.tls_files().or_defaults(&defaults.tls_files());
        ConfigValues {
            redis: self.redis.clone().or_else(|| defaults.redis.clone()),
            prefix: self.prefix.clone().or_else(|| defaults.prefix.clone()),
            tls_ca: tls.ca,
            tls_cert: tls.cert,
            tls_key: tls.key,
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

    pub(crate) fn tls_files(&self) -> TlsFiles {
        TlsFiles {
            ca: self.tls_ca.clone(),
            cert: self.tls_cert.clone(),
            key: self.tls_key.clone(),
        }
    }

    pub(crate) fn is_protected(&self) -> bool {
        self.protected == Some(true)
    }

    /// Relative paths start at this directory.
    pub(super) fn resolve_relative_paths(&mut self, dir: &Path) {
        let files = [&mut self.tls_ca, &mut self.tls_cert, &mut self.tls_key];
        for file in files.into_iter().flatten() {
            *file = dir.join(&file);
        }
    }
}

/// The keys of [`ConfigValues`] in the order of the manual, one JSON line per key. A test generates this file from
/// the struct, so that the program needs no code for it.
const KEYS: &str = include_str!("keys.ndjson");

/// A key of the configuration file, as the manual describes it.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ConfigFileKey {
    pub name: String,
    pub value_type: String,
    pub default: String,
    pub help: String,
}

impl ConfigFileKey {
    /// The keys that `[defaults]` or a context can have, in the order of the manual.
    pub(crate) fn known_keys(in_defaults: bool) -> Vec<ConfigFileKey> {
        let keys = KEYS.lines().map(serde_json::from_str::<ConfigFileKey>);
        keys.filter_map(Result::ok)
            .filter(|key| !in_defaults || !ONLY_IN_CONTEXTS.contains(&key.name.as_str()))
            .collect()
    }
}

/// A value of any type.
#[derive(Deserialize)]
#[serde(untagged)]
enum AnyValue {
    Text(String),
    Switch(bool),
    Number(#[expect(dead_code)] f64),
    Words(Vec<String>),
    List(#[expect(dead_code)] Vec<IgnoredAny>),
    Date(#[expect(dead_code)] Datetime),
    Table(IgnoredAny),
}

impl AnyValue {
    /// The error about a value of the wrong type. It names the type but not the value, which may be a password.
    fn mistyped_error<E: Error>(&self, wanted: &str) -> E {
        let found = match self {
            AnyValue::Text(_) => "a text",
            AnyValue::Switch(_) => "`true` or `false`",
            AnyValue::Number(_) => "a number",
            AnyValue::Words(_) => "a list",
            AnyValue::List(_) if [WORDS, PREFIXES, MEMBERS].contains(&wanted) => {
                "a list with something else in it"
            }
            AnyValue::List(_) => "a list",
            AnyValue::Date(_) => "a date",
            AnyValue::Table(_) => "a table",
        };
        E::custom(format!("expects {wanted}, not {found}"))
    }
}

const TEXT: &str = "a text in quotes";
const WORDS: &str = "a list of words such as `[\"pass\", \"show\", \"redis/prod\"]`";
const PREFIXES: &str = "a list of prefixes such as `[\"{mail-0}:\", \"{mail-1}:\"]`";
const MEMBERS: &str = "a list of contexts such as `[\"redis-a\", \"redis-b\"]`";

/// Maximum number of members of a context.
const MAX_MEMBERS: usize = 250;

fn read_parsed_text<'de, D: Deserializer<'de>, T>(
    from: D,
    wanted: &str,
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
) -> Result<Option<T>, D::Error> {
    match AnyValue::deserialize(from)? {
        AnyValue::Text(text) => parse(&text)
            .map(Some)
            .map_err(|why| D::Error::custom(why.refusal_without_argument_name(&text))),
        other => Err(other.mistyped_error(wanted)),
    }
}

fn read_true_or_false<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    match AnyValue::deserialize(from)? {
        AnyValue::Switch(switch) => Ok(Some(switch)),
        other => Err(other.mistyped_error("`true` or `false`")),
    }
}

fn read_program_argv<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    match AnyValue::deserialize(from)? {
        AnyValue::Words(words) if words.first().is_none_or(String::is_empty) => {
            Err(D::Error::custom("names no program"))
        }
        AnyValue::Words(words) if words.iter().any(|word| word.contains('\0')) => {
            Err(D::Error::custom("holds a NUL"))
        }
        AnyValue::Words(words) => Ok(Some(words)),
        other => Err(other.mistyped_error(WORDS)),
    }
}

/// The name of a context.
pub(super) fn read_context_name<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<String>, D::Error> {
    read_parsed_text(from, TEXT, |given| Ok(given.to_owned()))
}

fn read_redis_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    read_parsed_text(from, TEXT, |given| match given {
        "" => Err("is empty".into()),
        address => match ServerTarget::parse_address(address) {
            Ok(_) => Ok(address.to_owned()),
            Err(wrong) => Err(wrong.why.into()),
        },
    })
}

fn read_key_prefix<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    read_parsed_text(from, TEXT, value::prefix)
}

fn read_key_prefixes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    read_distinct_words(from, PREFIXES, value::prefix)
}

fn read_member_names<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    read_distinct_words(from, MEMBERS, |name| Ok(name.to_owned()))
}

/// Reads a list of 1 to [`MAX_MEMBERS`] words. A word that occurs twice is an error.
fn read_distinct_words<'de, D: Deserializer<'de>>(
    from: D,
    wanted: &str,
    parse: impl Fn(&str) -> Result<String, Invalid>,
) -> Result<Option<Vec<String>>, D::Error> {
    let words = match AnyValue::deserialize(from)? {
        AnyValue::Words(words) => words,
        other => return Err(other.mistyped_error(wanted)),
    };
    if words.is_empty() || words.len() > MAX_MEMBERS {
        let what = format!("expects 1 to {MAX_MEMBERS} words");
        return Err(D::Error::custom(what));
    }
    let mut known: Vec<String> = Vec::new();
    for word in words {
        let word = parse(&word)
            .map_err(|why| D::Error::custom(why.refusal_without_argument_name(&word)))?;
        if known.contains(&word) {
            let word = Sanitized(&word);
            return Err(D::Error::custom(format!("names `{word}` twice")));
        }
        known.push(word);
    }
    Ok(Some(known))
}

fn read_env_variable_name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    read_parsed_text(from, TEXT, value::env_variable_name)
}

fn read_nonempty_path<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
    read_parsed_text(from, TEXT, |given| {
        if given.is_empty() || given.contains('\0') {
            Err("is not the path of a file".into())
        } else {
            Ok(given.into())
        }
    })
}

fn read_context_label<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    read_parsed_text(from, TEXT, |given| {
        let label = given.trim();
        refuse_as_new_name(label.as_bytes())?;
        Ok(label.to_owned())
    })
}

fn read_timeout<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    read_parsed_text(
        from,
        "a duration such as `\"90s\"`",
        value::positive_duration,
    )
}

fn read_output_format<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<OutputFormatArg>, D::Error> {
    read_parsed_text(from, TEXT, |given| {
        OutputFormatArg::from_word(given).ok_or(Invalid::expects(OutputFormatArg::WORDS))
    })
}

fn read_display_when<'de, D: Deserializer<'de>>(from: D) -> Result<Option<DisplayWhen>, D::Error> {
    read_parsed_text(from, TEXT, |given| {
        DisplayWhen::from_str(given, false).map_err(|_| Invalid::expects("auto, always or never"))
    })
}

fn read_time_format<'de, D: Deserializer<'de>>(from: D) -> Result<Option<TimeFormat>, D::Error> {
    read_parsed_text(from, TEXT, |given| {
        let expected = || Invalid::expects("auto, relative, iso or unix");
        TimeFormat::from_str(given, false).map_err(|_| expected())
    })
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

[context.mail]             # three namespaces as one
redis    = \"redis-cluster://node.prod.example:7000\"
prefixes = [\"{mail-0}:\", \"{mail-1}:\", \"{mail-2}:\"]
";

#[cfg(test)]
mod tests {
    use expect_test::expect_file;
    use schemars::schema_for;

    use super::*;
    use crate::settings::read::parse_config;

    #[test]
    fn the_example_of_the_manual_is_understood() {
        let contents = parse_config(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(contents.order, ["local", "prod", "viewer", "mail"]);
        assert!(contents.contexts["prod"].is_protected());
        let (default, _) = contents.default.unwrap();
        assert!(contents.contexts.contains_key(&default));
    }

    /// After a change, UPDATE_EXPECT=1 writes the file, and once more what is made of it: `man/`.
    #[test]
    fn the_stored_keys_are_those_of_the_type() {
        let schema = schema_for!(ConfigValues);
        let fields = schema
            .get("properties")
            .and_then(|fields| fields.as_object());
        let line = |(name, field): (&String, &serde_json::Value)| {
            let text = |part: &str| field[part].as_str().unwrap_or_default();
            let value_type = match field["type"].as_str().or(field["type"][0].as_str()) {
                Some("boolean") => "true or false",
                Some("array") => "list of words",
                _ if text("format") == "duration" => "duration",
                _ => "text",
            };
            let key = ConfigFileKey {
                name: name.clone(),
                value_type: value_type.to_owned(),
                default: text("default").to_owned(),
                help: text("description").replace('\n', " "),
            };
            serde_json::to_string(&key).unwrap() + "\n"
        };
        let lines: String = fields.unwrap().iter().map(line).collect();
        expect_file!["keys.ndjson"].assert_eq(&lines);
    }

    /// A line that sets a key to its default, or to something of its type.
    fn line(key: &ConfigFileKey) -> String {
        let value = match (key.name.as_str(), key.value_type.as_str()) {
            (_, "true or false") => "true",
            ("prefixes", _) => "['a:', 'b:']",
            ("members", _) => "['b']\n[context.b]",
            (_, "list of words") => "['pass']",
            ("password-env", _) => "'PW'",
            _ => &format!("{:?}", key.default),
        };
        format!("{} = {value}\n", key.name)
    }

    #[test]
    fn each_key_takes_what_it_says() {
        for key in ConfigFileKey::known_keys(false) {
            let read = parse_config(format!("[context.a]\n{}", line(&key)).as_bytes());
            let values = &read.unwrap().contexts["a"];
            assert_ne!(*values, ConfigValues::default(), "{}", key.name);
            assert!(!key.default.is_empty() && !key.help.is_empty());
        }
    }

    #[test]
    fn what_defaults_know_holds_in_contexts_that_are_silent() {
        for key in ConfigFileKey::known_keys(true) {
            let read = parse_config(format!("[defaults]\n{}", line(&key)).as_bytes());
            let defaults = read.unwrap().defaults;
            assert_eq!(
                ConfigValues::default().or_defaults(&defaults),
                defaults,
                "{}",
                key.name
            );
        }
    }
}
