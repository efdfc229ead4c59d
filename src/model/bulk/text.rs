//! The text of a bulk action: the plan, the rows of some verbs, and the summary.

use std::collections::BTreeMap;

use super::{BulkItem, BulkReport, BulkRow, ItemResult, OutcomeCode, TableContent, Totals};
use crate::clock::moment::Moment;
use crate::model::bulk::Verb;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;
use crate::text::{clean, measure, width, wrapped};
use crate::view::document::DocumentKind;
use crate::view::table::{Cell, Column, Table};
use crate::view::{RenderOptions, View};

const JID: Column<BulkRow> = Column::name("JID", |row| &row.jid);

impl TableContent {
    /// The columns of the table; none if there is no table.
    fn columns(self) -> &'static [Column<BulkRow>] {
        match self {
            TableContent::Nothing => &[],
            TableContent::Jids => const { &[JID] },
            TableContent::Priorities => {
                const {
                    &[
                        JID,
                        Column::number("OLD", |row, _| number(&row.cells[0])),
                        Column::number("NEW", |row, _| number(&row.cells[1])),
                    ]
                }
            }
            TableContent::Tags => {
                const {
                    &[
                        JID,
                        Column::text("TAGS", |row, _| Cell::names(&row.cells, false)),
                    ]
                }
            }
            TableContent::Remaining => {
                const {
                    &[
                        JID,
                        Column::number("REMAINING", |row, _| number(&row.cells[0])),
                    ]
                }
            }
            TableContent::States => {
                const {
                    &[
                        JID,
                        Column::text("STATE", |row, _| Cell::text(&row.cells[0])),
                    ]
                }
            }
            TableContent::Expiries => {
                const {
                    &[
                        JID,
                        Column::text("EXPIRES", |row, _| Cell::text(&row.cells[0])),
                    ]
                }
            }
        }
    }
}

impl View for BulkReport {
    const DOCUMENT: DocumentKind = DocumentKind::new::<BulkReport>(
        "bulk",
        "Jobs that one command changed or put: retry, cancel, put --from and the like",
    );

    fn text(&self, page: &RenderOptions) -> String {
        match self.row_content.columns() {
            [] => String::new(),
            columns => Table::new(columns, &self.rows, page).draw(page),
        }
    }
}

fn number(text: &Name) -> Cell {
    let number = text.as_str().and_then(|text| text.parse().ok());
    Cell::by(number.unwrap_or(f64::NAN), text.as_bytes())
}

/// The reasons why jobs were skipped or failed, each with the number of jobs and the first jids.
#[derive(Debug, Default)]
pub(crate) struct Reasons(BTreeMap<(ItemResult, String), (u64, Vec<Name>)>);

impl Reasons {
    pub(crate) fn add(&mut self, item: &BulkItem) {
        let why = match &item.detail {
            _ if item.code == OutcomeCode::Gone => "gone".into(),
            Some(detail) => detail.short(),
            None => item.code.into_str().into(),
        };
        self.count(item.result, &why, item.jid.as_bytes());
    }

    pub(crate) fn count(&mut self, result: ItemResult, why: &str, jid: &[u8]) {
        let (count, jids) = self.0.entry((result, clean(why))).or_default();
        *count += 1;
        if jids.len() < NAMED {
            jids.push(jid.into());
        }
    }
}

/// How many jobs a text names one by one.
pub(crate) const NAMED: usize = 10;

/// The outcome of one job: `retried 7d1f… in mail, waiting`.
pub(crate) fn sentence(verb: &Verb, item: &BulkItem) -> String {
    let mut text = match item.result {
        ItemResult::Planned => format!("would {}", verb.infinitive),
        _ => verb.of_one.unwrap_or(verb.past).to_string(),
    };
    text.push(' ');
    text.push_str(&clean(item.jid.as_bytes()));
    if let (ItemResult::Done, Some(state), None) = (item.result, &item.state_after, verb.of_one) {
        if let Some(queue) = &item.queue {
            text.push_str(&format!(" in {}", clean(queue.as_bytes())));
        }
        text.push_str(&format!(", {}", clean(state.as_bytes())));
    }
    if let (ItemResult::Done | ItemResult::Planned, Some(detail)) = (item.result, &item.detail) {
        text.push_str(&format!(", {}", clean(detail.to_string())));
    }
    text
}

/// The totals in words, and the reasons why jobs were skipped or failed.
pub(crate) fn summary(
    verb: &Verb,
    sum: &Totals,
    reasons: &Reasons,
    page: &RenderOptions,
) -> String {
    if sum.matched == 0 {
        return format!("no jobs to {}\n", verb.infinitive);
    }
    let counts = [
        (sum.skipped, "skipped"),
        (sum.failed, "failed"),
        (sum.remaining, "not tried"),
    ];
    counted(verb.infinitive, verb.past, sum, &counts, reasons, page)
}

