//! The pages of `qless web`, as HTML. The style sheet and the script are part of the binary.
//!
//! Pages show snapshots and make the calls of other commands. All browsers share a response for an interval, so that
//! ten browsers cost the server what one does. Without a request, nothing is read from the server.

mod api;
mod assets;
mod change;
mod chart;
mod live;
mod page;
mod pages;
mod path;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use self::change::{FormTokenAndResults, WebChange};
use self::page::{PageContent, PageFrame, TimeFormat};
use crate::args::invalid::Invalid;
use crate::args::value;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::doctor;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::listen::{CachedValue, MAX_CONNECTIONS, Method, Request, Response, Status, lock_within};
use crate::look::metrics::SeriesChoice;
use crate::look::server::{
    PATIENCE, SnapshotHttpResponder, SnapshotOrError, waited_too_long_error,
};
use crate::model::doctor::Diagnosis;
use crate::name::Name;
use crate::session::Session;
use crate::session::shown_server::ShownServer;
use crate::threads;

/// Maximum size of all responses in memory, in bytes: in the cache, or not yet read to the end by a client. A single
/// response may be larger if no other is in memory.
const MAX_HELD_BYTES: usize = 64 << 20;

/// A response up to this size, in bytes, is sent even beyond [`MAX_HELD_BYTES`].
const SMALL: usize = MAX_HELD_BYTES / MAX_CONNECTIONS;

/// How long a search waits for another search to end, if both sessions for searches are in use.
const SEARCH_PATIENCE: Duration = Duration::from_millis(500);

/// Maximum number of pages and documents in the cache. A full cache is emptied.
const MAX_SHARED_RESPONSES: usize = 64;

const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// A page may load only files of this listener, and no page of another server may frame it.
const CONTENT_POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// How a command is run for a page.
#[derive(Clone, Debug)]
pub(crate) enum CommandRunMode {
    /// The command prints its result as a JSON document.
    Document,
    /// The command prints the plan of its change, and changes nothing.
    DryRun,
    /// The command makes its change. In a protected context, `label` is the context's label, which the user entered.
    Confirmed { label: Option<String> },
}

/// What a command printed, and its exit code or error.
pub(crate) struct CommandOutput {
    pub text: Vec<u8>,
    pub result: Result<Exit, Error>,
}

/// Runs a command in this process, and returns what it prints.
pub(crate) type RunCommand =
    dyn Fn(&CommandLine, CommandRunMode, &mut Session) -> CommandOutput + Sync;

/// The flags that concern the pages.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct WebOptions {
    /// How often the page is new
    #[arg(long, value_name = "D", value_parser = value::positive_duration, default_value = "2s")]
    interval: Duration,
    /// Add buttons that change jobs and queues
    #[arg(long)]
    pub allow_changes: bool,
    /// Show no data of jobs in lists
    #[arg(long)]
    hide_data: bool,
    /// A path in front of all others, for a proxy that does not remove it
    #[arg(long, value_name = "PATH", value_parser = parse_base_path, default_value = "", hide_default_value = true)]
    pub base_path: String,
}

/// Reads the value of `--base-path`: empty, or a path that begins with `/`. Removes slashes at its end.
fn parse_base_path(given: &str) -> Result<String, Invalid> {
    let path = given.trim_end_matches('/');
    let is_plain = path
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte));
    // Refuse the segments `.` and `..`: a browser removes them from a path before it requests the path.
    let mut segments = path
        .strip_prefix('/')
        .into_iter()
        .flat_map(|rest| rest.split('/'));
    let is_kept = !path.is_empty() && segments.all(|part| !matches!(part, "" | "." | ".."));
    if path.is_empty() || (is_plain && path.starts_with('/') && is_kept) {
        Ok(path.to_owned())
    } else {
        Err(Invalid::expects(
            "a path such as `/qless`, of letters, digits, `-`, `_`, `.` and `~`, without the segments `.` and `..`",
        ))
    }
}

/// One of the servers that are shown.
struct ServedContext<'s> {
    shown: ShownServer,
    server: SnapshotHttpResponder<'s>,
    /// The sessions for searches alone, so that other pages do not wait for a search.
    searches: [Mutex<Session>; 2],
    /// The session that reads documents. Pages do not wait for it: a document of jobs with much data takes long.
    documents: Mutex<Session>,
    /// The session that runs the checks of `doctor` while the other sessions wait for a server that does not reply.
    doctor: Mutex<Session>,
    steps: CachedValue<Result<Diagnosis, Error>>,
}

