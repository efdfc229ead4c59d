//! `--repair`: a look, its plan, a question; then what was found is judged again and mended in the
//! order of `stage.rs`, until a look finds nothing more that can be.

pub(crate) mod repairer;
pub(crate) mod revert;
pub(crate) mod undo;

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::Instant;

use uuid::Uuid;

use self::repairer::Repairer;
use self::undo::Undo;
use super::verify::batch_size::Slices;
use super::verify::run;
use super::verify::run::{CheckOptions, ScanResult};
use crate::args::format::Format;
use crate::bulk::pace::Pace;
use crate::clock::moment::Moment;
use crate::core::script::keys::Keys;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::json::Number;
use crate::model::check::Found;
use crate::model::finding::{Finding, Severity};
use crate::model::repair::{Planned, Rehearsed, RepairCounts, Repaired, Row};
use crate::model::verdict::VerdictOutcome;
use crate::model::verdict::{Change, Verdict};
use crate::name::Name;
use crate::session::Session;
use crate::text::{clean, plural, quoted, thousands};
use crate::view::json;
use crate::view::repair::{commands, decisions, deletes, plan, spelt};

/// How often it is looked again for what the mending brought to light.
const ROUNDS: usize = 3;

/// Said of what `kept.rs` leaves to a repair of everything.
const ALL_QUEUES: &str =
    "note: a job that lost the list of what it waits for is mended only without `--queue`";

/// What is to be done, where it is written down and by which words, and whether it is done at all.
#[derive(Debug)]
pub(crate) struct RepairOptions<'a> {
    pub told: CheckOptions,
    pub undo: Option<&'a Path>,
    /// The command with those of its arguments that say what is mended.
    pub command: String,
    pub dry_run: bool,
}

pub(crate) fn run(order: RepairOptions, session: &mut Session) -> Result<Exit, Error> {
    session.ui.check_columns::<Repaired>()?;
    let RepairOptions { told, dry_run, .. } = &order;
    let open = |path| Undo::open(path, &order.command, *dry_run, session);
    let undo = order.undo.map(open).transpose()?;
    let now = session.begin()?;
    let server = session.core()?.server_health(now);
    if server.primary.is_some() && !*dry_run {
        let address = session.destination()?;
        return Err(Error::new(
            Kind::ReadOnly,
            format!("cannot repair `{address}`: it is a replica"),
        )
        .hint("point `--redis` at its primary; `--read-only` lets it be looked at"));
    }
    let stop = Interrupt::listen();
    let first = run::run(told, true, &stop, session)?;
    let mends = first.check.items.iter().any(|found| found.mends > 0);
    let idle = first.kept.is_empty() || !mends;
    if first.halted.is_some() || idle && !*dry_run {
        return nothing(first, session);
    }
    if *dry_run {
        return rehearse(told, first, &stop, session);
    }
    if let Some(policy) = server.policy.filter(|policy| policy != "noeviction") {
        session.ui.warn(&format!(
            "maxmemory-policy is {policy}: the server may do the same damage again"
        ));
    }
    consent(&first, session)?;
    let run = name(session);
    let undo = match undo {
        Some(mut undo) => undo.begin(session).map(|()| Some(undo))?,
        None => None,
    };
    let trip = session.core()?.round_trip(now);
    let mender = Repairer::new(
        told.wanted.clone(),
        run.clone(),
        undo,
        told.rate,
        stop.clone(),
        Slices::new(trip),
    );
    Repair {
        told,
        run,
        stop,
        mender,
        begun: session.now(),
    }
    .run(first, session)
}

/// Returns a name for what this repair sets aside: when, and which of several.
fn name(session: &Session) -> String {
    let when = session.now().rfc3339().unwrap_or_default();
    let when: String = when
        .chars()
        .take(19)
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let mut one = Uuid::new_v4().simple().to_string();
    one.truncate(4);
    format!("{when}-{one}")
}

/// Reports a look after which there is nothing to mend, or that was cut short.
fn nothing(looked: ScanResult, session: &mut Session) -> Result<Exit, Error> {
    if looked.halted.is_none() && session.ui.format().is_json() {
        let failing = looked.failing();
        let rows = looked.check.items.iter().cloned().map(Row::from);
        session.ui.show(&Repaired {
            items: rows.collect(),
            check: looked.check,
            run: None,
            sum: RepairCounts::default(),
        })?;
        return Ok(code(failing));
    }
    let decisions = decisions(&looked.check.items, Severity::Warn);
    let whole = looked.halted.is_none();
    let left = looked.kept.left();
    let exit = run::report(looked, false, session)?;
    untold(left, &[], session);
    if whole && !decisions.is_empty() {
        session
            .ui
            .note(&format!("nothing to mend\n{}", decisions.trim_end()));
    }
    Ok(exit)
}

/// Says what is left although it could be mended, and how.
fn untold(left: usize, wide: &[Name], session: &mut Session) {
    if left > 0 {
        session.ui.note(ALL_QUEUES);
    }
    for job in wide.iter().take(3) {
        let job = quoted(job);
        session.ui.note(&format!(
            "note: {job} lost the list of what it waits for, and more jobs know of it than one \
             call can judge: `qless depends {job} --on JID …` with all of them"
        ));
    }
}

