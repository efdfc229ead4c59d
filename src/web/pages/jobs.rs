//! The page that searches jobs: a form with conditions, and the jobs that match them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::{Duration, Instant};

use clap::{Args as _, FromArgMatches as _};
use maud::{Markup, html};
use strum::VariantArray;

use crate::args::plain;
use crate::args::shared::Selector;
use crate::command_line::CommandLine;
use crate::core::api::job::JobFields;
use crate::error::Error;
use crate::listen::Status;
use crate::model::job::{Job, State};
use crate::name::Name;
use crate::select::JobSearch;
use crate::session::Session;
use crate::text::{Sanitized, format_count, sanitize_to_line, with_thousands_separators};
use crate::web::PageRequest;
use crate::web::page::{NONE, NavigationSection, PageContent, PageFrame, state_word};
use crate::web::path;

/// How many jobs one page has.
const JOBS_PER_PAGE: u64 = 50;

/// How much of each job's data is kept for the list, in bytes.
const MAX_DATA_BYTES: usize = 400;

/// The longest time of a search.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(4);

/// The fields of the form: the name, which is also the name of a flag of `qless jobs`, the label, and an example.
const FORM_FIELDS: [(&str, &str, &str); 7] = [
    ("queue", "Queue", "mail or img-*"),
    ("group", "Failed group", "timeout"),
    ("klass", "Class", "Mail::*"),
    ("tag", "Tag", "eu"),
    ("held-by", "Worker", "mx-1*"),
    ("older-than", "Older than", "10m"),
    ("where", "Data", "user.id=42"),
];

pub(in crate::web) fn content(
    page: &PageFrame,
    session: &mut Session,
    request: &PageRequest,
) -> Result<PageContent, Error> {
    let query = |name: &str| request.query_value(name).unwrap_or_default().trim();
    let offset: u64 = query("offset").parse().unwrap_or(0);
    let mut flags: Vec<String> = Vec::new();
    for name in FORM_FIELDS.iter().map(|(name, ..)| *name).chain(["state"]) {
        if !query(name).is_empty() {
            flags.push(format!("--{name}={}", query(name)));
        }
    }
    let found = find_jobs(page, session, &flags, offset);
    let (list, title) = match found {
        Ok(found) => {
            let title = match found.total {
                Some(total) => format_count(total, "job", "jobs"),
                None if found.jobs.is_empty() => "No job".to_owned(),
                None => format!(
                    "{} and perhaps more",
                    format_count(found.jobs.len() as u64, "job", "jobs")
                ),
            };
            (job_list(page, &found, offset, request), title)
        }
        // If Redis does not answer, show the error page. For other errors show the form again, so that the user can
        // correct it.
        Err(error) if crate::core::call::may_answer_later(&error) => return Err(error),
        Err(error) => {
            let message = Sanitized(&*error.message()).to_string();
            (
                html! { p.none role="alert" { (message) } },
                "Jobs".to_owned(),
            )
        }
    };
    let line = match flags.as_slice() {
        [] => CommandLine::new("jobs").with_word("--all"),
        flags => flags.iter().fold(CommandLine::new("jobs"), |line, flag| {
            let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
            line.with_flag(name, Name::from_lossless_text(value))
        }),
    };
    let main = html! {
        h1 { (title) }
        form.filter action=(page.link("jobs")) method="get" {
            label {
                span { "State" }
                select name="state" {
                    option value="" { "any" }
                    @for state in State::VARIANTS {
                        option value=(state.into_str()) selected[query("state") == state.into_str()] { (state.into_str()) }
                    }
                }
            }
            @for (name, label, example) in FORM_FIELDS {
                label { span { (label) } input name=(name) value=(query(name)) placeholder=(example) autocomplete="off"; }
            }
            @for (name, value) in &page.kept_query { input type="hidden" name=(name) value=(value); }
            button.main type="submit" { "Show" }
        }
        div.acts { (page.command_block(&line)) }
        section { (list) }
    };
    Ok(PageContent::new(title, NavigationSection::Jobs, main))
}

/// Whether the search uses the query value with this name.
pub(in crate::web) fn is_search_value(name: &str) -> bool {
    matches!(name, "state" | "offset") || FORM_FIELDS.iter().any(|(known, ..)| *known == name)
}

/// The page that refuses a search while two other searches run.
pub(in crate::web) fn busy_content() -> PageContent {
    let main = html! {
        h1 { "Another search is still running." }
        p { "Two searches run at a time, for up to 4 seconds each. Load this page again." }
    };
    PageContent {
        status: Status::ServiceUnavailable,
        ..PageContent::new(
            "Another search is still running",
            NavigationSection::Jobs,
            main,
        )
    }
}

