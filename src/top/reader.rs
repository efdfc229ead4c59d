//! Reads what the screen asks for, one thing after the other.

use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::api::job::JobFields;
use crate::core::api::not_found;
use crate::core::api::overview::LookRequest;
use crate::doctor;
use crate::error::Error;
use crate::explain;
use crate::look::{self, RECENT};
use crate::model::job::{Job, State as JobState};
use crate::model::overview::SystemFacts;
use crate::name::Name;
use crate::session::Session;
use crate::view::{RenderOptions, View};

/// The most jobs of a list.
const ROWS: u64 = 200;

/// What is asked, of which of the servers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ask {
    pub place: usize,
    pub what: Wanted,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wanted {
    Look(Vec<Name>),
    Jobs(JobSource),
    Text(TextSource),
}

/// Where the jobs of a list are from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JobSource {
    Queue(Name, JobState),
    Group(Name),
    Worker(Name),
}

/// What a text is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TextSource {
    Job(Name),
    ExplainJob(Name),
    ExplainQueue(Name),
}

/// An answer, and how long it took.
pub(super) struct Answer {
    pub ask: Ask,
    pub found: Result<Found, Away>,
    pub took: Duration,
    /// What was noted meanwhile.
    pub notes: String,
}

pub(super) enum Found {
    Look(Box<SystemFacts>, Moment),
    Jobs { jobs: Vec<Job>, total: u64 },
    Text(String),
}

/// Why there is no answer, and the steps to the server.
pub(super) struct Away {
    pub error: Error,
    pub steps: Vec<String>,
}

pub(super) fn run(sessions: &mut [Session], asked: &Receiver<Ask>, answers: &Sender<Answer>) {
    while let Ok(ask) = asked.recv() {
        let Some(session) = sessions.get_mut(ask.place) else {
            continue;
        };
        session.ui.begin_capture(false);
        let begun = Instant::now();
        let found = read(session, &ask.what).map_err(|error| Away {
            steps: steps_to_server(session, &error),
            error,
        });
        let took = begun.elapsed();
        let notes = String::from_utf8_lossy(&session.ui.end_capture()).into_owned();
        if answers
            .send(Answer {
                ask,
                found,
                took,
                notes,
            })
            .is_err()
        {
            return;
        }
    }
}

fn read(session: &mut Session, wanted: &Wanted) -> Result<Found, Error> {
    match wanted {
        Wanted::Look(queues) => {
            let request = LookRequest {
                queues: queues.clone(),
                ..LookRequest::default()
            };
            let (facts, now) = look::look_at(RECENT, request, &[], session)?;
            Ok(Found::Look(Box::new(facts), now))
        }
        Wanted::Jobs(source) => read_jobs(session, source),
        Wanted::Text(source) => read_text(session, source).map(Found::Text),
    }
}

fn read_jobs(session: &mut Session, source: &JobSource) -> Result<Found, Error> {
    let now = session.connect()?;
    let core = session.core()?;
    let (jids, total) = match source {
        JobSource::Worker(worker) => {
            let found = core.worker_with_jobs(now, worker)?;
            let jobs = found.map(|worker| worker.details).unwrap_or_default();
            let total = jobs.len() as u64;
            return Ok(Found::Jobs { jobs, total });
        }
        JobSource::Group(group) => {
            let index = Index::Failed(group.clone());
            let total = core.index_slice(now, &index, 0, 1)?.total;
            // The list has the oldest first.
            let slice = core.index_slice(now, &index, total.saturating_sub(ROWS), ROWS)?;
            (slice.members.into_iter().rev().collect(), slice.total)
        }
        JobSource::Queue(queue, state) => {
            let queue = queue.clone();
            let index = match state {
                JobState::Running | JobState::Stalled => Index::Locks(queue),
                JobState::Scheduled => Index::Scheduled(queue),
                JobState::Depends => Index::Depends(queue),
                JobState::Throttled => Index::Throttled(queue),
                _ => Index::Waiting(queue),
            };
            let slice = core.index_slice(now, &index, 0, ROWS)?;
            (slice.members, slice.total)
        }
    };
    let jids: Vec<Name> = jids;
    let jobs = core.jobs(now, JobFields::Brief, &jids)?;
    let mut jobs: Vec<Job> = jobs.into_iter().flatten().collect();
    if let JobSource::Queue(_, state @ (JobState::Running | JobState::Stalled)) = source {
        jobs.retain(|job| job.state == Some(*state));
        let total = jobs.len() as u64;
        return Ok(Found::Jobs { jobs, total });
    }
    Ok(Found::Jobs { jobs, total })
}

fn read_text(session: &mut Session, source: &TextSource) -> Result<String, Error> {
    let now = session.connect()?;
    let core = session.core()?;
    let page = RenderOptions {
        now,
        ..RenderOptions::terminal(100)
    };
    let missing = |jid: &Name| not_found::missing_job(jid);
    match source {
        TextSource::ExplainQueue(queue) => {
            Ok(explain::explain_queue(core, now, queue)?.text(&page))
        }
        TextSource::ExplainJob(jid) => {
            let jids = std::slice::from_ref(jid);
            let found = explain::explain_jobs(core, now, jids)?.pop().flatten();
            found
                .map(|found| found.text(&page))
                .ok_or_else(|| missing(jid))
        }
        TextSource::Job(jid) => {
            let jids = std::slice::from_ref(jid);
            let found = core.jobs(now, JobFields::Full, jids)?.pop().flatten();
            let mut job = found.ok_or_else(|| missing(jid))?;
            core.add_payloads(now, std::iter::once(&mut job))?;
            if !(job.dependencies.is_empty() && job.dependents.is_empty()) {
                job.neighbors = core.dependency_neighbors(now, &job)?;
            }
            Ok(job.text(&page))
        }
    }
}

/// What `doctor` says of the way to the server, if that is what is wrong.
fn steps_to_server(session: &mut Session, error: &Error) -> Vec<String> {
    if error.exit() != crate::exit::Exit::Server {
        return Vec::new();
    }
    let page = RenderOptions::terminal(100);
    match doctor::diagnose(session) {
        Ok(found) => found.text(&page).lines().map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    }
}
