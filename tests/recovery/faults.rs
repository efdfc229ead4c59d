//! Machines that fail: each row breaks something at random moments while a command runs, repeats the
//! command as its documentation says, and accounts for each job. `make soak PART=faults` prints the
//! table of many rounds.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::replicas;
use crate::support::client::Client;
use crate::support::proxy::{forward_with_time_ahead, listen};
use crate::support::qless::RunOutput;
use crate::support::random::{self, Draw};
use crate::support::redis::Redis;

/// How many times a command is repeated until it must have done everything.
const REPETITIONS: usize = 30;

/// What became of the jobs of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// The jobs for which the command was run.
    asked: usize,
    /// The jobs that it named as done, over all runs.
    acknowledged: usize,
    /// The jobs for which it was not done after the last repetition.
    lost: usize,
    /// How many times it was done once more for a job.
    doubled: usize,
}

impl std::ops::AddAssign for Account {
    fn add_assign(&mut self, other: Account) {
        self.asked += other.asked;
        self.acknowledged += other.acknowledged;
        self.lost += other.lost;
        self.doubled += other.doubled;
    }
}

/// A command whose jobs are counted.
#[derive(Clone, Copy)]
struct Task {
    /// As the table names it.
    name: &'static str,
    /// The command line; `$D` is the directory of the row.
    line: &'static str,
    /// Further arguments that let it take longer, so that a fault strikes in its middle.
    slower: &'static str,
    /// The program of `work`.
    program: &'static [&'static str],
    /// Fills the database and the directory with this number of jobs.
    prepare: fn(&Site, usize),
    /// Counts how often it was done for each job, by the jobs' numbers.
    count: fn(&Site) -> HashMap<usize, usize>,
}

/// Lines without ids: the journal makes the command repeatable.
const PUT: Task = Task {
    name: "put --journal",
    line: "put --from $D/jobs --journal $D/journal --batch 20 -o jid",
    slower: "--rate 1000/s",
    program: &[],
    prepare: lines,
    count: stored,
};

/// Lines with ids of their own.
const PUT_BY_ID: Task = Task {
    name: "put --jid-from",
    line: "put --from $D/jobs --jid-from n --batch 20 -o jid",
    ..PUT
};

const IMPORT: Task = Task {
    name: "import",
    line: "import $D/jobs --if-absent --yes -o ndjson",
    prepare: |site, count| {
        jobs(site, count);
        let file = site.path("jobs");
        let export = format!("export --queue mail --file {}", file.display());
        site.redis.qless().run(&export).exits(0);
        site.redis.send(&["FLUSHALL"]);
    },
    ..PUT
};

const RETRY: Task = Task {
    name: "failed --retry-all",
    line: "failed --group boom --retry-all --yes -o ndjson",
    prepare: failed_jobs,
    count: |site| events(site, "cli retry"),
    ..PUT
};

const MOVE: Task = Task {
    name: "move",
    line: "move --queue mail --to slow --yes -o ndjson",
    prepare: jobs,
    count: |site| events(site, "cli move"),
    ..PUT
};

const CANCEL: Task = Task {
    name: "cancel",
    line: "cancel --queue mail --yes -o ndjson",
    prepare: jobs,
    count: |site| {
        let left = stored(site);
        let all = 0..site.jobs;
        all.filter(|at| !left.contains_key(at))
            .map(|at| (at, 1))
            .collect()
    },
    ..PUT
};

const WORK: Task = Task {
    name: "work",
    line: "work mail --drain -c 4 --poll 100ms -o ndjson",
    slower: "",
    program: &["--", "sh", "-c", "sleep 0.01; echo $QLESS_JID >>$D/ledger"],
    prepare: |site, count| {
        let mut client = Client::new(&site.redis);
        for (name, value) in [("heartbeat", "3"), ("grace-period", "0")] {
            client.call(&["config.set", name, value]).unwrap();
        }
        jobs(site, count);
    },
    count: runs,
};

/// Something that breaks while a command runs.
#[derive(Clone, Copy)]
struct Fault {
    name: &'static str,
    /// Further options of the server.
    server: &'static [&'static str],
    /// Further arguments of the command.
    more: &'static str,
    /// Starts the command, `"$0" "$@"`, in its first runs.
    shell: &'static str,
    strike: fn(&mut Site, Pid, &mut Draw),
    /// Whether a program may run once more, as the documentation of `work` says.
    runs_again: bool,
    /// Whether the server has a replica.
    has_replica: bool,
    /// Whether every second job is deleted.
    deletes: bool,
    /// By how many seconds the clock of the server is ahead.
    ahead: i64,
}

