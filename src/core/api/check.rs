//! Judging and mending: the verdicts of `check.slice`, and `check.revert`.
//!
//! A verdict is given by one call, from one instant. What is asked about are only candidates.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::index::Index;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::call::reply;
use crate::core::call::{Call, Value};
use crate::error::Error;
use crate::model::finding::{Detail, FindingId};
use crate::model::verdict::{Change, Location, MAX_ITEMS, RepairReply, Verdict, VerdictOutcome};
use crate::name::Name;

impl Core {
    /// Judges items of one place. `findings`: empty for all, else ids by commas; `-id` leaves one
    /// out, a named one is decided for.
    pub fn verdicts(
        &mut self,
        now: Moment,
        findings: &str,
        place: &Location,
        items: &[Name],
    ) -> Result<Vec<Verdict>, Error> {
        self.plan(now, findings, "", place, items)
    }

    /// Judges them as [`Core::mend`] would, and returns in the changes what that would do.
    pub fn plan(
        &mut self,
        now: Moment,
        findings: &str,
        run: &str,
        place: &Location,
        items: &[Name],
    ) -> Result<Vec<Verdict>, Error> {
        let (verdicts, _) = self.slice(now, "look", findings, run, place, items)?;
        Ok(verdicts)
    }

    /// Judges items again and mends what still holds, in the same call. `run` is the name of the
    /// repair, which what it sets aside gets.
    pub fn mend(
        &mut self,
        now: Moment,
        findings: &str,
        run: &str,
        place: &Location,
        items: &[Name],
    ) -> Result<RepairReply, Error> {
        let (verdicts, again) = self.slice(now, "mend", findings, run, place, items)?;
        Ok(RepairReply {
            verdicts,
            repeated: again,
        })
    }

    fn slice(
        &mut self,
        now: Moment,
        mode: &str,
        findings: &str,
        run: &str,
        place: &Location,
        items: &[Name],
    ) -> Result<(Vec<Verdict>, bool), Error> {
        let words = [mode, findings, run, place.kind.word()];
        let call = Call::new("check.slice").args(words).arg(&place.name);
        // Whoever judges again needs to settle nothing: what the first time mended is sound now.
        let (rows, again) = self.answer(now, call.args(items));
        let rows = reply::list(rows?)?.into_iter().map(verdict);
        Ok((rows.collect::<Result<_, _>>()?, again))
    }

    /// Puts back what repairs changed, newest first, where nothing has changed since. Returns how
    /// many were put back, and how many left alone.
    pub fn put_back(&mut self, now: Moment, changes: &[Change]) -> Result<(u64, u64), Error> {
        let mut words: Vec<Vec<u8>> = Vec::with_capacity(changes.len() * 4);
        for change in changes {
            words.push(change.key.as_bytes().to_vec());
            for text in [&change.item, &change.before, &change.after] {
                words.push(match text {
                    Some(text) => [b"+", text.as_bytes()].concat(),
                    None => b"-".to_vec(),
                });
            }
        }
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let told = reply::list(self.call(now, "check.revert", &words)?)?;
        let mut told = told.into_iter().map(reply::integer);
        match (told.next(), told.next()) {
            (Some(back), Some(left)) => Ok((back?.unsigned_abs(), left?.unsigned_abs())),
            _ => Err(reply::unexpected("two numbers")),
        }
    }
}

/// What the server tells of itself that may damage jobs; nothing where it tells nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// `maxmemory-policy`.
    pub policy: Option<String>,
    /// `maxmemory`; 0 is no limit.
    pub limit: Option<u64>,
    /// How many keys it has evicted since it was started.
    pub evicted: u64,
    /// What a replica says of its primary.
    pub primary: Option<Primary>,
    /// How many keys there are in the database.
    pub keys: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Primary {
    pub up: bool,
    /// For how many seconds it has been down.
    pub down: u64,
}

