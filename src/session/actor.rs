//! The actor of a command: user and host, for the notes in job histories and for the worker's name.

use crate::env;
use crate::error::Error;
use crate::json::quote::quote_string;
use crate::name::Name;
use crate::name::refuse_as_new_name;

pub(crate) fn user_at_host() -> String {
    format!("{}@{}", user_name(), host_name())
}

/// The note that a change leaves in a job's history: verb, actor and reason.
pub(crate) fn history_note(verb: &str, reason: Option<&Name>) -> Vec<u8> {
    let mut note = b"{\"verb\":".to_vec();
    note.extend(quote_string(verb.as_bytes()));
    note.extend(b",\"by\":");
    note.extend(quote_string(user_at_host().as_bytes()));
    if let Some(reason) = reason {
        note.extend(b",\"reason\":");
        note.extend(quote_string(reason.as_bytes()));
    }
    note.push(b'}');
    note
}

/// The name of this worker: `--worker`, QLESS_WORKER, or a name made of user, host and session (getsid(2)). So a
/// command on a terminal can complete a job that an earlier command popped there. Each cron script and service has its
/// own session, and cannot complete the job.
pub(crate) fn worker_name_given_or_of_session(given: Option<&Name>) -> Result<Name, Error> {
    let named = match given {
        Some(name) => return Ok(name.clone()),
        None => env::nonempty_var("QLESS_WORKER").map(|name| Name::from(name.as_os_str())),
    };
    let Some(name) = named else {
        let session = process_session_id().map_or(String::new(), |id| format!("-{id}"));
        return Ok(Name::from(format!("cli-{}{session}", user_at_host())));
    };
    match refuse_as_new_name(name.as_bytes()) {
        Ok(()) => Ok(name),
        Err(why) => Err(Error::usage(format!("`QLESS_WORKER` {why}"))),
    }
}

/// The id of the session of this process, as getsid(2) returns it. 0 if the session began in another container. `None`
/// on a system without procfs.
fn process_session_id() -> Option<u32> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name in parentheses is followed by state, parent, process group and session.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(3)?.parse().ok()
}

fn user_name() -> String {
    let named = |name| usable_name_part(env::nonempty_var(name)?.into_string().ok()?);
    named("USER")
        .or_else(|| named("LOGNAME"))
        .or_else(|| program_output("id", "-un"))
        .unwrap_or_else(|| "unknown".into())
}

pub fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .and_then(usable_name_part)
        .or_else(|| program_output("uname", "-n"))
        .unwrap_or_else(|| "localhost".into())
}

/// The output of a system program.
fn program_output(program: &str, flag: &str) -> Option<String> {
    let output = std::process::Command::new(program).arg(flag).output();
    usable_name_part(String::from_utf8(output.ok()?.stdout).ok()?)
}

/// The text without surrounding blanks. `None` if it cannot be part of a name.
fn usable_name_part(text: String) -> Option<String> {
    let text = text.trim();
    refuse_as_new_name(text.as_bytes())
        .ok()
        .map(|()| text.to_string())
}
