//! Features of all bulk verbs: pace, reports, signals, and broken connections.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;

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

/// A connection to the server that breaks often, at a pinned time.
fn breaking(redis: &Redis, now: u32) -> Qless {
    let port = proxy(redis.socket(), Cut::Often(5));
    Qless::bare()
        .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
        .env("USER", "ann")
        .at(now)
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
fn each_job_is_retried_once_however_often_the_connection_breaks() {
    let redis = failed(500);
    let ran = breaking(&redis, 50).run("retry --group boom --yes -o json");
    let document = ran.json();
    assert_eq!(document["done"], 500, "{}", ran.stderr());
    assert_eq!(document["items"].as_array().unwrap().len(), 0);
    assert_eq!(
        histories(&redis, "jobs --queue mail --state waiting"),
        [("put popped failed put cli".to_string(), 500)]
    );
    redis.must_be_clean();
}

#[test]
fn each_job_is_cancelled_and_reported_however_often_the_connection_breaks() {
    let redis = waiting(500);
    let ran = breaking(&redis, 50).run("cancel --queue mail --yes -o jid");
    let printed = ran.ok();
    let mut printed: Vec<&str> = printed.lines().collect();
    printed.sort_unstable();
    let all: Vec<String> = (0..500).map(jid).collect();
    assert_eq!(printed, all);
    assert_eq!(redis.ok(60, "length mail"), "0");
    redis.must_be_clean();
}

#[test]
fn cascaded_jobs_are_reported_however_often_the_connection_breaks() {
    let redis = waiting(220);
    redis.calls((0..220).map(|at| {
        let line = format!("put me mail k{at:03} K {{}} 0 depends [\"{}\"]", jid(at));
        (20.0, words(&line))
    }));
    let ran = breaking(&redis, 50)
        .run("cancel --queue mail --state waiting --dependents cancel --yes -o jid");
    let printed = ran.ok();
    let mut printed: Vec<&str> = printed.lines().collect();
    printed.sort_unstable();
    let mut all: Vec<String> = (0..220).map(jid).collect();
    all.extend((0..220).map(|at| format!("k{at:03}")));
    assert_eq!(printed, all);
    redis.must_be_clean();
}

#[test]
fn every_verb_changes_each_job_once_however_often_the_connection_breaks() {
    for (line, all, history) in [
        (
            "timeout --queue mail --yes",
            "--queue mail",
            "put popped timed-out cli",
        ),
        (
            "priority --queue mail --to 7 --yes",
            "--queue mail",
            "put popped cli",
        ),
        (
            "tag --queue mail --add a --remove b --yes",
            "--queue mail --tag a",
            "put popped cli",
        ),
        ("track --queue mail --yes", "--queue mail", "put popped cli"),
        (
            "retry --queue mail --as-holder --yes",
            "--queue mail",
            "put popped cli",
        ),
        (
            "retry --queue mail --state running --force --yes",
            "--queue mail",
            "put popped put cli",
        ),
        (
            "move --queue mail --force --to slow --yes",
            "--queue slow",
            "put popped put cli",
        ),
    ] {
        let redis = running(250);
        let ran = breaking(&redis, 21).run(&format!("{line} -o json"));
        let document = ran.json();
        assert_eq!(document["done"], 250, "{line}: {}", ran.stderr());
        let list = format!("jobs {all}");
        assert_eq!(
            histories(&redis, &list),
            [(history.to_string(), 250)],
            "{line}"
        );
        redis.must_be_clean();
    }
}

#[test]
fn a_retry_by_the_holder_uses_one_retry_however_often_the_connection_breaks() {
    let redis = running(300);
    let jids: Vec<String> = (0..300).map(jid).collect();
    let ran = breaking(&redis, 21).input(jids.join("\n"));
    let left = ran.run("retry - --as-holder").ok();
    assert!(left.lines().all(|line| line.ends_with("\t4")), "{left}");
    assert_eq!(left.lines().count(), 300);
    let remaining = redis.ok(22, "get j007 --field remaining");
    assert_eq!(remaining, "4");
    redis.must_be_clean();
}

#[test]
fn each_put_creates_one_job_wherever_the_connection_breaks() {
    let redis = Redis::start();
    let cuts = [Cut::Before(2), Cut::After(2), Cut::Often(3)];
    for (at, cut) in cuts.into_iter().cycle().take(30).enumerate() {
        let url = format!("redis://127.0.0.1:{}", proxy(redis.socket(), cut));
        let qless = Qless::bare().env("QLESS_REDIS_URL", url).at(50);
        let put = qless.run(&format!("put mail K --jid {} -o json", jid(at)));
        let put = put.json();
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
    let url = format!("redis://127.0.0.1:{port}");
    let qless = Qless::bare().env("QLESS_REDIS_URL", url).at(50);
    let error = qless.run("api priority j000 7 -o json").exits(6).error();
    assert_eq!(error["code"], "unknown");
    assert_eq!(redis.ok(50, "get j000 --field priority"), "7");
}

#[test]
fn a_job_put_by_another_client_is_not_taken_for_the_lost_put() {
    let redis = Redis::start();
    redis.ok(40, "put mail K --jid j");
    for at in 1..8 {
        let port = proxy(redis.socket(), Cut::After(2));
        let qless = Qless::bare().env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
        qless.at(50 + at).run("put mail K --jid j").exits(5);
    }
    redis.must_be_clean();
}

#[test]
fn a_recurring_job_is_put_once_wherever_the_connection_breaks() {
    for cut in [Cut::Before(2), Cut::After(2)] {
        let redis = Redis::start();
        let url = format!("redis://127.0.0.1:{}", proxy(redis.socket(), cut));
        let qless = Qless::bare().env("QLESS_REDIS_URL", url).at(50);
        let line = "recur put mail K --jid r --every 90s --tag a --priority 3";
        qless.run(line).exits(0);
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
        let url = format!("redis://127.0.0.1:{}", proxy(redis.socket(), cut));
        let qless = Qless::bare().env("QLESS_REDIS_URL", url).at(50);
        let ran = qless.run("-v track --remove j000 -o json");
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
    let calls = |qless: &Qless| {
        let ran = qless.run("-v retry --group boom --dry-run -o jid");
        ran.stderr()
            .lines()
            .filter(|line| line.contains(" ms "))
            .count()
    };
    let before = calls(&redis.at(50));
    let port = proxy(redis.socket(), Cut::Hold(before + 3));
    let url = format!("redis://127.0.0.1:{port}");
    let qless = Qless::bare().env("QLESS_REDIS_URL", url).at(50);
    let ran = qless
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
    let rest = redis.json(60, "retry --group boom --yes -o json");
    assert_eq!(
        (&rest["matched"], &rest["done"]),
        (&100.into(), &100.into())
    );
    assert_eq!(
        histories(&redis, "jobs --queue mail"),
        [("put popped failed put cli".to_string(), 500)]
    );
}

/// The list is that of the jobs that were read before.
#[test]
fn jobs_that_the_server_loses_while_they_are_listed_are_not_changed() {
    let restart = |redis: &mut Redis| {
        redis.kill();
        redis.restart();
    };
    let flush = |redis: &mut Redis| _ = redis.send(&["FLUSHALL"]);
    for (fault, cause) in [
        (
            restart as fn(&mut Redis),
            "restarted, or another one took its place",
        ),
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
        let ran = Qless::bare()
            .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
            .hide(&port.to_string(), "PORT")
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

/// The flush of another database concerns no job.
#[test]
fn jobs_are_changed_although_another_database_was_flushed_while_they_were_listed() {
    let redis = Arc::new(failed(900));
    // The threads of a proxy do not end: they do not keep the server.
    let shared = Arc::downgrade(&redis);
    let port = proxy_then(redis.socket(), Cut::Meanwhile(6), move || {
        let flush = "redis.call('select', 1) redis.call('flushdb')";
        _ = shared.upgrade().unwrap().send(&["EVAL", flush, "0"]);
    });
    let qless = Qless::bare().env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
    let ran = qless.at(50).run("retry --group boom --yes").exits(0);
    assert!(ran.stderr().starts_with("900 retried"), "{}", ran.stderr());
}

#[test]
fn one_job_with_an_unknown_outcome_is_an_error() {
    let redis = failed(1);
    let port = proxy(redis.socket(), Cut::Hold(3));
    let url = format!("redis://127.0.0.1:{port}");
    let qless = Qless::bare().env("QLESS_REDIS_URL", url).at(50);
    qless
        .hide(&port.to_string(), "PORT")
        .run("--timeout 1s retry j000")
        .shows(expect![[r#"
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
    redis
        .at(50)
        .run("retry --group boom --yes --rate 20/s -o jid")
        .exits(0);
    // Fifteen pairs, a tenth of a second between them.
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(1400), "{took:?}");
    assert_eq!(redis.ok(51, "length mail"), "30");
}

#[test]
fn progress_is_shown_on_a_terminal_after_half_a_second() {
    let redis = failed(60);
    let mut command = redis.at(50).command();
    command.env("TERM", "xterm");
    command.args(["retry", "--group", "boom", "--yes", "--rate", "50/s"]);
    let ran = terminal::run(command, 80);
    let shown = ran.stdout();
    assert_eq!(ran.code(), 0, "{shown}");
    let bars: Vec<&str> = shown
        .split('\r')
        .filter(|line| line.contains("eta"))
        .collect();
    assert!(!bars.is_empty(), "{shown}");
    let first = bars[0].split("/60").next().unwrap();
    let done: u64 = first.rsplit(' ').next().unwrap().parse().unwrap();
    // Ten in a fifth of a second.
    assert!((20..60).contains(&done), "{first}");
    assert!(shown.contains("60 retried"), "{shown}");
    // A short run shows no progress bar.
    let redis = failed(3);
    let mut command = redis.at(50).command();
    command.env("TERM", "xterm");
    command.args(["retry", "--group", "boom", "--yes"]);
    let shown = terminal::run(command, 80).stdout();
    assert!(!shown.contains("eta"), "{shown}");
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
fn jobs_are_spread_evenly_over_a_time() {
    let redis = failed(4);
    redis.session(expect![[r#"
        50 $ qless retry --group boom --yes --spread 40m
        --- stderr
        4 retried
    "#]]);
    let due = |jid| redis.json(50, &format!("get {jid} -o json"));
    assert_eq!(due("j000")["state"], "waiting");
    for (jid, at) in [
        ("j001", "00:10:50"),
        ("j002", "00:20:50"),
        ("j003", "00:30:50"),
    ] {
        assert_eq!(due(jid)["state"], "scheduled");
        let moment = format!("1970-01-01T{at}.000Z");
        assert_eq!(due(jid)["scheduled_for"], moment);
    }
}

#[test]
fn a_dry_run_shows_the_plan_with_its_pace() {
    let redis = failed(3);
    redis.session(expect![[r#"
        50 $ qless retry --group boom --dry-run --rate 90/m --spread 15m
        --- stderr
        Retry 3 failed jobs on unix://DIR/s

          mail	failed	3	1970-01-01T00:00:30.000Z	1970-01-01T00:00:30.000Z

          each goes back to its own queue with 5 fresh retries
          they run one after the other, over 15m
          at most 1.5 jobs a second
        would retry 3
    "#]]);
    assert_eq!(redis.ok(50, "jobs --group boom -o jid").lines().count(), 3);
}

// --fail-fast, --require-match, --reason

#[test]
fn fail_fast_stops_at_the_first_failure() {
    let redis = waiting(3);
    redis.calls([
        (20.0, words("pop mail w1 1")),
        (21.0, words("pop mail w2 1")),
        (22.0, words("pop mail w1 1")),
    ]);
    redis.session(expect![[r#"
        25 $ qless fail j000 j001 j002 --worker w1 --group g --message m --fail-fast -o ndjson
        {"jid":"j001","result":"failed","code":"not_holder","detail":"it is held by `w2`","queue":"mail","state_before":"running","state_after":null}
        {"jid":"j000","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"running","state_after":"failed"}
        {"summary":{"action":"fail","dry_run":false,"context":null,"matched":3,"done":1,"skipped":0,"failed":1,"remaining":1,"elapsed_s":0}}
        --- stderr
        1 marked failed, 1 failed, 1 not tried
          failed   1  held by `w2`: j001
        --- exit 3
    "#]]);
    let state = |jid| redis.ok(25, &format!("get {jid} --field state"));
    assert_eq!(
        (state("j000"), state("j002")),
        ("failed".into(), "running".into())
    );
    redis.session(expect![[r#"
        25 $ qless fail j002 j001 --worker w1 --group g --message m
        --- stderr
        1 marked failed, 1 failed
          failed   1  held by `w2`: j001
        --- exit 3
    "#]]);
}

#[test]
fn fail_fast_stops_at_a_later_failure() {
    let redis = waiting(2);
    redis.session(expect![[r#"
        20 $ qless put mail K --jid child --depends j000 &>/dev/null
        21 $ qless cancel j000 j001 --yes --fail-fast
        --- stderr
        0 cancelled, 1 failed, 1 not tried
          failed   1  `child` waits for it: j000
        --- exit 3
        21 $ qless cancel j000 j001 --yes
        j001
        --- stderr
        1 cancelled, 1 failed
          failed   1  `child` waits for it: j000
        --- exit 3
    "#]]);
}

#[test]
fn no_match_is_an_error_only_if_requested() {
    let redis = waiting(1);
    redis.session(expect![[r#"
        20 $ qless retry --queue mail --state failed --yes
        --- stderr
        no jobs to retry
        20 $ qless retry --queue mail --state failed --yes --require-match
        --- stderr
        error: there are no jobs to retry
        --- exit 4
    "#]]);
    redis.at(20).run("retry - --require-match").exits(4);
    redis.at(20).run("retry -").exits(0);
}

#[test]
fn several_jobs_of_which_none_can_be_changed_end_as_one_does() {
    let redis = running(2);
    redis.calls([(30.0, words("put me mail w K {} 0"))]);
    redis.calls([(30.0, words("fail j001 w1 boom one"))]);
    let qless = redis.at(100);
    for (verb, refused) in [
        ("heartbeat --as-holder", "w"),
        ("complete --as-holder", "w"),
        ("timeout", "w"),
        ("fail --group g --message m", "w"),
        ("retry", "w"),
        ("promote", "w"),
        ("bury --group g --message m", "j000"),
        ("bury --group g --message m", "j001"),
        ("move --to mail", "w"),
        // Another worker holds it.
        ("heartbeat --worker w2", "j000"),
    ] {
        let run = |jids: &str| qless.run(&format!("{verb} {jids}")).code();
        let one = run(refused);
        assert_eq!(one, 5, "{verb} {refused}");
        let several = [
            run(&format!("{refused} {refused}")),
            run(&format!("{refused} gone")),
            run(&format!("-n {refused} gone")),
        ];
        assert_eq!(several, [5, 5, 5], "{verb}");
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
        let job = redis.json(20, &format!("get {jid} --history -o json"));
        let note = &job["history"][1];
        assert_eq!(note["what"], "cli");
        assert_eq!(note["verb"], "priority");
        assert_eq!(note["reason"], reason);
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

/// The first line of a report, and the outcomes.
fn lines(file: &Path) -> Vec<serde_json::Value> {
    let lines = all_lines(file).into_iter();
    lines.filter(|line| line["result"] != "planned").collect()
}

/// The lines of a report, including the lines from before each change.
fn all_lines(file: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_report_lists_every_job_and_the_command_it_belongs_to() {
    let redis = failed(2);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.ndjson");
    let shown = file.to_str().unwrap();
    let line = format!("retry j000 j001 j000 gone --report {shown}");
    redis.at(50).run(&line).exits(0);
    let report = lines(&file);
    assert_eq!(report.len(), 4);
    let head = &report[0];
    assert_eq!(head["kind"], "report");
    assert_eq!(head["v"], 1);
    assert_eq!(head["prefix"], "ql:");
    assert_eq!(head["address"], redis.url());
    assert_eq!(head["command"], "retry j000 j001 j000 gone");
    assert_eq!(head["run_id"].as_str().unwrap().len(), 40);
    let items: Vec<String> = report[1..]
        .iter()
        .map(|item| format!("{} {} {}", item["jid"], item["result"], item["code"]))
        .collect();
    expect![[r#"
        "gone" "skipped" "gone"
        "j000" "done" "ok"
        "j001" "done" "ok""#]]
    .assert_eq(&items.join("\n"));
    // Each job was named before it was changed.
    let results: Vec<_> = all_lines(&file)
        .iter()
        .map(|line| line["result"].clone())
        .collect();
    let head = serde_json::Value::Null;
    assert_eq!(
        results,
        [
            &head,
            &"skipped".into(),
            &"planned".into(),
            &"planned".into(),
            &"done".into(),
            &"done".into()
        ]
        .map(Clone::clone)
    );
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn repeating_a_command_with_its_report_skips_finished_jobs() {
    let redis = waiting(3);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.ndjson");
    let tag = |jids: &str, more: &str| {
        let line = format!("tag - --add x --report {} {more}", file.display());
        let hide = file.to_str().unwrap();
        redis.at(20).input(jids).hide(hide, "FILE").run(&line)
    };
    tag("j000\nj001", "-q").exits(0);
    redis.at(20).run("tag j000 --remove x -q").exits(0);
    // Flags about the pace may differ.
    tag("j000\nj001\nj002", "--rate 100/s --reason again").shows(expect![[r#"
        j002	x
        --- stderr
        1 tagged, 2 skipped
          skipped  2  done already, as `FILE` tells: j000, j001
    "#]]);
    assert_eq!(lines(&file).len(), 4);
    assert_eq!(redis.ok(20, "get j000 --field tags"), "[]");
    tag("j000\nj001\nj002", "--dry-run").shows(expect![[r#"
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
    let dir = tempfile::tempdir().unwrap();
    let line = format!("timeout j000 --report {}/r", dir.path().display());
    redis.ok(20, "pop mail --worker w");
    redis.at(21).run(&line).exits(0);
    redis.at(22).run(&line).exits(0);
    redis.at(22).run("timeout j000").exits(5);
}

#[test]
fn a_report_is_continued_only_by_the_same_command() {
    let redis = failed(1);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.ndjson");
    let shown = file.to_str().unwrap();
    let line = format!("retry --group boom --to elsewhere --yes --report {shown}");
    redis.at(50).run(&line).exits(0);
    let before = fs::read(&file).unwrap();
    // There is no server: no call is made.
    let here = Qless::bare().hide(shown, "FILE");
    here.run(&format!("cancel --group boom --yes --report {shown}"))
        .shows(expect![[r#"
            --- stderr
            error: `FILE` was begun by `qless retry --to=elsewhere --group=boom`, this is `qless cancel --group=boom`; nothing was changed
            hint: name another file
            --- exit 2
        "#]]);
    here.run(&format!("retry --group boom --yes --report {shown}"))
        .exits(2);
    here.run(&format!("--prefix x: {line}")).shows(expect![[r#"
        --- stderr
        error: `FILE` was begun with prefix `ql:`, this is `x:`; nothing was changed
        hint: name another file
        --- exit 2
    "#]]);
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_report_from_before_a_server_restart_is_noted() {
    let dir = tempfile::tempdir().unwrap();
    let line = format!("tag j000 --add x --report {}/r", dir.path().display());
    waiting(1).at(20).run(&line).exits(0);
    let ran = waiting(1).at(20).run(&line).exits(0);
    assert!(
        ran.stderr().starts_with("note: this is not the server"),
        "{}",
        ran.stderr()
    );
}

#[test]
fn an_incomplete_report_line_counts_as_not_written() {
    let redis = waiting(2);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.ndjson");
    let line = format!("tag - --add x --report {}", file.display());
    let tag = || redis.at(20).input("j000\nj001").run(&line).exits(0);
    tag();
    let whole = fs::read(&file).unwrap();
    // Wherever it is cut: in the header, in a line, before the newline.
    for left in [1, 20, whole.len() - 1, whole.len() - 30, whole.len() - 150] {
        fs::write(&file, &whole[..left]).unwrap();
        tag();
        assert_eq!(lines(&file).len(), 3, "{left}");
    }
    fs::write(&file, "").unwrap();
    tag();
    assert_eq!(lines(&file).len(), 3);
}

#[test]
fn a_file_that_is_not_a_report_is_neither_read_nor_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("precious");
    let shown = file.to_str().unwrap();
    let line = format!("tag j --add x --report {shown}");
    for content in ["precious", "precious\n", "{}\n", "[1]\n", "\n", "\u{0}\n"] {
        write_private(&file, content);
        let ran = Qless::bare().hide(shown, "FILE").run(&line);
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
    let line = format!("tag j000 --add x --report {shown}");
    redis.at(20).run(&line).exits(0);
    let mut content = fs::read_to_string(&file).unwrap();
    content.push_str("nonsense\n");
    fs::write(&file, content).unwrap();
    redis
        .at(20)
        .hide(shown, "FILE")
        .run(&line)
        .shows(expect![[r#"
            --- stderr
            error: `FILE`, line 4: this is not the outcome of a job
            hint: repair the line, or name another file
            --- exit 2
        "#]]);
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_before_any_change() {
    let redis = failed(1);
    let dir = tempfile::tempdir().unwrap();
    let shown = dir.path().to_str().unwrap();
    let retry = |file: &str| {
        let line = format!("retry --group boom --yes --report {file}");
        redis.at(50).hide(shown, "DIR").run(&line)
    };
    retry(shown).shows(expect![[r#"
        --- stderr
        error: cannot write `DIR`: is a directory
        hint: nothing was changed; name a file that can be written
        --- exit 1
    "#]]);
    retry(&format!("{shown}/nowhere/r")).shows(expect![[r#"
        --- stderr
        error: cannot write `DIR/nowhere/r`: no such file or directory
        hint: nothing was changed; name a file that can be written
        --- exit 1
    "#]]);
    retry("/dev/full").shows(expect![[r#"
        --- stderr
        error: cannot write `/dev/full`: no space left on device
        hint: make room on the disk, then run again with the same file
        --- exit 1
    "#]]);
    for device in ["/dev/null", "/dev/zero"] {
        let error = format!("error: cannot write `{device}`: it is a device\nhint: name a file\n");
        assert_eq!(retry(device).exits(2).stderr(), error);
    }
    retry("''").exits(2);
    retry("-").shows(expect![[r#"
        --- stderr
        error: `--report` expects the name of a file, `./-` for one of that name, not `-`
        --- exit 2
    "#]]);
    // A report created without need does not remain.
    let file = format!("{shown}/r");
    let line = format!("retry --group nope --yes --report {file}");
    redis.at(50).run(&line).exits(4);
    assert!(!Path::new(&file).exists());
    assert_eq!(redis.ok(50, "jobs --group boom -o jid"), "j000");
}

#[test]
fn a_run_whose_report_hit_the_size_limit_is_finished_by_the_same_command() {
    let redis = failed(600);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.ndjson");
    let line = format!("retry --group boom --yes --report {}", file.display());
    // No file may be longer than 40 KB; 200 lines are shorter, 400 are longer.
    let limit = r#"trap '' XFSZ; ulimit -f 80; exec "$0" "$@""#;
    let qless = redis.at(50).command();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", limit])
        .arg(qless.get_program())
        .args(line.split(' '))
        .args(["-o", "json"])
        .env_clear()
        .envs(
            qless
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    let ran = RunOutput::of(&mut shell).exits(1);
    let stderr = ran.stderr();
    assert!(stderr.contains("cannot write"), "{stderr}");
    assert!(stderr.contains("run again with the same file"), "{stderr}");
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
    let done = lines(&file)
        .iter()
        .filter(|line| line["result"] == "done")
        .count();
    // Some lines of the last slice did not fit.
    assert!((400..600).contains(&done), "{done}");
}

#[test]
fn finished_jobs_are_in_the_report_after_stdout_is_closed() {
    let redis = failed(600);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.ndjson");
    let line = format!(
        "retry --group boom --yes -o ndjson --report {}",
        file.display()
    );
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
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.ndjson");
    write_private(&file, "");
    let held = fs::File::open(&file).unwrap();
    held.lock().unwrap();
    let line = format!("retry --group boom --yes --report {}", file.display());
    let hide = file.to_str().unwrap();
    redis
        .at(50)
        .hide(hide, "FILE")
        .run(&line)
        .shows(expect![[r#"
            --- stderr
            error: cannot write `FILE`: another run is using it
            hint: run again when it has ended
            --- exit 1
        "#]]);
    drop(held);
    redis.at(50).run(&line).exits(0);
}

#[test]
fn a_dry_run_writes_no_report() {
    let redis = failed(1);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r");
    let line = format!("retry --group boom -n --report {}", file.display());
    redis.at(50).run(&line).exits(0);
    assert!(!file.exists());
}

// signals

#[test]
fn a_second_signal_ends_an_action_immediately() {
    let redis = failed(30);
    let line = "retry --group boom --yes --rate 2/s -o ndjson";
    let mut running = redis.at(50).start(line);
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    redis.freeze();
    // The next call of `--rate` is under way then.
    thread::sleep(Duration::from_millis(700));
    let begun = Instant::now();
    running.signal(Signal::INT);
    thread::sleep(Duration::from_millis(1050));
    running.signal(Signal::TERM);
    assert_eq!(running.end().exits(130).stderr(), "");
    assert!(begun.elapsed() < Duration::from_secs(3));
    redis.thaw();
}

#[test]
fn an_interrupted_action_is_finished_by_the_same_command() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 143)] {
        let redis = failed(30);
        let dir = tempfile::tempdir().unwrap();
        let report = dir.path().join("r.ndjson");
        let shown = report.to_str().unwrap();
        let slow = format!("retry --group boom --yes --rate 2/s --report {shown}");
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
        assert!(begun.elapsed() < Duration::from_secs(8), "the wait goes on");
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
        assert_eq!(lines(&report).len() as u64, 1 + done);
        redis.at(60).run(&slow.replace("2/s", "1000/s")).exits(0);
        assert_eq!(lines(&report).len(), 31);
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
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("r.ndjson");
    let shown = report.to_str().unwrap();
    let line = format!("retry --group boom --limit 20 --yes --rate 5/s --report {shown} -o ndjson");
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
    let port = proxy(redis.socket(), Cut::Hold(3));
    let url = format!("redis://127.0.0.1:{port}");
    let qless = redis.at(50).env("QLESS_REDIS_URL", url);
    let mut running = qless.start("retry j000 --timeout 60s");
    let deadline = Instant::now() + Duration::from_secs(20);
    while redis.ok(50, "get j000 --field state") == "failed" {
        assert!(Instant::now() < deadline, "the call is not made");
    }
    let begun = Instant::now();
    // Signals that are not handled yet count as one, so the second may take several.
    while !running.has_ended() {
        running.signal(Signal::INT);
        std::thread::sleep(Duration::from_millis(50));
        assert!(begun.elapsed() < Duration::from_secs(20), "it goes on");
    }
    running.end().exits(130);
    redis.must_be_clean();
}

#[test]
fn closed_stdin_declines_the_prompt() {
    let redis = failed(2);
    redis.session(expect![[r#"
        50 $ qless retry --group boom
        --- stderr
        error: cannot ask whether to retry 2 failed jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        50 $ qless retry --group boom --yes --no-input &>/dev/null
    "#]]);
}

#[test]
fn workers_calls_of_many_jobs_survive_a_broken_connection() {
    for cut in (2..6).flat_map(|at| [Cut::Before(at), Cut::After(at)]) {
        let redis = waiting(3);
        redis.ok(20, "pop mail --count 3 --worker w");
        let url = format!("redis://127.0.0.1:{}", proxy(redis.socket(), cut));
        let qless = Qless::bare().env("QLESS_REDIS_URL", url).at(50);
        let ran = qless.run("heartbeat j000 j001 j002 --worker w -o json");
        assert_eq!(ran.json()["done"], 3);
        let url = format!("redis://127.0.0.1:{}", proxy(redis.socket(), cut));
        let qless = Qless::bare().env("QLESS_REDIS_URL", url).at(60);
        let ran = qless.run("complete j000 j001 j002 --worker w -o json");
        assert_eq!(ran.json()["done"], 3, "{}", ran.stderr());
        assert_eq!(
            redis.json(70, "jobs --state complete --count -o json")["complete"],
            3
        );
        redis.must_be_clean();
    }
}

#[test]
fn a_recurring_job_is_paused_and_resumed_once_wherever_the_connection_breaks() {
    for cut in (2..5).flat_map(|at| [Cut::Before(at), Cut::After(at)]) {
        let redis = Redis::start();
        redis.ok(10, "recur put mail K --every 60s --offset 5s --jid r");
        let before = redis.dump();
        for (at, verb) in [(50, "pause"), (60, "resume")] {
            let url = format!("redis://127.0.0.1:{}", proxy(redis.socket(), cut));
            let qless = Qless::bare().env("QLESS_REDIS_URL", url).at(at);
            qless.run(&format!("recur {verb} r")).exits(0);
            let paused = redis.json(at, "recur get r -o json");
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
    let deadline = Instant::now() + Duration::from_secs(10);
    while redis.send(&["ZCARD", "ql:t:x"]) == redis::Value::Int(0) {
        assert!(Instant::now() < deadline);
    }
    for jid in all.lines().rev().take(2) {
        redis.send(&["DEL", &format!("ql:j:{jid}")]);
    }
    let stderr = run.end().exits(0).stderr();
    let expected =
        "  2 jobs were there when this command began, and then gone: `qless check` finds";
    assert!(stderr.contains(expected), "{stderr}");
    // A job that did not exist when it was named is only counted.
    let stderr = redis.at(51).run("tag nope j000 --add y").exits(0).stderr();
    assert!(!stderr.contains("qless check"), "{stderr}");
}
