//! The items that a scan queues for a repair: with their locations, but without changes, because each item is
//! verified again. The queue takes a few megabytes at most.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::batch::RepairBatch;
use super::expected::ExpectedRepairs;
use super::lost_dependencies::{DependencyGroups, has_lost_dependencies};
use super::overlaps::OverlappingFindings;
use super::repair_order;
use crate::model::finding::{FindingId, RepairStage};
use crate::model::verdict::{ItemKind, Location, MAX_ITEMS, Verdict};
use crate::name::Name;

/// Maximum number of items queued, and of bytes of their names. The next scan finds the rest.
const MAX_QUEUED: usize = 200_000;
const MAX_BYTES: usize = 16 << 20;

/// Candidates for a repair.
#[derive(Debug, Default)]
pub(crate) struct RepairQueue {
    locations: Vec<Location>,
    location_index: HashMap<Location, u32>,
    items: Vec<(RepairStage, u32, Name)>,
    /// Items that take the server long.
    large: HashSet<Name>,
    /// Jobs that lost their dependencies, each with a dependency that still lists the job.
    lost_dependencies: Vec<(Name, Name)>,
    overlaps: OverlappingFindings,
    expected: ExpectedRepairs,
    /// Jobs with a dependency that was not verified.
    excluded: HashSet<Name>,
    bytes: usize,
    overflowed: bool,
    /// Whether there are more lost dependencies than are queued.
    lost_dependencies_overflowed: bool,
    /// Whether a job may run in a queue that is not listed: no job is released before that queue is
    /// listed, because the call that releases it would not see its lock.
    withholds_releases: bool,
    /// Whether only some queues are scanned.
    is_scoped: bool,
    /// The number of findings that are not repaired because only some queues are scanned.
    skipped: usize,
}

impl RepairQueue {
    /// Creates the queue of a scan. `is_scoped`: only some queues are scanned.
    pub(crate) fn new(is_scoped: bool) -> RepairQueue {
        RepairQueue {
            is_scoped,
            ..RepairQueue::default()
        }
    }

    /// Notes that an item takes the server long.
    pub(crate) fn note_large(&mut self, item: &Name) {
        if self.has_capacity() && self.large.insert(item.clone()) {
            self.bytes += item.as_bytes().len() + 40;
        }
    }

    /// Notes a verdict that may overlap with others. Returns whether it changes more than the one
    /// before, and is repaired in its place.
    pub(crate) fn replaces_earlier(&mut self, location: &Location, verdict: &Verdict) -> bool {
        self.overlaps.replaces_earlier(location, verdict)
    }

    /// Queues the items of a call that led to a verdict, if the queue has capacity.
    pub(crate) fn add_items(
        &mut self,
        location: &Location,
        call_items: &[Name],
        verdict: &Verdict,
    ) {
        if self.has_capacity() {
            self.expected.expect_repair_of(verdict);
        }
        if has_lost_dependencies(verdict) {
            return self.push_lost_dependency(verdict);
        }
        let stage = verdict.id.row().stage;
        if verdict.id == FindingId::KeyType {
            // A key of a wrong type is repaired by its name, whichever location has found it.
            return self.push_item(stage, &Location::new(ItemKind::Key, ""), &verdict.item);
        }
        let failed;
        let location = match location.kind {
            // The repair searches the failure lists again, and splits off the jobs that are in none.
            ItemKind::Unlisted => {
                failed = Location::new(ItemKind::Failed, location.name.clone());
                &failed
            }
            _ => location,
        };
        for item in items_behind_verdict(location, call_items, verdict) {
            self.push_item(stage, location, item);
        }
    }

    fn push_item(&mut self, stage: RepairStage, location: &Location, item: &Name) {
        if !self.has_capacity() {
            return;
        }
        let at = match self.location_index.get(location) {
            Some(at) => *at,
            None => {
                let at = u32::try_from(self.locations.len()).unwrap_or(u32::MAX);
                self.locations.push(location.clone());
                self.location_index.insert(location.clone(), at);
                self.bytes += 2 * size_of::<Location>() + location.name.as_bytes().len();
                at
            }
        };
        let entry = (stage, at, item.clone());
        // Several verdicts may come from the same block of a list: search all queued items for it, not only the
        // last one.
        let recent = match location.kind {
            ItemKind::Entries => MAX_ITEMS,
            _ => 1,
        };
        if !self
            .items
            .iter()
            .rev()
            .take(recent)
            .any(|one| *one == entry)
        {
            self.bytes += item.as_bytes().len();
            self.items.push(entry);
        }
    }

