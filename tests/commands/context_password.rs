//! Passwords of a context: programs, variables, files, and what never shows them.

use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use expect_test::expect;

use crate::support::config::{ConfigHome, ProtectedServer};
use crate::support::keyboard;
use crate::support::qless::RunOutput;
use crate::support::redis::Redis;
use crate::support::terminal;

const SECRET: &str = "geheim-4711";

fn guarded(more: &str) -> ProtectedServer {
    let redis = Redis::with(&["--requirepass", SECRET]);
    let home = ConfigHome::new(&format!(
        "default = \"prod\"\n[context.prod]\nredis = \"{}\"\n{more}",
        redis.url()
    ));
    ProtectedServer { redis, home }
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
    let server = guarded("password-command = [\"echo\", \"geheim-4711\"]\n");
    run(&server, "length q").ok();
    run(&server, "length q -vv").ok();
    run(&server, "version").ok();
    let lines = "password-command = [\"printf\", \"geheim-4711\\r\\nmore\\n\"]\n";
    run(&guarded(lines), "length q").ok();
    // There is no shell: its syntax has no meaning.
    run(
        &guarded("password-command = [\"echo\", \"$HOME;true\"]\n"),
        "length q",
    )
    .exits(6);
}

#[test]
fn a_password_command_that_fails_is_an_error() {
    let printed = |words: &str| {
        let server = guarded(&format!("password-command = {words}\n"));
        run(&server, "length q")
    };
    printed("[\"false\"]").shows(expect![[r#"
            --- stderr
            error: `password-command` of context `prod`, `false`, failed with exit code 1
            --- exit 6
        "#]]);
    printed("[\"/nonexistent/pass\", \"geheim-4711\"]").shows(expect![[r#"
            --- stderr
            error: `password-command` of context `prod`, `/nonexistent/pass`, cannot be run: no such file or directory
            --- exit 6
        "#]]);
    printed("[\"true\"]").shows(expect![[r#"
            --- stderr
            error: `password-command` of context `prod`, `true`, printed no password
            --- exit 6
        "#]]);
    printed("[\"sh\", \"-c\", \"echo locked >&2; exit 3\"]").shows(expect![[r#"
            --- stderr
            locked
            error: `password-command` of context `prod`, `sh`, failed with exit code 3
            --- exit 6
        "#]]);
    printed("[\"sh\", \"-c\", \"kill -9 $$\"]").shows(expect![[r#"
            --- stderr
            error: `password-command` of context `prod`, `sh`, was killed
            --- exit 6
        "#]]);
    let error = run(
        &guarded("password-command = [\"false\"]\n"),
        "length q -o json",
    );
    assert_eq!(error.error()["code"], "auth");
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
    assert!(begun.elapsed().as_secs() < 15);
}

#[test]
fn a_password_command_inherits_neither_stdin_nor_passwords() {
    let script = "cat >&2; env | grep -c geheim >&2; echo geheim-4711";
    let server = guarded(&format!(
        "password-command = [\"sh\", \"-c\", \"{script}\"]\n"
    ));
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
    let server = guarded("password-env = \"PROD_PW\"\n");
    server.qless().env("PROD_PW", SECRET).run("length q").ok();
    run(&server, "length q").shows(expect![[r#"
        --- stderr
        error: context `prod` reads its password from `PROD_PW`, which is not set
        --- exit 6
    "#]]);
    server.qless().env("PROD_PW", "").run("length q").exits(6);
}

#[test]
fn the_most_specific_password_source_wins() {
    let server = guarded("password-command = [\"echo\", \"falsch\"]\n");
    let qless = server.qless();
    qless.run("length q").exits(6);
    qless
        .clone()
        .env("REDISCLI_AUTH", SECRET)
        .run("length q")
        .ok();
    let both = qless
        .clone()
        .env("REDISCLI_AUTH", "falsch")
        .env("QLESS_REDIS_PASSWORD", SECRET);
    both.run("length q").ok();
    let wrong = qless.clone().env("QLESS_REDIS_PASSWORD", "falsch");
    wrong.run("length q").exits(6);
    let file = server.home.dir().join("pw");
    std::fs::write(&file, format!("{SECRET}\nmore\n")).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let line = format!("length q --password-file {}", file.display());
    wrong.run(&line).ok();
    wrong
        .clone()
        .input(SECRET)
        .run("length q --password-file -")
        .ok();
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
    let home = ConfigHome::new(
        "default = \"prod\"\n[context.prod]\nredis = \"redis://127.0.0.1:1\"\npassword-command = [\"false\"]\n",
    );
    let server = ProtectedServer { redis, home };
    let own = format!("redis://:{SECRET}@127.0.0.1:{port}/0");
    server.qless().run(&format!("length q --redis {own}")).ok();
    server.qless().env("REDIS_URL", &own).run("length q").ok();
    server
        .qless()
        .run(&format!("length q --redis {}", server.redis.url()))
        .exits(6);
    // The address of the context is the last that is used.
    server.home.write(&format!(
        "default = \"prod\"\n[context.prod]\nredis = \"redis://:falsch@127.0.0.1:{port}\"\npassword-command = [\"echo\", \"{SECRET}\"]\n"
    ));
    server.qless().run("length q").ok();
    server.home.write(&format!(
        "default = \"prod\"\n[context.prod]\nredis = \"{own}\"\n"
    ));
    server.qless().run("length q").ok();
    server.home.write(&format!(
        "default = \"prod\"\n[context.prod]\nredis = \"{own}\"\npassword-env = \"UNSET\"\n"
    ));
    server.qless().run("length q").ok();
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
    for line in ["context", "context show a", "queues --context a"] {
        let ran = invalid.qless().run(line).exits(2);
        let output = ran.stdout() + &ran.stderr();
        assert!(!output.contains("im-4711"), "{line}: {output}");
    }
    let qless = home.qless();
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
        let ran = qless.run(line);
        let output = ran.stdout() + &ran.stderr();
        for part in ["geheim-4711", "im-4711"] {
            assert!(!output.contains(part), "{line}: {output}");
        }
    }
    let seen = terminal::run(
        {
            let mut command = qless.command();
            command.args(["context", "add", "f", "--redis", "redis://:geheim-4711@h"]);
            command
        },
        100,
    )
    .stdout();
    assert!(
        seen.contains("warning: other users can see the password of `--redis`"),
        "{seen}"
    );
    assert!(!seen.contains("geheim-4711"), "{seen}");
}
