//! Cancelling: jobs are deleted, and what waits for them is told so, cancelled, too, or released.

use std::collections::{HashMap, HashSet};

use super::save::{Save, trees};
use super::{JobOutcome, Named, Plan};
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::api::guard::{Dependents, GuardReply};
use crate::core::call::Core;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{Code, Item, Shows};
use crate::model::job_snapshot::JobSnapshot;
use crate::model::verb::Verb;
use crate::name::Name;
use crate::session::Session;
use crate::text::{clean, plural};
use crate::view::Page;

pub(crate) const CANCEL: Verb = Verb {
    word: "cancel",
    asks: "cancel",
    past: "cancelled",
    shows: Shows::Jids,
};

/// More jobs than this are cancelled only if their number is typed.
const TYPED: usize = 1000;

/// Refuses a job that cannot be cancelled.
pub(crate) fn judge(job: &JobSnapshot) -> Option<JobOutcome> {
    match job.is("complete") {
        true => Some(
            JobOutcome::refused(&job.jid, Code::Complete, "it is complete")
                .hint("complete jobs are deleted in time, as `jobs-history` says"),
        ),
        false => None,
    }
}

/// Cancels the jobs of a plan, after a question where there are several; saves them before, if so
/// wanted.
pub(crate) fn run(
    mut plan: Plan,
    dependents: Dependents,
    save: Option<Save>,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    plan.refusal()?;
    if let (Some(save), false) = (save, plan.dry_run()) {
        return saved(plan, dependents, save, now, session);
    }
    let edges = edges(&plan, now, session)?;
    let below = match dependents {
        Dependents::Cancel if plan.dry_run() || session.ui.asks() => {
            below(&plan, &edges, now, session)?
        }
        _ => Vec::new(),
    };
    if dependents == Dependents::Refuse {
        plan.jobs = dependents_first(std::mem::take(&mut plan.jobs), &edges);
    }
    if plan.dry_run() {
        return rehearse(plan, dependents, &edges, below, now, session);
    }
    let consent = ask(&plan, plan.jobs.len() + below.len(), below.len(), session)?;
    let named: HashSet<Name> = plan.jobs.iter().map(|job| job.jid.clone()).collect();
    let mut taken: HashSet<Name> = HashSet::new();
    plan.run(session, |core, now, jobs| {
        let jobs: Vec<&JobSnapshot> = jobs
            .iter()
            .filter(|job| !taken.contains(&job.jid))
            .collect();
        if jobs.is_empty() {
            return Ok(Vec::new()).into();
        }
        let outcomes = match core.cancel(now, dependents, &jobs, consent) {
            Ok(outcomes) => outcomes,
            Err(error) => return Err(error).into(),
        };
        let mut fates: Vec<JobOutcome> = Vec::with_capacity(jobs.len());
        let here: HashSet<&Name> = jobs.iter().map(|job| &job.jid).collect();
        for (job, outcome) in jobs.iter().zip(&outcomes) {
            fates.push(fate(job, outcome));
            if (dependents, outcome.code) != (Dependents::Cancel, Code::Ok) {
                continue;
            }
            let went: Vec<Name> = match outcome.reconciled {
                false => outcome.names().cloned().collect(),
                // The answer that told them was lost: those known before that are gone now.
                true => gone(core, now, tree(&edges, &job.jid)),
            };
            for jid in went.iter().filter(|jid| !here.contains(jid)) {
                if taken.insert(jid.clone()) {
                    let mut fate = JobOutcome::done(jid).raw(jid.as_bytes());
                    fate.item.detail = Some(format!("waited for {}", clean(job.jid.as_bytes())));
                    fate.cascaded = !named.contains(jid);
                    fates.push(fate);
                }
            }
        }
        Ok(fates).into()
    })
}

/// Cancels the jobs of a plan, each after it was saved. What waits for them is saved and cancelled
/// like a job that was named: nothing goes along that is not in the file.
fn saved(
    mut plan: Plan,
    dependents: Dependents,
    mut save: Save,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    let jobs = std::mem::take(&mut plan.jobs);
    let (jobs, below) = match dependents {
        Dependents::Cancel => trees(session.core()?, now, jobs)?,
        Dependents::Refuse => {
            let jids: Vec<Name> = jobs.iter().map(|job| job.jid.clone()).collect();
            let edges = session.core()?.dependents(now, &jids)?;
            (dependents_first(jobs, &edges), 0)
        }
        Dependents::Release => (jobs, 0),
    };
    plan.jobs = jobs;
    let consent = ask(&plan, plan.jobs.len(), below, session)?;
    if below > 0 {
        plan.named = Named::Many;
    }
    let dependents = match dependents {
        Dependents::Cancel => Dependents::Refuse,
        dependents => dependents,
    };
    save.begin(session)?;
    plan.run(session, |core, now, jobs| {
        let jobs: Vec<&JobSnapshot> = jobs.iter().collect();
        let (kept, mut fates) = match save.keep(core, now, &jobs) {
            Ok(kept) => kept,
            Err(error) => return Err(error).into(),
        };
        if kept.is_empty() {
            return Ok(fates).into();
        }
        let outcomes = match core.cancel(now, dependents, &kept, consent) {
            Ok(outcomes) => outcomes,
            Err(error) => return Err(error).into(),
        };
        let done = kept.iter().zip(&outcomes);
        fates.extend(done.map(|(job, outcome)| fate(job, outcome)));
        Ok(fates).into()
    })
}

