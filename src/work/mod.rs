//! `qless work`: runs jobs with any program.
//!
//! [`machine`] decides what to do, and itself uses no clock, process or connection. [`process`] runs programs,
//! [`server`] makes the calls, and the loop here connects the three.

mod hooks;
pub mod launcher;
pub mod machine;
pub(crate) mod members;
mod monitor;
mod notices;
pub mod options;
pub mod process;
pub mod queues;
mod reporter;
mod server;
mod service;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTTIN};

use self::hooks::HookQueue;
use self::launcher::{Launcher, append_job_line, cancel_line};
use self::machine::Machine;
use self::machine::event::{Action, Event, Report, ServerRequest, StartupFacts, WorkerRunResult};
use self::monitor::{LoopState, MetricsServer, WorkMonitor};
use self::notices::PutWatch;
use self::options::WorkOptions;
use self::process::answer::{self, Answer};
use self::process::{OutputStream, ProcessEvent, Processes, StartFailure};
use self::queues::{QueueRotation, WorkerQueues};
use self::reporter::Reporter;
use self::server::ServerThread;
use self::service::ServiceManager;
use crate::clock::moment::Moment;
use crate::clock::{Clock, SteadyInstant};
use crate::core::call::rights;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::interrupt;
use crate::model::work::PoppedJob;
use crate::model::worker_name;
use crate::session::{Session, secrets};
use crate::settings::members::MEMBER_VARIABLE;
use crate::text::format_count;

/// Time between two searches for queues whose names match.
const SEARCH_PAUSE: Duration = Duration::from_secs(10);

/// How long the end of the work waits for the readers of stdout and stderr after an error or a signal.
const MAX_WAIT_FOR_READERS: Duration = Duration::from_secs(1);

/// While programs run, the clock is read at least this often: a machine that slept may have lost locks.
const AWAKE: Duration = Duration::from_secs(1);

/// Maximum number of queues that are named in notes of one kind. The others are counted.
const MAX_NAMED: usize = 10;

/// A jump of the server's clock is reported if it is larger than this, in seconds.
const JUMP: f64 = 5.0;

