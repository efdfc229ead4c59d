//! Arguments that several subcommands share.

use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use strum::VariantArray;

use super::input_arg::ValueFileOrStdinArg;
use super::moment;
use super::moment::MomentArg;
use super::value;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::model::data_filter::DataFilter;
use crate::model::job::State;
use crate::model::pattern::NamePattern;
use crate::model::rate::MaxRate;
use crate::model::text_regex::TextRegex;
use crate::name::Name;

/// The flag of every command that writes.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DryRunFlag {
    /// Show what would be done; change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// The heading of the flags that control a bulk change, such as its rate. These flags do not change what happens to a
/// job.
pub(crate) const BULK: &str = "Bulk";

/// The flags of every command that may change many jobs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct BulkFlags {
    /// Show what would be done; change nothing
    #[arg(help_heading = BULK, short = 'n', long)]
    pub dry_run: bool,
    /// Maximum number of jobs per second, such as `20/s`
    #[arg(help_heading = BULK, long, value_name = "N/s", value_parser = value::rate,
          allow_hyphen_values = true)]
    pub rate: Option<MaxRate>,
    /// Stop at the first job that fails
    #[arg(help_heading = BULK, long)]
    pub fail_fast: bool,
    /// Exit with 4 if no job matches
    #[arg(help_heading = BULK, long)]
    pub require_match: bool,
    /// Reason, for the history of each job
    #[arg(help_heading = BULK, long, value_name = "TEXT", value_parser = value::name(),
          allow_hyphen_values = true)]
    pub reason: Option<Name>,
    /// Record each job in this file, as `planned` before it is changed and then its outcome; the same
    /// command with the same file skips jobs that are done (`--limit` counts from 0 again)
    #[arg(help_heading = BULK, long, value_name = "FILE", value_parser = value::file_to_write())]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub replicas: WaitReplicasFlag,
}

impl BulkFlags {
    /// The names of the given flags.
    pub(crate) fn given_flags(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            ("--dry-run", self.dry_run),
            ("--rate", self.rate.is_some()),
            ("--fail-fast", self.fail_fast),
            ("--require-match", self.require_match),
            ("--reason", self.reason.is_some()),
            ("--report", self.report.is_some()),
            ("--wait-replicas", self.replicas.wait_replicas.is_some()),
        ];
        let given = flags.into_iter().filter(|(_, given)| *given);
        given.map(|(flag, _)| flag)
    }

    /// The first flag given that only makes sense for several jobs.
    pub(crate) fn given_flag_for_several_jobs(&self) -> Option<&'static str> {
        const FLAGS: [&str; 4] = ["--rate", "--fail-fast", "--require-match", "--report"];
        self.given_flags().find(|flag| FLAGS.contains(flag))
    }
}

/// The flag of every command that puts jobs or may change many.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct WaitReplicasFlag {
    /// Wait until N replicas have the change, up to `--timeout`
    #[arg(help_heading = BULK, long, value_name = "N", value_parser = value::at_least_one,
          allow_hyphen_values = true)]
    pub wait_replicas: Option<u64>,
}

/// `--spread` of the bulk commands that make jobs runnable: the jobs become due evenly over a time.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct SpreadOverTimeFlag {
    /// Spread the jobs evenly over this time instead of running all at the same time
    #[arg(help_heading = BULK, long, value_name = "D", value_parser = value::duration,
          allow_hyphen_values = true)]
    pub spread: Option<Duration>,
}

/// The flag of commands that put jobs into a queue that is named.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct RequireExistingQueueFlag {
    /// Exit with 4 if the named queue does not exist, instead of creating it
    #[arg(long)]
    pub existing_queue: bool,
}

/// The flag of commands that only read: it repeats the reading.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct WatchFlag {
    /// Repeat every 2 s, or every D, until q, Esc or Ctrl-C; with `-o ndjson`, one document each time
    #[arg(long = "watch", value_name = "D", num_args = 0..=1, require_equals = true,
          default_missing_value = "2s", value_parser = value::watch_interval)]
    pub every: Option<Duration>,
}

/// The heading of the flags of a selector.
const SELECTOR: &str = "Selector";

