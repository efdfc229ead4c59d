//! `cancel --save`: jobs are written to a file and synced to disk before they are deleted. A job
//! that is not in the file is not deleted.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::JobOutcome;
use super::lanes::{Edges, drop_lane_followers};
use super::ledger::{Ledger, LedgerHead};
use crate::clock::moment::Moment;
use crate::core::api::export::ExportedJobReader;
use crate::core::call::Core;
use crate::error::Error;
use crate::input::data::is_bare_false;
use crate::json::syntax::check_syntax;
use crate::model::bulk::{FieldInterner, JobSnapshot};
use crate::model::export::Cancellation;
use crate::model::job::Job;
use crate::name::Name;
use crate::session::Session;
use crate::session::actor;
use crate::text::{backtick_list, format_count, with_thousands_separators};

/// The file of `cancel --save`, which has the format of an export.
#[derive(Debug)]
pub(crate) struct CancelSaveFile {
    pub(super) ledger: Ledger,
    reason: Option<Name>,
    /// The first saved jobs whose data `import` refuses: no JSON, or a bare `false`.
    unimportable: Vec<Name>,
    /// How many such jobs were saved.
    unimportable_count: u64,
}

/// Maximum number of jobs named in the note about those that `import` refuses.
const MAX_NAMED: usize = 10;

impl CancelSaveFile {
    /// Opens the file, before anything is sent. A file of the same command is continued.
    pub(crate) fn open(
        path: &Path,
        reason: Option<Name>,
        dry_run: bool,
        session: &Session,
    ) -> Result<CancelSaveFile, Error> {
        let head = LedgerHead::new("export", session)?.with_export_start(session.now());
        let ledger = Ledger::open(&session.member_file_path(path), head, dry_run, |_| Ok(()))?;
        Ok(CancelSaveFile {
            ledger,
            reason,
            unimportable: Vec::new(),
            unimportable_count: 0,
        })
    }

    /// Prints a note about the saved jobs that `import` refuses.
    pub(crate) fn note_unimportable_jobs(&self, session: &mut Session) {
        if self.unimportable_count == 0 {
            return;
        }
        let jobs = format_count(self.unimportable_count, "saved job", "saved jobs");
        let verb = if self.unimportable_count == 1 {
            "has"
        } else {
            "have"
        };
        let more = match self.unimportable_count - self.unimportable.len() as u64 {
            0 => String::new(),
            more => format!(" and {} more", with_thousands_separators(more)),
        };
        session.ui.note(&format!(
            "note: {jobs} {verb} data that `import` refuses: {}{more}",
            backtick_list(&self.unimportable)
        ));
    }

    /// Writes jobs to the file. Returns the jobs that may be deleted now, and the outcomes of the others.
    pub(crate) fn write_unchanged_jobs<'j>(
        &mut self,
        core: &mut Core,
        now: Moment,
        jobs: &[&'j JobSnapshot],
    ) -> Result<(Vec<&'j JobSnapshot>, Vec<JobOutcome>), Error> {
        let cancelled = Cancellation {
            at: now,
            by: actor::user_at_host().into(),
            reason: self.reason.clone(),
        };
        let jids: Vec<Name> = jobs.iter().map(|job| job.jid.clone()).collect();
        // For each job that exists, whether it was written. A job that changed since it was listed is not
        // written, and is kept.
        let mut written: HashMap<Name, bool> = HashMap::with_capacity(jids.len());
        let marks: HashMap<&Name, &[u8]> =
            jobs.iter().map(|job| (&job.jid, &job.mark[..])).collect();
        let mut savings = ExportedJobReader::new(&jids);
        while let Some(slice) = savings.next_jobs(core, now)? {
            for mut saved in slice {
                let job = &saved.job;
                let same = marks.get(&job.jid).is_some_and(|mark| *mark == job.mark);
                written.insert(job.jid.clone(), same);
                if same {
                    let data = job.data.as_bytes();
                    if check_syntax(data).is_err() || is_bare_false(data) {
                        self.unimportable_count += 1;
                        if self.unimportable.len() < MAX_NAMED {
                            self.unimportable.push(job.jid.clone());
                        }
                    }
                    saved.cancelled = Some(cancelled.clone());
                    self.ledger.add_line(&saved.export_line()?);
                }
            }
            self.ledger.flush()?;
        }
        let (mut saved, mut others) = (Vec::with_capacity(jobs.len()), Vec::new());
        for job in jobs {
            match written.get(&job.jid) {
                Some(true) => saved.push(*job),
                Some(false) => {
                    others.push(JobOutcome::changed_meanwhile(&job.jid).with_snapshot(job))
                }
                None => others.push(JobOutcome::gone(&job.jid).with_snapshot(job)),
            }
        }
        Ok((saved, others))
    }
}

