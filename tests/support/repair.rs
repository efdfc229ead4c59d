//! Repairs a damaged database through the binary: scan, repair, repair by name, revert, repair
//! again. The result must be what the core made of it call by call.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use serde_json::Value;

use super::check_calls::{Finding, INFO, all_named, describe_all, repair, revert, verify_all};
use super::clean::{binary_agrees, without_run};
use super::core::{Core, Dump, Key};
use super::qless::{Qless, RunOutput};
use super::random;

/// The findings and the keys at a stage.
pub(crate) struct Stage {
    pub(crate) findings: Vec<Finding>,
    pub(crate) keys: Dump,
}

/// The binary, pointed at a server, at a pinned moment.
pub(crate) struct RepairCycle<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) now: f64,
    /// The directory of the files of `--undo`.
    dir: tempfile::TempDir,
}

impl RepairCycle<'_> {
    pub(crate) fn new(core: &mut Core, now: f64) -> RepairCycle<'_> {
        let dir = tempfile::tempdir().expect("a place");
        RepairCycle { core, now, dir }
    }

    pub(crate) fn qless(&self) -> Qless {
        self.core.qless().at(self.now)
    }

    pub(crate) fn keys(&mut self) -> Dump {
        with_one_run_name(&self.core.dump())
    }

    /// Repairs with an undo file of this name. Returns the run.
    pub(crate) fn repair(&self, flags: &str, undo: &str) -> RunOutput {
        let undo = self.dir.path().join(undo);
        let line = format!("check --repair --yes {flags} -o json --undo");
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        words.push(undo.display().to_string());
        self.qless().args(words)
    }

    /// Reverts an undo file; a file that was never written counts as reverted.
    fn revert(&self, undo: &str) -> Result<(), String> {
        let undo = self.dir.path().join(undo);
        if !undo.exists() {
            return Ok(());
        }
        let words = ["check", "--yes", "--revert"].map(OsStr::new);
        let ran = self
            .qless()
            .args([&words[..], &[undo.as_os_str()]].concat());
        let printed = ran.stderr();
        let all = printed.contains(" 0 skipped") || printed.contains("no change");
        match (ran.code(), all) {
            (0, true) => Ok(()),
            (code, _) => Err(format!("--revert: exit {code}: {printed}")),
        }
    }

    /// Fails if the binary reports other findings than these.
    fn reports(&self, wanted: &[Finding], what: &str) -> Result<(), String> {
        binary_agrees(&self.qless(), self.now, wanted).map_err(|fault| format!("{what}: {fault}"))
    }

    /// Fails if the keys are not these.
    pub(crate) fn has_keys(&mut self, wanted: &Dump) -> Result<(), String> {
        same_keys(&self.keys(), wanted, "the keys")
    }

    /// Repairs, then compares the exit code and the keys.
    fn repairs(&mut self, flags: &str, undo: &str, wanted: &Stage) -> Result<(), String> {
        let ran = self.repair(flags, undo);
        let what = format!("after `--repair {flags}`");
        if ran.code() != code(&wanted.findings) {
            let (code, output) = (ran.code(), ran.stderr());
            return Err(format!("{what}: exit {code}: {output}"));
        }
        same_keys(&self.keys(), &wanted.keys, &what)
    }

    /// From the damaged state to the one repaired by name. The binary scans and verifies.
    pub(crate) fn short_cycle(&mut self, before: &Stage, named: &Stage) -> Result<(), String> {
        self.reports(&before.findings, "found")?;
        self.repairs("--only all", "short", named)
    }

    /// The full cycle: from the damaged state to the repaired one, on to the one repaired by name,
    /// and back. In `make soak` each repair is made a second time as well, which changes nothing,
    /// and the repaired state is scanned: by calls of the core, `repair_by_calls` does so always.
    pub(crate) fn full_cycle(
        &mut self,
        before: &Stage,
        repaired: &Stage,
        named: &Stage,
    ) -> Result<(), String> {
        let damaged = self.core.dump();
        self.reports(&before.findings, "found")?;
        self.repairs("", "first", repaired)?;
        if random::soaking() {
            self.reports(&repaired.findings, "repaired")?;
            self.repairs("", "again", repaired)?;
        }
        self.repairs("--only all", "second", named)?;
        self.reports(&named.findings, "repaired by name")?;
        self.revert("second")?;
        same_keys(&self.keys(), &repaired.keys, "the naming put back")?;
        self.revert("first")?;
        restored(self.core, &damaged, "all put back")?;
        if random::soaking() {
            self.repairs("", "third", repaired)?;
        }
        self.repairs("--only all", "fourth", named)
    }
}

