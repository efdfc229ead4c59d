//! The document of `qless doctor`: the checks of whether this machine can use the queues of a server.

pub(crate) mod text;

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::queue::RoundedSeconds;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::json::Number;

/// All checks of one server and prefix.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Diagnosis {
    /// Whether no check has found an error
    pub ok: bool,
    /// The checks in their order, the lines of ndjson
    pub items: Vec<DoctorItem>,
}

/// The checks of `doctor` in their order. A check may require the results of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(crate) enum DoctorCheck {
    Config,
    Address,
    Connect,
    Tls,
    Nodes,
    Login,
    Prefix,
    Server,
    Rights,
    Core,
    Replication,
    Eviction,
    Memory,
    Persistence,
    Clients,
    Clock,
    Keys,
    Scripts,
}

/// How serious the result of a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DoctorLevel {
    Ok,
    /// What was checked works now, but may lose data or fail later.
    Warning,
    /// Some commands do not work.
    Error,
    /// The check could not be made.
    Skipped,
}

/// The result of a check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DoctorItem {
    /// One of config, address, connect, tls, nodes, login, prefix, server, rights, core, replication, eviction,
    /// memory, persistence, clients, clock, keys or scripts
    #[schemars(with = "String")]
    pub check: DoctorCheck,
    /// One of ok, warning, error or skipped
    #[schemars(with = "String")]
    pub level: DoctorLevel,
    /// What was found, or why it could not be checked
    pub what: String,
    /// The next step; null if all is well
    pub hint: Option<String>,
    #[serde(flatten)]
    pub evidence: DoctorEvidence,
}

/// What was read or measured, for programs. A check has only the fields of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct DoctorEvidence {
    /// The kind of error, as other commands report it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// config: the path of the file
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// config: the context in use
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// address: the address without its password
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// address: what named it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// connect: the server that was reached
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// connect: how long it took to resolve the name
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolve_s: Option<Number>,
    /// connect: how long it took to connect
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_s: Option<Number>,
    /// tls: the version that both ends speak
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// tls: how long the handshake took
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_s: Option<Number>,
    /// tls: the names of the server's certificate
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// tls: when that certificate expires
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Moment>,
    /// nodes: the servers that the address names
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// nodes: those of them that cannot be used
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes_away: Option<Vec<String>>,
    /// login: the user
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// login: the number of the database
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db: Option<u32>,
    /// prefix: the prefix of all keys
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// server: the version of Redis; core: that of this program
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// server: one of standalone or cluster
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// server: how long it runs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime_s: Option<RoundedSeconds>,
    /// rights: the commands that the user is not allowed to run
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// core: the SHA-1 of its script
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core: Option<String>,
    /// core: how long one call took
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_s: Option<Number>,
    /// replication: one of master or slave
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// replication: the replicas of a primary
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u64>,
    /// replication: the replicas without which a primary refuses changes
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_replicas: Option<u64>,
    /// replication: the primary of a replica
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<String>,
    /// replication: how long the primary of a replica has been silent
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_s: Option<RoundedSeconds>,
    /// eviction: `maxmemory-policy`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// eviction: keys that were deleted since the server started
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evicted: Option<u64>,
    /// memory: bytes in use
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// memory: the limit; 0 if there is none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_memory_bytes: Option<u64>,
    /// persistence: whether there is an append-only file
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append_only: Option<bool>,
    /// persistence: the last snapshot since the server started
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_save: Option<Moment>,
    /// clients: open connections
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
    /// clients: the maximum that the server accepts
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<u64>,
    /// clock: how far this machine is ahead of the server; negative if behind
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead_s: Option<Number>,
    /// keys: the known queues under the prefix
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<u64>,
    /// keys: the known workers under the prefix
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<u64>,
    /// scripts: cached scripts that are not of this core
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_scripts: Option<u64>,
}

impl DoctorItem {
    pub(crate) fn ok(check: DoctorCheck, what: impl Into<String>) -> DoctorItem {
        DoctorItem {
            check,
            level: DoctorLevel::Ok,
            what: what.into(),
            hint: None,
            evidence: DoctorEvidence::default(),
        }
    }

    pub(crate) fn warning(
        check: DoctorCheck,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> DoctorItem {
        DoctorItem {
            level: DoctorLevel::Warning,
            hint: Some(hint.into()),
            ..DoctorItem::ok(check, what)
        }
    }

    /// A check that failed with `error`. If the error has no hint, the hint is `next_step`.
    pub(crate) fn error(check: DoctorCheck, error: &Error, next_step: &str) -> DoctorItem {
        let hint = error.hint_text().unwrap_or(next_step);
        DoctorItem {
            level: DoctorLevel::Error,
            evidence: DoctorEvidence {
                code: Some(error.kind().into_str()),
                ..DoctorEvidence::default()
            },
            // `doctor` changes nothing, so the message need not say that nothing was changed.
            ..DoctorItem::warning(check, error.message_without_effect(), hint)
        }
    }

    pub(crate) fn skipped(check: DoctorCheck, why: impl Into<String>) -> DoctorItem {
        DoctorItem {
            level: DoctorLevel::Skipped,
            ..DoctorItem::ok(check, why)
        }
    }

    pub(crate) fn with_hint(self, hint: Option<String>) -> DoctorItem {
        DoctorItem { hint, ..self }
    }

    /// Adds what was read or measured.
    pub(crate) fn with_evidence(self, evidence: DoctorEvidence) -> DoctorItem {
        let code = self.evidence.code;
        DoctorItem {
            evidence: DoctorEvidence { code, ..evidence },
            ..self
        }
    }
}

impl Diagnosis {
    pub(crate) fn from_items(items: Vec<DoctorItem>) -> Diagnosis {
        let ok = items.iter().all(|item| item.level != DoctorLevel::Error);
        Diagnosis { ok, items }
    }
}
