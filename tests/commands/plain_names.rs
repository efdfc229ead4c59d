//! After `--` every argument is a name.

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::text::words;

/// Jobs and queues called like stdin, files and patterns, and others that these could mean.
fn named() -> Redis {
    let redis = Redis::start();
    let calls = [
        "put me * - K {} 0",
        "put me q @/etc/hostname K {} 0",
        "put me q * K {} 0",
        "put me [ --all K {} 0",
        "put me other other K {} 0",
    ];
    redis.calls(calls.map(|call| (1.0, words(call))));
    redis
}

#[test]
fn stdin_and_files_are_not_read_and_patterns_match_nothing_else() {
    let redis = named();
    let list = "other\n";
    for (line, shown) in [
        ("get -o jid -- -", "-"),
        ("get -o jid -- @/etc/hostname", "@/etc/hostname"),
        ("get -o jid -- --all", "--all"),
        (
            "cancel --dry-run -o jid -- - * @/etc/hostname",
            "-\n*\n@/etc/hostname",
        ),
        ("queues --columns queue -- *", "*"),
        ("queues --columns queue -- [", "["),
        ("jobs --queue \\* -o jid", "-"),
        ("explain -o jid -- - --all", "-\n--all"),
    ] {
        let ran = redis.at(2).input(list).run(line);
        assert_eq!(ran.ok(), shown, "{line}");
    }
    redis.ok(2, "stats -- [");
    redis.ok(2, "pause -- *");
    let paused = redis.ok(2, "queues -o ndjson");
    let paused = paused
        .lines()
        .filter(|line| line.contains(r#""paused":true"#));
    assert_eq!(paused.count(), 1);
}

#[test]
fn values_and_files_are_what_was_typed() {
    let redis = Redis::start();
    let run = |line: &str| redis.at(1).input("{}").run(line);
    run("put q K -- @/etc/hostname").shows(expect![[r#"
        --- stderr
        error: data is not JSON: line 1, column 1: expected value at `@`
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
    "#]]);
    run("put q K -- -").shows(expect![[r#"
        --- stderr
        error: data is not JSON: line 1, column 1: invalid number at `-`
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
    "#]]);
    run("import -- -").shows(expect![[r#"
        --- stderr
        error: cannot read `-`: no such file or directory
        --- exit 2
    "#]]);
    run("config load -- @nothing").shows(expect![[r#"
        --- stderr
        error: cannot read `@nothing`: no such file or directory
        --- exit 2
    "#]]);
    run("config load -- -").shows(expect![[r#"
        --- stderr
        error: cannot read `-`: no such file or directory
        --- exit 2
    "#]]);
    run("api get -- @/etc/hostname").shows(expect![[""]]);
    run("get -- * @x").shows(expect![[r#"
        --- stderr
        error: 2 jobs do not exist: `*`, `@x`
        hint: nothing is stored under the prefix `ql:` in `unix://DIR/s`
        --- exit 4
    "#]]);
    run("throttle set -- @t *").shows(expect![[r#"
        --- stderr
        error: `MAX` expects a whole number between -9007199254740992 and 9007199254740992, not `*`
        --- exit 2
    "#]]);
    run("context show -- *").shows(expect![[r#"
        --- stderr
        error: context `*` does not exist: there is no config file `/nonexistent/.config/qless/config.toml`
        hint: `qless context add NAME --redis URL` writes it
        --- exit 4
    "#]]);
    run("help -- *").shows(expect![[r#"
        --- stderr
        error: no command or topic is called `*`
        hint: `qless help` lists the commands, `qless help help` the topics
        --- exit 2
    "#]]);
}

#[test]
fn two_dashes_can_be_the_value_of_a_flag() {
    let redis = named();
    let run = |line: &str| redis.at(2).input("other\n").run(line).ok();
    assert_eq!(run("cancel --reason -- --dry-run -o jid -"), "other");
    assert_eq!(run("cancel --reason -- --dry-run -o jid -- -"), "-");
    assert_eq!(run("cancel -n -o jid --reason=-- -- -"), "-");
}
