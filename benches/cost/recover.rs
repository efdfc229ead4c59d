//! The cost of recovering many failed jobs for the server: `failed --retry-all` and `--cancel-all` of
//! one group, compared with the same work as single calls in a pipeline.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::calls::{Calls, GROUP};
use crate::measured_server::{Call, Server};

/// The numbers of failed jobs.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// How often each number but the largest is measured; the lowest figure counts.
const ROUNDS: usize = 3;

/// The cost of one way, and the longest time for which it blocked the server.
#[derive(Clone, Copy)]
struct Cost {
    micros: f64,
    seconds: f64,
    worst: f64,
}

impl Cost {
    const MOST: Cost = Cost {
        micros: f64::INFINITY,
        seconds: f64::INFINITY,
        worst: f64::INFINITY,
    };

    fn keep(&mut self, other: Cost) {
        self.micros = self.micros.min(other.micros);
        self.seconds = self.seconds.min(other.seconds);
        self.worst = self.worst.min(other.worst);
    }
}

pub fn print() {
    println!("failed jobs of one group, in two queues: µs of the server's main thread per job");
    println!("single: a call for each in a pipeline, in the order that suits the call best");
    println!(
        "  {:<30}{:>9}{:>9}{:>9}{:>9}{:>9}{:>12}",
        "command", "jobs", "µs", "single", "ratio", "seconds", "worst slice"
    );
    // The reference searches a failure list from the newest entry, this core from the oldest.
    for (verb, single, newest_first) in [
        ("--retry-all", "guard.requeue", false),
        ("--retry-all", "requeue", true),
        ("--cancel-all", "cancel", true),
    ] {
        for size in SIZES {
            let mut server = Server::start();
            let mut calls = Calls::new();
            let (mut bulk, mut one) = (Cost::MOST, Cost::MOST);
            let rounds = if size == SIZES[2] { 1 } else { ROUNDS };
            for _ in 0..rounds {
                let jids = calls.failed(&mut server, size);
                let mut single = calls.alone(single, &jids);
                if newest_first {
                    single.reverse();
                }
                one.keep(alone(&mut server, &single));
                calls.empty(&mut server, &jids);
                let jids = calls.failed(&mut server, size);
                bulk.keep(whole(&mut server, verb, size));
                calls.empty(&mut server, &jids);
            }
            let Cost {
                micros,
                seconds,
                worst,
            } = bulk;
            println!(
                "  {:<30}{size:>9}{micros:>9.2}{:>9.2}{:>9.2}{seconds:>9.2}{worst:>9.1} ms",
                format!("{verb}, {single}"),
                one.micros,
                micros / one.micros,
            );
        }
    }
    println!();
}

/// Runs the command.
fn whole(server: &mut Server, verb: &str, size: usize) -> Cost {
    server.watch_slow(Some(1_000));
    let (cpu, begun) = (server.cpu(), Instant::now());
    let ran = Command::new(env!("CARGO_BIN_EXE_qless"))
        .args(["failed", "--group", GROUP, verb, "--yes", "-o", "json"])
        .env_clear()
        .env("QLESS_REDIS_URL", server.url())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let micros = (server.cpu() - cpu) / size as f64;
    let stdout = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(stdout.contains(&format!("\"done\": {size},")), "{stdout}");
    Cost {
        micros,
        seconds,
        worst: server.slowest(),
    }
}

/// Makes one call for each job.
fn alone(server: &mut Server, calls: &[Call]) -> Cost {
    server.watch_slow(None);
    let (cpu, begun) = (server.cpu(), Instant::now());
    calls.chunks(1_000).for_each(|calls| server.call(calls));
    Cost {
        micros: (server.cpu() - cpu) / calls.len() as f64,
        seconds: begun.elapsed().as_secs_f64(),
        worst: 0.0,
    }
}
