//! Changes of jobs, groups and queues: the page that shows a dry run and asks for confirmation, and the change itself.
//!
//! A change requires a form that this process made, sent by a page of this listener. In a protected context, the user
//! must also type the label of the context. The change runs the command that the page shows, with all checks of the
//! command line.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use maud::html;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::page::{PageContent, PageFrame, name_or_empty_label, relative_job_path};
use super::pages::error::hint_paragraph;
use super::{CommandRunMode, PageRequest, WebServer, html_response, path};
use crate::command_line::CommandLine;
use crate::core::api::index::Index;
use crate::error::Error;
use crate::exit::Exit;
use crate::listen::{Request, Response, Status};
use crate::name::Name;
use crate::session::Session;
use crate::text::{
    format_count, sanitize_keeping_lines, sanitize_to_line, short_jid, with_thousands_separators,
};

/// Maximum number of lines of a result that are shown above its totals.
const MAX_RESULT_LINES: usize = 100;

/// Maximum number of jobs whose plan is shown. The change itself is made to all jobs.
const MAX_PLANNED: u64 = 1000;

/// Maximum number of results that are kept until a page shows them.
const MAX_RESULTS: usize = 32;

/// The header in which a browser says where a request comes from.
const FETCH_SITE: &str = "sec-fetch-site";

/// The secret token in each form of this process, and the results of the last changes.
pub(super) struct FormTokenAndResults {
    token: String,
    results: Mutex<VecDeque<(String, String)>>,
}

impl FormTokenAndResults {
    pub(super) fn new() -> FormTokenAndResults {
        FormTokenAndResults {
            token: Uuid::new_v4().simple().to_string(),
            results: Mutex::default(),
        }
    }

    fn is_form_token(&self, given: &str) -> bool {
        self.token.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// Stores the result of a change under a new name. The link to the next page has this name in its query.
    fn keep_result_under_new_name(&self, result_text: String) -> String {
        let name = Uuid::new_v4().simple().to_string();
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        if results.len() >= MAX_RESULTS {
            results.pop_front();
        }
        results.push_back((name.clone(), result_text));
        name
    }

    /// The result of a change, by its name.
    pub(super) fn result_kept_under_name(&self, name: &str) -> Option<String> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let found = results.iter().find(|(known, _)| known == name);
        found.map(|(_, result_text)| result_text.clone())
    }
}

/// The thing that a change is for.
#[derive(Clone, Debug, PartialEq)]
enum ChangeSubject {
    Job(Name),
    Group(Name),
    Queue(Name),
}

/// An action that a button offers.
#[derive(Clone, Copy, Debug, PartialEq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum ChangeVerb {
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
    subject: ChangeSubject,
    verb: ChangeVerb,
}

struct ChangeValueField {
    label: &'static str,
    may_be_empty: bool,
}

impl WebChange {
    /// The change that a path names, such as `jobs/JID/retry`.
    pub(super) fn from_path(names: &[Name]) -> Option<WebChange> {
        let [kind, name, verb] = names else {
            return None;
        };
        let verb: ChangeVerb = verb.as_str()?.parse().ok()?;
        let of_job = [
            ChangeVerb::Retry,
            ChangeVerb::Cancel,
            ChangeVerb::Promote,
            ChangeVerb::Priority,
            ChangeVerb::Tag,
            ChangeVerb::Track,
            ChangeVerb::Untrack,
        ];
        let (subject, verbs): (_, &[ChangeVerb]) = match kind.as_bytes() {
            b"jobs" => (ChangeSubject::Job(name.clone()), &of_job),
            b"failed" => (
                ChangeSubject::Group(name.clone()),
                &[ChangeVerb::Retry, ChangeVerb::Cancel],
            ),
            b"queues" => (
                ChangeSubject::Queue(name.clone()),
                &[ChangeVerb::Pause, ChangeVerb::Unpause],
            ),
            _ => return None,
        };
        verbs.contains(&verb).then_some(WebChange { subject, verb })
    }