/// Adds all dependents of the jobs, at any depth, but not the jobs behind them in their lanes. Returns the jobs tree by
/// tree, each after its dependents, and the number of jobs added.
pub(crate) fn add_and_count_dependents(
    core: &mut Core,
    now: Moment,
    jobs: Vec<JobSnapshot>,
) -> Result<(Vec<JobSnapshot>, usize), Error> {
    let given = jobs.len();
    let roots: Vec<Name> = jobs.iter().map(|job| job.jid.clone()).collect();
    let mut kin: HashMap<Name, Job> = HashMap::new();
    let mut next = roots.clone();
    let mut visited: HashSet<Name> = roots.iter().cloned().collect();
    while !next.is_empty() {
        let level = std::mem::take(&mut next);
        let fields = "state,queue,shown,since,mark,dependencies,dependents";
        let found = core.jobs_with_fields(now, fields, &level)?;
        let found: Vec<Job> = found.into_iter().flatten().collect();
        let edges = found
            .iter()
            .map(|job| (job.jid.clone(), job.dependents.clone()));
        let mut edges: Edges = edges.collect();
        drop_lane_followers(core, now, &mut edges)?;
        for job in found {
            let dependents = edges.remove(&job.jid).unwrap_or_default().into_iter();
            next.extend(dependents.filter(|jid| visited.insert(jid.clone())));
            kin.insert(job.jid.clone(), job);
        }
    }
    // An entry of `dependents` that does not depend on the job is ignored, as the core does.
    let depends = |job: &Name, above: &Name| {
        kin.get(job).is_some_and(|job| {
            let stored = job.state_stored.as_ref().map(Name::as_bytes);
            stored == Some(b"depends") && job.dependencies.contains(above)
        })
    };
    let order = leaves_first(&roots, |jid| {
        let dependents = kin.get(jid).map(|kin| kin.dependents.as_slice());
        let dependents = dependents.unwrap_or_default().iter();
        dependents
            .filter(|job| depends(job, jid))
            .cloned()
            .collect()
    });
    let mut interner = FieldInterner::default();
    // A job that was given keeps its earlier snapshot, so that a change since then is refused.
    let mut seen: HashMap<Name, JobSnapshot> =
        jobs.into_iter().map(|job| (job.jid.clone(), job)).collect();
    let jobs: Vec<JobSnapshot> = order
        .into_iter()
        .filter_map(|jid| match (seen.remove(&jid), kin.remove(&jid)) {
            (Some(job), _) => Some(job),
            (None, job) => Some(JobSnapshot::from_job(job?, &mut interner)),
        })
        .collect();
    let below = jobs.len() - given;
    Ok((jobs, below))
}

/// The roots and all jobs below them, each once and after the jobs below it. In a cycle no order
/// satisfies this: one job of it comes before a job below it.
fn leaves_first(roots: &[Name], below: impl Fn(&Name) -> Vec<Name>) -> Vec<Name> {
    let mut order = Vec::new();
    let mut visited: HashSet<Name> = HashSet::new();
    for root in roots {
        if !visited.insert(root.clone()) {
            continue;
        }
        let mut path = vec![(root.clone(), below(root))];
        while let Some((_, rest)) = path.last_mut() {
            match rest.pop() {
                Some(jid) if visited.insert(jid.clone()) => {
                    let dependents = below(&jid);
                    path.push((jid, dependents));
                }
                Some(_) => {}
                None => order.extend(path.pop().map(|(jid, _)| jid)),
            }
        }
    }
    order
}
