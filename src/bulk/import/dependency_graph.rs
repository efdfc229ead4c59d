//! Jobs that wait for others come behind them.

use std::collections::HashMap;

/// Who waits for whom, each job by its place in the file.
#[derive(Debug, Default)]
pub(super) struct DependencyGraph {
    /// Of each job that waits: for which.
    pub on: HashMap<u32, Vec<u32>>,
}

impl DependencyGraph {
    /// Returns the jobs in the order of the file, but each behind those it waits for; else a way
    /// around, of jobs each of which waits for the next and the last for the first.
    pub(super) fn order(&self, jobs: impl Iterator<Item = u32>) -> Result<Vec<u32>, Vec<u32>> {
        let mut left: HashMap<u32, usize> = HashMap::with_capacity(self.on.len());
        let mut frees: HashMap<u32, Vec<u32>> = HashMap::new();
        for (&job, on) in &self.on {
            left.insert(job, on.len());
            for &dependency in on {
                frees.entry(dependency).or_default().push(job);
            }
        }
        frees
            .values_mut()
            .for_each(|jobs| jobs.sort_unstable_by(|one, other| other.cmp(one)));
        let mut order = Vec::new();
        // Jobs whose place came before what they wait for; they follow as soon as they may.
        let mut passed: Vec<u32> = Vec::new();
        for place in jobs {
            passed.push(place);
            while let Some(job) = passed.pop() {
                if left.get(&job).is_some_and(|left| *left > 0) {
                    continue;
                }
                left.remove(&job);
                order.push(job);
                for &freed in frees.get(&job).into_iter().flatten() {
                    let Some(left) = left.get_mut(&freed) else {
                        continue;
                    };
                    *left -= 1;
                    if *left == 0 && freed < place {
                        passed.push(freed);
                    }
                }
            }
        }
        match left.is_empty() {
            true => Ok(order),
            false => Err(self.around(&left)),
        }
    }

    /// Returns a way around among the jobs that are left.
    fn around(&self, left: &HashMap<u32, usize>) -> Vec<u32> {
        let mut path: Vec<u32> = Vec::new();
        let mut met: HashMap<u32, usize> = HashMap::new();
        let mut next = left.keys().min().copied();
        while let Some(job) = next {
            if let Some(&at) = met.get(&job) {
                return path.split_off(at);
            }
            met.insert(job, path.len());
            path.push(job);
            let on = self.on.get(&job).into_iter().flatten();
            next = on.copied().filter(|job| left.contains_key(job)).min();
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
    fn jobs_stay_in_their_places_where_they_can() {
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
    fn a_way_around_is_told() {
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
    fn a_long_chain_is_no_danger() {
        let on = (0..100_000).map(|job| (job, vec![job + 1])).collect();
        let order = DependencyGraph { on }.order(0..100_001).unwrap();
        assert_eq!((order[0], order[100_000]), (100_000, 0));
    }
}
