//! The findings of a scan: a row for each, the worst first.

use std::collections::HashSet;

use super::{Check, Example, ReportedFinding};
use crate::model::finding::{ExampleForm, Severity};
use crate::model::repair::{RepairPlan, Repaired};
use crate::name::Name;
use crate::text;
use crate::view::document::DocumentKind;
use crate::view::json::NdjsonLines;
use crate::view::paint::Style;
use crate::view::table::{Cell, Column, Heading, Table, headings};
use crate::view::{RenderOptions, View};

pub(crate) const COLUMNS: &[Column<ReportedFinding>] = &[
    Column::text("SEVERITY", |found, _| severity(found.severity)),
    Column::text("FINDING", |found, _| {
        Cell::text(found.finding.id.into_str())
    }),
    Column::number("COUNT", |found: &ReportedFinding, page| {
        count(found.count, found, page)
    })
    .rank(1),
    Column::free("PROBLEM", |found: &ReportedFinding, _| {
        Cell::text(found.finding.problem)
    })
    .rank(2)
    .least(24),
    Column::free("EXAMPLES", |found: &ReportedFinding, page| {
        Cell::escaped(examples(found, page.terminal))
    })
    .rank(3)
    .least(14),
];

impl View for Check {
    const DOCUMENT: DocumentKind = DocumentKind::new::<Check>("check", "Inconsistent data: check")
        .or::<Repaired>()
        .or::<RepairPlan>();

    fn headings() -> Vec<Heading> {
        headings(COLUMNS)
    }

    fn text(&self, page: &RenderOptions) -> String {
        Table::new(COLUMNS, &self.items, page).draw(page)
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.items(&self.items)
    }
}

impl Check {
    /// The extent of the scan in a line.
    pub(crate) fn headline(&self) -> String {
        let [keys, jobs, queues] = [
            text::plural(self.scan.keys, "key", "keys"),
            text::plural(self.scan.jobs, "job", "jobs"),
            text::plural(self.scan.queues, "queue", "queues"),
        ];
        let took = text::measure(self.scan.elapsed_s.0);
        format!("scanned {keys}, {jobs}, {queues} in {took}")
    }
}

/// A count of a finding; `+` marks a lower bound.
pub(crate) fn count(count: u64, of: &ReportedFinding, page: &RenderOptions) -> Cell {
    let more = if of.at_least { "+" } else { "" };
    Cell::by(count as f64, page.count(count) + more)
}

/// A severity in its color; the worst sorts first.
pub(crate) fn severity(severity: Severity) -> Cell {
    Cell::by(rank(severity), severity.into_str()).ink(severity_style(severity))
}

fn rank(severity: Severity) -> f64 {
    f64::from(Severity::Critical as u8 - severity as u8)
}

fn severity_style(severity: Severity) -> Option<Style> {
    match severity {
        Severity::Critical | Severity::Error => Some(Style::Red),
        Severity::Warn => Some(Style::Yellow),
        Severity::Info => Some(Style::Dim),
    }
}

/// The examples in a line: location, name, and detail of each.
pub(crate) fn examples(found: &ReportedFinding, shortened: bool) -> String {
    let names = JidLabels::new(&found.examples, shortened);
    let form = found.finding.form;
    if form == ExampleForm::JidIn {
        return by_location(&found.examples, &names);
    }
    let examples = found.examples.iter().map(|example| {
        let detail = example.detail.to_string();
        match form {
            ExampleForm::Needs => format!(
                "{} needs {}",
                names.name(&example.item),
                names.name(&example.detail)
            ),
            ExampleForm::Chain => format!("{} needs {detail}", example.item),
            ExampleForm::Jid => names.name(&example.item),
            ExampleForm::Name => example.item.to_string(),
            ExampleForm::JidIs => joined(names.name(&example.item), detail),
            ExampleForm::NameIs | ExampleForm::JidIn => joined(example.item.to_string(), detail),
        }
    });
    examples.collect::<Vec<_>>().join(", ")
}

fn joined(name: String, detail: String) -> String {
    if detail.is_empty() {
        name
    } else {
        format!("{name}: {detail}")
    }
}

/// `mail: 3f2a…, 81c0…; images: 7d1f…`
fn by_location(examples: &[Example], names: &JidLabels) -> String {
    let mut locations: Vec<(&Name, Vec<String>)> = Vec::new();
    for example in examples {
        let name = names.name(&example.item);
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

/// How jids are printed: cut, unless two of them would look the same.
struct JidLabels {
    shortened: bool,
}

impl JidLabels {
    fn new(examples: &[Example], shortened: bool) -> JidLabels {
        let items: HashSet<&Name> = examples.iter().map(|example| &example.item).collect();
        let short: HashSet<String> = items.iter().map(text::short).collect();
        let shortened = shortened && short.len() == items.len();
        JidLabels { shortened }
    }

    fn name(&self, jid: &Name) -> String {
        if self.shortened {
            text::short(jid)
        } else {
            jid.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Number;
    use crate::model::check::Scan;
    use crate::model::finding::FindingId;

    /// A finding with examples: item and detail each.
    fn found(id: &str, examples: &[(&str, &str)]) -> ReportedFinding {
        let id = FindingId::named(id).unwrap();
        ReportedFinding {
            count: examples.len() as u64,
            examples: examples
                .iter()
                .map(|(item, detail)| Example::new(Name::from(*item), Name::from(*detail)))
                .collect(),
            ..ReportedFinding::new(id, id.row().severity)
        }
    }

    #[test]
    fn examples_have_the_form_of_their_finding() {
        let shown = |id: &str, list: &[(&str, &str)]| examples(&found(id, list), true);
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
        let scan = Scan {
            keys: 84_112,
            jobs: 61_903,
            queues: 14,
            elapsed_s: Number(3.1),
            complete: true,
            clean: false,
            fail_on: Severity::Warn,
            causes: Vec::new(),
        };
        let check = Check {
            scan,
            items: vec![
                found("ghost-waiting", &[("3f2a4c5d6e7f", "mail")]),
                tag_count,
            ],
        };
        assert_eq!(
            check.headline(),
            "scanned 84,112 keys, 61,903 jobs, 14 queues in 3.1s"
        );
        expect_test::expect![[r#"
            SEVERITY  FINDING        COUNT  PROBLEM                                          EXAMPLES
            critical  ghost-waiting      1  id waits in a queue, the job does not exist      mail: 3f2a4c5d…
            warn      tag-count         1+  count of a tag in `tags` differs from its index  eu: 412, is 409
        "#]]
        .assert_eq(&check.text(&RenderOptions::terminal(100)));
        expect_test::expect![[r#"
            critical	ghost-waiting	1	id waits in a queue, the job does not exist	mail: 3f2a4c5d6e7f
            warn	tag-count	1+	count of a tag in `tags` differs from its index	eu: 412, is 409
        "#]]
        .assert_eq(&check.text(&RenderOptions::pipe()));
    }
}
