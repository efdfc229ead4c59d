//! The detail view of one thing: a name and its value on each line.

use super::RenderOptions;
use super::paint::{Style, TextStyler};
use super::table::NONE;
use crate::name::Name;
use crate::text;
use crate::text::comma_list;

/// The lines of a detail view: in columns on a terminal, tab-separated in a pipe.
pub(crate) struct DetailLines<'a> {
    options: &'a RenderOptions,
    lines: Vec<DetailLine>,
}

struct DetailLine {
    name: &'static str,
    value: String,
    value_style: Option<Style>,
    remark: String,
}

impl<'a> DetailLines<'a> {
    pub(crate) fn new(options: &'a RenderOptions) -> DetailLines<'a> {
        DetailLines {
            options,
            lines: Vec::new(),
        }
    }

    /// Adds a line with a name and a value. Sanitizes the value.
    pub(crate) fn add_line(&mut self, name: &'static str, value: impl AsRef<[u8]>) {
        self.add_line_with_remark(name, value, None, String::new());
    }

    /// Adds a line with a name and a value. A missing value is shown as `–`.
    pub(crate) fn add_line_or_missing(
        &mut self,
        name: &'static str,
        value: Option<impl AsRef<[u8]>>,
    ) {
        match value {
            Some(value) => self.add_line(name, value),
            None => self.add_line(name, NONE),
        }
    }

    /// Adds a line whose value is a name. In a pipe, each backslash of the name is doubled.
    pub(crate) fn add_name_line(&mut self, name: &'static str, value: &Name) {
        self.add_line(name, self.options.name(value));
    }

    /// Adds a line whose value is a name. A missing name is shown as `–`.
    pub(crate) fn add_name_line_or_missing(&mut self, name: &'static str, value: Option<&Name>) {
        self.add_line_or_missing(name, value.map(|value| self.options.name(value)));
    }

    /// Adds a line whose value is a list of names. An empty list is shown as `–`.
    pub(crate) fn add_names_line_or_missing(&mut self, name: &'static str, values: &[Name]) {
        let list = comma_list(values.iter().map(|value| self.options.name(value)));
        let list = Some(list).filter(|list| !list.is_empty());
        self.add_line_or_missing(name, list);
    }

    /// Adds a line with a value in `value_style`, and a remark after it. The caller has sanitized the remark.
    pub(crate) fn add_line_with_remark(
        &mut self,
        name: &'static str,
        value: impl AsRef<[u8]>,
        value_style: Option<Style>,
        remark: String,
    ) {
        let value = text::sanitize_to_line(value.as_ref());
        self.lines.push(DetailLine {
            name,
            value,
            value_style,
            remark,
        });
    }

    /// The text. The remarks are aligned.
    pub(crate) fn into_text(self) -> String {
        let marks = TextStyler::new(self.options.color);
        let names = self
            .lines
            .iter()
            .map(|line| text::width(line.name))
            .max()
            .unwrap_or(0);
        let remarked = self.lines.iter().filter(|line| !line.remark.is_empty());
        let values = remarked
            .map(|line| text::width(&line.value))
            .max()
            .unwrap_or(0);
        let mut text = String::new();
        for line in &self.lines {
            let value = marks.mark_text(&line.value, line.value_style);
            let gap = values.saturating_sub(text::width(&line.value)) + 4;
            let line = match (self.options.terminal, line.remark.is_empty()) {
                (true, true) => format!("{:names$}  {value}\n", line.name),
                (true, false) => {
                    format!("{:names$}  {value}{:gap$}{}\n", line.name, "", line.remark)
                }
                (false, true) => format!("{}\t{value}\n", line.name),
                (false, false) => format!("{}\t{value}\t{}\n", line.name, line.remark),
            };
            text.push_str(&line);
        }
        marks.marks_to_ansi_codes(text)
    }
}