impl Core {
    /// Returns what the server tells of itself; who may not ask gets less.
    pub fn server(&mut self, now: Moment) -> Server {
        let calls = [
            Call::plain("INFO").arg("memory"),
            Call::plain("INFO").arg("stats"),
            Call::plain("INFO").arg("replication"),
            Call::plain("INFO").arg("keyspace"),
        ];
        let answers = self.calls(now, &calls);
        let told = answers
            .into_iter()
            .flatten()
            .filter_map(|told| reply::bytes(told).ok());
        let told: Vec<String> = told
            .map(|told| String::from_utf8_lossy(&told).into_owned())
            .collect();
        let field = |name: &str| {
            let lines = told.iter().flat_map(|told| told.lines());
            let mut values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            values.next().map(|value| value.trim().to_owned())
        };
        let number = |name: &str| field(name).and_then(|text| text.parse::<u64>().ok());
        // `db0:keys=12,expires=0,…`, and no line for an empty one.
        let database = field(&format!("db{}", self.db()));
        let keys = match database
            .as_deref()
            .unwrap_or("keys=0")
            .strip_prefix("keys=")
        {
            Some(text) if !told.is_empty() => text.split(',').next(),
            _ => None,
        };
        let keys = keys.and_then(|text| text.parse().ok());
        let replica = field("role").is_some_and(|role| role == "slave");
        Server {
            policy: field("maxmemory_policy"),
            limit: number("maxmemory"),
            evicted: number("evicted_keys").unwrap_or(0),
            primary: replica.then(|| Primary {
                up: field("master_link_status").is_none_or(|status| status == "up"),
                down: number("master_link_down_since_seconds").unwrap_or(0),
            }),
            keys,
        }
    }

    /// Returns how long a call takes that does nothing.
    pub fn trip(&mut self, now: Moment) -> Duration {
        let mut least = Duration::MAX;
        for _ in 0..3 {
            let begun = Instant::now();
            self.calls(now, &[Call::plain("TIME")]);
            least = least.min(begun.elapsed());
        }
        least
    }

    /// Returns whether each is a job.
    pub fn are_jobs(&mut self, now: Moment, jids: &[Name]) -> Result<Vec<bool>, Error> {
        let mut there = Vec::with_capacity(jids.len());
        for slice in jids.chunks(MAX_ITEMS) {
            let mut words: Vec<&[u8]> = vec![b"state"];
            words.extend(slice.iter().map(Name::as_bytes));
            let told = reply::list(self.call(now, "look.jobs", &words)?)?;
            there.extend(told.iter().map(|job| *job != Value::Nil));
        }
        Ok(there)
    }

    /// Returns the first waiting job of each queue, of some 500 queues.
    pub fn heads(&mut self, now: Moment) -> Result<HashSet<Name>, Error> {
        let queues = self.index(now, &Index::Queues, 0, 500)?.members;
        let firsts: Vec<(Index, u64)> = queues
            .into_iter()
            .map(|queue| (Index::Waiting(queue), 0))
            .collect();
        let parts = self.parts(now, &firsts, 1)?;
        Ok(parts.into_iter().flat_map(|part| part.members).collect())
    }
}

/// Reads a finding: id, item, outcome, detail, then its changes.
fn verdict(row: Value) -> Result<Verdict, Error> {
    let mut row = reply::list(row)?.into_iter();
    let mut word = || match row.next() {
        Some(word) => reply::bytes(word),
        None => Err(reply::unexpected("a finding")),
    };
    let (id, item, outcome, detail) = (word()?, word()?, word()?, word()?);
    let id = std::str::from_utf8(&id).ok().and_then(FindingId::named);
    let id = id.ok_or_else(|| reply::unexpected("a finding"))?;
    Ok(Verdict {
        id,
        item: Name::from(item),
        outcome: match outcome.as_slice() {
            b"found" => VerdictOutcome::Repairable,
            b"decide" => VerdictOutcome::NeedsOnly,
            b"report" => VerdictOutcome::Report,
            b"mended" => VerdictOutcome::Repaired,
            _ => return Err(reply::unexpected("an outcome")),
        },
        known_detail: Detail::read(id, &detail),
        detail: Name::from(detail),
        changes: row.map(change).collect::<Result<_, _>>()?,
    })
}

fn change(value: Value) -> Result<Change, Error> {
    let mut words = reply::list(value)?.into_iter();
    let mut next = || match words.next() {
        Some(word) => Ok(reply::optional(word)?.map(Name::from)),
        None => Err(reply::unexpected("a change")),
    };
    let (key, item, before, after) = (next()?, next()?, next()?, next()?);
    Ok(Change {
        key: key.ok_or_else(|| reply::unexpected("a key"))?,
        item,
        before,
        after,
    })
}
