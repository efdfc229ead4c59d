//! Queues: a row for each.

use super::Page;
use super::document::Document;
use super::list::Row;
use super::paint::Ink;
use super::table::{Cell, Column};
use crate::model::queue::Queue;

impl Row for Queue {
    const LIST: Document = Document::list::<Queue>("queues", "Queues: queues");

    const COLUMNS: &'static [Column<Queue>] = &[
        Column::name("QUEUE", |queue| &queue.name),
        Column::count("WAITING", |queue: &Queue| queue.waiting).rank(2),
        Column::count("RUNNING", |queue: &Queue| queue.running).rank(3),
        Column::count("STALLED", |queue: &Queue| queue.stalled)
            .rank(4)
            .warn(),
        Column::count("SCHEDULED", |queue: &Queue| queue.scheduled).rank(6),
        Column::count("DEPENDS", |queue: &Queue| queue.depends).rank(7),
        Column::count("THROTTLED", |queue: &Queue| queue.throttled)
            .rank(8)
            .if_any(),
        Column::count("RECURRING", |queue: &Queue| queue.recurring).rank(9),
        Column::text("NEXT WAITS", |queue: &Queue, _| {
            Cell::duration(queue.head_wait_s.map(|wait| wait.0))
        })
        .rank(5),
        Column::free("STATE", |queue: &Queue, page| queue.state_cell(page))
            .rank(1)
            .least(16),
    ];
}

impl Queue {
    fn state_cell(&self, page: &Page) -> Cell {
        Cell::text(self.state(page)).ink(self.paused.then_some(Ink::Yellow))
    }

    /// Returns `paused` with since when, until when and why, if known: `paused 2h 4m (disk swap)`.
    /// Returns nothing for a queue that is not paused.
    fn state(&self, page: &Page) -> String {
        if !self.paused {
            return String::new();
        }
        let mut state = "paused".to_owned();
        match self.paused_since {
            Some(since) if page.relative() => state.push_str(&format!(" {}", page.age(since))),
            Some(since) => state.push_str(&format!(" since {}", page.stamp(since))),
            None => {}
        }
        if let Some(until) = self.paused_until {
            state.push_str(&format!(", ends {}", page.when(until)));
        }
        if let Some(reason) = &self.paused_reason {
            state.push_str(&format!(" ({reason})"));
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::clock::moment::Moment;
    use crate::model::list::List;
    use crate::model::queue::Seconds;
    use crate::name::Name;
    use crate::view::View;

    fn page() -> Page {
        Page {
            now: Moment::from_seconds(100_000.0).unwrap(),
            ..Page::terminal(120)
        }
    }

    #[test]
    fn a_queue_is_one_row_with_counts_and_pause() {
        let queues = List::whole(vec![
            Queue {
                name: Name::from("images"),
                running: 3,
                stalled: 1,
                depends: 12,
                paused: true,
                paused_since: Moment::from_seconds(92_560.0),
                paused_until: Moment::from_seconds(103_600.0),
                paused_reason: Some(Name::from("disk\x1b swap")),
                ..Queue::default()
            },
            Queue {
                name: Name::from("mail"),
                waiting: 1204,
                running: 8,
                scheduled: 31,
                recurring: 1,
                head_wait_s: Some(Seconds(252.0)),
                ..Queue::default()
            },
            Queue {
                name: Name::from("test"),
                paused: true,
                ..Queue::default()
            },
        ]);
        expect![[r#"
            QUEUE   WAITING  RUNNING  STALLED  SCHEDULED  DEPENDS  RECURRING  NEXT WAITS  STATE
            images        0        3        1          0       12          0  –           paused 2h 4m, ends in 1h (disk\x1b swap)
            mail      1,204        8        0         31        0          1  4m 12s
            test          0        0        0          0        0          0  –           paused
        "#]].assert_eq(&queues.text(&page()));
    }
}
