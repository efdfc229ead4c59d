//! `qless jobs`

use strum::VariantArray;

use super::{HelpGroup, Spec};
use crate::args::format::Format;
use crate::args::shared::{Selector, WatchFlag};
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::api::job::JobFields;
use crate::core::api::queue;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::job::{State, StateCounts};
use crate::model::list::JobsAndMissingJids;
use crate::model::queue::Queue;
use crate::select::JobSearch;
use crate::select::nothing;
use crate::session::Session;

/// List jobs
///
/// Without a selector, the list has the waiting, running, stalled, scheduled, depends and throttled
/// jobs of every queue. A `stalled` job is a running job whose lock has expired or was revoked. A
/// `throttled` job waits for a free slot of a throttle.
///
/// Examples: `qless jobs --queue mail --state running,stalled`
/// · `qless jobs --tag eu --where order.id=7719`
/// · `qless jobs --held-by 'mx-2-*' --count`
/// · `qless jobs --state complete --newer-than 1h -o ndjson`
/// · `qless jobs --klass Nightly --newer-than 1d --require-match -o jid`
///
/// Exit codes: 0, also if there are none; 3 a queue was left out, because a key of it has the wrong
/// type; 4 unknown queue or group, or no job with `--require-match`; 6 server.
///
/// See also: `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selector: Selector,
    /// Exit with 4 if no job matches
    #[arg(long)]
    require_match: bool,
    /// Print only the number of jobs in each state
    #[arg(long, conflicts_with_all = ["limit", "offset"])]
    count: bool,
    #[command(flatten)]
    pub watch: WatchFlag,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Inspect, run).watch_interval(|args| args.watch.every);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    args.selector.refuse_contradictions()?;
    if args.count {
        let now = session.connect_to_show::<StateCounts>(&[])?;
        let (counts, unreadable) = counts_and_unreadable_queues(session, now, &args.selector)?;
        session.ui.show(&counts)?;
        let exit = session
            .ui
            .report_if_incomplete(queue::partial_result_error(&unreadable));
        let jobs = counts.total_of_all_states();
        return exit_or_no_match_error(args.require_match, ShownCountAndExit { jobs, exit });
    }
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    session.ui.check_columns::<JobsAndMissingJids>()?;
    let raw = match session.ui.format() {
        Format::Raw => Some(raw_jobs_call(&args.selector)?),
        _ => None,
    };
    if raw.as_ref().is_some_and(Call::may_write) {
        session.require_writable_if_raw_output()?;
    }
    let now = session.connect()?;
    if let Some(call) = raw {
        return session.print_core_reply(now, &call);
    }
    let listed = list_jobs(&args.selector, false, now, session)?;
    exit_or_no_match_error(args.require_match, listed)
}

/// The number of selected jobs in each state, and the queues that cannot be read. Without any condition, all jobs are
/// selected.
fn counts_and_unreadable_queues(
    session: &mut Session,
    now: Moment,
    selector: &Selector,
) -> Result<(StateCounts, Vec<Queue>), Error> {
    let mut counts = StateCounts::default();
    let mut unreadable = Vec::new();
    let states = if selector.selects_nothing() {
        State::VARIANTS.to_vec()
    } else {
        selector.effective_states()
    };
    // The size of an index is the number of jobs in the `known` states. Jobs in the other states are read one by one.
    let simple = selector.has_no_flag_but_queue_or_state();
    let indexed =
        |state: &State| simple && (selector.queues.is_empty() || State::QUEUED.contains(state));
    let (known, rest): (Vec<State>, Vec<State>) = states.into_iter().partition(indexed);
    let core = session.core()?;
    if known.iter().any(|state| State::QUEUED.contains(state)) {
        let matched = core.queues_like_and_unreadable(now, &selector.queues)?;
        unreadable = matched.unreadable;
        matched
            .readable
            .iter()
            .for_each(|queue| queue.add_to_counts(&mut counts.queued));
    }
    if known.contains(&State::Failed) {
        counts.failed = core
            .failed_counts_by_group(now)?
            .iter()
            .map(|(_, jobs)| jobs)
            .sum();
    }
    if known.contains(&State::Complete) {
        counts.complete = core.index_range(now, &Index::Complete, 0, 0)?.total;
    }
    for state in State::VARIANTS
        .iter()
        .filter(|state| !known.contains(state))
    {
        *counts.count_mut(*state) = 0;
    }
    if rest.is_empty() {
        return Ok((counts, unreadable));
    }
    let mut selector = selector.clone();
    if simple {
        selector.states = rest;
    }
    (selector.limit, selector.offset) = (None, 0);
    let mut search = JobSearch::start(session.core()?, now, &selector, JobFields::Label)?;
    search.note_full_scan_and_data_paths(&mut session.ui);
    while let Some(jobs) = search.next_jobs(session.core()?)? {
        for state in jobs.iter().filter_map(|job| job.state) {
            *counts.count_mut(state) += 1;
        }
    }
    unreadable.append(&mut search.unreadable);
    unreadable.dedup_by(|one, other| one.name == other.name);
    Ok((counts, unreadable))
}

