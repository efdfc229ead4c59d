//! The calls of `qless check` that verify and repair items (`check.slice`) and revert repairs (`check.revert`). Also
//! reads what the server reports about itself.
//!
//! The scan of `qless check` finds only candidates, which may be inconsistent. One call verifies them at one instant.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::read::{ReadCommand, ReadReply};
use crate::clock::moment::Moment;
use crate::core::call::calls::CallSpec;
use crate::core::call::connect::WireEncodedCommands;
use crate::core::call::reply::InfoText;
use crate::core::call::{Call, Core, Value, calls, reply};
use crate::core::script::keys::{self, Keys, QueueKey};
use crate::error::Error;
use crate::model::finding::FindingId;
use crate::model::verdict::{ItemKind, ItemLocation, KeyChange, MAX_ITEMS, Verdict, VerdictsReply};
use crate::name::Name;

/// Maximum number of entries that one command adds to the replacement.
const MAX_ADDED: usize = 500;

impl Core {
    /// Verifies items of one location: reports the findings, with the changes that [`Core::repair_items`] would make.
    ///
    /// `finding_filter` is empty for all findings, else ids separated by commas. `-id` excludes a finding. An id without
    /// `-` also approves the repair of this finding. `run`, the name of the repair, becomes part of the name of each key
    /// that the repair sets aside; it is empty if no repair follows.
    pub fn verify_items(
        &mut self,
        now: Moment,
        finding_filter: &str,
        run: &str,
        location: &ItemLocation,
        items: &[Name],
    ) -> Result<VerdictsReply, Error> {
        let call = Call::new(CallSpec::for_read(calls::CHECK_SLICE.name)).arg("look");
        self.call_check_slice(now, call, finding_filter, run, location, items)
    }

    /// Verifies items again and repairs the findings that are still there, in the same call.
    pub fn repair_items(
        &mut self,
        now: Moment,
        finding_filter: &str,
        run: &str,
        location: &ItemLocation,
        items: &[Name],
    ) -> Result<VerdictsReply, Error> {
        // A repair may be repeated after a lost reply: the second call no longer finds what the first one repaired.
        let call = Call::new(calls::CHECK_SLICE).arg("mend");
        self.call_check_slice(now, call, finding_filter, run, location, items)
    }

