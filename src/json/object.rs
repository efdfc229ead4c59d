//! JSON objects of people and programs, read into structs by serde. Each error names the member that is
//! wrong, its value, and its position in the text.

use std::borrow::Cow;
use std::fmt;
use std::vec::IntoIter;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::value::CowStrDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, Expected, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

use super::Members;
use super::syntax::{Shape, SyntaxFault, UnknownMember, refuse_beyond_grammar};
use crate::text::{Sanitized, cut};

/// Reads an object that people write.
pub(crate) fn read<'t, T: Deserialize<'t>>(text: &'t [u8]) -> Result<T, SyntaxFault> {
    Object::parse(text, ObjectForm::Exact)?.read()
}

/// How members are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ObjectForm {
    /// As they are.
    Exact,
    /// `null` counts as missing, and `NAME_bytes` has the exact bytes of the texts of `NAME`, in base64.
    Document,
}

/// The members of an object, each once, in their order.
#[derive(Debug)]
pub(crate) struct Object<'t> {
    text: &'t [u8],
    members: Vec<(Cow<'t, str>, &'t RawValue)>,
    form: ObjectForm,
}

impl<'t> Object<'t> {
    /// Parses a text that is an object.
    pub(crate) fn parse(text: &'t [u8], form: ObjectForm) -> Result<Object<'t>, SyntaxFault> {
        let start = text.len() - text.trim_ascii_start().len();
        match text.get(start) {
            Some(b'{') => {}
            Some(_) => return Err(SyntaxFault::found(text, start, "expected an object, not")),
            None => {
                return Err(SyntaxFault::at(
                    text,
                    start,
                    "it is empty, an object was expected",
                ));
            }
        }
        let Members(members) =
            serde_json::from_slice(text).map_err(|error| SyntaxFault::syntax(text, &error))?;
        refuse_beyond_grammar(text)?;
        let object = Object {
            text,
            members,
            form,
        };
        object
            .refuse_duplicates()
            .map_err(|wrong| wrong.fault(text))?;
        Ok(object)
    }

    /// Parses the members before the first fault.
    pub(crate) fn parse_start(text: &'t [u8], form: ObjectForm) -> Object<'t> {
        let mut members = Vec::new();
        _ = Members::read_start(text, &mut members);
        Object {
            text,
            members,
            form,
        }
    }

    fn nested(value: Value<'t>) -> Result<Object<'t>, Wrong> {
        let json = value.raw.get();
        let Members(members) = serde_json::from_str(json).map_err(de::Error::custom)?;
        let object = Object {
            text: json.as_bytes(),
            members,
            form: value.form,
        };
        object.refuse_duplicates().map(|()| object)
    }

    fn refuse_duplicates(&self) -> Result<(), Wrong> {
        for (at, (key, raw)) in self.members.iter().enumerate() {
            if self.members[..at].iter().any(|(known, _)| known == key) {
                let wrong = Wrong::new(WrongReason::Twice(shown(key)));
                return Err(wrong.at_address(address_of_key((key, raw))));
            }
        }
        Ok(())
    }

    /// Reads one member; `None` if it is missing or `null`.
    pub(crate) fn member<T: Deserialize<'t>>(&self, name: &str) -> Result<Option<T>, SyntaxFault> {
        let find = |name: &str| self.members.iter().find(|(key, _)| key == name);
        let twin = format!("{name}{TWIN}");
        let twin = find(&twin).filter(|(_, raw)| raw.get() != "null" && self.is_document());
        let Some((key, raw)) = twin.or_else(|| find(name)) else {
            return Ok(None);
        };
        let value = Value {
            raw,
            form: self.form,
            is_base64: twin.is_some(),
        };
        let read = Option::deserialize(value).map_err(|wrong| wrong.below(key, raw));
        read.map_err(|wrong| wrong.fault(self.text))
    }

    /// Reads one member that must not be missing.
    pub(crate) fn required<T: Deserialize<'t>>(
        &self,
        name: &'static str,
    ) -> Result<T, SyntaxFault> {
        let missing = || Wrong::missing_field(name).fault(self.text);
        self.member(name)?.ok_or_else(missing)
    }

    /// Reads all members.
    pub(crate) fn read<T: Deserialize<'t>>(&self) -> Result<T, SyntaxFault> {
        T::deserialize(self).map_err(|wrong| wrong.fault(self.text))
    }

