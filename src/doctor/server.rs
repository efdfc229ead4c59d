//! The checks of `qless doctor` that need a connection: the server with its memory, persistence and replicas, the user's
//! rights, the core, the clock, the stored queues, and how many scripts of others the server has cached.

use std::time::Duration;

use super::connection::{format_milliseconds, seconds_number};
use super::safety::{clients_item, eviction_item, memory_item, persistence_item, replication_item};
use super::{CheckResults, default_hint, skipped_item};
use crate::address::{Address, ServerTarget};
use crate::clock::moment::Moment;
use crate::command_line::flag_with_quoted_value;
use crate::core::api::doctor::{ClockSkew, ServerReport};
use crate::core::api::not_found;
use crate::core::api::overview::SnapshotRequest;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::json::Number;
use crate::look;
use crate::model::doctor::{DoctorCheck, DoctorEvidence, DoctorItem, DoctorLevel};
use crate::model::queue::RoundedSeconds;
use crate::select::nothing;
use crate::session::Session;
use crate::text::{comma_list, format_count, format_duration, short_jid};

/// Maximum difference in seconds between the clocks of this host and of the server without a warning. Clients other
/// than `qless` use the clock of their host.
const MAX_CLOCK_SKEW: f64 = 1.0;

/// This program and its version.
const BINARY: &str = concat!("qless ", env!("CARGO_PKG_VERSION"));

/// Adds the checks that need a connection.
pub(super) fn add_server_items(
    checks: &mut CheckResults,
    core: &mut Core,
    target: &ServerTarget,
    session: &Session,
) {
    let now = core.now();
    let report = core.server_info_report(now);
    match &report {
        Ok(report) if report.is_loading => {
            checks.add_error(DoctorCheck::Server, &core.refusal_error("LOADING"));
            return;
        }
        Err(error) if !is_right_or_command_missing(error) => {
            checks.add_error(DoctorCheck::Server, error);
            return;
        }
        Ok(report) => checks.add_or_skip(server_item(report, target)),
        Err(_) => checks.add_or_skip(server_item_without_info(core)),
    }
    let made = core.time_core_call(now);
    let is_blocked = made.as_ref().is_err_and(would_block_next_calls);
    let (rights, may_read_config) = if is_blocked {
        (skipped_item(DoctorCheck::Rights, DoctorCheck::Core), true)
    } else {
        rights_item_and_may_read_config(core, now)
    };
    checks.add_or_skip(rights);
    checks.add_or_skip(core_item(made, core.script_sha()));
    match &report {
        Ok(report) => {
            // Send CONFIG only if the user has the right to. The server would enter a refusal in its ACL log.
            let config = may_read_config.then(|| core.server_config(now)).flatten();
            let config = config.as_ref();
            let read_only = session.globals.read_only;
            checks.add_or_skip(replication_item(report, config, core, read_only));
            checks.add_or_skip(eviction_item(report));
            checks.add_or_skip(memory_item(report, core));
            checks.add_or_skip(persistence_item(report, config, core));
            checks.add_or_skip(clients_item(report, config));
        }
        Err(error) => {
            for check in [
                DoctorCheck::Replication,
                DoctorCheck::Eviction,
                DoctorCheck::Memory,
                DoctorCheck::Persistence,
                DoctorCheck::Clients,
            ] {
                checks.add_or_skip(unreported_item(check, error));
            }
        }
    }
    checks.add_or_skip(clock_item(core.clock_skew(now), session.is_time_pinned()));
    checks.add_or_skip(if is_blocked {
        skipped_item(DoctorCheck::Keys, DoctorCheck::Core)
    } else {
        prefix_contents_item(core, session, now)
    });
    checks.add_or_skip(if is_blocked {
        skipped_item(DoctorCheck::Scripts, DoctorCheck::Core)
    } else {
        other_cached_scripts_item(core, now)
    });
}

/// Whether this error of a call shows that the server serves no calls at present. Each further call would then wait for
/// its whole timeout.
fn would_block_next_calls(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Stale
            | Kind::Busy
            | Kind::Loading
            | Kind::Timeout
            | Kind::Unreachable
            | Kind::ClusterDown
            | Kind::SlotMoving
            | Kind::NoMaster
    )
}

