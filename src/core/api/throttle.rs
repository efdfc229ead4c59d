//! Throttles and lanes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use strum::IntoStaticStr;

use super::index;
use super::index::Index;
use super::job::JobFields;
use super::queue::{CHECK, wrong_type_clause};
use super::read::{ReadCommand, ReadReply, START};
use crate::clock::moment::Moment;
use crate::core::call::reply::{self, Bytes};
use crate::core::call::{Call, Core, calls};
use crate::core::script::keys::Keys;
use crate::error::{Error, Kind};
use crate::json::{Json, field_value};
use crate::lenient;
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::model::job::Neighbor;
use crate::model::overview::OmittedCounts;
use crate::model::throttle::{Throttle, ThrottleJobs};
use crate::name::{Name, reserved_throttle_suffix};

/// The number of throttles that one round trip reads.
const THROTTLES_PER_ROUND: usize = 100;

/// The number of keys that one step of a scan examines.
const KEYS_PER_STEP: usize = 1000;

const MAX_JOBS_SHOWN: usize = 100;

/// Maximum number of held jobs that one call returns to their queues.
const WOKEN_PER_CALL: u64 = 1000;

/// The cursor of `look.throttles` that skips the rest of the index of maxima and goes on with what holds jobs back.
const HOLDING: &str = "queues -inf 0";

/// The throttles whose maximum a client has set with this core, and the throttles and lanes that hold a job back now.
#[derive(Debug, Default)]
pub(crate) struct ThrottleListing {
    /// By id, the lanes last.
    pub throttles: BTreeMap<(bool, Name), Throttle>,
    /// The throttles whose maximum was set by a client with another core, or by an earlier version.
    pub unlisted: BTreeSet<Name>,
    pub unreadable: BTreeMap<Option<Name>, UnreadableThrottle>,
    /// The number of queues that were not read. Throttles and lanes that hold a job back only there are missing.
    pub omitted: OmittedCounts,
    /// Whether reading stopped before the end of the index of maxima.
    pub is_cut: bool,
}

impl ThrottleListing {
    /// Adds throttles to the listing. A throttle replaces a listed one that has its id.
    pub(crate) fn add_throttles(
        &mut self,
        throttles: Vec<Throttle>,
        unreadable: Vec<UnreadableThrottle>,
    ) {
        let by_id = |throttle: Throttle| ((throttle.lane, throttle.id.clone()), throttle);
        self.throttles.extend(throttles.into_iter().map(by_id));
        let by_id = |throttle: UnreadableThrottle| (throttle.id.clone(), throttle);
        self.unreadable.extend(unreadable.into_iter().map(by_id));
    }

    fn add_item(&mut self, item: ThrottleOrLaneItem) {
        match item {
            ThrottleOrLaneItem::Limit {
                id,
                maximum,
                ttl,
                locks,
                pending,
                is_listed,
            } => {
                let throttle = Throttle {
                    locks,
                    pending,
                    ..Throttle::with_maximum(id, maximum, ttl)
                };
                if throttle.defined && !is_listed {
                    self.unlisted.insert(throttle.id.clone());
                }
                self.add_throttles(vec![throttle], Vec::new());
            }
            ThrottleOrLaneItem::Lane { id, jobs } => {
                self.add_throttles(vec![Throttle::from_lane(id, jobs)], Vec::new());
            }
            ThrottleOrLaneItem::Wrong { key, throttle } => {
                let wrong = self.unreadable.entry(throttle.clone());
                let wrong = wrong.or_insert(UnreadableThrottle {
                    id: throttle,
                    keys: Vec::new(),
                });
                if !wrong.keys.contains(&key) {
                    wrong.keys.push(key);
                }
            }
            ThrottleOrLaneItem::Omitted { queues } => self.omitted.queues = queues,
        }
    }
}

/// Which throttles `look.throttles` lists.
#[derive(Clone, Copy, Debug, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
enum AllOrHoldingThrottles {
    /// The throttles whose maximum the core has set, then the throttles and lanes that hold a job back.
    All,
    /// Only the throttles and lanes that hold a job back.
    Holding,
}

