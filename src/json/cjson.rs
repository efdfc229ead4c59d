//! Reads JSON that the core wrote with `cjson`: a missing value may be `false`, an empty list may be `{}`, and a number
//! may have a fraction. The text is a [`lossless_text`](crate::name::lossless_text).

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::name::{Name, bytes_of_lossless_text};

/// The bytes of a text; none for `false`.
pub(crate) fn read_bytes_or_false<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    TextOrFalse::deserialize(from).map(|text| text.0)
}

/// A text; an empty one for `false`.
pub(crate) fn read_text_or_false<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    TextOrFalse::deserialize(from).map(|text| text.0.into())
}

/// A text; `None` for `false` and for an empty one.
pub(crate) fn read_non_empty_text<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Name>, D::Error> {
    let text = TextOrFalse::deserialize(from)?.0;
    Ok((!text.is_empty()).then(|| text.into()))
}

/// A list of texts.
pub(crate) fn read_texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Name>, D::Error> {
    struct TextsVisitor;
    impl<'de> Visitor<'de> for TextsVisitor {
        type Value = Vec<Name>;
        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a list of texts")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<Name>, A::Error> {
            let mut names = Vec::new();
            while let Some(TextOrFalse(name)) = items.next_element()? {
                names.push(name.into());
            }
            Ok(names)
        }
        // An empty list is `{}`. No reply has members in it.
        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Vec<Name>, A::Error> {
            while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Vec::new())
        }
    }
    from.deserialize_any(TextsVisitor)
}

/// A number without its fraction.
pub(crate) fn read_truncated_number<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    f64::deserialize(from).map(|number| number as i64)
}

/// A number without its fraction, or null.
pub(crate) fn read_truncated_number_or_null<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<u64>, D::Error> {
    let number = Option::<f64>::deserialize(from)?;
    Ok(number.map(|number| number as u64))
}

/// The payloads of a merge job, each a pair of a text and the digits of its score.
pub(crate) fn read_payloads_with_scores<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(Vec<u8>, String)>, D::Error> {
    let pairs = Vec::<(TextOrFalse, &RawValue)>::deserialize(from)?;
    let pairs = pairs.into_iter();
    Ok(pairs
        .map(|(text, score)| (text.0, score.get().to_owned()))
        .collect())
}

/// A text; an empty one for `false`.
struct TextOrFalse(Vec<u8>);

impl<'de> Deserialize<'de> for TextOrFalse {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TextOrFalse, D::Error> {
        struct TextOrFalseVisitor;
        impl Visitor<'_> for TextOrFalseVisitor {
            type Value = TextOrFalse;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a text or false")
            }
            fn visit_str<E>(self, text: &str) -> Result<TextOrFalse, E> {
                Ok(TextOrFalse(bytes_of_lossless_text(text)))
            }
            fn visit_bool<E>(self, _: bool) -> Result<TextOrFalse, E> {
                Ok(TextOrFalse(Vec::new()))
            }
        }
        from.deserialize_any(TextOrFalseVisitor)
    }
}
