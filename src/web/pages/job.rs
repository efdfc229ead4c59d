//! The page of a job: its fields and data, a chart of its waits and runs, why it waits or failed, its history, and the
//! jobs before and after it.

use maud::{Markup, html};

use super::recurring::paused_or_overdue_chip;
use crate::command_line::CommandLine;
use crate::core::api::job::JobFields;
use crate::core::api::not_found;
use crate::error::{Error, Kind};
use crate::explain;
use crate::json::Json;
use crate::json::quote::quote_as_core;
use crate::model::explain::Explanation;
use crate::model::history::{note_text, wait_or_run_text};
use crate::model::job::text::backoff_text_if_effective;
use crate::model::job::{HistoryEntry, Job, Neighbor, State};
use crate::model::recur::Recurring;
use crate::model::recur::text::format_interval;
use crate::name::Name;
use crate::session::Session;
use crate::text::{
    Sanitized, failure_summary_line, format_duration, sanitize_keeping_lines, sanitize_to_line,
    with_thousands_separators,
};
use crate::web::chart;
use crate::web::page::{
    NONE, NavigationSection, PageContent, PageFrame, name_or_empty_label, relative_job_path,
};

/// Maximum number of dependencies, and of dependents, that are listed.
const MAX_NEIGHBORS: usize = 20;

/// The longest JSON that stays on one line, in characters, and the deepest level whose fields get lines of their own.
const MAX_JSON_LINE: usize = 48;
const MAX_JSON_DEPTH: usize = 30;

/// The longest data that is shown, in characters and in bytes. The JSON document has all.
const MAX_DATA_CHARS: usize = 20_000;
const MAX_DATA_BYTES: usize = 4 * MAX_DATA_CHARS;

/// JSON of more bytes than this is not measured to see whether it fits on one line.
const MAX_SHORT_JSON: usize = 10_000;

pub(in crate::web) fn content(
    page: &PageFrame,
    session: &mut Session,
    jid: &Name,
) -> Result<PageContent, Error> {
    let core = session.core()?;
    let jids = std::slice::from_ref(jid);
    let Some(mut job) = core
        .jobs(page.now, JobFields::FullExcerpt, jids)?
        .pop()
        .flatten()
    else {
        let recurring = core.recurring_jobs(page.now, jids)?.pop().flatten();
        return match recurring {
            Some(recurring) => Ok(recurring_content(page, &recurring)),
            None => Err(not_found::missing_job_error(jid)),
        };
    };
    job.neighbors = core.first_dependencies_then_dependents(page.now, &job, MAX_NEIGHBORS)?;
    let explanation = match explain::explain_single_job(core, page.now, &job) {
        // If a key of the queue has the wrong type, show the job without an explanation.
        Err(error) if error.kind() == Kind::WrongKeyType => None,
        explanation => Some(explanation?),
    };
    let title = headline_sentence(page, &job);
    let history = job.history.as_deref().unwrap_or_default();
    let ended = match job.state {
        Some(State::Failed) => Some("failed"),
        Some(State::Complete) => Some("complete"),
        _ => None,
    };
    let main = html! {
        (breadcrumb(page, &job))
        h1 { (title) }
        (chart::life_chart(history, ended, page.now))
        (change_buttons_and_command(page, &job))
        div.two.even {
            section {
                @if let Some(failure) = &job.failure {
                    h2 { "Failure" small { (page.group_link(&failure.group)) } }
                    (failure_block(&failure.message))
                } @else {
                    h2 { "Now" }
                    (reason_list(page, explanation.as_ref()))
                }
            }
            section { h2 { "Data" } (data_block(job.data.as_bytes(), job.data_length)) }
        }
        div.two.even {
            section { h2 { "Story" } (history_table(page, history)) }
            section {
                h2 { "Job" }
                (field_list(page, &job))
                (dependency_and_dependent_list(page, &job))
            }
        }
    };
    let klass = job
        .klass
        .as_ref()
        .map_or_else(|| name_or_empty_label(&job.jid), name_or_empty_label);
    let state = job.state_word();
    Ok(PageContent::new(
        format!("{klass} {state}"),
        NavigationSection::Jobs,
        main,
    ))
}

