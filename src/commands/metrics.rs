//! `qless metrics`

use std::io::ErrorKind;
use std::net::{ToSocketAddrs, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::invalid::Invalid;
use crate::args::value;
use crate::clock::moment::Moment;
use crate::core::script::Script;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::exit::Exit;
use crate::fs;
use crate::interrupt::InterruptFlags;
use crate::listen::{ListenAddress, ListenOptions, Listener};
use crate::look;
use crate::look::metrics::{SeriesChoice, metrics_after_error, system_metrics};
use crate::look::server::{PATIENCE, SnapshotHttpResponder};
use crate::look::statsd::statsd_datagrams;
use crate::model::metrics::{Label, prometheus_text};
use crate::model::overview::SystemFacts;
use crate::model::pattern::NamePattern;
use crate::session::Session;

/// Print figures for Prometheus, or send them to statsd
///
/// Prints one snapshot in the text format of Prometheus. One call to Redis reads it, in the same time however
/// many jobs there are: of more than 500 queues, groups of failures or workers, 500 are read, and
/// `qless_queues_omitted`, `qless_groups_omitted` and `qless_workers_omitted` count the rest. Counters ending in
/// `_total` and the histograms count since midnight UTC.
///
/// `--file` writes the snapshot for the textfile collector of the node exporter. The file is replaced as a whole, and
/// says `qless_up 0` if Redis does not answer. `--statsd` sends gauges as `queues.mail.waiting` each
/// `--interval`, until Ctrl-C.
///
/// `--listen` answers `GET /metrics`, `/livez` (this process runs), `/readyz` (Redis answers and the core loads) and
/// `/healthz?max-waiting=mail:1000` (the limits of `qless health`, with `:` for `=`; 200 or 503), on this machine unless
/// `--token-file` is given. Looks at Redis are shared for a second. It also starts while Redis is away.
///
/// Examples: `qless metrics`
/// · `qless metrics --file qless.prom`
/// · `qless metrics --queue 'mail*' --label site=berlin`
/// · `qless metrics --listen 127.0.0.1:9123`
/// · `qless metrics --statsd localhost:8125 --namespace prod --count 1`
///
/// Exit codes: 0, 1 the file or the address cannot be used, 2 usage, 6 server, 130 SIGINT, 143 SIGTERM.
///
/// See also: `qless status`, `qless health`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Write the snapshot to a file, which anyone may read
    #[arg(long, value_name = "FILE", value_parser = value::file_to_write(), conflicts_with_all = ["statsd", "listen"])]
    file: Option<PathBuf>,
    /// Send gauges to a statsd server
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "listen")]
    statsd: Option<String>,
    /// How often to send
    #[arg(long, value_name = "D", value_parser = value::positive_duration, default_value = "60s", requires = "statsd")]
    interval: Duration,
    /// Send this often, then end
    #[arg(long, value_name = "N", value_parser = value::at_least_one, requires = "statsd")]
    count: Option<u64>,
    /// Begin each name with this and a dot
    #[arg(long, value_name = "NAME", requires = "statsd", value_parser = parse_statsd_namespace)]
    namespace: Option<String>,
    #[command(flatten)]
    series: SeriesArgs,
    #[command(flatten)]
    listen: ListenOptions,
    /// End with 6 if Redis does not answer at the start
    #[arg(long, requires = "listen")]
    no_retry: bool,
}

/// Which series there are.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SeriesArgs {
    /// Only these queues (name or glob)
    #[arg(long, value_name = "QUEUE", value_parser = value::name_or_glob(), add = value::CompletionKind::Queues)]
    queue: Vec<NamePattern>,
    /// Name at most this many groups of failures, the largest; the others are `other`
    #[arg(long, value_name = "N", value_parser = value::at_least_zero, default_value = "100")]
    max_groups: u64,
    /// Add a label to each series
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_series_label, conflicts_with = "statsd")]
    label: Vec<Label>,
}

