//! Waiting for jobs: `wait`, and `put --wait`.
//!
//! The order makes sure that no change is missed: subscribe to the events of all jobs, then read the
//! jobs, then listen. An event is the reason to read its job again. Every 2 s some jobs are read
//! without an event, because an event is delivered at most once and some changes have none. After a
//! lost connection all jobs are read. Without the right to subscribe, there are only the periodic reads.

mod display;
mod failure;
mod jobs;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::core::api::epoch::LossFreeEpoch;
use crate::core::api::event::{EventOrConnectionChange, EventStream};
use crate::core::api::not_found;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::interrupt::InterruptFlags;
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::model::event::EventChannel;
use crate::model::job::State;
use crate::model::queue::RoundedSeconds;
use crate::model::wait::{FinishedWait, JobWaitResult, WaitItem, WaitOutcome, WaitTotals};
use crate::name::Name;
use crate::session::Session;
use crate::ui::Ui;

use display::WaitDisplay;
pub(crate) use failure::require_awaited_state;
use jobs::{AwaitedJobs, SingleJobReadOutcome};

/// The condition of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitOptions {
    pub awaited: State,
    /// Whether one job is enough.
    pub any: bool,
    pub deadline: Option<Duration>,
    /// Whether a job that no longer exists counts as one that reached the state: it was cancelled, or it was completed
    /// and later deleted.
    pub allow_gone: bool,
    /// Whether a job that does not exist at the start is an error.
    pub must_exist: bool,
}

/// Time between two periodic reads.
const READ_INTERVAL: Duration = Duration::from_secs(2);

/// Maximum number of jobs of a periodic read, which takes less than 100 ms of the server's time. If more jobs are
/// awaited, the next read continues with them.
const MAX_JOBS_PER_READ: usize = 10_000;

/// Time between two checks of the signals.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum time from a change to the arrival of its event, in seconds. A job that is missing for longer counts as gone.
const MAX_EVENT_DELAY: f64 = 0.2;

/// If the deadline ends a call, the server is reported as silent only if the call lasted at least this long.
const MIN_REPORTED_SILENCE: Duration = Duration::from_secs(1);

/// How long the command may continue after a signal.
const TIME_AFTER_SIGNAL: Duration = Duration::from_millis(500);

/// How long the first read of the jobs may take, even if the deadline is earlier. So a wait of 0 s still finds the jobs
/// that have already ended.
const MAX_FIRST_READ_TIME: Duration = Duration::from_secs(1);

/// A wait that has subscribed to events, so that it misses no further change, but has not read its jobs yet.
pub(crate) struct SubscribedWait {
    pub options: WaitOptions,
    begun: Instant,
    deadline: Option<Instant>,
    /// The identity of the server when the wait began, to notice a later loss of data. `None` if the server reports
    /// none.
    epoch: Option<LossFreeEpoch>,
    /// The events of all jobs. `None` if the user is not allowed to subscribe.
    log: Option<EventStream>,
    interrupt: InterruptFlags,
    /// Set when a job on another server of the context decides the outcome: this wait then stops.
    members_must_stop: Arc<AtomicBool>,
}

/// Why reading stopped early.
enum EarlyStop {
    Early(WaitOutcome),
    Failed(Error),
}

impl SubscribedWait {
    /// Subscribes to events and installs the signal handlers. The deadline counts from this call.
    pub(crate) fn subscribe_and_handle_signals(
        options: WaitOptions,
        session: &mut Session,
    ) -> Result<SubscribedWait, Error> {
        let begun = Instant::now();
        let interrupt = InterruptFlags::install_handlers_once();
        interrupt.spawn_exit_after_signal(TIME_AFTER_SIGNAL)?;
        let deadline = options.deadline.and_then(|left| begun.checked_add(left));
        let (core, ui) = session.core_and_ui()?;
        core.limit_calls_until(deadline);
        let epoch = core.current_loss_free_epoch().ok().flatten();
        core.limit_calls_until(None);
        let log = match core.subscribe_to_events(&[EventChannel::Log]) {
            Ok(log) => Some(log),
            Err(error) if error.kind() == Kind::NoPerm => {
                ui.note_to_people("note: the user may not subscribe; reading every 2s");
                None
            }
            Err(error) => return Err(error),
        };
        Ok(SubscribedWait {
            options,
            begun,
            deadline,
            epoch,
            log,
            interrupt,
            members_must_stop: session.members_must_stop_flag(),
        })
    }

