//! `qless put` of one job.

use crate::args::coordination;
use crate::args::format::Format;
use crate::bulk::maxima::ChangedThrottleMaxima;
use crate::bulk::new_queues;
use crate::core::api::put::PutPolicy;
use crate::error::Error;
use crate::exit::Exit;
use crate::name::Name;
use crate::session::Session;
use crate::submit::one::{SinglePut, show_put};
use crate::wait::SubscribedWait;

use super::Args;

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
    let maxima = ChangedThrottleMaxima::read_changes(&args.coordinated.throttles, now, session)?;
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
    let fresh = || Name::from(uuid::Uuid::new_v4().simple().to_string());
    let job = SinglePut {
        job: args.new_job(data),
        jid: args.jid.clone().unwrap_or_else(fresh),
        policy: PutPolicy {
            replace: args.replace,
            allow_missing: args.allow_missing,
            tell_lanes: true,
            dry_run: args.dry_run,
        },
        if_absent: args.if_absent,
        maxima: maxima.as_put_maxima(),
    };
    let put = job.put_job(now, session)?;
    let exit = show_put(&put, session)?;
    if args.dry_run {
        if put.writes_job() {
            maxima.note_planned_maxima(session);
        }
        return Ok(exit);
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
    Ok(exit)
}