    /// The command that makes the change. `value` is what was entered into the form.
    fn command(&self, value: &str) -> CommandLine {
        let verb: &str = self.verb.into();
        match (&self.subject, self.verb) {
            (ChangeSubject::Group(group), verb) => {
                let all = if verb == ChangeVerb::Cancel {
                    "--cancel-all"
                } else {
                    "--retry-all"
                };
                CommandLine::new("failed")
                    .with_exact_pattern("--group", group)
                    .with_word(all)
            }
            (ChangeSubject::Job(jid), ChangeVerb::Priority) => CommandLine::new(verb)
                .with_flag("--to", value)
                .with_name_argument(jid),
            (ChangeSubject::Job(jid), ChangeVerb::Tag) => CommandLine::new(verb)
                .with_flag("--add", value)
                .with_name_argument(jid),
            (ChangeSubject::Job(jid), ChangeVerb::Untrack) => CommandLine::new("track")
                .with_word("--remove")
                .with_name_argument(jid),
            (ChangeSubject::Queue(queue), ChangeVerb::Pause) if !value.is_empty() => {
                CommandLine::new(verb)
                    .with_flag("--reason", value)
                    .with_name_argument(queue)
            }
            (ChangeSubject::Job(name) | ChangeSubject::Queue(name), _) => {
                CommandLine::new(verb).with_name_argument(name)
            }
        }
    }

    /// How many jobs the change is about.
    fn count_jobs(&self, session: &mut Session) -> Result<u64, Error> {
        let ChangeSubject::Group(group) = &self.subject else {
            return Ok(1);
        };
        let now = session.connect()?;
        let index = Index::Failed(group.clone());
        Ok(session.core()?.index_range(now, &index, 0, 0)?.total)
    }

    /// The field that the form has for this change, if it has one.
    fn value_field(&self) -> Option<ChangeValueField> {
        let (label, may_be_empty) = match self.verb {
            ChangeVerb::Priority => ("New priority; higher runs first", false),
            ChangeVerb::Tag => ("Tag to add", false),
            ChangeVerb::Pause => ("Why, for whoever finds it paused", true),
            _ => return None,
        };
        Some(ChangeValueField {
            label,
            may_be_empty,
        })
    }

    fn confirmation_question(&self) -> String {
        let word = self.button_text();
        match &self.subject {
            ChangeSubject::Job(jid) => format!("{word} job {}?", short_jid(jid)),
            ChangeSubject::Group(group) => {
                format!("{word} all jobs of {}?", name_or_empty_label(group))
            }
            ChangeSubject::Queue(queue) => format!("{word} queue {}?", name_or_empty_label(queue)),
        }
    }

    /// The text of the button that makes the change.
    fn button_text(&self) -> &'static str {
        match self.verb {
            ChangeVerb::Retry => "Retry",
            ChangeVerb::Cancel => "Cancel",
            ChangeVerb::Promote => "Run now",
            ChangeVerb::Priority => "Set the priority of",
            ChangeVerb::Tag => "Tag",
            ChangeVerb::Track => "Track",
            ChangeVerb::Untrack => "Untrack",
            ChangeVerb::Pause => "Pause",
            ChangeVerb::Unpause => "Unpause",
        }
    }

    /// The path of the page that the browser opens after the change.
    fn next_page_path(&self) -> String {
        match (&self.subject, self.verb) {
            // The group or the cancelled job no longer exists, and so has no page: open the list.
            (ChangeSubject::Group(_), _) => "failed".to_owned(),
            (ChangeSubject::Job(_), ChangeVerb::Cancel) => "jobs".to_owned(),
            (ChangeSubject::Job(jid), _) => relative_job_path(jid),
            (ChangeSubject::Queue(queue), _) => format!("queues/{}", path::encode_part(queue)),
        }
    }

    /// The path of the page of the job, group or queue that the change is for.
    fn subject_page_path(&self) -> String {
        match &self.subject {
            ChangeSubject::Job(jid) => relative_job_path(jid),
            ChangeSubject::Group(group) => format!("failed/{}", path::encode_part(group)),
            ChangeSubject::Queue(queue) => format!("queues/{}", path::encode_part(queue)),
        }
    }
}

