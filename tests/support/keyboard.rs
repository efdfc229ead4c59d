//! A terminal that answers prompts.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::qless::RunOutput;

/// Runs a command with stdin, stdout and stderr on a terminal. Types each answer after the text
/// before it was printed. A dialogue that does not end is killed.
pub fn answer(mut command: Command, dialogue: &[(&str, &str)]) -> RunOutput {
    let mut master = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let screen = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    let size = Winsize {
        ws_row: 50,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&screen, size).unwrap();
    command
        .stdin(screen.try_clone().unwrap())
        .stdout(screen.try_clone().unwrap())
        .stderr(screen);
    let mut child = command.spawn().unwrap();
    // The command holds the program's end of the terminal; while it is open, reading does not end.
    drop(command);
    let (ended, end) = mpsc::channel::<()>();
    let pid = child.id().to_string();
    std::thread::spawn(move || {
        if end.recv_timeout(Duration::from_secs(30)) == Err(mpsc::RecvTimeoutError::Timeout) {
            _ = Command::new("kill").args(["-9", &pid]).status();
        }
    });
    let mut bytes = Vec::new();
    let mut page = [0; 4096];
    let mut dialogue = dialogue.iter();
    let mut next = dialogue.next();
    let mut read = 0;
    while let Ok(count @ 1..) = master.read(&mut page) {
        bytes.extend_from_slice(&page[..count]);
        if let Some((words, answer)) = next
            && String::from_utf8_lossy(&bytes[read..]).contains(words)
        {
            read = bytes.len();
            if words.starts_with("Password") {
                wait_for_silence(&master);
            }
            master.write_all(answer.as_bytes()).unwrap();
            next = dialogue.next();
        }
    }
    drop(ended);
    RunOutput::on_terminal(child.wait().unwrap(), &bytes)
}

/// Waits until the terminal no longer echoes: a prompt is printed before the echo is switched off.
fn wait_for_silence(terminal: &File) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let echoes = || {
        let modes = tcgetattr(terminal).unwrap().local_modes;
        modes.contains(LocalModes::ECHO)
    };
    while echoes() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
}
