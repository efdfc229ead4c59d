//! Finds the jobs that match a selector, through the cheapest index.
//!
//! [`source`] chooses the sets that contain all jobs that may match. [`filter`] checks the members of these sets. If no
//! set helps, every job is read, and `note_full_scan_and_data_paths` says so. Each call returns a slice of the jobs.
//! Of earlier slices, only hashes of the jids stay in memory.

use std::collections::{HashSet, VecDeque};

use crate::args::shared::Selector;
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::api::job::{JOBS_PER_READ, JobFields};
use crate::core::api::not_found;
use crate::core::api::queue;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::model::bulk::{FieldInterner, JobOutcome, JobSnapshot, MAX_JOBS_PER_CALL, OutcomeCode};
use crate::model::data_filter::DataFilter;
use crate::model::hashed_set::HashedSet;
use crate::model::job::{Job, State};
use crate::model::queue::Queue;
use crate::name::Name;
use crate::session::Session;
use crate::ui::Ui;

mod filter;
pub(crate) mod nothing;
mod source;

use filter::{FilterField, JobFilter};
use source::SearchedJidSet;

/// A search for the jobs that match a selector. It returns them slice by slice, in the order of the searched sets.
pub(crate) struct JobSearch<'a> {
    now: Moment,
    detail: JobFields,
    filter: JobFilter<'a>,
    /// The sets that are not read yet.
    sources: VecDeque<SearchedJidSet>,
    /// The set that is being read.
    current: Option<SearchedJidSet>,
    jids: VecDeque<Name>,
    /// Hashes of the jids of all jobs found so far. `None` if no job can occur twice.
    seen: Option<HashedSet>,
    remaining_offset: u64,
    remaining_limit: u64,
    /// The number of members of all indexes read to their end. `None` if some of these members may not match.
    total: Option<u64>,
    matched: u64,
    is_at_end: bool,
    /// Whether failure lists are read from the newest failure on.
    is_newest_first: bool,
    /// Workers that the selector names but the server does not know.
    unknown_workers: Vec<Name>,
    /// Queues that cannot be searched, because a key of the queue has a wrong type.
    pub unreadable: Vec<Queue>,
    misplaced: Vec<JobOutcome>,
}

/// All matching jobs with the fields of `detail`.
pub(crate) fn matching_jobs(
    session: &mut Session,
    now: Moment,
    selector: &Selector,
    detail: JobFields,
) -> Result<Vec<Job>, Error> {
    let (core, ui) = session.core_and_ui()?;
    let mut search = JobSearch::start_if_all_queues_readable(core, ui, now, selector, detail)?;
    let mut jobs = Vec::new();
    while let Some(mut slice) = search.next_jobs(core)? {
        jobs.append(&mut slice);
    }
    queue::require_readable(&search.unreadable)?;
    Ok(jobs)
}

/// Snapshots of all matching jobs. Also an outcome for each misplaced entry of the failure lists that were read: a job
/// that does not exist or has not failed in the group of the list.
pub(crate) fn read_snapshots(
    session: &mut Session,
    now: Moment,
    selector: &Selector,
) -> Result<(Vec<JobSnapshot>, Vec<JobOutcome>), Error> {
    let (core, ui) = session.core_and_ui()?;
    let detail = JobFields::Snapshot;
    let mut search = JobSearch::start_if_all_queues_readable(core, ui, now, selector, detail)?;
    let (mut jobs, mut interner) = (Vec::new(), FieldInterner::default());
    while let Some(slice) = search.next_jobs(core)? {
        let snapshots = slice.into_iter();
        jobs.extend(snapshots.map(|job| JobSnapshot::from_job(job, &mut interner)));
    }
    queue::require_readable(&search.unreadable)?;
    let mut misplaced = search.misplaced;
    if jobs.is_empty() && misplaced.is_empty() {
        nothing::hint_why_empty(session, now, Some(selector))?;
    }
    if !misplaced.is_empty() {
        // If the search found the job through another failure list, do not report the entry as misplaced.
        let jids: HashSet<&Name> = jobs.iter().map(|job: &JobSnapshot| &job.jid).collect();
        misplaced.retain(|entry| !jids.contains(&entry.jid));
    }
    Ok((jobs, misplaced))
}

