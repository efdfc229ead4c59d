//! What waits for what: the two sides of an edge cancel each other out.

use crate::core::api::read::{Read, ReadReply, START};
use crate::core::script::keys::{Companion, Family};
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::unmatched::Side;
use super::{Known, Scanner};

/// What is asked of the job itself.
pub(super) const FIELDS: [&str; 3] = ["state", "jid", "klass"];

/// So many sets are begun in one round trip.
pub(super) const SETS_PER_READ: usize = 24;

/// Of so many edges of a job the core judges no more.
const MAX_EDGES: usize = 1000;

impl Scanner<'_> {
    /// Returns what stands for the edge by which `y` waits for `x`.
    pub(super) fn hash_edge(&self, y: &[u8], x: &[u8]) -> u64 {
        let place = self.salt.location(Known::Edge as u8, x);
        self.salt.entry(place, y, 0)
    }

    /// What jobs wait for.
    pub(super) fn read_dependencies(&mut self, jids: &[Vec<u8>]) -> Result<(), Error> {
        for jids in jids.chunks(self.pages(SETS_PER_READ)) {
            let page = self.page(jids.len());
            let mut reads = Vec::with_capacity(jids.len() * 2);
            for y in jids {
                let own = self.keys.companion(Companion::Dependencies, y);
                reads.push(Read::members(&own, START, page));
                reads.push(Read::fields(&self.keys.job(y), &self.state_fields));
            }
            let mut replies = self.read_all(reads)?.into_iter();
            for y in jids {
                let (page, state) = (replies.next(), replies.next());
                let (gone, state) = brief(state);
                let waits = state.as_deref() == Some(b"depends");
                let mut odd = !waits;
                let tell = self.first_pass;
                if gone {
                    self.add_key(&self.keys.companion(Companion::Dependencies, y))?;
                }
                let mut count = 0;
                let key = self.keys.companion(Companion::Dependencies, y);
                self.each_edge_page(
                    &key,
                    page.unwrap_or(ReadReply::Wrong),
                    |scanner, members| {
                        count += members.len();
                        for x in members {
                            odd |= x == *y;
                            scanner
                                .unmatched
                                .match_pair(scanner.hash_edge(y, &x), Side::Upper);
                            if gone && tell {
                                scanner.add_candidate(ItemKind::Job, b"", &x)?;
                            }
                            if waits && scanner.first_pass && x != *y {
                                scanner.cycles.add(&scanner.salt, y, &x);
                            }
                        }
                        Ok(())
                    },
                )?;
                if (odd || count > MAX_EDGES) && tell {
                    self.add_candidate(ItemKind::Job, b"", y)?;
                }
            }
        }
        Ok(())
    }

    /// What waits for jobs.
    pub(super) fn read_dependents(&mut self, jids: &[Vec<u8>]) -> Result<(), Error> {
        for jids in jids.chunks(self.pages(SETS_PER_READ)) {
            let page = self.page(jids.len());
            let mut reads = Vec::with_capacity(jids.len() * 2);
            for x in jids {
                let own = self.keys.companion(Companion::Dependents, x);
                reads.push(Read::members(&own, START, page));
                reads.push(Read::fields(&self.keys.job(x), &self.state_fields));
            }
            let mut replies = self.read_all(reads)?.into_iter();
            for x in jids {
                let (page, state) = (replies.next(), replies.next());
                let (gone, state) = brief(state);
                let tell = self.first_pass;
                if gone {
                    self.add_key(&self.keys.companion(Companion::Dependents, x))?;
                }
                // What waits for such a job is wrong, or at least worth a word.
                let over = gone || matches!(state.as_deref(), Some(b"complete" | b"failed"));
                let mut count = 0;
                let key = self.keys.companion(Companion::Dependents, x);
                self.each_edge_page(
                    &key,
                    page.unwrap_or(ReadReply::Wrong),
                    |scanner, members| {
                        count += members.len();
                        for y in members {
                            scanner
                                .unmatched
                                .match_pair(scanner.hash_edge(&y, x), Side::Lower);
                            if over && tell {
                                scanner.add_candidate(ItemKind::Job, b"", &y)?;
                            }
                        }
                        Ok(())
                    },
                )?;
                if tell && (over || count > MAX_EDGES) {
                    self.add_candidate(ItemKind::Job, b"", x)?;
                }
            }
        }
        Ok(())
    }

    /// Hands out the members of a set, of which the first page is there.
    pub(super) fn each_edge_page(
        &mut self,
        key: &[u8],
        first: ReadReply,
        mut each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut replies = first;
        loop {
            let ReadReply::Page(next, members) = replies else {
                if let Family::Companion(Companion::Dependents, _) = self.keys.family(key) {
                    self.sink.one_sided_dependency(None);
                }
                return self.add_key(key);
            };
            let read = members.len();
            each(self, members)?;
            self.sink.members_read(self.core, read)?;
            let Some(next) = next else {
                return Ok(());
            };
            let read = Read::members(key, &next, self.page(1));
            replies = self.core.read(self.now, read)?;
        }
    }
}

/// Returns whether nothing of a job is left, and its state.
fn brief(replies: Option<ReadReply>) -> (bool, Option<Vec<u8>>) {
    let Some(ReadReply::Texts(fields)) = replies else {
        return (true, None);
    };
    let mut fields = fields.into_iter();
    let state = fields.next().flatten();
    (fields.all(|field| field.is_none()), state)
}
