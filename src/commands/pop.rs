//! `qless pop`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::core::api::job::JobFields;
use crate::core::api::queue::{MAX_NEXT_JOBS, PauseRespectPolicy};
use crate::core::call::reply;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::explain;
use crate::interrupt::InterruptFlags;
use crate::json::{Json, field_value};
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::model::list::{JobsAndMissingJids, List};
use crate::name::Name;
use crate::session::Session;
use crate::session::actor;
use crate::text::{backtick_list, format_count, format_duration};

/// Pop the next jobs of queues, to work on them
///
/// Queues are tried in the given order. Complete, fail or retry each job before its lock expires,
/// or extend the lock with `heartbeat`; otherwise another worker gets the job. If there is no job,
/// it prints nothing and exits with 4. Jobs that it cannot write to stdout it gives back, without using
/// a retry. Jobs that were popped before an error or a signal are printed; the exit code is that of the error.
///
/// Example: `job=$(qless pop mail -o ndjson) && send "$job" && qless complete "$(jq -r .jid
/// <<<"$job")"`
///
/// Exit codes: 0, 4 no job, 6 server, 130 interrupted, 143 terminated.
///
/// See also: `qless complete`, `qless heartbeat`, `qless fail`, `qless retry`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Queues
    #[arg(required = true, value_name = "QUEUE", value_parser = value::name(),
          add = value::CompletionKind::Queues)]
    queues: Vec<Name>,
    /// Maximum number of jobs
    #[arg(long, value_name = "N", value_parser = value::at_least_one, default_value = "1")]
    count: u64,
    /// Name of the worker that pops them [QLESS_WORKER; default cli-USER@HOST-SESSION]
    #[arg(long, value_name = "NAME", value_parser = value::new_name(),
          add = value::CompletionKind::Workers)]
    worker: Option<Name>,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::writes(HelpGroup::Work, run).context_member_dispatch(|_| MemberDispatch::UntilFound);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    session.ui.check_columns::<JobsAndMissingJids>()?;
    let worker = actor::worker_name_given_or_of_session(args.worker.as_ref())?;
    session.ui.continue_if_reader_closes_stdout();
    let now = session.connect()?;
    if args.dry.dry_run {
        return preview_pop(&args, now, session);
    }
    let mut jids = Vec::new();
    let popped = pop_jobs(&args, &worker, now, session, &mut jids);
    if jids.is_empty() {
        popped?;
        explain_empty_pop(&args.queues, now, session);
        return Ok(Exit::NotFound);
    }
    // Show the jobs that were popped before an error: this worker holds them.
    show_popped(&jids, &worker, now, session)?;
    session.ui.flush_stdout_and_wait_for_pager()?;
    if let Some(lost) = session.ui.lost_output_error() {
        return Err(release_unshown_jobs(lost, &jids, &worker, session));
    }
    let done = format_count(jids.len() as u64, "job was", "jobs were");
    popped.map_err(|error| error.after_doing(&format!("{done} popped")))?;
    Ok(Exit::Ok)
}

fn show_popped(
    jids: &[Name],
    worker: &Name,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    if session.ui.format() == Format::Raw {
        return Ok(());
    }
    let (core, out) = session.core_and_ui()?;
    let found = core
        .jobs(now, JobFields::Brief, jids)
        .map_err(|error| unshown_jobs_error(jids, worker, &error))?;
    let mut found: Vec<_> = found.into_iter().flatten().collect();
    core.add_missing_merge_payloads(now, found.iter_mut())
        .map_err(|error| unshown_jobs_error(jids, worker, &error))?;
    let jobs = JobsAndMissingJids {
        list: List::of_all(found),
        ..JobsAndMissingJids::default()
    };
    out.show(&jobs)?;
    let ends = jobs.list.items.iter().filter_map(|job| job.expires).min();
    if let Some(left) = ends.map(|end| end.since(now)) {
        out.note_to_people(&format!(
            "complete, fail or retry within {}, before the lock expires",
            format_duration(left.max(0.0))
        ));
    }
    Ok(())
}

/// Gives back popped jobs that could not be written to stdout, without using a retry. The returned error says whether
/// this succeeded.
fn release_unshown_jobs(lost: Error, jids: &[Name], worker: &Name, session: &mut Session) -> Error {
    let note = actor::history_note("pop", None);
    let outcome = session.core().and_then(|core| {
        let now = core.now();
        core.release_jobs(now, worker, jids, &note)
    });
    match outcome {
        Ok(released) => {
            session.ui.forget_lost_output_text();
            let jobs = format_count(released.len() as u64, "job", "jobs");
            lost.hint(format!("{jobs} given back; no retry was used"))
        }
        Err(error) => unshown_jobs_error(jids, worker, &error),
    }
}

