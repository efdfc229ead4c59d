//! Adds the verdicts of the core to the findings of the report, and queues their items for a repair. Each finding is
//! counted once, with a bounded number of examples.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};

use super::CheckOptions;
use super::finding_filter::FindingFilter;
use super::pace::CallPace;
use crate::check::repair_queue::RepairQueue;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::check::ReportedFinding;
use crate::model::finding::{FindingId, Severity};
use crate::model::verdict::{FindingRepairState, ItemKind, ItemLocation, Verdict};
use crate::name::Name;
use crate::text::format_duration;

/// Maximum number of findings remembered, so that the report counts none twice (10 MB). If there are more, the report
/// says `at least` before the counts.
const MAX_REPORTED: usize = 900_000;

/// The findings of a scan, and the items to repair.
pub(super) struct FindingsAndRepairQueue {
    pub(super) filter: FindingFilter,
    /// The queues that `--queue` selects. Empty if it selects none, so that all are checked.
    queues: Vec<Name>,
    /// Maximum number of examples of each finding.
    max_examples: usize,
    found: Vec<ReportedFinding>,
    /// Hashes of the findings that were counted.
    reported: HashSet<u64>,
    hasher: RandomState,
    pub(super) blocking: BlockingFindings,
    /// Jobs whose dependencies are listed only by the other jobs, each with those jobs. A repair restores the
    /// dependencies of a job if a finding was reported about each of them.
    lost_dependencies: Vec<(Name, Vec<Name>)>,
    /// The first waiting job of each queue. `None` until the severity of a finding depends on it.
    heads: Option<HashSet<Name>>,
    /// The items to repair. `None` if no repair follows.
    pub(super) repair_queue: Option<RepairQueue>,
}

impl FindingsAndRepairQueue {
    pub(super) fn new(
        options: &CheckOptions,
        for_repair: bool,
        queues: Vec<Name>,
    ) -> FindingsAndRepairQueue {
        FindingsAndRepairQueue {
            filter: options.filter.clone(),
            max_examples: usize::try_from(options.max_examples).unwrap_or(usize::MAX),
            found: Vec::new(),
            reported: HashSet::new(),
            hasher: RandomState::new(),
            blocking: BlockingFindings::default(),
            lost_dependencies: Vec::new(),
            heads: None,
            repair_queue: for_repair.then(|| RepairQueue::new(!queues.is_empty())),
            queues,
        }
    }

    pub(super) fn checks_only_some_queues(&self) -> bool {
        !self.queues.is_empty()
    }

    /// The findings, the worst and most frequent first, and the queue of a repair.
    pub(super) fn into_findings_and_queue(mut self) -> (Vec<ReportedFinding>, RepairQueue) {
        let mut queue = self.repair_queue.take().unwrap_or_default();
        let id = FindingId::DependencyOneSided;
        for (job, dependencies) in &self.lost_dependencies {
            let is_reported = |other: &Name| {
                self.reported
                    .contains(&self.finding_key(id, job, Some(other)))
            };
            if !dependencies.iter().all(is_reported) {
                queue.excluded.insert(job.clone());
            }
        }
        self.found.retain(|found| found.count > 0);
        self.found.sort_by(|one, other| {
            let by_severity = other.severity.cmp(&one.severity);
            by_severity
                .then(other.count.cmp(&one.count))
                .then(one.finding.id.into_str().cmp(other.finding.id.into_str()))
        });
        (self.found, queue)
    }

    /// Reports a finding that is not a verdict of the core.
    pub(super) fn report_unverified_finding_if_selected(&mut self, verdict: Verdict) {
        if self.filter.selects_finding(verdict.id) {
            let severity = verdict.severity(false, false);
            self.count_finding(severity, verdict);
        }
    }

    /// Notes a job that lost its dependencies, with all jobs that still list it as a dependent.
    pub(super) fn note_dependencies_to_restore(&mut self, job: Name, dependencies: Vec<Name>) {
        if self.repair_queue.is_some() {
            self.lost_dependencies.push((job, dependencies));
        }
    }

