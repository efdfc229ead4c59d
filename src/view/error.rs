//! The document of an error; `error::Error` writes it.

use super::document::Document;
use crate::error::ErrorDocument;

pub(super) const DOCUMENT: Document =
    Document::new::<ErrorDocument>("error", "An error, on stderr");
