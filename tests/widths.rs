//! Tables and help fit terminals of 40 columns and more; ids are never cut, so that they can be
//! copied.

use std::process::Command;

use expect_test::expect;
use qless::internals::width;

use super::support::qless::Qless;
use super::support::redis::Redis;
use super::support::terminal::{self, Terminal};
use super::support::text::{Shows, words};

const JID: &str = "0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a";
const OTHER: &str = "77be2d0c4a1f4e0f9f0d3b6a5c8e7f10";

/// What the binary prints on a terminal with this number of columns.
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
    let script = format!(
        "10 put mail Mail::Welcome --jid {JID} --tag onboarding --tag eu
        12 put deploy Deploy --jid {OTHER} --depends {JID}
        20 put mail Mail::Digest --jid b0000000000000000000000000000000 --priority -10
        30 put images Thumb --jid d0000000000000000000000000000000 --delay 2h
        31 put reports Nightly --jid e0000000000000000000000000000000
        50 recur put reports Nightly --every 1d --jid nightly
        60 pop mail --count 2 --worker mx-2-18841
        70 fail {JID} --group 'upload error' --as-holder --message 'PermissionError: cannot open spool/4411 or anything else in that directory'
        80 track {JID}
        90 pop reports --worker build-7-4121
        95 complete e0000000000000000000000000000000 --worker build-7-4121
        99 pause images --reason 'disk swap, and then the other disk, and then the first again'"
    );
    for line in script.lines() {
        let (now, line) = line.trim_start().split_once(' ').unwrap();
        redis.ok(now, line);
    }
    redis
}

/// An entry without a job, and a job with a field that cannot be read.
fn damage(redis: &Redis, entry: &str) {
    let job = "ql:j:e0000000000000000000000000000000";
    redis.send(&["ZADD", "ql:q:mail-work", "5", entry]);
    redis.send(&["HSET", job, "retries", "x"]);
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
        &format!("graph {OTHER}"),
        &format!("graph {JID}"),
        "graph --queue deploy",
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
}

