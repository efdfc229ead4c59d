//! `qless local`

use std::time::Instant;

use clap::Subcommand;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::address::{Address, AppendFsync};
use crate::args::format::Format;
use crate::args::globals::AddressOrigin;
use crate::core::call::local::LocalServer;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::local::LocalStatus;
use crate::name::Name;
use crate::session::Session;
use crate::text::Sanitized;

/// Manage the private Redis of `--redis local:`
///
/// It manages the server of the directory that `--redis local:/DIR` names. The default directory is
/// `$XDG_STATE_HOME/qless/local`. The server is started on first use and keeps running. It listens
/// on a Unix socket in that directory and on no TCP port. If `--redis`, `--context` or QLESS_CONTEXT names a server
/// of another kind, that is an error. If QLESS_REDIS_URL, REDIS_URL or the default context names one, the command
/// manages the server of the default directory.
///
/// Examples: `qless local`, `qless --redis local:$PWD/night local stop`
///
/// Exit codes: 0, 2 not a `local:` address, 6 no server program, or no reply.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<LocalCommand>,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum LocalCommand {
    /// Show whether the private server runs, its pid, directory, address, jobs and size on disk
    ///
    /// The server is not started.
    ///
    /// Example: `qless local status -o json`
    ///
    /// Exit codes: 0, 6 no reply.
    Status,
    /// Start the private server, if it does not run
    ///
    /// Example: `qless --redis local:$PWD/night local start`
    ///
    /// Exit codes: 0, 6 no server program, or no reply.
    Start,
    /// Save the private server's data and stop it
    ///
    /// Example: `qless --redis local:$PWD/night local stop`
    ///
    /// Exit codes: 0, also if it did not run; 6 no reply.
    Stop,
    /// Print the address of the private server, for other clients
    ///
    /// The server is not started. With `-o json`, the document is that of `qless local status`.
    ///
    /// Example: `redis-cli -u "$(qless local url)" ping`
    ///
    /// Exit codes: 0, 6 the directory cannot be used.
    Url,
}

impl Args {
    fn writes(&self) -> bool {
        matches!(self.verb, Some(LocalCommand::Start | LocalCommand::Stop))
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(HelpGroup::Operate, Args::writes, run)
    .context_member_dispatch(|_| MemberDispatch::Itself);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let (local, fsync) = private_server(session)?;
    let deadline = Instant::now() + session.timeout();
    let verb = args.verb.unwrap_or(LocalCommand::Status);
    let changes = matches!(verb, LocalCommand::Start | LocalCommand::Stop);
    match verb {
        LocalCommand::Url if session.ui.format() == Format::Table => {
            session
                .ui
                .print_text(&format!("{}\n", local.unix_socket_url()))?;
            return Ok(Exit::Ok);
        }
        LocalCommand::Status | LocalCommand::Url => {}
        LocalCommand::Start => {
            let done = if local.start_unless_running(fsync, deadline)? {
                "started"
            } else {
                "the server was already running"
            };
            session.ui.note(done);
        }
        LocalCommand::Stop => {
            let done = if local.stop_if_running(deadline)? {
                "saved and stopped"
            } else {
                "the server was not running"
            };
            session.ui.note(done);
        }
    }
    if changes && session.ui.format() == Format::Table {
        return Ok(Exit::Ok);
    }
    let status = read_status(&local, session)?;
    session.ui.show_and_exit_ok(&status)
}

/// The private server that the address names, and how it should sync its data to disk. The default one, if a variable
/// or the default context has an address of another kind: a private server may run beside that server.
fn private_server(session: &Session) -> Result<(LocalServer, Option<AppendFsync>), Error> {
    let target = session.target()?;
    let globals = &session.globals;
    match &target.address {
        Address::Local { dir, fsync, .. } => Ok((LocalServer::new(dir.as_deref())?, *fsync)),
        _ if globals.origin == AddressOrigin::Typed || !globals.context.is_empty() => {
            let given = Sanitized(target.to_string());
            let what = format!("`qless local` needs a `local:` address, not `{given}`");
            Err(Error::usage(what).hint("`--redis local:` names the default private server"))
        }
        _ => Ok((LocalServer::new(None)?, None)),
    }
}

/// Reads the status of the private server. Does not start the server.
fn read_status(local: &LocalServer, session: &mut Session) -> Result<LocalStatus, Error> {
    let running = local.is_running()?;
    let jobs = if running {
        let core = session.connect_to(local.target_without_start())?;
        Some(core.count_jobs_of_all_states(core.now())?)
    } else {
        None
    };
    Ok(LocalStatus {
        running,
        pid: local.pid().filter(|_| running),
        dir: Name::from(local.dir().as_os_str()),
        url: local.unix_socket_url().into(),
        jobs,
        bytes: local.dir_size(),
    })
}
