//! Builds the graph of which jobs depend on which: reads the dependencies and dependents around given jobs, up to a
//! limit. The jobs are the nodes; an edge leads from a job to a job on which it depends.

pub(crate) mod walk;

use std::collections::{HashMap, HashSet};

use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::api::job::JobFields;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::graph::{Graph, GraphEdge, GraphNode};
use crate::model::job::{Job, Neighbor, State};
use crate::name::Name;
use walk::{MAX_EDGES, WalkLimits, WalkedJobs, walk_jobs};

/// The search for jobs of a queue also reads failure groups: one group for each `JOBS_PER_GROUP` jobs of its limit.
const JOBS_PER_GROUP: usize = 10;

/// Maximum number of edges in a graph, as a multiple of its maximum number of jobs.
const EDGES_PER_JOB: usize = 2;

/// The edges that a walk follows.
#[derive(Clone, Copy)]
enum WalkDirection {
    Dependencies,
    Dependents,
}

/// Which jobs a graph contains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphRequest {
    /// Whether the graph includes the direct and indirect dependencies of the first jobs.
    pub dependencies: bool,
    /// Whether the graph includes the direct and indirect dependents of the first jobs.
    pub dependents: bool,
    /// Maximum number of edges on the way from a first job to any other job; `None` without a limit.
    pub depth: Option<u64>,
    /// Maximum number of jobs.
    pub limit: usize,
}

/// The graph around named jobs.
pub(crate) fn read_graph_of_jobs(
    core: &mut Core,
    now: Moment,
    jids: &[Name],
    request: GraphRequest,
) -> Result<Graph, Error> {
    let mut graph = read_graph(core, now, jids, request)?;
    let asked: HashSet<&Name> = jids.iter().collect();
    for node in &mut graph.nodes {
        node.asked = asked.contains(&node.job.jid);
    }
    graph.set_omitted_edges_and_completeness();
    Ok(graph)
}

/// The graph around the jobs of a queue that have dependencies or dependents.
pub(crate) fn read_graph_of_queue(
    core: &mut Core,
    now: Moment,
    queue: &Name,
    request: GraphRequest,
) -> Result<Graph, Error> {
    core.require_queue(now, queue)?;
    // Use half of the limit for jobs of the queue. The other half is for their dependencies and dependents.
    let max_found = request.limit.div_ceil(2);
    let search = find_jobs_with_edges(core, now, queue, max_found)?;
    let first = &search.with_edges[..max_found.min(search.with_edges.len())];
    let mut graph = read_graph(core, now, first, request)?;
    let listed: HashSet<&Name> = graph.nodes.iter().map(|node| &node.job.jid).collect();
    let left_out = search.with_edges.iter().filter(|jid| !listed.contains(jid));
    let left_out = left_out.count() as u64;
    // Do not count a job of the queue as omitted if only a walk has read it, and not the search.
    let further = graph.nodes.iter().map(|node| &node.job);
    let further =
        further.filter(|job| job.queue.as_ref() == Some(queue) && !search.read.contains(&job.jid));
    let read = search.read.len() as u64 + further.count() as u64;
    graph.omitted_jobs = left_out + search.known.saturating_sub(read);
    graph.is_cut_by_limit |= graph.omitted_jobs > 0;
    graph.set_omitted_edges_and_completeness();
    Ok(graph)
}

/// The jobs of a queue that were found to have dependencies or dependents, and all jobs that were read in the search.
struct JobsWithEdgesSearchResult {
    with_edges: Vec<Name>,
    read: HashSet<Name>,
    /// The number of jobs in all indexes that may hold jobs of the queue: its own five sets, and the failure groups.
    known: u64,
}

/// Searches a queue for jobs that have dependencies or dependents, until `limit` of them are found. No index lists the
/// failed jobs of one queue, so this reads the oldest jobs of several failure groups and picks those of the queue.
fn find_jobs_with_edges(
    core: &mut Core,
    now: Moment,
    queue: &Name,
    limit: usize,
) -> Result<JobsWithEdgesSearchResult, Error> {
    let queue_indexes = [
        Index::Depends,
        Index::Locks,
        Index::Waiting,
        Index::Scheduled,
        Index::Throttled,
    ];
    let queue_indexes = queue_indexes.map(|index| (index(queue.clone()), 0));
    let mut slices = core.index_ranges(now, &queue_indexes, limit as u64)?;
    let max_groups = limit.div_ceil(JOBS_PER_GROUP) as u64;
    let groups = core.index_range(now, &Index::Groups, 0, max_groups)?;
    let failed = groups.members.into_iter();
    let failed: Vec<(Index, u64)> = failed.map(|group| (Index::Failed(group), 0)).collect();
    let groups_left = groups.total.saturating_sub(failed.len() as u64);
    // From all failure groups together, read up to the number of jobs that the five sets of the queue may give.
    let each = (queue_indexes.len() * limit).div_ceil(failed.len().max(1));
    slices.append(&mut core.index_ranges(now, &failed, each as u64)?);
    let listed: u64 = slices.iter().map(|slice| slice.total).sum();
    let mut seen = HashSet::new();
    let jids = slices.into_iter().flat_map(|slice| slice.members);
    let mut jids: Vec<Name> = jids.filter(|jid| seen.insert(jid.clone())).collect();
    let (mut found, mut edges, mut rest) = (Vec::new(), 0, jids.as_slice());
    while !rest.is_empty() && found.len() < limit && edges < MAX_EDGES {
        let slice = rest;
        let jobs = core.read_job_slice(now, "queue,dependencies,dependents", &mut rest)?;
        for (jid, job) in slice.iter().zip(jobs) {
            let Some(job) = job.filter(|job| job.queue.as_ref() == Some(queue)) else {
                continue;
            };
            let edges_of_job = job.dependencies.len() + job.dependents.len();
            if edges_of_job > 0 {
                found.push(jid.clone());
            }
            edges += edges_of_job;
        }
    }
    let read = jids.len() - rest.len();
    jids.truncate(read);
    Ok(JobsWithEdgesSearchResult {
        with_edges: found,
        read: jids.into_iter().collect(),
        // Count one job for each failure group that was not read: it has at least one.
        known: listed + groups_left,
    })
}

