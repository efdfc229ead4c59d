//! Finds out from an error text of the core why it refused to change a job. The error texts are the ones of qless-core,
//! the reference implementation. No other Rust module knows them.

use crate::error::Refusal;
use crate::name::Name;

/// Why the core refused to change the job `jid`, from the error text, which escapes bytes that are not UTF-8. `None` if
/// the text is not a refusal of this job.
pub(crate) fn read_refusal(text: &str, jid: &Name) -> Option<Refusal> {
    let (_, text) = text.split_once("(): ")?;
    let text = text.split(" script: ").next()?;
    if text == "Job does not exist" {
        return Some(Refusal::Gone);
    }
    let jid = jid.lossless_text();
    let text = match text.strip_prefix("No recurring job ") {
        Some(_) => return Some(Refusal::Gone),
        None => text.strip_prefix("Job ")?.strip_prefix(&*jid)?.trim_start(),
    };
    let text = text.strip_prefix("is ").unwrap_or(text);
    let after = |start: &str| text.strip_prefix(start);
    if text == "does not exist" {
        Some(Refusal::Gone)
    } else if text == "not running" {
        Some(Refusal::State(None))
    } else if matches!(text, "running" | "failed" | "complete") {
        Some(Refusal::State(Some(Name::from(text))))
    } else if let Some(state) =
        after("not currently running: ").or_else(|| after("not in the depends state: "))
    {
        match state {
            "false" => Some(Refusal::Gone),
            _ => Some(Refusal::State(Some(Name::from_lossless_text(state)))),
        }
    } else if let Some(queue) = after("running in another queue: ") {
        Some(Refusal::Queue(Name::from_lossless_text(queue)))
    } else {
        after("has been handed out to another worker: ")
            .or_else(|| after("has been given to another worker: "))
            .or_else(|| after("running with another worker: "))
            .or_else(|| after("given out to another worker: "))
            .map(|holder| Refusal::Holder(holder_name(holder)))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<Refusal> {
        read_refusal(
            &format!("ERR user_script:7: {text} script: 0123, on @user_script:7."),
            &Name::from("j"),
        )
    }

    #[test]
    fn each_text_of_the_reference_is_a_refusal() {
        let state = |state: &str| Some(Refusal::State(Some(state.into())));
        let holder = || Some(Refusal::Holder("w1".into()));
        for (text, expected) in [
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
            ("Bury(): Job j does not exist", Some(Refusal::Gone)),
            ("Bury(): Job j is running", state("running")),
            ("Track(): Job does not exist", Some(Refusal::Gone)),
            ("Recur(): No recurring job j", Some(Refusal::Gone)),
            ("Put(): Arg \"klass\" missing", None),
        ] {
            assert_eq!(refusal(text), expected, "{text}");
        }
    }
}
