//! Has the core verify the candidates of a scan in batches, with bounded memory, at the pace of `--rate`.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

use super::finding_filter::{VerifyPhase, exclude_failure_list_searches_if_jobs};
use super::pace::{CallPace, MAX_BATCH};
use super::verdicts::FindingsAndRepairQueue;
use super::{CheckOptions, unlisted};
use crate::check::repair_queue::RepairQueue;
use crate::check::scan;
use crate::check::scan::{CandidateSink, ScanCounts};
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::model::check::ReportedFinding;
use crate::model::finding::FindingId;
use crate::model::verdict::{ItemKind, ItemLocation, MAX_ITEMS, Verdict};
use crate::name::Name;
use crate::text::with_thousands_separators;
use crate::ui::Progress;

/// Maximum number of candidates that wait for verification, apart from failed jobs.
const MAX_CANDIDATES: usize = 4_000;

/// Maximum total size of the names of the candidates that wait for verification.
const MAX_BYTES: usize = 4 << 20;

/// Maximum number of failed jobs of one group that wait for verification. The number is large, because each
/// verification of failed jobs reads all failure lists.
const MAX_FAILED: usize = 20_000;

/// Maximum number of candidates that are remembered after their verification.
const MAX_RECENT: usize = 100_000;

/// Takes the candidates of a scan, has the core verify them, and adds the verdicts to the report.
pub(super) struct Verifier {
    candidates: CandidatesByLocation,
    phase: VerifyPhase,
    /// The findings that the core looks for in this phase. `None` if there are none.
    findings: Option<String>,
    pub pace: CallPace,
    /// The number of candidates verified.
    pub verified: u64,
    pub verdicts: FindingsAndRepairQueue,
    bar: Progress,
    /// The counts of the scan. A key that is scanned in several passes counts once.
    pub counts: ScanCounts,
    /// The number of the current pass over all keys, and the number of keys that this pass has scanned so far.
    pass: (u64, u64),
}

impl Verifier {
    /// `queues` are the queues that `--queue` selects, empty for all.
    pub(super) fn new(
        options: &CheckOptions,
        for_repair: bool,
        queues: Vec<Name>,
        pace: CallPace,
        bar: Progress,
    ) -> Verifier {
        let mut verifier = Verifier {
            candidates: CandidatesByLocation::default(),
            phase: VerifyPhase::DuringScan,
            findings: None,
            pace,
            verified: 0,
            verdicts: FindingsAndRepairQueue::new(options, for_repair, queues),
            bar,
            counts: ScanCounts::default(),
            pass: (0, 0),
        };
        verifier.set_phase_and_finding_list(VerifyPhase::DuringScan);
        verifier
    }

    fn set_phase_and_finding_list(&mut self, phase: VerifyPhase) {
        let for_repair = self.verdicts.repair_queue.is_some();
        self.phase = phase;
        self.findings = self.verdicts.filter.finding_list_to_scan(phase, for_repair);
    }

    /// Scans, and has the candidates verified.
    pub(super) fn scan_and_verify(
        &mut self,
        core: &mut Core,
        now: Moment,
        queues: &[Name],
    ) -> Result<(), Error> {
        self.pace.measure_round_trip(core);
        scan::run_scan(core, now, queues, self, scan::MAX_TABLE_SLOTS)?;
        self.verify_all_candidates(core)
    }

    /// Clears the progress bar. Returns the findings, the worst and most frequent first, and the queue of a repair.
    pub(super) fn into_findings_and_queue(self) -> (Vec<ReportedFinding>, RepairQueue) {
        self.bar.remove_bar();
        self.verdicts.into_findings_and_queue()
    }

    /// Has all waiting candidates verified.
    fn verify_all_candidates(&mut self, core: &mut Core) -> Result<(), Error> {
        // Repeat until no candidate waits: the verdict about a block of a failure list may add further candidates.
        while let Some(location) = self.candidates.any_waiting_location() {
            self.verify_candidates_at(core, &location)?;
        }
        Ok(())
    }

