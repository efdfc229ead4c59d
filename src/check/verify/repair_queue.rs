//! What a look keeps for a repair: places and items, never what would be changed there, for that is
//! judged again. As many as fit into a few megabytes.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::overlaps::Overlaps;
use super::stage;
use super::stage::Stage;
use crate::model::verdict::{ItemKind, Location, MOST, Verdict};
use crate::name::Name;

/// The most that is kept, in items and in bytes of their names. What comes after is found by the
/// next look.
const ITEMS: usize = 200_000;
const BYTES: usize = 16 << 20;

/// Candidates that a repair would mend.
#[derive(Debug, Default)]
pub(crate) struct RepairQueue {
    places: Vec<Location>,
    index: HashMap<Location, u32>,
    items: Vec<(Stage, u32, Name)>,
    /// Items that are large.
    heavy: HashSet<Name>,
    /// Jobs that lost what they wait for, and who still knows of it.
    lost_dependencies: Vec<(Name, Name)>,
    /// What was met from several sides.
    sides: Overlaps,
    /// Those of whom others know that were not judged.
    excluded: HashSet<Name>,
    bytes: usize,
    overflowed: bool,
    /// Whether there are more of the lost_dependencies than are kept.
    more_torn: bool,
    /// Whether only some queues are looked at.
    scoped: bool,
    /// How many jobs that lost what they wait for are left as they are for that.
    left: usize,
}

/// What is mended in one place in one stage.
#[derive(Debug)]
pub(crate) struct Batch {
    pub stage: Stage,
    pub place: Location,
    /// Findings that are mended elsewhere, or not in this round.
    pub without: Vec<&'static str>,
    /// Items that go into one call, a group each.
    groups: VecDeque<Vec<Name>>,
    /// Items that each take a call of its own, for they are large.
    heavy: Rc<HashSet<Name>>,
}

impl Batch {
    /// Takes the groups of the next call, of so many items if no group is larger.
    pub(crate) fn next(&mut self, size: usize) -> Option<Vec<Vec<Name>>> {
        let mut groups = vec![self.groups.pop_front()?];
        let mut items = groups[0].len();
        let heavy = |group: &Vec<Name>| group.iter().any(|item| self.heavy.contains(item));
        while !heavy(&groups[0])
            && let Some(next) = self.groups.front()
            && items + next.len() <= size
            && !heavy(next)
        {
            items += next.len();
            groups.extend(self.groups.pop_front());
        }
        Some(groups)
    }
}

impl RepairQueue {
    /// Keeps what a look finds, which may be one at some queues only.
    pub(crate) fn of(scoped: bool) -> RepairQueue {
        RepairQueue {
            scoped,
            ..RepairQueue::default()
        }
    }

    /// Notes that an item is large.
    pub(crate) fn heavy(&mut self, item: &Name) {
        if self.has_room() && self.heavy.insert(item.clone()) {
            self.bytes += item.as_bytes().len() + 40;
        }
    }

    /// Notes a verdict, which may be met from several sides. Returns whether this one changes more
    /// than the one before, and is to be mended instead.
    pub(crate) fn meet(&mut self, place: &Location, verdict: &Verdict) -> bool {
        self.sides.meet(place, verdict)
    }

    /// Keeps what a verdict about one of the `asked` is to be mended by, if there is room.
    pub(crate) fn add(&mut self, place: &Location, asked: &[Name], verdict: &Verdict) {
        if lost_dependencies(verdict) {
            return self.tear(verdict);
        }
        let stage = Stage::of(&verdict.id);
        if verdict.id == "key-type" {
            // Whoever met the key, it is judged by its name.
            return self.keep(stage, &Location::new(ItemKind::Key, ""), &verdict.item);
        }
        for item in askers(place, asked, verdict) {
            self.keep(stage, place, item);
        }
    }

    fn keep(&mut self, stage: Stage, place: &Location, item: &Name) {
        if !self.has_room() {
            return;
        }
        let at = match self.index.get(place) {
            Some(at) => *at,
            None => {
                let at = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
                self.places.push(place.clone());
                self.index.insert(place.clone(), at);
                self.bytes += 2 * size_of::<Location>() + place.name.as_bytes().len();
                at
            }
        };
        let entry = (stage, at, item.clone());
        if self.items.last() != Some(&entry) {
            self.bytes += item.as_bytes().len();
            self.items.push(entry);
        }
    }

    fn tear(&mut self, verdict: &Verdict) {
        // Others that know of it may lie elsewhere.
        if self.scoped {
            self.leave();
        } else if !self.has_room() {
            self.more_torn = true;
        } else {
            self.bytes += verdict.item.as_bytes().len() + verdict.detail.as_bytes().len();
            let (job, other) = (verdict.item.clone(), verdict.detail.clone());
            self.lost_dependencies.push((job, other));
        }
    }

