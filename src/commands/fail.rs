//! `qless fail`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::{
    BulkFlags, HolderFlags, JobTargets, MaxInputDataFlag, SelectorWithoutFailureFlags,
};
use crate::args::value;
use crate::bulk::acting_worker::ActingWorker;
use crate::bulk::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::{data, jids};
use crate::model::bulk::{JobSnapshot, Verb};
use crate::model::ending::FailureReason;
use crate::model::job::State;
use crate::name::Name;
use crate::session::Session;

/// Fail running jobs
///
/// The failure is recorded in the name of the worker that holds the job. Only running jobs can be
/// failed; `qless bury` fails waiting jobs. `--group` and `--message` are what is recorded, not a
/// selector. A selector without `--state` means running and stalled jobs.
///
/// Example: `qless fail 77be2d0c4a1f4e0f9f0d3b6a5c8e7f10 --group hung --message "no output for 2h"
/// --as-holder`
///
/// Example: `qless fail --held-by 'mx-2-*' --group 'lost host' --message 'mx-2 is gone'
/// --as-holder --yes`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 not running or held by another worker, 6 server,
/// 9 not confirmed.
///
/// See also: `qless bury`, `qless timeout`, `qless cancel`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::Held)]
pub(crate) struct Args {
    /// Failure group: the kind of failure
    #[arg(long, value_name = "G", value_parser = value::new_name(),
          add = value::CompletionKind::Groups)]
    group: Name,
    /// Failure message: text, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    message: ValueFileOrStdinArg,
    /// New data of the job: JSON, `@FILE`, or `-` for stdin
    #[arg(long, allow_hyphen_values = true)]
    data: Option<ValueFileOrStdinArg>,
    #[command(flatten)]
    limit: MaxInputDataFlag,
    #[command(flatten)]
    holder: HolderFlags,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    jobs: JobTargets<SelectorWithoutFailureFlags>,
}

const FAIL: Verb = Verb::new("fail", "fail", "marked failed").allowing_raw_format();

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Recover, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let targets = JobTargets::from(args.jobs);
    targets.require_either_jids_or_selector()?;
    let mut plan = BulkPlan::without_jobs(session, &FAIL, &args.bulk)?;
    let max_data = args.limit.max_data;
    let mut source = session.input();
    let given = jids::read_jids(&mut source, &targets.jids)?;
    let message = source
        .read_input(&args.message, "the message", max_data)?
        .bytes;
    let data = match &args.data {
        Some(given) => Some(data::read_json_data(&mut source, given, max_data)?.0),
        None => None,
    };
    let why = FailureReason {
        group: args.group,
        message: message.into(),
    };
    let name = ActingWorker::from_holder_flags(&args.holder)?;
    let states = &[State::Running, State::Stalled];
    plan.add_targets(session, &targets, &given, states, |job| {
        refuse_job_not_held(&name, &why, job)
    })?;
    let effects = format!("\n  their group becomes `{}`\n", why.group);
    let consent = plan.ask_consent_or_print_plan(session, &effects)?;
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let worker = |job: &JobSnapshot| name.acting_worker_for(job);
        let replies = core.fail(now, note, jobs, worker, &why, data.as_deref());
        add_outcomes_of_replies(outcomes, jobs, replies, |job, ()| {
            JobOutcome::done(&job.jid)
                .with_state_after("failed")
                .with_raw_reply(job.jid.as_bytes())
        })
    })
}

/// Refuses a job that the worker does not hold, and suggests `bury` for one that is not running.
fn refuse_job_not_held(
    worker: &ActingWorker,
    why: &FailureReason,
    job: &JobSnapshot,
) -> Option<JobOutcome> {
    let outcome = worker
        .refuse_not_held(job)?
        .with_already_as_asked(job.has_failed_in_group(&why.group));
    Some(match job.stored.as_bytes() {
        b"waiting" | b"scheduled" | b"depends" | b"throttled" | b"stalled" => {
            let bury = CommandLine::new("bury").with_flag("--group", &why.group);
            let bury = bury
                .with_flag("--message", &why.message)
                .with_name_argument(&job.jid);
            outcome.hint_if(bury.fill_sentence("fail it without a worker: {}"))
        }
        _ => outcome,
    })
}
