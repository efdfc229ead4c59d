//! The output of a bulk action: each job as it happens, the totals at the end.

use super::JobOutcome;
use super::exit;
use super::exit::Codes;
use super::plan::TargetSource;
use crate::args::format::Format;
use crate::clock::Stopwatch;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Verb;
use crate::model::bulk::text::{
    NAMED, ReasonTally, bulk_summary, count_and_first_names, done_or_planned_sentence,
};
use crate::model::bulk::{BulkReport, BulkRow, BulkTableColumns, BulkTotals, ItemResult};
use crate::model::queue::RoundedSeconds;
use crate::text::format_count;
use crate::ui::Ui;
use crate::view::json;

/// Counts the outcomes and writes them.
pub(crate) struct BulkTally {
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
    vanished: usize,
    /// The number of jobs that needed no change, because they already were what the action would make them.
    as_asked: usize,
}

/// The last line of `-o ndjson`.
#[derive(serde::Serialize)]
struct BulkSummaryLine<'a> {
    summary: &'a BulkTotals,
}

impl BulkTally {
    pub(super) fn new(
        ui: &Ui,
        verb: &'static Verb,
        targeting: TargetSource,
        sum: BulkTotals,
        stopwatch: Stopwatch,
    ) -> BulkTally {
        BulkTally {
            verb,
            targeting,
            all: targeting == TargetSource::OneJid
                || ui.is_verbose()
                || (sum.dry_run && ui.format() != Format::Table),
            stopwatch,
            codes: Codes::default(),
            reasons: ReasonTally::default(),
            doc: BulkReport {
                sum: sum.in_context(ui.context_name()),
                items: Vec::new(),
                table_columns: verb.table_columns,
                rows: Vec::new(),
            },
            sentence: String::new(),
            cascaded: 0,
            running: Vec::new(),
            ran: 0,
            vanished: 0,
            as_asked: 0,
        }
    }

    pub(super) fn is_for_one_jid(&self) -> bool {
        self.targeting == TargetSource::OneJid
    }

    /// How many jobs were changed.
    pub(crate) fn done_count(&self) -> usize {
        self.doc.sum.done
    }

    /// Counts one given job that was deleted before this command changed it. Deleted dependents are not counted.
    pub(crate) fn count_vanished_given_job(&mut self) {
        self.vanished += 1;
    }

    /// Counts one job, and writes it if the format lists each job as it happens.
    pub(crate) fn count_and_write_if_listed(
        &mut self,
        ui: &mut Ui,
        outcome: JobOutcome,
    ) -> Result<(), Error> {
        let JobOutcome {
            item,
            cells,
            raw,
            running_on,
            cascaded,
            as_asked,
            ..
        } = outcome;
        let sum = &mut self.doc.sum;
        match item.result {
            ItemResult::Done => sum.done += 1,
            ItemResult::Skipped => sum.skipped += 1,
            ItemResult::Failed => sum.failed += 1,
            ItemResult::Planned => {}
        }
        sum.matched += usize::from(cascaded);
        self.as_asked += usize::from(as_asked);
        *self.codes.entry((item.result, item.code)).or_default() += 1;
        let changed = matches!(item.result, ItemResult::Done | ItemResult::Planned);
        if !changed {
            self.reasons.count_item_reason(&item);
        }
        if self.is_for_one_jid() && !cascaded {
            self.sentence = done_or_planned_sentence(self.verb, &item);
        }
        self.cascaded += usize::from(cascaded);
        if let (ItemResult::Done, Some(place)) = (item.result, running_on) {
            self.ran += 1;
            if self.running.len() < NAMED {
                self.running.push(format!("{} {place}", item.jid));
            }
        }
        match ui.format() {
            Format::Ndjson => ui.write_bytes(&json::compact_line(&item).map_err(Error::internal)?),
            Format::Jid if changed => ui.write_unambiguous_jids(&[&item.jid]),
            Format::Raw if item.result == ItemResult::Done && !raw.is_empty() => {
                ui.write_verbatim_unless_terminal(&[raw.as_slice(), b"\n"].concat())
            }
            Format::Json if self.all || !changed => {
                self.doc.items.push(item);
                Ok(())
            }
            Format::Table => {
                let listed = match self.verb.table_columns {
                    BulkTableColumns::Nothing => false,
                    BulkTableColumns::Jids if self.lists_only_first_jids(ui) => {
                        changed && self.doc.rows.len() < NAMED
                    }
                    BulkTableColumns::Jids => changed,
                    _ => item.result == ItemResult::Done,
                };
                if listed {
                    let jid = item.jid;
                    self.doc.rows.push(BulkRow { jid, cells });
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Writes the totals. Returns the exit code, or the error that stopped the action.
    pub(crate) fn write_totals(
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
        match ui.format() {
            Format::Json | Format::Table => ui.show(&self.doc)?,
            Format::Ndjson => {
                let line = BulkSummaryLine {
                    summary: &self.doc.sum,
                };
                ui.write_bytes(&json::compact_line(&line).map_err(Error::internal)?)?;
            }
            Format::Jid | Format::Raw => {}
        }
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
                    "  {jobs} there when this command began, and then gone: `qless check` finds \
                         what else is missing\n"
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
                Ok(exit::bulk_exit(&self.codes, remaining, refused))
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
