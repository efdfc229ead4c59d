//! Reading the replies of the core and of the server, and the number of jobs for which a reply is not too long.

use std::fmt;
use std::fmt::Display;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Visitor};

use super::Value;
use super::calls;
use super::deserialize::ValueDeserializer;
use crate::clock::moment::Moment;
use crate::error::{Error, Kind};
use crate::json::Json;
use crate::lenient;
use crate::name::Name;

pub(crate) fn read_reply<T: DeserializeOwned>(call: &str, reply: Value) -> Result<T, Error> {
    T::deserialize(ValueDeserializer(reply)).map_err(|why| unexpected_reply(call, why))
}

/// The error for a reply of an unexpected form, which does not come from the core: the server may not be a Redis. If
/// the call may change something, the error says that the change may or may not have happened.
pub(crate) fn unexpected_reply(call: &str, why: impl Display) -> Error {
    let spec = calls::ALL.iter().find(|spec| spec.name == call);
    let only_reads = spec.is_none_or(|spec| spec.has_read_retry_class());
    unexpected_reply_to(call, only_reads, why)
}

pub(super) fn unexpected_reply_to(call: &str, only_reads: bool, why: impl Display) -> Error {
    let message = format!("unexpected reply to `{call}`: {why}");
    if only_reads {
        return Error::new(Kind::Protocol, message)
            .hint("is it a Redis server, and the right port?");
    }
    let message = format!("{message}; the change may or may not have happened");
    Error::new(Kind::OutcomeUnknown, message)
}

/// Refuses a reply whose number of rows differs from the number of items in the call. Otherwise an item without a row
/// would look like a job that does not exist.
pub(crate) fn require_row_per_item<T>(
    call: &str,
    rows: Vec<T>,
    items: usize,
) -> Result<Vec<T>, Error> {
    if rows.len() == items {
        Ok(rows)
    } else {
        Err(unexpected_reply(call, "not a row for each item"))
    }
}

/// Reads a reply that is a JSON object, as names and values in the order of the object.
pub(crate) fn read_json_object(
    call: &str,
    Bytes(text): &Bytes,
) -> Result<Vec<(Name, Json)>, Error> {
    let fields = Json::parse(text).and_then(|json| json.object());
    fields.ok_or_else(|| unexpected_reply(call, "not a JSON object"))
}

pub(crate) fn read_json_array(call: &str, Bytes(text): &Bytes) -> Result<Vec<Json>, Error> {
    let items = Json::parse(text).and_then(|json| json.array());
    items.ok_or_else(|| unexpected_reply(call, "not a JSON array"))
}

/// The moment in a reply to the Redis command TIME, which has whole seconds and the microseconds after them.
pub(crate) fn moment_of_time_reply((seconds, micros): (i64, i64)) -> Moment {
    Moment::from_micros(seconds.saturating_mul(1_000_000).saturating_add(micros))
}

/// A text that is kept as it came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bytes(pub Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        struct BytesVisitor;
        impl Visitor<'_> for BytesVisitor {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}

/// The rows of a reply about all members of an index. `None`: the core replied with the number of members only, since
/// there are too many for one call.
#[derive(Clone, Debug, Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
pub(crate) struct RowsIfFew<T>(
    #[serde(deserialize_with = "lenient::read_or_none")] pub Option<Vec<T>>,
);

/// Reads a name from a reply, for serde's `deserialize_with`; `None` for nil or an empty text.
pub(crate) fn name_unless_empty<'de, D: Deserializer<'de>>(
    reply: D,
) -> Result<Option<Name>, D::Error> {
    let name = Option::<Name>::deserialize(reply)?;
    Ok(name.filter(|name| !name.is_empty()))
}

/// A reply as `-o raw` prints it. A text or number is one line. Each element of a list is one line, in which tabs
/// separate the elements of an inner list. Nil is no line.
pub(crate) fn raw_lines(value: Value) -> Result<Vec<u8>, Error> {
    let values = match value {
        Value::Nil => return Ok(Vec::new()),
        Value::Array(values) => values,
        value => vec![value],
    };
    let mut lines = Vec::new();
    for value in values {
        add_raw_cells(value, &mut lines)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

fn add_raw_cells(value: Value, line: &mut Vec<u8>) -> Result<(), Error> {
    let Value::Array(values) = value else {
        let text: Option<Bytes> = read_reply("-o raw", value)?;
        line.extend(text.unwrap_or_default().0);
        return Ok(());
    };
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            line.push(b'\t');
        }
        add_raw_cells(value, line)?;
    }
    Ok(())
}

/// About how many bytes a reply takes.
pub(crate) fn approx_byte_len(value: &Value) -> usize {
    match value {
        Value::BulkString(bytes) => bytes.len(),
        Value::Array(items) => items.iter().map(approx_byte_len).sum(),
        _ => 0,
    }
}

/// Reads a flat list of names and values, such as the fields of a stored job or template. `api/job.rs` uses this in
/// place of [`read_reply`], which is too slow for many jobs.
pub(crate) fn read_pairs(call: &str, fields: Value) -> Result<Vec<(Vec<u8>, Value)>, Error> {
    let Value::Array(items) = fields else {
        return Err(unexpected_reply(call, "not a list"));
    };
    let mut items = items.into_iter();
    let mut pairs = Vec::with_capacity(items.len() / 2);
    while let (Some(name), Some(value)) = (items.next(), items.next()) {
        let Bytes(name) = read_reply(call, name)?;
        pairs.push((name, value));
    }
    Ok(pairs)
}

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
    pub(crate) fn time_since_primary_contact(&self) -> Option<Duration> {
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

/// The size in bytes that the reply to one call about many jobs should have.
const SLICE_BYTES: usize = 4 << 20;

/// The number of jobs that the next call reads. It adapts to the size of the jobs in the last reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobsPerReply {
    pub jobs: usize,
    max: usize,
}

impl JobsPerReply {
    pub(crate) const fn new(initial: usize, max: usize) -> JobsPerReply {
        JobsPerReply { jobs: initial, max }
    }

    /// Sets the number of jobs for the next call by the average size of a job in the last reply, which had `bytes` for
    /// `jobs`.
    pub(crate) fn adapt_to_replies(&mut self, jobs: usize, bytes: usize) {
        let each = bytes / jobs.max(1);
        self.jobs = (SLICE_BYTES / each.max(1)).clamp(1, self.max);
    }

    /// Sets the number of jobs for the next call to half of `jobs`, after a reply about `jobs` was too large.
    pub(crate) fn set_to_half_of(&mut self, jobs: usize) {
        self.jobs = (jobs / 2).max(1);
    }
}
