//! `qless recur run`

use super::super::put::forecast::forecast;
use super::super::put::one::show_forecast;
use super::{first, missing};
use crate::args::format::Format;
use crate::args::shared::DryRun;
use crate::args::value;
use crate::core::api::put::{Policy, Put};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Code;
use crate::name::Name;
use crate::session::Session;
use crate::submit;

/// Put one job of a recurring job now
///
/// Neither the next run nor the count of the recurring job changes. Prints the jid of the new job. If
/// another job takes the put, as with `--no-overlap` while one has not ended, prints the jid of that
/// job; `new` in the document of `-o json` is then false.
///
/// Example: `qless recur run nightly`
///
/// Exit codes: 0, 4 no such recurring job, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Jid of the recurring job
    #[arg(value_parser = value::any_name(), add = value::Candidates::Jids(value::Jobs::Recurring))]
    jid: Name,
    #[command(flatten)]
    dry: DryRun,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid])?;
    let now = session.begin()?;
    let Some(found) = first(session, now, &args.jid)? else {
        return Err(missing(&args.jid));
    };
    let coordination = found.coordination();
    let job = Put {
        queue: found.queue.unwrap_or_default(),
        klass: found.klass.unwrap_or_default(),
        jid: Name::from(uuid::Uuid::new_v4().simple().to_string()),
        data: found.data.as_bytes().to_vec(),
        priority: found.priority.map(|priority| priority.floor()),
        retries: found
            .retries
            .and_then(|retries| u64::try_from(retries.floor()).ok()),
        tags: Some(found.tags),
        coordination,
        spawned_from: Some(args.jid),
        ..Put::default()
    };
    let queue = &job.queue;
    let policy = Policy {
        tell_lanes: true,
        ..Policy::default()
    };
    if args.dry.dry_run {
        let (effect, shown) = forecast((policy, false), &job, now, session)?;
        show_forecast(effect, &shown, session)?;
        return Ok(Exit::Ok);
    }
    let outcome = session.core()?.put(now, policy, &job)?;
    if outcome.code != Code::Ok {
        let why = outcome.why();
        return Err(Error::conflict(format!(
            "cannot put a job in `{queue}`: {why}"
        )));
    }
    submit::shown::show_placed(session, &job, &outcome.done.unwrap_or_default(), now)
}
