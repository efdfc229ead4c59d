//! `work` on several prefixes or servers that a context names as one: a worker process for each. This
//! process passes signals on and puts the name of the member before what a worker writes to stderr. If a worker ends
//! because its server is away or because of a signal, this process starts it again.

use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level;

use super::service::ServiceManager;
use crate::args::format::Format;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::exit::Exit;
use crate::interrupt;
use crate::session::{Session, secrets};
use crate::settings::members::{ContextMembers, MEMBER_VARIABLE};
use crate::text::format_count;
use crate::threads;
use crate::ui::member::label_with_member;
use crate::view::joined::with_first_field;

/// Time before a worker that has ended or could not be started is started again.
const RESTART_DELAY: Duration = Duration::from_secs(5);

/// While too much output waits for stdout: time between two checks whether the workers' output may be read again.
const OUTPUT_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// How long this process, at its end, waits for a reader of stdout.
const MAX_WAIT_FOR_READER: Duration = Duration::from_secs(1);

/// An event while the workers run.
enum MemberEvent {
    Stdout(usize, Vec<u8>),
    Stderr(usize, Vec<u8>),
    /// The process has ended. Some of its output may not have been read yet.
    Exited(usize),
    /// All that the process wrote was read.
    Ended(usize, ExitStatus),
    Signal(i32),
}

#[derive(Default)]
struct MemberWorkerProcess {
    /// The process of the member, while it runs.
    pid: Option<Pid>,
    /// The exit code of the process. `None` while it runs.
    exit: Option<u8>,
    /// When the process is started again. `None` if it runs, or ended for good.
    restart_at: Option<Instant>,
}

/// Runs a worker for each member until all have ended.
pub(crate) fn run(members: &ContextMembers, session: &mut Session) -> Result<Exit, Error> {
    let line = session.canonical_command();
    if line.has_flag("--count") {
        let flag = members.kind.selecting_flag();
        return Err(Error::usage(
            "`--count` counts the jobs of one worker, and each member has its own",
        )
        .hint(format!("`{flag}` names one member")));
    }
    let drains = line.has_flag("--drain");
    if line.has_flag("--metrics") {
        let flag = members.kind.selecting_flag();
        return Err(Error::usage(
            "`--metrics` opens one address, and each member has a worker of its own",
        )
        .hint(format!(
            "`{flag}` names one member; start a worker for each, with addresses of their own"
        )));
    }
    session.refuse_password_prompt_per_member()?;
    session.ui.ignore_closed_stdout();
    // The environment keeps its secrets, because the workers inherit them. Hide this process, so that other processes
    // of this user cannot read them.
    secrets::hide_memory_of_process();
    let (to, events) = channel();
    send_signals_as_events(&to)?;
    let mut all = MemberWorkers {
        members,
        is_ndjson: session.ui.format() == Format::Ndjson,
        drains,
        to,
        is_congested: Arc::default(),
        list: Vec::new(),
        stopping: false,
    };
    let count = format_count(members.list.len() as u64, "member", "members");
    let note = format!("a worker for each of {count}");
    session.ui.note_to_people(&note);
    // Write output in a thread: if nobody reads stdout, signals must still reach the workers.
    session.ui.start_output_thread(|| {})?;
    for index in 0..members.list.len() {
        let worker = all.start_or_retry_later(index, session);
        all.list.push(worker);
    }
    let exit = all.run_until_all_ended(&events, session);
    session.ui.end_output_thread_if_written(MAX_WAIT_FOR_READER);
    exit
}

/// The workers of all members.
struct MemberWorkers<'w> {
    members: &'w ContextMembers,
    is_ndjson: bool,
    drains: bool,
    to: Sender<MemberEvent>,
    /// Set while too much output waits for stdout. Meanwhile the output of the workers is not read.
    is_congested: Arc<AtomicBool>,
    list: Vec<MemberWorkerProcess>,
    /// Whether a signal asked them to end.
    stopping: bool,
}

