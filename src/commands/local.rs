//! `qless local`

use std::time::Instant;

use clap::Subcommand;

use crate::cli::Format;
use crate::core::local::Local;
use crate::core::url::{Address, Fsync};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::local::Status;
use crate::model::name::Name;

/// Look after the private Redis of `--redis local:`
///
/// For the directory that `--redis local:/DIR` names, else the default one,
/// `$XDG_STATE_HOME/qless/local`. The server is started on first use and left running; it listens
/// on a Unix socket in that directory and on no TCP port.
///
/// Examples: `qless local`, `qless --redis local:$PWD/night local stop`
///
/// Exit codes: 0, 6 no server to start, or it does not answer.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Print whether it runs, its pid, directory and address, jobs and size on disk
    ///
    /// It is not started.
    ///
    /// Example: `qless local status -o json`
    ///
    /// Exit codes: 0, 6 it does not answer.
    Status,
    /// Start it, if it does not run
    ///
    /// Example: `qless --redis local:$PWD/night local start`
    ///
    /// Exit codes: 0, 6 no server to start, or it does not answer.
    Start,
    /// Have it save its data and end
    ///
    /// Example: `qless --redis local:$PWD/night local stop`
    ///
    /// Exit codes: 0, also if it did not run; 6 it does not answer.
    Stop,
    /// Print its address for other clients
    ///
    /// It is not started.
    ///
    /// Example: `redis-cli -u "$(qless local url)" ping`
    ///
    /// Exit codes: 0, 6 the directory is not usable.
    Url,
}

impl Args {
    pub fn writes(&self) -> bool {
        matches!(self.verb, Some(Verb::Start | Verb::Stop))
    }
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[])?;
    let (local, fsync) = local(cx)?;
    let deadline = Instant::now() + cx.timeout();
    let verb = args.verb.unwrap_or(Verb::Status);
    let changes = matches!(verb, Verb::Start | Verb::Stop);
    match verb {
        Verb::Status => {}
        Verb::Url => {
            cx.out.text(&format!("{}\n", local.url()))?;
            return Ok(Exit::Ok);
        }
        Verb::Start => {
            let done = match local.ensure(fsync, deadline)? {
                true => "started",
                false => "it was running already",
            };
            cx.out.note(done);
        }
        Verb::Stop => {
            let done = match local.stop(deadline)? {
                true => "saved and stopped",
                false => "it was not running",
            };
            cx.out.note(done);
        }
    }
    if changes && cx.out.format() == Format::Table {
        return Ok(Exit::Ok);
    }
    let status = status(&local, cx)?;
    cx.out.show(&status)?;
    Ok(Exit::Ok)
}

/// Returns the server that is meant.
fn local(cx: &Cx) -> Result<(Local, Option<Fsync>), Error> {
    match cx.target().map(|target| target.address) {
        Ok(Address::Local { dir, fsync }) => Ok((Local::new(dir.as_deref())?, fsync)),
        _ => Ok((Local::new(None)?, None)),
    }
}

/// Looks without starting it.
fn status(local: &Local, cx: &mut Cx) -> Result<Status, Error> {
    let running = local.running()?;
    let jobs = match running {
        true => {
            let core = cx.core_at(local.target())?;
            Some(core.job_count(core.now())?)
        }
        false => None,
    };
    Ok(Status {
        running,
        pid: local.pid().filter(|_| running),
        dir: Name::from(local.dir().as_os_str()),
        url: local.url().into(),
        jobs,
        bytes: local.bytes(),
    })
}
