//! `qless pause`

use std::collections::HashSet;
use std::time::Duration;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::moment;
use crate::args::moment::MomentArg;
use crate::args::shared::{DryRunFlag, QueueTargets};
use crate::args::value;
use crate::bulk::SLICE;
use crate::clock::duration;
use crate::clock::moment::Moment;
use crate::command_line::flag_with_quoted_value;
use crate::core::api::guard::GuardReply;
use crate::core::api::index::Index;
use crate::core::api::not_found;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::JobSnapshot;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::session::actor;
use crate::text::{comma_list, format_count};

/// Pause queues: workers get no more jobs from them
///
/// Running jobs continue, unless `--stop-running` revokes their locks. With `--until` or `--for`
/// the pause ends by itself. Other clients see a plain pause; for them it ends when a worker with
/// the core of `qless` pops.
///
/// Examples: `qless pause images --for 2h --reason "disk swap"`
/// · `qless pause --all --stop-running`
///
/// Exit codes: 0, 4 unknown queue, 6 server, 9 not confirmed.
///
/// See also: `qless unpause`, `qless queues`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    queues: QueueTargets,
    /// End the pause at this time
    #[arg(long, value_name = "T", value_parser = moment::parse_moment_or_delay, allow_hyphen_values = true)]
    until: Option<MomentArg>,
    /// End the pause after this time
    #[arg(long = "for", value_name = "D", value_parser = value::duration,
          allow_hyphen_values = true, conflicts_with = "until")]
    for_: Option<Duration>,
    /// Reason, which `qless queues` shows
    #[arg(long, value_name = "TEXT", value_parser = value::new_name())]
    reason: Option<Name>,
    /// Revoke the locks on running jobs
    #[arg(long)]
    stop_running: bool,
    /// Pause queues that do not exist, too
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Operate, run)
    .context_member_dispatch(|_| MemberDispatch::EachMustHaveNames);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let now = session.connect()?;
    let until = match (args.for_, &args.until) {
        (Some(wait), _) => Some(now.plus(wait)),
        (None, Some(when)) => Some(when.resolve(now)),
        (None, None) => None,
    };
    if until.is_some_and(|until| until <= now) {
        return Err(Error::usage(match args.until {
            Some(_) => "`--until` expects a time in the future",
            None => "`--for` expects a time of more than 0s",
        }));
    }
    let queues = not_found::named_or_all_queues(
        session.core()?,
        now,
        args.queues.queue_names_unless_all(),
        &Index::Queues,
        args.force,
    )
    .map_err(|error| hint_at_flag_for_duration(error, &args))?;
    let dry = args.dry.dry_run;
    if !dry && !queues.is_empty() {
        let revoke = if args.stop_running {
            " and revoke the locks on all jobs that run there"
        } else {
            ""
        };
        let count = format_count(queues.len() as u64, "queue", "queues");
        let what = format!(
            "pause {count}{}{revoke}",
            session.on_server_text_if_labeled()?
        );
        let details = |_: &_| format!("  {}\n", comma_list(&queues));
        session.ui.confirm_if_protected(&what, details)?;
    }
    // The note must not keep a queue from being paused.
    _ = note_replaced_pauses(&queues, until, args.reason.as_ref(), now, session);
    let mut stopped = 0;
    if !dry {
        let (by, reason) = (actor::user_at_host(), args.reason.as_ref());
        session
            .core()?
            .pause_queues(now, &queues, until, reason, &by)?;
        if args.stop_running {
            let note = actor::history_note("pause", args.reason.as_ref());
            stopped = revoke_locks(&queues, &note, now, session)?;
        }
    }
    note_paused(&queues, until, stopped, dry, session);
    session
        .ui
        .show_and_exit_ok(&CommandResult::new("pause", queues, dry))
}

