//! A socket that another user has put where `local:` expects its server.

use std::fs::rename;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use expect_test::expect;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::listen;
use tempfile::TempDir;

use crate::support::files::{STRANGER, give_away, mode};
use crate::support::qless::Qless;
use crate::support::work::until;

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let dir = tempfile::Builder::new()
            .prefix("ql")
            .tempdir_in("/tmp")
            .unwrap();
        mode(dir.path(), 0o755);
        std::fs::create_dir(dir.path().join("night")).unwrap();
        Folder(dir)
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("night")
    }

    fn qless(&self) -> Qless {
        Qless::bare()
            .env(
                "QLESS_REDIS_URL",
                format!("local:{}", self.path().display()),
            )
            .hide(self.0.path().to_str().unwrap(), "DIR")
            .at(0)
    }
}

/// Each command that speaks with the server, or asks whether there is one.
const LINES: [&str; 5] = [
    "length q",
    "local",
    "local start",
    "local stop",
    "put q K --jid a",
];

#[test]
fn a_directory_in_which_others_can_put_a_socket_is_not_used() {
    let folder = Folder::new();
    let socket = UnixListener::bind(folder.path().join("redis.sock")).unwrap();
    socket.set_nonblocking(true).unwrap();
    for bits in [0o777, 0o770, 0o1777] {
        mode(folder.path(), bits);
        for line in LINES {
            folder.qless().run(line).shows(expect![[r#"
                --- stderr
                error: other users may write `DIR/night`
                hint: `chmod 700 DIR/night` leaves it to its owner
                --- exit 6
            "#]]);
        }
    }
    // Not even a connection was made.
    let fault = socket.accept().unwrap_err();
    assert_eq!(fault.kind(), std::io::ErrorKind::WouldBlock);
    mode(folder.path(), 0o700);
    // Nor one that others can replace.
    mode(folder.0.path(), 0o777);
    for line in LINES {
        folder.qless().run(line).shows(expect![[r#"
            --- stderr
            error: cannot use `DIR/night`: other users may write the directory `DIR`
            hint: `chmod go-w DIR` takes that right away
            --- exit 6
        "#]]);
    }
    mode(folder.0.path(), 0o755);
    if give_away(folder.0.path()) {
        folder.qless().run("length q").shows(expect![[r#"
            --- stderr
            error: cannot use `DIR/night`: the directory `DIR` belongs to another user
            hint: name a path on which all directories belong to you or root
            --- exit 6
        "#]]);
        chown(folder.0.path(), Some(0), None).unwrap();
    }
    if give_away(folder.path()) {
        let ran = folder.qless().run("length q").exits(6);
        let said = ran.stderr();
        assert!(said.contains("belongs to someone else"), "{said}");
    }
    let fault = socket.accept().unwrap_err();
    assert_eq!(fault.kind(), std::io::ErrorKind::WouldBlock);
}

/// With the umask 002, `mkdir` makes a folder that the group may write.
#[test]
fn an_empty_directory_for_the_group_is_closed_and_used() {
    let folder = Folder::new();
    mode(folder.path(), 0o775);
    assert_eq!(folder.qless().run("length q").ok(), "0");
    let bits = std::fs::metadata(folder.path()).unwrap().mode();
    folder.qless().run("local stop").ok();
    assert_eq!(bits & 0o7777, 0o700);
    // Not if somebody has put something there, nor if everybody may.
    mode(folder.path(), 0o775);
    folder.qless().run("length q").exits(6);
    let other = Folder::new();
    mode(other.path(), 0o777);
    other.qless().run("length q").exits(6);
}

/// A server of another user in this folder. `None` if this user is not root, who alone can start one: the
/// test above holds for other users, too.
fn server_of_a_stranger(folder: &Folder) -> Option<Server> {
    mode(folder.path(), 0o777);
    let socket = folder.path().join("redis.sock");
    let program = std::env::var("REDIS_SERVER").unwrap_or_else(|_| "redis-server".into());
    let server = Command::new(program)
        .uid(STRANGER)
        .current_dir("/")
        .args(["--port", "0", "--save", "", "--unixsocketperm", "777"])
        .arg("--unixsocket")
        .arg(&socket)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let Ok(server) = server else {
        eprintln!("not root: no server of another user can be started");
        return None;
    };
    let server = Server(server);
    until("a server of another user", || commands(&socket).is_some());
    mode(folder.path(), 0o700);
    Some(server)
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// The commands that a server has processed besides this one. Valkey runs some of its own when it starts.
fn commands(socket: &std::path::Path) -> Option<Vec<String>> {
    let client = redis::Client::open(format!("unix://{}", socket.display())).ok()?;
    let mut connection = client.get_connection().ok()?;
    let info: String = redis::cmd("INFO")
        .arg("commandstats")
        .query(&mut connection)
        .ok()?;
    let others = info.lines().filter(|line| {
        line.starts_with("cmdstat_")
            && !line.starts_with("cmdstat_info")
            && !line.starts_with("cmdstat_client")
    });
    Some(others.map(str::to_owned).collect())
}

#[test]
fn nothing_is_sent_to_a_server_of_another_user() {
    let folder = Folder::new();
    let Some(_server) = server_of_a_stranger(&folder) else {
        return;
    };
    let own = commands(&folder.path().join("redis.sock"));
    for line in LINES {
        let ran = folder.qless().run(line).exits(6);
        ran.says("a process of another user listens in");
    }
    assert_eq!(commands(&folder.path().join("redis.sock")), own);
}

/// A command that only looks whether a server runs, and connects then, may find another one.
#[test]
fn every_connection_to_a_private_server_is_checked() {
    for line in ["local status", "__complete fish qless length ''"] {
        let folder = Folder::new();
        let Some(_server) = server_of_a_stranger(&folder) else {
            return;
        };
        let (socket, theirs) = (folder.path().join("redis.sock"), folder.path().join("s"));
        let before = commands(&socket);
        rename(&socket, &theirs).unwrap();
        // One connection waits to be accepted; the next one is blocked, and then looks the path up again.
        let own = UnixListener::bind(&socket).unwrap();
        listen(&own, 0).unwrap();
        let qless = folder.qless().env("QLESS_COMPLETE_LIVE", "20s");
        let running = qless.start(line);
        poll(&mut [PollFd::new(&own, PollFlags::IN)], None).unwrap();
        rename(&theirs, &socket).unwrap();
        drop(own);
        running.end();
        assert_eq!(commands(&socket), before, "{line}");
    }
}

#[test]
fn the_private_server_learns_no_secret_from_its_environment() {
    let folder = Folder::new();
    let program = folder.0.path().join("server");
    std::fs::write(&program, "#!/bin/sh\nenv >${0%/*}/seen\nexit 1\n").unwrap();
    mode(&program, 0o755);
    mode(folder.path(), 0o700);
    let qless = folder.qless().env("QLESS_REDIS_SERVER", &program);
    let secrets = [
        ("QLESS_REDIS_PASSWORD", "geheim"),
        ("REDISCLI_AUTH", "geheim"),
        ("QLESS_SENTINEL_PASSWORD", "geheim"),
        ("REDIS_URL", "redis://:geheim@h"),
    ];
    let qless = secrets
        .iter()
        .fold(qless, |qless, (name, value)| qless.env(name, value));
    qless.run("length q").exits(6);
    let seen = std::fs::read_to_string(folder.0.path().join("seen")).unwrap();
    assert!(seen.contains("PATH=") && !seen.contains("geheim"), "{seen}");
}
