//! Submitting many jobs: `put --from` and `import`.
//!
//! `put --from`: [`check`] validates every line before the first is sent. If jobs depend on jobs of later
//! lines, [`order`] sorts them. Then the lines are read again, packed into rounds ([`round`]), sent
//! ([`RoundSender`]) and reported ([`tally`]). A journal ([`journal`]) records what was sent and which replies
//! came. A dry run makes the same calls, each of which tells what it would do.
//!
//! [`import`] puts the jobs of an export, whose plan is a [`BulkPlan`](crate::bulk::BulkPlan).

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use crate::args::coordination::ThrottleArg;
use crate::args::input_arg::FileOrStreamArg;
use crate::args::shared::{BULK, RequireExistingQueueFlag};
use crate::args::value;
use crate::bulk::maxima::ThrottleMaximaToSet;
use crate::bulk::new_queues;
use crate::bulk::pace::{Pace, interrupted_error, stopped_error};
use crate::bulk::restart::RestartWatch;
use crate::clock::moment::Moment;
use crate::core::api::guard::{GuardReply, PutEvidence, PutPolicy, PutResult, ThrottleMaximaJson};
use crate::core::call::blocks_writes;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::input::two_pass::TwoPassFile;
use crate::interrupt::InterruptFlags;
use crate::json::path::JsonPath;
use crate::model::bulk::{ItemResult, JobOutcome, MAX_JOBS_PER_CALL, OutcomeCode};
use crate::model::rate::MaxRate;
use crate::name::Name;
use crate::session::Session;
use crate::settings::members::ContextMembers;
use crate::text::format_count;
use crate::threads;
use crate::ui::Progress;

mod check;
pub(crate) mod import;
pub(crate) mod jid;
mod journal;
mod order;
pub(crate) mod queue_defaults;
mod round;
mod tally;

use jid::LineDefaults;
use journal::{JournalOrReport, JournalState, LostJobs};
use round::{CallOutcomes, PackPolicyAndLimits, PutBatch, PutRound, SentJob};
use tally::PutTally;

/// The flags of `put` that require `--from`.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct PutFromFlags {
    /// Record each line in this file; the same command with the same file skips lines that are done
    #[arg(help_heading = BULK, long, value_name = "FILE", value_parser = value::file_to_write(),
          requires = "from")]
    journal: Option<PathBuf>,
    /// As `--journal`, and the file has the outcome of each line, as a line of `-o ndjson`
    #[arg(help_heading = BULK, long, value_name = "FILE", value_parser = value::file_to_write(),
          requires = "from", conflicts_with = "journal")]
    report: Option<PathBuf>,
    /// Number of jobs per call [default: 200]
    #[arg(help_heading = BULK, long, value_name = "N", value_parser = value::jobs_per_call,
          allow_hyphen_values = true, requires = "from")]
    batch: Option<usize>,
    /// Maximum number of jobs per second, such as `500/s`
    #[arg(help_heading = BULK, long, value_name = "N/s", value_parser = value::rate,
          allow_hyphen_values = true, requires = "from")]
    rate: Option<MaxRate>,
    /// Stop at the first line that fails
    #[arg(help_heading = BULK, long, requires = "from")]
    fail_fast: bool,
}

/// The arguments of `put --from`.
#[derive(Debug)]
pub(crate) struct SubmitOptions {
    pub from: FileOrStreamArg,
    /// The default fields of a line, the source of its jid, and the maximum size of its data.
    pub defaults: LineDefaults,
    /// The throttles that the command line names, with the maxima to set.
    pub throttles: Vec<ThrottleArg>,
    pub policy: PutPolicy,
    /// Whether a queue that does not exist is an error.
    pub existing: RequireExistingQueueFlag,
    /// Whether an existing job counts as put.
    pub if_absent: bool,
    pub flags: PutFromFlags,
    /// The number of replicas that must confirm each round before the next one begins.
    pub replicas: Option<u64>,
    /// Whether [`ExitAndSubmittedJids::jids`] is filled.
    pub keep_jids: bool,
}

