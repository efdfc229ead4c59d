//! The cost of `qless check` for a server with many jobs, compared with `redis-cli --bigkeys`, which
//! reads the name and size of every key, in the same run; how long other clients wait; and the cost
//! of a repair compared with a scan.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::binary;
use crate::measured_server::{Call, Server};
use crate::submit::peak_of;

/// The numbers of jobs.
const SIZES: [usize; 2] = [100_000, 1_000_000];

/// The numbers of different tags. Each job has two of them, or none if there are none.
const TAGS: [usize; 3] = [0, 12, 500];

/// The number of queues of each kind; see [`queue`].
const SHARDS: usize = 10;

/// The number of ids without jobs that are repaired.
const GHOSTS: usize = 100_000;

/// When the first job was put.
const BEGIN: f64 = 1_795_000_000.0;

/// The result of a run.
#[derive(Clone, Copy)]
struct Ran {
    /// Microseconds of the server's main thread.
    micros: f64,
    /// CPU microseconds of the client.
    client: f64,
    seconds: f64,
    /// The peak memory of the client, in MiB.
    peak: f64,
    /// The longest wait of a probe for its reply, in milliseconds.
    worst: f64,
}

impl Ran {
    const MOST: Ran = Ran {
        micros: f64::INFINITY,
        client: f64::INFINITY,
        seconds: f64::INFINITY,
        peak: f64::INFINITY,
        worst: f64::INFINITY,
    };

    fn keep(&mut self, other: Ran) {
        self.micros = self.micros.min(other.micros);
        self.client = self.client.min(other.client);
        self.seconds = self.seconds.min(other.seconds);
        self.peak = self.peak.min(other.peak);
        self.worst = self.worst.min(other.worst);
    }
}

/// `sizes`: the numbers of jobs, if given.
pub fn print(rounds: usize, sizes: &[usize]) {
    let sizes = if sizes.is_empty() { &SIZES } else { sizes };
    println!(
        "\nqless check of 50 queues, least of {rounds} rounds: CPU of the server's main thread"
    );
    println!("ratio: to that of redis-cli --bigkeys, and of the durations");
    println!("worst: the longest that a PING of another connection took meanwhile");
    println!(
        "  {:<24}{:>10}{:>6}{:>9}{:>9}{:>7}{:>8}{:>7}{:>8}{:>11}{:>12}",
        "", "jobs", "tags", "ms", "µs a job", "ratio", "s", "ratio", "MiB", "worst", "worst call"
    );
    for size in sizes {
        for tags in TAGS {
            compare(rounds, *size, tags);
        }
    }
    ghosts();
}

/// Checks jobs and lets `redis-cli --bigkeys` read the same data, in turn.
fn compare(rounds: usize, jobs: usize, tags: usize) {
    let mut server = Server::undisturbed();
    fill(&mut server, jobs, tags);
    let socket = server.redis.socket();
    let (mut bigkeys, mut check) = (Ran::MOST, Ran::MOST);
    let mut worst = 0.0_f64;
    for _ in 0..rounds {
        let mut cli = Command::new("redis-cli");
        cli.arg("-s").arg(&socket).arg("--bigkeys");
        bigkeys.keep(run(&mut server, &mut cli));
        server.watch_slow(Some(1_000));
        let mut command = qless(&server, "check -q");
        check.keep(run(&mut server, &mut command));
        worst = worst.max(server.slowest());
        server.watch_slow(None);
    }
    for (name, ran, slow) in [
        ("redis-cli --bigkeys", bigkeys, String::new()),
        ("qless check", check, format!("{worst:.1} ms")),
    ] {
        println!(
            "  {name:<24}{jobs:>10}{tags:>6}{:>9.0}{:>9.2}{:>7.2}{:>8.2}{:>7.2}{:>8.1}{:>8.1} ms{slow:>12}",
            ran.micros / 1e3,
            ran.micros / jobs as f64,
            ran.micros / bigkeys.micros,
            ran.seconds,
            ran.seconds / bigkeys.seconds,
            ran.peak,
            ran.worst,
        );
    }
    println!(
        "    for each job: {:.2} µs of the server, {:.2} µs of the client; the check took {:.2} times the larger",
        check.micros / jobs as f64,
        check.client / jobs as f64,
        check.seconds * 1e6 / check.micros.max(check.client)
    );
}

