//! README.md and the pages of `docs/` show real output. The console blocks of a page run in one
//! shell, one after the other, on a terminal of 100 columns; UPDATE_EXPECT=1 writes the answers again.
//!
//! `$ ` begins a command, `> ` continues it, everything else is its answer. The first command sees
//! the time 22:40:00, and each further one 50 seconds more. The example address leads to a private
//! server, which each page has for itself.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use expect_test::expect_file;

use super::support::redis::Redis;
use super::support::terminal;

/// 2026-11-20 22:40:00 UTC.
const EVENING: usize = 1_795_214_400;
const STEP: usize = 50;
const ADDRESS: &str = "redis://10.0.4.7:6379/2";
/// What the shell prints between two answers.
const END: char = '\x1e';

/// A part of a page.
#[derive(Debug, PartialEq)]
enum Part {
    /// Lines that are not run.
    Text(String),
    /// The lines of a command, and the answer below them.
    Command(String, String),
}

#[test]
fn console_blocks_of_the_readme_show_real_output() {
    shows_real_output(&Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"));
}

#[test]
fn console_blocks_of_the_pages_in_docs_show_real_output() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut pages = 0;
    for entry in std::fs::read_dir(docs).unwrap() {
        let path = entry.unwrap().path();
        // The contents of the book have no text.
        let is_page = path.extension().is_some_and(|it| it == "md");
        if is_page && !path.ends_with("SUMMARY.md") {
            shows_real_output(&path);
            pages += 1;
        }
    }
    assert!(pages > 0);
}

/// Runs the commands of a page and compares what they print with what it shows.
fn shows_real_output(path: &Path) {
    let page = std::fs::read_to_string(path).unwrap();
    // Before anything is written: UPDATE_EXPECT=1 would replace a wrong fence with an answer.
    if let Some(fault) = unbalanced_fence(&page) {
        panic!("{}: {fault}", path.display());
    }
    let parts = parts(&page);
    assert!(
        parts.iter().any(|part| matches!(part, Part::Command(..))),
        "no console block in {}",
        path.display()
    );
    let mut answers = answers(&parts).into_iter();
    let mut fresh = String::new();
    for part in parts {
        match part {
            Part::Text(text) => fresh.push_str(&text),
            Part::Command(typed, shown) => {
                let answer = answers.next().unwrap_or_default();
                // If only jids differ, the jids of the page stay.
                let same = without_jids(&answer) == without_jids(&shown);
                fresh.push_str(&typed);
                fresh.push_str(if same { &shown } else { &answer });
            }
        }
    }
    // An answer may look like a fence.
    assert_eq!(unbalanced_fence(&fresh), None, "{}", path.display());
    expect_file![path].assert_eq(&fresh);
}

/// What is wrong with the fences of a page: a block that is opened in another, or never closed.
fn unbalanced_fence(page: &str) -> Option<String> {
    let mut open: Option<usize> = None;
    for (at, line) in page.lines().enumerate() {
        let Some(language) = line.strip_prefix("```") else {
            continue;
        };
        let number = at + 1;
        open = match (open, language.trim().is_empty()) {
            (Some(begun), false) => {
                return Some(format!(
                    "line {number} opens a block inside the one of line {begun}"
                ));
            }
            (Some(_), true) => None,
            (None, _) => Some(number),
        };
    }
    open.map(|begun| format!("the block of line {begun} is not closed"))
}

fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut console = false;
    for line in page.split_inclusive('\n') {
        if line.starts_with("```") {
            console = line.trim_end() == "```console";
        } else if console && line.starts_with("$ ") {
            parts.push(Part::Command(line.into(), String::new()));
            continue;
        } else if console {
            match parts.last_mut() {
                Some(Part::Command(typed, shown)) if line.starts_with("> ") && shown.is_empty() => {
                    typed.push_str(line);
                }
                Some(Part::Command(_, shown)) => shown.push_str(line),
                _ => panic!("a console block begins with a command, not with: {line}"),
            }
            continue;
        }
        match parts.last_mut() {
            Some(Part::Text(text)) => text.push_str(line),
            _ => parts.push(Part::Text(line.into())),
        }
    }
    parts
}

