//! `qless depends`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::shared::{BulkFlags, JobTargets, refuse_overlap};
use crate::args::value;
use crate::bulk::lanes;
use crate::bulk::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::clock::moment::Moment;
use crate::core::api::guard::{GuardRefusal, GuardReply};
use crate::core::api::not_found;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::input::jids::GivenJids;
use crate::model::bulk::{JobSnapshot, Verb};
use crate::model::bulk::{OutcomeCode, OutcomeDetail};
use crate::model::job::State;
use crate::name::Name;
use crate::session::Session;
use crate::text::with_thousands_separators;

/// Show a job's dependencies and dependents, or change its dependencies
///
/// Only the dependencies of a job in state depends can be changed. Without its last dependency the
/// job is released: it becomes waiting, or scheduled if its time is still ahead. `--off-all` takes
/// several jobs or a selector. A selector without `--state` means jobs in state depends.
///
/// Examples: `qless depends c41d77aa0e3b4f6c9d1f2a5b8c7e6d50`
/// · `qless depends c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 --off 5510a4d2b8c34e6f8a9b0c1d2e3f4a5b`
/// · `qless depends --queue deploy --off-all --yes`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 not in state depends, or a cycle, 6 server,
/// 9 not confirmed.
///
/// See also: `qless graph`, `qless explain`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::Depends)]
pub(crate) struct Args {
    /// Add dependencies: all of these, or none; up to 500
    #[arg(long, value_name = "JID", num_args = 1.., value_parser = value::name(),
          add = value::CompletionKind::Jids(value::JidCompletionKind::NotComplete))]
    on: Vec<Name>,
    /// Remove these dependencies
    #[arg(long, value_name = "JID", num_args = 1.., value_parser = value::name_or_empty(),
          add = value::CompletionKind::Jids(value::JidCompletionKind::NotComplete))]
    off: Vec<Name>,
    /// Remove all dependencies
    #[arg(long, conflicts_with_all = ["on", "off"])]
    off_all: bool,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    jobs: JobTargets,
}

/// Maximum number of dependencies that the core adds in one call.
const MAX_ADDED: usize = 500;

/// The action, as errors name it.
const ASKS: &str = "change the dependencies of";

const RELEASE: Verb = Verb::new("depends", "release", "released");

impl Args {
    fn writes(&self) -> bool {
        self.off_all || !self.on.is_empty() || !self.off.is_empty()
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(HelpGroup::Submit, Args::writes, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    refuse_overlap(("--on", &args.on), ("--off", &args.off))?;
    if args.on.len() > MAX_ADDED {
        let given = with_thousands_separators(args.on.len() as u64);
        return Err(
            Error::usage(format!("`--on` takes up to {MAX_ADDED} jobs, not {given}"))
                .hint("one call adds all of them or none; add the others in a further one"),
        );
    }
    session.ui.require_format(&[Format::Jid])?;
    args.jobs.require_either_jids_or_selector()?;
    let given = jids::read_jids(&mut session.input(), &args.jobs.jids)?;
    match &given {
        GivenJids::One(jid) => show_dependencies_after_any_change(&args, jid, session),
        GivenJids::Many(_) if args.off_all => remove_all_dependencies(&args, &given, session),
        GivenJids::Many(_) => Err(Error::usage("`qless depends` takes one job")
            .hint("only `--off-all` takes several jobs")),
    }
}

/// Changes the dependencies of one job, if flags say so, and shows them.
fn show_dependencies_after_any_change(
    args: &Args,
    jid: &Name,
    session: &mut Session,
) -> Result<Exit, Error> {
    if let Some(flag) = args.bulk.given_flag_for_several_jobs() {
        return Err(Error::usage(format!(
            "`{flag}` needs `--off-all` and several jobs"
        )));
    }
    let note = BulkPlan::without_jobs(session, &RELEASE, &args.bulk)?.note;
    let now = session.connect()?;
    if args.writes() {
        change_dependencies(args, jid, &note, now, session)?;
    }
    let Some(mut dependencies) = session.core()?.dependencies_and_dependents(now, jid)? else {
        return Err(not_found::missing_job_error(jid));
    };
    dependencies.dry_run = args.writes() && args.bulk.dry_run;
    session.ui.show_and_exit_ok(&dependencies)
}

/// Removes all dependencies of many jobs.
fn remove_all_dependencies(
    args: &Args,
    given: &GivenJids,
    session: &mut Session,
) -> Result<Exit, Error> {
    let mut plan = BulkPlan::without_jobs(session, &RELEASE, &args.bulk)?;
    let states = &[State::Depends];
    plan.add_targets(
        session,
        &args.jobs,
        given,
        states,
        refuse_not_in_depends_state,
    )?;
    let edges = plan.exclude_lane_only_and_return_rest(session)?;
    let consent = plan.ask_consent_or_print_plan(session, "")?;
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let replies = core.remove_given_or_all_dependencies(now, note, jobs, &[]);
        add_outcomes_of_replies(outcomes, jobs, replies, |job, ()| {
            let state = match job.due {
                _ if edges.contains_key(&job.jid) => "depends",
                Some(_) => "scheduled",
                None => "waiting",
            };
            JobOutcome::done(&job.jid).with_state_after(state)
        })
    })
}

