//! `qless put`

use std::ffi::OsString;

use crate::cli::shared::{DryRun, Later, MaxData};
use crate::cli::{Format, value};
use crate::core::put::{Policy, Put};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::input::source::Source;
use crate::model::bulk::Code;
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::model::put::Put as Shown;
use crate::view::text::{clean, short};

/// Put a job into a queue
///
/// Prints the jid and nothing else. The data are JSON text, `@FILE`, `-` for stdin, or built from
/// pairs: `--arg user:=42 --arg locale=de`; they are `{}` where nothing is said.
///
/// Example: `jid=$(qless put mail Mail::Welcome --arg user:=42 --delay 10m --tag onboarding)`
///
/// Example: `qless put reports Nightly --jid "nightly-$(date +%F)" --if-absent`
///
/// Exit codes: 0, 2 usage, 4 a dependency does not exist, 5 the jid exists already or the
/// dependencies form a cycle, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The queue
    #[arg(value_parser = value::new_name())]
    queue: Name,
    /// The kind of work
    #[arg(value_parser = value::new_name())]
    klass: Name,
    /// The data: JSON, `@FILE`, or `-` for stdin
    #[arg(value_name = "DATA", allow_negative_numbers = true)]
    positional: Option<OsString>,
    /// The data: JSON, `@FILE`, or `-` for stdin
    #[arg(long, allow_hyphen_values = true, conflicts_with = "positional")]
    data: Option<OsString>,
    /// A member of the data: `key=text` or `key:=json`; dots in the key nest
    #[arg(long, value_name = "PAIR", conflicts_with_all = ["positional", "data"])]
    arg: Vec<OsString>,
    #[command(flatten)]
    limit: MaxData,
    /// The job's id; a fresh one where nothing is said
    #[arg(long, value_parser = value::new_jid())]
    jid: Option<Name>,
    /// Leave a job of this id as it is
    #[arg(long, conflicts_with = "replace")]
    if_absent: bool,
    /// Put a job of this id again, taking it from a worker if need be
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    later: Later,
    /// Higher runs first
    #[arg(long, value_name = "N", value_parser = value::integer, allow_hyphen_values = true)]
    priority: Option<i64>,
    /// A tag
    #[arg(long = "tag", value_name = "T", value_parser = value::new_name())]
    tags: Vec<Name>,
    /// How often it may be tried again
    #[arg(long, value_name = "N", value_parser = value::count, allow_hyphen_values = true)]
    retries: Option<u64>,
    /// A job that must be complete first
    #[arg(long, value_name = "JID", value_parser = value::name())]
    depends: Vec<Name>,
    /// Wait only for those dependencies that exist
    #[arg(long, requires = "depends")]
    allow_missing: bool,
    #[command(flatten)]
    dry: DryRun,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Jid, Format::Raw])?;
    let data = match args.positional.as_ref().or(args.data.as_ref()) {
        Some(given) => data::read(&mut Source::default(), given, args.limit.max_data)?.0,
        None => data::limited(data::build(&args.arg)?, args.limit.max_data)?,
    };
    let now = cx.begin()?;
    let fresh = || Name::from(uuid::Uuid::new_v4().simple().to_string());
    let job = Put {
        queue: args.queue.clone(),
        klass: args.klass.clone(),
        jid: args.jid.clone().unwrap_or_else(fresh),
        data,
        delay: args.later.delay,
        at: match args.later.at {
            Some(_) => args.later.due(now),
            None => None,
        },
        priority: args.priority,
        retries: args.retries,
        tags: (!args.tags.is_empty()).then(|| args.tags.clone()),
        depends: args.depends.clone(),
        spawned_from: None,
    };
    match args.dry.dry_run {
        true => rehearse(&args, &job, now, cx),
        false => put(&args, &job, now, cx),
    }
}

fn put(args: &Args, job: &Put, now: Moment, cx: &mut Cx) -> Result<Exit, Error> {
    let policy = Policy {
        replace: args.replace,
        allow_missing: args.allow_missing,
    };
    let outcome = cx.core()?.put(now, policy, job)?;
    match outcome.code {
        Code::Ok => {
            let state = outcome.word(0).cloned();
            for jid in outcome.names().skip(1) {
                let (jid, what) = (
                    clean(jid),
                    match args.allow_missing {
                        true => "complete or missing",
                        false => "complete already",
                    },
                );
                cx.out
                    .note(&format!("note: `{jid}` is {what}: not a dependency"));
            }
            show(cx, job, Some(job.queue.clone()), state, true)
        }
        Code::Exists if args.if_absent => present(cx, job, now),
        Code::Exists => Err(exists(job)),
        Code::MissingDependency => Err(missing(job, outcome.names())),
        Code::Cycle => Err(cycle(job, outcome.names())),
        _ => {
            let why = outcome.word(0).map(|why| clean(why.as_bytes()));
            let why = why.unwrap_or_else(|| outcome.code.word().into());
            Err(Error::new(
                crate::error::Kind::Error,
                format!("{}: {why}", cannot(job)),
            ))
        }
    }
}

