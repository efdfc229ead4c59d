//! `qless check`

use std::path::PathBuf;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::check::revert;
use crate::check::run_repair;
use crate::check::verify;
use crate::check::verify::CheckOptions;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::check::CheckReport;
use crate::session::Session;

/// Find inconsistent data, as a file-system check does
///
/// Reads all keys in slices that do not block the server: ids without jobs, jobs in no set or in
/// the wrong one, running jobs without a lock, dependencies on jobs that do not exist, counters and
/// lists that disagree. Each candidate is verified in one atomic call, so a busy system gives no
/// false alarms. Nothing is changed without `--repair`.
///
/// A finding is `critical` (blocks a queue for clients with the reference core), `error` (loses,
/// doubles or blocks a job), `warn` (wrong bookkeeping) or `info` (needs no action).
///
/// With `-q`, findings below `--fail-on` are not printed, so that a cron job is silent if all is well.
///
/// `--repair` scans, shows its plan, asks, and repairs. Each finding is verified again in the call
/// that repairs it, so nothing is changed that has been put right meanwhile. Then it scans again
/// and reports what remains. No job loses data, tags or history; an unused key is set aside under
/// `lost:`. A finding that requires your decision is left as it is, with a command for each choice,
/// unless `--only` names it. `all` names every finding except the deletion of `lost-key`. Before this
/// deletion, its number of keys is typed: `--yes` does not cover it, and a script gives
/// `--confirm lost-key`.
/// `--dry-run` shows the plan; with `-v`, also the Redis commands, to read, not to run: they may be
/// wrong by the time you run them. If a repair was interrupted, run it again.
///
/// `--undo` records the old content before each change. `--revert` restores what has not changed
/// since, newest change first. A file with an altered line is refused; lines may be deleted. A file about
/// another server or database is refused, too, unless `--confirm` gives the address in use, as for a
/// restored copy of the data. Only the deletion of `lost-key` cannot be undone.
///
/// An incomplete scan reports how far it got and exits with 6. A replica may lack data that its
/// primary has, so a check of a replica is never clean, unless `--read-only` is given: then the
/// check is about the replica itself.
///
/// Examples: `qless check`
/// · `qless check --fail-on error -q || page-someone`
/// · `qless check --queue mail --rate 5000/s`
/// · `qless check --only ghost-waiting,in-no-set -o json`
/// · `qless check --repair --dry-run`
/// · `qless check --repair --undo undo.ndjson --yes`
/// · `qless check --repair --only dependency-missing`
/// · `qless check --revert undo.ndjson`
/// · `qless check --revert undo.ndjson --only lane-order`
///
/// Exit codes: 0 clean or all repaired, 2 usage, 4 unknown queue, 6 scan or repair incomplete,
/// 7 findings at or above `--fail-on` remain, 9 not confirmed. A dry run ends with the code of the
/// repair, as far as its plan tells.
///
/// See also: `qless help findings`, `qless help json check`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    check: CheckOptions,
    /// Repair the findings, after showing the plan and asking
    #[arg(long)]
    repair: bool,
    /// With `--repair`: record the old content in this file before each change
    #[arg(long, value_name = "FILE", requires = "repair", value_parser = value::file_to_write())]
    undo: Option<PathBuf>,
    /// Revert a repair from the file of its `--undo`, where nothing has changed since; with `--only` and
    /// `--skip`, the repairs of some findings
    #[arg(long, value_name = "FILE", value_parser = value::file_to_write(),
          conflicts_with_all = ["repair", "undo", "queues"])]
    revert: Option<PathBuf>,
    #[command(flatten)]
    dry: DryRunFlag,
}

impl Args {
    /// Whether these arguments change something.
    fn writes(&self) -> bool {
        (self.repair || self.revert.is_some()) && !self.dry.dry_run
    }

    fn context_member_dispatch(&self) -> MemberDispatch<'_> {
        match &self.revert {
            Some(_) => MemberDispatch::Refused("an undo file belongs to one"),
            None => MemberDispatch::require_all_names_if_several(self.check.queues.len()),
        }
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(HelpGroup::Recover, Args::writes, run)
    .context_member_dispatch(Args::context_member_dispatch);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let dry_run = args.dry.dry_run;
    if let Some(file) = &args.revert {
        let CheckOptions { filter, rate, .. } = &args.check;
        return revert::run_revert(file, filter, dry_run, *rate, session);
    }
    if args.repair {
        return run_repair(&args.check, args.undo.as_deref(), dry_run, session);
    }
    session.ui.check_columns::<CheckReport>()?;
    session.connect()?;
    let scanned = verify::run_check(&args.check, false, "scan", session)?;
    verify::report_findings(scanned, true, session)
}
