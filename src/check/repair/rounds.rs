//! An approved repair: rounds of a repair and a scan, and the report of all rounds.

use std::collections::BTreeMap;

use super::repairer::Repairer;
use super::{exit_code, note_skipped_repairs};
use crate::check::verify;
use crate::check::verify::{CheckOptions, ScanOutcome};
use crate::error::Error;
use crate::exit::Exit;
use crate::json::Number;
use crate::model::check::repair_text::decisions_for_operator_text;
use crate::model::check::{RepairCounts, RepairReport};
use crate::model::check::{ReportedFinding, ScanSummary};
use crate::model::finding::{FindingId, Severity};
use crate::session::Session;
use crate::text::{Sanitized, format_count, with_thousands_separators};

/// Maximum number of rounds of a repair and a scan: a repair may reveal further findings to the scan. A queue that
/// was too small for all findings allows one more round.
const MAX_ROUNDS: usize = 3;

pub(super) fn repair_and_report(
    options: &CheckOptions,
    mut repairer: Repairer,
    first_scan: ScanOutcome,
    session: &mut Session,
) -> Result<Exit, Error> {
    let stopwatch = session.clock().start_stopwatch();
    let mut repairable: BTreeMap<FindingId, u64> = BTreeMap::new();
    for item in &first_scan.check.items {
        *repairable.entry(item.finding.id).or_default() += item.repairable;
    }
    let before = first_scan.check.items.clone();
    let skipped_by_scope = first_scan.queue.skipped_by_scope;
    let too_many_dependencies = first_scan.queue.jobs_with_unrestorable_dependencies();
    let (mut last, error) =
        repair_and_rescan_in_rounds(options, &mut repairer, first_scan, session)?;
    let complete = error.is_none();
    let error = error.or_else(|| repairer.missing_right.take());
    let elapsed = stopwatch.elapsed_seconds();
    last.check.scan.elapsed_s = Number((elapsed * 10.0).round() / 10.0);
    let repaired = make_report(&repairer, &last, repairable, before, complete);
    session.ui.show(&repaired)?;
    let summary = repaired.totals_line();
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

/// Repeats a repair and a scan until nothing more is to repair, or up to [`MAX_ROUNDS`] times. Returns the last
/// complete scan, and the error that ended the repair early, if any.
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
            filter: repairer.filter_for_rescan(),
            ..options.clone()
        };
        let interrupt = &repairer.interrupt;
        let mut next = match verify::run_check(&rescan, true, &title, interrupt, session) {
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
    mut repairable: BTreeMap<FindingId, u64>,
    first: Vec<ReportedFinding>,
    is_complete: bool,
) -> RepairReport {
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
    items.retain(|found| found.count > 0 || found.repair_counts() != RepairCounts::default());
    items.sort_by_key(|found| std::cmp::Reverse(found.severity));
    let mut totals = RepairCounts::default();
    for counts in items.iter().map(ReportedFinding::repair_counts) {
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
    use crate::check::verify::batch_size::BatchSizes;
    use crate::check::verify::finding_filter::FindingFilter;
    use crate::interrupt::InterruptFlags;
    use crate::model::check::{CheckReport, ScanCounts};

    #[test]
    fn what_remains_after_a_later_round_was_interrupted_is_counted_from_the_last_scan() {
        let options = CheckOptions {
            queues: Vec::new(),
            filter: FindingFilter::default(),
            max_examples: 3,
            rate: None,
            fail_on: Severity::Warn,
        };
        let counts = |repaired| {
            let counts = RepairCounts {
                repaired,
                ..RepairCounts::default()
            };
            BTreeMap::from([(FindingId::GhostWaiting, counts)])
        };
        let interrupt = InterruptFlags::install_handlers_once();
        let sizes = BatchSizes::default();
        let mut repairer = Repairer::new(&options, "r".to_owned(), None, interrupt, sizes);
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
            },
            queue: RepairQueue::default(),
            halted: None,
            narrow: false,
            unverified: Default::default(),
        };
        let report = make_report(&repairer, &last, BTreeMap::new(), Vec::new(), false);
        assert_eq!(report.items[0].count, 95);
    }
}
