//! Documents as JSON: `kind`, `v` and the fields of a model, sanitized for a terminal.

use serde::Serialize;

use super::View;
use crate::clock::moment::Moment;
use crate::json::write;

/// A document: `kind` and `v`, then the fields of a model.
#[derive(Serialize)]
struct Envelope<'a, T: Serialize + ?Sized> {
    kind: &'static str,
    v: u8,
    /// In a document of `--watch`, the moment when it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Moment>,
    #[serde(flatten)]
    fields: &'a T,
}

impl<'a, T: Serialize + ?Sized> Envelope<'a, T> {
    fn new(kind: &'static str, fields: &'a T) -> Envelope<'a, T> {
        Envelope {
            kind,
            v: 1,
            at: None,
            fields,
        }
    }
}

pub(crate) fn pretty_document<T: View + ?Sized>(view: &T) -> Result<Vec<u8>, serde_json::Error> {
    pretty_value(&Envelope::new(T::DOCUMENT.kind, view))
}

/// A document of `--watch`: one compact line, whose field `at` is the moment when it was read.
pub(crate) fn watch_document_line<T: View + ?Sized>(
    view: &T,
    now: Moment,
) -> Result<Vec<u8>, serde_json::Error> {
    compact_line(&Envelope {
        at: Some(now),
        ..Envelope::new(T::DOCUMENT.kind, view)
    })
}

/// A value as pretty-printed JSON, without `kind` and `v`.
pub(crate) fn pretty_value<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = Vec::new();
    write::write_sanitized_pretty(value, &mut text)?;
    text.push(b'\n');
    Ok(text)
}

pub(crate) fn compact_line<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = Vec::new();
    write::write_sanitized_compact(value, &mut text)?;
    text.push(b'\n');
    Ok(text)
}

pub(crate) fn document_line<T: Serialize + ?Sized>(
    kind: &'static str,
    fields: &T,
) -> Result<Vec<u8>, serde_json::Error> {
    compact_line(&Envelope::new(kind, fields))
}

/// The lines of `-o ndjson` that a view writes.
#[derive(Default)]
pub(crate) struct NdjsonLines(pub(crate) Vec<u8>);

impl NdjsonLines {
    pub(crate) fn write_item_line<T: Serialize + ?Sized>(
        &mut self,
        item: &T,
    ) -> Result<(), serde_json::Error> {
        self.0.append(&mut compact_line(item)?);
        Ok(())
    }

    /// Writes items, a line each.
    pub(crate) fn write_items<T: Serialize>(
        &mut self,
        items: &[T],
    ) -> Result<(), serde_json::Error> {
        items.iter().try_for_each(|item| self.write_item_line(item))
    }

    pub(crate) fn write_document<T: View + ?Sized>(
        &mut self,
        view: &T,
    ) -> Result<(), serde_json::Error> {
        self.0.append(&mut document_line(T::DOCUMENT.kind, view)?);
        Ok(())
    }
}
