//! Servers that speak the protocol of Redis, but reply to calls with nonsense.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::support::proxy::listen;
use crate::support::qless::Qless;
use crate::support::redis::Redis;

/// Replies of a wrong type or shape.
const NONSENSE: [&str; 9] = [
    "+OK",
    ":7",
    "$3\r\nabc",
    "$4\r\n[{}]",
    "$13\r\n{\"jid\":[7,8]}",
    "*0",
    "*1\r\n:1",
    "*2\r\n$1\r\na\r\n*1\r\n:1",
    "*3\r\n*1\r\n$2\r\nok\r\n$-1\r\n*0",
];

/// Commands that make calls, of each kind.
const COMMANDS: [&str; 48] = [
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
    "failed",
    "failed --group=g",
    "config list",
    "config get x",
    "tag",
    "recur list q",
    "recur get r",
    "depends j",
    "key q k",
    "throttle ls",
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

/// Passes what is no call of the core to a server, and replies to calls itself.
fn pretend(mut client: TcpStream, socket: &Path, nonsense: &str) {
    let mut server = UnixStream::connect(socket).unwrap();
    let mut bytes = vec![0; 1 << 20];
    while let Ok(read @ 1..) = client.read(&mut bytes) {
        let asked = String::from_utf8_lossy(&bytes[..read]);
        let calls = asked.matches("EVAL").count();
        let reply = if calls > 0 {
            format!("{nonsense}\r\n").repeat(calls).into_bytes()
        } else {
            server.write_all(&bytes[..read]).unwrap();
            let mut reply = vec![0; 1 << 16];
            let length = server.read(&mut reply).unwrap();
            reply[..length].to_vec()
        };
        if client.write_all(&reply).is_err() {
            return;
        }
    }
}

#[test]
fn nonsense_in_reply_to_a_call_is_a_fault_of_the_server() {
    let redis = Redis::start();
    let socket = redis.socket().to_owned();
    let nonsense = Arc::new(Mutex::new(NONSENSE[0]));
    let said = nonsense.clone();
    let port = listen(move |client| {
        let nonsense = *said.lock().unwrap();
        pretend(client, &socket, nonsense);
    });
    let qless = Qless::bare().env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
    let (mut seen, mut faults) = ([0; 129], Vec::new());
    for reply in NONSENSE {
        *nonsense.lock().unwrap() = reply;
        for line in COMMANDS {
            let ran = qless.run(&format!("{line} --yes --timeout=1s"));
            let (code, error) = (ran.code(), ran.stderr());
            if error.contains("internal") || code == 2 || code > 128 {
                faults.push(format!("{line} {reply:?}: {code} {error}"));
                continue;
            }
            seen[code as usize] += 1;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen[6] > COMMANDS.len() * 3, "{seen:?}");
}
