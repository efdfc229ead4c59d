//! Passwords of a context: programs, variables, files, and what never shows them.

use std::time::Instant;

use expect_test::expect;

use crate::support::config::{ConfigHome, ProtectedServer};
use crate::support::files::write_private;
use crate::support::keyboard;
use crate::support::qless::RunOutput;
use crate::support::redis::Redis;
use crate::support::terminal;

const SECRET: &str = "geheim-4711";

/// A server that requires the password, and the default context with these settings.
fn guarded(more: &str) -> ProtectedServer {
    let redis = Redis::with(&["--requirepass", SECRET]);
    let home = ConfigHome::new("");
    let server = ProtectedServer { redis, home };
    settings(&server, more);
    server
}

/// Overwrites the config file: the default context has these settings.
fn settings(server: &ProtectedServer, more: &str) {
    let url = server.redis.url();
    server.home.write(&format!(
        "default = \"prod\"\n[context.prod]\nredis = \"{url}\"\n{more}\n"
    ));
}

/// The file and an address by TCP need a port; socket addresses hold no password.
fn run(server: &ProtectedServer, line: &str) -> RunOutput {
    let ran = server.qless().run(line);
    let output = ran.stdout() + &ran.stderr();
    assert!(!output.contains(SECRET), "{output}");
    ran
}

#[test]
fn a_program_prints_the_password() {
    let server = guarded("password-command = [\"echo\", \"geheim-4711\"]");
    run(&server, "length q").ok();
    run(&server, "length q -vv").ok();
    run(&server, "version").ok();
    let lines = "password-command = [\"printf\", \"geheim-4711\\r\\nmore\\n\"]";
    settings(&server, lines);
    run(&server, "length q").ok();
    // There is no shell: its syntax has no meaning.
    settings(&server, "password-command = [\"echo\", \"$HOME;true\"]");
    run(&server, "length q").exits(6);
    // The program inherits neither stdin nor passwords.
    let script = "cat >&2; env | grep -c geheim >&2; echo geheim-4711";
    settings(
        &server,
        &format!("password-command = [\"sh\", \"-c\", \"{script}\"]"),
    );
    let qless = server
        .qless()
        .env("QLESS_SENTINEL_PASSWORD", "geheim-1")
        .env("REDIS_URL", "redis://:geheim-2@h")
        .env("QLESS_CONTEXT", "prod")
        .env("HARMLESS", "x");
    let ran = qless.input("put mail").run("length q");
    assert_eq!(ran.stderr(), "0\n");
    ran.ok();
}

