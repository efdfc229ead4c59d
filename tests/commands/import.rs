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
    let head = format!("{HEAD}\n");
    lines.iter().fold(head, |text, line| text + line + "\n")
}

/// The binary at the moment 100, with these lines on stdin.
fn given(redis: &Redis, lines: &[String]) -> Qless {
    redis.at(100).input(file(lines))
}

/// Imports lines at the moment 100.
fn import(redis: &Redis, lines: &[String], flags: &str) -> RunOutput {
    given(redis, lines).run(&format!("import - {flags}"))
}

fn jids(redis: &Redis, selector: &str) -> String {
    let jids = redis.ok(100, &format!("jobs {selector} -o jid"));
    jids.replace('\n', " ")
}

/// A file in the directory of a server, which sessions call DIR.
fn beside(redis: &Redis, name: &str) -> PathBuf {
    redis.socket().with_file_name(name)
}

#[test]
fn each_job_is_imported_unchanged() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        1 $ qless put mail K --jid done &>/dev/null
        2 $ qless pop mail --worker w &>/dev/null
        3 $ qless complete done --worker w &>/dev/null
        4 $ qless put mail K --jid bad --retries 3 &>/dev/null
        5 $ qless pop mail --worker w &>/dev/null
        6 $ qless fail bad --worker w --group 'upload error' --message 'no way' &>/dev/null
        7 $ qless put mail Mail::Welcome --arg user:=9007199254740993 --arg l:=[] --jid first --tag eu --tag new --priority 3 --retries 2 &>/dev/null
        7 $ qless track first &>/dev/null
        7.25 $ qless put mail K --jid last --delay 1h --depends bad &>/dev/null
        8.5 $ qless put mail K --jid later --delay 1h &>/dev/null
        8 $ qless put img K --jid held &>/dev/null
        9 $ qless pop img --worker w2 &>/dev/null
        10 $ qless recur put img Thumb --jid nightly --every 1d --at 1970-01-02T06:00:00Z --tag eu --priority 4 &>/dev/null
        20 $ qless export --all --with recur --file DIR/all &>/dev/null
        100 $ qless import DIR/all --yes --prefix new:
        --- stderr
        6 imported, 1 skipped
          skipped  1  complete: done
    "#]]);
    let printed = redis.ok(100, "export --all --with recur --prefix new:");
    let before = std::fs::read_to_string(beside(&redis, "all")).unwrap();
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
    let new = redis.qless().env("QLESS_PREFIX", "new:");
    new.session(expect![[r#"
        200 $ qless pop mail --worker w -o jid
        first
        201 $ qless retry bad &>/dev/null
        202 $ qless pop mail --worker w -o jid
        bad
        203 $ qless complete bad --worker w &>/dev/null
        204 $ qless jobs --state scheduled -o jid
        last
        later
    "#]]);
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
    let members = [
        r#""jid_bytes":"av8g","queue_bytes":"cf4=","klass":"K\u202e\u0000","tags":["\u001b[31m"],"data":1"#,
        r#""klass":"","data":null,"data_bytes":"TmFO","priority":-1.5,"retries":0,"remaining":-1"#,
        r#""klass":"K","data":{"b":[],"a":9007199254740993,"n":1.10},"history":[{"what":"\u001b","when":"1970-01-01T00:00:01.000Z"}]"#,
        r#""klass":"K","data": [ 1,  2 ],"history_bytes":["WzEsInB1dCIseyJxIjoiXHUwMDFiIn1d"]"#,
    ];
    let line = |(at, more): (usize, &&str)| {
        format!(r#"{{"kind":"job","v":1,"jid":"j {at}","queue":"q","state":"waiting",{more}}}"#)
    };
    let lines: Vec<String> = members.iter().enumerate().map(line).collect();
    import(&redis, &lines, "--yes").shows(expect![[r#"
        --- stderr
        4 imported
    "#]]);
    let printed = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let names = "jid jid_bytes queue_bytes klass tags data data_bytes priority retries remaining \
                     history_bytes";
        let values = names.split(' ').filter_map(|name| line.get(name));
        let values: Vec<String> = values.map(Value::to_string).collect();
        values.join(" ").replace('\u{202e}', "RLO") + "\n"
    };
    let exported = redis.ok(100, "export --all");
    let mut exported: Vec<String> = exported.lines().skip(1).map(printed).collect();
    exported.sort();
    exported.concat().shows(expect![[r#"
        "j 1" "" [] null "TmFO" -1.5 0 -1
        "j 2" "K" [] {"b":[],"a":9007199254740993,"n":1.1} 0 5 5
        "j 3" "K" [] [1,2] 0 5 5
        "j\\xff " "av8g" "cf4=" "KRLO\u0000" ["\u001b[31m"] 1 0 5 5 ["WzEwMCwicHV0Iix7InEiOiJx/iJ9XQ=="]
    "#]]);
    for (jid, data) in [
        ("j 1", "NaN"),
        ("j 2", r#"{"b":[],"a":9007199254740993,"n":1.10}"#),
        ("j 3", "[ 1,  2 ]"),
    ] {
        let kept = redis.send(&["HGET", &format!("ql:j:{jid}"), "data"]);
        assert_eq!(kept, redis::Value::BulkString(data.into()));
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
    given(&redis, &lines).session(expect![[r#"
        $ qless import - --yes -o ndjson
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
        $ qless jobs --columns jid,state
        z	waiting
        b	waiting
        a	waiting
        c	depends
        d	depends
        $ qless get d -o json | jq -c .dependencies
        ["b","c"]
    "#]]);
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
    given(&redis, &lines).session(expect![[r#"
        $ qless import - --yes --failed skip --allow-missing
        --- stderr
        3 imported, 1 skipped
          skipped  1  it has failed, as `--failed skip` says: bad
        $ qless jobs --columns jid,state
        here	waiting
        a	waiting
        c	waiting
        b	depends
    "#]]);
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
    assert!(redis.dump().is_empty());
    // The core itself verifies dependencies on existing jobs.
    let lines = [job("c", r#","state":"depends","dependencies":["y"]"#)];
    given(&redis, &lines).session(expect![[r#"
        1 $ qless put q K --jid c &>/dev/null
        1 $ qless put q K --jid y --depends c &>/dev/null
        $ qless import - --yes --replace
        --- stderr
        0 imported, 1 failed
          failed   1  it would wait for itself: c → y → c: c
        --- exit 5
    "#]]);
}

#[test]
fn failed_jobs_are_imported_as_requested() {
    let redis = Redis::start();
    let failed = [
        job(
            "bad",
            r#","state":"failed","retries":5,"remaining":-1,"failure":{"group":"g","message":"m\n","worker":"w","when":"1970-01-01T00:00:01.000Z"}"#,
        ),
        job("ok", ""),
    ];
    given(&redis, &failed).session(expect![[r#"
        $ qless import - --yes &>/dev/null
        $ qless get bad -o json | jq -c '[.state, .remaining]'
        ["failed",-1]
        $ qless failed
        g	1	1970-01-01T00:00:01.000Z	q	m
        $ qless import - --prefix 2: --yes --failed waiting &>/dev/null
        $ qless get bad --prefix 2: -o json | jq -c '[.state, .remaining]'
        ["waiting",5]
        $ qless import - --prefix 3: --yes --failed skip &>/dev/null
        $ qless get bad --prefix 3: &>/dev/null
        --- exit 4
        $ qless import - --yes --failed maybe &>/dev/null
        --- exit 2
    "#]]);
    let groupless = [job("bad", r#","state":"failed","failure":null"#)];
    given(&redis, &groupless).session(expect![[r#"
        $ qless import - --yes
        --- stderr
        error: stdin, line 2, column 94: `bad` has failed, but has no `failure` with a group; `--failed waiting` and `--failed skip` do not need one
        --- exit 2
        $ qless import - --yes --failed waiting --replace
        --- stderr
        1 imported
    "#]]);
}

#[test]
fn existing_jobs_are_not_overwritten() {
    let redis = Redis::start();
    redis.ok(1, "put mine K --jid a");
    let before = redis.dump();
    let lines = [job("a", ""), job("b", "")];
    import(&redis, &lines, "--yes").shows(expect![[r#"
        --- stderr
        error: `a` exists already; nothing was changed
        hint: `--if-absent` leaves them as they are and imports the rest, `--replace` puts them again
        --- exit 5
    "#]]);
    assert!(redis.dump() == before);
    given(&redis, &lines).session(expect![[r#"
        $ qless import - --if-absent --dry-run
        --- stderr
        Import 2 jobs on unix://DIR/s

          q	2

          leave what is there already: 1 job
        would import 1, 1 skipped
          skipped  1  it exists already: a
        $ qless import - --if-absent --yes -o json | jq -c
        {"kind":"bulk","v":1,"action":"import","dry_run":false,"context":null,"matched":2,"done":1,"skipped":1,"failed":0,"remaining":0,"elapsed_s":0,"items":[{"jid":"a","result":"skipped","code":"exists","detail":"it exists already","queue":"q","state_before":"waiting","state_after":null,"line":2}]}
        --- stderr
        1 imported, 1 skipped
          skipped  1  it exists already: a
        $ qless import - --if-absent --yes
        --- stderr
        0 imported, 2 skipped
          skipped  2  it exists already: a, b
        $ qless pop mine --worker w -o jid
        a
        $ qless import - --replace --yes
        --- stderr
        2 imported
        $ qless jobs --queue q -o jid
        a
        b
        $ qless import - --replace --if-absent --yes &>/dev/null
        --- exit 2
    "#]]);
    let many: Vec<String> = (0..5).map(|at| job(&format!("m{at}"), "")).collect();
    given(&redis, &many).session(expect![[r#"
        $ qless import - --yes &>/dev/null
        $ qless import - --yes -o json
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
    for nonsense in ["q", "=x", "q=", ""] {
        import(&redis, &lines, &format!("--yes --map-queue '{nonsense}'")).exits(2);
    }
    import(&redis, &lines, "--yes --map-queue q=x --map-queue q=y").exits(2);
    import(&redis, &lines, "--yes --map-queue p=x").shows(expect![[r#"
        --- stderr
        error: `--map-queue` names `p`, but nothing in stdin is in that queue
        --- exit 2
    "#]]);
    assert!(redis.dump().is_empty());
    given(&redis, &lines).session(expect![[r#"
        $ qless import - --map-queue q=q=2 --map-queue other=q=2 --yes
        --- stderr
        3 imported
        $ qless queues
        q=2	2	0	0	0	0	1	0s	paused since 1970-01-01T00:01:40.000Z (why)
        $ qless config dump
        {
          "heartbeat": "300",
          "q=2-heartbeat": "90"
        }
    "#]]);
}

#[test]
fn held_jobs_do_not_run() {
    let redis = Redis::start();
    redis.ok(1, "put other K --jid x");
    redis.ok(1, "pause other --reason mine");
    let lines = [job("a", ""), job("b", "").replace("\"q\"", "\"other\"")];
    given(&redis, &lines).session(expect![[r#"
        $ qless import - --hold --dry-run
        --- stderr
        Import 2 jobs on unix://DIR/s

          other	1
          q	1

          hold q
        would import 2
        $ qless import - --hold --yes
        --- stderr
        2 imported
        $ qless pop q --worker w &>/dev/null
        --- exit 4
        $ qless queues --columns queue,state
        other	paused since 1970-01-01T00:00:01.000Z (mine)
        q	paused since 1970-01-01T00:01:40.000Z (qless import --hold)
    "#]]);
}

#[test]
fn options_pauses_and_recurring_jobs_are_imported() {
    let redis = Redis::start();
    for (now, line) in [
        (1, "config set heartbeat 90 mail-max-concurrency 2"),
        (1, "config set mine 1 --force"),
        (2, "recur put mail K --jid r --every 5m --backlog 2"),
        (3, "pause mail --until 1970-01-01T05:00:00Z --reason why"),
        (3, "put gone K --jid x"),
        (3, "pause gone --until 1970-01-01T00:01:00Z"),
    ] {
        redis.ok(now, line);
    }
    let text = redis.ok(10, "export --all --with config,recur,paused");
    redis.send(&["FLUSHALL"]);
    redis.ok(20, "config set heartbeat 30");
    // A second import keeps existing entries.
    redis.at(100).input(text).session(expect![[r#"
        $ qless import - --dry-run
        --- stderr
        Import 1 job and 1 recurring job on unix://DIR/s

          gone	1

          make 1 recurring job
          pause mail
          set ~ heartbeat: 30 -> 90
          set + mail-max-concurrency: 2
          set + mine: 1
        would import 2
        $ qless import - --yes
        --- stderr
        2 imported
        $ qless queues mail
        mail	0	0	0	0	0	1	–	paused since 1970-01-01T00:01:40.000Z, ends 1970-01-01T05:00:00.000Z (why)
        $ qless recur list
        r	mail	K	5m	1970-01-01T00:00:02.000Z	0	2	1
        $ qless config dump
        {
          "heartbeat": "90",
          "mail-max-concurrency": "2",
          "mine": "1"
        }
        $ qless config set heartbeat 31 &>/dev/null
        $ qless recur set r --every 1h &>/dev/null
        $ qless import - --yes &>/dev/null
        --- exit 5
        $ qless import - --yes --if-absent
        --- stderr
        0 imported, 2 skipped
          skipped  2  it exists already: x, r
        $ qless config get heartbeat
        31
        $ qless import - --yes --replace &>/dev/null
        $ qless recur list --columns every
        5m
    "#]]);
}

#[test]
fn maxima_of_throttles_are_imported() {
    let redis = Redis::start();
    redis.ok(1, "throttle set api 1");
    redis.ok(2, "put mail K --jid a --throttle api");
    redis.ok(3, "put mail K --jid b --throttle api");
    let text = redis.ok(10, "export --all --with throttles") + "\n";
    let limit = |id: &str, maximum: i64, expires: &str| {
        format!(r#"{{"kind":"limit","v":1,"id":"{id}","maximum":{maximum},"expires":{expires}}}"#)
            + "\n"
    };
    assert!(text.ends_with(&limit("api", 1, "null")), "{text}");
    // The maximum of `past` has ended.
    let text = text
        + &limit("db", -1, "\"1970-01-01T00:10:00Z\"")
        + &limit("past", 3, "\"1970-01-01T00:01:00Z\"");
    redis.send(&["FLUSHALL"]);
    redis.ok(90, "throttle set db 5");
    let qless = redis.at(100).input(&text);
    qless.session(expect![[r#"
        $ qless import - --dry-run
        --- stderr
        Import 2 jobs on unix://DIR/s

          mail	2

          set + throttle api: 1
          set ~ throttle db: 5 -> -1, until 1970-01-01T00:10:00.000Z
        would import 2
        $ qless import - --yes
        --- stderr
        2 imported
    "#]]);
    let ttl = redis.send(&["PTTL", "ql:th:db"]);
    assert!(
        matches!(ttl, redis::Value::Int(490_000..=500_000)),
        "{ttl:?}"
    );
    // Present maxima are kept with `--if-absent`.
    qless.session(expect![[r#"
        101 $ qless throttle list --columns throttle,maximum
        api	1
        db	none may run
        102 $ qless pop mail --count 5 --worker w -o jid
        a
        103 $ qless throttle set api 7
        $ qless import - --yes --if-absent &>/dev/null
        104 $ qless throttle list api --columns maximum
        7
        $ qless import - --yes --replace &>/dev/null
        104 $ qless throttle list api --columns maximum
        1
    "#]]);
}

#[test]
fn recurring_jobs_continue_to_count() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless recur put live K --every 1h --jid live &>/dev/null
        10 $ qless recur put paused K --every 1h --jid paused &>/dev/null
        11 $ qless pop live --worker w -o jid
        live-1
        11 $ qless pop paused --worker w -o jid
        paused-1
        12 $ qless recur pause paused &>/dev/null
    "#]]);
    let text = redis.ok(13, "export --all --with recur");
    redis.send(&["FLUSHALL"]);
    let import = |flags: &str| {
        let flags = format!("import - --yes -v {flags}");
        let said = redis.at(100).input(&text).run(&flags).exits(0).stderr();
        // One call puts a recurring job with its count: a crash leaves both or none.
        assert_eq!(said.matches("guard.recur").count(), 2, "{said}");
        assert!(!said.contains("check.revert"), "{said}");
    };
    import("");
    redis.session(expect![[r#"
        100 $ qless check --fail-on info &>/dev/null
        100 $ qless recur list --columns jid,spawned
        live	1
        paused	1
        101 $ qless recur resume paused &>/dev/null
        100 $ qless check --fail-on info &>/dev/null
        3700 $ qless pop live --worker w --count 9 -o jid
        live-1
        live-2
        3700 $ qless pop paused --worker w --count 9 -o jid
        paused-1
        paused-2
    "#]]);
    // A replaced recurring job does not count back.
    for line in ["recur list", "recur pause live"] {
        redis.ok(3701, line);
        import("--replace");
        redis.session(expect![[r#"
            100 $ qless recur list --columns jid,spawned
            live	2
            paused	2
        "#]]);
    }
    // What the core refuses is not imported.
    redis.send(&["DEL", "ql:paused_recurring"]);
    redis.send(&["SET", "ql:paused_recurring", "x"]);
    let ran = redis.at(4000).input(&text).run("import - --yes --replace");
    ran.exits(3).says("2 failed");
}

#[test]
fn import_asks_for_confirmation() {
    let redis = Redis::start();
    let path = beside(&redis, "f");
    std::fs::write(&path, file(&[job("a", ""), job("b", "")])).unwrap();
    redis.session(expect![[r#"
        100 $ qless import DIR/f
        --- stderr
        error: cannot ask whether to import 2 jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        100 $ qless import DIR/f --yes --read-only &>/dev/null
        --- exit 9
    "#]]);
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
    terminal.end().exits(0);
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
    redis.session(expect![[r#"
        100 $ qless import DIR/f --yes
        --- stderr
        error: cannot read `DIR/f`: no such file or directory
        --- exit 2
        100 $ qless import DIR --yes
        --- stderr
        error: cannot read `DIR`: is a directory
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
    redis.send(&["FLUSHALL"]);
    // In the middle of a line, and between two.
    let import = |text: &str| redis.at(100).input(text).run("import - --yes");
    import(&text[..text.len() - 20]).exits(2);
    assert!(redis.dump().is_empty());
    let (cut, _) = text.rsplit_once('\n').unwrap();
    import(cut).shows(expect![[r#"
        --- stderr
        warning: the file announces 3 jobs, but has 2: it may have been cut short
        2 imported
        --- exit 3
    "#]]);
}

#[test]
fn jobs_saved_by_cancel_can_be_imported() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a --tag eu");
    redis.ok(1, "put q K --jid b --depends a");
    redis.ok(1, "put q K --jid c --depends b");
    let before = redis.ok(2, "export --all");
    redis.session(expect![[r#"
        2 $ qless cancel a --dependents cancel --yes --save DIR/c &>/dev/null
        2 $ qless jobs
        100 $ qless import DIR/c --yes
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
    redis.session(expect![[r#"
        4 $ qless priority a --to 7 &>/dev/null
        5 $ qless cancel a --dependents cancel --yes --save DIR/c &>/dev/null
        100 $ qless import DIR/c --yes &>/dev/null
        5 $ qless get a --field priority
        7
    "#]]);
    let path = beside(&redis, "c");
    let mut torn = std::fs::read_to_string(&path).unwrap();
    assert_eq!(torn.lines().count(), 7);
    // A line cut by a crash was never followed by a deletion.
    torn.push_str(r#"{"kind":"job","v":1,"jid":"z"#);
    std::fs::write(&path, &torn).unwrap();
    redis.send(&["FLUSHALL"]);
    let line = format!("import {} --yes --if-absent", path.display());
    redis.ok(100, &line);
    std::fs::write(&path, torn + "\n").unwrap();
    redis.at(100).run(&line).exits(2);
}

/// What a line of a shell prints, and its status, in the directory of a server.
fn bash(redis: &Redis, variables: &[(&str, &str)], line: &str) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_qless")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let ran = std::process::Command::new("bash")
        .args(["-c", line])
        .current_dir(beside(redis, ""))
        .stdin(Stdio::null())
        .env_clear()
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("HOME", "/nonexistent")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let printed = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
    printed.replace(&redis.url(), "URL") + &format!("{:?}\n", ran.status.code())
}

#[test]
fn the_example_of_the_issue_runs() {
    let redis = Redis::start();
    let line = |photo: usize| {
        format!(
            "{{\"queue\":\"uploads\",\"klass\":\"Photo::Upload\",\"jid\":\"{photo}\",\"data\":{{\"photo\":{photo}}}}}\n"
        )
    };
    let lines: String = (1..=100).map(line).collect();
    redis.at(1).input(lines).run("put --from -").exits(0);
    let line = "set -o pipefail; qless jobs --queue uploads --state waiting --where photo=77 -o jid \
                | qless cancel - --save c.ndjson --yes && qless get 77 2>/dev/null; \
                qless import c.ndjson --yes && qless get 77 --data";
    let variables = [("QLESS_NOW", "100"), ("QLESS_REDIS_URL", &redis.url())];
    bash(&redis, &variables, line).shows(expect![[r#"
        77
        {"photo":77}1 cancelled
        1 imported
        Some(0)
    "#]]);
}

#[test]
fn the_example_of_the_specification_runs() {
    let (old, new) = (Redis::start(), Redis::start());
    let config = format!(
        "[context.old]\nredis = \"{}\"\nread-only = true\n\n[context.new]\nredis = \"{}\"\n",
        old.url(),
        new.url()
    );
    let path = beside(&new, "config.toml");
    std::fs::write(&path, config).unwrap();
    old.ok(1, "put mail K --jid a");
    old.ok(1, "put mail K --jid b --depends a");
    let variables = [("QLESS_CONFIG", path.to_str().unwrap())];
    let line = "qless --context old export --queue mail --file mail.ndjson \
                && qless --context new import mail.ndjson --hold";
    bash(&new, &variables, line).shows(expect![[r#"
        error: cannot ask whether to import 2 jobs on new (URL); nothing was changed
        hint: add `--yes`
        Some(9)
    "#]]);
    bash(&new, &variables, &format!("{line} --yes")).shows(expect![[r#"
        2 imported
        Some(0)
    "#]]);
    assert_eq!(jids(&new, "--queue mail"), "a b");
    new.at(100).run("pop mail --worker w").exits(4);
}

#[test]
fn a_signal_stops_an_import_between_two_slices() {
    let redis = Redis::start();
    let path = beside(&redis, "f");
    std::fs::write(&path, many()).unwrap();
    let line = format!("import {} --yes --rate 1000/s", path.display());
    let running = redis.qless().start(&line);
    let deadline = Instant::now() + Duration::from_secs(20);
    while redis.qless().run("length q").ok() == "0" {
        assert!(Instant::now() < deadline);
    }
    running.signal(Signal::INT);
    let ran = running.end().exits(130);
    ran.says("not tried");
    ran.says("hint: the same command with `--if-absent` imports the rest\n");
    redis.must_be_clean();
}

#[test]
fn import_supports_the_flags_of_bulk_verbs() {
    let redis = Redis::start();
    let lines: Vec<String> = (0..4).map(|at| job(&format!("j{at}"), "")).collect();
    std::fs::write(beside(&redis, "f"), file(&lines)).unwrap();
    redis.session(expect![[r#"
        100 $ qless import DIR/f --yes --reason 'the old host died' --report DIR/report &>/dev/null
        100 $ qless get j0 -o json | jq -c '[.history[1].verb, .history[1].reason]'
        ["import","the old host died"]
    "#]]);
    // An interrupted run may have put jobs that its report does not have.
    let report = beside(&redis, "report");
    let reported = std::fs::read_to_string(&report).unwrap();
    // The head, four plans and two outcomes.
    let lines: Vec<&str> = reported.lines().take(7).collect();
    std::fs::write(&report, lines.join("\n") + "\n").unwrap();
    redis.session(expect![[r#"
        100 $ qless import DIR/f --yes --reason 'the old host died' --report DIR/report
        --- stderr
        0 imported, 4 skipped
          skipped  2  done already, as `DIR/report` tells: j0, j1
                   2  it exists already: j2, j3
    "#]]);
    std::fs::write(&report, reported).unwrap();
    // Those that are done are not put again, though they are gone by now.
    redis.session(expect![[r#"
        101 $ qless cancel j0 j1 --yes &>/dev/null
        100 $ qless import DIR/f --yes --if-absent --reason 'the old host died' --report DIR/report &>/dev/null
        --- exit 2
        100 $ qless import DIR/f --yes --reason 'the old host died' --report DIR/report &>/dev/null
        101 $ qless cancel j2 j3 --yes &>/dev/null
        100 $ qless import DIR/f --yes --reason 'the old host died' --report DIR/report
        --- stderr
        0 imported, 4 skipped
          skipped  4  done already, as `DIR/report` tells: j0, j1, j2, j3
        101 $ qless jobs
    "#]]);
    // One that fails ends it, if so wanted.
    let twice = [job("a", r#","data":1"#), job("b", "")];
    import(&redis, &twice, "--yes --fail-fast -o json").shows(expect![[r#"
        --- stderr
        {"kind":"error","v":1,"code":"usage","exit":2,"message":"stdin, line 2, column 83: `data` stands here twice","hint":null,"jid":null}
        --- exit 2
    "#]]);
    given(&redis, &[]).session(expect![[r#"
        $ qless import - --yes
        --- stderr
        no jobs to import
        $ qless import - --yes --require-match &>/dev/null
        --- exit 4
    "#]]);
    // Slowly.
    let begun = Instant::now();
    let lines: Vec<String> = (0..3).map(|at| job(&format!("s{at}"), "")).collect();
    import(&redis, &lines, "--yes --rate 10/s").ok();
    assert!(begun.elapsed() > Duration::from_millis(150));
}

/// 1,500 jobs, every tenth waiting for the one before it in the file, or behind it.
fn many() -> String {
    let line = |at: usize| {
        let other = match at % 10 {
            0 if at > 0 => at - 1,
            5 => at + 1,
            _ => return job(&format!("j{at:05}"), ""),
        };
        let more = format!(r#","state":"depends","dependencies":["j{other:05}"]"#);
        job(&format!("j{at:05}"), &more)
    };
    let lines: Vec<String> = (0..1500).map(line).collect();
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
    let path = beside(&redis, "f");
    std::fs::write(&path, many()).unwrap();
    let line = format!("import {} --yes --if-absent --rate 4000/s", path.display());
    let mut kills = 0;
    let keys = || match redis.send(&["DBSIZE"]) {
        redis::Value::Int(keys) => keys,
        other => panic!("{other:?}"),
    };
    loop {
        let mut running = redis.qless().start(&line);
        let until = keys() + 1500;
        while keys() < until && !running.has_ended() {
            std::thread::sleep(Duration::from_millis(3));
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
    let puts = printed.matches("\"what\":\"put\"").count();
    assert_eq!((printed.lines().count(), puts), (1501, 1500));
    redis.must_be_clean();
}

#[test]
fn an_import_reports_that_the_server_lost_jobs_in_the_middle() {
    let redis = Redis::start();
    let lines: Vec<String> = (0..1500).map(|n| job(&format!("j{n:04}"), "")).collect();
    let path = beside(&redis, "jobs.ndjson");
    std::fs::write(&path, file(&lines)).unwrap();
    let line = format!("import {} --yes --if-absent", path.display());
    let run = redis.qless().start(&format!("{line} --rate 2000/s"));
    let deadline = Instant::now() + Duration::from_secs(30);
    while jids(&redis, "--all").split(' ').count() < 200 {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(50));
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
    given(&redis, &lines).session(expect![[r#"
        $ qless import - --yes -o ndjson
        {"jid":"a","result":"done","code":"ok","detail":null,"queue":"q","state_before":"waiting","state_after":"waiting","line":2}
        {"jid":"b","result":"failed","code":"invalid","detail":"Arg \"tags\" has more than 1000 tags","queue":"q","state_before":"waiting","state_after":null,"line":3}
        {"jid":"c","result":"done","code":"ok","detail":null,"queue":"q","state_before":"waiting","state_after":"waiting","line":4}
        {"summary":{"action":"import","dry_run":false,"context":null,"matched":3,"done":2,"skipped":0,"failed":1,"remaining":0,"elapsed_s":0}}
        --- stderr
        2 imported, 1 failed
          failed   1  Arg "tags" has more than 1000 tags: b
        --- exit 3
        $ qless jobs -o jid
        a
        c
    "#]]);
}

/// `get` shows when it failed: that is its age.
#[test]
fn an_imported_failure_is_as_old_as_it_was() {
    let redis = Redis::start();
    redis.ok(100, "put mail K --jid a");
    redis.ok(110, "pop mail --worker w");
    redis.ok(120, "fail a --worker w --group boom --message no");
    let exported = redis.at(130).run("export --all").stdout();
    redis.at(1000).input(exported).session(expect![[r#"
        130 $ qless cancel a --yes &>/dev/null
        $ qless import - --yes &>/dev/null
        1060 $ qless failed --group boom --older-than 10m -o jid
        a
        --- exit 10
        1060 $ qless failed --group boom --newer-than 10m -o jid
        1060 $ qless failed --group boom --older-than 1h -o jid
    "#]]);
}

#[test]
fn a_dry_run_names_the_jobs_that_the_import_would_refuse() {
    let redis = Redis::start();
    for jid in ["empty", "nul", "fine", "after --depends fine"] {
        redis.ok(1, &format!("put q K --jid {jid}"));
    }
    redis.ok(1, "track fine");
    redis.send(&["HSET", "ql:j:empty", "data", ""]);
    redis.send(&["HSET", "ql:j:nul", "data", "x\0y"]);
    let text = redis.ok(2, "export --all");
    redis.send(&["FLUSHALL"]);
    let qless = redis.at(100).input(&text);
    qless.session(expect![[r#"
        $ qless import - --dry-run
        --- stderr
        Import 4 jobs on unix://DIR/s

          q	4
        would import 2, 2 failed
          failed   1  NUL byte in data: nul
                   1  data is not JSON: Expected value but found T_END at character 1:
            empty
        --- exit 3
    "#]]);
    assert!(redis.dump().is_empty());
    qless.session(expect![[r#"
        $ qless import - --yes
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
    let text = redis.ok(2, "export --all");
    for dup in ["skip", "merge", "replace"] {
        redis.send(&["FLUSHALL"]);
        let defaults =
            format!(r#"{{"key":"{{data.c}}","dup":"{dup}","priority":3,"throttles":["t=1"]}}"#);
        redis.at(3).args(["defaults", "q", &defaults]).exits(0);
        redis.at(100).input(&text).session(expect![[r#"
            $ qless import - --yes
            --- stderr
            3 imported
            $ qless jobs --queue q --state waiting -o jid
            c
            b
            a
            $ qless get b -o json | jq -c '[.key, .priority, .data]'
            [null,0,{"c":1}]
        "#]]);
    }
}

#[test]
fn a_lane_and_not_a_dependency_holds_an_imported_job() {
    let redis = Redis::start();
    let put_lane = || {
        redis.send(&["FLUSHALL"]);
        for jid in ["a", "b", "c"] {
            redis.ok(1, &format!("put q K --jid {jid} --key k"));
        }
    };
    put_lane();
    let text = redis.ok(2, "export --all");
    let alone = redis.ok(2, "export b");
    // The job before it fails between two runs of the import, which follows the file in its second run.
    redis.session(expect![[r#"
        3 $ qless cancel b c --yes &>/dev/null
        4 $ qless pop q &>/dev/null
        5 $ qless fail a --group g --message m &>/dev/null
    "#]]);
    redis.at(100).input(&alone).run("import - --yes").exits(0);
    redis.at(100).input(&text).session(expect![[r#"
        $ qless get b --field state
        waiting
        $ qless import - --yes --if-absent
        --- stderr
        1 imported, 2 skipped
          skipped  2  it exists already: a, b
        $ qless get c --field state
        depends
        102 $ qless pop q -o jid
        b
        103 $ qless complete b &>/dev/null
        104 $ qless pop q -o jid
        c
    "#]]);
    redis.must_be_clean();

    // A job that the import refuses, or that is in another lane, is still waited for.
    redis.send(&["FLUSHALL"]);
    redis.send(&["SET", "ql:j:a-history", "x"]);
    let ran = redis.at(100).input(&text).run("import - --yes").exits(3);
    ran.says("3 failed");
    redis.send(&["DEL", "ql:j:a-history"]);
    redis.at(100).input(&text).session(expect![[r#"
        4 $ qless put q K --jid a &>/dev/null
        $ qless import - --yes --if-absent
        --- stderr
        2 imported, 1 skipped
          skipped  1  it exists already: a
        101 $ qless pop q --count 9 -o jid
        a
    "#]]);

    // A dependency on a job of the lane that is not the one before it stays.
    redis.send(&["FLUSHALL"]);
    redis.ok(1, "put q K --jid a --key k");
    redis.ok(2, "put q K --jid x --key k");
    redis.ok(3, "put q K --jid b --key k --depends a");
    let explicit = redis.ok(4, "export --all");
    redis.send(&["FLUSHALL"]);
    redis.at(100).input(&explicit).session(expect![[r#"
        $ qless import - --yes
        --- stderr
        3 imported
        101 $ qless pop q &>/dev/null
        102 $ qless fail a --group g --message m &>/dev/null
        103 $ qless pop q -o jid
        x
        104 $ qless complete x &>/dev/null
        105 $ qless pop q &>/dev/null
        --- exit 4
    "#]]);

    // The order of the lane has changed since the export.
    put_lane();
    redis.at(100).input(&text).session(expect![[r#"
        4 $ qless pop q &>/dev/null
        5 $ qless fail a --group g --message m &>/dev/null
        6 $ qless retry a &>/dev/null
        $ qless import - --yes --replace
        --- stderr
        3 imported
    "#]]);
    redis.must_be_clean();
}

#[test]
fn a_replaced_merge_job_has_the_payloads_of_the_file() {
    let redis = Redis::start();
    redis.ok(1, "put q K '{\"v\":1}' --jid m --key k --merge");
    redis.ok(1, "put q K '{\"v\":2}' --key k --merge");
    let text = redis.ok(2, "export --all");
    redis.ok(3, "put q K '{\"v\":3}' --key k --merge");
    redis.at(100).input(text).session(expect![[r#"
        $ qless import - --yes --replace
        --- stderr
        1 imported
        $ qless get m --data
        [{"v":1},{"v":2}]
        --- no newline
    "#]]);
    redis.must_be_clean();
}
