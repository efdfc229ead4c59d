//! Verifies everything in a database: each job, each member of each set and each key goes through
//! `check.slice`, in the order of docs/check.md. The scan of the binary must find the same.

use std::collections::{BTreeMap, BTreeSet};

use qless::internals::finding::FINDINGS;

use super::core::{Core, Dump, Key, Reply};

/// One row of a reply of `check.slice`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) id: String,
    pub(crate) item: String,
    pub(crate) outcome: String,
    pub(crate) detail: String,
    pub(crate) changes: Vec<[Option<String>; 4]>,
}

impl Finding {
    /// The finding as one line, without its changes.
    pub(crate) fn describe(&self) -> String {
        format!(
            "{} {} {} [{}]",
            self.id, self.item, self.outcome, self.detail
        )
    }
}

/// Findings as lines.
pub(crate) fn describe_all(found: &[Finding]) -> Vec<String> {
    found.iter().map(Finding::describe).collect()
}

/// Findings that need no action.
pub(crate) const INFO: &[&str] = &[
    "queue-empty",
    "queue-stuck",
    "over-limit",
    "history-orphan",
    "edges-orphan",
    "lost-key",
    "worker-stray",
    "worker-unknown",
    "depends-on-failed",
    "slot-missing",
    "throttle-idle",
    "throttle-unlisted",
    "throttle-gone",
    "tracked-gone",
    "failed-time-ghost",
    "completed-in-queue",
    "field-leftover",
    "remaining",
    "key-unknown",
    "not-judged",
];

/// Findings that are verified after a complete scan, or after lists are correct.
pub(crate) const DEFERRED: &str = "-depends-on-nothing,-tag-count,-failed-counter";

/// The same findings, each with the kinds of items that can have it.
pub(crate) const DEFERRED_KINDS: &[(&str, &[&str])] = &[
    ("depends-on-nothing", &["job"]),
    ("tag-count", &["names"]),
    ("failed-counter", &["key", "job"]),
];

/// Whether items can have the requested findings: any, or the findings of these kinds.
fn may_have(asked: &str, kinds: &[&str], kind: &str, name: &str) -> bool {
    // No list of names but that of the tags has numbers.
    let has_counts = asked != "tag-count" || name == "tags";
    kinds.is_empty() || kinds.contains(&kind) && has_counts
}

/// Keys that hold names.
pub(crate) const NAMES: [&str; 7] = [
    "queues",
    "failures",
    "tags",
    "workers",
    "paused_queues",
    "throttles",
    "config",
];

/// The suffixes of the other keys of a job.
pub(crate) const COMPANIONS: [&str; 4] = ["-history", "-dependencies", "-dependents", "-payloads"];

/// Whether to keep a finding, given the findings before it.
type Keep<'a> = dyn Fn(&Finding, &[Finding]) -> bool + 'a;

fn named(findings: &str, id: &str) -> bool {
    findings.is_empty() || findings.split(',').any(|other| other == id)
}

/// The detail of a finding, without a number of seconds that differs from call to call.
pub(crate) fn stable_detail(id: &str, detail: String) -> String {
    match id {
        "key-expires" => "in SECONDS seconds".to_owned(),
        _ => detail,
    }
}

pub(crate) fn finding(row: &Reply) -> Finding {
    let row = row.list();
    let text = |at: usize| row[at].text().to_owned();
    let word = |reply: &Reply| match reply {
        Reply::Nil => None,
        reply => Some(reply.text().to_owned()),
    };
    let changes = row[4..].iter().map(|change| {
        let change = change.list();
        assert_eq!(change.len(), 4, "{change:?}");
        [
            word(&change[0]),
            word(&change[1]),
            word(&change[2]),
            word(&change[3]),
        ]
    });
    Finding {
        id: text(0),
        item: text(1),
        outcome: text(2),
        detail: stable_detail(&text(0), text(3)),
        changes: changes.collect(),
    }
}

