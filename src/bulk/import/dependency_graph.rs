//! The order of jobs with dependencies: each job after the jobs that it depends on.

use std::collections::HashMap;

/// The dependencies among the jobs, each job by its number in the file.
#[derive(Debug, Default)]
pub(super) struct DependencyGraph {
    /// The dependencies of each job that has any.
    pub on: HashMap<u32, Vec<u32>>,
}

impl DependencyGraph {
    /// Returns the jobs in the order of the file, except that each comes after its dependencies.
    /// If there is a cycle, returns it: each job depends on the next, the last on the first.
    pub(super) fn order(&self, jobs: impl Iterator<Item = u32>) -> Result<Vec<u32>, Vec<u32>> {
        let mut unmet: HashMap<u32, usize> = HashMap::with_capacity(self.on.len());
        let mut dependents: HashMap<u32, Vec<u32>> = HashMap::new();
        for (&job, on) in &self.on {
            unmet.insert(job, on.len());
            for &dependency in on {
                dependents.entry(dependency).or_default().push(job);
            }
        }
        dependents
            .values_mut()
            .for_each(|jobs| jobs.sort_unstable_by(|one, other| other.cmp(one)));
        let mut order = Vec::new();
        // Jobs whose dependencies come later in the file; they follow as soon as those are placed.
        let mut passed: Vec<u32> = Vec::new();
        for place in jobs {
            passed.push(place);
            while let Some(job) = passed.pop() {
                if unmet.get(&job).is_some_and(|unmet| *unmet > 0) {
                    continue;
                }
                unmet.remove(&job);
                order.push(job);
                for &dependent in dependents.get(&job).into_iter().flatten() {
                    let Some(count) = unmet.get_mut(&dependent) else {
                        continue;
                    };
                    *count -= 1;
                    if *count == 0 && dependent < place {
                        passed.push(dependent);
                    }
                }
            }
        }
        if unmet.is_empty() {
            Ok(order)
        } else {
            Err(self.cycle(&unmet))
        }
    }

    /// Returns a cycle among the jobs with unmet dependencies.
    fn cycle(&self, unmet: &HashMap<u32, usize>) -> Vec<u32> {
        let mut path: Vec<u32> = Vec::new();
        let mut visited: HashMap<u32, usize> = HashMap::new();
        let mut next = unmet.keys().min().copied();
        while let Some(job) = next {
            if let Some(&at) = visited.get(&job) {
                return path.split_off(at);
            }
            visited.insert(job, path.len());
            path.push(job);
            let on = self.on.get(&job).into_iter().flatten();
            next = on.copied().filter(|job| unmet.contains_key(job)).min();
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(on: &[(u32, &[u32])], jobs: u32) -> Result<Vec<u32>, Vec<u32>> {
        let on = on.iter().map(|(job, on)| (*job, on.to_vec())).collect();
        DependencyGraph { on }.order(0..jobs)
    }

    #[test]
    fn jobs_keep_their_order_unless_a_dependency_comes_later() {
        assert_eq!(order(&[], 3), Ok(vec![0, 1, 2]));
        assert_eq!(order(&[(2, &[0])], 4), Ok(vec![0, 1, 2, 3]));
        assert_eq!(order(&[(0, &[2]), (1, &[2])], 4), Ok(vec![2, 0, 1, 3]));
        assert_eq!(
            order(&[(0, &[1]), (1, &[3]), (2, &[0])], 5),
            Ok(vec![3, 1, 0, 2, 4])
        );
        assert_eq!(
            order(&[(3, &[0, 1, 2]), (0, &[1])], 4),
            Ok(vec![1, 0, 2, 3])
        );
    }

    #[test]
    fn a_cycle_is_returned_as_its_path() {
        assert_eq!(order(&[(0, &[0])], 1), Err(vec![0]));
        assert_eq!(
            order(&[(0, &[1]), (1, &[2]), (2, &[1])], 3),
            Err(vec![1, 2])
        );
        assert_eq!(
            order(&[(3, &[1]), (1, &[2]), (2, &[3])], 4),
            Err(vec![1, 2, 3])
        );
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let on = (0..100_000).map(|job| (job, vec![job + 1])).collect();
        let order = DependencyGraph { on }.order(0..100_001).unwrap();
        assert_eq!((order[0], order[100_000]), (100_000, 0));
    }
}
