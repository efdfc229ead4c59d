//! `--revert`: puts back what a repair changed, newest first, where nothing has changed since.

use std::path::Path;
use std::time::Instant;

use super::slices::{SLICE, Slices};
use super::undo::Past;
use crate::bulk::pace::Pace;
use crate::core::Core;
use crate::core::check::{Change, Kind};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{Bulk, Shows, Sum};
use crate::model::queue::Seconds;
use crate::model::rate::Rate;
use crate::out::Progress;
use crate::stop::Stop;
use crate::view::repair::by_finding;
use crate::view::text::{clean, plural, thousands};

/// What is measured here are changes of all kinds.
const ALL: Kind = Kind::Key;

pub fn run(path: &Path, dry_run: bool, rate: Option<Rate>, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.shows::<Bulk>()?;
    let mut past = Past::open(path)?;
    let shown = past.shown().to_owned();
    if past.head.prefix != cx.prefix() {
        let (theirs, ours) = (clean(&past.head.prefix), clean(cx.prefix()));
        return Err(Error::usage(format!(
            "`{shown}` tells of keys with prefix `{theirs}`, this is `{ours}`; nothing was changed"
        ))
        .hint("`--prefix` says which keys are meant"));
    }
    cx.begin()?;
    right_server(&past, &shown, cx)?;
    let total = past.total();
    let matched = usize::try_from(total).unwrap_or(usize::MAX);
    let mut sum = Sum::of("revert", dry_run, matched).within(cx.out.context());
    let changes = plural(total, "change", "changes");
    if total > 0 {
        let what = format!("put back {changes} on {}", cx.place()?);
        let details = |_: &_| by_finding(&past.counts);
        match dry_run {
            true => cx.out.rehearse(&what, details),
            false => _ = cx.out.confirm(&what, details)?,
        }
    }
    if dry_run || total == 0 {
        show(sum, cx)?;
        let told = match total {
            0 => format!("`{shown}` tells of no change"),
            _ => format!("would put back what has not changed since, of {changes}"),
        };
        cx.out.would(&told);
        return Ok(Exit::Ok);
    }
    let begun = cx.now();
    let mut progress = cx.out.progress(total);
    let broke = put_back(&mut past, rate, cx.core()?, &mut progress, &mut sum).err();
    progress.finish();
    let tried = sum.done + sum.skipped;
    sum.remaining = matched.saturating_sub(tried);
    sum.elapsed_s = Seconds(cx.now().since(begun));
    let count = |count: usize| thousands(count as u64);
    let mut told = format!(
        "{} put back, {} left alone",
        count(sum.done),
        count(sum.skipped)
    );
    if sum.skipped > 0 {
        told.push_str(": changed since, or back already");
    }
    show(sum, cx)?;
    cx.out.note(&told);
    let Some(error) = broke else {
        return Ok(Exit::Ok);
    };
    let why = format!("{} after {} of {changes}", error.message(), count(tried));
    Err(Error::new(error.kind(), why).hint(match cx.typed() {
        Some(typed) => format!("run the same command again to go on: `{typed}`"),
        None => "run the same command again to go on".to_owned(),
    }))
}

fn show(sum: Sum, cx: &mut Cx) -> Result<(), Error> {
    cx.out.show(&Bulk {
        sum,
        items: Vec::new(),
        shows: Shows::Nothing,
        rows: Vec::new(),
    })
}

/// Says so where the repair was of another server than this.
fn right_server(past: &Past, shown: &str, cx: &mut Cx) -> Result<(), Error> {
    let here = cx.target()?.to_string();
    let run_id = cx.core()?.run_id();
    let head = &past.head;
    if head.address != here {
        let (there, here) = (clean(&head.address), clean(&here));
        cx.out
            .warn(&format!("`{shown}` tells of `{there}`, this is `{here}`"));
    } else if let (Some(one), Some(other)) = (&head.run_id, &run_id)
        && one != other
    {
        cx.out.note(&format!(
            "note: the server is another one than `{shown}` tells of, or was started anew"
        ));
    }
    Ok(())
}

fn put_back(
    past: &mut Past,
    rate: Option<Rate>,
    core: &mut Core,
    progress: &mut Progress,
    sum: &mut Sum,
) -> Result<(), Error> {
    let stop = Stop::listen();
    let mut pace = Pace::new(rate);
    let most = pace.slice(SLICE);
    let now = core.now();
    let mut slices = Slices::new(core.trip(now));
    while let Some(mends) = past.newest()? {
        let mut mends = mends.into_iter().peekable();
        while mends.peek().is_some() {
            let size = slices.size(ALL).min(most);
            // What mended one finding stays together.
            let mut changes: Vec<Change> = mends.next().unwrap_or_default();
            while let Some(more) = mends.next_if(|more| changes.len() + more.len() <= size) {
                changes.extend(more);
            }
            if changes.is_empty() {
                continue;
            }
            pace.wait(changes.len(), &stop);
            if let Some(kind) = stop.asked() {
                return Err(Error::new(kind, "interrupted"));
            }
            let begun = Instant::now();
            let (back, alone) = core.put_back(core.now(), &changes)?;
            slices.measure(ALL, changes.len(), begun.elapsed());
            sum.done += usize::try_from(back).unwrap_or(usize::MAX);
            sum.skipped += usize::try_from(alone).unwrap_or(usize::MAX);
            progress.add(changes.len() as u64);
        }
    }
    Ok(())
}
