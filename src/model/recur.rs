//! Recurring jobs: templates from which jobs are put, one per interval.

use serde::Serialize;

use super::coordination::Coordination;
use super::field::Field;
use crate::clock::moment::Moment;
use crate::json::{Data, Number};
use crate::name::Name;

/// A recurring job. The core puts its jobs when a client pops from or peeks at the queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recurring {
    pub jid: Name,
    pub klass: Option<Name>,
    pub queue: Option<Name>,
    pub every_s: Option<Number>,
    pub next: Option<Moment>,
    /// The maximum number of missed jobs that are put later; 0 is all.
    pub backlog: Option<Number>,
    /// How many jobs it has put so far.
    pub count: Option<Number>,
    pub priority: Option<Number>,
    pub retries: Option<Number>,
    pub tags: Vec<Name>,
    #[serde(flatten)]
    pub data: Data,
    /// The options that coordinate its jobs with others, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Coordination<'static>>,
    /// Since when it is paused, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_since: Option<Moment>,
    /// The user and host that paused it, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<Name>,
}

impl Recurring {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
    Field::name("jid", "its id"),
    Field::name("klass", "the kind of work").null(),
    Field::name("queue", "the queue of its jobs").null(),
    Field::number("every_s", "seconds from one job to the next").null(),
    Field::moment("next", "when the next job is due").null(),
    Field::number("backlog", "maximum number of missed jobs that are put later; 0 is all").null(),
    Field::number("count", "how many jobs it has put").null(),
    Field::number("priority", "the priority of its jobs").null(),
    Field::number("retries", "the retries of its jobs").null(),
    Field::name("tags", "the tags of its jobs").list(),
    Field::any("data", "the data of its jobs; null if that is not JSON"),
    Field::text("data_bytes", "the data in base64, if it is not JSON; in an export also if `data` does not preserve each byte").optional(),
    Field::any("options", "the options that coordinate its jobs with others, by name: throttles, lock, key, dup, until, ttl, score, rescore, hold, backoff").optional(),
    Field::moment("paused_since", "since when it is paused, if it is").optional(),
    Field::name("paused_by", "the user and host that paused it, if known").optional(),
    Field::name("paused_reason", "the reason, if one was given").optional(),
    Field::number("due", "in an export, `next` in seconds since the epoch, if milliseconds are not exact").optional(),
    ];
}

impl Recurring {
    /// Whether it is paused: no client but `qless` sees it.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused_since.is_some()
    }

    /// Returns the options that coordinate its jobs with others.
    pub(crate) fn coordination(&self) -> Coordination<'static> {
        self.options.clone().unwrap_or_default()
    }

    /// Returns the next runs. After its first run a template runs on whole seconds.
    pub(crate) fn next_runs(next: Moment, every_s: f64) -> [Moment; 3] {
        let whole = next.micros().div_euclid(1_000_000) as f64;
        let later = |runs: f64| Moment::from_seconds(whole + runs * every_s).unwrap_or(next);
        [next, later(1.0), later(2.0)]
    }
}
