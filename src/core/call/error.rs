//! What the server's words and silences mean: the one place that maps them to our errors.
//!
//! The first word of a refusal decides, then, for `ERR`, a short list of known texts: those of
//! `core.md` 1.3, raised by the core, and a few of the server itself.

use std::io;
use std::time::Duration;

use super::call_spec;
use super::call_spec::CallSpec;
use super::connect::Fault;
use super::refusal;
use super::refusal::Refusal;
use super::rights;
use crate::address::{Address, Target};
use crate::core::script::Script;
use crate::error::{Error, Kind};
use crate::name::Name;
use crate::text;

/// What the server said: the code of its said, and the words after it.
#[derive(Clone, Debug)]
pub(crate) struct ServerError {
    pub code: String,
    pub words: String,
}

/// Says why no line could be opened.
pub(crate) fn unconnected(fault: Fault, target: &Target, timeout: Duration) -> Error {
    let place = text::clean(target.place());
    match fault {
        Fault::Unresolved => {
            let host = match &target.address {
                Address::Tcp(host, _) => text::clean(host),
                _ => place,
            };
            Error::new(Kind::Unreachable, format!("cannot resolve `{host}`"))
        }
        Fault::Unreachable(kind, words) => match (&target.address, kind) {
            (Address::Tcp(..), _) => {
                let message = format!("cannot reach Redis at `{target}`: {words}");
                Error::new(Kind::Unreachable, message).hint(elsewhere(target))
            }
            (_, io::ErrorKind::PermissionDenied) => {
                Error::new(Kind::Unreachable, format!("cannot open `{place}`: {words}"))
                    .hint("join the group that owns it")
            }
            _ => Error::new(Kind::Unreachable, format!("cannot open `{place}`: {words}"))
                .hint(elsewhere(target)),
        },
        Fault::TimedOut => timed_out(target, timeout),
        Fault::Closed => Error::new(
            Kind::Protocol,
            format!("`{place}` closed the connection at once"),
        )
        .hint("is it a Redis server, and the right port?"),
        Fault::Strange | Fault::Illegible => Error::new(
            Kind::Protocol,
            format!("`{place}` does not speak the Redis protocol"),
        )
        .hint("is it a Redis server, and the right port?"),
    }
}

fn elsewhere(target: &Target) -> &'static str {
    let here = match &target.address {
        Address::Tcp(host, 6379) => matches!(host.as_str(), "127.0.0.1" | "localhost" | "::1"),
        _ => false,
    };
    match here {
        true => {
            "pass `--redis URL` or set QLESS_REDIS_URL; `--redis local:` starts a private one here"
        }
        false => "pass `--redis URL` or set QLESS_REDIS_URL",
    }
}

fn timed_out(target: &Target, timeout: Duration) -> Error {
    let within = humantime::format_duration(timeout);
    Error::new(
        Kind::Timeout,
        format!("no answer from `{target}` within {within}"),
    )
    .hint("the server may be frozen or a firewall may drop packets")
}

/// Returns whether a line may be opened a little later, though not now. Where there was one
/// before, the address is right, and the server is coming back.
pub(crate) fn passes(error: &Error, greeted: bool) -> bool {
    match error.kind() {
        Kind::Loading | Kind::Busy | Kind::Stale => true,
        Kind::Refused => error.message().ends_with(FULL),
        Kind::Unreachable | Kind::Protocol => greeted,
        _ => false,
    }
}

/// Returns whether a server refuses all calls that write, or those of this user, for now.
pub(crate) fn withheld(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Loading
            | Kind::Busy
            | Kind::Stale
            | Kind::Oom
            | Kind::Misconf
            | Kind::NoReplicas
            | Kind::ReadOnly
            | Kind::NoPerm
            | Kind::Auth
    )
}

/// How it is said that a server takes no further connections for now.
const FULL: &str = "max number of clients reached";

