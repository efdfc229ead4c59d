//! Errors that the core's Lua script raised. An error is a refusal of a job or wrong usage if its text is known for
//! that, and a defect of the core otherwise.

use crate::core::call::Call;
use crate::core::script::Script;
use crate::error::{Cause, Error, JobChangeRefusal};
use crate::name::Name;
use crate::text::Sanitized;

/// The error for an error text that the script raised in this line: a refused job, wrong usage, or else a defect.
pub(super) fn refusal_usage_or_defect_error(
    line: usize,
    text: &str,
    call: &Call,
    script: &Script,
) -> Error {
    if let Some((jid, refusal)) = find_refused_job(text, call) {
        return job_refused_error(refusal, jid, call.spec().wording.verb);
    }
    if let Some(rest) = text.strip_prefix("Cancel(): ")
        && let Some((jid, rest)) = rest.split_once(" is a dependency of ")
    {
        let dependent = rest.split(" but is not").next().unwrap_or_default();
        return Error::conflict(format!(
            "cannot cancel `{}`: `{}` depends on it",
            Name::from_lossless_text(jid),
            Name::from_lossless_text(dependent)
        ));
    }
    if let Some(unknown) = text.strip_prefix("Unknown command ") {
        return Error::usage(format!(
            "the core has no call `{}`",
            Name::from_lossless_text(unknown)
        ));
    }
    if is_usage_error_text(text) {
        let reason = Name::from_lossless_text(without_function_name(text)).to_string();
        let message = format!("{}: {reason}", Sanitized(call.name.as_bytes()));
        return Error::usage(message).caused_by(Cause::Argument(reason));
    }
    core_defect(line, text, script)
}

/// The job that the core refused to change, and why, from the error text. A jid may contain any words, so the text can
/// be split only at a known jid: the job that the call is about is tried first, then each argument.
fn find_refused_job(text: &str, call: &Call) -> Option<(Name, JobChangeRefusal)> {
    let args = call.args.iter().map(|arg| Name::from(arg.as_slice()));
    let mut jids = call.subject_jid().into_iter().chain(args);
    jids.find_map(|jid| read_refusal(text, &jid).map(|refusal| (jid, refusal)))
}

/// Why the core refused to change the job `jid`, from the error text, which escapes bytes that are not UTF-8. `None` if
/// the text is not a refusal of this job. The error texts are the ones of qless-core, the reference implementation. No
/// other Rust module knows them.
fn read_refusal(text: &str, jid: &Name) -> Option<JobChangeRefusal> {
    let (_, text) = text.split_once("(): ")?;
    let text = text.split(" script: ").next()?;
    if text == "Job does not exist" {
        return Some(JobChangeRefusal::Gone);
    }
    let jid = jid.lossless_text();
    let text = match text.strip_prefix("No recurring job ") {
        Some(_) => return Some(JobChangeRefusal::Gone),
        None => text.strip_prefix("Job ")?.strip_prefix(&*jid)?.trim_start(),
    };
    let text = text.strip_prefix("is ").unwrap_or(text);
    let after = |start: &str| text.strip_prefix(start);
    if text == "does not exist" {
        Some(JobChangeRefusal::Gone)
    } else if text == "not running" {
        Some(JobChangeRefusal::State(None))
    } else if matches!(text, "running" | "failed" | "complete") {
        Some(JobChangeRefusal::State(Some(Name::from(text))))
    } else if let Some(state) =
        after("not currently running: ").or_else(|| after("not in the depends state: "))
    {
        match state {
            "false" => Some(JobChangeRefusal::Gone),
            _ => Some(JobChangeRefusal::State(Some(Name::from_lossless_text(
                state,
            )))),
        }
    } else if let Some(queue) = after("running in another queue: ") {
        Some(JobChangeRefusal::Queue(Name::from_lossless_text(queue)))
    } else {
        after("has been handed out to another worker: ")
            .or_else(|| after("has been given to another worker: "))
            .or_else(|| after("running with another worker: "))
            .or_else(|| after("given out to another worker: "))
            .map(|holder| JobChangeRefusal::Holder(holder_name(holder)))
    }
}

/// The name of the worker that holds the job, from the end of an error text. Empty for `nil`, which Lua writes if the
/// job has no worker.
fn holder_name(text: &str) -> Name {
    match text {
        "nil" => Name::default(),
        name => Name::from_lossless_text(name),
    }
}

