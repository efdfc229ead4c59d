//! Has the candidates of a scan verified by the core in batches, and sorts the verdicts: into the
//! findings, and into the queue of a repair. Its memory is bounded.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

use super::batch_size::{BatchSizes, MAX_BATCH};
use super::bounded_set::{BoundedSet, MAX_HASHES};
use super::collector::Collector;
use super::finding_filter::{FindingFilter, Phase, for_kind};
use super::repair_queue::RepairQueue;
use super::unlisted::FailedJobs;
use crate::bulk::pace::Pace;
use crate::check::scan;
use crate::check::scan::{ScanCounts, Scope, Sink};
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::interrupt::Interrupt;
use crate::model::check::Found;
use crate::model::finding::{Detail, FindingId};
use crate::model::verdict::{ItemKind, Location, MAX_ITEMS, Verdict, VerdictOutcome};
use crate::name::Name;
use crate::text::{duration, thousands};
use crate::ui::Progress;

/// Maximum number of candidates that wait for verification, and of bytes of their names.
const MAX_CANDIDATES: usize = 4_000;
const MAX_BYTES: usize = 4 << 20;

/// Maximum number of failed jobs of a group that wait: all failure lists are read for them.
const MAX_FAILED: usize = 20_000;

/// How a scan is verified.
#[derive(Clone, Debug)]
pub(crate) struct VerifyOptions {
    pub filter: FindingFilter,
    /// Maximum number of examples of each finding.
    pub max_examples: usize,
    /// Whether a repair follows: `--only` approves findings, and repairable items are queued.
    pub repair: bool,
    /// The queues that are scanned; all if empty.
    pub queues: Vec<Name>,
}

/// The pace and the progress of a scan, and what interrupts it.
pub(crate) struct VerifyProgress {
    pub progress: Progress,
    pub pace: Pace,
    pub interrupt: Interrupt,
}

pub(crate) struct Verifier {
    options: VerifyOptions,
    progress: VerifyProgress,
    phase: Phase,
    /// The findings that the core looks for in each phase.
    scan_findings: Option<String>,
    deferred_findings: Option<String>,
    candidates: HashMap<Location, Vec<Name>>,
    candidate_count: usize,
    candidate_bytes: usize,
    /// Hashes of candidates that were verified lately.
    recent: HashSet<u64>,
    batch_sizes: BatchSizes,
    hasher: RandomState,
    collector: Collector,
    /// Tags with a wrong index: their counters are not compared with it.
    wrong_tags: BoundedSet,
    /// Whether a failure list is wrong: no counter of failed jobs is compared with the lists.
    wrong_failure_lists: bool,
    /// Jobs with a dependency that only the other job lists: they are not released.
    one_sided: BoundedSet,
    /// Jobs that lost dependencies, with all jobs that list them.
    lost_dependencies: Vec<(Name, Vec<Name>)>,
    /// Findings that were not verified because their requirements are not reported.
    unverified: BTreeSet<FindingId>,
    heads: Option<HashSet<Name>>,
    counts: ScanCounts,
    /// Which scan of all keys this is, and the keys that it has passed.
    pass: (u64, u64),
    /// The number of candidates verified.
    verified: u64,
    queue: RepairQueue,
}

impl Verifier {
    pub(crate) fn new(options: VerifyOptions, progress: VerifyProgress) -> Verifier {
        let findings = |phase| options.filter.to_scan(phase, options.repair);
        Verifier {
            scan_findings: findings(Phase::Scan),
            deferred_findings: findings(Phase::Deferred),
            queue: RepairQueue::new(!options.queues.is_empty()),
            collector: Collector::new(options.max_examples),
            options,
            progress,
            phase: Phase::Scan,
            candidates: HashMap::new(),
            candidate_count: 0,
            candidate_bytes: 0,
            recent: HashSet::new(),
            batch_sizes: BatchSizes::default(),
            hasher: RandomState::new(),
            wrong_tags: BoundedSet::default(),
            wrong_failure_lists: false,
            one_sided: BoundedSet::default(),
            lost_dependencies: Vec::new(),
            unverified: BTreeSet::new(),
            heads: None,
            counts: ScanCounts::default(),
            pass: (0, 0),
            verified: 0,
        }
    }