    /// Counts the verdicts about items of a location as findings, and queues the items that a repair can act on.
    pub(super) fn collect_and_queue_verdicts(
        &mut self,
        core: &mut Core,
        pace: &mut CallPace,
        location: &ItemLocation,
        items: &[Name],
        verdicts: Vec<Verdict>,
    ) -> Result<(), Error> {
        let missing = missing_jobs_affecting_severity(core, pace, &verdicts)?;
        let (verdicts, shared_jobs) =
            self.scoped_verdicts_and_shared_jobs(core, pace, location, verdicts)?;
        for mut verdict in verdicts {
            let finding = verdict.id.row();
            if self.blocking.cannot_be_verified_yet(&verdict, &self.filter) {
                continue;
            }
            self.blocking.note_if_blocking_other_findings(&verdict);
            let new = self.note_if_new_and_withdraw_covered(&verdict);
            let larger = self.repair_queue.as_mut().is_some_and(|queue| {
                queue
                    .overlaps
                    .note_and_take_over_if_larger(location, &verdict)
            });
            if !self.filter.selects_for_item(finding.id, &verdict.item) {
                continue;
            }
            if !new {
                let counts_jobs = finding.id == FindingId::RecurringCount;
                // Queue a block of list entries in any case: if too many findings are remembered, none of the block is
                // new.
                let is_block = location.kind == ItemKind::Entries;
                if larger || counts_jobs || is_block {
                    self.queue_if_repairable(location, items, &verdict);
                }
                if counts_jobs {
                    self.keep_example_with_largest_number(&verdict);
                }
                continue;
            }
            let head = finding.severity_depends_on_head()
                && self
                    .cached_first_waiting_jids(core, pace)?
                    .contains(&verdict.item);
            let severity = verdict.severity(head, missing.contains(&verdict.item));
            if let Some(age) = age_text_of_set_aside_key(&verdict, core.now()) {
                let detail = [verdict.detail.as_bytes(), b", ", age.as_bytes()].concat();
                verdict.detail = Name::from(detail);
            }
            if !shared_jobs.contains(&verdict.detail) {
                self.queue_if_repairable(location, items, &verdict)
            } else if verdict.outcome == FindingRepairState::Repairable
                && let Some(queue) = &mut self.repair_queue
            {
                queue.skipped_by_scope += 1
            }
            self.count_finding(severity, verdict);
        }
        Ok(())
    }

    /// Drops verdicts about keys that do not belong to the queues of `--queue`. The leftover keys of a missing job
    /// belong to the queues of its dependents. Also returns the missing jobs with a dependent in another queue: the
    /// repair skips them, because it would change that dependent.
    fn scoped_verdicts_and_shared_jobs(
        &mut self,
        core: &mut Core,
        pace: &mut CallPace,
        location: &ItemLocation,
        verdicts: Vec<Verdict>,
    ) -> Result<(Vec<Verdict>, HashSet<Name>), Error> {
        let mut shared_jobs = HashSet::new();
        if location.kind != ItemKind::Key || !self.checks_only_some_queues() {
            return Ok((verdicts, shared_jobs));
        }
        let is_edge = |verdict: &Verdict| verdict.id.row().is_edge;
        let (edges, mut scoped): (Vec<Verdict>, Vec<Verdict>) =
            verdicts.into_iter().partition(is_edge);
        scoped.retain(|verdict| {
            verdict.id == FindingId::NotJudged || !verdict.item.as_bytes().starts_with(b"j:")
        });
        let jids: Vec<Name> = edges.iter().map(|verdict| verdict.item.clone()).collect();
        pace.wait_unless_interrupted(jids.len())?;
        let queues = core.stored_job_fields(core.now(), &["queue"], &jids)?;
        for (verdict, queue) in edges.into_iter().zip(queues) {
            let queue = queue.into_iter().next().flatten().map(Name::from);
            if queue.is_some_and(|queue| self.queues.contains(&queue)) {
                scoped.push(verdict)
            } else {
                _ = shared_jobs.insert(verdict.detail)
            }
        }
        Ok((scoped, shared_jobs))
    }

    /// Queues the items of a verdict, if a repair follows and can repair the finding.
    fn queue_if_repairable(&mut self, location: &ItemLocation, items: &[Name], verdict: &Verdict) {
        if verdict.outcome == FindingRepairState::Repairable
            && let Some(queue) = &mut self.repair_queue
        {
            queue.queue_items_of_verdict(location, items, verdict);
        }
    }

