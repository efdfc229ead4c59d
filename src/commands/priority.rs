//! `qless priority`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::shared::{BulkFlags, JobTargets};
use crate::args::value;
use crate::bulk::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::BulkTableColumns;
use crate::model::bulk::Verb;
use crate::model::job::State;
use crate::name::Name;
use crate::session::Session;

/// Change the priority of jobs
///
/// Jobs with a higher priority run first. Prints jid, old and new priority. A selector without
/// `--state` selects only jobs that are not complete.
///
/// Examples: `qless priority 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a --to 100`
/// · `qless priority --tag vip --to 100`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 6 server, 9 not confirmed.
///
/// See also: `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// New priority; higher runs first
    #[arg(long, value_name = "N", value_parser = value::integer, allow_hyphen_values = true)]
    to: i64,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    jobs: JobTargets,
}

const PRIORITY: Verb = Verb {
    of_one: Some("changed"),
    ..Verb::new("priority", "change the priority of", "changed")
        .with_table(BulkTableColumns::Priorities)
        .allowing_raw_format()
};

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Submit, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let (flags, targets) = (&args.bulk, &args.jobs);
    let states = State::UNFINISHED;
    let plan = BulkPlan::of_targets(session, &PRIORITY, flags, targets, states, |_| None)?;
    let consent = plan.ask_consent_or_print_plan(session, "")?;
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let replies = core.set_priority(now, note, jobs, args.to);
        add_outcomes_of_replies(outcomes, jobs, replies, |job, to| {
            let (old, new) = (job.priority.clone(), Name::from(to.to_string()));
            let old = old.unwrap_or_else(|| Name::from("0"));
            let mut outcome = JobOutcome::done(&job.jid).with_raw_reply(new.as_bytes());
            // The core makes the change only if the job has not changed since it was read, and keeps its state.
            outcome.state_after = Some(job.state.clone());
            outcome.detail = Some(format!("{old} → {new}").into());
            outcome.with_cells([old, new])
        })
    })
}
