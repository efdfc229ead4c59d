//! `qless work` while programs, workers and the server are killed, workers stand still and jobs are
//! cancelled. A ledger that the programs write shows that each job was run, and not by two holders of
//! a valid lock.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::core::{script, script_sha};
use crate::support::qless::Qless;
use crate::support::random::{self, Draw};
use crate::support::redis::Redis;

/// Every acknowledged write is on the disk when the server is killed.
const ALWAYS: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

const QUEUES: [&str; 2] = ["mail", "images"];

/// How long a worker stands still: longer than a lock and the grace period.
const STANDSTILL: Duration = Duration::from_millis(4500);

/// What a process does with a job, as its id says. A run has a first line in the ledger, at
/// least one while it works, and a last one if it is not killed.
const RUN: &str = r#"
    say() { echo "$1 $jid $run $QLESS_WORKER" >> $D/ledger; }
    run_job() {
        say start
        case $jid in
            *slow) for at in 1 2 3 4 5 6; do sleep 0.3; say works; done;;
            *) say works;;
        esac
        case $jid in *die) kill -KILL $$;; esac
        say end
    }
"#;

/// For one job.
const SINGLE: &str = r#"
    jid=$QLESS_JID run=$$
    run_job
    case $jid in
        *fail) echo 'as its id says' >&2; exit 3;;
        *again) test $QLESS_ATTEMPT -gt 1 || exit 75;;
    esac
"#;

/// For jobs that come as lines.
const LINES: &str = r#"
    count=0
    while read -r line; do
        case $line in *'"cancel":true'*) continue;; esac
        jid=${line#*\"jid\":\"} jid=${jid%%\"*} count=$((count + 1))
        run=$$.$count
        run_job
        case $line in
            *'-fail"'*) result='"fail","group":"exit-3","message":"as its id says"';;
            *'-again"'*'"attempt":1,'*) result='"retry"';;
            *) result='"complete"';;
        esac
        echo "{\"jid\":\"$jid\",\"result\":$result}" >&3
    done
"#;

/// A worker and how to start it again.
struct Supervisor {
    qless: Qless,
    line: &'static str,
    script: String,
    stderr: PathBuf,
    child: Child,
    /// Until when it stands still.
    stopped_until: Option<Instant>,
}

