//! The end of a test: nothing is damaged. Three say so, and must agree: everything judged by the
//! core, what the binary's walk finds, and the second, plain implementation of the invariants.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use expect_test::Expect;
use serde_json::Value;

use super::check_calls::{Finding, INFO, describe_all, look};
use super::core::{Core, Dump, shown};
use super::qless::Qless;
use super::redis::Redis;
use crate::check::invariants::{Excuses, broken};

impl Redis {
    /// Nothing is damaged, and all agree.
    #[track_caller]
    pub fn must_be_clean(&self) {
        Core::over(self).must_be_clean(clock(), Excuses::default());
    }

    /// What is damaged, of `warn` and above, and what the second implementation says of it.
    #[track_caller]
    pub fn must_tell(&self, expected: Expect) {
        let printed = Core::over(self).damage(clock(), Excuses::default());
        expected.assert_eq(&printed.unwrap_or_else(|fault| panic!("{fault}")));
    }
}

impl Core {
    /// Nothing is damaged, and all agree.
    #[track_caller]
    pub(crate) fn must_be_clean(&mut self, now: f64, excuses: Excuses) {
        match self.damage(now, excuses) {
            Ok(printed) if printed.is_empty() => {}
            Ok(printed) => panic!("not clean:\n{printed}"),
            Err(fault) => panic!("{fault}"),
        }
    }

    /// What is damaged and has no excuse, a line each; an error where not all tell the same.
    pub(crate) fn damage(&mut self, now: f64, excuses: Excuses) -> Result<String, String> {
        let found = self.agreed(now, excuses)?;
        walked(&self.qless(), now, &found)?;
        Ok(lines(&alarms(found, excuses), self.doubts(excuses)))
    }

    /// The same without the binary, for what is asked thousands of times.
    pub(crate) fn damage_within(&mut self, now: f64, excuses: Excuses) -> Result<String, String> {
        let found = self.agreed(now, excuses)?;
        Ok(lines(&alarms(found, excuses), self.doubts(excuses)))
    }

    fn agreed(&mut self, now: f64, excuses: Excuses) -> Result<Vec<Finding>, String> {
        let found = look(self, now, "");
        agree(&self.dump(), &found, excuses).map(|()| found)
    }

    fn doubts(&mut self, excuses: Excuses) -> Vec<String> {
        let mut wrong = broken(&self.dump(), excuses);
        wrong.retain(|text| !(tolerated(text) || excuses.garbage && garbage(text)));
        wrong
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

/// What needs action and has no excuse.
pub(crate) fn alarms(mut found: Vec<Finding>, excuses: Excuses) -> Vec<Finding> {
    found.retain(|one| {
        let excused = match one.id.as_str() {
            "queue-unlisted" => excuses.forgotten,
            "recurring-count" => excuses.unrecurred,
            "config-value" | "dependency-cycle" => excuses.reference,
            "clock" | "score" | "recurring-invalid" | "stats-sum" => excuses.garbage,
            "worker-gap" => excuses.aged || one.outcome == "report",
            id => INFO.contains(&id),
        };
        !excused
    });
    found
}

/// What the second implementation does not let pass, for no core of ours does so: a job of a core
/// that put it off after completion (D-29), very old jobs, which remember nothing, and data that
/// every core takes for JSON.
pub(crate) fn tolerated(wrong: &str) -> bool {
    // What the decoder of Lua takes for a number.
    let lower = wrong.to_lowercase();
    let taken = ["nan", "inf", "-inf", "1e999"].iter().any(|word| {
        wrong.starts_with("I-02: data of") && lower.ends_with(&format!("\"{word}\""))
            || wrong.starts_with("I-18:") && lower.contains(&format!("\"data\": \"{word}\""))
    });
    wrong.contains("is waiting in scheduled") || wrong.ends_with("remembers nothing") || taken
}

/// What times, priorities and tries from anywhere lead to, a queue without a name, and what the decoder of
/// Lua reads otherwise: `NaN`, `0x10`, a thousand levels.
fn garbage(wrong: &str) -> bool {
    let ids = [
        "I-02: data of",
        "I-17:",
        "I-18:",
        "I-27:",
        "I-29:",
        "I-31:",
        "I-32:",
    ];
    // Names that are no text may look alike here.
    ids.iter().any(|id| wrong.starts_with(id))
        || wrong.ends_with(" in queue \"\"")
        || wrong.contains('\u{fffd}')
}

/// The second, plain implementation sees what the check sees. Where it gives up on what it can't
/// read, it says nothing.
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
    ];
    let mut both = alarms(found.to_vec(), excuses);
    both.retain(|one| !alone.contains(&one.id.as_str()));
    match sound && !both.is_empty() {
        true => Err(format!(
            "only the check tells\n    {}",
            describe_all(&both).join("\n    ")
        )),
        false => Ok(()),
    }
}

