//! Parses the configuration file. Each error has the line and column of the fault.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml_edit::de::ValueDeserializer;
use toml_edit::{Document, Item, TableLike};

use super::values::{self, ADDRESS_KEYS, ConfigFileKey, ConfigValues, ONLY_IN_CONTEXTS};
use crate::name::Name;
use crate::text;
use crate::text::Sanitized;

/// The contents of a configuration file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ConfigContents {
    /// The name of the default context, and the position of this setting in the file.
    pub default: Option<(String, TextPosition)>,
    pub defaults: ConfigValues,
    pub contexts: BTreeMap<String, ConfigValues>,
    /// The names of the contexts in the order of the file.
    pub order: Vec<String>,
}

/// A position in the configuration file. Line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPosition {
    pub line: usize,
    pub column: usize,
}

/// An error in the configuration file: position, message and hint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConfigFault {
    pub position: TextPosition,
    pub what: String,
    pub hint: Option<String>,
}

/// An error in the configuration file: byte offset, message and hint.
struct OffsetFault(usize, String, Option<String>);

pub(crate) fn parse_config(bytes: &[u8]) -> Result<ConfigContents, ConfigFault> {
    let text = std::str::from_utf8(bytes).map_err(|error| ConfigFault {
        position: position_at(bytes, error.valid_up_to()),
        what: "it is not UTF-8".into(),
        hint: None,
    })?;
    parse_contents(text).map_err(|OffsetFault(at, what, hint)| ConfigFault {
        position: position_at(bytes, at),
        what,
        hint,
    })
}

fn parse_contents(text: &str) -> Result<ConfigContents, OffsetFault> {
    let document = Document::parse(text).map_err(|error| {
        // Use only the error's message: its `Display` also shows the line, which may contain a password.
        let at = span_start(error.span());
        let what = error.message().trim();
        OffsetFault(at, format!("it is not TOML: {what}"), None)
    })?;
    let mut found = ConfigContents::default();
    for (name, item) in document.iter() {
        let at = key_offset(document.as_table(), name);
        match name {
            "default" => {
                let at = span_start(item.span());
                let named = values::read_context_name(value_deserializer(item));
                let named = named.map_err(|error| {
                    OffsetFault(at, format!("`default` {}", error.message()), None)
                })?;
                found.default = named.map(|named| (named, position_at(text.as_bytes(), at)));
            }
            "defaults" => {
                let table = require_table(item, || {
                    OffsetFault(at, mistyped_table_message("[defaults]"), None)
                })?;
                found.defaults = read_values(item, table, "`[defaults]`", true)?;
            }
            "context" => {
                let wrong = |at| OffsetFault(at, mistyped_table_message("[context.NAME]"), None);
                let contexts = require_table(item, || wrong(at))?;
                for (name, item) in contexts.iter() {
                    let at = key_offset(contexts, name);
                    let shown = format!("context `{}`", Sanitized(name));
                    let settings = require_table(item, || wrong(at))?;
                    if name.is_empty() {
                        return Err(OffsetFault(at, "a context has an empty name".into(), None));
                    }
                    let values = read_values(item, settings, &shown, false)?;
                    if values.password_command.is_some() && values.password_env.is_some() {
                        let at = key_offset(settings, "password-env");
                        let both = "has both `password-command` and `password-env`";
                        return Err(OffsetFault(at, format!("{shown} {both}"), None));
                    }
                    refuse_contradicting_address_keys(&values, settings, &shown)?;
                    found.order.push(name.into());
                    found.contexts.insert(name.into(), values);
                }
                for (name, item) in contexts.iter() {
                    let settings = require_table(item, || wrong(0))?;
                    refuse_missing_or_nested_members(name, settings, &found)?;
                }
            }
            _ => {
                let known = ["default", "defaults", "context"].into_iter();
                let what = format!("unknown key `{}`", Sanitized(name));
                return Err(OffsetFault(at, what, Some(similar_key_hint(name, known))));
            }
        }
    }
    Ok(found)
}

/// Refuses a context with two keys that contradict each other about where its jobs are, such as `members` and `redis`.
fn refuse_contradicting_address_keys(
    values: &ConfigValues,
    table: &dyn TableLike,
    section: &str,
) -> Result<(), OffsetFault> {
    let (one, others) = if values.members.is_some() {
        ("members", &ADDRESS_KEYS[..])
    } else if values.prefixes.is_some() {
        ("prefixes", &["prefix"][..])
    } else {
        return Ok(());
    };
    match others.iter().find(|other| table.contains_key(other)) {
        Some(other) => {
            let what = format!("{section} has both `{one}` and `{other}`");
            Err(OffsetFault(key_offset(table, other), what, None))
        }
        None => Ok(()),
    }
}

