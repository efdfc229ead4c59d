//! What is suspected, as far as it belongs to the queues that are looked at. Everything is walked in
//! any case: what only the whole tells, such as who waits for a job, is not to be guessed.

use crate::core::api::read::{Read, ReadReply};
use crate::core::script::keys::Family;
use crate::error::Error;
use crate::model::verdict::{ItemKind, Location};
use crate::name::Name;

use super::Scanner;

/// So many candidates are asked for their queue together.
const OPEN: usize = 200;

impl Scanner<'_> {
    pub(super) fn whole(&self) -> bool {
        self.scope.queues.is_empty()
    }

    /// Whether a queue is one of those that are looked at.
    pub(super) fn wants(&self, queue: &[u8]) -> bool {
        let named = |name: &Name| name.as_bytes() == queue;
        self.whole() || self.scope.queues.iter().any(named)
    }

    pub(super) fn suspect(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        item: &[u8],
    ) -> Result<(), Error> {
        let place = Location::new(kind, name);
        let item = Name::from(item);
        if self.whole() {
            return self.sink.suspect(self.core, &place, item);
        }
        use ItemKind::{Depends, Job, Key, Locks, Names, Recur, Recurring, Scheduled, Work};
        match kind {
            Work | Locks | Scheduled | Depends | Recur if self.wants(name) => {
                self.sink.suspect(self.core, &place, item)
            }
            // In a set of another queue there may be a job of this one.
            Work | Locks | Scheduled | Depends | Recur | Job | Recurring => {
                self.open.push((place, item));
                match self.open.len() >= OPEN {
                    true => self.close(),
                    false => Ok(()),
                }
            }
            Names
                if matches!(name, b"queues" | b"paused_queues") && self.wants(item.as_bytes()) =>
            {
                self.sink.suspect(self.core, &place, item)
            }
            Key => {
                let key = [self.keys.prefix.as_bytes(), item.as_bytes()].concat();
                match self.keys.family(&key) {
                    Family::Queue(_, queue) if self.wants(queue) => {
                        self.sink.suspect(self.core, &place, item)
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Suspects those of the candidates that turn out to belong to a queue that is looked at.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        let open = std::mem::take(&mut self.open);
        let asks = open.iter().map(|(place, item)| {
            let key = match place.kind {
                ItemKind::Recur | ItemKind::Recurring => self.keys.recurring(item.as_bytes()),
                _ => self.keys.job(item.as_bytes()),
            };
            Read::field(&key, "queue")
        });
        let told = self.reads(asks.collect())?;
        self.sink.read(self.core, open.len())?;
        for ((place, item), told) in open.into_iter().zip(told) {
            if matches!(told, ReadReply::Text(Some(queue)) if self.wants(&queue)) {
                self.sink.suspect(self.core, &place, item)?;
            }
        }
        Ok(())
    }

    /// Whether some of the jobs belong to the queues that are looked at, if those are not all.
    pub(super) fn have_ours(&mut self, jids: &[Vec<u8>]) -> Result<bool, Error> {
        if self.whole() || jids.is_empty() {
            return Ok(false);
        }
        let asks = jids
            .iter()
            .map(|jid| Read::field(&self.keys.job(jid), "queue"));
        let told = self.reads(asks.collect())?;
        self.sink.read(self.core, told.len())?;
        let ours =
            |told: &ReadReply| matches!(told, ReadReply::Text(Some(queue)) if self.wants(queue));
        Ok(told.iter().any(ours))
    }

    /// Suspects what a job that is gone has left of those that waited for it: it belongs to no queue,
    /// but nothing else tells for whom jobs of ours wait that lost their own list. What they know
    /// themselves is judged before.
    pub(super) fn suspect_left_over(&mut self, key: &[u8], jid: &[u8]) -> Result<(), Error> {
        self.close()?;
        let ask = Read::exists(&self.keys.job(jid));
        match self.core.read(self.now, ask)? {
            ReadReply::Number(0) => {
                let bare = Name::from(self.keys.without_prefix(key));
                self.sink
                    .suspect(self.core, &Location::new(ItemKind::Key, ""), bare)
            }
            _ => Ok(()),
        }
    }

    /// Suspects what has to be judged in one call, if any of it, or the job that it is about,
    /// belongs to a queue that is looked at.
    pub(super) fn suspect_together(
        &mut self,
        place: &Location,
        about: &[u8],
        items: Vec<Name>,
    ) -> Result<(), Error> {
        if !self.whole() {
            let jids = items.iter().map(Name::as_bytes).chain([about]);
            let asks = jids.map(|jid| Read::field(&self.keys.job(jid), "queue"));
            let told = self.reads(asks.collect())?;
            self.sink.read(self.core, told.len())?;
            let ours = |told: &ReadReply| matches!(told, ReadReply::Text(Some(queue)) if self.wants(queue));
            if !told.iter().any(ours) {
                return Ok(());
            }
        }
        match items.as_slice() {
            [one] => self.sink.suspect(self.core, place, one.clone()),
            _ => self.sink.together(self.core, place, items),
        }
    }
}