/// Answers the requests of browsers.
pub(crate) struct WebServer<'s> {
    contexts: Vec<ServedContext<'s>>,
    /// The names of all contexts.
    names: Vec<String>,
    options: WebOptions,
    run: &'s RunCommand,
    token: FormTokenAndResults,
    shared: Mutex<HashMap<ResponseKey, Arc<CachedValue<Arc<SharedResponse>>>>>,
    /// The size of all responses that are shared or being sent.
    held_bytes: Arc<AtomicUsize>,
}

/// The parts of the path of a request, and its query.
type ResponseKey = (Vec<Name>, Vec<(String, String)>);

/// A page or a document that is ready to be sent.
struct SharedResponse {
    status: Status,
    content_type: &'static str,
    text: Vec<u8>,
    /// Where the bytes of the text are counted.
    held_bytes: Option<Arc<AtomicUsize>>,
}

impl AsRef<[u8]> for SharedResponse {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

impl Drop for SharedResponse {
    fn drop(&mut self) {
        if let Some(held_bytes) = &self.held_bytes {
            held_bytes.fetch_sub(self.text.len(), Ordering::Relaxed);
        }
    }
}

impl SharedResponse {
    fn new(status: Status, content_type: &'static str, text: Vec<u8>) -> SharedResponse {
        SharedResponse {
            status,
            content_type,
            text,
            held_bytes: None,
        }
    }

    fn into_response(self: Arc<SharedResponse>) -> Response<'static> {
        let (status, content_type) = (self.status, self.content_type);
        let mut response = Response::shared(status, content_type, self);
        if status == Status::ServiceUnavailable {
            response = response.with_header("Retry-After", "5");
        }
        if content_type == HTML {
            response = with_security_headers(response);
        }
        response
    }

    /// Whether other requests within the interval get this response, too.
    fn is_shareable(&self) -> bool {
        self.status != Status::ServiceUnavailable
    }
}

/// A request, with the parts of its path and the context that its query names.
struct PageRequest<'r> {
    request: &'r Request,
    /// The values of the query that decide what the response is.
    query: Vec<(String, String)>,
    /// The parts of the path.
    names: Vec<Name>,
    context: usize,
}

impl PageRequest<'_> {
    fn query_value(&self, name: &str) -> Option<&str> {
        let mut values = self.query.iter().filter(|(known, _)| known == name);
        values.next().map(|(_, value)| value.as_str())
    }

    fn path_parts(&self) -> Vec<&[u8]> {
        self.names.iter().map(Name::as_bytes).collect()
    }
}

