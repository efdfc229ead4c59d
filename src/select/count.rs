//! The number of jobs that a selector selects, by state.

use strum::VariantArray;

use super::JobSearch;
use crate::args::shared::Selector;
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::api::job::JobFields;
use crate::error::Error;
use crate::model::job::{State, StateCounts};
use crate::model::queue::Queue;
use crate::session::Session;

/// The number of selected jobs in each state, and the queues that cannot be read. Without any condition, all jobs are
/// selected.
pub(crate) fn counts_and_unreadable_queues(
    session: &mut Session,
    now: Moment,
    selector: &Selector,
) -> Result<(StateCounts, Vec<Queue>), Error> {
    let mut counts = StateCounts::default();
    let mut unreadable = Vec::new();
    let states = if selector.is_empty() {
        State::VARIANTS.to_vec()
    } else {
        selector.selected_states()
    };
    // The size of an index is the number of jobs in the `known` states. Jobs in the other states are read one by one.
    let simple = selector.has_no_flag_but_queue_or_state();
    let indexed =
        |state: &State| simple && (selector.queues.is_empty() || State::QUEUED.contains(state));
    let (known, rest): (Vec<State>, Vec<State>) = states.into_iter().partition(indexed);
    let core = session.core()?;
    if known.iter().any(|state| State::QUEUED.contains(state)) {
        let matched = core.queues_like_and_unreadable(now, &selector.queues)?;
        unreadable = matched.unreadable;
        matched
            .readable
            .iter()
            .for_each(|queue| queue.add_to_counts(&mut counts.queued));
    }
    if known.contains(&State::Failed) {
        counts.failed = core
            .failed_counts_by_group(now)?
            .iter()
            .map(|(_, jobs)| jobs)
            .sum();
    }
    if known.contains(&State::Complete) {
        counts.complete = core.index_range(now, &Index::Complete, 0, 0)?.total;
    }
    for state in State::VARIANTS
        .iter()
        .filter(|state| !known.contains(state))
    {
        *counts.count_mut(*state) = 0;
    }
    if rest.is_empty() {
        return Ok((counts, unreadable));
    }
    let mut selector = selector.clone();
    if simple {
        selector.states = rest;
    }
    (selector.limit, selector.offset) = (None, 0);
    let mut search = JobSearch::start(session.core()?, now, &selector, JobFields::Label)?;
    search.note_full_scan_and_data_paths(&mut session.ui);
    while let Some(jobs) = search.next_jobs(session.core()?)? {
        for state in jobs.iter().filter_map(|job| job.state) {
            *counts.count_mut(state) += 1;
        }
    }
    unreadable.append(&mut search.unreadable);
    unreadable.dedup_by(|one, other| one.name == other.name);
    Ok((counts, unreadable))
}
