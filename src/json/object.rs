//! JSON objects that people and programs write, which serde reads into structs. Each error names the wrong field, its
//! value, and its position in the text.

use std::borrow::Cow;
use std::fmt;
use std::vec::IntoIter;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::value::CowStrDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, Expected, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

use super::OrderedFields;
use super::syntax::{JsonType, SyntaxFault, UnknownField, refuse_what_core_refuses};
use crate::text::{Sanitized, cut_with_ellipsis};

/// Reads an object that people write.
pub(crate) fn read_object<'t, T: Deserialize<'t>>(text: &'t [u8]) -> Result<T, SyntaxFault> {
    ParsedObject::parse(text, FieldConvention::Exact)?.read_all_fields()
}

/// How the fields of an object are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FieldConvention {
    /// As they are.
    Exact,
    /// `null` counts as missing. A field `NAME_bytes` has the exact bytes of `NAME` in base64, and replaces it.
    Document,
}

/// The fields of an object, each once, in their order.
#[derive(Debug)]
pub(crate) struct ParsedObject<'t> {
    text: &'t [u8],
    fields: Vec<(Cow<'t, str>, &'t RawValue)>,
    encoding: FieldConvention,
}

impl<'t> ParsedObject<'t> {
    /// Parses a text that is an object.
    pub(crate) fn parse(
        text: &'t [u8],
        encoding: FieldConvention,
    ) -> Result<ParsedObject<'t>, SyntaxFault> {
        let start = text.len() - text.trim_ascii_start().len();
        match text.get(start) {
            Some(b'{') => {}
            Some(_) => {
                return Err(SyntaxFault::quoting_word_at(
                    text,
                    start,
                    "expected an object, not",
                ));
            }
            None => {
                return Err(SyntaxFault::at_offset(
                    text,
                    start,
                    "it is empty, an object was expected",
                ));
            }
        }
        // Parse a `str` if possible: for bytes, serde_json would validate the UTF-8 of each string again.
        let read = match std::str::from_utf8(text) {
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(text),
        };
        let OrderedFields(fields) = read.map_err(|error| SyntaxFault::from_serde(text, &error))?;
        refuse_what_core_refuses(text)?;
        let object = ParsedObject {
            text,
            fields,
            encoding,
        };
        object
            .refuse_duplicates()
            .map_err(|wrong| wrong.into_syntax_fault(text))?;
        Ok(object)
    }

    /// Parses the fields before the first syntax error.
    pub(crate) fn parse_before_fault(
        text: &'t [u8],
        encoding: FieldConvention,
    ) -> ParsedObject<'t> {
        let mut fields = Vec::new();
        _ = OrderedFields::read_fields_before_fault(text, &mut fields);
        ParsedObject {
            text,
            fields,
            encoding,
        }
    }

    fn from_value(value: FieldValue<'t>) -> Result<ParsedObject<'t>, ObjectFault> {
        let json = value.raw.get();
        let OrderedFields(fields) = serde_json::from_str(json).map_err(de::Error::custom)?;
        let object = ParsedObject {
            text: json.as_bytes(),
            fields,
            encoding: value.encoding,
        };
        object.refuse_duplicates().map(|()| object)
    }

    fn refuse_duplicates(&self) -> Result<(), ObjectFault> {
        for (at, (key, raw)) in self.fields.iter().enumerate() {
            if self.fields[..at].iter().any(|(known, _)| known == key) {
                let wrong =
                    ObjectFault::new(ObjectFaultReason::Twice(sanitize_and_cut_for_message(key)));
                return Err(wrong.with_address_if_unset(address_of_key((key, raw))));
            }
        }
        Ok(())
    }

    /// Reads one field. `None` if it is missing or, in a document, `null`.
    pub(crate) fn read_field<T: Deserialize<'t>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, SyntaxFault> {
        let find = |name: &str| self.fields.iter().find(|(key, _)| key == name);
        let bytes_field = format!("{name}{BYTES_SUFFIX}");
        let bytes_field = find(&bytes_field)
            .filter(|(_, raw)| raw.get() != "null" && self.follows_document_field_rules());
        let Some((key, raw)) = bytes_field.or_else(|| find(name)) else {
            return Ok(None);
        };
        let value = FieldValue {
            raw,
            encoding: self.encoding,
            is_base64: bytes_field.is_some(),
        };
        let read = Option::deserialize(value).map_err(|wrong| wrong.prepend_step(key, raw));
        read.map_err(|wrong| wrong.into_syntax_fault(self.text))
    }

    /// Reads one field that must not be missing.
    pub(crate) fn read_required_field<T: Deserialize<'t>>(
        &self,
        name: &'static str,
    ) -> Result<T, SyntaxFault> {
        let missing = || ObjectFault::missing_field(name).into_syntax_fault(self.text);
        self.read_field(name)?.ok_or_else(missing)
    }

    /// Reads all fields.
    pub(crate) fn read_all_fields<T: Deserialize<'t>>(&self) -> Result<T, SyntaxFault> {
        T::deserialize(self).map_err(|wrong| wrong.into_syntax_fault(self.text))
    }

    /// The error for a field that is wrong.
    pub(crate) fn field_fault(&self, name: &str, problem: &str) -> SyntaxFault {
        let column = column_of_field_value(self.text, name);
        SyntaxFault {
            column,
            ..SyntaxFault::at_offset(self.text, 0, format!("`{name}` {problem}"))
        }
    }

    /// The keys in their order, each with the JSON text of its value.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &'t RawValue)> {
        self.fields.iter().map(|(key, raw)| (&**key, *raw))
    }

    fn follows_document_field_rules(&self) -> bool {
        self.encoding == FieldConvention::Document
    }
}

