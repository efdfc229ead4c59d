//! `qless put --from`: many jobs from a file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use rustix::process::Signal;

use crate::support::files::mode;
use crate::support::proxy::{Cut, proxy_then};
use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;
use crate::support::text::{Shows, rows};

/// A server, whose directory also holds the files.
struct Workspace {
    redis: Redis,
}

impl Workspace {
    fn new() -> Workspace {
        Workspace {
            redis: Redis::start(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.redis.socket().with_file_name(name)
    }

    /// Writes a file and returns its path.
    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The binary, which shows the directory as DIR.
    fn qless(&self) -> Qless {
        self.redis.at(1000.5)
    }

    /// Runs the commands of a session, in which DIR is the directory.
    #[track_caller]
    fn session(&self, expected: Expect) {
        self.qless().session(expected);
    }

    /// Runs `put --from` of a text in a file `jobs`, with more arguments.
    fn put(&self, text: impl AsRef<[u8]>, more: &str) -> RunOutput {
        let path = self.file("jobs", text);
        self.qless()
            .run(&format!("put --from {} {more}", path.display()))
    }

    fn keys(&self) -> usize {
        self.redis.dump().len()
    }

    /// How many jobs there are.
    fn jobs(&self) -> u64 {
        let counts = self.redis.qless().run("jobs --all --count -o json").json();
        let counts = counts.as_object().unwrap().values();
        counts.filter_map(serde_json::Value::as_u64).sum::<u64>() - 1
    }
}

/// This many lines, each a different job: `{"photo":1}` and so on.
fn night(lines: usize) -> String {
    let line = |photo| {
        format!(
            "{{\"queue\":\"uploads\",\"klass\":\"Photo::Upload\",\"data\":{{\"photo\":{photo}}},\"tags\":[\"night\"]}}\n"
        )
    };
    (1..=lines).map(line).collect()
}

#[test]
fn each_line_becomes_a_job() {
    let workspace = Workspace::new();
    let lines = concat!(
        r#"{"queue":"mail","klass":"Mail::Welcome","jid":"a","data":{"n": 9007199254740993, "l": [], "e":"caf\u00e9"}}"#,
        "\n",
        r#"{"jid":"b","priority":-3,"retries":2,"tags":["eu","v\u0069p"],"delay":"10m"}"#,
        "\n",
        r#"{"jid":"c","at":"2026-11-21T06:00:00Z","depends":["a","b"]}"#,
        "\n",
    );
    workspace.file("jobs", lines);
    workspace.session(expect![[r#"
        $ qless put q K --from DIR/jobs --tag all --priority 1
        --- stderr
        3 put
        $ qless get a --data
        {"n": 9007199254740993, "l": [], "e":"caf\u00e9"}
        --- no newline
        $ qless jobs --queue * --columns jid,queue,klass,state,pri,tags
        a	mail	Mail::Welcome	waiting	1	all
        b	q	K	scheduled	-3	eu, vip
        c	q	K	depends	1	all
        $ qless get b c
        jid	b
        klass	K
        queue	q
        state	scheduled	1970-01-01T00:26:40.500Z
        priority	-3	higher runs first
        retries	2 of 2 remaining
        tags	eu, vip
        tracked	no
        depends on	–
        needed by	c (depends)
        data	{}

        jid	c
        klass	K
        queue	q
        state	depends	on 2 jobs
        priority	1	higher runs first
        retries	5 of 5 remaining
        tags	all
        tracked	no
        depends on	a (waiting), b (scheduled)
        needed by	–
        scheduled	2026-11-21T06:00:00.000Z
        data	{}
    "#]]);
}

#[test]
fn byte_order_marks_and_other_line_ends_are_accepted() {
    let workspace = Workspace::new();
    let lines = "\u{feff}{\"jid\":\"a\"}\r\n\r\n   \n{\"jid\":\"b\"}\r\n{\"jid\":\"c\"}";
    workspace.file("jobs", lines);
    workspace.file("empty", "");
    workspace.file("blank", "\n\n");
    workspace.session(expect![[r#"
        $ qless put q K --from DIR/jobs -o jid
        a
        b
        c
        --- stderr
        3 put
        $ qless put q K --from DIR/empty
        --- stderr
        no jobs to put
        $ qless put q K --from DIR/blank -o json | jq -c
        {"kind":"bulk","v":1,"action":"put","dry_run":false,"context":null,"matched":0,"done":0,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0,"items":[]}
        --- stderr
        no jobs to put
    "#]]);
    let jids = workspace.put("{}\n{}\n", "q K -o jid").stdout();
    assert_eq!(jids.lines().map(str::len).collect::<Vec<_>>(), [32, 32]);
}

#[test]
fn standard_input_is_read_too() {
    let workspace = Workspace::new();
    let qless = workspace.qless().input(night(3));
    qless.session(expect![[r#"
        $ qless put --from - --jid-from content
        --- stderr
        3 put
        $ qless put --from - --jid-from content
        --- stderr
        0 put, 3 already there
        $ qless put --from - --data -
        --- stderr
        error: data is not JSON: line 2, column 1: trailing characters at `{`
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
    "#]]);
    // A redirected file needs no copy, and may have been read in part.
    let path = workspace.file("jobs", "{\"jid\":\"x\"}\n{\"jid\":\"y\"}\n");
    let mut file = File::open(path).unwrap();
    file.read_exact(&mut [0; 12]).unwrap();
    let mut command = workspace.qless().command();
    let output = command
        .args(["put", "q", "K", "--from", "-", "-o", "jid"])
        .stdin(file)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "y\n");
}

#[test]
fn all_lines_are_checked_before_any_call() {
    let workspace = Workspace::new();
    let line = |n| match n {
        19_999 => "{\"queue\":\"uploads\" \"klass\":\"Photo::Upload\"}\n",
        _ => "{\"queue\":\"uploads\",\"klass\":\"Photo::Upload\"}\n",
    };
    let many: String = (1..=20_000).map(line).collect();
    workspace.file("many", many);
    let nested = format!("{{\"data\":{}{}}}", "[".repeat(1001), "]".repeat(1001));
    workspace.file("nested", nested);
    let long = format!("{{\"data\":\"{}\"}}", " ".repeat(2 << 20));
    workspace.file("long", long);
    workspace.file("bytes", b"{\"data\":\"\xff\"}");
    workspace.file("typo", "{\"qeue\":\"q\"}");
    workspace.file("no-class", "{\"queue\":\"q\"}");
    let tags: Vec<String> = (0..1001).map(|n| format!("\"t{n}\"")).collect();
    workspace.file("tags", format!("{{}}\n{{\"tags\":[{}]}}\n", tags.join(",")));
    workspace.session(expect![[r#"
        $ qless put --from DIR/many
        --- stderr
        error: `DIR/many`, line 19999, column 20: expected `,` or `}` at `"`
        --- exit 2
        $ qless put q K --from DIR/nested
        --- stderr
        error: `DIR/nested`, line 1, column 1008: nested deeper than 1000
        --- exit 2
        $ qless put q K --from DIR/long --max-data 10
        --- stderr
        error: `DIR/long`, line 1: it is longer than 1048586 bytes
        hint: `--max-data` raises the limit
        --- exit 2
        $ qless put q K --from DIR/bytes
        --- stderr
        error: `DIR/bytes`, line 1, column 10: byte 0xff is not UTF-8
        --- exit 2
        $ qless put q K --from DIR/typo
        --- stderr
        error: `DIR/typo`, line 1, column 2: a job has no field `qeue`
        hint: did you mean `queue`?
        --- exit 2
        $ qless put --from DIR/no-class
        --- stderr
        error: `DIR/no-class`, line 1, column 1: it has no `klass`
        hint: add `"klass"` to the line, or give it on the command line: `qless put QUEUE KLASS --from …`
        --- exit 2
        $ qless put q K --from DIR/tags
        --- stderr
        error: `DIR/tags`, line 2, column 9: `tags` holds more than 1000 tags
        --- exit 2
    "#]]);
    assert_eq!(workspace.keys(), 0);
}

#[test]
fn an_invalid_line_is_reported_with_its_position() {
    let workspace = Workspace::new();
    for (line, printed) in rows(
        r#"
        [] | column 1: expected an object, not `[`
        {"data":{"a":1} | column 16: EOF while parsing an object
        {"data":"\ud800"} | column 10: half of a surrogate pair stands alone
        {"data":"é", "klass":1} | column 22: `klass` expects a text, not `1`
        {"data":1,"data":2} | column 11: `data` stands here twice
        {"jid":"first"} | column 8: jid `first` is also in line 1
        {"jid":"a-history"} | column 8: `jid` ends in `-history`, which is reserved for the keys beside a job
        {"jid":"a\u001b[31mb"} | column 8: `jid` holds a control character, U+001B
        {"data":"0123456789012345678901234567890"} | column 9: `data` is 33 bytes long, the maximum is 30
        {"priority":9007199254740993} | column 13: `priority` expects a whole number between -9007199254740992 and 9007199254740992, not `9007199254740993`
    "#,
    ) {
        let text = format!("{{\"jid\":\"first\"}}\n{line}\n");
        let ran = workspace.put(text, "q K --max-data 30").exits(2);
        let expected = format!("error: `DIR/jobs`, line 2, {printed}\n");
        assert_eq!(ran.stderr(), expected, "{line}");
        assert_eq!(ran.stdout(), "");
    }
    assert_eq!(workspace.keys(), 0);
}

#[test]
fn contradicting_flags_are_usage_errors() {
    let workspace = Workspace::new();
    let path = workspace.file("jobs", night(1));
    for more in [
        "q K {} --from FILE",
        "--from FILE --jid a",
        "--from FILE --jid-from content --replace",
        "--from FILE --jid-from content --if-absent --replace",
        "--from FILE --batch 0",
        "--from FILE --batch 501",
        "--from FILE --rate 5",
        "--from FILE --rate 0/s",
        "--from FILE --jid-from ''",
        "--from FILE --jid-from a..b",
        "--from ''",
        "q K --allow-missing",
        "--from FILE -o csv",
    ] {
        let line = format!("put {more}").replace("FILE", path.to_str().unwrap());
        workspace.qless().run(&line).exits(2);
    }
    for flag in [
        "--jid-from id",
        "--journal j",
        "--report r",
        "--batch 5",
        "--rate 1/s",
        "--fail-fast",
    ] {
        for data in ["", "'{\"id\":1}'"] {
            let ran = workspace.qless().run(&format!("put q K {data} {flag}"));
            let error = "error: `--from` is missing\n";
            assert!(ran.stderr().starts_with(error), "{flag}: {}", ran.stderr());
            ran.exits(2);
        }
    }
    workspace.session(expect![[r#"
        $ qless put --from /nonexistent/jobs
        --- stderr
        error: cannot read `/nonexistent/jobs`: no such file or directory
        --- exit 2
        $ qless put --from DIR
        --- stderr
        error: cannot read `DIR`: is a directory
        --- exit 2
        $ qless put --from DIR/jobs --read-only &>/dev/null
        --- exit 9
    "#]]);
    assert_eq!(workspace.keys(), 0);
}

#[test]
fn an_existing_job_is_a_failure_unless_a_flag_allows_it() {
    let workspace = Workspace::new();
    workspace.file("jobs", "{\"jid\":\"a\"}\n{\"jid\":\"b\"}\n");
    workspace.session(expect![[r#"
        $ qless put q K --jid a &>/dev/null
        $ qless put q K --from DIR/jobs -o ndjson
        {"jid":"a","result":"failed","code":"exists","detail":"a job of this id exists already","queue":"q","state_before":null,"state_after":null,"line":1}
        {"jid":"b","result":"done","code":"ok","detail":null,"queue":"q","state_before":null,"state_after":"waiting","line":2}
        {"summary":{"action":"put","dry_run":false,"context":null,"matched":2,"done":1,"skipped":0,"failed":1,"remaining":0,"elapsed_s":0}}
        --- stderr
        1 put, 1 failed
          failed   1  a job of this id exists already: a
        --- exit 3
        $ qless put q K --from DIR/jobs
        --- stderr
        0 put, 2 failed
          failed   2  a job of this id exists already: a, b
        --- exit 5
        $ qless put q K --from DIR/jobs --if-absent -o json | jq -c
        {"kind":"bulk","v":1,"action":"put","dry_run":false,"context":null,"matched":2,"done":0,"skipped":2,"failed":0,"remaining":0,"elapsed_s":0,"items":[{"jid":"a","result":"skipped","code":"exists","detail":null,"queue":"q","state_before":null,"state_after":null,"line":1},{"jid":"b","result":"skipped","code":"exists","detail":null,"queue":"q","state_before":null,"state_after":null,"line":2}]}
        --- stderr
        0 put, 2 already there
        $ qless put q K --from DIR/jobs --if-absent -o jid
        a
        b
        --- stderr
        0 put, 2 already there
        $ qless put q2 K --from DIR/jobs --replace -v -o json &>/dev/null
        $ qless jobs --queue q2 -o jid
        b
        a
    "#]]);
}

#[test]
fn lines_may_depend_on_others_in_any_order() {
    let workspace = Workspace::new();
    let lines = concat!(
        "{\"jid\":\"last\",\"depends\":[\"middle\",\"outside\"]}\n",
        "{\"jid\":\"alone\"}\n",
        "{\"jid\":\"middle\",\"depends\":[\"first\"]}\n",
        "{\"jid\":\"first\"}\n",
    );
    workspace.file("jobs", lines);
    workspace.file("missing", "{\"jid\":\"m\",\"depends\":[\"nope\"]}\n");
    workspace.session(expect![[r#"
        $ qless put q K --from DIR/jobs
        --- stderr
        3 put, 1 failed
          failed   1  a job that it would wait for does not exist: last
        --- exit 3
        $ qless put q K --jid outside &>/dev/null
        $ qless put q K --from DIR/jobs --if-absent -o jid
        last
        alone
        middle
        first
        --- stderr
        1 put, 3 already there
        $ qless depends last
        waits for	middle	K	q	depends
        waits for	outside	K	q	waiting
        $ qless put q K --from DIR/missing -o ndjson
        {"jid":"m","result":"failed","code":"missing_dependency","detail":"`nope` does not exist","queue":"q","state_before":null,"state_after":null,"line":1}
        {"summary":{"action":"put","dry_run":false,"context":null,"matched":1,"done":0,"skipped":0,"failed":1,"remaining":0,"elapsed_s":0}}
        --- stderr
        0 put, 1 failed
          failed   1  a job that it would wait for does not exist: m
        --- exit 4
        $ qless put q K --from DIR/missing --allow-missing
        --- stderr
        1 put
    "#]]);
}

#[test]
fn a_dependency_cycle_is_reported_before_any_call() {
    let workspace = Workspace::new();
    let cycle = concat!(
        "{\"jid\":\"x\"}\n",
        "{\"jid\":\"a\",\"depends\":[\"b\"]}\n",
        "{\"jid\":\"b\",\"depends\":[\"x\",\"c\"]}\n",
        "{\"jid\":\"c\",\"depends\":[\"a\"]}\n",
    );
    workspace.file("cycle", cycle);
    workspace.file("two", "{\"jid\":\"b\"}\n{\"jid\":\"a\"}\n");
    workspace.file("one", "{\"jid\":\"b\",\"depends\":[\"b\"]}");
    // Flags of the command line apply to `a`, too.
    workspace.session(expect![[r#"
        $ qless put q K --from DIR/cycle
        --- stderr
        error: `DIR/cycle`, line 2: jobs depend on each other: a → b → c → a
        --- exit 5
        $ qless put q K --from DIR/two --depends a
        --- stderr
        error: `DIR/two`, line 2, column 1: it depends on itself: a → a
        --- exit 5
        $ qless put q K --from DIR/one
        --- stderr
        error: `DIR/one`, line 1, column 23: it depends on itself: b → b
        --- exit 5
    "#]]);
    assert_eq!(workspace.keys(), 0);
}

#[test]
fn a_chain_of_ten_thousand_lines_is_put_in_dependency_order() {
    let workspace = Workspace::new();
    let line = |at| format!("{{\"jid\":\"j{at}\",\"depends\":[\"j{}\"]}}\n", at + 1);
    let mut lines: String = (1..10_000).map(line).collect();
    lines.push_str("{\"jid\":\"j10000\"}\n");
    workspace.file("chain", lines);
    workspace.session(expect![[r#"
        $ qless put q K --from DIR/chain
        --- stderr
        10000 put
        $ qless jobs --queue q --count
        running	0
        stalled	0
        waiting	1
        scheduled	0
        depends	9999
        failed	0
        complete	0
    "#]]);
}

/// `printf '4:mail13:Mail::Welcome2:{}' | sha256sum | cut -c1-32` prints the jid of the empty data.
#[test]
fn jids_are_derived_from_the_content() {
    let workspace = Workspace::new();
    let lines = concat!(
        "{\"data\":{\"a\":1}}\n",
        "{\"data\":{\"a\":1},\"priority\":7}\n",
        "{\"data\":{\"a\": 1}}\n",
        "{\"jid\":\"told\",\"data\":{\"a\":1}}\n",
    );
    workspace.file("jobs", lines);
    workspace.file("empty", "{}");
    workspace.session(expect![[r#"
        $ qless put mail Mail::Welcome --from DIR/jobs --jid-from content -o ndjson
        {"jid":"6f90cfffc6e00a30f45b1ea234651cc3","result":"done","code":"ok","detail":null,"queue":"mail","state_before":null,"state_after":"waiting","line":1}
        {"jid":"6f90cfffc6e00a30f45b1ea234651cc3","result":"skipped","code":"exists","detail":null,"queue":"mail","state_before":null,"state_after":null,"line":2}
        {"jid":"e695a9337721f36f9c305efb5872b9a2","result":"done","code":"ok","detail":null,"queue":"mail","state_before":null,"state_after":"waiting","line":3}
        {"jid":"told","result":"done","code":"ok","detail":null,"queue":"mail","state_before":null,"state_after":"waiting","line":4}
        {"summary":{"action":"put","dry_run":false,"context":null,"matched":4,"done":3,"skipped":1,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        3 put, 1 already there
        $ qless put mail Mail::Welcome --from DIR/empty --jid-from content -o jid
        8bc483e3e3ffe8dd47490e78e5036b62
        --- stderr
        1 put
        $ qless put mail Mail::Welcome --from DIR/jobs --jid-from content
        --- stderr
        0 put, 4 already there
    "#]]);
}

#[test]
fn jids_are_read_from_a_path_in_the_data() {
    let workspace = Workspace::new();
    let lines = concat!(
        "{\"data\":{\"user\":{\"id\":9007199254740993}}}\n",
        "{\"data\":{\"user\":{\"id\":\"\\u00e4\"}}}\n",
        "{\"data\":{\"user\":{\"id\":1.50}}}\n",
        "{\"jid\":\"told\",\"data\":{}}\n",
    );
    workspace.file("jobs", lines);
    workspace.file("two", "{}\n{}\n");
    // Data on the command line are checked, too.
    workspace.session(expect![[r#"
        $ qless put q K --from DIR/jobs --jid-from user.id -o jid
        9007199254740993
        ä
        1.50
        told
        --- stderr
        4 put
        $ qless put q K --from DIR/jobs --jid-from /user/id
        --- stderr
        0 put, 4 already there
        $ qless put q K --from DIR/two --data '{"id":5}' --jid-from id
        --- stderr
        error: `DIR/two`, line 2, column 1: jid `5` is also in line 1
        --- exit 2
    "#]]);
    for (data, printed) in rows(
        r#"
        {} | column 9: its data has no `user.id`
        {"user":{"id":null}} | column 23: `user.id` is null, not a text or a number
        {"user":{"id":[1]}} | column 23: `user.id` is an array, not a text or a number
        {"user":{"id":true}} | column 23: `user.id` is true or false, not a text or a number
        {"user":{"id":""}} | column 23: `user.id` is empty
        {"user":{"id":"a-history"}} | column 23: `user.id` ends in `-history`, which is reserved for the keys beside a job
        {"user":{"id":7}} | column 23: jid `7` is also in line 1
    "#,
    ) {
        let lines = format!("{{\"data\":{{\"user\":{{\"id\":\"7\"}}}}}}\n{{\"data\":{data}}}\n");
        let ran = workspace.put(lines, "q K --jid-from user.id").exits(2);
        let expected = format!("error: `DIR/jobs`, line 2, {printed}\n");
        assert_eq!(ran.stderr(), expected);
    }
}

#[test]
fn many_lines_are_put_once_however_often_the_command_runs() {
    let workspace = Workspace::new();
    workspace.file("night", night(5_000));
    workspace.session(expect![[r#"
        $ qless put --from DIR/night --jid-from photo
        --- stderr
        5000 put
        $ qless put --from DIR/night --jid-from photo
        --- stderr
        0 put, 5000 already there
    "#]]);
    assert_eq!(workspace.jobs(), 5_000);
}

#[test]
fn fail_fast_stops_put_from_at_the_first_failure() {
    let workspace = Workspace::new();
    workspace.file(
        "jobs",
        "{\"jid\":\"a\"}\n{\"jid\":\"b\"}\n{\"jid\":\"c\"}\n",
    );
    workspace.session(expect![[r#"
        $ qless put q K --jid b &>/dev/null
        $ qless put q K --from DIR/jobs --fail-fast
        --- stderr
        1 put, 1 failed, 1 not tried
          failed   1  a job of this id exists already: b
        --- exit 3
    "#]]);
    assert_eq!(workspace.jobs(), 2);
}

#[test]
fn a_dry_run_of_put_from_changes_nothing() {
    let workspace = Workspace::new();
    workspace.qless().run("put q K --jid a").ok();
    let before = workspace.redis.dump();
    workspace.file("jobs", "{\"jid\":\"a\"}\n{\"jid\":\"b\"}\n");
    workspace.file("one", "{\"jid\":\"a\"}\n");
    workspace.session(expect![[r#"
        $ qless put q K --from DIR/jobs --dry-run --if-absent -o ndjson
        {"jid":"a","result":"skipped","code":"exists","detail":null,"queue":"q","state_before":null,"state_after":null,"line":1}
        {"jid":"b","result":"planned","code":"ok","detail":null,"queue":"q","state_before":null,"state_after":null,"line":2}
        {"summary":{"action":"put","dry_run":true,"context":null,"matched":2,"done":0,"skipped":1,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        would put 1, 1 already there
        $ qless put q K --from DIR/jobs --dry-run
        --- stderr
        would put 1, 1 failed
          failed   1  a job of this id exists already: a
        --- exit 3
        $ qless put q K --from DIR/one --dry-run &>/dev/null
        --- exit 5
        $ qless put q K --from DIR/jobs -n --replace --journal DIR/journal
        --- stderr
        would put 2
    "#]]);
    assert!(!workspace.path("journal").exists());
    assert_eq!(workspace.redis.dump(), before);
}

#[test]
fn a_dry_run_of_put_from_says_which_jobs_others_would_take() {
    let workspace = Workspace::new();
    let lines = "{\"jid\":\"a\"}\n{\"jid\":\"b\"}\n{\"jid\":\"c\",\"depends\":[\"gone\"]}\n";
    let more = "q K --key k --unique --throttle t=3 -n -o ndjson";
    workspace.put(lines, more).shows(expect![[r#"
        {"jid":"a","result":"planned","code":"ok","detail":null,"queue":"q","state_before":null,"state_after":null,"line":1}
        {"jid":"a","result":"skipped","code":"ok","detail":"skipped","queue":"q","state_before":null,"state_after":null,"line":2}
        {"jid":"a","result":"skipped","code":"ok","detail":"skipped","queue":"q","state_before":null,"state_after":null,"line":3}
        {"summary":{"action":"put","dry_run":true,"context":null,"matched":3,"done":0,"skipped":2,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        note: queue `q` is new
        would set the maximum of throttle t to 3
        would put 1, 2 already there
    "#]]);
    assert!(workspace.redis.dump().is_empty());
}

#[test]
fn lines_that_wait_for_nothing_keep_their_order() {
    let workspace = Workspace::new();
    let lines = concat!(
        "{\"jid\":\"first\",\"depends\":[\"z\"]}\n",
        "{\"jid\":\"a\"}\n{\"jid\":\"z\"}\n{\"jid\":\"b\"}\n",
    );
    let put = workspace.put(lines, "q K --batch 1 -o ndjson -v");
    let jids: Vec<String> = put
        .stdout()
        .lines()
        .filter_map(|line| {
            let item: serde_json::Value = serde_json::from_str(line).unwrap();
            item["jid"].as_str().map(str::to_owned)
        })
        .collect();
    assert_eq!(jids, ["a", "z", "first", "b"]);
}

#[test]
fn put_from_keeps_the_rate() {
    let workspace = Workspace::new();
    let begun = Instant::now();
    workspace.put(night(30), "--rate 100/s").ok();
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(190), "{took:?}");
}

#[test]
fn jobs_are_popped_in_the_order_of_their_lines() {
    for more in ["", "--batch 7", "--jid-from photo --batch 1"] {
        let workspace = Workspace::new();
        workspace.put(night(450), more).ok();
        let pop = "pop uploads --count 450 -o ndjson";
        let popped = workspace.redis.ok(1001, pop);
        let photos = popped.lines().map(|line| {
            let job: serde_json::Value = serde_json::from_str(line).unwrap();
            job["data"]["photo"].as_u64().unwrap()
        });
        assert!(photos.eq(1..=450), "{more}: {popped}");
    }
}

/// Waits until this many jobs wait in `uploads`.
fn await_jobs(redis: &Redis, jobs: i64) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut connection = redis.connection();
    loop {
        let there = waiting(&mut connection);
        if there >= jobs {
            return;
        }
        assert!(Instant::now() < deadline, "{there} of {jobs} jobs");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// How many jobs wait in `uploads`.
fn waiting(connection: &mut redis::Connection) -> i64 {
    let mut card = redis::cmd("ZCARD");
    card.arg("ql:q:uploads-work").query(connection).unwrap()
}

#[test]
fn lost_replies_neither_lose_nor_duplicate_jobs() {
    let workspace = Workspace::new();
    let path = workspace.file("night.ndjson", night(2_000));
    let line = format!("put --from {} --batch 20 --rate 2000/s", path.display());
    let mut run = workspace.redis.qless().start(&line);
    let mut connection = workspace.redis.connection();
    let mut kill = redis::cmd("CLIENT");
    kill.arg(&["KILL", "TYPE", "normal", "SKIPME", "yes"]);
    let deadline = Instant::now() + Duration::from_secs(60);
    let (mut put, mut cuts) = (0, 0);
    // There was progress before each cut: a run without progress rightly gives up.
    while !run.has_ended() {
        assert!(Instant::now() < deadline, "it does not end");
        std::thread::sleep(Duration::from_millis(1));
        let there = waiting(&mut connection);
        if there >= put + 100 {
            put = there;
            cuts += kill.query::<u64>(&mut connection).unwrap();
        }
    }
    let ran = run.end();
    let (code, printed) = (ran.code(), ran.stderr());
    assert_eq!(code, 0, "{printed}");
    assert!(printed.starts_with("2000 put"), "{printed}");
    assert!(cuts > 1, "{cuts}");
    assert_eq!(photos(&workspace.redis), each_once(2_000));
    workspace.redis.must_be_clean();
}

/// How often each photo is in the queue.
fn photos(redis: &Redis) -> BTreeMap<u64, usize> {
    let lines = redis.qless().run("jobs --queue uploads -o ndjson").ok();
    let mut photos = BTreeMap::new();
    for line in lines.lines() {
        let job: serde_json::Value = serde_json::from_str(line).unwrap();
        *photos
            .entry(job["data"]["photo"].as_u64().unwrap())
            .or_default() += 1;
    }
    photos
}

fn each_once(lines: u64) -> BTreeMap<u64, usize> {
    (1..=lines).map(|photo| (photo, 1)).collect()
}

#[test]
fn an_interrupted_run_reports_the_rest_and_the_next_continues() {
    let workspace = Workspace::new();
    let path = workspace.file("night.ndjson", night(800));
    let line = format!("put --from {} --jid-from photo", path.display());
    let run = workspace
        .redis
        .qless()
        .start(&format!("{line} --rate 400/s"));
    await_jobs(&workspace.redis, 40);
    run.signal(Signal::INT);
    let ran = run.end().exits(130);
    let put = photos(&workspace.redis).len();
    assert!(
        ran.stderr().starts_with(&format!("{put} put, ")),
        "{}",
        ran.stderr()
    );
    for printed in [
        " not tried",
        "error: interrupted after ",
        " of 800\nhint: run the same command again to go on: `qless put ",
    ] {
        ran.says(printed);
    }
    let there = workspace.qless().run(&line).exits(0).stderr();
    assert_eq!(there, format!("{} put, {put} already there\n", 800 - put));
    assert_eq!(photos(&workspace.redis), each_once(800));
    workspace.redis.must_be_clean();
}

#[test]
fn a_killed_run_is_finished_by_the_next() {
    let workspace = Workspace::new();
    let path = workspace.file("night.ndjson", night(1_500));
    let line = format!("put --from {} --jid-from photo", path.display());
    for jobs in [1, 500, 1_000] {
        let run = workspace.redis.qless().start(&line);
        await_jobs(&workspace.redis, jobs);
        run.signal(Signal::KILL);
        run.end();
    }
    workspace.qless().run(&line).exits(0);
    assert_eq!(photos(&workspace.redis), each_once(1_500));
    workspace.redis.must_be_clean();
}

fn journaled(workspace: &Workspace, lines: usize) -> (PathBuf, String) {
    recorded(workspace, lines, "journal")
}

/// A file of lines, and the command that puts them and records them with this flag.
fn recorded(workspace: &Workspace, lines: usize, flag: &str) -> (PathBuf, String) {
    let path = workspace.file("night.ndjson", night(lines));
    let record = workspace.path(&format!("night.{flag}"));
    let line = format!(
        "put --from {} --{flag} {}",
        path.display(),
        record.display()
    );
    (record, line)
}

#[test]
fn a_report_has_the_outcome_of_each_line() {
    let workspace = Workspace::new();
    workspace.redis.ok(1000, "put mail K --jid old");
    let path = workspace.file(
        "lines",
        "{\"jid\":\"a\"}\n\n{\"jid\":\"old\"}\n{\"jid\":\"b\",\"depends\":[\"none\"]}\n",
    );
    let report = workspace.path("report");
    let line = format!(
        "put mail K --from {} --report {}",
        path.display(),
        report.display()
    );
    let documents = || -> Vec<serde_json::Value> {
        let text = fs::read_to_string(&report).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let outcomes = || {
        let documents = documents();
        let of_lines = documents.iter().filter(|line| line.get("result").is_some());
        let words = |line: &serde_json::Value| {
            let words = ["line", "jid", "result", "code", "state_after"];
            words.map(|name| line[name].to_string()).join(" ") + "\n"
        };
        of_lines.map(words).collect::<String>().replace('"', "")
    };
    workspace.qless().run(&line).exits(3);
    let first = outcomes();
    first.shows(expect![[r#"
        1 a done ok waiting
        3 old failed exists null
        4 b failed missing_dependency null
    "#]]);
    // What failed is tried again, and nothing else.
    workspace.redis.ok(1000, "put mail K --jid none");
    workspace.qless().run(&line).exits(3);
    outcomes().strip_prefix(&first).unwrap().shows(expect![[r#"
        3 old failed exists null
        4 b done ok depends
    "#]]);
    assert_eq!(documents()[0]["kind"], "report");
    // A report is no journal.
    let as_journal = line.replace("--report", "--journal");
    workspace.qless().run(&as_journal).exits(2);
    let both = format!("{line} --journal x");
    workspace.qless().run(&both).exits(2);
}

#[test]
fn a_journal_and_a_report_keep_jids_after_kill_9() {
    for flag in ["journal", "report"] {
        let workspace = Workspace::new();
        let (record, line) = recorded(&workspace, 900, flag);
        let mut first = None;
        for jobs in [1, 300, 600] {
            let run = workspace.redis.qless().start(&format!("{line} --batch 50"));
            await_jobs(&workspace.redis, jobs);
            run.signal(Signal::KILL);
            run.end();
            let jids = workspace.qless().run("jobs --queue uploads -o jid").ok();
            first = first.or_else(|| jids.lines().next().map(str::to_owned));
        }
        workspace.qless().run(&line).exits(0);
        assert_eq!(photos(&workspace.redis), each_once(900));
        // Neither a deleted job nor an existing one is put again.
        let cancel = format!("cancel {}", first.unwrap());
        workspace.qless().run(&cancel).ok();
        let again = workspace.qless().run(&line).exits(0);
        assert_eq!(again.stderr(), "0 put, 900 done before\n", "{flag}");
        assert_eq!(photos(&workspace.redis).len(), 899);
        workspace.redis.must_be_clean();
        let mode = fs::metadata(&record).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// Begins to put, calls `lose` in the middle, and returns how the run ended.
fn put_and_lose(workspace: &mut Workspace, line: &str, lose: impl Fn(&mut Redis)) -> RunOutput {
    let run = workspace
        .redis
        .qless()
        .start(&format!("{line} --rate 2000/s -o json"));
    await_jobs(&workspace.redis, 300);
    lose(&mut workspace.redis);
    run.end()
}

#[test]
fn jobs_that_the_server_loses_in_the_middle_are_reported_and_put_by_the_next_run() {
    let restart = |redis: &mut Redis| {
        redis.kill();
        redis.restart();
    };
    let flush = |redis: &mut Redis| _ = redis.send(&["FLUSHALL"]);
    for (lose, why) in [
        (
            &restart as &dyn Fn(&mut Redis),
            "restarted, or another one took its place",
        ),
        (&flush, "was flushed"),
    ] {
        let mut workspace = Workspace::new();
        let (_, line) = journaled(&workspace, 800);
        let ran = put_and_lose(&mut workspace, &line, lose).exits(3);
        let stderr = ran.stderr();
        let error = stderr.lines().last().unwrap();
        let error: serde_json::Value = serde_json::from_str(error).unwrap();
        assert_eq!(error["code"], "server_restarted", "{error}");
        let text = |field: &str| error[field].as_str().unwrap().to_owned();
        assert!(text("message").contains(why), "{error}");
        let command = "`qless put --from DIR/night.ndjson --journal DIR/night.journal ";
        assert!(text("hint").contains(command), "{error}");
        let missing = 800 - workspace.jobs();
        // A batch whose reply was lost with the jobs is put again by the same run.
        assert!((1..800).contains(&missing), "{missing}");
        let ran = workspace.qless().run(&line).exits(0);
        let expected = format!("{missing} put, {} done before", 800 - missing);
        ran.says(&expected);
        assert_eq!(photos(&workspace.redis), each_once(800));
        // What was cancelled since stays so.
        workspace
            .qless()
            .run("cancel --queue uploads --limit 1 --yes")
            .ok();
        let ran = workspace.qless().run(&line).exits(0);
        assert!(
            ran.stderr().ends_with("0 put, 800 done before\n"),
            "{}",
            ran.stderr()
        );
        workspace.redis.must_be_clean();
    }
}

#[test]
fn jobs_that_may_have_ended_and_been_deleted_count_as_done_after_a_restart() {
    let mut workspace = Workspace::new();
    let (_, line) = journaled(&workspace, 3);
    workspace.qless().run(&line).exits(0);
    workspace.redis.kill();
    workspace.redis.restart();
    let ran = workspace.redis.at(1010 + 7 * 86_400).run(&line).exits(0);
    ran.says("3 jobs that were put are missing, but may have ended");
    ends_with(&ran, "0 put, 3 done before\n");
    // A job that another one took is there as long as that one.
    let path = workspace.file("merged", "{\"data\":1}\n{\"data\":2}\n");
    for flag in ["journal", "report"] {
        let record = workspace.path(&format!("merged.{flag}"));
        let line = format!(
            "put m K --from {} --key k --merge --{flag} {}",
            path.display(),
            record.display()
        );
        workspace.qless().run(&line).exits(0);
        workspace.redis.send(&["FLUSHDB"]);
        workspace.redis.ok(1001, "put other K");
        for expected in ["2 put\n", "0 put, 2 done before\n"] {
            ends_with(&workspace.qless().run(&line).exits(0), expected);
        }
        assert_eq!(workspace.qless().run("length m").ok(), "1");
    }
}

#[test]
fn a_job_of_the_second_in_which_the_oldest_kept_one_ended_may_have_ended() {
    let workspace = Workspace::new();
    workspace.redis.ok(1000, "config set jobs-history-count 10");
    let (_, line) = journaled(&workspace, 40);
    workspace.redis.at(1000.3).run(&line).exits(0);
    for _ in 0..40 {
        let jid = workspace.redis.ok(1000.6, "pop uploads -o jid");
        workspace.redis.ok(1000.9, &format!("complete {jid}"));
    }
    // Another database is flushed, so this one may have been.
    let other = "redis.call('select', 1) redis.call('flushdb')";
    workspace.redis.send(&["EVAL", other, "0"]);
    let ran = workspace.redis.at(1002).run(&line).exits(0);
    ends_with(&ran, "0 put, 40 done before\n");
}

#[test]
fn jobs_that_the_server_evicts_are_reported_and_put_by_the_next_run() {
    let workspace = Workspace::new();
    let redis = &workspace.redis;
    redis.send(&["CONFIG", "SET", "maxmemory-policy", "allkeys-random"]);
    let (_, line) = journaled(&workspace, 2_000);
    // Some servers count the script as memory in use, but cannot evict it.
    workspace.qless().run("queues");
    leave_room(redis, 480_000);
    let ran = workspace.qless().run(&line).exits(3);
    ran.says("evicted keys, because its memory was full: up to 2,000 changes that it had acknowledged may be lost");
    redis.send(&["CONFIG", "SET", "maxmemory", "0"]);
    // The set of the queue, which counts them, may still be whole.
    let left = redis.send(&["KEYS", "ql:j:*"]);
    let left = left.into_sequence().unwrap().len();
    assert!(left < 2_000);
    let ran = workspace.qless().run(&line).exits(0);
    ran.says("that were put are missing, and are put again");
    ran.says("may be in no queue: `qless check --repair` puts them back");
    // The queue of some jobs is gone; the jobs are all there.
    workspace.qless().run("check --repair --yes -q");
    assert_eq!(photos(&workspace.redis), each_once(2_000));
}

#[test]
fn evictions_under_a_policy_that_was_set_in_the_middle_are_reported() {
    let mut workspace = Workspace::new();
    let (_, line) = journaled(&workspace, 2_000);
    let ran = put_and_lose(&mut workspace, &line, |redis| {
        redis.send(&["CONFIG", "SET", "maxmemory-policy", "allkeys-random"]);
        leave_room(redis, 100_000);
    });
    ran.exits(3)
        .says("evicted keys, because its memory was full");
}

/// Lets the server use this many more bytes.
fn leave_room(redis: &Redis, bytes: u64) {
    let info: String = redis::from_redis_value(redis.send(&["INFO", "memory"])).unwrap();
    let mut lines = info.lines();
    let used = lines.find_map(|line| line.strip_prefix("used_memory:"));
    let limit = used.unwrap().parse::<u64>().unwrap() + bytes;
    redis.send(&["CONFIG", "SET", "maxmemory", &limit.to_string()]);
}

/// What a run that finished says last. Before it, the run may warn of lost jobs.
#[track_caller]
fn ends_with(ran: &RunOutput, expected: &str) {
    assert!(ran.stderr().ends_with(expected), "{}", ran.stderr());
}

/// Cuts a journal to its first lines.
fn cut(journal: &Path, lines: usize) {
    let text = fs::read_to_string(journal).unwrap();
    let text: String = text.split_inclusive('\n').take(lines).collect();
    fs::write(journal, text).unwrap();
}

#[test]
fn a_line_sent_but_not_journaled_is_recognized_by_its_jid() {
    let workspace = Workspace::new();
    let (journal, line) = journaled(&workspace, 3);
    let put = |expected: &str| {
        let ran = workspace.qless().run(&line).exits(0);
        assert_eq!(ran.stderr(), format!("{expected}\n"));
    };
    put("3 put");
    // As after a crash before the reply.
    cut(&journal, 4);
    put("3 put");
    assert_eq!(photos(&workspace.redis), each_once(3));
    // As after a crash in the middle of a write.
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, &text[..text.len() - 9]).unwrap();
    put("3 put");
    put("0 put, 3 done before");
    assert_eq!(photos(&workspace.redis), each_once(3));
    let lines = fs::read_to_string(&journal).unwrap();
    for line in lines.lines() {
        let is_json = serde_json::from_str::<serde_json::Value>(line).is_ok();
        assert!(is_json, "{lines}");
    }
}

#[test]
fn a_failed_line_is_tried_again() {
    let workspace = Workspace::new();
    workspace.file("jobs", "{\"jid\":\"a\"}\n{\"jid\":\"b\"}\n");
    workspace.session(expect![[r#"
        $ qless put q K --jid a &>/dev/null
        $ qless put q K --from DIR/jobs --journal DIR/journal &>/dev/null
        --- exit 3
        $ qless put q K --from DIR/jobs --journal DIR/journal
        --- stderr
        0 put, 1 done before, 1 failed
          failed   1  a job of this id exists already: a
        --- exit 3
        $ qless cancel a &>/dev/null
        $ qless put q K --from DIR/jobs --journal DIR/journal
        --- stderr
        1 put, 1 done before
    "#]]);
}

#[test]
fn a_job_replaced_before_a_crash_is_not_replaced_again() {
    let workspace = Workspace::new();
    let journal = workspace.path("journal");
    workspace.file(
        "jobs",
        "{\"jid\":\"a\"}\n{\"jid\":\"b\"}\n{\"jid\":\"c\"}\n",
    );
    workspace.session(expect![[r#"
        1 $ qless put old K --jid a &>/dev/null
        1 $ qless put old K --jid b &>/dev/null
        $ qless put q K --from DIR/jobs --replace --journal DIR/journal
        --- stderr
        3 put
    "#]]);
    cut(&journal, 4);
    // One job was popped since: it stays with its worker.
    workspace.session(expect![[r#"
        1001 $ qless pop q --count 1 --worker w -o jid
        c
        $ qless put q K --from DIR/jobs --replace --journal DIR/journal
        --- stderr
        3 put
        $ qless jobs --queue q --columns jid,state
        c	running
        b	waiting
        a	waiting
    "#]]);
    // A job that was not replaced yet is replaced.
    workspace.redis.send(&["FLUSHALL"]);
    workspace.redis.ok(1, "put old K --jid a");
    cut(&journal, 4);
    workspace.session(expect![[r#"
        $ qless put q K --from DIR/jobs --replace --journal DIR/journal
        --- stderr
        3 put
        $ qless jobs --queue q -o jid
        a
        b
        c
    "#]]);
}

#[test]
fn a_journal_belongs_to_its_input_prefix_and_command() {
    let workspace = Workspace::new();
    let (journal, line) = journaled(&workspace, 3);
    workspace.qless().run(&line).exits(0);
    let before = fs::read(&journal).unwrap();
    let other = workspace.file("other", "something else\n");
    mode(&other, 0o600);
    workspace.session(expect![[r#"
        $ qless put --from DIR/night.ndjson --journal DIR/night.journal --tag more
        --- stderr
        error: `DIR/night.journal` was begun by `qless put`, this is `qless put --tag=more`; nothing was changed
        hint: name another file
        --- exit 2
        $ qless put --from DIR/night.ndjson --journal DIR/night.journal --prefix other:
        --- stderr
        error: `DIR/night.journal` was begun with prefix `ql:`, this is `other:`; nothing was changed
        hint: name another file
        --- exit 2
        $ qless put q K --from DIR/night.ndjson --journal DIR/other
        --- stderr
        error: `DIR/other` exists and is not a qless journal
        hint: name another file
        --- exit 2
        $ qless put q K --from /dev/null --journal DIR/nowhere/journal
        --- stderr
        error: cannot write `DIR/nowhere/journal`: no such file or directory
        hint: nothing was changed; name a file that can be written
        --- exit 1
    "#]]);
    assert_eq!(fs::read(&other).unwrap(), b"something else\n");
    let text = night(3);
    let changed = |text: &str| {
        workspace.file("night.ndjson", text);
        workspace.qless().run(&line)
    };
    changed(&text.replace("{\"photo\":2}", "{\"photo\":9}")).shows(expect![[r#"
        --- stderr
        error: `DIR/night.journal`, line 3: line 2 of the input has changed
        hint: repair the line, or name another file
        --- exit 2
    "#]]);
    changed(text.lines().next().unwrap()).shows(expect![[r#"
        --- stderr
        error: `DIR/night.journal`, line 3: the input has no line 2 any more
        hint: repair the line, or name another file
        --- exit 2
    "#]]);
    assert_eq!(fs::read(&journal).unwrap(), before);
    // Added lines are new jobs.
    changed(&night(4)).shows(expect![[r#"
        --- stderr
        1 put, 3 done before
    "#]]);
}

#[test]
fn an_input_file_that_changes_meanwhile_is_detected() {
    for (journal, hint) in [
        (
            "",
            "hint: once nothing writes to it, run the same command again to go on: `",
        ),
        ("--journal", "this puts new lines and no line twice"),
    ] {
        let workspace = Workspace::new();
        let path = workspace.file("night.ndjson", night(2_000));
        let mut line = format!("put --from {} --jid-from photo", path.display());
        if !journal.is_empty() {
            line.push_str(&format!(" {journal} {}.journal", path.display()));
        }
        let run = workspace
            .redis
            .qless()
            .start(&format!("{line} --rate 400/s"));
        await_jobs(&workspace.redis, 40);
        let mut file = File::options().append(true).open(&path).unwrap();
        let added = night(2_001);
        file.write_all(&added.as_bytes()[night(2_000).len()..])
            .unwrap();
        let ran = run.end().exits(1);
        ran.says("night.ndjson` was changed while it was read");
        ran.says(hint);
        ran.says(" not tried");
        // The same command goes on, also with the new line.
        workspace.redis.qless().run(&line).exits(0);
        assert_eq!(waiting(&mut workspace.redis.connection()), 2_001);
    }
}

#[test]
fn an_error_of_the_server_warns_that_new_jids_would_be_put_again() {
    let workspace = Workspace::new();
    let file = workspace.file("few", "{}\n".repeat(20));
    // The server knows the script then, so that each request is short.
    workspace.qless().run("put other K").ok();
    let socket = workspace.redis.socket();
    let url = workspace.redis.url();
    // Some jobs pass.
    let port = proxy_then(socket, Cut::Meanwhile(8), move || {
        let client = redis::Client::open(url.as_str()).unwrap();
        let mut command = redis::cmd("REPLICAOF");
        let command = command.arg("127.0.0.1").arg("1");
        command.exec(&mut client.get_connection().unwrap()).unwrap();
    });
    let qless = Qless::bare().env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
    let line = format!("put q K --fail-fast --from {}", file.display());
    let ran = qless.clone().run(&line).exits(6);
    let warning = " jobs were put: the same command would put them again; with `--jid-from` or \
                   `--journal` it goes on\n";
    ran.says("is a replica");
    assert!(ran.stderr().ends_with(warning), "{}", ran.stderr());
    // Nothing was put, or nothing would be put again.
    let ran = qless.run(&format!("{line} --jid-from content")).exits(6);
    assert!(
        !ran.stderr().contains("would put them again"),
        "{}",
        ran.stderr()
    );
}

#[test]
fn too_few_descriptors_are_told_from_a_file_that_cannot_be_written() {
    let workspace = Workspace::new();
    workspace.file("one", "{}\n");
    let journal = workspace.path("journal");
    let run = |more: &str| {
        let line = format!("ulimit -n 4; cd $1; exec \"$0\" put q K --from one {more}");
        let ran = RunOutput::of(workspace.qless().shell(&line).arg(workspace.path("")));
        ran.exits(1).stderr()
    };
    let both = run("") + &run(&format!("--journal {}", journal.display()));
    both.replace(journal.to_str().unwrap(), "JOURNAL")
        .shows(expect![[r#"
            error: cannot open a connection: too many open files
            hint: raise `ulimit -n`, the number of open files
            error: cannot write `JOURNAL`: too many open files
            hint: nothing was changed; raise `ulimit -n`, the number of open files
        "#]]);
}

#[test]
fn a_limit_of_threads_is_an_error_that_names_it() {
    let workspace = Workspace::new();
    let file = workspace.file("one", "{}\n");
    // Of the superuser the system takes any number of threads, so it runs as somebody without processes.
    let user = 2_000_000_000 + std::process::id();
    let line = format!(
        r#"for command in "put q K --from $1" queues check "work q -- true" "events"; do
               if [ "$(id -u)" = 0 ]; then
                   setpriv --reuid {user} --clear-groups prlimit --nproc=1 "$0" $command
               else
                   prlimit --nproc=1 "$0" $command
               fi
               echo "exit $?"
           done"#
    );
    let output = workspace.qless().shell(&line).arg(file).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("not found") || stderr.contains("ermission denied") {
        eprintln!("skipped: {stderr}");
        return;
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(stdout, "exit 1\n".repeat(5), "{stderr}");
    let error = "error: cannot start a thread: resource temporarily unavailable\nhint: too many \
                 processes and threads run for this user (`ulimit -u`)";
    assert_eq!(stderr.matches(error).count(), 5, "{stderr}");
}

#[test]
fn a_server_that_gets_full_midway_says_how_far_it_came() {
    let workspace = Workspace::new();
    let redis = &workspace.redis;
    let file = workspace.file("jobs", night(6_000)).display().to_string();
    let check = |ran: RunOutput, again: &str| {
        let stderr = ran.exits(6).stderr();
        let error = stderr.lines().find(|line| line.starts_with("error: "));
        let error = error.unwrap();
        assert!(error.contains(" is out of memory after "), "{stderr}");
        assert!(error.ends_with(" of 6000"), "{stderr}");
        assert!(!stderr.contains("nothing was changed"), "{stderr}");
        let hint = format!("; run the same command again to go on: `qless {again}");
        assert!(stderr.contains(&hint), "{stderr}");
    };
    leave_room(redis, 2_500_000);
    let put = format!("put --from {file} --jid-from content");
    check(workspace.qless().run(&put), "put");
    redis.send(&["CONFIG", "SET", "maxmemory", "0"]);
    workspace.qless().run(&put).ok();
    assert_eq!(workspace.qless().run("length uploads").ok(), "6000");
    // How much the first call of a move needs differs between versions of the server.
    let mut moves = (1..20).map(|step| {
        leave_room(redis, step * 100_000);
        workspace.qless().run("move --queue uploads --to n --yes")
    });
    let moved = moves.find(|ran| !ran.stderr().contains("nothing was changed"));
    check(moved.unwrap(), "move");
}
