//! Errors about a login that the server refused.

use super::ServerError;
use super::refused::refusal_common_to_login_and_call;
use crate::address::ServerTarget;
use crate::error::{Cause, Error, Kind};
use crate::text::Sanitized;

pub(crate) fn login_refused(refused: &ServerError, target: &ServerTarget) -> Error {
    let message = refused.message.as_str();
    let auth = |message: String| Error::new(Kind::Auth, message);
    let error = match refused.code.as_str() {
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
