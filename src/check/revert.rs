//! `--revert`: reverts the changes of a repair, newest first. A value that has changed since the repair stays.
//!
//! `check.revert` reverts most changes. But it would read a whole failure list for each entry that the repair removed
//! from the list. So a revert collects such entries, and writes the list once if they are many ([`MIN_ENTRIES`]). A
//! script call must not block the server for a list of any length, so a long list would take several calls. Between
//! these calls other clients may change the list, and a script would compare only its length and its ends. So this code
//! reads and writes the list by plain commands under WATCH, with which the server notices each change in between.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use super::new_repair_name;
use super::undo::{FindingChanges, UndoFileToRevert};
use crate::address::ServerTarget;
use crate::check::verify::finding_filter::FindingFilter;
use crate::check::verify::pace::CallPace;
use crate::command_line::flag_with_quoted_value;
use crate::core::api::check::{ListRewriteUnderWatch, RevertCounts};
use crate::core::api::read::{ReadCommand, ReadReply};
use crate::core::call::Core;
use crate::core::script::keys::{KeyFamily, Keys};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{BulkReport, BulkTableColumns, BulkTotals};
use crate::model::check::text::changes_by_finding_text;
use crate::model::finding::FindingId;
use crate::model::queue::RoundedSeconds;
use crate::model::rate::MaxRate;
use crate::model::verdict::{ItemKind, KeyChange};
use crate::name::Name;
use crate::session::Session;
use crate::settings::protection::are_different_databases;
use crate::text::{Sanitized, format_count, with_thousands_separators};
use crate::ui::Progress;

/// If the repair removed fewer entries than this, the revert restores them one at a time.
const MIN_ENTRIES: usize = 50;

/// Maximum number of entries collected (20 MB).
const MAX_ENTRIES: usize = 200_000;

/// Maximum number of attempts to write a list that other clients change at the same time.
const MAX_TRIES: usize = 3;

/// The number of entries read by one command.
const PAGE_SIZE: i64 = 1000;

/// The kind that a revert passes to [`CallPace`]: one batch size serves for changes of all kinds.
const ANY_KIND: ItemKind = ItemKind::Key;

