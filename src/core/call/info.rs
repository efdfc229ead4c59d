//! The text of INFO.

use std::time::Duration;

use serde::Deserialize;

/// The reply of INFO: sections of lines `name:value`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct InfoText(pub String);

impl InfoText {
    /// The value of a field; `None` if the server does not report it.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.0.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.map(str::trim)
    }

    /// The value of a field that is a whole number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.field(name)?.parse().ok()
    }

    /// The mode in which the server runs: `standalone`, `cluster` or `sentinel`. INFO names the field `redis_mode`, or
    /// `server_mode` on a Valkey.
    pub(crate) fn server_mode(&self) -> Option<&str> {
        let names = ["redis_mode", "server_mode"];
        names.iter().find_map(|name| self.field(name))
    }

    /// How long ago the replica that sent this text last heard from its primary; `None` if the server is no replica.
    pub(crate) fn primary_silence(&self) -> Option<Duration> {
        // The server counts in `master_last_io_seconds_ago` while the link to its primary is up, and in
        // `master_link_down_since_seconds` while that link is down.
        let fields = [
            "master_last_io_seconds_ago",
            "master_link_down_since_seconds",
        ];
        let seconds = fields.iter().filter_map(|name| self.number(name));
        seconds.max().map(Duration::from_secs)
    }

    pub(crate) fn field_is(&self, name: &str, value: &str) -> bool {
        self.field(name) == Some(value)
    }
}
