//! The shell commands of `--on-start`, `--on-exhausted` and `--on-crash`.

use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;

use crate::support::redis::Redis;
use crate::support::work::{WorkSite, is_alive, until};

#[test]
fn hooks_inherit_no_password() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid j").ok();
    let hook = "'echo \"password: $QLESS_SENTINEL_PASSWORD\"'";
    let line = format!("-q work q --drain --on-start {hook} --on-exhausted {hook} -- false");
    let ran = redis
        .qless()
        .env("QLESS_SENTINEL_PASSWORD", "secret")
        .run(&line);
    assert_eq!(ran.exits(8).stdout(), "password: \npassword: \n");
}

#[test]
fn a_process_that_was_stopped_has_not_crashed() {
    let redis = Redis::start();
    let qless = redis.qless();
    qless.run("put q K --jid j").ok();
    let worker = qless.start("work q --count 1 --on-crash 'echo crashed' -- sleep 60");
    let begun = Instant::now();
    while !qless.run("get j -o json").ok().contains("\"running\"") {
        assert!(begun.elapsed() < Duration::from_secs(30), "not popped");
    }
    qless.run("cancel j --yes").ok();
    let ran = worker.end();
    assert_eq!(
        (ran.code(), ran.stdout().as_str()),
        (8, ""),
        "{}",
        ran.stderr()
    );
    ran.says("lost      j of q");
}

/// A hook that hangs, ignores SIGTERM and has a child.
const STUBBORN: &str = "trap \"echo TERM >> $D/got\" TERM; sleep 300 & echo $! > $D/child; \
    echo $$ > $D/pid; while :; do sleep 0.05; done";

/// The hook and its child have ended.
#[track_caller]
fn must_be_gone(site: &WorkSite) {
    for name in ["pid", "child"] {
        let pid = site.pid(name);
        until("the group of the hook is gone", || !is_alive(pid));
    }
}

#[test]
fn a_signal_stops_a_start_hook_that_hangs() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let hook = "sleep 300 & echo $! > $D/child; echo $$ > $D/pid; wait";
    let line = format!("mail --kill-after 1h --on-start '{hook}'");
    let worker = site.start(&line, "true");
    site.until_lines("pid", 1);
    let ended = worker.stop();
    expect![[r#"
        `--on-start` was stopped by a signal; no job was popped
    "#]]
    .assert_eq(&ended.stderr);
    assert_eq!(ended.code, 0);
    must_be_gone(&site);
    assert_eq!(site.job("a")["history"].as_array().unwrap().len(), 1);
}

#[test]
fn a_start_hook_that_ignores_sigterm_is_killed() {
    for (kill_after, signals, code) in [("100ms", 1, 0), ("1h", 2, 130)] {
        let mut site = WorkSite::new();
        let line = format!("mail --kill-after {kill_after} --on-start '{STUBBORN}'");
        let worker = site.start(&line, "true");
        site.until_lines("pid", 1);
        worker.signal(Signal::INT);
        site.until_lines("got", 1);
        if signals > 1 {
            worker.signal_again(Signal::INT);
        }
        worker.end().exits(code);
        must_be_gone(&site);
    }
}

#[test]
fn a_hook_that_hangs_does_not_hold_up_the_end_of_the_work() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let line = format!("mail --drain --kill-after 300ms --on-exhausted '{STUBBORN}' -- false");
    let ended = site.start(&line, "").end().exits(8);
    let line = "warning: stopping 1 hook still running\n";
    ended.says(line);
    must_be_gone(&site);
}

#[test]
fn the_second_signal_stops_hooks_and_the_third_kills_them() {
    for (hook, signals) in [("echo $$ > $D/pid; exec sleep 300", 2), (STUBBORN, 3)] {
        let mut site = WorkSite::with_jobs("mail", &["a"]);
        let line = format!("mail --kill-after 1h --on-exhausted '{hook}' -- false");
        let mut worker = site.start(&line, "");
        site.until_lines("pid", 1);
        site.until_state("a", "failed");
        worker.signal(Signal::TERM);
        worker.until_says("stopping\n");
        worker.signal_again(Signal::TERM);
        worker.until_says("stopping 1 hook still running");
        if signals > 2 {
            worker.signal_again(Signal::TERM);
        }
        let ended = worker.end().exits(143);
        let line = "error: stopped by a second signal; no job was unfinished\n";
        assert!(ended.stderr.ends_with(line), "{}", ended.stderr);
        let pid = site.pid("pid");
        until("the hook is gone", || !is_alive(pid));
    }
}
