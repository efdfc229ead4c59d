//! The whole system on one screen.

use super::{Overview, OverviewTotals, at_least_prefix};
use crate::model::server::ServerFacts;
use crate::model::worker::{SILENT_AFTER, silence_text};
use crate::text::{format_bytes, format_duration};
use crate::view::detail::DetailLines;
use crate::view::document::DocumentKind;
use crate::view::paint::Style;
use crate::view::{RenderOptions, View};

/// Maximum number of waits that are shown.
const MAX_WAITS: usize = 5;

impl View for Overview {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<Overview>("status", "The whole system: status");

    fn text(&self, options: &RenderOptions) -> String {
        let mut detail = DetailLines::new(options);
        match &self.server {
            Some(server) => detail.add_line("server", server_line(server, options)),
            None => detail.add_line("server", "the user may not run `info`"),
        }
        for (at, problem) in self.problems.iter().enumerate() {
            let style = if problem.code.is_mild() {
                Style::Yellow
            } else {
                Style::Red
            };
            let name = name_if_first_or_piped("problems", at, options);
            // On a terminal, the command has its own line, so that people can copy it.
            let command = problem.fix_command().filter(|_| options.terminal);
            let sentence = if command.is_some() {
                &problem.fact
            } else {
                &problem.message
            };
            detail.add_line_with_remark(name, sentence, Some(style), String::new());
            if let Some(command) = command {
                detail.add_line("", format!("  {command}"));
            }
        }
        let OverviewTotals {
            queues,
            queued,
            failed,
            complete,
            recurring,
            groups,
            workers,
            busy_workers,
            last_seen,
        } = self.totals;
        let counts = queued.counts_with_state_words().into_iter();
        let counts = counts.chain([(failed, "failed"), (complete, "complete")]);
        // Throttled jobs exist only where throttles are used: leave out a count of 0.
        let shown = |(count, state): &(u64, &str)| *count > 0 || *state != "throttled";
        let counts: Vec<String> = counts
            .filter(shown)
            .map(|(count, state)| format!("{} {state}", options.count(count)))
            .collect();
        let least = at_least_prefix(self.omitted.queues);
        detail.add_line("jobs", format!("{least}{}", counts.join(", ")));
        let recurring = options.format_count(recurring, "recurring job", "recurring jobs");
        let groups = options.format_count(groups, "group of failures", "groups of failures");
        let queues = options.count(queues);
        detail.add_line("queues", format!("{queues} known, {recurring}, {groups}"));
        let rate = |rate: f64| format!("{rate:.1}/s");
        let today = &self.today;
        let line = format!(
            "{} popped, {} completed, {}",
            options.count(today.popped),
            options.count(today.completed),
            options.format_count(today.failures, "failure", "failures"),
        );
        detail.add_line("today", line);
        if let Some(recent) = &self.recent {
            let (completed, seconds) = (recent.completed, recent.seconds.0);
            let pace = match completed as f64 / seconds {
                0.0 => String::new(),
                pace if pace >= 1.0 => format!(" ({})", rate(pace)),
                pace => format!(" ({:.1}/min)", pace * 60.0),
            };
            let time = format_duration(seconds);
            let line = format!("{} completed{pace}, over {time}", options.count(completed));
            detail.add_line("lately", line);
        }
        if let Some(last) = &self.last_minute {
            let (put, completed) = (rate(last.put_per_s.0), rate(last.completed_per_s.0));
            let time = format_duration(last.seconds.0);
            detail.add_line(
                "now",
                format!("{put} put, {completed} completed, over {time}"),
            );
        }
        let known = options.format_count(workers, "known worker", "known workers");
        let hold = options.format_count(busy_workers, "holds jobs", "hold jobs");
        let silence = last_seen.map(|seen| options.now.since(seen));
        let silence = silence.filter(|silence| *silence > SILENT_AFTER);
        let silence = match (silence, self.silent_workers.as_slice()) {
            (Some(silence), _) => format!(
                ", none of them has been seen for {}",
                format_duration(silence)
            ),
            (None, []) => String::new(),
            (None, [worker]) => {
                let silence = silence_text(worker.last_seen, options.now).unwrap_or_default();
                format!(", {} is {silence}", worker.name)
            }
            (None, workers) => format!(", {} of them are silent", workers.len()),
        };
        detail.add_line("workers", format!("{known}, {hold}{silence}"));
        let waits = self.waits.iter().map(|wait| {
            let time = format_duration(wait.wait_s.0);
            let why = wait.wait_reason_text(options.now);
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            format!("{} {time} ({}){why}", wait.queue, wait.jid)
        });
        let more = waits.len().saturating_sub(MAX_WAITS);
        for (at, wait) in waits.take(MAX_WAITS).enumerate() {
            detail.add_line(name_if_first_or_piped("oldest wait", at, options), wait);
        }
        if more > 0 {
            detail.add_line(
                name_if_first_or_piped("oldest wait", MAX_WAITS, options),
                format!("… {more} more"),
            );
        }
        if let Some(omitted) = self.omitted.omission_sentence() {
            detail.add_line("omitted", omitted);
        }
        detail.into_text()
    }
}

/// The name before line `at` of a list. In a pipe each line has the name, so that scripts find it. On a terminal only
/// the first line has it.
fn name_if_first_or_piped(name: &'static str, at: usize, options: &RenderOptions) -> &'static str {
    if at > 0 && options.terminal { "" } else { name }
}

fn server_line(server: &ServerFacts, options: &RenderOptions) -> String {
    let ServerFacts {
        version,
        role,
        uptime_s,
        memory_bytes,
        max_memory_bytes,
        eviction,
        append_only,
        last_save,
        ..
    } = server;
    let memory = match max_memory_bytes {
        0 => format_bytes(*memory_bytes),
        limit => format!(
            "{} of {}",
            format_bytes(*memory_bytes),
            format_bytes(*limit)
        ),
    };
    let saves = match (append_only, last_save) {
        (true, _) => "append-only file".to_owned(),
        (false, Some(saved)) => format!("last snapshot {}", options.when(*saved)),
        (false, None) => "no append-only file, no snapshot since it started".to_owned(),
    };
    let uptime = format_duration(*uptime_s as f64);
    format!("Redis {version}, {role}, up {uptime}, memory {memory}, {eviction}, {saves}")
}
