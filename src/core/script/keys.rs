//! The names of the core's Redis keys, for the few Redis commands that `qless` sends without the script. The build
//! makes a constant from each name in `lua/keys.lua`, without the prefix. No other Rust module has a key name.

use strum::VariantArray;

include!(concat!(env!("OUT_DIR"), "/keys.rs"));

/// The sets of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum QueueKey {
    Work,
    Locks,
    Scheduled,
    Depends,
    Throttled,
    Recur,
}

impl QueueKey {
    fn suffix(self) -> &'static str {
        match self {
            QueueKey::Work => WORK,
            QueueKey::Locks => LOCKS,
            QueueKey::Scheduled => SCHEDULED,
            QueueKey::Depends => DEPENDS,
            QueueKey::Throttled => THROTTLED,
            QueueKey::Recur => RECUR,
        }
    }
}

/// The companion keys of a job: the keys besides the hash with its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum JobCompanionKey {
    History,
    Dependencies,
    Dependents,
    Payloads,
}

impl JobCompanionKey {
    fn suffix(self) -> &'static str {
        match self {
            JobCompanionKey::History => HISTORY,
            JobCompanionKey::Dependencies => DEPENDENCIES,
            JobCompanionKey::Dependents => DEPENDENTS,
            JobCompanionKey::Payloads => PAYLOADS,
        }
    }
}

