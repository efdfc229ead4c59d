//! The names of keys, for the few plain reads that need them. They come from `lua/keys.lua`, through
//! the join. No other Rust module has a key name.

use super::USUAL;
use super::join;

/// The sets of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueSet {
    Work,
    Locks,
    Scheduled,
    Depends,
    Throttled,
    Recur,
}

impl QueueSet {
    pub const ALL: [QueueSet; 6] = [
        QueueSet::Work,
        QueueSet::Locks,
        QueueSet::Scheduled,
        QueueSet::Depends,
        QueueSet::Throttled,
        QueueSet::Recur,
    ];
}

/// The other keys of a job besides its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Companion {
    History,
    Dependencies,
    Dependents,
    Payloads,
}

impl Companion {
    const ALL: [Companion; 4] = [
        Companion::History,
        Companion::Dependencies,
        Companion::Dependents,
        Companion::Payloads,
    ];
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
    /// The jobs with a slot of a throttle, and those that it holds. Belongs to a throttle, unless it
    /// is one whose id has this ending.
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
    /// When jobs failed that are deleted in time.
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

/// All key names with a prefix.
#[derive(Clone, Debug)]
pub struct Keys {
    pub prefix: String,
    pub job: String,
    history: String,
    dependencies: String,
    dependents: String,
    recurring: String,
    queue: String,
    work: String,
    locks: String,
    scheduled: String,
    depends: String,
    recur: String,
    throttled: String,
    completed_in: String,
    payloads: String,
    pub queues: String,
    pub paused: String,
    pub pauses: String,
    pub paused_recurring: String,
    pub workers: String,
    worker: String,
    held: String,
    pub failures: String,
    pub failed_times: String,
    group: String,
    pub completed: String,
    pub tracked: String,
    tag: String,
    pub tags: String,
    wait: String,
    run: String,
    stats: String,
    pub config: String,
    topics: String,
    subscriptions: String,
    identifier_patterns: String,
    priority_patterns: String,
    releasing: String,
    lost: String,
    pub throttle: String,
    pending: String,
    lane: String,
    window: String,
    fence: String,
    /// The channel with the events of all jobs.
    pub log: String,
}

impl Keys {
    /// Returns the channel with what concerns the jobs of a worker.
    pub(crate) fn worker_channel(&self, worker: &str) -> String {
        format!("{}{worker}", self.worker)
    }

    pub fn new(prefix: &str) -> Keys {
        let named = |name: &str| {
            let key = join::keys().find(|(known, _)| *known == name);
            key.map_or_else(String::new, |(_, key)| key.replacen(USUAL, prefix, 1))
        };
        Keys {
            prefix: named("prefix"),
            job: named("job"),
            history: named("history"),
            dependencies: named("dependencies"),
            dependents: named("dependents"),
            recurring: named("recurring"),
            queue: named("queue"),
            work: named("work"),
            locks: named("locks"),
            scheduled: named("scheduled"),
            depends: named("depends"),
            recur: named("recur"),
            throttled: named("throttled"),
            completed_in: named("completed_in"),
            payloads: named("payloads"),
            queues: named("queues"),
            paused: named("paused"),
            pauses: named("pauses"),
            paused_recurring: named("paused_recurring"),
            workers: named("workers"),
            worker: named("worker"),
            held: named("held"),
            failures: named("failures"),
            failed_times: named("failed_times"),
            group: named("group"),
            completed: named("completed"),
            tracked: named("tracked"),
            tag: named("tag"),
            tags: named("tags"),
            wait: named("wait"),
            run: named("run"),
            stats: named("stats"),
            config: named("config"),
            topics: named("topics"),
            subscriptions: named("subscriptions"),
            identifier_patterns: named("identifier_patterns"),
            priority_patterns: named("priority_patterns"),
            releasing: named("releasing"),
            lost: named("lost"),
            throttle: named("throttle"),
            pending: named("pending"),
            lane: named("lane"),
            window: named("window"),
            fence: named("fence"),
            log: named("on_log"),
        }
    }

    pub fn job(&self, jid: &[u8]) -> Vec<u8> {
        [self.job.as_bytes(), jid].concat()
    }

    pub fn companion(&self, which: Companion, jid: &[u8]) -> Vec<u8> {
        [self.job.as_bytes(), jid, self.ending(which).as_bytes()].concat()
    }

    pub fn recurring(&self, id: &[u8]) -> Vec<u8> {
        [self.recurring.as_bytes(), id].concat()
    }

    pub fn queue(&self, part: QueueSet, queue: &[u8]) -> Vec<u8> {
        [self.queue.as_bytes(), queue, self.part(part).as_bytes()].concat()
    }

    /// The key of the complete jobs of a queue, which only qless-php lists.
    pub(crate) fn completed_in(&self, queue: &[u8]) -> Vec<u8> {
        let ending = self.completed_in.as_bytes();
        [self.queue.as_bytes(), queue, ending].concat()
    }

