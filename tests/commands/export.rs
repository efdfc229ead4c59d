//! `qless export`

use std::os::unix::fs::PermissionsExt;

use expect_test::expect;
use serde_json::Value;

use crate::support::qless::RunOutput;
use crate::support::redis::Redis;
use crate::support::text::Shows;

/// A job in each state, a recurring job, an option, a pause.
fn mixed() -> Redis {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid done");
    redis.ok(2, "pop mail --worker w");
    redis.ok(3, "complete done --worker w");
    redis.ok(4, "put mail K --jid bad");
    redis.ok(5, "pop mail --worker w");
    redis.ok(
        6,
        "fail bad --worker w --group 'upload error' --message 'no\nway'",
    );
    for (now, line) in [
        (
            7.0,
            "put mail Mail::Welcome --jid first --arg user:=9007199254740993 --tag eu --tag new --priority 3 --retries 2",
        ),
        (7.25, "put mail K --jid last --delay 10.5s --depends bad"),
        (8.0, "put mail K --jid later --delay 1h"),
        (8.0, "put img K --jid held"),
        (9.0, "pop img --worker w2"),
        (
            10.0,
            "recur put img Thumb --jid nightly --every 1d --tag eu",
        ),
        (11.0, "config set heartbeat 90"),
        (
            12.0,
            "pause img --until 1970-01-01T01:00:00Z --reason 'disk swap'",
        ),
    ] {
        redis.ok(now, line);
    }
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
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("good");
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
    let redis = Redis::start();
    redis.ok(1, "put q K --jid j");
    redis.ok(1, "pause q");
    let line = redis.ok(1, "export --queue q --with paused");
    let line = lines(&line).pop().unwrap();
    line["by"].as_str().unwrap().to_string()
}

#[test]
fn selectors_and_jids_choose_the_exported_jobs() {
    let redis = mixed();
    let some = |line: &str| jids(&redis.ok(100, line));
    assert_eq!(some("export --queue img"), "held");
    assert_eq!(some("export --state failed,scheduled"), "later bad");
    assert_eq!(some("export --tag eu"), "first");
    assert_eq!(some("export --group 'upload*'"), "bad");
    assert_eq!(some("export last done"), "last done");
    assert_eq!(some("export --queue mail --limit 2"), "first later");
    assert_eq!(some("export --queue 'no*'"), "");
    let piped = redis.at(100).input("first\nbad\n").run("export -").ok();
    assert_eq!(jids(&piped), "first bad");
    // `--with` adds options and pauses of the given queues.
    let some = |line: &str| {
        let kinds: Vec<Value> = lines(&redis.ok(100, line))
            .iter()
            .map(|line| line["kind"].clone())
            .collect();
        serde_json::to_string(&kinds).unwrap()
    };
    assert_eq!(
        some("export --queue mail --with config,recur,paused --state failed"),
        r#"["export","job","config"]"#
    );
    assert_eq!(
        some("export --queue 'im*' --with config,recur,paused"),
        r#"["export","job","recurring","config","paused"]"#
    );
}

