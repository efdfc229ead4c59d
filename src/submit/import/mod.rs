//! `qless import` puts the jobs of an export again: each as it was, and after its dependencies.
//!
//! The file is read twice. First [`check`] validates all of it and keeps the offset of each job,
//! and [`order`](super::order) puts the jobs in order. Then each job is read again, packed ([`pack`])
//! and put. Memory grows with the number of jobs, not with their data.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::round::{PutRound, SentJob};
use crate::args::input_arg::FileOrStreamArg;
use crate::args::shared::BulkFlags;
use crate::bulk::{BulkPlan, JobOutcome};
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::consent::Consent;
use crate::core::api::guard::{GuardReply, PutEvidence, PutPolicy, PutResult};
use crate::core::api::job::JobFields;
use crate::core::call::Core;
use crate::error::{Cause, Error, Kind};
use crate::exit::Exit;
use crate::input::archive;
use crate::input::archive::ArchiveLine;
use crate::input::source::ByteLimit;
use crate::input::two_pass::TwoPassFile;
use crate::model::bulk::Verb;
use crate::model::bulk::{FieldInterner, JobSnapshot, MAX_JOBS_PER_CALL, SharedJobFields};
use crate::model::bulk::{ItemResult, OutcomeCode};
use crate::model::config::OptionChange;
use crate::model::import::ImportPlan;
use crate::model::job::State;
use crate::model::throttle::MaximumChange;
use crate::name::Name;
use crate::session::Session;
use crate::session::actor;
use crate::text::format_count;

mod check;
mod pack;

use check::{ArchiveContents, ImportDecisionByState};

pub(crate) const IMPORT: Verb = Verb::new("import", "import", "imported");

/// Maximum length of a line: 512 MiB, the maximum size of a value on the server.
const LONGEST_LINE: ByteLimit = ByteLimit::fixed(512 << 20);

/// Size in bytes above which a round trip gets no further job.
const ROUND_SIZE: usize = 8 << 20;

/// The arguments of `qless import`.
#[derive(Debug)]
pub(crate) struct ImportOptions {
    pub from: FileOrStreamArg,
    /// Pairs of old and new queue names.
    pub map: Vec<(Name, Name)>,
    pub existing: ExistingPolicy,
    pub failed: FailedPolicy,
    pub allow_missing: bool,
    pub hold: bool,
    pub flags: BulkFlags,
}

/// What the import does with jobs that exist already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExistingPolicy {
    Refuse,
    Skip,
    Replace,
}

/// How failed jobs are imported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FailedPolicy {
    /// As failed, in their group
    #[default]
    Keep,
    /// To be run again, with fresh retries
    Waiting,
    /// Not at all
    Skip,
}

impl ImportOptions {
    fn mapped_queue<'q>(&'q self, queue: &'q Name) -> &'q Name {
        let mut map = self.map.iter();
        map.find(|(old, _)| old == queue)
            .map_or(queue, |(_, new)| new)
    }
}

