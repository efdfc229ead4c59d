//! The cost of `qless work`: its rate, CPU and memory with processes that stay, the cost of a process
//! for each job compared with a bare loop that starts the same program, and the time from `put` to the
//! first instruction of the command.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::binary;
use crate::private_redis::Redis;
use crate::work;

/// Set for this program when it plays the command: `answer` answers lines, a path gets the time of
/// its start.
const ROLE: &str = "QLESS_BENCH_WORKER";

/// The jobs of the two runs whose memory is compared.
const JOBS: [usize; 2] = [10_000, 1_000_000];

/// The jobs that have a process of their own.
const PROCESSES: usize = 2_000;

/// How often the latency is measured.
const PUTS: usize = 20;

/// Plays the command if this program was started as one.
pub fn play() -> bool {
    let Ok(role) = std::env::var(ROLE) else {
        return false;
    };
    match role.as_str() {
        "answer" => answer(),
        path => std::fs::write(path, micros().to_string()).unwrap(),
    }
    true
}

/// A trivial worker: each job is complete.
fn answer() {
    let mut answers = File::options().write(true).open("/dev/fd/3").unwrap();
    let mut line = String::new();
    let mut jobs = BufReader::new(std::io::stdin());
    while jobs.read_line(&mut line).unwrap() > 0 {
        // The jid is the first member.
        let jid = line.split('"').nth(3).unwrap();
        let answer = format!("{{\"jid\":\"{jid}\",\"result\":\"complete\"}}\n");
        answers.write_all(answer.as_bytes()).unwrap();
        line.clear();
    }
}

fn micros() -> u128 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_micros()
}

/// The slots of the two ways in which processes that stay are measured.
const SLOTS: [usize; 2] = [8, 100];

pub fn print(sizes: &[usize]) {
    println!("\n`qless work`, with Redis and the commands on this machine");
    if binary::cpu().is_none() {
        println!("  not measured: this system has no /proc");
        return;
    }
    let sizes = match sizes {
        [] => JOBS.to_vec(),
        sizes => sizes.to_vec(),
    };
    persistent(&sizes);
    processes();
    latency();
}

