//! A private Redis that ends with its value. REDIS_SERVER names another program.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::{Client, Connection};
use tempfile::TempDir;

pub struct Redis {
    child: Child,
    dir: TempDir,
}

impl Redis {
    pub fn start() -> Redis {
        Redis::with(&[])
    }

    /// Starts one with further options.
    pub fn with(options: &[&str]) -> Redis {
        Redis::started(Command::new(program()), options)
    }

    /// Starts one that also listens to the port of this address on the loopback interface.
    pub fn on_loopback() -> (Redis, String) {
        let port = free_port().to_string();
        (
            Redis::with(&["--port", &port]),
            format!("redis://127.0.0.1:{port}"),
        )
    }

    /// Starts one that never waits for a core, if the user may give it real-time priority: then the
    /// duration of a call is that of its work, also on a busy machine.
    pub fn undisturbed() -> Redis {
        let mut first = Command::new("chrt");
        first.args(["--fifo", "1"]);
        let mut probe = Command::new("chrt");
        probe.args(["--fifo", "1", "true"]).stderr(Stdio::null());
        match probe.status() {
            Ok(status) if status.success() => {
                first.arg(program());
                Redis::started(first, &[])
            }
            _ => {
                println!("  (no right to real-time priority: calls include waiting for a core)");
                Redis::start()
            }
        }
    }

    fn started(mut command: Command, options: &[&str]) -> Redis {
        let dir = tempfile::Builder::new()
            .prefix("ql")
            .tempdir_in("/tmp")
            .unwrap();
        let child = command
            .args(["--port", "0", "--save", "", "--appendonly", "no"])
            .arg("--unixsocket")
            .arg(dir.path().join("s"))
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .current_dir(dir.path())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}; set REDIS_SERVER"));
        Redis { child, dir }
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn url(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// Connects as soon as the server replies.
    pub fn connect(&self) -> Connection {
        Redis::connect_to(&self.url())
    }

    /// Connects to an address as soon as a server replies.
    pub fn connect_to(url: &str) -> Connection {
        let client = Client::open(url).unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            match client.get_connection() {
                Ok(connection) => return connection,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Returns a port of the loopback interface that nothing listens to.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn program() -> String {
    std::env::var("REDIS_SERVER").unwrap_or_else(|_| "redis-server".into())
}

impl Drop for Redis {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