/// The exit code of a scan with these findings.
fn code(printed: &[Finding]) -> i32 {
    let action = |one: &Finding| {
        let info = one.id == "worker-gap" && one.outcome == "report";
        !info && !INFO.contains(&one.id.as_str())
    };
    if printed.iter().any(action) { 7 } else { 0 }
}

/// Fails if a key is not restored, or if a key set aside did not get its name back.
fn restored(core: &mut Core, damaged: &Dump, what: &str) -> Result<(), String> {
    let keys = core.dump();
    if keys == *damaged {
        return Ok(());
    }
    same_keys(&with_one_run_name(&keys), damaged, what)?;
    Err(format!("{what}: some keys have other names"))
}

fn same_keys(seen: &Dump, wanted: &Dump, what: &str) -> Result<(), String> {
    let wanted = with_one_run_name(wanted);
    let mut different = String::new();
    for name in seen
        .0
        .keys()
        .chain(wanted.0.keys())
        .collect::<BTreeSet<_>>()
    {
        let (one, other) = (comparable(seen, name), comparable(&wanted, name));
        if one != other {
            different.push_str(&format!("\n  {name} is {one:?}, not {other:?}"));
        }
    }
    if different.is_empty() {
        Ok(())
    } else {
        Err(format!("{what}:{different}"))
    }
}

/// The value of a key, where a lane is the list of its jobs: their places depend on which of them a repair finds first.
fn comparable(keys: &Dump, name: &str) -> Option<Key> {
    let value = keys.0.get(name)?;
    let Key::Zset(lane) = value else {
        return Some(value.clone());
    };
    if !name.starts_with("ql:k:") {
        return Some(value.clone());
    }
    let mut jobs: Vec<(&String, &f64)> = lane.iter().collect();
    jobs.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    Some(Key::List(
        jobs.into_iter().map(|(jid, _)| jid.clone()).collect(),
    ))
}

/// Uses one name for all repairs that set keys aside.
fn with_one_run_name(keys: &Dump) -> Dump {
    let keys = keys
        .0
        .iter()
        .map(|(name, key)| (without_run(name), key.clone()));
    Dump(keys.collect())
}

/// Whether every client can read a history entry.
fn readable(entry: &str) -> bool {
    let parts: Vec<Value> = serde_json::from_str(entry).unwrap_or_default();
    match parts.as_slice() {
        [when, what] => when.is_number() && what.is_string(),
        [when, what, item] => when.is_number() && what.is_string() && item.is_object(),
        _ => false,
    }
}

