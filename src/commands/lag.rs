//! `qless lag`

use super::{Group, Spec};
use crate::args::format::Format;
use crate::args::shared::Watch;
use crate::args::value;
use crate::core::api::names::NAMES_PER_CALL;
use crate::core::api::queue;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::lag::Lag;
use crate::model::list::List;
use crate::model::pattern::Pattern;
use crate::name::Name;
use crate::select::nothing;
use crate::session::Session;

/// Show how long the oldest due job of each queue has been due, and why it has not run
///
/// The lag of a queue is how long its oldest job has been due that has not run, or how long a lock has
/// been expired, whichever is longer. It is 0 if nothing is due. Jobs that a throttle, their lane or a
/// pause holds count; WHY names what holds the oldest. `qless work --order lag` and `-o raw`, the reply
/// of the core, go by the first job that a pop would look at: held ones do not count there.
///
/// Examples: `qless lag`
/// · `qless lag 'mail*' --sort lag --reverse`
/// · `qless lag mail -o json | jq '.items[0].lag_s'`
///
/// Exit codes: 0, 3 a queue was left out, because a key of it has the wrong type; 4 unknown queue;
/// 6 server.
///
/// See also: `qless queues`, `qless work`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these queues (name or glob)
    #[arg(value_name = "QUEUE", value_parser = value::pattern(), add = value::Candidates::Queues)]
    queues: Vec<Pattern>,
    #[command(flatten)]
    pub watch: Watch,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(Group::Inspect, run).watch(|args| args.watch.every);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    session.ui.check_columns::<List<Lag>>()?;
    let now = session.begin()?;
    let (core, out) = session.core_and_ui()?;
    let (queues, unreadable) = core.readable_queues_like(now, &args.queues)?;
    let names: Vec<Name> = queues.into_iter().map(|queue| queue.name).collect();
    if out.format() == Format::Raw {
        for names in names.chunks(NAMES_PER_CALL) {
            let text = core.raw(now, &Call::raw("lag").args(names))?;
            out.verbatim(&text)?;
        }
    } else {
        out.show(&List::whole(core.lags(now, &names)?))?;
    }
    if names.is_empty() && unreadable.is_empty() {
        out.note_on_terminal("no queues");
        nothing::hint(session, now, None)?;
    }
    Ok(session.ui.left_out(queue::left_out(&unreadable)))
}