    /// Notes a verdict, and withdraws the counted findings that its finding covers. Returns whether the verdict is to
    /// count: its finding was not counted before, and no counted finding covers it.
    fn note_if_new_and_withdraw_covered(&mut self, verdict: &Verdict) -> bool {
        let (finding, item) = (verdict.id.row(), &verdict.item);
        let detail = finding.by_detail.then_some(&verdict.detail);
        let own = self.finding_key(finding.id, item, detail);
        if self.reported.contains(&own) {
            return false;
        }
        let covering = finding.id.covered_by();
        if covering.is_some_and(|id| self.reported.contains(&self.finding_key(id, item, None))) {
            return false;
        }
        for id in finding.covers {
            if self.reported.remove(&self.finding_key(*id, item, None)) {
                self.withdraw_covered(*id, item);
            }
        }
        if self.reported.len() < MAX_REPORTED {
            self.reported.insert(own);
            if !finding.covers.is_empty() {
                self.reported
                    .insert(self.finding_key(finding.id, item, None));
            }
            return true;
        }
        // The finding may have been counted already, so the count becomes `at least`.
        let mut first = true;
        for found in self.findings_with_id(finding.id) {
            found.at_least = true;
            first = false;
        }
        first
    }

    fn count_finding(&mut self, severity: Severity, mut verdict: Verdict) {
        let fits =
            |found: &ReportedFinding| found.finding.id == verdict.id && found.severity == severity;
        let at = match self.found.iter().position(fits) {
            Some(at) => at,
            None => {
                self.found.push(ReportedFinding::new(verdict.id, severity));
                self.found.len() - 1
            }
        };
        let found = &mut self.found[at];
        found.count += 1;
        let number = verdict.time_or_count_in_detail();
        if found.largest < number {
            found.largest = number;
        }
        match verdict.outcome {
            FindingRepairState::Repairable | FindingRepairState::Repaired => found.repairable += 1,
            FindingRepairState::NeedsOnly => found.needs_only += 1,
            FindingRepairState::Report => {}
        }
        verdict.changes = Vec::new();
        found.add_sorted_example(verdict, self.max_examples);
    }

    /// Replaces the example for the verdict's item if the verdict has a larger number. So a recurring job with a wrong
    /// count is reported once, with the largest number among its jobs.
    fn keep_example_with_largest_number(&mut self, verdict: &Verdict) {
        for example in self
            .findings_with_id(verdict.id)
            .flat_map(|found| &mut found.examples)
        {
            if example.item == verdict.item
                && example.time_or_count_in_detail() < verdict.time_or_count_in_detail()
            {
                example.detail = verdict.detail.clone();
            }
        }
    }

    /// Removes a finding about an item from the counts and the examples, because another finding covers it.
    fn withdraw_covered(&mut self, id: FindingId, item: &Name) {
        for found in self.findings_with_id(id) {
            found.count = found.count.saturating_sub(1);
            found.repairable = found.repairable.min(found.count);
            found.needs_only = found.needs_only.min(found.count);
            found.examples.retain(|example| example.item != *item);
        }
    }

    /// The rows collected so far for a finding, one for each severity with which it was found.
    fn findings_with_id(&mut self, id: FindingId) -> impl Iterator<Item = &mut ReportedFinding> {
        self.found
            .iter_mut()
            .filter(move |found| found.finding.id == id)
    }

    fn finding_key(&self, id: FindingId, item: &Name, detail: Option<&Name>) -> u64 {
        self.hasher.hash_one((id, item, detail))
    }

    fn cached_first_waiting_jids(
        &mut self,
        core: &mut Core,
        pace: &mut CallPace,
    ) -> Result<&HashSet<Name>, Error> {
        if self.heads.is_none() {
            let heads = core.first_waiting_jid_per_queue(core.now())?;
            pace.wait_unless_interrupted(heads.len())?;
            self.heads = Some(heads);
        }
        Ok(self.heads.get_or_insert_default())
    }
}

/// The jobs that do not exist, of the verdicts whose severity depends on whether the job exists.
fn missing_jobs_affecting_severity(
    core: &mut Core,
    pace: &mut CallPace,
    verdicts: &[Verdict],
) -> Result<HashSet<Name>, Error> {
    let jids: Vec<Name> = verdicts
        .iter()
        .filter(|verdict| verdict.id.row().severity_depends_on_job_existence())
        .map(|verdict| verdict.item.clone())
        .collect();
    if jids.is_empty() {
        return Ok(HashSet::new());
    }
    pace.wait_unless_interrupted(jids.len())?;
    let exist = core.jobs_exist(core.now(), &jids)?;
    let missing = jids.into_iter().zip(exist).filter(|(_, exists)| !exists);
    Ok(missing.map(|(jid, _)| jid).collect())
}