/// Flags that select jobs. Different flags narrow the selection; a repeated flag widens it, except
/// `--tag` and `--where`.
///
/// The fields of [`SelectorWithoutFailureFlags`] can be read as its own. `fail` takes only those, because its `--group`
/// and `--message` are what is recorded.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Selector {
    #[command(flatten)]
    pub filters: SelectorWithoutFailureFlags,
    /// Failed jobs of this group (name or glob)
    #[arg(help_heading = SELECTOR, long = "group", value_name = "G", value_parser = value::name_or_glob(),
          add = value::CompletionKind::Groups)]
    pub groups: Vec<NamePattern>,
    /// Failed jobs whose message contains a match of this regular expression
    #[arg(help_heading = SELECTOR, long, value_name = "REGEX", value_parser = value::message_regex)]
    pub message: Option<TextRegex>,
}

/// The flags of a selector that are not about failures.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SelectorWithoutFailureFlags {
    /// Jobs of this queue (name or glob)
    #[arg(help_heading = SELECTOR, long = "queue", value_name = "Q", value_parser = value::name_or_glob(),
          add = value::CompletionKind::Queues)]
    pub queues: Vec<NamePattern>,
    /// Jobs in this state
    #[arg(help_heading = SELECTOR, long = "state", value_name = "S", value_delimiter = ',', value_parser = value::state())]
    pub states: Vec<State>,
    /// Jobs with this tag; repeated: with all of them
    #[arg(help_heading = SELECTOR, long = "tag", value_name = "T", value_parser = value::name(),
          add = value::CompletionKind::Tags)]
    pub tags: Vec<Name>,
    /// Jobs of this class (name or glob)
    #[arg(help_heading = SELECTOR, long = "klass", value_name = "K", value_parser = value::name_or_glob())]
    pub klasses: Vec<NamePattern>,
    /// Jobs that this worker holds, also with an expired lock (name or glob)
    #[arg(help_heading = SELECTOR, long = "held-by", value_name = "W", value_parser = value::name_or_glob(),
          add = value::CompletionKind::Workers)]
    pub held_by: Vec<NamePattern>,
    /// Jobs that have been in their state for at least this time
    #[arg(help_heading = SELECTOR, long, value_name = "D", value_parser = value::duration, allow_hyphen_values = true)]
    pub older_than: Option<Duration>,
    /// Jobs that have been in their state for less than this time
    #[arg(help_heading = SELECTOR, long, value_name = "D", value_parser = value::duration, allow_hyphen_values = true)]
    pub newer_than: Option<Duration>,
    /// Jobs with this value in their data, such as `user.id=42`; `PATH=~REGEX`: with a match in it,
    /// `PATH!~REGEX`: without one; repeated: with all of them
    #[arg(help_heading = SELECTOR, long = "where", value_name = "PATH=VALUE", value_parser = value::data_filter())]
    pub wheres: Vec<DataFilter>,
    /// Jobs in this lane. If `--state` names only failed and complete: jobs that have left it
    #[arg(help_heading = SELECTOR, long = "key", value_name = "K", value_parser = value::name())]
    pub keys: Vec<Name>,
    /// Jobs that need a slot of this throttle (id or glob)
    #[arg(help_heading = SELECTOR, long = "throttle", value_name = "ID", value_parser = value::name_or_glob(),
          add = value::CompletionKind::Throttles)]
    pub throttles: Vec<NamePattern>,
    /// Scheduled jobs whose time does not come: before 1970, or more than 1,000 years from now
    #[arg(help_heading = SELECTOR, long)]
    pub never_due: bool,
    /// Tracked jobs
    #[arg(help_heading = SELECTOR, long)]
    pub tracked: bool,
    /// Jobs that have used a retry. `qless morgue` sets it.
    #[arg(skip)]
    pub retrying: bool,
    /// Failed jobs whose retries are used up, and buried ones. `qless morgue` sets it.
    #[arg(skip)]
    pub dead: bool,
    /// All jobs; not with another flag that narrows the selection
    #[arg(help_heading = SELECTOR, long)]
    pub all: bool,
    /// Only the first N jobs
    #[arg(help_heading = SELECTOR, long, value_name = "N", value_parser = value::at_least_zero)]
    pub limit: Option<u64>,
    /// Skip the first N jobs
    #[arg(help_heading = SELECTOR, long, value_name = "N", default_value = "0", hide_default_value = true,
          value_parser = value::at_least_zero)]
    pub offset: u64,
}

impl Deref for Selector {
    type Target = SelectorWithoutFailureFlags;

    fn deref(&self) -> &SelectorWithoutFailureFlags {
        &self.filters
    }
}

impl DerefMut for Selector {
    fn deref_mut(&mut self) -> &mut SelectorWithoutFailureFlags {
        &mut self.filters
    }
}