fn code(failing: bool) -> Exit {
    match failing {
        true => Exit::Inconsistent,
        false => Exit::Ok,
    }
}

/// Shows the plan and asks.
fn consent(looked: &ScanResult, session: &mut Session) -> Result<(), Error> {
    let items = &looked.check.items;
    let mends = items.iter().map(|found| found.mends).sum();
    let what = format!("mend {} on {}", findings(mends), session.destination()?);
    let headline = looked.check.headline();
    session.ui.note(&headline);
    let details = |page: &_| plan(items, page);
    match deletes(items) {
        0 => session.ui.confirm(&what, details)?,
        keys => {
            let what = format!(
                "{what}, and delete {} for ever",
                plural(keys, "key", "keys")
            );
            session
                .ui
                .confirm_typed(&what, &keys.to_string(), details)?
        }
    };
    Ok(())
}

/// Tells the commands of Redis that would mend what was found, in their order.
fn rehearse(
    told: &CheckOptions,
    looked: ScanResult,
    stop: &Interrupt,
    session: &mut Session,
) -> Result<Exit, Error> {
    let ScanResult { check, kept, .. } = looked;
    let mends: u64 = check.items.iter().map(|found| found.mends).sum();
    let what = match mends {
        0 => "there is nothing to mend".to_owned(),
        _ => format!("mend {} on {}", findings(mends), session.destination()?),
    };
    session.ui.show_plan(&what, |page| plan(&check.items, page));
    let more = kept.overflowed();
    let mut rehearsed = Rehearsed {
        check,
        dry_run: true,
        plan: Vec::new(),
    };
    let (keys, run) = (Keys::new(session.prefix()), name(session));
    // One damage may be met from several sides, and what fills a list makes it one that is not empty.
    let hasher = RandomState::new();
    let (mut met, mut filled) = (HashSet::new(), HashSet::new());
    let now = session.now();
    let mut slices = Slices::new(session.core()?.round_trip(now));
    let mut pace = Pace::new(told.rate);
    for mut batch in kept.in_order() {
        let Some(findings) = told.wanted.mends(batch.stage, &batch.without) else {
            continue;
        };
        let kind = batch.place.kind;
        while let Some(groups) = batch.next(pace.slice(slices.size(kind))) {
            let (core, items) = (session.core()?, groups.concat());
            pace.wait(items.len(), stop);
            if let Some(kind) = stop.asked() {
                return Err(Error::new(kind, "interrupted; nothing was changed"));
            }
            let begun = Instant::now();
            let verdicts = core.plan_repair(core.now(), &findings, &run, &batch.place, &items)?;
            slices.measure(kind, items.len(), begun.elapsed());
            for verdict in verdicts
                .iter()
                .filter(|one| one.outcome == VerdictOutcome::Found)
            {
                let list = Name::from(keys.group(verdict.item.as_bytes()));
                if verdict.id == "group-set" && filled.contains(&list) {
                    continue;
                }
                if verdict.id.starts_with("failed-") {
                    let some = verdict.changes.iter().filter(|one| one.after.is_some());
                    filled.extend(some.map(|change| change.key.clone()));
                }
                let planned = planned(&keys, verdict);
                if !met.insert(hasher.hash_one((&planned.finding, &planned.commands))) {
                    continue;
                }
                match session.ui.format() {
                    Format::Table => session.ui.text(&commands(&planned))?,
                    Format::Ndjson => {
                        let line = json::line(&planned).map_err(Error::internal)?;
                        session.ui.write(&line)?;
                    }
                    _ => rehearsed.plan.push(planned),
                }
            }
        }
    }
    if session.ui.format() == Format::Json {
        session.ui.show(&rehearsed)?;
    }
    if more {
        session
            .ui
            .note("note: there is more to mend than is shown; it is found once this is mended");
    }
    Ok(Exit::Ok)
}

fn findings(count: u64) -> String {
    plural(count, "finding", "findings")
}

/// A repair that was agreed to.
struct Repair<'a> {
    told: &'a CheckOptions,
    run: String,
    stop: Interrupt,
    mender: Repairer,
    begun: Moment,
}

