//! Jobs as text: rows of a list, one job in full, and counts by state.

use strum::VariantArray;

use super::{Failure, Job, State, StateCounts};
use crate::clock::moment::Moment;
use crate::model::coordination::LostLockBackoff;
use crate::model::export::ExportedJob;
use crate::model::history;
use crate::model::list::JobsAndMissingJids;
use crate::name::Name;
use crate::text;
use crate::text::comma_list;
use crate::view::detail::DetailLines;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::paint::Style;
use crate::view::table::{Cell, Column, NONE};
use crate::view::{RenderOptions, View};

impl State {
    /// The color of the state on a terminal. State `waiting` has none.
    pub(crate) const fn state_style(self) -> Option<Style> {
        match self {
            State::Running => Some(Style::Green),
            State::Waiting => None,
            State::Scheduled => Some(Style::Blue),
            State::Depends => Some(Style::Cyan),
            State::Stalled | State::Throttled => Some(Style::Yellow),
            State::Failed => Some(Style::Red),
            State::Complete => Some(Style::Dim),
        }
    }
}

impl Row for Job {
    const LIST: DocumentKind = JobsAndMissingJids::DOCUMENT;

    const COLUMNS: &'static [Column<Job>] = &[
        Column::of_names("JID", |missing_job| &missing_job.jid),
        Column::of_text("KLASS", |job: &Job, _| {
            Cell::text_or_missing(job.klass.as_ref())
        })
        .drop_rank(2),
        Column::of_text("STATE", |job: &Job, _| {
            Cell::text(job.state_word()).with_style(job.state.and_then(State::state_style))
        })
        .drop_rank(1),
        Column::of_text("QUEUE", |job: &Job, _| {
            Cell::text_or_missing(job.queue.as_ref())
        })
        .drop_rank(4),
        Column::of_numbers("PRI", |job: &Job, _| Cell::number(job.priority)).drop_rank(7),
        Column::of_numbers("REMAINING", |job: &Job, _| {
            match (job.remaining_retries(), job.retries) {
                (Some(left), Some(all)) => Cell::sorted_by(left as f64, format!("{left}/{all}")),
                _ => Cell::missing(),
            }
        })
        .drop_rank(6),
        Column::of_text("AGE", |job: &Job, options| match job.unchanged_since() {
            Some(since) => Cell::sorted_by(options.now.since(since), options.age(since)),
            None => Cell::missing(),
        })
        .drop_rank(5),
        Column::of_text("WORKER", |job: &Job, _| {
            Cell::text_or_missing(job.worker.as_ref())
        })
        .only_if_requested(),
        Column::of_text("TAGS", |job: &Job, _| Cell::name_list(&job.tags, false))
            .only_if_requested(),
        Column::of_text("LANE", |job: &Job, _| {
            Cell::text_or_missing(job.key.as_ref())
        })
        .only_if_requested(),
        Column::of_text("THROTTLES", |job: &Job, _| {
            Cell::name_list(&job.throttles, false)
        })
        .only_if_requested(),
        Column::of_text("GROUP", |job: &Job, _| {
            Cell::text_or_missing(job.failure.as_ref().map(|failure| &failure.group))
        })
        .only_if_requested(),
        Column::of_free_text("DATA", |job: &Job, options| {
            if options.choice.needs_only_default_columns() {
                Cell::missing()
            } else {
                Cell::pre_escaped(job.data.as_bytes())
            }
        })
        .only_if_requested(),
        Column::of_free_text("DETAIL", |job: &Job, options| {
            Cell::text(job.state_detail(options))
        })
        .drop_rank(3),
    ];

    fn jid(&self) -> Option<&Name> {
        Some(&self.jid)
    }
}

impl Job {
    /// The state of the job as text.
    pub(crate) fn state_word(&self) -> String {
        match (self.state, &self.state_stored) {
            (Some(state), _) => state.to_string(),
            (None, Some(stored)) => stored.to_string(),
            // A job of a recurring job that is due and that no pop has put yet.
            (None, None) if self.spawned_from.is_some() => "(due)".to_owned(),
            (None, None) => NONE.to_owned(),
        }
    }