/// The family of a key, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFamily<'a> {
    Job(&'a [u8]),
    /// The companion key of the job with this jid, such as `j:a-history` for `a`. By its name, it could also be the
    /// hash of a job `a-history`.
    Companion(JobCompanionKey, &'a [u8]),
    Recurring(&'a [u8]),
    Queue(QueueKey, &'a [u8]),
    /// The complete jobs of a queue. Only the core for qless-php keeps this list.
    CompletedIn(&'a [u8]),
    Worker(&'a [u8]),
    /// The maximum of a throttle.
    Throttle(&'a [u8]),
    /// The throttles with a maximum.
    Throttles,
    /// The jobs with a slot of the throttle with this id, under a name such as `th:a-locks`. By its name, the key could
    /// also be the maximum of a throttle `a-locks`. `ThrottlePending` has the jobs that wait for a slot.
    ThrottleSlots(&'a [u8]),
    ThrottlePending(&'a [u8]),
    Lane(&'a [u8]),
    /// The uniqueness window of a lane.
    Window(&'a [u8]),
    /// The last fencing token.
    Fence,
    Group(&'a [u8]),
    Tag(&'a [u8]),
    /// The statistics of how long the jobs of a queue waited, or ran, on a day.
    DayDurations,
    /// The counters of `day:queue`.
    DayCounters(&'a [u8]),
    Queues,
    /// The names of the paused queues.
    Paused,
    /// The details of each pause, by queue.
    Pauses,
    PausedRecurring,
    Workers,
    Failures,
    /// The failed jobs that a core deletes at a certain age, sorted by the time of their failure.
    FailedTimes,
    Completed,
    Tracked,
    Tags,
    Config,
    /// The topics to which a queue is subscribed. `Subscriptions` is the index of the queues with topics.
    Topics,
    Subscriptions,
    IdentifierPatterns,
    PriorityPatterns,
    /// The dependents of completed jobs that later pops still have to release, since there were too many for one call.
    Releasing,
    /// Set aside by a repair.
    Lost,
    /// Not a key of the core.
    Unknown,
}

/// The keys whose names are whole keys.
const SINGLE: [(&str, KeyFamily<'static>); 17] = [
    (QUEUES, KeyFamily::Queues),
    (PAUSED, KeyFamily::Paused),
    (PAUSES, KeyFamily::Pauses),
    (PAUSED_RECURRING, KeyFamily::PausedRecurring),
    (WORKERS, KeyFamily::Workers),
    (FAILURES, KeyFamily::Failures),
    (FAILED_TIMES, KeyFamily::FailedTimes),
    (SUBSCRIPTIONS, KeyFamily::Subscriptions),
    (COMPLETED, KeyFamily::Completed),
    (TRACKED, KeyFamily::Tracked),
    (TAGS, KeyFamily::Tags),
    (THROTTLES, KeyFamily::Throttles),
    (CONFIG, KeyFamily::Config),
    (FENCE, KeyFamily::Fence),
    (IDENTIFIER_PATTERNS, KeyFamily::IdentifierPatterns),
    (PRIORITY_PATTERNS, KeyFamily::PriorityPatterns),
    (RELEASING, KeyFamily::Releasing),
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

    /// The prefix and a name: a whole key for a name such as [`QUEUES`], the start of keys for one such as [`JOB`].
    pub fn with_prefix(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn join_key(&self, start: &str, name: &[u8], suffix: &str) -> Vec<u8> {
        let prefix = self.prefix.as_bytes();
        [prefix, start.as_bytes(), name, suffix.as_bytes()].concat()
    }

    pub fn job_key(&self, jid: &[u8]) -> Vec<u8> {
        self.join_key(JOB, jid, "")
    }

    /// The text after the prefix and `j:` in a key of a job; `None` for any other key. For a companion key, that text
    /// is the jid and a suffix.
    pub(crate) fn without_job_prefix<'a>(&self, key: &'a [u8]) -> Option<&'a [u8]> {
        self.strip_prefix(key)?.strip_prefix(JOB.as_bytes())
    }

    pub fn companion_key(&self, which: JobCompanionKey, jid: &[u8]) -> Vec<u8> {
        self.join_key(JOB, jid, which.suffix())
    }

    pub fn recurring_key(&self, id: &[u8]) -> Vec<u8> {
        self.join_key(RECURRING, id, "")
    }

    pub fn queue_key(&self, part: QueueKey, queue: &[u8]) -> Vec<u8> {
        self.join_key(QUEUE, queue, part.suffix())
    }

    /// The key with the complete jobs of a queue. Only the core for qless-php keeps this list.
    pub(crate) fn completed_key(&self, queue: &[u8]) -> Vec<u8> {
        self.join_key(QUEUE, queue, COMPLETED_IN)
    }

    pub fn worker_key(&self, worker: &[u8]) -> Vec<u8> {
        self.join_key(WORKER, worker, HELD)
    }

    /// The name of the channel on which the core publishes events about the jobs of a worker.
    pub(crate) fn worker_channel(&self, worker: &[u8]) -> Vec<u8> {
        self.join_key(WORKER, worker, "")
    }

    /// The name of a channel with the prefix, such as [`ON_LOG`].
    pub(crate) fn channel_name(&self, name: &str) -> Vec<u8> {
        self.with_prefix(name).into_bytes()
    }

    pub(crate) fn throttle_key(&self, id: &[u8]) -> Vec<u8> {
        self.join_key(THROTTLE, id, "")
    }

    /// The key of the jobs with a slot of a throttle.
    pub(crate) fn throttle_slots_key(&self, id: &[u8]) -> Vec<u8> {
        self.join_key(THROTTLE, id, LOCKS)
    }

    /// The key of the jobs that wait for a free slot of a throttle.
    pub(crate) fn throttle_pending_key(&self, id: &[u8]) -> Vec<u8> {
        self.join_key(THROTTLE, id, PENDING)
    }

    pub(crate) fn lane_key(&self, lane: &[u8]) -> Vec<u8> {
        self.join_key(LANE, lane, "")
    }

    /// The new name of a key that the repair `run` of `check` sets aside: `lost:`, the run, and the key's own name.
    pub(crate) fn set_aside_key(&self, run: &str, key: &[u8]) -> Vec<u8> {
        let name = [run.as_bytes(), b":", self.without_prefix(key)].concat();
        self.join_key(LOST, &name, "")
    }

    pub fn group_key(&self, group: &[u8]) -> Vec<u8> {
        self.join_key(GROUP, group, "")
    }

    pub fn tag_key(&self, tag: &[u8]) -> Vec<u8> {
        self.join_key(TAG, tag, "")
    }

    /// The key of the counters of `day:queue`.
    pub fn day_counters_key(&self, day_and_queue: &[u8]) -> Vec<u8> {
        self.join_key(STATS, day_and_queue, "")
    }

    /// A key without the prefix, or the whole key if it does not begin with the prefix.
    pub fn without_prefix<'a>(&self, key: &'a [u8]) -> &'a [u8] {
        self.strip_prefix(key).unwrap_or(key)
    }

    fn strip_prefix<'a>(&self, key: &'a [u8]) -> Option<&'a [u8]> {
        key.strip_prefix(self.prefix.as_bytes())
    }

    /// The ids of the throttles to which a key may belong. `th:a-locks` may be the slots of the throttle `a`, or the
    /// maximum of a throttle `a-locks`.
    pub(crate) fn possible_throttle_ids_of_key<'a>(
        &self,
        key: &'a [u8],
    ) -> impl Iterator<Item = &'a [u8]> {
        let id = self.strip_prefix(key);
        let id = id.and_then(|key| key.strip_prefix(THROTTLE.as_bytes()));
        let owner = [LOCKS, PENDING].into_iter().find_map(|suffix| {
            let owner = id?.strip_suffix(suffix.as_bytes())?;
            (!owner.is_empty()).then_some(owner)
        });
        id.into_iter().chain(owner)
    }

    pub fn family_of_key<'a>(&self, key: &'a [u8]) -> KeyFamily<'a> {
        let Some(key) = self.strip_prefix(key) else {
            return KeyFamily::Unknown;
        };
        let rest_after = |start: &str| key.strip_prefix(start.as_bytes());
        if let Some(jid) = rest_after(JOB) {
            let companion = JobCompanionKey::VARIANTS.iter().find_map(|which| {
                let owner = jid.strip_suffix(which.suffix().as_bytes())?;
                Some(KeyFamily::Companion(*which, owner))
            });
            return companion.unwrap_or(KeyFamily::Job(jid));
        }
        if let Some(queue) = rest_after(QUEUE) {
            let part = QueueKey::VARIANTS.iter().find_map(|part| {
                let queue = queue.strip_suffix(part.suffix().as_bytes())?;
                Some(KeyFamily::Queue(*part, queue))
            });
            let completed = queue.strip_suffix(COMPLETED_IN.as_bytes());
            let completed = completed.map(KeyFamily::CompletedIn);
            return part.or(completed).unwrap_or(KeyFamily::Unknown);
        }
        if let Some(worker) = rest_after(WORKER) {
            let worker = worker.strip_suffix(HELD.as_bytes());
            return worker.map_or(KeyFamily::Unknown, KeyFamily::Worker);
        }
        if let Some(id) = rest_after(THROTTLE) {
            let slots = id
                .strip_suffix(LOCKS.as_bytes())
                .map(KeyFamily::ThrottleSlots);
            let pending = id
                .strip_suffix(PENDING.as_bytes())
                .map(KeyFamily::ThrottlePending);
            return slots.or(pending).unwrap_or(KeyFamily::Throttle(id));
        }
        if let Some(of) = rest_after(STATS).filter(|of| begins_with_day(of)) {
            return KeyFamily::DayCounters(of);
        }
        if [WAIT, RUN]
            .iter()
            .any(|start| rest_after(start).is_some_and(begins_with_day))
        {
            return KeyFamily::DayDurations;
        }
        type Named<'a> = fn(&'a [u8]) -> KeyFamily<'a>;
        let named: [(&str, Named<'a>); 7] = [
            (RECURRING, KeyFamily::Recurring),
            (TAG, KeyFamily::Tag),
            (GROUP, KeyFamily::Group),
            (LANE, KeyFamily::Lane),
            (WINDOW, KeyFamily::Window),
            (LOST, |_| KeyFamily::Lost),
            (TOPICS, |_| KeyFamily::Topics),
        ];
        let named = named
            .iter()
            .find_map(|(start, family)| rest_after(start).map(family));
        let single = SINGLE.iter().find(|(name, _)| name.as_bytes() == key);
        let single = single.map(|(_, family)| *family);
        named.or(single).unwrap_or(KeyFamily::Unknown)
    }
}

/// Whether the rest of a key begins with a day, in seconds since the epoch and maybe negative: `-86400:queue`.
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
            ("ql:j:a-b", KeyFamily::Job(b"a-b")),
            (
                "ql:j:a-history",
                KeyFamily::Companion(JobCompanionKey::History, b"a"),
            ),
            (
                "ql:j:-dependents",
                KeyFamily::Companion(JobCompanionKey::Dependents, b""),
            ),
            ("ql:q:a-b-work", KeyFamily::Queue(QueueKey::Work, b"a-b")),
            ("ql:q:a-b", KeyFamily::Unknown),
            ("ql:w:me:jobs", KeyFamily::Worker(b"me")),
            ("ql:w:me", KeyFamily::Unknown),
            ("ql:f:", KeyFamily::Group(b"")),
            (
                "ql:j:a-payloads",
                KeyFamily::Companion(JobCompanionKey::Payloads, b"a"),
            ),
            (
                "ql:q:q-throttled",
                KeyFamily::Queue(QueueKey::Throttled, b"q"),
            ),
            ("ql:th:ql:q:a", KeyFamily::Throttle(b"ql:q:a")),
            ("ql:throttles", KeyFamily::Throttles),
            ("ql:th:a-locks", KeyFamily::ThrottleSlots(b"a")),
            ("ql:th:a-pending", KeyFamily::ThrottlePending(b"a")),
            ("ql:k:q/a-locks", KeyFamily::Lane(b"q/a-locks")),
            ("ql:u:/a", KeyFamily::Window(b"/a")),
            ("ql:fence", KeyFamily::Fence),
            ("ql:s:wait:0:q", KeyFamily::DayDurations),
            ("ql:s:run:-86400:q:r", KeyFamily::DayDurations),
            ("ql:s:stats:86400:q", KeyFamily::DayCounters(b"86400:q")),
            ("ql:s:stats:x:q", KeyFamily::Unknown),
            ("ql:s:other:0:q", KeyFamily::Unknown),
            ("ql:queues", KeyFamily::Queues),
            ("ql:queues2", KeyFamily::Unknown),
            ("ql:qp:identifiers", KeyFamily::IdentifierPatterns),
            ("ql:qp:priorities", KeyFamily::PriorityPatterns),
            ("ql:releasing", KeyFamily::Releasing),
            ("ql:qp:other", KeyFamily::Unknown),
            ("ql:failed-jobs-list", KeyFamily::FailedTimes),
            ("ql:q:a-completed", KeyFamily::CompletedIn(b"a")),
            ("ql:topicsmail", KeyFamily::Topics),
            ("ql:subscriptions", KeyFamily::Subscriptions),
            ("ql:lost:run:j:a", KeyFamily::Lost),
            ("other", KeyFamily::Unknown),
        ] {
            assert_eq!(keys.family_of_key(key.as_bytes()), family, "{key}");
        }
    }
}
