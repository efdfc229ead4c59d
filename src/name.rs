//! Names as Redis holds them: jids, queues, tags, groups and workers are bytes, often UTF-8.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::text::Sanitized;

/// A jid, queue, tag, group or worker, byte for byte.
///
/// A clone shares the bytes: lists of many jobs hold each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<[u8]>);

/// In [`lossless_text`], a byte that is not UTF-8 becomes the character with this code plus the byte, and so does each
/// byte of such a character. These characters are the last ones of a private-use plane: ordinary text does not use
/// them.
const INVALID_BYTES: u32 = 0x0010_FF00;

/// The first byte of the characters of that plane in UTF-8.
const FIRST_BYTE: u8 = 0xF4;

/// The bytes as text without losing any: a byte that is not UTF-8 becomes a private-use character, and each of these
/// characters becomes four, one per byte. [`Name::from_lossless_text`] is the inverse.
pub(crate) fn lossless_text(bytes: &[u8]) -> Cow<'_, str> {
    if !bytes.contains(&FIRST_BYTE)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push_escaping_reserved_chars(&mut text, chunk.valid());
        push_bytes_as_lossless_chars(&mut text, chunk.invalid());
    }
    Cow::Owned(text)
}

/// Adds valid UTF-8. A character that [`lossless_text`] uses for an invalid byte is added as if its bytes were
/// invalid, so that the result can be converted back.
fn push_escaping_reserved_chars(text: &mut String, utf8: &str) {
    let mut rest = utf8;
    while let Some((at, c)) = rest
        .char_indices()
        .find(|(_, c)| byte_of_lossless_char(*c).is_some())
    {
        text.push_str(&rest[..at]);
        push_bytes_as_lossless_chars(text, c.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[at + c.len_utf8()..];
    }
    text.push_str(rest);
}

fn push_bytes_as_lossless_chars(text: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        text.extend(char::from_u32(INVALID_BYTES + u32::from(byte)));
    }
}

/// The byte that a character of a [`lossless_text`] stands for, unless the character stands for itself.
pub(crate) fn byte_of_lossless_char(c: char) -> Option<u8> {
    let byte = u8::try_from((c as u32).checked_sub(INVALID_BYTES)?).ok()?;
    (byte >= 0x80).then_some(byte)
}

/// The bytes whose [`lossless_text`] this is.
pub(crate) fn bytes_of_lossless_text(text: &str) -> Vec<u8> {
    if !text.as_bytes().contains(&FIRST_BYTE) {
        return text.as_bytes().to_vec();
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of_lossless_char(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// The bytes as documents show them: UTF-8 stays, and any other byte is written as `\xff`.
pub(crate) fn escape_invalid_utf8(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// The name, sanitized wherever it is written: characters that a terminal would act on or hide are escaped.
/// [`Name::as_bytes`] has the exact bytes.
impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        Sanitized(self).fmt(f)
    }
}

impl Name {
    /// The name whose [`lossless_text`] this is.
    pub fn from_lossless_text(text: &str) -> Name {
        bytes_of_lossless_text(text).into()
    }

    /// The name as [`lossless_text`].
    pub fn lossless_text(&self) -> Cow<'_, str> {
        lossless_text(&self.0)
    }

    /// The exact bytes, for the wire.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0.to_vec()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name as text if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The bytes in base64 if they are not UTF-8, for the field `…_bytes` of a document.
    pub fn base64_if_not_utf8(&self) -> Option<String> {
        match self.as_str() {
            Some(_) => None,
            None => Some(STANDARD.encode(&self.0)),
        }
    }
}

impl AsRef<[u8]> for Name {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Name {
    fn from(bytes: Vec<u8>) -> Name {
        Name(bytes.into())
    }
}

impl From<&[u8]> for Name {
    fn from(bytes: &[u8]) -> Name {
        Name(bytes.into())
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name(text.as_bytes().into())
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name(text.into_bytes().into())
    }
}

impl From<&Name> for Name {
    fn from(name: &Name) -> Name {
        name.clone()
    }
}

impl From<&OsStr> for Name {
    fn from(text: &OsStr) -> Name {
        Name(text.as_bytes().into())
    }
}

/// Serializes a name that is not UTF-8 as bytes, which [`json::write`](crate::json::write) writes as text and as a
/// field `…_bytes`.
impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_bytes(&self.0),
        }
    }
}

/// A text, or its exact bytes.
impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = Name;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a text")
            }
            fn visit_str<E>(self, text: &str) -> Result<Name, E> {
                Ok(Name::from(text))
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Name, E> {
                Ok(Name(bytes.into()))
            }
        }
        deserializer.deserialize_bytes(NameVisitor)
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    /// The schema of a string, marked with [`HAS_BYTES`]: a field `…_bytes` may stand beside it.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", HAS_BYTES: true })
    }
}

/// The key that marks the schema of a name: a document may have a field `…_bytes` beside the name.
pub(crate) const HAS_BYTES: &str = "hasBytes";

/// The characters that make a given name a pattern. A backslash before such a character makes it ordinary.
const WILDCARDS: &[u8] = b"*?[{\\";

/// Whether a given name would be a pattern.
pub(crate) fn has_wildcards(name: &[u8]) -> bool {
    name.iter().any(|byte| WILDCARDS.contains(byte))
}

/// The pattern that matches this name only.
pub(crate) fn escape_wildcards(name: &Name) -> Name {
    let mut pattern = Vec::with_capacity(name.0.len());
    for &byte in name.0.iter() {
        if WILDCARDS.contains(&byte) {
            pattern.push(b'\\');
        }
        pattern.push(byte);
    }
    Name::from(pattern)
}

/// The maximum length of a new name, in bytes.
const MAX_LENGTH: usize = 512;

/// The suffixes of a job's companion keys. A jid with such a suffix would name another job's key.
const RESERVED_SUFFIXES: [&str; 4] = ["-history", "-dependencies", "-dependents", "-payloads"];

/// The reserved suffix of a jid, if it has one.
pub(crate) fn reserved_jid_suffix(jid: &[u8]) -> Option<&'static str> {
    RESERVED_SUFFIXES
        .into_iter()
        .find(|suffix| jid.ends_with(suffix.as_bytes()))
}

/// The reserved suffix of a throttle's id, if it has one. The key of such a throttle would be a list of another
/// throttle.
pub(crate) fn reserved_throttle_suffix(id: &[u8]) -> Option<&'static str> {
    let mut endings = ["-locks", "-pending"].into_iter();
    endings.find(|ending| id.ends_with(ending.as_bytes()))
}

/// Refuses a name that `qless` gives to no new object: empty, too long, or with a control character. In the error
/// message, the returned text follows the name.
pub(crate) fn refuse_as_new_name(name: &[u8]) -> Result<(), String> {
    if name.is_empty() {
        return Err("is empty".into());
    }
    if name.len() > MAX_LENGTH {
        return Err(format!(
            "is {} bytes long, the maximum is {MAX_LENGTH}",
            name.len()
        ));
    }
    if name.iter().all(|byte| matches!(byte, 0x20..0x7f)) {
        return Ok(());
    }
    let mut chars = name.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
    match chars.find(|c| c.is_control()) {
        Some(c) => Err(format!("holds a control character, U+{:04X}", c as u32)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lossless_text_can_be_converted_back() {
        for bytes in [
            b"a\xff\xf4".as_slice(),
            "\u{10FF80}".as_bytes(),
            "\u{10FFFF}é\u{100000}".as_bytes(),
            b"plain",
        ] {
            let name = Name::from(bytes);
            assert_eq!(Name::from_lossless_text(&name.lossless_text()), name);
        }
    }
}
