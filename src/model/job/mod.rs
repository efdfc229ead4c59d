//! A job as an operator sees it, with its state, failure, history, dependencies and dependents.

pub(crate) mod reason;
pub(crate) mod text;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use self::reason::DelayReason;
use super::coordination::LostLockBackoff;
use super::ending::exhausted_retries_group;
use super::queue::QueuedCounts;
use crate::clock::moment::Moment;
use crate::json::data::JobData;
use crate::json::quote::quote_as_core;
use crate::json::{Json, Number, field_value};
use crate::name::{Name, escape_invalid_utf8};

/// The state of a job. `stalled` is a running job whose lock has expired or was revoked.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    IntoStaticStr,
    EnumString,
    Display,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(
    serialize_all = "snake_case",
    const_into_str,
    parse_err_ty = String,
    parse_err_fn = unknown_state_error
)]
pub enum State {
    Running,
    Stalled,
    Waiting,
    Scheduled,
    Depends,
    /// Waits for a free slot of a throttle.
    Throttled,
    Failed,
    Complete,
}

impl State {
    /// The states of jobs that are in a queue.
    pub const QUEUED: [State; 6] = [
        State::Running,
        State::Stalled,
        State::Waiting,
        State::Scheduled,
        State::Depends,
        State::Throttled,
    ];

    /// The states of jobs that are not complete.
    pub const UNFINISHED: &[State] = &[
        State::Running,
        State::Stalled,
        State::Waiting,
        State::Scheduled,
        State::Depends,
        State::Throttled,
        State::Failed,
    ];
}

/// The error about a word that is not a state.
fn unknown_state_error(_: &str) -> String {
    let words: Vec<&str> = State::VARIANTS.iter().map(State::into_str).collect();
    format!("a state is one of {}", words.join(", "))
}

/// A job. A field is absent if the server does not have it, or if it is unreadable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Job {
    /// The job's id
    pub jid: Name,
    /// The kind of work
    pub klass: Option<Name>,
    /// The job's queue; null when complete
    pub queue: Option<Name>,
    /// One of waiting, running, stalled, scheduled, depends, throttled, failed or complete
    #[schemars(with = "Option<String>")]
    pub state: Option<State>,
    /// The state as stored: an expired lock does not change it
    pub state_stored: Option<Name>,
    /// Higher runs first
    pub priority: Option<Number>,
    /// Retries allowed
    pub retries: Option<Number>,
    /// Retries remaining
    pub remaining: Option<Number>,
    /// The holder of the job's lock, or the last holder
    pub worker: Option<Name>,
    /// When the job's lock expires, or expired
    pub expires: Option<Moment>,
    /// Whether the job has events of its own
    pub tracked: bool,
    /// The job's tags
    pub tags: Vec<Name>,
    #[serde(flatten)]
    pub data: JobData,
    /// The length of the stored data if `data` is only its beginning. `None` if `data` is complete.
    #[serde(skip)]
    pub data_length: Option<usize>,
    /// The job's last failure
    pub failure: Option<Failure>,
    /// The jobs that the job depends on
    pub dependencies: Vec<Name>,
    /// The jobs that depend on it
    pub dependents: Vec<Name>,
    /// The recurring job that put it
    pub spawned_from: Option<Name>,
    /// When the job is due, if that is in the future
    pub scheduled_for: Option<Moment>,
    /// The job's score in the queue's set of scheduled jobs: usually a time, but a client may store any number.
    #[serde(skip)]
    pub due_score: Option<f64>,
    /// Since when the job waits for a worker or a slot; in another state, the time of the newest history entry
    /// that is not a note
    pub since: Option<Moment>,
    /// The throttles of which it needs a slot to run
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throttles: Vec<Name>,
    /// The job's lane: the key, after the queue and a slash unless it begins with one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
    /// `merge` if puts with its key add to its data
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dup: Option<Name>,
    /// Which score an equal payload of a merge job keeps: min or max
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescore: Option<Name>,
    /// True if it blocks its lane when it has failed
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hold: bool,
    /// The delay of the job's retries, or an object: the delay after a lost lock
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<Name>,
    /// The number of the job's newest grant; a later grant has a larger one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<Number>,
    /// The payloads of a merge job, in the order of its data
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub payloads: Vec<MergePayload>,
    /// The job's history, with the notes of each entry; lists have it if it is asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<HistoryEntry>>,
    /// The entries of the job's history as stored, including unreadable ones. Empty unless `history` was read.
    #[serde(skip)]
    pub stored_history: Vec<Name>,
    /// The mark of the job when it was read. A call can change the job only if it still has this mark.
    #[serde(skip)]
    pub mark: Vec<u8>,
    /// Whether the lock expired and a pop extended it once for its holder (`grace-period`).
    #[serde(skip)]
    pub in_grace: bool,
    /// The number of failed dependencies of the job. 0 if the dependencies were not read.
    #[serde(skip)]
    pub failed_dependencies: u64,
    /// The dependencies that do not list the job as a dependent. Empty if the dependencies were not read.
    #[serde(skip)]
    pub unlisted: Vec<Name>,
    /// The job's dependencies and dependents as jobs. Empty if they were not read.
    #[serde(skip)]
    pub neighbors: Vec<Neighbor>,
    /// Why the job cannot run. `None` if it can run, or if the reason was not read.
    #[serde(skip)]
    pub blocked_by: Option<Box<DelayReason>>,
}

