//! From which queues the next jobs are popped, and in which order.

use crate::name::Name;

/// The order of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first queue that has a job.
    Ordered,
    /// Each queue in turn; a weight counts as so many turns.
    RoundRobin,
}

/// The queues of a worker and whose turn it is.
#[derive(Clone, Debug)]
pub struct Rotation {
    order: Order,
    /// With their weights.
    queues: Vec<(Name, u32)>,
    /// The queues by their turns, as indexes of `queues`.
    turns: Vec<usize>,
    /// The next turn.
    next: usize,
}

impl Rotation {
    pub fn new(order: Order, queues: Vec<(Name, u32)>) -> Rotation {
        let mut rotation = Rotation {
            order,
            queues: Vec::new(),
            turns: Vec::new(),
            next: 0,
        };
        rotation.set(queues);
        rotation
    }

    /// Replaces the queues. The turn stays with its queue, if that is still there.
    pub fn set(&mut self, queues: Vec<(Name, u32)>) {
        if queues == self.queues {
            return;
        }
        let whose = self
            .turns
            .get(self.next)
            .map(|&at| self.queues[at].0.clone());
        self.turns = queues
            .iter()
            .enumerate()
            .flat_map(|(at, (_, weight))| std::iter::repeat_n(at, (*weight).max(1) as usize))
            .collect();
        self.queues = queues;
        let is_next = |at: &usize| Some(&self.queues[*at].0) == whose.as_ref();
        self.next = self.turns.iter().position(is_next).unwrap_or(0);
    }

    pub fn is_ordered(&self) -> bool {
        self.order == Order::Ordered
    }

    pub fn contains(&self, queue: &Name) -> bool {
        self.queues.iter().any(|(name, _)| name == queue)
    }

    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Returns from which queues to pop, in this order, and at most how many from each.
    pub fn request(&self, total: u64) -> Vec<(Name, u64)> {
        if self.order == Order::Ordered {
            let queues = self.queues.iter();
            return queues.map(|(queue, _)| (queue.clone(), total)).collect();
        }
        let length = self.turns.len() as u64;
        let mut request: Vec<(usize, u64)> = Vec::new();
        for step in 0..self.turns.len() {
            let turn = (self.next + step) % self.turns.len();
            let queue = self.turns[turn];
            // How often this turn comes within the next `total` turns.
            let share = total / length + u64::from((step as u64) < total % length);
            match request.iter_mut().find(|(known, _)| *known == queue) {
                Some((_, count)) => *count += share,
                None => request.push((queue, share)),
            }
        }
        // A queue that has no turn yet stands in for one that is empty.
        let name = |(queue, count): (usize, u64)| (self.queues[queue].0.clone(), count.max(1));
        request.into_iter().map(name).collect()
    }

    /// Notes from which queues jobs came.
    pub fn advance<'a>(&mut self, queues: impl Iterator<Item = &'a Name>) {
        if self.order == Order::Ordered || self.turns.is_empty() {
            return;
        }
        let mut left = vec![0_usize; self.queues.len()];
        let mut count = 0;
        for queue in queues {
            if let Some(at) = self.queues.iter().position(|(name, _)| name == queue) {
                left[at] += 1;
                count += 1;
            }
        }
        let mut turn = self.next;
        while count > 0 {
            let queue = self.turns[turn];
            turn = (turn + 1) % self.turns.len();
            if left[queue] > 0 {
                left[queue] -= 1;
                count -= 1;
                self.next = turn;
            }
        }
    }
}
