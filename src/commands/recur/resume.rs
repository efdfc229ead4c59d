//! `qless recur resume`

use super::pause::SLICE;
use super::{RECURRING, note_next_runs, require_done, require_recurring_jobs};
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::model::done::CommandResult;
use crate::model::recur::Recurring;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::comma_list;

/// Resume paused recurring jobs
///
/// A resumed recurring job is as it was, with the same schedule. The runs that fell into the pause
/// are not made up for; runs that were due before it still are.
///
/// Example: `qless recur resume nightly`
///
/// Exit codes: 0, also if it was not paused; 4 no such recurring job, 6 server, 9 not confirmed.
///
/// See also: `qless recur pause`
#[derive(Clone, Debug, clap::Args)]
#[command(visible_alias = "unpause")]
pub(super) struct Args {
    /// Jids of recurring jobs; `-` reads jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", required = true, add = value::CompletionKind::Jids(value::JidCompletionKind::Recurring))]
    pub(super) jids: Vec<ValueFileOrStdinArg>,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let given = jids::read_jids(&mut session.input(), &args.jids)?;
    let jids = given.jids().to_vec();
    let now = session.connect()?;
    let found = require_recurring_jobs(session, now, &jids)?;
    let mut runs = Vec::new();
    let consent = session.ask_about_names_unless_dry_run(
        args.dry,
        AskWhen::IfProtected,
        "resume",
        RECURRING,
        &jids,
    )?;
    if consent.is_some() {
        for (slice, found) in jids.chunks(SLICE).zip(found.chunks(SLICE)) {
            let replies = session.core()?.resume_recurring(now, slice)?;
            for ((jid, found), reply) in slice.iter().zip(found).zip(replies) {
                let words = require_done("resume", jid, reply)?;
                runs = next_runs(found, words.first());
            }
        }
        let resumed = format!("resumed {}", comma_list(&jids));
        session.ui.note_to_people(&resumed);
    }
    let mut done = CommandResult::new("recur resume", jids, args.dry.dry_run);
    if let ([_], false) = (done.targets.as_slice(), runs.is_empty()) {
        note_next_runs(&runs, false, session);
        done = done.with_next_runs(&runs);
    }
    session.ui.show_and_exit_ok(&done)
}

/// The next runs of a resumed job; none if it was not paused, or has no valid time.
fn next_runs(found: &Recurring, next: Option<&Name>) -> Vec<Moment> {
    let next = next.and_then(|next| Moment::from_decimal(next.as_bytes()));
    match (next, found.every_s) {
        (Some(next), Some(every)) => Recurring::next_runs(next, every.0).to_vec(),
        _ => Vec::new(),
    }
}