/// A line for each queue, job, group, worker and finding, with the columns that say most.
#[test]
fn narrow_terminals_show_each_row_on_one_line() {
    let redis = busy();
    let reminder = "put mail Mail::Reminder --jid 5510a4d2b8c34e6f8a9b0c1d2e3f4a5b";
    redis.ok(96, reminder);
    let resize = "put images Resize --jid c41d77aa0e3b4f6c9d1f2a5b8c7e6d50";
    redis.ok(97, resize);
    damage(&redis, "9a01b7c64d2e4f3a8b9c0d1e2f3a4b5c");
    let qless = redis.at(130);
    let mut text = String::new();
    for columns in [80, 40] {
        for line in ["queues", "jobs", "failed", "workers"] {
            let shown = shown(&qless, &format!("-q {line}"), columns);
            text.push_str(&format!("{columns} {line}\n{shown}\n"));
        }
        let mut check = qless.command();
        check
            .args(["-q", "check"])
            .env("TERM", "xterm")
            .env("NO_COLOR", "1");
        let shown = terminal::run(check, columns).stdout();
        text.push_str(&format!("{columns} check\n{shown}\n"));
    }
    assert!(text.lines().all(|line| width(line) <= 80), "{text}");
    text.shows(expect![[r#"
        80 queues
        QUEUE    WAITING  STALLED  SCHEDULED  DEPENDS  NEXT WAITS  STATE
        deploy         0        0          0        1  –
        images         1        0          1        0  33s         paused 31s (disk swa…
        mail           2        1          0        0  34s
        reports        1        0          0        0  1m 20s

        80 jobs
        JID                               KLASS           STATE      QUEUE    DETAIL
        77be2d0c4a1f4e0f9f0d3b6a5c8e7f10  Deploy          depends    deploy   on 1 job,…
        c41d77aa0e3b4f6c9d1f2a5b8c7e6d50  Resize          waiting    images   waits 33s
        d0000000000000000000000000000000  Thumb           scheduled  images   in 1h 58m
        b0000000000000000000000000000000  Mail::Digest    stalled    mail     the lock …
        5510a4d2b8c34e6f8a9b0c1d2e3f4a5b  Mail::Reminder  waiting    mail     waits 34s
        nightly-1                         Nightly         waiting    reports  waits 1m …

        80 failed
        GROUP         JOBS  LAST    QUEUES  SAMPLE
        upload error     1  1m ago  mail    PermissionError: cannot open spool/4411 or …

        80 workers
        WORKER        RUNNING  STALLED  LAST SEEN
        mx-2-18841          0        1  1m 10s ago
        build-7-4121        0        0  40s ago

        80 check
        SEVERITY  FINDING         COUNT  PROBLEM                          EXAMPLES
        critical  ghost-waiting       1  id waits in a queue, the job d…  mail: 9a01b7c…
        error     job-unreadable      1  field or history entry that do…  e0000000…: re…

        40 queues
        QUEUE    WAITING  STATE
        deploy         0
        images         1  paused 31s (disk swap…
        mail           2
        reports        1

        40 jobs
        JID                               AGE
        77be2d0c4a1f4e0f9f0d3b6a5c8e7f10  1m 58s
        c41d77aa0e3b4f6c9d1f2a5b8c7e6d50  33s
        d0000000000000000000000000000000  1m 40s
        b0000000000000000000000000000000  1m 10s
        5510a4d2b8c34e6f8a9b0c1d2e3f4a5b  34s
        nightly-1                         1m 20s

        40 failed
        GROUP         JOBS  LAST    SAMPLE
        upload error     1  1m ago  PermissionE…

        40 workers
        WORKER        STALLED  LAST SEEN
        mx-2-18841          1  1m 10s ago
        build-7-4121        0  40s ago

        40 check
        SEVERITY  FINDING         EXAMPLES
        critical  ghost-waiting   mail: 9a01b7c…
        error     job-unreadable  e0000000…: re…

    "#]]);
    let columns = "jobs --columns jid,klass,state,queue,pri,detail --queue mail -q";
    shown(&qless, columns, 40).shows(expect![[r#"
        JID
          KLASS           STATE    QUEUE  PRI
          DETAIL
        b0000000000000000000000000000000
          Mail::Digest    stalled  mail   -10
          the lock of mx-2-18841 expired 10s ago
        5510a4d2b8c34e6f8a9b0c1d2e3f4a5b
          Mail::Reminder  waiting  mail     0
          waits 34s
        0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a
          Mail::Welcome   failed   mail     0
          upload error: PermissionError: cannot…
    "#]]);
}

/// A repair and its plan, and recurring jobs: what is dropped first says least.
#[test]
fn narrow_terminals_show_repairs_and_recurring_jobs() {
    let redis = busy();
    redis.ok(
        97,
        "recur put images Image::Purge --every 90m --jid purge-of-old-images --backlog 3",
    );
    let mut text = String::new();
    for (at, columns) in [80, 40].into_iter().enumerate() {
        let qless = redis.at(130);
        let shown = shown(&qless, "recur list -q", columns);
        text.push_str(&format!("{columns} recur list\n{shown}\n"));
        damage(&redis, &format!("9a01b7c64d2e4f3a8b9c0d1e2f3a4b5{at}"));
        let check = |line: &str| {
            let mut check = qless.command();
            check
                .args(words(line))
                .env("TERM", "xterm")
                .env("NO_COLOR", "1");
            check
        };
        let mut asked = Terminal::typed(check("check --repair -q"), columns, 50);
        asked.until(|written| written.contains("Proceed?"));
        asked.types("n\n");
        let written = asked.end().stdout();
        let lines = written.lines().filter(|line| line.starts_with("  "));
        let plan: String = lines.map(|line| format!("{line}\n")).collect();
        text.push_str(&format!("{columns} plan\n{plan}\n"));
        let shown = terminal::run(check("check --repair --yes -q"), columns).stdout();
        text.push_str(&format!("{columns} repair\n{shown}\n"));
    }
    text.shows(expect![[r#"
        80 recur list
        JID                  QUEUE    KLASS         EVERY   NEXT         SPAWNED  OWED
        purge-of-old-images  images   Image::Purge  1h 30m  due 33s ago        0     1
        nightly              reports  Nightly       1d      in 23h 58m         1     0

        80 plan
          FINDING        COUNT  ACTION         EXAMPLES
          ghost-waiting      1  remove the id  mail: 9a01b7c6…
          not repaired, because you have to decide:
          job-unreadable, 1: field or history entry that does not parse
            print the stored fields: `qless get JID -o json`
            if the failure is lost, run the job again: `qless retry JID`
            put the job again: `qless put QUEUE KLASS DATA --jid=JID`, or cancel it: `qless cancel JID`

        80 repair
        SEVERITY  FINDING            REPAIRED  REFUSED  REMAINING  ACTION
        critical  ghost-waiting             1        0          0  removed the id
        error     job-unreadable            0        0          1  none, report only
        info      depends-on-failed         0        0          1  none, report only

        40 recur list
        JID                  EVERY   NEXT
        purge-of-old-images  1h 30m  due 33s ago
        nightly              1d      in 23h 58m

        40 plan
          FINDING        COUNT  ACTION
          ghost-waiting      1  remove the id
          not repaired, because you have to decide:
          job-unreadable, 1: field or history entry that does not parse
            print the stored fields: `qless get JID -o json`
            if the failure is lost, run the job again: `qless retry JID`
            put the job again: `qless put QUEUE KLASS DATA --jid=JID`, or cancel it: `qless cancel JID`

        40 repair
        SEVERITY  FINDING            REPAIRED
        critical  ghost-waiting             1
        error     job-unreadable            0
        info      depends-on-failed         0

    "#]]);
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
    walk(&qless::internals::clap_tree(), "", &mut paths);
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
