//! The cost of a check, a repair and its revert with many findings, and how it grows if there are ten
//! times as many. The longest call is that of the server's slow log.

use std::process::{Command, Stdio};

use redis::cmd;

use crate::check::qless;
use crate::measured_server::Server;

/// A kind of damage.
struct Case {
    name: &'static str,
    /// The smaller number of findings.
    findings: usize,
    /// Creates the damage: `from` and `to` are the numbers of its jobs, `jid`, `failed` and `waiting`
    /// create jobs.
    fill: &'static str,
    /// The number of jobs for each finding.
    jobs: f64,
}

const CASES: [Case; 4] = [
    Case {
        name: "a lost failure list",
        findings: 20_000,
        fill: "failed(i)",
        jobs: 1.0,
    },
    Case {
        name: "a failure list of ids without jobs",
        findings: 100_000,
        fill: "list(jid(i))",
        jobs: 1.0,
    },
    Case {
        name: "waiting jobs in a failure list",
        findings: 20_000,
        fill: "if i % 2 == 0 then list(failed(i)) else list(waiting(i)) work(jid(i)) end",
        jobs: 2.0,
    },
    Case {
        name: "jobs whose sets are lost",
        findings: 22_000,
        fill: "if i % 15 < 11 then waiting(i) end if i % 15 == 11 then work(jid(i)) end
               if i % 15 == 12 then list(failed(i)) end if i % 15 > 12 then waiting(i) work(jid(i)) end",
        jobs: 15.0 / 12.0,
    },
];

/// Functions for the scripts of the cases.
const PRELUDE: &str = r#"
local call, day = redis.call, 1700000100 - 1700000100 % 86400
local function jid(i) return string.sub(redis.sha1hex('job' .. i), 1, 32) end
local function put(i, state, expires, ...)
  call('HSET', 'ql:j:' .. jid(i), 'jid', jid(i), 'klass', 'K', 'data', '{}', 'priority', '0', 'tags', '{}',
    'state', state, 'worker', '', 'expires', expires, 'queue', 'q', 'retries', '5', 'remaining', '5',
    'time', '1700000000.5', ...)
  call('RPUSH', 'ql:j:' .. jid(i) .. '-history', '[1700000000,"put",{"q":"q"}]')
  return jid(i)
end
local function waiting(i) return put(i, 'waiting', '0') end
local function failed(i)
  call('HINCRBY', 'ql:s:stats:' .. day .. ':q', 'failed', 1)
  return put(i, 'failed', '', 'failure', '{"group":"g","message":"m","when":1700000100,"worker":"w"}')
end
local function list(id) call('LPUSH', 'ql:f:g', id) call('SADD', 'ql:failures', 'g') end
local function work(id) call('ZADD', 'ql:q:q-work', '-0.17', id) end
call('ZADD', 'ql:queues', 1700000000, 'q')
for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do "#;

pub fn print() {
    println!(
        "\nfindings: CPU of the server's main thread in µs for each, and its growth from n to 10 n"
    );
    println!(
        "  {:<36}{:>10}{:>8}{:>8}{:>8}{:>12}",
        "", "findings", "check", "repair", "revert", "worst call"
    );
    for case in &CASES {
        let mut before: Option<[f64; 3]> = None;
        for findings in [case.findings, 10 * case.findings] {
            let (micros, worst) = measure(case, findings);
            let [check, repair, revert] = micros;
            println!(
                "  {:<36}{findings:>10}{check:>8.1}{repair:>8.1}{revert:>8.1}{worst:>9.1} ms",
                case.name
            );
            if let Some(before) = before.replace(micros) {
                let growth: Vec<String> = micros
                    .iter()
                    .zip(before)
                    .map(|(after, before)| format!("{:>8.2}", after / before))
                    .collect();
                println!("    {:<44}{}", "growth", growth.concat());
            }
        }
    }
}

/// Returns the microseconds for each finding of a check, a repair and a revert, and the longest call in
/// milliseconds.
fn measure(case: &Case, findings: usize) -> ([f64; 3], f64) {
    let mut server = Server::undisturbed();
    fill(&server, case, (findings as f64 * case.jobs) as usize);
    let undo = server.redis.socket().with_file_name("undo.ndjson");
    let undo = undo.to_str().expect("a path in UTF-8").to_owned();
    server.watch_slow(Some(1_000));
    let lines = [
        "check -q".to_owned(),
        format!("check --repair --yes -q --undo {undo}"),
        format!("check --revert {undo} --yes -q"),
    ];
    let micros = lines.map(|line| {
        let before = server.cpu();
        run(&mut qless(&server, &line));
        (server.cpu() - before) / findings as f64
    });
    (micros, server.slowest())
}

fn fill(server: &Server, case: &Case, jobs: usize) {
    let script = format!("{PRELUDE}{} end", case.fill);
    let mut connection = server.redis.connect();
    for from in (1..=jobs).step_by(1000) {
        let to = (from + 999).min(jobs);
        let mut eval = cmd("EVAL");
        eval.arg(&script).arg(0).arg(from).arg(to);
        let () = eval.query(&mut connection).unwrap();
    }
}

fn run(command: &mut Command) {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.stderr(Stdio::inherit()).status().unwrap();
    // 7: there are findings.
    assert!(
        matches!(status.code(), Some(0 | 7)),
        "{command:?}: {status}"
    );
}
