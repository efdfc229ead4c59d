//! The reports of the work, for people and programs: a line for each start and end, a status line on a terminal,
//! a summary, and the label before each line of the programs' output (`--label`).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use strum::VariantArray;

use super::MAX_NAMED;
use super::machine::event::Report;
use super::monitor::WorkMonitor;
use crate::args::format::Format;
use crate::clock::moment::Moment;
use crate::model::queue::JobsLeftInQueue;
use crate::model::work::{
    WorkEvent,
    WorkEventKind::{self, Advanced, Completed, Failed, Lost, Released, Retried, Unknown},
};
use crate::name::Name;
use crate::session::Session;
use crate::text::{
    Sanitized, format_count, format_duration, format_duration_tenths_below_minute,
    sanitize_keeping_lines, sanitize_to_line, with_thousands_separators,
};

/// Time between two changes of the status line.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);

/// If the server becomes unavailable again within [`SOON`], with the same error, this is only counted. It is reported
/// once [`SAY_AGAIN`] has passed since the last report.
const SOON: Duration = Duration::from_secs(5);
const SAY_AGAIN: Duration = Duration::from_secs(60);

/// Maximum number of warnings about parts of answers that are ignored.
const MAX_IGNORED: usize = 20;

/// The longest jid that is not shortened, and how many characters of a longer one are kept at its start and at its end:
/// jids of one recurring job differ only at the end.
const LONGEST_WHOLE_JID: usize = 16;
const ENDS: (usize, usize) = (8, 4);

/// Maximum number of jobs of a process that are named. The others are counted.
const MAX_NAMED_JOBS: usize = 4;

#[derive(Debug)]
struct ReportedServerLoss {
    message: String,
    said_at: Instant,
    /// When the server last became unavailable.
    at: Instant,
    /// How often the server became unavailable again without a report.
    hidden: u64,
    /// Whether the server is unavailable now, and this has not been reported.
    is_silent: bool,
}

/// Writes what happens.
pub(super) struct Reporter {
    begun: Instant,
    /// The number of jobs that ended in each way, by [`WorkEventKind`].
    counts: [u64; WorkEventKind::VARIANTS.len()],
    /// The counts by queue for the listener, if there is one.
    monitor: Option<Arc<WorkMonitor>>,
    /// Lines for stderr that are not written yet.
    lines: String,
    /// The last report that the server does not reply or refuses requests.
    loss: Option<ReportedServerLoss>,
    /// Why parts of answers were ignored. Each reason is reported once.
    ignored: HashSet<String>,
    /// The number of queues that still have jobs at the end. The first [`MAX_NAMED`] are named, the others counted.
    left_queues: u64,
    /// The number of jobs in these queues that other workers hold.
    left_held: u64,
    /// Whether there is a status line.
    has_status: bool,
    shown_at: Instant,
}

impl Reporter {
    pub(super) fn new(monitor: Option<Arc<WorkMonitor>>, session: &Session) -> Reporter {
        let now = Instant::now();
        Reporter {
            begun: now,
            counts: [0; WorkEventKind::VARIANTS.len()],
            monitor,
            lines: String::new(),
            loss: None,
            ignored: HashSet::new(),
            left_queues: 0,
            left_held: 0,
            has_status: session.ui.live_lines().is_some(),
            shown_at: now,
        }
    }

