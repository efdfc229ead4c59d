//! One scan with the verification of its candidates, the possible inconsistencies. The core verifies them in batches. The
//! confirmed findings are counted, reported and queued for a repair.

pub(crate) mod finding_filter;
pub(crate) mod pace;
pub(crate) mod unlisted;
mod verdicts;
mod verifier;

use std::collections::BTreeSet;

use self::finding_filter::FindingFilter;
use self::pace::CallPace;
use self::verifier::Verifier;
use crate::args::value;
use crate::check::repair_queue::RepairQueue;
use crate::check::scan::ScanCounts;
use crate::command_line::CommandLine;
use crate::core::api::check::ServerRisks;
use crate::core::api::index::Index;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::json::Number;
use crate::model::check::{CheckReport, ReportedFinding, ScanSummary};
use crate::model::finding::{FINDINGS, FindingId, KnownCause, Severity};
use crate::model::pattern::NamePattern;
use crate::model::rate::MaxRate;
use crate::model::verdict::Verdict;
use crate::name::Name;
use crate::session::Session;
use crate::text::{format_count, with_thousands_separators};

/// A stored time above this number is in milliseconds instead of seconds.
const MAX_SECONDS: f64 = 1e11;

/// The options of a check: which items are scanned, and which findings are reported.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CheckOptions {
    /// Only data of this queue (name or glob)
    #[arg(long = "queue", value_name = "Q", value_parser = value::name_or_glob(),
          add = value::CompletionKind::Queues)]
    pub queues: Vec<NamePattern>,
    #[command(flatten)]
    pub filter: FindingFilter,
    /// Maximum number of examples per finding
    #[arg(long, value_name = "N", default_value = "3", value_parser = value::at_least_zero)]
    pub max_examples: u64,
    /// Maximum number of keys and index members per second to read, verify or repair, such as
    /// `5000/s`
    #[arg(long, value_name = "N/s", value_parser = value::rate, allow_hyphen_values = true)]
    pub rate: Option<MaxRate>,
    /// Lowest severity that exits with 7: critical, error, warn or info
    #[arg(long, value_name = "SEVERITY", default_value = "warn", value_parser = value::severity())]
    pub fail_on: Severity,
}

impl CheckOptions {
    /// The command line of a repair, with the flags that select findings and queues, for the undo file.
    pub(crate) fn repair_command(&self) -> String {
        let queues = self.queues.iter();
        let command = queues.fold(CommandLine::new("check --repair"), |command, queue| {
            command.with_flag("--queue", queue.as_typed())
        });
        let command = self.filter.add_flags_to(command);
        command.subcommand_line_without_destination()
    }
}

/// The result of one scan with its verification: the findings, and the items to repair if a repair follows.
#[derive(Debug)]
pub(crate) struct ScanOutcome {
    pub check: CheckReport,
    /// The items to repair, if a repair follows.
    pub queue: RepairQueue,
    /// Why the scan is incomplete, if it is.
    pub halted: Option<Error>,
    /// Whether only some queues or findings were scanned.
    pub narrow: bool,
    /// Findings that could not be verified, because a finding that has to be repaired first is not selected.
    pub unverified: BTreeSet<FindingId>,
}

impl ScanOutcome {
    /// Whether any finding of this check is severe enough for exit 7.
    pub(crate) fn reaches_fail_on_severity(&self) -> bool {
        let mut items = self.check.items.iter();
        items.any(|found| found.severity >= self.check.scan.fail_on)
    }
}