impl SeriesArgs {
    fn series_choice(&self) -> SeriesChoice {
        SeriesChoice {
            max_groups: usize::try_from(self.max_groups).unwrap_or(usize::MAX),
            queues: self.queue.clone(),
        }
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(HelpGroup::Operate, run)
    .context_member_dispatch(|_| MemberDispatch::Refused("each series is of one"));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    if session.ui.format().is_json_or_ndjson() {
        let why = "figures for monitoring systems have no document";
        return Err(Error::usage(why).hint("qless status -o json"));
    }
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in &args.series.label {
        if names.contains(&name.as_str()) {
            let why = format!("`--label` names `{name}` twice");
            return Err(Error::usage(why).hint("a series has each label once"));
        }
        names.push(name);
    }
    if let Some(address) = &args.listen.listen {
        return serve_metrics(address, &args, session);
    }
    if let Some(server) = &args.statsd {
        return send_periodically_to_statsd(server, &args, session);
    }
    let choice = args.series.series_choice();
    let core = Script::new(session.prefix()).sha().to_owned();
    let begun = Instant::now();
    let read = read_system_facts(&choice, session);
    let elapsed = begun.elapsed().as_secs_f64();
    let (families, error) = match read {
        Ok((facts, now)) => (system_metrics(&facts, &choice, &core, elapsed, now), None),
        Err(error) if args.file.is_some() => {
            (metrics_after_error(&error, &core, elapsed), Some(error))
        }
        Err(error) => return Err(error),
    };
    let text = prometheus_text(&families, &args.series.label);
    match &args.file {
        Some(path) => {
            // The node exporter has a user of its own.
            fs::write_public(path, text.as_bytes())?;
        }
        None => session.ui.print_text(&text)?,
    }
    error.map_or(Ok(Exit::Ok), Err)
}

fn read_system_facts(
    choice: &SeriesChoice,
    session: &mut Session,
) -> Result<(SystemFacts, Moment), Error> {
    look::read_snapshot(
        look::RECENT,
        choice.snapshot_request(),
        &choice.queue_globs(),
        session,
    )
}

/// How long one snapshot answers requests. After this time, the next request reads a new snapshot.
const SHARED_FOR: Duration = Duration::from_secs(1);

/// Answers requests until a signal comes.
fn serve_metrics(
    address: &ListenAddress,
    args: &Args,
    session: &mut Session,
) -> Result<Exit, Error> {
    let access = args
        .listen
        .access
        .read_access(|warning| session.ui.warn(warning))?;
    session.globals.timeout = Some(session.timeout().min(PATIENCE));
    if args.no_retry {
        session.connect()?;
    }
    let listener = Listener::bind(address, access)?;
    session.ui.note(&format!("listening on {}", listener.url()));
    let (choice, labels) = (args.series.series_choice(), args.series.label.clone());
    let server = SnapshotHttpResponder::new(session, choice, labels, SHARED_FOR);
    server.fail_if_permanently_unreadable()?;
    let interrupt = InterruptFlags::install_handlers_once();
    interrupt.spawn_exit_after_signal(PATIENCE)?;
    listener.serve(
        |request| server.respond(request),
        || interrupt.error_kind_of_received_signal().is_some(),
    );
    Ok(interrupt
        .error_kind_of_received_signal()
        .map_or(Exit::Ok, Kind::exit))
}

fn send_periodically_to_statsd(
    server: &str,
    args: &Args,
    session: &mut Session,
) -> Result<Exit, Error> {
    let unreachable = |why: std::io::Error| {
        let what = format!("cannot send to `{server}`");
        // Only a text that is no address is a wrong flag. A name may be unknown while the machine starts.
        if why.kind() == ErrorKind::InvalidInput {
            let why = io_message_without_errno(&why);
            return Error::usage(format!("{what}: {why}"))
                .hint("--statsd takes HOST:PORT, such as localhost:8125");
        }
        Error::from_io(Kind::File, &what, &why)
    };
    let found: Vec<_> = server.to_socket_addrs().map_err(unreachable)?.collect();
    // Prefer IPv4: a name with both kinds of addresses is mostly `localhost`, and statsd listens on IPv4 by default.
    let address = found
        .iter()
        .find(|address| address.is_ipv4())
        .or(found.first());
    let address = *address.ok_or_else(|| unreachable(ErrorKind::NotFound.into()))?;
    let local = if address.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let socket = UdpSocket::bind(local).map_err(unreachable)?;
    socket.connect(address).map_err(unreachable)?;
    let choice = args.series.series_choice();
    let namespace = args.namespace.as_deref();
    let interrupt = InterruptFlags::install_handlers_once();
    let mut last = None;
    for sent in 1.. {
        match read_system_facts(&choice, session) {
            Ok((facts, now)) => {
                if last.take().is_some() {
                    session.ui.note("note: the queues can be read again");
                }
                for datagram in statsd_datagrams(&facts, &choice, namespace, now) {
                    // Ignore a failure to send: statsd may not be listening yet, and its protocol promises no delivery.
                    _ = socket.send(datagram.as_bytes());
                }
            }
            // Only an error of the first snapshot ends the loop. Warn of later errors, and try again.
            Err(error) if sent > 1 => {
                if last.is_none() {
                    session.ui.warn(&error.message());
                }
                last = Some(error);
            }
            Err(error) => return Err(error),
        }
        if args.count.is_some_and(|count| sent >= count) {
            break;
        }
        if let Some(kind) = interrupt.wait_for_signal(args.interval) {
            return Ok(kind.exit());
        }
    }
    last.map_or(Ok(Exit::Ok), Err)
}

/// Parses a namespace, with which the names of all gauges begin: parts separated by dots.
fn parse_statsd_namespace(given: &str) -> Result<String, Invalid> {
    let is_part = |part: &str| {
        let mut chars = part.chars();
        !part.is_empty() && chars.all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    };
    if given.split('.').all(is_part) {
        Ok(given.to_owned())
    } else {
        Err(Invalid::expects(
            "letters, digits, `-`, `_`, and dots between them",
        ))
    }
}

/// Parses a label for all series, such as `site=berlin`.
fn parse_series_label(given: &str) -> Result<Label, Invalid> {
    let wants = "a label such as `site=berlin`, its name of letters, digits and `_`";
    let expects = || Invalid::expects(wants);
    let (name, value) = given.split_once('=').ok_or_else(expects)?;
    let mut chars = name.chars();
    let begins = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let is_name = begins && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name || name.starts_with("__") {
        return Err(expects());
    }
    if ["queue", "state", "group", "seen", "le", "version", "core"].contains(&name) {
        return Err(Invalid::because(format!(
            "names `{name}`, which series have already"
        )));
    }
    Ok((name.to_owned(), value.to_owned()))
}
