//! Jobs: what their fields say, and which entries they strike off.

use crate::core::api::read::{Read, ReadReply};
use crate::core::script::keys::Companion;
use crate::error::{Error, Kind as Fault};
use crate::model::verdict::{ItemKind, Location};
use crate::name::Name;

use super::marks::{Met, Side};
use super::set::{class, instant};
use super::{AHEAD, Known, Scanner, validate};

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
const SOME: usize = 40;

/// The most jobs that are read together: half a millisecond of the server.
const MOST: usize = 128;

/// So many bytes of jobs are wanted in one round trip.
const BYTES: u64 = 1 << 20;

/// So many history entries are looked at.
const ENTRIES: usize = 1000;

/// A job of more bytes is judged alone.
const LARGE: usize = 20_000;

/// So many bytes of a history are judged.
const LONG: usize = 1_000_000;

/// Locks that end later than this are absurd, in seconds.
const FAR: f64 = 8_640_000.0;

/// What differs by no more is equal, in seconds.
const EQUAL: f64 = 0.001;

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
    odd: bool,
    /// Whether that takes the server long.
    large: bool,
    wants: Vec<Want>,
}

/// What more has to be read.
#[derive(Clone, Copy, Debug)]
enum Want {
    /// Its place among those that wait.
    Work,
    /// Its lock, in grace.
    Lock,
    /// Its entry in the list of a worker that may have lost it.
    Held,
    /// Whether it waits for anything.
    Waits,
    /// How far its template has counted.
    Count,
}

