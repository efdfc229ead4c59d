//! The options of the core: the known options with their meanings, and the values that are set.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::name::Name;
use crate::text;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::table::{Cell, Column, NONE};

/// An option that is set, or that the core knows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConfigOption {
    /// The option
    pub key: Name,
    /// The option's value, set or by default
    pub value: Name,
    /// The option's default
    pub default: Option<&'static str>,
    /// Whether the core knows it
    pub known: bool,
    /// Whether the value was set; else it is the default.
    #[serde(skip)]
    pub set: bool,
}

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionValueType {
    Text,
    /// Seconds, with or without a fraction.
    Seconds,
    /// A whole number.
    Count,
    /// A number of at least 0, with or without a fraction.
    Number,
    /// The defaults of a queue, a JSON object.
    Defaults,
}

/// An option that the core reads or that other clients use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OptionSpec {
    pub key: &'static str,
    /// Empty if the option has none.
    pub default: &'static str,
    pub kind: OptionValueType,
    pub meaning: &'static str,
    /// The meaning of the value 0, if that is special, such as no limit.
    pub zero: Option<&'static str>,
    /// Whether the core reads it.
    pub used: bool,
}

/// The options that apply to all queues, by name. [`QUEUE_OPTIONS`] has the options of single queues.
pub(crate) const GENERAL_OPTIONS: [OptionSpec; 14] = [
    OptionSpec {
        key: "application",
        default: "qless",
        kind: OptionValueType::Text,
        meaning: "name shown by web interfaces",
        zero: None,
        used: false,
    },
    OptionSpec {
        key: "backoff-factor",
        default: "3",
        kind: OptionValueType::Number,
        meaning: "factor of the delay after each further lost lock",
        zero: None,
        used: true,
    },
    OptionSpec {
        key: "backoff-initial-delay",
        default: "0",
        kind: OptionValueType::Seconds,
        meaning: "seconds a job waits after a lost lock, times the factor",
        zero: Some("it runs again immediately"),
        used: true,
    },
    OptionSpec {
        key: "grace-period",
        default: "10",
        kind: OptionValueType::Seconds,
        meaning: "seconds a worker may still finish a job after its lock expires",
        zero: Some("none"),
        used: true,
    },
    OptionSpec {
        key: "heartbeat",
        default: "60",
        kind: OptionValueType::Seconds,
        meaning: "seconds a lock lasts between heartbeats",
        zero: Some("a lock expires immediately"),
        used: true,
    },
    OptionSpec {
        key: "histogram-history",
        default: "7",
        kind: OptionValueType::Count,
        meaning: "unused",
        zero: None,
        used: false,
    },
    OptionSpec {
        key: "jobs-failed-history",
        default: "",
        kind: OptionValueType::Seconds,
        meaning: "seconds failed jobs without dependents are kept; not set: for ever, with the script for qless-php 7 days",
        zero: Some("deleted immediately"),
        used: true,
    },
    OptionSpec {
        key: "jobs-history",
        default: "604800",
        kind: OptionValueType::Seconds,
        meaning: "seconds completed jobs are kept",
        zero: Some("deleted immediately"),
        used: true,
    },
    OptionSpec {
        key: "jobs-history-count",
        default: "50000",
        kind: OptionValueType::Count,
        meaning: "maximum number of completed jobs kept",
        zero: Some("none"),
        used: true,
    },
    OptionSpec {
        key: "max-job-history",
        default: "100",
        kind: OptionValueType::Count,
        meaning: "maximum number of history entries kept per job",
        zero: Some("no limit"),
        used: true,
    },
    OptionSpec {
        key: "max-pop-scan",
        default: "1000",
        kind: OptionValueType::Count,
        meaning: "maximum number of jobs that a pop looks at to find some that their throttles let run",
        zero: None,
        used: true,
    },
    OptionSpec {
        key: "max-worker-age",
        default: "86400",
        kind: OptionValueType::Seconds,
        meaning: "seconds after which a silent worker is forgotten",
        zero: Some("immediately"),
        used: true,
    },
    OptionSpec {
        key: "merge-max",
        default: "1000",
        kind: OptionValueType::Count,
        meaning: "maximum number of payloads of a merge job",
        zero: None,
        used: true,
    },
    OptionSpec {
        key: "stats-history",
        default: "30",
        kind: OptionValueType::Count,
        meaning: "unused",
        zero: None,
        used: false,
    },
];

/// The options of a single queue. The full name of an option is the queue, a hyphen and this key.
pub(crate) const QUEUE_OPTIONS: [OptionSpec; 3] = [
    OptionSpec {
        key: "defaults",
        default: "–",
        kind: OptionValueType::Defaults,
        meaning: "options for puts that do not give them, in queue",
        zero: None,
        used: true,
    },
    OptionSpec {
        key: "heartbeat",
        default: "–",
        kind: OptionValueType::Seconds,
        meaning: "seconds a lock lasts between heartbeats in queue",
        zero: Some("a lock expires immediately"),
        used: true,
    },
    OptionSpec {
        key: "max-concurrency",
        default: "–",
        kind: OptionValueType::Count,
        meaning: "maximum number of jobs running at the same time in queue",
        zero: Some("no limit"),
        used: true,
    },
];

/// A known option and, for an option of one queue, that queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownOptionAndQueue {
    pub spec: &'static OptionSpec,
    /// The queue that the option's name begins with. `None` for an option of all queues.
    pub queue: Option<Name>,
}

