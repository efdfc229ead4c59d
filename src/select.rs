//! Which jobs are meant: selectors, resolved by the cheapest index.
//!
//! A group's list is read first, else the set of a tag, else a queue's sets by state, else the
//! completed jobs. What an index cannot tell is judged by the job itself. Nothing reads the whole
//! keyspace, and no call tells more than a slice.

use std::collections::{HashSet, VecDeque};

use crate::cli::shared::Selector;
use crate::core::Core;
use crate::core::index::{Index, Walk};
use crate::core::job::{MOST, Tell};
use crate::core::unknown;
use crate::error::Error;
use crate::model::job::{Counts, Job, State};
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::model::pattern::Pattern;

/// A set in which jobs are searched.
#[derive(Debug)]
struct Source {
    index: Index,
    /// Whether each of its members is meant, as far as the index knows.
    exact: bool,
    /// Whether what is meant stands first, so that the rest need not be read.
    front: bool,
    /// Whether somebody typed its name, so that nothing of that name is an error.
    typed: bool,
}

impl Source {
    fn new(index: Index, exact: bool) -> Source {
        Source {
            index,
            exact,
            front: false,
            typed: false,
        }
    }
}

/// The jobs that a selector means, slice by slice, in the order in which lists show them.
pub struct Selection<'a> {
    now: Moment,
    tell: Tell,
    selector: &'a Selector,
    states: Vec<State>,
    sources: VecDeque<Source>,
    walk: Option<(Source, Walk)>,
    jids: VecDeque<Name>,
    /// The jobs told so far; empty where no job can come twice.
    told: Option<HashSet<Name>>,
    skip: u64,
    left: u64,
    /// How many there are in the indexes that were begun, if they are exact.
    total: Option<u64>,
    matched: u64,
    ended: bool,
    newest: bool,
    strays: Vec<Stray>,
}

/// What stands in a failure list and does not belong there.
#[derive(Debug)]
pub struct Stray {
    pub jid: Name,
    pub group: Name,
    /// What it is instead; nothing where there is no such job.
    pub job: Option<Job>,
}

/// Returns all jobs that are meant; of a job only what `tell` says is read.
pub fn all(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
    tell: Tell,
) -> Result<Vec<Job>, Error> {
    all_and_strays(core, now, selector, tell).map(|(jobs, _)| jobs)
}

/// Returns all jobs that are meant, and what else stands in the failure lists that were read.
pub fn all_and_strays(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
    tell: Tell,
) -> Result<(Vec<Job>, Vec<Stray>), Error> {
    let mut selection = Selection::open(core, now, selector, tell)?;
    let mut jobs = Vec::new();
    while let Some(mut slice) = selection.next(core)? {
        jobs.append(&mut slice);
    }
    let mut strays = selection.strays;
    if !strays.is_empty() {
        // What is at home in another list that was read is no stray.
        let jids: HashSet<&Name> = jobs.iter().map(|job| &job.jid).collect();
        strays.retain(|stray| !jids.contains(&stray.jid));
    }
    Ok((jobs, strays))
}