/// The exit code of a list. With `is_match_required` (`--require-match`), a complete list without jobs is an error.
fn exit_or_no_match_error(
    is_match_required: bool,
    listed: ShownCountAndExit,
) -> Result<Exit, Error> {
    match listed {
        ShownCountAndExit {
            jobs: 0,
            exit: Exit::Ok,
        } if is_match_required => Err(Error::not_found("no job matches")),
        ShownCountAndExit { exit, .. } => Ok(exit),
    }
}

/// The totals of a list.
pub(crate) struct ShownCountAndExit {
    /// The number of jobs that were shown.
    pub jobs: u64,
    /// The exit code. It is not 0 if the list lacks a queue that could not be read.
    pub exit: Exit,
}

/// Lists the jobs of a selector in the chosen format. `newest_failed_first` puts the newest failed job first; without
/// it, the oldest failed job comes first.
pub(crate) fn list_jobs(
    selector: &Selector,
    newest_failed_first: bool,
    now: Moment,
    session: &mut Session,
) -> Result<ShownCountAndExit, Error> {
    let mut selector = selector.clone();
    let table = session.ui.format() == Format::Table;
    selector.limit = selector.limit.or(session.ui.default_row_limit());
    if table && session.ui.has_sort_flag() {
        // A sorted table needs all rows: the limit applies after the sort, not to the read.
        session
            .ui
            .set_shown_rows(selector.offset, selector.limit.take());
        selector.offset = 0;
    }
    let (core, out) = session.core_and_ui()?;
    let detail = if out.format() == Format::Jid {
        JobFields::Jid
    } else {
        JobFields::Brief
    };
    let mut search =
        JobSearch::start(core, now, &selector, detail)?.newest_failures_first(newest_failed_first);
    search.note_full_scan_and_data_paths(out);
    let streams = match out.format() {
        Format::Table => !out.is_for_people() && !out.has_sort_flag(),
        Format::Json => false,
        _ => true,
    };
    let mut jobs = JobsAndMissingJids::default();
    jobs.list.offset = selector.offset;
    let mut shown = 0;
    while let Some(mut slice) = search.next_jobs(core)? {
        if table {
            core.set_failed_dependency_counts(now, slice.iter_mut().collect())?;
        }
        shown += slice.len() as u64;
        jobs.list.items.append(&mut slice);
        if streams && !jobs.list.items.is_empty() {
            out.show(&jobs)?;
            // Flush, so that a reader of the stream gets these jobs before the next ones are read.
            out.flush_stdout_and_wait_for_pager()?;
            out.omit_next_headers();
            jobs.list.items.clear();
        }
    }
    let left_out = queue::partial_result_error(&search.unreadable);
    if streams {
        let read_all = left_out.is_none();
        let exit = out.report_if_incomplete(left_out);
        if shown == 0 && read_all {
            nothing::hint_why_empty(session, now, Some(&selector))?;
        }
        return Ok(ShownCountAndExit { jobs: shown, exit });
    }
    jobs.list.total = search.total_matches(core)?;
    out.show(&jobs)?;
    match shown {
        0 if left_out.is_some() => {}
        0 => {
            out.note_to_people("no jobs");
            nothing::hint_why_empty(session, now, Some(&selector))?;
        }
        _ => out.note_rows_left_out(shown, jobs.list.total, selector.offset, "jobs"),
    }
    let exit = session.ui.report_if_incomplete(left_out);
    Ok(ShownCountAndExit { jobs: shown, exit })
}

/// The call of the core's command `jobs`, for `-o raw`. The command takes one state of one queue, or completed jobs.
fn raw_jobs_call(selector: &Selector) -> Result<Call, Error> {
    let plain = || match selector.queues.as_slice() {
        [queue] => queue.as_plain_name(),
        _ => None,
    };
    let call = match (selector.states.as_slice(), plain()) {
        ([State::Complete], None) if selector.queues.is_empty() => {
            Call::raw_call("jobs").arg("complete")
        }
        ([state], Some(queue))
            if !matches!(state, State::Complete | State::Waiting | State::Failed) =>
        {
            Call::raw_call("jobs").arg(state.into_str()).arg(queue)
        }
        _ => return Err(state_and_queue_required_error()),
    };
    if !selector.has_no_flag_but_queue_or_state() {
        return Err(state_and_queue_required_error());
    }
    let count = selector.limit.unwrap_or(25);
    Ok(call.arg(selector.offset.to_string()).arg(count.to_string()))
}

fn state_and_queue_required_error() -> Error {
    Error::usage("the core's own `jobs` takes one state of one queue, or `complete`").hint(
        "give both: `--state running --queue Q`; other states are stalled, scheduled, depends and \
         throttled",
    )
}
