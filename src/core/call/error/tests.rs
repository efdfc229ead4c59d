use super::{ServerError, call_refused, login_refused};
use crate::address::ServerTarget;
use crate::core::call::Call;
use crate::core::script::Script;
use crate::error::{Cause, Error, Kind};

fn refused(name: &str, args: &[&str], code: &str, message: &str) -> Error {
    let target = ServerTarget::parse("redis://ops@h:1/0").unwrap();
    let call = Call::raw_call(name).args(args);
    let error = ServerError {
        code: code.into(),
        message: message.into(),
    };
    call_refused(&error, &call, &target, &Script::new("ql:"))
}

/// The kind and message of the error for a text that the script raises. Redis 7 and Redis 6.2 send the text in
/// different forms, which must lead to one result.
fn raised_by_redis_7_and_6(name: &str, args: &[&str], text: &str) -> (Kind, String) {
    let sha = "0".repeat(40);
    let new = format!("user_script:7: {text} script: {sha}, on @user_script:7.");
    let old =
        format!("Error running script (call to f_{sha}): @user_script:7: user_script:7: {text}");
    let errors = [new, old].map(|message| refused(name, args, "ERR", &message));
    assert_eq!(errors[0].message(), errors[1].message());
    assert_eq!(errors[0].kind(), errors[1].kind());
    (errors[0].kind(), errors[0].message().to_string())
}

#[test]
fn each_text_of_the_core_has_a_kind_and_a_sentence() {
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
            "cannot complete `j`: its state is `waiting`",
        ),
        (
            "fail",
            "Fail(): Job jnot currently running: failed",
            Kind::Conflict,
            "cannot fail `j`: its state is `failed`",
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
            "cannot time out `j`: its state is not `running`",
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
    for (name, text, kind, message) in cases {
        assert_eq!(
            raised_by_redis_7_and_6(name, &["j"], text),
            (kind, message.to_string())
        );
    }
}

#[test]
fn an_error_of_lua_itself_is_internal() {
    let (kind, message) = raised_by_redis_7_and_6("get", &["j"], "attempt to index a nil value");
    assert_eq!(kind, Kind::Internal);
    assert!(message.starts_with("internal: "), "{message}");
    assert!(
        message.ends_with(": attempt to index a nil value"),
        "{message}"
    );
}

#[test]
fn the_first_word_of_an_error_decides_its_kind() {
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
            Kind::WrongKeyType,
        ),
        (
            "NOPERM",
            "User ops has no permissions to run the 'zrem' command",
            Kind::NoPerm,
        ),
        ("NOAUTH", "Authentication required.", Kind::Auth),
        ("WHATEVER", "any message", Kind::Server),
    ];
    for (code, words, kind) in cases {
        let new = refused("cancel", &["j"], code, &format!("{words} {on}"));
        assert_eq!(new.kind(), kind, "{}", new.message());
        // The code has to be found behind each position that Redis 6.2 puts before it. Redis names the position twice if
        // it refused a command of the script. For a function that the script compiled on demand, Redis names that
        // function's file, even if another one caught the error.
        for position in [
            "@user_script:9: ",
            "@user_script:9: @user_script: 9: -",
            "@lua/lib/value/wrong_type.lua:7: @lua/lib/value/wrong_type.lua: 7: -",
            "@lua/check/repair/write.lua:102: @lua/check/repair/apply.lua: 42: -",
            "@user_script:9: @lua/check/repair/apply.lua: 42: -",
        ] {
            let wrapped = format!("Error running script (call to f_00): {position}{code} {words}");
            let old = refused("cancel", &["j"], "ERR", &wrapped);
            assert_eq!(old.kind(), kind, "{}", old.message());
        }
    }
    let lacks = "User ops has no permissions to run the 'hget' command";
    for (code, message) in [
        ("NOPERM", lacks.to_owned()),
        ("ERR", format!("ACL failure in script: {lacks} {on}")),
        // A repair of `check` catches the error and raises it again, which puts a second `ERR` before it.
        ("ERR", format!("ERR ACL failure in script: {lacks}")),
        // Valkey names no SHA.
        (
            "ERR",
            format!("ACL failure in script: {lacks} script: on @user_script:9."),
        ),
    ] {
        let error = refused("get", &["j"], code, &message);
        assert_eq!(error.kind(), Kind::NoPerm);
        assert_eq!(error.message(), "user `ops` may not run `hget`");
    }
}

#[test]
fn redis_6_names_no_right_that_a_function_compiled_on_demand_lacks() {
    let lacks = "The user executing the script can't run this command or subcommand";
    for position in [
        "@user_script:9: @user_script: 9",
        "@lua/a.lua:9: @lua/a.lua: 9",
    ] {
        let wrapped = format!("Error running script (call to f_00): {position}: {lacks}");
        let error = refused("get", &["j"], "ERR", &wrapped);
        assert_eq!(error.kind(), Kind::NoPerm);
        let message = "user `ops` may not run this command or subcommand";
        assert_eq!(error.message(), message);
    }
}

