//! The text output of `qless explain`: a heading, and a line for each reason why a job does not run, with its evidence
//! and the command that helps.

use super::{Explanation, Explanations, MissingJobTraces};
use crate::model::job::reason::{BackoffCause, DelayReason, ReasonCode, ReasonEvidence};
use crate::model::job::{Neighbor, State};
use crate::model::queue::QueuedCounts;
use crate::model::recur::text::owed_text;
use crate::model::worker::silence_text;
use crate::name::Name;
use crate::text;
use crate::text::{Sanitized, failure_summary_line, format_count, format_duration, short_jid};
use crate::view::document::DocumentKind;
use crate::view::paint::{Style, TextStyler};
use crate::view::{NdjsonLines, RenderOptions, View};

impl View for Explanation {
    const DOCUMENT: DocumentKind = DocumentKind::new::<Explanation>(
        "explain",
        "Why a job does not run, or why pops of a queue get no job: explain",
    );

    fn text(&self, options: &RenderOptions) -> String {
        if options.terminal {
            self.terminal_text(options)
        } else {
            self.tab_separated_rows(options)
        }
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        self.jid.as_ref().map(|jid| vec![jid])
    }
}

impl View for Explanations {
    const DOCUMENT: DocumentKind = DocumentKind::of_list::<Explanation>(
        "explanations",
        "Why jobs do not run: explain of several",
    );

    fn text(&self, options: &RenderOptions) -> String {
        let texts = self.list.items.iter().map(|item| item.text(options));
        texts
            .collect::<Vec<String>>()
            .join(if options.terminal { "\n" } else { "" })
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.list.items)
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        let jids = self.list.items.iter().map(|item| item.jid.as_ref());
        jids.collect()
    }
}

impl Explanation {
    fn terminal_text(&self, options: &RenderOptions) -> String {
        let mut lines: Vec<(char, Option<Style>, [String; 3])> = Vec::new();
        for reason in &self.reasons {
            let (mark, ink) = if reason.blocking {
                ('✗', Some(Style::Red))
            } else {
                ('·', None)
            };
            let command = reason.fix_command().unwrap_or_default();
            let line = [
                reason.reason_sentence(options),
                reason.evidence_text(options),
                command,
            ];
            lines.push((mark, ink, line));
        }
        if let Some(popped) = self.last_pop {
            let line = [
                "newest held lock was granted".into(),
                options.when(popped),
                String::new(),
            ];
            lines.push(('✓', Some(Style::Green), line));
        }
        let widest = |at: usize| {
            let widths = lines.iter().map(|(_, _, line)| text::width(&line[at]));
            widths.max().unwrap_or(0)
        };
        let (first, second, third) = (widest(0), widest(1), widest(2));
        let fits = 4 + first + 2 + second + 2 + third <= options.width;
        let marks = TextStyler::new(options.color);
        let pad = |text: &str, width: usize| {
            let gap = width.saturating_sub(text::width(text));
            format!("{text}{}", " ".repeat(gap))
        };
        let mut text = format!("{}\n", self.heading_line());
        text.push_str(&self.queue_counts_line(options));
        if !lines.is_empty() {
            text.push('\n');
        }
        for (mark, ink, [sentence, evidence, command]) in &lines {
            let mark = marks.mark_text(&mark.to_string(), *ink);
            let line = if fits {
                let (sentence, evidence) = (pad(sentence, first), pad(evidence, second));
                format!("  {mark} {sentence}  {evidence}  {command}")
            } else if command.is_empty() {
                format!("  {mark} {sentence}  {evidence}")
            } else {
                format!("  {mark} {sentence}  {evidence}\n      {command}")
            };
            text.push_str(&format!("{}\n", line.trim_end()).replace(" \n", "\n"));
        }
        marks.marks_to_ansi_codes(text)
    }

    /// Tab-separated lines: one for each reason, and one for the job that a pop would get.
    fn tab_separated_rows(&self, options: &RenderOptions) -> String {
        let subject = self.jid.as_ref().or(self.queue.as_ref());
        let subject = subject.map_or_else(String::new, |name| options.name(name));
        let rows = self.reasons.iter().map(|reason| {
            let blocking = if reason.blocking {
                "blocking"
            } else {
                "delaying"
            };
            let (code, command) = (
                reason.code.into_str(),
                reason.fix_command().unwrap_or_default(),
            );
            // Some counts stand in the sentence only.
            let line = reason.reason_and_evidence_line(options);
            format!("{subject}\t{code}\t{blocking}\t{line}\t{command}\n")
        });
        let next = self.next_jid.as_ref();
        let next = next.map(|next| format!("{subject}\tnext\t\t{}\t\n", options.name(next)));
        rows.chain(next).collect()
    }

