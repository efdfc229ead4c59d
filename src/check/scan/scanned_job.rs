//! A job of the scan, and what else has to be read about it.

use crate::model::verdict::ItemKind;

/// A job of the scan: only what is compared with other keys, because the scan reads every job.
#[derive(Debug, Default)]
pub(super) struct ScannedJob {
    pub jid: Vec<u8>,
    pub queue: Vec<u8>,
    pub state: Vec<u8>,
    /// The set of the queue that holds the job.
    pub home: Option<ItemKind>,
    pub worker: Vec<u8>,
    pub priority: f64,
    pub expires: f64,
    /// The recurring job that spawned it, and its number there.
    pub child: Option<(Vec<u8>, f64)>,
    /// Whether the core has to verify it.
    pub is_candidate: bool,
    /// Whether that takes the server long.
    pub large: bool,
    pub extra_reads: Vec<ExtraRead>,
    /// Lanes and sets of throttles that should have the job.
    pub coordination: Vec<(ItemKind, Vec<u8>)>,
    /// The number of throttles of a held job that have not been found to hold it.
    pub missing_in: usize,
}

impl ScannedJob {
    /// Notes that the job's entry in a lane or in a set of a throttle has to be read.
    pub(super) fn expect_entry_in(&mut self, kind: ItemKind, name: &[u8]) {
        let at = self.coordination.len();
        self.coordination.push((kind, name.to_vec()));
        self.extra_reads.push(ExtraRead::Coordination(at));
    }
}

/// A further read that a job requires.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExtraRead {
    /// The job's score among the waiting jobs.
    WorkScore,
    /// The job's lock, in the grace period.
    LockScore,
    /// The job's score in the list of a worker that may have lost the job.
    WorkerScore,
    HasDependencies,
    /// The count of the job's template.
    TemplateCount,
    /// The job's entry in a lane or in a set of a throttle, by the position of the entry in
    /// [`ScannedJob::coordination`].
    Coordination(usize),
}
