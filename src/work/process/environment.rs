//! The environment of a program: its job, and no password of this process.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::ANSWER_DESCRIPTOR;
use super::substitute::LONGEST;
use crate::model::popped_job::PoppedJob;
use crate::name::Name;
use crate::work::machine::event::StartFailure;

/// The variables that tell a program about its job. A program never inherits them: `qless` itself may run in a job.
const JOB: [&str; 11] = [
    "QLESS_JID",
    "QLESS_QUEUE",
    "QLESS_KLASS",
    "QLESS_TAGS",
    "QLESS_PRIORITY",
    "QLESS_RETRIES_LEFT",
    "QLESS_ATTEMPT",
    "QLESS_WORKER",
    "QLESS_KEY",
    "QLESS_FENCE",
    "QLESS_RESULT_FD",
];

/// The variables for messages between a service manager and `qless`. The programs that `qless` starts do not get them.
const SERVICE: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// The variables of each program: the name of the worker, and the descriptor for answers.
pub fn worker_variables(worker: &Name) -> Result<Vec<(&'static str, OsString)>, StartFailure> {
    let descriptor = OsString::from(ANSWER_DESCRIPTOR.to_string());
    Ok(vec![
        (
            "QLESS_WORKER",
            variable_value("QLESS_WORKER", worker.as_bytes())?,
        ),
        ("QLESS_RESULT_FD", descriptor),
    ])
}

/// The variables of a program that runs one job. `QLESS_TAGS` has one tag per line: a tag may hold blanks and commas,
/// but the core accepts no new tag with a line break.
pub fn job_variables(
    job: &PoppedJob,
    worker: &Name,
) -> Result<Vec<(&'static str, OsString)>, StartFailure> {
    let mut variables = worker_variables(worker)?;
    let tags: Vec<&[u8]> = job.tags.iter().map(Name::as_bytes).collect();
    let texts = [
        ("QLESS_JID", job.jid.as_bytes()),
        ("QLESS_QUEUE", job.queue.as_bytes()),
        ("QLESS_KLASS", job.klass.as_bytes()),
        ("QLESS_TAGS", &tags.join(&b'\n')),
    ];
    for (name, bytes) in texts {
        variables.push((name, variable_value(name, bytes)?));
    }
    let numbers = [
        ("QLESS_PRIORITY", job.priority),
        ("QLESS_RETRIES_LEFT", job.remaining),
        ("QLESS_ATTEMPT", job.attempt_number()),
    ];
    variables.extend(numbers.map(|(name, number)| (name, number.to_string().into())));
    if let Some(key) = &job.key {
        variables.push(("QLESS_KEY", variable_value("QLESS_KEY", key.as_bytes())?));
    }
    if let Some(fence) = job.fence {
        variables.push(("QLESS_FENCE", fence.to_string().into()));
    }
    Ok(variables)
}

fn variable_value(name: &str, bytes: &[u8]) -> Result<OsString, StartFailure> {
    if bytes.contains(&0) {
        return Err(StartFailure::Job(format!(
            "`{name}` cannot be set: its value holds NUL"
        )));
    }
    if name.len() + 1 + bytes.len() > LONGEST {
        return Err(StartFailure::Job(format!(
            "`{name}` cannot be set: its value is {} bytes long, more than 128 KiB",
            bytes.len()
        )));
    }
    Ok(OsString::from_vec(bytes.to_vec()))
}

/// The variables of `qless` that no program inherits, besides the variables with secrets.
pub(super) fn variables_to_remove() -> impl Iterator<Item = OsString> {
    JOB.into_iter().chain(SERVICE).map(OsString::from)
}