impl Job {
    /// When the job last changed: the time of its newest history entry. If a failed job failed at least a second before
    /// that entry, it was imported: then the time of the failure.
    pub(crate) fn unchanged_since(&self) -> Option<Moment> {
        let failed = self.failure.as_ref().and_then(|failure| failure.when);
        let failed = failed.filter(|_| self.state == Some(State::Failed));
        match (self.since, failed) {
            (Some(since), Some(failed)) if since.since(failed) >= 1.0 => Some(failed),
            (since, failed) => since.or(failed),
        }
    }

    /// Whether the job has used a retry: `remaining` is below `retries`.
    pub(crate) fn has_used_retry(&self) -> bool {
        match (self.remaining, self.retries) {
            (Some(remaining), Some(retries)) => remaining.floor() < retries.floor(),
            _ => false,
        }
    }

    /// The number of remaining retries to show, at least 0. The core stores -1 for a job that failed because no retry
    /// remained.
    pub(crate) fn remaining_retries(&self) -> Option<i64> {
        self.remaining.map(|remaining| remaining.floor().max(0))
    }

    /// Whether the job is in the morgue of its queue: it failed because no retry remained, or it is in the failure
    /// group of such jobs because an operator buried it.
    pub(crate) fn is_in_morgue(&self) -> bool {
        let exhausted = self.remaining.is_some_and(|remaining| remaining.0 < 0.0);
        let group = self.failure.as_ref().map(|failure| &failure.group);
        let own = self.queue.as_ref().map(exhausted_retries_group);
        self.state == Some(State::Failed) && (exhausted || group.is_some() && group == own.as_ref())
    }

    /// The back-off policy for the retries of the job. `None` if it has none, or only a back-off for lost locks.
    pub(crate) fn retry_backoff_policy(&self) -> Option<&Name> {
        let policy = self.backoff.as_ref().filter(|policy| !policy.is_empty())?;
        let is_for_lost_locks = LostLockBackoff::from_json(policy.as_bytes()).is_some();
        (!is_for_lost_locks).then_some(policy)
    }

    /// The number of entries of the job's history, as its mark gives it: `<state>:<when>:<length>:<queue>`.
    pub(crate) fn history_length_from_mark(&self) -> Option<usize> {
        let length = self.mark.split(|byte| *byte == b':').nth(2)?;
        std::str::from_utf8(length).ok()?.parse().ok()
    }
}

/// A part of the data of a merge job, as one put gave it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MergePayload {
    #[serde(flatten)]
    pub data: JobData,
    /// The position of this data among the others
    pub score: Number,
}

/// Why and when a job failed last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Failure {
    /// The kind of failure
    pub group: Name,
    /// The message
    pub message: Name,
    /// The worker that ran the job
    pub worker: Option<Name>,
    /// When the job failed
    pub when: Option<Moment>,
}

