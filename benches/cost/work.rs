//! The cost of jobs for the server while workers run them: popped and completed one by one, a
//! hundred at a time, and by `guard.turn`, which ends jobs and pops further ones in one call; and
//! putting many jobs. Also how fast the client reads the jobs that it gets.

use std::time::Instant;

use qless::internals::read_popped_jobs;
use redis::Value;

use crate::measured_server::{Call, Server, Spent};

/// The number of jobs per round.
const JOBS: usize = 10_000;
const QUEUE: &str = "mail";
const WORKER: &str = "w1";
const DATA: &str = r#"{"to":"ann@example.com","n":12}"#;
/// Times as clients send them: whole seconds would be cheaper for the server.
const PUT_AT: &str = "1790000001.2345";
const NOW: &str = "1790000005.6789";
/// The number of jobs that one call puts.
const PUT: usize = 250;

pub fn print(rounds: usize) {
    let mut server = Server::start();
    let version = server.version();
    println!(
        "\nRedis {version}: {JOBS} jobs at work, µs of its main thread per job, least of {rounds} rounds"
    );
    println!("  {:<44}{:>9}{:>9}{:>9}", "", "µs", "commands", "calls");
    let spent = least(&mut server, rounds, &ROWS);
    for (name, spent) in &spent {
        let Spent {
            micros,
            commands,
            calls,
        } = spent;
        println!("  {name:<44}{micros:>9.1}{commands:>9.2}{calls:>9.2}");
    }
    let ratio = |at: usize, to: usize| spent[at].1.micros / spent[to].1.micros;
    println!(
        "  turns of 100 / one by one in a pipeline    {:.2} (goal 0.45; at most 9 commands)",
        ratio(4, 1)
    );
    println!(
        "  turns of 100 / pop 100, single completions {:.2}",
        ratio(4, 2)
    );
    println!(
        "  turns of 1 / pop 1 and complete, awaited   {:.2} (goal 0.60; one call)",
        ratio(3, 0)
    );
    let awaited = least(&mut Server::on_loopback(), rounds, &[ROWS[0], ROWS[3]]);
    let [pop, turn] = [0, 1].map(|at: usize| awaited[at].1.micros);
    println!(
        "    the same by TCP: {turn:.1} / {pop:.1} µs       {:.2}",
        turn / pop
    );
    println!(
        "  guard.put of {PUT} / put in a pipeline       {:.2}",
        ratio(6, 5)
    );
    parsing(&mut server);
}

