//! `--watch`: runs a read-only command again and again, until q, Esc or Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::{SIGNAL_CHECK_INTERVAL, may_handle};
use crate::session::Session;
use crate::text::{Sanitized, format_duration, format_duration_tenths_below_minute};
use crate::threads;
use crate::ui::keyboard::QuitKeyReader;
use crate::ui::screen;
use crate::ui::screen::Screen;

/// How long a call may continue after q or Ctrl-C.
const TIME_AFTER_QUIT: Duration = Duration::from_millis(200);

/// Runs a command and shows its result at an interval.
///
/// `run_once` runs the command and writes one frame.
pub(crate) fn run_repeatedly(
    every: Duration,
    session: &mut Session,
    run_once: impl FnMut(&mut Session) -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    let frames = session.ui.begin_watch_frames_or_documents()?;
    let signals = WatchSignals::listen_for_signals();
    let started = signals.spawn_quit_key_and_forced_exit();
    let ended =
        started.and_then(|()| repeat_until_stopped(every, frames, &signals, session, run_once));
    signals.ended.store(true, Ordering::Relaxed);
    session.ui.stop_collecting_frames();
    ended
}

fn repeat_until_stopped(
    every: Duration,
    paints_frames: bool,
    signals: &WatchSignals,
    session: &mut Session,
    mut run_once: impl FnMut(&mut Session) -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    let mut screen: Option<Screen> = None;
    let mut frame = Vec::new();
    let mut lost_before = false;
    for tick in 0u64.. {
        let begun = Instant::now();
        let size = screen::terminal_rows_and_columns();
        session.ui.reread_terminal_width();
        let outcome = run_once(session).and_then(|_| session.ui.flush_stdout_and_wait_for_pager());
        if let Some(exit) = signals.requested_exit() {
            return Ok(exit);
        }
        let shown = session.ui.take_frame();
        let lost = match outcome {
            Ok(()) => None,
            // Try again if the server is lost: it may come back. Any other error ends the command, and so does any
            // error of the first run.
            Err(error) if tick > 0 && error.exit() == Exit::Server => Some(error),
            Err(error) => return Err(error),
        };
        match &lost {
            None => {
                frame = shown;
                // Let calls fail immediately if the server is lost, so that the error is shown: the next tick
                // connects again.
                if let Some(core) = session.core_if_open() {
                    core.stop_waiting_for_lost_server();
                }
            }
            Some(error) if !paints_frames && !lost_before => {
                session
                    .ui
                    .warn(&format!("{}; trying again", error.message()));
            }
            Some(_) => {}
        }
        lost_before = lost.is_some();
        if paints_frames {
            let head = line_above_frame(every, lost, session);
            screen
                .get_or_insert_with(Screen::enter)
                .repaint(&head, &frame);
            signals.painted.store(true, Ordering::Relaxed);
        }
        match signals.wait(begun + every, size) {
            WakeReason::Stopped(exit) => return Ok(exit),
            WakeReason::Suspend => {
                screen = None;
                signals.painted.store(false, Ordering::Relaxed);
                _ = low_level::emulate_default_handler(SIGTSTP);
            }
            WakeReason::Tick => {}
        }
    }
    Ok(Exit::Ok)
}

/// The line above the frame: the time, the command and the address, or the error.
fn line_above_frame(every: Duration, lost: Option<Error>, session: &mut Session) -> String {
    match lost {
        Some(error) => format!("error: {}; trying again", Sanitized(&*error.message())),
        None => {
            let now = session.ui.render_options().format_timestamp(session.now());
            // If a context names several servers, this session has no connection: the line shows the context's name.
            let address = match session.core_if_open() {
                Some(core) => core.address(),
                None => session
                    .context_label_of_database()
                    .unwrap_or_default()
                    .to_owned(),
            };
            let every = match every.subsec_nanos() {
                0 => format_duration(every.as_secs_f64()),
                _ => format_duration_tenths_below_minute(every.as_secs_f64()),
            };
            let name = session.command_name();
            format!(
                "{now}  qless {name}, every {every}  {}",
                Sanitized(&address)
            )
        }
    }
}

/// Why a wait ended.
enum WakeReason {
    /// The interval has passed, or the terminal has another size.
    Tick,
    /// A signal asked the process to end.
    Stopped(Exit),
    /// The user suspended the process.
    Suspend,
}

/// Flags that the signal handlers set, and the state that the watch loop shares with the thread that reads the
/// keyboard.
#[derive(Clone, Default)]
struct WatchSignals {
    interrupted: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
    suspended: Arc<AtomicBool>,
    /// Whether the alternate screen is in use.
    painted: Arc<AtomicBool>,
    /// Whether the loop has ended.
    ended: Arc<AtomicBool>,
}

impl WatchSignals {
    fn listen_for_signals() -> WatchSignals {
        let signals = WatchSignals::default();
        for (signal, flagged) in [
            (SIGINT, &signals.interrupted),
            (SIGTERM, &signals.terminated),
            (SIGHUP, &signals.terminated),
            (SIGTSTP, &signals.suspended),
        ] {
            // A signal whose handler cannot be installed keeps its default action.
            if may_handle(signal) {
                _ = flag::register(signal, flagged.clone());
            }
        }
        signals
    }

    /// Starts a thread that reads the keyboard: q and Esc act as Ctrl-C. The thread ends the process if the loop does
    /// not end in time, since the loop may be waiting for a server.
    fn spawn_quit_key_and_forced_exit(&self) -> Result<(), Error> {
        let signals = self.clone();
        threads::spawn(move || {
            let mut quit = QuitKeyReader::default();
            let exit = loop {
                thread::sleep(SIGNAL_CHECK_INTERVAL);
                if quit.was_quit_pressed() {
                    signals.interrupted.store(true, Ordering::Relaxed);
                }
                if let Some(exit) = signals.requested_exit() {
                    break exit;
                }
            };
            thread::sleep(TIME_AFTER_QUIT);
            if !signals.ended.load(Ordering::Relaxed) {
                if signals.painted.load(Ordering::Relaxed) {
                    screen::restore_terminal();
                }
                low_level::exit(exit.code().into());
            }
        })?;
        Ok(())
    }

    /// The exit code if a signal asked the process to end.
    fn requested_exit(&self) -> Option<Exit> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Exit::Ok);
        }
        let terminated = self.terminated.load(Ordering::Relaxed);
        terminated.then_some(Exit::Terminated)
    }

    /// Waits for the next tick. `size` is the terminal's size when the last frame was made. Comparing sizes works even if a
    /// parent has blocked SIGWINCH.
    fn wait(&self, until: Instant, size: Option<(u16, u16)>) -> WakeReason {
        loop {
            if let Some(exit) = self.requested_exit() {
                return WakeReason::Stopped(exit);
            }
            if self.suspended.swap(false, Ordering::Relaxed) {
                return WakeReason::Suspend;
            }
            if screen::terminal_rows_and_columns() != size || Instant::now() >= until {
                return WakeReason::Tick;
            }
            thread::sleep(SIGNAL_CHECK_INTERVAL);
        }
    }
}