/// Runs jobs until a signal comes, or until the limit of the options is reached.
pub(crate) fn run(mut options: WorkOptions, session: &mut Session) -> Result<Exit, Error> {
    let is_persistent = options.persistent;
    let worker_prefix = options.worker_name_prefix()?;
    let sandbox = options.sandbox.as_deref();
    options.sandbox = sandbox.map(|directory| session.member_file_path(directory));
    let launcher = Launcher::new(&options)?;
    session.ui.ignore_closed_stdout();
    let mut secrets = secrets::secret_variables(session.file.as_ref());
    // Programs do not inherit the variable that names this member of the context: a `qless` that they call must use the
    // whole context.
    secrets.push(MEMBER_VARIABLE.into());
    // This reserves descriptor 3, before the first connection can take it.
    let mut signals = vec![SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTTIN];
    signals.retain(|signal| interrupt::may_handle(*signal));
    let (mut processes, waker) = Processes::new(options.error_bytes, &signals, &secrets)?;
    // Open the address of `--metrics` before connecting to Redis, so that a wrong or used address is an error first.
    let listener = monitor::bind(&options, session)?;
    session.connect()?;
    // Hide the secrets now: the password was read, and no program of a job or hook runs yet.
    secrets::wipe_variables_and_hide_memory(&secrets);
    let queues = WorkerQueues::find(options.queues.clone(), options.order, session.core()?)?;
    let grace = queues::check_heartbeat_and_read_grace_seconds(&options, &queues.found, session)?;
    queues::note_missing_and_paused_queues(&queues, &options, session)?;
    if let Some(note) = options.lower_slots_to_file_limit()? {
        session.ui.note(&note);
    }
    // Keep the server until the end of this function, so that it answers until the worker has ended.
    let server = listener.map(|listener| MetricsServer::start(listener, &options, session));
    let server = server.transpose()?;
    let monitor = server.as_ref().map(|server| server.monitor.clone());
    if let Some(command) = &options.on_start
        && !hooks::run_start_hook(command, options.kill_after, &mut processes, &waker)?
    {
        let note = "`--on-start` was stopped by a signal; no job was popped";
        session.ui.note(note);
        return Ok(Exit::Ok);
    }
    let random = uuid::Uuid::new_v4().as_u128() as u16;
    let worker = worker_name::make_worker_name(&worker_prefix, options.concurrency, random);
    let rotation = QueueRotation::new(options.order, queues.found.clone());
    let core = session.take_or_open_core()?;
    let time = WorkClock::new(core.clock());
    let (notify, notices) = channel();
    let watch = notices::subscribe_and_start_put_watch(&core, &worker, notify, &waker, session)?;
    let facts = StartupFacts {
        worker: worker.clone(),
        timeout: session.timeout().as_secs_f64(),
        grace,
        hears_cancels: watch.is_some(),
        jitter: 0.5 + f64::from(random) / f64::from(u16::MAX) / 2.0,
    };
    let mut work = WorkLoop {
        processes,
        launcher: launcher.with_worker(worker.clone()),
        hooks: HookQueue::new(&options),
        notices,
        watch,
        reporter: Reporter::new(monitor.clone(), session),
        resolve_at: queues.may_change().then(|| Instant::now() + SEARCH_PAUSE),
        retry_delay: options.retry_delay,
        has_labels: options.label,
        server: ServerThread::start(core, worker, queues, monitor.clone(), waker.clone())?,
        machine: Machine::new(options, facts, rotation, time.steady_seconds()),
        time,
        monitor,
        awaited_since: None,
        signal: SIGTERM,
        stops: 0,
        manager: ServiceManager::report_ready(),
        result: None,
        has_summary: false,
        is_on_hold: false,
        fault: None,
        gives_up_readers: false,
    };
    // Write output in a thread: if nobody reads it, the loop must still extend locks.
    session.ui.start_output_thread(move || waker.wake())?;
    let result = work.run(session);
    work.write_summary_once(session);
    work.warn_of_stdout_fault(session);
    session
        .ui
        .end_output_thread_if_written(MAX_WAIT_FOR_READERS);
    let result = result?;
    if !matches!(result, WorkerRunResult::Stopped { .. }) {
        work.server.deregister_worker_if_jobless();
    }
    match (result, work.fault) {
        (WorkerRunResult::Done, Some(fault)) => Err(fault),
        (result, _) => exit_of_result(result, is_persistent, work.signal, session),
    }
}

/// The exit code or the error with which a worker ends. `signal`: the signal to end that came last.
fn exit_of_result(
    result: WorkerRunResult,
    is_persistent: bool,
    signal: i32,
    session: &Session,
) -> Result<Exit, Error> {
    match result {
        WorkerRunResult::Done => Ok(Exit::Ok),
        WorkerRunResult::Stopped { released, left } => {
            let jobs = match (released, left) {
                (0, 0) => "no job was unfinished".to_owned(),
                (_, 0) => "unfinished jobs were given back".to_owned(),
                (_, 1) => {
                    "1 job could not be given back; it comes back when its lock expires".into()
                }
                (_, left) => format!(
                    "{left} jobs could not be given back; they come back when their locks expire"
                ),
            };
            let why = format!("stopped by a second signal; {jobs}");
            Err(Error::new(signal_error_kind(signal), why))
        }
        WorkerRunResult::JobsFailed(count) => {
            let why = format!("{} failed", format_count(count, "job", "jobs"));
            Err(Error::new(Kind::JobFailed, why).hint("`qless failed` shows why"))
        }
        WorkerRunResult::JobLost => Err(Error::new(Kind::JobFailed, "the job was lost")),
        WorkerRunResult::NoProgram(message) if is_persistent => {
            let why = format!("three starts in a row failed: {message}");
            Err(Error::new(Kind::Error, why).hint("the jobs were given back"))
        }
        WorkerRunResult::NoProgram(message) => {
            let why = format!("three jobs in a row could not be started: {message}");
            Err(Error::new(Kind::Error, why).hint("`qless failed --group exec` lists them"))
        }
        WorkerRunResult::ProgramLost(message) => {
            Err(Error::new(Kind::Error, message).hint("the jobs were given back"))
        }
        WorkerRunResult::Forbidden(kind, message) => {
            Err(Error::new(kind, message).hint(if kind == Kind::ReadOnly {
                "point `--redis` at its primary"
            } else {
                rights::missing_rights_hint(&session.target()?)
            }))
        }
        WorkerRunResult::Vanished(count) => {
            let jobs = format_count(count, "running job does", "running jobs do");
            let object = if count == 1 { "it" } else { "them" };
            let why = format!("{jobs} not exist any more, and nobody cancelled {object}");
            let hint = "the data of the server was deleted or lost; other jobs may be gone, too";
            Err(Error::new(Kind::JobFailed, why).hint(hint))
        }
        WorkerRunResult::Refused(message) => {
            let why = format!("the server refuses a call of the worker for good: {message}");
            Err(Error::new(Kind::Server, why).hint("`qless doctor` shows what the server offers"))
        }
        WorkerRunResult::NoDirectory(message) => {
            let why = format!("three starts in a row found no directory for their slot: {message}");
            Err(Error::new(Kind::Error, why).hint("the jobs were given back"))
        }
    }
}

