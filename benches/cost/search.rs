//! The cost of finding jobs without an index: `jobs --where` reads every job, compared with
//! `redis-cli --scan` of the same database, which reads every key name.

use std::process::{Command, Stdio};

use crate::measured_server::{Call, Server};

const JOBS: usize = 200_000;

/// Slower commands of the server are counted, in microseconds.
const SLOW: u64 = 10_000;

pub fn print(rounds: usize) {
    println!("\nsearch in {JOBS} jobs, least of {rounds} rounds, on one server");
    let mut server = Server::start();
    for page in 0..JOBS / 10_000 {
        let calls: Vec<Call> = (0..10_000).map(|n| put(page * 10_000 + n)).collect();
        server.call(&calls);
    }
    let qless = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qless"));
        let command = command
            .env_clear()
            .env("QLESS_REDIS_URL", server.redis.url());
        command.args(line.split(' '));
        std::mem::replace(command, Command::new(""))
    };
    let mut rows = vec![
        ("jobs --where a.b=1", qless("jobs --where a.b=1 -q -o jid")),
        (
            "jobs --klass Nobody",
            qless("jobs --klass Nobody -q -o jid"),
        ),
        ("jobs --tag rare", qless("jobs --tag rare -q -o jid")),
    ];
    match Command::new("redis-cli").arg("--version").output() {
        Ok(_) => {
            let mut scan = Command::new("redis-cli");
            scan.arg("-s").arg(server.redis.socket()).arg("--scan");
            rows.push(("redis-cli --scan", scan));
        }
        Err(_) => println!("  (no redis-cli here to compare with)"),
    }
    let mut least = vec![f64::INFINITY; rows.len()];
    server.watch(SLOW);
    for _ in 0..rounds {
        for ((_, command), least) in rows.iter_mut().zip(&mut least) {
            let before = server.cpu();
            run(command);
            *least = least.min(server.cpu() - before);
        }
    }
    let (slow, scan) = (server.slow(), least.get(3));
    println!("  {:<24}{:>11}{:>9}", "", "server ms", "of scan");
    for ((name, _), micros) in rows.iter().zip(&least) {
        let ratio = scan.map_or_else(String::new, |scan| format!("{:.2}", micros / scan));
        println!("  {name:<24}{:>11.1}{ratio:>9}", micros / 1e3);
    }
    println!("  server calls over {} ms: {slow}", SLOW / 1000);
}

fn put(n: usize) -> Call {
    let data = format!(
        r#"{{"account":{n},"photo":"sunrise.jpg","a":{{"b":{}}}}}"#,
        n % 1000
    );
    let tags = if n.is_multiple_of(10_000) {
        r#"["rare"]"#
    } else {
        "[]"
    };
    let jid = format!("{:032x}", n as u128 * 0x9e37_79b9_7f4a_7c15);
    let now = format!("{:.4}", 1_795_214_400.0 + n as f64 / 2_000.0);
    let words = [
        "put",
        &now,
        "me",
        "uploads",
        &jid,
        "Photo::Upload",
        &data,
        "0",
        "tags",
        tags,
    ];
    words.map(str::to_owned).to_vec()
}

fn run(command: &mut Command) {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.stderr(Stdio::inherit()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