    fn verify_candidates_at(
        &mut self,
        core: &mut Core,
        location: &ItemLocation,
    ) -> Result<(), Error> {
        if location.kind == ItemKind::Key && self.verdicts.checks_only_some_queues() {
            // Verify jobs first: if a job lists a missing dependency, report it for the job, not for the leftover key.
            self.verify_candidates_at(core, &ItemLocation::new(ItemKind::Job, ""))?;
        }
        let Some(items) = self.candidates.take_candidates_at(location) else {
            return Ok(());
        };
        if location.kind != ItemKind::Failed {
            return self.verify_in_batches(core, location, &items);
        }
        let parts =
            unlisted::split_unlisted_from_failed_jobs(core, &location.name, items, &mut self.pace)?;
        for (location, items) in parts {
            self.verify_in_batches(core, &location, &items)?;
        }
        Ok(())
    }

    fn verify_in_batches(
        &mut self,
        core: &mut Core,
        location: &ItemLocation,
        items: &[Name],
    ) -> Result<(), Error> {
        let mut rest = items;
        while !rest.is_empty() {
            let size = self.pace.batch_size(location.kind);
            let size = size.next_multiple_of(location.kind.call_args_per_item());
            let batch = &rest[..size.min(rest.len())];
            let verified =
                self.verify_batch_or_its_halves(core, location, location, batch, true)?;
            rest = &rest[verified.clamp(1, batch.len())..];
        }
        Ok(())
    }

    /// Has the core verify items in one call, and processes the verdicts. Returns the number of items verified. The
    /// call names `call_location`, which may be [`ItemLocation::for_jobs_verified_together`]. If `is_typical`, the
    /// duration of the call adjusts the size of later calls.
    fn verify_batch_or_its_halves(
        &mut self,
        core: &mut Core,
        location: &ItemLocation,
        call_location: &ItemLocation,
        items: &[Name],
        is_typical: bool,
    ) -> Result<usize, Error> {
        let Some(mut findings) = self.findings.clone() else {
            return Ok(items.len());
        };
        if self.phase == VerifyPhase::DuringScan {
            findings = exclude_failure_list_searches_if_jobs(findings, location.kind);
        }
        self.pace.wait_unless_interrupted(items.len())?;
        let begun = Instant::now();
        let reply = match core.verify_items(core.now(), &findings, "", call_location, items) {
            // An item requires a key of a wrong type. Verify both halves separately, until only this item is left out.
            Err(error) if error.kind() == Kind::WrongKeyType => {
                let words = location.kind.call_args_per_item();
                let half = (items.len() / 2).next_multiple_of(words);
                if items.len() <= words {
                    self.note_unverifiable_item(items[0].clone(), error.message_without_effect());
                    return Ok(items.len());
                }
                let (some, others) = items.split_at(half);
                let mut verify_half = |half| {
                    self.verify_batch_or_its_halves(core, location, call_location, half, false)
                };
                return match verify_half(some)? {
                    verified if verified < some.len() => Ok(verified),
                    verified => Ok(verified + verify_half(others)?),
                };
            }
            reply => reply?,
        };
        self.verified += reply.verified as u64;
        if is_typical {
            self.pace
                .adjust_batch_size(location.kind, reply.verified, begun.elapsed());
        }
        self.verdicts.collect_and_queue_verdicts(
            core,
            &mut self.pace,
            location,
            items,
            reply.verdicts,
        )?;
        let group = ItemLocation::new(ItemKind::Group, location.name.clone());
        for jid in reply.misplaced {
            self.take_candidate(core, &group, jid)?;
        }
        Ok(reply.verified)
    }
}

impl CandidateSink for Verifier {
    fn take_candidate(
        &mut self,
        core: &mut Core,
        location: &ItemLocation,
        item: Name,
    ) -> Result<(), Error> {
        self.candidates.add_candidate(location, item);
        if self.candidates.is_location_full(location) {
            self.verify_candidates_at(core, location)
        } else if self.candidates.is_full() {
            self.verify_all_candidates(core)
        } else {
            Ok(())
        }
    }