impl<'s> WebServer<'s> {
    /// Prepares the pages of at least one server. Nothing listens for requests yet.
    pub(crate) fn new(
        session_per_server: impl Iterator<Item = &'s mut Session>,
        options: WebOptions,
        run: &'s RunCommand,
    ) -> Result<WebServer<'s>, Error> {
        let mut contexts = Vec::new();
        for session in session_per_server {
            let choice = SeriesChoice {
                max_groups: 100,
                queues: Vec::new(),
            };
            contexts.push(ServedContext {
                shown: ShownServer::of_session(session)?,
                searches: [(); 2].map(|()| Mutex::new(session.with_own_connection())),
                documents: Mutex::new(session.with_own_connection()),
                doctor: Mutex::new(session.with_own_connection()),
                server: SnapshotHttpResponder::new(session, choice, Vec::new(), options.interval),
                steps: CachedValue::new(options.interval, |_| false),
            });
        }
        let names = contexts.iter();
        let names =
            names.filter_map(|context| context.shown.context_or_prefix().map(str::to_owned));
        Ok(WebServer {
            names: names.collect(),
            contexts,
            options,
            run,
            token: FormTokenAndResults::new(),
            shared: Mutex::default(),
            held_bytes: Arc::default(),
        })
    }

    /// Reads a snapshot from each server. Fails if a server cannot be read, and later attempts would fail, too.
    pub(crate) fn fail_if_any_permanently_unreadable(&self) -> Result<(), Error> {
        let mut contexts = self.contexts.iter();
        contexts.try_for_each(|context| context.server.fail_if_permanently_unreadable())
    }

    pub(crate) fn first_server(&self) -> Option<&SnapshotHttpResponder<'s>> {
        self.contexts.first().map(|context| &context.server)
    }

    pub(crate) fn respond(&self, request: &Request) -> Response<'_> {
        let path = request.path.strip_prefix(self.options.base_path.as_str());
        // Redirect `/qless` to `/qless/`: the relative links of a page need the `/` at the end.
        let Some(path) = path.and_then(|path| path.strip_prefix('/')) else {
            return self.redirect_to_base_or_not_found(request);
        };
        if let Some(asset) = assets::find_asset(path) {
            return asset;
        }
        let Some(context) = self.named_or_first_context_index(request) else {
            return Response::text(Status::NotFound, "no such context is shown here");
        };
        self.contexts[context]
            .shown
            .add_server_flag_to_printed_commands();
        let names = path::decode_path(path);
        let page_request = PageRequest {
            query: self.cache_relevant_query(request, &names),
            request,
            names,
            context,
        };
        match (request.method, path) {
            (_, "readyz") if page_request.query_value("context").is_none() => {
                self.readiness_response()
            }
            (_, "metrics" | "livez" | "readyz" | "healthz") => {
                let server = &self.contexts[context].server;
                server.respond_to(&format!("/{path}"), &request.query)
            }
            (Method::Post, _) => self.make_change(&page_request),
            (_, "live") => {
                live::event_stream(&self.contexts[context].server, self.options.interval)
            }
            // Read the plan of a change anew for each request, and share no response: the user must decide on the plan
            // of this moment.
            _ if WebChange::from_path(&page_request.names).is_some() => {
                Arc::new(self.read_page_uncached(&page_request)).into_response()
            }
            _ => self.shared_response(&page_request),
        }
    }

    fn redirect_to_base_or_not_found(&self, request: &Request) -> Response<'static> {
        if request.path == self.options.base_path {
            let to = format!("{}/", self.options.base_path);
            return Response::text(Status::SeeOther, &to).with_header("Location", to);
        }
        Response::text(Status::NotFound, "there is no such page")
    }

    /// The context that the query names, else the first.
    fn named_or_first_context_index(&self, request: &Request) -> Option<usize> {
        match request.query_value("context") {
            Some(name) => self.names.iter().position(|known| known == name),
            None => Some(0),
        }
    }

    /// The values of a query that decide what the response is, sorted by name, each name once. Requests that differ
    /// only in other values share one cached response.
    fn cache_relevant_query(&self, request: &Request, names: &[Name]) -> Vec<(String, String)> {
        let is_list = matches!(names, [name] if name.as_bytes() == b"jobs");
        let is_known = |name: &str, value: &str| match name {
            "context" => true,
            "live" => value == "0",
            "time" => value.parse::<TimeFormat>().is_ok(),
            "did" => self.token.result_kept_under_name(value).is_some(),
            name => is_list && pages::jobs::is_search_value(name),
        };
        let mut query = request.query.clone();
        query.retain(|(name, value)| is_known(name, value));
        query.sort_by(|(one, _), (other, _)| one.cmp(other));
        query.dedup_by(|(one, _), (other, _)| one == other);
        query
    }

    /// Whether each of the servers answers.
    fn readiness_response(&self) -> Response<'static> {
        let snapshots: Result<Vec<Arc<SnapshotOrError>>, Error> = thread::scope(|scope| {
            let servers = self.contexts.iter().map(|context| &context.server);
            let snapshots: Vec<_> = servers
                .map(|server| threads::spawn_scoped(scope, || server.fresh_snapshot()))
                .collect();
            snapshots
                .into_iter()
                .filter_map(|snapshot| snapshot.map(|thread| thread.join().ok()).transpose())
                .collect()
        });
        let snapshots = match snapshots {
            Ok(snapshots) => snapshots,
            Err(error) => {
                let why = error.message().into_owned();
                return Response::text(Status::ServiceUnavailable, why);
            }
        };
        let mut failed = self.contexts.iter().zip(&snapshots);
        let failed =
            failed.find_map(|(context, snapshot)| Some((context, snapshot.facts.as_ref().err()?)));
        match failed {
            None => Response::text(Status::Ok, "ok"),
            Some((context, error)) => {
                let name = context
                    .shown
                    .context_or_prefix()
                    .filter(|_| snapshots.len() > 1);
                let name = name.map_or_else(String::new, |name| format!("{name}: "));
                let why = format!("{name}{}", error.message());
                Response::text(Status::ServiceUnavailable, why)
            }
        }
    }

    fn may_make_changes(&self, page_request: &PageRequest) -> bool {
        self.options.allow_changes && !self.contexts[page_request.context].shown.is_read_only
    }

    /// A page or a document: the cached one, or a new one that all requests within the interval then share.
    fn shared_response(&self, page_request: &PageRequest) -> Response<'static> {
        let key = (page_request.names.clone(), page_request.query.clone());
        let all = || self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = {
            let mut all = all();
            if all.len() >= MAX_SHARED_RESPONSES && !all.contains_key(&key) {
                all.clear();
            }
            let is_shareable = |response: &Arc<SharedResponse>| response.is_shareable();
            let new = || Arc::new(CachedValue::new(self.options.interval, is_shareable));
            Arc::clone(all.entry(key.clone()).or_insert_with(new))
        };
        let is_document = page_request.path_parts().first() == Some(&&b"api"[..]);
        let response = shared.get(PATIENCE, || {
            self.count_held_bytes_or_refuse(if is_document {
                self.response_of_api_command(page_request)
            } else {
                self.read_page_uncached(page_request)
            })
        });
        let Some(response) = response else {
            return Arc::new(self.error_page(page_request, &waited_too_long_error()))
                .into_response();
        };
        if !response.is_shareable() {
            // Do not cache a 503 response. While Redis is away, requests share the failure of the snapshot instead.
            all().remove(&key);
        }
        response.into_response()
    }

    /// Counts the bytes of a response until it is dropped. Beyond [`MAX_HELD_BYTES`], empties the cache. If clients are
    /// still reading too much then, replaces a large response by a refusal.
    fn count_held_bytes_or_refuse(&self, mut response: SharedResponse) -> Arc<SharedResponse> {
        let size = response.text.len();
        let held = || self.held_bytes.load(Ordering::Relaxed);
        if held() + size > MAX_HELD_BYTES {
            self.clear_shared_responses();
            if size > SMALL && held() > 0 && held() + size > MAX_HELD_BYTES {
                let why = "other clients have not read their responses yet\n";
                response = SharedResponse::new(Status::ServiceUnavailable, TEXT, why.into());
            }
        }
        self.held_bytes
            .fetch_add(response.text.len(), Ordering::Relaxed);
        response.held_bytes = Some(Arc::clone(&self.held_bytes));
        Arc::new(response)
    }

    fn clear_shared_responses(&self) {
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        all.clear();
    }

    /// Drops the snapshots and the cached responses, so that the next page shows a change that was made.
    fn forget_snapshots_and_responses(&self, context: usize) {
        self.contexts[context].server.forget_snapshots();
        self.clear_shared_responses();
    }

    fn read_page_uncached(&self, page_request: &PageRequest) -> SharedResponse {
        let server = &self.contexts[page_request.context].server;
        let mut page = self.new_page(page_request, server.redis_time());
        match self.content(page_request, server, &mut page) {
            Ok(content) => page_response(&page, content),
            Err(error) => self.error_page(page_request, &error),
        }
    }

    /// The page that says why the requested page cannot be shown.
    fn error_page(&self, page_request: &PageRequest, error: &Error) -> SharedResponse {
        let context = &self.contexts[page_request.context];
        let page = self.new_page(page_request, context.server.redis_time());
        let diagnose = || context.cached_doctor_diagnosis();
        page_response(
            &page,
            pages::error::content(&page, error, status_of(error), diagnose),
        )
    }

    /// The frame of a page, without content: the relative path of the first page, the query values that links keep, and
    /// the format of times.
    fn new_page(&self, page_request: &PageRequest, now: Moment) -> PageFrame<'_> {
        let context = &self.contexts[page_request.context];
        let times = page_request
            .query_value("time")
            .and_then(|words| words.parse().ok());
        let times: TimeFormat = times.unwrap_or_default();
        let mut kept = Vec::new();
        if let (Some(name), true) = (context.shown.context_or_prefix(), page_request.context > 0) {
            kept.push(("context", name.to_owned()));
        }
        if times != TimeFormat::default() {
            let word: &str = times.into();
            kept.push(("time", word.to_owned()));
        }
        let is_live = page_request.query_value("live") != Some("0");
        if !is_live {
            kept.push(("live", "0".to_owned()));
        }
        let query = page_request.query.iter();
        let query = query.filter(|(name, _)| !matches!(name.as_str(), "time" | "did"));
        PageFrame {
            root: match page_request.names.len() {
                0 | 1 => "./".to_owned(),
                deep => "../".repeat(deep - 1),
            },
            now,
            times,
            is_live,
            hides_data: self.options.hide_data,
            has_changes: self.may_make_changes(page_request),
            server: &context.shown,
            contexts: &self.names,
            kept_query: kept,
            result_text: page_request
                .query_value("did")
                .and_then(|name| self.token.result_kept_under_name(name)),
            query: query.cloned().collect(),
        }
    }

    fn content(
        &self,
        page_request: &PageRequest,
        server: &SnapshotHttpResponder,
        page: &mut PageFrame,
    ) -> Result<PageContent, Error> {
        let words = page_request.path_parts();
        if let Some(change) = WebChange::from_path(&page_request.names).filter(|_| page.has_changes)
        {
            return self.confirmation(page_request, &change, page, None);
        }
        let mut read =
            |read: &mut dyn FnMut(&mut Session, &mut PageFrame) -> Result<PageContent, Error>| {
                server.read_if_reachable(|session| {
                    page.now = session.connect()?;
                    read(session, page)
                })
            };
        match words.as_slice() {
            [b""] => pages::overview::content(page, server),
            [b"queues"] => pages::queues::content(page, server),
            [b"workers"] => pages::workers::content(page, server),
            [b"jobs"] => self.contexts[page_request.context].with_search_session(|session| {
                page.now = session.connect()?;
                pages::jobs::content(page, session, page_request)
            }),
            [b"jobs", _] => read(&mut |session, page| {
                pages::job::content(page, session, &page_request.names[1])
            }),
            [b"jobs", _, b"graph"] => read(&mut |session, page| {
                pages::graph::of_job(page, session, &page_request.names[1])
            }),
            [b"failed"] => pages::failed::content(page, server),
            [b"failed", _] => read(&mut |session, page| {
                pages::group::content(page, session, &page_request.names[1])
            }),
            [b"queues", _] => pages::queue::content(page, server, &page_request.names[1]),
            [b"queues", _, b"graph"] => read(&mut |session, page| {
                pages::graph::of_queue(page, session, &page_request.names[1])
            }),
            [b"workers", _] => read(&mut |session, page| {
                pages::worker::content(page, session, &page_request.names[1])
            }),
            [b"recurring"] => pages::recurring::content(page, server),
            [b"limits"] => read(&mut |session, page| pages::limits::content(page, session)),
            _ => Err(Error::not_found("there is no such page")),
        }
    }
}