/// An item of `look.throttles`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ThrottleOrLaneItem {
    Limit {
        id: Name,
        maximum: f64,
        /// Seconds until the maximum expires; -1 if it never expires, -2 if no maximum is set.
        ttl: f64,
        locks: u64,
        pending: u64,
        is_listed: bool,
    },
    Lane {
        id: Name,
        jobs: u64,
    },
    /// A key of a wrong type.
    Wrong {
        key: Name,
        throttle: Option<Name>,
    },
    Omitted {
        queues: u64,
    },
}

/// The reply of `throttle.wake`, which returns held jobs of a throttle to their queues.
#[derive(Deserialize)]
#[serde(rename = "row")]
struct ThrottleWakeReply {
    returned: u64,
    /// The jobs that still wait.
    held: u64,
    /// The free slots; negative without a limit.
    free: i64,
}

/// A throttle with the jids of its holders (`locks`) and of the jobs that wait.
struct ThrottleWithJids {
    throttle: Throttle,
    locks: Vec<Name>,
    pending: Vec<Name>,
}

impl Core {
    /// Sets the maximum of a throttle in the name of the operator `by`; with `seconds`, only for that time. Then
    /// returns held jobs to their queues, call by call, until each job that now has a slot is back. The result is the
    /// number of these jobs.
    pub(crate) fn set_maximum_and_wake_held_jobs(
        &mut self,
        now: Moment,
        id: &Name,
        maximum: i64,
        seconds: Option<&str>,
        by: &str,
    ) -> Result<u64, Error> {
        let before = self.return_held_jobs_to_queues(now, id, 0)?;
        let call = Call::new(calls::THROTTLE_SET);
        let call = call.arg(id).arg(maximum.to_string());
        let call = call.arg(seconds.unwrap_or("0")).arg(by);
        self.call::<()>(now, call)?;
        let after = self.return_held_jobs_to_queues(now, id, 0)?;
        let mut returned = before.held.saturating_sub(after.held);
        loop {
            // A returned job takes its slot only when it is popped: subtract the returned jobs from the free slots.
            let free = u64::try_from(after.free);
            let free = free.map_or(u64::MAX, |free| free.saturating_sub(returned));
            let woken = self.return_held_jobs_to_queues(now, id, free.min(WOKEN_PER_CALL))?;
            returned += woken.returned;
            if woken.returned == 0 || woken.held == 0 {
                return Ok(returned);
            }
        }
    }

    /// Moves up to `limit` held jobs of a throttle back to the waiting jobs of their queues.
    fn return_held_jobs_to_queues(
        &mut self,
        now: Moment,
        id: &Name,
        limit: u64,
    ) -> Result<ThrottleWakeReply, Error> {
        let call = Call::new(if limit == 0 {
            // It moves no job, and so only counts.
            calls::THROTTLE_WAKE.as_dry_run()
        } else {
            calls::THROTTLE_WAKE
        });
        self.call(now, call.arg(id).arg(limit.to_string()))
    }

