//! The page of a worker: the jobs that it holds, and the jobs whose locks it lost.

use maud::html;

use super::jobs::job_table;
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::name::Name;
use crate::session::Session;
use crate::text::format_count;
use crate::web::page::{
    NavigationSection, PageContent, PageFrame, link_or_text, name_or_empty_label,
};

/// Maximum number of jobs of the worker that are read and listed.
const MAX_JOBS: u64 = 200;

pub(in crate::web) fn content(
    page: &PageFrame,
    session: &mut Session,
    name: &Name,
) -> Result<PageContent, Error> {
    let found = session
        .core()?
        .worker_with_first_jobs(page.now, name, MAX_JOBS)?;
    let Some(worker) = found else {
        return Err(Error::not_found(format!("no worker is called `{name}`")));
    };
    let seen = worker.last_seen.map(|seen| page.time_text(seen));
    let seen = seen.map_or_else(
        || "was never seen".to_owned(),
        |seen| format!("was seen {seen}"),
    );
    // Jobs whose locks the worker lost are read first, so it holds all the omitted jobs.
    let holds = match worker.jobs.len() as u64 + worker.omitted_jobs {
        0 => "holds no job".to_owned(),
        jobs => format!("holds {}", format_count(jobs, "job", "jobs")),
    };
    let lost = match worker.stalled.len() as u64 {
        0 => String::new(),
        jobs => format!(
            ", and has lost the locks of {}",
            format_count(jobs, "job", "jobs")
        ),
    };
    let jobs = &worker.details;
    let main = html! {
        p.crumb { a href=(page.link("workers")) { "Workers" } " / " (name) }
        h1 { (name_or_empty_label(name)) " " (seen) ", " (holds) (lost) "." }
        div.acts { (page.command_block(&CommandLine::new("workers").with_name_argument(name))) }
        section {
            h2 { "Jobs" }
            @if jobs.is_empty() {
                p.none { "None. A job whose expired lock was extended is in the list of its queue alone." }
            } @else { (job_table(page, jobs)) }
            @if worker.omitted_jobs > 0 {
                p.more { (link_or_text(page.link_to_jobs_of("held-by", name), &format!("and {}", format_count(worker.omitted_jobs, "more", "more")))) }
            }
        }
    };
    Ok(PageContent::new(
        format!("{} {holds}", name_or_empty_label(name)),
        NavigationSection::Workers,
        main,
    ))
}
