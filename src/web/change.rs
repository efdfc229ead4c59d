//! Changes: a page that asks, with the plan that the command line shows, and the change itself.
//!
//! A change needs a form of this process, sent from this origin, and in a protected context its label. It is
//! the command that the page shows, with the guards of the command line.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use maud::html;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::page::{Content, Page, name_or_empty_label, relative_job_path};
use super::pages::error::hint_paragraph;
use super::{PageRequest, RunMode, WebServer, html_response, path};
use crate::command_line::CommandLine;
use crate::core::api::index::Index;
use crate::error::Error;
use crate::exit::Exit;
use crate::listen::{Request, Response, Status};
use crate::name::Name;
use crate::session::Session;
use crate::text::{clean_line, clean_text, format_count, short_jid, with_thousands_separators};

/// Maximum number of lines of a result that are shown above its totals.
const MAX_RESULT_LINES: usize = 100;

/// Maximum number of jobs whose plan is shown. The change itself is made to all jobs.
const MAX_PLANNED: u64 = 1000;

/// Maximum number of results that are kept until a page shows them.
const MAX_RESULTS: usize = 32;

/// The header in which a browser says where a request comes from.
const FETCH_SITE: &str = "sec-fetch-site";

/// The secret token in each form of this process, and the results of the last changes.
pub(super) struct FormToken {
    token: String,
    results: Mutex<VecDeque<(String, String)>>,
}

impl FormToken {
    pub(super) fn new() -> FormToken {
        FormToken {
            token: Uuid::new_v4().simple().to_string(),
            results: Mutex::default(),
        }
    }

    fn matches(&self, given: &str) -> bool {
        self.token.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// Keeps the result of a change under a new name, which the next page has in its query.
    fn keep_result(&self, result_text: String) -> String {
        let name = Uuid::new_v4().simple().to_string();
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        if results.len() >= MAX_RESULTS {
            results.pop_front();
        }
        results.push_back((name.clone(), result_text));
        name
    }

    /// The result of a change, by its name.
    pub(super) fn result_text(&self, name: &str) -> Option<String> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let found = results.iter().find(|(known, _)| known == name);
        found.map(|(_, result_text)| result_text.clone())
    }
}

/// The thing that a change is for.
#[derive(Clone, Debug, PartialEq)]
enum Subject {
    Job(Name),
    Group(Name),
    Queue(Name),
}

/// An action that a button offers.
#[derive(Clone, Copy, Debug, PartialEq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum Verb {
    Retry,
    Cancel,
    Promote,
    Priority,
    Tag,
    Track,
    Untrack,
    Pause,
    Unpause,
}

/// A change that a path names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WebChange {
    subject: Subject,
    verb: Verb,
}

struct FormField {
    label: &'static str,
    may_be_empty: bool,
}

impl WebChange {
    /// The change that a path names, such as `jobs/JID/retry`.
    pub(super) fn from_path(names: &[Name]) -> Option<WebChange> {
        let [kind, name, verb] = names else {
            return None;
        };
        let verb: Verb = verb.as_str()?.parse().ok()?;
        let of_job = [
            Verb::Retry,
            Verb::Cancel,
            Verb::Promote,
            Verb::Priority,
            Verb::Tag,
            Verb::Track,
            Verb::Untrack,
        ];
        let (subject, verbs): (_, &[Verb]) = match kind.as_bytes() {
            b"jobs" => (Subject::Job(name.clone()), &of_job),
            b"failed" => (Subject::Group(name.clone()), &[Verb::Retry, Verb::Cancel]),
            b"queues" => (Subject::Queue(name.clone()), &[Verb::Pause, Verb::Unpause]),
            _ => return None,
        };
        verbs.contains(&verb).then_some(WebChange { subject, verb })
    }

