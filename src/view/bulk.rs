//! What many jobs became: the plan, the rows of the verbs that print some, and the sum in words.

use std::collections::BTreeMap;

use super::document::Document;
use super::table::{Cell, Column, Table};
use super::{Page, View};
use crate::model::bulk::{Bulk, Code, Item, Result, Shows, Sum};
use crate::model::job_snapshot::JobSnapshot;
use crate::model::verb::Verb;
use crate::name::Name;
use crate::text::{clean, measure, short};

const JIDS: [Column; 1] = [Column::text("JID")];
const PRIORITIES: [Column; 3] = [
    Column::text("JID"),
    Column::number("OLD"),
    Column::number("NEW"),
];
const TAGS: [Column; 2] = [Column::text("JID"), Column::text("TAGS")];
const LEFT: [Column; 2] = [Column::text("JID"), Column::number("REMAINING")];

impl View for Bulk {
    const DOCUMENT: Document = Document::one(
        "bulk",
        "Jobs that one command changed or put: retry, cancel, put --from and the like",
        Bulk::FIELDS,
    );

    fn text(&self, page: &Page) -> String {
        let columns: &'static [Column] = match self.shows {
            Shows::Nothing => return String::new(),
            Shows::Jids => &JIDS,
            Shows::Priorities => &PRIORITIES,
            Shows::Tags => &TAGS,
            Shows::Left => &LEFT,
        };
        let mut table = Table::new(columns);
        for row in &self.rows {
            let mut cells = vec![Cell::text(row.jid.as_bytes())];
            match self.shows {
                Shows::Tags => cells.push(tags(&row.cells)),
                _ => cells.extend(row.cells.iter().map(number)),
            }
            table.row(cells);
        }
        table.draw(page)
    }
}

fn tags(tags: &[Name]) -> Cell {
    let tags: Vec<String> = tags.iter().map(|tag| clean(tag.as_bytes())).collect();
    match tags.is_empty() {
        true => Cell::missing(),
        false => Cell::text(tags.join(", ")),
    }
}

fn number(text: &Name) -> Cell {
    let number = text.as_str().and_then(|text| text.parse().ok());
    Cell::by(number.unwrap_or(f64::NAN), text.as_bytes())
}

/// Why jobs were left out or failed: how many, and the first of them.
#[derive(Debug, Default)]
pub(crate) struct Reasons(BTreeMap<(Result, String), (u64, Vec<Name>)>);

impl Reasons {
    pub(crate) fn add(&mut self, item: &Item) {
        let why = match item.detail.as_deref() {
            _ if item.code == Code::Gone => "gone",
            // A detail is the end of a sentence about one job; here it is about several.
            Some(detail) => detail.strip_prefix("it is ").unwrap_or(detail),
            None => item.code.word(),
        };
        self.count(item.result, why, item.jid.as_bytes());
    }

    pub(crate) fn count(&mut self, result: Result, why: &str, jid: &[u8]) {
        let (count, jids) = self.0.entry((result, clean(why))).or_default();
        *count += 1;
        if jids.len() < 3 {
            jids.push(jid.into());
        }
    }
}

/// Returns what became of one job: `retried 7d1f… in mail, waiting`.
pub(crate) fn sentence(verb: &Verb, item: &Item) -> String {
    let mut text = match item.result {
        Result::Planned => format!("would {}", verb.asks),
        _ => verb.past.to_string(),
    };
    text.push(' ');
    text.push_str(&clean(item.jid.as_bytes()));
    if let (Result::Done, Some(state)) = (item.result, &item.state_after) {
        if let Some(queue) = &item.queue {
            text.push_str(&format!(" in {}", clean(queue.as_bytes())));
        }
        text.push_str(&format!(", {}", clean(state.as_bytes())));
    }
    if let (Result::Done, Some(detail)) = (item.result, &item.detail) {
        text.push_str(&format!(", {}", clean(detail.as_bytes())));
    }
    text
}

