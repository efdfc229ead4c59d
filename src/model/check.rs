//! What a look found.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::json::Number;
use super::name::{self, Name};
use crate::check::finding::{Consent, Finding, Severity};

/// The document of a look.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Check {
    pub keys: u64,
    pub jobs: u64,
    pub queues: u64,
    pub elapsed_s: Number,
    /// Whether everything was walked.
    pub complete: bool,
    /// Whether it was, and nothing at or above `fail_on` was found.
    pub clean: bool,
    pub fail_on: Severity,
    /// What probably led to it.
    pub causes: Vec<String>,
    pub items: Vec<Found>,
}

/// A finding, with how often it was made.
#[derive(Clone, Debug)]
pub struct Found {
    pub finding: &'static Finding,
    pub severity: Severity,
    pub count: u64,
    /// Whether there may be more.
    pub at_least: bool,
    /// How many a repair would mend, and how many if it names them.
    pub mends: u64,
    pub asks: u64,
    pub examples: Vec<Example>,
}

/// One item that it was made of.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Example {
    #[serde(flatten, serialize_with = "name::item")]
    pub item: Name,
    #[serde(flatten, serialize_with = "name::detail")]
    pub detail: Name,
}

impl Found {
    pub fn new(finding: &'static Finding, severity: Severity) -> Found {
        Found {
            finding,
            severity,
            count: 0,
            at_least: false,
            mends: 0,
            asks: 0,
            examples: Vec::new(),
        }
    }

    /// Keeps an example, if it is among the first of them: the same ones in any order of a walk.
    pub fn show(&mut self, detail: &Name, item: &Name, most: usize) {
        let key = (detail, item);
        let place = self
            .examples
            .partition_point(|other| (&other.detail, &other.item) < key);
        if place < most {
            let (item, detail) = (item.clone(), detail.clone());
            self.examples.insert(place, Example { item, detail });
            self.examples.truncate(most);
        }
    }
}

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl Serialize for Found {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = self.finding;
        let invariants: Vec<String> = finding.invariants().collect();
        let choices: &[&str] = match finding.consent {
            Consent::Unasked if self.mends == self.count => &[],
            _ => finding.choices,
        };
        let mut doc = serializer.serialize_struct("found", 10)?;
        doc.serialize_field("severity", &self.severity)?;
        doc.serialize_field("finding", finding.id)?;
        doc.serialize_field("count", &self.count)?;
        doc.serialize_field("at_least", &self.at_least)?;
        doc.serialize_field("problem", finding.problem)?;
        doc.serialize_field("invariants", &invariants)?;
        doc.serialize_field("mends", &self.mends)?;
        doc.serialize_field("asks", &self.asks)?;
        doc.serialize_field("choices", choices)?;
        doc.serialize_field("examples", &self.examples)?;
        doc.end()
    }
}
