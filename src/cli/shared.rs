//! Arguments that several rooms share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::value;
use super::when::{self, When};
use crate::error::Error;
use crate::model::job::State;
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::model::pattern::Pattern;
use crate::model::rate::Rate;
use crate::view::text::clean;

/// On every command that writes.
#[derive(Clone, Debug, Args)]
pub struct DryRun {
    /// Show what would be done, change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// As helps head the flags that say how many jobs are changed, not what becomes of them.
pub const BULK: &str = "Bulk";

/// On every verb that may change many jobs.
#[derive(Clone, Debug, Default, Args)]
pub struct BulkFlags {
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
    /// those that are done
    #[arg(help_heading = BULK, long, value_name = "FILE", value_parser = value::file())]
    pub report: Option<PathBuf>,
}

/// On those of them that make jobs runnable.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Spread {
    /// Let them run evenly over this time instead of all at once
    #[arg(help_heading = BULK, long, value_name = "D", value_parser = value::duration,
          allow_hyphen_values = true)]
    pub spread: Option<Duration>,
}

/// As helps head the flags of a selector.
const SELECTOR: &str = "Selector";

/// Which jobs are meant, where they are not named: different flags narrow, a repeated one widens
/// (but `--tag`).
#[derive(Clone, Debug, Default, Args)]
pub struct Selector {
    /// Jobs of a queue, by name or glob
    #[arg(help_heading = SELECTOR, long = "queue", value_name = "Q", value_parser = value::pattern())]
    pub queues: Vec<Pattern>,
    /// Jobs in a state
    #[arg(help_heading = SELECTOR, long = "state", value_name = "S", value_delimiter = ',', value_parser = value::state())]
    pub states: Vec<State>,
    /// Failed jobs of a group, by name or glob
    #[arg(help_heading = SELECTOR, long = "group", value_name = "G", value_parser = value::pattern())]
    pub groups: Vec<Pattern>,
    /// Jobs with a tag; repeated: with all of them
    #[arg(help_heading = SELECTOR, long = "tag", value_name = "T", value_parser = value::name())]
    pub tags: Vec<Name>,
    /// The first N of them
    #[arg(help_heading = SELECTOR, long, value_name = "N", value_parser = value::count)]
    pub limit: Option<u64>,
    /// Without the first N of them
    #[arg(help_heading = SELECTOR, long, value_name = "N", default_value = "0", hide_default_value = true,
          value_parser = value::count)]
    pub offset: u64,
}

impl Selector {
    /// Returns whether nothing narrows the jobs down.
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
            && self.states.is_empty()
            && self.groups.is_empty()
            && self.tags.is_empty()
    }
}

/// Jobs by name, or those that a selector means; one excludes the other.
#[derive(Clone, Debug, Default, Args)]
pub struct Targets {
    /// The jobs; `-` reads them from standard input, `@FILE` from a file
    #[arg(value_name = "JID", value_parser = value::jids())]
    pub jids: Vec<Name>,
    #[command(flatten)]
    pub selector: Selector,
}

impl Targets {
    /// Refuses both ways at once, and neither.
    pub fn check(&self) -> Result<(), Error> {
        let Selector { limit, offset, .. } = &self.selector;
        let selects = !self.selector.is_empty() || limit.is_some() || *offset > 0;
        match (self.jids.is_empty(), selects) {
            (false, true) => Err(Error::usage(
                "jobs are either named or selected by flags, not both",
            )),
            (true, _) if self.selector.is_empty() => Err(Error::usage("no job is named")
                .hint("name jobs, or select them by `--queue`, `--state`, `--group` or `--tag`")),
            _ => Ok(()),
        }
    }
}

/// On every command that takes data.
#[derive(Clone, Debug, Args)]
pub struct MaxData {
    /// The most data that is taken, in bytes
    #[arg(long, value_name = "BYTES", value_parser = value::bytes, default_value = "16MiB")]
    pub max_data: usize,
}

/// Jobs to be changed.
#[derive(Clone, Debug, Args)]
pub struct Jids {
    /// The jobs; `-` reads them from stdin, `@FILE` from a file
    #[arg(required = true, value_name = "JID", value_parser = value::jids())]
    pub jids: Vec<Name>,
}

/// In whose name a job is settled.
#[derive(Clone, Debug, Args)]
pub struct Holder {
    /// The worker that holds the job [QLESS_WORKER; default cli-USER@HOST]
    #[arg(long, value_name = "NAME", value_parser = value::new_name())]
    pub worker: Option<Name>,
    /// Act in the name of whichever worker holds the job
    #[arg(long, conflicts_with = "worker")]
    pub as_holder: bool,
}

/// When a job is to run.
#[derive(Clone, Debug, Args)]
pub struct Later {
    /// Run it after this time, such as `10m`
    #[arg(long, value_name = "D", value_parser = value::duration, allow_hyphen_values = true)]
    pub delay: Option<Duration>,
    /// Run it at this time: `06:00`, `2026-11-21 06:00`, `2026-11-21T06:00:00Z`
    #[arg(long, value_name = "T", value_parser = when::when, allow_hyphen_values = true,
          conflicts_with = "delay")]
    pub at: Option<When>,
}

impl Later {
    /// Returns whether one of them was given.
    pub fn told(&self) -> bool {
        self.delay.is_some() || self.at.is_some()
    }

    /// Returns the moment meant; `None` is at once.
    pub fn due(&self, now: Moment) -> Option<Moment> {
        match (self.delay, &self.at) {
            (Some(delay), _) => Some(now.after(delay)),
            (None, Some(at)) => Some(at.from(now)),
            (None, None) => None,
        }
    }

    /// Returns how long that is from now.
    pub fn wait(&self, now: Moment) -> Duration {
        let due = self.due(now).map_or(0.0, |due| due.since(now));
        match self.delay {
            Some(delay) => delay,
            None => Duration::try_from_secs_f64(due).unwrap_or_default(),
        }
    }
}

/// Queues by name, or all of them.
#[derive(Clone, Debug, Args)]
pub struct Queues {
    /// The queues
    #[arg(value_name = "QUEUE", value_parser = value::name(), required_unless_present = "all")]
    pub queues: Vec<Name>,
    /// All of them
    #[arg(long, conflicts_with = "queues")]
    pub all: bool,
}

/// Refuses what is to be done and undone at once.
pub fn apart(one: (&str, &[Name]), other: (&str, &[Name])) -> Result<(), Error> {
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
