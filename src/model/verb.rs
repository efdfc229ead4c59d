//! The forms of a bulk verb in plans, questions and reports.

use super::bulk::RowContent;

/// A bulk verb.
#[derive(Debug)]
pub(crate) struct Verb {
    /// The document's `action`, as it is typed: `retry`.
    pub word: &'static str,
    /// The verb in plans and questions: `time out`.
    pub infinitive: &'static str,
    /// The verb in reports: `retried`.
    pub past: &'static str,
    /// Begins the sentence about one job, if that is not `past`; it then ends with the job.
    pub of_one: Option<&'static str>,
    /// The rows of the table.
    pub row_content: RowContent,
}
