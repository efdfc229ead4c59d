//! Invariants across keys, verified on a dump alone. Each fault names its invariant.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::core::model::number;
use crate::support::core::{Dump, Key};

pub(crate) static STATES: [&str; 8] = [
    "waiting",
    "running",
    "stalled",
    "scheduled",
    "depends",
    "throttled",
    "failed",
    "complete",
];

/// Earlier calls that excuse an oddity of the reference.
#[derive(Clone, Copy, Default)]
pub(crate) struct Excuses {
    /// A queue was forgotten: its jobs are hidden (D-41).
    pub(crate) forgotten: bool,
    /// A template was deleted: the next one with its name counts from the start (I-19).
    pub(crate) unrecurred: bool,
    /// A job was moved and kept its remaining retries, so it may run with none.
    pub(crate) kept: bool,
    /// Calls of the reference were made, which accept every setting and every dependency.
    pub(crate) reference: bool,
    /// A worker was aged out or deregistered, and returned: no list has its jobs (D-73).
    pub(crate) aged: bool,
    /// Random words were sent: times far away, and values that only the decoder of Lua accepts.
    pub(crate) garbage: bool,
    /// Fields and entries were edited to values that no core writes and every core accepts: a
    /// worker on a job that is not running, a stalled job at its priority, a job with grace in a
    /// worker's list.
    pub(crate) edited: bool,
}

struct Checker<'a> {
    dump: &'a Dump,
    jobs: BTreeMap<String, BTreeMap<String, String>>,
    queues: BTreeSet<String>,
    found: Vec<String>,
}

/// The broken invariants.
pub(crate) fn broken(dump: &Dump, excuses: Excuses) -> Vec<String> {
    let mut judge = Checker {
        dump,
        jobs: BTreeMap::new(),
        queues: BTreeSet::new(),
        found: Vec::new(),
    };
    judge.types();
    judge.fields();
    judge.places(excuses);
    judge.failures();
    judge.dependencies();
    judge.workers(excuses);
    judge.templates(excuses);
    judge.tags();
    judge.statistics();
    judge.found
}

