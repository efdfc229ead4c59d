//! Model → text. Never talks to Redis, never reads the clock: what it needs comes in a [`Page`].

use serde::Serialize;

use crate::clock::moment::Moment;
use crate::name::Name;
use crate::text;

pub(crate) mod bulk;
pub(crate) mod check;
mod complete;
mod config;
mod context;
mod depends;
mod detail;
pub(crate) mod document;
mod done;
mod error;
pub(crate) mod export;
mod failure;
pub(crate) mod field;
pub(crate) mod finding;
mod history;
pub(crate) mod import;
mod job;
mod length;
mod list;
mod local;
mod paint;
mod put;
mod queue;
mod recur;
pub(crate) mod repair;
mod stats;
mod tag;
mod version;
mod worker;

pub(crate) mod json;
pub(crate) mod table;

use document::Document;
pub(crate) use json::Lines;

/// What the text is written on.
#[derive(Clone, Debug)]
pub struct Page {
    /// Whether people read it: aligned, with headers, relative times, thousands separated.
    pub terminal: bool,
    /// Columns; tables in a pipe are never cut.
    pub width: usize,
    /// Whether to colour.
    pub color: bool,
    /// The moment that ages are counted from.
    pub now: Moment,
    /// How moments are written.
    pub times: Times,
    /// Whether tables have headers.
    pub headers: bool,
    /// Which columns of a table, in which order.
    pub choice: table::Choice,
}

/// How moments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// `4m ago`, `in 2h 5m`.
    Relative,
    /// RFC 3339.
    Iso,
    /// Seconds since the epoch.
    Unix,
}

impl Page {
    /// A terminal of this width, without colour, at the moment 0.
    #[cfg(test)]
    pub fn terminal(width: usize) -> Page {
        Page {
            terminal: true,
            width,
            color: false,
            now: Moment::from_micros(0),
            times: Times::Relative,
            headers: true,
            choice: table::Choice::default(),
        }
    }

    /// A pipe.
    #[cfg(test)]
    pub fn pipe() -> Page {
        Page {
            terminal: false,
            times: Times::Iso,
            headers: false,
            ..Page::terminal(80)
        }
    }

    /// Returns a count; its thousands are separated on a terminal.
    pub fn count(&self, count: u64) -> String {
        match self.terminal {
            true => text::thousands(count),
            false => count.to_string(),
        }
    }

    /// Whether moments are told as ages.
    pub fn relative(&self) -> bool {
        self.times == Times::Relative
    }

    /// Returns a moment: `4m 2s ago`, `in 2h 5m`, or as `--time-format` says.
    pub fn when(&self, moment: Moment) -> String {
        let age = self.now.since(moment);
        match self.times {
            Times::Relative if age < 0.0 => format!("in {}", text::duration(-age)),
            Times::Relative => format!("{} ago", text::duration(age)),
            _ => self.stamp(moment),
        }
    }

    /// Returns how long ago a moment was, without saying `ago`.
    pub fn age(&self, moment: Moment) -> String {
        match self.times {
            Times::Relative => text::duration(self.now.since(moment).max(0.0)),
            _ => self.stamp(moment),
        }
    }

    /// Returns a moment as it stands in a calendar, or in seconds.
    pub fn stamp(&self, moment: Moment) -> String {
        match (self.times, moment.rfc3339()) {
            (Times::Unix, _) | (_, None) => moment.to_string(),
            (Times::Iso, Some(text)) => text,
            (Times::Relative, Some(text)) => text[..text.len() - 5].replace('T', " "),
        }
    }
}

/// A model that can be shown: its `Serialize` gives the fields of the document.
pub(crate) trait View: Serialize {
    /// The document: its `kind`, its fields, and what `help json` says of it.
    const DOCUMENT: Document;

    /// What `--columns` and `--sort` may name.
    const COLUMNS: &'static [table::Column] = &[];

    /// Returns the text for people (`page.terminal`) or for a pipe.
    fn text(&self, page: &Page) -> String;

    /// Writes the lines of `-o ndjson`: lists write their items, others the document itself.
    fn lines(&self, lines: &mut Lines) -> Result<(), serde_json::Error> {
        lines.document(self)
    }

    /// Returns the jids, where the result is jobs.
    fn jids(&self) -> Option<Vec<&Name>> {
        None
    }
}