pub(crate) fn find_known_option(key: &Name) -> Option<KnownOptionAndQueue> {
    if let Some(spec) = GENERAL_OPTIONS
        .iter()
        .find(|known| known.key.as_bytes() == key.as_bytes())
    {
        return Some(KnownOptionAndQueue { spec, queue: None });
    }
    QUEUE_OPTIONS.iter().find_map(|spec| {
        let queue = key
            .as_bytes()
            .strip_suffix(spec.key.as_bytes())?
            .strip_suffix(b"-")?;
        let queue = (!queue.is_empty()).then(|| Name::from(queue))?;
        Some(KnownOptionAndQueue {
            spec,
            queue: Some(queue),
        })
    })
}

/// The change of one option by `config load`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OptionChange {
    pub key: Name,
    /// The value that is set now. `None` if `config load` adds the option.
    pub before: Option<Name>,
    /// The new value. `None` if `config load` removes the option.
    pub after: Option<Name>,
}

impl OptionChange {
    /// The changes from the options `current` to the wanted options, sorted by name. Other options that are set are
    /// removed if `unsets_others`, else kept.
    pub(crate) fn changes_to_wanted(
        current: &[ConfigOption],
        wanted: &BTreeMap<Name, Name>,
        unsets_others: bool,
    ) -> Vec<OptionChange> {
        let now: BTreeMap<&Name, &ConfigOption> =
            current.iter().map(|item| (&item.key, item)).collect();
        let mut changes = Vec::new();
        for (key, value) in wanted {
            let item = now.get(key);
            let before = item.filter(|item| item.set).map(|item| item.value.clone());
            // The core does not report whether `application` was set. So it is unchanged if its value is the wanted
            // one.
            let unchanged =
                key.as_bytes() == b"application" && item.is_some_and(|item| item.value == *value);
            if !unchanged && before.as_ref() != Some(value) {
                let (key, after) = (key.clone(), Some(value.clone()));
                changes.push(OptionChange { key, before, after });
            }
        }
        for item in current.iter().filter(|item| unsets_others && item.set) {
            if !wanted.contains_key(&item.key) {
                changes.push(OptionChange {
                    key: item.key.clone(),
                    before: Some(item.value.clone()),
                    after: None,
                });
            }
        }
        changes.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        changes
    }
}

impl Row for ConfigOption {
    const LIST: DocumentKind =
        DocumentKind::of_list::<ConfigOption>("config", "Options: config list, config get");

    const COLUMNS: &'static [Column<ConfigOption>] = &[
        Column::of_names("KEY", |option| &option.key),
        Column::of_text("VALUE", |option, _| {
            if option.value.is_empty() && !option.set {
                Cell::text(NONE)
            } else {
                Cell::text(&option.value)
            }
        }),
        Column::of_text("DEFAULT", |option, _| {
            Cell::text(option.default.unwrap_or(NONE))
        }),
        Column::of_free_text("MEANING", |option, _| Cell::text(option.meaning_text())),
    ];
}

impl ConfigOption {
    /// The meaning of the option, with its queue, and what its value stands for. A narrow terminal cuts the end, so a
    /// special value or a fault comes first.
    fn meaning_text(&self) -> String {
        let Some(known) = find_known_option(&self.key) else {
            return "unknown to the core".to_owned();
        };
        let spec = known.spec;
        let mut meaning = spec.meaning.to_owned();
        if let Some(queue) = known.queue {
            meaning.push_str(&format!(" {queue}"));
        }
        let is_text = matches!(spec.kind, OptionValueType::Text | OptionValueType::Defaults);
        if is_text || !self.set && self.value.is_empty() {
            return meaning;
        }
        let number = self.value.as_str();
        let number = number.and_then(|text| text.parse::<f64>().ok());
        let zero = spec.zero.map(|zero| format!("0: {zero}"));
        match (number, zero) {
            (None, _) => format!("not a number, so it has no effect; {meaning}"),
            (Some(0.0), Some(zero)) => format!("{zero}; {meaning}"),
            (Some(number), zero) => {
                let long = spec.kind == OptionValueType::Seconds && number >= 60.0;
                // `config set` refuses a heartbeat of 0.
                let zero = zero.filter(|_| spec.key != "heartbeat");
                let notes = [long.then(|| text::format_duration(number)), zero];
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
    /// The line of this change in a diff. `+` marks an added option, `~` a changed one, `-` a removed one.
    pub(crate) fn diff_line(&self) -> String {
        let key = &self.key;
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => format!("~ {key}: {before} -> {after}"),
            (None, Some(after)) => format!("+ {key}: {after}"),
            (Some(before), None) => format!("- {key}: {before}"),
            (None, None) => key.to_string(),
        }
    }

    /// The number of changed options in all and of each kind: `3 options (1 added, 2 removed)`.
    pub(crate) fn change_counts_text(changes: &[OptionChange]) -> String {
        let counted = |word: &str, before: bool, after: bool| {
            let is_such = |change: &&OptionChange| {
                (change.before.is_some(), change.after.is_some()) == (before, after)
            };
            match changes.iter().filter(is_such).count() {
                0 => None,
                count => Some(format!(
                    "{} {word}",
                    text::with_thousands_separators(count as u64)
                )),
            }
        };
        let kinds = [
            counted("added", false, true),
            counted("changed", true, true),
            counted("removed", true, false),
        ];
        let kinds: Vec<String> = kinds.into_iter().flatten().collect();
        let count = text::format_count(changes.len() as u64, "option", "options");
        format!("{count} ({})", kinds.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_of_a_queue_begins_with_the_queue() {
        let known = |key: &str| find_known_option(&Name::from(key));
        assert_eq!(known("heartbeat").unwrap().queue, None);
        assert_eq!(
            known("big-mail-heartbeat").unwrap().queue,
            Some(Name::from("big-mail"))
        );
        assert_eq!(
            known("mail-max-concurrency").unwrap().spec.kind,
            OptionValueType::Count
        );
        assert_eq!(known("-heartbeat"), None);
        assert_eq!(known("heart-beat"), None);
    }
}