impl MemberWorkers<'_> {
    /// Starts the worker of a member. If the start fails, plans another one.
    fn start_or_retry_later(&self, index: usize, session: &mut Session) -> MemberWorkerProcess {
        match self.spawn_worker_process(index, session) {
            Ok(pid) => MemberWorkerProcess {
                pid,
                ..MemberWorkerProcess::default()
            },
            Err(error) => {
                let why = format!("cannot start a worker: {}", error.message());
                let name = &self.members.list[index].name;
                session.ui.warn(&label_with_member(name, &why));
                MemberWorkerProcess {
                    exit: Some(Exit::Error.code()),
                    restart_at: Some(Instant::now() + RESTART_DELAY),
                    ..MemberWorkerProcess::default()
                }
            }
        }
    }

    /// Starts the process of a worker in a process group of its own. So a signal from the terminal reaches the worker
    /// only once: from this process.
    fn spawn_worker_process(&self, index: usize, session: &Session) -> Result<Option<Pid>, Error> {
        let failed = |fault: io::Error| Error::new(Kind::Error, io_message_without_errno(&fault));
        // The program file may be replaced while this process runs. On Linux, this path still leads to the old file.
        let own = if cfg!(target_os = "linux") {
            "/proc/self/exe".into()
        } else {
            env::current_exe().map_err(failed)?
        };
        let mut command = Command::new(own);
        if let Some(context) = session.file.as_ref().and_then(|file| file.context.as_ref()) {
            command.env("QLESS_CONTEXT", &context.name);
        }
        let mut child = command
            .args(env::args_os().skip(1))
            .env(MEMBER_VARIABLE, &self.members.list[index].name)
            .env_remove("NOTIFY_SOCKET")
            .env_remove("WATCHDOG_USEC")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let read_out =
            |out| self.send_lines_in_thread(out, move |line| MemberEvent::Stdout(index, line));
        let read_err =
            |err| self.send_lines_in_thread(err, move |line| MemberEvent::Stderr(index, line));
        let to = self.to.clone();
        let watched = stdout.map(read_out).transpose().and_then(|stdout| {
            let readers = [stdout, stderr.map(read_err).transpose()?];
            threads::spawn(move || wait_and_send_end(index, child, readers, &to))
        });
        if let (Err(_), Some(pid)) = (&watched, pid) {
            _ = kill_process_group(pid, Signal::KILL);
            _ = waitpid(Some(pid), WaitOptions::empty());
        }
        watched.map(|_| pid)
    }

    /// Starts a thread that sends each line of a stream as an event until the stream ends. The thread reads nothing
    /// while too much output waits for stdout.
    fn send_lines_in_thread(
        &self,
        stream: impl Read + Send + 'static,
        to_event: impl Fn(Vec<u8>) -> MemberEvent + Send + 'static,
    ) -> Result<thread::JoinHandle<()>, Error> {
        let (to, is_congested) = (self.to.clone(), self.is_congested.clone());
        threads::spawn(move || {
            let mut stream = BufReader::new(stream);
            loop {
                while is_congested.load(Ordering::Relaxed) {
                    thread::sleep(OUTPUT_CHECK_INTERVAL);
                }
                let mut line = Vec::new();
                match stream.read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => break,
                    Ok(_) => {}
                }
                if !line.ends_with(b"\n") {
                    line.push(b'\n');
                }
                if to.send(to_event(line)).is_err() {
                    break;
                }
            }
        })
    }

    fn run_until_all_ended(
        &mut self,
        events: &Receiver<MemberEvent>,
        session: &mut Session,
    ) -> Result<Exit, Error> {
        let mut manager = ServiceManager::report_ready();
        while self.list.iter().any(|worker| worker.exit.is_none()) {
            let now = Instant::now();
            for index in 0..self.list.len() {
                if self.list[index].restart_at.is_some_and(|at| at <= now) {
                    self.list[index] = self.start_or_retry_later(index, session);
                }
            }
            let congested = session.ui.is_output_thread_full();
            self.is_congested.store(congested, Ordering::Relaxed);
            let alive = manager.report_alive_if_due();
            let due = self.list.iter().filter_map(|worker| worker.restart_at);
            let next = due.chain(alive).min();
            let mut wait = next.map_or(Duration::from_secs(3600), |at| {
                at.saturating_duration_since(Instant::now())
            });
            if congested {
                wait = wait.min(OUTPUT_CHECK_INTERVAL);
            }
            match events.recv_timeout(wait) {
                Ok(event) => self.handle_event(event, &manager, session)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(self.signal_common_or_partial_exit())
    }

    fn handle_event(
        &mut self,
        event: MemberEvent,
        manager: &ServiceManager,
        session: &mut Session,
    ) -> Result<(), Error> {
        match event {
            MemberEvent::Stdout(index, line) => {
                let line = self.add_member_field_if_ndjson(index, line);
                session.ui.write_bytes(&line)?;
                session.ui.flush_stdout_and_wait_for_pager()?;
            }
            MemberEvent::Stderr(index, line) if line.starts_with(b"{") && self.is_ndjson => {
                let line = self.add_member_field_if_ndjson(index, line);
                session.ui.write_stderr(&String::from_utf8_lossy(&line));
            }
            MemberEvent::Stderr(index, line) => {
                let line = String::from_utf8_lossy(&line);
                let line = label_with_member(&self.members.list[index].name, &line);
                session.ui.write_stderr(&line);
            }
            MemberEvent::Signal(signal) => {
                if !self.stopping {
                    manager.report_stopping();
                }
                self.stopping = true;
                for worker in &mut self.list {
                    worker.restart_at = None;
                    if let (Some(pid), Some(signal)) = (worker.pid, Signal::from_named_raw(signal))
                    {
                        // Ignore a failure: the worker has just ended by itself.
                        _ = kill_process(pid, signal);
                    }
                }
            }
            MemberEvent::Exited(index) => self.list[index].pid = None,
            MemberEvent::Ended(index, status) => {
                let code = status.code().unwrap_or(128 + status.signal().unwrap_or(0));
                let code = u8::try_from(code).unwrap_or(u8::MAX);
                let goes_on = !self.drains && !self.stopping;
                if let (Some(signal), false) = (status.signal(), self.stopping) {
                    let again = if goes_on { "; it is started again" } else { "" };
                    let what = format!("signal {signal} ended its worker{again}");
                    let name = &self.members.list[index].name;
                    session.ui.warn(&label_with_member(name, &what));
                }
                let restarts = code == Exit::Server.code() || status.signal().is_some();
                let worker = &mut self.list[index];
                worker.exit = Some(code);
                worker.restart_at = (restarts && goes_on).then(|| Instant::now() + RESTART_DELAY);
            }
        }
        Ok(())
    }

    /// A line of a worker. With `-o ndjson` the line is a document, and the name of the member becomes its first field.
    fn add_member_field_if_ndjson(&self, index: usize, line: Vec<u8>) -> Vec<u8> {
        if self.is_ndjson {
            let field = self.members.kind.document_field();
            with_first_field(&line, field, &self.members.list[index].name)
        } else {
            line
        }
    }

    /// The exit code for all workers together: the code for a signal if a worker ended with it, else the code that all
    /// have, `JobFailed` if all others succeeded, or the code for a partial failure.
    fn signal_common_or_partial_exit(&self) -> Exit {
        let mut codes: Vec<u8> = self.list.iter().filter_map(|worker| worker.exit).collect();
        codes.sort_unstable();
        codes.dedup();
        let is_signal =
            |code: &&u8| [Exit::Interrupted.code(), Exit::Terminated.code()].contains(code);
        if let Some(code) = codes.iter().find(is_signal) {
            return Exit::from_code(*code);
        }
        match codes.as_slice() {
            [one] => Exit::from_code(*one),
            [0, one] if *one == Exit::JobFailed.code() => Exit::JobFailed,
            _ => Exit::Partial,
        }
    }
}

/// Starts a thread for each kind of signal that asks this process to end. The threads send the signals as events.
fn send_signals_as_events(to: &Sender<MemberEvent>) -> Result<(), Error> {
    let failed = |fault: io::Error| {
        let why = io_message_without_errno(&fault);
        Error::new(Kind::Error, format!("cannot handle signals: {why}"))
    };
    let mut signals = vec![SIGINT, SIGTERM, SIGHUP, SIGQUIT];
    signals.retain(|signal| interrupt::may_handle(*signal));
    for signal in signals {
        let (mut received, sender) = io::pipe().map_err(failed)?;
        low_level::pipe::register(signal, OwnedFd::from(sender)).map_err(failed)?;
        let to = to.clone();
        threads::spawn(move || {
            while received.read_exact(&mut [0]).is_ok()
                && to.send(MemberEvent::Signal(signal)).is_ok()
            {}
        })?;
    }
    Ok(())
}

/// Waits for the end of a worker and sends `Exited`. Then waits until all its output was read and sends `Ended`.
fn wait_and_send_end(
    index: usize,
    mut child: Child,
    readers: [Option<thread::JoinHandle<()>>; 2],
    to: &Sender<MemberEvent>,
) {
    let status = child.wait().unwrap_or_default();
    _ = to.send(MemberEvent::Exited(index));
    for reader in readers.into_iter().flatten() {
        _ = reader.join();
    }
    _ = to.send(MemberEvent::Ended(index, status));
}
