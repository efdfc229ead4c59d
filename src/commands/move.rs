//! `qless move`

use super::{Group, Spec};
use crate::args::format::Format;
use crate::args::shared::{BulkFlags, Later, Spread, Targets};
use crate::args::value;
use crate::bulk::BulkPlan;
use crate::bulk::requeue::moving::{MOVE, MoveOptions};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::BulkReport;
use crate::model::job::State;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;
use crate::session::Session;

/// Move jobs to another queue
///
/// As if they were put there: with all their retries; data, tags and priority stay. A time that
/// is still ahead is kept unless `--delay` or `--at` says another, and what waits for other jobs
/// goes on waiting for them. Failed and complete jobs run again there; a selector without `--state`
/// leaves complete ones alone. Running jobs are moved only with `--force`.
///
/// Example: `qless move 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a --to mail-slow`
///
/// Example: `qless move --queue mail --tag bulk --to mail-slow --yes`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 running, or there already, 6 server,
/// 9 not confirmed.
///
/// See also: `qless promote`, `qless retry`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// The queue
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(),
          add = value::Candidates::Queues)]
    to: Name,
    #[command(flatten)]
    later: Later,
    /// Running jobs, too: their lock is taken away
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    spread: Spread,
    #[command(flatten)]
    jobs: Targets,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(Group::Submit, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid])?;
    session.ui.check_columns::<BulkReport>()?;
    let how = MoveOptions {
        to: args.to,
        later: args.later,
        force: args.force,
    };
    let states: Vec<State> = State::ALL
        .into_iter()
        .filter(|state| *state != State::Complete)
        .collect();
    let refuse = |job: &JobSnapshot| how.refuse(job);
    let plan = BulkPlan::open(session, &MOVE, &args.bulk, &args.jobs, &states, refuse)?
        .spread(&args.spread);
    plan.consent(session, &how.effects(&plan))?;
    how.run(plan, session)
}
