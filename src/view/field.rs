//! One value of a document, found by its path.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Picked {
    /// A string, without its quotes.
    Text(String),
    /// Any other value, as JSON.
    Json(String),
    /// Nothing; the document knows these fields.
    Unknown(Vec<String>),
    /// The field is there, but not what is wanted in it.
    Nothing,
}

/// Finds `data.user` or `tags.0` in a document. A key that contains dots is found by its whole
/// name before its parts are looked for.
pub(crate) fn pick(document: &str, path: &str) -> Picked {
    let fields = members(document);
    let first = path.split('.').next().unwrap_or_default();
    match fields.iter().any(|(key, _)| key == path || key == first) {
        true => within(document, path).unwrap_or(Picked::Nothing),
        false => Picked::Unknown(fields.into_iter().map(|(key, _)| key).collect()),
    }
}

fn within(value: &str, path: &str) -> Option<Picked> {
    let members = members(value);
    let ends = path
        .match_indices('.')
        .map(|(at, _)| at)
        .chain([path.len()]);
    let mut ends: Vec<usize> = ends.collect();
    ends.reverse();
    for end in ends {
        let (key, rest) = (&path[..end], path[end..].strip_prefix('.'));
        // The last of two members with one name counts, as everywhere.
        let member = members
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value);
        let Some(member) = member.or_else(|| element(value, key)) else {
            continue;
        };
        let found = match rest {
            None => Some(bare(member)),
            Some(rest) => within(member.get(), rest),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn bare(value: &RawValue) -> Picked {
    match serde_json::from_str(value.get()) {
        Ok(text) => Picked::Text(text),
        Err(_) => Picked::Json(value.get().to_owned()),
    }
}

fn element<'a>(value: &'a str, at: &str) -> Option<&'a RawValue> {
    let elements: Vec<&RawValue> = serde_json::from_str(value).ok()?;
    elements.get(at.parse::<usize>().ok()?).copied()
}

/// Returns the members of an object in their order; none of anything else.
fn members(value: &str) -> Vec<(String, &RawValue)> {
    struct InOrder;

    impl<'de> Visitor<'de> for InOrder {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }

    serde_json::Deserializer::from_str(value)
        .deserialize_map(InOrder)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = concat!(
        r#"{"jid":"j","failure":{"message":"a\nb"},"tags":["x","y"],"worker":null,"#,
        r#""data":{"user":9007199254740993,"a.b":{"c":[]},"l":[{"k":1.10}]}}"#
    );

    fn json(text: &str) -> Picked {
        Picked::Json(text.to_owned())
    }

    fn text(text: &str) -> Picked {
        Picked::Text(text.to_owned())
    }

    #[test]
    fn values_are_found_by_their_path() {
        assert_eq!(pick(JOB, "jid"), text("j"));
        assert_eq!(pick(JOB, "failure.message"), text("a\nb"));
        assert_eq!(pick(JOB, "tags.1"), text("y"));
        assert_eq!(pick(JOB, "worker"), json("null"));
        assert_eq!(pick(JOB, "data.user"), json("9007199254740993"));
        assert_eq!(pick(JOB, "data.a.b.c"), json("[]"));
        assert_eq!(pick(JOB, "data.l.0.k"), json("1.10"));
    }

    #[test]
    fn what_is_not_there_is_told_apart_from_what_cannot_be() {
        assert_eq!(pick(JOB, "data.nope"), Picked::Nothing);
        assert_eq!(pick(JOB, "tags.7"), Picked::Nothing);
        assert_eq!(pick(JOB, "failure.message.x"), Picked::Nothing);
        let known = ["jid", "failure", "tags", "worker", "data"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(pick(JOB, "failre"), Picked::Unknown(known));
    }
}
