//! The parser of the configuration file. Each error has its line and column.

use std::collections::BTreeMap;
use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value};

use super::key::{ConfigKey, ValueType, Values, advice};

use crate::text::Harmless;

/// The contents of a configuration file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ConfigContents {
    /// The name of the default context, and its position.
    pub default: Option<(String, Position)>,
    pub defaults: Values,
    pub contexts: BTreeMap<String, Values>,
    /// The names of the contexts in the order of the file.
    pub order: Vec<String>,
}

/// A position in the text; line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub line: usize,
    pub column: usize,
}

/// An error in the text: position, message and hint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConfigFault {
    pub place: Position,
    pub what: String,
    pub hint: Option<String>,
}

/// An error with a byte offset for its position.
struct At(usize, String, Option<String>);

/// Parses the bytes of a file.
pub(crate) fn read(bytes: &[u8]) -> Result<ConfigContents, ConfigFault> {
    let text = std::str::from_utf8(bytes).map_err(|error| ConfigFault {
        place: place(bytes, error.valid_up_to()),
        what: "it is not UTF-8".into(),
        hint: None,
    })?;
    contents(text).map_err(|At(at, what, hint)| ConfigFault {
        place: place(bytes, at),
        what,
        hint,
    })
}

fn contents(text: &str) -> Result<ConfigContents, At> {
    let document = Document::parse(text).map_err(|error| {
        // The error's `Display` would show the line, which may hold a password.
        let at = start(error.span());
        let what = error.message().trim();
        At(at, format!("it is not TOML: {what}"), None)
    })?;
    let mut found = ConfigContents::default();
    for (name, item) in document.iter() {
        let at = key_at(document.as_table(), name);
        match name {
            "default" => {
                let wrong = |wants| At(start(item.span()), wants, None);
                let Some(named) = item.as_str() else {
                    return Err(wrong(mistyped(name, ValueType::Text, item)));
                };
                let place = place(text.as_bytes(), start(item.span()));
                found.default = Some((named.into(), place));
            }
            "defaults" => {
                let table = table(item, || At(at, mistyped_table("[defaults]"), None))?;
                found.defaults = values(table, "`[defaults]`", true)?;
            }
            "context" => {
                let wrong = |at| At(at, mistyped_table("[context.NAME]"), None);
                let contexts = table(item, || wrong(at))?;
                for (name, item) in contexts.iter() {
                    let at = key_at(contexts, name);
                    let shown = format!("context `{}`", Harmless(name));
                    let settings = table(item, || wrong(at))?;
                    if name.is_empty() {
                        return Err(At(at, "a context has an empty name".into(), None));
                    }
                    let values = values(settings, &shown, false)?;
                    if values.password_command.is_some() && values.password_env.is_some() {
                        let at = key_at(settings, "password-env");
                        let both = "has both `password-command` and `password-env`";
                        return Err(At(at, format!("{shown} {both}"), None));
                    }
                    found.order.push(name.into());
                    found.contexts.insert(name.into(), values);
                }
            }
            _ => {
                let known = ["default", "defaults", "context"].into_iter();
                let what = format!("unknown key `{}`", Harmless(name));
                return Err(At(at, what, Some(advice(name, known))));
            }
        }
    }
    Ok(found)
}

/// Reads the keys of a context, or of `[defaults]`.
fn values(table: &dyn TableLike, of: &str, defaults: bool) -> Result<Values, At> {
    let mut values = Values::default();
    for (name, item) in table.iter() {
        let Some(key) = ConfigKey::named(name, defaults) else {
            let (what, hint) = match ConfigKey::named(name, false) {
                Some(_) => (
                    format!("`{}` belongs into a context, not into {of}", Harmless(name)),
                    "name it below `[context.NAME]`".into(),
                ),
                None => {
                    let known = ConfigKey::known(defaults).map(|key| key.name);
                    let what = format!("unknown key `{}` in {of}", Harmless(name));
                    (what, advice(name, known))
                }
            };
            return Err(At(key_at(table, name), what, Some(hint)));
        };
        let wrong = |what| At(start(item.span()), what, None);
        let mistyped = || wrong(mistyped(name, key.of, item));
        let taken = match (key.of, item.as_value()) {
            (ValueType::Text | ValueType::Time, Some(Value::String(text))) => {
                let text = text.value();
                key.take_text(&mut values, text)
                    .map_err(|why| why.sentence(name, text))
            }
            (ValueType::Switch, Some(Value::Boolean(switch))) => key
                .take_switch(&mut values, *switch.value())
                .map_err(|why| why.sentence(name, "")),
            (ValueType::Words, Some(Value::Array(words))) => {
                let words = words.iter().map(|word| word.as_str().map(str::to_owned));
                let words: Option<Vec<String>> = words.collect();
                key.take_words(&mut values, words.ok_or_else(mistyped)?)
                    .map_err(|why| why.sentence(name, ""))
            }
            _ => return Err(mistyped()),
        };
        taken.map_err(wrong)?;
    }
    Ok(values)
}

fn table(item: &Item, wrong: impl FnOnce() -> At) -> Result<&dyn TableLike, At> {
    item.as_table_like().ok_or_else(wrong)
}

fn mistyped_table(wanted: &str) -> String {
    format!("settings stand in tables such as `{wanted}`")
}

/// Returns the message for a value of the wrong type. It does not show the value, which may be a
/// password.
fn mistyped(name: &str, of: ValueType, item: &Item) -> String {
    let found = match item.type_name() {
        "string" => "a text",
        "integer" | "float" => "a number",
        "boolean" => "`true` or `false`",
        "datetime" => "a date",
        "array" => match of {
            ValueType::Words => "a list with something else in it",
            _ => "a list",
        },
        _ => "a table",
    };
    format!("`{name}` expects {}, not {found}", of.wants())
}

fn key_at(table: &dyn TableLike, name: &str) -> usize {
    let key = table.get_key_value(name).map(|(key, _)| key);
    start(key.and_then(|key| key.span()))
}

fn start(span: Option<Range<usize>>) -> usize {
    span.map_or(0, |span| span.start)
}

/// Returns the position of a byte.
fn place(bytes: &[u8], at: usize) -> Position {
    let before = &bytes[..at.min(bytes.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let begun = before.iter().rposition(|&byte| byte == b'\n');
    let column = String::from_utf8_lossy(&before[begun.map_or(0, |at| at + 1)..]);
    Position {
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
        let fault = read("# \u{e4}\n\u{feff}\n".as_bytes()).unwrap_err();
        assert_eq!(fault.place.line, 2);
        let fault = read("[defaults]\n\"\u{e4}\u{e4}\" = 1\n".as_bytes()).unwrap_err();
        assert_eq!((fault.place.line, fault.place.column), (2, 1));
        let fault = read("default = \"\u{e4}\" x".as_bytes()).unwrap_err();
        assert_eq!((fault.place.line, fault.place.column), (1, 15));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_told(bytes: Vec<u8>) {
            _ = read(&bytes);
        }

        #[test]
        fn any_text_of_its_signs_is_read_or_told(text in "[\\[\\]a-d.=\"'\\n #{},\\\\1-]{0,60}") {
            _ = read(text.as_bytes());
        }
    }
}