    pub(super) fn queue_line_for_stderr(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// Warns of a part of an answer that has no effect, once for each reason.
    pub(super) fn warn_once_of_ignored_answer_part(
        &mut self,
        slot: usize,
        jid: &Name,
        reason: String,
    ) {
        if self.ignored.len() < MAX_IGNORED && !self.ignored.contains(&reason) {
            self.queue_line_for_stderr(&format!(
                "warning: slot {}: the answer for `{jid}` counts, but {}; this is reported once",
                slot + 1,
                Sanitized(&reason)
            ));
            self.ignored.insert(reason);
        }
    }

    /// Warns that changes may be lost.
    pub(super) fn warn_of_restarted_or_replaced_server(&mut self) {
        self.queue_line_for_stderr(
            "warning: the server restarted, or another one took its place: it may have lost the last \
             completions, and those jobs run again",
        );
    }

    /// Reports that the server's clock was set ahead by this number of seconds, or back if the number is below 0.
    pub(super) fn note_server_clock_jump(&mut self, seconds: f64, session: &Session) {
        let way = if seconds < 0.0 { " back" } else { "" };
        let by = format_duration(seconds.abs());
        self.add_note_unless_quiet(
            &format!("note: the server's clock jumped{way} by {by}"),
            session,
        );
    }

    /// Adds a note for stderr. Notes, unlike warnings, are left out with `-q`.
    fn add_note_unless_quiet(&mut self, line: &str, session: &Session) {
        if !session.ui.is_quiet() {
            self.queue_line_for_stderr(line);
        }
    }

    /// Reports what happened.
    pub(super) fn handle_report(&mut self, report: Report, session: &mut Session) {
        match report {
            Report::Job(event) => {
                self.counts[event.event as usize] += 1;
                if let (Some(monitor), Some(queue)) = (&self.monitor, &event.queue) {
                    match event.elapsed_s {
                        None => monitor.add_queue(queue),
                        Some(elapsed) => monitor.count_job_end(queue, event.event, elapsed.0),
                    }
                }
                self.show_event(&event, session);
            }
            Report::Warning(line) => self.queue_line_for_stderr(&line),
            Report::Left(left) => {
                self.left_queues += 1;
                self.left_held += left.locks.valid;
                if self.left_queues <= MAX_NAMED as u64 {
                    self.add_note_unless_quiet(
                        &format!("note: {}", describe_left_jobs(&left)),
                        session,
                    );
                }
            }
            Report::Waiting(left) => {
                self.add_note_unless_quiet(
                    &format!("note: waiting: {}", describe_left_jobs(&left)),
                    session,
                );
            }
            Report::ConnectionLost { message } => {
                if !self.count_if_repeated_server_loss(&message) {
                    self.print_server_loss_warning(&message);
                }
            }
            Report::ConnectionBack { after, was_refused } => {
                let loss = self.loss.as_mut();
                if loss.is_some_and(|loss| std::mem::take(&mut loss.is_silent)) {
                    return;
                }
                let what = if was_refused {
                    "takes changes again"
                } else {
                    "replies again"
                };
                let line = format!(
                    "the server {what} after {}",
                    format_duration_tenths_below_minute(after)
                );
                self.add_note_unless_quiet(&line, session);
            }
            Report::Stopping { running } => {
                let line = match running {
                    0 => "stopping".to_owned(),
                    1 => "stopping: 1 job is still running; a second signal stops it and gives it back"
                        .to_owned(),
                    _ => format!(
                        "stopping: {} jobs are still running; a second signal stops them and gives them back",
                        with_thousands_separators(running as u64)
                    ),
                };
                self.add_note_unless_quiet(&line, session);
            }
        }
    }

    /// True if the server became unavailable again soon after the last time, with the same error: this is only counted.
    /// Otherwise stores it as the last report.
    fn count_if_repeated_server_loss(&mut self, message: &str) -> bool {
        let now = Instant::now();
        if let Some(loss) = &mut self.loss {
            let is_soon = now - loss.at < SOON && now - loss.said_at < SAY_AGAIN;
            loss.at = now;
            if is_soon && loss.message == message {
                loss.hidden += 1;
                loss.is_silent = true;
                return true;
            }
        }
        self.report_server_loss_repetitions();
        self.loss = Some(ReportedServerLoss {
            message: message.to_owned(),
            said_at: now,
            at: now,
            hidden: 0,
            is_silent: false,
        });
        false
    }

    fn print_server_loss_warning(&mut self, message: &str) {
        self.queue_line_for_stderr(&format!(
            "warning: {}; running jobs go on until their locks expire",
            Sanitized(message)
        ));
    }

    /// Warns that the server is unavailable if this was only counted, but has lasted for [`SOON`].
    fn warn_of_lasting_server_loss(&mut self) {
        if let Some(loss) = &mut self.loss
            && loss.is_silent
            && loss.at.elapsed() >= SOON
        {
            loss.is_silent = false;
            let message = loss.message.clone();
            self.print_server_loss_warning(&message);
        }
    }

    /// Reports how often the server became unavailable again since the last report, if ever.
    fn report_server_loss_repetitions(&mut self) {
        if let Some(ReportedServerLoss {
            message, hidden, ..
        }) = self.loss.take().filter(|loss| loss.hidden > 0)
        {
            let times = format_count(hidden, "more time", "more times");
            self.queue_line_for_stderr(&format!("warning: {times}: {}", Sanitized(message)));
        }
    }

    /// Writes an event to stdout with `-o ndjson`. Otherwise adds a line for stderr, unless `-q` is given.
    fn show_event(&mut self, event: &WorkEvent, session: &mut Session) {
        match session.ui.format() {
            // Ignore a failure: the work goes on if stdout has no reader any more.
            Format::Ndjson => _ = session.ui.show(event),
            _ if session.ui.is_quiet() => {}
            _ => self.lines.push_str(&event.event_line()),
        }
    }

    /// Passes on the output of a program. With `-o ndjson`, stdout is for events, so all output goes to stderr.
    pub(super) fn pass_on_output(&mut self, to_stdout: bool, bytes: &[u8], session: &mut Session) {
        if to_stdout && session.ui.format() != Format::Ndjson {
            self.write_collected_stderr_lines(session);
            _ = session.ui.write_verbatim_unless_terminal(bytes);
        } else {
            let text = sanitize_keeping_lines(bytes);
            self.lines.push_str(&text);
            if !text.ends_with('\n') {
                self.lines.push('\n');
            }
        }
    }

    /// Writes what has been collected.
    pub(super) fn write_collected_stderr_lines(&mut self, session: &mut Session) {
        _ = session.ui.flush_stdout_and_wait_for_pager();
        if !self.lines.is_empty() {
            session.ui.write_stderr(&self.lines);
            self.lines.clear();
        }
    }

    /// When the status line changes next.
    pub(super) fn next_status_update(&self) -> Option<Instant> {
        self.has_status.then(|| self.shown_at + STATUS_INTERVAL)
    }

    /// Updates the status line on a terminal, and warns of a server that has been unavailable for some time.
    pub(super) fn update_status_line_and_warn_of_loss(
        &mut self,
        running: usize,
        session: &Session,
    ) {
        self.warn_of_lasting_server_loss();
        if !self.has_status || self.shown_at.elapsed() < STATUS_INTERVAL {
            return;
        }
        self.shown_at = Instant::now();
        let elapsed = self.begun.elapsed().as_secs_f64();
        let completed = self.count(&[Completed, Advanced]);
        let failed = self.count(&[Failed]);
        let rate = (completed + failed) as f64 / elapsed.max(1.0);
        let line = format!(
            "{running} running, {} completed, {} failed, {rate:.1}/s",
            with_thousands_separators(completed),
            with_thousands_separators(failed)
        );
        session.ui.show_status_line_if_no_output_waits(line);
    }

    /// How many jobs ended in one of these ways.
    fn count(&self, kinds: &[WorkEventKind]) -> u64 {
        kinds.iter().map(|kind| self.counts[*kind as usize]).sum()
    }

    pub(super) fn write_summary(&mut self, session: &mut Session) {
        self.has_status = false;
        self.report_server_loss_repetitions();
        if let Some(more) = self.left_queues.checked_sub(MAX_NAMED as u64 + 1) {
            let queues = format_count(more + 1, "further queue", "further queues");
            self.add_note_unless_quiet(&format!("note: {queues} still have jobs"), session);
        }
        let mut parts = Vec::new();
        for (count, word) in [
            (self.count(&[Completed, Advanced]), "completed"),
            (self.count(&[Failed]), "failed"),
            (self.count(&[Retried]), "retried"),
            (self.count(&[Released]), "given back"),
            (self.count(&[Lost, Unknown]), "lost"),
        ] {
            if count > 0 || parts.is_empty() {
                parts.push(format!("{} {word}", with_thousands_separators(count)));
            }
        }
        let elapsed = self.begun.elapsed().as_secs_f64();
        if !session.ui.is_quiet() {
            let left = match self.left_held {
                0 => String::new(),
                held => format!(
                    "; {} left {}",
                    with_thousands_separators(held),
                    held_by_others_text(held)
                ),
            };
            let done = parts.join(", ");
            self.queue_line_for_stderr(&format!(
                "{done} in {}{left}",
                format_duration_tenths_below_minute(elapsed)
            ));
        }
        self.write_collected_stderr_lines(session);
    }
}

/// The words about `count` jobs whose locks other workers hold.
fn held_by_others_text(count: u64) -> &'static str {
    match count {
        1 => "running on another worker",
        _ => "running on other workers",
    }
}

