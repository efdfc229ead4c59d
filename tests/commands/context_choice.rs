//! Which context a command uses: flags, environment, and the default of the file.

use expect_test::expect;

use crate::support::config::ConfigHome;
use crate::support::qless::Qless;
use crate::support::redis::Redis;

/// Two servers: the length of queue q shows which one was reached.
struct Two {
    one: Redis,
    two: Redis,
    home: ConfigHome,
}

impl Two {
    fn new() -> Two {
        let (one, two) = (Redis::start(), Redis::start());
        one.at(0).run("put q K").ok();
        let home = ConfigHome::new(&format!(
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
fn an_address_in_the_environment_overrides_only_the_default_context() {
    let two = Two::new();
    let plain = two.home.qless().at(0);
    let with = |name: &str, value: &str| plain.clone().env(name, value);
    let url = two.two.url();
    assert_eq!(two.reaches(&plain, ""), "one");
    assert_eq!(two.reaches(&plain, "--context two"), "two");
    let named = with("QLESS_CONTEXT", "two");
    assert_eq!(two.reaches(&named, ""), "two");
    assert_eq!(two.reaches(&named, "--context one"), "one");
    for name in ["REDIS_URL", "QLESS_REDIS_URL"] {
        let environment = with(name, &url);
        assert_eq!(two.reaches(&environment, ""), "two");
        assert_eq!(two.reaches(&environment, "--context one"), "one");
        let named = environment.env("QLESS_CONTEXT", "one");
        assert_eq!(two.reaches(&named, ""), "one");
        let empty = with(name, "").env("QLESS_CONTEXT", "");
        assert_eq!(two.reaches(&empty, ""), "one");
    }
    for flags in ["", "--context one"] {
        let typed = format!("--redis {url} {flags}");
        assert_eq!(two.reaches(&plain, &typed), "two");
    }
}

#[test]
fn no_setting_of_an_overridden_default_context_applies() {
    let two = Two::new();
    let text = two.home.text().replace("\"one\"\n", "\"two\"\n");
    two.home.write(&text);
    let plain = two.home.qless().at(0);
    plain.run("put q K").exits(9);
    // If it is the same server, the settings apply.
    for (server, code) in [(&two.one, 0), (&two.two, 9)] {
        let environment = plain.clone().env("REDIS_URL", server.url());
        environment.run("put q K").exits(code);
        let flag = format!("put q K --redis {}", server.url());
        plain.run(&flag).exits(code);
    }
}

#[test]
fn a_context_without_an_address_uses_the_address_of_the_environment() {
    let two = Two::new();
    let plain = two.home.qless().at(0).env("QLESS_CONTEXT", "nowhere");
    let one = plain.env("REDIS_URL", two.one.url());
    assert_eq!(one.run("length q").ok(), "0");
    assert_eq!(one.run("length q --prefix ql:").ok(), "1");
}

#[test]
fn an_unknown_context_is_refused_with_the_nearest_known_one() {
    let home = ConfigHome::new("[context.two]\nredis = \"redis://h\"\n");
    home.qless().session(expect![[r#"
        $ qless queues --context twoo
        --- stderr
        error: context `twoo` does not exist
        hint: did you mean `two`?
        --- exit 4
        $ qless queues --context two --config none
        --- stderr
        error: context `two` does not exist: there is no config file
        --- exit 4
    "#]]);
    home.qless()
        .env("QLESS_CONTEXT", "zzz")
        .session(expect![[r#"
        $ qless queues -o json
        --- stderr
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"context `zzz` does not exist","hint":"`qless context` lists those that there are","jid":null}
        --- exit 4
    "#]]);
    ConfigHome::empty().qless().session(expect![[r#"
        $ qless queues --context two
        --- stderr
        error: context `two` does not exist: there is no config file `HOME/qless/config.toml`
        hint: `qless context add NAME --redis URL` writes it
        --- exit 4
    "#]]);
}

#[test]
fn local_uses_the_directory_of_the_context() {
    let home = ConfigHome::new("");
    let night = home.dir().join("night").display().to_string();
    home.write(&format!(
        "default = \"night\"\n[context.night]\nredis = \"local:{night}\"\n"
    ));
    assert_eq!(home.run("local url").ok(), "unix://HOME/night/redis.sock");
}

#[test]
fn a_flag_and_a_variable_of_another_server_leave_the_default_context_alike() {
    let (prod, other) = (Redis::start(), Redis::start());
    let home = ConfigHome::new(&format!(
        "default = \"prod\"\n[context.prod]\nredis = \"{}\"\nread-only = true\n",
        prod.url()
    ));
    let by_variable = home.qless().env("QLESS_REDIS_URL", other.url());
    let same = home.qless().env("QLESS_REDIS_URL", prod.url());
    let flag = format!("--redis {}", other.url());
    for (qless, flag, is_used) in [
        (&by_variable, "", false),
        (&home.qless(), &flag[..], false),
        (&home.qless(), "", true),
        (&same, "", true),
    ] {
        let code = if is_used { 9 } else { 0 };
        qless.run(&format!("put q K {flag}")).exits(code);
        let list = qless.run(&format!("context list -o json {flag}")).json();
        assert_eq!(list["items"][0]["used"], is_used, "{flag}");
    }
    by_variable.session(expect![[r#"
        $ qless context show
        --- stderr
        error: no context is in use
        hint: the address of the flag or of the environment is not that of the default context `prod`
        --- exit 4
    "#]]);
}
