//! A graph of jobs as text: trees for people, or a line for each edge for programs.

use super::{Graph, GraphEdge, GraphNode};
use crate::model::jid_labels::FullOrShortJids;
use crate::model::job::State;
use crate::text;
use crate::view::RenderOptions;
use crate::view::table::{Cell, Column, Table, TableSelection};

/// Columns that each level of a tree is indented by.
const LEVEL: usize = 3;

/// Columns of a line that are kept for the state, and not used for indentation or the job id.
const BESIDE_JIDS: usize = 25;

/// Maximum number of tree levels that are indented, however wide the output is.
const MAX_LEVELS: usize = 40;

/// The text shown instead of a state for a job that does not exist.
const MISSING: &str = "(missing!)";

/// The text beside a failed or missing job on which others depend: it blocks them until an operator acts.
const BLOCKS: &str = "◄ blocks";

/// A line of a tree.
struct TreeLine {
    /// The lines of the tree, such as `│  └─ `, followed by a jid or another text.
    branch: String,
    klass: Cell,
    queue: Cell,
    state: Cell,
    mark: &'static str,
}

const TREE: &[Column<TreeLine>] = &[
    Column::of_text("JID", |line, _| Cell::pre_escaped(&line.branch)),
    Column::of_text("KLASS", |line: &TreeLine, _| line.klass.clone()).drop_rank(1),
    Column::of_text("QUEUE", |line: &TreeLine, _| line.queue.clone()).drop_rank(2),
    Column::of_free_text("STATE", |line: &TreeLine, _| line.state.clone()).min_width(8),
    Column::of_text("MARK", |line: &TreeLine, _| Cell::pre_escaped(line.mark)).only_if_not_zero(),
];

/// A tab-separated line for programs: an edge, or a job on which no listed job depends.
struct TsvTopJobOrEdgeRow {
    dependent: Cell,
    jid: Cell,
    klass: Cell,
    queue: Cell,
    state: Cell,
    detail: String,
    mark: &'static str,
}

const ROWS: &[Column<TsvTopJobOrEdgeRow>] = &[
    Column::of_text("DEPENDENT", |row: &TsvTopJobOrEdgeRow, _| {
        row.dependent.clone()
    }),
    Column::of_text("JID", |row: &TsvTopJobOrEdgeRow, _| row.jid.clone()),
    Column::of_text("KLASS", |row: &TsvTopJobOrEdgeRow, _| row.klass.clone()),
    Column::of_text("QUEUE", |row: &TsvTopJobOrEdgeRow, _| row.queue.clone()),
    Column::of_text("STATE", |row: &TsvTopJobOrEdgeRow, _| row.state.clone()),
    Column::of_text("DETAIL", |row, _| Cell::pre_escaped(&row.detail)),
    Column::of_text("MARK", |row, _| Cell::pre_escaped(row.mark)),
];

/// Which edges a tree follows from its root.
#[derive(Clone, Copy, PartialEq)]
enum TreeDirection {
    Dependencies,
    Dependents,
}

impl Graph {
    /// The graph as trees.
    pub(super) fn tree_text(&self, options: &RenderOptions) -> String {
        let width = if options.terminal {
            options.width
        } else {
            usize::MAX
        };
        let options = RenderOptions {
            terminal: true,
            headers: false,
            width,
            choice: TableSelection::default(),
            ..options.clone()
        };
        let mut trees = TreeWriter::new(self, &options);
        let drawing = &self.drawing;
        if drawing.has_one_root && !self.nodes.is_empty() {
            trees.add_both_trees(0);
        } else {
            let branches = if drawing.dependencies {
                TreeDirection::Dependencies
            } else {
                TreeDirection::Dependents
            };
            trees.add_trees_covering_all_nodes(branches);
        }
        Table::new(TREE, &trees.lines, &options).into_text(&options)
    }

    /// Lines for programs: first a line for each job on which no listed job depends, then a line for each edge.
    pub(super) fn tsv_top_jobs_and_edges(&self, options: &RenderOptions) -> String {
        let dependents = self.edges_by_node(|edge| edge.ends.1);
        let tops = self.nodes.iter().zip(dependents);
        let tops = tops.filter(|(_, dependents)| dependents.is_empty());
        let tops = tops.map(|(node, _)| top_job_or_edge_row(None, node, options));
        let edges = self.edges.iter();
        let edges =
            edges.map(|edge| top_job_or_edge_row(Some(edge), &self.nodes[edge.ends.1], options));
        let rows: Vec<TsvTopJobOrEdgeRow> = tops.chain(edges).collect();
        Table::new(ROWS, &rows, options).into_text(options)
    }
}

