//! The whole file is read before anything is sent: what is in it, and whether it can be as it says.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::dependency_graph::DependencyGraph;
use super::{FailedPolicy, ImportOptions};
use crate::error::Error;
use crate::input::archive;
use crate::input::archive::{ArchiveLine, ArchivedJob, ArchivedPause};
use crate::input::option::checked;
use crate::input::two_pass::{TextLine, TwoPassFile};
use crate::json::syntax::Fault;
use crate::model::job::State;
use crate::name::Name;
use crate::text::clean;

/// Where a job stands in the file, and what is to become of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryLocation {
    pub line: u64,
    pub at: u64,
    pub length: u32,
    pub fate: Disposition,
    /// Its queue on the server, by its number.
    queue: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disposition {
    Put,
    /// Left out because it is complete.
    SkipComplete,
    /// Left out because it has failed.
    SkipFailed,
}

/// What is in the file.
#[derive(Debug, Default)]
pub(super) struct ArchiveContents {
    /// In the order of the file.
    pub jobs: Vec<EntryLocation>,
    pub jids: HashMap<Name, u32>,
    pub recurring: Vec<(Name, EntryLocation)>,
    pub options: BTreeMap<Name, Name>,
    pub paused: Vec<ArchivedPause>,
    /// The queues into which something is put.
    pub queues: Vec<Name>,
    numbers: HashMap<Name, u32>,
    /// For which jobs a job waits.
    depends: HashMap<u32, Vec<Name>>,
    /// How many history entries the core does not take.
    pub unreadable: u64,
    /// How many jobs there were to be, as the file says itself.
    claimed: Option<u64>,
    /// Whether it is what `cancel --save` wrote: there a job may stand twice.
    saved: bool,
    begun: bool,
    /// The queues that the file names.
    named: HashSet<Name>,
}

impl ArchiveContents {
    /// Reads the file.
    pub(super) fn read(twice: &mut TwoPassFile, told: &ImportOptions) -> Result<ArchiveContents, Error> {
        let mut contents = ArchiveContents::default();
        let what = twice.what().to_string();
        let mut broken: Option<(Error, u64)> = None;
        twice.first(|row| {
            if let Some((error, _)) = broken.take() {
                return Err(error);
            }
            match contents.line(&what, &row, told) {
                // The last line may have been lost_dependencies.
                Err(error) if contents.saved => {
                    broken = Some((error, row.offset + row.text.len() as u64));
                    Ok(())
                }
                taken => taken,
            }
        })?;
        if let Some((error, end)) = broken {
            let mut rest = Vec::new();
            if twice.line(end, 1, &mut rest).is_ok() {
                return Err(error);
            }
        }
        if !contents.begun {
            return Err(headless(&what).hint("an empty file is no export"));
        }
        for (old, _) in &told.map {
            if !contents.named.contains(old) {
                let known: Vec<Name> = contents.named.iter().cloned().collect();
                let shown = clean(old);
                let error = Error::usage(format!(
                    "`--map-queue` names `{shown}`, and nothing in {what} is in that queue"
                ));
                return Err(match Error::unknown("queue", old, &known).hint_text() {
                    Some(hint) => error.hint(hint),
                    None => error,
                });
            }
        }
        Ok(contents)
    }