/// A text about the jobs that are left in a queue, such as
/// ``queue `mail` is paused and still has jobs: 3 waiting``.
fn describe_left_jobs(left: &JobsLeftInQueue) -> String {
    let JobsLeftInQueue {
        queue,
        is_paused,
        waiting,
        scheduled,
        depends,
        throttled,
        locks,
    } = left;
    let grace = match locks.grace_left {
        left if left > 0.0 => format!(
            " (grace period ends in {})",
            format_duration_tenths_below_minute(left)
        ),
        _ => String::new(),
    };
    let kinds = [
        (waiting, "waiting"),
        (scheduled, "scheduled"),
        (depends, "blocked"),
        (throttled, "throttled"),
        (&locks.stalled, &format!("stalled{grace}")),
        (&locks.valid, held_by_others_text(locks.valid)),
    ];
    let kinds = kinds.iter().filter(|(count, _)| **count > 0);
    let jobs: Vec<String> = kinds
        .map(|(count, kind)| format!("{} {kind}", with_thousands_separators(**count)))
        .collect();
    let why = if *is_paused { " is paused and" } else { "" };
    format!("queue `{queue}`{why} still has jobs: {}", jobs.join(", "))
}

/// Puts time, slot and jobs before each line, such as `22:40:02 1 9f31c0 sending`. `slot` is `None` for a
/// hook. A line without a newline gets one, so that the next label begins a line.
pub(super) fn add_labels(
    at: Moment,
    slot: Option<usize>,
    jids: &[&Name],
    output: &[u8],
) -> Vec<u8> {
    let time = at.to_rfc3339().unwrap_or_default();
    let time = time.get(11..19).unwrap_or("-");
    let slot = slot.map_or("hook".to_owned(), |slot| (slot + 1).to_string());
    let label = format!("{time} {slot} {} ", join_short_jids(jids));
    let output = output.strip_suffix(b"\n").unwrap_or(output);
    let mut labeled = Vec::with_capacity(output.len() + 2 * label.len());
    for line in output.split(|byte| *byte == b'\n') {
        labeled.extend_from_slice(label.as_bytes());
        labeled.extend_from_slice(line);
        labeled.push(b'\n');
    }
    labeled
}

fn join_short_jids(jids: &[&Name]) -> String {
    if jids.is_empty() {
        return "-".to_owned();
    }
    let named = jids
        .iter()
        .take(MAX_NAMED_JOBS)
        .map(|jid| cut_jid_in_middle(jid));
    let mut words: Vec<String> = named.collect();
    if jids.len() > MAX_NAMED_JOBS {
        words.push(format!("+{}", jids.len() - MAX_NAMED_JOBS));
    }
    words.join(",")
}

fn cut_jid_in_middle(jid: &Name) -> String {
    let text: Vec<char> = sanitize_to_line(jid.as_bytes()).chars().collect();
    if text.len() <= LONGEST_WHOLE_JID {
        return text.into_iter().collect();
    }
    let start: String = text[..ENDS.0].iter().collect();
    let end: String = text[text.len() - ENDS.1..].iter().collect();
    format!("{start}…{end}")
}