/// Imports a file.
pub(crate) fn import_file(
    mut options: ImportOptions,
    session: &mut Session,
) -> Result<Exit, Error> {
    let mut file = TwoPassFile::open(&options.from, LONGEST_LINE)?;
    let contents = ArchiveContents::read_archive(&mut file, &options)?;
    let order = contents.jobs_in_put_order(file.source_name())?;
    let mut plan = BulkPlan::without_jobs(session, &IMPORT, &options.flags)?;
    let resumes = plan.continues_earlier_report();
    let has_report = options.flags.report.is_some();
    if resumes && options.existing == ExistingPolicy::Refuse {
        // Skip existing jobs: the earlier run put them, and may have ended before it reported all of them.
        options.existing = ExistingPolicy::Skip;
    }
    let now = session.connect()?;
    let missing =
        missing_dependencies_if_allowed(&contents, &options, file.source_name(), now, session)?;
    let existing = existing_jids_for_plan_or_refusal(&contents, &options, now, session)?;
    let mut changes =
        OptionChange::changes_to_wanted(&session.core()?.config(now)?, &contents.options, false);
    if options.existing == ExistingPolicy::Skip {
        changes.retain(|change| change.before.is_none());
    }
    let maxima = changed_maxima(&contents, &options, now, session)?;
    let pauses = QueuesToPause::plan_pauses(&contents, &options, now, session)?;
    let truncated = contents.truncation_warning();
    if let Some(truncated) = &truncated {
        session.ui.warn(truncated);
    }
    let proposal = ImportPlan {
        queues: contents.count_jobs_to_put_by_queue(),
        recurring: contents.recurring.len(),
        existing: existing.len() as u64,
        replaces: options.existing == ExistingPolicy::Replace,
        changes: &changes,
        maxima: &maxima,
        pauses: &pauses.queues_to_pause_from_file(),
        holds: &pauses.hold,
    };
    let dry_run = options.flags.dry_run;
    let nothing = order.is_empty()
        && contents.recurring.is_empty()
        && changes.is_empty()
        && maxima.is_empty()
        && pauses.has_no_pauses();
    let consent = if nothing {
        Some(session.ui.consent_without_question()).filter(|_| !dry_run)
    } else {
        let recurring = format_count(proposal.recurring as u64, "recurring job", "recurring jobs");
        let jobs = match (
            format_count(order.len() as u64, "job", "jobs"),
            proposal.recurring,
        ) {
            (jobs, 0) => jobs,
            (_, _) if order.is_empty() => recurring,
            (jobs, _) => format!("{jobs} and {recurring}"),
        };
        let what = format!("import {jobs} on {}", session.server_label_and_address()?);
        if dry_run {
            session
                .ui
                .note_dry_run_plan(&what, |render_options| proposal.plan_text(render_options));
            None
        } else {
            let consent = session
                .ui
                .confirm(&what, |render_options| proposal.plan_text(render_options))?;
            set_pauses_options_and_maxima(&changes, &maxima, &pauses, now, consent, session)?;
            Some(consent)
        }
    };
    if contents.unreadable > 0 {
        let entries = format_count(contents.unreadable, "entry", "entries");
        session.ui.warn(&format!(
            "{entries} of histories cannot be read and are left out"
        ));
    }
    add_jobs_to_import(&mut plan, &contents, &order, &options);
    drop(order);
    let mut importer = PlannedJobImporter {
        file: &file,
        contents: &contents,
        options: &options,
        missing,
        note: options.flags.reason.is_some().then(|| plan.note.clone()),
        next: now,
    };
    if dry_run {
        plan.exclude_refused(session, |core, now, jobs, outcomes| {
            importer.import_slice(core, now, jobs, outcomes)
        })?;
    }
    let held = !dry_run && !pauses.hold.is_empty();
    let ended = plan.change_in_slices(session, consent, |core, now, _, jobs, outcomes| {
        importer.import_slice(core, now, jobs, outcomes)
    });
    if held {
        let unpause = CommandLine::new("unpause").with_name_arguments(&pauses.hold);
        session
            .ui
            .hint_if(unpause.fill_sentence("nothing runs there until {}"));
    }
    // A script may delete the file after 0.
    let ended = ended.map(|exit| match exit {
        Exit::Ok if truncated.is_some() => Exit::Partial,
        exit => exit,
    });
    ended.map_err(|error| match (error.kind(), options.existing) {
        (Kind::Interrupted | Kind::Terminated | Kind::OutcomeUnknown, _) if has_report => {
            error.hint("the same command imports the rest")
        }
        (Kind::Interrupted | Kind::Terminated | Kind::OutcomeUnknown, ExistingPolicy::Refuse) => {
            error.hint("the same command with `--if-absent` imports the rest")
        }
        // Without `--report`, because the report calls jobs done that the server has lost: an import with it would
        // skip them.
        (Kind::ServerRestarted, _) => error.hint(
            "the same command with `--if-absent`, and without `--report`, imports what is missing",
        ),
        _ => error,
    })
}

