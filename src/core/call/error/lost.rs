//! Errors about a call whose reply was lost.

use std::time::Duration;

use super::connection::{connected_server_timed_out, no_reply_sentence, not_connected};
use crate::address::ServerTarget;
use crate::core::call::fault::Fault;
use crate::core::call::request::Call;
use crate::error::{Error, Kind};

/// The error for a call whose reply was lost. Unless the call only reads, the error says that the change may or may not
/// have happened.
pub(crate) fn call_lost(
    fault: Fault,
    call: &Call,
    target: &ServerTarget,
    timeout: Duration,
) -> Error {
    let spec = call.spec();
    let (doing, object) = (spec.wording.doing, call.subject_text());
    if matches!(fault, Fault::InvalidUtf8) {
        return Error::new(
            Kind::Error,
            format!("the server refused {doing} {object}; its message is not UTF-8"),
        );
    }
    if spec.has_read_retry_class() {
        return match fault {
            Fault::TimedOut => connected_server_timed_out(target, timeout),
            Fault::MalformedReply | Fault::TooLong | Fault::TooMuch | Fault::OutOfMemory => {
                not_connected(fault, target, timeout)
            }
            _ => Error::new(
                Kind::Unreachable,
                format!("lost `{target}` while {doing} {object}"),
            ),
        };
    }
    let is_late = matches!(fault, Fault::TimedOut);
    let lost = match fault {
        Fault::TimedOut => no_reply_sentence(target, timeout),
        Fault::TooLong | Fault::TooMuch => format!("got too long a reply from `{target}`"),
        Fault::OutOfMemory => format!("out of memory for the reply of `{target}`"),
        _ => format!("lost `{target}`"),
    };
    let mut error = Error::new(
        Kind::OutcomeUnknown,
        format!("{lost} while {doing} {object}; the change may or may not have happened"),
    );
    if let Some(hint) = spec.hint_for_lost_reply(&call.args) {
        error = error.hint(hint);
    }
    if is_late {
        error = error.further_hint("`--timeout` gives it more time");
    }
    match call.subject_jid() {
        Some(jid) => error.about_jid(&jid),
        None => error,
    }
}

/// Whether this error means that the server currently refuses every write of this user. Such an error of a repeated
/// call does not tell whether the server applied an earlier attempt, whose reply was lost.
pub(crate) fn blocks_writes(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Loading
            | Kind::Busy
            | Kind::Stale
            | Kind::Oom
            | Kind::Misconf
            | Kind::NoReplicas
            | Kind::ReadOnly
            | Kind::ClusterDown
            | Kind::SlotMoving
            | Kind::NoMaster
            | Kind::NoPerm
            | Kind::Auth
    )
}
