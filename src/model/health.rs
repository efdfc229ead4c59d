//! Whether all is well: limits, and what was found beyond them.

use schemars::JsonSchema;
use serde::Serialize;

use super::pattern::Pattern;
use crate::exit::Exit;
use crate::json::Number;
use crate::name::Name;
use crate::view::document::DocumentKind;
use crate::view::paint::{Style, StyleMarker};
use crate::view::{NdjsonLines, RenderOptions, View};

/// A limit, of the queues or groups that match, or of all.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub subject: Option<Pattern>,
    pub threshold: Threshold,
}

/// From where on a value is a warning, and critical.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    pub warning: f64,
    pub critical: f64,
}

/// The limits that were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    pub max_waiting: Vec<Bound>,
    pub max_head_wait: Vec<Bound>,
    pub max_failed: Vec<Bound>,
    pub max_stalled: Vec<Bound>,
    pub max_paused: Vec<Bound>,
    pub min_workers: Vec<Bound>,
}

/// How bad something is, in the order of badness.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum HealthLevel {
    #[default]
    Ok,
    Warning,
    Critical,
}

/// What was measured against a limit, or a problem.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct HealthItem {
    /// The limit, such as max_waiting, or the code of a problem
    pub check: String,
    /// The queue that it is about
    pub queue: Option<Name>,
    /// The group of failures
    pub group: Option<Name>,
    /// One of ok, warning or critical
    pub level: HealthLevel,
    /// The sentence for people
    pub message: String,
    /// The value, in jobs, workers or seconds; null for a problem
    pub value: Option<Number>,
    /// From where on it is a warning
    pub warning: Option<Number>,
    /// From where on it is critical
    pub critical: Option<Number>,
}

/// Whether all is well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Health {
    /// The worst level: one of ok, warning or critical
    pub level: HealthLevel,
    /// The worst first
    pub items: Vec<HealthItem>,
}

impl Health {
    /// The verdict on these items.
    pub(crate) fn of_items(mut items: Vec<HealthItem>) -> Health {
        items.sort_by_key(|item| std::cmp::Reverse(item.level));
        let level = items.first().map_or(HealthLevel::Ok, |item| item.level);
        Health { level, items }
    }

    /// The exit code: a limit is reached, or not.
    pub(crate) fn exit(&self) -> Exit {
        match self.level {
            HealthLevel::Ok => Exit::Ok,
            HealthLevel::Warning | HealthLevel::Critical => Exit::Threshold,
        }
    }

    /// The line of a plugin for Nagios: what is wrong, then the values after a bar.
    pub(crate) fn nagios_line(&self) -> String {
        let wrong = self
            .items
            .iter()
            .filter(|item| item.level > HealthLevel::Ok);
        let wrong: Vec<&str> = wrong.map(|item| item.message.as_str()).collect();
        let what = match (wrong.as_slice(), self.items.len()) {
            ([], 0) => "all is well".to_owned(),
            ([], items) => format!("{items} within limits"),
            (wrong, _) => wrong.join("; "),
        };
        let values = self.items.iter().filter_map(HealthItem::performance_data);
        let values: Vec<String> = values.collect();
        let values = match values.as_slice() {
            [] => String::new(),
            values => format!(" | {}", values.join(" ")),
        };
        let level: &str = self.level.into();
        // A bar ends the text.
        format!("QLESS {level} - {}{values}\n", what.replace('|', "/"))
    }
}

impl HealthItem {
    /// `'mail max_waiting'=1204;1000;5000;0`; a quote in a name is doubled, and `=` may not stand in it.
    fn performance_data(&self) -> Option<String> {
        let [value, warning, critical] = [&self.value, &self.warning, &self.critical]
            .map(|number| number.as_ref().map(|number| number.0));
        let subject = self.queue.as_ref().or(self.group.as_ref());
        let label = match subject {
            Some(subject) => format!("{subject} {}", self.check),
            None => self.check.clone(),
        };
        let label = label.replace('\'', "''").replace(['=', '|'], "_");
        let unit = if self.check.ends_with("wait") || self.check.ends_with("paused") {
            "s"
        } else {
            ""
        };
        Some(format!(
            "'{label}'={}{unit};{};{};0",
            value?, warning?, critical?
        ))
    }
}

impl View for Health {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<Health>("health", "Whether all is well: health");

    fn text(&self, page: &RenderOptions) -> String {
        let marks = StyleMarker::new(page.color);
        let mut text = String::new();
        for item in &self.items {
            let (sign, style) = match item.level {
                HealthLevel::Ok => ("✓", Style::Green),
                HealthLevel::Warning => ("!", Style::Yellow),
                HealthLevel::Critical => ("✗", Style::Red),
            };
            let sign = marks.mark_text(sign, Some(style));
            text.push_str(&format!("{sign} {}\n", item.message));
        }
        if self.items.is_empty() {
            text.push_str("✓ all is well\n");
        }
        text
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.items)
    }
}