/// Scans, and has the core verify the candidates. `for_repair` says that a repair follows: then `--only` approves
/// repairs, and the scan queues repairable items. `title` is the text before the progress bar.
pub(crate) fn run_check(
    options: &CheckOptions,
    for_repair: bool,
    title: &str,
    session: &mut Session,
) -> Result<ScanOutcome, Error> {
    let mut pace = CallPace::new(options.rate);
    let queues = resolve_queues(&options.queues, session)?;
    let now = session.now();
    let stopwatch = session.clock().start_stopwatch();
    let (core, ui) = session.core_and_ui()?;
    let server = core.server_risks(now);
    let keys = server.keys;
    let mut moves = 0;
    let (mut verifier, scanned) = loop {
        let bar = ui.start_progress_bar(keys.unwrap_or(0)).with_title(title);
        let mut verifier = Verifier::new(options, for_repair, queues.clone(), pace, bar);
        match verifier.scan_and_verify(core, now, &queues) {
            // Keys moved to another server of the cluster. Begin the scan again, but only once.
            Err(error) if error.kind() == Kind::SlotMoving && moves == 0 => {
                moves += 1;
                pace = verifier.pace;
                ui.note(&format!(
                    "note: {}; the scan begins again",
                    error.message_without_effect()
                ));
            }
            scanned => break (verifier, scanned),
        }
    };
    let (counts, verified) = (verifier.counts, verifier.verified);
    if queues.is_empty()
        && let Some(verdict) = eviction_finding(&server)
    {
        verifier
            .verdicts
            .report_unverified_finding_if_selected(verdict);
    }
    let elapsed = stopwatch.elapsed_seconds();
    let unverified = std::mem::take(&mut verifier.verdicts.blocking.with_hidden_requirements);
    let (items, queue) = verifier.into_findings_and_queue();
    let extent = || extent_text(counts, keys, verified);
    let halted = match scanned {
        Ok(()) => replica_error(&server, extent, session)?,
        Err(error) => {
            let interrupted = matches!(error.kind(), Kind::Interrupted | Kind::Terminated);
            let error = incomplete_error(&error, &extent());
            // Unless a signal ended the scan, print neither an incomplete JSON document nor a report without findings.
            if !interrupted && (items.is_empty() || session.ui.format().is_json_or_ndjson()) {
                return Err(error);
            }
            Some(error)
        }
    };
    let failing = items.iter().any(|found| found.severity >= options.fail_on);
    let scan = ScanSummary {
        counts: match queues.len() {
            0 => counts,
            some => ScanCounts {
                queues: some as u64,
                ..counts
            },
        },
        elapsed_s: Number((elapsed * 10.0).round() / 10.0),
        complete: halted.is_none(),
        clean: halted.is_none() && !failing,
        fail_on: options.fail_on,
        causes: likely_causes(&items, &server),
    };
    Ok(ScanOutcome {
        check: CheckReport {
            scan,
            items,
            dry_run: None,
            plan: None,
        },
        queue,
        halted,
        narrow: !queues.is_empty() || options.filter.excludes_any_finding(),
        unverified,
    })
}

/// Reports the findings and returns the exit code. If `with_hints`, also prints commands for the next steps.
pub(crate) fn report_findings(
    mut result: ScanOutcome,
    with_hints: bool,
    session: &mut Session,
) -> Result<Exit, Error> {
    let failing = result.reaches_fail_on_severity();
    // With `-q`, as in a cron job, the table leaves out findings below `--fail-on`. A document has all findings.
    if session.ui.is_quiet() && !session.ui.format().is_json_or_ndjson() {
        let fail_on = result.check.scan.fail_on;
        result.check.items.retain(|found| found.severity >= fail_on);
    }
    let (check, ui) = (&result.check, &mut session.ui);
    let nothing = match (check.items.is_empty(), check.scan.complete) {
        (true, true) if !result.unverified.is_empty() => "",
        (true, true) if result.narrow => ", no inconsistency in what was scanned",
        (true, true) => ", no inconsistency",
        _ => "",
    };
    ui.note(&format!("{}{nothing}", check.scan_headline()));
    for id in &result.unverified {
        ui.note(&format!(
            "note: {id} cannot be verified before other findings are repaired: `qless check` \
             reports them"
        ));
    }
    if !check.items.is_empty() {
        ui.note_to_people("");
    }
    ui.show(check)?;
    for cause in &check.scan.causes {
        ui.note(&format!("likely cause: {cause}"));
    }
    if with_hints && !ui.format().is_json_or_ndjson() {
        for cut in check
            .items
            .iter()
            .flat_map(ReportedFinding::cycle_breaking_commands)
        {
            ui.note(&format!("to break dependency-cycle: {cut}"));
        }
    }
    if check.scan.complete && with_hints {
        let own = session.canonical_command();
        let named = own.has_flag("--only");
        let repairable =
            |found: &ReportedFinding| found.repairable > 0 || named && found.needs_only > 0;
        if check.items.iter().any(repairable) {
            let mut plan = own.clone().with_word("--repair");
            if !own.has_flag("--dry-run") {
                plan = plan.with_word("--dry-run");
            }
            let plan = plan
                .shell_line()
                .unwrap_or_else(|| plan.shell_line_without_destination());
            let hint = format!("show the plan: {plan}");
            session.ui.hint_even_to_scripts(&hint);
        } else if check.items.iter().any(|found| found.needs_only > 0) {
            session
                .ui
                .hint_even_to_scripts("show what you can decide: qless help findings");
        }
    }
    match result.halted {
        Some(error) => Err(error),
        None if failing => Ok(Exit::Inconsistent),
        None => Ok(Exit::Ok),
    }
}