    /// Deletes the maximum of a throttle, and returns the held jobs to their queues. Its jobs then run without a limit;
    /// if the id begins with `lock:`, one at a time.
    pub(crate) fn delete_maximum_and_wake_held_jobs(
        &mut self,
        now: Moment,
        id: &Name,
    ) -> Result<(), Error> {
        self.call::<()>(now, Call::new(calls::THROTTLE_DELETE).arg(id))?;
        // Without a maximum, a lock still has its one slot. The call above has returned a job for it.
        let mut woken = self.return_held_jobs_to_queues(now, id, 0)?;
        while woken.free < 0 && woken.held > 0 {
            woken = self.return_held_jobs_to_queues(now, id, WOKEN_PER_CALL)?;
            if woken.returned == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Frees the slots that these jobs hold, if they run. Removes the throttle from the jobs that wait for a slot, so
    /// that they can run.
    pub(crate) fn free_jobs_from_throttle(
        &mut self,
        now: Moment,
        id: &Name,
        jids: &[Name],
    ) -> Result<(), Error> {
        let call = Call::new(calls::THROTTLE_RELEASE).arg(id).args(jids);
        self.call(now, call)
    }

    /// The jids of the jobs that hold a slot of a throttle, the oldest holder first, or of the jobs
    /// that wait for one, the next one first.
    pub(crate) fn throttle_jids(
        &mut self,
        now: Moment,
        id: &Name,
        part: ThrottleJobSet,
    ) -> Result<Vec<Name>, Error> {
        let call = part.part_jids_call(id);
        read_name_array(self.call(now, call)?)
    }

    /// Throttles in the order of the ids.
    pub(crate) fn throttles(&mut self, now: Moment, ids: &[Name]) -> Result<Vec<Throttle>, Error> {
        let found = self.throttles_with_jids(now, ids)?;
        let throttles = found
            .into_iter()
            .map(|found| found.map(|found| found.throttle));
        throttles.collect()
    }

    /// The maximum number of jobs with a slot of each throttle: 0 means no limit, a negative number lets no job run.
    pub(crate) fn throttle_maxima(&mut self, now: Moment, ids: &[Name]) -> Result<Vec<i64>, Error> {
        let calls = ids.iter().map(|id| Call::new(calls::THROTTLE_GET).arg(id));
        let replies: Vec<Bytes> = self.call_in_rounds(now, calls, THROTTLES_PER_ROUND)?;
        let maximum = |(id, reply)| read_throttle(id, reply).map(|throttle| throttle.maximum);
        ids.iter().zip(replies).map(maximum).collect()
    }

    /// Throttles, each with the jids of its holders and of the jobs that wait.
    fn throttles_with_jids(
        &mut self,
        now: Moment,
        ids: &[Name],
    ) -> Result<Vec<Result<ThrottleWithJids, Error>>, Error> {
        let mut throttles = Vec::with_capacity(ids.len());
        for ids in ids.chunks(THROTTLES_PER_ROUND) {
            let calls = ids.iter().flat_map(|id| {
                let get = Call::new(calls::THROTTLE_GET).arg(id);
                [
                    get,
                    ThrottleJobSet::Locks.part_jids_call(id),
                    ThrottleJobSet::Pending.part_jids_call(id),
                ]
            });
            let calls: Vec<Call> = calls.collect();
            let mut replies = self.call_all(now, &calls).into_iter();
            for id in ids {
                let mut next = || replies.next().unwrap_or_else(|| Ok(Bytes::default()));
                let (throttle, locks, pending) = (next(), next(), next());
                let read = || {
                    let mut throttle = read_throttle(id, throttle?)?;
                    let (locks, pending) = (read_name_array(locks?)?, read_name_array(pending?)?);
                    throttle.locks = locks.len() as u64;
                    throttle.pending = pending.len() as u64;
                    Ok(ThrottleWithJids {
                        throttle,
                        locks,
                        pending,
                    })
                };
                throttles.push(read());
            }
        }
        Ok(throttles)
    }

    /// The throttles whose maximum a client has set with this core, and the throttles and lanes that hold a job back
    /// now in the oldest and the newest queues. Makes one call, or a few if there are many.
    pub(crate) fn limited_or_blocking_throttles(
        &mut self,
        now: Moment,
    ) -> Result<ThrottleListing, Error> {
        self.read_throttle_listing(now, AllOrHoldingThrottles::All, usize::MAX)
    }

    /// Like [`Core::limited_or_blocking_throttles`], but stops reading the index of maxima once at least `limit`
    /// throttles are found.
    pub(crate) fn first_limited_and_all_blocking_throttles(
        &mut self,
        now: Moment,
        limit: usize,
    ) -> Result<ThrottleListing, Error> {
        self.read_throttle_listing(now, AllOrHoldingThrottles::All, limit)
    }

    /// The throttles and lanes that hold a job back now, in any queue.
    pub(crate) fn blocking_throttles(&mut self, now: Moment) -> Result<ThrottleListing, Error> {
        self.read_throttle_listing(now, AllOrHoldingThrottles::Holding, usize::MAX)
    }

    /// Reads all pages of `look.throttles`. Once at least `enough` throttles are found, skips the rest of the index of
    /// maxima, but not the throttles that hold a job back.
    fn read_throttle_listing(
        &mut self,
        now: Moment,
        list: AllOrHoldingThrottles,
        enough: usize,
    ) -> Result<ThrottleListing, Error> {
        let mut found = ThrottleListing::default();
        let mut cursor = Name::default();
        loop {
            let call = Call::new(calls::LOOK_THROTTLES).arg(list.into_str());
            let call = call.args(Some(&cursor).filter(|cursor| !cursor.is_empty()));
            let (next, items): (Name, Vec<ThrottleOrLaneItem>) = self.call(now, call)?;
            items.into_iter().for_each(|item| found.add_item(item));
            if next.is_empty() {
                return Ok(found);
            }
            if next == cursor {
                let name = calls::LOOK_THROTTLES.name;
                return Err(reply::unexpected_reply(name, "a cursor that came before"));
            }
            cursor = next;
            if found.throttles.len() >= enough && cursor.as_bytes().starts_with(b"limits ") {
                found.is_cut = true;
                cursor = Name::from(HOLDING);
            }
        }
    }

    /// The ids of the throttles in [`Core::limited_or_blocking_throttles`], without lanes: an error or note suggests
    /// the most similar one.
    pub(crate) fn throttle_ids_to_suggest(&mut self, now: Moment) -> Result<Vec<Name>, Error> {
        let listed = self
            .limited_or_blocking_throttles(now)?
            .throttles
            .into_keys();
        let throttles = listed.filter(|(is_lane, _)| !is_lane);
        Ok(throttles.map(|(_, id)| id).collect())
    }

    /// The throttles that have a maximum, holders, or jobs that wait, by id, and the throttles that cannot be read.
    /// Reads the names of all keys.
    pub(crate) fn all_throttles(
        &mut self,
        now: Moment,
    ) -> Result<(Vec<Throttle>, Vec<UnreadableThrottle>), Error> {
        let keys = Keys::new(self.prefix());
        let pattern = [&escape_glob(&keys.throttle_key(b""))[..], b"*"].concat();
        let mut ids: BTreeSet<Name> = BTreeSet::new();
        let mut cursor = Some(START.to_vec());
        while let Some(at) = cursor {
            let ReadReply::Page(next, names) =
                self.run_read(now, ReadCommand::scan_keys(&at, &pattern, KEYS_PER_STEP))?
            else {
                return Err(reply::unexpected_reply("SCAN", "not a page of keys"));
            };
            cursor = next;
            for name in &names {
                ids.extend(keys.possible_throttle_ids_of_key(name).map(Name::from));
            }
        }
        self.existing_throttles(now, ids.into_iter().collect())
    }

    /// The throttles with these ids that have any stored key, and the throttles whose keys have a wrong type.
    pub(crate) fn existing_throttles(
        &mut self,
        now: Moment,
        mut ids: Vec<Name>,
    ) -> Result<(Vec<Throttle>, Vec<UnreadableThrottle>), Error> {
        let keys = Keys::new(self.prefix());
        let key = |id: &Name| keys.throttle_key(id.as_bytes());
        let reads = ids
            .iter()
            .map(|id| ReadCommand::hash_field(&key(id), "maximum"));
        let mut replies = self.run_reads(now, reads.collect())?.into_iter();
        let mut wrong: Vec<Name> = Vec::new();
        ids.retain(|id| {
            let is_wrong = matches!(replies.next(), Some(ReadReply::WrongType));
            // A key of another type is right if the suffix of its name shows that it is the list of another throttle.
            if is_wrong && reserved_throttle_suffix(id.as_bytes()).is_none() {
                wrong.push(id.clone());
            }
            !is_wrong
        });
        let mut throttles = Vec::new();
        for (id, found) in ids.iter().zip(self.throttles_with_jids(now, &ids)?) {
            match found {
                Ok(ThrottleWithJids { throttle, .. }) => {
                    throttles.extend(throttle.exists().then_some(throttle))
                }
                Err(error) if error.kind() == Kind::WrongKeyType => wrong.push(id.clone()),
                Err(error) => return Err(error),
            }
        }
        wrong.sort_unstable();
        let mut unreadable = Vec::new();
        for id in wrong {
            unreadable.extend(self.throttle_with_wrong_keys(now, &id)?);
        }
        Ok((throttles, unreadable))
    }

    /// The throttle with its keys of a wrong type, `None` if it has none.
    fn throttle_with_wrong_keys(
        &mut self,
        now: Moment,
        id: &Name,
    ) -> Result<Option<UnreadableThrottle>, Error> {
        let keys = Keys::new(self.prefix());
        let maximum = keys.throttle_key(id.as_bytes());
        let (locks, pending) = (
            keys.throttle_slots_key(id.as_bytes()),
            keys.throttle_pending_key(id.as_bytes()),
        );
        let reads = vec![
            ReadCommand::hash_field(&maximum, "maximum"),
            ReadCommand::sorted_set_size(&locks),
            ReadCommand::sorted_set_size(&pending),
            // Under the key of a list, another throttle whose id ends like a list may store its maximum: then the type
            // is right.
            ReadCommand::hash_field(&locks, "maximum"),
            ReadCommand::hash_field(&pending, "maximum"),
        ];
        let replies = self.run_reads(now, reads)?.into_iter();
        let is_wrong: Vec<bool> = replies
            .map(|reply| matches!(reply, ReadReply::WrongType))
            .collect();
        let is_wrong = match is_wrong.as_slice() {
            [own, locks, pending, no_locks, no_pending] => {
                [*own, *locks && *no_locks, *pending && *no_pending]
            }
            _ => return Err(Error::internal("reads without outcome")),
        };
        let keys = is_wrong.into_iter().zip([maximum, locks, pending]);
        let keys = keys.filter_map(|(wrong, key)| wrong.then(|| Name::from(key)));
        let keys: Vec<Name> = keys.collect();
        let id = Some(id.clone());
        Ok((!keys.is_empty()).then_some(UnreadableThrottle { id, keys }))
    }

    /// A throttle with its first jobs; for the id of a lane, the lane with its first jobs. Refuses keys of a wrong
    /// type, which the core would read as no maximum.
    pub(crate) fn readable_throttle_or_lane_with_first_jobs(
        &mut self,
        now: Moment,
        id: &Name,
    ) -> Result<ThrottleJobs, Error> {
        if let Some(error) =
            partial_result_error(self.throttle_with_wrong_keys(now, id)?.as_slice())
        {
            return Err(error);
        }
        let mut shown = self.throttle_with_first_jobs(now, id)?;
        if !shown.throttle.exists() {
            let mut jobs = self.lane_jobs(now, id)?;
            if !jobs.is_empty() {
                shown.throttle = Throttle::from_lane(id.clone(), jobs.len() as u64);
                jobs.truncate(MAX_JOBS_SHOWN);
                shown.waiting = jobs.split_off(1);
                shown.holders = jobs;
                return Ok(shown);
            }
        }
        let key = Keys::new(self.prefix()).throttle_key(id.as_bytes());
        let call = Call::redis_read_command("HMGET")
            .arg(key)
            .arg("changed")
            .arg("by");
        let (changed, by): (Option<Name>, Option<Name>) = self.call(now, call)?;
        shown.changed = changed.and_then(|text| Moment::from_decimal(text.as_bytes()));
        shown.changed_by = by;
        Ok(shown)
    }

    /// A throttle with its first jobs.
    pub(crate) fn throttle_with_first_jobs(
        &mut self,
        now: Moment,
        id: &Name,
    ) -> Result<ThrottleJobs, Error> {
        let found = self
            .throttles_with_jids(now, std::slice::from_ref(id))?
            .pop();
        let found = found.unwrap_or_else(|| Err(Error::internal("a throttle without outcome")));
        let ThrottleWithJids {
            throttle,
            mut locks,
            mut pending,
        } = found?;
        locks.truncate(MAX_JOBS_SHOWN);
        pending.truncate(MAX_JOBS_SHOWN);
        let waiting = self.jobs_as_neighbors(now, &pending)?;
        Ok(ThrottleJobs {
            throttle,
            changed: None,
            changed_by: None,
            holders: self.jobs_as_neighbors(now, &locks)?,
            waiting,
        })
    }

    /// The jobs of a lane in order.
    pub(crate) fn lane_jobs(&mut self, now: Moment, lane: &Name) -> Result<Vec<Neighbor>, Error> {
        let lanes = self.jobs_of_lanes(now, std::slice::from_ref(lane))?;
        Ok(lanes.into_iter().next().unwrap_or_default())
    }

    /// The jobs of each lane in order.
    pub(crate) fn jobs_of_lanes(
        &mut self,
        now: Moment,
        lanes: &[Name],
    ) -> Result<Vec<Vec<Neighbor>>, Error> {
        let calls = lanes.iter().map(|lane| Call::new(calls::KEY_GET).arg(lane));
        let replies: Vec<Bytes> = self.call_in_rounds(now, calls, THROTTLES_PER_ROUND)?;
        let mut found = Vec::with_capacity(lanes.len());
        for (reply, lane) in replies.into_iter().zip(lanes) {
            let mut jobs = read_jobs_of_lane(reply)?;
            // One call returns at most this many jobs: read a longer lane in pages.
            if jobs.len() as u64 >= index::MAX_ENTRIES_PER_CALL {
                let jids = self.index_members(now, &Index::Lane(lane.clone()))?;
                jobs = self.jobs_as_neighbors(now, &jids)?;
            }
            found.push(jobs);
        }
        Ok(found)
    }

    /// The lane of each job and its time.
    pub(crate) fn lanes_with_put_or_start_times(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<Vec<LaneAndPutOrStartTime>, Error> {
        let mut times = Vec::with_capacity(jids.len());
        for jids in jids.chunks(MAX_JOBS_PER_CALL) {
            let found: Vec<Option<LaneAndPutOrStartTime>> =
                self.read_job_fields(now, "key,time", jids)?;
            times.extend(found.into_iter().map(Option::unwrap_or_default));
        }
        Ok(times)
    }

    fn jobs_as_neighbors(&mut self, now: Moment, jids: &[Name]) -> Result<Vec<Neighbor>, Error> {
        let jobs = self.jobs(now, JobFields::Location, jids)?;
        let pairs = jids.iter().cloned().zip(jobs);
        Ok(pairs.map(|(jid, job)| Neighbor::new(jid, job)).collect())
    }
}

/// The lane of a job, and when the job was last put or started.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct LaneAndPutOrStartTime {
    #[serde(rename = "key", deserialize_with = "reply::name_unless_empty")]
    pub lane: Option<Name>,
    /// When the job was last put or started.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub time: Option<Moment>,
}

/// The jobs of a throttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThrottleJobSet {
    /// Jobs that hold a slot.
    Locks,
    /// Jobs that wait for a slot.
    Pending,
}

impl ThrottleJobSet {
    pub(crate) fn part_jids_call(self, id: &Name) -> Call {
        let spec = match self {
            ThrottleJobSet::Locks => calls::THROTTLE_LOCKS,
            ThrottleJobSet::Pending => calls::THROTTLE_PENDING,
        };
        Call::new(spec).arg(id)
    }
}

/// A throttle that cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnreadableThrottle {
    /// The id of the throttle. `None` if a key that lists throttles cannot be read: then any throttle may be missing.
    pub id: Option<Name>,
    /// The keys of a wrong type.
    pub keys: Vec<Name>,
}

