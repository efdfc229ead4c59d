//! `qless recur list`

use crate::cli::{Format, value};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::name::Name;
use crate::model::pattern::Pattern;
use crate::model::recur::Recurring;

/// List recurring jobs
///
/// By queue, then by next run. `due … ago` means that nobody has popped or peeked the queue since.
///
/// Examples: `qless recur list` · `qless recur list reports`
///
/// Exit codes: 0, also if there are none; 4 unknown queue, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only those of these queues, by name or glob
    #[arg(value_name = "QUEUE", value_parser = value::pattern(), add = value::Candidates::Queues)]
    queues: Vec<Pattern>,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Jid])?;
    cx.out.shows::<List<Recurring>>()?;
    let now = cx.begin()?;
    let (core, out) = cx.parts()?;
    let queues = core.queues_like(now, &args.queues)?;
    let holding = queues.into_iter().filter(|queue| queue.recurring > 0);
    let names: Vec<Name> = holding.map(|queue| queue.name).collect();
    let recurring = core.recurring(now, &names)?;
    let empty = recurring.is_empty();
    out.show(&List::whole(recurring))?;
    if empty {
        out.note_on_terminal("no recurring jobs");
    }
    Ok(Exit::Ok)
}