/// The kind of the error with which a worker ends that a second signal stopped.
fn signal_error_kind(signal: i32) -> Kind {
    match signal {
        SIGINT => Kind::Interrupted,
        _ => Kind::Terminated,
    }
}

/// The clock of the worker. It starts at the server's time and goes on by the steady clock of this host, because the
/// server's clock may be set, and another server with another time may take over.
struct WorkClock {
    start: f64,
    at: SteadyInstant,
    /// How many seconds the server's clock is ahead of this clock.
    server_ahead: f64,
    /// How many seconds more that may be, because the reply with the server's time was slow.
    max_lag: f64,
}

impl WorkClock {
    fn new(server: &Clock) -> WorkClock {
        WorkClock {
            start: server.now().seconds(),
            at: SteadyInstant::now(),
            server_ahead: 0.0,
            max_lag: server.max_lag(),
        }
    }

    /// The time of this clock in seconds. A change of the server's clock does not affect it.
    fn steady_seconds(&self) -> f64 {
        self.start + self.at.elapsed().as_secs_f64()
    }

    /// The server's time.
    fn server_time(&self) -> Moment {
        let now = self.steady_seconds() + self.server_ahead;
        Moment::from_seconds(now).unwrap_or(Moment::from_micros(0))
    }

    /// Updates `server_ahead` by the server's time. Returns by how many seconds the server's clock was set ahead (below
    /// 0: back), if that is certainly more than [`JUMP`].
    fn sync_and_detect_clock_jump(&mut self, now: Moment, max_lag: f64) -> Option<f64> {
        let jump = now.seconds() - self.steady_seconds() - self.server_ahead;
        if jump.abs() > 0.25 {
            self.server_ahead += jump;
        }
        let lag = std::mem::replace(&mut self.max_lag, max_lag);
        (jump > JUMP + lag || jump < -JUMP).then_some(jump)
    }

    /// The `Instant` at which this clock reaches a time.
    fn instant_of(&self, time: f64) -> Option<Instant> {
        let left = (time - self.steady_seconds()).max(0.0);
        let left = Duration::try_from_secs_f64(left).ok()?;
        Instant::now().checked_add(left)
    }
}