/// Pops up to `--count` jobs, and adds their jids to `jids`. After a signal, waits for the reply to the current call,
/// because the worker already holds its jobs.
fn pop_jobs(
    args: &Args,
    worker: &Name,
    now: Moment,
    session: &mut Session,
    jids: &mut Vec<Name>,
) -> Result<(), Error> {
    let interrupt = InterruptFlags::install_handlers_once();
    for queue in &args.queues {
        loop {
            let count = args
                .count
                .saturating_sub(jids.len() as u64)
                .min(MAX_JOBS_PER_CALL as u64);
            if count == 0 {
                return Ok(());
            }
            if let Some(kind) = interrupt.error_kind_of_received_signal() {
                return Err(Error::new(kind, "interrupted"));
            }
            let (core, out) = session.core_and_ui()?;
            let reply = core.pop_json(now, queue, worker, count)?;
            let got = parse_popped_jids(&reply)
                .map_err(|error| error.hint_if(hint_at_jobs_of(worker)))?;
            if out.format() == Format::Raw && !got.is_empty() {
                out.write_verbatim_unless_terminal(&[&reply[..], b"\n"].concat())?;
            }
            let is_short = (got.len() as u64) < count;
            jids.extend(got);
            if is_short {
                break;
            }
        }
    }
    Ok(())
}

/// Notes on a terminal that there was nothing to pop, and for queues with waiting jobs the reason.
fn explain_empty_pop(queues: &[Name], now: Moment, session: &mut Session) {
    let mut is_told = false;
    if session.ui.shows_hints() {
        for queue in queues {
            let found = session
                .core()
                .and_then(|core| explain::explain_queue(core, now, queue));
            let found = match found {
                Ok(found) => found,
                // The queue does not exist, and no other member of the context may have it.
                Err(error) if error.kind() == Kind::NotFound && !session.has_other_members() => {
                    session
                        .ui
                        .note(&format!("nothing to pop: {}", error.message()));
                    session.ui.hint_if(error.hint_text().map(str::to_owned));
                    is_told = true;
                    continue;
                }
                // Ignore a failure to find the reasons, because they are only for a note.
                Err(_) => continue,
            };
            // If a pop would get a job now, because another client has put one meanwhile, report no reason.
            if let Some(reason) = found.reasons.first().filter(|_| !found.runnable) {
                let why = reason.reason_and_evidence_line(session.ui.render_options());
                session
                    .ui
                    .note(&format!("nothing to pop from {queue}: {why}"));
                session.ui.hint_if(reason.fix_command());
                is_told = true;
            }
        }
    }
    if !is_told {
        session.ui.note_to_people("nothing to pop");
    }
}

/// Reads the jids of the core's reply.
fn parse_popped_jids(reply: &[u8]) -> Result<Vec<Name>, Error> {
    let unexpected = || reply::unexpected_reply("pop", "not a list of jobs");
    let jobs = Json::parse(reply).and_then(|jobs| jobs.array());
    let mut jids = Vec::new();
    for job in jobs.ok_or_else(unexpected)? {
        let fields = job.object().ok_or_else(unexpected)?;
        let jid = field_value(&fields, "jid").and_then(Json::text);
        jids.push(jid.ok_or_else(unexpected)?);
    }
    Ok(jids)
}

/// The error for jobs that were popped but cannot be shown.
fn unshown_jobs_error(jids: &[Name], worker: &Name, error: &Error) -> Error {
    let names = backtick_list(jids);
    Error::new(
        error.kind(),
        format!("popped {names}, but cannot show it: {}", error.message()),
    )
    .hint_if(hint_at_jobs_of(worker))
}

/// A hint with the command that shows the jobs of a worker.
fn hint_at_jobs_of(worker: &Name) -> Option<String> {
    let command = CommandLine::new("workers").with_name_argument(worker);
    command.fill_sentence("{} shows it")
}

/// Shows the jobs that a pop would get now.
fn preview_pop(args: &Args, now: Moment, session: &mut Session) -> Result<Exit, Error> {
    let (core, out) = session.core_and_ui()?;
    let found = core.next_jobs(now, &args.queues, args.count, PauseRespectPolicy::Count)?;
    let count = found.len() as u64;
    if count == 0 {
        explain_empty_pop(&args.queues, now, session);
        return Ok(Exit::NotFound);
    }
    // A dry run pops nothing, so there is no reply of the core to show.
    if out.format() != Format::Raw {
        out.show(&JobsAndMissingJids {
            list: List::of_all(found),
            dry_run: true,
            ..JobsAndMissingJids::default()
        })?;
    }
    let limit = if count < args.count && count == MAX_NEXT_JOBS {
        "at least "
    } else {
        ""
    };
    out.note_dry_run_changes(&format!("would pop {limit}{count}"));
    session.ui.flush_stdout_and_wait_for_pager()?;
    Ok(Exit::Ok)
}
