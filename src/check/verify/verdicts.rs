//! Adds the verdicts of the core to the findings of the report, and queues their items for a repair.

use std::collections::HashSet;

use super::blocking_findings::BlockingFindings;
use super::collector::FindingCollector;
use super::options::VerifyOptions;
use super::progress::VerifyProgress;
use super::repair_queue::RepairQueue;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::check::ReportedFinding;
use crate::model::finding::FindingId;
use crate::model::verdict::{ItemKind, ItemLocation, Repairability, Verdict};
use crate::name::Name;
use crate::text::format_duration;

/// The verdicts of a scan.
pub(super) struct FindingsAndRepairQueue {
    pub(super) options: VerifyOptions,
    collector: FindingCollector,
    pub(super) blocking: BlockingFindings,
    /// Jobs whose dependencies are listed only by the other jobs, each with those jobs. A repair restores the
    /// dependencies of a job if a finding was reported about each of them.
    lost_dependencies: Vec<(Name, Vec<Name>)>,
    /// The first waiting job of each queue. `None` until the severity of a finding depends on it.
    heads: Option<HashSet<Name>>,
    pub(super) queue: RepairQueue,
}

/// The verdicts that belong to the queues of `--queue`.
struct ScopedVerdicts {
    verdicts: Vec<Verdict>,
    /// Missing jobs with a dependent in another queue. The repair skips them, because it would change that dependent.
    shared_jobs: HashSet<Name>,
}

impl FindingsAndRepairQueue {
    pub(super) fn new(options: VerifyOptions) -> FindingsAndRepairQueue {
        FindingsAndRepairQueue {
            collector: FindingCollector::new(options.max_examples),
            queue: RepairQueue::new(options.scans_only_some_queues()),
            options,
            blocking: BlockingFindings::default(),
            lost_dependencies: Vec::new(),
            heads: None,
        }
    }

    /// The findings, the worst and most frequent first, and the queue of a repair.
    pub(super) fn into_findings_and_queue(mut self) -> (Vec<ReportedFinding>, RepairQueue) {
        let reported = |job: &Name, dependency: &Name| {
            let id = FindingId::DependencyOneSided;
            self.collector.has_reported(id, job, dependency)
        };
        for (job, dependencies) in &self.lost_dependencies {
            if !dependencies.iter().all(|other| reported(job, other)) {
                self.queue.exclude_lost_dependencies_of(job);
            }
        }
        (self.collector.into_sorted_findings(), self.queue)
    }

    /// Reports a finding that is not a verdict of the core.
    pub(super) fn collect_finding_if_selected(&mut self, verdict: &Verdict) {
        if self.options.filter.selects_finding(verdict.id) {
            let severity = verdict.severity(false, false);
            self.collector.count_finding(severity, verdict);
        }
    }

    /// Notes a job that lost its dependencies, with all jobs that still list it as a dependent.
    pub(super) fn note_lost_dependencies(&mut self, job: Name, dependencies: Vec<Name>) {
        self.lost_dependencies.push((job, dependencies));
    }

