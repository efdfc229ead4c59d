//! Cancelling: jobs are deleted. Dependents keep a job from being deleted, unless they are cancelled or released, too.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::lanes::{self, Edges};
use super::plan::TargetSource;
use super::save::{CancelSaveFile, add_and_count_dependents};
use super::{BulkPlan, JobOutcome};
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::api::guard::{DependentsPolicy, GuardReply};
use crate::core::call::Core;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::report::{NAMED, count_and_first_names};
use crate::model::bulk::{BulkTableColumns, JobSnapshot, OutcomeCode, Verb};
use crate::model::job::Job;
use crate::name::Name;
use crate::session::Session;
use crate::text::{format_count, format_duration};
use crate::view::RenderOptions;

pub(crate) const CANCEL: Verb = Verb::new("cancel", "cancel", "cancelled")
    .with_table(BulkTableColumns::Jids)
    .allowing_raw_format();

/// The number of jobs above which the operator must type that number to cancel them.
const MAX_WITHOUT_TYPED_NUMBER: usize = 1000;

/// Maximum number of dependents that the question names.
const MAX_NAMED: usize = 10;

/// Number of histories in one reply.
const HISTORIES: usize = 100;

pub(crate) fn refuse_complete(job: &JobSnapshot) -> Option<JobOutcome> {
    if job.has_stored_state("complete") {
        Some(
            JobOutcome::already_complete(&job.jid)
                .hint("complete jobs are deleted in time, as `jobs-history` says"),
        )
    } else {
        None
    }
}

/// Cancels the jobs of a plan, after a question if there are several. With `save`, each job is
/// saved before it is cancelled.
pub(crate) fn cancel_jobs(
    mut plan: BulkPlan,
    dependents: DependentsPolicy,
    save: Option<CancelSaveFile>,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    plan.refuse_single_excluded()?;
    let jids: Vec<Name> = plan.jobs.iter().map(|job| job.jid.clone()).collect();
    let mut edges = session.core()?.dependents_by_job(now, &jids)?;
    if dependents == DependentsPolicy::Refuse {
        plan.jobs = lanes::dependents_first(std::mem::take(&mut plan.jobs), &edges);
    }
    // A cancel does not delete the next job of the lane, so it is no dependent here. A run that refuses dependents needs
    // no such step, except a dry run: the core itself decides which jobs have dependents.
    if dependents != DependentsPolicy::Refuse || plan.is_dry_run() {
        lanes::drop_lane_followers(session.core()?, now, &mut edges)?;
    }
    if let (Some(save), false) = (save, plan.is_dry_run()) {
        return save_and_cancel(plan, dependents, &edges, save, now, session);
    }
    if dependents == DependentsPolicy::Cancel && (plan.is_dry_run() || session.ui.needs_question())
    {
        plan.cascaded_dependents = dependents_outside_plan(&plan, &edges, now, session)?;
    }
    plan.running = RunningJobsWithWorkers::read_workers_and_times(&plan.jobs, now, session)?;
    if plan.is_dry_run() {
        return show_cancel_dry_run(plan, dependents, &edges, session);
    }
    let affected = name_affected_dependents(dependents, &plan, &edges);
    let consent = confirm_cancel(&plan, plan.cascaded_dependents.len(), &affected, session)?;
    let running = std::mem::take(&mut plan.running);
    let named: HashSet<Name> = plan.jobs.iter().map(|job| job.jid.clone()).collect();
    let mut cascaded: HashSet<Name> = HashSet::new();
    plan.change_in_slices(session, Some(consent), |core, now, _, jobs, outcomes| {
        let mut rest: Vec<&JobSnapshot> = jobs.iter().collect();
        loop {
            rest.retain(|job| !cascaded.contains(&job.jid));
            if rest.is_empty() {
                return Ok(());
            }
            let replies = core.cancel_jobs_up_to_call_limit(now, dependents, &rest, consent)?;
            let tried: Vec<&JobSnapshot> = rest.drain(..replies.len()).collect();
            let in_call: HashSet<&Name> = tried.iter().map(|job| &job.jid).collect();
            for (job, reply) in tried.iter().zip(replies) {
                outcomes.push(cancel_outcome(job, &reply, &running));
                let deleted = match reply {
                    GuardReply::Done(deleted) if dependents == DependentsPolicy::Cancel => deleted,
                    _ => continue,
                };
                let deleted = deleted.unwrap_or_else(|| {
                    // The reply that names the deleted dependents was lost, so the dependents that are
                    // missing now count as deleted.
                    keep_missing_jids(core, now, dependents_at_any_depth(&edges, &job.jid))
                });
                for jid in deleted.iter().filter(|jid| !in_call.contains(jid)) {
                    if cascaded.insert(jid.clone()) {
                        let mut outcome = JobOutcome::done(jid).with_raw_reply(jid.as_bytes());
                        outcome.detail = Some(format!("waited for {}", job.jid).into());
                        outcome.cascaded = !named.contains(jid);
                        outcomes.push(outcome);
                    }
                }
            }
        }
    })
}

