//! `qless config`

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use expect_test::expect;

use crate::support::redis::Redis;

fn configured() -> Redis {
    let redis = Redis::start();
    for line in [
        "heartbeat 90",
        "mail-heartbeat 300",
        "images-max-concurrency 3",
        "odd 'a b'",
    ] {
        redis.ok(0, &format!("api config.set {line}"));
    }
    redis
}

#[test]
fn options_are_listed_with_default_and_meaning() {
    let redis = configured();
    redis.session(expect![[r#"
        0 $ qless config list --headers always
        KEY	VALUE	DEFAULT	MEANING
        backoff-factor	3	3	factor of the delay after each further lost lock
        backoff-initial-delay	0	0	0: it runs again immediately; seconds a job waits after a lost lock, times the factor
        grace-period	10	10	seconds a worker may still finish a job after its lock expires (0: none)
        heartbeat	90	60	seconds a lock lasts between heartbeats (1m 30s)
        images-max-concurrency	3	–	maximum number of jobs running at the same time in queue images (0: no limit)
        jobs-failed-history	–	–	seconds failed jobs without dependents are kept; not set: for ever, with the script for qless-php 7 days
        jobs-history	604800	604800	seconds completed jobs are kept (7d; 0: deleted immediately)
        jobs-history-count	50000	50000	maximum number of completed jobs kept (0: none)
        mail-heartbeat	300	–	seconds a lock lasts between heartbeats in queue mail (5m)
        max-job-history	100	100	maximum number of history entries kept per job (0: no limit)
        max-pop-scan	1000	1000	maximum number of jobs that a pop looks at to find some that their throttles let run
        max-worker-age	86400	86400	seconds after which a silent worker is forgotten (1d; 0: immediately)
        merge-max	1000	1000	maximum number of payloads of a merge job
        odd	a b	–	unknown to the core
    "#]]);
    let used = redis.ok(0, "config list --columns key");
    assert!(!used.contains("application"), "{used}");
    let all = redis.ok(0, "config list --all --columns key");
    assert!(all.lines().any(|key| key == "application"), "{all}");
    let raw = redis.ok(0, "api config.get");
    assert_eq!(redis.ok(0, "config list -o raw"), raw);
}

#[test]
fn one_option_is_printed_as_its_value() {
    configured().session(expect![[r#"
        0 $ qless config get heartbeat
        90
        0 $ qless config get grace-period
        10
        0 $ qless config get grace-period -o raw
        10
        0 $ qless config get max-job-history
        100
        0 $ qless config get odd
        a b
        0 $ qless config get mail-heartbeat -o json | jq -c
        {"kind":"config","v":1,"total":1,"offset":0,"items":[{"key":"mail-heartbeat","value":"300","default":null,"known":true}]}
        0 $ qless config get test-heartbeat
        --- stderr
        error: option `test-heartbeat` is not set
        hint: `heartbeat` (90) applies
        --- exit 4
        0 $ qless config get hartbeat
        --- stderr
        error: option `hartbeat` does not exist
        hint: did you mean `heartbeat`?
        --- exit 4
    "#]]);
}

#[test]
fn known_options_are_checked() {
    Redis::start().session(expect![[r#"
        0 $ qless config set heartbeat 2m images-max-concurrency 5
        0 $ qless config get images-max-concurrency
        5
        0 $ qless config set grace-period 0 jobs-history 1.5 -o json | jq -c
        {"kind":"done","v":1,"action":"config set","targets":["grace-period","jobs-history"]}
        0 $ qless config set heartbeat 0
        --- stderr
        error: `heartbeat` expects more than no time, not `0`
        --- exit 2
        0 $ qless config set heartbeat soon
        --- stderr
        error: `heartbeat` expects seconds, or a duration such as `5m`, not `soon`
        --- exit 2
        0 $ qless config set images-max-concurrency 1.5
        --- stderr
        error: `images-max-concurrency` expects a whole number of at least 0, not `1.5`
        --- exit 2
        0 $ qless config set jobs-history -1
        --- stderr
        error: `jobs-history` expects seconds, or a duration such as `5m`, not `-1`
        --- exit 2
        0 $ qless config set backoff-factor -1
        --- stderr
        error: `backoff-factor` expects a number of at least 0, not `-1`
        --- exit 2
        0 $ qless config set max-pop-scan 0
        --- stderr
        error: `max-pop-scan` expects a whole number of at least 1, not `0`
        --- exit 2
        0 $ printf '{"merge-max":0}' | qless config load -
        --- stderr
        error: `merge-max` expects a whole number of at least 1, not `0`
        hint: nothing was changed; without it in the file, `merge-max` stays as it is
        --- exit 2
        0 $ qless config set merge-max 1 max-pop-scan 1
        0 $ qless config set heartbeat &>/dev/null
        --- exit 2
        0 $ qless config set heartbeat 5 grace-period
        --- stderr
        error: `grace-period` has no value
        --- exit 2
        0 $ qless config get heartbeat
        120
        0 $ qless config get jobs-failed-history &>/dev/null
        --- exit 4
        0 $ qless config set jobs-failed-history 30d backoff-factor 1.5 &>/dev/null
        0 $ qless config get jobs-failed-history
        2592000
        0 $ qless config get backoff-factor
        1.5
        0 $ qless config unset jobs-failed-history --yes &>/dev/null
        0 $ qless config get jobs-failed-history &>/dev/null
        --- exit 4
    "#]]);
}

#[test]
fn unknown_options_need_force() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        0 $ qless config set hartbeat 5
        --- stderr
        error: option `hartbeat` does not exist
        hint: did you mean `heartbeat`?
        --- exit 4
        0 $ qless config set heartbeat-mail 5
        --- stderr
        error: option `heartbeat-mail` does not exist
        hint: the queue comes first: `mail-heartbeat`
        --- exit 4
        0 $ qless config set max-concurrency-mail 5
        --- stderr
        error: option `max-concurrency-mail` does not exist
        hint: the queue comes first: `mail-max-concurrency`
        --- exit 4
        0 $ qless config set big-mail-max-concurency 5
        --- stderr
        error: option `big-mail-max-concurency` does not exist
        hint: did you mean `big-mail-max-concurrency`?
        --- exit 4
        0 $ qless config set zebra 5
        --- stderr
        error: option `zebra` does not exist
        hint: `--force` sets it anyway
        --- exit 4
        0 $ qless config set heartbeat 5 zebra 5 &>/dev/null
        --- exit 4
        0 $ qless config get heartbeat
        60
        0 $ qless config set zebra stripes --force &>/dev/null
        0 $ qless config get zebra
        stripes
        0 $ qless config set zebra 5 -n --force
        --- stderr
        would set zebra to 5
    "#]]);
}

#[test]
fn unsetting_an_option_restores_its_default() {
    configured().session(expect![[r#"
        0 $ qless config unset heartbeat
        --- stderr
        error: cannot ask whether to unset `heartbeat`; nothing was changed
        hint: add `--yes`
        --- exit 9
        0 $ qless config unset heartbeat -n
        --- stderr
        would unset `heartbeat`
        0 $ qless config unset heartbeat odd --yes -o json | jq -c
        {"kind":"done","v":1,"action":"config unset","targets":["heartbeat","odd"]}
        0 $ qless config get heartbeat
        60
        0 $ qless config unset odd --yes
        --- stderr
        error: option `odd` does not exist
        --- exit 4
        0 $ qless config unset grace-period --yes &>/dev/null
    "#]]);
}

#[test]
fn a_dump_is_an_object_of_the_options_that_are_set() {
    configured().session(expect![[r#"
        0 $ qless config dump
        {
          "heartbeat": "90",
          "images-max-concurrency": "3",
          "mail-heartbeat": "300",
          "odd": "a b"
        }
        0 $ qless config dump -o json | jq -c '[.kind, .total, .items[].key, .items[].known]'
        ["config",4,"heartbeat","images-max-concurrency","mail-heartbeat","odd",true,true,true,false]
        0 $ qless config dump -o json | jq -c .items[0]
        {"key":"heartbeat","value":"90","default":"60","known":true}
        0 $ qless config dump -o raw &>/dev/null
        --- exit 2
        0 $ qless config dump --prefix x:
        {}
    "#]]);
}

#[test]
fn a_dump_file_is_complete_and_private() {
    let redis = configured();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("q.json");
    std::fs::write(&path, "old").unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let qless = redis.at(0).hide(dir.path().to_str().unwrap(), "FILES");
    qless.session(expect![[r#"
        $ qless config dump FILES/link -o json | jq -c
        {"kind":"done","v":1,"action":"config dump","targets":["FILES/link"]}
        $ qless config dump FILES/none/q.json
        --- stderr
        error: cannot write `FILES/none/q.json`: no such file or directory
        --- exit 1
        $ qless config dump FILES
        --- stderr
        error: cannot write `FILES`: is a directory
        --- exit 1
    "#]]);
    let dump = qless.run("config dump").stdout();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), dump);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    // No temporary file remains.
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    for stdout in ["/dev/stdout", "-"] {
        assert_eq!(qless.run(&format!("config dump {stdout}")).stdout(), dump);
    }
}

#[test]
fn loading_a_dump_twice_changes_nothing_the_second_time() {
    let from = configured();
    let to = Redis::start();
    let dump = from.at(0).run("config dump").stdout();
    to.at(0).input(&dump).session(expect![[r#"
        $ qless config load - -o json | jq -c
        {"kind":"done","v":1,"action":"config load","targets":["heartbeat","images-max-concurrency","mail-heartbeat","odd"]}
        --- stderr
        + heartbeat: 90
        + images-max-concurrency: 3
        + mail-heartbeat: 300
        + odd: a b
    "#]]);
    assert_eq!(to.at(0).run("config dump").stdout(), dump);
    let before = to.dump();
    to.at(0).input(&dump).session(expect![[r#"
        $ qless config load -
        --- stderr
        nothing to change: the options already have these values
        $ qless config load - --force --clear -o json | jq -c
        {"kind":"done","v":1,"action":"config load","targets":[]}
        --- stderr
        nothing to change: the options already have these values
    "#]]);
    assert_eq!(to.dump(), before);
    // What another client has set is as it was, also if `config set` refuses it.
    for wrong in ["heartbeat soon", "hartbeat 5"] {
        from.ok(0, &format!("api config.set {wrong}"));
    }
    let dump = from.ok(0, "config dump");
    from.at(0).input(&dump).run("config load -").ok();
    to.at(0).input(&dump).run("config load -").exits(4);
}

#[test]
fn a_document_is_loaded_too_even_with_names_that_are_not_text() {
    let from = configured();
    for key in [&b"caf\xe9-heartbeat"[..], b"application"] {
        let words = [&b"config"[..], b"set", key, b"7"];
        from.at(0).args(words.map(OsStr::from_bytes)).exits(0);
    }
    from.session(expect![[r#"
        0 $ qless config dump
        --- stderr
        error: cannot write option `caf\xe9-heartbeat` as JSON: its name or value is not UTF-8
        hint: `qless config dump -o json` has it in base64, and `config load` reads that, too
        --- exit 5
    "#]]);
    let document = from.at(0).run("config dump -o json").stdout();
    let to = Redis::start();
    to.at(0).input(&document).session(expect![[r#"
        $ qless config load - --force
        --- stderr
        + application: 7
        + caf\xe9-heartbeat: 7
        + heartbeat: 90
        + images-max-concurrency: 3
        + mail-heartbeat: 300
        + odd: a b
        $ qless config load - --force
        --- stderr
        nothing to change: the options already have these values
    "#]]);
    assert_eq!(to.at(0).run("config dump -o json").stdout(), document);
}

#[test]
fn loading_lists_its_changes() {
    let redis = configured();
    let options = r#"{"heartbeat": 2, "mail-heartbeat": "5m", "jobs-history": "2d"}"#;
    let qless = redis.at(0).input(options);
    let before = redis.dump();
    qless.session(expect![[r#"
        $ qless config load - --clear -n
        --- stderr
        ~ heartbeat: 90 -> 2
        - images-max-concurrency: 3
        + jobs-history: 172800
        - odd: a b
        would change 4 options (1 added, 1 changed, 2 removed)
        $ qless config load - --clear
        --- stderr
        ~ heartbeat: 90 -> 2
        - images-max-concurrency: 3
        + jobs-history: 172800
        - odd: a b
        error: cannot ask whether to change 4 options (1 added, 1 changed, 2 removed) on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        $ qless config load - --clear --yes --read-only &>/dev/null
        --- exit 9
    "#]]);
    assert_eq!(redis.dump(), before);
    qless.session(expect![[r#"
        $ qless config load -
        --- stderr
        ~ heartbeat: 90 -> 2
        + jobs-history: 172800
        $ qless config get odd
        a b
        $ qless config load - --clear --yes -o json | jq -c
        {"kind":"done","v":1,"action":"config load","targets":["images-max-concurrency","odd"]}
        --- stderr
        - images-max-concurrency: 3
        - odd: a b
        $ qless config dump
        {
          "heartbeat": "2",
          "jobs-history": "172800",
          "mail-heartbeat": "300"
        }
        $ printf '{}' | qless config load - --clear --yes -q
        $ qless config dump
        {}
    "#]]);
}

#[test]
fn a_default_value_in_a_dump_is_set_once() {
    let options = r#"{"application": "qless", "heartbeat": 60}"#;
    let redis = Redis::start();
    redis.at(0).input(options).session(expect![[r#"
        $ qless config load -
        --- stderr
        + heartbeat: 60
        $ qless config load -
        --- stderr
        nothing to change: the options already have these values
    "#]]);
}

#[test]
fn an_invalid_dump_changes_nothing() {
    let redis = configured();
    let before = redis.dump();
    redis.session(expect![[r#"
        0 $ printf '{"heartbeat": 5,\n "grace-period" 5}' | qless config load - --clear --yes
        --- stderr
        error: the configuration is not JSON: line 2, column 17: expected `:` at `5`
        --- exit 2
        0 $ printf '[]' | qless config load - --clear --yes
        --- stderr
        error: the configuration is not a JSON object
        hint: name options with their values: `{"heartbeat": 90}`
        --- exit 2
        0 $ qless config load - --clear --yes
        --- stderr
        error: the configuration is not JSON: line 1, column 1: it is empty, a value was expected
        --- exit 2
        0 $ printf '{"heartbeat": 5, "heartbeat": 6}' | qless config load - --clear --yes
        --- stderr
        error: the configuration names `heartbeat` twice
        --- exit 2
        0 $ printf '{"heartbeat": null}' | qless config load - --clear --yes
        --- stderr
        error: `heartbeat` expects a text or a number, not `null`
        --- exit 2
        0 $ printf '{"grace-period": 5, "heartbeat": "soon"}' | qless config load - --clear --yes
        --- stderr
        error: `heartbeat` expects seconds, or a duration such as `5m`, not `soon`
        hint: nothing was changed; without it in the file, `heartbeat` stays as it is
        --- exit 2
        0 $ printf '{"grace-period": 5, "hartbeat": 5}' | qless config load - --clear --yes
        --- stderr
        error: option `hartbeat` does not exist
        hint: did you mean `heartbeat`?
        --- exit 4
        0 $ printf '{"kind": "config", "items": [{"key": "heartbeat"}]}' | qless config load - --clear --yes
        --- stderr
        error: an item of the configuration has no `key` and `value`
        --- exit 2
        0 $ qless config load /none
        --- stderr
        error: cannot read `/none`: no such file or directory
        --- exit 2
        0 $ qless config load &>/dev/null
        --- exit 2
    "#]]);
    assert_eq!(redis.dump(), before);
    // A file is checked without a server.
    std::fs::write(
        redis.socket().with_file_name("q.json"),
        "{\n  \"heartbeat\": 5m\n}",
    )
    .unwrap();
    let away = redis.qless().env("QLESS_REDIS_URL", "unix:///none");
    away.session(expect![[r#"
        $ qless config load DIR/q.json
        --- stderr
        error: `DIR/q.json` is not JSON: line 2, column 17: expected `,` or `}` at `m`
        --- exit 2
    "#]]);
}

#[test]
fn loading_asks_on_a_terminal() {
    use crate::support::terminal::Terminal;

    let redis = Redis::start();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), r#"{"heartbeat": 90, "grace-period": 5}"#).unwrap();
    let load = |answer: &str| {
        let mut command = redis.at(0).command();
        let path = file.path().to_str().unwrap();
        command.args(["config", "load", path]).env("TERM", "xterm");
        let mut terminal = Terminal::typed(command, 80, 24);
        let asked = terminal.until(|text| text.contains("Proceed?"));
        terminal.types(answer);
        let ran = terminal.end();
        let (asked, _) = asked.split_once("Proceed?").unwrap();
        (asked.replace(&redis.url(), "URL"), ran.code())
    };
    let (asked, code) = load("n\n");
    expect![[r#"
        Change 2 options (2 added) on URL

        + grace-period: 5
        + heartbeat: 90

    "#]]
    .assert_eq(&asked);
    assert_eq!(code, 9);
    assert!(redis.dump().is_empty());
    assert_eq!(load("y\n").1, 0);
    redis.at(0).run("config get heartbeat").shows(expect![[r#"
            90
        "#]]);
}

#[test]
fn the_meaning_of_a_value_is_listed() {
    let redis = Redis::start();
    let set = |line: &str| redis.ok(0, &format!("config set {line}"));
    set("images-max-concurrency 0 max-job-history 0 heartbeat 45");
    // Other clients check no value.
    for (option, value) in [
        ("mail-defaults", r#"{"lock":"*"}"#),
        ("mail-heartbeat", "0"),
        ("test-max-concurrency", "many"),
    ] {
        redis.send(&["HSET", "ql:config", option, value]);
    }
    redis.session(expect![[r#"
        0 $ qless config list --columns key,value,meaning
        backoff-factor	3	factor of the delay after each further lost lock
        backoff-initial-delay	0	0: it runs again immediately; seconds a job waits after a lost lock, times the factor
        grace-period	10	seconds a worker may still finish a job after its lock expires (0: none)
        heartbeat	45	seconds a lock lasts between heartbeats
        images-max-concurrency	0	0: no limit; maximum number of jobs running at the same time in queue images
        jobs-failed-history	–	seconds failed jobs without dependents are kept; not set: for ever, with the script for qless-php 7 days
        jobs-history	604800	seconds completed jobs are kept (7d; 0: deleted immediately)
        jobs-history-count	50000	maximum number of completed jobs kept (0: none)
        mail-defaults	{"lock":"*"}	options for puts that do not give them, in queue mail
        mail-heartbeat	0	0: a lock expires immediately; seconds a lock lasts between heartbeats in queue mail
        max-job-history	0	0: no limit; maximum number of history entries kept per job
        max-pop-scan	1000	maximum number of jobs that a pop looks at to find some that their throttles let run
        max-worker-age	86400	seconds after which a silent worker is forgotten (1d; 0: immediately)
        merge-max	1000	maximum number of payloads of a merge job
        test-max-concurrency	many	not a number, so it has no effect; maximum number of jobs running at the same time in queue test
    "#]]);
}