    /// What is explained, in one line.
    pub(crate) fn heading_line(&self) -> String {
        let name = |name: &Option<Name>| name.as_ref().map_or("–".into(), Name::to_string);
        if self.jid.is_none() {
            let queue = name(&self.queue);
            return match (self.runnable, self.reasons.is_empty()) {
                (true, _) => format!("a pop of {queue} would get {}", name(&self.next_jid)),
                (false, true) => format!("{queue} has no job to pop"),
                (false, false) => format!("no job can be popped from {queue} now"),
            };
        }
        let what = match self.queue {
            Some(_) => format!("{} in {}", name(&self.klass), name(&self.queue)),
            None => name(&self.klass),
        };
        match self.state {
            _ if self.recurring => format!("{what} is a recurring job"),
            Some(State::Running) => format!("{what} is running"),
            Some(State::Complete) => format!("{what} is complete"),
            Some(State::Failed) => format!("{what} has failed"),
            Some(State::Depends) => format!("{what} depends on other jobs and cannot run now"),
            Some(state) if self.jid == self.next_jid => {
                format!("{what} is {state}; a pop would get it now")
            }
            Some(state) if self.runnable => format!("{what} is {state} and can run"),
            Some(state) => format!("{what} is {state} and cannot run now"),
            None => format!("{what} is in no known state"),
        }
    }

    /// The counts of a queue in one line.
    fn queue_counts_line(&self, options: &RenderOptions) -> String {
        let Some(queue) = &self.counts else {
            return String::new();
        };
        let mut queued = QueuedCounts::default();
        queue.add_to_counts(&mut queued);
        let counts = queued.counts_with_state_words().into_iter();
        let counts = counts.chain([(queue.recurring, "recurring")]);
        let mut parts: Vec<String> = counts
            .filter(|(count, _)| *count > 0)
            .map(|(count, state)| options.format_count(count, state, state))
            .collect();
        if let Some(wait) = self.oldest_wait_s {
            parts.push(format!("the oldest wait is {}", format_duration(wait.0)));
        }
        if parts.is_empty() {
            String::new()
        } else {
            format!("{}\n", parts.join(", "))
        }
    }
}

impl DelayReason {
    /// The reason in one line, with its evidence.
    pub(crate) fn reason_and_evidence_line(&self, options: &RenderOptions) -> String {
        let mut line = self.reason_sentence(options);
        let evidence = self.evidence_text(options);
        if !evidence.is_empty() {
            let gap = match self.code {
                ReasonCode::Paused | ReasonCode::RecurringPaused => "",
                ReasonCode::NoConsumer if self.evidence.worker.is_some() => "",
                _ => ":",
            };
            line.push_str(&format!("{gap} {evidence}"));
        }
        line
    }

    /// The command that helps, as a shell line. `None` if there is none, or if a name in it is empty or contains NUL.
    pub(crate) fn fix_command(&self) -> Option<String> {
        self.fix.shell_line()
    }