    fn take_candidate_for_own_call(
        &mut self,
        core: &mut Core,
        location: &ItemLocation,
        item: Name,
    ) -> Result<(), Error> {
        if let Some(queue) = &mut self.verdicts.repair_queue {
            queue.note_item_for_own_call(&item);
        }
        self.verify_batch_or_its_halves(core, location, location, &[item], false)
            .map(drop)
    }

    fn take_candidates_to_verify_together(
        &mut self,
        core: &mut Core,
        location: &ItemLocation,
        items: Vec<Name>,
    ) -> Result<(), Error> {
        if let ([item], false) = (items.as_slice(), location.kind == ItemKind::Cycle) {
            return self.take_candidate(core, location, item.clone());
        }
        let together = match location.kind {
            ItemKind::Job => &ItemLocation::for_jobs_verified_together(),
            _ => location,
        };
        let mut batches = items.chunks(MAX_ITEMS);
        batches.try_for_each(|batch| {
            self.verify_batch_or_its_halves(core, location, together, batch, false)
                .map(drop)
        })
    }

    fn note_lock_in_unlisted_queue(&mut self) {
        if let Some(queue) = &mut self.verdicts.repair_queue {
            queue.withholds_releases = true;
        }
    }

    fn note_one_sided_dependency(&mut self, jid: &[u8]) {
        let jid = Name::from(jid);
        self.verdicts.blocking.note_one_sided_dependency(&jid);
    }

    fn note_unreadable_dependents(&mut self) {
        self.verdicts
            .blocking
            .assume_one_sided_dependencies_everywhere();
    }

    fn note_dependencies_to_restore(&mut self, job: &[u8], dependencies: &[Name]) {
        self.verdicts
            .note_dependencies_to_restore(Name::from(job), dependencies.to_vec());
    }

    fn note_unverifiable_item(&mut self, item: Name, why: &str) {
        self.verdicts
            .report_unverified_finding_if_selected(Verdict::report_only(
                FindingId::NotJudged,
                item,
                Name::from(why),
            ));
    }

    fn note_scan_pass_start(&mut self) {
        self.pass = (self.pass.0 + 1, 0);
    }

    fn note_and_pace_keys_scanned(
        &mut self,
        _: &mut Core,
        since_last: ScanCounts,
    ) -> Result<(), Error> {
        self.pass.1 += since_last.keys;
        let (pass, passed) = self.pass;
        if pass > 1 {
            let note = format!("pass {pass}: {}", with_thousands_separators(passed));
            self.bar.fill_and_show_pending(note);
        } else {
            self.counts.keys += since_last.keys;
            self.counts.jobs += since_last.jobs;
            self.counts.queues += since_last.queues;
            self.bar.add_done(since_last.keys);
        }
        let keys = usize::try_from(since_last.keys).unwrap_or(usize::MAX);
        self.pace.wait_unless_interrupted(keys)
    }

    fn pace_members_read(&mut self, _: &mut Core, members: usize) -> Result<(), Error> {
        // Redraw the bar, which counts only keys.
        self.bar.add_done(0);
        self.pace.wait_unless_interrupted(members)
    }

    fn max_members_per_read(&self) -> usize {
        self.pace.max_slice_size_by_rate()
    }

    fn verify_waiting_and_end_scan_phase(&mut self, core: &mut Core) -> Result<(), Error> {
        self.verify_all_candidates(core)?;
        self.candidates.forget_verified();
        self.set_phase_and_finding_list(VerifyPhase::AfterScan);
        Ok(())
    }
}

/// The candidates that wait for verification. Their number and their bytes are bounded.
#[derive(Debug, Default)]
struct CandidatesByLocation {
    waiting: HashMap<ItemLocation, Vec<Name>>,
    count: usize,
    bytes: usize,
    /// Hashes of candidates that were verified lately.
    recent: HashSet<u64>,
    hasher: RandomState,
}

