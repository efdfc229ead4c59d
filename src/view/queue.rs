//! Queues: a row each, and what happened in one on a day.

use super::list::Row;
use super::paint::Ink;
use super::table::{Cell, Column, NONE, Table};
use super::{Page, View, text};
use crate::model::json::Number;
use crate::model::list::List;
use crate::model::queue::{Queue, Spread, Stats};

impl Row for Queue {
    const KIND: &'static str = "queues";

    const COLUMNS: &'static [Column] = &[
        Column::text("QUEUE"),
        Column::number("WAITING"),
        Column::number("RUNNING"),
        Column::number("STALLED"),
        Column::number("SCHEDULED"),
        Column::number("DEPENDS"),
        Column::number("RECURRING"),
        Column::text("HEAD WAIT"),
        Column::free("STATE"),
    ];

    fn row(&self, page: &Page, table: &mut Table) {
        let stalled = (self.stalled > 0).then_some(Ink::Yellow);
        table.row(vec![
            Cell::text(&self.name),
            Cell::count(self.waiting, page),
            Cell::count(self.running, page),
            Cell::count(self.stalled, page).ink(stalled),
            Cell::count(self.scheduled, page),
            Cell::count(self.depends, page),
            Cell::count(self.recurring, page),
            match self.head_wait_s {
                Some(wait) => Cell::by(wait.0, text::duration(wait.0)),
                None => Cell::missing(),
            },
            Cell::text(self.state(page)).ink(self.paused.then_some(Ink::Yellow)),
        ]);
    }
}

impl Queue {
    /// Returns whether it is paused, and what is known about that: `paused 2h 4m (disk swap)`.
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
            state.push_str(&format!(" ({})", text::clean(reason.as_bytes())));
        }
        state
    }
}

const STATS: &[Column] = &[
    Column::text("QUEUE"),
    Column::text("DAY"),
    Column::number("COMPLETED"),
    Column::number("FAILURES"),
    Column::number("FAILED"),
    Column::number("RETRIES"),
    Column::number("WAITS"),
    Column::text("WAIT MEAN"),
    Column::text("WAIT STD"),
    Column::number("RUNS"),
    Column::text("RUN MEAN"),
    Column::text("RUN STD"),
];

const SPREADS: &[Column] = &[
    Column::text(""),
    Column::number("COUNT"),
    Column::number("MEAN"),
    Column::number("STD"),
];

impl View for List<Stats> {
    const KIND: &'static str = "stats";

    /// On a terminal a paragraph for each queue; in a pipe a line.
    fn text(&self, page: &Page) -> String {
        if page.terminal {
            let told: Vec<String> = self.items.iter().map(|stats| stats.told(page)).collect();
            return told.join("\n");
        }
        let mut table = Table::new(STATS);
        for stats in &self.items {
            let mut cells = vec![Cell::text(&stats.queue), Cell::text(&stats.day)];
            for count in [stats.completed, stats.failures, stats.failed, stats.retries] {
                cells.push(Cell::count(count, page));
            }
            for spread in [&stats.wait, &stats.run] {
                cells.extend(spread.cells(page));
            }
            table.row(cells);
        }
        table.draw(page)
    }

    fn lines(&self, lines: &mut super::Lines) -> Result<(), serde_json::Error> {
        self.items.iter().try_for_each(|item| lines.item(item))
    }
}

impl Stats {
    fn told(&self, page: &Page) -> String {
        let today = page
            .now
            .rfc3339()
            .is_some_and(|now| now.starts_with(&self.day));
        let mut told = format!(
            "{} on {} (UTC{})    {} completed   {}   {} failed now   {}\n\n",
            text::clean(self.queue.as_bytes()),
            self.day,
            if today { ", so far" } else { "" },
            page.count(self.completed),
            text::plural(self.failures, "failure", "failures"),
            page.count(self.failed),
            text::plural(self.retries, "retry", "retries"),
        );
        let mut table = Table::new(SPREADS);
        for (name, spread) in [("wait", &self.wait), ("run", &self.run)] {
            let mut cells = vec![Cell::text(name)];
            cells.extend(spread.cells(page));
            table.row(cells);
        }
        let page = Page {
            headers: true,
            choice: Default::default(),
            ..page.clone()
        };
        told.push_str(&table.draw(&page));
        told
    }
}

impl Spread {
    fn cells(&self, page: &Page) -> [Cell; 3] {
        let measure = |seconds: Option<Number>| match seconds {
            Some(seconds) if self.count > 0 => Cell::by(seconds.0, text::measure(seconds.0)),
            _ => Cell::by(0.0, NONE),
        };
        [
            Cell::count(self.count, page),
            measure(self.mean_s),
            measure(self.std_s),
        ]
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::model::moment::Moment;
    use crate::model::name::Name;
    use crate::model::queue::Seconds;

    fn page() -> Page {
        Page {
            now: Moment::from_seconds(100_000.0).unwrap(),
            ..Page::terminal(120)
        }
    }

    #[test]
    fn queues_are_told_as_in_the_manual() {
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
            QUEUE   WAITING  RUNNING  STALLED  SCHEDULED  DEPENDS  RECURRING  HEAD WAIT  STATE
            images        0        3        1          0       12          0  –          paused 2h 4m, ends in 1h (disk\x1b swap)
            mail      1,204        8        0         31        0          1  4m 12s
            test          0        0        0          0        0          0  –          paused
        "#]].assert_eq(&queues.text(&page()));
    }

    #[test]
    fn a_day_is_told_as_in_the_manual() {
        let stats = Stats {
            queue: Name::from("mail"),
            day: "1970-01-02".to_owned(),
            completed: 18204,
            failures: 37,
            failed: 12,
            retries: 1,
            wait: Spread {
                count: 18412,
                mean_s: Some(Number(4.1)),
                std_s: Some(Number(11.8)),
            },
            run: Spread {
                count: 0,
                mean_s: Some(Number(0.0)),
                std_s: Some(Number(0.0)),
            },
        };
        expect![[r#"
            mail on 1970-01-02 (UTC, so far)    18,204 completed   37 failures   12 failed now   1 retry

                   COUNT  MEAN    STD
            wait  18,412  4.1s  11.8s
            run        0     –      –
        "#]].assert_eq(&List::whole(vec![stats]).text(&page()));
    }
}