/// The walk of the binary finds what is found when everything is judged, no more, no less.
pub(crate) fn walked(qless: &Qless, now: f64, found: &[Finding]) -> Result<(), String> {
    let walked = Walked::run(qless, now);
    let mut wanted: Vec<String> = found
        .iter()
        .map(|one| format!("{} {} [{}]", one.id, one.item, one.detail))
        .collect();
    let mut seen = walked.lines.clone();
    // A counter that is right is not judged by the core, which may not count so far.
    seen.retain(|line| !line.starts_with("not-judged s:stats:"));
    // Of cycles that share jobs each side tells what it meets first.
    let cycles = |lines: &mut Vec<String>| {
        let all = lines.len();
        lines.retain(|line| !line.starts_with("dependency-cycle "));
        lines.len() < all
    };
    let circular = (cycles(&mut seen), cycles(&mut wanted));
    for lines in [&mut seen, &mut wanted] {
        for line in lines.iter_mut() {
            *line = unrun(line);
            // What two say of a key that is of no use is told once.
            if ["key-type ", "job-stub "]
                .iter()
                .any(|id| line.starts_with(id))
            {
                line.truncate(line.find(" [").unwrap_or(line.len()));
            }
            // The core does not say how old it is.
            if let Some(printed) = line.strip_suffix(" old]")
                && let Some((printed, _)) = printed.rsplit_once(", ")
            {
                *line = format!("{printed}]");
            }
        }
        lines.sort();
        lines.dedup();
    }
    // An edge that only one side knows may close a cycle, or not.
    let torn = found.iter().any(|one| one.id == "dependency-one-sided");
    if circular.0 != circular.1 && !torn {
        return Err(format!(
            "cycles are found by (walk, all judged): {circular:?}"
        ));
    }
    if seen != wanted {
        let (seen, wanted) = (seen.join("\n    "), wanted.join("\n    "));
        return Err(format!(
            "the walk finds\n    {seen}\nbut all judged\n    {wanted}"
        ));
    }
    match (walked.code, walked.worst >= 1) {
        (0, false) | (7, true) => Ok(()),
        (code, _) => Err(format!("exit {code} of\n    {}", seen.join("\n    "))),
    }
}

/// A name without that of the repair that set its key aside.
pub(crate) fn unrun(name: &str) -> String {
    let Some((front, rest)) = name.split_once("lost:") else {
        return name.to_owned();
    };
    match rest.split_once(':') {
        Some((_, rest)) => format!("{front}lost:RUN:{rest}"),
        None => name.to_owned(),
    }
}

/// What `qless check` told.
pub(crate) struct Walked {
    pub(crate) code: i32,
    /// `id item [detail]` of each finding.
    pub(crate) lines: Vec<String>,
    /// 0 info, 1 warn, 2 error, 3 critical; -1 nothing.
    worst: i32,
}

impl Walked {
    pub(crate) fn run(qless: &Qless, now: f64) -> Walked {
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
                lines.push(format!("{id} {item} [{detail}]"));
            }
        }
        Walked { code, lines, worst }
    }
}

/// A name of a document, as the house shows it.
fn text(doc: &Value, name: &str) -> String {
    match &doc[format!("{name}_bytes")] {
        Value::String(bytes) => shown(&STANDARD.decode(bytes).expect("base64")),
        _ => doc[name].as_str().unwrap_or_default().to_owned(),
    }
}
