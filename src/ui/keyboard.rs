//! Reads single keys while `--watch` repaints the screen.

use std::io::stdin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::read;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};

const ESCAPE: u8 = b'\x1b';

/// The terminal modes to restore. `None` unless single keys are being read.
static SAVED_MODES: Mutex<Option<Termios>> = Mutex::new(None);

fn lock_saved_modes() -> MutexGuard<'static, Option<Termios>> {
    SAVED_MODES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes each key readable when it is pressed, without an echo. Ctrl-C and Ctrl-Z stay signals. Does
/// nothing if stdin is not a terminal, or if another job of the shell is using it.
pub(super) fn enter_key_mode() {
    let mut before = lock_saved_modes();
    let is_background = tcgetpgrp(stdin()).is_ok_and(|group| group != getpgrp());
    if before.is_some() || is_background {
        return;
    }
    let Ok(modes) = tcgetattr(stdin()) else {
        return;
    };
    let mut keys = modes.clone();
    keys.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    // With VMIN and VTIME at 0, a read returns immediately, even if no key was pressed.
    keys.special_codes[SpecialCodeIndex::VMIN] = 0;
    keys.special_codes[SpecialCodeIndex::VTIME] = 0;
    if tcsetattr(stdin(), OptionalActions::Now, &keys).is_ok() {
        *before = Some(modes);
    }
}

/// Restores the terminal modes. Any thread may call this.
pub(super) fn restore_terminal_modes() {
    if let Some(modes) = lock_saved_modes().take() {
        _ = tcsetattr(stdin(), OptionalActions::Flush, &modes);
    }
}

/// Recognizes the keys that end `--watch`: q and Esc.
#[derive(Debug, Default)]
pub(crate) struct QuitKeyReader(EscapeSequenceState);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum EscapeSequenceState {
    #[default]
    Ready,
    /// An Esc was read. The next bytes decide whether it was the Esc key or the beginning of another key, such as
    /// an arrow key.
    Escape,
    /// Within the bytes of a key that begins with Esc.
    Sequence,
}

impl QuitKeyReader {
    /// Whether q or Esc was pressed since the last call. The caller asks a few times per second.
    pub(crate) fn was_quit_pressed(&mut self) -> bool {
        let open = lock_saved_modes();
        let mut bytes = [0; 64];
        let count = if open.is_some() {
            read(stdin(), &mut bytes).unwrap_or(0)
        } else {
            return false;
        };
        self.completes_quit_key(&bytes[..count])
    }

    /// Whether `bytes`, which were read next, complete a q or an Esc key. An Esc without further bytes was the Esc
    /// key.
    fn completes_quit_key(&mut self, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return self.0 == EscapeSequenceState::Escape;
        }
        for byte in bytes {
            self.0 = match (self.0, byte) {
                (EscapeSequenceState::Ready, b'q' | b'Q')
                | (EscapeSequenceState::Escape, &ESCAPE) => return true,
                (EscapeSequenceState::Ready, &ESCAPE) => EscapeSequenceState::Escape,
                (EscapeSequenceState::Escape, b'[' | b'O') => EscapeSequenceState::Sequence,
                (EscapeSequenceState::Sequence, 0..b'@') => EscapeSequenceState::Sequence,
                _ => EscapeSequenceState::Ready,
            };
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_and_escape_quit_and_other_keys_do_not() {
        let quits = |reads: &[&[u8]]| {
            let mut key = QuitKeyReader::default();
            reads.iter().any(|bytes| key.completes_quit_key(bytes))
        };
        assert!(quits(&[b"q"]));
        assert!(quits(&[b"", b"xQ"]));
        assert!(quits(&[b"\x1b", b""]));
        assert!(!quits(&[b"\x1b"]));
        assert!(!quits(&[b"\x1b[A", b""]));
        assert!(!quits(&[b"\x1b", b"[A", b""]));
        assert!(!quits(&[b"", b"x\n", b""]));
        // Several keys may be read together.
        assert!(quits(&[b"\x1b[1;5Ax\x1bOBq"]));
        assert!(quits(&[b"\x1b[A\x1b", b""]));
        assert!(!quits(&[b"\x1b[A\x1bOB\x1bq", b""]));
    }
}
