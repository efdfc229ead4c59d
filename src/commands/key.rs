//! `qless key`

use std::slice;

use super::{HelpGroup, Spec};
use crate::args::format::Format;
use crate::args::value;
use crate::command_line::CommandLine;
use crate::core::api::index::Index;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::lane;
use crate::model::list::JobsAndMissingJids;
use crate::model::queue::Queue;
use crate::name::Name;
use crate::session::Session;

/// List the jobs of a lane in the order in which they run
///
/// Jobs that were put with the same `--key` into the same queue form a lane: they run one at a time.
/// Only the first one can run; the others are in state `depends`. A complete job leaves the lane, and
/// so does a failed one, unless it was put with `--hold`. A key that begins with a slash has one lane
/// for all queues. A job that `complete --next` puts into another queue stays in its lane, and the jobs
/// behind it wait until it is complete there, too; with `--key` it goes to another lane.
///
/// Examples: `qless key orders customer-7` · `qless key orders customer-7 -o jid`
///
/// Exit codes: 0, also if the lane has no jobs; 4 unknown queue, 6 server.
///
/// See also: `qless put --key`, `qless jobs --key`, `qless explain`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Queue in which the jobs got their key
    #[arg(value_parser = value::name(), add = value::CompletionKind::Queues)]
    queue: Name,
    /// Key
    #[arg(value_parser = value::name())]
    key: Name,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(HelpGroup::Inspect, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let now = session.connect_to_show::<JobsAndMissingJids>(&[Format::Jid, Format::Raw])?;
    let lane = lane::lane_name(&args.queue, args.key.as_bytes());
    if session.ui.format() == Format::Raw {
        return session.print_core_reply(now, &Call::raw_call("key.get").arg(&lane));
    }
    let jids = session
        .core()?
        .index_members(now, &Index::Lane(lane.clone()))?;
    if jids.is_empty() {
        // A key with a slash in front has a lane across all queues, so the queue need not exist.
        if !args.key.as_bytes().starts_with(b"/") {
            let core = session.core()?;
            core.require_queue(now, &args.queue).map_err(|error| {
                let swapped = core.queues(now, slice::from_ref(&args.key));
                let swapped = swapped.is_ok_and(|queues| queues.iter().any(Queue::exists));
                let meant = CommandLine::new("key")
                    .with_name_argument(&args.key)
                    .with_name_argument(&args.queue);
                let what = format!("`{}` is a queue: did you mean {{}}?", args.key);
                error.hint_if(meant.fill_sentence(&what).filter(|_| swapped))
            })?;
        }
        session
            .ui
            .note_to_people(&format!("lane {lane} has no jobs"));
    }
    super::show_found_and_missing_jobs(&jids, now, session)?;
    Ok(Exit::Ok)
}
