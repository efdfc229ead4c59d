//! The order of jobs that depend on each other: dependencies come first.

use std::collections::HashMap;

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