impl Repair<'_> {
    fn run(mut self, first: ScanResult, session: &mut Session) -> Result<Exit, Error> {
        let mut found: BTreeMap<&'static str, u64> = BTreeMap::new();
        for item in &first.check.items {
            *found.entry(item.finding.id).or_default() += item.mends;
        }
        let before = first.check.items.clone();
        let (left, wide) = (first.kept.left(), first.kept.too_wide());
        let (mut last, broke) = self.rounds(first, session)?;
        let whole = broke.is_none();
        let broke = broke.or_else(|| self.mender.lacks.take());
        let took = session.now().since(self.begun);
        last.check.elapsed_s = Number((took * 10.0).round() / 10.0);
        let repaired = self.sum(&last, found, before, whole);
        session.ui.show(&repaired)?;
        let told = repaired.told();
        let failing = last.failing();
        untold(left, &wide, session);
        if let Some(error) = broke {
            session.ui.note(&told);
            return Err(self.halted(&error, &repaired, session));
        }
        let left = repaired.items.iter().filter(|row| row.found.count > 0);
        let bad = left.filter(|row| row.found.severity >= last.check.fail_on);
        let bad: u64 = bad.map(|row| row.found.count).sum();
        session.ui.note(&match bad {
            0 => format!("{told}; clean"),
            bad => format!("{told}; {} left", thousands(bad)),
        });
        if self.mender.aside > 0 {
            let keys = plural(self.mender.aside, "key is", "keys are");
            session.ui.note(&format!(
                "{keys} set aside under `{}lost:{}:`",
                clean(session.prefix()),
                self.run
            ));
        }
        let decisions = decisions(&last.check.items, Severity::Warn);
        if !decisions.is_empty() {
            session.ui.note(decisions.trim_end());
        }
        Ok(code(failing))
    }

    /// Mends and looks again. Returns the last look, and what broke it off.
    fn rounds(
        &mut self,
        first: ScanResult,
        session: &mut Session,
    ) -> Result<(ScanResult, Option<Error>), Error> {
        let mut looked = first;
        for round in 1.. {
            let kept = std::mem::take(&mut looked.kept);
            let overflowed = kept.overflowed();
            let mut progress = session.ui.progress(kept.len() as u64);
            let mended = self.mender.round(session.core()?, kept, &mut progress);
            progress.finish();
            let mended = match mended {
                Ok(mended) => mended,
                Err(error) => return Ok((looked, Some(error))),
            };
            let mut next = match run::run(self.told, true, &self.stop, session) {
                Ok(next) => next,
                Err(error) => return Ok((looked, Some(error))),
            };
            if let Some(error) = next.halted.take() {
                return Ok((looked, Some(error)));
            }
            looked = next;
            let again = overflowed || round < ROUNDS;
            if looked.kept.is_empty() || mended == 0 || !again {
                break;
            }
        }
        Ok((looked, None))
    }

    /// Returns what became of each finding. Where it was broken off, what was not mended is still
    /// there.
    fn sum(
        &self,
        last: &ScanResult,
        mut found: BTreeMap<&'static str, u64>,
        first: Vec<Found>,
        whole: bool,
    ) -> Repaired {
        let mut items: Vec<Row> = Vec::new();
        let mut fates = self.mender.fates.clone();
        for now in &last.check.items {
            let mut fate = fates.remove(now.finding.id).unwrap_or_default();
            let mut now = now.clone();
            if !whole {
                now.count = now.count.saturating_sub(fate.mended);
            } else if let Some(before) = found.remove(now.finding.id) {
                let gone = before.saturating_sub(fate.mended + fate.refused);
                fate.gone = gone.saturating_sub(now.mends);
            }
            items.push(Row { found: now, fate });
        }
        // What is not there any more.
        for mut before in first {
            let id = before.finding.id;
            if items.iter().any(|row| row.found.finding.id == id) {
                continue;
            }
            let mut fate = fates.remove(id).unwrap_or_default();
            let all = found.remove(id).unwrap_or(0);
            fate.gone = all.saturating_sub(fate.mended + fate.refused);
            before.count = 0;
            items.push(Row {
                found: before,
                fate,
            });
        }
        // What the mending itself brought to light.
        for (id, fate) in fates {
            if let Some(finding) = Finding::named(id) {
                let found = Found::new(finding, finding.severity);
                items.push(Row { found, fate });
            }
        }
        items.retain(|row| row.found.count > 0 || row.fate != RepairCounts::default());
        items.sort_by_key(|row| std::cmp::Reverse(row.found.severity));
        let mut sum = RepairCounts::default();
        items.iter().for_each(|row| sum.add(row.fate));
        let mut check = last.check.clone();
        check.complete = whole;
        check.clean = whole && !last.failing();
        Repaired {
            check,
            run: Some(self.run.clone()),
            sum,
            items,
        }
    }

    /// Says how far a repair came that was broken off.
    fn halted(&self, error: &Error, repaired: &Repaired, session: &Session) -> Error {
        let left: u64 = repaired.items.iter().map(|row| row.found.mends).sum();
        let all = thousands(left.max(repaired.sum.mended));
        let mended = thousands(repaired.sum.mended);
        // This call changed nothing, but earlier ones did.
        let why = error.reason();
        let why = format!("{why} after {mended} of {all} findings were mended");
        let again = match session.typed() {
            Some(typed) => format!("run the same command again to go on: `{typed}`"),
            None => "run the same command again to go on".to_owned(),
        };
        Error::new(error.kind(), why).hint(error.hint_text().unwrap_or(&again))
    }
}

/// Returns what a repair would do about a verdict, as commands of Redis.
fn planned(keys: &Keys, verdict: &Verdict) -> Planned {
    let command = |change: &Change| spelt(&change.command(keys, &verdict.item));
    Planned {
        finding: verdict.id.clone(),
        item: verdict.item.clone(),
        detail: verdict.detail.clone(),
        commands: verdict.changes.iter().map(command).collect(),
    }
}