/// The error that a result lacks throttles because they cannot be read; `None` if all can be read.
pub(crate) fn partial_result_error(throttles: &[UnreadableThrottle]) -> Option<Error> {
    let clauses = throttles.iter().map(|UnreadableThrottle { id, keys }| {
        let why = wrong_type_clause(keys);
        match id {
            Some(id) => format!("cannot read throttle `{id}`: {why}"),
            None => format!("cannot list all throttles: {why}"),
        }
    });
    let clauses: Vec<String> = clauses.collect();
    let message = clauses.join("; ");
    (!message.is_empty()).then(|| Error::new(Kind::Partial, message).hint(CHECK))
}

/// Escapes a text, so that as a glob of Redis it matches only itself.
fn escape_glob(text: &[u8]) -> Vec<u8> {
    let mut glob = Vec::with_capacity(text.len());
    for byte in text {
        if b"*?[]\\^-".contains(byte) {
            glob.push(b'\\');
        }
        glob.push(*byte);
    }
    glob
}

fn read_name_array(Bytes(text): Bytes) -> Result<Vec<Name>, Error> {
    let names = Json::parse(&text).and_then(|names| names.text_array());
    names.ok_or_else(|| reply::unexpected_reply("throttle.*", "not a list of jids"))
}

/// Reads a throttle from `{"id","maximum","ttl"}`: a ttl of -1 means no expiry, -2 that no maximum is set.
fn read_throttle(id: &Name, text: Bytes) -> Result<Throttle, Error> {
    let members = reply::read_json_object(calls::THROTTLE_GET.name, &text)?;
    let number = |name: &str| {
        let value = field_value(&members, name)?;
        // A number may be a text: another client may have stored it so.
        match value.text() {
            Some(text) => text.as_str()?.parse().ok(),
            None => value.number(),
        }
    };
    let (maximum, ttl) = (number("maximum"), number("ttl"));
    Ok(Throttle::with_maximum(
        id.clone(),
        maximum.unwrap_or(0.0),
        ttl.unwrap_or(-2.0),
    ))
}

