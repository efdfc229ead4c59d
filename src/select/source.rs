//! The sources of a search: the cheapest sets that contain all jobs that may match.

use super::JobSearch;
use super::filter::JobFilter;
use crate::args::shared::Selector;
use crate::clock::moment::Moment;
use crate::core::api::index::{Index, IndexReader};
use crate::core::api::page::JobScan;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::ending::exhausted_retries_group;
use crate::model::job::State;
use crate::model::pattern::{NamePattern, passes_filter};
use crate::model::queue::Queue;
use crate::name::Name;

/// A set that is searched for jobs.
pub(super) struct SearchedJidSet {
    reader: JidReader,
    /// Whether every member matches the selector, unless the index is damaged.
    pub is_exact: bool,
    /// Whether all matching members are at the start of the set, so that the rest need not be read.
    pub matches_first: bool,
    /// Whether the command line names the queue or group of the index, so that an unknown name is an error.
    pub is_given: bool,
}

enum JidReader {
    Index(IndexReader),
    /// `None` once the jids were returned.
    Listed(Option<Vec<Name>>),
    AllJobs(JobScan),
}

impl SearchedJidSet {
    fn of_index(index: Index, is_exact: bool) -> SearchedJidSet {
        // The search sets the size of a range when it begins to read the set.
        let reader = JidReader::Index(IndexReader::forward(index, 0));
        SearchedJidSet {
            is_exact,
            ..SearchedJidSet::new(reader)
        }
    }

    /// A set whose members need not all match.
    fn new(reader: JidReader) -> SearchedJidSet {
        SearchedJidSet {
            reader,
            is_exact: false,
            matches_first: false,
            is_given: false,
        }
    }

    /// The index that is read. `None` if the set is all jobs, or jids that were already read.
    pub(super) fn index(&self) -> Option<&Index> {
        match &self.reader {
            JidReader::Index(reader) => Some(&reader.index),
            _ => None,
        }
    }

    /// Whether the set is all jobs, which requires a scan of all keys.
    pub(super) fn is_all_jobs(&self) -> bool {
        matches!(self.reader, JidReader::AllJobs(_))
    }

    /// Reads an index in ranges of up to `size` members. Only failure lists can be read from the newest member on.
    pub(super) fn set_range_size_and_order(&mut self, size: u64, is_newest_first: bool) {
        if let JidReader::Index(reader) = &mut self.reader {
            let index = reader.index.clone();
            *reader = if is_newest_first && matches!(index, Index::Failed(_)) {
                IndexReader::backward(index, size)
            } else {
                IndexReader::forward(index, size)
            };
        }
    }

    /// The next jids of the set; `None` at the end.
    pub(super) fn next_jids(
        &mut self,
        core: &mut Core,
        now: Moment,
    ) -> Result<Option<Vec<Name>>, Error> {
        match &mut self.reader {
            JidReader::Index(reader) => reader.next_members(core, now),
            JidReader::Listed(jids) => Ok(jids.take()),
            JidReader::AllJobs(scan) => scan.jids_of_next_scan_step(core, now),
        }
    }

    /// The number of all members, once a part of an index was read.
    pub(super) fn total_jids(&self) -> Option<u64> {
        match &self.reader {
            JidReader::Index(reader) => reader.total,
            _ => None,
        }
    }
}

impl JobSearch<'_> {
    /// Chooses the sets to search for the jobs that match the selector. Fails if the selector names a queue or group
    /// without a wildcard and it does not exist.
    pub(super) fn choose_sources(&mut self, core: &mut Core) -> Result<(), Error> {
        let (now, filter, unreadable) = (self.now, &self.filter, &mut self.unreadable);
        let (selector, states) = (filter.selector, &filter.states);
        if states.is_empty() {
            return Ok(());
        }
        // Search lanes only for jobs that are in a queue: failed and complete jobs have usually left their lane.
        let is_queued = |state: &State| State::QUEUED.contains(state);
        if !selector.keys.is_empty() && states.iter().any(is_queued) {
            self.sources
                .push_back(listed_lane_jobs(core, now, selector)?);
            return Ok(());
        }
        let mut plans: Vec<Vec<SearchedJidSet>> = Vec::new();
        if !selector.groups.is_empty() || selector.message.is_some() {
            plans.push(failure_lists(core, now, selector)?);
        }
        for tag in &selector.tags {
            let is_exact = selector.tags.len() == 1 && selector.has_no_flag_but_tag();
            plans.push(vec![SearchedJidSet::of_index(
                Index::Tag(tag.clone()),
                is_exact,
            )]);
        }
        if selector.tracked {
            plans.push(vec![SearchedJidSet::of_index(
                Index::Tracked,
                selector.has_no_flag_but_tracked(),
            )]);
        }
        if !selector.held_by.is_empty() {
            self.unknown_workers = unknown_holders(core, now, selector)?;
            plans.push(lock_sets_of_busy_queues(core, now, selector, unreadable)?);
        }
        if plans.is_empty() {
            self.sources = sets_of_selected_states(core, now, filter, unreadable)?.into();
            return Ok(());
        }
        // Also consider the sets of the selected queues and states, which may be smaller than the index of a common
        // tag.
        let others = selector.tracked || !selector.tags.is_empty();
        let others = others && selector.states_implied_by_flags().is_empty();
        let others = others && (!selector.queues.is_empty() || !filter.matches_any_state());
        let mut best = 0;
        if plans.len() > 1 || others {
            let mut costs = count_members_per_plan(core, now, &plans)?;
            if others && costs.iter().all(|cost| *cost > FEW_ENOUGH_JOBS) {
                plans.push(sets_of_selected_states(core, now, filter, unreadable)?);
                let plan = plans.last().map_or(&[][..], std::slice::from_ref);
                costs.extend(count_members_per_plan(core, now, plan)?);
            }
            best = (0..costs.len())
                .min_by_key(|&plan| costs[plan])
                .unwrap_or(0);
        }
        self.sources = plans.swap_remove(best).into();
        unreadable.dedup_by(|one, other| one.name == other.name);
        Ok(())
    }
}

