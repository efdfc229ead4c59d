//! A job as an operator sees it, with its state, failure, history and neighbors.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::coordination::LostLockBackoff;
use super::ending::exhausted_group;
use super::explain::Reason;
use super::export::Cancellation;
use super::field::Field;
use crate::clock::moment::Moment;
use crate::json::quote::encoded;
use crate::json::{Data, Json, Number};
use crate::name;
use crate::name::Name;

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
    parse_err_fn = unknown_state
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

    /// Returns the states of jobs that are not complete.
    pub fn unfinished() -> Vec<State> {
        let states = State::VARIANTS.iter().copied();
        states.filter(|state| *state != State::Complete).collect()
    }
}

/// The error about a word that is not a state.
fn unknown_state(_: &str) -> String {
    let words: Vec<&str> = State::VARIANTS.iter().map(State::into_str).collect();
    format!("a state is one of {}", words.join(", "))
}

/// A job. A field is absent if the server does not have it, or if it is unreadable.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Job {
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Name,
    #[serde(flatten, serialize_with = "name::klass")]
    pub klass: Option<Name>,
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Option<Name>,
    pub state: Option<State>,
    pub state_stored: Option<Name>,
    pub priority: Option<Number>,
    pub retries: Option<Number>,
    pub remaining: Option<Number>,
    /// The holder of the lock, or the last holder if it was lost.
    #[serde(flatten, serialize_with = "name::worker")]
    pub worker: Option<Name>,
    /// When the lock expires, or expired.
    pub expires: Option<Moment>,
    pub tracked: bool,
    #[serde(flatten, serialize_with = "name::tags")]
    pub tags: Vec<Name>,
    #[serde(flatten)]
    pub data: Data,
    pub failure: Option<Failure>,
    #[serde(flatten, serialize_with = "name::dependencies")]
    pub dependencies: Vec<Name>,
    #[serde(flatten, serialize_with = "name::dependents")]
    pub dependents: Vec<Name>,
    #[serde(flatten, serialize_with = "name::spawned_from")]
    pub spawned_from: Option<Name>,
    pub scheduled_for: Option<Moment>,
    /// When its newest history entry was made.
    pub since: Option<Moment>,
    /// The throttles of which it needs a slot.
    #[serde(
        flatten,
        serialize_with = "name::throttles",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub throttles: Vec<Name>,
    /// Its lane: the key, after the queue and a slash unless it begins with one.
    #[serde(
        flatten,
        serialize_with = "name::key",
        skip_serializing_if = "Option::is_none"
    )]
    pub key: Option<Name>,
    /// What puts with its key do: `merge` for a merge job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dup: Option<Name>,
    /// Which score an equal payload keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescore: Option<Name>,
    /// Whether it blocks its lane if it fails.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hold: bool,
    /// The delay of its retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<Name>,
    /// The number of its newest grant: a later grant has a larger one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<Number>,
    /// The payloads of a merge job, by score.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub payloads: Vec<Payload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Entry>>,
    /// The mark of the job as it was read, which a guarded call compares.
    #[serde(skip)]
    pub mark: Vec<u8>,
    /// Whether its lock expired and was extended once, for its holder.
    #[serde(skip)]
    pub in_grace: bool,
    /// How many of its dependencies have failed; 0 if they were not read.
    #[serde(skip)]
    pub failed_dependencies: u64,
    /// Its dependencies and dependents, if they were read.
    #[serde(skip)]
    pub neighbors: Vec<Neighbor>,
    /// Why it cannot run, if that was asked.
    #[serde(skip)]
    pub blocked_by: Option<Box<Reason>>,
}

