//! A pseudo-terminal: runs a program on it and returns its output.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::qless::RunOutput;

/// Runs a command with stdout and stderr on a terminal of that many columns, and nothing on stdin.
/// The result has its status, and all that it wrote as stdout.
pub fn run(command: Command, columns: u16) -> RunOutput {
    Terminal::start(command, columns, 50).end()
}

/// A terminal on which a program runs.
pub struct Terminal {
    child: Child,
    screen: File,
    written: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    keyboard: File,
    is_closed: Arc<AtomicBool>,
}

impl Terminal {
    /// Starts a command with stdout and stderr on a terminal, and nothing on stdin.
    pub fn start(command: Command, columns: u16, rows: u16) -> Terminal {
        Terminal::with(command, columns, rows, false)
    }

    /// Starts a command that also reads from the terminal.
    pub fn typed(command: Command, columns: u16, rows: u16) -> Terminal {
        Terminal::with(command, columns, rows, true)
    }

    fn with(mut command: Command, columns: u16, rows: u16, typed: bool) -> Terminal {
        // No program on another terminal inherits it.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let mut master = File::from(openpt(flags).unwrap());
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let screen = OpenOptions::new()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        resize(&screen, columns, rows);
        command
            .stdin(if typed {
                screen.try_clone().unwrap().into()
            } else {
                Stdio::null()
            })
            .stdout(screen.try_clone().unwrap())
            .stderr(screen.try_clone().unwrap());
        let child = command.spawn().unwrap();
        let written: Arc<Mutex<Vec<u8>>> = Arc::default();
        let keyboard = master.try_clone().unwrap();
        let is_closed: Arc<AtomicBool> = Arc::default();
        let (all, closed) = (written.clone(), is_closed.clone());
        let reader = std::thread::spawn(move || {
            let mut page = [0; 4096];
            while !closed.load(Ordering::Relaxed) {
                match master.read(&mut page) {
                    Ok(0) => break,
                    Ok(count) => all.lock().unwrap().extend_from_slice(&page[..count]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // The last program closed the terminal.
                    Err(_) => break,
                }
            }
        });
        Terminal {
            child,
            screen,
            written,
            reader,
            keyboard,
            is_closed,
        }
    }

    /// Types something.
    pub fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// The modes of the terminal.
    pub fn modes(&self) -> String {
        format!("{:?}", tcgetattr(&self.screen).unwrap())
    }

    /// Whether the terminal echoes what is typed.
    pub fn echoes(&self) -> bool {
        let modes = tcgetattr(&self.screen).unwrap().local_modes;
        modes.contains(LocalModes::ECHO)
    }

    /// Resizes the terminal, which is not the program's controlling one: it gets no signal.
    pub fn resize(&self, columns: u16, rows: u16) {
        resize(&self.screen, columns, rows);
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.unwrap().success());
    }

    /// The output so far.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).replace("\r\n", "\n")
    }

    /// Waits until the output satisfies a condition.
    #[track_caller]
    pub fn until(&self, what: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let written = self.written();
            if what(&written) {
                return written;
            }
            let status = format!("/proc/{}/status", self.child.id());
            assert!(
                Instant::now() < deadline,
                "only this came:\n{written}\n{}",
                std::fs::read_to_string(status).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Closes the terminal of a program that goes on writing, and waits until it has ended.
    pub fn close(mut self) -> ExitStatus {
        self.is_closed.store(true, Ordering::Relaxed);
        drop((self.keyboard, self.screen));
        self.child.wait().unwrap()
    }

    /// Waits until the program has ended. Returns its status, and all that it wrote as stdout.
    pub fn end(mut self) -> RunOutput {
        let status = self.child.wait().unwrap();
        // Reading ends when the last program closes the terminal.
        drop(self.screen);
        self.reader.join().unwrap();
        let written = self.written.lock().unwrap();
        RunOutput::on_terminal(status, &written)
    }
}

fn resize(screen: &File, columns: u16, rows: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(screen, size).unwrap();
}
