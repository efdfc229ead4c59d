//! Model → text. Never talks to Redis, never reads the clock: what it needs comes in a [`Page`].

use serde::Serialize;

use crate::model::moment::Moment;
use crate::model::name::Name;

mod length;
mod version;

pub mod json;
pub mod table;
pub mod text;

pub use json::Lines;

/// What the text is written on.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Whether people read it: aligned, with headers, relative times, thousands separated.
    pub terminal: bool,
    /// Columns; tables in a pipe are never cut.
    pub width: usize,
    /// Whether to colour.
    pub color: bool,
    /// The moment that ages are counted from.
    pub now: Moment,
}

/// A model that can be shown: its `Serialize` gives the fields of the document.
pub trait View: Serialize {
    /// The `kind` of the document.
    const KIND: &'static str;

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
