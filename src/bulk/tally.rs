//! The record and the output of a bulk action: each job as it happens, the totals at the end.

use super::ledger::Ledger;
use super::plan::TargetSource;
use super::{BulkPlan, JobOutcome};
use crate::args::format::Format;
use crate::clock::Stopwatch;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::model::bulk::report::{
    NAMED, ReasonTally, bulk_summary, count_and_first_names, done_or_planned_sentence,
};
use crate::model::bulk::{
    BulkReport, BulkTableColumns, BulkTableRow, BulkTotals, ItemResult, OutcomeCode,
};
use crate::model::bulk::{JobSnapshot, Verb};
use crate::model::queue::RoundedSeconds;
use crate::session::Session;
use crate::text::format_count;
use crate::ui::Ui;
use crate::view::json;

/// Counts the outcomes and writes them: to the report file first, then to the streams.
pub(super) struct BulkTally {
    /// The file of `--report`. A dry run does not write it.
    ledger: Option<Ledger>,
    verb: &'static Verb,
    targeting: TargetSource,
    /// Whether the document also lists the jobs that were changed.
    all: bool,
    stopwatch: Stopwatch,
    codes: Codes,
    reasons: ReasonTally,
    doc: BulkReport,
    /// The outcome of a single job in words.
    sentence: String,
    /// The number of dependents that were changed with the jobs.
    cascaded: usize,
    /// The first jobs that were cancelled while they ran, each with its worker and run time.
    running: Vec<String>,
    /// The number of jobs that were cancelled while they ran.
    ran: usize,
    /// The number of given jobs that were deleted after this command listed them and before it changed them.
    pub(super) vanished: usize,
    /// The number of jobs that needed no change, because they already were what the action would make them.
    as_asked: usize,
}

impl BulkTally {
    /// A tally of `matched` jobs. Takes the report file of the plan.
    pub(super) fn new(session: &Session, plan: &mut BulkPlan, matched: usize) -> BulkTally {
        let (ui, verb, dry_run) = (&session.ui, plan.verb, plan.is_dry_run());
        BulkTally {
            ledger: plan.ledger.take(),
            verb,
            targeting: plan.targeting,
            all: plan.is_for_one_jid()
                || ui.is_verbose()
                || (dry_run && ui.format() != Format::Table),
            stopwatch: session.clock().start_stopwatch(),
            codes: Codes::default(),
            reasons: ReasonTally::default(),
            doc: BulkReport {
                sum: BulkTotals::new(verb.word, dry_run, matched).in_context(ui.context_name()),
                table_columns: verb.table_columns,
                ..BulkReport::default()
            },
            sentence: String::new(),
            cascaded: 0,
            running: Vec::new(),
            ran: 0,
            vanished: 0,
            as_asked: 0,
        }
    }

    /// Begins the report file.
    pub(super) fn write_ledger_head_unless_continued(
        &mut self,
        session: &mut Session,
    ) -> Result<(), Error> {
        let ledger = self.ledger.as_mut();
        ledger.map_or(Ok(()), |ledger| {
            ledger.write_head_or_report_restart(session)
        })
    }

    /// Adds an outcome to the report file only.
    pub(super) fn add_to_ledger(&mut self, outcome: &JobOutcome) -> Result<(), Error> {
        if let Some(ledger) = &mut self.ledger {
            ledger.add_line(&json::compact_line(outcome).map_err(Error::internal)?);
        }
        Ok(())
    }

    /// Writes the jobs that are about to be changed to the report file, and reserves disk space for their outcomes.
    pub(super) fn write_planned_and_reserve_space(
        &mut self,
        jobs: &[JobSnapshot],
    ) -> Result<(), Error> {
        for job in jobs {
            self.add_to_ledger(&JobOutcome::planned(job))?;
        }
        let ledger = self.ledger.as_mut();
        ledger.map_or(Ok(()), Ledger::flush_and_reserve_space)
    }

    pub(super) fn flush_ledger(&mut self) -> Result<(), Error> {
        self.ledger.as_mut().map_or(Ok(()), Ledger::flush)
    }

    /// Records the outcome of one job in the report file, and counts and writes it.
    pub(super) fn record_outcome(&mut self, ui: &mut Ui, outcome: JobOutcome) -> Result<(), Error> {
        self.add_to_ledger(&outcome)?;
        self.count_and_write_if_listed(ui, outcome)
    }

    pub(super) fn is_for_one_jid(&self) -> bool {
        self.targeting == TargetSource::OneJid
    }

    /// How many jobs were changed.
    pub(super) fn changed_count(&self) -> usize {
        self.doc.sum.done
    }