    pub(crate) fn reason_sentence(&self, options: &RenderOptions) -> String {
        let ReasonEvidence { jobs, entry, .. } = &self.evidence;
        let count = jobs.unwrap_or(1);
        let jobs = |one: &str, many: &str| {
            let rest = if count == 1 { one } else { many };
            format!("{} {rest}", options.format_count(count, "job", "jobs"))
        };
        match self.code {
            ReasonCode::Complete => "it is complete".into(),
            ReasonCode::Failed => "it failed".into(),
            ReasonCode::Running => "a worker runs it".into(),
            ReasonCode::Grace if self.evidence.jobs.is_some() => {
                let locks = options.format_count(count, "expired lock", "expired locks");
                format!("the next pop extends {locks} and warns the worker")
            }
            ReasonCode::Grace => "its lock expired and was extended once".into(),
            ReasonCode::Stalled if self.evidence.jobs.is_some() => {
                jobs("is stalled", "are stalled")
            }
            ReasonCode::Stalled => "its lock expired or was revoked".into(),
            ReasonCode::DependsCycle => "it depends on itself".into(),
            ReasonCode::DependsMissing => {
                jobs("it depends on does not exist", "it depends on do not exist")
            }
            ReasonCode::DependsOneSided => jobs(
                "it depends on does not list it, and will not release it",
                "it depends on do not list it, and will not release it",
            ),
            ReasonCode::DependsFailed => {
                jobs("it depends on has failed", "it depends on have failed")
            }
            ReasonCode::Ordered => {
                let lane = self.evidence.lane.as_ref();
                let lane = lane.map_or_else(String::new, |lane| format!(" {lane}"));
                let verb = if count == 1 { "comes" } else { "come" };
                let jobs = options.format_count(count, "job", "jobs");
                format!("{jobs} {verb} before it in lane{lane}")
            }
            ReasonCode::Throttled => match &self.evidence.throttle {
                Some(throttle) => format!("throttle {throttle} has no free slot"),
                None if self.evidence.jobs.is_some() => {
                    let waiting = jobs("waits for a throttle", "wait for throttles");
                    if self.blocking {
                        waiting
                    } else {
                        format!("{waiting}; slots are free")
                    }
                }
                None => "its throttles have free slots: the next pops return it".into(),
            },
            ReasonCode::Depends if self.evidence.roots.is_empty() => {
                jobs("waits for other jobs", "wait for other jobs")
            }
            ReasonCode::Depends => jobs("must be complete first", "must be complete first"),
            ReasonCode::Scheduled if self.evidence.jobs.is_some() => {
                jobs("is scheduled", "are scheduled")
            }
            ReasonCode::Scheduled if self.evidence.backoff == Some(BackoffCause::LostLock) => {
                "its lock was lost, and it waits for its back-off".into()
            }
            ReasonCode::Scheduled if self.evidence.backoff.is_some() => {
                "it was retried, and waits for its back-off".into()
            }
            ReasonCode::Scheduled if self.evidence.remaining.is_some() => {
                "it is scheduled to run again".into()
            }
            ReasonCode::Scheduled => "it is scheduled".into(),
            ReasonCode::QueueBroken if entry.is_some() => "an entry of the queue has no job".into(),
            ReasonCode::QueueBroken => "no pop can find it".into(),
            ReasonCode::Paused => "the queue is paused".into(),
            ReasonCode::RecurringPaused => "it is paused".into(),
            ReasonCode::Concurrency => "concurrency is used up".into(),
            ReasonCode::NoConsumer => match self.evidence.worker {
                Some(_) => "no worker has asked for a job".into(),
                None => "no worker has taken the next job yet".into(),
            },
            ReasonCode::RecurringNotPolled if self.evidence.jobs.is_some() => {
                format!(
                    "{} late",
                    options.format_count(count, "recurring job is", "recurring jobs are")
                )
            }
            ReasonCode::RecurringNotPolled => "it is due, and no pop has put its job".into(),
            ReasonCode::DataInvalid => "its data is not JSON".into(),
            ReasonCode::Ahead => jobs("is ahead of it", "are ahead of it"),
        }
    }

    /// The facts behind the reason, for people.
    pub(crate) fn evidence_text(&self, options: &RenderOptions) -> String {
        let ReasonEvidence {
            since,
            until,
            by,
            reason,
            worker,
            last_seen,
            group,
            message,
            entry,
            jobs,
            owed,
            waiting,
            limit,
            remaining,
            backoff: _,
            throttle,
            lane: _,
            per_minute,
            eta_s,
            roots,
            cycle,
        } = &self.evidence;
        let mut parts: Vec<String> = Vec::new();
        match self.code {
            ReasonCode::Paused | ReasonCode::RecurringPaused => {
                parts.extend(since.map(|since| options.how_long(since)));
                parts.extend(reason.as_ref().map(|reason| format!("\"{reason}\"")));
                parts.extend(by.as_ref().map(|by| format!("by {by}")));
                parts.extend(until.map(|until| format!("ends {}", options.when(until))));
            }
            ReasonCode::Concurrency => {
                let (jobs, limit) = (jobs.unwrap_or(0), limit.unwrap_or(0));
                parts.push(format!("{jobs} of {limit} running"));
                add_up_to_three_blocking_jobs(roots, jobs, options, &mut parts);
            }
            ReasonCode::Throttled if throttle.is_some() => {
                let (jobs, limit) = (jobs.unwrap_or(0), limit.unwrap_or(0));
                parts.push(match limit {
                    0 => "no job may run".to_owned(),
                    limit => format!("{jobs} of {limit} taken"),
                });
                parts.extend(waiting.filter(|waiting| *waiting > 0).map(|waiting| {
                    let jobs = options.format_count(waiting, "job waits", "jobs wait");
                    format!("{jobs} for it")
                }));
                add_up_to_three_blocking_jobs(roots, jobs, options, &mut parts);
            }
            ReasonCode::Throttled => {}
            ReasonCode::Ordered => add_up_to_three_blocking_jobs(roots, 0, options, &mut parts),
            ReasonCode::Ahead => {
                if let (Some(eta), Some(pace)) = (eta_s, per_minute) {
                    let eta = format_duration(eta.0);
                    parts.push(format!(
                        "about {eta} at the pace of the last 5m ({:.1}/min)",
                        pace.0
                    ));
                }
            }
            ReasonCode::NoConsumer => {
                // If no worker is known, the time is how long the next job has waited. A pause may have caused part
                // of this wait.
                let subject = if worker.is_some() {
                    ""
                } else {
                    "it has waited "
                };
                let time = since.map(|since| format!("{subject}{}", options.how_long(since)));
                let last = worker.as_ref().map(|worker| format!("(last: {worker})"));
                let facts: Vec<String> = [time, last].into_iter().flatten().collect();
                parts.push(facts.join(" "));
                parts.extend(jobs.map(|jobs| options.format_count(jobs, "job runs", "jobs run")));
            }
            ReasonCode::QueueBroken => {
                let note = "pops of the reference core fail";
                parts.extend(entry.as_ref().map(|entry| format!("{entry}: {note}")));
            }
            ReasonCode::Running | ReasonCode::Grace => {
                parts.extend(worker.as_ref().map(Name::to_string));
                parts.extend(since.map(|since| format!("popped {}", options.when(since))));
                parts.extend(until.map(|until| format!("lock expires {}", options.when(until))));
                parts.extend(silence_text(*last_seen, options.now));
            }
            ReasonCode::Stalled => {
                parts.extend(
                    worker
                        .as_ref()
                        .map(|worker| format!("the worker was {worker}")),
                );
                parts.extend(since.map(|since| options.when(since)));
            }
            ReasonCode::Scheduled => {
                let what = if jobs.is_some() {
                    "the next is due"
                } else {
                    "due"
                };
                parts.extend(until.map(|due| format!("{what} {}", options.when(due))));
                parts.extend(remaining.map(|left| {
                    let retries = options.format_count(left, "retry", "retries");
                    format!("{retries} remaining")
                }));
            }
            ReasonCode::Failed => {
                parts.push(group_and_message_or_empty(group, message));
                parts.extend(since.map(|since| options.when(since)));
            }
            ReasonCode::Complete => parts.extend(since.map(|since| options.when(since))),
            ReasonCode::RecurringNotPolled => {
                parts.extend(since.map(|since| format!("due {}", options.when(since))));
                parts.extend(owed_text(owed.unwrap_or(0), options));
            }
            ReasonCode::DependsCycle => {
                let jids: Vec<String> = cycle.iter().map(short_jid).collect();
                parts.push(jids.join(" → "));
            }
            ReasonCode::Depends
            | ReasonCode::DependsFailed
            | ReasonCode::DependsMissing
            | ReasonCode::DependsOneSided => {
                add_up_to_three_blocking_jobs(roots, jobs.unwrap_or(0), options, &mut parts);
            }
            ReasonCode::DataInvalid => {}
        }
        parts.retain(|part| !part.is_empty());
        parts.join(", ")
    }
}

