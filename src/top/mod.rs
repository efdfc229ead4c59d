//! `qless top`: the queues on a full screen.
//!
//! [`state`] is what the screen shows: keys and replies change it. [`frame`] draws it. Neither accesses the
//! terminal or the server. [`reader`] reads from each server in a thread of its own, one request after the other.

mod format;
mod frame;
mod keys;
mod lists;
mod reader;
mod state;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGTSTP, SIGUSR1,
    SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::{flag, low_level};

use self::keys::Key;
use self::reader::{ReadRequest, ReaderReply};
use self::state::{KeyEffect, ServerView, TopState};
use crate::address::secret::Secret;
use crate::address::variables::PASSWORDS;
use crate::command_line::CommandLine;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::exit::Exit;
use crate::model::pattern::NamePattern;
use crate::name::Name;
use crate::session::Session;
use crate::session::shown_server::ShownServer;
use crate::threads;

/// Time between two checks for keys and for replies of the readers.
const POLL_INTERVAL: Duration = Duration::from_millis(30);

/// What the flags say.
#[derive(Clone, Debug)]
pub(crate) struct TopOptions {
    pub interval: Duration,
    /// Only these queues, if any are named.
    pub queues: Vec<NamePattern>,
    pub color: bool,
    pub access: CommandConnectionArgs,
}

/// What a command started from the screen needs besides its command line to reach the server: flags, and the
/// password of the given address.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandConnectionArgs {
    pub flags: Vec<OsString>,
    pub password: Option<Secret>,
}

/// Runs the screen for the servers of the sessions, until the user quits, a signal arrives or the terminal is
/// closed.
pub(crate) fn run_top_screen(options: TopOptions, sessions: Vec<Session>) -> Result<Exit, Error> {
    let servers = sessions.iter().map(ShownServer::of_session);
    let servers = servers.map(|shown| Ok(ServerView::new(shown?, options.interval)));
    let mut state = TopState::new(
        &options,
        servers.collect::<Result<Vec<ServerView>, Error>>()?,
    );
    let (answers, answered) = channel();
    let requests: Result<Vec<Sender<ReadRequest>>, Error> = sessions
        .into_iter()
        .map(|session| start_reader_thread(session, answers.clone()))
        .collect();
    let requests = requests?;
    let signals = SignalFlags::listen();
    let mut screen = Screen::enter()?;
    let ended = run_event_loop(
        &mut state,
        &options.access,
        &signals,
        &mut screen,
        &requests,
        &answered,
    );
    screen.restore_terminal();
    if is_terminal_gone() {
        return Ok(Exit::Terminated);
    }
    signals.end_process_if_fatal_signal_received();
    // Notes for stderr were held back until now, because they would have appeared inside a frame.
    _ = io::stderr().write_all(state.held_back_notes().as_bytes());
    ended
}

/// Starts the thread that reads from a server. The thread may still wait for a reply when the user quits.
fn start_reader_thread(
    session: Session,
    answers: Sender<ReaderReply>,
) -> Result<Sender<ReadRequest>, Error> {
    let shown = ShownServer::of_session(&session)?;
    let (sender, requests) = channel();
    threads::spawn(move || {
        shown.add_server_flag_to_printed_commands();
        reader::answer_requests(session, &requests, &answers);
    })?;
    Ok(sender)
}

