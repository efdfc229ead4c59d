//! `qless web`

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read};
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{
    HelpGroup, MemberDispatch, Spec, cancel, failed, get, pause, priority, promote, queues, retry,
    status, tag, track, unpause, workers,
};
use crate::args::{plain, value};
use crate::command_line::CommandLine;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::fs;
use crate::fs::open::open_to_read_unless_pipe;
use crate::interrupt::InterruptFlags;
use crate::listen::{AccessOptions, ListenAddress, Listener, listen_address};
use crate::look::server::{PATIENCE, SnapshotHttpResponder};
use crate::model::overview::history::JobRateHistory;
use crate::name::Name;
use crate::session::Session;
use crate::text::{Sanitized, sanitize_to_line};
use crate::web::{CommandOutput, CommandRunMode, WebOptions, WebServer};

/// Serve a page that shows the queues in a browser
///
/// The page shows what needs a person, queues, jobs with their story, groups of failures, workers, recurring jobs and
/// limits, and follows what happens. Looking is all it does: `--allow-changes` adds buttons, each of which first asks,
/// with the plan and the command of the command line. In a protected context each change asks for its label.
///
/// Redis is asked only while somebody looks, once per `--interval` for all of them. Without `--token-file`, only this
/// machine can open the page. With it, a browser asks for the token as a password, for any user. `--history` keeps
/// what was counted for a day, so that the charts survive a restart.
///
/// `GET /api/v1/status`, `queues`, `queues/QUEUE`, `jobs/JID`, `failed` and `workers` are the JSON documents of the
/// commands, `/api/v1/stats` is that of Lowkiq; `/metrics`, `/livez`, `/readyz` and `/healthz` are as in `qless
/// metrics --listen`.
///
/// Examples: `qless web --listen 127.0.0.1:7979`
/// · `qless web --listen :7979 --allow-changes`
/// · `qless web --listen unix:qless.sock --base-path /qless --allow-host ops.example`
///
/// Exit codes: 0, 1 the address or the file of the history cannot be used, 2 usage, 6 server with `--no-retry`, 130 SIGINT, 143 SIGTERM.
///
/// See also: `qless top`, `qless status`, `qless metrics`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Answer browsers at HOST:PORT, at :PORT of this machine only, or at unix:PATH
    #[arg(long, value_name = "ADDR", value_parser = listen_address(), default_value = "127.0.0.1:7979")]
    listen: ListenAddress,
    #[command(flatten)]
    access: AccessOptions,
    #[command(flatten)]
    pages: WebOptions,
    /// Keep the history of a day in this file
    #[arg(long, value_name = "FILE", value_parser = value::file_to_write())]
    history: Option<PathBuf>,
    /// End with 6 if Redis does not answer at the start
    #[arg(long)]
    no_retry: bool,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::writes_if(HelpGroup::Inspect, |args| args.pages.allow_changes, run)
        .context_member_dispatch(|_| MemberDispatch::Apart);

/// Maximum size of a history file, in bytes: three times the size of the history of a day with a thousand queues and
/// groups.
const LONGEST_HISTORY: u64 = 128 << 20;

/// How often the history is written.
const SAVED_EVERY: Duration = Duration::from_secs(60);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let access = args
        .access
        .read_access(|warning| session.ui.warn(warning))?;
    let mut members = session.sessions_of_members();
    if args.history.is_some() && members.len() > 1 {
        return Err(
            Error::usage("`--history` keeps what was counted of one context only")
                .hint("leave it out, or name one context"),
        );
    }
    let mut sessions: Vec<&mut Session> = if members.is_empty() {
        vec![&mut *session]
    } else {
        members.iter_mut().collect()
    };
    for session in &mut sessions {
        session.globals.timeout = Some(session.timeout().min(PATIENCE));
        session.changes = args.pages.allow_changes && !session.globals.read_only;
        if let Some((why, _)) = session
            .read_only_setting_and_remedy()
            .filter(|_| args.pages.allow_changes)
        {
            let name = session
                .flag_naming_member()
                .map(|(_, name)| name.to_owned());
            let here = name.map_or_else(String::new, |name| format!(" for `{}`", Sanitized(&name)));
            let warning = format!("`--allow-changes` adds no button{here}: {why}");
            session.ui.warn(&warning);
        }
        // Later, nobody could type it.
        if args.no_retry || session.globals.takes_typed_or_stdin_password() {
            session.connect()?;
        }
    }
    let kept = args
        .history
        .as_deref()
        .map(read_and_rewrite_history)
        .transpose()?;
    let listener = Listener::bind(&args.listen, access)?.accepting_posts();
    let place = format!("listening on {}{}/", listener.url(), args.pages.base_path);
    sessions[0].ui.note(&place);
    let server = WebServer::new(sessions.into_iter(), args.pages, &run_command)?;
    if let (Some(first), Some(kept)) = (server.first_server(), kept) {
        first.with_snapshot_history(|history| *history = kept);
    }
    server.fail_if_any_permanently_unreadable()?;
    let interrupt = InterruptFlags::install_handlers_once();
    interrupt.spawn_exit_after_signal(PATIENCE)?;
    let (saved, is_failing) = (Cell::new(Instant::now()), Cell::new(false));
    listener.serve(
        |request| server.respond(request),
        || {
            let is_over = interrupt.error_kind_of_received_signal().is_some();
            if let (Some(path), Some(first)) = (&args.history, server.first_server())
                && (is_over || saved.get().elapsed() >= SAVED_EVERY)
            {
                saved.set(Instant::now());
                let result = save_history(path, first);
                // The page does not depend on it.
                if let (Err(error), false) = (&result, is_failing.get()) {
                    first.warn_on_stderr(error);
                }
                is_failing.set(result.is_err());
            }
            is_over
        },
    );
    Ok(interrupt
        .error_kind_of_received_signal()
        .map_or(Exit::Ok, Kind::exit))
}