const QUIET: Fault = Fault {
    name: "",
    server: &[],
    more: "",
    shell: r#"exec "$0" "$@""#,
    strike: |_, _, _| {},
    runs_again: false,
    has_replica: false,
    deletes: false,
    ahead: 0,
};

const ALWAYS: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

const KILLED: Fault = Fault {
    name: "the command gets a signal",
    strike: |_, pid, draw| {
        let signals = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP];
        // It may have ended.
        _ = kill_process(pid, draw.of(&signals));
    },
    runs_again: true,
    ..QUIET
};

const RESTARTED: Fault = Fault {
    name: "the server is killed, appendfsync always",
    server: &ALWAYS,
    strike: restart,
    ..QUIET
};

const EMPTIED: Fault = Fault {
    name: "the server is killed, without persistence",
    server: &[],
    ..RESTARTED
};

const FLUSHED: Fault = Fault {
    name: "FLUSHALL",
    strike: |site, _, _| _ = site.redis.send(&["FLUSHALL"]),
    ..QUIET
};

const FROZEN: Fault = Fault {
    name: "the server is frozen beyond the time-out",
    more: "--timeout 1s",
    strike: |site, _, draw| {
        site.redis.freeze();
        thread::sleep(Duration::from_millis(800 + draw.below(800)));
        site.redis.thaw();
    },
    ..QUIET
};

const FULL_MEMORY: Fault = Fault {
    name: "the server is out of memory",
    strike: |site, _, draw| {
        site.redis.send(&["CONFIG", "SET", "maxmemory", "1"]);
        thread::sleep(Duration::from_millis(100 + draw.below(300)));
        site.redis.send(&["CONFIG", "SET", "maxmemory", "0"]);
    },
    ..QUIET
};

const HARASSED: Fault = Fault {
    name: "connections are killed, scripts and functions flushed",
    strike: |site, _, draw| {
        for _ in 0..20 {
            let kill = ["CLIENT", "KILL", "TYPE", "normal"];
            for words in [&kill[..], &["SCRIPT", "FLUSH"], &["FUNCTION", "FLUSH"]] {
                // Redis 6.2 has no functions.
                let mut command = redis::cmd(words[0]);
                _ = command.arg(&words[1..]).exec(&mut site.redis.connection());
            }
            thread::sleep(Duration::from_millis(draw.below(40)));
        }
    },
    ..QUIET
};

const PROMOTED: Fault = Fault {
    name: "a replica is promoted",
    has_replica: true,
    more: "--wait-replicas 1",
    strike: |site, _, _| {
        // The second time it is the primary.
        let replica = site
            .replica
            .iter()
            .find(|replica| replica.socket().exists());
        if let Some(replica) = replica {
            site.redis.kill();
            replica.send(&["REPLICAOF", "NO", "ONE"]);
            fs::rename(replica.socket(), site.redis.socket()).unwrap();
        }
    },
    ..QUIET
};

const FULL_DISK: Fault = Fault {
    name: "no file of the command has room",
    shell: r#"trap '' XFSZ; ulimit -f 8; exec "$0" "$@""#,
    ..QUIET
};

const FULL_STDOUT: Fault = Fault {
    name: "stdout is full",
    shell: r#"exec "$0" "$@" >/dev/full"#,
    ..QUIET
};

const CLOSED_STDOUT: Fault = Fault {
    name: "the reader of stdout ends",
    shell: r#""$0" "$@" | head -n 3"#,
    ..QUIET
};

const NO_STDOUT: Fault = Fault {
    name: "stdout is not open",
    shell: r#"exec "$0" "$@" >&-"#,
    ..QUIET
};

const TWICE: Fault = Fault {
    name: "the same command runs twice at once",
    shell: r#""$0" "$@" & "$0" "$@"; wait"#,
    ..QUIET
};

const HALF_GONE: Fault = Fault {
    name: "half of the jobs are deleted without the script",
    deletes: true,
    strike: |site, _, _| {
        for at in (0..site.jobs).step_by(2) {
            site.redis.send(&["DEL", &format!("ql:j:{at}")]);
        }
    },
    ..QUIET
};

