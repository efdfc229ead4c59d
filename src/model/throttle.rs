//! Throttles: named limits on the number of jobs that run at the same time.

use schemars::JsonSchema;
use serde::Serialize;

use super::job::Neighbor;
use crate::clock::moment::Moment;
use crate::name::Name;
use crate::view::detail::DetailLines;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::table::{Cell, Column, NONE};
use crate::view::{RenderOptions, View};

/// A throttle and how many jobs use it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Throttle {
    /// The throttle
    pub id: Name,
    /// How many jobs may hold a slot; 0 means no limit, a negative number lets no job run
    pub maximum: i64,
    /// Whether the maximum was set; else it is the default
    pub defined: bool,
    /// Seconds until the maximum is forgotten
    pub ttl_s: Option<u64>,
    /// Jobs that hold a slot
    pub locks: u64,
    /// Jobs that wait for a slot
    pub pending: u64,
    /// Whether the throttle is a lane: the jobs with one key, which run one at a time
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lane: bool,
}

/// The maximum of a throttle as text. 0 and negative numbers are explained: `0 (no limit)`, `-1 (no job runs)`.
pub(crate) fn describe_maximum(maximum: i64) -> String {
    match maximum {
        0 => "0 (no limit)".to_owned(),
        ..0 => format!("{maximum} (no job runs)"),
        _ => maximum.to_string(),
    }
}

impl Throttle {
    /// A throttle without jobs. `redis_ttl`: the seconds until the maximum expires, -1 if it never expires, -2 if the
    /// maximum is the default because none is set.
    pub(crate) fn with_maximum(id: Name, maximum: f64, redis_ttl: f64) -> Throttle {
        Throttle {
            id,
            maximum: maximum as i64,
            defined: redis_ttl > -1.5,
            ttl_s: (redis_ttl >= 0.0).then_some(redis_ttl as u64),
            ..Throttle::default()
        }
    }

    /// A lane as a throttle with one slot. The first job of the lane holds the slot, the others wait.
    pub(crate) fn from_lane(lane: Name, jobs: u64) -> Throttle {
        Throttle {
            id: lane,
            maximum: 1,
            locks: jobs.min(1),
            pending: jobs.saturating_sub(1),
            lane: true,
            ..Throttle::default()
        }
    }

    /// Whether the throttle has a maximum that was set, or jobs that hold or wait for a slot.
    pub(crate) fn exists(&self) -> bool {
        self.defined || self.locks + self.pending > 0
    }
}

/// The change of a throttle's maximum by `import`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MaximumChange {
    pub id: Name,
    /// The present maximum, if one is set.
    pub before: Option<i64>,
    pub maximum: i64,
    /// When the new maximum expires. `None` if it never expires.
    pub expires: Option<Moment>,
}

/// A throttle with its jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ThrottleJobs {
    #[serde(flatten)]
    pub throttle: Throttle,
    /// When the maximum was set, if that is known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Moment>,
    /// The user and host that set it, if known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<Name>,
    /// Jobs that hold a slot, the oldest holder first
    pub holders: Vec<Neighbor>,
    /// Jobs that wait for a slot, the next one first
    pub waiting: Vec<Neighbor>,
}

impl Row for Throttle {
    const LIST: DocumentKind =
        DocumentKind::of_list::<Throttle>("throttles", "Throttles: throttle list");

    const COLUMNS: &'static [Column<Throttle>] = &[
        Column::of_names("THROTTLE", |throttle_line| &throttle_line.id),
        Column::of_text("MAXIMUM", |throttle: &Throttle, _| {
            Cell::sorted_by(throttle.maximum as f64, throttle.limit_text())
        })
        .drop_rank(1),
        Column::of_counts("LOCKS", |throttle: &Throttle| throttle.locks).drop_rank(2),
        Column::of_counts("PENDING", |throttle: &Throttle| throttle.pending).drop_rank(3),
        Column::of_text("EXPIRES", |throttle: &Throttle, options| {
            match throttle.ttl_s {
                Some(seconds) => {
                    Cell::sorted_by(seconds as f64, options.format_end_of_ttl(seconds))
                }
                None => Cell::missing(),
            }
        })
        .only_if_filled()
        .drop_rank(4),
    ];
}

