//! Errors about a connection that could not be opened, or that lost the reply to a call.

use std::io;
use std::time::Duration;

use super::tls::tls_failed;
use crate::address::{Address, Node, ServerTarget};
use crate::core::call::connect::Fault;
use crate::core::call::{Call, local};
use crate::error::{Cause, Error, Kind};
use crate::text::Sanitized;

/// The error for a connection that could not be opened.
pub(crate) fn not_connected(fault: Fault, target: &ServerTarget, timeout: Duration) -> Error {
    let place = target.host_port_or_socket();
    let place = Sanitized(&place);
    match fault {
        Fault::Unresolved => {
            let host = match &target.address {
                Address::Tcp(node) => Sanitized(&node.host),
                _ => place,
            };
            Error::new(Kind::Unreachable, format!("cannot resolve `{host}`"))
        }
        Fault::Unreachable(kind, reason) => match (&target.address, kind) {
            (Address::Tcp(..), _) => {
                let message = format!("cannot reach Redis at `{target}`: {reason}");
                Error::new(Kind::Unreachable, message).hint(hint_to_pass_address(target))
            }
            (_, io::ErrorKind::PermissionDenied) => Error::new(
                Kind::Unreachable,
                format!("cannot open `{place}`: {reason}"),
            )
            .hint("join the group that owns it"),
            _ => Error::new(
                Kind::Unreachable,
                format!("cannot open `{place}`: {reason}"),
            )
            .hint(hint_to_pass_address(target)),
        },
        Fault::ProcessLimit(error) => *error,
        Fault::TimedOut => timed_out(target, timeout),
        Fault::Closed => Error::new(
            Kind::Protocol,
            format!("`{place}` closed the connection immediately"),
        )
        .hint(match (&target.address, &target.tls) {
            (Address::Tcp(..), None) => {
                "if it is restarting, try again; is it a Redis server, and the right port? if it requires TLS, use `rediss://`"
            }
            (Address::Tcp(..), Some(_)) => {
                "if it is restarting, try again; is it a Redis server, and the right port? if it has no TLS, use `redis://`"
            }
            _ => "if it is restarting, try again; is it a Redis server?",
        }),
        Fault::ForeignServer => local::other_users_server_error(&place),
        Fault::RequiresTls => {
            Error::new(Kind::Protocol, format!("`{place}` requires TLS")).hint("use `rediss://`")
        }
        Fault::MalformedReply | Fault::InvalidUtf8 => Error::new(
            Kind::Protocol,
            format!("`{place}` does not speak the Redis protocol"),
        )
        .hint("is it a Redis server, and the right port?"),
        Fault::TooLong => Error::new(
            Kind::Protocol,
            format!("`{place}` sent a reply that is too long for a Redis server"),
        )
        .hint("is it a Redis server, and the right port?"),
        Fault::TooMuch => Error::new(
            Kind::Protocol,
            format!("`{place}` replied with more than 1 GiB"),
        )
        .caused_by(Cause::RepliesTooLarge)
        .hint("name fewer things at a time"),
        Fault::OutOfMemory => Error::new(
            Kind::Error,
            format!("cannot read the reply of `{place}`: out of memory"),
        )
        .caused_by(Cause::RepliesTooLarge)
        .hint("name fewer things at a time"),
        Fault::Tls(fault) => tls_failed(&fault, target),
    }
}

/// The hint to pass another address. For the default address, the hint also offers to start a private server.
fn hint_to_pass_address(target: &ServerTarget) -> &'static str {
    let is_default = match &target.address {
        Address::Tcp(Node { host, port: 6379 }) => {
            matches!(host.as_str(), "127.0.0.1" | "localhost" | "::1")
        }
        _ => false,
    };
    if is_default {
        "pass `--redis URL` or set QLESS_REDIS_URL; `--redis local:` starts a private one here"
    } else {
        "pass `--redis URL` or set QLESS_REDIS_URL"
    }
}

fn timed_out(target: &ServerTarget, timeout: Duration) -> Error {
    Error::new(Kind::Timeout, no_reply_sentence(target, timeout))
        .hint("the server may be frozen or a firewall may drop packets")
}

/// The error for a server that does not reply in time, although it has replied before.
pub(crate) fn connected_server_timed_out(target: &ServerTarget, timeout: Duration) -> Error {
    Error::new(Kind::Timeout, no_reply_sentence(target, timeout))
        .hint("the server may be frozen, or this takes longer: `--timeout` gives it more time")
}

fn no_reply_sentence(target: &ServerTarget, timeout: Duration) -> String {
    let within = humantime::format_duration(timeout);
    format!("no reply from `{target}` within {within}")
}

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
    )
    .hint_if(spec.hint_for_lost_reply(&call.args));
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

/// Whether the server may reply to a later call, so that a caller without a time limit should keep trying.
pub(crate) fn may_answer_later(error: &Error) -> bool {
    error.kind() == Kind::Timeout || may_connect_soon(error, true)
}

/// Whether another attempt to connect may soon succeed. If an earlier connection succeeded (`was_connected`), the
/// address is right, and an unreachable server will probably come back.
pub(crate) fn may_connect_soon(error: &Error, was_connected: bool) -> bool {
    match error.kind() {
        _ if matches!(
            error.cause(),
            Some(Cause::Permanent | Cause::WrongAddressKind { .. })
        ) =>
        {
            false
        }
        Kind::ClusterDown if error.cause() == Some(&Cause::CircularRedirection) => was_connected,
        Kind::Loading | Kind::Busy | Kind::Stale | Kind::ClusterDown => true,
        Kind::NoMaster => was_connected || error.cause() != Some(&Cause::NothingListens),
        Kind::ConnectionRefused => error.cause() == Some(&Cause::ClientLimit),
        Kind::Unreachable | Kind::Protocol => was_connected,
        _ if error.cause() == Some(&Cause::ProcessLimit) => was_connected,
        _ => false,
    }
}