/// Verifies and repairs ids without jobs, in slices of the core.
fn ghosts() {
    let mut server = Server::start();
    let now = format!("{:.4}", BEGIN + 86_400.0);
    let ids: Vec<String> = (0..GHOSTS).map(jid).collect();
    let slice = |mode: &str, ids: &[String]| {
        let run = if mode == "mend" { "run" } else { "" };
        let words = ["check.slice", &now, mode, "", run, "work", "uploads"];
        let words = words.map(str::to_owned).into_iter();
        words.chain(ids.iter().cloned()).collect::<Call>()
    };
    let mut connection = server.redis.connect();
    for ids in ids.chunks(1000) {
        let mut add = redis::cmd("ZADD");
        add.arg("ql:q:uploads-work");
        ids.iter().for_each(|id| {
            add.arg(1).arg(id);
        });
        let () = add.query(&mut connection).unwrap();
    }
    let mut each = |mode: &str| {
        let calls: Vec<Call> = ids.chunks(100).map(|ids| slice(mode, ids)).collect();
        let before = server.cpu();
        for calls in calls.chunks(10) {
            server.call(calls);
        }
        (server.cpu() - before) / GHOSTS as f64
    };
    let (verification, repair) = (each("look"), each("mend"));
    println!(
        "  {GHOSTS} ids without jobs, µs each: {verification:.2} to verify, {repair:.2} to repair"
    );
    println!(
        "    a repair beyond the verification: {:.2}",
        repair - verification
    );
}

pub fn qless(server: &Server, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qless"));
    command.env_clear().env("QLESS_REDIS_URL", server.url());
    command.args(line.split(' '));
    command
}

