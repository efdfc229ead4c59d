//! The queues of a worker, and in which order the next jobs are popped from them.
//!
//! [`WorkerQueues`] belongs to the thread of the calls: it finds the queues, and sorts them by lags or patterns that
//! the server has. [`QueueRotation`] makes no call: the machine takes from it the queues of the next call.

use std::collections::{BTreeSet, HashMap, HashSet};

use clap::ValueEnum;

use super::MAX_NAMED;
use super::options::WorkOptions;
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::model::queue::Queue;
use crate::model::queue_patterns::{PriorityBucket, QueueIdentifierPatterns, sort_by_priority};
use crate::model::work::PoppedJob;
use crate::model::work_queue::{PatternOrIdentifier, QueueSelector};
use crate::name::Name;
use crate::session::Session;
use crate::text::{format_count, format_duration};

/// The lock and the grace period of a queue without settings, in seconds.
const HEARTBEAT: f64 = 60.0;
const GRACE: f64 = 10.0;

/// Maximum number of queues of one finish-and-pop call. A worker with more queues first asks the server which of them
/// have jobs, and pops only from these.
pub(super) const MAX_QUEUES: usize = 500;

/// The queues of a worker: as given, as last found, and in which order a call pops from them.
#[derive(Debug)]
pub(super) struct WorkerQueues {
    selectors: Vec<QueueSelector>,
    order: QueueOrder,
    /// The queues that were found, with their weights.
    pub found: Vec<(Name, u32)>,
    /// With [`QueueOrder::Patterns`], the queues as the stored priority patterns group them. The queues of a fair bucket
    /// take turns, by its [`QueueRotation`].
    buckets: Vec<(PriorityBucket, Option<QueueRotation>)>,
    /// Identifiers for which no pattern is stored.
    pub missing: Vec<Name>,
    /// Whether the server's list of queues was read, to find the queues of globs and stored patterns.
    pub are_known: bool,
    /// The queues that the server does not list. All queues, if its list was not read.
    pub unlisted: Vec<Name>,
}

/// Reads the state and the counts of queues. A key of a wrong type is not an error.
pub(super) fn read_queues(
    core: &mut Core,
    now: Moment,
    names: &[Name],
) -> Result<Vec<Queue>, Error> {
    // Do not call without names: the core would return all queues.
    if names.is_empty() {
        return Ok(Vec::new());
    }
    core.queues_including_unreadable(now, names)
}

impl WorkerQueues {
    pub(super) fn find(
        selectors: Vec<QueueSelector>,
        order: QueueOrder,
        core: &mut Core,
    ) -> Result<WorkerQueues, Error> {
        let mut queues = WorkerQueues {
            selectors,
            order,
            found: Vec::new(),
            buckets: Vec::new(),
            missing: Vec::new(),
            are_known: false,
            unlisted: Vec::new(),
        };
        queues.find_again(core)?;
        Ok(queues)
    }

    pub(super) fn names(&self) -> Vec<Name> {
        self.found.iter().map(|(queue, _)| queue.clone()).collect()
    }

    /// Whether the queues or their order may change while the worker runs.
    pub(super) fn may_change(&self) -> bool {
        self.order == QueueOrder::Patterns
            || self.has_globs()
            || self.uses_stored_identifier_patterns()
    }

    fn has_globs(&self) -> bool {
        let mut included = self.selectors.iter().filter(|queue| !queue.is_excluded);
        included.any(|queue| queue.as_plain_name().is_none())
    }

    fn uses_stored_identifier_patterns(&self) -> bool {
        let mut queues = self.selectors.iter();
        queues.any(|queue| matches!(queue.names, PatternOrIdentifier::Stored(_)))
    }