impl Scanner<'_> {
    pub(super) fn jobs(&mut self, jids: &[Vec<u8>]) -> Result<(), Error> {
        let (mut rest, mut open) = (jids, Vec::new());
        while !rest.is_empty() {
            let (jids, others) = rest.split_at(self.together().min(rest.len()));
            rest = others;
            let mut told = self.read_jobs(jids)?.into_iter();
            for jid in jids {
                let (Some(fields), Some(history)) = (told.next(), told.next()) else {
                    return Err(Error::internal("a read without outcome"));
                };
                let fields = self.fields(jid, fields)?;
                let job = self.job(jid, fields, &history)?;
                match job {
                    Some(job) if !job.wants.is_empty() => open.push(job),
                    Some(job) => self.tell(&job)?,
                    None => {}
                }
            }
        }
        self.more(open)
    }

    /// Reads hash and history of each.
    fn read_jobs(&mut self, jids: &[Vec<u8>]) -> Result<Vec<ReadReply>, Error> {
        let asks = |walk: &Self| {
            let mut asks = Vec::with_capacity(jids.len() * 2);
            for jid in jids {
                let job = walk.keys.job(jid);
                asks.push(match walk.by_name {
                    true => Read::fields(&job, &walk.fields),
                    false => Read::some(&job, SOME),
                });
                let history = walk.keys.companion(Companion::History, jid);
                asks.push(match walk.first {
                    true => Read::range(&history, 0, ENTRIES as i64 - 1),
                    false => Read::length(&history),
                });
            }
            asks
        };
        match self.reads(asks(self)) {
            // It is one right more than the core needs.
            Err(error) if error.kind() == Fault::NoPerm && !self.by_name => {
                self.by_name = true;
                self.reads(asks(self))
            }
            told => told,
        }
    }

    /// Returns the fields that matter, in their order.
    fn fields(&mut self, jid: &[u8], told: ReadReply) -> Result<ReadReply, Error> {
        let pairs = match told {
            ReadReply::Texts(pairs) if !self.by_name => pairs,
            told => return Ok(told),
        };
        if pairs.len() >= 2 * SOME {
            let ask = Read::fields(&self.keys.job(jid), &self.fields);
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
    fn together(&self) -> usize {
        let (bytes, jobs) = self.weight;
        match jobs {
            0 => 8,
            jobs => (BYTES / (bytes / jobs).max(1)).clamp(2, MOST as u64) as usize,
        }
    }

    fn tell(&mut self, job: &Job) -> Result<(), Error> {
        match job.odd {
            true if job.large && self.wants(&job.queue) => {
                let place = Location::new(ItemKind::Job, "");
                let jid = Name::from(job.jid.as_slice());
                self.sink.alone(self.core, &place, jid)
            }
            true => self.suspect(ItemKind::Job, b"", &job.jid),
            false => Ok(()),
        }
    }

    /// Looks at a job. `None` if it is none, or none of those that are looked at.
    fn job(
        &mut self,
        jid: &[u8],
        fields: ReadReply,
        history: &ReadReply,
    ) -> Result<Option<Job>, Error> {
        let ReadReply::Texts(fields) = fields else {
            let key = self.keys.job(jid);
            self.suspect_key(&key)?;
            return Ok(None);
        };
        let text = |at: usize| fields.get(at).and_then(|field| field.as_deref());
        let number = |at: usize| text(at).and_then(validate::number);
        let size: usize = fields.iter().flatten().map(Vec::len).sum();
        let size = self.weigh(size, history);
        if self.tracks {
            self.strike(ItemKind::Tracked, b"", jid, 0)?;
        }
        let mut job = Job {
            jid: jid.to_vec(),
            odd: !self.history(jid, history)?,
            large: size > LARGE,
            ..Job::default()
        };
        if let Some(template) = text(13) {
            self.child(&mut job, template);
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
            // It can't be told where it belongs.
            job.odd = self.first;
            return Ok(Some(job));
        };
        job.queue = queue.to_vec();
        job.state = state.to_vec();
        job.worker = text(8).unwrap_or_default().to_vec();
        let (remaining, retries) = (number(7), number(6));
        let time = number(10);
        job.odd |= (3..=10).any(|at| text(at).is_none());
        job.odd |= self.first && !text(14).is_some_and(validate::json);
        job.odd |= !text(7).is_some_and(validate::integer);
        job.odd |= match (remaining, retries) {
            (Some(left), Some(all)) => left > all || left < 0.0 && state != b"failed",
            _ => true,
        };
        job.odd |= time.is_none_or(|time| time > self.now() + AHEAD);
        job.odd |= text(11).is_some() && state != b"running";
        job.odd |= text(12).is_some() && state != b"depends";
        match number(4) {
            Some(priority) => job.priority = priority,
            None => job.odd = true,
        }
        if state == b"running" {
            match number(9) {
                Some(expires) if expires <= self.now() + FAR => job.expires = expires,
                _ => job.odd = true,
            }
        }
        let tags = text(5).and_then(validate::tags);
        job.odd |= tags.is_none();
        if !self.first {
            // All that was told. What is not there to be struck belongs to this part.
            job.odd = false;
        }
        for tag in tags.unwrap_or_default() {
            job.odd |= !self.strike(ItemKind::Tag, &tag, jid, 0)?;
        }
        if state == b"failed" {
            self.failed(&mut job, text(15))?;
        }
        self.place(&mut job, text(11).is_some())?;
        if state != b"complete" && self.first {
            self.list(&mut job)?;
        }
        Ok(Some(job))
    }

    /// Returns how large a job is.
    fn weigh(&mut self, fields: usize, history: &ReadReply) -> usize {
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
    fn history(&mut self, jid: &[u8], history: &ReadReply) -> Result<bool, Error> {
        let (there, right) = match history {
            ReadReply::Texts(list) => {
                let size: usize = list.iter().flatten().map(Vec::len).sum();
                let right = list.len() < ENTRIES
                    && size <= LONG
                    && list.iter().flatten().all(|entry| validate::entry(entry));
                (!list.is_empty(), right)
            }
            ReadReply::Number(length) => (*length > 0, true),
            _ => (true, false),
        };
        if there {
            let hash = self.history_mark(jid);
            self.marks.pair(hash, Side::Lower);
        }
        if matches!(history, ReadReply::Wrong) {
            let key = self.keys.companion(Companion::History, jid);
            self.suspect_key(&key)?;
        }
        Ok(right)
    }

    /// Strikes off where a job should be.
    fn place(&mut self, job: &mut Job, grace: bool) -> Result<(), Error> {
        let (jid, queue) = (job.jid.clone(), job.queue.clone());
        let whole = job.priority.fract() == 0.0;
        let there = match job.state.as_slice() {
            b"waiting" | b"stalled" if !whole => {
                job.wants.push(Want::Work);
                true
            }
            b"waiting" => {
                self.strike(ItemKind::Work, &queue, &jid, class(job.priority))?
                    || self.meet(ItemKind::Scheduled, &queue, &jid, 0)? == Met::Paired
            }
            b"stalled" => {
                self.strike(ItemKind::Work, &queue, &jid, class(f64::INFINITY))?
                    || self.meet(ItemKind::Work, &queue, &jid, class(job.priority))? == Met::Paired
            }
            b"scheduled" => self.strike(ItemKind::Scheduled, &queue, &jid, 0)?,
            b"depends" => {
                if self.first {
                    job.wants.push(Want::Waits);
                }
                self.strike(ItemKind::Depends, &queue, &jid, 0)?
            }
            b"running" if grace => {
                job.wants.push(Want::Lock);
                true
            }
            b"running" => self.strike(ItemKind::Locks, &queue, &jid, instant(job.expires))?,
            b"failed" => true,
            _ => queue.is_empty() && self.strike(ItemKind::Completed, b"", &jid, 0)?,
        };
        job.odd |= !there;
        if job.worker.is_empty() {
            return Ok(());
        }
        let worker = job.worker.clone();
        match job.state.as_slice() {
            b"stalled" => job.wants.push(Want::Held),
            b"running" if grace => job.wants.push(Want::Held),
            b"running" => {
                let number = instant(job.expires);
                job.odd |= !self.strike(ItemKind::Worker, &worker, &jid, number)?;
            }
            _ => {}
        }
        // That nobody knows its worker is told once.
        if self.first && job.state == b"running" && !self.knows(Known::Worker, &worker) {
            let told = super::index::key(ItemKind::Worker, &worker);
            job.odd |= self.know(Known::ReadReply, &told);
        }
        Ok(())
    }

    /// Strikes off the list of its failures.
    fn failed(&mut self, job: &mut Job, failure: Option<&[u8]>) -> Result<(), Error> {
        let Some(failure) = failure.and_then(validate::failure) else {
            job.odd |= self.first;
            return Ok(());
        };
        if self.first && self.whole() {
            self.tally.count(failure.when, &job.queue, &job.jid);
        }
        job.odd |= !self.strike(ItemKind::Group, &failure.group, &job.jid, 0)?;
        Ok(())
    }

    /// Whether the queue is listed; told once.
    fn list(&mut self, job: &mut Job) -> Result<(), Error> {
        let queue = job.queue.clone();
        if !self.knows(Known::Queue, &queue)
            && self.know(Known::ReadReply, &super::index::key(ItemKind::Work, &queue))
        {
            job.odd = true;
        }
        Ok(())
    }

    /// Whether its template has counted it.
    fn child(&mut self, job: &mut Job, template: &[u8]) {
        let rest = job.jid.strip_prefix(template);
        let Some(number) = rest.and_then(|rest| rest.strip_prefix(b"-")) else {
            return;
        };
        let Some(number) = validate::number(number) else {
            return;
        };
        let counted = self.counted.get(template);
        if !counted.is_some_and(|count| count.is_some_and(|count| number <= count)) {
            job.child = Some((template.to_vec(), number));
            job.wants.push(Want::Count);
        }
    }

    /// Reads what else is needed to judge jobs.
    fn more(&mut self, mut jobs: Vec<Job>) -> Result<(), Error> {
        let asks = jobs.iter().flat_map(|job| {
            let ask = |want: &Want| self.ask(job, *want);
            job.wants.iter().map(ask)
        });
        let asks: Vec<Read> = asks.collect();
        let mut told = self.reads(asks)?.into_iter();
        for job in &mut jobs {
            for want in std::mem::take(&mut job.wants) {
                let told = told.next().unwrap_or(ReadReply::Wrong);
                self.settle(job, want, told)?;
            }
            self.tell(job)?;
        }
        Ok(())
    }

    fn ask(&self, job: &Job, want: Want) -> Read {
        use crate::core::script::keys::QueueSet;
        match want {
            Want::Work => Read::score(&self.keys.queue(QueueSet::Work, &job.queue), &job.jid),
            Want::Lock => Read::score(&self.keys.queue(QueueSet::Locks, &job.queue), &job.jid),
            Want::Held => Read::score(&self.keys.worker(&job.worker), &job.jid),
            Want::Waits => Read::exists(&self.keys.companion(Companion::Dependencies, &job.jid)),
            Want::Count => {
                let template = job.child.as_ref().map(|(template, _)| template.as_slice());
                Read::field(&self.keys.recurring(template.unwrap_or_default()), "count")
            }
        }
    }

    fn settle(&mut self, job: &mut Job, want: Want, told: ReadReply) -> Result<(), Error> {
        let text = match told {
            ReadReply::Text(text) => text,
            ReadReply::Number(0) => {
                self.suspect_late(ItemKind::Job, b"", &job.jid);
                return Ok(());
            }
            ReadReply::Number(_) => return Ok(()),
            _ => {
                job.odd |= self.first;
                return Ok(());
            }
        };
        let score = text.as_deref().and_then(validate::score);
        match want {
            Want::Waits => {}
            Want::Work => match score {
                Some(score) => {
                    job.odd |= self.first && !fits(job, score);
                    job.odd |= !self.strike(ItemKind::Work, &job.queue, &job.jid, class(score))?;
                }
                None => {
                    let due = job.state == b"waiting"
                        && self.strike(ItemKind::Scheduled, &job.queue, &job.jid, 0)?;
                    job.odd |= !due;
                }
            },
            Want::Lock => match score {
                Some(lock) => {
                    let far = self.now() + FAR;
                    job.odd |= self.first && (lock <= job.expires + EQUAL || lock > far);
                    job.odd |=
                        !self.strike(ItemKind::Locks, &job.queue, &job.jid, instant(lock))?;
                }
                None => job.odd |= self.first,
            },
            Want::Held => {
                // It may have lost it, or not.
                if let Some(score) = score {
                    self.strike(ItemKind::Worker, &job.worker, &job.jid, instant(score))?;
                }
            }
            Want::Count => self.count(job, text.as_deref())?,
        }
        Ok(())
    }

    fn count(&mut self, job: &mut Job, stored: Option<&[u8]>) -> Result<(), Error> {
        let Some((template, number)) = job.child.take() else {
            return Ok(());
        };
        if self.counted.len() >= 10_000 {
            self.counted.clear();
        }
        let count = stored.and_then(validate::number);
        if stored.is_some() && count.is_none_or(|count| number > count) {
            job.odd |= self.first;
            if self.first {
                self.suspect(ItemKind::Recurring, b"", &template)?;
            }
        }
        self.counted.insert(template, count);
        Ok(())
    }
}

/// Whether a place among those that wait is one for the priority.
fn fits(job: &Job, score: f64) -> bool {
    if score == f64::INFINITY {
        return job.state == b"stalled";
    }
    score > job.priority - 1.0 && score <= job.priority
}
