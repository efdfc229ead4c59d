//! Servers that misbehave: listeners with a given behavior, and a proxy that cuts a request.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use super::qless::Qless;

/// Listens on a free port; the behavior handles each connection.
pub fn listen(behavior: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let behavior = Arc::new(behavior);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let behavior = behavior.clone();
            thread::spawn(move || behavior(stream));
        }
    });
    port
}

/// Answers every request with the same bytes.
pub fn answering(answer: &'static [u8]) -> u16 {
    listen(move |mut stream| {
        let mut asked = [0; 4096];
        while matches!(stream.read(&mut asked), Ok(1..)) {
            if stream.write_all(answer).is_err() {
                return;
            }
        }
    })
}

/// A port without a listener.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// What the proxy does to the request with this number; all others pass.
#[derive(Clone, Copy)]
pub enum Cut {
    /// The connection ends before the server sees the request.
    Before(usize),
    /// The connection ends after the server replied, before the client sees the reply.
    After(usize),
    /// The reply is held back, and the connection stays open.
    Hold(usize),
    /// The request passes, but something happens just before it.
    Meanwhile(usize),
    /// Out of this many requests, about one is cut before and one after the server. The first
    /// request passes.
    Often(usize),
}

/// What happens to a request, or `None` if it passes.
fn cut_of(cut: Cut, number: usize) -> Option<Cut> {
    match cut {
        Cut::Before(at) | Cut::After(at) | Cut::Hold(at) | Cut::Meanwhile(at) => {
            (at == number).then_some(cut)
        }
        Cut::Often(_) if number == 1 => None,
        Cut::Often(many) => match number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 {
            hash if hash % many == 0 => Some(Cut::Before(number)),
            hash if hash % many == 1 => Some(Cut::After(number)),
            _ => None,
        },
    }
}

/// Connects a client to a server, for up to this many requests if a number is given.
pub fn forward(client: TcpStream, socket: &Path, requests: Option<usize>) {
    let cut = requests.map_or(Cut::Before(usize::MAX), |most| Cut::Before(most + 1));
    let then: Then = Arc::new(|| {});
    relay(client, socket, cut, &AtomicUsize::new(0), &then);
}

/// Connects a client to a server whose `TIME` is this many seconds ahead: two texts, of ten digits and of at most six.
pub fn forward_with_time_ahead(
    mut client: TcpStream,
    socket: &Path,
    seconds: impl Fn() -> i64 + Send + 'static,
) {
    const HEAD: &[u8] = b"*2\r\n$10\r\n";
    // The server may have ended.
    let Ok(mut server) = UnixStream::connect(socket) else {
        return;
    };
    let (mut back, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 20];
        while let Ok(count @ 1..) = back.read(&mut bytes) {
            let reply = &mut bytes[..count];
            let head = reply.windows(HEAD.len()).position(|part| part == HEAD);
            let digits = head.map(|at| at + HEAD.len()..at + HEAD.len() + 10);
            if let Some(digits) = digits.and_then(|digits| reply.get_mut(digits))
                && let Ok(time) = std::str::from_utf8(digits).unwrap_or("").parse::<i64>()
            {
                digits.copy_from_slice((time + seconds()).to_string().as_bytes());
            }
            if to.write_all(reply).is_err() {
                break;
            }
        }
        _ = to.shutdown(Shutdown::Both);
    });
    _ = std::io::copy(&mut client, &mut server);
    _ = server.shutdown(Shutdown::Both);
}

/// Listens in front of a server. Requests are counted over all connections, from 1; one request is
/// what a client sends together: the handshake, a call, a pipeline.
pub fn proxy(socket: PathBuf, cut: Cut) -> u16 {
    proxy_then(socket, cut, || {})
}

/// The same; `then` runs just before the connection ends, or before the request passes.
pub fn proxy_then(socket: PathBuf, cut: Cut, then: impl Fn() + Send + Sync + 'static) -> u16 {
    let count = AtomicUsize::new(0);
    let then: Then = Arc::new(then);
    listen(move |client| relay(client, &socket, cut, &count, &then))
}

/// Runs a line in front of a server, and kills it when the proxy cuts. Returns whether it ended by
/// itself.
pub fn run_and_kill(qless: &Qless, socket: PathBuf, line: &str, cut: Cut) -> bool {
    let pid = Arc::new(OnceLock::new());
    let shared = pid.clone();
    let port = proxy_then(socket, cut, move || {
        // The run may be faster than `spawn` returns its process id.
        kill_process(*shared.wait(), Signal::KILL).unwrap();
    });
    let url = format!("redis://127.0.0.1:{port}");
    let running = qless.clone().env("QLESS_REDIS_URL", url).start(line);
    pid.set(Pid::from_child(&running.child)).unwrap();
    match running.end().code() {
        0 => true,
        code => {
            assert_eq!(code, 128 + Signal::KILL.as_raw(), "{line}");
            false
        }
    }
}

type Then = Arc<dyn Fn() + Send + Sync>;

fn relay(mut client: TcpStream, socket: &Path, cut: Cut, count: &AtomicUsize, then: &Then) {
    let mut server = UnixStream::connect(socket).unwrap();
    let cutting = Arc::new(AtomicBool::new(false));
    let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let (shared, ending) = (cutting.clone(), then.clone());
    thread::spawn(move || relay_back(back.0, back.1, cut, &shared, &ending));
    let mut bytes = vec![0; 1 << 20];
    while let Ok(asked @ 1..) = client.read(&mut bytes) {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        match cut_of(cut, number) {
            Some(Cut::Before(_)) => {
                then();
                break;
            }
            Some(Cut::Meanwhile(_)) => then(),
            Some(_) => cutting.store(true, Ordering::SeqCst),
            None => {}
        }
        if server.write_all(&bytes[..asked]).is_err() {
            break;
        }
    }
    _ = client.shutdown(Shutdown::Both);
    _ = server.shutdown(Shutdown::Both);
}

fn relay_back(
    mut server: UnixStream,
    mut client: TcpStream,
    cut: Cut,
    cutting: &AtomicBool,
    then: &Then,
) {
    let mut bytes = vec![0; 1 << 20];
    while let Ok(answered @ 1..) = server.read(&mut bytes) {
        match cut {
            Cut::After(_) | Cut::Often(_) if cutting.load(Ordering::SeqCst) => {
                then();
                break;
            }
            Cut::Hold(_) if cutting.load(Ordering::SeqCst) => thread::park(),
            _ if client.write_all(&bytes[..answered]).is_err() => break,
            _ => {}
        }
    }
    _ = client.shutdown(Shutdown::Both);
}
