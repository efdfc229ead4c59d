//! The page that replaces a page that cannot be shown: Redis does not answer, or the job or queue does not exist.

use maud::{Markup, html};

use crate::command_line::add_destination_to_commands;
use crate::error::Error;
use crate::exit::Exit;
use crate::listen::Status;
use crate::model::doctor::{Diagnosis, DoctorItem, DoctorLevel};
use crate::text::{Sanitized, capitalize, sanitize_to_line};
use crate::web::page::{PageContent, PageFrame};

/// The page about an error. `diagnose` runs the checks of `doctor`, and is called only if Redis does not answer.
pub(in crate::web) fn content(
    page: &PageFrame,
    error: &Error,
    status: Status,
    diagnose: impl FnOnce() -> Result<Diagnosis, Error>,
) -> PageContent {
    let is_away = error.exit() == Exit::Server;
    let title = if is_away {
        "Redis does not answer"
    } else {
        "Not shown"
    };
    let main = html! {
        h1 { (if is_away { title.to_owned() } else { error_sentence(error) }) }
        @if is_away {
            // `live.js` shows this section above the last page that it could load.
            section.away aria-label=(title) {
                p { b { (title) } " " (error_sentence(error)) }
                details open { summary { "Steps to the server" } (diagnosis_list(diagnose())) }
            }
            p { "This page tries again by itself." }
        }
        (hint_paragraph(error))
        @if !is_away { p { a href=(page.link(".")) { "To the overview" } } }
    };
    PageContent {
        status,
        title: title.to_owned(),
        section: None,
        main,
        footer: html! {},
    }
}

/// The next step after an error.
pub(in crate::web) fn hint_paragraph(error: &Error) -> Markup {
    html! { @if let Some(hint) = error.hint_text() { p.dim { (sanitize_to_line(add_destination_to_commands(hint))) } } }
}

fn error_sentence(error: &Error) -> String {
    capitalize(&Sanitized(&*error.message()).to_string()) + "."
}

fn diagnosis_list(found: Result<Diagnosis, Error>) -> Markup {
    html! {
        @match found {
            Ok(found) => { ul.checks { @for item in &found.items { (check_line(item)) } } }
            Err(error) => { p.dim { (Sanitized(&*error.message()).to_string()) } }
        }
    }
}

fn check_line(item: &DoctorItem) -> Markup {
    let (mark, words) = match item.level {
        DoctorLevel::Ok => ("✓", "ok"),
        DoctorLevel::Warning => ("!", "warning"),
        DoctorLevel::Error => ("✗", "error"),
        DoctorLevel::Skipped => ("·", "not checked"),
    };
    html! {
        li.(words.replace(' ', "-")) {
            i aria-label=(words) { (mark) }
            b { (item.check.into_str()) }
            span { (sanitize_to_line(&item.what)) @if let Some(hint) = &item.hint { " – " (sanitize_to_line(hint)) } }
        }
    }
}
