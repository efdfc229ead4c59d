//! Finds out whether a server still has all data that it acknowledged. A restart, a flush or an eviction may have lost
//! some of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::index::Index;
use crate::clock::moment::Moment;
use crate::core::call::{Call, Core};
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::name::Name;

/// An event by which a server may have lost jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataLossCause {
    Restarted,
    Flushed,
    Evicted,
}

impl DataLossCause {
    /// What happened to the server, as a clause that follows the server's address.
    pub(crate) const fn as_data_loss_clause(self) -> &'static str {
        match self {
            DataLossCause::Restarted => "restarted, or another one took its place",
            DataLossCause::Flushed => "was flushed",
            DataLossCause::Evicted => "evicted keys, because its memory was full",
        }
    }
}

/// A period in which a server lost no data: it has not restarted, was not flushed and evicted no key. If the epochs of
/// two moments are equal, the server lost nothing between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LossFreeEpoch {
    pub run_id: String,
    /// The number of calls of FLUSHALL and FLUSHDB, in any database.
    pub flushes: u64,
    /// The number of keys, of any database, that the server deleted because its memory was full. Journals of older
    /// versions lack this field.
    #[serde(default)]
    pub evicted: u64,
    /// Whether its `maxmemory-policy` lets it delete jobs. The policy may change while a command runs.
    #[serde(skip)]
    pub may_evict_jobs: bool,
    /// The server's replication ids, the current one first: they name the history of changes that the server continues.
    #[serde(skip)]
    pub histories: Vec<String>,
}

impl PartialEq for LossFreeEpoch {
    fn eq(&self, other: &LossFreeEpoch) -> bool {
        (&self.run_id, self.flushes, self.evicted) == (&other.run_id, other.flushes, other.evicted)
    }
}

impl LossFreeEpoch {
    /// Whether the server of `other` continues this server's history, as a replica that took over does: its last
    /// changes may then be missing. If not, the cluster moved the data to that server completely. True if this history
    /// is unknown.
    pub(crate) fn may_have_failed_over_to(&self, other: &LossFreeEpoch) -> bool {
        let mut histories = self.histories.iter();
        self.histories.is_empty() || histories.any(|one| other.histories.contains(one))
    }

    /// The events between this epoch and `present` by which the server may have lost jobs. Evictions count if the policy
    /// at one of the two moments deletes jobs: other policies evict only keys with an expiry.
    pub(crate) fn causes_of_loss(
        &self,
        present: &LossFreeEpoch,
    ) -> impl Iterator<Item = DataLossCause> + use<> {
        [
            (self.run_id != present.run_id, DataLossCause::Restarted),
            (present.flushes > self.flushes, DataLossCause::Flushed),
            (
                present.evicted > self.evicted && (self.may_evict_jobs || present.may_evict_jobs),
                DataLossCause::Evicted,
            ),
        ]
        .into_iter()
        .filter_map(|(happened, cause)| happened.then_some(cause))
    }

    /// Reads an epoch from the sections `server`, `commandstats`, `stats`, `memory` and `replication` of INFO. `None`
    /// without a run id.
    fn from_info(sections: &[String]) -> Option<LossFreeEpoch> {
        let lines = || sections.iter().flat_map(|section| section.lines());
        let run_id = lines().find_map(|line| line.strip_prefix("run_id:"))?;
        let flushes = lines().filter_map(|line| {
            let calls = ["flushall", "flushdb"].iter().find_map(|name| {
                let rest = line.strip_prefix("cmdstat_")?.strip_prefix(name)?;
                rest.strip_prefix(":calls=")
            })?;
            calls.split(',').next()?.parse::<u64>().ok()
        });
        let evicted =
            lines().find_map(|line| line.strip_prefix("evicted_keys:")?.trim().parse().ok());
        let histories = ["master_replid:", "master_replid2:"].map(|key| {
            let id = lines()
                .find_map(|line| line.strip_prefix(key))
                .unwrap_or_default();
            id.trim().to_owned()
        });
        // An id of zeros stands for none.
        let is_id = |id: &String| id.bytes().any(|byte| byte != b'0');
        Some(LossFreeEpoch {
            histories: histories.into_iter().filter(is_id).collect(),
            run_id: run_id.trim().to_owned(),
            flushes: flushes.sum(),
            evicted: evicted.unwrap_or(0),
            may_evict_jobs: lines().any(|line| line.starts_with("maxmemory_policy:allkeys-")),
        })
    }
}

impl Core {
    /// The server's current loss-free epoch: its run id, and how often it was flushed and has evicted keys. `None` if
    /// the server does not report its run id, or the user may not run INFO.
    pub(crate) fn current_loss_free_epoch(&mut self) -> Result<Option<LossFreeEpoch>, Error> {
        let sections = ["server", "commandstats", "stats", "memory", "replication"];
        let calls = sections.map(|section| Call::redis_read_command("INFO").arg(section));
        let mut sections = Vec::new();
        for section in self.call_all(self.now(), &calls) {
            match section {
                Ok(section) => sections.push(section),
                // Leave out a section that the server refuses: some services have no INFO, and some users may not run
                // it.
                Err(error) if matches!(error.kind(), Kind::NoPerm | Kind::Server) => {}
                Err(error) if error.exit() == Exit::Server => return Err(error),
                Err(_) => {}
            }
        }
        Ok(LossFreeEpoch::from_info(&sections))
    }

    /// The moment since which the core has deleted no ended job because of its age or because there were too many. If a
    /// younger job is missing, it was cancelled or lost.
    pub(crate) fn ended_jobs_kept_since(&mut self, now: Moment) -> Result<Moment, Error> {
        let options = self.config(now)?;
        let number = |key: &str| {
            let option = options.iter().find(|option| option.key == Name::from(key));
            option.and_then(|option| option.value.as_str()?.parse::<f64>().ok())
        };
        let ages = ["jobs-history", "jobs-failed-history"].map(number);
        let age = ages.into_iter().flatten().fold(f64::INFINITY, f64::min);
        let mut since = Moment::from_seconds(now.seconds() - age).unwrap_or(Moment::from_micros(0));
        let complete = self.index_range(now, &Index::Complete, 0, 1)?.total;
        if number("jobs-history-count").is_some_and(|count| complete as f64 >= count) {
            let oldest = self.index_range(now, &Index::Complete, complete.saturating_sub(1), 1)?;
            let oldest = self
                .job_snapshots(now, &oldest.members)?
                .into_iter()
                .flatten();
            // `since` counts whole seconds. A job that the core deleted because there were too many may have ended in
            // the same second as the oldest job left, so add one second.
            let ended = oldest.filter_map(|job| job.since).max();
            let ended = ended.map(|ended| ended.plus(Duration::from_secs(1)));
            since = since.max(ended.unwrap_or(now));
        }
        Ok(since)
    }
}
