//! Which requests are answered. Their `Host`, the site that sent them and their token decide.
//!
//! A web page of a stranger can make a browser send requests to this machine. The page can even read the responses, if
//! the stranger's host name resolves to this machine. Such a request has the stranger's host name as its `Host`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq;
use url::Host;

use super::address::split_port;
use super::request::RequestHead;
use super::response::{Response, Status};
use crate::address::secret::Secret;
use crate::text::{Sanitized, cut_with_ellipsis};

/// Maximum width of a refused host name in the error message, in columns.
const LONGEST_HOST: usize = 100;

/// Which requests are answered: the host names that they may use, and the token that they must have.
#[derive(Debug, Default)]
pub struct AccessRules {
    /// The host names that requests may use. IP addresses and `localhost` are always allowed.
    pub hosts: Vec<Host>,
    /// The token that each request must have. `None` if no token is required.
    pub token: Option<Secret>,
}

impl AccessRules {
    /// Refuses a request for another host, from a page of another site, or without the token.
    pub(super) fn verify_request(&self, head: &RequestHead) -> Result<(), Response<'static>> {
        self.verify_host(head)?;
        verify_fetch_site(head)?;
        self.verify_token(head)
    }

    fn verify_host(&self, head: &RequestHead) -> Result<(), Response<'static>> {
        let host = match head.single_header_value("host")? {
            Some(host) => String::from_utf8_lossy(host),
            // Browsers send a host.
            None if head.is_http_1_0 => return Ok(()),
            None => {
                return Err(Response::text(
                    Status::BadRequest,
                    "the request has no `Host`",
                ));
            }
        };
        let (name, port) = split_port(&host);
        let is_known = match Host::parse(name) {
            Ok(Host::Ipv4(_) | Host::Ipv6(_)) => true,
            Ok(name) => name == Host::Domain("localhost") || self.hosts.contains(&name),
            Err(_) => false,
        };
        if is_known && port.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit())) {
            return Ok(());
        }
        let host = cut_with_ellipsis(&Sanitized(&*host).to_string(), LONGEST_HOST);
        let why = format!(
            "`{host}` is not a name of this listener: start it with `--allow-host` and the name"
        );
        Err(Response::text(Status::MisdirectedRequest, why))
    }

    fn verify_token(&self, head: &RequestHead) -> Result<(), Response<'static>> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let given = head
            .single_header_value("authorization")?
            .and_then(bearer_token_or_basic_password);
        if given.is_some_and(|given| given.ct_eq(token.reveal()).into()) {
            return Ok(());
        }
        let why = "the request needs the token: `Authorization: Bearer TOKEN`";
        let refused = Response::text(Status::Unauthorized, why);
        let schemes = "Basic realm=\"qless\", Bearer realm=\"qless\"";
        Err(refused.with_header("WWW-Authenticate", schemes))
    }
}

/// Refuses a request that a page of another site makes, for example for an image. That page could not read the
/// response, but would make this program compute one. A link that a user follows is answered.
fn verify_fetch_site(head: &RequestHead) -> Result<(), Response<'static>> {
    let is_own = matches!(
        head.single_header_value("sec-fetch-site")?,
        None | Some(b"same-origin" | b"none")
    );
    let is_navigation = head.single_header_value("sec-fetch-mode")? == Some(b"navigate")
        && head.single_header_value("sec-fetch-dest")? == Some(b"document");
    if is_own || is_navigation {
        return Ok(());
    }
    let why = "a page of another site requested this: open it in a tab of its own";
    Err(Response::text(Status::Forbidden, why))
}

/// The token in an `Authorization` header: a bearer token, or the password that the user typed into the browser's
/// prompt.
fn bearer_token_or_basic_password(authorization: &[u8]) -> Option<Vec<u8>> {
    let end = authorization.iter().position(|byte| *byte == b' ')?;
    let (scheme, given) = authorization.split_at(end);
    let given = given.trim_ascii();
    if scheme.eq_ignore_ascii_case(b"Bearer") {
        return Some(given.to_vec());
    }
    if !scheme.eq_ignore_ascii_case(b"Basic") {
        return None;
    }
    let pair = STANDARD.decode(given).ok()?;
    let colon = pair.iter().position(|byte| *byte == b':')?;
    Some(pair[colon + 1..].to_vec())
}
