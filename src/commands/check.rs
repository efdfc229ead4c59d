//! `qless check`

use std::path::PathBuf;

use crate::bulk::pace::Pace;
use crate::check::cause;
use crate::check::finding::{Finding, Severity};
use crate::check::judge::{Judge, Order, Watch};
use crate::check::walk::{Scope, Seen};
use crate::check::wanted::{Wanted, Word};
use crate::cli::shared::DryRun;
use crate::cli::value;
use crate::core::index::Index;
use crate::core::unknown;
use crate::cx::Cx;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::model::check::Check;
use crate::model::json::Number;
use crate::model::name::Name;
use crate::model::pattern::Pattern;
use crate::model::rate::Rate;
use crate::stop::Stop;
use crate::view::text::thousands;

/// Find what is damaged, as a file-system check does
///
/// Reads the whole key layout in slices that keep nobody waiting: ids without jobs, jobs in no set
/// or in a wrong one, running jobs that no lock brings back, dependencies on jobs that are gone,
/// counters and lists that disagree. Each is judged from one instant, so a busy system gives no
/// false alarms. Nothing is changed.
///
/// A finding is `critical` (wedges a queue for clients with the reference core), `error` (loses,
/// doubles or blocks a job), `warn` (wrong bookkeeping) or `info` (needs no action).
///
/// Examples: `qless check`
/// · `qless check --fail-on error -q || page-someone`
/// · `qless check --queue mail --rate 5000/s`
/// · `qless check --only ghost-waiting,in-no-set -o json`
///
/// Exit codes: 0 clean, 2, 4 unknown queue, 6 it could not look, 7 findings at or above `--fail-on`.
///
/// See also: `qless help findings`, `qless help json check`
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only what belongs to a queue, by name or glob
    #[arg(long = "queue", value_name = "Q", value_parser = value::pattern())]
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
    /// At most so many keys a second, such as `5000/s`
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
          conflicts_with_all = ["repair", "queues", "only", "skip"])]
    revert: Option<PathBuf>,
    #[command(flatten)]
    dry: DryRun,
}

impl Args {
    /// Whether it changes something.
    pub fn writes(&self) -> bool {
        (self.repair || self.revert.is_some()) && !self.dry.dry_run
    }

    fn wanted(&self) -> Wanted {
        let only = self.only.iter().filter_map(|id| match id.as_str() {
            "all" => Some(Word::All),
            id => Finding::named(id).map(Word::One),
        });
        let skip = self.skip.iter().filter_map(|id| Finding::named(id));
        Wanted::new(only.collect(), skip.collect())
    }
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[])?;
    cx.out.shows::<Check>()?;
    if args.repair || args.revert.is_some() {
        return Err(Error::usage("nothing can be mended by this version yet"));
    }
    look(&args, cx)
}

/// Looks, and reports what was found.
fn look(args: &Args, cx: &mut Cx) -> Result<Exit, Error> {
    let now = cx.begin()?;
    let scope = scope(&args.queues, cx)?;
    let (core, out) = cx.parts()?;
    let server = core.server(now);
    let keys = server.keys;
    let watch = Watch {
        progress: out.progress(keys.unwrap_or(0)),
        pace: Pace::new(args.rate),
        stop: Stop::listen(),
    };
    let order = Order {
        wanted: args.wanted(),
        examples: usize::try_from(args.max_examples).unwrap_or(usize::MAX),
        repair: false,
    };
    let mut judge = Judge::new(order, watch);
    let walked = judge.look(core, now, &scope);
    let seen = judge.seen();
    if scope.queues.is_empty()
        && let Some((place, verdict)) = cause::evicts(&server)
    {
        judge.tell(&place, verdict);
    }
    let took = core.now().since(now);
    let (items, _, _) = judge.end();
    if let Err(error) = &walked
        && !matches!(error.kind(), Kind::Interrupted | Kind::Terminated)
    {
        return Err(halted(error, seen, keys));
    }
    let failing = items.iter().any(|found| found.severity >= args.fail_on);
    let check = Check {
        keys: seen.keys,
        jobs: seen.jobs,
        queues: match scope.queues.len() {
            0 => seen.queues,
            some => some as u64,
        },
        elapsed_s: Number((took * 10.0).round() / 10.0),
        complete: walked.is_ok(),
        clean: walked.is_ok() && !failing,
        fail_on: args.fail_on,
        causes: cause::likely(&items, &server),
        items,
    };
    report(&check, cx)?;
    match walked {
        Err(error) => Err(halted(&error, seen, keys)),
        Ok(()) if failing => Ok(Exit::Inconsistent),
        Ok(()) => Ok(Exit::Ok),
    }
}

fn report(check: &Check, cx: &mut Cx) -> Result<(), Error> {
    let out = &mut cx.out;
    let nothing = match (check.items.is_empty(), check.complete) {
        (true, true) => ", nothing is damaged",
        _ => "",
    };
    out.note(&format!("{}{nothing}", check.headline()));
    if !check.items.is_empty() {
        out.note_on_terminal("");
    }
    out.show(check)?;
    for cause in &check.causes {
        out.note(&format!("likely cause: {cause}"));
    }
    Ok(())
}

/// Returns the queues that are meant.
fn scope(patterns: &[Pattern], cx: &mut Cx) -> Result<Scope, Error> {
    if patterns.is_empty() {
        return Ok(Scope::default());
    }
    let now = cx.now();
    let core = cx.core()?;
    let known = core.members(now, &Index::Queues)?;
    let mut queues: Vec<Name> = Vec::new();
    for pattern in patterns {
        let some: Vec<Name> = match pattern.plain() {
            Some(queue) => {
                core.queue_exists(now, queue)?;
                vec![queue.clone()]
            }
            None => known
                .iter()
                .filter(|queue| pattern.matches(queue))
                .cloned()
                .collect(),
        };
        if some.is_empty() {
            return Err(unknown::error("queue", pattern.typed(), &[]));
        }
        queues.extend(some);
    }
    queues.sort();
    queues.dedup();
    Ok(Scope { queues })
}

/// Says of a look that was cut short how far it came.
fn halted(error: &Error, seen: Seen, keys: Option<u64>) -> Error {
    let far = match keys {
        Some(keys) => format!(
            "{} of {} keys",
            thousands(seen.keys),
            thousands(keys.max(seen.keys))
        ),
        None => format!("{} keys", thousands(seen.keys)),
    };
    let told = Error::new(
        error.kind(),
        format!(
            "{} after {far}: what is not told may be damaged, too",
            error.message()
        ),
    );
    match error.hint_text() {
        Some(hint) => told.hint(hint),
        None => told,
    }
}