    /// The error for a member that is wrong.
    pub(crate) fn wrong(&self, name: &str, what: &str) -> SyntaxFault {
        let column = column(self.text, name);
        SyntaxFault {
            column,
            ..SyntaxFault::at(self.text, 0, format!("`{name}` {what}"))
        }
    }

    /// The members in their order, with the text of their values.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &'t RawValue)> {
        self.members.iter().map(|(key, raw)| (&**key, *raw))
    }

    fn is_document(&self) -> bool {
        self.form == ObjectForm::Document
    }
}

use de::Error as _;

/// The end of the name of a member that has exact bytes.
const TWIN: &str = "_bytes";

/// The column of a member's value, or of the object if the member is missing.
pub(crate) fn column(text: &[u8], name: &str) -> usize {
    let object = Object::parse(text, ObjectForm::Exact);
    let object = object.as_ref().map(|object| object.members()).into_iter();
    let value = object.flatten().find(|(key, _)| *key == name);
    let at = value.and_then(|(_, raw)| offset_of(text, raw.get().as_bytes()));
    SyntaxFault::at(text, at.unwrap_or(0), "").column
}

/// The offset of a part that was borrowed from a text.
pub(crate) fn offset_of(text: &[u8], part: &[u8]) -> Option<usize> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    (start < text.len()).then_some(start)
}

/// The address of a key with its quote, or of the value if the key has escapes, and so is a copy.
fn address_of_key((key, value): (&Cow<'_, str>, &RawValue)) -> usize {
    match key {
        Cow::Borrowed(key) => key.as_ptr().addr() - 1,
        Cow::Owned(_) => value.get().as_ptr().addr(),
    }
}

/// Why an object is refused.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// The memory address of what is wrong, a pointer into the text; `None` for the whole value.
    address: Option<usize>,
    /// The members that lead to what is wrong: `failure.group`, `tags[1]`.
    path: String,
    reason: WrongReason,
}

#[derive(Debug)]
enum WrongReason {
    /// The end of a sentence about the value.
    Value(String),
    Missing,
    /// The known names.
    Unknown(&'static [&'static str]),
    Twice(String),
}

impl Wrong {
    fn new(reason: WrongReason) -> Wrong {
        Wrong {
            address: None,
            path: String::new(),
            reason,
        }
    }

    fn at_address(mut self, address: usize) -> Wrong {
        self.address.get_or_insert(address);
        self
    }

    /// Prepends a step to the path of the fault.
    fn below(mut self, step: &str, value: &RawValue) -> Wrong {
        let dot = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{}{dot}{}", shown(step), self.path);
        self.at_address(value.get().as_ptr().addr())
    }

