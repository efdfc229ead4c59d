//! JSON for programs: the documents of the commands, and statistics in the format of Lowkiq, another job queue.

use serde::{Serialize, Serializer};

use super::{
    CommandOutput, CommandRunMode, PageRequest, SharedResponse, WebServer, facts_of, status_of,
};
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::listen::Status;
use crate::model::ending::exhausted_retries_group;
use crate::model::overview::SystemFacts;
use crate::model::queue::QueuedCounts;
use crate::model::queue::RoundedSeconds;
use crate::name::{Name, escape_invalid_utf8, escape_wildcards};
use crate::view::json;

const JSON: &str = "application/json; charset=utf-8";

impl WebServer<'_> {
    /// The document at a path below `api/`.
    pub(super) fn response_of_api_command(&self, page_request: &PageRequest) -> SharedResponse {
        let (status, text) = match self.run_command_of_api_path(page_request) {
            Ok(text) => (Status::Ok, text),
            Err(error) => (
                status_of(&error),
                json::compact_line(&error).unwrap_or_default(),
            ),
        };
        SharedResponse::new(status, JSON, text)
    }

    fn run_command_of_api_path(&self, page_request: &PageRequest) -> Result<Vec<u8>, Error> {
        let words = page_request.path_parts();
        let command = match words.as_slice() {
            [b"api", b"v1", b"stats"] => return self.stats_in_lowkiq_format(page_request),
            [b"api", b"v1", b"status"] => CommandLine::new("status"),
            [b"api", b"v1", b"queues"] => CommandLine::new("queues"),
            [b"api", b"v1", b"queues", _] => CommandLine::new("queues")
                .with_name_argument(escape_wildcards(&page_request.names[3])),
            [b"api", b"v1", b"jobs", _] => {
                CommandLine::new("get").with_name_argument(&page_request.names[3])
            }
            [b"api", b"v1", b"failed"] => CommandLine::new("failed"),
            [b"api", b"v1", b"workers"] => CommandLine::new("workers"),
            _ => return Err(Error::not_found("there is no such document")),
        };
        let context = &self.contexts[page_request.context];
        let CommandOutput { text, result } = context.with_document_session(|session| {
            (self.run)(&command, CommandRunMode::Document, session)
        })?;
        result.map(|_| text)
    }

    /// The statistics document that the web page of Lowkiq requests. What Lowkiq calls a worker is a queue here.
    fn stats_in_lowkiq_format(&self, page_request: &PageRequest) -> Result<Vec<u8>, Error> {
        let snapshot = self.contexts[page_request.context].server.fresh_snapshot();
        let (facts, now) = facts_of(&snapshot)?;
        json::pretty_value(&LowkiqStatsDocument::new(facts, now)).map_err(Error::internal)
    }
}

/// The figures of a queue, or of all queues.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct LowkiqQueueStats {
    /// Jobs that are neither complete nor failed.
    length: u64,
    /// Jobs in the group for used-up retries.
    morgue_length: u64,
    /// How long the oldest job has waited.
    lag: RoundedSeconds,
}

#[derive(Debug, Serialize)]
struct LowkiqStatsDocument {
    total: LowkiqQueueStats,
    #[serde(serialize_with = "serialize_stats_by_queue_name")]
    by_worker: Vec<(Name, LowkiqQueueStats)>,
}

impl LowkiqStatsDocument {
    fn new(facts: &SystemFacts, now: Moment) -> LowkiqStatsDocument {
        let dead = |queue: &Name| {
            let own = exhausted_retries_group(queue);
            let group = facts.groups.iter().find(|group| group.group == own);
            group.map_or(0, |group| group.jobs)
        };
        let by_worker = facts.queues.iter().map(|queue| {
            let name = queue.counts.name.clone();
            let mut counts = QueuedCounts::default();
            queue.counts.add_to_counts(&mut counts);
            let stats = LowkiqQueueStats {
                length: counts.total(),
                morgue_length: dead(&name),
                lag: RoundedSeconds(queue.oldest_job_wait(now).map_or(0.0, |wait| wait.wait_s.0)),
            };
            (name, stats)
        });
        let by_worker: Vec<(Name, LowkiqQueueStats)> = by_worker.collect();
        let mut total = LowkiqQueueStats::default();
        for (_, stats) in &by_worker {
            total.length += stats.length;
            total.morgue_length += stats.morgue_length;
            total.lag.0 = total.lag.0.max(stats.lag.0);
        }
        LowkiqStatsDocument { total, by_worker }
    }
}

/// A map from the names of the queues, escaped if they are not UTF-8.
fn serialize_stats_by_queue_name<S: Serializer>(
    queues: &[(Name, LowkiqQueueStats)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let names = queues
        .iter()
        .map(|(name, stats)| (escape_invalid_utf8(name.as_bytes()), stats));
    serializer.collect_map(names)
}
