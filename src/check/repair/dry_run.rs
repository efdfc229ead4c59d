//! `--repair --dry-run`: shows the Redis commands that a repair would send, in the order of the repair.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

use super::{exit_code, findings_text, new_repair_name};
use crate::args::format::Format;
use crate::bulk::pace::Pace;
use crate::check::verify::batch_size::BatchSizes;
use crate::check::verify::finding_filter::exclude_failure_list_searches_if_jobs;
use crate::check::verify::unlisted;
use crate::check::verify::{CheckOptions, ScanOutcome};
use crate::core::script::keys::Keys;
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::InterruptFlags;
use crate::model::check::repair_text::{plan_text, planned_commands, redis_cli_line};
use crate::model::check::{DryRunRepair, RepairPlan};
use crate::model::finding::FindingId;
use crate::model::verdict::{KeyChange, Repairability, Verdict};
use crate::name::Name;
use crate::session::Session;
use crate::view::json;

pub(super) fn run_dry_run(
    options: &CheckOptions,
    keeps_undo: bool,
    result: ScanOutcome,
    interrupt: &InterruptFlags,
    session: &mut Session,
) -> Result<Exit, Error> {
    let ScanOutcome { check, queue, .. } = result;
    let repairable: u64 = check.items.iter().map(|found| found.repairable).sum();
    let what = match repairable {
        0 => "there is nothing to repair".to_owned(),
        _ => format!(
            "repair {} on {}",
            findings_text(repairable),
            session.server_label_and_address()?
        ),
    };
    session.ui.print_dry_run_plan(&what, |render_options| {
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
    let mut document = RepairPlan {
        check,
        dry_run: true,
        plan: Vec::new(),
    };
    let keys = Keys::new(session.prefix());
    let repair_name = new_repair_name(session.now());
    let mut filter = PlanDeduplicator::default();
    let now = session.now();
    let mut batch_sizes = BatchSizes::new(session.core()?.measure_round_trip(now));
    let mut pace = Pace::new(options.rate);
    let (max_batch, mut verdicts) = (pace.slice_size(usize::MAX), Vec::new());
    for batch in queue.into_batches() {
        let Some(findings) = options
            .filter
            .finding_list_to_repair(batch.stage, &batch.excluded)
        else {
            continue;
        };
        let mut wait = |count| {
            let waited = pace.wait_unless_interrupted(count, interrupt);
            waited.map_err(|error| Error::new(error.kind(), "interrupted; nothing was changed"))
        };
        for mut batch in unlisted::split_batch_of_failed_jobs(session.core()?, batch, &mut wait)? {
            let kind = batch.location.kind;
            let findings = exclude_failure_list_searches_if_jobs(findings.clone(), kind);
            while let Some(groups) =
                batch.take_groups_for_next_call(max_batch.min(batch_sizes.size_for(kind)))
            {
                let (core, items) = (session.core()?, groups.concat());
                let mut rest = items.as_slice();
                while !rest.is_empty() {
                    wait(rest.len())?;
                    let begun = Instant::now();
                    let location = batch.call_location(&groups);
                    let reply =
                        core.verify_items(core.now(), &findings, &repair_name, &location, rest)?;
                    batch_sizes.adjust_size(kind, reply.verified, begun.elapsed());
                    rest = &rest[reply.verified.clamp(1, rest.len())..];
                    verdicts.extend(reply.verdicts);
                }
                for verdict in verdicts.drain(..) {
                    let planned = match verdict.outcome {
                        Repairability::Repairable => filter.plan_if_new(&keys, &verdict),
                        _ => None,
                    };
                    match (planned, session.ui.format()) {
                        (None, _) => {}
                        (Some(planned), Format::Table) => {
                            session.ui.print_text(&planned_commands(&planned))?;
                        }
                        (Some(planned), Format::Ndjson) => {
                            let line = json::compact_line(&planned).map_err(Error::internal)?;
                            session.ui.write_bytes(&line)?;
                        }
                        (Some(planned), _) => document.plan.push(planned),
                    }
                }
            }
        }
    }
    if session.ui.format() == Format::Json {
        session.ui.show(&document)?;
    }
    if overflowed {
        session.ui.note(note);
    }
    Ok(exit_code(remains))
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
    fn plan_if_new(&mut self, keys: &Keys, verdict: &Verdict) -> Option<DryRunRepair> {
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
        let planned = DryRunRepair {
            finding: verdict.id,
            item: verdict.item.clone(),
            detail: verdict.detail.clone(),
            commands: verdict.changes.iter().map(command).collect(),
        };
        let hash = self.hasher.hash_one((planned.finding, &planned.commands));
        self.planned.insert(hash).then_some(planned)
    }
}
