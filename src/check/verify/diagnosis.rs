//! Likely causes of what was found, and what the server itself may do to jobs.

use crate::core::api::check::ServerHealth;
use crate::model::check::Found;
use crate::model::finding::Severity;
use crate::model::verdict::{Verdict, VerdictOutcome};
use crate::name::Name;
use crate::text::{plural, thousands};

/// What is missing where a key of a job was lost.
const LOST: [&str; 12] = [
    "ghost-waiting",
    "ghost-lock",
    "ghost-scheduled",
    "ghost-depends",
    "ghost-recurring",
    "in-no-set",
    "running-without-lock",
    "job-stub",
    "dependency-missing",
    "failed-unlisted",
    "recurring-unscheduled",
    "tag-index",
];

/// What the reference core does to healthy databases: its defects D-22 and D-48.
const REFERENCE: [(&str, &str); 2] = [("worker-stray", "timeout"), ("tag-count", "tag")];

/// More than this many seconds are milliseconds.
const MILLISECONDS: f64 = 1e11;

/// Returns the finding that the server may evict keys.
pub(crate) fn evicts(server: &ServerHealth) -> Option<Verdict> {
    let policy = server.policy.as_deref()?;
    if policy == "noeviction" {
        return None;
    }
    let detail = match (policy.starts_with("volatile-"), server.limit) {
        (true, _) | (false, Some(1..)) => policy.to_owned(),
        (false, _) => format!("no limit yet, then {policy}"),
    };
    Some(Verdict {
        id: "server-evicts".to_owned(),
        item: Name::from("maxmemory-policy"),
        outcome: VerdictOutcome::Report,
        detail: Name::from(detail.as_str()),
        changes: Vec::new(),
    })
}

/// Returns what probably led to this, the likeliest first.
pub(crate) fn likely(found: &[Found], server: &ServerHealth) -> Vec<String> {
    let count = |id: &str| -> u64 {
        let same = found.iter().filter(|found| found.finding.id == id);
        same.map(|found| found.count).sum()
    };
    let lost = LOST.iter().any(|id| count(id) > 0);
    let mut causes = Vec::new();
    let policy = server.policy.as_deref().unwrap_or("noeviction");
    if policy.starts_with("allkeys-") && lost {
        let evicted = match server.evicted {
            0 => String::new(),
            count => format!("; it has evicted {}", plural(count, "key", "keys")),
        };
        causes.push(format!(
            "maxmemory-policy is {policy}, so the server may delete parts of jobs{evicted}"
        ));
    }
    if count("key-expires") > 0 {
        causes.push(match policy.starts_with("volatile-") {
            true => format!(
                "keys have an expiry, which nothing of ours sets; maxmemory-policy is {policy}, so \
                 they may go even earlier"
            ),
            false => {
                "keys have an expiry, which nothing of ours sets: look for EXPIRE in what else \
                      uses this server"
                    .to_owned()
            }
        });
    }
    let clock = found.iter().filter(|found| found.finding.id == "clock");
    if clock
        .flat_map(|found| &found.examples)
        .any(|one| in_milliseconds(&one.detail))
    {
        causes.push("a client counts milliseconds where seconds are meant".to_owned());
    }
    let traces: Vec<String> = REFERENCE
        .iter()
        .filter(|(id, _)| count(id) > 0)
        .map(|(id, call)| format!("its `{call}` leaves {id}"))
        .collect();
    if !traces.is_empty() {
        let traces = traces.join(", ");
        causes.push(format!(
            "clients with the reference core work here, too: {traces}"
        ));
    }
    let deleted = count("ghost-waiting") + count("ghost-scheduled") + count("ghost-lock");
    if causes.is_empty() && deleted > 0 && count("history-orphan") > 0 {
        causes.push(format!(
            "somebody deleted keys of jobs (DEL) instead of the jobs: {} left behind",
            plural(count("history-orphan"), "history is", "histories are")
        ));
    }
    if let Some(primary) = &server.primary
        && found.iter().any(|found| found.severity >= Severity::Warn)
    {
        causes.push(match primary.up {
            true => {
                "this is a replica: what its primary wrote last may not have come yet".to_owned()
            }
            false => format!(
                "this is a replica that has lost its primary {} s ago",
                thousands(primary.down)
            ),
        });
    }
    causes
}

fn in_milliseconds(detail: &Name) -> bool {
    let words = detail.as_str().unwrap_or_default().split(' ');
    let mut numbers = words.filter_map(|word| word.parse::<f64>().ok());
    numbers.any(|number| number.is_finite() && number > MILLISECONDS)
}
