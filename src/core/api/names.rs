//! Calls about many names: the names go in slices, so that no call carries more words than the core
//! takes, or holds up the server for long.

use serde::de::DeserializeOwned;

use super::index::Index;
use crate::clock::moment::Moment;
use crate::core::call::reply::{self, RowsIfFew};
use crate::core::call::{Call, Core};
use crate::error::Error;
use crate::name::Name;

/// Maximum number of names of one call: some 10 ms of the server. `guard.pause` takes no more.
pub(crate) const NAMES_PER_CALL: usize = 500;

impl Core {
    /// Makes a call for each slice of the names, which become its last arguments. Returns the replies.
    pub(super) fn call_in_slices<T: DeserializeOwned>(
        &mut self,
        now: Moment,
        call: &Call,
        names: &[Name],
    ) -> Result<Vec<T>, Error> {
        let slices = names.chunks(NAMES_PER_CALL);
        slices
            .map(|names| self.call(now, call.clone().args(names)))
            .collect()
    }

    /// The rows of a call about names, one for each.
    pub(super) fn rows_by_name<T: DeserializeOwned>(
        &mut self,
        now: Moment,
        call: &Call,
        names: &[Name],
    ) -> Result<Vec<T>, Error> {
        let replies: Vec<Vec<T>> = self.call_in_slices(now, call, names)?;
        let rows = replies.into_iter().flatten().collect();
        reply::require_row_per_item(call.name(), rows, names.len())
    }

    /// The rows of a call about names, or without names about all members of an index.
    pub(super) fn rows_by_name_or_all<T: DeserializeOwned>(
        &mut self,
        now: Moment,
        call: &Call,
        index: &Index,
        names: &[Name],
    ) -> Result<Vec<T>, Error> {
        if names.is_empty() {
            let rows_if_few = self.call(now, call.clone())?;
            return self.all_index_rows(now, call, index, rows_if_few);
        }
        self.rows_by_name(now, call, names)
    }

    /// The rows of a reply about all members of an index. If there were too many for one reply, reads them by name.
    pub(super) fn all_index_rows<T: DeserializeOwned>(
        &mut self,
        now: Moment,
        call: &Call,
        index: &Index,
        rows_if_few: RowsIfFew<T>,
    ) -> Result<Vec<T>, Error> {
        if let RowsIfFew(Some(rows)) = rows_if_few {
            return Ok(rows);
        }
        let names = self.index_members(now, index)?;
        if names.is_empty() {
            return Ok(Vec::new());
        }
        self.rows_by_name_or_all(now, call, index, &names)
    }
}
