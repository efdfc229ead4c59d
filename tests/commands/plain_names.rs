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
    redis.at(1).input("{}").session(expect![[r#"
        $ qless put q K -- @/etc/hostname
        --- stderr
        error: data is not JSON: line 1, column 1: expected value at `@`
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
        $ qless put q K -- -
        --- stderr
        error: data is not JSON: line 1, column 1: invalid number at `-`
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
        $ qless import -- -
        --- stderr
        error: cannot read `-`: no such file or directory
        --- exit 2
        $ qless config load -- @nothing
        --- stderr
        error: cannot read `@nothing`: no such file or directory
        --- exit 2
        $ qless config load -- -
        --- stderr
        error: cannot read `-`: no such file or directory
        --- exit 2
        $ qless api get -- @/etc/hostname
        $ qless get -- * @x
        --- stderr
        error: 2 jobs do not exist: `*`, `@x`
        hint: nothing is stored under the prefix `ql:` in `unix://DIR/s`
        --- exit 4
        $ qless throttle set -- @t *
        --- stderr
        error: `MAX` expects a whole number between -9007199254740992 and 9007199254740992, not `*`
        --- exit 2
        $ qless context show -- *
        --- stderr
        error: context `*` does not exist: there is no config file `/nonexistent/.config/qless/config.toml`
        hint: `qless context add NAME --redis URL` writes it
        --- exit 4
        $ qless help -- *
        --- stderr
        error: no command or topic is called `*`
        hint: `qless help` lists the commands, `qless help help` the topics
        --- exit 2
    "#]]);
}

#[test]
fn two_dashes_can_be_the_value_of_a_flag() {
    named().at(2).input("other\n").session(expect![[r#"
        $ qless cancel --reason -- --dry-run -o jid -
        other
        --- stderr
        Cancel 1 waiting job on unix://DIR/s

          other	waiting	1	1970-01-01T00:00:01.000Z	1970-01-01T00:00:01.000Z
        would cancel 1
        $ qless cancel --reason -- --dry-run -o jid -- -
        -
        --- stderr
        would cancel -
        $ qless cancel -n -o jid --reason=-- -- -
        -
        --- stderr
        would cancel -
    "#]]);
}