/// Refuses a context with a member that does not exist or that has members itself.
fn refuse_missing_or_nested_members(
    name: &str,
    table: &dyn TableLike,
    found: &ConfigContents,
) -> Result<(), OffsetFault> {
    let members = found
        .contexts
        .get(name)
        .and_then(|own| own.members.as_ref());
    for member in members.into_iter().flatten() {
        let shown = Sanitized(member);
        let (why, hint) = match found.contexts.get(member) {
            None => {
                let known = found.order.iter().map(String::as_str);
                let known = known.filter(|known| *known != name);
                let hint = Some(similar_key_hint(member, known));
                (format!("`{shown}`, which does not exist"), hint)
            }
            Some(other) if other.members.is_some() || other.prefixes.is_some() => {
                (format!("`{shown}`, which has several itself"), None)
            }
            Some(_) => continue,
        };
        let what = format!("`members` names context {why}");
        return Err(OffsetFault(key_offset(table, "members"), what, hint));
    }
    Ok(())
}

/// Reads the keys of a context, or of `[defaults]`.
fn read_values(
    item: &Item,
    table: &dyn TableLike,
    section: &str,
    in_defaults: bool,
) -> Result<ConfigValues, OffsetFault> {
    let mut names = table.iter().map(|(name, _)| name);
    if let Some(name) = names.find(|name| in_defaults && ONLY_IN_CONTEXTS.contains(name)) {
        let what = format!("`{name}` belongs into a context, not into {section}");
        let hint = "name it below `[context.NAME]`".into();
        return Err(OffsetFault(key_offset(table, name), what, Some(hint)));
    }
    ConfigValues::deserialize(value_deserializer(item)).map_err(|error| {
        // The error has only a position: that of an unknown key or of a wrong value. Find out which of the two.
        let at = span_start(error.span());
        let is_there = |(name, item): &(&str, &Item)| {
            at == key_offset(table, name) || item.span().is_some_and(|span| at == span.start)
        };
        let name = table.iter().find(is_there).map_or("", |(name, _)| name);
        let known = ConfigFileKey::known_keys(in_defaults);
        let mut known = known.iter().map(|key| key.name.as_str());
        if known.clone().any(|known| known == name) {
            OffsetFault(at, format!("`{name}` {}", error.message()), None)
        } else {
            let what = format!("unknown key `{}` in {section}", Sanitized(name));
            OffsetFault(at, what, Some(similar_key_hint(name, &mut known)))
        }
    })
}

fn value_deserializer(item: &Item) -> ValueDeserializer {
    let value = item.clone().into_value();
    // `into_value` succeeds for every item of a parsed file, so `false` is never used.
    value.unwrap_or_else(|_| false.into()).into_deserializer()
}

fn require_table(
    item: &Item,
    wrong: impl FnOnce() -> OffsetFault,
) -> Result<&dyn TableLike, OffsetFault> {
    item.as_table_like().ok_or_else(wrong)
}

fn mistyped_table_message(wanted: &str) -> String {
    format!("settings stand in tables such as `{wanted}`")
}

/// The hint for an unknown key: the most similar known key, or all known keys if none is similar.
pub(super) fn similar_key_hint<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let names: Vec<Name> = known.iter().map(|name| Name::from(*name)).collect();
    match text::nearest_spelling(Name::from(given), &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "the file has no contexts".to_owned(),
        None => format!("known are {}", known.join(", ")),
    }
}

fn key_offset(table: &dyn TableLike, name: &str) -> usize {
    let key = table.get_key_value(name).map(|(key, _)| key);
    span_start(key.and_then(|key| key.span()))
}

fn span_start(span: Option<Range<usize>>) -> usize {
    span.map_or(0, |span| span.start)
}

fn position_at(bytes: &[u8], at: usize) -> TextPosition {
    let before = &bytes[..at.min(bytes.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let begun = before.iter().rposition(|&byte| byte == b'\n');
    let column = String::from_utf8_lossy(&before[begun.map_or(0, |at| at + 1)..]);
    TextPosition {
        line,
        column: column.chars().count() + 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_are_counted_in_characters() {
        let fault = parse_config("# \u{e4}\n\u{feff}\n".as_bytes()).unwrap_err();
        assert_eq!(fault.position.line, 2);
        let fault = parse_config("[defaults]\n\"\u{e4}\u{e4}\" = 1\n".as_bytes()).unwrap_err();
        assert_eq!((fault.position.line, fault.position.column), (2, 1));
        let fault = parse_config("default = \"\u{e4}\" x".as_bytes()).unwrap_err();
        assert_eq!((fault.position.line, fault.position.column), (1, 15));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_told(bytes: Vec<u8>) {
            _ = parse_config(&bytes);
        }

        #[test]
        fn any_text_of_its_signs_is_read_or_told(text in "[\\[\\]a-d.=\"'\\n #{},\\\\1-]{0,60}") {
            _ = parse_config(text.as_bytes());
        }
    }
}