fn run_event_loop(
    state: &mut TopState,
    access: &CommandConnectionArgs,
    signals: &SignalFlags,
    screen: &mut Screen,
    requests: &[Sender<ReadRequest>],
    answered: &Receiver<ReaderReply>,
) -> Result<Exit, Error> {
    let mut is_new = true;
    let mut drawn = Instant::now();
    while !is_terminal_gone() {
        if let Some(request) = state.next_due_request(Instant::now()) {
            _ = requests[request.server].send(request);
        }
        while let Ok(answer) = answered.try_recv() {
            state.show_reply_and_plan_read(answer, Instant::now());
            is_new = true;
        }
        // Ages grow by the second.
        if is_new || drawn.elapsed() >= Duration::from_secs(1) {
            screen.draw(state)?;
            (is_new, drawn) = (false, Instant::now());
        }
        if let Some(exit) = signals.exit_code_of_signal() {
            return Ok(exit);
        }
        if signals.suspended.swap(false, Ordering::Relaxed) {
            suspend(screen)?;
            is_new = true;
        }
        if !event::poll(POLL_INTERVAL).map_err(terminal_error)? {
            continue;
        }
        is_new = true;
        let key = match event::read().map_err(terminal_error)? {
            Event::Key(key) if key.kind == KeyEventKind::Press => Key::from_event(key),
            // A new size is drawn at once.
            _ => None,
        };
        let Some(key) = key else { continue };
        match state.press_key(key) {
            KeyEffect::None => {}
            KeyEffect::Quit => return Ok(Exit::Ok),
            KeyEffect::Suspend => suspend(screen)?,
            KeyEffect::Redraw => screen.force_full_redraw()?,
            KeyEffect::Copy(text) => copy_to_clipboard(&text),
            KeyEffect::Run(line) => {
                run_command(&line, access, signals, screen)?;
                state.schedule_read_now();
            }
        }
    }
    Ok(Exit::Terminated)
}

/// Whether the terminal was closed. SIGHUP reports this only for the controlling terminal of the process.
fn is_terminal_gone() -> bool {
    // Without requested events, `poll` reports only that the terminal was closed.
    wait_for_keyboard_or_closing(PollFlags::empty(), Duration::ZERO)
}

/// Waits up to `patience` until the keyboard has one of `states`, or was closed. The result is whether this
/// happened.
fn wait_for_keyboard_or_closing(states: PollFlags, patience: Duration) -> bool {
    let keyboard = io::stdin();
    let mut polled = [PollFd::new(&keyboard, states)];
    let patience = Timespec::try_from(patience).ok();
    matches!(poll(&mut polled, patience.as_ref()), Ok(1..))
}

/// Restores the terminal and suspends the process. Enters the screen again when the shell continues the process.
fn suspend(screen: &mut Screen) -> Result<(), Error> {
    screen.restore_terminal();
    _ = low_level::emulate_default_handler(SIGTSTP);
    *screen = Screen::enter()?;
    Ok(())
}

/// Copies a text to the clipboard of the terminal (OSC 52).
fn copy_to_clipboard(text: &Name) {
    let text = STANDARD.encode(text.as_bytes());
    let mut stdout = io::stdout();
    _ = write!(stdout, "\x1b]52;c;{text}\x07").and_then(|()| stdout.flush());
}

/// Leaves the screen and runs a `qless` command on the terminal, where it shows its plan and asks its question.
/// Enters the screen again after Enter.
fn run_command(
    line: &CommandLine,
    access: &CommandConnectionArgs,
    signals: &SignalFlags,
    screen: &mut Screen,
) -> Result<(), Error> {
    screen.restore_terminal();
    println!("$ {}", line.shell_line().unwrap_or_default());
    let words = line.runnable_argv_or_empty().into_iter().skip(1);
    let words = words.map(|word| OsStr::from_bytes(word.as_bytes()).to_owned());
    let ran = std::env::current_exe().and_then(|own| {
        let mut command = Command::new(own);
        command.args(&access.flags).args(words);
        if let Some(password) = &access.password {
            command.env(PASSWORDS[0], OsStr::from_bytes(password.reveal()));
        }
        command.status()
    });
    if let Err(why) = ran {
        println!("error: {}", io_message_without_errno(&why));
    }
    // A Ctrl-C meanwhile was for the command.
    signals.interrupted.store(false, Ordering::Relaxed);
    print!("\nEnter goes back to top ");
    _ = io::stdout().flush();
    wait_for_line(signals);
    *screen = Screen::enter()?;
    Ok(())
}

