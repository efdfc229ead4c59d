//! `--watch` of reading commands.

use std::io::{BufRead, BufReader};

use expect_test::expect;
use rustix::process::Signal;

use crate::support::qless::Qless;
use crate::support::redis::Redis;
use crate::support::terminal::Terminal;
use crate::support::text::words;

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

fn watching(qless: &Qless, line: &str, columns: u16, rows: u16) -> Terminal {
    let mut command = qless.command();
    command.args(words(line)).env("TERM", "xterm");
    Terminal::start(command, columns, rows)
}

/// The painted frames, without control sequences.
fn frames(written: &str) -> Vec<String> {
    let frames = written.split("\x1b[H").skip(1);
    let plain = |frame: &str| frame.replace("\x1b[0m\x1b[K\n", "\n").replace("\x1b[J", "");
    frames.map(plain).collect()
}

#[test]
fn a_terminal_is_repainted_until_ctrl_c() {
    let redis = Redis::start();
    redis.ok(100, "put mail K --jid a");
    let qless = redis.at(160);
    let screen = watching(&qless, "queues --watch=0.5s", 100, 24);
    screen.until(|written| frames(written).len() > 2);
    redis.ok(100, "put mail K --jid b");
    screen.until(|written| written.contains("mail         2 "));
    screen.signal("-INT");
    let ran = screen.end();
    let written = ran.stdout();
    assert_eq!(ran.code(), 0);
    assert!(
        written.starts_with(ENTER) && written.ends_with(LEAVE),
        "{written:?}"
    );
    let first = frames(&written).remove(0).replace(&redis.url(), "URL");
    expect![[r#"
        1970-01-01 00:02:40  qless queues, every 0.5s  URL

        QUEUE  WAITING  RUNNING  STALLED  SCHEDULED  DEPENDS  RECURRING  NEXT WAITS  STATE
        mail         1        0        0          0        0          0  1m
    "#]]
    .assert_eq(&first);
}

#[test]
fn a_frame_follows_the_size_of_the_terminal() {
    let redis = Redis::start();
    for at in 0..30 {
        redis.ok(at, "put mail Mail::Welcome");
    }
    let qless = redis.at(160);
    let screen = watching(&qless, "jobs --watch=1h", 120, 10);
    let small = screen.until(|written| written.contains("… 24 more"));
    let widest = |frame: &str| frame.lines().map(|line| line.chars().count()).max();
    assert_eq!(frames(&small)[0].lines().count(), 10);
    screen.resize(100, 40);
    let both = screen.until(|written| frames(written).len() == 2 && written.ends_with("\x1b[J"));
    assert_eq!(frames(&both)[1].lines().count(), 33);
    assert!(widest(&frames(&both)[1]) <= Some(100));
    screen.signal("-TERM");
    let ran = screen.end();
    let written = ran.stdout();
    assert_eq!(ran.code(), 143);
    assert!(written.ends_with(LEAVE));
}

#[test]
fn every_reading_command_can_be_watched_and_changes_nothing() {
    let redis = Redis::start();
    redis.ok(100, "put mail K --jid a --delay 10s");
    redis.ok(100, "recur put mail R --every 1m");
    let before = redis.dump();
    for line in ["queues", "jobs", "workers", "failed", "track", "stats mail"] {
        let screen = watching(&redis.at(9000), &format!("{line} --watch=0.5s"), 80, 24);
        let written = screen.until(|written| frames(written).len() > 1);
        let head = format!("qless {}", &line[..4]);
        assert!(written.contains(&head), "{written}");
        screen.signal("-INT");
        screen.end().exits(0);
    }
    assert_eq!(redis.dump(), before);
}

#[test]
fn a_lost_server_is_reported_until_it_returns() {
    let mut redis = Redis::start();
    redis.ok(100, "put mail K --jid a");
    let screen = watching(&redis.at(100), "queues --watch=0.5s", 100, 24);
    screen.until(|written| written.contains("mail "));
    redis.kill();
    let written = screen.until(|written| written.contains("trying again"));
    let last = frames(&written).pop().unwrap();
    assert!(last.starts_with("error: cannot open `"), "{last}");
    redis.restart();
    redis.ok(100, "put images K --jid a");
    screen.until(|written| written.contains("images "));
    screen.signal("-INT");
    assert_eq!(screen.end().code(), 0);
}

#[test]
fn ctrl_c_does_not_wait_for_a_server() {
    let redis = Redis::start();
    let screen = watching(&redis.at(100), "queues --watch=0.5s --timeout 60s", 100, 24);
    screen.until(|written| written.contains("\x1b[J"));
    redis.freeze();
    // It is in a call if no further frame comes for more than a tick.
    let seen = frames(&screen.written()).len();
    let begun = std::time::Instant::now();
    while begun.elapsed().as_secs_f64() < 1.2 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(frames(&screen.written()).len() <= seen + 1);
    screen.signal("-INT");
    let ran = screen.end();
    let written = ran.stdout();
    redis.thaw();
    assert_eq!(ran.code(), 0);
    assert!(written.ends_with(LEAVE), "{written:?}");
    assert!(begun.elapsed().as_secs() < 30);
}

#[test]
fn ndjson_is_a_document_for_each_tick() {
    let redis = Redis::start();
    redis.ok(100, "put mail K --jid a --tag x");
    redis.ok(100, "put mail K --jid b");
    for (line, kind) in [
        ("queues", "queues"),
        ("jobs --queue mail", "jobs"),
        ("jobs --count", "counts"),
        ("workers", "workers"),
        ("failed", "failed"),
        ("track", "jobs"),
        ("stats mail", "stats"),
    ] {
        let mut running = redis
            .at(160)
            .start(&format!("{line} --watch=0.5ss -o ndjson"));
        let printed = running.child.stdout.take().unwrap();
        let printed = BufReader::new(printed).lines().take(2);
        for document in printed {
            let document: serde_json::Value = serde_json::from_str(&document.unwrap()).unwrap();
            assert_eq!(document["kind"], kind, "{line}");
            assert_eq!(document["at"], "1970-01-01T00:02:40.000Z", "{line}");
            if kind == "jobs" && line != "track" {
                assert_eq!(document["items"].as_array().unwrap().len(), 2);
            }
        }
        running.signal(Signal::INT);
        running.end();
    }
    let mut running = redis.at(160).start("queues --watch -o ndjson");
    let mut out = BufReader::new(running.child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    running.signal(Signal::INT);
    running.end().exits(0);
    expect![[r#"
        {"kind":"queues","v":1,"at":"1970-01-01T00:02:40.000Z","total":1,"offset":0,"items":[{"name":"mail","waiting":2,"running":0,"stalled":0,"scheduled":0,"depends":0,"recurring":0,"paused":false,"paused_since":null,"paused_until":null,"paused_reason":null,"paused_by":null,"head_wait_s":60}]}
    "#]]
    .assert_eq(&first);
}

#[test]
fn watching_a_writing_command_is_a_usage_error() {
    Redis::start().session(expect![[r#"
        100 $ qless queues --watch
        --- stderr
        error: `--watch` requires a terminal
        hint: `-o ndjson` writes a document for each tick, also without a terminal
        --- exit 2
        100 $ qless jobs --watch -o jid
        --- stderr
        error: `--watch` cannot be used with `-o jid`
        hint: `-o ndjson` writes a document for each tick, also without a terminal
        --- exit 2
        100 $ qless queues --watch=0.4s -o ndjson --quiet &>/dev/null
        --- exit 2
        100 $ qless queues --watch=soon
        --- stderr
        error: `--watch` expects a duration such as `90s`, `15m` or `2h`, not `soon`
        --- exit 2
        100 $ qless failed --all-groups --retry-all --watch -o ndjson --yes &>/dev/null
        --- exit 2
        100 $ qless track a --watch
        --- stderr
        error: `--watch` repeats only commands that change nothing
        --- exit 2
        100 $ qless get - --watch -o ndjson
        --- stderr
        {"kind":"error","v":1,"code":"usage","exit":2,"message":"`--watch` cannot read jids from stdin again","hint":"name the jids, or a file of them: `@FILE`","jid":null}
        --- exit 2
        100 $ qless queues nobody --watch -o ndjson &>/dev/null
        --- exit 4
        100 $ qless queues --redis unix:///nonexistent/s --watch -o ndjson &>/dev/null
        --- exit 6
    "#]]);
}

#[test]
fn q_and_escape_leave_the_screen_and_restore_the_terminal() {
    let redis = Redis::start();
    redis.ok(100, "put mail K --jid a");
    for line in ["queues", "jobs", "get a"] {
        for key in ["q", "\x1b"] {
            let mut command = redis.at(160).command();
            command
                .args(words(&format!("{line} --watch=1h")))
                .env("TERM", "xterm");
            let mut screen = Terminal::typed(command, 80, 24);
            let before = screen.modes();
            screen.until(|written| written.ends_with("\x1b[J") && !screen.echoes());
            // An arrow key begins with Esc.
            screen.types("\x1b[Ax");
            screen.types(key);
            screen.until(|written| written.ends_with(LEAVE));
            assert_eq!(screen.modes(), before, "{line}");
            let ran = screen.end();
            assert_eq!(ran.code(), 0, "{line}");
            assert!(
                !ran.stdout().contains("\x1b[A"),
                "{line}: the keys were echoed"
            );
        }
    }
}

#[test]
fn a_job_can_be_watched() {
    let redis = Redis::start();
    redis.ok(100, "put mail K --jid a");
    let screen = watching(&redis.at(160), "get a --watch=0.5s", 100, 24);
    screen.until(|written| written.contains("state       waiting"));
    redis.ok(160, "pop mail --worker w");
    screen.until(|written| written.contains("running"));
    redis.ok(160, "cancel a --yes");
    let ran = screen.end();
    assert_eq!(ran.code(), 4);
    assert!(ran.stdout().contains("job `a` does not exist"));
}
