//! The text output of `qless check`: a row for each finding, the worst first. With `--repair`, the plan, the Redis
//! commands of a dry run, and the result.

use std::collections::BTreeMap;

use super::{CheckReport, FindingRepairCommands, RepairReport, ReportedFinding};
use crate::model::finding::{ExampleForm, FindingId, RepairApproval, Severity};
use crate::model::jid_labels::FullOrShortJids;
use crate::model::verdict::Verdict;
use crate::name::Name;
use crate::text::{
    Sanitized, format_count, format_duration_tenths_below_minute, is_harmful_to_terminal,
    with_thousands_separators,
};
use crate::view::document::DocumentKind;
use crate::view::json::NdjsonLines;
use crate::view::paint::Style;
use crate::view::table::{Cell, Column, Heading, Table, column_headings};
use crate::view::{RenderOptions, View};

const COLUMNS: &[Column<ReportedFinding>] = &[
    SEVERITY,
    FINDING,
    Column::of_numbers("COUNT", |found: &ReportedFinding, options| {
        count_or_minimum_cell(found.count, found, options)
    })
    .drop_rank(1),
    Column::of_free_text("PROBLEM", |found: &ReportedFinding, _| {
        Cell::text(found.finding.problem)
    })
    .drop_rank(2)
    .min_width(24),
    EXAMPLES,
];