    pub fn worker(&self, worker: &[u8]) -> Vec<u8> {
        [self.worker.as_bytes(), worker, self.held.as_bytes()].concat()
    }

    /// Returns the key of the jobs with a slot of a throttle.
    pub(crate) fn slots(&self, id: &[u8]) -> Vec<u8> {
        [self.throttle.as_bytes(), id, self.locks.as_bytes()].concat()
    }

    /// Returns the key of the jobs that a throttle holds.
    pub(crate) fn pending(&self, id: &[u8]) -> Vec<u8> {
        [self.throttle.as_bytes(), id, self.pending.as_bytes()].concat()
    }

    pub(crate) fn lane(&self, lane: &[u8]) -> Vec<u8> {
        [self.lane.as_bytes(), lane].concat()
    }

    /// Returns the key of the uniqueness window of a lane.
    pub(crate) fn window(&self, lane: &[u8]) -> Vec<u8> {
        [self.window.as_bytes(), lane].concat()
    }

    /// Returns the name for a key that a repair sets aside.
    pub(crate) fn set_aside(&self, run: &str, key: &[u8]) -> Vec<u8> {
        let (lost, run) = (self.lost.as_bytes(), run.as_bytes());
        [lost, run, b":", self.without_prefix(key)].concat()
    }

    pub fn group(&self, group: &[u8]) -> Vec<u8> {
        [self.group.as_bytes(), group].concat()
    }

    pub fn tag(&self, tag: &[u8]) -> Vec<u8> {
        [self.tag.as_bytes(), tag].concat()
    }

    /// Returns the key of the counters of `day:queue`.
    pub fn counters(&self, of: &[u8]) -> Vec<u8> {
        [self.stats.as_bytes(), of].concat()
    }

    /// Returns a key without the prefix.
    pub fn without_prefix<'a>(&self, key: &'a [u8]) -> &'a [u8] {
        key.strip_prefix(self.prefix.as_bytes()).unwrap_or(key)
    }

    /// Returns the ids of the throttles to which a key may belong: an id may have the ending of a list.
    pub(crate) fn throttle_ids<'a>(&self, key: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let id = key.strip_prefix(self.throttle.as_bytes());
        let endings = [&self.locks, &self.pending];
        let owner = endings.into_iter().find_map(|ending| {
            let owner = id?.strip_suffix(ending.as_bytes())?;
            (!owner.is_empty()).then_some(owner)
        });
        id.into_iter().chain(owner)
    }

    /// Returns the family of a key.
    pub fn family<'a>(&self, key: &'a [u8]) -> Family<'a> {
        if let Some(rest) = key.strip_prefix(self.job.as_bytes()) {
            let companion = Companion::ALL.into_iter().find_map(|which| {
                let owner = rest.strip_suffix(self.ending(which).as_bytes())?;
                Some(Family::Companion(which, owner))
            });
            return companion.unwrap_or(Family::Job(rest));
        }
        if let Some(rest) = key.strip_prefix(self.queue.as_bytes()) {
            let part = QueueSet::ALL.into_iter().find_map(|part| {
                let queue = rest.strip_suffix(self.part(part).as_bytes())?;
                Some(Family::Queue(part, queue))
            });
            let completed = || {
                let queue = rest.strip_suffix(self.completed_in.as_bytes())?;
                Some(Family::CompletedIn(queue))
            };
            return part.or_else(completed).unwrap_or(Family::Unknown);
        }
        if let Some(rest) = key.strip_prefix(self.worker.as_bytes()) {
            let worker = rest.strip_suffix(self.held.as_bytes());
            return worker.map_or(Family::Unknown, Family::Worker);
        }
        if let Some(rest) = key.strip_prefix(self.throttle.as_bytes()) {
            if let Some(id) = rest.strip_suffix(self.locks.as_bytes()) {
                return Family::Slots(id);
            }
            let pending = rest.strip_suffix(self.pending.as_bytes());
            return pending.map_or(Family::Throttle(rest), Family::Pending);
        }
        if let Some(rest) = key.strip_prefix(self.stats.as_bytes()) {
            return match begins_with_day(rest) {
                true => Family::Counters(rest),
                false => Family::Unknown,
            };
        }
        for values in [&self.wait, &self.run] {
            if key
                .strip_prefix(values.as_bytes())
                .is_some_and(begins_with_day)
            {
                return Family::Values;
            }
        }
        type Named<'a> = fn(&'a [u8]) -> Family<'a>;
        let named: [(&String, Named<'a>); 7] = [
            (&self.recurring, Family::Recurring),
            (&self.tag, Family::Tag),
            (&self.group, Family::Group),
            (&self.lane, Family::Lane),
            (&self.window, Family::Window),
            (&self.lost, |_| Family::Lost),
            (&self.topics, |_| Family::Topics),
        ];
        for (begin, family) in named {
            if let Some(rest) = key.strip_prefix(begin.as_bytes()) {
                return family(rest);
            }
        }
        let whole = [
            (&self.queues, Family::Queues),
            (&self.paused, Family::Paused),
            (&self.pauses, Family::Pauses),
            (&self.paused_recurring, Family::PausedRecurring),
            (&self.workers, Family::Workers),
            (&self.failures, Family::Failures),
            (&self.failed_times, Family::FailedTimes),
            (&self.subscriptions, Family::Subscriptions),
            (&self.completed, Family::Completed),
            (&self.tracked, Family::Tracked),
            (&self.tags, Family::Tags),
            (&self.config, Family::Config),
            (&self.fence, Family::Fence),
            (&self.identifier_patterns, Family::IdentifierPatterns),
            (&self.priority_patterns, Family::PriorityPatterns),
            (&self.releasing, Family::Releasing),
        ];
        let whole = whole.into_iter().find(|(name, _)| name.as_bytes() == key);
        whole.map_or(Family::Unknown, |(_, family)| family)
    }

    fn ending(&self, which: Companion) -> &str {
        match which {
            Companion::History => &self.history,
            Companion::Dependencies => &self.dependencies,
            Companion::Dependents => &self.dependents,
            Companion::Payloads => &self.payloads,
        }
    }

    fn part(&self, part: QueueSet) -> &str {
        match part {
            QueueSet::Work => &self.work,
            QueueSet::Locks => &self.locks,
            QueueSet::Scheduled => &self.scheduled,
            QueueSet::Depends => &self.depends,
            QueueSet::Throttled => &self.throttled,
            QueueSet::Recur => &self.recur,
        }
    }
}