impl<'a> JobSearch<'a> {
    /// Starts a search: chooses the indexes to read. Fails if the selector names a queue or group without a wildcard
    /// and it does not exist.
    pub(crate) fn start(
        core: &mut Core,
        now: Moment,
        selector: &'a Selector,
        detail: JobFields,
    ) -> Result<JobSearch<'a>, Error> {
        let mut search = JobSearch {
            now,
            detail,
            filter: JobFilter::new(selector, now),
            sources: VecDeque::new(),
            current: None,
            jids: VecDeque::new(),
            seen: None,
            remaining_offset: selector.offset,
            remaining_limit: selector.limit.unwrap_or(u64::MAX),
            total: Some(0),
            matched: 0,
            is_at_end: false,
            is_newest_first: false,
            unknown_workers: Vec::new(),
            unreadable: Vec::new(),
            misplaced: Vec::new(),
        };
        search.choose_sources(core)?;
        let sources = &search.sources;
        if sources.len() > 1 || sources.iter().any(|set| set.index().is_none()) {
            search.seen = Some(HashedSet::default());
        }
        Ok(search)
    }

    /// As [`JobSearch::start`], with the notes of the search on stderr. Fails if a queue cannot be read.
    fn start_if_all_queues_readable(
        core: &mut Core,
        ui: &mut Ui,
        now: Moment,
        selector: &'a Selector,
        detail: JobFields,
    ) -> Result<JobSearch<'a>, Error> {
        let search = JobSearch::start(core, now, selector, detail)?;
        queue::require_readable(&search.unreadable)?;
        search.note_full_scan_and_data_paths(ui);
        Ok(search)
    }

    /// Sets whether failure lists are read from the newest failure on. The order of other sets does not change.
    pub(crate) fn newest_failures_first(self, is_newest_first: bool) -> JobSearch<'a> {
        JobSearch {
            is_newest_first,
            ..self
        }
    }

    /// Notes on stderr that every job will be read, if so, and the meaning of each `--where` path that begins with
    /// `data`.
    pub(crate) fn note_full_scan_and_data_paths(&self, ui: &mut Ui) {
        let wheres = self.filter.selector.wheres.iter();
        for (path, below) in wheres.filter_map(DataFilter::path_and_rest_after_data) {
            ui.note(&format!(
                "`--where {path}` means `{below}` in data without a field `data`"
            ));
        }
        if self.remaining_limit > 0 && self.sources.iter().any(SearchedJidSet::is_all_jobs) {
            ui.note(&format!(
                "scanning all jobs: {}",
                self.filter.unindexed_reason()
            ));
        }
    }

    /// After a search that found no job: fails if the selector names a worker or a queue that does not exist.
    fn refuse_unknown_worker_or_queue(&self, core: &mut Core) -> Result<(), Error> {
        if let Some(unknown_worker) = self.unknown_workers.first() {
            let known = core.index_members(self.now, &Index::Workers)?;
            return Err(Error::unknown_name("worker", unknown_worker, &known));
        }
        let queues = self.filter.selector.queues.iter();
        for queue in queues.filter_map(|pattern| pattern.as_plain_name()) {
            core.require_queue(self.now, queue)?;
        }
        Ok(())
    }

    /// The matching jobs of the next slice. An empty slice is not the end: at the end the result is `None`.
    pub(crate) fn next_jobs(&mut self, core: &mut Core) -> Result<Option<Vec<Job>>, Error> {
        if self.remaining_limit == 0 {
            return Ok(None);
        }
        if !self.fill_jids(core)? {
            self.is_at_end = true;
            if self.matched == 0 {
                self.refuse_unknown_worker_or_queue(core)?;
            }
            return Ok(None);
        }
        let Some(source) = &self.current else {
            return Ok(None);
        };
        let matches_first = source.matches_first;
        let locks = matches!(source.index(), Some(Index::Locks(_)));
        let group = match source.index() {
            Some(Index::Failed(group)) if self.detail == JobFields::Snapshot => Some(group.clone()),
            _ => None,
        };
        // Each slice of locked jobs is sorted by state. Its size must not depend on offset and limit, because the order
        // of all jobs would then depend on them.
        let is_exact = source.is_exact && !locks;
        // If every member matches, skip the jobs before the offset without reading them.
        while is_exact && self.remaining_offset > 0 && self.jids.pop_front().is_some() {
            self.remaining_offset -= 1;
            self.matched += 1;
        }
        let mut size = match self.detail {
            JobFields::Snapshot => JOBS_PER_READ as u64,
            _ => MAX_JOBS_PER_CALL as u64,
        };
        if is_exact {
            size = size.min(self.remaining_limit);
        }
        let size = (size as usize).min(self.jids.len());
        let mut slice: Vec<Name> = self.jids.drain(..size).collect();
        let fields = self.filter.prefilter_fields(source.index());
        if !is_exact && !fields.is_empty() {
            let names: Vec<&str> = fields.iter().map(FilterField::into_str).collect();
            let stored = core
                .stored_job_fields(self.now, &names, &slice)?
                .into_iter();
            let mut kept = stored.map(|values| self.filter.may_match(&fields, values));
            slice.retain(|_| kept.next().unwrap_or(false));
        }
        let needs_no_filter = is_exact && self.detail == JobFields::Jid;
        let names = if needs_no_filter {
            self.detail.into_str().into()
        } else {
            self.filter.field_list(self.detail, locks)
        };
        let found = core.jobs_with_fields(self.now, &names, &slice)?;
        let mut jobs: Vec<Job> = Vec::with_capacity(slice.len());
        for (jid, job) in slice.into_iter().zip(found) {
            match (job, &group) {
                (Some(job), _)
                    if (needs_no_filter || self.filter.matches(&job))
                        && self.is_first_occurrence(&job) =>
                {
                    jobs.push(job);
                }
                (job, Some(group))
                    if job
                        .as_ref()
                        .is_none_or(|job| !is_failed_in_group(job, group)) =>
                {
                    self.misplaced
                        .push(misplaced_entry_outcome(jid, group, job));
                }
                _ => {}
            }
        }
        if matches_first && jobs.is_empty() {
            self.current = None;
            self.jids.clear();
        }
        self.matched += jobs.len() as u64;
        if locks {
            jobs.sort_by_key(|job| job.state);
        }
        let skipped = self.remaining_offset.min(jobs.len() as u64);
        self.remaining_offset -= skipped;
        jobs.drain(..skipped as usize);
        jobs.truncate(usize::try_from(self.remaining_limit).unwrap_or(usize::MAX));
        self.remaining_limit -= jobs.len() as u64;
        Ok(Some(jobs))
    }

    /// The number of all matching jobs, if the sizes of the indexes give it, so that no further job must be read.
    pub(crate) fn total_matches(&mut self, core: &mut Core) -> Result<Option<u64>, Error> {
        if self.is_at_end {
            return Ok(Some(self.matched));
        }
        let begun = match &self.current {
            Some(source) if !source.is_exact => return Ok(None),
            Some(source) => source.total_jids().unwrap_or(0),
            None => 0,
        };
        if !self.sources.iter().all(|source| source.is_exact) {
            return Ok(None);
        }
        let rest: Vec<(Index, u64)> = self
            .sources
            .drain(..)
            .filter_map(|source| Some((source.index()?.clone(), 0)))
            .collect();
        let rest: u64 = match core.index_ranges(self.now, &rest, 0) {
            Ok(parts) => parts.iter().map(|part| part.total).sum(),
            // The search itself reports a key of a wrong type when it reads the key.
            Err(error) if error.kind() == Kind::WrongKeyType => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(self.total.map(|total| total + begun + rest))
    }

    /// Fills `jids` from the next sets if it is empty. False if all sets are read.
    fn fill_jids(&mut self, core: &mut Core) -> Result<bool, Error> {
        loop {
            if !self.jids.is_empty() {
                return Ok(true);
            }
            if let Some(source) = &mut self.current {
                match source.next_jids(core, self.now) {
                    Ok(Some(members)) => {
                        self.jids.extend(members);
                        continue;
                    }
                    Ok(None) => {}
                    Err(error) => {
                        let unreadable = unreadable_queue(core, self.now, source, &error)?;
                        self.unreadable.push(unreadable.ok_or(error)?);
                        self.current = None;
                        continue;
                    }
                }
                let total = source.total_jids();
                self.total = match (source.is_exact, self.total, total) {
                    (true, Some(before), Some(total)) => Some(before + total),
                    _ => None,
                };
                if let (true, Some(0), Some(index)) = (source.is_given, total, source.index()) {
                    not_found::refuse_missing_queue_or_group(core, self.now, index)?;
                }
                self.current = None;
            }
            let Some(mut source) = self.sources.pop_front() else {
                return Ok(false);
            };
            let wanted = self.remaining_limit.saturating_add(self.remaining_offset);
            let size = match (source.matches_first, source.is_exact) {
                (true, _) => MAX_JOBS_PER_CALL as u64,
                (false, true) => wanted,
                (false, false) => wanted.max(MAX_JOBS_PER_CALL as u64),
            };
            source.set_range_size_and_order(size, self.is_newest_first);
            self.current = Some(source);
        }
    }

    /// Whether the search finds the job for the first time.
    fn is_first_occurrence(&mut self, job: &Job) -> bool {
        self.seen.as_mut().is_none_or(|seen| seen.insert(&job.jid))
    }
}