/// Says what is known of a call whose answer did not come.
pub(crate) fn unanswered(
    fault: Fault,
    name: &str,
    args: &[Vec<u8>],
    target: &Target,
    timeout: Duration,
) -> Error {
    let wire = call_spec::call(name, args);
    let (doing, object) = (wire.doing, wire.object(name, args));
    if matches!(fault, Fault::Illegible) {
        return Error::new(
            Kind::Error,
            format!("the server refused {doing} {object}, in words that are not UTF-8"),
        );
    }
    if wire.reads() {
        return match fault {
            Fault::TimedOut => timed_out(target, timeout),
            Fault::Strange => unconnected(fault, target, timeout),
            _ => Error::new(
                Kind::Unreachable,
                format!("lost `{target}` while {doing} {object}"),
            ),
        };
    }
    let lost = match fault {
        Fault::TimedOut => {
            let within = humantime::format_duration(timeout);
            format!("no answer from `{target}` within {within}")
        }
        _ => format!("lost `{target}`"),
    };
    let error = Error::new(
        Kind::Unknown,
        format!("{lost} while {doing} {object}; it may or may not have happened"),
    );
    about(
        match wire.look(args) {
            Some(look) => error.hint(look),
            None => error,
        },
        wire.jid(args),
    )
}

fn about(error: Error, jid: Option<Name>) -> Error {
    match jid {
        Some(jid) => error.jid(&jid),
        None => error,
    }
}

/// Says what a refusal of the login means.
pub(crate) fn locked_out(said: &ServerError, target: &Target) -> Error {
    let words = said.words.as_str();
    let auth = |message: String| Error::new(Kind::Auth, message);
    let error = match said.code.as_str() {
        "NOAUTH" => auth(format!("`{target}` wants a password"))
            .hint("set QLESS_REDIS_PASSWORD, or pass `--password-file FILE` or `--askpass`"),
        "WRONGPASS" => auth(match &target.user {
            Some(user) => format!("`{target}` refuses user `{user}`: wrong name or password"),
            None => format!("`{target}` refuses the password"),
        }),
        "ERR" if words.contains("without any password") || words.contains("no password is set") => {
            auth(format!("`{target}` has no password, but one was given"))
                .hint("is it the right server?")
        }
        "ERR" if words.contains("invalid password") => {
            auth(format!("`{target}` refuses the password"))
        }
        "ERR" if words.contains("DB index") => {
            Error::usage(format!("`{target}` has no database {}", target.db))
        }
        _ => common(said, target).unwrap_or_else(|| {
            Error::new(
                Kind::Server,
                format!("`{target}` refuses the connection: {}", text::clean(words)),
            )
        }),
    };
    error.detail(said.whole())
}

/// Says what a refusal of a call means.
pub(crate) fn refused(
    said: &ServerError,
    name: &str,
    args: &[Vec<u8>],
    target: &Target,
    script: &Script,
) -> Error {
    let wire = call_spec::call(name, args);
    let said = &said.inner();
    let error = match said.code.as_str() {
        "WRONGTYPE" => Error::new(
            Kind::Damaged,
            format!(
                "cannot {} {}: a key that it needs is of a wrong type",
                wire.verb,
                wire.object(name, args)
            ),
        )
        .hint("`qless check --only key-type` names it"),
        "ERR" => match said.raised() {
            Some((line, words)) => raised(line, words, name, args, wire, script),
            None => by_the_server(said, target, wire, script).unwrap_or_else(|| {
                let words = text::clean(said.bare());
                Error::new(Kind::Server, format!("`{target}` refuses: {words}"))
            }),
        },
        "NOPERM" => {
            let error = common(said, target).unwrap_or_else(|| Error::internal("NOPERM"));
            in_part(error.message(), wire)
        }
        _ => common(said, target).unwrap_or_else(|| {
            let words = text::clean(said.whole());
            Error::new(Kind::Server, format!("`{target}` refuses: {words}"))
        }),
    };
    about(error, wire.jid(args)).detail(said.whole())
}

