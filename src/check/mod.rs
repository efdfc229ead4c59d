//! `qless check`: the scan finds candidates for inconsistent data, the core verifies them, and with `--repair`, it
//! repairs them.
//!
//! A repair scans, shows the plan and asks. Then the core verifies each finding again and repairs it, stage by stage. A
//! scan follows, and the next round repairs what this scan found.

pub(crate) mod repair_queue;
mod repairer;
pub(crate) mod revert;
pub mod scan;
mod undo;
pub(crate) mod verify;

use std::collections::BTreeMap;
use std::path::Path;

use uuid::Uuid;

use self::repairer::Repairer;
use self::undo::UndoWriter;
use self::verify::pace::CallPace;
use self::verify::{CheckOptions, ScanOutcome};
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::json::Number;
use crate::model::check::text::{count_keys_to_delete, decisions_for_operator_text, plan_text};
use crate::model::check::{RepairCounts, RepairReport, ReportedFinding, ScanSummary};
use crate::model::finding::{FindingId, Severity};
use crate::name::Name;
use crate::session::Session;
use crate::text::{Sanitized, format_count, with_thousands_separators};

/// The note about the findings that a repair with `--queue` skips.
const SKIPPED_BY_QUEUE: &str =
    "note: a job that lost its dependencies is repaired only without `--queue`";

/// Maximum number of rounds of a repair and a scan: a repair may reveal further findings to the scan. Rounds whose queue
/// is too small for all findings are not limited, as long as they repair something.
const MAX_ROUNDS: usize = 3;

/// Repairs what a scan finds. `undo` is the undo file.
pub(crate) fn run_repair(
    check: &CheckOptions,
    undo: Option<&Path>,
    dry_run: bool,
    session: &mut Session,
) -> Result<Exit, Error> {
    session.ui.check_columns::<RepairReport>()?;
    let mut undo = undo
        .map(|path| UndoWriter::open(path, check.repair_command(), dry_run, session))
        .transpose()?;
    let now = session.connect()?;
    let server = session.core()?.server_risks(now);
    if server.primary.is_some() && !dry_run {
        let address = session.server_label_and_address()?;
        return Err(Error::new(
            Kind::ReadOnly,
            format!("cannot repair `{address}`: it is a replica"),
        )
        .hint("point `--redis` at its primary; `--read-only` scans the replica itself"));
    }
    let first = verify::run_check(check, true, "scan", session)?;
    let repairable = first.check.items.iter().any(|found| found.repairable > 0);
    let idle = first.queue.is_empty() || !repairable;
    if first.halted.is_some() || idle && !dry_run {
        return report_nothing_repaired(first, session);
    }
    if dry_run {
        return repairer::run_dry_run(check, undo.is_some(), first, session);
    }
    if let Some(policy) = server
        .eviction_policy
        .filter(|policy| policy != "noeviction")
    {
        session.ui.warn(&format!(
            "maxmemory-policy is {policy}: the server may cause the same findings again"
        ));
    }
    ask_for_approval(&first, session)?;
    let repair_name = new_repair_name(session.now());
    if let Some(undo) = &mut undo {
        undo.ledger.write_head_or_report_restart(session)?;
    }
    let mut pace = CallPace::new(check.rate);
    pace.measure_round_trip(session.core()?);
    let repairer = Repairer::new(check.filter.clone(), repair_name, undo, pace);
    repair_and_report(check, repairer, first, session)
}

/// A unique name for a repair, which is part of the names of the keys that it sets aside. Begins with the time.
fn new_repair_name(now: Moment) -> String {
    let time = now.to_rfc3339().unwrap_or_default();
    let time: String = time
        .chars()
        .take(19)
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let mut suffix = Uuid::new_v4().simple().to_string();
    suffix.truncate(4);
    format!("{time}-{suffix}")
}