impl View for CheckReport {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<CheckReport>("check", "Inconsistent data: check")
            .add_fields_of::<RepairReport>();

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

impl CheckReport {
    /// The extent of the scan in a line.
    pub(crate) fn scan_headline(&self) -> String {
        let [keys, jobs, queues] = [
            format_count(self.scan.counts.keys, "key", "keys"),
            format_count(self.scan.counts.jobs, "job", "jobs"),
            format_count(self.scan.counts.queues, "queue", "queues"),
        ];
        let elapsed = format_duration_tenths_below_minute(self.scan.elapsed_s.0);
        format!("scanned {keys}, {jobs}, {queues} in {elapsed}")
    }
}

/// The cell for a count of a finding. `+` marks a lower bound: `412+`.
fn count_or_minimum_cell(count: u64, finding: &ReportedFinding, options: &RenderOptions) -> Cell {
    let more = if finding.at_least { "+" } else { "" };
    Cell::sorted_by(count as f64, options.count(count) + more)
}

/// The cell for a severity, in its color. In a sorted column, the worst severity is first.
fn severity_cell(severity: Severity) -> Cell {
    let rank = Severity::Critical as u8 - severity as u8;
    let style = match severity {
        Severity::Critical | Severity::Error => Style::Red,
        Severity::Warn => Style::Yellow,
        Severity::Info => Style::Dim,
    };
    Cell::sorted_by(f64::from(rank), severity.into_str()).with_style(Some(style))
}

const SEVERITY: Column<ReportedFinding> =
    Column::of_text("SEVERITY", |found, _| severity_cell(found.severity));

const FINDING: Column<ReportedFinding> = Column::of_text("FINDING", |found, _| {
    Cell::text(found.finding.id.into_str())
});

/// The column with the examples of a finding, in the tables of `check` and of the plan.
const EXAMPLES: Column<ReportedFinding> =
    Column::of_free_text("EXAMPLES", |found: &ReportedFinding, options| {
        Cell::pre_escaped(examples_line(found, options.terminal))
    })
    .drop_rank(3)
    .min_width(14);

/// The examples of a finding in one line, each with its jid or name and its detail.
fn examples_line(found: &ReportedFinding, may_shorten: bool) -> String {
    let items = found.examples.iter().map(|example| &example.item);
    let names = FullOrShortJids::new(items, may_shorten);
    let form = found.finding.form;
    if form == ExampleForm::JidIn {
        return examples_by_location(&found.examples, &names);
    }
    let examples = found.examples.iter().map(|example| {
        let detail = example.detail.to_string();
        match form {
            ExampleForm::Needs => format!(
                "{} needs {}",
                names.jid_label(&example.item),
                names.jid_label(&example.detail)
            ),
            ExampleForm::Chain => format!("{} needs {detail}", example.item),
            ExampleForm::Jid => names.jid_label(&example.item),
            ExampleForm::Name => example.item.to_string(),
            ExampleForm::JidIs => name_and_detail(names.jid_label(&example.item), detail),
            ExampleForm::NameIs | ExampleForm::JidIn => {
                name_and_detail(example.item.to_string(), detail)
            }
        }
    });
    examples.collect::<Vec<_>>().join(", ")
}

fn name_and_detail(name: String, detail: String) -> String {
    if detail.is_empty() {
        name
    } else {
        format!("{name}: {detail}")
    }
}

/// `mail: 3f2a…, 81c0…; images: 7d1f…`
fn examples_by_location(examples: &[Verdict], names: &FullOrShortJids) -> String {
    let mut locations: Vec<(&Name, Vec<String>)> = Vec::new();
    for example in examples {
        let name = names.jid_label(&example.item);
        match locations
            .iter_mut()
            .find(|(location, _)| **location == example.detail)
        {
            Some((_, list)) => list.push(name),
            None => locations.push((&example.detail, vec![name])),
        }
    }
    let lists = locations
        .into_iter()
        .map(|(location, list)| match location.as_bytes() {
            b"" => list.join(", "),
            _ => format!("{location}: {}", list.join(", ")),
        });
    lists.collect::<Vec<_>>().join("; ")
}

const REPAIR_COLUMNS: &[Column<ReportedFinding>] = &[
    SEVERITY,
    FINDING,
    Column::of_counts("REPAIRED", |found: &ReportedFinding| {
        found.repair_counts_or_zeros().repaired
    })
    .drop_rank(1),
    Column::of_counts("GONE", |found: &ReportedFinding| {
        found.repair_counts_or_zeros().gone
    })
    .drop_rank(5),
    Column::of_counts("REFUSED", |found: &ReportedFinding| {
        found.repair_counts_or_zeros().refused
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
        let counts = self.repair_counts_or_zeros();
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
        column_headings(REPAIR_COLUMNS)
    }

    fn text(&self, options: &RenderOptions) -> String {
        Table::new(REPAIR_COLUMNS, &self.items, options).into_text(options)
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.items)
    }
}

impl RepairReport {
    /// The line with the totals of a repair: `6 repaired, 1 gone by itself in 0.4s`.
    pub(crate) fn repair_totals_line(&self) -> String {
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

/// The Redis commands of one planned repair, below a comment line (`#`) that names the finding.
pub(crate) fn planned_commands(planned: &FindingRepairCommands) -> String {
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
    FINDING,
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
    use crate::json::Number;
    use crate::model::check::{ScanCounts, ScanSummary};

    /// A finding with examples: item and detail each.
    fn found(id: &str, examples: &[(&str, &str)]) -> ReportedFinding {
        let id = FindingId::from_name(id).unwrap();
        ReportedFinding {
            count: examples.len() as u64,
            examples: examples
                .iter()
                .map(|(item, detail)| {
                    Verdict::report_only(id, Name::from(*item), Name::from(*detail))
                })
                .collect(),
            ..ReportedFinding::new(id, id.row().severity)
        }
    }

    #[test]
    fn examples_have_the_form_of_their_finding() {
        let shown = |id: &str, list: &[(&str, &str)]| examples_line(&found(id, list), true);
        let (one, other) = ("3f2a4c5d6e7f8091", "81c04c5d6e7f8091");
        assert_eq!(
            shown(
                "ghost-waiting",
                &[(one, "images"), (one, "mail"), (other, "mail")]
            ),
            "images: 3f2a4c5d…; mail: 3f2a4c5d…, 81c04c5d…"
        );
        assert_eq!(
            shown("dependency-missing", &[(one, "p-77")]),
            "3f2a4c5d… needs p-77"
        );
        assert_eq!(
            shown("tag-count", &[("eu", "412, is 409")]),
            "eu: 412, is 409"
        );
        assert_eq!(shown("depends-on-nothing", &[("j\x1b", "")]), "j\\x1b");
        // Two jids that would look the same are printed in full.
        assert_eq!(
            shown(
                "tracked-gone",
                &[("3f2a4c5d6e7f", ""), ("3f2a4c5d6e80", "")]
            ),
            "3f2a4c5d6e7f, 3f2a4c5d6e80"
        );
    }

    #[test]
    fn a_finding_takes_a_row() {
        let mut tag_count = found("tag-count", &[("eu", "412, is 409")]);
        tag_count.at_least = true;
        let scan = ScanSummary {
            counts: ScanCounts {
                keys: 84_112,
                jobs: 61_903,
                queues: 14,
            },
            elapsed_s: Number(3.1),
            complete: true,
            clean: false,
            fail_on: Severity::Warn,
            causes: Vec::new(),
        };
        let check = CheckReport {
            scan,
            items: vec![
                found("ghost-waiting", &[("3f2a4c5d6e7f", "mail")]),
                tag_count,
            ],
            dry_run: None,
            plan: None,
        };
        assert_eq!(
            check.scan_headline(),
            "scanned 84,112 keys, 61,903 jobs, 14 queues in 3.1s"
        );
        expect_test::expect![[r#"
            SEVERITY  FINDING        COUNT  PROBLEM                                          EXAMPLES
            critical  ghost-waiting      1  id waits in a queue, the job does not exist      mail: 3f2a4c5d6e7f
            warn      tag-count         1+  count of a tag in `tags` differs from its index  eu: 412, is 409
        "#]]
        .assert_eq(&check.text(&RenderOptions::terminal_without_color(100)));
        expect_test::expect![[r#"
            critical	ghost-waiting	1	id waits in a queue, the job does not exist	mail: 3f2a4c5d6e7f
            warn	tag-count	1+	count of a tag in `tags` differs from its index	eu: 412, is 409
        "#]]
        .assert_eq(&check.text(&RenderOptions::pipe()));
    }

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
