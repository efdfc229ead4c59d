//! The last step of a test: no inconsistency is left. Three sources must agree: the core that verifies
//! everything, the scan of the binary, and the second, plain implementation of the invariants.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use expect_test::Expect;
use serde_json::Value;

use super::check_calls::{Finding, INFO, describe_all, stable_detail, verify_all};
use super::core::{Core, Dump, shown};
use super::qless::Qless;
use super::redis::Redis;
use crate::check::invariants::{Excuses, broken};

impl Redis {
    /// Fails if anything is damaged, or if the sources disagree.
    #[track_caller]
    pub fn must_be_clean(&self) {
        Core::over(self).must_be_clean(clock(), Excuses::default());
    }

    /// Compares the findings of `warn` and above, and what the second implementation reports.
    #[track_caller]
    pub fn must_report(&self, expected: Expect) {
        let printed = Core::over(self).damage(clock(), Excuses::default());
        expected.assert_eq(&printed.unwrap_or_else(|fault| panic!("{fault}")));
    }
}

impl Core {
    /// Fails if anything is damaged, or if the sources disagree.
    #[track_caller]
    pub(crate) fn must_be_clean(&mut self, now: f64, excuses: Excuses) {
        match self.damage(now, excuses) {
            Ok(printed) if printed.is_empty() => {}
            Ok(printed) => panic!("not clean:\n{printed}"),
            Err(fault) => panic!("{fault}"),
        }
    }

    /// The findings without an excuse, one per line; an error if the sources disagree.
    pub(crate) fn damage(&mut self, now: f64, excuses: Excuses) -> Result<String, String> {
        let (found, doubts) = self.agreed(now, excuses)?;
        binary_agrees(&self.qless(), now, &found)?;
        Ok(lines(&alarms(found, excuses), doubts))
    }

    /// The same without the binary, for tests that ask thousands of times.
    pub(crate) fn damage_within(&mut self, now: f64, excuses: Excuses) -> Result<String, String> {
        let (found, doubts) = self.agreed(now, excuses)?;
        Ok(lines(&alarms(found, excuses), doubts))
    }

    /// The findings, and what the second implementation reports about the same keys.
    fn agreed(
        &mut self,
        now: f64,
        excuses: Excuses,
    ) -> Result<(Vec<Finding>, Vec<String>), String> {
        let found = verify_all(self, now, "");
        let keys = &self.verified.as_ref().expect("just verified").keys.0;
        agree(keys, &found, excuses)?;
        let mut doubts = broken(keys, excuses);
        doubts.retain(|text| !(tolerated(text) || excuses.garbage && garbage(text)));
        Ok((found, doubts))
    }
}

fn clock() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("a clock after 1970").as_secs_f64()
}

