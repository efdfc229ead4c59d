//! Passes on only the candidates of the queues that `--queue` selects. The scan reads all keys in any case, because
//! some findings, such as missing dependents, require all of them.

use crate::core::api::read::{ReadCommand, ReadReply};
use crate::core::script::keys::KeyFamily;
use crate::error::Error;
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

use super::Scanner;

/// Maximum number of candidates that wait until one round trip reads their queues.
const MAX_UNDECIDED: usize = 200;

impl Scanner<'_> {
    pub(super) fn covers_all_queues(&self) -> bool {
        self.queues.is_empty()
    }

    /// Whether a queue is scanned.
    pub(super) fn is_in_scope(&self, queue: &[u8]) -> bool {
        let named = |name: &Name| name.as_bytes() == queue;
        self.covers_all_queues() || self.queues.iter().any(named)
    }

    pub(super) fn add_candidate_if_in_scope(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        item: &[u8],
    ) -> Result<(), Error> {
        let location = ItemLocation::new(kind, name);
        let item = Name::from(item);
        use ItemKind::{
            CompletedIn, Depends, Failed, FailedTimes, Job, Key, Lane, Locks, Names, Pending,
            Recur, Recurring, Scheduled, Slots, Throttled, Work,
        };
        let is_in_scope = match kind {
            _ if self.covers_all_queues() => true,
            Work | Locks | Scheduled | Depends | Throttled | Recur | CompletedIn
                if self.is_in_scope(name) =>
            {
                true
            }
            // A job of a selected queue may be in a set of another queue, in a lane or in a throttle. So read the
            // queue of the job first.
            Work | Locks | Scheduled | Depends | Throttled | Recur | Job | Failed | Recurring
            | Lane | Slots | Pending | FailedTimes => {
                self.undecided.push((location, item));
                return if self.undecided.len() >= MAX_UNDECIDED {
                    self.pass_on_undecided_in_scope()
                } else {
                    Ok(())
                };
            }
            Names => {
                matches!(name, b"queues" | b"paused_queues") && self.is_in_scope(item.as_bytes())
            }
            Key => {
                let key = [self.keys.with_prefix("").as_bytes(), item.as_bytes()].concat();
                let family = self.keys.family_of_key(&key);
                matches!(family, KeyFamily::Queue(_, queue) if self.is_in_scope(queue))
            }
            _ => false,
        };
        if is_in_scope {
            self.sink.take_candidate(self.core, &location, item)
        } else {
            Ok(())
        }
    }

    pub(super) fn add_candidate_in_first_pass(
        &mut self,
        kind: ItemKind,
        item: &[u8],
    ) -> Result<(), Error> {
        if self.first_pass {
            self.add_candidate_if_in_scope(kind, b"", item)
        } else {
            Ok(())
        }
    }

    /// Reads the queues of the undecided candidates, and passes on the candidates of selected queues.
    pub(super) fn pass_on_undecided_in_scope(&mut self) -> Result<(), Error> {
        let open = std::mem::take(&mut self.undecided);
        let reads = open.iter().map(|(location, item)| {
            let key = match location.kind {
                ItemKind::Recur | ItemKind::Recurring => self.keys.recurring_key(item.as_bytes()),
                _ => self.keys.job_key(item.as_bytes()),
            };
            ReadCommand::hash_field(&key, "queue")
        });
        let replies = self.run_reads(reads.collect())?;
        self.sink
            .note_and_pace_members_read(self.core, open.len())?;
        for ((location, item), reply) in open.into_iter().zip(replies) {
            if matches!(reply, ReadReply::Text(Some(queue)) if self.is_in_scope(&queue)) {
                self.sink.take_candidate(self.core, &location, item)?;
            }
        }
        Ok(())
    }

    /// Whether `--queue` selects queues, and any of these jobs belongs to one of them.
    pub(super) fn is_any_in_named_queues<'b>(
        &mut self,
        jids: impl Iterator<Item = &'b [u8]>,
    ) -> Result<bool, Error> {
        if self.covers_all_queues() {
            return Ok(false);
        }
        let reads = jids.map(|jid| ReadCommand::hash_field(&self.keys.job_key(jid), "queue"));
        let replies = self.run_reads(reads.collect())?;
        if !replies.is_empty() {
            self.sink
                .note_and_pace_members_read(self.core, replies.len())?;
        }
        let ours = |reply: &ReadReply| matches!(reply, ReadReply::Text(Some(queue)) if self.is_in_scope(queue));
        Ok(replies.iter().any(ours))
    }

    /// Adds a set of dependents as a candidate if its job is missing. The set belongs to no queue, but it is the only
    /// trace of dependencies that jobs of the selected queues have lost. Passes on the undecided candidates first.
    pub(super) fn add_dependents_key_if_job_missing(
        &mut self,
        key: &[u8],
        jid: &[u8],
    ) -> Result<(), Error> {
        self.pass_on_undecided_in_scope()?;
        let read = ReadCommand::key_exists(&self.keys.job_key(jid));
        match self.core.run_read(self.now, read)? {
            ReadReply::Number(0) => {
                let bare = Name::from(self.keys.without_prefix(key));
                self.sink
                    .take_candidate(self.core, &ItemLocation::new(ItemKind::Key, ""), bare)
            }
            _ => Ok(()),
        }
    }

    /// Adds candidates that one call verifies together, if any of them or the job `about_job` belongs to a selected
    /// queue.
    pub(super) fn add_candidate_group_if_in_scope(
        &mut self,
        location: &ItemLocation,
        about_job: &[u8],
        items: Vec<Name>,
    ) -> Result<(), Error> {
        if !self.covers_all_queues() {
            let jids = items.iter().map(Name::as_bytes).chain([about_job]);
            if !self.is_any_in_named_queues(jids)? {
                return Ok(());
            }
        }
        match items.as_slice() {
            [one] => self.sink.take_candidate(self.core, location, one.clone()),
            _ => self
                .sink
                .take_candidates_for_one_call(self.core, location, items),
        }
    }
}
