//! Recurring jobs: templates from which the core puts jobs, one per interval.

pub(crate) mod text;

use schemars::JsonSchema;
use serde::Serialize;

use super::coordination::CoordinationOptions;
use crate::clock::moment::Moment;
use crate::json::data::JobData;
use crate::json::{Json, Number};
use crate::name::Name;

/// A recurring job. The core puts its jobs when a client pops from or peeks at the queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Recurring {
    /// The recurring job's id
    pub jid: Name,
    /// The kind of work
    pub klass: Option<Name>,
    /// The queue of the jobs to put
    pub queue: Option<Name>,
    /// Seconds from one job to the next
    pub every_s: Option<Number>,
    /// When the next job is due
    pub next: Option<Moment>,
    /// Maximum number of missed jobs that are put later; 0 is all
    pub backlog: Option<Number>,
    /// How many jobs it has put
    pub count: Option<Number>,
    /// The priority of these jobs
    pub priority: Option<Number>,
    /// The retries of these jobs
    pub retries: Option<Number>,
    /// The tags of these jobs
    pub tags: Vec<Name>,
    #[serde(flatten)]
    pub data: JobData,
    /// The options that coordinate its jobs with others, by name: throttles, lock, key, dup, until,
    /// ttl, score, rescore, hold, backoff
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Json>")]
    pub options: Option<CoordinationOptions<'static>>,
    /// Since when the recurring job is paused, if it is
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_since: Option<Moment>,
    /// The user and host that paused it, if known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<Name>,
    /// The reason, if one was given
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<Name>,
}

impl Recurring {
    /// Whether the recurring job is paused. Clients other than `qless` do not see paused recurring jobs.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused_since.is_some()
    }

    /// The options that coordinate the jobs of the recurring job with others.
    pub(crate) fn coordination(&self) -> CoordinationOptions<'static> {
        self.options.clone().unwrap_or_default()
    }

    /// The number of missed runs whose jobs the next pops put. If `backlog` limits them, the earliest are left out.
    pub(crate) fn missed_runs_within_backlog(&self, now: Moment) -> u64 {
        let next = self.next.filter(|next| *next <= now && !self.is_paused());
        let every = self.every_s.filter(|every| every.0 > 0.0);
        let (Some(next), Some(every)) = (next, every) else {
            return 0;
        };
        let behind = (now.seconds() - next.seconds().floor()) / every.0;
        let backlog = self.backlog.map_or(0.0, |backlog| backlog.0);
        let skipped = if backlog > 0.0 && behind > backlog {
            (behind - backlog).ceil()
        } else {
            0.0
        };
        ((behind - skipped).floor() as u64).saturating_add(1)
    }

    /// The times of the next three runs. After the next run, the core rounds times down to whole seconds.
    pub(crate) fn next_runs(next: Moment, every_s: f64) -> [Moment; 3] {
        let whole = next.micros().div_euclid(1_000_000) as f64;
        let later = |runs: f64| Moment::from_seconds(whole + runs * every_s).unwrap_or(next);
        [next, later(1.0), later(2.0)]
    }
}
