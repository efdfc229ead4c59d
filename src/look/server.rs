//! Answers to monitoring systems and load balancers: `/metrics`, `/livez`, `/readyz` and `/healthz`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::health;
use super::metrics::{SeriesChoice, metrics_without_redis, system_metrics};
use super::{RECENT, find_problems, look_since};
use crate::args::bound;
use crate::clock::moment::Moment;
use crate::core::script::Script;
use crate::error::Error;
use crate::exit::Exit;
use crate::listen::{CachedAnswer, Request, Response, Status};
use crate::model::health::{HealthLevel, Limits};
use crate::model::metrics::{Label, prometheus_text};
use crate::model::overview::SystemFacts;
use crate::name::Name;
use crate::session::Session;

/// How long a look stands for all who ask.
const INTERVAL: Duration = Duration::from_secs(1);

/// The type of the text format of Prometheus.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers requests from looks that it shares among them.
pub(crate) struct LookServer<'s> {
    session: Mutex<&'s mut Session>,
    shared: CachedAnswer<Arc<Look>>,
    choice: SeriesChoice,
    labels: Vec<Label>,
    /// The SHA of the script.
    core: String,
    /// Whether the last look failed.
    away: Mutex<bool>,
}

/// One look, or why there is none.
struct Look {
    facts: Result<(SystemFacts, Moment), Error>,
    took_s: f64,
}

impl<'s> LookServer<'s> {
    pub(crate) fn new(
        session: &'s mut Session,
        choice: SeriesChoice,
        labels: Vec<Label>,
    ) -> LookServer<'s> {
        LookServer {
            core: Script::new(session.prefix()).sha().to_owned(),
            session: Mutex::new(session),
            shared: CachedAnswer::new(INTERVAL),
            choice,
            labels,
            away: Mutex::new(false),
        }
    }

    /// The answer to a request.
    pub(crate) fn respond(&self, request: &Request) -> Response<'static> {
        match request.path.as_str() {
            "/metrics" => self.metrics(),
            "/livez" => Response::text(Status::Ok, "ok"),
            "/readyz" => match &self.look().facts {
                Ok(_) => Response::text(Status::Ok, "ok"),
                Err(error) => Response::text(Status::ServiceUnavailable, error.message()),
            },
            "/healthz" => self.health(&request.query),
            _ => Response::text(
                Status::NotFound,
                "this listener has /metrics, /livez, /readyz and /healthz",
            ),
        }
    }

    /// A look of its own, to learn whether there will ever be one. The error of a server that is away is kept for
    /// those who ask.
    pub(crate) fn try_look(&self) -> Result<(), Error> {
        match &self.look().facts {
            Ok(_) => Ok(()),
            Err(error) => Err(error.clone()),
        }
    }

    fn metrics(&self) -> Response<'static> {
        let look = self.look();
        let families = match &look.facts {
            Ok((facts, now)) => system_metrics(facts, &self.choice, &self.core, look.took_s, *now),
            Err(_) => metrics_without_redis(&self.core, look.took_s),
        };
        let text = prometheus_text(&families, &self.labels);
        Response::new(Status::Ok, PROMETHEUS, text)
    }

    /// The verdict of the limits in the query, a line for each.
    fn health(&self, query: &[(String, String)]) -> Response<'static> {
        let limits = match read_limits(query) {
            Ok(limits) => limits,
            Err(why) => return Response::text(Status::BadRequest, why),
        };
        let mut look = self.look();
        let (groups, queues) = limits.named();
        // Of very many, the shared look may lack those that are asked for.
        if let Ok((facts, _)) = &look.facts
            && facts.omitted().groups + facts.omitted().queues > 0
            && !(groups.is_empty() && queues.is_empty())
        {
            look = Arc::new(self.read(groups, queues));
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

    fn look(&self) -> Arc<Look> {
        self.shared
            .get(|| Arc::new(self.read(Vec::new(), self.choice.named_queues())))
    }

    /// Looks, and says on stderr when Redis is lost and when it is back.
    fn read(&self, groups: Vec<Name>, queues: Vec<Name>) -> Look {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        let facts = look_since(RECENT, true, groups, queues, &mut session);
        let look = Look {
            took_s: begun.elapsed().as_secs_f64(),
            facts,
        };
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        match (&look.facts, *away) {
            (Err(error), false) if may_heal(error) => session.ui.warn(&error.message()),
            (Ok(_), true) => session.ui.note("Redis answers again"),
            _ => {}
        }
        *away = look.facts.is_err();
        look
    }
}

/// The limits in a query: `max-waiting=mail:1000,5000`.
fn read_limits(query: &[(String, String)]) -> Result<Limits, String> {
    let mut limits = Limits::default();
    for (name, value) in query {
        let (bounds, parse): (&mut Vec<_>, bound::ParseBound) = match name.as_str() {
            "max-waiting" => (&mut limits.max_waiting, bound::count_bound),
            "max-head-wait" => (&mut limits.max_head_wait, bound::duration_bound),
            "max-failed" => (&mut limits.max_failed, bound::count_bound),
            "max-stalled" => (&mut limits.max_stalled, bound::count_bound),
            "max-paused" => (&mut limits.max_paused, bound::duration_bound),
            "min-workers" => (&mut limits.min_workers, bound::plain_count_bound),
            _ => return Err(format!("`{name}` is none of the limits of `qless health`")),
        };
        // A colon stands for `=`, which means something else in a query.
        let typed = match value.rsplit_once(':') {
            Some((subject, values)) if !value.contains('=') => format!("{subject}={values}"),
            _ => value.clone(),
        };
        let bound = parse(&typed);
        bounds.push(bound.map_err(|wrong| wrong.refusal_sentence(name, value))?);
    }
    Ok(limits)
}

/// Whether a listener may start although the first look failed: Redis may come back.
pub(crate) fn may_heal(error: &Error) -> bool {
    error.exit() == Exit::Server
}