/// The job and its state in a sentence: `Photo::Upload in images failed 50s ago, with no retry left.`
fn headline_sentence(page: &PageFrame, job: &Job) -> String {
    let klass = job
        .klass
        .as_ref()
        .map_or_else(|| "A job".to_owned(), name_or_empty_label);
    let queue = job
        .queue
        .as_ref()
        .map(|queue| format!(" in {}", name_or_empty_label(queue)));
    let subject = format!("{klass}{}", queue.unwrap_or_default());
    let since = job
        .since
        .map(|since| page.time_text(since))
        .unwrap_or_default();
    let holder = job
        .worker
        .as_ref()
        .map(|worker| format!(" on {worker}"))
        .unwrap_or_default();
    let age = job
        .since
        .map(|since| format_duration(page.now.since(since).max(0.0)));
    let for_age = age.map(|age| format!(" for {age}")).unwrap_or_default();
    let rest = match job.state {
        Some(State::Failed) => {
            let when = job.failure.as_ref().and_then(|failure| failure.when);
            let when = when.map_or(since, |when| page.time_text(when));
            let left = match job.remaining_retries() {
                Some(0) => ", with no retry left".to_owned(),
                Some(1) => ", with one retry left".to_owned(),
                _ => String::new(),
            };
            format!("failed {when}{left}")
        }
        Some(State::Running) => format!("runs{for_age}{holder}"),
        Some(State::Stalled) => format!("has lost its lock{holder}"),
        Some(State::Waiting) => format!("waits{for_age}"),
        Some(State::Scheduled) => match job.scheduled_for {
            Some(due) => format!("is due {}", page.time_text(due)),
            None => "is scheduled".to_owned(),
        },
        Some(State::Depends) => match job.dependencies.len() {
            1 => "waits for another job".to_owned(),
            jobs => format!("waits for {jobs} other jobs"),
        },
        Some(State::Throttled) => "waits for a free slot of a throttle".to_owned(),
        Some(State::Complete) => format!("was completed {since}"),
        None => format!("is {}", job.state_word()),
    };
    format!("{subject} {rest}.")
}

fn breadcrumb(page: &PageFrame, job: &Job) -> Markup {
    html! {
        p.crumb {
            @match (&job.failure, &job.queue) {
                (Some(failure), _) if job.state == Some(State::Failed) => {
                    a href=(page.link("failed")) { "Failed" } " / " (page.group_link(&failure.group))
                }
                (_, Some(queue)) => { a href=(page.link("queues")) { "Queues" } " / " (page.queue_link(queue)) }
                _ => { a href=(page.link("jobs")) { "Jobs" } }
            }
            " / " span.mono { (job.jid) }
        }
    }
}

/// The buttons for the job, and a command line that fits its state, such as `qless retry JID` for a failed job.
fn change_buttons_and_command(page: &PageFrame, job: &Job) -> Markup {
    let here = relative_job_path(&job.jid);
    let button = |verb: &str, word: &str, is_main: bool| {
        page.change_confirmation_link(&format!("{here}/{verb}"), word, is_main)
    };
    let state = job.state;
    let can_retry = state == Some(State::Failed);
    let can_promote = state == Some(State::Scheduled);
    let is_open = state != Some(State::Complete);
    let verb = match state {
        Some(State::Failed) => "retry",
        Some(State::Scheduled) => "promote",
        Some(State::Complete) => "get",
        _ => "explain",
    };
    html! {
        div.acts {
            @if page.has_buttons_for(&job.jid) {
                @if can_retry { (button("retry", "Retry", true)) }
                @if can_promote { (button("promote", "Run now", true)) }
                @if is_open {
                    (button("cancel", "Cancel", false))
                    (button("priority", "Priority", false))
                    (button("tag", "Tag", false))
                }
                @if job.tracked { (button("untrack", "Untrack", false)) } @else { (button("track", "Track", false)) }
            }
            (page.command_block(&CommandLine::new(verb).with_name_argument(&job.jid)))
        }
    }
}