/// Cancels the jobs of a plan, each after it was saved. Their dependents are saved and cancelled like jobs that were
/// named, so that each deleted job is in the file.
fn save_and_cancel(
    mut plan: BulkPlan,
    dependents: DependentsPolicy,
    edges: &Edges,
    mut save: CancelSaveFile,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    let affected = name_affected_dependents(dependents, &plan, edges);
    let mut below = 0;
    if dependents == DependentsPolicy::Cancel {
        let jobs = std::mem::take(&mut plan.jobs);
        (plan.jobs, below) = add_and_count_dependents(session.core()?, now, jobs)?;
    }
    plan.running = RunningJobsWithWorkers::read_workers_and_times(&plan.jobs, now, session)?;
    let consent = confirm_cancel(&plan, below, &affected, session)?;
    let running = std::mem::take(&mut plan.running);
    if below > 0 && plan.is_for_one_jid() {
        plan.targeting = TargetSource::Jids;
    }
    let dependents = match dependents {
        DependentsPolicy::Cancel => DependentsPolicy::Refuse,
        dependents => dependents,
    };
    save.ledger.write_head_or_report_restart(session)?;
    let exit = plan.change_in_slices(session, Some(consent), |core, now, _, jobs, outcomes| {
        let jobs: Vec<&JobSnapshot> = jobs.iter().collect();
        let (mut saved, unsaved) = save.write_unchanged_jobs(core, now, &jobs)?;
        outcomes.extend(unsaved);
        while !saved.is_empty() {
            let replies = core.cancel_jobs_up_to_call_limit(now, dependents, &saved, consent)?;
            let tried = saved.drain(..replies.len()).zip(&replies);
            outcomes.extend(tried.map(|(job, reply)| cancel_outcome(job, reply, &running)));
        }
        Ok(())
    });
    save.note_unimportable_jobs(session);
    exit
}

/// The known dependents of a job, at any depth.
fn dependents_at_any_depth(edges: &Edges, jid: &Name) -> Vec<Name> {
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

/// The jids of jobs that do not exist; empty if the server does not reply.
fn keep_missing_jids(core: &mut Core, now: Moment, jids: Vec<Name>) -> Vec<Name> {
    let found = core.job_snapshots(now, &jids).unwrap_or_default();
    let jobs = jids.into_iter().zip(found);
    jobs.filter(|(_, found)| found.is_none())
        .map(|(jid, _)| jid)
        .collect()
}

fn cancel_outcome<D>(
    job: &JobSnapshot,
    reply: &GuardReply<D>,
    running: &RunningJobsWithWorkers,
) -> JobOutcome {
    let refusal = match reply {
        GuardReply::Done(_) => {
            let outcome = JobOutcome::done(&job.jid).with_raw_reply(job.jid.as_bytes());
            return running.add_run_details(outcome).with_snapshot(job);
        }
        GuardReply::Refused(refusal) => refusal,
    };
    let outcome = match refusal.code {
        OutcomeCode::HasDependents => refused_by_dependents(job, refusal.detail_names()),
        OutcomeCode::Invalid if refusal.core_refusal_text().ends_with(" below") => {
            JobOutcome::from_guard_refusal(job, refusal)
                .hint("`--save FILE` cancels so many in several calls, from the leaves of the tree")
        }
        _ => JobOutcome::from_guard_refusal(job, refusal),
    };
    outcome.with_snapshot(job)
}

/// The outcome of a job that was not cancelled because other jobs depend on it.
fn refused_by_dependents<'n>(job: &JobSnapshot, by: impl Iterator<Item = &'n Name>) -> JobOutcome {
    let by: Vec<String> = by.map(|jid| format!("`{jid}`")).collect();
    let verb = if by.len() == 1 { "waits" } else { "wait" };
    let shown = match by.len() {
        0 => "other jobs".to_string(),
        1..=5 => by.join(", "),
        // The server names at most a hundred dependents, so a count of 100 means "at least".
        more => {
            let least = if more < 100 { "" } else { "at least " };
            format!("{} and {least}{} more", by[..4].join(", "), more - 4)
        }
    };
    JobOutcome::refused(
        &job.jid,
        OutcomeCode::HasDependents,
        format!("{shown} {verb} for it"),
    )
    .hint("`--dependents cancel` also cancels the jobs that wait for it, `--dependents release` lets them run")
}

