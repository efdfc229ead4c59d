//! Responses to monitoring systems and load balancers at `/metrics`, `/livez`, `/readyz` and `/healthz`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::health;
use super::metrics::{SeriesChoice, metrics_after_error, system_metrics};
use super::{RECENT, find_problems, read_snapshot};
use crate::args::health_limit::parse_health_limits_in_url;
use crate::clock::Clock;
use crate::clock::moment::Moment;
use crate::core::api::overview::SnapshotRequest;
use crate::core::call::{Core, may_answer_later};
use crate::core::script::Script;
use crate::error::{Error, Kind};
use crate::listen::{CachedValue, Request, Response, Status, lock_within};
use crate::model::health::HealthLevel;
use crate::model::metrics::{Label, PROMETHEUS_TYPE, prometheus_text};
use crate::model::overview::SystemFacts;
use crate::model::overview::history::JobRateHistory;
use crate::model::pattern::NamePattern;
use crate::name::Name;
use crate::session::Session;

/// Maximum number of cached snapshots. Each reads other groups and queues first.
const MAX_NAMED: usize = 32;

/// Maximum time that a request waits for the connection to Redis, for the reply to a call, or for a snapshot that
/// another request reads.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Answers HTTP requests from snapshots of the system, which the requests share.
pub(crate) struct SnapshotHttpResponder<'s> {
    /// Reads the snapshots. It has a session of its own, because a search or a change may use `session` for long.
    reader: Mutex<SnapshotSession>,
    session: Mutex<&'s mut Session>,
    history: Mutex<JobRateHistory>,
    clock: Mutex<Clock>,
    /// How long a snapshot is used before a new one is read.
    interval: Duration,
    /// The cached snapshots, each under the groups, queues and globs that it reads first.
    shared: Mutex<HashMap<ReadFirst, Arc<CachedSnapshot>>>,
    choice: SeriesChoice,
    labels: Vec<Label>,
    /// The SHA of the script.
    core: String,
}

/// Groups, queues, and globs over queues.
type ReadFirst = (Vec<Name>, Vec<Name>, Vec<Name>);

type CachedSnapshot = CachedValue<Arc<SnapshotOrError>>;

/// The session that reads the snapshots.
struct SnapshotSession {
    session: Session,
    /// Whether the last read failed.
    is_away: bool,
}

/// A snapshot of the system, or the error of its read.
pub(crate) struct SnapshotOrError {
    pub facts: Result<(SystemFacts, Moment), Error>,
    /// When it was complete.
    pub at: Instant,
    took_s: f64,
    /// The text for Prometheus. It is made for the first request of `/metrics`.
    text: OnceLock<String>,
}

