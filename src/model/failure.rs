//! Failure groups: jobs that failed for the same reason.

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::moment::Moment;
use crate::name::Name;
use crate::text;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::table::{Cell, Column};
use crate::view::{MomentFormat, RenderOptions};

/// A group with its newest failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FailureGroup {
    /// The kind of failure
    pub group: Name,
    /// How many jobs are in it
    pub jobs: u64,
    /// The group's newest failure
    pub last: Option<Moment>,
    /// The queues of the group's newest and oldest 100 jobs
    pub queues: Vec<Name>,
    /// Whether these are all its jobs, so that no queue is missing
    pub queues_complete: bool,
    /// The message of the newest failure
    pub sample: Option<Name>,
}

impl Row for FailureGroup {
    const LIST: DocumentKind =
        DocumentKind::of_list::<FailureGroup>("failed", "Failure groups: failed");

    const COLUMNS: &'static [Column<FailureGroup>] = &[
        Column::of_names("GROUP", |group| &group.group),
        Column::of_counts("JOBS", |group: &FailureGroup| group.jobs).drop_rank(1),
        Column::of_text("LAST", |group: &FailureGroup, options| {
            time_since_last(group.last, options)
        })
        .drop_rank(3),
        Column::of_text("QUEUES", |group: &FailureGroup, _| {
            Cell::name_list(&group.queues, !group.queues_complete)
        })
        .drop_rank(4),
        Column::of_free_text("SAMPLE", |group: &FailureGroup, _| {
            let sample = group.sample.as_ref();
            Cell::text_or_missing(
                sample.map(|sample| text::failure_summary_line(sample.as_bytes())),
            )
        })
        .drop_rank(2),
    ];
}

/// About how long ago a failure was.
fn time_since_last(last: Option<Moment>, options: &RenderOptions) -> Cell {
    let age = last.map(|last| options.now.since(last));
    match age {
        Some(age) if age >= 0.0 && options.times == MomentFormat::Relative => {
            Cell::sorted_by(age, format!("{} ago", text::format_rough_duration(age)))
        }
        _ => Cell::moment(last, options),
    }
}
