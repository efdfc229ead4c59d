//! Quotes names and texts as JSON for the core, byte for byte.

/// `text` as a JSON string. Bytes that are not UTF-8 stay as they are; the core's decoder
/// preserves them.
pub(crate) fn quote_string(text: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(text.len() + 2);
    quoted.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            0..0x20 => quoted.extend(format!("\\u{byte:04x}").bytes()),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    quoted
}

/// `text` as a JSON string exactly as the core's encoder writes it.
pub(crate) fn quote_as_core(text: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(text.len() + 2);
    quoted.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' | b'/' => quoted.extend([b'\\', byte]),
            0x08 => quoted.extend(b"\\b"),
            b'\t' => quoted.extend(b"\\t"),
            b'\n' => quoted.extend(b"\\n"),
            0x0c => quoted.extend(b"\\f"),
            b'\r' => quoted.extend(b"\\r"),
            0..0x20 | 0x7f => quoted.extend(format!("\\u{byte:04x}").bytes()),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    quoted
}

/// The texts as a JSON array of strings.
pub(crate) fn quote_array<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut array = vec![b'['];
    for text in texts {
        if array.len() > 1 {
            array.push(b',');
        }
        array.extend(quote_string(text.as_ref()));
    }
    array.push(b']');
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_valid_json() {
        let text = "a\"b\\c\u{1}\n\u{e9}";
        assert_eq!(
            serde_json::from_slice::<String>(&quote_string(text.as_bytes())).unwrap(),
            text
        );
        assert_eq!(quote_array([b"a".as_slice(), b"\""]), b"[\"a\",\"\\\"\"]");
        assert_eq!(quote_array::<&[u8]>([]), b"[]");
    }
}
