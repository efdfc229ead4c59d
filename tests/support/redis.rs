//! A private Redis per test: a Unix socket in a short temporary directory, no TCP port, no
//! persistence. REDIS_SERVER names another program.
//!
//! A start with loading the script takes 30 ms of the processor, and the suite starts thousands of servers. A server
//! that a test has only sent data is therefore emptied when it is dropped, and serves a later test in another
//! directory. Each other server is killed on drop, and the last test kills those that wait.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use expect_test::Expect;
use tempfile::TempDir;

use super::core::{script, script_sha};
use super::qless::Qless;
use super::terminal;
use super::text::words;

/// A running server.
pub struct Redis {
    /// A value until it is dropped.
    server: Option<Server>,
    /// Whether a later test can have the server: it was started without options, once, and never stopped.
    is_reusable: AtomicBool,
}

/// The process with its directory. It is killed on drop.
struct Server {
    child: Child,
    dir: TempDir,
}

/// The servers that wait for a later test.
#[derive(Default)]
struct Pool {
    /// The number of servers that tests have.
    in_use: usize,
    idle: Vec<Server>,
}

fn pool() -> MutexGuard<'static, Pool> {
    static POOL: Mutex<Pool> = Mutex::new(Pool {
        in_use: 0,
        idle: Vec::new(),
    });
    POOL.lock().unwrap()
}

impl Redis {
    /// Starts a server and waits until it replies, or takes an emptied one that another test has had.
    pub fn start() -> Redis {
        Redis::reused_or_new(&[], true).expect("redis-server ended")
    }

    /// Starts a server that has no scripts of earlier tests.
    pub fn without_scripts() -> Redis {
        Redis::with(&[])
    }

    /// Starts one with further options: `&["--requirepass", "secret"]`.
    pub fn with(options: &[&str]) -> Redis {
        Redis::try_with(options).expect("redis-server ended")
    }

    /// Starts one. The result is `None` if it ends immediately, as when its port is taken.
    pub fn try_with(options: &[&str]) -> Option<Redis> {
        Redis::reused_or_new(options, false)
    }

    fn reused_or_new(options: &[&str], is_reusable: bool) -> Option<Redis> {
        let idle = {
            let mut pool = pool();
            pool.in_use += 1;
            is_reusable.then(|| pool.idle.pop()).flatten()
        };
        let is_new = idle.is_none();
        let server = idle.unwrap_or_else(|| {
            let dir = new_dir();
            let child = spawn(dir.path(), options);
            Server { child, dir }
        });
        let mut redis = Redis {
            server: Some(server),
            is_reusable: is_reusable.into(),
        };
        (!is_new || redis.await_answer()).then_some(redis)
    }

    /// Starts another server in place of one that was killed, without its data.
    pub fn restart(&mut self) {
        self.restart_with(&[]);
    }

