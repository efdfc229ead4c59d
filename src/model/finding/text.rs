//! The table of findings as text, for `qless help findings` and the manual.

use std::fmt::Write;

use strum::VariantArray;

use super::{FINDINGS, FindingId, FindingKind, LIMITS, RepairApproval, Severity, invariant_name};
use crate::model::known_deviations::{DEFECTS, TOLERATED};
use crate::text::wrap_and_indent;

/// The width of a line of help.
const WIDTH: usize = 98;

/// The indent of the lines below the name of a finding.
const INDENT: usize = 4;

/// The text of `qless help findings`.
pub(crate) fn help_topic_text() -> String {
    let mut text = String::from(INTRODUCTION);
    text.push('\n');
    for severity in Severity::VARIANTS.iter().rev() {
        let (word, meaning) = (severity.into_str(), severity.severity_meaning());
        _ = writeln!(text, "{word:<8}  {meaning}");
    }
    for finding in &FINDINGS {
        _ = writeln!(
            text,
            "\n{} ({})",
            finding.id.into_str(),
            severity_and_invariants(finding)
        );
        for line in finding_sentences(finding) {
            text.push_str(&wrap_and_indent(&line, WIDTH, INDENT));
        }
        for choice in finding.choices {
            text.push_str(&bullet_item(choice));
        }
    }
    text.push_str("\nLimits of a scan:\n");
    for (number, says) in LIMITS {
        _ = writeln!(text, "    {}  {says}", invariant_name(*number));
    }
    text.push_str("\nNormal, though it may look damaged:\n");
    for line in tolerated_deviation_lines() {
        text.push_str(&bullet_item(&line));
    }
    text.push_str("\nLeft behind by clients with the reference core, and reported:\n");
    for line in reference_core_defect_lines() {
        text.push_str(&bullet_item(&line));
    }
    text
}

fn bullet_item(line: &str) -> String {
    let lines = wrap_and_indent(line, WIDTH, INDENT + 2);
    format!("{:INDENT$}- {}", "", lines.trim_start())
}

/// A line for each deviation from the invariants that is normal, so that no repair is necessary.
pub(crate) fn tolerated_deviation_lines() -> Vec<String> {
    let lines = TOLERATED.iter().map(|deviation| match deviation.findings {
        [] => deviation.says.to_owned(),
        findings => format!("{} (info: {})", deviation.says, finding_names(findings)),
    });
    lines.collect()
}

/// A line for each defect of the reference core, with the findings that it causes.
pub(crate) fn reference_core_defect_lines() -> Vec<String> {
    let lines = DEFECTS.iter().map(|defect| {
        let findings = finding_names(defect.findings);
        format!("{findings}: {} (D-{:02})", defect.says, defect.number)
    });
    lines.collect()
}

fn finding_names(findings: &[FindingId]) -> String {
    let names: Vec<&str> = findings.iter().map(|id| id.into_str()).collect();
    names.join(", ")
}

/// The texts about a finding in the manual. The writer of the manual escapes them.
pub(crate) struct ManualEntry {
    pub name: &'static str,
    pub severity_and_invariants: String,
    pub sentences: Vec<String>,
    pub choices: &'static [&'static str],
}

pub(crate) fn manual_entries() -> impl Iterator<Item = ManualEntry> {
    FINDINGS.iter().map(|finding| ManualEntry {
        name: finding.id.into_str(),
        severity_and_invariants: severity_and_invariants(finding),
        sentences: finding_sentences(finding),
        choices: finding.choices,
    })
}

pub(crate) const INTRODUCTION: &str = "\
Each finding of `qless check` has a stable name, a severity, and the invariants that it breaks: I-01
to I-37 are those of the core, E-01 to E-10 those of lanes, throttles and merge jobs. `Repair:` says
what `--repair` does; `if named` requires `--only` with the name; `--only all` names all findings
except `lost-key`. `--repair` leaves the other findings to you: the list below each has a command
for each choice.
";

fn severity_and_invariants(finding: &FindingKind) -> String {
    let mut words = vec![finding.severity.into_str().to_owned()];
    words.extend(finding.broken_invariant_names());
    words.join(", ")
}

fn finding_sentences(finding: &FindingKind) -> Vec<String> {
    let mut sentences = vec![format!("{}.", capitalize(finding.problem))];
    for grade in finding.grades {
        sentences.push(format!(
            "{} {}.",
            capitalize(grade.severity.into_str()),
            grade.says
        ));
    }
    let when = match finding.approval {
        RepairApproval::Automatic | RepairApproval::Never => "",
        RepairApproval::Named => ", if named",
        RepairApproval::Typed => ", if named, after a typed answer",
    };
    sentences.push(match finding.remedy {
        Some(remedy) => format!("Repair{when}: {} {}.", remedy.verb, remedy.what),
        None => "Never repaired.".to_owned(),
    });
    for case in finding.cases {
        sentences.push(match case.approval {
            RepairApproval::Never => format!("Not repaired: {}.", case.says),
            _ => format!("If named: {}.", case.says),
        });
    }
    sentences
}

fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_has_every_finding() {
        let text = help_topic_text();
        for finding in &FINDINGS {
            assert!(
                text.contains(&format!("\n{} (", finding.id.into_str())),
                "{}",
                finding.id.into_str()
            );
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100));
    }
}