/// Whether the server refused a question because the user lacks the right or the server lacks the command.
fn is_right_or_command_missing(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::NoPerm | Kind::Server | Kind::Unsupported
    )
}

fn unreported_item(check: DoctorCheck, error: &Error) -> DoctorItem {
    DoctorItem::skipped(
        check,
        format!("the server does not tell: {}", error.message()),
    )
    .with_hint(error.hint_text().map(str::to_owned))
}

/// The result of a check whose call failed: skipped if the server refuses to tell, an error otherwise.
fn unreported_or_error_item(check: DoctorCheck, error: &Error) -> DoctorItem {
    if is_right_or_command_missing(error) {
        unreported_item(check, error)
    } else {
        DoctorItem::error(check, error, default_hint(error.kind()))
    }
}

fn server_item(report: &ServerReport, target: &ServerTarget) -> DoctorItem {
    let facts = &report.facts;
    let uptime = format_duration(facts.uptime_s as f64);
    let is_replica = report.primary.is_some();
    let mode = match (report.mode.as_str(), &target.address) {
        ("cluster", _) if is_replica => "replica in a cluster",
        ("cluster", _) => "primary in a cluster",
        (_, Address::Sentinel(_)) => "the master of the Sentinels",
        _ if is_replica => "replica",
        (other, _) => other,
    };
    let what = format!("{}, {mode}, up {uptime}", report.product);
    DoctorItem::ok(DoctorCheck::Server, what).with_evidence(DoctorEvidence {
        version: Some(facts.version.clone()),
        mode: Some(report.mode.clone()),
        uptime_s: Some(RoundedSeconds(facts.uptime_s as f64)),
        ..DoctorEvidence::default()
    })
}

fn server_item_without_info(core: &Core) -> DoctorItem {
    let version = match core.server_version() {
        "" => "it does not tell its version".to_owned(),
        version => format!("Redis {version}"),
    };
    DoctorItem::ok(DoctorCheck::Server, version)
}

/// The result about the user's rights, and whether the user may read the server's settings by CONFIG GET.
fn rights_item_and_may_read_config(core: &mut Core, now: Moment) -> (DoctorItem, bool) {
    let check = DoctorCheck::Rights;
    if !core.scripts_can_check_user_rights() {
        let why = "the server does not tell: Redis before 7.0 has no test of rights";
        return (DoctorItem::skipped(check, why), true);
    }
    let missing = match core.test_rights(now) {
        Ok(missing) => missing,
        // The test of rights is itself a script. If it fails, the user may run no script at all.
        Err(error) => {
            let item = DoctorItem::error(check, &error, default_hint(error.kind()));
            return (item, false);
        }
    };
    let error = core.missing_rights_error(if missing.needed.is_empty() {
        &missing.optional
    } else {
        &missing.needed
    });
    let hint = error.hint_text().unwrap_or_default();
    let item = match (missing.needed.as_slice(), missing.optional.as_slice()) {
        ([], []) => DoctorItem::ok(check, "the user may run all commands that are needed"),
        ([], _) => {
            let uses = comma_list(&missing.uses);
            let what = format!("{}, which only some commands need: {uses}", error.message());
            DoctorItem::warning(check, what, hint)
        }
        _ => DoctorItem::error(check, &error, hint),
    };
    let item = item.with_evidence(DoctorEvidence {
        missing: Some([missing.needed, missing.optional].concat()),
        ..DoctorEvidence::default()
    });
    (item, missing.may_read_config)
}

fn core_item(made: Result<Duration, Error>, sha: &str) -> DoctorItem {
    let check = DoctorCheck::Core;
    let call_s = made.as_ref().ok().copied().map(seconds_number);
    let item = match made {
        Ok(elapsed) => {
            let (core, time) = (short_jid(sha), format_milliseconds(elapsed));
            let what = format!("loads: {BINARY}, core {core}, {time} a call");
            DoctorItem::ok(check, what)
        }
        Err(error) => DoctorItem::error(check, &error, default_hint(error.kind())),
    };
    item.with_evidence(DoctorEvidence {
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        core: Some(sha.to_owned()),
        call_s,
        ..DoctorEvidence::default()
    })
}

