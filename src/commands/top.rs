//! `qless top`

use std::time::Duration;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::pattern::NamePattern;
use crate::session::Session;
use crate::top::{self, CommandConnectionArgs, TopOptions};

/// Watch the queues on a full screen
///
/// Shows how things stand in one line, the queues, the groups of failures and the workers, and follows what
/// happens: one look per `--interval`. Enter opens a queue, a group, a worker or a job; `?` lists all keys.
///
/// Small letters only look. Capital letters change something: retry, cancel, promote, track, pause. Each asks first, runs
/// the command of the command line, and `w` shows it. With `--read-only` there are none.
///
/// If Redis does not answer, the screen says so with the steps of `qless doctor`, and goes on when it answers.
/// Several `--context` are shown one after the other with `c`.
///
/// Examples: `qless top`
/// · `qless top 'mail*' --interval 5s`
/// · `qless top --context prod --context staging`
///
/// Exit codes: 0, 2 no terminal, 6 server with `--no-retry`, 130 SIGINT, 143 SIGTERM, or its terminal was closed.
///
/// See also: `qless status`, `qless web`, `qless queues`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these queues (name or glob)
    #[arg(value_name = "QUEUE", value_parser = value::name_or_glob(), add = value::CompletionKind::Queues)]
    queues: Vec<NamePattern>,
    /// How often to look
    #[arg(long, value_name = "D", value_parser = value::positive_duration, default_value = "2s")]
    interval: Duration,
    /// End with 6 if Redis does not answer at the start
    #[arg(long)]
    no_retry: bool,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Inspect, run).context_member_dispatch(|_| MemberDispatch::Apart);

/// Maximum time for connecting to Redis and for each call, so that the screen never stands still for longer.
const CALL_TIME_LIMIT: Duration = Duration::from_secs(5);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    if !session.ui.can_fill_screen() {
        return Err(Error::usage("`top` requires a terminal")
            .hint("`qless queues --watch -o ndjson` writes a line for each look"));
    }
    let mut sessions = session.sessions_of_members();
    if sessions.is_empty() {
        sessions.push(session.with_own_connection());
    }
    for session in &mut sessions {
        session.globals.timeout = Some(session.timeout().min(CALL_TIME_LIMIT));
        // Later, nobody could type it.
        if args.no_retry || session.globals.takes_typed_or_stdin_password() {
            session.connect()?;
        }
    }
    let options = TopOptions {
        interval: args.interval,
        queues: args.queues,
        color: session.ui.render_options().color,
        access: CommandConnectionArgs {
            flags: session.globals.tls_and_password_flags(),
            password: session.password_in_given_address(),
        },
    };
    top::run_top_screen(options, sessions)
}
