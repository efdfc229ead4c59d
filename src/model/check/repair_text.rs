//! The text output of `qless check --repair`: the plan, the Redis commands of a dry run, and the result.

use std::collections::BTreeMap;

use super::text::{COLUMNS as FOUND, EXAMPLES, count_or_minimum_cell, severity_cell};
use super::{CheckReport, DryRunRepair, RepairPlan, RepairReport, ReportedFinding};
use crate::model::finding::{FindingId, RepairApproval, Severity};
use crate::name::Name;
use crate::text::{
    Sanitized, format_duration_tenths_below_minute, is_harmful_to_terminal,
    with_thousands_separators,
};
use crate::view::document::DocumentKind;
use crate::view::json::NdjsonLines;
use crate::view::table::{Cell, Column, Heading, Table, column_headings};
use crate::view::{RenderOptions, View};

const COLUMNS: &[Column<ReportedFinding>] = &[
    Column::of_text("SEVERITY", |found, _| severity_cell(found.severity)),
    Column::of_text("FINDING", |found, _| {
        Cell::text(found.finding.id.into_str())
    }),
    Column::of_counts("REPAIRED", |found: &ReportedFinding| {
        found.repair_counts().repaired
    })
    .drop_rank(1),
    Column::of_counts("GONE", |found: &ReportedFinding| found.repair_counts().gone).drop_rank(5),
    Column::of_counts("REFUSED", |found: &ReportedFinding| {
        found.repair_counts().refused
    })
    .drop_rank(4),
    Column::of_counts("REMAINING", |found: &ReportedFinding| found.count).drop_rank(2),
    Column::of_free_text("ACTION", |found: &ReportedFinding, _| {
        Cell::pre_escaped(found.taken_action_text())
    })
    .drop_rank(3)
    .min_width(24),
];

impl ReportedFinding {
    /// What the repair did about the finding: `removed the id`, or `none` with the reason.
    fn taken_action_text(&self) -> String {
        let counts = self.repair_counts();
        match (counts.repaired, self.finding.remedy) {
            (1.., Some(remedy)) => format!("{} {}", remedy.past, remedy.what),
            _ if self.repairable > 0 || counts.gone + counts.refused > 0 => "none".to_owned(),
            _ if self.needs_only > 0 => "none, needs `--only`".to_owned(),
            _ => "none, report only".to_owned(),
        }
    }
}

impl View for RepairReport {
    const DOCUMENT: DocumentKind = CheckReport::DOCUMENT;

    fn headings() -> Vec<Heading> {
        column_headings(COLUMNS)
    }

    fn text(&self, options: &RenderOptions) -> String {
        Table::new(COLUMNS, &self.items, options).into_text(options)
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.items)
    }
}

impl RepairReport {
    /// The line with the totals of a repair: `6 repaired, 1 gone by itself in 0.4s`.
    pub(crate) fn totals_line(&self) -> String {
        let mut summary = format!(
            "{} repaired",
            with_thousands_separators(self.totals.repaired)
        );
        if self.totals.gone > 0 {
            summary.push_str(&format!(
                ", {} gone by itself",
                with_thousands_separators(self.totals.gone)
            ));
        }
        if self.totals.refused > 0 {
            summary.push_str(&format!(
                ", {} refused",
                with_thousands_separators(self.totals.refused)
            ));
        }
        if self.scan.elapsed_s.0 >= 0.05 {
            summary.push_str(&format!(
                " in {}",
                format_duration_tenths_below_minute(self.scan.elapsed_s.0)
            ));
        }
        summary
    }
}

impl View for RepairPlan {
    const DOCUMENT: DocumentKind = CheckReport::DOCUMENT;

    fn headings() -> Vec<Heading> {
        column_headings(FOUND)
    }

    fn text(&self, _: &RenderOptions) -> String {
        self.plan.iter().map(planned_commands).collect()
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.plan)
    }
}

/// The Redis commands of one planned repair, below a comment line (`#`) that names the finding.
pub(crate) fn planned_commands(planned: &DryRunRepair) -> String {
    let mut text = format!("# {}", planned.finding);
    for word in [&planned.item, &planned.detail] {
        if !word.is_empty() {
            text.push(' ');
            text.push_str(&word.to_string());
        }
    }
    text.push('\n');
    for command in &planned.commands {
        text.push_str(command);
        text.push('\n');
    }
    text
}

/// A Redis command as a line for redis-cli. Words are quoted if necessary. Bytes that could control a terminal are
/// written as `\xNN`.
pub(crate) fn redis_cli_line(words: &[Name]) -> String {
    let words: Vec<String> = words.iter().map(redis_cli_word).collect();
    words.join(" ")
}

