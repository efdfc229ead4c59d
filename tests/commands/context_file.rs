//! The config file: syntax errors, wrong values, where it is found, and defaults.

use expect_test::expect;

use crate::support::config::{ConfigHome, ProtectedServer};
use crate::support::qless::{Qless, RunOutput};

/// The error for a file with this text.
fn says(text: impl AsRef<[u8]>) -> RunOutput {
    let home = ConfigHome::new("");
    std::fs::write(home.path(), text).unwrap();
    home.qless().run("version").exits(2)
}

#[test]
fn unknown_keys_are_reported_with_position_and_the_nearest_known_one() {
    says("[context.prod]\nredis = \"redis://h\"\n  protectd = true\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 3, column 3: unknown key `protectd` in context `prod`
            hint: did you mean `protected`?
            --- exit 2
        "#]]);
    says("[defaults]\nouptut = \"json\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 1: unknown key `ouptut` in `[defaults]`
            hint: did you mean `output`?
            --- exit 2
        "#]]);
    says("[contexts.prod]\nredis = \"redis://h\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 1, column 2: unknown key `contexts`
            hint: did you mean `context`?
            --- exit 2
        "#]]);
    says("[defaults]\nyes = true\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 1: unknown key `yes` in `[defaults]`
            hint: known are redis, prefix, tls-ca, tls-cert, tls-key, read-only, timeout, output, headers, time-format, color, no-pager, no-input
            --- exit 2
        "#]]);
    says("[defaults]\nprotected = true\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 1: `protected` belongs into a context, not into `[defaults]`
            hint: name it below `[context.NAME]`
            --- exit 2
        "#]]);
    says("context.a.prefics = 'a:'\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 1, column 11: unknown key `prefics` in context `a`
            hint: did you mean `prefixes`?
            --- exit 2
        "#]]);
}

#[test]
fn an_invalid_address_is_reported_with_its_position_and_without_its_password() {
    says("[context.prod]\nredis = \"redis.prod.example\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 9: `redis` has no scheme
            --- exit 2
        "#]]);
    says("[context.prod]\nlabel = \"PROD\"\nredis = \"http://ops:geheim@h\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 3, column 9: `redis` has an unknown scheme `http:`
            --- exit 2
        "#]]);
    says("[defaults]\nredis = \"redis://h:port\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 9: `redis` cannot be read: invalid port number
            --- exit 2
        "#]]);
    says("[defaults]\nredis = \"redis://ops:ge#heim@h\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 9: `redis` cannot be read
            --- exit 2
        "#]]);
}

#[test]
fn values_of_a_wrong_type_are_reported_with_their_position() {
    says("[defaults]\n[context.prod.redis.db]\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 15: `redis` expects a text in quotes, not a table
            --- exit 2
        "#]]);
    says("[context.prod]\nprotected = \"yes\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 13: `protected` expects `true` or `false`, not a text
            --- exit 2
        "#]]);
    says("[context.prod]\nredis = 5\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 9: `redis` expects a text in quotes, not a number
            --- exit 2
        "#]]);
    says("[context.prod]\npassword-command = \"pass show x\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 20: `password-command` expects a list of words such as `["pass", "show", "redis/prod"]`, not a text
            --- exit 2
        "#]]);
    says("[context.prod]\npassword-command = [\"a\", 1]\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 20: `password-command` expects a list of words such as `["pass", "show", "redis/prod"]`, not a list with something else in it
            --- exit 2
        "#]]);
    says("context.prod = \"redis://:geheim@h\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 1, column 9: settings stand in tables such as `[context.NAME]`
            --- exit 2
        "#]]);
    for wrong in [
        "default = 5",
        "default = ['a']",
        "defaults = 1",
        "context = 1",
        "[[context]]\nredis = 'redis://h'",
        "[context.a.b]\nredis = 'redis://h'",
        "[defaults]\ntimeout = true",
        "[defaults]\nno-input = 2026-11-20",
        "[context.a]\npassword-command = []",
        "[context.a]\npassword-command = ['']",
        "[context.a]\npassword-env = ''",
        "[context.a]\npassword-env = 'A'\npassword-command = ['b']",
        "[context.a]\nlabel = ' '",
        "[context.a]\nredis = ''",
        "[context.'']\nredis = 'redis://h'",
    ] {
        let home = ConfigHome::new(wrong);
        let ran = home.qless().run("version").exits(2);
        assert!(
            ran.stderr().contains(", line "),
            "{wrong}: {}",
            ran.stderr()
        );
    }
}

#[test]
fn invalid_values_are_reported_with_their_position() {
    says("[defaults]\noutput = \"xml\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 10: `output` expects table, tsv, json, ndjson, jid or raw, not `xml`
            --- exit 2
        "#]]);
    says("[defaults]\ntimeout = \"soon\"\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 11: `timeout` expects a duration such as `90s`, `15m` or `2h`, not `soon`
            --- exit 2
        "#]]);
    for wrong in [
        "timeout = 0",
        "timeout = -1",
        "timeout = nan",
        "prefix = 'x'",
        "color = 'red'",
        "timeout = 5",
        "timeout = '5'",
    ] {
        ConfigHome::new(&format!("[defaults]\n{wrong}\n"))
            .qless()
            .run("version")
            .exits(2);
    }
    for right in ["timeout = '0.5s'", "timeout = '2m'", "color = 'never'", ""] {
        ConfigHome::new(&format!("[defaults]\n{right}\n"))
            .qless()
            .run("version")
            .ok();
    }
}

#[test]
fn a_syntax_error_is_reported_without_the_text_of_the_file() {
    let secret = "[context.a]\nredis = \"redis://:geheim@h\n";
    let home = ConfigHome::new(secret);
    let ran = home.qless().run("version").exits(2);
    assert!(!ran.stderr().contains("geheim"), "{}", ran.stderr());
    ran.says("line 2, column");
    says(b"[context.a]\n# \xff\n").shows(expect![[r#"
            --- stderr
            error: config file `HOME/qless/config.toml`, line 2, column 3: it is not UTF-8
            --- exit 2
        "#]]);
    for wrong in [
        "[context.a]\n[context.a]\n",
        "[context.a]\nredis = 'a'\nredis = 'b'\n",
        "default = \n",
        "[",
        "\0",
        "a = \"\x1b[31m",
    ] {
        let ran = ConfigHome::new(wrong).qless().run("version").exits(2);
        ran.says(", line ");
        assert!(!ran.stderr().contains('\x1b'));
    }
    let deep = format!("a = {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    ConfigHome::new(&deep).qless().run("version").exits(2);
}

#[test]
fn an_unreadable_config_file_is_an_error() {
    let home = ConfigHome::new("");
    std::fs::remove_file(home.path()).unwrap();
    home.qless().run("version").ok();
    std::fs::create_dir(home.path()).unwrap();
    home.qless().run("version").shows(expect![[r#"
        --- stderr
        error: cannot read config file `HOME/qless/config.toml`: is a directory
        hint: `--config none` reads no file
        --- exit 2
    "#]]);
    home.qless().run("version --config none").ok();
    home.qless().run("version --config ''").exits(2);
    home.qless().run("version --config gone.toml").exits(2);
    home.qless().run("version --config /dev/null").ok();
    home.qless().run("version --config /dev/zero").exits(2);
    let not_utf8 = home.qless().env("QLESS_CONFIG", "/gone\u{1b}[31m");
    let output = not_utf8.run("version").exits(2).stderr();
    assert!(output.contains("`/gone\\x1b[31m`"), "{output}");
}

#[test]
fn help_works_with_a_broken_config_file() {
    let home = ConfigHome::new("[");
    home.qless().run("help environment").ok();
    home.qless().run("version --help").ok();
    home.qless().run("--version").ok();
}

#[test]
fn the_config_file_is_searched_in_the_documented_order() {
    let home = ConfigHome::new("[");
    let dir = home.dir().to_str().unwrap().to_owned();
    let other = ConfigHome::new("[defaults]\noutput = \"json\"\n");
    let file = other.path();
    let there = Qless::bare().env("HOME", &dir);
    there.run("version").ok();
    std::fs::rename(home.dir().join("qless"), home.dir().join(".config")).unwrap();
    std::fs::create_dir(home.dir().join(".config/qless")).unwrap();
    std::fs::rename(
        home.dir().join(".config/config.toml"),
        home.dir().join(".config/qless/config.toml"),
    )
    .unwrap();
    there.run("version").exits(2);
    for relative in ["", "here"] {
        there
            .clone()
            .env("XDG_CONFIG_HOME", relative)
            .run("version")
            .exits(2);
    }
    let xdg = there.clone().env("XDG_CONFIG_HOME", other.dir());
    assert_eq!(xdg.run("version").json()["kind"], "version");
    let printed = there.clone().env("QLESS_CONFIG", &file);
    assert_eq!(printed.run("version").json()["kind"], "version");
    printed.clone().run("version --config none").ok();
    Qless::bare().env("HOME", "").run("version").ok();
    there.env("QLESS_CONFIG", "none").run("version").ok();
}

#[test]
fn a_readable_config_file_with_a_password_causes_a_warning() {
    for (text, mode, warns) in [
        ("[context.a]\nredis = \"redis://:geheim@h\"\n", 0o644, true),
        (
            "[context.a]\nredis = \"rediss://u:geheim@h\"\n",
            0o640,
            true,
        ),
        ("[defaults]\nredis = \"redis://:geheim@h\"\n", 0o604, true),
        ("[context.a]\nredis = \"redis://:geheim@h\"\n", 0o600, false),
        ("[context.a]\nredis = \"redis://ops@h\"\n", 0o644, false),
        ("[context.a]\nredis = \"rediss://ops@h\"\n", 0o644, false),
    ] {
        let home = ConfigHome::new(text);
        home.mode(mode);
        let output = home.qless().run("version").stderr();
        let warning =
            "warning: others may read `HOME/qless/config.toml`, and a password stands in it\n";
        assert_eq!(output, if warns { warning } else { "" }, "{text} {mode:o}");
        assert_eq!(home.qless().run("version -q").stderr(), "");
    }
}

#[test]
fn defaults_apply_where_no_flag_or_variable_is_set() {
    let server = ProtectedServer::new("");
    let url = server.redis.url();
    server.home.write(&format!(
        "[defaults]\nredis = \"{url}\"\nprefix = \"x:\"\noutput = \"json\"\ntime-format = \"unix\"\n\
         headers = \"always\"\ncolor = \"always\"\ntimeout = \"5s\"\n"
    ));
    let qless = server.qless();
    qless.run("put mail K --jid j -o table").ok();
    assert_eq!(qless.run("jobs").json()["total"], 1);
    assert_eq!(qless.run("jobs --prefix ql:").json()["total"], 0);
    let other = qless.clone().env("QLESS_PREFIX", "ql:");
    assert_eq!(other.run("jobs").json()["total"], 0);
    let table = qless.run("jobs -o tsv").ok();
    assert!(table.starts_with("JID\t"), "{table}");
    assert!(
        !qless
            .run("jobs -o tsv --headers never")
            .ok()
            .starts_with("JID")
    );
    let kept = qless.run("failed -o table --color auto").ok();
    assert!(!kept.contains('\x1b'));
    qless.run("pause mail -o table").ok();
    server.home.write("[defaults]\ncolor = \"always\"\n");
    let colored = |qless: &Qless, flag: &str| {
        let url = url.clone();
        qless
            .run(&format!("queues --redis {url} --prefix x: {flag}"))
            .ok()
            .contains('\x1b')
    };
    assert!(colored(&qless, ""));
    assert!(!colored(&qless, "--color never"));
    assert!(!colored(&qless.clone().env("NO_COLOR", "1"), ""));
}

#[test]
fn verbose_names_the_file_and_the_context() {
    let server = ProtectedServer::new("");
    let printed = |line: &str| {
        let output = server.qless().run(line).stderr();
        output.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        printed("queues -v --context prod"),
        "  config HOME/qless/config.toml, context prod"
    );
    assert_eq!(
        printed("version -v"),
        "  config HOME/qless/config.toml, no context"
    );
    assert_eq!(printed("version -v --config none"), "");
    assert_eq!(printed("version"), "");
}

#[test]
fn a_sentinel_without_a_master_and_a_prefix_with_two_tags_are_refused() {
    for table in ["[defaults]", "[context.p]"] {
        let home = ConfigHome::new("");
        let text = format!("{table}\nredis = \"redis-sentinel://127.0.0.1:1/0\"\n");
        std::fs::write(home.path(), text).unwrap();
        let context = if table == "[defaults]" {
            ""
        } else {
            "--context p "
        };
        home.qless()
            .run(&format!("{context}queues"))
            .shows(expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 9: `redis` names no master: end it with `/0?master=NAME`
                --- exit 2
            "#]]);
        for prefix in ["{a}{b}:", "{}:", "ql"] {
            std::fs::write(home.path(), format!("{table}\nprefix = \"{prefix}\"\n")).unwrap();
            let ran = home.qless().run(&format!("{context}queues")).exits(2);
            ran.says("line 2, column 10: `prefix` expects");
        }
    }
}