    fn push_lost_dependency(&mut self, verdict: &Verdict) {
        // If only some queues are scanned, other dependencies of the job may have been missed: it is not repaired.
        if self.is_scoped {
            self.count_skipped_by_scope();
        } else if !self.has_capacity() {
            self.lost_dependencies_overflowed = true;
        } else {
            self.bytes += verdict.item.as_bytes().len() + verdict.detail.as_bytes().len();
            let (job, dependency) = (verdict.item.clone(), verdict.detail.clone());
            self.lost_dependencies.push((job, dependency));
        }
    }

    /// Notes that not all dependencies of a job were verified: if it lost them, it is not repaired.
    pub(crate) fn exclude_job(&mut self, job: &Name) {
        self.excluded.insert(job.clone());
    }

    /// Whether another item fits. If none does, notes that the queue has overflowed.
    fn has_capacity(&mut self) -> bool {
        let fits =
            self.items.len() + self.lost_dependencies.len() < MAX_QUEUED && self.bytes < MAX_BYTES;
        self.overflowed |= !fits;
        fits
    }

    /// Excludes from this repair all findings whose repair may release a job.
    pub(crate) fn withhold_releases(&mut self) {
        self.withholds_releases = true;
    }

    /// Counts a finding that is not repaired because not all queues are scanned.
    pub(crate) fn count_skipped_by_scope(&mut self) {
        self.skipped += 1;
    }

    /// The number of findings that are not repaired because not all queues are scanned.
    pub(crate) fn skipped_by_scope(&self) -> usize {
        self.skipped
    }

    /// Whether there was more than the queue can take.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.overflowed
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.lost_dependencies.is_empty()
    }

    /// The number of items.
    pub(crate) fn item_count(&self) -> usize {
        self.items.len() + self.lost_dependencies.len()
    }

    /// The jobs that lost more dependencies than one call can verify, or of which some dependencies were not
    /// verified.
    pub(crate) fn jobs_with_too_many_dependencies(&self) -> Vec<Name> {
        let mut counts: HashMap<&Name, usize> = HashMap::new();
        for (job, _) in &self.lost_dependencies {
            *counts.entry(job).or_default() += 1;
        }
        let mut wide: Vec<Name> = counts
            .into_iter()
            .filter(|(job, count)| *count > MAX_ITEMS || self.excluded.contains(job))
            .map(|(job, _)| job.clone())
            .collect();
        wide.sort_unstable();
        wide
    }

    /// The findings that the queued items lead to.
    pub(crate) fn take_expected_repairs(&mut self) -> ExpectedRepairs {
        std::mem::take(&mut self.expected)
    }

    /// The batches in the order of repair: by stage, kind and location. Each item comes
    /// once in a stage.
    pub(crate) fn into_batches(self) -> Vec<RepairBatch> {
        let RepairQueue {
            locations,
            mut items,
            lost_dependencies,
            lost_dependencies_overflowed,
            large,
            excluded,
            overlaps,
            withholds_releases,
            ..
        } = self;
        let withheld: Vec<FindingId> = FindingId::all()
            .filter(|id| withholds_releases && id.may_release_job())
            .collect();
        let large = Rc::new(large);
        let jobs = Location::new(ItemKind::Job, "");
        let DependencyGroups { complete, excluded } =
            DependencyGroups::new(lost_dependencies, lost_dependencies_overflowed, &excluded);
        // Dependencies whose group cannot be restored as a whole are left out.
        items.retain(|(stage, at, item)| {
            *stage != RepairStage::Edges
                || locations[*at as usize] != jobs
                || !lost_dependencies_overflowed && !excluded.contains(item)
        });
        let rank = |stage: RepairStage, at: u32| {
            repair_order::location_rank(stage, &locations[at as usize])
        };
        items.sort_by(|one, other| {
            let location = |at: u32| &locations[at as usize];
            let by_stage = one.0.cmp(&other.0);
            let by_rank = by_stage.then_with(|| rank(one.0, one.1).cmp(&rank(other.0, other.1)));
            let by_location = by_rank.then_with(|| location(one.1).cmp(location(other.1)));
            by_location.then_with(|| one.2.cmp(&other.2))
        });
        items.dedup();
        let mut batches: Vec<RepairBatch> = Vec::new();
        if !complete.is_empty() {
            batches.push(RepairBatch {
                stage: RepairStage::Edges,
                location: jobs,
                excluded: Vec::new(),
                groups: complete.into(),
                large: large.clone(),
            });
        }
        // Items with the same excluded findings share batches of their own.
        let mut restricted: Vec<RepairBatch> = Vec::new();
        for (stage, at, item) in items {
            let location = &locations[at as usize];
            let mut excluded = overlaps.findings_to_exclude(location, &item);
            excluded.extend(&withheld);
            let list = if excluded.is_empty() {
                &mut batches
            } else {
                &mut restricted
            };
            let fits = |batch: &RepairBatch| {
                batch.stage == stage && batch.location == *location && batch.excluded == excluded
            };
            match list.last_mut().filter(|batch| fits(batch)) {
                Some(batch) => batch.groups.push_back(vec![item]),
                None => list.push(RepairBatch {
                    stage,
                    location: location.clone(),
                    excluded,
                    groups: VecDeque::from([vec![item]]),
                    large: large.clone(),
                }),
            }
        }
        batches.extend(restricted);
        batches.sort_by_key(|batch| {
            (
                batch.stage,
                repair_order::location_rank(batch.stage, &batch.location),
            )
        });
        batches
    }
}

