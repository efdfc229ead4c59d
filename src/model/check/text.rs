//! The text output of `qless check`: a row for each finding, the worst first.

use super::{CheckReport, ReportedFinding};
use crate::model::check::{RepairPlan, RepairReport};
use crate::model::finding::{ExampleForm, Severity};
use crate::model::jid_labels::JidLabels;
use crate::model::verdict::Verdict;
use crate::name::Name;
use crate::text;
use crate::view::document::DocumentKind;
use crate::view::json::NdjsonLines;
use crate::view::paint::Style;
use crate::view::table::{Cell, Column, Heading, Table, column_headings};
use crate::view::{RenderOptions, View};

pub(crate) const COLUMNS: &[Column<ReportedFinding>] = &[
    Column::of_text("SEVERITY", |found, _| severity_cell(found.severity)),
    Column::of_text("FINDING", |found, _| {
        Cell::text(found.finding.id.into_str())
    }),
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
            .add_fields_of::<RepairReport>()
            .add_fields_of::<RepairPlan>();

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
            text::format_count(self.scan.counts.keys, "key", "keys"),
            text::format_count(self.scan.counts.jobs, "job", "jobs"),
            text::format_count(self.scan.counts.queues, "queue", "queues"),
        ];
        let elapsed = text::format_duration_tenths_below_minute(self.scan.elapsed_s.0);
        format!("scanned {keys}, {jobs}, {queues} in {elapsed}")
    }
}

/// The cell for a count of a finding. `+` marks a lower bound: `412+`.
pub(crate) fn count_or_minimum_cell(
    count: u64,
    finding: &ReportedFinding,
    options: &RenderOptions,
) -> Cell {
    let more = if finding.at_least { "+" } else { "" };
    Cell::sorted_by(count as f64, options.count(count) + more)
}

/// The cell for a severity, in its color. In a sorted column, the worst severity is first.
pub(crate) fn severity_cell(severity: Severity) -> Cell {
    let rank = Severity::Critical as u8 - severity as u8;
    let style = match severity {
        Severity::Critical | Severity::Error => Style::Red,
        Severity::Warn => Style::Yellow,
        Severity::Info => Style::Dim,
    };
    Cell::sorted_by(f64::from(rank), severity.into_str()).with_style(Some(style))
}

/// The column with the examples of a finding, in the tables of `check` and `check --repair`.
pub(crate) const EXAMPLES: Column<ReportedFinding> =
    Column::of_free_text("EXAMPLES", |found: &ReportedFinding, options| {
        Cell::pre_escaped(examples_line(found, options.terminal))
    })
    .drop_rank(3)
    .min_width(14);

/// The examples of a finding in one line, each with its jid or name and its detail.
fn examples_line(found: &ReportedFinding, may_shorten: bool) -> String {
    let items = found.examples.iter().map(|example| &example.item);
    let names = JidLabels::new(items, may_shorten);
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
fn examples_by_location(examples: &[Verdict], names: &JidLabels) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Number;
    use crate::model::check::{ScanCounts, ScanSummary};
    use crate::model::finding::FindingId;

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
        let (one, other) = ("3f2a4c5d6e7f", "81c04c5d6e7f");
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
        };
        assert_eq!(
            check.scan_headline(),
            "scanned 84,112 keys, 61,903 jobs, 14 queues in 3.1s"
        );
        expect_test::expect![[r#"
            SEVERITY  FINDING        COUNT  PROBLEM                                          EXAMPLES
            critical  ghost-waiting      1  id waits in a queue, the job does not exist      mail: 3f2a4c5d…
            warn      tag-count         1+  count of a tag in `tags` differs from its index  eu: 412, is 409
        "#]]
        .assert_eq(&check.text(&RenderOptions::terminal_without_color(100)));
        expect_test::expect![[r#"
            critical	ghost-waiting	1	id waits in a queue, the job does not exist	mail: 3f2a4c5d6e7f
            warn	tag-count	1+	count of a tag in `tags` differs from its index	eu: 412, is 409
        "#]]
        .assert_eq(&check.text(&RenderOptions::pipe()));
    }
}
