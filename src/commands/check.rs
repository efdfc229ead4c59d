//! `qless check`

use std::path::PathBuf;

use super::{Group, Spec};
use crate::args::shared::DryRun;
use crate::args::value;
use crate::check::repair;
use crate::check::repair::revert;
use crate::check::verify::finding_filter::{FindingFilter, Word};
use crate::check::verify::run;
use crate::check::verify::run::CheckOptions;
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::model::check::Check;
use crate::model::finding::{Finding, Severity};
use crate::model::pattern::Pattern;
use crate::model::rate::Rate;
use crate::session::Session;
use crate::text::quoted;

/// Find what is damaged, as a file-system check does
///
/// Reads the whole key layout in slices that keep nobody waiting: ids without jobs, jobs in no set
/// or in a wrong one, running jobs that no lock brings back, dependencies on jobs that are gone,
/// counters and lists that disagree. Each is judged from one instant, so a busy system gives no
/// false alarms. Nothing is changed without `--repair`.
///
/// A finding is `critical` (wedges a queue for clients with the reference core), `error` (loses,
/// doubles or blocks a job), `warn` (wrong bookkeeping) or `info` (needs no action).
///
/// `--repair` looks, shows what it would do, asks, and mends: each finding is judged again in the
/// call that mends it, so nothing is changed that others have put right meanwhile. Then it looks
/// again and tells what is left. No job loses data, tags or history; a whole key that is left over
/// is set aside under `lost:`. What a human has to decide is left as it is, with the command for
/// each choice, unless `--only` names it; `all` names everything but the deletion of `lost-key`.
/// `--dry-run` prints the commands of Redis, which are to be read, not run: by then they may be wrong.
/// A repair that was cut short is run again.
///
/// `--undo` writes down what every place held, before it is changed; `--revert` puts back what has
/// not changed since, newest first. Only the deletion of `lost-key` cannot be undone.
///
/// A look that could not see everything says how far it came, and is exit 6. A replica may lack what
/// its primary has: it is clean only with `--read-only`, which asks about the replica itself.
///
/// Examples: `qless check`
/// · `qless check --fail-on error -q || page-someone`
/// · `qless check --queue mail --rate 5000/s`
/// · `qless check --only ghost-waiting,in-no-set -o json`
/// · `qless check --repair --dry-run`
/// · `qless check --repair --undo undo.ndjson --yes`
/// · `qless check --repair --only dependency-missing`
/// · `qless check --revert undo.ndjson`
///
/// Exit codes: 0 clean, or all mended, or a dry run; 2, 4 unknown queue, 6 it could not look or
/// mend, 7 findings at or above `--fail-on` are left, 9 not confirmed.
///
/// See also: `qless help findings`, `qless help json check`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Only what belongs to a queue, by name or glob
    #[arg(long = "queue", value_name = "Q", value_parser = value::pattern(),
          add = value::Candidates::Queues)]
    queues: Vec<Pattern>,
    /// Only these findings; `all` names every one
    #[arg(long, value_name = "FINDING", value_delimiter = ',', hide_possible_values = true,
          value_parser = value::finding(true))]
    only: Vec<String>,
    /// Not these findings
    #[arg(long, value_name = "FINDING", value_delimiter = ',', hide_possible_values = true,
          value_parser = value::finding(false))]
    skip: Vec<String>,
    /// How many examples of each finding are shown
    #[arg(long, value_name = "N", default_value = "3", value_parser = value::count)]
    max_examples: u64,
    /// At most so many keys and members of indexes a second, each time one is read, judged or mended,
    /// such as `5000/s`
    #[arg(long, value_name = "N/s", value_parser = value::rate, allow_hyphen_values = true)]
    rate: Option<Rate>,
    /// From which severity on findings are exit 7: critical, error, warn or info
    #[arg(long, value_name = "SEVERITY", default_value = "warn", value_parser = value::severity())]
    fail_on: Severity,
    /// Mend what was found, after showing the plan and asking
    #[arg(long)]
    repair: bool,
    /// With `--repair`: write what is there before it is changed to this file
    #[arg(long, value_name = "FILE", requires = "repair", value_parser = value::file())]
    undo: Option<PathBuf>,
    /// Put back what a repair changed, from the file of its `--undo`, where nothing has changed since
    #[arg(long, value_name = "FILE", value_parser = value::file(),
          conflicts_with_all = ["repair", "undo", "queues", "only", "skip"])]
    revert: Option<PathBuf>,
    #[command(flatten)]
    dry: DryRun,
}

impl Args {
    /// Whether it changes something.
    fn writes(&self) -> bool {
        (self.repair || self.revert.is_some()) && !self.dry.dry_run
    }

    /// Returns the command with what says what is mended.
    fn own(&self) -> String {
        let mut words = vec!["check --repair".to_owned()];
        for queue in &self.queues {
            words.push(format!("--queue {}", quoted(queue.typed())));
        }
        for (flag, ids) in [("--only", &self.only), ("--skip", &self.skip)] {
            if !ids.is_empty() {
                words.push(format!("{flag} {}", ids.join(",")));
            }
        }
        words.join(" ")
    }

    fn wanted(&self) -> FindingFilter {
        let only = self.only.iter().filter_map(|id| match id.as_str() {
            "all" => Some(Word::All),
            id => Finding::named(id).map(Word::One),
        });
        let skip = self.skip.iter().filter_map(|id| Finding::named(id));
        FindingFilter::new(only.collect(), skip.collect())
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(Group::Recover, Args::writes, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let told = CheckOptions {
        queues: args.queues.clone(),
        wanted: args.wanted(),
        examples: args.max_examples,
        rate: args.rate,
        fail_on: args.fail_on,
    };
    if let Some(file) = &args.revert {
        return revert::run(file, args.dry.dry_run, args.rate, session);
    }
    if args.repair {
        let order = repair::RepairOptions {
            told,
            undo: args.undo.as_deref(),
            command: args.own(),
            dry_run: args.dry.dry_run,
        };
        return repair::run(order, session);
    }
    session.ui.check_columns::<Check>()?;
    session.begin()?;
    let looked = run::run(&told, false, &Interrupt::listen(), session)?;
    run::report(looked, true, session)
}