/// Reports a scan after which no repair follows: it is incomplete, or found nothing to repair.
fn report_nothing_repaired(result: ScanOutcome, session: &mut Session) -> Result<Exit, Error> {
    session.ui.mark_nothing_changed();
    if result.halted.is_none() && session.ui.format().is_json_or_ndjson() {
        let failing = result.reaches_fail_on_severity();
        let mut items = result.check.items;
        for found in &mut items {
            found.repair = Some(RepairCounts::default());
        }
        session.ui.show(&RepairReport {
            items,
            scan: result.check.scan,
            run_name: None,
            totals: RepairCounts::default(),
        })?;
        return Ok(exit_code(failing));
    }
    let decisions = decisions_for_operator_text(&result.check.items, Severity::Warn);
    let complete = result.halted.is_none();
    let skipped_by_scope = result.queue.skipped_by_scope;
    let exit = verify::report_findings(result, false, session)?;
    note_skipped_repairs(skipped_by_scope, &[], session);
    if complete && !decisions.is_empty() {
        session
            .ui
            .note(&format!("nothing to repair\n{}", decisions.trim_end()));
    }
    Ok(exit)
}

/// Prints notes about the jobs whose lost dependencies this repair skips, and how to restore them.
fn note_skipped_repairs(
    skipped_by_scope: usize,
    too_many_dependencies: &[Name],
    session: &mut Session,
) {
    if skipped_by_scope > 0 {
        session.ui.note(SKIPPED_BY_QUEUE);
    }
    for job in too_many_dependencies.iter().take(3) {
        let depends = CommandLine::new("depends")
            .with_flag("--on", "JID")
            .with_name_argument(job);
        let set = depends.fill_sentence(": set all of them with {}, with a `--on` for each");
        session.ui.note(&format!(
            "note: {job} lost more dependencies than one call can verify{}",
            set.unwrap_or_default()
        ));
    }
}

fn exit_code(is_failing: bool) -> Exit {
    if is_failing {
        Exit::Inconsistent
    } else {
        Exit::Ok
    }
}

/// Shows the plan and asks for approval.
fn ask_for_approval(result: &ScanOutcome, session: &mut Session) -> Result<(), Error> {
    let items = &result.check.items;
    let repairable = items.iter().map(|found| found.repairable).sum();
    let what = repair_question(repairable, session)?;
    let headline = result.check.scan_headline();
    session.ui.note(&headline);
    let details = |options: &_| plan_text(items, options);
    let deleted = count_keys_to_delete(items);
    let what = match deleted {
        0 => what,
        keys => format!(
            "{what}, and delete {} permanently",
            format_count(keys, "key", "keys")
        ),
    };
    session.ui.confirm_repair(&what, deleted, details).map(drop)
}

fn repair_question(findings: u64, session: &mut Session) -> Result<String, Error> {
    let findings = format_count(findings, "finding", "findings");
    let server = session.server_label_and_address()?;
    Ok(format!("repair {findings} on {server}"))
}

