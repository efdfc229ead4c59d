//! `qless length`

use super::{HelpGroup, Spec};
use crate::args::format::Format;
use crate::args::value;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::name::Name;
use crate::session::Session;

/// Print the number of jobs in a queue
///
/// Counts waiting, running, stalled and scheduled jobs, as the core does. A queue that does not
/// exist has 0.
///
/// Examples: `qless length mail`
///
/// Exit codes: 0, 6 server.
///
/// See also: `qless queues`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Queue
    #[arg(value_parser = value::name(), add = value::CompletionKind::Queues)]
    queue: Name,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(HelpGroup::Inspect, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let now = session.connect()?;
    let length = session.core()?.length(now, &args.queue)?;
    session.ui.show(&length)?;
    if length.length == 0 && session.ui.shows_hints() {
        // Note that the queue does not exist, unless another member of the context may have it. Ignore other errors.
        let is_only = !session.has_other_members();
        let missing = session
            .core()
            .and_then(|core| core.require_queue(now, &args.queue));
        if let Err(missing) = missing
            && missing.kind() == Kind::NotFound
            && is_only
        {
            session.ui.note(&missing.message());
            session.ui.hint_if(missing.hint_text().map(str::to_owned));
        }
    }
    Ok(Exit::Ok)
}