/// Runs each way in turn. Returns the cheapest round of each.
fn least(
    server: &mut Server,
    rounds: usize,
    rows: &[(&'static str, Work)],
) -> Vec<(&'static str, Spent)> {
    let mut best: Vec<Option<Spent>> = rows.iter().map(|_| None).collect();
    for _ in 0..rounds {
        for ((_, work), best) in rows.iter().zip(&mut best) {
            server.flush();
            let spent = work(server);
            if best.as_ref().is_none_or(|best| spent.micros < best.micros) {
                *best = Some(spent);
            }
        }
    }
    let names = rows.iter().map(|(name, _)| *name);
    names
        .zip(best.into_iter().map(|best| best.expect("a round")))
        .collect()
}

/// Returns the µs of a job that is popped and completed by single calls in a pipeline.
pub fn one_by_one() -> f64 {
    let (_, work) = ROWS[1];
    work(&mut Server::start()).micros
}

/// Puts the jobs, then runs a way to work them off.
type Work = fn(&mut Server) -> Spent;

const ROWS: [(&str, Work); 7] = [
    ("pop 1 and complete, each awaited", |server| {
        waiting(server);
        server.spent(JOBS, |server| {
            for _ in 0..JOBS {
                for jid in popped(server.ask(&pop(1))) {
                    server.ask(&complete(&jid));
                }
            }
        })
    }),
    ("pop 1 and complete, in a pipeline", |server| {
        waiting(server);
        server.spent(JOBS, |server| {
            for _ in 0..JOBS / 100 {
                let pops = vec![pop(1); 100];
                let jids = server.pipeline(&pops).into_iter().flat_map(popped);
                let ends: Vec<Call> = jids.map(|jid| complete(&jid)).collect();
                server.pipeline(&ends);
            }
        })
    }),
    ("pop 100, single completions in a pipeline", |server| {
        waiting(server);
        server.spent(JOBS, |server| {
            for _ in 0..JOBS / 100 {
                let jids = popped(server.ask(&pop(100))).into_iter();
                let ends: Vec<Call> = jids.map(|jid| complete(&jid)).collect();
                server.pipeline(&ends);
            }
        })
    }),
    ("guard.turn with 1 job, awaited", |server| turns(server, 1)),
    ("guard.turn with 100 jobs, awaited", |server| {
        turns(server, 100)
    }),
    ("put, in a pipeline", |server| {
        let puts: Vec<Call> = (0..JOBS).map(put).collect();
        server.spent(JOBS, |server| {
            puts.chunks(1000)
                .for_each(|puts| drop(server.pipeline(puts)));
        })
    }),
    ("guard.put of 250 jobs", |server| {
        let puts: Vec<Call> = (0..JOBS).step_by(PUT).map(put_many).collect();
        server.spent(JOBS, |server| drop(server.pipeline(&puts)))
    }),
];

/// Works the jobs off in turns of this many.
fn turns(server: &mut Server, size: usize) -> Spent {
    waiting(server);
    let mut ended = 0;
    let spent = server.spent(JOBS, |server| {
        let size = size.to_string();
        let mut held: Vec<String> = Vec::new();
        loop {
            let mut call = words(&["guard.turn", NOW, WORKER, &size, "2", QUEUE, &size]);
            let endings = held.len();
            ended += endings;
            for jid in held {
                call.extend(words(&["4", &jid, QUEUE, "complete", ""]));
            }
            let Value::Array(reply) = server.ask(&call) else {
                panic!("a turn has no reply");
            };
            // The reply of pop follows the rows of the endings.
            held = reply.into_iter().nth(endings).map_or(Vec::new(), popped);
            if held.is_empty() {
                break;
            }
        }
    });
    assert_eq!(ended, JOBS);
    spent
}

fn waiting(server: &mut Server) {
    let puts: Vec<Call> = (0..JOBS).step_by(PUT).map(put_many).collect();
    server.pipeline(&puts);
}

fn words(words: &[&str]) -> Call {
    words.iter().map(|word| (*word).to_string()).collect()
}

fn jid(at: usize) -> String {
    format!("{at:032x}")
}

fn put(at: usize) -> Call {
    words(&["put", PUT_AT, "", QUEUE, &jid(at), "Mail", DATA, "0"])
}

fn put_many(first: usize) -> Call {
    let mut call = words(&["guard.put", PUT_AT, "{}"]);
    for at in first..first + PUT {
        call.extend(words(&["5", QUEUE, &jid(at), "Mail", DATA, "0"]));
    }
    call
}

fn pop(count: usize) -> Call {
    words(&["pop", NOW, QUEUE, WORKER, &count.to_string()])
}

fn complete(jid: &str) -> Call {
    words(&["complete", NOW, jid, WORKER, QUEUE, DATA])
}

/// Returns the jids of popped jobs.
fn popped(reply: Value) -> Vec<String> {
    let jobs = read_popped_jobs("pop", &text(reply)).expect("jobs");
    jobs.iter().map(|job| job.jid.to_string()).collect()
}

fn text(reply: Value) -> Vec<u8> {
    match reply {
        Value::BulkString(text) => text,
        reply => panic!("not a text: {reply:?}"),
    }
}

/// Prints how long the client needs for a job that it gets.
fn parsing(server: &mut Server) {
    server.flush();
    waiting(server);
    let reply = text(server.ask(&pop(1000)));
    let least = (0..20).map(|_| {
        let begun = Instant::now();
        assert_eq!(read_popped_jobs("pop", &reply).expect("jobs").len(), 1000);
        begun.elapsed().as_secs_f64() * 1e3
    });
    let least = least.fold(f64::MAX, f64::min);
    println!("  reading a popped job: {least:.2} µs of the client (goal 3)");
}
