//! Reads what `doctor` reports about a server. The number of reads does not depend on the amount of data.

use std::time::{Duration, Instant};

use super::overview::read_server_info;
use super::read::{ReadCommand, ReadReply};
use crate::clock;
use crate::clock::moment::Moment;
use crate::core::call::reply::InfoText;
use crate::core::call::reply::moment_of_time_reply;
use crate::core::call::{Call, Core, calls};
use crate::core::script::keys::{self, Keys};
use crate::error::Error;
use crate::model::server::ServerFacts;
use crate::name::Name;

/// The facts that a server reports about itself in INFO.
#[derive(Debug)]
pub(crate) struct ServerReport {
    pub facts: ServerFacts,
    /// `Redis 7.0.15`, `Valkey 8.0.1`
    pub product: String,
    pub mode: String,
    pub is_loading: bool,
    /// Whether the last write to the append-only file failed.
    pub append_failed: bool,
    pub replicas: u64,
    /// The number of replicas that lag little enough for `min-replicas-to-write`; `None` if the server requires none.
    pub in_sync_replicas: Option<u64>,
    /// The address of the primary, if the server is a replica.
    pub primary: Option<String>,
    /// How long the primary has been silent.
    pub lag: Option<Duration>,
    pub connections: Option<u64>,
    pub max_connections: Option<u64>,
}

/// The settings of a server that CONFIG reports and INFO does not.
#[derive(Debug, Default)]
pub(crate) struct ServerConfig {
    pub appendfsync: String,
    /// When snapshots are made; empty if never.
    pub save: String,
    /// Whether the server refuses changes after a snapshot has failed.
    pub stops_writes: bool,
    pub min_replicas: u64,
    /// How long a script runs before other clients get an error.
    pub script_limit: Option<Duration>,
}

/// How far the clock of this machine is ahead of the server's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockSkew {
    pub ahead_s: f64,
    /// The maximum error of this difference.
    pub tolerance_s: f64,
}

/// The number of known queues and of known workers under the prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueAndWorkerCounts {
    pub queues: u64,
    pub workers: u64,
}

const CONFIG_NAMES: [&str; 5] = [
    "appendfsync",
    "save",
    "stop-writes-on-bgsave-error",
    "min-replicas-to-write",
    "lua-time-limit",
];

/// How often the server's time is read to compare the clocks. Only the fastest reply counts, because its error is
/// smallest.
const CLOCK_READS: usize = 3;

impl Core {
    /// Reads the server's INFO. Fails if the server refuses INFO.
    pub(crate) fn server_info_report(&mut self, now: Moment) -> Result<ServerReport, Error> {
        let info: InfoText = self.call(now, Call::redis_read_command("INFO"))?;
        Ok(read_report(&info))
    }

    /// Reads the settings that only CONFIG reports; `None` if the server refuses CONFIG.
    pub(crate) fn server_config(&mut self, now: Moment) -> Option<ServerConfig> {
        let get = |name: &str| Call::redis_read_command("CONFIG").args(["GET", name]);
        let pairs = self.call_all::<Vec<Name>>(now, &CONFIG_NAMES.map(get));
        let pairs: Vec<Vec<Name>> = pairs.into_iter().collect::<Result<_, Error>>().ok()?;
        Some(read_config(&pairs))
    }

    /// How long a call of the core takes. A first call loads the script if the server does not have it; a second one is
    /// timed.
    pub(crate) fn time_core_call(&mut self, now: Moment) -> Result<Duration, Error> {
        let call = || Call::new(calls::CONFIG_GET).arg("heartbeat");
        let _: Option<Name> = self.call(now, call())?;
        let begun = Instant::now();
        let _: Option<Name> = self.call(now, call())?;
        Ok(begun.elapsed())
    }