/// A plan that reads up to this number of jobs is used without a look at other sets, because counting their members
/// would take longer than reading these jobs.
const FEW_ENOUGH_JOBS: u64 = 500;

/// The number of jobs that each plan reads.
fn count_members_per_plan(
    core: &mut Core,
    now: Moment,
    plans: &[Vec<SearchedJidSet>],
) -> Result<Vec<u64>, Error> {
    let sets = plans.iter().flatten();
    let wanted = sets.filter_map(|source| Some((source.index()?.clone(), 0)));
    let wanted: Vec<(Index, u64)> = wanted.collect();
    let mut parts = core.index_ranges(now, &wanted, 0)?.into_iter();
    let costs = plans.iter().map(|plan| {
        let parts = parts.by_ref().take(plan.len());
        parts.map(|part| part.total).sum()
    });
    Ok(costs.collect())
}

/// The sets that contain all jobs in the selected states and queues. With `--all`, or with only
/// conditions that have no index, the set is all jobs.
fn sets_of_selected_states(
    core: &mut Core,
    now: Moment,
    filter: &JobFilter,
    unreadable: &mut Vec<Queue>,
) -> Result<Vec<SearchedJidSet>, Error> {
    let selector = filter.selector;
    let has_no_age_flag = selector.older_than.is_none() && selector.newer_than.is_none();
    if (selector.all || !selector.unindexed_flags().is_empty())
        && has_no_age_flag
        && selector.queues.is_empty()
        && selector.states.is_empty()
    {
        let all = JidReader::AllJobs(JobScan::default());
        return Ok(vec![SearchedJidSet::new(all)]);
    }
    let states = &filter.states;
    let mut sources = queue_sets(core, now, selector, states, unreadable)?;
    if states.contains(&State::Failed) {
        sources.append(&mut failure_lists(core, now, selector)?);
    }
    // A complete job is in no queue.
    let anywhere = passes_filter(&selector.queues, None);
    if states.contains(&State::Complete) && anywhere {
        sources.push(SearchedJidSet::of_index(
            Index::Complete,
            selector.has_no_flag_but_queue_or_state(),
        ));
    }
    Ok(sources)
}

/// The jobs in the lanes of the selected keys, lane by lane. The lanes of all queues are read, because a job that was
/// moved to another queue stays in the lane of its first queue.
fn listed_lane_jobs(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
) -> Result<SearchedJidSet, Error> {
    let queues = core.index_members(now, &Index::Queues)?;
    let mut lanes: Vec<Name> = selector.keys.clone();
    for key in selector
        .keys
        .iter()
        .filter(|key| !key.as_bytes().starts_with(b"/"))
    {
        let lane_name =
            |queue: &Name| Name::from([queue.as_bytes(), b"/", key.as_bytes()].concat());
        lanes.extend(queues.iter().map(lane_name));
    }
    let jobs = core.jobs_of_lanes(now, &lanes)?.into_iter().flatten();
    let jids = Some(jobs.map(|job| job.jid).collect());
    Ok(SearchedJidSet::new(JidReader::Listed(jids)))
}

/// The failure lists of the selected groups, or of all groups if the selector names none.
fn failure_lists(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
) -> Result<Vec<SearchedJidSet>, Error> {
    let groups = &selector.groups;
    let is_exact = selector.has_no_flag_but_group_or_state();
    let list = |group: Name| SearchedJidSet::of_index(Index::Failed(group), is_exact);
    let plain: Vec<&Name> = groups
        .iter()
        .filter_map(|pattern| pattern.as_plain_name())
        .collect();
    if !groups.is_empty() && plain.len() == groups.len() {
        let mut lists: Vec<SearchedJidSet> = Vec::new();
        for group in plain {
            let index = Index::Failed(group.clone());
            if lists.iter().all(|list| list.index() != Some(&index)) {
                lists.push(SearchedJidSet {
                    is_given: true,
                    ..list(group.clone())
                });
            }
        }
        return Ok(lists);
    }
    let known = core.index_members(now, &Index::Groups)?;
    if let Some(unknown) = plain.into_iter().find(|group| !known.contains(group)) {
        return Err(Error::unknown_name("group", unknown, &known));
    }
    let fits = |group: &Name| passes_filter(groups, Some(group));
    let mut lists: Vec<SearchedJidSet> = known.into_iter().filter(fits).map(list).collect();
    if let (true, [NamePattern::Plain(queue)]) = (selector.dead, selector.queues.as_slice()) {
        // First read the group of jobs without remaining retries, which has most dead jobs of the queue.
        let own = Index::Failed(exhausted_retries_group(queue));
        lists.sort_by_key(|list| list.index() != Some(&own));
    }
    Ok(lists)
}

