//! The plan of an import, which the prompt shows before anything is changed.

use std::collections::BTreeMap;

use super::config::OptionChange;
use super::throttle::MaximumChange;
use crate::clock::moment::Moment;
use crate::name::Name;
use crate::text::format_count;
use crate::view::RenderOptions;
use crate::view::table::{Cell, Column, Table};

/// The changes that an import would make.
pub(crate) struct ImportPlan<'p> {
    /// How many jobs the import would put into each queue.
    pub queues: BTreeMap<&'p Name, u64>,
    pub recurring: usize,
    /// How many of the jobs exist already. The import replaces them if `replaces`, else leaves them.
    pub existing: u64,
    pub replaces: bool,
    pub changes: &'p [OptionChange],
    pub maxima: &'p [MaximumChange],
    pub pauses: &'p [&'p Name],
    pub holds: &'p [Name],
}

/// A queue and how many jobs it gets.
type TargetRow<'p> = (&'p Name, u64);

impl ImportPlan<'_> {
    /// A table of the jobs by queue, and a line for each other change.
    pub(crate) fn plan_text(&self, options: &RenderOptions) -> String {
        let columns: [Column<TargetRow>; 2] = [
            Column::of_text("QUEUE", |(queue, _), _| Cell::text(queue)),
            Column::of_counts("JOBS", |(_, jobs)| *jobs),
        ];
        let targets: Vec<TargetRow> = self
            .queues
            .iter()
            .map(|(queue, jobs)| (*queue, *jobs))
            .collect();
        let table = Table::new(&columns, &targets, options);
        let mut text: String = table
            .into_text(options)
            .lines()
            .map(|line| format!("  {line}\n"))
            .collect();
        let others = self.changes_besides_jobs();
        if !text.is_empty() && !others.is_empty() {
            text.push('\n');
        }
        for line in others {
            text.push_str(&format!("  {line}\n"));
        }
        text
    }

    /// A line for each change besides new jobs.
    pub(crate) fn changes_besides_jobs(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.existing > 0 {
            let jobs = format_count(self.existing, "job", "jobs");
            lines.push(if self.replaces {
                format!("replace what is there already: {jobs}")
            } else {
                format!("leave what is there already: {jobs}")
            });
        }
        if self.recurring > 0 {
            let jobs = format_count(self.recurring as u64, "recurring job", "recurring jobs");
            lines.push(format!("make {jobs}"));
        }
        let names = |names: &mut dyn Iterator<Item = &Name>| {
            let names: Vec<String> = names.map(Name::to_string).collect();
            names.join(", ")
        };
        if !self.holds.is_empty() {
            lines.push(format!("hold {}", names(&mut self.holds.iter())));
        }
        if !self.pauses.is_empty() {
            lines.push(format!("pause {}", names(&mut self.pauses.iter().copied())));
        }
        let changes = self
            .changes
            .iter()
            .map(|change| format!("set {}", change.diff_line()));
        lines.extend(changes);
        lines.extend(self.maxima.iter().map(maximum_line));
        lines
    }
}

fn maximum_line(change: &MaximumChange) -> String {
    let MaximumChange { id, maximum, .. } = change;
    let until = change.expires.and_then(Moment::to_rfc3339);
    let until = until.map_or_else(String::new, |until| format!(", until {until}"));
    match change.before {
        Some(before) => format!("set ~ throttle {id}: {before} -> {maximum}{until}"),
        None => format!("set + throttle {id}: {maximum}{until}"),
    }
}