/// Why the job does not run.
pub(super) fn reason_list(page: &PageFrame, explanation: Option<&Explanation>) -> Markup {
    let options = page.render_options();
    let reasons = explanation
        .map(|found| found.reasons.as_slice())
        .unwrap_or_default();
    html! {
        @if explanation.is_none() { p.none { "A key of its queue has the wrong type." } }
        @else if reasons.is_empty() { p.none { "Nothing keeps it." } }
        ul.reasons {
            @for reason in reasons {
                li.bad[reason.blocking] {
                    i aria-label=(if reason.blocking { "blocks" } else { "delays" }) { (if reason.blocking { "✗" } else { "·" }) }
                    div {
                        (sanitize_to_line(reason.reason_sentence(&options))) " "
                        span.dim { (sanitize_to_line(reason.evidence_text(&options))) }
                        (page.command_block(&reason.fix))
                    }
                }
            }
        }
    }
}

/// The message of a failure, with its decisive line in bold.
fn failure_block(message: &Name) -> Markup {
    let text = sanitize_keeping_lines(message.as_bytes());
    let decisive = Sanitized(failure_summary_line(message.as_bytes())).to_string();
    html! {
        pre.bad tabindex="0" {
            @for (at, line) in text.lines().enumerate() {
                @if at > 0 { "\n" }
                @if line == decisive { b { (line) } } @else { (line) }
            }
        }
    }
}

/// The data of a job as JSON with a line for each field, or as text if the data is not JSON. `whole_length` is the
/// length of all data, if `bytes` are only the beginning.
fn data_block(bytes: &[u8], whole_length: Option<usize>) -> Markup {
    let start = &bytes[..bytes.len().min(MAX_DATA_BYTES)];
    let whole_length = whole_length.unwrap_or(bytes.len());
    let is_cut = start.len() < whole_length;
    let json = if is_cut {
        parse_truncated_json(start)
    } else {
        Json::parse(start)
    };
    let text = match json {
        Some(json) => {
            let mut text = String::new();
            lay_out_json(&json, 0, &mut text);
            text
        }
        None => sanitize_keeping_lines(start),
    };
    let shown = text.char_indices().nth(MAX_DATA_CHARS);
    let shown = shown.map_or(&*text, |(at, _)| &text[..at]);
    html! {
        pre tabindex="0" { (shown) @if is_cut || shown.len() < text.len() { "…" } }
        @if is_cut {
            p.dim { "The beginning of " (with_thousands_separators(whole_length as u64)) " bytes." }
        }
    }
}

/// Parses JSON whose end is missing, up to its last complete field or item.
fn parse_truncated_json(start: &[u8]) -> Option<Json> {
    let (mut open, mut in_string, mut is_escaped) = (Vec::new(), false, false);
    // The end of the last complete field or item, and the number of lists and objects that are open there.
    let mut complete = (0, 0);
    for (at, byte) in start.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b']' | b'}' => {
                open.pop();
                complete = (at + 1, open.len());
            }
            b',' => complete = (at, open.len()),
            _ => {}
        }
    }
    let (end, depth) = complete;
    let closed = open.get(..depth)?.iter().rev();
    let text: Vec<u8> = start[..end].iter().chain(closed).copied().collect();
    Json::parse(&text)
}

