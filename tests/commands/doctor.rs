//! `qless doctor`

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use expect_test::{Expect, expect};
use rcgen::{CertificateParams, date_time_ymd};
use regex::Regex;
use serde_json::{Value, json};

use crate::replicas;
use crate::support::cluster::Cluster;
use crate::support::config::ConfigHome;
use crate::support::proxy::{answering, free_port, listen};
use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::{Redis, acl_commands};
use crate::support::sentinel::{MASTER, Sentinels};
use crate::support::terminal;
use crate::support::text::words;
use crate::support::tls::{Authority, TlsRedis};
use crate::support::work::until;

const SECRET: &str = "geheim-4711";

fn at_url(url: &str) -> Qless {
    Qless::bare().env("QLESS_REDIS_URL", url)
}

/// The text with what differs from run to run as `N`.
fn steady(run: &RunOutput) -> String {
    let mut text = run.stdout();
    for (pattern, steady) in [
        (r"\d+\.\d (ms|KiB|MiB)", "N $1"),
        (r"(Redis|Valkey) \d[0-9.]+", "Redis N"),
        (r"up \d+\w( \d+\w)?", "up N"),
        (r"qless [^ ]+, core [0-9a-f]{8}…", "qless N, core N"),
        (r"\d+ of [0-9,]+ connections", "N connections"),
        (r"this host (is|and)[^\n\t]*", "N"),
    ] {
        let pattern = Regex::new(pattern).unwrap();
        text = pattern.replace_all(&text, steady).into_owned();
    }
    text
}

/// The text as if the server had a test of rights, as from Redis 7.0 on.
fn with_rights(text: String) -> String {
    let untold = "– rights       the server does not tell: Redis before 7.0 has no test of rights";
    let told = "✓ rights       the user may run all commands that are needed";
    text.replace(untold, told)
}

/// The checks of a document, whatever the exit code was.
#[track_caller]
fn items(run: &RunOutput) -> Vec<Value> {
    let document: Value = serde_json::from_str(&run.stdout()).expect("a document");
    document["items"].as_array().unwrap().clone()
}

/// The result of one check.
#[track_caller]
fn item(qless: &Qless, check: &str) -> Value {
    let items = items(&qless.run("doctor -o json"));
    let found = items.into_iter().find(|item| item["check"] == check);
    found.unwrap_or_else(|| panic!("no check {check}"))
}

