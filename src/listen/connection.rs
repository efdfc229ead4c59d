//! One connection: reads its requests one after another, and sends the response to each.

use std::io;

use super::access::AccessRules;
use super::connection_table::ConnectionRegistration;
use super::request::{Method, Request};
use super::request_reader::{NoRequest, RequestReader};
use super::response::{Body, Response};
use super::server_sent_events::ServerSentEvents;

/// Maximum number of requests on one connection.
const MAX_REQUESTS: usize = 100;

#[derive(Debug)]
pub(super) struct Connection<'l> {
    entry: ConnectionRegistration<'l>,
    reader: RequestReader<'l>,
}

impl<'l> Connection<'l> {
    pub(super) fn new(
        entry: ConnectionRegistration<'l>,
        access: &'l AccessRules,
        takes_posts: bool,
    ) -> Connection<'l> {
        let reader = RequestReader::new(access, takes_posts);
        Connection { entry, reader }
    }

    /// Answers requests until the client, the listener or the maximum number of requests ends the connection.
    pub(super) fn answer_requests<'a>(mut self, respond: impl Fn(&Request) -> Response<'a>) {
        for number in 1..=MAX_REQUESTS {
            let request = match self.reader.read_request(&self.entry.socket) {
                Ok(request) => request,
                Err(NoRequest::Ended) => return,
                Err(NoRequest::Refused(refused)) => {
                    _ = self.send_response(refused, Method::Get, false);
                    break;
                }
            };
            if !self.entry.begin_response_if_open() {
                return;
            }
            let response = respond(&request);
            let stays = request.keeps_connection
                && number < MAX_REQUESTS
                && !response.is_stream()
                && !self.entry.is_stopping();
            if self.send_response(response, request.method, stays).is_err() {
                return;
            }
            if !self.entry.end_response_and_may_continue() || !stays {
                break;
            }
        }
        self.entry.socket.end_sending_and_drain();
    }

    fn send_response(&self, response: Response, method: Method, stays: bool) -> io::Result<()> {
        let socket = &self.entry.socket;
        socket.send(&response.head_bytes(stays))?;
        match response.body {
            _ if method == Method::Head => Ok(()),
            Body::Bytes(body) => socket.send(&body),
            Body::Shared(body) => socket.send((*body).as_ref()),
            Body::Stream(produce) if self.entry.begin_stream_if_open() => {
                produce(&mut ServerSentEvents::new(&self.entry))
            }
            Body::Stream(_) => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}