    /// Counts the verdicts about items of a location as findings, and queues the items that a repair can act on.
    pub(super) fn collect_and_queue_verdicts(
        &mut self,
        core: &mut Core,
        progress: &mut VerifyProgress,
        location: &ItemLocation,
        items: &[Name],
        verdicts: Vec<Verdict>,
    ) -> Result<(), Error> {
        let missing = missing_jobs_affecting_severity(core, progress, &verdicts)?;
        let scoped = self.verdicts_in_scope(core, progress, location, verdicts)?;
        for mut verdict in scoped.verdicts {
            let finding = verdict.id.row();
            if self
                .blocking
                .cannot_be_verified_yet(&verdict, &self.options.filter)
            {
                continue;
            }
            self.blocking.note_if_blocking(&verdict);
            let new = self.collector.note_if_new_and_withdraw_covered(&verdict);
            let larger =
                self.options.repair && self.queue.note_and_take_over_if_larger(location, &verdict);
            if !self
                .options
                .filter
                .selects_for_item(finding.id, &verdict.item)
            {
                continue;
            }
            if !new {
                let counts_jobs = finding.id == FindingId::RecurringCount;
                // Queue a block of list entries in any case: if the collector is full, no finding of the block is new.
                let is_block = location.kind == ItemKind::Entries;
                if larger || counts_jobs || is_block {
                    self.queue_if_repairable(location, items, &verdict);
                }
                if counts_jobs {
                    self.collector.keep_example_with_largest_number(&verdict);
                }
                continue;
            }
            let head = finding.severity_depends_on_head()
                && self
                    .cached_first_waiting_jids(core, progress)?
                    .contains(&verdict.item);
            let missing =
                finding.severity_depends_on_job_existence() && missing.contains(&verdict.item);
            let severity = verdict.severity(head, missing);
            if let Some(age) = age_text_of_set_aside_key(&verdict, core.now()) {
                let detail = [verdict.detail.as_bytes(), b", ", age.as_bytes()].concat();
                verdict.detail = Name::from(detail);
            }
            if !scoped.shared_jobs.contains(&verdict.detail) {
                self.queue_if_repairable(location, items, &verdict)
            } else if verdict.outcome == Repairability::Repairable {
                self.queue.note_finding_skipped_by_scope()
            }
            self.collector.count_finding(severity, &verdict);
        }
        Ok(())
    }

    /// Drops verdicts about keys that do not belong to the queues of `--queue`. The leftover keys of a missing job
    /// belong to the queues of its dependents.
    fn verdicts_in_scope(
        &mut self,
        core: &mut Core,
        progress: &mut VerifyProgress,
        location: &ItemLocation,
        verdicts: Vec<Verdict>,
    ) -> Result<ScopedVerdicts, Error> {
        let mut shared_jobs = HashSet::new();
        if location.kind != ItemKind::Key || self.options.queues.is_empty() {
            return Ok(ScopedVerdicts {
                verdicts,
                shared_jobs,
            });
        }
        let is_edge = |verdict: &Verdict| verdict.id.row().is_edge;
        let (edges, mut scoped): (Vec<Verdict>, Vec<Verdict>) =
            verdicts.into_iter().partition(is_edge);
        scoped.retain(|verdict| {
            verdict.id == FindingId::NotJudged || !verdict.item.as_bytes().starts_with(b"j:")
        });
        let jids: Vec<Name> = edges.iter().map(|verdict| verdict.item.clone()).collect();
        progress.pace_unless_interrupted(jids.len())?;
        let queues = core.stored_job_fields(core.now(), &["queue"], &jids)?;
        for (verdict, queue) in edges.into_iter().zip(queues) {
            let queue = queue.into_iter().next().flatten().map(Name::from);
            if queue.is_some_and(|queue| self.options.queues.contains(&queue)) {
                scoped.push(verdict)
            } else {
                _ = shared_jobs.insert(verdict.detail)
            }
        }
        Ok(ScopedVerdicts {
            verdicts: scoped,
            shared_jobs,
        })
    }

    /// Queues the items of a verdict, if a repair follows and can repair the finding.
    fn queue_if_repairable(&mut self, location: &ItemLocation, items: &[Name], verdict: &Verdict) {
        if self.options.repair && verdict.outcome == Repairability::Repairable {
            self.queue.queue_items_of_verdict(location, items, verdict);
        }
    }

    fn cached_first_waiting_jids(
        &mut self,
        core: &mut Core,
        progress: &mut VerifyProgress,
    ) -> Result<&HashSet<Name>, Error> {
        if self.heads.is_none() {
            let heads = core.first_waiting_jid_per_queue(core.now())?;
            progress.pace_unless_interrupted(heads.len())?;
            self.heads = Some(heads);
        }
        Ok(self.heads.get_or_insert_default())
    }
}

/// The jobs that do not exist, of the verdicts whose severity depends on whether the job exists.
fn missing_jobs_affecting_severity(
    core: &mut Core,
    progress: &mut VerifyProgress,
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
    progress.pace_unless_interrupted(jids.len())?;
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
