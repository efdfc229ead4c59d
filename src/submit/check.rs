//! The first pass of `put --from`: it validates every line before anything is sent.
//!
//! Memory holds a salted hash of eight bytes for each jid and each dependency. If two jids have the same hash, the
//! file is read again to compare the jids themselves.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use sha2::{Digest, Sha256};

use super::jid::{LineDefaults, offset_with_quote};
use super::queue_defaults::RequirementCheck;
use crate::args::coordination::ThrottleArg;
use crate::error::Error;
use crate::input::line::{Dependency, LineFault, NewJid};
use crate::input::two_pass::{TextLine, TwoPassFile};
use crate::name::Name;
use crate::session::Session;
use crate::text::Sanitized;

#[derive(Debug, Default)]
pub(super) struct FirstPassResult {
    /// How many jobs there are.
    pub jobs: u64,
    /// Whether a job depends on a job of a later line.
    pub has_forward_dependencies: bool,
    /// Whether a job gets a random jid, which is another one in each run.
    pub has_fresh_jids: bool,
    /// The first bytes of the SHA-256 of each line, by line number, if there is a journal.
    pub sums: Vec<u64>,
    /// The queues into which the jobs go. Empty unless the caller has to check on the server that they exist.
    pub queues: BTreeSet<Vec<u8>>,
    /// The maximum that the command line or a line sets for a throttle, by throttle id.
    pub maxima: BTreeMap<Name, i64>,
    /// Which options of lines have no effect.
    pub notes: Vec<String>,
}

/// A set of numbers that are hashes.
pub(super) type HashValues = HashSet<u64, BuildHasherDefault<IdentityHasher>>;

/// Uses a number as its own hash.
#[derive(Debug, Default)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Reads and validates the whole file.
pub(super) fn check_lines(
    file: &mut TwoPassFile,
    defaults: &LineDefaults,
    throttles: &[ThrottleArg],
    needs_sums: bool,
    needs_queues: bool,
    replaces_jobs: bool,
    session: &mut Session,
) -> Result<FirstPassResult, Error> {
    let what = file.source_name().to_owned();
    let salt = RandomState::new();
    let hash = |jid: &[u8]| salt.hash_one(jid);
    let mut checked = FirstPassResult::default();
    let maximum = |throttle: &ThrottleArg| Some((throttle.id.clone(), throttle.maximum?));
    checked.maxima = throttles.iter().filter_map(maximum).collect();
    let mut requirements = RequirementCheck::default();
    let (mut known, mut pending) = (HashValues::default(), HashValues::default());
    // Lines whose jid may be a duplicate, because its hash occurred before: line number, offset of the jid, jid.
    let mut doubles: Vec<(u64, usize, Vec<u8>)> = Vec::new();
    let read = file.for_each_line_in_first_pass(|row| {
        if needs_sums {
            let line = usize::try_from(row.number).unwrap_or(usize::MAX);
            checked.sums.resize(line, 0);
            checked.sums[line - 1] = line_hash(row.text);
        }
        checked.jobs += 1;
        let wrong = |fault: LineFault| line_error(&what, &row, fault);
        let job = defaults.parse_job_line(row.text).map_err(wrong)?;
        let met = requirements.check_line(
            job.queue(),
            &job.coordination,
            replaces_jobs && job.jid.jid_unless_fresh().is_some(),
            || format!("{what}, line {}", row.number),
            session,
        )?;
        met.map_err(|why| wrong(LineFault::at_offset(row.text, 0, why)))?;
        if needs_queues && !checked.queues.contains(job.queue()) {
            checked.queues.insert(job.queue().to_vec());
        }
        for (id, number) in job.maxima.iter().filter_map(maximum) {
            let other = *checked.maxima.entry(id.clone()).or_insert(number);
            if other != number {
                let what = format!("throttle `{id}` has two maxima, {other} and {number}");
                return Err(wrong(LineFault::at_offset(row.text, 0, what)));
            }
        }
        let own = match job.jid.jid_unless_fresh() {
            None => {
                checked.has_fresh_jids = true;
                None
            }
            Some(jid) => {
                let own = hash(jid);
                if let (false, NewJid::Given(jid)) = (known.insert(own), &job.jid) {
                    // A limited number of candidates is enough: the first true duplicate ends the check, and equal
                    // hashes of different jids are very rare.
                    if doubles.len() < MAX_DOUBLES {
                        doubles.push((row.number, offset_with_quote(row.text, jid), jid.to_vec()));
                    }
                }
                Some(own)
            }
        };
        for Dependency(other) in job.dependencies() {
            if own.is_some() && job.jid.jid_unless_fresh() == Some(other) {
                let (at, jid) = (offset_with_quote(row.text, other), Sanitized(other));
                let fault = LineFault::at_offset(
                    row.text,
                    at,
                    format!("it depends on itself: {jid} → {jid}"),
                );
                return Err(Error::conflict(wrong(fault).message()));
            }
            let other = hash(other);
            if !known.contains(&other) {
                pending.insert(other);
            }
        }
        Ok(())
    });
    for (number, at, jid) in doubles {
        refuse_duplicate_jid(file, defaults, number, at, &jid)?;
    }
    read?;
    checked.notes = requirements.notes;
    file.refuse_changed_file()?;
    checked.has_forward_dependencies = pending.iter().any(|other| known.contains(other));
    Ok(checked)
}

/// Maximum number of possible duplicates that are verified by reading the file again.
const MAX_DOUBLES: usize = 100;

/// Refuses a line if an earlier line has the same jid.
fn refuse_duplicate_jid(
    file: &TwoPassFile,
    defaults: &LineDefaults,
    number: u64,
    jid_offset: usize,
    jid: &[u8],
) -> Result<(), Error> {
    let mut first = None;
    let mut fault = None;
    file.for_each_line_in_further_pass(file.line_reader(), |row| {
        if row.number == number && first.is_some() {
            fault = Some(LineFault::at_offset(row.text, jid_offset, String::new()).column);
        }
        if row.number >= number || first.is_some() {
            return Ok(());
        }
        let job = defaults.parse_job_line(row.text);
        if job.is_ok_and(|job| job.jid.jid_unless_fresh() == Some(jid)) {
            first = Some(row.number);
        }
        Ok(())
    })?;
    match (first, fault) {
        (Some(first), Some(column)) => {
            let (what, jid) = (file.source_name(), Sanitized(jid));
            Err(Error::usage(format!(
                "{what}, line {number}, column {column}: jid `{jid}` is also in line {first}"
            )))
        }
        _ => Ok(()),
    }
}

pub(super) fn line_error(what: &str, row: &TextLine, fault: LineFault) -> Error {
    let LineFault {
        column,
        what: why,
        hint,
    } = fault;
    let line = row.number;
    Error::usage(format!("{what}, line {line}, column {column}: {why}")).hint_if(hint)
}

/// The first eight bytes of the SHA-256 of a line, as a number. Never 0, because 0 stands for a line number without
/// a job.
pub(super) fn line_hash(line: &[u8]) -> u64 {
    first_bytes_as_nonzero_u64(&Sha256::digest(line))
}

/// The first bytes of a hash as a number.
pub(super) fn first_bytes_as_nonzero_u64(sum: &[u8]) -> u64 {
    let first = sum.first_chunk().copied().unwrap_or_default();
    u64::from_be_bytes(first).max(1)
}
