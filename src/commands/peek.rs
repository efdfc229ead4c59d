//! `qless peek`

use super::{HelpGroup, Spec};
use crate::args::format::Format;
use crate::args::value;
use crate::command_line::CommandLine;
use crate::core::api::queue::PauseRespectPolicy;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::{JobsAndMissingJids, List};
use crate::name::Name;
use crate::session::Session;

/// Show the next jobs that a pop would return
///
/// Jobs are listed in the order in which they would be popped, by a dry run of the pop: jobs that a throttle
/// or a lane holds are missing. Nothing is changed. A job that a recurring job would put first is shown as
/// `(due)`. Of a paused queue, it shows the jobs that a pop would return without the pause. At most 1,000
/// are shown.
///
/// Example: `qless peek mail --count 3`
///
/// Exit codes: 0, also if there are none; 4 unknown queue, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// The queue
    #[arg(value_name = "QUEUE", value_parser = value::name(), add = value::CompletionKind::Queues)]
    queue: Name,
    /// Maximum number of jobs
    #[arg(long, value_name = "N", default_value = "10", value_parser = value::at_least_zero)]
    count: u64,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(HelpGroup::Inspect, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    session.ui.check_columns::<JobsAndMissingJids>()?;
    session.require_writable_if_raw_output()?;
    let now = session.connect()?;
    if session.ui.format() == Format::Raw {
        let call = Call::raw_call("peek").arg(&args.queue);
        return session.print_core_reply(now, &call.arg(args.count.to_string()));
    }
    let (core, out) = session.core_and_ui()?;
    let queues = std::slice::from_ref(&args.queue);
    let jobs = core.next_jobs(now, queues, args.count, PauseRespectPolicy::Ignored)?;
    if jobs.is_empty() {
        core.require_queue(now, &args.queue)?;
    }
    let empty = jobs.is_empty();
    out.show(&JobsAndMissingJids {
        list: List::of_all(jobs),
        ..JobsAndMissingJids::default()
    })?;
    if empty {
        out.note_to_people("no job to pop");
        let explain = CommandLine::new("explain").with_exact_pattern("--queue", &args.queue);
        out.hint_if(explain.fill_sentence("{} says why"));
    }
    Ok(Exit::Ok)
}
