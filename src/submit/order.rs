//! The order in which jobs are put where some wait for jobs of later lines: these come first.
//!
//! Only then something is kept of every line: where it stands, and for whom it waits.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, RandomState};

use super::check::IdentityHasher;
use super::job_spec::JobDefaults;
use crate::error::Error;
use crate::input::line::{JobLine, texts};
use crate::input::two_pass::TwoPassFile;
use crate::text::clean;

/// Where a line stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineLocation {
    pub number: u64,
    pub offset: u64,
    pub length: usize,
}

/// Who waits for whom, by their places.
#[derive(Default)]
struct LineGraph {
    places: Vec<LineLocation>,
    /// Where the edges of a job end; they begin where those of the job before end.
    ends: Vec<usize>,
    edges: Vec<u32>,
}

impl LineGraph {
    fn below(&self, job: u32) -> &[u32] {
        let job = job as usize;
        let start = if job == 0 { 0 } else { self.ends[job - 1] };
        &self.edges[start..self.ends[job]]
    }
}

/// Returns the lines in an order in which each comes after those that it waits for, and else
/// as they stand in the file.
pub(super) fn order(twice: &TwoPassFile, plan: &JobDefaults) -> Result<Vec<LineLocation>, Error> {
    let graph = read(twice, plan)?;
    match sort(&graph) {
        Ok(order) => Ok(order
            .into_iter()
            .map(|job| graph.places[job as usize])
            .collect()),
        Err(path) => Err(cycle(twice, plan, &graph, &path)),
    }
}

fn read(twice: &TwoPassFile, plan: &JobDefaults) -> Result<LineGraph, Error> {
    let salt = RandomState::new();
    let mut jids: HashMap<u64, u32, BuildHasherDefault<IdentityHasher>> = HashMap::default();
    let mut graph = LineGraph::default();
    let mut awaited: Vec<u64> = Vec::new();
    twice.each(twice.lines(), |row| {
        let line = JobLine::read(row.text, plan.max_data).map_err(|_| twice.changed())?;
        let job = plan.job(row.text, &line).map_err(|_| twice.changed())?;
        let at = u32::try_from(graph.places.len()).map_err(|_| too_many())?;
        if let Some(jid) = job.jid.known() {
            jids.entry(salt.hash_one(jid)).or_insert(at);
        }
        let others = job.depends.map(texts).unwrap_or_default();
        awaited.extend(others.iter().map(|other| salt.hash_one::<&[u8]>(other)));
        graph.ends.push(awaited.len());
        graph.places.push(LineLocation {
            number: row.number,
            offset: row.offset,
            length: row.text.len(),
        });
        Ok(())
    })?;
    // Those that are not in the file drop out, and with them the ends move.
    let mut start = 0;
    for end in &mut graph.ends {
        let known = awaited[start..*end]
            .iter()
            .filter_map(|other| jids.get(other));
        graph.edges.extend(known);
        start = *end;
        *end = graph.edges.len();
    }
    Ok(graph)
}

fn too_many() -> Error {
    Error::usage("a file whose lines wait for later ones may have 4,294,967,295 jobs at most")
}

/// Returns the jobs in order, else a cycle among them, its first job at both ends.
fn sort(graph: &LineGraph) -> Result<Vec<u32>, Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        Not,
        Open,
        Done,
    }
    let jobs = graph.places.len();
    let mut seen = vec![VisitState::Not; jobs];
    let mut order = Vec::with_capacity(jobs);
    // The way down from a job, each with how many of those below it were looked at.
    let mut way: Vec<(u32, usize)> = Vec::new();
    for job in 0..jobs as u32 {
        if seen[job as usize] != VisitState::Not {
            continue;
        }
        seen[job as usize] = VisitState::Open;
        way.push((job, 0));
        while let Some((job, looked)) = way.last_mut() {
            let Some(&below) = graph.below(*job).get(*looked) else {
                seen[*job as usize] = VisitState::Done;
                order.push(*job);
                way.pop();
                continue;
            };
            *looked += 1;
            match seen[below as usize] {
                VisitState::Done => {}
                VisitState::Not => {
                    seen[below as usize] = VisitState::Open;
                    way.push((below, 0));
                }
                VisitState::Open => {
                    let jobs = way.iter().map(|(job, _)| *job);
                    let mut path: Vec<u32> = jobs.skip_while(|job| *job != below).collect();
                    path.push(below);
                    return Err(path);
                }
            }
        }
    }
    Ok(order)
}

/// As many jobs of a cycle as are named.
const MOST: usize = 20;

/// Says who waits for whom.
fn cycle(twice: &TwoPassFile, plan: &JobDefaults, graph: &LineGraph, path: &[u32]) -> Error {
    let mut jids = Vec::new();
    let mut text = Vec::new();
    let count = path.len() - 1;
    for job in &path[..count.min(MOST)] {
        let place = graph.places[*job as usize];
        if let Err(error) = twice.line(place.offset, place.length, &mut text) {
            return error;
        }
        let line = JobLine::read(&text, plan.max_data).ok();
        let jid = line.as_ref().and_then(|line| {
            let job = plan.job(&text, line).ok()?;
            job.jid.known().map(clean)
        });
        jids.push(jid.unwrap_or_default());
    }
    if count > MOST {
        jids.push(format!("{} more", count - MOST));
    }
    jids.extend(jids.first().cloned());
    let what = twice.what();
    let line = graph.places[path[0] as usize].number;
    Error::usage(format!(
        "{what}, line {line}: jobs wait for each other: {}",
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
    fn jobs_come_after_those_they_wait_for() {
        assert_eq!(sorted(&[&[], &[], &[]]), Ok(vec![0, 1, 2]));
        assert_eq!(sorted(&[&[2], &[], &[1]]), Ok(vec![1, 2, 0]));
        assert_eq!(sorted(&[&[1, 2], &[2], &[]]), Ok(vec![2, 1, 0]));
        assert_eq!(sorted(&[&[], &[0], &[0, 1]]), Ok(vec![0, 1, 2]));
    }

    #[test]
    fn a_cycle_is_the_way_around() {
        assert_eq!(sorted(&[&[1], &[2], &[3], &[1]]), Err(vec![1, 2, 3, 1]));
        assert_eq!(sorted(&[&[], &[1]]), Err(vec![1, 1]));
    }

    #[test]
    fn a_long_chain_is_no_danger() {
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
