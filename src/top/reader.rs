//! Reads from a server what the screen shows, one request after the other.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::api::job::JobFields;
use crate::core::api::not_found;
use crate::core::api::overview::SnapshotRequest;
use crate::core::call::Core;
use crate::doctor;
use crate::error::Error;
use crate::exit::Exit;
use crate::explain;
use crate::look::{self, RECENT};
use crate::model::job::{Job, State};
use crate::model::overview::{GroupWithRecentFailures, SystemFacts};
use crate::name::Name;
use crate::session::Session;
use crate::text::{failure_summary_line, sanitize_to_line};
use crate::view::{RenderOptions, View};

/// Maximum number of jobs of a list.
const MAX_JOBS: u64 = 200;

/// Maximum size in bytes of a text on the screen. Each frame lays out the whole text again, so longer ones are cut.
const MAX_TEXT_BYTES: usize = 50_000;

/// Maximum number of dependencies and dependents of a job whose states are read.
const MAX_NEIGHBORS: usize = 100;

/// Maximum number of failure groups whose newest message is read. Those with the most recent failures come first.
const MAX_SAMPLED_GROUPS: usize = 20;

/// A request to read something from one of the servers, for a screen of `width` columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadRequest {
    pub server: usize,
    pub width: usize,
    pub what: ReadTarget,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ReadTarget {
    Snapshot(Vec<Name>),
    Jobs(JobSource),
    Text(TextSource),
}

/// Where the jobs of a list are from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JobSource {
    Queue(Name, State),
    Group(Name),
    Worker(Name),
}

/// What a text is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TextSource {
    Job(Name),
    ExplainJob(Name),
    ExplainQueue(Name),
    /// The whole server.
    Status,
}

/// The result of a request, and how long it took.
pub(super) struct ReaderReply {
    pub request: ReadRequest,
    pub found: Result<SnapshotJobsOrText, ErrorWithConnectionSteps>,
    pub elapsed: Duration,
    /// What the reading wrote to stderr.
    pub notes: String,
}

/// For each failure group, the line of its newest message that says what failed.
pub(super) type Samples = HashMap<Name, String>;

pub(super) enum SnapshotJobsOrText {
    Snapshot(Box<SystemFacts>, Samples, Moment),
    Jobs { jobs: Vec<Job>, total: u64 },
    Text(String),
}

/// Why a read failed, with the connection steps of `doctor` if the server does not answer.
pub(super) struct ErrorWithConnectionSteps {
    pub error: Error,
    pub steps: Vec<String>,
}