/// Refusals that mean the same in a login and in a call.
fn common(said: &ServerError, target: &Target) -> Option<Error> {
    let words = said.bare();
    let error = |kind, message: String| Error::new(kind, message);
    Some(match said.code.as_str() {
        "NOAUTH" => return Some(locked_out(said, target)),
        "ERR" if words.contains("max number of clients") => error(
            Kind::Refused,
            format!("`{target}` refuses connections: {FULL}"),
        ),
        "DENIED" => error(
            Kind::Refused,
            format!("`{target}` refuses connections: it is in protected mode"),
        ),
        "NOPERM" => {
            let user = target.user.as_deref().unwrap_or("default");
            let message = match quoted(&words) {
                Some(what) if words.contains("command") => {
                    format!("user `{user}` may not run `{}`", text::clean(what))
                }
                _ => format!("user `{user}` lacks a right: {}", text::clean(&words)),
            };
            error(Kind::NoPerm, message).hint(rights::HINT)
        }
        "LOADING" => error(
            Kind::Loading,
            format!("`{target}` is still loading its data"),
        ),
        "BUSY" => error(Kind::Busy, format!("`{target}` is busy with a script"))
            .hint("`redis-cli SCRIPT KILL` ends it if it has not written yet"),
        "OOM" => error(
            Kind::Oom,
            format!("`{target}` is out of memory; nothing was changed"),
        )
        .hint("`qless cancel` and a shorter `jobs-history` free some"),
        "MISCONF" => error(
            Kind::Misconf,
            format!("`{target}` cannot write to its disk and refuses changes"),
        ),
        "NOREPLICAS" => error(
            Kind::NoReplicas,
            format!("`{target}` has too few replicas and refuses changes"),
        ),
        "READONLY" => error(Kind::ReadOnly, format!("`{target}` is a replica"))
            .hint("point `--redis` at its primary"),
        "MASTERDOWN" => error(
            Kind::Stale,
            format!("replica `{target}` has lost its primary"),
        ),
        "MOVED" | "ASK" | "TRYAGAIN" | "CLUSTERDOWN" | "CROSSSLOT" => error(
            Kind::Server,
            format!("`{target}` belongs to a Redis Cluster, where this call cannot be made"),
        ),
        _ => return None,
    })
}

/// Refusals with `ERR` that no line of the core raised.
fn by_the_server(
    said: &ServerError,
    target: &Target,
    wire: CallSpec,
    script: &Script,
) -> Option<Error> {
    let words = said.bare();
    // Redis up to 7.0 does not say which.
    if let Some((_, lacks)) = words.split_once("The user executing the script can't ") {
        let user = text::clean(target.user.as_deref().unwrap_or("default"));
        let lacks = text::clean(lacks.trim_end_matches('.'));
        return Some(in_part(&format!("user `{user}` may not {lacks}"), wire));
    }
    if words.contains("non local key") {
        return Some(match script.prefix().contains('{') {
            false => cluster_prefix(script.prefix()),
            true => Error::new(
                Kind::Server,
                format!("`{target}` belongs to a Redis Cluster, where this call cannot be made"),
            ),
        });
    }
    if words.contains("not an integer or out of range") {
        return Some(Error::usage("a number is not an integer or out of range"));
    }
    if words.contains("Wrong number of args calling") {
        return Some(Error::usage("an argument is missing"));
    }
    // A room that the script keeps as text names itself.
    if words.starts_with("lua/") {
        return Some(Error::internal(text::clean(words)));
    }
    // A fault of Lua without the position that `error` puts before a text.
    let line = said.words.split("on @user_script:").nth(1)?;
    let line: String = line.chars().take_while(char::is_ascii_digit).collect();
    Some(fault_of_ours(line.parse().ok()?, &words, script))
}

/// Says that a right is missing in the middle of a call.
fn in_part(lacks: &str, wire: CallSpec) -> Error {
    match wire.reads() {
        true => Error::new(Kind::NoPerm, lacks).hint(rights::HINT),
        false => Error::new(
            Kind::NoPerm,
            format!("{lacks}; the call may have been applied in part"),
        )
        .hint("`qless check` tells what is left of it"),
    }
}

