//! `qless depends`

use crate::bulk::Fate;
use crate::cli::shared::{DryRun, apart};
use crate::cli::{Format, value};
use crate::core::guard::Outcome;
use crate::core::steer::Steered;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Code;
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::model::seen::Seen;
use crate::view::text::clean;
use crate::who;

/// Show what a job waits for and what waits for it, or change it
///
/// Only a job in state depends can be changed. Without its last dependency it is released: to
/// run, or to wait for its time if that is still ahead.
///
/// Example: `qless depends c41d77aa0e3b4f6c9d1f2a5b8c7e6d50 --off 5510a4d2b8c34e6f8a9b0c1d2e3f4a5b`
///
/// Exit codes: 0, 4 unknown jid, 5 not in state depends, or a cycle, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The job
    #[arg(value_name = "JID", value_parser = value::jids())]
    jid: Name,
    /// Let it wait for further jobs: for all of them, or for none
    #[arg(long, value_name = "JID", num_args = 1.., value_parser = value::name())]
    on: Vec<Name>,
    /// Let it no longer wait for these
    #[arg(long, value_name = "JID", num_args = 1.., value_parser = value::jids())]
    off: Vec<Name>,
    /// Let it no longer wait for anything
    #[arg(long, conflicts_with_all = ["on", "off"])]
    off_all: bool,
    #[command(flatten)]
    dry: DryRun,
}

/// As errors speak of it.
const ASKS: &str = "change the dependencies of";

impl Args {
    pub fn writes(&self) -> bool {
        self.off_all || !self.on.is_empty() || !self.off.is_empty()
    }
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    apart(("--on", &args.on), ("--off", &args.off))?;
    cx.out.accepts(&[Format::Jid])?;
    let now = cx.begin()?;
    if args.writes() {
        change(&args, now, cx)?;
    }
    show(&args.jid, now, cx)
}

fn change(args: &Args, now: Moment, cx: &mut Cx) -> Result<(), Error> {
    let found = cx.core()?.seen(now, std::slice::from_ref(&args.jid))?;
    let Some(job) = found.into_iter().flatten().next() else {
        return Err(Fate::gone(&args.jid).error(ASKS));
    };
    if !job.is("depends") {
        let why = format!("it is {}, it waits for no job", clean(&job.state));
        return Err(Fate::refused(&args.jid, Code::StateChanged, why).error(ASKS));
    }
    let waits = cx.core()?.dependencies(now, &args.jid)?;
    let waits: Vec<Name> = waits
        .into_iter()
        .flat_map(|both| both.dependencies)
        .map(|neighbour| neighbour.jid)
        .collect();
    for jid in args.off.iter().filter(|jid| !waits.contains(jid)) {
        cx.out
            .note(&format!("note: it does not wait for `{}`", clean(jid)));
    }
    if args.dry.dry_run {
        return rehearse(args, now, cx);
    }
    let note = who::note("depends", None);
    let off = args.off_all || !args.off.is_empty();
    if !args.on.is_empty() {
        // A note changes the mark, by which the second call is guarded: it comes with the last.
        let note = if off { &[] } else { note.as_slice() };
        let outcome = cx.core()?.depend(now, &job, note, &args.on)?;
        if outcome.code != Code::Ok {
            return Err(refused(&job, &outcome));
        }
        for jid in outcome.names() {
            cx.out.note(&format!(
                "note: `{}` is complete already, not a dependency",
                clean(jid)
            ));
        }
    }
    if !off {
        return Ok(());
    }
    let jobs = std::slice::from_ref(&job);
    let steered = cx.core()?.undepend(now, &note, jobs, &args.off).pop();
    match steered {
        Some(Ok(Steered::Refused(outcome))) => Err(refused(&job, &outcome)),
        Some(Err(error)) => Err(Fate::explained(&args.jid, ASKS, error)),
        _ => Ok(()),
    }
}

fn refused(job: &Seen, outcome: &Outcome) -> Error {
    let names: Vec<String> = outcome
        .names()
        .map(|jid| format!("`{}`", clean(jid)))
        .collect();
    let fate = match outcome.code {
        Code::Gone | Code::StateChanged => Fate::left(job, outcome),
        Code::MissingDependency => {
            let verb = if names.len() == 1 { "does" } else { "do" };
            let why = format!("{} {verb} not exist", names.join(", "));
            Fate::refused(&job.jid, outcome.code, why)
        }
        Code::Cycle => {
            let why = format!("it would wait for itself, through {}", names.join(", "));
            Fate::refused(&job.jid, outcome.code, why)
        }
        _ => Fate::refused(&job.jid, outcome.code, names.join(", ")),
    };
    fate.error(ASKS)
}

/// Says what would be done, as far as can be seen from outside.
fn rehearse(args: &Args, now: Moment, cx: &mut Cx) -> Result<(), Error> {
    let found = cx.core()?.seen(now, &args.on)?;
    for (jid, found) in args.on.iter().zip(found) {
        if found.is_none() {
            let why = format!("`{}` does not exist", clean(jid));
            return Err(Fate::refused(&args.jid, Code::MissingDependency, why).error(ASKS));
        }
    }
    cx.out
        .note("would change what the job waits for; now it is:");
    Ok(())
}

/// Shows both directions, with states.
fn show(jid: &Name, now: Moment, cx: &mut Cx) -> Result<Exit, Error> {
    match cx.core()?.dependencies(now, jid)? {
        Some(dependencies) => cx.out.show(&dependencies).map(|()| Exit::Ok),
        None => Err(Error::not_found(format!("job `{}` does not exist", clean(jid))).jid(jid)),
    }
}
