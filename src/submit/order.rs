//! The order of jobs that depend on each other: dependencies come first. For `put --from`, it is the order in which lines
//! are sent if a job depends on a job of a later line. Only for such a file, memory holds the location and the
//! dependencies of every line.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, RandomState};

use super::check::IdentityHasher;
use super::jid::LineDefaults;
use crate::error::Error;
use crate::input::two_pass::TwoPassFile;
use crate::name::Name;

/// The location of a line in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineLocation {
    pub number: u64,
    pub offset: u64,
    pub length: usize,
}

/// The locations of the lines in the order of the file, except that each line comes after its dependencies.
pub(super) fn dependencies_first(
    file: &TwoPassFile,
    defaults: &LineDefaults,
) -> Result<Vec<LineLocation>, Error> {
    let (places, graph) = read_dependencies(file, defaults)?;
    match graph.order_or_cycle() {
        Ok(order) => Ok(order.into_iter().map(|job| places[job as usize]).collect()),
        Err(cycle) => {
            let cycle: Vec<LineLocation> =
                cycle.into_iter().map(|job| places[job as usize]).collect();
            Err(cycle_error(file, defaults, &cycle))
        }
    }
}

fn read_dependencies(
    file: &TwoPassFile,
    defaults: &LineDefaults,
) -> Result<(Vec<LineLocation>, DependencyGraph), Error> {
    let salt = RandomState::new();
    let mut jids: HashMap<u64, u32, BuildHasherDefault<IdentityHasher>> = HashMap::default();
    let mut places = Vec::new();
    // The hashes of the dependencies of all jobs, one job after the other. `ends` has the index after the last
    // dependency of each job.
    let (mut others, mut ends): (Vec<u64>, Vec<usize>) = Default::default();
    file.for_each_line_in_further_pass(file.line_reader(), |row| {
        let job = defaults
            .parse_job_line(row.text)
            .map_err(|_| file.changed_error())?;
        let at = u32::try_from(places.len()).map_err(|_| too_many_jobs_error())?;
        if let Some(jid) = job.jid.jid_unless_fresh() {
            jids.entry(salt.hash_one(jid)).or_insert(at);
        }
        let depends = job.dependencies().iter();
        others.extend(depends.map(|other| salt.hash_one::<&[u8]>(&other.0)));
        ends.push(others.len());
        places.push(LineLocation {
            number: row.number,
            offset: row.offset,
            length: row.text.len(),
        });
        Ok(())
    })?;
    let (mut graph, mut start) = (DependencyGraph::default(), 0);
    for end in ends {
        // A dependency outside the file does not affect the order.
        let known = others[start..end].iter();
        graph.push_job(known.filter_map(|other| jids.get(other).copied()));
        start = end;
    }
    Ok((places, graph))
}

fn too_many_jobs_error() -> Error {
    Error::usage("a file whose lines depend on later lines can have up to 4,294,967,295 jobs")
}

/// Maximum number of jobs that the error about a cycle names.
const MAX_NAMED: usize = 20;

/// The error about jobs that depend on each other in a cycle. It names their jids.
fn cycle_error(file: &TwoPassFile, defaults: &LineDefaults, cycle: &[LineLocation]) -> Error {
    let mut jids = Vec::new();
    let mut text = Vec::new();
    for place in cycle.iter().take(MAX_NAMED) {
        if let Err(error) = file.read_line_at(place.offset, place.length, &mut text) {
            return error;
        }
        let job = defaults.parse_job_line(&text).ok();
        let jid = job.as_ref().and_then(|job| job.jid.jid_unless_fresh());
        jids.push(
            jid.map(|jid| Name::from(jid).to_string())
                .unwrap_or_default(),
        );
    }
    if cycle.len() > MAX_NAMED {
        jids.push(format!("{} more", cycle.len() - MAX_NAMED));
    }
    jids.extend(jids.first().cloned());
    let what = file.source_name();
    let line = cycle.first().map_or(0, |place| place.number);
    Error::conflict(format!(
        "{what}, line {line}: jobs depend on each other: {}",
        jids.join(" → ")
    ))
}

/// The dependencies of each job. Jobs are numbered in the order in which they are added.
#[derive(Debug, Default)]
pub(super) struct DependencyGraph {
    /// For each job, the index in `edges` after its last dependency. The dependencies of the next job begin there.
    ends: Vec<usize>,
    edges: Vec<u32>,
}

impl DependencyGraph {
    /// Adds the next job.
    pub(super) fn push_job(&mut self, dependencies: impl Iterator<Item = u32>) {
        self.edges.extend(dependencies);
        self.ends.push(self.edges.len());
    }

    fn dependencies(&self, job: u32) -> &[u32] {
        let job = job as usize;
        let start = if job == 0 { 0 } else { self.ends[job - 1] };
        &self.edges[start..self.ends[job]]
    }

    /// The numbers of the jobs in ascending order, except that each job comes after its dependencies. If that is
    /// impossible, the error is a cycle: each job depends on the next, the last on the first.
    pub(super) fn order_or_cycle(&self) -> Result<Vec<u32>, Vec<u32>> {
        let jobs = self.ends.len() as u32;
        let mut unmet: Vec<usize> = (0..jobs).map(|job| self.dependencies(job).len()).collect();
        let (starts, dependents) = self.dependents_by_job();
        let mut order = Vec::with_capacity(unmet.len());
        // The jobs to place next: the next job of the file, and earlier jobs whose last dependency was just placed.
        let mut passed = Vec::new();
        for place in 0..jobs {
            passed.push(place);
            while let Some(job) = passed.pop() {
                if unmet[job as usize] > 0 {
                    continue;
                }
                order.push(job);
                for &dependent in &dependents[starts[job as usize]..starts[job as usize + 1]] {
                    unmet[dependent as usize] -= 1;
                    if unmet[dependent as usize] == 0 && dependent < place {
                        passed.push(dependent);
                    }
                }
            }
        }
        if order.len() == unmet.len() {
            Ok(order)
        } else {
            Err(self.find_cycle(&unmet))
        }
    }

    /// Two lists: for each job, the index in the second list where its dependents start; and the dependents of all
    /// jobs, those of one job in descending order.
    fn dependents_by_job(&self) -> (Vec<usize>, Vec<u32>) {
        let jobs = self.ends.len();
        let mut ends = vec![0; jobs + 1];
        for &job in &self.edges {
            ends[job as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        // Fill the part of each job from its end, so that its entry in `ends` becomes the start.
        let mut dependents = vec![0; self.edges.len()];
        for job in 0..jobs as u32 {
            for &dependency in self.dependencies(job) {
                let end = &mut ends[dependency as usize];
                *end -= 1;
                dependents[*end] = job;
            }
        }
        (ends, dependents)
    }

    /// A cycle among the jobs with unmet dependencies.
    fn find_cycle(&self, unmet: &[usize]) -> Vec<u32> {
        let is_unmet = |job: &u32| unmet[*job as usize] > 0;
        let mut path: Vec<u32> = Vec::new();
        let mut visited: HashMap<u32, usize> = HashMap::new();
        let mut next = (0..unmet.len() as u32).find(is_unmet);
        while let Some(job) = next {
            if let Some(&at) = visited.get(&job) {
                return path.split_off(at);
            }
            visited.insert(job, path.len());
            path.push(job);
            next = self
                .dependencies(job)
                .iter()
                .copied()
                .filter(is_unmet)
                .min();
        }
        path
    }
}
