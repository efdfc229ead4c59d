//! The subcommands, one module each; the path spells the command line.
//!
//! A module has `Args`, whose doc comment is the help, `run`, and `SPEC`, which says whether the
//! subcommand writes and where `qless --help` lists it. `CONTRIBUTING.md` has the recipe for a new one.

use std::borrow::Cow;
use std::time::Duration;

use strum::VariantArray;

use crate::args::input_arg::InputArg;
use crate::clock::moment::Moment;
use crate::core::api::job::JobFields;
use crate::core::api::not_found;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::explain::text::traces_text;
use crate::model::list::{JobList, List};
use crate::name::Name;
use crate::session::Session;

pub(crate) mod api;
pub(crate) mod bury;
pub(crate) mod cancel;
pub(crate) mod check;
pub(crate) mod complete;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod defaults;
pub(crate) mod depends;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fail;
pub(crate) mod failed;
pub(crate) mod forget;
pub(crate) mod get;
pub(crate) mod graph;
pub(crate) mod health;
pub(crate) mod heartbeat;
pub(crate) mod import;
pub(crate) mod jobs;
pub(crate) mod key;
pub(crate) mod lag;
pub(crate) mod length;
pub(crate) mod local;
pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod morgue;
pub(crate) mod r#move;
pub(crate) mod pause;
pub(crate) mod peek;
pub(crate) mod pop;
pub(crate) mod priority;
pub(crate) mod promote;
pub(crate) mod put;
pub(crate) mod queues;
pub(crate) mod recur;
pub(crate) mod retry;
pub(crate) mod script;
pub(crate) mod stats;
pub(crate) mod status;
mod subcommands;
pub(crate) mod tag;
pub(crate) mod throttle;
pub(crate) mod timeout;
pub(crate) mod top;
pub(crate) mod track;
pub(crate) mod unfail;
pub(crate) mod unpause;
pub(crate) mod version;
pub(crate) mod wait;
pub(crate) mod web;
pub(crate) mod work;
pub(crate) mod workers;

/// Shows jobs in the order of their jids. Those that do not exist are listed as missing.
fn show_jobs(jids: &[Name], now: Moment, session: &mut Session) -> Result<(), Error> {
    let found = session.core()?.jobs(now, JobFields::Brief, jids)?;
    let (mut jobs, mut missing) = (Vec::new(), Vec::new());
    for (jid, job) in jids.iter().zip(found) {
        match job {
            Some(job) => jobs.push(job),
            None => missing.push(jid.clone()),
        }
    }
    let list = List::of_all(jobs);
    session.ui.show(&JobList { list, missing })
}

/// The error about a job that does not exist, with the traces that are left of it.
fn unknown_job_error(jid: &Name, now: Moment, session: &mut Session) -> Result<Error, Error> {
    let found = session.core()?.traces_of_jid(now, jid)?;
    let error = not_found::missing_job_error(jid);
    Ok(match traces_text(&found) {
        Some(left) => error.hint(format!("traces are left: {left}")),
        None => error,
    })
}

/// Refuses jobs that were asked for and do not exist, if there are any.
fn refuse_unknown_jobs(
    missing: &[Name],
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    match missing {
        [jid] => Err(unknown_job_error(jid, now, session)?),
        missing => not_found::refuse_missing_jobs(missing).map(|()| Exit::Ok),
    }
}

/// Whether a word in the position of a name asks for the list of all instead, as in `qless tag ls`.
fn is_list_word(word: &Name) -> bool {
    matches!(word.as_bytes(), b"list" | b"ls")
}

