//! From which queues the next jobs are popped, and in which order.

use std::collections::{BTreeSet, HashMap};

use clap::ValueEnum;

use crate::name::Name;

/// A worker with more queues than this first asks the server which of them have jobs, and pops only from these.
const MAX_QUEUES_WITHOUT_SEARCH: usize = 500;

/// From which queue the next job is popped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum QueueOrder {
    /// Pop from the first queue that has a job
    Ordered,
    /// Pop from each queue in turn, by weight
    RoundRobin,
    /// Pop from the queue whose oldest due job has been due for longest
    Lag,
    /// Pop in the order of the stored priority patterns
    Patterns,
}

/// The queues of a worker, and the queue that comes next.
#[derive(Clone, Debug)]
pub struct QueueRotation {
    order: QueueOrder,
    /// The queues with their weights.
    queues: Vec<(Name, u32)>,
    /// Where each of them is in `queues`.
    positions: HashMap<Name, usize>,
    /// The queues that may have jobs, as indexes of `queues`. `None` if there are few queues: then the worker pops from
    /// each.
    ready: Option<BTreeSet<usize>>,
    /// The order of the rotation, as indexes of `queues`. A queue of weight 3 has three places.
    places: Vec<usize>,
    /// The place of `places` that comes next.
    next: usize,
}

impl QueueRotation {
    pub fn new(order: QueueOrder, queues: Vec<(Name, u32)>) -> QueueRotation {
        let mut rotation = QueueRotation {
            order,
            queues: Vec::new(),
            positions: HashMap::new(),
            ready: None,
            places: Vec::new(),
            next: 0,
        };
        rotation.set_queues_if_changed(queues);
        rotation
    }

    /// Replaces the queues. The rotation goes on with the queue that was next, if it is still there. Returns false, and
    /// does nothing, if the queues have not changed.
    pub fn set_queues_if_changed(&mut self, queues: Vec<(Name, u32)>) -> bool {
        if queues == self.queues {
            return false;
        }
        let whose = self
            .places
            .get(self.next)
            .map(|&at| self.queues[at].0.clone());
        self.places = queues
            .iter()
            .enumerate()
            .flat_map(|(at, (_, weight))| std::iter::repeat_n(at, (*weight).max(1) as usize))
            .collect();
        let positions = queues.iter().enumerate();
        self.positions = positions
            .map(|(at, (name, _))| (name.clone(), at))
            .collect();
        self.ready = (queues.len() > MAX_QUEUES_WITHOUT_SEARCH).then(BTreeSet::new);
        self.queues = queues;
        let is_next = |at: &usize| Some(&self.queues[*at].0) == whose.as_ref();
        self.next = self.places.iter().position(is_next).unwrap_or(0);
        true
    }

    /// Whether the queues take turns. Else they have the order in which they were given, or the thread of the calls
    /// sorts them by lag or by patterns.
    pub fn is_round_robin(&self) -> bool {
        self.order == QueueOrder::RoundRobin
    }

    pub fn contains_queue(&self, queue: &Name) -> bool {
        self.positions.contains_key(queue)
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether there are so many queues that the worker pops only from queues of which the server reported jobs.
    pub fn is_limited_to_ready_queues(&self) -> bool {
        self.ready.is_some()
    }

    /// Whether any of the queues of which the server reported jobs may still have some.
    pub fn has_ready_queues(&self) -> bool {
        self.ready.as_ref().is_some_and(|ready| !ready.is_empty())
    }

    /// Replaces the queues that may have jobs.
    pub fn set_ready_queues(&mut self, queues: &[Name]) {
        if let Some(ready) = &mut self.ready {
            let known = queues.iter().filter_map(|queue| self.positions.get(queue));
            *ready = known.copied().collect();
        }
    }

    /// Notes that a queue may have jobs.
    pub fn add_ready_queue(&mut self, queue: &Name) {
        if let (Some(ready), Some(at)) = (&mut self.ready, self.positions.get(queue)) {
            ready.insert(*at);
        }
    }

    /// Notes that these queues had no more jobs.
    pub fn remove_ready_queues(&mut self, queues: &[Name]) {
        if let Some(ready) = &mut self.ready {
            for queue in queues {
                if let Some(at) = self.positions.get(queue) {
                    ready.remove(at);
                }
            }
        }
    }

    /// The queues to pop from, in order, and the maximum number of jobs from each. The sum of these may be more than
    /// `max_jobs`. If no queue is known to have jobs, the next queue is returned, since a pop keeps the worker listed.
    pub fn queues_to_pop(&self, max_jobs: u64) -> Vec<(Name, u64)> {
        let ready = self.ready.as_ref();
        let Some(&next) = self.places.get(self.next) else {
            return Vec::new();
        };
        if ready.is_some_and(BTreeSet::is_empty) {
            return vec![(self.queues[next].0.clone(), max_jobs)];
        }
        if !self.is_round_robin() {
            let all = |at: usize| (self.queues[at].0.clone(), max_jobs);
            return match ready {
                Some(ready) => ready.iter().copied().map(all).collect(),
                None => (0..self.queues.len()).map(all).collect(),
            };
        }
        let (before, after) = self.places.split_at(self.next);
        let places = after.iter().chain(before);
        let places = places.filter(|at| ready.is_none_or(|ready| ready.contains(at)));
        let places: Vec<usize> = places.copied().collect();
        let length = places.len() as u64;
        let mut request: Vec<(usize, u64)> = Vec::new();
        let mut requested: Vec<Option<usize>> = vec![None; self.queues.len()];
        for (step, queue) in places.into_iter().enumerate() {
            // How often this place of the rotation comes among the next `max_jobs` places.
            let share = max_jobs / length + u64::from((step as u64) < max_jobs % length);
            match requested[queue] {
                Some(at) => request[at].1 += share,
                None => {
                    requested[queue] = Some(request.len());
                    request.push((queue, share));
                }
            }
        }
        // Pop at least one job from each queue, even if its share is 0, in case the other queues are empty.
        let name = |(queue, count): (usize, u64)| (self.queues[queue].0.clone(), count.max(1));
        request.into_iter().map(name).collect()
    }

    /// Notes from which queues jobs came.
    pub fn advance_past<'a>(&mut self, queues: impl Iterator<Item = &'a Name>) {
        if !self.is_round_robin() || self.places.is_empty() {
            return;
        }
        let mut left: HashMap<usize, usize> = HashMap::new();
        let mut count = 0;
        for at in queues.filter_map(|queue| self.positions.get(queue)) {
            *left.entry(*at).or_default() += 1;
            count += 1;
        }
        let mut place = self.next;
        while count > 0 {
            let queue = self.places[place];
            place = (place + 1) % self.places.len();
            if let Some(left) = left.get_mut(&queue).filter(|left| **left > 0) {
                *left -= 1;
                count -= 1;
                self.next = place;
            }
        }
    }
}