impl Supervisor {
    fn start(qless: &Qless, stderr: PathBuf, line: &'static str, script: &str) -> Supervisor {
        let script = format!("{RUN}{script}");
        let child = spawn(qless, &stderr, line, &script);
        Supervisor {
            qless: qless.clone(),
            line,
            script,
            stderr,
            child,
            stopped_until: None,
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Kills it and starts another one.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.stopped_until = None;
        self.child = spawn(&self.qless, &self.stderr, self.line, &self.script);
    }

    /// Continues it when its time has come, and replaces it if it found no server at its start.
    fn look_after(&mut self) {
        if self
            .stopped_until
            .is_some_and(|until| until <= Instant::now())
        {
            self.signal(Signal::CONT);
            self.stopped_until = None;
        }
        if let Some(status) = self.child.try_wait().unwrap() {
            let stderr = fs::read_to_string(&self.stderr).unwrap_or_default();
            assert_eq!(
                status.code(),
                Some(6),
                "{} ended: {status}\n{stderr}",
                self.line
            );
            self.child = spawn(&self.qless, &self.stderr, self.line, &self.script);
        }
    }

    /// Asks for the end, and waits for it.
    fn end(mut self) {
        self.signal(Signal::TERM);
        // It may still stand still.
        self.signal(Signal::CONT);
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "{} does not end",
                self.line
            );
            thread::sleep(Duration::from_millis(5));
        };
        let stderr = fs::read_to_string(&self.stderr).unwrap_or_default();
        assert_eq!(status.code(), Some(0), "{}\n{stderr}", self.line);
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn spawn(qless: &Qless, stderr: &PathBuf, line: &str, script: &str) -> Child {
    let stderr = OpenOptions::new()
        .create(true)
        .append(true)
        .open(stderr)
        .unwrap();
    let mut command = qless.command();
    command
        .arg("work")
        .args(line.split_whitespace())
        .args([
            "--poll",
            "200ms",
            "--timeout",
            "1s",
            "--kill-after",
            "500ms",
            "--",
            "sh",
            "-c",
            script,
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr);
    command.spawn().unwrap()
}

/// A client that makes the calls of the reference, and connects again.
struct RawClient {
    url: String,
    connection: Option<redis::Connection>,
}

/// What a call brought.
enum Outcome {
    Reply(redis::Value),
    Refused,
    /// The connection ended, before the call or after it.
    Unknown,
}

impl RawClient {
    fn new(redis: &Redis) -> RawClient {
        RawClient {
            url: redis.url(),
            connection: None,
        }
    }

    fn connect(&mut self) -> Option<&mut redis::Connection> {
        if self.connection.is_none() {
            let client = redis::Client::open(self.url.as_str()).unwrap();
            self.connection = client.get_connection().ok();
        }
        self.connection.as_mut()
    }

    fn call(&mut self, words: &[&str]) -> Outcome {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = format!("{:.4}", now.as_secs_f64());
        for (how, script) in [("EVALSHA", script_sha()), ("EVAL", script())] {
            let Some(connection) = self.connect() else {
                thread::sleep(Duration::from_millis(20));
                return Outcome::Unknown;
            };
            let mut call = redis::cmd(how);
            call.arg(script)
                .arg(0)
                .arg(words[0])
                .arg(&now)
                .arg(&words[1..]);
            match call.query(connection) {
                Ok(reply) => return Outcome::Reply(reply),
                Err(error) => match error.code() {
                    Some("NOSCRIPT") => {}
                    Some("ERR") => return Outcome::Refused,
                    _ => {
                        self.connection = None;
                        return Outcome::Unknown;
                    }
                },
            }
        }
        Outcome::Unknown
    }

    /// Calls until the server replies. For calls that may be repeated.
    fn insist(&mut self, words: &[&str]) -> Option<redis::Value> {
        loop {
            match self.call(words) {
                Outcome::Reply(reply) => return Some(reply),
                Outcome::Refused => return None,
                Outcome::Unknown => {}
            }
        }
    }

    /// The state and the group of the failure of each job. A job that does not exist has no
    /// state.
    fn states(&mut self, jids: &[String]) -> Option<Vec<(Option<String>, Option<String>)>> {
        let mut states = Vec::new();
        for jids in jids.chunks(1000) {
            let mut pipe = redis::pipe();
            for jid in jids {
                pipe.cmd("HMGET")
                    .arg(format!("ql:j:{jid}"))
                    .arg("state")
                    .arg("failure");
            }
            let found: redis::RedisResult<Vec<_>> = pipe.query(self.connect()?);
            match found {
                Ok(found) => states.extend(found),
                Err(_) => {
                    self.connection = None;
                    return None;
                }
            }
        }
        Some(states)
    }
}

/// What all clients know of the jobs.
#[derive(Default)]
struct Book {
    /// The jobs that were put.
    put: Mutex<Vec<String>>,
    /// Jobs that are cancelled or may be.
    cancelled: Mutex<HashSet<String>>,
}

/// What a process does with a job. It is part of the job's id.
fn kind(draw: &mut Draw) -> &'static str {
    match draw.below(100) {
        0..4 => "slow",
        4..7 => "die",
        7..10 => "fail",
        10..20 => "again",
        _ => "plain",
    }
}

/// Puts jobs as the libraries do, over some time.
fn put(redis: &RawAccess, seed: u64, jobs: usize, pause: Duration) {
    let (mut client, mut draw) = (redis.client(), Draw::new(seed));
    for at in 0..jobs {
        let queue = draw.of(&QUEUES);
        let jid = format!("late{at}-{}", kind(&mut draw));
        loop {
            let words = ["put", "raw", queue, &jid, "K", "{}", "0", "retries", "30"];
            match client.call(&words) {
                Outcome::Reply(_) => break,
                Outcome::Refused => panic!("a put was refused"),
                // A second put would move a job that runs.
                Outcome::Unknown => match client.insist(&["get", &jid]) {
                    Some(redis::Value::Nil) | None => {}
                    Some(_) => break,
                },
            }
        }
        redis.book.put.lock().unwrap().push(jid);
        thread::sleep(pause);
    }
}

/// Pops and completes jobs as the libraries do.
fn pop(redis: &RawAccess, is_over: &AtomicBool) {
    let mut client = redis.client();
    let mut ledger = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&redis.ledger)
        .unwrap();
    let mut runs = 0;
    while !is_over.load(Ordering::Relaxed) {
        for queue in QUEUES {
            // The jobs of a reply that was lost come back when their locks expire.
            let Outcome::Reply(reply) = client.call(&["pop", queue, "raw-worker", "2"]) else {
                continue;
            };
            let popped: Option<String> = redis::from_redis_value(reply).unwrap();
            let popped: serde_json::Value =
                serde_json::from_str(&popped.unwrap_or("[]".into())).unwrap();
            for job in popped.as_array().into_iter().flatten() {
                let jid = job["jid"].as_str().unwrap();
                runs += 1;
                for what in ["start", "works", "end"] {
                    // In one piece: other processes write there, too.
                    let line = format!("{what} {jid} raw.{runs} raw-worker\n");
                    ledger.write_all(line.as_bytes()).unwrap();
                    thread::sleep(Duration::from_millis(1));
                }
                _ = client.insist(&["complete", jid, "raw-worker", queue, "{}"]);
            }
        }
        thread::sleep(Duration::from_millis(60));
    }
}

