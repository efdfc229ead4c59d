//! `qless recur pause`

use super::{RECURRING, require_done, require_recurring_jobs};
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::session::actor;
use crate::session::consent::AskWhen;
use crate::text::comma_list;

/// Pause recurring jobs: they put no jobs until they are resumed
///
/// A paused recurring job is kept apart, where no other client sees it. The jobs that it has put
/// stay. To stop a whole queue, use `qless pause`.
///
/// Example: `qless recur pause nightly --reason "database upgrade"`
///
/// Exit codes: 0, also if it was paused; 4 no such recurring job, 6 server, 9 not confirmed.
///
/// See also: `qless recur resume`
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Jids of recurring jobs; `-` reads jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", required = true, add = value::CompletionKind::Jids(value::JidCompletionKind::Recurring))]
    pub(super) jids: Vec<ValueFileOrStdinArg>,
    /// Reason, which `qless recur get` shows
    #[arg(long, value_name = "TEXT", value_parser = value::new_name())]
    reason: Option<Name>,
    #[command(flatten)]
    dry: DryRunFlag,
}

/// Maximum number of recurring jobs in one call.
pub(super) const SLICE: usize = 100;

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let given = jids::read_jids(&mut session.input(), &args.jids)?;
    let jids = given.jids().to_vec();
    let now = session.connect()?;
    require_recurring_jobs(session, now, &jids)?;
    let consent = session.ask_about_names_unless_dry_run(
        args.dry,
        AskWhen::IfProtected,
        "pause",
        RECURRING,
        &jids,
    )?;
    if consent.is_some() {
        let note = actor::history_note("recur pause", args.reason.as_ref());
        for slice in jids.chunks(SLICE) {
            let replies = session.core()?.pause_recurring(now, &note, slice)?;
            for (jid, reply) in slice.iter().zip(replies) {
                require_done("pause", jid, reply)?;
            }
        }
        let paused = format!("paused {}", comma_list(&jids));
        session.ui.note_to_people(&paused);
    }
    let done = CommandResult::new("recur pause", jids, args.dry.dry_run);
    session.ui.show_and_exit_ok(&done)
}
