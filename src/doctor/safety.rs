//! The checks of `qless doctor` whether the server accepts changes and keeps jobs: replication, eviction, memory,
//! persistence, connections.

use super::default_hint;
use crate::core::api::doctor::{ServerConfig, ServerReport};
use crate::core::call::Core;
use crate::error::Kind;
use crate::model::doctor::{DoctorCheck, DoctorEvidence, DoctorItem};
use crate::model::overview::ProblemCode;
use crate::model::queue::RoundedSeconds;
use crate::model::server::{NO_EVICTION, eviction_sentence};
use crate::session::silent_primary_message;
use crate::text::{Sanitized, format_bytes, format_count, format_duration};

/// The hint for a server without an append-only file.
const APPEND_ONLY_HINT: &str = "`redis-cli CONFIG SET appendonly yes` writes each change to disk";

pub(super) fn replication_item(
    report: &ServerReport,
    config: Option<&ServerConfig>,
    core: &Core,
    read_only: bool,
) -> DoctorItem {
    let check = DoctorCheck::Replication;
    let min_replicas = config.map(|config| config.min_replicas);
    let evidence = DoctorEvidence {
        role: Some(report.facts.role.clone()),
        primary: report.primary.clone(),
        lag_s: report.lag.map(|lag| RoundedSeconds(lag.as_secs_f64())),
        ..DoctorEvidence::default()
    };
    let Some(primary) = report.primary.as_ref().map(Sanitized) else {
        let required = min_replicas.unwrap_or(0);
        let replicas = match report.replicas {
            0 => "no replicas".to_owned(),
            count => format_count(count, "replica", "replicas"),
        };
        let item = if report
            .in_sync_replicas
            .is_some_and(|in_sync| in_sync < required)
        {
            let error = core.refusal_error("NOREPLICAS");
            DoctorItem::error(check, &error, default_hint(error.kind()))
        } else if required > 0 {
            DoctorItem::ok(
                check,
                format!("{replicas}, min-replicas-to-write {required}"),
            )
        } else {
            DoctorItem::ok(check, replicas)
        };
        return item.with_evidence(DoctorEvidence {
            replicas: Some(report.replicas),
            min_replicas,
            ..evidence
        });
    };
    let item = if !read_only {
        let error = core.refusal_error("READONLY");
        let hint = error.hint_text().unwrap_or_default();
        let hint = format!("{hint}, `{primary}`, or add `--read-only`");
        DoctorItem::error(check, &error.hint(hint), "")
    } else if let Some(lost) = report.facts.sentence_if_has_problem(ProblemCode::Replica) {
        DoctorItem::warning(check, lost, default_hint(Kind::Stale))
    } else if let Some(silence) = silent_primary_message(report.lag) {
        DoctorItem::warning(check, silence, default_hint(Kind::Stale))
    } else {
        DoctorItem::ok(check, format!("replica of {primary}, connected"))
    };
    item.with_evidence(evidence)
}

pub(super) fn eviction_item(report: &ServerReport) -> DoctorItem {
    let check = DoctorCheck::Eviction;
    let facts = &report.facts;
    let policy = Sanitized(&facts.eviction).to_string();
    let item = if facts.evicts_jobs() {
        let evicted = match report.facts.evicted_keys {
            0 => String::new(),
            count => format!("; it has deleted {}", format_count(count, "key", "keys")),
        };
        DoctorItem::warning(check, eviction_sentence(&policy) + &evicted, NO_EVICTION)
    } else {
        let effect = match (policy.as_str(), facts.max_memory_bytes) {
            ("noeviction", _) => "",
            (_, 0) => ", without effect: maxmemory is not set",
            _ => ", which deletes only keys with an expiry: windows of uniqueness",
        };
        DoctorItem::ok(check, format!("maxmemory-policy {policy}{effect}"))
    };
    item.with_evidence(DoctorEvidence {
        policy: Some(facts.eviction.clone()),
        evicted: Some(report.facts.evicted_keys),
        ..DoctorEvidence::default()
    })
}

pub(super) fn memory_item(report: &ServerReport, core: &Core) -> DoctorItem {
    let check = DoctorCheck::Memory;
    let facts = &report.facts;
    let (used, limit) = (facts.memory_bytes, facts.max_memory_bytes);
    let sizes = match limit {
        0 => format!("{}, without a limit", format_bytes(used)),
        limit => format!("{} of {}", format_bytes(used), format_bytes(limit)),
    };
    let item = if limit > 0 && used >= limit && !facts.evicts_jobs() {
        DoctorItem::error(check, &core.refusal_error("OOM"), default_hint(Kind::Oom))
    } else if let Some(full) = facts.sentence_if_has_problem(ProblemCode::Memory) {
        let hint = "raise `maxmemory`, or shorten `jobs-history`";
        DoctorItem::warning(check, full, hint)
    } else {
        DoctorItem::ok(check, sizes)
    };
    item.with_evidence(DoctorEvidence {
        memory_bytes: Some(used),
        max_memory_bytes: Some(limit),
        ..DoctorEvidence::default()
    })
}

