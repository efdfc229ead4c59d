//! `qless wait`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::moment;
use crate::args::moment::MomentArg;
use crate::args::shared::JobTargets;
use crate::args::value;
use crate::core::api::job::JobFields;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::input::jids;
use crate::model::job::State;
use crate::model::wait::{JobWaitResult, WaitItem, WaitTotals};
use crate::name::Name;
use crate::select;
use crate::session::Session;
use crate::ui::Ui;
use crate::view::json;
use crate::wait;
use crate::wait::{SubscribedWait, WaitOptions};

/// Wait until jobs are complete
///
/// Prints a line for each job when its wait ends. The command ends as soon as the result is certain:
/// when all jobs are complete, or when one has failed or was cancelled. With `--any` it ends when one
/// is complete, or when none can be. A job that is complete already counts immediately. A selector
/// means the jobs that match at the start. A jid that does not exist at the start ends the command
/// immediately, also with `--any`, and its exit code 4 comes before 8.
///
/// A job that is complete is kept for a time, by default 7 days (`jobs-history`). After that it does
/// not exist, like a job that was cancelled: `--allow-gone` accepts both, whether that was before the
/// wait or during it.
///
/// Examples: `qless wait build-78 --deadline 30s`
/// · `qless wait --tag night --require-match --deadline 10m && echo all done`
/// · `qless jobs --queue ci -o jid | qless wait - --any --deadline 30s`
/// · `qless wait build-78 --for running --deadline 30s`
///
/// Exit codes: 0, 4 unknown jid or no match with `--require-match`, 6 server, 8 a job failed or was cancelled, 124 deadline,
/// 130 interrupted, 143 terminated.
///
/// See also: `qless put --wait`, `qless explain`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::NotComplete)]
pub(crate) struct Args {
    #[command(flatten)]
    targets: JobTargets,
    /// Wait for one of the jobs, not for all
    #[arg(long)]
    any: bool,
    /// Wait for this state instead of complete
    #[arg(long = "for", value_name = "STATE", value_parser = value::state(),
          default_value = "complete")]
    awaited: State,
    /// End after this time, such as `10m`, or at this time, such as `06:00`
    #[arg(long, value_name = "D|T", value_parser = moment::parse_deadline)]
    deadline: Option<MomentArg>,
    /// Accept jobs that do not exist: complete and expired, or cancelled
    #[arg(long)]
    allow_gone: bool,
    /// Exit with 4 if no job matches
    #[arg(long)]
    require_match: bool,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(HelpGroup::Inspect, run)
    .unpaged()
    .context_member_dispatch(|args| MemberDispatch::Wait {
        jids: &args.targets.jids,
        any: args.any,
    });

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid])?;
    args.targets.require_either_jids_or_selector()?;
    let by_jid = !args.targets.jids.is_empty();
    let given = if by_jid {
        Some(jids::read_jids(&mut session.input(), &args.targets.jids)?)
    } else {
        None
    };
    let now = session.connect()?;
    let options = WaitOptions {
        awaited: args.awaited,
        any: args.any,
        deadline: args.deadline.map(|deadline| deadline.time_left(now)),
        allow_gone: args.allow_gone,
        must_exist: by_jid,
    };
    let waiter = SubscribedWait::subscribe_and_handle_signals(options, session)?;
    let jids: Vec<Name> = match given {
        Some(given) => given.into_jids(),
        None => {
            session
                .core()?
                .limit_calls_until(waiter.first_read_deadline());
            let jobs = select::matching_jobs(session, now, &args.targets.selector, JobFields::Jid);
            let jobs = jobs.map_err(|error| {
                if waiter.is_caused_by_deadline(&error) {
                    Error::new(
                        Kind::Deadline,
                        "the deadline passed before the jobs to wait for were read",
                    )
                    .hint("give a later `--deadline`, or fewer names")
                } else {
                    error
                }
            })?;
            jobs.into_iter().map(|job| job.jid).collect()
        }
    };
    if jids.is_empty() {
        if session.has_other_members() {
            // Another member may have such jobs.
            session.ui.note("no job matches: nothing to wait for");
            return Ok(Exit::NotFound);
        }
        if args.require_match {
            return Err(Error::not_found("no job matches: nothing to wait for"));
        }
        session.ui.note("no job matches: nothing to wait for");
    }
    let wait = waiter.wait_until_outcome_certain(jids, session, show_wait_result)?;
    match session.ui.format() {
        Format::Json => session.ui.show(&wait)?,
        Format::Ndjson => {
            let pending = wait.items.iter();
            for item in pending.filter(|item| item.result == JobWaitResult::Pending) {
                write_ndjson_line(item, &mut session.ui)?;
            }
            let summary = &wait.totals;
            let line = json::compact_line(&WaitSummaryLine { summary }).map_err(Error::internal)?;
            session.ui.write_bytes(&line)?;
        }
        _ => {}
    }
    match wait::require_awaited_state(&wait, &options, session) {
        // The document has the outcome.
        Err(error) if session.ui.format().is_json_or_ndjson() => Ok(error.exit()),
        Err(error) => Err(error),
        Ok(()) => Ok(Exit::Ok),
    }
}

#[derive(serde::Serialize)]
struct WaitSummaryLine<'a> {
    summary: &'a WaitTotals,
}

/// Writes a job whose wait has ended.
fn show_wait_result(ui: &mut Ui, item: &WaitItem) -> Result<(), Error> {
    match ui.format() {
        Format::Table => {
            let line = item.job_result_line(ui.render_options());
            ui.print_text(&line)
        }
        Format::Ndjson => write_ndjson_line(item, ui),
        Format::Jid if matches!(item.result, JobWaitResult::Reached(_)) => {
            ui.write_jids_skipping_ambiguous(&[&item.jid])
        }
        _ => Ok(()),
    }
}

fn write_ndjson_line(item: &WaitItem, ui: &mut Ui) -> Result<(), Error> {
    ui.write_bytes(&json::compact_line(item).map_err(Error::internal)?)
}