/// Reads the jobs of a lane from `{"key","jobs":[{"jid","state","queue"}]}`.
fn read_jobs_of_lane(text: Bytes) -> Result<Vec<Neighbor>, Error> {
    let lane = reply::read_json_object(calls::KEY_GET.name, &text)?;
    let jobs = field_value(&lane, "jobs").and_then(Json::array);
    let jobs = jobs.unwrap_or_default();
    let job = |job: &Json| {
        let mut neighbor = Neighbor::new(Name::default(), None);
        for (key, value) in job.object().unwrap_or_default() {
            let text = value.text();
            match key.as_bytes() {
                b"jid" => neighbor.jid = text.unwrap_or_default(),
                b"queue" => neighbor.queue = text.filter(|queue| !queue.is_empty()),
                b"state" => {
                    let state = text.as_ref().and_then(Name::as_str);
                    neighbor.state = state.and_then(|state| state.parse().ok());
                }
                _ => {}
            }
        }
        neighbor
    };
    Ok(jobs.iter().map(job).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_matched_literally() {
        assert_eq!(escape_glob(b"{q}-l:th:"), b"{q}\\-l:th:");
    }

    fn text(text: &str) -> Bytes {
        Bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn the_ttl_tells_whether_a_throttle_was_set() {
        let read = |text_of: &str| {
            let throttle = read_throttle(&Name::from("api"), text(text_of)).unwrap();
            (throttle.maximum, throttle.defined, throttle.ttl_s)
        };
        assert_eq!(
            read(r#"{"id":"api","maximum":10,"ttl":-1}"#),
            (10, true, None)
        );
        assert_eq!(
            read(r#"{"id":"api","maximum":0,"ttl":-2}"#),
            (0, false, None)
        );
        assert_eq!(
            read(r#"{"id":"api","maximum":"-1","ttl":60}"#),
            (-1, true, Some(60))
        );
        assert!(read_throttle(&Name::from("api"), text("[1]")).is_err());
    }
}
