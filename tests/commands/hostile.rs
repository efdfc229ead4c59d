//! Names and data that try to control the terminal, through every command that shows them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::support::qless::RunOutput;
use crate::support::redis::Redis;

/// A window title, a direction, a C1 control, a line separator, a line end and a tab.
const EVIL: &str = "\u{1b}]0;owned\u{7}\u{202e}\u{9b}31m\u{2028}x\nline\ttab";
const WORKER: &[u8] = b"w\x1b[1m\xfe";

fn run(redis: &Redis, words: &[&[u8]]) -> RunOutput {
    redis
        .at(100)
        .args(words.iter().map(|word| OsStr::from_bytes(word)))
}

/// Hostile text in every field: one job failed, one runs, one waits and is tagged and tracked, one
/// recurs.
fn hostile() -> Redis {
    let redis = Redis::start();
    let evil = EVIL.as_bytes();
    let data = serde_json::to_string(EVIL).unwrap();
    let tags = serde_json::to_string(&[EVIL]).unwrap();
    let api = |words: &[&[u8]]| {
        let words = [&[b"api".as_slice()], words].concat();
        run(&redis, &words).ok();
    };
    let queue = b"q\xff\x1b[31m".as_slice();
    api(&[
        b"put",
        b"me",
        queue,
        evil,
        b"\x1b[2JKlass",
        data.as_bytes(),
        b"0",
    ]);
    api(&[b"put", b"me", queue, b"runs\x1b[5m", b"K", b"{}", b"0"]);
    api(&[b"pop", queue, WORKER, b"2"]);
    let message = b"boom\x1b[31m\xff\nsecond\x1b[0m".as_slice();
    api(&[
        b"fail",
        evil,
        WORKER,
        "g\u{1b}[7m\u{2066}".as_bytes(),
        message,
    ]);
    api(&[
        b"put",
        b"me",
        b"q",
        b"bad\xff\x1b[5m",
        b"K",
        b"\"caf\xe9 \x7f\"",
        b"0",
        b"tags",
        tags.as_bytes(),
    ]);
    api(&[b"track", b"track", b"bad\xff\x1b[5m"]);
    api(&[b"log", b"bad\xff\x1b[5m", evil, data.as_bytes()]);
    api(&[b"config.set", evil, message]);
    api(&[
        b"recur",
        b"q",
        b"nightly\x1b[5m",
        evil,
        b"{}",
        b"interval",
        b"60",
        b"500",
    ]);
    redis
}

#[test]
fn control_characters_from_the_server_never_reach_a_terminal() {
    let redis = hostile();
    let evil = EVIL.as_bytes();
    let lines: [&[&[u8]]; 33] = [
        &[b"get", evil],
        &[b"get", evil, b"--field", b"failure.message"],
        &[b"get", evil, b"--field", b"data"],
        &[b"get", b"bad\xff\x1b[5m", b"--history"],
        &[b"get", b"nightly\x1b[5m"],
        &[b"get", b"no\x1b[31msuch\xff"],
        &[b"jobs"],
        &[b"jobs", b"--columns", b"jid,tags,data,worker,group"],
        &[b"jobs", b"--state", b"failed"],
        &[b"jobs", b"--group", b"no\x1b[31m"],
        &[b"jobs", b"--queue", b"no\x1b[31m\xff"],
        &[b"jobs", b"--sort", b"no\x1b[31m\xc2\x9b"],
        &[b"failed"],
        &[b"failed", b"--group", b"g*"],
        &[b"queues"],
        &[b"queues", b"\x1b[31m"],
        &[b"stats", b"q*"],
        &[b"workers"],
        &[b"workers", WORKER],
        &[b"workers", b"\x1b[31m"],
        &[b"peek", b"q"],
        &[b"length", b"q\xff\x1b[31m"],
        &[b"track"],
        &[b"tag"],
        &[b"config", b"list"],
        &[b"config", b"get", evil],
        &[b"recur", b"list"],
        &[b"recur", b"get", b"nightly\x1b[5m"],
        &[b"depends", evil],
        &[b"graph", evil],
        &[b"graph", b"bad\xff\x1b[5m", b"--as", b"tree"],
        &[b"graph", b"--queue", b"no\x1b[31m\xff"],
        &[b"depends", b"\x1b[31m"],
    ];
    for words in lines {
        for format in [b"table".as_slice(), b"json", b"ndjson"] {
            let words = [words, &[b"-o", format]].concat();
            let ran = run(&redis, &words);
            for bytes in [ran.bytes(), ran.stderr().as_bytes()] {
                let text = std::str::from_utf8(bytes).expect("what is cleaned is UTF-8");
                let acts = text.chars().find(|&c| {
                    (c.is_control() && c != '\n' && c != '\t')
                        || "\u{202e}\u{2066}\u{2028}".contains(c)
                });
                assert_eq!(acts, None, "{text}");
                let line = String::from_utf8_lossy(words[0]);
                assert!(!text.contains("panicked"), "{line}: {text}");
            }
        }
    }
}

#[test]
fn documents_name_bytes_that_are_not_text() {
    let redis = hostile();
    let job = run(&redis, &[b"get", b"bad\xff\x1b[5m", b"-o", b"json"]).json();
    assert_eq!(job["jid"], "bad\\xff\u{1b}[5m");
    assert_eq!(job["jid_bytes"], "YmFk/xtbNW0=");
    assert_eq!(job["data"], serde_json::Value::Null);
    assert_eq!(job["data_bytes"], "ImNhZukgfyI=");
    assert_eq!(job["tags"], serde_json::json!([EVIL]));
    let jids = run(&redis, &[b"jobs", b"--queue", b"q", b"-o", b"jid"]);
    assert_eq!(jids.bytes(), b"bad\xff\x1b[5m\n");
}
