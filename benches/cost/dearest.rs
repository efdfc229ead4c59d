//! The dearest arguments of each command, on 100,000 jobs: how long one call holds up the server.
//! The table is `dearest.txt`; `dearest.lua` fills the database.

use redis::{Connection, RedisResult, Value, cmd};

use crate::measured_server::Server;

const TABLE: &str = include_str!("dearest.txt");
const FILL: &str = include_str!("dearest.lua");
const NOW: &str = "1795214400";

/// Calls that take longer are marked, in milliseconds.
const LONG: f64 = 500.0;

/// Prints the milliseconds of each call, the least of several rounds. Nothing here can fail a run.
pub fn print(rounds: usize) {
    println!("\nthe dearest calls on 100,000 jobs: ms of the server, least of {rounds} rounds");
    println!("  more than {LONG} ms: *; refused: the first words of the error\n");
    let server = Server::undisturbed();
    let mut connection = server.redis.connect();
    let fill: String = ask(&mut connection, &["SCRIPT", "LOAD", FILL]).unwrap();
    ask::<()>(
        &mut connection,
        &["CONFIG", "SET", "slowlog-log-slower-than", "0"],
    )
    .unwrap();
    for row in TABLE.lines().filter(|row| !row.starts_with('#')) {
        let (state, call) = row.split_once("; ").expect("a state and a call");
        let mut argv: Vec<String> = call.split(' ').flat_map(words).collect();
        argv.splice(1..1, [NOW.to_owned()]);
        let mut least = f64::INFINITY;
        let mut refusal = String::new();
        for _ in 0..rounds {
            let mut prepare = |words: &[&str]| ask::<Value>(&mut connection, words).unwrap();
            prepare(&["FLUSHALL"]);
            for part in state.split('+') {
                let mut words = vec!["EVALSHA", &fill, "0", NOW];
                words.extend(part.split(' '));
                prepare(&words);
            }
            prepare(&["SLOWLOG", "RESET"]);
            let mut evalsha = cmd("EVALSHA");
            evalsha.arg(server.sha()).arg(0).arg(&argv);
            if let Err(error) = evalsha.query::<Value>(&mut connection) {
                refusal = error
                    .detail()
                    .unwrap_or_default()
                    .chars()
                    .take(60)
                    .collect();
            }
            least = least.min(newest(&mut connection));
        }
        let long = if least > LONG { '*' } else { ' ' };
        println!("  {least:>9.1}{long} {call:<46} {state:<24} {refusal}");
    }
}

fn ask<T: redis::FromRedisValue>(connection: &mut Connection, words: &[&str]) -> RedisResult<T> {
    cmd(words[0]).arg(&words[1..]).query(connection)
}

/// Returns the milliseconds of the newest call in the slow log.
fn newest(connection: &mut Connection) -> f64 {
    let entries: Vec<Vec<Value>> = ask(connection, &["SLOWLOG", "GET", "1"]).unwrap();
    match entries.first().and_then(|entry| entry.get(2)) {
        Some(Value::Int(micros)) => *micros as f64 / 1e3,
        _ => f64::NAN,
    }
}

/// Returns what a word of the table stands for: `j*9` are nine names, `[j*9]` is one JSON array of
/// nine texts, `(a#,b)*9` are nine times the words a and b, `''` is the empty word.
fn words(word: &str) -> Vec<String> {
    if let Some((group, count)) = word.strip_prefix('(').and_then(|w| w.rsplit_once(")*")) {
        let numbers = 0..count.parse::<usize>().expect("a number of times");
        let group = |n: usize| group.replace('#', &n.to_string());
        let expanded = |n| group(n).split(',').flat_map(words).collect::<Vec<_>>();
        return numbers.flat_map(expanded).collect();
    }
    let bare = word.trim_matches(['[', ']']);
    let names = bare.split_once('*').and_then(|(name, count)| {
        let count: usize = count.parse().ok()?;
        Some((0..count).map(|n| format!("{name}{n}")).collect::<Vec<_>>())
    });
    match names {
        None if word == "''" => vec![String::new()],
        None => vec![word.to_owned()],
        Some(names) if word.starts_with('[') => {
            vec![format!("[\"{}\"]", names.join("\",\""))]
        }
        Some(names) => names,
    }
}
