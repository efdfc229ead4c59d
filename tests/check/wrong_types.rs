//! Keys of every wrong type in place of each key of the core, and unknown keys below its prefix:
//! the binary reports them or ignores them, it never stops half-way, and no readable job is lost.

use super::slice::{NOW, fill};
use crate::support::clean::CheckOutput;
use crate::support::core::{Core, Dump, Key, Reply};
use crate::support::random;
use crate::support::repair::{RepairCycle, jobs_preserved};

/// The command that makes a key of each type; `KEY` is its name.
const TYPES: [(&str, &str); 6] = [
    ("string", "SET KEY text"),
    ("list", "RPUSH KEY one two"),
    ("hash", "HSET KEY field text"),
    ("set", "SADD KEY one two"),
    ("zset", "ZADD KEY 5 one 6 two"),
    ("stream", "XADD KEY * field text"),
];

fn put(core: &mut Core, key: &str, line: &str) {
    core.redis_words(&[b"DEL", key.as_bytes()]);
    let words: Vec<&str> = line
        .split(' ')
        .map(|word| if word == "KEY" { key } else { word })
        .collect();
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let reply = core.redis_words(&words);
    assert!(!matches!(reply, Reply::Error(_)), "{line}: {reply:?}");
}

/// Scans, repairs, repairs by name. Returns the output of the first scan.
fn survived(core: &mut Core, what: &str) -> CheckOutput {
    let before = core.dump();
    let cycle = RepairCycle::new(core, NOW);
    let printed = CheckOutput::run(&cycle.qless(), NOW);
    assert!(
        cycle.core.dump() == before,
        "{what}: a look changed something"
    );
    for flags in ["", "--only all"] {
        let ran = cycle.repair(flags, &format!("undo{}", flags.len()));
        let code = ran.code();
        assert!([0, 7].contains(&code), "{what}: {code}: {}", ran.stderr());
        jobs_preserved(&before, &cycle.core.dump())
            .unwrap_or_else(|fault| panic!("{what}: {fault}"));
        let left = CheckOutput::run(&cycle.qless(), NOW);
        assert_eq!(left.code, code, "{what}: {:?}", left.lines);
    }
    printed
}

fn kind(key: &Key) -> &'static str {
    match key {
        Key::Text(_) => "string",
        Key::List(_) => "list",
        Key::Hash(_) => "hash",
        Key::Set(_) => "set",
        Key::Zset(_) => "zset",
    }
}

/// Each key of a healthy database becomes a key of another type. In `make test` the keys share the
/// types among them; in `make soak` every key becomes a key of every type.
fn each_key(part: usize) {
    let mut core = Core::new();
    fill(&mut core);
    let healthy: Dump = core.dump();
    let mut turn = part;
    for (at, (name, key)) in healthy.0.iter().enumerate() {
        if at % 2 != part {
            continue;
        }
        let rest = name.strip_prefix("ql:").expect("our prefix");
        let single = !rest.contains(':');
        for (kind_now, line) in TYPES {
            turn += 1;
            // No divisor of the number of types, so that each key gets other ones.
            let each = if single { 7 } else { 31 };
            if !random::is_played(turn, each) {
                continue;
            }
            fill(&mut core);
            put(&mut core, name, line);
            let what = format!("{name} as a {kind_now}");
            let printed = survived(&mut core, &what);
            let wrong = kind(key) != kind_now;
            let named = printed.lines.iter().any(|line| {
                let id = line.split(' ').next().unwrap_or_default();
                ["key-type", "key-unknown"].contains(&id) && line.contains(rest)
            });
            assert!(
                named == wrong || rest.starts_with("j:") && !printed.lines.is_empty(),
                "{what}: {:?}",
                printed.lines
            );
        }
    }
}

#[test]
fn every_even_key_of_a_wrong_type_is_reported_and_loses_no_job() {
    each_key(0);
}

#[test]
fn every_odd_key_of_a_wrong_type_is_reported_and_loses_no_job() {
    each_key(1);
}

/// Each key of a database with a failed job that is missing from its list and an unreadable job becomes a string, a
/// list and a stream: the key is a finding, and so is the rest. In `make test` the keys share the types among them.
fn beside_other_damage(part: usize) {
    let mut core = Core::new();
    let damage = ["LREM ql:f:H 0 f3", "HSET ql:j:w2 tags {{ priority inf"];
    fill(&mut core);
    let healthy: Dump = core.dump();
    let mut turn = part;
    for (name, key) in healthy.0.iter().skip(part).step_by(2) {
        let rest = name.strip_prefix("ql:").expect("our prefix");
        let single = !rest.contains(':');
        for (kind_now, line) in TYPES {
            if !["string", "list", "stream"].contains(&kind_now) || kind(key) == kind_now {
                continue;
            }
            turn += 1;
            let each = if single { 2 } else { 59 };
            if !random::is_played(turn, each) {
                continue;
            }
            fill(&mut core);
            for line in damage {
                core.redis(line);
            }
            put(&mut core, name, line);
            let what = format!("{name} as a {kind_now} beside other damage");
            let printed = survived(&mut core, &what);
            assert_eq!(printed.code, 7, "{what}");
            let found = |id: &str, item: &str| {
                let is_of = |line: &String| line.starts_with(id) && line.contains(item);
                printed.lines.iter().any(is_of)
            };
            assert!(
                found("key-type", rest) || rest.starts_with("j:"),
                "{what}: {:?}",
                printed.lines
            );
            assert!(
                found("failed-unlisted", "f3") || rest == "f:H" || rest.starts_with("j:f3"),
                "{what}: {:?}",
                printed.lines
            );
        }
    }
}

#[test]
fn even_keys_of_a_wrong_type_beside_other_damage_are_reported() {
    beside_other_damage(0);
}

#[test]
fn odd_keys_of_a_wrong_type_beside_other_damage_are_reported() {
    beside_other_damage(1);
}

#[test]
fn unknown_keys_below_the_prefix_break_nothing() {
    let mut core = Core::new();
    let strange = [
        "ql:",
        "ql::",
        "ql:x",
        "ql:j:",
        "ql:j:-history",
        "ql:j:a-history-history",
        "ql:r:",
        "ql:q:",
        "ql:q:-work",
        "ql:q:a-b-c",
        "ql:q:mail-none",
        "ql:f:",
        "ql:t:",
        "ql:w:",
        "ql:w::jobs",
        "ql:w:x",
        "ql:s:",
        "ql:s:wait:x:y",
        "ql:s:stats:0:",
        "ql:lost:",
        "ql:lost:x",
        "ql:pauses",
        "ql:queues ",
        "ql:j:\u{1b}[31m",
        "ql:q:*-work",
        "ql:q:[a]-locks",
        "foreign",
        "q",
    ];
    for (kind_now, line) in TYPES {
        fill(&mut core);
        for key in strange {
            put(&mut core, key, line);
        }
        core.redis_words(&[b"SET", b"ql:j:\xff\xfe", b"text"]);
        core.redis_words(&[b"ZADD", b"ql:q:\xff-work", b"5", b"\xfe"]);
        let printed = survived(&mut core, kind_now);
        let foreign = printed.lines.iter().any(|line| line.contains("foreign"));
        assert!(!foreign, "{:?}", printed.lines);
        assert!(!printed.lines.is_empty());
    }
}