    fn line(&mut self, what: &str, row: &TextLine, told: &ImportOptions) -> Result<(), Error> {
        let number = row.number;
        let fault = |column: usize, why: &str| {
            Error::usage(format!("{what}, line {number}, column {column}: {why}"))
        };
        let line = match archive::read(row.text) {
            Ok(line) => line,
            Err(Fault { column, what, .. }) if self.begun => return Err(fault(column, &what)),
            Err(Fault {
                column, what: why, ..
            }) => {
                return Err(match why.starts_with("`v` ") {
                    true => fault(column, &why),
                    false => headless(what).hint(format!("line {number}, column {column}: {why}")),
                });
            }
        };
        if let ArchiveLine::Head { saved, jobs } = line {
            self.saved |= saved;
            self.claimed = match self.begun {
                true => self.claimed.zip(jobs).map(|(one, other)| one + other),
                false => jobs,
            };
            self.begun = true;
            return Ok(());
        }
        if !self.begun {
            return Err(headless(what));
        }
        match line {
            ArchiveLine::Job(job) => self.job(row, *job, told).map_err(|(at, why)| {
                let column = archive::column(row.text, at);
                fault(column, &why)
            }),
            ArchiveLine::Recurring(recurring) => {
                let place = self.place(row, Disposition::Put, Some(&recurring.queue), told);
                let twin = self.recurring.iter().find(|(jid, _)| *jid == recurring.jid);
                if let Some((jid, before)) = twin {
                    let jid = clean(jid);
                    let why = format!("recurring job `{jid}` stands in line {}, too", before.line);
                    return Err(fault(archive::column(row.text, "jid"), &why));
                }
                self.recurring.push((recurring.jid, place));
                Ok(())
            }
            ArchiveLine::Config(options) => {
                for (key, value) in options {
                    let key = self.option(key, told);
                    // What nothing reads was set there, and is set here.
                    let value =
                        checked(&key, &value, true).map_err(|error| fault(1, error.message()))?;
                    self.options.insert(key, value);
                }
                Ok(())
            }
            ArchiveLine::Paused(paused) => {
                self.named.insert(paused.queue.clone());
                let queue = told.queue(&paused.queue).clone();
                self.paused.retain(|before| before.queue != queue);
                self.paused.push(ArchivedPause { queue, ..paused });
                Ok(())
            }
            ArchiveLine::Head { .. } => Ok(()),
        }
    }

    /// Takes a job; refuses it for one of its members.
    fn job(
        &mut self,
        row: &TextLine,
        job: ArchivedJob,
        told: &ImportOptions,
    ) -> Result<(), (&'static str, String)> {
        let failed = job.state == Some(State::Failed);
        let fate = match job.state {
            Some(State::Complete) => Disposition::SkipComplete,
            Some(State::Failed) if told.failed == FailedPolicy::Skip => Disposition::SkipFailed,
            _ => Disposition::Put,
        };
        if failed && told.failed == FailedPolicy::Keep && job.failure.is_none() {
            let why = format!(
                "`{}` has failed, and there is no `failure` with a group; `--failed waiting` or \
                 `--failed skip` do without",
                clean(&job.jid)
            );
            return Err(("failure", why));
        }
        let place = self.place(row, fate, job.queue.as_ref(), told);
        self.unreadable += job.unreadable as u64;
        let at = match self.jids.get(&job.jid) {
            // What was saved last was cancelled last.
            Some(&at) if self.saved => {
                self.jobs[at as usize] = place;
                at
            }
            Some(&at) => {
                let line = self.jobs[at as usize].line;
                let why = format!("`{}` stands in line {line}, too", clean(&job.jid));
                return Err(("jid", why));
            }
            None => {
                let at = u32::try_from(self.jobs.len());
                let at = at.map_err(|_| ("jid", "too many jobs".to_string()))?;
                self.jids.insert(job.jid, at);
                self.jobs.push(place);
                at
            }
        };
        // A job that has failed waits for nothing.
        let waits = fate == Disposition::Put && !(failed && told.failed == FailedPolicy::Keep);
        match waits && !job.depends.is_empty() {
            true => self.depends.insert(at, job.depends),
            false => self.depends.remove(&at),
        };
        Ok(())
    }

    fn place(
        &mut self,
        row: &TextLine,
        fate: Disposition,
        queue: Option<&Name>,
        told: &ImportOptions,
    ) -> EntryLocation {
        let mut number = u32::MAX;
        if let Some(queue) = queue {
            if !self.named.contains(queue) {
                self.named.insert(queue.clone());
            }
            let queue = told.queue(queue);
            number = match self.numbers.get(queue) {
                Some(&number) => number,
                None => {
                    let number = self.queues.len() as u32;
                    self.queues.push(queue.clone());
                    self.numbers.insert(queue.clone(), number);
                    number
                }
            };
        }
        EntryLocation {
            line: row.number,
            at: row.offset,
            // No line is longer than what one may be.
            length: row.text.len() as u32,
            fate,
            queue: number,
        }
    }

