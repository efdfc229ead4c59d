//! Selectors: which jobs they mean, at what cost, and what they refuse.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;

use expect_test::expect;
use serde_json::{Value, json};

use crate::commands::jobs::busy;
use crate::support::random::{self, Draw};
use crate::support::redis::Redis;
use crate::support::text::{Shows, rows, words};

/// The jids that a selector means, as one line.
fn jids(redis: &Redis, line: &str) -> String {
    let ran = redis.at(100).run(&format!("jobs {line} -o jid"));
    ran.ok().replace('\n', " ")
}

/// Compares the jobs that selectors mean with a table: `selector | jids`, which are sorted.
#[track_caller]
pub fn assert_selected(redis: &Redis, table: &str) {
    for (selector, expected) in rows(table) {
        assert_eq!(sorted(&jids(redis, selector)), expected, "{selector}");
    }
}

#[test]
fn classes_workers_and_messages_select_jobs_by_name_or_pattern() {
    let redis = busy();
    // The worker `d-1` failed its job and holds none.
    assert_selected(
        &redis,
        "
        --klass Deploy | blocked
        --klass 'Mail::D*' | runs taken
        --klass Deploy --klass '{Thumb,X}' | blocked breaks done
        --klass Thumb --state complete | done
        --klass Thumb --queue images | breaks
        --klass thumb |
        --klass Thum |
        --held-by mx-1 | runs
        --held-by 'mx-*' | runs stalls
        --held-by mx-1 --held-by mx-2 | runs stalls
        --held-by 'mx-?' --state stalled | stalls
        --held-by mx-1 --queue images |
        --held-by mx-1 --tag none |
        --held-by d-1 |
        --message line | breaks
        --message '^first line$' |
        --message '(?m)^first LINE$(?i)' |
        --message '(?mi)^first LINE$' | breaks
        --message 'line' --group 'b*' --queue images | breaks
        --message 'line' --queue mail |
        --message '' | breaks
        --tracked |
    ",
    );
    redis.at(100).run("jobs --held-by mx-11").shows(expect![[r#"
        --- stderr
        error: worker `mx-11` does not exist
        hint: did you mean `mx-1`?
        --- exit 4
    "#]]);
    redis.ok(90, "track waits breaks --yes");
    // A forgotten worker still selects its jobs.
    redis.ok(100, "api worker.deregister mx-1");
    assert_selected(
        &redis,
        "
        --tracked | breaks waits
        --tracked --state failed | breaks
        --tracked --tag eu | waits
        --held-by mx-1 | runs
        --held-by 'mx-*' | runs stalls
    ",
    );
}

#[test]
fn age_is_the_time_since_the_newest_entry_of_the_history() {
    // The last entries: stalls 2, runs 59, taken 62, waits 70, waits-2 71, later 72, breaks 75,
    // blocked 76, done 79; it is 100.
    assert_selected(
        &busy(),
        "
        --older-than 41s --state running,stalled | runs stalls
        --older-than 41.5s | stalls
        --newer-than 25s | blocked done
        --newer-than 25.5s | blocked breaks done
        --older-than 24s --newer-than 29s | blocked breaks later
        --group boom --older-than 0s | breaks
        --tag eu --older-than 30s | waits
        --klass 'Mail::*' --newer-than 29s | later
    ",
    );
}

/// Jobs with data, in one queue.
fn data(all: &[(&str, &[u8])]) -> Redis {
    let redis = Redis::start();
    for (jid, data) in all {
        let args: [&OsStr; 9] =
            ["api", "put", "me", "q", jid, "K", "", "0", "tags"].map(OsStr::new);
        let mut args = args.to_vec();
        args[6] = OsStr::from_bytes(data);
        args.push(OsStr::new("[]"));
        redis.at(1).args(args).ok();
    }
    redis
}

#[test]
fn data_is_compared_as_it_is_stored() {
    let redis = data(&[
        ("big", br#"{"user":{"id":9007199254740993}}"#),
        ("near", br#"{"user":{"id":9007199254740992}}"#),
        (
            "text",
            br#"{"user":{"id":"42"},"items":[{"sku":"A1"},{"sku":"B2"}]}"#,
        ),
        ("whole", br#"{"user":{"id":42},"a.b":1,"x/y":[true,null]}"#),
        ("point", br#"{"user":{"id":42.0},"empty":[],"none":{}}"#),
        ("bytes", b"{\"user\":{\"id\":\"\xff\"}}"),
    ]);
    assert_selected(
        &redis,
        r#"
        --where user.id=9007199254740993 | big
        --where user.id=9007199254740992 | near
        --where user.id=42 | point whole
        --where user.id=4.2e1 | point whole
        --where 'user.id="42"' | text
        --where items.0.sku=A1 | text
        --where items.1.sku=A1 |
        --where items.0.sku=A1 --where items.1.sku=B2 | text
        --where items.0.sku=A1 --where items.1.sku=A1 |
        --where a.b=1 |
        --where /a.b=1 | whole
        --where /x~1y/0=true | whole
        --where /x~1y/1=null | whole
        --where nowhere=null |
        --where empty=[] | point
        --where empty={} |
        --where none={} | point
        --where 'user={"id":42}' | point whole
        --where user.id=42 --queue q --state waiting | point whole
        --where items.0.sku=~^A | text
        --where items.0.sku!~^A |
        --where 'user.id =~ ^42$' | text whole
        --where user.id!~^42$ | big bytes near point
        --where user.id=42 --queue p* |
    "#,
    );
    redis.at(100).run("jobs --where user.id=42 --all").exits(2);
    let args = [b"jobs", &b"--where"[..], b"user.id=\xff", b"-ojid"].map(OsStr::from_bytes);
    assert_eq!(redis.at(100).args(args).ok(), "bytes");
}

#[test]
fn a_path_may_begin_with_data_unless_the_data_have_such_a_member() {
    let redis = data(&[
        ("plain", br#"{"user":{"id":42}}"#),
        ("other", br#"{"user":{"id":43}}"#),
        ("nested", br#"{"data":{"user":{"id":42}},"user":{"id":43}}"#),
        ("member", br#"{"data":null,"user":{"id":42}}"#),
    ]);
    assert_selected(
        &redis,
        "
        --where data.user.id=42 | nested plain
        --where /data/user/id=43 | other
        --where data.user.id!~^42$ | other
        --where user.id=42 | member plain
    ",
    );
    redis.session(expect![[r#"
        100 $ qless cancel --where data.user.id=43 --yes
        other
        --- stderr
        `--where data.user.id` means `user.id` in data without a field `data`
        1 cancelled
    "#]]);
}

#[test]
fn a_scan_of_every_job_is_announced() {
    let redis = busy();
    redis.session(expect![[r#"
        100 $ qless jobs --klass Deploy -o jid
        blocked
        --- stderr
        scanning all jobs: `--klass` has no index
        100 $ qless jobs --where a=1 --klass 'D*' -o json | jq -c
        {"kind":"jobs","v":1,"total":0,"offset":0,"items":[],"missing":[]}
        --- stderr
        scanning all jobs: `--klass` and `--where` have no index
    "#]]);
    let all = redis.at(100).run("jobs --all -o jid");
    assert_eq!(
        sorted(&all.ok().replace('\n', " ")),
        "blocked breaks done later runs stalls taken waits waits-2"
    );
    assert_eq!(
        all.stderr(),
        "scanning all jobs: that is what `--all` means\n"
    );
    assert_eq!(redis.at(100).run("jobs --all -q -o jid").stderr(), "");
    for indexed in [
        "--queue mail --klass Deploy",
        "--state failed --where a=1",
        "--tag eu --klass Deploy",
        "--held-by 'mx-*' --klass Deploy",
        "--group boom --klass Deploy",
        "--message x --where a=1",
        "--tracked --where a=1",
        "--older-than 1s",
        "--all --count",
    ] {
        let ran = redis.at(100).run(&format!("jobs {indexed}"));
        assert_eq!((ran.code(), ran.stderr().as_str()), (0, ""), "{indexed}");
    }
    // The states of the verb itself have indexes.
    let ran = redis.at(100).run("retry --klass Deploy --dry-run");
    assert!(
        !ran.stderr().contains("scanning all jobs"),
        "{}",
        ran.stderr()
    );
    let ran = redis.at(100).run("tag --klass Deploy --add x --dry-run");
    ran.says("scanning all jobs");
}

#[test]
fn nothing_is_selected_by_accident() {
    // Nothing listens here: all of it is refused before connecting.
    let nowhere = Redis::start().qless();
    for verb in [
        "cancel",
        "retry",
        "promote",
        "priority --to 1",
        "timeout",
        "tag --add x",
        "get",
        "move --to q",
        "export",
    ] {
        for selector in ["--limit 5", "--offset 2 --limit 5"] {
            let ran = nowhere.run(&format!("{verb} {selector} --yes")).exits(2);
            assert!(
                ran.stderr().contains("no flag narrows the selection"),
                "{verb} {selector}: {}",
                ran.stderr()
            );
        }
        let ran = nowhere.run(&format!("{verb} jid --queue q --yes")).exits(2);
        ran.says("give either jids or flags that select jobs");
        let ran = nowhere.run(&format!("{verb} jid --all --yes")).exits(2);
        ran.says("give either jids or flags that select jobs");
    }
}

#[test]
fn flags_that_exclude_each_other_are_refused() {
    let nowhere = Redis::start().qless();
    let refused = |line: &str| {
        let ran = nowhere.run(line).exits(2);
        ran.stderr()
    };
    refused("jobs --group g --state waiting").shows(expect![[r#"
        error: no job matches both `--group` and `--state waiting`
        hint: `--group` means failed jobs, `--state waiting` means waiting jobs
    "#]]);
    refused("jobs --message m --state waiting --state running").shows(expect![[r#"
        error: no job matches both `--message` and `--state waiting,running`
        hint: `--message` means failed jobs, `--state waiting,running` means waiting or running jobs
    "#]]);
    refused("cancel --group g --held-by w --yes").shows(expect![[r#"
        error: no job matches both `--group` and `--held-by`
        hint: `--group` means failed jobs, `--held-by` means running or stalled jobs
    "#]]);
    refused("jobs --held-by w --state failed").shows(expect![[r#"
        error: no job matches both `--held-by` and `--state failed`
        hint: `--held-by` means running or stalled jobs, `--state failed` means failed jobs
    "#]]);
    refused("jobs --queue mail --state complete").shows(expect![[r#"
        error: no job matches both `--queue` and `--state complete`
        hint: a complete job is in no queue: select by `--klass`, `--tag` or `--key`
    "#]]);
    refused("jobs --older-than 2h --newer-than 1h").shows(expect![[r#"
        error: `--older-than` must be shorter than `--newer-than`
        hint: for jobs of 1 to 2 hours ago: `--older-than 1h --newer-than 2h`
    "#]]);
    refused("jobs --older-than 60s --newer-than 1m");
    refused("jobs --newer-than 0s").shows(expect![[r#"
        error: `--newer-than 0` matches no job
        hint: `--newer-than` expects more than 0
    "#]]);
    refused("jobs --all --queue mail").shows(expect![[r#"
        error: `--all` cannot be used with `--queue`
        hint: `--all` means every job; leave one of the two flags out
    "#]]);
    for flag in [
        "--state failed",
        "--group g",
        "--tag t",
        "--klass K",
        "--held-by w",
        "--older-than 1s",
        "--newer-than 1s",
        "--where a=1",
        "--message m",
        "--tracked",
    ] {
        refused(&format!("cancel --all {flag} --yes"));
    }
    // The states of the verb count, too.
    refused("promote --group g --yes");
    refused("timeout --message m --yes");
    refused("retry --held-by w --yes");
}

#[test]
fn invalid_selector_values_are_refused() {
    let nowhere = Redis::start().qless();
    for (selector, error) in rows(
        r"
        --message time(d | `--message` expects a regular expression (unclosed group, at character 5), not `time(d`
        --queue mail[ | `--queue` expects a name or a glob (unclosed character class; missing ']'; `\` escapes a character), not `mail[`
        --where user.id | `--where` expects PATH=VALUE such as `user.id=42`, PATH=~REGEX or PATH!~REGEX, not `user.id`
        --where user.id!~time(d | `--where` expects a regular expression (unclosed group, at character 5), not `user.id!~time(d`
        --where a..b=1 | `--where` expects a path such as `user.id`, `items.0.sku` or `/user/id` before its `=`, not `a..b=1`
        --older-than soon | `--older-than` expects a duration such as `90s`, `15m` or `2h`, not `soon`
    ",
    ) {
        let ran = nowhere.run(&format!("jobs {selector}")).exits(2);
        assert_eq!(ran.stderr(), format!("error: {error}\n"));
    }
    for wrong in [
        "--newer-than -1s",
        "--state lost",
        "--group {a",
        "--klass [z-a]",
        "--held-by a\\",
        "--where =1",
        "--where /a~2=1",
        "--queue ''",
        "--tag ''",
    ] {
        nowhere.run(&format!("jobs {wrong}")).exits(2);
    }
}

#[test]
fn jobs_that_are_never_due_are_selected_in_one_line() {
    let redis = Redis::start();
    for jid in ["inf", "old", "far", "soon"] {
        redis.ok(1, &format!("put q K --jid {jid} --delay 1h"));
    }
    redis.ok(1, "put q K --jid waits");
    for (score, jid) in [("inf", "inf"), ("-5", "old"), ("1e300", "far")] {
        redis.send(&["ZADD", "ql:q:q-scheduled", score, jid]);
    }
    assert_selected(
        &redis,
        "
        --never-due | far inf old
        --never-due --queue other* |
    ",
    );
    redis.session(expect![[r#"
        2 $ qless jobs --never-due --state waiting &>/dev/null
        --- exit 2
        2 $ qless promote --never-due --limit 1 --yes &>/dev/null
        2 $ qless move --never-due --limit 1 --to q --delay 1h --yes &>/dev/null
        2 $ qless cancel --never-due --yes &>/dev/null
        2 $ qless jobs --never-due -o jid
        2 $ qless jobs --state scheduled,waiting --count
        running	0
        stalled	0
        waiting	2
        scheduled	2
        depends	0
        failed	0
        complete	0
    "#]]);
}

#[test]
fn selectors_accept_any_name() {
    let names: [&[u8]; 9] = [
        b"a*b",
        b"-x",
        b"sp ace",
        b"new\nline",
        b"\x1b[31m",
        b"st\xffray",
        b"{a,b}",
        b"[x]",
        b"sl/a..sh\\",
    ];
    let redis = Redis::start();
    for (at, name) in names.iter().enumerate() {
        let name = OsStr::from_bytes(name);
        let jid = format!("j{at}");
        let words = ["api", "--", "put", "me"].map(OsStr::new);
        let words = words.into_iter().chain([name, jid.as_ref(), name]);
        let words = words.chain(["{}", "0", "retries", "0"].map(OsStr::new));
        redis.at(1).args(words).ok();
        let words =
            ["api", "--", "pop"]
                .map(OsStr::new)
                .into_iter()
                .chain([name, name, OsStr::new("1")]);
        redis.at(2).args(words).ok();
    }
    let escape = |name: &[u8]| {
        let mut typed = Vec::new();
        for &byte in name {
            if b"*?[]{},\\".contains(&byte) {
                typed.push(b'\\');
            }
            typed.push(byte);
        }
        typed
    };
    let meant = |flag: &str, value: &[u8]| {
        let both = [format!("{flag}=").as_bytes(), value].concat();
        let args = [
            OsStr::new("jobs"),
            OsStr::from_bytes(&both),
            OsStr::new("-ojid"),
        ];
        redis.at(10).args(args).ok().replace('\n', " ")
    };
    for flag in ["--queue", "--klass", "--held-by"] {
        for (at, name) in names.iter().enumerate() {
            assert_eq!(
                meant(flag, &escape(name)),
                format!("j{at}"),
                "{flag} {name:?}"
            );
            // With a glob after it that matches nothing.
            let glob = [&escape(name)[..], b"{,?}"].concat();
            assert_eq!(meant(flag, &glob), format!("j{at}"), "{flag} {glob:?}");
        }
        assert_eq!(meant(flag, b"a*b"), "j0", "{flag}");
        assert_eq!(
            sorted(&meant(flag, b"*")).split(' ').count(),
            names.len(),
            "{flag}"
        );
        assert_eq!(meant(flag, b"*\n*"), "j3", "{flag}");
        assert_eq!(meant(flag, b"st?ray"), "j5", "{flag}");
    }
}

#[test]
fn a_list_is_cut_in_the_order_of_its_index() {
    let redis = busy();
    for (selector, expected) in rows(
        "
        --queue mail --limit 2 | runs stalls
        --queue mail --limit 2 --offset 2 | taken waits
        --queue mail --klass 'Mail::W*' --limit 2 | stalls waits
        --queue mail --klass 'Mail::W*' --limit 2 --offset 1 | waits waits-2
        --queue mail --state waiting --limit 1 | waits
        --queue mail --state waiting --offset 1 | waits-2
        --limit 3 --offset 1 | stalls taken waits
        --limit 0 |
        --all --limit 0 |
    ",
    ) {
        assert_eq!(jids(&redis, selector), expected, "{selector}");
    }
    assert_eq!(jids(&redis, "--all --limit 4").split(' ').count(), 4);
    let last = jids(&redis, "--all --limit 4 --offset 7");
    assert_eq!(last.split(' ').count(), 2);
}

/// The number of server calls of a list, and of the commands they run.
fn cost(redis: &Redis, line: &str) -> (u64, u64) {
    redis.send(&["CONFIG", "RESETSTAT"]);
    redis.ok(5_000, &format!("jobs {line} -o jid"));
    (redis.scripts_run(), redis.commands_run(""))
}

#[test]
fn selections_by_index_cost_the_same_in_a_large_database() {
    let selectors = [
        "--group boom",
        "--group 'bo*'",
        "--message crash",
        "--tag rare",
        "--tag rare --tag common",
        "--tag common --group boom",
        "--queue small --tag common",
        "--held-by w-1",
        "--held-by 'w-*'",
        "--tracked",
        "--tracked --tag common",
        "--queue small --state waiting --where a=1",
        "--state running",
        "--state failed --older-than 1s",
    ];
    let costs = |others: usize| {
        let redis = Redis::start();
        let call = |at: f64, line: String| (at, words(&line));
        let few =
            |n| format!("put me small few-{n} K '{{\"a\":1}}' 0 tags '[\"rare\",\"common\"]'");
        let other = |n| format!("put me large many-{n} K '{{\"a\":1}}' 0 tags '[\"common\"]'");
        redis.calls((0..6).map(|n| call(1.0, few(n))));
        redis.calls((0..others).map(|n| call(2.0, other(n))));
        redis.ok(3, "pop small --worker w-1 --count 3");
        redis.ok(4, "track few-5");
        let held = redis.ok(5, "jobs --state running -o jid");
        let first = held.lines().next().unwrap();
        redis.ok(6, &format!("api fail {first} w-1 boom crash"));
        selectors.map(|line| cost(&redis, line))
    };
    let (small, large) = (costs(1_000), costs(4_000));
    for ((line, small), large) in selectors.iter().zip(small).zip(large) {
        assert_eq!(small, large, "{line}: script calls and commands");
    }
}

#[test]
fn every_job_is_read_in_slices_and_listed_once() {
    let redis = Redis::start();
    redis.calls((0..5_000).map(|n| {
        let line = format!("put me q j-{n} K '{{\"n\":{}}}' 0", n % 10);
        (f64::from(n), words(&line))
    }));
    let printed = redis.ok(9_000, "jobs --where n=3 -o jid");
    let printed: Vec<&str> = printed.lines().collect();
    let once: BTreeSet<&str> = printed.iter().copied().collect();
    assert_eq!((printed.len(), once.len()), (500, 500));
    assert!(once.iter().all(|jid| jid.ends_with('3')));
    let counts = redis.json(9_000, "jobs --where n=3 --count -o json");
    assert_eq!(counts["waiting"], 500);
    assert_eq!(redis.ok(9_000, "jobs --all -o jid").lines().count(), 5_000);
}

#[test]
fn a_stream_stops_when_its_reader_closes_the_pipe() {
    let redis = Redis::start();
    let put = |n: u32| words(&format!("put me q j-{n} K {{}} 0"));
    redis.calls((0..20_000).map(|n| (f64::from(n), put(n))));
    redis.send(&["CONFIG", "RESETSTAT"]);
    let mut child = redis
        .at(30_000)
        .command()
        .args(["jobs", "--queue", "q", "-o", "ndjson"])
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..3 {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["queue"], "q");
    }
    drop(reader);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // It wrote what a pipe holds, not the whole list.
    assert!(redis.scripts_run() < 20, "{} calls", redis.scripts_run());
}

fn sorted(jids: &str) -> String {
    let mut jids: Vec<&str> = jids.split_whitespace().collect();
    jids.sort();
    jids.join(" ")
}

const QUEUES: [&str; 3] = ["mail", "mail-eu", "im/ages"];
const NOW: f64 = 1_000.0;

/// A database with jobs in all states.
fn random_jobs(dice: &mut Draw) -> Redis {
    let redis = Redis::start();
    let mut calls: Vec<(f64, Vec<String>)> = Vec::new();
    let words =
        |words: &[&str]| -> Vec<String> { words.iter().map(|word| word.to_string()).collect() };
    calls.push((0.0, words(&["config.set", "heartbeat", "60"])));
    for n in 0..60 {
        let data = dice.of(&[
            r#"{"user":{"id":7},"items":[{"sku":"A1"}]}"#,
            r#"{"user":{"id":7.0}}"#,
            r#"{"user":{"id":"7"},"items":[]}"#,
            r#"[]"#,
        ]);
        let mut put = words(&["put", "me", dice.of(&QUEUES), &format!("j-{n}")]);
        put.extend(words(&[dice.of(&["Mail::A", "Mail::B", "Thumb"]), data]));
        put.extend(words(&[
            dice.of(&["0", "0", "0", "5000"]),
            "priority",
            dice.of(&["0", "5"]),
        ]));
        put.extend(words(&[
            "tags",
            dice.of(&["[]", r#"["eu"]"#, r#"["vip","eu"]"#]),
        ]));
        if n > 5 && dice.below(6) == 0 {
            let on = format!("[\"j-{}\"]", dice.below(n));
            put.extend(words(&["depends", &on]));
        }
        calls.push((n as f64 * 10.0, put));
    }
    redis.calls(calls);
    for (at, worker) in [(650, "w-1"), (660, "w-2"), (700, "x"), (980, "w-1")] {
        for queue in QUEUES {
            let count = 1 + dice.below(5);
            let line = format!("pop {queue} --worker {worker} --count {count} -o jid");
            let popped = redis.at(at).run(&line).stdout();
            for jid in popped.lines() {
                let end = match dice.below(5) {
                    0 | 1 => {
                        let group = dice.of(&["boom", "bang", "timed out"]);
                        let message = dice.of(&["call timed out", "it crashed"]);
                        vec!["api", "fail", jid, worker, group, message]
                    }
                    2 => vec!["api", "complete", jid, worker, queue, "{}"],
                    3 if dice.below(2) == 0 => vec!["api", "timeout", jid],
                    _ => continue,
                };
                redis.at(at + 5).args(end).ok();
            }
        }
    }
    for _ in 0..5 {
        let jid = format!("j-{}", dice.below(60));
        redis.at(990).args(["api", "track", "track", &jid]).ok();
    }
    redis
}

type Predicate = Box<dyn Fn(&Value) -> bool>;

/// A flag, and its condition on a job's document.
fn flag(dice: &mut Draw) -> (&'static str, &'static str, Predicate) {
    fn is(field: &'static str, value: &'static str) -> Predicate {
        Box::new(move |job| job[field] == value)
    }
    fn starts(field: &'static str, start: &'static str) -> Predicate {
        Box::new(move |job| {
            job[field]
                .as_str()
                .is_some_and(|text| text.starts_with(start))
        })
    }
    /// No worker holds a revoked lock.
    fn held(start: &'static str) -> Predicate {
        Box::new(move |job| {
            let worker = job["worker"].as_str().unwrap_or_default();
            job["state_stored"] == "running" && worker.starts_with(start)
        })
    }
    fn age(matches_job: fn(f64) -> bool) -> Predicate {
        Box::new(move |job| {
            let since: jiff::Timestamp = job["since"].as_str().unwrap().parse().unwrap();
            matches_job(NOW - since.as_millisecond() as f64 / 1e3)
        })
    }
    fn failed(matches_job: fn(&Value) -> bool) -> Predicate {
        Box::new(move |job| job["state"] == "failed" && matches_job(&job["failure"]))
    }
    fn tagged(tag: &'static str) -> Predicate {
        Box::new(move |job| job["tags"].as_array().unwrap().contains(&json!(tag)))
    }
    match dice.below(26) {
        0 => ("--queue", "mail", is("queue", "mail")),
        1 => ("--queue", "mail*", starts("queue", "mail")),
        2 => ("--queue", "im/*", starts("queue", "im/")),
        3 => ("--state", "waiting", is("state", "waiting")),
        4 => ("--state", "failed", is("state", "failed")),
        5 => ("--state", "running", is("state", "running")),
        6 => ("--state", "stalled", is("state", "stalled")),
        7 => (
            "--state",
            "complete,scheduled,depends",
            Box::new(|job| {
                ["complete", "scheduled", "depends"].contains(&job["state"].as_str().unwrap())
            }),
        ),
        8 => (
            "--group",
            "boom",
            failed(|failure| failure["group"] == "boom"),
        ),
        9 => (
            "--group",
            "b?[mn]{g,}*",
            failed(|failure| failure["group"] == "bang"),
        ),
        10 => ("--group", "*", failed(|_| true)),
        11 => (
            "--message",
            "timed? out",
            failed(|failure| failure["message"] == "call timed out"),
        ),
        12 => ("--tag", "eu", tagged("eu")),
        13 => ("--tag", "vip", tagged("vip")),
        14 => ("--klass", "Thumb", is("klass", "Thumb")),
        15 => ("--klass", "Mail::*", starts("klass", "Mail::")),
        16 => ("--held-by", "w-1", held("w-1")),
        17 => ("--held-by", "w-*", held("w-")),
        18 => ("--held-by", "nobody", Box::new(|_| false)),
        19 => ("--older-than", "5m", age(|age| age >= 300.0)),
        20 => ("--newer-than", "500s", age(|age| age < 500.0)),
        21 => (
            "--where",
            "user.id=7",
            Box::new(|job| job["data"]["user"]["id"].as_f64() == Some(7.0)),
        ),
        22 => (
            "--where",
            "items.0.sku=A1",
            Box::new(|job| job["data"]["items"][0]["sku"] == "A1"),
        ),
        23 => (
            "--where",
            "/items=[]",
            Box::new(|job| job["data"]["items"] == json!([])),
        ),
        24 => ("--tracked", "", Box::new(|job| job["tracked"] == true)),
        _ => ("--queue", "nowhere", Box::new(|_| false)),
    }
}

/// Whether a job matches: flags of different kinds narrow, repeats of one kind widen except
/// tags and data.
fn fits(flags: &[(&'static str, &'static str, Predicate)], job: &Value) -> bool {
    flags.iter().all(|(flag, _, matches_job)| match *flag {
        "--tag" | "--where" => matches_job(job),
        kind => flags
            .iter()
            .any(|(other, _, matches_job)| *other == kind && matches_job(job)),
    })
}

#[test]
fn random_selections_list_what_a_filter_over_all_jobs_finds() {
    let parts = if random::soaking() { 12 } else { 1 };
    random::rounds(|seed| (0..parts).for_each(|part| selections_are_exact(seed + part)));
}

fn selections_are_exact(seed: u64) {
    let mut dice = Draw::new(seed);
    let redis = random_jobs(&mut dice);
    let at = redis.at(NOW);
    let all = at.run("jobs --all -o ndjson").ok();
    let all: Vec<Value> = all
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(all.len(), 60);
    for _ in 0..30 {
        let mut flags: Vec<_> = (0..1 + dice.below(3)).map(|_| flag(&mut dice)).collect();
        for once in ["--older-than", "--newer-than", "--message", "--tracked"] {
            let mut met = false;
            flags.retain(|(flag, ..)| *flag != once || !std::mem::replace(&mut met, true));
        }
        let typed: Vec<&str> = flags
            .iter()
            .flat_map(|(flag, value, _)| [*flag, *value])
            .filter(|word| !word.is_empty())
            .collect();
        let fitting = all.iter().filter(|job| fits(&flags, job));
        let wanted: BTreeSet<&str> = fitting.map(|job| job["jid"].as_str().unwrap()).collect();
        let run = |before: &[&'static str], after: &[&'static str]| {
            at.args([before, &typed, after].concat())
        };
        let ran = run(&["jobs"], &["-o", "jid"]);
        if ran.code() != 0 {
            // Flags that exclude each other, or an unknown name.
            let stranger = typed.contains(&"nowhere") || typed.contains(&"nobody");
            let wrong = ran.code() == 2 && wanted.is_empty() || ran.code() == 4 && stranger;
            assert!(wrong, "{typed:?} {} {wanted:?}", ran.stderr());
            continue;
        }
        let (stdout, mut found) = (ran.stdout(), BTreeSet::new());
        for jid in stdout.lines() {
            assert!(found.insert(jid), "{typed:?}: {jid} twice");
        }
        assert_eq!(found, wanted, "{typed:?}");
        let counts = run(&["jobs", "--count"], &["-o", "json"]).json();
        let states = [
            "waiting",
            "running",
            "stalled",
            "scheduled",
            "depends",
            "failed",
            "complete",
        ];
        for state in states {
            let wanted = all
                .iter()
                .filter(|job| job["state"] == state && fits(&flags, job));
            // Queues count due jobs as waiting; here no job is due.
            assert_eq!(counts[state], wanted.count(), "{typed:?} {state}");
        }
        // Actions apply to exactly the listed jobs.
        let acted = run(&["tag", "--add", "t", "--dry-run"], &["-o", "ndjson"]);
        let items = acted.stdout();
        let items = items
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let acted: BTreeSet<String> = items
            .filter_map(|item| Some(item["jid"].as_str()?.to_owned()))
            .collect();
        let wanted: BTreeSet<String> = wanted.into_iter().map(str::to_owned).collect();
        assert_eq!(acted, wanted, "{typed:?}");
    }
    redis.must_be_clean();
}