    /// Notes that not all who know of a job were judged: if it lost what it waits for, it is left so.
    pub(crate) fn bar(&mut self, job: &Name) {
        self.excluded.insert(job.clone());
    }

    fn has_room(&mut self) -> bool {
        let room = self.items.len() + self.lost_dependencies.len() < ITEMS && self.bytes < BYTES;
        self.overflowed |= !room;
        room
    }

    /// Notes that something is left as it is because not all queues are looked at.
    pub(crate) fn leave(&mut self) {
        self.left += 1;
    }

    /// Returns how many were not kept because not all queues are looked at.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Whether there was more than could be kept.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.lost_dependencies.is_empty()
    }

    /// Returns how many items there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len() + self.lost_dependencies.len()
    }

    /// Returns the jobs that lost what they wait for, of which more know than one call may judge.
    pub(crate) fn too_wide(&self) -> Vec<Name> {
        let mut known: HashMap<&Name, usize> = HashMap::new();
        for (job, _) in &self.lost_dependencies {
            *known.entry(job).or_default() += 1;
        }
        let mut wide: Vec<Name> = known
            .into_iter()
            .filter(|(job, count)| *count > MOST || self.excluded.contains(job))
            .map(|(job, _)| job.clone())
            .collect();
        wide.sort();
        wide
    }

    /// Returns what is kept in the order in which it is mended: by stage, kind and place; each item
    /// once in a stage.
    pub(crate) fn in_order(self) -> Vec<Batch> {
        let RepairQueue {
            places,
            mut items,
            lost_dependencies,
            more_torn,
            heavy,
            excluded,
            sides,
            ..
        } = self;
        let heavy = Rc::new(heavy);
        let jobs = Location::new(ItemKind::Job, "");
        let (whole, excluded) = together(lost_dependencies, more_torn, &excluded);
        // Who knows of a lost_dependencies job of which not all can be judged at once is left alone.
        items.retain(|(stage, at, item)| {
            *stage != Stage::Edges
                || places[*at as usize] != jobs
                || !more_torn && !excluded.contains(item)
        });
        let rank = |stage: Stage, at: u32| stage::rank(stage, &places[at as usize]);
        items.sort_by(|one, other| {
            let place = |at: u32| &places[at as usize];
            let stages = one.0.cmp(&other.0);
            let ranks = stages.then_with(|| rank(one.0, one.1).cmp(&rank(other.0, other.1)));
            let places = ranks.then_with(|| place(one.1).cmp(place(other.1)));
            places.then_with(|| one.2.cmp(&other.2))
        });
        items.dedup();
        let mut batches: Vec<Batch> = Vec::new();
        if !whole.is_empty() {
            batches.push(Batch {
                stage: Stage::Edges,
                place: jobs,
                without: Vec::new(),
                groups: whole.into(),
                heavy: heavy.clone(),
            });
        }
        // Those of which something is left out are asked by themselves.
        let mut sided: Vec<Batch> = Vec::new();
        for (stage, at, item) in items {
            let place = &places[at as usize];
            let without = sides.left_out(place, &item);
            let list = match without.is_empty() {
                true => &mut batches,
                false => &mut sided,
            };
            let like = |batch: &Batch| {
                batch.stage == stage && batch.place == *place && batch.without == without
            };
            match list.last_mut().filter(|batch| like(batch)) {
                Some(batch) => batch.groups.push_back(vec![item]),
                None => list.push(Batch {
                    stage,
                    place: place.clone(),
                    without,
                    groups: VecDeque::from([vec![item]]),
                    heavy: heavy.clone(),
                }),
            }
        }
        batches.extend(sided);
        batches.sort_by_key(|batch| (batch.stage, stage::rank(batch.stage, &batch.place)));
        batches
    }
}

/// Whether a job has lost the set of those it waits for, which is made again from those that know
/// of it. All of them have to be in one call: it would take the edges of the others for wrong.
fn lost_dependencies(verdict: &Verdict) -> bool {
    let own = [verdict.item.as_bytes(), b"-dependencies"].concat();
    verdict.id == "dependency-one-sided"
        && verdict
            .changes
            .iter()
            .any(|change| change.after.is_some() && change.key.as_bytes().ends_with(&own))
}

