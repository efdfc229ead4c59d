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
    let deadline = Instant::now() + Duration::from_secs(30);
    while !what() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
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

/// A server with the job `a` in the queue `q`.
fn with_job() -> Redis {
    let redis = Redis::start();
    redis.qless().run("put q K --jid a").ok();
    redis
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
fn a_hangup_that_is_ignored_at_the_start_stays_ignored() {
    let redis = with_job();
    let script = "trap '' HUP; (sleep 1; kill -HUP $$) & exec \"$0\" wait a --deadline 3s";
    let ended = redis.qless().shell(script).status().unwrap();
    assert_eq!(ended.code(), Some(124));
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
    redis.session(expect![[r#"
        $ qless fail k --group oops --message 'it broke' &>/dev/null
    "#]]);
    put.end().shows(expect![[r#"
        k
        --- stderr
        error: `k` failed: oops: it broke
        hint: `qless get k` shows the failure
        --- exit 8
    "#]]);
    redis.session(expect![[r#"
        $ qless put q K --jid l --wait=0.01s
        l
        --- stderr
        error: the deadline passed: `l` is not complete
        hint: `qless explain l` shows why
        --- exit 124
        $ qless put q K --wait=30s --deadline 0.01s &>/dev/null
        --- exit 124
        $ qless put q K --wait=0.01s --deadline 30s &>/dev/null
        --- exit 124
    "#]]);
    // The hint names a command that accepts a cancelled job.
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

#[test]
fn put_from_waits_for_all_lines() {
    let redis = Redis::start();
    let put = |jids: [&str; 2]| {
        let file = redis.socket().with_file_name("jobs");
        let lines = jids.map(|jid| format!("{{\"jid\":\"{jid}\"}}\n"));
        std::fs::write(&file, lines.concat()).unwrap();
        let line = format!("put q K --from {} --if-absent --wait=30s", file.display());
        waiting(&redis, &line)
    };
    let both = put(["a", "b"]);
    redis.session(expect![[r#"
        $ qless pop q --count 2 &>/dev/null
        $ qless complete a &>/dev/null
        $ qless complete b &>/dev/null
    "#]]);
    both.end().exits(0);
    redis.qless().run("put q K --jid c").ok();
    let failing = put(["b", "c"]);
    pop(&redis);
    redis.qless().run("fail c --group g --message m").ok();
    failing.end().exits(8);
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
    // With `--require-match`, a wrong tag in a script does not mean that all is done.
    redis.session(expect![[r#"
        $ qless pop q --count 2 &>/dev/null
        $ qless complete a &>/dev/null
        $ qless fail b --group g --message m &>/dev/null
        $ qless wait a &>/dev/null
        $ qless wait a b c --any &>/dev/null
        $ qless wait b c --any --deadline 0.05s &>/dev/null
        --- exit 124
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
        $ qless wait --tag none --require-match
        --- stderr
        error: no job matches: nothing to wait for
        --- exit 4
        $ printf 'a\n' | qless wait - &>/dev/null
        $ qless --read-only wait a &>/dev/null
        $ qless wait a -o raw &>/dev/null
        --- exit 2
        $ qless wait &>/dev/null
        --- exit 2
    "#]]);
}

/// However short the deadline: the jobs are read once.
#[test]
fn a_deadline_that_is_over_does_not_hide_what_has_happened() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        $ qless put q K --jid a &>/dev/null
        $ qless put q K --jid b &>/dev/null
        $ qless pop q &>/dev/null
        $ qless complete a &>/dev/null
    "#]]);
    for deadline in ["0", "1ms"] {
        let run = |line: &str| {
            let line = format!("wait {line} --deadline {deadline}");
            redis.qless().run(&line)
        };
        run("a").ok();
        run("nope").exits(4);
        run("--queue nope").exits(4);
        run("b").shows(expect![[r#"
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
    redis.session(expect![[r#"
        $ qless put q K --jid a &>/dev/null
        $ qless put q K --jid b &>/dev/null
        $ qless pop q &>/dev/null
        $ qless complete a &>/dev/null
        $ qless wait a b --deadline 0.1s -o jid
        a
        --- stderr
        error: the deadline of 0.1s passed: 1 of 2 jobs are complete
        hint: `qless explain b` shows why
        --- exit 124
    "#]]);
    let run = |format: &str| {
        let line = format!("wait a b --deadline 0.1s -o {format}");
        redis.qless().run(&line).exits(124)
    };
    assert_eq!(without_times(&run("tsv").stdout()), "a\tcomplete\tTIME\n");
    let ran = run("json");
    assert_eq!(ran.stderr(), "");
    let mut doc: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    doc["elapsed_s"] = 0.into();
    doc["items"][0]["elapsed_s"] = 0.into();
    expect![[r#"
        {"kind":"wait","v":1,"outcome":"deadline","for":"complete","jobs":2,"reached":1,"pending":1,"elapsed_s":0,"items":[{"jid":"a","state":"complete","result":"complete","elapsed_s":0},{"jid":"b","state":"waiting","result":"pending","elapsed_s":null}]}
    "#]].assert_eq(&format!("{doc}\n"));
    let lines = run("ndjson").stdout();
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let results = [
        &lines[0]["result"],
        &lines[1]["result"],
        &lines[2]["summary"]["outcome"],
    ];
    assert_eq!(results, ["complete", "pending", "deadline"]);
    assert_eq!(lines.len(), 3);
}

#[test]
fn a_cancelled_job_ends_the_wait() {
    let redis = with_job();
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
    let redis = with_job();
    let before = redis.scripts_run();
    let both = ["wait a", "wait a --allow-gone"].map(|line| redis.qless().start(line));
    // Both have read the job.
    until(|| redis.subscribers() == 2 && redis.scripts_run() >= before + 2);
    redis.send(&["DEL", "ql:j:a"]);
    let [strict, lenient] = both;
    strict.end().shows(expect![[r#"
        a	gone	2s
        --- stderr
        error: `a` does not exist any more: cancelled, or complete and expired
        hint: `--allow-gone` accepts that
        --- exit 8
    "#]]);
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
            let mut redis = with_job();
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

/// A job may run and end between two reads.
#[test]
fn a_state_that_was_passed_through_counts() {
    let redis = with_job();
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
    let redis = with_job();
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
    let redis = with_job();
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
    let mut redis = with_job();
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
        let mut redis = with_job();
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
    let redis = with_job();
    let wait = reading(&redis, "wait a --deadline 4s -o json");
    redis.freeze();
    let ran = wait.end().exits(124);
    redis.thaw();
    let doc: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert!(doc["silent_s"].as_f64() >= Some(1.0), "{doc}");
}

/// A user with these rights, and the binary as this user.
fn poor_user(redis: &Redis, rules: &str) -> Qless {
    let line = words(&format!("ACL SETUSER poor on >p ~ql:* {rules}"));
    redis.send(&line.iter().map(String::as_str).collect::<Vec<_>>());
    Qless::bare()
        .env("QLESS_REDIS_URL", redis.url() + "?user=poor")
        .env("QLESS_REDIS_PASSWORD", "p")
}

#[test]
fn a_deadline_says_nothing_about_a_server_that_replies() {
    let redis = with_job();
    let wait = poor_user(&redis, "&* +@all").start("wait a --deadline 4s");
    until(|| redis.subscribers() == 1);
    // The server closes the subscription, and refuses the next one. Reads go on.
    poor_user(&redis, "resetchannels");
    let error = wait.end().exits(124).stderr();
    assert!(error.contains("`a` is not complete\n"), "{error}");
}

#[test]
fn a_user_who_may_not_subscribe_reads_again_and_again() {
    let redis = Redis::start();
    let poor = poor_user(&redis, "resetchannels +@all");
    redis.qless().run("put q K --jid a").ok();
    pop(&redis);
    let wait = poor.start("wait a --deadline 30s");
    redis.qless().run("complete a").ok();
    wait.end().exits(0);
}

#[test]
fn signals_end_the_wait() {
    let redis = with_job();
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
    let redis = with_job();
    let late = waiting(&redis, "wait a --deadline 1s --timeout 60s");
    let stopped = redis.qless().start("wait a --timeout 60s");
    until(|| redis.subscribers() == 2);
    redis.freeze();
    let begun = Instant::now();
    late.end().exits(124);
    stopped.signal(Signal::INT);
    stopped.end().exits(130);
    redis.thaw();
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn the_deadline_ends_the_search_for_the_jobs_to_wait_for() {
    let redis = Redis::start();
    redis.calls((0..3000).map(|n| (0.0, words(&format!("put me q{n} j{n} K {{}} 0")))));
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
    let calls = |count: usize, call: &dyn Fn(usize) -> String| {
        redis.calls((0..count).map(|at| (1.0, words(&call(at)))));
    };
    calls(2_000, &|at| format!("put me q j{at} K {{}} 0"));
    let list = redis.socket().with_file_name("jids");
    let jids: String = (0..2_000).map(|at| format!("j{at}\n")).collect();
    std::fs::write(&list, jids).unwrap();
    let line = format!("wait @{} --deadline 60s", list.display());
    let wait = waiting(&redis, &line);
    calls(20, &|_| "pop q w 100".into());
    assert_eq!(redis.subscribers(), 1);
    calls(2_000, &|at| format!("complete j{at} w q {{}}"));
    let ran = wait.end().exits(0);
    assert_eq!(ran.stdout().lines().count(), 2_000);
}

#[test]
fn a_terminal_shows_each_pending_job() {
    let redis = with_job();
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