    /// Compares the clocks.
    pub(crate) fn clock_skew(&mut self, now: Moment) -> Result<ClockSkew, Error> {
        let mut best: Option<ClockSkew> = None;
        for _ in 0..CLOCK_READS {
            let (before, begun) = (clock::host_time(), Instant::now());
            let server = moment_of_time_reply(self.call(now, Call::redis_read_command("TIME"))?);
            let tolerance_s = begun.elapsed().as_secs_f64() / 2.0;
            let ahead_s = before.since(server) + tolerance_s;
            if best.is_none_or(|best| tolerance_s < best.tolerance_s) {
                best = Some(ClockSkew {
                    ahead_s,
                    tolerance_s,
                });
            }
        }
        best.ok_or_else(|| Error::internal("TIME without outcome"))
    }

    /// The number of known queues and the number of known workers. For a key of another type the number is 0.
    pub(crate) fn queue_and_worker_counts(
        &mut self,
        now: Moment,
    ) -> Result<QueueAndWorkerCounts, Error> {
        let keys = Keys::new(self.prefix());
        let sizes = [keys::QUEUES, keys::WORKERS]
            .map(|name| ReadCommand::sorted_set_size(keys.with_prefix(name).as_bytes()));
        let sizes = self.run_reads(now, sizes.to_vec())?;
        let size = |at: usize| match sizes.get(at) {
            Some(ReadReply::Number(size)) => u64::try_from(*size).unwrap_or(0),
            _ => 0,
        };
        Ok(QueueAndWorkerCounts {
            queues: size(0),
            workers: size(1),
        })
    }

    /// The first of these prefixes that has queues in the current database.
    pub(crate) fn prefix_with_queues(
        &mut self,
        now: Moment,
        prefixes: &[String],
    ) -> Option<String> {
        let mut prefixes = prefixes.iter();
        let found = prefixes.find(|prefix| {
            let key = Keys::new(prefix).with_prefix(keys::QUEUES);
            // An error counts as no queues: the user may have no right to keys of another prefix.
            matches!(
                self.run_read(now, ReadCommand::key_exists(key.as_bytes())),
                Ok(ReadReply::Number(1))
            )
        });
        found.cloned()
    }

    /// The number of scripts in the server's cache, if it reports that.
    pub(crate) fn cached_script_count(&mut self, now: Moment) -> Result<Option<u64>, Error> {
        let info: InfoText = self.call(now, Call::redis_read_command("INFO").arg("memory"))?;
        Ok(info.number("number_of_cached_scripts"))
    }
}

fn read_report(info: &InfoText) -> ServerReport {
    let facts = read_server_info(info);
    let primary = info.field("master_host").map(|host| {
        let port = info.field("master_port").unwrap_or_default();
        format!("{host}:{port}")
    });
    ServerReport {
        product: match info.field("valkey_version") {
            Some(version) => format!("Valkey {version}"),
            None => format!("Redis {}", facts.version),
        },
        mode: info.server_mode().unwrap_or("standalone").to_owned(),
        is_loading: info.field_is("loading", "1"),
        append_failed: facts.append_only && info.field_is("aof_last_write_status", "err"),
        replicas: info.number("connected_slaves").unwrap_or(0),
        in_sync_replicas: info.number("min_slaves_good_slaves"),
        primary,
        lag: info.time_since_primary_contact(),
        connections: info.number("connected_clients"),
        max_connections: info.number("maxclients"),
        facts,
    }
}

/// Reads the replies to CONFIG GET, one for each setting: its name and value, or nothing if the server does not know
/// it.
fn read_config(pairs: &[Vec<Name>]) -> ServerConfig {
    let value = |name: &str| {
        let mut pairs = pairs.iter();
        let pair = pairs.find(|pair| pair.first().is_some_and(|own| own.as_str() == Some(name)));
        let value = pair.and_then(|pair| pair.get(1));
        value.map(|value| value.lossless_text().into_owned())
    };
    ServerConfig {
        appendfsync: value("appendfsync").unwrap_or_default(),
        save: value("save").unwrap_or_default(),
        stops_writes: value("stop-writes-on-bgsave-error").as_deref() == Some("yes"),
        min_replicas: value("min-replicas-to-write")
            .and_then(|count| count.parse().ok())
            .unwrap_or(0),
        script_limit: value("lua-time-limit")
            .and_then(|millis| millis.parse().ok())
            .map(Duration::from_millis),
    }
}
