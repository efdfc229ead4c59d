//! Reads the replies of the core with serde.
//!
//! - A list is a sequence or a tuple. A struct is read by name from a list of names and values
//!   (`name, value, name, value`); names that it lacks are skipped.
//! - A struct that is renamed `row` is read by position. Its last field, if renamed `..`, takes all
//!   that is left.
//! - An enum is a word, or a list of the word and its values.
//! - nil is `None`. A text is a name, bytes or a number: a count (`u64`) that is no number is 0, as in
//!   the core; any other number must be one. A `bool` is `1` if true.

use std::fmt::Display;

use serde::de::value::{BytesDeserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::Value;

/// Why a reply cannot be read: the field, then what is wrong with it.
#[derive(Debug)]
pub(super) struct ReplyFault(String);

impl Display for ReplyFault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReplyFault {}

impl serde::de::Error for ReplyFault {
    fn custom<T: Display>(what: T) -> ReplyFault {
        ReplyFault(what.to_string())
    }
}

/// A reply, or a part of one.
pub(super) struct ValueDeserializer(pub(super) Value);

impl ValueDeserializer {
    fn into_bytes(self) -> Result<Vec<u8>, ReplyFault> {
        match self.0 {
            Value::BulkString(bytes) => Ok(bytes),
            Value::SimpleString(text) => Ok(text.into_bytes()),
            Value::Okay => Ok(b"OK".to_vec()),
            Value::Int(number) => Ok(number.to_string().into_bytes()),
            Value::Nil => Err(ReplyFault::custom("nil in place of a text")),
            _ => Err(ReplyFault::custom("not a text")),
        }
    }

    fn into_elements(self) -> Result<std::vec::IntoIter<Value>, ReplyFault> {
        match self.0 {
            Value::Array(items) => Ok(items.into_iter()),
            _ => Err(ReplyFault::custom("not a list")),
        }
    }

    /// Reads a number from the text of a field, or from an integer.
    fn parse_finite_decimal<T: std::str::FromStr>(self) -> Result<T, ReplyFault> {
        let text = self.into_bytes()?;
        let text = std::str::from_utf8(&text).ok();
        text.and_then(|text| text.trim().parse().ok())
            .ok_or_else(|| ReplyFault::custom("not a number"))
    }
}

impl<'de> Deserializer<'de> for ValueDeserializer {
    type Error = ReplyFault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReplyFault> {
        match self.0 {
            Value::Nil => visitor.visit_unit(),
            Value::Array(items) => visitor.visit_seq(ReplyItems::new(items.into_iter())),
            _ => visitor.visit_byte_buf(self.into_bytes()?),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReplyFault> {
        match self.0 {
            Value::Nil => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReplyFault> {
        visitor.visit_bool(self.into_bytes()? == b"1")
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReplyFault> {
        let text = self.into_bytes()?;
        let number = ValueDeserializer(Value::BulkString(text)).parse_finite_decimal::<f64>();
        visitor.visit_u64(number.unwrap_or(0.0) as u64)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReplyFault> {
        visitor.visit_i64(self.parse_finite_decimal()?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReplyFault> {
        visitor.visit_f64(self.parse_finite_decimal()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReplyFault> {
        visitor.visit_str(&String::from_utf8_lossy(&self.into_bytes()?))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReplyFault> {
        visitor.visit_map(PairAccess {
            items: self.into_elements()?,
            name: Vec::new(),
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReplyFault> {
        if name == "row" {
            let (items, fields) = (self.into_elements()?, fields.iter());
            visitor.visit_seq(ReplyItems { items, fields })
        } else {
            self.deserialize_map(visitor)
        }
    }

    /// Reads a variant from its name, or from an array of its name and its content.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReplyFault> {
        let mut items = match self.0 {
            Value::Array(items) => items.into_iter(),
            word => vec![word].into_iter(),
        };
        let word = items.next().unwrap_or(Value::Nil);
        let word = ValueDeserializer(word).into_bytes()?;
        visitor.visit_enum(VariantDeserializer { word, items })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReplyFault> {
        visitor.visit_newtype_struct(self)
    }

    /// Accepts any reply, because the caller does not use it.
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReplyFault> {
        visitor.visit_unit()
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReplyFault> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u128 f32 char str bytes byte_buf unit_struct seq tuple
        tuple_struct identifier
    }
}

/// A list of values, or of the fields of a struct.
struct ReplyItems {
    items: std::vec::IntoIter<Value>,
    fields: std::slice::Iter<'static, &'static str>,
}

impl ReplyItems {
    fn new(items: std::vec::IntoIter<Value>) -> ReplyItems {
        let fields = [].iter();
        ReplyItems { items, fields }
    }
}

impl<'de> SeqAccess<'de> for ReplyItems {
    type Error = ReplyFault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReplyFault> {
        let field = self.fields.next().copied();
        let item = match field {
            Some("..") => Some(Value::Array(self.items.by_ref().collect())),
            _ => self.items.next(),
        };
        let item = item
            .map(|item| seed.deserialize(ValueDeserializer(item)))
            .transpose();
        item.map_err(|ReplyFault(what)| match field {
            Some(field) => ReplyFault(format!("`{field}`: {what}")),
            None => ReplyFault(what),
        })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// A list of names and values in turn.
struct PairAccess {
    items: std::vec::IntoIter<Value>,
    /// The name whose value is next.
    name: Vec<u8>,
}

impl<'de> MapAccess<'de> for PairAccess {
    type Error = ReplyFault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReplyFault> {
        self.name = loop {
            let Some(name) = self.items.next() else {
                return Ok(None);
            };
            // If a name occurs several times, as in the row of a damaged job, its last value counts.
            if self
                .items
                .as_slice()
                .iter()
                .skip(1)
                .step_by(2)
                .any(|other| *other == name)
            {
                self.items.next();
                continue;
            }
            break ValueDeserializer(name).into_bytes()?;
        };
        seed.deserialize(BytesDeserializer::new(&self.name))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ReplyFault> {
        let value = match self.items.next() {
            Some(value) => seed.deserialize(ValueDeserializer(value)),
            None => Err(ReplyFault::custom("no value")),
        };
        value.map_err(|ReplyFault(what)| {
            let name = crate::text::Sanitized(&self.name);
            ReplyFault(format!("`{name}`: {what}"))
        })
    }
}

/// A variant of an enum: its word, then its values.
struct VariantDeserializer {
    word: Vec<u8>,
    items: std::vec::IntoIter<Value>,
}

impl<'de> EnumAccess<'de> for VariantDeserializer {
    type Error = ReplyFault;
    type Variant = ReplyItems;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, ReplyItems), ReplyFault> {
        let word = String::from_utf8_lossy(&self.word);
        let word = seed.deserialize(StrDeserializer::new(&word))?;
        Ok((word, ReplyItems::new(self.items)))
    }
}

impl<'de> VariantAccess<'de> for ReplyItems {
    type Error = ReplyFault;

    fn unit_variant(self) -> Result<(), ReplyFault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        mut self,
        seed: T,
    ) -> Result<T::Value, ReplyFault> {
        let value = self.next_element_seed(seed)?;
        value.ok_or_else(|| ReplyFault::custom("no value"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ReplyFault> {
        visitor.visit_seq(self)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReplyFault> {
        visitor.visit_seq(self)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use crate::clock::moment::Moment;
    use crate::core::call::Value::{self, Array, Int, Nil};
    use crate::core::call::reply;
    use crate::lenient;
    use crate::name::Name;

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn texts(words: &[&str]) -> Value {
        Array(words.iter().map(|word| text(word)).collect())
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Queue {
        name: Name,
        waiting: u64,
        paused: bool,
        #[serde(deserialize_with = "lenient::read_or_none")]
        since: Option<Moment>,
        by: Option<Name>,
        jobs: Vec<Name>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename = "row")]
    struct Row {
        total: i64,
        first: Option<Name>,
        #[serde(rename = "..")]
        rest: Vec<Outcome>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Outcome {
        Gone,
        Done(f64),
        NotHolder { state: Name, worker: Name },
    }

    #[test]
    fn names_and_values_are_a_struct() {
        let row = texts(&[
            "name", "q", "new", "x", "waiting", "a few", "paused", "1", "since", "",
        ]);
        let Array(mut items) = row else {
            unreachable!()
        };
        items.extend([text("jobs"), texts(&["a", "b"]), text("by"), Nil]);
        let queue = Queue {
            name: "q".into(),
            paused: true,
            jobs: vec!["a".into(), "b".into()],
            ..Queue::default()
        };
        assert_eq!(
            reply::read_reply::<Queue>("c", Array(items)).unwrap(),
            queue
        );
    }

    #[test]
    fn of_several_values_of_a_name_the_last_counts() {
        let row = texts(&["waiting", "1", "name", "q", "waiting", "2"]);
        assert_eq!(reply::read_reply::<Queue>("c", row).unwrap().waiting, 2);
    }

    #[test]
    fn a_row_is_read_by_position_and_an_enum_by_its_word() {
        let not_holder = texts(&["not_holder", "running", "w"]);
        let row = vec![
            Int(3),
            Nil,
            text("gone"),
            texts(&["done", "1.5"]),
            not_holder,
        ];
        let (state, worker) = ("running".into(), "w".into());
        let rest = vec![
            Outcome::Gone,
            Outcome::Done(1.5),
            Outcome::NotHolder { state, worker },
        ];
        let (total, first) = (3, None);
        let expected = Row { total, first, rest };
        assert_eq!(reply::read_reply::<Row>("c", Array(row)).unwrap(), expected);
    }

    #[test]
    fn an_error_names_the_call_and_the_field() {
        let message = |row| {
            let error = reply::read_reply::<Vec<Queue>>("look.queues", Array(vec![row]));
            error.unwrap_err().message().into_owned()
        };
        let odd = "unexpected reply to `look.queues`: `waiting`: no value";
        assert_eq!(message(texts(&["name", "q", "waiting"])), odd);
        let list = Array(vec![text("waiting"), texts(&[])]);
        let expected = "unexpected reply to `look.queues`: `waiting`: not a text";
        assert_eq!(message(list), expected);
        let row = reply::read_reply::<Row>("look.index", texts(&["many", "a"]));
        let expected = "unexpected reply to `look.index`: `total`: not a number";
        assert_eq!(row.unwrap_err().message(), expected);
    }
}
