//! `qless events`

use super::{HelpGroup, Spec};
use crate::args::format::Format;
use crate::args::value;
use crate::error::Error;
use crate::events;
use crate::events::EventLimits;
use crate::events::filter::EventFilter;
use crate::exit::Exit;
use crate::model::event::{Event, EventChannel, EventKind};
use crate::model::pattern::NamePattern;
use crate::name::Name;
use crate::session::Session;

/// Show what happens to jobs while it happens
///
/// Prints a line for each event that the core publishes from now on: the time at which it arrived, in UTC by the
/// server's clock; its kind; the queue; the job; and a detail: the group and message of a failure, the worker that
/// lost the job, the next queue of an advanced job, the throttle, the lane, or the option and its value. `–` means that
/// the message of the core does not say it. A message that is no event of the core is `unknown`, and its detail is the
/// message itself.
///
/// Without `--tracked` and `--worker`, the command shows the events of all jobs. The core publishes none when a worker
/// retries a job, a put joins a merge job, a queue is paused, or a job becomes due, and `popped` and `stalled` only for tracked jobs.
/// `--queue` matches an event only if its message names the queue: put, advanced (also by the next queue), completed,
/// canceled, throttled, skipped. It does not match failed, lock_lost and merged, whatever the queue of the job is.
///
/// Redis delivers an event at most once and keeps none. While the connection is lost, events are missed; the server also
/// closes it if the reader of this output is too slow. Then stderr says since when events may be missing, and when
/// the connection is back; with `-o ndjson`, the events `gap` and `resumed` say it on stdout, too, whatever the filters
/// are, and `--count` does not count them. The command connects again for ever. `qless get` shows the state of a job
/// after a gap.
///
/// Examples: `qless events --event failed --count 1 --deadline 1s`
/// · `qless events --queue 'mail-*' --deadline 1s`
/// · `qless events --tracked -o ndjson --deadline 1s | jq -c .jid`
///
/// Exit codes: 0 also after Ctrl-C or the deadline, 3 a member of the context was never reached, 6 server,
/// 124 the deadline passed before `--count`, 130 interrupted before `--count` or the deadline, 143 terminated.
///
/// See also: `qless wait`, `qless track`, `qless get`, `qless help acl`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::NotComplete)]
pub(crate) struct Args {
    /// Events whose message names this queue (name or glob)
    #[arg(long = "queue", value_name = "Q", value_parser = value::name_or_glob(),
          add = value::CompletionKind::Queues)]
    queues: Vec<NamePattern>,
    /// Events of this job, also of one that was merged into it
    #[arg(long = "jid", value_name = "JID", value_parser = value::name(),
          add = value::CompletionKind::Targets)]
    jids: Vec<Name>,
    /// Events of these kinds
    #[arg(long = "event", value_name = "E", value_delimiter = ',', value_parser = value::event_kind())]
    kinds: Vec<EventKind>,
    /// Only the events that the core publishes to this worker: jobs that it lost
    #[arg(long = "worker", value_name = "W", value_parser = value::name(),
          add = value::CompletionKind::Workers)]
    workers: Vec<Name>,
    /// Only events of tracked jobs, whose messages name the job and nothing else
    #[arg(long)]
    tracked: bool,
    #[command(flatten)]
    limits: EventLimits,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(HelpGroup::Inspect, run).unpaged();

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.refuse_json_for_stream("events")?;
    session.ui.require_format(&[Format::Jid])?;
    session.ui.check_columns::<Event>()?;
    if session.ui.has_sort_flag() {
        let error = Error::usage("`events` shows events in the order in which they come");
        return Err(error.hint("leave out `--sort` and `--reverse`"));
    }
    let mut sources: Vec<EventChannel> =
        args.workers.into_iter().map(EventChannel::Worker).collect();
    if args.tracked {
        sources.push(EventChannel::Tracked);
    }
    if sources.is_empty() {
        sources = vec![EventChannel::Log, EventChannel::Extensions];
    }
    let filter = EventFilter {
        sources,
        kinds: args.kinds,
        queues: args.queues,
        jids: args.jids,
    };
    filter.refuse_if_nothing_matches()?;
    events::show_events_until_limit(&filter, &args.limits, session)
}