impl ServedContext<'_> {
    /// Runs a search in one of the two sessions for searches. If both are in use, the page says so.
    fn with_search_session(
        &self,
        read: impl FnOnce(&mut Session) -> Result<PageContent, Error>,
    ) -> Result<PageContent, Error> {
        self.server.retry_failed_snapshot()?;
        let [first, second] = &self.searches;
        let free = lock_within(first, Duration::ZERO);
        let Some(mut session) = free.or_else(|| lock_within(second, SEARCH_PATIENCE)) else {
            return Ok(pages::jobs::busy_content());
        };
        session.core()?.stop_waiting_for_lost_server();
        read(&mut session)
    }

    /// Reads a document in the session for documents, once no other document is being read. An error if that takes too
    /// long.
    fn with_document_session(
        &self,
        read: impl FnOnce(&mut Session) -> CommandOutput,
    ) -> Result<CommandOutput, Error> {
        self.server.retry_failed_snapshot()?;
        let mut session =
            lock_within(&self.documents, PATIENCE).ok_or_else(waited_too_long_error)?;
        session.core()?.stop_waiting_for_lost_server();
        Ok(read(&mut session))
    }

    /// The results of the checks of `doctor`, which show where the way to the server fails. Requests within the
    /// interval share them.
    fn cached_doctor_diagnosis(&self) -> Result<Diagnosis, Error> {
        let diagnose = || {
            let mut session = self.doctor.lock().unwrap_or_else(PoisonError::into_inner);
            doctor::diagnose_with_short_timeouts(&mut session)
        };
        self.steps
            .get(PATIENCE, diagnose)
            .unwrap_or_else(|| Err(waited_too_long_error()))
    }
}

