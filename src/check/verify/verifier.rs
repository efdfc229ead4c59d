//! The judge of a look: it gathers candidates, has them judged by the core in slices, and counts
//! what was found, once each. What it keeps is bounded.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

use super::batch_size::{SLICE, Slices};
use super::finding_filter::{FindingFilter, IN_NO_LIST, LISTS, Phase};
use super::overlaps;
use super::repair_queue::RepairQueue;
use crate::bulk::pace::Pace;
use crate::check::scan;
use crate::check::scan::{Candidate, Scope, Sink};
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::model::check::Found;
use crate::model::finding::{Finding, Severity};
use crate::model::verdict::{ItemKind, Location, MOST, Verdict, VerdictOutcome};
use crate::name::Name;
use crate::text::duration;
use crate::ui::Progress;

/// How many candidates wait to be judged, and how long their names are together.
const WAITING: usize = 4_000;
const BYTES: usize = 4 << 20;

/// How many findings are remembered, so that none is told twice: 10 MB. What comes after is told
/// as `at least`.
const REMEMBERED: usize = 900_000;

/// How many are remembered that cannot be judged in the end.
const BARRED: usize = 100_000;

/// How the judge works.
#[derive(Debug)]
pub(crate) struct VerifyOptions {
    pub wanted: FindingFilter,
    /// Examples of each finding.
    pub examples: usize,
    /// Whether a repair is meant: what is named is decided, and what it would mend is kept.
    pub repair: bool,
    /// Which queues are looked at; all if empty.
    pub queues: Vec<Name>,
}

/// What sets the pace of a look, and ends it.
pub(crate) struct VerifyProgress {
    pub progress: Progress,
    /// How many keys there are, if that is known.
    pub keys: u64,
    pub pace: Pace,
    pub stop: Interrupt,
}

pub(crate) struct Verifier {
    order: VerifyOptions,
    watch: VerifyProgress,
    phase: Phase,
    early: Option<String>,
    late: Option<String>,
    waiting: HashMap<Location, Vec<Name>>,
    waiting_items: usize,
    /// What was judged not long ago.
    asked: HashSet<u64>,
    bytes: usize,
    slices: Slices,
    hasher: RandomState,
    told: HashSet<u64>,
    /// Tags whose index disagrees with jobs: their counters are not compared with it.
    tags: Barred,
    /// Jobs that others know, and those others.
    known: Vec<(Name, Vec<Name>)>,
    /// Jobs that others know to wait for them: they are not released.
    lost_dependencies: Barred,
    lists: bool,
    /// What was not judged because of findings that are not to be told.
    waited: BTreeSet<&'static str>,
    heads: Option<HashSet<Name>>,
    found: Vec<Found>,
    seen: Candidate,
    /// How many keys were passed since the progress was made longer.
    walked: u64,
    /// How many suspects were judged.
    judged: u64,
    kept: RepairQueue,
}

/// Some of many: beyond what is remembered, all.
#[derive(Debug, Default)]
struct Barred {
    hashes: HashSet<u64>,
    more: bool,
}

impl Barred {
    fn add(&mut self, hash: u64) {
        match self.hashes.len() < BARRED {
            true => _ = self.hashes.insert(hash),
            false => self.more = true,
        }
    }

    fn may_have(&self, hash: u64) -> bool {
        self.more || self.hashes.contains(&hash)
    }
}

impl Verifier {
    pub(crate) fn new(order: VerifyOptions, watch: VerifyProgress) -> Verifier {
        let looks_for = |phase| order.wanted.looks_for(phase, order.repair);
        let kept = RepairQueue::of(!order.queues.is_empty());
        Verifier {
            early: looks_for(Phase::Early),
            late: looks_for(Phase::Late),
            order,
            watch,
            phase: Phase::Early,
            waiting: HashMap::new(),
            waiting_items: 0,
            asked: HashSet::new(),
            bytes: 0,
            slices: Slices::default(),
            hasher: RandomState::new(),
            told: HashSet::new(),
            tags: Barred::default(),
            known: Vec::new(),
            lost_dependencies: Barred::default(),
            lists: false,
            waited: BTreeSet::new(),
            heads: None,
            found: Vec::new(),
            seen: Candidate::default(),
            walked: 0,
            judged: 0,
            kept,
        }
    }

