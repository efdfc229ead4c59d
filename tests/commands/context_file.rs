//! The config file: syntax errors, wrong values, where it is found, and defaults.

use expect_test::{Expect, expect};

use crate::support::config::{ConfigHome, ProtectedServer};
use crate::support::qless::{Qless, RunOutput};

/// The error for a file with this text.
fn says(text: impl AsRef<[u8]>) -> RunOutput {
    let home = ConfigHome::new("");
    std::fs::write(home.path(), text).unwrap();
    home.qless().run("version").exits(2)
}

/// Compares the error for each file in a table: the text of the file, then its error, without the name of the file,
/// and a hint.
#[track_caller]
fn refuses(expected: Expect) {
    let mut table = String::new();
    let is_file = |line: &&str| !["", "line", "hint:"].contains(&line.split(' ').next().unwrap());
    for file in expected.data().lines().map(str::trim).filter(is_file) {
        let error = says(file.replace("\\n", "\n")).stderr();
        let error = error.replace("error: config file `HOME/qless/config.toml`, ", "");
        table += &format!("{file}\n{error}");
    }
    expected.assert_eq(&table);
}

#[test]
fn a_wrong_key_or_value_is_reported_with_its_position_and_without_its_password() {
    refuses(expect![[r#"
        [context.prod]\nredis = "redis://h"\n  protectd = true
        line 3, column 3: unknown key `protectd` in context `prod`
        hint: did you mean `protected`?
        [defaults]\nouptut = "json"
        line 2, column 1: unknown key `ouptut` in `[defaults]`
        hint: did you mean `output`?
        [contexts.prod]\nredis = "redis://h"
        line 1, column 2: unknown key `contexts`
        hint: did you mean `context`?
        [defaults]\nyes = true
        line 2, column 1: unknown key `yes` in `[defaults]`
        hint: known are redis, prefix, tls-ca, tls-cert, tls-key, read-only, timeout, output, headers, time-format, color, no-pager, no-input
        [defaults]\nprotected = true
        line 2, column 1: `protected` belongs into a context, not into `[defaults]`
        hint: name it below `[context.NAME]`
        context.a.prefics = 'a:'
        line 1, column 11: unknown key `prefics` in context `a`
        hint: did you mean `prefixes`?
        [context.prod]\nredis = "redis.prod.example"
        line 2, column 9: `redis` has no scheme
        [context.prod]\nlabel = "PROD"\nredis = "http://ops:geheim@h"
        line 3, column 9: `redis` has an unknown scheme `http:`
        [defaults]\nredis = "redis://h:port"
        line 2, column 9: `redis` cannot be read: invalid port number
        [defaults]\nredis = "redis://ops:ge#heim@h"
        line 2, column 9: `redis` cannot be read
        [defaults]\n[context.prod.redis.db]
        line 2, column 15: `redis` expects a text in quotes, not a table
        [context.prod]\nprotected = "yes"
        line 2, column 13: `protected` expects `true` or `false`, not a text
        [context.prod]\nredis = 5
        line 2, column 9: `redis` expects a text in quotes, not a number
        [context.prod]\npassword-command = "pass show x"
        line 2, column 20: `password-command` expects a list of words such as `["pass", "show", "redis/prod"]`, not a text
        [context.prod]\npassword-command = ["a", 1]
        line 2, column 20: `password-command` expects a list of words such as `["pass", "show", "redis/prod"]`, not a list with something else in it
        context.prod = "redis://:geheim@h"
        line 1, column 9: settings stand in tables such as `[context.NAME]`
        [defaults]\noutput = "xml"
        line 2, column 10: `output` expects table, tsv, json, ndjson, jid or raw, not `xml`
        [defaults]\ntimeout = "soon"
        line 2, column 11: `timeout` expects a duration such as `90s`, `15m` or `2h`, not `soon`
        [defaults]\nredis = "redis-sentinel://127.0.0.1:1/0"
        line 2, column 9: `redis` names no master: end it with `/0?master=NAME`
        [defaults]\nprefix = "{a}{b}:"
        line 2, column 10: `prefix` expects at most one hash tag, which is not empty, such as `{ql}:`, not `{a}{b}:`
        [context.p]\nprefix = "ql"
        line 2, column 10: `prefix` expects 1 to 64 printable characters ending in `:`, without blanks, quotes, backslash and `*?[]`, not `ql`
        [context.p]\nredis = "redis-sentinel://127.0.0.1:1/0"
        line 2, column 9: `redis` names no master: end it with `/0?master=NAME`
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
        "[defaults]\ntimeout = 0",
        "[defaults]\ntimeout = -1",
        "[defaults]\ntimeout = nan",
        "[defaults]\ntimeout = 5",
        "[defaults]\ntimeout = '5'",
        "[defaults]\ncolor = 'red'",
        "[defaults]\nprefix = 'x'",
        "[context.p]\nprefix = '{a}{b}:'",
        "[context.p]\nprefix = '{}:'",
    ] {
        says(wrong).says(", line ");
    }
    for right in ["timeout = '0.5s'", "timeout = '2m'", "color = 'never'", ""] {
        let home = ConfigHome::new(&format!("[defaults]\n{right}\n"));
        home.run("version").ok();
    }
}

#[test]
fn a_syntax_error_is_reported_without_the_text_of_the_file() {
    let secret = "[context.a]\nredis = \"redis://:geheim@h\n";
    let ran = says(secret);
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
        let ran = says(wrong);
        ran.says(", line ");
        assert!(!ran.stderr().contains('\x1b'));
    }
    let deep = format!("a = {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    says(&deep);
}

#[test]
fn an_unreadable_config_file_is_an_error() {
    let home = ConfigHome::new("");
    std::fs::remove_file(home.path()).unwrap();
    home.run("version").ok();
    std::fs::create_dir(home.path()).unwrap();
    home.qless().session(expect![[r#"
        $ qless version
        --- stderr
        error: cannot read config file `HOME/qless/config.toml`: is a directory
        hint: `--config none` reads no file
        --- exit 2
        $ qless version --config none &>/dev/null
        $ qless version --config '' &>/dev/null
        --- exit 2
        $ qless version --config gone.toml &>/dev/null
        --- exit 2
        $ qless version --config /dev/null &>/dev/null
        $ qless version --config /dev/zero &>/dev/null
        --- exit 2
    "#]]);
    let not_utf8 = home.qless().env("QLESS_CONFIG", "/gone\u{1b}[31m");
    not_utf8.run("version").exits(2).says("`/gone\\x1b[31m`");
    // Help needs no file.
    let home = ConfigHome::new("[");
    for line in ["help environment", "version --help", "--version"] {
        home.run(line).ok();
    }
}

#[test]
fn the_config_file_is_searched_in_the_documented_order() {
    let home = ConfigHome::empty();
    let there = Qless::bare().env("HOME", home.dir());
    there.run("version").ok();
    let folder = home.dir().join(".config/qless");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "[").unwrap();
    for relative in ["", "here"] {
        let xdg = there.clone().env("XDG_CONFIG_HOME", relative);
        xdg.run("version").exits(2);
    }
    let other = ConfigHome::new("[defaults]\noutput = \"json\"\n");
    let xdg = there.clone().env("XDG_CONFIG_HOME", other.dir());
    assert_eq!(xdg.run("version").json()["kind"], "version");
    let named = there.clone().env("QLESS_CONFIG", other.path());
    assert_eq!(named.run("version").json()["kind"], "version");
    named.run("version --config none").ok();
    Qless::bare().env("HOME", "").run("version").ok();
    there.run("version").exits(2);
    there.env("QLESS_CONFIG", "none").run("version").ok();
}

#[test]
fn a_readable_config_file_with_a_password_causes_a_warning() {
    for (setting, mode, warns) in [
        ("[context.a] redis://:geheim@h", 0o644, true),
        ("[context.a] rediss://u:geheim@h", 0o640, true),
        ("[defaults] redis://:geheim@h", 0o604, true),
        ("[context.a] redis://:geheim@h", 0o600, false),
        ("[context.a] redis://ops@h", 0o644, false),
        ("[context.a] rediss://ops@h", 0o644, false),
    ] {
        let (table, url) = setting.split_once(' ').unwrap();
        let home = ConfigHome::new(&format!("{table}\nredis = \"{url}\"\n"));
        home.mode(mode);
        let output = home.run("version").stderr();
        let warning =
            "warning: others may read `HOME/qless/config.toml`, and a password stands in it\n";
        let expected = if warns { warning } else { "" };
        assert_eq!(output, expected, "{setting} {mode:o}");
        assert_eq!(home.run("version -q").stderr(), "");
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
