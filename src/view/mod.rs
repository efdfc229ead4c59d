//! How models are shown: as tables, details and documents. The models in `crate::model` define their columns, lines
//! and fields. Nothing here reads the clock: [`RenderOptions`] has the current moment.

use std::time::Duration;

use serde::Serialize;

use crate::clock::moment::Moment;
use crate::name::Name;
use crate::text;

pub(crate) mod detail;
pub(crate) mod document;
pub(crate) mod field;
pub(crate) mod joined;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod paint;
pub(crate) mod table;

use document::DocumentKind;
pub(crate) use json::NdjsonLines;

/// The properties of the terminal or pipe that a text is written to.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    /// Whether text is laid out for people, as on a terminal: aligned columns and separated thousands.
    pub terminal: bool,
    /// The width of the terminal in columns. Text for programs is never cut.
    pub width: usize,
    /// Whether the text has colors.
    pub color: bool,
    /// The current moment, for ages.
    pub now: Moment,
    /// How moments are written: `--time-format`.
    pub times: MomentFormat,
    /// Whether tables have headers.
    pub headers: bool,
    /// Which columns and rows of a table are shown, in which order.
    pub choice: table::TableSelection,
}

/// How moments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentFormat {
    /// `4m ago`, `in 2h 5m`.
    Relative,
    /// RFC 3339.
    Iso,
    /// Seconds since the epoch.
    Unix,
}

impl RenderOptions {
    /// The options for a terminal of this width, without color. The current moment is the epoch.
    pub fn terminal_without_color(width: usize) -> RenderOptions {
        RenderOptions {
            terminal: true,
            width,
            color: false,
            now: Moment::from_micros(0),
            times: MomentFormat::Relative,
            headers: true,
            choice: table::TableSelection::default(),
        }
    }

    #[cfg(test)]
    pub fn pipe() -> RenderOptions {
        RenderOptions {
            terminal: false,
            times: MomentFormat::Iso,
            headers: false,
            ..RenderOptions::terminal_without_color(80)
        }
    }

    /// The suffix of a time that does not name its zone.
    pub fn zone_suffix(&self) -> &'static str {
        match self.times {
            MomentFormat::Relative => " UTC",
            _ => "",
        }
    }

    /// A count, its thousands separated on a terminal.
    pub fn count(&self, count: u64) -> String {
        if self.terminal {
            text::with_thousands_separators(count)
        } else {
            count.to_string()
        }
    }

    pub fn format_count(&self, count: u64, one: &str, many: &str) -> String {
        let noun = if count == 1 { one } else { many };
        format!("{} {noun}", self.count(count))
    }

    /// A name in a line with tabs, for programs, or in one for people.
    pub fn name(&self, name: &Name) -> String {
        if self.terminal {
            name.to_string()
        } else {
            text::sanitize_to_line_escaping_backslashes(name.as_bytes())
        }
    }

    /// Whether moments are written as ages.
    pub fn relative(&self) -> bool {
        self.times == MomentFormat::Relative
    }

    /// A moment in the format of `--time-format`: `4m 2s ago`, `in 2h 5m` by default.
    pub fn when(&self, moment: Moment) -> String {
        let age = self.now.since(moment);
        match self.times {
            MomentFormat::Relative if age < 0.0 => format!("in {}", text::format_duration(-age)),
            MomentFormat::Relative => format!("{} ago", text::format_duration(age)),
            _ => self.format_timestamp(moment),
        }
    }

    /// The end of a time to live: `in 1h` by default.
    pub fn format_end_of_ttl(&self, ttl_s: u64) -> String {
        match self.times {
            MomentFormat::Relative => format!("in {}", text::format_duration(ttl_s as f64)),
            _ => self.format_timestamp(self.now.plus(Duration::from_secs(ttl_s))),
        }
    }

    /// The age of a moment without `ago`, or the moment itself if times are not relative.
    pub fn age(&self, moment: Moment) -> String {
        match self.times {
            MomentFormat::Relative => text::format_duration(self.now.since(moment).max(0.0)),
            _ => self.format_timestamp(moment),
        }
    }

    /// How long something has lasted that began at this moment: `for 3m`, or since when.
    pub fn how_long(&self, since: Moment) -> String {
        if self.relative() {
            format!("for {}", self.age(since))
        } else {
            format!("since {}", self.format_timestamp(since))
        }
    }

    /// A moment of a stream, whose lines have no age: the time of the day in UTC by default.
    pub fn time_of_day(&self, moment: Moment) -> String {
        match (self.times, moment.to_rfc3339()) {
            (MomentFormat::Relative, Some(text)) => {
                let time = text.split_once('T').map_or("", |(_, time)| time);
                time.trim_end_matches('Z').to_owned()
            }
            _ => self.format_timestamp(moment),
        }
    }

    /// A moment as date and time, or in seconds since the epoch.
    pub fn format_timestamp(&self, moment: Moment) -> String {
        match (self.times, moment.to_rfc3339()) {
            (MomentFormat::Unix, _) | (_, None) => moment.to_string(),
            (MomentFormat::Iso, Some(text)) => text,
            (MomentFormat::Relative, Some(text)) => text[..text.len() - 5].replace('T', " "),
        }
    }
}

/// A model that can be shown. Its `Serialize` writes the fields of the document.
pub(crate) trait View: Serialize {
    /// The document: its `kind`, its fields, and what `help json` says of it.
    const DOCUMENT: DocumentKind;

    /// The columns that `--columns` and `--sort` accept; none if the view is not a table.
    fn headings() -> Vec<table::Heading> {
        Vec::new()
    }

    /// The text for a terminal (`options.terminal`) or for a pipe.
    fn text(&self, options: &RenderOptions) -> String;

    /// The table that the text is. `None` if it is another text.
    fn table(&self, _options: &RenderOptions) -> Option<table::Table> {
        None
    }

    /// The number that the text is. `None` if it is another text.
    fn count_that_is_whole_text(&self) -> Option<i64> {
        None
    }

    /// Writes the lines of `-o ndjson`: a list writes its items, anything else its document.
    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_document(self)
    }

    /// The jids for `-o jid`. `None` if the model is not about jobs.
    fn output_jids(&self) -> Option<Vec<&Name>> {
        None
    }

    /// Whether the text is about jobs. Then a line needs no name of the member of the context that has the job.
    fn is_about_jobs(&self) -> bool {
        self.output_jids().is_some()
    }

    /// Whether the text is the jids, each on a line.
    fn text_is_jids(&self) -> bool {
        false
    }
}

/// The output of one view, in the requested format.
#[derive(Debug)]
pub(crate) enum ViewOutput {
    /// A table, and the range of its sorted rows to show: offset and limit.
    Table(table::Table, Option<(u64, Option<u64>)>),
    /// A row of a table whose rows are written as they arrive.
    Row(table::Table),
    Text(String),
    /// A text about jobs, such as their details, or only their jids.
    JobText(String),
    /// A number that is the whole text.
    Count(i64),
    /// A whole document as JSON.
    Document(Vec<u8>),
    /// Documents in one line each.
    Lines(Vec<u8>),
    Jids(Vec<Name>),
}
