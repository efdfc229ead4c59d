//! `qless unpause`

use crate::bulk::SLICE;
use crate::cli::Format;
use crate::cli::shared::{DryRun, Queues};
use crate::core::index::Index;
use crate::core::unknown;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::Done;
use crate::view::text::clean;

/// Let workers take jobs of queues again
///
/// Examples: `qless unpause images`
/// · `qless unpause --all`
///
/// Exit codes: 0, also if the queue was not paused; 4 unknown queue, 6 server.
///
/// See also: `qless pause`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    queues: Queues,
    #[command(flatten)]
    dry: DryRun,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    let now = cx.begin()?;
    let queues = unknown::queues(cx.core()?, now, &args.queues, &Index::Paused, false)?;
    let dry = args.dry.dry_run;
    if !dry {
        for slice in queues.chunks(SLICE) {
            cx.core()?.unpause(now, slice)?;
        }
    }
    let names: Vec<String> = queues.iter().map(clean).collect();
    match (queues.is_empty(), dry) {
        (true, _) => cx.out.note_on_terminal("no paused queues"),
        (false, true) => cx.out.would(&format!("would unpause {}", names.join(", "))),
        (false, false) => cx
            .out
            .note_on_terminal(&format!("unpaused {}", names.join(", "))),
    }
    cx.out.show(&Done::new("unpause", queues, dry))?;
    Ok(Exit::Ok)
}
