//! The search plan of a selector: the cheapest sets that contain all jobs that may match.

use super::filter::Filter;
use crate::args::shared::Selector;
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::ending::exhausted_retries_group;
use crate::model::job::State;
use crate::model::pattern::{Pattern, passes_filter};
use crate::model::queue::Queue;
use crate::name::Name;

/// A set that is searched for jobs.
#[derive(Debug)]
pub(super) struct IndexSource {
    /// `None` stands for all jobs, unless they are listed.
    pub index: Option<Index>,
    /// The jobs, if they were read already.
    pub listed: Option<Vec<Name>>,
    /// Whether every member matches, provided that the index is not damaged.
    pub is_exact: bool,
    /// Whether the matching members come first, so that the rest need not be read.
    pub matches_first: bool,
    /// Whether the name of the index was given on the command line, so that an unknown name is an error.
    pub is_given: bool,
}

impl IndexSource {
    /// Whether the source stands for all jobs.
    pub(super) fn is_all_jobs(&self) -> bool {
        self.index.is_none() && self.listed.is_none()
    }

    fn new(index: Index, is_exact: bool) -> IndexSource {
        IndexSource {
            index: Some(index),
            listed: None,
            is_exact,
            matches_first: false,
            is_given: false,
        }
    }
}

/// The sets to search.
#[derive(Debug, Default)]
pub(super) struct SearchPlan {
    pub sets: Vec<IndexSource>,
    /// Workers that were named but are unknown: an error if no job matches.
    pub unknown_workers: Vec<Name>,
    /// Queues that cannot be searched.
    pub unreadable: Vec<Queue>,
}

/// The sets to search. A queue or group named without a wildcard must exist.
pub(super) fn plan_search(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
    filter: &Filter,
) -> Result<SearchPlan, Error> {
    let states = &filter.states;
    if states.is_empty() {
        return Ok(SearchPlan::default());
    }
    let (mut unknown_workers, mut unreadable) = (Vec::new(), Vec::new());
    // A failed or complete job has left its lane, unless it still blocks the lane.
    let is_queued = |state: &State| State::QUEUED.contains(state);
    if !selector.keys.is_empty() && states.iter().any(is_queued) {
        let sets = vec![listed_lane_jobs(core, now, selector)?];
        return Ok(SearchPlan {
            sets,
            ..SearchPlan::default()
        });
    }
    let mut plans: Vec<Vec<IndexSource>> = Vec::new();
    if !selector.groups.is_empty() || selector.message.is_some() {
        plans.push(failure_lists(core, now, selector)?);
    }
    for tag in &selector.tags {
        let is_exact = selector.tags.len() == 1 && selector.has_only_tag_flags();
        plans.push(vec![IndexSource::new(Index::Tag(tag.clone()), is_exact)]);
    }
    if selector.tracked {
        plans.push(vec![IndexSource::new(
            Index::Tracked,
            selector.has_only_tracked_flag(),
        )]);
    }
    if !selector.held_by.is_empty() {
        unknown_workers = unknown_holders(core, now, selector)?;
        plans.push(lock_sets(core, now, selector, &mut unreadable)?);
    }
    if plans.is_empty() {
        let sets = sets_by_state(core, now, selector, filter, &mut unreadable)?;
        return Ok(SearchPlan {
            sets,
            unknown_workers,
            unreadable,
        });
    }
    // If a tag is common, the sets of a queue or of a state may be smaller.
    let others = selector.tracked || !selector.tags.is_empty();
    let others = others && selector.states_implied_by_flags().is_empty();
    let others = others && (!selector.queues.is_empty() || !filter.matches_any_state());
    let mut best = 0;
    if plans.len() > 1 || others {
        let mut costs = count_members_per_plan(core, now, &plans)?;
        if others && costs.iter().all(|cost| *cost > FEW_ENOUGH_JOBS) {
            let plan = sets_by_state(core, now, selector, filter, &mut unreadable)?;
            costs.extend(self::count_members_per_plan(
                core,
                now,
                std::slice::from_ref(&plan),
            )?);
            plans.push(plan);
        }
        best = (0..costs.len())
            .min_by_key(|&plan| costs[plan])
            .unwrap_or(0);
    }
    let sets = plans.swap_remove(best);
    unreadable.dedup_by(|one, other| one.name == other.name);
    Ok(SearchPlan {
        sets,
        unknown_workers,
        unreadable,
    })
}

/// If a plan reads no more jobs than this, no other sets are considered: to count their members takes as long.
const FEW_ENOUGH_JOBS: u64 = 500;

/// The number of jobs that each plan reads.
fn count_members_per_plan(
    core: &mut Core,
    now: Moment,
    plans: &[Vec<IndexSource>],
) -> Result<Vec<u64>, Error> {
    let sets = plans.iter().flatten();
    let wanted = sets.filter_map(|source| Some((source.index.clone()?, 0)));
    let wanted: Vec<(Index, u64)> = wanted.collect();
    let mut parts = core.index_ranges(now, &wanted, 0)?.into_iter();
    let costs = plans.iter().map(|plan| {
        let parts = parts.by_ref().take(plan.len());
        parts.map(|part| part.total).sum()
    });
    Ok(costs.collect())
}

