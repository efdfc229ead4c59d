//! `qless put`

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use expect_test::expect;

use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;

fn data(redis: &Redis, jid: &str) -> String {
    redis.at(0).run(&format!("get {jid} --data")).stdout()
}

#[test]
fn stdout_is_exactly_the_jid() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put mail Mail::Welcome --jid j1
        j1
    "#]]);
    let jid = redis.ok(10, "put mail Mail::Welcome");
    assert_eq!(jid.len(), 32);
    assert!(jid.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let ids: Vec<String> = redis
        .ok(11, "jobs --queue mail -o jid")
        .lines()
        .map(str::to_string)
        .collect();
    assert_eq!(ids, ["j1", &jid].map(String::from));
}

#[test]
fn the_document_of_put_names_the_queue_and_the_state() {
    let redis = Redis::start();
    let line =
        "put mail K --jid j1 --delay 10m --priority -3 --tag eu --tag vip --retries 2 -o json";
    redis.at(10).run(line).shows(expect![[r#"
        {
          "kind": "put",
          "v": 1,
          "jid": "j1",
          "queue": "mail",
          "state": "scheduled",
          "created": true,
          "new": true
        }
    "#]]);
    redis.at(11).run("get j1 -o json").shows(expect![[r#"
        {
          "kind": "job",
          "v": 1,
          "jid": "j1",
          "klass": "K",
          "queue": "mail",
          "state": "scheduled",
          "state_stored": "scheduled",
          "priority": -3,
          "retries": 2,
          "remaining": 2,
          "worker": null,
          "expires": null,
          "tracked": false,
          "tags": [
            "eu",
            "vip"
          ],
          "data": {},
          "failure": null,
          "dependencies": [],
          "dependents": [],
          "spawned_from": null,
          "scheduled_for": "1970-01-01T00:10:10.000Z",
          "since": "1970-01-01T00:00:10.000Z",
          "history": [
            {
              "what": "put",
              "when": "1970-01-01T00:00:10.000Z",
              "queue": "mail"
            }
          ]
        }
    "#]]);
}

#[test]
fn data_is_sent_unchanged() {
    let redis = Redis::start();
    let text = r#"{"n": 9007199254740993, "l": [], "e": "caf\u00e9 / \/"}"#;
    redis.at(0).args(["put", "q", "K", text, "--jid", "a"]).ok();
    assert_eq!(data(&redis, "a"), text);
    redis
        .at(0)
        .args(["put", "q", "K", "--data", "-5", "--jid", "b"])
        .ok();
    assert_eq!(data(&redis, "b"), "-5");
    redis.at(0).args(["put", "q", "K", "-5", "--jid", "c"]).ok();
    assert_eq!(data(&redis, "c"), "-5");
    redis
        .at(0)
        .input(text)
        .args(["put", "q", "K", "-", "--jid", "d"])
        .ok();
    assert_eq!(data(&redis, "d"), text);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("data.json");
    std::fs::write(&file, text).unwrap();
    let arg = format!("@{}", file.display());
    redis.at(0).args(["put", "q", "K", &arg, "--jid", "e"]).ok();
    assert_eq!(data(&redis, "e"), text);
    redis.ok(0, "put q K --jid f");
    assert_eq!(data(&redis, "f"), "{}");
}

#[test]
fn data_is_built_from_pairs() {
    let redis = Redis::start();
    redis.ok(
        0,
        "put q K --jid a --arg user:=42 --arg locale=de --arg opts.fast:=true --arg opts.by=",
    );
    assert_eq!(
        data(&redis, "a"),
        r#"{"user":42,"locale":"de","opts":{"fast":true,"by":""}}"#
    );
    redis.session(expect![[r#"
        0 $ qless put q K --arg user
        --- stderr
        error: `--arg` expects `key=text` or `key:=json`, not `user`: there is no `=`
        --- exit 2
        0 $ qless put q K --arg user:=x
        --- stderr
        error: `--arg` expects `key=text` or `key:=json`, not `user:=x`: no JSON after `:=`, line 1, column 1: expected value at `x`
        --- exit 2
        0 $ qless put q K {} --arg user=x
        --- stderr
        error: `DATA` cannot be used with `--arg`
        hint: usage: `qless put [OPTIONS] QUEUE KLASS [DATA] | [QUEUE [KLASS]] --from FILE`
        --- exit 2
    "#]]);
}

#[test]
fn data_in_the_position_of_the_class_is_refused() {
    let redis = Redis::start();
    for line in [r#"put e '{"a":1}'"#, r#"recur put e '{"a":1}' --every 1d"#] {
        redis.at(0).run(line).shows(expect![[r#"
            --- stderr
            error: `KLASS` expects the class of the job before its data, as in `QUEUE KLASS DATA`, not `{"a":1}`
            --- exit 2
        "#]]);
    }
}

#[test]
fn invalid_json_is_refused_with_line_and_column() {
    let redis = Redis::start();
    let put = |data: &str| redis.at(0).input(data).args(["put", "q", "K", "-"]);
    put("{\"a\": 1,\n \"b\" 2}").shows(expect![[r#"
        --- stderr
        error: data is not JSON: line 2, column 6: expected `:` at `2`
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
    "#]]);
    put("").shows(expect![[r#"
        --- stderr
        error: data is not JSON: line 1, column 1: it is empty, a value was expected
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
    "#]]);
    put("{\"a\":NaN}").shows(expect![[r#"
        --- stderr
        error: data is not JSON: line 1, column 6: expected value at `NaN`
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
    "#]]);
    put("[Infinity]").shows(expect![[r#"
        --- stderr
        error: data is not JSON: line 1, column 2: expected value at `Infinity`
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
    "#]]);
    put("\"\\ud800\"").shows(expect![[r#"
        --- stderr
        error: data is not JSON: line 1, column 2: half of a surrogate pair stands alone
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
    "#]]);
    put(&"[".repeat(1001)).shows(expect![[r#"
        --- stderr
        error: data is not JSON: line 1, column 1002: EOF while parsing a list
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
    "#]]);
    let bytes: &[u8] = b"\"\xff\"";
    redis
        .at(0)
        .args([
            OsStr::new("put"),
            OsStr::new("q"),
            OsStr::new("K"),
            OsStr::from_bytes(bytes),
        ])
        .shows(expect![[r#"
            --- stderr
            error: data is not JSON: line 1, column 2: byte 0xff is not UTF-8
            hint: quote it for the shell, or build it from pairs: `--arg user:=42`
            --- exit 2
        "#]]);
    redis.session(expect![[r#"
        0 $ qless put q K @/nowhere/data.json
        --- stderr
        error: cannot read `/nowhere/data.json`: no such file or directory
        --- exit 2
    "#]]);
    assert_eq!(redis.ok(0, "queues"), "");
}

#[test]
fn too_much_data_is_refused() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        0 $ qless put q K '[1,2]' --max-data 4
        --- stderr
        error: data is 5 bytes long, the maximum is 4
        hint: `--max-data` raises the limit
        --- exit 2
        0 $ qless put q K --arg a=bcd --max-data 4
        --- stderr
        error: data is 11 bytes long, the maximum is 4
        hint: `--max-data` raises the limit
        --- exit 2
    "#]]);
    redis
        .at(0)
        .input("[1,2]")
        .run("put q K - --max-data 4")
        .shows(expect![[r#"
            --- stderr
            error: data is longer than 4 bytes
            hint: `--max-data` raises the limit
            --- exit 2
        "#]]);
    redis.session(expect![[r#"
        0 $ qless put q K --max-data lots
        --- stderr
        error: `--max-data` expects a number of bytes up to 500MiB, such as `65536` or `16MiB`, not `lots`
        --- exit 2
    "#]]);
    redis.at(0).run("put q K --max-data 501MiB").exits(2);
    // A file that has no blocks on the disk.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("data");
    let sparse = std::fs::File::create(&file).unwrap();
    sparse.set_len(200_000_000).unwrap();
    let file = file.display();
    let ran = redis.at(0).run(&format!("put q K @{file}")).exits(2);
    let error = format!("error: `{file}` is 200000000 bytes long, the maximum is 16777216\n");
    assert!(ran.stderr().starts_with(&error), "{}", ran.stderr());
    let big = format!("\"{}\"", "x".repeat(16 << 20));
    redis.at(0).input(&big).run("put q K -").exits(2);
}

#[test]
fn a_closed_stdin_is_read_as_empty() {
    let redis = Redis::start();
    let qless = redis.at(0);
    let mut command = qless.command();
    command.args(["put", "q", "K", "-"]);
    let ran = RunOutput::of(&mut command).exits(2);
    assert!(ran.stderr().contains("data is not JSON"));
}

#[test]
fn invalid_names_are_refused_before_any_call() {
    // There is no server: refusals come before the connection.
    let put = |line: &str| {
        Qless::bare()
            .env("QLESS_REDIS_URL", "unix:///nowhere")
            .run(line)
    };
    put("put '' K").shows(expect![[r#"
        --- stderr
        error: `QUEUE` is empty
        --- exit 2
    "#]]);
    put("put q ''").shows(expect![[r#"
        --- stderr
        error: `KLASS` is empty
        --- exit 2
    "#]]);
    put("put q K --jid ''").shows(expect![[r#"
        --- stderr
        error: `--jid` is empty
        --- exit 2
    "#]]);
    put("put q K --tag ''").shows(expect![[r#"
        --- stderr
        error: `--tag` is empty
        --- exit 2
    "#]]);
    put("put q K --jid job-history").shows(expect![[r#"
        --- stderr
        error: `--jid` ends in `-history`, which is reserved for the keys beside a job
        --- exit 2
    "#]]);
    put("put q K --jid job-dependencies").exits(2);
    put("put q K --jid job-dependents").exits(2);
    put("put 'a\x1b[2Jb' K").shows(expect![[r#"
        --- stderr
        error: `QUEUE` holds a control character, U+001B
        --- exit 2
    "#]]);
    put(&format!("put {} K", "q".repeat(513))).shows(expect![[r#"
        --- stderr
        error: `QUEUE` is 513 bytes long, the maximum is 512
        --- exit 2
    "#]]);
    put("put q K --priority nan").shows(expect![[r#"
        --- stderr
        error: `--priority` expects a whole number between -9007199254740992 and 9007199254740992, not `nan`
        --- exit 2
    "#]]);
    put("put q K --priority 9007199254740993").exits(2);
    put("put q K --priority 1.5").exits(2);
    put("put q K --retries -1").shows(expect![[r#"
        --- stderr
        error: `--retries` expects a whole number between 0 and 9007199254740992, not `-1`
        --- exit 2
    "#]]);
    put("put q K --retries inf").exits(2);
    put("put q K --delay soon").shows(expect![[r#"
        --- stderr
        error: `--delay` expects a duration such as `90s`, `15m` or `2h`, not `soon`
        --- exit 2
    "#]]);
    put("put q K --delay -5").shows(expect![[r#"
        --- stderr
        error: `--delay` expects a duration such as `90s`, `15m` or `2h`, not `-5`
        --- exit 2
    "#]]);
    put("put q K --delay 1e300").exits(2);
    put("put q K --at yesterday").shows(expect![[r#"
        --- stderr
        error: `--at` expects a time such as `06:00`, `2026-11-21 06:00`, `2026-11-21T06:00:00Z` or `+10m`, not `yesterday`
        --- exit 2
    "#]]);
    put("put q K --at 06:00 --delay 5s").exits(2);
    put("put q K --if-absent --replace").shows(expect![[r#"
        --- stderr
        error: `--if-absent` cannot be used with `--replace`
        hint: usage: `qless put [OPTIONS] QUEUE KLASS [DATA] | [QUEUE [KLASS]] --from FILE`
        --- exit 2
    "#]]);
    put("put q").shows(expect![[r#"
        --- stderr
        error: `KLASS` is missing
        hint: usage: `qless put [OPTIONS] QUEUE KLASS [DATA] | [QUEUE [KLASS]] --from FILE`
        --- exit 2
    "#]]);
}

#[test]
fn putting_an_existing_jid_is_a_conflict() {
    let redis = Redis::start();
    redis.ok(10, "put mail K --jid j1");
    redis.session(expect![[r#"
        20 $ qless put other K2 --jid j1
        --- stderr
        error: cannot put `j1`: a job of this id exists already
        hint: `--if-absent` leaves it as it is, `--replace` puts it again
        --- exit 5
        20 $ qless put other K2 --jid j1 -o json
        --- stderr
        {"kind":"error","v":1,"code":"conflict","exit":5,"message":"cannot put `j1`: a job of this id exists already","hint":"`--if-absent` leaves it as it is, `--replace` puts it again","jid":"j1"}
        --- exit 5
        20 $ qless put other K2 --jid j1 --if-absent -o json | jq -c
        {"kind":"put","v":1,"jid":"j1","queue":"mail","state":"waiting","created":false,"new":false}
        20 $ qless put other K2 --jid j1 --if-absent
        j1
        20 $ qless get j1 --field klass
        K
        20 $ qless put other K2 --jid j1 --replace
        j1
    "#]]);
    assert_eq!(redis.ok(20, "get j1 --field queue"), "other");
}

#[test]
fn a_replaced_job_is_taken_from_its_worker() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put mail K --jid j1 --tag eu --priority 3 &>/dev/null
        11 $ qless pop mail --worker w &>/dev/null
        12 $ qless put mail K --jid j1 --replace &>/dev/null
        13 $ qless jobs --queue mail --columns jid,state,pri
        j1	waiting	3
    "#]]);
    redis.at(13).run("heartbeat j1 --worker w").exits(5);
}

#[test]
fn dependencies_of_a_new_job_must_exist() {
    let redis = Redis::start();
    redis.ok(10, "put mail K --jid a");
    redis.session(expect![[r#"
        10 $ qless put mail K --jid b --depends a,c
        --- stderr
        error: cannot put `b`: `a,c` does not exist
        hint: name each job by a `--depends` of its own
        --- exit 4
        10 $ qless put mail K --jid b --depends a --depends nope
        --- stderr
        error: cannot put `b`: `nope` does not exist
        hint: `--allow-missing` ignores dependencies that do not exist
        --- exit 4
        10 $ qless get b &>/dev/null
        --- exit 4
        10 $ qless put mail K --jid b --depends a --depends nope --allow-missing -o ndjson
        {"kind":"put","v":1,"jid":"b","queue":"mail","state":"depends","created":true,"new":true}
        --- stderr
        note: `nope` is complete or missing: not a dependency
        10 $ qless put mail K --jid c --depends c
        --- stderr
        error: cannot put `c`: it would wait for itself: c → c
        --- exit 5
        10 $ qless put mail K --jid a --replace --depends b
        --- stderr
        error: cannot put `a`: it would wait for itself: a → b → a
        --- exit 5
        11 $ qless pop mail --worker w &>/dev/null
        12 $ qless complete a --worker w &>/dev/null
        13 $ qless put mail K --jid d --depends a
        d
        --- stderr
        note: `a` is complete already: not a dependency
    "#]]);
    assert_eq!(redis.ok(13, "get d --field state"), "waiting");
}

#[test]
fn a_due_time_is_absolute_or_relative() {
    let redis = Redis::start();
    redis.ok(86_400, "put q K --jid a --at 06:00");
    redis.ok(86_400, "put q K --jid b --at 1970-01-02T05:00:00+01:00");
    redis.ok(86_400, "put q K --jid c --at +10m");
    redis.ok(86_400, "put q K --jid d --at now");
    redis.ok(86_400, "put q K --jid e --delay 1h30m");
    let due = |jid: &str| {
        let job = redis.json(86_401, &format!("get {jid} -o json"));
        job["scheduled_for"].as_str().map(str::to_string)
    };
    assert_eq!(due("a").as_deref(), Some("1970-01-02T06:00:00.000Z"));
    assert_eq!(due("b").as_deref(), Some("1970-01-02T04:00:00.000Z"));
    assert_eq!(due("c").as_deref(), Some("1970-01-02T00:10:00.000Z"));
    assert_eq!(due("d"), None);
    assert_eq!(due("e").as_deref(), Some("1970-01-02T01:30:00.000Z"));
}

#[test]
fn a_dry_run_of_put_changes_nothing() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put mail K --jid j1 --delay 5s -n
        --- stderr
        note: queue `mail` is new
        would put a job in mail, scheduled
        10 $ qless put mail K --jid j1 --delay 5s -n -o json | jq -c
        {"kind":"put","v":1,"jid":"j1","queue":"mail","state":"scheduled","created":true,"new":true,"dry_run":true}
        --- stderr
        note: queue `mail` is new
        would put a job in mail, scheduled
        10 $ qless put mail K --depends nope -n &>/dev/null
        --- exit 4
        10 $ qless queues
        10 $ qless put mail K --jid j1 &>/dev/null
        10 $ qless put mail K --jid j1 -n &>/dev/null
        --- exit 5
        10 $ qless put mail K --jid j1 -n --replace &>/dev/null
        10 $ qless put mail K --jid j2 --depends j1 -n
        --- stderr
        would put a job in mail, depends
    "#]]);
}

#[test]
fn a_dry_run_that_would_leave_the_job_alone_is_one() {
    let redis = Redis::start();
    redis.ok(10, "put mail K --jid j1");
    let line = "put mail K --jid j1 --if-absent -n";
    redis.at(11).run(line).shows(expect![[r#"
        --- stderr
        would leave the job as it is
    "#]]);
    let document = redis.json(11, &format!("{line} -o json"));
    assert_eq!(document["dry_run"], true);
}

#[test]
fn a_dry_run_knows_what_only_the_core_knows() {
    let redis = Redis::start();
    redis.ok(10, "throttle set full -1");
    let defaults = r#"{"key":"{data.c}","dup":"skip"}"#;
    redis.at(10).args(["defaults", "q", defaults]).ok();
    redis.ok(10, "put q K --jid a --arg c=1");
    redis.ok(10, "put r K --jid b --depends a");
    let before = redis.dump();
    let said = |line: &str| {
        let ran = redis.at(11).run(&format!("{line} -n"));
        assert_eq!(redis.dump(), before, "{line}");
        ran.stderr()
    };
    assert_eq!(
        said("put r K --throttle full"),
        "would put a job in r, throttled\n"
    );
    assert_eq!(
        said("put q K --arg c=1"),
        "would put nothing: a is in q, waiting\n"
    );
    assert_eq!(
        said("put r K --jid a --replace --depends b"),
        "error: cannot put `a`: it would wait for itself: a → b → a\n"
    );
}

#[test]
fn put_accepts_names_of_any_bytes() {
    let redis = Redis::start();
    let name = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let words: Vec<OsString> = vec![
        "put".into(),
        name(b"q\xff"),
        "K".into(),
        "--jid".into(),
        name(b"j\xfe"),
        "--tag".into(),
        name(b"t\xfd"),
        "-o".into(),
        "json".into(),
    ];
    redis.at(10).args(words).shows(expect![[r#"
        {
          "kind": "put",
          "v": 1,
          "jid": "j\\xfe",
          "jid_bytes": "av4=",
          "queue": "q\\xff",
          "queue_bytes": "cf8=",
          "state": "waiting",
          "created": true,
          "new": true
        }
    "#]]);
    redis.session(expect![[r#"
        10 $ qless jobs --columns jid,queue,state
        j\xfe	q\xff	waiting
    "#]]);
    let jobs = redis.json(10, "jobs -o json");
    assert_eq!(jobs["items"][0]["tags_bytes"][0], "dP0=");
}

#[test]
fn a_delay_beyond_the_calendar_is_refused() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        0 $ qless put mail K --delay 100000000y
        --- stderr
        error: `--delay` expects at most 1000 years, not `100000000y`
        --- exit 2
    "#]]);
    assert_eq!(redis.ok(0, "queues"), "");
    redis.ok(0, "put mail K --jid j --delay 1000y");
    let printed = redis.json(0, "get j -o json");
    assert_eq!(printed["scheduled_for"], "2970-01-08T00:00:00.000Z");
}

#[test]
fn if_absent_puts_a_job_again_once_the_complete_one_is_no_longer_known() {
    let redis = Redis::start();
    let run = |now: u32, line: &str| redis.at(now).run(line);
    let nightly = "put reports Nightly --jid nightly --if-absent -o json";
    let work = |now: u32, jid: &str| {
        run(now, "pop reports --worker w").ok();
        run(now, &format!("complete {jid} --worker w")).ok();
    };
    assert_eq!(run(10, nightly).json()["created"], true);
    work(20, "nightly");
    // The complete job is known for `jobs-history` seconds; a later completion deletes it.
    assert_eq!(run(30, nightly).json()["created"], false);
    run(40, "config set jobs-history 60").ok();
    run(50, "put reports Nightly --jid other").ok();
    work(100, "other");
    assert_eq!(run(110, nightly).json()["created"], true);
    let help = run(0, "put --help").ok();
    for option in ["jobs-history", "jobs-history-count"] {
        assert!(help.contains(&format!("`{option}`")), "{help}");
    }
}

#[test]
fn commands_that_bring_work_warn_once_of_a_server_that_evicts_jobs() {
    let redis = Redis::start();
    let warning =
        "warning: the server deletes jobs when its memory is full (maxmemory-policy allkeys-lru)";
    let warnings = |ran: &RunOutput| ran.stderr().matches(warning).count();
    let policy = |policy: &str, limit: &str| {
        redis.send(&["CONFIG", "SET", "maxmemory-policy", policy]);
        redis.send(&["CONFIG", "SET", "maxmemory", limit]);
    };
    let put = "put mail K {}";
    for (name, limit, expected) in [
        ("noeviction", "100mb", 0),
        ("volatile-lru", "100mb", 0),
        ("allkeys-lru", "0", 0),
        ("allkeys-lru", "100mb", 1),
    ] {
        policy(name, limit);
        assert_eq!(
            warnings(&redis.qless().run(put).exits(0)),
            expected,
            "{name} {limit}"
        );
    }
    let from = redis
        .qless()
        .input("{}\n{}\n")
        .run("put q K --from -")
        .exits(0);
    assert_eq!(warnings(&from), 1);
    let export = redis.qless().run("export --queue q").ok();
    redis.qless().run("cancel --queue q --yes").ok();
    let import = redis.qless().input(export).run("import - --yes").exits(0);
    assert_eq!(warnings(&import), 1);
    let work = redis.qless().run("work q --drain -- true").exits(0);
    assert_eq!(warnings(&work), 1);
    assert_eq!(warnings(&redis.qless().run("retry --all --yes")), 0);
    assert_eq!(warnings(&redis.qless().run(&format!("{put} -q"))), 0);
}

#[test]
fn if_absent_puts_again_what_lost_its_hash() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --arg n:=1 --jid a");
    let from = |at: f64| {
        let line = redis.at(at).input("{\"jid\":\"b\"}\n");
        line.run("put mail K --if-absent --from -").exits(0)
    };
    from(1.0);
    redis.send(&["DEL", "ql:j:a", "ql:j:b"]);
    redis.ok(2, "put mail K --arg n:=2 --jid a --if-absent");
    assert_eq!(from(3.0).stderr(), "1 put\n");
    assert_eq!(redis.ok(3, "get a --data"), "{\"n\":2}");
    redis.session(expect![[r#"
        3 $ qless pop mail --count 2 -o jid
        a
        b
    "#]]);
    redis.must_be_clean();
}
