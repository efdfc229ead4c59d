//! The defaults of a queue: the values of options that a put does not give.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::Json;
use crate::name::Name;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::table::{Cell, Column};
use crate::view::{RenderOptions, View};

/// The defaults of a queue.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct QueueDefaults {
    /// The queue
    pub queue: Name,
    /// The options for puts that do not give them, by name; null if none are set
    pub defaults: Option<Json>,
    /// True if nothing was changed
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Row for QueueDefaults {
    const LIST: DocumentKind = DocumentKind::of_list::<QueueDefaults>(
        "defaults-list",
        "The defaults of all queues: defaults list",
    );

    const COLUMNS: &'static [Column<QueueDefaults>] = &[
        Column::of_names("QUEUE", |of| &of.queue),
        Column::of_free_text("DEFAULTS", |of: &QueueDefaults, _| {
            Cell::text_or_missing(of.defaults.as_ref().map(Json::to_single_line))
        })
        .drop_rank(1),
    ];
}

impl View for QueueDefaults {
    const DOCUMENT: DocumentKind = DocumentKind::new::<QueueDefaults>(
        "defaults",
        "The options for puts into a queue that do not give them: defaults",
    );

    fn text(&self, _: &RenderOptions) -> String {
        match &self.defaults {
            Some(defaults) => format!("{}\n", defaults.to_single_line()),
            None => String::new(),
        }
    }
}
