//! A graph of jobs and their dependencies, as a tree, as input of Graphviz or Mermaid, or as a document.

mod dot;
mod mermaid;
mod tree;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use strum::IntoStaticStr;

use super::jid_labels::FullOrShortJids;
use super::job::{Failure, Neighbor, State};
use crate::clock::moment::Moment;
use crate::name::Name;
use crate::text;
use crate::text::{format_count, with_thousands_separators};
use crate::view::document::DocumentKind;
use crate::view::{MomentFormat, RenderOptions, View};

/// How a graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(crate) enum GraphForm {
    /// Lines of text
    Tree,
    /// Input of Graphviz
    Dot,
    /// Input of Mermaid
    Mermaid,
}

/// Jobs, and which of them depend on which.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Graph {
    /// Whether no job and no edge is left out
    pub complete: bool,
    /// Edges between a listed job and one that is left out
    pub omitted_edges: u64,
    /// At least how many jobs were not read: jobs asked for, jobs of the queue, and failed jobs
    pub omitted_jobs: u64,
    /// The jobs, those asked for first
    pub nodes: Vec<GraphNode>,
    /// Which job depends on which, on the paths to and from the jobs asked for
    pub edges: Vec<GraphEdge>,
    /// Whether `--limit` left out jobs or edges. Else only `--depth` did, or nothing is left out.
    #[serde(skip)]
    pub is_cut_by_limit: bool,
    #[serde(skip)]
    pub drawing: DrawingOptions,
}

/// How the text of a graph looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DrawingOptions {
    /// The form that was asked for. `None` means a tree on a terminal, and a line for each edge in a pipe.
    pub form: Option<GraphForm>,
    /// Whether there is one tree, from the first of `nodes`. Else there is a tree for each job at the start of a path.
    pub has_one_root: bool,
    /// Whether the trees show dependencies.
    pub dependencies: bool,
    /// Whether the trees show dependents.
    pub dependents: bool,
    pub full_jids: bool,
    /// Whether Graphviz and Mermaid drawings show ages, such as `3h ago`, also in a pipe.
    pub has_ages: bool,
}

/// A job of a graph.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct GraphNode {
    #[serde(flatten)]
    pub job: Neighbor,
    /// The holder of the job's lock, or the last holder
    pub worker: Option<Name>,
    /// When the job's lock expires, or expired
    pub expires: Option<Moment>,
    /// When the job failed last, and why
    pub failure: Option<Failure>,
    /// When the job is due, if that is in the future
    pub scheduled_for: Option<Moment>,
    /// Since when the job waits for a worker or a slot; of a job in another state, when its newest history entry
    /// was made
    pub since: Option<Moment>,
    /// Whether the job was asked for
    pub asked: bool,
    /// Whether listed jobs depend on it while it is failed or missing
    pub blocks: bool,
    /// The job's dependencies that are left out
    pub omitted_dependencies: u64,
    /// The job's dependents that are left out
    pub omitted_dependents: u64,
}

/// An edge of a graph: a job and one of its dependencies.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct GraphEdge {
    /// The job that depends on the other
    pub from: Name,
    /// The job that it depends on
    pub to: Name,
    /// Whether the dependency will not release the job, because it does not list it
    pub one_sided: bool,
    /// Whether the jobs depend on each other, through this edge
    pub closes_cycle: bool,
    /// The positions of `from` and `to` in the graph's `nodes`.
    #[serde(skip)]
    pub ends: (usize, usize),
}

impl GraphNode {
    pub(crate) fn new(neighbor: Neighbor) -> GraphNode {
        let job = neighbor.job.as_deref();
        GraphNode {
            worker: job.and_then(|job| job.worker.clone()),
            expires: job.and_then(|job| job.expires),
            failure: job.and_then(|job| job.failure.clone()),
            scheduled_for: job.and_then(|job| job.scheduled_for),
            since: job.and_then(|job| job.since),
            job: neighbor,
            asked: false,
            blocks: false,
            omitted_dependencies: 0,
            omitted_dependents: 0,
        }
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.job.job.is_none()
    }

    /// The state of the job without details.
    fn state_word(&self) -> String {
        match &self.job.job {
            Some(job) => job.state_word(),
            None => "missing".to_owned(),
        }
    }

    /// The state of the job with its age and reason: `failed 3h ago: upload error`, `running 41s on d-1-77`.
    fn job_state_sentence(&self, options: &RenderOptions) -> String {
        let word = self.state_word();
        let since = self.since.map(|since| {
            if options.relative() {
                options.age(since)
            } else {
                format!("since {}", options.format_timestamp(since))
            }
        });
        let aged = join_with_blank([Some(word.clone()), since]);
        match (self.job.state, &self.job.job) {
            (Some(State::Failed), _) => {
                let failure = self.failure.as_ref();
                let when = failure.and_then(|failure| failure.when).or(self.since);
                let failed = join_with_blank([Some(word), when.map(|when| options.when(when))]);
                match failure {
                    Some(failure) => format!("{failed}: {}", failure.group),
                    None => failed,
                }
            }
            (Some(State::Running), _) => {
                let worker = self.worker.as_ref().map(|worker| format!("on {worker}"));
                join_with_blank([Some(aged), worker])
            }
            (Some(State::Waiting), _) => aged,
            (Some(State::Stalled), Some(job)) => format!("{word}: {}", job.state_detail(options)),
            (Some(State::Scheduled | State::Complete), Some(job)) => {
                join_with_blank([Some(word), Some(job.state_detail(options))])
            }
            _ => word,
        }
    }
}

