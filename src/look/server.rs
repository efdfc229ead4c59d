//! Responses to monitoring systems and load balancers: `/metrics`, `/livez`, `/readyz` and `/healthz`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::health;
use super::metrics::{SeriesChoice, metrics_after_error, system_metrics};
use super::{RECENT, find_problems, look_at};
use crate::args::bound::query_limits;
use crate::clock::Clock;
use crate::clock::moment::Moment;
use crate::core::api::overview::LookRequest;
use crate::core::call::{Core, may_answer_later};
use crate::core::script::Script;
use crate::error::{Error, Kind};
use crate::listen::{CachedValue, Request, Response, Status, lock_within};
use crate::model::health::HealthLevel;
use crate::model::metrics::{Label, PROMETHEUS_TYPE, prometheus_text};
use crate::model::overview::SystemFacts;
use crate::model::overview::history::History;
use crate::model::pattern::Pattern;
use crate::name::Name;
use crate::session::Session;

/// Maximum number of sets of named groups and queues whose looks are kept apart.
const MAX_NAMED: usize = 32;

/// The longest that a request waits for Redis, whoever has asked it: for its connection, for a call, and for a look
/// that another request makes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Answers requests from looks that it shares among them.
pub(crate) struct LookServer<'s> {
    /// Apart from the session, which a search or a change may use for long.
    reader: Mutex<Reader>,
    session: Mutex<&'s mut Session>,
    history: Mutex<History>,
    clock: Mutex<Clock>,
    /// How long a look stands for all who ask.
    interval: Duration,
    /// The snapshots, by the groups, queues and globs that each of them reads before all others.
    shared: Mutex<HashMap<ReadFirst, Arc<SharedLook>>>,
    choice: SeriesChoice,
    labels: Vec<Label>,
    /// The SHA of the script.
    core: String,
}

/// Groups, queues, and globs over queues.
type ReadFirst = (Vec<Name>, Vec<Name>, Vec<Name>);

type SharedLook = CachedValue<Arc<Look>>;

struct Reader {
    session: Session,
    /// Whether the last look failed.
    is_away: bool,
}

/// One look, or why there is none.
pub(crate) struct Look {
    pub facts: Result<(SystemFacts, Moment), Error>,
    /// When it was complete.
    pub at: Instant,
    took_s: f64,
    /// The text for Prometheus, once a request has asked for it.
    text: OnceLock<String>,
}