fn clock_item(skew: Result<ClockSkew, Error>, is_pinned: bool) -> DoctorItem {
    let check = DoctorCheck::Clock;
    let ClockSkew {
        ahead_s,
        tolerance_s,
    } = match skew {
        Ok(skew) => skew,
        Err(error) => return unreported_or_error_item(check, &error),
    };
    let amount = match ahead_s.abs() {
        less if less < MAX_CLOCK_SKEW => format!("{:.0} ms", less * 1000.0),
        more => format_duration(more),
    };
    let side = if ahead_s < 0.0 { "behind" } else { "ahead" };
    let item = if is_pinned {
        let what = "QLESS_NOW sets the time of all calls, whatever time it is";
        DoctorItem::warning(check, what, "unset QLESS_NOW")
    } else if ahead_s.abs() - tolerance_s > MAX_CLOCK_SKEW {
        DoctorItem::warning(
            check,
            format!(
                "this host is {amount} {side}: other clients here set locks and delays by its clock"
            ),
            "synchronize the clocks of both machines (NTP)",
        )
    } else if ahead_s.abs() <= tolerance_s.max(0.0005) {
        DoctorItem::ok(check, "this host and the server agree")
    } else {
        DoctorItem::ok(check, format!("this host is {amount} {side}"))
    };
    item.with_evidence(DoctorEvidence {
        ahead_s: Some(Number((ahead_s * 1e6).round() / 1e6)),
        ..DoctorEvidence::default()
    })
}

fn prefix_contents_item(core: &mut Core, session: &Session, now: Moment) -> DoctorItem {
    let check = DoctorCheck::Keys;
    let (stored, empty, facts) = match (
        core.queue_and_worker_counts(now),
        not_found::empty_prefix_hint(core, now),
        core.system_facts(now, &SnapshotRequest::default()),
    ) {
        (Ok(stored), Ok(empty), Ok(facts)) => (stored, empty, facts),
        (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
            return unreported_or_error_item(check, &error);
        }
    };
    if let Some(damage) = look::wrong_key_types_problem(&facts) {
        let fix = damage.fix_command().unwrap_or_default();
        let hint = format!("`{fix}` names the keys");
        return DoctorItem {
            level: DoctorLevel::Error,
            ..DoctorItem::warning(check, damage.fact, hint)
        };
    }
    let item = match empty {
        Some(empty) => {
            match core.prefix_with_queues(now, &nothing::other_configured_prefixes(session)) {
                Some(other) => {
                    let flag = flag_with_quoted_value("--prefix", &other);
                    DoctorItem::warning(check, empty, format!("there are queues with `{flag}`"))
                }
                None => DoctorItem::ok(check, empty),
            }
        }
        None => {
            let queues = format_count(stored.queues, "queue", "queues");
            let workers = format_count(stored.workers, "known worker", "known workers");
            DoctorItem::ok(check, format!("{queues}, {workers}"))
        }
    };
    item.with_evidence(DoctorEvidence {
        queues: Some(stored.queues),
        workers: Some(stored.workers),
        ..DoctorEvidence::default()
    })
}

/// The result about scripts of other clients in the server's script cache. The server reports only the number of cached
/// scripts, not their clients.
fn other_cached_scripts_item(core: &mut Core, now: Moment) -> DoctorItem {
    let check = DoctorCheck::Scripts;
    if !core.scripts_can_check_user_rights() {
        // Run the script that tests the rights, even where it can test nothing. Each command that writes caches this
        // script, so afterwards the cache surely holds it, and its share of the count is known.
        _ = core.test_rights(now);
    }
    let cached = match core.cached_script_count(now) {
        Ok(Some(cached)) => cached,
        Ok(None) => {
            return DoctorItem::skipped(check, "the server does not tell how many it keeps");
        }
        Err(error) => return unreported_or_error_item(check, &error),
    };
    // Subtract the scripts that this command itself cached: the core and the test of rights.
    let others = cached.saturating_sub(2);
    let what = match others {
        0 => "none of other clients is cached".to_owned(),
        others => format!(
            "{} cached: of other clients, or of other versions and prefixes of `qless`",
            format_count(others, "other script is", "other scripts are")
        ),
    };
    DoctorItem::ok(check, what).with_evidence(DoctorEvidence {
        other_scripts: Some(others),
        ..DoctorEvidence::default()
    })
}