impl CandidatesByLocation {
    fn add_candidate(&mut self, location: &ItemLocation, item: Name) {
        let waiting = match self.waiting.get_mut(location) {
            Some(waiting) => waiting,
            None => self.waiting.entry(location.clone()).or_default(),
        };
        // Entries of a list come in order, so a second candidate for the same block directly follows the first one.
        if waiting.last() != Some(&item) {
            self.bytes += item.as_bytes().len();
            waiting.push(item);
            self.count += 1;
        }
    }

    /// Whether the candidates that wait at a location must be verified before another one is added.
    fn is_location_full(&self, location: &ItemLocation) -> bool {
        let capacity = match location.kind {
            ItemKind::Failed => MAX_FAILED,
            _ => MAX_BATCH,
        };
        let waiting = self.waiting.get(location);
        waiting.is_some_and(|waiting| waiting.len() >= capacity)
    }

    /// Whether all candidates must be verified before another one is added.
    fn is_full(&self) -> bool {
        self.count >= MAX_CANDIDATES + MAX_FAILED || self.bytes >= MAX_BYTES
    }

    /// Any location that has candidates.
    fn any_waiting_location(&self) -> Option<ItemLocation> {
        self.waiting.keys().next().cloned()
    }

    /// Removes the waiting candidates of a location and returns them, except candidates that this scan has verified
    /// lately. `None` if none were waiting.
    fn take_candidates_at(&mut self, location: &ItemLocation) -> Option<Vec<Name>> {
        let mut items = self.waiting.remove(location)?;
        self.count -= items.len();
        let bytes = items.iter().map(|item| item.as_bytes().len());
        self.bytes -= bytes.sum::<usize>();
        // Several index entries may lead to the same candidate: drop the ones that were verified lately.
        items.retain(|item| self.recent.insert(self.hasher.hash_one((location, item))));
        if self.recent.len() > MAX_RECENT {
            self.recent.clear();
        }
        if location.kind == ItemKind::Entries {
            items.sort_unstable();
        }
        Some(items)
    }

    /// From now on, candidates that were verified before are verified again.
    fn forget_verified(&mut self) {
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_was_verified_lately_is_not_verified_again() {
        let mut candidates = CandidatesByLocation::default();
        let job = ItemLocation::new(ItemKind::Job, "");
        candidates.add_candidate(&job, Name::from("a"));
        assert_eq!(candidates.any_waiting_location(), Some(job.clone()));
        assert_eq!(
            candidates.take_candidates_at(&job),
            Some(vec![Name::from("a")])
        );
        assert_eq!(candidates.any_waiting_location(), None);
        candidates.add_candidate(&job, Name::from("a"));
        candidates.add_candidate(&job, Name::from("b"));
        assert_eq!(
            candidates.take_candidates_at(&job),
            Some(vec![Name::from("b")])
        );
        candidates.forget_verified();
        candidates.add_candidate(&job, Name::from("a"));
        assert_eq!(
            candidates.take_candidates_at(&job),
            Some(vec![Name::from("a")])
        );
        assert_eq!((candidates.count, candidates.bytes), (0, 0));
    }

    #[test]
    fn a_full_batch_or_many_bytes_are_due() {
        let mut candidates = CandidatesByLocation::default();
        let job = ItemLocation::new(ItemKind::Job, "");
        for number in 0..MAX_BATCH {
            assert!(!candidates.is_location_full(&job), "{number}");
            candidates.add_candidate(&job, Name::from(number.to_string()));
        }
        assert!(candidates.is_location_full(&job) && !candidates.is_full());
        let large = Name::from("x".repeat(MAX_BYTES));
        candidates.add_candidate(&ItemLocation::new(ItemKind::Tag, "eu"), large);
        assert!(candidates.is_full());
    }
}
