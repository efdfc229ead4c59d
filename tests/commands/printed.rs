//! The commands that `qless` prints: whatever a name looks like, they change what it names and
//! nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use expect_test::expect;
use proc_macro2::{TokenStream, TokenTree};
use serde_json::json;

use crate::support::proxy::{Cut, proxy};
use crate::support::qless::{Qless, RunOutput};
use crate::support::random;
use crate::support::redis::Redis;
use crate::support::terminal;

/// Names that could be flags, stdin, a file, patterns, or more than one word of a shell.
const NAMES: [&str; 9] = [
    "--all",
    "-y",
    "--queue=other",
    "-",
    "@/etc/hostname",
    "*",
    "'; rm",
    "a\nb\\[",
    "=ls",
];

/// Stands for the name in a call or a command.
const NAME: &str = "NAME";

/// A state of the database, and the commands that print other commands about it.
#[derive(Default)]
struct Place {
    calls: Vec<(f64, &'static str)>,
    damage: Vec<&'static str>,
    shows: Vec<&'static str>,
    prints: Vec<&'static str>,
}

impl Place {
    /// Reads a place. A call stands after its time, a command of Redis that damages something after `!`, and a
    /// command that prints others after `$`. Lines with `qless` are what these print, with `NAME` for the name as
    /// a shell reads it.
    fn parse(text: &'static str) -> Place {
        let mut place = Place::default();
        for line in text.trim().lines().map(str::trim) {
            match line.split_once(' ').unwrap() {
                ("!", command) => place.damage.push(command),
                ("$", command) => place.shows.push(command),
                ("qless", _) => place.prints.push(line),
                (now, call) => place.calls.push((now.parse().unwrap(), call)),
            }
        }
        place
    }
}

/// Jobs, queues and more that no command may change.
const BYSTANDERS: &str = r#"
    1 put me other bystander-fails K {} 0
    2 pop other other-worker 1
    3 fail bystander-fails other-worker other-group boom
    4 put me other bystander-completes K {} 0
    5 pop other other-worker 1
    6 complete bystander-completes other-worker other {}
    7 put me other bystander-runs K {} 0
    90 pop other other-worker 1
    90 put me other bystander-waits K {} 0 tags ["other"]
    90 put me other bystander-is-scheduled K {} 600
    90 put me other bystander-depends K {} 0 depends ["bystander-waits"]
    90 put me other-paused bystander-is-paused K {} 0
    90 pause other-paused
    90 recur other bystander-recurs K {} interval 600 300
    90 throttle.set other-throttle 3
"#;

const BYSTANDING_KEYS: [&str; 7] = [
    "ql:j:bystander",
    "ql:q:other",
    "ql:r:bystander",
    "ql:w:other",
    "ql:f:other",
    "ql:t:other",
    "ql:th:other",
];

/// The words of a call. A quoted `"NAME"` stands in JSON.
fn words(line: &str, name: &str) -> Vec<String> {
    let json = serde_json::to_string(name).unwrap();
    let word = |word: &str| {
        if word.contains("\"NAME\"") {
            word.replace("\"NAME\"", &json)
        } else {
            word.replace(NAME, name)
        }
    };
    line.split(' ').map(word).collect()
}

struct World<'r> {
    redis: &'r Redis,
    name: &'static str,
}

impl World<'_> {
    fn new<'r>(redis: &'r Redis, place: &Place, name: &'static str) -> World<'r> {
        redis.send(&["FLUSHALL"]);
        for calls in [&Place::parse(BYSTANDERS).calls, &place.calls] {
            redis.calls(calls.iter().map(|(now, line)| (*now, words(line, name))));
        }
        for line in &place.damage {
            let words = words(line, name);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            redis.send(&words);
        }
        World { redis, name }
    }

    /// Runs a command on a terminal, so that it prints hints, too.
    fn shown(&self, line: &str) -> String {
        let mut command = self.redis.at(100).command();
        command.args(["--no-pager", "--color=never"]);
        command.args(words(line, self.name));
        let ran = terminal::run(command, 2000);
        assert_ne!(ran.code(), 2, "{line}: {}", ran.stdout());
        ran.stdout()
    }

    /// Runs a command that was printed, with the jids of the bystanders on stdin.
    fn run(&self, mut command: Command) -> RunOutput {
        let qless = self.redis.at(100);
        let bin = Path::new(env!("CARGO_BIN_EXE_qless")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let list = tempfile::tempfile().unwrap();
        let jids = BYSTANDERS.split([' ', '\n']);
        let jids = jids.filter(|word| word.starts_with("bystander"));
        fs_write(&list, &jids.collect::<Vec<_>>().join("\n"));
        for (name, value) in qless.command().get_envs() {
            command.env(name, value.unwrap());
        }
        command.env("PATH", format!("{}:{path}", bin.display()));
        let output = command.stdin(Stdio::from(list)).stdout(Stdio::piped());
        RunOutput::of_child(output.stderr(Stdio::piped()).spawn().unwrap())
    }

    fn bystanders(&self) -> (BTreeMap<Vec<u8>, Vec<u8>>, String) {
        let mut keys = self.redis.dump();
        keys.retain(|key, _| {
            let mut known = BYSTANDING_KEYS.iter();
            known.any(|start| key.starts_with(start.as_bytes()))
        });
        let queues = self.redis.at(100).run("queues other other-paused -o json");
        (keys, queues.ok())
    }
}

