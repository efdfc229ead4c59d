//! What the config file and its contexts do to every command: what beats what, what is refused,
//! what is asked, and where passwords come from.

use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use expect_test::{Expect, expect};

use crate::commands::context::Home;
use crate::support::keyboard;
use crate::support::qless::Qless;
use crate::support::redis::Redis;
use crate::support::terminal;

/// A server and a file in which `prod` is protected.
struct Place {
    redis: Redis,
    home: Home,
}

impl Place {
    fn new(more: &str) -> Place {
        let redis = Redis::start();
        let home = Home::new(&format!(
            "[context.prod]\nredis = \"{}\"\nprotected = true\n{more}",
            redis.url()
        ));
        Place { redis, home }
    }

    /// The binary with nothing but the file.
    fn qless(&self) -> Qless {
        let qless = self.redis.at(1000).env("QLESS_REDIS_URL", "");
        self.home.with(qless)
    }

    fn prod(&self) -> Qless {
        self.qless().env("QLESS_CONTEXT", "prod")
    }

    /// Puts jobs and fails them.
    fn failed(&self, jids: &[&str]) {
        for jid in jids {
            self.prod().run(&format!("put mail K --jid {jid}")).ok();
        }
        let count = jids.len();
        self.prod()
            .run(&format!("pop mail --count {count} --worker w"))
            .ok();
        for jid in jids {
            let fail = format!("fail {jid} --group boom --message m --worker w");
            self.prod().run(&fail).ok();
        }
    }

    fn count(&self, state: &str) -> u64 {
        self.prod().run("jobs --count -o json").json()[state]
            .as_u64()
            .unwrap()
    }

    fn answers(&self, args: &[&str], dialogue: &[(&str, &str)]) -> (Option<i32>, String) {
        let mut command = self.prod().command();
        command.args(args);
        let (status, seen) = keyboard::answer(command, dialogue);
        (status.code(), seen.replace(&self.redis.url(), "URL"))
    }
}

mod file {
    use super::*;

    /// What is said of a file with this text.
    fn says(text: impl AsRef<[u8]>, expected: Expect) {
        let home = Home::new("");
        std::fs::write(home.path(), text).unwrap();
        home.qless().run("version").exits(2).shows(expected);
    }

    #[test]
    fn unknown_keys_are_told_with_their_place_and_the_nearest_known_one() {
        says(
            "[context.prod]\nredis = \"redis://h\"\n  protectd = true\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 3, column 3: unknown key `protectd` in context `prod`
                hint: did you mean `protected`?
                --- exit 2
            "#]],
        );
        says(
            "[defaults]\nouptut = \"json\"\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 1: unknown key `ouptut` in `[defaults]`
                hint: did you mean `output`?
                --- exit 2
            "#]],
        );
        says(
            "[contexts.prod]\nredis = \"redis://h\"\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 1, column 2: unknown key `contexts`
                hint: did you mean `context`?
                --- exit 2
            "#]],
        );
        says(
            "[defaults]\nyes = true\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 1: unknown key `yes` in `[defaults]`
                hint: known are redis, prefix, read-only, timeout, output, headers, time-format, color, no-pager, no-input
                --- exit 2
            "#]],
        );
        says(
            "[defaults]\nprotected = true\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 1: `protected` belongs into a context, not into `[defaults]`
                hint: name it below `[context.NAME]`
                --- exit 2
            "#]],
        );
        says(
            "context.a.prefixes = ['a:', 'b:']\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 1, column 11: unknown key `prefixes` in context `a`
                hint: did you mean `prefix`?
                --- exit 2
            "#]],
        );
    }