impl SubmitOptions {
    /// The policy and the limits of each call. The relative times of the jobs count from `now`.
    fn pack_policy_and_limits(&self, pace: &Pace, now: Moment) -> PackPolicyAndLimits {
        // With `--fail-fast`, each call has one job, so that no job is put after the first failure.
        let (batch, jobs, calls) = if self.flags.fail_fast {
            (1, 1, 1)
        } else {
            (CALL_JOBS, ROUND_JOBS, CALLS)
        };
        PackPolicyAndLimits {
            policy: PutPolicy {
                // A dry run allows missing dependencies: the calls before put nothing, so the core cannot find the
                // jobs that they would put.
                allow_missing: self.policy.allow_missing || self.policy.dry_run,
                ..self.policy
            },
            batch: self.flags.batch.unwrap_or(batch).min(MAX_JOBS_PER_CALL),
            jobs: pace.slice_size(jobs),
            calls,
            now,
        }
    }
}

/// The result of `put --from`.
#[derive(Debug)]
pub(crate) struct ExitAndSubmittedJids {
    pub exit: Exit,
    /// The jids of the jobs that were put or existed already. Empty unless `keep_jids` was set.
    pub jids: Vec<Name>,
}

/// Number of jobs in a call by default.
const CALL_JOBS: usize = 200;

/// Maximum number of jobs in one round trip.
const ROUND_JOBS: usize = 1000;
/// Maximum number of calls in one round trip.
const CALLS: usize = 50;

const ROUNDS_PACKED_AHEAD: usize = 2;

/// Maximum size of a line apart from its job data, in bytes: room for names and whitespace.
const BESIDES: usize = 1 << 20;

fn open_lines_with_length_limit(
    from: &FileOrStreamArg,
    defaults: &LineDefaults,
) -> Result<TwoPassFile, Error> {
    TwoPassFile::open(from, defaults.max_data.saturating_add(BESIDES))
}

/// Distributes the lines to several members by the value at `shard_by` in their data, else by `key`, else by jid. A
/// job that has none of them yet is distributed by its line number.
pub(crate) fn share_lines_by_shard_key(
    from: &FileOrStreamArg,
    defaults: &LineDefaults,
    shard_by: Option<&JsonPath>,
    members: usize,
) -> Result<Vec<TwoPassFile>, Error> {
    let file = open_lines_with_length_limit(from, defaults)?;
    let what = file.source_name().to_owned();
    file.share_lines_by_shard_key(members, |row| {
        let job = defaults.parse_job_line(row.text);
        let job = job.map_err(|fault| check::line_error(&what, &row, fault))?;
        let number = row.number.to_be_bytes();
        let kept_with = jid::shard_key(&job, job.jid.jid_unless_fresh(), shard_by);
        Ok(ContextMembers::member_index_of_new_job(
            kept_with.as_deref().unwrap_or(&number),
            members,
        ))
    })
}

