//! `qless forget queue`

use crate::args::format::Format;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::core::api::index::Index;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::CommandResult;
use crate::model::queue::Queue;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::{backtick_list, comma_list};

/// Remove queues from the list of known queues
///
/// Only empty queues are removed, because commands that name no queue do not see the jobs of a queue that is not
/// listed. The next put lists the queue again.
///
/// Example: `qless forget queue old-import`
///
/// Exit codes: 0, 4 unknown queue, 5 it has jobs, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Queues
    #[arg(required = true, value_name = "QUEUE", value_parser = value::name_or_empty(),
          add = value::CompletionKind::Queues)]
    pub queues: Vec<Name>,
    /// Remove queues that have jobs, too
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let now = session.connect()?;
    let core = session.core()?;
    for queue in core.queues(now, &args.queues)? {
        if !queue.exists() {
            let known = core.index_members(now, &Index::Queues)?;
            return Err(Error::unknown_name("queue", &queue.name, &known));
        }
        if let (false, Some(contents)) = (args.force, describe_queue_jobs(&queue)) {
            let name = &queue.name;
            return Err(
                Error::conflict(format!("cannot forget `{name}`: {contents}"))
                    .hint("`--force` forgets it and keeps its jobs"),
            );
        }
    }
    let what = format!("forget queue {}", backtick_list(&args.queues));
    let consent =
        session.ask_unless_dry_run(args.dry, AskWhen::Always, &what, |_| String::new())?;
    if let Some(consent) = consent {
        let core = session.core()?;
        core.forget_queues(now, &args.queues, consent)?;
        let after = if args.force {
            Vec::new()
        } else {
            core.queues(now, &args.queues)?
        };
        for queue in after {
            if let Some(contents) = describe_queue_jobs(&queue) {
                let name = &queue.name;
                session.ui.warn(&format!(
                    "`{name}` got jobs meanwhile: {contents}; the next put lists it again"
                ));
            }
        }
        let forgot = format!("forgot {}", comma_list(&args.queues));
        session.ui.note_to_people(&forgot);
    }
    let done = CommandResult::new("forget queue", args.queues, args.dry.dry_run);
    session.ui.show_and_exit_ok(&done)
}

/// The numbers of jobs and recurring jobs in a queue, as a clause; `None` if all these numbers are 0.
fn describe_queue_jobs(queue: &Queue) -> Option<String> {
    let counts = queue.counts_by_state().into_iter();
    let parts: Vec<String> = counts
        .filter(|(_, count)| *count > 0)
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    (!parts.is_empty()).then(|| format!("it has {}", parts.join(", ")))
}
