//! `--revert`: puts back what a repair changed, newest first, where nothing has changed since.

use std::path::Path;
use std::time::Instant;

use super::undo::Past;
use crate::bulk::pace::Pace;
use crate::check::verify::batch_size::{SLICE, Slices};
use crate::core::call::Core;
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::model::bulk::{BulkReport, RowContent, Totals};
use crate::model::queue::Seconds;
use crate::model::rate::Rate;
use crate::model::verdict::{Change, ItemKind};
use crate::session::Session;
use crate::text::{clean, plural, thousands};
use crate::ui::Progress;
use crate::view::repair::by_finding;

/// What is measured here are changes of all kinds.
const ALL: ItemKind = ItemKind::Key;

pub(crate) fn run(
    path: &Path,
    dry_run: bool,
    rate: Option<Rate>,
    session: &mut Session,
) -> Result<Exit, Error> {
    session.ui.check_columns::<BulkReport>()?;
    let mut past = Past::open(path)?;
    let shown = past.shown().to_owned();
    if past.head.prefix != session.prefix() {
        let (theirs, ours) = (clean(&past.head.prefix), clean(session.prefix()));
        return Err(Error::usage(format!(
            "`{shown}` tells of keys with prefix `{theirs}`, this is `{ours}`; nothing was changed"
        ))
        .hint("`--prefix` says which keys are meant"));
    }
    session.begin()?;
    right_server(&past, &shown, session)?;
    let total = past.total();
    let matched = usize::try_from(total).unwrap_or(usize::MAX);
    let mut sum = Totals::of("revert", dry_run, matched).within(session.ui.context());
    let changes = plural(total, "change", "changes");
    if total > 0 {
        let what = format!("put back {changes} on {}", session.destination()?);
        let details = |_: &_| by_finding(&past.counts);
        match dry_run {
            true => session.ui.show_plan(&what, details),
            false => _ = session.ui.confirm(&what, details)?,
        }
    }
    if dry_run || total == 0 {
        show(sum, session)?;
        let told = match total {
            0 => format!("`{shown}` tells of no change"),
            _ => format!("would put back what has not changed since, of {changes}"),
        };
        session.ui.note_dry_run(&told);
        return Ok(Exit::Ok);
    }
    let begun = session.now();
    let mut progress = session.ui.progress(total);
    let broke = put_back(&mut past, rate, session.core()?, &mut progress, &mut sum).err();
    progress.finish();
    let tried = sum.done + sum.skipped;
    sum.remaining = matched.saturating_sub(tried);
    sum.elapsed_s = Seconds(session.now().since(begun));
    let count = |count: usize| thousands(count as u64);
    let mut told = format!(
        "{} put back, {} left alone",
        count(sum.done),
        count(sum.skipped)
    );
    if sum.skipped > 0 {
        told.push_str(": changed since, or back already");
    }
    show(sum, session)?;
    session.ui.note(&told);
    let Some(error) = broke else {
        return Ok(Exit::Ok);
    };
    let why = format!("{} after {} of {changes}", error.message(), count(tried));
    Err(Error::new(error.kind(), why).hint(match session.typed() {
        Some(typed) => format!("run the same command again to go on: `{typed}`"),
        None => "run the same command again to go on".to_owned(),
    }))
}

fn show(sum: Totals, session: &mut Session) -> Result<(), Error> {
    session.ui.show(&BulkReport {
        sum,
        items: Vec::new(),
        row_content: RowContent::Nothing,
        rows: Vec::new(),
    })
}

/// Says so where the repair was of another server than this.
fn right_server(past: &Past, shown: &str, session: &mut Session) -> Result<(), Error> {
    let here = session.target()?.to_string();
    let run_id = session.core()?.run_id();
    let head = &past.head;
    if head.address != here {
        let (there, here) = (clean(&head.address), clean(&here));
        session
            .ui
            .warn(&format!("`{shown}` tells of `{there}`, this is `{here}`"));
    } else if let (Some(one), Some(other)) = (&head.run_id, &run_id)
        && one != other
    {
        session.ui.note(&format!(
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
    sum: &mut Totals,
) -> Result<(), Error> {
    let stop = Interrupt::listen();
    let mut pace = Pace::new(rate);
    let most = pace.slice(SLICE);
    let now = core.now();
    let mut slices = Slices::new(core.round_trip(now));
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
            let (back, alone) = core.revert(core.now(), &changes)?;
            slices.measure(ALL, changes.len(), begun.elapsed());
            sum.done += usize::try_from(back).unwrap_or(usize::MAX);
            sum.skipped += usize::try_from(alone).unwrap_or(usize::MAX);
            progress.add(changes.len() as u64);
        }
    }
    Ok(())
}