fn fs_write(mut file: &fs::File, text: &str) {
    use std::io::{Seek, Write};
    file.write_all(text.as_bytes()).unwrap();
    file.rewind().unwrap();
}

/// The commands in a text: between backticks, in hints, and at the ends of lines.
fn commands(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some(at) = line.find("qless ") else {
            continue;
        };
        let command = if line[..at].ends_with('`') {
            line[at..].rsplit_once('`').unwrap().0
        } else {
            &line[at..]
        };
        if !found.iter().any(|other| other == command) {
            found.push(command.to_owned());
        }
    }
    found
}

/// Fills in what a person has to decide.
fn filled(command: &str) -> String {
    let command = command.replace("--to=N", "--to=5");
    let command = command.replacen("qless ", "qless --yes ", 1);
    match command.strip_suffix(" N") {
        Some(command) => format!("{command} 5"),
        None => command,
    }
}

/// A printed word with the name in it, as a shell reads it.
fn printed_word(word: &str, name: &str) -> String {
    let (flag, value) = match word.split_once('=') {
        Some((flag, value)) => (format!("{flag}="), value),
        None => (String::new(), word),
    };
    let mut pattern = String::new();
    for c in name.chars() {
        if "*?[{\\".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    let value = value.replace("PATTERN", &pattern).replace(NAME, name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_@/=".contains(c);
    let quoted = if value.chars().all(is_plain) && !value.starts_with('=') {
        value
    } else if value.contains('\n') {
        let escaped = value.replace('\\', "\\\\").replace('\n', "\\n");
        format!("$'{escaped}'")
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    };
    format!("{flag}{quoted}")
}

/// A printed line with the name in it.
fn printed_line(line: &str, name: &str) -> String {
    let needs_dashes = name.starts_with(['-', '@']) || name.contains(['*', '[']);
    let words = line.split(' ').filter(|word| *word != "--" || needs_dashes);
    let words = words.map(|word| match word {
        "--" | "" => word.to_owned(),
        word => printed_word(word, name),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Walks places, with an empty line between them: each prints what is expected, and what it prints changes no
/// bystander. In `make test` the places share the names among them; in `make soak` each place has every name.
#[track_caller]
fn walk(places: &'static str) {
    let redis = Redis::start();
    for (at, place) in places.split("\n\n").map(Place::parse).enumerate() {
        for (turn, name) in NAMES.into_iter().enumerate() {
            if !random::is_played(at + turn, 3) {
                continue;
            }
            let expected = place.prints.iter().map(|line| printed_line(line, name));
            let mut expected: Vec<String> = expected.collect();
            expected.sort();
            let mut printed = Vec::new();
            let shows = World::new(&redis, &place, name);
            let before = shows.bystanders();
            for line in &place.shows {
                printed.extend(commands(&shows.shown(line)));
            }
            printed.sort();
            printed.dedup();
            assert_eq!(printed, expected, "{name} {:?}", place.shows);
            for command in printed {
                let world = World::new(&redis, &place, name);
                let mut shell = Command::new("bash");
                shell.args(["--norc", "-c", &filled(&command)]);
                world.run(shell).exits(0);
                assert_eq!(world.bystanders(), before, "{command}");
            }
        }
    }
}

#[test]
fn commands_about_jobs_by_state() {
    walk(
        r#"
        91 put me q NAME K {} 0
        92 pop q w 1
        93 complete NAME w q {}
        $ explain -- NAME
        $ retry -- NAME
        qless retry --completed -- NAME

        91 put me q NAME K {} 0
        92 pop q w 1
        93 fail NAME w g boom
        93 put me q next K {} 0 depends ["NAME"]
        $ explain -- NAME
        $ explain next
        $ promote -- NAME
        $ wait -- NAME
        qless get -- NAME
        qless retry -- NAME

        91 put me q NAME K {} 0
        92 pop q w 1
        $ explain -- NAME
        $ retry -- NAME
        $ move --to=elsewhere -- NAME
        $ bury --group=g --message=m -- NAME
        qless fail --as-holder --group=g --message=m -- NAME
        qless move --force --to=elsewhere -- NAME
        qless retry --force -- NAME
        qless timeout -- NAME

        91 put me q NAME K {} 600
        $ explain -- NAME
        $ retry -- NAME
        $ fail --group=g --message=m -- NAME
        qless bury --group=g --message=m -- NAME
        qless promote -- NAME
    "#,
    );
}

#[test]
fn commands_about_jobs_that_wait_or_are_damaged() {
    walk(
        r#"
        91 put me q first K {} 0
        91 put me q NAME K {} 0 depends ["first"]
        92 put me q last K {} 0 depends ["NAME"]
        $ retry -- NAME
        $ promote -- NAME
        $ wait --deadline=0.1s -- NAME
        qless depends --off-all -- NAME
        qless depends -- NAME
        qless explain -- NAME

        91 put me q NAME K {} 0
        91 put me q next K {} 0 depends ["NAME"]
        ! DEL ql:j:NAME
        ! ZREM ql:q:q-work NAME
        $ explain next
        qless depends --off=NAME next

        91 put me q first K {} 0
        91 put me q NAME K {} 0
        ! HSET ql:j:NAME data {bad}
        $ explain -- NAME
        qless get --data -- NAME
        qless priority --to=N -- NAME

        91 throttle.set t 1
        91 put me q first K {} 0 throttles ["t"]
        92 pop q w 1
        93 put me q NAME K {} 0 throttles ["t"]
        ! HSET ql:j:first state complete
        $ explain -- NAME
        qless get -- NAME

        91 put me q NAME K {} 0
        91 put me q next K {} 0 depends ["NAME"]
        ! ZREM ql:q:q-work NAME
        ! ZADD ql:q:q-depends 0 NAME
        ! HSET ql:j:NAME state depends
        ! SADD ql:j:NAME-dependencies next
        ! SADD ql:j:next-dependents NAME
        $ explain next
        $ check
        qless depends --off=NAME next
        qless depends --off=next -- NAME

        91 recur q NAME K {} interval 600 300
        $ explain -- NAME
        qless recur run -- NAME
    "#,
    );
}

#[test]
fn commands_about_queues() {
    walk(
        r#"
        91 put me NAME job K {} 0
        92 pause NAME
        $ explain job
        $ explain --queue=NAME
        qless unpause -- NAME

        91 config.set NAME-max-concurrency 1
        91 put me NAME one K {} 0
        91 put me NAME two K {} 0
        92 pop NAME w 1
        $ explain --queue=NAME
        qless config set -- NAME-max-concurrency N

        91 put me NAME one K {} 600
        91 put me NAME two K {} 0 depends ["one"]
        91 recur NAME late K {} interval 600 0
        $ explain --queue=NAME
        qless jobs --queue=PATTERN --state=depends
        qless jobs --queue=PATTERN --state=scheduled
        qless recur list -- NAME

        91 put me NAME job K {} 0
        ! ZADD ql:q:NAME-work 9 ghost
        $ explain --queue=NAME
        qless check --repair --queue=PATTERN
    "#,
    );
}

#[test]
fn commands_about_workers_groups_lanes_and_throttles() {
    // Of failure groups, the newest comes first.
    walk(
        r#"
        10 put me q job K {} 0
        10 pop q NAME 1
        $ explain job
        $ forget worker --yes -- NAME
        qless workers -- NAME

        91 put me q job K {} 0
        92 pop q w 1
        93 fail job w NAME boom
        93 put me q two K {} 0
        93 pop q w 1
        94 fail two w NAME boom
        $ failed
        qless failed --group=PATTERN --retry-all

        91 put me q one K {} 0 key NAME
        92 put me q two K {} 0 key NAME
        $ explain two
        $ depends two --off-all
        $ promote two
        qless explain one
        qless key -- q NAME

        91 throttle.set NAME 1
        91 put me q one K {} 0 throttles ["NAME"]
        92 pop q w 1
        93 put me q two K {} 0 throttles ["NAME"]
        $ explain two
        qless throttle show -- NAME
    "#,
    );
}

/// The builder, and the files that quote a command without its being one to type: of a ledger, of the
/// command that runs, of the tree of commands, and the name of the program.
const QUOTED_IN: [&str; 6] = [
    "src/command_line.rs",
    "src/app/mod.rs",
    "src/app/suggestion.rs",
    "src/bulk/ledger.rs",
    "src/model/version.rs",
    "src/watch.rs",
];

/// Whether a text puts something into a command: of `qless`, or `chmod`. Where another word than a
/// flag or a command follows `qless`, it is a sentence.
fn is_formatted(text: &str) -> bool {
    let commands = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands");
    let is_command = |word: &str| {
        let file = commands.join(word);
        word.starts_with('-') || file.is_dir() || file.with_extension("rs").is_file()
    };
    let rests = |program| {
        text.match_indices(program)
            .map(|(at, it)| &text[at + it.len()..])
    };
    let typed = rests("qless ").filter(|rest| {
        let word = |c: char| c.is_alphabetic() || c == '-';
        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
        rest.starts_with('{') || (end > 0 && is_command(&rest[..end]))
    });
    let mut all = typed.chain(rests("chmod "));
    all.any(|rest| rest.split('`').next().unwrap().contains('{'))
}

/// Collects the literals that put something into a command.
fn formatted(tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let mut inner = group.stream().into_iter();
                let is_doc = matches!(inner.next(), Some(TokenTree::Ident(it)) if it == "doc");
                if !is_doc {
                    formatted(group.stream(), found);
                }
            }
            TokenTree::Literal(literal) if is_formatted(&literal.to_string()) => {
                found.push(literal.to_string());
            }
            _ => {}
        }
    }
}

#[test]
fn only_the_builder_puts_names_into_commands() {
    let mut dirs = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = Vec::new();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let shown = path.to_str().unwrap();
            if path.is_dir() {
                dirs.push(path);
            } else if shown.ends_with(".rs") && !QUOTED_IN.iter().any(|file| shown.ends_with(file))
            {
                let text = fs::read_to_string(&path).unwrap();
                // Tests follow the code.
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                formatted(code.parse().unwrap(), &mut found);
            }
        }
    }
    assert_eq!(found, [""; 0]);
    // It sees commands wherever they stand.
    assert!(is_formatted("show the plan: qless {own} --repair{dry}"));
    assert!(is_formatted(" qless check --repair{dry}"));
    assert!(is_formatted("`chmod 600 {}` leaves it to its owner"));
    assert!(!is_formatted("`qless help` lists {count} commands"));
    assert!(!is_formatted("a newer qless wrote it, this one reads {V}"));
}