/// The graph around these jobs.
fn read_graph(
    core: &mut Core,
    now: Moment,
    first: &[Name],
    request: GraphRequest,
) -> Result<Graph, Error> {
    let kept = &first[..first.len().min(request.limit)];
    let (dependencies, dependents) = walk_both_ways(core, now, kept, request)?;
    let max_edges = request.limit.saturating_mul(EDGES_PER_JOB);
    let mut graph = join_walks(dependencies, dependents, max_edges);
    let listed: HashSet<&Name> = graph.nodes.iter().map(|node| &node.job.jid).collect();
    let unread = first.iter().filter(|jid| !listed.contains(jid)).count();
    graph.omitted_jobs = unread as u64;
    graph.is_cut_by_limit |= unread > 0;
    mark_failed_or_missing_dependencies(&mut graph);
    mark_cycle_closing_edges(&mut graph);
    Ok(graph)
}

/// Walks from the first jobs along their dependencies, and along their dependents. Each direction gets half of the job
/// limit. If one direction finds fewer jobs, the other gets the rest.
fn walk_both_ways(
    core: &mut Core,
    now: Moment,
    first: &[Name],
    request: GraphRequest,
) -> Result<(WalkedJobs, WalkedJobs), Error> {
    let others = request.limit - first.len();
    let found = |walk: &WalkedJobs| walk.jobs.len().saturating_sub(first.len());
    let mut walk = |along: WalkDirection, others: usize| {
        let limits = WalkLimits {
            jobs: first.len() + others,
            depth: request.depth,
        };
        walk_along(core, now, first, along, limits)
    };
    let (mut dependencies, mut dependents) = (WalkedJobs::default(), WalkedJobs::default());
    if request.dependencies {
        let share = if request.dependents {
            others.div_ceil(2)
        } else {
            others
        };
        dependencies = walk(WalkDirection::Dependencies, share)?;
    }
    if request.dependents {
        dependents = walk(WalkDirection::Dependents, others - found(&dependencies))?;
        let left = others - found(&dependents);
        if dependencies.has_more && left > found(&dependencies) {
            dependencies = walk(WalkDirection::Dependencies, left)?;
        }
    }
    Ok((dependencies, dependents))
}

/// Walks from the first jobs in one direction, and reads the fields of each job that a graph shows.
fn walk_along(
    core: &mut Core,
    now: Moment,
    first: &[Name],
    along: WalkDirection,
    limits: WalkLimits,
) -> Result<WalkedJobs, Error> {
    let (edges, edges_of): (_, fn(&Job) -> &[Name]) = match along {
        WalkDirection::Dependencies => ("dependencies,unlisted", |job| &job.dependencies),
        WalkDirection::Dependents => ("dependents", |job| &job.dependents),
    };
    let location = JobFields::Location.into_str();
    let fields = format!("{location},due,scheduled,{edges}");
    walk_jobs(core, now, first, &fields, edges_of, limits)
}

/// The graph of the jobs that the two walks read, with up to `max_edges` edges between them.
fn join_walks(dependencies: WalkedJobs, dependents: WalkedJobs, max_edges: usize) -> Graph {
    let mut builder = GraphBuilder {
        graph: Graph::default(),
        positions: HashMap::new(),
        edges: HashMap::new(),
        max_edges,
    };
    builder.graph.is_cut_by_limit = dependencies.has_more || dependents.has_more;
    let dependencies = builder.add_nodes(dependencies, |job| OneWayNeighborJids {
        others: std::mem::take(&mut job.dependencies),
        unlisted: std::mem::take(&mut job.unlisted),
    });
    let dependents = builder.add_nodes(dependents, |job| OneWayNeighborJids {
        others: std::mem::take(&mut job.dependents),
        unlisted: Vec::new(),
    });
    builder.add_dependency_edges_counting_omitted(dependencies);
    builder.add_or_count_omitted_dependents(dependents);
    builder.graph
}

