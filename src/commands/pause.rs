//! `qless pause`

use std::time::Duration;

use crate::bulk::SLICE;
use crate::cli::shared::{DryRun, Queues};
use crate::cli::when::{self, When};
use crate::cli::{Format, value};
use crate::core::index::Index;
use crate::core::steer::Steered;
use crate::core::{refusal, unknown};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::Done;
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::model::seen::Seen;
use crate::view::text::{clean, plural};
use crate::who;

/// Keep workers from taking jobs of queues
///
/// Running jobs go on, unless `--stop-running` takes their locks away. With `--until` or `--for`
/// the pause ends by itself; clients of other make see a plain pause, which ends for them when a
/// worker with our core pops.
///
/// Examples: `qless pause images --for 2h --reason "disk swap"`
/// · `qless pause --all --stop-running`
///
/// Exit codes: 0, 4 unknown queue, 6 server.
///
/// See also: `qless unpause`, `qless queues`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    queues: Queues,
    /// End the pause at this time
    #[arg(long, value_name = "T", value_parser = when::when, allow_hyphen_values = true)]
    until: Option<When>,
    /// End the pause after this time
    #[arg(long = "for", value_name = "D", value_parser = value::duration,
          allow_hyphen_values = true, conflicts_with = "until")]
    for_: Option<Duration>,
    /// Why, for those who look
    #[arg(long, value_name = "TEXT", value_parser = value::new_name())]
    reason: Option<Name>,
    /// Take the locks of running jobs away
    #[arg(long)]
    stop_running: bool,
    /// Unknown queues, too
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    dry: DryRun,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    let now = cx.begin()?;
    let until = match (args.for_, &args.until) {
        (Some(wait), _) => Some(now.after(wait)),
        (None, Some(when)) => Some(when.from(now)),
        (None, None) => None,
    };
    if until.is_some_and(|until| until <= now) {
        return Err(Error::usage("`--until` wants a time that is still to come"));
    }
    let queues = unknown::queues(cx.core()?, now, &args.queues, &Index::Queues, args.force)?;
    let dry = args.dry.dry_run;
    if args.stop_running && !dry {
        let what = format!(
            "pause {} and time out what runs there",
            plural(queues.len() as u64, "queue", "queues")
        );
        cx.out.confirm_protected(&what, |_| String::new())?;
    }
    let mut stopped = 0;
    if !dry {
        for slice in queues.chunks(SLICE) {
            let by = who::by();
            cx.core()?
                .pause(now, slice, until, args.reason.as_ref(), &by)?;
        }
        if args.stop_running {
            let note = who::note("pause", args.reason.as_ref());
            stopped = stop(&queues, &note, now, cx)?;
        }
    }
    told(&queues, until, stopped, dry, cx);
    cx.out.show(&Done::new("pause", queues, dry))?;
    Ok(Exit::Ok)
}

/// Takes the locks of all running jobs away and returns how many there were.
fn stop(queues: &[Name], note: &[u8], now: Moment, cx: &mut Cx) -> Result<u64, Error> {
    let core = cx.core()?;
    let mut stopped = 0;
    for queue in queues {
        for jids in core
            .members(now, &Index::Locks(queue.clone()))?
            .chunks(SLICE)
        {
            let jobs = core.seen(now, jids)?.into_iter().flatten();
            let jobs: Vec<Seen> = jobs.filter(|job| job.is("running")).collect();
            for (job, answer) in jobs.iter().zip(core.timeout(now, note, &jobs)) {
                match answer {
                    Ok(Steered::Done(())) => stopped += 1,
                    // It ended by itself meanwhile.
                    Ok(Steered::Refused(_)) => {}
                    Err(error) if refusal::of(&error, &job.jid).is_some() => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(stopped)
}

fn told(queues: &[Name], until: Option<Moment>, stopped: u64, dry: bool, cx: &mut Cx) {
    let names: Vec<String> = queues.iter().map(clean).collect();
    let mut line = match (queues.is_empty(), dry) {
        (true, _) => "no queues".into(),
        (false, true) => format!("would pause {}", names.join(", ")),
        (false, false) => format!("paused {}", names.join(", ")),
    };
    if let (Some(until), false) = (until, queues.is_empty()) {
        line.push_str(&format!(" until {}", cx.out.page().stamp(until)));
    }
    if stopped > 0 {
        let jobs = plural(stopped, "running job", "running jobs");
        line.push_str(&format!(", {jobs} timed out"));
    }
    match dry {
        true => cx.out.would(&line),
        false => cx.out.note_on_terminal(&line),
    }
}
