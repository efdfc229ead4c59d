//! The environment of a program: its job, and no password of ours.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::ANSWER_DESCRIPTOR;
use super::launch::StartFault;
use super::substitute::LONGEST;
use crate::address;
use crate::model::popped_job::PoppedJob;
use crate::name::Name;

/// Variables that hold a password.
const PASSWORDS: [&str; 3] = [
    "QLESS_REDIS_PASSWORD",
    "REDISCLI_AUTH",
    "QLESS_SENTINEL_PASSWORD",
];

/// The variables of a program. They are not inherited from a job that started this program.
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

/// The variables by which a service manager talks with `qless`, and with nothing below it.
const SERVICE: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// Returns the variables of each program: the name of the worker, and the descriptor for answers.
pub fn of_worker(worker: &Name) -> Result<Vec<(&'static str, OsString)>, StartFault> {
    let descriptor = OsString::from(ANSWER_DESCRIPTOR.to_string());
    Ok(vec![
        ("QLESS_WORKER", value("QLESS_WORKER", worker.as_bytes())?),
        ("QLESS_RESULT_FD", descriptor),
    ])
}

/// Returns the variables of a program that runs one job. `QLESS_TAGS` has one tag per line: a tag may
/// hold blanks and commas, but no new one holds a line break.
pub fn of_job(job: &PoppedJob, worker: &Name) -> Result<Vec<(&'static str, OsString)>, StartFault> {
    let mut variables = of_worker(worker)?;
    let tags: Vec<&[u8]> = job.tags.iter().map(Name::as_bytes).collect();
    let texts = [
        ("QLESS_JID", job.jid.as_bytes()),
        ("QLESS_QUEUE", job.queue.as_bytes()),
        ("QLESS_KLASS", job.klass.as_bytes()),
        ("QLESS_TAGS", &tags.join(&b'\n')),
    ];
    for (name, bytes) in texts {
        variables.push((name, value(name, bytes)?));
    }
    let numbers = [
        ("QLESS_PRIORITY", job.priority),
        ("QLESS_RETRIES_LEFT", job.remaining),
        ("QLESS_ATTEMPT", job.attempt()),
    ];
    variables.extend(numbers.map(|(name, number)| (name, number.to_string().into())));
    if let Some(key) = &job.key {
        variables.push(("QLESS_KEY", value("QLESS_KEY", key.as_bytes())?));
    }
    if let Some(fence) = job.fence {
        variables.push(("QLESS_FENCE", fence.to_string().into()));
    }
    Ok(variables)
}

fn value(name: &str, bytes: &[u8]) -> Result<OsString, StartFault> {
    if bytes.contains(&0) {
        return Err(StartFault::job(format!(
            "`{name}` cannot be set: its value holds NUL"
        )));
    }
    if name.len() + 1 + bytes.len() > LONGEST {
        return Err(StartFault::job(format!(
            "`{name}` cannot be set: its value is {} bytes long, more than 128 KiB",
            bytes.len()
        )));
    }
    Ok(OsString::from_vec(bytes.to_vec()))
}

/// Returns the variables of this program that no program inherits.
pub(in crate::work) fn removed() -> Vec<OsString> {
    std::env::vars_os()
        .filter(|(name, value)| is_removed(name, value))
        .map(|(name, _)| name)
        .collect()
}

fn is_removed(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let is_address = name == "REDIS_URL" || (name.starts_with("QLESS_") && name.ends_with("_URL"));
    PASSWORDS.contains(&name)
        || JOB.contains(&name)
        || SERVICE.contains(&name)
        || (is_address && holds_password(value))
}

/// Whether an address has a password, also one in a form that only other clients accept.
fn holds_password(value: &OsStr) -> bool {
    match value.to_str() {
        Some(text) => address::holds_password(text) || text.contains("password="),
        // Such an address is of no use to anybody.
        None => value.as_bytes().contains(&b'@'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_inherited_and_plain_addresses_are() {
        for (name, value, is_secret) in [
            ("QLESS_REDIS_PASSWORD", "x", true),
            ("REDISCLI_AUTH", "x", true),
            ("QLESS_SENTINEL_PASSWORD", "", true),
            ("QLESS_REDIS_URL", "redis://:secret@h/0", true),
            ("QLESS_REDIS_URL", "redis://user:secret@h/0", true),
            ("QLESS_REDIS_URL", "redis://h/0", false),
            ("QLESS_REDIS_URL", "redis://user@h/0", false),
            ("QLESS_REDIS_URL", "redis://h/0?password=secret", true),
            ("QLESS_SENTINEL_URL", "redis-sentinel://:secret@h/m", true),
            ("REDIS_URL", ":secret@h", true),
            ("REDIS_URL", "unix:///run/redis.sock", false),
            ("DATABASE_URL", "postgres://me:secret@h/db", false),
            ("QLESS_PREFIX", "ql:", false),
            ("QLESS_JID", "of an outer job", true),
            ("PATH", "/bin", false),
        ] {
            let removed = is_removed(OsStr::new(name), OsStr::new(value));
            assert_eq!(removed, is_secret, "{name}={value}");
        }
    }
}
