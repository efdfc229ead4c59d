//! The table of findings in words: for `qless help findings`, and for the manual.

use std::fmt::Write;

use crate::model::finding::{Approval, BEYOND, FINDINGS, Finding, Severity, invariant};
use crate::model::known_deviations::{DEFECTS, TOLERATED};
use crate::text::wrapped;

/// Columns of a line of help.
const WIDTH: usize = 98;

/// Where what is said of a finding begins.
const INDENT: usize = 4;

/// Returns the topic of the help.
pub(crate) fn topic() -> String {
    let mut text = String::from(INTRODUCTION);
    text.push('\n');
    for severity in Severity::ALL {
        let (word, says) = (severity.word(), severity.says());
        _ = writeln!(text, "{word:<8}  {says}");
    }
    for finding in FINDINGS {
        _ = writeln!(text, "\n{} ({})", finding.id, standing(finding));
        for line in told(finding) {
            text.push_str(&wrapped(&line, WIDTH, INDENT));
        }
        for choice in finding.choices {
            text.push_str(&bullet(choice));
        }
    }
    text.push_str("\nWhat no look can tell:\n");
    for (number, says) in BEYOND {
        _ = writeln!(text, "    {}  {says}", invariant(*number));
    }
    text.push_str("\nWhat is no damage, though it may look like it:\n");
    for line in tolerated() {
        text.push_str(&bullet(&line));
    }
    text.push_str("\nWhat clients with the reference core leave behind, and is told:\n");
    for line in defects() {
        text.push_str(&bullet(&line));
    }
    text
}

fn bullet(line: &str) -> String {
    let lines = wrapped(line, WIDTH, INDENT + 2);
    format!("{:INDENT$}- {}", "", lines.trim_start())
}

/// Returns what is left as it is, a line each.
pub(crate) fn tolerated() -> Vec<String> {
    let lines = TOLERATED.iter().map(|shape| match shape.told {
        [] => shape.says.to_owned(),
        told => format!("{} (info: {})", shape.says, told.join(", ")),
    });
    lines.collect()
}

/// Returns what the defects of the reference leave behind, a line each.
pub(crate) fn defects() -> Vec<String> {
    let lines = DEFECTS.iter().map(|defect| {
        let told = defect.told.join(", ");
        format!("{told}: {} (D-{:02})", defect.says, defect.number)
    });
    lines.collect()
}

/// Returns the sections of the manual, without escapes: a heading, or a finding's name and where it
/// stands, then what is said of it, then its choices.
pub(crate) fn entries() -> Vec<(String, Vec<String>, &'static [&'static str])> {
    let of = |finding: &Finding| {
        let name = format!("{} ({})", finding.id, standing(finding));
        (name, told(finding), finding.choices)
    };
    FINDINGS.iter().map(of).collect()
}

pub(crate) const INTRODUCTION: &str = "\
Each finding of `qless check` has a name that is stable, a severity, and the invariants of the core
(I-01 to I-37) that it breaks. Where a repair asks, it mends only what `--only` names (`--only all`
names everything); what it only reports, and what it asks about, is for you to decide: the choices
stand below it.
";

/// Returns how bad it is and what it stands for.
fn standing(finding: &Finding) -> String {
    let mut words = vec![finding.severity.word().to_owned()];
    words.extend(finding.invariants());
    words.join(", ")
}

/// Returns the sentences about a finding.
fn told(finding: &Finding) -> Vec<String> {
    let mut told = vec![format!("{}.", capital(finding.problem))];
    for grade in finding.grades {
        told.push(format!(
            "{} {}.",
            capital(grade.severity.word()),
            grade.says
        ));
    }
    let when = match finding.consent {
        Approval::Unasked | Approval::Never => "",
        Approval::Asks => ", if named",
        Approval::Typed => ", if named, after a typed answer",
    };
    told.push(match finding.remedy {
        Some(remedy) => format!("Repair{when}: {} {}.", remedy.verb, remedy.what),
        None => "Never mended.".to_owned(),
    });
    for case in finding.cases {
        told.push(match case.consent {
            Approval::Never => format!("Not {}.", case.says),
            _ => format!("If named: {}.", case.says),
        });
    }
    told
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_is_told_with_its_choices() {
        let text = topic();
        for finding in FINDINGS {
            assert!(
                text.contains(&format!("\n{} (", finding.id)),
                "{}",
                finding.id
            );
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100));
    }
}