    /// Counts one job, and writes it if the format lists each job as it happens.
    pub(super) fn count_and_write_if_listed(
        &mut self,
        ui: &mut Ui,
        outcome: JobOutcome,
    ) -> Result<(), Error> {
        let sum = &mut self.doc.sum;
        match outcome.result {
            ItemResult::Done => sum.done += 1,
            ItemResult::Skipped => sum.skipped += 1,
            ItemResult::Failed => sum.failed += 1,
            ItemResult::Planned => {}
        }
        sum.matched += usize::from(outcome.cascaded);
        self.as_asked += usize::from(outcome.as_asked);
        *self
            .codes
            .entry((outcome.result, outcome.code))
            .or_default() += 1;
        let changed = matches!(outcome.result, ItemResult::Done | ItemResult::Planned);
        if !changed {
            self.reasons.count_outcome_reason(&outcome);
        }
        if self.is_for_one_jid() && !outcome.cascaded {
            self.sentence = done_or_planned_sentence(self.verb, &outcome);
        }
        self.cascaded += usize::from(outcome.cascaded);
        if let (ItemResult::Done, Some(place)) = (outcome.result, &outcome.running_on) {
            self.ran += 1;
            if self.running.len() < NAMED {
                self.running.push(format!("{} {place}", outcome.jid));
            }
        }
        match ui.format() {
            Format::Ndjson => {
                ui.write_bytes(&json::compact_line(&outcome).map_err(Error::internal)?)
            }
            Format::Jid if changed => ui.write_jids_skipping_ambiguous(&[&outcome.jid]),
            Format::Raw if outcome.result == ItemResult::Done && !outcome.raw.is_empty() => {
                ui.write_verbatim_unless_terminal(&[outcome.raw.as_slice(), b"\n"].concat())
            }
            Format::Json if self.all || !changed => {
                self.doc.items.push(outcome);
                Ok(())
            }
            Format::Table => {
                let listed = match self.verb.table_columns {
                    BulkTableColumns::Nothing => false,
                    BulkTableColumns::Jids if self.lists_only_first_jids(ui) => {
                        changed && self.doc.rows.len() < NAMED
                    }
                    BulkTableColumns::Jids => changed,
                    _ => outcome.result == ItemResult::Done,
                };
                if listed {
                    self.doc.rows.push(BulkTableRow {
                        jid: outcome.jid,
                        cells: outcome.cells,
                    });
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Writes the totals. Returns the exit code, or the error that stopped the action.
    pub(super) fn write_totals(
        mut self,
        ui: &mut Ui,
        remaining: usize,
        stopped_by: Option<Error>,
    ) -> Result<Exit, Error> {
        if self.doc.sum.done == 0 {
            ui.mark_nothing_changed();
        }
        self.doc.sum.remaining = remaining;
        self.doc.sum.elapsed_s = RoundedSeconds(self.stopwatch.elapsed_seconds());
        write_report(ui, &self.doc)?;
        if self.is_for_one_jid() && self.cascaded > 0 {
            let jobs = format_count(self.cascaded as u64, "job", "jobs");
            let waited = match (self.doc.sum.dry_run, self.cascaded) {
                (true, 1) => "waits",
                (true, _) => "wait",
                (false, _) => "waited",
            };
            self.sentence
                .push_str(&format!(", and {jobs} that {waited} for it"));
        }
        if !self.is_for_one_jid() {
            let mut text =
                bulk_summary(self.verb, &self.doc.sum, &self.reasons, ui.render_options());
            text.push_str(&count_and_first_names(
                "running",
                self.ran,
                &self.running,
                ui.render_options(),
            ));
            text.push_str(&self.unlisted_note(ui));
            if self.vanished > 0 {
                let jobs = format_count(self.vanished as u64, "job was", "jobs were");
                text.push_str(&format!(
                    "  {jobs} there when this command began, and then gone: another client cancelled or \
                         removed them, or they were lost; `qless check` finds what a loss left behind\n"
                ));
            }
            if self.doc.sum.dry_run {
                ui.note_dry_run_changes(text.trim_end())
            } else {
                ui.note(text.trim_end())
            }
        } else if self.doc.sum.dry_run {
            ui.note_dry_run_changes(&self.sentence)
        } else if self.ran > 0 {
            // Write the sentence even if stderr is not a terminal, because a worker lost the job while it ran.
            ui.note(&self.sentence)
        } else {
            ui.note_to_people(&self.sentence)
        }
        match stopped_by {
            Some(error) => Err(error),
            None => {
                let named = matches!(self.targeting, TargetSource::OneJid | TargetSource::Jids);
                let total: usize = self.codes.values().sum();
                let refused = named && self.as_asked < total;
                Ok(bulk_exit(&self.codes, remaining, refused))
            }
        }
    }

    /// Whether the table lists only the first jids: in a dry run or on a terminal, unless `-v` is given.
    fn lists_only_first_jids(&self, ui: &Ui) -> bool {
        let is_short = self.doc.sum.dry_run || ui.is_stdout_terminal();
        is_short && !self.all && ui.format() == Format::Table
    }

    /// The note that the table lists only the first jids, and how to list all. Empty if it lists all.
    fn unlisted_note(&self, ui: &Ui) -> String {
        let listed = self.doc.rows.len();
        let sum = &self.doc.sum;
        let changed = if sum.dry_run {
            sum.matched.saturating_sub(sum.skipped + sum.failed)
        } else {
            sum.done
        };
        let jids = matches!(self.verb.table_columns, BulkTableColumns::Jids);
        if jids && self.lists_only_first_jids(ui) && changed > listed {
            format!("  the first {listed} jids are listed; `-v` or `-o ndjson` lists all\n")
        } else {
            String::new()
        }
    }
}

/// Writes the document or the table, or as the last line of `-o ndjson` the totals.
pub(crate) fn write_report(ui: &mut Ui, report: &BulkReport) -> Result<(), Error> {
    #[derive(serde::Serialize)]
    struct SummaryLine<'a> {
        summary: &'a BulkTotals,
    }
    match ui.format() {
        Format::Json | Format::Table => ui.show(report),
        Format::Ndjson => {
            let summary = &report.sum;
            ui.write_bytes(&json::compact_line(&SummaryLine { summary }).map_err(Error::internal)?)
        }
        Format::Jid | Format::Raw => Ok(()),
    }
}

/// The number of jobs by result and code.
pub(crate) type Codes = std::collections::BTreeMap<(ItemResult, OutcomeCode), usize>;

/// The exit code of an action; `remaining` jobs were not tried after a failure. With `are_given_by_jid`, the jobs
/// were given by jid, and at least one was not yet as the command would leave it. If none of these jobs could be
/// changed, the code is the one for a single job.
///
/// | done | skipped                    | failed             | exit              |
/// |------|----------------------------|--------------------|-------------------|
/// | none | all, if `are_given_by_jid`: all `gone` | none   | 4                 |
/// | none | none                       | all, for one code  | that of the code  |
/// | none | all, if `are_given_by_jid`: some not `gone`, or failed    || 5                 |
/// | any  | any                        | none               | 0                 |
/// | any  | any                        | some               | 3                 |
pub(crate) fn bulk_exit(codes: &Codes, remaining: usize, are_given_by_jid: bool) -> Exit {
    let failed = |(result, _): &(ItemResult, OutcomeCode)| *result == ItemResult::Failed;
    let refused = |(result, code): &(ItemResult, OutcomeCode)| {
        matches!(result, ItemResult::Skipped | ItemResult::Failed)
            && matches!(code.error_kind(), Kind::NotFound | Kind::Conflict)
    };
    let mut entries = codes.keys();
    match (entries.next(), entries.next()) {
        (None, _) => Exit::Ok,
        (Some((ItemResult::Skipped, OutcomeCode::Gone)), None) if are_given_by_jid => {
            Exit::NotFound
        }
        (Some((ItemResult::Failed, code)), None) if remaining == 0 => code.error_kind().exit(),
        _ if are_given_by_jid && remaining == 0 && codes.keys().all(refused) => Exit::Conflict,
        _ if codes.keys().any(failed) => Exit::Partial,
        _ => Exit::Ok,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_combination_of_codes_has_its_exit_code() {
        for (codes, selected, named) in [
            (&[][..], Exit::Ok, Exit::Ok),
            (&[OutcomeCode::Ok], Exit::Ok, Exit::Ok),
            (
                &[
                    OutcomeCode::Ok,
                    OutcomeCode::Gone,
                    OutcomeCode::StateChanged,
                ],
                Exit::Ok,
                Exit::Ok,
            ),
            (&[OutcomeCode::StateChanged], Exit::Ok, Exit::Conflict),
            (&[OutcomeCode::Gone], Exit::Ok, Exit::NotFound),
            (
                &[OutcomeCode::Gone, OutcomeCode::Complete],
                Exit::Ok,
                Exit::Conflict,
            ),
            (
                &[OutcomeCode::HasDependents],
                Exit::Conflict,
                Exit::Conflict,
            ),
            (&[OutcomeCode::NotHolder], Exit::Conflict, Exit::Conflict),
            (&[OutcomeCode::Unknown], Exit::Server, Exit::Server),
            (&[OutcomeCode::Invalid], Exit::Error, Exit::Error),
            (
                &[OutcomeCode::Ok, OutcomeCode::HasDependents],
                Exit::Partial,
                Exit::Partial,
            ),
            (
                &[OutcomeCode::Gone, OutcomeCode::HasDependents],
                Exit::Partial,
                Exit::Conflict,
            ),
            (
                &[OutcomeCode::Invalid, OutcomeCode::HasDependents],
                Exit::Partial,
                Exit::Partial,
            ),
        ] {
            let codes: Codes = codes
                .iter()
                .map(|code| ((code.item_result(), *code), 1))
                .collect();
            assert_eq!(bulk_exit(&codes, 0, false), selected, "{codes:?}");
            assert_eq!(bulk_exit(&codes, 0, true), named, "{codes:?}, named");
        }
    }
}