impl Checker<'_> {
    fn say(&mut self, id: &str, text: String) {
        self.found.push(format!("{id}: {text}"));
    }

    /// I-33: the time of a schedule comes, within a few thousand years.
    fn falls_due(&mut self, jid: &str, due: f64) {
        if !(0.0..1e11).contains(&due) {
            self.say("I-33", format!("`{jid}` is never due: {due}"));
        }
    }

    fn zset(&self, queue: &str, part: &str) -> BTreeMap<String, f64> {
        self.dump.zset(&format!("ql:q:{queue}-{part}"))
    }

    /// I-22, I-30: keys have their type and belong to a job.
    fn types(&mut self) {
        for (name, key) in &self.dump.0 {
            // A key set aside by a repair has no owner.
            if name.starts_with("ql:lost:") {
                continue;
            }
            let kind = match key {
                Key::Text(_) => "string",
                Key::Hash(_) => "hash",
                Key::List(_) => "list",
                Key::Set(_) => "set",
                Key::Zset(_) => "zset",
            };
            let rest = name.strip_prefix("ql:").unwrap_or("");
            let companion = |suffix| {
                rest.strip_prefix("j:")
                    .and_then(|jid| jid.strip_suffix(suffix))
                    .map(str::to_owned)
            };
            let owner = companion("-history")
                .map(|jid| (jid, "list"))
                .or_else(|| companion("-dependencies").map(|jid| (jid, "set")))
                .or_else(|| companion("-dependents").map(|jid| (jid, "set")))
                .or_else(|| companion("-payloads").map(|jid| (jid, "zset")));
            let wanted = if let Some((jid, wanted)) = &owner {
                if !self.dump.has(&format!("ql:j:{jid}")) {
                    self.found.push(format!("I-30: `{name}` has no job"));
                }
                wanted
            } else if let Some(jid) = rest.strip_prefix("j:") {
                if let Key::Hash(hash) = key {
                    self.jobs.insert(jid.into(), hash.clone());
                }
                "hash"
            } else if let Some(queue) = rest.strip_prefix("q:") {
                self.queues
                    .insert(queue.rsplit_once('-').expect("a part").0.into());
                "zset"
            } else {
                match rest {
                    "queues" | "workers" | "completed" | "tracked" | "tags" | "throttles"
                    | "failed-jobs-list" => "zset",
                    "subscriptions" => "hash",
                    _ if rest.starts_with("topics") => "hash",
                    "paused_queues" | "failures" => "set",
                    "fence" => "string",
                    _ if rest.starts_with("u:") => "string",
                    _ if rest.starts_with("k:") => "zset",
                    _ if rest.starts_with("th:") => match kind {
                        "hash" => "hash",
                        _ if rest.ends_with("-locks") || rest.ends_with("-pending") => "zset",
                        _ => "hash",
                    },
                    "config" | "pauses" | "paused_recurring" | "qp:identifiers" => "hash",
                    "qp:priorities" => "list",
                    _ if rest.starts_with("r:") || rest.starts_with("s:") => "hash",
                    _ if rest.starts_with("f:") => "list",
                    _ if rest.starts_with("t:") => "zset",
                    _ if rest.starts_with("w:") && rest.ends_with(":jobs") => "zset",
                    _ => "unknown",
                }
            };
            if kind != wanted {
                self.found
                    .push(format!("I-22: `{name}` is a {kind}, not a {wanted}"));
            }
        }
        let named = self.jobs.values().filter_map(|job| job.get("queue"));
        self.queues
            .extend(named.filter(|queue| !queue.is_empty()).cloned());
    }

    /// I-01, I-02, I-29, I-31: a job has all its fields.
    fn fields(&mut self) {
        for (jid, job) in self.jobs.clone() {
            if job.get("jid") != Some(&jid) {
                self.say("I-01", format!("`{jid}` calls itself {:?}", job.get("jid")));
            }
            for name in ["klass", "queue", "worker", "expires"] {
                if !job.contains_key(name) {
                    self.say("I-02", format!("`{jid}` has no {name}"));
                }
            }
            let text = |name: &str| job.get(name).map_or("", String::as_str);
            if !STATES.contains(&text("state")) {
                self.say("I-02", format!("`{jid}` is {:?}", text("state")));
            }
            if serde_json::from_str::<Value>(text("data")).is_err() {
                self.say("I-02", format!("data of `{jid}` is {:?}", text("data")));
            }
            for name in ["priority", "retries", "time"] {
                if number(text(name)).is_none() {
                    self.say("I-02", format!("{name} of `{jid}` is {:?}", text(name)));
                }
            }
            if text("remaining").parse::<i64>().is_err() {
                self.say(
                    "I-02",
                    format!("remaining of `{jid}` is {:?}", text("remaining")),
                );
            }
            if text("tags") != "{}" && serde_json::from_str::<Vec<String>>(text("tags")).is_err() {
                self.say("I-02", format!("tags of `{jid}` are {:?}", text("tags")));
            }
            let entries = self.dump.list(&format!("ql:j:{jid}-history"));
            for entry in &entries {
                let shape = serde_json::from_str::<Vec<Value>>(entry).unwrap_or_default();
                let whole = match shape.as_slice() {
                    [when, what] => when.is_number() && what.is_string(),
                    [when, what, item] => when.is_number() && what.is_string() && item.is_object(),
                    _ => false,
                };
                if !whole {
                    self.say("I-29", format!("`{jid}` remembers {entry:?}"));
                }
            }
            if entries.is_empty() {
                self.say("I-29", format!("`{jid}` remembers nothing"));
            }
            if let Some(old) = job.get("history") {
                let items: Option<Vec<Value>> = serde_json::from_str(old).ok();
                let time = |item: &Value| item["put"].is_number() && item["done"] != Value::Null;
                if !items.is_some_and(|items| items.iter().all(time)) {
                    self.say("I-29", format!("`{jid}` remembers {old:?} in its hash"));
                }
            }
            if text("state") == "depends" && job.contains_key("scheduled") {
                match number(text("scheduled")) {
                    Some(due) => self.falls_due(&jid, due),
                    None => self.say(
                        "I-02",
                        format!("`{jid}` is to be scheduled for {:?}", text("scheduled")),
                    ),
                }
            }
        }
    }

    /// I-03 to I-07, I-12, I-15, I-16, I-31, I-32, I-24: the placement table.
    fn places(&mut self, excuses: Excuses) {
        let mut places: BTreeMap<String, Vec<(String, &str, f64)>> = BTreeMap::new();
        for queue in self.queues.clone() {
            for part in ["work", "locks", "scheduled", "depends", "throttled"] {
                for (jid, score) in self.zset(&queue, part) {
                    if part == "scheduled" {
                        self.falls_due(&jid, score);
                    }
                    if self.jobs.contains_key(&jid) {
                        places
                            .entry(jid)
                            .or_default()
                            .push((queue.clone(), part, score))
                    } else {
                        self.say("I-03", format!("`{jid}` in {part} of {queue}"))
                    }
                }
            }
        }
        let completed = self.dump.zset("ql:completed");
        for jid in completed.keys().filter(|jid| !self.jobs.contains_key(*jid)) {
            self.found
                .push(format!("I-07: `{jid}` is complete and gone"));
        }
        for (jid, since) in self.dump.zset("ql:failed-jobs-list") {
            let Some(job) = self.jobs.get(&jid) else {
                continue;
            };
            let failure: Option<serde_json::Value> = job
                .get("failure")
                .and_then(|text| serde_json::from_str(text).ok());
            let when = failure.and_then(|failure| failure["when"].as_f64());
            let failed = job.get("state").is_some_and(|state| state == "failed");
            if !failed || when.is_some_and(|when| when > since + 1.0) {
                let text = format!("`{jid}` will be deleted as failed since {since}");
                self.found.push(format!("qless-php: {text}"));
            }
        }
        let known = self.dump.zset("ql:queues");
        for (jid, job) in self.jobs.clone() {
            let (state, queue) = (job["state"].as_str(), job["queue"].as_str());
            let part = match state {
                "waiting" | "stalled" => Some("work"),
                "running" => Some("locks"),
                "scheduled" => Some("scheduled"),
                "depends" => Some("depends"),
                "throttled" => Some("throttled"),
                _ => None,
            };
            let mine = places.remove(&jid).unwrap_or_default();
            for (other, found, _) in &mine {
                if other != queue {
                    self.say("I-04", format!("`{jid}` of {queue} in {found} of {other}"));
                }
                if Some(*found) != part {
                    self.say("I-05", format!("`{jid}` is {state} in {found} of {other}"));
                }
            }
            if part.is_some() && mine.is_empty() {
                self.say("I-06", format!("`{jid}` is {state} and in no set"));
            }
            if completed.contains_key(&jid) != (state == "complete") {
                self.say(
                    "I-07",
                    format!("`{jid}` is {state}; completed: {:?}", completed.get(&jid)),
                );
            }
            if (state == "complete") != queue.is_empty() {
                self.say("I-07", format!("`{jid}` is {state} in queue {queue:?}"));
            }
            if !queue.is_empty() && !excuses.forgotten && !known.contains_key(queue) {
                self.say("I-24", format!("`{queue}` of `{jid}` is not known"));
            }
            let (worker, expires) = (job["worker"].as_str(), job["expires"].as_str());
            match state {
                _ if excuses.edited => {}
                "depends" | "complete" if !worker.is_empty() || expires != "0" => {
                    self.say(
                        "8.1",
                        format!("`{jid}` is {state} with {worker:?} until {expires:?}"),
                    );
                }
                "failed" if !worker.is_empty() || !expires.is_empty() => {
                    self.say(
                        "8.1",
                        format!("`{jid}` is {state} with {worker:?} until {expires:?}"),
                    );
                }
                "stalled" if expires != "0" => {
                    self.say("8.1", format!("`{jid}` is stalled until {expires:?}"));
                }
                _ => {}
            }
            let graced = job.contains_key("grace");
            if let ("running", Some((_, "locks", lock))) = (state, mine.first()) {
                match number(expires) {
                    None => self.say("I-12", format!("`{jid}` expires {expires:?}")),
                    Some(expires) if graced && *lock <= expires => {
                        self.say(
                            "I-15",
                            format!("`{jid}` has grace, but {lock} <= {expires}"),
                        );
                    }
                    Some(expires) if !graced && *lock != expires => {
                        self.say(
                            "I-12",
                            format!("`{jid}` locked until {lock}, expires {expires}"),
                        );
                    }
                    Some(_) => {}
                }
            }
            if graced && state != "running" {
                self.say("I-15", format!("`{jid}` is {state} with grace"));
            }
            if job.contains_key("scheduled") && state != "depends" {
                self.say("I-16", format!("`{jid}` is {state} with a time"));
            }
            let priority = number(&job["priority"]).unwrap_or(f64::NAN);
            if let Some((_, "work", score)) = mine.first() {
                let fits = match state {
                    "stalled" if *score == f64::INFINITY => true,
                    "stalled" if !excuses.edited => false,
                    _ => *score > priority - 1.0 && *score <= priority + 1e-9,
                };
                if !fits {
                    self.say(
                        "I-32",
                        format!("`{jid}` is {state} at {score}, priority {priority}"),
                    );
                }
            }
            let remaining: i64 = job["remaining"].parse().unwrap_or(0);
            let retries = number(&job["retries"]).unwrap_or(0.0);
            if remaining as f64 > retries || (remaining < 0 && state != "failed" && !excuses.kept) {
                self.say(
                    "I-31",
                    format!("`{jid}` is {state} with {remaining} of {retries} tries"),
                );
            }
        }
    }

    /// I-08, I-09, I-27: failed jobs, their lists and their counters.
    fn failures(&mut self) {
        let mut listed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let groups = self.dump.set("ql:failures");
        for (name, key) in &self.dump.0 {
            let (Some(group), Key::List(list)) = (name.strip_prefix("ql:f:"), key) else {
                continue;
            };
            if !groups.contains(group) {
                self.found.push(format!("I-09: `{group}` is not known"));
            }
            for jid in list {
                listed.entry(jid.clone()).or_default().push(group.into());
            }
        }
        for group in &groups {
            if !self.dump.has(&format!("ql:f:{group}")) {
                self.found.push(format!("I-09: `{group}` is empty"));
            }
        }
        let mut counted: BTreeMap<String, i64> = BTreeMap::new();
        for (jid, job) in self.jobs.clone() {
            let groups = listed.remove(&jid).unwrap_or_default();
            if job["state"] != "failed" {
                if !groups.is_empty() {
                    self.say("I-08", format!("`{jid}` is {} in {groups:?}", job["state"]));
                }
                continue;
            }
            let failure: Value = job
                .get("failure")
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default();
            let group = failure["group"].as_str().unwrap_or_default();
            if groups != [group] {
                self.say("I-08", format!("`{jid}` failed as {group:?} in {groups:?}"));
            }
            let when = failure["when"].as_f64().unwrap_or(f64::NAN);
            let day = (when - when.rem_euclid(86400.0)) as i64;
            *counted
                .entry(format!("ql:s:stats:{day}:{}", job["queue"]))
                .or_default() += 1;
        }
        for (jid, groups) in listed {
            self.say("I-08", format!("`{jid}` is gone and in {groups:?}"));
        }
        for (name, key) in &self.dump.0 {
            let (true, Key::Hash(hash)) = (name.starts_with("ql:s:stats:"), key) else {
                continue;
            };
            let wanted = counted.remove(name).unwrap_or(0);
            let stored: i64 = hash
                .get("failed")
                .map_or(0, |text| text.parse().unwrap_or(i64::MIN));
            if stored != wanted {
                self.found
                    .push(format!("I-27: {name} counts {stored}, not {wanted}"));
            }
        }
        for (name, wanted) in counted {
            self.say("I-27", format!("{name} does not count {wanted}"));
        }
    }

    /// I-10: both sides of every dependency.
    fn dependencies(&mut self) {
        for (jid, job) in self.jobs.clone() {
            let waits = self.dump.set(&format!("ql:j:{jid}-dependencies"));
            if waits.is_empty() == (job["state"] == "depends") {
                self.say(
                    "I-10",
                    format!("`{jid}` is {} and waits for {waits:?}", job["state"]),
                );
            }
            for other in &waits {
                match self.jobs.get(other).map(|job| job["state"].clone()) {
                    None => self.say(
                        "I-10",
                        format!("`{jid}` waits for `{other}`, which is gone"),
                    ),
                    Some(state) if state == "complete" => {
                        self.say(
                            "I-10",
                            format!("`{jid}` waits for `{other}`, which is complete"),
                        );
                    }
                    Some(_) => {}
                }
                if !self
                    .dump
                    .set(&format!("ql:j:{other}-dependents"))
                    .contains(&jid)
                {
                    self.say(
                        "I-10",
                        format!("`{other}` does not know that `{jid}` waits"),
                    );
                }
            }
            for other in self.dump.set(&format!("ql:j:{jid}-dependents")) {
                if !self
                    .dump
                    .set(&format!("ql:j:{other}-dependencies"))
                    .contains(&jid)
                {
                    self.say("I-10", format!("`{jid}` thinks that `{other}` waits"));
                }
            }
        }
    }

    /// I-13, I-14: the jobs of workers.
    fn workers(&mut self, excuses: Excuses) {
        for (name, key) in &self.dump.0 {
            let worker = name
                .strip_prefix("ql:w:")
                .and_then(|name| name.strip_suffix(":jobs"));
            let (Some(worker), Key::Zset(held)) = (worker, key) else {
                continue;
            };
            // The reference keeps no list for a worker with an empty name (D-79).
            if worker.is_empty() {
                continue;
            }
            for (jid, score) in held {
                let job = self.jobs.get(jid).cloned().unwrap_or_default();
                let of = |field: &str| job.get(field).map_or("", String::as_str);
                if of("worker") != worker || of("state") != "running" {
                    self.found.push(format!(
                        "I-13: {worker} lists `{jid}`, {:?} with {:?}",
                        of("state"),
                        of("worker")
                    ));
                } else if number(of("expires")) != Some(*score)
                    && !(excuses.edited && job.contains_key("grace"))
                {
                    self.found
                        .push(format!("I-14: {worker} lists `{jid}` until {score}"));
                }
                if job.contains_key("grace") && !excuses.edited {
                    self.found
                        .push(format!("I-13: {worker} lists `{jid}`, which has grace"));
                }
            }
        }
    }

    /// I-17, I-18, I-19: templates.
    fn templates(&mut self, excuses: Excuses) {
        let mut entries: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
        for queue in self.queues.clone() {
            for (id, score) in self.zset(&queue, "recur") {
                entries.entry(id).or_default().push((queue.clone(), score));
            }
        }
        for (name, key) in &self.dump.0.clone() {
            let (Some(id), Key::Hash(hash)) = (name.strip_prefix("ql:r:"), key) else {
                continue;
            };
            let text = |name: &str| hash.get(name).map_or("", String::as_str);
            match entries.remove(id).unwrap_or_default().as_slice() {
                [(queue, next)] if queue == text("queue") && *next >= 0.0 => {}
                other => self.say(
                    "I-17",
                    format!("`{id}` of {} is in {other:?}", text("queue")),
                ),
            }
            if !is_usable_template(hash) {
                self.say("I-18", format!("`{id}` is {hash:?}"));
            }
            let count = number(text("count")).unwrap_or(0.0);
            let children = self
                .jobs
                .iter()
                .filter(|(_, job)| job.get("spawned_from_jid").is_some_and(|from| from == id));
            let highest = children
                .filter_map(|(jid, _)| jid.strip_prefix(id)?.strip_prefix('-')?.parse::<f64>().ok())
                .fold(0.0, f64::max);
            if highest > count && !excuses.unrecurred {
                self.say(
                    "I-19",
                    format!("`{id}` counts {count}, but has made {highest}"),
                );
            }
        }
        for (id, places) in entries {
            self.say("I-17", format!("`{id}` is gone and in {places:?}"));
        }
        if let Some(Key::Hash(paused)) = self.dump.0.get("ql:paused_recurring") {
            for (id, document) in &paused.clone() {
                if !is_usable_pause(id, document) {
                    self.say("I-18", format!("`{id}` is paused: {document}"));
                }
            }
        }
    }

    /// I-20, I-21: tags, their index and their counters.
    fn tags(&mut self) {
        let mut wanted: BTreeSet<(String, String)> = BTreeSet::new();
        for (jid, job) in &self.jobs {
            for tag in crate::core::model::names(&job["tags"]) {
                wanted.insert((tag, jid.clone()));
            }
        }
        let mut counted: BTreeMap<String, f64> = BTreeMap::new();
        for (name, key) in &self.dump.0 {
            let (Some(tag), Key::Zset(zset)) = (name.strip_prefix("ql:t:"), key) else {
                continue;
            };
            counted.insert(tag.into(), zset.len() as f64);
            for jid in zset.keys() {
                if !wanted.remove(&(tag.to_owned(), jid.clone())) {
                    self.found.push(format!("I-20: `{tag}` lists `{jid}`"));
                }
            }
        }
        for (tag, jid) in wanted {
            self.say("I-20", format!("`{tag}` does not list `{jid}`"));
        }
        let stored = self.dump.zset("ql:tags");
        if stored != counted {
            self.say(
                "I-21",
                format!("tags are counted {stored:?}, but are {counted:?}"),
            );
        }
    }

    /// I-28: streaming values and their histograms.
    fn statistics(&mut self) {
        for (name, key) in &self.dump.0.clone() {
            let Key::Hash(hash) = key else { continue };
            if !name.starts_with("ql:s:wait:") && !name.starts_with("ql:s:run:") {
                continue;
            }
            let of = |field: &str| number(&hash[field]).unwrap_or(f64::NAN);
            let slots = hash
                .iter()
                .filter(|(field, _)| field.starts_with(['s', 'm', 'h', 'd']) && *field != "mean");
            let sum: f64 = slots.map(|(field, _)| of(field)).sum();
            let sane = of("total") == sum && of("vk") >= -1e-6 && of("mean").is_finite();
            if !sane {
                self.say("I-28", format!("{name} is {hash:?}"));
            }
        }
    }
}