impl<'s> LookServer<'s> {
    pub(crate) fn new(
        session: &'s mut Session,
        choice: SeriesChoice,
        labels: Vec<Label>,
        interval: Duration,
    ) -> LookServer<'s> {
        LookServer {
            clock: Mutex::new(session.clock().clone()),
            core: Script::new(session.prefix()).sha().to_owned(),
            interval,
            reader: Mutex::new(Reader {
                session: session.copy(),
                is_away: false,
            }),
            session: Mutex::new(session),
            history: Mutex::default(),
            shared: Mutex::default(),
            choice,
            labels,
        }
    }

    /// The response to a request.
    pub(crate) fn respond(&self, request: &Request) -> Response<'static> {
        self.respond_to(&request.path, &request.query)
    }

    /// The response to a request for a path.
    pub(crate) fn respond_to(&self, path: &str, query: &[(String, String)]) -> Response<'static> {
        match path {
            "/metrics" => self.metrics(),
            "/livez" => Response::text(Status::Ok, "ok"),
            "/readyz" => match &self.look().facts {
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

    /// Looks once. An error if there will never be a look; a server that is away may come back.
    pub(crate) fn try_look(&self) -> Result<(), Error> {
        match &self.look().facts {
            Err(error) if !may_answer_later(error) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn metrics(&self) -> Response<'static> {
        let look = self.look();
        let text = look.text.get_or_init(|| {
            let families = match &look.facts {
                Ok((facts, now)) => {
                    system_metrics(facts, &self.choice, &self.core, look.took_s, *now)
                }
                Err(error) => metrics_after_error(error, &self.core, look.took_s),
            };
            prometheus_text(&families, &self.labels)
        });
        Response::new(Status::Ok, PROMETHEUS_TYPE, text.as_str())
    }

    /// The verdict of the limits in the query, in the line of a plugin.
    fn health(&self, query: &[(String, String)]) -> Response<'static> {
        let limits = match query_limits(query) {
            Ok(limits) => limits,
            Err(why) => return Response::text(Status::BadRequest, why),
        };
        let mut look = self.look();
        let request = LookRequest {
            groups: limits.names(true),
            queues: limits.names(false),
            spreads: true,
            ..LookRequest::default()
        };
        let globs = limits.queue_globs();
        let is_named = !(request.groups.is_empty() && request.queues.is_empty());
        // Of very many, the look of all may lack those that are asked for.
        if let Ok((facts, _)) = &look.facts
            && facts.omitted().groups + facts.omitted().queues > 0
            && (is_named || !globs.is_empty())
        {
            look = self.shared_look(request, &globs);
        }
        let (facts, now) = match &look.facts {
            Ok(facts) => facts,
            Err(error) => return Response::text(Status::ServiceUnavailable, error.message()),
        };
        let problems = find_problems(facts, RECENT, *now);
        let health = health::judge(facts, &problems, &limits, *now);
        let status = if health.level == HealthLevel::Ok {
            Status::Ok
        } else {
            Status::ServiceUnavailable
        };
        Response::text(status, health.nagios_line().trim_end())
    }

    /// How long the look of all stands now: longer if looks have become slow.
    pub(crate) fn interval(&self) -> Duration {
        self.shared(&self.choice.request(), &self.choice.globs())
            .interval()
    }

    /// The look of all, a new one if the last is older than the interval.
    pub(crate) fn look(&self) -> Arc<Look> {
        self.shared_look(self.choice.request(), &self.choice.globs())
    }

    /// Drops the looks, so that the next ones show what has just been changed.
    pub(crate) fn forget_looks(&self) {
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        all.clear();
    }

    /// Reads with the session. While Redis is away, this is found by the looks.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&mut Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let look = self.shared(&self.choice.request(), &self.choice.globs());
        if look.has_failed() {
            self.look().facts.as_ref().map_err(Error::clone)?;
        }
        self.with_session(read)?
    }

    /// Uses the session. Nothing else uses it at the same time.
    pub(crate) fn with_session<T>(&self, act: impl FnOnce(&mut Session) -> T) -> Result<T, Error> {
        let mut session = lock_within(&self.session, PATIENCE).ok_or_else(overdue_error)?;
        // The next request tries again: no request need wait now for a server that is lost.
        session.core()?.report_loss_immediately();
        Ok(act(&mut session))
    }

    /// Says something on stderr.
    pub(crate) fn warn(&self, why: &Error) {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.session.ui.warn(&why.message());
    }

    /// The server's time, as of the last look.
    pub(crate) fn now(&self) -> Moment {
        let clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        clock.now()
    }

    /// Uses what the looks so far have counted.
    pub(crate) fn with_history<T>(&self, act: impl FnOnce(&mut History) -> T) -> T {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        act(&mut history)
    }

    fn shared_look(&self, request: LookRequest, globs: &[Pattern]) -> Arc<Look> {
        let shared = self.shared(&request, globs);
        let look = shared.get(PATIENCE, || Arc::new(self.look_now(request, globs)));
        look.unwrap_or_else(|| Arc::new(Look::new(Err(overdue_error()), PATIENCE)))
    }

    /// The looks that read these before all others.
    fn shared(&self, request: &LookRequest, globs: &[Pattern]) -> Arc<SharedLook> {
        let globs_as_typed = globs.iter().map(Pattern::as_typed).collect();
        let first = (
            request.groups.clone(),
            request.queues.clone(),
            globs_as_typed,
        );
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_NAMED && !all.contains_key(&first) {
            all.clear();
        }
        let is_success = |look: &Arc<Look>| look.facts.is_ok();
        let new = || Arc::new(CachedValue::new(self.interval, is_success));
        Arc::clone(all.entry(first).or_insert_with(new))
    }

    /// Looks, and says on stderr when there is no look any more, and when there is one again.
    fn look_now(&self, request: LookRequest, globs: &[Pattern]) -> Look {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        let core = reader.session.core().map(Core::report_loss_immediately);
        let facts = core.and_then(|()| look_at(RECENT, request, globs, &mut reader.session));
        if let Ok((facts, now)) = &facts {
            self.with_history(|history| history.note(facts, *now, self.interval));
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
        Look::new(facts, begun.elapsed())
    }
}

impl Look {
    fn new(facts: Result<(SystemFacts, Moment), Error>, took: Duration) -> Look {
        Look {
            took_s: took.as_secs_f64(),
            at: Instant::now(),
            facts,
            text: OnceLock::new(),
        }
    }
}

/// The error of a request that has waited for another one.
pub(crate) fn overdue_error() -> Error {
    let within = humantime::format_duration(PATIENCE);
    let why = format!("an earlier request did not get its answer from Redis within {within}");
    Error::new(Kind::Timeout, why)
        .hint("a search or a change may take long, or Redis does not answer")
}
