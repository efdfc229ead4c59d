//! `qless import`

use std::ffi::OsString;

use super::{Group, Spec};
use crate::args::format::Format;
use crate::args::shared::BulkFlags;
use crate::args::value;
use crate::bulk::import;
use crate::bulk::import::{ExistingPolicy, FailedPolicy, ImportOptions};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::BulkReport;
use crate::name::Name;
use crate::session::Session;

/// Bring back the jobs of an export
///
/// Reads what `qless export` or `qless cancel --save` wrote, of any server and any prefix. The whole
/// file is checked before anything is sent. Each job comes back with its data, tags, priority, tries
/// and history, to which the import is added; jobs come in the order of the file, but each after those
/// it waits for. Scheduled jobs keep their time; running and stalled ones come back waiting; failed
/// ones come back failed, in their group; complete ones are left out and counted. Recurring jobs,
/// options and pauses come back, too, where the file has them; a queue that is paused already stays
/// so. It asks first, and shows what it will do.
///
/// If one of the jobs exists already, nothing is changed, unless it is told what to do about those:
/// with `--if-absent` the same command can be repeated until all is there. The same if a job waits for
/// one that neither the file brings nor the server has; complete jobs of the file count as such that
/// need not be waited for.
///
/// What is not brought back: the failure of a job that has not failed (its history tells it), the
/// number of jobs that a recurring one has put, locks and statistics.
///
/// Only as much of the file is held in memory as it takes to know each job's place.
///
/// Examples: `qless import all.ndjson --hold`
/// · `qless import all.ndjson --failed waiting --rate 100/s --dry-run`
/// · `qless cancel --queue tmp --save tmp.ndjson --yes && qless import tmp.ndjson --yes`
///
/// Exit codes: 0, 2 the file is not as it should be, 3 some failed, 4 a job waits for one that does
/// not exist, 5 a job exists already, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// The file; `-` for stdin
    #[arg(value_name = "FILE")]
    file: OsString,
    /// Put what was in one queue into another
    #[arg(long = "map-queue", value_name = "OLD=NEW", value_parser = value::mapping())]
    map: Vec<(Name, Name)>,
    /// Leave jobs that exist as they are
    #[arg(long, conflicts_with = "replace")]
    if_absent: bool,
    /// Put jobs that exist again; a worker that holds one loses it
    #[arg(long)]
    replace: bool,
    /// How failed jobs come back
    #[arg(long, value_enum, default_value = "keep", value_name = "HOW")]
    failed: FailedPolicy,
    /// Let jobs run that wait for ones that do not exist
    #[arg(long)]
    allow_missing: bool,
    /// Pause the queues first, so that nothing runs
    #[arg(long)]
    hold: bool,
    #[command(flatten)]
    bulk: BulkFlags,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(Group::Operate, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid])?;
    session.ui.check_columns::<BulkReport>()?;
    import::check_map(&args.map)?;
    let existing = match (args.if_absent, args.replace) {
        (true, _) => ExistingPolicy::Skip,
        (_, true) => ExistingPolicy::Replace,
        _ => ExistingPolicy::Refuse,
    };
    let told = ImportOptions {
        from: args.file,
        map: args.map,
        existing,
        failed: args.failed,
        allow_missing: args.allow_missing,
        hold: args.hold,
        flags: args.bulk,
    };
    import::run(told, session)
}