/// Runs a command, and probes the server at the same time.
fn run(server: &mut Server, command: &mut Command) -> Ran {
    let over = Arc::new(AtomicBool::new(false));
    let mut connection = server.redis.connect();
    let ended = Arc::clone(&over);
    let probe = thread::spawn(move || {
        let mut worst = Duration::ZERO;
        while !ended.load(Ordering::Relaxed) {
            let begun = Instant::now();
            let () = redis::cmd("PING").query(&mut connection).unwrap();
            worst = worst.max(begun.elapsed());
            thread::sleep(Duration::from_millis(1));
        }
        worst.as_secs_f64() * 1e3
    });
    let (before, begun) = (server.cpu(), Instant::now());
    let children = binary::cpu().unwrap_or_default();
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
    let mut peak = 0.0_f64;
    let status = loop {
        peak = peak.max(peak_of(child.id()));
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let (micros, seconds) = (server.cpu() - before, begun.elapsed().as_secs_f64());
    over.store(true, Ordering::Relaxed);
    assert!(status.success(), "{command:?}: {status}");
    let client = 1e3 * (binary::cpu().unwrap_or_default() - children);
    Ran {
        micros,
        client,
        seconds,
        peak,
        worst: probe.join().unwrap(),
    }
}

fn jid(n: usize) -> String {
    format!(
        "{:032x}",
        (n as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
    )
}

/// Puts jobs of all states, each with three history entries, and every seventh with a priority. Out
/// of 20 jobs, 9 wait, 2 are scheduled, 1 depends on another, 2 run, 3 have failed, 3 are complete.
fn fill(server: &mut Server, jobs: usize, tags: usize) {
    let settings = [
        ("jobs-history-count", "100000000"),
        ("heartbeat", "8000000"),
    ];
    for (name, value) in settings {
        server.call(&[["config.set", "0", name, value].map(str::to_owned).to_vec()]);
    }
    let numbers: Vec<usize> = (0..jobs).collect();
    for numbers in numbers.chunks(10_000) {
        let numbers = numbers.chunks(100);
        let calls: Vec<Call> = numbers.map(|numbers| put(numbers, tags)).collect();
        server.call(&calls);
    }
    // Jobs that run, then jobs that are complete.
    for (kind, share) in [("render", 2), ("thumbs", 3)] {
        for shard in 0..SHARDS {
            let pop = |n: usize| {
                let now = format!("{:.4}", BEGIN + 20_000.0 + n as f64 / 1e3);
                let (queue, worker) = (format!("{kind}-{shard}"), format!("worker-{}", n % 50));
                ["pop", &now, &queue, &worker, "100"]
                    .map(str::to_owned)
                    .to_vec()
            };
            let calls = (jobs * share / 20 / SHARDS).div_ceil(100) + 1;
            server.call(&(0..calls).map(pop).collect::<Vec<Call>>());
        }
    }
    let done = numbers.into_iter().filter(|n| n % 20 >= 17);
    let done: Vec<Call> = done.map(complete).collect();
    // Only the worker that popped a job may complete it.
    let mut holders = server.redis.connect();
    for calls in done.chunks(10_000) {
        let mut pipe = redis::pipe();
        for call in calls {
            pipe.cmd("HGET")
                .arg(format!("ql:j:{}", call[2]))
                .arg("worker");
        }
        let workers: Vec<String> = pipe.query(&mut holders).unwrap();
        let calls: Vec<Call> = calls
            .iter()
            .zip(workers)
            .map(|(call, worker)| {
                let mut call = call.clone();
                call[3] = worker;
                call
            })
            .collect();
        server.call(&calls);
    }
}

fn complete(n: usize) -> Call {
    let now = format!("{:.4}", BEGIN + 40_000.0 + n as f64 / 1e3);
    let words = ["complete", &now, &jid(n), "", &queue(n), "{}"];
    words.map(str::to_owned).to_vec()
}

/// The queue of a job: those of `render` are popped, and those of `thumbs` completed.
fn queue(n: usize) -> String {
    let kind = match n % 20 {
        0..=8 | 11 | 14..=16 => ["uploads", "mail", "reports"][n % 3],
        9 | 10 => "mail",
        12 | 13 => "render",
        _ => "thumbs",
    };
    format!("{kind}-{}", n / 20 % SHARDS)
}

/// One call that puts jobs.
fn put(numbers: &[usize], tags: usize) -> Call {
    let now = format!("{:.4}", BEGIN + numbers[0] as f64 / 1e3);
    let mut call: Call = ["guard.put", &now, "{}"].map(str::to_owned).to_vec();
    for n in numbers {
        let n = *n;
        let role = n % 20;
        let data = format!(r#"{{"account":{n},"photo":"sunrise.jpg","size":[1200,800]}}"#);
        let mut words: Vec<String> = [&queue(n), &jid(n), "Photo::Upload", &data, "0"]
            .map(str::to_owned)
            .to_vec();
        let mut option = |name: &str, value: String| {
            words.push(name.to_owned());
            words.push(value);
        };
        if tags > 0 {
            let region = ["eu", "us"][n % 2];
            option(
                "tags",
                format!(r#"["customer-{}","{region}"]"#, n % (tags - 2)),
            );
        }
        if n.is_multiple_of(7) {
            option("priority", (n % 10).to_string());
        }
        let entry = |what: &str| format!(r#""[{BEGIN},\"{what}\"]""#);
        let entries = match role {
            12 | 13 => vec![entry("imported")],
            17.. => Vec::new(),
            _ => vec![entry("imported"), entry("checked")],
        };
        option("history", format!("[{}]", entries.join(",")));
        match role {
            9 | 10 => option("at", format!("{:.4}", BEGIN + 4e6 + n as f64)),
            11 => option("depends", format!(r#"["{}"]"#, jid(n - 11))),
            14..=16 => {
                let (group, when) = (["timeout", "http-500"][n % 2], BEGIN + n as f64 / 10.0);
                option(
                    "failed",
                    format!(
                        r#"{{"group":"{group}","message":"no answer","when":{when:.0},"worker":"worker-1"}}"#
                    ),
                );
            }
            _ => {}
        }
        call.push(words.len().to_string());
        call.extend(words);
    }
    call
}
