//! `qless throttle rm`

use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::CommandResult;
use crate::model::throttle::Throttle;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::backtick_list;

/// Remove the maximum of throttles
///
/// Their jobs keep the throttle. Without a maximum it limits nothing, so the jobs that wait return to
/// their queues; one whose id begins with `lock:` has one slot again.
///
/// Example: `qless throttle rm api`
///
/// Exit codes: 0, 4 no such throttle, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Throttles
    #[arg(value_name = "ID", required = true, value_parser = value::name(),
          add = value::CompletionKind::Throttles)]
    ids: Vec<Name>,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let now = session.connect()?;
    let throttles = session.core()?.throttles(now, &args.ids)?;
    // A throttle without a maximum that holds jobs: an earlier run was interrupted. A lock needs no maximum for that.
    let is_unknown = |throttle: &&Throttle| {
        let is_lock = throttle.id.as_bytes().starts_with(b"lock:");
        !throttle.defined && (is_lock || throttle.pending == 0)
    };
    if let Some(unknown) = throttles.iter().find(is_unknown) {
        let mut known = session.core()?.throttle_ids_to_suggest(now)?;
        // A throttle that jobs use without a maximum of its own is known, too.
        known.retain(|id| *id != unknown.id);
        let error = Error::unknown_name("the maximum of throttle", &unknown.id, &known);
        return Err(error);
    }
    let what = format!("remove the maximum of {}", backtick_list(&args.ids));
    let details = |_: &_| {
        let lines = throttles.iter().filter(|throttle| throttle.pending > 0);
        let lines = lines.map(|throttle| {
            let (id, pending) = (&throttle.id, throttle.pending);
            format!("  {pending} jobs that wait for `{id}` may run\n")
        });
        lines.collect::<String>()
    };
    let consent = session.ask_unless_dry_run(args.dry, AskWhen::Always, &what, details)?;
    if consent.is_some() {
        for id in &args.ids {
            session.core()?.delete_maximum_and_wake_held_jobs(now, id)?;
        }
        session
            .ui
            .note_to_people(&what.replacen("remove", "removed", 1));
    }
    let done = CommandResult::new("throttle rm", args.ids, args.dry.dry_run);
    session.ui.show_and_exit_ok(&done)
}