/// Returns which of the items that were asked about may have made this verdict: a job may bring to
/// light what is wrong with its queue, its group or its recurring job.
fn askers<'a>(place: &Location, asked: &'a [Name], verdict: &Verdict) -> Vec<&'a Name> {
    let (item, detail) = (&verdict.item, &verdict.detail);
    let both = verdict.id.starts_with("dependency-");
    let child = place.kind == ItemKind::Job && verdict.id == "recurring-count";
    let made = |one: &Name| {
        let (one, item) = (one.as_bytes(), item.as_bytes());
        match child {
            true => one.starts_with(item),
            false => one == item || both && one == detail.as_bytes(),
        }
    };
    // Of keys those that have it in their name.
    let names = |one: &Name| {
        let one = one.as_bytes();
        place.kind == ItemKind::Key
            && (holds(one, item.as_bytes()) || holds(one, detail.as_bytes()))
    };
    let some: Vec<&Name> = asked.iter().filter(|one| made(one)).collect();
    if !some.is_empty() {
        return some;
    }
    let some: Vec<&Name> = asked.iter().filter(|one| names(one)).collect();
    match some.is_empty() {
        true => asked.iter().collect(),
        false => some,
    }
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

/// Returns those who know of a job in one group with those who know of another that one of them
/// knows of, too; and those whose group is too large for one call, or may not be whole, or knows of
/// a job that is excluded.
fn together(
    lost_dependencies: Vec<(Name, Name)>,
    more: bool,
    excluded: &HashSet<Name>,
) -> (Vec<Vec<Name>>, HashSet<Name>) {
    // Of each one who knows, its group; of each group, the one that it was merged into.
    let mut groups: Vec<usize> = Vec::new();
    let mut broken: Vec<usize> = Vec::new();
    let mut of_job: HashMap<Name, usize> = HashMap::new();
    let mut of_other: HashMap<Name, usize> = HashMap::new();
    fn root(groups: &mut [usize], mut at: usize) -> usize {
        while groups[at] != at {
            groups[at] = groups[groups[at]];
            at = groups[at];
        }
        at
    }
    for (job, other) in lost_dependencies {
        let fresh = groups.len();
        groups.push(fresh);
        if excluded.contains(&job) {
            broken.push(fresh);
        }
        let one = *of_job.entry(job).or_insert(fresh);
        let two = *of_other.entry(other).or_insert(fresh);
        let (one, two) = (root(&mut groups, one), root(&mut groups, two));
        let fresh = root(&mut groups, fresh);
        groups[two] = one;
        groups[fresh] = one;
    }
    let mut together: BTreeMap<usize, Vec<Name>> = BTreeMap::new();
    for (other, at) in of_other {
        let at = root(&mut groups, at);
        together.entry(at).or_default().push(other);
    }
    let broken = broken.into_iter().map(|at| root(&mut groups, at));
    let broken: HashSet<usize> = broken.collect();
    let (mut whole, mut excluded) = (Vec::new(), HashSet::new());
    for (at, mut group) in together {
        group.sort();
        match more || group.len() > MOST || broken.contains(&at) {
            true => excluded.extend(group),
            false => whole.push(group),
        }
    }
    (whole, excluded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::{Change, VerdictOutcome};

    fn verdict(id: &str, item: &str, detail: &str) -> Verdict {
        Verdict {
            id: id.to_owned(),
            item: Name::from(item),
            outcome: VerdictOutcome::Found,
            detail: Name::from(detail),
            changes: Vec::new(),
        }
    }

    fn names(names: &[&str]) -> Vec<Name> {
        names.iter().map(|name| Name::from(*name)).collect()
    }

    fn told(kept: RepairQueue) -> Vec<String> {
        let batches = kept.in_order().into_iter();
        let told = batches.map(|batch| {
            let groups = batch.groups.iter().map(|group| {
                let group: Vec<&str> = group.iter().filter_map(Name::as_str).collect();
                group.join("+")
            });
            let groups: Vec<String> = groups.collect();
            let (kind, name) = (batch.place.kind.word(), batch.place.name.as_str().unwrap());
            format!("{:?} {kind} {name}: {}", batch.stage, groups.join(" "))
        });
        told.collect()
    }

    #[test]
    fn what_others_lean_on_comes_first_and_each_item_once() {
        let mut kept = RepairQueue::default();
        let asked = names(&["a", "b", "c"]);
        for (kind, place, id, item) in [
            (ItemKind::Names, "tags", "tag-count", "c"),
            (ItemKind::Job, "", "in-no-set", "b"),
            (ItemKind::Work, "mail", "ghost-waiting", "b"),
            (ItemKind::Job, "", "score", "b"),
            (ItemKind::Work, "mail", "ghost-waiting", "a"),
            (ItemKind::Job, "", "tag-index", "a"),
            (ItemKind::Work, "mail", "in-two-sets", "a"),
            (ItemKind::Job, "", "job-stub", "c"),
        ] {
            kept.add(&Location::new(kind, place), &asked, &verdict(id, item, "x"));
        }
        assert_eq!(
            told(kept),
            [
                "Keys job : c",
                "Entries work mail: a b",
                "Entries job : a b",
                "Counts names tags: c",
            ]
        );
    }

    #[test]
    fn the_item_that_brought_it_to_light_is_asked_again() {
        let asked = names(&["a", "j:b-dependents", "r-1"]);
        let askers = |kind, id, item, detail| {
            let place = Location::new(kind, "");
            let verdict = verdict(id, item, detail);
            let found = askers(&place, &asked, &verdict);
            found
                .iter()
                .filter_map(|name| name.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(askers(ItemKind::Job, "in-no-set", "a", "mail"), "a");
        let one_sided = "dependency-one-sided";
        assert_eq!(askers(ItemKind::Key, one_sided, "y", "b"), "j:b-dependents");
        assert_eq!(askers(ItemKind::Job, one_sided, "y", "a"), "a");
        assert_eq!(askers(ItemKind::Job, "recurring-count", "r", "7"), "r-1");
        assert_eq!(
            askers(ItemKind::Job, "queue-unlisted", "mail", ""),
            "a j:b-dependents r-1"
        );
    }

    #[test]
    fn what_is_large_takes_a_call_of_its_own() {
        let mut kept = RepairQueue::default();
        let (place, asked) = (
            Location::new(ItemKind::Job, ""),
            names(&["a", "b", "c", "d", "e"]),
        );
        kept.heavy(&asked[2]);
        for item in ["a", "b", "c", "d", "e"] {
            kept.add(&place, &asked, &verdict("in-no-set", item, "mail"));
        }
        let mut batch = kept.in_order().remove(0);
        let mut sizes = Vec::new();
        while let Some(groups) = batch.next(10) {
            sizes.push(groups.concat().len());
        }
        assert_eq!(sizes, [2, 1, 2]);
    }

    #[test]
    fn all_that_know_of_a_job_go_into_one_call() {
        let mut kept = RepairQueue::default();
        for (job, other) in [
            ("y1", "x1"),
            ("y2", "x3"),
            ("y1", "x2"),
            ("y2", "x2"),
            ("y3", "x4"),
        ] {
            let mut lost_dependencies = verdict("dependency-one-sided", job, other);
            lost_dependencies.changes.push(Change {
                key: Name::from(format!("ql:j:{job}-dependencies")),
                item: Some(Name::from(other)),
                before: None,
                after: Some(Name::from("1")),
            });
            kept.add(
                &Location::new(ItemKind::Job, ""),
                &names(&["x1", "x2", "x3", "x4"]),
                &lost_dependencies,
            );
        }
        let told = told(kept);
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("Edges job : "), "{told:?}");
        assert!(told[0].contains("x1+x2+x3"), "{told:?}");
        assert!(
            told[0].ends_with(" x4") || told[0].contains(": x4 "),
            "{told:?}"
        );
    }

    #[test]
    fn who_is_one_of_too_many_is_left_alone() {
        let mut kept = RepairQueue::default();
        let place = Location::new(ItemKind::Job, "");
        for number in 0..=MOST {
            let other = format!("x{number}");
            let mut lost_dependencies = verdict("dependency-one-sided", "y", &other);
            lost_dependencies.changes.push(Change {
                key: Name::from("ql:j:y-dependencies"),
                item: Some(Name::from(&*other)),
                before: None,
                after: Some(Name::from("1")),
            });
            kept.add(&place, &names(&[&other]), &lost_dependencies);
        }
        let asked = names(&["x7", "z"]);
        kept.add(&place, &asked, &verdict("in-no-set", "x7", "mail"));
        kept.add(&place, &asked, &verdict("dependency-one-sided", "a", "x7"));
        kept.add(&place, &asked, &verdict("dependency-one-sided", "a", "z"));
        assert_eq!(kept.too_wide(), names(&["y"]));
        assert_eq!(told(kept), ["Entries job : x7", "Edges job : z"]);
    }

    #[test]
    fn what_does_not_fit_is_left_to_the_next_look() {
        let mut kept = RepairQueue::default();
        let place = Location::new(ItemKind::Work, "mail");
        for number in 0..=ITEMS {
            let jid = number.to_string();
            let asked = names(&[&jid]);
            kept.add(&place, &asked, &verdict("ghost-waiting", &jid, "mail"));
        }
        assert!(kept.overflowed());
        assert_eq!(kept.len(), ITEMS);
    }
}
