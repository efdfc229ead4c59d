//! Jobs: a row each in lists, and one told in full with its failure and history.

use super::detail::Detail;
use super::list::Row;
use super::paint::Ink;
use super::table::{Cell, Column, NONE, Table};
use super::{Page, View, text};
use crate::model::job::{Counts, Dependencies, Entry, Failure, Job, Neighbour, State};
use crate::model::moment::Moment;
use crate::model::name::Name;

impl Row for Job {
    const KIND: &'static str = "jobs";

    const COLUMNS: &'static [Column] = &[
        Column::text("JID"),
        Column::text("KLASS"),
        Column::text("STATE"),
        Column::text("QUEUE"),
        Column::number("PRI"),
        Column::number("LEFT"),
        Column::text("AGE"),
        Column::text("WORKER").on_request(),
        Column::text("TAGS").on_request(),
        Column::text("GROUP").on_request(),
        Column::free("DATA").on_request(),
        Column::free("DETAIL"),
    ];

    fn row(&self, page: &Page, table: &mut Table) {
        let number = |number: Option<crate::model::json::Number>| match number {
            Some(number) => Cell::by(number.0, number.to_string()),
            None => Cell::missing(),
        };
        let left = match (self.remaining, self.retries) {
            (Some(left), Some(of)) => Cell::by(left.0, format!("{}/{of}", left.floor())),
            _ => Cell::missing(),
        };
        let age = match self.since {
            Some(since) => Cell::by(page.now.since(since), page.age(since)),
            None => Cell::missing(),
        };
        table.row(vec![
            Cell::text(&self.jid),
            Cell::maybe(self.klass.as_ref()),
            Cell::text(self.shown()).ink(self.state.and_then(Ink::of)),
            Cell::maybe(self.queue.as_ref()),
            number(self.priority),
            left,
            age,
            Cell::maybe(self.worker.as_ref()),
            match self.tags.is_empty() {
                true => Cell::missing(),
                false => Cell::text(names(&self.tags)),
            },
            Cell::maybe(self.failure.as_ref().map(|failure| &failure.group)),
            Cell::text(self.data.as_bytes()),
            Cell::text(self.detail(page)),
        ]);
    }

    fn jid(&self) -> Option<&Name> {
        Some(&self.jid)
    }
}

impl Job {
    fn shown(&self) -> String {
        match (self.state, &self.state_stored) {
            (Some(state), _) => state.to_string(),
            (None, Some(stored)) => text::clean(stored.as_bytes()),
            (None, None) => NONE.to_owned(),
        }
    }

    /// Returns what matters in its state, cleaned.
    fn detail(&self, page: &Page) -> String {
        let holder = self
            .worker
            .as_ref()
            .map(|worker| text::clean(worker.as_bytes()));
        match self.state {
            Some(State::Running) => {
                let lock = self.expires.map(|expires| match page.relative() {
                    true => format!("lock {}", text::duration(expires.since(page.now))),
                    false => format!("lock until {}", page.stamp(expires)),
                });
                joined([holder, lock])
            }
            Some(State::Stalled) => {
                let lost = self.lost().map(|at| page.when(at)).unwrap_or_default();
                match holder {
                    Some(holder) => format!("{holder} lost it {lost}"),
                    None => format!("lost {lost}"),
                }
            }
            Some(State::Waiting) => match self.since {
                Some(since) if page.relative() => format!("waits {}", page.age(since)),
                Some(since) => format!("waits since {}", page.stamp(since)),
                None => String::new(),
            },
            Some(State::Scheduled) => self
                .scheduled_for
                .map_or_else(String::new, |due| due_at(due, page)),
            Some(State::Depends) => {
                let on = text::plural(self.dependencies.len() as u64, "job", "jobs");
                match self.failed_dependencies {
                    0 => format!("on {on}"),
                    failed => format!("on {on}, {failed} failed"),
                }
            }
            Some(State::Failed) => match &self.failure {
                Some(failure) => {
                    let line = text::first_line(failure.message.as_bytes());
                    format!(
                        "{}: {}",
                        text::clean(failure.group.as_bytes()),
                        text::clean(line)
                    )
                }
                None => String::new(),
            },
            Some(State::Complete) => self.since.map(|since| page.when(since)).unwrap_or_default(),
            None => String::new(),
        }
    }

    /// Returns when its lock was lost: when it lapsed, or when it was taken away.
    fn lost(&self) -> Option<Moment> {
        self.expires.or(self.since)
    }
}

/// Returns when a scheduled job or a template is due.
pub fn due_at(due: Moment, page: &Page) -> String {
    match page.now.since(due) {
        late if late >= 0.0 && page.relative() => format!("due {}", page.when(due)),
        _ => page.when(due),
    }
}

fn joined(parts: [Option<String>; 2]) -> String {
    parts
        .into_iter()
        .flatten()
        .collect::<Vec<String>>()
        .join(", ")
}

