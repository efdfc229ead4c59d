//! What waits for what: the two sides of an edge cancel each other out.

use crate::core::api::read::{Read, ReadReply, START};
use crate::core::script::keys::{Companion, Family};
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::marks::Side;
use super::{Known, Scanner};

/// What is asked of the job itself.
pub(super) const FIELDS: [&str; 3] = ["state", "jid", "klass"];

/// So many sets are begun in one round trip.
pub(super) const SETS: usize = 24;

/// Of so many edges of a job the core judges no more.
const MANY: usize = 1000;

impl Scanner<'_> {
    /// Returns what stands for the edge by which `y` waits for `x`.
    pub(super) fn edge(&self, y: &[u8], x: &[u8]) -> u64 {
        let place = self.salt.place(Known::Edge as u8, x);
        self.salt.entry(place, y, 0)
    }

    /// What jobs wait for.
    pub(super) fn above(&mut self, jids: &[Vec<u8>]) -> Result<(), Error> {
        for jids in jids.chunks(self.pages(SETS)) {
            let page = self.page(jids.len());
            let mut asks = Vec::with_capacity(jids.len() * 2);
            for y in jids {
                let own = self.keys.companion(Companion::Dependencies, y);
                asks.push(Read::members(&own, START, page));
                asks.push(Read::fields(&self.keys.job(y), &self.brief));
            }
            let mut told = self.reads(asks)?.into_iter();
            for y in jids {
                let (page, state) = (told.next(), told.next());
                let (gone, state) = brief(state);
                let waits = state.as_deref() == Some(b"depends");
                let mut odd = !waits;
                let tell = self.first;
                if gone {
                    self.suspect_key(&self.keys.companion(Companion::Dependencies, y))?;
                }
                let mut count = 0;
                let key = self.keys.companion(Companion::Dependencies, y);
                self.edges(&key, page.unwrap_or(ReadReply::Wrong), |walk, members| {
                    count += members.len();
                    for x in members {
                        odd |= x == *y;
                        walk.marks.pair(walk.edge(y, &x), Side::Upper);
                        if gone && tell {
                            walk.suspect(ItemKind::Job, b"", &x)?;
                        }
                        if waits && walk.first && x != *y {
                            walk.cycles.add(&walk.salt, y, &x);
                        }
                    }
                    Ok(())
                })?;
                if (odd || count > MANY) && tell {
                    self.suspect(ItemKind::Job, b"", y)?;
                }
            }
        }
        Ok(())
    }

    /// What waits for jobs.
    pub(super) fn below(&mut self, jids: &[Vec<u8>]) -> Result<(), Error> {
        for jids in jids.chunks(self.pages(SETS)) {
            let page = self.page(jids.len());
            let mut asks = Vec::with_capacity(jids.len() * 2);
            for x in jids {
                let own = self.keys.companion(Companion::Dependents, x);
                asks.push(Read::members(&own, START, page));
                asks.push(Read::fields(&self.keys.job(x), &self.brief));
            }
            let mut told = self.reads(asks)?.into_iter();
            for x in jids {
                let (page, state) = (told.next(), told.next());
                let (gone, state) = brief(state);
                let tell = self.first;
                if gone {
                    self.suspect_key(&self.keys.companion(Companion::Dependents, x))?;
                }
                // What waits for such a job is wrong, or at least worth a word.
                let over = gone || matches!(state.as_deref(), Some(b"complete" | b"failed"));
                let mut count = 0;
                let key = self.keys.companion(Companion::Dependents, x);
                self.edges(&key, page.unwrap_or(ReadReply::Wrong), |walk, members| {
                    count += members.len();
                    for y in members {
                        walk.marks.pair(walk.edge(&y, x), Side::Lower);
                        if over && tell {
                            walk.suspect(ItemKind::Job, b"", &y)?;
                        }
                    }
                    Ok(())
                })?;
                if tell && (over || count > MANY) {
                    self.suspect(ItemKind::Job, b"", x)?;
                }
            }
        }
        Ok(())
    }

    /// Hands out the members of a set, of which the first page is there.
    pub(super) fn edges(
        &mut self,
        key: &[u8],
        first: ReadReply,
        mut each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut told = first;
        loop {
            let ReadReply::Page(next, members) = told else {
                if let Family::Companion(Companion::Dependents, _) = self.keys.family(key) {
                    self.sink.one_sided_dependency(None);
                }
                return self.suspect_key(key);
            };
            let read = members.len();
            each(self, members)?;
            self.sink.members_read(self.core, read)?;
            let Some(next) = next else {
                return Ok(());
            };
            let ask = Read::members(key, &next, self.page(1));
            told = self.core.read(self.now, ask)?;
        }
    }
}

/// Returns whether nothing of a job is left, and its state.
fn brief(told: Option<ReadReply>) -> (bool, Option<Vec<u8>>) {
    let Some(ReadReply::Texts(fields)) = told else {
        return (true, None);
    };
    let mut fields = fields.into_iter();
    let state = fields.next().flatten();
    (fields.all(|field| field.is_none()), state)
}
