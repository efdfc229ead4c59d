//! Keys, and what each does.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Enter,
    Escape,
    Tab,
    Backspace,
    /// Ctrl with a letter.
    Control(char),
    Char(char),
}

impl Key {
    pub(super) fn from_event(event: KeyEvent) -> Option<Key> {
        Some(match event.code {
            KeyCode::Up => Key::Up,
            KeyCode::Down => Key::Down,
            KeyCode::PageUp => Key::PageUp,
            KeyCode::PageDown => Key::PageDown,
            KeyCode::Home => Key::First,
            KeyCode::End => Key::Last,
            KeyCode::Enter => Key::Enter,
            KeyCode::Esc => Key::Escape,
            KeyCode::Tab => Key::Tab,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::Char(c) if event.modifiers.contains(KeyModifiers::CONTROL) => Key::Control(c),
            KeyCode::Char(c) => Key::Char(c),
            _ => return None,
        })
    }

    /// The key that a key of vi stands for.
    pub(super) fn mapped_from_vi(self) -> Key {
        match self {
            Key::Char('k') => Key::Up,
            Key::Char('j') => Key::Down,
            Key::Char('g') => Key::First,
            Key::Char('G') => Key::Last,
            Key::Char('l') => Key::Enter,
            Key::Char('h') => Key::Escape,
            Key::Control('f') => Key::PageDown,
            Key::Control('b') => Key::PageUp,
            key => key,
        }
    }
}

/// The keys that change no job or queue, with what each does, for the key help.
pub(super) const VIEW_KEYS: [(&str, &str); 18] = [
    ("↑ ↓ j k", "select; PgUp PgDn g G"),
    ("Enter l", "open"),
    ("Esc h", "back"),
    ("Tab", "queues, failed, workers"),
    ("/", "show only names with these letters"),
    ("s", "sort by the next column"),
    (
        "1 … 6",
        "waiting, running, stalled, scheduled, depends, throttled",
    ),
    ("e", "explain why nothing runs"),
    ("i", "the status, with all problems"),
    ("space", "mark a row"),
    ("*", "mark all rows shown, or none"),
    ("w", "the commands that do the same"),
    ("y", "copy the name or jid"),
    ("c", "next context"),
    ("Ctrl-L", "draw again"),
    ("Ctrl-Z", "suspend"),
    ("? Ctrl-P", "this list"),
    ("q", "quit"),
];

/// The keys that change jobs or queues, with what each does.
pub(super) const CHANGE_KEYS: [(char, &str); 5] = [
    ('R', "retry: a group, or jobs"),
    ('C', "cancel: a group, or jobs"),
    ('U', "run scheduled jobs now"),
    ('T', "track jobs"),
    ('P', "pause or unpause queues"),
];