impl From<SelectorWithoutFailureFlags> for Selector {
    fn from(filters: SelectorWithoutFailureFlags) -> Selector {
        Selector {
            filters,
            ..Selector::default()
        }
    }
}

impl Selector {
    /// Whether no flag selects jobs: no flag narrows the selection, and `--all` is not given, which selects every job.
    pub(crate) fn selects_nothing(&self) -> bool {
        !self.all && self.first_narrowing_flag().is_none()
    }

    /// Whether only queues and states narrow the selection.
    pub(crate) fn has_no_flag_but_queue_or_state(&self) -> bool {
        self.all_given_narrowing_flags()
            .all(|flag| matches!(flag, "--queue" | "--state"))
    }

    /// Whether only tags narrow the selection.
    pub(crate) fn has_no_flag_but_tag(&self) -> bool {
        self.all_given_narrowing_flags().all(|flag| flag == "--tag")
    }

    /// Whether only `--tracked` narrows the selection.
    pub(crate) fn has_no_flag_but_tracked(&self) -> bool {
        self.all_given_narrowing_flags()
            .all(|flag| flag == "--tracked")
    }

    /// Whether only groups and states narrow the selection.
    pub(crate) fn has_no_flag_but_group_or_state(&self) -> bool {
        self.all_given_narrowing_flags()
            .all(|flag| matches!(flag, "--group" | "--state"))
    }

    /// The given flags that no index serves.
    pub(crate) fn unindexed_flags(&self) -> Vec<&'static str> {
        let unindexed = |flag: &&str| matches!(*flag, "--klass" | "--where" | "--throttle");
        self.all_given_narrowing_flags().filter(unindexed).collect()
    }

    fn first_narrowing_flag(&self) -> Option<&'static str> {
        self.all_given_narrowing_flags().next()
    }

    /// The flags that narrow the selection.
    fn all_given_narrowing_flags(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            ("--queue", !self.queues.is_empty()),
            ("--state", !self.states.is_empty()),
            ("--group", !self.groups.is_empty()),
            ("--tag", !self.tags.is_empty()),
            ("--klass", !self.klasses.is_empty()),
            ("--held-by", !self.held_by.is_empty()),
            ("--older-than", self.older_than.is_some()),
            ("--newer-than", self.newer_than.is_some()),
            ("--where", !self.wheres.is_empty()),
            ("--message", self.message.is_some()),
            ("--key", !self.keys.is_empty()),
            ("--throttle", !self.throttles.is_empty()),
            ("--never-due", self.never_due),
            ("--tracked", self.tracked),
            ("--retrying", self.retrying),
            ("--dead", self.dead),
        ];
        let given = flags.into_iter().filter(|(_, given)| *given);
        given.map(|(flag, _)| flag)
    }

    /// The given flags that imply states of jobs, each with these states.
    pub(crate) fn states_implied_by_flags(&self) -> Vec<(&'static str, &'static [State])> {
        const FAILED: &[State] = &[State::Failed];
        const HELD: &[State] = &[State::Running, State::Stalled];
        const SCHEDULED: &[State] = &[State::Scheduled];
        let flags = [
            ("--group", FAILED, !self.groups.is_empty()),
            ("--message", FAILED, self.message.is_some()),
            ("--held-by", HELD, !self.held_by.is_empty()),
            ("--never-due", SCHEDULED, self.never_due),
        ];
        let given = flags.into_iter().filter(|(_, _, given)| *given);
        given.map(|(flag, states, _)| (flag, states)).collect()
    }

    /// The states to select: those of `--state`, else all, without the states that other flags exclude. A selector
    /// that selects nothing means the states of jobs in queues.
    pub(crate) fn effective_states(&self) -> Vec<State> {
        let named: &[State] = match self.states.as_slice() {
            [] if self.selects_nothing() => &State::QUEUED,
            [] => State::VARIANTS,
            states => states,
        };
        let implied = self.states_implied_by_flags();
        let mut meant: Vec<State> = State::VARIANTS.to_vec();
        meant.retain(|state| {
            named.contains(state) && implied.iter().all(|(_, states)| states.contains(state))
        });
        meant
    }

    /// The selector with these default states if `--state` is not given. Refuses a selector
    /// that no job can match.
    pub(crate) fn with_default_states(&self, states: &[State]) -> Result<Selector, Error> {
        let mut selector = self.clone();
        if selector.states.is_empty() && !states.is_empty() {
            selector.states = states.to_vec();
            selector.all = false;
        }
        selector.refuse_contradictions()?;
        Ok(selector)
    }

    /// Refuses flags that cannot be used together, and flags that no job can match.
    pub(crate) fn refuse_contradictions(&self) -> Result<(), Error> {
        if let (true, Some(flag)) = (self.all, self.first_narrowing_flag()) {
            return Err(
                Error::usage(format!("`--all` cannot be used with `{flag}`"))
                    .hint("`--all` means every job; leave one of the two flags out"),
            );
        }
        let implied = self.states_implied_by_flags();
        if let [(one, theirs), .., (other, others)] = implied.as_slice()
            && theirs != others
        {
            return Err(state_conflict_error(
                &format!("`{one}`"),
                theirs,
                &format!("`{other}`"),
                others,
            ));
        }
        for (flag, states) in implied {
            let named = &self.states;
            if !named.is_empty() && !named.iter().any(|state| states.contains(state)) {
                let given = named
                    .iter()
                    .map(|state| state.into_str())
                    .collect::<Vec<_>>()
                    .join(",");
                return Err(state_conflict_error(
                    &format!("`{flag}`"),
                    states,
                    &format!("`--state {given}`"),
                    named,
                ));
            }
        }
        if !self.queues.is_empty() && self.states == [State::Complete] {
            return Err(
                Error::usage("no job matches both `--queue` and `--state complete`")
                    .hint("a complete job is in no queue: select by `--klass`, `--tag` or `--key`"),
            );
        }
        match (self.older_than, self.newer_than) {
            (_, Some(Duration::ZERO)) => Err(Error::usage("`--newer-than 0` matches no job")
                .hint("`--newer-than` expects more than 0")),
            (Some(older), Some(newer)) if older >= newer => Err(Error::usage(
                "`--older-than` must be shorter than `--newer-than`",
            )
            .hint("for jobs of 1 to 2 hours ago: `--older-than 1h --newer-than 2h`")),
            _ => Ok(()),
        }
    }
}