impl Job {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
    Field::name("jid", "the job's id"),
    Field::name("klass", "the kind of work").null(),
    Field::name("queue", "its queue; null when complete").null(),
    Field::text("state", "waiting, running, stalled, scheduled, depends, throttled, failed or complete").null(),
    Field::name("state_stored", "the state as stored: an expired lock does not change it").null(),
    Field::number("priority", "higher runs first").null(),
    Field::number("retries", "retries allowed").null(),
    Field::number("remaining", "retries remaining").null(),
    Field::name("worker", "the holder of its lock, or the last holder").null(),
    Field::moment("expires", "when its lock expires, or expired").null(),
    Field::bool("tracked", "whether it has events of its own"),
    Field::name("tags", "its tags").list(),
    Field::any("data", "its data as stored; null if that is not JSON"),
    Field::text("data_bytes", "its data in base64, if it is not JSON; in an export also if `data` does not preserve each byte").optional(),
    Field::object("failure", Failure::FIELDS, "its last failure").null(),
    Field::name("dependencies", "the jobs that it depends on").list(),
    Field::name("dependents", "the jobs that depend on it").list(),
    Field::name("spawned_from", "the recurring job that put it").null(),
    Field::moment("scheduled_for", "when it is due, if that is in the future").null(),
    Field::moment("since", "when its newest history entry was made").null(),
    Field::name("throttles", "the throttles of which it needs a slot to run").list().optional(),
    Field::name("key", "its lane: the key, after the queue and a slash unless it begins with one").optional(),
    Field::text("dup", "`merge` if puts with its key add to its data").optional(),
    Field::text("rescore", "which score an equal payload of a merge job keeps: min or max").optional(),
    Field::bool("hold", "true if it blocks its lane when it has failed").optional(),
    Field::text("backoff", "the delay of its retries, or an object: the delay after a lost lock").optional(),
    Field::number("fence", "the number of its newest grant; a later grant has a larger one").optional(),
    Field::object("payloads", Payload::FIELDS, "the payloads of a merge job, in the order of its data").list().optional(),
    Field::object("history", Entry::FIELDS, "its history, with the notes of each entry; lists have it if it is asked for").list().optional(),
    Field::text("history_bytes", "in an export, each entry as stored, in base64, if `history` does not preserve each byte").list().optional(),
    Field::number("due", "in an export, `scheduled_for` in seconds since the epoch, if milliseconds are not exact").optional(),
    Field::object("cancelled", Cancellation::FIELDS, "in the file of `cancel --save`: who deleted it, when and why").optional(),
    ];
}

impl Job {
    /// Returns whether the job has fewer retries remaining than it got.
    pub(crate) fn has_used_retry(&self) -> bool {
        match (self.remaining, self.retries) {
            (Some(remaining), Some(retries)) => remaining.floor() < retries.floor(),
            _ => false,
        }
    }

    /// The retries that it has remaining, for people. The wire counts the attempt that used up the
    /// last one, too, so that such a job has -1.
    pub(crate) fn remaining_retries(&self) -> Option<i64> {
        self.remaining.map(|remaining| remaining.floor().max(0))
    }

    /// Whether it is in the morgue of its queue: it failed because its retries were used up, in
    /// whatever group, or it was buried in the group of such jobs.
    pub(crate) fn is_dead(&self) -> bool {
        let exhausted = self.remaining.is_some_and(|remaining| remaining.0 < 0.0);
        let group = self.failure.as_ref().map(|failure| &failure.group);
        let own = self.queue.as_ref().map(exhausted_group);
        self.state == Some(State::Failed) && (exhausted || group.is_some() && group == own.as_ref())
    }

    /// The policy that delays its retries; `None` if it has none, or only one for lost locks.
    pub(crate) fn retry_policy(&self) -> Option<&Name> {
        let policy = self.backoff.as_ref().filter(|policy| !policy.is_empty())?;
        let is_for_lost_locks = LostLockBackoff::read(policy.as_bytes()).is_some();
        (!is_for_lost_locks).then_some(policy)
    }

    /// Returns the number of entries of its history, by its mark: `<state>:<when>:<length>:<queue>`.
    pub(crate) fn entries(&self) -> Option<usize> {
        let length = self.mark.split(|byte| *byte == b':').nth(2)?;
        std::str::from_utf8(length).ok()?.parse().ok()
    }
}

/// A part of the data of a merge job, as one put gave it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Payload {
    /// JSON, byte for byte.
    pub data: Data,
    /// Its place among the others, as stored.
    pub score: Number,
}

impl Payload {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::any("data", "the payload; null if it is not JSON"),
        Field::text("data_bytes", "the payload in base64, if it is not JSON").optional(),
        Field::number("score", "its place among the others"),
    ];
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'p> {
            #[serde(flatten)]
            data: &'p Data,
            score: Number,
        }
        let Payload { data, score } = self;
        Fields {
            data,
            score: *score,
        }
        .serialize(serializer)
    }
}