/// Shows a job that exists and was left as it is.
fn present(cx: &mut Cx, job: &Put, now: Moment) -> Result<Exit, Error> {
    let found = cx.core()?.seen(now, std::slice::from_ref(&job.jid))?;
    let (queue, state) = match found.into_iter().flatten().next() {
        Some(seen) => (seen.queue, Some(seen.state)),
        None => (None, None),
    };
    show(cx, job, queue, state, false)
}

fn show(
    cx: &mut Cx,
    job: &Put,
    queue: Option<Name>,
    state: Option<Name>,
    created: bool,
) -> Result<Exit, Error> {
    let shown = Shown {
        jid: job.jid.clone(),
        queue,
        state,
        created,
        dry_run: false,
    };
    cx.out.show(&shown)?;
    let place = |name: &Option<Name>| {
        name.as_ref()
            .map_or("–".into(), |name| clean(name.as_bytes()))
    };
    let (queue, state) = (place(&shown.queue), place(&shown.state));
    let jid = short(job.jid.as_bytes());
    cx.out.note_on_terminal(&match created {
        true => format!("put {jid} in {queue}, {state}"),
        false => format!("{jid} exists already in {queue}, {state}"),
    });
    Ok(Exit::Ok)
}

/// Says what would be done, as far as can be seen from outside.
fn rehearse(args: &Args, job: &Put, now: Moment, cx: &mut Cx) -> Result<Exit, Error> {
    let core = cx.core()?;
    let found = core.seen(now, std::slice::from_ref(&job.jid))?;
    let others = core.seen(now, &job.depends)?;
    let known = found.into_iter().flatten().next();
    if known.is_some() && args.if_absent {
        cx.out.note("would leave the job as it is");
        return present(cx, job, now);
    }
    if known.is_some() && !args.replace {
        return Err(exists(job));
    }
    if job.depends.contains(&job.jid) {
        return Err(cycle(job, [&job.jid, &job.jid].into_iter()));
    }
    let pairs = || job.depends.iter().zip(&others);
    let lost: Vec<&Name> = pairs()
        .filter(|(_, job)| job.is_none())
        .map(|(jid, _)| jid)
        .collect();
    if !lost.is_empty() && !args.allow_missing {
        return Err(missing(job, lost.into_iter()));
    }
    let waits = others.iter().flatten().any(|job| !job.is("complete"));
    let later = args.later.due(now).is_some_and(|due| due > now);
    let state = match (waits, later) {
        (true, _) => "depends",
        (false, true) => "scheduled",
        (false, false) => "waiting",
    };
    cx.out.show(&Shown {
        jid: job.jid.clone(),
        queue: Some(job.queue.clone()),
        state: Some(state.into()),
        created: true,
        dry_run: true,
    })?;
    let queue = clean(job.queue.as_bytes());
    cx.out.note(&format!("would put a job in {queue}, {state}"));
    Ok(Exit::Ok)
}

fn cannot(job: &Put) -> String {
    format!("cannot put `{}`", clean(job.jid.as_bytes()))
}

fn exists(job: &Put) -> Error {
    Error::conflict(format!("{}: a job of this id exists already", cannot(job)))
        .hint("`--if-absent` leaves it as it is, `--replace` puts it again")
        .jid(&job.jid)
}

fn missing<'n>(job: &Put, names: impl Iterator<Item = &'n Name>) -> Error {
    let names: Vec<String> = names
        .map(|name| format!("`{}`", clean(name.as_bytes())))
        .collect();
    let verb = if names.len() == 1 { "does" } else { "do" };
    Error::not_found(format!(
        "{}: {} {verb} not exist, so nothing can wait for it",
        cannot(job),
        names.join(", ")
    ))
    .hint("`--allow-missing` waits only for those that exist")
    .jid(&job.jid)
}

fn cycle<'n>(job: &Put, names: impl Iterator<Item = &'n Name>) -> Error {
    let mut names: Vec<String> = names.map(clean).collect();
    if names.len() < 2 || names.first() != names.last() {
        names.extend(names.first().cloned());
    }
    Error::conflict(format!(
        "{}: it would wait for itself: {}",
        cannot(job),
        names.join(" → ")
    ))
    .jid(&job.jid)
}
