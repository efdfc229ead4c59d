//! `work` on several prefixes or servers that a context names as one: a worker process for each. This
//! process passes signals on, puts the name of the member before what a worker writes to stderr, and starts a
//! worker again whose server was away when it began.

use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level;

use super::service::ServiceManager;
use crate::args::format::Format;
use crate::error::{Error, Kind, io_message};
use crate::exit::Exit;
use crate::session::Session;
use crate::settings::members::{MEMBER_VARIABLE, Members};
use crate::text::plural;
use crate::ui::member::label_with_member;
use crate::view::joined::with_first_field;

/// Time before a worker whose server was away is started again.
const AGAIN: Duration = Duration::from_secs(5);

/// Ends this process, the worker of a member, as by SIGTERM when the one that started it ends, however that
/// ends. Other systems than Linux have no such thing.
pub(crate) fn end_with_parent() {
    #[cfg(target_os = "linux")]
    {
        let signal = Some(rustix::process::Signal::TERM);
        _ = rustix::process::set_parent_process_death_signal(signal);
    }
}

/// What happens while the workers run.
enum Event {
    Stdout(usize, Vec<u8>),
    Stderr(usize, Vec<u8>),
    Ended(usize, ExitStatus),
    Signal(i32),
}

/// The worker of a member.
struct Worker {
    /// Its process, while it runs.
    pid: Option<Pid>,
    /// How it ended.
    exit: Option<u8>,
    /// When it is started again.
    again: Option<Instant>,
}

/// Runs a worker for each member until all have ended.
pub(crate) fn run(members: &Members, session: &mut Session) -> Result<Exit, Error> {
    let line = session.canonical_command();
    if line.has_flag("--count") {
        return Err(Error::usage(
            "`--count` counts the jobs of one worker, and each member has its own",
        )
        .hint("`--prefix` or `--context` names one member"));
    }
    let drains = line.has_flag("--drain");
    let (to, events) = channel();
    pass_signals(&to)?;
    let mut all = Workers {
        members,
        is_ndjson: session.ui.format() == Format::Ndjson,
        drains,
        to,
        list: Vec::new(),
        stopping: false,
    };
    for index in 0..members.list.len() {
        let worker = all.start(index)?;
        all.list.push(worker);
    }
    let count = plural(members.list.len() as u64, "member", "members");
    session
        .ui
        .note_on_terminal(&format!("a worker for each of {count}"));
    all.watch(&events, session)
}

/// The workers of all members.
struct Workers<'w> {
    members: &'w Members,
    is_ndjson: bool,
    drains: bool,
    to: Sender<Event>,
    list: Vec<Worker>,
    /// Whether a signal asked them to end.
    stopping: bool,
}