    /// Returns what was walked.
    pub(crate) fn seen(&self) -> Candidate {
        self.seen
    }

    /// Returns how many suspects were judged.
    pub(crate) fn judged(&self) -> u64 {
        self.judged
    }

    /// Walks, and has judged what is suspected.
    pub(crate) fn look(
        &mut self,
        core: &mut Core,
        now: Moment,
        scope: &Scope,
    ) -> Result<(), Error> {
        self.slices = Slices::new(core.round_trip(now));
        // What is walked twice was seen once.
        self.seen = scan::run(core, now, scope, self)?;
        self.finish(core)
    }

    /// Has judged what still waits.
    fn finish(&mut self, core: &mut Core) -> Result<(), Error> {
        let places: Vec<Location> = self.waiting.keys().cloned().collect();
        for place in places {
            self.judge(core, &place)?;
        }
        Ok(())
    }

    /// Returns what was not judged because of findings that are not to be told.
    pub(crate) fn waited(&self) -> Vec<&'static str> {
        self.waited.iter().copied().collect()
    }

    /// Takes the bar off the screen and returns what was found, the worst and most first, and what
    /// a repair would mend.
    pub(crate) fn end(mut self) -> (Vec<Found>, RepairQueue) {
        self.watch.progress.finish();
        let told = |job: &Name, other: &Name| {
            let key = self
                .hasher
                .hash_one(("dependency-one-sided", job, Some(other)));
            self.told.contains(&key)
        };
        for (job, others) in &self.known {
            if !others.iter().all(|other| told(job, other)) {
                self.kept.bar(job);
            }
        }
        self.found.retain(|found| found.count > 0);
        self.found.sort_by(|one, other| {
            let worst = other.severity.cmp(&one.severity);
            worst
                .then(other.count.cmp(&one.count))
                .then(one.finding.id.cmp(other.finding.id))
        });
        (self.found, self.kept)
    }

    /// Tells a finding that is no verdict of the core.
    pub(crate) fn tell(&mut self, verdict: &Verdict) {
        let Some(finding) = Finding::named(&verdict.id) else {
            return;
        };
        if self.order.wanted.wants(finding) {
            let severity = finding.grade(verdict, false, false);
            self.count(finding, severity, verdict);
        }
    }

    fn judge(&mut self, core: &mut Core, place: &Location) -> Result<(), Error> {
        if place.kind == ItemKind::Key && !self.order.queues.is_empty() {
            // What jobs know themselves is told of them, not of a key that is left over.
            self.judge(core, &Location::new(ItemKind::Job, ""))?;
        }
        let Some(mut items) = self.waiting.remove(place) else {
            return Ok(());
        };
        self.waiting_items -= items.len();
        self.bytes -= items
            .iter()
            .map(|item| item.as_bytes().len())
            .sum::<usize>();
        // One that many others bring to light is judged once.
        items.retain(|item| self.asked.insert(self.hasher.hash_one((place, item))));
        if self.asked.len() > BARRED {
            self.asked.clear();
        }
        let mut left = items.as_slice();
        while !left.is_empty() {
            let size = self.slices.size(place.kind).min(self.most());
            let (slice, rest) = left.split_at(size.min(left.len()));
            self.ask(core, place, slice, true)?;
            left = rest;
        }
        Ok(())
    }

    /// Has items judged by one call; `usual`: others will cost as much.
    fn ask(
        &mut self,
        core: &mut Core,
        place: &Location,
        items: &[Name],
        usual: bool,
    ) -> Result<(), Error> {
        let asked = match self.phase {
            Phase::Early => &self.early,
            Phase::Late => &self.late,
        };
        let Some(asked) = asked.clone() else {
            return Ok(());
        };
        self.go_on(items.len())?;
        let begun = Instant::now();
        let verdicts = core.verdicts(core.now(), &asked, place, items)?;
        self.judged += items.len() as u64;
        if usual {
            let took = begun.elapsed();
            self.slices.measure(place.kind, items.len(), took);
        }
        self.take(core, place, items, verdicts)
    }

    /// Whether it has to wait for other findings.
    fn waits(&self, verdict: &Verdict) -> bool {
        let item = self.hasher.hash_one(&verdict.item);
        match verdict.id.as_str() {
            "tag-count" => self.tags.may_have(item),
            "failed-counter" => self.lists,
            "depends-on-nothing" => self.lost_dependencies.may_have(item),
            _ => false,
        }
    }

    fn take(
        &mut self,
        core: &mut Core,
        place: &Location,
        asked: &[Name],
        verdicts: Vec<Verdict>,
    ) -> Result<(), Error> {
        let gone = self.gone(core, &verdicts)?;
        let (verdicts, shared) = self.ours(core, place, verdicts)?;
        for mut verdict in verdicts {
            let Some(finding) = Finding::named(&verdict.id) else {
                return Err(Error::internal(format!("finding `{}`", verdict.id)));
            };
            if self.waits(&verdict) {
                let wanted = &self.order.wanted;
                if wanted.wants(finding) && wanted.hides_what_is_first(finding.id) {
                    self.waited.insert(finding.id);
                }
                continue;
            }
            self.note(finding, &verdict);
            let new = self.is_new(finding, &verdict);
            let wider = self.order.repair && self.kept.meet(place, &verdict);
            if !self.order.wanted.wants(finding) {
                continue;
            }
            if !new {
                if wider {
                    self.keep(place, asked, &verdict);
                }
                self.larger(finding, place, asked, &verdict);
                continue;
            }
            let head = finding.asks_for_head() && self.heads(core)?.contains(&verdict.item);
            let gone = finding.asks_for_job() && gone.contains(&verdict.item);
            let severity = finding.grade(&verdict, head, gone);
            if let Some(age) = age(&verdict, core.now()) {
                let told = [verdict.detail.as_bytes(), b", ", age.as_bytes()].concat();
                verdict.detail = Name::from(told);
            }
            match shared.contains(&verdict.detail) {
                true if verdict.outcome == VerdictOutcome::Found => self.kept.leave(),
                true => {}
                false => self.keep(place, asked, &verdict),
            }
            self.count(finding, severity, &verdict);
        }
        Ok(())
    }

    /// Returns the verdicts about keys that belong to the queues that are looked at. Of what a job
    /// that is gone has left over it is those who wait; and which of such jobs others wait for, too,
    /// who would be mended by the same call.
    fn ours(
        &mut self,
        core: &mut Core,
        place: &Location,
        verdicts: Vec<Verdict>,
    ) -> Result<(Vec<Verdict>, HashSet<Name>), Error> {
        let mut shared = HashSet::new();
        if place.kind != ItemKind::Key || self.order.queues.is_empty() {
            return Ok((verdicts, shared));
        }
        let edge = |verdict: &Verdict| verdict.id.starts_with("dependency-");
        let (edges, mut ours): (Vec<Verdict>, Vec<Verdict>) = verdicts.into_iter().partition(edge);
        ours.retain(|one| one.id == "not-judged" || !one.item.as_bytes().starts_with(b"j:"));
        let jids: Vec<Name> = edges.iter().map(|verdict| verdict.item.clone()).collect();
        self.go_on(jids.len())?;
        let queues = core.fields(core.now(), &["queue"], &jids)?;
        for (verdict, queue) in edges.into_iter().zip(queues) {
            let queue = queue.into_iter().next().flatten().map(Name::from);
            match queue.is_some_and(|queue| self.order.queues.contains(&queue)) {
                true => ours.push(verdict),
                false => _ = shared.insert(verdict.detail),
            }
        }
        Ok((ours, shared))
    }

    /// Remembers what decides over other findings.
    fn note(&mut self, finding: &Finding, verdict: &Verdict) {
        if finding.id == "tag-index" {
            self.tags.add(self.hasher.hash_one(&verdict.detail));
        }
        if finding.id == "dependency-one-sided" {
            self.lost_dependencies
                .add(self.hasher.hash_one(&verdict.item));
        }
        self.lists |= LISTS.contains(&finding.id)
            || finding.id == "job-unreadable" && verdict.detail.as_bytes().ends_with(IN_NO_LIST);
    }

    /// Whether it was not told before, under this name or by one that stands for it.
    fn is_new(&mut self, finding: &Finding, verdict: &Verdict) -> bool {
        let key =
            |id: &str, detail: Option<&Name>| self.hasher.hash_one((id, &verdict.item, detail));
        let detail = finding.by_detail.then_some(&verdict.detail);
        let own = key(finding.id, detail);
        if self.told.contains(&own) {
            return false;
        }
        let others = overlaps::stood_for(finding.id);
        if overlaps::stands_for(finding.id).is_some_and(|id| self.told.contains(&key(id, None))) {
            return false;
        }
        let plain = key(finding.id, None);
        let told = others.iter().map(|id| (*id, key(id, None)));
        for (id, key) in told.collect::<Vec<_>>() {
            if self.told.remove(&key) {
                self.take_back(id, &verdict.item);
            }
        }
        if self.told.len() < REMEMBERED {
            self.told.insert(own);
            if !others.is_empty() {
                self.told.insert(plain);
            }
            return true;
        }
        // No more can be remembered: what is there is told, but not how often.
        let mut first = true;
        for found in self
            .found
            .iter_mut()
            .filter(|found| found.finding.id == finding.id)
        {
            found.at_least = true;
            first = false;
        }
        first
    }

    fn take_back(&mut self, id: &str, item: &Name) {
        for found in self.found.iter_mut().filter(|found| found.finding.id == id) {
            found.count = found.count.saturating_sub(1);
            found.mends = found.mends.min(found.count);
            found.asks = found.asks.min(found.count);
            found.examples.retain(|example| example.item != *item);
        }
    }

    /// A recurring job is told once, with the largest number that it has made.
    fn larger(&mut self, finding: &Finding, place: &Location, asked: &[Name], verdict: &Verdict) {
        if finding.id != "recurring-count" {
            return;
        }
        self.keep(place, asked, verdict);
        let number = |name: &Name| name.as_str().and_then(|text| text.parse::<f64>().ok());
        let same = self
            .found
            .iter_mut()
            .filter(|found| found.finding.id == finding.id);
        for example in same.flat_map(|found| &mut found.examples) {
            if example.item == verdict.item && number(&example.detail) < number(&verdict.detail) {
                example.detail = verdict.detail.clone();
            }
        }
    }

    fn count(&mut self, finding: &'static Finding, severity: Severity, verdict: &Verdict) {
        let like = |found: &Found| found.finding.id == finding.id && found.severity == severity;
        let at = match self.found.iter().position(like) {
            Some(at) => at,
            None => {
                self.found.push(Found::new(finding, severity));
                self.found.len() - 1
            }
        };
        let found = &mut self.found[at];
        found.count += 1;
        match verdict.outcome {
            VerdictOutcome::Found | VerdictOutcome::Mended => found.mends += 1,
            VerdictOutcome::Decide => found.asks += 1,
            VerdictOutcome::Report => {}
        }
        found.show(&verdict.detail, &verdict.item, self.order.examples);
    }

    /// Keeps what a repair would mend.
    fn keep(&mut self, place: &Location, asked: &[Name], verdict: &Verdict) {
        if self.order.repair && verdict.outcome == VerdictOutcome::Found {
            self.kept.add(place, asked, verdict);
        }
    }

    /// Returns those of the items whose severity depends on it that are no jobs.
    fn gone(&mut self, core: &mut Core, verdicts: &[Verdict]) -> Result<HashSet<Name>, Error> {
        let asks =
            |verdict: &&Verdict| Finding::named(&verdict.id).is_some_and(Finding::asks_for_job);
        let jids: Vec<Name> = verdicts
            .iter()
            .filter(asks)
            .map(|one| one.item.clone())
            .collect();
        if jids.is_empty() {
            return Ok(HashSet::new());
        }
        self.go_on(jids.len())?;
        let there = core.are_jobs(core.now(), &jids)?;
        let gone = jids.into_iter().zip(there).filter(|(_, there)| !there);
        Ok(gone.map(|(jid, _)| jid).collect())
    }

    /// Returns the first job of each queue.
    fn heads(&mut self, core: &mut Core) -> Result<&HashSet<Name>, Error> {
        if self.heads.is_none() {
            let heads = core.first_waiting(core.now())?;
            self.go_on(heads.len())?;
            self.heads = Some(heads);
        }
        Ok(self.heads.get_or_insert_default())
    }

    /// Waits until so many keys or members may be looked at after those before. Ends the look where
    /// somebody asked for that.
    fn go_on(&mut self, looked_at: usize) -> Result<(), Error> {
        self.watch.pace.wait(looked_at, &self.watch.stop);
        match self.watch.stop.asked() {
            Some(kind) => Err(Error::new(kind, "interrupted")),
            None => Ok(()),
        }
    }
}

