//! The calls of `qless check` that verify and repair items (`check.slice`) and revert repairs (`check.revert`). Also
//! reads what the server reports about itself.
//!
//! The scan of `qless check` finds only candidates, which may be inconsistent. One call verifies them at one instant.

use std::collections::HashSet;
use std::fmt;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use strum::IntoStaticStr;

use super::read::{ReadCommand, ReadReply};
use crate::clock::moment::Moment;
use crate::core::call::calls::CallSpec;
use crate::core::call::info::InfoText;
use crate::core::call::{Call, Core, calls, reply};
use crate::core::script::keys::{self, Keys, QueueKey};
use crate::error::Error;
use crate::model::finding::{DecisiveDetail, FindingId};
use crate::model::verdict::{
    ItemKind, ItemLocation, KeyChange, MAX_ITEMS, RepairReply, Repairability, Verdict, VerdictReply,
};
use crate::name::Name;

/// What `check.slice` does with the findings that it confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
enum ReportOrRepair {
    /// Report the findings, with the changes that would repair them.
    Look,
    /// Repair the findings.
    Mend,
}

impl Core {
    /// Verifies items of one location. `finding_filter` is empty for all findings, else ids separated by commas. `-id`
    /// excludes a finding. An id without `-` also approves the repair of this finding.
    pub fn verify_items(
        &mut self,
        now: Moment,
        finding_filter: &str,
        location: &ItemLocation,
        items: &[Name],
    ) -> Result<VerdictReply, Error> {
        self.plan_item_repairs(now, finding_filter, "", location, items)
    }

    /// Verifies items, and plans their repair: the verdicts contain the changes that [`Core::repair_items`] would make.
    pub fn plan_item_repairs(
        &mut self,
        now: Moment,
        finding_filter: &str,
        run: &str,
        location: &ItemLocation,
        items: &[Name],
    ) -> Result<VerdictReply, Error> {
        let checked = self.call_check_slice(
            now,
            ReportOrRepair::Look,
            finding_filter,
            run,
            location,
            items,
        )?;
        Ok(checked.reply)
    }

    /// Verifies items again and repairs the findings that are still there, in the same call. `run`, the name of the
    /// repair, becomes part of the name of each key that the repair sets aside.
    pub fn repair_items(
        &mut self,
        now: Moment,
        finding_filter: &str,
        run: &str,
        location: &ItemLocation,
        items: &[Name],
    ) -> Result<RepairReply, Error> {
        let CheckSliceReply {
            reply,
            was_repeated,
        } = self.call_check_slice(
            now,
            ReportOrRepair::Mend,
            finding_filter,
            run,
            location,
            items,
        )?;
        let VerdictReply {
            verdicts, verified, ..
        } = reply;
        Ok(RepairReply {
            verdicts,
            verified,
            repeated: was_repeated,
        })
    }

    fn call_check_slice(
        &mut self,
        now: Moment,
        mode: ReportOrRepair,
        finding_filter: &str,
        run: &str,
        location: &ItemLocation,
        items: &[Name],
    ) -> Result<CheckSliceReply, Error> {
        // A repair may be repeated after a lost reply: the second call no longer finds what the first one repaired.
        let call = match mode {
            ReportOrRepair::Mend => Call::new(calls::CHECK_SLICE),
            ReportOrRepair::Look => Call::new(CallSpec::for_read(calls::CHECK_SLICE.name)),
        };
        let words = [
            mode.into_str(),
            finding_filter,
            run,
            location.kind.into_str(),
        ];
        let call = call.args(words).arg(&location.name).args(items);
        let reply = self.call_for_reply(now, call)?;
        let was_repeated = reply.repeated;
        let mut slice = VerdictReply {
            verdicts: Vec::new(),
            verified: items.len(),
            misplaced: Vec::new(),
        };
        for row in reply.read::<Vec<VerdictOrCount>>()? {
            match row {
                VerdictOrCount::Verdict(id, row) => {
                    slice.verdicts.push(row.into_verdict(id, location, items))
                }
                VerdictOrCount::Count(verified, jobs) => {
                    (slice.verified, slice.misplaced) = (verified, jobs);
                }
            }
        }
        Ok(CheckSliceReply {
            reply: slice,
            was_repeated,
        })
    }

