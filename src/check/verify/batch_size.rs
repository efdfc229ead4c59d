//! How many items one call takes. Nobody knows beforehand what an item costs, so each kind begins
//! with one: twice as many while that is quick, fewer in proportion as soon as it is slow.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::verdict::ItemKind;

/// The most items of a call, however quick.
pub(crate) const SLICE: usize = 100;

/// As long as a call may keep the server from others.
const LONG: Duration = Duration::from_millis(5);

/// The size of a slice, by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slices {
    sizes: HashMap<ItemKind, usize>,
    /// How long an empty call takes to come back.
    trip: Duration,
}

impl Slices {
    pub(crate) fn new(trip: Duration) -> Slices {
        let sizes = HashMap::new();
        Slices { sizes, trip }
    }

    /// Returns how many items of a kind the next call takes.
    pub(crate) fn size(&self, kind: ItemKind) -> usize {
        *self.sizes.get(&kind).unwrap_or(&1)
    }

    /// Learns from a call.
    pub(crate) fn measure(&mut self, kind: ItemKind, items: usize, took: Duration) {
        self.trip = self.trip.min(took);
        let took = took - self.trip;
        let size = self.sizes.entry(kind).or_insert(1);
        if took > LONG {
            let part = LONG.as_secs_f64() / took.as_secs_f64();
            *size = ((items as f64 * part) as usize).max(1);
        } else if took < LONG / 2 && items >= *size {
            *size = (items * 2).min(SLICE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_grow_while_they_are_quick_and_shrink_in_proportion() {
        let ms = Duration::from_millis;
        let mut slices = Slices::new(ms(1));
        let mut sizes = Vec::new();
        for _ in 0..8 {
            let size = slices.size(ItemKind::Job);
            sizes.push(size);
            slices.measure(ItemKind::Job, size, ms(2));
        }
        assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 64, 100]);
        slices.measure(ItemKind::Job, 100, ms(51));
        assert_eq!(slices.size(ItemKind::Job), 10);
        // Neither quick nor slow.
        slices.measure(ItemKind::Job, 10, ms(4));
        assert_eq!(slices.size(ItemKind::Job), 10);
        slices.measure(ItemKind::Job, 10, ms(3001));
        assert_eq!(slices.size(ItemKind::Job), 1);
        assert_eq!(slices.size(ItemKind::Work), 1);
    }
}
