//! The listener of `work --metrics`. It answers with the counts and the state of the worker, without a call to Redis.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use super::monitor::WorkMonitor;
use super::options::WorkOptions;
use crate::error::Error;
use crate::listen::{Listener, Request, Response, Status};
use crate::model::metrics::{PROMETHEUS_TYPE, prometheus_text};
use crate::session::Session;
use crate::threads;

/// The thread that answers requests. Dropping this ends the thread.
pub(super) struct MetricsServer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Opens the address, if one is given.
pub(super) fn bind(
    options: &WorkOptions,
    session: &mut Session,
) -> Result<Option<Listener>, Error> {
    let Some(address) = &options.metrics else {
        return Ok(None);
    };
    let access = options
        .access
        .read_access(|warning| session.ui.warn(warning))?;
    Listener::bind(address, access).map(Some)
}

impl MetricsServer {
    pub(super) fn start(
        listener: Listener,
        monitor: Arc<WorkMonitor>,
        session: &mut Session,
    ) -> Result<MetricsServer, Error> {
        let url = listener.url();
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = stop.clone();
        let serve = move || {
            let respond = |request: &Request| respond(request, &monitor);
            listener.serve(respond, || stop_flag.load(Ordering::Relaxed));
        };
        let thread = threads::spawn(serve)?;
        let note = format!("listening on {url} for /metrics, /livez and /readyz");
        session.ui.note(&note);
        Ok(MetricsServer {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wait for the thread: at its end it removes the socket from the file system.
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

fn respond(request: &Request, monitor: &WorkMonitor) -> Response<'static> {
    let now = Instant::now();
    let why_not = match request.path.as_str() {
        "/metrics" => {
            let text = prometheus_text(&monitor.metric_families(now), &[]);
            return Response::new(Status::Ok, PROMETHEUS_TYPE, text);
        }
        "/livez" => monitor.why_not_alive(now),
        "/readyz" => monitor.why_not_ready(now),
        _ => {
            let paths = "this listener has /metrics, /livez and /readyz";
            return Response::text(Status::NotFound, paths);
        }
    };
    match why_not {
        None => Response::text(Status::Ok, "ok"),
        Some(why) => Response::text(Status::ServiceUnavailable, why),
    }
}
