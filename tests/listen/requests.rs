//! What a listener answers, and what it refuses.

use std::io::Write;

use expect_test::expect;

use qless::internals::Secret;
use qless::internals::listen::{AccessRules, Listener, Request, Response, Status};
use url::Host;

use crate::support::listener::{
    TestListener, bind, listen_address, read_answer, read_to_end, summary,
};
use crate::support::text::Shows;

/// Shows the request that arrived.
fn echo(request: &Request) -> Response<'static> {
    let method: &str = request.method.into();
    let mut text = format!("{method} {}", request.path);
    for (name, value) in &request.query {
        text += &format!(" {name}={value}");
    }
    if let Some(value) = request.header("x-shown") {
        text += &format!(" header {}", value.escape_ascii());
    }
    if !request.body.is_empty() {
        text += &format!(" body {}", request.body.escape_ascii());
    }
    Response::text(Status::Ok, text)
}

/// Sends each request, written with `\n` for CR LF. Returns what comes back.
fn check(listener: &TestListener, requests: &[&str]) -> String {
    let mut shown = String::new();
    for request in requests {
        let answer = listener.ask(request.replace('\n', "\r\n"));
        shown += &format!("{}\n    {answer}\n", request.escape_debug());
    }
    shown
}

#[test]
fn a_request_is_answered_with_the_standing_headers() {
    let listener = TestListener::start(|request| echo(request).with_header("X-Own", "a"));
    let answer = listener
        .exchange("GET /metrics?a=%2F+b&c HTTP/1.1\r\nHost: localhost\r\nX-Shown:  1 \r\n\r\n");
    answer.replace('\r', "").shows(expect![[r#"
        HTTP/1.1 200 OK
        Content-Type: text/plain; charset=utf-8
        Content-Length: 31
        Cache-Control: no-store
        X-Content-Type-Options: nosniff
        Connection: keep-alive
        X-Own: a

        GET /metrics a=/ b c= header 1
    "#]]);
    let head = listener.exchange("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(head.contains("Content-Length: 14\r\n"), "{head}");
    assert!(head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn a_header_of_an_answer_stays_one_line() {
    let listener = TestListener::start(|_| {
        Response::text(Status::SeeOther, "").with_header("Location", "/a\r\nSet-Cookie: b=ä")
    });
    let answer = listener.exchange("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(
        answer.contains("\r\nLocation: /a??Set-Cookie: b=?\r\n"),
        "{answer}"
    );
}

#[test]
fn a_page_of_another_site_may_only_link_here() {
    let listener = TestListener::serve(bind("localhost:0", AccessRules::default()), echo);
    let requests = [
        "none",
        "same-origin",
        "same-site",
        "cross-site",
        "cross-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: image",
        "cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe",
        "cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document",
    ]
    .map(|site| format!("GET /a HTTP/1.1\nHost: localhost\nSec-Fetch-Site: {site}\n\n"));
    let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
    check(&listener, &requests).shows(expect![[r#"
        GET /a HTTP/1.1\nHost: localhost\nSec-Fetch-Site: none\n\n
            200 OK: GET /a
        GET /a HTTP/1.1\nHost: localhost\nSec-Fetch-Site: same-origin\n\n
            200 OK: GET /a
        GET /a HTTP/1.1\nHost: localhost\nSec-Fetch-Site: same-site\n\n
            403 Forbidden: a page of another site requested this: open it in a tab of its own
        GET /a HTTP/1.1\nHost: localhost\nSec-Fetch-Site: cross-site\n\n
            403 Forbidden: a page of another site requested this: open it in a tab of its own
        GET /a HTTP/1.1\nHost: localhost\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: image\n\n
            403 Forbidden: a page of another site requested this: open it in a tab of its own
        GET /a HTTP/1.1\nHost: localhost\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe\n\n
            403 Forbidden: a page of another site requested this: open it in a tab of its own
        GET /a HTTP/1.1\nHost: localhost\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\n\n
            200 OK: GET /a
    "#]]);
}

#[test]
fn only_known_hosts_are_answered() {
    let mut access = AccessRules::default();
    access.hosts.push(Host::parse("q.example").unwrap());
    let listener = TestListener::serve(bind("localhost:0", access), echo);
    let requests = [
        "127.0.0.1",
        "127.0.0.1:9123",
        "192.168.1.7:80",
        "[::1]:9123",
        "[::1]",
        "localhost",
        "LocalHost:9123",
        "q.example:80",
        "Q.EXAMPLE",
        "evil.example",
        "q.example.evil.example",
        "localhost.evil.example:9123",
        "localhost@evil.example",
        "localhost:80@evil.example",
        "127.0.0.1.evil.example",
        "evil.example\u{1b}[2J",
        "",
    ]
    .map(|host| format!("GET /a HTTP/1.1\nHost: {host}\n\n"));
    let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
    check(&listener, &requests).shows(expect![[r#"
            GET /a HTTP/1.1\nHost: 127.0.0.1\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: 127.0.0.1:9123\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: 192.168.1.7:80\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: [::1]:9123\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: [::1]\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: localhost\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: LocalHost:9123\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: q.example:80\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: Q.EXAMPLE\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: evil.example\n\n
                421 Misdirected Request: `evil.example` is not a name of this listener: start it with `--allow-host` and the name
            GET /a HTTP/1.1\nHost: q.example.evil.example\n\n
                421 Misdirected Request: `q.example.evil.example` is not a name of this listener: start it with `--allow-host` and the name
            GET /a HTTP/1.1\nHost: localhost.evil.example:9123\n\n
                421 Misdirected Request: `localhost.evil.example:9123` is not a name of this listener: start it with `--allow-host` and the name
            GET /a HTTP/1.1\nHost: localhost@evil.example\n\n
                421 Misdirected Request: `localhost@evil.example` is not a name of this listener: start it with `--allow-host` and the name
            GET /a HTTP/1.1\nHost: localhost:80@evil.example\n\n
                421 Misdirected Request: `localhost:80@evil.example` is not a name of this listener: start it with `--allow-host` and the name
            GET /a HTTP/1.1\nHost: 127.0.0.1.evil.example\n\n
                421 Misdirected Request: `127.0.0.1.evil.example` is not a name of this listener: start it with `--allow-host` and the name
            GET /a HTTP/1.1\nHost: evil.example\u{1b}[2J\n\n
                400 Bad Request: this is not an HTTP request: invalid header value
            GET /a HTTP/1.1\nHost: \n\n
                421 Misdirected Request: `` is not a name of this listener: start it with `--allow-host` and the name
        "#]]);
    let requests = [
        "GET /a HTTP/1.1\n\n",
        "GET /a HTTP/1.0\n\n",
        "GET /a HTTP/1.0\nHost: evil.example\n\n",
        "GET /a HTTP/1.1\nHost: localhost\nHost: evil.example\n\n",
        "POST /a HTTP/1.1\nHost: evil.example\nContent-Length: 9\n\n",
        "GET http://localhost/a HTTP/1.1\nHost: localhost\n\n",
    ];
    check(&listener, &requests).shows(expect![[r#"
            GET /a HTTP/1.1\n\n
                400 Bad Request: the request has no `Host`
            GET /a HTTP/1.0\n\n
                200 OK: GET /a
            GET /a HTTP/1.0\nHost: evil.example\n\n
                421 Misdirected Request: `evil.example` is not a name of this listener: start it with `--allow-host` and the name
            GET /a HTTP/1.1\nHost: localhost\nHost: evil.example\n\n
                400 Bad Request: the request has more than one `host`
            POST /a HTTP/1.1\nHost: evil.example\nContent-Length: 9\n\n
                421 Misdirected Request: `evil.example` is not a name of this listener: start it with `--allow-host` and the name
            GET http://localhost/a HTTP/1.1\nHost: localhost\n\n
                400 Bad Request: the target of the request must be a path in ASCII
        "#]]);
}

#[test]
fn the_name_of_the_address_is_a_known_host() {
    let own = qless::internals::host_name();
    let access = AccessRules {
        token: Some(Secret::new(b"t".to_vec())),
        ..AccessRules::default()
    };
    let listener = match Listener::bind(&listen_address(&format!("{own}:0")), access) {
        Ok(listener) => TestListener::serve(listener, echo),
        Err(error) => return eprintln!("skipped: {}", error.message()),
    };
    let ask = |host: &str| {
        listener.ask(format!(
            "GET / HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer t\r\n\r\n"
        ))
    };
    assert_eq!(ask(&own), "200 OK: GET /");
    assert!(ask(&format!("x{own}")).starts_with("421"));
}

#[test]
fn a_token_is_needed_if_there_is_one() {
    let access = AccessRules {
        token: Some(Secret::new(b"s3cret".to_vec())),
        ..AccessRules::default()
    };
    let listener = TestListener::serve(bind("127.0.0.1:0", access), echo);
    let requests = [
        "",
        "Authorization: Bearer s3cret\n",
        "authorization: bearer s3cret\n",
        "Authorization: Bearer s3cre\n",
        "Authorization: Bearer s3cretx\n",
        "Authorization: Bearer\n",
        "Authorization: Bearer \n",
        "Authorization: Basic s3cret\n",
        // `ann:s3cret` and `:s3cre` in base64: a browser asks for a user and a password.
        "Authorization: Basic YW5uOnMzY3JldA==\n",
        "Authorization: Basic OnMzY3Jl\n",
        "Authorization: s3cret\n",
        "Authorization: Bearer s3cret\nAuthorization: Bearer s3cret\n",
    ]
    .map(|header| format!("GET /a HTTP/1.1\nHost: localhost\n{header}\n"));
    let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
    check(&listener, &requests).shows(expect![[r#"
            GET /a HTTP/1.1\nHost: localhost\n\n
                401 Unauthorized: the request needs the token: `Authorization: Bearer TOKEN`
            GET /a HTTP/1.1\nHost: localhost\nAuthorization: Bearer s3cret\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: localhost\nauthorization: bearer s3cret\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: localhost\nAuthorization: Bearer s3cre\n\n
                401 Unauthorized: the request needs the token: `Authorization: Bearer TOKEN`
            GET /a HTTP/1.1\nHost: localhost\nAuthorization: Bearer s3cretx\n\n
                401 Unauthorized: the request needs the token: `Authorization: Bearer TOKEN`
            GET /a HTTP/1.1\nHost: localhost\nAuthorization: Bearer\n\n
                401 Unauthorized: the request needs the token: `Authorization: Bearer TOKEN`
            GET /a HTTP/1.1\nHost: localhost\nAuthorization: Bearer \n\n
                401 Unauthorized: the request needs the token: `Authorization: Bearer TOKEN`
            GET /a HTTP/1.1\nHost: localhost\nAuthorization: Basic s3cret\n\n
                401 Unauthorized: the request needs the token: `Authorization: Bearer TOKEN`
            GET /a HTTP/1.1\nHost: localhost\nAuthorization: Basic YW5uOnMzY3JldA==\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: localhost\nAuthorization: Basic OnMzY3Jl\n\n
                401 Unauthorized: the request needs the token: `Authorization: Bearer TOKEN`
            GET /a HTTP/1.1\nHost: localhost\nAuthorization: s3cret\n\n
                401 Unauthorized: the request needs the token: `Authorization: Bearer TOKEN`
            GET /a HTTP/1.1\nHost: localhost\nAuthorization: Bearer s3cret\nAuthorization: Bearer s3cret\n\n
                400 Bad Request: the request has more than one `authorization`
        "#]]);
    let refused = listener.exchange("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(
        refused.contains("\r\nWWW-Authenticate: Basic realm=\"qless\", Bearer realm=\"qless\"\r\n"),
        "{refused}"
    );
    // The host is judged first: a stranger's page learns nothing about the token.
    let foreign = listener.ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert!(foreign.starts_with("421"), "{foreign}");
}

#[test]
fn malformed_requests_are_refused() {
    let listener = TestListener::start(echo);
    let requests = [
        "GET /a HTTP/1.1\nHost: localhost\n\n",
        "GET /a\n\n",
        "GET  /a HTTP/1.1\nHost: localhost\n\n",
        "GET a HTTP/1.1\nHost: localhost\n\n",
        "GET /ä HTTP/1.1\nHost: localhost\n\n",
        "GET /a HTTP/2.0\nHost: localhost\n\n",
        "PRI * HTTP/2.0\n\nSM\n\n",
        "GET /a HTTP/1.1\nHost : localhost\n\n",
        "GET /a HTTP/1.1\nHost: localhost\n folded\n\n",
        "GET /a HTTP/1.1\nHost: localhost\nno colon\n\n",
        "GET /a HTTP/1.1\nHost: localhost\nX: a\0b\n\n",
        "\u{16}\u{3}\u{1}\u{2}",
        "PUT /a HTTP/1.1\nHost: localhost\n\n",
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: 1\n\nx",
        "OPTIONS * HTTP/1.1\nHost: localhost\n\n",
        "get /a HTTP/1.1\nHost: localhost\n\n",
        "GET /a HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n",
        "GET /a HTTP/1.1\nHost: localhost\nContent-Length: 1\n\nx",
        "GET /a HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n0\n\n",
        "GET /a HTTP/1.1\nHost: localhost\nExpect: 100-continue\n\n",
        "GET /a HTTP/1.1\nHost: localhost\nExpect: more\n\n",
    ];
    check(&listener, &requests).shows(expect![[r#"
            GET /a HTTP/1.1\nHost: localhost\n\n
                200 OK: GET /a
            GET /a\n\n
                400 Bad Request: this is not an HTTP request: invalid token
            GET  /a HTTP/1.1\nHost: localhost\n\n
                400 Bad Request: this is not an HTTP request: invalid token
            GET a HTTP/1.1\nHost: localhost\n\n
                400 Bad Request: the target of the request must be a path in ASCII
            GET /ä HTTP/1.1\nHost: localhost\n\n
                400 Bad Request: the target of the request must be a path in ASCII
            GET /a HTTP/2.0\nHost: localhost\n\n
                505 HTTP Version Not Supported: this listener speaks HTTP/1.0 and HTTP/1.1
            PRI * HTTP/2.0\n\nSM\n\n
                505 HTTP Version Not Supported: this listener speaks HTTP/1.0 and HTTP/1.1
            GET /a HTTP/1.1\nHost : localhost\n\n
                400 Bad Request: this is not an HTTP request: invalid header name
            GET /a HTTP/1.1\nHost: localhost\n folded\n\n
                400 Bad Request: this is not an HTTP request: invalid header name
            GET /a HTTP/1.1\nHost: localhost\nno colon\n\n
                400 Bad Request: this is not an HTTP request: invalid header name
            GET /a HTTP/1.1\nHost: localhost\nX: a\0b\n\n
                400 Bad Request: this is not an HTTP request: invalid header value
            \u{16}\u{3}\u{1}\u{2}
                400 Bad Request: this is not an HTTP request: invalid token
            PUT /a HTTP/1.1\nHost: localhost\n\n
                405 Method Not Allowed: the methods here are GET, HEAD
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: 1\n\nx
                405 Method Not Allowed: the methods here are GET, HEAD
            OPTIONS * HTTP/1.1\nHost: localhost\n\n
                400 Bad Request: the target of the request must be a path in ASCII
            get /a HTTP/1.1\nHost: localhost\n\n
                405 Method Not Allowed: the methods here are GET, HEAD
            GET /a HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: localhost\nContent-Length: 1\n\nx
                400 Bad Request: a GET or HEAD request has no body
            GET /a HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n0\n\n
                411 Length Required: send the body with `Content-Length`, without `Transfer-Encoding`
            GET /a HTTP/1.1\nHost: localhost\nExpect: 100-continue\n\n
                200 OK: GET /a
            GET /a HTTP/1.1\nHost: localhost\nExpect: more\n\n
                417 Expectation Failed: the only `Expect` known here is `100-continue`
        "#]]);
    let lone = "GET /a HTTP/1.1\nHost: localhost\r\n\r\n";
    listener.ask(lone).shows(expect![
        "400 Bad Request: each line of the request must end with CR LF"
    ]);
    let allowed = listener.exchange("PUT / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(allowed.contains("\r\nAllow: GET, HEAD\r\n"), "{allowed}");
}

#[test]
fn bodies_of_posts_have_a_length() {
    let listener = bind("127.0.0.1:0", AccessRules::default()).accepting_posts();
    let listener = TestListener::serve(listener, echo);
    let requests = [
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: 3\n\nabc",
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n",
        "POST /a HTTP/1.1\nHost: localhost\n\nabc",
        "POST /a HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n",
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: 3\nTransfer-Encoding: chunked\n\nabc",
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: 3\nContent-Length: 3\n\nabc",
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: 3, 3\n\nabc",
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: +3\n\nabc",
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: -3\n\nabc",
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: 65537\n\n",
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: 99999999999999999999999999\n\n",
        "POST /a HTTP/1.1\nHost: localhost\nContent-Length: 3\n\nab",
    ];
    check(&listener, &requests).shows(expect![[r#"
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: 3\n\nabc
                200 OK: POST /a body abc
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n
                200 OK: POST /a
            POST /a HTTP/1.1\nHost: localhost\n\nabc
                411 Length Required: send `Content-Length`
            POST /a HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n
                411 Length Required: send the body with `Content-Length`, without `Transfer-Encoding`
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: 3\nTransfer-Encoding: chunked\n\nabc
                411 Length Required: send the body with `Content-Length`, without `Transfer-Encoding`
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: 3\nContent-Length: 3\n\nabc
                400 Bad Request: the request has more than one `content-length`
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: 3, 3\n\nabc
                400 Bad Request: `Content-Length` is not a number
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: +3\n\nabc
                400 Bad Request: `Content-Length` is not a number
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: -3\n\nabc
                400 Bad Request: `Content-Length` is not a number
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: 65537\n\n
                413 Content Too Large: the body is longer than 65536 bytes
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: 99999999999999999999999999\n\n
                413 Content Too Large: the body is longer than 65536 bytes
            POST /a HTTP/1.1\nHost: localhost\nContent-Length: 3\n\nab
                : 
        "#]]);
    let longest = "x".repeat(65536);
    let request = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65536\r\n\r\n";
    let answer = listener.ask(format!("{request}{longest}"));
    assert_eq!(answer, format!("200 OK: POST / body {longest}"));
}

#[test]
fn a_client_that_waits_before_its_body_is_told_to_go_on() {
    let listener = bind("127.0.0.1:0", AccessRules::default()).accepting_posts();
    let listener = TestListener::serve(listener, echo);
    let mut stream = listener.connect();
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ";
    write!(stream, "{head}3\r\n\r\n").unwrap();
    let mut interim = [0; 25];
    std::io::Read::read_exact(&mut stream, &mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"abc").unwrap();
    assert_eq!(
        summary(&read_answer(&mut stream)),
        "200 OK: POST / body abc"
    );
    // A body that is too long is refused before it is sent.
    write!(stream, "{head}70000\r\n\r\n").unwrap();
    let refused = summary(&read_to_end(&mut stream));
    assert_eq!(
        refused,
        "413 Content Too Large: the body is longer than 65536 bytes"
    );
}

#[test]
fn long_requests_are_refused_with_a_whole_answer() {
    let listener = TestListener::start(echo);
    let path = "a".repeat(8100);
    let whole = format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(whole.len() <= 8192);
    assert!(listener.ask(whole).starts_with("200 OK"));
    let target = format!("GET /{} HTTP/1.1\r\n", "a".repeat(100_000));
    let header = format!(
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: {}",
        "a".repeat(100_000)
    );
    let many = format!(
        "GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
        "A: b\r\n".repeat(64)
    );
    let shown = [target, header, many].map(|request| listener.ask(request));
    shown.join("\n").shows(expect![[r#"
        414 URI Too Long: the target is longer than 8192 bytes
        431 Request Header Fields Too Large: the head of the request is longer than 8192 bytes
        431 Request Header Fields Too Large: the request has more than 64 headers"#]]);
}

#[test]
fn a_connection_stays_for_a_hundred_requests() {
    let listener = TestListener::start(echo);
    let mut stream = listener.connect();
    for number in 1..=100 {
        let request = format!("GET /{number} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let answer = read_answer(&mut stream);
        assert_eq!(summary(&answer), format!("200 OK: GET /{number}"));
        let last = answer.contains("\r\nConnection: close\r\n");
        assert_eq!(last, number == 100, "{answer}");
    }
    assert_eq!(read_to_end(&mut stream), "");
}

#[test]
fn a_client_decides_whether_its_connection_stays() {
    let listener = TestListener::start(echo);
    let stays = |head: &str| {
        let answer = listener.exchange(format!("GET / {head}\r\n\r\n"));
        answer.contains("\r\nConnection: keep-alive\r\n")
    };
    assert!(stays("HTTP/1.1\r\nHost: localhost"));
    assert!(!stays("HTTP/1.1\r\nHost: localhost\r\nConnection: close"));
    assert!(!stays(
        "HTTP/1.1\r\nHost: localhost\r\nConnection: x, Close"
    ));
    assert!(!stays("HTTP/1.0"));
    assert!(stays("HTTP/1.0\r\nConnection: Keep-Alive"));
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let listener = TestListener::start(echo);
    let one = |path: &str| format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let head = one("b").replace("GET", "HEAD");
    let refused = one("d").replace("localhost", "evil.example");
    let answers = listener.exchange([one("a"), head, one("c"), refused, one("e")].concat());
    let lines = answers.lines().filter(|line| {
        line.starts_with("HTTP") || line.starts_with("GET") || line.starts_with("HEAD")
    });
    // After a refusal nothing more is read.
    lines.collect::<Vec<_>>().join("\n").shows(expect![[r#"
        HTTP/1.1 200 OK
        GET /a
        HTTP/1.1 200 OK
        HTTP/1.1 200 OK
        GET /c
        HTTP/1.1 421 Misdirected Request"#]]);
}
