//! `cancel --save`: jobs are written to a file, down to the disk, before they are deleted. What is
//! not in the file is not deleted.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::JobOutcome;
use super::ledger::{Head, Ledger};
use crate::clock::moment::Moment;
use crate::core::api::export::ExportReader;
use crate::core::api::guard::JobWithNeighbors;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::export::Cancelled;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;
use crate::session::Session;
use crate::session::actor;
use crate::view::export;

/// The file, in the form of an export.
#[derive(Debug)]
pub(crate) struct Save {
    ledger: Ledger,
    reason: Option<Name>,
}

impl Save {
    /// Opens the file, before anything is sent. One of the same command is continued.
    pub(crate) fn open(
        path: &Path,
        reason: Option<Name>,
        rehearsal: bool,
        session: &Session,
    ) -> Result<Save, Error> {
        let head = Head::of("export", session)?.exported(session.now());
        let ledger = Ledger::open(path, head, rehearsal, |_| Ok(()))?;
        Ok(Save { ledger, reason })
    }

    /// Writes the first line.
    pub(crate) fn begin(&mut self, session: &mut Session) -> Result<(), Error> {
        self.ledger.begin(session)
    }

    /// Writes jobs, and returns those that may be deleted now; of the others, why not.
    pub(crate) fn keep<'j>(
        &mut self,
        core: &mut Core,
        now: Moment,
        jobs: &[&'j JobSnapshot],
    ) -> Result<(Vec<&'j JobSnapshot>, Vec<JobOutcome>), Error> {
        let cancelled = Cancelled {
            at: now,
            by: actor::by().into(),
            reason: self.reason.clone(),
        };
        let jids: Vec<Name> = jobs.iter().map(|job| job.jid.clone()).collect();
        // Of each that exists, whether it was written: what has changed stays where it is.
        let mut written: HashMap<Name, bool> = HashMap::with_capacity(jids.len());
        let marks: HashMap<&Name, &[u8]> =
            jobs.iter().map(|job| (&job.jid, &job.mark[..])).collect();
        let mut savings = ExportReader::new(&jids);
        while let Some(slice) = savings.next(core, now)? {
            for saved in slice {
                let job = &saved.job;
                let same = marks.get(&job.jid).is_some_and(|mark| *mark == job.mark);
                written.insert(job.jid.clone(), same);
                if same {
                    self.ledger.line(&export::job(saved, Some(&cancelled))?);
                }
            }
            self.ledger.flush()?;
        }
        let (mut kept, mut others) = (Vec::with_capacity(jobs.len()), Vec::new());
        for job in jobs {
            match written.get(&job.jid) {
                Some(true) => kept.push(*job),
                Some(false) => others.push(JobOutcome::changed(&job.jid).seen(job)),
                None => others.push(JobOutcome::gone(&job.jid).seen(job)),
            }
        }
        Ok((kept, others))
    }
}

/// Returns the jobs with all that wait for them, however far below, tree by tree, each job behind
/// those that wait for it; and how many there are besides those that were told.
pub(crate) fn trees(
    core: &mut Core,
    now: Moment,
    jobs: Vec<JobSnapshot>,
) -> Result<(Vec<JobSnapshot>, usize), Error> {
    let told = jobs.len();
    let roots: Vec<Name> = jobs.iter().map(|job| job.jid.clone()).collect();
    let mut kin: HashMap<Name, JobWithNeighbors> = HashMap::new();
    let mut next = roots.clone();
    let mut met: HashSet<Name> = roots.iter().cloned().collect();
    while !next.is_empty() {
        let level = std::mem::take(&mut next);
        for job in core.jobs_with_neighbors(now, &level)?.into_iter().flatten() {
            let fresh = job
                .dependents
                .iter()
                .filter(|jid| met.insert((*jid).clone()));
            next.extend(fresh.cloned());
            kin.insert(job.seen.jid.clone(), job);
        }
    }
    // Who is only said to wait for a job is left alone, as the core does.
    let waits = |job: &Name, above: &Name| {
        kin.get(job)
            .is_some_and(|kin| kin.seen.is("depends") && kin.dependencies.contains(above))
    };
    let order = leaves_first(&roots, |jid| {
        let dependents = kin.get(jid).map(|kin| kin.dependents.as_slice());
        let dependents = dependents.unwrap_or_default().iter();
        dependents.filter(|job| waits(job, jid)).cloned().collect()
    });
    // What was told keeps the mark by which it was judged.
    let mut seen: HashMap<Name, JobSnapshot> =
        jobs.into_iter().map(|job| (job.jid.clone(), job)).collect();
    let jobs: Vec<JobSnapshot> = order
        .into_iter()
        .filter_map(|jid| seen.remove(&jid).or_else(|| Some(kin.remove(&jid)?.seen)))
        .collect();
    let below = jobs.len() - told;
    Ok((jobs, below))
}

/// Returns the roots and all below them, each once and behind all that is below it; in a circle,
/// behind all but one.
fn leaves_first(roots: &[Name], below: impl Fn(&Name) -> Vec<Name>) -> Vec<Name> {
    let mut order = Vec::new();
    let mut met: HashSet<Name> = HashSet::new();
    for root in roots {
        if !met.insert(root.clone()) {
            continue;
        }
        let mut path = vec![(root.clone(), below(root))];
        while let Some((_, left)) = path.last_mut() {
            match left.pop() {
                Some(jid) if met.insert(jid.clone()) => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tree_is_told_from_its_leaves() {
        let below = |jid: &Name| {
            let below: &[&str] = match jid.as_str().unwrap() {
                "a" => &["b", "c"],
                "b" => &["d"],
                "c" => &["d"],
                "x" => &["y"],
                "y" => &["x"],
                _ => &[],
            };
            below.iter().map(|jid| Name::from(*jid)).collect()
        };
        let order = leaves_first(&["a", "d", "x", "b"].map(Name::from), below);
        let order: Vec<&str> = order.iter().filter_map(Name::as_str).collect();
        assert_eq!(order, ["d", "c", "b", "a", "y", "x"]);
    }
}
