//! `qless lag`

use std::time::Duration;

use super::{HelpGroup, Spec};
use crate::args::format::Format;
use crate::args::shared::WatchFlag;
use crate::args::value;
use crate::core::api::NAMES_PER_CALL;
use crate::core::api::queue::{self, QueuesByReadability};
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::lag::QueueLag;
use crate::model::list::List;
use crate::model::pattern::NamePattern;
use crate::name::Name;
use crate::select::nothing;
use crate::session::Session;

/// Show how long the oldest due job of each queue has been due, and why it has not run
///
/// The lag of a queue is how long its oldest job has been due that has not run, or how long a lock has
/// been expired, whichever is longer. It is 0 if nothing is due. Jobs that a throttle, their lane or a
/// pause holds count; WHY names what holds the oldest. A recurring job counts from its due time until a
/// pop puts its job. A job that its lane or its dependencies release counts from the release, and a
/// scheduled job that is due from the pop that queues it: the core keeps no earlier time. `qless work
/// --order lag` and `-o raw`, the reply of the core, go by the first job that a pop would look at: held
/// ones do not count there. With `--older-than` it is an alarm for cron: no output and exit code 0 if
/// all is well.
///
/// Examples: `qless lag`
/// · `qless lag 'mail*' --sort lag --reverse`
/// · `qless lag --older-than 5m`
/// · `qless lag mail -o json | jq '.items[0].lag_s'`
///
/// Exit codes: 0, 3 a queue was left out, because a key of it has the wrong type; 4 unknown queue;
/// 6 server, 10 `--older-than` lists a queue.
///
/// See also: `qless queues`, `qless work`, `qless failed --older-than`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these queues (name or glob)
    #[arg(value_name = "QUEUE", value_parser = value::name_or_glob(), add = value::CompletionKind::Queues)]
    queues: Vec<NamePattern>,
    /// Only queues with at least this lag; exit with 10 if there are any
    #[arg(long, value_name = "D", value_parser = value::recurring_interval)]
    older_than: Option<Duration>,
    #[command(flatten)]
    pub watch: WatchFlag,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Inspect, run).watch_interval(|args| args.watch.every);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let raw: &[Format] = if args.older_than.is_some() {
        &[]
    } else {
        &[Format::Raw]
    };
    let now = session.connect_to_show::<List<QueueLag>>(raw)?;
    let (core, out) = session.core_and_ui()?;
    let QueuesByReadability {
        readable: queues,
        unreadable,
    } = core.queues_like_and_unreadable(now, &args.queues)?;
    let names: Vec<Name> = queues.into_iter().map(|queue| queue.name).collect();
    let mut exceeding = 0;
    if out.format() == Format::Raw {
        for names in names.chunks(NAMES_PER_CALL) {
            let text = core.call_for_raw_output(now, &Call::raw_call("lag").args(names))?;
            out.write_verbatim_unless_terminal(&text)?;
        }
    } else {
        let mut lags = core.lags_of_oldest_due_jobs(now, &names)?;
        if let Some(than) = args.older_than {
            lags.retain(|lag| lag.lag_s.0 >= than.as_secs_f64());
            exceeding = lags.len();
        }
        out.show(&List::of_all(lags))?;
    }
    if names.is_empty() && unreadable.is_empty() {
        out.note_to_people("no queues");
        nothing::hint_why_empty(session, now, None)?;
    }
    let exit = session
        .ui
        .report_if_incomplete(queue::partial_result_error(&unreadable));
    Ok(if exceeding > 0 { Exit::Threshold } else { exit })
}
