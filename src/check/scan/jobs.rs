//! Jobs: what their fields say, and which entries they strike off.

use crate::core::api::read::{Read, ReadReply};
use crate::core::script::keys::Companion;
use crate::error::{Error, Kind as Fault};
use crate::model::verdict::{ItemKind, Location};
use crate::name::Name;

use super::set::{class, instant};
use super::unmatched::{Match, Side};
use super::{Known, MAX_CLOCK_DRIFT, Scanner, validate};

/// What is asked of a job.
pub(super) const FIELDS: [&str; 16] = [
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
];

/// A hash of more fields is asked for these by name.
const MAX_FIELDS: usize = 40;

/// The most jobs that are read together: half a millisecond of the server.
const MAX_JOBS: usize = 128;

/// So many bytes of jobs are wanted in one round trip.
const TARGET_BYTES: u64 = 1 << 20;

/// So many history entries are looked at.
const MAX_ENTRIES: usize = 1000;

/// A job of more bytes is judged alone.
const LARGE_JOB: usize = 20_000;

/// So many bytes of a history are judged.
const MAX_HISTORY_BYTES: usize = 1_000_000;

/// Locks that end later than this are absurd, in seconds.
const MAX_LOCK: f64 = 8_640_000.0;

/// What differs by no more is equal, in seconds.
const TOLERANCE: f64 = 0.001;

/// A job of which more has to be read.
#[derive(Debug, Default)]
struct Job {
    jid: Vec<u8>,
    queue: Vec<u8>,
    state: Vec<u8>,
    worker: Vec<u8>,
    priority: f64,
    expires: f64,
    /// The template that spawned it, and its number there.
    child: Option<(Vec<u8>, f64)>,
    /// Whether it is to be judged.
    is_candidate: bool,
    /// Whether that takes the server long.
    large: bool,
    extra_reads: Vec<ExtraRead>,
}

/// What more has to be read.
#[derive(Clone, Copy, Debug)]
enum ExtraRead {
    /// Its score among the waiting jobs.
    WorkScore,
    /// Its lock, in the grace period.
    LockScore,
    /// Its score in the list of a worker that may have lost it.
    WorkerScore,
    /// Whether it has dependencies.
    HasDependencies,
    /// The count of its template.
    TemplateCount,
}

