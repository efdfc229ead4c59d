//! Which findings are meant by `--only` and `--skip`, and how the core is told.

use super::overlaps;
use super::stage::Stage;
use crate::model::finding::{Approval, FINDINGS, Finding};

/// What has to be looked for besides, since it decides whether the first is told.
const FIRST: [(&str, &[&str]); 3] = [
    ("depends-on-nothing", &["dependency-one-sided"]),
    ("tag-count", &["tag-index"]),
    ("failed-counter", LISTS),
];

/// What is wrong with failure lists; while there is any, no counter is compared with them.
pub(crate) const LISTS: &[&str] = &[
    "failed-stray",
    "failed-unlisted",
    "failed-twice",
    "group-set",
];

/// What a job is told with that failed, nobody knows how, and in no list. None is compared then, too.
pub(crate) const IN_NO_LIST: &[u8] = b", in no list";

/// What may be typed after `--only`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    All,
    One(&'static Finding),
}

/// The findings that are meant.
#[derive(Clone, Debug, Default)]
pub(crate) struct FindingFilter {
    only: Vec<Word>,
    skip: Vec<&'static Finding>,
}

/// When the core is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// During the walk.
    Early,
    /// After all of it.
    Late,
}

impl FindingFilter {
    pub(crate) fn new(only: Vec<Word>, skip: Vec<&'static Finding>) -> FindingFilter {
        FindingFilter { only, skip }
    }

    /// Whether it is to be told.
    pub(crate) fn wants(&self, finding: &Finding) -> bool {
        let named = self.only.is_empty() || self.names(finding);
        named && !self.skip.iter().any(|skip| skip.id == finding.id)
    }

    /// Whether it leaves anything out.
    pub(crate) fn is_narrow(&self) -> bool {
        let all = self.only.is_empty() || self.only.iter().any(|word| matches!(word, Word::All));
        !all || !self.skip.is_empty()
    }

    /// Whether what has to be right before a finding can be judged is not told.
    pub(crate) fn hides_what_is_first(&self, id: &str) -> bool {
        let first = FIRST.iter().find(|(of, _)| *of == id);
        let told = |id: &&str| Finding::named(id).is_some_and(|finding| self.wants(finding));
        first.is_some_and(|(_, needs)| !needs.iter().any(told))
    }

    /// Whether it was named, which is the consent that it may wait for.
    pub(crate) fn names(&self, finding: &Finding) -> bool {
        self.only.iter().any(|word| match word {
            Word::All => true,
            Word::One(one) => one.id == finding.id,
        })
    }

    /// Returns the findings to look for, as the core is told them; `None` if there are none. What
    /// is named is decided for only where `decided` says that a repair is meant.
    pub(crate) fn looks_for(&self, phase: Phase, decided: bool) -> Option<String> {
        let wants = |finding: &Finding| {
            let wants = |id: &str| Finding::named(id).is_some_and(|of| self.wants(of));
            let needed = |(of, needs): &(&str, &[&str])| needs.contains(&finding.id) && wants(of);
            let first = FIRST.iter().any(needed)
                || overlaps::stood_for(finding.id).iter().any(|id| wants(id));
            self.wants(finding) || phase == Phase::Early && first
        };
        self.told(phase, decided, wants)
    }

    /// Returns the findings to mend, `without` some, as the core is told them; `None` if there are
    /// none.
    pub(crate) fn mends(&self, stage: Stage, without: &[&str]) -> Option<String> {
        let wants = |finding: &Finding| self.wants(finding) && !without.contains(&finding.id);
        let only = |of: &[Stage]| {
            self.told(Phase::Early, true, |finding| {
                wants(finding) && of.contains(&Stage::of(finding.id))
            })
        };
        match stage {
            Stage::Keys | Stage::Edges => only(&[stage]),
            Stage::Entries => only(&[Stage::Keys, Stage::Entries]),
            Stage::Counts => self.told(Phase::Late, true, wants),
        }
    }

    /// Whether it is to be deleted, and not named itself: that all are named is not enough.
    fn spares(&self, finding: &Finding) -> bool {
        let named = |word: &Word| matches!(word, Word::One(one) if one.id == finding.id);
        finding.consent == Approval::Typed && !self.only.iter().any(named)
    }

