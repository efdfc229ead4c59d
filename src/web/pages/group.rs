//! A group of failures: its messages by frequency, and its newest jobs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};

use super::jobs::job_table;
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::model::job::Job;
use crate::name::Name;
use crate::session::Session;
use crate::text::{Sanitized, failure_summary_line, format_count, with_thousands_separators};
use crate::web::page::{NavigationSection, PageContent, PageFrame, name_or_empty_label};
use crate::web::path;

/// How many of the newest jobs are read for the messages, and how many are listed.
const MAX_READ: u64 = 500;
const MAX_LISTED: usize = 50;
/// Maximum number of messages that are shown.
const MAX_MESSAGES: usize = 12;

pub(in crate::web) fn content(
    page: &PageFrame,
    session: &mut Session,
    group: &Name,
) -> Result<PageContent, Error> {
    let core = session.core()?;
    let (mut jobs, total) = core.newest_jobs_and_total_of_group(page.now, group, MAX_READ)?;
    if total == 0 {
        return Err(Error::not_found(format!(
            "no job has failed in group `{group}`"
        )));
    }
    let messages = count_messages_ignoring_numbers(&jobs);
    let queues = count_jobs_per_queue(&jobs);
    let read = jobs.len() as u64;
    jobs.truncate(MAX_LISTED);
    let have = if total == 1 { "job has" } else { "jobs have" };
    let title = format!(
        "{} {have} failed: {}",
        with_thousands_separators(total),
        name_or_empty_label(group)
    );
    let retry = CommandLine::new("failed")
        .with_exact_pattern("--group", group)
        .with_word("--retry-all");
    let here = format!("failed/{}", path::encode_part(group));
    let main = html! {
        p.crumb { a href=(page.link("failed")) { "Failed" } " / " (group) }
        h1 { (title) }
        p.meta {
            "Queues: "
            @for (at, (queue, count)) in queues.iter().enumerate() {
                @if at > 0 { ", " } (page.queue_link(queue)) " " (with_thousands_separators(*count))
            }
            @if read < total { " of the newest " (with_thousands_separators(read)) }
        }
        div.acts {
            @if page.has_buttons_for(group) {
                (page.change_confirmation_link(&format!("{here}/retry"), "Retry all", true))
                (page.change_confirmation_link(&format!("{here}/cancel"), "Cancel all", false))
            }
            (page.command_block(&retry))
        }
        section {
            h2 { "Messages" small { "of the newest " (format_count(read, "job", "jobs")) } }
            (message_table(&messages))
        }
        section {
            h2 { "Jobs" small { "the newest " (jobs.len()) " of " (with_thousands_separators(total)) } }
            (job_table(page, &jobs))
        }
    };
    Ok(PageContent::new(
        format!("{total} failed: {}", name_or_empty_label(group)),
        NavigationSection::Failed,
        main,
    ))
}

/// Messages that differ in numbers only.
struct MessagesDifferingInNumbers {
    /// The index of the job whose message is `first`.
    at: usize,
    first: String,
    /// For each number in `first`, whether another message has a different number in this position.
    differs: Vec<bool>,
    count: u64,
}

/// The decisive lines of the failure messages with their counts, the most frequent first. Lines that differ only in
/// numbers count as one line, with `…` in place of the numbers that differ.
fn count_messages_ignoring_numbers(jobs: &[Job]) -> Vec<(String, u64)> {
    let mut counts: HashMap<String, MessagesDifferingInNumbers> = HashMap::new();
    for (at, job) in jobs.iter().enumerate() {
        let Some(failure) = &job.failure else {
            continue;
        };
        let line = Sanitized(failure_summary_line(failure.message.as_bytes())).to_string();
        let alike = replace_numbers(&line, |_| "0");
        let counted = counts
            .entry(alike)
            .or_insert_with(|| MessagesDifferingInNumbers {
                at,
                first: line.clone(),
                differs: vec![false; numbers(&line).count()],
                count: 0,
            });
        let pairs = numbers(&counted.first).zip(numbers(&line));
        for (differs, (one, other)) in counted.differs.iter_mut().zip(pairs) {
            *differs |= one != other;
        }
        counted.count += 1;
    }
    let mut counts: Vec<MessagesDifferingInNumbers> = counts.into_values().collect();
    counts.sort_unstable_by_key(|counted| (Reverse(counted.count), counted.at));
    let shown = |counted: MessagesDifferingInNumbers| {
        let mut differs = counted.differs.into_iter();
        let line = replace_numbers(&counted.first, |number| match differs.next() {
            Some(true) => "…",
            _ => number,
        });
        (line, counted.count)
    };
    counts.into_iter().map(shown).collect()
}

/// The numbers of a line, in order.
fn numbers(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split(|c: char| !c.is_ascii_digit());
    parts.filter(|part| !part.is_empty())
}

/// The line with each number replaced by what `other` returns for it.
fn replace_numbers<'a>(line: &'a str, mut other: impl FnMut(&'a str) -> &'a str) -> String {
    let (mut replaced, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end = number.find(|c: char| !c.is_ascii_digit());
        let (number, after) = number.split_at(end.unwrap_or(number.len()));
        replaced.push_str(before);
        replaced.push_str(other(number));
        rest = after;
    }
    replaced + rest
}

/// The queues of these jobs, each with its number of jobs, the largest number first.
fn count_jobs_per_queue(jobs: &[Job]) -> Vec<(Name, u64)> {
    let mut counts: BTreeMap<Name, u64> = BTreeMap::new();
    for queue in jobs.iter().filter_map(|job| job.queue.clone()) {
        *counts.entry(queue).or_default() += 1;
    }
    let mut counts: Vec<(Name, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}

fn message_table(messages: &[(String, u64)]) -> Markup {
    let more = messages.len().saturating_sub(MAX_MESSAGES);
    let highest = messages.first().map_or(1, |(_, count)| *count);
    html! {
        table.messages {
            tbody {
                @for (line, count) in messages.iter().take(MAX_MESSAGES) {
                    tr data-key=(line) {
                        td.n.strong { (with_thousands_separators(*count)) }
                        td.share { meter min="0" max=(highest) value=(count) aria-label="share" {} }
                        td.mono.wrap { (line) }
                    }
                }
            }
        }
        @if more > 0 { p.more { "and " (format_count(more as u64, "other message", "other messages")) } }
    }
}