/// Everything that works together.
struct WorkLoop {
    machine: Machine,
    processes: Processes,
    launcher: Launcher,
    hooks: HookQueue,
    server: ServerThread,
    notices: Receiver<Event>,
    /// The thread that watches for new jobs. `None` if the worker could not subscribe.
    watch: Option<PutWatch>,
    reporter: Reporter,
    /// The facts for monitoring systems, if `--metrics` is given.
    monitor: Option<Arc<WorkMonitor>>,
    /// The time since which the loop has waited for a reply of the server.
    awaited_since: Option<Instant>,
    time: WorkClock,
    retry_delay: Duration,
    /// Whether each line that the programs write gets a label.
    has_labels: bool,
    resolve_at: Option<Instant>,
    /// The signal to end that came last.
    signal: i32,
    /// How many signals to end came.
    stops: u32,
    manager: ServiceManager,
    result: Option<WorkerRunResult>,
    has_summary: bool,
    /// Whether no further job begins, because the reader of stdout has not yet read what was written.
    is_on_hold: bool,
    /// Why stdout could not be written to.
    fault: Option<Error>,
    /// Whether the worker ends without waiting for the readers of its output, because a signal came during that wait.
    gives_up_readers: bool,
}

impl WorkLoop {
    fn run(&mut self, session: &mut Session) -> Result<WorkerRunResult, Error> {
        let mut events = Vec::new();
        loop {
            self.perform_actions(session)?;
            if self.result.is_some() {
                self.hooks.schedule_term_after_work_end(Instant::now());
            }
            if let Some(line) = self
                .hooks
                .send_due_signals(Instant::now(), &mut self.processes)
            {
                self.reporter.queue_line_for_stderr(&line);
            }
            let is_over = self.hooks.is_empty() || self.stops > 2;
            if let Some(result) = self.result.take_if(|_| is_over) {
                self.write_summary_once(session);
                let is_hasty = self.gives_up_readers || self.stops > 1;
                if is_hasty || session.ui.is_output_thread_drained() {
                    return Ok(match result {
                        // No job was left, but the second signal stopped hooks: the result is a stopped worker.
                        WorkerRunResult::Done if self.stops > 1 => WorkerRunResult::Stopped {
                            released: 0,
                            left: 0,
                        },
                        result => result,
                    });
                }
                self.result = Some(result);
            }
            self.reporter
                .update_status_line_and_warn_of_loss(self.machine.running_job_count(), session);
            self.reporter.write_collected_stderr_lines(session);
            self.hold_or_resume_by_output_congestion(session);
            self.warn_of_stdout_fault(session);
            let until = self.next_wakeup();
            self.update_monitor(until);
            self.processes.wait_for_events(until, &mut events)?;
            // Handle notices before replies: a reply may bring a job again with a new lock, and a notice that the
            // earlier lock was lost must not apply to the new lock.
            while let Ok(event) = self.notices.try_recv() {
                self.machine.handle_event(self.time.steady_seconds(), event);
            }
            while let Some(reply) = self.server.next_reply()? {
                let jump = self
                    .time
                    .sync_and_detect_clock_jump(reply.now, reply.max_lag);
                if reply.is_successor {
                    self.reporter.warn_of_restarted_or_replaced_server();
                }
                // Handle the reply before the clock change: locks that the call granted expire by the earlier clock.
                self.machine
                    .handle_event(self.time.steady_seconds(), reply.event);
                self.machine.set_server_ahead(self.time.server_ahead);
                if let Some(jump) = jump {
                    self.reporter.note_server_clock_jump(jump, session);
                    // By the new clock, locks that were granted by the earlier clock may have expired: extend all now.
                    self.machine
                        .handle_event(self.time.steady_seconds(), Event::Missed);
                }
            }
            // This host may have been frozen: before anything else, stop the programs of jobs whose locks have expired.
            let now = self.time.steady_seconds();
            for action in self.machine.stop_programs_with_expired_lock(now) {
                self.perform_action(now, action, session)?;
            }
            for event in events.drain(..) {
                self.handle_process_event(now, event, session);
            }
            for action in self.machine.stop_overdue_processes(now) {
                self.perform_action(now, action, session)?;
            }
            if self.resolve_at.is_some_and(|at| at <= Instant::now()) {
                self.resolve_at = Some(Instant::now() + SEARCH_PAUSE);
                self.server.send_request(ServerRequest::FindQueues)?;
            }
        }
    }

