//! Servers whose replies never end, or announce more than they send.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::support::proxy::listen;
use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;

/// The most that a command may take, in KiB: what it takes without any reply, and a text that is
/// announced but does not come.
const MOST: u64 = 100 << 10;

/// Sends a start, and then the same bytes until the client is gone.
fn endless(mut stream: TcpStream, start: &[u8], again: &[u8]) {
    let mut asked = [0; 4096];
    let chunk = again.repeat((1 << 16) / again.len().max(1));
    if !matches!(stream.read(&mut asked), Ok(1..)) || stream.write_all(start).is_err() {
        return;
    }
    if again.is_empty() {
        // The rest of the reply does not come.
        _ = stream.read_to_end(&mut Vec::new());
        return;
    }
    while stream.write_all(&chunk).is_ok() {}
}

/// The most memory that a process had so far, in KiB.
fn peak(pid: Pid) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    // Until it runs its program, it counts the memory of this test as its own.
    if !status.starts_with("Name:\tqless\n") {
        return 0;
    }
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Runs a command in front of such a server. Returns its error and its peak.
fn attacked(start: &'static [u8], again: &'static [u8], line: &str) -> (String, u64) {
    let port = listen(move |stream| endless(stream, start, again));
    let qless = Qless::bare()
        .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
        .hide(&port.to_string(), "PORT");
    let mut running = qless.start(&format!("--timeout 3s {line}"));
    let pid = Pid::from_child(&running.child);
    let (begun, mut most) = (Instant::now(), 0);
    while !running.has_ended() {
        most = most.max(peak(pid));
        if begun.elapsed() > Duration::from_secs(30) {
            running.signal(Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    (running.end().exits(6).stderr(), most)
}

#[test]
fn replies_without_end_are_refused_and_take_no_memory() {
    for (start, again) in [
        // Longer than any line or text of Redis.
        (&b"+"[..], &b"x"[..]),
        (b"-", b"ERR "),
        (b":", b"1"),
        (b"*", b"1"),
        (b"$9000000000000\r\n", b"x"),
        (b"$536870913\r\n", b"x"),
        (b"*2\r\n$9223372036854775807\r\n", b"x"),
    ] {
        let (error, most) = attacked(start, again, "length q");
        assert!(error.contains("a reply that is too long"), "{error}");
        assert!(most < MOST, "{most} KiB: {start:?}");
    }
    // Nested without end.
    let (error, most) = attacked(b"", b"*1\r\n", "length q");
    assert!(error.contains("does not speak"), "{error}");
    assert!(most < MOST, "{most} KiB");
}

#[test]
fn memory_is_taken_for_what_has_arrived_and_not_for_what_is_announced() {
    for start in [
        &b"$536870912\r\nabc"[..],
        b"*9223372036854775807\r\n:1\r\n",
        b"*9223372036854775807\r\n*9223372036854775807\r\n*9223372036854775807\r\n",
    ] {
        let (error, most) = attacked(start, b"", "length q");
        assert!(error.contains("no reply from"), "{error}");
        assert!(most < MOST, "{most} KiB: {start:?}");
    }
}

/// The shell limits the memory of the command: to less than the data of a job, and to less than what is made
/// of it.
#[test]
fn a_reply_that_does_not_fit_into_memory_is_an_error() {
    let redis = Redis::start();
    redis.ok(1, "put q K --jid a");
    let set = "redis.call('hset', 'ql:j:a', 'data', '\"' .. ('x'):rep(2^10):rep(2^15) .. '\"')";
    redis.send(&["EVAL", set, "0"]);
    for (kilobytes, line) in [
        (120_000, "get a --data"),
        (160_000, "get a -o raw"),
        (185_000, "jobs --queue q"),
        (185_000, "export --queue q"),
    ] {
        let limited = format!("ulimit -v {kilobytes}; exec \"$0\" {line}");
        let ran = RunOutput::of(&mut redis.at(2).shell(&limited));
        let printed = format!(
            "error: cannot read the reply of `{}`: out of memory\n\
             hint: name fewer things at a time\n",
            redis.socket().display()
        );
        assert_eq!(ran.exits(1).stderr(), printed, "{line}");
    }
}
