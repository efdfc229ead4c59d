//! Names are bytes: jids, queues, tags, groups and workers as Redis holds them.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::text::Harmless;

/// A jid, queue, tag, group or worker, byte for byte.
///
/// A clone shares the bytes: lists of many jobs hold each name once.
/// There is no `Display`: whoever shows one asks `view::text` to clean it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<[u8]>);

/// U+10FF00 plus the byte: private use, in nobody's text.
const STRAY: u32 = 0x0010_FF00;

/// Returns bytes as text; those that are not UTF-8 stand in it as the last characters of a private
/// plane.
pub(crate) fn letters(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for &byte in chunk.invalid() {
            text.extend(char::from_u32(STRAY + u32::from(byte)));
        }
    }
    Cow::Owned(text)
}

/// Returns the byte that a letter stands for, if it does.
pub(crate) fn stray(letter: char) -> Option<u8> {
    let byte = u8::try_from((letter as u32).checked_sub(STRAY)?).ok()?;
    (byte >= 0x80).then_some(byte)
}

/// Harmless on a terminal: what a terminal would act on or hide is escaped. [`Name::as_bytes`] has
/// the exact bytes.
impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        Harmless(self).fmt(f)
    }
}

impl Name {
    /// Returns the name that is written with these [`letters`].
    pub fn spelt(letters: &str) -> Name {
        let mut bytes = Vec::with_capacity(letters.len());
        for c in letters.chars() {
            match stray(c) {
                Some(byte) => bytes.push(byte),
                None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        Name(bytes.into())
    }

    /// Returns the name as text, also where its bytes are none.
    pub fn letters(&self) -> Cow<'_, str> {
        letters(&self.0)
    }

    /// Returns the bytes for the wire.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0.to_vec()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text, where it is one.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Returns the bytes in base64 where they are not UTF-8, for the `…_bytes` of a document.
    pub fn base64(&self) -> Option<String> {
        match self.as_str() {
            Some(_) => None,
            None => Some(STANDARD.encode(&self.0)),
        }
    }

    /// Returns the text with `\xff` in place of what is not UTF-8; for documents.
    pub fn escaped(&self) -> String {
        let mut text = String::new();
        for chunk in self.0.utf8_chunks() {
            text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                text.push_str(&format!("\\x{byte:02x}"));
            }
        }
        text
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

impl From<&OsStr> for Name {
    fn from(text: &OsStr) -> Name {
        Name(text.as_bytes().into())
    }
}

/// A string; what is not UTF-8 is written `\xff`. Use [`jid`] and its like for the field with
/// its `…_bytes`.
impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_str(&self.escaped()),
        }
    }
}

/// What can stand in a document with a `…_bytes` beside it: a name, perhaps absent, or a list.
pub(crate) trait Named: Serialize {
    /// Returns the value of `…_bytes`; `None` where the text says it all.
    fn bytes(&self) -> Option<Vec<String>>;

    /// Whether `…_bytes` is a list.
    const LIST: bool = false;
}

impl Named for Name {
    fn bytes(&self) -> Option<Vec<String>> {
        self.base64().map(|text| vec![text])
    }
}

impl Named for Option<Name> {
    fn bytes(&self) -> Option<Vec<String>> {
        self.as_ref().and_then(Named::bytes)
    }
}

impl Named for Vec<Name> {
    const LIST: bool = true;

    fn bytes(&self) -> Option<Vec<String>> {
        if self.iter().all(|name| name.as_str().is_some()) {
            return None;
        }
        Some(self.iter().map(|name| STANDARD.encode(&name.0)).collect())
    }
}

/// Writes `key` and, where the name is not UTF-8, `key_bytes`.
///
/// ```ignore
/// #[serde(flatten, serialize_with = "name::queue")]
/// queue: Name,
/// ```
fn field<T: Named, S: Serializer>(key: &str, value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry(key, value)?;
    if let Some(mut bytes) = value.bytes() {
        let key = format!("{key}_bytes");
        match T::LIST {
            true => map.serialize_entry(&key, &bytes)?,
            false => map.serialize_entry(&key, &bytes.swap_remove(0))?,
        }
    }
    map.end()
}

pub(crate) fn jid<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("jid", value, serializer)
}

pub(crate) fn queue<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("queue", value, serializer)
}

pub(crate) fn klass<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("klass", value, serializer)
}

pub(crate) fn worker<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("worker", value, serializer)
}

pub(crate) fn group<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("group", value, serializer)
}

pub(crate) fn tag<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("tag", value, serializer)
}

pub(crate) fn tags<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("tags", value, serializer)
}

pub(crate) fn name<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("name", value, serializer)
}

pub(crate) fn dependencies<T: Named, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    field("dependencies", value, serializer)
}

pub(crate) fn dependents<T: Named, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    field("dependents", value, serializer)
}

pub(crate) fn spawned_from<T: Named, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    field("spawned_from", value, serializer)
}

pub(crate) fn message<T: Named, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    field("message", value, serializer)
}

pub(crate) fn paused_reason<T: Named, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    field("paused_reason", value, serializer)
}

pub(crate) fn queues<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("queues", value, serializer)
}

pub(crate) fn by<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("by", value, serializer)
}

pub(crate) fn reason<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("reason", value, serializer)
}

pub(crate) fn sample<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("sample", value, serializer)
}

pub(crate) fn key<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("key", value, serializer)
}

pub(crate) fn value<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("value", value, serializer)
}

pub(crate) fn jobs<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("jobs", value, serializer)
}

pub(crate) fn stalled<T: Named, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    field("stalled", value, serializer)
}

pub(crate) fn targets<T: Named, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    field("targets", value, serializer)
}

pub(crate) fn missing<T: Named, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    field("missing", value, serializer)
}

pub(crate) fn item<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("item", value, serializer)
}

pub(crate) fn detail<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("detail", value, serializer)
}

pub(crate) fn dir<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("dir", value, serializer)
}

pub(crate) fn url<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field("url", value, serializer)
}

/// As long as a new name may be.
const LONGEST: usize = 512;

/// The companion keys of a job end so: a jid that does, too, would be another job's companion.
const RESERVED: [&str; 3] = ["-history", "-dependencies", "-dependents"];

/// Returns the reserved ending of a jid that has one.
pub(crate) fn reserved(jid: &[u8]) -> Option<&'static str> {
    RESERVED
        .into_iter()
        .find(|suffix| jid.ends_with(suffix.as_bytes()))
}

/// Refuses what no new name may be.
pub(crate) fn refuse_new(name: &[u8]) -> Result<(), String> {
    if name.is_empty() {
        return Err("is empty".into());
    }
    if name.len() > LONGEST {
        return Err(format!(
            "is {} bytes long, {LONGEST} is the most",
            name.len()
        ));
    }
    if name.iter().all(|byte| matches!(byte, 0x20..0x7f)) {
        return Ok(());
    }
    let mut letters = name.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
    match letters.find(|c| c.is_control()) {
        Some(c) => Err(format!("holds a control character, U+{:04X}", c as u32)),
        None => Ok(()),
    }
}