    /// Returns the name of an option, which may begin with that of a queue.
    fn option(&mut self, key: Name, told: &ImportOptions) -> Name {
        let Some(queue) = crate::model::config::known(&key).and_then(|known| known.queue) else {
            return key;
        };
        let rest = key.as_bytes()[queue.as_bytes().len()..].to_vec();
        let to = told.queue(&queue).as_bytes().to_vec();
        self.named.insert(queue);
        Name::from([to, rest].concat())
    }

    /// Returns how many jobs go into which queue.
    pub(super) fn by_queue(&self) -> BTreeMap<&Name, u64> {
        let mut counts = BTreeMap::new();
        let put = self.jobs.iter().filter(|place| place.fate == Disposition::Put);
        for queue in put.filter_map(|place| self.queues.get(place.queue as usize)) {
            *counts.entry(queue).or_default() += 1;
        }
        counts
    }

    /// Returns the queue into which a job is put.
    pub(super) fn queue(&self, job: u32) -> Option<Name> {
        let place = self.jobs.get(job as usize)?;
        self.queues.get(place.queue as usize).cloned()
    }

    /// Returns what is to be said of a file that has fewer jobs than it says.
    pub(super) fn cut(&self) -> Option<String> {
        let jobs = self.jobs.len() as u64;
        let claimed = self
            .claimed
            .filter(|claimed| *claimed > jobs && !self.saved)?;
        Some(format!(
            "there were to be {claimed} jobs in the file, and there are {jobs}"
        ))
    }

    /// Returns the jobs that wait for ones that are not put by this file, with these.
    pub(super) fn outside(&self) -> Vec<(&Name, &Name)> {
        let jids = self.by_number();
        let mut outside = Vec::new();
        for (at, depends) in &self.depends {
            for jid in depends {
                let fate = self.jids.get(jid).map(|&at| self.jobs[at as usize].fate);
                if matches!(fate, None | Some(Disposition::SkipFailed)) {
                    outside.push((jids[*at as usize], jid));
                }
            }
        }
        outside.sort();
        outside
    }

    /// Whether a job waits for one of this name, which is neither complete nor `missing`.
    pub(super) fn waits(&self, jid: &Name, missing: &HashSet<Name>) -> bool {
        let place = self.jids.get(jid).map(|&at| self.jobs[at as usize].fate);
        place != Some(Disposition::SkipComplete) && !missing.contains(jid)
    }

    /// Returns the jobs that are put, each behind those it waits for.
    pub(super) fn order(&self, what: &str) -> Result<Vec<u32>, Error> {
        let on = self.depends.iter().map(|(&job, depends)| {
            let inside = depends.iter().filter_map(|jid| self.jids.get(jid).copied());
            let put = inside.filter(|&at| self.jobs[at as usize].fate == Disposition::Put);
            (job, put.collect())
        });
        let waits = DependencyGraph { on: on.collect() };
        let put =
            (0..self.jobs.len() as u32).filter(|&at| self.jobs[at as usize].fate == Disposition::Put);
        waits.order(put).map_err(|path| {
            let jids = self.by_number();
            let told = |at: &u32| {
                let line = self.jobs[*at as usize].line;
                format!("`{}` (line {line})", clean(jids[*at as usize]))
            };
            let mut path: Vec<String> = path.iter().map(told).collect();
            path.extend(path.first().cloned());
            if path.len() > 12 {
                path.splice(6..path.len() - 5, ["…".to_string()]);
            }
            Error::usage(format!(
                "jobs of {what} wait for each other: {}",
                path.join(" waits for ")
            ))
            .hint("take one of them out of the `dependencies` of another")
        })
    }

    /// Returns the jids by the numbers of the jobs.
    pub(super) fn by_number(&self) -> Vec<&Name> {
        let mut jids: Vec<(&u32, &Name)> = self.jids.iter().map(|(jid, at)| (at, jid)).collect();
        jids.sort();
        jids.into_iter().map(|(_, jid)| jid).collect()
    }
}

fn headless(what: &str) -> Error {
    Error::usage(format!(
        "{what} is no export: its first line wants to be `{{\"kind\":\"export\",\"v\":1,…}}`"
    ))
}