/// Says that a prefix without hash tag cannot live in a cluster: each key would be somewhere else.
pub(crate) fn cluster_prefix(prefix: &str) -> Error {
    Error::new(
        Kind::ClusterPrefix,
        format!("prefix `{prefix}` cannot live in a Redis Cluster"),
    )
    .hint("give a hash tag: `--prefix '{ql}:'`")
}

fn fault_of_ours(line: usize, said: &str, script: &Script) -> Error {
    let said = text::clean(said);
    match script.place(line) {
        Some(place) => Error::internal(format!("{place}: {said}")),
        None => Error::internal(format!("script line {line}: {said}")),
    }
}

/// Translates what the core raised: a text of `core.md` 1.3, else a fault of ours.
fn raised(
    line: usize,
    said: &str,
    name: &str,
    args: &[Vec<u8>],
    wire: CallSpec,
    script: &Script,
) -> Error {
    let read = |jid: &Vec<u8>| {
        let jid = Name::from(jid.as_slice());
        refusal::read(said, &jid).map(|refusal| (jid, refusal))
    };
    if let Some((jid, refusal)) = args.iter().find_map(read) {
        return told(refusal, &jid, wire);
    }
    if let Some(rest) = said.strip_prefix("Cancel(): ")
        && let Some((jid, rest)) = rest.split_once(" is a dependency of ")
    {
        let dependent = rest.split(" but is not").next().unwrap_or_default();
        return Error::conflict(format!(
            "cannot cancel `{}`: `{}` depends on it",
            text::clean(jid),
            text::clean(dependent)
        ));
    }
    if let Some(unknown) = said.strip_prefix("Unknown command ") {
        return Error::usage(format!("the core has no call `{}`", text::clean(unknown)));
    }
    match is_usage(said) {
        true => Error::usage(format!("{name}: {}", text::clean(plain(said)))),
        false => fault_of_ours(line, said, script),
    }
}

/// Says why a job was refused.
fn told(refusal: Refusal, jid: &Name, wire: CallSpec) -> Error {
    let shown = text::clean(jid);
    let cannot = format!("cannot {} `{shown}`", wire.verb);
    match refusal {
        Refusal::Gone => Error::not_found(format!("job `{shown}` does not exist")),
        Refusal::State(Some(state)) => {
            Error::conflict(format!("{cannot}: it is {}", text::clean(state)))
        }
        Refusal::State(None) => Error::conflict(format!("{cannot}: it is not running")),
        Refusal::Holder(holder) => Error::conflict(match holder.as_str() {
            "" | "nil" => format!("{cannot}: nobody holds it"),
            holder => format!("{cannot}: it is held by `{}`", text::clean(holder)),
        })
        .hint("`--as-holder` acts in the name of whoever holds it"),
        Refusal::Queue(queue) => Error::conflict(format!(
            "{cannot}: it runs in queue `{}`",
            text::clean(queue)
        )),
    }
    .jid(jid)
}

/// Whether the core raised it on purpose, for bad usage: `Name(): …` and the few texts without.
fn is_usage(said: &str) -> bool {
    let area = said.split("(): ").next().unwrap_or_default();
    let named = area.len() < said.len()
        && area
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b". ".contains(&byte));
    let other = [
        "Must provide a command",
        "No Keys should be provided",
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
    named || other.iter().any(|start| said.starts_with(start))
}

/// Returns a text without the name of the function that raised it.
fn plain(said: &str) -> &str {
    said.split_once("(): ").map_or(said, |(_, rest)| rest)
}

/// Returns what stands between the first pair of quotes.
fn quoted(words: &str) -> Option<&str> {
    words.split('\'').nth(1)
}

/// Refusals that a script meets at its first write.
const AGAIN: [&str; 4] = ["OOM", "READONLY", "MISCONF", "NOREPLICAS"];

impl ServerError {
    /// Returns code and words.
    fn whole(&self) -> String {
        format!("{} {}", self.code, self.words)
    }

    /// Returns the words without ` script: <sha>, on @user_script:N.`.
    fn bare(&self) -> String {
        let end = self
            .words
            .rfind(" script: ")
            .filter(|at| self.words[*at..].contains(", on @"));
        self.words[..end.unwrap_or(self.words.len())].to_string()
    }

