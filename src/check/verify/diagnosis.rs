//! Likely causes of the findings, and what the server itself may do to jobs.

use crate::core::api::check::ServerRisks;
use crate::model::check::ReportedFinding;
use crate::model::finding::{FINDINGS, FindingId, KnownCause, Severity};
use crate::model::verdict::Verdict;
use crate::name::Name;
use crate::text::{format_count, with_thousands_separators};

/// A stored time above this number is in milliseconds instead of seconds.
const MAX_SECONDS: f64 = 1e11;

/// The finding that the server's settings allow it to evict keys. `None` if they do not.
pub(crate) fn eviction_finding(server: &ServerRisks) -> Option<Verdict> {
    let policy = server.eviction_policy.as_deref()?;
    if policy == "noeviction" {
        return None;
    }
    let detail = match server.max_memory {
        None | Some(0) if !policy.starts_with("volatile-") => {
            format!("no limit yet, then {policy}")
        }
        _ => policy.to_owned(),
    };
    let option = Name::from("maxmemory-policy");
    Some(Verdict::report_only(
        FindingId::ServerEvicts,
        option,
        Name::from(detail.as_str()),
    ))
}

/// The likely causes, the likeliest first.
pub(crate) fn likely_causes(found: &[ReportedFinding], server: &ServerRisks) -> Vec<String> {
    let count = |id: FindingId| -> u64 {
        let same = found.iter().filter(|found| found.finding.id == id);
        same.map(|found| found.count).sum()
    };
    let mut existing = found.iter().filter(|found| found.count > 0);
    let lost = existing.any(|found| found.finding.evidence == KnownCause::KeyLoss);
    let mut causes = Vec::new();
    let policy = server.eviction_policy.as_deref().unwrap_or("noeviction");
    if policy.starts_with("allkeys-") && lost {
        let evicted = match server.evicted {
            0 => String::new(),
            count => format!("; it has evicted {}", format_count(count, "key", "keys")),
        };
        causes.push(format!(
            "maxmemory-policy is {policy}, so the server may delete parts of jobs{evicted}"
        ));
    }
    if count(FindingId::KeyExpires) > 0 {
        causes.push(if policy.starts_with("volatile-") {
            format!(
                "keys have an expiry, which no client of qless sets; maxmemory-policy is {policy}, \
                 so the server may delete them even earlier"
            )
        } else {
            "keys have an expiry, which no client of qless sets: look for EXPIRE in other \
                      programs that use this server"
                .to_owned()
        });
    }
    let times = found
        .iter()
        .filter(|found| matches!(found.finding.id, FindingId::Clock | FindingId::NeverDue));
    if times
        .filter_map(|found| found.largest)
        .any(|time| time.is_finite() && time > MAX_SECONDS)
    {
        causes.push("a client writes times in milliseconds instead of seconds".to_owned());
    }
    let deleted = count(FindingId::GhostWaiting)
        + count(FindingId::GhostScheduled)
        + count(FindingId::GhostLock);
    let left = count(FindingId::HistoryOrphan);
    let has_deleted_keys = causes.is_empty() && deleted > 0 && left > 0;
    if has_deleted_keys {
        causes.push(format!(
            "keys of jobs were deleted (DEL) instead of the jobs: {} left behind",
            format_count(left, "history is", "histories are")
        ));
    }
    let traces: Vec<String> = FINDINGS
        .iter()
        // A deleted job leaves the same traces: it stays in the list of its worker and in the counts of its tags.
        .filter(|finding| !has_deleted_keys && count(finding.id) > 0)
        .filter_map(|finding| match finding.evidence {
            KnownCause::ReferenceClient(call) => {
                Some(format!("its `{call}` leaves {}", finding.id.into_str()))
            }
            _ => None,
        })
        .collect();
    if !traces.is_empty() {
        let traces = traces.join(", ");
        causes.push(format!(
            "clients with the reference core use this database, too: {traces}"
        ));
    }
    if let Some(primary) = &server.primary
        && found.iter().any(|found| found.severity >= Severity::Warn)
    {
        causes.push(if primary.is_up {
            "this is a replica: it may lack the latest changes of its primary".to_owned()
        } else {
            format!(
                "this is a replica that lost its primary {} s ago",
                with_thousands_separators(primary.down_seconds)
            )
        });
    }
    causes
}
