//! Calls about many names: the names go in slices, so that no call carries more words than the core
//! takes, or holds up the server for long.

use super::index::Index;
use crate::clock::moment::Moment;
use crate::core::call::reply;
use crate::core::call::{Call, Core, Value};
use crate::error::Error;
use crate::name::Name;

/// The most names of one call: some 10 ms of the server. `guard.pause` takes no more.
pub(crate) const NAMES_PER_CALL: usize = 500;

impl Core {
    /// Makes a call for each slice of the names, which become its last arguments. Returns the replies.
    pub(super) fn call_in_slices(
        &mut self,
        now: Moment,
        call: &Call,
        names: &[Name],
    ) -> Result<Vec<Value>, Error> {
        let slices = names.chunks(NAMES_PER_CALL);
        slices
            .map(|names| self.call(now, call.clone().args(names)))
            .collect()
    }

    /// Returns the rows of a call about names, or without names about all members of an index. If
    /// there are too many of them for one call, the core replies only with their number.
    pub(super) fn rows(
        &mut self,
        now: Moment,
        call: &Call,
        index: &Index,
        names: &[Name],
    ) -> Result<Vec<Value>, Error> {
        if !names.is_empty() {
            let replies = self.call_in_slices(now, call, names)?.into_iter();
            let rows: Vec<Vec<Value>> = replies.map(reply::list).collect::<Result<_, _>>()?;
            return Ok(rows.into_iter().flatten().collect());
        }
        let rows = reply::list(self.call(now, call.clone())?)?;
        self.all_rows(now, call, index, rows)
    }

    /// Returns the rows of a reply about all members of an index. If there is only their number, reads
    /// them.
    pub(super) fn all_rows(
        &mut self,
        now: Moment,
        call: &Call,
        index: &Index,
        rows: Vec<Value>,
    ) -> Result<Vec<Value>, Error> {
        match rows.as_slice() {
            [Value::BulkString(_)] => {
                let names = self.members(now, index)?;
                if names.is_empty() {
                    Ok(Vec::new())
                } else {
                    self.rows(now, call, index, &names)
                }
            }
            _ => Ok(rows),
        }
    }
}
