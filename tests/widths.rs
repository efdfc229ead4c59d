//! Tables and help fit terminals of 40 columns and more; ids are never cut, so that they can be
//! copied.

use std::process::Command;

use qless::internals::width;

use super::support::qless::Qless;
use super::support::redis::Redis;
use super::support::terminal;
use super::support::text::words;

const JID: &str = "0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a";
const OTHER: &str = "77be2d0c4a1f4e0f9f0d3b6a5c8e7f10";

/// Returns what the binary prints on a terminal with this number of columns.
fn shown(qless: &Qless, line: &str, columns: u16) -> String {
    let mut command: Command = qless.command();
    command
        .args(words(line))
        .env("TERM", "xterm")
        .env("PAGER", "cat")
        .env("NO_COLOR", "1");
    let ran = terminal::run(command, columns);
    let written = ran.stdout();
    assert_eq!(ran.code(), 0, "{line}: {written}");
    written
}

fn busy() -> Redis {
    let redis = Redis::start();
    let at = |now: u64, line: &str| {
        redis.at(now).run(line).ok();
    };
    at(
        10,
        &format!("put mail Mail::Welcome --jid {JID} --tag onboarding --tag eu"),
    );
    at(
        12,
        &format!("put deploy Deploy --jid {OTHER} --depends {JID}"),
    );
    at(
        20,
        "put mail Mail::Digest --jid b0000000000000000000000000000000 --priority -10",
    );
    at(
        30,
        "put images Thumb --jid d0000000000000000000000000000000 --delay 2h",
    );
    at(
        31,
        "put reports Nightly --jid e0000000000000000000000000000000",
    );
    at(50, "recur put reports Nightly --every 1d --jid nightly");
    at(60, "pop mail --count 2 --worker mx-2-18841");
    at(
        70,
        &format!(
            "fail {JID} --group 'upload error' --as-holder --message 'PermissionError: cannot open spool/4411 or anything else in that directory'"
        ),
    );
    at(80, &format!("track {JID}"));
    at(90, "pop reports --worker build-7-4121");
    at(
        95,
        "complete e0000000000000000000000000000000 --worker build-7-4121",
    );
    at(
        99,
        "pause images --reason 'disk swap, and then the other disk, and then the first again'",
    );
    redis
}

#[test]
fn tables_fit_narrow_and_wide_terminals() {
    let redis = busy();
    let qless = redis.at(100);
    for line in [
        "queues",
        "jobs",
        "jobs --state failed",
        "jobs --state complete",
        "jobs --count",
        "workers",
        "workers mx-2-18841",
        "failed",
        "failed --group 'upload error'",
        "track",
        "tag",
        "peek mail",
        "stats mail",
        "stats mail --histogram run",
        "stats mail --days 7",
        "config list --all",
        "recur list",
        "recur list --columns jid,queue,klass,every,next,spawned,backlog,pri,retries,tags,data",
        &format!("depends {OTHER}"),
        &format!("depends {JID}"),
    ] {
        for columns in [40, 60, 80, 200] {
            let shown = shown(&qless, &format!("-q {line}"), columns);
            // Sentences are wrapped by the terminal.
            let rows = shown.lines().filter(|line| !line.contains(" depends on "));
            let widest = rows.map(width).max().unwrap_or(0);
            assert!(
                widest <= columns.into(),
                "{line} at {columns} has a line of {widest}:\n{shown}"
            );
            // All jids of tests have this length, so none is cut.
            for word in shown.split_whitespace().filter(|word| word.len() > 20) {
                let starts = [JID, OTHER].iter().any(|jid| word.starts_with(&jid[..20]));
                assert!(!starts || word.len() == 32, "{line} at {columns}: {word}");
            }
        }
    }
    for line in ["jobs", "jobs --state failed", "workers mx-2-18841", "track"] {
        let shown = shown(&qless, line, 40);
        let jids = shown.lines().filter(|line| line.trim().len() == 32);
        assert!(jids.count() > 0, "{line}:\n{shown}");
    }
}

#[test]
fn help_fits_narrow_terminals() {
    let mut paths = vec![String::new()];
    fn walk(command: &clap::Command, at: &str, paths: &mut Vec<String>) {
        for below in command
            .get_subcommands()
            .filter(|below| !below.is_hide_set())
        {
            let path = format!("{at} {}", below.get_name());
            paths.push(path.clone());
            walk(below, &path, paths);
        }
    }
    walk(&qless::internals::command(), "", &mut paths);
    for path in &paths {
        for columns in [40, 80] {
            let shown = shown(&Qless::bare(), &format!("{path} --help"), columns);
            // A word that is longer than the line is not cut, so that it can be copied; the usage
            // is one line.
            let long = shown
                .lines()
                .filter(|line| width(line) > columns.into() && line.trim().contains(' '))
                .filter(|line| !line.starts_with("Usage: "));
            let long: Vec<&str> = long.collect();
            assert_eq!(long, [""; 0], "{path} at {columns}");
        }
    }
}