/// One call of `check.slice` per 200 items, and further calls for the items that it leaves out.
pub(crate) fn slice(
    core: &mut Core,
    now: f64,
    mode: &str,
    findings: &str,
    kind: &str,
    name: &str,
    items: &[String],
) -> Vec<Finding> {
    let time = now.to_string();
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let mut rest = items;
    while !rest.is_empty() {
        let part = &rest[..rest.len().min(200)];
        let run = if mode == "mend" { "run1" } else { "" };
        let bytes: Vec<Vec<u8>> = part.iter().map(|item| name_bytes(item)).collect();
        let name = name_bytes(name);
        let mut argv: Vec<&[u8]> = vec![
            b"check.slice",
            time.as_bytes(),
            mode.as_bytes(),
            findings.as_bytes(),
            run.as_bytes(),
            kind.as_bytes(),
            &name,
        ];
        argv.extend(bytes.iter().map(Vec::as_slice));
        match core.call(&argv) {
            Ok(reply) => {
                others.extend(misplaced(reply.list()));
                let (rows, judged) = rows(reply.list(), part.len());
                found.extend(rows.iter().map(finding));
                rest = &rest[judged..];
            }
            Err(error) => panic!("check.slice {mode} {kind} {part:?} says {error}"),
        }
    }
    if !others.is_empty() {
        found.extend(slice(core, now, mode, findings, "group", name, &others));
    }
    found
}

/// The findings of a reply, and the number of items that the call verified.
pub(crate) fn rows(rows: &[Reply], asked: usize) -> (&[Reply], usize) {
    match rows.split_last() {
        Some((last, rows)) if has_count(last) => {
            (rows, last.list()[0].text().parse().expect("a number"))
        }
        _ => (rows, asked),
    }
}

/// Whether a row begins with a number of items, not with the id of a finding.
fn has_count(row: &Reply) -> bool {
    let first = row.list().first();
    first.is_some_and(|word| {
        word.text()
            .starts_with(|letter: char| letter.is_ascii_digit())
    })
}

