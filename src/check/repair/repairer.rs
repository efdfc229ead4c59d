//! Repairs the queue of a scan, batch by batch. The call that repairs an item verifies it again.

use std::collections::BTreeMap;
use std::time::Instant;

use super::undo::Undo;
use crate::bulk::pace::Pace;
use crate::check::verify::batch_size::{BatchSizes, MAX_BATCH};
use crate::check::verify::finding_filter::FindingFilter;
use crate::check::verify::repair_queue::RepairQueue;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::interrupt::Interrupt;
use crate::model::finding::FindingId;
use crate::model::rate::Rate;
use crate::model::repair::RepairCounts;
use crate::model::verdict::{Change, Location, Verdict, VerdictOutcome};
use crate::name::Name;
use crate::ui::Progress;

pub(crate) struct Repairer {
    filter: FindingFilter,
    /// The name of this repair, which is in the names of the keys that it sets aside.
    run: String,
    undo: Option<Undo>,
    pace: Pace,
    max_batch: usize,
    interrupt: Interrupt,
    batch_sizes: BatchSizes,
    /// The number of keys set aside.
    pub set_aside: u64,
    /// The error of the first call without a right that it requires.
    pub missing_right: Option<Error>,
    pub counts: BTreeMap<FindingId, RepairCounts>,
}

impl Repairer {
    pub(crate) fn new(
        filter: FindingFilter,
        run: String,
        undo: Option<Undo>,
        rate: Option<Rate>,
        interrupt: Interrupt,
        batch_sizes: BatchSizes,
    ) -> Repairer {
        let pace = Pace::new(rate);
        Repairer {
            max_batch: pace.slice(MAX_BATCH),
            filter,
            run,
            undo,
            pace,
            interrupt,
            batch_sizes,
            set_aside: 0,
            missing_right: None,
            counts: BTreeMap::new(),
        }
    }

    /// Repairs the queue of a scan. Returns the number of findings repaired.
    pub(crate) fn round(
        &mut self,
        core: &mut Core,
        queue: RepairQueue,
        progress: &mut Progress,
    ) -> Result<u64, Error> {
        for counts in self.counts.values_mut() {
            counts.refused = 0;
        }
        let mut repaired = 0;
        for mut batch in queue.into_batches() {
            let Some(findings) = self.filter.to_repair(batch.stage, &batch.excluded) else {
                continue;
            };
            let location = batch.location.clone();
            while let Some(groups) = batch.next(self.batch_size(&location)) {
                repaired += self.repair_groups(core, &findings, &location, &groups)?;
                progress.add(groups.iter().map(|group| group.len() as u64).sum());
            }
        }
        Ok(repaired)
    }

    fn batch_size(&self, location: &Location) -> usize {
        self.batch_sizes.size(location.kind).min(self.max_batch)
    }

    /// Repairs groups of items in one call. If a right is missing, or a key that is required has a
    /// wrong type, repairs those that do not require it.
    fn repair_groups(
        &mut self,
        core: &mut Core,
        findings: &str,
        location: &Location,
        groups: &[Vec<Name>],
    ) -> Result<u64, Error> {
        let items = groups.concat();
        match self.repair(core, findings, location, &items) {
            Err(error) if error.kind() == Kind::Damaged && groups.len() <= 1 => Ok(0),
            Err(error)
                if matches!(error.kind(), Kind::NoPerm | Kind::Damaged) && groups.len() > 1 =>
            {
                let (some, others) = groups.split_at(groups.len() / 2);
                let repaired = self.repair_groups(core, findings, location, some)?;
                Ok(repaired + self.repair_groups(core, findings, location, others)?)
            }
            Err(error) if error.kind() == Kind::NoPerm => {
                self.pace.wait(items.len(), &self.interrupt);
                for verdict in core.verify(core.now(), findings, location, &items)? {
                    if verdict.outcome == VerdictOutcome::Repairable {
                        self.counts_of(&verdict).refused += 1;
                    }
                }
                self.missing_right.get_or_insert(error);
                Ok(0)
            }
            result => result,
        }
    }

    /// Repairs items in one call. What the server refuses midway is retried, so that it says why.
    fn repair(
        &mut self,
        core: &mut Core,
        findings: &str,
        location: &Location,
        items: &[Name],
    ) -> Result<u64, Error> {
        let mut repaired = 0;
        loop {
            // An undo file requires a plan before the repair.
            let times = 1 + usize::from(self.undo.is_some());
            self.pace.wait(times * items.len(), &self.interrupt);
            if let Some(kind) = self.interrupt.asked() {
                return Err(Error::new(kind, "interrupted"));
            }
            let now = core.now();
            if let Some(undo) = &mut self.undo {
                let plan = core.plan_repair(now, findings, &self.run, location, items)?;
                if !undo.plan(&plan)? {
                    return Ok(repaired);
                }
            }
            let begun = Instant::now();
            let reply = core.repair(now, findings, &self.run, location, items);
            let took = begun.elapsed();
            self.batch_sizes.measure(location.kind, items.len(), took);
            let reply = match (reply, &mut self.undo) {
                (Ok(reply), Some(undo)) => undo.done(&reply).map(|()| reply)?,
                (Ok(reply), None) => reply,
                (Err(error), Some(undo)) => {
                    undo.failed(&error)?;
                    return Err(error);
                }
                (Err(error), None) => return Err(error),
            };
            let with = |outcome| {
                reply
                    .verdicts
                    .iter()
                    .filter(move |one| one.outcome == outcome)
            };
            let before = repaired;
            for verdict in with(VerdictOutcome::Repaired) {
                let moves = |change: &&Change| change.item.is_none() && change.after.is_some();
                self.set_aside += verdict.changes.iter().filter(moves).count() as u64;
                self.counts_of(verdict).repaired += 1;
                repaired += 1;
            }
            if with(VerdictOutcome::Repairable).next().is_none() {
                return Ok(repaired);
            }
            if repaired == before {
                for verdict in with(VerdictOutcome::Repairable) {
                    self.counts_of(verdict).refused += 1;
                }
                return Ok(repaired);
            }
        }
    }

    fn counts_of(&mut self, verdict: &Verdict) -> &mut RepairCounts {
        self.counts.entry(verdict.id).or_default()
    }
}