/// Reads the history and writes it back, so that a file that cannot be written is an error at the start. A missing
/// file is an empty history.
fn read_and_rewrite_history(path: &Path) -> Result<JobRateHistory, Error> {
    const ANOTHER: &str = "name a file in a directory that exists and that you may write to";
    let history = read_history(path)?;
    let text = serde_json::to_vec(&history).map_err(Error::internal)?;
    fs::write_private(path, &text).map_err(|error| error.hint(ANOTHER))?;
    Ok(history)
}

fn read_history(path: &Path) -> Result<JobRateHistory, Error> {
    let shown = sanitize_to_line(path.as_os_str().as_bytes());
    let what = format!("cannot read `{shown}`");
    let file = match open_to_read_unless_pipe(path) {
        Ok(file) => file,
        Err(why) if why.io_kind() == Some(ErrorKind::NotFound) => {
            return Ok(JobRateHistory::default());
        }
        Err(why) => return Err(why.into_error(&what, Kind::File)),
    };
    let mut text = Vec::new();
    file.take(LONGEST_HISTORY + 1)
        .read_to_end(&mut text)
        .map_err(|fault| Error::from_io(Kind::File, &what, &fault))?;
    let history = serde_json::from_slice(&text).ok();
    let history = history.filter(|_| text.len() as u64 <= LONGEST_HISTORY);
    history.ok_or_else(|| {
        Error::new(Kind::File, format!("`{shown}` is not a history"))
            .hint("name another file, or delete this one")
    })
}

fn save_history(path: &Path, server: &SnapshotHttpResponder) -> Result<(), Error> {
    let text = server.with_snapshot_history(|history| serde_json::to_vec(history));
    fs::write_private(path, &text.map_err(Error::internal)?)
}

/// Runs a command for a page, and returns its output instead of printing it.
fn run_command(line: &CommandLine, mode: CommandRunMode, session: &mut Session) -> CommandOutput {
    let Some((leading, names)) = line.runnable_words_and_names() else {
        let why = "an empty name or a NUL byte cannot be given to a command";
        return CommandOutput {
            text: Vec::new(),
            result: Err(Error::usage(why)),
        };
    };
    let word = |name: &Name| OsStr::from_bytes(name.as_bytes()).to_owned();
    let mut words: Vec<OsString> = leading.iter().map(word).collect();
    // Mark the names of a request as plain, so that the command takes none of them for stdin, a file or a pattern.
    let names = names
        .iter()
        .map(|name| plain::mark_as_plain_if_ambiguous(&word(name)));
    words.extend(iter::once("--".into()).chain(names));
    let name = words.remove(0);
    if matches!(mode, CommandRunMode::DryRun) {
        words.insert(0, "--dry-run".into());
    }
    session
        .ui
        .begin_capture(matches!(mode, CommandRunMode::Document));
    if let CommandRunMode::Confirmed { label } = mode {
        session.ui.answer_yes_to_all(label);
    }
    let result = match name.to_str() {
        Some("status") => parse_and_run(&status::SPEC, words, session),
        Some("queues") => parse_and_run(&queues::SPEC, words, session),
        Some("get") => parse_and_run(&get::SPEC, words, session),
        Some("failed") => parse_and_run(&failed::SPEC, words, session),
        Some("workers") => parse_and_run(&workers::SPEC, words, session),
        Some("retry") => parse_and_run(&retry::SPEC, words, session),
        Some("cancel") => parse_and_run(&cancel::SPEC, words, session),
        Some("promote") => parse_and_run(&promote::SPEC, words, session),
        Some("priority") => parse_and_run(&priority::SPEC, words, session),
        Some("tag") => parse_and_run(&tag::SPEC, words, session),
        Some("track") => parse_and_run(&track::SPEC, words, session),
        Some("pause") => parse_and_run(&pause::SPEC, words, session),
        Some("unpause") => parse_and_run(&unpause::SPEC, words, session),
        _ => Err(Error::internal("a page has no such command")),
    };
    let text = session.ui.end_capture();
    CommandOutput { text, result }
}

fn parse_and_run<A: clap::Args>(
    spec: &Spec<A>,
    words: Vec<OsString>,
    session: &mut Session,
) -> Result<Exit, Error> {
    let command = A::augment_args(clap::Command::new("page").no_binary_name(true));
    let refused = |error: clap::Error| Error::usage(plain::first_error_line(&error));
    let matches = command.try_get_matches_from(words).map_err(refused)?;
    let args = A::from_arg_matches(&matches).map_err(refused)?;
    (spec.run)(args, session)
}