/// Returns names in a row, cleaned.
pub fn names(names: &[Name]) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| text::clean(name.as_bytes()))
        .collect();
    names.join(", ")
}

impl View for Job {
    const KIND: &'static str = "job";

    fn text(&self, page: &Page) -> String {
        let mut detail = Detail::new(page);
        detail.line("jid", &self.jid);
        detail.maybe("klass", self.klass.as_ref());
        detail.maybe("queue", self.queue.as_ref());
        let ink = self.state.and_then(Ink::of);
        detail.remarked("state", self.shown(), ink, self.state_remark(page));
        match self.priority {
            Some(priority) => {
                let remark = "higher runs first".to_owned();
                detail.remarked("priority", priority.to_string(), None, remark);
            }
            None => detail.line("priority", NONE),
        }
        match (self.remaining, self.retries) {
            (Some(left), Some(of)) => {
                detail.line("retries", format!("{} of {of} left", left.floor()));
            }
            _ => detail.line("retries", NONE),
        }
        list(&mut detail, "tags", names(&self.tags));
        detail.line("tracked", if self.tracked { "yes" } else { "no" });
        let edges = |jids: &[Name]| {
            let told = jids.iter().map(|jid| {
                let state = self.neighbours.iter().find(|other| other.jid == *jid);
                let jid = text::clean(jid.as_bytes());
                match state.map(|other| other.state) {
                    Some(Some(state)) => format!("{jid} ({state})"),
                    Some(None) => format!("{jid} (missing)"),
                    None => jid,
                }
            });
            told.collect::<Vec<String>>().join(", ")
        };
        list(&mut detail, "depends on", edges(&self.dependencies));
        list(&mut detail, "needed by", edges(&self.dependents));
        if let Some(template) = &self.spawned_from {
            detail.line("spawned from", template);
        }
        if let Some(due) = self.scheduled_for {
            detail.line("scheduled", due_at(due, page));
        }
        detail.line("data", self.data.as_bytes());
        let mut told = detail.draw();
        if let Some(failure) = &self.failure {
            told.push_str("\nfailure\n");
            told.push_str(&indented(&failure.message));
        }
        if let Some(history) = &self.history {
            told.push_str(&history_text(history, page));
        }
        told
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }
}

impl Job {
    fn state_remark(&self, page: &Page) -> String {
        match (self.state, &self.failure) {
            (Some(State::Failed), Some(failure)) => failed_remark(failure, page),
            (Some(State::Failed | State::Scheduled), _) => self
                .since
                .map(|since| format!("since {}", page.when(since)))
                .unwrap_or_default(),
            _ => self.detail(page),
        }
    }
}

/// Returns why, when and where a job failed: `upload error, 3h 12m ago, by mx-2-18841`.
fn failed_remark(failure: &Failure, page: &Page) -> String {
    let mut remark = text::clean(failure.group.as_bytes());
    if let Some(when) = failure.when {
        remark.push_str(&format!(", {}", page.when(when)));
    }
    if let Some(worker) = &failure.worker {
        remark.push_str(&format!(", by {}", text::clean(worker.as_bytes())));
    }
    remark
}

fn list(detail: &mut Detail, name: &'static str, clean: String) {
    let value = if clean.is_empty() {
        NONE.to_owned()
    } else {
        clean
    };
    detail.line(name, value);
}

/// Returns a text of several lines, each set in by two.
fn indented(lines: &Name) -> String {
    let clean = text::clean_lines(lines.as_bytes());
    clean.lines().map(|line| format!("  {line}\n")).collect()
}

fn history_text(history: &[Entry], page: &Page) -> String {
    let rows: Vec<[String; 4]> = history
        .iter()
        .enumerate()
        .map(|(at, entry)| {
            [
                entry.when.map_or(NONE.to_owned(), |when| page.stamp(when)),
                text::clean(entry.what.as_bytes()),
                note(entry),
                took(history, at),
            ]
        })
        .collect();
    let widest = |column: usize| {
        rows.iter()
            .map(|row| text::width(&row[column]))
            .max()
            .unwrap_or(0)
    };
    let widths = [widest(0), widest(1), widest(2)];
    let mut told = format!("\nhistory ({})\n", history.len());
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(&format!(
                "  {cell}{:1$}",
                "",
                width.saturating_sub(text::width(cell))
            ));
        }
        told.push_str(format!("{line}  {}", row[3]).trim_end());
        told.push('\n');
    }
    told
}

/// Returns what an entry notes, in words where they are the core's own.
fn note(entry: &Entry) -> String {
    let text = |key: &str| entry.text(key).map(|text| text::clean(text.as_bytes()));
    let known = match entry.what.as_bytes() {
        b"put" => text("queue").map(|queue| format!("in {queue}")),
        b"popped" => text("worker").map(|worker| format!("by {worker}")),
        b"failed" => text("group"),
        _ => None,
    };
    known.unwrap_or_else(|| {
        let members = entry.note.iter().map(|(key, value)| {
            let value = value.text().unwrap_or_else(|| value.to_name());
            format!(
                "{}={}",
                text::clean(key.as_bytes()),
                text::clean(value.as_bytes())
            )
        });
        members.collect::<Vec<String>>().join(" ")
    })
}