use de::Error as _;

/// The suffix of a field with the exact bytes of another field: `queue_bytes` has those of `queue`.
const BYTES_SUFFIX: &str = "_bytes";

/// The column of a field's value. The column of the object if the field is missing.
pub(crate) fn column_of_field_value(text: &[u8], name: &str) -> usize {
    let object = ParsedObject::parse(text, FieldConvention::Exact);
    let object = object.as_ref().map(|object| object.fields()).into_iter();
    let value = object.flatten().find(|(key, _)| *key == name);
    let at = value.and_then(|(_, raw)| offset_of_subslice(text, raw.get().as_bytes()));
    SyntaxFault::at_offset(text, at.unwrap_or(0), "").column
}

/// The offset at which `part`, a slice of `text`, begins. `None` if it is no slice of it.
pub(crate) fn offset_of_subslice(text: &[u8], part: &[u8]) -> Option<usize> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    (start < text.len()).then_some(start)
}

/// The memory address of the opening quote of a key. A key with escapes was copied out of the text; then it is the
/// address of the value.
fn address_of_key((key, value): (&Cow<'_, str>, &RawValue)) -> usize {
    match key {
        Cow::Borrowed(key) => key.as_ptr().addr() - 1,
        Cow::Owned(_) => value.get().as_ptr().addr(),
    }
}

/// Why an object is refused.
#[derive(Debug)]
pub(crate) struct ObjectFault {
    /// The memory address of the wrong part within the parsed text. `None` for the whole value.
    address: Option<usize>,
    /// The path to the wrong value: `failure.group`, `tags[1]`.
    path: String,
    reason: ObjectFaultReason,
}

#[derive(Debug)]
enum ObjectFaultReason {
    /// The end of a sentence about the value.
    Value(String),
    Missing,
    /// The known names.
    Unknown(&'static [&'static str]),
    Twice(String),
}

impl ObjectFault {
    fn new(reason: ObjectFaultReason) -> ObjectFault {
        ObjectFault {
            address: None,
            path: String::new(),
            reason,
        }
    }

    fn with_address_if_unset(mut self, address: usize) -> ObjectFault {
        self.address.get_or_insert(address);
        self
    }

    /// Prepends a field or an index to the path of the fault, and sets the address if none is set.
    fn prepend_step(mut self, step: &str, value: &RawValue) -> ObjectFault {
        let dot = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{}{dot}{}", sanitize_and_cut_for_message(step), self.path);
        self.with_address_if_unset(value.get().as_ptr().addr())
    }

