//! `qless put` of one job.

use crate::args::coordination;
use crate::args::format::Format;
use crate::bulk::maxima::Maxima;
use crate::bulk::new_queues;
use crate::clock::moment::Moment;
use crate::core::api::put::{Policy, Put};
use crate::core::api::queue::CHECK;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::model::bulk::Code;
use crate::model::put::Put as Shown;
use crate::name::Name;
use crate::session::Session;
use crate::submit::shown;
use crate::wait::Waiter;

use super::Args;
use super::forecast::{Effect, forecast, without_effect};

/// In seconds.
const TEN_YEARS: f64 = 10.0 * 365.25 * 86_400.0;

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    // Without `--from` both are required.
    let (Some(queue), Some(klass)) = (&args.queue, &args.klass) else {
        return Err(Error::usage("`qless put` expects a queue and a klass"));
    };
    if args.allow_missing && args.depends.is_empty() {
        return Err(Error::usage("`--allow-missing` needs `--depends`"));
    }
    // The defaults of the queue may supply an option that is absent. An empty key is given.
    if args.coordinated.key.as_ref().is_some_and(Name::is_empty) {
        coordination::check(&args.lane.options(&args.coordinated))?;
    }
    let data = args.data(&mut session.input())?;
    let now = session.begin()?;
    let fresh = || Name::from(uuid::Uuid::new_v4().simple().to_string());
    let job = Put {
        queue: queue.clone(),
        klass: klass.clone(),
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
        coordination: args.lane.options(&args.coordinated),
    };
    if let Some(at) = job.at
        && at.since(now) > TEN_YEARS
    {
        return Err(Error::usage("`--at` is more than ten years ahead"));
    }
    let queues = std::slice::from_ref(queue);
    let swapped = new_queues::swapped(queue, klass, args.existing, args.dry_run, now, session)?;
    new_queues::announce(queues, args.existing, args.dry_run, now, session)
        .map_err(|error| error.hint_if(swapped.clone()))?;
    if let Some(hint) = swapped {
        session.ui.note(&format!("hint: {hint}"));
    }
    let mut maxima = Maxima::read(&args.coordinated.throttles, now, session)?;
    if args.dry_run {
        rehearse(args, &job, &maxima, now, session)
    } else {
        // The subscription comes first, so that the wait misses nothing of the job.
        let waiter = match args.wait_options(now) {
            Some(options) => Some(Waiter::open(options, session)?),
            None => None,
        };
        maxima.confirm(session)?;
        // A put that can be seen to put nothing does not touch a throttle, not even for a moment.
        if maxima.has_new() && forecast(policy(args), &job, now, session)?.0.puts() {
            maxima.set_new(now, session)?;
        }
        let put = put(args, &job, now, session);
        let (exit, took) = match put {
            Ok((exit, took, done)) => {
                maxima.settle(done, std::slice::from_ref(&took), now, session)?;
                (exit, took)
            }
            Err(error) => {
                // After a lost reply the job may be there, and need its limit.
                if error.kind() != Kind::Unknown {
                    let jid = std::slice::from_ref(&job.jid);
                    _ = maxima.settle(false, jid, now, session);
                }
                return Err(error);
            }
        };
        if let Some(replicas) = args.replicas.wait_replicas {
            session.core()?.wait_for_replicas(replicas)?;
        }
        if let Some(waiter) = waiter {
            super::wait_for(waiter, vec![took], session)?;
        }
        Ok(exit)
    }
}

/// Puts the job. Returns the jid of the job that took the put, and whether the put changed it.
fn put(
    args: &Args,
    job: &Put,
    now: Moment,
    session: &mut Session,
) -> Result<(Exit, Name, bool), Error> {
    let (policy, _) = policy(args);
    let outcome = session.core()?.put(now, policy, job)?;
    match outcome.code {
        Code::Ok => {
            let placed = outcome.done.unwrap_or_default();
            for jid in &placed.no_dependencies {
                let (jid, what) = (
                    jid,
                    if args.allow_missing {
                        "complete or missing"
                    } else {
                        "complete already"
                    },
                );
                session
                    .ui
                    .note(&format!("note: `{jid}` is {what}: not a dependency"));
            }
            note_without_effect(job, now, session)?;
            let took = placed.jid.as_ref().unwrap_or(&job.jid).clone();
            let done = placed.state.as_ref().map(Name::as_bytes) != Some(b"skipped");
            Ok((shown::show_placed(session, job, &placed, now)?, took, done))
        }
        Code::Exists if args.if_absent => {
            Ok((show_existing(session, job, now)?, job.jid.clone(), false))
        }
        Code::Exists => Err(exists(job)),
        Code::MissingDependency => Err(missing(job, outcome.names())),
        Code::Cycle => Err(cycle(job, outcome.names())),
        // An option that needs another one, which the queue has no default for either.
        Code::Invalid if coordination::check(&job.coordination).is_err() => {
            coordination::check(&job.coordination).map(|()| (Exit::Ok, job.jid.clone(), false))
        }
        _ => {
            let why = outcome.why();
            // The core names the key, or repeats the words of the server.
            if why.starts_with("WRONGTYPE") || why.contains(" is no ") {
                let why = why
                    .split_once("WRONGTYPE")
                    .map_or(why.as_str(), |_| "a key that it needs has the wrong type");
                let error = Error::new(Kind::Damaged, format!("{}: {why}", cannot(job)));
                return Err(error.hint(format!("`{CHECK}` names it")));
            }
            Err(Error::new(Kind::Error, format!("{}: {why}", cannot(job))))
        }
    }
}

