//! `--revert`: reverts the changes of a repair, newest first. A value that has changed since the repair stays.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use super::list_revert::{MIN_ENTRIES, RemovedListEntries};
use super::undo::{FindingChanges, UndoFile};
use crate::bulk::pace::Pace;
use crate::check::verify::batch_size::{BatchSizes, MAX_BATCH};
use crate::check::verify::finding_filter::FindingFilter;
use crate::core::api::check::RevertCounts;
use crate::core::call::Core;
use crate::core::script::keys::{KeyFamily, Keys};
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::InterruptFlags;
use crate::model::bulk::{BulkReport, BulkTableColumns, BulkTotals};
use crate::model::check::text::changes_by_finding_text;
use crate::model::finding::FindingId;
use crate::model::queue::RoundedSeconds;
use crate::model::rate::MaxRate;
use crate::model::verdict::{ItemKind, KeyChange};
use crate::name::Name;
use crate::session::Session;
use crate::text::{Sanitized, format_count, with_thousands_separators};
use crate::ui::Progress;

/// The kind that a revert passes to [`BatchSizes`]: one batch size serves for changes of all kinds.
const ANY_KIND: ItemKind = ItemKind::Key;

pub(crate) fn run_revert(
    path: &Path,
    filter: &FindingFilter,
    dry_run: bool,
    rate: Option<MaxRate>,
    session: &mut Session,
) -> Result<Exit, Error> {
    session.ui.check_columns::<BulkReport>()?;
    let mut file = UndoFile::open(path, filter)?;
    let shown = file.shown.clone();
    if file.head.prefix != session.prefix() {
        let (theirs, ours) = (Sanitized(&file.head.prefix), Sanitized(session.prefix()));
        return Err(Error::usage(format!(
            "`{shown}` is about keys with prefix `{theirs}`, not `{ours}`; nothing was changed"
        ))
        .hint("set the prefix with `--prefix`"));
    }
    session.connect()?;
    warn_of_other_server(&file, &shown, session)?;
    let total = file.change_count();
    let matched = usize::try_from(total).unwrap_or(usize::MAX);
    let mut sum = BulkTotals::new("revert", dry_run, matched).in_context(session.ui.context_name());
    let changes = format_count(total, "change", "changes");
    if total > 0 {
        let what = format!(
            "revert {changes} on {}",
            session.server_label_and_address()?
        );
        let details = |_: &_| changes_by_finding_text(&file.counts);
        if dry_run {
            session.ui.print_dry_run_plan(&what, details)
        } else {
            _ = session.ui.confirm(&what, details)?
        }
    }
    if dry_run || total == 0 {
        show_totals(sum, session)?;
        session.ui.note_dry_run_changes(&match total {
            0 if filter.excludes_any_finding() => {
                format!("`{shown}` has no changes of what was asked")
            }
            0 => format!("`{shown}` has no changes"),
            _ => format!("would revert {changes}, except values that have changed since"),
        });
        return Ok(Exit::Ok);
    }
    let stopwatch = session.clock().start_stopwatch();
    let mut progress = session.ui.start_progress_bar(total);
    let error = revert_file(&mut file, rate, session.core()?, &mut progress, &mut sum).err();
    progress.remove_bar();
    let tried = sum.done + sum.skipped;
    sum.remaining = matched.saturating_sub(tried);
    sum.elapsed_s = RoundedSeconds(stopwatch.elapsed_seconds());
    let count = |count: usize| with_thousands_separators(count as u64);
    let mut summary = format!(
        "{} reverted, {} skipped",
        count(sum.done),
        count(sum.skipped)
    );
    if sum.skipped > 0 {
        summary.push_str(": changed since, or reverted already");
    }
    show_totals(sum, session)?;
    session.ui.note(&summary);
    let Some(error) = error else {
        return Ok(Exit::Ok);
    };
    let message = format!("{} after {} of {changes}", error.message(), count(tried));
    Err(Error::new(error.kind(), message).hint(session.resume_hint()))
}

fn show_totals(sum: BulkTotals, session: &mut Session) -> Result<(), Error> {
    session.ui.show(&BulkReport {
        sum,
        items: Vec::new(),
        table_columns: BulkTableColumns::Nothing,
        rows: Vec::new(),
    })
}