    fn into_syntax_fault(self, text: &[u8]) -> SyntaxFault {
        let start = text.as_ptr().addr();
        let at = self
            .address
            .map_or(0, |address| address.saturating_sub(start));
        let mut fault = SyntaxFault::at_offset(text, at, self.to_string());
        if let ObjectFaultReason::Unknown(known) = self.reason {
            let name = self.path;
            fault.unknown = Some(UnknownField { name, known });
        }
        fault
    }
}

impl fmt::Display for ObjectFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.reason {
            ObjectFaultReason::Value(what) if path.is_empty() => write!(f, "it {what}"),
            ObjectFaultReason::Value(what) => write!(f, "`{path}` {what}"),
            ObjectFaultReason::Missing => write!(f, "there is no `{path}` in it"),
            ObjectFaultReason::Unknown(_) => write!(f, "no field is called `{path}`"),
            ObjectFaultReason::Twice(name) => write!(f, "`{name}` stands here twice"),
        }
    }
}

impl std::error::Error for ObjectFault {}

impl de::Error for ObjectFault {
    fn custom<T: fmt::Display>(what: T) -> ObjectFault {
        ObjectFault::new(ObjectFaultReason::Value(what.to_string()))
    }

    fn invalid_type(found: Unexpected, expected: &dyn Expected) -> ObjectFault {
        let found = match found {
            Unexpected::Str(text) => format!("`\"{}\"`", sanitize_and_cut_for_message(text)),
            Unexpected::Bool(flag) => format!("`{flag}`"),
            Unexpected::Unsigned(number) => format!("`{number}`"),
            Unexpected::Signed(number) => format!("`{number}`"),
            Unexpected::Float(number) => format!("`{number}`"),
            Unexpected::Seq => JsonType::Array.name_with_article().to_owned(),
            Unexpected::Map => JsonType::Object.name_with_article().to_owned(),
            _ => JsonType::Null.name_with_article().to_owned(),
        };
        ObjectFault::custom(format!("expects {expected}, not {found}"))
    }

    fn invalid_value(found: Unexpected, expected: &dyn Expected) -> ObjectFault {
        ObjectFault::invalid_type(found, expected)
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> ObjectFault {
        let known = known.join(", ");
        ObjectFault::custom(format!(
            "expects one of {known}, not `{}`",
            sanitize_and_cut_for_message(found)
        ))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> ObjectFault {
        ObjectFault {
            path: sanitize_and_cut_for_message(name),
            ..ObjectFault::new(ObjectFaultReason::Unknown(known))
        }
    }

    fn missing_field(name: &'static str) -> ObjectFault {
        ObjectFault {
            path: name.to_owned(),
            ..ObjectFault::new(ObjectFaultReason::Missing)
        }
    }
}

/// A wrong value for a message: a string, number or boolean itself, cut if it is long, or the name of any other type.
pub(crate) fn describe_found_value(value: &RawValue) -> String {
    match JsonType::from_text(value.get().as_bytes()) {
        JsonType::String | JsonType::Number | JsonType::Bool => {
            format!("`{}`", sanitize_and_cut_for_message(value.get()))
        }
        shape => shape.name_with_article().to_owned(),
    }
}

/// A text of the file for a message.
pub(crate) fn sanitize_and_cut_for_message(text: &str) -> String {
    cut_with_ellipsis(&Sanitized(text).to_string(), 60)
}

/// The text of a JSON string whose syntax was checked.
pub(crate) fn string_text(string: &RawValue) -> Cow<'_, str> {
    let text = string.get();
    // The text of a string has its quotes.
    let inside = text.get(1..text.len() - 1).unwrap_or_default();
    if inside.contains('\\') {
        Cow::Owned(serde_json::from_str(string.get()).unwrap_or_default())
    } else {
        Cow::Borrowed(inside)
    }
}

/// A text, borrowed if it has no escapes.
pub(crate) struct CowText<'t>(pub Cow<'t, str>);