    /// Starts one with further options, such as the ones by which it finds its data again.
    pub fn restart_with(&mut self, options: &[&str]) {
        *self.is_reusable.get_mut() = false;
        let server = self.server_mut();
        server.child = spawn(server.dir.path(), options);
        assert!(self.await_answer(), "redis-server ended");
        // A server that reads its data replies, but serves nothing yet.
        let deadline = Instant::now() + Duration::from_secs(10);
        while redis::cmd("PING")
            .query::<String>(&mut self.connection())
            .is_err()
        {
            assert!(
                Instant::now() < deadline,
                "redis-server reads its data too long"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.dir().join("s")
    }

    fn dir(&self) -> &Path {
        self.server().dir.path()
    }

    fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    fn server_mut(&mut self) -> &mut Server {
        self.server.as_mut().unwrap()
    }

    /// The address for `--redis`.
    pub fn url(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// The binary, pointed at this server.
    pub fn qless(&self) -> Qless {
        Qless::bare()
            .env("QLESS_REDIS_URL", self.url())
            .hide(self.dir().to_str().unwrap(), "DIR")
    }

    /// The binary, pointed at this server, at a pinned moment.
    pub fn at(&self, now: impl std::fmt::Display) -> Qless {
        self.qless().at(now)
    }

    /// Runs `qless <line>` at a pinned moment, which must succeed. Returns stdout without its last newline.
    #[track_caller]
    pub fn ok(&self, now: impl std::fmt::Display, line: &str) -> String {
        self.at(now).run(line).ok()
    }

    /// Runs `qless <line>` at a pinned moment, which must succeed. Returns the document on stdout.
    #[track_caller]
    pub fn json(&self, now: impl std::fmt::Display, line: &str) -> serde_json::Value {
        self.at(now).run(line).json()
    }

    /// All that `qless <line>` writes at a pinned moment on a terminal of 100 columns, without colours.
    pub fn on_terminal(&self, now: impl std::fmt::Display, line: &str) -> String {
        let qless = self.at(now).env("TERM", "xterm").env("NO_COLOR", "1");
        let mut command = qless.env("QLESS_PAGER", "cat").command();
        command.args(words(line));
        terminal::run(command, 100).stdout()
    }

    /// Runs the commands of a session, as [`Qless::session`] does, pointed at this server.
    #[track_caller]
    pub fn session(&self, expected: Expect) {
        self.qless().session(expected);
    }

    /// Opens a plain connection of the `redis` crate.
    pub fn connection(&self) -> redis::Connection {
        redis::Client::open(self.url())
            .unwrap()
            .get_connection()
            .unwrap()
    }

    /// Sends one command and returns its reply: `redis.send(&["PING"])`.
    pub fn send(&self, words: &[&str]) -> redis::Value {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query(&mut self.connection()).unwrap()
    }

    /// All keys with their values, serialized.
    pub fn dump(&self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let mut connection = self.connection();
        let keys: Vec<Vec<u8>> = redis::cmd("KEYS").arg("*").query(&mut connection).unwrap();
        let dump = keys.into_iter().map(|key| {
            let value = redis::cmd("DUMP").arg(&key).query(&mut connection).unwrap();
            (key, value)
        });
        dump.collect()
    }

    /// Whether scripts can ask the server what the user may run, as from Redis 7.0 on. Such a server also has
    /// rights that only read, calls of scripts that only read, and counts of subcommands. A server is asked
    /// once.
    pub fn has_selective_rights() -> bool {
        static HAS_SELECTIVE_RIGHTS: OnceLock<bool> = OnceLock::new();
        *HAS_SELECTIVE_RIGHTS.get_or_init(|| {
            let ask = ["EVAL", "return redis.acl_check_cmd and 1", "0"];
            Redis::start().send(&ask) == redis::Value::Int(1)
        })
    }

    /// Whether a test that requires selective rights can run. If not, a line on stderr says that it is skipped.
    pub fn has_selective_rights_or_skips() -> bool {
        let has_them = Redis::has_selective_rights();
        if !has_them {
            let thread = std::thread::current();
            let test = thread.name().unwrap_or_default();
            // The test harness would hide the line of `eprintln!`.
            _ = writeln!(
                std::io::stderr(),
                "{test} is skipped: the server has no selective rights (Redis 7.0)"
            );
        }
        has_them
    }

    /// The number of script calls since `CONFIG RESETSTAT`.
    pub fn scripts_run(&self) -> u64 {
        self.commands_run("eval")
    }

    /// How often commands that begin like this were run since `CONFIG RESETSTAT`, by scripts, too.
    pub fn commands_run(&self, start: &str) -> u64 {
        let info: String = redis::cmd("INFO")
            .arg("commandstats")
            .query(&mut self.connection())
            .unwrap();
        let start = format!("cmdstat_{start}");
        let calls = info.lines().filter_map(|line| {
            let (_, rest) = line.split_once(&start)?;
            let (_, calls) = rest.split_once("calls=")?;
            calls.split(',').next()?.parse::<u64>().ok()
        });
        calls.sum()
    }

    /// How many clients have a subscription.
    pub fn subscribers(&self) -> usize {
        let redis::Value::BulkString(list) = self.send(&["CLIENT", "LIST"]) else {
            panic!("CLIENT LIST has no text");
        };
        let list = String::from_utf8(list).unwrap();
        list.lines().filter(|line| line.contains(" sub=1 ")).count()
    }

    /// Makes many calls of the core in few round trips: the time, then the arguments of each.
    pub fn calls<W: AsRef<str>>(&self, calls: impl IntoIterator<Item = (f64, Vec<W>)>) {
        let mut connection = self.connection();
        load_script(&mut connection);
        let calls: Vec<(f64, Vec<W>)> = calls.into_iter().collect();
        for slice in calls.chunks(1000) {
            let mut pipe = redis::pipe();
            for (now, words) in slice {
                let (name, args) = words.split_first().unwrap();
                pipe.cmd("EVALSHA")
                    .arg(script_sha())
                    .arg(0)
                    .arg(name.as_ref())
                    .arg(*now);
                for word in args {
                    pipe.arg(word.as_ref());
                }
                pipe.ignore();
            }
            pipe.exec(&mut connection).unwrap();
        }
    }

    /// Stops the process with SIGSTOP: connected clients get no reply.
    pub fn freeze(&self) {
        self.is_reusable.store(false, Ordering::Relaxed);
        self.signal("-STOP");
    }

    /// Continues a stopped process.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Kills the server.
    pub fn kill(&mut self) {
        self.server_mut().kill();
    }

    /// Empties the server and moves it to another directory, where no program that a test has left behind finds it.
    /// The result is `None` if a test has changed more than data, or if the server does not answer.
    fn emptied_in_new_dir(&self) -> Option<TempDir> {
        let files = std::fs::read_dir(self.dir()).ok()?;
        if files.count() != 1 {
            return None;
        }
        let mut connection = redis::Client::open(self.url())
            .and_then(|client| client.get_connection_with_timeout(PATIENCE))
            .ok()?;
        connection.set_read_timeout(Some(PATIENCE)).ok()?;
        let mut ask = redis::cmd("INFO");
        let stats: String = ask.arg("commandstats").query(&mut connection).ok()?;
        let mut commands = stats
            .lines()
            .filter_map(|line| line.strip_prefix("cmdstat_")?.split(':').next());
        if commands.any(changes_more_than_data) {
            return None;
        }
        for line in ["FLUSHALL", "CONFIG RESETSTAT", "SLOWLOG RESET"]
            .into_iter()
            .chain(["CLIENT KILL TYPE pubsub", "CLIENT KILL TYPE normal"])
        {
            let mut words = line.split(' ');
            let mut command = redis::cmd(words.next()?);
            words.for_each(|word| _ = command.arg(word));
            command.exec(&mut connection).ok()?;
        }
        let dir = new_dir();
        std::fs::rename(self.dir(), dir.path()).ok()?;
        Some(dir)
    }

    fn signal(&self, signal: &str) {
        let pid = self.server().child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Whether the server replies; `false` if it ended.
    fn await_answer(&mut self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.answers() {
            assert!(Instant::now() < deadline, "redis-server does not answer");
            if self.server_mut().child.try_wait().unwrap().is_some() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Any reply counts: a server that requires a password replies NOAUTH.
    fn answers(&self) -> bool {
        let Ok(mut stream) = UnixStream::connect(self.socket()) else {
            return false;
        };
        let mut first = [0];
        stream.write_all(b"PING\r\n").is_ok() && matches!(stream.read(&mut first), Ok(1))
    }
}

/// Loads the script, unless the server has it: it would read the whole text again.
pub fn load_script(connection: &mut redis::Connection) {
    let mut ask = redis::cmd("SCRIPT");
    ask.arg("EXISTS").arg(script_sha());
    if ask.query::<[bool; 1]>(connection).unwrap() == [false] {
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(script());
        load.exec(connection).unwrap();
    }
}

/// The commands of `help acl` that create its users with this password, in the form that the server knows. As the
/// printed lines say, Redis 6.2 has no rights and no script calls that only read.
pub fn acl_commands(help: &str, password: &str) -> Vec<Vec<String>> {
    let lines = help.lines().filter(|line| line.starts_with("ACL SETUSER"));
    let commands = lines.map(|line| {
        let mut line = line.replace(">PASSWORD", &format!(">{password}"));
        if !Redis::has_selective_rights() {
            line = line.replace("%R~", "~").replace("_ro ", " ");
        }
        line.split_whitespace().map(str::to_owned).collect()
    });
    commands.collect()
}

/// The program of the server.
pub fn program() -> String {
    std::env::var("REDIS_SERVER").unwrap_or_else(|_| "redis-server".into())
}

fn spawn(dir: &Path, options: &[&str]) -> Child {
    let program = program();
    Command::new(&program)
        .args(["--port", "0", "--save", "", "--appendonly", "no"])
        .arg("--dir")
        .arg(dir)
        .arg("--unixsocket")
        .arg(dir.join("s"))
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("cannot start {program}: {error}; install it or set REDIS_SERVER")
        })
}

impl Server {
    fn kill(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn new_dir() -> TempDir {
    let mut dir = tempfile::Builder::new();
    dir.prefix("ql").tempdir_in("/tmp").unwrap()
}

/// The time that a server has to answer before it is killed in place of being used again.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether a command, as `INFO commandstats` names it, can change what `FLUSHALL` leaves.
fn changes_more_than_data(command: &str) -> bool {
    let (command, subcommand) = command.split_once('|').unwrap_or((command, ""));
    match command {
        "acl" => !matches!(subcommand, "cat" | "dryrun" | "getuser" | "list" | "whoami"),
        "client" => !matches!(
            subcommand,
            "getname" | "id" | "info" | "kill" | "list" | "setinfo" | "setname"
        ),
        "config" => subcommand != "get",
        "bgrewriteaof" | "bgsave" | "cluster" | "debug" | "failover" | "function" | "latency"
        | "module" | "monitor" | "psync" | "replicaof" | "save" | "shutdown" | "slaveof"
        | "sync" => true,
        _ => false,
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let may_reuse = *self.is_reusable.get_mut() && !std::thread::panicking();
        let new_dir = may_reuse.then(|| self.emptied_in_new_dir()).flatten();
        let mut server = self.server.take();
        let mut pool = pool();
        if let Some(dir) = new_dir {
            pool.idle.extend(server.take().map(|mut server| {
                // The old directory has become the new one.
                _ = std::mem::replace(&mut server.dir, dir).keep();
                server
            }));
        }
        pool.in_use -= 1;
        let unused = (pool.in_use == 0).then(|| std::mem::take(&mut pool.idle));
        drop(pool);
        drop((server, unused));
    }
}
