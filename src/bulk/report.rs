//! What is told of a bulk action: each job as it happens, the sum at the end.

use super::JobOutcome;
use super::exit;
use super::exit::Codes;
use crate::args::format::Format;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{BulkReport, ItemResult, BulkRow, RowContent, Totals};
use crate::model::queue::Seconds;
use crate::model::verb::Verb;
use crate::text::plural;
use crate::ui::Ui;
use crate::view::bulk::{Reasons, sentence, summary};
use crate::view::json;

/// Counts what became of the jobs and tells it.
pub(crate) struct Report {
    verb: &'static Verb,
    one: bool,
    /// Whether the document lists what was done, too.
    all: bool,
    begun: Moment,
    codes: Codes,
    reasons: Reasons,
    doc: BulkReport,
    told: String,
    /// How many went with those that were told.
    cascaded: usize,
}

/// The last line of `-o ndjson`.
#[derive(serde::Serialize)]
struct SummaryLine<'a> {
    summary: &'a Totals,
}

impl Report {
    pub(crate) fn new(ui: &Ui, verb: &'static Verb, one: bool, sum: Totals, begun: Moment) -> Report {
        Report {
            verb,
            one,
            all: one || sum.dry_run || ui.verbose(),
            begun,
            codes: Codes::default(),
            reasons: Reasons::default(),
            doc: BulkReport {
                sum: sum.within(ui.context()),
                items: Vec::new(),
                shows: verb.shows,
                rows: Vec::new(),
            },
            told: String::new(),
            cascaded: 0,
        }
    }

    /// Counts one job and tells it, where each is told as it happens.
    pub(crate) fn add(&mut self, ui: &mut Ui, fate: JobOutcome) -> Result<(), Error> {
        let JobOutcome {
            item,
            cells,
            raw,
            cascaded,
            ..
        } = fate;
        let sum = &mut self.doc.sum;
        match item.result {
            ItemResult::Done => sum.done += 1,
            ItemResult::Skipped => sum.skipped += 1,
            ItemResult::Failed => sum.failed += 1,
            ItemResult::Planned => {}
        }
        sum.matched += usize::from(cascaded);
        *self.codes.entry((item.result, item.code)).or_default() += 1;
        let went = matches!(item.result, ItemResult::Done | ItemResult::Planned);
        if !went {
            self.reasons.add(&item);
        }
        if self.one && !cascaded {
            self.told = sentence(self.verb, &item);
        }
        self.cascaded += usize::from(cascaded);
        match ui.format() {
            Format::Ndjson => ui.write(&json::line(&item).map_err(Error::internal)?),
            Format::Jid if went => ui.verbatim(&[item.jid.as_bytes(), b"\n"].concat()),
            Format::Raw if item.result == ItemResult::Done && !raw.is_empty() => {
                ui.verbatim(&[raw.as_slice(), b"\n"].concat())
            }
            Format::Json if self.all || !went => {
                self.doc.items.push(item);
                Ok(())
            }
            Format::Table => {
                let shown = match self.verb.shows {
                    RowContent::Nothing => false,
                    RowContent::Jids => went,
                    _ => item.result == ItemResult::Done,
                };
                if shown {
                    let jid = item.jid;
                    self.doc.rows.push(BulkRow { jid, cells });
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Tells the sum and returns the exit code, or what broke the action off.
    pub(crate) fn end(
        mut self,
        ui: &mut Ui,
        now: Moment,
        remaining: usize,
        broke: Option<Error>,
    ) -> Result<Exit, Error> {
        self.doc.sum.remaining = remaining;
        self.doc.sum.elapsed_s = Seconds(now.since(self.begun));
        match ui.format() {
            Format::Json | Format::Table => ui.show(&self.doc)?,
            Format::Ndjson => {
                let line = SummaryLine {
                    summary: &self.doc.sum,
                };
                ui.write(&json::line(&line).map_err(Error::internal)?)?;
            }
            Format::Jid | Format::Raw => {}
        }
        if self.one && self.cascaded > 0 {
            let jobs = plural(self.cascaded as u64, "job", "jobs");
            let wait = match self.doc.sum.dry_run {
                true => "wait",
                false => "waited",
            };
            self.told
                .push_str(&format!(", and {jobs} that {wait} for it"));
        }
        match self.one {
            true if self.doc.sum.dry_run => ui.would(&self.told),
            true => ui.note_on_terminal(&self.told),
            false => {
                let text = summary(self.verb, &self.doc.sum, &self.reasons, ui.page());
                match self.doc.sum.dry_run {
                    true => ui.would(text.trim_end()),
                    false => ui.note(text.trim_end()),
                }
            }
        }
        match broke {
            Some(error) => Err(error),
            None => Ok(exit::exit(&self.codes, remaining)),
        }
    }
}
