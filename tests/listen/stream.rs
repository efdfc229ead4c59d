//! Server-sent events.

use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use expect_test::expect;

use qless::internals::listen::Response;

use crate::support::listener::{PATIENCE, TestListener, read_to_end};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A stream of one event that then waits for very long. Says whether it waited to the end.
fn waiting() -> (TestListener, mpsc::Receiver<bool>) {
    let (sender, ended) = mpsc::channel();
    let listener = TestListener::start(move |_| {
        let sender = sender.clone();
        Response::events(move |stream| {
            let sent = stream.send_part(b"data: 1\n\n");
            let waited = sent.and_then(|()| stream.wait_while_connected(Duration::MAX));
            sender.send(waited.is_ok()).unwrap();
            waited
        })
    });
    (listener, ended)
}

#[test]
fn events_are_sent_as_they_come_and_the_connection_ends_with_them() {
    let listener = TestListener::start(|_| {
        Response::events(|stream| {
            stream.send_part(b"data: 1\n\n")?;
            stream.wait_while_connected(Duration::from_millis(1))?;
            stream.send_part(b"data: 2\n\n")
        })
    });
    let mut stream = listener.connect();
    stream.write_all(GET).unwrap();
    expect![[r#"
        HTTP/1.1 200 OK
        Content-Type: text/event-stream
        Cache-Control: no-store
        X-Content-Type-Options: nosniff
        Connection: close
        X-Accel-Buffering: no

        data: 1

        data: 2

    "#]]
    .assert_eq(&read_to_end(&mut stream).replace('\r', ""));
    let head = listener.exchange("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(head.ends_with("no\r\n\r\n"), "{head}");
}

#[test]
fn a_stream_ends_when_its_client_leaves() {
    let (listener, ended) = waiting();
    let mut stream = listener.connect();
    stream.write_all(GET).unwrap();
    stream.read_exact(&mut [0; 15]).unwrap();
    drop(stream);
    assert!(!ended.recv_timeout(PATIENCE).unwrap());
}

#[test]
fn a_stream_ends_when_its_client_sends_without_end() {
    let (listener, ended) = waiting();
    let mut stream = listener.connect();
    stream.write_all(GET).unwrap();
    while stream.write_all(&[b'x'; 4096]).is_ok() {}
    assert!(!ended.recv_timeout(PATIENCE).unwrap());
}

#[test]
fn a_stream_ends_when_the_listener_stops() {
    let (listener, ended) = waiting();
    let mut stream = listener.connect();
    stream.write_all(GET).unwrap();
    let mut begun = String::new();
    while !begun.ends_with("data: 1\n\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        begun.push(char::from(byte[0]));
    }
    listener.ask_to_stop();
    assert!(!ended.recv_timeout(PATIENCE).unwrap());
    assert_eq!(read_to_end(&mut stream), "");
}
