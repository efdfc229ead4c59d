//! Nonsense never stops a listener or makes it hang.

use std::io::Write;
use std::net::Shutdown;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use qless::internals::listen::{AccessRules, Response, Status};

use crate::support::listener::{TestListener, bind, read_to_end};
use crate::support::random::property;

/// Pieces of requests, right and wrong.
const PIECES: &[&[u8]] = &[
    b"GET ",
    b"HEAD ",
    b"POST ",
    b"/",
    b"/a?b=%zz&c=%c3",
    b" HTTP/1.1\r\n",
    b" HTTP/1.0\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\n",
    b"Host: localhost\r\n",
    b"Host: [\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Content-Length: ",
    b"Transfer-Encoding: chunked\r\n",
    b"Expect: 100-continue\r\n",
    b"Connection: close\r\n",
    b"Authorization: \r\n",
    b"abcde",
    b"5",
    b":",
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\0",
    b"\xff\xfe",
];

fn listener() -> TestListener {
    let listener = bind("127.0.0.1:0", AccessRules::default()).accepting_posts();
    TestListener::serve(listener, |request| {
        Response::text(
            Status::Ok,
            format!("{} {}", request.path, request.body.len()),
        )
    })
}

#[test]
fn nonsense_is_refused_or_answered_and_the_next_client_is_served() {
    let listener = listener();
    let pieces = vec(select(PIECES), 0..30).prop_map(|pieces| pieces.concat());
    let nonsense = prop_oneof![vec(any::<u8>(), 0..400), pieces];
    property(1000, nonsense, |bytes| {
        // Returns: the connection ends within the patience of the client.
        let answers = listener.exchange(&bytes);
        for status in answers.split("HTTP/1.1 ").skip(1) {
            let known = [
                "100", "200", "400", "405", "411", "413", "417", "421", "431", "505",
            ];
            prop_assert!(known.contains(&&status[..3]), "{}", answers);
        }
        prop_assert!(answers.is_empty() || answers.starts_with("HTTP/1.1 "));
        let next = listener.ask("GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n");
        prop_assert_eq!(next, "200 OK: /next 0");
        Ok(())
    });
}

#[test]
fn requests_that_arrive_in_any_parts_are_answered_in_order() {
    let listener = listener();
    let requests = vec((any::<bool>(), 0..2000usize), 1..8);
    property(
        200,
        (requests, vec(1..500usize, 1..20)),
        |(requests, cuts)| {
            let mut bytes = Vec::new();
            let mut expected = Vec::new();
            for (at, (is_post, length)) in requests.iter().enumerate() {
                let (method, length) = if *is_post {
                    ("POST", *length)
                } else {
                    ("GET", 0)
                };
                bytes.extend(
                format!(
                    "{method} /{at} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
                )
                .into_bytes(),
            );
                // A body that looks like a request is none.
                bytes.extend(b"GET /body HTTP/1.1\r\n\r\n".iter().cycle().take(length));
                expected.push(format!("/{at} {length}"));
            }
            let mut stream = listener.connect();
            stream.set_nodelay(true).unwrap();
            let mut rest = bytes.as_slice();
            for cut in cuts.iter().cycle() {
                let (part, others) = rest.split_at((*cut).min(rest.len()));
                stream.write_all(part).unwrap();
                rest = others;
                if rest.is_empty() {
                    break;
                }
            }
            stream.shutdown(Shutdown::Write).unwrap();
            let answers = read_to_end(&mut stream);
            let bodies: Vec<&str> = answers
                .split("\r\n\r\n")
                .skip(1)
                .filter_map(|body| body.lines().next())
                .collect();
            prop_assert_eq!(bodies, expected);
            Ok(())
        },
    );
}
