//! The history of a job, a line for each entry.

use super::job::HistoryEntry;
use crate::name::Name;
use crate::text;
use crate::view::RenderOptions;
use crate::view::table::{Cell, Column, Table};

/// Maximum length of a text in the lines of a history, in columns: the time to align lines grows with its square.
const MAX_TEXT_COLUMNS: usize = 1000;

/// A history, and the index of one of its entries.
type Step<'h> = (&'h [HistoryEntry], usize);

/// One line for each entry: its time, its event, its note, and how long the job had waited or run.
pub(crate) fn render_history(history: &[HistoryEntry], options: &RenderOptions) -> String {
    let columns: [Column<Step>; 4] = [
        Column::of_text("WHEN", |(history, at), options| {
            Cell::text_or_missing(history[*at].when.map(|when| options.format_timestamp(when)))
        }),
        Column::of_text("WHAT", |(history, at), _| {
            Cell::text(cut_long_text(&history[*at].what.to_string()))
        }),
        Column::of_text("NOTE", |(history, at), _| {
            Cell::text(cut_long_text(&note_text(&history[*at])))
        }),
        Column::of_text("DURATION", |(history, at), _| {
            Cell::text(wait_or_run_text(history, *at))
        }),
    ];
    let steps: Vec<Step> = (0..history.len()).map(|at| (history, at)).collect();
    let table = Table::new(&columns, &steps, options);
    format!(
        "\nhistory ({})\n{}",
        history.len(),
        table.into_indented_text(options)
    )
}

fn cut_long_text(text: &str) -> String {
    text::cut_with_ellipsis(text, MAX_TEXT_COLUMNS)
}

/// The note of an entry: in words for the core's own events, else as `key=value`.
pub(crate) fn note_text(entry: &HistoryEntry) -> String {
    let text = |key: &str| entry.extra_field_text(key).map(|text| text.to_string());
    let known = match entry.what.as_bytes() {
        b"put" => text("queue").map(|queue| format!("in {queue}")),
        b"popped" => text("worker").map(|worker| format!("by {worker}")),
        b"failed" => text("group"),
        b"retried" => {
            let code = entry
                .extra_field_value("exit")
                .map(|code| code.to_single_line());
            let code = code.map(|code| format!("exit code {code}"));
            let message = entry.extra_field_text("message");
            let message = message.map(|message| first_and_last_line(message.as_bytes()));
            let parts = [code, text("group"), message];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            Some(parts.join(": ")).filter(|why| !why.is_empty())
        }
        b"throttled" => text("throttle").map(|throttle| format!("by {throttle}")),
        _ => None,
    };
    known.unwrap_or_else(|| {
        let members = entry.note.iter().map(|(key, value)| {
            let value = value.text().unwrap_or_else(|| value.to_single_line());
            format!("{key}={value}")
        });
        members.collect::<Vec<String>>().join(" ")
    })
}

/// The first and the last line of a message. Some programs write the reason first, others last.
fn first_and_last_line(message: &[u8]) -> String {
    let lines = message.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    let line = |line| text::cut_with_ellipsis(&Name::from(line).to_string(), MAX_LINE_CHARACTERS);
    match (lines.next().map(line), lines.next_back().map(line)) {
        (Some(first), Some(last)) => format!("{first} … {last}"),
        (first, _) => first.unwrap_or_default(),
    }
}

/// Maximum length of a line that is shown of a message, in characters.
const MAX_LINE_CHARACTERS: usize = 80;

/// How long the job had waited when it was popped, or had run when the run ended. Empty for other entries.
pub(crate) fn wait_or_run_text(history: &[HistoryEntry], index: usize) -> String {
    let (verb, from): (&str, &[u8]) = match history[index].what.as_bytes() {
        b"popped" => ("waited", b"put"),
        b"done" | b"failed" | b"timed-out" | b"retried" => ("ran", b"popped"),
        _ => return String::new(),
    };
    let began = history[..index].iter().rev().find(|entry| {
        let what = entry.what.as_bytes();
        what == from || what == b"popped" || what == b"put"
    });
    match (
        began.filter(|entry| entry.what.as_bytes() == from),
        history[index].when,
    ) {
        (
            Some(HistoryEntry {
                when: Some(began), ..
            }),
            Some(ended),
        ) => {
            format!("{verb} {}", text::format_duration(ended.since(*began)))
        }
        _ => String::new(),
    }
}
