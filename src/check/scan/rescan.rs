//! The unmatched entries: the table has only hashes, so their names are scanned again.

use std::collections::HashMap;

use crate::core::api::read::{Read, ReadReply, START};
use crate::core::script::keys::{Companion, Family};
use crate::error::Error;
use crate::model::verdict::{ItemKind, Location};
use crate::name::Name;

use super::Scanner;
use super::edges::SETS_PER_READ;
use super::unmatched::Side;

/// Maximum number of one-sided dependencies kept, to be verified together.
const MAX_ONE_SIDED: usize = 20_000;

impl Scanner<'_> {
    pub(super) fn rescan_unmatched(&mut self) -> Result<(), Error> {
        self.rescanning = true;
        self.known.clear();
        if self.unmatched.count(Side::Entry) > 0 {
            self.scan_indexes()?;
        }
        let unlisted = self.has_unlisted && self.unmatched.count(Side::Entry) > 0;
        let pairs = self.unmatched.count(Side::Upper) + self.unmatched.count(Side::Lower) > 0;
        if unlisted || pairs {
            self.scan_unmatched()?;
        }
        self.rescanning = false;
        Ok(())
    }

    fn scan_unmatched(&mut self) -> Result<(), Error> {
        // All jobs that list a dependent which does not list them: the dependent lost one set.
        let mut one_sided: HashMap<Vec<u8>, Vec<Name>> = HashMap::new();
        let mut count = 0;
        let pattern = self.keys.with_prefix("*");
        self.each_key_page(pattern.as_bytes(), |scanner, keys| {
            let (mut with_dependencies, mut with_dependents) = (Vec::new(), Vec::new());
            let mut sets = Vec::new();
            let entries = scanner.unmatched.count(Side::Entry) > 0;
            for key in &keys {
                match scanner.keys.family(key) {
                    Family::Queue(..)
                    | Family::CompletedIn(_)
                    | Family::Worker(_)
                    | Family::Group(_)
                    | Family::Tag(_)
                        if !entries => {}
                    Family::Queue(_, queue) | Family::CompletedIn(queue) => {
                        _ = scanner.scan_unlisted(ItemKind::Work, queue)?
                    }
                    Family::Worker(worker) => {
                        _ = scanner.scan_unlisted(ItemKind::Worker, worker)?;
                    }
                    Family::Group(group) => _ = scanner.scan_unlisted(ItemKind::Group, group)?,
                    Family::Tag(tag) => _ = scanner.scan_unlisted(ItemKind::Tag, tag)?,
                    Family::Lane(lane) => sets.push((ItemKind::Lane, lane.to_vec())),
                    Family::Slots(id) => sets.push((ItemKind::Slots, id.to_vec())),
                    Family::Pending(id) => sets.push((ItemKind::Pending, id.to_vec())),
                    Family::Companion(which @ (Companion::History | Companion::Payloads), jid) => {
                        let hash = match which {
                            Companion::Payloads => scanner.hash_payloads(jid),
                            _ => scanner.hash_history(jid),
                        };
                        if scanner.unmatched.contains(hash, Side::Upper) {
                            let bare = scanner.keys.without_prefix(key).to_vec();
                            scanner.add_candidate(ItemKind::Key, b"", &bare)?;
                            let jid = scanner.keys.jid_of(key);
                            scanner.add_candidate(ItemKind::Job, b"", jid.unwrap_or_default())?;
                        }
                    }
                    Family::Companion(Companion::Dependencies, y) => {
                        with_dependencies.push(y.to_vec())
                    }
                    Family::Companion(Companion::Dependents, x) => with_dependents.push(x.to_vec()),
                    _ => {}
                }
            }
            scanner.scan_coordination(&sets)?;
            for (y, members) in
                scanner.read_first_pages(Companion::Dependencies, &with_dependencies)?
            {
                let key = scanner.keys.companion(Companion::Dependencies, &y);
                scanner.each_edge_page(&key, members, |scanner, members| {
                    let is_unmatched = |x: &Vec<u8>| {
                        scanner
                            .unmatched
                            .contains(scanner.hash_edge(&y, x), Side::Upper)
                    };
                    if members.iter().any(is_unmatched) {
                        scanner.add_candidate(ItemKind::Job, b"", &y)
                    } else {
                        Ok(())
                    }
                })?;
            }
            for (x, members) in scanner.read_first_pages(Companion::Dependents, &with_dependents)? {
                let key = scanner.keys.companion(Companion::Dependents, &x);
                let mut in_scope = false;
                scanner.each_edge_page(&key, members, |scanner, mut members| {
                    members.retain(|y| {
                        scanner
                            .unmatched
                            .contains(scanner.hash_edge(y, &x), Side::Lower)
                    });
                    in_scope = in_scope || scanner.any_in_scope(&members)?;
                    for y in members {
                        scanner.sink.one_sided_dependency(Some(&y));
                        count += 1;
                        if count <= MAX_ONE_SIDED {
                            one_sided
                                .entry(y)
                                .or_default()
                                .push(Name::from(x.as_slice()))
                        } else {
                            scanner.add_candidate(ItemKind::Job, b"", &x)?
                        }
                    }
                    Ok(())
                })?;
                if in_scope {
                    scanner.add_leftover(&key, &x)?;
                }
            }
            Ok(())
        })?;
        let location = Location::new(ItemKind::Job, "");
        for (y, jids) in one_sided {
            if self.covers_all() {
                let there = self.existing(&jids)?;
                self.sink.dependencies_were_lost(&y, &there);
            }
            self.add_group(&location, &y, jids)?;
        }
        Ok(())
    }

    /// The jobs that exist.
    fn existing(&mut self, jids: &[Name]) -> Result<Vec<Name>, Error> {
        let reads = jids.iter().map(|jid| {
            let key = self.keys.job(jid.as_bytes());
            Read::field(&key, "jid")
        });
        let replies = self.read_all(reads.collect())?;
        self.sink.members_read(self.core, jids.len())?;
        let there = jids.iter().zip(replies);
        let there = there.filter(|(_, replies)| matches!(replies, ReadReply::Text(Some(_))));
        Ok(there.map(|(jid, _)| jid.clone()).collect())
    }

    fn read_first_pages(
        &mut self,
        which: Companion,
        jids: &[Vec<u8>],
    ) -> Result<Vec<(Vec<u8>, ReadReply)>, Error> {
        let mut pages = Vec::with_capacity(jids.len());
        for jids in jids.chunks(self.pages(SETS_PER_READ)) {
            let page = self.page(jids.len());
            let reads = jids.iter().map(|jid| {
                let key = self.keys.companion(which, jid);
                Read::members(&key, START, page)
            });
            let replies = self.read_all(reads.collect())?;
            pages.extend(jids.iter().cloned().zip(replies));
        }
        Ok(pages)
    }
}