/// Returns what waits for a job, as far as it is known.
fn tree(edges: &Edges, jid: &Name) -> Vec<Name> {
    let mut tree: Vec<Name> = Vec::new();
    let mut next = vec![jid];
    while let Some(jid) = next.pop() {
        for dependent in edges.get(jid).into_iter().flatten() {
            if !tree.contains(dependent) {
                tree.push(dependent.clone());
                next.push(dependent);
            }
        }
    }
    tree
}

/// Returns those of the jobs that do not exist; none where that cannot be seen.
fn gone(core: &mut Core, now: Moment, jids: Vec<Name>) -> Vec<Name> {
    let seen = core.snapshots(now, &jids).unwrap_or_default();
    let gone = jids.into_iter().zip(seen);
    gone.filter(|(_, seen)| seen.is_none())
        .map(|(jid, _)| jid)
        .collect()
}

fn fate(job: &JobSnapshot, outcome: &GuardReply) -> JobOutcome {
    let fate = match outcome.code {
        Code::Ok => JobOutcome::done(&job.jid).raw(job.jid.as_bytes()),
        Code::HasDependents => needed(job, outcome.names()),
        _ => JobOutcome::left(job, outcome),
    };
    fate.seen(job)
}

/// A job that others wait for.
fn needed<'n>(job: &JobSnapshot, by: impl Iterator<Item = &'n Name>) -> JobOutcome {
    let by: Vec<String> = by
        .map(|jid| format!("`{}`", clean(jid.as_bytes())))
        .collect();
    let verb = if by.len() == 1 { "waits" } else { "wait" };
    let shown = match by.len() {
        0 => "other jobs".to_string(),
        1..=5 => by.join(", "),
        more => format!("{} and {} more", by[..4].join(", "), more - 4),
    };
    JobOutcome::refused(
        &job.jid,
        Code::HasDependents,
        format!("{shown} {verb} for it"),
    )
    .hint(
        "`--dependents cancel` cancels what waits for it, too, `--dependents release` lets it run",
    )
}

/// Who waits for whom, as far as the jobs of the plan go.
type Edges = HashMap<Name, Vec<Name>>;

fn edges(plan: &Plan, now: Moment, session: &mut Session) -> Result<Edges, Error> {
    let jids: Vec<Name> = plan.jobs.iter().map(|job| job.jid.clone()).collect();
    session.core()?.dependents(now, &jids)
}

/// Returns all that waits for the jobs of the plan and is not in it, however far below.
fn below(
    plan: &Plan,
    edges: &Edges,
    now: Moment,
    session: &mut Session,
) -> Result<Vec<Name>, Error> {
    let mut known: HashSet<Name> = plan.jobs.iter().map(|job| job.jid.clone()).collect();
    let mut below = Vec::new();
    let mut next: Vec<Name> = edges.values().flatten().cloned().collect();
    next.sort();
    while !next.is_empty() {
        next.retain(|jid| known.insert(jid.clone()));
        let edges = session.core()?.dependents(now, &next)?;
        below.append(&mut next);
        next = edges.into_values().flatten().collect();
        next.sort();
    }
    Ok(below)
}

