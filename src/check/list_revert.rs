//! Restores entries that a repair removed from a failure list. A revert collects the entries and writes the list
//! once, because a search for each entry and its index would read the whole list each time.
//!
//! `check.revert` reverts all other changes, and fewer entries than [`MIN_ENTRIES`]. A script call must not block
//! the server for a list of any length, so a long list would take several calls. Between these calls other clients
//! may change the list, and a script would compare only its length and its ends. So this code reads and writes the
//! list by plain commands under WATCH, with which the server notices each change in between.

use std::collections::HashMap;

use super::new_repair_name;
use crate::core::api::check::{ListRewrite, MAX_ADDED, RevertCounts};
use crate::core::api::read::{ReadCommand, ReadReply};
use crate::core::call::Core;
use crate::core::script::keys::Keys;
use crate::error::Error;
use crate::model::finding::FindingId;
use crate::model::verdict::KeyChange;
use crate::name::Name;

/// If the repair removed fewer entries than this, the revert restores them one at a time.
pub(super) const MIN_ENTRIES: usize = 50;

/// Maximum number of entries collected (20 MB).
const MAX_ENTRIES: usize = 200_000;

/// Maximum number of attempts to write a list that other clients change at the same time.
const MAX_TRIES: usize = 3;

/// The number of entries read by one command.
const PAGE_SIZE: i64 = 1000;

/// Entries that a repair removed from one list, each with its index, in the order of the indexes.
#[derive(Debug)]
pub(super) struct RemovedListEntries {
    pub key: Name,
    pub entries: Vec<(u64, Name)>,
}

impl RemovedListEntries {
    /// The entries that the changes of a repaired finding removed. `None` unless all of these changes removed
    /// misplaced entries from one failure list.
    pub(super) fn from_changes(id: FindingId, changes: &[KeyChange]) -> Option<RemovedListEntries> {
        let mut list = RemovedListEntries {
            key: changes.first()?.key.clone(),
            entries: Vec::new(),
        };
        list.add_if_same_list(id, changes).then_some(list)
    }