/// The check whether jobs survive a restart of the server.
pub(super) fn persistence_item(
    report: &ServerReport,
    config: Option<&ServerConfig>,
    core: &Core,
) -> DoctorItem {
    let check = DoctorCheck::Persistence;
    let facts = &report.facts;
    let refuses = config.is_some_and(|config| config.stops_writes && !config.save.is_empty());
    let error = core.refusal_error("MISCONF");
    let item = if report.append_failed || facts.save_failed && refuses {
        DoctorItem::error(check, &error, default_hint(error.kind()))
    } else if let Some(failed) = facts.sentence_if_has_problem(ProblemCode::Persistence) {
        DoctorItem::warning(check, failed, error.hint_text().unwrap_or_default())
    } else if facts.append_only {
        appendfsync_item(config)
    } else {
        snapshots_item(report, config, core)
    };
    item.with_evidence(DoctorEvidence {
        append_only: Some(facts.append_only),
        last_save: facts.last_save,
        ..DoctorEvidence::default()
    })
}

/// The persistence result for a server with an append-only file: how much a crash can lose, by `appendfsync`.
fn appendfsync_item(config: Option<&ServerConfig>) -> DoctorItem {
    let check = DoctorCheck::Persistence;
    match config.map_or("", |config| config.appendfsync.as_str()) {
        "always" => DoctorItem::ok(check, "append-only file, on disk before each reply"),
        "everysec" => DoctorItem::ok(
            check,
            "append-only file, on disk each second: a crash can lose the last one",
        ),
        "no" => DoctorItem::warning(
            check,
            "append-only file, on disk when the system decides: a crash can lose half a minute",
            "`redis-cli CONFIG SET appendfsync everysec`",
        ),
        _ => DoctorItem::ok(check, "append-only file"),
    }
}

/// The persistence result for a server without an append-only file: a warning with the age of the last snapshot.
fn snapshots_item(report: &ServerReport, config: Option<&ServerConfig>, core: &Core) -> DoctorItem {
    let last_save = report.facts.last_save;
    // If the user may not read the setting `save`, conclude from an existing snapshot that the server makes snapshots.
    let has_snapshots = config.map_or(last_save.is_some(), |config| !config.save.is_empty());
    let what = if has_snapshots {
        let last = last_save.map_or_else(
            || "none since the server started".to_owned(),
            |saved| {
                let ago = format_duration(core.now().since(saved).max(0.0));
                format!("the last {ago} ago")
            },
        );
        format!("snapshots only, {last}: a crash loses what was changed since")
    } else {
        "neither append-only file nor snapshots: a restart loses all jobs".to_owned()
    };
    DoctorItem::warning(DoctorCheck::Persistence, what, APPEND_ONLY_HINT)
}

pub(super) fn clients_item(report: &ServerReport, config: Option<&ServerConfig>) -> DoctorItem {
    let check = DoctorCheck::Clients;
    let Some(connections) = report.connections else {
        return DoctorItem::skipped(check, "the server does not tell how many it has");
    };
    let max_connections = report.max_connections;
    let mut what = match max_connections {
        Some(max_connections) => {
            let maximum = format_count(max_connections, "connection", "connections");
            format!("{connections} of {maximum}")
        }
        None => format_count(connections, "connection", "connections"),
    };
    if let Some(limit) = config.and_then(|config| config.script_limit) {
        let time = match limit.as_secs_f64() {
            0.0 => "without a limit".to_owned(),
            limit => format!("for {}", format_duration(limit.max(1.0))),
        };
        what.push_str(&format!("; a script may hold others up {time}"));
    }
    let is_nearly_full = max_connections
        .is_some_and(|maximum| connections.saturating_mul(10) >= maximum.saturating_mul(9));
    let item = if is_nearly_full {
        let hint = "raise `maxclients`; `redis-cli CLIENT LIST` shows who is connected";
        DoctorItem::warning(check, format!("nearly all taken: {what}"), hint)
    } else {
        DoctorItem::ok(check, what)
    };
    item.with_evidence(DoctorEvidence {
        connections: Some(connections),
        max_connections,
        ..DoctorEvidence::default()
    })
}