    /// The most important fact about a job in its state, sanitized, such as the holder and the lock of a running job.
    pub fn state_detail(&self, options: &RenderOptions) -> String {
        let holder = self.worker.as_ref().map(Name::to_string);
        match self.state {
            Some(State::Running) => {
                let lock = self.expires.map(|expires| {
                    if options.relative() {
                        format!("lock {}", text::format_duration(expires.since(options.now)))
                    } else {
                        format!("lock until {}", options.format_timestamp(expires))
                    }
                });
                join_with_comma([holder, lock])
            }
            Some(State::Stalled) => {
                let lost = self
                    .lock_lost_at()
                    .map(|at| options.when(at))
                    .unwrap_or_default();
                match holder {
                    // `timeout` leaves no end of the lock.
                    Some(holder) if self.expires.is_none() => {
                        format!("{holder} lost its lock {lost}")
                    }
                    Some(holder) => format!("the lock of {holder} expired {lost}"),
                    None => format!("lost {lost}"),
                }
            }
            Some(State::Waiting) => match self.since {
                Some(since) if options.relative() => format!("waits {}", options.age(since)),
                Some(since) => format!("waits since {}", options.format_timestamp(since)),
                None => String::new(),
            },
            Some(State::Scheduled) => self
                .scheduled_for
                .map_or_else(String::new, |due| due_text(due, options)),
            Some(State::Depends) => {
                let jobs = options.format_count(self.dependencies.len() as u64, "job", "jobs");
                match self.failed_dependencies {
                    0 => format!("on {jobs}"),
                    failed => format!("on {jobs}, {failed} failed"),
                }
            }
            Some(State::Throttled) => {
                if self.throttles.is_empty() {
                    String::new()
                } else {
                    format!("needs {}", comma_list(&self.throttles))
                }
            }
            Some(State::Failed) => match &self.failure {
                Some(failure) => {
                    let line = text::failure_summary_line(failure.message.as_bytes());
                    format!("{}: {}", failure.group, text::Sanitized(line))
                }
                None => String::new(),
            },
            Some(State::Complete) => self
                .since
                .map(|since| options.when(since))
                .unwrap_or_default(),
            // A job of a recurring job that is due and that no pop has put yet: name the recurring job.
            None => match (&self.state_stored, &self.spawned_from) {
                (None, Some(recurring)) => format!("from {recurring}"),
                _ => String::new(),
            },
        }
    }

    /// When the lock of a stalled job expired or was revoked.
    fn lock_lost_at(&self) -> Option<Moment> {
        self.expires.or(self.since)
    }
}

/// When a scheduled or recurring job is due, as text: `in 5m`, or `due 2m ago` after that time.
pub(crate) fn due_text(due: Moment, options: &RenderOptions) -> String {
    match options.now.since(due) {
        late if late >= 0.0 && options.relative() => format!("due {}", options.when(due)),
        _ => options.when(due),
    }
}

/// Joins the parts that are present with a comma.
pub(crate) fn join_with_comma(parts: [Option<String>; 2]) -> String {
    parts
        .into_iter()
        .flatten()
        .collect::<Vec<String>>()
        .join(", ")
}

impl View for Job {
    const DOCUMENT: DocumentKind = DocumentKind::new::<ExportedJob>("job", "A job in full: get");

