//! The document of an error; `error::Error` writes it.

use super::document::Document;
use crate::model::field::Field;

pub(super) const DOCUMENT: Document = Document::one(
    "error",
    "An error, on stderr",
    &[
        Field::text("code", "the kind of error"),
        Field::count("exit", "the exit code"),
        Field::text("message", "what failed, on which thing, and why"),
        Field::text("hint", "the next step").null(),
        Field::name("jid", "the job that the error is about").null(),
    ],
);
