//! The items that a scan queues for a repair. An item has its location but no changes, because the repair verifies it
//! again. The queue takes a few megabytes at most. Without `--repair`, there is none.

mod overlaps;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use self::overlaps::OverlappingFindings;
use crate::model::finding::{FindingId, RepairStage};
use crate::model::verdict::{ItemKind, ItemLocation, MAX_ITEMS, Verdict};
use crate::name::Name;

/// Maximum number of items in the queue. The next scan finds the rest.
const MAX_QUEUED: usize = 200_000;

/// Maximum total size of the names in the queue. The next scan finds the rest.
const MAX_BYTES: usize = 16 << 20;

/// Candidates for a repair.
#[derive(Debug, Default)]
pub(crate) struct RepairQueue {
    locations: Vec<ItemLocation>,
    location_index: HashMap<ItemLocation, u32>,
    items: Vec<(RepairStage, u32, Name)>,
    /// Items that take the server long.
    large: HashSet<Name>,
    /// Jobs that lost their dependencies, each with a dependency that still lists the job.
    lost_dependencies: Vec<(Name, Name)>,
    pub overlaps: OverlappingFindings,
    pub expected: FindingsExpectedRepaired,
    /// Jobs whose lost dependencies this repair does not restore, because the core has not verified all of them.
    pub excluded: HashSet<Name>,
    bytes: usize,
    /// Whether the scan found more items to repair than the queue can take.
    pub overflowed: bool,
    /// Whether the queue was too full for some lost dependencies.
    lost_dependencies_overflowed: bool,
    /// Whether this repair releases no job, because a job may be running in a queue that is not listed. The call that
    /// releases a job would not see a lock in such a queue.
    pub withholds_releases: bool,
    /// Whether only some queues are scanned.
    is_scoped: bool,
    /// The number of findings that this repair skips because `--queue` selects only some queues.
    pub skipped_by_scope: usize,
}

impl RepairQueue {
    /// Creates the repair queue of a scan. `is_scoped` says that `--queue` selects only some queues.
    pub(crate) fn new(is_scoped: bool) -> RepairQueue {
        RepairQueue {
            is_scoped,
            ..RepairQueue::default()
        }
    }

    /// Notes that an item takes the server long, so that the repair gives it a call of its own.
    pub(crate) fn note_item_for_own_call(&mut self, item: &Name) {
        if self.has_capacity_or_notes_overflow() && self.large.insert(item.clone()) {
            self.bytes += item.as_bytes().len() + 40;
        }
    }

    /// Queues those items of a verifying call that may have led to a verdict, if the queue has capacity.
    pub(crate) fn queue_items_of_verdict(
        &mut self,
        location: &ItemLocation,
        call_items: &[Name],
        verdict: &Verdict,
    ) {
        if self.has_capacity_or_notes_overflow() {
            let FindingsExpectedRepaired { hashes, hasher } = &mut self.expected;
            hashes.insert(hasher.hash_one((verdict.id, &verdict.item)));
        }
        if has_lost_dependencies(verdict) {
            return self.push_lost_dependency_unless_scoped(verdict);
        }
        let stage = verdict.id.row().stage;
        if verdict.id == FindingId::KeyType {
            // Queue a key of a wrong type by its name, whichever location has reported it.
            return self.push_or_skip_item(
                stage,
                &ItemLocation::new(ItemKind::Key, ""),
                &verdict.item,
            );
        }
        let failed;
        let location = match location.kind {
            // Queue the job as any failed job: the repair itself finds out again which jobs are in no failure list.
            ItemKind::Unlisted => {
                failed = ItemLocation::new(ItemKind::Failed, location.name.clone());
                &failed
            }
            _ => location,
        };
        for item in items_behind_verdict(location, call_items, verdict) {
            self.push_or_skip_item(stage, location, item);
        }
    }