/// The dependencies of a job, or its dependents.
#[derive(Debug, Default)]
struct OneWayNeighborJids {
    others: Vec<Name>,
    /// Dependencies that do not list the job.
    unlisted: Vec<Name>,
}

/// Joins the jobs of walks to a graph.
struct GraphBuilder {
    graph: Graph,
    /// The position of each node.
    positions: HashMap<Name, usize>,
    /// The index of each edge in the graph's list, by the indexes of the nodes at its two ends.
    edges: HashMap<(usize, usize), usize>,
    max_edges: usize,
}

impl GraphBuilder {
    /// Adds the jobs of a walk to the graph, unless they are nodes already. Returns the node index of each job with its
    /// dependencies or dependents.
    fn add_nodes(
        &mut self,
        walk: WalkedJobs,
        take_neighbors: fn(&mut Job) -> OneWayNeighborJids,
    ) -> Vec<(usize, OneWayNeighborJids)> {
        let mut links = Vec::with_capacity(walk.jobs.len());
        for (jid, mut job) in walk.jobs {
            let neighbors = job.as_mut().map(take_neighbors).unwrap_or_default();
            let next = self.graph.nodes.len();
            let at = *self.positions.entry(jid.clone()).or_insert(next);
            if at == next {
                let node = GraphNode::new(Neighbor::new(jid, job));
                self.graph.nodes.push(node);
            }
            links.push((at, neighbors));
        }
        links
    }

    fn add_dependency_edges_counting_omitted(&mut self, links: Vec<(usize, OneWayNeighborJids)>) {
        for (from, OneWayNeighborJids { others, unlisted }) in links {
            let unlisted: HashSet<Name> = unlisted.into_iter().collect();
            for jid in others {
                let to = self.positions.get(&jid).copied();
                match to.and_then(|to| self.add_edge_within_limit(from, to)) {
                    Some(edge) => self.graph.edges[edge].one_sided = unlisted.contains(&jid),
                    None => self.graph.nodes[from].omitted_dependencies += 1,
                }
            }
        }
    }

    fn add_or_count_omitted_dependents(&mut self, links: Vec<(usize, OneWayNeighborJids)>) {
        for (to, OneWayNeighborJids { others, .. }) in links {
            for jid in others {
                let from = self.positions.get(&jid).copied();
                if from
                    .and_then(|from| self.add_edge_within_limit(from, to))
                    .is_none()
                {
                    self.graph.nodes[to].omitted_dependents += 1;
                }
            }
        }
    }

    /// Adds an edge unless the graph has it already. Returns the index of the edge; `None` if the graph is full.
    fn add_edge_within_limit(&mut self, from: usize, to: usize) -> Option<usize> {
        let edges = &mut self.graph.edges;
        if let Some(&known) = self.edges.get(&(from, to)) {
            return Some(known);
        }
        if edges.len() == self.max_edges {
            self.graph.is_cut_by_limit = true;
            return None;
        }
        self.edges.insert((from, to), edges.len());
        edges.push(GraphEdge {
            from: self.graph.nodes[from].job.jid.clone(),
            to: self.graph.nodes[to].job.jid.clone(),
            one_sided: false,
            closes_cycle: false,
            ends: (from, to),
        });
        Some(edges.len() - 1)
    }
}

/// Sets `blocks` for each dependency that will not complete without an operator: a failed or missing job.
fn mark_failed_or_missing_dependencies(graph: &mut Graph) {
    for edge in &graph.edges {
        let node = &mut graph.nodes[edge.ends.1];
        node.blocks = node.is_missing() || node.job.state == Some(State::Failed);
    }
}

/// The state of a job in the depth-first search for cycles: not visited, on the current path, or finished.
#[derive(Clone, Copy)]
enum VisitState {
    New,
    OnPath,
    Done,
}

/// Sets `closes_cycle` for each edge that leads back to a job on the current path of a depth-first search.
fn mark_cycle_closing_edges(graph: &mut Graph) {
    let edges_from = graph.edges_by_node(|edge| edge.ends.0);
    let mut visits = vec![VisitState::New; graph.nodes.len()];
    for start in 0..graph.nodes.len() {
        if !matches!(visits[start], VisitState::New) {
            continue;
        }
        visits[start] = VisitState::OnPath;
        let mut path = vec![(start, 0)];
        while let Some((node, at)) = path.last_mut() {
            let Some(&edge) = edges_from[*node].get(*at) else {
                visits[*node] = VisitState::Done;
                path.pop();
                continue;
            };
            *at += 1;
            let edge = &mut graph.edges[edge];
            let to = edge.ends.1;
            match visits[to] {
                VisitState::New => {
                    visits[to] = VisitState::OnPath;
                    path.push((to, 0));
                }
                VisitState::OnPath => edge.closes_cycle = true,
                VisitState::Done => {}
            }
        }
    }
}
