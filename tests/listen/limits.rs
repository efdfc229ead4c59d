//! Slow, silent and many clients.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;

use qless::internals::listen::{AccessRules, Response, Status};

use crate::support::listener::{
    PATIENCE, TestListener, bind, read_answer, read_to_end, summary, wait_until,
};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn hello() -> TestListener {
    TestListener::start(|_| Response::text(Status::Ok, "hello"))
}

/// A listener whose answers wait until they are let go.
struct HeldListener {
    listener: TestListener,
    held: Arc<AtomicUsize>,
    let_go: Arc<AtomicBool>,
}

impl HeldListener {
    fn start() -> HeldListener {
        let (held, let_go) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (count, may_answer) = (held.clone(), let_go.clone());
        let listener = TestListener::start(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            wait_until(|| may_answer.load(Ordering::Relaxed));
            Response::text(Status::Ok, "late")
        });
        HeldListener {
            listener,
            held,
            let_go,
        }
    }

    /// Sends this many requests, and waits until all are being answered.
    fn hold(&self, count: usize) -> Vec<TcpStream> {
        let mut streams: Vec<TcpStream> = (0..count).map(|_| self.listener.connect()).collect();
        for stream in &mut streams {
            stream.write_all(GET).unwrap();
        }
        wait_until(|| self.held.load(Ordering::Relaxed) >= count);
        streams
    }

    fn let_go(&self) {
        self.let_go.store(true, Ordering::Relaxed);
    }
}

/// Whether the other side has not closed the connection.
fn is_open(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = (&mut &*stream).read(&mut [0; 16]);
    read.is_err_and(|fault| fault.kind() == ErrorKind::WouldBlock)
}

#[test]
fn slow_requests_are_refused_after_five_seconds_and_idle_connections_end() {
    let listener = bind("127.0.0.1:0", AccessRules::default()).accepting_posts();
    let listener = TestListener::serve(listener, |_| Response::text(Status::Ok, "hello"));
    thread::scope(|scope| {
        let begin = |sent: &'static [u8]| {
            let listener = &listener;
            scope.spawn(move || {
                let mut stream = listener.connect();
                stream.write_all(sent).unwrap();
                if sent == GET {
                    read_answer(&mut stream);
                }
                let begun = Instant::now();
                let answer = read_to_end(&mut stream);
                let seconds = begun.elapsed().as_secs_f64();
                assert!(seconds > 4.5, "{seconds}");
                answer
            })
        };
        let [silent, idle, slow, slow_body] = [
            b"".as_slice(),
            GET,
            b"GET / HTTP/1.1\r\nHost: lo",
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nbegin",
        ]
        .map(begin);
        assert_eq!(silent.join().unwrap(), "");
        assert_eq!(idle.join().unwrap(), "");
        let slow = summary(&slow.join().unwrap());
        expect!["408 Request Timeout: the request did not arrive within 5 s"].assert_eq(&slow);
        assert_eq!(summary(&slow_body.join().unwrap()), slow);
    });
}

#[test]
fn a_client_that_sends_a_byte_at_a_time_is_refused_after_five_seconds() {
    let listener = hello();
    let mut stream = listener.connect();
    let begun = Instant::now();
    // It never waits as long as an idle client may.
    let patience = Some(Duration::from_millis(100));
    stream.set_read_timeout(patience).unwrap();
    let mut first = [0; 12];
    let mut bytes = b"GET /".iter().chain(std::iter::repeat(&b'a'));
    let answer = loop {
        _ = stream.write(&[*bytes.next().unwrap()]);
        match stream.read(&mut first) {
            Ok(count) => break &first[..count],
            Err(fault) => assert_eq!(fault.kind(), ErrorKind::WouldBlock),
        }
        assert!(begun.elapsed() < PATIENCE);
    };
    assert_eq!(answer, b"HTTP/1.1 408");
}

#[test]
fn a_thousand_slow_clients_do_not_lock_out_another_one() {
    let listener = hello();
    let slow: Vec<TcpStream> = (0..1000)
        .map(|_| {
            let mut stream = listener.connect();
            // The connection may be closed already, to make room for the next one.
            _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: lo");
            stream
        })
        .collect();
    let mut stream = listener.connect();
    stream.write_all(GET).unwrap();
    assert_eq!(summary(&read_answer(&mut stream)), "200 OK: hello");
    // It did not wait until the time of the others was over: some of them still hold their places.
    let open = slow.iter().filter(|stream| is_open(stream)).count();
    assert!((1..=64).contains(&open), "{open}");
}

