//! Which context a command uses: flags, environment, and the default of the file.

use expect_test::expect;

use crate::support::config::ConfigHome;
use crate::support::qless::{Qless, RunOutput};
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
fn no_setting_of_an_overridden_default_context_applies() {
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
    // It is the same server, so the settings apply.
    plain
        .clone()
        .env("REDIS_URL", two.two.url())
        .run("put q K")
        .exits(9);
    let flag = format!("put q K --redis {}", two.one.url());
    plain.run(&flag).ok();
    let same = format!("put q K --redis {}", two.two.url());
    plain.run(&same).exits(9);
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
    let night = home.dir().join("night");
    home.write(&format!(
        "default = \"night\"\n[context.night]\nredis = \"local:{}\"\n",
        night.display()
    ));
    home.qless().run("local url").shows(expect![[r#"
        unix://HOME/night/redis.sock
    "#]]);
}

#[test]
fn a_flag_and_a_variable_of_another_server_leave_the_default_context_alike() {
    let (prod, other) = (Redis::start(), Redis::start());
    let home = ConfigHome::new(&format!(
        "default = \"prod\"\n[context.prod]\nredis = \"{}\"\nread-only = true\n",
        prod.url()
    ));
    let by_variable = home.qless().env("QLESS_REDIS_URL", other.url());
    let flag = format!("--redis {}", other.url());
    by_variable.run("put q K").ok();
    home.run(&format!("put q K {flag}")).ok();
    home.run("put q K").exits(9);

    let used = |ran: RunOutput| ran.json()["items"][0]["used"].clone();
    assert_eq!(used(home.run("context list -o json")), true);
    assert_eq!(used(by_variable.run("context list -o json")), false);
    assert_eq!(
        used(home.run(&format!("context list -o json {flag}"))),
        false
    );
    let same = home.qless().env("QLESS_REDIS_URL", prod.url());
    assert_eq!(used(same.run("context list -o json")), true);
    by_variable.run("context show").shows(expect![[r#"
        --- stderr
        error: no context is in use
        hint: the address of the flag or of the environment is not that of the default context `prod`
        --- exit 4
    "#]]);
}
