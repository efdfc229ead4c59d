//! The typed methods of the core, by noun. Each builds its call and reads the reply.
//!
//! Calls about many names are made in slices of names. So no call has more arguments than the core accepts, or keeps the
//! server busy for long. Many calls about one name each are made in several round trips.

pub(crate) mod change;
pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod epoch;
pub(crate) mod event;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod failure;
pub(crate) mod finish_and_pop;
pub(crate) mod guard;
pub(crate) mod index;
pub(crate) mod job;
pub(crate) mod job_calls;
pub(crate) mod not_found;
pub(crate) mod overview;
pub(crate) mod page;
pub(crate) mod queue;
pub(crate) mod read;
pub(crate) mod reconcile;
pub(crate) mod recur;
pub(crate) mod stats;
pub(crate) mod template;
pub(crate) mod throttle;
pub(crate) mod worker;
pub(crate) mod worker_calls;

use serde::de::DeserializeOwned;

use self::index::Index;
use crate::clock::moment::Moment;
use crate::core::call::reply::{self, RowsIfFew};
use crate::core::call::{Call, Core};
use crate::error::Error;
use crate::name::Name;

/// Maximum number of names in one call, which takes the server some 10 ms. `guard.pause` accepts no more.
pub(crate) const NAMES_PER_CALL: usize = 500;

impl Core {
    /// Makes one call for each slice of the names, with these names as its last arguments. Returns one reply per slice.
    fn call_once_per_slice<T: DeserializeOwned>(
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

    /// Makes calls, `per_round` of them in each round trip, until one fails. Returns their replies in order.
    fn call_in_rounds<T: DeserializeOwned>(
        &mut self,
        now: Moment,
        calls: impl Iterator<Item = Call>,
        per_round: usize,
    ) -> Result<Vec<T>, Error> {
        let calls: Vec<Call> = calls.collect();
        let mut replies = Vec::with_capacity(calls.len());
        for round in calls.chunks(per_round) {
            for reply in self.call_all(now, round) {
                replies.push(reply?);
            }
        }
        Ok(replies)
    }

    /// The rows of a call that replies with one row per name.
    fn rows_by_name<T: DeserializeOwned>(
        &mut self,
        now: Moment,
        call: &Call,
        names: &[Name],
    ) -> Result<Vec<T>, Error> {
        let replies: Vec<Vec<T>> = self.call_once_per_slice(now, call, names)?;
        let rows = replies.into_iter().flatten().collect();
        reply::require_row_per_item(call.name(), rows, names.len())
    }

    /// The rows of a call that replies with one row per name. If no name is given, the rows of all members of `index`.
    fn rows_by_name_or_all<T: DeserializeOwned>(
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

    /// The rows of all members of an index. If they were too many for one reply, reads the members, and then their rows
    /// by name.
    fn all_index_rows<T: DeserializeOwned>(
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