impl<'de: 't, 't> Deserialize<'de> for CowText<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CowText<'t>, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = CowText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<CowText<'de>, E> {
                Ok(CowText(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<CowText<'de>, E> {
                Ok(CowText(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// The JSON text of any value or, if there is a field `NAME_bytes`, the bytes from there.
pub(crate) struct RawJsonOrBytes<'t>(pub Cow<'t, [u8]>);

impl RawJsonOrBytes<'_> {
    /// The name of the newtype struct. By this name, a [`FieldValue`] knows that the raw text is requested.
    const NAME: &'static str = "RawJsonOrBytes";
}

impl<'de: 't, 't> Deserialize<'de> for RawJsonOrBytes<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawJsonOrBytes<'t>, D::Error> {
        struct RawJsonOrBytesVisitor;

        impl<'de> Visitor<'de> for RawJsonOrBytesVisitor {
            type Value = RawJsonOrBytes<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("base64")
            }

            // The raw JSON text, as the input has it.
            fn visit_borrowed_bytes<E>(self, text: &'de [u8]) -> Result<RawJsonOrBytes<'de>, E> {
                Ok(RawJsonOrBytes(Cow::Borrowed(text)))
            }

            // The exact bytes, which the input has in base64.
            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<RawJsonOrBytes<'de>, E> {
                Ok(RawJsonOrBytes(Cow::Owned(bytes)))
            }
        }

        deserializer.deserialize_newtype_struct(RawJsonOrBytes::NAME, RawJsonOrBytesVisitor)
    }
}

impl<'t> Deserializer<'t> for &ParsedObject<'t> {
    type Error = ObjectFault;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ObjectFault> {
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ObjectFault> {
        let start = self.text.as_ptr().addr();
        let map = FieldAccess {
            object: self,
            fields,
            next: 0,
            bytes_of: None,
        };
        visitor
            .visit_map(map)
            .map_err(|wrong| wrong.with_address_if_unset(start))
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct FieldAccess<'o, 't> {
    object: &'o ParsedObject<'t>,
    fields: &'static [&'static str],
    /// The index of the field that follows the one whose key was read last.
    next: usize,
    /// The field to which the key that was read last refers, if that is a bytes field: `queue` after `queue_bytes`.
    bytes_of: Option<&'static str>,
}

impl FieldAccess<'_, '_> {
    /// The field to which a bytes field refers: `queue` for `queue_bytes`. `None` if `key` is no bytes field.
    fn field_of_bytes_key(&self, key: &str) -> Option<&'static str> {
        let name = key.strip_suffix(BYTES_SUFFIX)?;
        let is_bytes = !self.fields.contains(&key);
        let mut fields = self.fields.iter();
        fields.find(|field| is_bytes && **field == name).copied()
    }

    /// Whether another field of the object has the exact bytes of the field `key`.
    fn has_exact_bytes_field(&self, key: &str) -> bool {
        let has_its_bytes = |(other, raw): &(Cow<str>, &RawValue)| {
            raw.get() != "null" && self.field_of_bytes_key(other) == Some(key)
        };
        self.object.fields.iter().any(has_its_bytes)
    }
}

impl<'t> de::MapAccess<'t> for FieldAccess<'_, 't> {
    type Error = ObjectFault;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ObjectFault> {
        while let Some((key, raw)) = self.object.fields.get(self.next) {
            self.next += 1;
            let mut is_replaced = false;
            if self.object.follows_document_field_rules() {
                self.bytes_of = self.field_of_bytes_key(key);
                is_replaced = match self.bytes_of {
                    Some(_) => raw.get() == "null",
                    None => self.has_exact_bytes_field(key),
                };
            }
            if !is_replaced {
                let name = Cow::Borrowed(self.bytes_of.unwrap_or(key));
                let read = seed.deserialize(CowStrDeserializer::<ObjectFault>::new(name));
                let address = address_of_key((key, raw));
                return read
                    .map(Some)
                    .map_err(|wrong| wrong.with_address_if_unset(address));
            }
        }
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'t>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, ObjectFault> {
        let last = self.next.checked_sub(1);
        let field = last.and_then(|at| self.object.fields.get(at));
        let (key, raw) = field.ok_or_else(|| ObjectFault::custom("has no key"))?;
        let read = seed.deserialize(FieldValue {
            raw,
            encoding: self.object.encoding,
            is_base64: self.bytes_of.is_some(),
        });
        read.map_err(|wrong| wrong.prepend_step(key, raw))
    }
}

