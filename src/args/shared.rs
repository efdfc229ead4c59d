//! Arguments that several rooms share.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::moment;
use super::moment::When;
use super::value;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::model::data_filter::DataFilter;
use crate::model::job::State;
use crate::model::message_regex::MessageRegex;
use crate::model::pattern::Pattern;
use crate::model::rate::Rate;
use crate::name::Name;
use crate::text::clean;

/// On every command that writes.
#[derive(Clone, Debug, Args)]
pub(crate) struct DryRun {
    /// Show what would be done, change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// As helps head the flags that say how many jobs are changed, not what becomes of them.
pub(crate) const BULK: &str = "Bulk";

/// On every verb that may change many jobs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct BulkFlags {
    /// Show what would be done, change nothing
    #[arg(help_heading = BULK, short = 'n', long)]
    pub dry_run: bool,
    /// At most so many jobs a second, such as `20/s`
    #[arg(help_heading = BULK, long, value_name = "N/s", value_parser = value::rate,
          allow_hyphen_values = true)]
    pub rate: Option<Rate>,
    /// Stop at the first job that fails
    #[arg(help_heading = BULK, long)]
    pub fail_fast: bool,
    /// Exit with 4 if no job matches
    #[arg(help_heading = BULK, long)]
    pub require_match: bool,
    /// Why, for the history of each job
    #[arg(help_heading = BULK, long, value_name = "TEXT", value_parser = value::name(),
          allow_hyphen_values = true)]
    pub reason: Option<Name>,
    /// Note what becomes of each job in this file; the same command with the same file skips
    /// those that are done (`--limit` counts anew)
    #[arg(help_heading = BULK, long, value_name = "FILE", value_parser = value::file())]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub replicas: Replicas,
}

/// On every command that puts or may change many jobs.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Replicas {
    /// Wait until so many replicas have what was changed, as long as `--timeout`
    #[arg(help_heading = BULK, long, value_name = "N", value_parser = value::at_least_one,
          allow_hyphen_values = true)]
    pub wait_replicas: Option<u64>,
}

/// On those of them that make jobs runnable.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Spread {
    /// Let them run evenly over this time instead of all at once
    #[arg(help_heading = BULK, long, value_name = "D", value_parser = value::duration,
          allow_hyphen_values = true)]
    pub spread: Option<Duration>,
}

/// On commands that look and can do so again and again.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Watch {
    /// Show it anew every 2 s, or every D, until Ctrl-C; with `-o ndjson` a document each time
    #[arg(long = "watch", value_name = "D", num_args = 0..=1, require_equals = true,
          default_missing_value = "2s", value_parser = value::tick)]
    pub every: Option<Duration>,
}

/// As helps head the flags of a selector.
const SELECTOR: &str = "Selector";

/// Which jobs are meant, where they are not named: different flags narrow, a repeated one widens
/// (but `--tag` and `--where`).
///
/// Read as if all fields were its own; `fail`, where `--group` and `--message` say what is
/// recorded, has the [`Filters`] alone.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Selector {
    #[command(flatten)]
    pub filters: Filters,
    /// Failed jobs of a group, by name or glob
    #[arg(help_heading = SELECTOR, long = "group", value_name = "G", value_parser = value::pattern(),
          add = value::Candidates::Groups)]
    pub groups: Vec<Pattern>,
    /// Failed jobs whose message a regular expression finds itself in
    #[arg(help_heading = SELECTOR, long, value_name = "REGEX", value_parser = MessageRegex::new)]
    pub message: Option<MessageRegex>,
}

