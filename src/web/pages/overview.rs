//! The first page: a headline, the problems that need attention, the main figures, queues, failures, workers, and how
//! long jobs waited and ran.

use maud::{Markup, html};

use super::queues::queue_table;
use super::workers::worker_table;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::look::server::SnapshotHttpResponder;
use crate::look::{self, RECENT};
use crate::model::job::Job;
use crate::model::overview::headline::Headline;
use crate::model::overview::{
    GroupWithRecentFailures, Overview, ProblemCode, StatusProblem, SystemFacts,
};
use crate::model::stats::DurationSpread;
use crate::name::Name;
use crate::text::{self, Sanitized, format_count, format_duration, with_thousands_separators};
use crate::web::chart;
use crate::web::facts_of;
use crate::web::page::{NONE, NavigationSection, PageContent, PageFrame, server_footer};

/// Maximum number of queues, failed groups and workers on this page. Each kind has a page of its own with all.
const MAX_QUEUES: usize = 40;
const MAX_GROUPS: usize = 6;
const MAX_WORKERS: usize = 12;

pub(in crate::web) fn content(
    page: &mut PageFrame,
    server: &SnapshotHttpResponder,
) -> Result<PageContent, Error> {
    let snapshot = server.fresh_snapshot();
    let (facts, now) = facts_of(&snapshot)?;
    page.now = now;
    let mut groups = facts.groups.clone();
    groups.sort_by_key(|group| std::cmp::Reverse((group.recent, group.jobs)));
    groups.truncate(MAX_GROUPS);
    let newest = server.read_if_reachable(|session| read_newest_failures(&groups, now, session))?;
    let overview = look::build_overview(facts.clone(), RECENT, now);
    let headline = Headline::new(&overview);
    let main = html! {
        section.headline {
            h1 { (headline.sentence()) }
            (problem_list(&overview.problems, page))
        }
        (headline_figures(&overview, facts, server))
        section {
            h2 { "Queues" small { i.key.put {} "put" i.key.done {} "done, last hour" } }
            (queue_table(page, facts, server, MAX_QUEUES))
        }
        div.two {
            section {
                h2 { "Failed" }
                (group_list(page, &groups, &newest, facts, server))
            }
            section {
                h2 { "Workers" }
                (worker_table(page, facts, MAX_WORKERS))
            }
        }
        (wait_and_run_histograms(facts, &overview))
    };
    let first = headline.line_parts().into_iter().next().unwrap_or_default();
    let since = server.with_snapshot_history(|history| history.oldest_watched_minute());
    Ok(PageContent {
        footer: html! {
            (server_footer(facts))
            @if let Some(since) = since { span { "watching since " (page.clock_element(since)) } }
        },
        ..PageContent::new(first, NavigationSection::Overview, main)
    })
}

fn read_newest_failures(
    groups: &[GroupWithRecentFailures],
    now: Moment,
    session: &mut crate::session::Session,
) -> Result<Vec<Option<Job>>, Error> {
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let groups = groups.iter().map(|group| (group.group.clone(), group.jobs));
    let groups: Vec<(Name, u64)> = groups.collect();
    session.core()?.newest_failed_job_per_group(now, &groups)
}

/// The problems that need attention, worst first, each with the next step.
fn problem_list(problems: &[StatusProblem], page: &PageFrame) -> Markup {
    html! {
        @if !problems.is_empty() {
            ul.needs {
                @for problem in problems {
                    li.bad[!problem.code.is_mild()] data-key=(stable_problem_key(problem)) { (problem_line(problem, page)) }
                }
            }
        }
    }
}

/// The group, queue or worker that a problem is about, if it is about one.
fn problem_subject(problem: &StatusProblem) -> Option<String> {
    let subject = problem.group.as_ref().or(problem.queue.as_ref());
    subject.or(problem.worker.as_ref()).map(Name::to_string)
}

/// A key by which the updated page finds the same problem: its code and subject, since its figures and ages change.
fn stable_problem_key(problem: &StatusProblem) -> String {
    let subject = problem_subject(problem).unwrap_or_default();
    format!("{} {subject}", problem.code.as_str())
}

fn problem_line(problem: &StatusProblem, page: &PageFrame) -> Markup {
    let subject = problem_subject(problem);
    let fact = Sanitized(&problem.fact).to_string();
    // The subject is shown in bold before the sentence: remove it from the beginning of the sentence.
    let rest = subject.as_ref().and_then(|name| {
        let rest = fact.strip_prefix(name.as_str())?;
        Some(
            rest.strip_prefix(':')
                .unwrap_or(rest)
                .trim_start()
                .to_owned(),
        )
    });
    let step = next_step_link(problem, page);
    let fix = problem.form.as_ref().and_then(CommandLine::shell_line);
    html! {
        span.what {
            @match (subject, rest) {
                (Some(name), Some(rest)) => { b { (name) } " " span { (rest) } }
                _ => span { (fact) }
            }
        }
        @match step {
            Some((href, words)) => a.do href=(href) { (words) },
            None => { @if let Some(line) = fix { code.do { (line) } } }
        }
    }
}

