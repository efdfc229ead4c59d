//! `qless recur list`

use crate::args::format::Format;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::pattern::NamePattern;
use crate::model::recur::Recurring;
use crate::session::Session;

/// List recurring jobs
///
/// The list is sorted by queue, then by next run. `due … ago` means that nobody has popped or
/// peeked the queue since then. OWED is the number of jobs that the next pops put; BACKLOG limits it. Paused
/// ones come last in their queue.
///
/// Examples: `qless recur list` · `qless recur list reports`
///
/// Exit codes: 0, also if there are none; 4 unknown queue, 6 server.
#[derive(Clone, Debug, clap::Args)]
#[command(visible_alias = "ls")]
pub(super) struct Args {
    /// Only recurring jobs of these queues (name or glob)
    #[arg(value_name = "QUEUE", value_parser = value::name_or_glob(), add = value::CompletionKind::Queues)]
    queues: Vec<NamePattern>,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let now = session.connect_to_show::<List<Recurring>>(&[Format::Jid])?;
    let (core, out) = session.core_and_ui()?;
    let recurring = core.recurring_like(now, &args.queues)?;
    let empty = recurring.is_empty();
    out.show(&List::of_all(recurring))?;
    if empty {
        out.note_to_people("no recurring jobs");
    }
    Ok(Exit::Ok)
}
