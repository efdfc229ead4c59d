//! Finds failed jobs that are in no failure list. One read of all lists replaces a search for each job.
//!
//! A list may change after the read. But the core adds a job to a list only when the job fails, and this changes the
//! job's mark. So a job that still has the mark from before the read is in no list.

use std::collections::{BTreeSet, HashMap};

use super::pace::CallPace;
use crate::check::repair_queue::StageRepairsAtLocation;
use crate::core::api::read::{PAGE, ReadCommand, ReadReply, START};
use crate::core::call::Core;
use crate::core::script::keys::{self, Keys};
use crate::error::Error;
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

/// Up to this number of entries in all failure lists, the core searches the lists for each job.
const MAX_SEARCHED: u64 = 1000;

/// The number of entries that one command reads.
const ENTRIES_PER_READ: u64 = 1000;

/// The number of commands in one round trip.
const READS_PER_ROUND_TRIP: usize = 10;

/// The number of jobs whose marks are read in one round trip.
const JOBS_PER_READ: usize = 2000;

/// Splits the failed jobs of a group in two. For the jobs at the location [`ItemKind::Failed`], the core has to search
/// the failure lists. The jobs at [`ItemKind::Unlisted`] are in no list, and each comes with its mark. Reads the marks,
/// then all failure lists. If the lists are short, leaves all jobs to the core instead.
pub(crate) fn split_unlisted_from_failed_jobs(
    core: &mut Core,
    group: &Name,
    jids: Vec<Name>,
    pace: &mut CallPace,
) -> Result<[(ItemLocation, Vec<Name>); 2], Error> {
    let (mut to_search, mut unlisted) = (Vec::new(), Vec::new());
    let lists = read_all_failure_list_lengths(core, group)?;
    let total: u64 = lists.iter().map(|(_, length)| length).sum();
    if group.as_bytes().is_empty() || total + jids.len() as u64 <= MAX_SEARCHED {
        to_search = jids;
    } else {
        let mut marks = Vec::with_capacity(jids.len());
        for jids in jids.chunks(JOBS_PER_READ) {
            marks.extend(core.job_version_marks(core.now(), jids)?);
            pace.wait_unless_interrupted(jids.len())?;
        }
        let found = find_jobs_in_lists(core, group, &lists, &jids, pace)?;
        for ((jid, mark), found) in jids.into_iter().zip(marks).zip(found) {
            match (found, mark) {
                (FailureListOfJob::Nowhere, Some(mark)) => unlisted.extend([jid, mark]),
                (FailureListOfJob::Elsewhere, Some(_)) => to_search.push(jid),
                // The list of the group has the job now, or the job does not exist any more: report nothing.
                (FailureListOfJob::InGroup, _) | (_, None) => {}
            }
        }
    }
    let location = |kind| ItemLocation::new(kind, group.clone());
    Ok([
        (location(ItemKind::Failed), to_search),
        (location(ItemKind::Unlisted), unlisted),
    ])
}

/// Splits a batch of failed jobs by [`split_unlisted_from_failed_jobs`]. Returns a batch of other items as it is.
pub(crate) fn split_unlisted_from_failed_batch(
    core: &mut Core,
    batch: StageRepairsAtLocation,
    pace: &mut CallPace,
) -> Result<Vec<StageRepairsAtLocation>, Error> {
    if batch.location.kind != ItemKind::Failed {
        return Ok(vec![batch]);
    }
    let jids: Vec<Name> = batch.groups.iter().flatten().cloned().collect();
    let parts = split_unlisted_from_failed_jobs(core, &batch.location.name, jids, pace)?;
    let parts = parts
        .into_iter()
        .map(|(location, items)| StageRepairsAtLocation {
            groups: items
                .chunks(location.kind.call_args_per_item())
                .map(<[Name]>::to_vec)
                .collect(),
            location,
            stage: batch.stage,
            excluded: batch.excluded.clone(),
            large: batch.large.clone(),
        });
    Ok(parts.collect())
}

/// Where a job was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureListOfJob {
    Nowhere,
    InGroup,
    Elsewhere,
}

/// The keys and the lengths of the failure lists of all groups, and of `group` even if the core does not list it.
fn read_all_failure_list_lengths(
    core: &mut Core,
    group: &Name,
) -> Result<Vec<(Vec<u8>, u64)>, Error> {
    let now = core.now();
    let names = Keys::new(core.prefix());
    let mut keys = BTreeSet::from([names.group_key(group.as_bytes())]);
    let listed = names.with_prefix(keys::FAILURES).into_bytes();
    let mut cursor = Some(START.to_vec());
    while let Some(from) = cursor {
        // If the list of groups is a key of a wrong type, go on without it. Its type is a finding of its own.
        let ReadReply::Page(next, groups) =
            core.run_read(now, ReadCommand::scan_set(&listed, &from, PAGE))?
        else {
            break;
        };
        keys.extend(groups.iter().map(|group| names.group_key(group)));
        cursor = next;
    }
    let reads = keys.iter().map(|key| ReadCommand::list_length(key));
    let replies = core.run_reads(now, reads.collect())?.into_iter();
    let lengths = replies.map(|reply| match reply {
        ReadReply::Number(length) => u64::try_from(length).unwrap_or(0),
        _ => 0,
    });
    Ok(keys.into_iter().zip(lengths).collect())
}

/// Finds each job in the lists. Counts the pages of a list from its end and reads them from its head: so an entry that
/// another client adds or removes meanwhile moves no other entry past the read.
fn find_jobs_in_lists(
    core: &mut Core,
    group: &Name,
    lists: &[(Vec<u8>, u64)],
    jids: &[Name],
    pace: &mut CallPace,
) -> Result<Vec<FailureListOfJob>, Error> {
    let list_of_group = Keys::new(core.prefix()).group_key(group.as_bytes());
    let at: HashMap<&[u8], usize> = jids.iter().map(Name::as_bytes).zip(0..).collect();
    let mut found = vec![FailureListOfJob::Nowhere; jids.len()];
    for (key, length) in lists {
        let result = if *key == list_of_group {
            FailureListOfJob::InGroup
        } else {
            FailureListOfJob::Elsewhere
        };
        let starts: Vec<u64> = (1..=*length)
            .rev()
            .step_by(ENTRIES_PER_READ as usize)
            .collect();
        for starts in starts.chunks(READS_PER_ROUND_TRIP) {
            let page = |start: &u64| {
                let first = -(*start as i64);
                ReadCommand::list_range(key, first, (first + ENTRIES_PER_READ as i64 - 1).min(-1))
            };
            let replies = core.run_reads(core.now(), starts.iter().map(page).collect())?;
            let mut count = 0;
            for reply in replies {
                let ReadReply::Texts(entries) = reply else {
                    continue;
                };
                count += entries.len();
                let jids = entries.iter().flatten().map(Vec::as_slice);
                for at in jids.filter_map(|jid| at.get(jid)) {
                    // An entry in the list of the job's own group takes precedence over an entry in another list.
                    if found[*at] != FailureListOfJob::InGroup {
                        found[*at] = result;
                    }
                }
            }
            pace.wait_unless_interrupted(count)?;
        }
    }
    Ok(found)
}