/// Puts jobs behind those of them that wait for them: so in no slice a job is held back by one
/// that a later slice would delete.
fn dependents_first(jobs: Vec<JobSnapshot>, edges: &Edges) -> Vec<JobSnapshot> {
    if edges.is_empty() {
        return jobs;
    }
    let at: HashMap<Name, usize> = jobs
        .iter()
        .enumerate()
        .map(|(at, job)| (job.jid.clone(), at))
        .collect();
    let waiting = |job: &JobSnapshot| {
        let dependents = edges.get(&job.jid).into_iter().flatten();
        dependents.filter_map(|jid| at.get(jid).copied())
    };
    let mut held_back: Vec<usize> = vec![0; jobs.len()];
    let mut frees: Vec<Vec<usize>> = vec![Vec::new(); jobs.len()];
    for (place, job) in jobs.iter().enumerate() {
        for dependent in waiting(job).filter(|&dependent| dependent != place) {
            held_back[place] += 1;
            frees[dependent].push(place);
        }
    }
    let mut order: Vec<usize> = (0..jobs.len()).filter(|&job| held_back[job] == 0).collect();
    let mut next = 0;
    while let Some(&job) = order.get(next) {
        next += 1;
        for &freed in &frees[job] {
            held_back[freed] -= 1;
            if held_back[freed] == 0 {
                order.push(freed);
            }
        }
    }
    // What waits for itself in a circle comes last, as it was told.
    let placed: HashSet<usize> = order.iter().copied().collect();
    order.extend((0..jobs.len()).filter(|job| !placed.contains(job)));
    let mut jobs: Vec<Option<JobSnapshot>> = jobs.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|job| jobs[job].take())
        .collect()
}

/// Asks; `below` jobs go because they wait for others.
fn ask(plan: &Plan, count: usize, below: usize, session: &mut Session) -> Result<Consent, Error> {
    if count == 0 || (count == 1 && plan.named != Named::Not) {
        return Ok(session.ui.named());
    }
    let what = what(plan, count, below, session)?;
    let details = |page: &Page| plan.details(page, "");
    match count > TYPED {
        true => session.ui.confirm_typed(&what, &count.to_string(), details),
        false => session.ui.confirm(&what, details),
    }
}

fn what(plan: &Plan, count: usize, below: usize, session: &mut Session) -> Result<String, Error> {
    let jobs = match below {
        0 => plan.told_jobs(count),
        _ => plural(count as u64, "job", "jobs"),
    };
    let mut what = format!("cancel {jobs} on {}", session.place()?);
    if below > 0 {
        what.push_str(&format!(", {below} of them because they wait for others"));
    }
    Ok(what)
}

fn rehearse(
    mut plan: Plan,
    dependents: Dependents,
    edges: &Edges,
    below: Vec<Name>,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    if dependents == Dependents::Refuse && !edges.is_empty() {
        let mut stays: HashSet<Name> = HashSet::new();
        let named: HashSet<Name> = plan.jobs.iter().map(|job| job.jid.clone()).collect();
        let mut goes = Vec::new();
        for job in std::mem::take(&mut plan.jobs) {
            let waits = edges.get(&job.jid).into_iter().flatten();
            let waits: Vec<&Name> = waits
                .filter(|jid| !named.contains(jid) || stays.contains(*jid))
                .collect();
            match waits.is_empty() {
                true => goes.push(job),
                false => {
                    stays.insert(job.jid.clone());
                    plan.refuse(needed(&job, waits.into_iter()).seen(&job));
                }
            }
        }
        plan.jobs = goes;
    }
    let count = plan.jobs.len() + below.len();
    if plan.named != Named::One && count > 0 {
        let what = what(&plan, count, below.len(), session)?;
        session.ui.rehearse(&what, |page| plan.details(page, ""));
    }
    let seen = session.core()?.snapshots(now, &below)?;
    plan.cascaded = seen
        .into_iter()
        .flatten()
        .map(|job| {
            JobOutcome::from(Item::planned(&job.jid))
                .seen(&job)
                .cascaded()
        })
        .collect();
    plan.run(session, |_, _, _| Ok(Vec::new()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_comes_before_what_it_waits_for() {
        let job = |jid: &str| JobSnapshot {
            jid: jid.into(),
            ..JobSnapshot::default()
        };
        let edges: Edges = [("a", vec!["b", "x"]), ("b", vec!["c"]), ("r", vec!["r"])]
            .into_iter()
            .map(|(jid, by)| (jid.into(), by.into_iter().map(Name::from).collect()))
            .collect();
        let jobs = ["a", "r", "b", "c"].map(job).to_vec();
        let order: Vec<Name> = dependents_first(jobs, &edges)
            .into_iter()
            .map(|job| job.jid)
            .collect();
        assert_eq!(order, ["r", "c", "b", "a"].map(Name::from));
        let circle: Edges = [("a", vec!["b"]), ("b", vec!["a"])]
            .into_iter()
            .map(|(jid, by)| (jid.into(), by.into_iter().map(Name::from).collect()))
            .collect();
        let order: Vec<Name> = dependents_first(["a", "b"].map(job).to_vec(), &circle)
            .into_iter()
            .map(|job| job.jid)
            .collect();
        assert_eq!(order, ["a", "b"].map(Name::from));
    }
}