/// The value of a field, or an element of a list.
#[derive(Clone, Copy)]
struct FieldValue<'t> {
    raw: &'t RawValue,
    encoding: FieldConvention,
    /// Whether the strings in the value are base64 of the exact bytes.
    is_base64: bool,
}

impl<'t> Deserializer<'t> for FieldValue<'t> {
    type Error = ObjectFault;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ObjectFault> {
        let json = self.raw.get();
        match JsonType::from_text(json.as_bytes()) {
            JsonType::Array => self.deserialize_seq(visitor),
            JsonType::String if self.is_base64 => {
                let bytes = STANDARD.decode(string_text(self.raw).as_bytes());
                visitor.visit_byte_buf(bytes.map_err(|_| self.wrong_type("base64"))?)
            }
            _ if self.is_base64 => Err(self.wrong_type("base64")),
            JsonType::Object => ParsedObject::from_value(self)?.deserialize_any(visitor),
            JsonType::String => match string_text(self.raw) {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            JsonType::Bool => visitor.visit_bool(json == "true"),
            JsonType::Null => visitor.visit_unit(),
            JsonType::Number => match (json.parse(), json.parse()) {
                (Ok(number), _) => visitor.visit_u64(number),
                (_, Ok(number)) => visitor.visit_i64(number),
                _ => visitor.visit_f64(json.parse().map_err(ObjectFault::custom)?),
            },
        }
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ObjectFault> {
        if self.raw.get() == "null" && self.encoding == FieldConvention::Document {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    /// `RawJsonOrBytes` and serde_json's `RawValue` request the raw text by the name of a newtype struct.
    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ObjectFault> {
        if name == RawJsonOrBytes::NAME {
            return if self.is_base64 {
                self.deserialize_any(visitor)
            } else {
                visitor.visit_borrowed_bytes(self.raw.get().as_bytes())
            };
        }
        if !name.starts_with("$serde_json") {
            return visitor.visit_newtype_struct(self);
        }
        let mut json = serde_json::Deserializer::from_str(self.raw.get());
        let read = json.deserialize_newtype_struct(name, visitor);
        read.map_err(ObjectFault::custom)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ObjectFault> {
        match JsonType::from_text(self.raw.get().as_bytes()) {
            JsonType::Object => {
                ParsedObject::from_value(self)?.deserialize_struct(name, fields, visitor)
            }
            _ => Err(self.wrong_type("an object")),
        }
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ObjectFault> {
        match JsonType::from_text(self.raw.get().as_bytes()) {
            JsonType::String => visitor.visit_enum(CowStrDeserializer::<ObjectFault>::new(
                string_text(self.raw),
            )),
            _ => Err(self.wrong_type("a text")),
        }
    }

    /// Refuses `{}`, too, which elsewhere counts as an empty list of the core.
    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ObjectFault> {
        if JsonType::from_text(self.raw.get().as_bytes()) != JsonType::Array {
            return Err(self.wrong_type("a list"));
        }
        let elements: Vec<&RawValue> =
            serde_json::from_str(self.raw.get()).map_err(ObjectFault::custom)?;
        visitor.visit_seq(ElementAccess {
            elements: elements.into_iter(),
            next: 0,
            list: self,
        })
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit
        unit_struct tuple tuple_struct map identifier ignored_any
    }
}

impl FieldValue<'_> {
    fn wrong_type(&self, expected: &str) -> ObjectFault {
        ObjectFault::custom(format!(
            "expects {expected}, not {}",
            describe_found_value(self.raw)
        ))
    }
}

struct ElementAccess<'t> {
    elements: IntoIter<&'t RawValue>,
    next: usize,
    list: FieldValue<'t>,
}

impl<'t> de::SeqAccess<'t> for ElementAccess<'t> {
    type Error = ObjectFault;

    fn next_element_seed<T: DeserializeSeed<'t>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ObjectFault> {
        let Some(raw) = self.elements.next() else {
            return Ok(None);
        };
        let at = self.next;
        self.next += 1;
        let value = FieldValue { raw, ..self.list };
        let read = seed.deserialize(value);
        read.map(Some)
            .map_err(|wrong| wrong.prepend_step(&format!("[{at}]"), raw))
    }
}