/// The dependencies that neither the file nor the server has. An error unless `--allow-missing` is given.
fn missing_dependencies_if_allowed(
    contents: &ArchiveContents,
    options: &ImportOptions,
    what: &str,
    now: Moment,
    session: &mut Session,
) -> Result<HashSet<Name>, Error> {
    let outside = contents.dependencies_needed_on_server();
    let jids: BTreeSet<&Name> = outside.iter().map(|(_, jid)| *jid).collect();
    let jids: Vec<Name> = jids.into_iter().cloned().collect();
    let found = session.core()?.jobs(now, JobFields::Jid, &jids)?;
    let missing: HashSet<Name> = jids
        .into_iter()
        .zip(found)
        .filter(|(_, job)| job.is_none())
        .map(|(jid, _)| jid)
        .collect();
    let waiting: Vec<_> = outside
        .iter()
        .filter(|(_, jid)| missing.contains(*jid))
        .collect();
    let Some((job, jid)) = waiting.first() else {
        return Ok(missing);
    };
    if options.allow_missing {
        return Ok(missing);
    }
    let more = match waiting.len() {
        1 => String::new(),
        some => format!(", and {} more like this", some - 1),
    };
    Err(Error::not_found(format!(
        "`{job}` waits for `{jid}`, which is neither in {what} nor on the server{more}"
    ))
    .about_jid(jid)
    .hint("`--allow-missing` lets such jobs run without them"))
}

/// Finds the jobs of the file that exist already, and refuses them unless `--if-absent` or `--replace` is given. Empty
/// if no plan shows their number.
fn existing_jids_for_plan_or_refusal(
    contents: &ArchiveContents,
    options: &ImportOptions,
    now: Moment,
    session: &mut Session,
) -> Result<HashSet<Name>, Error> {
    let mut existing = HashSet::new();
    if options.existing != ExistingPolicy::Refuse
        && !options.flags.dry_run
        && !session.ui.needs_question()
    {
        // The calls that put the jobs find out.
        return Ok(existing);
    }
    let put = |at: &u32| contents.jobs[*at as usize].decision == ImportDecisionByState::Put;
    let jids = contents.jids.iter().filter(|(_, at)| put(at));
    let jids: Vec<&Name> = jids.map(|(jid, _)| jid).collect();
    for slice in jids.chunks(MAX_JOBS_PER_CALL) {
        let slice: Vec<Name> = slice.iter().copied().cloned().collect();
        let found = session.core()?.jobs(now, JobFields::Jid, &slice)?;
        let there = slice.into_iter().zip(found);
        existing.extend(there.filter(|(_, job)| job.is_some()).map(|(jid, _)| jid));
    }
    if options.existing != ExistingPolicy::Refuse {
        return Ok(existing);
    }
    let mut names: Vec<&Name> = existing.iter().collect();
    let recurring: Vec<Name> = contents
        .recurring
        .iter()
        .map(|(jid, _)| jid.clone())
        .collect();
    let templates = session.core()?.recurring_jobs(now, &recurring)?;
    let there = recurring.iter().zip(&templates);
    names.extend(there.filter(|(_, job)| job.is_some()).map(|(jid, _)| jid));
    names.sort_unstable();
    let shown: Vec<String> = names.iter().take(3).map(|jid| format!("`{jid}`")).collect();
    let message = match names.len() {
        0 => return Ok(existing),
        1 => format!("{} exists already; nothing was changed", shown[0]),
        some @ ..=3 => format!(
            "{some} jobs exist already: {}; nothing was changed",
            shown.join(", ")
        ),
        some => format!(
            "{some} jobs exist already: {} and {} more; nothing was changed",
            shown.join(", "),
            some - 3
        ),
    };
    let error = Error::conflict(message).hint(
        "`--if-absent` leaves them as they are and imports the rest, `--replace` puts them again",
    );
    Err(match names.as_slice() {
        [jid] => error.about_jid(jid),
        _ => error,
    })
}

