//! The subcommands, one module each. The path spells the command line.
//!
//! A module has `Args`, whose doc comment is the help, `run`, and `SPEC`, which says whether the
//! subcommand writes and where `qless --help` lists it. `CONTRIBUTING.md` has the recipe for a new one.

use std::borrow::Cow;
use std::time::Duration;

use strum::VariantArray;

use crate::args::input_arg::ValueFileOrStdinArg;
use crate::clock::moment::Moment;
use crate::core::api::job::JobFields;
use crate::core::api::not_found;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::explain::text::traces_text;
use crate::model::list::{JobsAndMissingJids, List};
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

/// Shows jobs in the order of the given jids. Lists jids of jobs that do not exist as missing.
fn show_found_and_missing_jobs(
    jids: &[Name],
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    let jobs = session.core()?.jobs(now, JobFields::Brief, jids)?;
    let (found, missing) = found_and_missing(jids, jobs);
    let list = List::of_all(found);
    session.ui.show(&JobsAndMissingJids {
        list,
        missing,
        ..JobsAndMissingJids::default()
    })
}

/// What was found for each of the jids, and the jids for which nothing was found.
fn found_and_missing<T>(jids: &[Name], results: Vec<Option<T>>) -> (Vec<T>, Vec<Name>) {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (jid, result) in jids.iter().zip(results) {
        match result {
            Some(result) => found.push(result),
            None => missing.push(jid.clone()),
        }
    }
    (found, missing)
}

/// The error about a job that does not exist. Its hint names keys and lists that still have the jid.
fn missing_error_with_traces(
    jid: &Name,
    now: Moment,
    session: &mut Session,
) -> Result<Error, Error> {
    let found = session.core()?.traces_of_jid(now, jid)?;
    let error = not_found::missing_job_error(jid);
    let left = traces_text(&found);
    Ok(error.hint_if(left.map(|left| format!("traces are left: {left}"))))
}

/// An error that names the requested jobs that do not exist, if there are any. For a single job, its hint names keys
/// and lists that still have the jid.
fn refuse_missing_tracing_single_jid(
    missing: &[Name],
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    match missing {
        [jid] => Err(missing_error_with_traces(jid, now, session)?),
        missing => not_found::refuse_missing_jobs(missing).map(|()| Exit::Ok),
    }
}

/// Whether an argument is `list` or `ls` instead of a name, and so asks for the list of all names.
fn is_list_or_ls(word: &Name) -> bool {
    matches!(word.as_bytes(), b"list" | b"ls")
}