/// Why and when a job failed last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Failure {
    #[serde(flatten, serialize_with = "name::group")]
    pub group: Name,
    #[serde(flatten, serialize_with = "name::message")]
    pub message: Name,
    #[serde(flatten, serialize_with = "name::worker")]
    pub worker: Option<Name>,
    pub when: Option<Moment>,
}

impl Failure {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("group", "the kind of failure"),
        Field::name("message", "the message"),
        Field::name("worker", "the worker that ran the job").null(),
        Field::moment("when", "when it failed").null(),
    ];
}

impl Failure {
    /// Reads the stored field; `None` for a job that never failed or was completed later.
    pub fn read(bytes: &[u8]) -> Option<Failure> {
        let members = Json::read(bytes)?.object()?;
        if members.is_empty() {
            return None;
        }
        let mut failure = Failure::default();
        for (key, value) in members {
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
pub struct Entry {
    pub what: Name,
    pub when: Option<Moment>,
    /// The other members, as stored. The member `q` of a `put` is called `queue` here.
    pub note: Vec<(Name, Json)>,
}

impl Entry {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name(
            "what",
            "put, popped, done, failed, retried, timed-out, or the text of a log entry",
        ),
        Field::moment("when", "when it happened").null(),
    ];
}

impl Entry {
    /// Reads a stored entry, `[when, what]` or `[when, what, {…}]`.
    pub fn read(bytes: &[u8]) -> Option<Entry> {
        let mut parts = Json::read(bytes)?.array()?.into_iter();
        let when = parts.next()?.number().and_then(Moment::from_seconds);
        let what = parts.next()?.text()?;
        let mut note = parts
            .next()
            .and_then(|note| note.object())
            .unwrap_or_default();
        note.retain(|(key, _)| !matches!(key.as_bytes(), b"when" | b"what"));
        if what.as_bytes() == b"put" {
            for (key, _) in note.iter_mut().filter(|(key, _)| key.as_bytes() == b"q") {
                *key = Name::from("queue");
            }
        }
        Some(Entry { what, when, note })
    }

    /// Returns the entry as the core writes it. The stored text can differ if another client wrote it.
    pub fn stored(&self) -> Vec<u8> {
        let put = self.what.as_bytes() == b"put";
        let mut text = b"[".to_vec();
        text.extend(
            self.when
                .map_or("null".into(), |when| when.to_string())
                .into_bytes(),
        );
        text.push(b',');
        text.extend(encoded(self.what.as_bytes()));
        for (at, (key, value)) in self.note.iter().enumerate() {
            text.extend(if at == 0 { b",{" } else { &b","[..] });
            let key: &[u8] = match key.as_bytes() {
                b"queue" if put => b"q",
                key => key,
            };
            text.extend(encoded(key));
            text.push(b':');
            text.extend(value.to_name().into_bytes());
        }
        text.extend(if self.note.is_empty() {
            b"]"
        } else {
            &b"}]"[..]
        });
        text
    }

    /// Returns a text of the note, such as the worker of `popped`.
    pub fn text(&self, key: &str) -> Option<Name> {
        self.value(key)?.text()
    }

    /// Returns a member of the note.
    pub(crate) fn value(&self, key: &str) -> Option<&Json> {
        let mut note = self.note.iter();
        let found = note.find(|(name, _)| name.as_bytes() == key.as_bytes());
        found.map(|(_, value)| value)
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("what", &self.what)?;
        fields.serialize_entry("when", &self.when)?;
        for (key, value) in &self.note {
            fields.serialize_entry(key, value)?;
        }
        fields.end()
    }
}

/// Whether a count that documents leave out is zero.
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How many jobs are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub waiting: u64,
    pub running: u64,
    pub stalled: u64,
    pub scheduled: u64,
    pub depends: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub throttled: u64,
    pub complete: u64,
    pub failed: u64,
}

impl Counts {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::count("waiting", "jobs in this state"),
        Field::count("running", "jobs in this state"),
        Field::count("stalled", "jobs in this state"),
        Field::count("scheduled", "jobs in this state"),
        Field::count("depends", "jobs in this state"),
        Field::count("throttled", "jobs in this state, if there are any").optional(),
        Field::count("complete", "jobs in this state"),
        Field::count("failed", "jobs in this state"),
    ];
}

impl Counts {
    /// Returns the number of jobs in all states.
    pub(crate) fn all(&self) -> u64 {
        let queued = self.waiting + self.running + self.stalled + self.scheduled + self.depends;
        queued + self.throttled + self.complete + self.failed
    }