impl Throttle {
    /// The cell for the maximum. 0 and negative numbers are given in words: `no limit`, `none may run`.
    fn limit_text(&self) -> String {
        match self.maximum {
            _ if self.lane => "1 (lane)".to_owned(),
            0 => "no limit".to_owned(),
            ..0 => "none may run".to_owned(),
            maximum => maximum.to_string(),
        }
    }
}

impl View for ThrottleJobs {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<ThrottleJobs>("throttle", "A throttle with its jobs: throttle show");

    fn text(&self, options: &RenderOptions) -> String {
        let throttle = &self.throttle;
        let mut detail = DetailLines::new(options);
        detail.add_name_line("throttle", &throttle.id);
        let is_default = !throttle.defined && !throttle.lane;
        let remark = if is_default { "by default" } else { "" };
        let remark = remark.to_owned();
        detail.add_line_with_remark("maximum", throttle.limit_text(), None, remark);
        if let Some(changed) = self.changed {
            let by = self.changed_by.as_ref();
            let by = by.map_or_else(String::new, |by| format!("by {by}"));
            detail.add_line_with_remark("changed", options.when(changed), None, by);
        }
        if let Some(seconds) = throttle.ttl_s {
            detail.add_line("expires", options.format_end_of_ttl(seconds));
        }
        let parts = [
            ("locks", throttle.locks, "holder", &self.holders),
            ("pending", throttle.pending, "waiting", &self.waiting),
        ];
        for (name, count, item, jobs) in parts {
            detail.add_line(name, options.count(count));
            // A script finds each line by its name.
            let item = if options.terminal { "" } else { item };
            for job in jobs {
                detail.add_line_with_remark(
                    item,
                    options.name(&job.jid),
                    None,
                    queue_and_state(job),
                );
            }
            let more = count.saturating_sub(jobs.len() as u64);
            if more > 0 && options.terminal {
                detail.add_line(item, format!("… {} more", options.count(more)));
            }
        }
        detail.into_text()
    }
}

/// The queue and the state of a job as text: `mail, running`. `missing` if the job does not exist.
fn queue_and_state(job: &Neighbor) -> String {
    let queue = job.queue.as_ref().map_or(NONE.to_owned(), Name::to_string);
    match job.state {
        Some(state) => format!("{queue}, {state}"),
        None => "missing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::model::job::{Job, State};
    use crate::model::list::List;

    fn throttle(id: &str, maximum: i64, locks: u64) -> Throttle {
        Throttle {
            id: Name::from(id),
            maximum,
            defined: true,
            locks,
            ..Throttle::default()
        }
    }

    #[test]
    fn a_throttle_is_one_row_and_the_limits_are_words_where_they_are_no_numbers() {
        let throttles = List::of_all(vec![
            throttle("api", 10, 3),
            throttle("closed", -1, 0),
            Throttle {
                ttl_s: Some(90),
                pending: 1200,
                ..throttle("open\x1b", 0, 7)
            },
            Throttle::from_lane(Name::from("mail/ann"), 3),
        ]);
        expect![[r#"
            THROTTLE  MAXIMUM       LOCKS  PENDING  EXPIRES
            api       10                3        0  –
            closed    none may run      0        0  –
            open\x1b  no limit          7    1,200  in 1m 30s
            mail/ann  1 (lane)          1        2  –
        "#]]
        .assert_eq(&throttles.text(&RenderOptions::terminal_without_color(80)));
    }

    #[test]
    fn a_throttle_in_full_names_its_first_jobs() {
        let job = |jid: &str, state| {
            let job = Job {
                queue: Some(Name::from("mail")),
                state: Some(state),
                ..Job::default()
            };
            Neighbor::new(Name::from(jid), Some(job))
        };
        let full = ThrottleJobs {
            throttle: Throttle {
                pending: 3,
                ..throttle("api", 1, 1)
            },
            changed: Moment::from_seconds(1.0),
            changed_by: Some(Name::from("ann@mx")),
            holders: vec![job("a", State::Running)],
            waiting: vec![job("b", State::Throttled), Neighbor::new("c".into(), None)],
        };
        expect![[r#"
            throttle  api
            maximum   1
            changed   in 1s    by ann@mx
            locks     1
                      a        mail, running
            pending   3
                      b        mail, throttled
                      c        missing
                      … 1 more
        "#]]
        .assert_eq(&full.text(&RenderOptions::terminal_without_color(80)));
    }
}