/// The jobs that a call about entries leaves to be judged one by one.
pub(crate) fn misplaced(rows: &[Reply]) -> Vec<String> {
    match rows.last() {
        Some(last) if has_count(last) => {
            let jids = last.list()[1..].iter();
            jids.map(|jid| jid.text().to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

/// The bytes of a name that `shown` printed.
pub(crate) fn name_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{fffd}') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let digits = &rest[at + 3..at + 5];
        bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
        rest = &rest[at + 5..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// Every candidate in a database: kind, name and items, in repair order.
pub(crate) fn candidates(dump: &Dump) -> Vec<(&'static str, String, Vec<String>)> {
    let sets = [
        "recur",
        "locks",
        "work",
        "scheduled",
        "depends",
        "throttled",
    ];
    let mut all: Vec<(&'static str, String, Vec<String>)> = Vec::new();
    let mut jobs = BTreeSet::new();
    let mut names: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    let mut keys = Vec::new();
    let mut recurring = Vec::new();
    let members = |key: &Key| -> Vec<String> {
        match key {
            Key::Zset(zset) => zset.keys().cloned().collect(),
            Key::Set(set) => set.iter().cloned().collect(),
            Key::List(list) => list
                .iter()
                .cloned()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            Key::Hash(hash) => hash.keys().cloned().collect(),
            Key::Text(_) => Vec::new(),
        }
    };
    let mut later = Vec::new();
    for (full, key) in &dump.0 {
        let Some(rest) = full.strip_prefix("ql:") else {
            continue;
        };
        keys.push(rest.to_owned());
        if let Some(jid) = rest.strip_prefix("j:") {
            let companion = COMPANIONS.iter().any(|end| jid.ends_with(end));
            if !companion || matches!(key, Key::Hash(_)) {
                jobs.insert(jid.to_owned());
            }
        } else if let Some(id) = rest.strip_prefix("r:") {
            recurring.push(id.to_owned());
        } else if rest == "paused_recurring" {
            recurring.extend(members(key));
        } else if let Some((queue, part)) = rest
            .strip_prefix("q:")
            .and_then(|rest| rest.rsplit_once('-'))
        {
            names.entry("queues").or_default().insert(queue.to_owned());
            if let Some(kind) = sets.into_iter().find(|kind| *kind == part) {
                all.push((kind, queue.to_owned(), members(key)));
            } else if part == "completed" {
                later.push(("completed_in", queue.to_owned(), members(key)));
            }
        } else if let Some(lane) = rest.strip_prefix("k:") {
            later.push(("lane", lane.to_owned(), members(key)));
        } else if let Some(throttle) = rest.strip_prefix("th:") {
            for (ending, kind) in [("-locks", "slots"), ("-pending", "pending")] {
                if let Some(id) = throttle.strip_suffix(ending) {
                    later.push((kind, id.to_owned(), members(key)));
                }
            }
        } else if let Some(group) = rest.strip_prefix("f:") {
            names.entry("failures").or_default().insert(group.into());
            later.push(("group", group.to_owned(), members(key)));
        } else if let Some(tag) = rest.strip_prefix("t:") {
            names.entry("tags").or_default().insert(tag.into());
            later.push(("tag", tag.to_owned(), members(key)));
        } else if let Some(worker) = rest
            .strip_prefix("w:")
            .and_then(|rest| rest.strip_suffix(":jobs"))
        {
            names.entry("workers").or_default().insert(worker.into());
            later.push(("worker", worker.to_owned(), members(key)));
        } else if let Some(kind) = ["completed", "tracked"]
            .into_iter()
            .find(|kind| *kind == rest)
        {
            later.push((kind, String::new(), members(key)));
        } else if rest == "failed-jobs-list" {
            later.push(("failed_times", String::new(), members(key)));
        } else if let Some(name) = NAMES.into_iter().find(|name| *name == rest) {
            names.entry(name).or_default().extend(members(key));
        }
    }
    all.sort_by_key(|(kind, _, _)| sets.iter().position(|other| other == kind));
    all.push(("recurring", String::new(), recurring));
    all.push(("job", String::new(), jobs.into_iter().collect()));
    all.extend(later);
    for (name, items) in names {
        all.push(("names", name.to_owned(), items.into_iter().collect()));
    }
    all.push(("key", String::new(), keys));
    all
}

/// Findings that cover others: a verification of a single job does not see a queue or group that is
/// not listed.
const COVERS: [(&str, &[&str]); 3] = [
    ("in-foreign-queue", &["in-no-set", "running-without-lock"]),
    ("failed-stray", &["failed-unlisted"]),
    ("recurring-foreign", &["recurring-unscheduled"]),
];

fn covers(one: &Finding, for_other: &Finding) -> bool {
    let names =
        |(id, others): &(&str, &[&str])| *id == one.id && others.contains(&for_other.id.as_str());
    one.item == for_other.item && COVERS.iter().any(names)
}

/// Whether two findings report the same problem, reached by two paths.
pub(crate) fn same(other: &Finding, finding: &Finding) -> bool {
    if other.item != finding.item {
        return false;
    }
    if covers(other, finding) {
        return true;
    }
    other.id == finding.id
        && (other.detail == finding.detail
            || other.id == "recurring-count"
            || !finding.changes.is_empty() && other.changes == finding.changes)
}

/// Whether a set lists a job as a dependent, or may do so: then the job is not released.
fn is_blocked(dump: &Dump, jid: &str) -> bool {
    let lists = |name: &str| name.starts_with("ql:j:") && name.ends_with("-dependents");
    dump.0.iter().any(|(name, key)| match key {
        Key::Set(set) => lists(name) && set.contains(jid),
        _ => lists(name),
    })
}

/// The requested findings without the deferred ones.
fn without_deferred(findings: &str) -> String {
    match findings {
        "" => DEFERRED.to_owned(),
        findings => format!("{findings},{DEFERRED}"),
    }
}

/// The findings in one state of the keys, by time and requested findings. A repair verifies the same
/// state several times, and a call for each kind and name is expensive.
pub(crate) struct Verified {
    pub(crate) keys: (Dump, BTreeSet<String>),
    found: BTreeMap<String, Vec<Finding>>,
}

/// Verifies everything; each finding is returned once.
pub(crate) fn verify_all(core: &mut Core, now: f64, findings: &str) -> Vec<Finding> {
    let keys = core.dump_and_expiring();
    let known = core.verified.take().filter(|known| known.keys == keys);
    let mut verified = known.unwrap_or_else(|| Verified {
        keys,
        found: BTreeMap::new(),
    });
    let found = verified.found.entry(format!("{now} {findings}"));
    let found = found
        .or_insert_with(|| verify_keys(core, now, findings, &verified.keys.0))
        .clone();
    core.verified = Some(verified);
    found
}

fn verify_keys(core: &mut Core, now: f64, findings: &str, before: &Dump) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut ask = |core: &mut Core, asked: &str, kinds: &[&str], keep: &Keep| {
        for (kind, name, items) in candidates(before) {
            if !may_have(asked, kinds, kind, &name) {
                continue;
            }
            for finding in slice(core, now, "look", asked, kind, &name, &items) {
                let number = |one: &Finding| one.detail.parse::<f64>().unwrap_or(0.0);
                match found.iter().position(|other| same(other, &finding)) {
                    None if keep(&finding, &found) => {
                        found.retain(|other| !covers(&finding, other));
                        found.push(finding);
                    }
                    // The highest number that a template has made.
                    Some(at)
                        if finding.id == "recurring-count"
                            && number(&found[at]) < number(&finding) =>
                    {
                        found[at] = finding;
                    }
                    _ => {}
                }
            }
        }
    };
    ask(core, &without_deferred(findings), &[], &|_, _| true);
    for (id, kinds) in DEFERRED_KINDS {
        if named(findings, id) {
            ask(core, id, kinds, &|finding, found| match *id {
                "tag-count" => !found
                    .iter()
                    .any(|other| other.id == "tag-index" && other.detail == finding.item),
                "failed-counter" => !found.iter().any(|other| {
                    other.id.starts_with("failed-")
                        && other.id != "failed-counter"
                        && !other.id.starts_with("failed-time")
                        || other.id == "group-set"
                        || other.detail.ends_with(", in no list")
                }),
                _ => !is_blocked(before, &finding.item),
            });
        }
    }
    found.extend(cycles(core, now, findings, before));
    assert_eq!(core.dump(), *before, "a look changed something");
    found
}

/// Verifies every cycle in the dump.
fn cycles(core: &mut Core, now: f64, findings: &str, dump: &Dump) -> Vec<Finding> {
    let waits = |jid: &str| match dump.0.get(&format!("ql:j:{jid}-dependencies")) {
        Some(Key::Set(set)) => set.iter().filter(|other| *other != jid).cloned().collect(),
        _ => Vec::<String>::new(),
    };
    let mut found = Vec::new();
    let mut done = BTreeSet::new();
    for name in dump.0.keys() {
        let Some(start) = name
            .strip_prefix("ql:j:")
            .and_then(|name| name.strip_suffix("-dependencies"))
        else {
            continue;
        };
        // The shortest path back to the start.
        let mut from: BTreeMap<String, String> = BTreeMap::new();
        let mut next = vec![start.to_owned()];
        while let Some(at) = next.pop() {
            for up in waits(&at) {
                if up == start {
                    let mut path = vec![at.clone()];
                    while path[0] != start {
                        path.insert(0, from[&path[0]].clone());
                    }
                    if path.iter().all(|jid| !done.contains(jid)) {
                        let cycle = slice(core, now, "look", findings, "cycle", "", &path);
                        if !cycle.is_empty() {
                            done.extend(path.iter().cloned());
                        }
                        found.extend(cycle);
                    }
                } else if !from.contains_key(&up) {
                    from.insert(up.clone(), at.clone());
                    next.push(up);
                }
            }
        }
    }
    found
}

/// Repairs everything, by name or not. Returns the changes, oldest first.
pub(crate) fn repair(core: &mut Core, now: f64, findings: &str) -> Vec<Finding> {
    let mut repaired = Vec::new();
    let mut pass = |core: &mut Core, asked: &str, kinds: &[&str]| {
        let dump = core.dump();
        let stand = if lists_all(&dump) {
            Vec::new()
        } else {
            verify_all(core, now, "")
        };
        for (kind, name, mut items) in candidates(&dump) {
            if may_have(asked, kinds, kind, &name) {
                if asked == "depends-on-nothing" {
                    items.retain(|jid| !is_blocked(&dump, jid));
                }
                let covered = |item: &String| {
                    let of = stand.iter().filter(|one| one.item == *item);
                    of.flat_map(|one| COVERS.iter().filter(|(id, _)| *id == one.id))
                        .flat_map(|(_, others)| others.iter().copied())
                        .collect::<BTreeSet<&str>>()
                };
                let together = items.clone();
                let (some, others): (Vec<_>, Vec<_>) = items
                    .into_iter()
                    .partition(|item| !covered(item).is_empty());
                // One call rebuilds a lost list from all jobs that mention it.
                let edges = "dependency-one-sided";
                let asks_edges = asked == without_deferred(findings) && named(findings, edges);
                if kind == "job" && asks_edges && !some.is_empty() {
                    let asked = id_or_consent(findings, edges);
                    let found = slice(core, now, "mend", &asked, kind, &name, &together);
                    repaired.extend(found.into_iter().filter(|one| one.outcome == "mended"));
                }
                let alone = some.into_iter().map(|item| {
                    let asked = without(asked, &covered(&item));
                    (asked, vec![item])
                });
                for (asked, items) in [(Some(asked.to_owned()), others)].into_iter().chain(alone) {
                    if let Some(asked) = asked {
                        let found = slice(core, now, "mend", &asked, kind, &name, &items);
                        repaired.extend(found.into_iter().filter(|one| one.outcome == "mended"));
                    }
                }
            }
        }
    };
    for (id, kind) in [
        ("key-type", "key"),
        ("key-expires", "key"),
        ("job-stub", "job"),
    ] {
        if named(findings, id) {
            pass(core, id_or_consent(findings, id).as_str(), &[kind]);
        }
    }
    pass(core, &without_deferred(findings), &[]);
    for (id, kinds) in DEFERRED_KINDS {
        // Counters are verified after the lists are correct.
        let waits =
            *id == "failed-counter" && !verify_all(core, now, "").iter().any(|one| one.id == *id);
        if named(findings, id) && !waits {
            pass(core, id, kinds);
        }
    }
    repaired
}

/// Whether every queue and every group is listed.
fn lists_all(dump: &Dump) -> bool {
    let listed = |list: &str, name: &str| match dump.0.get(list) {
        Some(Key::Zset(zset)) => zset.contains_key(name),
        Some(Key::Set(set)) => set.contains(name),
        _ => false,
    };
    dump.0.keys().all(|key| {
        let queue = key
            .strip_prefix("ql:q:")
            .and_then(|key| key.rsplit_once('-'));
        let group = key.strip_prefix("ql:f:");
        queue.is_none_or(|(queue, _)| listed("ql:queues", queue))
            && group.is_none_or(|group| listed("ql:failures", group))
    })
}

/// The requested findings without some, or `None` if none remain.
fn without(asked: &str, out: &BTreeSet<&str>) -> Option<String> {
    let words = asked.split(',').filter(|word| !word.is_empty());
    if words.clone().any(|word| !word.starts_with('-')) {
        let left: Vec<&str> = words.filter(|word| !out.contains(word)).collect();
        let any = left.iter().any(|word| !word.starts_with('-'));
        return any.then(|| left.join(","));
    }
    let more = out.iter().map(|id| format!("-{id}"));
    let left: Vec<String> = words.map(str::to_owned).chain(more).collect();
    Some(left.join(","))
}

/// Naming a finding approves it; to request it without approval, all others are excluded.
fn id_or_consent(findings: &str, id: &str) -> String {
    if findings.is_empty() {
        let others = FINDINGS.iter().filter(|other| other.id.into_str() != id);
        let others: Vec<String> = others.map(|other| format!("-{}", other.id)).collect();
        others.join(",")
    } else {
        id.to_owned()
    }
}

/// The findings that `--only all` names: `lost-key` deletes keys and has to be named itself.
pub(crate) fn all_named() -> String {
    let ids = FINDINGS.iter().map(|finding| finding.id.into_str());
    let ids: Vec<&str> = ids.filter(|id| *id != "lost-key").collect();
    ids.join(",")
}

/// Reverts changes, newest first. Returns how many were reverted and how many were left alone.
pub(crate) fn revert(core: &mut Core, repaired: &[Finding]) -> (usize, usize) {
    let mut argv: Vec<Vec<u8>> = vec![b"check.revert".to_vec(), b"0".to_vec()];
    for change in repaired
        .iter()
        .rev()
        .flat_map(|one| one.changes.iter().rev())
    {
        argv.push(name_bytes(change[0].as_deref().expect("a key")));
        for word in &change[1..] {
            argv.push(match word {
                None => b"-".to_vec(),
                Some(text) => [b"+".to_vec(), name_bytes(text)].concat(),
            });
        }
    }
    if argv.len() == 2 {
        return (0, 0);
    }
    let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
    let reply = core.call(&argv).expect("check.revert");
    let counts = reply.texts();
    (counts[0].parse().unwrap(), counts[1].parse().unwrap())
}