    /// Reverts changes of repairs; the newest comes first in `changes`. The core skips a change if the data is no
    /// longer as the repair left it.
    pub fn revert_changes(
        &mut self,
        now: Moment,
        changes: &[KeyChange],
    ) -> Result<RevertCounts, Error> {
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
        let call = Call::new(calls::CHECK_REVERT).args(&words);
        self.call(now, call)
    }
}

/// The reply of `check.revert`: how many changes it reverted, and how many it skipped.
#[derive(Deserialize)]
#[serde(rename = "row")]
pub struct RevertCounts {
    pub reverted: u64,
    pub skipped: u64,
}

/// What a server reports about eviction and replication, by which it may lose jobs. A fact that the server does not
/// report is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerRisks {
    /// `maxmemory-policy`.
    pub eviction_policy: Option<String>,
    /// `maxmemory` in bytes. 0 means no limit.
    pub max_memory: Option<u64>,
    /// The number of keys that the server has evicted since its start.
    pub evicted: u64,
    /// The primary, if the server is a replica.
    pub primary: Option<PrimaryLink>,
    /// The number of keys in the database.
    pub keys: Option<u64>,
}

/// The link of a replica to its primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimaryLink {
    pub is_up: bool,
    /// Seconds since the link broke; 0 while it is up.
    pub down_seconds: u64,
}

impl Core {
    /// Reads from INFO what may endanger jobs. If the user may not read a section of INFO, its facts are absent.
    pub fn server_risks(&mut self, now: Moment) -> ServerRisks {
        let calls = [
            Call::redis_read_command("INFO").arg("memory"),
            Call::redis_read_command("INFO").arg("stats"),
            Call::redis_read_command("INFO").arg("replication"),
            Call::redis_read_command("INFO").arg("keyspace"),
        ];
        let sections: Vec<String> = self.call_all(now, &calls).into_iter().flatten().collect();
        let info = InfoText(sections.concat());
        // INFO has a line such as `db0:keys=12,expires=0,…` for each database, and none for an empty database.
        let database = info.field(&format!("db{}", self.db_number()));
        let keys = database.unwrap_or("keys=0").strip_prefix("keys=");
        let keys = keys.filter(|_| !sections.is_empty());
        let keys = keys.and_then(|text| text.split(',').next()?.parse().ok());
        // INFO of a cluster node counts the keys of all prefixes. If the number of keys in the prefix's slot is known,
        // use that instead.
        let keys = self.count_keys_in_slot(now).or(keys);
        ServerRisks {
            eviction_policy: info.field("maxmemory_policy").map(str::to_owned),
            max_memory: info.number("maxmemory"),
            evicted: info.number("evicted_keys").unwrap_or(0),
            primary: info.field_is("role", "slave").then(|| PrimaryLink {
                is_up: info
                    .field("master_link_status")
                    .is_none_or(|status| status == "up"),
                down_seconds: info.number("master_link_down_since_seconds").unwrap_or(0),
            }),
            keys,
        }
    }

    /// How long a call takes that does nothing.
    pub fn measure_round_trip(&mut self, now: Moment) -> Duration {
        let mut least = Duration::MAX;
        for _ in 0..3 {
            let begun = Instant::now();
            self.call_all::<()>(now, &[Call::redis_read_command("TIME")]);
            least = least.min(begun.elapsed());
        }
        least
    }

    /// For each jid, whether its job exists. A key of another type is not a job.
    pub fn jobs_exist(&mut self, now: Moment, jids: &[Name]) -> Result<Vec<bool>, Error> {
        let keys = Keys::new(self.prefix());
        let mut exist = Vec::with_capacity(jids.len());
        for slice in jids.chunks(MAX_ITEMS) {
            let reads = slice.iter().map(|jid| keys.job_key(jid.as_bytes()));
            let reads = reads.map(|key| ReadCommand::hash_field(&key, "state"));
            let states = self.run_reads(now, reads.collect())?;
            exist.extend(states.iter().map(|state| state.first_text().is_some()));
        }
        Ok(exist)
    }

