//! `qless throttle show`

use super::note_lane_or_unused_throttle;
use crate::args::format::Format;
use crate::args::value;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::name::Name;
use crate::session::Session;

/// Show the maximum of a throttle and its jobs
///
/// Names up to 100 jobs that hold a slot, and up to 100 that wait for one. A throttle that nobody has
/// used is shown with its default maximum, and a note on stderr says so. The id of a lane, as in `qless throttle list`,
/// shows the lane.
///
/// Example: `qless throttle show api`
///
/// Exit codes: 0, 3 a key of it has the wrong type, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Throttle
    #[arg(value_name = "ID", value_parser = value::name(), add = value::CompletionKind::Throttles)]
    id: Name,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let now = session.connect()?;
    if session.ui.format() == Format::Raw {
        return session.print_core_reply(now, &Call::raw_call("throttle.get").arg(&args.id));
    }
    let (core, ui) = session.core_and_ui()?;
    ui.show(&core.readable_throttle_or_lane_with_first_jobs(now, &args.id)?)?;
    note_lane_or_unused_throttle(&args.id, true, now, session)?;
    Ok(Exit::Ok)
}
