//! The examples of the specification, unchanged: without a terminal
//! those that ask are not confirmed, and with `--yes` they work.

use crate::support::redis::Redis;

/// An example, and its exit code if no one can answer a prompt.
const EXAMPLES: [(&str, i32); 19] = [
    ("failed", 0),
    ("retry 0b6e5c0d", 0),
    (
        "retry --klass 'Mail::*' --message 'timed? out' --rate 20/s",
        9,
    ),
    ("retry --group 'upload error' --older-than 1h", 9),
    (r#"failed --group "upload error" --retry-all"#, 9),
    (
        "failed --group 'failed-retries-*' --retry-all --spread 15m --yes",
        0,
    ),
    (
        r#"failed --group "bad payload" --older-than 30d --cancel-all --dry-run"#,
        0,
    ),
    ("move --queue mail --tag bulk --to mail-slow", 9),
    (
        r#"fail 77be --group hung --message "no output for 2h" --as-holder"#,
        0,
    ),
    ("cancel 3f2a", 0),
    ("depends c41d", 0),
    ("cancel c41d --dependents cancel --dry-run", 0),
    (
        "cancel --queue tmp --older-than 7d --save tmp-jobs.ndjson --yes",
        0,
    ),
    ("priority --tag vip --to 100", 9),
    ("tag 0b6e --add seen --remove new", 0),
    ("retry --force 7d1f", 0),
    ("timeout --held-by 'mx-2-*' --yes", 0),
    ("promote 5ced", 0),
    ("track 0b6e", 0),
];

/// 1970-02-10, so that some jobs are older than 30 days.
const NOW: u32 = 3_456_000;

fn night() -> Redis {
    let redis = Redis::start();
    let put = |now: u32, line: &str| redis.ok(now, &format!("put {line}"));
    for (now, line, jid, why) in [
        (
            1,
            "mail Mail::Digest",
            "old",
            "--group 'bad payload' --message 'key user missing'",
        ),
        (
            NOW - 9_000,
            "mail Mail::Welcome",
            "0b6e5c0d",
            "--group 'upload error' --message 'no space'",
        ),
        (
            NOW - 8_000,
            "images Mail::Digest",
            "timed",
            "--group 'upload error' --message 'no room'",
        ),
        (
            NOW - 7_000,
            "mail Mail::Digest",
            "spent",
            "--group failed-retries-mail --message exhausted",
        ),
        (
            NOW - 6_000,
            "mail Mail::Digest",
            "timed-2",
            "--group net --message 'time out'",
        ),
        (
            NOW - 600,
            "images Mail::Digest",
            "fresh",
            "--group 'upload error' --message 'no space'",
        ),
    ] {
        put(now, &format!("{line} --jid {jid}"));
        let queue = line.split(' ').next().unwrap();
        redis.ok(now, &format!("pop {queue} --worker w"));
        redis.ok(now, &format!("fail {jid} --as-holder {why}"));
    }
    for line in [
        "mail Mail::Bulk --jid slow --tag bulk --tag vip",
        "mail Mail::Bulk --jid 0b6e --tag new",
        "test T --jid 3f2a",
        "tmp T --jid new",
        "ci T --jid c41d",
        "ci T --jid 5ced --delay 1h",
        "hang T --jid 77be",
        "hang T --jid 7d1f",
        "hang T --jid 8e20",
    ] {
        put(NOW - 100, line);
    }
    redis.ok(NOW - 10, "pop hang --count 3 --worker mx-2-1");
    redis
}

#[test]
fn examples_of_the_specification_work() {
    let redis = night();
    let dir = tempfile::tempdir().unwrap();
    let run = |line: &str| {
        let line = line.replace("tmp-jobs", &format!("{}/tmp-jobs", dir.path().display()));
        redis.at(NOW).run(&line)
    };
    for (line, code) in EXAMPLES {
        let ran = run(line);
        assert_eq!(
            ran.code(),
            code,
            "qless {line}: {}{}",
            ran.stdout(),
            ran.stderr()
        );
        if code == 9 {
            let ran = run(&format!("{line} --yes")).exits(0);
            let output = ran.stderr();
            assert!(
                !output.starts_with("no jobs"),
                "qless {line} --yes: {output}"
            );
        }
    }
    redis.must_be_clean();
}