/// The items of a call that may have led to a verdict: a verdict about a job may be about
/// its queue, its failure group or its recurring job.
fn items_behind_verdict<'a>(
    location: &Location,
    call_items: &'a [Name],
    verdict: &Verdict,
) -> Vec<&'a Name> {
    let (item, detail) = (&verdict.item, &verdict.detail);
    let either = verdict.id.row().is_edge;
    let child = location.kind == ItemKind::Job && verdict.id == FindingId::RecurringCount;
    let led = |one: &Name| {
        let (one, item) = (one.as_bytes(), item.as_bytes());
        if child {
            one.starts_with(item)
        } else {
            one == item || either && one == detail.as_bytes()
        }
    };
    // Among keys, the item of the verdict may be a part of the name of the key that led to it.
    let contains = |one: &Name| {
        let one = one.as_bytes();
        location.kind == ItemKind::Key
            && (contains_bytes(one, item.as_bytes()) || contains_bytes(one, detail.as_bytes()))
    };
    let some: Vec<&Name> = call_items.iter().filter(|one| led(one)).collect();
    if !some.is_empty() {
        return some;
    }
    let some: Vec<&Name> = call_items.iter().filter(|one| contains(one)).collect();
    if some.is_empty() {
        call_items.iter().collect()
    } else {
        some
    }
}