/// What the threads share.
struct RawAccess {
    url: String,
    ledger: PathBuf,
    book: Book,
}

impl RawAccess {
    fn client(&self) -> RawClient {
        RawClient {
            url: self.url.clone(),
            connection: None,
        }
    }
}

/// How often something was done.
#[derive(Debug, Default)]
struct Counts {
    workers_killed: u32,
    workers_stopped: u32,
    servers_killed: u32,
    cancelled: u32,
    flushed: u32,
}

fn storm(seed: u64, jobs: usize, most: Duration) {
    let mut redis = Redis::with(&ALWAYS);
    let dir = tempfile::Builder::new()
        .prefix("qs")
        .tempdir_in("/tmp")
        .unwrap();
    let ledger = dir.path().join("ledger");
    File::create(&ledger).unwrap();
    let mut client = RawClient::new(&redis);
    for (name, value) in [
        ("heartbeat", "1.5"),
        ("grace-period", "2"),
        ("stats-history", "1"),
    ] {
        client.insist(&["config.set", name, value]);
    }
    let access = RawAccess {
        url: redis.url(),
        ledger: ledger.clone(),
        book: Book::default(),
    };
    let mut draw = Draw::new(seed);
    let early = jobs * 3 / 4;
    for at in 0..early {
        let queue = draw.of(&QUEUES);
        let jid = format!("early{at}-{}", kind(&mut draw));
        let words = ["put", "raw", queue, &jid, "K", "{}", "0", "retries", "30"];
        client.insist(&words).unwrap();
        access.book.put.lock().unwrap().push(jid);
    }
    let qless = redis.qless().env("D", dir.path());
    let mut supervisors: Vec<Supervisor> = [
        ("mail images -c 3 --worker host-a", SINGLE),
        (
            "images mail -c 2 --worker host-b --order round-robin",
            SINGLE,
        ),
        (
            "mail images --batch 4 --worker host-a --order round-robin",
            LINES,
        ),
        ("* --persistent -c 2 --in-flight 2 --worker host-b", LINES),
    ]
    .into_iter()
    .enumerate()
    .map(|(at, (line, script))| {
        let stderr = dir.path().join(format!("stderr-{at}"));
        Supervisor::start(&qless, stderr, line, script)
    })
    .collect();

    let (begun, is_over) = (Instant::now(), AtomicBool::new(false));
    let (mut counts, mut stopped) = (Counts::default(), HashSet::new());
    let late = jobs - early;
    thread::scope(|scope| {
        let end = Flag(&is_over);
        let putting = scope.spawn(|| put(&access, seed ^ 1, late, most / 3 / late as u32));
        scope.spawn(|| pop(&access, &is_over));
        loop {
            supervisors.iter_mut().for_each(Supervisor::look_after);
            let put = access.book.put.lock().unwrap().clone();
            let is_rest = putting.is_finished()
                && client.states(&put).is_some_and(|states| {
                    let open = states
                        .iter()
                        .filter(|(state, _)| !is_final(state.as_deref()));
                    open.count() < jobs / 20
                });
            if is_rest || begun.elapsed() > most {
                break;
            }
            match draw.below(100) {
                0..15 => {
                    counts.workers_killed += 1;
                    let at = draw.below(4) as usize;
                    supervisors[at].kill();
                }
                15..25 if supervisors.iter().all(|one| one.stopped_until.is_none()) => {
                    counts.workers_stopped += 1;
                    let one = &mut supervisors[draw.below(4) as usize];
                    stopped.insert(one.child.id().to_string());
                    one.signal(Signal::STOP);
                    one.stopped_until = Some(Instant::now() + STANDSTILL);
                }
                25..32 => {
                    counts.servers_killed += 1;
                    redis.kill();
                    thread::sleep(Duration::from_millis(20 + draw.below(300)));
                    redis.restart_with(&ALWAYS);
                }
                32..36 => {
                    counts.flushed += 1;
                    redis.send(&["SCRIPT", "FLUSH"]);
                }
                36..60 => {
                    counts.cancelled += 1;
                    let jid = &put[draw.below(put.len() as u64) as usize];
                    access.book.cancelled.lock().unwrap().insert(jid.clone());
                    _ = client.call(&["cancel", jid]);
                }
                _ => {}
            }
            thread::sleep(Duration::from_millis(draw.below(120)));
        }
        putting.join().unwrap();
        // Peace: what is left is done.
        let begun = Instant::now();
        let put = access.book.put.lock().unwrap().clone();
        loop {
            supervisors.iter_mut().for_each(Supervisor::look_after);
            let states = client.states(&put).unwrap_or_default();
            let open: Vec<_> = put
                .iter()
                .zip(&states)
                .filter(|(_, (state, _))| !is_final(state.as_deref()))
                .collect();
            if open.is_empty() && !states.is_empty() {
                break;
            }
            let is_late = begun.elapsed() > Duration::from_secs(60);
            assert!(!is_late, "these never end: {open:?}, {}", kept(dir.path()));
            thread::sleep(Duration::from_millis(50));
        }
        drop(end);
    });
    supervisors.into_iter().for_each(Supervisor::end);

    let put = access.book.put.into_inner().unwrap();
    let cancelled = access.book.cancelled.into_inner().unwrap();
    let runs = runs(&fs::read_to_string(&ledger).unwrap());
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for (jid, (state, failure)) in put.iter().zip(client.states(&put).unwrap()) {
        let end = match state.as_deref() {
            None => {
                assert!(cancelled.contains(jid), "{jid} is lost");
                "cancelled".to_owned()
            }
            Some("failed") => {
                let failure: serde_json::Value = serde_json::from_str(&failure.unwrap()).unwrap();
                format!("failed {}", failure["group"].as_str().unwrap())
            }
            Some(state) => {
                let has_ended = runs
                    .get(jid)
                    .is_some_and(|runs| runs.iter().any(|run| run.has_ended));
                assert!(has_ended, "{jid} is complete and never ran to its end");
                state.to_owned()
            }
        };
        *ends.entry(end).or_default() += 1;
    }
    let known = [
        "cancelled",
        "complete",
        "failed exit-3",
        "failed signal-KILL",
        "failed failed-retries-mail",
        "failed failed-retries-images",
    ];
    let unknown: Vec<_> = ends
        .keys()
        .filter(|end| !known.contains(&end.as_str()))
        .collect();
    assert!(unknown.is_empty(), "{ends:?}");
    let overlaps = overlaps(&runs, &stopped);
    let again = runs.iter().filter(|(jid, runs)| {
        let ended = runs.iter().filter(|run| run.has_ended).count();
        ended > 1 && !jid.ends_with("again")
    });
    let again = again.count();
    assert!(overlaps.is_empty(), "{overlaps:#?}\n{}", kept(dir.path()));
    redis.must_be_clean();
    eprintln!(
        "{} jobs in {:.1} s: {ends:?}; {counts:?}; {again} ran to the end more than once",
        put.len(),
        begun.elapsed().as_secs_f64()
    );
    assert!(ends["complete"] > jobs / 2, "{ends:?}");
    assert!(
        counts.workers_killed > 0 && counts.servers_killed > 0 && counts.workers_stopped > 0,
        "{counts:?}"
    );
}