/// The flags of a selector that do not ask about failures.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Filters {
    /// Jobs of a queue, by name or glob
    #[arg(help_heading = SELECTOR, long = "queue", value_name = "Q", value_parser = value::pattern(),
          add = value::Candidates::Queues)]
    pub queues: Vec<Pattern>,
    /// Jobs in a state
    #[arg(help_heading = SELECTOR, long = "state", value_name = "S", value_delimiter = ',', value_parser = value::state())]
    pub states: Vec<State>,
    /// Jobs with a tag; repeated: with all of them
    #[arg(help_heading = SELECTOR, long = "tag", value_name = "T", value_parser = value::name(),
          add = value::Candidates::Tags)]
    pub tags: Vec<Name>,
    /// Jobs of a class, by name or glob
    #[arg(help_heading = SELECTOR, long = "klass", value_name = "K", value_parser = value::pattern())]
    pub klasses: Vec<Pattern>,
    /// Jobs whose lock a worker has, run out or not, by name or glob
    #[arg(help_heading = SELECTOR, long = "held-by", value_name = "W", value_parser = value::pattern(),
          add = value::Candidates::Workers)]
    pub held_by: Vec<Pattern>,
    /// Jobs to which nothing has happened for this time
    #[arg(help_heading = SELECTOR, long, value_name = "D", value_parser = value::duration, allow_hyphen_values = true)]
    pub older_than: Option<Duration>,
    /// Jobs to which something happened within this time
    #[arg(help_heading = SELECTOR, long, value_name = "D", value_parser = value::duration, allow_hyphen_values = true)]
    pub newer_than: Option<Duration>,
    /// Jobs with this value in their data, such as `user.id=42`; repeated: with all of them
    #[arg(help_heading = SELECTOR, long = "where", value_name = "PATH=VALUE", value_parser = value::equal())]
    pub wheres: Vec<DataFilter>,
    /// Tracked jobs
    #[arg(help_heading = SELECTOR, long)]
    pub tracked: bool,
    /// All jobs, where no other flag narrows them down
    #[arg(help_heading = SELECTOR, long)]
    pub all: bool,
    /// The first N of them
    #[arg(help_heading = SELECTOR, long, value_name = "N", value_parser = value::count)]
    pub limit: Option<u64>,
    /// Without the first N of them
    #[arg(help_heading = SELECTOR, long, value_name = "N", default_value = "0", hide_default_value = true,
          value_parser = value::count)]
    pub offset: u64,
}

impl Deref for Selector {
    type Target = Filters;

    fn deref(&self) -> &Filters {
        &self.filters
    }
}

impl DerefMut for Selector {
    fn deref_mut(&mut self) -> &mut Filters {
        &mut self.filters
    }
}

impl From<Filters> for Selector {
    fn from(filters: Filters) -> Selector {
        Selector {
            filters,
            ..Selector::default()
        }
    }
}

impl Selector {
    /// Returns whether nothing narrows the jobs down.
    pub(crate) fn is_empty(&self) -> bool {
        self.narrows().is_none()
    }

    /// Returns whether nothing narrows the jobs down but queues and states.
    pub(crate) fn only_queue(&self) -> bool {
        self.given()
            .all(|flag| matches!(flag, "--queue" | "--state"))
    }

    /// Returns whether nothing narrows the jobs down but tags.
    pub(crate) fn only_tag(&self) -> bool {
        self.given().all(|flag| flag == "--tag")
    }

    /// Returns whether nothing narrows the jobs down but that they are tracked.
    pub(crate) fn only_tracked(&self) -> bool {
        self.given().all(|flag| flag == "--tracked")
    }

    /// Returns whether nothing narrows the jobs down but groups and states.
    pub(crate) fn only_group(&self) -> bool {
        self.given()
            .all(|flag| matches!(flag, "--group" | "--state"))
    }

