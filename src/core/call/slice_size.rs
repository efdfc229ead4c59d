//! How many jobs one call reads.

/// About how many bytes of jobs one call returns.
const SLICE_BYTES: usize = 4 << 20;

/// The number of jobs that the next call reads, adapted to the size of the jobs that were read last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliceSize {
    pub jobs: usize,
    max: usize,
}

impl SliceSize {
    pub(crate) const fn new(initial: usize, max: usize) -> SliceSize {
        SliceSize { jobs: initial, max }
    }

    /// Sets the number of jobs by the average size of the last ones: `bytes` for `jobs`.
    pub(crate) fn adapt_to_replies(&mut self, jobs: usize, bytes: usize) {
        let each = bytes / jobs.max(1);
        self.jobs = (SLICE_BYTES / each.max(1)).clamp(1, self.max);
    }

    /// Sets the number of jobs to half of `jobs`, for which the reply was too large.
    pub(crate) fn set_to_half_of(&mut self, jobs: usize) {
        self.jobs = (jobs / 2).max(1);
    }
}
