//! Reads that are sent before their replies are needed: the server works on them while the caller examines earlier
//! replies. Replies come in the order of the requests, so the replies that are still on their way are received before
//! any other call.

use std::collections::VecDeque;
use std::time::Instant;

use super::calls::RetryClass;
use super::connect::ReceivedReplies;
use super::{Call, Core, Value, server_error};
use crate::clock::moment::Moment;
use crate::error::Error;

/// The requests that were sent ahead and whose replies no caller has taken yet, in their order.
#[derive(Debug, Default)]
pub(super) struct OutstandingRequests {
    open: VecDeque<AheadRequest>,
    next: u64,
}

#[derive(Debug)]
struct AheadRequest {
    number: u64,
    connection: u64,
    deadline: Instant,
    received: Option<ReceivedReplies>,
}

impl Core {
    /// Sends calls that only read, and does not wait for their replies. Returns the number of the request. Sends nothing
    /// without an open connection or while calls are traced: the calls are then made when their replies are taken.
    pub(crate) fn try_send_ahead(&mut self, now: Moment, calls: &[Call]) -> Option<u64> {
        let only_reads = calls
            .iter()
            .all(|call| call.retry_class() == RetryClass::Read);
        let deadline = Instant::now() + self.timeout;
        match &self.connection {
            Some(connection) if only_reads && !self.trace.shows_calls() => {
                let packed = self.pack_calls(&now.to_string(), calls.iter(), false);
                connection.send(packed, deadline).then(|| {
                    let number = self.ahead.next;
                    self.ahead.next += 1;
                    self.ahead.open.push_back(AheadRequest {
                        number,
                        connection: self.connections,
                        deadline,
                        received: None,
                    });
                    number
                })
            }
            _ => None,
        }
    }

    /// The replies to calls, which [`Core::try_send_ahead`] has sent as this request. If replies are missing, or if the server refused a call, makes all
    /// calls again.
    pub(crate) fn take_ahead_or_repeat(
        &mut self,
        now: Moment,
        calls: &[Call],
        request: Option<u64>,
    ) -> Vec<Result<Value, Error>> {
        let received = request.and_then(|number| self.receive_and_take_replies(number));
        match received {
            Some(received)
                if received.fault.is_none()
                    && received.replies.len() == calls.len()
                    && received
                        .replies
                        .iter()
                        .all(|reply| server_error(reply).is_none()) =>
            {
                received.replies.into_iter().map(Ok).collect()
            }
            _ => {
                let replies = self.call_all_for_replies(now, calls).into_iter();
                replies.map(|reply| reply.result).collect()
            }
        }
    }

    /// Receives all outstanding replies, so that the next reply on the connection belongs to the next call.
    pub(super) fn receive_outstanding_replies(&mut self) {
        self.receive_up_to(u64::MAX);
    }

    /// The replies to a request.
    fn receive_and_take_replies(&mut self, number: u64) -> Option<ReceivedReplies> {
        self.receive_up_to(number);
        let mut open = self.ahead.open.iter();
        let at = open.position(|request| request.number == number)?;
        self.ahead.open.remove(at)?.received
    }

    /// Receives the outstanding replies up to the one of request `last_request`, and keeps them for their callers.
    fn receive_up_to(&mut self, last_request: u64) {
        for at in 0..self.ahead.open.len() {
            let request = &self.ahead.open[at];
            if request.number > last_request {
                break;
            }
            // Wait only for requests on the current connection: a connection that broke brings no further replies.
            if request.received.is_none() && request.connection == self.connections {
                let deadline = request.deadline;
                let connection = self.connection.as_ref();
                let received = connection.map(|connection| connection.receive_replies(deadline));
                if received.as_ref().is_some_and(|one| one.fault.is_some()) {
                    self.drop_connection_and_count_loss();
                }
                self.ahead.open[at].received = received;
            }
        }
    }
}