/// An approved repair: rounds of a repair and a scan, and the report of all rounds.
fn repair_and_report(
    options: &CheckOptions,
    mut repairer: Repairer,
    first_scan: ScanOutcome,
    session: &mut Session,
) -> Result<Exit, Error> {
    let stopwatch = session.clock().start_stopwatch();
    let before = first_scan.check.items.clone();
    let skipped_by_scope = first_scan.queue.skipped_by_scope;
    let too_many_dependencies = first_scan.queue.jobs_whose_dependencies_stay_lost();
    let (mut last, error) =
        repair_and_rescan_in_rounds(options, &mut repairer, first_scan, session)?;
    let complete = error.is_none();
    let error = error.or_else(|| repairer.missing_right.take());
    let elapsed = stopwatch.elapsed_seconds();
    last.check.scan.elapsed_s = Number((elapsed * 10.0).round() / 10.0);
    let repaired = make_report(&repairer, &last, before, complete);
    session.ui.show(&repaired)?;
    let summary = repaired.repair_totals_line();
    let failing = last.reaches_fail_on_severity();
    note_skipped_repairs(skipped_by_scope, &too_many_dependencies, session);
    if let Some(error) = error {
        session.ui.note(&summary);
        return Err(incomplete_error(&error, &repaired, session));
    }
    let items = repaired.items.iter();
    let severe = items.filter(|found| found.severity >= last.check.scan.fail_on);
    let severe: u64 = severe.map(|found| found.count).sum();
    let unverified = |found: &ReportedFinding| found.finding.id == FindingId::NotJudged;
    session.ui.note(&match severe {
        0 if last.check.items.iter().any(unverified) => {
            format!("{summary}; nothing left that could be verified")
        }
        0 if last.narrow => format!("{summary}; nothing left of what was asked"),
        0 => format!("{summary}; clean"),
        severe => format!("{summary}; {} remaining", with_thousands_separators(severe)),
    });
    if repairer.set_aside > 0 {
        let keys = format_count(repairer.set_aside, "key is", "keys are");
        session.ui.note(&format!(
            "{keys} set aside under `{}lost:{}:`",
            Sanitized(session.prefix()),
            repairer.repair_name
        ));
    }
    let decisions = decisions_for_operator_text(&last.check.items, Severity::Warn);
    if !decisions.is_empty() {
        session.ui.note(decisions.trim_end());
    }
    Ok(exit_code(failing))
}

/// Repeats a repair and a scan until the scan queues nothing or the repair repaired nothing, or after [`MAX_ROUNDS`].
/// The result is the last complete scan, and the error that ended the repair early, if any.
fn repair_and_rescan_in_rounds(
    options: &CheckOptions,
    repairer: &mut Repairer,
    first: ScanOutcome,
    session: &mut Session,
) -> Result<(ScanOutcome, Option<Error>), Error> {
    let mut last = first;
    for round in 1.. {
        let queue = std::mem::take(&mut last.queue);
        let overflowed = queue.overflowed;
        let title = match round {
            1 => "repair".to_owned(),
            round => format!("repair {round}"),
        };
        let progress = session.ui.start_progress_bar(queue.item_count() as u64);
        let mut progress = progress.with_title(title);
        let repaired = repairer.repair_queue(session.core()?, queue, &mut progress);
        progress.remove_bar();
        let repaired = match repaired {
            Ok(repaired) => repaired,
            Err(error) => return Ok((last, Some(error))),
        };
        let title = format!("scan {}", round + 1);
        let rescan = CheckOptions {
            filter: repairer.add_freed_and_return_filter(),
            ..options.clone()
        };
        let mut next = match verify::run_check(&rescan, true, &title, session) {
            Ok(next) => next,
            Err(error) => return Ok((last, Some(error))),
        };
        if let Some(error) = next.halted.take() {
            return Ok((last, Some(error)));
        }
        last = next;
        repairer.counts_at_last_scan = repairer.counts.clone();
        let another = overflowed || round < MAX_ROUNDS;
        if last.queue.is_empty() || repaired == 0 || !another {
            break;
        }
    }
    Ok((last, None))
}