impl<'a> Selection<'a> {
    /// Finds the indexes to read. A queue or group that is named plainly and unknown is an error.
    pub fn open(
        core: &mut Core,
        now: Moment,
        selector: &'a Selector,
        tell: Tell,
    ) -> Result<Selection<'a>, Error> {
        let states = selector.meant();
        let sources = sources(core, now, selector, &states)?;
        let told = (sources.len() > 1).then(HashSet::new);
        Ok(Selection {
            now,
            tell,
            selector,
            states,
            sources: sources.into(),
            walk: None,
            jids: VecDeque::new(),
            told,
            skip: selector.offset,
            left: selector.limit.unwrap_or(u64::MAX),
            total: Some(0),
            matched: 0,
            ended: false,
            newest: false,
            strays: Vec::new(),
        })
    }

    /// Reads failure lists from their newest end.
    pub fn newest_first(self, newest: bool) -> Selection<'a> {
        Selection { newest, ..self }
    }

    /// Returns the next jobs; `None` at the end. A slice may be empty.
    pub fn next(&mut self, core: &mut Core) -> Result<Option<Vec<Job>>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        if !self.fill(core)? {
            self.ended = true;
            return Ok(None);
        }
        let Some((source, _)) = &self.walk else {
            return Ok(None);
        };
        let front = source.front;
        let locks = matches!(source.index, Index::Locks(_));
        let group = match &source.index {
            Index::Failed(group) => Some(group.clone()),
            _ => None,
        };
        // Locks are put in order by state, so that slices of one size are looked at.
        let exact = source.exact && !locks;
        // Where every member counts, those before the offset need not be looked at.
        while exact && self.skip > 0 && self.jids.pop_front().is_some() {
            self.skip -= 1;
            self.matched += 1;
        }
        let mut size = MOST as u64;
        if exact {
            size = size.min(self.left);
        }
        let size = (size as usize).min(self.jids.len());
        let slice: Vec<Name> = self.jids.drain(..size).collect();
        let mut jobs: Vec<Job> = Vec::with_capacity(slice.len());
        let tell = match self.tell {
            Tell::Match if exact => Tell::Jid,
            tell => tell,
        };
        let told = core.jobs(self.now, tell, &slice)?;
        for (jid, job) in slice.into_iter().zip(told) {
            match (job, &group) {
                (Some(job), _) if (tell == Tell::Jid || self.means(&job)) && self.first(&job) => {
                    jobs.push(job);
                }
                (job, Some(group)) if job.as_ref().is_none_or(|job| !at_home(job, group)) => {
                    let group = group.clone();
                    self.strays.push(Stray { jid, group, job });
                }
                _ => {}
            }
        }
        if front && jobs.is_empty() {
            self.walk = None;
            self.jids.clear();
        }
        self.matched += jobs.len() as u64;
        if locks {
            jobs.sort_by_key(|job| job.state);
        }
        let skipped = self.skip.min(jobs.len() as u64);
        self.skip -= skipped;
        jobs.drain(..skipped as usize);
        jobs.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= jobs.len() as u64;
        Ok(Some(jobs))
    }

    /// Returns how many jobs match, if that is known without reading on.
    pub fn total(&mut self, core: &mut Core) -> Result<Option<u64>, Error> {
        if self.ended {
            return Ok(Some(self.matched));
        }
        let begun = match &self.walk {
            Some((Source { exact: false, .. }, _)) => return Ok(None),
            Some((_, walk)) => walk.total.unwrap_or(0),
            None => 0,
        };
        if !self.sources.iter().all(|source| source.exact) {
            return Ok(None);
        }
        let rest: Vec<(Index, u64)> = self
            .sources
            .drain(..)
            .map(|source| (source.index, 0))
            .collect();
        let rest: u64 = core
            .parts(self.now, &rest, 0)?
            .iter()
            .map(|part| part.total)
            .sum();
        Ok(self.total.map(|total| total + begun + rest))
    }

    /// Makes sure that there are jids to look at; returns whether there are any.
    fn fill(&mut self, core: &mut Core) -> Result<bool, Error> {
        loop {
            if !self.jids.is_empty() {
                return Ok(true);
            }
            if let Some((source, walk)) = &mut self.walk {
                if let Some(members) = walk.next(core, self.now)? {
                    self.jids.extend(members);
                    continue;
                }
                self.total = match (source.exact, self.total, walk.total) {
                    (true, Some(before), Some(total)) => Some(before + total),
                    _ => None,
                };
                if source.typed && walk.total == Some(0) {
                    unknown::index(core, self.now, &source.index)?;
                }
                self.walk = None;
            }
            let Some(source) = self.sources.pop_front() else {
                return Ok(false);
            };
            let size = match &source {
                Source { front: true, .. } => MOST as u64,
                Source { exact: true, .. } => self.left.saturating_add(self.skip),
                _ => self.left.saturating_add(self.skip).max(MOST as u64),
            };
            let walk = match &source.index {
                Index::Failed(_) if self.newest => Walk::back(source.index.clone(), size),
                index => Walk::new(index.clone(), size),
            };
            self.walk = Some((source, walk));
        }
    }

    fn means(&self, job: &Job) -> bool {
        let nowhere = Name::default();
        let some = |patterns: &[Pattern], name: Option<&Name>| {
            let name = name.unwrap_or(&nowhere);
            patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
        };
        let failure = job.failure.as_ref();
        let age = |since: Moment| self.now.since(since).max(0.0);
        let age = job.since.map(age);
        let selector = self.selector;
        job.state.is_some_and(|state| self.states.contains(&state))
            && some(&selector.queues, job.queue.as_ref())
            && some(&selector.klasses, job.klass.as_ref())
            && some(&selector.held_by, job.worker.as_ref())
            && some(&selector.groups, failure.map(|failure| &failure.group))
            && selector.tags.iter().all(|tag| job.tags.contains(tag))
            && (!selector.tracked || job.tracked)
            && selector
                .older_than
                .is_none_or(|than| age.is_some_and(|age| age >= than.as_secs_f64()))
            && selector
                .newer_than
                .is_none_or(|than| age.is_some_and(|age| age < than.as_secs_f64()))
            && selector.message.as_ref().is_none_or(|wording| {
                failure.is_some_and(|failure| wording.is_in(&failure.message))
            })
            && selector.wheres.iter().all(|equal| equal.fits(job))
    }

    /// Whether a job is met for the first time.
    fn first(&mut self, job: &Job) -> bool {
        self.told
            .as_mut()
            .is_none_or(|told| told.insert(job.jid.clone()))
    }
}