    /// Returns the first flag that narrows the jobs down.
    fn narrows(&self) -> Option<&'static str> {
        self.given().next()
    }

    /// Returns the flags that narrow the jobs down.
    fn given(&self) -> impl Iterator<Item = &'static str> {
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
            ("--tracked", self.tracked),
        ];
        let given = flags.into_iter().filter(|(_, given)| *given);
        given.map(|(flag, _)| flag)
    }

    /// Returns the states that a flag speaks of without naming them, and that flag.
    pub(crate) fn implied(&self) -> Vec<(&'static str, &'static [State])> {
        const FAILED: &[State] = &[State::Failed];
        const HELD: &[State] = &[State::Running, State::Stalled];
        let flags = [
            ("--group", FAILED, !self.groups.is_empty()),
            ("--message", FAILED, self.message.is_some()),
            ("--held-by", HELD, !self.held_by.is_empty()),
        ];
        let given = flags.into_iter().filter(|(_, _, given)| *given);
        given.map(|(flag, states, _)| (flag, states)).collect()
    }

    /// Returns the states that are meant: those that are named, else all, as far as the other flags
    /// speak of them. Nothing at all means what is in the queues.
    pub(crate) fn meant(&self) -> Vec<State> {
        let named: &[State] = match self.states.as_slice() {
            [] if self.is_empty() && !self.all => &State::QUEUED,
            [] => &State::ALL,
            states => states,
        };
        let implied = self.implied();
        let mut meant: Vec<State> = State::ALL.to_vec();
        meant.retain(|state| {
            named.contains(state) && implied.iter().all(|(_, states)| states.contains(state))
        });
        meant
    }

    /// Returns the selector with the states of the jobs that a verb is for, where none is named;
    /// refuses it if no job could fit.
    pub(crate) fn or_states(&self, states: &[State]) -> Result<Selector, Error> {
        let mut selector = self.clone();
        if selector.states.is_empty() && !states.is_empty() {
            selector.states = states.to_vec();
            selector.all = false;
        }
        selector.check()?;
        Ok(selector)
    }

    /// Refuses flags that exclude each other, so that no job could ever fit.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let (true, Some(flag)) = (self.all, self.narrows()) {
            return Err(
                Error::usage(format!("`--all` cannot be used with `{flag}`"))
                    .hint(format!("`--all` means every job, `{flag}` some of them")),
            );
        }
        let implied = self.implied();
        if let [(one, theirs), .., (other, others)] = implied.as_slice()
            && theirs != others
        {
            return Err(never(
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
                    .map(|state| state.word())
                    .collect::<Vec<_>>()
                    .join(",");
                return Err(never(
                    &format!("`{flag}`"),
                    states,
                    &format!("`--state {given}`"),
                    named,
                ));
            }
        }
        match (self.older_than, self.newer_than) {
            (_, Some(Duration::ZERO)) => Err(Error::usage("no job is newer than no time at all")
                .hint("`--newer-than` wants more than 0")),
            (Some(older), Some(newer)) if older >= newer => Err(Error::usage(
                "`--older-than` and `--newer-than` leave no time between them",
            )
            .hint("what happened between 1h and 2h ago: `--older-than 1h --newer-than 2h`")),
            _ => Ok(()),
        }
    }
}

/// The error about flags that speak of different states.
fn never(one: &str, theirs: &[State], other: &str, others: &[State]) -> Error {
    let list = |states: &[State]| {
        states
            .iter()
            .map(|state| state.word())
            .collect::<Vec<_>>()
            .join(" or ")
    };
    Error::usage(format!("no job fits both {one} and {other}")).hint(format!(
        "{one} means {} jobs, {other} {} ones",
        list(theirs),
        list(others)
    ))
}

/// Jobs by name, or those that a selector means; one excludes the other.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Targets {
    /// The jobs; `-` reads them from standard input, `@FILE` from a file
    #[arg(value_name = "JID", value_parser = value::jids(), add = value::Candidates::Targets)]
    pub jids: Vec<Name>,
    #[command(flatten)]
    pub selector: Selector,
}

/// The same without filters that ask about failures.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Unfailed {
    /// The jobs; `-` reads them from standard input, `@FILE` from a file
    #[arg(value_name = "JID", value_parser = value::jids(), add = value::Candidates::Targets)]
    pub jids: Vec<Name>,
    #[command(flatten)]
    pub filters: Filters,
}

impl From<Unfailed> for Targets {
    fn from(unfailed: Unfailed) -> Targets {
        Targets {
            jids: unfailed.jids,
            selector: unfailed.filters.into(),
        }
    }
}

