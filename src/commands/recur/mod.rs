//! `qless recur`: recurring jobs.

use std::borrow::Cow;
use std::slice;

use super::subcommands::{Subcommands, nested_subcommands};
use super::{HelpGroup, MemberDispatch, Spec};
use crate::clock::moment::Moment;
use crate::core::api::guard::GuardReply;
use crate::error::Error;
use crate::model::bulk::OutcomeCode;
use crate::model::coordination::{CoordinationOption, CoordinationOptions};
use crate::model::recur::Recurring;
use crate::model::recur::text::next_runs_text;
use crate::name::Name;
use crate::session::Session;

mod get;
mod list;
mod pause;
mod put;
mod resume;
mod rm;
mod run;
mod set;
mod tag;

/// Show and change recurring jobs
///
/// A recurring job is a template. When a worker pops its queue or a client peeks it, the core puts
/// one job per interval that has passed. Without pops and peeks the recurring job is overdue.
///
/// `backlog` limits how many missed runs are made up for. Example: a job runs every 10 minutes, and
/// its queue is not popped from 01:00 until 02:05, so the 7 runs from 01:00 to 02:00 are due. With
/// `--backlog 0` that pop gets all 7 jobs. With `--backlog 2` it gets those of 01:50 and 02:00; the
/// other 5 runs are skipped. The schedule stays the same: the next run is at 02:10.
///
/// A paused recurring job puts no jobs until it is resumed, and no other client sees it.
///
/// Examples: `qless recur list` · `qless recur put reports Nightly --at 03:00 --jid nightly`
///
/// Exit codes: 0, 4 unknown jid or queue, 5 the jid exists, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: NestedSubcommand,
}

nested_subcommands! {
    reads Get(get::Args) => get::run,
    reads List(list::Args) => list::run,
    writes Pause(pause::Args) => pause::run,
    writes Put(put::Args) => put::run,
    writes Resume(resume::Args) => resume::run,
    writes Rm(rm::Args) => rm::run,
    writes Run(run::Args) => run::run,
    writes Set(set::Args) => set::run,
    writes Tag(tag::Args) => tag::run,
}

/// One, and many.
const RECURRING: (&str, &str) = ("recurring job", "recurring jobs");

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(
    HelpGroup::Submit,
    |args: &Args| args.command.writes(),
    |args, session| args.command.run(session),
)
.context_member_dispatch(Args::context_member_dispatch);

impl Args {
    fn context_member_dispatch(&self) -> MemberDispatch<'_> {
        match &self.command {
            NestedSubcommand::Get(get::Args { jids, .. }) => MemberDispatch::Jobs(jids),
            NestedSubcommand::Pause(pause::Args { jids, .. })
            | NestedSubcommand::Resume(resume::Args { jids, .. })
            | NestedSubcommand::Rm(rm::Args { jids, .. }) => MemberDispatch::AllJobs(jids),
            NestedSubcommand::Run(run::Args { jid, .. })
            | NestedSubcommand::Set(set::Args { jid, .. })
            | NestedSubcommand::Tag(tag::Args { jid, .. }) => MemberDispatch::Job(jid),
            NestedSubcommand::Put(put::Args { jid, .. }) => {
                let jid = jid.as_ref();
                let kept_with = jid.map(|jid| Cow::Borrowed(jid.as_bytes()));
                MemberDispatch::NewJob { kept_with, jid }
            }
            NestedSubcommand::List(_) => MemberDispatch::Each,
        }
    }
}

/// The end of the note about a changed recurring job: if it is paused, that it stays paused; otherwise nothing.
fn stays_paused_clause_or_empty(found: &Recurring) -> &'static str {
    if found.is_paused() {
        ", which stays paused"
    } else {
        ""
    }
}

/// Adds the options of `--no-overlap`: all jobs of the recurring job have its jid as key, and a job is not put while an
/// earlier one has not ended.
fn forbid_overlaps(jid: &Name, options: &mut CoordinationOptions) {
    options.set_option(CoordinationOption::Key, jid.as_bytes().to_vec());
    options.set_option(CoordinationOption::Dup, &b"skip"[..]);
}

/// Prints a note with the next runs: always if the user gave a time or in a dry run, otherwise only on a terminal.
fn note_next_runs(runs: &[Moment], even_without_terminal: bool, session: &mut Session) {
    let line = next_runs_text(runs, session.ui.render_options());
    if runs.is_empty() {
    } else if even_without_terminal {
        session.ui.note(&line)
    } else {
        session.ui.note_to_people(&line)
    }
}

/// Reads a recurring job that must exist.
fn require_recurring(session: &mut Session, now: Moment, jid: &Name) -> Result<Recurring, Error> {
    let found = require_recurring_jobs(session, now, slice::from_ref(jid))?;
    let one = found.into_iter().next();
    one.ok_or_else(|| missing_recurring_error(jid))
}

/// Reads recurring jobs that must exist.
fn require_recurring_jobs(
    session: &mut Session,
    now: Moment,
    jids: &[Name],
) -> Result<Vec<Recurring>, Error> {
    let found = session.core()?.recurring_jobs(now, jids)?;
    let pairs = jids.iter().zip(found);
    pairs
        .map(|(jid, found)| {
            found.ok_or_else(|| match jids.len() {
                1 => missing_recurring_error(jid),
                _ => Error::not_found(format!(
                    "recurring job `{jid}` does not exist; nothing was changed"
                ))
                .about_jid(jid),
            })
        })
        .collect()
}

fn missing_recurring_error(jid: &Name) -> Error {
    Error::not_found(format!("recurring job `{jid}` does not exist")).about_jid(jid)
}

/// The values of the reply to a call that paused or resumed a recurring job. A refusal is an error.
fn require_done<D>(verb: &str, jid: &Name, reply: GuardReply<D>) -> Result<D, Error> {
    let refusal = match reply {
        GuardReply::Done(values) => return Ok(values),
        GuardReply::Refused(refusal) => refusal,
    };
    let error = match refusal.code {
        OutcomeCode::Gone => return Err(missing_recurring_error(jid)),
        OutcomeCode::Exists => {
            let what = format!("`{jid}` is paused, and another recurring job has its jid now");
            Error::conflict(what).hint("`qless recur rm` removes both")
        }
        _ => {
            let why = refusal.detail_names().next().cloned().unwrap_or_default();
            Error::conflict(format!("cannot {verb} `{jid}`: {why}"))
        }
    };
    Err(error.about_jid(jid))
}