/// Refuses a job whose state is not `depends`.
fn refuse_not_in_depends_state(job: &JobSnapshot) -> Option<JobOutcome> {
    if job.has_stored_state("depends") {
        return None;
    }
    let code = if job.has_stored_state("complete") {
        OutcomeCode::Complete
    } else {
        OutcomeCode::StateChanged
    };
    let why = OutcomeDetail::State {
        is: job.state.clone(),
        required: Some("depends"),
    };
    let released = job.has_stored_state("waiting") || job.has_stored_state("scheduled");
    Some(JobOutcome::refused(&job.jid, code, why).with_already_as_asked(released))
}

fn change_dependencies(
    args: &Args,
    jid: &Name,
    note: &[u8],
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    let found = session
        .core()?
        .job_snapshots(now, std::slice::from_ref(jid))?;
    let Some(job) = found.into_iter().flatten().next() else {
        return Err(JobOutcome::gone(jid).to_error(ASKS));
    };
    if let Some(outcome) = refuse_not_in_depends_state(&job) {
        return Err(outcome.to_error(ASKS));
    }
    let neighbors = session.core()?.dependencies_and_dependents(now, jid)?;
    let dependencies: Vec<Name> = neighbors
        .into_iter()
        .flat_map(|both| both.dependencies)
        .map(|neighbor| neighbor.jid)
        .collect();
    for jid in args.off.iter().filter(|jid| !dependencies.contains(jid)) {
        session
            .ui
            .note(&format!("note: it does not depend on `{jid}`"));
    }
    let edges = lanes::read_lane_predecessors(session.core()?, now, std::slice::from_ref(jid))?;
    if let Some(edge) = edges.get(jid)
        && (args.off.contains(&edge.before) || (args.off_all && edge.is_sole))
    {
        let refusal = edge.refused_by_lane(jid, job.queue.as_ref());
        return Err(refusal.to_error(ASKS));
    }
    let off = args.off_all || !args.off.is_empty();
    let dry_run = args.bulk.dry_run;
    if !args.on.is_empty() {
        // If a second call follows, send the note only with that call: a note changes the job's mark, and the second
        // call requires the mark that was read before the first call.
        let note = if off { &[] } else { note };
        let note = Some(note).filter(|_| !dry_run);
        let core = session.core()?;
        let complete = match core.add_dependencies_returning_completed(now, &job, note, &args.on)? {
            GuardReply::Done(complete) => complete,
            GuardReply::Refused(refusal) => return Err(refusal_error(&job, &refusal)),
        };
        for jid in complete {
            session.ui.note(&format!(
                "note: `{jid}` is complete already, not a dependency"
            ));
        }
    }
    if dry_run {
        session
            .ui
            .note("would change the dependencies of the job; now they are:");
    }
    if dry_run || !off {
        return Ok(());
    }
    let jobs = std::slice::from_ref(&job);
    let steered = session
        .core()?
        .remove_given_or_all_dependencies(now, note, jobs, &args.off)
        .pop();
    match steered {
        Some(Ok(GuardReply::Refused(refusal))) => Err(refusal_error(&job, &refusal)),
        Some(Err(error)) => Err(JobOutcome::refusal_or_error(jid, ASKS, error)),
        _ => Ok(()),
    }
}

fn refusal_error(job: &JobSnapshot, refusal: &GuardRefusal) -> Error {
    let outcome = match refusal.code {
        OutcomeCode::Gone | OutcomeCode::StateChanged => {
            JobOutcome::from_guard_refusal(job, refusal)
        }
        code => JobOutcome::refused(&job.jid, code, refusal.put_or_dependency_detail()),
    };
    outcome.to_error(ASKS)
}
