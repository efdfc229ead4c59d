//! A damaged database through the binary: looked at, mended, mended by name, put back, mended again.
//! What the core alone made of it, call by call, is what the binary must make of it.

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
        let url = format!("unix://{}", self.core.socket().display());
        Qless::bare().env("QLESS_REDIS_URL", url).at(self.now)
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
    pub(crate) fn revert(&self, undo: &str) {
        let undo = self.dir.path().join(undo);
        if undo.exists() {
            let ran = self.qless().args([
                "check".as_ref(),
                "--yes".as_ref(),
                "--revert".as_ref(),
                undo.as_os_str(),
            ]);
            assert_eq!(ran.code(), 0, "{}", ran.stderr());
            let told = ran.stderr();
            let alone = told.contains(" 0 left alone") || told.contains("no change");
            assert!(alone, "{told}");
        }
    }

    /// Whether the binary tells what was told, and no more.
    fn tells(&self, wanted: &[Finding], what: &str) {
        walked(&self.qless(), self.now, wanted).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    }

    /// The whole way, from the damaged state and back to it, and on to the one after naming.
    pub(crate) fn whole_way(&mut self, before: &Stage, mended: &Stage, named: &Stage) {
        assert_eq!(self.core.dump(), before.keys, "as it was damaged");
        self.tells(&before.told, "found");
        assert_eq!(self.core.dump(), before.keys, "a look changed something");

        let ran = self.repair("", "first");
        assert_eq!(ran.code(), code(&mended.told), "{}", ran.stderr());
        same_keys(&self.keys(), &mended.keys, "after the repair");
        self.tells(&mended.told, "after the repair");
        let again = self.repair("", "again");
        assert_eq!(again.code(), code(&mended.told), "{}", again.stderr());
        same_keys(&self.keys(), &mended.keys, "after a second repair");

        let ran = self.repair("--only all", "second");
        assert_eq!(ran.code(), code(&named.told), "{}", ran.stderr());
        same_keys(&self.keys(), &named.keys, "after naming all");
        self.tells(&named.told, "after naming all");

        self.revert("second");
        same_keys(&self.keys(), &mended.keys, "the naming put back");
        self.revert("first");
        assert_eq!(self.core.dump(), before.keys, "all is as it was");

        self.repair("", "third");
        self.repair("--only all", "fourth");
        same_keys(&self.keys(), &named.keys, "mended again");
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

#[track_caller]
fn same_keys(seen: &Dump, wanted: &Dump, what: &str) {
    let wanted = named_alike(wanted);
    let names: std::collections::BTreeSet<&String> = seen.0.keys().chain(wanted.0.keys()).collect();
    let mut different = String::new();
    for name in names {
        let (one, other): (Option<&Key>, Option<&Key>) = (seen.0.get(name), wanted.0.get(name));
        if one != other {
            different.push_str(&format!("  {name} is {one:?}, not {other:?}\n"));
        }
    }
    assert!(different.is_empty(), "{what}:\n{different}");
}

/// With one name for all repairs that set something aside.
fn named_alike(keys: &Dump) -> Dump {
    let keys = keys.0.iter().map(|(name, key)| (unrun(name), key.clone()));
    Dump(keys.collect())
}
