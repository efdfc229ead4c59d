//! `--revert`: reverts the changes of a repair, newest first, if nothing has changed since.

use std::path::Path;
use std::time::Instant;

use super::undo::UndoFile;
use crate::bulk::pace::Pace;
use crate::check::verify::batch_size::{BatchSizes, MAX_BATCH};
use crate::core::call::Core;
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::model::bulk::{BulkReport, RowContent, Totals};
use crate::model::queue::Seconds;
use crate::model::rate::Rate;
use crate::model::verdict::{Change, ItemKind};
use crate::session::Session;
use crate::text::{Harmless, plural, thousands};
use crate::ui::Progress;
use crate::view::repair::by_finding;

/// The batch size is measured for changes of all kinds together.
const ANY_KIND: ItemKind = ItemKind::Key;

pub(crate) fn run(
    path: &Path,
    dry_run: bool,
    rate: Option<Rate>,
    session: &mut Session,
) -> Result<Exit, Error> {
    session.ui.check_columns::<BulkReport>()?;
    let mut file = UndoFile::open(path)?;
    let shown = file.shown().to_owned();
    if file.head.prefix != session.prefix() {
        let (theirs, ours) = (Harmless(&file.head.prefix), Harmless(session.prefix()));
        return Err(Error::usage(format!(
            "`{shown}` is about keys with prefix `{theirs}`, not `{ours}`; nothing was changed"
        ))
        .hint("set the prefix with `--prefix`"));
    }
    session.begin()?;
    warn_of_other_server(&file, &shown, session)?;
    let total = file.total();
    let matched = usize::try_from(total).unwrap_or(usize::MAX);
    let mut sum = Totals::of("revert", dry_run, matched).within(session.ui.context());
    let changes = plural(total, "change", "changes");
    if total > 0 {
        let what = format!("revert {changes} on {}", session.destination()?);
        let details = |_: &_| by_finding(&file.counts);
        match dry_run {
            true => session.ui.show_plan(&what, details),
            false => _ = session.ui.confirm(&what, details)?,
        }
    }
    if dry_run || total == 0 {
        show(sum, session)?;
        session.ui.note_dry_run(&match total {
            0 => format!("`{shown}` has no changes"),
            _ => format!("would revert {changes}, except values that have changed since"),
        });
        return Ok(Exit::Ok);
    }
    let begun = session.now();
    let mut progress = session.ui.progress(total);
    let error = revert(&mut file, rate, session.core()?, &mut progress, &mut sum).err();
    progress.finish();
    let tried = sum.done + sum.skipped;
    sum.remaining = matched.saturating_sub(tried);
    sum.elapsed_s = Seconds(session.now().since(begun));
    let count = |count: usize| thousands(count as u64);
    let mut summary = format!(
        "{} reverted, {} skipped",
        count(sum.done),
        count(sum.skipped)
    );
    if sum.skipped > 0 {
        summary.push_str(": changed since, or reverted already");
    }
    show(sum, session)?;
    session.ui.note(&summary);
    let Some(error) = error else {
        return Ok(Exit::Ok);
    };
    let message = format!("{} after {} of {changes}", error.message(), count(tried));
    Err(
        Error::new(error.kind(), message).hint(match session.typed() {
            Some(typed) => format!("run the same command again to continue: `{typed}`"),
            None => "run the same command again to continue".to_owned(),
        }),
    )
}

fn show(sum: Totals, session: &mut Session) -> Result<(), Error> {
    session.ui.show(&BulkReport {
        sum,
        items: Vec::new(),
        row_content: RowContent::Nothing,
        rows: Vec::new(),
    })
}

/// Warns if the undo file is about another server.
fn warn_of_other_server(file: &UndoFile, shown: &str, session: &mut Session) -> Result<(), Error> {
    let here = session.target()?.to_string();
    let run_id = session.core()?.run_id();
    let head = &file.head;
    if head.address != here {
        let (there, here) = (Harmless(&head.address), Harmless(&here));
        session
            .ui
            .warn(&format!("`{shown}` is about `{there}`, not `{here}`"));
    } else if let (Some(one), Some(other)) = (&head.run_id, &run_id)
        && one != other
    {
        session.ui.note(&format!(
            "note: this is not the server that `{shown}` is about, or it has restarted"
        ));
    }
    Ok(())
}

fn revert(
    file: &mut UndoFile,
    rate: Option<Rate>,
    core: &mut Core,
    progress: &mut Progress,
    sum: &mut Totals,
) -> Result<(), Error> {
    let interrupt = Interrupt::listen();
    let mut pace = Pace::new(rate);
    let max_batch = pace.slice(MAX_BATCH);
    let now = core.now();
    let mut batch_sizes = BatchSizes::new(core.round_trip(now));
    while let Some(repairs) = file.pop_newest()? {
        let mut repairs = repairs.into_iter().peekable();
        while repairs.peek().is_some() {
            let size = batch_sizes.size(ANY_KIND).min(max_batch);
            // The changes of one finding stay together.
            let mut changes: Vec<Change> = repairs.next().unwrap_or_default();
            while let Some(more) = repairs.next_if(|more| changes.len() + more.len() <= size) {
                changes.extend(more);
            }
            if changes.is_empty() {
                continue;
            }
            pace.wait(changes.len(), &interrupt);
            if let Some(kind) = interrupt.asked() {
                return Err(Error::new(kind, "interrupted"));
            }
            let begun = Instant::now();
            let (reverted, skipped) = core.revert(core.now(), &changes)?;
            batch_sizes.measure(ANY_KIND, changes.len(), begun.elapsed());
            sum.done += usize::try_from(reverted).unwrap_or(usize::MAX);
            sum.skipped += usize::try_from(skipped).unwrap_or(usize::MAX);
            progress.add(changes.len() as u64);
        }
    }
    Ok(())
}
