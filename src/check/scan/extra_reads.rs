//! A job that the scan has read, and the reads of further keys about it, besides its hash and its history. Its fields
//! may require them: its scores in sets, its lock, its lane, its throttles, or the count of its template.

use crate::core::api::read::{ReadCommand, ReadReply};
use crate::core::script::keys::JobCompanionKey;
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::set::{priority_bucket, time_bucket};
use super::unmatched::IndexEntryOrPairSide;
use super::{MAX_LOCK, Replies, Scanner, validate};

/// Two times count as equal if they differ by up to this number of seconds.
const TOLERANCE: f64 = 0.001;

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
    /// Whether the core has to verify this job.
    pub is_candidate: bool,
    /// Whether the server takes long to verify this job.
    pub large: bool,
    pub extra_reads: Vec<ExtraRead>,
    /// The number of throttles that may still hold this job in state `throttled`: a throttle found without the job no
    /// longer counts. At 0, the job is a candidate.
    pub missing_in: usize,
}

/// A further read that a job requires.
#[derive(Debug)]
pub(super) enum ExtraRead {
    /// The job's score among the waiting jobs.
    WorkScore,
    /// The job's lock, in the grace period.
    LockScore,
    /// The job's score in the list of a worker that may have lost the job.
    WorkerScore,
    HasDependencies,
    /// The number of jobs that this recurring job has put. The job is the one with the second number among them.
    TemplateCount(Vec<u8>, f64),
    /// The job's entry in a lane or in a set of a throttle, which should have the job.
    EntryIn(ItemKind, Vec<u8>),
}

impl Scanner<'_> {
    /// The reads of the other keys of jobs, one for each [`ExtraRead`] of each job.
    pub(super) fn extra_reads_of_jobs(&self, jobs: &[ScannedJob]) -> Vec<ReadCommand> {
        let reads = jobs.iter().flat_map(|job| {
            let read = |extra| self.extra_read(job, extra);
            job.extra_reads.iter().map(read)
        });
        reads.collect()
    }

    /// Examines jobs with the replies to [`Scanner::extra_reads_of_jobs`].
    pub(super) fn examine_jobs_with_extra_reads(
        &mut self,
        jobs: Vec<ScannedJob>,
        mut replies: Replies,
    ) -> Result<(), Error> {
        for mut job in jobs {
            for extra in std::mem::take(&mut job.extra_reads) {
                let reply = replies.next().unwrap_or(ReadReply::WrongType);
                self.apply_extra_reply(&mut job, extra, reply)?;
            }
            self.add_job_if_candidate(&job)?;
        }
        Ok(())
    }

    fn extra_read(&self, job: &ScannedJob, extra: &ExtraRead) -> ReadCommand {
        let (kind, name) = match extra {
            ExtraRead::WorkScore => (ItemKind::Work, &job.queue),
            ExtraRead::LockScore => (ItemKind::Locks, &job.queue),
            ExtraRead::WorkerScore => (ItemKind::Worker, &job.worker),
            ExtraRead::EntryIn(kind, name) => (*kind, name),
            ExtraRead::HasDependencies => {
                let which = JobCompanionKey::Dependencies;
                return ReadCommand::key_exists(&self.keys.companion_key(which, &job.jid));
            }
            ExtraRead::TemplateCount(template, _) => {
                return ReadCommand::hash_field(&self.keys.recurring_key(template), "count");
            }
        };
        ReadCommand::member_score(&self.index_key(kind, name), &job.jid)
    }

    fn apply_extra_reply(
        &mut self,
        job: &mut ScannedJob,
        extra: ExtraRead,
        reply: ReadReply,
    ) -> Result<(), Error> {
        let text = match reply {
            ReadReply::Text(text) => text,
            ReadReply::Number(0) => {
                self.defer_job_without_dependencies(&job.jid);
                return Ok(());
            }
            ReadReply::Number(_) => return Ok(()),
            _ => {
                job.is_candidate |= self.first_pass;
                return Ok(());
            }
        };
        let score = text.as_deref().and_then(validate::parse_score);
        match extra {
            ExtraRead::HasDependencies => {}
            ExtraRead::WorkScore => match score {
                Some(score) => {
                    job.is_candidate |= self.first_pass && !score_fits_priority(job, score);
                    job.is_candidate |= !self.match_entry_expected_in_index(
                        ItemKind::Work,
                        &job.queue,
                        &job.jid,
                        priority_bucket(score),
                    )?;
                }
                None => {
                    let due = job.state == b"waiting"
                        && self.match_entry_expected_in_index(
                            ItemKind::Scheduled,
                            &job.queue,
                            &job.jid,
                            0,
                        )?;
                    job.is_candidate |= !due;
                }
            },
            ExtraRead::LockScore => match score {
                Some(lock) => {
                    let far = self.now_in_seconds() + MAX_LOCK;
                    job.is_candidate |=
                        self.first_pass && (lock <= job.expires + TOLERANCE || lock > far);
                    job.is_candidate |= !self.match_entry_expected_in_index(
                        ItemKind::Locks,
                        &job.queue,
                        &job.jid,
                        time_bucket(lock),
                    )?;
                }
                None => job.is_candidate |= self.first_pass,
            },
            ExtraRead::WorkerScore => {
                // The worker may have lost this job. Then its list need not have the job, so a missing entry does not
                // make the job a candidate.
                if let Some(score) = score {
                    self.match_entry_expected_in_index(
                        ItemKind::Worker,
                        &job.worker,
                        &job.jid,
                        time_bucket(score),
                    )?;
                }
            }
            ExtraRead::EntryIn(kind, name) => {
                self.match_lane_or_throttle_entry(job, kind, &name, score.is_some())
            }
            ExtraRead::TemplateCount(template, number) => {
                self.check_template_count(job, template, number, text.as_deref())?
            }
        }
        Ok(())
    }

    /// Matches the entry of a job in a lane or in a set of a throttle. A job without an entry that it should have
    /// becomes a candidate. Of the throttles that may hold a job, one entry is enough.
    fn match_lane_or_throttle_entry(
        &mut self,
        job: &mut ScannedJob,
        kind: ItemKind,
        name: &[u8],
        exists: bool,
    ) {
        if exists {
            let hash = self.hash_entry(kind, name, &job.jid, 0);
            self.unmatched
                .match_other_side_or_add(hash, IndexEntryOrPairSide::Lower);
        }
        if kind == ItemKind::Pending {
            job.missing_in -= usize::from(!exists);
            job.is_candidate |= self.first_pass && job.missing_in == 0 && !exists;
        } else {
            job.is_candidate |= self.first_pass && !exists;
        }
    }

    fn check_template_count(
        &mut self,
        job: &mut ScannedJob,
        template: Vec<u8>,
        number: f64,
        stored: Option<&[u8]>,
    ) -> Result<(), Error> {
        if self.template_counts.len() >= 10_000 {
            self.template_counts.clear();
        }
        let count = stored.and_then(validate::parse_finite_decimal);
        if stored.is_some() && count.is_none_or(|count| number > count) {
            job.is_candidate |= self.first_pass;
            self.add_candidate_if_first_pass(ItemKind::Recurring, &template)?;
        }
        self.template_counts.insert(template, count);
        Ok(())
    }
}

fn score_fits_priority(job: &ScannedJob, score: f64) -> bool {
    if score == f64::INFINITY {
        return job.state == b"stalled";
    }
    score > job.priority - 1.0 && score <= job.priority
}