const CLOCK: Fault = Fault {
    name: "the server's clock is an hour ahead",
    ahead: 3600,
    ..QUIET
};

/// The table: each command with what may happen to it.
const ROWS: &[(Task, &[Fault])] = &[
    (
        PUT,
        &[
            KILLED,
            RESTARTED,
            EMPTIED,
            FLUSHED,
            FROZEN,
            FULL_MEMORY,
            HARASSED,
            PROMOTED,
            FULL_DISK,
            FULL_STDOUT,
            NO_STDOUT,
            CLOSED_STDOUT,
            TWICE,
            CLOCK,
        ],
    ),
    (
        PUT_BY_ID,
        &[
            KILLED, RESTARTED, EMPTIED, FLUSHED, HARASSED, PROMOTED, TWICE,
        ],
    ),
    (
        IMPORT,
        &[KILLED, RESTARTED, EMPTIED, FLUSHED, FROZEN, HARASSED, TWICE],
    ),
    (
        RETRY,
        &[
            KILLED,
            RESTARTED,
            FROZEN,
            FULL_MEMORY,
            PROMOTED,
            HARASSED,
            FULL_STDOUT,
            NO_STDOUT,
            CLOSED_STDOUT,
            TWICE,
            CLOCK,
        ],
    ),
    (
        MOVE,
        &[
            KILLED,
            RESTARTED,
            FROZEN,
            HARASSED,
            PROMOTED,
            CLOSED_STDOUT,
            TWICE,
            HALF_GONE,
        ],
    ),
    (
        CANCEL,
        &[
            KILLED,
            RESTARTED,
            FROZEN,
            HARASSED,
            PROMOTED,
            CLOSED_STDOUT,
            HALF_GONE,
            TWICE,
        ],
    ),
    (
        WORK,
        &[
            KILLED,
            RESTARTED,
            FROZEN,
            FULL_MEMORY,
            HARASSED,
            CLOSED_STDOUT,
            NO_STDOUT,
            FULL_STDOUT,
            TWICE,
            CLOCK,
        ],
    ),
];

/// A server with the jobs of a row, and a directory for files.
struct Site {
    redis: Redis,
    replica: Option<Redis>,
    dir: TempDir,
    /// The number of jobs; each has its number as jid and as `n` in its data.
    jobs: usize,
    /// How far ahead the server's clock is.
    ahead: i64,
}

