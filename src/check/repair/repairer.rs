//! Mends what a look kept, slice by slice: each is judged again in the call that mends it.

use std::collections::BTreeMap;
use std::time::Instant;

use super::undo::Undo;
use crate::bulk::pace::Pace;
use crate::check::verify::batch_size::{SLICE, Slices};
use crate::check::verify::finding_filter::FindingFilter;
use crate::check::verify::repair_queue::RepairQueue;
use crate::core::call::Core;
use crate::error::{Error, Kind as Fault};
use crate::interrupt::Interrupt;
use crate::model::finding::Finding;
use crate::model::rate::Rate;
use crate::model::repair::RepairCounts;
use crate::model::verdict::{Change, Location, Verdict, VerdictOutcome};
use crate::name::Name;
use crate::ui::Progress;

/// What mends.
pub(crate) struct Repairer {
    wanted: FindingFilter,
    /// The name of this repair, under which it sets aside.
    run: String,
    undo: Option<Undo>,
    pace: Pace,
    most: usize,
    stop: Interrupt,
    slices: Slices,
    /// How many whole keys were set aside.
    pub aside: u64,
    /// Which right was missing first.
    pub lacks: Option<Error>,
    /// What became of findings, by name.
    pub fates: BTreeMap<&'static str, RepairCounts>,
}

impl Repairer {
    pub(crate) fn new(
        wanted: FindingFilter,
        run: String,
        undo: Option<Undo>,
        rate: Option<Rate>,
        stop: Interrupt,
        slices: Slices,
    ) -> Repairer {
        let pace = Pace::new(rate);
        Repairer {
            most: pace.slice(SLICE),
            wanted,
            run,
            undo,
            pace,
            stop,
            slices,
            aside: 0,
            lacks: None,
            fates: BTreeMap::new(),
        }
    }

    /// Mends what a look kept. Returns how many findings were mended.
    pub(crate) fn round(
        &mut self,
        core: &mut Core,
        kept: RepairQueue,
        progress: &mut Progress,
    ) -> Result<u64, Error> {
        self.fates.values_mut().for_each(|fate| fate.refused = 0);
        let mut mended = 0;
        for mut batch in kept.in_order() {
            let Some(findings) = self.wanted.mends(batch.stage, &batch.without) else {
                continue;
            };
            let place = batch.place.clone();
            while let Some(groups) = batch.next(self.slices.size(place.kind).min(self.most)) {
                mended += self.slice(core, &findings, &place, &groups)?;
                progress.add(groups.iter().map(|group| group.len() as u64).sum());
            }
        }
        Ok(mended)
    }

    /// Mends groups of items in one call; where a right is missing, what needs none of it.
    fn slice(
        &mut self,
        core: &mut Core,
        findings: &str,
        place: &Location,
        groups: &[Vec<Name>],
    ) -> Result<u64, Error> {
        let items = groups.concat();
        match self.mend(core, findings, place, &items) {
            Err(error) if error.kind() == Fault::NoPerm && groups.len() > 1 => {
                let (some, others) = groups.split_at(groups.len() / 2);
                let mended = self.slice(core, findings, place, some)?;
                Ok(mended + self.slice(core, findings, place, others)?)
            }
            Err(error) if error.kind() == Fault::NoPerm => {
                self.pace.wait(items.len(), &self.stop);
                for verdict in core.verify(core.now(), findings, place, &items)? {
                    if verdict.outcome == VerdictOutcome::Found {
                        self.fate(&verdict, |fate| fate.refused += 1);
                    }
                }
                self.lacks.get_or_insert(error);
                Ok(0)
            }
            mended => mended,
        }
    }

    /// Mends a slice. What the server refuses half-way is tried again, so that it says why.
    fn mend(
        &mut self,
        core: &mut Core,
        findings: &str,
        place: &Location,
        items: &[Name],
    ) -> Result<u64, Error> {
        let mut mended = 0;
        loop {
            // With an undo they are looked at twice.
            let times = 1 + usize::from(self.undo.is_some());
            self.pace.wait(times * items.len(), &self.stop);
            if let Some(kind) = self.stop.asked() {
                return Err(Error::new(kind, "interrupted"));
            }
            let now = core.now();
            if let Some(undo) = &mut self.undo {
                let plan = core.plan_repair(now, findings, &self.run, place, items)?;
                if !undo.plan(&plan)? {
                    return Ok(mended);
                }
            }
            let begun = Instant::now();
            let answer = core.repair(now, findings, &self.run, place, items);
            let took = begun.elapsed();
            self.slices.measure(place.kind, items.len(), took);
            let answer = match (answer, &mut self.undo) {
                (Ok(answer), Some(undo)) => undo.done(&answer).map(|()| answer)?,
                (Ok(answer), None) => answer,
                (Err(error), Some(undo)) => {
                    undo.broke(&error)?;
                    return Err(error);
                }
                (Err(error), None) => return Err(error),
            };
            let count = |outcome| {
                answer
                    .verdicts
                    .iter()
                    .filter(move |one| one.outcome == outcome)
            };
            let before = mended;
            for verdict in count(VerdictOutcome::Mended) {
                let moved = |change: &&Change| change.item.is_none() && change.after.is_some();
                self.aside += verdict.changes.iter().filter(moved).count() as u64;
                self.fate(verdict, |fate| fate.mended += 1);
                mended += 1;
            }
            if count(VerdictOutcome::Found).next().is_none() {
                return Ok(mended);
            }
            if mended == before {
                for verdict in count(VerdictOutcome::Found) {
                    self.fate(verdict, |fate| fate.refused += 1);
                }
                return Ok(mended);
            }
        }
    }

    fn fate(&mut self, verdict: &Verdict, change: impl FnOnce(&mut RepairCounts)) {
        if let Some(finding) = Finding::named(&verdict.id) {
            change(self.fates.entry(finding.id).or_default());
        }
    }
}
