//! Features of all bulk verbs: pace, reports, signals, and broken connections.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::files::write_private;
use crate::support::proxy::{Cut, proxy, proxy_then};
use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;
use crate::support::terminal;

/// `j000`, `j001` and so on have failed in `mail`, group `boom`.
fn failed(many: usize) -> Redis {
    let redis = running(many);
    redis.calls((0..many).map(|at| (30.0, words(&format!("fail {} w1 boom one", jid(at))))));
    redis
}

/// `j000`, `j001` and so on run in `mail`, held by `w1`.
fn running(many: usize) -> Redis {
    let redis = waiting(many);
    redis.calls(
        (0..many)
            .step_by(100)
            .map(|_| (20.0, words("pop mail w1 100"))),
    );
    redis
}

/// `j000`, `j001` and so on wait in `mail`.
fn waiting(many: usize) -> Redis {
    let redis = Redis::start();
    redis.calls((0..many).map(|at| {
        let line = format!("put me mail {} K {{}} 0", jid(at));
        (10.0 + at as f64 / 1e3, words(&line))
    }));
    redis
}

fn jid(at: usize) -> String {
    format!("j{at:03}")
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// The binary at a pinned moment, behind a connection that breaks.
fn through(redis: &Redis, cut: Cut, now: u32) -> Qless {
    at_port(proxy(redis.socket(), cut)).at(now)
}

/// The binary, pointed at a proxy.
fn at_port(port: u16) -> Qless {
    let url = format!("redis://127.0.0.1:{port}");
    let qless = Qless::bare().env("QLESS_REDIS_URL", &url);
    qless.hide(&url, "redis://127.0.0.1:PORT")
}

/// Jids, sorted.
fn sorted(jids: &str) -> Vec<&str> {
    let mut jids: Vec<&str> = jids.lines().collect();
    jids.sort_unstable();
    jids
}

/// The histories of the jobs of a list, as `what` words, with how many have each.
fn histories(redis: &Redis, list: &str) -> Vec<(String, usize)> {
    let jids = redis.ok(100, &format!("{list} -o jid"));
    let printed = redis
        .at(100)
        .input(jids)
        .run("get - --history -o ndjson")
        .ok();
    let mut counts = std::collections::BTreeMap::new();
    for job in printed.lines() {
        let job: serde_json::Value = serde_json::from_str(job).unwrap();
        let history = job["history"].as_array().unwrap().iter();
        let words: Vec<&str> = history
            .map(|entry| entry["what"].as_str().unwrap())
            .collect();
        *counts.entry(words.join(" ")).or_default() += 1;
    }
    counts.into_iter().collect()
}

#[test]
fn each_job_is_cancelled_and_reported_however_often_the_connection_breaks() {
    let redis = waiting(500);
    let ran = through(&redis, Cut::Often(5), 50).run("cancel --queue mail --yes -o jid");
    let all: Vec<String> = (0..500).map(jid).collect();
    assert_eq!(sorted(&ran.ok()), all);
    assert_eq!(redis.ok(60, "length mail"), "0");
    redis.must_be_clean();
    // Dependents are cancelled and reported, too.
    let redis = waiting(220);
    redis.calls((0..220).map(|at| {
        let line = format!("put me mail k{at:03} K {{}} 0 depends [\"{}\"]", jid(at));
        (20.0, words(&line))
    }));
    let ran = through(&redis, Cut::Often(5), 50)
        .run("cancel --queue mail --state waiting --dependents cancel --yes -o jid");
    let mut all: Vec<String> = (0..220).map(jid).collect();
    all.extend((0..220).map(|at| format!("k{at:03}")));
    assert_eq!(sorted(&ran.ok()), all);
    redis.must_be_clean();
}

#[test]
fn every_verb_changes_each_job_once_however_often_the_connection_breaks() {
    for row in [
        "timeout --queue mail                       | --queue mail         | put popped timed-out cli",
        "priority --queue mail --to 7               | --queue mail         | put popped cli",
        "tag --queue mail --add a --remove b        | --queue mail --tag a | put popped cli",
        "track --queue mail                         | --queue mail         | put popped cli",
        "retry --group boom                         | --queue mail         | put popped failed put cli",
        "retry --queue mail --as-holder             | --queue mail         | put popped cli",
        "retry --queue mail --state running --force | --queue mail         | put popped put cli",
        "move --queue mail --force --to slow        | --queue slow         | put popped put cli",
    ] {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let [line, all, history] = columns[..] else {
            panic!("three columns: {row}");
        };
        let redis = match line {
            "retry --group boom" => failed(250),
            _ => running(250),
        };
        let ran = through(&redis, Cut::Often(5), 50).run(&format!("{line} --yes -o json"));
        let document = ran.json();
        assert_eq!(document["done"], 250, "{line}: {}", ran.stderr());
        assert_eq!(document["items"], serde_json::json!([]), "{line}");
        let found = histories(&redis, &format!("jobs {all}"));
        assert_eq!(found, [(history.to_string(), 250)], "{line}");
        redis.must_be_clean();
    }
}

#[test]
fn a_retry_by_the_holder_uses_one_retry_however_often_the_connection_breaks() {
    let redis = running(300);
    let jids: Vec<String> = (0..300).map(jid).collect();
    let qless = through(&redis, Cut::Often(5), 21).input(jids.join("\n"));
    let left = qless.run("retry - --as-holder").ok();
    assert!(left.lines().all(|line| line.ends_with("\t4")), "{left}");
    assert_eq!(left.lines().count(), 300);
    assert_eq!(redis.ok(22, "get j007 --field remaining"), "4");
    redis.must_be_clean();
}

#[test]
fn each_put_creates_one_job_wherever_the_connection_breaks() {
    let redis = Redis::start();
    let cuts = [Cut::Before(2), Cut::After(2), Cut::Often(3)];
    for (at, cut) in cuts.into_iter().cycle().take(30).enumerate() {
        let line = format!("put mail K --jid {} -o json", jid(at));
        let put = through(&redis, cut, 50).run(&line).json();
        assert_eq!(put["created"], true);
        assert_eq!(put["state"], "waiting");
    }
    assert_eq!(
        histories(&redis, "jobs --queue mail"),
        [("put".to_string(), 30)]
    );
    redis.must_be_clean();
}

#[test]
fn a_refused_repetition_does_not_decide_about_the_first_call() {
    let redis = waiting(1);
    let socket = redis.socket();
    // When the reply is lost, the server runs out of memory.
    let port = proxy_then(redis.socket(), Cut::After(2), move || {
        let mut server = UnixStream::connect(&socket).unwrap();
        _ = server.write_all(b"CONFIG SET maxmemory 1\r\n");
        _ = server.read(&mut [0; 16]);
    });
    let ran = at_port(port).at(50).run("api priority j000 7 -o json");
    assert_eq!(ran.exits(6).error()["code"], "unknown");
    assert_eq!(redis.ok(50, "get j000 --field priority"), "7");
}

#[test]
fn a_job_put_by_another_client_is_not_taken_for_the_lost_put() {
    let redis = Redis::start();
    redis.ok(40, "put mail K --jid j");
    for at in 1..8 {
        let qless = through(&redis, Cut::After(2), 50 + at);
        qless.run("put mail K --jid j").exits(5);
    }
    redis.must_be_clean();
}

#[test]
fn a_recurring_job_is_put_once_wherever_the_connection_breaks() {
    for cut in [Cut::Before(2), Cut::After(2)] {
        let redis = Redis::start();
        let line = "recur put mail K --jid r --every 90s --tag a --priority 3";
        through(&redis, cut, 50).run(line).exits(0);
        assert_eq!(redis.ok(50, "recur list -o jid"), "r");
        redis.must_be_clean();
    }
}

#[test]
fn a_job_is_untracked_wherever_the_connection_breaks() {
    // Handshake, the job, the tracked ones, and then the call.
    for cut in [Cut::Before(4), Cut::After(4)] {
        let redis = waiting(2);
        redis.ok(20, "track j000 j001");
        redis.ok(21, "api cancel j000");
        let ran = through(&redis, cut, 50).run("-v track --remove j000 -o json");
        assert_eq!(ran.json()["done"], 1);
        ran.says("calls repeated: 1");
        assert_eq!(redis.ok(60, "track -o jid"), "j001");
        redis.must_be_clean();
    }
}

#[test]
fn jobs_with_an_unknown_outcome_are_reported_as_unknown() {
    let redis = failed(500);
    // Handshake, listing, the server's run and so on pass; the last slice gets no reply.
    let dry = redis.at(50).run("-v retry --group boom --dry-run -o jid");
    let dry = dry.stderr();
    let before = dry.lines().filter(|line| line.contains(" ms ")).count();
    let ran = through(&redis, Cut::Hold(before + 3), 50)
        .run("--timeout 2s retry --group boom --yes -o json")
        .exits(6);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    let sums = ["done", "skipped", "failed", "remaining"].map(|sum| document[sum].as_u64());
    assert_eq!(sums, [200, 0, 200, 100].map(Some), "{}", ran.stderr());
    for item in document["items"].as_array().unwrap() {
        assert_eq!(item["result"], "failed");
        assert_eq!(item["code"], "unknown");
        let why = "the reply was lost; the change may or may not have happened";
        assert_eq!(item["detail"], why);
    }
    ran.says("while retrying `j200`; the change may or may not");
    ran.says("run the same command again to go on");
    // The change had happened; the same command does the rest.
    redis.session(expect![[r#"
        60 $ qless retry --group boom --yes -o json | jq -c '[.matched, .done]'
        [100,100]
        --- stderr
        100 retried
    "#]]);
    assert_eq!(
        histories(&redis, "jobs --queue mail"),
        [("put popped failed put cli".to_string(), 500)]
    );
}

#[test]
fn jobs_that_the_server_loses_while_they_are_listed_are_not_changed() {
    let restart = |redis: &mut Redis| {
        redis.kill();
        redis.restart();
    };
    let flush = |redis: &mut Redis| _ = redis.send(&["FLUSHALL"]);
    let restarted = "restarted, or another one took its place";
    for (fault, cause) in [
        (restart as fn(&mut Redis), restarted),
        (flush, "was flushed"),
    ] {
        let redis = failed(900);
        let socket = redis.socket();
        let redis = Arc::new(Mutex::new(redis));
        // The threads of a proxy do not end: they do not keep the server.
        let shared = Arc::downgrade(&redis);
        // Handshake, the server's run, the list, and two pages of jobs pass.
        let port = proxy_then(socket, Cut::Meanwhile(6), move || {
            fault(&mut shared.upgrade().unwrap().lock().unwrap());
        });
        let ran = at_port(port)
            .at(50)
            .run("retry --group boom --yes")
            .exits(3);
        let printed = format!(
            "error: `redis://127.0.0.1:PORT/0` {cause} while the jobs were listed, and has lost some of \
             them; nothing was changed\nhint: run the same command again\n"
        );
        assert_eq!(ran.stderr(), printed);
    }
}

#[test]
fn jobs_are_changed_although_another_database_was_flushed_while_they_were_listed() {
    let redis = Arc::new(failed(900));
    let shared = Arc::downgrade(&redis);
    let port = proxy_then(redis.socket(), Cut::Meanwhile(6), move || {
        let flush = "redis.call('select', 1) redis.call('flushdb')";
        _ = shared.upgrade().unwrap().send(&["EVAL", flush, "0"]);
    });
    let ran = at_port(port)
        .at(50)
        .run("retry --group boom --yes")
        .exits(0);
    assert!(ran.stderr().starts_with("900 retried"), "{}", ran.stderr());
}

#[test]
fn one_job_with_an_unknown_outcome_is_an_error() {
    let redis = failed(1);
    through(&redis, Cut::Hold(3), 50).session(expect![[r#"
        $ qless --timeout 1s retry j000
        --- stderr
        error: no reply from `redis://127.0.0.1:PORT/0` within 1s while retrying `j000`; the change may or may not have happened
        hint: `qless get j000` shows it; `--timeout` gives it more time
        --- exit 6
    "#]]);
}

// --rate, --spread

#[test]
fn a_rate_spaces_jobs_evenly() {
    let redis = failed(30);
    let begun = Instant::now();
    redis.ok(50, "retry --group boom --yes --no-input --rate 20/s -o jid");
    // Fifteen pairs, a tenth of a second between them.
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(1400), "{took:?}");
    assert_eq!(redis.ok(51, "length mail"), "30");
}

#[test]
fn progress_is_shown_on_a_terminal_after_half_a_second() {
    let shown = |redis: Redis, more: &str| {
        let mut command = redis.at(50).command();
        command.env("TERM", "xterm");
        command.args(words(&format!("retry --group boom --yes{more}")));
        terminal::run(command, 80).ok()
    };
    let long = shown(failed(60), " --rate 50/s");
    let bar = long.split('\r').find(|line| line.contains("eta"));
    let bar = bar.unwrap_or_else(|| panic!("no bar: {long}"));
    let first = bar.split("/60").next().unwrap();
    let done: u64 = first.rsplit(' ').next().unwrap().parse().unwrap();
    // Ten in a fifth of a second.
    assert!((20..60).contains(&done), "{first}");
    assert!(long.contains("60 retried"), "{long}");
    let short = shown(failed(3), "");
    assert!(!short.contains("eta"), "{short}");
}

#[test]
fn an_invalid_rate_is_bad_usage() {
    for rate in ["0/s", "20", "fast", "-1/s", "1e3/s", "20/d", "/s", ""] {
        let ran = Qless::bare().args(["retry", "--group", "g", "--rate", rate]);
        ran.says("`--rate` expects");
        ran.exits(2);
    }
    let printed = Qless::bare().run("retry --group g --rate 0/s");
    printed.shows(expect![[r#"
        --- stderr
        error: `--rate` expects a number per second, such as `20/s`, or `90/m`, not `0/s`
        --- exit 2
    "#]]);
}

#[test]
fn a_plan_shows_its_pace_and_jobs_are_spread_evenly_over_a_time() {
    let redis = failed(4);
    redis.session(expect![[r#"
        50 $ qless retry --group boom --dry-run --rate 90/m --spread 15m
        --- stderr
        Retry 4 failed jobs on unix://DIR/s

          mail	failed	4	1970-01-01T00:00:30.000Z	1970-01-01T00:00:30.000Z

          each goes back to its own queue with 5 fresh retries
          they run one after the other, over 15m
          at most 1.5 jobs a second
        would retry 4
        50 $ qless retry --group boom --yes --spread 40m
        --- stderr
        4 retried
        50 $ qless get j000 j001 j002 j003 -o json | jq -c '[.items[].state, .items[].scheduled_for]'
        ["waiting","scheduled","scheduled","scheduled",null,"1970-01-01T00:10:50.000Z","1970-01-01T00:20:50.000Z","1970-01-01T00:30:50.000Z"]
    "#]]);
}

// --fail-fast, --require-match, --reason

#[test]
fn fail_fast_stops_at_the_first_failure() {
    let redis = waiting(3);
    redis.session(expect![[r#"
        20 $ qless pop mail --worker w1 &>/dev/null
        21 $ qless pop mail --worker w2 &>/dev/null
        22 $ qless pop mail --worker w1 &>/dev/null
        25 $ qless fail j000 j001 j002 --worker w1 --group g --message m --fail-fast -o ndjson
        {"jid":"j001","result":"failed","code":"not_holder","detail":"it is held by `w2`","queue":"mail","state_before":"running","state_after":null}
        {"jid":"j000","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"running","state_after":"failed"}
        {"summary":{"action":"fail","dry_run":false,"context":null,"matched":3,"done":1,"skipped":0,"failed":1,"remaining":1,"elapsed_s":0}}
        --- stderr
        1 marked failed, 1 failed, 1 not tried
          failed   1  held by `w2`: j001
        --- exit 3
        25 $ qless jobs --queue mail --columns jid,state
        j001	running
        j002	running
        j000	failed
        25 $ qless fail j002 j001 --worker w1 --group g --message m
        --- stderr
        1 marked failed, 1 failed
          failed   1  held by `w2`: j001
        --- exit 3
        30 $ qless put mail K --jid x &>/dev/null
        30 $ qless put mail K --jid child --depends j000 &>/dev/null
        31 $ qless cancel j000 x --yes --fail-fast
        --- stderr
        0 cancelled, 1 failed, 1 not tried
          failed   1  `child` waits for it: j000
        --- exit 3
        31 $ qless cancel j000 x --yes
        x
        --- stderr
        1 cancelled, 1 failed
          failed   1  `child` waits for it: j000
        --- exit 3
    "#]]);
}

#[test]
fn no_match_is_an_error_only_if_requested() {
    waiting(1).session(expect![[r#"
        20 $ qless retry --queue mail --state failed --yes
        --- stderr
        no jobs to retry
        20 $ qless retry --queue mail --state failed --yes --require-match
        --- stderr
        error: there are no jobs to retry
        --- exit 4
        20 $ qless retry - --require-match &>/dev/null
        --- exit 4
        20 $ qless retry - &>/dev/null
    "#]]);
}

#[test]
fn several_jobs_of_which_none_can_be_changed_end_as_one_does() {
    let redis = running(2);
    redis.calls([(30.0, words("put me mail w K {} 0"))]);
    redis.calls([(30.0, words("fail j001 w1 boom one"))]);
    let qless = redis.at(100);
    for line in [
        "heartbeat --as-holder w",
        "complete --as-holder w",
        "timeout w",
        "fail --group g --message m w",
        "retry w",
        "promote w",
        "bury --group g --message m j000",
        "bury --group g --message m j001",
        "move --to mail w",
        // Another worker holds it.
        "heartbeat --worker w2 j000",
    ] {
        let (verb, refused) = line.rsplit_once(' ').unwrap();
        let run = |jids: &str| qless.run(&format!("{verb} {jids}")).code();
        let refusals = [
            run(refused),
            run(&format!("{refused} {refused}")),
            run(&format!("{refused} gone")),
            run(&format!("-n {refused} gone")),
        ];
        assert_eq!(refusals, [5; 4], "{line}");
        assert_eq!([run("gone"), run("gone none")], [4, 4], "{verb}");
    }
    // One that can be changed is enough, and so are jobs that a selector finds.
    qless.run("timeout j000 w").ok();
    qless.run("promote --queue mail --state waiting --yes").ok();
}

#[test]
fn a_reason_is_written_to_the_history_of_each_job() {
    let redis = waiting(2);
    let reason = "night\n\u{1b}[31m \"quoted\" \u{e9}";
    let args = ["priority", "j000", "j001", "--to", "3", "--reason", reason];
    redis.at(20).args(args).exits(0);
    for jid in ["j000", "j001"] {
        let job = redis.json(20, &format!("get {jid} -o json"));
        let note = &job["history"][1];
        assert_eq!(
            [&note["what"], &note["verb"], &note["reason"]],
            ["cli", "priority", reason]
        );
        assert!(note["by"].as_str().unwrap().contains('@'));
    }
}

#[test]
fn a_reason_that_the_core_would_refuse_is_bad_usage() {
    let most = 4096;
    let long = "x".repeat(most);
    let args = ["priority", "j", "--to", "3", "--reason", &long];
    let ran = Qless::bare().args(args);
    ran.says("`--reason` is too long");
    ran.exits(2);
    Qless::bare()
        .args(["priority", "j", "--to", "3", "--reason", ""])
        .exits(2);
}

// --report

/// A file for `--report`, and its directory, which lives as long as this.
fn report() -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.ndjson").display().to_string();
    (dir, file)
}

/// The first line of a report, and the outcomes.
fn lines(file: &str) -> Vec<serde_json::Value> {
    let lines = all_lines(file).into_iter();
    lines.filter(|line| line["result"] != "planned").collect()
}

/// The lines of a report, including the lines from before each change.
fn all_lines(file: &str) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_report_lists_every_job_and_the_command_it_belongs_to() {
    let redis = failed(2);
    let (_dir, file) = report();
    redis.ok(50, &format!("retry j000 j001 j000 gone --report {file}"));
    let report = all_lines(&file);
    let head = &report[0];
    assert_eq!(head["kind"], "report");
    assert_eq!(head["v"], 1);
    assert_eq!(head["prefix"], "ql:");
    assert_eq!(head["address"], redis.url());
    assert_eq!(head["command"], "retry j000 j001 j000 gone");
    assert_eq!(head["run_id"].as_str().unwrap().len(), 40);
    // Each job is named before it is changed.
    let items = report[1..].iter();
    let items = items.map(|item| format!("{} {} {}\n", item["jid"], item["result"], item["code"]));
    expect![[r#"
        "gone" "skipped" "gone"
        "j000" "planned" "ok"
        "j001" "planned" "ok"
        "j000" "done" "ok"
        "j001" "done" "ok"
    "#]]
    .assert_eq(&items.collect::<String>());
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn repeating_a_command_with_its_report_skips_finished_jobs() {
    let redis = waiting(3);
    let (_dir, file) = report();
    // Flags about the pace may differ.
    redis.at(20).hide(&file, "FILE").session(expect![[r#"
        $ printf 'j000\nj001' | qless tag - --add x --report FILE -q &>/dev/null
        $ qless tag j000 --remove x -q
        j000	–
        $ printf 'j000\nj001\nj002' | qless tag - --add x --report FILE --rate 100/s --reason again
        j002	x
        --- stderr
        1 tagged, 2 skipped
          skipped  2  done already, as `FILE` tells: j000, j001
        $ qless get j000 --field tags
        []
        $ printf 'j000\nj001\nj002' | qless tag - --add x --report FILE --dry-run
        --- stderr
        would tag 0, 3 skipped
          skipped  3  done already, as `FILE` tells:
            j000, j001, j002
    "#]]);
    assert_eq!(lines(&file).len(), 4);
}

#[test]
fn a_named_job_that_the_report_lists_as_done_is_not_an_error() {
    let redis = waiting(1);
    let (_dir, file) = report();
    let line = format!("timeout j000 --report {file}");
    redis.ok(20, "pop mail --worker w");
    redis.ok(21, &line);
    redis.ok(22, &line);
    redis.at(22).run("timeout j000").exits(5);
}

#[test]
fn a_report_is_continued_only_by_the_same_command() {
    let redis = failed(1);
    let (_dir, file) = report();
    let line = format!("retry --group boom --to elsewhere --yes --report {file}");
    redis.ok(50, &line);
    let before = fs::read(&file).unwrap();
    // There is no server: no call is made.
    Qless::bare().hide(&file, "FILE").session(expect![[r#"
        $ qless cancel --group boom --yes --report FILE
        --- stderr
        error: `FILE` was begun by `qless retry --to=elsewhere --group=boom`, this is `qless cancel --group=boom`; nothing was changed
        hint: name another file
        --- exit 2
        $ qless retry --group boom --yes --report FILE &>/dev/null
        --- exit 2
        $ qless --prefix x: retry --group boom --to elsewhere --yes --report FILE
        --- stderr
        error: `FILE` was begun with prefix `ql:`, this is `x:`; nothing was changed
        hint: name another file
        --- exit 2
    "#]]);
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_report_from_before_a_server_restart_is_noted() {
    let (_dir, file) = report();
    let line = format!("tag j000 --add x --report {file}");
    let (before, after) = (waiting(1), waiting(1));
    before.ok(20, &line);
    let ran = after.at(20).run(&line).exits(0);
    let start = "note: this is not the server";
    assert!(ran.stderr().starts_with(start), "{}", ran.stderr());
}

#[test]
fn an_incomplete_report_line_counts_as_not_written() {
    let redis = waiting(2);
    let (_dir, file) = report();
    let line = format!("tag - --add x --report {file}");
    let tag = || redis.at(20).input("j000\nj001").run(&line).exits(0);
    tag();
    let whole = fs::read(&file).unwrap();
    // The file is cut before the header, in it, in a line, and before the newline.
    let lengths = [1, 20, whole.len() - 1, whole.len() - 30, whole.len() - 150];
    for left in [0].into_iter().chain(lengths) {
        fs::write(&file, &whole[..left]).unwrap();
        tag();
        assert_eq!(lines(&file).len(), 3, "{left}");
    }
}

#[test]
fn a_file_that_is_not_a_report_is_neither_read_nor_overwritten() {
    let (_dir, file) = report();
    let line = format!("tag j000 --add x --report {file}");
    for content in ["precious", "precious\n", "{}\n", "[1]\n", "\n", "\u{0}\n"] {
        write_private(&file, content);
        let ran = Qless::bare().hide(&file, "FILE").run(&line);
        ran.shows(expect![[r#"
            --- stderr
            error: `FILE` exists and is not a qless report
            hint: name another file
            --- exit 2
        "#]]);
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
    }
    let redis = waiting(1);
    fs::remove_file(&file).unwrap();
    redis.ok(20, &line);
    let content = fs::read_to_string(&file).unwrap() + "nonsense\n";
    fs::write(&file, content).unwrap();
    redis.at(20).hide(&file, "FILE").session(expect![[r#"
        $ qless tag j000 --add x --report FILE
        --- stderr
        error: `FILE`, line 4: this is not the outcome of a job
        hint: repair the line, or name another file
        --- exit 2
    "#]]);
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_before_any_change() {
    let redis = failed(1);
    let (dir, file) = report();
    let dir = dir.path().to_str().unwrap();
    redis.at(50).hide(dir, "TMP").session(expect![[r#"
        $ qless retry --group boom --yes --report TMP
        --- stderr
        error: cannot write `TMP`: is a directory
        hint: nothing was changed; name a file that can be written
        --- exit 1
        $ qless retry --group boom --yes --report TMP/nowhere/r
        --- stderr
        error: cannot write `TMP/nowhere/r`: no such file or directory
        hint: nothing was changed; name a file that can be written
        --- exit 1
        $ qless retry --group boom --yes --report /dev/full
        --- stderr
        error: cannot write `/dev/full`: no space left on device
        hint: make room on the disk, then run again with the same file
        --- exit 1
        $ qless retry --group boom --yes --report /dev/null
        --- stderr
        error: cannot write `/dev/null`: it is a device
        hint: name a file
        --- exit 2
        $ qless retry --group boom --yes --report /dev/zero &>/dev/null
        --- exit 2
        $ qless retry --group boom --yes --report '' &>/dev/null
        --- exit 2
        $ qless retry --group boom --yes --report -
        --- stderr
        error: `--report` expects the name of a file, `./-` for one of that name, not `-`
        --- exit 2
        $ qless jobs --group boom -o jid
        j000
        $ qless retry --group nope --yes --report TMP/r.ndjson &>/dev/null
        --- exit 4
        $ qless retry --group boom -n --report TMP/r.ndjson &>/dev/null
    "#]]);
    // A refusal and a dry run leave no report behind.
    assert!(!Path::new(&file).exists());
}

#[test]
fn a_run_whose_report_hit_the_size_limit_is_finished_by_the_same_command() {
    let redis = failed(600);
    let (_dir, file) = report();
    let line = format!("retry --group boom --yes --report {file}");
    // No file may be longer than 40 KB; 200 lines are shorter, 400 are longer.
    let limit = r#"trap '' XFSZ; ulimit -f 80; exec "$0" "$@""#;
    let mut shell = redis.at(50).shell(limit);
    shell.args(line.split(' ')).args(["-o", "json"]);
    let ran = RunOutput::of(&mut shell).exits(1);
    ran.says("cannot write");
    ran.says("run again with the same file");
    let document: serde_json::Value = serde_json::from_slice(ran.bytes()).unwrap();
    let remaining = document["remaining"].as_u64().unwrap();
    assert!(remaining > 0, "{document}");
    // Every job that was changed is in the report, though not every outcome is.
    let text = fs::read(&file).unwrap();
    let whole = text.iter().rposition(|byte| *byte == b'\n').unwrap();
    let text = String::from_utf8(text[..whole].to_vec()).unwrap();
    let changed = redis.ok(55, "jobs --queue mail --state waiting -o jid");
    assert!(changed.lines().count() >= 200);
    for jid in changed.lines() {
        assert!(text.contains(&format!("\"jid\":\"{jid}\"")), "{jid}");
    }
    redis.at(60).run(&line).exits(0);
    assert_eq!(
        histories(&redis, "jobs --queue mail"),
        [("put popped failed put cli".to_string(), 600)]
    );
    let outcomes = lines(&file).into_iter();
    let done = outcomes.filter(|line| line["result"] == "done").count();
    // Some lines of the last slice did not fit.
    assert!((400..600).contains(&done), "{done}");
}

#[test]
fn finished_jobs_are_in_the_report_after_stdout_is_closed() {
    let redis = failed(600);
    let (_dir, file) = report();
    let line = format!("retry --group boom --yes -o ndjson --report {file}");
    let mut command = redis.at(50).command();
    let mut child = command.args(line.split(' ')).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(RunOutput::of_child(child).code(), 128 + 13);
    let done = lines(&file).len() - 1;
    assert!((200..600).contains(&done), "{done}");
    assert_eq!(redis.ok(60, "length mail"), done.to_string());
}

#[test]
fn two_runs_do_not_write_one_report() {
    let redis = failed(1);
    let (_dir, file) = report();
    write_private(&file, "");
    let held = fs::File::open(&file).unwrap();
    held.lock().unwrap();
    redis.at(50).hide(&file, "FILE").session(expect![[r#"
        $ qless retry --group boom --yes --report FILE
        --- stderr
        error: cannot write `FILE`: another run is using it
        hint: run again when it has ended
        --- exit 1
    "#]]);
    drop(held);
    redis.ok(50, &format!("retry --group boom --yes --report {file}"));
}

// signals

#[test]
fn a_second_signal_ends_an_action_immediately() {
    let redis = failed(30);
    let line = "retry --group boom --yes --rate 2/s --timeout 60s -o ndjson";
    let mut running = redis.at(50).start(line);
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    redis.freeze();
    // The next call of `--rate` is under way then.
    thread::sleep(Duration::from_millis(700));
    let begun = Instant::now();
    // Signals that are not handled yet count as one, so the second may take several.
    while !running.has_ended() {
        running.signal(Signal::INT);
        thread::sleep(Duration::from_millis(1050));
        assert!(begun.elapsed() < Duration::from_secs(20), "it goes on");
    }
    assert_eq!(running.end().exits(130).stderr(), "");
    redis.thaw();
}

#[test]
fn an_interrupted_action_is_finished_by_the_same_command() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 143)] {
        let redis = failed(30);
        let (_dir, file) = report();
        let slow = format!("retry --group boom --yes --rate 30/m --report {file}");
        let mut running = redis.at(50).start(&format!("{slow} -o ndjson"));
        let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let begun = Instant::now();
        // As timeout(1) does: the process, and then its group.
        running.signal(signal);
        thread::sleep(Duration::from_millis(1));
        running.signal(signal);
        let ran = running.end();
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the wait goes on"
        );
        let stderr = ran.exits(code).stderr();
        let last = stdout.lines().last().unwrap().unwrap();
        let sum: serde_json::Value = serde_json::from_str(&last).unwrap();
        let count = |field: &str| sum["summary"][field].as_u64().unwrap();
        let (done, remaining) = (count("done"), count("remaining"));
        assert_eq!(done + remaining, 30);
        assert!(remaining > 0);
        assert!(stderr.contains("not tried"), "{stderr}");
        let interrupted = format!("interrupted after {done} of 30");
        assert!(stderr.contains(&interrupted), "{stderr}");
        let again = format!("run the same command again to go on: `qless {slow} -o ndjson`");
        let printed = stderr.replace("\\u003e", ">");
        assert!(printed.contains(&again), "{stderr}");
        assert_eq!(lines(&file).len() as u64, 1 + done);
        redis.at(60).run(&slow.replace("30/m", "1000/s")).exits(0);
        assert_eq!(lines(&file).len(), 31);
        assert_eq!(
            histories(&redis, "jobs --queue mail"),
            [("put popped failed put cli".to_string(), 30)]
        );
        redis.must_be_clean();
    }
}

/// `--limit` counts from 0 again: the hint asks for the jobs that are left.
#[test]
fn an_interrupted_action_with_a_limit_goes_on_with_what_is_left() {
    let redis = failed(30);
    let (_dir, file) = report();
    let line = format!("retry --group boom --limit 20 --yes --rate 5/s --report {file} -o ndjson");
    let mut running = redis.at(50).start(&line);
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    running.signal(Signal::INT);
    let stderr = running.end().exits(130).stderr();
    let failed = || {
        let jids = redis.ok(60, "jobs --state failed -o jid");
        jids.lines().count()
    };
    let retried = 30 - failed();
    let left = 20 - retried;
    assert!((1..20).contains(&left), "{stderr}");
    let rest = line.replace("--limit 20", &format!("--limit {left}"));
    let hint = format!("ask for the {left} that are left: `qless {rest}`");
    assert!(stderr.contains(&hint), "{stderr}");
    redis.ok(60, &rest.replace("5/s", "1000/s"));
    assert_eq!(failed(), 10);
}

#[test]
fn a_second_signal_exits_immediately() {
    let redis = failed(1);
    // The server takes the listing and no more.
    let qless = through(&redis, Cut::Hold(3), 50);
    let mut running = qless.start("retry j000 --timeout 60s");
    let deadline = Instant::now() + Duration::from_secs(20);
    while redis.ok(50, "get j000 --field state") == "failed" {
        assert!(Instant::now() < deadline, "the call is not made");
    }
    let begun = Instant::now();
    // Signals that are not handled yet count as one, so the second may take several.
    while !running.has_ended() {
        running.signal(Signal::INT);
        thread::sleep(Duration::from_millis(50));
        assert!(begun.elapsed() < Duration::from_secs(20), "it goes on");
    }
    running.end().exits(130);
    redis.must_be_clean();
}

#[test]
fn workers_calls_of_many_jobs_survive_a_broken_connection() {
    for cut in (2..6).flat_map(|at| [Cut::Before(at), Cut::After(at)]) {
        let redis = waiting(3);
        redis.ok(20, "pop mail --count 3 --worker w");
        for (now, verb) in [(50, "heartbeat"), (60, "complete")] {
            let line = format!("{verb} j000 j001 j002 --worker w -o json");
            let ran = through(&redis, cut, now).run(&line);
            assert_eq!(ran.json()["done"], 3, "{verb}: {}", ran.stderr());
        }
        let complete = redis.ok(70, "jobs --state complete -o jid");
        assert_eq!(complete.lines().count(), 3);
        redis.must_be_clean();
    }
}

#[test]
fn a_recurring_job_is_paused_and_resumed_once_wherever_the_connection_breaks() {
    for cut in (2..5).flat_map(|at| [Cut::Before(at), Cut::After(at)]) {
        let redis = Redis::start();
        redis.ok(10, "recur put mail K --every 60s --offset 5s --jid r");
        let before = redis.dump();
        for (now, verb) in [(50, "pause"), (60, "resume")] {
            through(&redis, cut, now)
                .run(&format!("recur {verb} r"))
                .exits(0);
            let paused = redis.json(now, "recur get r -o json");
            assert_eq!(paused["paused_since"].is_string(), verb == "pause");
        }
        assert_eq!(redis.dump(), before);
    }
}

#[test]
fn jobs_that_vanish_during_a_bulk_action_are_counted_and_check_is_named() {
    let redis = waiting(300);
    let all = redis.ok(50, "jobs --queue mail -o jid");
    let line = "tag --queue mail --add x --yes --rate 300/s";
    let run = redis.at(50).start(line);
    let deadline = Instant::now() + Duration::from_secs(30);
    while redis.send(&["ZCARD", "ql:t:x"]) == redis::Value::Int(0) {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(5));
    }
    for jid in all.lines().rev().take(2) {
        redis.send(&["DEL", &format!("ql:j:{jid}")]);
    }
    let stderr = run.end().exits(0).stderr();
    let expected = "  2 jobs were there when this command began, and then gone: another client cancelled or \
         removed them, or they were lost; `qless check` finds what a loss left behind";
    assert!(stderr.contains(expected), "{stderr}");
    // A job that did not exist when it was named is only counted.
    let stderr = redis.at(51).run("tag nope j000 --add y").exits(0).stderr();
    assert!(!stderr.contains("qless check"), "{stderr}");
}

#[test]
fn jobs_that_another_command_cancelled_first_are_no_error() {
    let mut was_late = false;
    // One of these requests cancels the listed jobs.
    for request in 5..10 {
        let redis = Arc::new(waiting(3));
        let shared = Arc::downgrade(&redis);
        let port = proxy_then(redis.socket(), Cut::Meanwhile(request), move || {
            shared
                .upgrade()
                .unwrap()
                .ok(50, "cancel --queue mail --yes");
        });
        let ran = at_port(port).at(51).run("cancel --queue mail --yes");
        was_late |= ran.exits(0).stderr().contains("0 cancelled, 3 skipped");
        // Named jobs that do not exist are an error.
        redis.at(52).run("cancel j000 j001 --yes").exits(4);
    }
    assert!(was_late);
}
