//! Prompts of verbs on a terminal: yes or no, and the number of jobs if many are cancelled.

use crate::support::redis::Redis;
use crate::support::terminal::Terminal;

/// So many jobs that their number has to be typed.
const MANY: usize = 1001;

/// Replaces everything by this number of waiting jobs.
fn put_waiting(redis: &Redis, jobs: usize) {
    redis.send(&["FLUSHALL"]);
    redis.calls((0..jobs).map(|at| {
        let jid = format!("j{at}");
        let words = ["put", "me", "mail", &jid, "K", "{}", "0"];
        (1.0, words.map(str::to_string).to_vec())
    }));
}

/// Runs a line on a terminal and answers its prompt. Returns the exit code and the output.
fn answered(redis: &Redis, line: &str, question: &str, answer: &str) -> (i32, String) {
    let mut command = redis.at(100).command();
    command.args(line.split(' ')).env("TERM", "xterm");
    let mut terminal = Terminal::typed(command, 100, 30);
    terminal.until(|text| text.contains(question));
    terminal.types(answer);
    let ran = terminal.end();
    let shown = ran.stdout();
    (ran.code(), shown)
}

fn left(redis: &Redis) -> u64 {
    redis.ok(101, "length mail").parse().unwrap()
}

#[test]
fn many_jobs_are_cancelled_only_if_their_number_is_typed() {
    let redis = Redis::start();
    put_waiting(&redis, MANY);
    let line = "cancel --queue mail";
    for (answer, code) in [("y\n", 9), ("1000\n", 9), ("\n", 9)] {
        let (ended, shown) = answered(&redis, line, "Type 1001", answer);
        assert_eq!(ended, code, "{answer:?}: {shown}");
        assert_eq!(left(&redis), MANY as u64, "{answer:?}");
    }
    let line = "cancel --queue mail --limit 1000";
    let (code, shown) = answered(&redis, line, "Proceed? [y/N]", "n\n");
    assert_eq!(code, 9, "{shown}");
    let (code, shown) = answered(&redis, "cancel --queue mail", "Type 1001", "1001\n");
    assert_eq!(code, 0, "{shown}");
    assert_eq!(left(&redis), 0);
    redis.must_be_clean();
}

#[test]
fn a_selector_asks_before_any_change() {
    let redis = Redis::start();
    for line in [
        "move --queue mail --to slow",
        "priority --queue mail --to 5",
        "tag --queue mail --add seen",
        "track --queue mail",
        "bury --queue mail --group hold --message m",
    ] {
        put_waiting(&redis, 3);
        let before = redis.dump();
        let (code, shown) = answered(&redis, line, "Proceed? [y/N]", "n\n");
        assert_eq!(code, 9, "{line}: {shown}");
        assert!(redis.dump() == before, "{line}");
        let (code, shown) = answered(&redis, line, "Proceed? [y/N]", "y\n");
        assert_eq!(code, 0, "{line}: {shown}");
        assert!(redis.dump() != before, "{line}");
        redis.must_be_clean();
    }
}