/// The page that helps with a problem.
fn next_step_link(problem: &StatusProblem, page: &PageFrame) -> Option<(String, &'static str)> {
    let own = |kind: &str, name: &Option<Name>| page.link_to(kind, name.as_ref()?);
    let (own, words, all, all_words) = match problem.code {
        ProblemCode::Failing => (
            own("failed", &problem.group),
            "look and retry",
            "failed",
            "see all",
        ),
        ProblemCode::Stalled => (
            own("workers", &problem.worker),
            "see the job",
            "jobs?state=stalled",
            "see the jobs",
        ),
        ProblemCode::Late | ProblemCode::Throttle | ProblemCode::Lane => (
            own("queues", &problem.queue),
            "see why",
            "queues",
            "see all",
        ),
        ProblemCode::Paused => (own("queues", &problem.queue), "open", "queues", "see all"),
        ProblemCode::NoWorkers | ProblemCode::WorkersSilent => {
            (None, "", "workers", "see the workers")
        }
        ProblemCode::SilentHolder => (
            own("workers", &problem.worker),
            "see its jobs",
            "workers",
            "see the workers",
        ),
        ProblemCode::LateRecurring => (None, "", "recurring", "see them"),
        ProblemCode::Damaged
        | ProblemCode::Eviction
        | ProblemCode::Memory
        | ProblemCode::Persistence
        | ProblemCode::Replica => return None,
    };
    Some(own.map_or_else(|| (page.link(all), all_words), |own| (own, words)))
}

/// The five figures below the headline: waiting, running, done, oldest wait, failed.
fn headline_figures(
    overview: &Overview,
    facts: &SystemFacts,
    server: &SnapshotHttpResponder,
) -> Markup {
    let totals = &overview.totals;
    let flow = server.with_snapshot_history(|history| history.rates_of_all_queues());
    let slots = facts.workers.iter().map(|worker| worker.process.slots);
    // Only workers of `qless` report their slots. With any other worker, the total is unknown (`None`).
    let slots: Option<u64> = slots.sum();
    let running_on = facts.workers.iter().filter(|worker| worker.running > 0);
    let running_on = running_on.count() as u64;
    let running = match slots.filter(|slots| *slots > 0) {
        Some(slots) => format!("running in {slots} slots"),
        None if running_on == 0 => "running".to_owned(),
        None => format!(
            "running on {}",
            format_count(running_on, "worker", "workers")
        ),
    };
    let oldest = overview.waits.first().map(|wait| wait.wait_s.0);
    let stalled = match totals.queued.stalled {
        0 => String::new(),
        stalled => format!(", {} stalled", with_thousands_separators(stalled)),
    };
    let done = match (flow.done_per_s, flow.put_per_s) {
        (Some(done), Some(put)) => (
            chart::format_rate(Some(done)),
            format!("done, {} put", chart::format_rate(Some(put))),
        ),
        _ => (
            with_thousands_separators(overview.today.completed),
            "done today".to_owned(),
        ),
    };
    let groups = format_count(totals.groups, "group", "groups");
    let failed = match overview.omitted.groups {
        0 => format!("failed in {groups}"),
        _ => format!("at least, failed in {groups}"),
    };
    let is_late = overview
        .problems
        .iter()
        .any(|problem| problem.code == ProblemCode::Late);
    html! {
        div.sums {
            (figure_box(with_thousands_separators(totals.queued.waiting), "waiting", false))
            (figure_box(with_thousands_separators(totals.queued.running), &format!("{running}{stalled}"), false))
            (figure_box(done.0, &done.1, false))
            (figure_box(oldest.map_or(NONE.into(), format_duration), "oldest wait", is_late))
            (figure_box(with_thousands_separators(totals.failed), &failed, totals.failed > 0))
        }
    }
}

fn figure_box(figure: String, words: &str, is_bad: bool) -> Markup {
    html! { div.bad[is_bad] { b { (figure) } span { (words) } } }
}

/// The groups with the largest number of recent failures, each with its newest message.
fn group_list(
    page: &PageFrame,
    groups: &[GroupWithRecentFailures],
    newest: &[Option<Job>],
    facts: &SystemFacts,
    server: &SnapshotHttpResponder,
) -> Markup {
    let more = facts.group_count.saturating_sub(groups.len() as u64);
    html! {
        @if groups.is_empty() { p.none { "Nothing has failed." } }
        ul.fails {
            @for (group, job) in groups.iter().zip(newest) {
                li data-key=(group.group) {
                    (group_line(page, &group.group, group.jobs, job.as_ref()))
                    (chart::failure_chart(&server.with_snapshot_history(|history| history.failures_per_ten_minutes(&group.group))))
                }
            }
        }
        @if more > 0 { p.more { a href=(page.link("failed")) { "and " (format_count(more, "other group", "other groups")) } } }
    }
}

/// A group with its newest failure.
pub(super) fn group_line(
    page: &PageFrame,
    group: &Name,
    jobs: u64,
    newest: Option<&Job>,
) -> Markup {
    let failure = newest.and_then(|job| job.failure.as_ref());
    let queue = newest.and_then(|job| job.queue.as_ref());
    html! {
        p.head { b { (page.group_link(group)) } " " span.n.late { (with_thousands_separators(jobs)) } }
        @if let Some(failure) = failure {
            p.sample { (Sanitized(text::failure_summary_line(failure.message.as_bytes())).to_string()) }
            p.meta {
                "last"
                @if let Some(queue) = queue { " in " (page.queue_link(queue)) }
                @if let Some(when) = failure.when { " " (page.time_element(when)) }
            }
        }
    }
}

/// How long jobs waited and ran today.
fn wait_and_run_histograms(facts: &SystemFacts, overview: &Overview) -> Markup {
    let waits: Vec<&DurationSpread> = facts
        .queues
        .iter()
        .filter_map(|queue| queue.wait.as_ref())
        .collect();
    let runs: Vec<&DurationSpread> = facts
        .queues
        .iter()
        .filter_map(|queue| queue.run.as_ref())
        .collect();
    let oldest = overview.waits.first().map(|wait| wait.wait_s.0);
    html! {
        div.two.even {
            section { (chart::histogram("How long jobs waited today", &waits, oldest)) }
            section { (chart::histogram("How long jobs ran today", &runs, None)) }
        }
    }
}