    #[test]
    fn values_of_a_wrong_type_are_told_with_their_place() {
        says(
            "[context.prod]\nprotected = \"yes\"\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 13: `protected` wants `true` or `false`, not a text
                --- exit 2
            "#]],
        );
        says(
            "[context.prod]\nredis = 5\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 9: `redis` wants a text in quotes, not a number
                --- exit 2
            "#]],
        );
        says(
            "[context.prod]\npassword-command = \"pass show x\"\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 20: `password-command` wants a list of words such as `["pass", "show", "redis/prod"]`, not a text
                --- exit 2
            "#]],
        );
        says(
            "[context.prod]\npassword-command = [\"a\", 1]\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 20: `password-command` wants a list of words such as `["pass", "show", "redis/prod"]`, not a list with something else in it
                --- exit 2
            "#]],
        );
        says(
            "context.prod = \"redis://:geheim@h\"\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 1, column 9: settings stand in tables such as `[context.NAME]`
                --- exit 2
            "#]],
        );
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
            let home = Home::new(wrong);
            let ran = home.qless().run("version").exits(2);
            assert!(
                ran.stderr().contains(", line "),
                "{wrong}: {}",
                ran.stderr()
            );
        }
    }

    #[test]
    fn values_that_cannot_be_are_told_with_their_place() {
        says(
            "[defaults]\noutput = \"xml\"\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 10: `output` wants table, json, ndjson, jid or raw, not `xml`
                --- exit 2
            "#]],
        );
        says(
            "[defaults]\ntimeout = \"soon\"\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 11: `timeout` wants a duration such as `90s`, `15m` or `2h`, not `soon`
                --- exit 2
            "#]],
        );
        for wrong in [
            "timeout = 0",
            "timeout = -1",
            "timeout = nan",
            "prefix = 'x'",
            "color = 'red'",
        ] {
            Home::new(&format!("[defaults]\n{wrong}\n"))
                .qless()
                .run("version")
                .exits(2);
        }
        for right in [
            "timeout = 5",
            "timeout = 0.5",
            "timeout = '2m'",
            "color = 'never'",
            "",
        ] {
            Home::new(&format!("[defaults]\n{right}\n"))
                .qless()
                .run("version")
                .ok();
        }
    }

    #[test]
    fn what_is_no_toml_is_told_without_its_text() {
        let secret = "[context.a]\nredis = \"redis://:geheim@h\n";
        let home = Home::new(secret);
        let ran = home.qless().run("version").exits(2);
        assert!(!ran.stderr().contains("geheim"), "{}", ran.stderr());
        assert!(ran.stderr().contains("line 2, column"), "{}", ran.stderr());
        says(
            b"[context.a]\n# \xff\n",
            expect![[r#"
                --- stderr
                error: config file `HOME/qless/config.toml`, line 2, column 3: it is not UTF-8
                --- exit 2
            "#]],
        );
        for wrong in [
            "[context.a]\n[context.a]\n",
            "[context.a]\nredis = 'a'\nredis = 'b'\n",
            "default = \n",
            "[",
            "\0",
            "a = \"\x1b[31m",
        ] {
            let ran = Home::new(wrong).qless().run("version").exits(2);
            assert!(ran.stderr().contains(", line "), "{}", ran.stderr());
            assert!(!ran.stderr().contains('\x1b'));
        }
        let deep = format!("a = {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
        Home::new(&deep).qless().run("version").exits(2);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told() {
        let home = Home::new("");
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
        let said = not_utf8.run("version").exits(2).stderr();
        assert!(said.contains("`/gone\\x1b[31m`"), "{said}");
    }

    #[test]
    fn help_is_given_with_a_broken_file() {
        let home = Home::new("[");
        home.qless().run("help environment").ok();
        home.qless().run("version --help").ok();
        home.qless().run("--version").ok();
    }

    #[test]
    fn it_is_looked_for_where_it_belongs() {
        let home = Home::new("[");
        let dir = home.dir().to_str().unwrap().to_owned();
        let other = Home::new("[defaults]\noutput = \"json\"\n");
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
        let told = there.clone().env("QLESS_CONFIG", &file);
        assert_eq!(told.run("version").json()["kind"], "version");
        told.clone().run("version --config none").ok();
        Qless::bare().env("HOME", "").run("version").ok();
        there.env("QLESS_CONFIG", "none").run("version").ok();
    }

    #[test]
    fn one_that_others_may_read_with_a_password_in_it_is_warned_about() {
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
            let home = Home::new(text);
            home.mode(mode);
            let said = home.qless().run("version").stderr();
            let warning =
                "warning: others may read `HOME/qless/config.toml`, and a password stands in it\n";
            assert_eq!(said, if warns { warning } else { "" }, "{text} {mode:o}");
            assert_eq!(home.qless().run("version -q").stderr(), "");
        }
    }

    #[test]
    fn defaults_are_taken_where_nobody_says_anything() {
        let place = Place::new("");
        let url = place.redis.url();
        place.home.write(&format!(
            "[defaults]\nredis = \"{url}\"\nprefix = \"x:\"\noutput = \"json\"\ntime-format = \"unix\"\n\
             headers = \"always\"\ncolor = \"always\"\ntimeout = 5\n"
        ));
        let qless = place.qless();
        qless.run("put mail K --jid j -o table").ok();
        assert_eq!(qless.run("jobs").json()["total"], 1);
        assert_eq!(qless.run("jobs --prefix ql:").json()["total"], 0);
        let other = qless.clone().env("QLESS_PREFIX", "ql:");
        assert_eq!(other.run("jobs").json()["total"], 0);
        let table = qless.run("jobs -o table").ok();
        assert!(table.starts_with("JID\t"), "{table}");
        assert!(
            !qless
                .run("jobs -o table --headers never")
                .ok()
                .starts_with("JID")
        );
        let kept = qless.run("failed -o table --color auto").ok();
        assert!(!kept.contains('\x1b'));
        qless.run("pause mail -o table").ok();
        place.home.write("[defaults]\ncolor = \"always\"\n");
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
    fn verbose_tells_which_file_and_context() {
        let place = Place::new("");
        let told = |line: &str| {
            let said = place.qless().run(line).stderr();
            said.lines().next().unwrap_or_default().to_owned()
        };
        assert_eq!(
            told("queues -v --context prod"),
            "  config HOME/qless/config.toml, context prod"
        );
        assert_eq!(
            told("version -v"),
            "  config HOME/qless/config.toml, no context"
        );
        assert_eq!(told("version -v --config none"), "");
        assert_eq!(told("version"), "");
    }
}

mod precedence {
    use super::*;

    /// Two servers: which one is reached is told by the length of queue q.
    struct Two {
        one: Redis,
        two: Redis,
        home: Home,
    }

    impl Two {
        fn new() -> Two {
            let (one, two) = (Redis::start(), Redis::start());
            one.at(0).run("put q K").ok();
            let home = Home::new(&format!(
                "default = \"one\"\n[context.one]\nredis = \"{}\"\n\
                 [context.two]\nredis = \"{}\"\nlabel = \"TWO\"\nprotected = true\nread-only = true\n\
                 [context.nowhere]\nprefix = \"x:\"\n",
                one.url(),
                two.url()
            ));
            Two { one, two, home }
        }

        fn reaches(&self, qless: &Qless, flags: &str) -> &'static str {
            match qless.run(&format!("length q {flags}")).ok().as_str() {
                "1" => "one",
                _ => "two",
            }
        }
    }

    #[test]
    fn an_address_of_the_environment_beats_the_default_context_but_no_other() {
        let two = Two::new();
        let plain = two.home.qless().at(0);
        assert_eq!(two.reaches(&plain, ""), "one");
        assert_eq!(two.reaches(&plain, "--context two"), "two");
        assert_eq!(
            two.reaches(&plain.clone().env("QLESS_CONTEXT", "two"), ""),
            "two"
        );
        let both = plain.clone().env("QLESS_CONTEXT", "two");
        assert_eq!(two.reaches(&both, "--context one"), "one");
        for name in ["REDIS_URL", "QLESS_REDIS_URL"] {
            let environment = plain.clone().env(name, two.two.url());
            assert_eq!(two.reaches(&environment, ""), "two");
            assert_eq!(two.reaches(&environment, "--context one"), "one");
            let named = environment.clone().env("QLESS_CONTEXT", "one");
            assert_eq!(two.reaches(&named, ""), "one");
            let empty = plain.clone().env(name, "").env("QLESS_CONTEXT", "");
            assert_eq!(two.reaches(&empty, ""), "one");
        }
        let typed = format!("--redis {}", two.two.url());
        assert_eq!(two.reaches(&plain, &typed), "two");
        assert_eq!(
            two.reaches(&plain, &format!("{typed} --context one")),
            "two"
        );
    }

    #[test]
    fn a_default_context_that_is_beaten_has_no_say_at_all() {
        let two = Two::new();
        let text = two.home.text().replace("\"one\"\n", "\"two\"\n");
        two.home.write(&text);
        let plain = two.home.qless().at(0);
        plain.run("put q K").exits(9);
        plain
            .clone()
            .env("REDIS_URL", two.one.url())
            .run("put q K")
            .ok();
        // It is the same server: the settings are about that.
        plain
            .clone()
            .env("REDIS_URL", two.two.url())
            .run("put q K")
            .exits(9);
        let flag = format!("put q K --redis {}", two.one.url());
        plain.run(&flag).exits(9);
    }

    #[test]
    fn a_context_without_an_address_takes_what_there_is() {
        let two = Two::new();
        let plain = two.home.qless().at(0).env("QLESS_CONTEXT", "nowhere");
        let one = plain.env("REDIS_URL", two.one.url());
        assert_eq!(one.run("length q").ok(), "0");
        assert_eq!(one.run("length q --prefix ql:").ok(), "1");
    }

    #[test]
    fn an_unknown_context_is_told_with_its_like() {
        let two = Two::new();
        let plain = two.home.qless();
        plain.run("queues --context twoo").shows(expect![[r#"
            --- stderr
            error: context `twoo` does not exist
            hint: did you mean `two`?
            --- exit 4
        "#]]);
        plain.clone().env("QLESS_CONTEXT", "zzz").run("queues -o json").shows(expect![[r#"
            --- stderr
            {"kind":"error","v":1,"code":"not_found","exit":4,"message":"context `zzz` does not exist","hint":"`qless context` lists those that there are","jid":null}
            --- exit 4
        "#]]);
        plain
            .run("queues --context two --config none")
            .shows(expect![[r#"
            --- stderr
            error: context `two` does not exist: there is no config file
            --- exit 4
        "#]]);
        Home::empty()
            .qless()
            .run("queues --context two")
            .shows(expect![[r#"
            --- stderr
            error: context `two` does not exist: there is no config file `HOME/qless/config.toml`
            hint: `qless context add NAME --redis URL` writes it
            --- exit 4
        "#]]);
    }

    #[test]
    fn local_is_that_of_the_context() {
        let home = Home::new("");
        let night = home.dir().join("night");
        home.write(&format!(
            "default = \"night\"\n[context.night]\nredis = \"local:{}\"\n",
            night.display()
        ));
        home.qless().run("local url").shows(expect![[r#"
            unix://HOME/night/redis.sock
        "#]]);
    }
}

mod read_only {
    use super::*;

    #[test]
    fn it_refuses_writes_and_no_flag_lifts_it() {
        let place = Place::new("[context.viewer]\nread-only = true\nredis = \"unix:///nowhere\"\n");
        let viewer = place.qless().env("QLESS_CONTEXT", "viewer");
        viewer.run("put q K").shows(expect![[r#"
            --- stderr
            error: `qless put` may change something, and context `viewer` is read-only
            hint: no flag lifts that, only `HOME/qless/config.toml`
            --- exit 9
        "#]]);
        let url = place.redis.url();
        for line in [
            "put q K --yes --confirm viewer",
            "retry j -y",
            "api put w q j K {} 0",
            "queues -o raw",
            &format!("cancel j --redis {url} --yes"),
        ] {
            viewer.run(line).exits(9);
        }
        viewer.run("put q K --read-only").exits(9);
        viewer.run(&format!("queues --redis {url}")).ok();
        assert!(place.redis.dump().is_empty());
        place.home.write("[defaults]\nread-only = true\n");
        place.qless().run("put q K").shows(expect![[r#"
            --- stderr
            error: `qless put` may change something, and `[defaults]` is read-only
            hint: no flag lifts that, only `HOME/qless/config.toml`
            --- exit 9
        "#]]);
        place.home.write(&format!(
            "default = \"a\"\n[defaults]\nread-only = true\n[context.a]\nread-only = false\nredis = \"{url}\"\n"
        ));
        place.qless().run("put q K").ok();
        place.qless().run("put q K --read-only").shows(expect![[r#"
            --- stderr
            error: `qless put` may change something, and `--read-only` was given
            --- exit 9
        "#]]);
    }
}

mod protected {
    use super::*;

    #[test]
    fn what_a_script_has_to_add_is_told() {
        let place = Place::new("label = \"PROD EU\"\n");
        place.failed(&["a", "b"]);
        let prod = place.prod();
        prod.run("retry --group boom").shows(expect![[r#"
            --- stderr
            error: cannot ask whether to retry 2 failed jobs on PROD EU (unix://DIR/s); nothing was changed
            hint: add `--yes --confirm 'PROD EU'`: the context is protected
            --- exit 9
        "#]]);
        prod.run("retry --group boom --yes").shows(expect![[r#"
            --- stderr
            error: cannot ask whether to retry 2 failed jobs on PROD EU (unix://DIR/s); nothing was changed
            hint: add `--confirm 'PROD EU'`: the context is protected
            --- exit 9
        "#]]);
        prod.run("retry --group boom --confirm 'PROD EU'")
            .shows(expect![[r#"
                --- stderr
                error: cannot ask whether to retry 2 failed jobs on PROD EU (unix://DIR/s); nothing was changed
                hint: add `--yes`
                --- exit 9
            "#]]);
        prod.run("retry --group boom --yes --confirm prod")
            .shows(expect![[r#"
            --- stderr
            error: `--confirm` says `prod`, but this is `PROD EU`; nothing was changed
            --- exit 9
        "#]]);
        assert_eq!(place.count("failed"), 2);
        let done = prod
            .run("retry --group boom --yes --confirm 'PROD EU' -o json")
            .json();
        assert_eq!(
            (&done["context"], &done["done"]),
            (&"prod".into(), &2.into())
        );
        assert_eq!(place.count("failed"), 0);
    }

    #[test]
    fn a_script_means_the_place_that_it_confirms() {
        let place = Place::new("");
        place.failed(&["a", "b"]);
        let bare = place.redis.at(1000).env("QLESS_CONFIG", "none");
        bare.run("retry --group boom --yes --confirm prod")
            .shows(expect![[r#"
            --- stderr
            error: `--confirm` says `prod`, but no context is in use; nothing was changed
            --- exit 9
        "#]]);
        let done = bare.run("retry --group boom --yes -o json").json();
        assert_eq!(done["context"], serde_json::Value::Null);
    }

    #[test]
    fn every_write_to_many_jobs_is_asked_about() {
        let place = Place::new("");
        place.failed(&["a", "b"]);
        let prod = place.prod();
        for jid in ["c", "d"] {
            prod.run(&format!("put mail K --jid {jid}")).ok();
        }
        for recurring in ["r", "s"] {
            prod.run(&format!("recur put mail K --every 1h --jid {recurring}"))
                .ok();
        }
        for jid in ["e", "f"] {
            prod.run(&format!("put run K --jid {jid}")).ok();
            prod.run(&format!("put late K --delay 1h --jid {jid}-late"))
                .ok();
            prod.run(&format!("put mail K --depends e --jid {jid}-waits"))
                .ok();
        }
        prod.run("pop run --count 2 --worker v").ok();
        prod.run("config set heartbeat 30").ok();
        prod.run("pause mail").ok();
        prod.run("unpause mail").ok();
        let before = place.redis.dump();
        for line in [
            "retry a b",
            "retry --group boom",
            "failed --group boom --retry-all",
            "failed --group boom --cancel-all",
            "cancel c d",
            "cancel --queue mail",
            "priority c d --to 5",
            "tag c d --add t",
            "track c d",
            "move c d --to other",
            "promote e-late f-late",
            "promote --queue late",
            "timeout e f",
            "timeout --held-by v",
            "fail e f --group g --message m --as-holder",
            "depends e-waits f-waits --off-all",
            "config load - --clear",
            "config load -",
            "unfail boom --to mail",
            "recur rm r s",
            "forget queue mail --force",
            "forget worker w",
            "config unset heartbeat",
            "pause run --stop-running",
            "api cancel c",
            "api put w mail e K {} 0",
        ] {
            for flags in ["", "--yes", "--confirm prod", "--yes --confirm PROD"] {
                let prod = prod.clone().input("{\"heartbeat\": 90}");
                prod.run(&format!("{line} {flags}")).exits(9);
            }
        }
        assert_eq!(place.redis.dump(), before);
        for line in [
            "priority c d --to 5 --yes --confirm prod",
            "retry a",
            "tag c --add t",
            "track c",
            "recur rm r",
            "cancel c",
            "api cancel d --yes --confirm prod",
            "api queues --yes --confirm prod",
            "api get a",
            "cancel a b --dry-run",
            "cancel --queue mail --dependents cancel --yes --confirm prod",
            "timeout e",
            "promote e-late",
        ] {
            prod.run(line).ok();
        }
    }

    #[test]
    fn many_jobs_are_put_after_a_question() {
        let place = Place::new("label = \"PROD\"\n");
        let lines = "{\"queue\":\"mail\",\"klass\":\"K\"}\n".repeat(3);
        let prod = place.prod().input(lines);
        prod.run("put --from - --yes").shows(expect![[r#"
            --- stderr
            error: cannot ask whether to put 3 jobs on PROD (unix://DIR/s); nothing was changed
            hint: add `--confirm PROD`: the context is protected
            --- exit 9
        "#]]);
        let said = prod.run("put --from - -n").exits(0).stderr();
        assert!(said.starts_with("PROD: "), "{said}");
        assert!(place.redis.dump().is_empty());
        let done = prod.run("put --from - --yes --confirm PROD -o json").json();
        assert_eq!(
            (&done["context"], &done["done"]),
            (&"prod".into(), &3.into())
        );
        place.prod().run("put mail K --jid one").ok();
        let one = place.prod().run("put mail K -n").stderr();
        assert_eq!(one, "PROD: would put a job in mail, waiting\n");
    }

    #[test]
    fn jobs_are_imported_after_a_question() {
        let place = Place::new("label = \"PROD\"\n");
        place.prod().run("put mail K --jid a").ok();
        let export = place.prod().run("export --all").ok();
        place.prod().run("cancel a").ok();
        let prod = place.prod().input(export);
        prod.run("import - --yes").shows(expect![[r#"
            --- stderr
            error: cannot ask whether to import 1 job on PROD (unix://DIR/s); nothing was changed
            hint: add `--confirm PROD`: the context is protected
            --- exit 9
        "#]]);
        let said = prod.run("import - -n").exits(0).stderr();
        assert!(
            said.starts_with("Import 1 job on PROD (unix://DIR/s)\n"),
            "{said}"
        );
        assert!(said.ends_with("\nPROD: would import 1\n"), "{said}");
        prod.run("import - --yes --confirm PROD").ok();
        place.prod().run("get a").ok();
    }

    #[test]
    fn dry_runs_ask_nothing_and_say_where() {
        let place = Place::new("label = \"PROD\"\n");
        place.failed(&["a", "b"]);
        let before = place.redis.dump();
        for (line, says) in [
            ("cancel a -n", "PROD: would cancel a\n"),
            (
                "unfail boom --to mail -n",
                "PROD: would move the 2 oldest jobs of `boom` to `mail`\n",
            ),
            ("pause mail -n", "PROD: would pause mail\n"),
            (
                "forget queue mail --force -n",
                "PROD: would forget queue `mail`\n",
            ),
        ] {
            assert_eq!(place.prod().run(line).exits(0).stderr(), says, "{line}");
        }
        for line in [
            "retry --group boom -n",
            "cancel a b -n",
            "tag a b --add t -n",
        ] {
            let said = place.prod().run(line).exits(0).stderr();
            assert!(said.contains(" on PROD (unix://DIR/s)\n"), "{said}");
            assert!(said.contains("\nPROD: would "), "{said}");
        }
        assert_eq!(place.redis.dump(), before);
        place.prod().run("forget queue mail --force").shows(expect![[r#"
            --- stderr
            error: cannot ask whether to forget queue `mail` on PROD (unix://DIR/s); nothing was changed
            hint: add `--yes --confirm PROD`: the context is protected
            --- exit 9
        "#]]);
    }

    #[test]
    fn on_a_terminal_the_label_is_typed() {
        let place = Place::new("label = \"PROD\"\n");
        place.failed(&["a", "b"]);
        let retry = ["retry", "--group", "boom"];
        let (code, seen) = place.answers(&retry, &[("to proceed", "prod\n")]);
        assert_eq!(code, Some(9), "{seen}");
        let seen = plain(&seen);
        let (plan, answer) = seen.split_once("Type PROD to proceed").unwrap();
        expect![[r#"
            Retry 2 failed jobs on PROD (URL)

              QUEUE  JOBS  OLDEST  NEWEST
              mail      2  0s      0s

              each goes back to its own queue with 5 fresh retries

        "#]]
        .assert_eq(plan);
        let refused = "error: not confirmed; nothing was changed\n";
        assert!(answer.ends_with(refused), "{seen}");
        for answer in ["\n", "y\n", "yes\n", "2\n"] {
            let (code, seen) = place.answers(&retry, &[("to proceed", answer)]);
            assert_eq!(code, Some(9), "{seen}");
        }
        // `--yes` alone does not answer; the right flags do.
        let yes = ["retry", "--group", "boom", "--yes"];
        let (code, seen) = place.answers(&yes, &[("to proceed", "no\n")]);
        assert_eq!(code, Some(9), "{seen}");
        assert_eq!(place.count("failed"), 2);
        let (code, seen) = place.answers(&retry, &[("to proceed", " PROD \n")]);
        assert_eq!(code, Some(0), "{seen}");
        assert_eq!(place.count("failed"), 0);
    }

    #[test]
    fn elsewhere_yes_is_enough_and_many_jobs_are_numbered() {
        let place = Place::new("[context.test]\n");
        let url = place.redis.url();
        place
            .home
            .write(&format!("[context.test]\nredis = \"{url}\"\n"));
        let calls = (0..1001).map(|job| {
            let jid = format!("j{job}");
            let words = ["put", "w", "mail", &jid, "K", "{}", "0"];
            (1.0, words.map(str::to_owned).to_vec())
        });
        place.redis.calls(calls);
        let ask = |args: &[&str], dialogue: &[(&str, &str)]| {
            let mut command = place.qless().env("QLESS_CONTEXT", "test").command();
            command.args(args);
            let (status, seen) = keyboard::answer(command, dialogue);
            (status.code(), plain(&seen.replace(&url, "URL")))
        };
        let (code, seen) = ask(&["cancel", "j1", "j2"], &[("[y/N]", "n\n")]);
        assert_eq!(code, Some(9), "{seen}");
        assert!(
            seen.starts_with("Cancel 2 waiting jobs on test (URL)\n"),
            "{seen}"
        );
        let all = ["cancel", "--queue", "mail"];
        let (code, seen) = ask(&all, &[("to proceed", "y\n")]);
        assert_eq!(code, Some(9), "{seen}");
        assert!(seen.contains("Type 1001 to proceed"), "{seen}");
        let (code, seen) = ask(&all, &[("to proceed", "1001\n")]);
        assert_eq!(code, Some(0), "{seen}");
        assert!(place.qless().run("jobs --context test").ok().is_empty());
    }

    #[test]
    fn no_input_does_not_ask_even_on_a_terminal() {
        let place = Place::new("");
        place.failed(&["a", "b"]);
        let (code, seen) = place.answers(&["retry", "--group", "boom", "--no-input"], &[]);
        assert_eq!(code, Some(9));
        assert!(seen.contains("--yes --confirm prod"), "{seen}");
        let text = place.home.text();
        place
            .home
            .write(&format!("[defaults]\nno-input = true\n{text}"));
        let (code, _) = place.answers(&["retry", "--group", "boom"], &[]);
        assert_eq!(code, Some(9));
    }

    #[test]
    fn neither_another_address_nor_the_environment_lifts_it() {
        let place = Place::new("");
        place.failed(&["a", "b"]);
        let url = place.redis.url();
        let redis = format!("retry a b --yes --redis {url}");
        place.prod().run(&redis).exits(9);
        place
            .prod()
            .env("QLESS_REDIS_URL", &url)
            .run("retry a b --yes")
            .exits(9);
        let text = place.home.text();
        place.home.write(&format!("default = \"prod\"\n{text}"));
        place.qless().run("retry a b --yes").exits(9);
        place
            .qless()
            .env("REDIS_URL", &url)
            .run("retry a b --yes")
            .exits(9);
    }

    /// Leaves out what moves the cursor.
    fn plain(seen: &str) -> String {
        let mut plain = String::new();
        for line in seen.split_inclusive('\n') {
            let line = line.replace("\x1b[?25h", "").replace("\x1b[?25l", "");
            // A line that is written again stands behind the last of its beginnings.
            let line = line.rsplit("\x1b[2K").next().unwrap_or_default();
            plain.push_str(line.rsplit('\r').next().unwrap_or_default());
        }
        plain
    }
}

mod passwords {
    use super::*;

    const SECRET: &str = "geheim-4711";

    fn guarded(more: &str) -> Place {
        let redis = Redis::with(&["--requirepass", SECRET]);
        let home = Home::new(&format!(
            "default = \"prod\"\n[context.prod]\nredis = \"{}\"\n{more}",
            redis.url()
        ));
        Place { redis, home }
    }

    /// The file and the address by TCP need a port; by socket there is no password in addresses.
    fn run(place: &Place, line: &str) -> crate::support::qless::Ran {
        let ran = place.qless().run(line);
        let said = ran.stdout() + &ran.stderr();
        assert!(!said.contains(SECRET), "{said}");
        ran
    }

    #[test]
    fn a_program_prints_it() {
        let place = guarded("password-command = [\"echo\", \"geheim-4711\"]\n");
        run(&place, "length q").ok();
        run(&place, "length q -vv").ok();
        run(&place, "version").ok();
        let lines = "password-command = [\"printf\", \"geheim-4711\\r\\nmore\\n\"]\n";
        run(&guarded(lines), "length q").ok();
        // No shell: what would be one's words are not.
        run(
            &guarded("password-command = [\"echo\", \"$HOME;true\"]\n"),
            "length q",
        )
        .exits(6);
    }

    #[test]
    fn a_program_that_fails_is_told() {
        let told = |words: &str, expected: Expect| {
            let place = guarded(&format!("password-command = {words}\n"));
            run(&place, "length q").shows(expected);
        };
        told(
            "[\"false\"]",
            expect![[r#"
                --- stderr
                error: `password-command` of context `prod`, `false`, failed with exit code 1
                --- exit 6
            "#]],
        );
        told(
            "[\"/nonexistent/pass\", \"geheim-4711\"]",
            expect![[r#"
                --- stderr
                error: `password-command` of context `prod`, `/nonexistent/pass`, cannot be run: no such file or directory
                --- exit 6
            "#]],
        );
        told(
            "[\"true\"]",
            expect![[r#"
                --- stderr
                error: `password-command` of context `prod`, `true`, printed no password
                --- exit 6
            "#]],
        );
        told(
            "[\"sh\", \"-c\", \"echo locked >&2; exit 3\"]",
            expect![[r#"
                --- stderr
                locked
                error: `password-command` of context `prod`, `sh`, failed with exit code 3
                --- exit 6
            "#]],
        );
        told(
            "[\"sh\", \"-c\", \"kill -9 $$\"]",
            expect![[r#"
                --- stderr
                error: `password-command` of context `prod`, `sh`, was killed
                --- exit 6
            "#]],
        );
        let error = run(
            &guarded("password-command = [\"false\"]\n"),
            "length q -o json",
        );
        assert_eq!(error.error()["code"], "auth");
    }

    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let place = guarded("password-command = [\"sleep\", \"60\"]\n");
        let begun = Instant::now();
        run(&place, "length q").shows(expect![[r#"
            --- stderr
            error: `password-command` of context `prod`, `sleep`, did not end within 10s
            --- exit 6
        "#]]);
        assert!(begun.elapsed().as_secs() < 15);
    }

    #[test]
    fn a_program_gets_neither_our_input_nor_our_passwords() {
        let script = "cat >&2; env | grep -c geheim >&2; echo geheim-4711";
        let place = guarded(&format!(
            "password-command = [\"sh\", \"-c\", \"{script}\"]\n"
        ));
        let qless = place
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
    fn a_variable_holds_it() {
        let place = guarded("password-env = \"PROD_PW\"\n");
        place.qless().env("PROD_PW", SECRET).run("length q").ok();
        run(&place, "length q").shows(expect![[r#"
            --- stderr
            error: `PROD_PW` is not set, and context `prod` has its password there
            --- exit 6
        "#]]);
        place.qless().env("PROD_PW", "").run("length q").exits(6);
    }

    #[test]
    fn what_is_nearer_beats_what_is_further() {
        let place = guarded("password-command = [\"echo\", \"falsch\"]\n");
        let qless = place.qless();
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
        let file = place.home.dir().join("pw");
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
        let (status, seen) = keyboard::answer(command, &[("Password for", &typed)]);
        assert!(status.success() && !seen.contains(SECRET), "{seen}");
    }

    #[test]
    fn an_address_of_another_origin_keeps_its_own() {
        let port = crate::support::proxy::free_port();
        let redis = Redis::with(&["--requirepass", SECRET, "--port", &port.to_string()]);
        let home = Home::new(
            "default = \"prod\"\n[context.prod]\nredis = \"redis://127.0.0.1:1\"\npassword-command = [\"false\"]\n",
        );
        let place = Place { redis, home };
        let own = format!("redis://:{SECRET}@127.0.0.1:{port}/0");
        place.qless().run(&format!("length q --redis {own}")).ok();
        place.qless().env("REDIS_URL", &own).run("length q").ok();
        place
            .qless()
            .run(&format!("length q --redis {}", place.redis.url()))
            .exits(6);
        // The context's own address is the last that is asked for it.
        place.home.write(&format!(
            "default = \"prod\"\n[context.prod]\nredis = \"redis://:falsch@127.0.0.1:{port}\"\npassword-command = [\"echo\", \"{SECRET}\"]\n"
        ));
        place.qless().run("length q").ok();
        place.home.write(&format!(
            "default = \"prod\"\n[context.prod]\nredis = \"{own}\"\n"
        ));
        place.qless().run("length q").ok();
        place.home.write(&format!(
            "default = \"prod\"\n[context.prod]\nredis = \"{own}\"\npassword-env = \"UNSET\"\n"
        ));
        place.qless().run("length q").ok();
    }

    #[test]
    fn no_output_shows_one() {
        let home = Home::new(
            "default = \"a\"\n[context.a]\nredis = \"redis://ops:geheim-4711@127.0.0.1:1/0\"\n\
             [context.b]\nredis = \"rediss://ops:geheim-4711@h\"\n\
             [context.c]\nredis = \"redis-sentinel://u:geheim-4711@h1:1,h2:2/0?master=m\"\n\
             [context.d]\nredis = \"redis://u:gehe#im-4711@h\"\npassword-command = [\"echo\", \"geheim-4711\"]\n",
        );
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
            let said = ran.stdout() + &ran.stderr();
            for part in ["geheim-4711", "im-4711"] {
                assert!(!said.contains(part), "{line}: {said}");
            }
        }
        let (_, seen) = terminal::run(
            {
                let mut command = qless.command();
                command.args(["context", "add", "f", "--redis", "redis://:geheim-4711@h"]);
                command
            },
            100,
        );
        assert!(
            seen.contains("warning: others can see a password in `--redis`"),
            "{seen}"
        );
        assert!(!seen.contains("geheim-4711"), "{seen}");
    }
}
