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

    /// `standalone`, `cluster` or `sentinel`. Valkey has a name of its own for the field.
    pub(crate) fn server_mode(&self) -> Option<&str> {
        let names = ["redis_mode", "server_mode"];
        names.iter().find_map(|name| self.field(name))
    }

    /// How long the primary of a replica has been silent.
    pub(crate) fn replica_lag(&self) -> Option<Duration> {
        // The server reports the first field while the link to the primary is up, the second while it is down.
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
