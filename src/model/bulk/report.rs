//! The report of a bulk action: its document, and as text the plan, a table of jobs for some commands, and the summary.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{ItemResult, JobOutcome, JobSnapshot, OutcomeCode};
use crate::clock::moment::Moment;
use crate::model::queue::RoundedSeconds;
use crate::name::Name;
use crate::text::{format_duration_tenths_below_minute, sanitize_to_line, width, wrap_and_indent};
use crate::view::document::DocumentKind;
use crate::view::table::{Cell, Column, Table};
use crate::view::{RenderOptions, View};

/// The totals of a bulk action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct BulkTotals {
    /// The command
    pub action: &'static str,
    /// True if nothing was changed
    pub dry_run: bool,
    /// The context that was used
    pub context: Option<String>,
    /// Jobs that were selected
    pub matched: usize,
    /// Jobs that were changed
    pub done: usize,
    /// Jobs that changed after they were read, or no longer exist
    pub skipped: usize,
    /// Jobs that could not be changed
    pub failed: usize,
    /// Jobs that were not tried
    pub remaining: usize,
    /// How long the command took
    pub elapsed_s: RoundedSeconds,
}

impl BulkTotals {
    /// Totals without any outcome.
    pub(crate) fn new(action: &'static str, dry_run: bool, matched: usize) -> BulkTotals {
        BulkTotals {
            action,
            dry_run,
            matched,
            ..BulkTotals::default()
        }
    }

    /// Sets the name of the context in use.
    pub(crate) fn in_context(self, context: Option<&str>) -> BulkTotals {
        BulkTotals {
            context: context.map(str::to_owned),
            ..self
        }
    }
}

/// The document of a bulk action, and the rows of its table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct BulkReport {
    #[serde(flatten)]
    pub sum: BulkTotals,
    /// The jobs that were skipped or failed; with -v, all
    pub items: Vec<JobOutcome>,
    #[serde(skip)]
    pub table_columns: BulkTableColumns,
    #[serde(skip)]
    pub rows: Vec<BulkTableRow>,
}

/// Whether a bulk command has a table, and which columns follow the jid in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BulkTableColumns {
    #[default]
    Nothing,
    Jids,
    /// The old and the new priority of each job.
    Priorities,
    /// All tags of each job.
    Tags,
    /// How many retries each job has left.
    Remaining,
    /// The new state of each job.
    States,
    /// When the lock of each job expires.
    Expiries,
}

/// A row of the table of a bulk action: the jid, and the cells after it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BulkTableRow {
    pub jid: Name,
    pub cells: Vec<Name>,
}

/// The words of a bulk command for its plan, question, report and documents, and the form of its table.
#[derive(Debug)]
pub(crate) struct Verb {
    /// The document's `action`, as on the command line: `retry`.
    pub word: &'static str,
    /// The verb in plans and questions: `time out`.
    pub infinitive: &'static str,
    /// The verb in reports: `retried`.
    pub past: &'static str,
    /// The words before the jid in the report about one job, instead of `past`. Then the report does not name the queue
    /// and the state of the job.
    pub of_one: Option<&'static str>,
    pub table_columns: BulkTableColumns,
    /// Whether `-o raw` shows the core's reply for each job.
    pub raw: bool,
}

impl Verb {
    /// A verb without a table and without `-o raw`.
    pub(crate) const fn new(
        word: &'static str,
        infinitive: &'static str,
        past: &'static str,
    ) -> Verb {
        Verb {
            word,
            infinitive,
            past,
            of_one: None,
            table_columns: BulkTableColumns::Nothing,
            raw: false,
        }
    }

    pub(crate) const fn with_table(self, table_columns: BulkTableColumns) -> Verb {
        Verb {
            table_columns,
            ..self
        }
    }

    pub(crate) const fn allowing_raw_format(self) -> Verb {
        Verb { raw: true, ..self }
    }
}

const JID: Column<BulkTableRow> = Column::of_names("JID", |row| &row.jid);
const OLD: Column<BulkTableRow> =
    Column::of_numbers("OLD", |row, _| cell_sorted_as_number(&row.cells[0]));
const NEW: Column<BulkTableRow> =
    Column::of_numbers("NEW", |row, _| cell_sorted_as_number(&row.cells[1]));
const TAGS: Column<BulkTableRow> =
    Column::of_text("TAGS", |row, _| Cell::name_list(&row.cells, false));
const REMAINING: Column<BulkTableRow> =
    Column::of_numbers("REMAINING", |row, _| cell_sorted_as_number(&row.cells[0]));
const STATE: Column<BulkTableRow> = Column::of_text("STATE", |row, _| Cell::text(&row.cells[0]));
const EXPIRES: Column<BulkTableRow> =
    Column::of_text("EXPIRES", |row, _| Cell::text(&row.cells[0]));

