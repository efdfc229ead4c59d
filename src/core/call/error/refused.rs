//! Errors about a login that the server refused, or a call that the server or the core refused.

use super::raised::{core_defect, refusal_usage_or_defect_error};
use super::topology::{
    address_is_cluster_node, circular_redirection, cluster_down, slot_moving,
    untagged_cluster_prefix,
};
use super::{ServerError, server_error};
use crate::address::{Address, ServerTarget};
use crate::core::call::Call;
use crate::core::call::rights;
use crate::core::script::{Script, with_hash_tag};
use crate::error::{Cause, EffectOnData, Error, Kind};
use crate::name::Name;
use crate::text::Sanitized;

pub(crate) fn call_refused(
    refused: &ServerError,
    call: &Call,
    target: &ServerTarget,
    script: &Script,
) -> Error {
    let refused = &refused.innermost_error();
    let error = match refused.code.as_str() {
        "WRONGTYPE" => Error::new(
            Kind::WrongKeyType,
            format!(
                "cannot {} {}: a key that it needs has the wrong type",
                call.spec().wording.verb,
                call.subject_text()
            ),
        )
        .hint("`qless check --only key-type` names it"),
        "ERR" => match refused.raised_line_and_text() {
            // The core raised an error text that begins with a function name, such as `Put(): `.
            Some((line, text)) if text.contains("(): ") => {
                refusal_usage_or_defect_error(line, text, call, script)
            }
            Some((line, text)) => unsupported_server(text, target, script)
                .unwrap_or_else(|| refusal_usage_or_defect_error(line, text, call, script)),
            None => plain_err_refusal(refused, call, target, script).unwrap_or_else(|| {
                let message = Name::from_lossless_text(&refused.message_without_position());
                Error::new(Kind::Server, format!("`{target}` refuses: {message}"))
            }),
        },
        "NOPERM" if is_eval_forbidden(refused) => {
            Error::new(Kind::NoPerm, missing_right_sentence(refused, target))
                .hint(rights::missing_rights_hint(target))
        }
        "NOPERM" => no_permission_mid_call(missing_right_sentence(refused, target), target, call),
        "ASK" | "TRYAGAIN" => slot_moving(refused, script.prefix(), target),
        "CROSSSLOT" => untagged_cluster_prefix(script.prefix(), target),
        _ => refusal_common_to_login_and_call(refused, target).unwrap_or_else(|| {
            let message = Name::from_lossless_text(&refused.full_text());
            Error::new(Kind::Server, format!("`{target}` refuses: {message}"))
        }),
    };
    let error = match call.subject_jid() {
        Some(jid) => error.about_jid(&jid),
        None => error,
    };
    error.with_server_message(refused.full_text())
}

pub(crate) fn login_refused(refused: &ServerError, target: &ServerTarget) -> Error {
    let message = refused.message.as_str();
    let auth = |message: String| Error::new(Kind::Auth, message);
    let error = match refused.code.as_str() {
        "WRONGPASS" if target.has_only_user() => auth(format!(
            "`{target}` refuses the user of the address, which has no password"
        ))
        .hint("a password without a user has a colon before it: `redis://:PASSWORD@HOST`"),
        "WRONGPASS" => auth(match &target.user {
            Some(user) => format!("`{target}` refuses user `{user}`: wrong name or password"),
            None => format!("`{target}` refuses the password"),
        }),
        "ERR"
            if message.contains("without any password")
                || message.contains("no password is set") =>
        {
            auth(format!("`{target}` has no password, but one was given"))
                .hint("is it the right server?")
                .caused_by(Cause::NoPassword)
        }
        "ERR" if message.contains("invalid password") => {
            auth(format!("`{target}` refuses the password"))
        }
        "ERR" if message.contains("SELECT is not allowed in cluster") => {
            let db = target.db;
            Error::usage(format!(
                "`{target}` is in a cluster, which has no database {db}"
            ))
            .hint("only Valkey 9 has databases in a cluster; leave the number away")
        }
        "ERR" if message.contains("DB index") => {
            Error::usage(format!("`{target}` has no database {}", target.db))
                .hint("leave the number away, or set a higher number of databases on the server")
        }
        _ => refusal_common_to_login_and_call(refused, target).unwrap_or_else(|| {
            let message = Sanitized(message);
            Error::new(
                Kind::Server,
                format!("`{target}` refuses the connection: {message}"),
            )
        }),
    };
    error.with_server_message(refused.full_text())
}

