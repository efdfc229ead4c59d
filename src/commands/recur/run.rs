//! `qless recur run`

use std::borrow::Cow;

use super::require_recurring;
use crate::args::format::Format;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::commands::put::{put_or_duplicated_job, show_put};
use crate::core::api::guard::{GuardReply, PutPolicy};
use crate::error::Error;
use crate::exit::Exit;
use crate::input::line::{NewJob, NewName};
use crate::model::recur::text::owed_text;
use crate::name::Name;
use crate::session::Session;

/// Put one job of a recurring job now
///
/// Neither the next run nor the count of the recurring job changes, and the runs that it owes stay: the next pops put
/// these. Prints the jid of the new job. If the job is a duplicate of another one, as with `--no-overlap` while one has
/// not ended, prints the jid of that job; `new` in the document of `-o json` is then false.
///
/// Example: `qless recur run nightly`
///
/// Exit codes: 0, 4 no such recurring job, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Jid of the recurring job
    #[arg(value_parser = value::name_or_empty(),
          add = value::CompletionKind::Jids(value::JidCompletionKind::Recurring))]
    pub(super) jid: Name,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid])?;
    let now = session.connect()?;
    let found = require_recurring(session, now, &args.jid)?;
    let owed = owed_text(
        found.missed_runs_within_backlog(now),
        session.ui.render_options(),
    );
    let coordination = found.coordination();
    let name = |name| NewName(Cow::Borrowed(Name::as_bytes(name)));
    let number = |number: i64| Cow::Owned(number.to_string().into_bytes());
    let retries = found.retries.map(|retries| retries.floor());
    let queue = found.queue.unwrap_or_default();
    let job = NewJob {
        queue: Some(NewName::from(&queue)),
        klass: Some(NewName::from(&found.klass.unwrap_or_default())),
        data: Some(Cow::Borrowed(found.data.as_bytes())),
        priority: found.priority.map(|priority| number(priority.floor())),
        retries: retries.filter(|retries| *retries >= 0).map(number),
        tags: Some(found.tags.iter().map(name).collect()),
        coordination,
        past: vec![("spawned_from_jid", Cow::Borrowed(args.jid.as_bytes()))],
        ..NewJob::default()
    };
    let jid = Name::from(uuid::Uuid::new_v4().simple().to_string());
    let policy = PutPolicy {
        tell_lanes: true,
        dry_run: args.dry.dry_run,
        ..PutPolicy::default()
    };
    let mut call = policy.put_one_call(None);
    job.for_each_put_word(jid.as_bytes(), now, |word| call.push_arg(word));
    let placed = match session.core()?.put_one(now, &jid, call)? {
        GuardReply::Done(placed) => placed,
        GuardReply::Refused(refusal) => {
            let why = refusal.core_refusal_text();
            return Err(Error::conflict(format!(
                "cannot put a job in `{queue}`: {why}"
            )));
        }
    };
    let put = put_or_duplicated_job(&job, jid, placed, args.dry.dry_run, now, session)?;
    show_put(&put, session)?;
    if let Some(owed) = owed {
        let note = format!("{owed} beside this: the next pops put them");
        session.ui.note_to_people(&note);
    }
    Ok(Exit::Ok)
}