#[test]
fn the_connection_that_waits_longest_for_its_request_makes_room() {
    let listener = HeldListener::start();
    let held = listener.hold(62);
    let older = listener.listener.connect();
    let newer = listener.listener.connect();
    let newest = listener.listener.connect();
    wait_until(|| !is_open(&older));
    assert!(is_open(&newer) && is_open(&newest));
    listener.let_go();
    for mut stream in held {
        assert_eq!(summary(&read_answer(&mut stream)), "200 OK: late");
    }
}

#[test]
fn while_64_requests_are_answered_others_are_asked_to_come_back() {
    let listener = HeldListener::start();
    let mut held = listener.hold(64);
    let answer = listener.listener.exchange("");
    expect![[r#"
        HTTP/1.1 503 Service Unavailable
        Content-Type: text/plain; charset=utf-8
        Content-Length: 35
        Cache-Control: no-store
        X-Content-Type-Options: nosniff
        Connection: close
        Retry-After: 1

        too many requests at the same time
    "#]]
    .assert_eq(&answer.replace('\r', ""));
    listener.let_go();
    for stream in &mut held {
        assert_eq!(summary(&read_answer(stream)), "200 OK: late");
    }
    // Their connections are idle now, and one of them makes room.
    let answer = listener.listener.ask(GET);
    assert_eq!(answer, "200 OK: late");
}

#[test]
fn streams_make_room_for_other_requests() {
    let listener = TestListener::start(|request| match request.path.as_str() {
        "/live" => Response::events(|stream| {
            loop {
                stream.send_part(b": ping\n\n")?;
                stream.wait_while_connected(Duration::from_secs(60))?;
            }
        }),
        _ => Response::text(Status::Ok, "hello"),
    });
    let streams: Vec<TcpStream> = (0..70)
        .map(|_| {
            let mut stream = listener.connect();
            let request = b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n";
            stream.write_all(request).unwrap();
            let (mut read, mut byte) = (Vec::new(), [0]);
            while !read.ends_with(b": ping\n\n") {
                stream.read_exact(&mut byte).unwrap();
                read.extend(byte);
            }
            stream
        })
        .collect();
    let answer = listener.exchange(GET);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // The newest stream is still open.
    assert!(is_open(streams.last().unwrap()));
}

#[test]
fn a_client_that_reads_nothing_is_left_after_five_seconds() {
    let (sender, outcome) = mpsc::channel();
    let listener = TestListener::start(move |_| {
        let sender = sender.clone();
        Response::events(move |stream| {
            loop {
                let begun = Instant::now();
                // Less than the part that the client must read in time.
                if let Err(fault) = stream.send_part(&[b'x'; 8192]) {
                    sender.send((begun.elapsed(), fault.kind())).unwrap();
                    return Err(fault);
                }
            }
        })
    });
    let mut silent = listener.connect();
    silent.write_all(GET).unwrap();
    let (waited, kind) = outcome.recv_timeout(PATIENCE).unwrap();
    assert_eq!(kind, ErrorKind::TimedOut);
    assert!((4.5..15.0).contains(&waited.as_secs_f64()), "{waited:?}");
}

#[test]
fn a_client_that_leaves_during_its_answer_harms_nobody() {
    let listener =
        TestListener::start(|_| Response::new(Status::Ok, "text/plain", "x".repeat(8 << 20)));
    for _ in 0..100 {
        let mut stream = listener.connect();
        stream.write_all(GET).unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
    }
    let whole = listener.exchange(GET);
    assert!(whole.len() > 8 << 20);
}

#[test]
fn answers_under_way_are_finished_and_idle_connections_end_at_the_stop() {
    let listener = HeldListener::start();
    let mut idle = listener.listener.connect();
    let mut half = listener.listener.connect();
    half.write_all(b"GET / HT").unwrap();
    let mut held = listener.hold(3);
    listener.listener.ask_to_stop();
    assert_eq!(read_to_end(&mut idle), "");
    assert_eq!(read_to_end(&mut half), "");
    assert!(!listener.listener.has_stopped());
    listener.let_go();
    for stream in &mut held {
        let answer = read_to_end(stream);
        assert_eq!(summary(&answer), "200 OK: late");
    }
    wait_until(|| listener.listener.has_stopped());
}