impl<'s> SnapshotHttpResponder<'s> {
    pub(crate) fn new(
        session: &'s mut Session,
        choice: SeriesChoice,
        labels: Vec<Label>,
        interval: Duration,
    ) -> SnapshotHttpResponder<'s> {
        SnapshotHttpResponder {
            clock: Mutex::new(session.clock().clone()),
            core: Script::new(session.prefix()).sha().to_owned(),
            interval,
            reader: Mutex::new(SnapshotSession {
                session: session.with_own_connection(),
                is_away: false,
            }),
            session: Mutex::new(session),
            history: Mutex::default(),
            shared: Mutex::default(),
            choice,
            labels,
        }
    }

    pub(crate) fn respond(&self, request: &Request) -> Response<'static> {
        self.respond_to(&request.path, &request.query)
    }

    pub(crate) fn respond_to(&self, path: &str, query: &[(String, String)]) -> Response<'static> {
        match path {
            "/metrics" => self.metrics(),
            "/livez" => Response::text(Status::Ok, "ok"),
            "/readyz" => match &self.fresh_snapshot().facts {
                Ok(_) => Response::text(Status::Ok, "ok"),
                Err(error) => Response::text(Status::ServiceUnavailable, error.message()),
            },
            "/healthz" => self.health(query),
            _ => Response::text(
                Status::NotFound,
                "this listener has /metrics, /livez, /readyz and /healthz",
            ),
        }
    }

    /// Reads a snapshot. Fails only on an error that no later attempt can overcome. An unreachable server may come
    /// back.
    pub(crate) fn fail_if_permanently_unreadable(&self) -> Result<(), Error> {
        match &self.fresh_snapshot().facts {
            Err(error) if !may_answer_later(error) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn metrics(&self) -> Response<'static> {
        let snapshot = self.fresh_snapshot();
        let text = snapshot.text.get_or_init(|| {
            let families = match &snapshot.facts {
                Ok((facts, now)) => {
                    system_metrics(facts, &self.choice, &self.core, snapshot.took_s, *now)
                }
                Err(error) => metrics_after_error(error, &self.core, snapshot.took_s),
            };
            prometheus_text(&families, &self.labels)
        });
        Response::new(Status::Ok, PROMETHEUS_TYPE, text.as_str())
    }

    /// The response to `/healthz`: judges the health by the limits in the query string, and returns the line of a
    /// Nagios plugin.
    fn health(&self, query: &[(String, String)]) -> Response<'static> {
        let limits = match parse_health_limits_in_url(query) {
            Ok(limits) => limits,
            Err(why) => return Response::text(Status::BadRequest, why),
        };
        let mut snapshot = self.fresh_snapshot();
        let request = SnapshotRequest {
            groups: limits.queue_or_group_names(true),
            queues: limits.queue_or_group_names(false),
            spreads: true,
            ..SnapshotRequest::default()
        };
        let globs = limits.queue_globs();
        let is_named = !(request.groups.is_empty() && request.queues.is_empty());
        // With more than 500 groups or queues, the shared snapshot may lack those that the limits name. Use a snapshot
        // that reads them first.
        if let Ok((facts, _)) = &snapshot.facts
            && facts.omitted().groups + facts.omitted().queues > 0
            && (is_named || !globs.is_empty())
        {
            snapshot = self.read_shared_snapshot(request, &globs);
        }
        let (facts, now) = match &snapshot.facts {
            Ok(facts) => facts,
            Err(error) => return Response::text(Status::ServiceUnavailable, error.message()),
        };
        let problems = find_problems(facts, RECENT, *now);
        let health = health::judge_health(facts, &problems, &limits, *now);
        let status = if health.level == HealthLevel::Ok {
            Status::Ok
        } else {
            Status::ServiceUnavailable
        };
        Response::text(status, health.nagios_line().trim_end())
    }

    /// How long the snapshot of all pages is used before a new one is read. The time grows while reads are slow.
    pub(crate) fn snapshot_interval(&self) -> Duration {
        self.snapshot_cache_entry(&self.choice.snapshot_request(), &self.choice.queue_globs())
            .interval()
    }

    /// The snapshot of all pages. Reads a new one if it is older than the interval.
    pub(crate) fn fresh_snapshot(&self) -> Arc<SnapshotOrError> {
        self.read_shared_snapshot(self.choice.snapshot_request(), &self.choice.queue_globs())
    }

    /// Drops the cached snapshots after a change, so that the next pages show the change.
    pub(crate) fn forget_snapshots(&self) {
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        all.clear();
    }

    /// Calls `read` with the session. If the last snapshot failed, first reads a new one, and fails with its error: so
    /// a request does not wait for an unreachable server.
    pub(crate) fn read_if_reachable<T>(
        &self,
        read: impl FnOnce(&mut Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.retry_failed_snapshot()?;
        self.with_session(read)?
    }

    /// If the last snapshot failed, reads a new one. Fails if the new one fails, too.
    pub(crate) fn retry_failed_snapshot(&self) -> Result<(), Error> {
        let snapshot =
            self.snapshot_cache_entry(&self.choice.snapshot_request(), &self.choice.queue_globs());
        if snapshot.has_failed() {
            self.fresh_snapshot().facts.as_ref().map_err(Error::clone)?;
        }
        Ok(())
    }

    /// Calls `act` with the session, which no other request uses meanwhile. Fails if another request uses it for too
    /// long.
    pub(crate) fn with_session<T>(&self, act: impl FnOnce(&mut Session) -> T) -> Result<T, Error> {
        let mut session = lock_within(&self.session, PATIENCE).ok_or_else(waited_too_long_error)?;
        // Fail immediately if the connection is lost. The next request tries again.
        session.core()?.stop_waiting_for_lost_server();
        Ok(act(&mut session))
    }

    /// Says something on stderr.
    pub(crate) fn warn_on_stderr(&self, why: &Error) {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.session.ui.warn(&why.message());
    }

    /// The present time of the Redis server, by the clock that the last snapshot set.
    pub(crate) fn redis_time(&self) -> Moment {
        let clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        clock.now()
    }

    /// Calls `act` with the history of all snapshots so far.
    pub(crate) fn with_snapshot_history<T>(&self, act: impl FnOnce(&mut JobRateHistory) -> T) -> T {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        act(&mut history)
    }

    fn read_shared_snapshot(
        &self,
        request: SnapshotRequest,
        globs: &[NamePattern],
    ) -> Arc<SnapshotOrError> {
        let shared = self.snapshot_cache_entry(&request, globs);
        let snapshot = shared.get(PATIENCE, || {
            Arc::new(self.read_snapshot_now(request, globs))
        });
        snapshot.unwrap_or_else(|| {
            Arc::new(SnapshotOrError::new(Err(waited_too_long_error()), PATIENCE))
        })
    }

    /// The cache entry for the snapshot that reads these groups, queues and globs first.
    fn snapshot_cache_entry(
        &self,
        request: &SnapshotRequest,
        globs: &[NamePattern],
    ) -> Arc<CachedSnapshot> {
        let globs_as_typed = globs.iter().map(NamePattern::as_typed).collect();
        let first = (
            request.groups.clone(),
            request.queues.clone(),
            globs_as_typed,
        );
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_NAMED && !all.contains_key(&first) {
            all.clear();
        }
        let is_success = |snapshot: &Arc<SnapshotOrError>| snapshot.facts.is_ok();
        let new = || Arc::new(CachedValue::new(self.interval, is_success));
        Arc::clone(all.entry(first).or_insert_with(new))
    }

    /// Reads a snapshot. Reports on stderr when reads begin to fail, and when they succeed again.
    fn read_snapshot_now(
        &self,
        request: SnapshotRequest,
        globs: &[NamePattern],
    ) -> SnapshotOrError {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        let core = reader
            .session
            .core()
            .map(Core::stop_waiting_for_lost_server);
        let facts = core.and_then(|()| read_snapshot(RECENT, request, globs, &mut reader.session));
        if let Ok((facts, now)) = &facts {
            self.with_snapshot_history(|history| history.add_snapshot(facts, *now, self.interval));
            let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
            clock.clone_from(reader.session.clock());
        }
        let was_away = std::mem::replace(&mut reader.is_away, facts.is_err());
        let ui = &mut reader.session.ui;
        match &facts {
            Err(error) if !was_away => ui.warn(&error.message()),
            Ok(_) if was_away => ui.note("note: the queues can be read again"),
            _ => {}
        }
        SnapshotOrError::new(facts, begun.elapsed())
    }
}

impl SnapshotOrError {
    fn new(facts: Result<(SystemFacts, Moment), Error>, took: Duration) -> SnapshotOrError {
        SnapshotOrError {
            took_s: took.as_secs_f64(),
            at: Instant::now(),
            facts,
            text: OnceLock::new(),
        }
    }
}

/// The error of a request that waited too long while an earlier request used the session or read a snapshot.
pub(crate) fn waited_too_long_error() -> Error {
    let within = humantime::format_duration(PATIENCE);
    let why = format!("an earlier request did not get its answer from Redis within {within}");
    Error::new(Kind::Timeout, why)
        .hint("a search or a change may take long, or Redis does not answer")
}