/// The queue of the set whose read failed with `error`. `None` if the error is not about a key of a wrong type, or the
/// set belongs to no queue.
fn unreadable_queue(
    core: &mut Core,
    now: Moment,
    source: &SearchedJidSet,
    error: &Error,
) -> Result<Option<Queue>, Error> {
    let queue = source.index().and_then(Index::queue_of_index);
    let (Some(queue), Kind::WrongKeyType) = (queue, error.kind()) else {
        return Ok(None);
    };
    let mut found = core.queues_including_unreadable(now, std::slice::from_ref(queue))?;
    Ok(found.pop().filter(|queue| !queue.wrong_keys.is_empty()))
}

/// The outcome of a job that is in the failure list of this group but does not belong there.
fn misplaced_entry_outcome(jid: Name, group: &Name, job: Option<Job>) -> JobOutcome {
    let (code, is) = match job.as_ref().map(|job| job.state) {
        None => (OutcomeCode::Gone, "it does not exist".to_owned()),
        Some(Some(State::Failed)) => {
            let is = "it failed in another group".to_owned();
            (OutcomeCode::StateChanged, is)
        }
        Some(state) => {
            let state = state.as_ref().map_or("in no known state", State::into_str);
            (OutcomeCode::StateChanged, format!("it is {state}"))
        }
    };
    let why = format!("in the list of `{group}`, but {is}");
    let outcome = JobOutcome::refused(&jid, code, why);
    match job {
        Some(job) => {
            outcome.with_snapshot(&JobSnapshot::from_job(job, &mut FieldInterner::default()))
        }
        None => outcome,
    }
}

/// Whether the job is failed and its failure is in this group.
fn is_failed_in_group(job: &Job, group: &Name) -> bool {
    let failure = job.failure.as_ref();
    job.state == Some(State::Failed) && failure.is_some_and(|failure| failure.group == *group)
}