    /// The mark of each job, a number that changes whenever the job does; `None` for a job that does not exist.
    pub(crate) fn job_version_marks(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<Vec<Option<Name>>, Error> {
        let call = Call::new(calls::LOOK_JOBS).arg("mark");
        let calls: Vec<Call> = jids
            .chunks(MAX_ITEMS)
            .map(|jids| call.clone().args(jids))
            .collect();
        let mut marks = Vec::with_capacity(jids.len());
        #[derive(Deserialize)]
        struct VersionMarkRow {
            mark: Name,
        }
        for rows in self.call_all::<Vec<Option<VersionMarkRow>>>(now, &calls) {
            marks.extend(rows?.into_iter().map(|row| row.map(|row| row.mark)));
        }
        reply::require_row_per_item(calls::LOOK_JOBS.name, marks, jids.len())
    }

    /// The jid of the first waiting job of each queue, for up to 500 queues. A queue whose key has another type has
    /// none.
    pub fn first_waiting_jid_per_queue(&mut self, now: Moment) -> Result<HashSet<Name>, Error> {
        let keys = Keys::new(self.prefix());
        let queues =
            ReadCommand::members_from_highest(keys.with_prefix(keys::QUEUES).as_bytes(), 0, 499);
        let ReadReply::Texts(queues) = self.run_read(now, queues)? else {
            return Ok(HashSet::new());
        };
        let work_sets = queues.iter().flatten();
        let work_sets = work_sets.map(|queue| keys.queue_key(QueueKey::Work, queue));
        let reads = work_sets
            .map(|key| ReadCommand::members_from_highest(&key, 0, 0))
            .collect();
        let firsts = self.run_reads(now, reads)?;
        let firsts = firsts.iter().filter_map(ReadReply::first_text);
        Ok(firsts.map(Name::from).collect())
    }
}

/// The reply of `check.slice`, and whether the call was repeated after a lost reply.
struct CheckSliceReply {
    reply: VerdictReply,
    was_repeated: bool,
}

/// A row of `check.slice`.
enum VerdictOrCount {
    Verdict(FindingId, VerdictRow),
    /// The number of items that the call verified. If these were blocks of a failure list, also jobs in them that must
    /// be verified again, as items of the location `group`.
    Count(usize, Vec<Name>),
}

/// Reads a row that begins with the id of a finding (a verdict) or with a number (the count).
impl<'de> Deserialize<'de> for VerdictOrCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<VerdictOrCount, D::Error> {
        struct VerdictOrCountVisitor;
        impl<'de> Visitor<'de> for VerdictOrCountVisitor {
            type Value = VerdictOrCount;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a finding or a number of items")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<VerdictOrCount, A::Error> {
                let word: Name = row.next_element()?.unwrap_or_default();
                let word = word.as_str().unwrap_or_default();
                if let Some(id) = FindingId::from_name(word) {
                    let verdict = row.next_element()?;
                    let verdict = verdict.ok_or_else(|| A::Error::invalid_length(1, &self))?;
                    return Ok(VerdictOrCount::Verdict(id, verdict));
                }
                let count = word.parse().map_err(A::Error::custom)?;
                Ok(VerdictOrCount::Count(
                    count,
                    row.next_element()?.unwrap_or_default(),
                ))
            }
        }
        deserializer.deserialize_struct("row", &["id", ".."], VerdictOrCountVisitor)
    }
}

/// The fields after the id of a finding in a row of `check.slice`: the item, whether a repair can repair or has
/// repaired it, a detail, and the changes of keys.
#[derive(Deserialize)]
#[serde(rename = "row")]
struct VerdictRow {
    item: Name,
    outcome: Repairability,
    detail: Name,
    #[serde(rename = "..")]
    changes: Vec<KeyChange>,
}

impl VerdictRow {
    /// The verdict about `items`.
    fn into_verdict(self, id: FindingId, location: &ItemLocation, items: &[Name]) -> Verdict {
        let cycle = match (id, location.kind) {
            (FindingId::DependencyCycle, ItemKind::Cycle) => items.to_vec(),
            // For other kinds of items, the core reports only a cycle of one job, which depends on itself.
            (FindingId::DependencyCycle, _) => vec![self.item.clone()],
            _ => Vec::new(),
        };
        Verdict {
            outcome: self.outcome,
            known_detail: DecisiveDetail::parse(id, self.detail.as_bytes()),
            number: DecisiveDetail::parse_time_or_count(id, self.detail.as_bytes()),
            cycle,
            changes: self.changes,
            ..Verdict::report_only(id, self.item, self.detail)
        }
    }
}
