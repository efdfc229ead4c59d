//! Jobs left by random calls are exported, imported into an empty server, and exported again: each
//! job is unchanged except for what an import changes, and no invariant is broken.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use crate::check::invariants::Excuses;
use crate::core::model::Model;
use crate::core::property::{Step, fill, step};
use crate::support::core::Core;
use crate::support::random;

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The lines of a kind by id.
fn by_jid(lines: &[Value], kind: &str) -> BTreeMap<String, Value> {
    let lines = lines.iter().filter(|line| line["kind"] == kind);
    lines
        .map(|line| (line["jid"].as_str().unwrap().to_string(), line.clone()))
        .collect()
}

/// The expected line of a job after an import at this time.
fn imported(line: &Value, all: &BTreeMap<String, Value>, now: f64) -> Value {
    let mut line = line.clone();
    let moment = |text: &Value| {
        let text: jiff::Timestamp = text.as_str()?.parse().ok()?;
        Some(text.as_microsecond() as f64 / 1e6)
    };
    let due = line["due"]
        .as_f64()
        .or_else(|| moment(&line["scheduled_for"]));
    let ahead = due.is_some_and(|due| due > now);
    let open: Vec<Value> = line["dependencies"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|jid| {
            let other = all.get(jid.as_str().unwrap());
            other.is_some_and(|other| other["state"] != "complete")
        })
        .cloned()
        .collect();
    let state = match (line["state"].as_str().unwrap(), open.is_empty()) {
        ("failed", _) => "failed",
        (_, false) => "depends",
        ("running" | "stalled", _) => "waiting",
        _ if ahead => "scheduled",
        _ => "waiting",
    };
    if state == "failed" {
        line["dependencies"] = json!([]);
    } else {
        line["failure"] = Value::Null;
        line["dependencies"] = open.into();
    }
    line["state"] = state.into();
    line["state_stored"] = state.into();
    line["worker"] = Value::Null;
    line["expires"] = Value::Null;
    if !ahead || state == "waiting" || state == "failed" {
        line["scheduled_for"] = Value::Null;
        line.as_object_mut().unwrap().remove("due");
    }
    let put = json!({"what": "put", "when": second(now), "queue": line["queue"]});
    let history = line["history"].as_array_mut().unwrap();
    history.push(put);
    line["since"] = second(now).into();
    line.as_object_mut().unwrap().remove("dependents");
    line
}

fn second(now: f64) -> String {
    let at = jiff::Timestamp::from_second(now.floor() as i64).unwrap();
    format!("{at:.3}")
}

/// The order in which the jobs of each queue would be popped now, highest priority first.
fn popped(lines: &[Value], states: &[&str], now: f64) -> BTreeMap<String, Vec<String>> {
    let mut queues: BTreeMap<String, Vec<(f64, String)>> = BTreeMap::new();
    let all = by_jid(lines, "job");
    for line in lines.iter().filter(|line| line["kind"] == "job") {
        if !states.contains(&line["state"].as_str().unwrap()) {
            continue;
        }
        if imported(line, &all, now)["state"] == "waiting" {
            let queue = line["queue"].as_str().unwrap().to_string();
            let priority = line["priority"].as_f64().unwrap();
            let jid = line["jid"].as_str().unwrap().to_string();
            queues.entry(queue).or_default().push((priority, jid));
        }
    }
    for jobs in queues.values_mut() {
        jobs.sort_by(|one, other| other.0.total_cmp(&one.0));
    }
    let jids = |jobs: Vec<(f64, String)>| jobs.into_iter().map(|(_, jid)| jid).collect();
    queues
        .into_iter()
        .map(|(queue, jobs)| (queue, jids(jobs)))
        .collect()
}