/// The workers that the selector names without a wildcard and the server does not know.
fn unknown_holders(core: &mut Core, now: Moment, selector: &Selector) -> Result<Vec<Name>, Error> {
    let plain = selector
        .held_by
        .iter()
        .filter_map(|pattern| pattern.as_plain_name().cloned());
    let names: Vec<Name> = plain.collect();
    if names.is_empty() {
        return Ok(names);
    }
    let workers = core.workers(now, &names)?.into_iter();
    let unknown = workers.filter(|worker| worker.last_seen.is_none());
    Ok(unknown.map(|worker| worker.name).collect())
}

/// The sets of locked jobs of the selected queues, to find the jobs that a worker holds. The worker's own set is not
/// used: it lacks jobs whose lock was extended once after its expiry, and is missing for workers not seen for a day.
fn lock_sets_of_busy_queues(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
    unreadable: &mut Vec<Queue>,
) -> Result<Vec<SearchedJidSet>, Error> {
    let mut matched = core.queues_like_and_unreadable(now, &selector.queues)?;
    unreadable.append(&mut matched.unreadable);
    let busy = matched
        .readable
        .into_iter()
        .filter(|queue| queue.running + queue.stalled > 0);
    let sets = busy.map(|queue| SearchedJidSet::of_index(Index::Locks(queue.name), false));
    Ok(sets.collect())
}

/// The sets of the selected queues that contain jobs in the selected states.
fn queue_sets(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
    states: &[State],
    unreadable: &mut Vec<Queue>,
) -> Result<Vec<SearchedJidSet>, Error> {
    use State::{Complete, Depends, Failed, Running, Scheduled, Stalled, Throttled, Waiting};

    let selected = |state: State| states.contains(&state);
    let only = selector.has_no_flag_but_queue_or_state();
    // In the set of waiting jobs, stalled jobs (whose lock was revoked) are before all others.
    let stalled_come_first = selected(Stalled) && !selected(Waiting);
    let sets = |queue: &Name, holds: &dyn Fn(State) -> bool| {
        let set = |index: fn(Name) -> Index, is_exact| {
            SearchedJidSet::of_index(index(queue.clone()), is_exact && only)
        };
        let found = |states: &[State]| states.iter().any(|&state| selected(state) && holds(state));
        let all = |states: &[State]| states.iter().all(|&state| selected(state));
        let mut sets = Vec::new();
        if found(&[Running, Stalled]) {
            sets.push(set(Index::Locks, all(&[Running, Stalled])));
        }
        if found(&[Waiting, Stalled]) {
            let is_exact = all(&[Waiting, Stalled]);
            // With further conditions, a stalled job that does not match may be before one that matches: read the
            // whole set.
            let matches_first = stalled_come_first && only;
            sets.push(SearchedJidSet {
                matches_first,
                ..set(Index::Waiting, is_exact)
            });
        }
        if found(&[Scheduled]) {
            sets.push(set(Index::Scheduled, true));
        }
        if found(&[Depends]) {
            sets.push(set(Index::Depends, true));
        }
        if found(&[Throttled]) {
            sets.push(set(Index::Throttled, true));
        }
        sets
    };
    if !State::QUEUED.into_iter().any(selected) {
        return Ok(Vec::new());
    }
    if let [pattern] = selector.queues.as_slice()
        && let Some(queue) = pattern.as_plain_name()
    {
        // For a single set, skip the check that the queue exists. The search makes it if the set is empty.
        let mut sets = sets(queue, &|_| true);
        if sets.len() == 1 {
            sets.iter_mut().for_each(|set| set.is_given = true);
            return Ok(sets);
        }
    }
    let mut matched = core.queues_like_and_unreadable(now, &selector.queues)?;
    unreadable.append(&mut matched.unreadable);
    let sets = matched.readable.iter().flat_map(|queue| {
        sets(&queue.name, &|state| match state {
            Running => queue.running > 0,
            Stalled => queue.stalled > 0,
            Waiting => queue.waiting > 0,
            // Scheduled jobs that are due count as waiting, but stay in the set of scheduled jobs until the next pop.
            Scheduled => queue.scheduled + queue.waiting > 0,
            Depends => queue.depends > 0,
            Throttled => queue.throttled > 0,
            Failed | Complete => false,
        })
    });
    Ok(sets.collect())
}