    fn call_check_slice(
        &mut self,
        now: Moment,
        call: Call,
        finding_filter: &str,
        run: &str,
        location: &ItemLocation,
        items: &[Name],
    ) -> Result<VerdictsReply, Error> {
        let call = call.args([finding_filter, run, location.kind.into_str()]);
        let call = call.arg(&location.name).args(items);
        let mut reply = self.call_for_reply(now, call)?;
        let repeated = reply.repeated;
        let last_row = match &mut reply.result {
            Ok(Value::Array(rows)) => rows.pop_if(|row| begins_with_number(row)),
            _ => None,
        };
        let counted = match last_row {
            Some(row) => reply::read_reply(calls::CHECK_SLICE.name, row)?,
            None => VerdictsReply {
                verified: items.len(),
                ..VerdictsReply::default()
            },
        };
        let mut verdicts: Vec<Verdict> = reply.read()?;
        for verdict in &mut verdicts {
            verdict.cycle = match (verdict.id, location.kind) {
                (FindingId::DependencyCycle, ItemKind::Cycle) => items.to_vec(),
                // For other kinds of items, the core reports only a cycle of one job, which depends on itself.
                (FindingId::DependencyCycle, _) => vec![verdict.item.clone()],
                _ => Vec::new(),
            };
        }
        Ok(VerdictsReply {
            verdicts,
            repeated,
            ..counted
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

/// A list that is being replaced. The replacement grows in slices under another key. It takes the place of the list only
/// if no client has changed the list meanwhile, which `WATCH` detects.
#[derive(Debug)]
pub(crate) struct ListRewriteUnderWatch {
    key: Vec<u8>,
    /// The key of the replacement.
    replacement: Vec<u8>,
    /// The connection that watches the list.
    connection: u64,
    /// Entries of the replacement that the next command sends to the server.
    unsent: Vec<Vec<u8>>,
    /// The number of entries of the replacement so far, with the unsent ones: the index of its next entry.
    pub length: u64,
}

impl Core {
    /// Begins to replace a list, and watches it for changes. The caller must read the list after this call, so that no
    /// change is overlooked.
    pub(crate) fn begin_list_rewrite(
        &mut self,
        key: &[u8],
        replacement: Vec<u8>,
    ) -> Result<ListRewriteUnderWatch, Error> {
        self.call::<()>(self.now(), Call::redis_read_command("WATCH").arg(key))?;
        Ok(ListRewriteUnderWatch {
            key: key.to_vec(),
            replacement,
            connection: self.connection_number(),
            unsent: Vec::with_capacity(MAX_ADDED),
            length: 0,
        })
    }

    /// Appends an entry to the replacement. Returns false if the connection that watches the list is gone, or if the
    /// server refused entries: the caller must then abandon the rewrite.
    pub(crate) fn append_to_replacement_unless_broken(
        &mut self,
        rewrite: &mut ListRewriteUnderWatch,
        entry: Vec<u8>,
    ) -> bool {
        rewrite.unsent.push(entry);
        rewrite.length += 1;
        rewrite.unsent.len() < MAX_ADDED || self.try_send_unsent_entries(rewrite)
    }

    fn try_send_unsent_entries(&mut self, rewrite: &mut ListRewriteUnderWatch) -> bool {
        let entries = std::mem::take(&mut rewrite.unsent);
        if entries.is_empty() {
            return true;
        }
        let mut packed = WireEncodedCommands::default();
        packed.begin_command(entries.len() + 2);
        packed.add_word_to_current_command(b"RPUSH");
        packed.add_word_to_current_command(&rewrite.replacement);
        entries
            .iter()
            .for_each(|entry| packed.add_word_to_current_command(entry));
        let replies = self.exchange_on_watching_connection(rewrite, packed);
        matches!(replies.as_slice(), [Value::Int(_)])
    }

    /// Puts the replacement in the place of the list. Returns false, without a change, if the list has changed
    /// meanwhile, if the connection that watches it is gone, or if the user may not rename keys.
    pub(crate) fn replace_if_unchanged(
        &mut self,
        rewrite: &mut ListRewriteUnderWatch,
    ) -> Result<bool, Error> {
        if !self.try_send_unsent_entries(rewrite) {
            return Ok(false);
        }
        let mut packed = WireEncodedCommands::default();
        packed.add_command(&["MULTI"]);
        packed.add_command(&[b"RENAME".as_slice(), &rewrite.replacement, &rewrite.key]);
        packed.add_command(&["EXEC"]);
        let replies = self.exchange_on_watching_connection(rewrite, packed);
        match replies.last() {
            Some(Value::Array(done)) => Ok(matches!(done.as_slice(), [Value::Okay])),
            Some(_) => Ok(false),
            // The reply was lost. If the server renamed the replacement, its old key no longer exists.
            None => {
                let exists = Call::redis_read_command("EXISTS").arg(&rewrite.replacement);
                Ok(self.call::<u64>(self.now(), exists)? == 0)
            }
        }
    }

    /// Gives up, and deletes the replacement.
    pub(crate) fn abandon_list_rewrite(&mut self, rewrite: &ListRewriteUnderWatch) {
        let mut packed = WireEncodedCommands::default();
        packed.add_command(&["UNWATCH"]);
        packed.add_command(&[b"DEL".as_slice(), &rewrite.replacement]);
        self.exchange_on_watching_connection(rewrite, packed);
    }

    /// Sends commands once, only on the connection that watches the list. Returns no replies if that connection is
    /// gone.
    fn exchange_on_watching_connection(
        &mut self,
        rewrite: &ListRewriteUnderWatch,
        packed: WireEncodedCommands,
    ) -> Vec<Value> {
        let deadline = Instant::now() + self.call_timeout();
        if self.connection_number() == rewrite.connection {
            self.exchange_once(packed, deadline)
        } else {
            Vec::new()
        }
    }
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
    pub primary: Option<ReplicationLink>,
    /// The number of keys in the database.
    pub keys: Option<u64>,
}

/// The link of a replica to its primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicationLink {
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
            primary: info.field_is("role", "slave").then(|| ReplicationLink {
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
        struct JobMarkRow {
            mark: Name,
        }
        for rows in self.call_all::<Vec<Option<JobMarkRow>>>(now, &calls) {
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

/// Whether a row of `check.slice` begins with a number instead of the id of a finding.
fn begins_with_number(row: &Value) -> bool {
    let Value::Array(row) = row else {
        return false;
    };
    let is_number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    matches!(row.first(), Some(Value::BulkString(word)) if is_number(word))
}
