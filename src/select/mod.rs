//! Which jobs are meant: selectors, resolved by the cheapest index.
//!
//! [`source`] finds the sets that hold all that is meant, [`filter`] judges their members by what
//! no set knows. Where no set helps, every job is read, and `announce` says so. No call tells more
//! than a slice, and of what was told before only hashes are kept.

use std::collections::{HashSet, VecDeque};

use crate::args::shared::Selector;
use crate::clock::moment::Moment;
use crate::core::api::guard::JOBS_PER_READ;
use crate::core::api::index::{Index, IndexReader};
use crate::core::api::job::{Detail, MOST};
use crate::core::api::not_found;
use crate::core::api::page::JobScan;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::hashed_set::HashedSet;
use crate::model::job::{Job, State};
use crate::model::job_snapshot::{Interner, JobSnapshot};
use crate::name::Name;
use crate::session::Session;
use crate::ui::Ui;

mod count;
mod filter;
mod source;

pub(crate) use count::count;

use filter::{Doubts, Filter};
use source::Source;

/// The jobs that a selector means, slice by slice, in the order in which lists show them.
pub(crate) struct Selection<'a> {
    now: Moment,
    tell: Detail,
    filter: Filter<'a>,
    sources: VecDeque<Source>,
    walk: Option<Searched>,
    jids: VecDeque<Name>,
    /// The jobs told so far; empty where no job can come twice.
    told: Option<HashedSet>,
    skip: u64,
    left: u64,
    /// How many there are in the indexes that were begun, if they are exact.
    total: Option<u64>,
    matched: u64,
    ended: bool,
    newest: bool,
    /// Workers that were named and nobody knows.
    strangers: Vec<Name>,
    strays: Vec<MisplacedEntry>,
}

/// A set that is just searched.
struct Searched {
    source: Source,
    doubts: Doubts,
    way: Way,
}

enum Way {
    Index(IndexReader),
    Every(JobScan),
}

/// What stands in a failure list and does not belong there.
#[derive(Debug)]
pub(crate) struct MisplacedEntry {
    pub jid: Name,
    pub group: Name,
    /// What it is instead; nothing where there is no such job.
    pub job: Option<Job>,
}

/// Returns all jobs that are meant; of a job only what `tell` says is read.
pub(crate) fn all(
    session: &mut Session,
    now: Moment,
    selector: &Selector,
    tell: Detail,
) -> Result<Vec<Job>, Error> {
    let mut jobs = Vec::new();
    each(session, now, selector, tell, |job| jobs.push(job))?;
    Ok(jobs)
}

/// Returns all jobs that are meant, as a write sees them, and what else stands in the failure lists
/// that were read.
pub(crate) fn seen(
    session: &mut Session,
    now: Moment,
    selector: &Selector,
) -> Result<(Vec<JobSnapshot>, Vec<MisplacedEntry>), Error> {
    let (mut jobs, mut alike) = (Vec::new(), Interner::default());
    let mut strays = each(session, now, selector, Detail::Mark, |job| {
        jobs.push(JobSnapshot::of(job, &mut alike))
    })?;
    if !strays.is_empty() {
        // What is at home in another list that was read is no stray.
        let jids: HashSet<&Name> = jobs.iter().map(|job: &JobSnapshot| &job.jid).collect();
        strays.retain(|stray| !jids.contains(&stray.jid));
    }
    Ok((jobs, strays))
}

/// Takes all jobs that are meant, one by one.
fn each(
    session: &mut Session,
    now: Moment,
    selector: &Selector,
    tell: Detail,
    mut take: impl FnMut(Job),
) -> Result<Vec<MisplacedEntry>, Error> {
    let (core, ui) = session.core_and_ui()?;
    let mut selection = Selection::open(core, now, selector, tell)?;
    selection.announce(ui);
    while let Some(slice) = selection.next(core)? {
        slice.into_iter().for_each(&mut take);
    }
    Ok(selection.strays)
}

