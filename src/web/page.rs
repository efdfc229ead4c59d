//! The frame of every page, and the words and links that pages share.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

use super::path;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::listen::Status;
use crate::model::job::State;
use crate::model::overview::SystemFacts;
use crate::name::{Name, escape_wildcards};
use crate::session::shown_server::ShownServer;
use crate::text::{self, format_bytes, format_rough_duration, with_thousands_separators};
pub(super) use crate::view::table::NONE;
use crate::view::{MomentFormat, RenderOptions};

/// How times are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum TimeFormat {
    #[default]
    Relative,
    Utc,
    Local,
}

/// The sections of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NavigationSection {
    Overview,
    Jobs,
    Failed,
    Workers,
    Recurring,
    Limits,
}

const SECTIONS: [(NavigationSection, &str, &str); 6] = [
    (NavigationSection::Overview, "Overview", "."),
    (NavigationSection::Jobs, "Jobs", "jobs"),
    (NavigationSection::Failed, "Failed", "failed"),
    (NavigationSection::Workers, "Workers", "workers"),
    (NavigationSection::Recurring, "Recurring", "recurring"),
    (NavigationSection::Limits, "Limits", "limits"),
];

/// A name that is too long for a link is cut to this number of characters.
const MAX_UNLINKED: usize = 60;

/// What surrounds the content of a page: the server, what links keep, and the format of times.
pub(super) struct PageFrame<'p> {
    /// The relative path from this page to the first page: `./`, or a `../` for each `/` in the path of this page.
    pub root: String,
    pub now: Moment,
    pub times: TimeFormat,
    /// Whether the page updates itself.
    pub is_live: bool,
    /// Whether lists show no data of jobs.
    pub hides_data: bool,
    /// Whether the page has buttons.
    pub has_changes: bool,
    pub server: &'p ShownServer,
    /// The names of all contexts, for a menu if there are several.
    pub contexts: &'p [String],
    /// The values of the query that links keep: the context, the format of times, and whether the page is live.
    pub kept_query: Vec<(&'static str, String)>,
    /// The result of the change that led to this page.
    pub result_text: Option<String>,
    /// The query of this page without the format of times. A link to this page in another format keeps these values.
    pub query: Vec<(String, String)>,
}

/// The parts in which pages differ.
pub(super) struct PageContent {
    pub status: Status,
    /// The first part of the browser's title.
    pub title: String,
    pub section: Option<NavigationSection>,
    pub main: Markup,
    /// Further parts of the footer.
    pub footer: Markup,
}

impl PageContent {
    pub(super) fn new(
        title: impl Into<String>,
        section: NavigationSection,
        main: Markup,
    ) -> PageContent {
        PageContent {
            status: Status::Ok,
            title: title.into(),
            section: Some(section),
            main,
            footer: html! {},
        }
    }
}