#[test]
fn the_header_counts_jobs_if_an_index_knows_them() {
    let redis = mixed();
    let count = |line: &str| lines(&redis.ok(100, line))[0]["jobs"].clone();
    assert_eq!(count("export --state failed"), 1);
    assert_eq!(count("export first bad"), 2);
    assert_eq!(count("export --queue mail --state failed"), Value::Null);
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
        let jid = format!("j{at}");
        redis.ok(1, &format!("put q K --jid {jid}"));
        () = redis::cmd("HSET")
            .arg(format!("ql:j:{jid}"))
            .arg("data")
            .arg(data)
            .query(&mut connection)
            .unwrap();
        for entry in entries.iter().take(at) {
            () = redis::cmd("RPUSH")
                .arg(format!("ql:j:{jid}-history"))
                .arg(entry)
                .query(&mut connection)
                .unwrap();
        }
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
fn an_export_replaces_no_file_of_save_or_undo() {
    let redis = mixed();
    let dir = tempfile::tempdir().unwrap();
    let (save, undo) = (dir.path().join("saved"), dir.path().join("undo"));
    redis.ok(20, &format!("cancel later --save {}", save.display()));
    redis.send(&["ZADD", "ql:q:mail-work", "1", "ghost"]);
    redis.ok(
        20,
        &format!("check --repair --yes --undo {}", undo.display()),
    );
    for (file, flag) in [(&save, "--save"), (&undo, "--undo")] {
        let before = std::fs::read(file).unwrap();
        let name = file.display();
        let line = format!("export first --file {name}");
        let said = redis.at(100).run(&line).exits(2).stderr();
        let expected =
            format!("error: `{name}` exists and was begun by `{flag}`\nhint: name another file\n");
        assert_eq!(said, expected);
        assert_eq!(std::fs::read(file).unwrap(), before);
    }
}

#[test]
fn an_export_file_appears_when_it_is_complete() {
    let redis = mixed();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("m.ndjson");
    let export = |rest: &str| {
        redis
            .at(100)
            .hide(dir.path().to_str().unwrap(), "TMP")
            .run(&format!("export {rest}"))
    };
    let to = format!("--file {}", file.display());
    std::fs::write(&file, "before").unwrap();
    export(&format!("--queue img {to} -o json")).shows(expect![[r#"
        {
          "kind": "done",
          "v": 1,
          "action": "export",
          "targets": [
            "TMP/m.ndjson"
          ]
        }
    "#]]);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let printed = export("--queue img").ok();
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        format!("{printed}\n")
    );
    // A refusal leaves the old file, and no file beside it.
    export(&format!("--queue nobody {to}")).exits(4);
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        format!("{printed}\n")
    );
    export(&format!(
        "--queue img --file {}/no/file",
        dir.path().display()
    ))
    .shows(expect![[r#"
        --- stderr
        error: cannot write `TMP/no/file`: no such file or directory
        --- exit 1
    "#]]);
    export("--queue img --file /dev/full").shows(expect![[r#"
        --- stderr
        error: cannot write `/dev/full`: no space left on device
        hint: make room on the disk
        --- exit 1
    "#]]);
    export("--queue img --file ''").exits(2);
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn a_killed_export_leaves_nothing() {
    let redis = Redis::start();
    let data = format!(r#"{{"text":"{}"}}"#, "x".repeat(100_000));
    redis
        .at(1)
        .args(["put", "q", "K", "--jid", "a", "--data", &data])
        .ok();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("out"), "before").unwrap();
    // SIGXFSZ ends the process at once, as SIGKILL does.
    let line = r#"ulimit -c 0; ulimit -f 100; exec "$0" export --queue q --file "$1/out""#;
    let qless = redis.at(2).command();
    let mut shell = std::process::Command::new("sh");
    let variables = qless.get_envs();
    shell.env_clear();
    shell.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    shell
        .args(["-c", line])
        .arg(qless.get_program())
        .arg(dir.path());
    RunOutput::of(&mut shell).exits(128 + 25);
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let kept = std::fs::read_to_string(dir.path().join("out")).unwrap();
    assert_eq!(kept, "before");
}

#[test]
fn missing_jobs_are_reported_by_export() {
    let redis = mixed();
    let export = |rest: &str| redis.at(100).run(&format!("export {rest}"));
    export("").shows(expect![[r#"
        --- stderr
        error: no jobs are given
        hint: give jids, or select jobs by flags: `qless help selectors`
        --- exit 2
    "#]]);
    export("--queue nobody").shows(expect![[r#"
        --- stderr
        error: queue `nobody` does not exist
        --- exit 4
    "#]]);
    let gone = export("first no nix").exits(4);
    assert_eq!(jids(&gone.stdout()), "first");
    gone.stderr().shows(expect![[r#"
        error: 2 jobs do not exist: `no`, `nix`
    "#]]);
    export("first --queue mail").exits(2);
    export("--all -o json").shows(expect![[r#"
        --- stderr
        {"kind":"error","v":1,"code":"usage","exit":2,"message":"an export has one document per line, not one document","hint":"leave out `-o json`, or name a file: `--file FILE`","jid":null}
        --- exit 2
    "#]]);
    export("--all -o jid").exits(2);
    export("--all --with everything").exits(2);
    // An empty selection is not an error.
    let nothing = Redis::start();
    nothing.session(expect![[r#"
        5 $ qless export --all --with config,recur,paused
        {"kind":"export","v":1,"at":"1970-01-01T00:00:05.000Z","prefix":"ql:","jobs":0,"command":"export"}
        {"kind":"config","v":1,"total":0,"offset":0,"items":[]}
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
    ] {
        redis.ok(now, line);
    }
    let export = |flags: &str| {
        let ran = redis.at(100).run(&format!("export {flags}"));
        ran.ok();
        ran.stderr()
    };
    assert_eq!(
        export("--queue mail"),
        "note: exported jobs have throttle `api`; its maximum is not exported without `--with throttles`\n"
    );
    assert_eq!(
        export("--all --with recur"),
        "note: exported jobs have throttles `api`, `db`; their maxima are not exported without `--with throttles`\n"
    );
    assert_eq!(export("--queue mail --quiet"), "");
    assert_eq!(export("--all --with throttles,recur"), "");
    let all = redis.ok(100, "export --all --with throttles");
    let limits: Vec<Value> = lines(&all)
        .into_iter()
        .filter(|line| line["kind"] == "limit")
        .collect();
    assert_eq!(limits.len(), 2);
    assert_eq!(
        limits[0],
        serde_json::json!({"kind": "limit", "v": 1, "id": "api", "maximum": 1, "expires": null})
    );
    let expires = limits[1]["expires"].as_str().unwrap();
    assert!(expires.starts_with("1970-01-01T00:11:"), "{expires}");
    // A throttle that cannot be read is named, and the rest is exported.
    redis.send(&["SET", "ql:th:bad", "x"]);
    let ran = redis.at(100).run("export --all --with throttles,recur");
    assert_eq!(ran.code(), 3);
    assert_eq!(
        ran.stderr(),
        "error: cannot read throttle `bad`: key `ql:th:bad` has the wrong type\nhint: qless check --only key-type\n"
    );
}

#[test]
fn exporting_changes_nothing() {
    let redis = mixed();
    let before = redis.dump();
    redis.ok(5000, "export --all --with config,recur,paused --read-only");
    assert!(redis.dump() == before);
}

#[test]
fn ten_thousand_jobs_are_exported_and_a_broken_output_is_reported() {
    let redis = Redis::start();
    let put = |at: usize| {
        let jid = format!("j{at}");
        let words = ["put", "", "q", &jid, "K", "{}", "0"].map(str::to_owned);
        (1.0, words.to_vec())
    };
    redis.calls((0..10_000).map(put));
    let all = redis.ok(2, "export --queue q");
    assert_eq!(lines(&all)[0]["jobs"], 10_000);
    let mut jids: Vec<&str> = all.lines().skip(1).collect();
    jids.sort_unstable();
    jids.dedup();
    assert_eq!(jids.len(), 10_000);
    // A closed pipe ends it as SIGPIPE does.
    let mut child = redis
        .at(2)
        .command()
        .args(["export", "--queue", "q"])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = RunOutput::of_child(child);
    assert_eq!((ended.code(), ended.stderr().as_str()), (128 + 13, ""));
    // A full disk is reported.
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = redis.at(2).command();
    RunOutput::of(command.args(["export", "--queue", "q"]).stdout(full)).shows(expect![[r#"
        --- stderr
        error: cannot write to stdout: no space left on device
        hint: make room on the disk
        --- exit 1
    "#]]);
}

#[test]
fn an_export_of_all_jobs_says_that_it_has_no_recurring_jobs() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a");
    redis.ok(1, "recur put q K --every 1h --jid r1");
    redis.ok(1, "recur put p K --every 1h --jid r2");
    redis.ok(2, "recur pause r2");
    let note = "note: 2 recurring jobs are not exported without `--with recur`\n";
    assert_eq!(redis.at(3).run("export --all").exits(0).stderr(), note);
    for silent in ["export --all --with recur", "export --all -q", "export a"] {
        assert_eq!(redis.at(3).run(silent).exits(0).stderr(), "", "{silent}");
    }
}