fn top_job_or_edge_row(
    edge: Option<&GraphEdge>,
    node: &GraphNode,
    options: &RenderOptions,
) -> TsvTopJobOrEdgeRow {
    let detail = match (&node.job.job, node.job.state) {
        // A job in state `depends` has no detail, because each of its dependencies has a row.
        (None, _) | (_, Some(State::Depends)) => String::new(),
        (Some(job), _) => job.state_detail(options),
    };
    let marks = [
        ("cycle", edge.is_some_and(|edge| edge.closes_cycle)),
        ("one-sided", edge.is_some_and(|edge| edge.one_sided)),
        ("blocks", node.blocks),
    ];
    let mark = marks.into_iter().find(|(_, is_marked)| *is_marked);
    TsvTopJobOrEdgeRow {
        dependent: Cell::text_or_missing(edge.map(|edge| &edge.from)),
        jid: Cell::text(&node.job.jid),
        klass: Cell::text_or_missing(node.job.klass.as_ref()),
        queue: Cell::text_or_missing(node.job.queue.as_ref()),
        state: Cell::pre_escaped(node.state_word()),
        detail,
        mark: mark.map_or("", |(mark, _)| mark),
    }
}

/// Writes the lines of trees.
struct TreeWriter<'g> {
    graph: &'g Graph,
    options: &'g RenderOptions,
    labels: FullOrShortJids,
    /// For each job, its edges to dependencies.
    dependencies: Vec<Vec<usize>>,
    /// For each job, its edges from dependents.
    dependents: Vec<Vec<usize>>,
    /// The jobs that have a line.
    is_shown: Vec<bool>,
    /// Maximum number of levels that are indented. A deeper line begins with the number of its level.
    max_levels: usize,
    lines: Vec<TreeLine>,
}

