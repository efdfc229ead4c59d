//! The dependencies and dependents of a job.

use super::job::text::join_with_comma;
use super::job::{DependenciesAndDependents, Neighbor, State};
use crate::name::Name;
use crate::text;
use crate::view::document::DocumentKind;
use crate::view::table::{Cell, Column, NONE, Table};
use crate::view::{RenderOptions, View};

const NEIGHBORS: &[Column<Neighbor>] = &[
    Column::of_names("JID", |other| &other.jid),
    Column::of_text("KLASS", |other, _| {
        Cell::text_or_missing(other.klass.as_ref())
    }),
    Column::of_text("STATE", |other, _| {
        Cell::text(other.job_state_or_missing())
            .with_style(other.state.and_then(State::state_style))
    }),
    Column::of_free_text("DETAIL", |other, options| {
        Cell::text(other.failure_worker_or_state_detail(options))
    }),
];

impl View for DependenciesAndDependents {
    const DOCUMENT: DocumentKind = DocumentKind::new::<DependenciesAndDependents>(
        "dependencies",
        "A job's dependencies and dependents: depends",
    );

    fn text(&self, options: &RenderOptions) -> String {
        if !options.terminal {
            return self.dependency_and_dependent_lines();
        }
        let kind = join_with_comma([
            self.klass.as_ref().map(Name::to_string),
            self.queue.as_ref().map(Name::to_string),
        ]);
        let mut text = format!("{} ({kind}) depends on", text::short_jid(&self.jid));
        text.push_str(&neighbor_table(&self.dependencies, options));
        text.push_str("and is needed by");
        text.push_str(&neighbor_table(&self.dependents, options));
        text
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(
            self.dependencies
                .iter()
                .chain(&self.dependents)
                .map(|other| &other.jid)
                .collect(),
        )
    }
}

impl DependenciesAndDependents {
    /// One line for each edge: its direction, then the job at the other end.
    fn dependency_and_dependent_lines(&self) -> String {
        let mut lines = String::new();
        for (direction, others) in [
            ("waits for", &self.dependencies),
            ("needed by", &self.dependents),
        ] {
            for other in others {
                let Neighbor { jid, .. } = other;
                let text = |name: &Option<Name>| {
                    let name = name.as_ref().map(Name::to_string);
                    name.unwrap_or_else(|| NONE.to_owned())
                };
                let (klass, queue) = (text(&other.klass), text(&other.queue));
                let state = other.job_state_or_missing();
                lines.push_str(&format!("{direction}\t{jid}\t{klass}\t{queue}\t{state}\n"));
            }
        }
        lines
    }
}

impl Neighbor {
    fn job_state_or_missing(&self) -> &'static str {
        self.state.as_ref().map_or("missing", State::into_str)
    }

    /// For a failed job its group and time, for a running job its worker and how long it has run, for any other job the
    /// detail of its state.
    fn failure_worker_or_state_detail(&self, options: &RenderOptions) -> String {
        let detail = self.job.as_ref().map(|job| match (job.state, job.since) {
            (Some(State::Failed), Some(since)) => {
                let group = job
                    .failure
                    .as_ref()
                    .map(|failure| failure.group.to_string());
                join_with_comma([group, Some(options.when(since))])
            }
            (Some(State::Running), Some(since)) => {
                let worker = job.worker.as_ref().map(Name::to_string);
                join_with_comma([worker, Some(options.age(since))])
            }
            _ => job.state_detail(options),
        });
        detail.unwrap_or_default()
    }
}

/// The table of a job's dependencies or dependents, or ` nothing`. The line before it ends with a text such as `…
/// depends on`.
fn neighbor_table(others: &[Neighbor], options: &RenderOptions) -> String {
    if others.is_empty() {
        return " nothing\n".to_owned();
    }
    let table = Table::new(NEIGHBORS, others, options);
    format!("\n{}", table.into_indented_text(options))
}