    fn text(&self, options: &RenderOptions) -> String {
        let mut detail = DetailLines::new(options);
        detail.add_name_line("jid", &self.jid);
        detail.add_name_line_or_missing("klass", self.klass.as_ref());
        detail.add_name_line_or_missing("queue", self.queue.as_ref());
        let ink = self.state.and_then(State::state_style);
        detail.add_line_with_remark(
            "state",
            self.state_word(),
            ink,
            self.remark_beside_state(options),
        );
        if let Some(reason) = &self.blocked_by {
            let (line, ink) = (
                reason.reason_and_evidence_line(options),
                Some(Style::Yellow),
            );
            detail.add_line_with_remark("blocked", line, ink, String::new());
        }
        match self.priority {
            Some(priority) => {
                let remark = "higher runs first".to_owned();
                detail.add_line_with_remark("priority", priority.to_string(), None, remark);
            }
            None => detail.add_line("priority", NONE),
        }
        match (self.remaining_retries(), self.retries) {
            (Some(left), Some(all)) => {
                detail.add_line("retries", format!("{left} of {all} remaining"));
            }
            _ => detail.add_line("retries", NONE),
        }
        detail.add_names_line_or_missing("tags", &self.tags);
        detail.add_line("tracked", if self.tracked { "yes" } else { "no" });
        let edges = |jids: &[Name]| {
            let texts = jids.iter().map(|jid| {
                let neighbor = self.neighbors.iter().find(|other| other.jid == *jid);
                let (neighbor, jid) = (neighbor.map(|other| other.state), options.name(jid));
                match neighbor {
                    Some(Some(state)) => format!("{jid} ({state})"),
                    Some(None) => format!("{jid} (missing)"),
                    None => jid,
                }
            });
            Some(comma_list(texts)).filter(|list| !list.is_empty())
        };
        detail.add_line_or_missing("depends on", edges(&self.dependencies));
        detail.add_line_or_missing("needed by", edges(&self.dependents));
        self.add_coordination_lines(&mut detail, options);
        if let Some(template) = &self.spawned_from {
            detail.add_name_line("spawned from", template);
        }
        // For a job in state `scheduled`, the remark beside the state already says when it is due.
        let due = self.scheduled_for;
        if let Some(due) = due.filter(|_| self.state != Some(State::Scheduled)) {
            detail.add_line("scheduled", due_text(due, options));
        }
        detail.add_line("data", self.data.as_bytes());
        let mut text = detail.into_text();
        if let Some(failure) = &self.failure {
            text.push_str("\nfailure\n");
            text.push_str(&sanitize_and_indent_lines(&failure.message));
        }
        if let Some(history) = &self.history {
            text.push_str(&history::render_history(history, options));
        }
        text
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }
}

impl Job {
    /// Adds lines about the job's coordination with others, if set: lane, throttles, back-off, fence and payloads.
    fn add_coordination_lines(&self, detail: &mut DetailLines, options: &RenderOptions) {
        if let Some(lane) = &self.key {
            let remark = if self.hold {
                "blocked if the job fails".to_owned()
            } else {
                String::new()
            };
            detail.add_line_with_remark("lane", options.name(lane), None, remark);
        }
        if !self.throttles.is_empty() {
            detail.add_names_line_or_missing("throttles", &self.throttles);
        }
        if let Some(backoff) = self.backoff.as_ref().and_then(backoff_text_if_effective) {
            detail.add_line("backoff", backoff);
        }
        if let Some(fence) = self.fence {
            detail.add_line("fence", fence.to_string());
        }
        for (at, payload) in self.payloads.iter().take(PAYLOADS).enumerate() {
            // A script finds each line by its name.
            let name = if at == 0 || !options.terminal {
                "payloads"
            } else {
                ""
            };
            let score = format!("score {}", payload.score);
            detail.add_line_with_remark(name, payload.data.as_bytes(), None, score);
        }
        let more = self.payloads.len().saturating_sub(PAYLOADS);
        if more > 0 {
            detail.add_line("", format!("… {} more", options.count(more as u64)));
        }
    }

    /// The remark beside the state in the view of one job: why it failed, or the most important fact in other states.
    pub(crate) fn remark_beside_state(&self, options: &RenderOptions) -> String {
        match (self.state, &self.failure) {
            (Some(State::Failed), Some(failure)) => failure_group_time_and_worker(failure, options),
            (Some(State::Failed), _) => self
                .since
                .map(|since| options.how_long(since))
                .unwrap_or_default(),
            _ => self.state_detail(options),
        }
    }
}

/// A job's stored back-off as text: `5 s × 2^n after a lost lock`, or the policy for retries as it was put. `None` if
/// the back-off has no effect.
pub(crate) fn backoff_text_if_effective(backoff: &Name) -> Option<String> {
    let Some(lost) = LostLockBackoff::from_json(backoff.as_bytes()) else {
        return Some(backoff.to_string());
    };
    let delay = lost.initial_delay.map(|delay| format!("{delay} s"));
    let factor = lost.factor.map(|factor| format!("{factor}^n"));
    let (delay, factor) = match (delay, factor) {
        (None, None) => return None,
        (delay, factor) => (
            delay.unwrap_or_else(|| "`backoff-initial-delay`".to_owned()),
            factor.unwrap_or_else(|| "`backoff-factor`^n".to_owned()),
        ),
    };
    Some(format!("{delay} × {factor} after a lost lock"))
}