/// The error for flags that imply different states.
fn state_conflict_error(one: &str, theirs: &[State], other: &str, others: &[State]) -> Error {
    let list = |states: &[State]| {
        states
            .iter()
            .map(|state| state.into_str())
            .collect::<Vec<_>>()
            .join(" or ")
    };
    Error::usage(format!("no job matches both {one} and {other}")).hint(format!(
        "{one} means {} jobs, {other} means {} jobs",
        list(theirs),
        list(others)
    ))
}

/// Jobs by jid, or by a selector; one excludes the other.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct JobTargets<S: Args = Selector> {
    /// Jids of the jobs; `-` reads jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", add = value::CompletionKind::Targets)]
    pub jids: Vec<ValueFileOrStdinArg>,
    #[command(flatten)]
    pub selector: S,
}

/// Jobs by jid, or a queue; one excludes the other.
#[derive(Clone, Debug, Args)]
pub(crate) struct JidsOrQueue {
    /// Jids of the jobs; `-` reads jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", required_unless_present = "queue", add = value::CompletionKind::Targets)]
    pub jids: Vec<ValueFileOrStdinArg>,
    /// A queue, in place of jobs
    #[arg(long, value_name = "QUEUE", value_parser = value::name(), conflicts_with = "jids",
          add = value::CompletionKind::Queues)]
    pub queue: Option<Name>,
}

impl From<JobTargets<SelectorWithoutFailureFlags>> for JobTargets {
    fn from(unfailed: JobTargets<SelectorWithoutFailureFlags>) -> JobTargets {
        JobTargets {
            jids: unfailed.jids,
            selector: unfailed.selector.into(),
        }
    }
}

impl JobTargets {
    /// Whether neither jids nor flags select jobs.
    pub(crate) fn is_empty(&self) -> bool {
        self.jids.is_empty() && self.selector.selects_nothing()
    }

    /// Refuses jids together with flags that select jobs, neither jids nor such flags, and flags that no job can
    /// match.
    pub(crate) fn require_either_jids_or_selector(&self) -> Result<(), Error> {
        let nothing = self.selector.selects_nothing();
        let selects = !nothing || self.selector.limit.is_some() || self.selector.offset > 0;
        match (self.jids.is_empty(), selects) {
            (false, true) => Err(Error::usage(
                "give either jids or flags that select jobs, not both",
            )),
            (true, true) if nothing => Err(Error::usage("no flag narrows the selection")
                .hint("`--all` means every job; `qless help selectors` lists the flags")),
            (true, false) => Err(Error::usage("no jobs are given")
                .hint("give jids, or select jobs by flags: `qless help selectors`")),
            _ => self.selector.refuse_contradictions(),
        }
    }
}