/// Returns whether the text begins with a day: `-86400:queue`.
fn begins_with_day(rest: &[u8]) -> bool {
    let rest = rest.strip_prefix(b"-").unwrap_or(rest);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && rest.get(digits) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_lua_core() {
        let keys = Keys::new("ql:");
        let made = [
            ("job", keys.job(b"")),
            ("recurring", keys.recurring(b"")),
            ("group", keys.group(b"")),
            ("tag", keys.tag(b"")),
            ("stats", keys.counters(b"")),
            ("worker", keys.worker.clone().into_bytes()),
            ("queue", keys.queue.clone().into_bytes()),
            ("wait", keys.wait.clone().into_bytes()),
            ("run", keys.run.clone().into_bytes()),
            ("lost", keys.lost.clone().into_bytes()),
            ("prefix", keys.prefix.clone().into_bytes()),
            ("queues", keys.queues.clone().into_bytes()),
            ("paused", keys.paused.clone().into_bytes()),
            ("pauses", keys.pauses.clone().into_bytes()),
            (
                "paused_recurring",
                keys.paused_recurring.clone().into_bytes(),
            ),
            ("workers", keys.workers.clone().into_bytes()),
            ("failures", keys.failures.clone().into_bytes()),
            ("failed_times", keys.failed_times.clone().into_bytes()),
            ("completed_in", keys.completed_in.clone().into_bytes()),
            ("topics", keys.topics.clone().into_bytes()),
            ("subscriptions", keys.subscriptions.clone().into_bytes()),
            ("completed", keys.completed.clone().into_bytes()),
            ("tracked", keys.tracked.clone().into_bytes()),
            ("tags", keys.tags.clone().into_bytes()),
            ("config", keys.config.clone().into_bytes()),
            (
                "identifier_patterns",
                keys.identifier_patterns.clone().into_bytes(),
            ),
            (
                "priority_patterns",
                keys.priority_patterns.clone().into_bytes(),
            ),
            ("history", keys.history.clone().into_bytes()),
            ("dependencies", keys.dependencies.clone().into_bytes()),
            ("dependents", keys.dependents.clone().into_bytes()),
            ("work", keys.work.clone().into_bytes()),
            ("locks", keys.locks.clone().into_bytes()),
            ("scheduled", keys.scheduled.clone().into_bytes()),
            ("depends", keys.depends.clone().into_bytes()),
            ("recur", keys.recur.clone().into_bytes()),
            ("held", keys.held.clone().into_bytes()),
            ("throttled", keys.throttled.clone().into_bytes()),
            ("payloads", keys.payloads.clone().into_bytes()),
            ("throttle", keys.throttle.clone().into_bytes()),
            ("pending", keys.pending.clone().into_bytes()),
            ("lane", keys.lane(b"")),
            ("window", keys.window.clone().into_bytes()),
            ("fence", keys.fence.clone().into_bytes()),
            ("releasing", keys.releasing.clone().into_bytes()),
        ];
        // Channels are no keys, and the legacy keys of qmore have no prefix: only Lua reads those.
        let is_made = |name: &str| !name.starts_with("on_") && !name.starts_with("legacy_");
        for (name, key) in join::keys().filter(|(name, _)| is_made(name)) {
            let made = made.iter().find(|(known, _)| *known == name);
            let made = made.map(|(_, key)| key.as_slice());
            assert_eq!(made, Some(key.as_bytes()), "{name}");
        }
        assert_eq!(Keys::new("{t}:").job(b"a"), b"{t}:j:a");
    }

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
