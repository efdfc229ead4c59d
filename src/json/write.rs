//! Writes documents. A name that is not UTF-8 also gets a field with its bytes. Characters that a terminal would act on
//! are escaped.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter};

use crate::name::escape_invalid_utf8;
use crate::text::is_harmful_to_terminal;

/// Writes a value over several lines, with the characters escaped that a terminal would act on.
pub(crate) fn write_sanitized_pretty<T: Serialize + ?Sized>(
    value: &T,
    into: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let formatter = DocumentFormatter::new(PrettyFormatter::new(), true);
    value.serialize(&mut Serializer::with_formatter(into, formatter))
}

/// Writes a value on one line, sanitized.
pub(crate) fn write_sanitized_compact<T: Serialize + ?Sized>(
    value: &T,
    into: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let formatter = DocumentFormatter::new(CompactFormatter, true);
    value.serialize(&mut Serializer::with_formatter(into, formatter))
}

/// Writes a value on one line for programs, and escapes nothing beyond JSON: embedded JSON keeps its bytes.
pub(crate) fn write_unsanitized_compact<T: Serialize + ?Sized>(
    value: &T,
    into: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let formatter = DocumentFormatter::new(CompactFormatter, false);
    value.serialize(&mut Serializer::with_formatter(into, formatter))
}

/// A formatter for documents. [`Name`](crate::name::Name) serializes itself as bytes if it is not UTF-8. The formatter
/// writes such a name as text with `\xff`, and adds a field: after `queue` comes `queue_bytes`, with the bytes in
/// base64. After a list with such a name comes a list with the bytes of all its names.
struct DocumentFormatter<F> {
    inner: F,
    /// Whether to escape characters that JSON allows but a terminal would act on, such as DEL, C1 and bidirectional
    /// controls.
    sanitizes: bool,
    in_key: bool,
    /// For each object that is being written, outermost first, the field that is being written.
    fields: Vec<CurrentField>,
}

#[derive(Default)]
struct CurrentField {
    key: String,
    is_list: bool,
    /// The value of the field if it is a name that is not UTF-8, or all strings of its list.
    names: Vec<Vec<u8>>,
    /// Whether one of the names is not UTF-8.
    needs_bytes: bool,
}

impl<F: Formatter> DocumentFormatter<F> {
    fn new(inner: F, sanitizes: bool) -> DocumentFormatter<F> {
        DocumentFormatter {
            inner,
            sanitizes,
            in_key: false,
            fields: Vec::new(),
        }
    }

    /// Adds a part of a string to the key of the field, or to the last string of its list.
    fn append_to_key_or_names(&mut self, part: &str) {
        let Some(field) = self.fields.last_mut() else {
            return;
        };
        if self.in_key {
            field.key.push_str(part);
        } else if field.is_list
            && let Some(name) = field.names.last_mut()
        {
            name.extend(part.as_bytes());
        }
    }

    fn write_sanitized_if_enabled<W: ?Sized + Write>(
        &self,
        w: &mut W,
        text: &str,
    ) -> io::Result<()> {
        if self.sanitizes {
            write_with_harmful_escaped(w, text)
        } else {
            w.write_all(text.as_bytes())
        }
    }

    /// Writes the field `NAME_bytes` after the field `NAME`.
    fn write_bytes_field_in_base64<W: ?Sized + Write>(
        &mut self,
        w: &mut W,
        field: &CurrentField,
    ) -> io::Result<()> {
        self.inner.begin_object_key(w, false)?;
        serde_json::to_writer(&mut *w, &format!("{}_bytes", field.key))?;
        self.inner.end_object_key(w)?;
        self.inner.begin_object_value(w)?;
        if field.is_list {
            self.inner.begin_array(w)?;
        }
        for (at, name) in field.names.iter().enumerate() {
            if field.is_list {
                self.inner.begin_array_value(w, at == 0)?;
            }
            write!(w, "\"{}\"", STANDARD.encode(name))?;
            if field.is_list {
                self.inner.end_array_value(w)?;
            }
        }
        if field.is_list {
            self.inner.end_array(w)?;
        }
        self.inner.end_object_value(w)
    }
}