    /// When a first read that begins now has to end.
    pub(crate) fn first_read_deadline(&self) -> Option<Instant> {
        let first = Instant::now() + MAX_FIRST_READ_TIME;
        self.deadline.map(|deadline| deadline.max(first))
    }

    /// Whether an error means that the deadline has passed before the server replied.
    pub(crate) fn is_caused_by_deadline(&self, error: &Error) -> bool {
        let kind = error.kind();
        let unanswered = [Kind::Unreachable, Kind::Timeout, Kind::Busy, Kind::Loading];
        self.is_deadline_over() && unanswered.contains(&kind)
    }

    fn is_deadline_over(&self) -> bool {
        is_over(self.deadline)
    }

    /// Waits until the outcome is certain. Calls `ended` with each job whose wait ends.
    pub(crate) fn wait_until_outcome_certain(
        self,
        jids: Vec<Name>,
        session: &mut Session,
        ended: impl FnMut(&mut Ui, &WaitItem) -> Result<(), Error>,
    ) -> Result<FinishedWait, Error> {
        let display = WaitDisplay::new(&session.ui, jids.len());
        let mut run = WaitLoop {
            jobs: AwaitedJobs::new(self.options.awaited, self.begun, jids),
            deadline: self.first_read_deadline(),
            decisive: None,
            asked_at: None,
            replied_at: None,
            certain: self.log.is_none(),
            waiter: &self,
            ended,
            display,
        };
        let outcome = run.run_until_outcome(session);
        let at_deadline = matches!(outcome, Ok(WaitOutcome::Deadline));
        let silent_s = run.server_silence().filter(|_| at_deadline);
        let (core, _) = session.core_and_ui()?;
        core.limit_calls_until(None);
        let decisive = run
            .decisive
            .or_else(|| run.jobs.pending_job_indexes().next());
        let (reached, left) = (run.jobs.reached, run.jobs.pending);
        run.display.remove_from_screen();
        let items = run.jobs.into_items();
        let is_gone = |item: &WaitItem| item.result == JobWaitResult::Gone;
        let lost_by = match (&self.epoch, &outcome) {
            (Some(begun), Ok(WaitOutcome::Ended(_))) if items.iter().any(is_gone) => {
                describe_server_data_loss(begun, core)
            }
            _ => None,
        };
        Ok(FinishedWait {
            totals: WaitTotals {
                outcome: outcome?,
                awaited: self.options.awaited,
                jobs: items.len(),
                reached,
                pending: left,
                elapsed_s: RoundedSeconds(self.begun.elapsed().as_secs_f64()),
                silent_s,
            },
            items,
            decisive,
            lost_by,
        })
    }
}

/// A clause about how the server may have lost jobs since `begun`, with its address. `None` if nothing shows a loss.
fn describe_server_data_loss(begun: &LossFreeEpoch, core: &mut Core) -> Option<String> {
    let present = core.current_loss_free_epoch().ok()??;
    // In a cluster, another node may serve the hash slot now. That loses no jobs: all keys move with their slot.
    let moved =
        core.last_connected_cluster_node().is_some() && !begun.may_have_failed_over_to(&present);
    if begun.run_id != present.run_id && moved {
        return None;
    }
    let cause = begun.causes_of_loss(&present).next()?;
    Some(format!(
        "`{}` {}",
        core.address(),
        cause.as_data_loss_clause()
    ))
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// The loop of a wait.
struct WaitLoop<'w, F> {
    waiter: &'w SubscribedWait,
    jobs: AwaitedJobs,
    /// When reads have to end.
    deadline: Option<Instant>,
    /// The job that decided the outcome.
    decisive: Option<usize>,
    /// When a read began that has no reply.
    asked_at: Option<Instant>,
    /// When the last read had its reply.
    replied_at: Option<Instant>,
    /// Whether a missing job counts as gone immediately: without a subscription, no event can still report its end.
    certain: bool,
    ended: F,
    display: WaitDisplay,
}