/// Ends the threads, also when an assertion fails.
struct Flag<'a>(&'a AtomicBool);

impl Drop for Flag<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The end of what the workers wrote.
fn kept(dir: &std::path::Path) -> String {
    let mut text = String::new();
    for at in 0..4 {
        let stderr = fs::read_to_string(dir.join(format!("stderr-{at}"))).unwrap_or_default();
        let lines: Vec<&str> = stderr.lines().rev().take(30).collect();
        text.push_str(&format!(
            "worker {at}, newest line first:\n{}\n",
            lines.join("\n")
        ));
    }
    text
}

fn is_final(state: Option<&str>) -> bool {
    matches!(state, None | Some("complete" | "failed"))
}

/// The process id in the name of a worker.
fn pid_of(worker: &str) -> &str {
    worker.rsplit('-').nth(1).unwrap_or_default()
}

/// A run of a job: its first and its last line of the ledger.
#[derive(Debug)]
struct Run {
    id: String,
    worker: String,
    first: usize,
    last: usize,
    has_ended: bool,
}

/// The runs of each job, in the order in which they began.
fn runs(ledger: &str) -> HashMap<String, Vec<Run>> {
    let mut jobs: HashMap<String, Vec<Run>> = HashMap::new();
    for (at, line) in ledger.lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, jid, id, worker] = words[..] else {
            panic!("line {at} of the ledger: {line}");
        };
        let runs = jobs.entry(jid.to_owned()).or_default();
        match runs
            .iter_mut()
            .find(|run| run.id == id && run.worker == worker)
        {
            Some(run) => {
                run.last = at;
                run.has_ended |= what == "end";
            }
            None => runs.push(Run {
                id: id.to_owned(),
                worker: worker.to_owned(),
                first: at,
                last: at,
                has_ended: false,
            }),
        }
    }
    jobs
}

