//! Sends the items that a scan queued to the core, batch by batch. In a repair, the call that repairs an item verifies it
//! again first. With `--dry-run`, the core only verifies, and the Redis commands of a repair are shown.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

use super::undo::UndoWriter;
use super::{exit_code, new_repair_name, repair_question};
use crate::args::format::Format;
use crate::check::repair_queue::{FindingsExpectedRepaired, RepairQueue};
use crate::check::verify::finding_filter::FindingFilter;
use crate::check::verify::pace::CallPace;
use crate::check::verify::unlisted::split_unlisted_from_failed_batch;
use crate::check::verify::{CheckOptions, ScanOutcome};
use crate::core::call::Core;
use crate::core::script::keys::Keys;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::model::check::text::{plan_text, planned_commands, redis_cli_line};
use crate::model::check::{FindingRepairCommands, RepairCounts};
use crate::model::finding::{FindingId, RepairStage};
use crate::model::verdict::{
    FindingRepairState, ItemKind, ItemLocation, KeyChange, Verdict, VerdictsReply,
};
use crate::name::Name;
use crate::session::Session;
use crate::ui::Progress;
use crate::view::json;

pub(crate) struct Repairer {
    filter: FindingFilter,
    /// The name of this repair, which is part of the names of the keys that it sets aside.
    pub repair_name: String,
    undo: Option<UndoWriter>,
    /// The stage of the current batch.
    stage: RepairStage,
    /// The findings that the repair of the queue should repair, in case a reply is lost.
    expected: FindingsExpectedRepaired,
    pace: CallPace,
    /// The number of entries removed from the list of the current batch.
    removed: u64,
    /// The jobs from which this repair removed a dependency on a job that does not exist.
    freed: HashSet<Name>,
    /// The number of keys set aside.
    pub set_aside: u64,
    /// The error of the first call that failed because the user lacks a right on the server.
    pub missing_right: Option<Error>,
    pub counts: BTreeMap<FindingId, RepairCounts>,
    /// `counts` at the last complete scan. The findings of this scan do not include these repairs.
    pub counts_at_last_scan: BTreeMap<FindingId, RepairCounts>,
}

impl Repairer {
    pub(crate) fn new(
        filter: FindingFilter,
        repair_name: String,
        undo: Option<UndoWriter>,
        pace: CallPace,
    ) -> Repairer {
        Repairer {
            filter,
            repair_name,
            undo,
            stage: RepairStage::Keys,
            expected: FindingsExpectedRepaired::default(),
            pace,
            removed: 0,
            freed: HashSet::new(),
            set_aside: 0,
            missing_right: None,
            counts: BTreeMap::new(),
            counts_at_last_scan: BTreeMap::new(),
        }
    }

    /// Repairs all items that a scan queued. Returns the number of findings repaired.
    pub(crate) fn repair_queue(
        &mut self,
        core: &mut Core,
        mut queue: RepairQueue,
        progress: &mut Progress,
    ) -> Result<u64, Error> {
        for counts in self.counts.values_mut() {
            counts.refused = 0;
        }
        self.expected = std::mem::take(&mut queue.expected);
        let mut repaired = 0;
        for batch in queue.into_batches() {
            let (stage, kind, excluded) = (batch.stage, batch.location.kind, &batch.excluded);
            let Some(findings) = self.filter.finding_list_to_repair(stage, kind, excluded) else {
                continue;
            };
            for mut batch in split_unlisted_from_failed_batch(core, batch, &mut self.pace)? {
                self.removed = 0;
                self.stage = stage;
                let kind = batch.location.kind;
                while let Some((location, groups)) =
                    batch.take_next_call(self.pace.batch_size(kind))
                {
                    repaired +=
                        self.repair_groups_isolating_failures(core, &findings, &location, &groups)?;
                    progress.add_done(groups.iter().map(|group| group.len() as u64).sum());
                }
            }
        }
        Ok(repaired)
    }

    /// The filter for the scan after a round of repairs. It also selects the release of each job from which this
    /// repair removed a missing dependency, because the approval of the removal includes this release.
    pub(crate) fn add_freed_and_return_filter(&mut self) -> FindingFilter {
        self.filter = self.filter.also_selecting_releases_of(self.freed.clone());
        self.filter.clone()
    }