    /// Returns what was scanned.
    pub(crate) fn counts(&self) -> ScanCounts {
        self.counts
    }

    /// Returns the number of candidates verified.
    pub(crate) fn verified(&self) -> u64 {
        self.verified
    }

    /// Returns the findings that were not verified because their requirements are not reported.
    pub(crate) fn unverified(&self) -> Vec<FindingId> {
        self.unverified.iter().copied().collect()
    }

    /// Scans, and has the candidates verified.
    pub(crate) fn scan(
        &mut self,
        core: &mut Core,
        now: Moment,
        scope: &Scope,
    ) -> Result<(), Error> {
        self.batch_sizes = BatchSizes::new(core.round_trip(now));
        // A key that is scanned in several passes counts once.
        self.counts = scan::run(core, now, scope, self)?;
        self.verify_all(core)
    }

    /// Clears the progress and returns the findings, the worst and most frequent first, and the
    /// queue of a repair.
    pub(crate) fn finish(mut self) -> (Vec<Found>, RepairQueue) {
        self.progress.progress.finish();
        let reported = |job: &Name, dependency: &Name| {
            let id = FindingId::DependencyOneSided;
            self.collector.has_reported(id, job, dependency)
        };
        for (job, dependencies) in &self.lost_dependencies {
            if !dependencies.iter().all(|other| reported(job, other)) {
                self.queue.exclude(job);
            }
        }
        (self.collector.into_found(), self.queue)
    }

    /// Reports a finding that is not a verdict of the core.
    pub(crate) fn report(&mut self, verdict: &Verdict) {
        if self.options.filter.selects(verdict.id) {
            let severity = verdict.id.row().grade(verdict, false, false);
            self.collector.count(severity, verdict);
        }
    }

    /// Has all waiting candidates verified.
    fn verify_all(&mut self, core: &mut Core) -> Result<(), Error> {
        // Blocks of failure lists lead to further candidates.
        while let Some(location) = self.candidates.keys().next().cloned() {
            self.verify(core, &location)?;
        }
        Ok(())
    }

    fn verify(&mut self, core: &mut Core, location: &Location) -> Result<(), Error> {
        if location.kind == ItemKind::Key && !self.options.queues.is_empty() {
            // A dependency that the job itself lists is reported for the job, not for a leftover
            // key.
            self.verify(core, &Location::new(ItemKind::Job, ""))?;
        }
        let Some(mut items) = self.candidates.remove(location) else {
            return Ok(());
        };
        self.candidate_count -= items.len();
        self.candidate_bytes -= items
            .iter()
            .map(|item| item.as_bytes().len())
            .sum::<usize>();
        // Several entries may lead to the same candidate.
        items.retain(|item| self.recent.insert(self.hasher.hash_one((location, item))));
        if self.recent.len() > MAX_HASHES {
            self.recent.clear();
        }
        if location.kind == ItemKind::Entries {
            items.sort();
        }
        if location.kind != ItemKind::Failed {
            return self.verify_items(core, location, &items);
        }
        let group = &location.name;
        let jobs = FailedJobs::read(core, group, items, |count| self.pace(count))?;
        self.verify_items(core, location, &jobs.searched)?;
        let unlisted = Location::new(ItemKind::Unlisted, group.clone());
        self.verify_items(core, &unlisted, &jobs.unlisted.concat())
    }

    fn verify_items(
        &mut self,
        core: &mut Core,
        location: &Location,
        items: &[Name],
    ) -> Result<(), Error> {
        let mut rest = items;
        while !rest.is_empty() {
            let size = self.batch_sizes.size(location.kind).min(self.max_batch());
            let size = size.next_multiple_of(location.kind.words());
            let batch = &rest[..size.min(rest.len())];
            let verified = self.call(core, location, batch, true)?;
            rest = &rest[verified.clamp(1, batch.len())..];
        }
        Ok(())
    }

