//! `qless length`

use crate::cli::{Format, value};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::name::Name;

/// Print how many jobs a queue holds
///
/// Waiting, running, stalled and scheduled jobs, as the core counts them; an unknown queue has 0.
///
/// Examples: `qless length mail`
///
/// Exit codes: 0, 6 server.
///
/// See also: `qless queues`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The queue
    #[arg(value_parser = value::name(), add = value::Candidates::Queues)]
    queue: Name,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    let now = cx.begin()?;
    let length = cx.core()?.length(now, &args.queue)?;
    cx.out.show(&length)?;
    Ok(Exit::Ok)
}