/// Fails if readable parts of a job have changed: data, klass, tags, history.
pub(crate) fn jobs_preserved(before: &Dump, after: &Dump) -> Result<(), String> {
    let after = with_one_run_name(after);
    let of_jobs = before
        .0
        .iter()
        .filter(|(name, _)| name.starts_with("ql:j:"));
    for (name, key) in of_jobs {
        let aside = name.replacen("ql:", "ql:lost:RUN:", 1);
        let has_keys = |now: &&Key| std::mem::discriminant(*now) == std::mem::discriminant(key);
        let now = [name, &aside]
            .into_iter()
            .find_map(|name| after.0.get(name).filter(has_keys));
        let whole = match (key, now) {
            (Key::Hash(job), Some(Key::Hash(now))) => {
                let tags = job.get("tags").cloned().unwrap_or_default();
                let legible = tags == "{}" || serde_json::from_str::<Vec<String>>(&tags).is_ok();
                let same = |field: &&str| job.get(*field) == now.get(*field);
                // The history of an old version stays, under its name or set aside.
                let history = [now.get("history"), now.get("bad-history")];
                let has_history = job
                    .get("history")
                    .is_none_or(|text| history.contains(&Some(text)));
                // Data that was replaced by the payloads stays, too.
                let has_data = [now.get("data"), now.get("bad-data")].contains(&job.get("data"));
                same(&"klass")
                    && has_data
                    && has_history
                    && if legible {
                        now.get("tags") == Some(&tags)
                    } else {
                        let jobs_preserved = [now.get("tags"), now.get("bad-tags")];
                        tags.is_empty() || jobs_preserved.contains(&Some(&tags))
                    }
            }
            (Key::List(list), Some(Key::List(now))) => {
                let same = |(old, new): (&String, &String)| old == new || !readable(old);
                // What can be read of the history of an old version is added.
                let hash = name.strip_suffix("-history").unwrap_or(name);
                let may_grow = matches!(before.0.get(hash),
                    Some(Key::Hash(job)) if job.contains_key("history"));
                (list.len() == now.len() || may_grow && list.len() < now.len())
                    && list.iter().zip(now).all(same)
            }
            (Key::Hash(_) | Key::List(_), _) => false,
            _ => true,
        };
        if !whole {
            return Err(format!("{name} was {key:?} and became {now:?}"));
        }
    }
    Ok(())
}

/// The result of repairing a damaged database by calls of the core alone.
pub(crate) struct RepairStages {
    /// Damaged, repaired, and repaired by name.
    pub(crate) stages: [Stage; 3],
    /// Findings of a last scan that names every finding.
    pub(crate) remains: Vec<Finding>,
}

/// Repairs everything, then everything by name, and reverts both.
pub(crate) fn repair_by_calls(
    core: &mut Core,
    now: f64,
    found: Vec<Finding>,
) -> Result<RepairStages, String> {
    let fault = |what: &str, of: &[Finding]| {
        let (found, of) = (
            describe_all(&found).join("\n    "),
            describe_all(of).join("\n    "),
        );
        Err(format!("found\n    {found}\nbut {what}\n    {of}"))
    };
    let damaged = core.dump();
    let mut repairs = repair(core, now, "");
    let (repaired, left) = (core.dump(), verify_all(core, now, ""));
    if left.iter().any(|one| one.outcome == "found") {
        return fault("after the repair", &left);
    }
    // The scan above found nothing that a second repair would change.
    if random::soaking() {
        let again = repair(core, now, "");
        if !again.is_empty() {
            return fault("a second repair mends", &again);
        }
    }
    let all = all_named();
    // Nor is there anything to name where nothing is left. The binary names everything always.
    if !left.is_empty() || random::soaking() {
        repairs.extend(repair(core, now, &all));
    }
    let (named, last) = (core.dump(), verify_all(core, now, ""));
    let remains = if last.is_empty() && !random::soaking() {
        Vec::new()
    } else {
        verify_all(core, now, &all)
    };
    if remains.iter().any(|one| one.outcome != "report") {
        return fault("after naming all", &remains);
    }
    if !core.events().is_empty() {
        return fault("mended with events", &repairs);
    }
    jobs_preserved(&damaged, &repaired)?;
    jobs_preserved(&damaged, &named)?;
    let (_, alone) = revert(core, &repairs);
    if alone > 0 {
        return fault("not all is put back of", &repairs);
    }
    restored(core, &damaged, "put back")?;
    revert(core, &repairs);
    restored(core, &damaged, "put back twice")?;
    let stages = [(found, damaged), (left, repaired), (last, named)];
    let stages = stages.map(|(findings, keys)| Stage { findings, keys });
    Ok(RepairStages { stages, remains })
}
