//! Runs `qless work` on a private server: its programs are shell scripts that write to a directory of
//! the test, which is `$D` for them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::client::Client;
use super::core::Core;
use super::files::mode;
use super::qless::{Qless, RunOutput};
use super::redis::Redis;
use super::text;
use crate::extensions::invariants::{Excuses, violations};

/// No test waits longer than this for a condition.
const DEADLINE: Duration = Duration::from_secs(30);

/// A server with jobs, and a directory for what their programs write.
pub struct WorkSite {
    pub redis: Redis,
    pub client: Client,
    dir: TempDir,
    started: usize,
}

impl WorkSite {
    pub fn new() -> WorkSite {
        WorkSite::on(Redis::start())
    }

    /// A site with jobs of one queue, whose data is `{}`.
    pub fn with_jobs(queue: &str, jids: &[&str]) -> WorkSite {
        let mut site = WorkSite::new();
        jids.iter().for_each(|jid| site.put(queue, jid, "{}"));
        site
    }

    /// A site with this number of jobs of one queue: `0`, `1` and so on, whose data is `{}`.
    pub fn with_numbered_jobs(queue: &str, count: usize) -> WorkSite {
        let jids: Vec<String> = (0..count).map(|at| at.to_string()).collect();
        WorkSite::with_jobs(queue, &jids.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub fn on(redis: Redis) -> WorkSite {
        let client = Client::new(&redis);
        let dir = tempfile::Builder::new()
            .prefix("qw")
            .tempdir_in("/tmp")
            .unwrap();
        WorkSite {
            redis,
            client,
            dir,
            started: 0,
        }
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The binary, with the directory in the environment.
    pub fn qless(&self) -> Qless {
        let dir = self.dir().to_str().unwrap();
        self.redis.qless().env("D", dir).hide(dir, "$D")
    }

    /// Puts a job.
    pub fn put(&mut self, queue: &str, jid: &str, data: &str) {
        self.put_with(queue, jid, data, &[]);
    }

    /// Puts a job with further arguments, such as `&["retries", "0"]`.
    pub fn put_with(&mut self, queue: &str, jid: &str, data: &str, more: &[&str]) {
        let call = ["put", "me", queue, jid, "K", data, "0"];
        self.client.call(&[&call[..], more].concat()).unwrap();
    }

    /// Sets a value of the server's configuration.
    pub fn config(&mut self, name: &str, value: &str) {
        self.client.call(&["config.set", name, value]).unwrap();
    }

    /// Runs `qless work <line> -- sh -c <script>` to its end.
    #[track_caller]
    pub fn work(&self, line: &str, script: &str) -> RunOutput {
        self.qless().args(arguments(line, script))
    }

    /// Starts `qless work <line> -- sh -c <script>`.
    pub fn start(&mut self, line: &str, script: &str) -> Worker {
        let qless = self.qless();
        self.start_as(&qless, line, script)
    }

    /// Starts it with another environment, such as another address of the server.
    pub fn start_as(&mut self, qless: &Qless, line: &str, script: &str) -> Worker {
        let mut command = qless.command();
        self.start_command(command.args(arguments(line, script)))
    }

    /// Starts a prepared command that works.
    pub fn start_command(&mut self, command: &mut Command) -> Worker {
        self.started += 1;
        let stderr = self.dir().join(format!("stderr-{}", self.started));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&stderr).unwrap());
        Worker {
            child: command.spawn().unwrap(),
            stderr,
        }
    }

    /// Writes a program that can be executed.
    pub fn program(&self, text: &str) -> PathBuf {
        let program = self.dir().join("program");
        fs::write(&program, text).unwrap();
        mode(&program, 0o755);
        program
    }

    /// What programs wrote to a file of the directory; nothing if it does not exist.
    pub fn file(&self, name: &str) -> String {
        read(&self.dir().join(name))
    }

    /// The lines of a file, joined by blanks.
    pub fn words(&self, name: &str) -> String {
        self.file(name).lines().collect::<Vec<_>>().join(" ")
    }

    /// The number in a file, such as a process id.
    #[track_caller]
    pub fn pid(&self, name: &str) -> Pid {
        let text = self.file(name);
        let number = text
            .trim()
            .parse()
            .unwrap_or_else(|_| panic!("no process id: {text:?}"));
        Pid::from_raw(number).unwrap()
    }

    pub fn job(&mut self, jid: &str) -> Value {
        self.client.json(&["get", jid])
    }

    /// The state of a job; `gone` if it does not exist.
    pub fn state(&mut self, jid: &str) -> String {
        self.job(jid)["state"].as_str().unwrap_or("gone").to_owned()
    }

    /// The group and the message of a failed job.
    pub fn failure(&mut self, jid: &str) -> String {
        let job = self.job(jid);
        let text = |name: &str| job["failure"][name].as_str().unwrap_or("-").to_owned();
        format!(
            "{} {}: {}",
            job["state"].as_str().unwrap_or("gone"),
            text("group"),
            text("message")
        )
    }

    /// The same of several jobs, each on a line of its own.
    pub fn failures(&mut self, jids: &[&str]) -> String {
        let lines = jids
            .iter()
            .map(|jid| format!("{jid}: {}\n", self.failure(jid)));
        lines.collect()
    }

    /// Waits until a job is in a state.
    #[track_caller]
    pub fn until_state(&mut self, jid: &str, state: &str) {
        let begun = Instant::now();
        while self.state(jid) != state {
            let is_late = begun.elapsed() > DEADLINE;
            assert!(!is_late, "{jid} is not {state}: {}", self.job(jid));
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until a file has at least this number of lines.
    #[track_caller]
    pub fn until_lines(&self, name: &str, count: usize) {
        let what = format!("{count} lines in {name}");
        until(&what, || self.file(name).lines().count() >= count);
    }

    /// Every job that was put is complete or accounted for, and nothing is damaged.
    #[track_caller]
    pub fn must_be_clean(&self) {
        self.redis.must_be_clean();
    }

    /// Lanes, throttles and merge jobs keep their invariants.
    #[track_caller]
    pub fn must_keep_invariants(&self) {
        let found = violations(&Core::over(&self.redis).dump(), &Excuses::default());
        assert!(found.is_empty(), "{found:#?}");
    }
}

/// Waits for a condition.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < DEADLINE, "not within 30 s: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process exists and is more than an entry that nobody has collected.
pub fn is_alive(pid: Pid) -> bool {
    let status = read(Path::new(&format!("/proc/{}/stat", pid.as_raw_nonzero())));
    let state = status
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

fn arguments(line: &str, script: &str) -> Vec<OsString> {
    let line = format!("work {line}");
    let mut words = text::words(&line);
    // A line may name its own program, or further arguments behind `-- sh -c SCRIPT`.
    match words.iter().position(|word| word == "--") {
        Some(at) if at + 1 == words.len() => words.push(script.to_owned()),
        Some(_) => {}
        None => words.extend(["--", "sh", "-c", script].map(str::to_owned)),
    }
    words.into_iter().map(OsString::from).collect()
}

#[track_caller]
fn says(stderr: &str, text: &str) {
    assert!(stderr.contains(text), "no {text:?} in:\n{stderr}");
}

/// A worker that runs while the test does something else. It is killed when the test ends.
pub struct Worker {
    child: Child,
    stderr: PathBuf,
}

/// How a worker ended.
pub struct Ended {
    /// As a shell reports it.
    pub code: i32,
    pub stderr: String,
}

impl Worker {
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    pub fn stderr(&self) -> String {
        read(&self.stderr)
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Stderr must contain this text already.
    #[track_caller]
    pub fn says(&self, text: &str) {
        says(&self.stderr(), text);
    }

    /// Waits until stderr holds a text.
    #[track_caller]
    pub fn until_says(&mut self, text: &str) {
        let begun = Instant::now();
        while !self.stderr().contains(text) {
            let is_late = begun.elapsed() > DEADLINE || self.has_ended();
            assert!(
                !is_late || self.stderr().contains(text),
                "no {text:?} in:\n{}",
                self.stderr()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends a further signal, so long after the last one that it does not repeat it.
    pub fn signal_again(&self, signal: Signal) {
        thread::sleep(Duration::from_millis(1050));
        self.signal(signal);
    }

    /// Waits for the end.
    #[track_caller]
    pub fn end(mut self) -> Ended {
        use std::os::unix::process::ExitStatusExt;

        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                begun.elapsed() < DEADLINE,
                "the worker does not end:\n{}",
                self.stderr()
            );
            thread::sleep(Duration::from_millis(2));
        };
        Ended {
            code: status
                .code()
                .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            stderr: self.stderr(),
        }
    }

    /// Asks for the end, and waits for it.
    #[track_caller]
    pub fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        self.end()
    }
}

impl Ended {
    /// The worker must have ended with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ended {
        assert_eq!(self.code, code, "{}", self.stderr);
        self
    }

    /// Stderr must contain this text.
    #[track_caller]
    pub fn says(&self, text: &str) {
        says(&self.stderr, text);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
