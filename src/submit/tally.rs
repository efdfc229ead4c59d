//! The output of `put --from`: each outcome as it arrives, the totals at the end.

use crate::args::format::Format;
use crate::bulk::tally::{Codes, bulk_exit, write_report};
use crate::clock::Stopwatch;
use crate::error::Error;
use crate::model::bulk::report::{ReasonTally, put_summary};
use crate::model::bulk::{
    BulkReport, BulkTableColumns, BulkTotals, ItemResult, JobOutcome, OutcomeCode,
};
use crate::model::queue::RoundedSeconds;
use crate::name::Name;
use crate::ui::Ui;
use crate::view::json;

use super::{ExitAndSubmittedJids, SubmitOptions};

/// Counts the outcomes of the lines and writes them.
pub(super) struct PutTally {
    doc: BulkReport,
    /// Number of lines skipped because their jobs exist already.
    existing: usize,
    /// Number of lines skipped because the journal says that they are done.
    done_before: usize,
    codes: Codes,
    reasons: ReasonTally,
    stopwatch: Stopwatch,
    /// Whether the JSON document also lists the jobs that were put, besides those that were skipped or failed.
    all: bool,
    /// The jids to write at the end in the order of the file, with their line numbers. `None` if the lines are sent
    /// in that order: then each jid is written immediately.
    unwritten_jids: Option<Vec<(Option<u64>, Name)>>,
    /// The jids of the jobs that were put or existed already. `None` unless the caller asked for them.
    jids_for_caller: Option<Vec<Name>>,
    /// In a dry run, how many lines would be put.
    planned: usize,
}

impl PutTally {
    pub(super) fn new(
        ui: &Ui,
        options: &SubmitOptions,
        matched: usize,
        are_lines_reordered: bool,
        stopwatch: Stopwatch,
    ) -> PutTally {
        let dry_run = options.policy.dry_run;
        PutTally {
            doc: BulkReport {
                sum: BulkTotals::new("put", dry_run, matched).in_context(ui.context_name()),
                items: Vec::new(),
                table_columns: BulkTableColumns::Nothing,
                rows: Vec::new(),
            },
            existing: 0,
            done_before: 0,
            codes: Codes::default(),
            reasons: ReasonTally::default(),
            stopwatch,
            all: dry_run || ui.is_verbose(),
            unwritten_jids: are_lines_reordered.then(Vec::new),
            jids_for_caller: options.keep_jids.then(Vec::new),
            planned: 0,
        }
    }

    /// Counts the outcome of a line. Writes it immediately if the output format lists each line.
    pub(super) fn count_and_write_outcome(
        &mut self,
        ui: &mut Ui,
        outcome: JobOutcome,
    ) -> Result<(), Error> {
        let sum = &mut self.doc.sum;
        match outcome.result {
            ItemResult::Done => sum.done += 1,
            ItemResult::Skipped => {
                sum.skipped += 1;
                self.existing += 1;
            }
            ItemResult::Failed => sum.failed += 1,
            ItemResult::Planned => self.planned += 1,
        }
        let failed = outcome.result == ItemResult::Failed;
        if let (false, Some(jids)) = (failed, &mut self.jids_for_caller) {
            jids.push(outcome.jid.clone());
        }
        if !failed {
            match ui.format() {
                Format::Table => return Ok(()),
                Format::Json if !self.all && outcome.result == ItemResult::Done => return Ok(()),
                Format::Jid | Format::Raw => return self.write_or_defer_jid(ui, outcome),
                _ => {}
            }
        }
        if let (true, Some(detail)) = (failed, &outcome.detail) {
            let why = detail.reason_text_for_summary();
            self.reasons
                .count_reason(outcome.result, &why, outcome.jid.as_bytes());
        }
        if failed {
            *self
                .codes
                .entry((outcome.result, outcome.code))
                .or_default() += 1;
        }
        match ui.format() {
            Format::Ndjson => {
                ui.write_bytes(&json::compact_line(&outcome).map_err(Error::internal)?)
            }
            Format::Json => {
                self.doc.items.push(outcome);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Counts skipped lines, which an earlier run has done.
    pub(super) fn add_lines_done_by_earlier_runs(&mut self, lines: usize) {
        self.doc.sum.skipped += lines;
        self.done_before += lines;
    }

    fn write_or_defer_jid(&mut self, ui: &mut Ui, outcome: JobOutcome) -> Result<(), Error> {
        match &mut self.unwritten_jids {
            Some(jids) => {
                jids.push((outcome.line, outcome.jid));
                Ok(())
            }
            None => ui.write_jids_skipping_ambiguous(&[&outcome.jid]),
        }
    }

    /// Whether a dry run found lines that it would put.
    pub(super) fn has_planned_lines(&self) -> bool {
        self.planned > 0
    }

    /// How many jobs were put.
    pub(super) fn put_count(&self) -> usize {
        self.doc.sum.done
    }

    pub(super) fn has_failed_lines(&self) -> bool {
        self.doc.sum.failed > 0
    }

    /// The number of lines without an outcome.
    pub(super) fn remaining_lines(&self) -> usize {
        let sum = &self.doc.sum;
        sum.matched - (sum.done + sum.skipped + sum.failed).min(sum.matched)
    }

    /// Writes the totals. The result is `stopped_by` as an error if something stopped the sending, else the exit
    /// code and the jids.
    pub(super) fn write_totals(
        mut self,
        ui: &mut Ui,
        stopped_by: Option<Error>,
    ) -> Result<ExitAndSubmittedJids, Error> {
        if self.doc.sum.done == 0 {
            ui.mark_nothing_changed();
        }
        let remaining = self.remaining_lines();
        let sum = &mut self.doc.sum;
        sum.remaining = if sum.dry_run { 0 } else { remaining };
        sum.elapsed_s = RoundedSeconds(self.stopwatch.elapsed_seconds());
        if let Some(mut jids) = self.unwritten_jids.take() {
            jids.sort_by_key(|(line, _)| *line);
            for (_, jid) in jids {
                ui.write_jids_skipping_ambiguous(&[&jid])?;
            }
        }
        write_report(ui, &self.doc)?;
        let sum = &self.doc.sum;
        let text = put_summary(
            sum,
            self.existing,
            self.done_before,
            &self.reasons,
            ui.render_options(),
        );
        if sum.dry_run {
            ui.note_dry_run_changes(text.trim_end())
        } else {
            ui.note(text.trim_end())
        }
        for (result, count) in [
            (ItemResult::Done, sum.done),
            (ItemResult::Skipped, sum.skipped),
            (ItemResult::Planned, self.planned),
        ] {
            if count > 0 {
                self.codes.insert((result, OutcomeCode::Ok), count);
            }
        }
        match stopped_by {
            Some(error) => Err(error),
            None => Ok(ExitAndSubmittedJids {
                exit: bulk_exit(&self.codes, sum.remaining, false),
                jids: self.jids_for_caller.unwrap_or_default(),
            }),
        }
    }
}
