//! One look: what is asked for, the walk with its judge, and its report.

use super::diagnosis;
use super::finding_filter::FindingFilter;
use super::repair_queue::RepairQueue;
use super::verifier::{Verifier, VerifyOptions, VerifyProgress};
use crate::bulk::pace::Pace;
use crate::check::scan::{Candidate, Scope};
use crate::core::api::check::Server;
use crate::core::api::index::Index;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::json::Number;
use crate::model::check::{Check, Found};
use crate::model::finding::Severity;
use crate::model::pattern::Pattern;
use crate::model::rate::Rate;
use crate::name::Name;
use crate::session::Session;
use crate::text::{plural, thousands};

/// What is to be looked at, and what to say of it.
#[derive(Clone, Debug)]
pub(crate) struct CheckOptions {
    pub queues: Vec<Pattern>,
    pub wanted: FindingFilter,
    /// How many examples of each finding are shown.
    pub examples: u64,
    pub rate: Option<Rate>,
    pub fail_on: Severity,
}

/// What a look saw.
#[derive(Debug)]
pub(crate) struct ScanResult {
    pub check: Check,
    /// What a repair would mend, if one is meant.
    pub kept: RepairQueue,
    /// Why it ended before it had seen everything, if it was interrupted.
    pub halted: Option<Error>,
    /// Whether less than everything was looked for.
    pub narrow: bool,
    /// What was not judged because of findings that are not to be told.
    pub waited: Vec<&'static str>,
}

impl ScanResult {
    /// Whether something that is there is bad enough to be exit 7.
    pub(crate) fn failing(&self) -> bool {
        let mut items = self.check.items.iter();
        items.any(|found| found.severity >= self.check.fail_on)
    }
}

/// Looks. For a `repair`, what is named is decided, and what would be mended is kept.
pub(crate) fn run(
    told: &CheckOptions,
    repair: bool,
    stop: &Interrupt,
    session: &mut Session,
) -> Result<ScanResult, Error> {
    let scope = scope(&told.queues, session)?;
    let now = session.now();
    let (core, out) = session.core_and_ui()?;
    let server = core.server(now);
    let keys = server.keys;
    let watch = VerifyProgress {
        progress: out.progress(keys.unwrap_or(0)),
        keys: keys.unwrap_or(u64::MAX),
        pace: Pace::new(told.rate),
        stop: stop.clone(),
    };
    let order = VerifyOptions {
        wanted: told.wanted.clone(),
        examples: usize::try_from(told.examples).unwrap_or(usize::MAX),
        repair,
        queues: scope.queues.clone(),
    };
    let mut judge = Verifier::new(order, watch);
    let walked = judge.look(core, now, &scope);
    let (seen, judged) = (judge.seen(), judge.judged());
    if scope.queues.is_empty()
        && let Some(verdict) = diagnosis::evicts(&server)
    {
        judge.tell(&verdict);
    }
    let took = core.now().since(now);
    let waited = judge.waited();
    let (items, kept) = judge.end();
    let halted = match walked {
        Ok(()) => elsewhere(&server, far(seen, keys, judged), session)?,
        Err(error) => {
            let stopped = matches!(error.kind(), Kind::Interrupted | Kind::Terminated);
            let error = halted(&error, far(seen, keys, judged));
            // A document is whole, or somebody wished it to end.
            if !stopped && (items.is_empty() || session.ui.format().is_json()) {
                return Err(error);
            }
            Some(error)
        }
    };
    let failing = items.iter().any(|found| found.severity >= told.fail_on);
    let check = Check {
        keys: seen.keys,
        jobs: seen.jobs,
        queues: match scope.queues.len() {
            0 => seen.queues,
            some => some as u64,
        },
        elapsed_s: Number((took * 10.0).round() / 10.0),
        complete: halted.is_none(),
        clean: halted.is_none() && !failing,
        fail_on: told.fail_on,
        causes: diagnosis::likely(&items, &server),
        items,
    };
    Ok(ScanResult {
        check,
        kept,
        halted,
        narrow: !scope.queues.is_empty() || told.wanted.is_narrow(),
        waited,
    })
}

