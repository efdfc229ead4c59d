//! `qless unfail`

use crate::cli::shared::DryRun;
use crate::cli::{Format, value};
use crate::core::index::Index;
use crate::core::unknown;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{Bulk, Shows, Sum};
use crate::model::name::Name;
use crate::view::text::{clean, plural};

/// Move the oldest failed jobs of a group to one queue
///
/// The core's own call, kept for completeness: all go to the one queue, and neither their failure
/// nor the counters of the day change as they should. `qless failed --group GROUP --retry-all` is
/// the better tool: it puts each job back into its own queue.
///
/// Prints how many were moved.
///
/// Example: `qless unfail 'upload error' --to uploads --count 100`
///
/// Exit codes: 0, 4 unknown group, 6 server, 9 not confirmed.
///
/// See also: `qless failed`, `qless retry`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The group
    #[arg(value_parser = value::jids(), add = value::Candidates::Groups)]
    group: Name,
    /// The queue
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(),
          add = value::Candidates::Queues)]
    to: Name,
    /// At most so many jobs
    #[arg(long, value_name = "N", value_parser = value::at_least_one, default_value = "25")]
    count: u64,
    #[command(flatten)]
    dry: DryRun,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    cx.out.shows::<Bulk>()?;
    let now = cx.begin()?;
    let index = Index::Failed(args.group.clone());
    let core = cx.core()?;
    let total = core.index(now, &index, 0, 0)?.total;
    if total == 0 {
        unknown::index(core, now, &index)?;
    }
    let expected = total.min(args.count);
    let what = format!(
        "move the {} of `{}` to `{}`",
        plural(expected, "oldest job", "oldest jobs"),
        clean(&args.group),
        clean(&args.to)
    );
    let mut moved = 0;
    if args.dry.dry_run {
        cx.out.would(&format!("would {what}"));
    } else {
        let on = cx.on()?;
        let consent = cx.out.confirm(&(what + &on), |_| String::new())?;
        moved = cx
            .core()?
            .unfail(now, &args.to, &args.group, args.count, consent)?;
    }
    if matches!(cx.out.format(), Format::Table | Format::Raw) {
        if !args.dry.dry_run {
            cx.out.text(&format!("{moved}\n"))?;
        }
        return Ok(Exit::Ok);
    }
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let done = count(u64::try_from(moved).unwrap_or(0));
    let sum = match args.dry.dry_run {
        true => Sum::of("unfail", true, count(expected)),
        false => Sum {
            done,
            ..Sum::of("unfail", false, done)
        },
    };
    cx.out.show(&Bulk {
        sum: sum.within(cx.out.context()),
        items: Vec::new(),
        shows: Shows::Nothing,
        rows: Vec::new(),
    })?;
    Ok(Exit::Ok)
}
