//! What the reference's commands say when they refuse a job, read from their texts
//! (`core.md` 1.3): the one place that knows those texts.

use crate::error::Error;
use crate::name::Name;

/// Why a job was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Gone,
    /// It is in another state than the command needs; told which, where the text tells.
    State(Option<String>),
    /// Another worker holds it.
    Holder(String),
    /// It runs in another queue.
    Queue(String),
}

/// Returns why a command refused the job, where that is why it ended in an error.
pub(crate) fn of(error: &Error, jid: &Name) -> Option<Refusal> {
    read(error.detail_text().unwrap_or(error.message()), jid)
}

/// Reads the text of an error that a command raised about the job `jid`.
pub(crate) fn read(text: &str, jid: &Name) -> Option<Refusal> {
    let (_, said) = text.split_once("(): ")?;
    let said = said.split(" script: ").next()?;
    if said == "Job does not exist" {
        return Some(Refusal::Gone);
    }
    let jid = String::from_utf8_lossy(jid.as_bytes());
    let said = match said.strip_prefix("No recurring job ") {
        Some(_) => return Some(Refusal::Gone),
        None => said.strip_prefix("Job ")?.strip_prefix(&*jid)?.trim_start(),
    };
    let said = said.strip_prefix("is ").unwrap_or(said);
    let after = |start: &str| said.strip_prefix(start).map(str::to_string);
    if said == "does not exist" {
        Some(Refusal::Gone)
    } else if said == "not running" {
        Some(Refusal::State(None))
    } else if let Some(state) =
        after("not currently running: ").or_else(|| after("not in the depends state: "))
    {
        match state.as_str() {
            "false" => Some(Refusal::Gone),
            _ => Some(Refusal::State(Some(state))),
        }
    } else if let Some(queue) = after("running in another queue: ") {
        Some(Refusal::Queue(queue))
    } else {
        after("has been handed out to another worker: ")
            .or_else(|| after("has been given to another worker: "))
            .or_else(|| after("running with another worker: "))
            .or_else(|| after("given out to another worker: "))
            .map(Refusal::Holder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<Refusal> {
        read(
            &format!("ERR user_script:7: {text} script: 0123, on @user_script:7."),
            &Name::from("j"),
        )
    }

    #[test]
    fn each_text_of_the_reference_is_understood() {
        let state = |state: &str| Some(Refusal::State(Some(state.into())));
        let holder = || Some(Refusal::Holder("w1".into()));
        for (text, refusal) in [
            ("Complete(): Job j does not exist", Some(Refusal::Gone)),
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
                Some(Refusal::Queue("q".into())),
            ),
            ("Fail(): Job jdoes not exist", Some(Refusal::Gone)),
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
                Some(Refusal::Gone),
            ),
            ("Timeout(): Job j not running", Some(Refusal::State(None))),
            ("Track(): Job does not exist", Some(Refusal::Gone)),
            ("Recur(): No recurring job j", Some(Refusal::Gone)),
            ("Put(): Arg \"klass\" missing", None),
        ] {
            assert_eq!(said(text), refusal, "{text}");
        }
    }
}