/// The flag of every command that takes data.
#[derive(Clone, Debug, Args)]
pub(crate) struct MaxInputDataFlag {
    /// Maximum size of the data, in bytes, up to 500MiB
    #[arg(long, value_name = "BYTES", value_parser = value::max_data_size, default_value = "16MiB")]
    pub max_data: usize,
}

/// The worker in whose name a job is completed, failed or retried.
#[derive(Clone, Debug, Args)]
pub(crate) struct HolderFlags {
    /// Name of the worker that holds the job [QLESS_WORKER; default cli-USER@HOST-SESSION]
    #[arg(long, value_name = "NAME", value_parser = value::new_name(),
          add = value::CompletionKind::Workers)]
    pub worker: Option<Name>,
    /// Act in the name of the worker that holds the job, whichever it is
    #[arg(long, conflicts_with = "worker")]
    pub as_holder: bool,
}

impl HolderFlags {
    pub(crate) fn is_holder_given(&self) -> bool {
        self.worker.is_some() || self.as_holder
    }
}

/// The time at which a job runs.
#[derive(Clone, Debug, Args)]
pub(crate) struct DueTimeFlags {
    /// Run it after this time, such as `10m`
    #[arg(long, value_name = "D", value_parser = value::duration, allow_hyphen_values = true)]
    pub delay: Option<Duration>,
    /// Run it at this time: `06:00`, `2026-11-21 06:00`, `2026-11-21T06:00:00Z`
    #[arg(long, value_name = "T", value_parser = moment::parse_moment_or_delay, allow_hyphen_values = true,
          conflicts_with = "delay")]
    pub at: Option<MomentArg>,
}

impl DueTimeFlags {
    /// Whether one of the flags was given.
    pub(crate) fn is_time_given(&self) -> bool {
        self.delay.is_some() || self.at.is_some()
    }

    /// The moment. `None` means immediately.
    pub(crate) fn given_due_moment(&self, now: Moment) -> Option<Moment> {
        match (self.delay, &self.at) {
            (Some(delay), _) => Some(now.plus(delay)),
            (None, Some(at)) => Some(at.resolve(now)),
            (None, None) => None,
        }
    }

    /// The time from `now` until that moment.
    pub(crate) fn delay_until_due(&self, now: Moment) -> Duration {
        let due = self.given_due_moment(now).map_or(0.0, |due| due.since(now));
        match self.delay {
            Some(delay) => delay,
            None => Duration::try_from_secs_f64(due).unwrap_or_default(),
        }
    }
}

/// Queues by name, or all of them.
#[derive(Clone, Debug, Args)]
pub(crate) struct QueueTargets {
    /// Queues
    #[arg(value_name = "QUEUE", value_parser = value::name(), required_unless_present = "all",
          add = value::CompletionKind::Queues)]
    pub queues: Vec<Name>,
    /// All queues
    #[arg(long, conflicts_with = "queues")]
    pub all: bool,
}

impl QueueTargets {
    /// The named queues. `None` means all queues.
    pub(crate) fn queue_names_unless_all(&self) -> Option<&[Name]> {
        (!self.all).then_some(&self.queues)
    }
}

/// Refuses names that occur in both of two flags.
pub(crate) fn refuse_overlap(one: (&str, &[Name]), other: (&str, &[Name])) -> Result<(), Error> {
    match one.1.iter().find(|name| other.1.contains(name)) {
        Some(both) => Err(Error::usage(format!(
            "`{}` and `{}` both name `{}`",
            one.0, other.0, both
        ))),
        None => Ok(()),
    }
}

/// Maximum number of tags of a job. The core refuses a call with a job that has more.
pub(crate) const MAX_TAGS: usize = 1000;

/// Refuses more tags of one flag than a job may have. A repeated tag counts once.
pub(crate) fn refuse_too_many_tags(flag: &str, tags: &[Name]) -> Result<(), Error> {
    if tags.len() > MAX_TAGS && tags.iter().collect::<HashSet<_>>().len() > MAX_TAGS {
        return Err(Error::usage(format!(
            "`{flag}` names more than {MAX_TAGS} tags"
        )));
    }
    Ok(())
}