    /// Finds the queues. The queues of a glob are sorted by name. Makes no call if there are no globs and no stored
    /// patterns. After an error, keeps the queues of the last search.
    pub(super) fn find_again(&mut self, core: &mut Core) -> Result<(), Error> {
        let (mut known, mut identifiers) = (Vec::new(), QueueIdentifierPatterns::default());
        let are_known = self.has_globs() || self.uses_stored_identifier_patterns();
        if are_known {
            known = core.index_members(core.now(), &Index::Queues)?;
            known.sort_unstable();
        }
        let by_patterns = self.order == QueueOrder::Patterns;
        if by_patterns || self.uses_stored_identifier_patterns() {
            identifiers = core.queue_identifier_patterns(core.now())?;
        }
        let found = identifiers.select_queues_with_weights(&self.selectors, &known);
        if by_patterns {
            let patterns = core.queue_priority_patterns(core.now())?;
            self.replace_buckets_keeping_rotation(sort_by_priority(
                &found,
                &patterns,
                &identifiers,
            ));
        }
        let missing = identifiers.missing_identifiers(&self.selectors);
        self.missing = missing.into_iter().cloned().collect();
        let is_listed = |queue: &Name| known.binary_search(queue).is_ok();
        let unlisted = found.iter().map(|(queue, _)| queue);
        let unlisted = unlisted.filter(|queue| !is_listed(queue)).cloned();
        self.unlisted = unlisted.collect();
        self.are_known = are_known;
        self.found = found;
        Ok(())
    }

    /// Replaces the buckets. The rotation of each fair bucket goes on with the queue that was next.
    fn replace_buckets_keeping_rotation(&mut self, new: Vec<PriorityBucket>) {
        let mut old = std::mem::take(&mut self.buckets).into_iter();
        for bucket in new {
            let kept = old.next().and_then(|(_, rotation)| rotation);
            let rotation = bucket.is_fair.then(|| match kept {
                Some(mut rotation) => {
                    rotation.set_queues_if_changed(bucket.queues.clone());
                    rotation
                }
                None => QueueRotation::new(QueueOrder::RoundRobin, bucket.queues.clone()),
            });
            self.buckets.push((bucket, rotation));
        }
    }

    /// The queues of a call in the order of the pop, each with its limit of jobs. The queues of a fair bucket come twice:
    /// first with their shares of `max_jobs`, then without a share, so that other queues take what one leaves. If the lags
    /// cannot be read, the queues stay as they are: the call itself then reports the problem of the server or a queue.
    pub(super) fn pop_order_and_limits(
        &mut self,
        core: &mut Core,
        max_jobs: u64,
        requested: Vec<(Name, u64)>,
    ) -> Vec<(Name, u64)> {
        match self.order {
            _ if requested.len() < 2 => requested,
            QueueOrder::Ordered | QueueOrder::RoundRobin => requested,
            QueueOrder::Lag => {
                let names: Vec<Name> = requested.iter().map(|(queue, _)| queue.clone()).collect();
                let Ok(lags) = core.seconds_since_poppable(core.now(), &names) else {
                    return requested;
                };
                let mut queues: Vec<(f64, (Name, u64))> = lags.into_iter().zip(requested).collect();
                // Queues without a lag come last. They are popped all the same, since a pop puts due recurring jobs.
                queues.sort_by(|(one, _), (other, _)| other.total_cmp(one));
                queues.into_iter().map(|(_, queue)| queue).collect()
            }
            QueueOrder::Patterns => {
                let mut order = Vec::with_capacity(requested.len());
                let names: Vec<Name> = requested.iter().map(|(name, _)| name.clone()).collect();
                for (bucket, rotation) in &mut self.buckets {
                    if let Some(rotation) = rotation {
                        rotation.set_ready_queues(&names);
                    }
                    let names = bucket.queues.iter().map(|(name, _)| name);
                    let all = names.map(|name| (name.clone(), max_jobs));
                    match rotation {
                        None => order.extend(all),
                        Some(rotation) => {
                            let shares = rotation.queues_to_pop(max_jobs);
                            // List the queues of the bucket twice: with their shares, then without a limit. If a queue
                            // has fewer jobs than its share, the others give the rest before the next bucket.
                            if max_jobs == 1 || shares.len() == 1 {
                                order.extend(shares);
                            } else if 2 * requested.len() <= MAX_QUEUES {
                                order.extend(shares);
                                order.extend(all);
                            } else {
                                order.extend(shares.into_iter().map(|(name, _)| (name, max_jobs)));
                            }
                        }
                    }
                }
                let mut new: HashSet<&Name> = requested.iter().map(|(name, _)| name).collect();
                order.retain(|(name, _)| new.contains(name));
                order.iter().for_each(|(name, _)| _ = new.remove(name));
                let new = requested.iter().filter(|(name, _)| new.contains(name));
                order.extend(new.cloned());
                order
            }
        }
    }