/// Returns whether a job belongs into the list of a group.
fn at_home(job: &Job, group: &Name) -> bool {
    let failure = job.failure.as_ref();
    job.state == Some(State::Failed) && failure.is_some_and(|failure| failure.group == *group)
}

/// Returns the sets to search, the cheapest that hold all that is meant.
fn sources(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
    states: &[State],
) -> Result<Vec<Source>, Error> {
    let (queues, groups, tags) = (&selector.queues, &selector.groups, &selector.tags);
    if states.is_empty() {
        return Ok(Vec::new());
    }
    if !groups.is_empty() {
        return failed(core, now, selector);
    }
    if !tags.is_empty() {
        let exact = tags.len() == 1 && selector.only_tag();
        return Ok(vec![Source::new(smallest(core, now, tags)?, exact)]);
    }
    let mut sources = queued(core, now, selector, states)?;
    for source in &mut sources {
        source.exact &= selector.only_queue();
    }
    if states.contains(&State::Failed) {
        sources.append(&mut failed(core, now, selector)?);
    }
    // A complete job is in no queue.
    let nowhere = Name::default();
    let anywhere = queues.is_empty() || queues.iter().any(|pattern| pattern.matches(&nowhere));
    if states.contains(&State::Complete) && anywhere {
        sources.push(Source::new(Index::Complete, selector.only_queue()));
    }
    Ok(sources)
}

/// Returns the lists of the groups that are meant; of all groups where none is named.
fn failed(core: &mut Core, now: Moment, selector: &Selector) -> Result<Vec<Source>, Error> {
    let groups = &selector.groups;
    let exact = selector.only_group();
    let list = |group: Name| Source::new(Index::Failed(group), exact);
    let plain: Vec<&Name> = groups
        .iter()
        .filter_map(|pattern| pattern.plain())
        .collect();
    if !groups.is_empty() && plain.len() == groups.len() {
        let lists = plain.into_iter().map(|group| Source {
            typed: true,
            ..list(group.clone())
        });
        return Ok(lists.collect());
    }
    let known = core.members(now, &Index::Groups)?;
    if let Some(stranger) = plain.into_iter().find(|group| !known.contains(group)) {
        return Err(unknown::error("group", stranger, &known));
    }
    let fits = |group: &Name| groups.is_empty() || groups.iter().any(|glob| glob.matches(group));
    Ok(known.into_iter().filter(fits).map(list).collect())
}

/// Returns the set of the tag that the fewest jobs carry.
fn smallest(core: &mut Core, now: Moment, tags: &[Name]) -> Result<Index, Error> {
    let mut sets: Vec<Index> = tags.iter().map(|tag| Index::Tag(tag.clone())).collect();
    if sets.len() > 1 {
        let wanted: Vec<(Index, u64)> = sets.iter().map(|set| (set.clone(), 0)).collect();
        let parts = core.parts(now, &wanted, 0)?;
        let least = (0..parts.len())
            .min_by_key(|&at| parts[at].total)
            .unwrap_or(0);
        sets.swap(0, least);
    }
    Ok(sets.swap_remove(0))
}