/// All dependents of the jobs of the plan, at any depth, that are not in the plan.
fn dependents_outside_plan(
    plan: &BulkPlan,
    edges: &Edges,
    now: Moment,
    session: &mut Session,
) -> Result<Vec<JobSnapshot>, Error> {
    let mut known: HashSet<Name> = plan.jobs.iter().map(|job| job.jid.clone()).collect();
    let mut below = Vec::new();
    let mut next: Vec<Name> = edges.values().flatten().cloned().collect();
    next.sort_unstable();
    while !next.is_empty() {
        next.retain(|jid| known.insert(jid.clone()));
        let mut edges = session.core()?.dependents_by_job(now, &next)?;
        lanes::drop_lane_followers(session.core()?, now, &mut edges)?;
        below.append(&mut next);
        next = edges.into_values().flatten().collect();
        next.sort_unstable();
    }
    let found = session.core()?.job_snapshots(now, &below)?;
    Ok(found.into_iter().flatten().collect())
}

/// Lists the jobs outside `plan.jobs` that would be cancelled or released because they depend on jobs there: up to
/// ten names, and the number of the rest. Empty if there are none, or if dependents are refused.
fn name_affected_dependents(
    dependents: DependentsPolicy,
    plan: &BulkPlan,
    edges: &Edges,
) -> String {
    let named: HashSet<&Name> = plan.jobs.iter().map(|job| &job.jid).collect();
    let direct = edges.values().flatten();
    let all: BTreeSet<&Name> = if dependents == DependentsPolicy::Refuse {
        return String::new();
    } else if plan.cascaded_dependents.is_empty() {
        direct.filter(|jid| !named.contains(jid)).collect()
    } else {
        plan.cascaded_dependents
            .iter()
            .map(|job| &job.jid)
            .collect()
    };
    let names: Vec<String> = all
        .iter()
        .take(MAX_NAMED)
        .map(|jid| jid.to_string())
        .collect();
    match all.len().checked_sub(MAX_NAMED) {
        Some(more @ 1..) => format!("{} and {more} more", names.join(", ")),
        _ => names.join(", "),
    }
}

/// Asks for consent. `below` is the number of jobs that are cancelled only because they depend on other jobs.
/// `affected` lists dependents that would be cancelled or released.
fn confirm_cancel(
    plan: &BulkPlan,
    below: usize,
    affected: &str,
    session: &mut Session,
) -> Result<Consent, Error> {
    let count = plan.jobs.len() + plan.cascaded_dependents.len();
    let asks = match plan.targeting {
        _ if !affected.is_empty() => true,
        TargetSource::OneJid => count > 1,
        // Other members may have more of the named jobs, so even one job requires a question.
        TargetSource::Jids | TargetSource::File => {
            count > 1 || session.has_other_members() || session.ui.is_protected()
        }
        TargetSource::Selector => true,
    };
    if count == 0 || !asks {
        return Ok(session.ui.consent_without_question());
    }
    let what = describe_cancel(plan, count, below, affected, session)?;
    let details = |options: &RenderOptions| plan.question_table_and_effects(options, "");
    if count > MAX_WITHOUT_TYPED_NUMBER {
        session.ui.confirm_typed(&what, &count.to_string(), details)
    } else {
        session.ui.confirm(&what, details)
    }
}

fn describe_cancel(
    plan: &BulkPlan,
    count: usize,
    below: usize,
    affected: &str,
    session: &mut Session,
) -> Result<String, Error> {
    let jobs = match below {
        0 => plan.describe_count_and_state(count),
        _ => format_count(count as u64, "job", "jobs"),
    };
    let mut what = format!("cancel {jobs} on {}", session.server_label_and_address()?);
    if below > 0 {
        what.push_str(&format!(", {below} of them because they wait for others"));
    }
    match (affected.is_empty(), below) {
        (true, _) => {}
        (false, 0) => what.push_str(&format!(", releasing {affected}")),
        (false, _) => what.push_str(&format!(": {affected}")),
    }
    Ok(what)
}

