//! Names in the paths of pages, byte for byte.
//!
//! A browser resolves the path parts `.` and `..` and removes empty parts, even if they are percent-encoded. So such a
//! name, and a name that begins with `~`, gets a `~` before it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use crate::name::Name;

/// The characters that are percent-encoded. All others have no special meaning in a path or a query.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// A name as a part of a path.
pub(super) fn encode_part(name: &Name) -> String {
    let bytes = name.as_bytes();
    let needs_mark = matches!(bytes, b"" | b"." | b"..") || bytes.starts_with(b"~");
    let mark = if needs_mark { "~" } else { "" };
    format!("{mark}{}", percent_encode(bytes, ENCODED))
}

/// Maximum length of an encoded name in a link: a request with it and all headers must fit into what a listener reads.
const MAX_PART_LENGTH: usize = 4000;

/// Whether the path of a request can hold this name.
pub(super) fn fits_link_length(name: &Name) -> bool {
    encode_part(name).len() <= MAX_PART_LENGTH
}

/// Whether the name fits into a link and can be an argument of a command: it is not empty and has no NUL.
pub(super) fn fits_link_and_argument(name: &Name) -> bool {
    fits_link_length(name) && !name.is_empty() && !name.as_bytes().contains(&0)
}

/// A value as a part of a query.
pub(super) fn encode_query_value(value: &str) -> String {
    percent_encode(value.as_bytes(), ENCODED).to_string()
}

/// The decoded names in a path, which is given without the `/` at its start.
pub(super) fn decode_path(path: &str) -> Vec<Name> {
    let parts = path.split('/').map(|part| {
        let bytes: Vec<u8> = percent_decode_str(part).collect();
        Name::from(bytes.strip_prefix(b"~").unwrap_or(&bytes))
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_survives_a_path() {
        for name in [
            &b"mail"[..],
            b"",
            b".",
            b"..",
            b"~",
            b"~.",
            b"a/b?c#d%e f",
            b"\xff\x00\n",
            "🦀".as_bytes(),
        ] {
            let name = Name::from(name);
            let text = encode_part(&name);
            assert!(
                !text.is_empty() && !text.contains(['/', '?', '#', ' ']),
                "{text}"
            );
            assert_eq!(decode_path(&text), [name]);
        }
        assert_eq!(
            decode_path("jobs/a%2Fb"),
            [Name::from("jobs"), Name::from("a/b")]
        );
    }
}