fn job_refused_error(refusal: JobChangeRefusal, jid: Name, verb: &str) -> Error {
    let cannot = format!("cannot {verb} `{jid}`");
    let error = match &refusal {
        JobChangeRefusal::Gone => Error::not_found(format!("job `{jid}` does not exist")),
        JobChangeRefusal::State(Some(state)) => {
            Error::conflict(format!("{cannot}: its state is `{state}`"))
        }
        JobChangeRefusal::State(None) => {
            Error::conflict(format!("{cannot}: its state is not `running`"))
        }
        JobChangeRefusal::Holder(holder) => Error::conflict(if holder.is_empty() {
            format!("{cannot}: no worker holds it")
        } else {
            format!("{cannot}: it is held by `{holder}`")
        })
        .hint("`--as-holder` acts in the name of the holder"),
        JobChangeRefusal::Queue(queue) => {
            Error::conflict(format!("{cannot}: it runs in queue `{queue}`"))
        }
    };
    error
        .about_jid(&jid)
        .caused_by(Cause::Refused { jid, refusal })
}

/// The error for a defect of the core, with the file and line in `lua/`.
pub(super) fn core_defect(line: usize, text: &str, script: &Script) -> Error {
    let text = Name::from_lossless_text(text);
    match script.source_of_line(line) {
        Some(place) => Error::internal(format!("{place}: {text}")),
        None => Error::internal(format!("script line {line}: {text}")),
    }
}

/// Whether the core raised this error text for wrong arguments of the call. Such a text has the form `Name(): …`, or
/// is one of a few others.
fn is_usage_error_text(text: &str) -> bool {
    let area = text.split("(): ").next().unwrap_or_default();
    let named = area.len() < text.len()
        && area
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b". ".contains(&byte));
    let other = [
        "Must provide a command",
        "No Keys should be provided",
        "Two Keys should be provided",
        "Arg \"now\" missing",
        "Odd number of additional args",
        "No value provided for ",
        "Expected ",
        "Found too many nested",
        "bad argument #1 to 'tonumber'",
        "bad argument #1 to 'decode'",
        "bad argument #1 to 'json_decode'",
        "too many results to unpack",
    ];
    named || other.iter().any(|start| text.starts_with(start))
}

/// An error text of the core without `Name(): ` at its start, which names the function that raised the error.
fn without_function_name(text: &str) -> &str {
    text.split_once("(): ").map_or(text, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<JobChangeRefusal> {
        read_refusal(
            &format!("ERR user_script:7: {text} script: 0123, on @user_script:7."),
            &Name::from("j"),
        )
    }

    #[test]
    fn each_text_of_the_reference_is_a_refusal() {
        let state = |state: &str| Some(JobChangeRefusal::State(Some(state.into())));
        let holder = || Some(JobChangeRefusal::Holder("w1".into()));
        for (text, expected) in [
            (
                "Complete(): Job j does not exist",
                Some(JobChangeRefusal::Gone),
            ),
            (
                "Complete(): Job j is not currently running: waiting",
                state("waiting"),
            ),
            (
                "Complete(): Job j has been handed out to another worker: w1",
                holder(),
            ),
            (
                "Complete(): Job j running in another queue: q",
                Some(JobChangeRefusal::Queue("q".into())),
            ),
            ("Fail(): Job jdoes not exist", Some(JobChangeRefusal::Gone)),
            (
                "Fail(): Job jnot currently running: failed",
                state("failed"),
            ),
            ("Fail(): Job j running with another worker: w1", holder()),
            (
                "Retry(): Job j has been given to another worker: w1",
                holder(),
            ),
            (
                "Heartbeat(): Job j not currently running: stalled",
                state("stalled"),
            ),
            (
                "Heartbeat(): Job j given out to another worker: w1",
                holder(),
            ),
            (
                "Depends(): Job j not in the depends state: waiting",
                state("waiting"),
            ),
            (
                "Depends(): Job j not in the depends state: false",
                Some(JobChangeRefusal::Gone),
            ),
            (
                "Timeout(): Job j not running",
                Some(JobChangeRefusal::State(None)),
            ),
            ("Bury(): Job j does not exist", Some(JobChangeRefusal::Gone)),
            ("Bury(): Job j is running", state("running")),
            ("Track(): Job does not exist", Some(JobChangeRefusal::Gone)),
            ("Recur(): No recurring job j", Some(JobChangeRefusal::Gone)),
            ("Put(): Arg \"klass\" missing", None),
        ] {
            assert_eq!(refusal(text), expected, "{text}");
        }
    }
}
