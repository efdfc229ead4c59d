//! `qless throttle locks` and `qless throttle pending`

use super::note_lane_or_unused_throttle;
use crate::args::format::Format;
use crate::args::value;
use crate::core::api::throttle::ThrottleJobSet;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::JobsAndMissingJids;
use crate::name::Name;
use crate::session::Session;

/// List the jobs that hold a slot of a throttle, the oldest holder first
///
/// Examples: `qless throttle locks api` · `qless throttle locks api -o jid`
///
/// Exit codes: 0, also if there are none; 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct LockHoldersArgs {
    /// Throttle
    #[arg(value_name = "ID", value_parser = value::name(), add = value::CompletionKind::Throttles)]
    id: Name,
}

/// List the jobs that wait for a slot of a throttle, the next one first
///
/// A job that several throttles hold back is listed for the first of them.
///
/// Examples: `qless throttle pending api` · `qless throttle pending api -o jid`
///
/// Exit codes: 0, also if there are none; 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PendingArgs {
    /// Throttle
    #[arg(value_name = "ID", value_parser = value::name(), add = value::CompletionKind::Throttles)]
    id: Name,
}

pub(super) fn list_locks(args: LockHoldersArgs, session: &mut Session) -> Result<Exit, Error> {
    list_throttle_jobs(&args.id, ThrottleJobSet::Locks, session)
}

pub(super) fn list_pending(args: PendingArgs, session: &mut Session) -> Result<Exit, Error> {
    list_throttle_jobs(&args.id, ThrottleJobSet::Pending, session)
}

fn list_throttle_jobs(
    id: &Name,
    part: ThrottleJobSet,
    session: &mut Session,
) -> Result<Exit, Error> {
    let now = session.connect_to_show::<JobsAndMissingJids>(&[Format::Jid, Format::Raw])?;
    if session.ui.format() == Format::Raw {
        return session.print_core_reply(now, &part.part_jids_call(id));
    }
    let jids = session.core()?.throttle_jids(now, id, part)?;
    super::super::show_found_and_missing_jobs(&jids, now, session)?;
    if jids.is_empty() {
        let what = match part {
            ThrottleJobSet::Locks => "no job holds a slot",
            ThrottleJobSet::Pending => "no job waits for a slot",
        };
        session
            .ui
            .note_to_people(&format!("{what} of throttle {id}"));
        note_lane_or_unused_throttle(id, false, now, session)?;
    }
    Ok(Exit::Ok)
}