/// Whether a queue is paused.
fn is_paused(redis: &Redis, queue: &str) -> bool {
    let found = redis
        .at(100)
        .args(["queues", "-o", "ndjson", "--", queue])
        .ok();
    found.contains(r#""paused":true"#)
}

#[test]
fn a_queue_that_an_import_paused_is_unpaused_alone() {
    let redis = Redis::start();
    for name in NAMES {
        redis.send(&["FLUSHALL"]);
        redis.calls([
            (1.0, words("put me NAME job K {} 0", name)),
            (1.0, words("put me other bystander K {} 0", name)),
        ]);
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("jobs.ndjson");
        let file = file.to_str().unwrap();
        redis
            .at(2)
            .args(["cancel", "--yes", "--save", file, "job"])
            .ok();
        redis.ok(3, "pause other");
        let mut command = redis.at(4).command();
        command.args(["import", "--hold", "--yes", file]);
        let ran = terminal::run(command, 2000);
        let printed = commands(&ran.stdout());
        assert_eq!(printed, [printed_line("qless unpause -- NAME", name)]);
        let world = World {
            redis: &redis,
            name,
        };
        assert!(is_paused(&redis, name));
        let mut shell = Command::new("bash");
        shell.args(["--norc", "-c", &printed[0]]);
        world.run(shell).exits(0);
        assert!(
            !is_paused(&redis, name) && is_paused(&redis, "other"),
            "{name}"
        );
    }
}

#[test]
fn a_worker_names_the_queue_that_is_paused() {
    let redis = Redis::start();
    for name in NAMES.into_iter().filter(|name| !name.contains('\n')) {
        redis.calls([
            (1.0, words("put me NAME job K {} 0", name)),
            (1.0, words("pause NAME", name)),
        ]);
        let queue: String = name.chars().flat_map(|c| ['\\', c]).collect();
        let ran = redis.at(2).args(["work", &queue, "--drain", "--", "true"]);
        let printed = commands(&ran.stderr());
        assert_eq!(printed, [printed_line("qless unpause -- NAME", name)]);
        redis.send(&["FLUSHALL"]);
    }
}

#[test]
fn the_flag_that_was_meant_selects_what_has_this_name() {
    let redis = Redis::start();
    for name in NAMES {
        redis.send(&["FLUSHALL"]);
        redis.calls([
            (1.0, words("put me NAME in-queue K {} 0", name)),
            (1.0, words("put me q in-group K {} 0", name)),
            (1.0, words("put me other other K {} 0", name)),
            (2.0, words("pop q w 1", name)),
            (3.0, words("fail in-group w group-NAME boom", name)),
        ]);
        for (wanted, flag, jid) in [
            (name.to_owned(), "--queue", "in-queue"),
            (format!("group-{name}"), "--group", "in-group"),
        ] {
            let error = redis.at(4).args(["get", "--", &wanted]).exits(4).stderr();
            let (_, hint) = error.rsplit_once(": `").unwrap();
            let hint = hint.trim_end().strip_suffix('`').unwrap();
            assert!(hint.starts_with(flag), "{error}");
            let mut shell = Command::new("bash");
            shell.args(["--norc", "-c", &format!("qless jobs -o jid {hint}")]);
            let world = World {
                redis: &redis,
                name,
            };
            assert_eq!(world.run(shell).ok(), jid, "{hint}");
        }
    }
}

#[test]
fn the_maximum_of_a_line_is_set_for_its_throttle() {
    let redis = Redis::start();
    for name in NAMES.into_iter().filter(|name| !name.contains('\n')) {
        let throttles = [format!("{name}=5")];
        let line = json!({"queue": "q", "klass": "K", "throttles": throttles});
        let qless = redis.at(1).input(line.to_string());
        qless.run("put --from -").exits(0);
        let shown = qless.args(["throttle", "show", "-o", "json", "--", name]);
        assert_eq!(shown.json()["maximum"], 5, "{name}");
    }
}

#[test]
fn documents_hold_the_exact_words() {
    let redis = Redis::start();
    redis.calls([
        (
            1.0,
            vec!["put", "me", "--all", "--queue=other", "K", "{}", "0"],
        ),
        (1.0, vec!["pause", "--all"]),
        (2.0, vec!["put", "me", "other", "bystander", "K", "{}", "0"]),
        (2.0, vec!["pause", "other"]),
    ]);
    let found = redis.json(3, "explain -o json -- --queue=other");
    let fix = &found["reasons"][0]["fix"];
    assert_eq!(*fix, json!(["qless", "unpause", "--", "--all"]));
    let words = fix.as_array().unwrap().iter().skip(1);
    redis
        .at(4)
        .args(words.map(|word| word.as_str().unwrap()))
        .ok();
    assert!(!is_paused(&redis, "--all") && is_paused(&redis, "other"));

    use std::os::unix::ffi::OsStrExt;
    let words: [&[u8]; 8] = [b"api", b"put", b"me", b"q", b"\xff", b"K", b"{}", b"60"];
    redis
        .at(5)
        .args(words.map(std::ffi::OsStr::from_bytes))
        .ok();
    let words: [&[u8]; 4] = [b"explain", b"-o", b"json", b"\xff"];
    let found = redis
        .at(6)
        .args(words.map(std::ffi::OsStr::from_bytes))
        .json();
    let reason = &found["reasons"][0];
    assert_eq!(reason["fix"], json!(["qless", "promote", "\\xff"]));
    assert_eq!(reason["fix_bytes"][2], "/w==");
}

#[test]
fn a_name_that_no_argument_can_hold_is_in_no_command() {
    let redis = Redis::start();
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("jids");
    fs::write(&list, "{\"jid\":\"x\\u0000y\"}\n").unwrap();
    let list = format!("@{}", list.display());
    let name = "x\0y";
    for calls in [
        &["put me q NAME K {} 0"][..],
        &["put me NAME NAME K {} 0", "pause NAME"],
        &["put me q NAME K {} 600"],
        &[
            "put me q NAME K {} 0",
            "put me q next K {} 0 depends [\"NAME\"]",
            "pop q w 1",
            "fail NAME w g boom",
        ],
        &["put me q NAME K {} 0", "pop q w 1"],
        &["put me q NAME K {} 0", "pop q NAME 1"],
        &["put me q NAME K {} 0", "pop q w 1", "complete NAME w q {}"],
        &[
            "put me q first K {} 0",
            "put me q NAME K {} 0 depends [\"first\"]",
        ],
        &["recur q NAME K {} interval 600 0"],
    ] {
        redis.send(&["FLUSHALL"]);
        redis.calls(calls.iter().map(|line| (90.0, words(line, name))));
        for line in [
            "explain LIST",
            "explain next",
            "get LIST",
            "retry LIST",
            "promote LIST",
            "move --to=q LIST",
            "bury --group=g --message=m LIST",
            "fail --group=g --message=m LIST",
            "wait --deadline=0.1s LIST",
        ] {
            let mut command = redis.at(100).command();
            command.args(["--no-pager", "--color=never", "--yes"]);
            command.args(line.split(' ').map(|word| word.replace("LIST", &list)));
            let ran = terminal::run(command, 2000);
            assert_ne!(ran.code(), 2, "{calls:?} {line}: {}", ran.stdout());
            for command in commands(&ran.stdout()) {
                assert!(!command.contains("NUL"), "{calls:?} {line}: {command}");
            }
        }
        let line = format!("explain -o json {list}");
        let found = redis.at(100).run(&line).stdout();
        for fix in found.split("\"fix\": [").skip(1) {
            let fix = fix.split(']').next().unwrap();
            assert!(!fix.contains("u0000"), "{found}");
        }
    }
    // Nor is an empty queue.
    redis.send(&["FLUSHALL"]);
    redis.calls([(1.0, words("put me q a K {} 0", ""))]);
    redis.send(&["HSET", "ql:j:a", "queue", ""]);
    let found = redis.ok(100, "explain -o json a");
    assert!(!found.contains("--queue=\""), "{found}");
}

#[test]
fn a_printed_command_goes_where_the_typed_one_went() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid same");
    redis.ok(2, "pop mail --worker w");
    redis.ok(2, "put mail K --jid next");
    redis.ok(2, "pause mail");
    redis.send(&["SET", "wrong:queues", "x"]);
    redis.send(&["CONFIG", "SET", "requirepass", "geheim-4711"]);
    let port = proxy(redis.socket(), Cut::Before(usize::MAX));
    let bare = Qless::bare().at(3).hide(&port.to_string(), "PORT");
    let with_password = bare.clone().env("QLESS_REDIS_PASSWORD", "geheim-4711");
    with_password.session(expect![[r#"
        $ qless retry same --redis redis://127.0.0.1:PORT
        --- stderr
        error: cannot retry `same`: it is running, held by `w`
        hint: take its lock away: `qless --redis=redis://127.0.0.1:PORT retry --force same`
        --- exit 5
        $ qless --redis redis://127.0.0.1:PORT --prefix ql: --config none retry same -o json
        --- stderr
        {"kind":"error","v":1,"code":"conflict","exit":5,"message":"cannot retry `same`: it is running, held by `w`","hint":"take its lock away: `qless --redis=redis://127.0.0.1:PORT --config=none --prefix=ql: retry --force same`","jid":"same"}
        --- exit 5
    "#]]);
    // A password is not printed.
    bare.session(expect![[r#"
        $ qless retry same --redis redis://:geheim-4711@127.0.0.1:PORT
        --- stderr
        error: cannot retry `same`: it is running, held by `w`
        hint: take its lock away: `qless --redis=redis://127.0.0.1:PORT/0 retry --force same`
        --- exit 5
    "#]]);
    // What was not typed need not be typed again. A fixed sentence and a document also have what was typed.
    let set = with_password
        .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
        .env("QLESS_PREFIX", "ql:");
    set.session(expect![[r#"
        $ qless retry same
        --- stderr
        error: cannot retry `same`: it is running, held by `w`
        hint: take its lock away: `qless retry --force same`
        --- exit 5
        $ qless --prefix other: get same
        --- stderr
        error: job `same` does not exist
        hint: it exists under another prefix: add `--prefix=ql:`
        --- exit 4
        $ qless --prefix wrong: queues
        --- stderr
        error: cannot read the reply: a key that it needs has the wrong type
        hint: `qless --prefix=wrong: check --only key-type` names it
        --- exit 1
        $ qless --prefix ql: explain next -o json | jq -c .reasons[0].fix
        ["qless","--prefix=ql:","unpause","mail"]
        $ qless explain next -o json | jq -c .reasons[0].fix
        ["qless","unpause","mail"]
    "#]]);
}
