//! Examines each job: its fields, its history, and the entries that the indexes should have of it.

use crate::core::api::read::{ReadCommand, ReadReply};
use crate::core::script::keys::JobCompanionKey;
use crate::error::Error;
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

use super::extra_reads::{ExtraRead, ScannedJob};
use super::index::remembered_key;
use super::set::{priority_bucket, time_bucket, whole_second_bucket};
use super::unmatched::{HashedNameKind, IndexEntryOrPairSide};
use super::{MAX_CLOCK_DRIFT, MAX_LOCK, Replies, Scanner, validate};

/// The fields read of a job.
pub(super) const FIELDS: [&str; 21] = [
    "jid",
    "state",
    "queue",
    "klass",
    "priority",
    "tags",
    "retries",
    "remaining",
    "worker",
    "expires",
    "time",
    "grace",
    "scheduled",
    "spawned_from_jid",
    "data",
    "failure",
    "history",
    "key",
    "throttles",
    "dup",
    "hold",
];

/// Maximum number of jobs in one round trip. The server takes about a millisecond for them, and serves other clients
/// before the next round trip.
const MAX_JOBS: usize = 256;

/// Target size of the jobs read in one round trip.
const TARGET_BYTES: u64 = 1 << 19;

/// Maximum number of history entries read.
const MAX_ENTRIES: usize = 1000;

/// The core verifies a job of more bytes than this in a call of its own.
const LARGE_JOB: usize = 20_000;

/// Maximum size of a history that the client checks itself. The core verifies longer ones.
const MAX_HISTORY_BYTES: usize = 1_000_000;

// `HOMES`: which set of its queue should hold a job of each state. The core verifies jobs by the same table,
// `lua/check/judge/homes.lua`.
include!(concat!(env!("OUT_DIR"), "/homes.rs"));

