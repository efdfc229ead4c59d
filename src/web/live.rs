//! Server-sent events that tell a page of each new snapshot. The script of the page then loads the page again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::listen::Response;
use crate::look::server::SnapshotHttpResponder;

/// After this time without an event, the stream sends a comment, so that no proxy closes the connection as idle.
const PING: Duration = Duration::from_secs(15);

/// An event for each new snapshot, as long as the client stays: `look` with `{"interval_s":2.0}`, or `away` if
/// Redis does not answer.
pub(super) fn event_stream<'a>(
    server: &'a SnapshotHttpResponder<'_>,
    interval: Duration,
) -> Response<'a> {
    Response::events(move |stream| {
        // A browser that lost the connection connects again after this time.
        stream.send_part(format!("retry: {}\n\n", interval.as_millis().max(1000)).as_bytes())?;
        let mut last_at = None;
        let mut sent = Instant::now();
        loop {
            let snapshot = Arc::clone(&server.fresh_snapshot());
            if last_at != Some(snapshot.at) {
                last_at = Some(snapshot.at);
                let name = if snapshot.facts.is_ok() {
                    "look"
                } else {
                    "away"
                };
                let seconds = server.snapshot_interval().as_secs_f64();
                let event = format!("event: {name}\ndata: {{\"interval_s\":{seconds}}}\n\n");
                stream.send_part(event.as_bytes())?;
                sent = Instant::now();
            } else if sent.elapsed() >= PING {
                stream.send_part(b": ping\n\n")?;
                sent = Instant::now();
            }
            stream.wait_while_connected(server.snapshot_interval().min(PING))?;
        }
    })
}