/// Warns if the undo file is about a server at another address, or if the server may have restarted since.
fn warn_of_other_server(file: &UndoFile, shown: &str, session: &mut Session) -> Result<(), Error> {
    let here = session.target()?.to_string();
    let run_id = session.core()?.run_id();
    let head = &file.head;
    if head.address != here {
        let (there, here) = (Sanitized(&head.address), Sanitized(&here));
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

fn revert_file(
    file: &mut UndoFile,
    rate: Option<MaxRate>,
    core: &mut Core,
    progress: &mut Progress,
    sum: &mut BulkTotals,
) -> Result<(), Error> {
    let now = core.now();
    let mut reverter = Reverter {
        interrupt: InterruptFlags::install_handlers_once(),
        pace: Pace::new(rate),
        batch_sizes: BatchSizes::new(core.measure_round_trip(now)),
        keys: Keys::new(core.prefix()),
        lists: HashMap::new(),
        core,
        progress,
        sum,
    };
    while let Some(repairs) = file.pop_newest_repairs()? {
        let mut repairs = repairs.into_iter().peekable();
        let mut changes: Vec<KeyChange> = Vec::new();
        while let Some(repair) = repairs.next() {
            reverter.sort_changes_and_revert_conflicting(repair, &mut changes)?;
            // One call reverts all changes of a finding, so the call ends before a finding that does not fit.
            let more = repairs.peek().map(|repair| repair.changes.len());
            if more.is_none_or(|more| changes.len() + more > reverter.batch_size()) {
                reverter.revert_in_one_call(&std::mem::take(&mut changes))?;
            }
        }
    }
    let lists = std::mem::take(&mut reverter.lists);
    lists
        .values()
        .try_for_each(|list| reverter.revert_list(list))
}

/// Reverts changes in batches, and rewrites failure lists that lost many entries.
struct Reverter<'a> {
    core: &'a mut Core,
    keys: Keys,
    /// Entries that this revert has collected and not restored yet, by the key of their failure list.
    lists: HashMap<Name, RemovedListEntries>,
    interrupt: InterruptFlags,
    pace: Pace,
    batch_sizes: BatchSizes,
    progress: &'a mut Progress,
    sum: &'a mut BulkTotals,
}

impl Reverter<'_> {
    fn batch_size(&self) -> usize {
        let max_batch = self.pace.slice_size(MAX_BATCH);
        self.batch_sizes.size_for(ANY_KIND).min(max_batch)
    }

    /// Collects the entries that the repair of a finding removed from a failure list. Adds all other changes of the
    /// repair to `other_changes`.
    fn sort_changes_and_revert_conflicting(
        &mut self,
        repair: FindingChanges,
        other_changes: &mut Vec<KeyChange>,
    ) -> Result<(), Error> {
        let is_about_failure_list = |change: &KeyChange| {
            matches!(
                self.keys.family_of_key(change.key.as_bytes()),
                KeyFamily::Group(_)
            )
        };
        let (entries, others): (Vec<_>, Vec<_>) =
            repair.changes.into_iter().partition(is_about_failure_list);
        let Some(first) = entries.first() else {
            other_changes.extend(others);
            return Ok(());
        };
        let id = FindingId::from_name(&repair.finding);
        if let (Some(list), Some(id)) = (self.lists.get_mut(&first.key), id)
            && list.add_if_same_list(id, &entries)
        {
            other_changes.extend(others);
            return Ok(());
        }
        // The changes collected for this list are newer than the ones of this repair, so revert them first.
        if entries
            .iter()
            .any(|change| self.lists.contains_key(&change.key))
        {
            self.revert_in_one_call(&std::mem::take(other_changes))?;
            for change in &entries {
                if let Some(list) = self.lists.remove(&change.key) {
                    self.revert_list(&list)?;
                }
            }
        }
        match id.and_then(|id| RemovedListEntries::from_changes(id, &entries)) {
            Some(list) => {
                if other_changes.iter().any(|change| change.key == list.key) {
                    self.revert_in_one_call(&std::mem::take(other_changes))?;
                }
                self.lists.insert(list.key.clone(), list);
            }
            None => other_changes.extend(entries),
        }
        other_changes.extend(others);
        Ok(())
    }

    /// Restores the collected entries of a failure list: many entries by a rewrite of the list, few one at a time.
    fn revert_list(&mut self, list: &RemovedListEntries) -> Result<(), Error> {
        let (pace, interrupt) = (&mut self.pace, &self.interrupt);
        let mut wait = |count| pace.wait_unless_interrupted(count, interrupt);
        if list.entries.len() >= MIN_ENTRIES
            && let Some(counts) = list.try_rewrite_list(self.core, &mut wait)?
        {
            self.add_counts(counts);
            self.progress.add_done(list.entries.len() as u64);
            return Ok(());
        }
        let changes = list.changes_not_yet_reverted(self.core, wait)?;
        let returned = list.entries.len() - changes.len();
        self.sum.skipped += returned;
        self.progress.add_done(returned as u64);
        self.revert_in_batches(&changes)
    }

    fn revert_in_batches(&mut self, changes: &[KeyChange]) -> Result<(), Error> {
        let mut rest = changes;
        while !rest.is_empty() {
            let (some, others) = rest.split_at(self.batch_size().min(rest.len()));
            self.revert_in_one_call(some)?;
            rest = others;
        }
        Ok(())
    }

    fn revert_in_one_call(&mut self, changes: &[KeyChange]) -> Result<(), Error> {
        if changes.is_empty() {
            return Ok(());
        }
        self.pace
            .wait_unless_interrupted(changes.len(), &self.interrupt)?;
        let begun = Instant::now();
        let counts = self.core.revert_changes(self.core.now(), changes)?;
        let elapsed = begun.elapsed();
        self.batch_sizes
            .adjust_size(ANY_KIND, changes.len(), elapsed);
        self.add_counts(counts);
        self.progress.add_done(changes.len() as u64);
        Ok(())
    }

    fn add_counts(&mut self, counts: RevertCounts) {
        self.sum.done += usize::try_from(counts.reverted).unwrap_or(usize::MAX);
        self.sum.skipped += usize::try_from(counts.skipped).unwrap_or(usize::MAX);
    }
}