    fn fault(self, text: &[u8]) -> SyntaxFault {
        let start = text.as_ptr().addr();
        let at = self
            .address
            .map_or(0, |address| address.saturating_sub(start));
        let mut fault = SyntaxFault::at(text, at, self.to_string());
        if let WrongReason::Unknown(known) = self.reason {
            let name = self.path;
            fault.unknown = Some(UnknownMember { name, known });
        }
        fault
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.reason {
            WrongReason::Value(what) if path.is_empty() => write!(f, "it {what}"),
            WrongReason::Value(what) => write!(f, "`{path}` {what}"),
            WrongReason::Missing => write!(f, "there is no `{path}` in it"),
            WrongReason::Unknown(_) => write!(f, "no member is called `{path}`"),
            WrongReason::Twice(name) => write!(f, "`{name}` stands here twice"),
        }
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(what: T) -> Wrong {
        Wrong::new(WrongReason::Value(what.to_string()))
    }

    fn invalid_type(found: Unexpected, expected: &dyn Expected) -> Wrong {
        let found = match found {
            Unexpected::Str(text) => format!("`\"{}\"`", shown(text)),
            Unexpected::Bool(flag) => format!("`{flag}`"),
            Unexpected::Unsigned(number) => format!("`{number}`"),
            Unexpected::Signed(number) => format!("`{number}`"),
            Unexpected::Float(number) => format!("`{number}`"),
            Unexpected::Seq => Shape::Array.phrase().to_owned(),
            Unexpected::Map => Shape::Object.phrase().to_owned(),
            _ => Shape::Null.phrase().to_owned(),
        };
        Wrong::custom(format!("expects {expected}, not {found}"))
    }

    fn invalid_value(found: Unexpected, expected: &dyn Expected) -> Wrong {
        Wrong::invalid_type(found, expected)
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Wrong {
        let known = known.join(", ");
        Wrong::custom(format!("expects one of {known}, not `{}`", shown(found)))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Wrong {
        Wrong {
            path: shown(name),
            ..Wrong::new(WrongReason::Unknown(known))
        }
    }

    fn missing_field(name: &'static str) -> Wrong {
        Wrong {
            path: name.to_owned(),
            ..Wrong::new(WrongReason::Missing)
        }
    }
}

/// What a value is that is not as expected: the value itself, if it is short.
pub(crate) fn found(value: &RawValue) -> String {
    match Shape::from_text(value.get().as_bytes()) {
        Shape::String | Shape::Number | Shape::Bool => format!("`{}`", shown(value.get())),
        shape => shape.phrase().to_owned(),
    }
}

/// A text of the file for a message.
pub(crate) fn shown(text: &str) -> String {
    cut(&Sanitized(text).to_string(), 60)
}

/// The text of a JSON string that was checked.
pub(crate) fn text_of(string: &RawValue) -> Cow<'_, str> {
    let inside = string.get().trim_matches('"');
    if inside.contains('\\') {
        Cow::Owned(serde_json::from_str(string.get()).unwrap_or_default())
    } else {
        Cow::Borrowed(inside)
    }
}

/// A text, borrowed if it has no escapes.
pub(crate) struct Text<'t>(pub Cow<'t, str>);

impl<'de: 't, 't> Deserialize<'de> for Text<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'t>, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// The text of any value, or the bytes that a document has beside it.
pub(crate) struct ExactValue<'t>(pub Cow<'t, [u8]>);

impl ExactValue<'_> {
    /// The name under which a [`Value`] is asked for it.
    const NAME: &'static str = "ExactValue";
}

impl<'de: 't, 't> Deserialize<'de> for ExactValue<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ExactValue<'t>, D::Error> {
        struct ExactVisitor;

        impl<'de> Visitor<'de> for ExactVisitor {
            type Value = ExactValue<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("base64")
            }

            fn visit_borrowed_bytes<E>(self, text: &'de [u8]) -> Result<ExactValue<'de>, E> {
                Ok(ExactValue(Cow::Borrowed(text)))
            }

            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<ExactValue<'de>, E> {
                Ok(ExactValue(Cow::Owned(bytes)))
            }
        }

        deserializer.deserialize_newtype_struct(ExactValue::NAME, ExactVisitor)
    }
}

impl<'t> Deserializer<'t> for &Object<'t> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let start = self.text.as_ptr().addr();
        let mut members = Vec::with_capacity(self.members.len());
        let twin = |key: &str| {
            let name = key.strip_suffix(TWIN)?;
            let is_twin = self.is_document() && !fields.contains(&key);
            fields.iter().find(|field| is_twin && **field == name)
        };
        let has_twin = |key: &str| {
            let twin = |(other, raw): &(Cow<str>, &RawValue)| {
                raw.get() != "null" && twin(other).is_some_and(|name| *name == key)
            };
            self.is_document() && self.members.iter().any(twin)
        };
        for (key, raw) in &self.members {
            let name = twin(key);
            let is_replaced = match name {
                Some(_) => raw.get() == "null",
                None => has_twin(key),
            };
            if !is_replaced {
                members.push(Member {
                    key: key.clone(),
                    name: name.copied(),
                    value: Value {
                        raw,
                        form: self.form,
                        is_base64: name.is_some(),
                    },
                });
            }
        }
        let map = MemberAccess {
            members: members.into_iter(),
            current: None,
        };
        visitor
            .visit_map(map)
            .map_err(|wrong| wrong.at_address(start))
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Member<'t> {
    key: Cow<'t, str>,
    /// The name of the member whose bytes it has.
    name: Option<&'static str>,
    value: Value<'t>,
}