#[test]
fn a_variable_holds_the_password() {
    let server = guarded("password-env = \"PROD_PW\"");
    server.qless().env("PROD_PW", SECRET).run("length q").ok();
    server.qless().session(expect![[r#"
        $ qless length q
        --- stderr
        error: context `prod` reads its password from `PROD_PW`, which is not set
        --- exit 6
    "#]]);
    server.qless().env("PROD_PW", "").run("length q").exits(6);
}

#[test]
fn a_password_command_that_fails_is_an_error() {
    let server = guarded("");
    let mut table = String::new();
    for words in [
        r#"["false"]"#,
        r#"["/nonexistent/pass", "geheim-4711"]"#,
        r#"["true"]"#,
        r#"["sh", "-c", "echo locked >&2; exit 3"]"#,
        r#"["sh", "-c", "kill -9 $$"]"#,
    ] {
        settings(&server, &format!("password-command = {words}"));
        table += &run(&server, "length q").exits(6).stderr();
    }
    expect![[r#"
        error: `password-command` of context `prod`, `false`, failed with exit code 1
        error: `password-command` of context `prod`, `/nonexistent/pass`, cannot be run: no such file or directory
        error: `password-command` of context `prod`, `true`, printed no password
        locked
        error: `password-command` of context `prod`, `sh`, failed with exit code 3
        error: `password-command` of context `prod`, `sh`, was killed
    "#]]
    .assert_eq(&table);
    let error = run(&server, "length q -o json").error();
    assert_eq!(error["code"], "auth");
}

#[test]
fn a_password_command_that_does_not_end_is_stopped() {
    let server = guarded("password-command = [\"sleep\", \"60\"]\n");
    let begun = Instant::now();
    run(&server, "length q").shows(expect![[r#"
        --- stderr
        error: `password-command` of context `prod`, `sleep`, did not end within 10s
        --- exit 6
    "#]]);
    assert!(begun.elapsed().as_secs() < 40);
}

#[test]
fn the_most_specific_password_source_wins() {
    let server = guarded("password-command = [\"echo\", \"falsch\"]");
    let qless = server.qless();
    qless.run("length q").exits(6);
    let shared = qless.clone().env("REDISCLI_AUTH", SECRET);
    shared.run("length q").ok();
    let wrong = shared.env("QLESS_REDIS_PASSWORD", "falsch");
    wrong.run("length q").exits(6);
    let both = qless.env("REDISCLI_AUTH", "falsch");
    both.env("QLESS_REDIS_PASSWORD", SECRET)
        .run("length q")
        .ok();
    let file = server.home.dir().join("pw");
    write_private(&file, format!("{SECRET}\nmore\n"));
    let line = format!("length q --password-file {}", file.display());
    wrong.run(&line).ok();
    let piped = wrong.clone().input(SECRET);
    piped.run("length q --password-file -").ok();
    let mut command = wrong.command();
    command.args(["length", "q", "--askpass"]);
    let typed = format!("{SECRET}\n");
    let ran = keyboard::answer(command, &[("Password for", &typed)]);
    let seen = ran.stdout();
    assert!(ran.code() == 0 && !seen.contains(SECRET), "{seen}");
}

#[test]
fn an_address_given_elsewhere_keeps_its_own_password() {
    let port = crate::support::proxy::free_port();
    let redis = Redis::with(&["--requirepass", SECRET, "--port", &port.to_string()]);
    let home = ConfigHome::new("");
    let server = ProtectedServer { redis, home };
    let context = |url: &str, more: &str| {
        server.home.write(&format!(
            "default = \"prod\"\n[context.prod]\nredis = \"{url}\"\n{more}\n"
        ));
    };
    context("redis://127.0.0.1:1", "password-command = [\"false\"]");
    let own = format!("redis://:{SECRET}@127.0.0.1:{port}/0");
    server.qless().run(&format!("length q --redis {own}")).ok();
    server.qless().env("REDIS_URL", &own).run("length q").ok();
    let without = format!("length q --redis {}", server.redis.url());
    server.qless().run(&without).exits(6);
    // The address of the context is the last that is used.
    let wrong = format!("redis://:falsch@127.0.0.1:{port}");
    let echo = format!("password-command = [\"echo\", \"{SECRET}\"]");
    for (url, more) in [
        (&wrong, &echo[..]),
        (&own, ""),
        (&own, "password-env = \"UNSET\""),
    ] {
        context(url, more);
        server.qless().run("length q").ok();
    }
}

#[test]
fn no_output_contains_a_password() {
    let home = ConfigHome::new(
        "default = \"a\"\n[context.a]\nredis = \"redis://ops:geheim-4711@127.0.0.1:1/0\"\n\
         [context.b]\nredis = \"rediss://ops:geheim-4711@h\"\n\
         [context.c]\nredis = \"redis-sentinel://u:geheim-4711@h1:1,h2:2/0?master=m\"\n\
         [context.d]\nredis = \"redis://h\"\npassword-command = [\"echo\", \"geheim-4711\"]\n",
    );
    let invalid = ConfigHome::new("[context.a]\nredis = \"redis://u:gehe#im-4711@h\"\n");
    let hides = |home: &ConfigHome, line: &str| {
        let ran = home.run(line);
        let output = ran.stdout() + &ran.stderr();
        assert!(!output.contains("im-4711"), "{line}: {output}");
        ran
    };
    for line in ["context", "context show a", "queues --context a"] {
        hides(&invalid, line).exits(2);
    }
    for line in [
        "context",
        "context -o json",
        "context show a",
        "context show c -o json",
        "context validate",
        "context validate -o json",
        "context validate b",
        "context use b",
        "queues -vv",
        "queues --context b",
        "queues --context c",
        "queues --context d",
        "context add e --redis redis://:geheim-4711@h",
        "context add e --redis redis://:geheim-4711@h/x",
        "context remove a",
    ] {
        hides(&home, line);
    }
    let mut command = home.qless().command();
    command.args(["context", "add", "f", "--redis", "redis://:geheim-4711@h"]);
    let seen = terminal::run(command, 100).stdout();
    let warning = "warning: other users can see the password of `--redis`";
    assert!(seen.contains(warning), "{seen}");
    assert!(!seen.contains("geheim-4711"), "{seen}");
}
