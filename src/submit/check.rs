//! The first reading: every line is checked before anything is sent.
//!
//! Of each jid only a salted hash is kept, eight bytes, and of what other jobs are waited for as
//! much; where a hash says that a jid came before, the file is read again to be sure.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use sha2::{Digest, Sha256};

use super::job_spec::{JidSpec, JobDefaults, JobSpec};
use crate::error::Error;
use crate::input::line::{JobLine, LineFault, texts};
use crate::input::two_pass::{TextLine, TwoPassFile};
use crate::text::clean;

/// What was found out.
#[derive(Debug, Default)]
pub(super) struct CheckResult {
    /// How many jobs there are.
    pub jobs: u64,
    /// Whether some wait for jobs of later lines.
    pub forward: bool,
    /// Whether some get a new jid each time.
    pub fresh: bool,
    /// The beginning of the SHA-256 of each line by its number, where there is a journal.
    pub sums: Vec<u64>,
}

/// A set of numbers that are hashes already.
pub(super) type HashValues = HashSet<u64, BuildHasherDefault<IdentityHasher>>;

/// Takes a number for its own hash.
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

/// Reads the file and refuses it, or tells what is to be known of it.
pub(super) fn check(
    twice: &mut TwoPassFile,
    plan: &JobDefaults,
    sums: bool,
) -> Result<CheckResult, Error> {
    let what = twice.what().to_owned();
    let salt = RandomState::new();
    let hash = |jid: &[u8]| salt.hash_one(jid);
    let mut checked = CheckResult::default();
    let (mut known, mut awaited) = (HashValues::default(), HashValues::default());
    // Jids that seem to come twice: their line, and where they stand in it.
    let mut doubles: Vec<(u64, usize, Vec<u8>)> = Vec::new();
    let read = twice.first(|row| {
        if sums {
            let line = usize::try_from(row.number).unwrap_or(usize::MAX);
            checked.sums.resize(line, 0);
            checked.sums[line - 1] = sum(row.text);
        }
        checked.jobs += 1;
        let wrong = |fault: LineFault| refused(&what, &row, fault);
        let line = JobLine::read(row.text, plan.max_data).map_err(wrong)?;
        let job = plan.job(row.text, &line).map_err(wrong)?;
        let own = match job.jid.known() {
            None => {
                checked.fresh = true;
                None
            }
            Some(jid) => {
                let own = hash(jid);
                if let (false, JidSpec::Told(_, at)) = (known.insert(own), &job.jid) {
                    // The first of them is told; a hash alone lies once in a lifetime.
                    if doubles.len() < MOST_DOUBLES {
                        doubles.push((row.number, *at, jid.to_vec()));
                    }
                }
                Some(own)
            }
        };
        for other in job.depends.map(texts).unwrap_or_default() {
            if own.is_some() && job.jid.known() == Some(&*other) {
                let jid = clean(&other);
                let at = line.depends_at;
                let fault =
                    LineFault::at(row.text, at, format!("it waits for itself: {jid} → {jid}"));
                return Err(wrong(fault));
            }
            let other = hash(&other);
            if !known.contains(&other) {
                awaited.insert(other);
            }
        }
        Ok(())
    });
    for (number, at, jid) in doubles {
        twins(twice, plan, number, at, &jid)?;
    }
    read?;
    twice.unchanged()?;
    checked.forward = awaited.iter().any(|other| known.contains(other));
    Ok(checked)
}

/// So many are looked at.
const MOST_DOUBLES: usize = 100;

/// Refuses a line whose jid a line before it has, too.
fn twins(
    twice: &TwoPassFile,
    plan: &JobDefaults,
    number: u64,
    at: usize,
    jid: &[u8],
) -> Result<(), Error> {
    let mut first = None;
    let mut fault = None;
    twice.each(twice.lines(), |row| {
        if row.number == number && first.is_some() {
            fault = Some(LineFault::at(row.text, at, String::new()).column);
        }
        if row.number >= number || first.is_some() {
            return Ok(());
        }
        let has = |job: JobSpec| job.jid.known() == Some(jid);
        let line = JobLine::read(row.text, plan.max_data);
        if line.is_ok_and(|line| plan.job(row.text, &line).is_ok_and(has)) {
            first = Some(row.number);
        }
        Ok(())
    })?;
    match (first, fault) {
        (Some(first), Some(column)) => {
            let (what, jid) = (twice.what(), clean(jid));
            Err(Error::usage(format!(
                "{what}, line {number}, column {column}: jid `{jid}` comes twice, first in line {first}"
            )))
        }
        _ => Ok(()),
    }
}

/// Says which line is refused, and why.
fn refused(what: &str, row: &TextLine, fault: LineFault) -> Error {
    let LineFault {
        column,
        what: why,
        hint,
    } = fault;
    let line = row.number;
    let error = Error::usage(format!("{what}, line {line}, column {column}: {why}"));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// Returns the beginning of the SHA-256 of a line; never 0, which is no line.
pub(super) fn sum(line: &[u8]) -> u64 {
    start(&Sha256::digest(line))
}

/// Returns the beginning of a sum, as it is kept.
pub(super) fn start(sum: &[u8]) -> u64 {
    let first = sum.first_chunk().copied().unwrap_or_default();
    u64::from_be_bytes(first).max(1)
}