/// Waits until the user has typed a line, or a signal asks this process to end.
fn wait_for_line(signals: &SignalFlags) {
    let mut typed = [0; 256];
    while signals.exit_code_of_signal().is_none() {
        if !wait_for_keyboard_or_closing(PollFlags::IN, POLL_INTERVAL) {
            continue;
        }
        match rustix::io::read(io::stdin(), &mut typed) {
            Ok(count) if count > 0 && !typed[..count].contains(&b'\n') => {}
            Err(Errno::INTR) => {}
            // The user typed a line or ended the input, or the keyboard cannot be read any more.
            _ => return,
        }
    }
}

/// The alternate screen. The terminal is restored when the screen is left or dropped, and after a panic.
struct Screen(Option<DefaultTerminal>);

impl Screen {
    fn enter() -> Result<Screen, Error> {
        // No clearing is needed: the alternate screen is empty when it is entered.
        let terminal = ratatui::try_init().map_err(terminal_error)?;
        Ok(Screen(Some(terminal)))
    }

    fn draw(&mut self, state: &mut TopState) -> Result<(), Error> {
        if let Some(terminal) = &mut self.0 {
            terminal
                .draw(|frame| frame::draw(state, frame))
                .map_err(terminal_error)?;
        }
        Ok(())
    }

    fn force_full_redraw(&mut self) -> Result<(), Error> {
        let Some(terminal) = &mut self.0 else {
            return Ok(());
        };
        // Not by `Terminal::clear`: it asks the terminal for the cursor position, and some terminals do not reply.
        let size = terminal.size().map_err(terminal_error)?;
        terminal.resize(size.into()).map_err(terminal_error)
    }

    fn restore_terminal(&mut self) {
        let Some(terminal) = self.0.take() else {
            return;
        };
        if is_terminal_gone() {
            // A closed terminal needs no restoring. Dropping the `DefaultTerminal` would write to stderr, which
            // would panic.
            return mem::forget(terminal);
        }
        drop(terminal);
        // Not by `restore`: it would write its error to stderr.
        _ = ratatui::try_restore();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.restore_terminal();
    }
}

fn terminal_error(why: io::Error) -> Error {
    Error::new(
        Kind::File,
        format!(
            "the terminal cannot be used: {}",
            io_message_without_errno(&why)
        ),
    )
}

/// Signals whose default action ends the process, other than SIGINT, SIGTERM and SIGHUP.
const FATAL_SIGNALS: [i32; 11] = [
    SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGXCPU, SIGXFSZ, SIGTRAP,
    SIGSYS,
];

/// The signals of other processes.
struct SignalFlags {
    interrupted: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
    suspended: Arc<AtomicBool>,
    /// One of [`FATAL_SIGNALS`], or 0.
    fatal: Arc<AtomicUsize>,
}

impl SignalFlags {
    fn listen() -> SignalFlags {
        let signals = SignalFlags {
            interrupted: Arc::default(),
            terminated: Arc::default(),
            suspended: Arc::default(),
            fatal: Arc::default(),
        };
        for (signal, flagged) in [
            (SIGINT, &signals.interrupted),
            (SIGTERM, &signals.terminated),
            (SIGHUP, &signals.terminated),
            (SIGTSTP, &signals.suspended),
        ] {
            // Ignore a failure: a signal without a handler keeps its default action.
            _ = flag::register(signal, flagged.clone());
        }
        for signal in FATAL_SIGNALS {
            _ = flag::register_usize(signal, signals.fatal.clone(), signal as usize);
        }
        signals
    }

    /// Ends this process by the fatal signal that has arrived, if there is one. To be called after the terminal is
    /// restored.
    fn end_process_if_fatal_signal_received(&self) {
        let signal = self.fatal.load(Ordering::Relaxed);
        if signal != 0 {
            _ = low_level::emulate_default_handler(signal as i32);
        }
    }

    fn exit_code_of_signal(&self) -> Option<Exit> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Exit::Interrupted);
        }
        let is_over =
            self.terminated.load(Ordering::Relaxed) || self.fatal.load(Ordering::Relaxed) != 0;
        is_over.then_some(Exit::Terminated)
    }
}
