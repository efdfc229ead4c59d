//! A response to a request.

use std::fmt;
use std::io;
use std::sync::Arc;

use strum::IntoStaticStr;

use super::server_sent_events::ServerSentEvents;
use crate::text;

/// The status of a response, with its HTTP code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "title_case")]
pub enum Status {
    #[strum(serialize = "OK")]
    Ok = 200,
    SeeOther = 303,
    BadRequest = 400,
    Unauthorized = 401,
    Forbidden = 403,
    NotFound = 404,
    MethodNotAllowed = 405,
    RequestTimeout = 408,
    Conflict = 409,
    LengthRequired = 411,
    ContentTooLarge = 413,
    #[strum(serialize = "URI Too Long")]
    UriTooLong = 414,
    ExpectationFailed = 417,
    MisdirectedRequest = 421,
    RequestHeaderFieldsTooLarge = 431,
    InternalServerError = 500,
    ServiceUnavailable = 503,
    #[strum(serialize = "HTTP Version Not Supported")]
    HttpVersionNotSupported = 505,
}

/// The function that sends the parts of a stream, and waits between them.
type Producer<'a> = Box<dyn FnOnce(&mut ServerSentEvents<'_>) -> io::Result<()> + 'a>;

pub(super) enum Body<'a> {
    Bytes(Vec<u8>),
    /// Bytes that other responses send, too.
    Shared(Arc<dyn AsRef<[u8]> + Send + Sync>),
    Stream(Producer<'a>),
}

impl Body<'_> {
    /// The number of bytes. `None` for a stream, whose length is not known.
    fn length(&self) -> Option<usize> {
        match self {
            Body::Bytes(bytes) => Some(bytes.len()),
            Body::Shared(bytes) => Some((**bytes).as_ref().len()),
            Body::Stream(_) => None,
        }
    }
}

/// A response. No cache keeps it.
pub struct Response<'a> {
    status: Status,
    content_type: &'static str,
    headers: Vec<(&'static str, String)>,
    pub(super) body: Body<'a>,
}

impl<'a> Response<'a> {
    pub fn new(
        status: Status,
        content_type: &'static str,
        body: impl Into<Vec<u8>>,
    ) -> Response<'a> {
        Response {
            status,
            content_type,
            headers: Vec::new(),
            body: Body::Bytes(body.into()),
        }
    }

    /// A response whose bytes are shared with other responses, not copied.
    pub fn shared(
        status: Status,
        content_type: &'static str,
        body: Arc<dyn AsRef<[u8]> + Send + Sync>,
    ) -> Response<'a> {
        Response {
            body: Body::Shared(body),
            ..Response::new(status, content_type, "")
        }
    }

    /// A response of one line of text, such as the reason of a refusal. The line is sanitized.
    pub fn text(status: Status, line: impl fmt::Display) -> Response<'a> {
        let line = text::sanitize_to_line(line.to_string());
        Response::new(status, "text/plain; charset=utf-8", line + "\n")
    }

    /// A response of server-sent events. When `produce` returns, the response and the connection end.
    pub fn events(
        produce: impl FnOnce(&mut ServerSentEvents<'_>) -> io::Result<()> + 'a,
    ) -> Response<'a> {
        let stream = Response {
            body: Body::Stream(Box::new(produce)),
            ..Response::new(Status::Ok, "text/event-stream", "")
        };
        // The header keeps nginx from buffering the events.
        stream.with_header("X-Accel-Buffering", "no")
    }

    /// Adds a header. Each character of the value that is not printable ASCII becomes `?`, so that the value stays on
    /// one line.
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Response<'a> {
        let is_printable = |c: char| c == ' ' || c.is_ascii_graphic();
        let value = value.into().replace(|c| !is_printable(c), "?");
        self.headers.push((name, value));
        self
    }

    pub(super) fn is_stream(&self) -> bool {
        matches!(self.body, Body::Stream(_))
    }

    /// The bytes before the body.
    pub(super) fn head_bytes(&self, keeps_connection: bool) -> Vec<u8> {
        let reason: &str = self.status.into();
        let mut head = format!("HTTP/1.1 {} {reason}\r\n", self.status as u16);
        let mut add = |name: &str, value: &str| {
            head.extend([name, ": ", value, "\r\n"]);
        };
        add("Content-Type", self.content_type);
        if let Some(length) = self.body.length() {
            add("Content-Length", &length.to_string());
        }
        add("Cache-Control", "no-store");
        add("X-Content-Type-Options", "nosniff");
        add(
            "Connection",
            if keeps_connection {
                "keep-alive"
            } else {
                "close"
            },
        );
        for (name, value) in &self.headers {
            add(name, value);
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}