impl Workers<'_> {
    /// Starts the worker of a member, in a process group of its own, so that a signal of the terminal
    /// reaches it once, from here.
    fn start(&self, index: usize) -> Result<Worker, Error> {
        let failed = |fault: io::Error| {
            let why = io_message(&fault);
            Error::new(Kind::Error, format!("cannot start a worker: {why}"))
        };
        let mut child = Command::new(env::current_exe().map_err(failed)?)
            .args(env::args_os().skip(1))
            .env(MEMBER_VARIABLE, index.to_string())
            .env_remove("NOTIFY_SOCKET")
            .env_remove("WATCHDOG_USEC")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let readers = [
            child.stdout.take().map(|out| {
                let to = self.to.clone();
                read_lines(out, move |line| to.send(Event::Stdout(index, line)).is_ok())
            }),
            child.stderr.take().map(|out| {
                let to = self.to.clone();
                read_lines(out, move |line| to.send(Event::Stderr(index, line)).is_ok())
            }),
        ];
        let to = self.to.clone();
        thread::spawn(move || wait_for_end(index, child, readers, &to));
        Ok(Worker {
            pid,
            exit: None,
            again: None,
        })
    }

    fn watch(&mut self, events: &Receiver<Event>, session: &mut Session) -> Result<Exit, Error> {
        let mut manager = ServiceManager::report_ready();
        loop {
            let now = Instant::now();
            for index in 0..self.list.len() {
                if self.list[index].again.is_some_and(|at| at <= now) {
                    self.list[index] = self.start(index)?;
                }
            }
            let alive = manager.report_alive();
            let due = self.list.iter().filter_map(|worker| worker.again);
            let next = due.chain(alive).min();
            let wait = next.map_or(Duration::from_secs(3600), |at| {
                at.saturating_duration_since(Instant::now())
            });
            match events.recv_timeout(wait) {
                Ok(event) => self.handle(event, &manager, session)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let is_over = |worker: &Worker| worker.exit.is_some() && worker.again.is_none();
            if self.list.iter().all(is_over) {
                break;
            }
        }
        Ok(self.exit())
    }

    fn handle(
        &mut self,
        event: Event,
        manager: &ServiceManager,
        session: &mut Session,
    ) -> Result<(), Error> {
        match event {
            Event::Stdout(index, line) => {
                let field = self.members.kind.heading().to_lowercase();
                let line = if self.is_ndjson {
                    with_first_field(&line, &field, &self.members.list[index].name)
                } else {
                    line
                };
                session.ui.write(&line)?;
                session.ui.flush_stdout()?;
            }
            Event::Stderr(index, line) => {
                let line = String::from_utf8_lossy(&line);
                let line = label_with_member(&self.members.list[index].name, &line);
                session.ui.write_stderr(&line);
            }
            Event::Signal(signal) => {
                if !self.stopping {
                    manager.report_stopping();
                }
                self.stopping = true;
                for worker in &mut self.list {
                    worker.again = None;
                    if let (Some(pid), Some(signal)) = (worker.pid, Signal::from_named_raw(signal))
                    {
                        // A worker that has just ended is no error.
                        _ = kill_process(pid, signal);
                    }
                }
            }
            Event::Ended(index, status) => {
                let code = status.code().unwrap_or(128 + status.signal().unwrap_or(0));
                let code = u8::try_from(code).unwrap_or(u8::MAX);
                let others = self.list.iter().enumerate();
                let others = others.filter(|(other, _)| *other != index);
                let others_run = others.into_iter().any(|(_, worker)| worker.exit.is_none());
                let retries =
                    code == Exit::Server.code() && others_run && !self.drains && !self.stopping;
                let worker = &mut self.list[index];
                worker.pid = None;
                worker.exit = Some(code);
                worker.again = retries.then(|| Instant::now() + AGAIN);
            }
        }
        Ok(())
    }

    /// The exit code that all have, or the one for a part that failed.
    fn exit(&self) -> Exit {
        let mut codes: Vec<u8> = self.list.iter().filter_map(|worker| worker.exit).collect();
        codes.sort_unstable();
        codes.dedup();
        match codes.as_slice() {
            [one] => Exit::from_code(*one),
            [0, one] if *one == Exit::JobFailed.code() => Exit::JobFailed,
            _ => Exit::Partial,
        }
    }
}

/// Passes each signal that asks to end on as an event.
fn pass_signals(to: &Sender<Event>) -> Result<(), Error> {
    let failed = |fault: io::Error| {
        let why = io_message(&fault);
        Error::new(Kind::Error, format!("cannot handle signals: {why}"))
    };
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        let (mut received, sender) = io::pipe().map_err(failed)?;
        low_level::pipe::register(signal, OwnedFd::from(sender)).map_err(failed)?;
        let to = to.clone();
        thread::spawn(move || {
            while received.read_exact(&mut [0]).is_ok() && to.send(Event::Signal(signal)).is_ok() {}
        });
    }
    Ok(())
}

/// Sends each line of a stream, until it ends or nobody receives.
fn read_lines(
    stream: impl Read + Send + 'static,
    send: impl Fn(Vec<u8>) -> bool + Send + 'static,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        loop {
            let mut line = Vec::new();
            match stream.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            if !send(line) {
                break;
            }
        }
    })
}

/// Waits until a worker has ended and all that it wrote was read.
fn wait_for_end(
    index: usize,
    mut child: Child,
    readers: [Option<thread::JoinHandle<()>>; 2],
    to: &Sender<Event>,
) {
    let status = child.wait().unwrap_or_default();
    for reader in readers.into_iter().flatten() {
        _ = reader.join();
    }
    _ = to.send(Event::Ended(index, status));
}