    /// The command that makes the change. `value` is what was entered into the form.
    fn command(&self, value: &str) -> CommandLine {
        let verb: &str = self.verb.into();
        match (&self.subject, self.verb) {
            (Subject::Group(group), verb) => {
                let all = if verb == Verb::Cancel {
                    "--cancel-all"
                } else {
                    "--retry-all"
                };
                CommandLine::new("failed")
                    .with_exact_pattern("--group", group)
                    .with_word(all)
            }
            (Subject::Job(jid), Verb::Priority) => CommandLine::new(verb)
                .with_flag("--to", value)
                .with_name(jid),
            (Subject::Job(jid), Verb::Tag) => CommandLine::new(verb)
                .with_flag("--add", value)
                .with_name(jid),
            (Subject::Job(jid), Verb::Untrack) => CommandLine::new("track")
                .with_word("--remove")
                .with_name(jid),
            (Subject::Queue(queue), Verb::Pause) if !value.is_empty() => CommandLine::new(verb)
                .with_flag("--reason", value)
                .with_name(queue),
            (Subject::Job(name) | Subject::Queue(name), _) => {
                CommandLine::new(verb).with_name(name)
            }
        }
    }

    /// How many jobs the change is about.
    fn count_jobs(&self, session: &mut Session) -> Result<u64, Error> {
        let Subject::Group(group) = &self.subject else {
            return Ok(1);
        };
        let now = session.connect()?;
        let index = Index::Failed(group.clone());
        Ok(session.core()?.index_range(now, &index, 0, 0)?.total)
    }

    /// The field that the form has for this change, if it has one.
    fn form_field(&self) -> Option<FormField> {
        let (label, may_be_empty) = match self.verb {
            Verb::Priority => ("New priority; higher runs first", false),
            Verb::Tag => ("Tag to add", false),
            Verb::Pause => ("Why, for whoever finds it paused", true),
            _ => return None,
        };
        Some(FormField {
            label,
            may_be_empty,
        })
    }

    fn question(&self) -> String {
        let word = self.button_text();
        match &self.subject {
            Subject::Job(jid) => format!("{word} job {}?", short_jid(jid)),
            Subject::Group(group) => format!("{word} all jobs of {}?", name_or_empty_label(group)),
            Subject::Queue(queue) => format!("{word} queue {}?", name_or_empty_label(queue)),
        }
    }

    /// The text of the button that makes the change.
    fn button_text(&self) -> &'static str {
        match self.verb {
            Verb::Retry => "Retry",
            Verb::Cancel => "Cancel",
            Verb::Promote => "Run now",
            Verb::Priority => "Set the priority of",
            Verb::Tag => "Tag",
            Verb::Track => "Track",
            Verb::Untrack => "Untrack",
            Verb::Pause => "Pause",
            Verb::Unpause => "Unpause",
        }
    }

    /// The path of the page that the browser opens after the change.
    fn next_page(&self) -> String {
        match (&self.subject, self.verb) {
            // The thing that the change was for no longer exists.
            (Subject::Group(_), _) => "failed".to_owned(),
            (Subject::Job(_), Verb::Cancel) => "jobs".to_owned(),
            (Subject::Job(jid), _) => relative_job_path(jid),
            (Subject::Queue(queue), _) => format!("queues/{}", path::encode_part(queue)),
        }
    }

    /// The path of the page of the job, group or queue before the change.
    fn subject_page(&self) -> String {
        match &self.subject {
            Subject::Job(jid) => relative_job_path(jid),
            Subject::Group(group) => format!("failed/{}", path::encode_part(group)),
            Subject::Queue(queue) => format!("queues/{}", path::encode_part(queue)),
        }
    }
}