impl<'g> TreeWriter<'g> {
    fn new(graph: &'g Graph, options: &'g RenderOptions) -> TreeWriter<'g> {
        let labels = graph.jid_labels();
        let jids = graph.nodes.iter().map(|node| &node.job.jid);
        let widest = jids.map(|jid| text::width(&labels.jid_label(jid))).max();
        let left = options
            .width
            .saturating_sub(BESIDE_JIDS + widest.unwrap_or(0));
        TreeWriter {
            graph,
            options,
            labels,
            dependencies: graph.edges_by_node(|edge| edge.ends.0),
            dependents: graph.edges_by_node(|edge| edge.ends.1),
            is_shown: vec![false; graph.nodes.len()],
            // Indentation gets half of the remaining columns, classes and queues get the other half.
            max_levels: (left / 2 / LEVEL).clamp(1, MAX_LEVELS),
            lines: Vec::new(),
        }
    }

    /// Adds the tree of a job's dependencies, then the tree of its dependents.
    fn add_both_trees(&mut self, root: usize) {
        let drawing = &self.graph.drawing;
        let has_dependencies =
            drawing.dependencies && self.has_branches(root, TreeDirection::Dependencies);
        let has_dependents =
            drawing.dependents && self.has_branches(root, TreeDirection::Dependents);
        self.add_root_line_without_branches(root);
        if has_dependencies {
            if has_dependents {
                self.add_text_line("depends on");
            }
            self.add_branches(root, TreeDirection::Dependencies);
        }
        if has_dependents {
            self.add_text_line("needed by");
            self.add_branches(root, TreeDirection::Dependents);
        }
    }

    /// Adds a tree for each job to which no edge leads, then one for each cycle that is in no tree yet.
    fn add_trees_covering_all_nodes(&mut self, branches: TreeDirection) {
        let nodes = self.graph.nodes.len();
        let before = match branches {
            TreeDirection::Dependencies => &self.dependents,
            TreeDirection::Dependents => &self.dependencies,
        };
        let tops: Vec<usize> = (0..nodes).filter(|&node| before[node].is_empty()).collect();
        for root in tops.into_iter().chain(0..nodes) {
            if self.is_shown[root] {
                continue;
            }
            self.add_root_line_without_branches(root);
            if branches == TreeDirection::Dependents && self.has_branches(root, branches) {
                self.add_text_line("needed by");
            }
            self.add_branches(root, branches);
        }
    }

    fn has_branches(&self, node: usize, branches: TreeDirection) -> bool {
        !self.edges_of(node, branches).is_empty() || self.omitted_edge_count(node, branches) > 0
    }

    fn edges_of(&self, node: usize, branches: TreeDirection) -> &[usize] {
        match branches {
            TreeDirection::Dependencies => &self.dependencies[node],
            TreeDirection::Dependents => &self.dependents[node],
        }
    }

    /// The number of a job's dependencies or dependents that the graph leaves out.
    fn omitted_edge_count(&self, node: usize, branches: TreeDirection) -> u64 {
        let node = &self.graph.nodes[node];
        match branches {
            TreeDirection::Dependencies => node.omitted_dependencies,
            TreeDirection::Dependents => node.omitted_dependents,
        }
    }

    fn add_root_line_without_branches(&mut self, root: usize) {
        self.is_shown[root] = true;
        let node = &self.graph.nodes[root];
        let mark = if node.blocks { BLOCKS } else { "" };
        self.add_node_line(String::new(), root, mark);
    }

    /// Adds the lines below a job. A job that occurs again gets a line, but nothing below it.
    fn add_branches(&mut self, root: usize, branches: TreeDirection) {
        let mut is_on_path = vec![false; self.graph.nodes.len()];
        is_on_path[root] = true;
        let mut path = vec![(root, 0)];
        // For each level above the present line, whether further lines of that level follow.
        let mut rails: Vec<bool> = Vec::new();
        while let Some((node, at)) = path.last_mut() {
            let (node, position) = (*node, *at);
            *at += 1;
            let edges = self.edges_of(node, branches);
            let omitted = self.omitted_edge_count(node, branches);
            let last = edges.len() - usize::from(omitted == 0 && !edges.is_empty());
            let branch = self.branch_prefix(&rails, position == last);
            let Some(&edge) = edges.get(position) else {
                if omitted > 0 && position == last {
                    let more = self.options.count(omitted);
                    self.add_text_line(&format!("{branch}… {more} more"));
                }
                is_on_path[node] = false;
                path.pop();
                rails.pop();
                continue;
            };
            let edge = &self.graph.edges[edge];
            let (dependent, dependency) = edge.ends;
            let next = match branches {
                TreeDirection::Dependencies => dependency,
                TreeDirection::Dependents => dependent,
            };
            let node = &self.graph.nodes[next];
            let marks = [
                ("(cycle!)", is_on_path[next]),
                ("(one-sided!)", edge.one_sided),
                ("(above)", self.is_shown[next]),
                (BLOCKS, node.blocks),
            ];
            let mark = marks.into_iter().find(|(_, applies)| *applies);
            self.add_node_line(branch, next, mark.map_or("", |(mark, _)| mark));
            if !self.is_shown[next] {
                self.is_shown[next] = true;
                is_on_path[next] = true;
                path.push((next, 0));
                rails.push(position != last);
            }
        }
    }

    /// The lines before a job at this level.
    fn branch_prefix(&self, rails: &[bool], is_last: bool) -> String {
        let end = if is_last { "└─ " } else { "├─ " };
        if rails.len() >= self.max_levels {
            let width = self.max_levels * LEVEL;
            return format!("{:<width$}{end}", rails.len() + 1);
        }
        let rails = rails
            .iter()
            .map(|goes_on| if *goes_on { "│  " } else { "   " });
        rails.chain([end]).collect()
    }

    fn add_text_line(&mut self, text: &str) {
        let nothing = || Cell::pre_escaped("");
        self.lines.push(TreeLine {
            branch: text.to_owned(),
            klass: nothing(),
            queue: nothing(),
            state: nothing(),
            mark: "",
        });
    }

    fn add_node_line(&mut self, branch: String, at: usize, mark: &'static str) {
        let node = &self.graph.nodes[at];
        let state = match mark {
            _ if node.is_missing() => MISSING.to_owned(),
            "" | BLOCKS => node.job_state_sentence(self.options),
            _ => node.state_word(),
        };
        let style = node.job.state.and_then(State::state_style);
        self.lines.push(TreeLine {
            branch: branch + &self.labels.jid_label(&node.job.jid),
            klass: Cell::text_or_missing(node.job.klass.as_ref()),
            queue: Cell::text_or_missing(node.job.queue.as_ref()),
            state: Cell::pre_escaped(state).with_style(style),
            mark,
        });
    }
}
