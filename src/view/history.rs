//! A job's history, in words.

use super::Page;
use super::table::{Cell, Column, Table};
use crate::model::job::Entry;
use crate::text as words;

const ENTRIES: [Column; 4] = [
    Column::text("WHEN"),
    Column::text("WHAT"),
    Column::text("NOTE"),
    Column::text("TOOK"),
];

/// Returns one line for each entry: when, what, what was noted, and how long it took to get there.
pub(super) fn text(history: &[Entry], page: &Page) -> String {
    let mut table = Table::new(&ENTRIES);
    for (at, entry) in history.iter().enumerate() {
        table.row(vec![
            Cell::maybe(entry.when.map(|when| page.stamp(when))),
            Cell::text(&entry.what),
            Cell::text(note(entry)),
            Cell::text(took(history, at)),
        ]);
    }
    format!("\nhistory ({})\n{}", history.len(), table.inset(page))
}

/// Returns what an entry notes, in words where they are the core's own.
fn note(entry: &Entry) -> String {
    let text = |key: &str| entry.text(key).map(|text| words::clean(text.as_bytes()));
    let known = match entry.what.as_bytes() {
        b"put" => text("queue").map(|queue| format!("in {queue}")),
        b"popped" => text("worker").map(|worker| format!("by {worker}")),
        b"failed" => text("group"),
        _ => None,
    };
    known.unwrap_or_else(|| {
        let members = entry.note.iter().map(|(key, value)| {
            let value = value.text().unwrap_or_else(|| value.to_name());
            format!(
                "{}={}",
                words::clean(key.as_bytes()),
                words::clean(value.as_bytes())
            )
        });
        members.collect::<Vec<String>>().join(" ")
    })
}

/// Returns how long a job had waited when it was popped, or run when that ended.
fn took(history: &[Entry], at: usize) -> String {
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
            format!("{verb} {}", words::duration(ended.since(*began)))
        }
        _ => String::new(),
    }
}
