//! The groups of failures.

use maud::html;

use super::overview::group_line;
use crate::error::Error;
use crate::look::server::SnapshotHttpResponder;
use crate::model::overview::at_least_prefix;
use crate::name::Name;
use crate::text::{capitalize, format_count};
use crate::web::page::{NavigationSection, PageContent, PageFrame, server_footer};
use crate::web::{chart, facts_of};

/// Maximum number of groups that are shown.
const MAX_SHOWN: usize = 100;

pub(in crate::web) fn content(
    page: &mut PageFrame,
    server: &SnapshotHttpResponder,
) -> Result<PageContent, Error> {
    let snapshot = server.fresh_snapshot();
    let (facts, now) = facts_of(&snapshot)?;
    page.now = now;
    let groups = facts.groups.iter().filter(|group| group.jobs > 0);
    let mut groups: Vec<(Name, u64)> = groups
        .map(|group| (group.group.clone(), group.jobs))
        .collect();
    let count = facts.group_count;
    let jobs: u64 = groups.iter().map(|(_, jobs)| jobs).sum();
    groups.sort_by_key(|(_, jobs)| std::cmp::Reverse(*jobs));
    groups.truncate(MAX_SHOWN);
    let newest = server
        .read_if_reachable(|session| session.core()?.newest_failed_job_per_group(now, &groups))?;
    let title = match jobs {
        0 => "Nothing has failed".to_owned(),
        jobs => capitalize(&format!(
            "{}{} failed in {}",
            at_least_prefix(facts.omitted().groups),
            format_count(jobs, "job has", "jobs have"),
            format_count(count, "group", "groups")
        )),
    };
    let more = count.saturating_sub(groups.len() as u64);
    let main = html! {
        h1 { (title) }
        section {
            ul.fails data-rows {
                @for ((group, jobs), job) in groups.iter().zip(&newest) {
                    li data-key=(group) {
                        (group_line(page, group, *jobs, job.as_ref()))
                        (chart::failure_chart(&server.with_snapshot_history(|history| history.failures_per_ten_minutes(group))))
                    }
                }
            }
            @if more > 0 { p.more { "and " (format_count(more, "other group", "other groups")) } }
        }
    };
    Ok(PageContent {
        footer: server_footer(facts),
        ..PageContent::new(title, NavigationSection::Failed, main)
    })
}
