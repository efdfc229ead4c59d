//! Entries that return to a failure list. A revert collects them and writes the list once: a search
//! for each entry and its index would read the whole list each time.
//!
//! All other changes, and fewer entries than [`MIN_ENTRIES`], are reverted by `check.revert`. Long lists
//! are not: one call must not hold up the server for a list of any length, so that several calls would
//! read it and write its replacement, and a script can compare only lengths and ends with those that
//! an earlier call read. With WATCH, the server itself notices each change in between.

use std::collections::HashMap;

use super::new_repair_name;
use crate::core::api::check::RevertCounts;
use crate::core::api::list_rewrite::{ListRewrite, MAX_ADDED};
use crate::core::api::read::{ReadCommand, ReadReply};
use crate::core::call::Core;
use crate::core::script::keys::Keys;
use crate::error::Error;
use crate::model::finding::FindingId;
use crate::model::verdict::KeyChange;
use crate::name::Name;

/// If fewer entries than this were removed, they are put back one at a time.
const MIN_ENTRIES: usize = 50;

/// Maximum number of entries collected (20 MB).
const MAX_ENTRIES: usize = 200_000;

/// Maximum number of attempts to write a list that other clients change at the same time.
const MAX_TRIES: usize = 3;

/// The number of entries read by one command.
const PAGE_SIZE: i64 = 1000;

/// Entries that were removed from one list, in the order of their indexes: the order in which they
/// return.
#[derive(Debug)]
pub(super) struct ListRevert {
    key: Name,
    entries: Vec<(u64, Name)>,
}

impl ListRevert {
    /// Begins with the changes of a repaired finding, if all of them removed misplaced entries from one
    /// failure list.
    pub(super) fn from_changes(id: FindingId, changes: &[KeyChange]) -> Option<ListRevert> {
        let mut list = ListRevert {
            key: changes.first()?.key.clone(),
            entries: Vec::new(),
        };
        list.add_if_same_list(id, changes).then_some(list)
    }

    /// Adds the changes of the next repaired finding, if all of them removed further entries of this
    /// list.
    pub(super) fn add_if_same_list(&mut self, id: FindingId, changes: &[KeyChange]) -> bool {
        // A repair of another finding may have left an entry of the same job: do not add its changes.
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

    pub(super) fn list_key(&self) -> Name {
        self.key.clone()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the list is written as a whole.
    pub(super) fn is_long_enough_to_rewrite(&self) -> bool {
        self.entries.len() >= MIN_ENTRIES
    }

    /// The changes of this list that are still to be reverted, to be made one at a time. An entry that is anywhere
    /// in the list counts as restored: earlier reverts may have shifted its index.
    pub(super) fn changes_not_yet_reverted(
        &self,
        core: &mut Core,
        mut pace: impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<Vec<KeyChange>, Error> {
        let mut returned = self.count_returned_entries(core, &mut pace)?;
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

    /// The removed entries, each with how often the list has it again.
    fn count_returned_entries(
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

    /// Replaces the list by one with the removed entries. An entry is skipped if the list has it already, or no longer
    /// reaches its index. `None` if other clients change the list all the time, or the user has no right to rewrite it.
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

    /// Fills the replacement; `None` if that failed.
    fn try_fill_replacement(
        &self,
        core: &mut Core,
        rewrite: &ListRewrite,
        pace: &mut impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<Option<RevertCounts>, Error> {
        let mut merge = ListMerge {
            rewrite,
            present: self.count_returned_entries(core, pace)?,
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
                if !merge.try_return_entries(core) || !merge.try_buffer_entry(core, entry) {
                    return Ok(None);
                }
            }
        }
        let complete = merge.try_return_entries(core) && merge.try_flush_entries(core);
        Ok(complete.then_some(RevertCounts {
            reverted: merge.returned,
            skipped: self.entries.len() as u64 - merge.returned,
        }))
    }

    /// The entries of the list from an index on, `None` behind its end.
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

/// How often the list has each removed entry again. Entries return in the order of their indexes, so if the list has
/// only some of a job, these are its first ones.
type Returned<'a> = HashMap<&'a [u8], usize>;

/// Whether the list has this removed entry again. Each occurrence in the list counts for one removed entry.
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
    /// The removed entries that the list has again.
    present: Returned<'a>,
    /// The entries that are still to return.
    rest: &'a [(u64, Name)],
    /// The number of entries of the replacement.
    length: u64,
    returned: u64,
    /// Entries of the replacement that are not written yet.
    unwritten: Vec<Vec<u8>>,
}

impl ListMerge<'_> {
    /// Adds the entries whose index is reached, except those that the list has again.
    fn try_return_entries(&mut self, core: &mut Core) -> bool {
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
