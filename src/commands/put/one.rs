//! `qless put` of one job: one call, whose reply becomes the result.

use super::Args;
use crate::args::coordination;
use crate::args::format::Format;
use crate::bulk::maxima::ThrottleMaximaToSet;
use crate::bulk::new_queues;
use crate::clock::moment::Moment;
use crate::core::api::guard::{GuardRefusal, GuardReply};
use crate::core::api::put::PutResult;
use crate::core::api::queue::CHECK;
use crate::error::{Cause, Error, Kind};
use crate::exit::Exit;
use crate::input::line::NewJob;
use crate::json::Json;
use crate::model::bulk::OutcomeCode;
use crate::model::coordination::{CoordinationOption, CoordinationOptions, RequiredOption};
use crate::model::put::{DuplicateOutcome, PutOrExistingJob};
use crate::name::Name;
use crate::session::Session;
use crate::wait::SubscribedWait;

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
    // Refuse options that need a key only if `--key` is given and empty: if it is absent, the defaults of the queue may
    // supply a key.
    if args.coordinated.key.as_ref().is_some_and(Name::is_empty) {
        coordination::refuse_unmet_requirements(
            &args.lane.lane_and_coordination_options(&args.coordinated),
        )?;
    }
    let data = args.read_data(&mut session.input())?;
    let now = session.connect()?;
    if let Some(at) = &args.later.at
        && at.resolve(now).since(now) > TEN_YEARS
    {
        return Err(Error::usage("`--at` is more than ten years ahead"));
    }
    let queues = std::slice::from_ref(queue);
    let swapped = new_queues::swapped_arguments_note(
        queue,
        klass,
        args.existing,
        args.dry_run,
        now,
        session,
    )?;
    new_queues::note_or_refuse_new_queues(queues, args.existing, args.dry_run, now, session)
        .map_err(|error| error.hint_if(swapped.clone()))?;
    if let Some(hint) = swapped {
        session.ui.note(&format!("hint: {hint}"));
    }
    let maxima = ThrottleMaximaToSet::read_changes(&args.coordinated.throttles, now, session)?;
    // Subscribe before the put, so that the wait misses no event of the job.
    let waiter = match args.wait_options(now).filter(|_| !args.dry_run) {
        Some(options) => Some(SubscribedWait::subscribe_and_handle_signals(
            options, session,
        )?),
        None => None,
    };
    if !args.dry_run {
        maxima.confirm_if_protected(session)?;
    }
    let job = args.new_job(data);
    let fresh = || Name::from(uuid::Uuid::new_v4().simple().to_string());
    let jid = args.jid.clone().unwrap_or_else(fresh);
    let mut call = args.policy().put_one_call(maxima.as_put_maxima().as_ref());
    job.for_each_put_word(jid.as_bytes(), now, |word| call.push_arg(word));
    let put = match session.core()?.put_one(now, &jid, call)? {
        GuardReply::Done(placed) => {
            note_no_dependencies(&placed, args.allow_missing, session);
            note_if_option_has_no_effect(&job, now, session)?;
            put_or_duplicated_job(&job, jid, placed, args.dry_run, now, session)?
        }
        GuardReply::Refused(refusal) if refusal.code == OutcomeCode::Exists && args.if_absent => {
            existing_job(jid, args.dry_run, now, session)?
        }
        GuardReply::Refused(refusal) => return Err(refusal_error(&job, &jid, &refusal)),
    };
    show_put(&put, session)?;
    if args.dry_run {
        if put.writes_job() {
            maxima.note_planned_maxima(session);
        }
        return Ok(Exit::Ok);
    }
    if put.writes_job() {
        maxima.note_changed_maxima(session);
    }
    if let Some(replicas) = args.replicas.wait_replicas {
        session.core()?.wait_for_replicas(replicas)?;
    }
    if let Some(waiter) = waiter {
        super::wait_for_jobs(waiter, vec![put.jid], session)?;
    }
    Ok(Exit::Ok)
}

/// Notes each given dependency for which the job does not wait.
fn note_no_dependencies(placed: &PutResult, allow_missing: bool, session: &mut Session) {
    let what = if allow_missing {
        "complete or missing"
    } else {
        "complete already"
    };
    for jid in &placed.no_dependencies {
        session
            .ui
            .note(&format!("note: `{jid}` is {what}: not a dependency"));
    }
}

