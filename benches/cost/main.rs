//! `make bench`: the cost of each call of the core for a Redis server, compared with an empty
//! script with the same arguments in the same run; and the cost of a command of the binary for this
//! machine, compared with `redis-cli ping`.
//!
//! Microseconds belong to one machine and one hour. Counts of commands and ratios are results.

#![allow(unreachable_pub)] // A program exports nothing.
#![allow(clippy::disallowed_methods)] // A panic for want of a thread is a failed benchmark.

mod binary;
mod calls;
mod check;
mod damage;
mod dearest;
mod live;
mod measured_server;
mod page;
mod private_redis;
mod recover;
mod search;
mod submit;
mod tls;
mod work;
mod worker;

use calls::Calls;
use measured_server::{Cost, Server};

/// The number of jobs that wait in the queue while others are processed.
const RESIDENT: [(&str, usize); 2] = [("1,000", 1_000), ("200,000", 200_000)];
/// How often everything is measured; the lowest figure counts.
const ROUNDS: usize = 5;

/// Measures everything, or only the named parts: `calls`, `recover`, `binary`, `tls`, `submit`,
/// `search`, `check`, `damage`, `live`, `page`, `work`, `dearest`; a number sets the jobs of `check`, `live` and `work`,
/// and the seconds for which the page of `page` stays open.
fn main() {
    if worker::play() {
        return;
    }
    let named: Vec<String> = std::env::args().skip(1).collect();
    let named: Vec<&str> = named
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let sizes: Vec<usize> = named.iter().filter_map(|word| word.parse().ok()).collect();
    let is_named = |part: &str| named.is_empty() || named.contains(&part);
    if is_named("calls") {
        calls();
    }
    if is_named("recover") {
        recover::print();
    }
    if is_named("binary") {
        binary::print(ROUNDS);
    }
    if is_named("tls") {
        tls::print(ROUNDS);
    }
    if is_named("submit") {
        submit::print(3);
    }
    if is_named("search") {
        search::print(3);
    }
    if is_named("check") {
        check::print(2, &sizes);
    }
    if is_named("damage") {
        damage::print();
    }
    if is_named("work") {
        work::print(ROUNDS);
        worker::print(&sizes);
    }
    if is_named("live") {
        live::print(10, &sizes);
    }
    if is_named("page") {
        page::print(&sizes, live::fill_few, live::script_calls);
    }
    if is_named("dearest") {
        dearest::print(3);
    }
}

fn calls() {
    let mut sides: Vec<(Server, Calls)> = RESIDENT
        .map(|(_, resident)| {
            let mut server = Server::start();
            let calls = Calls::fill(&mut server, resident);
            (server, calls)
        })
        .into();
    let (version, sha) = (sides[0].0.version(), sides[0].0.sha());
    println!(
        "Redis {version}, core {sha}: µs of its main thread per call, least of {ROUNDS} rounds"
    );
    println!("empty: a script that does nothing, called with the same arguments\n");

    let mut least: Vec<Vec<Row>> = Vec::new();
    for _ in 0..ROUNDS {
        for (at, (server, calls)) in sides.iter_mut().enumerate() {
            let rows = calls.round(server);
            match least.get_mut(at) {
                Some(best) => best
                    .iter_mut()
                    .zip(rows)
                    .for_each(|(best, row)| best.keep(row)),
                None => least.push(rows),
            }
        }
    }
    drop(sides);
    for ((resident, _), rows) in RESIDENT.iter().zip(&least) {
        println!("with {resident} jobs waiting in the queue");
        println!(
            "  {:<30}{:>9}{:>9}{:>9}{:>9}",
            "call", "commands", "µs", "empty", "ratio"
        );
        rows.iter().for_each(Row::print);
        println!();
    }
}

/// One line of the table.
struct Row {
    name: &'static str,
    /// The number of jobs in a call.
    jobs: usize,
    core: Cost,
    empty: Cost,
}

impl Row {
    fn keep(&mut self, other: Row) {
        self.core.micros = self.core.micros.min(other.core.micros);
        self.empty.micros = self.empty.micros.min(other.empty.micros);
    }

    fn print(&self) {
        let Row {
            name,
            jobs,
            core,
            empty,
        } = self;
        let Cost { commands, micros } = core;
        let (least, ratio) = (empty.micros, micros / empty.micros);
        println!("  {name:<30}{commands:>9.2}{micros:>9.2}{least:>9.2}{ratio:>9.1}");
        if *jobs > 1 {
            let (commands, micros) = (commands / *jobs as f64, micros / *jobs as f64);
            println!(
                "    {:<28}{commands:>9.2}{micros:>9.2}",
                "for each of its jobs"
            );
        }
    }
}