/// Reports what was found, with what to do next if nobody has done it, and returns the code to exit
/// with.
pub(crate) fn report(
    looked: ScanResult,
    hints: bool,
    session: &mut Session,
) -> Result<Exit, Error> {
    let (check, out) = (&looked.check, &mut session.ui);
    let nothing = match (check.items.is_empty(), check.complete) {
        (true, true) if !looked.waited.is_empty() => "",
        (true, true) if looked.narrow => ", nothing of what was asked for is damaged",
        (true, true) => ", nothing is damaged",
        _ => "",
    };
    out.note(&format!("{}{nothing}", check.headline()));
    for id in &looked.waited {
        out.note(&format!(
            "note: whether there is {id} can be told when what it is compared with is mended: \
             `qless check` tells all"
        ));
    }
    if !check.items.is_empty() {
        out.note_on_terminal("");
    }
    out.show(check)?;
    for cause in &check.causes {
        out.note(&format!("likely cause: {cause}"));
    }
    if hints && !out.format().is_json() {
        for cut in check.items.iter().flat_map(Found::cuts) {
            out.note(&format!("to break dependency-cycle: {cut}"));
        }
    }
    if check.complete && hints {
        let again = session.own();
        let named = again.contains(" --only ");
        let mends = |found: &Found| found.mends > 0 || named && found.asks > 0;
        if check.items.iter().any(mends) {
            let dry = match again.ends_with(" --dry-run") || again.contains(" --dry-run ") {
                true => "",
                false => " --dry-run",
            };
            let hint = format!("see the plan with: qless {again} --repair{dry}");
            session.ui.hint_in_any_case(&hint);
        } else if check.items.iter().any(|found| found.asks > 0) {
            session
                .ui
                .hint_in_any_case("what there is to decide: qless help findings");
        }
    }
    let failing = looked.failing();
    match looked.halted {
        Some(error) => Err(error),
        None if failing => Ok(Exit::Inconsistent),
        None => Ok(Exit::Ok),
    }
}

/// Returns the queues that are meant.
fn scope(patterns: &[Pattern], session: &mut Session) -> Result<Scope, Error> {
    if patterns.is_empty() {
        return Ok(Scope::default());
    }
    let now = session.now();
    let core = session.core()?;
    let known = core.members(now, &Index::Queues)?;
    let mut queues: Vec<Name> = Vec::new();
    for pattern in patterns {
        let some: Vec<Name> = match pattern.plain() {
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
            return Err(Error::unknown("queue", pattern.typed(), &[]));
        }
        queues.extend(some);
    }
    queues.sort();
    queues.dedup();
    Ok(Scope { queues })
}

/// Says of a look that did not see everything how far it came.
fn halted(error: &Error, far: String) -> Error {
    let why = error.message();
    let told = Error::new(error.kind(), format!("{far}: {why}"));
    match error.hint_text() {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

fn far(seen: Candidate, keys: Option<u64>, judged: u64) -> String {
    let walked = match keys {
        Some(keys) => {
            let keys = thousands(keys.max(seen.keys));
            format!("{} of {keys} keys", thousands(seen.keys))
        }
        None => plural(seen.keys, "key", "keys"),
    };
    let judged = match judged {
        0 => String::new(),
        some => format!(" and {} judged", plural(some, "suspect", "suspects")),
    };
    format!("cannot tell about everything, {walked} were walked{judged}")
}

/// A replica may lack what its primary has, and have what that no longer has: what is found there
/// is told, but that nothing is found says nothing. Who only reads asks about the replica.
fn elsewhere(server: &Server, far: String, session: &mut Session) -> Result<Option<Error>, Error> {
    let Some(primary) = server.primary else {
        return Ok(None);
    };
    let place = session.core()?.address();
    Ok(match primary.up {
        false => Some(Error::new(
            Kind::Stale,
            format!("{far}: replica `{place}` has lost its primary, and may be old"),
        )),
        true if session.globals.read_only => None,
        true => Some(
            Error::new(
                Kind::ReadOnly,
                format!("{far}: `{place}` is a replica, which may lack what its primary has"),
            )
            .hint("point `--redis` at its primary; `--read-only` asks about the replica itself"),
        ),
    })
}
