//! `qless queues`

use super::{HelpGroup, Spec};
use crate::args::format::Format;
use crate::args::shared::WatchFlag;
use crate::args::value;
use crate::core::api::queue::{self, QueuesByReadability};
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::pattern::NamePattern;
use crate::model::queue::Queue;
use crate::select::nothing;
use crate::session::Session;
use crate::text::format_count;

/// Show queues with the number of jobs in each state
///
/// NEXT WAITS is how long the next job to pop has been waiting.
///
/// Examples: `qless queues`
/// · `qless queues 'mail*' -o json | jq '.items[] | select(.waiting > 1000).name'`
///
/// Exit codes: 0, also if there are none; 3 a queue was left out, because a key of it has the wrong
/// type; 4 unknown queue; 6 server.
///
/// See also: `qless jobs`, `qless failed`, `qless pause`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these queues (name or glob)
    #[arg(value_name = "QUEUE", value_parser = value::name_or_glob(), add = value::CompletionKind::Queues)]
    queues: Vec<NamePattern>,
    #[command(flatten)]
    pub watch: WatchFlag,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Inspect, run).watch_interval(|args| args.watch.every);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    session.ui.check_columns::<List<Queue>>()?;
    session.require_writable_if_raw_output()?;
    let now = session.connect()?;
    if session.ui.format() == Format::Raw {
        if args.queues.is_empty() {
            return session.print_core_reply(now, &Call::raw_call("queues"));
        }
        for queue in session.core()?.queues_like(now, &args.queues)? {
            session.print_core_reply(now, &Call::raw_call("queues").arg(&queue.name))?;
        }
        return Ok(Exit::Ok);
    }
    let (core, out) = session.core_and_ui()?;
    let QueuesByReadability {
        readable: queues,
        unreadable,
    } = core.queues_like_and_unreadable(now, &args.queues)?;
    let empty = queues.is_empty();
    out.show(&List::of_all(queues))?;
    if empty && unreadable.is_empty() {
        out.note_to_people("no queues");
        nothing::hint_why_empty(session, now, None)?;
    }
    let (core, out) = session.core_and_ui()?;
    if out.shows_hints() {
        let groups = core.failed_counts_by_group(now)?;
        let jobs: u64 = groups.iter().map(|(_, jobs)| jobs).sum();
        if jobs > 0 {
            let verb = if jobs == 1 { "has" } else { "have" };
            let (jobs, groups) = (
                format_count(jobs, "job", "jobs"),
                format_count(groups.len() as u64, "group", "groups"),
            );
            out.hint(&format!("{jobs} {verb} failed in {groups}: qless failed"));
        }
    }
    Ok(out.report_if_incomplete(queue::partial_result_error(&unreadable)))
}
