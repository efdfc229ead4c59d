//! `qless recur rm`

use super::RECURRING;
use super::require_recurring_jobs;
use crate::args::format::Format;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::model::done::CommandResult;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::comma_list;

/// Remove recurring jobs
///
/// The jobs that they have put stay.
///
/// Example: `qless recur rm nightly`
///
/// Exit codes: 0, 4 no such recurring job, 6 server, 9 not confirmed (two or more, or in
/// a protected context).
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Jids of recurring jobs; `-` reads jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", required = true, add = value::CompletionKind::Jids(value::JidCompletionKind::Recurring))]
    pub(super) jids: Vec<ValueFileOrStdinArg>,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let given = jids::read_jids(&mut session.input(), &args.jids)?;
    let jids = given.jids().to_vec();
    let now = session.connect()?;
    require_recurring_jobs(session, now, &jids)?;
    let asks = AskWhen::if_several(session.min_total_with_other_members(jids.len()));
    let consent =
        session.ask_about_names_unless_dry_run(args.dry, asks, "remove", RECURRING, &jids)?;
    if let Some(consent) = consent {
        for jid in &jids {
            session.core()?.remove_recurring(now, jid, consent)?;
        }
        let removed = format!("removed {}", comma_list(&jids));
        session.ui.note_to_people(&removed);
    }
    let dry = args.dry.dry_run;
    if session.ui.format() == Format::Raw && !dry {
        // The reply of the core to each call.
        session.ui.print_text(&"1\n".repeat(jids.len()))?;
    }
    session
        .ui
        .show_and_exit_ok(&CommandResult::new("recur rm", jids, dry))
}