/// The queues to pause before any job is put.
#[derive(Debug, Default)]
struct QueuesToPause {
    /// The pauses in the file.
    from_file: Vec<archive::ArchivedPause>,
    /// The queues that `--hold` pauses.
    hold: Vec<Name>,
}

impl QueuesToPause {
    fn plan_pauses(
        contents: &ArchiveContents,
        options: &ImportOptions,
        now: Moment,
        session: &mut Session,
    ) -> Result<QueuesToPause, Error> {
        let mut pauses = QueuesToPause::default();
        if contents.paused.is_empty() && !options.hold {
            return Ok(pauses);
        }
        let paused: HashSet<Name> = session
            .core()?
            .paused_queues(now)?
            .into_iter()
            .map(|one| one.queue)
            .collect();
        for pause in &contents.paused {
            let ended = pause.until.is_some_and(|until| until <= now);
            // Keep a pause that exists already, because an operator made it. Only `--replace` replaces it.
            let kept = paused.contains(&pause.queue) && options.existing != ExistingPolicy::Replace;
            if !ended && !kept {
                pauses.from_file.push(archive::ArchivedPause {
                    queue: pause.queue.clone(),
                    until: pause.until,
                    reason: pause.reason.clone(),
                    by: pause.by.clone(),
                });
            }
        }
        if options.hold {
            let is_paused = |queue: &Name| {
                paused.contains(queue) || pauses.from_file.iter().any(|pause| pause.queue == *queue)
            };
            let queues = contents.queues.iter().filter(|queue| !is_paused(queue));
            pauses.hold = queues.cloned().collect();
        }
        Ok(pauses)
    }

    fn queues_to_pause_from_file(&self) -> Vec<&Name> {
        self.from_file.iter().map(|pause| &pause.queue).collect()
    }

    fn has_no_pauses(&self) -> bool {
        self.from_file.is_empty() && self.hold.is_empty()
    }
}

/// The maxima of throttles in the file that differ from those on the server. Expired ones are left out.
/// `--if-absent` keeps those on the server.
fn changed_maxima(
    contents: &ArchiveContents,
    options: &ImportOptions,
    now: Moment,
    session: &mut Session,
) -> Result<Vec<MaximumChange>, Error> {
    if contents.limits.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Name> = contents.limits.keys().cloned().collect();
    let present = session.core()?.throttles(now, &ids)?;
    let mut changes = Vec::new();
    for (limit, present) in contents.limits.values().zip(present) {
        let ended = limit.expires.is_some_and(|expires| expires <= now);
        // The server counts whole seconds.
        let same_end = match (limit.expires, present.ttl_s) {
            (None, None) => true,
            (Some(expires), Some(ttl)) => (expires.since(now) - ttl as f64).abs() <= 1.0,
            _ => false,
        };
        let same = present.defined && present.maximum == limit.maximum && same_end;
        let kept = present.defined && options.existing == ExistingPolicy::Skip;
        if !ended && !same && !kept {
            changes.push(MaximumChange {
                id: limit.id.clone(),
                before: present.defined.then_some(present.maximum),
                maximum: limit.maximum,
                expires: limit.expires,
            });
        }
    }
    Ok(changes)
}

