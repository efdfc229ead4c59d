//! Documents as JSON: `kind`, `v` and the fields of a model, harmless on a terminal.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use super::View;
use crate::clock::moment::Moment;
use crate::text::is_harmful;

/// A document: the fields of a model behind `kind` and `v`.
#[derive(Serialize)]
struct Envelope<'a, T: Serialize + ?Sized> {
    kind: &'static str,
    v: u8,
    #[serde(flatten)]
    fields: &'a T,
}

/// Returns one pretty-printed document.
pub(crate) fn document<T: View + ?Sized>(view: &T) -> Result<Vec<u8>, serde_json::Error> {
    let fields = view;
    let document = Envelope {
        kind: T::DOCUMENT.kind,
        v: 1,
        fields,
    };
    let mut text = Vec::new();
    let pretty = Harmless(PrettyFormatter::new());
    document.serialize(&mut Serializer::with_formatter(&mut text, pretty))?;
    text.push(b'\n');
    Ok(text)
}

/// Returns a document of `--watch`: one compact line with the moment `at` which it was read.
pub(crate) fn tick<T: View + ?Sized>(view: &T, now: Moment) -> Result<Vec<u8>, serde_json::Error> {
    #[derive(Serialize)]
    struct Tick<'a, T: Serialize + ?Sized> {
        kind: &'static str,
        v: u8,
        at: Option<String>,
        #[serde(flatten)]
        fields: &'a T,
    }
    line(&Tick {
        kind: T::DOCUMENT.kind,
        v: 1,
        at: now.rfc3339(),
        fields: view,
    })
}

/// Returns a value that is not a document, pretty-printed.
pub(crate) fn bare<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = Vec::new();
    let pretty = Harmless(PrettyFormatter::new());
    value.serialize(&mut Serializer::with_formatter(&mut text, pretty))?;
    text.push(b'\n');
    Ok(text)
}

/// Returns a value as one compact line.
pub(crate) fn line<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = Vec::new();
    let compact = Harmless(CompactFormatter);
    value.serialize(&mut Serializer::with_formatter(&mut text, compact))?;
    text.push(b'\n');
    Ok(text)
}

/// Returns a whole document as one line.
pub(crate) fn record<T: Serialize + ?Sized>(
    kind: &'static str,
    fields: &T,
) -> Result<Vec<u8>, serde_json::Error> {
    line(&Envelope { kind, v: 1, fields })
}

/// The lines of `-o ndjson` that a view writes.
#[derive(Default)]
pub(crate) struct Lines(pub(crate) Vec<u8>);

impl Lines {
    /// Writes one item.
    pub(crate) fn item<T: Serialize + ?Sized>(
        &mut self,
        item: &T,
    ) -> Result<(), serde_json::Error> {
        self.0.append(&mut line(item)?);
        Ok(())
    }

    /// Writes items, a line each.
    pub(crate) fn items<T: Serialize>(&mut self, items: &[T]) -> Result<(), serde_json::Error> {
        items.iter().try_for_each(|item| self.item(item))
    }

    /// Writes a whole document.
    pub(crate) fn document<T: View + ?Sized>(&mut self, view: &T) -> Result<(), serde_json::Error> {
        self.0.append(&mut record(T::DOCUMENT.kind, view)?);
        Ok(())
    }
}

/// A formatter that also escapes characters that JSON allows but a terminal would act on: DEL, C1
/// and bidirectional controls, for example.
struct Harmless<F>(F);

impl<F: Formatter> Formatter for Harmless<F> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        w: &mut W,
        text: &str,
    ) -> io::Result<()> {
        escape(w, text)
    }

    /// Writes embedded JSON. Control characters between its tokens become blanks, so that a line
    /// stays one line.
    fn write_raw_fragment<W: ?Sized + Write>(&mut self, w: &mut W, text: &str) -> io::Result<()> {
        if text.bytes().any(|byte| byte < b' ') {
            escape(w, &text.replace(|c: char| c < ' ', " "))
        } else {
            escape(w, text)
        }
    }

    fn begin_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.begin_array(w)
    }

    fn end_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_array(w)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(w, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_array_value(w)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.begin_object(w)
    }

    fn end_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_object(w)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(w, first)
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_object_key(w)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.begin_object_value(w)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_object_value(w)
    }
}

/// Writes the text with harmful characters as `\uXXXX`.
fn escape<W: ?Sized + Write>(w: &mut W, text: &str) -> io::Result<()> {
    let mut start = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| is_harmful(*c)) {
        w.write_all(&text.as_bytes()[start..at])?;
        let mut units = [0; 2];
        for unit in c.encode_utf16(&mut units) {
            write!(w, "\\u{unit:04x}")?;
        }
        start = at + c.len_utf8();
    }
    w.write_all(&text.as_bytes()[start..])
}