    fn push_or_skip_item(&mut self, stage: RepairStage, location: &ItemLocation, item: &Name) {
        if !self.has_capacity_or_notes_overflow() {
            return;
        }
        let at = match self.location_index.get(location) {
            Some(at) => *at,
            None => {
                let at = u32::try_from(self.locations.len()).unwrap_or(u32::MAX);
                self.locations.push(location.clone());
                self.location_index.insert(location.clone(), at);
                self.bytes += 2 * size_of::<ItemLocation>() + location.name.as_bytes().len();
                at
            }
        };
        let entry = (stage, at, item.clone());
        // Do not queue an item twice. Several verdicts may come from one block of a list, so search many of the last
        // items for the block. For other items, compare only with the last one.
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

    fn push_lost_dependency_unless_scoped(&mut self, verdict: &Verdict) {
        // With `--queue`, the scan may have missed other lost dependencies of the job, so the repair skips it.
        if self.is_scoped {
            self.skipped_by_scope += 1;
        } else if !self.has_capacity_or_notes_overflow() {
            self.lost_dependencies_overflowed = true;
        } else {
            self.bytes += verdict.item.as_bytes().len() + verdict.detail.as_bytes().len();
            let (job, dependency) = (verdict.item.clone(), verdict.detail.clone());
            self.lost_dependencies.push((job, dependency));
        }
    }

    /// Whether another item fits into the queue. If not, notes that the queue has overflowed.
    fn has_capacity_or_notes_overflow(&mut self) -> bool {
        let fits =
            self.items.len() + self.lost_dependencies.len() < MAX_QUEUED && self.bytes < MAX_BYTES;
        self.overflowed |= !fits;
        fits
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.lost_dependencies.is_empty()
    }

    /// The number of items.
    pub(crate) fn item_count(&self) -> usize {
        self.items.len() + self.lost_dependencies.len()
    }

    /// The jobs whose lost dependencies this repair does not restore: one call cannot verify that many, or the core
    /// has not verified them all.
    pub(crate) fn jobs_whose_dependencies_stay_lost(&self) -> Vec<Name> {
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

    /// Groups the queued items into batches in the order of the repair: by stage, kind and location. A batch of a
    /// stage and location has each item once.
    pub(crate) fn into_batches(self) -> Vec<StageRepairsAtLocation> {
        let RepairQueue {
            locations,
            mut items,
            lost_dependencies,
            lost_dependencies_overflowed,
            large,
            excluded: excluded_jobs,
            overlaps,
            withholds_releases,
            ..
        } = self;
        let withheld: Vec<FindingId> = FindingId::all()
            .filter(|id| withholds_releases && id.repair_may_release_job())
            .collect();
        let large = Rc::new(large);
        let jobs = ItemLocation::new(ItemKind::Job, "");
        let mut excluded = HashSet::new();
        let groups = group_restorable_dependencies(
            lost_dependencies,
            lost_dependencies_overflowed,
            &excluded_jobs,
            &mut excluded,
        );
        // Leave out dependencies whose group one call cannot restore as a whole.
        items.retain(|(stage, at, item)| {
            *stage != RepairStage::Edges
                || locations[*at as usize] != jobs
                || !lost_dependencies_overflowed && !excluded.contains(item)
        });
        items.sort_by(|(stage, at, item), (other_stage, other_at, other_item)| {
            let (location, other) = (&locations[*at as usize], &locations[*other_at as usize]);
            let rank = location_rank(*stage, location);
            let other_rank = location_rank(*other_stage, other);
            (stage, rank, location, item).cmp(&(other_stage, other_rank, other, other_item))
        });
        items.dedup();
        let mut batches: Vec<StageRepairsAtLocation> = Vec::new();
        if !groups.is_empty() {
            batches.push(StageRepairsAtLocation {
                stage: RepairStage::Edges,
                location: jobs,
                excluded: Vec::new(),
                groups,
                large: large.clone(),
            });
        }
        // Batches of the items for which the repair leaves out some findings.
        let mut restricted: Vec<StageRepairsAtLocation> = Vec::new();
        for (stage, at, item) in items {
            let location = &locations[at as usize];
            let mut excluded = overlaps.findings_left_out_of_repair(location, &item);
            excluded.extend(&withheld);
            let list = if excluded.is_empty() {
                &mut batches
            } else {
                &mut restricted
            };
            let fits = |batch: &StageRepairsAtLocation| {
                batch.stage == stage && batch.location == *location && batch.excluded == excluded
            };
            match list.last_mut().filter(|batch| fits(batch)) {
                Some(batch) => batch.groups.push_back(vec![item]),
                None => list.push(StageRepairsAtLocation {
                    stage,
                    location: location.clone(),
                    excluded,
                    groups: VecDeque::from([vec![item]]),
                    large: large.clone(),
                }),
            }
        }
        batches.extend(restricted);
        batches.sort_by_key(|batch| (batch.stage, location_rank(batch.stage, &batch.location)));
        batches
    }
}

/// Items of one location that are repaired in one stage.
#[derive(Debug)]
pub(crate) struct StageRepairsAtLocation {
    pub stage: RepairStage,
    pub location: ItemLocation,
    /// Findings that the calls for this batch do not repair, because another location or the next round repairs them.
    pub excluded: Vec<FindingId>,
    /// Groups of items that go into one call.
    pub groups: VecDeque<Vec<Name>>,
    /// Items that take the server long: each takes a call of its own.
    pub large: Rc<HashSet<Name>>,
}

impl StageRepairsAtLocation {
    /// Removes the groups for the next call: at least one group, and further groups up to `size` items in total. The call
    /// names the location that comes with them: a special one if a group has several jobs.
    pub(crate) fn take_next_call(&mut self, size: usize) -> Option<(ItemLocation, Vec<Vec<Name>>)> {
        let mut groups = vec![self.groups.pop_front()?];
        let mut items = groups[0].len();
        let is_large = |group: &Vec<Name>| group.iter().any(|item| self.large.contains(item));
        while !is_large(&groups[0])
            && let Some(next) = self.groups.front()
            && items + next.len() <= size
            && !is_large(next)
        {
            items += next.len();
            groups.extend(self.groups.pop_front());
        }
        let together = groups.iter().any(|group| group.len() > 1);
        let location = if self.location.kind == ItemKind::Job && together {
            ItemLocation::for_jobs_verified_together()
        } else {
            self.location.clone()
        };
        Some((location, groups))
    }
}

/// The rank of a location within a stage. A repair begins with the locations of the lowest rank.
fn location_rank(stage: RepairStage, location: &ItemLocation) -> u8 {
    match location.kind {
        // Remove expiries first: a key that a repair sets aside keeps its expiry.
        ItemKind::Key if stage == RepairStage::Keys => 0,
        ItemKind::Locks => 0,
        ItemKind::Work => 1,
        ItemKind::Scheduled => 2,
        ItemKind::Recur => 3,
        ItemKind::Depends | ItemKind::Throttled => 4,
        ItemKind::Recurring => 5,
        ItemKind::Job | ItemKind::Cycle => 6,
        // Lanes come after jobs, so that missing jobs enter their lanes before wrong entries leave.
        ItemKind::Lane => 7,
        ItemKind::Slots => 8,
        ItemKind::Pending => 9,
        // Failed jobs enter their failure list before their wrong entries leave other lists. The name of a block of
        // entries is its position, so no other repair may remove entries of the list before.
        ItemKind::Failed | ItemKind::Unlisted => 10,
        ItemKind::Entries => 11,
        ItemKind::Group => 12,
        ItemKind::Completed | ItemKind::CompletedIn | ItemKind::FailedTimes => 13,
        ItemKind::Tracked => 14,
        ItemKind::Worker => 15,
        ItemKind::Tag => 16,
        ItemKind::Names => match location.name.as_bytes() {
            b"failures" => 17,
            b"tags" => 19,
            _ => 18,
        },
        ItemKind::Key => 20,
    }
}

/// The findings that a repair expects to repair, as hashes of id and item. If the reply to a call is lost, the repeated
/// call no longer finds what the first call has repaired. From this set, the repair then counts these findings as
/// repaired.
#[derive(Debug, Default)]
pub(crate) struct FindingsExpectedRepaired {
    hashes: HashSet<u64>,
    hasher: RandomState,
}

impl FindingsExpectedRepaired {
    /// Removes the expected findings about these items that a stage repairs, and returns each with its item.
    pub(crate) fn take_expected_repairs_about(
        &mut self,
        stage: RepairStage,
        items: &[Name],
    ) -> Vec<(FindingId, Name)> {
        let mut found = Vec::new();
        for item in items {
            for id in FindingId::all().filter(|id| id.row().stage == stage) {
                if self.hashes.remove(&self.hasher.hash_one((id, item))) {
                    found.push((id, item.clone()));
                }
            }
        }
        found
    }
}

/// The items of a call that may have led to a verdict. The verdict may name another thing than the item: for a job, its
/// queue, its failure group or its recurring job. If no item fits the verdict, these are all items of the call.
fn items_behind_verdict<'a>(
    location: &ItemLocation,
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
    // An item that is a key also led to the verdict if its name contains the item or the detail of the verdict, such as
    // a jid.
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

/// Whether a verdict is about a job that lost its set of dependencies. One call must repair all jobs that list this job
/// as a dependent: a later call would take their entries for wrong, because the set exists again.
fn has_lost_dependencies(verdict: &Verdict) -> bool {
    let own = [verdict.item.as_bytes(), b"-dependencies"].concat();
    verdict.id == FindingId::DependencyOneSided
        && verdict
            .changes
            .iter()
            .any(|change| change.after.is_some() && change.key.as_bytes().ends_with(&own))
}

/// Groups the dependencies of pairs of a job and a lost dependency. A group has the dependencies of a job, and of all
/// jobs that share dependencies with it, directly or through others. Moves a group that one call cannot restore to
/// `excluded`: it is too large, or has an excluded job. `is_incomplete` says that pairs are missing, so that any group
/// may lack members.
fn group_restorable_dependencies(
    pairs: Vec<(Name, Name)>,
    is_incomplete: bool,
    excluded_jobs: &HashSet<Name>,
    excluded: &mut HashSet<Name>,
) -> VecDeque<Vec<Name>> {
    // A union-find structure: the parent of each pair. All pairs with the same root are one group.
    let mut parents: Vec<usize> = Vec::new();
    let mut excluded_groups: Vec<usize> = Vec::new();
    let mut of_job: HashMap<Name, usize> = HashMap::new();
    let mut of_dependency: HashMap<Name, usize> = HashMap::new();
    for (job, dependency) in pairs {
        let new = parents.len();
        parents.push(new);
        if excluded_jobs.contains(&job) {
            excluded_groups.push(new);
        }
        let one = *of_job.entry(job).or_insert(new);
        let other = *of_dependency.entry(dependency).or_insert(new);
        let (one, other) = (
            root_of_group(&mut parents, one),
            root_of_group(&mut parents, other),
        );
        let new = root_of_group(&mut parents, new);
        parents[other] = one;
        parents[new] = one;
    }
    let mut members: BTreeMap<usize, Vec<Name>> = BTreeMap::new();
    for (dependency, at) in of_dependency {
        let at = root_of_group(&mut parents, at);
        members.entry(at).or_default().push(dependency);
    }
    let excluded_groups: HashSet<usize> = excluded_groups
        .into_iter()
        .map(|at| root_of_group(&mut parents, at))
        .collect();
    let mut groups = VecDeque::new();
    for (at, mut group) in members {
        group.sort_unstable();
        if is_incomplete || group.len() > MAX_ITEMS || excluded_groups.contains(&at) {
            excluded.extend(group)
        } else {
            groups.push_back(group)
        }
    }
    groups
}

/// The root of the tree that a pair belongs to, in a union-find structure. Shortens the path to the root.
fn root_of_group(parents: &mut [usize], mut group: usize) -> usize {
    while parents[group] != group {
        parents[group] = parents[parents[group]];
        group = parents[group];
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::{FindingRepairState, KeyChange};

    fn verdict(id: FindingId, item: &str, detail: &str) -> Verdict {
        Verdict {
            outcome: FindingRepairState::Repairable,
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
            queue.queue_items_of_verdict(
                &ItemLocation::new(kind, name),
                &items,
                &verdict(id, item, "x"),
            );
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
            let location = ItemLocation::new(kind, "");
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
            ItemLocation::new(ItemKind::Job, ""),
            names(&["a", "b", "c", "d", "e"]),
        );
        queue.note_item_for_own_call(&items[2]);
        for item in ["a", "b", "c", "d", "e"] {
            queue.queue_items_of_verdict(
                &location,
                &items,
                &verdict(FindingId::InNoSet, item, "mail"),
            );
        }
        let mut batch = queue.into_batches().remove(0);
        let mut sizes = Vec::new();
        while let Some((_, groups)) = batch.take_next_call(10) {
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
            queue.queue_items_of_verdict(
                &ItemLocation::new(ItemKind::Job, ""),
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
        let location = ItemLocation::new(ItemKind::Job, "");
        for number in 0..=MAX_ITEMS {
            let other = format!("x{number}");
            let mut one = verdict(FindingId::DependencyOneSided, "y", &other);
            one.changes.push(KeyChange {
                key: Name::from("ql:j:y-dependencies"),
                item: Some(Name::from(&*other)),
                before: None,
                after: Some(Name::from("1")),
            });
            queue.queue_items_of_verdict(&location, &names(&[&other]), &one);
        }
        let items = names(&["x7", "z"]);
        queue.queue_items_of_verdict(
            &location,
            &items,
            &verdict(FindingId::InNoSet, "x7", "mail"),
        );
        queue.queue_items_of_verdict(
            &location,
            &items,
            &verdict(FindingId::DependencyOneSided, "a", "x7"),
        );
        queue.queue_items_of_verdict(
            &location,
            &items,
            &verdict(FindingId::DependencyOneSided, "a", "z"),
        );
        assert_eq!(queue.jobs_whose_dependencies_stay_lost(), names(&["y"]));
        assert_eq!(describe(queue), ["Entries job : x7", "Edges job : z"]);
    }

    #[test]
    fn items_beyond_the_capacity_are_left_to_the_next_scan() {
        let mut queue = RepairQueue::default();
        let location = ItemLocation::new(ItemKind::Work, "mail");
        for number in 0..=MAX_QUEUED {
            let jid = number.to_string();
            let items = names(&[&jid]);
            queue.queue_items_of_verdict(
                &location,
                &items,
                &verdict(FindingId::GhostWaiting, &jid, "mail"),
            );
        }
        assert!(queue.overflowed);
        assert_eq!(queue.item_count(), MAX_QUEUED);
    }
}
