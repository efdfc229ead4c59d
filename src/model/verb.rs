//! The words of a bulk verb, for plans, questions and reports.

use super::bulk::RowContent;

/// What is done to the jobs.
#[derive(Debug)]
pub(crate) struct Verb {
    /// The document's `action`, as it is typed: `retry`.
    pub word: &'static str,
    /// What is proposed: `time out`.
    pub asks: &'static str,
    /// What was done: `retried`.
    pub past: &'static str,
    /// What is printed of each job; nothing where this is empty.
    pub shows: RowContent,
}