/// Notes an option that has no effect, because neither the put nor the defaults of its queue set the `dup` that
/// the option requires. This is no error: the defaults can change between two runs of a command.
fn note_if_option_has_no_effect(
    job: &NewJob,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    let given = &job.coordination;
    let (Some((_, RequiredOption::Dup(needed))), Err(unmet)) = (
        given.first_unmet_requirement(),
        coordination::refuse_unmet_requirements(given),
    ) else {
        return Ok(());
    };
    let key = Name::from([job.queue(), b"-defaults"].concat());
    let options = session.core()?.config(now)?.into_iter();
    let stored = options
        .filter(|option| option.set)
        .find(|option| option.key == key);
    let stored = stored.and_then(|stored| Json::parse(stored.value.as_bytes()));
    let defaults = stored
        .map(|stored| CoordinationOptions::from_stored_json(&stored))
        .unwrap_or_default();
    let mut all = given.clone();
    all.fill_absent(&defaults);
    if all.option_value(CoordinationOption::Dup) != Some(needed.as_bytes()) {
        let why = unmet.message();
        session.ui.note(&format!("note: {why}: it has no effect"));
    }
    Ok(())
}

/// The result of an accepted put: the new job, or the existing job that it duplicates with what the core did about it.
pub(in crate::commands) fn put_or_duplicated_job(
    job: &NewJob,
    jid: Name,
    placed: PutResult,
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<PutOrExistingJob, Error> {
    let Some(existing) = placed.jid.filter(|existing| *existing != jid) else {
        return Ok(PutOrExistingJob {
            jid,
            queue: Some(Name::from(job.queue())),
            state: placed.state,
            created: true,
            new: true,
            queued_behind: placed.behind,
            dry_run,
            duplicate: DuplicateOutcome::None,
        });
    };
    let duplicate = match placed.state.as_ref().map(Name::as_bytes) {
        Some(b"merged") => DuplicateOutcome::Merged,
        Some(b"replaced") => DuplicateOutcome::Replaced,
        Some(b"skipped") => DuplicateOutcome::Skipped,
        _ => DuplicateOutcome::Exists,
    };
    Ok(PutOrExistingJob {
        queued_behind: placed.behind,
        duplicate,
        ..existing_job(existing, dry_run, now, session)?
    })
}

/// A job that existed before the put, with its present queue and state.
fn existing_job(
    jid: Name,
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<PutOrExistingJob, Error> {
    let core = session.core()?;
    let found = core.job_snapshots(now, std::slice::from_ref(&jid))?;
    let found = found.into_iter().flatten().next();
    Ok(PutOrExistingJob {
        jid,
        queue: found.as_ref().and_then(|job| job.queue.clone()),
        state: found.as_ref().map(|job| job.state.clone()),
        dry_run,
        duplicate: DuplicateOutcome::Exists,
        ..PutOrExistingJob::default()
    })
}

/// The error for a put that the core refused.
fn refusal_error(job: &NewJob, jid: &Name, refusal: &GuardRefusal) -> Error {
    // If the put has an option that requires another one, the queue's defaults did not set the required one either.
    if let (OutcomeCode::Invalid, Err(unmet)) = (
        refusal.code,
        coordination::refuse_unmet_requirements(&job.coordination),
    ) {
        return unmet;
    }
    let cannot_put = |why: &str| format!("cannot put `{jid}`: {why}");
    let message = cannot_put(&refusal.put_or_dependency_detail().to_string());
    match refusal.code {
        OutcomeCode::Exists => Error::conflict(message)
            .about_jid(jid)
            .hint("`--if-absent` leaves it as it is, `--replace` puts it again"),
        OutcomeCode::Cycle => Error::conflict(message).about_jid(jid),
        OutcomeCode::MissingDependency => {
            let mut missing = refusal.detail_names();
            let hint = if missing.any(|name| name.as_bytes().contains(&b',')) {
                "name each job by a `--depends` of its own"
            } else {
                "`--allow-missing` ignores dependencies that do not exist"
            };
            Error::not_found(message)
                .hint(hint)
                .about_jid(jid)
                .caused_by(Cause::MissingDependency)
        }
        _ => {
            let why = refusal.core_refusal_text();
            // These are the texts about a key of the wrong type. The core names the key, or repeats the server's
            // `WRONGTYPE` error.
            if !why.starts_with("WRONGTYPE") && !why.contains(" is no ") {
                return Error::new(Kind::Error, message);
            }
            let why = why
                .split_once("WRONGTYPE")
                .map_or(why.as_str(), |_| "a key that it needs has the wrong type");
            Error::new(Kind::WrongKeyType, cannot_put(why)).hint(format!("`{CHECK}` names it"))
        }
    }
}

/// Shows the result of a put. On a terminal, or for a dry run, a line on stderr says what happened.
pub(in crate::commands) fn show_put(
    put: &PutOrExistingJob,
    session: &mut Session,
) -> Result<(), Error> {
    session.ui.show(put)?;
    if put.dry_run {
        session.ui.note_dry_run_changes(&put.change_text());
    } else {
        session.ui.note_to_people(&put.change_text());
    }
    Ok(())
}