/// Maximum number of payloads of a merge job that the view of the job lists.
const PAYLOADS: usize = 20;

/// The failure group, the time and the worker of a failed job: `upload error, 3h 12m ago, by mx-2-18841`.
fn failure_group_time_and_worker(failure: &Failure, options: &RenderOptions) -> String {
    let mut remark = failure.group.to_string();
    if let Some(when) = failure.when {
        remark.push_str(&format!(", {}", options.when(when)));
    }
    if let Some(worker) = &failure.worker {
        remark.push_str(&format!(", by {worker}"));
    }
    remark
}

/// Sanitizes a text and indents each of its lines by two blanks.
fn sanitize_and_indent_lines(lines: &Name) -> String {
    let clean = text::sanitize_keeping_lines(lines.as_bytes());
    clean.lines().map(|line| format!("  {line}\n")).collect()
}

impl View for StateCounts {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<StateCounts>("counts", "Jobs by state: jobs --count");

    fn text(&self, options: &RenderOptions) -> String {
        let mut counts = *self;
        let mut detail = DetailLines::new(options);
        for state in State::VARIANTS.iter().copied() {
            let count = *counts.count_mut(state);
            if state == State::Throttled && count == 0 {
                // Throttled jobs exist only where throttles are used: leave out a count of 0.
                continue;
            }
            detail.add_line_with_remark(
                state.into_str(),
                options.count(count),
                state.state_style().filter(|_| count > 0),
                String::new(),
            );
        }
        detail.into_text()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::clock::moment::Moment;
    use crate::json::Number;
    use crate::json::data::JobData;
    use crate::model::job::{DependenciesAndDependents, HistoryEntry, Neighbor};
    use crate::model::list::List;

    fn at(seconds: f64) -> Option<Moment> {
        Moment::from_seconds(seconds)
    }

    fn name(text: &str) -> Option<Name> {
        Some(Name::from(text))
    }

    fn options(width: usize) -> RenderOptions {
        RenderOptions {
            now: at(100_000.0).unwrap(),
            ..RenderOptions::terminal_without_color(width)
        }
    }

    fn job(jid: &str, klass: &str, state: State, since: f64) -> Job {
        Job {
            jid: Name::from(jid),
            klass: name(klass),
            queue: name("mail"),
            state: Some(state),
            state_stored: name(state.into_str()),
            priority: Some(Number(10.0)),
            retries: Some(Number(5.0)),
            remaining: Some(Number(3.0)),
            since: at(since),
            data: JobData::from(br#"{"user":9007199254740993,"locale":"de"}"#.to_vec()),
            ..Job::default()
        }
    }

    fn failure() -> Failure {
        Failure {
            group: Name::from("upload error"),
            message: Name::from("PermissionError: cannot open spool/4411\n  at upload.py:88"),
            worker: name("mx-2-18841"),
            when: at(88_480.0),
        }
    }

    fn jobs() -> List<Job> {
        let jid = "77be2d0c4a1f4e0f9f0d3b6a5c8e7f10";
        List::of_all(vec![
            Job {
                worker: name("mx-1-220"),
                expires: at(100_019.0),
                ..job(jid, "Mail::Digest", State::Running, 99_959.0)
            },
            Job {
                worker: name("mx-2-18841"),
                expires: at(99_988.0),
                ..job("9a01b7c6", "Mail::Welcome", State::Stalled, 99_870.0)
            },
            job("waits", "Mail::Welcome", State::Waiting, 99_748.0),
            Job {
                scheduled_for: at(107_500.0),
                ..job("later", "A", State::Scheduled, 99_999.0)
            },
            Job {
                scheduled_for: at(99_960.0),
                ..job("due", "A", State::Scheduled, 90_000.0)
            },
            Job {
                dependencies: vec![Name::from("a"), Name::from("b"), Name::from("c")],
                failed_dependencies: 1,
                ..job("blocked", "A", State::Depends, 99_999.0)
            },
            Job {
                failure: Some(failure()),
                ..job("broke", "A", State::Failed, 88_480.0)
            },
            Job {
                queue: None,
                ..job("done", "A", State::Complete, 99_000.0)
            },
            Job {
                state: None,
                since: None,
                ..job("odd", "A", State::Failed, 0.0)
            },
        ])
    }

    fn shows(text: String, wanted: Expect) {
        wanted.assert_eq(&text);
    }

    #[test]
    fn lists_have_a_detail_for_each_state() {
        shows(
            jobs().text(&options(120)),
            expect![[r#"
                JID                               KLASS          STATE      QUEUE  PRI  REMAINING  AGE      DETAIL
                77be2d0c4a1f4e0f9f0d3b6a5c8e7f10  Mail::Digest   running    mail    10        3/5  41s      mx-1-220, lock 19s
                9a01b7c6                          Mail::Welcome  stalled    mail    10        3/5  2m 10s   the lock of mx-2-18841 expi…
                waits                             Mail::Welcome  waiting    mail    10        3/5  4m 12s   waits 4m 12s
                later                             A              scheduled  mail    10        3/5  1s       in 2h 5m
                due                               A              scheduled  mail    10        3/5  2h 46m   due 40s ago
                blocked                           A              depends    mail    10        3/5  1s       on 3 jobs, 1 failed
                broke                             A              failed     mail    10        3/5  3h 12m   upload error: PermissionErr…
                done                              A              complete   –       10        3/5  16m 40s  16m 40s ago
                odd                               A              failed     mail    10        3/5  –
            "#]],
        );
    }

    #[test]
    fn a_hostile_job_is_harmless_on_a_terminal() {
        let evil = || Name::from("\x1b]0;owned\x07\u{202e}\u{9b}31m\u{2028}\r\n\tx\u{301}");
        let bytes = || Name::from(&b"\xff\x1b[2J\xfe"[..]);
        let hostile = Job {
            jid: evil(),
            klass: Some(bytes()),
            queue: Some(evil()),
            worker: Some(bytes()),
            tags: vec![evil(), bytes()],
            data: JobData::from(b"\"\x1b[31m\xff\"".to_vec()),
            failure: Some(Failure {
                group: evil(),
                message: evil(),
                worker: Some(bytes()),
                when: at(1.0),
            }),
            dependencies: vec![evil()],
            dependents: vec![bytes()],
            spawned_from: Some(evil()),
            history: Some(vec![HistoryEntry {
                what: evil(),
                when: None,
                note: vec![],
            }]),
            ..job("", "", State::Failed, 1.0)
        };
        let around = DependenciesAndDependents {
            jid: evil(),
            klass: Some(evil()),
            queue: Some(bytes()),
            dependencies: vec![Neighbor::new(evil(), Some(hostile.clone()))],
            dependents: vec![Neighbor::new(bytes(), None)],
            dry_run: false,
        };
        for options in [options(80), options(30), RenderOptions::pipe()] {
            for state in State::VARIANTS.iter().copied() {
                let in_state = Job {
                    state: Some(state),
                    ..hostile.clone()
                };
                let list = List::of_all(vec![in_state.clone()]).text(&options);
                assert!(options.terminal || list.lines().count() == 1, "{list}");
                for text in [in_state.text(&options), list, around.text(&options)] {
                    let acts =
                        |&c: &char| text::is_harmful_to_terminal(c) && c != '\n' && c != '\t';
                    assert_eq!(text.chars().find(acts), None, "{text}");
                }
            }
        }
    }

    #[test]
    fn states_have_their_colors_and_nothing_else_moves() {
        let plain = jobs().text(&options(100));
        let colored = jobs().text(&RenderOptions {
            color: true,
            ..options(100)
        });
        assert!(colored.contains("\x1b[32mrunning\x1b[0m"), "{colored}");
        let bare = colored
            .split('\x1b')
            .enumerate()
            .map(|(at, part)| match at {
                0 => part,
                _ => part.split_once('m').map_or("", |(_, rest)| rest),
            });
        assert_eq!(bare.collect::<String>(), plain);
    }
}
