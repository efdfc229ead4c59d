//! The invariants of lanes and throttles, and where a healthy job stands, verified on a dump alone, from
//! the specification and not from the code. Each sentence begins with its number.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::check::invariants::STATES;
use crate::support::core::{Dump, Key};

/// Earlier calls that allow what the invariants forbid otherwise.
#[derive(Default)]
pub(crate) struct Excuses {
    /// Holders of each throttle before the last call. More holders than the maximum are allowed if
    /// the maximum was lowered, but no call adds one.
    pub(crate) holders: BTreeMap<String, usize>,
    /// A slot that `throttle.release` freed while the job runs: (throttle, jid).
    pub(crate) released: BTreeSet<(String, String)>,
    /// Merge jobs whose data a heartbeat or a failure replaced (6.9).
    pub(crate) replaced: BTreeSet<String>,
    /// Lanes in which other calls than merging puts were used, or all lanes if `None` (10).
    pub(crate) mixed_lanes: Option<BTreeSet<String>>,
    /// A script without knowledge of extensions serves the same database: only the exclusion of
    /// lanes and the placement of jobs are verified.
    pub(crate) foreign: bool,
}

/// A stored job, as far as the invariants concern it.
struct Job {
    state: String,
    queue: String,
    lane: Option<String>,
    throttles: Vec<String>,
    hold: bool,
    merge: bool,
    data: String,
    failure: Value,
}

impl Job {
    /// Whether it has its place in a lane.
    fn live(&self) -> bool {
        match self.state.as_str() {
            "complete" => false,
            "failed" => self.hold,
            _ => true,
        }
    }
}

struct Checker<'a> {
    dump: &'a Dump,
    excuses: &'a Excuses,
    jobs: BTreeMap<String, Job>,
    /// Throttles with slots, pending jobs or a maximum.
    throttles: BTreeSet<String>,
    lanes: BTreeSet<String>,
    found: Vec<String>,
}

/// The sets of a queue in which jobs are.
const PARTS: [&str; 5] = ["work", "locks", "scheduled", "depends", "throttled"];

/// The broken invariants, one sentence each.
pub(crate) fn violations(dump: &Dump, excuses: &Excuses) -> Vec<String> {
    let mut checker = Checker {
        dump,
        excuses,
        jobs: BTreeMap::new(),
        throttles: BTreeSet::new(),
        lanes: BTreeSet::new(),
        found: Vec::new(),
    };
    checker.read();
    checker.placement();
    checker.entries();
    checker.companions();
    checker.edges();
    checker.exclusion();
    if !excuses.foreign {
        checker.lanes();
        checker.throttles();
        checker.payloads();
        checker.merge_jobs();
    }
    checker.found
}

/// The number of holders of each throttle.
pub(crate) fn holders(dump: &Dump) -> BTreeMap<String, usize> {
    let slots = dump.0.iter().filter_map(|(name, key)| match key {
        Key::Zset(slots) => Some((throttle_of(name, "-locks")?, slots.len())),
        _ => None,
    });
    slots.collect()
}

/// What remains although no job is left: slots, pending and held jobs, lanes and payloads.
pub(crate) fn leftovers(dump: &Dump) -> Vec<String> {
    let names = dump.0.keys().filter(|name| {
        throttle_of(name, "-locks").is_some()
            || throttle_of(name, "-pending").is_some()
            || name.starts_with("ql:q:") && name.ends_with("-throttled")
            || name.starts_with("ql:k:")
            || name.starts_with("ql:j:") && name.ends_with("-payloads")
    });
    names
        .map(|name| format!("`{name}` is left: {:?}", dump.0[name]))
        .collect()
}

/// The maximum of a throttle; `None` if it is unlimited (7.1).
pub(crate) fn maximum(dump: &Dump, id: &str) -> Option<usize> {
    let stored = match dump.0.get(&format!("ql:th:{id}")) {
        Some(Key::Hash(hash)) => hash.get("maximum").and_then(|text| text.parse().ok()),
        _ => None,
    };
    let default = if id.starts_with("lock:") { 1.0 } else { 0.0 };
    let maximum: f64 = stored.unwrap_or(default);
    if maximum == 0.0 {
        return None;
    }
    Some(maximum.max(0.0) as usize)
}

