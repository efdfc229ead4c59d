//! `qless import`

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;
use crate::support::terminal::Terminal;
use crate::support::text::Shows;

const HEAD: &str =
    r#"{"kind":"export","v":1,"at":"1970-01-01T00:00:10.000Z","prefix":"ql:","jobs":null}"#;

/// A line of a job, with more members.
fn job(jid: &str, more: &str) -> String {
    let more = if more.contains("\"state\"") {
        more.to_string()
    } else {
        format!(",\"state\":\"waiting\"{more}")
    };
    format!(r#"{{"kind":"job","v":1,"jid":"{jid}","klass":"K","queue":"q","data":{{}}{more}}}"#)
}

fn file(lines: &[String]) -> String {
    let mut text = HEAD.to_string() + "\n";
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Imports lines at the moment 100.
fn import(redis: &Redis, lines: &[String], flags: &str) -> RunOutput {
    let text = file(lines);
    redis.at(100).input(text).run(&format!("import - {flags}"))
}

fn jids(redis: &Redis, selector: &str) -> String {
    let jids = redis.ok(100, &format!("jobs {selector} -o jid"));
    jids.replace('\n', " ")
}

fn to(redis: &Redis) -> Qless {
    redis.at(100)
}

/// A directory and a file in it.
fn place(name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    (dir, path)
}

#[test]
fn each_job_is_imported_unchanged() {
    let from = Redis::start();
    from.at(1).run("put mail K --jid done").ok();
    from.at(2).run("pop mail --worker w").ok();
    from.at(3).run("complete done --worker w").ok();
    from.at(4).run("put mail K --jid bad --retries 3").ok();
    from.at(5).run("pop mail --worker w").ok();
    from.at(6)
        .run("fail bad --worker w --group 'upload error' --message 'no\nway'")
        .ok();
    from.at(7)
        .run("put mail Mail::Welcome --arg user:=9007199254740993 --arg l:=[] --jid first --tag eu --tag new --priority 3 --retries 2")
        .ok();
    from.at(7).run("track first").ok();
    from.at(7.25)
        .run("put mail K --jid last --delay 1h --depends bad")
        .ok();
    from.at(8.5).run("put mail K --jid later --delay 1h").ok();
    from.at(8).run("put img K --jid held").ok();
    from.at(9).run("pop img --worker w2").ok();
    from.at(10).run("recur put img Thumb --jid nightly --every 1d --at 1970-01-02T06:00:00Z --tag eu --priority 4").ok();
    let (_dir, path) = place("all");
    from.at(20)
        .run(&format!(
            "export --all --with recur --file {}",
            path.display()
        ))
        .ok();
    let redis = Redis::start();
    to(&redis)
        .run(&format!("import {} --yes", path.display()))
        .shows(expect![[r#"
            --- stderr
            6 imported, 1 skipped
              skipped  1  complete: done
        "#]]);
    let printed = redis.ok(100, "export --all --with recur");
    let before = std::fs::read_to_string(&path).unwrap();
    difference(&before, &printed).shows(expect![[r#"
        "held" state "running" -> "waiting"
        "held" state_stored "running" -> "waiting"
        "held" worker "w2" -> null
        "held" expires "1970-01-01T00:01:09.000Z" -> null
        "held" since "1970-01-01T00:00:09.000Z" -> "1970-01-01T00:01:40.000Z"
        "held" history + [{"what":"put","when":"1970-01-01T00:01:40.000Z","queue":"img"}]
        "first" since "1970-01-01T00:00:07.000Z" -> "1970-01-01T00:01:40.000Z"
        "first" history + [{"what":"put","when":"1970-01-01T00:01:40.000Z","queue":"mail"}]
        "later" since "1970-01-01T00:00:08.000Z" -> "1970-01-01T00:01:40.000Z"
        "later" history + [{"what":"put","when":"1970-01-01T00:01:40.000Z","queue":"mail"}]
        "last" since "1970-01-01T00:00:07.000Z" -> "1970-01-01T00:01:40.000Z"
        "last" history + [{"what":"put","when":"1970-01-01T00:01:40.000Z","queue":"mail"}]
        "bad" since "1970-01-01T00:00:06.000Z" -> "1970-01-01T00:01:40.000Z"
        "bad" history + [{"what":"put","when":"1970-01-01T00:01:40.000Z","queue":"mail"}]
        "done" is not there
    "#]]);
    // The count continues from there.
    let popped = redis.ok(200, "pop mail --worker w -o jid");
    assert_eq!(popped, "first");
    redis.ok(201, "retry bad");
    redis.ok(202, "pop mail --worker w -o jid");
    redis.ok(203, "complete bad --worker w");
    assert_eq!(jids(&redis, "--state scheduled"), "last later");
}

/// The differences between two exports, job by job.
fn difference(before: &str, after: &str) -> String {
    let lines = |text: &str| -> Vec<Value> {
        text.lines()
            .skip(1)
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let (before, after) = (lines(before), lines(after));
    let mut printed = String::new();
    for line in &before {
        let Some(now) = after.iter().find(|other| other["jid"] == line["jid"]) else {
            printed.push_str(&format!("{} is not there\n", line["jid"]));
            continue;
        };
        for (name, old) in line.as_object().unwrap() {
            let new = &now[name];
            if name == "history" {
                let (old, new) = (old.as_array().unwrap(), new.as_array().unwrap());
                assert_eq!(old[..], new[..old.len()]);
                let more = serde_json::to_string(&new[old.len()..]).unwrap();
                printed.push_str(&format!("{} history + {more}\n", line["jid"]));
            } else if old != new {
                printed.push_str(&format!("{} {name} {old} -> {new}\n", line["jid"]));
            }
        }
    }
    printed
}

#[test]
fn names_and_data_of_all_kinds_are_imported() {
    let redis = Redis::start();
    let lines: Vec<String> = [
        r#""jid_bytes":"av8g","queue_bytes":"cf4=","klass":"K\u202e\u0000","tags":["\u001b[31m"],"data":1"#,
        r#""klass":"","data":null,"data_bytes":"TmFO","priority":-1.5,"retries":0,"remaining":-1"#,
        r#""klass":"K","data":{"b":[],"a":9007199254740993,"n":1.10},"history":[{"what":"\u001b","when":"1970-01-01T00:00:01.000Z"}]"#,
        r#""klass":"K","data": [ 1,  2 ],"history_bytes":["WzEsInB1dCIseyJxIjoiXHUwMDFiIn1d"]"#,
    ]
    .iter()
    .enumerate()
    .map(|(at, more)| {
        format!(r#"{{"kind":"job","v":1,"jid":"j {at}","queue":"q","state":"waiting",{more}}}"#)
    })
    .collect();
    import(&redis, &lines, "--yes").shows(expect![[r#"
        --- stderr
        4 imported
    "#]]);
    let printed = redis.ok(100, "export --all");
    let mut printed: Vec<String> = printed
        .lines()
        .skip(1)
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let of = |names: &[&str]| {
                let values: Vec<String> = names
                    .iter()
                    .filter_map(|name| Some(line.get(name)?.to_string()))
                    .collect();
                values.join(" ").replace('\u{202e}', "RLO")
            };
            of(&[
                "jid",
                "jid_bytes",
                "queue_bytes",
                "klass",
                "tags",
                "data",
                "data_bytes",
                "priority",
                "retries",
                "remaining",
                "history_bytes",
            ]) + "\n"
        })
        .collect();
    printed.sort();
    printed.concat().shows(expect![[r#"
        "j 1" "" [] null "TmFO" -1.5 0 -1
        "j 2" "K" [] {"b":[],"a":9007199254740993,"n":1.1} 0 5 5
        "j 3" "K" [] [1,2] 0 5 5
        "j\\xff " "av8g" "cf4=" "KRLO\u0000" ["\u001b[31m"] 1 0 5 5 ["WzEwMCwicHV0Iix7InEiOiJx/iJ9XQ=="]
    "#]]);
    for at in 0..4 {
        let data = redis.send(&["HGET", &format!("ql:j:j {at}"), "data"]);
        let wanted = [
            "",
            "NaN",
            r#"{"b":[],"a":9007199254740993,"n":1.10}"#,
            "[ 1,  2 ]",
        ][at];
        if at > 0 {
            assert_eq!(data, redis::Value::BulkString(wanted.into()));
        }
    }
}

#[test]
fn dependents_are_imported_after_their_dependencies() {
    let redis = Redis::start();
    // `d` depends on two later lines, `a` on a job that was complete.
    let lines = [
        job("d", r#","state":"depends","dependencies":["b","c"]"#),
        job("c", r#","state":"depends","dependencies":["b"]"#),
        job("z", ""),
        job("b", ""),
        job("a", r#","state":"depends","dependencies":["done"]"#),
        job("done", r#","state":"complete""#),
    ];
    import(&redis, &lines, "--yes -o ndjson").shows(expect![[r#"
        {"jid":"done","result":"skipped","code":"complete","detail":"it is complete","queue":null,"state_before":null,"state_after":null,"line":7}
        {"jid":"z","result":"done","code":"ok","detail":null,"queue":"q","state_before":"waiting","state_after":"waiting","line":4}
        {"jid":"b","result":"done","code":"ok","detail":null,"queue":"q","state_before":"waiting","state_after":"waiting","line":5}
        {"jid":"c","result":"done","code":"ok","detail":null,"queue":"q","state_before":"depends","state_after":"depends","line":3}
        {"jid":"d","result":"done","code":"ok","detail":null,"queue":"q","state_before":"depends","state_after":"depends","line":2}
        {"jid":"a","result":"done","code":"ok","detail":null,"queue":"q","state_before":"depends","state_after":"waiting","line":6}
        {"summary":{"action":"import","dry_run":false,"context":null,"matched":6,"done":5,"skipped":1,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        5 imported, 1 skipped
          skipped  1  complete: done
    "#]]);
    assert_eq!(jids(&redis, "--state waiting"), "z b a");
    assert_eq!(jids(&redis, "--state depends"), "c d");
    let waits = redis.json(100, "get d -o json");
    assert_eq!(waits["dependencies"], serde_json::json!(["b", "c"]));
}

#[test]
fn a_job_with_a_missing_dependency_is_refused() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid here");
    let before = redis.dump();
    let lines = [
        job("a", r#","state":"depends","dependencies":["gone"]"#),
        job("b", r#","state":"depends","dependencies":["here","lost"]"#),
        job("c", r#","state":"depends","dependencies":["bad"]"#),
        job(
            "bad",
            r#","state":"failed","failure":{"group":"g","when":"1970-01-01T00:00:01.000Z"}"#,
        ),
    ];
    import(&redis, &lines, "--yes --failed skip").shows(expect![[r#"
        --- stderr
        error: `a` waits for `gone`, which is neither in stdin nor on the server, and 2 more like this
        hint: `--allow-missing` lets such jobs run without them
        --- exit 4
    "#]]);
    assert!(redis.dump() == before);
    import(&redis, &lines, "--yes --failed skip --allow-missing").shows(expect![[r#"
        --- stderr
        3 imported, 1 skipped
          skipped  1  it has failed, as `--failed skip` says: bad
    "#]]);
    assert_eq!(jids(&redis, "--state waiting"), "here a c");
    assert_eq!(jids(&redis, "--state depends"), "b");
}

#[test]
fn an_import_with_a_dependency_cycle_is_refused() {
    let redis = Redis::start();
    let lines = [
        job("x", r#","state":"depends","dependencies":["a"]"#),
        job("a", r#","state":"depends","dependencies":["b"]"#),
        job("b", r#","state":"depends","dependencies":["c"]"#),
        job("c", r#","state":"depends","dependencies":["a"]"#),
    ];
    import(&redis, &lines, "--yes").shows(expect![[r#"
        --- stderr
        error: jobs of stdin depend on each other: `a` (line 3) depends on `b` (line 4) depends on `c` (line 5) depends on `a` (line 3)
        hint: remove one of them from the `dependencies` of another
        --- exit 5
    "#]]);
    import(&redis, &lines[..0], "--yes").shows(expect![[r#"
        --- stderr
        no jobs to import
    "#]]);
    assert!(redis.dump().is_empty());
    // The core itself verifies dependencies on existing jobs.
    redis.ok(1, "put q K --jid c");
    redis.ok(1, "put q K --jid y --depends c");
    let lines = [job("c", r#","state":"depends","dependencies":["y"]"#)];
    import(&redis, &lines, "--yes --replace").shows(expect![[r#"
        --- stderr
        0 imported, 1 failed
          failed   1  it would wait for itself: c → y → c: c
        --- exit 5
    "#]]);
}

#[test]
fn failed_jobs_are_imported_as_requested() {
    let failed = [
        job(
            "bad",
            r#","state":"failed","retries":5,"remaining":-1,"failure":{"group":"g","message":"m\n","worker":"w","when":"1970-01-01T00:00:01.000Z"}"#,
        ),
        job("ok", ""),
    ];
    for (flags, printed) in [
        ("", "failed -1"),
        ("--failed waiting", "waiting 5"),
        ("--failed skip", ""),
    ] {
        let redis = Redis::start();
        import(&redis, &failed, &format!("--yes {flags}")).ok();
        let found = redis.ok(100, "jobs --all -o ndjson");
        let found = found
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .find(|line| line["jid"] == "bad");
        let found = found.map_or(String::new(), |job| {
            format!("{} {}", job["state"].as_str().unwrap(), job["remaining"])
        });
        assert_eq!(found, printed, "{flags}");
    }
    let redis = Redis::start();
    import(&redis, &failed, "--yes").ok();
    redis.at(100).run("failed").shows(expect![[r#"
        g	1	1970-01-01T00:00:01.000Z	q	m
    "#]]);
    let groupless = [job("bad", r#","state":"failed","failure":null"#)];
    import(&redis, &groupless, "--yes").shows(expect![[r#"
        --- stderr
        error: stdin, line 2, column 94: `bad` has failed, but has no `failure` with a group; `--failed waiting` and `--failed skip` do not need one
        --- exit 2
    "#]]);
    import(&redis, &groupless, "--yes --failed waiting --replace").ok();
    import(&redis, &failed, "--yes --failed maybe").exits(2);
}

#[test]
fn existing_jobs_are_not_overwritten() {
    let redis = Redis::start();
    redis.ok(1, "put mine K --jid a");
    let before = redis.dump();
    let lines: Vec<String> = ["a", "b"].iter().map(|jid| job(jid, "")).collect();
    import(&redis, &lines, "--yes").shows(expect![[r#"
        --- stderr
        error: `a` exists already; nothing was changed
        hint: `--if-absent` leaves them as they are and imports the rest, `--replace` puts them again
        --- exit 5
    "#]]);
    assert!(redis.dump() == before);
    import(&redis, &lines, "--if-absent --dry-run").shows(expect![[r#"
        --- stderr
        Import 2 jobs on unix://DIR/s

          q	2

          leave what is there already: 1 job
        would import 1, 1 skipped
          skipped  1  it exists already: a
    "#]]);
    import(&redis, &lines, "--if-absent --yes -o json").shows(expect![[r#"
        {
          "kind": "bulk",
          "v": 1,
          "action": "import",
          "dry_run": false,
          "context": null,
          "matched": 2,
          "done": 1,
          "skipped": 1,
          "failed": 0,
          "remaining": 0,
          "elapsed_s": 0,
          "items": [
            {
              "jid": "a",
              "result": "skipped",
              "code": "exists",
              "detail": "it exists already",
              "queue": "q",
              "state_before": "waiting",
              "state_after": null,
              "line": 2
            }
          ]
        }
        --- stderr
        1 imported, 1 skipped
          skipped  1  it exists already: a
    "#]]);
    import(&redis, &lines, "--if-absent --yes").shows(expect![[r#"
        --- stderr
        0 imported, 2 skipped
          skipped  2  it exists already: a, b
    "#]]);
    assert_eq!(jids(&redis, "--queue mine"), "a");
    redis.ok(99, "pop mine --worker w");
    import(&redis, &lines, "--replace --yes").shows(expect![[r#"
        --- stderr
        2 imported
    "#]]);
    assert_eq!(jids(&redis, "--queue q"), "a b");
    import(&redis, &lines, "--replace --if-absent --yes").exits(2);
    let many: Vec<String> = (0..5).map(|at| job(&format!("m{at}"), "")).collect();
    import(&redis, &many, "--yes").ok();
    import(&redis, &many, "--yes -o json").shows(expect![[r#"
        --- stderr
        {"kind":"error","v":1,"code":"conflict","exit":5,"message":"5 jobs exist already: `m0`, `m1`, `m2` and 2 more; nothing was changed","hint":"`--if-absent` leaves them as they are and imports the rest, `--replace` puts them again","jid":null}
        --- exit 5
    "#]]);
}

#[test]
fn queues_can_be_renamed_by_an_import() {
    let redis = Redis::start();
    let lines = [
        job("a", ""),
        job("b", "").replace("\"q\"", "\"other\""),
        r#"{"kind":"recurring","v":1,"jid":"r","klass":"K","queue":"q","every_s":60,"data":{}}"#.into(),
        r#"{"kind":"config","v":1,"items":[{"key":"q-heartbeat","value":"90"},{"key":"heartbeat","value":"5m"}]}"#.into(),
        r#"{"kind":"paused","v":1,"queue":"q","reason":"why","by":"ann@h"}"#.into(),
    ];
    let flags = "--map-queue q=q=2 --map-queue other=q=2 --yes";
    import(&redis, &lines, flags).shows(expect![[r#"
        --- stderr
        3 imported
    "#]]);
    redis.session(expect![[r#"
        100 $ qless queues
        q=2	2	0	0	0	0	1	0s	paused since 1970-01-01T00:01:40.000Z (why)
        100 $ qless config list --columns key,value
        backoff-factor	3
        backoff-initial-delay	0
        grace-period	10
        heartbeat	300
        jobs-failed-history	–
        jobs-history	604800
        jobs-history-count	50000
        max-job-history	100
        max-pop-scan	1000
        max-worker-age	86400
        merge-max	1000
        q=2-heartbeat	90
    "#]]);
    let fresh = Redis::start();
    import(&fresh, &lines, "--map-queue p=x --yes").shows(expect![[r#"
        --- stderr
        error: `--map-queue` names `p`, but nothing in stdin is in that queue
        --- exit 2
    "#]]);
    import(&fresh, &lines, "--map-queue q=x --map-queue q=y --yes").exits(2);
    for nonsense in ["q", "=x", "q=", ""] {
        import(&fresh, &lines, &format!("--yes --map-queue '{nonsense}'")).exits(2);
    }
    assert!(fresh.dump().is_empty());
}

#[test]
fn held_jobs_do_not_run() {
    let redis = Redis::start();
    redis.ok(1, "put other K --jid x");
    redis.ok(1, "pause other --reason mine");
    let lines = [job("a", ""), job("b", "").replace("\"q\"", "\"other\"")];
    import(&redis, &lines, "--hold --dry-run").shows(expect![[r#"
        --- stderr
        Import 2 jobs on unix://DIR/s

          other	1
          q	1

          hold q
        would import 2
    "#]]);
    import(&redis, &lines, "--hold --yes").shows(expect![[r#"
        --- stderr
        2 imported
    "#]]);
    redis.at(100).run("pop q --worker w").exits(4);
    let queues = redis.json(100, "queues -o json");
    let reasons: Vec<&Value> = queues["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|queue| &queue["paused_reason"])
        .collect();
    assert_eq!(
        serde_json::to_string(&reasons).unwrap(),
        r#"["mine","qless import --hold"]"#
    );
}

#[test]
fn options_pauses_and_recurring_jobs_are_imported() {
    let from = Redis::start();
    for (now, line) in [
        (1, "config set heartbeat 90 mail-max-concurrency 2"),
        (1, "config set mine 1 --force"),
        (2, "recur put mail K --jid r --every 5m --backlog 2"),
        (3, "pause mail --until 1970-01-01T05:00:00Z --reason why"),
        (3, "put gone K --jid x"),
        (3, "pause gone --until 1970-01-01T00:01:00Z"),
    ] {
        from.ok(now, line);
    }
    let text = from
        .at(10)
        .run("export --all --with config,recur,paused")
        .ok();
    let redis = Redis::start();
    redis.ok(20, "config set heartbeat 30");
    let import = |flags: &str| to(&redis).input(&text).run(&format!("import - {flags}"));
    import("--dry-run").shows(expect![[r#"
        --- stderr
        Import 1 job and 1 recurring job on unix://DIR/s

          gone	1

          make 1 recurring job
          pause mail
          set ~ heartbeat: 30 -> 90
          set + mail-max-concurrency: 2
          set + mine: 1
        would import 2
    "#]]);
    import("--yes").shows(expect![[r#"
        --- stderr
        2 imported
    "#]]);
    redis.session(expect![[r#"
        100 $ qless queues mail
        mail	0	0	0	0	0	1	–	paused since 1970-01-01T00:01:40.000Z, ends 1970-01-01T05:00:00.000Z (why)
        100 $ qless recur list
        r	mail	K	5m	1970-01-01T00:00:02.000Z	0	2	1
        100 $ qless config dump
        {
          "heartbeat": "90",
          "mail-max-concurrency": "2",
          "mine": "1"
        }
    "#]]);
    // A second import keeps existing entries.
    redis.ok(100, "config set heartbeat 31");
    redis.ok(100, "recur set r --every 1h");
    import("--yes").exits(5);
    import("--yes --if-absent").shows(expect![[r#"
        --- stderr
        0 imported, 2 skipped
          skipped  2  it exists already: x, r
    "#]]);
    redis.at(100).run("config get heartbeat").shows(expect![[r#"
            31
        "#]]);
    import("--yes --replace").ok();
    redis.session(expect![[r#"
        100 $ qless recur list --columns every
        5m
    "#]]);
}

#[test]
fn maxima_of_throttles_are_imported() {
    let from = Redis::start();
    from.at(1).run("throttle set api 1").ok();
    for (now, jid) in [(2, "a"), (3, "b")] {
        let line = format!("put mail K --jid {jid} --throttle api");
        from.at(now).run(&line).ok();
    }
    let text = from.at(10).run("export --all --with throttles").ok() + "\n";
    let limit = |id: &str, maximum: i64, expires: &str| {
        format!(r#"{{"kind":"limit","v":1,"id":"{id}","maximum":{maximum},"expires":{expires}}}"#)
            + "\n"
    };
    assert!(text.ends_with(&limit("api", 1, "null")), "{text}");
    // The maximum of `past` has ended.
    let text = text
        + &limit("db", -1, "\"1970-01-01T00:10:00Z\"")
        + &limit("past", 3, "\"1970-01-01T00:01:00Z\"");
    let redis = Redis::start();
    redis.ok(90, "throttle set db 5");
    let import = |flags: &str| to(&redis).input(&text).run(&format!("import - {flags}"));
    import("--dry-run").shows(expect![[r#"
        --- stderr
        Import 2 jobs on unix://DIR/s

          mail	2

          set + throttle api: 1
          set ~ throttle db: 5 -> -1, until 1970-01-01T00:10:00.000Z
        would import 2
    "#]]);
    import("--yes").shows(expect![[r#"
        --- stderr
        2 imported
    "#]]);
    let ttl = redis.send(&["PTTL", "ql:th:db"]);
    assert!(
        matches!(ttl, redis::Value::Int(490_000..=500_000)),
        "{ttl:?}"
    );
    redis.session(expect![[r#"
        101 $ qless throttle list --columns throttle,maximum
        api	1
        db	none may run
    "#]]);
    let popped = redis.at(102).run("pop mail --count 5 --worker w -o jid");
    assert_eq!(popped.ok(), "a");
    // Present maxima are kept with `--if-absent`.
    redis.ok(103, "throttle set api 7");
    import("--yes --if-absent").ok();
    let shown = redis.json(104, "throttle show api -o json");
    assert_eq!(shown["maximum"], 7);
    import("--yes --replace").ok();
    let shown = redis.json(104, "throttle show api -o json");
    assert_eq!(shown["maximum"], 1);
}

#[test]
fn recurring_jobs_continue_to_count() {
    let from = Redis::start();
    for jid in ["live", "paused"] {
        let line = format!("recur put {jid} K --every 1h --jid {jid}");
        from.at(10).run(&line).ok();
        let line = format!("pop {jid} --worker w -o jid");
        assert_eq!(from.at(11).run(&line).ok(), format!("{jid}-1"));
    }
    from.at(12).run("recur pause paused --yes").ok();
    let text = from.at(13).run("export --all --with recur").ok();
    let redis = Redis::start();
    let import = |flags: &str| {
        let flags = format!("import - --yes -v {flags}");
        let ran = redis.at(100).input(&text).run(&flags).exits(0);
        // One call puts a recurring job with its count: a crash leaves both or none.
        assert_eq!(
            ran.stderr().matches("guard.recur").count(),
            2,
            "{}",
            ran.stderr()
        );
        assert!(!ran.stderr().contains("check.revert"), "{}", ran.stderr());
    };
    let clean = || redis.ok(100, "check --fail-on info");
    let count = |jid: &str| {
        let template = redis.at(100).run(&format!("recur get {jid} -o json"));
        template.json()["count"].clone()
    };
    import("");
    clean();
    assert_eq!((count("live"), count("paused")), (1.into(), 1.into()));
    redis.ok(101, "recur resume paused");
    clean();
    for jid in ["live", "paused"] {
        let line = format!("pop {jid} --worker w --count 9 -o jid");
        let popped = redis.ok(3700, &line);
        assert_eq!(popped, format!("{jid}-1\n{jid}-2"));
    }
    // A replaced recurring job does not count back.
    import("--replace");
    assert_eq!((count("live"), count("paused")), (2.into(), 2.into()));
    redis.ok(3701, "recur pause live");
    import("--replace");
    assert_eq!((count("live"), count("paused")), (2.into(), 2.into()));
    // What the core refuses is not imported.
    redis.send(&["DEL", "ql:paused_recurring"]);
    redis.send(&["SET", "ql:paused_recurring", "x"]);
    let ran = redis.at(4000).input(&text).run("import - --yes --replace");
    ran.exits(3).says("2 failed");
}

#[test]
fn import_asks_for_confirmation() {
    let redis = Redis::start();
    let (_dir, path) = place("f");
    std::fs::write(&path, file(&[job("a", ""), job("b", "")])).unwrap();
    to(&redis)
        .run(&format!("import {}", path.display()))
        .shows(expect![[r#"
            --- stderr
            error: cannot ask whether to import 2 jobs on unix://DIR/s; nothing was changed
            hint: add `--yes`
            --- exit 9
        "#]]);
    to(&redis)
        .run(&format!("import {} --yes --read-only", path.display()))
        .exits(9);
    assert!(redis.dump().is_empty());
    let mut command = redis.at(100).command();
    command.args(["import", path.to_str().unwrap(), "--hold"]);
    command.env("TERM", "xterm");
    let mut terminal = Terminal::typed(command, 80, 24);
    let asked = terminal.until(|text| text.contains("Proceed?"));
    let (asked, _) = asked.split_once("Proceed?").unwrap();
    asked.replace(&redis.url(), "URL").shows(expect![[r#"
        Import 2 jobs on URL

          QUEUE  JOBS
          q         2

          hold q

    "#]]);
    assert!(redis.dump().is_empty());
    terminal.types("y\n");
    let ran = terminal.end();
    assert_eq!(ran.code(), 0);
    assert_eq!(jids(&redis, ""), "a b");
}

#[test]
fn the_whole_file_is_checked_before_any_call() {
    let redis = Redis::start();
    let bad = |text: &str| {
        let ran = redis.at(100).input(text).run("import - --yes").exits(2);
        ran.stderr()
    };
    let with = |line: &str| {
        let mut lines: Vec<String> = (0..3).map(|at| job(&format!("j{at}"), "")).collect();
        lines.push(line.to_string());
        lines.push(job("end", ""));
        file(&lines)
    };
    let printed = [
        bad(""),
        bad("\n"),
        bad("[]"),
        bad("not json"),
        bad(&job("a", "")),
        bad(&HEAD.replace("\"v\":1", "\"v\":2")),
        bad(&HEAD.replace("export", "jobs")),
        bad(&with("{")),
        bad(&with(&job("j1", ""))),
        bad(&with(&job("é", "").replace("\"jid\":\"é\",", ""))),
        bad(&with(&job("é", r#","priority":"high""#))),
        bad(&with(&job("é", r#","state":"done""#))),
        bad(&with(&job("é", r#","tags":[1]"#))),
        bad(&with(r#"{"kind":"event","v":1}"#)),
        bad(&with(r#"{"kind":"job","v":2}"#)),
        bad(&with(
            r#"{"kind":"recurring","v":1,"jid":"r","klass":"K","queue":"q","every_s":0,"data":1}"#,
        )),
        bad(&with(
            r#"{"kind":"config","v":1,"items":[{"key":"heartbeat","value":"soon"}]}"#,
        )),
    ];
    printed.concat().shows(expect![[r#"
        error: stdin is not an export: expected the first line to be `{"kind":"export","v":1,…}`
        hint: an empty file is not an export
        error: stdin is not an export: expected the first line to be `{"kind":"export","v":1,…}`
        hint: an empty file is not an export
        error: stdin is not an export: expected the first line to be `{"kind":"export","v":1,…}`
        hint: line 1, column 1: expected an object, not `[`
        error: stdin is not an export: expected the first line to be `{"kind":"export","v":1,…}`
        hint: line 1, column 1: expected an object, not `not`
        error: stdin is not an export: expected the first line to be `{"kind":"export","v":1,…}`
        error: stdin, line 1, column 22: `v` is 2: a newer qless wrote it, this one reads 1
        error: stdin is not an export: expected the first line to be `{"kind":"export","v":1,…}`
        hint: line 1, column 9: `kind` expects one of export, job, recurring, config, limit, paused, not `jobs`
        error: stdin, line 5, column 2: EOF while parsing an object
        error: stdin, line 5, column 27: `j1` is also in line 3
        error: stdin, line 5, column 1: there is no `jid` in it
        error: stdin, line 5, column 94: `priority` expects a number, not `"high"`
        error: stdin, line 5, column 73: `state` is none of running, stalled, waiting, scheduled, depends, throttled, failed, complete
        error: stdin, line 5, column 91: `tags[0]` expects a text, not `1`
        error: stdin, line 5, column 9: `kind` expects one of export, job, recurring, config, limit, paused, not `event`
        error: stdin, line 5, column 19: `v` is 2: a newer qless wrote it, this one reads 1
        error: stdin, line 5, column 71: `every_s` expects a number of more than 0
        error: stdin, line 5, column 1: `heartbeat` expects seconds, or a duration such as `5m`, not `soon`
    "#]]);
    assert!(redis.dump().is_empty());
    let (dir, path) = place("f");
    let import = |path: &Path| {
        let ran = to(&redis).hide(dir.path().to_str().unwrap(), "TMP");
        ran.run(&format!("import {} --yes", path.display()))
    };
    import(&path).shows(expect![[r#"
        --- stderr
        error: cannot read `TMP/f`: no such file or directory
        --- exit 2
    "#]]);
    import(dir.path()).shows(expect![[r#"
        --- stderr
        error: cannot read `TMP`: is a directory
        --- exit 2
    "#]]);
}

#[test]
fn a_truncated_export_is_detected() {
    let redis = Redis::start();
    for jid in ["a", "b", "c"] {
        redis.ok(1, &format!("put q K --jid {jid}"));
    }
    let text = redis.ok(2, "export --queue q");
    let fresh = Redis::start();
    // In the middle of a line, and between two.
    let torn = &text[..text.len() - 20];
    to(&fresh).input(torn).run("import - --yes").exits(2);
    assert!(fresh.dump().is_empty());
    let (cut, _) = text.rsplit_once('\n').unwrap();
    to(&fresh)
        .input(cut)
        .run("import - --yes")
        .shows(expect![[r#"
            --- stderr
            warning: the file announces 3 jobs, but has 2: it may have been cut short
            2 imported
            --- exit 3
        "#]]);
}

#[test]
fn jobs_saved_by_cancel_can_be_imported() {
    let redis = Redis::start();
    let (_dir, path) = place("c.ndjson");
    let path = path.display().to_string();
    redis.ok(1, "put q K --jid a --tag eu");
    redis.ok(1, "put q K --jid b --depends a");
    redis.ok(1, "put q K --jid c --depends b");
    let before = redis.ok(2, "export --all");
    let cancel = format!("cancel a --dependents cancel --yes --save {path}");
    redis.ok(2, &cancel);
    assert_eq!(jids(&redis, ""), "");
    to(&redis)
        .run(&format!("import {path} --yes"))
        .shows(expect![[r#"
            --- stderr
            3 imported
        "#]]);
    let after = redis.ok(3, "export --all");
    difference(&before, &after).shows(expect![[r#"
        "a" since "1970-01-01T00:00:01.000Z" -> "1970-01-01T00:01:40.000Z"
        "a" history + [{"what":"put","when":"1970-01-01T00:01:40.000Z","queue":"q"}]
        "b" since "1970-01-01T00:00:01.000Z" -> "1970-01-01T00:01:40.000Z"
        "b" history + [{"what":"put","when":"1970-01-01T00:01:40.000Z","queue":"q"}]
        "c" since "1970-01-01T00:00:01.000Z" -> "1970-01-01T00:01:40.000Z"
        "c" history + [{"what":"put","when":"1970-01-01T00:01:40.000Z","queue":"q"}]
    "#]]);
    // The same command again continues the same file, which then holds each job twice.
    redis.ok(4, "priority a --to 7");
    redis.ok(5, &cancel);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 7);
    to(&redis).run(&format!("import {path} --yes")).ok();
    assert_eq!(redis.ok(5, "get a --field priority"), "7");
    // A line cut by a crash was never followed by a deletion.
    let mut torn = std::fs::read_to_string(&path).unwrap();
    torn.push_str(r#"{"kind":"job","v":1,"jid":"z"#);
    std::fs::write(&path, &torn).unwrap();
    redis.send(&["FLUSHALL"]);
    to(&redis).run(&format!("import {path} --yes")).ok();
    torn.push('\n');
    std::fs::write(&path, &torn).unwrap();
    to(&redis)
        .run(&format!("import {path} --yes --if-absent"))
        .exits(2);
}

#[test]
fn the_example_of_the_issue_runs() {
    let redis = Redis::start();
    let (dir, _) = place("");
    let put = |at: usize| {
        let (jid, data) = (at.to_string(), format!("{{\"photo\":{at}}}"));
        let words = [
            "put",
            "",
            "uploads",
            &jid,
            "Photo::Upload",
            &data,
            "0",
            "tags",
            "[\"night\"]",
        ];
        (1.0, words.map(str::to_owned).to_vec())
    };
    redis.calls((1..=100).map(put));
    let bin = Path::new(env!("CARGO_BIN_EXE_qless")).parent().unwrap();
    let ran = std::process::Command::new("bash")
        .args([
            "-c",
            "set -o pipefail; qless jobs --queue uploads --state waiting --where photo=77 -o jid \
             | qless cancel - --save c.ndjson --yes && qless get 77 2>/dev/null; \
             qless import c.ndjson --yes && qless get 77 --data",
        ])
        .current_dir(dir.path())
        .env_clear()
        .env(
            "PATH",
            format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()),
        )
        .env("QLESS_NOW", "100")
        .env("HOME", "/nonexistent")
        .env("QLESS_REDIS_URL", redis.url())
        .output()
        .unwrap();
    let printed = [ran.stdout, ran.stderr].concat();
    String::from_utf8_lossy(&printed).shows(expect![[r#"
        77
        {"photo":77}1 cancelled
        1 imported
    "#]]);
}

#[test]
fn an_export_can_be_imported_into_another_server_and_prefix() {
    let (from, to) = (Redis::start(), Redis::start());
    from.at(1).run("put mail K --jid a --prefix one:").ok();
    let (_dir, path) = place("mail.ndjson");
    let path = path.display();
    from.at(2)
        .run(&format!("export --queue mail --file {path} --prefix one:"))
        .ok();
    to.at(3)
        .run(&format!("import {path} --hold --yes --prefix {{two}}:"))
        .ok();
    let there = to.at(4).run("jobs --prefix {two}: -o jid").ok();
    assert_eq!(there, "a");
    assert_eq!(to.at(4).run("jobs -o jid").ok(), "");
}

#[test]
fn the_example_of_the_specification_runs() {
    let (old, new) = (Redis::start(), Redis::start());
    let (dir, _) = place("");
    let config = format!(
        "[context.old]\nredis = \"{}\"\nread-only = true\n\n[context.new]\nredis = \"{}\"\n",
        old.url(),
        new.url()
    );
    std::fs::write(dir.path().join("config.toml"), config).unwrap();
    old.at(1).run("put mail K --jid a").ok();
    old.at(1).run("put mail K --jid b --depends a").ok();
    let bin = Path::new(env!("CARGO_BIN_EXE_qless")).parent().unwrap();
    let run = |line: &str| {
        let ran = std::process::Command::new("bash")
            .args(["-c", line])
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .env_clear()
            .env(
                "PATH",
                format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()),
            )
            .env("HOME", "/nonexistent")
            .env("QLESS_CONFIG", dir.path().join("config.toml"))
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        printed.replace(&new.url(), "NEW") + &format!("{:?}\n", ran.status.code())
    };
    let line = "qless --context old export --queue mail --file mail.ndjson \
                && qless --context new import mail.ndjson --hold";
    run(line).shows(expect![[r#"
        error: cannot ask whether to import 2 jobs on new (NEW); nothing was changed
        hint: add `--yes`
        Some(9)
    "#]]);
    run(&format!("{line} --yes")).shows(expect![[r#"
        2 imported
        Some(0)
    "#]]);
    assert_eq!(jids(&new, "--queue mail"), "a b");
    new.at(100).run("pop mail --worker w").exits(4);
}

#[test]
fn a_signal_stops_an_import_between_two_slices() {
    let redis = Redis::start();
    let (_dir, path) = place("f");
    std::fs::write(&path, many()).unwrap();
    let line = format!("import {} --yes --rate 1000/s", path.display());
    let running = redis.qless().start(&line);
    let deadline = Instant::now() + Duration::from_secs(20);
    while redis.qless().run("length q").ok() == "0" {
        assert!(Instant::now() < deadline);
    }
    running.signal(Signal::INT);
    let printed = running.end().exits(130).stderr();
    assert!(printed.contains("not tried"), "{printed}");
    assert!(
        printed.ends_with("hint: the same command with `--if-absent` imports the rest\n"),
        "{printed}"
    );
    redis.must_be_clean();
}

#[test]
fn import_supports_the_flags_of_bulk_verbs() {
    let redis = Redis::start();
    let (_dir, report) = place("report");
    let lines: Vec<String> = (0..4).map(|at| job(&format!("j{at}"), "")).collect();
    let flags = format!(
        "--yes --reason 'the old host died' --report {}",
        report.display()
    );
    let (_dir, path) = place("f");
    std::fs::write(&path, file(&lines)).unwrap();
    let line = format!("import {} {flags}", path.display());
    to(&redis).run(&line).ok();
    let history = redis.json(100, "get j0 -o json")["history"].clone();
    assert_eq!(history[1]["verb"], "import");
    assert_eq!(history[1]["reason"], "the old host died");
    // An interrupted run may have put jobs that its report does not have.
    let reported = std::fs::read_to_string(&report).unwrap();
    // The head, four plans and two outcomes.
    let lines: Vec<&str> = reported.lines().take(7).collect();
    std::fs::write(&report, lines.join("\n") + "\n").unwrap();
    to(&redis)
        .hide(report.to_str().unwrap(), "REPORT")
        .run(&line)
        .shows(expect![[r#"
            --- stderr
            0 imported, 4 skipped
              skipped  2  done already, as `REPORT` tells: j0, j1
                       2  it exists already: j2, j3
        "#]]);
    std::fs::write(&report, reported).unwrap();
    // Those that are done are not put again, though they are gone by now.
    redis.ok(101, "cancel j0 j1 --yes");
    let again = line.replace("--yes", "--yes --if-absent");
    to(&redis).run(&again).exits(2);
    to(&redis).run(&line).exits(0);
    redis.ok(101, "cancel j2 j3 --yes");
    to(&redis)
        .hide(report.to_str().unwrap(), "REPORT")
        .run(&line)
        .shows(expect![[r#"
            --- stderr
            0 imported, 4 skipped
              skipped  4  done already, as `REPORT` tells: j0, j1, j2, j3
        "#]]);
    assert_eq!(jids(&redis, ""), "");
    // One that fails ends it, if so wanted.
    let lines = [
        job("a", r#","data":null,"data_bytes":"eyJhIjo="#),
        job("b", ""),
    ];
    let lines = lines.map(|line| line.replace("eyJhIjo=", "eyJhIjo=\""));
    import(&redis, &lines, "--yes --fail-fast -o json").shows(expect![[r#"
        --- stderr
        {"kind":"error","v":1,"code":"usage","exit":2,"message":"stdin, line 2, column 83: `data` stands here twice","hint":null,"jid":null}
        --- exit 2
    "#]]);
    import(&redis, &[], "--yes --require-match").exits(4);
    // Slowly.
    let begun = Instant::now();
    let lines: Vec<String> = (0..3).map(|at| job(&format!("s{at}"), "")).collect();
    import(&redis, &lines, "--yes --rate 10/s").ok();
    assert!(begun.elapsed() > Duration::from_millis(150));
}

/// Five thousand jobs, every tenth waiting for the one before it in the file, or behind it.
fn many() -> String {
    let lines: Vec<String> = (0..1500)
        .map(|at| {
            let jid = format!("j{at:05}");
            match at % 10 {
                0 if at > 0 => job(
                    &jid,
                    &format!(r#","state":"depends","dependencies":["j{:05}"]"#, at - 1),
                ),
                5 => job(
                    &jid,
                    &format!(r#","state":"depends","dependencies":["j{:05}"]"#, at + 1),
                ),
                _ => job(&jid, ""),
            }
        })
        .collect();
    file(&lines)
}

#[test]
fn many_imported_jobs_keep_their_order() {
    let redis = Redis::start();
    let ran = redis.qless().input(many()).run("import - --yes");
    assert!(
        ran.stderr().starts_with("1500 imported"),
        "{}",
        ran.stderr()
    );
    let waiting = redis.qless().run("jobs --state waiting -o jid").ok();
    let waiting: Vec<&str> = waiting.lines().collect();
    assert_eq!(waiting.len(), 1201);
    assert!(waiting.is_sorted());
    redis.must_be_clean();
}

#[test]
fn a_killed_import_is_finished_by_the_next() {
    let redis = Redis::start();
    let (_dir, path) = place("f");
    std::fs::write(&path, many()).unwrap();
    let line = format!("import {} --yes --if-absent --rate 4000/s", path.display());
    let mut kills = 0;
    let keys = || match redis.send(&["DBSIZE"]) {
        redis::Value::Int(keys) => keys,
        other => panic!("{other:?}"),
    };
    loop {
        let mut running = redis.qless().start(&line);
        let until = keys() + 700;
        while keys() < until && !running.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        _ = running.child.kill();
        kills += 1;
        if running.end().code() == 0 {
            break;
        }
        assert!(kills < 100);
    }
    assert!(kills > 1);
    let printed = redis.qless().run("export --all").ok();
    let mut puts = 0;
    for line in printed.lines().skip(1) {
        let line: Value = serde_json::from_str(line).unwrap();
        let history = line["history"].as_array().unwrap();
        puts += history
            .iter()
            .filter(|entry| entry["what"] == "put")
            .count();
    }
    assert_eq!((printed.lines().count(), puts), (1501, 1500));
    redis.must_be_clean();
}

#[test]
fn an_import_reports_that_the_server_lost_jobs_in_the_middle() {
    let redis = Redis::start();
    let lines: Vec<String> = (0..1500).map(|n| job(&format!("j{n:04}"), "")).collect();
    let (_dir, path) = place("jobs.ndjson");
    std::fs::write(&path, file(&lines)).unwrap();
    let line = format!("import {} --yes --if-absent", path.display());
    let run = redis.qless().start(&format!("{line} --rate 2000/s"));
    let deadline = Instant::now() + Duration::from_secs(10);
    while jids(&redis, "--all").split(' ').count() < 200 {
        assert!(Instant::now() < deadline);
    }
    redis.send(&["FLUSHALL"]);
    let ran = run.end().exits(3);
    ran.says("was flushed: up to 1,500 changes");
    ran.says("`--if-absent`, and without `--report`");
    redis.qless().run(&line).exits(0);
    assert_eq!(jids(&redis, "--all").split_whitespace().count(), 1500);
}

#[test]
fn a_job_with_too_many_tags_is_refused_alone() {
    let redis = Redis::start();
    let tags: Vec<String> = (0..1001).map(|n| format!("\"t{n}\"")).collect();
    let lines = [
        job("a", ""),
        job("b", &format!(",\"tags\":[{}]", tags.join(","))),
        job("c", ""),
    ];
    let ran = import(&redis, &lines, "--yes -o ndjson").exits(3);
    let failed = r#""code":"invalid","detail":"Arg \"tags\" has more than 1000 tags""#;
    let line = ran.stdout();
    let line = line
        .lines()
        .find(|line| line.contains("\"failed\""))
        .unwrap();
    assert!(
        line.contains(failed) && line.contains(r#""line":3"#),
        "{line}"
    );
    assert_eq!(jids(&redis, "--queue=q"), "a c");
}

/// `get` shows when it failed: that is its age.
#[test]
fn an_imported_failure_is_as_old_as_it_was() {
    let redis = Redis::start();
    redis.ok(100, "put mail K --jid a");
    redis.ok(110, "pop mail --worker w");
    redis.ok(120, "fail a --worker w --group boom --message no");
    let exported = redis.at(130).run("export --all").stdout();
    redis.ok(130, "cancel a --yes");
    redis.at(1000).input(exported).run("import - --yes").ok();
    let aged = |flag: &str| {
        redis
            .at(1060)
            .run(&format!("failed --group boom {flag} -o jid"))
    };
    assert_eq!(aged("--older-than 10m").exits(10).stdout(), "a\n");
    assert_eq!(aged("--newer-than 10m").ok(), "");
    assert_eq!(aged("--older-than 1h").ok(), "");
}

#[test]
fn a_dry_run_names_the_jobs_that_the_import_would_refuse() {
    let from = Redis::start();
    for (jid, flags) in [
        ("empty", ""),
        ("nul", ""),
        ("fine", ""),
        ("after", "--depends fine"),
    ] {
        from.ok(1, &format!("put q K --jid {jid} {flags}"));
    }
    from.ok(1, "track fine");
    from.send(&["HSET", "ql:j:empty", "data", ""]);
    from.send(&["HSET", "ql:j:nul", "data", "x\0y"]);
    let text = from.at(2).run("export --all").ok();
    let redis = Redis::start();
    let import = |flags: &str| to(&redis).input(&text).run(&format!("import - {flags}"));
    let before = redis.dump();
    import("--dry-run").shows(expect![[r#"
        --- stderr
        Import 4 jobs on unix://DIR/s

          q	4
        would import 2, 2 failed
          failed   1  NUL byte in data: nul
                   1  data is not JSON: Expected value but found T_END at character 1:
            empty
        --- exit 3
    "#]]);
    assert!(redis.dump() == before);
    import("--yes").shows(expect![[r#"
        --- stderr
        2 imported, 2 failed
          failed   1  NUL byte in data: nul
                   1  data is not JSON: Expected value but found T_END at character 1:
            empty
        --- exit 3
    "#]]);
}

#[test]
fn the_defaults_of_a_queue_do_not_change_imported_jobs() {
    let redis = Redis::start();
    for jid in ["a", "b", "c"] {
        redis.ok(1, &format!("put q K --arg c:=1 --jid {jid}"));
    }
    let text = redis.at(2).run("export --all").ok();
    for dup in ["skip", "merge", "replace"] {
        redis.send(&["FLUSHALL"]);
        let defaults =
            format!(r#"{{"key":"{{data.c}}","dup":"{dup}","priority":3,"throttles":["t=1"]}}"#);
        redis.at(3).args(["defaults", "q", &defaults]).exits(0);
        to(&redis)
            .input(&text)
            .run("import - --yes")
            .exits(0)
            .says("3 imported");
        assert_eq!(jids(&redis, "--queue q --state waiting"), "c b a", "{dup}");
        let shown = redis.json(100, "get b -o json");
        assert_eq!(shown["key"], Value::Null, "{dup}");
        assert_eq!(shown["priority"], 0, "{dup}");
        assert_eq!(shown["data"], serde_json::json!({"c": 1}), "{dup}");
    }
}

#[test]
fn a_lane_and_not_a_dependency_holds_an_imported_job() {
    let redis = Redis::start();
    for jid in ["a", "b", "c"] {
        redis.ok(1, &format!("put q K --jid {jid} --key k"));
    }
    let text = redis.at(2).run("export --all").ok();
    // The job before it fails between two runs of the import, which follows the file in its second run.
    let alone = redis.at(2).run("export b").ok();
    redis.ok(3, "cancel b c --yes");
    redis.ok(4, "pop q");
    redis.ok(5, "fail a --group g --message m");
    to(&redis).input(&alone).run("import - --yes").exits(0);
    assert_eq!(redis.ok(101, "get b --field state"), "waiting");
    to(&redis)
        .input(&text)
        .run("import - --yes --if-absent")
        .exits(0)
        .says("1 imported, 2 skipped");
    assert_eq!(redis.ok(101, "get c --field state"), "depends");
    assert_eq!(redis.ok(102, "pop q -o jid"), "b");
    redis.ok(103, "complete b");
    assert_eq!(redis.ok(104, "pop q -o jid"), "c");
    redis.must_be_clean();

    // A job that the import refuses, or that is in another lane, is still waited for.
    let redis = Redis::start();
    redis.send(&["SET", "ql:j:a-history", "x"]);
    let ran = to(&redis).input(&text).run("import - --yes").exits(3);
    ran.says("3 failed");
    redis.send(&["DEL", "ql:j:a-history"]);
    redis.ok(4, "put q K --jid a");
    to(&redis)
        .input(&text)
        .run("import - --yes --if-absent")
        .exits(0)
        .says("2 imported, 1 skipped");
    assert_eq!(redis.ok(101, "pop q --count 9 -o jid"), "a");

    // A dependency on a job of the lane that is not the one before it stays.
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a --key k");
    redis.ok(2, "put q K --jid x --key k");
    redis.ok(3, "put q K --jid b --key k --depends a");
    let explicit = redis.at(4).run("export --all").ok();
    redis.send(&["FLUSHALL"]);
    to(&redis).input(&explicit).run("import - --yes").exits(0);
    redis.ok(101, "pop q");
    redis.ok(102, "fail a --group g --message m");
    assert_eq!(redis.ok(103, "pop q -o jid"), "x");
    redis.ok(104, "complete x");
    redis.at(105).run("pop q").exits(4);

    // The order of the lane has changed since the export.
    let redis = Redis::start();
    for jid in ["a", "b", "c"] {
        redis.ok(1, &format!("put q K --jid {jid} --key k"));
    }
    redis.ok(4, "pop q");
    redis.ok(5, "fail a --group g --message m");
    redis.ok(6, "retry a");
    to(&redis)
        .input(&text)
        .run("import - --yes --replace")
        .exits(0)
        .says("3 imported");
    redis.must_be_clean();
}

#[test]
fn a_replaced_merge_job_has_the_payloads_of_the_file() {
    let redis = Redis::start();
    let put = |data: &str| {
        redis
            .at(1)
            .args(["put", "q", "K", data, "--jid", "m", "--key", "k", "--merge"])
            .exits(0)
    };
    put("{\"v\":1}");
    redis
        .at(1)
        .args(["put", "q", "K", "{\"v\":2}", "--key", "k", "--merge"])
        .exits(0);
    let text = redis.at(2).run("export --all").ok();
    redis
        .at(3)
        .args(["put", "q", "K", "{\"v\":3}", "--key", "k", "--merge"])
        .exits(0);
    to(&redis)
        .input(&text)
        .run("import - --yes --replace")
        .exits(0);
    assert_eq!(redis.ok(101, "get m --data"), r#"[{"v":1},{"v":2}]"#);
    redis.must_be_clean();
}
