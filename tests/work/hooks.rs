//! The shell commands of `--on-start`, `--on-exhausted` and `--on-crash`.

use std::time::{Duration, Instant};

use expect_test::expect;

use crate::support::redis::Redis;

#[test]
fn a_failing_start_hook_ends_the_work_before_a_job_is_popped() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid j").ok();
    redis
        .qless()
        .run("work q --drain --on-start 'exit 3' -- true")
        .shows(expect![[r#"
            --- stderr
            error: `--on-start` failed: exit status: 3
            hint: no job was popped
            --- exit 1
        "#]]);
    assert!(
        redis
            .qless()
            .run("get j -o json")
            .ok()
            .contains("\"waiting\"")
    );
}

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
    assert_eq!(ran.ok(), "password: \npassword: ");
}

#[test]
fn hooks_after_a_crash_and_a_failure_know_what_happened() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid j").ok();
    let crash = "'echo \"crash $QLESS_SLOT $QLESS_SIGNAL $QLESS_FAILURE\"; exit 4'";
    let exhausted = "'echo \"failed $QLESS_JID $QLESS_QUEUE $QLESS_KLASS $QLESS_FAILURE\"'";
    let line = format!("work q --drain --on-crash {crash} --on-exhausted {exhausted} --");
    let ran = redis
        .qless()
        .run(&format!("{line} sh -c 'echo oh >&2; kill -SEGV $$'"));
    assert!(
        ran.stderr()
            .contains("warning: `--on-crash` ended with exit code 4\n")
    );
    let mut lines: Vec<String> = ran.stdout().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["crash 1 SEGV oh", "failed j q K signal-SEGV: oh"]);
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
    assert!(
        ran.stderr().contains("lost      j of q"),
        "{}",
        ran.stderr()
    );
}