fn page_response(page: &PageFrame, content: PageContent) -> SharedResponse {
    let status = content.status;
    let text = page.render_whole(content).into_string().into_bytes();
    SharedResponse::new(status, HTML, text)
}

/// The facts of a snapshot, or why there are none.
fn facts_of(
    snapshot: &SnapshotOrError,
) -> Result<(&crate::model::overview::SystemFacts, Moment), Error> {
    match &snapshot.facts {
        Ok((facts, now)) => Ok((facts, *now)),
        Err(error) => Err(error.clone()),
    }
}

fn status_of(error: &Error) -> Status {
    match error.exit() {
        Exit::NotFound => Status::NotFound,
        Exit::Usage => Status::BadRequest,
        Exit::Conflict => Status::Conflict,
        Exit::NotConfirmed => Status::Forbidden,
        _ if error.kind() == Kind::NoPerm => Status::Forbidden,
        Exit::Server => Status::ServiceUnavailable,
        _ => Status::InternalServerError,
    }
}

fn html_response(status: Status, text: impl Into<Vec<u8>>) -> Response<'static> {
    with_security_headers(Response::new(status, HTML, text))
}

fn with_security_headers(response: Response<'static>) -> Response<'static> {
    response
        .with_header("Content-Security-Policy", CONTENT_POLICY)
        .with_header("Referrer-Policy", "same-origin")
}