/// Pauses queues, and sets options and the maxima of throttles, before the import puts jobs that could run.
fn set_pauses_options_and_maxima(
    changes: &[OptionChange],
    maxima: &[MaximumChange],
    pauses: &QueuesToPause,
    now: Moment,
    _: Consent,
    session: &mut Session,
) -> Result<(), Error> {
    let core = session.core()?;
    let by = actor::user_at_host();
    let reason = Name::from("qless import --hold");
    core.pause_queues(now, &pauses.hold, None, Some(&reason), &by)?;
    for pause in &pauses.from_file {
        let by = pause.by.as_ref().and_then(Name::as_str).unwrap_or(&by);
        let queue = std::slice::from_ref(&pause.queue);
        core.pause_queues(now, queue, pause.until, pause.reason.as_ref(), by)?;
    }
    for change in changes {
        if let Some(value) = &change.after {
            core.set_config(now, &change.key, value)?;
        }
    }
    for change in maxima {
        let seconds = change.expires.map(|expires| expires.since(now).ceil());
        let seconds = seconds.map(|seconds| seconds.to_string());
        core.set_maximum_and_wake_held_jobs(
            now,
            &change.id,
            change.maximum,
            seconds.as_deref(),
            &actor::user_at_host(),
        )?;
    }
    Ok(())
}

/// The state by which a plan tells recurring jobs from other jobs.
const RECURRING: &str = "recurring";

fn add_jobs_to_import(
    plan: &mut BulkPlan,
    contents: &ArchiveContents,
    jobs: &[u32],
    options: &ImportOptions,
) {
    let jids = contents.jids_by_number();
    let mut excluded = Vec::new();
    for (location, jid) in contents.jobs.iter().zip(&jids) {
        let outcome = match location.decision {
            ImportDecisionByState::Put => continue,
            ImportDecisionByState::SkipComplete => JobOutcome::already_complete(jid),
            ImportDecisionByState::SkipFailed => JobOutcome::refused(
                jid,
                OutcomeCode::StateChanged,
                "it has failed, as `--failed skip` says",
            ),
        };
        excluded.push(with_line_number(outcome, location.line));
    }
    let mut planned = Vec::with_capacity(jobs.len() + contents.recurring.len());
    let mut interner = FieldInterner::default();
    planned.extend(jobs.iter().map(|&at| {
        JobSnapshot {
            jid: jids[at as usize].clone(),
            // Only a dry run needs the queue here. Otherwise the outcome gets it when the job is put.
            common: interner.intern(SharedJobFields {
                queue: options
                    .flags
                    .dry_run
                    .then(|| contents.queue_of_job(at))
                    .flatten(),
                ..SharedJobFields::default()
            }),
            ..JobSnapshot::default()
        }
    }));
    planned.extend(contents.recurring.iter().map(|(jid, _)| JobSnapshot {
        jid: jid.clone(),
        common: interner.intern(SharedJobFields {
            stored: RECURRING.into(),
            ..SharedJobFields::default()
        }),
        ..JobSnapshot::default()
    }));
    plan.add_jobs_of_file(planned, excluded);
}

fn with_line_number(mut outcome: JobOutcome, line: u64) -> JobOutcome {
    outcome.line = Some(line);
    outcome
}

/// Adds to the outcome of a job its line, its queue, and its state in the file.
fn with_line_queue_and_state(outcome: JobOutcome, sent: &SentJob, state: State) -> JobOutcome {
    let mut outcome = with_line_number(outcome, sent.line);
    outcome.queue = Some(sent.queue.clone());
    outcome.state_before = Some(state.into_str().into());
    outcome
}

fn skipped_existing_outcome(jid: &Name) -> JobOutcome {
    JobOutcome {
        result: ItemResult::Skipped,
        ..JobOutcome::refused(jid, OutcomeCode::Exists, "it exists already")
    }
}

/// Puts the jobs that the plan of an import names, slice by slice.
struct PlannedJobImporter<'i> {
    file: &'i TwoPassFile,
    contents: &'i ArchiveContents,
    options: &'i ImportOptions,
    /// The dependencies that neither the file nor the server has: jobs are put without them.
    missing: HashSet<Name>,
    /// The note for the history of each job. `None` without `--reason`.
    note: Option<Vec<u8>>,
    /// The earliest moment of the next put.
    next: Moment,
}