    /// Adds the entries that the changes of the next repaired finding removed. Returns false, and adds nothing,
    /// unless all of these changes removed entries of this list behind the ones collected so far.
    pub(super) fn add_if_same_list(&mut self, id: FindingId, changes: &[KeyChange]) -> bool {
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
    pub(super) fn changes_not_yet_reverted(
        &self,
        core: &mut Core,
        mut pace: impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<Vec<KeyChange>, Error> {
        let mut returned = self.count_entries_already_in_list(core, &mut pace)?;
        let entries = self.entries.iter();
        let rest = entries.filter(|(_, entry)| !take_if_returned(&mut returned, entry));
        let changes = rest.map(|(index, entry)| KeyChange {
            key: self.key.clone(),
            item: Some(Name::from(index.to_string())),
            before: Some(entry.clone()),
            after: None,
        });
        Ok(changes.collect())
    }

    /// Reads the list, and counts how often it has each removed entry again.
    fn count_entries_already_in_list(
        &self,
        core: &mut Core,
        pace: &mut impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<Returned<'_>, Error> {
        let entries = self.entries.iter();
        let mut returned: Returned = entries.map(|(_, entry)| (entry.as_bytes(), 0)).collect();
        let mut read = 0;
        while let Some(page) = self.read_page_if_any(core, read)? {
            pace(page.len())?;
            read += page.len() as u64;
            for entry in page {
                if let Some(count) = returned.get_mut(entry.as_slice()) {
                    *count += 1;
                }
            }
        }
        Ok(returned)
    }

    /// Replaces the list by one that also has the removed entries. Skips an entry that the list already has again, or
    /// whose index is beyond the end of the list. `None` if other clients change the list during each attempt, or the
    /// user has no right to rewrite it.
    pub(super) fn try_rewrite_list(
        &self,
        core: &mut Core,
        mut pace: impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<Option<RevertCounts>, Error> {
        let keys = Keys::new(core.prefix());
        for _ in 0..MAX_TRIES {
            let repair_name = new_repair_name(core.now());
            let replacement = keys.set_aside_key(&repair_name, self.key.as_bytes());
            let Ok(rewrite) = core.begin_list_rewrite(self.key.as_bytes(), replacement) else {
                return Ok(None);
            };
            let written = self.try_fill_replacement(core, &rewrite, &mut pace);
            match written {
                Ok(Some(counts)) if counts.reverted == 0 => {
                    core.abandon_list_rewrite(&rewrite);
                    return Ok(Some(counts));
                }
                Ok(Some(counts)) if core.replace_if_unchanged(&rewrite)? => {
                    return Ok(Some(counts));
                }
                Ok(_) => core.abandon_list_rewrite(&rewrite),
                Err(error) => {
                    core.abandon_list_rewrite(&rewrite);
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// Writes the present and the removed entries to the replacement list. `None` if a write failed.
    fn try_fill_replacement(
        &self,
        core: &mut Core,
        rewrite: &ListRewrite,
        pace: &mut impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<Option<RevertCounts>, Error> {
        let mut merge = ListMerge {
            rewrite,
            present: self.count_entries_already_in_list(core, pace)?,
            rest: &self.entries,
            length: 0,
            returned: 0,
            unwritten: Vec::with_capacity(MAX_ADDED),
        };
        let mut read = 0;
        while let Some(page) = self.read_page_if_any(core, read)? {
            pace(page.len())?;
            read += page.len() as u64;
            for entry in page {
                if !merge.try_buffer_removed_entries_due_next(core)
                    || !merge.try_buffer_entry(core, entry)
                {
                    return Ok(None);
                }
            }
        }
        let complete =
            merge.try_buffer_removed_entries_due_next(core) && merge.try_flush_entries(core);
        Ok(complete.then_some(RevertCounts {
            reverted: merge.returned,
            skipped: self.entries.len() as u64 - merge.returned,
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

/// How often the list has each removed entry again. A revert restores entries in the order of their indexes: if only
/// some entries of a job are back, they are the ones with the lowest indexes.
type Returned<'a> = HashMap<&'a [u8], usize>;

/// Whether the list has this removed entry again. Lowers the count, so that each occurrence in the list stands for
/// one removed entry.
fn take_if_returned(returned: &mut Returned, entry: &Name) -> bool {
    let count = returned.get_mut(entry.as_bytes());
    count.is_some_and(|count| {
        let here = *count > 0;
        *count = count.saturating_sub(1);
        here
    })
}

/// Merges the present entries of the list with the removed ones, in the order of their indexes.
struct ListMerge<'a> {
    rewrite: &'a ListRewrite,
    /// How often the list already has each removed entry again.
    present: Returned<'a>,
    /// The entries that are still to return.
    rest: &'a [(u64, Name)],
    /// The number of entries of the replacement list so far, with the unwritten ones: the index of its next entry.
    length: u64,
    returned: u64,
    /// Entries of the replacement list that the next write sends to the server.
    unwritten: Vec<Vec<u8>>,
}

impl ListMerge<'_> {
    /// Adds the removed entries whose index the replacement list has reached, except entries that the list already
    /// has again. Returns false if a write failed.
    fn try_buffer_removed_entries_due_next(&mut self, core: &mut Core) -> bool {
        while let Some(((index, entry), rest)) = self.rest.split_first() {
            if *index > self.length {
                break;
            }
            self.rest = rest;
            if take_if_returned(&mut self.present, entry) {
                continue;
            }
            self.returned += 1;
            if !self.try_buffer_entry(core, entry.as_bytes().to_vec()) {
                return false;
            }
        }
        true
    }

    fn try_buffer_entry(&mut self, core: &mut Core, entry: Vec<u8>) -> bool {
        self.unwritten.push(entry);
        self.length += 1;
        self.unwritten.len() < MAX_ADDED || self.try_flush_entries(core)
    }

    fn try_flush_entries(&mut self, core: &mut Core) -> bool {
        let entries = std::mem::take(&mut self.unwritten);
        entries.is_empty() || core.try_extend_replacement(self.rewrite, &entries)
    }
}