fn contains_bytes(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::{KeyChange, RepairStatus};

    fn verdict(id: FindingId, item: &str, detail: &str) -> Verdict {
        Verdict {
            outcome: RepairStatus::Repairable,
            ..Verdict::report_only(id, Name::from(item), Name::from(detail))
        }
    }

    fn names(names: &[&str]) -> Vec<Name> {
        names.iter().map(|name| Name::from(*name)).collect()
    }

    fn describe(queue: RepairQueue) -> Vec<String> {
        let batches = queue.into_batches().into_iter();
        let lines = batches.map(|batch| {
            let groups = batch.groups.iter().map(|group| {
                let group: Vec<&str> = group.iter().filter_map(Name::as_str).collect();
                group.join("+")
            });
            let groups: Vec<String> = groups.collect();
            let (kind, name) = (
                batch.location.kind.into_str(),
                batch.location.name.as_str().unwrap(),
            );
            format!("{:?} {kind} {name}: {}", batch.stage, groups.join(" "))
        });
        lines.collect()
    }

    #[test]
    fn stages_are_in_order_and_each_item_comes_once() {
        let mut queue = RepairQueue::default();
        let items = names(&["a", "b", "c"]);
        for (kind, name, id, item) in [
            (ItemKind::Names, "tags", FindingId::TagCount, "c"),
            (ItemKind::Job, "", FindingId::InNoSet, "b"),
            (ItemKind::Work, "mail", FindingId::GhostWaiting, "b"),
            (ItemKind::Job, "", FindingId::Score, "b"),
            (ItemKind::Work, "mail", FindingId::GhostWaiting, "a"),
            (ItemKind::Job, "", FindingId::TagIndex, "a"),
            (ItemKind::Work, "mail", FindingId::InTwoSets, "a"),
            (ItemKind::Job, "", FindingId::JobStub, "c"),
        ] {
            queue.add_items(&Location::new(kind, name), &items, &verdict(id, item, "x"));
        }
        assert_eq!(
            describe(queue),
            [
                "Keys job : c",
                "Entries work mail: a b",
                "Entries job : a b",
                "Counts names tags: c",
            ]
        );
    }

    #[test]
    fn the_item_that_led_to_a_verdict_is_verified_again() {
        let items = names(&["a", "j:b-dependents", "r-1"]);
        let sources = |kind, id, item, detail| {
            let location = Location::new(kind, "");
            let verdict = verdict(id, item, detail);
            let found = super::items_behind_verdict(&location, &items, &verdict);
            found
                .iter()
                .filter_map(|name| name.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(sources(ItemKind::Job, FindingId::InNoSet, "a", "mail"), "a");
        let one_sided = FindingId::DependencyOneSided;
        assert_eq!(
            sources(ItemKind::Key, one_sided, "y", "b"),
            "j:b-dependents"
        );
        assert_eq!(sources(ItemKind::Job, one_sided, "y", "a"), "a");
        assert_eq!(
            sources(ItemKind::Job, FindingId::RecurringCount, "r", "7"),
            "r-1"
        );
        assert_eq!(
            sources(ItemKind::Job, FindingId::QueueUnlisted, "mail", ""),
            "a j:b-dependents r-1"
        );
    }

    #[test]
    fn a_large_item_takes_a_call_of_its_own() {
        let mut queue = RepairQueue::default();
        let (location, items) = (
            Location::new(ItemKind::Job, ""),
            names(&["a", "b", "c", "d", "e"]),
        );
        queue.note_large(&items[2]);
        for item in ["a", "b", "c", "d", "e"] {
            queue.add_items(
                &location,
                &items,
                &verdict(FindingId::InNoSet, item, "mail"),
            );
        }
        let mut batch = queue.into_batches().remove(0);
        let mut sizes = Vec::new();
        while let Some(groups) = batch.take_groups(10) {
            sizes.push(groups.concat().len());
        }
        assert_eq!(sizes, [2, 1, 2]);
    }

    #[test]
    fn all_dependencies_of_a_job_that_lost_them_go_into_one_call() {
        let mut queue = RepairQueue::default();
        for (job, other) in [
            ("y1", "x1"),
            ("y2", "x3"),
            ("y1", "x2"),
            ("y2", "x2"),
            ("y3", "x4"),
        ] {
            let mut one = verdict(FindingId::DependencyOneSided, job, other);
            one.changes.push(KeyChange {
                key: Name::from(format!("ql:j:{job}-dependencies")),
                item: Some(Name::from(other)),
                before: None,
                after: Some(Name::from("1")),
            });
            queue.add_items(
                &Location::new(ItemKind::Job, ""),
                &names(&["x1", "x2", "x3", "x4"]),
                &one,
            );
        }
        let lines = describe(queue);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("Edges job : "), "{lines:?}");
        assert!(lines[0].contains("x1+x2+x3"), "{lines:?}");
        assert!(
            lines[0].ends_with(" x4") || lines[0].contains(": x4 "),
            "{lines:?}"
        );
    }

    #[test]
    fn a_dependency_of_a_job_with_too_many_is_not_repaired() {
        let mut queue = RepairQueue::default();
        let location = Location::new(ItemKind::Job, "");
        for number in 0..=MAX_ITEMS {
            let other = format!("x{number}");
            let mut one = verdict(FindingId::DependencyOneSided, "y", &other);
            one.changes.push(KeyChange {
                key: Name::from("ql:j:y-dependencies"),
                item: Some(Name::from(&*other)),
                before: None,
                after: Some(Name::from("1")),
            });
            queue.add_items(&location, &names(&[&other]), &one);
        }
        let items = names(&["x7", "z"]);
        queue.add_items(
            &location,
            &items,
            &verdict(FindingId::InNoSet, "x7", "mail"),
        );
        queue.add_items(
            &location,
            &items,
            &verdict(FindingId::DependencyOneSided, "a", "x7"),
        );
        queue.add_items(
            &location,
            &items,
            &verdict(FindingId::DependencyOneSided, "a", "z"),
        );
        assert_eq!(queue.jobs_with_too_many_dependencies(), names(&["y"]));
        assert_eq!(describe(queue), ["Entries job : x7", "Edges job : z"]);
    }

    #[test]
    fn items_beyond_the_capacity_are_left_to_the_next_scan() {
        let mut queue = RepairQueue::default();
        let location = Location::new(ItemKind::Work, "mail");
        for number in 0..=MAX_QUEUED {
            let jid = number.to_string();
            let items = names(&[&jid]);
            queue.add_items(
                &location,
                &items,
                &verdict(FindingId::GhostWaiting, &jid, "mail"),
            );
        }
        assert!(queue.has_overflowed());
        assert_eq!(queue.item_count(), MAX_QUEUED);
    }
}