/// The runs that went on after a later run of the same job had begun. Only a worker that stood
/// still beyond its lock may have such a run.
fn overlaps(runs: &HashMap<String, Vec<Run>>, stopped: &HashSet<String>) -> Vec<String> {
    let mut overlaps = Vec::new();
    for (jid, runs) in runs {
        for (at, run) in runs.iter().enumerate() {
            let later = runs[at + 1..].iter().find(|later| later.first < run.last);
            if let Some(later) = later
                && !stopped.contains(pid_of(&run.worker))
            {
                overlaps.push(format!("{jid}: {run:?} and {later:?}"));
            }
        }
    }
    overlaps
}

#[test]
fn the_ledger_shows_two_runs_of_a_job_at_a_time() {
    let line =
        |what: &str, run: &str, pid: &str| format!("{what} a {run} mx-qless-1.0.0-x1-{pid}-3fa9\n");
    let apart = [
        line("start", "1", "70"),
        line("end", "1", "70"),
        line("start", "2", "80"),
        line("end", "2", "80"),
    ];
    let none = HashSet::new();
    assert!(overlaps(&runs(&apart.concat()), &none).is_empty());
    let crossed = [&apart[..1], &apart[2..], &apart[1..2]].concat().concat();
    assert_eq!(overlaps(&runs(&crossed), &none).len(), 1);
    // The first of them stood still.
    let stopped = HashSet::from(["70".to_owned()]);
    assert!(overlaps(&runs(&crossed), &stopped).is_empty());
}

#[test]
fn random_kills_neither_lose_a_job_nor_run_it_twice_at_a_time() {
    let is_long = ["TEST_ROUNDS", "TEST_SEED"]
        .into_iter()
        .any(|name| std::env::var_os(name).is_some());
    let (jobs, most) = if is_long {
        (10_000, Duration::from_secs(300))
    } else {
        (600, Duration::from_secs(9))
    };
    random::rounds(|seed| storm(seed, jobs, most));
}