fn there_and_back(from: &mut Core, to: &mut Core, steps: &[Step]) -> Result<(), TestCaseError> {
    from.flush();
    to.flush();
    let mut model = Model::default();
    let mut now = 1000.0;
    let mut calls = Vec::new();
    for step in steps {
        now += step.after;
        let words = fill(&step.line, now, &model);
        calls.push(words.join(" "));
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        _ = from.call(&argv);
        model.call(&words);
        from.events();
    }
    let script = calls.join("\n    ");
    let qless = |core: &Core| core.qless().at(now);
    let before = qless(from).run("export --all --with recur,paused").ok();
    let ran = qless(to)
        .input(&before)
        .run("import - --yes --allow-missing -o json");
    if ran.stderr().contains("depend on each other") {
        // The reference's put allows cycles, for which there is no order of import.
        prop_assert_eq!(ran.code(), 5);
        return Ok(());
    }
    prop_assert_eq!(
        ran.code(),
        0,
        "\n    {}\n{}\n{}",
        script,
        before,
        ran.stderr()
    );
    let after = qless(to).run("export --all --with recur,paused").ok();
    let (before, after) = (lines(&before), lines(&after));
    let (jobs, back) = (by_jid(&before, "job"), by_jid(&after, "job"));
    for (jid, line) in &jobs {
        if line["state"] == "complete" {
            prop_assert!(!back.contains_key(jid), "\n    {}\n{} is back", script, jid);
            continue;
        }
        let wanted = imported(line, &jobs, now);
        let mut seen = back.get(jid).cloned().unwrap_or_default();
        if let Some(line) = seen.as_object_mut() {
            line.remove("dependents");
        }
        // If one export needs base64 for the history, so does the other, which has one more entry.
        let mut wanted = wanted;
        if let (Some(one), Some(other)) = (
            wanted.get("history_bytes").cloned(),
            seen.get("history_bytes"),
        ) {
            let (one, other) = (one.as_array().unwrap(), other.as_array().unwrap());
            prop_assert_eq!(&one[..], &other[..one.len()], "\n    {}", script);
            wanted["history_bytes"] = other.clone().into();
        }
        prop_assert_eq!(
            &seen,
            &wanted,
            "\n    {}\nbecomes (left), not (right)",
            script
        );
    }
    prop_assert!(
        back.keys().all(|jid| jobs.contains_key(jid)),
        "\n    {}",
        script
    );
    let (recurring, back) = (by_jid(&before, "recurring"), by_jid(&after, "recurring"));
    prop_assert_eq!(recurring.len(), back.len());
    for (jid, line) in recurring {
        prop_assert_eq!(&back[&jid], &line, "\n    {}", script);
    }
    let paused = |lines: &[Value]| -> Vec<Value> {
        let paused = lines.iter().filter(|line| line["kind"] == "paused");
        paused
            .map(|line| json!([line["queue"], line["until"], line["reason"]]))
            .collect()
    };
    prop_assert_eq!(paused(&before), paused(&after), "\n    {}", script);
    // Jobs are popped in the order of the file.
    let first = ["waiting", "running", "stalled", "scheduled", "depends"];
    prop_assert_eq!(
        popped(&before, &first, now),
        popped(&after, &["waiting"], now),
        "\n    {}",
        script
    );
    // A template that was deleted and created again counts from the start, before and after.
    let excuses = Excuses {
        kept: true,
        unrecurred: true,
        reference: true,
        ..Excuses::default()
    };
    let damage = to.damage(now, excuses);
    prop_assert!(
        damage.as_ref().is_ok_and(String::is_empty),
        "\n    {}\nbreaks\n{}",
        script,
        damage.unwrap_or_else(|fault| fault)
    );
    Ok(())
}

#[test]
fn random_jobs_survive_export_and_import() {
    let (mut from, mut to) = (Core::new(), Core::new());
    let steps = prop::collection::vec(step(true), 1..60);
    random::property(random::more_in_soak(5), steps, |steps| {
        there_and_back(&mut from, &mut to, &steps)
    });
}