impl BulkTableColumns {
    /// The columns of the table; none if there is no table.
    fn columns(self) -> &'static [Column<BulkTableRow>] {
        match self {
            BulkTableColumns::Nothing => &[],
            BulkTableColumns::Jids => const { &[JID] },
            BulkTableColumns::Priorities => const { &[JID, OLD, NEW] },
            BulkTableColumns::Tags => const { &[JID, TAGS] },
            BulkTableColumns::Remaining => const { &[JID, REMAINING] },
            BulkTableColumns::States => const { &[JID, STATE] },
            BulkTableColumns::Expiries => const { &[JID, EXPIRES] },
        }
    }
}

impl View for BulkReport {
    const DOCUMENT: DocumentKind = DocumentKind::new::<BulkReport>(
        "bulk",
        "Jobs that one command changed or put: retry, cancel, put --from and the like",
    );

    fn text(&self, options: &RenderOptions) -> String {
        match self.table_columns.columns() {
            [] => String::new(),
            columns => Table::new(columns, &self.rows, options).into_text(options),
        }
    }

    fn is_about_jobs(&self) -> bool {
        true
    }
}

fn cell_sorted_as_number(text: &Name) -> Cell {
    let number = text.as_str().and_then(|text| text.parse().ok());
    Cell::sorted_by(number.unwrap_or(f64::NAN), text.as_bytes())
}

/// The reasons why jobs were skipped or failed, each with the number of jobs and the first jids.
#[derive(Debug, Default)]
pub(crate) struct ReasonTally(BTreeMap<(ItemResult, String), (u64, Vec<Name>)>);

impl ReasonTally {
    pub(crate) fn count_outcome_reason(&mut self, outcome: &JobOutcome) {
        let why = match &outcome.detail {
            _ if outcome.code == OutcomeCode::Gone => "gone".into(),
            Some(detail) => detail.reason_text_for_summary(),
            None => outcome.code.into_str().into(),
        };
        self.count_reason(outcome.result, &why, outcome.jid.as_bytes());
    }

    pub(crate) fn count_reason(&mut self, result: ItemResult, reason: &str, jid: &[u8]) {
        let (count, jids) = self
            .0
            .entry((result, sanitize_to_line(reason)))
            .or_default();
        *count += 1;
        if jids.len() < NAMED {
            jids.push(jid.into());
        }
    }
}

/// Maximum number of jids that a text lists for one reason or outcome.
pub(crate) const NAMED: usize = 10;

/// What was done to one job, or in a dry run would be done: `retried 7d1f… in mail, waiting`.
pub(crate) fn done_or_planned_sentence(verb: &Verb, outcome: &JobOutcome) -> String {
    let mut text = match outcome.result {
        ItemResult::Planned => format!("would {}", verb.infinitive),
        _ => verb.of_one.unwrap_or(verb.past).to_string(),
    };
    text.push(' ');
    text.push_str(&sanitize_to_line(outcome.jid.as_bytes()));
    if let (ItemResult::Done, Some(state), None) =
        (outcome.result, &outcome.state_after, verb.of_one)
    {
        if let Some(queue) = &outcome.queue {
            text.push_str(&format!(" in {}", sanitize_to_line(queue.as_bytes())));
        }
        text.push_str(&format!(", {}", sanitize_to_line(state.as_bytes())));
    }
    if let (ItemResult::Done | ItemResult::Planned, Some(detail)) =
        (outcome.result, &outcome.detail)
    {
        text.push_str(&format!(", {}", sanitize_to_line(detail.to_string())));
    }
    text
}

/// The totals in words, and the reasons why jobs were skipped or failed.
pub(crate) fn bulk_summary(
    verb: &Verb,
    sum: &BulkTotals,
    reasons: &ReasonTally,
    options: &RenderOptions,
) -> String {
    if sum.matched == 0 {
        return format!("no jobs to {}\n", verb.infinitive);
    }
    let counts = [
        (sum.skipped, "skipped"),
        (sum.failed, "failed"),
        (sum.remaining, "not tried"),
    ];
    counts_summary(verb.infinitive, verb.past, sum, &counts, reasons, options)
}

/// The totals of `put --from` in words: `1,000 put, 3 already there in 0.4s`. Of the skipped
/// jobs, `existing` exist already and `done_before` were put by an earlier run.
pub(crate) fn put_summary(
    sum: &BulkTotals,
    existing: usize,
    done_before: usize,
    reasons: &ReasonTally,
    options: &RenderOptions,
) -> String {
    if sum.matched == 0 {
        return "no jobs to put\n".into();
    }
    let counts = [
        (existing, "already there"),
        (done_before, "done before"),
        (sum.failed, "failed"),
        (sum.remaining, "not tried"),
    ];
    counts_summary("put", "put", sum, &counts, reasons, options)
}