/// The live jobs of a lane in order.
pub(crate) fn lane(dump: &Dump, lane: &str) -> Vec<String> {
    let mut places: Vec<(String, f64)> = dump.zset(&format!("ql:k:{lane}")).into_iter().collect();
    places.sort_by(|a, b| a.1.total_cmp(&b.1));
    places.into_iter().map(|(jid, _)| jid).collect()
}

/// The ids in the field `throttles` of a job.
pub(crate) fn throttles_of(hash: &BTreeMap<String, String>) -> Vec<String> {
    let text = hash.get("throttles").map_or("[]", String::as_str);
    serde_json::from_str(text).unwrap_or_default()
}

fn throttle_of(name: &str, part: &str) -> Option<String> {
    let id = name.strip_prefix("ql:th:")?.strip_suffix(part)?;
    Some(id.to_owned())
}

impl Checker<'_> {
    fn say(&mut self, id: &str, text: String) {
        self.found.push(format!("{id}: {text}"));
    }

    fn read(&mut self) {
        for (name, key) in &self.dump.0 {
            if let Some(jid) = name.strip_prefix("ql:j:") {
                let Key::Hash(hash) = key else { continue };
                let text = |field: &str| hash.get(field).cloned().unwrap_or_default();
                let failure = hash.get("failure").map_or("{}", String::as_str);
                let job = Job {
                    state: text("state"),
                    queue: text("queue"),
                    lane: hash.get("key").filter(|lane| !lane.is_empty()).cloned(),
                    throttles: throttles_of(hash),
                    hold: text("hold") == "1",
                    merge: text("dup") == "merge",
                    data: text("data"),
                    failure: serde_json::from_str(failure).unwrap_or_default(),
                };
                if text("jid") != jid {
                    self.found
                        .push(format!("placement: `{name}` is not the job `{jid}`"));
                }
                let remaining = text("remaining").parse::<i64>();
                if remaining.is_err() {
                    self.found.push(format!(
                        "placement: `{jid}` has no number of remaining retries"
                    ));
                }
                self.jobs.insert(jid.to_owned(), job);
            } else if let Some(rest) = name.strip_prefix("ql:th:") {
                let id = match key {
                    Key::Zset(_) => throttle_of(name, "-locks")
                        .or_else(|| throttle_of(name, "-pending"))
                        .unwrap_or_default(),
                    _ => rest.to_owned(),
                };
                self.throttles.insert(id);
            } else if let Some(lane) = name.strip_prefix("ql:k:") {
                self.lanes.insert(lane.to_owned());
            }
        }
        for job in self.jobs.values() {
            self.throttles.extend(job.throttles.iter().cloned());
            self.lanes.extend(job.lane.clone());
        }
    }

    fn queue_has(&self, queue: &str, part: &str, jid: &str) -> bool {
        match self.dump.0.get(&format!("ql:q:{queue}-{part}")) {
            Some(Key::Zset(set)) => set.contains_key(jid),
            _ => false,
        }
    }

    /// 4 and 8.1: each job is in exactly the set of its state.
    fn placement(&mut self) {
        let mut wrong = Vec::new();
        for (jid, job) in &self.jobs {
            if !STATES.contains(&job.state.as_str()) {
                wrong.push(format!("`{jid}` has the state `{}`", job.state));
                continue;
            }
            let wanted: &[&str] = match job.state.as_str() {
                "waiting" => &["work", "scheduled"],
                "stalled" => &["work"],
                "running" => &["locks"],
                "scheduled" => &["scheduled"],
                "depends" => &["depends"],
                "throttled" => &["throttled"],
                _ => &[],
            };
            let places: Vec<&str> = PARTS
                .into_iter()
                .filter(|part| self.queue_has(&job.queue, part, jid))
                .collect();
            let right = match (wanted, places.as_slice()) {
                ([], []) => true,
                (_, [place]) => wanted.contains(place),
                _ => false,
            };
            if !right {
                wrong.push(format!(
                    "`{jid}` is {} in queue `{}`, and in the sets {places:?}",
                    job.state, job.queue
                ));
            }
            let failures = self.failure_lists(jid);
            let group = job.failure["group"].as_str().unwrap_or_default();
            let expected: &[&str] = if job.state == "failed" { &[group] } else { &[] };
            if failures != expected {
                wrong.push(format!(
                    "`{jid}` is {}, and in the failure lists {failures:?}, not {expected:?}",
                    job.state
                ));
            }
            let completed = self.dump.score("ql:completed", jid).is_some();
            if completed != (job.state == "complete") {
                wrong.push(format!(
                    "`{jid}` is {}, and in the completed jobs: {completed}",
                    job.state
                ));
            }
            if job.state == "complete" && !job.queue.is_empty() {
                wrong.push(format!("`{jid}` is complete in queue `{}`", job.queue));
            }
        }
        wrong.into_iter().for_each(|text| self.say("4", text));
    }

    fn failure_lists(&self, jid: &str) -> Vec<&str> {
        let mut lists = Vec::new();
        for (name, key) in &self.dump.0 {
            let (Some(group), Key::List(list)) = (name.strip_prefix("ql:f:"), key) else {
                continue;
            };
            lists.extend(list.iter().filter(|entry| *entry == jid).map(|_| group));
        }
        lists
    }

    /// 4: each entry of a set is a job that is in this state and queue.
    fn entries(&mut self) {
        let mut wrong = Vec::new();
        for (name, key) in &self.dump.0 {
            if let (Some(rest), Key::Zset(set)) = (name.strip_prefix("ql:q:"), key) {
                let Some((queue, part)) = rest.rsplit_once('-') else {
                    wrong.push(format!("`{name}` is not a set of a queue"));
                    continue;
                };
                let states: &[&str] = match part {
                    "work" => &["waiting", "stalled"],
                    "locks" => &["running"],
                    "scheduled" => &["scheduled", "waiting"],
                    "depends" => &["depends"],
                    "throttled" => &["throttled"],
                    _ => continue,
                };
                for jid in set.keys() {
                    let fits = self.jobs.get(jid).is_some_and(|job| {
                        job.queue == queue && states.contains(&job.state.as_str())
                    });
                    if !fits {
                        wrong.push(format!("`{name}` has `{jid}`, which does not belong there"));
                    }
                }
            } else if let (Some(group), Key::List(list)) = (name.strip_prefix("ql:f:"), key) {
                if !self.dump.set("ql:failures").contains(group) {
                    wrong.push(format!("`ql:failures` lacks `{group}`"));
                }
                for jid in list {
                    if self.jobs.get(jid).is_none_or(|job| job.state != "failed") {
                        wrong.push(format!("`{name}` has `{jid}`, which has not failed"));
                    }
                }
            }
        }
        for jid in self.dump.zset("ql:completed").keys() {
            if self.jobs.get(jid).is_none_or(|job| job.state != "complete") {
                wrong.push(format!("`ql:completed` has `{jid}`, which is not complete"));
            }
        }
        wrong.into_iter().for_each(|text| self.say("4", text));
    }

    /// No key of a job outlives it.
    fn companions(&mut self) {
        let mut wrong = Vec::new();
        for (name, key) in &self.dump.0 {
            let Some(rest) = name.strip_prefix("ql:j:") else {
                continue;
            };
            if matches!(key, Key::Hash(_)) {
                continue;
            }
            let owner = ["-history", "-dependencies", "-dependents", "-payloads"]
                .iter()
                .find_map(|part| rest.strip_suffix(part));
            let foreign = self.excuses.foreign && !rest.ends_with("-history");
            if owner.is_none_or(|jid| !self.jobs.contains_key(jid)) && !foreign {
                wrong.push(format!("`{name}` has no job"));
            }
        }
        wrong
            .into_iter()
            .for_each(|text| self.say("placement", text));
    }

    fn dependencies(&self, jid: &str) -> BTreeSet<String> {
        self.dump.set(&format!("ql:j:{jid}-dependencies"))
    }

    /// 5: edges are symmetric, and `depends` implies a live dependency.
    fn edges(&mut self) {
        let mut wrong = Vec::new();
        for (jid, job) in &self.jobs {
            let dependencies = self.dependencies(jid);
            for other in &dependencies {
                let open = self
                    .jobs
                    .get(other)
                    .is_some_and(|job| job.state != "complete");
                if !open {
                    wrong.push(format!("`{jid}` depends on `{other}`, which has ended"));
                } else if !self
                    .dump
                    .set(&format!("ql:j:{other}-dependents"))
                    .contains(jid)
                {
                    wrong.push(format!(
                        "`{jid}` depends on `{other}`, which does not know it"
                    ));
                }
            }
            if job.state == "depends" && dependencies.is_empty() {
                wrong.push(format!("`{jid}` is in depends without a dependency"));
            }
            let blocked = ["depends", "failed"].contains(&job.state.as_str());
            if !blocked && !dependencies.is_empty() {
                wrong.push(format!(
                    "`{jid}` is {} and depends on {dependencies:?}",
                    job.state
                ));
            }
            for other in self.dump.set(&format!("ql:j:{jid}-dependents")) {
                if !self.dependencies(&other).contains(jid) {
                    wrong.push(format!(
                        "`{other}` is a dependent of `{jid}` and does not depend on it"
                    ));
                }
            }
        }
        wrong.into_iter().for_each(|text| self.say("5", text));
    }

    /// 13: of the jobs of one lane at most one runs.
    fn exclusion(&mut self) {
        for lane in self.lanes.clone() {
            let running: Vec<&String> = self
                .jobs
                .iter()
                .filter(|(_, job)| job.lane.as_ref() == Some(&lane) && job.state == "running")
                .map(|(jid, _)| jid)
                .collect();
            if running.len() > 1 {
                let text = format!("in lane `{lane}` run {running:?}");
                self.say("13", text);
            }
        }
    }

    /// 1, 2 and 3.
    fn lanes(&mut self) {
        let mut wrong: Vec<(&str, String)> = Vec::new();
        for lane in &self.lanes {
            let places = self.dump.zset(&format!("ql:k:{lane}"));
            let distinct: BTreeSet<u64> = places.values().map(|place| place.to_bits()).collect();
            if distinct.len() < places.len() {
                wrong.push(("1", format!("lane `{lane}` has a place twice: {places:?}")));
            }
            let order = self::lane(self.dump, lane);
            for jid in &order {
                let fits = self
                    .jobs
                    .get(jid)
                    .is_some_and(|job| job.live() && job.lane.as_ref() == Some(lane));
                if !fits {
                    wrong.push((
                        "3",
                        format!("lane `{lane}` has `{jid}`, which is no live job of it"),
                    ));
                }
            }
            for (jid, job) in &self.jobs {
                if job.live() && job.lane.as_ref() == Some(lane) && !order.contains(jid) {
                    wrong.push((
                        "3",
                        format!("`{jid}` ({}) is not in its lane `{lane}`", job.state),
                    ));
                }
            }
            for pair in order.windows(2) {
                let Some(job) = self.jobs.get(&pair[1]) else {
                    continue;
                };
                if job.state == "failed" {
                    continue;
                }
                if job.state != "depends" {
                    wrong.push((
                        "1",
                        format!(
                            "`{}` is {} behind `{}` in lane `{lane}`",
                            pair[1], job.state, pair[0]
                        ),
                    ));
                }
                if !self.dependencies(&pair[1]).contains(&pair[0]) {
                    wrong.push((
                        "2",
                        format!(
                            "`{}` is behind `{}` in lane `{lane}` and does not depend on it",
                            pair[1], pair[0]
                        ),
                    ));
                }
            }
        }
        wrong.into_iter().for_each(|(id, text)| self.say(id, text));
    }

    /// 6 and 7.
    fn throttles(&mut self) {
        let mut wrong: Vec<(&str, String)> = Vec::new();
        for id in &self.throttles {
            let slots = self.dump.zset(&format!("ql:th:{id}-locks"));
            for jid in slots.keys() {
                let fits = self
                    .jobs
                    .get(jid)
                    .is_some_and(|job| job.state == "running" && job.throttles.contains(id));
                if !fits {
                    wrong.push((
                        "6",
                        format!("`{jid}` holds `{id}` and does not run with it"),
                    ));
                }
            }
            if let Some(maximum) = maximum(self.dump, id)
                && slots.len() > maximum
                && slots.len() > self.excuses.holders.get(id).copied().unwrap_or(0)
            {
                wrong.push((
                    "6",
                    format!("`{id}` allows {maximum} and is held by {slots:?}"),
                ));
            }
            for (jid, job) in &self.jobs {
                let released = self.excuses.released.contains(&(id.clone(), jid.clone()));
                if job.state == "running"
                    && job.throttles.contains(id)
                    && !slots.contains_key(jid)
                    && !released
                {
                    wrong.push((
                        "6",
                        format!("`{jid}` runs with `{id}` and does not hold it"),
                    ));
                }
            }
            for (jid, order) in self.dump.zset(&format!("ql:th:{id}-pending")) {
                let Some(job) = self.jobs.get(&jid) else {
                    wrong.push((
                        "7",
                        format!("`{jid}` is pending for `{id}` and does not exist"),
                    ));
                    continue;
                };
                if job.state != "throttled" || !job.throttles.contains(id) {
                    wrong.push((
                        "7",
                        format!(
                            "`{jid}` ({}) is pending for `{id}`, which does not hold it",
                            job.state
                        ),
                    ));
                }
                let held = self
                    .dump
                    .score(&format!("ql:q:{}-throttled", job.queue), &jid);
                if held.is_some_and(|held| held != order) {
                    wrong.push((
                        "7",
                        format!("`{jid}` is held as {held:?} and pending for `{id}` as {order}"),
                    ));
                }
            }
        }
        for (jid, job) in &self.jobs {
            let pending = self
                .throttles
                .iter()
                .filter(|id| {
                    self.dump
                        .score(&format!("ql:th:{id}-pending"), jid)
                        .is_some()
                })
                .count();
            if pending != usize::from(job.state == "throttled") {
                wrong.push((
                    "7",
                    format!(
                        "`{jid}` is {} and pending in {pending} throttles",
                        job.state
                    ),
                ));
            }
        }
        wrong.into_iter().for_each(|(id, text)| self.say(id, text));
    }

    /// 9: payload sets and the data made from them.
    fn payloads(&mut self) {
        let mut wrong = Vec::new();
        for (jid, job) in &self.jobs {
            let key = format!("ql:j:{jid}-payloads");
            let merge = job.merge && job.state != "complete";
            if merge != self.dump.has(&key) {
                wrong.push(format!(
                    "`{jid}` is {}, a merge job: {merge}, with payloads: {}",
                    job.state,
                    self.dump.has(&key)
                ));
                continue;
            }
            if !merge || job.state == "running" || self.excuses.replaced.contains(jid) {
                continue;
            }
            let mut payloads: Vec<(String, f64)> = self.dump.zset(&key).into_iter().collect();
            payloads.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            let payloads: Vec<String> = payloads.into_iter().map(|(payload, _)| payload).collect();
            let wanted = format!("[{}]", payloads.join(","));
            if job.data != wanted {
                wrong.push(format!("`{jid}` has the data {}, not {wanted}", job.data));
            }
        }
        wrong.into_iter().for_each(|text| self.say("9", text));
    }

    /// 10: where only merging puts are used, one merge job runs and one waits.
    fn merge_jobs(&mut self) {
        let Some(mixed) = &self.excuses.mixed_lanes else {
            return;
        };
        let mut wrong = Vec::new();
        for lane in self.lanes.difference(mixed) {
            let jobs = self
                .jobs
                .values()
                .filter(|job| job.merge && job.lane.as_ref() == Some(lane));
            let (mut running, mut open) = (0, 0);
            for job in jobs {
                match job.state.as_str() {
                    "running" => running += 1,
                    // A timed-out job is merged with the job behind it by the next pop.
                    "waiting" | "scheduled" | "depends" | "throttled" => open += 1,
                    _ => {}
                }
            }
            if running > 1 || open > 1 {
                wrong.push(format!(
                    "in lane `{lane}` {running} merge jobs run, {open} wait"
                ));
            }
        }
        wrong.into_iter().for_each(|text| self.say("10", text));
    }
}
