//! `qless unfail`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::shared::{DryRunFlag, RequireExistingQueueFlag};
use crate::args::value;
use crate::bulk::new_queues;
use crate::core::api::index::Index;
use crate::core::api::not_found;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{BulkReport, BulkTotals};
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::format_count;

/// Move the oldest failed jobs of a group to one queue
///
/// This is the core's own call. It puts all jobs into one queue, and it updates neither their
/// failure nor the statistics of the day. Prefer `qless failed --group GROUP --retry-all`, which
/// puts each job into its own queue.
///
/// Prints the number of moved jobs.
///
/// Example: `qless unfail 'upload error' --to uploads --count 100`
///
/// Exit codes: 0, 4 unknown group, 6 server, 9 not confirmed.
///
/// See also: `qless failed`, `qless retry`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Failure group
    #[arg(value_parser = value::name_or_empty(), add = value::CompletionKind::Groups)]
    group: Name,
    /// Queue
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(),
          add = value::CompletionKind::Queues)]
    to: Name,
    /// Maximum number of jobs
    #[arg(long, value_name = "N", value_parser = value::at_least_one, default_value = "25")]
    count: u64,
    #[command(flatten)]
    existing: RequireExistingQueueFlag,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Recover, run)
    .context_member_dispatch(|_| MemberDispatch::Refused("it counts the jobs of one"));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let now = session.connect_to_show::<BulkReport>(&[Format::Raw])?;
    let index = Index::Failed(args.group.clone());
    let core = session.core()?;
    let total = core.index_range(now, &index, 0, 0)?.total;
    if total == 0 {
        not_found::refuse_missing_queue_or_group(core, now, &index)?;
    }
    let queues = std::slice::from_ref(&args.to);
    new_queues::note_or_refuse_new_queues(queues, args.existing, args.dry.dry_run, now, session)?;
    let expected = total.min(args.count);
    let what = format!(
        "move the {} of `{}` to `{}`",
        format_count(expected, "oldest job", "oldest jobs"),
        args.group,
        args.to
    );
    let moved =
        match session.ask_unless_dry_run(args.dry, AskWhen::Always, &what, |_| String::new())? {
            Some(consent) => {
                let core = session.core()?;
                core.unfail(now, &args.to, &args.group, args.count, consent)?
            }
            None => 0,
        };
    if matches!(session.ui.format(), Format::Table | Format::Raw) {
        if !args.dry.dry_run {
            session.ui.print_text(&format!("{moved}\n"))?;
        }
        return Ok(Exit::Ok);
    }
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let done = count(u64::try_from(moved).unwrap_or(0));
    let sum = if args.dry.dry_run {
        BulkTotals::new("unfail", true, count(expected))
    } else {
        BulkTotals {
            done,
            ..BulkTotals::new("unfail", false, done)
        }
    };
    session.ui.show_and_exit_ok(&BulkReport {
        sum: sum.in_context(session.ui.context_name()),
        ..BulkReport::default()
    })
}