/// Joins the words that are present and not empty with a blank.
fn join_with_blank(words: [Option<String>; 2]) -> String {
    let words = words.into_iter().flatten();
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

impl Graph {
    /// For each node, the positions of its edges: of those whose `end` is the node, either `from` or `to`.
    pub(crate) fn edges_by_node(&self, end: fn(&GraphEdge) -> usize) -> Vec<Vec<usize>> {
        let mut edges = vec![Vec::new(); self.nodes.len()];
        for (at, edge) in self.edges.iter().enumerate() {
            edges[end(edge)].push(at);
        }
        edges
    }

    /// Sets `omitted_edges` and `complete` from the omissions of each node.
    pub(crate) fn set_omitted_edges_and_completeness(&mut self) {
        let nodes = self.nodes.iter();
        let edges = nodes.map(|node| node.omitted_dependencies + node.omitted_dependents);
        self.omitted_edges = edges.sum();
        self.complete = self.omitted_edges == 0 && self.omitted_jobs == 0;
    }

    /// A sentence about the jobs and edges that are left out. `None` if the graph is complete.
    pub(crate) fn omission_sentence(&self) -> Option<String> {
        if self.complete {
            return None;
        }
        let mut shown = format_count(self.nodes.len() as u64, "job", "jobs");
        if self.omitted_edges > 0 {
            let edges = with_thousands_separators(self.omitted_edges);
            shown.push_str(&format!(" without {edges} of their edges"));
        }
        if self.omitted_jobs > 0 {
            let jobs = format_count(self.omitted_jobs, "further job was", "further jobs were");
            shown.push_str(&format!("; {jobs} not read"));
        }
        let flag = if self.is_cut_by_limit {
            "--limit"
        } else {
            "--depth"
        };
        Some(format!(
            "the graph is cut: it shows {shown}; `{flag} N` shows more"
        ))
    }

    fn jid_labels(&self) -> FullOrShortJids {
        let jids = self.nodes.iter().map(|node| &node.job.jid);
        FullOrShortJids::new(jids, !self.drawing.full_jids)
    }

    /// The lines in the box of a job.
    fn box_lines(
        &self,
        node: &GraphNode,
        labels: &FullOrShortJids,
        options: &RenderOptions,
    ) -> Vec<String> {
        let name = |name: &Option<Name>| name.as_ref().map(|name| cut_for_box(&name.to_string()));
        let more = |count: u64, one: &str, many: &str| {
            (count > 0).then(|| format!("… {}", options.format_count(count, one, many)))
        };
        let lines = [
            name(&node.job.klass),
            name(&node.job.queue).map(|queue| format!("in {queue}")),
            Some(cut_for_box(&labels.jid_label(&node.job.jid))),
            Some(cut_for_box(&node.job_state_sentence(options))),
            more(
                node.omitted_dependencies,
                "more dependency",
                "more dependencies",
            ),
            more(node.omitted_dependents, "more dependent", "more dependents"),
        ];
        lines.into_iter().flatten().collect()
    }
}

/// The width of a line in a box of a drawing, in characters. A job id of 32 digits fits.
const BOX_WIDTH: usize = 48;

fn cut_for_box(text: &str) -> String {
    text::cut_with_ellipsis(text, BOX_WIDTH)
}

/// The word that selects the style of a job's box in a drawing: its state, `missing` or `unknown`.
fn style_class_of_state(node: &GraphNode) -> &'static str {
    match node.job.state {
        Some(state) => state.into_str(),
        None if node.is_missing() => "missing",
        None => "unknown",
    }
}

impl View for Graph {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<Graph>("graph", "Which jobs depend on which: graph");

    fn text(&self, options: &RenderOptions) -> String {
        let Some(form) = self.drawing.form else {
            return if options.terminal {
                self.tree_text(options)
            } else {
                self.tsv_top_jobs_and_edges(options)
            };
        };
        let mut options = options.clone();
        if self.drawing.has_ages {
            options.times = MomentFormat::Relative;
        }
        match form {
            GraphForm::Tree => self.tree_text(&options),
            GraphForm::Dot => self.dot_text(&options),
            GraphForm::Mermaid => self.mermaid_text(&options),
        }
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        let exist = self.nodes.iter().filter(|node| !node.is_missing());
        Some(exist.map(|node| &node.job.jid).collect())
    }
}
