//! Reads the requests of a connection, within limits of time and size.

use std::io;
use std::time::{Duration, Instant};

use super::access::AccessRules;
use super::request::{Method, Request, RequestHead};
use super::response::{Response, Status};
use super::socket::ClientSocket;

/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(5);

/// How long a connection may wait for a request to begin.
const MAX_IDLE_TIME: Duration = Duration::from_secs(5);

/// Maximum length of the request line with all headers, in bytes.
const LONGEST_HEAD: usize = 8 * 1024;

/// The longest body, in bytes.
const LONGEST_BODY: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct RequestReader<'l> {
    access: &'l AccessRules,
    takes_posts: bool,
    /// The received bytes that belong to no request yet.
    buffer: Vec<u8>,
}

/// Why there is no request.
pub(super) enum NoRequest {
    /// The client has left, or is idle.
    Ended,
    Refused(Response<'static>),
}

impl From<Response<'static>> for NoRequest {
    fn from(refused: Response<'static>) -> NoRequest {
        NoRequest::Refused(refused)
    }
}

impl<'l> RequestReader<'l> {
    pub(super) fn new(access: &'l AccessRules, takes_posts: bool) -> RequestReader<'l> {
        RequestReader {
            access,
            takes_posts,
            buffer: Vec::new(),
        }
    }

    /// Reads the next request. If its first line or headers are wrong, refuses the request without reading the body.
    pub(super) fn read_request(&mut self, socket: &ClientSocket) -> Result<Request, NoRequest> {
        if self.buffer.is_empty() {
            let arrived = socket.receive(LONGEST_HEAD, Instant::now() + MAX_IDLE_TIME);
            self.buffer = arrived.map_err(|_| NoRequest::Ended)?;
        }
        let deadline = Instant::now() + ARRIVAL;
        let head = self.read_head(socket, deadline)?;
        self.access.verify_request(&head)?;
        let method = self.check_method(&head)?;
        let length = head.body_length(method)?;
        if length > LONGEST_BODY {
            let why = format!("the body is longer than {LONGEST_BODY} bytes");
            return Err(Response::text(Status::ContentTooLarge, why).into());
        }
        if head.expects_continue()? && self.buffer.len() < length {
            let sent = socket.send(b"HTTP/1.1 100 Continue\r\n\r\n");
            sent.map_err(|_| NoRequest::Ended)?;
        }
        while self.buffer.len() < length {
            self.receive_into_buffer(socket, length, deadline)?;
        }
        let rest = self.buffer.split_off(length.min(self.buffer.len()));
        let body = std::mem::replace(&mut self.buffer, rest);
        Ok(head.with_body(method, body))
    }

    fn read_head(
        &mut self,
        socket: &ClientSocket,
        deadline: Instant,
    ) -> Result<RequestHead, NoRequest> {
        loop {
            if let Some((head, length)) = RequestHead::parse(&self.buffer)? {
                self.buffer.drain(..length.min(self.buffer.len()));
                return Ok(head);
            }
            if self.buffer.len() >= LONGEST_HEAD {
                let is_in_first_line = !self.buffer.contains(&b'\n');
                let (status, what) = if is_in_first_line {
                    (Status::UriTooLong, "the target")
                } else {
                    (
                        Status::RequestHeaderFieldsTooLarge,
                        "the head of the request",
                    )
                };
                let why = format!("{what} is longer than {LONGEST_HEAD} bytes");
                return Err(Response::text(status, why).into());
            }
            self.receive_into_buffer(socket, LONGEST_HEAD, deadline)?;
        }
    }

    /// Receives more bytes of the request, up to a buffer of `max_bytes` bytes.
    fn receive_into_buffer(
        &mut self,
        socket: &ClientSocket,
        max_bytes: usize,
        deadline: Instant,
    ) -> Result<(), NoRequest> {
        match socket.receive(max_bytes - self.buffer.len().min(max_bytes), deadline) {
            Ok(arrived) if arrived.is_empty() => Err(NoRequest::Ended),
            Ok(arrived) => {
                self.buffer.extend(arrived);
                Ok(())
            }
            Err(fault) if fault.kind() == io::ErrorKind::TimedOut => {
                let why = format!("the request did not arrive within {} s", ARRIVAL.as_secs());
                Err(Response::text(Status::RequestTimeout, why).into())
            }
            Err(_) => Err(NoRequest::Ended),
        }
    }

    fn check_method(&self, head: &RequestHead) -> Result<Method, Response<'static>> {
        match head.method.parse() {
            Ok(Method::Post) if !self.takes_posts => {}
            Ok(method) => return Ok(method),
            Err(_) => {}
        }
        let known = if self.takes_posts {
            "GET, HEAD, POST"
        } else {
            "GET, HEAD"
        };
        let why = format!("the methods here are {known}");
        Err(Response::text(Status::MethodNotAllowed, why).with_header("Allow", known))
    }
}
