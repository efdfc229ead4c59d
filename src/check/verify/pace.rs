//! The pace of calls: the time before each by `--rate`, and its number of items.
//!
//! The number of items is adjusted to the duration of earlier calls. The cost of an item is unknown, so each kind of item
//! begins with one per call. A quick call doubles the number, a slow call reduces it in proportion, and any other call
//! adds one item. Without the last rule, the number could stay at 1: each call has a fixed cost, so a call for one item
//! may be neither quick nor slow.

use std::collections::HashMap;
use std::time::Duration;

use crate::bulk::pace::Pace;
use crate::core::call::Core;
use crate::error::Error;
use crate::interrupt::InterruptFlags;
use crate::model::rate::MaxRate;
use crate::model::verdict::ItemKind;

/// Maximum number of items of a call, however quick it is.
pub(crate) const MAX_BATCH: usize = 100;

/// How long a call may block the server for other clients.
const MAX_DURATION: Duration = Duration::from_millis(5);

pub(crate) struct CallPace {
    rate: Pace,
    interrupt: InterruptFlags,
    batch_sizes: HashMap<ItemKind, usize>,
    /// The duration of the shortest call so far, which is subtracted from the duration of each call.
    shortest_round_trip: Duration,
}

impl CallPace {
    /// Also installs the signal handlers: from now on, a signal is an error at the next wait.
    pub(crate) fn new(rate: Option<MaxRate>) -> CallPace {
        CallPace {
            rate: Pace::new(rate),
            interrupt: InterruptFlags::install_handlers_once(),
            batch_sizes: HashMap::new(),
            shortest_round_trip: Duration::ZERO,
        }
    }

    /// Measures how long a call takes that does nothing.
    pub(crate) fn measure_round_trip(&mut self, core: &mut Core) {
        self.shortest_round_trip = core.measure_round_trip(core.now());
    }

    /// Waits until `--rate` allows `count` more keys or items. A received signal is an error.
    pub(crate) fn wait_unless_interrupted(&mut self, count: usize) -> Result<(), Error> {
        self.rate.wait_unless_interrupted(count, &self.interrupt)
    }

    /// The number of keys or items of a call if only `--rate` limits it.
    pub(crate) fn max_slice_size_by_rate(&self) -> usize {
        self.rate.slice_size(usize::MAX)
    }

    /// The number of items of a kind that the next call takes.
    pub(crate) fn batch_size(&self, kind: ItemKind) -> usize {
        let size = *self.batch_sizes.get(&kind).unwrap_or(&1);
        size.min(self.max_slice_size_by_rate())
    }

    pub(crate) fn adjust_batch_size(&mut self, kind: ItemKind, items: usize, elapsed: Duration) {
        self.shortest_round_trip = self.shortest_round_trip.min(elapsed);
        let elapsed = elapsed - self.shortest_round_trip;
        let size = self.batch_sizes.entry(kind).or_insert(1);
        if elapsed > MAX_DURATION {
            let part = MAX_DURATION.as_secs_f64() / elapsed.as_secs_f64();
            *size = ((items as f64 * part) as usize).max(1);
        } else if items >= *size {
            let more = if elapsed < MAX_DURATION / 2 { items } else { 1 };
            *size = (items + more).min(MAX_BATCH);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_while_calls_are_quick_and_shrink_in_proportion() {
        let ms = Duration::from_millis;
        let mut pace = CallPace::new(None);
        pace.shortest_round_trip = ms(1);
        let mut sizes = Vec::new();
        for _ in 0..8 {
            let size = pace.batch_size(ItemKind::Job);
            sizes.push(size);
            pace.adjust_batch_size(ItemKind::Job, size, ms(2));
        }
        assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 64, 100]);
        pace.adjust_batch_size(ItemKind::Job, 100, ms(51));
        assert_eq!(pace.batch_size(ItemKind::Job), 10);
        // Neither quick nor slow.
        pace.adjust_batch_size(ItemKind::Job, 10, ms(4));
        assert_eq!(pace.batch_size(ItemKind::Job), 11);
        pace.adjust_batch_size(ItemKind::Job, 11, ms(3001));
        assert_eq!(pace.batch_size(ItemKind::Job), 1);
        pace.adjust_batch_size(ItemKind::Job, 1, ms(4));
        assert_eq!(pace.batch_size(ItemKind::Job), 2);
        assert_eq!(pace.batch_size(ItemKind::Work), 1);
    }
}
