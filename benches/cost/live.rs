//! The cost of `status`, `explain` and `wait` for the server, with few and with many jobs resident.
//! None of them may grow with the database.

use std::io::Write;
use std::process::{Command, Stdio};

use redis::cmd;

use crate::measured_server::{Call, Server};

/// The number of resident jobs of the large database, if none is given.
const MANY: usize = 1_000_000;
const FEW: usize = 1_000;
const QUEUES: usize = 50;
/// The number of jobs that one `wait` is about.
const AWAITED: usize = 10_000;
/// How often a command runs in one measurement.
const REPEATS: usize = 20;
/// The most that a figure may grow.
const LIMIT: f64 = 1.2;

/// The time of all calls; jobs are put in the minutes before it.
const NOW: f64 = 1_795_250_000.0;

pub fn print(rounds: usize, sizes: &[usize]) {
    let many = sizes.first().copied().unwrap_or(MANY);
    println!("\nstatus, explain and wait, {QUEUES} queues, least of {rounds} rounds");
    let mut servers = [FEW, many].map(|jobs| {
        let mut server = Server::start();
        fill(&mut server, jobs);
        server
    });
    let jids: Vec<String> = (0..AWAITED).map(|at| format!("awaited-{at}")).collect();
    let mut list = tempfile::NamedTempFile::new().unwrap();
    list.write_all(jids.join("\n").as_bytes()).unwrap();
    let wait = format!("wait @{} -q", list.path().display());
    let lines: [(&str, &str, usize); 4] = [
        ("status", "status", REPEATS),
        ("explain of a waiting job", "explain q7-7", REPEATS),
        ("explain --queue", "explain --queue q7", REPEATS),
        ("wait of 10,000 jobs", &wait, 1),
    ];
    let mut least = [[(f64::INFINITY, 0.0); 4]; 2];
    for _ in 0..rounds {
        for (server, least) in servers.iter_mut().zip(&mut least) {
            for ((_, line, repeats), least) in lines.iter().zip(least) {
                let (cpu, calls) = (server.cpu(), calls(server));
                for _ in 0..*repeats {
                    run(server, line);
                }
                let repeats = *repeats as f64;
                let micros = (server.cpu() - cpu) / repeats;
                least.0 = least.0.min(micros);
                least.1 = (self::calls(server) - calls) as f64 / repeats;
            }
        }
    }
    let [few, large] = least;
    println!(
        "  {:<28}{:>10}{:>8}{:>12}{:>8}{:>8}",
        "", "µs", "calls", "µs", "calls", "growth"
    );
    println!("  {:<28}{FEW:>18}{many:>20}", "jobs resident");
    for (((name, ..), few), large) in lines.iter().zip(few).zip(large) {
        let growth = large.0 / few.0;
        let verdict = if growth > LIMIT { "  over 1.2" } else { "" };
        println!(
            "  {name:<28}{:>10.0}{:>8.1}{:>12.0}{:>8.1}{growth:>8.2}{verdict}",
            few.0, few.1, large.0, large.1
        );
    }
}

/// Puts the resident jobs into all queues, a tenth of them failed, and the awaited jobs, complete.
fn fill(server: &mut Server, jobs: usize) {
    let put = |at: f64, queue: &str, jid: String| -> Call {
        let at = format!("{at:.4}");
        let words = ["put", &at, "me", queue, &jid, "Photo::Upload", "{}", "0"];
        words.map(str::to_owned).to_vec()
    };
    let failed = jobs / 10;
    for page in (0..jobs).collect::<Vec<_>>().chunks(10_000) {
        let begun = NOW - 3_600.0;
        let calls = page.iter().map(|at| {
            let (queue, number) = (at % QUEUES, at / QUEUES);
            let at = begun + *at as f64 / jobs as f64 * 3_000.0;
            put(at, &format!("q{queue}"), format!("q{queue}-{number}"))
        });
        server.call(&calls.collect::<Vec<_>>());
    }
    let pop = |at: f64, queue: &str, count: usize| -> Call {
        let (at, count) = (format!("{at:.4}"), count.to_string());
        ["pop", &at, queue, "w", &count].map(str::to_owned).to_vec()
    };
    let ending = |at: f64, words: [&str; 5]| -> Call {
        let at = format!("{at:.4}");
        let [name, jid, rest @ ..] = words;
        let mut call = vec![name.to_owned(), at, jid.to_owned()];
        call.extend(rest.map(str::to_owned));
        call
    };
    for page in (0..failed).collect::<Vec<_>>().chunks(500) {
        let now = NOW - 600.0 + page[0] as f64 / failed as f64 * 500.0;
        let calls = page.iter().map(|at| put(now, "failing", format!("f{at}")));
        server.call(&calls.collect::<Vec<_>>());
        server.call(&[pop(now, "failing", page.len())]);
        let calls = page.iter().map(|at| {
            let (jid, group) = (format!("f{at}"), format!("group {}", at % 5));
            ending(now, ["fail", &jid, "w", &group, "message"])
        });
        server.call(&calls.collect::<Vec<_>>());
    }
    for page in (0..AWAITED).collect::<Vec<_>>().chunks(500) {
        let calls = page
            .iter()
            .map(|at| put(NOW - 50.0, "done", format!("awaited-{at}")));
        server.call(&calls.collect::<Vec<_>>());
        server.call(&[pop(NOW - 49.0, "done", page.len())]);
        let calls = page.iter().map(|at| {
            let jid = format!("awaited-{at}");
            ending(NOW - 48.0, ["complete", &jid, "w", "done", "{}"])
        });
        server.call(&calls.collect::<Vec<_>>());
    }
}

/// Returns the number of script calls so far.
fn calls(server: &Server) -> u64 {
    let mut connection = server.redis.connect();
    let mut info = cmd("INFO");
    let info: String = info.arg("commandstats").query(&mut connection).unwrap();
    let calls = info.lines().filter_map(|line| {
        let (_, rest) = line.strip_prefix("cmdstat_eval")?.split_once(":calls=")?;
        rest.split(',').next()?.parse::<u64>().ok()
    });
    calls.sum()
}

fn run(server: &Server, line: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qless"));
    let command = command
        .env_clear()
        .env("QLESS_REDIS_URL", server.redis.url())
        .env("QLESS_NOW", NOW.to_string())
        .args(line.split(' '));
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.stderr(Stdio::inherit()).status().unwrap();
    assert!(status.success(), "{line}: {status}");
}
