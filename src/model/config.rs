//! The options of the core: which there are, what they mean, and what is set.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::name;
use crate::name::Name;

/// An option that is set, or that the core knows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    #[serde(flatten, serialize_with = "name::key")]
    pub key: Name,
    #[serde(flatten, serialize_with = "name::value")]
    pub value: Name,
    pub default: Option<&'static str>,
    pub known: bool,
    /// Whether the value was set, or is the default.
    #[serde(skip)]
    pub set: bool,
}

/// What an option's value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionKind {
    Text,
    /// Seconds, a fraction allowed.
    Seconds,
    /// A whole number.
    Count,
}

/// An option that has a meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Setting {
    pub key: &'static str,
    pub default: &'static str,
    pub kind: OptionKind,
    pub meaning: &'static str,
    /// Whether the core reads it.
    pub used: bool,
}

/// The options by name; [`FOR_A_QUEUE`] has those whose names begin with a queue's.
pub(crate) const SETTINGS: [Setting; 9] = [
    Setting {
        key: "application",
        default: "qless",
        kind: OptionKind::Text,
        meaning: "name shown by web interfaces",
        used: false,
    },
    Setting {
        key: "grace-period",
        default: "10",
        kind: OptionKind::Seconds,
        meaning: "seconds a worker may still settle a job whose lock ran out",
        used: true,
    },
    Setting {
        key: "heartbeat",
        default: "60",
        kind: OptionKind::Seconds,
        meaning: "seconds a lock lasts between heartbeats",
        used: true,
    },
    Setting {
        key: "histogram-history",
        default: "7",
        kind: OptionKind::Count,
        meaning: "nothing reads it",
        used: false,
    },
    Setting {
        key: "jobs-history",
        default: "604800",
        kind: OptionKind::Seconds,
        meaning: "seconds completed jobs are kept",
        used: true,
    },
    Setting {
        key: "jobs-history-count",
        default: "50000",
        kind: OptionKind::Count,
        meaning: "most completed jobs kept",
        used: true,
    },
    Setting {
        key: "max-job-history",
        default: "100",
        kind: OptionKind::Count,
        meaning: "most history entries kept of a job",
        used: true,
    },
    Setting {
        key: "max-worker-age",
        default: "86400",
        kind: OptionKind::Seconds,
        meaning: "seconds after which a silent worker is forgotten",
        used: true,
    },
    Setting {
        key: "stats-history",
        default: "30",
        kind: OptionKind::Count,
        meaning: "nothing reads it",
        used: false,
    },
];

/// The options of one queue: the end of their names, after the queue's and a hyphen.
pub(crate) const FOR_A_QUEUE: [Setting; 2] = [
    Setting {
        key: "heartbeat",
        default: "–",
        kind: OptionKind::Seconds,
        meaning: "the same for queue",
        used: true,
    },
    Setting {
        key: "max-concurrency",
        default: "–",
        kind: OptionKind::Count,
        meaning: "most jobs running at once in",
        used: true,
    },
];

/// What is known of an option.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    pub setting: &'static Setting,
    /// The queue that it is for; `None` for an option of all queues.
    pub queue: Option<Name>,
}

/// Returns what is known of an option of this name.
pub(crate) fn known(key: &Name) -> Option<Known> {
    if let Some(setting) = SETTINGS
        .iter()
        .find(|known| known.key.as_bytes() == key.as_bytes())
    {
        return Some(Known {
            setting,
            queue: None,
        });
    }
    FOR_A_QUEUE.iter().find_map(|setting| {
        let queue = key
            .as_bytes()
            .strip_suffix(setting.key.as_bytes())?
            .strip_suffix(b"-")?;
        let queue = (!queue.is_empty()).then(|| Name::from(queue))?;
        Some(Known {
            setting,
            queue: Some(queue),
        })
    })
}

/// What loading does to one option.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub key: Name,
    /// What is set; `None` where it is to be added.
    pub before: Option<Name>,
    /// What is to be set; `None` where it is to be removed.
    pub after: Option<Name>,
}

impl Change {
    /// Returns by name what makes the options those that are wanted; the others stay unless they
    /// are to be cleared.
    pub(crate) fn all(items: &[Item], wanted: &BTreeMap<Name, Name>, clear: bool) -> Vec<Change> {
        let now: BTreeMap<&Name, &Item> = items.iter().map(|item| (&item.key, item)).collect();
        let mut changes = Vec::new();
        for (key, value) in wanted {
            let item = now.get(key);
            let before = item.filter(|item| item.set).map(|item| item.value.clone());
            // Of this option alone the core does not tell whether its default was set.
            let told =
                key.as_bytes() == b"application" && item.is_some_and(|item| item.value == *value);
            if !told && before.as_ref() != Some(value) {
                let (key, after) = (key.clone(), Some(value.clone()));
                changes.push(Change { key, before, after });
            }
        }
        for item in items.iter().filter(|item| clear && item.set) {
            if !wanted.contains_key(&item.key) {
                changes.push(Change {
                    key: item.key.clone(),
                    before: Some(item.value.clone()),
                    after: None,
                });
            }
        }
        changes.sort_by(|one, other| one.key.cmp(&other.key));
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_options_of_its_own() {
        let known = |key: &str| known(&Name::from(key));
        assert_eq!(known("heartbeat").unwrap().queue, None);
        assert_eq!(
            known("big-mail-heartbeat").unwrap().queue,
            Some(Name::from("big-mail"))
        );
        assert_eq!(
            known("mail-max-concurrency").unwrap().setting.kind,
            OptionKind::Count
        );
        assert_eq!(known("-heartbeat"), None);
        assert_eq!(known("heart-beat"), None);
    }
}
