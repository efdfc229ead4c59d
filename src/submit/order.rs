//! The order of the lines if some jobs depend on jobs of later lines: dependencies come first.
//!
//! Only then the location and the dependencies of every line are kept in memory.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, RandomState};

use super::check::IdentityHasher;
use super::job_spec::JobDefaults;
use crate::error::Error;
use crate::input::line::NewJob;
use crate::input::two_pass::TwoPassFile;
use crate::name::Name;

/// The location of a line in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineLocation {
    pub number: u64,
    pub offset: u64,
    pub length: usize,
}

/// The dependencies of each job, jobs by the index of their location.
#[derive(Default)]
struct LineGraph {
    places: Vec<LineLocation>,
    /// The end of each job's edges; they begin at the end of the job's before.
    ends: Vec<usize>,
    edges: Vec<u32>,
}

impl LineGraph {
    fn dependencies(&self, job: u32) -> &[u32] {
        let job = job as usize;
        let start = if job == 0 { 0 } else { self.ends[job - 1] };
        &self.edges[start..self.ends[job]]
    }
}

/// Returns the lines in the order of the file, except that each comes after its dependencies.
pub(super) fn order(
    file: &TwoPassFile,
    defaults: &JobDefaults,
) -> Result<Vec<LineLocation>, Error> {
    let graph = read(file, defaults)?;
    match sort(&graph) {
        Ok(order) => Ok(order
            .into_iter()
            .map(|job| graph.places[job as usize])
            .collect()),
        Err(path) => Err(cycle_error(file, defaults, &graph, &path)),
    }
}

fn read(file: &TwoPassFile, defaults: &JobDefaults) -> Result<LineGraph, Error> {
    let salt = RandomState::new();
    let mut jids: HashMap<u64, u32, BuildHasherDefault<IdentityHasher>> = HashMap::default();
    let mut graph = LineGraph::default();
    let mut pending: Vec<u64> = Vec::new();
    file.each(file.lines(), |row| {
        let line = NewJob::read(row.text, defaults.max_data).map_err(|_| file.changed())?;
        let job = defaults.job(row.text, &line).map_err(|_| file.changed())?;
        let at = u32::try_from(graph.places.len()).map_err(|_| too_many())?;
        if let Some(jid) = job.jid.known() {
            jids.entry(salt.hash_one(jid)).or_insert(at);
        }
        let others = job.depends.unwrap_or_default().iter();
        pending.extend(others.map(|other| salt.hash_one::<&[u8]>(&other.0)));
        graph.ends.push(pending.len());
        graph.places.push(LineLocation {
            number: row.number,
            offset: row.offset,
            length: row.text.len(),
        });
        Ok(())
    })?;
    // Dependencies that are not in the file are dropped, which moves the ends.
    let mut start = 0;
    for end in &mut graph.ends {
        let known = pending[start..*end]
            .iter()
            .filter_map(|other| jids.get(other));
        graph.edges.extend(known);
        start = *end;
        *end = graph.edges.len();
    }
    Ok(graph)
}

fn too_many() -> Error {
    Error::usage("a file whose lines depend on later lines can have up to 4,294,967,295 jobs")
}

/// Returns the jobs in order, or a cycle among them, with its first job at both ends.
fn sort(graph: &LineGraph) -> Result<Vec<u32>, Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        Unvisited,
        Open,
        Done,
    }
    let jobs = graph.places.len();
    let mut seen = vec![VisitState::Unvisited; jobs];
    let mut order = Vec::with_capacity(jobs);
    // The path of the depth-first search: each job with the number of its dependencies visited.
    let mut path: Vec<(u32, usize)> = Vec::new();
    for job in 0..jobs as u32 {
        if seen[job as usize] != VisitState::Unvisited {
            continue;
        }
        seen[job as usize] = VisitState::Open;
        path.push((job, 0));
        while let Some((job, visited)) = path.last_mut() {
            let Some(&below) = graph.dependencies(*job).get(*visited) else {
                seen[*job as usize] = VisitState::Done;
                order.push(*job);
                path.pop();
                continue;
            };
            *visited += 1;
            match seen[below as usize] {
                VisitState::Done => {}
                VisitState::Unvisited => {
                    seen[below as usize] = VisitState::Open;
                    path.push((below, 0));
                }
                VisitState::Open => {
                    let jobs = path.iter().map(|(job, _)| *job);
                    let mut cycle: Vec<u32> = jobs.skip_while(|job| *job != below).collect();
                    cycle.push(below);
                    return Err(cycle);
                }
            }
        }
    }
    Ok(order)
}

/// Maximum number of jobs of a cycle that the error names.
const MAX_NAMED: usize = 20;

/// Returns the error that names the jobs of a cycle.
fn cycle_error(
    file: &TwoPassFile,
    defaults: &JobDefaults,
    graph: &LineGraph,
    path: &[u32],
) -> Error {
    let mut jids = Vec::new();
    let mut text = Vec::new();
    let count = path.len() - 1;
    for job in &path[..count.min(MAX_NAMED)] {
        let place = graph.places[*job as usize];
        if let Err(error) = file.line(place.offset, place.length, &mut text) {
            return error;
        }
        let line = NewJob::read(&text, defaults.max_data).ok();
        let jid = line.as_ref().and_then(|line| {
            let job = defaults.job(&text, line).ok()?;
            job.jid.known().map(|jid| Name::from(jid).to_string())
        });
        jids.push(jid.unwrap_or_default());
    }
    if count > MAX_NAMED {
        jids.push(format!("{} more", count - MAX_NAMED));
    }
    jids.extend(jids.first().cloned());
    let what = file.what();
    let line = graph.places[path[0] as usize].number;
    Error::conflict(format!(
        "{what}, line {line}: jobs depend on each other: {}",
        jids.join(" → ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(below: &[&[u32]]) -> Result<Vec<u32>, Vec<u32>> {
        let mut graph = LineGraph::default();
        for edges in below {
            graph.edges.extend(*edges);
            graph.ends.push(graph.edges.len());
            graph.places.push(LineLocation {
                number: 0,
                offset: 0,
                length: 0,
            });
        }
        sort(&graph)
    }

    #[test]
    fn jobs_come_after_their_dependencies() {
        assert_eq!(sorted(&[&[], &[], &[]]), Ok(vec![0, 1, 2]));
        assert_eq!(sorted(&[&[2], &[], &[1]]), Ok(vec![1, 2, 0]));
        assert_eq!(sorted(&[&[1, 2], &[2], &[]]), Ok(vec![2, 1, 0]));
        assert_eq!(sorted(&[&[], &[0], &[0, 1]]), Ok(vec![0, 1, 2]));
    }

    #[test]
    fn a_cycle_is_returned_as_its_path() {
        assert_eq!(sorted(&[&[1], &[2], &[3], &[1]]), Err(vec![1, 2, 3, 1]));
        assert_eq!(sorted(&[&[], &[1]]), Err(vec![1, 1]));
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let jobs = 100_000;
        let edges: Vec<Vec<u32>> = (1..=jobs).map(|job| vec![job % jobs]).collect();
        let mut below: Vec<&[u32]> = edges.iter().map(Vec::as_slice).collect();
        assert_eq!(
            sorted(&below).map_err(|path| path.len()),
            Err(jobs as usize + 1)
        );
        below[jobs as usize - 1] = &[];
        assert_eq!(sorted(&below).map(|order| order[0]), Ok(jobs - 1));
    }
}