/// Answers the requests for one server until the screen is closed. Each server has a thread of its own: its reads
/// never overlap, and a server that does not answer delays no other.
pub(super) fn answer_requests(
    mut session: Session,
    requests: &Receiver<ReadRequest>,
    answers: &Sender<ReaderReply>,
) {
    let mut samples = FailureSampleCache::default();
    while let Ok(request) = requests.recv() {
        session.ui.begin_capture(false);
        let begun = Instant::now();
        let found = read_target(&mut session, &request, &mut samples).map_err(|error| {
            ErrorWithConnectionSteps {
                steps: doctor_lines_if_unreachable(&mut session, request.width, &error),
                error,
            }
        });
        let elapsed = begun.elapsed();
        let notes = String::from_utf8_lossy(&session.ui.end_capture()).into_owned();
        let answer = ReaderReply {
            request,
            found,
            elapsed,
            notes,
        };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

fn read_target(
    session: &mut Session,
    request: &ReadRequest,
    samples: &mut FailureSampleCache,
) -> Result<SnapshotJobsOrText, Error> {
    match &request.what {
        ReadTarget::Snapshot(queues) => {
            let request = SnapshotRequest {
                queues: queues.clone(),
                ..SnapshotRequest::default()
            };
            let (facts, now) = look::read_snapshot(RECENT, request, &[], session)?;
            let samples = samples.read_failure_samples(&facts, now, session)?;
            Ok(SnapshotJobsOrText::Snapshot(Box::new(facts), samples, now))
        }
        ReadTarget::Jobs(source) => read_jobs(session, source),
        ReadTarget::Text(source) => {
            let mut text = read_view_text(session, source, request.width)?;
            if text.len() > MAX_TEXT_BYTES {
                text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
                text.push_str("…\n… the rest: `w` shows the command\n");
            }
            Ok(SnapshotJobsOrText::Text(text))
        }
    }
}

/// A cache of the newest message of each failure group. A message is read again only if the counts of its group
/// have changed.
#[derive(Default)]
struct FailureSampleCache(HashMap<Name, (GroupWithRecentFailures, String)>);

impl FailureSampleCache {
    fn read_failure_samples(
        &mut self,
        facts: &SystemFacts,
        now: Moment,
        session: &mut Session,
    ) -> Result<Samples, Error> {
        let mut groups: Vec<&GroupWithRecentFailures> = facts.groups.iter().collect();
        groups.sort_by_key(|group| std::cmp::Reverse((group.recent, group.jobs)));
        groups.truncate(MAX_SAMPLED_GROUPS);
        self.0.retain(|name, (seen, _)| {
            groups
                .iter()
                .any(|group| group.group == *name && *group == seen)
        });
        groups.retain(|group| !self.0.contains_key(&group.group));
        if !groups.is_empty() {
            let newest = groups.iter().map(|group| (group.group.clone(), group.jobs));
            let newest = session
                .core()?
                .newest_failed_job_per_group(now, &newest.collect::<Vec<_>>())?;
            for (group, job) in groups.into_iter().zip(newest) {
                let failure = job.and_then(|job| job.failure);
                let line = failure.map(|failure| {
                    sanitize_to_line(failure_summary_line(failure.message.as_bytes()))
                });
                let sample = (group.clone(), line.unwrap_or_default());
                self.0.insert(group.group.clone(), sample);
            }
        }
        let samples = self.0.iter();
        Ok(samples
            .map(|(name, (_, line))| (name.clone(), line.clone()))
            .collect())
    }
}

fn read_jobs(session: &mut Session, source: &JobSource) -> Result<SnapshotJobsOrText, Error> {
    let now = session.connect()?;
    let core = session.core()?;
    let (jobs, total) = match source {
        JobSource::Worker(worker) => {
            let found = core.worker_with_first_jobs(now, worker, MAX_JOBS)?;
            let worker = found.unwrap_or_default();
            let total = worker.details.len() as u64 + worker.omitted_jobs;
            (worker.details, total)
        }
        JobSource::Group(group) => core.newest_jobs_and_total_of_group(now, group, MAX_JOBS)?,
        JobSource::Queue(queue, state) => read_first_jobs_and_total(core, now, queue, *state)?,
    };
    Ok(SnapshotJobsOrText::Jobs { jobs, total })
}

/// The first jobs of a queue in a state, and their total number. For `running` and `stalled`, which share one
/// index, the number counts only the jobs that were read.
fn read_first_jobs_and_total(
    core: &mut Core,
    now: Moment,
    queue: &Name,
    state: State,
) -> Result<(Vec<Job>, u64), Error> {
    let queue = queue.clone();
    let index = match state {
        State::Running | State::Stalled => Index::Locks(queue),
        State::Scheduled => Index::Scheduled(queue),
        State::Depends => Index::Depends(queue),
        State::Throttled => Index::Throttled(queue),
        _ => Index::Waiting(queue),
    };
    // The locks that have expired stand first.
    let from = match state {
        State::Running => {
            let total = core.index_range(now, &index, 0, 1)?.total;
            total.saturating_sub(MAX_JOBS)
        }
        _ => 0,
    };
    let slice = core.index_range(now, &index, from, MAX_JOBS)?;
    let jobs = core.jobs(now, JobFields::Brief, &slice.members)?;
    let mut jobs: Vec<Job> = jobs.into_iter().flatten().collect();
    if !matches!(state, State::Running | State::Stalled) {
        return Ok((jobs, slice.total));
    }
    jobs.retain(|job| job.state == Some(state));
    let total = jobs.len() as u64;
    Ok((jobs, total))
}

fn read_view_text(
    session: &mut Session,
    source: &TextSource,
    width: usize,
) -> Result<String, Error> {
    let now = session.connect()?;
    let core = session.core()?;
    let options = RenderOptions {
        now,
        ..RenderOptions::terminal_without_color(width)
    };
    let missing = |jid: &Name| not_found::missing_job_error(jid);
    match source {
        TextSource::Status => {
            let (facts, now) =
                look::read_snapshot(RECENT, SnapshotRequest::default(), &[], session)?;
            Ok(look::build_overview(facts, RECENT, now).text(&options))
        }
        TextSource::ExplainQueue(queue) => {
            Ok(explain::explain_queue(core, now, queue)?.text(&options))
        }
        TextSource::ExplainJob(jid) => {
            let jids = std::slice::from_ref(jid);
            let found = explain::explain_jobs(core, now, jids)?.pop().flatten();
            found
                .map(|found| found.text(&options))
                .ok_or_else(|| missing(jid))
        }
        TextSource::Job(jid) => {
            let jids = std::slice::from_ref(jid);
            let found = core.jobs(now, JobFields::Full, jids)?.pop().flatten();
            let mut job = found.ok_or_else(|| missing(jid))?;
            core.add_missing_merge_payloads(now, std::iter::once(&mut job))?;
            job.neighbors = core.first_dependencies_then_dependents(now, &job, MAX_NEIGHBORS)?;
            Ok(job.text(&options))
        }
    }
}

/// The lines that `doctor` prints about the connection steps. Empty unless `error` says that the server does not
/// answer.
fn doctor_lines_if_unreachable(session: &mut Session, width: usize, error: &Error) -> Vec<String> {
    if error.exit() != Exit::Server {
        return Vec::new();
    }
    let options = RenderOptions::terminal_without_color(width);
    match doctor::diagnose_with_short_timeouts(session) {
        Ok(found) => found.text(&options).lines().map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    }
}