fn lines(alarms: &[Finding], doubts: Vec<String>) -> String {
    let mut lines = describe_all(alarms);
    lines.sort();
    lines.extend(doubts);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Findings that need action and have no excuse.
pub(crate) fn alarms(mut found: Vec<Finding>, excuses: Excuses) -> Vec<Finding> {
    found.retain(|one| {
        let excused = match one.id.as_str() {
            "queue-unlisted" => excuses.forgotten,
            "recurring-count" => excuses.unrecurred,
            "config-value" | "dependency-cycle" => excuses.reference,
            "clock" | "score" | "recurring-invalid" | "stats-sum" | "never-due" => excuses.garbage,
            "worker-gap" => excuses.aged || one.outcome == "report",
            id => INFO.contains(&id),
        };
        !excused
    });
    found
}

/// Faults that the second implementation reports and this core never causes: a job that another
/// core put off after completion (D-29), very old jobs without a history, and data that every core
/// accepts as JSON.
pub(crate) fn tolerated(wrong: &str) -> bool {
    // What the decoder of Lua accepts as a number.
    let lower = wrong.to_lowercase();
    let taken = ["nan", "inf", "-inf", "1e999"].iter().any(|word| {
        wrong.starts_with("I-02: data of") && lower.ends_with(&format!("\"{word}\""))
            || wrong.starts_with("I-18:") && lower.contains(&format!("\"data\": \"{word}\""))
    });
    wrong.contains("is waiting in scheduled") || wrong.ends_with("remembers nothing") || taken
}

/// Faults caused by random times, priorities and retries, by a queue without a name, and by what
/// the decoder of Lua reads differently: `NaN`, `0x10`, a thousand levels.
fn garbage(wrong: &str) -> bool {
    let ids = [
        "I-02: data of",
        "I-17:",
        "I-18:",
        "I-27:",
        "I-29:",
        "I-31:",
        "I-32:",
        "I-33:",
    ];
    // Names that are not text may look alike here.
    ids.iter().any(|id| wrong.starts_with(id))
        || wrong.ends_with(" in queue \"\"")
        || wrong.contains('\u{fffd}')
}

/// Fails if the second implementation and the check disagree. If the second implementation panics
/// on unreadable data, it has no verdict.
pub(crate) fn agree(dump: &Dump, found: &[Finding], excuses: Excuses) -> Result<(), String> {
    let quiet = std::panic::catch_unwind(|| broken(dump, excuses));
    let Ok(mut wrong) = quiet else { return Ok(()) };
    let sound = wrong.is_empty();
    wrong.retain(|text| !(tolerated(text) || excuses.garbage && garbage(text)));
    if !wrong.is_empty() && found.is_empty() {
        let wrong = wrong.join("\n    ");
        return Err(format!("the check is silent, but\n    {wrong}"));
    }
    let alone = [
        "clock",
        "config-value",
        "dependency-cycle",
        "queue-unlisted",
        "worker-gap",
        // The second implementation does not know what lanes, throttles and merge jobs need.
        "lane-stray",
        "lane-unlisted",
        "lane-edge",
        "lane-order",
        "lane-unmarked",
        "slot-stray",
        "pending-stray",
        "throttled-by-nothing",
        "payloads-stray",
        "payloads-missing",
        "payloads-data",
    ];
    let mut both = alarms(found.to_vec(), excuses);
    both.retain(|one| !alone.contains(&one.id.as_str()));
    if sound && !both.is_empty() {
        Err(format!(
            "only the check tells\n    {}",
            describe_all(&both).join("\n    ")
        ))
    } else {
        Ok(())
    }
}

/// Fails if the scan of the binary finds more or less than a verification of everything.
pub(crate) fn binary_agrees(qless: &Qless, now: f64, found: &[Finding]) -> Result<(), String> {
    let binary_agrees = CheckOutput::run(qless, now);
    let mut wanted: Vec<String> = found
        .iter()
        .map(|one| format!("{} {} [{}]", one.id, one.item, one.detail))
        .collect();
    let mut seen = binary_agrees.lines.clone();
    // The core does not verify a correct counter, because it may not count that far.
    seen.retain(|line| !line.starts_with("not-judged s:stats:"));
    // Of cycles that share jobs each side reports the first it reaches.
    let cycles = |lines: &mut Vec<String>| {
        let all = lines.len();
        lines.retain(|line| !line.starts_with("dependency-cycle "));
        lines.len() < all
    };
    let circular = (cycles(&mut seen), cycles(&mut wanted));
    for lines in [&mut seen, &mut wanted] {
        for line in lines.iter_mut() {
            *line = without_run(line);
            // Two descriptions of one useless key are one finding.
            if ["key-type ", "job-stub "]
                .iter()
                .any(|id| line.starts_with(id))
            {
                line.truncate(line.find(" [").unwrap_or(line.len()));
            }
            // The core does not report the age.
            if let Some(printed) = line.strip_suffix(" old]")
                && let Some((printed, _)) = printed.rsplit_once(", ")
            {
                *line = format!("{printed}]");
            }
        }
        lines.sort();
        lines.dedup();
    }
    // A one-sided edge may close a cycle, or not.
    let torn = found.iter().any(|one| one.id == "dependency-one-sided");
    if circular.0 != circular.1 && !torn {
        return Err(format!(
            "cycles are found by (scan, verification of all): {circular:?}"
        ));
    }
    if seen != wanted {
        let (seen, wanted) = (seen.join("\n    "), wanted.join("\n    "));
        return Err(format!(
            "the scan finds\n    {seen}\nbut verification of all finds\n    {wanted}"
        ));
    }
    match (binary_agrees.code, binary_agrees.worst >= 1) {
        (0, false) | (7, true) => Ok(()),
        (code, _) => Err(format!("exit {code} of\n    {}", seen.join("\n    "))),
    }
}

/// A name without the id of the repair that set its key aside.
pub(crate) fn without_run(name: &str) -> String {
    let Some((front, rest)) = name.split_once("lost:") else {
        return name.to_owned();
    };
    match rest.split_once(':') {
        Some((_, rest)) => format!("{front}lost:RUN:{rest}"),
        None => name.to_owned(),
    }
}

/// The output of `qless check`.
pub(crate) struct CheckOutput {
    pub(crate) code: i32,
    /// `id item [detail]` of each finding.
    pub(crate) lines: Vec<String>,
    /// 0 info, 1 warn, 2 error, 3 critical; -1 nothing.
    worst: i32,
}

impl CheckOutput {
    pub(crate) fn run(qless: &Qless, now: f64) -> CheckOutput {
        let ran = qless
            .clone()
            .at(now)
            .run("check -o json --max-examples 1000000");
        let code = ran.code();
        assert!([0, 7].contains(&code), "exit {code}: {}", ran.stderr());
        let doc: Value = serde_json::from_str(&ran.stdout()).expect("a document");
        let (mut lines, mut worst) = (Vec::new(), -1);
        for found in doc["items"].as_array().expect("a list") {
            let rank = ["info", "warn", "error", "critical"]
                .iter()
                .position(|word| found["severity"] == **word)
                .expect("a severity");
            worst = worst.max(rank as i32);
            let examples = found["examples"].as_array().expect("a list");
            assert_eq!(found["count"], examples.len(), "{found}");
            for example in examples {
                let (item, detail) = (text(example, "item"), text(example, "detail"));
                let id = found["finding"].as_str().expect("an id");
                let detail = stable_detail(id, detail);
                lines.push(format!("{id} {item} [{detail}]"));
            }
        }
        CheckOutput { code, lines, worst }
    }
}

/// A name in a document, escaped as `shown` does.
fn text(doc: &Value, name: &str) -> String {
    match &doc[format!("{name}_bytes")] {
        Value::String(bytes) => shown(&STANDARD.decode(bytes).expect("base64")),
        _ => doc[name].as_str().unwrap_or_default().to_owned(),
    }
}
