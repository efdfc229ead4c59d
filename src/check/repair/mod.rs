//! `--repair`: scans, shows the plan and asks. Then the core verifies each finding again and repairs it, stage by
//! stage. A scan follows, and the next round repairs what this scan found.

mod dry_run;
mod list_revert;
pub(crate) mod repairer;
pub(crate) mod revert;
mod rounds;
pub(crate) mod undo;

use std::path::Path;

use uuid::Uuid;

use self::repairer::Repairer;
use self::undo::UndoWriter;
use super::verify;
use super::verify::batch_size::BatchSizes;
use super::verify::{CheckOptions, ScanOutcome};
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::interrupt::InterruptFlags;
use crate::model::check::repair_text::{
    count_keys_to_delete, decisions_for_operator_text, plan_text,
};
use crate::model::check::{RepairCounts, RepairReport};
use crate::model::finding::Severity;
use crate::name::Name;
use crate::session::Session;
use crate::text::format_count;

/// The note about the findings that a repair with `--queue` skips.
const SKIPPED_BY_QUEUE: &str =
    "note: a job that lost its dependencies is repaired only without `--queue`";

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
    let interrupt = InterruptFlags::install_handlers_once();
    let first = verify::run_check(check, true, "scan", &interrupt, session)?;
    let repairable = first.check.items.iter().any(|found| found.repairable > 0);
    let idle = first.queue.is_empty() || !repairable;
    if first.halted.is_some() || idle && !dry_run {
        return report_without_repair(first, session);
    }
    if dry_run {
        return dry_run::run_dry_run(check, undo.is_some(), first, &interrupt, session);
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
        undo.write_header_or_note_restart(session)?;
    }
    let round_trip = session.core()?.measure_round_trip(now);
    let repairer = Repairer::new(
        check,
        repair_name,
        undo,
        interrupt,
        BatchSizes::new(round_trip),
    );
    rounds::repair_and_report(check, repairer, first, session)
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
fn report_without_repair(result: ScanOutcome, session: &mut Session) -> Result<Exit, Error> {
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
    let what = format!(
        "repair {} on {}",
        findings_text(repairable),
        session.server_label_and_address()?
    );
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

fn findings_text(count: u64) -> String {
    format_count(count, "finding", "findings")
}