/// Adds a hint to the error about a queue that does not exist, if its name is a duration: `pause mail 2h`.
fn hint_at_flag_for_duration(error: Error, args: &Args) -> Error {
    let names = args.queues.queue_names_unless_all().unwrap_or_default();
    let is_duration = |name: &&Name| {
        let text = name.as_str();
        text.is_some_and(|text| duration::parse_duration(text).is_ok())
    };
    let mut durations = names.iter().filter(is_duration);
    let unknown = |name: &&Name| {
        let unknown = Error::unknown_name("queue", name, &[]);
        unknown.message() == error.message()
    };
    match durations.find(unknown) {
        Some(name) if args.for_.is_none() && args.until.is_none() => {
            let flag = flag_with_quoted_value("--for", name);
            error.hint(format!(
                "add `{flag}` instead to end the pause after that time"
            ))
        }
        _ => error,
    }
}

/// Maximum number of replaced pauses that notes name.
const MAX_NAMED: usize = 10;

/// Prints a note about each pause that would end later than this one, or that has another reason: this pause replaces
/// it.
fn note_replaced_pauses(
    queues: &[Name],
    until: Option<Moment>,
    reason: Option<&Name>,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    let core = session.core()?;
    let paused: HashSet<Name> = core
        .index_members(now, &Index::Paused)?
        .into_iter()
        .collect();
    let paused = queues.iter().filter(|queue| paused.contains(*queue));
    let paused: Vec<Name> = paused.cloned().collect();
    if paused.is_empty() {
        return Ok(());
    }
    let mut replaced = core.queues_including_unreadable(now, &paused)?;
    replaced.retain(|queue| {
        let ended_later =
            until.is_some_and(|until| queue.paused_until.is_none_or(|end| end > until));
        let has_other_reason =
            queue.paused_reason.is_some() && queue.paused_reason.as_ref() != reason;
        queue.paused && (ended_later || has_other_reason)
    });
    for queue in replaced.iter().take(MAX_NAMED) {
        let before = queue.pause_and_author_text(session.ui.render_options());
        session.ui.note(&format!(
            "note: replaces the pause of `{}`: {before}",
            queue.name
        ));
    }
    if let Some(more @ 1..) = replaced.len().checked_sub(MAX_NAMED) {
        session.ui.note(&format!("note: and {more} more pauses"));
    }
    Ok(())
}

/// Revokes the locks on all running jobs of the queues. Returns the number of these jobs.
fn revoke_locks(
    queues: &[Name],
    note: &[u8],
    now: Moment,
    session: &mut Session,
) -> Result<u64, Error> {
    let core = session.core()?;
    let mut stopped = 0;
    for queue in queues {
        for jids in core
            .index_members(now, &Index::Locks(queue.clone()))?
            .chunks(SLICE)
        {
            let jobs = core.job_snapshots(now, jids)?.into_iter().flatten();
            let jobs: Vec<JobSnapshot> =
                jobs.filter(|job| job.has_stored_state("running")).collect();
            for (job, reply) in jobs.iter().zip(core.revoke_locks(now, note, &jobs)) {
                match reply {
                    Ok(GuardReply::Done(())) => stopped += 1,
                    // The job ended by itself before the call.
                    Ok(GuardReply::Refused(_)) => {}
                    Err(error) if error.refusal_of(&job.jid).is_some() => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(stopped)
}

fn note_paused(
    queues: &[Name],
    until: Option<Moment>,
    revoked: u64,
    is_dry_run: bool,
    session: &mut Session,
) {
    let mut line = match (queues.is_empty(), is_dry_run) {
        (true, _) => "no queues".into(),
        (false, true) => format!("would pause {}", comma_list(queues)),
        (false, false) => format!("paused {}", comma_list(queues)),
    };
    if let (Some(until), false) = (until, queues.is_empty()) {
        let options = session.ui.render_options();
        line.push_str(&format!(
            " until {}{}",
            options.format_timestamp(until),
            options.zone_suffix()
        ));
    }
    if revoked > 0 {
        let jobs = format_count(revoked, "running job", "running jobs");
        line.push_str(&format!(", {jobs} timed out"));
    }
    if is_dry_run {
        session.ui.note_dry_run_changes(&line)
    } else {
        session.ui.note_to_people(&line)
    }
}
