//! Errors about names that do not exist.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use super::index::Index;
use super::page::JobScan;
use super::read::{ReadCommand, ReadReply};
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::script::keys::{self, Keys};
use crate::error::Error;
use crate::name::Name;
use crate::text::{Sanitized, backtick_list, format_count, with_thousands_separators};

/// The error about a job.
pub(crate) fn missing_job_error(jid: &Name) -> Error {
    Error::not_found(format!("job `{jid}` does not exist")).about_jid(jid)
}

/// Maximum number of missing jobs that an error names.
const MISSING_NAMED: usize = 20;

/// Fails with an error about these missing jobs, unless the list is empty.
pub(crate) fn refuse_missing_jobs(jids: &[Name]) -> Result<(), Error> {
    match jids {
        [] => Ok(()),
        [jid] => Err(missing_job_error(jid)),
        _ => {
            let jobs = format_count(jids.len() as u64, "job does", "jobs do");
            let names = backtick_list(jids.iter().take(MISSING_NAMED));
            let more = match jids.len().saturating_sub(MISSING_NAMED) as u64 {
                0 => String::new(),
                more => format!(" and {} more", with_thousands_separators(more)),
            };
            Err(Error::not_found(format!("{jobs} not exist: {names}{more}")))
        }
    }
}

/// The lengths of a text that may be a shortened jid. A longer text is a whole jid, as scripts give it: no search for
/// others.
const JID_PREFIX_LENGTHS: RangeInclusive<usize> = 4..=31;

/// Time limit of the search for jids that begin with a given text.
const SEARCH_TIME: Duration = Duration::from_millis(200);

/// Maximum number of jids that are named.
const MAX_NAMED: usize = 5;

/// For a given jid that does not exist, a hint with the existing jids that begin with it. Lists shorten jids, and a
/// shortened jid ends in `…`.
pub(crate) fn hint_at_full_jids(core: &mut Core, now: Moment, jid: &Name) -> Option<String> {
    let bytes = jid.as_bytes();
    let beginning = bytes.strip_suffix("…".as_bytes()).unwrap_or(bytes);
    if !JID_PREFIX_LENGTHS.contains(&beginning.len()) {
        return None;
    }
    let (mut scan, begun) = (JobScan::of_jids_beginning_with(beginning), Instant::now());
    let mut found = BTreeSet::new();
    while found.len() <= MAX_NAMED
        && begun.elapsed() < SEARCH_TIME
        && let Some(jids) = scan.jids_of_next_scan_step(core, now).ok()?
    {
        found.extend(jids);
    }
    // If the job itself exists, the error is not about a shortened jid: no hint.
    if found.contains(jid) {
        return None;
    }
    let more = if found.len() > MAX_NAMED { ", …" } else { "" };
    let names: Vec<String> = found
        .iter()
        .take(MAX_NAMED)
        .map(|jid| format!("`{jid}`"))
        .collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(format!("did you mean {name}?")),
        names => Some(format!("jobs begin so: {}{more}", names.join(", "))),
    }
}

/// The error about a queue that does not exist, with the most similar name of a queue that does.
pub(crate) fn missing_queue_error(
    core: &mut Core,
    now: Moment,
    name: &Name,
) -> Result<Error, Error> {
    Ok(Error::unknown_name(
        "queue",
        name,
        &core.index_members(now, &Index::Queues)?,
    ))
}

/// Fails if the queue or failure group of an empty index does not exist.
pub(crate) fn refuse_missing_queue_or_group(
    core: &mut Core,
    now: Moment,
    index: &Index,
) -> Result<(), Error> {
    match index {
        // A group exists as long as its list does.
        Index::Failed(group) => {
            let known = core.index_members(now, &Index::Groups)?;
            if known.contains(group) {
                Ok(())
            } else {
                Err(Error::unknown_name("group", group, &known))
            }
        }
        _ => match index.queue_of_index() {
            Some(queue) => core.require_queue(now, queue),
            None => Ok(()),
        },
    }
}

/// The hint that the prefix has neither queues nor jobs, if none of its indexes exists.
pub(crate) fn empty_prefix_hint(core: &mut Core, now: Moment) -> Result<Option<String>, Error> {
    let keys = Keys::new(core.prefix());
    let indexes = [
        keys::QUEUES,
        keys::WORKERS,
        keys::COMPLETED,
        keys::FAILURES,
        keys::TAGS,
        keys::TRACKED,
        keys::PAUSED,
        keys::CONFIG,
        keys::THROTTLES,
        keys::PAUSED_RECURRING,
    ];
    let exist = indexes.map(|name| ReadCommand::key_exists(keys.with_prefix(name).as_bytes()));
    let replies = core.run_reads(now, exist.to_vec())?;
    let none = replies
        .iter()
        .all(|reply| matches!(reply, ReadReply::Number(0)));
    Ok(none.then(|| {
        let (prefix, address) = (Sanitized(core.prefix()), core.address());
        format!("nothing is stored under the prefix `{prefix}` in `{address}`")
    }))
}

/// The named queues; if no names are given, all queues of an index. A named queue that does not exist is an error,
/// unless `allows_missing` is set.
pub(crate) fn named_or_all_queues(
    core: &mut Core,
    now: Moment,
    named: Option<&[Name]>,
    all: &Index,
    allows_missing: bool,
) -> Result<Vec<Name>, Error> {
    let Some(named) = named else {
        return core.index_members(now, all);
    };
    if !allows_missing {
        for queue in core.queues_including_unreadable(now, named)? {
            if !queue.exists() {
                let known = core.index_members(now, &Index::Queues)?;
                return Err(Error::unknown_name("queue", &queue.name, &known));
            }
        }
    }
    Ok(named.to_vec())
}