    /// Has items verified by one call, and returns how many were. `typical`: other calls will cost
    /// as much.
    fn call(
        &mut self,
        core: &mut Core,
        location: &Location,
        items: &[Name],
        typical: bool,
    ) -> Result<usize, Error> {
        let findings = match self.phase {
            Phase::Scan => self.scan_findings.clone(),
            Phase::Deferred => self.deferred_findings.clone(),
        };
        let Some(findings) = findings else {
            return Ok(items.len());
        };
        let findings = match self.phase {
            Phase::Scan => for_kind(findings, location.kind),
            Phase::Deferred => findings,
        };
        self.pace(items.len())?;
        let begun = Instant::now();
        let asked = if location.kind == ItemKind::Job && !typical {
            &Location::jobs_together()
        } else {
            location
        };
        let reply = match core.verify(core.now(), &findings, asked, items) {
            // One item needs a key of a wrong type. The others are verified without it.
            Err(error) if error.kind() == Kind::Damaged => {
                let words = location.kind.words();
                let half = (items.len() / 2).next_multiple_of(words);
                if items.len() <= words {
                    self.not_verifiable(items[0].clone(), error.reason());
                    return Ok(items.len());
                }
                let (some, others) = items.split_at(half);
                return match self.call(core, location, some, false)? {
                    verified if verified < some.len() => Ok(verified),
                    verified => Ok(verified + self.call(core, location, others, false)?),
                };
            }
            reply => reply?,
        };
        self.verified += reply.verified as u64;
        if typical {
            let took = begun.elapsed();
            self.batch_sizes
                .measure(location.kind, reply.verified, took);
        }
        self.sort_verdicts(core, location, items, reply.verdicts)?;
        let group = Location::new(ItemKind::Group, location.name.clone());
        for jid in reply.misplaced {
            self.candidate(core, &group, jid)?;
        }
        Ok(reply.verified)
    }

    /// Whether a finding cannot be verified before another one is repaired.
    fn is_blocked(&self, verdict: &Verdict) -> bool {
        let item = self.hasher.hash_one(&verdict.item);
        match verdict.id {
            FindingId::TagCount => self.wrong_tags.may_contain(item),
            FindingId::FailedCounter => self.wrong_failure_lists,
            FindingId::DependsOnNothing => self.one_sided.may_contain(item),
            _ => false,
        }
    }

    /// Notes a finding that blocks others.
    fn note_blocking(&mut self, verdict: &Verdict) {
        match verdict.id {
            FindingId::TagIndex => self
                .wrong_tags
                .insert(self.hasher.hash_one(&verdict.detail)),
            FindingId::DependencyOneSided => {
                self.one_sided.insert(self.hasher.hash_one(&verdict.item));
            }
            id => {
                self.wrong_failure_lists |=
                    id.is_failure_list() || verdict.known_detail == Detail::InNoList;
            }
        }
    }

    fn sort_verdicts(
        &mut self,
        core: &mut Core,
        location: &Location,
        asked: &[Name],
        verdicts: Vec<Verdict>,
    ) -> Result<(), Error> {
        let missing = self.missing_jobs(core, &verdicts)?;
        let (verdicts, shared) = self.in_scope(core, location, verdicts)?;
        for mut verdict in verdicts {
            let finding = verdict.id.row();
            if self.is_blocked(&verdict) {
                let filter = &self.options.filter;
                if filter.selects(finding.id) && filter.hides_requirements(finding.id) {
                    self.unverified.insert(finding.id);
                }
                continue;
            }
            self.note_blocking(&verdict);
            let new = self.collector.note(&verdict);
            let larger = self.options.repair && self.queue.note_overlap(location, &verdict);
            if !self.options.filter.selects_item(finding.id, &verdict.item) {
                continue;
            }
            if !new {
                let counts_jobs = finding.id == FindingId::RecurringCount;
                // A block of a list is queued even if its findings are too many to be remembered.
                let is_block = location.kind == ItemKind::Entries;
                if larger || counts_jobs || is_block {
                    self.queue_repair(location, asked, &verdict);
                }
                if counts_jobs {
                    self.collector.raise_number(&verdict);
                }
                continue;
            }
            let head = finding.depends_on_head() && self.heads(core)?.contains(&verdict.item);
            let missing = finding.depends_on_job() && missing.contains(&verdict.item);
            let severity = finding.grade(&verdict, head, missing);
            if let Some(age) = age(&verdict, core.now()) {
                let detail = [verdict.detail.as_bytes(), b", ", age.as_bytes()].concat();
                verdict.detail = Name::from(detail);
            }
            if !shared.contains(&verdict.detail) {
                self.queue_repair(location, asked, &verdict)
            } else if verdict.outcome == VerdictOutcome::Repairable {
                self.queue.skip()
            }
            self.collector.count(severity, &verdict);
        }
        Ok(())
    }

