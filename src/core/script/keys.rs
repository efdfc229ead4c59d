//! The names of keys, for the few plain reads that need them. They come from `lua/keys.lua`: the build
//! writes one constant for each, without the prefix. No other Rust module has a key name.

use strum::VariantArray;

include!(concat!(env!("OUT_DIR"), "/keys.rs"));

/// The sets of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum QueueSet {
    Work,
    Locks,
    Scheduled,
    Depends,
    Throttled,
    Recur,
}

impl QueueSet {
    fn suffix(self) -> &'static str {
        match self {
            QueueSet::Work => WORK,
            QueueSet::Locks => LOCKS,
            QueueSet::Scheduled => SCHEDULED,
            QueueSet::Depends => DEPENDS,
            QueueSet::Throttled => THROTTLED,
            QueueSet::Recur => RECUR,
        }
    }
}

/// The other keys of a job besides its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum Companion {
    History,
    Dependencies,
    Dependents,
    Payloads,
}

impl Companion {
    fn suffix(self) -> &'static str {
        match self {
            Companion::History => HISTORY,
            Companion::Dependencies => DEPENDENCIES,
            Companion::Dependents => DEPENDENTS,
            Companion::Payloads => PAYLOADS,
        }
    }
}

/// The family of a key, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family<'a> {
    Job(&'a [u8]),
    /// Belongs to a job, unless it is a job whose id has this ending.
    Companion(Companion, &'a [u8]),
    Recurring(&'a [u8]),
    Queue(QueueSet, &'a [u8]),
    /// The complete jobs of a queue, which only qless-php lists.
    CompletedIn(&'a [u8]),
    Worker(&'a [u8]),
    /// The maximum of a throttle.
    Throttle(&'a [u8]),
    /// The jobs with a slot of a throttle; in `Pending`, those that wait for one. The key belongs to the
    /// throttle of this id, unless it is itself the key of a throttle whose id has the ending.
    Slots(&'a [u8]),
    Pending(&'a [u8]),
    Lane(&'a [u8]),
    /// The uniqueness window of a lane.
    Window(&'a [u8]),
    /// The last fencing token.
    Fence,
    Group(&'a [u8]),
    Tag(&'a [u8]),
    /// Streaming values of a day and queue.
    Values,
    /// Counters: `day:queue`.
    Counters(&'a [u8]),
    Queues,
    Paused,
    Pauses,
    PausedRecurring,
    Workers,
    Failures,
    /// The failed jobs that are deleted when they reach an age, by the time of their failure.
    FailedTimes,
    Completed,
    Tracked,
    Tags,
    Config,
    /// The topics of a queue, and the index of the queues with topics.
    Topics,
    Subscriptions,
    IdentifierPatterns,
    PriorityPatterns,
    /// The dependents that pops still have to release.
    Releasing,
    /// Set aside by a repair.
    Lost,
    /// Not a key of the core.
    Unknown,
}

/// The keys that are one each.
const SINGLE: [(&str, Family<'static>); 16] = [
    (QUEUES, Family::Queues),
    (PAUSED, Family::Paused),
    (PAUSES, Family::Pauses),
    (PAUSED_RECURRING, Family::PausedRecurring),
    (WORKERS, Family::Workers),
    (FAILURES, Family::Failures),
    (FAILED_TIMES, Family::FailedTimes),
    (SUBSCRIPTIONS, Family::Subscriptions),
    (COMPLETED, Family::Completed),
    (TRACKED, Family::Tracked),
    (TAGS, Family::Tags),
    (CONFIG, Family::Config),
    (FENCE, Family::Fence),
    (IDENTIFIER_PATTERNS, Family::IdentifierPatterns),
    (PRIORITY_PATTERNS, Family::PriorityPatterns),
    (RELEASING, Family::Releasing),
];

/// All key names with a prefix.
#[derive(Clone, Debug)]
pub struct Keys {
    prefix: String,
}

impl Keys {
    pub fn new(prefix: &str) -> Keys {
        Keys {
            prefix: prefix.to_owned(),
        }
    }

    /// A name with the prefix: a key that is one of its kind, such as [`QUEUES`], a channel, or what
    /// the keys of a kind begin with, such as [`JOB`].
    pub fn with_prefix(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn key(&self, start: &str, name: &[u8], suffix: &str) -> Vec<u8> {
        let prefix = self.prefix.as_bytes();
        [prefix, start.as_bytes(), name, suffix.as_bytes()].concat()
    }

    pub fn job(&self, jid: &[u8]) -> Vec<u8> {
        self.key(JOB, jid, "")
    }

    /// The jid in the key of a job, or in a text that looks like one.
    pub(crate) fn jid_of<'a>(&self, key: &'a [u8]) -> Option<&'a [u8]> {
        self.below(key)?.strip_prefix(JOB.as_bytes())
    }

    pub fn companion(&self, which: Companion, jid: &[u8]) -> Vec<u8> {
        self.key(JOB, jid, which.suffix())
    }

    pub fn recurring(&self, id: &[u8]) -> Vec<u8> {
        self.key(RECURRING, id, "")
    }

    pub fn queue(&self, part: QueueSet, queue: &[u8]) -> Vec<u8> {
        self.key(QUEUE, queue, part.suffix())
    }

    /// The key of the complete jobs of a queue, which only qless-php lists.
    pub(crate) fn completed_in(&self, queue: &[u8]) -> Vec<u8> {
        self.key(QUEUE, queue, COMPLETED_IN)
    }

    pub fn worker(&self, worker: &[u8]) -> Vec<u8> {
        self.key(WORKER, worker, HELD)
    }

    /// The channel with what concerns the jobs of a worker.
    pub(crate) fn worker_channel(&self, worker: &str) -> String {
        self.with_prefix(WORKER) + worker
    }

    pub(crate) fn throttle(&self, id: &[u8]) -> Vec<u8> {
        self.key(THROTTLE, id, "")
    }

    /// The key of the jobs with a slot of a throttle.
    pub(crate) fn slots(&self, id: &[u8]) -> Vec<u8> {
        self.key(THROTTLE, id, LOCKS)
    }

    /// The key of the jobs that a throttle holds.
    pub(crate) fn pending(&self, id: &[u8]) -> Vec<u8> {
        self.key(THROTTLE, id, PENDING)
    }

    pub(crate) fn lane(&self, lane: &[u8]) -> Vec<u8> {
        self.key(LANE, lane, "")
    }

    /// The name for a key that a repair sets aside.
    pub(crate) fn set_aside(&self, run: &str, key: &[u8]) -> Vec<u8> {
        let name = [run.as_bytes(), b":", self.without_prefix(key)].concat();
        self.key(LOST, &name, "")
    }

    pub fn group(&self, group: &[u8]) -> Vec<u8> {
        self.key(GROUP, group, "")
    }

    pub fn tag(&self, tag: &[u8]) -> Vec<u8> {
        self.key(TAG, tag, "")
    }

    /// The key of the counters of `day:queue`.
    pub fn day_counters(&self, of: &[u8]) -> Vec<u8> {
        self.key(STATS, of, "")
    }

    /// A key without the prefix.
    pub fn without_prefix<'a>(&self, key: &'a [u8]) -> &'a [u8] {
        self.below(key).unwrap_or(key)
    }

    fn below<'a>(&self, key: &'a [u8]) -> Option<&'a [u8]> {
        key.strip_prefix(self.prefix.as_bytes())
    }

    /// The ids of the throttles to which a key may belong: an id may have the ending of a list.
    pub(crate) fn throttle_ids<'a>(&self, key: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let id = self.below(key);
        let id = id.and_then(|key| key.strip_prefix(THROTTLE.as_bytes()));
        let owner = [LOCKS, PENDING].into_iter().find_map(|suffix| {
            let owner = id?.strip_suffix(suffix.as_bytes())?;
            (!owner.is_empty()).then_some(owner)
        });
        id.into_iter().chain(owner)
    }

    /// The family of a key.
    pub fn family<'a>(&self, key: &'a [u8]) -> Family<'a> {
        let Some(key) = self.below(key) else {
            return Family::Unknown;
        };
        let after = |start: &str| key.strip_prefix(start.as_bytes());
        if let Some(jid) = after(JOB) {
            let companion = Companion::VARIANTS.iter().find_map(|which| {
                let owner = jid.strip_suffix(which.suffix().as_bytes())?;
                Some(Family::Companion(*which, owner))
            });
            return companion.unwrap_or(Family::Job(jid));
        }
        if let Some(queue) = after(QUEUE) {
            let part = QueueSet::VARIANTS.iter().find_map(|part| {
                let queue = queue.strip_suffix(part.suffix().as_bytes())?;
                Some(Family::Queue(*part, queue))
            });
            let completed = queue.strip_suffix(COMPLETED_IN.as_bytes());
            let completed = completed.map(Family::CompletedIn);
            return part.or(completed).unwrap_or(Family::Unknown);
        }
        if let Some(worker) = after(WORKER) {
            let worker = worker.strip_suffix(HELD.as_bytes());
            return worker.map_or(Family::Unknown, Family::Worker);
        }
        if let Some(id) = after(THROTTLE) {
            let slots = id.strip_suffix(LOCKS.as_bytes()).map(Family::Slots);
            let pending = id.strip_suffix(PENDING.as_bytes()).map(Family::Pending);
            return slots.or(pending).unwrap_or(Family::Throttle(id));
        }
        if let Some(of) = after(STATS).filter(|of| begins_with_day(of)) {
            return Family::Counters(of);
        }
        if [WAIT, RUN]
            .iter()
            .any(|start| after(start).is_some_and(begins_with_day))
        {
            return Family::Values;
        }
        type Named<'a> = fn(&'a [u8]) -> Family<'a>;
        let named: [(&str, Named<'a>); 7] = [
            (RECURRING, Family::Recurring),
            (TAG, Family::Tag),
            (GROUP, Family::Group),
            (LANE, Family::Lane),
            (WINDOW, Family::Window),
            (LOST, |_| Family::Lost),
            (TOPICS, |_| Family::Topics),
        ];
        let named = named
            .iter()
            .find_map(|(start, family)| after(start).map(family));
        let single = SINGLE.iter().find(|(name, _)| name.as_bytes() == key);
        let single = single.map(|(_, family)| *family);
        named.or(single).unwrap_or(Family::Unknown)
    }
}

/// Whether the text begins with a day: `-86400:queue`.
fn begins_with_day(rest: &[u8]) -> bool {
    let rest = rest.strip_prefix(b"-").unwrap_or(rest);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && rest.get(digits) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_key_decides_its_family() {
        let keys = Keys::new("ql:");
        for (key, family) in [
            ("ql:j:a-b", Family::Job(b"a-b")),
            (
                "ql:j:a-history",
                Family::Companion(Companion::History, b"a"),
            ),
            (
                "ql:j:-dependents",
                Family::Companion(Companion::Dependents, b""),
            ),
            ("ql:q:a-b-work", Family::Queue(QueueSet::Work, b"a-b")),
            ("ql:q:a-b", Family::Unknown),
            ("ql:w:me:jobs", Family::Worker(b"me")),
            ("ql:w:me", Family::Unknown),
            ("ql:f:", Family::Group(b"")),
            (
                "ql:j:a-payloads",
                Family::Companion(Companion::Payloads, b"a"),
            ),
            ("ql:q:q-throttled", Family::Queue(QueueSet::Throttled, b"q")),
            ("ql:th:ql:q:a", Family::Throttle(b"ql:q:a")),
            ("ql:th:a-locks", Family::Slots(b"a")),
            ("ql:th:a-pending", Family::Pending(b"a")),
            ("ql:k:q/a-locks", Family::Lane(b"q/a-locks")),
            ("ql:u:/a", Family::Window(b"/a")),
            ("ql:fence", Family::Fence),
            ("ql:s:wait:0:q", Family::Values),
            ("ql:s:run:-86400:q:r", Family::Values),
            ("ql:s:stats:86400:q", Family::Counters(b"86400:q")),
            ("ql:s:stats:x:q", Family::Unknown),
            ("ql:s:other:0:q", Family::Unknown),
            ("ql:queues", Family::Queues),
            ("ql:queues2", Family::Unknown),
            ("ql:qp:identifiers", Family::IdentifierPatterns),
            ("ql:qp:priorities", Family::PriorityPatterns),
            ("ql:releasing", Family::Releasing),
            ("ql:qp:other", Family::Unknown),
            ("ql:failed-jobs-list", Family::FailedTimes),
            ("ql:q:a-completed", Family::CompletedIn(b"a")),
            ("ql:topicsmail", Family::Topics),
            ("ql:subscriptions", Family::Subscriptions),
            ("ql:lost:run:j:a", Family::Lost),
            ("other", Family::Unknown),
        ] {
            assert_eq!(keys.family(key.as_bytes()), family, "{key}");
        }
    }
}