impl<F: Formatter> Formatter for DocumentFormatter<F> {
    fn begin_string<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        if !self.in_key
            && let Some(field) = self.fields.last_mut()
            && field.is_list
        {
            field.names.push(Vec::new());
        }
        self.inner.begin_string(w)
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        w: &mut W,
        text: &str,
    ) -> io::Result<()> {
        self.append_to_key_or_names(text);
        self.write_sanitized_if_enabled(w, text)
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        w: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        let c = match &escape {
            CharEscape::Quote => '"',
            CharEscape::ReverseSolidus => '\\',
            CharEscape::Solidus => '/',
            CharEscape::Backspace => '\u{8}',
            CharEscape::FormFeed => '\u{c}',
            CharEscape::LineFeed => '\n',
            CharEscape::CarriageReturn => '\r',
            CharEscape::Tab => '\t',
            CharEscape::AsciiControl(byte) => char::from(*byte),
        };
        self.append_to_key_or_names(c.encode_utf8(&mut [0; 4]));
        self.inner.write_char_escape(w, escape)
    }

    /// Writes a name that is not UTF-8.
    fn write_byte_array<W: ?Sized + Write>(&mut self, w: &mut W, name: &[u8]) -> io::Result<()> {
        if let Some(field) = self.fields.last_mut() {
            field.names.push(name.to_vec());
            field.needs_bytes = true;
        }
        self.write_sanitized_if_enabled(w, &serde_json::to_string(&escape_invalid_utf8(name))?)
    }

    /// Writes embedded JSON. If the formatter sanitizes, control characters between tokens become blanks, so that the
    /// document stays on one line.
    fn write_raw_fragment<W: ?Sized + Write>(&mut self, w: &mut W, text: &str) -> io::Result<()> {
        if self.sanitizes && text.bytes().any(|byte| byte < b' ') {
            write_with_harmful_escaped(w, &text.replace(|c: char| c < ' ', " "))
        } else {
            self.write_sanitized_if_enabled(w, text)
        }
    }

    fn begin_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        if let Some(field) = self.fields.last_mut() {
            field.is_list = true;
        }
        self.inner.begin_array(w)
    }

    fn end_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.inner.end_array(w)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.inner.begin_array_value(w, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.inner.end_array_value(w)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.fields.push(CurrentField::default());
        self.inner.begin_object(w)
    }

    fn end_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.fields.pop();
        self.inner.end_object(w)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        if let Some(field) = self.fields.last_mut() {
            field.key.clear();
        }
        self.in_key = true;
        self.inner.begin_object_key(w, first)
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.in_key = false;
        self.inner.end_object_key(w)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        if let Some(field) = self.fields.last_mut() {
            field.is_list = false;
            field.needs_bytes = false;
            field.names.clear();
        }
        self.inner.begin_object_value(w)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.inner.end_object_value(w)?;
        if self.fields.last().is_some_and(|field| field.needs_bytes) {
            let field = self.fields.pop().unwrap_or_default();
            self.write_bytes_field_in_base64(w, &field)?;
            self.fields.push(field);
        }
        Ok(())
    }
}

/// Writes a text, with the characters that a terminal would act on as `\uXXXX`.
fn write_with_harmful_escaped<W: ?Sized + Write>(w: &mut W, text: &str) -> io::Result<()> {
    let mut start = 0;
    for (at, c) in text
        .char_indices()
        .filter(|(_, c)| is_harmful_to_terminal(*c))
    {
        w.write_all(&text.as_bytes()[start..at])?;
        let mut units = [0; 2];
        for unit in c.encode_utf16(&mut units) {
            write!(w, "\\u{unit:04x}")?;
        }
        start = at + c.len_utf8();
    }
    w.write_all(&text.as_bytes()[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    #[test]
    fn names_that_are_not_utf8_are_followed_by_their_bytes() {
        #[derive(Serialize)]
        struct Document {
            jid: Name,
            tags: Vec<Name>,
            queue: Option<Name>,
            plain: Vec<Name>,
        }
        let document = Document {
            jid: Name::from(&b"a\n\xff"[..]),
            tags: vec![Name::from("\"t"), Name::from(&b"\xfe"[..])],
            queue: None,
            plain: vec![Name::from("x")],
        };
        let mut text = Vec::new();
        write_sanitized_compact(&document, &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            concat!(
                r#"{"jid":"a\n\\xff","jid_bytes":"YQr/","tags":["\"t","\\xfe"],"#,
                r#""tags_bytes":["InQ=","/g=="],"queue":null,"plain":["x"]}"#
            )
        );
    }
}
