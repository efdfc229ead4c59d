//! Finds failed jobs that are in no failure list. One read of all lists replaces a search for each job.
//!
//! A list may change after the read. But the core adds a job to a list only when the job fails, and this changes the
//! job's mark. So a job that still has the mark from before the read is in no list.

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::batch::RepairBatch;
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

/// Failed jobs that their failure list may lack, split by whether the core has to search the lists for them.
#[derive(Debug, Default)]
pub(super) struct UnlistedAndToSearchJobs {
    /// Jobs that are in no list, each with its mark.
    pub unlisted: Vec<[Name; 2]>,
    /// Jobs that the server has to search for.
    pub to_search: Vec<Name>,
}

impl UnlistedAndToSearchJobs {
    /// Splits failed jobs of a group. Reads their marks, then all failure lists, and calls `pace` with the numbers of
    /// jobs and entries read. If the lists are short, leaves all jobs to the core instead.
    pub(super) fn find_unlisted(
        core: &mut Core,
        group: &Name,
        jids: Vec<Name>,
        mut pace: impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<UnlistedAndToSearchJobs, Error> {
        let lists = FailureListKeysAndLengths::read_all_lengths(core, group)?;
        let total: u64 = lists.lengths.iter().sum();
        if group.as_bytes().is_empty() || total + jids.len() as u64 <= MAX_SEARCHED {
            return Ok(UnlistedAndToSearchJobs {
                to_search: jids,
                ..UnlistedAndToSearchJobs::default()
            });
        }
        let mut marks = Vec::with_capacity(jids.len());
        for jids in jids.chunks(JOBS_PER_READ) {
            marks.extend(core.job_version_marks(core.now(), jids)?);
            pace(jids.len())?;
        }
        let found = lists.find_jobs(core, &jids, pace)?;
        let mut jobs = UnlistedAndToSearchJobs::default();
        for ((jid, mark), found) in jids.into_iter().zip(marks).zip(found) {
            match (found, mark) {
                (FailureListOfJob::Nowhere, Some(mark)) => jobs.unlisted.push([jid, mark]),
                (FailureListOfJob::Elsewhere, Some(_)) => jobs.to_search.push(jid),
                // The list of the group has the job now, or the job does not exist any more: report nothing.
                (FailureListOfJob::InGroup, _) | (_, None) => {}
            }
        }
        Ok(jobs)
    }
}

/// Splits a batch of failed jobs into the jobs that are in no failure list, and the jobs that the core has to search
/// for. Returns a batch of other items as it is.
pub(crate) fn split_off_failed_jobs_in_no_list(
    core: &mut Core,
    batch: RepairBatch,
    pace: impl FnMut(usize) -> Result<(), Error>,
) -> Result<Vec<RepairBatch>, Error> {
    if batch.location.kind != ItemKind::Failed {
        return Ok(vec![batch]);
    }
    let group = batch.location.name.clone();
    let jids: Vec<Name> = batch.groups.iter().flatten().cloned().collect();
    let UnlistedAndToSearchJobs {
        unlisted,
        to_search,
    } = UnlistedAndToSearchJobs::find_unlisted(core, &group, jids, pace)?;
    let part = |location: ItemLocation, groups: VecDeque<Vec<Name>>| RepairBatch {
        stage: batch.stage,
        location,
        excluded: batch.excluded.clone(),
        groups,
        large: batch.large.clone(),
    };
    let unlisted = unlisted.into_iter().map(Vec::from).collect();
    let to_search = to_search.into_iter().map(|jid| vec![jid]).collect();
    Ok(vec![
        part(batch.location.clone(), to_search),
        part(ItemLocation::new(ItemKind::Unlisted, group), unlisted),
    ])
}

/// Where a job was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureListOfJob {
    Nowhere,
    InGroup,
    Elsewhere,
}

/// All failure lists, and their lengths.
struct FailureListKeysAndLengths {
    keys: Vec<Vec<u8>>,
    lengths: Vec<u64>,
    /// The list of the group of the jobs.
    own: Vec<u8>,
}

impl FailureListKeysAndLengths {
    /// Reads the keys and the lengths of the failure lists of all groups, and of `group` even if the core does
    /// not list it.
    fn read_all_lengths(core: &mut Core, group: &Name) -> Result<FailureListKeysAndLengths, Error> {
        let now = core.now();
        let names = Keys::new(core.prefix());
        let own = names.group_key(group.as_bytes());
        let mut keys = BTreeSet::from([own.clone()]);
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
        let keys: Vec<Vec<u8>> = keys.into_iter().collect();
        let reads = keys
            .iter()
            .map(|key| ReadCommand::list_length(key))
            .collect();
        let lengths = core
            .run_reads(now, reads)?
            .into_iter()
            .map(|reply| match reply {
                ReadReply::Number(length) => u64::try_from(length).unwrap_or(0),
                _ => 0,
            });
        let lengths = lengths.collect();
        Ok(FailureListKeysAndLengths { keys, lengths, own })
    }

    /// Finds each job in the lists. Counts the pages of a list from its end and reads them from its head: so an entry
    /// that another client adds or removes meanwhile moves no other entry past the read.
    fn find_jobs(
        &self,
        core: &mut Core,
        jids: &[Name],
        mut pace: impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<Vec<FailureListOfJob>, Error> {
        let at: HashMap<&[u8], usize> = jids.iter().map(Name::as_bytes).zip(0..).collect();
        let mut found = vec![FailureListOfJob::Nowhere; jids.len()];
        for (key, length) in self.keys.iter().zip(&self.lengths) {
            let result = if *key == self.own {
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
                    ReadCommand::list_range(
                        key,
                        first,
                        (first + ENTRIES_PER_READ as i64 - 1).min(-1),
                    )
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
                pace(count)?;
            }
        }
        Ok(found)
    }
}
