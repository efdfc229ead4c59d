//! `qless bury`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::{BulkFlags, JobTargets, MaxInputDataFlag, SelectorWithoutFailureFlags};
use crate::args::value;
use crate::bulk::lanes::last_of_lane_first;
use crate::bulk::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::model::bulk::{JobSnapshot, OutcomeCode, OutcomeDetail, Verb};
use crate::model::ending::FailureReason;
use crate::model::job::State;
use crate::name::Name;
use crate::session::Session;

/// Fail jobs that have not started
///
/// Waiting, scheduled, stalled, depends and throttled jobs become failed: no worker runs them until
/// they are retried. Use it to set jobs aside without deleting them. Jobs that depend on them keep waiting. Their
/// own dependencies are removed: a retry runs them without waiting for these. `qless fail` fails running
/// jobs. `--group` and `--message` are what is recorded, not a selector. A selector without `--state`
/// means all jobs that have not started.
///
/// Examples: `qless bury 77be2d0c4a1f4e0f9f0d3b6a5c8e7f10 --group hold --message 'bad address'`
/// · `qless bury --queue mail --klass 'Promo::*' --group hold --message 'campaign stopped' --dry-run`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 running, failed or complete, 6 server, 9 not
/// confirmed.
///
/// See also: `qless retry`, `qless morgue`, `qless fail`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::NotComplete)]
pub(crate) struct Args {
    /// Failure group: the kind of failure
    #[arg(long, value_name = "G", value_parser = value::new_name(),
          add = value::CompletionKind::Groups)]
    group: Name,
    /// Failure message: text, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    message: ValueFileOrStdinArg,
    #[command(flatten)]
    limit: MaxInputDataFlag,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    jobs: JobTargets<SelectorWithoutFailureFlags>,
}

pub(super) const BURY: Verb = Verb::new("bury", "bury", "buried").allowing_raw_format();

/// The states of jobs that have not started.
pub(super) const NOT_STARTED: [State; 5] = [
    State::Waiting,
    State::Stalled,
    State::Scheduled,
    State::Depends,
    State::Throttled,
];

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Recover, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let targets = JobTargets::from(args.jobs);
    targets.require_either_jids_or_selector()?;
    let mut plan = BulkPlan::without_jobs(session, &BURY, &args.bulk)?;
    let mut source = session.input();
    let given = jids::read_jids(&mut source, &targets.jids)?;
    let message = source.read_input(&args.message, "the message", args.limit.max_data)?;
    let why = FailureReason {
        group: args.group,
        message: message.bytes.into(),
    };
    let fail = CommandLine::new("fail --as-holder")
        .with_flag("--group", &why.group)
        .with_flag("--message", args.message.as_typed());
    plan.add_targets(session, &targets, &given, &NOT_STARTED, |job| {
        let outcome = refuse_running_or_ended(job)?
            .with_already_as_asked(job.has_failed_in_group(&why.group));
        let fail = fail.clone().with_name_argument(&job.jid);
        let fail = fail.fill_sentence("fail it for its worker: {}");
        Some(outcome.hint_if(fail.filter(|_| job.has_stored_state("running"))))
    })?;
    bury_jobs(plan, &why, session)
}

/// Refuses a job that a worker holds, or that has ended.
pub(super) fn refuse_running_or_ended(job: &JobSnapshot) -> Option<JobOutcome> {
    let jid = &job.jid;
    match job.stored.as_bytes() {
        b"running" => {
            let holder = job.worker.clone().unwrap_or_default();
            let why = OutcomeDetail::Is(format!("{}, held by `{holder}`", job.state));
            Some(JobOutcome::refused(jid, OutcomeCode::StateChanged, why))
        }
        b"complete" => Some(JobOutcome::already_complete(jid)),
        b"failed" => Some(JobOutcome::wrong_state(jid, job.state.clone(), None)),
        _ => None,
    }
}

/// Fails the jobs of a plan, which have not started. The last job of a lane goes first: the bury of the first one would
/// make the next one runnable, and that one would then differ from its snapshot.
pub(super) fn bury_jobs(
    mut plan: BulkPlan,
    why: &FailureReason,
    session: &mut Session,
) -> Result<Exit, Error> {
    let effects = format!("\n  their group becomes `{}`\n", why.group);
    let consent = plan.ask_consent_or_print_plan(session, &effects)?;
    plan.jobs = last_of_lane_first(plan.jobs, session.now(), session)?;
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let replies = core.bury(now, note, jobs, why);
        add_outcomes_of_replies(outcomes, jobs, replies, |job, ()| {
            JobOutcome::done(&job.jid)
                .with_state_after("failed")
                .with_raw_reply(job.jid.as_bytes())
        })
    })
}