    /// Returns the verdicts about keys that belong to the scanned queues. The leftover keys of a
    /// missing job belong to the queues of its dependents. Also returns the missing jobs with a
    /// dependent in another queue, which the same call would repair.
    fn in_scope(
        &mut self,
        core: &mut Core,
        location: &Location,
        verdicts: Vec<Verdict>,
    ) -> Result<(Vec<Verdict>, HashSet<Name>), Error> {
        let mut shared = HashSet::new();
        if location.kind != ItemKind::Key || self.options.queues.is_empty() {
            return Ok((verdicts, shared));
        }
        let is_edge = |verdict: &Verdict| verdict.id.row().is_edge;
        let (edges, mut scoped): (Vec<Verdict>, Vec<Verdict>) =
            verdicts.into_iter().partition(is_edge);
        scoped.retain(|verdict| {
            verdict.id == FindingId::NotJudged || !verdict.item.as_bytes().starts_with(b"j:")
        });
        let jids: Vec<Name> = edges.iter().map(|verdict| verdict.item.clone()).collect();
        self.pace(jids.len())?;
        let queues = core.fields(core.now(), &["queue"], &jids)?;
        for (verdict, queue) in edges.into_iter().zip(queues) {
            let queue = queue.into_iter().next().flatten().map(Name::from);
            if queue.is_some_and(|queue| self.options.queues.contains(&queue)) {
                scoped.push(verdict)
            } else {
                _ = shared.insert(verdict.detail)
            }
        }
        Ok((scoped, shared))
    }

    /// Queues the items of a verdict that a repair can act on.
    fn queue_repair(&mut self, location: &Location, asked: &[Name], verdict: &Verdict) {
        if self.options.repair && verdict.outcome == VerdictOutcome::Repairable {
            self.queue.add(location, asked, verdict);
        }
    }

    /// Returns the items that are missing jobs, of the findings whose severity depends on it.
    fn missing_jobs(
        &mut self,
        core: &mut Core,
        verdicts: &[Verdict],
    ) -> Result<HashSet<Name>, Error> {
        let jids: Vec<Name> = verdicts
            .iter()
            .filter(|verdict| verdict.id.row().depends_on_job())
            .map(|verdict| verdict.item.clone())
            .collect();
        if jids.is_empty() {
            return Ok(HashSet::new());
        }
        self.pace(jids.len())?;
        let exist = core.are_jobs(core.now(), &jids)?;
        let missing = jids.into_iter().zip(exist).filter(|(_, exists)| !exists);
        Ok(missing.map(|(jid, _)| jid).collect())
    }

    /// Returns the first job of each queue.
    fn heads(&mut self, core: &mut Core) -> Result<&HashSet<Name>, Error> {
        if self.heads.is_none() {
            let heads = core.first_waiting(core.now())?;
            self.pace(heads.len())?;
            self.heads = Some(heads);
        }
        Ok(self.heads.get_or_insert_default())
    }

    /// Waits for the pace after `count` keys or members. An interrupt is an error.
    fn pace(&mut self, count: usize) -> Result<(), Error> {
        let VerifyProgress {
            pace, interrupt, ..
        } = &mut self.progress;
        pace.wait(count, interrupt);
        match interrupt.asked() {
            Some(kind) => Err(Error::new(kind, "interrupted")),
            None => Ok(()),
        }
    }
}