/// Runs the commands and returns what each wrote.
fn answers(parts: &[Part]) -> Vec<String> {
    let redis = Redis::start();
    let dir = tempfile::Builder::new()
        .prefix("ql")
        .tempdir_in("/tmp")
        .unwrap();
    let mut script = String::from("trap 'qless local stop --redis local:$PWD/night 2>&-' EXIT\n");
    let typed = parts.iter().filter_map(|part| match part {
        Part::Command(typed, _) => Some(typed),
        Part::Text(_) => None,
    });
    for (at, typed) in typed.enumerate() {
        let lines = typed.lines().map(|line| &line[2..]).collect::<Vec<_>>();
        script += &format!(
            "export QLESS_NOW={}\n{}\nprintf '\\x1e'\n",
            EVENING + at * STEP,
            lines.join("\n").replace(ADDRESS, &redis.url())
        );
    }
    // The real command accepts no socket addresses.
    let cli = dir.path().join("redis-cli");
    let real = "url=${2#unix://}; shift 2; PATH=${PATH#*:} exec redis-cli -s \"$url\" \"$@\"";
    std::fs::write(&cli, format!("#!/bin/sh\n{real}\n")).unwrap();
    std::fs::set_permissions(&cli, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = dir.path().join("script");
    std::fs::write(&file, script).unwrap();
    let qless = Path::new(env!("CARGO_BIN_EXE_qless"));
    let path = std::env::var("PATH").unwrap();
    let mut bash = Command::new("bash");
    bash.arg(file)
        .current_dir(dir.path())
        .env_clear()
        .env(
            "PATH",
            format!(
                "{}:{}:{path}",
                dir.path().display(),
                qless.parent().unwrap().display()
            ),
        )
        .env("HOME", "/nonexistent")
        // A page that names no server must not reach the one of this machine.
        .env("QLESS_REDIS_URL", redis.url())
        .env("TZ", "UTC")
        .env("LC_ALL", "C")
        .env("NO_COLOR", "1")
        // No progress bar: the test would have to remove it from the output.
        .env("CI", "1")
        .env("QLESS_WORKER", "ana@mx-1");
    if let Ok(program) = std::env::var("REDIS_SERVER") {
        bash.env("QLESS_REDIS_SERVER", program);
    }
    let written = terminal::run(bash, 100).stdout();
    written
        .replace(&redis.url(), ADDRESS)
        .split_terminator(END)
        .map(str::to_owned)
        .collect()
}

/// Replaces each run of 32 hex digits by its number in the text, so that other ids make no
/// difference.
fn without_jids(text: &str) -> String {
    let mut seen: Vec<String> = Vec::new();
    let mut plain = String::new();
    let mut run = String::new();
    for c in text.chars().chain(['\0']) {
        if matches!(c, '0'..='9' | 'a'..='f') {
            run.push(c);
            continue;
        }
        if run.len() == 32 {
            let at = seen.iter().position(|jid| *jid == run).unwrap_or_else(|| {
                seen.push(run.clone());
                seen.len() - 1
            });
            plain.push_str(&format!("jid {at}"));
        } else {
            plain.push_str(&run);
        }
        run.clear();
        plain.push(c);
    }
    plain
}

#[test]
fn a_block_that_is_not_closed_is_found() {
    assert_eq!(unbalanced_fence("```sh\na\n```\n```\nb\n```\n"), None);
    assert_eq!(
        unbalanced_fence("```sh\na\n\n```console\n$ b\n```\n").unwrap(),
        "line 4 opens a block inside the one of line 1"
    );
    assert_eq!(
        unbalanced_fence("a\n```sh\n").unwrap(),
        "the block of line 2 is not closed"
    );
}

#[test]
fn a_readme_is_split_into_text_and_commands() {
    let readme = "a\n```console\n$ b\n> c\nd\n> e\n$ f\n```\n$ g\n";
    assert_eq!(
        parts(readme),
        [
            Part::Text("a\n```console\n".into()),
            Part::Command("$ b\n> c\n".into(), "d\n> e\n".into()),
            Part::Command("$ f\n".into(), "".into()),
            Part::Text("```\n$ g\n".into()),
        ]
    );
}

#[test]
fn other_jids_do_not_change_the_readme() {
    let shown = |a: &str, b: &str| format!("{} {} {}\n", a.repeat(32), b.repeat(32), a.repeat(32));
    assert_eq!(
        without_jids(&shown("a", "b")),
        without_jids(&shown("c", "d"))
    );
    assert_ne!(
        without_jids(&shown("a", "b")),
        without_jids(&shown("c", "c"))
    );
}