fn counts_summary(
    infinitive: &str,
    past: &str,
    sum: &BulkTotals,
    counts: &[(usize, &str)],
    reasons: &ReasonTally,
    options: &RenderOptions,
) -> String {
    let count = |number: usize| options.count(number as u64);
    let mut text = if sum.dry_run {
        let planned = sum.matched.saturating_sub(sum.skipped + sum.failed);
        format!("would {infinitive} {}", count(planned))
    } else {
        format!("{} {past}", count(sum.done))
    };
    for (number, word) in counts {
        if *number > 0 {
            text.push_str(&format!(", {} {word}", count(*number)));
        }
    }
    if sum.elapsed_s.0 >= 0.05 {
        text.push_str(&format!(
            " in {}",
            format_duration_tenths_below_minute(sum.elapsed_s.0)
        ));
    }
    text.push('\n');
    text.push_str(&reason_lines(reasons, options));
    text
}

/// A line for each reason why jobs were skipped or failed.
fn reason_lines(reasons: &ReasonTally, options: &RenderOptions) -> String {
    let mut text = String::new();
    let mut reasons: Vec<_> = reasons.0.iter().collect();
    reasons.sort_by_key(|((result, _), (total, _))| (*result, std::cmp::Reverse(*total)));
    let totals = reasons.iter().map(|(_, (total, _))| *total);
    let counts: Vec<String> = totals.map(|total| options.count(total)).collect();
    let wide = counts.iter().map(String::len).max().unwrap_or(0);
    let mut previous = None;
    for (((result, why), (total, jids)), number) in reasons.into_iter().zip(counts) {
        let word = if previous == Some(result) {
            ""
        } else {
            result.into_str()
        };
        previous = Some(result);
        let head = format!("  {word:<7}  {number:>wide$}  {why}: ");
        let jids: Vec<String> = jids
            .iter()
            .map(|jid| sanitize_to_line(jid.as_bytes()))
            .collect();
        text.push_str(&names_after_head(&head, &jids, *total, options));
    }
    text
}

/// A line with `word`, the total number of jobs and the first jids. Empty if `first` is empty.
pub(crate) fn count_and_first_names(
    word: &str,
    total: usize,
    first: &[String],
    options: &RenderOptions,
) -> String {
    let total = total as u64;
    if first.is_empty() {
        String::new()
    } else {
        names_after_head(
            &format!("  {word:<7}  {}  ", options.count(total)),
            first,
            total,
            options,
        )
    }
}

/// The head of a line, the first jids, and the number of further ones: `HEAD a, b and 3 more`. If the jids do not fit
/// on the line, they follow below it.
fn names_after_head(head: &str, first: &[String], total: u64, options: &RenderOptions) -> String {
    let mut names = first.join(", ");
    match total.saturating_sub(first.len() as u64) {
        0 => {}
        more => names.push_str(&format!(" and {} more", options.count(more))),
    }
    if width(head) + width(&names) <= options.width {
        format!("{head}{names}\n")
    } else {
        format!(
            "{}\n{}",
            head.trim_end(),
            wrap_and_indent(&names, options.width, 4)
        )
    }
}

/// A row of the plan: the jobs in one state in one queue.
struct QueueStateGroup<'j> {
    queue: &'j [u8],
    state: &'j [u8],
    /// When each of the jobs last changed, the earliest time first.
    changes: Vec<Moment>,
    jobs: u64,
}

fn plan_columns<'t>() -> [Column<QueueStateGroup<'t>>; 5] {
    [
        Column::of_text("QUEUE", |group, _| {
            Cell::text_or_missing(non_empty(group.queue))
        }),
        Column::of_text("STATE", |group, _| {
            Cell::text_or_missing(non_empty(group.state))
        }),
        Column::of_counts("JOBS", |group| group.jobs),
        Column::of_text("OLDEST", |group, options| {
            age_cell(group.changes.first(), options)
        }),
        Column::of_text("NEWEST", |group, options| {
            age_cell(group.changes.last(), options)
        }),
    ]
}

fn non_empty(name: &[u8]) -> Option<&[u8]> {
    Some(name).filter(|name| !name.is_empty())
}

fn age_cell(moment: Option<&Moment>, options: &RenderOptions) -> Cell {
    Cell::text_or_missing(moment.map(|at| options.age(*at)))
}

/// The table of a plan: per queue and state, the number of jobs and the times of the first and the last change.
pub(crate) fn plan_by_queue_and_state<'a>(
    jobs: impl Iterator<Item = &'a JobSnapshot>,
    options: &RenderOptions,
) -> String {
    let mut groups: BTreeMap<(&[u8], &[u8]), Vec<&JobSnapshot>> = BTreeMap::new();
    for job in jobs {
        let queue = job.queue.as_ref().map_or(&b""[..], Name::as_bytes);
        let group = groups.entry((queue, job.state.as_bytes()));
        group.or_default().push(job);
    }
    let groups = groups.into_iter().map(|((queue, state), jobs)| {
        let mut changes: Vec<Moment> = jobs.iter().filter_map(|job| job.since).collect();
        changes.sort_unstable();
        QueueStateGroup {
            queue,
            state,
            changes,
            jobs: jobs.len() as u64,
        }
    });
    let groups: Vec<QueueStateGroup> = groups.collect();
    let table = Table::new(&plan_columns(), &groups, options);
    let text = table.into_text(options);
    text.lines().map(|line| format!("  {line}\n")).collect()
}