impl Scanner<'_> {
    pub(super) fn scan_jobs(&mut self, jids: &[Vec<u8>]) -> Result<(), Error> {
        let (mut rest, mut open) = (jids, Vec::new());
        while !rest.is_empty() {
            let (jids, others) = rest.split_at(self.jobs_per_read().min(rest.len()));
            rest = others;
            let mut replies = self.read_jobs(jids)?.into_iter();
            for jid in jids {
                let (Some(fields), Some(history)) = (replies.next(), replies.next()) else {
                    return Err(Error::internal("a read without outcome"));
                };
                let fields = self.select_fields(jid, fields)?;
                let job = self.examine_job(jid, fields, &history)?;
                match job {
                    Some(job) if !job.extra_reads.is_empty() => open.push(job),
                    Some(job) => self.add_job(&job)?,
                    None => {}
                }
            }
        }
        self.read_more(open)
    }

    /// Reads hash and history of each.
    fn read_jobs(&mut self, jids: &[Vec<u8>]) -> Result<Vec<ReadReply>, Error> {
        let asks = |scanner: &Self| {
            let mut asks = Vec::with_capacity(jids.len() * 2);
            for jid in jids {
                let job = scanner.keys.job(jid);
                asks.push(match scanner.by_name {
                    true => Read::fields(&job, &scanner.job_fields),
                    false => Read::some(&job, MAX_FIELDS),
                });
                let history = scanner.keys.companion(Companion::History, jid);
                asks.push(match scanner.first_pass {
                    true => Read::range(&history, 0, MAX_ENTRIES as i64 - 1),
                    false => Read::length(&history),
                });
            }
            asks
        };
        match self.read_all(asks(self)) {
            // It is one right more than the core needs.
            Err(error) if error.kind() == Fault::NoPerm && !self.by_name => {
                self.by_name = true;
                self.read_all(asks(self))
            }
            replies => replies,
        }
    }

    /// Returns the fields that matter, in their order.
    fn select_fields(&mut self, jid: &[u8], replies: ReadReply) -> Result<ReadReply, Error> {
        let pairs = match replies {
            ReadReply::Texts(pairs) if !self.by_name => pairs,
            replies => return Ok(replies),
        };
        if pairs.len() >= 2 * MAX_FIELDS {
            let ask = Read::fields(&self.keys.job(jid), &self.job_fields);
            return self.core.read(self.now, ask);
        }
        let mut fields = vec![None; FIELDS.len()];
        let mut pairs = pairs.into_iter();
        while let (Some(name), Some(value)) = (pairs.next(), pairs.next()) {
            let name = name.unwrap_or_default();
            let at = FIELDS.iter().position(|field| field.as_bytes() == name);
            if let Some(field) = at.and_then(|at| fields.get_mut(at)) {
                *field = value;
            }
        }
        Ok(ReadReply::Texts(fields))
    }

    /// Returns how many jobs are read together: fewer where they are large.
    fn jobs_per_read(&self) -> usize {
        let (bytes, jobs) = self.weight;
        match jobs {
            0 => 8,
            jobs => (TARGET_BYTES / (bytes / jobs).max(1)).clamp(2, MAX_JOBS as u64) as usize,
        }
    }

    fn add_job(&mut self, job: &Job) -> Result<(), Error> {
        match job.is_candidate {
            true if job.large && self.in_scope(&job.queue) => {
                let location = Location::new(ItemKind::Job, "");
                let jid = Name::from(job.jid.as_slice());
                self.sink.large_candidate(self.core, &location, jid)
            }
            true => self.add_candidate(ItemKind::Job, b"", &job.jid),
            false => Ok(()),
        }
    }

    /// Looks at a job. `None` if it is none, or none of those that are looked at.
    fn examine_job(
        &mut self,
        jid: &[u8],
        fields: ReadReply,
        history: &ReadReply,
    ) -> Result<Option<Job>, Error> {
        let ReadReply::Texts(fields) = fields else {
            let key = self.keys.job(jid);
            self.add_key(&key)?;
            return Ok(None);
        };
        let text = |at: usize| fields.get(at).and_then(|field| field.as_deref());
        let number = |at: usize| text(at).and_then(validate::number);
        let size: usize = fields.iter().flatten().map(Vec::len).sum();
        let size = self.note_weight(size, history);
        if self.has_tracked {
            self.match_entry(ItemKind::Tracked, b"", jid, 0)?;
        }
        let mut job = Job {
            jid: jid.to_vec(),
            is_candidate: !self.match_history(jid, history)?,
            large: size > LARGE_JOB,
            ..Job::default()
        };
        if let Some(template) = text(13) {
            self.check_template(&mut job, template);
        }
        let known: [&[u8]; 7] = [
            b"waiting",
            b"stalled",
            b"running",
            b"scheduled",
            b"depends",
            b"failed",
            b"complete",
        ];
        let state = text(1).filter(|state| known.contains(state));
        let (Some(queue), Some(state), true) = (text(2), state, text(0) == Some(jid)) else {
            // It can't be replies where it belongs.
            job.is_candidate = self.first_pass;
            return Ok(Some(job));
        };
        job.queue = queue.to_vec();
        job.state = state.to_vec();
        job.worker = text(8).unwrap_or_default().to_vec();
        let (remaining, retries) = (number(7), number(6));
        let time = number(10);
        job.is_candidate |= (3..=10).any(|at| text(at).is_none());
        job.is_candidate |= self.first_pass && !text(14).is_some_and(validate::json);
        job.is_candidate |= !text(7).is_some_and(validate::integer);
        job.is_candidate |= match (remaining, retries) {
            (Some(left), Some(all)) => left > all || left < 0.0 && state != b"failed",
            _ => true,
        };
        job.is_candidate |= time.is_none_or(|time| time > self.now() + MAX_CLOCK_DRIFT);
        job.is_candidate |= text(11).is_some() && state != b"running";
        job.is_candidate |= text(12).is_some() && state != b"depends";
        match number(4) {
            Some(priority) => job.priority = priority,
            None => job.is_candidate = true,
        }
        if state == b"running" {
            match number(9) {
                Some(expires) if expires <= self.now() + MAX_LOCK => job.expires = expires,
                _ => job.is_candidate = true,
            }
        }
        let tags = text(5).and_then(validate::tags);
        job.is_candidate |= tags.is_none();
        if !self.first_pass {
            // All that was replies. What is not there to be struck belongs to this part.
            job.is_candidate = false;
        }
        for tag in tags.unwrap_or_default() {
            job.is_candidate |= !self.match_entry(ItemKind::Tag, &tag, jid, 0)?;
        }
        if state == b"failed" {
            self.match_failure_list(&mut job, text(15))?;
        }
        self.match_location(&mut job, text(11).is_some())?;
        if state != b"complete" && self.first_pass {
            self.check_queue_listed(&mut job)?;
        }
        Ok(Some(job))
    }

    /// Returns how large a job is.
    fn note_weight(&mut self, fields: usize, history: &ReadReply) -> usize {
        let entries = match history {
            ReadReply::Texts(list) => list.iter().flatten().map(|entry| entry.len() + 32).sum(),
            _ => 0,
        };
        // The newest tell more than the oldest.
        if self.weight.1 > 1000 {
            self.weight.0 /= 2;
            self.weight.1 /= 2;
        }
        self.weight.0 += (fields + entries + 500) as u64;
        self.weight.1 += 1;
        fields + entries
    }

    /// Pairs a history with its job. Returns whether it surely is as it should be.
    fn match_history(&mut self, jid: &[u8], history: &ReadReply) -> Result<bool, Error> {
        let (there, right) = match history {
            ReadReply::Texts(list) => {
                let size: usize = list.iter().flatten().map(Vec::len).sum();
                let right = list.len() < MAX_ENTRIES
                    && size <= MAX_HISTORY_BYTES
                    && list.iter().flatten().all(|entry| validate::entry(entry));
                (!list.is_empty(), right)
            }
            ReadReply::Number(length) => (*length > 0, true),
            _ => (true, false),
        };
        if there {
            let hash = self.hash_history(jid);
            self.unmatched.match_pair(hash, Side::Lower);
        }
        if matches!(history, ReadReply::Wrong) {
            let key = self.keys.companion(Companion::History, jid);
            self.add_key(&key)?;
        }
        Ok(right)
    }

    /// Strikes off where a job should be.
    fn match_location(&mut self, job: &mut Job, grace: bool) -> Result<(), Error> {
        let (jid, queue) = (job.jid.clone(), job.queue.clone());
        let whole = job.priority.fract() == 0.0;
        let there = match job.state.as_slice() {
            b"waiting" | b"stalled" if !whole => {
                job.extra_reads.push(ExtraRead::WorkScore);
                true
            }
            b"waiting" => {
                self.match_entry(ItemKind::Work, &queue, &jid, class(job.priority))?
                    || self.match_or_scan(ItemKind::Scheduled, &queue, &jid, 0)? == Match::Matched
            }
            b"stalled" => {
                self.match_entry(ItemKind::Work, &queue, &jid, class(f64::INFINITY))?
                    || self.match_or_scan(ItemKind::Work, &queue, &jid, class(job.priority))?
                        == Match::Matched
            }
            b"scheduled" => self.match_entry(ItemKind::Scheduled, &queue, &jid, 0)?,
            b"depends" => {
                if self.first_pass {
                    job.extra_reads.push(ExtraRead::HasDependencies);
                }
                self.match_entry(ItemKind::Depends, &queue, &jid, 0)?
            }
            b"running" if grace => {
                job.extra_reads.push(ExtraRead::LockScore);
                true
            }
            b"running" => self.match_entry(ItemKind::Locks, &queue, &jid, instant(job.expires))?,
            b"failed" => true,
            _ => queue.is_empty() && self.match_entry(ItemKind::Completed, b"", &jid, 0)?,
        };
        job.is_candidate |= !there;
        if job.worker.is_empty() {
            return Ok(());
        }
        let worker = job.worker.clone();
        match job.state.as_slice() {
            b"stalled" => job.extra_reads.push(ExtraRead::WorkerScore),
            b"running" if grace => job.extra_reads.push(ExtraRead::WorkerScore),
            b"running" => {
                let number = instant(job.expires);
                job.is_candidate |= !self.match_entry(ItemKind::Worker, &worker, &jid, number)?;
            }
            _ => {}
        }
        // That nobody knows its worker is replies once.
        if self.first_pass && job.state == b"running" && !self.is_known(Known::Worker, &worker) {
            let replies = super::index::key(ItemKind::Worker, &worker);
            job.is_candidate |= self.remember(Known::Reported, &replies);
        }
        Ok(())
    }

    /// Strikes off the list of its failures.
    fn match_failure_list(&mut self, job: &mut Job, failure: Option<&[u8]>) -> Result<(), Error> {
        let Some(failure) = failure.and_then(validate::failure) else {
            job.is_candidate |= self.first_pass;
            return Ok(());
        };
        if self.first_pass && self.covers_all() {
            self.tally.count(failure.when, &job.queue, &job.jid);
        }
        job.is_candidate |= !self.match_entry(ItemKind::Group, &failure.group, &job.jid, 0)?;
        Ok(())
    }

    /// Whether the queue is listed; replies once.
    fn check_queue_listed(&mut self, job: &mut Job) -> Result<(), Error> {
        let queue = job.queue.clone();
        if !self.is_known(Known::Queue, &queue)
            && self.remember(Known::Reported, &super::index::key(ItemKind::Work, &queue))
        {
            job.is_candidate = true;
        }
        Ok(())
    }

    /// Whether its template has counted it.
    fn check_template(&mut self, job: &mut Job, template: &[u8]) {
        let rest = job.jid.strip_prefix(template);
        let Some(number) = rest.and_then(|rest| rest.strip_prefix(b"-")) else {
            return;
        };
        let Some(number) = validate::number(number) else {
            return;
        };
        let counted = self.template_counts.get(template);
        if !counted.is_some_and(|count| count.is_some_and(|count| number <= count)) {
            job.child = Some((template.to_vec(), number));
            job.extra_reads.push(ExtraRead::TemplateCount);
        }
    }

    /// Reads what else is needed to judge jobs.
    fn read_more(&mut self, mut jobs: Vec<Job>) -> Result<(), Error> {
        let asks = jobs.iter().flat_map(|job| {
            let ask = |extra: &ExtraRead| self.extra_read(job, *extra);
            job.extra_reads.iter().map(ask)
        });
        let asks: Vec<Read> = asks.collect();
        let mut replies = self.read_all(asks)?.into_iter();
        for job in &mut jobs {
            for extra in std::mem::take(&mut job.extra_reads) {
                let replies = replies.next().unwrap_or(ReadReply::Wrong);
                self.apply_reply(job, extra, replies)?;
            }
            self.add_job(job)?;
        }
        Ok(())
    }

    fn extra_read(&self, job: &Job, extra: ExtraRead) -> Read {
        use crate::core::script::keys::Part;
        match extra {
            ExtraRead::WorkScore => Read::score(&self.keys.queue(Part::Work, &job.queue), &job.jid),
            ExtraRead::LockScore => {
                Read::score(&self.keys.queue(Part::Locks, &job.queue), &job.jid)
            }
            ExtraRead::WorkerScore => Read::score(&self.keys.worker(&job.worker), &job.jid),
            ExtraRead::HasDependencies => {
                Read::exists(&self.keys.companion(Companion::Dependencies, &job.jid))
            }
            ExtraRead::TemplateCount => {
                let template = job.child.as_ref().map(|(template, _)| template.as_slice());
                Read::field(&self.keys.recurring(template.unwrap_or_default()), "count")
            }
        }
    }

    fn apply_reply(
        &mut self,
        job: &mut Job,
        extra: ExtraRead,
        replies: ReadReply,
    ) -> Result<(), Error> {
        let text = match replies {
            ReadReply::Text(text) => text,
            ReadReply::Number(0) => {
                self.defer(ItemKind::Job, b"", &job.jid);
                return Ok(());
            }
            ReadReply::Number(_) => return Ok(()),
            _ => {
                job.is_candidate |= self.first_pass;
                return Ok(());
            }
        };
        let score = text.as_deref().and_then(validate::score);
        match extra {
            ExtraRead::HasDependencies => {}
            ExtraRead::WorkScore => match score {
                Some(score) => {
                    job.is_candidate |= self.first_pass && !fits(job, score);
                    job.is_candidate |=
                        !self.match_entry(ItemKind::Work, &job.queue, &job.jid, class(score))?;
                }
                None => {
                    let due = job.state == b"waiting"
                        && self.match_entry(ItemKind::Scheduled, &job.queue, &job.jid, 0)?;
                    job.is_candidate |= !due;
                }
            },
            ExtraRead::LockScore => match score {
                Some(lock) => {
                    let far = self.now() + MAX_LOCK;
                    job.is_candidate |=
                        self.first_pass && (lock <= job.expires + TOLERANCE || lock > far);
                    job.is_candidate |=
                        !self.match_entry(ItemKind::Locks, &job.queue, &job.jid, instant(lock))?;
                }
                None => job.is_candidate |= self.first_pass,
            },
            ExtraRead::WorkerScore => {
                // It may have lost it, or not.
                if let Some(score) = score {
                    self.match_entry(ItemKind::Worker, &job.worker, &job.jid, instant(score))?;
                }
            }
            ExtraRead::TemplateCount => self.check_template_count(job, text.as_deref())?,
        }
        Ok(())
    }

    fn check_template_count(&mut self, job: &mut Job, stored: Option<&[u8]>) -> Result<(), Error> {
        let Some((template, number)) = job.child.take() else {
            return Ok(());
        };
        if self.template_counts.len() >= 10_000 {
            self.template_counts.clear();
        }
        let count = stored.and_then(validate::number);
        if stored.is_some() && count.is_none_or(|count| number > count) {
            job.is_candidate |= self.first_pass;
            if self.first_pass {
                self.add_candidate(ItemKind::Recurring, b"", &template)?;
            }
        }
        self.template_counts.insert(template, count);
        Ok(())
    }
}

/// Whether a location among those that wait is one for the priority.
fn fits(job: &Job, score: f64) -> bool {
    if score == f64::INFINITY {
        return job.state == b"stalled";
    }
    score > job.priority - 1.0 && score <= job.priority
}