/// Submits the lines of a file.
pub(crate) fn submit_file(
    options: &SubmitOptions,
    session: &mut Session,
) -> Result<ExitAndSubmittedJids, Error> {
    let (defaults, flags) = (&options.defaults, &options.flags);
    let dry_run = options.policy.dry_run;
    let mut file = match session.take_input_lines_of_member() {
        Some(file) => file,
        None => open_lines_with_length_limit(&options.from, defaults)?,
    };
    let needs_queues = new_queues::are_new_queues_checked(options.existing, dry_run, session);
    let needs_sums = flags.journal.is_some() || flags.report.is_some();
    let mut checked = check::check_lines(
        &mut file,
        defaults,
        &options.throttles,
        needs_sums,
        needs_queues,
        options.policy.replace,
        session,
    )?;
    let sorted = if checked.has_forward_dependencies {
        Some(order::dependencies_first(&file, defaults)?)
    } else {
        None
    };
    if !session.ui.await_all_parts_valid() {
        // The other member reports what is wrong.
        return Ok(ExitAndSubmittedJids {
            exit: Exit::Ok,
            jids: Vec::new(),
        });
    }
    for note in &checked.notes {
        session.ui.note(&format!("note: {note}"));
    }
    let jobs = usize::try_from(checked.jobs).unwrap_or(usize::MAX);
    if !checked.queues.is_empty() {
        let queues = std::mem::take(&mut checked.queues).into_iter();
        let queues: Vec<Name> = queues.map(Name::from).collect();
        let now = session.connect()?;
        new_queues::note_or_refuse_new_queues(&queues, options.existing, dry_run, now, session)?;
    }
    if jobs > 0 && !dry_run {
        let jobs = format_count(checked.jobs, "job", "jobs");
        let what = format!("put {jobs} on {}", session.server_label_and_address()?);
        session.ui.confirm_if_protected(&what, |_| String::new())?;
    }
    let mut journal = JournalOrReport::open_if_given(flags, session, dry_run, &checked.sums)?;
    let fresh = checked.has_fresh_jids;
    // Keep the throttles of the command line in the list: `read_changes` refuses two maxima for one throttle.
    let mut throttles = options.throttles.clone();
    let maxima = std::mem::take(&mut checked.maxima).into_iter();
    throttles.extend(maxima.map(|(id, maximum)| ThrottleArg {
        id,
        maximum: Some(maximum),
    }));
    drop(checked);
    let begun = session.connect()?;
    if let Some((journal, state)) = &mut journal {
        continue_journal(journal, state, dry_run, session)?;
    }
    let (journal, state) = journal.unzip();
    let resumable = !fresh || journal.is_some();
    // A dry run reads the journal and never writes it.
    let journal = journal.filter(|_| !dry_run);
    let restarts = if dry_run {
        None
    } else {
        Some(RestartWatch::begin_noting_unsupported(session)?)
    };
    let maxima = ThrottleMaximaToSet::read_changes(&throttles, begun, session)?;
    if !dry_run && jobs > 0 {
        maxima.confirm_if_protected(session)?;
    }
    let pace = Pace::new(session.share_of_rate(flags.rate));
    let limits = options.pack_policy_and_limits(&pace, begun);
    let stopwatch = session.clock().start_stopwatch();
    let tally = PutTally::new(&session.ui, options, jobs, sorted.is_some(), stopwatch);
    let (to, rounds) = sync_channel(ROUNDS_PACKED_AHEAD);
    thread::scope(|scope| {
        let (file, sorted, state) = (&file, sorted.as_deref(), state.as_ref());
        threads::spawn_scoped(scope, move || {
            round::pack_lines(file, defaults, sorted, state, limits, &to)
        })?;
        let mut sender = RoundSender {
            options,
            file,
            to_set: maxima.changed_maxima_for_put(),
            maxima,
            interrupt: InterruptFlags::install_handlers_once(),
            progress: session.ui.start_progress_bar(jobs as u64),
            pace,
            tally,
            restarts,
            resumable,
            journal,
            jobs,
            next: begun,
        };
        let stopped_by = sender.send_rounds(session, &rounds);
        // Dropping the receiver stops the packing.
        drop(rounds);
        if sender.tally.has_planned_lines() {
            sender.maxima.note_planned_maxima(session);
        }
        let error = sender.finish_restart_watch(stopped_by?, session)?;
        let error = error.map(|error| sender.with_progress_and_resume_hint(error, session));
        sender.tally.write_totals(&mut session.ui, error)
    })
}

/// Begins a new journal, or continues that of an earlier run: lines whose jobs are lost count as not done.
fn continue_journal(
    journal: &mut JournalOrReport,
    state: &mut JournalState,
    dry_run: bool,
    session: &mut Session,
) -> Result<(), Error> {
    if !dry_run {
        journal.ledger.write_head_or_report_restart(session)?;
    }
    let lost = journal.verify_done_lines_if_loss_possible(state, session.core()?)?;
    note_lost_jobs(&lost, &journal.ledger.display_path(), session);
    Ok(())
}

