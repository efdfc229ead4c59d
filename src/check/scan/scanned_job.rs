//! A job that the scan has read, and the further reads that it requires.

use crate::model::verdict::ItemKind;

/// A job that the scan has read. It keeps only the values that the scan compares with other keys.
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
    /// The recurring job that put this job, and the number of this job among the jobs that it put.
    pub child: Option<(Vec<u8>, f64)>,
    /// Whether the core has to verify this job.
    pub is_candidate: bool,
    /// Whether the server takes long to verify this job.
    pub large: bool,
    pub extra_reads: Vec<ExtraRead>,
    /// Lanes and sets of throttles that should have the job.
    pub coordination: Vec<(ItemKind, Vec<u8>)>,
    /// The number of throttles that may still hold this job in state `throttled`: a throttle found without the job no
    /// longer counts. At 0, the job is a candidate.
    pub missing_in: usize,
}

impl ScannedJob {
    /// Requests a read of the job's entry in a lane or in a set of a throttle, which should have the job.
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