    /// Repairs groups of items in one call. If the call fails, because the user lacks a right or a key has a wrong
    /// type, repairs both halves of the groups separately, until only the groups that cause the error are left out.
    fn repair_groups_isolating_failures(
        &mut self,
        core: &mut Core,
        findings: &str,
        location: &ItemLocation,
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
                let repaired =
                    self.repair_groups_isolating_failures(core, findings, location, some)?;
                Ok(repaired
                    + self.repair_groups_isolating_failures(core, findings, location, others)?)
            }
            Err(error) if error.kind() == Kind::NoPerm => {
                // After a signal, first count the refused repairs. The next wait ends the repair.
                _ = self.pace.wait_unless_interrupted(items.len());
                let reply = core.verify_items(core.now(), findings, "", location, &items)?;
                for verdict in reply.verdicts {
                    if verdict.outcome == FindingRepairState::Repairable {
                        self.counts.entry(verdict.id).or_default().refused += 1;
                    }
                }
                self.missing_right.get_or_insert(error);
                Ok(0)
            }
            result => result,
        }
    }

    /// The items with their current names. The name of a block of list entries is the number of entries behind the
    /// block, which this repair lowers when it removes some of these entries.
    fn items_at_current_positions(&self, location: &ItemLocation, items: &[Name]) -> Vec<Name> {
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

    /// Repairs items in one call, or in several if they cost the server too much. If the server refuses an item after
    /// the call has repaired others, the call ends there without an error. Then this sends its items again: the next
    /// call has nothing to repair before the refused item, so it fails with the reason.
    fn repair_items(
        &mut self,
        core: &mut Core,
        findings: &str,
        location: &ItemLocation,
        items: &[Name],
    ) -> Result<u64, Error> {
        let mut repaired = 0;
        let mut rest = items;
        while !rest.is_empty() {
            // With an undo file, each item counts twice for `--rate`, because another call plans its repair first.
            let times = 1 + usize::from(self.undo.is_some());
            self.pace.wait_unless_interrupted(times * rest.len())?;
            let now = core.now();
            let mut items = self.items_at_current_positions(location, rest);
            let mut planned = None;
            if let Some(undo) = &mut self.undo {
                let plan = core.verify_items(now, findings, &self.repair_name, location, &items)?;
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
            self.pace
                .adjust_batch_size(location.kind, verified, elapsed);
            let (reply, recorded) = match (reply, &mut self.undo) {
                (Ok(reply), Some(undo)) => {
                    let recorded = undo.write_done_batch(&reply);
                    (reply, recorded)
                }
                (Ok(reply), None) => (reply, Ok(())),
                (Err(error), Some(undo)) => {
                    undo.write_failed_batch_unless_outcome_unknown(&error)?;
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
            for verdict in with(FindingRepairState::Repaired) {
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
                self.counts.entry(verdict.id).or_default().repaired += 1;
                repaired += 1;
            }
            // If the changes could not be written to the undo file, end the repair here, after this batch was counted.
            // A revert then uses the plan of the batch, which the file has.
            recorded?;
            if with(FindingRepairState::Repairable).next().is_none() {
                rest = &rest[verified.clamp(1, item_count)..];
            } else if repaired == before {
                for verdict in with(FindingRepairState::Repairable) {
                    self.counts.entry(verdict.id).or_default().refused += 1;
                }
                return Ok(repaired);
            }
        }
        Ok(repaired)
    }

    /// Counts the repairs of a call whose reply was lost: each planned finding that the repeated call no longer
    /// found. Without an undo file there is no plan, so the expected findings take its place.
    fn count_repairs_of_lost_reply(
        &mut self,
        planned: Option<Vec<Verdict>>,
        items: &[Name],
        reply: &VerdictsReply,
    ) -> u64 {
        let expected = match planned {
            Some(verdicts) => verdicts
                .into_iter()
                .filter(|verdict| verdict.outcome == FindingRepairState::Repairable)
                .map(|verdict| (verdict.id, verdict.item))
                .collect(),
            None => self.expected.take_expected_repairs_about(self.stage, items),
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
}

/// `--repair --dry-run`: shows the Redis commands that a repair would send, in the order of the repair.
pub(super) fn run_dry_run(
    options: &CheckOptions,
    keeps_undo: bool,
    result: ScanOutcome,
    session: &mut Session,
) -> Result<Exit, Error> {
    let ScanOutcome {
        mut check, queue, ..
    } = result;
    let repairable: u64 = check.items.iter().map(|found| found.repairable).sum();
    let what = match repairable {
        0 => "there is nothing to repair".to_owned(),
        _ => repair_question(repairable, session)?,
    };
    session.ui.note_dry_run_plan(&what, |render_options| {
        // A plan without a table begins with an empty line. Drop this line, because a headline stands directly above.
        let plan = plan_text(&check.items, render_options);
        plan.trim_start_matches('\n').to_owned()
    });
    let mut items = check.items.iter();
    let remains =
        items.any(|found| found.severity >= check.scan.fail_on && found.count > found.repairable);
    let overflowed = queue.overflowed;
    let note = "note: the plan is incomplete; a repair finds the rest after this part";
    // The dry run has shown the plan as a table. It shows the Redis commands only with `-v`, or in a document.
    if session.ui.format() == Format::Table && !session.ui.is_verbose() {
        if overflowed {
            session.ui.note(note);
        }
        if repairable > 0 && !keeps_undo {
            session.ui.hint(
                "with `--undo FILE`, a repair can be reverted by `qless check --revert FILE`",
            );
        }
        return Ok(exit_code(remains));
    }
    let mut plan = Vec::new();
    show_planned_repairs(options, queue, &mut plan, session).map_err(|error| {
        match error.kind() {
            kind @ (Kind::Interrupted | Kind::Terminated) => {
                Error::new(kind, "interrupted; nothing was changed")
            }
            _ => error,
        }
    })?;
    if session.ui.format() == Format::Json {
        (check.dry_run, check.plan) = (Some(true), Some(plan));
        session.ui.show(&check)?;
    }
    if overflowed {
        session.ui.note(note);
    }
    Ok(exit_code(remains))
}

/// Prints the planned repairs. In JSON, adds them to `plan` instead, for a single document.
fn show_planned_repairs(
    options: &CheckOptions,
    queue: RepairQueue,
    plan: &mut Vec<FindingRepairCommands>,
    session: &mut Session,
) -> Result<(), Error> {
    let keys = Keys::new(session.prefix());
    let repair_name = new_repair_name(session.now());
    let mut filter = PlanDeduplicator::default();
    let (core, ui) = session.core_and_ui()?;
    let mut pace = CallPace::new(options.rate);
    pace.measure_round_trip(core);
    for batch in queue.into_batches() {
        let (stage, kind, excluded) = (batch.stage, batch.location.kind, &batch.excluded);
        let Some(findings) = options.filter.finding_list_to_repair(stage, kind, excluded) else {
            continue;
        };
        for mut batch in split_unlisted_from_failed_batch(core, batch, &mut pace)? {
            let kind = batch.location.kind;
            while let Some((location, groups)) = batch.take_next_call(pace.batch_size(kind)) {
                let (items, mut verdicts) = (groups.concat(), Vec::new());
                let mut rest = items.as_slice();
                while !rest.is_empty() {
                    pace.wait_unless_interrupted(rest.len())?;
                    let begun = Instant::now();
                    let reply =
                        core.verify_items(core.now(), &findings, &repair_name, &location, rest)?;
                    pace.adjust_batch_size(kind, reply.verified, begun.elapsed());
                    rest = &rest[reply.verified.clamp(1, rest.len())..];
                    verdicts.extend(reply.verdicts);
                }
                verdicts.retain(|verdict| verdict.outcome == FindingRepairState::Repairable);
                for verdict in verdicts {
                    let Some(planned) = filter.plan_if_new(&keys, &verdict) else {
                        continue;
                    };
                    match ui.format() {
                        Format::Table => ui.print_text(&planned_commands(&planned))?,
                        Format::Ndjson => {
                            let line = json::compact_line(&planned).map_err(Error::internal)?;
                            ui.write_bytes(&line)?;
                        }
                        _ => plan.push(planned),
                    }
                }
            }
        }
    }
    Ok(())
}

/// Drops repairs that the plan already has, since several locations may report one finding. Also drops repairs
/// that an earlier repair of the plan makes needless.
#[derive(Default)]
struct PlanDeduplicator {
    hasher: RandomState,
    planned: HashSet<u64>,
    /// Failure lists to which the plan adds entries: their groups need no repair for an empty list.
    filled: HashSet<Name>,
}

impl PlanDeduplicator {
    /// The planned repair of a verdict. `None` if the plan already has it, or makes it needless.
    fn plan_if_new(&mut self, keys: &Keys, verdict: &Verdict) -> Option<FindingRepairCommands> {
        let list = Name::from(keys.group_key(verdict.item.as_bytes()));
        if verdict.id == FindingId::GroupSet && self.filled.contains(&list) {
            return None;
        }
        if verdict.id.is_about_failure_list() {
            let added = verdict.changes.iter().filter(|one| one.after.is_some());
            self.filled.extend(added.map(|change| change.key.clone()));
        }
        let command = |change: &KeyChange| {
            redis_cli_line(&change.equivalent_redis_command(keys, &verdict.item))
        };
        let planned = FindingRepairCommands {
            finding: verdict.id,
            item: verdict.item.clone(),
            detail: verdict.detail.clone(),
            commands: verdict.changes.iter().map(command).collect(),
        };
        let hash = self.hasher.hash_one((planned.finding, &planned.commands));
        self.planned.insert(hash).then_some(planned)
    }
}