/// Notes on stderr how many jobs that the journal calls done are missing on the server.
fn note_lost_jobs(lost: &LostJobs, journal: &str, session: &mut Session) {
    let since = format!(
        "the server restarted, was flushed, evicted keys or is another one since `{journal}` was written"
    );
    if !lost.missing.is_empty() {
        let jobs = format_count(lost.missing.len() as u64, "job", "jobs");
        session.ui.note(&format!(
            "note: {since}: {jobs} that were put are missing, and are put again"
        ));
    }
    if lost.old > 0 {
        let jobs = format_count(lost.old as u64, "job", "jobs");
        session.ui.note(&format!(
            "note: {since}: {jobs} that were put are missing, but may have ended and been deleted \
             since (`jobs-history`), and count as done"
        ));
    }
    if lost.evicted {
        session.ui.note(
            "note: the server has evicted keys, and so jobs that are done may be in no queue: \
             `qless check --repair` puts them back",
        );
    }
}

/// Sends the rounds at the requested rate, shows progress, and stops at a signal.
struct RoundSender<'s> {
    options: &'s SubmitOptions,
    file: &'s TwoPassFile,
    maxima: ThrottleMaximaToSet,
    /// The maxima of throttles, which each call carries until a job is put: that put sets them. `None` after it.
    to_set: Option<ThrottleMaximaJson>,
    interrupt: InterruptFlags,
    progress: Progress,
    pace: Pace,
    tally: PutTally,
    /// `None` in a dry run.
    restarts: Option<RestartWatch>,
    /// `None` in a dry run.
    journal: Option<JournalOrReport>,
    jobs: usize,
    /// The earliest moment of the next call.
    next: Moment,
    /// Whether the command, run again, would continue: there is a journal, or no jid is random.
    resumable: bool,
}

