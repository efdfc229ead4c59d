//! A terminal of our own: a program is run on it, and what it wrote is returned.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Runs a command with stdout and stderr on a terminal of that many columns, and nothing on stdin.
/// Returns how it ended, and all that it wrote with bare line ends.
pub fn run(mut command: Command, columns: u16) -> (ExitStatus, String) {
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
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&screen, size).unwrap();
    command
        .stdin(Stdio::null())
        .stdout(screen.try_clone().unwrap())
        .stderr(screen);
    let mut child = command.spawn().unwrap();
    // The command holds our ends of the screen; without them reading ends with the last program.
    drop(command);
    let mut bytes = Vec::new();
    let mut page = [0; 4096];
    while let Ok(count @ 1..) = master.read(&mut page) {
        bytes.extend_from_slice(&page[..count]);
    }
    let written = String::from_utf8(bytes).unwrap().replace("\r\n", "\n");
    (child.wait().unwrap(), written)
}