    fn told(
        &self,
        phase: Phase,
        decided: bool,
        wants: impl Fn(&Finding) -> bool,
    ) -> Option<String> {
        // What only a whole walk can tell (`core.md` 9.5), or what waits for other findings.
        let late = |finding: &Finding| Stage::of(finding.id) == Stage::Counts;
        // Of these none has to be decided.
        let named_here = phase == Phase::Late || decided && !self.only.is_empty();
        let asked = |finding: &&Finding| match phase {
            Phase::Early if named_here && self.spares(finding) => false,
            Phase::Early => wants(finding) && !late(finding),
            // What cannot be judged is told as well.
            Phase::Late => wants(finding) && (late(finding) || finding.id == "not-judged"),
        };
        let named: Vec<&str> = ids(asked);
        match named
            .iter()
            .any(|id| *id != "not-judged" || phase == Phase::Early)
        {
            false => None,
            true if named_here => Some(named.join(",")),
            true => {
                let out: Vec<String> = ids(|finding| !asked(finding))
                    .into_iter()
                    .map(|id| format!("-{id}"))
                    .collect();
                Some(out.join(","))
            }
        }
    }
}

fn ids(kept: impl Fn(&&Finding) -> bool) -> Vec<&'static str> {
    let kept = FINDINGS.iter().filter(|finding| kept(finding));
    kept.map(|finding| finding.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(id: &str) -> Word {
        Word::One(Finding::named(id).unwrap())
    }

    #[test]
    fn what_waits_for_a_whole_walk_is_left_out_until_then() {
        let all = FindingFilter::default();
        assert_eq!(
            all.looks_for(Phase::Early, false).unwrap(),
            "-depends-on-nothing,-failed-counter,-tag-count"
        );
        assert_eq!(
            all.looks_for(Phase::Late, false).unwrap(),
            "depends-on-nothing,failed-counter,tag-count,not-judged"
        );
    }

    #[test]
    fn a_look_decides_nothing() {
        let wanted = FindingFilter::new(vec![one("dependency-missing")], Vec::new());
        let look = wanted.looks_for(Phase::Early, false).unwrap();
        assert!(look.starts_with("-ghost-waiting,-"), "{look}");
        assert!(!look.contains("-dependency-missing"), "{look}");
        assert_eq!(
            wanted.looks_for(Phase::Early, true).unwrap(),
            "dependency-missing"
        );
        assert_eq!(wanted.looks_for(Phase::Late, true), None);
    }

    #[test]
    fn what_decides_over_another_is_looked_for_too_but_not_mended() {
        let wanted = FindingFilter::new(vec![one("tag-count")], Vec::new());
        assert_eq!(wanted.looks_for(Phase::Early, true).unwrap(), "tag-index");
        assert_eq!(wanted.mends(Stage::Entries, &[]), None);
        assert_eq!(wanted.mends(Stage::Counts, &[]).unwrap(), "tag-count");
    }

    #[test]
    fn what_is_deleted_has_to_be_named_itself() {
        let all = FindingFilter::new(vec![Word::All], Vec::new());
        let mends = all.mends(Stage::Entries, &[]).unwrap();
        assert!(!mends.contains("lost-key"), "{mends}");
        assert!(mends.contains("dependency-missing"), "{mends}");
        let one = FindingFilter::new(vec![one("lost-key")], Vec::new());
        assert_eq!(one.mends(Stage::Entries, &[]).unwrap(), "lost-key");
        assert_eq!(one.mends(Stage::Keys, &[]), None);
        // A look tells them anyway.
        let look = all.looks_for(Phase::Early, false).unwrap();
        assert!(!look.contains("-lost-key"), "{look}");
    }

    #[test]
    fn what_others_lean_on_is_mended_first() {
        let mends = FindingFilter::default().mends(Stage::Keys, &[]).unwrap();
        assert!(mends.contains("-ghost-waiting"), "{mends}");
        assert!(!mends.contains("-job-stub"), "{mends}");
    }
}