impl<'a> Selection<'a> {
    /// Finds the indexes to read. A queue or group that is named plainly and unknown is an error.
    pub(crate) fn open(
        core: &mut Core,
        now: Moment,
        selector: &'a Selector,
        tell: Detail,
    ) -> Result<Selection<'a>, Error> {
        let filter = Filter::new(selector, now);
        let found = source::sources(core, now, selector, &filter)?;
        let twice = found.sets.len() > 1 || found.sets.iter().any(|set| set.index.is_none());
        Ok(Selection {
            now,
            tell,
            filter,
            sources: found.sets.into(),
            walk: None,
            jids: VecDeque::new(),
            told: twice.then(HashedSet::default),
            skip: selector.offset,
            left: selector.limit.unwrap_or(u64::MAX),
            total: Some(0),
            matched: 0,
            ended: false,
            newest: false,
            strangers: found.strangers,
            strays: Vec::new(),
        })
    }

    /// Reads failure lists from their newest end.
    pub(crate) fn newest_first(self, newest: bool) -> Selection<'a> {
        Selection { newest, ..self }
    }

    /// Says that every job will be read, if that is so.
    pub(crate) fn announce(&self, ui: &mut Ui) {
        if self.left > 0 && self.sources.iter().any(|source| source.index.is_none()) {
            ui.note(&format!("reading every job: {}", self.filter.unsorted()));
        }
    }

    /// Refuses a name that was typed, where nothing was found and nothing has that name.
    fn unknown(&self, core: &mut Core) -> Result<(), Error> {
        if let Some(stranger) = self.strangers.first() {
            let known = core.members(self.now, &Index::Workers)?;
            return Err(Error::unknown("worker", stranger, &known));
        }
        let queues = self.filter.selector.queues.iter();
        for queue in queues.filter_map(|pattern| pattern.plain()) {
            core.require_queue(self.now, queue)?;
        }
        Ok(())
    }

    /// Returns the next jobs; `None` at the end. A slice may be empty.
    pub(crate) fn next(&mut self, core: &mut Core) -> Result<Option<Vec<Job>>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        if !self.fill(core)? {
            self.ended = true;
            if self.matched == 0 {
                self.unknown(core)?;
            }
            return Ok(None);
        }
        let Some(Searched { source, doubts, .. }) = &self.walk else {
            return Ok(None);
        };
        let front = source.front;
        let locks = matches!(source.index, Some(Index::Locks(_)));
        let group = match &source.index {
            Some(Index::Failed(group)) if self.tell == Detail::Mark => Some(group.clone()),
            _ => None,
        };
        // Locks are put in order by state, so that slices of one size are looked at.
        let exact = source.exact && !locks;
        // Where every member counts, those before the offset need not be looked at.
        while exact && self.skip > 0 && self.jids.pop_front().is_some() {
            self.skip -= 1;
            self.matched += 1;
        }
        let mut size = match self.tell {
            Detail::Mark => JOBS_PER_READ as u64,
            _ => MOST as u64,
        };
        if exact {
            size = size.min(self.left);
        }
        let size = (size as usize).min(self.jids.len());
        let mut slice: Vec<Name> = self.jids.drain(..size).collect();
        if !exact && !doubts.is_empty() {
            let told = core.fields(self.now, &doubts.names(), &slice)?;
            let mut left = told
                .into_iter()
                .map(|told| doubts.leave(&self.filter, told));
            slice.retain(|_| left.next().unwrap_or(false));
        }
        let certain = exact && self.tell == Detail::Match;
        let names = match certain {
            true => self.tell.word().into(),
            false => self.filter.names(self.tell, locks),
        };
        let told = core.jobs_with(self.now, &names, &slice)?;
        let mut jobs: Vec<Job> = Vec::with_capacity(slice.len());
        for (jid, job) in slice.into_iter().zip(told) {
            match (job, &group) {
                (Some(job), _) if (certain || self.filter.means(&job)) && self.first(&job) => {
                    jobs.push(job);
                }
                (job, Some(group)) if job.as_ref().is_none_or(|job| !at_home(job, group)) => {
                    let group = group.clone();
                    self.strays.push(MisplacedEntry { jid, group, job });
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
    pub(crate) fn total(&mut self, core: &mut Core) -> Result<Option<u64>, Error> {
        if self.ended {
            return Ok(Some(self.matched));
        }
        let begun = match &self.walk {
            Some(searched) if !searched.source.exact => return Ok(None),
            Some(searched) => searched.way.total().unwrap_or(0),
            None => 0,
        };
        if !self.sources.iter().all(|source| source.exact) {
            return Ok(None);
        }
        let rest: Vec<(Index, u64)> = self
            .sources
            .drain(..)
            .filter_map(|source| Some((source.index?, 0)))
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
            if let Some(Searched { source, way, .. }) = &mut self.walk {
                if let Some(members) = way.next(core, self.now)? {
                    self.jids.extend(members);
                    continue;
                }
                let total = way.total();
                self.total = match (source.exact, self.total, total) {
                    (true, Some(before), Some(total)) => Some(before + total),
                    _ => None,
                };
                if let (true, Some(0), Some(index)) = (source.typed, total, &source.index) {
                    not_found::index(core, self.now, index)?;
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
            let way = match &source.index {
                None => Way::Every(JobScan::default()),
                Some(index @ Index::Failed(_)) if self.newest => {
                    Way::Index(IndexReader::back(index.clone(), size))
                }
                Some(index) => Way::Index(IndexReader::new(index.clone(), size)),
            };
            self.walk = Some(Searched {
                doubts: self.filter.doubts(source.index.as_ref()),
                source,
                way,
            });
        }
    }

    /// Whether a job is met for the first time.
    fn first(&mut self, job: &Job) -> bool {
        self.told.as_mut().is_none_or(|told| told.first(&job.jid))
    }
}

/// Returns whether a job belongs into the list of a group.
fn at_home(job: &Job, group: &Name) -> bool {
    let failure = job.failure.as_ref();
    job.state == Some(State::Failed) && failure.is_some_and(|failure| failure.group == *group)
}

impl Way {
    fn next(&mut self, core: &mut Core, now: Moment) -> Result<Option<Vec<Name>>, Error> {
        match self {
            Way::Index(walk) => walk.next(core, now),
            Way::Every(scan) => scan.next(core, now),
        }
    }

    /// Returns how many members there are, where that is known.
    fn total(&self) -> Option<u64> {
        match self {
            Way::Index(walk) => walk.total,
            Way::Every(_) => None,
        }
    }
}