/// The jobs of a page of the list.
struct FoundJobs {
    jobs: Vec<Job>,
    /// The number of matching jobs, if it is known.
    total: Option<u64>,
    /// Whether the time limit ended the search early.
    was_cut: bool,
}

fn find_jobs(
    page: &PageFrame,
    session: &mut Session,
    flags: &[String],
    offset: u64,
) -> Result<FoundJobs, Error> {
    let mut selector = parse_selector(flags)?;
    selector.limit = Some(JOBS_PER_PAGE);
    selector.offset = offset;
    selector.refuse_contradictions()?;
    let begun = Instant::now();
    let core = session.core()?;
    let mut search = JobSearch::start(core, page.now, &selector, JobFields::BriefExcerpt)?;
    let (mut jobs, mut was_cut) = (Vec::new(), false);
    while let Some(mut slice) = search.next_jobs(core)? {
        // A search with a condition on the data reads all data of each job: keep only the beginning in memory.
        slice
            .iter_mut()
            .for_each(|job| job.data.keep_first_bytes(MAX_DATA_BYTES));
        jobs.append(&mut slice);
        if begun.elapsed() > MAX_SEARCH_TIME {
            was_cut = true;
            break;
        }
    }
    core.set_failed_dependency_counts(page.now, jobs.iter_mut().collect())?;
    let total = if was_cut {
        None
    } else {
        search.total_matches(core)?
    };
    Ok(FoundJobs {
        jobs,
        total,
        was_cut,
    })
}

/// Parses the fields of the form as flags of `qless jobs`.
fn parse_selector(flags: &[String]) -> Result<Selector, Error> {
    let command = Selector::augment_args(clap::Command::new("jobs").no_binary_name(true));
    let argv = flags
        .iter()
        .map(|flag| OsString::from_vec(Name::from_lossless_text(flag).into_bytes()));
    let all = flags.is_empty().then(|| OsString::from("--all"));
    let refused = |error: clap::Error| Error::usage(plain::first_error_line(&error));
    let matches = command
        .try_get_matches_from(argv.chain(all))
        .map_err(refused)?;
    Selector::from_arg_matches(&matches).map_err(refused)
}

fn job_list(page: &PageFrame, found: &FoundJobs, offset: u64, request: &PageRequest) -> Markup {
    let shown = found.jobs.len() as u64;
    let has_more = shown == JOBS_PER_PAGE && found.total.is_none_or(|total| offset + shown < total);
    html! {
        @if found.jobs.is_empty() {
            p.none { "No job matches." }
        } @else {
            (job_table(page, &found.jobs))
        }
        @if found.was_cut { p.none { "The search was ended after 4 seconds: a queue or a group narrows it." } }
        nav.pages aria-label="Parts of the list" {
            @if offset > 0 { a href=(query_from_offset(request, offset.saturating_sub(JOBS_PER_PAGE))) { "← before" } }
            @if shown > 0 {
                span.dim {
                    (with_thousands_separators(offset + 1)) " to " (with_thousands_separators(offset + shown))
                    @if let Some(total) = found.total { " of " (with_thousands_separators(total)) }
                }
            }
            @if has_more { a href=(query_from_offset(request, offset + JOBS_PER_PAGE)) { "after →" } }
        }
    }
}

/// The query of the part of this list that begins at an offset.
fn query_from_offset(request: &PageRequest, offset: u64) -> String {
    let mut query = format!("?offset={offset}");
    for (name, value) in request.query.iter().filter(|(name, _)| name != "offset") {
        let (name, value) = (
            path::encode_query_value(name),
            path::encode_query_value(value),
        );
        query.push_str(&format!("&{name}={value}"));
    }
    query
}

/// Jobs, a row each.
pub(super) fn job_table(page: &PageFrame, jobs: &[Job]) -> Markup {
    let options = page.render_options();
    html! {
        table.jobs data-rows {
            thead {
                tr {
                    th scope="col" { "Job" } th scope="col" { "Queue" } th scope="col" { "State" }
                    th.wide scope="col" { "Detail" } @if !page.hides_data { th.wide scope="col" { "Data" } }
                }
            }
            tbody {
                @for job in jobs {
                    tr data-key=(job.jid) {
                        th scope="row" { (page.job_link_by_class_and_short_jid(job.klass.as_ref(), &job.jid)) }
                        td { @match &job.queue { Some(queue) => (page.queue_link(queue)), None => (NONE) } }
                        td { (state_word(job.state, &job.state_word())) }
                        td.wide.dim.cut { (sanitize_to_line(job.state_detail(&options))) }
                        @if !page.hides_data { td.wide.mono.dim.cut { (data_start(job)) } }
                    }
                }
            }
        }
    }
}

/// The first 80 characters of a job's data, for a list.
fn data_start(job: &Job) -> String {
    crate::text::cut_with_ellipsis(&sanitize_to_line(job.data.as_bytes()), 80)
}