    /// Returns the count of a state.
    pub(crate) fn of(&mut self, state: State) -> &mut u64 {
        match state {
            State::Running => &mut self.running,
            State::Stalled => &mut self.stalled,
            State::Waiting => &mut self.waiting,
            State::Scheduled => &mut self.scheduled,
            State::Depends => &mut self.depends,
            State::Throttled => &mut self.throttled,
            State::Failed => &mut self.failed,
            State::Complete => &mut self.complete,
        }
    }
}

/// The dependencies and dependents of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dependencies {
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Name,
    #[serde(flatten, serialize_with = "name::klass")]
    pub klass: Option<Name>,
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Option<Name>,
    pub dependencies: Vec<Neighbor>,
    pub dependents: Vec<Neighbor>,
}

impl Dependencies {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("jid", "the job's id"),
        Field::name("klass", "the kind of work").null(),
        Field::name("queue", "its queue").null(),
        Field::object(
            "dependencies",
            Neighbor::FIELDS,
            "the jobs that it depends on",
        )
        .list(),
        Field::object("dependents", Neighbor::FIELDS, "the jobs that depend on it").list(),
    ];
}

/// A job at the other end of an edge.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbor {
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Name,
    #[serde(flatten, serialize_with = "name::klass")]
    pub klass: Option<Name>,
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Option<Name>,
    /// Absent for a job that no longer exists.
    pub state: Option<State>,
    #[serde(skip)]
    pub job: Option<Box<Job>>,
}

impl Neighbor {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("jid", "the job's id"),
        Field::name("klass", "the kind of work").null(),
        Field::name("queue", "its queue").null(),
        Field::text("state", "its state; null for a job that does not exist").null(),
    ];
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
            job: job.map(Box::new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn entries_keep_the_notes_of_other_clients() {
        let entry = Entry::read(br#"[11,"cli",{"verb":"retry","n":9007199254740993}]"#).unwrap();
        assert_eq!(
            written(&entry),
            r#"{"what":"cli","when":"1970-01-01T00:00:11.000Z","verb":"retry","n":9007199254740993}"#
        );
        let put = Entry::read(br#"[1,"put",{"q":"mail"}]"#).unwrap();
        assert_eq!(put.text("queue"), Some(Name::from("mail")));
        assert_eq!(Entry::read(br#"[1,"done"]"#).unwrap().note, []);
        assert_eq!(Entry::read(b"nonsense"), None);
    }

    #[test]
    fn entries_are_written_as_the_core_writes_them() {
        for text in [
            r#"[1,"done"]"#,
            r#"[1.5,"a\/b\u007f",{"x":[1,{}],"y\/":"\/"}]"#,
            r#"[1763627462,"put",{"q":"mail"}]"#,
        ] {
            let entry = Entry::read(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(entry.stored()).unwrap(), text);
        }
    }

    #[test]
    fn a_failure_is_read_byte_for_byte() {
        let text = b"{\"group\":\"g\xff\",\"message\":\"a\\nb\",\"when\":31.5,\"worker\":\"\"}";
        let failure = Failure::read(text).unwrap();
        assert_eq!(failure.group, Name::from(&b"g\xff"[..]));
        assert_eq!(failure.message, Name::from("a\nb"));
        assert_eq!(failure.worker, None);
        assert_eq!(Failure::read(b"{}"), None);
    }

    #[test]
    fn a_document_of_a_job_has_all_fields_in_order() {
        let job = Job {
            jid: Name::from("j"),
            queue: Some(Name::from(&b"q\xff"[..])),
            state: Some(State::Waiting),
            state_stored: Some(Name::from("waiting")),
            priority: Some(Number(10.0)),
            data: Data::from(b"[]".to_vec()),
            ..Job::default()
        };
        assert_eq!(
            written(&job),
            concat!(
                r#"{"jid":"j","klass":null,"queue":"q\\xff","queue_bytes":"cf8=","#,
                r#""state":"waiting","state_stored":"waiting","priority":10,"retries":null,"#,
                r#""remaining":null,"worker":null,"expires":null,"tracked":false,"tags":[],"#,
                r#""data":[],"failure":null,"dependencies":[],"dependents":[],"#,
                r#""spawned_from":null,"scheduled_for":null,"since":null}"#
            )
        );
    }
}