impl<F: FnMut(&mut Ui, &WaitItem) -> Result<(), Error>> WaitLoop<'_, F> {
    /// Runs the wait and tells why it ended.
    fn run_until_outcome(&mut self, session: &mut Session) -> Result<WaitOutcome, Error> {
        match self.read_until_outcome(session) {
            Ok(outcome) | Err(EarlyStop::Early(outcome)) => Ok(outcome),
            Err(EarlyStop::Failed(error)) if self.waiter.is_caused_by_deadline(&error) => {
                let unanswered = matches!(error.kind(), Kind::Unreachable | Kind::Timeout);
                self.asked_at = self.asked_at.filter(|_| unanswered);
                Ok(WaitOutcome::Deadline)
            }
            Err(EarlyStop::Failed(error)) => Err(error),
        }
    }

    /// How long the server has not replied. `None` if the server replies.
    fn server_silence(&self) -> Option<RoundedSeconds> {
        let log = self.waiter.log.as_ref();
        // A broken subscription counts as silence only if no read has been answered since: the user may have lost
        // just the right to subscribe.
        let broken = log.and_then(EventStream::broken_since);
        let broken =
            broken.filter(|broken| self.replied_at.is_none_or(|replied| replied < *broken));
        let asked = self
            .asked_at
            .filter(|asked| asked.elapsed() >= MIN_REPORTED_SILENCE);
        let since = broken.into_iter().chain(asked).min()?;
        Some(RoundedSeconds(since.elapsed().as_secs_f64()))
    }

    fn read_until_outcome(&mut self, session: &mut Session) -> Result<WaitOutcome, EarlyStop> {
        self.read_pending_jobs(session, self.waiter.options.must_exist)?;
        self.deadline = self.waiter.deadline;
        let mut next_turn = Instant::now() + READ_INTERVAL;
        loop {
            if let Some(outcome) = self.decided_outcome() {
                return Ok(outcome);
            }
            self.check_early_stop()?;
            self.display
                .show_pending_lines_unless_bar(&self.jobs, self.waiter.begun);
            if self.wait_for_events_and_may_lack_some() {
                self.read_pending_jobs(session, false)?;
                continue;
            }
            let dirty = self.jobs.take_dirty();
            self.read_jobs_until_outcome_decided(&dirty, session)?;
            if Instant::now() >= next_turn {
                let turn = self.jobs.next_pending_in_rotation(MAX_JOBS_PER_READ);
                self.read_jobs_until_outcome_decided(&turn, session)?;
                next_turn = Instant::now() + READ_INTERVAL;
            }
        }
    }

    /// Takes the events that arrive until the next check. True if a lost connection is back, so that events may have
    /// been missed.
    fn wait_for_events_and_may_lack_some(&mut self) -> bool {
        let mut until = Instant::now() + SIGNAL_CHECK_INTERVAL;
        if let Some(deadline) = self.waiter.deadline {
            until = until.min(deadline);
        }
        let Some(log) = &self.waiter.log else {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
            return false;
        };
        for _ in 0..MAX_JOBS_PER_READ {
            match log.next_event(until) {
                None | Some(Err(_)) => break,
                Some(Ok(EventOrConnectionChange::Lost(_))) => {}
                Some(Ok(EventOrConnectionChange::Back(_))) => return true,
                // Take only the further events that have already arrived: read the job of this event without delay.
                Some(Ok(EventOrConnectionChange::Event(event)))
                    if self.jobs.mark_dirty_if_pending(&event) =>
                {
                    until = Instant::now()
                }
                Some(Ok(EventOrConnectionChange::Event(_))) => {}
            }
        }
        false
    }

    fn read_pending_jobs(
        &mut self,
        session: &mut Session,
        must_exist: bool,
    ) -> Result<(), EarlyStop> {
        let all: Vec<usize> = self.jobs.pending_job_indexes().collect();
        self.read_jobs_until_outcome_decided(&all, session)?;
        if !must_exist || self.waiter.options.allow_gone {
            return Ok(());
        }
        let is_missing = |at: &usize| {
            let gone = self.jobs.item_at(*at).result == JobWaitResult::Gone;
            gone || self.jobs.seconds_missing(*at).is_some()
        };
        let missing = all.iter().filter(|at| is_missing(at));
        let missing: Vec<Name> = missing
            .map(|at| self.jobs.item_at(*at).jid.clone())
            .collect();
        not_found::refuse_missing_jobs(&missing).map_err(EarlyStop::Failed)
    }

    /// Reads these jobs in batches. Stops early once a job decides the outcome.
    fn read_jobs_until_outcome_decided(
        &mut self,
        which: &[usize],
        session: &mut Session,
    ) -> Result<(), EarlyStop> {
        for batch in which.chunks(MAX_JOBS_PER_CALL) {
            self.check_early_stop()?;
            let (core, ui) = session.core_and_ui().map_err(EarlyStop::Failed)?;
            core.limit_calls_until(self.deadline);
            self.asked_at = Some(Instant::now());
            self.read_batch(batch, core, ui)
                .map_err(EarlyStop::Failed)?;
            self.asked_at = None;
            self.replied_at = Some(Instant::now());
            if self.decisive.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn read_batch(&mut self, batch: &[usize], core: &mut Core, ui: &mut Ui) -> Result<(), Error> {
        let jid = |at: &usize| self.jobs.item_at(*at).jid.clone();
        let jids: Vec<Name> = batch.iter().map(jid).collect();
        let now = core.now();
        let mut changed = Vec::new();
        for (&at, job) in batch
            .iter()
            .zip(core.jobs_with_fields(now, "jid,shown,mark", &jids)?)
        {
            let late = self
                .jobs
                .seconds_missing(at)
                .is_some_and(|missing| missing > MAX_EVENT_DELAY);
            match self.jobs.note_read(at, job.as_ref(), self.certain || late) {
                SingleJobReadOutcome::Pending => {}
                SingleJobReadOutcome::Missing => self.jobs.mark_dirty(at),
                SingleJobReadOutcome::Changed => changed.push(at),
                SingleJobReadOutcome::Ended => self.report_end_and_note_decisive(at, ui)?,
            }
        }
        let jid = |at: &usize| self.jobs.item_at(*at).jid.clone();
        let jids: Vec<Name> = changed.iter().map(jid).collect();
        let histories = core.jobs_with_fields(now, "jid,shown,mark,history", &jids)?;
        for (&at, job) in changed.iter().zip(histories) {
            let seen = match job {
                Some(job) => self.jobs.note_passed_state_in_history(at, &job),
                None => SingleJobReadOutcome::Missing,
            };
            match seen {
                SingleJobReadOutcome::Missing => self.jobs.mark_dirty(at),
                SingleJobReadOutcome::Ended => self.report_end_and_note_decisive(at, ui)?,
                SingleJobReadOutcome::Pending | SingleJobReadOutcome::Changed => {}
            }
        }
        Ok(())
    }

    /// Reports the end of the wait for a job.
    fn report_end_and_note_decisive(&mut self, at: usize, ui: &mut Ui) -> Result<(), Error> {
        let options = &self.waiter.options;
        let item = self.jobs.item_at(at);
        let counts = match item.result {
            JobWaitResult::Reached(_) => true,
            JobWaitResult::Gone | JobWaitResult::Cancelled => options.allow_gone,
            _ => false,
        };
        // With `any`, the first job that reaches the state decides the outcome. Without `any`, the first job that
        // cannot reach the state decides it.
        if counts == options.any {
            self.decisive.get_or_insert(at);
        }
        let ended = &mut self.ended;
        self.display.print_and_count_ended_job(|| {
            ended(ui, item)?;
            ui.flush_stdout_and_wait_for_pager()
        })
    }

    /// The outcome if it is certain.
    fn decided_outcome(&self) -> Option<WaitOutcome> {
        let options = &self.waiter.options;
        let reached = WaitOutcome::Reached(options.awaited);
        match self.decisive {
            Some(_) if options.any => Some(reached),
            Some(at) => Some(WaitOutcome::Ended(self.jobs.item_at(at).result)),
            None if self.jobs.pending > 0 => None,
            None if options.any && self.jobs.len() > 0 => {
                Some(WaitOutcome::Ended(self.jobs.item_at(0).result))
            }
            None => Some(reached),
        }
    }

    /// Stops at a signal and at the deadline.
    fn check_early_stop(&self) -> Result<(), EarlyStop> {
        if let Some(kind) = self.waiter.interrupt.error_kind_of_received_signal() {
            return Err(EarlyStop::Early(WaitOutcome::Interrupted(kind)));
        }
        if self.waiter.members_must_stop.load(Ordering::Relaxed) {
            return Err(EarlyStop::Early(WaitOutcome::Ended(JobWaitResult::Pending)));
        }
        if is_over(self.deadline) {
            Err(EarlyStop::Early(WaitOutcome::Deadline))
        } else {
            Ok(())
        }
    }
}
