//! Finds one value of a document by its path.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::OrderedFields;

/// The result of the search for a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FieldLookup {
    /// A string, without its quotes.
    Text(String),
    /// Any other value, as JSON.
    Json(String),
    /// No such field. The document has these.
    Unknown(Vec<String>),
    /// The first field of the path exists, but the rest of the path leads to nothing.
    Nothing,
}

/// Finds the value at a path such as `data.user` or `tags.0` in a document. Keys may contain dots: the longest key
/// that matches is tried first.
pub(crate) fn find_field(document: &str, path: &str) -> FieldLookup {
    let fields = object_fields(document);
    let first = path.split('.').next().unwrap_or_default();
    if fields.iter().any(|(key, _)| key == path || key == first) {
        find_in_value(document, path).unwrap_or(FieldLookup::Nothing)
    } else {
        FieldLookup::Unknown(fields.into_iter().map(|(key, _)| key.into()).collect())
    }
}

/// Finds a path in a JSON value.
fn find_in_value(value: &str, path: &str) -> Option<FieldLookup> {
    let fields = object_fields(value);
    let ends = path
        .match_indices('.')
        .map(|(at, _)| at)
        .chain([path.len()]);
    let mut ends: Vec<usize> = ends.collect();
    ends.reverse();
    for end in ends {
        let (key, rest) = (&path[..end], path[end..].strip_prefix('.'));
        // If an object has two fields with one name, the last one counts.
        let field = fields
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value);
        let Some(field) = field.or_else(|| list_element(value, key)) else {
            continue;
        };
        let found = match rest {
            None => Some(text_or_json_lookup(field)),
            Some(rest) => find_in_value(field.get(), rest),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The value as a result.
fn text_or_json_lookup(value: &RawValue) -> FieldLookup {
    match serde_json::from_str(value.get()) {
        Ok(text) => FieldLookup::Text(text),
        Err(_) => FieldLookup::Json(value.get().to_owned()),
    }
}

fn list_element<'a>(value: &'a str, index: &str) -> Option<&'a RawValue> {
    let elements: Vec<&RawValue> = serde_json::from_str(value).ok()?;
    elements.get(index.parse::<usize>().ok()?).copied()
}

/// The fields of a JSON object in their order. A value that is not an object has none.
fn object_fields(value: &str) -> Vec<(Cow<'_, str>, &RawValue)> {
    serde_json::from_str(value).map_or_else(|_| Vec::new(), |OrderedFields(fields)| fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = concat!(
        r#"{"jid":"j","failure":{"message":"a\nb"},"tags":["x","y"],"worker":null,"#,
        r#""data":{"user":9007199254740993,"a.b":{"c":[]},"l":[{"k":1.10}]}}"#
    );

    fn json(text: &str) -> FieldLookup {
        FieldLookup::Json(text.to_owned())
    }

    fn text(text: &str) -> FieldLookup {
        FieldLookup::Text(text.to_owned())
    }

    #[test]
    fn values_are_found_by_their_path() {
        assert_eq!(find_field(JOB, "jid"), text("j"));
        assert_eq!(find_field(JOB, "failure.message"), text("a\nb"));
        assert_eq!(find_field(JOB, "tags.1"), text("y"));
        assert_eq!(find_field(JOB, "worker"), json("null"));
        assert_eq!(find_field(JOB, "data.user"), json("9007199254740993"));
        assert_eq!(find_field(JOB, "data.a.b.c"), json("[]"));
        assert_eq!(find_field(JOB, "data.l.0.k"), json("1.10"));
    }
}