/// How a subcommand runs if the context names several prefixes or servers as one.
pub(crate) enum MemberDispatch<'a> {
    /// The command uses no server, or only a server that its own arguments name.
    Itself,
    /// The command runs on all members at the same time, and their output is joined.
    Each,
    /// As `Each`, but the command fails if any member lacks a queue or worker that the command names. That member has
    /// done nothing for the other names, and may get the missing one later.
    EachMustHaveNames,
    /// The command runs on one member after the other, because its output may be too long for memory.
    InTurn,
    /// The command runs on one member after the other, until a member has what the command asks for.
    UntilFound,
    /// The command runs on the members that hold these jobs. If no job is named, it runs on all members.
    Jobs(&'a [ValueFileOrStdinArg]),
    /// The command runs on the members that hold these jobs, but only if all of the jobs exist.
    AllJobs(&'a [ValueFileOrStdinArg]),
    /// The command runs for one of these jobs after the other, in the given order, since its output does not name them.
    JobsInOrder(&'a [ValueFileOrStdinArg]),
    /// As `Jobs`, for a command that waits. It ends as soon as one member decides the result: with `any`, the first
    /// member that succeeds; without `any`, the first member that cannot succeed any more.
    Wait {
        jids: &'a [ValueFileOrStdinArg],
        any: bool,
    },
    /// The command runs on the member that holds this job.
    Job(&'a Name),
    /// The command puts a job. It runs on the member that already has the jid, else on the member of the jobs with
    /// which `kept_with` keeps the new job together, else on any member.
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
    /// All members, for a command that names a number of queues or workers. A member that lacks a single named queue
    /// has nothing to do. A member that lacks one of several does nothing for the others either, which is an error.
    fn require_all_names_if_several(name_count: usize) -> MemberDispatch<'static> {
        if name_count > 1 {
            MemberDispatch::EachMustHaveNames
        } else {
            MemberDispatch::Each
        }
    }
}

/// How the program treats a subcommand. Each subcommand has one such value, in its own module.
pub(crate) struct Spec<A> {
    /// The heading under which `qless --help` lists the subcommand.
    pub(crate) group: HelpGroup,
    /// The settings of the config file that apply to the subcommand.
    pub(crate) config: ConfigToApply,
    /// Whether output longer than the screen goes through the pager.
    pub(crate) paged: bool,
    /// Whether the subcommand may change something with these arguments. If so, `--read-only` refuses it.
    pub(crate) writes: fn(&A) -> bool,
    /// Whether the command changes something, whatever its arguments are.
    pub(crate) always_writes: bool,
    /// The interval of `--watch`, if it was given.
    pub(crate) watch: fn(&A) -> Option<Duration>,
    pub(crate) context_member_dispatch: fn(&A) -> MemberDispatch<'_>,
    pub(crate) run: fn(A, &mut Session) -> Result<Exit, Error>,
}

type Run<A> = fn(A, &mut Session) -> Result<Exit, Error>;

impl<A> Spec<A> {
    /// A subcommand that only reads.
    pub(crate) const fn reads(group: HelpGroup, run: Run<A>) -> Spec<A> {
        Spec::writes_if(group, |_| false, run)
    }

    /// A subcommand that may change something.
    pub(crate) const fn writes(group: HelpGroup, run: Run<A>) -> Spec<A> {
        Spec {
            always_writes: true,
            ..Spec::writes_if(group, |_| true, run)
        }
    }

    /// A subcommand whose arguments decide whether it may change something.
    pub(crate) const fn writes_if(
        group: HelpGroup,
        writes: fn(&A) -> bool,
        run: Run<A>,
    ) -> Spec<A> {
        Spec {
            group,
            config: ConfigToApply::Whole,
            paged: true,
            writes,
            always_writes: false,
            watch: |_| None,
            context_member_dispatch: |_| MemberDispatch::Each,
            run,
        }
    }

    /// Declares which settings of the config file apply to the subcommand.
    pub(crate) const fn config_to_apply(self, config: ConfigToApply) -> Spec<A> {
        Spec { config, ..self }
    }

    /// Lets `--watch` repeat the command, at the interval that the arguments give.
    pub(crate) const fn watch_interval(self, watch: fn(&A) -> Option<Duration>) -> Spec<A> {
        Spec { watch, ..self }
    }

    /// Declares how the command runs if the context names several prefixes or servers as one.
    pub(crate) const fn context_member_dispatch(
        self,
        context_member_dispatch: fn(&A) -> MemberDispatch<'_>,
    ) -> Spec<A> {
        Spec {
            context_member_dispatch,
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
pub(crate) enum ConfigToApply {
    /// `[defaults]` and the context in use.
    Whole,
    /// `[defaults]` only: the subcommand manages the contexts.
    Defaults,
    /// No settings. The program does not read the config file, so that the subcommand works with a broken file.
    Nothing,
}

/// The headings in the list of subcommands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub(crate) enum HelpGroup {
    Inspect,
    Submit,
    Recover,
    Work,
    Operate,
}

impl HelpGroup {
    pub(crate) const fn help_heading(self) -> &'static str {
        match self {
            HelpGroup::Inspect => "Inspect",
            HelpGroup::Submit => "Submit and manage",
            HelpGroup::Recover => "Recover",
            HelpGroup::Work => "Work",
            HelpGroup::Operate => "Operate",
        }
    }
}
