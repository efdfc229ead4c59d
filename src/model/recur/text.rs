//! Recurring jobs as text: columns, the details of one recurring job, and its next runs.

use super::Recurring;
use crate::clock::moment::Moment;
use crate::json::{Number, write};
use crate::model::export::SavedRecurring;
use crate::model::job::text::due_text;
use crate::name::Name;
use crate::text;
use crate::view::detail::DetailLines;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::table::{Cell, Column, NONE};
use crate::view::{RenderOptions, View};

impl Row for Recurring {
    const LIST: DocumentKind =
        DocumentKind::of_list::<Recurring>("recurring-jobs", "Recurring jobs: recur list");

    const COLUMNS: &'static [Column<Recurring>] = &[
        Column::of_names("JID", |missing_job| &missing_job.jid),
        Column::of_text("QUEUE", |job: &Recurring, _| {
            Cell::text_or_missing(job.queue.as_ref())
        })
        .drop_rank(3),
        Column::of_text("KLASS", |job: &Recurring, _| {
            Cell::text_or_missing(job.klass.as_ref())
        })
        .drop_rank(4),
        Column::of_text("EVERY", |job: &Recurring, _| match job.every_s {
            Some(every) => Cell::sorted_by(every.0, format_interval(every)),
            None => Cell::missing(),
        })
        .drop_rank(2),
        Column::of_text("NEXT", |job: &Recurring, options| match job.next {
            _ if job.is_paused() => Cell::text("paused"),
            Some(next) => Cell::sorted_by(next.seconds(), due_text(next, options)),
            None => Cell::missing(),
        })
        .drop_rank(1),
        Column::of_numbers("SPAWNED", |job: &Recurring, options| match job.count {
            Some(count) => Cell::count(count.0 as u64, options),
            None => Cell::missing(),
        })
        .drop_rank(5),
        Column::of_numbers("BACKLOG", |job: &Recurring, _| match job.backlog {
            Some(backlog) if backlog.0 == 0.0 => {
                Cell::sorted_by(f64::INFINITY, job.max_backlog_text())
            }
            backlog => Cell::number(backlog),
        })
        .drop_rank(6),
        Column::of_numbers("OWED", |job: &Recurring, options| {
            Cell::count(job.missed_runs_within_backlog(options.now), options)
        })
        .drop_rank(3),
        Column::of_numbers("PRI", |job: &Recurring, _| Cell::number(job.priority))
            .only_if_requested(),
        Column::of_numbers("RETRIES", |job: &Recurring, _| Cell::number(job.retries))
            .only_if_requested(),
        Column::of_text("TAGS", |job: &Recurring, _| {
            Cell::name_list(&job.tags, false)
        })
        .only_if_requested(),
        Column::of_free_text("DATA", |job: &Recurring, _| {
            Cell::pre_escaped(job.data.as_bytes())
        })
        .only_if_requested(),
    ];

    fn jid(&self) -> Option<&Name> {
        Some(&self.jid)
    }
}

/// An interval as text: in larger units if that is exact (`5m`), else in seconds (`300.5s`).
pub(crate) fn format_interval(every: Number) -> String {
    let text = text::format_duration(every.0);
    let exact = every.0.fract() == 0.0
        && crate::clock::duration::parse_duration(&text)
            .is_ok_and(|read| read.as_secs_f64() == every.0);
    if exact { text } else { format!("{every}s") }
}

impl Recurring {
    /// The maximum number of missed jobs that are put later, as text. A stored 0 means no limit and is shown as `all`.
    pub(crate) fn max_backlog_text(&self) -> String {
        match self.backlog {
            Some(backlog) if backlog.0 == 0.0 => "all".to_owned(),
            backlog => backlog.map_or(NONE.to_owned(), |backlog| backlog.to_string()),
        }
    }

    /// Since when, by whom and why the recurring job is paused, as text. Empty if it is not paused.
    pub(crate) fn pause_text(&self, options: &RenderOptions) -> String {
        let Some(since) = self.paused_since else {
            return String::new();
        };
        let mut text = format!("paused {}", options.when(since));
        if let Some(by) = &self.paused_by {
            text.push_str(&format!(" by {by}"));
        }
        if let Some(reason) = &self.paused_reason {
            text.push_str(&format!(" ({reason})"));
        }
        text
    }
}

/// The number of missed runs that pops still have to put, as text: `3 runs owed`. `None` if there are none.
pub(crate) fn owed_text(runs: u64, options: &RenderOptions) -> Option<String> {
    (runs > 0).then(|| format!("{} owed", options.format_count(runs, "run", "runs")))
}

/// The next runs of a template in words.
pub(crate) fn next_runs_text(runs: &[Moment], options: &RenderOptions) -> String {
    let runs: Vec<String> = runs
        .iter()
        .map(|run| options.format_timestamp(*run))
        .collect();
    format!("next runs: {}{}", runs.join(", "), options.zone_suffix())
}

impl View for Recurring {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<SavedRecurring>("recurring", "A recurring job in full: recur get");

    fn text(&self, options: &RenderOptions) -> String {
        let number =
            |number: Option<Number>| number.map_or(NONE.to_owned(), |number| number.to_string());
        let mut detail = DetailLines::new(options);
        detail.add_name_line("jid", &self.jid);
        detail.add_name_line_or_missing("klass", self.klass.as_ref());
        detail.add_name_line_or_missing("queue", self.queue.as_ref());
        detail.add_line_with_remark("state", "recurring", None, self.pause_text(options));
        detail.add_line(
            "every",
            self.every_s.map_or(NONE.to_owned(), format_interval),
        );
        let next = self.next;
        detail.add_line_with_remark(
            "next",
            next.map_or(NONE.to_owned(), |next| due_text(next, options)),
            None,
            owed_text(self.missed_runs_within_backlog(options.now), options).unwrap_or_default(),
        );
        detail.add_line(
            "spawned",
            self.count
                .map_or(NONE.to_owned(), |count| options.count(count.0 as u64)),
        );
        let all = self.backlog.is_some_and(|backlog| backlog.0 == 0.0);
        let remark = if all {
            "all missed runs are made up for"
        } else {
            ""
        };
        detail.add_line_with_remark("backlog", number(self.backlog), None, remark.to_owned());
        detail.add_line_with_remark(
            "priority",
            number(self.priority),
            None,
            "higher runs first".to_owned(),
        );
        detail.add_line("retries", number(self.retries));
        detail.add_names_line_or_missing("tags", &self.tags);
        if let Some(options) = &self.options {
            let mut text = Vec::new();
            if write::write_unsanitized_compact(options, &mut text).is_ok() {
                detail.add_line("options", text);
            }
        }
        detail.add_line("data", self.data.as_bytes());
        detail.into_text()
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }
}
