//! `qless local` and `--redis local:`

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use expect_test::expect;
use tempfile::TempDir;

use crate::support::config::ConfigHome;
use crate::support::qless::{Qless, RunOutput};
use crate::support::text::Shows;

/// A directory for a private server, which is stopped at the end.
struct LocalServer {
    dir: TempDir,
}

impl LocalServer {
    fn new() -> LocalServer {
        let dir = tempfile::Builder::new()
            .prefix("ql")
            .tempdir_in("/tmp")
            .unwrap();
        LocalServer { dir }
    }

    fn qless(&self) -> Qless {
        let path = self.dir.path().to_str().unwrap();
        Qless::bare()
            .env("QLESS_REDIS_URL", format!("local:{path}/night"))
            .hide(path, "DIR")
            .at(0)
    }

    fn status(&self) -> serde_json::Value {
        self.qless().run("local -o json").json()
    }

    fn pid(&self) -> u64 {
        self.status()["pid"].as_u64().unwrap()
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        self.qless().run("local stop");
    }
}

#[test]
fn the_private_server_starts_on_first_use_and_stays() {
    let local = LocalServer::new();
    assert_eq!(local.status()["running"], false);
    local.qless().session(expect![[r#"
        $ qless length mail
        0
    "#]]);
    let pid = local.pid();
    local.qless().session(expect![[r#"
        $ qless api put w mail j K {} 0 &>/dev/null
        $ qless local -o json | jq -c '[.kind, .running, .jobs, .url]'
        ["local",true,1,"unix://DIR/night/redis.sock"]
        $ qless local url
        unix://DIR/night/redis.sock
        $ qless --redis unix://DIR/night/redis.sock length mail
        1
    "#]]);
    let status = local.status();
    assert_eq!(status["pid"], pid);
    assert!(status["bytes"].as_u64().unwrap() > 0);
    let document = local.qless().run("local url -o json").json();
    assert_eq!(document, status);
    let dir = std::fs::metadata(local.dir.path().join("night")).unwrap();
    assert_eq!(dir.permissions().mode() & 0o777, 0o700);
}

#[test]
fn the_private_server_has_no_port_persists_and_evicts_nothing() {
    let local = LocalServer::new();
    local.qless().run("length mail").ok();
    let setting = |name: &str| {
        let socket = local.dir.path().join("night/redis.sock");
        let client = redis::Client::open(format!("unix://{}", socket.display())).unwrap();
        let mut get = redis::cmd("CONFIG");
        get.arg("GET").arg(name);
        let pair: Vec<String> = get.query(&mut client.get_connection().unwrap()).unwrap();
        pair[1].clone()
    };
    assert_eq!(setting("port"), "0");
    assert_eq!(setting("appendonly"), "yes");
    assert_eq!(setting("appendfsync"), "everysec");
    assert_eq!(setting("maxmemory-policy"), "noeviction");
    let path = local.dir.path().to_str().unwrap();
    let always = format!("--redis local:{path}/night?fsync=always length mail");
    local.qless().run(&always).ok();
    assert_eq!(setting("appendfsync"), "always");
}

#[test]
fn the_private_server_restarts_with_its_data() {
    LocalServer::new().qless().session(expect![[r#"
        $ qless api put w mail j K {} 0 &>/dev/null
        $ qless local stop
        --- stderr
        saved and stopped
        $ qless local -o json | jq -c .running
        false
        $ qless local stop -q -o ndjson &>/dev/null
        $ qless length mail
        1
        $ qless local -o json | jq -c .running
        true
        $ qless local start
        --- stderr
        the server was already running
    "#]]);
}

#[test]
fn a_crashed_private_server_restarts_with_its_data() {
    let local = LocalServer::new();
    local.qless().run("api put w mail j K {} 0").ok();
    let pid = local.pid();
    await_append(&local);
    let kill = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(kill.unwrap().success());
    assert_eq!(local.qless().run("length mail").ok(), "1");
    assert_ne!(local.pid(), pid);
}

/// Waits until the server has written every change to its append-only file.
fn await_append(local: &LocalServer) {
    let socket = local.status()["url"].as_str().unwrap().to_owned();
    let socket = socket.replace("DIR", local.dir.path().to_str().unwrap());
    let client = redis::Client::open(socket).unwrap();
    let mut connection = client.get_connection().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut info = redis::cmd("INFO");
        let info: String = info.arg("persistence").query(&mut connection).unwrap();
        if info.contains("aof_buffer_length:0\r\n") {
            return;
        }
        assert!(Instant::now() < deadline, "{info}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn two_first_commands_start_one_server() {
    let local = LocalServer::new();
    let started = std::thread::scope(|scope| {
        let start = || local.qless().run("local start").stderr();
        let runs = [(); 4].map(|()| scope.spawn(start));
        runs.map(|run| run.join().unwrap())
    });
    let first = started.iter().filter(|text| *text == "started\n");
    assert_eq!(first.count(), 1, "{started:?}");
}

#[test]
fn the_default_directory_is_the_state_directory() {
    let local = LocalServer::new();
    let home = local.dir.path().to_str().unwrap();
    let qless = || {
        Qless::bare()
            .hide(home, "DIR")
            .env("QLESS_REDIS_URL", "local:")
    };
    qless()
        .env("XDG_STATE_HOME", home)
        .run("local url")
        .shows(expect![[r#"
            unix://DIR/qless/local/redis.sock
        "#]]);
    qless()
        .env("HOME", home)
        .run("local url")
        .shows(expect![[r#"
            unix://DIR/.local/state/qless/local/redis.sock
        "#]]);
    qless().env("HOME", "here").run("local url").exits(2);
    qless().env("HOME", "").run("local url").shows(expect![[r#"
        --- stderr
        error: `local:` requires HOME or XDG_STATE_HOME
        hint: name another directory: `--redis local:/DIR`
        --- exit 2
    "#]]);
}

#[test]
fn local_manages_no_other_server_than_the_named_one() {
    let home = ConfigHome::new(
        "[context.prod]\nredis = \"redis://10.0.0.1:1\"\n[context.beta]\nredis = \"redis://10.0.0.1:2\"\n\
         [context.both]\nmembers = [\"prod\", \"beta\"]\n",
    );
    let state = home.dir().join("state");
    let qless = home.qless().env("XDG_STATE_HOME", &state);
    qless.session(expect![[r#"
        $ qless --redis local:night local stop
        --- stderr
        error: address `local:night` requires an absolute directory: `local:/DIR` or `local:$PWD/DIR`
        --- exit 2
        $ qless --redis local:/tmp/x?fsnyc=always local start
        --- stderr
        error: address `local:/tmp/x?fsnyc=always` has an unknown query key `fsnyc`
        --- exit 2
        $ qless --redis redis://:geheim@10.0.0.1:1 local stop
        --- stderr
        error: `qless local` needs a `local:` address, not `redis://:***@10.0.0.1:1/0`
        hint: `--redis local:` names the default private server
        --- exit 2
        $ qless --redis bogus://x local
        --- stderr
        error: address `bogus://x` has an unknown scheme `bogus:`
        hint: known are `redis://`, `valkey://`, `redis-cluster://`, `redis-sentinel://`, with TLS `rediss://`, `valkeys://`, `rediss-cluster://`, `rediss-sentinel://`, and `unix://`, `local:`
        --- exit 2
        $ qless --context prod local start
        --- stderr
        error: `qless local` needs a `local:` address, not `redis://10.0.0.1:1/0`
        hint: `--redis local:` names the default private server
        --- exit 2
        $ qless --context both local start
        --- stderr
        error: `qless local` needs a `local:` address, not `redis://127.0.0.1:6379/0`
        hint: `--redis local:` names the default private server
        --- exit 2
    "#]]);
    let by_variable = |address: &str| qless.clone().env("QLESS_REDIS_URL", address);
    by_variable("local:relx").run("local start").exits(2);
    assert!(!state.exists());
    let beside = by_variable("redis://10.0.0.1:1").run("local url").ok();
    assert_eq!(beside, "unix://HOME/state/qless/local/redis.sock");
}

#[test]
fn without_a_server_program_the_install_command_is_printed() {
    let local = LocalServer::new();
    let run = |name: &str, value: &str| {
        let qless = local.qless().env(name, value);
        qless.run("length mail").exits(6)
    };
    let none = run("PATH", "/nonexistent");
    none.says("requires `redis-server` or `valkey-server`");
    none.says("set QLESS_REDIS_SERVER");
    let missing = "/nonexistent/redis-server";
    run("QLESS_REDIS_SERVER", missing).says("cannot start `/nonexistent/redis-server`");
    run("QLESS_REDIS_SERVER", "false").says("did not start");
}

#[test]
fn an_unusable_directory_is_refused_with_a_hint() {
    let local = LocalServer::new();
    let at = |dir: &str| {
        let line = format!("length mail --redis local:{dir}");
        Qless::bare().run(&line).exits(6)
    };
    let long = at(&format!("/tmp/{}", "d".repeat(110)));
    long.says("too long");
    long.says("hint: name a shorter directory");
    let file = local.dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    at(file.to_str().unwrap()).says("is not a directory");
    // The root belongs to someone else, unless we are root.
    if std::fs::write(Path::new("/.qless"), "").is_err() {
        at("/").says("belongs to someone else");
    } else {
        _ = std::fs::remove_file("/.qless");
    }
}

#[test]
fn the_mode_of_an_existing_directory_is_kept() {
    let local = LocalServer::new();
    let shared = local.dir.path().join("night");
    std::fs::create_dir(&shared).unwrap();
    std::fs::write(shared.join("theirs"), "").unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o755)).unwrap();
    local.qless().run("length mail").shows(expect![[r#"
        --- stderr
        error: cannot use `DIR/night`: others may enter it, and it holds other things
        hint: name another directory: `--redis local:/DIR`
        --- exit 6
    "#]]);
    let mode = || std::fs::metadata(&shared).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o755);
    std::fs::remove_file(shared.join("theirs")).unwrap();
    assert_eq!(local.qless().run("length mail").ok(), "0");
    assert_eq!(mode(), 0o700);
}

#[test]
fn starting_a_server_that_never_replies_ends_with_the_timeout() {
    let local = LocalServer::new();
    let program = local.dir.path().join("server");
    std::fs::write(&program, "#!/bin/sh\necho hang on\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let qless = local.qless().env("QLESS_REDIS_SERVER", program);
    let begun = Instant::now();
    qless.run("length mail --timeout 300ms").shows(expect![[r#"
            --- stderr
            error: the server of `local:` did not start: hang on
            hint: its log is `DIR/night/redis.log`
            --- exit 6
        "#]]);
    assert!(begun.elapsed().as_secs() < 20);
}

#[test]
fn a_server_that_ends_after_it_has_detached_is_noticed_at_once() {
    let local = LocalServer::new();
    let program = local.dir.path().join("server");
    std::fs::write(
        &program,
        "#!/bin/sh\necho hang on\n(sleep 1; echo cannot) &\n",
    )
    .unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let qless = local.qless().env("QLESS_REDIS_SERVER", program);
    let begun = Instant::now();
    qless.run("length mail --timeout 2min").shows(expect![[r#"
        --- stderr
        error: the server of `local:` did not start: cannot
        hint: its log is `DIR/night/redis.log`
        --- exit 6
    "#]]);
    assert!(begun.elapsed().as_secs() < 60);
}

#[test]
fn too_few_open_files_to_start_a_server_are_named() {
    let local = LocalServer::new();
    for limit in 4..12 {
        let line = format!("ulimit -n {limit}; exec \"$0\" length mail --timeout 2min");
        let begun = Instant::now();
        let ran = RunOutput::of(&mut local.qless().shell(&line));
        let text = ran.stderr();
        assert!(text.contains("ulimit -n"), "{limit}: {text}");
        assert!(begun.elapsed().as_secs() < 60);
    }
}

#[test]
fn local_is_suggested_if_the_default_server_refuses_connections() {
    // Only if no server listens on the default port.
    if std::net::TcpStream::connect("127.0.0.1:6379").is_ok() {
        return;
    }
    Qless::bare().run("length q").shows(expect![[r#"
        --- stderr
        error: cannot reach Redis at `redis://127.0.0.1:6379/0`: connection refused
        hint: pass `--redis URL` or set QLESS_REDIS_URL; `--redis local:` starts a private one here
        --- exit 6
    "#]]);
}

/// In a mount namespace of its own: fills the disk of a private server that syncs each change.
const FULL_DISK: &str = r#"
mount -t tmpfs -o size=1m none "$1" || exit 77
chmod 700 "$1"
export QLESS_REDIS_URL="local:$1/s?fsync=always" QLESS_TIMEOUT=60s
"$0" put mail K --jid before || exit 1
dd if=/dev/zero of="$1/fill" bs=1k 2> "$2"
"$0" put mail K --jid full 2>&1
echo "exit $?"
"$0" length mail
rm "$1/fill"
"$0" put mail K --jid after
"$0" length mail
"$0" local stop 2> "$2"
"#;

#[test]
fn a_private_server_that_syncs_each_change_refuses_changes_at_once_on_a_full_disk() {
    let dir = TempDir::new().unwrap();
    let place = dir.path().to_str().unwrap();
    let begun = Instant::now();
    let unshare = "exec unshare -rm sh -c \"$1\" \"$0\" \"$2\" /dev/null";
    let mut shell = Qless::bare().shell(unshare);
    let ran = RunOutput::of(shell.args([FULL_DISK, place]));
    // Not every system lets its users mount a file system.
    if [77, 127].contains(&ran.code()) || ran.stderr().starts_with("unshare") {
        return;
    }
    ran.stdout().replace(place, "DIR").shows(expect![[r#"
        before
        error: `local:DIR/s` cannot write to its disk and refuses changes
        hint: make room on its disk; `redis-cli INFO persistence` shows what failed
        exit 6
        1
        after
        2
    "#]]);
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
#[cfg(target_os = "linux")]
fn the_private_server_keeps_no_file_of_the_caller_open() {
    let local = LocalServer::new();
    let held: Vec<String> = ["lock", "other"]
        .map(|name| local.dir.path().join(name).display().to_string())
        .into();
    let bash = "exec bash -c 'exec 9>$1 63>$2; exec \"$0\" length mail' \"$0\" \"$@\"";
    let mut shell = local.qless().shell(bash);
    RunOutput::of(shell.args(&held)).exits(0);
    let open = std::fs::read_dir(format!("/proc/{}/fd", local.pid())).unwrap();
    let open = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let kept: Vec<_> = open
        .filter(|path| held.iter().any(|held| path.as_path() == Path::new(held)))
        .collect();
    assert!(kept.is_empty(), "{kept:?}");
}

#[test]
fn a_server_that_cannot_save_says_so_at_once() {
    let local = LocalServer::new();
    local.qless().run("put q K --jid a").ok();
    // Nothing can be renamed to a directory with a file.
    let dump = local.dir.path().join("night/dump.rdb");
    std::fs::create_dir_all(dump.join("file")).unwrap();
    let begun = Instant::now();
    local.qless().run("local stop --timeout 60s").shows(expect![[r#"
        --- stderr
        error: the server in `DIR/night` still runs, since it cannot save its data: is a directory
        hint: make room on its disk if that is full, and stop it again; its log is `DIR/night/redis.log`
        --- exit 6
    "#]]);
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(local.qless().run("length q").ok(), "1");
    std::fs::remove_dir_all(&dump).unwrap();
    local.qless().run("local stop").ok();
}
