//! Recurring jobs.

use crate::core::api::read::{ReadCommand, ReadReply};
use crate::core::script::keys;
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::{RememberedAs, Scanner, validate};

pub(super) const FIELDS: [&str; 10] = [
    "queue", "interval", "count", "priority", "retries", "backlog", "tags", "data", "klass", "opts",
];

impl Scanner<'_> {
    pub(super) fn scan_templates(&mut self, ids: &[Vec<u8>]) -> Result<(), Error> {
        for ids in ids.chunks(32) {
            let reads = ids.iter().map(|id| {
                let key = self.keys.recurring_key(id);
                ReadCommand::hash_fields(&key, &self.template_fields)
            });
            let replies = self.run_reads(reads.collect())?;
            for (id, reply) in ids.iter().zip(replies) {
                self.examine_template(id, reply)?;
            }
        }
        Ok(())
    }

    /// Adds all paused recurring jobs as candidates: they are few, and only the core reads their documents.
    pub(super) fn add_paused_template_candidates(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::PAUSED_RECURRING).into_bytes();
        self.for_each_cursor_page(
            &key,
            2,
            |cursor, count| ReadCommand::scan_hash(&key, cursor, count),
            |scanner, items| {
                let mut ids = items.iter().step_by(2);
                ids.try_for_each(|id| {
                    scanner.add_candidate_if_in_scope(ItemKind::Recurring, b"", id)
                })
            },
        )
    }

    fn examine_template(&mut self, id: &[u8], reply: ReadReply) -> Result<(), Error> {
        let ReadReply::Texts(fields) = reply else {
            let key = self.keys.recurring_key(id);
            self.add_key_and_its_job_in_first_pass(&key)?;
            return self.add_candidate_in_first_pass(ItemKind::Recurring, id);
        };
        let text = |at: usize| fields.get(at).and_then(|field| field.as_deref());
        let number = |at: usize| text(at).and_then(validate::parse_number);
        let Some(queue) = text(0) else {
            // Without a queue, the scan does not know which set should hold the recurring job: the core verifies
            // whether the job still exists.
            return self.add_candidate_in_first_pass(ItemKind::Recurring, id);
        };
        let count = text(2).filter(|count| validate::is_integer(count));
        let valid = number(1).is_some_and(|interval| interval > 0.0)
            && count.is_some_and(|count| count[0] != b'-')
            && (3..=5).all(|at| number(at).is_some())
            && text(6).is_some_and(|tags| validate::parse_distinct_utf8_tags(tags).is_some())
            && text(7).is_some_and(validate::is_portable_json)
            && text(8).is_some()
            && text(9).is_none_or(validate::is_portable_json);
        let matched = self.match_expected_entry(ItemKind::Recur, queue, id, 0)?;
        let listed = self.is_remembered(RememberedAs::Queue, queue);
        if !matched || self.first_pass && !(valid && listed) {
            self.add_candidate_if_in_scope(ItemKind::Recurring, b"", id)
        } else {
            Ok(())
        }
    }
}