pub(crate) fn run_revert(
    path: &Path,
    filter: &FindingFilter,
    dry_run: bool,
    rate: Option<MaxRate>,
    session: &mut Session,
) -> Result<Exit, Error> {
    session.ui.check_columns::<BulkReport>()?;
    let mut file = UndoFileToRevert::open(path, filter)?;
    let shown = file.shown.clone();
    if file.head.prefix != session.prefix() {
        let (theirs, ours) = (Sanitized(&file.head.prefix), Sanitized(session.prefix()));
        return Err(Error::usage(format!(
            "`{shown}` is about keys with prefix `{theirs}`, not `{ours}`; nothing was changed"
        ))
        .hint("set the prefix with `--prefix`"));
    }
    session.connect()?;
    let address = refuse_other_server_unless_confirmed(&file, &shown, session)?;
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
            session.ui.note_dry_run_plan(&what, details)
        } else {
            _ = session.ui.confirm_revert(&what, &address, details)?
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

/// Refuses an undo file about another server or database, unless `--confirm` names the address in use: a restored copy of
/// the data has the same keys. Notes that the server may have restarted since. Returns the address in use.
fn refuse_other_server_unless_confirmed(
    file: &UndoFileToRevert,
    shown: &str,
    session: &mut Session,
) -> Result<String, Error> {
    let target = session.target()?;
    let here = target.clone().without_login().to_string();
    let run_id = session.core()?.read_run_id();
    let head = &file.head;
    let is_same_run = run_id.is_some() && head.run_id == run_id;
    if !are_different_databases(&head.address, &here) {
        if head.run_id.is_some() && run_id.is_some() && !is_same_run {
            session.ui.note(&format!(
                "note: this is not the server that `{shown}` is about, or it has restarted"
            ));
        }
        return Ok(here);
    }
    // One server may have several addresses, but a run of it has one id.
    let has_same_db = ServerTarget::parse(&head.address).is_ok_and(|there| there.db == target.db);
    if is_same_run && has_same_db {
        return Ok(here);
    }
    if session.ui.is_confirm_given(&here) {
        return Ok(here);
    }
    let (there, confirm) = (
        Sanitized(&head.address),
        flag_with_quoted_value("--confirm", &here),
    );
    let here = Sanitized(&here);
    Err(Error::usage(format!(
        "`{shown}` is about `{there}`, not `{here}`; nothing was changed"
    ))
    .hint(format!(
        "if this is a restored copy of that data, add `{confirm}`"
    )))
}

fn revert_file(
    file: &mut UndoFileToRevert,
    rate: Option<MaxRate>,
    core: &mut Core,
    progress: &mut Progress,
    sum: &mut BulkTotals,
) -> Result<(), Error> {
    let mut pace = CallPace::new(rate);
    pace.measure_round_trip(core);
    let mut reverter = Reverter {
        pace,
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
            reverter.collect_list_entries_reverting_conflicting(repair, &mut changes)?;
            // One call reverts all changes of a finding, so the call ends before a finding that does not fit.
            let more = repairs.peek().map(|repair| repair.changes.len());
            if more.is_none_or(|more| changes.len() + more > reverter.pace.batch_size(ANY_KIND)) {
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
    pace: CallPace,
    progress: &'a mut Progress,
    sum: &'a mut BulkTotals,
}

impl Reverter<'_> {
    /// Collects the entries that the repair of a finding removed from a failure list. Adds all other changes of the
    /// repair to `other_changes`.
    fn collect_list_entries_reverting_conflicting(
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
        if list.entries.len() >= MIN_ENTRIES
            && let Some(counts) = list.try_rewrite_list(self.core, &mut self.pace)?
        {
            self.add_counts(counts);
            self.progress.add_done(list.entries.len() as u64);
            return Ok(());
        }
        let changes = list.changes_not_yet_reverted(self.core, &mut self.pace)?;
        let returned = list.entries.len() - changes.len();
        self.sum.skipped += returned;
        self.progress.add_done(returned as u64);
        let mut rest = changes.as_slice();
        while !rest.is_empty() {
            let size = self.pace.batch_size(ANY_KIND).min(rest.len());
            self.revert_in_one_call(&rest[..size])?;
            rest = &rest[size..];
        }
        Ok(())
    }

    fn revert_in_one_call(&mut self, changes: &[KeyChange]) -> Result<(), Error> {
        if changes.is_empty() {
            return Ok(());
        }
        self.pace.wait_unless_interrupted(changes.len())?;
        let begun = Instant::now();
        let counts = self.core.revert_changes(self.core.now(), changes)?;
        let elapsed = begun.elapsed();
        self.pace
            .adjust_batch_size(ANY_KIND, changes.len(), elapsed);
        self.add_counts(counts);
        self.progress.add_done(changes.len() as u64);
        Ok(())
    }

    fn add_counts(&mut self, counts: RevertCounts) {
        self.sum.done += usize::try_from(counts.reverted).unwrap_or(usize::MAX);
        self.sum.skipped += usize::try_from(counts.skipped).unwrap_or(usize::MAX);
    }
}

/// Entries that a repair removed from one list, each with its index, in the order of the indexes.
#[derive(Debug)]
struct RemovedListEntries {
    key: Name,
    entries: Vec<(u64, Name)>,
}

impl RemovedListEntries {
    /// The entries that the changes of a repaired finding removed. `None` unless all of these changes removed
    /// misplaced entries from one failure list.
    fn from_changes(id: FindingId, changes: &[KeyChange]) -> Option<RemovedListEntries> {
        let mut list = RemovedListEntries {
            key: changes.first()?.key.clone(),
            entries: Vec::new(),
        };
        list.add_if_same_list(id, changes).then_some(list)
    }

    /// Adds the entries that the changes of the next repaired finding removed. Returns false, and adds nothing,
    /// unless all of these changes removed entries of this list behind the ones collected so far.
    fn add_if_same_list(&mut self, id: FindingId, changes: &[KeyChange]) -> bool {
        // The repair of any other finding may have kept an entry of the job in the list: do not add its changes, since
        // the kept entry would count as restored.
        if id != FindingId::FailedStray {
            return false;
        }
        let mut next = self.entries.last().map_or(0, |(index, _)| index + 1);
        let mut added = Vec::with_capacity(changes.len());
        for change in changes {
            let index = change
                .item
                .as_ref()
                .and_then(|item| item.as_str()?.parse().ok());
            let (Some(index), Some(entry), None) = (index, &change.before, &change.after) else {
                return false;
            };
            if change.key != self.key || index < next {
                return false;
            }
            added.push((index, entry.clone()));
            next = index + 1;
        }
        let fits = self.entries.len() + added.len() <= MAX_ENTRIES;
        if fits {
            self.entries.append(&mut added);
        }
        fits
    }

    /// The changes of this list that no revert has undone yet, in the form for `check.revert`. An entry at any index
    /// of the list counts as restored, because earlier reverts may have shifted it.
    fn changes_not_yet_reverted(
        &self,
        core: &mut Core,
        pace: &mut CallPace,
    ) -> Result<Vec<KeyChange>, Error> {
        let mut present = self.count_entries_already_in_list(core, pace)?;
        let entries = self.entries.iter();
        let rest = entries.filter(|(_, entry)| !take_if_already_in_list(&mut present, entry));
        let changes = rest.map(|(index, entry)| KeyChange {
            key: self.key.clone(),
            item: Some(Name::from(index.to_string())),
            before: Some(entry.clone()),
            after: None,
        });
        Ok(changes.collect())
    }

    /// Reads the list, and counts how often it has each removed entry again. A revert restores entries in the order of
    /// their indexes: if only some entries of a job are back, they are the ones with the lowest indexes.
    fn count_entries_already_in_list(
        &self,
        core: &mut Core,
        pace: &mut CallPace,
    ) -> Result<HashMap<&[u8], usize>, Error> {
        let entries = self.entries.iter();
        let mut present: HashMap<&[u8], usize> =
            entries.map(|(_, entry)| (entry.as_bytes(), 0)).collect();
        let mut read = 0;
        while let Some(page) = self.read_page_if_any(core, read)? {
            pace.wait_unless_interrupted(page.len())?;
            read += page.len() as u64;
            for entry in page {
                if let Some(count) = present.get_mut(entry.as_slice()) {
                    *count += 1;
                }
            }
        }
        Ok(present)
    }

    /// Replaces the list by one that also has the removed entries. Skips an entry that the list already has again, or
    /// whose index is beyond the end of the list. `None` if other clients change the list during each attempt, or the
    /// user has no right to rewrite it.
    fn try_rewrite_list(
        &self,
        core: &mut Core,
        pace: &mut CallPace,
    ) -> Result<Option<RevertCounts>, Error> {
        let keys = Keys::new(core.prefix());
        for _ in 0..MAX_TRIES {
            let repair_name = new_repair_name(core.now());
            let replacement = keys.set_aside_key(&repair_name, self.key.as_bytes());
            let Ok(mut rewrite) = core.begin_list_rewrite(self.key.as_bytes(), replacement) else {
                return Ok(None);
            };
            match self.try_merge_into_replacement(core, &mut rewrite, pace) {
                Ok(Some(counts)) if counts.reverted > 0 => {
                    if core.replace_if_unchanged(&mut rewrite)? {
                        return Ok(Some(counts));
                    }
                }
                Ok(None) => {}
                result => {
                    core.abandon_list_rewrite(&rewrite);
                    return result;
                }
            }
            core.abandon_list_rewrite(&rewrite);
        }
        Ok(None)
    }

    /// Merges the present and the removed entries into the replacement, in the order of their indexes. `None` if a write
    /// failed.
    fn try_merge_into_replacement(
        &self,
        core: &mut Core,
        rewrite: &mut ListRewriteUnderWatch,
        pace: &mut CallPace,
    ) -> Result<Option<RevertCounts>, Error> {
        let mut present = self.count_entries_already_in_list(core, pace)?;
        let mut removed = self.entries.iter().peekable();
        let (mut read, mut reverted) = (0, 0);
        loop {
            let page = self.read_page_if_any(core, read)?;
            let is_end = page.is_none();
            let page = page.unwrap_or_default();
            if !is_end {
                pace.wait_unless_interrupted(page.len())?;
            }
            read += page.len() as u64;
            for entry in page.into_iter().map(Some).chain(is_end.then_some(None)) {
                // Before this entry, or the end of the list, come the removed entries whose index the replacement has
                // reached, except entries that the list already has again.
                while let Some((_, entry)) = removed.next_if(|(index, _)| *index <= rewrite.length)
                {
                    if !take_if_already_in_list(&mut present, entry) {
                        reverted += 1;
                        if !core
                            .append_to_replacement_unless_broken(rewrite, entry.as_bytes().to_vec())
                        {
                            return Ok(None);
                        }
                    }
                }
                if let Some(entry) = entry
                    && !core.append_to_replacement_unless_broken(rewrite, entry)
                {
                    return Ok(None);
                }
            }
            if is_end {
                break;
            }
        }
        Ok(Some(RevertCounts {
            reverted,
            skipped: self.entries.len() as u64 - reverted,
        }))
    }

    /// Up to [`PAGE_SIZE`] entries of the list from an index on. `None` if the index is behind the end.
    fn read_page_if_any(
        &self,
        core: &mut Core,
        first_index: u64,
    ) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let first = i64::try_from(first_index).unwrap_or(i64::MAX - PAGE_SIZE);
        let read = ReadCommand::list_range(self.key.as_bytes(), first, first + PAGE_SIZE - 1);
        let entries = match core.run_read(core.now(), read)? {
            ReadReply::Texts(entries) => entries.into_iter().flatten().collect(),
            _ => Vec::new(),
        };
        Ok(Some(entries).filter(|entries: &Vec<Vec<u8>>| !entries.is_empty()))
    }
}

/// Whether the list has this removed entry again. Lowers the count, so that each occurrence in the list stands for
/// one removed entry.
fn take_if_already_in_list(present: &mut HashMap<&[u8], usize>, entry: &Name) -> bool {
    let count = present.get_mut(entry.as_bytes());
    count.is_some_and(|count| {
        let here = *count > 0;
        *count = count.saturating_sub(1);
        here
    })
}