/// The age of a key that a repair set aside, from the time in its name. `None` for other findings.
fn age_text_of_set_aside_key(verdict: &Verdict, now: Moment) -> Option<String> {
    if verdict.id != FindingId::LostKey {
        return None;
    }
    let time = verdict.item.as_str()?.strip_prefix("lost:")?.get(..15)?;
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S", time).ok()?;
    let time = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let then = Moment::from_micros(time.as_microsecond());
    Some(format!("{} old", format_duration(now.since(then).max(0.0))))
}

/// The findings of a scan that block others: for example, the core cannot verify a counter before its index is repaired.
#[derive(Debug, Default)]
pub(super) struct BlockingFindings {
    /// Hashes of the tags whose index is wrong. They block findings about the counters of these tags.
    wrong_tags: SaturatingHashSet,
    /// Whether any failure list is wrong. This blocks all findings about counters of failed jobs.
    wrong_failure_lists: bool,
    /// Hashes of the jobs with a dependency that only the other job lists. No repair releases these jobs.
    one_sided: SaturatingHashSet,
    /// Findings that were blocked by findings which the options leave out of the report.
    pub with_hidden_requirements: BTreeSet<FindingId>,
    hasher: RandomState,
}

impl BlockingFindings {
    /// Whether a finding cannot be verified before a repair of another finding. If the options leave that other
    /// finding out of the report, notes the blocked finding as unverified.
    pub(super) fn cannot_be_verified_yet(
        &mut self,
        verdict: &Verdict,
        filter: &FindingFilter,
    ) -> bool {
        let item = self.hasher.hash_one(&verdict.item);
        let cannot_be_verified_yet = match verdict.id {
            FindingId::TagCount => self.wrong_tags.may_contain(item),
            FindingId::FailedCounter => self.wrong_failure_lists,
            FindingId::DependsOnNothing => self.one_sided.may_contain(item),
            _ => false,
        };
        if cannot_be_verified_yet
            && filter.selects_finding(verdict.id)
            && filter.hides_all_required_findings(verdict.id)
        {
            self.with_hidden_requirements.insert(verdict.id);
        }
        cannot_be_verified_yet
    }

    /// Notes a finding, if it blocks others.
    pub(super) fn note_if_blocking_other_findings(&mut self, verdict: &Verdict) {
        match verdict.id {
            FindingId::TagIndex => self
                .wrong_tags
                .insert(self.hasher.hash_one(&verdict.detail)),
            FindingId::DependencyOneSided => self.note_one_sided_dependency(&verdict.item),
            FindingId::JobUnreadable => {
                self.wrong_failure_lists |= verdict.detail.as_bytes().ends_with(b", in no list");
            }
            id => self.wrong_failure_lists |= id.is_about_failure_list(),
        }
    }

    /// Notes a job with a dependency that only the other job lists.
    pub(super) fn note_one_sided_dependency(&mut self, jid: &Name) {
        self.one_sided.insert(self.hasher.hash_one(jid));
    }

    /// Notes that any job may have a dependency that only the other job lists.
    pub(super) fn assume_one_sided_dependencies_everywhere(&mut self) {
        self.one_sided.overflowed = true;
    }
}

/// Maximum number of hashes that a set remembers.
const MAX_HASHES: usize = 100_000;

/// A set of hashes that counts as containing every hash, once more than [`MAX_HASHES`] were added.
#[derive(Debug, Default)]
struct SaturatingHashSet {
    hashes: HashSet<u64>,
    overflowed: bool,
}

impl SaturatingHashSet {
    fn insert(&mut self, hash: u64) {
        if self.hashes.len() < MAX_HASHES {
            _ = self.hashes.insert(hash)
        } else {
            self.overflowed = true
        }
    }

    fn may_contain(&self, hash: u64) -> bool {
        self.overflowed || self.hashes.contains(&hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_set_may_contain_everything() {
        let mut set = SaturatingHashSet::default();
        set.insert(7);
        assert!(set.may_contain(7) && !set.may_contain(8));
        (0..=MAX_HASHES as u64).for_each(|hash| set.insert(hash));
        assert!(set.may_contain(u64::MAX));
    }
}