/// Adds up to three of the jobs that block the explained job to the evidence, and how many more there are.
fn add_up_to_three_blocking_jobs(
    roots: &[Neighbor],
    jobs: u64,
    options: &RenderOptions,
    parts: &mut Vec<String>,
) {
    let named = roots.iter().take(3);
    parts.extend(named.map(|root| blocking_job_text(root, options)));
    let more = jobs.saturating_sub(3);
    if more > 0 && !roots.is_empty() {
        parts.push(format!("{more} more"));
    }
}

/// A job that blocks others as text: its jid, queue, state and worker.
fn blocking_job_text(root: &Neighbor, options: &RenderOptions) -> String {
    let mut facts: Vec<String> = root.queue.iter().map(Name::to_string).collect();
    match (root.state, &root.worker) {
        (Some(State::Running), Some(worker)) => facts.push(format!("running on {worker}")),
        (Some(state), _) => facts.push(state.to_string()),
        (None, _) => facts = vec!["missing".into()],
    }
    facts.extend(silence_text(root.last_seen, options.now));
    format!("{} ({})", root.jid, facts.join(", "))
}

fn group_and_message_or_empty(group: &Option<Name>, message: &Option<Name>) -> String {
    let message = message
        .as_ref()
        .map(|message| failure_summary_line(message.as_bytes()));
    match (group, message) {
        (Some(group), Some(message)) => format!("{group}: {}", Sanitized(message)),
        _ => String::new(),
    }
}

/// The data that still names a job that does not exist, in words. `None` if there is none.
pub(crate) fn traces_text(traces: &MissingJobTraces) -> Option<String> {
    let mut parts = Vec::new();
    if traces.history > 0 {
        let entries = format_count(traces.history, "entry", "entries");
        parts.push(format!("a history of {entries}"));
    }
    let flags = [
        (traces.tracked, "it is tracked"),
        (traces.complete, "it is listed as complete"),
    ];
    parts.extend(
        flags
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, text)| (*text).to_owned()),
    );
    let lists = [
        ("it is in queue", &traces.queues),
        ("it has tag", &traces.tags),
        ("these depend on it:", &traces.dependents),
        ("it depends on", &traces.dependencies),
    ];
    for (what, names) in lists {
        if !names.is_empty() {
            let names: Vec<String> = names
                .iter()
                .take(10)
                .map(|name| format!("`{name}`"))
                .collect();
            parts.push(format!("{what} {}", names.join(", ")));
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}
