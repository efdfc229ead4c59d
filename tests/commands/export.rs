//! `qless export`

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::jobs::put_call;
use crate::support::qless::RunOutput;
use crate::support::redis::Redis;
use crate::support::text::Shows;

/// A job in each state, a recurring job, an option, a pause.
fn mixed() -> Redis {
    let redis = Redis::start();
    redis.at(0).env("USER", "ann").session(expect![[r#"
        1 $ qless put mail K --jid done &>/dev/null
        2 $ qless pop mail --worker w &>/dev/null
        3 $ qless complete done --worker w &>/dev/null
        4 $ qless put mail K --jid bad &>/dev/null
        5 $ qless pop mail --worker w &>/dev/null
        6 $ printf 'no\nway' | qless fail bad --worker w --group 'upload error' --message - &>/dev/null
        7 $ qless put mail Mail::Welcome --jid first --arg user:=9007199254740993 --tag eu --tag new --priority 3 --retries 2 &>/dev/null
        7.25 $ qless put mail K --jid last --delay 10.5s --depends bad &>/dev/null
        8 $ qless put mail K --jid later --delay 1h &>/dev/null
        8 $ qless put img K --jid held &>/dev/null
        9 $ qless pop img --worker w2 &>/dev/null
        10 $ qless recur put img Thumb --jid nightly --every 1d --tag eu &>/dev/null
        11 $ qless config set heartbeat 90 &>/dev/null
        12 $ qless pause img --until 1970-01-01T01:00:00Z --reason 'disk swap' &>/dev/null
    "#]]);
    redis
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The documents in the lines, without the header.
fn jids(text: &str) -> String {
    let jids: Vec<String> = lines(text)[1..]
        .iter()
        .map(|line| line["jid"].as_str().unwrap_or("?").to_string())
        .collect();
    jids.join(" ")
}

#[test]
fn an_export_of_jobs_that_do_not_exist_keeps_the_file() {
    let redis = mixed();
    let path = redis.socket().with_file_name("good");
    let export = |jids: &str| {
        let line = format!("export {jids} --file {}", path.display());
        redis.at(20).run(&line)
    };
    export("first last").exits(0);
    let good = std::fs::read_to_string(&path).unwrap();
    export("frist").exits(4);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), good);
    // What exists is exported, and the head counts it.
    export("frist last").exits(4);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(jids(&text), "last");
    assert_eq!(lines(&text)[0]["jobs"], 1);
}

#[test]
fn an_export_replaces_no_file_of_save_or_undo() {
    let redis = mixed();
    redis.send(&["ZADD", "ql:q:mail-work", "1", "ghost"]);
    redis.session(expect![[r#"
        20 $ qless cancel later --save DIR/saved &>/dev/null
        20 $ qless check --repair --yes --undo DIR/undo &>/dev/null
    "#]]);
    let read = |name: &str| std::fs::read(redis.socket().with_file_name(name)).unwrap();
    let before = ["saved", "undo"].map(read);
    redis.session(expect![[r#"
        100 $ qless export first --file DIR/saved
        --- stderr
        error: `DIR/saved` exists and was begun by `--save`
        hint: name another file
        --- exit 2
        100 $ qless export first --file DIR/undo
        --- stderr
        error: `DIR/undo` exists and was begun by `--undo`
        hint: name another file
        --- exit 2
    "#]]);
    assert_eq!(["saved", "undo"].map(read), before);
}

#[test]
fn each_job_is_exported_as_a_line_with_all_its_fields() {
    let redis = mixed();
    redis
        .at(100)
        .hide(&by(), "ann@h")
        .run("export --all --with config,recur,paused")
        .shows(expect![[r#"
            {"kind":"export","v":1,"at":"1970-01-01T00:01:40.000Z","prefix":"ql:","jobs":6,"command":"export"}
            {"kind":"job","v":1,"jid":"held","klass":"K","queue":"img","state":"stalled","state_stored":"running","priority":0,"retries":5,"remaining":5,"worker":"w2","expires":"1970-01-01T00:01:09.000Z","tracked":false,"tags":[],"data":{},"failure":null,"dependencies":[],"dependents":[],"spawned_from":null,"scheduled_for":null,"since":"1970-01-01T00:00:09.000Z","history":[{"what":"put","when":"1970-01-01T00:00:08.000Z","queue":"img"},{"what":"popped","when":"1970-01-01T00:00:09.000Z","worker":"w2"}]}
            {"kind":"job","v":1,"jid":"first","klass":"Mail::Welcome","queue":"mail","state":"waiting","state_stored":"waiting","priority":3,"retries":2,"remaining":2,"worker":null,"expires":null,"tracked":false,"tags":["eu","new"],"data":{"user":9007199254740993},"failure":null,"dependencies":[],"dependents":[],"spawned_from":null,"scheduled_for":null,"since":"1970-01-01T00:00:07.000Z","history":[{"what":"put","when":"1970-01-01T00:00:07.000Z","queue":"mail"}]}
            {"kind":"job","v":1,"jid":"later","klass":"K","queue":"mail","state":"scheduled","state_stored":"scheduled","priority":0,"retries":5,"remaining":5,"worker":null,"expires":null,"tracked":false,"tags":[],"data":{},"failure":null,"dependencies":[],"dependents":[],"spawned_from":null,"scheduled_for":"1970-01-01T01:00:08.000Z","since":"1970-01-01T00:00:08.000Z","history":[{"what":"put","when":"1970-01-01T00:00:08.000Z","queue":"mail"}]}
            {"kind":"job","v":1,"jid":"last","klass":"K","queue":"mail","state":"depends","state_stored":"depends","priority":0,"retries":5,"remaining":5,"worker":null,"expires":null,"tracked":false,"tags":[],"data":{},"failure":null,"dependencies":["bad"],"dependents":[],"spawned_from":null,"scheduled_for":"1970-01-01T00:00:17.750Z","since":"1970-01-01T00:00:07.000Z","history":[{"what":"put","when":"1970-01-01T00:00:07.000Z","queue":"mail"}]}
            {"kind":"job","v":1,"jid":"bad","klass":"K","queue":"mail","state":"failed","state_stored":"failed","priority":0,"retries":5,"remaining":5,"worker":null,"expires":null,"tracked":false,"tags":[],"data":{},"failure":{"group":"upload error","message":"no\nway","worker":"w","when":"1970-01-01T00:00:06.000Z"},"dependencies":[],"dependents":["last"],"spawned_from":null,"scheduled_for":null,"since":"1970-01-01T00:00:06.000Z","history":[{"what":"put","when":"1970-01-01T00:00:04.000Z","queue":"mail"},{"what":"popped","when":"1970-01-01T00:00:05.000Z","worker":"w"},{"what":"failed","when":"1970-01-01T00:00:06.000Z","group":"upload error","worker":"w"},{"what":"cli","when":"1970-01-01T00:00:06.000Z","verb":"fail","by":"ann@h"}]}
            {"kind":"job","v":1,"jid":"done","klass":"K","queue":null,"state":"complete","state_stored":"complete","priority":0,"retries":5,"remaining":5,"worker":null,"expires":null,"tracked":false,"tags":[],"data":{},"failure":null,"dependencies":[],"dependents":[],"spawned_from":null,"scheduled_for":null,"since":"1970-01-01T00:00:03.000Z","history":[{"what":"put","when":"1970-01-01T00:00:01.000Z","queue":"mail"},{"what":"popped","when":"1970-01-01T00:00:02.000Z","worker":"w"},{"what":"done","when":"1970-01-01T00:00:03.000Z"},{"what":"cli","when":"1970-01-01T00:00:03.000Z","verb":"complete","by":"ann@h"}]}
            {"kind":"recurring","v":1,"jid":"nightly","klass":"Thumb","queue":"img","every_s":86400,"next":"1970-01-01T00:00:10.000Z","backlog":0,"count":0,"priority":0,"retries":5,"tags":["eu"],"data":{}}
            {"kind":"config","v":1,"total":1,"offset":0,"items":[{"key":"heartbeat","value":"90","default":"60","known":true}]}
            {"kind":"paused","v":1,"queue":"img","since":"1970-01-01T00:00:12.000Z","until":"1970-01-01T01:00:00.000Z","reason":"disk swap","by":"ann@h"}
        "#]]);
}

/// The actor, as the binary names it.
fn by() -> String {
    format!("ann@{}", qless::internals::host_name())
}

#[test]
fn selectors_and_jids_choose_the_exported_jobs() {
    let redis = mixed();
    let before = redis.dump();
    // The header counts the jobs if an index knows their number.
    let mut table = String::new();
    for selector in [
        "--queue img",
        "--state failed,scheduled",
        "--state failed",
        "--tag eu",
        "--group 'upload*'",
        "last done",
        "--queue mail --limit 2",
        "--queue mail --state failed",
        "--queue 'no*'",
    ] {
        let text = redis.ok(100, &format!("export {selector}"));
        let count = &lines(&text)[0]["jobs"];
        table += &format!("{selector}: {count}: {}\n", jids(&text));
    }
    expect![[r#"
        --queue img: null: held
        --state failed,scheduled: 2: later bad
        --state failed: 1: bad
        --tag eu: 1: first
        --group 'upload*': 1: bad
        last done: 2: last done
        --queue mail --limit 2: null: first later
        --queue mail --state failed: null: bad
        --queue 'no*': null: 
    "#]]
    .assert_eq(&table);
    let piped = redis.at(100).input("first\nbad\n").run("export -").ok();
    assert_eq!(jids(&piped), "first bad");
    // `--with` adds options and pauses of the given queues.
    for (line, kinds) in [
        ("--queue mail --state failed", "export job config"),
        ("--queue 'im*'", "export job recurring config paused"),
    ] {
        let line = format!("export --with config,recur,paused --read-only {line}");
        let text = redis.ok(100, &line);
        let found: Vec<Value> = lines(&text)
            .iter()
            .map(|line| line["kind"].clone())
            .collect();
        assert_eq!(json!(found), json!(kinds.split(' ').collect::<Vec<_>>()));
    }
    assert!(redis.dump() == before);
}

#[test]
fn data_and_history_are_exported_byte_for_byte() {
    let redis = Redis::start();
    let stored: [&[u8]; 7] = [
        b"[]",
        b"{ \"b\": 1.10,  \"a\":\t[9007199254740993] }",
        b"{\"a\":\n1}",
        b" 1 ",
        b"\"\xff\"",
        b"NaN",
        "\"\u{202e}\u{7f}\"".as_bytes(),
    ];
    let entries: [&[u8]; 6] = [
        b"[1,\"put\",{\"q\":\"q\"}]",
        b"[2.5,\"cli\",{\"n\":9007199254740993,\"z\":null,\"a\":[]}]",
        b"[3,\"a\\/b\"]",
        b"[3,\"a/b\"]",
        b"nonsense\xff",
        b"[4, \"done\"]",
    ];
    let mut connection = redis.connection();
    for (at, data) in stored.iter().enumerate() {
        redis.ok(1, &format!("put q K --jid j{at}"));
        let mut pipe = redis::pipe();
        pipe.hset(format!("ql:j:j{at}"), "data", *data);
        for entry in entries.iter().take(at) {
            pipe.rpush(format!("ql:j:j{at}-history"), *entry);
        }
        pipe.exec(&mut connection).unwrap();
    }
    let printed = redis.ok(2, "export --queue q");
    let printed = printed.lines().skip(1).map(|line| {
        let part = |from: &str, to: &str| {
            let from = line.find(from).unwrap();
            let to = line[from..].find(to).map(|to| from + to);
            line[from..to.unwrap_or(line.len() - 1)].to_string()
        };
        let data = part("\"data\":", ",\"failure\"");
        if line.contains("history_bytes") {
            format!("{data} {}\n", part("\"history_bytes\":", ",\"due\""))
        } else {
            format!("{data}\n")
        }
    });
    printed.collect::<String>().shows(expect![[r#"
        "data":"\u202e\u007f","data_bytes":"IuKArn8i" "history_bytes":["WzEsInB1dCIseyJxIjoicSJ9XQ==","WzEsInB1dCIseyJxIjoicSJ9XQ==","WzIuNSwiY2xpIix7Im4iOjkwMDcxOTkyNTQ3NDA5OTMsInoiOm51bGwsImEiOltdfV0=","WzMsImFcL2IiXQ==","WzMsImEvYiJd","bm9uc2Vuc2X/","WzQsICJkb25lIl0="]
        "data":null,"data_bytes":"TmFO" "history_bytes":["WzEsInB1dCIseyJxIjoicSJ9XQ==","WzEsInB1dCIseyJxIjoicSJ9XQ==","WzIuNSwiY2xpIix7Im4iOjkwMDcxOTkyNTQ3NDA5OTMsInoiOm51bGwsImEiOltdfV0=","WzMsImFcL2IiXQ==","WzMsImEvYiJd","bm9uc2Vuc2X/"]
        "data":null,"data_bytes":"Iv8i" "history_bytes":["WzEsInB1dCIseyJxIjoicSJ9XQ==","WzEsInB1dCIseyJxIjoicSJ9XQ==","WzIuNSwiY2xpIix7Im4iOjkwMDcxOTkyNTQ3NDA5OTMsInoiOm51bGwsImEiOltdfV0=","WzMsImFcL2IiXQ==","WzMsImEvYiJd"]
        "data":1,"data_bytes":"IDEg"
        "data":{"a":1},"data_bytes":"eyJhIjoKMX0="
        "data":{"b":1.10,"a":[9007199254740993]},"data_bytes":"eyAiYiI6IDEuMTAsICAiYSI6CVs5MDA3MTk5MjU0NzQwOTkzXSB9"
        "data":[]
    "#]]);
}

#[test]
fn names_that_are_not_text_are_exported_in_base64() {
    let redis = Redis::start();
    redis
        .at(1)
        .input("{}")
        .args(
            [
                b"put".as_slice(),
                b"q\xff",
                b"K \xe2\x80\xae",
                b"-",
                b"--jid=-x \xfe",
                b"--tag",
                b"t\xfd",
            ]
            .map(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes),
        )
        .ok();
    let printed = redis.ok(2, "export --all");
    expect![[r#"{"kind":"job","v":1,"jid":"-x \\xfe","jid_bytes":"LXgg/g==","klass":"K \u202e","queue":"q\\xff","queue_bytes":"cf8=","state":"waiting","state_stored":"waiting","priority":0,"retries":5,"remaining":5,"worker":null,"expires":null,"tracked":false,"tags":["t\\xfd"],"tags_bytes":["dP0="],"data":{},"failure":null,"dependencies":[],"dependents":[],"spawned_from":null,"scheduled_for":null,"since":"1970-01-01T00:00:01.000Z","history":[{"what":"put","when":"1970-01-01T00:00:01.000Z","queue":"q\\xff"}],"history_bytes":["WzEsInB1dCIseyJxIjoicf8ifV0="]}"#]].assert_eq(printed.lines().last().unwrap());
}

#[test]
fn a_legacy_history_is_exported_as_the_core_will_read_it() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid j");
    redis.send(&[
        "HSET",
        "ql:j:j",
        "history",
        r#"[{"put":5,"q":"q","popped":6,"worker":"w"}]"#,
    ]);
    let printed = redis.ok(2, "export j");
    let shown = redis.json(2, "get j -o json");
    let line = &lines(&printed)[1];
    assert_eq!(line["history"], shown["history"]);
    line["history"].to_string().shows(expect![[r#"[{"what":"put","when":"1970-01-01T00:00:01.000Z","queue":"q"},{"what":"put","when":"1970-01-01T00:00:05.000Z","queue":"q"},{"what":"popped","when":"1970-01-01T00:00:06.000Z","worker":"w"}]"#]]);
    assert_eq!(
        redis.send(&["LLEN", "ql:j:j-history"]),
        redis::Value::Int(1),
        "nothing was migrated"
    );
    redis.ok(3, "log j x");
    let history = redis.json(3, "get j -o json");
    let migrated = history["history"].as_array().unwrap();
    assert_eq!(line["history"].as_array().unwrap()[..], migrated[..3]);
}

#[test]
fn an_export_file_appears_when_it_is_complete() {
    let redis = mixed();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("m.ndjson");
    std::fs::write(&file, "before").unwrap();
    let qless = redis.at(100).hide(dir.path().to_str().unwrap(), "TMP");
    qless.session(expect![[r#"
        $ qless export --queue img --file TMP/m.ndjson -o json | jq -c
        {"kind":"done","v":1,"action":"export","targets":["TMP/m.ndjson"]}
    "#]]);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let printed = qless.run("export --queue img").stdout();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed);
    // A refusal leaves the old file, and no file beside it.
    qless.session(expect![[r#"
        $ qless export --queue nobody --file TMP/m.ndjson &>/dev/null
        --- exit 4
        $ qless export --queue img --file TMP/no/file
        --- stderr
        error: cannot write `TMP/no/file`: no such file or directory
        --- exit 1
        $ qless export --queue img --file /dev/full
        --- stderr
        error: cannot write `/dev/full`: no space left on device
        hint: make room on the disk
        --- exit 1
        $ qless export --queue img --file '' &>/dev/null
        --- exit 2
    "#]]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_killed_export_leaves_nothing() {
    let redis = Redis::start();
    let data = format!(r#"{{"text":"{}"}}"#, "x".repeat(100_000));
    let put = ["put", "q", "K", "--jid", "a", "--data", &data];
    redis.at(1).args(put).ok();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("out"), "before").unwrap();
    // SIGXFSZ ends the process at once, as SIGKILL does.
    let line = r#"ulimit -c 0; ulimit -f 100; exec "$0" export --queue q --file "$1/out""#;
    let mut shell = redis.at(2).shell(line);
    RunOutput::of(shell.arg(dir.path())).exits(128 + 25);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    let kept = std::fs::read_to_string(dir.path().join("out")).unwrap();
    assert_eq!(kept, "before");
}

#[test]
fn missing_jobs_are_reported_by_export() {
    let redis = mixed();
    redis.session(expect![[r#"
        100 $ qless export
        --- stderr
        error: no jobs are given
        hint: give jids, or select jobs by flags: `qless help selectors`
        --- exit 2
        100 $ qless export --queue nobody
        --- stderr
        error: queue `nobody` does not exist
        --- exit 4
        100 $ qless export first --queue mail &>/dev/null
        --- exit 2
        100 $ qless export --all -o json
        --- stderr
        {"kind":"error","v":1,"code":"usage","exit":2,"message":"an export has one document per line, not one document","hint":"leave out `-o json`, or name a file: `--file FILE`","jid":null}
        --- exit 2
        100 $ qless export --all -o jid &>/dev/null
        --- exit 2
        100 $ qless export --all --with everything &>/dev/null
        --- exit 2
        5 $ qless export --all --with config,recur,paused --prefix none:
        {"kind":"export","v":1,"at":"1970-01-01T00:00:05.000Z","prefix":"none:","jobs":0,"command":"export"}
        {"kind":"config","v":1,"total":0,"offset":0,"items":[]}
    "#]]);
    let gone = redis.at(100).run("export first no nix").exits(4);
    assert_eq!(jids(&gone.stdout()), "first");
    gone.stderr().shows(expect![[r#"
        error: 2 jobs do not exist: `no`, `nix`
    "#]]);
}

#[test]
fn maxima_of_throttles_are_exported_or_noted() {
    let redis = Redis::start();
    for (now, line) in [
        (1, "throttle set api 1"),
        (1, "throttle set db 2 --ttl 10m"),
        (2, "put mail K --jid a --throttle api --throttle free"),
        (3, "recur put img K --jid r --every 1h --throttle db"),
        (3, "recur put p K --every 1h --jid r2"),
        (4, "recur pause r2"),
    ] {
        redis.ok(now, line);
    }
    let notes = |flags: &str| {
        let ran = redis.at(100).run(&format!("export {flags}")).exits(0);
        ran.stderr()
    };
    assert_eq!(
        notes("--queue mail"),
        "note: exported jobs have throttle `api`; its maximum is not exported without `--with throttles`\n"
    );
    assert_eq!(
        notes("--all --with recur"),
        "note: exported jobs have throttles `api`, `db`; their maxima are not exported without `--with throttles`\n"
    );
    assert_eq!(
        notes("--all --with throttles"),
        "note: 2 recurring jobs are not exported without `--with recur`\n"
    );
    for silent in [
        "--queue mail --quiet",
        "--all --quiet",
        "--all --with throttles,recur",
        "a --with throttles",
    ] {
        assert_eq!(notes(silent), "", "{silent}");
    }
    let all = redis.ok(100, "export --all --with throttles");
    let mut limits = lines(&all);
    limits.retain(|line| line["kind"] == "limit");
    assert_eq!(limits.len(), 2);
    assert_eq!(
        limits[0],
        json!({"kind": "limit", "v": 1, "id": "api", "maximum": 1, "expires": null})
    );
    let expires = limits[1]["expires"].as_str().unwrap();
    assert!(expires.starts_with("1970-01-01T00:11:"), "{expires}");
    // A throttle that cannot be read is named, and the rest is exported.
    redis.send(&["SET", "ql:th:bad", "x"]);
    let ran = redis.at(100).run("export --all --with throttles,recur");
    assert_eq!(
        ran.exits(3).stderr(),
        "error: cannot read throttle `bad`: key `ql:th:bad` has the wrong type\nhint: qless check --only key-type\n"
    );
}

#[test]
fn thousands_of_jobs_are_exported_and_a_broken_output_is_reported() {
    let redis = Redis::start();
    redis.calls((0..3_000).map(|at| put_call(&format!("j{at}"), &[])));
    let all = redis.ok(2, "export --queue q");
    assert_eq!(lines(&all)[0]["jobs"], 3_000);
    let jobs: BTreeSet<&str> = all.lines().skip(1).collect();
    assert_eq!(jobs.len(), 3_000);
    // A closed pipe ends it as SIGPIPE does.
    let mut running = redis.at(2).start("export --queue q");
    drop(running.child.stdout.take());
    let ended = running.end().exits(128 + 13);
    assert_eq!(ended.stderr(), "");
    // A full disk is reported.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let mut command = redis.at(2).command();
    command.args(["export", "--queue", "q"]);
    RunOutput::of(command.stdout(full.unwrap())).shows(expect![[r#"
        --- stderr
        error: cannot write to stdout: no space left on device
        hint: make room on the disk
        --- exit 1
    "#]]);
}
