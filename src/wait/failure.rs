//! The error of a wait whose jobs did not reach the awaited state.

use super::WaitOptions;
use crate::command_line::CommandLine;
use crate::error::{Error, Kind};
use crate::model::job::State;
use crate::model::wait::{FinishedWait, JobWaitResult, WaitItem, WaitOutcome, WaitTotals};
use crate::name::Name;
use crate::session::Session;
use crate::text::{
    Sanitized, failure_summary_line, format_count, format_duration_tenths_below_second,
};

/// Fails if the wait ended without the awaited state: at its deadline, by a signal, or because a job can no longer
/// reach it.
pub(crate) fn require_awaited_state(
    wait: &FinishedWait,
    options: &WaitOptions,
    session: &mut Session,
) -> Result<(), Error> {
    let totals = &wait.totals;
    let job = wait.decisive.map(|at| &wait.items[at]);
    let result = match (totals.outcome, job) {
        (WaitOutcome::Reached(_) | WaitOutcome::Ended(JobWaitResult::Pending), _) => return Ok(()),
        (WaitOutcome::Ended(_), Some(job)) if !options.any => {
            let lost_by = wait.lost_by.as_deref();
            return Err(ended_job_error(job, lost_by, options, session));
        }
        (WaitOutcome::Ended(_), _) => {
            let jobs = format_count(totals.jobs as u64, "job", "jobs");
            let lost_by = wait.lost_by.as_ref();
            let why = lost_by.map_or_else(String::new, |lost_by| format!(": {lost_by}"));
            let message = format!("none of {jobs} can reach state `{}`{why}", totals.awaited);
            return Err(Error::new(Kind::JobFailed, message));
        }
        (WaitOutcome::Deadline, _) => {
            let deadline = options.deadline.unwrap_or_default().as_secs_f64();
            let deadline = match deadline {
                short if short < 0.05 => "the deadline".to_owned(),
                long => format!(
                    "the deadline of {}",
                    format_duration_tenths_below_second(long)
                ),
            };
            let silence = totals.silent_s.map_or_else(String::new, |silent| {
                format!(
                    "; the server has not replied for {}",
                    format_duration_tenths_below_second(silent.0)
                )
            });
            let rest = describe_reached_count(wait);
            let error = format!("{deadline} passed: {rest}{silence}");
            Error::new(Kind::Deadline, error)
        }
        (WaitOutcome::Interrupted(kind), _) => Error::new(
            kind,
            format!("interrupted: {}", describe_reached_count(wait)),
        ),
    };
    Err(match job {
        Some(job) => {
            let explain = CommandLine::new("explain").with_name_argument(&job.jid);
            result.hint_if(explain.fill_sentence("{} shows why"))
        }
        None => result,
    })
}

/// The clause of the error that says how many jobs have reached the awaited state.
fn describe_reached_count(wait: &FinishedWait) -> String {
    let WaitTotals {
        jobs,
        reached,
        awaited,
        ..
    } = wait.totals;
    match (jobs, &wait.items[..]) {
        (1, [job]) => format!("`{}` is not {awaited}", job.jid),
        _ => format!("{reached} of {jobs} jobs are {awaited}"),
    }
}

/// The error about a job that can no longer reach the awaited state.
fn ended_job_error(
    job: &WaitItem,
    lost_by: Option<&str>,
    options: &WaitOptions,
    session: &mut Session,
) -> Error {
    let jid = &job.jid;
    // `put --wait` does not have this flag.
    let allow_gone = || match session.command_name() {
        "wait" => Some("`--allow-gone` accepts that".to_owned()),
        _ => {
            let wait = CommandLine::new("wait --allow-gone").with_name_argument(jid);
            wait.fill_sentence("{} accepts that")
        }
    };
    let (sentence, hint) = match (job.result, lost_by) {
        (JobWaitResult::Ended(State::Failed), _) => {
            let get = CommandLine::new("get").with_name_argument(jid);
            let hint = get.fill_sentence("{} shows the failure");
            (
                format!("`{jid}` failed{}", read_failure_as_suffix(jid, session)),
                hint,
            )
        }
        (JobWaitResult::Ended(state), _) => {
            let why = format!("`{jid}` is {state}, so it will not be {}", options.awaited);
            (why, None)
        }
        (JobWaitResult::Gone, Some(lost_by)) => (
            format!("`{jid}` does not exist any more, and is probably lost: {lost_by}"),
            Some("put it again if it is still needed".to_owned()),
        ),
        (JobWaitResult::Gone, None) => (
            format!("`{jid}` does not exist any more: cancelled, or complete and expired"),
            allow_gone(),
        ),
        _ => (format!("`{jid}` was cancelled"), allow_gone()),
    };
    let error = Error::new(Kind::JobFailed, sentence).about_jid(jid);
    error.hint_if(hint)
}

/// `: group: message` of a failed job, for the end of a sentence. Empty if the failure cannot be read.
fn read_failure_as_suffix(jid: &Name, session: &mut Session) -> String {
    let read = |session: &mut Session| {
        let core = session.core().ok()?;
        let jobs = core.jobs_with_fields(core.now(), "jid,failure", std::slice::from_ref(jid));
        jobs.ok()?.pop()??.failure
    };
    let Some(failure) = read(session) else {
        return String::new();
    };
    let message = Sanitized(failure_summary_line(failure.message.as_bytes())).to_string();
    format!(": {}: {message}", failure.group)
}
