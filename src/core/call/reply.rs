//! Reading the core's replies.

use super::Value;
use crate::error::{Error, Kind};
use crate::name::Name;

/// Returns the error for a reply of an unexpected form. The core sends none: whatever a server sends is a
/// fault of that server, and not of this program.
pub(crate) fn unexpected(expected: &str) -> Error {
    let message = format!("the server's reply is not {expected}");
    Error::new(Kind::Protocol, message).hint("is it a Redis server, and the right port?")
}

/// Reads a whole number, from an integer or a text.
pub(crate) fn integer(value: Value) -> Result<i64, Error> {
    match value {
        Value::Int(number) => Ok(number),
        other => std::str::from_utf8(&bytes(other)?)
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| unexpected("a number")),
    }
}

/// Reads a count from the text of a field. A text that is not a number is 0.
pub(crate) fn count(text: &[u8]) -> u64 {
    let number: Option<f64> = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok());
    number.map_or(0, |number| number as u64)
}

/// Reads a time span in seconds; `None` for an empty text.
pub(crate) fn seconds(value: Value) -> Result<Option<f64>, Error> {
    let text = bytes(value)?;
    if text.is_empty() {
        return Ok(None);
    }
    let text = std::str::from_utf8(&text).ok();
    let seconds = text.and_then(|text| text.parse::<f64>().ok());
    let seconds = seconds.filter(|seconds| *seconds >= 0.0);
    seconds
        .map(Some)
        .ok_or_else(|| unexpected("a number of seconds"))
}

/// Reads a text.
pub(crate) fn bytes(value: Value) -> Result<Vec<u8>, Error> {
    optional(value)?.ok_or_else(|| unexpected("a text"))
}

/// Reads a text or nil.
pub(crate) fn optional(value: Value) -> Result<Option<Vec<u8>>, Error> {
    match value {
        Value::Nil => Ok(None),
        Value::BulkString(bytes) => Ok(Some(bytes)),
        Value::SimpleString(text) => Ok(Some(text.into_bytes())),
        Value::Okay => Ok(Some(b"OK".to_vec())),
        Value::Int(number) => Ok(Some(number.to_string().into_bytes())),
        _ => Err(unexpected("a text")),
    }
}

/// Returns a reply as `-o raw` writes it: a text or a number on its own line; each element of a list
/// on its own line, an inner list with tabs between; nothing for nil.
pub(crate) fn lines(value: Value) -> Result<Vec<u8>, Error> {
    let values = match value {
        Value::Nil => return Ok(Vec::new()),
        Value::Array(values) => values,
        value => vec![value],
    };
    let mut lines = Vec::new();
    for value in values {
        cells(value, &mut lines)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

fn cells(value: Value, line: &mut Vec<u8>) -> Result<(), Error> {
    let Value::Array(values) = value else {
        line.extend(optional(value)?.unwrap_or_default());
        return Ok(());
    };
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            line.push(b'\t');
        }
        cells(value, line)?;
    }
    Ok(())
}

/// About how many bytes a reply takes.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::BulkString(bytes) => bytes.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        _ => 0,
    }
}

/// Reads a list.
pub(crate) fn list(value: Value) -> Result<Vec<Value>, Error> {
    match value {
        Value::Array(items) => Ok(items),
        _ => Err(unexpected("a list")),
    }
}

/// Reads a list of names.
pub(crate) fn names(value: Value) -> Result<Vec<Name>, Error> {
    list(value)?
        .into_iter()
        .map(|item| bytes(item).map(Name::from))
        .collect()
}

/// Reads a list of names and values in turn, as `look.*` replies.
pub(crate) fn pairs(value: Value) -> Result<Vec<(Vec<u8>, Value)>, Error> {
    let mut items = list(value)?.into_iter();
    let mut pairs = Vec::with_capacity(items.len() / 2);
    while let Some(name) = items.next() {
        let value = items.next().ok_or_else(|| unexpected("pairs"))?;
        pairs.push((bytes(name)?, value));
    }
    Ok(pairs)
}