/// The sets of all jobs in the selected states. All jobs are read if neither a state nor any other condition with an
/// index was given.
fn sets_by_state(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
    filter: &Filter,
    unreadable: &mut Vec<Queue>,
) -> Result<Vec<IndexSource>, Error> {
    // These flags ask for all jobs, or for a value that no index has.
    let has_unindexed_flag = selector.all
        || !selector.klasses.is_empty()
        || !selector.wheres.is_empty()
        || !selector.throttles.is_empty();
    let has_no_age_flag = selector.older_than.is_none() && selector.newer_than.is_none();
    if has_unindexed_flag
        && has_no_age_flag
        && selector.queues.is_empty()
        && selector.states.is_empty()
    {
        return Ok(vec![IndexSource {
            index: None,
            listed: None,
            is_exact: false,
            matches_first: false,
            is_given: false,
        }]);
    }
    let states = &filter.states;
    let mut sources = queue_sets(core, now, selector, states, unreadable)?;
    if states.contains(&State::Failed) {
        sources.append(&mut failure_lists(core, now, selector)?);
    }
    // A complete job is in no queue.
    let anywhere = passes_filter(&selector.queues, None);
    if states.contains(&State::Complete) && anywhere {
        sources.push(IndexSource::new(
            Index::Complete,
            selector.has_only_queue_and_state_flags(),
        ));
    }
    Ok(sources)
}

/// The jobs of the lanes of the selected keys, lane by lane. A job that was moved stays in the
/// lane of the queue in which it got its key, so the lanes of all queues are read.
fn listed_lane_jobs(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
) -> Result<IndexSource, Error> {
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
    Ok(IndexSource {
        index: None,
        listed: Some(jobs.map(|job| job.jid).collect()),
        is_exact: false,
        matches_first: false,
        is_given: false,
    })
}

/// The failure lists of the selected groups. If none is named, all groups count.
fn failure_lists(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
) -> Result<Vec<IndexSource>, Error> {
    let groups = &selector.groups;
    let is_exact = selector.has_only_group_and_state_flags();
    let list = |group: Name| IndexSource::new(Index::Failed(group), is_exact);
    let plain: Vec<&Name> = groups
        .iter()
        .filter_map(|pattern| pattern.as_plain_name())
        .collect();
    if !groups.is_empty() && plain.len() == groups.len() {
        let mut lists: Vec<IndexSource> = Vec::new();
        for group in plain {
            let index = Some(Index::Failed(group.clone()));
            if lists.iter().all(|list| list.index != index) {
                lists.push(IndexSource {
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
    let mut lists: Vec<IndexSource> = known.into_iter().filter(fits).map(list).collect();
    if let (true, [Pattern::Plain(queue)]) = (selector.dead, selector.queues.as_slice()) {
        // Reads the list of this group first, because most dead jobs of the queue are in it.
        let own = Some(Index::Failed(exhausted_retries_group(queue)));
        lists.sort_by_key(|list| list.index != own);
    }
    Ok(lists)
}

/// The workers that are named but unknown.
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

/// The sets of locked jobs. The sets of the workers are not used: they lack jobs whose lock
/// expired and was extended once, and jobs of workers that were not seen for a day.
fn lock_sets(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
    unreadable: &mut Vec<Queue>,
) -> Result<Vec<IndexSource>, Error> {
    let mut matched = core.queues_like_and_unreadable(now, &selector.queues)?;
    unreadable.append(&mut matched.unreadable);
    let busy = matched
        .readable
        .into_iter()
        .filter(|queue| queue.running + queue.stalled > 0);
    let sets = busy.map(|queue| IndexSource::new(Index::Locks(queue.name), false));
    Ok(sets.collect())
}

/// The sets of the queues with jobs in the selected states.
fn queue_sets(
    core: &mut Core,
    now: Moment,
    selector: &Selector,
    states: &[State],
    unreadable: &mut Vec<Queue>,
) -> Result<Vec<IndexSource>, Error> {
    use State::{Complete, Depends, Failed, Running, Scheduled, Stalled, Throttled, Waiting};

    let selected = |state: State| states.contains(&state);
    let only = selector.has_only_queue_and_state_flags();
    // Jobs whose lock was revoked come before all other waiting jobs.
    let stalled_come_first = selected(Stalled) && !selected(Waiting);
    let sets = |queue: &Name, holds: &dyn Fn(State) -> bool| {
        let set = |index: fn(Name) -> Index, is_exact| {
            IndexSource::new(index(queue.clone()), is_exact && only)
        };
        let found = |states: &[State]| states.iter().any(|&state| selected(state) && holds(state));
        let all = |states: &[State]| states.iter().all(|&state| selected(state));
        let mut sets = Vec::new();
        if found(&[Running, Stalled]) {
            sets.push(set(Index::Locks, all(&[Running, Stalled])));
        }
        if found(&[Waiting, Stalled]) {
            let is_exact = all(&[Waiting, Stalled]);
            // With further conditions, the set is read to its end: a job that does not match may stand before
            // one that does.
            let matches_first = stalled_come_first && only;
            sets.push(IndexSource {
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
        // If there is one set, whether its queue exists is checked only if the set is empty.
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
            // Jobs that are due count as waiting, but are still in the set of scheduled jobs.
            Scheduled => queue.scheduled + queue.waiting > 0,
            Depends => queue.depends > 0,
            Throttled => queue.throttled > 0,
            Failed | Complete => false,
        })
    });
    Ok(sets.collect())
}