    /// Advances the rotations past the queues of the popped jobs.
    pub(super) fn advance_past_popped(&mut self, jobs: &[PoppedJob]) {
        let rotations = self.buckets.iter_mut().flat_map(|(_, rotation)| rotation);
        for rotation in rotations {
            rotation.advance_past(jobs.iter().map(|job| &job.queue));
        }
    }
}

/// Refuses `--heartbeat` if it is not shorter than the locks of a queue. Prints a note if a lock is shorter than a call
/// may take. Returns the grace period in seconds.
pub(super) fn check_heartbeat_and_read_grace_seconds(
    options: &WorkOptions,
    queues: &[(Name, u32)],
    session: &mut Session,
) -> Result<f64, Error> {
    let timeout = session.timeout();
    let (core, ui) = session.core_and_ui()?;
    let settings = core.config(core.now())?;
    let settings = settings.iter();
    let settings: HashMap<&[u8], &Name> = settings
        .map(|option| (option.key.as_bytes(), &option.value))
        .collect();
    let number = |key: &[u8]| {
        let text = std::str::from_utf8(settings.get(key)?.as_bytes()).ok()?;
        text.parse::<f64>().ok().filter(|value| value.is_finite())
    };
    let mut short = None;
    for (queue, _) in queues {
        let own = number(&[queue.as_bytes(), b"-heartbeat"].concat());
        let lock = own.or_else(|| number(b"heartbeat")).unwrap_or(HEARTBEAT);
        if lock < timeout.as_secs_f64() && short.is_none() {
            short = Some((queue, lock));
        }
        let interval = options.heartbeat.map(|interval| interval.as_secs_f64());
        if let Some(interval) = interval.filter(|interval| *interval >= lock) {
            return Err(Error::usage(format!(
                "`--heartbeat {}` is too long: a lock of queue `{queue}` lasts {}",
                format_duration(interval),
                format_duration(lock)
            ))
            .hint("without `--heartbeat`, a lock is extended three times before it expires"));
        }
    }
    if let Some((queue, lock)) = short {
        ui.note(&format!(
            "note: a lock of queue `{queue}` lasts {}, and a call may take {}: a server that replies \
             slowly costs locks; `--timeout` shortens that",
            format_duration(lock),
            format_duration(timeout.as_secs_f64())
        ));
    }
    Ok(number(b"grace-period").unwrap_or(GRACE))
}

