//! `qless wait`, and `put --wait`.

use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;

use crate::support::qless::{Qless, Running};
use crate::support::redis::Redis;
use crate::support::terminal::Terminal;
use crate::support::text::words;

#[track_caller]
fn until(what: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !what() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Starts a command that waits, and returns when it has subscribed.
fn waiting(redis: &Redis, line: &str) -> Running {
    let running = redis.qless().start(line);
    until(|| redis.subscribers() == 1);
    running
}

/// Starts a command that waits, and returns when it has read the jobs.
fn reading(redis: &Redis, line: &str) -> Running {
    let before = redis.scripts_run();
    let running = waiting(redis, line);
    until(|| redis.scripts_run() > before);
    running
}

/// Pops the next job of queue `q`.
fn pop(redis: &Redis) {
    until(|| redis.qless().run("pop q").code() == 0);
}

/// Replaces the durations at the end of lines.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once('\t') {
        Some((start, _)) => format!("{start}\tTIME\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn put_waits_for_its_job() {
    let redis = Redis::start();
    let put = waiting(&redis, "put q K --jid j --wait=30s");
    pop(&redis);
    redis.qless().run("complete j").ok();
    put.end().shows(expect![[r#"
        j
    "#]]);
    let put = waiting(&redis, "put q K --jid k --wait --deadline 30s");
    pop(&redis);
    redis
        .qless()
        .run("fail k --group oops --message 'it broke'")
        .ok();
    put.end().shows(expect![[r#"
        k
        --- stderr
        error: `k` failed: oops: it broke
        hint: `qless get k` shows the failure
        --- exit 8
    "#]]);
    let at_once = redis.qless().run("put q K --jid l --wait=0.01s");
    at_once.shows(expect![[r#"
        l
        --- stderr
        error: the deadline passed: `l` is not complete
        hint: `qless explain l` shows why
        --- exit 124
    "#]]);
    for both in ["--wait=30s --deadline 0.01s", "--wait=0.01s --deadline 30s"] {
        let earlier = redis.qless().run(&format!("put q K {both}")).exits(124);
        earlier.says("the deadline passed");
    }
}

#[test]
fn put_from_waits_for_all_lines() {
    let redis = Redis::start();
    let line = |jid: &str| format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"{jid}\"}}\n");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), line("a") + &line("b")).unwrap();
    let path = file.path().to_str().unwrap();
    let put = waiting(&redis, &format!("put --from {path} --if-absent --wait=30s"));
    redis.qless().run("pop q --count 2").ok();
    redis.qless().run("complete a").ok();
    redis.qless().run("complete b").ok();
    assert_eq!(put.end().code(), 0);
    redis.qless().run("cancel a b --yes").exits(5);
    redis.qless().run("put q K --jid c").ok();
    std::fs::write(file.path(), line("b") + &line("c")).unwrap();
    let put = waiting(&redis, &format!("put --from {path} --if-absent --wait=30s"));
    pop(&redis);
    redis.qless().run("fail c --group g --message m").ok();
    put.end().exits(8);
}

#[test]
fn jobs_that_have_ended_already_count_immediately() {
    let redis = Redis::start();
    for jid in ["a", "b", "c"] {
        redis
            .qless()
            .run(&format!("put q K --jid {jid} --tag t"))
            .ok();
    }
    redis.qless().run("pop q --count 2").ok();
    redis.qless().run("complete a").ok();
    redis.qless().run("fail b --group g --message m").ok();
    let run = |line: &str| redis.qless().run(line);
    run("wait a").exits(0);
    run("wait a b c --any").exits(0);
    run("wait b c --any --deadline 0.05s").exits(124);
    redis.qless().session(expect![[r#"
        $ qless wait b --any
        b	failed	0s
        --- stderr
        error: none of 1 job can reach state `complete`
        --- exit 8
        $ qless wait b --for failed &>/dev/null
        $ qless wait a --for failed
        a	complete	0s
        --- stderr
        error: `a` is complete, so it will not be failed
        --- exit 8
        $ qless wait c --for waiting &>/dev/null
        $ qless wait --tag t &>/dev/null
        --- exit 8
        $ qless wait --tag t --state complete,waiting --for complete --any &>/dev/null
        $ qless wait nope
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        $ qless wait a nope nada
        a	complete	0s
        --- stderr
        error: 2 jobs do not exist: `nope`, `nada`
        --- exit 4
        $ qless wait nope --allow-gone &>/dev/null
        $ qless wait --tag none
        --- stderr
        no job matches: nothing to wait for
    "#]]);
    // A wrong tag in a script must not mean that all is done.
    run("wait --tag none --require-match").shows(expect![[r#"
        --- stderr
        error: no job matches: nothing to wait for
        --- exit 4
    "#]]);
    redis.qless().input("a\n").run("wait -").exits(0);
    run("--read-only wait a").exits(0);
    run("wait a -o raw").exits(2);
    run("wait").exits(2);
}

/// However short the deadline: the jobs are read once.
#[test]
fn a_deadline_that_is_over_does_not_hide_what_has_happened() {
    let redis = Redis::start();
    let run = |line: &str| redis.qless().run(line);
    run("put q K --jid a").ok();
    run("put q K --jid b").ok();
    pop(&redis);
    run("complete a").ok();
    for deadline in ["0", "1ms"] {
        run(&format!("wait a --deadline {deadline}")).ok();
        run(&format!("wait nope --deadline {deadline}")).exits(4);
        run(&format!("wait --queue nope --deadline {deadline}")).exits(4);
        run(&format!("wait b --deadline {deadline}")).shows(expect![[r#"
            --- stderr
            error: the deadline passed: `b` is not complete
            hint: `qless explain b` shows why
            --- exit 124
        "#]]);
    }
}

#[test]
fn each_format_has_each_job() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    redis.qless().run("put q K --jid b").ok();
    pop(&redis);
    redis.qless().run("complete a").ok();
    let run = |line: &str| redis.qless().run(line).exits(124);
    expect![[r#"
        a	complete	TIME
    "#]]
    .assert_eq(&without_times(&run("wait a b --deadline 0.1s").stdout()));
    assert_eq!(run("wait a b --deadline 0.1s -o jid").stdout(), "a\n");
    let ran = run("wait a b --deadline 0.1s -o json");
    assert_eq!(ran.stderr(), "");
    let mut doc: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    doc["elapsed_s"] = 0.into();
    doc["items"][0]["elapsed_s"] = 0.into();
    expect![[r#"
        {"kind":"wait","v":1,"outcome":"deadline","for":"complete","jobs":2,"reached":1,"pending":1,"elapsed_s":0,"items":[{"jid":"a","state":"complete","result":"complete","elapsed_s":0},{"jid":"b","state":"waiting","result":"pending","elapsed_s":null}]}
    "#]].assert_eq(&format!("{doc}\n"));
    let lines = run("wait a b --deadline 0.1s -o ndjson").stdout();
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["result"], "complete");
    assert_eq!(lines[1]["result"], "pending");
    assert_eq!(lines[2]["summary"]["outcome"], "deadline");
}

#[test]
fn a_cancelled_job_ends_the_wait() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    redis.qless().run("put q K --jid b").ok();
    let wait = waiting(&redis, "wait a b");
    redis.qless().run("cancel b").ok();
    let ran = wait.end();
    let hint = "hint: `--allow-gone` accepts that\n";
    assert_eq!(ran.stderr(), format!("error: `b` was cancelled\n{hint}"));
    assert_eq!(without_times(&ran.stdout()), "b\tcancelled\tTIME\n");
    ran.exits(8);
    // Before the wait and during it, the answer is the same.
    let lenient = waiting(&redis, "wait a b --allow-gone");
    let one = waiting(&redis, "wait a --any --allow-gone");
    redis.qless().run("cancel a").ok();
    lenient.end().exits(0);
    one.end().exits(0);
}

/// The event tells what the absence of the job does not.
#[test]
fn a_job_that_expires_as_soon_as_it_is_complete_counts() {
    let redis = Redis::start();
    redis.calls([(1.0, vec!["config.set", "jobs-history", "-1"])]);
    redis.qless().run("put q K --jid a").ok();
    pop(&redis);
    let wait = waiting(&redis, "wait a");
    redis.qless().run("complete a").ok();
    assert!(redis.qless().run("get a").code() == 4);
    wait.end().exits(0);
}

#[test]
fn a_job_that_vanishes_without_an_event_is_gone() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    let before = redis.scripts_run();
    let both = ["wait a", "wait a --allow-gone"].map(|line| redis.qless().start(line));
    // Both have read the job.
    until(|| redis.subscribers() == 2 && redis.scripts_run() >= before + 2);
    redis.send(&["DEL", "ql:j:a"]);
    let [strict, lenient] = both;
    strict
        .end()
        .shows(expect![[r#"
        a	gone	2s
        --- stderr
        error: `a` does not exist any more: cancelled, or complete and expired
        hint: `--allow-gone` accepts that
        --- exit 8
    "#]])
        .exits(8);
    lenient.end().exits(0);
}

/// The server says nothing about the jobs that it lost, but it says that it is another one.
#[test]
fn a_job_that_the_server_lost_is_not_called_cancelled() {
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
        for line in ["wait a --deadline 30s", "put q K --jid b --wait=30s"] {
            let mut redis = Redis::start();
            redis.qless().run("put q K --jid a").ok();
            let jid = if line.starts_with("put") { "b" } else { "a" };
            let wait = waiting(&redis, line);
            until(|| redis.send(&["EXISTS", &format!("ql:j:{jid}")]) == redis::Value::Int(1));
            // The next script is a read of the wait: the put has its reply.
            let before = redis.scripts_run();
            until(|| redis.scripts_run() > before);
            fault(&mut redis);
            let printed = format!(
                "error: `{jid}` does not exist any more, and is probably lost: `unix://DIR/s` {cause}\n\
                 hint: put it again if it is still needed\n"
            );
            assert_eq!(wait.end().exits(8).stderr(), printed);
        }
    }
}

#[test]
fn the_hint_of_put_names_a_command_that_accepts_a_cancelled_job() {
    let redis = Redis::start();
    let put = waiting(&redis, "put q K --jid a --wait=30s");
    until(|| redis.qless().run("cancel a").code() == 0);
    put.end().shows(expect![[r#"
        a
        --- stderr
        error: `a` was cancelled
        hint: `qless wait --allow-gone a` accepts that
        --- exit 8
    "#]]);
    redis.qless().run("wait a --allow-gone").exits(0);
}

/// A job may run and end between two reads.
#[test]
fn a_state_that_was_passed_through_counts() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    let wait = reading(&redis, "wait a --for running --deadline 30s");
    redis.calls([
        (5.0, vec!["pop", "q", "w", "1"]),
        (6.0, vec!["complete", "a", "w", "q", "{}"]),
    ]);
    wait.end().exits(0);
    redis.qless().run("put q K --jid b").ok();
    let wait = reading(&redis, "wait b --for failed --deadline 30s");
    redis.calls([
        (5.0, vec!["pop", "q", "w", "1"]),
        (6.0, vec!["fail", "b", "w", "g", "m", "{}"]),
        (7.0, vec!["unfail", "q", "g", "10"]),
    ]);
    wait.end().exits(0);
}

/// `complete` with a next queue is no end.
#[test]
fn a_job_that_advances_is_waited_for() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    let mut wait = waiting(&redis, "wait a --deadline 30s");
    pop(&redis);
    redis.qless().run("complete a --next q").ok();
    pop(&redis);
    assert!(!wait.has_ended());
    redis.qless().run("complete a").ok();
    wait.end().exits(0);
}

#[test]
fn a_lost_connection_is_opened_again() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    pop(&redis);
    let wait = waiting(&redis, "wait a --deadline 30s");
    for kind in ["pubsub", "normal"] {
        redis.send(&["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"]);
    }
    redis.qless().run("complete a").ok();
    wait.end().exits(0);
}

#[test]
fn a_server_that_does_not_come_back_ends_the_wait() {
    let mut redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    let wait = waiting(&redis, "wait a --timeout 1s");
    redis.kill();
    wait.end().exits(6);
}

#[test]
fn a_server_that_is_gone_at_the_deadline_is_named() {
    // The connection makes one call, and the put another; it is answered when the third call runs, which reads the job.
    for (line, calls) in [
        ("wait a --deadline 5s", 1),
        ("put q K --jid b --wait=5s", 3),
    ] {
        let mut redis = Redis::start();
        redis.qless().run("put q K --jid a").ok();
        let before = redis.scripts_run();
        let wait = waiting(&redis, line);
        until(|| redis.scripts_run() >= before + calls);
        redis.kill();
        let error = wait.end().exits(124).stderr();
        let silence = "is not complete; the server has not replied for ";
        assert!(error.contains(silence), "{error}");
    }
}

#[test]
fn a_server_that_is_frozen_at_the_deadline_is_named() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    let wait = reading(&redis, "wait a --deadline 4s -o json");
    redis.freeze();
    let ran = wait.end().exits(124);
    redis.thaw();
    let doc: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert!(doc["silent_s"].as_f64() >= Some(1.0), "{doc}");
}

#[test]
fn a_deadline_says_nothing_about_a_server_that_replies() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    let user = |rules: &str| {
        let line = words(&format!("ACL SETUSER poor {rules}"));
        redis.send(&line.iter().map(String::as_str).collect::<Vec<_>>());
    };
    user("on >p ~ql:* &* +@all");
    let url = redis.url() + "?user=poor";
    let poor = Qless::bare()
        .env("QLESS_REDIS_URL", url)
        .env("QLESS_REDIS_PASSWORD", "p");
    let wait = poor.start("wait a --deadline 4s");
    until(|| redis.subscribers() == 1);
    // The server closes the subscription, and refuses the next one. Reads go on.
    user("resetchannels");
    let error = wait.end().exits(124).stderr();
    assert!(error.contains("`a` is not complete\n"), "{error}");
}

#[test]
fn a_user_who_may_not_subscribe_reads_again_and_again() {
    let redis = Redis::start();
    let rules = "ACL SETUSER poor on >p ~ql:* resetchannels +@all";
    redis.send(&words(rules).iter().map(String::as_str).collect::<Vec<_>>());
    redis.qless().run("put q K --jid a").ok();
    pop(&redis);
    let url = redis.url() + "?user=poor";
    let poor = Qless::bare()
        .env("QLESS_REDIS_URL", url)
        .env("QLESS_REDIS_PASSWORD", "p");
    let wait = poor.start("wait a --deadline 30s");
    redis.qless().run("complete a").ok();
    wait.end().exits(0);
}

#[test]
fn signals_end_the_wait() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let wait = waiting(&redis, "wait a");
        wait.signal(signal);
        let ran = wait.end().exits(code);
        assert_eq!(
            ran.stderr(),
            "error: interrupted: `a` is not complete\nhint: `qless explain a` shows why\n"
        );
    }
}

#[test]
fn a_frozen_server_does_not_delay_the_end() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    let late = waiting(&redis, "wait a --deadline 1s");
    let stopped = redis.qless().start("wait a");
    until(|| redis.subscribers() == 2);
    redis.freeze();
    let begun = Instant::now();
    late.end().exits(124);
    stopped.signal(Signal::INT);
    stopped.end().exits(130);
    redis.thaw();
    assert!(begun.elapsed() < Duration::from_secs(6));
}

#[test]
fn the_deadline_ends_the_search_for_the_jobs_to_wait_for() {
    let redis = Redis::start();
    let put = |n: usize| format!("put me q{n} j{n} K {{}} 0");
    redis.calls((0..3000).map(|n| (0.0, put(n).split(' ').map(str::to_owned).collect())));
    let queues: String = (0..3000).map(|n| format!(" --queue q{n}")).collect();
    let ran = redis.qless().run(&format!("wait --deadline 1ms{queues}"));
    ran.shows(expect![[r#"
        --- stderr
        error: the deadline passed before the jobs to wait for were read
        hint: give a later `--deadline`, or fewer names
        --- exit 124
    "#]]);
}

#[test]
fn many_jobs_take_one_subscription() {
    let redis = Redis::start();
    let jids: Vec<String> = (0..2_000).map(|at| format!("j{at}")).collect();
    redis.calls(jids.iter().map(|jid| {
        let words = ["put", "me", "q", jid, "K", "{}", "0"];
        (1.0, words.map(str::to_owned).to_vec())
    }));
    let list = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(list.path(), jids.join("\n")).unwrap();
    let wait = waiting(
        &redis,
        &format!("wait @{} --deadline 60s", list.path().display()),
    );
    redis.calls((0..20).map(|_| (2.0, ["pop", "q", "w", "100"].map(str::to_owned).to_vec())));
    assert_eq!(redis.subscribers(), 1);
    redis.calls(jids.iter().map(|jid| {
        let words = ["complete", jid, "w", "q", "{}"];
        (3.0, words.map(str::to_owned).to_vec())
    }));
    let ran = wait.end().exits(0);
    assert_eq!(ran.stdout().lines().count(), 2_000);
}

#[test]
fn a_terminal_shows_each_pending_job() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    let mut command = redis.qless().command();
    command.args(["wait", "a"]).env("TERM", "xterm");
    let screen = Terminal::start(command, 80, 24);
    screen.until(|written| written.contains("a  waiting  "));
    pop(&redis);
    screen.until(|written| written.contains("a  running  "));
    redis.qless().run("complete a").ok();
    let ran = screen.end();
    assert!(ran.stdout().contains("a  complete  "), "{}", ran.stdout());
    ran.exits(0);
}

/// What is printed stands on lines of its own, not behind the lines that change.
#[test]
fn a_terminal_shows_the_error_alone_on_its_line() {
    let redis = Redis::start();
    let mut command = redis.qless().command();
    command.args(["put", "q", "K", "--jid", "a", "--wait=0.3s"]);
    command.env("TERM", "xterm");
    let written = Terminal::start(command, 80, 24).end().stdout();
    let line = written
        .lines()
        .find(|line| line.contains("error:"))
        .unwrap();
    let shown = line.rsplit("\x1b[2K").next().unwrap();
    assert!(shown.starts_with("error: the deadline"), "{written:?}");
}