impl WebServer<'_> {
    /// The page that asks for confirmation. If the user's form was refused, the page shows the reason `refused`.
    pub(super) fn confirmation(
        &self,
        page_request: &PageRequest,
        change: &WebChange,
        page: &mut PageFrame,
        refused: Option<&str>,
    ) -> Result<PageContent, Error> {
        page.is_live = false;
        let form = form_fields(page_request.request);
        let value = field_value(&form, "value").unwrap_or_default();
        let needs_value = change
            .value_field()
            .is_some_and(|field| !field.may_be_empty);
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
                Ok((total, (self.run)(&part, CommandRunMode::DryRun, session)))
            })?;
            output.result?;
            html! {
                @if total > MAX_PLANNED {
                    p.refused {
                        "This is about all " (with_thousands_separators(total)) " jobs. The plan of the first "
                        (with_thousands_separators(MAX_PLANNED)) ":"
                    }
                }
                pre tabindex="0" { (sanitize_keeping_lines(&output.text).trim_end()) }
            }
        };
        let label = page
            .server
            .label
            .as_ref()
            .filter(|_| page.server.is_protected);
        let main = html! {
            p.crumb { a href=(page.link(&change.subject_page_path())) { "← back, and change nothing" } }
            h1 { (change.confirmation_question()) }
            @if let Some(refused) = refused { p.refused role="alert" { (sanitize_to_line(refused)) } }
            (plan)
            form.confirm method="post" {
                input type="hidden" name="token" value=(self.token.token);
                @if let Some(field) = change.value_field() {
                    label { span { (field.label) } input name="value" value=(value) required[!field.may_be_empty] autocomplete="off"; }
                }
                @if let Some(label) = label {
                    label {
                        span { "This is " b { (sanitize_to_line(label)) } ". Type its name to go on" }
                        input name="label" required autocomplete="off";
                    }
                }
                div.acts {
                    button.main.bad[change.verb == ChangeVerb::Cancel] type="submit" { (change.button_text()) }
                    a.button href=(page.link(&change.subject_page_path())) { "Back" }
                    (page.command_block(&line))
                }
            }
        };
        Ok(PageContent {
            status: Status::Ok,
            title: change.confirmation_question(),
            section: None,
            main,
            footer: html! {},
        })
    }

    /// Makes a change that a form asks for.
    pub(super) fn make_change(&self, page_request: &PageRequest) -> Response<'static> {
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
        let mut page = self.new_page(page_request, server.redis_time());
        let label = shown.label.clone().filter(|_| shown.is_protected);
        let entered = field_value(&form, "label").unwrap_or_default().trim();
        let refused = if !self
            .token
            .is_form_token(field_value(&form, "token").unwrap_or_default())
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
        let mode = CommandRunMode::Confirmed { label };
        let output = match server.with_session(|session| (self.run)(&line, mode, session)) {
            Ok(output) => output,
            Err(error) => return failure_page(&page, &error, ""),
        };
        self.forget_snapshots_and_responses(page_request.context);
        let result_text =
            cut_result_rows_keeping_totals(sanitize_keeping_lines(&output.text).trim());
        match output.result {
            Ok(exit) => {
                let result_text = match (result_text.as_str(), exit) {
                    ("", Exit::Ok) => format!("{}: done.", change.button_text()),
                    _ => result_text,
                };
                let to = page.link(&change.next_page_path());
                let mark = if to.contains('?') { '&' } else { '?' };
                let to = format!(
                    "{to}{mark}did={}",
                    self.token.keep_result_under_new_name(result_text)
                );
                Response::text(Status::SeeOther, "done").with_header("Location", to)
            }
            Err(error) => failure_page(&page, &error, &result_text),
        }
    }

    /// Refuses a change that a page of another origin makes the browser request.
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

/// Cuts the rows of a result to [`MAX_RESULT_LINES`], since a change of a million jobs may have a row for each. Keeps
/// the totals: the last line that is not indented, and the details below it.
fn cut_result_rows_keeping_totals(result_text: &str) -> String {
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

/// The page after a change that ended with an error. `result_text` is what the command printed before the error: a
/// change of many jobs can fail after it has changed some.
fn failure_page(page: &PageFrame, error: &Error, result_text: &str) -> Response<'static> {
    let title = match error.exit() {
        Exit::Usage | Exit::NotFound | Exit::Conflict | Exit::NotConfirmed => "Nothing was changed",
        _ => "The change failed",
    };
    let main = html! {
        h1 { (title) "." }
        p { (sanitize_to_line(error.message().as_bytes())) }
        (hint_paragraph(error))
        @if !result_text.is_empty() { pre tabindex="0" { (result_text) } }
        p { a href=(page.link(".")) { "To the overview" } }
    };
    let content = PageContent {
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