/// The totals of `put --from` in words: `1,000 put, 3 already there in 0.4s`. Of the skipped
/// jobs, `existing` exist already and `done_before` were put by an earlier run.
pub(crate) fn submitted(
    sum: &Totals,
    existing: usize,
    done_before: usize,
    reasons: &Reasons,
    page: &RenderOptions,
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
    counted("put", "put", sum, &counts, reasons, page)
}

fn counted(
    infinitive: &str,
    past: &str,
    sum: &Totals,
    counts: &[(usize, &str)],
    reasons: &Reasons,
    page: &RenderOptions,
) -> String {
    let count = |number: usize| page.count(number as u64);
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
        text.push_str(&format!(" in {}", measure(sum.elapsed_s.0)));
    }
    text.push('\n');
    text.push_str(&reason_lines(reasons, page));
    text
}

/// A line for each reason why jobs were skipped or failed.
fn reason_lines(reasons: &Reasons, page: &RenderOptions) -> String {
    let mut text = String::new();
    let mut reasons: Vec<_> = reasons.0.iter().collect();
    reasons.sort_by_key(|((result, _), (total, _))| (*result, std::cmp::Reverse(*total)));
    let totals = reasons.iter().map(|(_, (total, _))| *total);
    let counts: Vec<String> = totals.map(|total| page.count(total)).collect();
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
        let jids: Vec<String> = jids.iter().map(|jid| clean(jid.as_bytes())).collect();
        text.push_str(&named(&head, &jids, *total, page));
    }
    text
}

/// A line with the number of jobs and the first of them; nothing if there are none.
pub(crate) fn named_lines(
    word: &str,
    total: usize,
    first: &[String],
    page: &RenderOptions,
) -> String {
    let total = total as u64;
    if first.is_empty() {
        String::new()
    } else {
        named(
            &format!("  {word:<7}  {}  ", page.count(total)),
            first,
            total,
            page,
        )
    }
}

/// Names after the head of a line, and how many more there are. Names that do not fit into
/// the line have lines of their own.
fn named(head: &str, first: &[String], total: u64, page: &RenderOptions) -> String {
    let mut names = first.join(", ");
    match total.saturating_sub(first.len() as u64) {
        0 => {}
        more => names.push_str(&format!(" and {} more", page.count(more))),
    }
    if width(head) + width(&names) <= page.width {
        format!("{head}{names}\n")
    } else {
        format!("{}\n{}", head.trim_end(), wrapped(&names, page.width, 4))
    }
}

/// Jobs of a plan that are in one state in one queue.
struct PlanGroup<'j> {
    queue: &'j [u8],
    state: &'j [u8],
    /// The time of each job's last change, oldest first.
    changes: Vec<Moment>,
    jobs: u64,
}

fn plan_columns<'t>() -> [Column<PlanGroup<'t>>; 5] {
    [
        Column::text("QUEUE", |group, _| Cell::maybe(some(group.queue))),
        Column::text("STATE", |group, _| Cell::maybe(some(group.state))),
        Column::count("JOBS", |group| group.jobs),
        Column::text("OLDEST", |group, page| age(group.changes.first(), page)),
        Column::text("NEWEST", |group, page| age(group.changes.last(), page)),
    ]
}

fn some(name: &[u8]) -> Option<&[u8]> {
    Some(name).filter(|name| !name.is_empty())
}

fn age(moment: Option<&Moment>, page: &RenderOptions) -> Cell {
    Cell::maybe(moment.map(|at| page.age(*at)))
}

/// The jobs of a plan by queue and state, with the oldest and the newest of each.
pub(crate) fn by_queue<'a>(
    jobs: impl Iterator<Item = &'a JobSnapshot>,
    page: &RenderOptions,
) -> String {
    let mut groups: BTreeMap<(&[u8], &[u8]), Vec<&JobSnapshot>> = BTreeMap::new();
    for job in jobs {
        let queue = job.queue.as_ref().map_or(&b""[..], Name::as_bytes);
        let group = groups.entry((queue, job.state.as_bytes()));
        group.or_default().push(job);
    }
    let groups = groups.into_iter().map(|((queue, state), jobs)| {
        let mut changes: Vec<Moment> = jobs.iter().filter_map(|job| job.since).collect();
        changes.sort();
        PlanGroup {
            queue,
            state,
            changes,
            jobs: jobs.len() as u64,
        }
    });
    let groups: Vec<PlanGroup> = groups.collect();
    let table = Table::new(&plan_columns(), &groups, page);
    let text = table.draw(page);
    text.lines().map(|line| format!("  {line}\n")).collect()
}
