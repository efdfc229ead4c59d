//! Repairs the queue of a scan, batch by batch. The call that repairs an item verifies it again.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use super::undo::UndoWriter;
use crate::bulk::pace::Pace;
use crate::check::verify::batch_size::{BatchSizes, MAX_BATCH};
use crate::check::verify::expected::ExpectedRepairs;
use crate::check::verify::finding_filter::{FindingFilter, findings_argument};
use crate::check::verify::repair_queue::RepairQueue;
use crate::check::verify::unlisted;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::interrupt::Interrupt;
use crate::model::finding::{FindingId, RepairStage};
use crate::model::rate::MaxRate;
use crate::model::repair::RepairCounts;
use crate::model::verdict::{ItemKind, KeyChange, Location, RepairReply, RepairStatus, Verdict};
use crate::name::Name;
use crate::ui::Progress;

pub(crate) struct Repairer {
    filter: FindingFilter,
    /// A part of the names of the keys that this repair sets aside.
    repair_name: String,
    undo: Option<UndoWriter>,
    /// The stage of the current batch, and the findings that the queue leads to.
    stage: RepairStage,
    expected: ExpectedRepairs,
    pace: Pace,
    max_batch: usize,
    interrupt: Interrupt,
    batch_sizes: BatchSizes,
    /// The number of entries removed from the list of the current batch.
    removed: u64,
    /// The jobs whose missing dependency was removed.
    freed: HashSet<Name>,
    /// The number of keys set aside.
    pub set_aside: u64,
    /// The error of the first call without a right that it requires.
    pub missing_right: Option<Error>,
    pub counts: BTreeMap<FindingId, RepairCounts>,
}

impl Repairer {
    pub(crate) fn new(
        filter: FindingFilter,
        repair_name: String,
        undo: Option<UndoWriter>,
        rate: Option<MaxRate>,
        interrupt: Interrupt,
        batch_sizes: BatchSizes,
    ) -> Repairer {
        let pace = Pace::new(rate);
        Repairer {
            max_batch: pace.slice_size(MAX_BATCH),
            filter,
            repair_name,
            undo,
            stage: RepairStage::Keys,
            expected: ExpectedRepairs::default(),
            pace,
            interrupt,
            batch_sizes,
            removed: 0,
            freed: HashSet::new(),
            set_aside: 0,
            missing_right: None,
            counts: BTreeMap::new(),
        }
    }

    /// Repairs the queue of a scan. Returns the number of findings repaired.
    pub(crate) fn repair_queue(
        &mut self,
        core: &mut Core,
        mut queue: RepairQueue,
        progress: &mut Progress,
    ) -> Result<u64, Error> {
        for counts in self.counts.values_mut() {
            counts.refused = 0;
        }
        self.expected = queue.take_expected_repairs();
        let mut repaired = 0;
        for batch in queue.into_batches() {
            let Some(findings) = self
                .filter
                .finding_list_to_repair(batch.stage, &batch.excluded)
            else {
                continue;
            };
            for mut batch in
                unlisted::split_off_unlisted_jobs(core, batch, |count| self.keep_pace(count))?
            {
                self.removed = 0;
                self.stage = batch.stage;
                let kind = batch.location.kind;
                let findings = findings_argument(findings.clone(), kind);
                while let Some(groups) = batch.take_groups(self.batch_size(kind)) {
                    let location = batch.call_location(&groups);
                    repaired += self.repair_groups(core, &findings, &location, &groups)?;
                    progress.add_done(groups.iter().map(|group| group.len() as u64).sum());
                }
            }
        }
        Ok(repaired)
    }

    /// The filter for the scan after a round of repairs: the repair of a missing dependency approves the release of
    /// the job, even if its own set was lost and only a complete scan can release it.
    pub(crate) fn filter_for_rescan(&mut self) -> FindingFilter {
        self.filter = self.filter.with_releases_of(self.freed.clone());
        self.filter.clone()
    }

    /// Waits for the pace after `count` items. An interrupt is an error.
    fn keep_pace(&mut self, count: usize) -> Result<(), Error> {
        self.pace.wait_before_slice(count, &self.interrupt);
        match self.interrupt.kind_of_received_signal() {
            Some(kind) => Err(Error::new(kind, "interrupted")),
            None => Ok(()),
        }
    }

    fn batch_size(&self, kind: ItemKind) -> usize {
        self.batch_sizes.size_for(kind).min(self.max_batch)
    }

    /// Repairs groups of items in one call. If a right is missing, or a key that is required has a
    /// wrong type, it repairs the groups that do not require it.
    fn repair_groups(
        &mut self,
        core: &mut Core,
        findings: &str,
        location: &Location,
        groups: &[Vec<Name>],
    ) -> Result<u64, Error> {
        let items = groups.concat();
        match self.repair_items(core, findings, location, &items) {
            Err(error) if error.kind() == Kind::WrongKeyType && groups.len() <= 1 => Ok(0),
            Err(error)
                if matches!(error.kind(), Kind::NoPerm | Kind::WrongKeyType)
                    && groups.len() > 1 =>
            {
                let (some, others) = groups.split_at(groups.len() / 2);
                let repaired = self.repair_groups(core, findings, location, some)?;
                Ok(repaired + self.repair_groups(core, findings, location, others)?)
            }
            Err(error) if error.kind() == Kind::NoPerm => {
                self.pace.wait_before_slice(items.len(), &self.interrupt);
                let reply = core.verify_items(core.now(), findings, location, &items)?;
                for verdict in reply.verdicts {
                    if verdict.outcome == RepairStatus::Repairable {
                        self.repair_counts_of_finding(&verdict).refused += 1;
                    }
                }
                self.missing_right.get_or_insert(error);
                Ok(0)
            }
            result => result,
        }
    }

