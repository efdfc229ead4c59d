//! Which jobs depend on which, as trees of links.

use std::collections::HashSet;

use maud::{Markup, html};

use crate::command_line::CommandLine;
use crate::error::Error;
use crate::graph::{GraphRequest, read_graph_of_jobs, read_graph_of_queue};
use crate::model::graph::Graph;
use crate::name::Name;
use crate::session::Session;
use crate::text::{format_count, short_jid};
use crate::web::page::{
    NavigationSection, PageContent, PageFrame, name_or_empty_label, state_word,
};

/// Maximum number of jobs of a graph.
const MAX_JOBS: usize = 300;

/// The deepest nesting that is drawn.
const MAX_DEPTH: usize = 40;

const REQUEST: GraphRequest = GraphRequest {
    dependencies: true,
    dependents: true,
    depth: None,
    limit: MAX_JOBS,
};

pub(in crate::web) fn of_job(
    page: &PageFrame,
    session: &mut Session,
    jid: &Name,
) -> Result<PageContent, Error> {
    let jids = std::slice::from_ref(jid);
    let graph = read_graph_of_jobs(session.core()?, page.now, jids, REQUEST)?;
    let crumb =
        html! { a href=(page.link("jobs")) { "Jobs" } " / " (page.job_link(jid)) " / graph" };
    let line = CommandLine::new("graph").with_name_argument(jid);
    Ok(content(
        page,
        &graph,
        crumb,
        line,
        &format!("What {} hangs on", short_jid(jid)),
    ))
}

pub(in crate::web) fn of_queue(
    page: &PageFrame,
    session: &mut Session,
    queue: &Name,
) -> Result<PageContent, Error> {
    let graph = read_graph_of_queue(session.core()?, page.now, queue, REQUEST)?;
    let crumb = html! { a href=(page.link("queues")) { "Queues" } " / " (page.queue_link(queue)) " / graph" };
    let line = CommandLine::new("graph").with_flag("--queue", queue);
    Ok(content(
        page,
        &graph,
        crumb,
        line,
        &format!("What jobs of {} hang on", name_or_empty_label(queue)),
    ))
}

fn content(
    page: &PageFrame,
    graph: &Graph,
    crumb: Markup,
    line: CommandLine,
    title: &str,
) -> PageContent {
    let main = html! {
        p.crumb { (crumb) }
        h1 { (title) "." }
        div.acts { (page.command_block(&line)) }
        section {
            @if graph.edges.is_empty() { p.none { "No job depends on another one." } }
            (tree_list(page, graph))
            @if !graph.complete {
                p.more {
                    "Left out: " (format_count(graph.omitted_jobs, "job", "jobs")) " and "
                    (format_count(graph.omitted_edges, "edge", "edges")) "; "
                    code { "qless graph --as dot" } " draws more."
                }
            }
        }
    };
    PageContent::new(title, NavigationSection::Jobs, main)
}

/// A tree for each job without dependents, with its dependencies below it. After these, a tree for each cycle.
fn tree_list(page: &PageFrame, graph: &Graph) -> Markup {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    let mut has_above = vec![false; graph.nodes.len()];
    for edge in &graph.edges {
        let (from, to) = edge.ends;
        below[from].push(to);
        has_above[to] = true;
    }
    let mut drawn = HashSet::new();
    let roots: Vec<usize> = (0..graph.nodes.len())
        .filter(|at| !has_above[*at])
        .collect();
    let mut tree = TreeRenderer {
        page,
        graph,
        below: &below,
        drawn: &mut drawn,
    };
    let first: Vec<Markup> = roots.iter().map(|root| tree.tree_item(*root, 0)).collect();
    let rest = 0..graph.nodes.len();
    let mut cycles = Vec::new();
    for at in rest {
        if !tree.drawn.contains(&at) {
            cycles.push(tree.tree_item(at, 0));
        }
    }
    html! { ul.graph { @for tree in first.iter().chain(&cycles) { (tree) } } }
}

struct TreeRenderer<'t, 'p> {
    page: &'t PageFrame<'p>,
    graph: &'t Graph,
    below: &'t [Vec<usize>],
    drawn: &'t mut HashSet<usize>,
}

impl TreeRenderer<'_, '_> {
    fn tree_item(&mut self, at: usize, depth: usize) -> Markup {
        let node = &self.graph.nodes[at];
        let is_new = self.drawn.insert(at);
        let children = if is_new && depth < MAX_DEPTH {
            self.below[at].clone()
        } else {
            Vec::new()
        };
        let children: Vec<Markup> = children
            .iter()
            .map(|to| self.tree_item(*to, depth + 1))
            .collect();
        let job = &node.job;
        let state = match job.state {
            Some(state) => state.to_string(),
            None => "missing".to_owned(),
        };
        html! {
            li.blocks[node.blocks].asked[node.asked] {
                div {
                    (self.page.job_link_by_class_and_short_jid(job.klass.as_ref(), &job.jid)) " "
                    @if let Some(queue) = &job.queue { span.dim { (name_or_empty_label(queue)) } " " }
                    (state_word(job.state, &state))
                    @if node.blocks { " " span.late { "◄ blocks" } }
                    @if !is_new { " " span.dim { "(above)" } }
                }
                @if !children.is_empty() { ul { @for child in &children { (child) } } }
            }
        }
    }
}
