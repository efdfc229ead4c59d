//! `qless import`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::input_arg::FileOrStreamArg;
use crate::args::shared::BulkFlags;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::BulkReport;
use crate::name::Name;
use crate::session::Session;
use crate::submit::import;
use crate::submit::import::{ExistingPolicy, FailedPolicy, ImportOptions};

/// Import the jobs of an export
///
/// Reads a file of `qless export` or `qless cancel --save`, from any server and with any prefix.
/// The whole file is checked before anything is sent. Each job keeps its data, tags, priority,
/// remaining retries and history; with `--reason`, the import is added to the history. The defaults of its queue do
/// not change it. Jobs are put in the order of the file, but each after its dependencies; a job of a lane goes to
/// the end of the lane. Scheduled jobs keep their time. Running and stalled
/// jobs become waiting. Failed jobs stay failed, in their group. Complete jobs are left out and
/// counted. Recurring jobs, options, pauses and the maxima of throttles of the file are imported,
/// too: they replace those of the server. With `--if-absent` those of the server stay. A queue that is
/// already paused stays as it is, unless `--replace` is given. Recurring jobs continue to count where
/// they were. It shows its plan and asks first.
///
/// If one of the jobs exists already, nothing is changed, unless `--if-absent` or `--replace` is
/// given. With `--if-absent`, or with the `--report` of an earlier run, the same command can be
/// repeated until all jobs exist. If a job depends on one that is neither in the file nor on the
/// server, nothing is changed either, unless `--allow-missing` is given. Complete jobs of the file
/// count as complete dependencies.
///
/// Not imported: the failure of a job that is not failed (its history has it), locks, statistics,
/// and the time until which `--unique --ttl` skips further jobs of a key: after the import, the next
/// put with the key of a job that is complete puts a job.
///
/// Memory holds only an index of the jobs, not the file.
///
/// Examples: `qless import all.ndjson --hold`
/// · `qless import all.ndjson --failed waiting --rate 100/s --dry-run`
/// · `qless cancel --queue tmp --save tmp.ndjson --yes && qless import tmp.ndjson --yes`
///
/// Exit codes: 0, 2 the file is invalid, 3 some failed, the file was cut
/// short or the server may have lost jobs, 4 a dependency does not exist, 5 a job
/// exists already, or the dependencies form a cycle, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// File; `-` for stdin
    #[arg(value_name = "FILE")]
    file: FileOrStreamArg,
    /// Put the jobs of one queue into another
    #[arg(long = "map-queue", value_name = "OLD=NEW", value_parser = value::old_and_new_name())]
    map: Vec<(Name, Name)>,
    /// Leave existing jobs as they are
    #[arg(long, conflicts_with = "replace")]
    if_absent: bool,
    /// Put existing jobs again; a worker that holds one loses it
    #[arg(long)]
    replace: bool,
    /// State of failed jobs after the import
    #[arg(long, value_enum, default_value = "keep", value_name = "HOW")]
    failed: FailedPolicy,
    /// Ignore dependencies that do not exist
    #[arg(long)]
    allow_missing: bool,
    /// Pause the queues first, so that no job runs
    #[arg(long)]
    hold: bool,
    #[command(flatten)]
    bulk: BulkFlags,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Operate, run)
    .context_member_dispatch(|_| MemberDispatch::Refused("an export belongs to one"));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid])?;
    session.ui.check_columns::<BulkReport>()?;
    import::refuse_duplicate_queue_map(&args.map)?;
    let existing = match (args.if_absent, args.replace) {
        (true, _) => ExistingPolicy::Skip,
        (_, true) => ExistingPolicy::Replace,
        _ => ExistingPolicy::Refuse,
    };
    let options = ImportOptions {
        from: args.file,
        map: args.map,
        existing,
        failed: args.failed,
        allow_missing: args.allow_missing,
        hold: args.hold,
        flags: args.bulk,
    };
    import::import_file(options, session)
}
