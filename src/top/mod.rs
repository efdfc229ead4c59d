//! `qless top`: the queues on a full screen.
//!
//! [`state`] turns keys and what was read into a state and effects, [`frame`] draws a state; neither touches the
//! terminal or the server. [`reader`] reads in a thread of its own, one thing after the other, so that no look overlaps
//! the next.

mod format;
mod frame;
mod keys;
mod lists;
mod reader;
mod state;

use std::io::{self, Write};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

use self::keys::Key;
use self::reader::{Answer, Ask};
use self::state::{Effect, Place, State};
use crate::command_line::CommandLine;
use crate::error::{Error, Kind, io_message};
use crate::exit::Exit;
use crate::model::pattern::Pattern;
use crate::session::Session;

/// Time between two looks at the keyboard and at what was read.
const BLINK: Duration = Duration::from_millis(30);

/// What the flags say.
#[derive(Clone, Debug)]
pub(crate) struct TopOptions {
    pub interval: Duration,
    /// Only these queues, if any are named.
    pub queues: Vec<Pattern>,
    pub color: bool,
}

/// Shows the servers of the sessions until the user quits.
pub(crate) fn run(options: TopOptions, mut sessions: Vec<Session>) -> Result<Exit, Error> {
    let places: Result<Vec<Place>, Error> = sessions.iter_mut().map(Place::of_session).collect();
    let mut state = State::new(&options, places?);
    let (asks, asked) = channel();
    let (answers, answered) = channel();
    // The thread may wait for a server when the user has quit.
    thread::Builder::new()
        .name("reader".into())
        .spawn(move || reader::run(&mut sessions, &asked, &answers))
        .map_err(terminal_error)?;
    let signals = Signals::listen();
    let mut screen = Screen::enter()?;
    let ended = watch(&mut state, &signals, &mut screen, &asks, &answered);
    screen.leave();
    // What was noted meanwhile would have stood in the middle of a frame.
    _ = io::stderr().write_all(state.notes().as_bytes());
    ended
}

fn watch(
    state: &mut State,
    signals: &Signals,
    screen: &mut Screen,
    asks: &Sender<Ask>,
    answered: &Receiver<Answer>,
) -> Result<Exit, Error> {
    let mut is_new = true;
    let mut drawn = Instant::now();
    loop {
        if let Some(ask) = state.next_ask(Instant::now()) {
            _ = asks.send(ask);
        }
        while let Ok(answer) = answered.try_recv() {
            state.take(answer, Instant::now());
            is_new = true;
        }
        // Ages grow by the second.
        if is_new || drawn.elapsed() >= Duration::from_secs(1) {
            screen.draw(state)?;
            (is_new, drawn) = (false, Instant::now());
        }
        if let Some(exit) = signals.exit() {
            return Ok(exit);
        }
        if signals.suspended.swap(false, Ordering::Relaxed) {
            suspend(screen)?;
            is_new = true;
        }
        if !event::poll(BLINK).map_err(terminal_error)? {
            continue;
        }
        is_new = true;
        let key = match event::read().map_err(terminal_error)? {
            Event::Key(key) if key.kind == KeyEventKind::Press => Key::of_event(key),
            // A new size is drawn at once.
            _ => None,
        };
        let Some(key) = key else { continue };
        match state.press(key) {
            Effect::None => {}
            Effect::Quit => return Ok(Exit::Ok),
            Effect::Suspend => suspend(screen)?,
            Effect::Redraw => {
                screen.leave();
                *screen = Screen::enter()?;
            }
            Effect::Copy(text) => copy(&text),
            Effect::Run(line) => {
                run_command(&line, screen)?;
                state.look_again();
            }
        }
    }
}

/// Leaves the screen to the shell, until the user continues.
fn suspend(screen: &mut Screen) -> Result<(), Error> {
    screen.leave();
    _ = low_level::emulate_default_handler(SIGTSTP);
    *screen = Screen::enter()?;
    Ok(())
}

/// Hands a text to the clipboard of the terminal (OSC 52).
fn copy(text: &str) {
    let text = STANDARD.encode(text);
    let mut stdout = io::stdout();
    _ = write!(stdout, "\x1b]52;c;{text}\x07").and_then(|()| stdout.flush());
}

/// Runs a command on the terminal itself, with its plan and its question.
fn run_command(line: &CommandLine, screen: &mut Screen) -> Result<(), Error> {
    let argv = line.argv();
    let Ok(own) = std::env::current_exe() else {
        return Ok(());
    };
    screen.leave();
    let shown = line.quoted_line();
    println!("$ {shown}");
    let words = argv.iter().skip(1);
    let words = words
        .map(|word| <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(word.as_bytes()));
    let ran = Command::new(own).args(words).status();
    if let Err(why) = ran {
        println!("error: {}", io_message(&why));
    }
    print!("\nEnter goes back to top ");
    _ = io::stdout().flush();
    _ = io::stdin().read_line(&mut String::new());
    *screen = Screen::enter()?;
    Ok(())
}

/// The alternate screen. The terminal is as it was when this is left or dropped, and after a panic.
struct Screen(Option<DefaultTerminal>);

impl Screen {
    fn enter() -> Result<Screen, Error> {
        // The alternate screen is empty when it is entered.
        let terminal = ratatui::try_init().map_err(terminal_error)?;
        Ok(Screen(Some(terminal)))
    }

    fn draw(&mut self, state: &mut State) -> Result<(), Error> {
        if let Some(terminal) = &mut self.0 {
            terminal
                .draw(|frame| frame::draw(state, frame))
                .map_err(terminal_error)?;
        }
        Ok(())
    }

    fn leave(&mut self) {
        if self.0.take().is_some() {
            ratatui::restore();
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}

fn terminal_error(why: io::Error) -> Error {
    Error::new(
        Kind::File,
        format!("the terminal cannot be used: {}", io_message(&why)),
    )
}

/// The signals of other processes.
struct Signals {
    interrupted: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
    suspended: Arc<AtomicBool>,
}

impl Signals {
    fn listen() -> Signals {
        let signals = Signals {
            interrupted: Arc::default(),
            terminated: Arc::default(),
            suspended: Arc::default(),
        };
        for (signal, flagged) in [
            (SIGINT, &signals.interrupted),
            (SIGTERM, &signals.terminated),
            (SIGHUP, &signals.terminated),
            (SIGTSTP, &signals.suspended),
        ] {
            // A signal that cannot be listened to keeps its default action.
            _ = flag::register(signal, flagged.clone());
        }
        signals
    }

    fn exit(&self) -> Option<Exit> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Exit::Interrupted);
        }
        self.terminated
            .load(Ordering::Relaxed)
            .then_some(Exit::Terminated)
    }
}