/// Prints notes about queues from which no job may come: they do not exist yet, or are paused. Also prints a note if
/// the worker pops from the queue of `--next`, too.
pub(super) fn note_missing_and_paused_queues(
    queues: &WorkerQueues,
    options: &WorkOptions,
    session: &mut Session,
) -> Result<(), Error> {
    let (core, ui) = session.core_and_ui()?;
    let now = core.now();
    let waits = !options.drain;
    let waiting_for = |what| {
        if waits {
            format!("; waiting for {what}")
        } else {
            String::new()
        }
    };
    for name in &queues.missing {
        let wait = waiting_for("it");
        ui.note(&format!(
            "note: no identifier pattern `{name}` is stored{wait}"
        ));
    }
    let names = queues.names();
    let read = read_queues(core, now, &names)?;
    let missing: Vec<&Queue> = read.iter().filter(|queue| !queue.exists()).collect();
    for queue in missing.iter().take(MAX_NAMED) {
        match core.require_queue(now, &queue.name) {
            Err(error) if error.kind() == Kind::NotFound => {
                let what = if waits {
                    waiting_for("it")
                } else {
                    ", so it is empty".to_owned()
                };
                let hint = error.hint_text().map(|hint| format!("; {hint}"));
                let hint = hint.unwrap_or_default();
                ui.note(&format!("note: {}{what}{hint}", error.message()));
            }
            named => named?,
        }
    }
    let more = missing.len().saturating_sub(MAX_NAMED) as u64;
    if more > 0 {
        let more = format_count(more, "further queue does", "further queues do");
        let wait = waiting_for("them");
        ui.note(&format!("note: {more} not exist{wait}"));
    }
    let paused: Vec<&Queue> = read.iter().filter(|queue| queue.paused).collect();
    for queue in paused.iter().take(MAX_NAMED) {
        ui.note(&format!(
            "note: {}",
            queue.paused_sentence_with_unpause_command()
        ));
    }
    let more = paused.len().saturating_sub(MAX_NAMED) as u64;
    if more > 0 {
        let more = format_count(more, "further queue is", "further queues are");
        ui.note(&format!("note: {more} paused"));
    }
    if let Some(next) = options.next.as_ref().filter(|next| names.contains(next)) {
        ui.note(&format!(
            "note: queue `{next}` of `--next` is popped, too: this worker gets each completed job again"
        ));
    }
    if queues.found.is_empty() {
        let wait = waiting_for("one");
        ui.note(&format!("note: no queue matches{wait}"));
    }
    Ok(())
}

/// From which queue the next job is popped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum QueueOrder {
    /// Pop from the first queue that has a job
    Ordered,
    /// Pop from each queue in turn, by weight
    RoundRobin,
    /// Pop from the queue whose oldest due job has been due for longest
    Lag,
    /// Pop in the order of the stored priority patterns
    Patterns,
}

/// The queues of a worker, and the queue that comes next.
#[derive(Clone, Debug)]
pub struct QueueRotation {
    order: QueueOrder,
    /// The queues with their weights.
    queues: Vec<(Name, u32)>,
    /// Where each of them is in `queues`.
    positions: HashMap<Name, usize>,
    /// The queues that may have jobs, as indexes of `queues`. `None` if there are few queues: then the worker pops from
    /// each.
    ready: Option<BTreeSet<usize>>,
    /// The order of the rotation, as indexes of `queues`. A queue of weight 3 has three places.
    places: Vec<usize>,
    /// The place of `places` that comes next.
    next: usize,
}

impl QueueRotation {
    pub fn new(order: QueueOrder, queues: Vec<(Name, u32)>) -> QueueRotation {
        let mut rotation = QueueRotation {
            order,
            queues: Vec::new(),
            positions: HashMap::new(),
            ready: None,
            places: Vec::new(),
            next: 0,
        };
        rotation.set_queues_if_changed(queues);
        rotation
    }

    /// Replaces the queues. The rotation goes on with the queue that was next, if it is still there. Returns false, and
    /// does nothing, if the queues have not changed.
    pub fn set_queues_if_changed(&mut self, queues: Vec<(Name, u32)>) -> bool {
        if queues == self.queues {
            return false;
        }
        let whose = self
            .places
            .get(self.next)
            .map(|&at| self.queues[at].0.clone());
        self.places = queues
            .iter()
            .enumerate()
            .flat_map(|(at, (_, weight))| std::iter::repeat_n(at, (*weight).max(1) as usize))
            .collect();
        let positions = queues.iter().enumerate();
        self.positions = positions
            .map(|(at, (name, _))| (name.clone(), at))
            .collect();
        self.ready = (queues.len() > MAX_QUEUES).then(BTreeSet::new);
        self.queues = queues;
        let is_next = |at: &usize| Some(&self.queues[*at].0) == whose.as_ref();
        self.next = self.places.iter().position(is_next).unwrap_or(0);
        true
    }

    /// Whether the queues take turns. Else they have the order in which they were given, or the thread of the calls
    /// sorts them by lag or by patterns.
    pub fn is_round_robin(&self) -> bool {
        self.order == QueueOrder::RoundRobin
    }