    /// Returns the refusal behind `ERR Error running script (call to f_…): @user_script:N: …`, as
    /// Redis 6.2 wraps it.
    fn inner(&self) -> ServerError {
        // What the script has caught and raised again comes with a code before its own.
        let again = AGAIN.iter().find_map(|code| {
            let words = self.words.strip_prefix(code)?.strip_prefix(' ')?;
            let (code, words) = (code.to_string(), words.to_owned());
            (self.code == "ERR").then_some(ServerError { code, words })
        });
        if let Some(again) = again {
            return again;
        }
        let Some((_, rest)) = self.words.split_once("Error running script (call to f_") else {
            return self.clone();
        };
        if let Some((_, rest)) = rest
            .split_once("@lua/")
            .and_then(|(_, rest)| rest.split_once(": "))
        {
            return ServerError {
                code: "ERR".into(),
                words: rest.to_string(),
            };
        }
        let Some((_, rest)) = rest.split_once("@user_script:") else {
            return self.clone();
        };
        let (line, rest) = rest.split_once(':').unwrap_or(("0", rest));
        let rest = rest.trim_start();
        let first = rest.trim_start_matches('-');
        let code = first.split(' ').next().unwrap_or_default();
        let is_code = code.len() > 2 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        match is_code && !rest.starts_with("user_script:") {
            true => ServerError {
                code: code.to_string(),
                words: first[code.len()..].trim_start().to_string(),
            },
            false if rest.starts_with("user_script:") => ServerError {
                code: "ERR".into(),
                words: rest.to_string(),
            },
            false => ServerError {
                code: "ERR".into(),
                words: format!("{rest} script: 0, on @user_script:{}.", line.trim()),
            },
        }
    }