/// Writes JSON on one line if it is short, else with a line for each field. Stops when there is more text than the page
/// shows. Numbers stay as they are written in the data.
fn lay_out_json(json: &Json, depth: usize, text: &mut String) {
    let line = || {
        let line = json.to_single_line();
        let bytes = line.as_bytes();
        sanitize_to_line(&bytes[..bytes.len().min(MAX_DATA_BYTES)])
    };
    if json.text_byte_length() <= MAX_SHORT_JSON {
        let line = line();
        if line.chars().count() + 2 * depth <= MAX_JSON_LINE {
            text.push_str(&line);
            return;
        }
    }
    let fields = json.object().map(|fields| {
        let fields = fields.into_iter().map(|(key, value)| (Some(key), value));
        ('{', '}', fields.collect::<Vec<(Option<Name>, Json)>>())
    });
    let items = || {
        let items = json.array()?.into_iter().map(|value| (None, value));
        Some(('[', ']', items.collect()))
    };
    let parts = fields.or_else(items).filter(|_| depth <= MAX_JSON_DEPTH);
    let Some((open, close, parts)) = parts else {
        text.push_str(&line());
        return;
    };
    let indent = "  ".repeat(depth);
    text.push(open);
    for (at, (key, value)) in parts.iter().enumerate() {
        if text.len() > MAX_DATA_BYTES {
            return;
        }
        let comma = if at == 0 { "" } else { "," };
        text.push_str(&format!(
            "{comma}
{indent}  "
        ));
        if let Some(key) = key {
            text.push_str(&sanitize_to_line(quote_as_core(key.as_bytes())));
            text.push_str(": ");
        }
        lay_out_json(value, depth + 1, text);
    }
    text.push_str(&format!(
        "
{indent}{close}"
    ));
}

fn history_table(page: &PageFrame, history: &[HistoryEntry]) -> Markup {
    html! {
        @if history.is_empty() { p.none { "Nothing is written down." } }
        table.story {
            tbody {
                @for (at, entry) in history.iter().enumerate().filter(|(at, _)| !only_names_actor(history, *at)) {
                    @let is_bad = matches!(entry.what.as_bytes(), b"failed" | b"timed-out");
                    tr.bad[is_bad] {
                        td.t { @match entry.when { Some(when) => (page.exact_time_element(when)), None => (NONE) } }
                        td.w { (event_word_and_note(entry).0) }
                        td { (history_details(history, at)) }
                    }
                }
            }
        }
    }
}

/// The details of a history entry: its note, how long the job waited or ran before it, and the user who caused it.
fn history_details(history: &[HistoryEntry], at: usize) -> String {
    let by = only_names_actor(history, at + 1).then(|| event_word_and_note(&history[at + 1]).1);
    let parts = [
        event_word_and_note(&history[at]).1,
        wait_or_run_text(history, at),
        by.unwrap_or_default(),
    ];
    let parts = parts.iter().filter(|part| !part.is_empty());
    let parts: Vec<_> = parts
        .map(|part| sanitize_to_line(part.as_bytes()))
        .collect();
    parts.join(", ")
}

/// Whether `qless` wrote this history entry only to name the user who caused the entry before it.
fn only_names_actor(history: &[HistoryEntry], at: usize) -> bool {
    let Some(entry) = history
        .get(at)
        .filter(|entry| entry.what.as_bytes() == b"cli")
    else {
        return false;
    };
    let before = at.checked_sub(1).map(|at| history[at].what.as_bytes());
    let verb = entry.extra_field_text("verb");
    let verb = verb.as_ref().map(Name::as_bytes);
    matches!(
        (before, verb),
        (Some(b"failed"), Some(b"fail"))
            | (Some(b"done"), Some(b"complete"))
            | (Some(b"timed-out"), Some(b"timeout"))
            | (Some(b"retried"), Some(b"retry"))
    )
}

/// The event of a history entry in a word, and its note. For an entry of `qless`, the word is the command in the past
/// tense, such as `retried`.
fn event_word_and_note(entry: &HistoryEntry) -> (String, String) {
    let note = |key: &str| entry.extra_field_text(key).map(|text| text.to_string());
    match (entry.what.as_bytes(), note("verb")) {
        (b"cli", Some(verb)) => {
            let parts = [note("by").map(|by| format!("by {by}")), note("reason")];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (past_tense(&verb).to_owned(), parts.join(": "))
        }
        _ => (name_or_empty_label(&entry.what), note_text(entry)),
    }
}