fn show_cancel_dry_run(
    mut plan: BulkPlan,
    dependents: DependentsPolicy,
    edges: &Edges,
    session: &mut Session,
) -> Result<Exit, Error> {
    if dependents == DependentsPolicy::Refuse && !edges.is_empty() {
        let mut kept: HashSet<Name> = HashSet::new();
        let named: HashSet<Name> = plan.jobs.iter().map(|job| job.jid.clone()).collect();
        let mut deleted = Vec::new();
        for job in std::mem::take(&mut plan.jobs) {
            let blocking = edges.get(&job.jid).into_iter().flatten();
            let blocking: Vec<&Name> = blocking
                .filter(|jid| !named.contains(jid) || kept.contains(*jid))
                .collect();
            if blocking.is_empty() {
                deleted.push(job)
            } else {
                kept.insert(job.jid.clone());
                plan.record_excluded(
                    refused_by_dependents(&job, blocking.into_iter()).with_snapshot(&job),
                );
            }
        }
        plan.jobs = deleted;
    }
    let below = plan.cascaded_dependents.len();
    let count = plan.jobs.len() + below;
    let affected = name_affected_dependents(dependents, &plan, edges);
    if count > 0 && (plan.targeting != TargetSource::OneJid || !affected.is_empty()) {
        let what = describe_cancel(&plan, count, below, &affected, session)?;
        session.ui.note_dry_run_plan(&what, |options| {
            plan.question_table_and_effects(options, "")
        });
    }
    plan.change_in_slices(session, None, |_, _, _, _, _| Ok(()))
}

/// The running jobs of a plan, in its order.
#[derive(Debug, Default)]
pub(super) struct RunningJobsWithWorkers {
    jids: Vec<Name>,
    /// On which worker each job runs, and for how long: ``on `mx-1` for 41s``.
    places: HashMap<Name, String>,
}

impl RunningJobsWithWorkers {
    /// Reads on which worker each running job of a plan runs, and for how long. Makes no call if none runs.
    pub(super) fn read_workers_and_times(
        jobs: &[JobSnapshot],
        now: Moment,
        session: &mut Session,
    ) -> Result<RunningJobsWithWorkers, Error> {
        let running = jobs.iter().filter(|job| job.has_stored_state("running"));
        let jids: Vec<Name> = running.map(|job| job.jid.clone()).collect();
        let mut places = HashMap::with_capacity(jids.len());
        for slice in jids.chunks(HISTORIES) {
            let found = session
                .core()?
                .jobs_with_fields(now, "jid,shown,worker,history", slice)?;
            let found = found.into_iter().flatten();
            places.extend(found.map(|job| (job.jid.clone(), describe_worker_and_time(&job, now))));
        }
        Ok(RunningJobsWithWorkers { jids, places })
    }

    /// Adds the worker and the run time of a running job to its outcome.
    pub(super) fn add_run_details(&self, mut outcome: JobOutcome) -> JobOutcome {
        if let Some(place) = self.places.get(&outcome.jid) {
            outcome.detail = Some(format!("running {place}").into());
            outcome.running_on = Some(place.clone());
        }
        outcome
    }

    /// The first running jobs, for a plan.
    pub(super) fn count_and_first_running_jobs(&self, options: &RenderOptions) -> String {
        let first = self.jids.iter().take(NAMED);
        let place = |jid: &Name| Some(format!("{jid} {}", self.places.get(jid)?));
        let first: Vec<String> = first.filter_map(place).collect();
        if first.is_empty() {
            String::new()
        } else {
            "\n".to_owned() + &count_and_first_names("running", self.jids.len(), &first, options)
        }
    }
}

/// The worker of a running job and how long it runs, counted from the newest `popped` of its history.
fn describe_worker_and_time(job: &Job, now: Moment) -> String {
    let worker = job.worker.as_ref().map(|worker| format!("on `{worker}`"));
    let mut entries = job.history.iter().flatten().rev();
    let popped = entries.find(|entry| entry.what.as_bytes() == b"popped");
    let since = popped.and_then(|entry| entry.when);
    let time = since.map(|since| format!("for {}", format_duration(now.since(since).max(0.0))));
    let place: Vec<String> = worker.into_iter().chain(time).collect();
    place.join(" ")
}