/// Compares checks, one in a line: its name, its level, text and hint. A line `> CONFIG SET port 1` sends a command
/// to the server first.
#[track_caller]
fn checks(redis: Option<&Redis>, qless: &Qless, expected: Expect) {
    let mut shown = String::new();
    for line in expected.data().lines().map(str::trim) {
        if let Some(command) = line.strip_prefix("> ") {
            let words = words(command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            redis.expect("a server").send(&words);
            shown += &format!("{line}\n");
        } else if let Some((check, _)) = line.split_once(": ") {
            let item = item(qless, check);
            let text = |name: &str| item[name].as_str().unwrap_or("–").to_owned();
            let [level, what, hint] = ["level", "what", "hint"].map(text);
            shown += &format!("{check}: {level} | {what} | {hint}\n");
        }
    }
    expected.assert_eq(&shown);
}

/// A server, or the binary with its settings, whose checks a test compares.
trait Checked {
    fn checks(&self, expected: Expect);
}

impl Checked for Redis {
    #[track_caller]
    fn checks(&self, expected: Expect) {
        checks(Some(self), &self.qless(), expected);
    }
}

impl Checked for Qless {
    #[track_caller]
    fn checks(&self, expected: Expect) {
        checks(None, self, expected);
    }
}

/// The check has failed and says what another command says, with a hint; those after it are skipped.
#[track_caller]
fn repeats_error(qless: &Qless, check: &str) {
    let other = qless.run("--timeout 2s length q -o json").error();
    let run = qless.run("--timeout 2s doctor -o json").exits(1);
    let items = items(&run);
    let at = items.iter().position(|item| item["level"] == "error");
    let at = at.unwrap_or_else(|| panic!("no error for {other}"));
    let found = &items[at];
    assert_eq!(found["check"], check, "{found}");
    assert_eq!(
        [&found["what"], &found["code"]],
        [&other["message"], &other["code"]]
    );
    match other["hint"].as_str() {
        Some(hint) => assert_eq!(found["hint"], hint.replace("length q", "doctor")),
        None => assert!(found["hint"].is_string(), "{found}"),
    }
    let is_ok = items[..at].iter().all(|item| item["level"] == "ok");
    assert!(is_ok, "{items:?}");
    let skipped = |item: &&Value| item["level"] == "skipped";
    let after = items[at + 1..].iter().filter(skipped).count();
    assert!(after > 9, "{items:?}");
    assert!(!run.stdout().contains(SECRET));
}

#[test]
fn a_healthy_server_is_well() {
    let redis = Redis::with(&["--appendonly", "yes"]);
    redis.qless().run("put mail K -q").ok();
    let before = redis.dump();
    let run = redis.qless().run("doctor -o table").exits(0);
    expect![[r#"
        ✓ config       no config file: `/nonexistent/.config/qless/config.toml` does not exist
        ✓ address      unix://DIR/s, from QLESS_REDIS_URL
        ✓ connect      DIR/s, connected in N ms
        ✓ login        user default, database 0
        ✓ prefix       ql:
        ✓ server       Redis N, standalone, up N
        ✓ rights       the user may run all commands that are needed
        ✓ core         loads: qless N, core N, N ms a call
        ✓ replication  no replicas
        ✓ eviction     maxmemory-policy noeviction
        ✓ memory       N MiB, without a limit
        ✓ persistence  append-only file, on disk each second: a crash can lose the last one
        ✓ clients      N connections; a script may hold others up for 5s
        ✓ clock        N
        ✓ keys         1 queue, 0 known workers
        ✓ scripts      none of other clients is cached
    "#]]
    .assert_eq(&with_rights(steady(&run)));
    assert_eq!(run.stderr(), "");
    assert_eq!(redis.dump(), before);
    redis.qless().run("doctor --read-only -q").exits(0);
}

#[test]
fn documents_have_what_was_measured() {
    let redis = Redis::start();
    let qless = redis.qless();
    let document = qless.run("doctor -o json").json();
    assert_eq!(document["kind"], "doctor");
    assert_eq!(document["ok"], true);
    let checks = document["items"].as_array().unwrap();
    let field = |name: &str, field: &str| {
        let check = checks.iter().find(|item| item["check"] == name);
        check.unwrap_or_else(|| panic!("no check {name}"))[field].clone()
    };
    assert!(field("connect", "connect_s").as_f64().unwrap() < 1.0);
    assert!(field("core", "call_s").as_f64().unwrap() < 1.0);
    assert!(field("clock", "ahead_s").as_f64().unwrap().abs() < 1.0);
    assert!(field("memory", "memory_bytes").as_u64().unwrap() > 100_000);
    let version = qless.run("version -o json").json();
    assert_eq!(field("core", "core"), version["core"]);
    assert_eq!(field("persistence", "append_only"), false);
    assert_eq!(field("login", "db"), 0);
    assert_eq!(field("keys", "queues"), 0);
    let lines = qless.run("doctor -o ndjson").ok();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["check"], "config");
    qless.run("doctor -o jid").exits(2);
    qless.run("doctor --sort check").exits(2);
}

#[test]
fn what_fails_is_said_as_other_commands_say_it() {
    let port = |port: u16| at_url(&format!("redis://127.0.0.1:{port}"));
    let full = |mut stream: TcpStream| {
        _ = stream.write_all(b"-ERR max number of clients reached\r\n");
    };
    let old = b"*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n6.0.16\r\n\
        *2\r\n$1\r\n1\r\n$1\r\n1\r\n";
    let redis = Redis::start();
    let guarded = Redis::with(&["--requirepass", SECRET]);
    let with = |redis: &Redis, password: &str| redis.qless().env("QLESS_REDIS_PASSWORD", password);
    let known = with(&guarded, SECRET);
    known.run("doctor -q").exits(0);
    let no_database = format!("{}?db=99", guarded.url());
    for (qless, check) in [
        (port(free_port()), "connect"),
        (at_url("redis://nowhere.invalid"), "connect"),
        (at_url("unix:///nonexistent/r.sock"), "connect"),
        (
            port(answering(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
            "connect",
        ),
        (port(listen(drop)), "connect"),
        (port(listen(full)), "connect"),
        (port(answering(b"-LOADING x\r\n-LOADING x\r\n")), "server"),
        (port(answering(old)), "server"),
        (guarded.qless(), "login"),
        (with(&guarded, "other"), "login"),
        (with(&redis, SECRET), "login"),
        (known.env("QLESS_REDIS_URL", no_database), "login"),
    ] {
        repeats_error(&qless, check);
    }
}

#[test]
fn tls_is_checked() {
    let server = TlsRedis::start();
    let tls = item(&server.qless(), "tls");
    assert!(
        tls["protocol"].as_str().unwrap().starts_with("TLS 1."),
        "{tls}"
    );
    assert_eq!(tls["names"], json!(["localhost", "127.0.0.1", "::1"]));
    assert!(
        tls["expires"].as_str().unwrap().starts_with("4096-01-01"),
        "{tls}"
    );
    repeats_error(&server.stranger(), "tls");
    repeats_error(
        &server.stranger().env("QLESS_TLS_CA", "/nonexistent/ca.pem"),
        "tls",
    );
    let plain = format!("redis://localhost:{}", server.port);
    repeats_error(&at_url(&plain), "connect");
    server
        .redis
        .send(&["CONFIG", "SET", "port", &free_port().to_string()]);
    let port = config(&server.redis, "port");
    let wrong = format!("rediss://127.0.0.1:{port}");
    repeats_error(&server.qless().env("QLESS_REDIS_URL", wrong), "tls");
}

fn config(redis: &Redis, name: &str) -> String {
    let mut command = redis::cmd("CONFIG");
    let pair: Vec<String> = command
        .arg("GET")
        .arg(name)
        .query(&mut redis.connection())
        .unwrap();
    pair[1].clone()
}

#[test]
fn a_tls_certificate_that_ends_soon_is_a_warning() {
    let soon = SystemTime::now() + Duration::from_secs(5 * 86_400);
    let soon = soon.duration_since(UNIX_EPOCH).unwrap().as_secs();
    let date = jiff::Timestamp::from_second(soon as i64)
        .unwrap()
        .to_string();
    let part = |range: std::ops::Range<usize>| date[range].parse::<u16>().unwrap();
    let (year, month, day) = (part(0..4), part(5..7), part(8..10));
    let change = |params: &mut CertificateParams| {
        params.not_after = date_time_ymd(year.into(), month as u8, day as u8);
    };
    let authority = Authority::new();
    let pair = authority.issue_with(&["localhost"], change);
    let server = TlsRedis::of(&authority, &pair, &["--tls-auth-clients", "no"]);
    let tls = item(&server.qless(), "tls");
    assert_eq!(tls["level"], "warning");
    let what = tls["what"].as_str().unwrap();
    assert!(
        what.starts_with("the certificate for localhost expires in 4d"),
        "{what}"
    );
    assert_eq!(tls["hint"], "renew the certificate of the server");
    server.qless().run("doctor -q").exits(0);
}

#[test]
fn a_frozen_server_with_or_without_tls_takes_no_longer_than_the_timeout() {
    let (redis, server) = (Redis::start(), TlsRedis::start());
    redis.freeze();
    server.redis.freeze();
    for qless in [redis.qless(), server.qless()] {
        let begun = Instant::now();
        let run = qless.run("doctor --timeout 1s -o json").exits(1);
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{:?}",
            begun.elapsed()
        );
        let items = items(&run);
        let failed = items.iter().find(|item| item["level"] == "error").unwrap();
        assert_eq!(
            (&failed["check"], &failed["code"]),
            (&"connect".into(), &"timeout".into())
        );
    }
    redis.thaw();
    server.redis.thaw();
}

#[test]
fn a_server_that_runs_a_script_is_busy() {
    let redis = Redis::with(&["--lua-time-limit", "1"]);
    let mut connection = redis.connection();
    let script = thread::spawn(move || {
        let mut eval = redis::cmd("EVAL");
        eval.arg("while true do end").arg(0);
        _ = eval.query::<()>(&mut connection);
    });
    let ping = || redis::cmd("PING").query::<String>(&mut redis.connection());
    until("the server is busy", || ping().is_err());
    redis.checks(expect![[r#"
        server: error | `unix://DIR/s` is busy with a script | `redis-cli SCRIPT KILL` ends it if it has not written yet
    "#]]);
    redis.send(&["SCRIPT", "KILL"]);
    script.join().unwrap();
}

/// A silent server of a version, whose TIME replies these seconds after the login.
fn silent_server_with(version: &'static str, seconds: &'static str, info: &'static str) -> Qless {
    let commands = Regex::new(r"\*\d+\r\n\$").unwrap();
    let port = listen(move |mut stream| {
        let mut asked = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut asked) {
            let text = String::from_utf8_lossy(&asked[..read]).into_owned();
            let time = |seconds: &str| {
                let length = seconds.len();
                format!("*2\r\n${length}\r\n{seconds}\r\n$1\r\n1\r\n")
            };
            let answer = if text.contains("HELLO") {
                format!("*2\r\n$7\r\nversion\r\n$5\r\n{version}\r\n{}", time("1"))
            } else if text.contains("TIME") {
                time(seconds)
            } else if text.contains("INFO") && !info.is_empty() {
                format!("${}\r\n{info}\r\n", info.len())
            } else {
                let word = text.lines().nth(2).unwrap_or_default();
                let refused = format!("-ERR unknown command '{word}'\r\n");
                refused.repeat(commands.find_iter(&text).count())
            };
            _ = stream.write_all(answer.as_bytes());
        }
    });
    at_url(&format!("redis://127.0.0.1:{port}")).hide(&port.to_string(), "PORT")
}

#[test]
fn a_server_that_loads_its_data_is_not_asked_further() {
    let begun = Instant::now();
    let server = silent_server_with("7.2.0", "1", "loading:1\r\n");
    server.env("QLESS_TIMEOUT", "60s").checks(expect![[r#"
        server: error | `redis://127.0.0.1:PORT/0` is still loading its data | `redis-cli INFO persistence` shows how far it is
        core: skipped | not looked at: `server` failed | –
    "#]]);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn what_a_service_does_not_tell_is_skipped() {
    let qless = silent_server_with("7.2.0", "1", "");
    qless.checks(expect![[r#"
        server: ok | Redis 7.2.0 | –
        core: error | `redis://127.0.0.1:PORT/0` does not run the core: it runs no scripts | `qless` requires a server with EVAL
        eviction: skipped | the server does not tell: `redis://127.0.0.1:PORT/0` refuses: unknown command 'INFO' | –
    "#]]);
    let clock = item(&qless, "clock");
    let what = clock["what"].as_str().unwrap();
    assert!(what.starts_with("this host is "), "{what}");
    assert!(what.contains("ahead: other clients"), "{what}");
    assert_eq!(clock["level"], "warning");
    // A time that is no number says nothing about the clock.
    silent_server_with("7.2.0", "x", "").checks(expect![[r#"
        clock: error | unexpected reply to `TIME`: not a number | is it a Redis server, and the right port?
    "#]]);
}

#[test]
fn missing_rights_are_named() {
    if !Redis::has_selective_rights_or_skips() {
        return;
    }
    let redis = Redis::start();
    let ops = redis
        .qless()
        .env("QLESS_REDIS_URL", redis.url() + "?user=ops")
        .env("QLESS_REDIS_PASSWORD", SECRET);
    let checks = |expected: Expect| checks(Some(&redis), &ops, expected);
    checks(expect![[r#"
        > ACL SETUSER ops on >geheim-4711 ~* &* +@all -hset -zrem -scan
        rights: error | user `ops` may not run HSET, ZREM on `ql:*` | `qless help acl` prints the line an administrator needs
    "#]]);
    ops.run("doctor").exits(1);
    // What only reads works without these.
    ops.run("doctor --read-only -q").exits(0);
    checks(expect![[r#"
        > ACL SETUSER ops +hset +zrem -hlen
        rights: warning | user `ops` may not run HLEN, SCAN on `ql:*`, which only some commands need: dry runs, check, export, throttle list --all, selectors that read every job | `qless help acl` prints the line an administrator needs
    "#]]);
    ops.run("doctor -q").exits(0);
    checks(expect![[r#"
        > ACL SETUSER ops -eval -info
        rights: error | user `ops` may not run `eval` | `qless help acl` prints the line an administrator needs
        memory: skipped | the server does not tell: user `ops` may not run `info` | `qless help acl` prints the line an administrator needs
    "#]]);
    ops.run("doctor").exits(1);
}

#[test]
fn the_documented_users_are_well_and_refused_nothing() {
    let redis = Redis::start();
    redis.qless().run("put mail K -q").ok();
    let help = Qless::bare().run("help acl").ok();
    for command in acl_commands(&help, SECRET) {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        redis.send(&words);
    }
    for (user, flag) in [("qless", ""), ("qless-ro", "--read-only")] {
        let url = format!("{}?user={user}", redis.url());
        let qless = redis.qless().env("QLESS_REDIS_URL", url);
        let qless = qless.env("QLESS_REDIS_PASSWORD", SECRET);
        let run = qless.run(&format!("doctor {flag} -o json")).exits(0);
        let mut items = items(&run).into_iter();
        assert!(items.all(|item| item["level"] != "error"), "{user}");
        if Redis::has_selective_rights() {
            let log = redis.send(&["ACL", "LOG"]);
            assert_eq!(log, redis::Value::Array(Vec::new()), "{user}");
        }
    }
}

#[test]
fn memory_eviction_and_persistence_are_judged() {
    let redis = Redis::start();
    redis.checks(expect![[r#"
        persistence: warning | neither append-only file nor snapshots: a restart loses all jobs | `redis-cli CONFIG SET appendonly yes` writes each change to disk
        > CONFIG SET save '3600 1'
        persistence: warning | snapshots only, none since the server started: a crash loses what was changed since | `redis-cli CONFIG SET appendonly yes` writes each change to disk
        > CONFIG SET appendonly yes
        > CONFIG SET appendfsync always
        persistence: ok | append-only file, on disk before each reply | –
        > CONFIG SET appendfsync no
        persistence: warning | append-only file, on disk when the system decides: a crash can lose half a minute | `redis-cli CONFIG SET appendfsync everysec`
        > CONFIG SET maxmemory-policy allkeys-lru
        eviction: ok | maxmemory-policy allkeys-lru, without effect: maxmemory is not set | –
        > CONFIG SET maxmemory 1gb
        eviction: warning | the server deletes jobs when its memory is full (maxmemory-policy allkeys-lru) | it refuses new ones instead after `redis-cli CONFIG SET maxmemory-policy noeviction`
    "#]]);
    redis.qless().run("doctor -q").exits(0);
    redis.checks(expect![[r#"
        > CONFIG SET maxmemory-policy volatile-ttl
        eviction: ok | maxmemory-policy volatile-ttl, which deletes only keys with an expiry: windows of uniqueness | –
        > CONFIG SET maxmemory-policy noeviction
        > CONFIG SET maxmemory 100kb
        memory: error | `unix://DIR/s` is out of memory | `qless cancel` and a shorter `jobs-history` free some
    "#]]);
    redis.qless().run("doctor").exits(1);
}

#[test]
fn a_failed_snapshot_is_an_error_if_the_server_refuses_changes() {
    let redis = Redis::start();
    // No file can have the name of a directory.
    let dir = config(&redis, "dir");
    std::fs::create_dir(format!("{dir}/dump.rdb")).unwrap();
    std::fs::write(format!("{dir}/dump.rdb/x"), "").unwrap();
    redis.send(&["BGSAVE"]);
    let mut info = redis::cmd("INFO");
    info.arg("persistence");
    let info = || info.query::<String>(&mut redis.connection()).unwrap();
    until("the snapshot fails", || {
        info().contains("rdb_last_bgsave_status:err")
    });
    redis.checks(expect![[r#"
        persistence: warning | the server could not save its data the last time | make room on its disk; `redis-cli INFO persistence` shows what failed
        > CONFIG SET save '3600 1'
        persistence: error | `unix://DIR/s` cannot write to its disk and refuses changes | make room on its disk; `redis-cli INFO persistence` shows what failed
    "#]]);
}

#[test]
fn a_replica_is_for_reading() {
    let (primary, replica) = replicas::pair();
    let port = config(&primary, "port");
    let qless = replica.qless().hide(&port, "PORT");
    let server = item(&qless, "server");
    let what = server["what"].as_str().unwrap();
    assert!(what.contains(", replica, up"), "{server}");
    qless.checks(expect![[r#"
        replication: error | `unix://DIR/s` is a replica | point `--redis` at its primary, `127.0.0.1:PORT`, or add `--read-only`
    "#]]);
    qless.run("doctor").exits(1);
    let reader = qless.env("QLESS_READ_ONLY", "1");
    reader.checks(expect![[r#"
        replication: ok | replica of 127.0.0.1:PORT, connected | –
    "#]]);
    primary.checks(expect![[r#"
        replication: ok | 1 replica | –
        > CONFIG SET min-replicas-to-write 1
        replication: ok | 1 replica, min-replicas-to-write 1 | –
        > CONFIG SET min-replicas-to-write 2
        replication: error | `unix://DIR/s` has too few replicas and refuses changes | start its replicas, or lower `min-replicas-to-write`
    "#]]);
    drop(primary);
    until("the replica knows", || {
        item(&reader, "replication")["level"] != "ok"
    });
    reader.checks(expect![[r#"
        replication: warning | this replica has lost its primary: its data is old | `redis-cli INFO replication` shows its primary
    "#]]);
    reader.run("doctor -q").exits(0);
    replica.send(&["CONFIG", "SET", "replica-serve-stale-data", "no"]);
    reader.env("QLESS_TIMEOUT", "1s").checks(expect![[r#"
        core: error | replica `unix://DIR/s` has lost its primary | `redis-cli INFO replication` shows its primary
        keys: skipped | not looked at: `core` failed | –
    "#]]);
}

#[test]
fn the_source_of_the_address_is_named() {
    let redis = Redis::start();
    let url = redis.url();
    let home = ConfigHome::new(&format!(
        "[context.\"a\\u001bb\"]\nredis = \"{url}\"\n[context.none]\nprefix = \"p:\"\n"
    ));
    let bare = || home.qless().hide(&url, "URL");
    let context = bare().env("QLESS_CONTEXT", "a\x1bb");
    let variable = bare().env("REDIS_URL", &url);
    let other = bare().env("REDIS_URL", "redis://x");
    let typed = format!("--redis {url}");
    for (qless, flags, origin) in [
        (&bare(), &typed[..], "URL, from `--redis`"),
        (&variable, "", "URL, from REDIS_URL"),
        (
            &other.env("QLESS_REDIS_URL", &url),
            "",
            "URL, from QLESS_REDIS_URL",
        ),
        (&context, "", "URL, from context a\\x1bb"),
        (
            &bare(),
            "--context none",
            "redis://127.0.0.1:6379/0, from the default",
        ),
    ] {
        let run = qless.run(&format!("{flags} doctor -o json"));
        assert_eq!(items(&run)[1]["what"], origin);
    }
    assert!(!context.run("doctor -o table").stdout().contains('\x1b'));
    home.write(&format!("[defaults]\nredis = \"{url}\"\n"));
    let run = bare().run("doctor -o json");
    assert_eq!(items(&run)[1]["what"], "URL, from `[defaults]`");
    for address in ["http://x", "rediss://bad_host!"] {
        bare().run(&format!("doctor --redis {address}")).exits(2);
    }
    home.write("[defaults]\nredsi = \"x\"\n");
    bare().run("doctor").exits(2);
}

#[test]
fn a_config_file_with_a_password_that_others_may_read_is_a_warning() {
    let redis = Redis::start();
    let home = ConfigHome::new("[context.a]\nredis = \"redis://:geheim-4711@h\"\n");
    let qless = home.with(redis.qless());
    qless.checks(expect![[r#"
        config: ok | HOME/qless/config.toml, no context | –
    "#]]);
    home.mode(0o644);
    qless.checks(expect![[r#"
        config: warning | others may read `HOME/qless/config.toml`, and a password stands in it | `chmod 600 HOME/qless/config.toml` leaves it to its owner
    "#]]);
}

#[test]
fn a_prefix_without_queues_and_a_set_time_are_warnings() {
    let redis = Redis::start();
    redis.qless().run("put mail K -q").ok();
    redis.at(100).env("QLESS_PREFIX", "x:").checks(expect![[r#"
        keys: warning | nothing is stored under the prefix `x:` in `unix://DIR/s` | there are queues with `--prefix=ql:`
        clock: warning | QLESS_NOW sets the time of all calls, whatever time it is | unset QLESS_NOW
    "#]]);
}

#[test]
fn scripts_of_others_are_counted_and_keys_of_a_wrong_type_named() {
    let redis = Redis::without_scripts();
    redis.checks(expect![[r#"
        > SCRIPT LOAD 'return 1'
        scripts: ok | 1 other script is cached: of other clients, or of other versions and prefixes of `qless` | –
        > SET ql:config x
        > SET ql:queues x
        core: error | cannot read the reply: a key that it needs has the wrong type | `qless check --only key-type` names it
        keys: error | cannot be read, because a key has the wrong type: the list of queues | `qless check --only key-type` names the keys
    "#]]);
    redis.qless().run("doctor").exits(1);
    // On Redis before 7.0, the test of rights tests nothing, but is cached.
    silent_server_with("6.2.0", "1", "number_of_cached_scripts:3\r\n").checks(expect![[r#"
        scripts: ok | 1 other script is cached: of other clients, or of other versions and prefixes of `qless` | –
    "#]]);
}

#[test]
fn no_password_is_shown() {
    let redis = Redis::start();
    let port = free_port();
    redis.send(&["CONFIG", "SET", "port", &port.to_string()]);
    redis.send(&["CONFIG", "SET", "requirepass", SECRET]);
    for format in ["table", "tsv", "json", "ndjson"] {
        for wrong in ["", "x"] {
            let url = format!("redis://:{SECRET}{wrong}@127.0.0.1:{port}");
            let run = at_url(&url).run(&format!("doctor -vv -o {format}"));
            let all = run.stdout() + &run.stderr();
            assert!(all.contains("127.0.0.1") && !all.contains(SECRET), "{all}");
        }
    }
}

#[test]
fn each_member_has_its_own_checks() {
    let redis = Redis::start();
    let home = ConfigHome::new(&format!(
        "[context.one]\nredis = \"{}\"\n[context.gone]\nredis = \"unix:///no/socket\"\n\
         [context.both]\nmembers = [\"one\", \"gone\"]\n\
         [context.two]\nredis = \"{0}\"\nprefixes = [\"a:\", \"b:\"]\n",
        redis.url()
    ));
    let both = home.run("--context both doctor").exits(1);
    let lines = both.stdout();
    for start in ["one\t✓\tcore\t", "gone\t✗\tconnect\t"] {
        let has_line = lines.lines().any(|line| line.starts_with(start));
        assert!(has_line, "{start}: {lines}");
    }
    let prefixes = home.run("--context two doctor -o json").json();
    assert_eq!(prefixes["kind"], "doctor");
    assert_eq!(prefixes["ok"], true);
    for prefix in ["a:", "b:"] {
        let items = prefixes["items"].as_array().unwrap().iter();
        let of_prefix = items.filter(|item| item["prefix"] == prefix);
        assert_eq!(of_prefix.count(), 16, "{prefix}");
    }
}

#[test]
fn lines_fit_a_terminal_and_only_signs_have_a_color() {
    let redis = Redis::start();
    let color = Regex::new("\x1b\\[\\d*m").unwrap();
    for columns in [40, 80] {
        let mut command: Command = redis.qless().command();
        command.args(["doctor", "--no-pager"]).env("TERM", "xterm");
        let run = terminal::run(command, columns).exits(0);
        let text = run.stdout();
        assert!(text.contains("\x1b[32m✓\x1b[0m config"), "{text:?}");
        let bare = color.replace_all(&text, "");
        let path = |line: &&str| !line.contains('/');
        let widest = bare.lines().filter(path).map(qless::internals::width).max();
        assert!(widest.unwrap() <= columns.into(), "{bare}");
        assert_eq!(text.matches('\x1b').count(), 32, "{text:?}");
    }
}

#[test]
fn a_private_server_is_started() {
    let dir = tempfile::Builder::new()
        .prefix("ql")
        .tempdir_in("/tmp")
        .unwrap();
    let qless = at_url(&format!("local:{}/night", dir.path().display()));
    let connect = item(&qless, "connect");
    qless.checks(expect![[r#"
        persistence: ok | append-only file, on disk each second: a crash can lose the last one | –
    "#]]);
    qless.run("local stop -q").exits(0);
    assert_eq!(connect["level"], "ok");
}

#[test]
fn a_cluster_is_checked_at_the_node_with_the_prefix() {
    let cluster = Cluster::of(2, 0);
    repeats_error(&cluster.qless("ql:"), "prefix");
    let one = format!("redis://127.0.0.1:{}", cluster.members[0].port);
    let qless = at_url(&one).env("QLESS_PREFIX", "{mail}:");
    repeats_error(&qless, "address");
    let qless = cluster.qless("{mail}:").env("QLESS_TIMEOUT", "2s");
    qless.checks(expect![[r#"
        nodes: ok | all 2 that the address names reply | –
    "#]]);
    let server = item(&qless, "server");
    let what = server["what"].as_str().unwrap();
    assert!(what.contains(", primary in a cluster, up"), "{server}");
    let dead = format!("127.0.0.1:{}", free_port());
    let with_dead = format!("{},{dead}", cluster.urls());
    let nodes = item(&qless.env("QLESS_REDIS_URL", with_dead), "nodes");
    assert_eq!(nodes["level"], "warning");
    assert_eq!(nodes["nodes_away"], json!([dead]));
}

#[test]
fn one_primary_takes_any_prefix_with_a_warning() {
    let cluster = Cluster::of(1, 0);
    let qless = cluster.qless("ql:");
    qless.checks(expect![[r#"
        prefix: warning | prefix `ql:` works in this cluster because it has one primary; with a second one, each call will fail | move with `export` and `import --prefix '{ql}:'`
    "#]]);
    qless.run("doctor -q").exits(0);
}

#[test]
fn sentinels_lead_to_their_master() {
    let topology = Sentinels::start();
    let qless = topology.qless();
    let master = format!("127.0.0.1:SERVER{}", topology.master());
    assert_eq!(item(&qless, "connect")["node"], master);
    qless.checks(expect![[r#"
        nodes: ok | all 3 that the address names reply | –
    "#]]);
    let server = item(&qless, "server");
    let what = server["what"].as_str().unwrap();
    let expected = ", the master of the Sentinels, up";
    assert!(what.contains(expected), "{server}");
    let unknown = topology.url().replace(MASTER, "nobody");
    repeats_error(&at_url(&unknown), "connect");
    let sentinel = format!("redis://127.0.0.1:{}", topology.sentinels[0].port);
    repeats_error(&at_url(&sentinel), "address");
    topology.sentinels[1].freeze();
    let nodes = item(&qless, "nodes");
    assert_eq!(nodes["level"], "warning");
    assert_eq!(nodes["nodes_away"], json!(["127.0.0.1:SENTINEL1"]));
    topology.sentinels[1].thaw();
}