/// Returns the age of a key that a repair set aside: its name begins with the time of the repair.
fn age(verdict: &Verdict, now: Moment) -> Option<String> {
    if verdict.id != FindingId::LostKey {
        return None;
    }
    let time = verdict.item.as_str()?.strip_prefix("lost:")?.get(..15)?;
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S", time).ok()?;
    let time = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let then = Moment::from_micros(time.as_microsecond());
    Some(format!("{} old", duration(now.since(then).max(0.0))))
}

impl Sink for Verifier {
    fn candidate(&mut self, core: &mut Core, location: &Location, item: Name) -> Result<(), Error> {
        let candidates = match self.candidates.get_mut(location) {
            Some(candidates) => candidates,
            None => self.candidates.entry(location.clone()).or_default(),
        };
        // Entries of the same block come one after the other.
        if candidates.last() == Some(&item) {
            return Ok(());
        }
        self.candidate_bytes += item.as_bytes().len();
        candidates.push(item);
        self.candidate_count += 1;
        let most = match location.kind {
            ItemKind::Failed => MAX_FAILED,
            _ => MAX_BATCH,
        };
        if candidates.len() >= most {
            return self.verify(core, location);
        }
        if self.candidate_count >= MAX_CANDIDATES + MAX_FAILED || self.candidate_bytes >= MAX_BYTES
        {
            self.verify_all(core)
        } else {
            Ok(())
        }
    }

    fn large_candidate(
        &mut self,
        core: &mut Core,
        location: &Location,
        item: Name,
    ) -> Result<(), Error> {
        if self.options.repair {
            self.queue.note_large(&item);
        }
        self.call(core, location, &[item], false).map(drop)
    }

    fn candidate_group(
        &mut self,
        core: &mut Core,
        location: &Location,
        items: Vec<Name>,
    ) -> Result<(), Error> {
        if let ([item], false) = (items.as_slice(), location.kind == ItemKind::Cycle) {
            return self.candidate(core, location, item.clone());
        }
        let mut batches = items.chunks(MAX_ITEMS);
        batches.try_for_each(|batch| self.call(core, location, batch, false).map(drop))
    }

    fn unlisted_lock(&mut self) {
        self.queue.withhold_releases();
    }

    fn one_sided_dependency(&mut self, jid: Option<&[u8]>) {
        match jid {
            Some(jid) => self.one_sided.insert(self.hasher.hash_one(Name::from(jid))),
            None => self.one_sided.insert_all(),
        }
    }

    fn lost_dependencies(&mut self, job: &[u8], dependencies: &[Name]) {
        if self.options.repair {
            self.lost_dependencies
                .push((Name::from(job), dependencies.to_vec()));
        }
    }

    fn not_verifiable(&mut self, item: Name, why: &str) {
        self.report(&Verdict::report(
            FindingId::NotJudged,
            item,
            Name::from(why),
        ));
    }

    fn pass_begins(&mut self) {
        self.pass = (self.pass.0 + 1, 0);
    }

    fn keys_scanned(&mut self, _: &mut Core, counts: ScanCounts) -> Result<(), Error> {
        self.pass.1 += counts.keys;
        let (pass, passed) = self.pass;
        // Keys that are scanned in several passes count once.
        if pass > 1 {
            let note = format!("pass {pass}: {}", thousands(passed));
            self.progress.progress.note_after_total(note);
        } else {
            self.counts.keys += counts.keys;
            self.counts.jobs += counts.jobs;
            self.counts.queues += counts.queues;
            self.progress.progress.add(counts.keys);
        }
        self.pace(usize::try_from(counts.keys).unwrap_or(usize::MAX))
    }

    fn members_read(&mut self, _: &mut Core, members: usize) -> Result<(), Error> {
        self.progress.progress.add(0);
        self.pace(members)
    }

    fn max_batch(&self) -> usize {
        self.progress.pace.slice(usize::MAX)
    }

    fn scan_complete(&mut self, core: &mut Core) -> Result<(), Error> {
        self.verify_all(core)?;
        self.recent.clear();
        self.phase = Phase::Deferred;
        Ok(())
    }
}