fn redis_cli_word(word: &Name) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.,:/@%+=".contains(byte);
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut text = String::from("\"");
    let escape = |text: &mut String, bytes: &[u8]| {
        for byte in bytes {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    };
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' | '\\' => text.extend(['\\', letter]),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                letter if is_harmful_to_terminal(letter) => {
                    escape(&mut text, letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                letter => text.push(letter),
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text.push('"');
    text
}

const PLAN: &[Column<ReportedFinding>] = &[
    Column::of_text("FINDING", |found, _| {
        Cell::text(found.finding.id.into_str())
    }),
    Column::of_numbers("COUNT", |found: &ReportedFinding, options| {
        count_or_minimum_cell(found.repairable, found, options)
    })
    .drop_rank(1),
    Column::of_free_text("ACTION", |found: &ReportedFinding, _| {
        let remedy = found.finding.remedy;
        let action = remedy.map(|remedy| format!("{} {}", remedy.verb, remedy.what));
        Cell::pre_escaped(action.unwrap_or_default())
    })
    .drop_rank(2)
    .min_width(24),
    EXAMPLES,
];

/// The indent of each line of the plan.
const INDENT: &str = "  ";

/// The plan warns if at least this number of jobs are in no set of their queue: a queue may have lost all its jobs.
const MANY_LOST: u64 = 10;

/// The plan of a repair: a table with the action for each finding, then the decisions that remain for the operator.
pub(crate) fn plan_text(items: &[ReportedFinding], options: &RenderOptions) -> String {
    let repairable = items.iter().filter(|found| found.repairable > 0);
    let table = Table::new(PLAN, repairable, options);
    let plain = RenderOptions {
        headers: true,
        width: options.width.saturating_sub(INDENT.len()),
        choice: Default::default(),
        ..options.clone()
    };
    let table = table.into_text(&plain);
    let mut text: String = table
        .lines()
        .map(|line| format!("{INDENT}{line}\n"))
        .collect();
    let many = |found: &ReportedFinding| {
        found.finding.id == FindingId::InNoSet && found.repairable >= MANY_LOST
    };
    if items.iter().any(many) {
        text.push_str(
            "\n  if a whole queue was lost, a backup may be better: it has the position of each job\n",
        );
    }
    let decisions = decisions_for_operator_text(items, Severity::Info);
    if !decisions.is_empty() {
        text.push('\n');
        text.push_str(&decisions);
    }
    text
}

/// The findings that the repair leaves for the operator to decide, each with the commands to choose from.
pub(crate) fn decisions_for_operator_text(
    items: &[ReportedFinding],
    needs_only_from: Severity,
) -> String {
    let mut text = String::new();
    let undecided = |found: &&ReportedFinding| {
        let remaining = found.count > found.repairable;
        remaining
            && (found.severity >= Severity::Warn
                || found.needs_only > 0 && found.severity >= needs_only_from)
    };
    for found in items.iter().filter(undecided) {
        if text.is_empty() {
            text.push_str("  not repaired, because you have to decide:\n");
        }
        let (name, count) = (
            found.finding.id.into_str(),
            with_thousands_separators(found.count - found.repairable),
        );
        text.push_str(&format!("  {name}, {count}: {}\n", found.finding.problem));
        for choice in found.choices_with_commands() {
            text.push_str(&format!("    {choice}\n"));
        }
    }
    text
}

pub(crate) fn changes_by_finding_text(counts: &BTreeMap<String, u64>) -> String {
    let wide = counts.keys().map(String::len).max().unwrap_or(0);
    let lines = counts.iter().map(|(finding, count)| {
        let count = with_thousands_separators(*count);
        format!("  {:<wide$}  {count}\n", Sanitized(finding).to_string())
    });
    lines.collect()
}

/// The number of keys that the repair deletes. `--revert` cannot restore them.
pub(crate) fn count_keys_to_delete(items: &[ReportedFinding]) -> u64 {
    let needs_typed_answer =
        |found: &&ReportedFinding| found.finding.approval == RepairApproval::Typed;
    items
        .iter()
        .filter(needs_typed_answer)
        .map(|found| found.repairable)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_redis_cli() {
        for (word, spelling) in [
            (&b"ql:q:mail-work"[..], "ql:q:mail-work"),
            (b"-163.5", "-163.5"),
            (b"", "\"\""),
            (b"two words", "\"two words\""),
            (b"it's", "\"it's\""),
            (b"{\"a\":\"\\\"}", "\"{\\\"a\\\":\\\"\\\\\\\"}\""),
            (b"a\nb\x1b[31m\xff", "\"a\\nb\\x1b[31m\\xff\""),
            ("ü\u{202e}".as_bytes(), "\"ü\\xe2\\x80\\xae\""),
        ] {
            assert_eq!(redis_cli_word(&Name::from(word)), spelling);
        }
    }
}
