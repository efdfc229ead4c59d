//! The cost of a command for this machine: CPU of its whole process, user and system, including its
//! exit.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::private_redis::Redis;

/// The number of runs of a command in a round.
pub const TIMES: usize = 100;

pub fn print(rounds: usize) {
    println!("process CPU in ms, least of {rounds} rounds of {TIMES}");
    if cpu().is_none() {
        println!("  not measured: this system has no /proc");
        return;
    }
    let redis = Redis::start();
    drop(redis.connect());
    let socket = redis.socket();
    let qless = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qless"));
        command
            .args(line.split(' '))
            .env_clear()
            .env("QLESS_REDIS_URL", redis.url());
        command
    };
    let ping = || {
        let mut command = Command::new("redis-cli");
        command.arg("-s").arg(&socket).arg("ping");
        command
    };
    run(&mut qless("put mail Mail::Welcome {} --jid welcome-42"));
    let mut lines: Vec<(&str, Command)> = vec![
        ("qless version", qless("version")),
        ("qless get JID", qless("get welcome-42")),
        (
            "qless put QUEUE KLASS DATA",
            qless("put mail Mail::Welcome {\"user\":42}"),
        ),
    ];
    match ping().output() {
        Ok(_) => lines.push(("redis-cli ping", ping())),
        Err(_) => println!("  (no redis-cli here to compare with)"),
    }
    let mut least = vec![f64::INFINITY; lines.len()];
    for _ in 0..rounds {
        for ((_, command), least) in lines.iter_mut().zip(&mut least) {
            *least = least.min(millis(command));
        }
    }
    let ping = least.get(3);
    let header = ping.map_or("", |_| "of ping");
    println!("  {:<30}{:>9}{header:>9}", "command", "ms");
    for ((name, _), millis) in lines.iter().zip(&least) {
        let ratio = ping.map_or_else(String::new, |ping| format!("{:.2}", millis / ping));
        println!("  {name:<30}{millis:>9.2}{ratio:>9}");
    }
}

/// Milliseconds of CPU of one run.
pub fn millis(command: &mut Command) -> f64 {
    let before = cpu().unwrap_or_default();
    (0..TIMES).for_each(|_| run(command));
    (cpu().unwrap_or_default() - before) / TIMES as f64
}

pub fn run(command: &mut Command) {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.stderr(Stdio::inherit()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

/// CPU milliseconds of all ended children, as Linux reports them.
pub fn cpu() -> Option<f64> {
    let stat = std::fs::read_to_string(Path::new("/proc/self/stat")).ok()?;
    millis_of(&stat, 16)
}

/// Milliseconds of user and system time in two fields of a `stat`.
pub fn millis_of(stat: &str, user: usize) -> Option<f64> {
    // The name in parentheses may contain blanks; the numbers after it start with field 3.
    let (_, fields) = stat.rsplit_once(')')?;
    let field = |at: usize| fields.split_whitespace().nth(at - 3)?.parse::<f64>().ok();
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    Some(1e3 * (field(user)? + field(user + 1)?) / ticks)
}