impl RoundSender<'_> {
    /// Sends the rounds until the last one, or until an error. The result `Some` is an error that the totals
    /// report; `Err` means that the output failed.
    fn send_rounds(
        &mut self,
        session: &mut Session,
        rounds: &Receiver<Result<PutRound, Error>>,
    ) -> Result<Option<Error>, Error> {
        for round in rounds {
            let mut round = match round {
                Ok(round) => round,
                Err(error) => {
                    let changed = self.refuse_changed_file(session).err();
                    return Ok(Some(changed.unwrap_or(error)));
                }
            };
            self.tally.add_lines_done_by_earlier_runs(round.done_before);
            self.progress.add_done(round.done_before as u64);
            if !self.options.policy.dry_run {
                self.pace
                    .wait_before_slice(round.job_count(), &self.interrupt);
            }
            if let Some(kind) = self.interrupt.error_kind_of_received_signal() {
                let done = self.jobs - self.tally.remaining_lines();
                let options = session.ui.render_options();
                let error = interrupted_error(kind, done, self.jobs, options);
                return Ok(Some(error.hint(self.resume_hint(session))));
            }
            if let Err(changed) = self.refuse_changed_file(session) {
                return Ok(Some(changed));
            }
            self.next = session.core()?.now().max(self.next);
            if let Some(journal) = &mut self.journal
                && let Err(error) = journal.record_round_before_send(&round, self.next)
            {
                return Ok(Some(error));
            }
            let maxima = self.to_set.as_ref();
            let core = session.core()?;
            let answers =
                round.send_timestamped_calls(core, &mut self.next, maxima, PutEvidence::FirstEntry);
            let mut stopped_by = self.report_round_outcomes(session, &mut round, answers)?;
            if let Some(restarts) = &mut self.restarts {
                restarts.check_loss_if_reconnected(session.core()?, self.tally.put_count());
            }
            if let Some(replicas) = self.options.replicas
                && !self.options.policy.dry_run
                && stopped_by.is_none()
            {
                stopped_by = session.core()?.wait_for_replicas(replicas).err();
            }
            session.ui.flush_stdout_and_wait_for_pager()?;
            if let Some(lost) = session.ui.lost_output_error() {
                stopped_by.get_or_insert(lost.hint(self.resume_hint(session)));
            }
            self.progress.add_done(round.job_count() as u64);
            if stopped_by.is_some()
                || (self.options.flags.fail_fast && self.tally.has_failed_lines())
            {
                return Ok(stopped_by);
            }
        }
        Ok(None)
    }

    /// Reports the outcomes of a round. The result is the error after which no further round is sent.
    fn report_round_outcomes(
        &mut self,
        session: &mut Session,
        round: &mut PutRound,
        answers: Vec<CallOutcomes>,
    ) -> Result<Option<Error>, Error> {
        let mut stopped_by = None;
        let mut is_put = false;
        for (batch, mut answer) in round.batches.iter_mut().zip(answers) {
            if batch.may_replace_later
                && let Ok(replies) = &mut answer
                && let Some(reply) = replies.pop()
            {
                answer = self.replace_unless_earlier_run_did(session, batch, reply);
            }
            let replies = match answer {
                Ok(replies) => replies,
                Err(error) => {
                    for job in &batch.jobs {
                        let outcome = unanswered_outcome(job, &error);
                        self.tally
                            .count_and_write_outcome(&mut session.ui, outcome)?;
                    }
                    stopped_by.get_or_insert(error);
                    continue;
                }
            };
            for (job, reply) in batch.jobs.iter().zip(&replies) {
                let mut outcome = line_outcome(job, reply, self.options.if_absent);
                is_put |= is_put_by_this_call(reply) && outcome.result == ItemResult::Done;
                if self.options.policy.dry_run {
                    outcome.state_after = None;
                    if outcome.result == ItemResult::Done {
                        outcome.result = ItemResult::Planned;
                    }
                } else if let Some(journal) = &mut self.journal {
                    journal.add_outcome(job, &outcome)?;
                }
                if let (Some(restarts), ItemResult::Done) = (&mut self.restarts, outcome.result) {
                    restarts.remember_put(outcome.jid.as_bytes());
                }
                self.tally
                    .count_and_write_outcome(&mut session.ui, outcome)?;
            }
        }
        if is_put && self.to_set.take().is_some() && !self.options.policy.dry_run {
            self.maxima.note_changed_maxima(session);
        }
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.write_outcomes_without_sync()
        {
            stopped_by.get_or_insert(error);
        }
        Ok(stopped_by)
    }

    /// The error that stopped the sending. If there is none, checks for a restart and fails if the server may have
    /// lost acknowledged jobs.
    fn finish_restart_watch(
        &mut self,
        stopped_by: Option<Error>,
        session: &mut Session,
    ) -> Result<Option<Error>, Error> {
        let Some(restarts) = self.restarts.take() else {
            return Ok(stopped_by);
        };
        let again = match (self.resumable, session.command_line_unless_secret()) {
            (true, Some(line)) => format!("the same command puts what is missing: `{line}`"),
            (true, None) => "the same command puts what is missing".to_owned(),
            (false, _) => {
                "`qless queues` counts what is there; with `--journal` or `--jid-from` the \
                           same command puts what is missing"
                    .to_owned()
            }
        };
        restarts.check_loss_at_end(stopped_by, self.tally.put_count(), again, session)
    }

    /// For `--replace`, when an earlier run sent a line without seeing a reply: replaces the existing job, unless
    /// the job's newest put shows that the earlier run did so.
    fn replace_unless_earlier_run_did(
        &mut self,
        session: &mut Session,
        batch: &mut PutBatch,
        reply: GuardReply<PutResult>,
    ) -> CallOutcomes {
        let since = batch.jobs.first().and_then(|job| job.since);
        let (Some(OutcomeCode::Exists), Some(since)) = (reply.refusal_code(), since) else {
            return Ok(vec![reply]);
        };
        if reply.is_existing_since(since, PutEvidence::NewestPut) {
            return Ok(vec![GuardReply::Done(PutResult::default())]);
        }
        let call = batch.take_replacing_call(self.to_set.as_ref());
        let core = session.core()?;
        let now = core.now();
        core.put_many(now, vec![(call, 1)], PutEvidence::FirstEntry)
            .pop()
            .unwrap_or_else(|| Ok(Vec::new()))
    }

    /// Adds to an error that stopped the sending how many jobs were put, and how to submit the rest.
    fn with_progress_and_resume_hint(&self, error: Error, session: &Session) -> Error {
        let (done, resume) = (self.tally.put_count(), self.resume_hint(session));
        let kind = error.kind();
        if kind == Kind::OutcomeUnknown {
            return error.hint(resume);
        }
        if done == 0 || kind.exit() != Exit::Server {
            return error;
        }
        let is_refused = blocks_writes(&error);
        let error = if is_refused {
            stopped_error(error, done, self.jobs, session.ui.render_options())
        } else {
            error
        };
        match (self.resumable, is_refused) {
            (true, true) => error.further_hint(&resume),
            (true, false) => error,
            (false, _) => {
                let done = format_count(done as u64, "job was", "jobs were");
                error.further_hint(&format!("{done} put: {resume}"))
            }
        }
    }

    /// Refuses a file that was changed after it was checked. The hint says how to submit the rest.
    fn refuse_changed_file(&self, session: &Session) -> Result<(), Error> {
        let Err(changed) = self.file.refuse_changed_file() else {
            return Ok(());
        };
        let resume = self.resume_hint(session);
        Err(match (&self.journal, self.resumable) {
            _ if self.tally.put_count() == 0 => changed,
            (Some(_), _) => changed.hint(format!(
                "once nothing writes to it, {resume}; this puts new lines and no line twice, and is \
                 refused if a line that was sent has changed"
            )),
            (None, true) => changed.hint(format!("once nothing writes to it, {resume}")),
            (None, false) => changed.hint(resume),
        })
    }

    /// How to submit the rest.
    fn resume_hint(&self, session: &Session) -> String {
        if self.resumable {
            return session.resume_hint();
        }
        "the same command would put them again; with `--jid-from` or `--journal` it goes on"
            .to_owned()
    }
}