    /// Updates the state that monitoring systems read, before the loop waits.
    fn update_monitor(&mut self, until: Option<Instant>) {
        let Some(monitor) = &self.monitor else {
            return;
        };
        if self.machine.is_awaiting_reply() {
            self.awaited_since.get_or_insert_with(Instant::now);
        } else {
            self.awaited_since = None;
        }
        monitor.set_state(LoopState {
            readiness: Some(self.machine.readiness()),
            busy: self.machine.count_slots_with_jobs(),
            due_at: self.awaited_since.or(until),
        });
    }

    /// Warns that stdout cannot be written to. The work continues, because the jobs matter more.
    fn warn_of_stdout_fault(&mut self, session: &mut Session) {
        if let Some(fault) = session.ui.take_write_error() {
            let why = fault.message();
            self.reporter
                .queue_line_for_stderr(&format!("warning: {why}; what is written there is lost"));
            self.reporter.write_collected_stderr_lines(session);
            self.fault = Some(fault);
        }
    }

    /// Stops beginning jobs and reading their output while too much output waits for the readers of stdout and stderr.
    fn hold_or_resume_by_output_congestion(&mut self, session: &Session) {
        let is_congested = session.ui.is_output_thread_full();
        if is_congested != self.is_on_hold {
            self.is_on_hold = is_congested;
            self.processes.set_output_paused(is_congested);
            self.machine
                .handle_event(self.time.steady_seconds(), Event::Hold(is_congested));
        }
    }

    fn write_summary_once(&mut self, session: &mut Session) {
        if !std::mem::replace(&mut self.has_summary, true) {
            self.reporter.write_summary(session);
        }
    }

