//! How many jobs one call reads.

/// The size in bytes that the reply to one call about many jobs should have.
const SLICE_BYTES: usize = 4 << 20;

/// The number of jobs that the next call reads. It adapts to the size of the jobs in the last reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobsPerReply {
    pub jobs: usize,
    max: usize,
}

impl JobsPerReply {
    pub(crate) const fn new(initial: usize, max: usize) -> JobsPerReply {
        JobsPerReply { jobs: initial, max }
    }

    /// Sets the number of jobs for the next call by the average size of a job in the last reply, which had `bytes` for
    /// `jobs`.
    pub(crate) fn adapt_to_replies(&mut self, jobs: usize, bytes: usize) {
        let each = bytes / jobs.max(1);
        self.jobs = (SLICE_BYTES / each.max(1)).clamp(1, self.max);
    }

    /// Sets the number of jobs for the next call to half of `jobs`, after a reply about `jobs` was too large.
    pub(crate) fn set_to_half_of(&mut self, jobs: usize) {
        self.jobs = (jobs / 2).max(1);
    }
}
