//! `qless put`

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use expect_test::expect;

use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;
use crate::support::text::rows;

fn data(redis: &Redis, jid: &str) -> String {
    redis.at(0).run(&format!("get {jid} --data")).stdout()
}

#[test]
fn stdout_is_exactly_the_jid() {
    let redis = Redis::start();
    let jid = redis.ok(10, "put mail Mail::Welcome");
    assert_eq!(jid.len(), 32);
    assert!(jid.bytes().all(|digit| digit.is_ascii_hexdigit()));
    redis.qless().hide(&jid, "JID").session(expect![[r#"
        11 $ qless put mail Mail::Welcome --jid j1
        j1
        12 $ qless jobs --queue mail -o jid
        JID
        j1
    "#]]);
}

#[test]
fn the_document_of_put_names_the_queue_and_the_state() {
    Redis::start().session(expect![[r#"
        10 $ qless put mail K --jid j1 --delay 10m --priority -3 --tag eu --tag vip --retries 2 -o json
        {
          "kind": "put",
          "v": 1,
          "jid": "j1",
          "queue": "mail",
          "state": "scheduled",
          "created": true,
          "new": true
        }
        11 $ qless get j1 -o json | jq -c
        {"kind":"job","v":1,"jid":"j1","klass":"K","queue":"mail","state":"scheduled","state_stored":"scheduled","priority":-3,"retries":2,"remaining":2,"worker":null,"expires":null,"tracked":false,"tags":["eu","vip"],"data":{},"failure":null,"dependencies":[],"dependents":[],"spawned_from":null,"scheduled_for":"1970-01-01T00:10:10.000Z","since":"1970-01-01T00:00:10.000Z","history":[{"what":"put","when":"1970-01-01T00:00:10.000Z","queue":"mail"}]}
    "#]]);
}

#[test]
fn data_is_sent_unchanged() {
    let redis = Redis::start();
    let text = r#"{"n": 9007199254740993, "l": [], "e": "caf\u00e9 / \/"}"#;
    let file = redis.socket().with_file_name("data.json");
    std::fs::write(&file, text).unwrap();
    let file = format!("@{}", file.display());
    for (args, sent) in [
        (&[text][..], text),
        (&["--data", "-5"], "-5"),
        (&["-5"], "-5"),
        (&["-"], text),
        (&[&file], text),
        (&[], "{}"),
    ] {
        let put = ["put", "q", "K", "--jid", "a", "--replace"];
        redis.at(0).input(text).args([&put[..], args].concat()).ok();
        assert_eq!(data(&redis, "a"), sent, "{args:?}");
    }
}

#[test]
fn data_is_built_from_pairs() {
    Redis::start().session(expect![[r#"
        0 $ qless put q K --jid a --arg user:=42 --arg locale=de --arg opts.fast:=true --arg opts.by= &>/dev/null
        0 $ qless get a --data
        {"user":42,"locale":"de","opts":{"fast":true,"by":""}}
        --- no newline
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
    let deep = "[".repeat(1001);
    for (data, error) in [
        (
            &b"{\"a\": 1,\n \"b\" 2}"[..],
            "line 2, column 6: expected `:` at `2`",
        ),
        (b"", "line 1, column 1: it is empty, a value was expected"),
        (b"{\"a\":NaN}", "line 1, column 6: expected value at `NaN`"),
        (
            b"[Infinity]",
            "line 1, column 2: expected value at `Infinity`",
        ),
        (
            b"\"\\ud800\"",
            "line 1, column 2: half of a surrogate pair stands alone",
        ),
        (
            deep.as_bytes(),
            "line 1, column 1002: EOF while parsing a list",
        ),
        (b"\"\xff\"", "line 1, column 2: byte 0xff is not UTF-8"),
    ] {
        let hint = "quote it for the shell, or build it from pairs: `--arg user:=42`";
        let error = format!("error: data is not JSON: {error}\nhint: {hint}\n");
        let put = ["put", "q", "K"].map(OsStr::new);
        let piped = redis
            .at(0)
            .input(data)
            .args([&put[..], &[OsStr::new("-")]].concat());
        let typed = redis
            .at(0)
            .args([&put[..], &[OsStr::from_bytes(data)]].concat());
        for ran in [piped, typed] {
            assert_eq!(ran.stderr(), error);
            ran.exits(2);
        }
    }
    redis.session(expect![[r#"
        0 $ qless put q K @/nowhere/data.json
        --- stderr
        error: cannot read `/nowhere/data.json`: no such file or directory
        --- exit 2
        0 $ qless queues
    "#]]);
}

#[test]
fn too_much_data_is_refused() {
    let redis = Redis::start();
    // A file that has no blocks on the disk.
    let sparse = redis.socket().with_file_name("sparse");
    let sparse = std::fs::File::create(&sparse).unwrap();
    sparse.set_len(200_000_000).unwrap();
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
        0 $ printf '[1,2]' | qless put q K - --max-data 4
        --- stderr
        error: data is longer than 4 bytes
        hint: `--max-data` raises the limit
        --- exit 2
        0 $ qless put q K --max-data lots
        --- stderr
        error: `--max-data` expects a number of bytes up to 500MiB, such as `65536` or `16MiB`, not `lots`
        --- exit 2
        0 $ qless put q K --max-data 501MiB &>/dev/null
        --- exit 2
        0 $ qless put q K @DIR/sparse
        --- stderr
        error: `DIR/sparse` is 200000000 bytes long, the maximum is 16777216
        hint: `--max-data` raises the limit
        --- exit 2
    "#]]);
    let big = format!("\"{}\"", "x".repeat(16 << 20));
    redis.at(0).input(&big).run("put q K -").exits(2);
}

#[test]
fn a_closed_stdin_is_read_as_empty() {
    let mut command = Redis::start().at(0).command();
    command.args(["put", "q", "K", "-"]);
    let ran = RunOutput::of(&mut command).exits(2);
    ran.says("data is not JSON");
}

#[test]
fn invalid_names_are_refused_before_any_call() {
    // There is no server: refusals come before the connection.
    let nowhere = Qless::bare().env("QLESS_REDIS_URL", "unix:///nowhere");
    for (args, error) in rows(
        "
        '' K | `QUEUE` is empty
        q '' | `KLASS` is empty
        q K --jid '' | `--jid` is empty
        q K --tag '' | `--tag` is empty
        q K --jid job-history | `--jid` ends in `-history`, which is reserved for the keys beside a job
        q K --jid job-dependencies | `--jid` ends in `-dependencies`, which is reserved for the keys beside a job
        q K --jid job-dependents | `--jid` ends in `-dependents`, which is reserved for the keys beside a job
        'a\x1b[2Jb' K | `QUEUE` holds a control character, U+001B
        q K --priority nan | `--priority` expects a whole number between -9007199254740992 and 9007199254740992, not `nan`
        q K --priority 9007199254740993 | `--priority` expects a whole number between -9007199254740992 and 9007199254740992, not `9007199254740993`
        q K --priority 1.5 | `--priority` expects a whole number between -9007199254740992 and 9007199254740992, not `1.5`
        q K --retries -1 | `--retries` expects a whole number between 0 and 9007199254740992, not `-1`
        q K --retries inf | `--retries` expects a whole number between 0 and 9007199254740992, not `inf`
        q K --delay soon | `--delay` expects a duration such as `90s`, `15m` or `2h`, not `soon`
        q K --delay -5 | `--delay` expects a duration such as `90s`, `15m` or `2h`, not `-5`
        q K --delay 100000000y | `--delay` expects at most 1000 years, not `100000000y`
        q K --at yesterday | `--at` expects a time such as `06:00`, `2026-11-21 06:00`, `2026-11-21T06:00:00Z` or `+10m`, not `yesterday`
    ",
    ) {
        let ran = nowhere.run(&format!("put {args}")).exits(2);
        assert_eq!(ran.stderr(), format!("error: {error}\n"));
    }
    let ran = nowhere.run(&format!("put {} K", "q".repeat(513))).exits(2);
    ran.says("error: `QUEUE` is 513 bytes long, the maximum is 512\n");
    nowhere.session(expect![[r#"
        $ qless put q K --delay 1e300 &>/dev/null
        --- exit 2
        $ qless put q K --at 06:00 --delay 5s &>/dev/null
        --- exit 2
        $ qless put q K --if-absent --replace
        --- stderr
        error: `--if-absent` cannot be used with `--replace`
        hint: usage: `qless put [OPTIONS] QUEUE KLASS [DATA] | [QUEUE [KLASS]] --from FILE`
        --- exit 2
        $ qless put q
        --- stderr
        error: `KLASS` is missing
        hint: usage: `qless put [OPTIONS] QUEUE KLASS [DATA] | [QUEUE [KLASS]] --from FILE`
        --- exit 2
    "#]]);
}

#[test]
fn putting_an_existing_jid_is_a_conflict() {
    // A replaced job is taken from its worker.
    Redis::start().session(expect![[r#"
        10 $ qless put mail K --jid j1 --tag eu --priority 3 &>/dev/null
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
        21 $ qless pop mail --worker w &>/dev/null
        22 $ qless put other K2 --jid j1 --replace
        j1
        23 $ qless jobs --queue other --columns jid,klass,state,pri
        j1	K2	waiting	3
        23 $ qless heartbeat j1 --worker w &>/dev/null
        --- exit 5
    "#]]);
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
    for (flag, due) in rows(
        "
        --at 06:00 | \"1970-01-02T06:00:00.000Z\"
        --at 1970-01-02T05:00:00+01:00 | \"1970-01-02T04:00:00.000Z\"
        --at +10m | \"1970-01-02T00:10:00.000Z\"
        --at now | null
        --delay 1h30m | \"1970-01-02T01:30:00.000Z\"
        --delay 1000y | \"2970-01-09T00:00:00.000Z\"
    ",
    ) {
        redis.ok(86_400, &format!("put q K --jid a --replace {flag}"));
        let job = redis.json(86_401, "get a -o json");
        assert_eq!(job["scheduled_for"].to_string(), due, "{flag}");
    }
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
        11 $ qless put mail K --jid j1 --if-absent -n -o json | jq -c .dry_run
        true
        --- stderr
        would leave the job as it is
    "#]]);
}

#[test]
fn a_dry_run_knows_what_only_the_core_knows() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless throttle set full -1
        10 $ qless defaults q '{"key":"{data.c}","dup":"skip"}' &>/dev/null
        10 $ qless put q K --jid a --arg c=1 &>/dev/null
        10 $ qless put r K --jid b --depends a &>/dev/null
    "#]]);
    let before = redis.dump();
    redis.session(expect![[r#"
        11 $ qless put r K --throttle full -n
        --- stderr
        would put a job in r, throttled
        11 $ qless put q K --arg c=1 -n
        --- stderr
        would put nothing: a is in q, waiting
        11 $ qless put r K --jid a --replace --depends b -n
        --- stderr
        error: cannot put `a`: it would wait for itself: a → b → a
        --- exit 5
    "#]]);
    assert_eq!(redis.dump(), before);
}

#[test]
fn put_accepts_names_of_any_bytes() {
    let redis = Redis::start();
    let args: [&[u8]; 9] = [
        b"put", b"q\xff", b"K", b"--jid", b"j\xfe", b"--tag", b"t\xfd", b"-o", b"ndjson",
    ];
    redis.at(10).args(args.map(OsStr::from_bytes)).shows(expect![[r#"
        {"kind":"put","v":1,"jid":"j\\xfe","jid_bytes":"av4=","queue":"q\\xff","queue_bytes":"cf8=","state":"waiting","created":true,"new":true}
    "#]]);
    redis.session(expect![[r#"
        10 $ qless jobs --columns jid,queue,state
        j\xfe	q\xff	waiting
        10 $ qless jobs -o json | jq -c .items[0].tags_bytes
        ["dP0="]
    "#]]);
}

#[test]
fn if_absent_puts_a_job_again_once_the_complete_one_is_no_longer_known() {
    let redis = Redis::start();
    // The complete job is known for `jobs-history` seconds; a later completion deletes it.
    redis.session(expect![[r#"
        10 $ qless put reports Nightly --jid nightly --if-absent -o json | jq -c .created
        true
        20 $ qless pop reports --worker w &>/dev/null
        20 $ qless complete nightly --worker w &>/dev/null
        30 $ qless put reports Nightly --jid nightly --if-absent -o json | jq -c .created
        false
        40 $ qless config set jobs-history 60 &>/dev/null
        50 $ qless put reports Nightly --jid other &>/dev/null
        100 $ qless pop reports --worker w &>/dev/null
        100 $ qless complete other --worker w &>/dev/null
        110 $ qless put reports Nightly --jid nightly --if-absent -o json | jq -c .created
        true
    "#]]);
    let help = redis.ok(0, "put --help");
    for option in ["jobs-history", "jobs-history-count"] {
        assert!(help.contains(&format!("`{option}`")), "{help}");
    }
}

#[test]
fn commands_that_bring_work_warn_once_of_a_server_that_evicts_jobs() {
    let redis = Redis::start();
    let warnings = |input: &str, line: &str| {
        let warning = "warning: the server deletes jobs when its memory is full (maxmemory-policy allkeys-lru)";
        let ran = redis.qless().input(input).run(line).exits(0);
        ran.stderr().matches(warning).count()
    };
    for (policy, limit, expected) in [
        ("noeviction", "100mb", 0),
        ("volatile-lru", "100mb", 0),
        ("allkeys-lru", "0", 0),
        ("allkeys-lru", "100mb", 1),
    ] {
        redis.send(&["CONFIG", "SET", "maxmemory-policy", policy]);
        redis.send(&["CONFIG", "SET", "maxmemory", limit]);
        assert_eq!(warnings("", "put mail K {}"), expected, "{policy} {limit}");
    }
    assert_eq!(warnings("{}\n{}\n", "put q K --from -"), 1);
    let export = redis.qless().run("export --queue q").ok();
    redis.qless().run("cancel --queue q --yes").ok();
    assert_eq!(warnings(&export, "import - --yes"), 1);
    assert_eq!(warnings("", "work q --drain -- true"), 1);
    assert_eq!(warnings("", "retry --all --yes"), 0);
    assert_eq!(warnings("", "put mail K {} -q"), 0);
}

#[test]
fn if_absent_puts_again_what_lost_its_hash() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        1 $ qless put mail K --arg n:=1 --jid a &>/dev/null
        1 $ printf '{"jid":"b"}' | qless put mail K --if-absent --from - &>/dev/null
    "#]]);
    redis.send(&["DEL", "ql:j:a", "ql:j:b"]);
    redis.session(expect![[r#"
        2 $ qless put mail K --arg n:=2 --jid a --if-absent &>/dev/null
        3 $ printf '{"jid":"b"}' | qless put mail K --if-absent --from -
        --- stderr
        1 put
        3 $ qless get a --data
        {"n":2}
        --- no newline
        3 $ qless pop mail --count 2 -o jid
        a
        b
    "#]]);
    redis.must_be_clean();
}