/// The report, with a row for each finding. If the repair is incomplete, the count of a row is what the last scan
/// found, minus the repairs since that scan.
fn make_report(
    repairer: &Repairer,
    last: &ScanOutcome,
    first: Vec<ReportedFinding>,
    is_complete: bool,
) -> RepairReport {
    let mut repairable: BTreeMap<FindingId, u64> = BTreeMap::new();
    for found in &first {
        *repairable.entry(found.finding.id).or_default() += found.repairable;
    }
    let mut items: Vec<ReportedFinding> = Vec::new();
    let mut all_counts = repairer.counts.clone();
    for found in &last.check.items {
        let id = found.finding.id;
        let mut counts = all_counts.remove(&id).unwrap_or_default();
        let mut found = found.clone();
        if !is_complete {
            let before = repairer
                .counts_at_last_scan
                .get(&id)
                .copied()
                .unwrap_or_default();
            let repaired = counts.repaired - before.repaired;
            found.count = found.count.saturating_sub(repaired);
        } else if let Some(before) = repairable.remove(&id) {
            let gone = before.saturating_sub(counts.repaired + counts.refused);
            counts.gone = gone.saturating_sub(found.repairable);
        }
        found.repair = Some(counts);
        items.push(found);
    }
    // Add findings of the first scan that the last one did not find.
    for mut found in first {
        let id = found.finding.id;
        if items.iter().any(|item| item.finding.id == id) {
            continue;
        }
        let mut counts = all_counts.remove(&id).unwrap_or_default();
        let before = repairable.remove(&id).unwrap_or(0);
        counts.gone = before.saturating_sub(counts.repaired + counts.refused);
        found.count = 0;
        found.repair = Some(counts);
        items.push(found);
    }
    // Add findings that are neither in the first nor in the last scan: only the repair met them.
    let mut revealed: Vec<(FindingId, RepairCounts)> = all_counts.into_iter().collect();
    revealed.sort_by_key(|(id, _)| id.into_str());
    for (id, counts) in revealed {
        items.push(ReportedFinding {
            repair: Some(counts),
            ..ReportedFinding::new(id, id.row().severity)
        });
    }
    items.retain(|found| {
        found.count > 0 || found.repair_counts_or_zeros() != RepairCounts::default()
    });
    items.sort_by_key(|found| std::cmp::Reverse(found.severity));
    let mut totals = RepairCounts::default();
    for counts in items.iter().map(ReportedFinding::repair_counts_or_zeros) {
        totals.repaired += counts.repaired;
        totals.gone += counts.gone;
        totals.refused += counts.refused;
    }
    let scan = ScanSummary {
        complete: is_complete,
        clean: is_complete && !last.reaches_fail_on_severity(),
        ..last.check.scan.clone()
    };
    RepairReport {
        scan,
        run_name: Some(repairer.repair_name.clone()),
        totals,
        items,
    }
}

/// The error that ended a repair early, with the number of findings that were repaired before.
fn incomplete_error(error: &Error, repaired: &RepairReport, session: &Session) -> Error {
    let repairable: u64 = repaired.items.iter().map(|found| found.repairable).sum();
    let all = with_thousands_separators(repairable.max(repaired.totals.repaired));
    let count = with_thousands_separators(repaired.totals.repaired);
    let reason = format!(
        "{} after {count} of {all} findings were repaired",
        error.message_without_effect()
    );
    let hint = session.resume_hint();
    Error::new(error.kind(), reason).hint(error.hint_text().unwrap_or(&hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::repair_queue::RepairQueue;
    use crate::check::verify::finding_filter::FindingFilter;
    use crate::model::check::{CheckReport, ScanCounts};

    #[test]
    fn what_remains_after_a_later_round_was_interrupted_is_counted_from_the_last_scan() {
        let counts = |repaired| {
            let counts = RepairCounts {
                repaired,
                ..RepairCounts::default()
            };
            BTreeMap::from([(FindingId::GhostWaiting, counts)])
        };
        let filter = FindingFilter::default();
        let mut repairer = Repairer::new(filter, "r".to_owned(), None, CallPace::new(None));
        repairer.counts_at_last_scan = counts(500);
        repairer.counts = counts(505);
        let mut found = ReportedFinding::new(FindingId::GhostWaiting, Severity::Critical);
        found.count = 100;
        let last = ScanOutcome {
            check: CheckReport {
                scan: ScanSummary {
                    counts: ScanCounts::default(),
                    elapsed_s: Number(0.0),
                    complete: true,
                    clean: false,
                    fail_on: Severity::Warn,
                    causes: Vec::new(),
                },
                items: vec![found],
                dry_run: None,
                plan: None,
            },
            queue: RepairQueue::default(),
            halted: None,
            narrow: false,
            unverified: Default::default(),
        };
        let report = make_report(&repairer, &last, Vec::new(), false);
        assert_eq!(report.items[0].count, 95);
    }
}