/// How a subcommand runs if the context names several prefixes or servers as one.
pub(crate) enum MemberUse<'a> {
    /// The command uses no server, or only a server that its own arguments name.
    Itself,
    /// On each, side by side; what they show is joined.
    Each,
    /// On each, one after the other: the output is too long to be kept.
    InTurn,
    /// On one after the other, until one has something.
    UntilFound,
    /// On those that hold these jobs; on each if none is named.
    Jobs(&'a [InputArg]),
    /// On those that hold these jobs, if all of them exist.
    AllJobs(&'a [InputArg]),
    /// On those that hold these jobs, one after the other in the order given: the output has no names.
    JobsInOrder(&'a [InputArg]),
    /// As `Jobs`, until one decides the wait: the first that has what is waited for, or if not `any`, the
    /// first that cannot have it.
    Wait { jids: &'a [InputArg], any: bool },
    /// On the one that holds this job.
    Job(&'a Name),
    /// On the member that a new job belongs to: the one that has its jid, else the one of the jobs that it is kept
    /// together with, or any member.
    NewJob {
        kept_with: Option<Cow<'a, [u8]>>,
        jid: Option<&'a Name>,
    },
    /// Each job of a file on the member that the job belongs to.
    NewJobs(&'a put::Args),
    /// By a process for each.
    Processes,
    /// Once, with a session for each of them.
    Apart,
    /// Not at all, for this reason.
    Refused(&'static str),
}

/// How the program treats a subcommand. Each subcommand has one such value, in its own module.
pub(crate) struct Spec<A> {
    /// The heading under which `qless --help` lists it.
    pub(crate) group: Group,
    /// The settings of the config file that apply.
    pub(crate) config: ConfigFileUse,
    /// Whether output longer than the screen goes through the pager.
    pub(crate) paged: bool,
    /// Whether the subcommand may change something with these arguments. `--read-only` refuses it then.
    pub(crate) writes: fn(&A) -> bool,
    /// Whether the command changes something, whatever its arguments are.
    pub(crate) always_writes: bool,
    /// The interval of `--watch`, if it was given.
    pub(crate) watch: fn(&A) -> Option<Duration>,
    pub(crate) members: fn(&A) -> MemberUse<'_>,
    pub(crate) run: fn(A, &mut Session) -> Result<Exit, Error>,
}

type Run<A> = fn(A, &mut Session) -> Result<Exit, Error>;

impl<A> Spec<A> {
    /// A subcommand that only reads.
    pub(crate) const fn reads(group: Group, run: Run<A>) -> Spec<A> {
        Spec::writes_if(group, |_| false, run)
    }

    /// A subcommand that may change something.
    pub(crate) const fn writes(group: Group, run: Run<A>) -> Spec<A> {
        Spec {
            always_writes: true,
            ..Spec::writes_if(group, |_| true, run)
        }
    }

    /// A subcommand whose arguments decide whether it may change something.
    pub(crate) const fn writes_if(group: Group, writes: fn(&A) -> bool, run: Run<A>) -> Spec<A> {
        Spec {
            group,
            config: ConfigFileUse::Whole,
            paged: true,
            writes,
            always_writes: false,
            watch: |_| None,
            members: |_| MemberUse::Each,
            run,
        }
    }

    /// Sets which settings of the config file apply.
    pub(crate) const fn config(self, config: ConfigFileUse) -> Spec<A> {
        Spec { config, ..self }
    }

    /// Adds `--watch`.
    pub(crate) const fn watch(self, watch: fn(&A) -> Option<Duration>) -> Spec<A> {
        Spec { watch, ..self }
    }

    /// Sets how the command runs on several members.
    pub(crate) const fn members(self, members: fn(&A) -> MemberUse<'_>) -> Spec<A> {
        Spec { members, ..self }
    }

    /// Keeps the output of the command out of the pager.
    pub(crate) const fn unpaged(self) -> Spec<A> {
        Spec {
            paged: false,
            ..self
        }
    }
}

/// The settings of the config file that apply to a subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigFileUse {
    /// `[defaults]` and the context in use.
    Whole,
    /// `[defaults]` only: the subcommand manages the contexts.
    Defaults,
    /// None. The file is not read, so that the subcommand works even if the file is broken.
    Nothing,
}

/// The headings in the list of subcommands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub(crate) enum Group {
    Inspect,
    Submit,
    Recover,
    Work,
    Operate,
}

impl Group {
    /// The heading.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Group::Inspect => "Inspect",
            Group::Submit => "Submit and manage",
            Group::Recover => "Recover",
            Group::Work => "Work",
            Group::Operate => "Operate",
        }
    }
}