impl PlannedJobImporter<'_> {
    fn import_slice(
        &mut self,
        core: &mut Core,
        now: Moment,
        jobs: &[JobSnapshot],
        outcomes: &mut Vec<JobOutcome>,
    ) -> Result<(), Error> {
        self.file.refuse_changed_file()?;
        let mut rest = jobs;
        while let Some(first) = rest.first() {
            let count = if first.has_stored_state(RECURRING) {
                outcomes.push(self.put_recurring(core, now, first)?);
                1
            } else {
                self.put_round(core, now, rest, outcomes)?
            };
            rest = &rest[count..];
        }
        Ok(())
    }

    /// Puts the jobs that fit in one round trip, up to the next recurring job. The result is their number.
    fn put_round(
        &mut self,
        core: &mut Core,
        now: Moment,
        jobs: &[JobSnapshot],
        outcomes: &mut Vec<JobOutcome>,
    ) -> Result<usize, Error> {
        let policy = PutPolicy {
            replace: self.options.existing == ExistingPolicy::Replace,
            // A dry run has not put the dependencies that come before in the file.
            allow_missing: self.options.flags.dry_run,
            dry_run: self.options.flags.dry_run,
            ..PutPolicy::default()
        };
        let (mut round, mut pasts, mut line) = (PutRound::default(), Vec::new(), Vec::new());
        for job in jobs
            .iter()
            .take_while(|job| !job.has_stored_state(RECURRING))
        {
            if round.byte_size() > ROUND_SIZE {
                break;
            }
            let number = self.reread_line_and_number(job, &mut line)?;
            let read = match archive::parse_archive_line(&line) {
                Ok(ArchiveLine::Job(read)) if read.jid == job.jid => read,
                _ => return Err(self.file.changed_error()),
            };
            // Each job has its own call and moment, so that the jobs run in the order of the file.
            round.begin_call(policy, 1);
            round.add_job_to_last_call(number, job.jid.as_bytes(), &self.job_to_put(&read), now);
            pasts.push((read.state, read.tracked == Some(true)));
        }
        self.next = self.next.max(now);
        let replies =
            round.send_timestamped_calls(core, &mut self.next, None, PutEvidence::NewestPut);
        let (mut tracked, mut stopped_by) = (Vec::new(), None);
        let sent = round.batches.iter().flat_map(|batch| &batch.jobs);
        for ((sent, (state, is_tracked)), reply) in sent.zip(&pasts).zip(replies) {
            let jid = &sent.jid;
            let outcome = match reply.map(|mut replies| replies.pop()) {
                Ok(Some(reply)) => {
                    let outcome = self.import_outcome(jid, reply);
                    if *is_tracked && outcome.result == ItemResult::Done && !policy.dry_run {
                        tracked.push(jid.clone());
                    }
                    outcome
                }
                Ok(None) => continue,
                // If the core refuses a job, the import of the others goes on.
                Err(error) if error.kind() == Kind::Usage => JobOutcome::refused(
                    jid,
                    OutcomeCode::Invalid,
                    refusal_without_call_name(&error).into_owned(),
                ),
                Err(error) => {
                    let job = JobSnapshot {
                        jid: jid.clone(),
                        ..JobSnapshot::default()
                    };
                    let outcome = JobOutcome::of_failed_call(&job, &error);
                    stopped_by.get_or_insert(error);
                    outcome
                }
            };
            let outcome = with_line_queue_and_state(outcome, sent, *state);
            outcomes.push(outcome);
        }
        let tracked: Vec<&Name> = tracked.iter().collect();
        for reply in core.track_new_jobs(now, &tracked) {
            if let Err(error) = reply {
                stopped_by.get_or_insert(error);
            }
        }
        stopped_by.map_or(Ok(pasts.len()), Err)
    }

    fn import_outcome(&self, jid: &Name, reply: GuardReply<PutResult>) -> JobOutcome {
        let refusal = match reply {
            GuardReply::Done(put) => {
                return JobOutcome {
                    state_after: put.state,
                    ..JobOutcome::done(jid)
                };
            }
            GuardReply::Refused(refusal) => refusal,
        };
        match refusal.code {
            OutcomeCode::Exists if self.options.existing == ExistingPolicy::Skip => {
                skipped_existing_outcome(jid)
            }
            code => {
                // A summary counts each job by its own text, which names the dependencies.
                let why = refusal.put_or_dependency_detail().to_string();
                JobOutcome::refused(jid, code, why)
            }
        }
    }

    /// Makes a recurring job again, and gives its outcome.
    fn put_recurring(
        &mut self,
        core: &mut Core,
        now: Moment,
        job: &JobSnapshot,
    ) -> Result<JobOutcome, Error> {
        let mut line = Vec::new();
        let number = self.reread_line_and_number(job, &mut line)?;
        let read = match archive::parse_archive_line(&line) {
            Ok(ArchiveLine::Recurring(read)) if read.jid == job.jid => read,
            _ => return Err(self.file.changed_error()),
        };
        let queue = self.options.mapped_queue(&read.queue).clone();
        let found = core.recurring_jobs(now, std::slice::from_ref(&job.jid))?;
        let exists = found.into_iter().flatten().next().is_some();
        let mut outcome = match (exists, self.options.existing) {
            (true, ExistingPolicy::Skip) => skipped_existing_outcome(&job.jid),
            (true, ExistingPolicy::Refuse) => {
                JobOutcome::refused(&job.jid, OutcomeCode::Exists, "it exists already")
            }
            // No call tells what the put of a recurring job would do.
            _ if self.options.flags.dry_run => JobOutcome::done(&job.jid),
            _ => match core.import_recurring_job(
                now,
                &pack::recurring_to_put(&read, queue.clone(), now),
                &pack::recurring_pause_and_count_json(&read),
            ) {
                Ok(GuardReply::Done(())) => JobOutcome::done(&job.jid).with_state_after(RECURRING),
                Ok(GuardReply::Refused(refusal)) => {
                    JobOutcome::refused(&job.jid, refusal.code, refusal.core_refusal_text())
                }
                Err(error) if error.kind() == Kind::Usage => {
                    let why = refusal_without_call_name(&error).into_owned();
                    JobOutcome::refused(&job.jid, OutcomeCode::Invalid, why)
                }
                Err(error) => return Err(error),
            },
        };
        outcome.queue = Some(queue);
        Ok(with_line_number(outcome, number))
    }

    /// Reads the line of a job from the file again. The result is the number of the line.
    fn reread_line_and_number(&self, job: &JobSnapshot, line: &mut Vec<u8>) -> Result<u64, Error> {
        let location = if job.has_stored_state(RECURRING) {
            let mut recurring = self.contents.recurring.iter();
            recurring
                .find(|(jid, _)| *jid == job.jid)
                .map(|(_, location)| *location)
        } else {
            self.contents
                .jids
                .get(&job.jid)
                .map(|&at| self.contents.jobs[at as usize])
        };
        match location {
            Some(location) => {
                self.file
                    .read_line_at(location.offset, location.length as usize, line)?;
                Ok(location.line)
            }
            None => Err(Error::internal("a job without a line")),
        }
    }
}

/// Refuses `--map-queue` pairs with the same old name.
pub(crate) fn refuse_duplicate_queue_map(pairs: &[(Name, Name)]) -> Result<(), Error> {
    let mut seen: HashMap<&Name, &Name> = HashMap::new();
    for (old, new) in pairs {
        if seen.insert(old, new).is_some() {
            return Err(Error::usage(format!("`--map-queue` names `{old}` twice")));
        }
    }
    Ok(())
}

/// The core's reason for the refusal of a job, without the name of the core's command.
fn refusal_without_call_name(error: &Error) -> Cow<'_, str> {
    match error.cause() {
        Some(Cause::Argument(reason)) => reason.as_str().into(),
        _ => error.message(),
    }
}
