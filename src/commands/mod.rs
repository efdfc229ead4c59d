//! The subcommands, one module each. The path spells the command line.
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

/// The error about a job that does not exist. Its hint names keys and lists that still have the jid.
fn missing_error_with_traces(
    jid: &Name,
    now: Moment,
    session: &mut Session,
) -> Result<Error, Error> {
    let found = session.core()?.traces_of_jid(now, jid)?;
    let error = not_found::missing_job_error(jid);
    Ok(match traces_text(&found) {
        Some(left) => error.hint(format!("traces are left: {left}")),
        None => error,
    })
}

/// Reports requested jobs that do not exist as an error, if there are any.
fn refuse_missing_with_traces(
    missing: &[Name],
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    match missing {
        [jid] => Err(missing_error_with_traces(jid, now, session)?),
        missing => not_found::refuse_missing_jobs(missing).map(|()| Exit::Ok),
    }
}

/// Whether a word in the place of a name is `list` or `ls`, and so asks for the list of all names.
fn is_list_word(word: &Name) -> bool {
    matches!(word.as_bytes(), b"list" | b"ls")
}

/// How a subcommand runs if the context names several prefixes or servers as one.
pub(crate) enum MemberDispatch<'a> {
    /// The command uses no server, or only a server that its own arguments name.
    Itself,
    /// The command runs on all members at the same time, and their output is joined.
    Each,
    /// As `Each`, but a member that lacks what the command names is an error: later it may have it, without the change,
    /// or it has other things that the command names.
    EachInFull,
    /// The command runs on one member after the other: the output is too long to be kept and joined.
    InTurn,
    /// The command runs on one member after the other, until one has what it asks for.
    UntilFound,
    /// The command runs on the members that hold these jobs. If no job is named, it runs on all members.
    Jobs(&'a [InputArg]),
    /// The command runs on the members that hold these jobs, but only if all of the jobs exist.
    AllJobs(&'a [InputArg]),
    /// The command runs for these jobs in the order given, since its output does not name them.
    JobsInOrder(&'a [InputArg]),
    /// As `Jobs`, until a member decides the wait: with `any`, the first one that succeeds; without it, the first one
    /// that cannot succeed.
    Wait { jids: &'a [InputArg], any: bool },
    /// The command runs on the member that holds this job.
    Job(&'a Name),
    /// The command runs on the member that has the jid; else on the member of the jobs that the new job is kept
    /// together with, or on any member.
    NewJob {
        kept_with: Option<Cow<'a, [u8]>>,
        jid: Option<&'a Name>,
    },
    /// Each member puts the jobs of the file that belong to it.
    NewJobs(&'a put::Args),
    /// A process of its own runs the command on each member.
    Processes,
    /// The command runs once, and opens a session for each member itself.
    Apart,
    /// The command is refused, for this reason.
    Refused(&'static str),
}

impl MemberDispatch<'_> {
    /// All members, for a command that names this many queues or workers. Where the only one is missing, there
    /// is nothing to do. Where one of several is missing, the command does nothing for the others either.
    fn each_naming(names: usize) -> MemberDispatch<'static> {
        if names > 1 {
            MemberDispatch::EachInFull
        } else {
            MemberDispatch::Each
        }
    }
}

/// How the program treats a subcommand. Each subcommand has one such value, in its own module.
pub(crate) struct Spec<A> {
    /// The group of subcommands in which `qless --help` lists it.
    pub(crate) group: Group,
    /// The settings of the config file that apply.
    pub(crate) config: AppliedConfig,
    /// Whether output longer than the screen goes through the pager.
    pub(crate) paged: bool,
    /// Whether the subcommand may change something with these arguments. `--read-only` refuses it then.
    pub(crate) writes: fn(&A) -> bool,
    /// Whether the command changes something, whatever its arguments are.
    pub(crate) always_writes: bool,
    /// The interval of `--watch`, if it was given.
    pub(crate) watch: fn(&A) -> Option<Duration>,
    pub(crate) member_dispatch: fn(&A) -> MemberDispatch<'_>,
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
            config: AppliedConfig::Whole,
            paged: true,
            writes,
            always_writes: false,
            watch: |_| None,
            member_dispatch: |_| MemberDispatch::Each,
            run,
        }
    }

    /// Sets which settings of the config file apply.
    pub(crate) const fn applied_config(self, config: AppliedConfig) -> Spec<A> {
        Spec { config, ..self }
    }

    /// Lets `--watch` repeat the command, at the interval that the arguments give.
    pub(crate) const fn watch_interval(self, watch: fn(&A) -> Option<Duration>) -> Spec<A> {
        Spec { watch, ..self }
    }

    /// Sets how the command runs if the context has several members.
    pub(crate) const fn member_dispatch(
        self,
        member_dispatch: fn(&A) -> MemberDispatch<'_>,
    ) -> Spec<A> {
        Spec {
            member_dispatch,
            ..self
        }
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
pub(crate) enum AppliedConfig {
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
    pub(crate) const fn heading(self) -> &'static str {
        match self {
            Group::Inspect => "Inspect",
            Group::Submit => "Submit and manage",
            Group::Recover => "Recover",
            Group::Work => "Work",
            Group::Operate => "Operate",
        }
    }
}