impl Targets {
    /// Returns whether no job is meant, neither by name nor by flags.
    pub(crate) fn is_empty(&self) -> bool {
        self.jids.is_empty() && self.selector.is_empty() && !self.selector.all
    }

    /// Refuses both ways at once, and neither, and flags that no job could ever fit.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Filters {
            limit, offset, all, ..
        } = &self.selector.filters;
        let nothing = self.selector.is_empty() && !all;
        let selects = !nothing || limit.is_some() || *offset > 0;
        match (self.jids.is_empty(), selects) {
            (false, true) => Err(Error::usage(
                "jobs are either named or selected by flags, not both",
            )),
            (true, true) if nothing => Err(Error::usage("nothing narrows the jobs down")
                .hint("`--all` means every job; `qless help selectors` tells what narrows")),
            (true, false) => Err(Error::usage("no job is named")
                .hint("name jobs, or select them by flags: `qless help selectors`")),
            _ => self.selector.check(),
        }
    }
}

/// On every command that takes data.
#[derive(Clone, Debug, Args)]
pub(crate) struct MaxData {
    /// The most data that is taken, in bytes
    #[arg(long, value_name = "BYTES", value_parser = value::bytes, default_value = "16MiB")]
    pub max_data: usize,
}

/// In whose name a job is settled.
#[derive(Clone, Debug, Args)]
pub(crate) struct Holder {
    /// The worker that holds the job [QLESS_WORKER; default cli-USER@HOST]
    #[arg(long, value_name = "NAME", value_parser = value::new_name(),
          add = value::Candidates::Workers)]
    pub worker: Option<Name>,
    /// Act in the name of whichever worker holds the job
    #[arg(long, conflicts_with = "worker")]
    pub as_holder: bool,
}

/// When a job is to run.
#[derive(Clone, Debug, Args)]
pub(crate) struct Later {
    /// Run it after this time, such as `10m`
    #[arg(long, value_name = "D", value_parser = value::duration, allow_hyphen_values = true)]
    pub delay: Option<Duration>,
    /// Run it at this time: `06:00`, `2026-11-21 06:00`, `2026-11-21T06:00:00Z`
    #[arg(long, value_name = "T", value_parser = moment::when, allow_hyphen_values = true,
          conflicts_with = "delay")]
    pub at: Option<When>,
}

impl Later {
    /// Returns whether one of them was given.
    pub(crate) fn told(&self) -> bool {
        self.delay.is_some() || self.at.is_some()
    }

    /// Returns the moment meant; `None` is at once.
    pub(crate) fn due(&self, now: Moment) -> Option<Moment> {
        match (self.delay, &self.at) {
            (Some(delay), _) => Some(now.after(delay)),
            (None, Some(at)) => Some(at.from(now)),
            (None, None) => None,
        }
    }

    /// Returns how long that is from now.
    pub(crate) fn wait(&self, now: Moment) -> Duration {
        let due = self.due(now).map_or(0.0, |due| due.since(now));
        match self.delay {
            Some(delay) => delay,
            None => Duration::try_from_secs_f64(due).unwrap_or_default(),
        }
    }
}

/// Queues by name, or all of them.
#[derive(Clone, Debug, Args)]
pub(crate) struct Queues {
    /// The queues
    #[arg(value_name = "QUEUE", value_parser = value::name(), required_unless_present = "all",
          add = value::Candidates::Queues)]
    pub queues: Vec<Name>,
    /// All of them
    #[arg(long, conflicts_with = "queues")]
    pub all: bool,
}

impl Queues {
    /// Returns the queues that are named, `None` for all of them.
    pub(crate) fn named(&self) -> Option<&[Name]> {
        (!self.all).then_some(&self.queues)
    }
}

/// Refuses what is to be done and undone at once.
pub(crate) fn apart(one: (&str, &[Name]), other: (&str, &[Name])) -> Result<(), Error> {
    match one.1.iter().find(|name| other.1.contains(name)) {
        Some(both) => Err(Error::usage(format!(
            "`{}` and `{}` both name `{}`",
            one.0,
            other.0,
            clean(both)
        ))),
        None => Ok(()),
    }
}
