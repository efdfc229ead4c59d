//! `qless throttle release`

use std::collections::HashSet;

use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::clock::moment::Moment;
use crate::core::api::not_found;
use crate::core::api::throttle::ThrottleJobSet;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::model::done::CommandResult;
use crate::model::job::{Job, State};
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::{comma_list, format_count};

/// Let jobs go on without a throttle
///
/// A running job gives back its slot, though it runs on: one more job than the maximum may run until
/// it ends. A job that waits for the throttle returns to its queue and no longer has the throttle.
///
/// Other jobs are not changed: those that neither hold a slot of the throttle nor wait for one are
/// named on stderr, and the exit code is 4.
///
/// Example: `qless throttle pending api -o jid | qless throttle release api -`
///
/// Exit codes: 0, 4 unknown throttle, or a jid that neither holds a slot of it nor waits for one,
/// 6 server, 9 not confirmed (two or more, or in a protected context).
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Throttle
    #[arg(value_name = "ID", value_parser = value::name(), add = value::CompletionKind::Throttles)]
    id: Name,
    /// Jids of the jobs; `-` reads jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", required = true,
          add = value::CompletionKind::Jids(value::JidCompletionKind::NotComplete))]
    pub(super) jids: Vec<ValueFileOrStdinArg>,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let jids = jids::read_jids(&mut session.input(), &args.jids)?.into_jids();
    let now = session.connect()?;
    let (jids, others) = filter_throttle_users(jids, &args.id, now, session)?;
    if let (true, Some(error)) = (jids.is_empty(), &others) {
        return Err(error.clone());
    }
    let count = format_count(jids.len() as u64, "job", "jobs");
    let what = format!("release {count} from throttle {}", args.id);
    let dry = args.dry.dry_run;
    let details = |_: &_| format!("  {}\n", comma_list(jids.iter().take(10)));
    if (dry || !jids.is_empty())
        && session
            .ask_unless_dry_run(
                args.dry,
                AskWhen::if_several(session.min_total_with_other_members(jids.len())),
                &what,
                details,
            )?
            .is_some()
    {
        for jids in jids.chunks(MAX_JOBS_PER_CALL) {
            session
                .core()?
                .free_jobs_from_throttle(now, &args.id, jids)?;
        }
        let released = what.replacen("release", "released", 1);
        match others {
            // Beside an error about others, silence would mean that nothing was released.
            Some(_) => session.ui.note(&released),
            None => session.ui.note_to_people(&released),
        }
    }
    session
        .ui
        .show(&CommandResult::new("throttle release", jids, dry))?;
    Ok(session.ui.report_if_incomplete(others))
}

/// Of the given jobs, the ones that hold a slot of the throttle or wait for one, and the error about all others.
fn filter_throttle_users(
    jids: Vec<Name>,
    id: &Name,
    now: Moment,
    session: &mut Session,
) -> Result<(Vec<Name>, Option<Error>), Error> {
    let core = session.core()?;
    let mut listed: HashSet<Name> = HashSet::new();
    for part in [ThrottleJobSet::Locks, ThrottleJobSet::Pending] {
        listed.extend(core.throttle_jids(now, id, part)?);
    }
    let (mut users, mut others, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for jids in jids.chunks(MAX_JOBS_PER_CALL) {
        let jobs = core.jobs_with_fields(now, "jid,shown,throttles", jids)?;
        for (jid, job) in jids.iter().zip(jobs) {
            // The core lists a job only for the first of the throttles that hold it back, so the fields of the job
            // count, too.
            let waits = |job: &Job| {
                job.state == Some(State::Throttled) && job.throttles.iter().any(|one| one == id)
            };
            // A listed job may not exist: if another client deleted a job, its slot remains.
            match job {
                _ if listed.contains(jid) => users.push(jid.clone()),
                Some(job) if waits(&job) => users.push(jid.clone()),
                Some(_) => others.push(jid.clone()),
                None => missing.push(jid.clone()),
            }
        }
    }
    if others.is_empty() && missing.is_empty() {
        return Ok((users, None));
    }
    let (existing, unreadable) = core.existing_throttles(now, vec![id.clone()])?;
    if users.is_empty() && existing.is_empty() && unreadable.is_empty() {
        let known = core.throttle_ids_to_suggest(now)?;
        return Ok((users, Some(Error::unknown_name("throttle", id, &known))));
    }
    let mut clauses = Vec::new();
    if let Err(error) = not_found::refuse_missing_jobs(&missing) {
        clauses.push(error.message().into_owned());
    }
    let named: Vec<String> = others.iter().map(|jid| format!("`{jid}`")).collect();
    match named.as_slice() {
        [] => {}
        [jid] => clauses.push(format!(
            "{jid} neither holds a slot of throttle `{id}` nor waits for one"
        )),
        _ => clauses.push(format!(
            "{} jobs neither hold a slot of throttle `{id}` nor wait for one: {}",
            named.len(),
            named.join(", ")
        )),
    }
    let error = Error::not_found(clauses.join("; "));
    Ok((
        users,
        Some(match (missing.as_slice(), others.as_slice()) {
            ([jid], []) | ([], [jid]) => error.about_jid(jid),
            _ => error,
        }),
    ))
}