/// A verb of the command line in a story.
fn past_tense(verb: &str) -> &str {
    match verb {
        "retry" => "retried",
        "fail" => "failed",
        "complete" => "done",
        "timeout" => "timed-out",
        "promote" => "promoted",
        "move" => "moved",
        "bury" => "buried",
        "tag" => "tagged",
        "track" => "tracked",
        "import" => "imported",
        other => other,
    }
}

fn field_list(page: &PageFrame, job: &Job) -> Markup {
    let retries = match (job.remaining_retries(), job.retries) {
        (Some(left), Some(all)) => format!("{left} of {all} left"),
        _ => NONE.to_owned(),
    };
    let backoff = job.backoff.as_ref().and_then(backoff_text_if_effective);
    html! {
        dl.facts {
            dt { "jid" } dd.mono { (job.jid) }
            dt { "priority" } dd { (job.priority.map_or(NONE.into(), |priority| priority.to_string())) }
            dt { "retries" } dd { (retries) @if let Some(backoff) = backoff { ", back-off " (sanitize_to_line(backoff)) } }
            @if !job.tags.is_empty() {
                dt { "tags" } dd { @for tag in &job.tags { span.chip { (tag) } " " } }
            }
            @if let Some(worker) = &job.worker {
                dt { (if job.state == Some(State::Running) { "worker" } else { "last worker" }) } dd { (page.worker_link(worker)) }
            }
            @if let (Some(State::Running), Some(expires)) = (job.state, job.expires) {
                dt { "lock" } dd { "expires " (page.time_element(expires)) }
            }
            @if let Some(lane) = &job.key { dt { "lane" } dd { (lane) } }
            @if !job.throttles.is_empty() {
                dt { "throttles" } dd { @for id in &job.throttles { span.chip { (id) } " " } }
            }
            @if let Some(template) = &job.spawned_from { dt { "from" } dd { (page.job_link(template)) } }
            @if job.tracked { dt { "tracked" } dd { "yes" } }
        }
    }
}

/// The job's dependencies and its dependents.
fn dependency_and_dependent_list(page: &PageFrame, job: &Job) -> Markup {
    if job.dependencies.is_empty() && job.dependents.is_empty() {
        return html! {};
    }
    let neighbor = |jid: &Name| job.neighbors.iter().find(|other| other.jid == *jid);
    let more = |jids: &[Name]| jids.len().saturating_sub(MAX_NEIGHBORS);
    html! {
        h2 { "Before and after" small { a href=(page.link(&format!("{}/graph", relative_job_path(&job.jid)))) { "graph" } } }
        ul.tree {
            @for jid in job.dependencies.iter().take(MAX_NEIGHBORS) {
                (dependency_or_dependent_line(page, jid, neighbor(jid), true))
            }
            @if more(&job.dependencies) > 0 { li.dim { "and " (more(&job.dependencies)) " more" } }
            @for jid in job.dependents.iter().take(MAX_NEIGHBORS) {
                (dependency_or_dependent_line(page, jid, neighbor(jid), false))
            }
            @if more(&job.dependents) > 0 { li.dim { "and " (more(&job.dependents)) " more" } }
        }
    }
}

fn dependency_or_dependent_line(
    page: &PageFrame,
    jid: &Name,
    found: Option<&Neighbor>,
    is_before: bool,
) -> Markup {
    let state = found.and_then(|found| found.state);
    let mark = match (is_before, state) {
        (false, _) => "↳",
        (true, Some(State::Complete)) => "✓",
        (true, Some(State::Failed) | None) => "✗",
        (true, _) => "…",
    };
    let words = match (is_before, state) {
        (_, None) => "does not exist".to_owned(),
        (false, Some(State::Depends)) => "waits for this job".to_owned(),
        (_, Some(state)) => state.to_string(),
    };
    html! {
        li {
            i aria-hidden="true" { (mark) }
            (page.job_link_by_class_and_short_jid(found.and_then(|found| found.klass.as_ref()), jid))
            span.end { (words) }
        }
    }
}

