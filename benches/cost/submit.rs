//! The cost of mass submission: `put --from` compared with the same jobs as single calls through
//! `redis-cli --pipe`, each on a server of its own.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use qless::internals::Script;

use crate::binary;
use crate::private_redis::Redis;

const LINES: usize = 200_000;

/// Makes a command that talks to a server.
type Start = Box<dyn Fn(&Redis) -> Command>;

pub fn print(rounds: usize) {
    println!("\nmass submission of {LINES} jobs, best of {rounds} rounds");
    if binary::cpu().is_none() {
        println!("  not measured: this system has no /proc");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let lines = dir.path().join("night.ndjson");
    fs::write(&lines, night()).unwrap();
    let pipe = dir.path().join("night.resp");
    fs::write(&pipe, calls()).unwrap();
    let put = |more: &'static str| {
        let lines = lines.clone();
        move |redis: &Redis| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_qless"));
            command
                .env_clear()
                .env("QLESS_REDIS_URL", redis.url())
                .args(["put", "--quiet", "--from"])
                .arg(&lines)
                .args(more.split_whitespace())
                .stdin(Stdio::null());
            command
        }
    };
    let mut rows: Vec<(&str, Start)> = vec![
        ("put --from", Box::new(put(""))),
        ("  --jid-from photo", Box::new(put("--jid-from photo"))),
        ("  --jid-from content", Box::new(put("--jid-from content"))),
        ("  --batch 1", Box::new(put("--batch 1"))),
    ];
    if Command::new("redis-cli").arg("--version").output().is_ok() {
        let cli = move |redis: &Redis| {
            let mut command = Command::new("redis-cli");
            command.arg("-s").arg(redis.socket()).arg("--pipe");
            command.stdin(fs::File::open(&pipe).unwrap());
            command
        };
        rows.push(("redis-cli --pipe, put", Box::new(cli)));
    } else {
        println!("  (no redis-cli here to compare with)");
    }
    let mut best: Vec<Option<Ran>> = rows.iter().map(|_| None).collect();
    for _ in 0..rounds {
        for ((_, command), best) in rows.iter().zip(&mut best) {
            let ran = Ran::of(command);
            let better = best.as_ref().is_none_or(|best| ran.took < best.took);
            if better {
                *best = Some(ran);
            }
        }
    }
    let piped = best.get(4).and_then(Option::as_ref).map(Ran::rate);
    println!(
        "  {:<24}{:>9}{:>9}{:>11}{:>11}{:>9}",
        "", "jobs/s", "of pipe", "client µs", "server µs", "MiB"
    );
    for ((name, _), ran) in rows.iter().zip(best.iter().flatten()) {
        let ratio = piped.map_or_else(String::new, |piped| format!("{:.2}", ran.rate() / piped));
        println!(
            "  {name:<24}{:>9.0}{ratio:>9}{:>11.2}{:>11.2}{:>9.1}",
            ran.rate(),
            ran.client,
            ran.server,
            ran.peak
        );
    }
}

/// The result of a run: time, CPU microseconds per job on either side, peak memory of the client.
struct Ran {
    took: Duration,
    client: f64,
    server: f64,
    peak: f64,
}

impl Ran {
    fn of(command: &dyn Fn(&Redis) -> Command) -> Ran {
        let redis = Redis::start();
        let mut connection = redis.connect();
        let script = Script::new("ql:");
        let mut load = redis::cmd("SCRIPT");
        let _: String = load
            .arg("LOAD")
            .arg(script.script_text())
            .query(&mut connection)
            .unwrap();
        let (client, server) = (binary::cpu().unwrap_or_default(), cpu_of(redis.pid()));
        let begun = Instant::now();
        let mut child = command(&redis).stdout(Stdio::null()).spawn().unwrap();
        let mut peak = 0.0_f64;
        let status = loop {
            peak = peak.max(peak_of(child.id()));
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let took = begun.elapsed();
        assert!(status.success(), "{status}");
        let jobs: usize = redis::cmd("ZCARD")
            .arg("ql:q:uploads-work")
            .query(&mut connection)
            .unwrap();
        assert_eq!(jobs, LINES);
        let each = |millis: f64| 1e3 * millis / LINES as f64;
        Ran {
            took,
            client: each(binary::cpu().unwrap_or_default() - client),
            server: each(cpu_of(redis.pid()) - server),
            peak,
        }
    }

    fn rate(&self) -> f64 {
        LINES as f64 / self.took.as_secs_f64()
    }
}

/// Milliseconds of CPU of a process.
fn cpu_of(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    binary::millis_of(&stat, 14).unwrap_or_default()
}

/// The peak memory of a process, in MiB.
pub fn peak_of(pid: u32) -> f64 {
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(Path::new(&path)).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

fn night() -> Vec<u8> {
    let mut lines = Vec::new();
    for photo in 0..LINES {
        let line =
            r#"{"queue":"uploads","klass":"Photo::Upload","data":{"account":1234567,"photo":"#;
        writeln!(lines, "{line}{photo}}}}}").unwrap();
    }
    lines
}

/// The same jobs as single calls of the core.
fn calls() -> Vec<u8> {
    let script = Script::new("ql:");
    let mut calls = Vec::new();
    for photo in 0..LINES {
        let jid = format!(
            "{:032x}",
            (photo as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
        );
        let data = format!(r#"{{"account":1234567,"photo":{photo}}}"#);
        let now = format!("{:.6}", 1_795_214_400.0 + photo as f64 * 1e-5);
        let words = [
            "EVALSHA",
            script.sha(),
            "0",
            "guard.put",
            &now,
            "{}",
            "5",
            "uploads",
            &jid,
            "Photo::Upload",
            &data,
            "0",
        ];
        write!(calls, "*{}\r\n", words.len()).unwrap();
        for word in words {
            write!(calls, "${}\r\n{word}\r\n", word.len()).unwrap();
        }
    }
    calls
}