/// The queues that the patterns select, sorted. Empty if there are no patterns: then all queues are checked.
fn resolve_queues(patterns: &[NamePattern], session: &mut Session) -> Result<Vec<Name>, Error> {
    if patterns.is_empty() {
        return Ok(Vec::new());
    }
    let now = session.now();
    let core = session.core()?;
    let known = if patterns
        .iter()
        .all(|pattern| pattern.as_plain_name().is_some())
    {
        Vec::new()
    } else {
        core.index_members(now, &Index::Queues)?
    };
    let mut queues: Vec<Name> = Vec::new();
    for pattern in patterns {
        let some: Vec<Name> = match pattern.as_plain_name() {
            Some(queue) => {
                core.require_queue(now, queue)?;
                vec![queue.clone()]
            }
            None => known
                .iter()
                .filter(|queue| pattern.matches(queue))
                .cloned()
                .collect(),
        };
        if some.is_empty() {
            return Err(Error::unknown_name("queue", &pattern.as_typed(), &[]));
        }
        queues.extend(some);
    }
    queues.sort_unstable();
    queues.dedup();
    Ok(queues)
}

/// The error of an incomplete scan, which says how far the scan got.
fn incomplete_error(error: &Error, extent: &str) -> Error {
    Error::new(error.kind(), format!("{extent}: {}", error.message()))
        .hint_if(error.hint_text().map(str::to_owned))
}

/// Says how far an incomplete scan got.
fn extent_text(counts: ScanCounts, keys: Option<u64>, verified: u64) -> String {
    let scanned = match keys {
        Some(keys) => {
            let keys = with_thousands_separators(keys.max(counts.keys));
            format!("{} of {keys} keys", with_thousands_separators(counts.keys))
        }
        None => format_count(counts.keys, "key", "keys"),
    };
    let verified = match verified {
        0 => String::new(),
        some => format!(
            ", {} verified",
            format_count(some, "candidate", "candidates")
        ),
    };
    format!("incomplete: {scanned} scanned{verified}")
}

/// The error of a scan of a replica. The replica may lack changes of its primary, so its scan counts as incomplete.
/// With `--read-only`, which checks the replica itself, this is an error only if the replica has lost its primary.
fn replica_error(
    server: &ServerRisks,
    extent: impl Fn() -> String,
    session: &mut Session,
) -> Result<Option<Error>, Error> {
    let Some(primary) = server.primary else {
        return Ok(None);
    };
    let address = session.core()?.address();
    let extent = extent();
    Ok(if !primary.is_up {
        Some(Error::new(
            Kind::Stale,
            format!("{extent}: replica `{address}` has lost its primary and may be stale"),
        ))
    } else if session.globals.read_only {
        None
    } else {
        Some(
            Error::new(
                Kind::ReadOnly,
                format!(
                    "{extent}: `{address}` is a replica, which may lack changes of its primary"
                ),
            )
            .hint("point `--redis` at its primary; `--read-only` scans the replica itself"),
        )
    })
}

/// The finding that the server's settings allow it to evict keys. `None` if they do not.
fn eviction_finding(server: &ServerRisks) -> Option<Verdict> {
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
fn likely_causes(found: &[ReportedFinding], server: &ServerRisks) -> Vec<String> {
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
