//! What marks were left: only hashes are known, so the names are walked again.

use std::collections::HashMap;

use crate::core::api::read::{Read, ReadReply, START};
use crate::core::script::keys::{Companion, Family};
use crate::error::Error;
use crate::model::verdict::{ItemKind, Location};
use crate::name::Name;

use super::Scanner;
use super::edges::SETS;
use super::marks::Side;

/// So many edges that only one side knows are kept, to be judged together.
const KEPT: usize = 20_000;

impl Scanner<'_> {
    pub(super) fn tell_left(&mut self) -> Result<(), Error> {
        self.telling = true;
        self.known.clear();
        if self.marks.left(Side::Entry) > 0 {
            self.indexes()?;
        }
        let strange = self.strangers && self.marks.left(Side::Entry) > 0;
        let pairs = self.marks.left(Side::Upper) + self.marks.left(Side::Lower) > 0;
        if strange || pairs {
            self.scan_left()?;
        }
        self.telling = false;
        Ok(())
    }

    fn scan_left(&mut self) -> Result<(), Error> {
        // By whom two jobs are named that do not know it: what they lost is one thing.
        let mut kept: HashMap<Vec<u8>, Vec<Name>> = HashMap::new();
        let mut count = 0;
        let pattern = format!("{}*", self.keys.prefix);
        self.each_page(pattern.as_bytes(), |walk, keys| {
            let (mut above, mut below) = (Vec::new(), Vec::new());
            let entries = walk.marks.left(Side::Entry) > 0;
            for key in &keys {
                match walk.keys.family(key) {
                    Family::Queue(..) | Family::Worker(_) | Family::Group(_) | Family::Tag(_)
                        if !entries => {}
                    Family::Queue(_, queue) => drop(walk.walk_stranger(ItemKind::Work, queue)?),
                    Family::Worker(worker) => drop(walk.walk_stranger(ItemKind::Worker, worker)?),
                    Family::Group(group) => drop(walk.walk_stranger(ItemKind::Group, group)?),
                    Family::Tag(tag) => drop(walk.walk_stranger(ItemKind::Tag, tag)?),
                    Family::Companion(Companion::History, jid) => {
                        let hash = walk.history_mark(jid);
                        if walk.marks.is_left(hash, Side::Upper) {
                            let bare = walk.keys.without_prefix(key).to_vec();
                            walk.suspect(ItemKind::Key, b"", &bare)?;
                            let jid = key.strip_prefix(walk.keys.job.as_bytes());
                            walk.suspect(ItemKind::Job, b"", jid.unwrap_or_default())?;
                        }
                    }
                    Family::Companion(Companion::Dependencies, y) => above.push(y.to_vec()),
                    Family::Companion(Companion::Dependents, x) => below.push(x.to_vec()),
                    _ => {}
                }
            }
            for (y, members) in walk.first_pages(Companion::Dependencies, &above)? {
                let key = walk.keys.companion(Companion::Dependencies, &y);
                walk.edges(&key, members, |walk, members| {
                    let left = |x: &Vec<u8>| walk.marks.is_left(walk.edge(&y, x), Side::Upper);
                    match members.iter().any(left) {
                        true => walk.suspect(ItemKind::Job, b"", &y),
                        false => Ok(()),
                    }
                })?;
            }
            for (x, members) in walk.first_pages(Companion::Dependents, &below)? {
                let key = walk.keys.companion(Companion::Dependents, &x);
                let mut ours = false;
                walk.edges(&key, members, |walk, mut members| {
                    members.retain(|y| walk.marks.is_left(walk.edge(y, &x), Side::Lower));
                    ours = ours || walk.have_ours(&members)?;
                    for y in members {
                        walk.sink.held_back(Some(&y));
                        count += 1;
                        match count <= KEPT {
                            true => kept.entry(y).or_default().push(Name::from(x.as_slice())),
                            false => walk.suspect(ItemKind::Job, b"", &x)?,
                        }
                    }
                    Ok(())
                })?;
                if ours {
                    walk.suspect_left_over(&key, &x)?;
                }
            }
            Ok(())
        })?;
        let place = Location::new(ItemKind::Job, "");
        for (y, jids) in kept {
            if self.whole() {
                let there = self.are_there(&jids)?;
                self.sink.knows(&y, &there);
            }
            self.suspect_together(&place, &y, jids)?;
        }
        Ok(())
    }

    /// Returns those of the jobs that are not gone.
    fn are_there(&mut self, jids: &[Name]) -> Result<Vec<Name>, Error> {
        let asks = jids.iter().map(|jid| {
            let key = self.keys.job(jid.as_bytes());
            Read::field(&key, "jid")
        });
        let told = self.reads(asks.collect())?;
        self.sink.read(self.core, jids.len())?;
        let there = jids.iter().zip(told);
        let there = there.filter(|(_, told)| matches!(told, ReadReply::Text(Some(_))));
        Ok(there.map(|(jid, _)| jid.clone()).collect())
    }

    fn first_pages(
        &mut self,
        which: Companion,
        jids: &[Vec<u8>],
    ) -> Result<Vec<(Vec<u8>, ReadReply)>, Error> {
        let mut pages = Vec::with_capacity(jids.len());
        for jids in jids.chunks(self.pages(SETS)) {
            let page = self.page(jids.len());
            let asks = jids.iter().map(|jid| {
                let key = self.keys.companion(which, jid);
                Read::members(&key, START, page)
            });
            let told = self.reads(asks.collect())?;
            pages.extend(jids.iter().cloned().zip(told));
        }
        Ok(pages)
    }
}
