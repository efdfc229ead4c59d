//! Adjusts the number of items of one call to the duration of earlier calls. The cost of an item is unknown, so each
//! kind of item begins with one per call. A quick call doubles the number, a slow call reduces it in proportion, and
//! any other call adds one item. Without the last rule, the number could stay at 1: each call has a fixed cost, so a
//! call for one item may be neither quick nor slow.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::verdict::ItemKind;

/// Maximum number of items of a call, however quick it is.
pub(crate) const MAX_BATCH: usize = 100;

/// How long a call may block the server for other clients.
const MAX_DURATION: Duration = Duration::from_millis(5);

/// The size of a batch, by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct BatchSizes {
    sizes: HashMap<ItemKind, usize>,
    /// The duration of the shortest call so far, which is subtracted from the duration of each call. It begins with a
    /// call that did nothing.
    shortest_round_trip: Duration,
}

impl BatchSizes {
    pub(crate) fn new(shortest_round_trip: Duration) -> BatchSizes {
        let sizes = HashMap::new();
        BatchSizes {
            sizes,
            shortest_round_trip,
        }
    }

    /// The number of items of a kind that the next call takes.
    pub(crate) fn size_for(&self, kind: ItemKind) -> usize {
        *self.sizes.get(&kind).unwrap_or(&1)
    }

    pub(crate) fn adjust_size(&mut self, kind: ItemKind, items: usize, elapsed: Duration) {
        self.shortest_round_trip = self.shortest_round_trip.min(elapsed);
        let elapsed = elapsed - self.shortest_round_trip;
        let size = self.sizes.entry(kind).or_insert(1);
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
        let mut batch_sizes = BatchSizes::new(ms(1));
        let mut sizes = Vec::new();
        for _ in 0..8 {
            let size = batch_sizes.size_for(ItemKind::Job);
            sizes.push(size);
            batch_sizes.adjust_size(ItemKind::Job, size, ms(2));
        }
        assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 64, 100]);
        batch_sizes.adjust_size(ItemKind::Job, 100, ms(51));
        assert_eq!(batch_sizes.size_for(ItemKind::Job), 10);
        // Neither quick nor slow.
        batch_sizes.adjust_size(ItemKind::Job, 10, ms(4));
        assert_eq!(batch_sizes.size_for(ItemKind::Job), 11);
        batch_sizes.adjust_size(ItemKind::Job, 11, ms(3001));
        assert_eq!(batch_sizes.size_for(ItemKind::Job), 1);
        batch_sizes.adjust_size(ItemKind::Job, 1, ms(4));
        assert_eq!(batch_sizes.size_for(ItemKind::Job), 2);
        assert_eq!(batch_sizes.size_for(ItemKind::Work), 1);
    }
}