/// Returns how old a key is that a repair set aside: its name begins with the time of that.
fn age(verdict: &Verdict, now: Moment) -> Option<String> {
    if verdict.id != "lost-key" {
        return None;
    }
    let time = verdict.item.as_str()?.strip_prefix("lost:")?.get(..15)?;
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S", time).ok()?;
    let time = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let then = Moment::from_micros(time.as_microsecond());
    Some(format!("{} old", duration(now.since(then).max(0.0))))
}

impl Sink for Verifier {
    fn suspect(&mut self, core: &mut Core, place: &Location, item: Name) -> Result<(), Error> {
        let waiting = match self.waiting.get_mut(place) {
            Some(waiting) => waiting,
            None => self.waiting.entry(place.clone()).or_default(),
        };
        self.bytes += item.as_bytes().len();
        waiting.push(item);
        self.waiting_items += 1;
        if waiting.len() >= SLICE {
            return self.judge(core, place);
        }
        match self.waiting_items >= WAITING || self.bytes >= BYTES {
            true => self.finish(core),
            false => Ok(()),
        }
    }

    fn alone(&mut self, core: &mut Core, place: &Location, item: Name) -> Result<(), Error> {
        if self.order.repair {
            self.kept.heavy(&item);
        }
        self.ask(core, place, &[item], false)
    }

