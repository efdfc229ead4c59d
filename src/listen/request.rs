//! A request as its bytes say it.

use strum::{EnumString, IntoStaticStr};

use super::response::{Response, Status};

/// Maximum number of headers of a request.
const MAX_HEADERS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum Method {
    Get,
    Head,
    Post,
}

/// A complete request with its body, after the access checks.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    /// The path as it was sent, from its `/` on: percent-encoded ASCII.
    pub path: String,
    /// The names and values in the query string, decoded.
    pub query: Vec<(String, String)>,
    /// The names in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Empty unless the request is a POST.
    pub body: Vec<u8>,
    /// Whether another request may follow.
    pub(super) keeps_connection: bool,
}

impl Request {
    /// The first value with this name in the query string.
    pub fn query_value(&self, name: &str) -> Option<&str> {
        let mut values = self.query.iter().filter(|(key, _)| key == name);
        values.next().map(|(_, value)| value.as_str())
    }

    /// The first header with this name, which must be in lower case.
    pub fn header(&self, lowercase_name: &str) -> Option<&[u8]> {
        let found = self
            .headers
            .iter()
            .find(|(found, _)| found == lowercase_name);
        found.map(|(_, value)| value.as_slice())
    }
}

/// The request line and the headers of a request.
#[derive(Debug)]
pub(super) struct RequestHead {
    pub method: String,
    /// The path and the query string as they were sent: ASCII without blanks.
    target: String,
    pub is_http_1_0: bool,
    /// The names in lower case.
    headers: Vec<(String, Vec<u8>)>,
}

impl RequestHead {
    /// Parses the request line and the headers, and returns them with their length in bytes. `None` if they are
    /// incomplete.
    ///
    /// Refuses what two programs could parse differently: a proxy in front of this server must never see other requests
    /// than this server does.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(RequestHead, usize)>, Response<'static>> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let length = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(refuse_malformed(error)),
        };
        if has_lone_line_feed(bytes.get(..length).unwrap_or(bytes)) {
            let why = "each line of the request must end with CR LF";
            return Err(Response::text(Status::BadRequest, why));
        }
        let target = parsed.path.unwrap_or_default();
        if !target.starts_with('/') || !target.is_ascii() {
            let why = "the target of the request must be a path in ASCII";
            return Err(Response::text(Status::BadRequest, why));
        }
        let headers = parsed.headers.iter();
        let head = RequestHead {
            method: parsed.method.unwrap_or_default().to_owned(),
            target: target.to_owned(),
            is_http_1_0: parsed.version == Some(0),
            headers: headers
                .map(|header| (header.name.to_ascii_lowercase(), header.value.to_owned()))
                .collect(),
        };
        Ok(Some((head, length)))
    }

    /// The value of a header. Refuses a request that has the header more than once.
    pub(super) fn single_header_value(
        &self,
        name: &str,
    ) -> Result<Option<&[u8]>, Response<'static>> {
        let mut values = self.header_values(name);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => {
                let why = format!("the request has more than one `{name}`");
                Err(Response::text(Status::BadRequest, why))
            }
        }
    }

    fn header_values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let named = self.headers.iter().filter(move |(found, _)| found == name);
        named.map(|(_, value)| value.as_slice())
    }

    pub(super) fn body_length(&self, method: Method) -> Result<usize, Response<'static>> {
        let needs_length = |why| Err(Response::text(Status::LengthRequired, why));
        if self.header_values("transfer-encoding").next().is_some() {
            return needs_length(
                "send the body with `Content-Length`, without `Transfer-Encoding`",
            );
        }
        let Some(length) = self.single_header_value("content-length")? else {
            return match method {
                Method::Post => needs_length("send `Content-Length`"),
                Method::Get | Method::Head => Ok(0),
            };
        };
        if length.is_empty() || !length.iter().all(u8::is_ascii_digit) {
            let why = "`Content-Length` is not a number";
            return Err(Response::text(Status::BadRequest, why));
        }
        // A number that does not fit the type is too large in any case.
        let length = str::from_utf8(length)
            .ok()
            .and_then(|text| text.parse().ok());
        match (method, length.unwrap_or(usize::MAX)) {
            (Method::Post, length) => Ok(length),
            (_, 0) => Ok(0),
            _ => {
                let why = "a GET or HEAD request has no body";
                Err(Response::text(Status::BadRequest, why))
            }
        }
    }

    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(super) fn expects_continue(&self) -> Result<bool, Response<'static>> {
        match self.single_header_value("expect")? {
            None => Ok(false),
            Some(_) if self.is_http_1_0 => Ok(false),
            Some(what) if what.eq_ignore_ascii_case(b"100-continue") => Ok(true),
            Some(_) => {
                let why = "the only `Expect` known here is `100-continue`";
                Err(Response::text(Status::ExpectationFailed, why))
            }
        }
    }

    /// Whether the client wants to send further requests on this connection.
    fn keeps_connection(&self) -> bool {
        let has_option = |wanted: &[u8]| {
            let mut options = self
                .header_values("connection")
                .flat_map(|value| value.split(|byte| *byte == b','));
            options.any(|option| option.trim_ascii().eq_ignore_ascii_case(wanted))
        };
        !has_option(b"close") && (!self.is_http_1_0 || has_option(b"keep-alive"))
    }

    pub(super) fn with_body(self, method: Method, body: Vec<u8>) -> Request {
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let query = url::form_urlencoded::parse(query.as_bytes());
        Request {
            method,
            path: path.to_owned(),
            query: query.into_owned().collect(),
            body,
            keeps_connection: self.keeps_connection(),
            headers: self.headers,
        }
    }
}

fn has_lone_line_feed(head: &[u8]) -> bool {
    let mut lines = head.split_inclusive(|byte| *byte == b'\n');
    lines.any(|line| !line.ends_with(b"\r\n"))
}

fn refuse_malformed(error: httparse::Error) -> Response<'static> {
    match error {
        httparse::Error::TooManyHeaders => {
            let why = format!("the request has more than {MAX_HEADERS} headers");
            Response::text(Status::RequestHeaderFieldsTooLarge, why)
        }
        httparse::Error::Version => {
            let why = "this listener speaks HTTP/1.0 and HTTP/1.1";
            Response::text(Status::HttpVersionNotSupported, why)
        }
        error => {
            let why = format!("this is not an HTTP request: {error}");
            Response::text(Status::BadRequest, why)
        }
    }
}