    /// The items as the server has to be asked for them. Entries of a list move towards its
    /// end when entries behind them are removed.
    fn items_at_current_positions(&self, location: &Location, items: &[Name]) -> Vec<Name> {
        if location.kind != ItemKind::Entries {
            return items.to_vec();
        }
        let position = |item: &Name| item.as_str().and_then(|text| text.parse::<u64>().ok());
        let shifted = |item: &Name| match position(item) {
            Some(position) => Name::from(position.saturating_sub(self.removed).to_string()),
            None => item.clone(),
        };
        items.iter().map(shifted).collect()
    }

    /// Repairs items in one call, or in several if they cost too much. If a call ends early because the server
    /// refused an item, the next call begins with this item: its reply says why.
    fn repair_items(
        &mut self,
        core: &mut Core,
        findings: &str,
        location: &Location,
        items: &[Name],
    ) -> Result<u64, Error> {
        let mut repaired = 0;
        let mut rest = items;
        while !rest.is_empty() {
            // With an undo file, each item counts twice for the pace: its repair is planned in a call of its own.
            let times = 1 + usize::from(self.undo.is_some());
            self.keep_pace(times * rest.len())?;
            let now = core.now();
            let mut items = self.items_at_current_positions(location, rest);
            let mut planned = None;
            if let Some(undo) = &mut self.undo {
                let plan =
                    core.plan_item_repairs(now, findings, &self.repair_name, location, &items)?;
                items.truncate(plan.verified.max(1));
                if !undo.write_plan_if_any(&plan.verdicts)? {
                    rest = &rest[items.len()..];
                    continue;
                }
                planned = Some(plan.verdicts);
            }
            let begun = Instant::now();
            let reply = core.repair_items(now, findings, &self.repair_name, location, &items);
            let elapsed = begun.elapsed();
            let item_count = items.len();
            let verified = reply.as_ref().map_or(item_count, |reply| reply.verified);
            self.batch_sizes
                .adjust_size(location.kind, verified, elapsed);
            let (reply, recorded) = match (reply, &mut self.undo) {
                (Ok(reply), Some(undo)) => {
                    let recorded = undo.write_done(&reply);
                    (reply, recorded)
                }
                (Ok(reply), None) => (reply, Ok(())),
                (Err(error), Some(undo)) => {
                    undo.write_failed(&error)?;
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
            if reply.repeated {
                repaired += self.count_repairs_of_lost_reply(planned, &items, &reply);
            }
            for verdict in with(RepairStatus::Repaired) {
                let moves = |change: &&KeyChange| change.item.is_none() && change.after.is_some();
                self.set_aside += verdict.changes.iter().filter(moves).count() as u64;
                if location.kind == ItemKind::Entries {
                    let removes =
                        |change: &&KeyChange| change.item.is_some() && change.after.is_none();
                    self.removed += verdict.changes.iter().filter(removes).count() as u64;
                }
                if verdict.id == FindingId::DependencyMissing {
                    self.freed.insert(verdict.item.clone());
                }
                self.repair_counts_of_finding(verdict).repaired += 1;
                repaired += 1;
            }
            // A failure to write the outcome ends the repair only now, after this batch was counted: its plan is in
            // the file.
            recorded?;
            if with(RepairStatus::Repairable).next().is_none() {
                rest = &rest[verified.clamp(1, item_count)..];
            } else if repaired == before {
                for verdict in with(RepairStatus::Repairable) {
                    self.repair_counts_of_finding(verdict).refused += 1;
                }
                return Ok(repaired);
            }
        }
        Ok(repaired)
    }

    /// Counts what a call has repaired whose reply was lost: the findings that were planned, or else expected, and
    /// that the repeated call no longer found.
    fn count_repairs_of_lost_reply(
        &mut self,
        planned: Option<Vec<Verdict>>,
        items: &[Name],
        reply: &RepairReply,
    ) -> u64 {
        let expected = match planned {
            Some(verdicts) => verdicts
                .into_iter()
                .filter(|verdict| verdict.outcome == RepairStatus::Repairable)
                .map(|verdict| (verdict.id, verdict.item))
                .collect(),
            None => self.expected.take_repairs_about(self.stage, items),
        };
        let mut repaired = 0;
        for (id, item) in expected {
            let meets = |verdict: &Verdict| verdict.id == id && verdict.item == item;
            if !reply.verdicts.iter().any(meets) {
                self.counts.entry(id).or_default().repaired += 1;
                repaired += 1;
            }
        }
        repaired
    }

    fn repair_counts_of_finding(&mut self, verdict: &Verdict) -> &mut RepairCounts {
        self.counts.entry(verdict.id).or_default()
    }
}