    /// Returns line and text of what a line of the script raised.
    fn raised(&self) -> Option<(usize, &str)> {
        let rest = self.words.strip_prefix("user_script:")?;
        let (line, said) = rest.split_once(':')?;
        let end = said
            .rfind(" script: ")
            .filter(|at| said[*at..].contains(", on @user_script:"));
        Some((
            line.parse().ok()?,
            said[..end.unwrap_or(said.len())].trim_start(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, args: &[&str], code: &str, words: &str) -> Error {
        let target = Target::parse("redis://ops@h:1/0").unwrap();
        let args: Vec<Vec<u8>> = args.iter().map(|arg| arg.as_bytes().to_vec()).collect();
        let said = ServerError {
            code: code.into(),
            words: words.into(),
        };
        refused(&said, name, &args, &target, &Script::new("ql:"))
    }

    /// The same text in the shapes of Redis 7 and of 6.2.
    fn raised_both(name: &str, args: &[&str], said: &str) -> (Kind, String) {
        let sha = "0".repeat(40);
        let new = format!("user_script:7: {said} script: {sha}, on @user_script:7.");
        let old = format!(
            "Error running script (call to f_{sha}): @user_script:7: user_script:7: {said}"
        );
        let told = [new, old].map(|words| told(name, args, "ERR", &words));
        assert_eq!(told[0].message(), told[1].message());
        assert_eq!(told[0].kind(), told[1].kind());
        (told[0].kind(), told[0].message().to_string())
    }

    #[test]
    fn texts_of_the_core_have_kinds() {
        let cases = [
            (
                "complete",
                "Complete(): Job j does not exist",
                Kind::NotFound,
                "job `j` does not exist",
            ),
            (
                "fail",
                "Fail(): Job jdoes not exist",
                Kind::NotFound,
                "job `j` does not exist",
            ),
            (
                "recur.update",
                "Recur(): No recurring job j",
                Kind::NotFound,
                "job `j` does not exist",
            ),
            (
                "depends",
                "Depends(): Job j not in the depends state: false",
                Kind::NotFound,
                "job `j` does not exist",
            ),
            (
                "complete",
                "Complete(): Job j is not currently running: waiting",
                Kind::Conflict,
                "cannot complete `j`: it is waiting",
            ),
            (
                "fail",
                "Fail(): Job jnot currently running: failed",
                Kind::Conflict,
                "cannot fail `j`: it is failed",
            ),
            (
                "retry",
                "Retry(): Job j has been given to another worker: w2",
                Kind::Conflict,
                "cannot retry `j`: it is held by `w2`",
            ),
            (
                "timeout",
                "Timeout(): Job j not running",
                Kind::Conflict,
                "cannot time out `j`: it is not running",
            ),
            (
                "complete",
                "Complete(): Job j running in another queue: r",
                Kind::Conflict,
                "cannot complete `j`: it runs in queue `r`",
            ),
            (
                "cancel",
                "Cancel(): j is a dependency of k but is not mentioned to be canceled",
                Kind::Conflict,
                "cannot cancel `j`: `k` depends on it",
            ),
            (
                "priority",
                "Priority(): Arg \"priority\" missing or not a number: x",
                Kind::Usage,
                "priority: Arg \"priority\" missing or not a number: x",
            ),
            (
                "recur",
                "RecurringJob On(): Arg \"spec\" missing",
                Kind::Usage,
                "recur: Arg \"spec\" missing",
            ),
            (
                "config.set",
                "config.set(): Arg \"value\" missing",
                Kind::Usage,
                "config.set: Arg \"value\" missing",
            ),
            (
                "nope",
                "Unknown command nope",
                Kind::Usage,
                "the core has no call `nope`",
            ),
            (
                "put",
                "Expected value but found T_END at character 1",
                Kind::Usage,
                "put: Expected value but found T_END at character 1",
            ),
        ];
        for (name, said, kind, message) in cases {
            assert_eq!(raised_both(name, &["j"], said), (kind, message.to_string()));
        }
    }

    #[test]
    fn a_fault_of_lua_names_the_file() {
        let (kind, message) = raised_both("get", &["j"], "attempt to index a nil value");
        assert_eq!(kind, Kind::Internal);
        assert!(message.starts_with("internal: "), "{message}");
        assert!(
            message.ends_with(": attempt to index a nil value"),
            "{message}"
        );
    }

    #[test]
    fn the_first_word_decides() {
        let on = "script: 0000, on @user_script:9.";
        let cases = [
            (
                "OOM",
                "command not allowed when used memory > 'maxmemory'. ",
                Kind::Oom,
            ),
            ("BUSY", "Redis is busy running a script.", Kind::Busy),
            (
                "LOADING",
                "Redis is loading the dataset in memory",
                Kind::Loading,
            ),
            (
                "READONLY",
                "You can't write against a read only replica.",
                Kind::ReadOnly,
            ),
            (
                "MISCONF",
                "Redis is configured to save RDB snapshots",
                Kind::Misconf,
            ),
            (
                "NOREPLICAS",
                "Not enough good replicas to write.",
                Kind::NoReplicas,
            ),
            ("MASTERDOWN", "Link with MASTER is down", Kind::Stale),
            (
                "WRONGTYPE",
                "Operation against a key holding the wrong kind of value",
                Kind::Damaged,
            ),
            (
                "NOPERM",
                "User ops has no permissions to run the 'zrem' command",
                Kind::NoPerm,
            ),
            ("NOAUTH", "Authentication required.", Kind::Auth),
            ("WHATEVER", "it says", Kind::Server),
        ];
        for (code, words, kind) in cases {
            let new = told("cancel", &["j"], code, &format!("{words} {on}"));
            assert_eq!(new.kind(), kind, "{}", new.message());
            let wrapped =
                format!("Error running script (call to f_00): @user_script:9: {code} {words}");
            let old = told("cancel", &["j"], "ERR", &wrapped);
            assert_eq!(old.kind(), kind, "{}", old.message());
        }
        let error = told(
            "get",
            &["j"],
            "NOPERM",
            "User ops has no permissions to run the 'hget' command",
        );
        assert_eq!(error.message(), "user `ops` may not run `hget`");
    }

    #[test]
    fn what_a_server_says_is_cleaned() {
        let error = told("cancel", &["j"], "ERR", "x\x1b[2J");
        assert!(!error.message().contains('\x1b'));
    }
}
