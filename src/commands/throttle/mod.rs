//! `qless throttle`: named limits of the jobs that run at the same time.

use std::slice;

use super::subcommands::{Subcommands, nested_subcommands};
use super::{HelpGroup, MemberDispatch, Spec};
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::error::Error;
use crate::model::throttle::Throttle;
use crate::name::Name;
use crate::session::Session;
use crate::text::nearest_spelling;

mod jobs;
mod list;
mod release;
mod rm;
mod set;
mod show;

/// Show and change throttles: limits of the jobs that run at the same time
///
/// A job that was put with `--throttle ID` runs only while it holds a slot of that throttle. It takes
/// one slot of each of its throttles when it is popped, and gives them back when it ends, is retried or
/// times out. If a throttle has no free slot, the state of the job is `throttled`: the job waits outside the
/// queue and blocks no other job. A throttle without a maximum limits nothing; one whose id begins with `lock:`
/// (`--lock`) has one slot. All queues share it.
///
/// Examples: `qless throttle set api 10` · `qless throttle list` · `qless throttle show api`
///
/// Exit codes: 0, 2 usage, 3 a throttle cannot be read, because a key of it has the wrong type,
/// 4 unknown throttle, or a jid that has nothing to release, 6 server, 9 not confirmed.
///
/// See also: `qless put --throttle`, `qless jobs --state throttled`, `qless explain`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: NestedSubcommand,
}

nested_subcommands! {
    reads List(list::Args) => list::run,
    reads Show(show::Args) => show::run,
    writes Set(set::Args) => set::run,
    writes Rm(rm::Args) => rm::run,
    reads Locks(jobs::LockHoldersArgs) => jobs::list_locks,
    reads Pending(jobs::PendingArgs) => jobs::list_pending,
    writes Release(release::Args) => release::run,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(
    HelpGroup::Operate,
    |args: &Args| args.command.writes(),
    |args, session| args.command.run(session),
)
.context_member_dispatch(|args| match &args.command {
    NestedSubcommand::Release(release) => MemberDispatch::Jobs(&release.jids),
    _ => MemberDispatch::Each,
});

/// Prints a note if the id belongs to a lane. If people read notes, or `is_always_noted`, also prints a note if no job uses
/// the throttle, with a throttle of similar name.
fn note_lane_or_unused_throttle(
    id: &Name,
    is_always_noted: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    let core = session.core()?;
    let found = core.throttles(now, slice::from_ref(id))?;
    if found.iter().any(Throttle::exists) {
        return Ok(());
    }
    let is_lane = !core
        .index_members(now, &Index::Lane(id.clone()))?
        .is_empty();
    let what = if is_lane {
        format!("`{id}` is a lane, which runs one job at a time; `qless key` lists its jobs")
    } else if session.ui.are_notes_read(is_always_noted) {
        format!("throttle `{id}` is new: no job uses it")
    } else {
        return Ok(());
    };
    let mut line = format!("note: {what}");
    if !is_lane {
        let known = session.core()?.throttle_ids_to_suggest(now)?;
        if let Some(near) = nearest_spelling(id, &known) {
            line.push_str(&format!("; did you mean `{near}`?"));
        }
    }
    session.ui.note(&line);
    Ok(())
}
