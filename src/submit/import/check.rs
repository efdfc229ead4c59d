//! The first pass of `qless import`: it reads and validates the whole file before anything is sent.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{FailedPolicy, ImportOptions};
use crate::error::Error;
use crate::input::archive;
use crate::input::archive::{
    ArchiveLine, ArchivedJob, ArchivedOption, ArchivedPause, ArchivedThrottleMaximum,
};
use crate::input::option::validate_option;
use crate::input::two_pass::{TextLine, TwoPassFile};
use crate::json::object::column_of_field_value;
use crate::json::syntax::SyntaxFault;
use crate::model::job::State;
use crate::name::Name;
use crate::submit::order::DependencyGraph;

/// The location of a job in the file, its queue, and whether the import puts it.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobLocationAndDecision {
    pub line: u64,
    pub offset: u64,
    pub length: u32,
    pub decision: ImportDecisionByState,
    /// The index in [`ArchiveContents::queues`] of the queue into which the job goes.
    queue: u32,
}

/// Whether the import puts a job of the file, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportDecisionByState {
    Put,
    /// Skipped because the job is complete.
    SkipComplete,
    /// Skipped because the job has failed.
    SkipFailed,
}

/// The contents of the file.
#[derive(Debug, Default)]
pub(super) struct ArchiveContents {
    /// The jobs in the order of the file.
    pub jobs: Vec<JobLocationAndDecision>,
    pub jids: HashMap<Name, u32>,
    pub recurring: Vec<(Name, JobLocationAndDecision)>,
    pub options: BTreeMap<Name, Name>,
    pub paused: Vec<ArchivedPause>,
    /// The maxima of throttles by id.
    pub limits: BTreeMap<Name, ArchivedThrottleMaximum>,
    /// The queues into which jobs are put.
    pub queues: Vec<Name>,
    numbers: HashMap<Name, u32>,
    /// The jids of the dependencies of a job, by the number of the job.
    depends: HashMap<u32, Vec<Name>>,
    /// The number of history entries that the import leaves out, because the core would refuse them.
    pub unreadable: u64,
    /// The number of jobs that the first line of the file announces.
    claimed: Option<u64>,
    /// Whether `cancel --save` wrote the file. Such a file may have a job twice, and a crash may have cut off its
    /// last line.
    saved: bool,
    begun: bool,
    /// The queues that the file names.
    named: HashSet<Name>,
}

/// Why a job of an archive is refused.
struct FieldFault {
    /// The name of the field that is wrong.
    field: &'static str,
    why: String,
}

impl FieldFault {
    fn new(field: &'static str, why: String) -> FieldFault {
        FieldFault { field, why }
    }
}

impl ArchiveContents {
    pub(super) fn read_archive(
        file: &mut TwoPassFile,
        options: &ImportOptions,
    ) -> Result<ArchiveContents, Error> {
        let mut contents = ArchiveContents::default();
        let what = file.source_name().to_string();
        let mut broken: Option<(Error, u64)> = None;
        file.for_each_line_in_first_pass(|row| {
            if let Some((error, _)) = broken.take() {
                return Err(error);
            }
            match contents.check_and_add_line(&what, &row, options) {
                // A crash may have cut off the last line.
                Err(error) if contents.saved => {
                    broken = Some((error, row.offset + row.text.len() as u64));
                    Ok(())
                }
                taken => taken,
            }
        })?;
        if let Some((error, end)) = broken {
            let mut rest = Vec::new();
            if file.read_line_at(end, 1, &mut rest).is_ok() {
                return Err(error);
            }
        }
        if !contents.begun {
            return Err(not_an_export_error(&what).hint("an empty file is not an export"));
        }
        for (old, _) in &options.map {
            if !contents.named.contains(old) {
                let known: Vec<Name> = contents.named.iter().cloned().collect();
                let error = Error::usage(format!(
                    "`--map-queue` names `{old}`, but nothing in {what} is in that queue"
                ));
                let unknown = Error::unknown_name("queue", old, &known);
                return Err(error.hint_if(unknown.hint_text().map(str::to_owned)));
            }
        }
        Ok(contents)
    }