fn qless(redis: &Redis, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qless"));
    command
        .args(line.split(' '))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("QLESS_REDIS_URL", redis.url())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

fn put(redis: &Redis, queue: &str, jobs: usize) {
    let mut put = qless(redis, "put --quiet --from -")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufWriter::new(put.stdin.take().unwrap());
    for photo in 0..jobs {
        let line = format!(
            "{{\"queue\":\"{queue}\",\"klass\":\"Thumb\",\"data\":{{\"photo\":{photo}}}}}\n"
        );
        lines.write_all(line.as_bytes()).unwrap();
    }
    drop(lines);
    assert!(put.wait().unwrap().success());
}

/// The rate of `SET` by `redis-benchmark -P 16`, per second.
fn sets(redis: &Redis) -> Option<f64> {
    let mut benchmark = Command::new("redis-benchmark");
    benchmark.arg("-s").arg(redis.socket());
    let output = benchmark
        .args("-P 16 -n 1000000 -t set -q".split(' '))
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (before, _) = text.rsplit_once(" requests per second")?;
    before.rsplit([' ', '\r']).next()?.parse().ok()
}

/// What the kernel says of a process: CPU milliseconds of its own, peak memory in MiB.
fn own(pid: u32) -> Option<(f64, f64)> {
    let directory = PathBuf::from(format!("/proc/{pid}"));
    let stat = std::fs::read_to_string(directory.join("stat")).ok()?;
    let status = std::fs::read_to_string(directory.join("status")).ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let peak: f64 = peak.trim().split(' ').next()?.parse().ok()?;
    Some((binary::millis_of(&stat, 14)?, peak / 1024.0))
}

/// Waits for a worker. Returns the last that the kernel said of it.
fn watch(mut worker: Child) -> (f64, f64) {
    let mut last = (0.0, 0.0);
    loop {
        last = own(worker.id())
            .filter(|(cpu, _)| *cpu > 0.0)
            .unwrap_or(last);
        if let Some(status) = worker.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return last;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Processes that stay: rate, CPU of the supervisor and of the server a job, and peak memory.
fn persistent(sizes: &[usize]) {
    let redis = Redis::start();
    drop(redis.connect());
    let sets = sets(&redis);
    match sets {
        Some(sets) => println!("  redis-benchmark -P 16, SET: {sets:.0}/s"),
        None => println!("  (no redis-benchmark here to compare with)"),
    }
    println!(
        "  {:<36}{:>9}{:>9}{:>15}{:>12}{:>9}",
        "--persistent", "jobs/s", "of SET", "supervisor µs", "server µs", "MiB"
    );
    let [few, many] = SLOTS;
    for &jobs in sizes {
        stay(&redis, sets, few, jobs);
    }
    let mut ratios = [(); 3].map(|()| {
        // A server of its own, as the single calls have: once 50,000 jobs are complete, each further
        // one also deletes an old one.
        let redis = Redis::start();
        drop(redis.connect());
        let before = work::one_by_one();
        let server = stay(&redis, sets, many, sizes[0]);
        2.0 * server / (before + work::one_by_one())
    });
    ratios.sort_by(f64::total_cmp);
    let [least, median, most] = ratios;
    println!(
        "  the server's CPU with {many} slots / one by one in a pipeline, before and after: \
         {median:.2} ({least:.2} to {most:.2}; goal 0.45)"
    );
}

/// Runs jobs with processes that stay. Returns the µs of the server a job.
fn stay(redis: &Redis, sets: Option<f64>, slots: usize, jobs: usize) -> f64 {
    put(redis, "thumbs", jobs);
    let server = server_millis(redis);
    let begun = Instant::now();
    let line = format!("work thumbs --persistent --concurrency {slots} --drain --quiet --");
    let worker = qless(redis, &line)
        .arg(std::env::current_exe().unwrap())
        .env(ROLE, "answer")
        .spawn()
        .unwrap();
    let (cpu, peak) = watch(worker);
    let took = begun.elapsed().as_secs_f64();
    let per_job = 1e3 / jobs as f64;
    let server = (server_millis(redis) - server) * per_job;
    let rate = jobs as f64 / took;
    let ratio = sets.map_or(String::new(), |sets| format!("{:.3}", rate / sets));
    println!(
        "  {:<36}{rate:>9.0}{ratio:>9}{:>15.1}{server:>12.1}{peak:>9.1}",
        format!("{jobs} jobs, --concurrency {slots}"),
        cpu * per_job,
    );
    server
}

fn server_millis(redis: &Redis) -> f64 {
    let info: String = redis::cmd("INFO")
        .arg("cpu")
        .query(&mut redis.connect())
        .unwrap();
    let field = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse::<f64>().ok())
            .unwrap()
    };
    1e3 * (field("used_cpu_user:") + field("used_cpu_sys:"))
}

/// A process for each job, compared with a bare loop.
fn processes() {
    let redis = Redis::start();
    drop(redis.connect());
    put(&redis, "jobs", PROCESSES);
    let run = |command: &mut Command| {
        let before = binary::cpu().unwrap();
        assert!(command.status().unwrap().success());
        (binary::cpu().unwrap() - before) * 1e3 / PROCESSES as f64
    };
    let work = run(&mut qless(
        &redis,
        "work jobs --concurrency 2 --drain --quiet -- true",
    ));
    let before = binary::cpu().unwrap() + own_millis();
    for _ in 0..PROCESSES {
        let mut program = Command::new("true");
        // With a user the standard library forks, as it does for `qless work`.
        program.uid(rustix::process::getuid().as_raw());
        program
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        assert!(program.status().unwrap().success());
    }
    let bare = (binary::cpu().unwrap() + own_millis() - before) * 1e3 / PROCESSES as f64;
    println!(
        "  a process for each job: {work:.0} µs of CPU, a bare loop of fork and exec {bare:.0}: {:.2}",
        work / bare
    );
}

fn own_millis() -> f64 {
    let stat = std::fs::read_to_string(Path::new("/proc/self/stat")).unwrap();
    binary::millis_of(&stat, 14).unwrap()
}

/// The time from the start of `put` to the first instruction of the command, for an idle worker.
fn latency() {
    let redis = Redis::start();
    drop(redis.connect());
    let directory = tempfile::tempdir().unwrap();
    let started = directory.path().join("started");
    let mut work = qless(&redis, "work jobs --poll 60s --quiet --");
    let mut worker = work
        .arg(std::env::current_exe().unwrap())
        .env(ROLE, &started)
        .spawn()
        .unwrap();
    // Until it waits for new jobs.
    std::thread::sleep(Duration::from_secs(2));
    let mut times: Vec<f64> = (0..PUTS)
        .map(|_| {
            let begun = micros();
            binary::run(&mut qless(&redis, "put jobs Job {}"));
            let at = loop {
                let text = std::fs::read_to_string(&started).unwrap_or_default();
                match text.parse::<u128>() {
                    Ok(at) => break at,
                    Err(_) => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            std::fs::remove_file(&started).unwrap();
            std::thread::sleep(Duration::from_millis(300));
            at.saturating_sub(begun) as f64 / 1e3
        })
        .collect();
    worker.kill().unwrap();
    worker.wait().unwrap();
    times.sort_by(f64::total_cmp);
    println!(
        "  from put to the command, --poll 60s: median {:.1} ms, longest {:.1} ms",
        times[PUTS / 2],
        times[PUTS - 1]
    );
}