/// The error for a refusal of the server that can occur in a login and in a call alike, such as LOADING; `None` for any
/// other code.
fn refusal_common_to_login_and_call(refused: &ServerError, target: &ServerTarget) -> Option<Error> {
    let message = refused.message_without_position();
    let error = |kind, message: String| Error::new(kind, message);
    Some(match refused.code.as_str() {
        "NOAUTH" => error(Kind::Auth, format!("`{target}` requires a password"))
            .hint("set QLESS_REDIS_PASSWORD, or pass `--password-file FILE` or `--askpass`"),
        "ERR" if message.contains("max number of clients") => error(
            Kind::ConnectionRefused,
            format!("`{target}` refuses connections: max number of clients reached"),
        )
        .caused_by(Cause::ClientLimit),
        "DENIED" => error(
            Kind::ConnectionRefused,
            format!("`{target}` refuses connections: it is in protected mode"),
        ),
        "NOPERM" => error(Kind::NoPerm, missing_right_sentence(refused, target))
            .hint(rights::missing_rights_hint(target)),
        "LOADING" => error(
            Kind::Loading,
            format!("`{target}` is still loading its data"),
        ),
        "BUSY" => error(Kind::Busy, format!("`{target}` is busy with a script"))
            .hint("`redis-cli SCRIPT KILL` ends it if it has not written yet"),
        "OOM" => error(Kind::Oom, format!("`{target}` is out of memory"))
            .with_effect(EffectOnData::Unchanged)
            .hint("`qless cancel` and a shorter `jobs-history` free some"),
        "MISCONF" => server_disk_full(target),
        "NOREPLICAS" => error(
            Kind::NoReplicas,
            format!("`{target}` has too few replicas and refuses changes"),
        )
        .hint("start its replicas, or lower `min-replicas-to-write`"),
        "READONLY" => error(Kind::ReadOnly, format!("`{target}` is a replica"))
            .hint("point `--redis` at its primary"),
        "MASTERDOWN" => error(
            Kind::Stale,
            format!("replica `{target}` has lost its primary"),
        ),
        "CLUSTERDOWN" => cluster_down(target),
        "MOVED" => match &target.address {
            Address::Cluster(_) => {
                let slot = refused.message.split_ascii_whitespace().next();
                circular_redirection(target, slot.unwrap_or_default())
            }
            _ => address_is_cluster_node(target),
        },
        _ => return None,
    })
}

/// The error that `qless` would report if the server refused a call with this code. `qless doctor` predicts such
/// refusals from the state of the server.
pub(crate) fn refusal_with_code(code: &str, target: &ServerTarget) -> Error {
    let refused = ServerError {
        code: code.to_owned(),
        message: String::new(),
    };
    refusal_common_to_login_and_call(&refused, target)
        .unwrap_or_else(|| Error::internal(format!("no refusal has the code {code}")))
}

/// The error about a server that cannot write to its disk.
pub(crate) fn server_disk_full(target: &ServerTarget) -> Error {
    let message = format!("`{target}` cannot write to its disk and refuses changes");
    Error::new(Kind::Misconf, message)
        .hint("make room on its disk; `redis-cli INFO persistence` shows what failed")
}