impl PageFrame<'_> {
    /// A link to a path below the first page, with the query values that all links keep.
    pub(super) fn link(&self, path: &str) -> String {
        self.link_with(path, self.kept_query.iter())
    }

    /// The path of the event stream of the server. Its query has only the context, so that browser tabs with different
    /// formats of times share one stream.
    fn event_stream_link(&self) -> String {
        let kept = self.kept_query.iter();
        self.link_with("live", kept.filter(|(name, _)| *name == "context"))
    }

    fn link_with<'k>(
        &self,
        path: &str,
        query: impl Iterator<Item = &'k (&'static str, String)>,
    ) -> String {
        let mut link = match path {
            "." => self.root.clone(),
            path => format!("{}{path}", self.root),
        };
        for (name, value) in query {
            link.push(if link.contains('?') { '&' } else { '?' });
            link.push_str(&format!("{name}={}", path::encode_query_value(value)));
        }
        link
    }

    /// A link to the page of a name, such as `queues/mail`. `None` if the name is too long for a link.
    pub(super) fn link_to(&self, kind: &str, name: &Name) -> Option<String> {
        path::fits_link_length(name)
            .then(|| self.link(&format!("{kind}/{}", path::encode_part(name))))
    }

    /// A link to the jobs whose `filter`, such as `queue`, is this name. `None` if the name cannot be typed into a
    /// form.
    pub(super) fn link_to_jobs_of(&self, filter: &str, name: &Name) -> Option<String> {
        let value = path::encode_query_value(&escape_wildcards(name).lossless_text());
        path::fits_link_and_argument(name).then(|| self.link(&format!("jobs?{filter}={value}")))
    }

    /// Whether the page has buttons for the queue, group or job with this name: if the page may change things, and the
    /// name fits into a link and into an argument of a command.
    pub(super) fn has_buttons_for(&self, name: &Name) -> bool {
        self.has_changes && path::fits_link_and_argument(name)
    }

    /// A text as a link to the page of a name. If the name is too long for a link, a note says so.
    fn name_link(&self, kind: &str, name: &Name, text: &str) -> Markup {
        match self.link_to(kind, name) {
            Some(href) => html! { a href=(href) { (text) } },
            None => {
                html! { (text::cut_with_ellipsis(text, MAX_UNLINKED)) " " span.dim { "(too long for a page)" } }
            }
        }
    }

    fn link_to_page_of(&self, kind: &str, name: &Name) -> Markup {
        self.name_link(kind, name, &name_or_empty_label(name))
    }

    pub(super) fn queue_link(&self, name: &Name) -> Markup {
        self.link_to_page_of("queues", name)
    }

    pub(super) fn group_link(&self, name: &Name) -> Markup {
        self.link_to_page_of("failed", name)
    }

    pub(super) fn worker_link(&self, name: &Name) -> Markup {
        self.link_to_page_of("workers", name)
    }

    /// A worker by a shorter name.
    pub(super) fn worker_link_with_text(&self, name: &Name, short: &str) -> Markup {
        let short = if short.is_empty() {
            name_or_empty_label(name)
        } else {
            short.to_owned()
        };
        self.name_link("workers", name, &short)
    }

    /// A jid that leads to the page of its job.
    pub(super) fn job_link(&self, jid: &Name) -> Markup {
        html! { span.mono { (self.link_to_page_of("jobs", jid)) } }
    }

    /// A job by its class, with a short jid.
    pub(super) fn job_link_by_class_and_short_jid(
        &self,
        klass: Option<&Name>,
        jid: &Name,
    ) -> Markup {
        html! {
            @if let Some(klass) = klass {
                (self.name_link("jobs", jid, &name_or_empty_label(klass))) " " span.mono.dim { (text::short_jid(jid)) }
            } @else { (self.job_link(jid)) }
        }
    }

    /// A moment: relative, with the exact one on hover, unless the request asks for another format.
    pub(super) fn time_element(&self, moment: Moment) -> Markup {
        let words = self.time_text(moment);
        let exact = moment.to_rfc3339();
        html! {
            @if let Some(exact) = exact {
                time datetime=(exact) title=(exact) { (words) }
            } @else { (words) }
        }
    }

    pub(super) fn time_text(&self, moment: Moment) -> String {
        match self.times {
            TimeFormat::Relative => {
                let age = self.now.since(moment);
                let words = format_rough_duration(age.abs());
                if age < 0.0 {
                    format!("in {words}")
                } else {
                    format!("{words} ago")
                }
            }
            TimeFormat::Utc => self.render_options().format_timestamp(moment),
            TimeFormat::Local => moment.to_local_text().unwrap_or_else(|| moment.to_string()),
        }
    }

    /// A moment of today as its hour and minute: in UTC unless the request asks for local times.
    pub(super) fn clock_element(&self, moment: Moment) -> Markup {
        let exact = moment.to_rfc3339().unwrap_or_default();
        let full = match self.times {
            TimeFormat::Local => moment.to_local_text().unwrap_or_default(),
            TimeFormat::Relative | TimeFormat::Utc => exact.clone(),
        };
        let words = full.get(11..16).unwrap_or(NONE);
        html! { time datetime=(exact) title=(exact) { (words) } }
    }

    /// A moment on the axis of a chart of the last hour.
    pub(super) fn axis_time_element(&self, moment: Moment) -> Markup {
        match self.times {
            TimeFormat::Relative if moment == self.now => html! { span { "now" } },
            TimeFormat::Relative => self.time_element(moment),
            TimeFormat::Utc | TimeFormat::Local => self.clock_element(moment),
        }
    }

    /// A moment of a history, to the millisecond: it shows which of two entries was first.
    pub(super) fn exact_time_element(&self, moment: Moment) -> Markup {
        let exact = moment.to_rfc3339().unwrap_or_else(|| moment.to_string());
        let is_of_today = self.now.since(moment).abs() < 43_200.0;
        let words = match self.times {
            TimeFormat::Relative if is_of_today => exact.get(11..23).unwrap_or(&exact),
            TimeFormat::Relative => exact.get(..19).unwrap_or(&exact),
            _ => return self.time_element(moment),
        };
        html! { time datetime=(exact) title=(exact) { (words.replace('T', " ")) } }
    }

    /// The options by which models write their texts for people.
    pub(super) fn render_options(&self) -> RenderOptions {
        RenderOptions {
            now: self.now,
            times: match self.times {
                TimeFormat::Relative => MomentFormat::Relative,
                TimeFormat::Utc | TimeFormat::Local => MomentFormat::Iso,
            },
            ..RenderOptions::terminal_without_color(100)
        }
    }

    /// The HTML of the whole page.
    pub(super) fn render_whole(&self, content: PageContent) -> Markup {
        let section =
            |section: NavigationSection| (content.section == Some(section)).then_some("page");
        let ShownServer { label, address, .. } = self.server;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (content.title) " · qless" }
                    link rel="icon" href={ (self.root) "icon.svg" };
                    link rel="stylesheet" href={ (self.root) "style.css" };
                    script src={ (self.root) "live.js" } defer {}
                }
                body data-live=(if self.is_live { "1" } else { "0" }) data-stream=(self.event_stream_link()) {
                    a.skip href="#main" { "To the content" }
                    header {
                        a.brand href=(self.link(".")) { i aria-hidden="true" { "▍" } "qless" }
                        nav aria-label="Pages" {
                            @for (at, name, to) in SECTIONS {
                                a href=(self.link(to)) aria-current=[section(at)] { (name) }
                            }
                        }
                        div.where {
                            @if let Some(label) = label {
                                span.label.bad[self.server.is_protected] { (text::sanitize_to_line(label)) }
                            }
                            @if self.contexts.len() > 1 { (self.context_menu()) }
                            span.address { (text::sanitize_to_line(address)) }
                            button.live type="button" hidden title="Space stops and continues" {}
                        }
                    }
                    main #main { (result_notice(self.result_text.clone())) (content.main) }
                    footer {
                        (content.footer)
                        span { "qless " (env!("CARGO_PKG_VERSION")) }
                        span.end {
                            @for (words, name) in [(TimeFormat::Relative, "ago"), (TimeFormat::Utc, "UTC"), (TimeFormat::Local, "local")] {
                                @if words == self.times { b { (name) } } @else { a href=(self.query_with_times(words)) { (name) } }
                                " "
                            }
                            " · " a href=(self.link("api/v1/status")) { "JSON" }
                            " · " a href=(self.link("metrics")) { "metrics" }
                        }
                    }
                }
            }
        }
    }

    /// The query that asks for this page with another format of times.
    fn query_with_times(&self, words: TimeFormat) -> String {
        let word: &str = words.into();
        let mut query = format!("?time={word}");
        for (name, value) in &self.query {
            let (name, value) = (
                path::encode_query_value(name),
                path::encode_query_value(value),
            );
            query.push_str(&format!("&{name}={value}"));
        }
        query
    }

    fn context_menu(&self) -> Markup {
        let own = self.server.context_or_prefix();
        html! {
            details.menu {
                summary { (own.map(text::sanitize_to_line).unwrap_or_else(|| "contexts".into())) }
                ul {
                    @for name in self.contexts {
                        li {
                            a href={ (self.root) "?context=" (path::encode_query_value(name)) }
                                aria-current=[(own == Some(name)).then_some("true")] { (text::sanitize_to_line(name)) }
                        }
                    }
                }
            }
        }
    }

    /// A command line, ready to be copied.
    pub(super) fn command_block(&self, line: &CommandLine) -> Markup {
        html! { @if let Some(line) = line.shell_line() { code.command tabindex="0" { (line) } } }
    }

    /// A button that leads to the confirmation of a change, such as `jobs/JID/retry`.
    pub(super) fn change_confirmation_link(&self, path: &str, word: &str, is_main: bool) -> Markup {
        html! { a.button.main[is_main] href=(self.link(path)) { (word) "…" } }
    }
}

