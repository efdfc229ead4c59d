//! `qless cancel`

use std::path::PathBuf;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::shared::{BulkFlags, JobTargets};
use crate::args::value;
use crate::bulk::BulkPlan;
use crate::bulk::cancel::{CANCEL, cancel_jobs, refuse_complete};
use crate::bulk::save::CancelSaveFile;
use crate::core::api::guard::DependentsPolicy;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::model::job::State;
use crate::session::Session;

/// Delete jobs
///
/// Prints the deleted jids. Complete jobs are left alone: they expire by themselves. `qless` asks
/// before it deletes several jobs, unless `--yes` is given. It refuses with exit code 5 to delete a job on
/// which others depend: `--dependents` cancels or releases these, too, and asks. A job behind it in its lane
/// stays there, and moves up. `--dry-run` shows the plan and the first 10 jids; with `-v` or `-o ndjson` it lists all jids. Of a job that runs, the output says on which
/// worker, and for how long. `qless work` then stops its program, but the next job of its lane, lock or throttle
/// does not wait until that has ended.
///
/// `--save` writes each job to a file as `qless export` does, and syncs the file to disk, before
/// the job is deleted. `qless import` puts the jobs again; jobs in the file that were not deleted
/// do no harm there. The file is readable by its owner only and is never overwritten: the same
/// command continues in the same file, another command is refused. The file also records who
/// deleted the jobs, and `--reason`.
///
/// With `--dependents cancel`, all dependents are saved and deleted, too, from the leaves of each
/// tree. A dependent that was added since then stays, and so do the jobs that it depends on.
///
/// Examples: `qless cancel 3f2a5510a4d2b8c34e6f8a9b0c1d2e3f`
/// · `qless cancel c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 --dependents cancel --dry-run`
/// · `qless cancel --queue tmp --older-than 7d --save tmp-jobs.ndjson --yes`
///
/// Exit codes: 0, 1 the file cannot be written, 3 some failed, 4 unknown jid, 5 other jobs depend
/// on it, 6 server, 9 not confirmed.
///
/// See also: `qless depends`, `qless import`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    cancel: CancelFlags,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    jobs: JobTargets,
}

/// How jobs are cancelled.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CancelFlags {
    /// What to do with jobs that depend on one of these
    #[arg(long, value_enum, default_value = "refuse", value_name = "HOW")]
    pub(super) dependents: DependentsPolicy,
    /// Save the jobs to this file before deleting them, for `qless import`
    #[arg(long, value_name = "FILE", value_parser = value::file_to_write())]
    save: Option<PathBuf>,
}

impl CancelFlags {
    /// Opens the file of `--save`, if it is given.
    pub(super) fn open_save_file(
        &self,
        bulk: &BulkFlags,
        session: &Session,
    ) -> Result<Option<CancelSaveFile>, Error> {
        let open = |path| CancelSaveFile::open(path, bulk.reason.clone(), bulk.dry_run, session);
        self.save.as_deref().map(open).transpose()
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Recover, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    args.jobs.require_either_jids_or_selector()?;
    let mut plan = BulkPlan::without_jobs(session, &CANCEL, &args.bulk)?;
    let save = args.cancel.open_save_file(&args.bulk, session)?;
    let given = jids::read_jids(&mut session.input(), &args.jobs.jids)?;
    let states = State::UNFINISHED;
    plan.add_targets(session, &args.jobs, &given, states, refuse_complete)?;
    cancel_jobs(plan, args.cancel.dependents, save, session.now(), session)
}