impl Scanner<'_> {
    /// Examines jobs with the replies to [`Scanner::job_and_history_reads`].
    pub(super) fn examine_jobs(
        &mut self,
        jids: &[Vec<u8>],
        mut replies: Replies,
    ) -> Result<(), Error> {
        for jid in jids {
            let (Some(fields), Some(history)) = (replies.next(), replies.next()) else {
                return Err(Error::internal("a read without outcome"));
            };
            let job = self.examine_job(jid, fields, &history)?;
            match job {
                Some(job) if !job.extra_reads.is_empty() => self.pipeline.open_jobs.push(job),
                Some(job) => self.add_job_if_candidate(&job)?,
                None => {}
            }
        }
        Ok(())
    }

    /// Two reads for each job: its hash and its history. Later passes read only the length of the history.
    pub(super) fn job_and_history_reads(&self, jids: &[Vec<u8>]) -> Vec<ReadCommand> {
        let mut reads = Vec::with_capacity(jids.len() * 2);
        for jid in jids {
            let job = self.keys.job_key(jid);
            reads.push(if self.reads_whole {
                ReadCommand::fields_of_whole_hash(&job, &self.job_fields)
            } else {
                ReadCommand::hash_fields(&job, &self.job_fields)
            });
            let history = self.keys.companion_key(JobCompanionKey::History, jid);
            reads.push(if self.first_pass {
                ReadCommand::list_range(&history, 0, MAX_ENTRIES as i64 - 1)
            } else {
                ReadCommand::list_length(&history)
            });
        }
        reads
    }

    /// The number of jobs to read in one round trip: fewer if the jobs read so far were large.
    pub(super) fn jobs_per_read(&self) -> usize {
        let (bytes, jobs) = self.bytes_and_jobs;
        match jobs {
            0 => 8,
            jobs => (TARGET_BYTES / (bytes / jobs).max(1)).clamp(2, MAX_JOBS as u64) as usize,
        }
    }

    pub(super) fn add_job_if_candidate(&mut self, job: &ScannedJob) -> Result<(), Error> {
        if !job.is_candidate {
            Ok(())
        } else if job.large && self.is_in_scope(&job.queue) {
            let location = ItemLocation::new(ItemKind::Job, "");
            let jid = Name::from(job.jid.as_slice());
            self.sink
                .take_candidate_for_own_call(self.core, &location, jid)
        } else {
            self.add_job_candidate(&job.jid)
        }
    }

    /// Matches a job with its index entries, decides whether it is a candidate, and requests further reads about it.
    /// `None` if its key is not a hash.
    fn examine_job(
        &mut self,
        jid: &[u8],
        fields: ReadReply,
        history: &ReadReply,
    ) -> Result<Option<ScannedJob>, Error> {
        let fields = match fields {
            ReadReply::Large => {
                let read = ReadCommand::hash_fields(&self.keys.job_key(jid), &self.job_fields);
                self.core.run_read(self.now, read)?
            }
            fields => fields,
        };
        let ReadReply::Texts(fields) = fields else {
            let key = self.keys.job_key(jid);
            self.add_key_and_its_job_in_first_pass(&key)?;
            return Ok(None);
        };
        let text = |at: usize| fields.get(at).and_then(|field| field.as_deref());
        let number = |at: usize| text(at).and_then(validate::parse_finite_decimal);
        let size: usize = fields.iter().flatten().map(Vec::len).sum();
        let size = self.job_size_added_to_mean(size, history);
        if self.has_tracked {
            self.match_entry_expected_in_index(ItemKind::Tracked, b"", jid, 0)?;
        }
        let mut job = ScannedJob {
            jid: jid.to_vec(),
            is_candidate: !self.match_history_key_and_validate(jid, history)?,
            large: size > LARGE_JOB,
            ..ScannedJob::default()
        };
        if let Some(template) = text(13) {
            self.request_template_count_unless_known(&mut job, template);
        }
        let home = text(1).and_then(set_of_state_if_known);
        let (Some(queue), Some(state), Some(home), true) =
            (text(2), text(1), home, text(0) == Some(jid))
        else {
            // Without these fields, the scan does not know which sets should have the job: leave the job to the core.
            job.is_candidate = self.first_pass;
            return Ok(Some(job));
        };
        job.queue = queue.to_vec();
        job.state = state.to_vec();
        job.home = home;
        job.worker = text(8).unwrap_or_default().to_vec();
        let (remaining, retries) = (number(7), number(6));
        let time = number(10);
        job.is_candidate |= (3..=10).any(|at| text(at).is_none());
        job.is_candidate |= self.first_pass && !text(14).is_some_and(validate::is_portable_json);
        job.is_candidate |= !text(7).is_some_and(validate::is_integer);
        job.is_candidate |= match (remaining, retries) {
            (Some(remaining), Some(retries)) => {
                remaining > retries || remaining < 0.0 && state != b"failed"
            }
            _ => true,
        };
        job.is_candidate |= time.is_none_or(|time| time > self.now_in_seconds() + MAX_CLOCK_DRIFT);
        job.is_candidate |= text(11).is_some() && state != b"running";
        job.is_candidate |= text(12).is_some() && state != b"depends";
        job.is_candidate |=
            text(12).is_some() && !number(12).is_some_and(|due| self.now.score_can_become_due(due));
        job.is_candidate |= text(16).is_some();
        match number(4) {
            Some(priority) => job.priority = priority,
            None => job.is_candidate = true,
        }
        if state == b"running" {
            match number(9) {
                Some(expires) if expires <= self.now_in_seconds() + MAX_LOCK => {
                    job.expires = expires
                }
                _ => job.is_candidate = true,
            }
        }
        let tags = text(5).and_then(validate::parse_and_deduplicate_utf8_texts);
        job.is_candidate |= tags.is_none();
        if !self.first_pass {
            // The first pass has added all candidates with wrong fields. Later passes add only jobs whose index
            // entries are missing.
            job.is_candidate = false;
        }
        for tag in tags.unwrap_or_default() {
            job.is_candidate |= !self.match_entry_expected_in_index(ItemKind::Tag, &tag, jid, 0)?;
        }
        if state == b"failed" {
            self.match_failure_entries_and_tally(&mut job, text(15))?;
        }
        self.match_state_set_and_worker_list(&mut job, text(11).is_some())?;
        self.expect_lane_and_throttles(&mut job, [17, 18, 19, 20].map(text));
        // The first job of a queue that is not listed is a candidate.
        if state != b"complete"
            && self.first_pass
            && !self.is_remembered(HashedNameKind::Queue, queue)
        {
            let remembered = remembered_key(ItemKind::Work, queue);
            job.is_candidate |= self.remember_name(HashedNameKind::Reported, &remembered);
        }
        Ok(Some(job))
    }

    /// Adds a job to the mean size of jobs, and returns the job's own size in bytes.
    fn job_size_added_to_mean(&mut self, field_bytes: usize, history: &ReadReply) -> usize {
        let history_bytes = match history {
            ReadReply::Texts(list) => list.iter().flatten().map(|entry| entry.len() + 32).sum(),
            _ => 0,
        };
        // Halve the weight of older jobs, because recent jobs predict the size of the next ones better.
        if self.bytes_and_jobs.1 > 1000 {
            self.bytes_and_jobs.0 /= 2;
            self.bytes_and_jobs.1 /= 2;
        }
        self.bytes_and_jobs.0 += (field_bytes + history_bytes + 500) as u64;
        self.bytes_and_jobs.1 += 1;
        field_bytes + history_bytes
    }

    /// Matches the key of a history with its job. Returns false if the history is too long to check here, or if an
    /// entry is unreadable.
    fn match_history_key_and_validate(
        &mut self,
        jid: &[u8],
        history: &ReadReply,
    ) -> Result<bool, Error> {
        let (there, right) = match history {
            ReadReply::Texts(list) => {
                let size: usize = list.iter().flatten().map(Vec::len).sum();
                let right = list.len() < MAX_ENTRIES
                    && size <= MAX_HISTORY_BYTES
                    && list
                        .iter()
                        .flatten()
                        .all(|entry| validate::is_history_entry(entry));
                (!list.is_empty(), right)
            }
            ReadReply::Number(length) => (*length > 0, true),
            _ => (true, false),
        };
        if there {
            self.match_companion_key(JobCompanionKey::History, jid, IndexEntryOrPairSide::Lower);
        }
        if matches!(history, ReadReply::WrongType) {
            let key = self.keys.companion_key(JobCompanionKey::History, jid);
            self.add_key_and_its_job_in_first_pass(&key)?;
        }
        Ok(right)
    }

    /// Matches the entries of a job in the set that should hold jobs of its state, and in the list of its worker.
    fn match_state_set_and_worker_list(
        &mut self,
        job: &mut ScannedJob,
        in_grace: bool,
    ) -> Result<(), Error> {
        let (jid, queue) = (job.jid.clone(), job.queue.clone());
        let whole = job.priority.fract() == 0.0;
        let priority = priority_bucket(job.priority);
        if job.state == b"depends" && self.first_pass {
            job.extra_reads.push(ExtraRead::HasDependencies);
        }
        let there = match (job.home, job.state.as_slice()) {
            (Some(ItemKind::Work), _) if !whole => {
                job.extra_reads.push(ExtraRead::WorkScore);
                true
            }
            (Some(ItemKind::Work), b"stalled") => {
                let first = priority_bucket(f64::INFINITY);
                self.match_entry_expected_in_index(ItemKind::Work, &queue, &jid, first)?
                    || self.match_entry_of_this_pass(ItemKind::Work, &queue, &jid, priority)?
            }
            (Some(ItemKind::Work), _) => {
                self.match_entry_expected_in_index(ItemKind::Work, &queue, &jid, priority)?
                    || self.match_entry_of_this_pass(ItemKind::Scheduled, &queue, &jid, 0)?
            }
            (Some(ItemKind::Locks), _) if in_grace => {
                job.extra_reads.push(ExtraRead::LockScore);
                true
            }
            (Some(ItemKind::Locks), _) => self.match_entry_expected_in_index(
                ItemKind::Locks,
                &queue,
                &jid,
                time_bucket(job.expires),
            )?,
            (Some(home), _) => self.match_entry_expected_in_index(home, &queue, &jid, 0)?,
            (None, b"failed") => true,
            (None, _) => {
                if self.has_completed_in {
                    self.match_entry_expected_in_index(ItemKind::CompletedIn, b"", &jid, 0)?;
                }
                queue.is_empty()
                    && self.match_entry_expected_in_index(ItemKind::Completed, b"", &jid, 0)?
            }
        };
        job.is_candidate |= !there;
        if job.worker.is_empty() {
            return Ok(());
        }
        let worker = job.worker.clone();
        match job.state.as_slice() {
            b"stalled" => job.extra_reads.push(ExtraRead::WorkerScore),
            b"running" if in_grace => job.extra_reads.push(ExtraRead::WorkerScore),
            b"running" => {
                let bucket = time_bucket(job.expires);
                job.is_candidate |=
                    !self.match_entry_expected_in_index(ItemKind::Worker, &worker, &jid, bucket)?;
            }
            _ => {}
        }
        // If the worker is not listed, only the first of its jobs becomes a candidate for this reason.
        if self.first_pass
            && job.state == b"running"
            && !self.is_remembered(HashedNameKind::Worker, &worker)
        {
            let remembered = remembered_key(ItemKind::Worker, &worker);
            job.is_candidate |= self.remember_name(HashedNameKind::Reported, &remembered);
        }
        Ok(())
    }

    /// Matches the payloads of a merge job, and requests reads of the lane and of the sets of throttles that should
    /// have the job.
    fn expect_lane_and_throttles(
        &mut self,
        job: &mut ScannedJob,
        [lane, throttles, dup, hold]: [Option<&[u8]>; 4],
    ) {
        let live = match job.state.as_slice() {
            b"complete" => false,
            b"failed" => hold == Some(b"1"),
            _ => true,
        };
        if let (Some(lane), true) = (lane, live) {
            let read = ExtraRead::EntryIn(ItemKind::Lane, lane.to_vec());
            job.extra_reads.push(read);
        }
        let is_marked = throttles.is_some() || job.state == b"complete";
        job.is_candidate |= lane.is_some() && !is_marked && self.first_pass;
        if dup == Some(b"merge") && job.state != b"complete" {
            self.match_companion_key(
                JobCompanionKey::Payloads,
                &job.jid,
                IndexEntryOrPairSide::Lower,
            );
            // Only the core can compare the data of a merge job with its payloads.
            job.is_candidate |= self.first_pass;
        }
        let ids = throttles.map(validate::parse_and_deduplicate_utf8_texts);
        job.is_candidate |= self.first_pass && matches!(ids, Some(None));
        let ids = ids.flatten().unwrap_or_default();
        let kind = match job.state.as_slice() {
            b"running" => ItemKind::Slots,
            b"throttled" => {
                // The extra reads will show whether one of these throttles holds the job. Until then, only a job
                // without throttles is a candidate.
                job.is_candidate |= ids.is_empty() && self.first_pass;
                job.missing_in = ids.len();
                ItemKind::Pending
            }
            _ => return,
        };
        let reads = ids.into_iter().map(|id| ExtraRead::EntryIn(kind, id));
        job.extra_reads.extend(reads);
    }

    /// Matches the entries of a failed job in its failure list and among the times of failures. Counts the job for the
    /// counter of its day and queue.
    fn match_failure_entries_and_tally(
        &mut self,
        job: &mut ScannedJob,
        failure: Option<&[u8]>,
    ) -> Result<(), Error> {
        let Some(failure) = failure.and_then(validate::parse_failure) else {
            job.is_candidate |= self.first_pass;
            return self.add_candidate_if_first_pass(ItemKind::Failed, &job.jid);
        };
        if self.has_failed_times {
            self.match_entry_expected_in_index(
                ItemKind::FailedTimes,
                b"",
                &job.jid,
                whole_second_bucket(failure.when),
            )?;
        }
        if self.first_pass && self.covers_all_queues() {
            self.tally
                .count_failed_job(failure.when, &job.queue, &job.jid);
        }
        if self.match_entry_expected_in_index(
            ItemKind::Group,
            failure.group.as_bytes(),
            &job.jid,
            0,
        )? {
            Ok(())
        } else {
            self.add_candidate_if_in_scope(ItemKind::Failed, failure.group.as_bytes(), &job.jid)
        }
    }

    /// Requests a read of the number of jobs that the recurring job has put, unless the scan already knows that this
    /// number includes the job.
    fn request_template_count_unless_known(&mut self, job: &mut ScannedJob, template: &[u8]) {
        let rest = job.jid.strip_prefix(template);
        let Some(number) = rest.and_then(|rest| rest.strip_prefix(b"-")) else {
            return;
        };
        let Some(number) = validate::parse_finite_decimal(number) else {
            return;
        };
        let counted = self.template_counts.get(template);
        if !counted.is_some_and(|count| count.is_some_and(|count| number <= count)) {
            job.extra_reads
                .push(ExtraRead::TemplateCount(template.to_vec(), number));
        }
    }
}

/// The set of a queue that holds jobs of this state. `Some(None)` if no set holds them; `None` if the state is
/// unknown.
fn set_of_state_if_known(state: &[u8]) -> Option<Option<ItemKind>> {
    let known = HOMES.iter().find(|(known, _)| *known == state);
    known.map(|(_, home)| *home)
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;
    use crate::model::job::State;

    #[test]
    fn each_state_is_in_the_table_once_and_those_of_a_queue_have_a_set() {
        assert_eq!(HOMES.len(), State::VARIANTS.len());
        for state in State::VARIANTS {
            let home =
                set_of_state_if_known(state.into_str().as_bytes()).expect("a state has its row");
            assert_eq!(home.is_some(), State::QUEUED.contains(state), "{state:?}");
        }
        assert_eq!(
            set_of_state_if_known(b"running"),
            Some(Some(ItemKind::Locks))
        );
        assert_eq!(set_of_state_if_known(b"lost"), None);
    }
}
