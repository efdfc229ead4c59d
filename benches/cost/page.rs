//! The page of `qless web`: what it costs the server while browsers look, how large it is and how soon it is there, and
//! whether a page that stays open leaks anything.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::measured_server::Server;

/// How many browsers look at a time.
const BROWSERS: usize = 10;

/// How long the page stays open, in seconds, if no number is given.
const OPEN: usize = 60;

/// A running `qless web`.
pub struct Page {
    child: Child,
    socket: PathBuf,
}

impl Page {
    pub fn start(server: &Server, interval: &str) -> Page {
        let socket = server.redis.socket().with_file_name("page.sock");
        let child = Command::new(env!("CARGO_BIN_EXE_qless"))
            .args([
                "web",
                "--interval",
                interval,
                "--redis",
                &server.url(),
                "--listen",
            ])
            .arg(format!("unix:{}", socket.display()))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while UnixStream::connect(&socket).is_err() {
            thread::sleep(Duration::from_millis(5));
        }
        Page { child, socket }
    }

    /// The whole response to a request.
    pub fn get(&self, path: &str) -> Vec<u8> {
        let mut stream = self.ask(path);
        let mut response = Vec::new();
        stream.read_to_end(&mut response).unwrap();
        assert!(response.starts_with(b"HTTP/1.1 200 OK\r\n"), "{path}");
        response
    }

    fn ask(&self, path: &str) -> UnixStream {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        stream
    }

    /// The open descriptors, and the KiB of memory.
    fn held(&self) -> (usize, u64) {
        let process = PathBuf::from(format!("/proc/{}", self.child.id()));
        let descriptors = fs::read_dir(process.join("fd")).map_or(0, Iterator::count);
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = memory.and_then(|line| line.split_whitespace().next()?.parse().ok());
        (descriptors, memory.unwrap_or(0))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Prints it. `calls` is the number of script calls of a server so far; `fill` makes 50 queues.
pub fn print(sizes: &[usize], fill: impl Fn(&mut Server), calls: impl Fn(&Server) -> u64) {
    let mut server = Server::undisturbed();
    fill(&mut server);
    println!("\nthe page of `qless web`, 50 queues");
    let page = Page::start(&server, "1ms");
    page.get("/");
    let mut millis = f64::INFINITY;
    let mut size = 0;
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(5));
        let begun = Instant::now();
        size = page.get("/").len();
        millis = millis.min(begun.elapsed().as_secs_f64() * 1000.0);
    }
    let verdict = if size >= 60_000 {
        "  60 kB or more"
    } else {
        ""
    };
    println!("  {:<44}{size:>9} bytes{verdict}", "the overview");
    println!(
        "  {:<44}{millis:>9.1} ms",
        "from the request to its last byte, least of 20"
    );
    drop(page);

    let page = Page::start(&server, "500ms");
    let cost = |browsers: usize| {
        let streams: Vec<UnixStream> = (0..browsers).map(|_| page.ask("/live")).collect();
        let before = calls(&server);
        for _ in 0..8 {
            thread::scope(|scope| {
                for _ in 0..browsers {
                    scope.spawn(|| page.get("/"));
                }
            });
            thread::sleep(Duration::from_millis(500));
        }
        drop(streams);
        calls(&server) - before
    };
    let (one, ten) = (cost(1), cost(BROWSERS));
    println!(
        "  {:<44}{one:>9} calls by one browser, {ten} by {BROWSERS}",
        "8 pages each, a look lasts 500 ms"
    );

    let seconds = sizes.first().copied().unwrap_or(OPEN) as u64;
    let mut stream = page.ask("/live");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let (mut before, begun) = (page.held(), Instant::now());
    let mut pages = 0_u64;
    let mut events = [0; 4096];
    while begun.elapsed().as_secs() < seconds {
        assert!(stream.read(&mut events).unwrap() > 0, "the stream ended");
        page.get("/");
        pages += 1;
        // Buffers have grown to their size by then.
        if pages == 20 {
            before = page.held();
        }
    }
    let after = page.held();
    println!(
        "  open for {seconds} s, {pages} pages: {} descriptors, {} KiB of memory; then {} and {}",
        before.0, before.1, after.0, after.1
    );
}