    fn check_and_add_line(
        &mut self,
        what: &str,
        row: &TextLine,
        options: &ImportOptions,
    ) -> Result<(), Error> {
        let number = row.number;
        let fault = |column: usize, why: &str| {
            Error::usage(format!("{what}, line {number}, column {column}: {why}"))
        };
        let line = match archive::parse_archive_line(row.text) {
            Ok(line) => line,
            Err(SyntaxFault { column, what, .. }) if self.begun => {
                return Err(fault(column, &what));
            }
            Err(SyntaxFault {
                column, what: why, ..
            }) => {
                return Err(if archive::has_unknown_version(row.text) {
                    fault(column, &why)
                } else {
                    not_an_export_error(what).hint(format!("line {number}, column {column}: {why}"))
                });
            }
        };
        if let ArchiveLine::Head(head) = line {
            self.saved |= head.is_from_cancel_save();
            let jobs = head.jobs.and_then(|jobs| jobs.try_into().ok());
            self.claimed = if self.begun {
                self.claimed.zip(jobs).map(|(one, other)| one + other)
            } else {
                jobs
            };
            self.begun = true;
            return Ok(());
        }
        if !self.begun {
            return Err(not_an_export_error(what));
        }
        match line {
            ArchiveLine::Job(job) => self.add_job(row, *job, options).map_err(|wrong| {
                let column = column_of_field_value(row.text, wrong.field);
                fault(column, &wrong.why)
            }),
            ArchiveLine::Recurring(recurring) => {
                let location = self.register_queue_and_locate(
                    row,
                    ImportDecisionByState::Put,
                    Some(&recurring.queue),
                    options,
                );
                let twin = self.recurring.iter().find(|(jid, _)| *jid == recurring.jid);
                if let Some((jid, before)) = twin {
                    let why = format!("recurring job `{jid}` is also in line {}", before.line);
                    return Err(fault(column_of_field_value(row.text, "jid"), &why));
                }
                self.recurring.push((recurring.jid, location));
                Ok(())
            }
            ArchiveLine::Config(config) => {
                for ArchivedOption { key, value } in config.items {
                    let key = self.map_queue_in_config_key(key, options);
                    // Accept options that neither the core nor `qless` reads.
                    let value = validate_option(&key, &value, true)
                        .map_err(|error| fault(1, &error.message()))?;
                    self.options.insert(key, value);
                }
                Ok(())
            }
            ArchiveLine::Limit(limit) => {
                self.limits.insert(limit.id.clone(), limit);
                Ok(())
            }
            ArchiveLine::Paused(paused) => {
                self.named.insert(paused.queue.clone());
                let queue = options.mapped_queue(&paused.queue).clone();
                self.paused.retain(|before| before.queue != queue);
                self.paused.push(ArchivedPause { queue, ..paused });
                Ok(())
            }
            ArchiveLine::Head(_) => Ok(()),
        }
    }

    fn add_job(
        &mut self,
        row: &TextLine,
        job: ArchivedJob,
        options: &ImportOptions,
    ) -> Result<(), FieldFault> {
        let failed = job.state == State::Failed;
        let decision = match job.state {
            State::Complete => ImportDecisionByState::SkipComplete,
            State::Failed if options.failed == FailedPolicy::Skip => {
                ImportDecisionByState::SkipFailed
            }
            _ => ImportDecisionByState::Put,
        };
        if failed && options.failed == FailedPolicy::Keep && job.failure.is_none() {
            let why = format!(
                "`{}` has failed, but has no `failure` with a group; `--failed waiting` and \
                 `--failed skip` do not need one",
                job.jid
            );
            return Err(FieldFault::new("failure", why));
        }
        let location = self.register_queue_and_locate(row, decision, job.queue.as_ref(), options);
        self.unreadable += job.history_entries_and_unreadable_count().1 as u64;
        let at = match self.jids.get(&job.jid) {
            // `cancel --save` saved the job twice. The later line belongs to the later cancellation, and replaces
            // the earlier one.
            Some(&at) if self.saved => {
                self.jobs[at as usize] = location;
                at
            }
            Some(&at) => {
                let line = self.jobs[at as usize].line;
                let why = format!("`{}` is also in line {line}", job.jid);
                return Err(FieldFault::new("jid", why));
            }
            None => {
                let at = u32::try_from(self.jobs.len());
                let at = at.map_err(|_| FieldFault::new("jid", "too many jobs".to_string()))?;
                self.jids.insert(job.jid, at);
                self.jobs.push(location);
                at
            }
        };
        // A job that stays failed has no dependencies.
        let has_dependencies = decision == ImportDecisionByState::Put
            && !(failed && options.failed == FailedPolicy::Keep);
        if has_dependencies && !job.depends.is_empty() {
            self.depends.insert(at, job.depends)
        } else {
            self.depends.remove(&at)
        };
        Ok(())
    }