impl Failure {
    /// Reads the stored field `failure` of a job. `None` if the job never failed, or completed after its failure.
    pub fn from_stored(bytes: &[u8]) -> Option<Failure> {
        let fields = Json::parse(bytes)?.object()?;
        if fields.is_empty() {
            return None;
        }
        let mut failure = Failure::default();
        for (key, value) in fields {
            match key.as_bytes() {
                b"group" => failure.group = value.text().unwrap_or_default(),
                b"message" => failure.message = value.text().unwrap_or_default(),
                b"worker" => failure.worker = value.text().filter(|worker| !worker.is_empty()),
                b"when" => failure.when = value.number().and_then(Moment::from_seconds),
                _ => {}
            }
        }
        Some(failure)
    }
}

/// An entry of a job's history: what happened, when, and a note.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    /// Put, popped, throttled, done, failed, retried, timed-out, cli, or the text of a log entry
    pub what: Name,
    /// When the event happened
    pub when: Option<Moment>,
    /// The other fields as stored, except that the field `q` of `put` and `throttled` has the name `queue`.
    pub note: Vec<(Name, Json)>,
}

/// Whether stored history entries with this text have the queue in the field `q` instead of `queue`.
fn stores_queue_as_q(what: &Name) -> bool {
    matches!(what.as_bytes(), b"put" | b"throttled")
}

impl HistoryEntry {
    /// Reads a stored entry, `[when, what]` or `[when, what, {…}]`.
    pub fn from_stored(bytes: &[u8]) -> Option<HistoryEntry> {
        let mut parts = Json::parse(bytes)?.array()?.into_iter();
        let when = parts.next()?.number().and_then(Moment::from_seconds);
        let what = parts.next()?.text()?;
        let mut note = parts
            .next()
            .and_then(|note| note.object())
            .unwrap_or_default();
        note.retain(|(key, _)| !matches!(key.as_bytes(), b"when" | b"what"));
        if stores_queue_as_q(&what) {
            for (key, _) in note.iter_mut().filter(|(key, _)| key.as_bytes() == b"q") {
                *key = Name::from("queue");
            }
        }
        Some(HistoryEntry { what, when, note })
    }

    /// The entry as JSON in the form in which the core stores it. Another client may have stored another form.
    pub fn to_stored_entry_json(&self) -> Vec<u8> {
        let is_brief = stores_queue_as_q(&self.what);
        let mut text = b"[".to_vec();
        text.extend(
            self.when
                .map_or("null".into(), |when| when.to_string())
                .into_bytes(),
        );
        text.push(b',');
        text.extend(quote_as_core(self.what.as_bytes()));
        for (at, (key, value)) in self.note.iter().enumerate() {
            text.extend(if at == 0 { b",{" } else { &b","[..] });
            let key: &[u8] = match key.as_bytes() {
                b"queue" if is_brief => b"q",
                key => key,
            };
            text.extend(quote_as_core(key));
            text.push(b':');
            text.extend(value.to_single_line().into_bytes());
        }
        text.extend(if self.note.is_empty() {
            b"]"
        } else {
            &b"}]"[..]
        });
        text
    }

    /// The text of a further field of the entry, such as `worker` of an entry `popped`.
    pub fn extra_field_text(&self, key: &str) -> Option<Name> {
        self.extra_field_value(key)?.text()
    }

    pub(crate) fn extra_field_value(&self, key: &str) -> Option<&Json> {
        field_value(&self.note, key)
    }
}

impl Serialize for HistoryEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("what", &self.what)?;
        fields.serialize_entry("when", &self.when)?;
        for (key, value) in &self.note {
            fields.serialize_entry(&escape_invalid_utf8(key.as_bytes()), value)?;
        }
        fields.end()
    }
}

/// The schema has only the fields that every history entry has.
impl JsonSchema for HistoryEntry {
    fn schema_name() -> Cow<'static, str> {
        "Entry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        #[derive(JsonSchema)]
        #[expect(dead_code)]
        struct HistoryEntrySchema {
            /// One of put, popped, throttled, done, failed, retried, timed-out, cli for a note of `qless`, or the text of a
            /// log entry
            what: Name,
            /// When the event happened
            when: Option<Moment>,
        }
        HistoryEntrySchema::json_schema(generator)
    }
}