struct MemberAccess<'t> {
    members: IntoIter<Member<'t>>,
    current: Option<Member<'t>>,
}

impl<'t> de::MapAccess<'t> for MemberAccess<'t> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        self.current = self.members.next();
        let Some(Member { key, name, value }) = &self.current else {
            return Ok(None);
        };
        let text = name.map_or(Cow::Borrowed(&**key), Cow::Borrowed);
        let read = seed.deserialize(CowStrDeserializer::<Wrong>::new(text));
        let address = address_of_key((key, value.raw));
        read.map(Some).map_err(|wrong| wrong.at_address(address))
    }

    fn next_value_seed<T: DeserializeSeed<'t>>(&mut self, seed: T) -> Result<T::Value, Wrong> {
        let member = self.current.take();
        let Member { key, value, .. } = member.ok_or_else(|| Wrong::custom("has no key"))?;
        let read = seed.deserialize(value);
        read.map_err(|wrong| wrong.below(&key, value.raw))
    }
}

/// The value of a member, or an element of a list.
#[derive(Clone, Copy)]
struct Value<'t> {
    raw: &'t RawValue,
    form: ObjectForm,
    /// Whether its texts are read as base64.
    is_base64: bool,
}

impl<'t> Deserializer<'t> for Value<'t> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let json = self.raw.get();
        match Shape::from_text(json.as_bytes()) {
            Shape::Array => self.deserialize_seq(visitor),
            Shape::String if self.is_base64 => {
                let bytes = STANDARD.decode(text_of(self.raw).as_bytes());
                visitor.visit_byte_buf(bytes.map_err(|_| self.wrong("base64"))?)
            }
            _ if self.is_base64 => Err(self.wrong("base64")),
            Shape::Object => Object::nested(self)?.deserialize_any(visitor),
            Shape::String => match text_of(self.raw) {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Shape::Bool => visitor.visit_bool(json == "true"),
            Shape::Null => visitor.visit_unit(),
            Shape::Number => match (json.parse(), json.parse()) {
                (Ok(number), _) => visitor.visit_u64(number),
                (_, Ok(number)) => visitor.visit_i64(number),
                _ => visitor.visit_f64(json.parse().map_err(Wrong::custom)?),
            },
        }
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Wrong> {
        if self.raw.get() == "null" && self.form == ObjectForm::Document {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    /// A `RawValue` takes its text as it is from `serde_json`, and asks for that by such a name.
    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        if name == ExactValue::NAME {
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
        read.map_err(Wrong::custom)
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match Shape::from_text(self.raw.get().as_bytes()) {
            Shape::Object => Object::nested(self)?.deserialize_struct(name, fields, visitor),
            _ => Err(self.wrong("an object")),
        }
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match Shape::from_text(self.raw.get().as_bytes()) {
            Shape::String => {
                visitor.visit_enum(CowStrDeserializer::<Wrong>::new(text_of(self.raw)))
            }
            _ => Err(self.wrong("a text")),
        }
    }

    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Wrong> {
        if Shape::from_text(self.raw.get().as_bytes()) != Shape::Array {
            return Err(self.wrong("a list"));
        }
        let elements: Vec<&RawValue> =
            serde_json::from_str(self.raw.get()).map_err(Wrong::custom)?;
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

impl Value<'_> {
    fn wrong(&self, expected: &str) -> Wrong {
        Wrong::custom(format!("expects {expected}, not {}", found(self.raw)))
    }
}

struct ElementAccess<'t> {
    elements: IntoIter<&'t RawValue>,
    next: usize,
    list: Value<'t>,
}

impl<'t> de::SeqAccess<'t> for ElementAccess<'t> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'t>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Wrong> {
        let Some(raw) = self.elements.next() else {
            return Ok(None);
        };
        let at = self.next;
        self.next += 1;
        let value = Value { raw, ..self.list };
        let read = seed.deserialize(value);
        read.map(Some)
            .map_err(|wrong| wrong.below(&format!("[{at}]"), raw))
    }
}
