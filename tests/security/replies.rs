//! A server that replies to calls of the core with nonsense.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::core;
use crate::support::proxy::listen;
use crate::support::qless::Qless;
use crate::support::random;
use crate::support::redis::Redis;

/// Scripts whose replies have a wrong type or shape.
const NONSENSE: [&str; 9] = [
    "return {ok = 'OK'}",
    "return 7",
    "return 'abc'",
    "return '[{}]'",
    "return '{\"jid\":[7,8]}'",
    "return {}",
    "return {1}",
    "return {'a', {1}}",
    "return {{'ok'}, false, {}}",
];

/// Commands that make calls, of each kind.
const COMMANDS: [&str; 53] = [
    "metrics",
    "health",
    "queues",
    "queues q",
    "length q",
    "jobs",
    "jobs --queue=q --state=waiting",
    "jobs --count",
    "jobs --tag=t",
    "jobs -o raw --queue=q --state=running",
    "get j",
    "get j --data",
    "get j k -o json",
    "peek q",
    "workers",
    "workers w",
    "stats q",
    "status",
    "lag q",
    "explain j",
    "explain --queue=q",
    "graph j",
    "graph --queue=q --as=dot",
    "failed",
    "failed --group=g",
    "config list",
    "config get x",
    "tag",
    "recur list q",
    "recur get r",
    "depends j",
    "key q k",
    "throttle list",
    "throttle list --all",
    "throttle show t",
    "track",
    "check",
    "wait j --deadline=0.1s",
    "put q K",
    "put q K --key=k --merge",
    "put q K -n",
    "pop q",
    "pop q -o raw",
    "complete j",
    "complete j --next=p",
    "heartbeat j",
    "fail j --group=g --message=m",
    "retry j",
    "cancel j",
    "tag --add=t j",
    "recur put q K --every=60s",
    "export --all",
    "config dump",
];

/// Stands between a client and a server, and has it run another script than the core.
fn pretend(mut client: TcpStream, socket: &Path, core: &str, other: &str) {
    let mut server = UnixStream::connect(socket).unwrap();
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || {
        _ = io::copy(&mut from, &mut to);
        _ = to.shutdown(Shutdown::Both);
    });
    let mut bytes = vec![0; 1 << 20];
    while let Ok(read @ 1..) = client.read(&mut bytes) {
        let mut words = bytes[..read].windows(40);
        while let Some(at) = words.position(|word| word == core.as_bytes()) {
            bytes[at..at + 40].copy_from_slice(other.as_bytes());
            words = bytes[..read].windows(40);
        }
        if server.write_all(&bytes[..read]).is_err() {
            return;
        }
    }
    _ = server.shutdown(Shutdown::Both);
}

/// A server that replies to every call of the core with what a script returns, and a client of it.
struct OddServer {
    redis: Redis,
    /// The script that runs in place of the core, by its SHA.
    script: Arc<Mutex<String>>,
    qless: Qless,
}

impl OddServer {
    fn start() -> OddServer {
        let redis = Redis::start();
        let core = load(&redis, core::script());
        let script = Arc::new(Mutex::new(String::new()));
        let (socket, shared) = (redis.socket(), script.clone());
        let port = listen(move |client| {
            let script = shared.lock().unwrap().clone();
            pretend(client, &socket, &core, &script);
        });
        let qless = Qless::bare().env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
        OddServer {
            redis,
            script,
            qless,
        }
    }

    fn replies(&self, script: &str) {
        *self.script.lock().unwrap() = load(&self.redis, script);
    }
}

fn load(redis: &Redis, script: &str) -> String {
    redis::from_redis_value(redis.send(&["SCRIPT", "LOAD", script])).unwrap()
}

#[test]
fn nonsense_in_reply_to_a_call_is_a_fault_of_the_server() {
    let server = OddServer::start();
    let (mut seen, mut faults) = ([0; 129], Vec::new());
    // In `make test` the commands share the replies among them.
    let step = if random::soaking() { 1 } else { 3 };
    for (at, reply) in NONSENSE.into_iter().enumerate() {
        server.replies(reply);
        for line in COMMANDS.into_iter().skip(at % step).step_by(step) {
            let ran = server.qless.run(&format!("{line} --yes --timeout=1s"));
            let (code, error) = (ran.code(), ran.stderr());
            if error.contains("internal") || code == 2 || code > 128 {
                faults.push(format!("{line} {reply:?}: {code} {error}"));
                continue;
            }
            seen[code as usize] += 1;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen[6] > COMMANDS.len() * 3 / step, "{seen:?}");
}

#[test]
fn what_a_reply_does_not_say_is_not_taken_for_nothing() {
    let server = OddServer::start();
    let documents = ["failed -o json", "config list", "config dump", "stats q"];
    // Nothing is known of what is named.
    let named = [
        "get a",
        "retry a",
        "cancel a",
        "priority --to 5 a",
        "tag a --add t",
        "track a",
        "timeout a",
        "complete a",
        "heartbeat a",
        "fail a --group g --message m",
        "move a --to q",
        "promote a",
        "bury a --group g --message m",
        "depends a",
        "log a m",
        "queues q",
        "lag q",
        "stats q",
        "workers w",
        "recur get r",
        "recur rm r",
        "recur put q K --every 60s",
    ];
    let cases = [
        ("return 7", &documents[..]),
        ("return string.rep('[', 100000)", &documents),
        ("return '[1e999,5]'", &documents),
        ("return '[{\"jid\":\"a\",\"klass\":5}]'", &documents),
        ("return '{\"jid\":\"a\"}'", &["failed -o json"]),
        ("return {}", &named),
    ];
    let mut faults = Vec::new();
    for (script, lines) in cases {
        server.replies(script);
        for line in lines {
            let ran = server.qless.run(&format!("{line} --yes --timeout=1s"));
            if ran.code() != 6 {
                faults.push(format!("{script}: {line}: {} {}", ran.code(), ran.stderr()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
