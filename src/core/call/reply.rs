//! Reading the core's replies.

use std::fmt;
use std::fmt::Display;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Visitor};

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

/// The error for a reply of an unexpected form. The core sends no such reply, so the server is at fault, not this
/// program. If the call may change something, its effect is not known.
pub(crate) fn unexpected_reply(call: &str, why: impl Display) -> Error {
    let spec = calls::ALL.iter().find(|spec| spec.name == call);
    let only_reads = spec.is_none_or(|spec| spec.only_reads());
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

/// Refuses a reply that has not one row for each item of the call: an item without a row would look like one that does
/// not exist.
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

/// Reads a reply that is a JSON object: its fields in their order.
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

/// The moment that TIME replies: seconds, and the microseconds after them.
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

/// Rows about all members of an index; `None` if there are too many for one call: then the core
/// replies only with their number.
#[derive(Clone, Debug)]
pub(crate) struct RowsIfFew<T>(pub Option<Vec<T>>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for RowsIfFew<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RowsIfFew<T>, D::Error> {
        lenient::read_or_none(deserializer).map(RowsIfFew)
    }
}

/// Reads a text for `deserialize_with`; `None` if it is nil or empty.
pub(crate) fn name_unless_empty<'de, D: Deserializer<'de>>(
    reply: D,
) -> Result<Option<Name>, D::Error> {
    let name = Option::<Name>::deserialize(reply)?;
    Ok(name.filter(|name| !name.is_empty()))
}

/// A reply as `-o raw` writes it: a text or a number on its own line; each element of a list
/// on its own line, an inner list with tabs between; nothing for nil.
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

/// The names and values of a stored job or template, which [`read_reply`] would read too slowly
/// (`api/job.rs`).
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