/// Shows a job that exists and was left as it is.
fn show_existing(session: &mut Session, job: &Put, now: Moment) -> Result<Exit, Error> {
    let found = session
        .core()?
        .snapshots(now, std::slice::from_ref(&job.jid))?;
    let (queue, state) = match found.into_iter().flatten().next() {
        Some(seen) => (seen.queue.clone(), Some(seen.state.clone())),
        None => (None, None),
    };
    let jid = job.jid.clone();
    let shown = Shown {
        jid,
        queue,
        state,
        ..Shown::default()
    };
    shown::show(session, shown, None)
}

/// Reports what would be done, as far as it can be known without doing it.
fn rehearse(
    args: &Args,
    job: &Put,
    maxima: &Maxima,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    let (effect, shown) = forecast(policy(args), job, now, session)?;
    note_without_effect(job, now, session)?;
    show_forecast(effect, &shown, session)?;
    if effect.puts() {
        maxima.rehearse(session);
    }
    Ok(Exit::Ok)
}

/// Returns how the jobs are put, and whether an existing job is left as it is.
fn policy(args: &Args) -> (Policy, bool) {
    let policy = Policy {
        replace: args.replace,
        allow_missing: args.allow_missing,
        tell_lanes: true,
    };
    (policy, args.if_absent)
}

/// Shows what a put would do.
pub(crate) fn show_forecast(
    effect: Effect,
    shown: &Shown,
    session: &mut Session,
) -> Result<(), Error> {
    session.ui.show(shown)?;
    let (place, jid) = (shown::place(shown), &shown.jid);
    let behind = shown.queued_behind.as_ref();
    let behind = behind.map_or_else(String::new, |jid| format!(", behind {jid}"));
    session.ui.note_dry_run(&match effect {
        Effect::Put => format!("would put a job {place}{behind}"),
        Effect::Left => "would leave the job as it is".to_owned(),
        Effect::Merged => format!("would merge the data into {jid} {place}"),
        Effect::Replaced => format!("would replace {jid} {place}"),
        Effect::Skipped => format!("would put nothing: {jid} is {place}"),
    });
    Ok(())
}

/// Notes an option that was given and has no effect. It is no error: the defaults of the queue may
/// give it one, and these can change between two runs of the same command.
fn note_without_effect(job: &Put, now: Moment, session: &mut Session) -> Result<(), Error> {
    if let Some(why) = without_effect(job, now, session)? {
        session.ui.note(&format!("note: {why}"));
    }
    Ok(())
}

fn cannot(job: &Put) -> String {
    format!("cannot put `{}`", job.jid)
}

pub(super) fn exists(job: &Put) -> Error {
    Error::conflict(format!("{}: a job of this id exists already", cannot(job)))
        .hint("`--if-absent` leaves it as it is, `--replace` puts it again")
        .jid(&job.jid)
}

pub(super) fn missing<'n>(job: &Put, names: impl Iterator<Item = &'n Name>) -> Error {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let verb = if names.len() == 1 { "does" } else { "do" };
    Error::not_found(format!(
        "{}: {} {verb} not exist, so no job can depend on it",
        cannot(job),
        names.join(", ")
    ))
    .hint("`--allow-missing` ignores dependencies that do not exist")
    .jid(&job.jid)
}

pub(super) fn cycle<'n>(job: &Put, names: impl Iterator<Item = &'n Name>) -> Error {
    let mut names: Vec<String> = names.map(Name::to_string).collect();
    if names.len() < 2 || names.first() != names.last() {
        names.extend(names.first().cloned());
    }
    Error::conflict(format!(
        "{}: it would depend on itself: {}",
        cannot(job),
        names.join(" → ")
    ))
    .jid(&job.jid)
}
