//! A command that listens on a Unix socket, and requests to it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::qless::{Qless, RunOutput, Running};
use super::redis::Redis;

/// A listener on a Unix socket, and a request to it.
pub struct Listening {
    /// `None` once its end was waited for.
    running: Option<Running>,
    pub socket: PathBuf,
}

impl Listening {
    pub fn of_metrics(redis: &Redis, more: &str) -> Listening {
        Listening::start(&redis.qless(), redis, "metrics", more)
    }

    /// Starts a command that listens at a socket beside that of the server.
    pub fn start(qless: &Qless, beside: &Redis, command: &str, more: &str) -> Listening {
        let socket = beside.socket().with_file_name("listener.sock");
        let line = format!("{command} --listen unix:{} {more}", socket.display());
        let running = qless.start(&line);
        let listening = Listening {
            running: Some(running),
            socket,
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while UnixStream::connect(&listening.socket).is_err() {
            assert!(Instant::now() < deadline, "nothing listens");
            std::thread::sleep(Duration::from_millis(5));
        }
        listening
    }

    /// The status and the body of the response.
    pub fn get(&self, path: &str, host: &str) -> (u16, String) {
        let (status, _, body) = self.ask(&format!("GET {path}"), &format!("Host: {host}\r\n"), "");
        (status, body)
    }

    /// The status, the headers and the body of the response.
    pub fn ask(&self, line: &str, headers: &str, body: &str) -> (u16, String, String) {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        let limit = Some(Duration::from_secs(60));
        stream.set_read_timeout(limit).unwrap();
        let request = format!("{line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    /// Asks until the status is this one.
    pub fn until(&self, path: &str, status: u16) -> String {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let (found, body) = self.get(path, "localhost");
            if found == status {
                return body;
            }
            assert!(Instant::now() < deadline, "{path}: {found} {body}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn end(mut self, signal: Signal) -> RunOutput {
        let running = self.running.take().unwrap();
        running.signal(signal);
        running.end()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.signal(Signal::KILL);
            running.end();
        }
    }
}