/// Returns how long a job had waited when it was popped, or run when that ended.
fn took(history: &[Entry], at: usize) -> String {
    let (verb, from): (&str, &[u8]) = match history[at].what.as_bytes() {
        b"popped" => ("waited", b"put"),
        b"done" | b"failed" | b"timed-out" => ("ran", b"popped"),
        _ => return String::new(),
    };
    let began = history[..at].iter().rev().find(|entry| {
        let what = entry.what.as_bytes();
        what == from || what == b"popped" || what == b"put"
    });
    match (
        began.filter(|entry| entry.what.as_bytes() == from),
        history[at].when,
    ) {
        (
            Some(Entry {
                when: Some(began), ..
            }),
            Some(ended),
        ) => {
            format!("{verb} {}", text::duration(ended.since(*began)))
        }
        _ => String::new(),
    }
}

impl View for Counts {
    const KIND: &'static str = "counts";

    fn text(&self, page: &Page) -> String {
        let mut counts = *self;
        let mut detail = Detail::new(page);
        for state in State::ALL {
            let count = *counts.of(state);
            detail.remarked(
                state.word(),
                page.count(count),
                Ink::of(state),
                String::new(),
            );
        }
        detail.draw()
    }
}

impl View for Dependencies {
    const KIND: &'static str = "dependencies";

    fn text(&self, page: &Page) -> String {
        if !page.terminal {
            return self.piped(page);
        }
        let what = joined([
            self.klass
                .as_ref()
                .map(|klass| text::clean(klass.as_bytes())),
            self.queue
                .as_ref()
                .map(|queue| text::clean(queue.as_bytes())),
        ]);
        let mut told = format!("{} ({what}) waits for", text::short(&self.jid));
        told.push_str(&neighbours(&self.dependencies, page));
        told.push_str("and is needed by");
        told.push_str(&neighbours(&self.dependents, page));
        told
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(
            self.dependencies
                .iter()
                .chain(&self.dependents)
                .map(|other| &other.jid)
                .collect(),
        )
    }
}

impl Dependencies {
    /// Returns one line for each edge: which way, then the job at its other end.
    fn piped(&self, page: &Page) -> String {
        let mut told = String::new();
        for (way, others) in [
            ("waits for", &self.dependencies),
            ("needed by", &self.dependents),
        ] {
            for other in others {
                let [jid, klass, state, _] = other.cells(page);
                let queue = other
                    .queue
                    .as_ref()
                    .map(|queue| text::clean(queue.as_bytes()));
                let queue = queue.unwrap_or_else(|| NONE.to_owned());
                told.push_str(&format!("{way}\t{jid}\t{klass}\t{queue}\t{state}\n"));
            }
        }
        told
    }
}

impl Neighbour {
    fn cells(&self, page: &Page) -> [String; 4] {
        let klass = self
            .klass
            .as_ref()
            .map(|klass| text::clean(klass.as_bytes()));
        let detail = self.job.as_ref().map(|job| match (job.state, job.since) {
            (Some(State::Failed), Some(since)) => {
                let group = job
                    .failure
                    .as_ref()
                    .map(|failure| text::clean(failure.group.as_bytes()));
                joined([group, Some(page.when(since))])
            }
            (Some(State::Running), Some(since)) => {
                let worker = job
                    .worker
                    .as_ref()
                    .map(|worker| text::clean(worker.as_bytes()));
                joined([worker, Some(page.age(since))])
            }
            _ => job.detail(page),
        });
        [
            text::clean(self.jid.as_bytes()),
            klass.unwrap_or_else(|| NONE.to_owned()),
            self.state
                .map_or("missing".to_owned(), |state| state.to_string()),
            detail.unwrap_or_default(),
        ]
    }
}

fn neighbours(others: &[Neighbour], page: &Page) -> String {
    if others.is_empty() {
        return " nothing\n".to_owned();
    }
    let marks = super::paint::Marks::new(page.color);
    let rows: Vec<[String; 4]> = others.iter().map(|other| other.cells(page)).collect();
    let widest = |column: usize| {
        rows.iter()
            .map(|row| text::width(&row[column]))
            .max()
            .unwrap_or(0)
    };
    let widths = [widest(0), widest(1), widest(2)];
    let mut told = String::from("\n");
    for (row, other) in rows.iter().zip(others) {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
            let ink = if at == 2 {
                other.state.and_then(Ink::of)
            } else {
                None
            };
            let gap = width.saturating_sub(text::width(cell));
            line.push_str(&format!("  {}{:gap$}", marks.put(cell, ink), ""));
        }
        told.push_str(format!("{line}  {}", row[3]).trim_end());
        told.push('\n');
    }
    marks.colour(told)
}