impl WebServer<'_> {
    /// The page that asks for confirmation. `refused` says why a form that was sent is shown again.
    pub(super) fn confirmation(
        &self,
        page_request: &PageRequest,
        change: &WebChange,
        page: &mut Page,
        refused: Option<&str>,
    ) -> Result<Content, Error> {
        page.is_live = false;
        let form = form_fields(page_request.request);
        let value = field_value(&form, "value").unwrap_or_default();
        let needs_value = change.form_field().is_some_and(|field| !field.may_be_empty);
        let line = change.command(if value.is_empty() && needs_value {
            "…"
        } else {
            value
        });
        let plan = if needs_value && value.is_empty() {
            html! {}
        } else {
            let server = &self.contexts[page_request.context].server;
            let (total, output) = server.read_if_reachable(|session| {
                let total = change.count_jobs(session)?;
                let part = match total {
                    ..=MAX_PLANNED => line.clone(),
                    _ => line.clone().with_flag("--limit", MAX_PLANNED.to_string()),
                };
                Ok((total, (self.run)(&part, RunMode::DryRun, session)))
            })?;
            output.result?;
            html! {
                @if total > MAX_PLANNED {
                    p.refused {
                        "This is about all " (with_thousands_separators(total)) " jobs. The plan of the first "
                        (with_thousands_separators(MAX_PLANNED)) ":"
                    }
                }
                pre tabindex="0" { (clean_text(&output.text).trim_end()) }
            }
        };
        let label = page
            .server
            .label
            .as_ref()
            .filter(|_| page.server.is_protected);
        let main = html! {
            p.crumb { a href=(page.link(&change.subject_page())) { "← back, and change nothing" } }
            h1 { (change.question()) }
            @if let Some(refused) = refused { p.refused role="alert" { (clean_line(refused)) } }
            (plan)
            form.confirm method="post" {
                input type="hidden" name="token" value=(self.token.token);
                @if let Some(field) = change.form_field() {
                    label { span { (field.label) } input name="value" value=(value) required[!field.may_be_empty] autocomplete="off"; }
                }
                @if let Some(label) = label {
                    label {
                        span { "This is " b { (clean_line(label)) } ". Type its name to go on" }
                        input name="label" required autocomplete="off";
                    }
                }
                div.acts {
                    button.main.bad[change.verb == Verb::Cancel] type="submit" { (change.button_text()) }
                    a.button href=(page.link(&change.subject_page())) { "Back" }
                    (page.command_block(&line))
                }
            }
        };
        Ok(Content {
            status: Status::Ok,
            title: change.question(),
            section: None,
            main,
            footer: html! {},
        })
    }

    /// Makes a change that a form asks for.
    pub(super) fn change(&self, page_request: &PageRequest) -> Response<'static> {
        let Some(change) = WebChange::from_path(&page_request.names)
            .filter(|_| self.may_make_changes(page_request))
        else {
            return Response::text(Status::NotFound, "there is no such page");
        };
        if let Err(why) = self.check_origin(page_request.request) {
            return Response::text(Status::Forbidden, why);
        }
        let form = form_fields(page_request.request);
        let server = &self.contexts[page_request.context].server;
        let shown = &self.contexts[page_request.context].shown;
        let mut page = self.new_page(page_request, server.now());
        let label = shown.label.clone().filter(|_| shown.is_protected);
        let entered = field_value(&form, "label").unwrap_or_default().trim();
        let refused = if !self
            .token
            .matches(field_value(&form, "token").unwrap_or_default())
        {
            Some("This form is not one of this process: look again, then decide.")
        } else if label.as_ref().is_some_and(|label| label.trim() != entered) {
            Some("The label was not typed; nothing was changed.")
        } else {
            None
        };
        if let Some(why) = refused {
            return match self.confirmation(page_request, &change, &mut page, Some(why)) {
                Ok(content) => {
                    html_response(Status::Forbidden, page.render_whole(content).into_string())
                }
                Err(error) => failure_page(&page, &error, ""),
            };
        }
        let line = change.command(field_value(&form, "value").unwrap_or_default());
        let mode = RunMode::Confirmed { label };
        let output = match server.with_session(|session| (self.run)(&line, mode, session)) {
            Ok(output) => output,
            Err(error) => return failure_page(&page, &error, ""),
        };
        self.forget_snapshots_and_responses(page_request.context);
        let result_text = shorten_result(clean_text(&output.text).trim());
        match output.result {
            Ok(exit) => {
                let result_text = match (result_text.as_str(), exit) {
                    ("", Exit::Ok) => format!("{}: done.", change.button_text()),
                    _ => result_text,
                };
                let to = page.link(&change.next_page());
                let mark = if to.contains('?') { '&' } else { '?' };
                let to = format!("{to}{mark}did={}", self.token.keep_result(result_text));
                Response::text(Status::SeeOther, "done").with_header("Location", to)
            }
            Err(error) => failure_page(&page, &error, &result_text),
        }
    }

    /// Refuses what a page of another origin sends.
    fn check_origin(&self, request: &Request) -> Result<(), &'static str> {
        const FOREIGN: &str = "a change must come from a page of this listener";
        match request.header(FETCH_SITE) {
            Some(b"same-origin") => Ok(()),
            Some(_) => Err(FOREIGN),
            None => {
                let origin = request
                    .header("origin")
                    .and_then(|origin| str::from_utf8(origin).ok());
                let host = request
                    .header("host")
                    .and_then(|host| str::from_utf8(host).ok());
                let host_of_origin = origin.and_then(|origin| origin.split_once("://"));
                match (host_of_origin, host) {
                    (Some((_, origin)), Some(host)) if origin.eq_ignore_ascii_case(host) => Ok(()),
                    _ => Err(FOREIGN),
                }
            }
        }
    }
}