impl Site {
    fn new(fault: &Fault, jobs: usize) -> Site {
        let (redis, replica) = if fault.has_replica {
            let (primary, replica) = replicas::pair();
            (primary, Some(replica))
        } else {
            let redis = match fault.server {
                [] => Redis::start(),
                options => Redis::with(options),
            };
            (redis, None)
        };
        let dir = tempfile::Builder::new().prefix("qf").tempdir_in("/tmp");
        Site {
            redis,
            replica,
            dir: dir.unwrap(),
            jobs,
            ahead: fault.ahead,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs the command once while `strike` breaks something.
    fn run(
        &mut self,
        task: &Task,
        more: &str,
        shell: &str,
        strike: impl FnOnce(&mut Site, Pid),
    ) -> RunOutput {
        let dir = self.dir.path().to_str().unwrap().to_owned();
        let mut qless = self.redis.qless().env("D", &dir);
        if self.ahead > 0 {
            let (socket, ahead) = (self.redis.socket(), self.ahead);
            let port =
                listen(move |client| forward_with_time_ahead(client, &socket, move || ahead));
            qless = qless.env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
        }
        let (binary, line) = (qless.command(), task.line.replace("$D", &dir));
        let mut command = Command::new("sh");
        command
            .args(["-c", shell])
            .arg(binary.get_program())
            .args(line.split_whitespace())
            .args(more.split_whitespace())
            .args(task.program)
            .env_clear()
            .envs(
                binary
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let pid = Pid::from_child(&child);
        let end = thread::spawn(move || RunOutput::of_child(child));
        strike(self, pid);
        end.join().unwrap()
    }
}

/// Plays a row: the fault strikes once or twice, then the command is repeated until it has nothing
/// left to do.
fn play(task: &Task, fault: &Fault, seed: u64, jobs: usize) -> Account {
    let (mut site, mut draw) = (Site::new(fault, jobs), Draw::new(seed));
    (task.prepare)(&site, jobs);
    if fault.has_replica {
        // WAIT waits for the writes of its own connection.
        let mut writes = redis::pipe();
        writes.cmd("SET").arg("synced").arg(1).ignore();
        writes.cmd("DEL").arg("synced").ignore();
        writes.cmd("WAIT").arg(1).arg(10_000);
        let replicas: redis::RedisResult<[u32; 1]> = writes.query(&mut site.redis.connection());
        assert_eq!(replicas, Ok([1]));
    }
    let mut acknowledged = HashSet::new();
    for _ in 0..1 + draw.below(2) {
        let after = Duration::from_millis(draw.below(jobs as u64 + 50));
        let more = format!("{} {}", task.slower, fault.more);
        let ran = site.run(task, &more, fault.shell, |site, pid| {
            thread::sleep(after);
            (fault.strike)(site, pid, &mut draw);
        });
        acknowledged.extend(named(&ran));
    }
    let mut stderr = String::new();
    let has_ended = (0..REPETITIONS).any(|_| {
        let ran = site.run(task, "", QUIET.shell, |_, _| {});
        acknowledged.extend(named(&ran));
        stderr = ran.stderr();
        // 4: the group or the queue does not exist any more.
        matches!(ran.code(), 0 | 4) && nothing_is_held(&site)
    });
    assert!(has_ended, "{}: {}: {stderr}", task.name, fault.name);
    if !fault.deletes {
        site.redis.must_be_clean();
    }
    let counts = (task.count)(&site);
    let is_deleted = |at: &usize| fault.deletes && at.is_multiple_of(2);
    let is_lost = |at: &usize| !counts.contains_key(at) && !is_deleted(at);
    Account {
        asked: jobs,
        acknowledged: acknowledged.len(),
        lost: (0..jobs).filter(is_lost).count(),
        doubled: counts.values().map(|count| count - 1).sum(),
    }
}

/// Whether no job has a worker. If one has, waits for its lock.
fn nothing_is_held(site: &Site) -> bool {
    let is_free = site.redis.send(&["ZCARD", "ql:q:mail-locks"]) == redis::Value::Int(0);
    if !is_free {
        thread::sleep(Duration::from_millis(300));
    }
    is_free
}

/// The jids that a run named as done.
fn named(ran: &RunOutput) -> Vec<String> {
    let stdout = ran.stdout();
    let named = stdout.lines().filter_map(|line| {
        if !line.starts_with('{') {
            return Some(line.to_owned());
        }
        let item: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_done = ["done", "complete", "completed"]
            .iter()
            .any(|word| item["result"] == *word || item["event"] == *word);
        is_done.then(|| item["jid"].as_str().map(str::to_owned))?
    });
    named.collect()
}

fn restart(site: &mut Site, _: Pid, draw: &mut Draw) {
    let persistent = site.redis.send(&["CONFIG", "GET", "appendonly"]) == on();
    site.redis.kill();
    thread::sleep(Duration::from_millis(draw.below(200)));
    site.redis
        .restart_with(if persistent { &ALWAYS } else { &[] });
}

fn on() -> redis::Value {
    let text = |text: &str| redis::Value::BulkString(text.as_bytes().to_vec());
    redis::Value::Array(vec![text("appendonly"), text("yes")])
}

/// Writes a line for each job.
fn lines(site: &Site, jobs: usize) {
    let mut text = String::new();
    for at in 0..jobs {
        let line = r#"{"queue":"mail","klass":"K","data":{"n":"#;
        writeln!(text, "{line}{at}}}}}").unwrap();
    }
    fs::write(site.path("jobs"), text).unwrap();
}

/// Puts the jobs.
fn jobs(site: &Site, jobs: usize) {
    site.redis.calls((0..jobs).map(|at| {
        let (jid, data) = (at.to_string(), format!("{{\"n\":{at}}}"));
        let words = ["put", "me", "mail", &jid, "K", &data, "0", "retries", "30"];
        (1.0, words.map(str::to_owned).to_vec())
    }));
}

/// Puts the jobs and lets them fail.
fn failed_jobs(site: &Site, count: usize) {
    jobs(site, count);
    let mut client = Client::new(&site.redis);
    for jid in client.pop("mail", "w", count as u32) {
        client.call(&["fail", &jid, "w", "boom", "no"]).unwrap();
    }
}

/// Counts the stored jobs of each number.
fn stored(site: &Site) -> HashMap<usize, usize> {
    let mut connection = site.redis.connection();
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg("ql:j:*")
        .query(&mut connection)
        .unwrap();
    let mut counts = HashMap::new();
    for key in keys {
        // The history of a job is a list.
        let data: redis::RedisResult<Option<String>> = redis::cmd("HGET")
            .arg(&key)
            .arg("data")
            .query(&mut connection);
        let Ok(Some(data)) = data else { continue };
        let data: serde_json::Value = serde_json::from_str(&data).unwrap();
        let number = data["n"].as_u64().unwrap() as usize;
        *counts.entry(number).or_default() += 1;
    }
    counts
}

/// Counts an event in the history of each job.
fn events(site: &Site, what: &str) -> HashMap<usize, usize> {
    let mut client = Client::new(&site.redis);
    let counts = (0..site.jobs).filter_map(|at| {
        let count = client.entry(&at.to_string())?.count(what);
        (count > 0).then_some((at, count))
    });
    counts.collect()
}

/// Counts how often the program of each complete job ran to its end.
fn runs(site: &Site) -> HashMap<usize, usize> {
    let mut client = Client::new(&site.redis);
    let ledger = fs::read_to_string(site.path("ledger")).unwrap_or_default();
    let mut counts = HashMap::new();
    for jid in ledger.lines() {
        *counts.entry(jid.parse().unwrap()).or_default() += 1;
    }
    counts.retain(|jid: &usize, _| {
        let job = client.entry(&jid.to_string());
        job.is_some_and(|job| job.state == "complete")
    });
    counts
}

/// Plays the rows, some at a time. Returns what became of the jobs of each.
fn all(seed: u64, jobs: usize) -> Vec<Account> {
    let rows: Vec<(&Task, &Fault)> = rows().collect();
    let (next, accounts) = (
        AtomicUsize::new(0),
        Mutex::new(vec![Account::default(); rows.len()]),
    );
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && let Some((task, fault)) = rows.get(at)
                {
                    let account = play(task, fault, seed ^ (at as u64) << 32, jobs);
                    accounts.lock().unwrap()[at] = account;
                }
            });
        }
    });
    accounts.into_inner().unwrap()
}