/// Whether this call put the job. False if it is not known which call did.
fn is_put_by_this_call(reply: &GuardReply<PutResult>) -> bool {
    matches!(reply, GuardReply::Done(put) if put.state.is_some())
}

/// The outcome of a job without a reply.
fn unanswered_outcome(job: &SentJob, error: &Error) -> JobOutcome {
    let code = match error.kind() {
        Kind::OutcomeUnknown => OutcomeCode::Unknown,
        _ => OutcomeCode::Server,
    };
    JobOutcome {
        detail: Some(error.message().into_owned().into()),
        ..job.outcome_with_code(code)
    }
}

/// The outcome of a line by the core's reply about its job.
fn line_outcome(job: &SentJob, reply: &GuardReply<PutResult>, leaves_existing: bool) -> JobOutcome {
    let refusal = match reply {
        GuardReply::Refused(refusal) => refusal,
        GuardReply::Done(put) => {
            let mut outcome = job.outcome_with_code(OutcomeCode::Ok);
            match put.state.as_ref().map(Name::as_bytes) {
                Some(b"skipped") => outcome.result = ItemResult::Skipped,
                Some(b"merged" | b"replaced") => {}
                _ => outcome.state_after = put.state.clone(),
            }
            if let Some(existing) = put.jid.as_ref().filter(|jid| **jid != job.jid) {
                outcome.detail = put.state.as_ref().map(|state| state.to_string().into());
                outcome.jid = existing.clone();
            }
            return outcome;
        }
    };
    // The job exists because an earlier run put it, and ended before it recorded the reply.
    let is_put_by_earlier_run = |since| reply.is_existing_since(since, PutEvidence::FirstEntry);
    if job.since.is_some_and(is_put_by_earlier_run) {
        return job.outcome_with_code(OutcomeCode::Ok);
    }
    let mut outcome = job.outcome_with_code(refusal.code);
    if refusal.code == OutcomeCode::Exists && leaves_existing {
        outcome.result = ItemResult::Skipped;
    } else {
        outcome.detail = Some(refusal.put_or_dependency_detail());
    }
    outcome
}