fn form_fields(request: &Request) -> Vec<(String, String)> {
    url::form_urlencoded::parse(&request.body)
        .into_owned()
        .collect()
}

fn field_value<'f>(form: &'f [(String, String)], name: &str) -> Option<&'f str> {
    let found = form.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// A result without most of its rows: it may have one for each of a million jobs. The totals stay: the last line that
/// is not indented, and their details below it.
fn shorten_result(result_text: &str) -> String {
    let lines: Vec<&str> = result_text.lines().collect();
    let totals = lines.iter().rposition(|line| !line.starts_with(' '));
    match totals.unwrap_or(0).checked_sub(MAX_RESULT_LINES) {
        None | Some(0) => result_text.to_owned(),
        Some(left_out) => {
            let (rows, totals) = lines.split_at(MAX_RESULT_LINES + left_out);
            let rows = rows[..MAX_RESULT_LINES].join("\n");
            let left_out = format_count(left_out as u64, "more line", "more lines");
            format!("{rows}\n… and {left_out}\n{}", totals.join("\n"))
        }
    }
}

/// The page after a change that ended with an error. `result_text` is what it printed before: a change of many jobs
/// can fail after some of them.
fn failure_page(page: &Page, error: &Error, result_text: &str) -> Response<'static> {
    let title = match error.exit() {
        Exit::Usage | Exit::NotFound | Exit::Conflict | Exit::NotConfirmed => "Nothing was changed",
        _ => "The change failed",
    };
    let main = html! {
        h1 { (title) "." }
        p { (clean_line(error.message().as_bytes())) }
        (hint_paragraph(error))
        @if !result_text.is_empty() { pre tabindex="0" { (result_text) } }
        p { a href=(page.link(".")) { "To the overview" } }
    };
    let content = Content {
        status: super::status_of(error),
        title: title.to_owned(),
        section: None,
        main,
        footer: html! {},
    };
    html_response(content.status, page.render_whole(content).into_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &str, value: &str) -> Option<String> {
        let names = path::decode_path(path);
        WebChange::from_path(&names)?.command(value).shell_line()
    }

    #[test]
    fn a_path_names_a_command() {
        let lines = [
            ("jobs/a/retry", "", "qless retry a"),
            ("jobs/-a/cancel", "", "qless cancel -- -a"),
            ("jobs/a/priority", "-5", "qless priority --to=-5 a"),
            ("jobs/a/tag", "eu", "qless tag --add=eu a"),
            ("jobs/a/untrack", "", "qless track --remove a"),
            (
                "failed/a%2A/retry",
                "",
                r"qless failed '--group=a\*' --retry-all",
            ),
            ("failed/a/cancel", "", "qless failed --group=a --cancel-all"),
            (
                "queues/a/pause",
                "disk swap",
                "qless pause --reason='disk swap' a",
            ),
            ("queues/a/unpause", "", "qless unpause a"),
        ];
        for (path, value, expected) in lines {
            let line = line(path, value).unwrap();
            assert_eq!(line.replace("--group='a\\*'", "'--group=a\\*'"), expected);
        }
        for path in [
            "jobs/a/pause",
            "queues/a/retry",
            "jobs/a",
            "jobs/a/get",
            "failed/a/tag",
            "a/b/retry",
        ] {
            assert_eq!(line(path, ""), None, "{path}");
        }
    }
}
