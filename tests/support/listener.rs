//! A listener of a test, and what a client sends and gets.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use qless::internals::listen::{AccessRules, ListenAddress, Listener, Request, Response};

/// How long a client waits before the test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A listener on a free port. Dropping it stops it.
pub(crate) struct TestListener {
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TestListener {
    /// A listener for GET and HEAD without a token.
    pub(crate) fn start(
        answer: impl Fn(&Request) -> Response<'static> + Send + Sync + 'static,
    ) -> TestListener {
        TestListener::serve(bind("127.0.0.1:0", AccessRules::default()), answer)
    }

    pub(crate) fn serve(
        listener: Listener,
        answer: impl Fn(&Request) -> Response<'static> + Send + Sync + 'static,
    ) -> TestListener {
        let url = listener.url();
        let stop = Arc::new(AtomicBool::new(false));
        let asked = stop.clone();
        TestListener {
            address: url.strip_prefix("http://").unwrap().parse().unwrap(),
            stop,
            thread: Some(thread::spawn(move || {
                listener.serve(answer, || asked.load(Ordering::Relaxed));
            })),
        }
    }

    pub(crate) fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends these bytes and nothing more. Returns all that comes back.
    pub(crate) fn exchange(&self, request: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect();
        // A refused request need not be read to its end.
        _ = stream.write_all(request.as_ref());
        _ = stream.shutdown(Shutdown::Write);
        read_to_end(&mut stream)
    }

    /// The status line and the body of an answer.
    pub(crate) fn ask(&self, request: impl AsRef<[u8]>) -> String {
        summary(&self.exchange(request))
    }
}

impl Drop for TestListener {
    fn drop(&mut self) {
        self.ask_to_stop();
        let ended = self.thread.take().unwrap().join();
        if !thread::panicking() {
            ended.unwrap();
        }
    }
}

pub(crate) fn bind(address: &str, access: AccessRules) -> Listener {
    Listener::bind(&listen_address(address), access).unwrap()
}

pub(crate) fn listen_address(typed: &str) -> ListenAddress {
    ListenAddress::parse(typed.as_ref()).unwrap()
}

/// All that the other side sends. It may reset the connection after that.
pub(crate) fn read_to_end(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(fault) if fault.kind() == ErrorKind::ConnectionReset => {}
        read => _ = read.unwrap(),
    }
    String::from_utf8(bytes).unwrap()
}

/// A whole answer with `Content-Length` on a connection that stays.
pub(crate) fn read_answer(stream: &mut impl Read) -> String {
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with("\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    let (_, length) = text.split_once("Content-Length: ").unwrap();
    let (length, _) = length.split_once('\r').unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    text + &String::from_utf8(body).unwrap()
}

/// `200 OK: body`
pub(crate) fn summary(answer: &str) -> String {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let status = head.lines().next().unwrap_or_default();
    let status = status.strip_prefix("HTTP/1.1 ").unwrap_or(status);
    format!("{status}: {}", body.trim_end())
}

/// Waits until something is true.
#[track_caller]
pub(crate) fn wait_until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "it did not happen");
        thread::sleep(Duration::from_millis(5));
    }
}
