//! Options, pauses, the list of throttles, and recurring jobs.

use crate::core::api::read::{ReadCommand, ReadReply};
use crate::core::script::keys;
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::unmatched::HashedNameKind;
use super::{Scanner, validate};

/// Options whose value must be a number. Options of single queues are not listed here.
const NUMERIC: [&[u8]; 13] = [
    b"backoff-factor",
    b"backoff-initial-delay",
    b"jobs-failed-history",
    b"heartbeat",
    b"grace-period",
    b"jobs-history",
    b"jobs-history-count",
    b"max-job-history",
    b"max-worker-age",
    b"merge-max",
    b"max-pop-scan",
    b"stats-history",
    b"histogram-history",
];

/// The numeric options that must not be below 0.
const NON_NEGATIVE: [&[u8]; 4] = [
    b"backoff-factor",
    b"backoff-initial-delay",
    b"jobs-failed-history",
    b"max-worker-age",
];

const DEFAULTS: &[u8] = b"-defaults";

const LIMIT: &[u8] = b"-max-concurrency";

/// The fields read of a recurring job.
pub(super) const TEMPLATE_FIELDS: [&str; 10] = [
    "queue", "interval", "count", "priority", "retries", "backlog", "tags", "data", "klass", "opts",
];

impl Scanner<'_> {
    pub(super) fn scan_config(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::CONFIG).into_bytes();
        self.for_each_cursor_page(
            &key,
            2,
            |cursor, count| ReadCommand::scan_hash(&key, cursor, count),
            |scanner, items| {
                for pair in items.chunks_exact(2) {
                    scanner.check_config_value_and_note_limit(&pair[0], &pair[1])?;
                }
                Ok(())
            },
        )
    }

    /// Makes an option a candidate if its number is invalid, or if only the core can check it. Notes the limit of a
    /// queue. Other options may have any value.
    fn check_config_value_and_note_limit(
        &mut self,
        option: &[u8],
        value: &[u8],
    ) -> Result<(), Error> {
        if option.ends_with(DEFAULTS) {
            // The option has the defaults of a queue as a JSON object. Only the core knows which fields are valid, so
            // each such option is a candidate. A queue has at most one.
            return self.add_candidate_if_in_scope(ItemKind::Names, b"config", option);
        }
        let queue = option.strip_suffix(LIMIT);
        if queue.is_none() && !NUMERIC.contains(&option) && !option.ends_with(b"-heartbeat") {
            return Ok(());
        }
        let number = validate::parse_finite_decimal(value);
        if let (Some(queue), true) = (queue, self.limits.len() < 50_000) {
            // A limit that is not a number counts as 1, so that a second lock makes the queue a candidate.
            let limit = number.unwrap_or(1.0);
            self.limits.insert(queue.to_vec(), limit);
        }
        let natural = queue.is_some() || NON_NEGATIVE.contains(&option);
        match number {
            Some(number) if number >= 0.0 || !natural => Ok(()),
            _ => self.add_candidate_if_in_scope(ItemKind::Names, b"config", option),
        }
    }

    /// Adds the key of the pause reasons, and the key of the paused templates, as a candidate if its type is wrong.
    pub(super) fn check_pause_key_types(&mut self) -> Result<(), Error> {
        for name in [keys::PAUSES, keys::PAUSED_RECURRING] {
            let key = self.keys.with_prefix(name).into_bytes();
            if let ReadReply::WrongType = self
                .core
                .run_read(self.now, ReadCommand::hash_field(&key, ""))?
            {
                self.add_key_and_its_job_in_first_pass(&key)?;
            }
        }
        Ok(())
    }

    /// Adds as a candidate each paused queue that is not in the list of queues.
    pub(super) fn check_paused_queues_are_listed(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::PAUSED).into_bytes();
        self.for_each_set_page(&key, |scanner, queues| {
            for queue in queues {
                let listed = scanner.is_remembered(HashedNameKind::Queue, &queue);
                if !listed {
                    scanner.add_candidate_if_in_scope(ItemKind::Names, b"paused_queues", &queue)?;
                }
            }
            Ok(())
        })
    }

    /// Adds as a candidate each throttle that is in the list of throttles but has no maximum.
    pub(super) fn check_throttles_have_maxima(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::THROTTLES).into_bytes();
        self.for_each_scored_page(&key, |scanner, listed| {
            let reads = listed.iter().map(|(id, _)| {
                let key = scanner.keys.throttle_key(id);
                ReadCommand::hash_field(&key, "maximum")
            });
            let replies = scanner.run_reads(reads.collect())?;
            for ((id, _), reply) in listed.iter().zip(replies) {
                if matches!(reply, ReadReply::Text(None)) {
                    scanner.add_candidate_if_in_scope(ItemKind::Names, b"throttles", id)?;
                }
            }
            Ok(())
        })
    }

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
            return self.add_candidate_if_first_pass(ItemKind::Recurring, id);
        };
        let text = |at: usize| fields.get(at).and_then(|field| field.as_deref());
        let number = |at: usize| text(at).and_then(validate::parse_finite_decimal);
        let Some(queue) = text(0) else {
            // Without a queue, the scan does not know which set should hold the recurring job: the core verifies
            // whether the job still exists.
            return self.add_candidate_if_first_pass(ItemKind::Recurring, id);
        };
        let count = text(2).filter(|count| validate::is_integer(count));
        let valid = number(1).is_some_and(|interval| interval > 0.0)
            && count.is_some_and(|count| count[0] != b'-')
            && (3..=5).all(|at| number(at).is_some())
            && text(6)
                .is_some_and(|tags| validate::parse_and_deduplicate_utf8_texts(tags).is_some())
            && text(7).is_some_and(validate::is_portable_json)
            && text(8).is_some()
            && text(9).is_none_or(validate::is_portable_json);
        let matched = self.match_entry_expected_in_index(ItemKind::Recur, queue, id, 0)?;
        let listed = self.is_remembered(HashedNameKind::Queue, queue);
        if !matched || self.first_pass && !(valid && listed) {
            self.add_candidate_if_in_scope(ItemKind::Recurring, b"", id)
        } else {
            Ok(())
        }
    }
}
