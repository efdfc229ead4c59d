//! `qless failed`

use std::collections::BTreeSet;

use expect_test::expect;
use rustix::process::Signal;
use serde_json::json;

use crate::support::jobs::mixed;
use crate::support::proxy::{Cut, proxy_then};
use crate::support::qless::{Qless, Running};
use crate::support::redis::Redis;
use crate::support::text::{Shows, words};
use crate::support::work::until;

fn fails() -> Redis {
    let redis = Redis::start();
    let api = |now: f64, line: &str| redis.ok(now, &format!("api {line}"));
    for (n, queue) in ["mail", "images", "mail"].iter().enumerate() {
        let at = n as f64 * 10.0;
        api(at, &format!("put me {queue} u{n} K {{}} 0"));
        api(at + 1.0, &format!("pop {queue} w 1"));
        api(
            at + 2.0,
            &format!("fail u{n} w 'upload error' 'cannot open {n}\nline two'"),
        );
    }
    api(50.0, "put me test bad K {} 0");
    api(51.0, "pop test w 1");
    api(52.0, r#"fail bad w 'bad payload' 'key "user" missing'"#);
    redis
}

#[test]
fn an_alarm_lists_the_jobs_that_failed_before_and_exits_with_10() {
    // Without the flag, and with an action, the list is no alarm.
    fails().session(expect![[r#"
        200 $ qless failed --older-than 2m -o jid
        bad
        u2
        u1
        u0
        --- exit 10
        200 $ qless failed --older-than 1h
        200 $ qless failed --group 'upload error' &>/dev/null
        200 $ qless failed --all-groups --older-than 2m --retry-all -n &>/dev/null
    "#]]);
}

#[test]
fn a_flag_that_would_have_no_effect_is_refused() {
    // `--existing-queue` is about the queue of `--to`; without it, each job goes to its own queue.
    fails().session(expect![[r#"
        200 $ qless failed --group 'bad payload' --wait-replicas 1
        --- stderr
        error: `--wait-replicas` needs `--retry-all` or `--cancel-all`
        --- exit 2
        200 $ qless failed --existing-queue
        --- stderr
        error: `--retry-all` is missing
        hint: usage: `qless failed --retry-all --to <QUEUE> --existing-queue`
        --- exit 2
        200 $ qless failed --all-groups --cancel-all --existing-queue -n
        --- stderr
        error: `--cancel-all` cannot be used with `--existing-queue`
        hint: usage: `qless failed --all-groups --dry-run <--retry-all|--cancel-all>`
        --- exit 2
        200 $ qless failed --all-groups --retry-all --existing-queue -n
        --- stderr
        error: `--to` is missing
        hint: usage: `qless failed --to <QUEUE> --all-groups --existing-queue --dry-run <--retry-all|--cancel-all>`
        --- exit 2
        200 $ qless retry bad --existing-queue -n
        --- stderr
        error: `--to` is missing
        hint: usage: `qless retry --to <QUEUE> --existing-queue --dry-run <JID>...`
        --- exit 2
        200 $ qless retry bad --to mial --existing-queue -n
        --- stderr
        error: queue `mial` does not exist
        hint: did you mean `mail`?
        --- exit 4
    "#]]);
}

#[test]
fn the_sample_of_a_traceback_is_its_last_line() {
    Redis::start().session(expect![[r#"
        1 $ qless put mail K --jid a &>/dev/null
        2 $ qless pop mail --worker w &>/dev/null
        3 $ printf 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: no to\r\n\n' | qless fail a --worker w --group g --message -
        4 $ qless failed
        g	1	1970-01-01T00:00:03.000Z	mail	ValueError: no to
        4 $ qless jobs --state failed --columns jid,detail
        a	g: ValueError: no to
        4 $ qless wait a
        a	failed	0s
        --- stderr
        error: `a` failed: g: ValueError: no to
        hint: `qless get a` shows the failure
        --- exit 8
    "#]]);
}

#[test]
fn failure_groups_are_listed_largest_first() {
    let redis = fails();
    redis.session(expect![[r#"
        200 $ qless failed --headers always --time-format relative
        GROUP	JOBS	LAST	QUEUES	SAMPLE
        upload error	3	2m ago	images, mail	cannot open 2
        bad payload	1	2m ago	test	key "user" missing
        200 $ qless failed -o json
        {
          "kind": "failed",
          "v": 1,
          "total": 2,
          "offset": 0,
          "items": [
            {
              "group": "upload error",
              "jobs": 3,
              "last": "1970-01-01T00:00:22.000Z",
              "queues": [
                "images",
                "mail"
              ],
              "queues_complete": true,
              "sample": "cannot open 2\nline two"
            },
            {
              "group": "bad payload",
              "jobs": 1,
              "last": "1970-01-01T00:00:52.000Z",
              "queues": [
                "test"
              ],
              "queues_complete": true,
              "sample": "key \"user\" missing"
            }
          ]
        }
        200 $ qless failed --limit 1 --columns group
        upload error
    "#]]);
}

#[test]
fn the_jobs_of_a_group_are_listed_newest_first() {
    fails().session(expect![[r#"
        200 $ qless failed --group 'upload error' -o jid
        u2
        u1
        u0
        200 $ qless failed --group 'upload error' --limit 1 --offset 1 -o jid
        u1
        200 $ qless failed --group 'upload error'
        u2	K	failed	mail	0	5/5	1970-01-01T00:00:22.000Z	upload error: cannot open 2
        u1	K	failed	images	0	5/5	1970-01-01T00:00:12.000Z	upload error: cannot open 1
        u0	K	failed	mail	0	5/5	1970-01-01T00:00:02.000Z	upload error: cannot open 0
        200 $ qless failed --queue mail -o jid
        u2
        u0
        200 $ qless failed --group '*' -o jid
        bad
        u2
        u1
        u0
        200 $ qless failed --group 'upload eror'
        --- stderr
        error: group `upload eror` does not exist
        hint: did you mean `upload error`?
        --- exit 4
        200 $ qless failed --group 'upload eror' --queue mail -o json &>/dev/null
        --- exit 4
        200 $ qless failed --prefix none:
        200 $ qless failed -o json --prefix none: | jq -c
        {"kind":"failed","v":1,"total":0,"offset":0,"items":[]}
    "#]]);
}

#[test]
fn raw_prints_the_reply_of_failed() {
    let redis = fails();
    for (line, call) in [
        ("failed", "failed"),
        (
            "failed --group 'upload error' --offset 1 --limit 1",
            "failed 'upload error' 1 1",
        ),
    ] {
        let raw = redis.ok(200, &format!("{line} -o raw"));
        assert_eq!(raw, redis.ok(200, &format!("api {call}")));
    }
    redis.at(200).run("failed --queue mail -o raw").exits(2);
}

#[test]
fn groups_are_listed_in_three_round_trips_and_few_calls() {
    let redis = fails();
    redis.send(&["CONFIG", "RESETSTAT"]);
    redis.ok(200, "failed -o json");
    assert_eq!(redis.scripts_run(), 1 + 2 + 1);
}

/// Thirty jobs of three queues, failed in two groups.
fn failed_by_the_hundred(count: usize) -> Redis {
    let redis = Redis::start();
    let queue = |n: usize| ["mail", "images", "test"][n % 3];
    let group = |n: usize| ["boom", "upload error"][usize::from(!n.is_multiple_of(10))];
    redis.calls((0..count).map(|n| {
        let jid = format!("j{n:06}");
        let words = ["put", "me", queue(n), &jid, "K", "{}", "0"];
        (n as f64 / 1000.0, words.map(String::from).to_vec())
    }));
    redis.calls((0..3).map(|n| {
        let words = ["pop", queue(n), "w", &count.to_string()];
        (100.0, words.map(String::from).to_vec())
    }));
    redis.calls((0..count).map(|n| {
        let jid = format!("j{n:06}");
        let words = ["fail", &jid, "w", group(n), "503"];
        (200.0 + n as f64 / 1000.0, words.map(String::from).to_vec())
    }));
    redis
}

#[test]
fn retry_all_returns_each_job_to_its_own_queue() {
    failed_by_the_hundred(30).session(expect![[r#"
        300 $ qless failed --group 'upload error' --retry-all
        --- stderr
        error: cannot ask whether to retry 27 failed jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        300 $ qless failed --group 'upload error' --retry-all --dry-run -o jid --limit 3
        j000001
        j000002
        j000003
        --- stderr
        Retry 3 failed jobs on unix://DIR/s

          images	failed	1	1970-01-01T00:03:20.000Z	1970-01-01T00:03:20.000Z
          mail	failed	1	1970-01-01T00:03:20.000Z	1970-01-01T00:03:20.000Z
          test	failed	1	1970-01-01T00:03:20.000Z	1970-01-01T00:03:20.000Z

          each goes back to its own queue with 5 fresh retries
        would retry 3
        300 $ qless failed --group 'upload error' --retry-all --yes
        --- stderr
        27 retried
        301 $ qless queues --columns queue,waiting
        images	9
        mail	9
        test	9
        301 $ qless failed --columns group,jobs
        boom	3
        301 $ qless stats mail -o json | jq -c '[.items[0].failures, .items[0].failed]'
        [10,1]
    "#]]);
}

#[test]
fn many_groups_are_retried_together_in_several_slices() {
    failed_by_the_hundred(900).session(expect![[r#"
        300 $ qless failed --group 'upload error' --retry-all --yes
        --- stderr
        810 retried
        301 $ qless failed --columns group,jobs
        boom	90
        302 $ qless failed --all-groups --retry-all --yes -o json | jq -c
        {"kind":"bulk","v":1,"action":"retry","dry_run":false,"context":null,"matched":90,"done":90,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0,"items":[]}
        --- stderr
        90 retried
        303 $ qless failed
        303 $ qless queues --columns queue,waiting,scheduled
        images	300	0
        mail	300	0
        test	300	0
    "#]]);
    failed_by_the_hundred(30).session(expect![[r#"
        300 $ qless failed --group 'bo*' --group 'upload*' --retry-all --yes --to slow --delay 1h
        --- stderr
        30 retried
        301 $ qless queues --columns queue,waiting,scheduled
        images	0	0
        mail	0	0
        slow	0	30
        test	0	0
    "#]]);
}

#[test]
fn jobs_that_changed_since_they_were_listed_are_skipped() {
    let redis = failed_by_the_hundred(2400);
    let running = retrying(&redis, "ndjson");
    // Jobs of the last slice are cancelled and put again while the first ones are retried.
    running.signal(Signal::STOP);
    redis.calls([
        (301.0, words("cancel j002399")),
        (301.0, words("put me elsewhere j002398 K {} 0")),
    ]);
    running.signal(Signal::CONT);
    let stdout = running.end().exits(0).stdout();
    let skipped = |line: &&str| line.contains(r#""result":"skipped""#);
    let skipped: Vec<&str> = stdout.lines().filter(skipped).collect();
    skipped.join("\n").shows(expect![[r#"
        {"jid":"j002398","result":"skipped","code":"state_changed","detail":"it is no longer failed","queue":"images","state_before":"failed","state_after":null}
        {"jid":"j002399","result":"skipped","code":"gone","detail":"it does not exist","queue":"test","state_before":"failed","state_after":null}"#]]);
    assert_eq!(redis.ok(302, "get j002398 --field queue"), "elsewhere");
    redis.must_be_clean();
}

/// Starts to retry a large group and returns when the first slice is done.
fn retrying(redis: &Redis, format: &str) -> Running {
    let qless = redis.at(300).env("QLESS_TIMEOUT", "2s");
    let line = format!("failed --group 'upload error' --retry-all --yes -o {format}");
    started(redis, &qless, &line)
}

/// Starts a line, and returns as soon as a slice went through.
fn started(redis: &Redis, qless: &Qless, line: &str) -> Running {
    let running = qless.start(line);
    let all = failed(redis);
    until("a slice goes through", || failed(redis) != all);
    running
}

fn failed(redis: &Redis) -> i64 {
    match redis.send(&["LLEN", "ql:f:upload error"]) {
        redis::Value::Int(count) => count,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_action_requires_a_selection_of_jobs() {
    mixed().session(expect![[r#"
        20 $ qless failed --retry-all --yes
        --- stderr
        error: no group is given
        hint: `--group GROUP` names one, `--all-groups` means all
        --- exit 2
        20 $ qless failed --group nope --cancel-all --yes
        --- stderr
        error: group `nope` does not exist
        --- exit 4
        20 $ qless failed --group boom --retry-all --cancel-all &>/dev/null
        --- exit 2
        20 $ qless failed --group boom --all-groups --retry-all &>/dev/null
        --- exit 2
        20 $ qless failed --all-groups &>/dev/null
        --- exit 2
        20 $ qless failed --group boom --to q
        --- stderr
        error: `--retry-all` is missing
        hint: usage: `qless failed --retry-all --group <G> --to <QUEUE>`
        --- exit 2
        20 $ qless failed --group boom --retry-all -o raw --yes &>/dev/null
        --- exit 2
        20 $ qless failed --group 'n*' --cancel-all --yes
        --- stderr
        no jobs to cancel
        20 $ qless failed --group 'n*' --cancel-all --yes --require-match
        --- stderr
        error: there are no jobs to cancel
        --- exit 4
        20 $ qless failed --group boom --older-than 1h --retry-all --yes
        --- stderr
        no jobs to retry
        20 $ qless failed --group boom --older-than 0s --queue images --retry-all --to slow --delay 1m --spread 1m --yes
        --- stderr
        1 retried
        20 $ qless failed --all-groups --cancel-all --to slow
        --- stderr
        error: `--cancel-all` cannot be used with `--to`
        hint: usage: `qless failed --all-groups <--retry-all|--cancel-all>`
        --- exit 2
        20 $ qless failed --all-groups --cancel-all
        --- stderr
        error: cannot ask whether to cancel 1 failed job on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        20 $ qless failed --all-groups --cancel-all --dry-run
        f1
        --- stderr
        Cancel 1 failed job on unix://DIR/s

          mail	failed	1	1970-01-01T00:00:07.000Z	1970-01-01T00:00:07.000Z
        would cancel 1
        20 $ qless failed --all-groups --cancel-all --yes
        f1
        --- stderr
        1 cancelled
        21 $ qless failed
    "#]]);
}

#[test]
fn an_interrupted_action_finishes_its_slice_and_reports_the_rest() {
    for (limit, all) in [("", 1080), (" --limit 1000", 1000)] {
        let redis = failed_by_the_hundred(1200);
        // A tenth of a second for each slice.
        let line = "failed --group 'upload error' --retry-all --yes --rate 2000/s";
        let running = started(&redis, &redis.at(300), &format!("{line}{limit} -o json"));
        // The signal arrives in the middle of a call.
        redis.freeze();
        running.signal(Signal::INT);
        redis.thaw();
        let ran = running.end().exits(130);
        let document: serde_json::Value = serde_json::from_slice(ran.bytes()).unwrap();
        let count = |field: &str| document[field].as_i64().unwrap();
        let (done, remaining) = (count("done"), count("remaining"));
        assert_eq!(done + remaining, all);
        assert_eq!(done % 200, 0);
        assert_eq!(failed(&redis), 1080 - done);
        assert_eq!(count("failed"), 0);
        ran.says(&format!("interrupted after {done} of {all}"));
        if limit.is_empty() {
            ran.says("run the same command again");
        } else {
            let hint = format!("`qless {line} --limit {remaining} ");
            ran.says(&format!("ask for the {remaining} that are left: {hint}"));
        }
        redis.must_be_clean();
    }
}

#[test]
fn with_a_limit_and_none_left_untried_the_hint_is_to_look() {
    let look = (1..20).find_map(|request| {
        let redis = failed_by_the_hundred(20);
        let server = redis::Client::open(redis.url()).unwrap();
        let ends = move || {
            let stop = redis::cmd("SHUTDOWN").arg("NOSAVE").clone();
            _ = stop.query::<()>(&mut server.get_connection().unwrap());
        };
        let port = proxy_then(redis.socket(), Cut::After(request), ends);
        let url = format!("redis://127.0.0.1:{port}");
        let qless = redis.at(300).env("QLESS_REDIS_URL", url);
        let line = "--timeout 1s failed --group 'upload error' --retry-all --yes --limit 5";
        let stderr = qless.run(line).stderr();
        stderr.contains("hint: look which of").then_some(stderr)
    });
    let hint = "hint: look which of these jobs have changed: the same command would take further jobs, since \
        `--limit` counts from 0 again\n";
    assert!(look.is_some_and(|stderr| stderr.ends_with(hint)));
}

#[test]
fn a_lost_server_leaves_the_rest_untried() {
    let mut redis = failed_by_the_hundred(2400);
    let running = retrying(&redis, "json");
    redis.kill();
    let ran = running.end().exits(6);
    let document: serde_json::Value = serde_json::from_slice(ran.bytes()).unwrap();
    let count = |field: &str| document[field].as_i64().unwrap();
    assert_eq!(count("failed"), 200);
    assert_eq!(count("done") + count("failed") + count("remaining"), 2160);
    let codes = document["items"].as_array().unwrap().iter();
    let codes: BTreeSet<&str> = codes.map(|item| item["code"].as_str().unwrap()).collect();
    assert!(codes == BTreeSet::from(["unknown"]) || codes == BTreeSet::from(["server"]));
}

#[test]
fn entries_that_do_not_belong_in_the_list_are_skipped_and_named() {
    let redis = mixed();
    redis.send(&["RPUSH", "ql:f:boom", "gh\u{1b}ost", "w", "r"]);
    redis.send(&["SADD", "ql:failures", "bang"]);
    redis.send(&["LPUSH", "ql:f:bang", "f1"]);
    redis.session(expect![[r#"
        20 $ qless failed --group 'b*' --retry-all --yes -o ndjson
        {"jid":"r","result":"skipped","code":"state_changed","detail":"in the list of `boom`, but it is running","queue":"mail","state_before":"running","state_after":null}
        {"jid":"w","result":"skipped","code":"state_changed","detail":"in the list of `boom`, but it is waiting","queue":"mail","state_before":"waiting","state_after":null}
        {"jid":"gh\u001bost","result":"skipped","code":"gone","detail":"in the list of `boom`, but it does not exist","queue":null,"state_before":null,"state_after":null}
        {"jid":"f1","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"failed","state_after":"waiting"}
        {"jid":"f2","result":"done","code":"ok","detail":null,"queue":"images","state_before":"failed","state_after":"waiting"}
        {"summary":{"action":"retry","dry_run":false,"context":null,"matched":5,"done":2,"skipped":3,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        note: in the list of `boom`, but it is running: `r`
        note: in the list of `boom`, but it is waiting: `w`
        note: in the list of `boom`, but it does not exist: `gh\x1bost`
        2 retried, 3 skipped
          skipped  1  gone: gh\x1bost
                   1  in the list of `boom`, but it is running: r
                   1  in the list of `boom`, but it is waiting: w
        21 $ qless failed --group boom --retry-all --yes &>/dev/null
        22 $ qless failed --group bang --cancel-all --yes
        --- stderr
        note: in the list of `bang`, but it is waiting: `f1`
        0 cancelled, 1 skipped
          skipped  1  in the list of `bang`, but it is waiting: f1
    "#]]);
    // Entries damaged by hand are left alone.
    redis.must_report(expect![[r#"
        failed-stray f1 found [bang]
        failed-stray ghost found [boom]
        failed-stray r found [boom]
        failed-stray w found [boom]
        I-08: `f1` is waiting in ["bang"]
        I-08: `r` is running in ["boom"]
        I-08: `w` is waiting in ["boom"]
        I-08: `ghost` is gone and in ["boom"]
    "#]]);
}

#[test]
fn the_queues_of_a_group_are_those_of_its_newest_and_oldest_jobs() {
    let redis = Redis::start();
    let queue = |at: usize| match at {
        0 => "first",
        100 => "middle",
        200 => "last",
        _ => "mail",
    };
    let line = |at: usize| json!({"queue": queue(at), "klass": "K", "jid": format!("j{at:03}")});
    let lines: String = (0..201).map(|at| format!("{}\n", line(at))).collect();
    redis.at(100).input(&lines).run("put --from -").ok();
    let fail = |queue: &str, count: usize| {
        let jids = redis.ok(110, &format!("pop {queue} --count {count} -o jid"));
        let fail = redis.at(120).input(jids);
        fail.run("fail - --group boom --message no --yes -q").ok();
    };
    fail("first", 1);
    fail("mail", 99);
    redis.session(expect![[r#"
        130 $ qless failed
        boom	100	1970-01-01T00:02:00.000Z	first, mail	no
    "#]]);
    fail("middle", 1);
    fail("mail", 99);
    fail("last", 1);
    // 100 + 1 + 100: only the queue of the one between is unknown.
    redis.session(expect![[r#"
        130 $ qless failed
        boom	201	1970-01-01T00:02:00.000Z	first, last, mail, …	no
        130 $ qless failed -o json | jq -c '[.items[0].queues, .items[0].queues_complete]'
        [["first","last","mail"],false]
        140 $ qless cancel j000 --yes &>/dev/null
        150 $ qless failed -o json | jq -c '[.items[0].queues, .items[0].queues_complete]'
        [["last","mail","middle"],true]
    "#]]);
}

/// What `cancel` takes for these jobs, and its hints name.
#[test]
fn the_jobs_that_are_cancelled_can_be_saved_and_their_dependents_cancelled() {
    let redis = fails();
    redis.session(expect![[r#"
        60 $ qless put test K --jid later --depends bad &>/dev/null
        61 $ qless failed --group 'bad payload' --cancel-all --yes
        --- stderr
        0 cancelled, 1 failed
          failed   1  `later` waits for it: bad
        --- exit 5
        61 $ qless failed --group 'bad payload' --cancel-all --yes --dependents cancel --save DIR/saved
        later
        bad
        --- stderr
        2 cancelled
        61 $ qless failed --save x
        --- stderr
        error: `--cancel-all` is missing
        hint: usage: `qless failed --cancel-all --save <FILE>`
        --- exit 2
        61 $ qless failed --group 'upload error' --retry-all --save x
        --- stderr
        error: `--retry-all` cannot be used with `--save`
        hint: usage: `qless failed --group <G> --retry-all`
        --- exit 2
    "#]]);
    let saved = std::fs::read_to_string(redis.socket().with_file_name("saved")).unwrap();
    assert_eq!(saved.lines().count(), 3, "{saved}");
}

#[test]
fn a_list_of_jobs_says_on_a_terminal_where_the_groups_are() {
    let redis = fails();
    let listed = |line: &str| redis.on_terminal(4000, line);
    let hint = "hint: `qless failed` without a selector lists the groups\n";
    assert!(listed("failed --older-than 1h").ends_with(hint));
    assert!(!listed("failed --group upload*").contains(hint));
}

/// An import adds failures to a list in the order of its file.
#[test]
fn the_last_failure_of_a_group_is_the_newest_in_whatever_order_it_was_imported() {
    let redis = fails();
    let export = redis.ok(100, "export --all");
    let (head, jobs) = export.split_once('\n').unwrap();
    let mut jobs: Vec<&str> = jobs.lines().collect();
    for _ in 0..2 {
        jobs.reverse();
        let other = redis
            .at(200)
            .input(format!("{head}\n{}\n", jobs.join("\n")));
        other.run("--prefix other: import - --replace --yes").ok();
        let groups = redis.ok(
            201,
            "--prefix other: failed --columns GROUP,LAST --sort GROUP",
        );
        let was = redis.ok(201, "failed --columns GROUP,LAST --sort GROUP");
        assert_eq!(groups, was);
    }
    // The jobs have the age of their failure, by which `--older-than` selects.
    let ages = redis
        .at(232)
        .run("--prefix other: failed --older-than 3m --columns JID,AGE --time-format relative --sort JID")
        .exits(10)
        .stdout();
    assert_eq!(ages, "bad\t3m\nu0\t3m 50s\nu1\t3m 40s\nu2\t3m 30s\n");
}