/// Returns the sets of the queues that hold jobs in the states that are meant.
fn queued(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
    states: &[State],
) -> Result<Vec<Source>, Error> {
    use State::{Complete, Depends, Failed, Running, Scheduled, Stalled, Waiting};

    let wants = |state: State| states.contains(&state);
    // Jobs whose lock was taken away stand before all others that wait.
    let front = wants(Stalled) && !wants(Waiting);
    let sets = |queue: &Name, holds: &dyn Fn(State) -> bool| {
        let set = |index: fn(Name) -> Index, exact| Source::new(index(queue.clone()), exact);
        let found = |states: &[State]| states.iter().any(|&state| wants(state) && holds(state));
        let all = |states: &[State]| states.iter().all(|&state| wants(state));
        let mut sets = Vec::new();
        if found(&[Running, Stalled]) {
            sets.push(set(Index::Locks, all(&[Running, Stalled])));
        }
        if found(&[Waiting, Stalled]) {
            let exact = all(&[Waiting, Stalled]);
            sets.push(Source {
                front,
                ..set(Index::Waiting, exact)
            });
        }
        if found(&[Scheduled]) {
            sets.push(set(Index::Scheduled, true));
        }
        if found(&[Depends]) {
            sets.push(set(Index::Depends, true));
        }
        sets
    };
    if !State::QUEUED.into_iter().any(wants) {
        return Ok(Vec::new());
    }
    if let [pattern] = selector.queues.as_slice()
        && let Some(queue) = pattern.plain()
    {
        // One set: whether the queue is known is asked only if nothing is there.
        let mut sets = sets(queue, &|_| true);
        if sets.len() == 1 {
            sets.iter_mut().for_each(|set| set.typed = true);
            return Ok(sets);
        }
    }
    let found = core.queues_like(now, &selector.queues)?;
    let sets = found.iter().flat_map(|queue| {
        sets(&queue.name, &|state| match state {
            Running => queue.running > 0,
            Stalled => queue.stalled > 0,
            Waiting => queue.waiting > 0,
            // Jobs that are due count as waiting and are still in the set of the scheduled ones.
            Scheduled => queue.scheduled + queue.waiting > 0,
            Depends => queue.depends > 0,
            Failed | Complete => false,
        })
    });
    Ok(sets.collect())
}

/// Counts the jobs that are meant, by state.
pub fn count(core: &mut Core, now: Moment, selector: &Selector) -> Result<Counts, Error> {
    let mut counts = Counts::default();
    let nothing = selector.is_empty();
    let states = if nothing {
        State::ALL.to_vec()
    } else {
        selector.meant()
    };
    let simple = selector.only_queue();
    if simple && states.iter().any(|state| State::QUEUED.contains(state)) {
        for queue in core.queues_like(now, &selector.queues)? {
            counts.waiting += queue.waiting;
            counts.running += queue.running;
            counts.stalled += queue.stalled;
            counts.scheduled += queue.scheduled;
            counts.depends += queue.depends;
        }
    }
    if simple && selector.queues.is_empty() {
        if states.contains(&State::Failed) {
            counts.failed = core.failed_counts(now)?.iter().map(|(_, jobs)| jobs).sum();
        }
        if states.contains(&State::Complete) {
            counts.complete = core.index(now, &Index::Complete, 0, 0)?.total;
        }
    }
    for state in State::ALL
        .into_iter()
        .filter(|state| !states.contains(state))
    {
        *counts.of(state) = 0;
    }
    // What no index counts is counted job by job.
    let rest: Vec<State> = states
        .into_iter()
        .filter(|state| !simple || !selector.queues.is_empty() && !State::QUEUED.contains(state))
        .collect();
    if rest.is_empty() {
        return Ok(counts);
    }
    let mut selector = selector.clone();
    (selector.states, selector.all) = (rest, false);
    let rest = selector;
    let mut selection = Selection::open(core, now, &rest, Tell::Mark)?;
    while let Some(jobs) = selection.next(core)? {
        for state in jobs.iter().filter_map(|job| job.state) {
            *counts.of(state) += 1;
        }
    }
    Ok(counts)
}