fn recurring_content(page: &PageFrame, job: &Recurring) -> PageContent {
    let klass = job
        .klass
        .as_ref()
        .map_or_else(|| "A job".to_owned(), name_or_empty_label);
    let every = job.every_s.map_or(NONE.to_owned(), format_interval);
    let queue = job
        .queue
        .as_ref()
        .map_or(NONE.to_owned(), name_or_empty_label);
    let title = format!("{klass} is put into {queue} every {every}.");
    let chips = paused_or_overdue_chip(page, job);
    let main = html! {
        p.crumb { a href=(page.link("recurring")) { "Recurring" } " / " span.mono { (job.jid) } }
        h1 { (title) }
        div.acts { (page.command_block(&CommandLine::new("recur get").with_name_argument(&job.jid))) }
        div.two.even {
            section {
                h2 { "Template" }
                dl.facts {
                    @if !chips.0.is_empty() { dt { "state" } dd { (chips) } }
                    @if let Some(queue) = &job.queue { dt { "queue" } dd { (page.queue_link(queue)) } }
                    @if let Some(next) = job.next { dt { "next" } dd { (page.time_element(next)) } }
                    dt { "put so far" } dd { (job.count.map_or(NONE.into(), |count| count.to_string())) }
                    dt { "backlog" } dd { (job.max_backlog_text()) }
                    dt { "priority" } dd { (job.priority.map_or(NONE.into(), |priority| priority.to_string())) }
                    dt { "retries" } dd { (job.retries.map_or(NONE.into(), |retries| retries.to_string())) }
                    @if !job.tags.is_empty() { dt { "tags" } dd { @for tag in &job.tags { span.chip { (tag) } " " } } }
                }
            }
            section { h2 { "Data" } (data_block(job.data.as_bytes(), None)) }
        }
    };
    PageContent::new(klass, NavigationSection::Recurring, main)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(data: &str) -> String {
        let mut text = String::new();
        lay_out_json(&Json::parse(data.as_bytes()).unwrap(), 0, &mut text);
        text
    }

    #[test]
    fn the_start_of_json_is_laid_out_up_to_its_last_complete_field() {
        for (start, read) in [
            (
                r#"{"a":[1,{"b":"x,]y\"","c":12"#,
                Some(r#"{"a":[1,{"b":"x,]y\""}]}"#),
            ),
            ("[1,[2],[3,4", Some("[1,[2],[3]]")),
            ("[[1,2]", Some("[[1,2]]")),
            ("[[1,2],", Some("[[1,2]]")),
            (r#"{"a":"long"#, None),
            ("no json, at all", None),
        ] {
            let read = read.map(|text| Json::parse(text.as_bytes()).unwrap());
            assert_eq!(parse_truncated_json(start.as_bytes()), read, "{start}");
        }
    }

    #[test]
    fn data_has_a_line_for_each_field_unless_it_is_short() {
        let long = "x".repeat(MAX_JSON_LINE);
        let data = format!(r#"{{"a":[1,2],"b":["{long}",{{}}]}}"#);
        let expected =
            format!("{{\n  \"a\": [1,2],\n  \"b\": [\n    \"{long}\",\n    {{}}\n  ]\n}}");
        assert_eq!(laid_out(&data), expected);
    }

    #[test]
    fn no_more_data_is_laid_out_than_is_shown() {
        let items = vec!["123"; 200_000].join(",");
        let text = laid_out(&format!("[[{items}]]"));
        assert!(
            (MAX_DATA_CHARS..2 * MAX_DATA_BYTES).contains(&text.len()),
            "{}",
            text.len()
        );
        let deep = format!("{}{items}{}", "[".repeat(100), "]".repeat(100));
        assert!(laid_out(&deep).len() < 2 * MAX_DATA_BYTES);
    }
}
