//! `qless track`

use std::collections::HashSet;

use super::{HelpGroup, MemberDispatch, Spec, found_and_missing};
use crate::args::format::Format;
use crate::args::shared::{BulkFlags, JobTargets, WatchFlag};
use crate::bulk::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::core::api::index::Index;
use crate::core::api::job::JobFields;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids::GivenJids;
use crate::model::bulk::Verb;
use crate::model::list::{JobsAndMissingJids, List};
use crate::name::Name;
use crate::session::Session;
use crate::text::{comma_list, format_count};

/// Track jobs, or list tracked jobs
///
/// Tracked jobs publish events of their own. Without jobs, it lists the tracked jobs; tracked jobs
/// that no longer exist are listed at the end, and `--prune` stops tracking them.
///
/// Examples: `qless track`
/// · `qless track 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
/// · `qless track --prune`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 6 server, 9 not confirmed.
///
/// See also: `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Stop tracking these jobs
    #[arg(long)]
    remove: bool,
    /// Stop tracking jobs that no longer exist
    #[arg(long, conflicts_with_all = ["jids", "remove"])]
    prune: bool,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    jobs: JobTargets,
    #[command(flatten)]
    pub watch: WatchFlag,
}

const TRACK: Verb = Verb::new("track", "track", "tracked").allowing_raw_format();

const UNTRACK: Verb =
    Verb::new("untrack", "stop tracking", "no longer tracked").allowing_raw_format();

impl Args {
    fn writes(&self) -> bool {
        self.prune || self.remove || !self.jobs.is_empty()
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(HelpGroup::Submit, Args::writes, run)
    .watch_interval(|args| args.watch.every)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    if args.prune {
        return untrack_missing(&args, session);
    }
    let no_jobs = args.jobs.is_empty();
    if no_jobs && !args.remove {
        return list_tracked(session);
    }
    let verb = if args.remove { &UNTRACK } else { &TRACK };
    let mut plan = BulkPlan::of_targets(session, verb, &args.bulk, &args.jobs, &[], |_| None)?;
    if args.remove && plan.has_missing_jobs() {
        let now = session.now();
        let tracked: HashSet<Name> = session
            .core()?
            .index_members(now, &Index::Tracked)?
            .into_iter()
            .collect();
        plan.readmit_missing(|jid| tracked.contains(jid));
    }
    start_or_stop_tracking(plan, !args.remove, session)
}

/// Stops tracking jobs that do not exist.
fn untrack_missing(args: &Args, session: &mut Session) -> Result<Exit, Error> {
    let mut plan = BulkPlan::without_jobs(session, &UNTRACK, &args.bulk)?;
    let now = session.connect()?;
    let tracked = GivenJids::Many(session.core()?.index_members(now, &Index::Tracked)?);
    plan.add_named_jobs(session, now, &tracked, |_| None)?;
    plan.keep_only_nonexistent();
    start_or_stop_tracking(plan, false, session)
}

fn start_or_stop_tracking(
    plan: BulkPlan,
    is_tracked: bool,
    session: &mut Session,
) -> Result<Exit, Error> {
    let consent = plan.ask_consent_or_print_plan(session, "")?;
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let replies = core.start_or_stop_tracking(now, note, jobs, is_tracked);
        add_outcomes_of_replies(outcomes, jobs, replies, |job, has_changed| {
            JobOutcome::done(&job.jid).with_raw_reply(if has_changed { "1" } else { "0" })
        })
    })
}

fn list_tracked(session: &mut Session) -> Result<Exit, Error> {
    let now = session.connect_to_show::<JobsAndMissingJids>(&[Format::Jid, Format::Raw])?;
    if session.ui.format() == Format::Raw {
        return session.print_core_reply(now, &Call::raw_call("track"));
    }
    let (core, out) = session.core_and_ui()?;
    let jids = core.index_members(now, &Index::Tracked)?;
    let (mut found, missing) = found_and_missing(&jids, core.jobs(now, JobFields::Brief, &jids)?);
    core.set_failed_dependency_counts(now, found.iter_mut().collect())?;
    let jobs = JobsAndMissingJids {
        list: List::of_all(found),
        missing,
        ..JobsAndMissingJids::default()
    };
    out.show(&jobs)?;
    match jobs.missing.as_slice() {
        [] if jobs.list.items.is_empty() => out.note_to_people("no tracked jobs"),
        [] => {}
        missing => {
            let jobs = format_count(missing.len() as u64, "tracked job", "tracked jobs");
            let verb = if missing.len() == 1 { "has" } else { "have" };
            out.note(&format!("{jobs} {verb} expired: {}", comma_list(missing)));
        }
    }
    Ok(Exit::Ok)
}