/// How many jobs are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct StateCounts {
    #[serde(flatten)]
    pub queued: QueuedCounts,
    /// Jobs in this state
    pub complete: u64,
    /// Jobs in this state
    pub failed: u64,
}

impl StateCounts {
    /// The number of jobs in all states, including complete and failed jobs.
    pub(crate) fn total_of_all_states(&self) -> u64 {
        self.queued.total() + self.complete + self.failed
    }

    pub(crate) fn count_mut(&mut self, state: State) -> &mut u64 {
        match state {
            State::Running => &mut self.queued.running,
            State::Stalled => &mut self.queued.stalled,
            State::Waiting => &mut self.queued.waiting,
            State::Scheduled => &mut self.queued.scheduled,
            State::Depends => &mut self.queued.depends,
            State::Throttled => &mut self.queued.throttled,
            State::Failed => &mut self.failed,
            State::Complete => &mut self.complete,
        }
    }
}

/// The dependencies and dependents of a job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DependenciesAndDependents {
    /// The job's id
    pub jid: Name,
    /// The kind of work
    pub klass: Option<Name>,
    /// The job's queue
    pub queue: Option<Name>,
    /// The jobs that the job depends on
    pub dependencies: Vec<Neighbor>,
    /// The jobs that depend on it
    pub dependents: Vec<Neighbor>,
    /// True if nothing was changed
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// A job at the other end of an edge.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Neighbor {
    /// The job's id
    pub jid: Name,
    /// The kind of work
    pub klass: Option<Name>,
    /// The job's queue
    pub queue: Option<Name>,
    /// The job's state; null for a job that does not exist
    #[schemars(with = "Option<String>")]
    pub state: Option<State>,
    /// The worker that holds it, in `explain`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<Name>,
    /// When that worker was seen last
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Moment>,
    #[serde(skip)]
    pub job: Option<Box<Job>>,
}

impl Neighbor {
    pub fn new(jid: Name, job: Option<Job>) -> Neighbor {
        let (klass, queue, state) = match &job {
            Some(job) => (job.klass.clone(), job.queue.clone(), job.state),
            None => (None, None, None),
        };
        Neighbor {
            jid,
            klass,
            queue,
            state,
            worker: None,
            last_seen: None,
            job: job.map(Box::new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::write;

    fn written(value: &impl Serialize) -> String {
        let mut text = Vec::new();
        write::write_unsanitized_compact(value, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn entries_keep_the_notes_of_other_clients() {
        let entry =
            HistoryEntry::from_stored(br#"[11,"cli",{"verb":"retry","n":9007199254740993}]"#)
                .unwrap();
        assert_eq!(
            written(&entry),
            r#"{"what":"cli","when":"1970-01-01T00:00:11.000Z","verb":"retry","n":9007199254740993}"#
        );
        let put = HistoryEntry::from_stored(br#"[1,"put",{"q":"mail"}]"#).unwrap();
        assert_eq!(put.extra_field_text("queue"), Some(Name::from("mail")));
        assert_eq!(
            HistoryEntry::from_stored(br#"[1,"done"]"#).unwrap().note,
            []
        );
        assert_eq!(HistoryEntry::from_stored(b"nonsense"), None);
    }

    #[test]
    fn entries_are_written_as_the_core_writes_them() {
        for text in [
            r#"[1,"done"]"#,
            r#"[1.5,"a\/b\u007f",{"x":[1,{}],"y\/":"\/"}]"#,
            r#"[1763627462,"put",{"q":"mail"}]"#,
        ] {
            let entry = HistoryEntry::from_stored(text.as_bytes()).unwrap();
            assert_eq!(
                String::from_utf8(entry.to_stored_entry_json()).unwrap(),
                text
            );
        }
    }

    #[test]
    fn a_failure_is_read_byte_for_byte() {
        let text = b"{\"group\":\"g\xff\",\"message\":\"a\\nb\",\"when\":31.5,\"worker\":\"\"}";
        let failure = Failure::from_stored(text).unwrap();
        assert_eq!(failure.group, Name::from(&b"g\xff"[..]));
        assert_eq!(failure.message, Name::from("a\nb"));
        assert_eq!(failure.worker, None);
        assert_eq!(Failure::from_stored(b"{}"), None);
    }
}