    /// When something is to be done next.
    fn next_wakeup(&mut self) -> Option<Instant> {
        let is_idle = self.machine.is_waiting_for_jobs(self.time.steady_seconds());
        let watch = self
            .watch
            .as_mut()
            .and_then(|watch| watch.watch_if_idle_debounced(is_idle));
        let mut due = self.time.instant_of(self.machine.next_action_due());
        // A wait lasts longer if the host sleeps meanwhile. So the loop wakes up often to read the clock.
        if self.machine.running_job_count() > 0 {
            let soon = Instant::now() + AWAKE;
            due = Some(due.map_or(soon, |due| due.min(soon)));
        }
        let sign = self.manager.report_alive_if_due();
        let hooks = self.hooks.next_signal_due();
        [
            sign,
            watch,
            due,
            hooks,
            self.resolve_at,
            self.reporter.next_status_update(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Handles an event of a process or a signal: updates the machine, or passes output on.
    fn handle_process_event(&mut self, now: f64, event: ProcessEvent, session: &mut Session) {
        match event {
            ProcessEvent::Line {
                slot,
                line,
                is_whole,
            } => {
                let mut answer = Answer::parse_line(&line, is_whole, self.retry_delay);
                if let Some(jid) = &answer.jid {
                    for reason in answer.ignored.drain(..) {
                        self.reporter
                            .warn_once_of_ignored_answer_part(slot, jid, reason);
                    }
                }
                self.machine.handle_event(now, Event::Line { slot, answer });
            }
            ProcessEvent::Mute { slot } => self.machine.handle_event(now, Event::Mute { slot }),
            ProcessEvent::Output {
                slot,
                stream,
                mut bytes,
            } => {
                let to_stdout = stream == OutputStream::Stdout;
                if to_stdout && !self.hooks.owns_slot(slot) {
                    let lines = bytes.split(|byte| *byte == b'\n');
                    for jid in lines.filter_map(answer::jid_if_result) {
                        self.machine
                            .handle_event(now, Event::AnswerOnStdout { slot, jid });
                    }
                }
                if self.has_labels {
                    let jids = self.machine.jids_in_slot(slot);
                    let slot = (!self.hooks.owns_slot(slot)).then_some(slot);
                    bytes = reporter::add_labels(self.time.server_time(), slot, &jids, &bytes);
                }
                self.reporter.pass_on_output(to_stdout, &bytes, session);
            }
            ProcessEvent::Ended { slot, end } if self.hooks.owns_slot(slot) => {
                if let Some(line) = self.hooks.note_hook_end(slot, &end) {
                    self.reporter.queue_line_for_stderr(&line);
                }
                self.hooks.start_waiting_hooks(&mut self.processes);
            }
            ProcessEvent::Ended { slot, end } => {
                if let Some(why) = &end.unusable_output {
                    self.reporter.queue_line_for_stderr(&format!(
                        "warning: slot {}: the output {why}; the job keeps its data",
                        slot + 1
                    ));
                }
                self.hooks.add_crash_hook_if_killed_by_others(slot, &end);
                self.machine.handle_event(now, Event::Ended { slot, end });
            }
            ProcessEvent::Signal(SIGTTIN) => {
                for line in self.machine.debug_lines(now) {
                    self.reporter.queue_line_for_stderr(&line);
                }
            }
            ProcessEvent::Signal(signal) => {
                self.signal = signal;
                self.stops += 1;
                self.gives_up_readers |= self.has_summary;
                match self.stops {
                    1 => {}
                    2 => self.hooks.schedule_immediate_term(Instant::now()),
                    _ => self.hooks.schedule_immediate_kill(Instant::now()),
                }
                self.machine.handle_event(now, Event::Stop);
            }
            ProcessEvent::Woken => {}
        }
    }

    /// Performs the actions that the machine asks for, until the machine asks for no more.
    fn perform_actions(&mut self, session: &mut Session) -> Result<(), Error> {
        loop {
            let now = self.time.steady_seconds();
            let actions = self.machine.decide_actions(now);
            if actions.is_empty() {
                self.hooks.start_waiting_hooks(&mut self.processes);
                return Ok(());
            }
            for action in actions {
                self.perform_action(now, action, session)?;
            }
        }
    }

    fn perform_action(
        &mut self,
        now: f64,
        action: Action,
        session: &mut Session,
    ) -> Result<(), Error> {
        match action {
            Action::Start { slot, jobs } => {
                // Earlier starts may have taken long: do not start a program for a job whose lock has expired.
                let is_over = |job: &PoppedJob| {
                    self.machine
                        .is_lock_expired(self.time.steady_seconds(), &job.jid)
                };
                let started = if jobs.iter().any(is_over) {
                    Err(StartFailure::Busy(
                        "the lock of a job expired before its program was started".to_owned(),
                    ))
                } else {
                    self.launcher
                        .start_program(slot, &jobs, &mut self.processes)
                };
                let event = match started {
                    Ok(_) => Event::Started { slot },
                    Err(why) => Event::NotStarted { slot, why, jobs },
                };
                self.machine.handle_event(now, event);
            }
            Action::CheckProgram => {
                if self.launcher.is_program_there() {
                    self.machine.handle_event(now, Event::ProgramFound);
                }
            }
            Action::Send { slot, job } => {
                let mut line = Vec::new();
                append_job_line(&job, &mut line)?;
                self.processes.write_stdin(slot, line);
            }
            Action::Cancel { slot, jid } => {
                self.processes.write_stdin(slot, cancel_line(&jid));
            }
            Action::CloseInput { slot } => self.processes.close_stdin_when_written(slot),
            Action::Signal { slot, signal } => {
                self.hooks.mark_stopped_by_worker(slot);
                self.processes.send_signal(slot, signal);
            }
            Action::Request(request) => self.server.send_request(request)?,
            Action::Report(report) => {
                match &report {
                    Report::Stopping { .. } => self.manager.report_stopping(),
                    Report::Job(event) => self.hooks.add_exhausted_hook_if_failed(event),
                    _ => {}
                }
                self.reporter.handle_report(report, session);
            }
            Action::Finish(result) => self.result = Some(result),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_of_the_servers_reply_is_no_jump_of_its_clock() {
        let mut clock = WorkClock {
            start: 1000.0,
            at: SteadyInstant::now(),
            server_ahead: 0.0,
            max_lag: 9.0,
        };
        let mut jumps = |time: i64| {
            let now = Moment::from_micros(time * 1_000_000);
            clock.sync_and_detect_clock_jump(now, 0.0).is_some()
        };
        assert!(!jumps(1009));
        assert!(jumps(1018));
        assert!(jumps(1009));
    }
}