#[test]
fn an_error_of_a_function_compiled_on_demand_names_its_file() {
    let text = "lua/a.lua:8: attempt to index a nil value";
    for position in ["@lua/a.lua:8", "@user_script:9"] {
        let wrapped = format!("Error running script (call to f_00): {position}: {text}");
        let error = refused("get", &["j"], "ERR", &wrapped);
        assert_eq!(error.kind(), Kind::Internal);
        assert_eq!(error.message(), format!("internal: {text}"));
    }
}

#[test]
fn circular_redirection_is_waited_out_only_after_a_connection() {
    let target = ServerTarget::parse("redis-cluster://h:1").unwrap();
    let error = super::circular_redirection(&target, "7");
    assert!(super::may_connect_soon(&error, true));
    assert!(!super::may_connect_soon(&error, false));
}

#[test]
fn messages_of_the_server_are_sanitized() {
    let error = refused("cancel", &["j"], "ERR", "x\x1b[2J");
    assert!(!error.message().contains('\x1b'));
}

#[test]
fn a_refusal_without_jid_is_about_the_job_not_the_subcommand() {
    let text = "user_script:7: Track(): Job does not exist";
    let error = refused("track", &["track", "j"], "ERR", text);
    assert_eq!(error.message(), "job `j` does not exist");
}

#[test]
fn a_refused_argument_has_its_reason_without_the_call() {
    let text = "user_script:7: Recur(): Arg \"spec\" missing";
    let error = refused("recur", &["j"], "ERR", text);
    let reason = Cause::Argument("Arg \"spec\" missing".into());
    assert_eq!(error.cause(), Some(&reason));
}

#[test]
fn too_many_clients_are_the_cause_of_the_error() {
    let target = ServerTarget::parse("redis://h").unwrap();
    let message = "max number of clients reached".to_string();
    let code = "ERR".to_string();
    let error = login_refused(&ServerError { code, message }, &target);
    assert_eq!(error.cause(), Some(&Cause::ClientLimit));
}

#[test]
fn an_unsupported_server_gets_a_hint() {
    let sha = "0".repeat(40);
    for (message, why, hint) in [
        (
            "Lua scripts without any input keys are not supported",
            "each script must name a key",
            "--prefix '{ql}:'",
        ),
        (
            "numkeys must be bigger than zero in redis cluster mode",
            "each script must name a key",
            "--prefix '{ql}:'",
        ),
        (
            "bad lua script for redis cluster, all the keys that the script uses should be passed using the KEYS array",
            "which keys a script names",
            "script_check_enable",
        ),
        (
            &format!(
                "Error running script (call to f_{sha}): @user_script:9: user_script:9: script tried accessing undeclared key: ql:j:x"
            ),
            "keys that each call names",
            "--prefix '{ql}:'",
        ),
        (
            "unknown command `EVALSHA`, with args beginning with:",
            "no scripts",
            "EVAL",
        ),
    ] {
        let error = refused("cancel", &["j"], "ERR", message);
        assert_eq!(error.kind(), Kind::Unsupported, "{}", error.message());
        assert!(error.message().contains(why), "{}", error.message());
        let found = error.hint_text().unwrap_or_default();
        assert!(found.contains(hint), "{found}");
    }
    let words = "User default has no permissions to run the 'publishx' command";
    let error = refused("cancel", &["j"], "NOPERM", words);
    assert!(
        error.message().contains("does not offer `publishx`"),
        "{}",
        error.message()
    );
}

#[test]
fn errors_of_a_cluster_are_told_apart() {
    for (code, message, kind) in [
        ("ASK", "5698 127.0.0.1:7001", Kind::SlotMoving),
        (
            "TRYAGAIN",
            "Multiple keys request during rehashing of slot",
            Kind::SlotMoving,
        ),
        ("CLUSTERDOWN", "The cluster is down", Kind::ClusterDown),
        (
            "CROSSSLOT",
            "Keys in request don't hash to the same slot",
            Kind::ClusterPrefix,
        ),
        ("MOVED", "5698 127.0.0.1:7001", Kind::Usage),
    ] {
        let error = refused("cancel", &["j"], code, message);
        assert_eq!(error.kind(), kind, "{}", error.message());
    }
}

#[test]
fn a_user_who_may_run_no_script_has_changed_nothing() {
    let words = "User ops has no permissions to run the 'evalsha' command";
    let error = refused("cancel", &["j"], "NOPERM", words);
    assert_eq!(error.message(), "user `ops` may not run `evalsha`");
}