/// Whether a template with these fields can make jobs.
fn is_usable_template(hash: &BTreeMap<String, String>) -> bool {
    let text = |name: &str| hash.get(name).map_or("", String::as_str);
    let least = |name: &str, least: f64| number(text(name)).is_some_and(|at| at >= least);
    number(text("interval")).is_some_and(|interval| interval > 0.0)
        && least("count", 0.0)
        && least("priority", f64::MIN)
        && least("retries", f64::MIN)
        && least("backlog", f64::MIN)
        && serde_json::from_str::<Value>(text("data")).is_ok()
        && (text("tags") == "{}"
            || serde_json::from_str::<Vec<Value>>(text("tags"))
                .is_ok_and(|tags| tags.iter().all(|tag| tag.is_string() || tag.is_number())))
        && hash.contains_key("klass")
}

/// Whether a resume makes a usable template of this document.
fn is_usable_pause(id: &str, document: &str) -> bool {
    let document: Value = serde_json::from_str(document).unwrap_or_default();
    let fields: Vec<String> =
        serde_json::from_value(document["fields"].clone()).unwrap_or_default();
    let fields: BTreeMap<String, String> = fields
        .chunks(2)
        .filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone())))
        .collect();
    let next = document["next"].as_str().and_then(number);
    fields.get("jid").is_some_and(|jid| jid == id)
        && fields.contains_key("queue")
        && is_usable_template(&fields)
        && next.is_some_and(|next| next >= 0.0)
}