/// A text, as a link if `href` is given.
pub(super) fn link_or_text(href: Option<String>, text: &str) -> Markup {
    html! { @match href { Some(href) => a href=(href) { (text) }, None => (text) } }
}

/// The path of a job's page.
pub(super) fn relative_job_path(jid: &Name) -> String {
    format!("jobs/{}", path::encode_part(jid))
}

/// A name as a page shows it. An empty name, which would be invisible, is shown as `(empty)`.
pub(super) fn name_or_empty_label(name: &Name) -> String {
    if name.is_empty() {
        "(empty)".to_owned()
    } else {
        name.to_string()
    }
}

pub(super) fn count_or_dash(count: u64) -> String {
    match count {
        0 => NONE.to_owned(),
        count => with_thousands_separators(count),
    }
}

/// A table cell with a count, gray if the count is 0.
pub(super) fn count_cell(number: u64) -> Markup {
    html! { td.n.dim[number == 0] { (count_or_dash(number)) } }
}

/// The state of a job as text, styled as a good, bad or quiet state.
pub(super) fn state_word(state: Option<State>, text: &str) -> Markup {
    let class = match state {
        Some(State::Failed | State::Stalled) => "state bad",
        Some(State::Running | State::Complete) => "state good",
        Some(State::Scheduled | State::Depends | State::Throttled) => "state quiet",
        _ => "state",
    };
    html! { span class=(class) { (text) } }
}

/// The footer about the server.
pub(super) fn server_footer(facts: &SystemFacts) -> Markup {
    html! {
        @if let Some(server) = &facts.server {
            span {
                "Redis " (text::sanitize_to_line(&server.version)) " · " (format_bytes(server.memory_bytes))
                @if server.max_memory_bytes > 0 { " of " (format_bytes(server.max_memory_bytes)) }
            }
        }
    }
}

/// Text that is already markup, such as a drawing.
pub(super) fn raw(markup: String) -> PreEscaped<String> {
    PreEscaped(markup)
}

/// Writes a name sanitized and HTML-escaped.
impl Render for Name {
    fn render_to(&self, buffer: &mut String) {
        name_or_empty_label(self).render_to(buffer);
    }
}

/// The result of a change, shown above the content of the next page.
fn result_notice(result_text: Option<String>) -> Markup {
    html! { @if let Some(result_text) = result_text { pre.notice role="status" { (result_text) } } }
}
