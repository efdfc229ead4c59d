//! Options of the core: a row for each, with its meaning.

use super::document::Document;
use super::list::Row;
use super::table::{Cell, Column, NONE};
use crate::model::config::{ConfigOption, OptionChange, OptionKind, known};
use crate::text;

impl Row for ConfigOption {
    const LIST: Document =
        Document::list::<ConfigOption>("config", "Options: config list, config get");

    const COLUMNS: &'static [Column<ConfigOption>] = &[
        Column::name("KEY", |option| &option.key),
        Column::text("VALUE", |option, _| {
            if option.value.is_empty() && !option.set {
                Cell::text(NONE)
            } else {
                Cell::text(&option.value)
            }
        }),
        Column::text("DEFAULT", |option, _| {
            Cell::text(option.default.unwrap_or(NONE))
        }),
        Column::free("MEANING", |option, _| Cell::text(option.meaning())),
    ];
}

impl ConfigOption {
    /// Returns the meaning of the option, with its queue, and that of its value. What a narrow terminal
    /// must not cut comes first.
    fn meaning(&self) -> String {
        let Some(known) = known(&self.key) else {
            return "unknown to the core".to_owned();
        };
        let setting = known.setting;
        let mut meaning = setting.meaning.to_owned();
        if let Some(queue) = known.queue {
            meaning.push_str(&format!(" {queue}"));
        }
        let is_text = matches!(setting.kind, OptionKind::Text | OptionKind::Defaults);
        if is_text || !self.set && self.value.is_empty() {
            return meaning;
        }
        let number = self.value.as_str();
        let number = number.and_then(|text| text.parse::<f64>().ok());
        let zero = setting.zero.map(|zero| format!("0: {zero}"));
        match (number, zero) {
            (None, _) => format!("not a number, so it has no effect; {meaning}"),
            (Some(0.0), Some(zero)) => format!("{zero}; {meaning}"),
            (Some(number), zero) => {
                let long = setting.kind == OptionKind::Seconds && number >= 60.0;
                let notes = [long.then(|| text::duration(number)), zero];
                let notes: Vec<String> = notes.into_iter().flatten().collect();
                if notes.is_empty() {
                    meaning
                } else {
                    format!("{meaning} ({})", notes.join("; "))
                }
            }
        }
    }
}

impl OptionChange {
    /// Returns the line of this change in a diff: `+` is added, `~` changed, `-` removed.
    pub(crate) fn line(&self) -> String {
        let key = &self.key;
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => format!("~ {key}: {before} -> {after}"),
            (None, Some(after)) => format!("+ {key}: {after}"),
            (Some(before), None) => format!("- {key}: {before}"),
            (None, None) => key.to_string(),
        }
    }

    /// Returns how many changes there are of each kind: `3 options (1 added, 2 removed)`.
    pub(crate) fn count(changes: &[OptionChange]) -> String {
        let counted = |word: &str, before: bool, after: bool| {
            let is_such = |change: &&OptionChange| {
                (change.before.is_some(), change.after.is_some()) == (before, after)
            };
            match changes.iter().filter(is_such).count() {
                0 => None,
                count => Some(format!("{} {word}", text::thousands(count as u64))),
            }
        };
        let kinds = [
            counted("added", false, true),
            counted("changed", true, true),
            counted("removed", true, false),
        ];
        let kinds: Vec<String> = kinds.into_iter().flatten().collect();
        let count = text::plural(changes.len() as u64, "option", "options");
        format!("{count} ({})", kinds.join(", "))
    }
}