    pub fn contains_queue(&self, queue: &Name) -> bool {
        self.positions.contains_key(queue)
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether the worker pops only from queues in which the server reported jobs, because there are too many queues.
    pub fn is_limited_to_ready_queues(&self) -> bool {
        self.ready.is_some()
    }

    /// Whether a queue in which the server has reported jobs may still have some.
    pub fn has_ready_queues(&self) -> bool {
        self.ready.as_ref().is_some_and(|ready| !ready.is_empty())
    }

    /// Replaces the queues that may have jobs.
    pub fn set_ready_queues(&mut self, queues: &[Name]) {
        if let Some(ready) = &mut self.ready {
            let known = queues.iter().filter_map(|queue| self.positions.get(queue));
            *ready = known.copied().collect();
        }
    }

    /// Notes that a queue may have jobs.
    pub fn add_ready_queue(&mut self, queue: &Name) {
        if let (Some(ready), Some(at)) = (&mut self.ready, self.positions.get(queue)) {
            ready.insert(*at);
        }
    }

    /// Notes that these queues had no more jobs.
    pub fn remove_ready_queues(&mut self, queues: &[Name]) {
        if let Some(ready) = &mut self.ready {
            for queue in queues {
                if let Some(at) = self.positions.get(queue) {
                    ready.remove(at);
                }
            }
        }
    }

    /// The queues to pop from, in order, and the maximum number of jobs from each. The sum of these may be more than
    /// `max_jobs`. If no queue is known to have jobs, the next queue is returned, since a pop keeps the worker listed.
    pub fn queues_to_pop(&self, max_jobs: u64) -> Vec<(Name, u64)> {
        let ready = self.ready.as_ref();
        let Some(&next) = self.places.get(self.next) else {
            return Vec::new();
        };
        if ready.is_some_and(BTreeSet::is_empty) {
            return vec![(self.queues[next].0.clone(), max_jobs)];
        }
        if !self.is_round_robin() {
            let all = |at: usize| (self.queues[at].0.clone(), max_jobs);
            return match ready {
                Some(ready) => ready.iter().copied().map(all).collect(),
                None => (0..self.queues.len()).map(all).collect(),
            };
        }
        let (before, after) = self.places.split_at(self.next);
        let places = after.iter().chain(before);
        let places = places.filter(|at| ready.is_none_or(|ready| ready.contains(at)));
        let places: Vec<usize> = places.copied().collect();
        let length = places.len() as u64;
        let mut request: Vec<(usize, u64)> = Vec::new();
        let mut requested: Vec<Option<usize>> = vec![None; self.queues.len()];
        for (step, queue) in places.into_iter().enumerate() {
            // How often this place of the rotation comes among the next `max_jobs` places.
            let share = max_jobs / length + u64::from((step as u64) < max_jobs % length);
            match requested[queue] {
                Some(at) => request[at].1 += share,
                None => {
                    requested[queue] = Some(request.len());
                    request.push((queue, share));
                }
            }
        }
        // Pop at least one job from each queue, even if its share is 0, in case the other queues are empty.
        let name = |(queue, count): (usize, u64)| (self.queues[queue].0.clone(), count.max(1));
        request.into_iter().map(name).collect()
    }

    /// Notes from which queues jobs came.
    pub fn advance_past<'a>(&mut self, queues: impl Iterator<Item = &'a Name>) {
        if !self.is_round_robin() || self.places.is_empty() {
            return;
        }
        let mut left: HashMap<usize, usize> = HashMap::new();
        let mut count = 0;
        for at in queues.filter_map(|queue| self.positions.get(queue)) {
            *left.entry(*at).or_default() += 1;
            count += 1;
        }
        let mut place = self.next;
        while count > 0 {
            let queue = self.places[place];
            place = (place + 1) % self.places.len();
            if let Some(left) = left.get_mut(&queue).filter(|left| **left > 0) {
                *left -= 1;
                count -= 1;
                self.next = place;
            }
        }
    }
}