    fn register_queue_and_locate(
        &mut self,
        row: &TextLine,
        decision: ImportDecisionByState,
        queue: Option<&Name>,
        options: &ImportOptions,
    ) -> JobLocationAndDecision {
        let mut number = u32::MAX;
        if let Some(queue) = queue {
            if !self.named.contains(queue) {
                self.named.insert(queue.clone());
            }
            let queue = options.mapped_queue(queue);
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
        JobLocationAndDecision {
            line: row.number,
            offset: row.offset,
            // `LONGEST_LINE` fits.
            length: row.text.len() as u32,
            decision,
            queue: number,
        }
    }

    /// The key of an option. If it begins with the name of a queue, that part is renamed as `--map-queue` says.
    fn map_queue_in_config_key(&mut self, key: Name, options: &ImportOptions) -> Name {
        let Some(queue) =
            crate::model::config::find_known_option(&key).and_then(|known| known.queue)
        else {
            return key;
        };
        let rest = key.as_bytes()[queue.as_bytes().len()..].to_vec();
        let to = options.mapped_queue(&queue).as_bytes().to_vec();
        self.named.insert(queue);
        Name::from([to, rest].concat())
    }

    /// The number of jobs to put by queue.
    pub(super) fn count_jobs_to_put_by_queue(&self) -> BTreeMap<&Name, u64> {
        let mut counts = BTreeMap::new();
        let put = self
            .jobs
            .iter()
            .filter(|location| location.decision == ImportDecisionByState::Put);
        for queue in put.filter_map(|location| self.queues.get(location.queue as usize)) {
            *counts.entry(queue).or_default() += 1;
        }
        counts
    }

    /// The queue into which a job is put.
    pub(super) fn queue_of_job(&self, job: u32) -> Option<Name> {
        let location = self.jobs.get(job as usize)?;
        self.queues.get(location.queue as usize).cloned()
    }

    /// A warning if the file has fewer jobs than its first line announces.
    pub(super) fn truncation_warning(&self) -> Option<String> {
        let jobs = self.jobs.len() as u64;
        let claimed = self
            .claimed
            .filter(|claimed| *claimed > jobs && !self.saved)?;
        Some(format!(
            "the file announces {claimed} jobs, but has {jobs}: it may have been cut short"
        ))
    }

    /// Pairs of a job that the import puts and a dependency that must exist on the server, because the file lacks
    /// it or the import skips it as failed.
    pub(super) fn dependencies_needed_on_server(&self) -> Vec<(&Name, &Name)> {
        let jids = self.jids_by_number();
        let mut outside = Vec::new();
        for (at, depends) in &self.depends {
            for jid in depends {
                let decision = self
                    .jids
                    .get(jid)
                    .map(|&at| self.jobs[at as usize].decision);
                if matches!(decision, None | Some(ImportDecisionByState::SkipFailed)) {
                    outside.push((jids[*at as usize], jid));
                }
            }
        }
        outside.sort_unstable();
        outside
    }

    /// Whether the job `jid` can be a dependency: the file does not have it as complete, and it is not in
    /// `missing`.
    pub(super) fn can_be_dependency(&self, jid: &Name, missing: &HashSet<Name>) -> bool {
        let place = self
            .jids
            .get(jid)
            .map(|&at| self.jobs[at as usize].decision);
        place != Some(ImportDecisionByState::SkipComplete) && !missing.contains(jid)
    }

    /// The numbers of the jobs to put, each after its dependencies. A cycle is an error.
    pub(super) fn jobs_in_put_order(&self, what: &str) -> Result<Vec<u32>, Error> {
        let is_put = |at: u32| self.jobs[at as usize].decision == ImportDecisionByState::Put;
        let mut graph = DependencyGraph::default();
        for at in 0..self.jobs.len() as u32 {
            let depends = self.depends.get(&at).into_iter().flatten();
            let inside = depends.filter_map(|jid| self.jids.get(jid).copied());
            graph.push_job(inside.filter(|at| is_put(*at)));
        }
        let order = graph.order_or_cycle().map(|mut jobs| {
            jobs.retain(|at| is_put(*at));
            jobs
        });
        order.map_err(|path| {
            let jids = self.jids_by_number();
            let describe = |at: &u32| {
                let line = self.jobs[*at as usize].line;
                format!("`{}` (line {line})", jids[*at as usize])
            };
            let mut path: Vec<String> = path.iter().map(describe).collect();
            path.extend(path.first().cloned());
            if path.len() > 12 {
                path.splice(6..path.len() - 5, ["…".to_string()]);
            }
            Error::conflict(format!(
                "jobs of {what} depend on each other: {}",
                path.join(" depends on ")
            ))
            .hint("remove one of them from the `dependencies` of another")
        })
    }

    /// The jids of all jobs: the index is the number of the job.
    pub(super) fn jids_by_number(&self) -> Vec<&Name> {
        let mut jids: Vec<(&u32, &Name)> = self.jids.iter().map(|(jid, at)| (at, jid)).collect();
        jids.sort_unstable();
        jids.into_iter().map(|(_, jid)| jid).collect()
    }
}

fn not_an_export_error(what: &str) -> Error {
    Error::usage(format!(
        "{what} is not an export: expected the first line to be `{{\"kind\":\"export\",\"v\":1,…}}`"
    ))
}