/// The error for a refusal with the code `ERR` that does not name a line of the core; `None` for an unknown message.
fn plain_err_refusal(
    refused: &ServerError,
    call: &Call,
    target: &ServerTarget,
    script: &Script,
) -> Option<Error> {
    let message = refused.message_without_position();
    // Redis 7.2 and later and Valkey report a missing right of a script with this start.
    if message.starts_with("ACL failure in script: ") {
        return Some(no_permission_mid_call(
            missing_right_sentence(refused, target),
            target,
            call,
        ));
    }
    // Redis up to 7.0 does not name the command that lacks a right, so the error repeats the server's words.
    if let Some((_, lacks)) = message.split_once("The user executing the script can't ") {
        let user = user_name(target);
        let lacks = Sanitized(lacks.trim_end_matches('.'));
        return Some(no_permission_mid_call(
            format!("user `{user}` may not {lacks}"),
            target,
            call,
        ));
    }
    if message.contains("non local key") || message.contains("do not hash to the same slot") {
        return Some(if script.has_tagged_prefix() {
            address_is_cluster_node(target)
        } else {
            untagged_cluster_prefix(script.prefix(), target)
        });
    }
    if let Some(error) = unsupported_server(&message, target, script) {
        return Some(error);
    }
    if message.contains("Protocol error: invalid bulk length") {
        let error = Error::new(
            Kind::Server,
            format!("`{target}` refuses the call: one of its texts is too long"),
        );
        return Some(
            error
                .with_effect(EffectOnData::Unchanged)
                .caused_by(Cause::ArgumentTooLong)
                .hint("`proto-max-bulk-len` of the server limits the length of data"),
        );
    }
    if message.contains("not an integer or out of range") {
        return Some(Error::usage("a number is not an integer or out of range"));
    }
    if message.contains("Wrong number of args calling") {
        return Some(Error::usage("an argument is missing"));
    }
    // The script compiles some functions on demand. An error in such a function already names its file in `lua/`.
    if message.starts_with("lua/") {
        return Some(Error::internal(Sanitized(message)));
    }
    // Lua itself raised the error. Its line stands only in the text that the server appends, `on @user_script:N`.
    let line = server_error::appended_line_number(&refused.message)?;
    Some(core_defect(line, &message, script))
}

/// The error for a Redis-compatible server that cannot run the core's script, such as a Dragonfly, recognized by its
/// message. The hint is the remedy. `None` for any other message.
fn unsupported_server(message: &str, target: &ServerTarget, script: &Script) -> Option<Error> {
    let words = message.to_lowercase();
    let says = |part: &str| words.contains(part);
    let tag = || {
        format!(
            "give a hash tag: `--prefix '{}'`",
            with_hash_tag(script.prefix())
        )
    };
    let (why, hint) = if says("undeclared key") {
        let hint = if script.has_tagged_prefix() {
            "a Dragonfly must run with `--cluster_mode=emulated --lock_on_hashtags`; \
                     serverless services cannot be used"
                .to_owned()
        } else {
            format!("{}; serverless services cannot be used", tag())
        };
        ("scripts may only use keys that each call names", hint)
    } else if says("without any input keys") || says("numkeys must be bigger than zero") {
        ("each script must name a key", tag())
    } else if says("should be passed using the keys array") {
        let hint = "turn its check of scripts off (`script_check_enable 0`), or use another server";
        ("it checks which keys a script names", hint.to_owned())
    } else if says("unknown command") && says("eval") {
        let hint = "`qless` requires a server with EVAL".to_owned();
        ("it runs no scripts", hint)
    } else {
        return None;
    };
    let message = format!("`{target}` does not run the core: {why}");
    Some(Error::new(Kind::Unsupported, message).hint(hint))
}

fn user_name(target: &ServerTarget) -> Sanitized<&str> {
    Sanitized(target.user.as_deref().unwrap_or("default"))
}

/// The sentence of an error that names the right that the user lacks.
fn missing_right_sentence(refused: &ServerError, target: &ServerTarget) -> String {
    let message = refused.message_without_position();
    let user = user_name(target);
    match server_error::first_quoted(&message) {
        // A managed service sends this message also for a command that it offers to no user. So a command that
        // `qless help acl` would not grant counts as not offered.
        Some(what) if message.contains("command") && !rights::is_command_in_acl_lines(what) => {
            format!(
                "`{target}` does not offer `{}` to user `{user}`",
                Sanitized(what)
            )
        }
        Some(what) if message.contains("command") => {
            format!("user `{user}` may not run `{}`", Sanitized(what))
        }
        _ => format!("user `{user}` lacks a right: {}", Sanitized(&message)),
    }
}

/// Whether the server forbids this user EVAL or EVALSHA. The script then did not begin, and nothing was changed.
fn is_eval_forbidden(refused: &ServerError) -> bool {
    let command = server_error::first_quoted(&refused.message).unwrap_or_default();
    command.to_lowercase().starts_with("eval")
}

/// The error for a missing right that stopped the script after it had begun. Unless the call only reads, the error says
/// that the call may have been applied in part.
fn no_permission_mid_call(message: String, target: &ServerTarget, call: &Call) -> Error {
    let error = Error::new(Kind::NoPerm, message);
    if call.spec().has_read_retry_class() {
        error.hint(rights::missing_rights_hint(target))
    } else {
        error
            .with_effect(EffectOnData::Partial)
            .hint("`qless check` shows what it left behind")
    }
}