/// Returns the sum in words, and why some were left out.
pub(crate) fn summary(verb: &Verb, sum: &Sum, reasons: &Reasons, page: &Page) -> String {
    if sum.matched == 0 {
        return format!("no jobs to {}\n", verb.asks);
    }
    let counts = [
        (sum.skipped, "skipped"),
        (sum.failed, "failed"),
        (sum.remaining, "not tried"),
    ];
    counted(verb.asks, verb.past, sum, &counts, reasons, page)
}

/// Returns what became of the lines of a file, in words: `1,000 put, 3 already there in 0.4s`.
/// `there` of those that were skipped exist already, `before` were done by an earlier run.
pub(crate) fn submitted(
    sum: &Sum,
    there: usize,
    before: usize,
    reasons: &Reasons,
    page: &Page,
) -> String {
    if sum.matched == 0 {
        return "no jobs to put\n".into();
    }
    let counts = [
        (there, "already there"),
        (before, "done before"),
        (sum.failed, "failed"),
        (sum.remaining, "not tried"),
    ];
    counted("put", "put", sum, &counts, reasons, page)
}

fn counted(
    asks: &str,
    past: &str,
    sum: &Sum,
    counts: &[(usize, &str)],
    reasons: &Reasons,
    page: &Page,
) -> String {
    let count = |number: usize| page.count(number as u64);
    let mut text = match sum.dry_run {
        true => {
            let planned = sum.matched.saturating_sub(sum.skipped + sum.failed);
            format!("would {asks} {}", count(planned))
        }
        false => format!("{} {past}", count(sum.done)),
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
    text.push_str(&why(reasons, page));
    text
}

/// Returns why jobs were left out or failed, a line for each reason.
fn why(reasons: &Reasons, page: &Page) -> String {
    let mut text = String::new();
    let mut reasons: Vec<_> = reasons.0.iter().collect();
    reasons.sort_by_key(|((result, _), (total, _))| (*result, std::cmp::Reverse(*total)));
    let totals = reasons.iter().map(|(_, (total, _))| *total);
    let counts: Vec<String> = totals.map(|total| page.count(total)).collect();
    let wide = counts.iter().map(String::len).max().unwrap_or(0);
    let mut before = None;
    for (((result, why), (total, jids)), number) in reasons.into_iter().zip(counts) {
        let word = match before == Some(result) {
            true => "",
            false => result.word(),
        };
        before = Some(result);
        text.push_str(&format!("  {word:<7}  {number:>wide$}  {why}"));
        if *result == Result::Failed {
            let jids: Vec<String> = jids.iter().map(|jid| short(jid.as_bytes())).collect();
            let more = if *total > jids.len() as u64 {
                " …"
            } else {
                ""
            };
            text.push_str(&format!(": {}{more}", jids.join(", ")));
        }
        text.push('\n');
    }
    text
}

const QUEUES: [Column; 4] = [
    Column::text("QUEUE"),
    Column::number("JOBS"),
    Column::text("OLDEST"),
    Column::text("NEWEST"),
];

/// Returns the jobs of a plan by queue, with the oldest and the newest of each.
pub(crate) fn by_queue(jobs: &[JobSnapshot], page: &Page) -> String {
    let mut queues: BTreeMap<&[u8], Vec<&JobSnapshot>> = BTreeMap::new();
    for job in jobs {
        let queue = job.queue.as_ref().map_or(&b""[..], Name::as_bytes);
        queues.entry(queue).or_default().push(job);
    }
    let mut table = Table::new(&QUEUES);
    for (queue, jobs) in queues {
        let mut ages: Vec<_> = jobs.iter().filter_map(|job| job.since).collect();
        ages.sort();
        let age = |moment: Option<_>| Cell::maybe(moment.map(|at| page.age(at)));
        table.row(vec![
            match queue.is_empty() {
                true => Cell::missing(),
                false => Cell::text(queue),
            },
            Cell::count(jobs.len() as u64, page),
            age(ages.first().copied()),
            age(ages.last().copied()),
        ]);
    }
    let text = table.draw(page);
    text.lines().map(|line| format!("  {line}\n")).collect()
}