    fn together(
        &mut self,
        core: &mut Core,
        place: &Location,
        items: Vec<Name>,
    ) -> Result<(), Error> {
        if let ([item], false) = (items.as_slice(), place.kind == ItemKind::Cycle) {
            return self.suspect(core, place, item.clone());
        }
        let mut slices = items.chunks(MOST);
        slices.try_for_each(|slice| self.ask(core, place, slice, false))
    }

    fn knows(&mut self, job: &[u8], others: &[Name]) {
        if self.order.repair {
            self.known.push((Name::from(job), others.to_vec()));
        }
    }

    fn held_back(&mut self, jid: Option<&[u8]>) {
        match jid {
            Some(jid) => self
                .lost_dependencies
                .add(self.hasher.hash_one(Name::from(jid))),
            None => self.lost_dependencies.more = true,
        }
    }

    fn beyond(&mut self, item: Name, why: &str) {
        self.tell(&Verdict {
            id: "not-judged".to_owned(),
            item,
            outcome: VerdictOutcome::Report,
            detail: Name::from(why),
            changes: Vec::new(),
        });
    }

    fn seen(&mut self, _: &mut Core, seen: Candidate) -> Result<(), Error> {
        // What is walked twice is seen once.
        match self.seen.keys < self.watch.keys {
            true => {
                self.seen.keys += seen.keys;
                self.seen.jobs += seen.jobs;
                self.seen.queues += seen.queues;
            }
            false if self.walked >= self.watch.keys => {
                self.watch.progress.longer(self.watch.keys);
                self.walked = 0;
            }
            false => {}
        }
        self.walked += seen.keys;
        self.watch.progress.add(seen.keys);
        let keys = usize::try_from(seen.keys).unwrap_or(usize::MAX);
        self.go_on(keys)
    }

    fn read(&mut self, _: &mut Core, members: usize) -> Result<(), Error> {
        self.watch.progress.add(0);
        self.go_on(members)
    }

    fn most(&self) -> usize {
        self.watch.pace.slice(usize::MAX)
    }

    fn whole(&mut self, core: &mut Core) -> Result<(), Error> {
        self.finish(core)?;
        self.asked.clear();
        self.phase = Phase::Late;
        Ok(())
    }
}