fn rows() -> impl Iterator<Item = (&'static Task, &'static Fault)> {
    let rows = ROWS.iter();
    let rows = rows.flat_map(|(task, faults)| faults.iter().map(move |fault| (task, fault)));
    // In `make test`, each command and each fault has a row.
    let rows = rows.enumerate();
    rows.filter_map(|(at, row)| random::is_played(at + 1, 3).then_some(row))
}

fn table(accounts: &[Account]) -> String {
    let mut table = format!(
        "{:<75}{:>8}{:>14}{:>6}{:>9}\n",
        "ROW", "ASKED", "ACKNOWLEDGED", "LOST", "DOUBLED"
    );
    for ((task, fault), account) in rows().zip(accounts) {
        let Account {
            asked,
            acknowledged,
            lost,
            doubled,
        } = account;
        let row = format!("{}: {}", task.name, fault.name);
        writeln!(
            table,
            "{row:<75}{asked:>8}{acknowledged:>14}{lost:>6}{doubled:>9}"
        )
        .unwrap();
    }
    table
}

#[test]
fn faults_lose_no_job_and_double_none_after_the_documented_repetition() {
    let names = |names: fn((&'static Task, &'static Fault)) -> &'static str| {
        rows().map(names).collect::<HashSet<_>>().len()
    };
    assert_eq!(
        (names(|(task, _)| task.name), names(|(_, fault)| fault.name)),
        (7, 15)
    );
    let jobs = if random::soaking() { 600 } else { 80 };
    let mut sums = vec![Account::default(); rows().count()];
    random::rounds(|seed| {
        for (sum, account) in sums.iter_mut().zip(all(seed, jobs)) {
            *sum += account;
        }
    });
    let table = table(&sums);
    eprintln!("{table}");
    for ((task, fault), account) in rows().zip(&sums) {
        let doubled = if fault.runs_again && task.name == WORK.name {
            0
        } else {
            account.doubled
        };
        assert_eq!(
            (account.lost, doubled),
            (0, 0),
            "{}: {}\n{table}",
            task.name,
            fault.name
        );
    }
}
