//! The history of a job, a line for each entry.

use super::Page;
use super::table::{Cell, Column, Table};
use crate::model::job::Entry;
use crate::text;

const ENTRIES: [Column; 4] = [
    Column::text("WHEN"),
    Column::text("WHAT"),
    Column::text("NOTE"),
    Column::text("DURATION"),
];

/// Returns one line for each entry: when, what, its note, and how long the job waited or ran.
pub(super) fn render(history: &[Entry], page: &Page) -> String {
    let mut table = Table::new(&ENTRIES);
    for (at, entry) in history.iter().enumerate() {
        table.row(vec![
            Cell::maybe(entry.when.map(|when| page.stamp(when))),
            Cell::text(&entry.what),
            Cell::text(note(entry)),
            Cell::text(duration(history, at)),
        ]);
    }
    format!("\nhistory ({})\n{}", history.len(), table.inset(page))
}

/// Returns the note of an entry: in words if the core wrote it, else as `key=value`.
fn note(entry: &Entry) -> String {
    let text = |key: &str| entry.text(key).map(|text| text.to_string());
    let known = match entry.what.as_bytes() {
        b"put" => text("queue").map(|queue| format!("in {queue}")),
        b"popped" => text("worker").map(|worker| format!("by {worker}")),
        b"failed" => text("group"),
        b"throttled" => text("throttle").map(|throttle| format!("by {throttle}")),
        _ => None,
    };
    known.unwrap_or_else(|| {
        let members = entry.note.iter().map(|(key, value)| {
            let value = value.text().unwrap_or_else(|| value.to_name());
            format!("{key}={value}")
        });
        members.collect::<Vec<String>>().join(" ")
    })
}

/// Returns how long the job had waited when it was popped, or how long it ran.
fn duration(history: &[Entry], at: usize) -> String {
    let (verb, from): (&str, &[u8]) = match history[at].what.as_bytes() {
        b"popped" => ("waited", b"put"),
        b"done" | b"failed" | b"timed-out" => ("ran", b"popped"),
        _ => return String::new(),
    };
    let began = history[..at].iter().rev().find(|entry| {
        let what = entry.what.as_bytes();
        what == from || what == b"popped" || what == b"put"
    });
    match (
        began.filter(|entry| entry.what.as_bytes() == from),
        history[at].when,
    ) {
        (
            Some(Entry {
                when: Some(began), ..
            }),
            Some(ended),
        ) => {
            format!("{verb} {}", text::duration(ended.since(*began)))
        }
        _ => String::new(),
    }
}
