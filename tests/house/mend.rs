//! A damaged database through the binary: looked at, mended, mended by name, put back, mended again.
//! What the core alone made of it, call by call, is what the binary must make of it.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use serde_json::Value;

use super::clean::{unrun, walked};
use super::core::{Core, Dump, Key};
use super::judge::{Finding, INFO};
use super::qless::{Qless, Ran};

/// What is told and what the keys are, at a stage.
pub(crate) struct Stage {
    pub(crate) told: Vec<Finding>,
    pub(crate) keys: Dump,
}

/// A server through the binary, at a moment.
pub(crate) struct Mend<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) now: f64,
    /// Where the files of `--undo` lie.
    dir: tempfile::TempDir,
}

impl Mend<'_> {
    pub(crate) fn new(core: &mut Core, now: f64) -> Mend<'_> {
        let dir = tempfile::tempdir().expect("a place");
        Mend { core, now, dir }
    }

    pub(crate) fn qless(&self) -> Qless {
        self.core.qless().at(self.now)
    }

    pub(crate) fn keys(&mut self) -> Dump {
        named_alike(&self.core.dump())
    }

    /// Mends, with a file of this name to put it back; returns the exit code.
    pub(crate) fn repair(&self, flags: &str, undo: &str) -> Ran {
        let undo = self.dir.path().join(undo);
        let line = format!("check --repair --yes {flags} -o json --undo");
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        words.push(undo.display().to_string());
        self.qless().args(words)
    }

    /// Puts back what is told in such a file; one that nothing was written to is not there.
    fn revert(&self, undo: &str) -> Result<(), String> {
        let undo = self.dir.path().join(undo);
        if !undo.exists() {
            return Ok(());
        }
        let words = ["check", "--yes", "--revert"].map(OsStr::new);
        let ran = self
            .qless()
            .args([&words[..], &[undo.as_os_str()]].concat());
        let told = ran.stderr();
        let all = told.contains(" 0 left alone") || told.contains("no change");
        match (ran.code(), all) {
            (0, true) => Ok(()),
            (code, _) => Err(format!("--revert: exit {code}: {told}")),
        }
    }

    /// Whether the binary tells what was told, and no more.
    fn tells(&self, wanted: &[Finding], what: &str) -> Result<(), String> {
        walked(&self.qless(), self.now, wanted).map_err(|fault| format!("{what}: {fault}"))
    }

    /// Whether the keys are these.
    pub(crate) fn alike(&mut self, wanted: &Dump) -> Result<(), String> {
        same_keys(&self.keys(), wanted, "the keys")
    }

    /// Mends, and looks what came of it.
    fn mends(&mut self, flags: &str, undo: &str, wanted: &Stage) -> Result<(), String> {
        let ran = self.repair(flags, undo);
        let what = format!("after `--repair {flags}`");
        if ran.code() != code(&wanted.told) {
            let (code, said) = (ran.code(), ran.stderr());
            return Err(format!("{what}: exit {code}: {said}"));
        }
        same_keys(&self.keys(), &wanted.keys, &what)?;
        self.tells(&wanted.told, &what)
    }

    /// The whole way, from the damaged state and back to it, and on to the one after naming.
    pub(crate) fn whole_way(
        &mut self,
        before: &Stage,
        mended: &Stage,
        named: &Stage,
    ) -> Result<(), String> {
        let damaged = self.core.dump();
        self.tells(&before.told, "found")?;
        self.mends("", "first", mended)?;
        self.mends("", "again", mended)?;
        self.mends("--only all", "second", named)?;
        self.revert("second")?;
        same_keys(&self.keys(), &mended.keys, "the naming put back")?;
        self.revert("first")?;
        if self.core.dump() != damaged {
            same_keys(&self.keys(), &damaged, "all put back")?;
            return Err("not all is as it was".to_owned());
        }
        self.mends("", "third", mended)?;
        self.mends("--only all", "fourth", named)
    }
}

/// The code that a look ends with.
fn code(told: &[Finding]) -> i32 {
    let action = |one: &Finding| {
        let info = one.id == "worker-gap" && one.outcome == "report";
        !info && !INFO.contains(&one.id.as_str())
    };
    match told.iter().any(action) {
        true => 7,
        false => 0,
    }
}

fn same_keys(seen: &Dump, wanted: &Dump, what: &str) -> Result<(), String> {
    let wanted = named_alike(wanted);
    let mut different = String::new();
    for name in seen
        .0
        .keys()
        .chain(wanted.0.keys())
        .collect::<BTreeSet<_>>()
    {
        let (one, other) = (seen.0.get(name), wanted.0.get(name));
        if one != other {
            different.push_str(&format!("\n  {name} is {one:?}, not {other:?}"));
        }
    }
    match different.is_empty() {
        true => Ok(()),
        false => Err(format!("{what}:{different}")),
    }
}

/// With one name for all repairs that set something aside.
fn named_alike(keys: &Dump) -> Dump {
    let keys = keys.0.iter().map(|(name, key)| (unrun(name), key.clone()));
    Dump(keys.collect())
}

/// Whether a history entry can be read by everyone.
fn readable(entry: &str) -> bool {
    let parts: Vec<Value> = serde_json::from_str(entry).unwrap_or_default();
    match parts.as_slice() {
        [when, what] => when.is_number() && what.is_string(),
        [when, what, item] => when.is_number() && what.is_string() && item.is_object(),
        _ => false,
    }
}

/// Nothing that can be read of a job has changed: data, klass, tags, history.
pub(crate) fn kept(before: &Dump, after: &Dump) {
    let after = named_alike(after);
    for (name, key) in &before.0 {
        if !name.starts_with("ql:j:") {
            continue;
        }
        let aside = name.replacen("ql:", "ql:lost:RUN:", 1);
        let alike = |now: &&Key| std::mem::discriminant(*now) == std::mem::discriminant(key);
        let now = [name, &aside]
            .into_iter()
            .find_map(|name| after.0.get(name).filter(alike));
        match (key, now) {
            (Key::Hash(job), Some(Key::Hash(now))) => {
                for field in ["klass", "data"] {
                    assert_eq!(job.get(field), now.get(field), "{name} {field}");
                }
                let tags = job.get("tags").cloned().unwrap_or_default();
                if serde_json::from_str::<Vec<String>>(&tags).is_ok() || tags == "{}" {
                    assert_eq!(Some(&tags), now.get("tags"), "{name}");
                } else if !tags.is_empty() {
                    let kept = [now.get("tags"), now.get("bad-tags")];
                    assert!(kept.contains(&Some(&tags)), "{name} lost {tags}");
                }
            }
            (Key::Hash(_), other) => panic!("{name} became {other:?}"),
            (Key::List(list), Some(Key::List(now))) => {
                assert_eq!(list.len(), now.len(), "{name}");
                for (old, new) in list.iter().zip(now) {
                    assert!(old == new || !readable(old), "{name}: {old} became {new}");
                }
            }
            (Key::List(_), other) => panic!("{name} became {other:?}"),
            _ => {}
        }
    }
}
