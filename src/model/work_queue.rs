//! A queue argument of `qless work`: names of queues, their weight, and whether the argument excludes them.

use super::pattern::NamePattern;
use crate::name::{self, Name};

/// The maximum `WEIGHT` of a queue.
const MAX_WEIGHT: u32 = 1000;

/// A queue argument of `qless work`: `NAME`, `NAME=WEIGHT`, a glob, `@NAME` for a stored identifier pattern, or `!NAME`
/// to exclude queues.
#[derive(Clone, Debug)]
pub(crate) struct QueueSelector {
    pub names: PatternOrIdentifier,
    /// The queue's weight in the weighted round-robin over all queues.
    pub weight: u32,
    pub is_excluded: bool,
}

/// How a queue argument names queues: by a pattern, or by the name of a stored identifier pattern.
#[derive(Clone, Debug)]
pub(crate) enum PatternOrIdentifier {
    Matching(NamePattern),
    /// The queues of the stored identifier pattern with this name.
    Stored(Name),
}

impl QueueSelector {
    /// Parses a queue argument. The error is the end of the message "… expects …".
    pub(crate) fn parse(input: &Name) -> Result<QueueSelector, String> {
        let text = input.as_bytes();
        let (text, is_excluded) = match text.strip_prefix(b"!") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let equals = text.iter().rposition(|byte| *byte == b'=');
        let (name, weight) = match equals.map(|at| (&text[..at], &text[at + 1..])) {
            Some((name, input)) if looks_like_weight(input) => (name, parse_weight(input)?),
            _ => (text, 1),
        };
        let names = match name.strip_prefix(b"@") {
            Some(b"") => return Err("the name of an identifier pattern".to_owned()),
            Some(name) => PatternOrIdentifier::Stored(Name::from(name)),
            None if name.is_empty() => return Err("the name of a queue".to_owned()),
            None => PatternOrIdentifier::Matching(NamePattern::parse(Name::from(name))?),
        };
        Ok(QueueSelector {
            names,
            weight,
            is_excluded,
        })
    }

    /// The argument that names exactly this queue: characters with a special meaning are escaped.
    pub(crate) fn escape_queue_argument(name: &Name) -> Name {
        let mut text = name::escape_wildcards(name).into_bytes();
        if matches!(text.first(), Some(b'!' | b'@' | b'-')) {
            text.insert(0, b'\\');
        }
        let mut parts = text.rsplitn(2, |byte| *byte == b'=');
        let last = parts.next().unwrap_or_default();
        if parts.next().is_some() && looks_like_weight(last) {
            text.extend(b"=1");
        }
        Name::from(text)
    }

    /// The name of the queue, if the argument is a name without wildcards.
    pub(crate) fn as_plain_name(&self) -> Option<&Name> {
        match &self.names {
            PatternOrIdentifier::Matching(pattern) => pattern.as_plain_name(),
            PatternOrIdentifier::Stored(_) => None,
        }
    }
}

/// Whether the text behind the last `=` is a weight, perhaps an invalid one: empty, or a number such as `0` or `1.5`.
/// An invalid weight is an error, because as part of the name it would name a queue that does not exist.
fn looks_like_weight(text: &[u8]) -> bool {
    let is_number = std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok());
    // `parse` accepts `inf` and `nan`, which are not weights: require a digit.
    text.is_empty() || is_number && text.iter().any(u8::is_ascii_digit)
}

fn parse_weight(text: &[u8]) -> Result<u32, String> {
    let digits = Some(text).filter(|text| text.iter().all(u8::is_ascii_digit));
    digits
        .and_then(|text| std::str::from_utf8(text).ok()?.parse().ok())
        .filter(|weight| (1..=MAX_WEIGHT).contains(weight))
        .ok_or_else(|| format!("a weight between 1 and {MAX_WEIGHT}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_text_of_a_name_means_this_name() {
        for (name, text) in [
            ("mail", "mail"),
            ("kk*", r"kk\*"),
            ("ww=3", "ww=3=1"),
            ("w=", "w==1"),
            ("a=b", "a=b"),
            ("!neg", r"\!neg"),
            ("@at", r"\@at"),
            ("-x", r"\-x"),
            ("!a?=2", r"\!a\?=2=1"),
            (r"b\[", r"b\\\["),
        ] {
            let name = Name::from(name);
            let input = QueueSelector::escape_queue_argument(&name);
            assert_eq!(input, Name::from(text));
            let read = QueueSelector::parse(&input).unwrap();
            assert_eq!(read.as_plain_name(), Some(&name), "{text}");
            assert_eq!((read.weight, read.is_excluded), (1, false), "{text}");
        }
    }
}
