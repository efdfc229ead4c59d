//! A second core in plain Rust, over the same key layout: what each change answers, publishes and
//! leaves behind if everything goes as specified, including the fixed defects. It is slow, obvious,
//! and shares no code with `lua/`. Of a read it knows only what it writes, as `peek` moves due jobs.
//!
//! It handles no damage: every key it reads was written by itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::core::{Dump, Key, g17};

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Nil,
    Int(i64),
    Text(String),
    Texts(Vec<String>),
    /// A JSON list of names, as of tags.
    Names(Vec<String>),
    /// JSON of these jobs, in this order.
    Jobs(Vec<String>),
    /// The reply of a read, which this core does not know.
    Unjudged,
    /// Rows of [outcome, mark, detail …] or flat fields.
    Rows(Vec<Vec<Option<String>>>),
    Refused(String),
}

pub(crate) use Answer::*;

type Answered = Result<Answer, String>;

const AGE: f64 = 10_000_000_000.0;

#[derive(Clone, Default)]
pub(crate) struct Model {
    pub(crate) keys: Dump,
    pub(crate) events: Vec<(String, String)>,
    now: f64,
}

fn job(jid: &str) -> String {
    format!("ql:j:{jid}")
}

fn history(jid: &str) -> String {
    format!("ql:j:{jid}-history")
}

fn dependencies(jid: &str) -> String {
    format!("ql:j:{jid}-dependencies")
}

fn dependents(jid: &str) -> String {
    format!("ql:j:{jid}-dependents")
}

fn work(queue: &str) -> String {
    format!("ql:q:{queue}-work")
}

fn locks(queue: &str) -> String {
    format!("ql:q:{queue}-locks")
}

fn scheduled(queue: &str) -> String {
    format!("ql:q:{queue}-scheduled")
}

fn depends(queue: &str) -> String {
    format!("ql:q:{queue}-depends")
}

fn recur(queue: &str) -> String {
    format!("ql:q:{queue}-recur")
}

fn held(worker: &str) -> String {
    format!("ql:w:{worker}:jobs")
}

fn day(moment: f64) -> i64 {
    (moment - moment.rem_euclid(86400.0)) as i64
}

/// Text as the encoder of Redis writes it.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text)
        .expect("text")
        .replace('/', "\\/")
}

/// The number a text stands for, if it is a finite one.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

/// The names in a list, without repeats; what is no name is left out, and no list has none.
pub(crate) fn names(json: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for item in serde_json::from_str::<Vec<Value>>(json).unwrap_or_default() {
        let name = match item {
            Value::String(name) => name,
            Value::Number(number) => number.to_string(),
            _ => continue,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether a document is taken for names: a list of nothing else, or an object, which has none.
fn names_only(json: &str) -> bool {
    match serde_json::from_str(json).expect("JSON") {
        Value::Array(items) => items
            .iter()
            .all(|item| item.is_string() || item.is_number()),
        document => document.is_object(),
    }
}

fn stored_list(names: &[String]) -> String {
    match names {
        [] => "{}".into(),
        names => format!(
            "[{}]",
            names
                .iter()
                .map(|name| quoted(name))
                .collect::<Vec<_>>()
                .join(",")
        ),
    }
}

/// The part of `len` items that a range of ranks names, as Redis counts.
fn ranks(len: usize, start: i64, stop: i64) -> std::ops::Range<usize> {
    let len = len as i64;
    let from = if start < 0 {
        (len + start).max(0)
    } else {
        start
    };
    let to = if stop < 0 {
        len + stop
    } else {
        stop.min(len - 1)
    };
    if from > to || from >= len {
        0..0
    } else {
        from as usize..(to + 1) as usize
    }
}

/// The part of a range by score that LIMIT names.
fn limit(items: Vec<String>, offset: i64, count: i64) -> Vec<String> {
    match (offset, count) {
        (..0, _) => Vec::new(),
        (offset, ..0) => items.into_iter().skip(offset as usize).collect(),
        (offset, count) => items
            .into_iter()
            .skip(offset as usize)
            .take(count as usize)
            .collect(),
    }
}

// The small Redis below.
impl Model {
    fn hget(&self, key: &str, field: &str) -> Option<String> {
        self.keys.field(key, field)
    }

    fn hset(&mut self, key: &str, fields: &[(&str, &str)]) {
        let hash = self
            .keys
            .0
            .entry(key.into())
            .or_insert_with(|| Key::Hash(BTreeMap::new()));
        let Key::Hash(hash) = hash else {
            panic!("`{key}` is no hash")
        };
        hash.extend(
            fields
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string())),
        );
    }

    fn hdel(&mut self, key: &str, field: &str) {
        if let Some(Key::Hash(hash)) = self.keys.0.get_mut(key) {
            hash.remove(field);
            if hash.is_empty() {
                self.del(key);
            }
        }
    }

    fn hincr(&mut self, key: &str, field: &str, by: i64) {
        let old = self
            .hget(key, field)
            .map_or(0, |text| text.parse::<i64>().expect("a counter"));
        self.hset(key, &[(field, &(old + by).to_string())]);
    }

    fn zadd(&mut self, key: &str, score: f64, member: &str) {
        let zset = self
            .keys
            .0
            .entry(key.into())
            .or_insert_with(|| Key::Zset(BTreeMap::new()));
        let Key::Zset(zset) = zset else {
            panic!("`{key}` is no sorted set")
        };
        zset.insert(member.into(), score);
    }

    fn zadd_new(&mut self, key: &str, score: f64, member: &str) {
        if self.keys.score(key, member).is_none() {
            self.zadd(key, score, member);
        }
    }

    fn zrem(&mut self, key: &str, member: &str) -> bool {
        let Some(Key::Zset(zset)) = self.keys.0.get_mut(key) else {
            return false;
        };
        let had = zset.remove(member).is_some();
        if zset.is_empty() {
            self.del(key);
        }
        had
    }

    /// Members by score, then by name.
    fn ascending(&self, key: &str) -> Vec<(String, f64)> {
        let mut members: Vec<_> = self.keys.zset(key).into_iter().collect();
        members.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        members
    }

    fn between(&self, key: &str, least: f64, most: f64) -> Vec<String> {
        let members = self.ascending(key).into_iter();
        members
            .filter(|(_, score)| *score >= least && *score <= most)
            .map(|(name, _)| name)
            .collect()
    }

    fn sadd(&mut self, key: &str, member: &str) {
        let set = self
            .keys
            .0
            .entry(key.into())
            .or_insert_with(|| Key::Set(BTreeSet::new()));
        let Key::Set(set) = set else {
            panic!("`{key}` is no set")
        };
        set.insert(member.into());
    }

    fn srem(&mut self, key: &str, member: &str) -> bool {
        let Some(Key::Set(set)) = self.keys.0.get_mut(key) else {
            return false;
        };
        let had = set.remove(member);
        if set.is_empty() {
            self.del(key);
        }
        had
    }

    fn set_list(&mut self, key: &str, list: Vec<String>) {
        if list.is_empty() {
            self.del(key)
        } else {
            self.keys.0.insert(key.into(), Key::List(list));
        }
    }

    fn del(&mut self, key: &str) {
        self.keys.0.remove(key);
    }

    fn publish(&mut self, channel: &str, payload: impl Into<String>) {
        self.events.push((format!("ql:{channel}"), payload.into()));
    }
}

// Helpers of several commands.
impl Model {
    /// A core with these keys.
    pub(crate) fn over(keys: Dump) -> Model {
        Model {
            keys,
            ..Model::default()
        }
    }

    fn exists(&self, jid: &str) -> bool {
        self.keys.has(&job(jid))
    }

    fn text(&self, jid: &str, field: &str) -> String {
        self.hget(&job(jid), field).unwrap_or_default()
    }

    fn state(&self, jid: &str) -> String {
        self.text(jid, "state")
    }

    fn field_number(&self, jid: &str, field: &str) -> f64 {
        number(&self.text(jid, field)).unwrap_or(0.0)
    }

    fn tags(&self, jid: &str) -> Vec<String> {
        names(&self.text(jid, "tags"))
    }

    fn tracked(&self, jid: &str) -> bool {
        self.keys.score("ql:tracked", jid).is_some()
    }

    fn if_tracked(&mut self, channel: &str, jid: &str) {
        if self.tracked(jid) {
            self.publish(channel, jid);
        }
    }

    fn setting(&self, option: &str) -> Option<f64> {
        self.hget("ql:config", option)
            .and_then(|text| number(&text))
    }

    fn heartbeat_of(&self, queue: &str) -> f64 {
        let own = self.setting(&format!("{queue}-heartbeat"));
        own.or_else(|| self.setting("heartbeat")).unwrap_or(60.0)
    }

    fn when(&self) -> i64 {
        self.now.floor() as i64
    }

    fn append(&mut self, jid: &str, entry: String) {
        let most = self.setting("max-job-history").unwrap_or(100.0);
        let mut list = self.keys.list(&history(jid));
        list.push(entry);
        let most = most as usize;
        if most >= 1 && list.len() > most {
            let newest = list.split_off(list.len() - (most - 1));
            list.truncate(1);
            list.extend(newest);
        }
        self.set_list(&history(jid), list);
    }

    fn append_put(&mut self, jid: &str, queue: &str) {
        self.append(
            jid,
            format!("[{},\"put\",{{\"q\":{}}}]", self.when(), quoted(queue)),
        );
    }

    fn wait_in(&mut self, queue: &str, jid: &str) {
        let score = self.field_number(jid, "priority") - self.now / AGE;
        self.zadd(&work(queue), score, jid);
    }

    fn leave(&mut self, queue: &str, jid: &str) {
        for key in [work(queue), locks(queue), scheduled(queue), depends(queue)] {
            self.zrem(&key, jid);
        }
    }

    fn register(&mut self, queue: &str) {
        self.zadd_new("ql:queues", self.now, queue);
    }

    fn tag(&mut self, jid: &str, tag: &str) {
        let key = format!("ql:t:{tag}");
        if self.keys.score(&key, jid).is_none() {
            let count = self.keys.score("ql:tags", tag).unwrap_or(0.0) + 1.0;
            self.zadd("ql:tags", count, tag);
        }
        self.zadd(&key, self.now, jid);
    }

    fn untag(&mut self, jid: &str, tag: &str) {
        if self.zrem(&format!("ql:t:{tag}"), jid) {
            let count = self.keys.score("ql:tags", tag).unwrap_or(0.0) - 1.0;
            if count > 0.0 {
                self.zadd("ql:tags", count, tag)
            } else {
                self.zrem("ql:tags", tag);
            }
        }
    }

    fn lock_lost(&mut self, jid: &str, worker: &str) {
        let payload = format!(
            r#"{{"jid":{},"event":"lock_lost","worker":{}}}"#,
            quoted(jid),
            quoted(worker)
        );
        self.publish(&format!("w:{worker}"), &*payload);
        self.publish("log", payload);
    }

    fn failure_event(&self, jid: &str, group: &str, message: &str, worker: &str) -> String {
        format!(
            r#"{{"message":{},"jid":{},"group":{},"event":"failed","worker":{}}}"#,
            quoted(message),
            quoted(jid),
            quoted(group),
            quoted(worker)
        )
    }

    fn failure_text(&self, group: &str, message: &str, worker: &str) -> String {
        format!(
            r#"{{"group":{},"message":{},"when":{},"worker":{}}}"#,
            quoted(group),
            quoted(message),
            self.when(),
            quoted(worker)
        )
    }

    fn enter_group(&mut self, jid: &str, group: &str, queue: &str) {
        self.sadd("ql:failures", group);
        let key = format!("ql:f:{group}");
        let mut list = self.keys.list(&key);
        list.insert(0, jid.into());
        self.set_list(&key, list);
        let stats = format!("ql:s:stats:{}:{queue}", day(self.now));
        self.hincr(&stats, "failures", 1);
        self.hincr(&stats, "failed", 1);
    }

    /// Removes a failed job from its list and from the count of the queue in which it failed.
    fn leave_group(&mut self, jid: &str) {
        let failure: Value = serde_json::from_str(&self.text(jid, "failure")).expect("a failure");
        let group = failure["group"].as_str().expect("a group").to_owned();
        let key = format!("ql:f:{group}");
        let mut list = self.keys.list(&key);
        list.retain(|other| other != jid);
        if list.is_empty() {
            self.srem("ql:failures", &group);
        }
        self.set_list(&key, list);
        let when = failure["when"].as_f64().expect("a time");
        self.hincr(
            &format!("ql:s:stats:{}:{}", day(when), self.text(jid, "queue")),
            "failed",
            -1,
        );
    }

    fn sample(&mut self, kind: &str, queue: &str, value: f64) {
        let key = format!("ql:s:{kind}:{}:{queue}", day(self.now));
        let stored = |name: &str| {
            self.hget(&key, name)
                .map_or(0.0, |text| number(&text).unwrap())
        };
        let (total, mean, vk) = (stored("total") + 1.0, stored("mean"), stored("vk"));
        let (mean, vk) = match total {
            1.0 => (value, 0.0),
            total => {
                let next = mean + (value - mean) / total;
                (next, vk + (value - next) * (value - mean))
            }
        };
        let whole = value.floor() as i64;
        let slot = match whole {
            ..60 => format!("s{whole}"),
            60..3600 => format!("m{}", whole / 60),
            3600..86400 => format!("h{}", whole / 3600),
            _ => format!("d{}", whole / 86400),
        };
        self.hset(
            &key,
            &[
                ("total", &g17(total)),
                ("mean", &g17(mean)),
                ("vk", &g17(vk)),
            ],
        );
        self.hincr(&key, &slot, 1);
    }

    fn open(&self, jid: &str, names: &[String]) -> Vec<String> {
        let blocks =
            |name: &&String| *name != jid && self.exists(name) && self.state(name) != "complete";
        names.iter().filter(blocks).cloned().collect()
    }

    fn link(&mut self, jid: &str, name: &str) {
        self.sadd(&dependents(name), jid);
        self.sadd(&dependencies(jid), name);
    }

    fn unlink(&mut self, jid: &str, name: &str) {
        self.srem(&dependents(name), jid);
        self.srem(&dependencies(jid), name);
    }

    fn blocked(&self, jid: &str) -> bool {
        self.keys.has(&dependencies(jid))
    }

    /// Releases a job in state `depends`. `past`: a due time in the past counts as none.
    fn free(&mut self, jid: &str, past: bool) {
        let queue = self.text(jid, "queue");
        self.zrem(&depends(&queue), jid);
        let due = self
            .hget(&job(jid), "scheduled")
            .and_then(|text| number(&text));
        self.hdel(&job(jid), "scheduled");
        match due {
            Some(due) if !past || due > self.now => {
                self.zadd(&scheduled(&queue), due, jid);
                self.hset(&job(jid), &[("state", "scheduled")]);
            }
            _ => {
                self.wait_in(&queue, jid);
                self.hset(&job(jid), &[("state", "waiting")]);
            }
        }
    }

    fn release_dependents(&mut self, jid: &str) {
        for name in self.keys.set(&dependents(jid)) {
            self.srem(&dependencies(&name), jid);
            if !self.blocked(&name) && self.state(&name) == "depends" {
                self.free(&name, false);
            }
        }
        self.del(&dependents(jid));
    }

    fn promote(&mut self, queue: &str, most: i64) {
        for jid in limit(self.between(&scheduled(queue), 0.0, self.now), 0, most) {
            self.zrem(&scheduled(queue), &jid);
            self.wait_in(queue, &jid);
            self.hset(&job(&jid), &[("state", "waiting")]);
        }
    }

    fn spawn(&mut self, queue: &str, most: i64) {
        let mut moved = 0;
        for id in limit(self.between(&recur(queue), 0.0, self.now), 0, most) {
            let key = format!("ql:r:{id}");
            let hash = self.keys.hash(&key);
            let of = |name: &str| number(&hash[name]).unwrap_or(0.0);
            let (interval, backlog, mut count) =
                (of("interval"), of("backlog"), of("count") as i64);
            let mut at = self
                .keys
                .score(&recur(queue), &id)
                .expect("an entry")
                .floor();
            let behind = (self.now - at) / interval;
            if backlog > 0.0 && behind > backlog {
                at += (behind - backlog).ceil() * interval;
            }
            while at <= self.now && moved < most {
                count += 1;
                while self.exists(&format!("{id}-{count}")) {
                    count += 1;
                }
                let jid = format!("{id}-{count}");
                self.hset(&key, &[("count", &count.to_string())]);
                for tag in names(&hash["tags"]) {
                    self.tag(&jid, &tag);
                }
                let retries = &hash["retries"];
                self.hset(
                    &job(&jid),
                    &[
                        ("jid", &jid),
                        ("klass", &hash["klass"]),
                        ("data", &hash["data"]),
                        ("priority", &hash["priority"]),
                        ("tags", &hash["tags"]),
                        ("state", "waiting"),
                        ("worker", ""),
                        ("expires", "0"),
                        ("queue", queue),
                        ("retries", retries),
                        ("remaining", &g17(number(retries).unwrap_or(0.0).floor())),
                        ("time", &g17(at)),
                        ("spawned_from_jid", &id),
                    ],
                );
                self.append(
                    &jid,
                    format!("[{},\"put\",{{\"q\":{}}}]", at.floor(), quoted(queue)),
                );
                self.zadd(&work(queue), of("priority") - at / AGE, &jid);
                self.register(queue);
                moved += 1;
                at += interval;
                self.zadd(&recur(queue), at, &id);
            }
        }
    }

    /// The work set of a queue in the order of pop.
    fn in_line(&self, queue: &str) -> Vec<String> {
        self.ascending(&work(queue))
            .into_iter()
            .rev()
            .map(|(jid, _)| jid)
            .collect()
    }

    fn paused(&mut self, queue: &str) -> bool {
        if !self.keys.set("ql:paused_queues").contains(queue) {
            return false;
        }
        let pause = self.hget("ql:pauses", queue);
        let end =
            pause.and_then(|text| serde_json::from_str::<Value>(&text).ok()?["until"].as_f64());
        match end {
            Some(end) if end <= self.now => {
                self.srem("ql:paused_queues", queue);
                self.hdel("ql:pauses", queue);
                false
            }
            _ => true,
        }
    }

    /// `<state>:<newest entry>:<entries>:<queue>`.
    pub(crate) fn mark(&self, jid: &str) -> String {
        let entries = self.keys.list(&history(jid));
        let newest = entries.last().and_then(|entry| {
            let entry: Vec<Value> = serde_json::from_str(entry).ok()?;
            entry
                .first()
                .filter(|when| when.is_number())
                .map(Value::to_string)
        });
        let newest = newest.unwrap_or_else(|| "-".into());
        format!(
            "{}:{newest}:{}:{}",
            self.state(jid),
            entries.len(),
            self.text(jid, "queue")
        )
    }
}

/// Options by pairs; the last of a name wins.
fn options(words: &[String]) -> BTreeMap<&str, &str> {
    words
        .chunks_exact(2)
        .map(|pair| (pair[0].as_str(), pair[1].as_str()))
        .collect()
}

fn refuse<T>(text: impl Into<String>) -> Result<T, String> {
    Err(text.into())
}

// The commands. Only calls with well-formed arguments come here; refusals depend on the stored
// keys.
impl Model {
    /// One call as words: command, time, arguments.
    pub(crate) fn call(&mut self, words: &[String]) -> Answer {
        self.now = number(&words[1]).expect("a time");
        self.events.clear();
        let before = self.keys.clone();
        let answer = self.dispatch(&words[0], &words[2..]);
        answer.unwrap_or_else(|text| {
            self.keys = before;
            self.events.clear();
            Refused(text)
        })
    }

    fn dispatch(&mut self, command: &str, words: &[String]) -> Answered {
        let word = |at: usize| words.get(at).map(String::as_str);
        let at = |at: usize| words[at].as_str();
        let rest = |from: usize| words.get(from..).unwrap_or_default();
        match command {
            "get" | "multiget" | "failed" | "length" | "stats" | "config.get" | "recur.get" => {
                Ok(Unjudged)
            }
            "put" => self.put(words),
            "requeue" if !self.exists(at(2)) => {
                refuse(format!("Requeue(): Job {} does not exist", at(2)))
            }
            "requeue" => self.put(words),
            "complete" => self.complete(at(0), at(1), at(2), at(3), options(rest(4))),
            "fail" => self.fail(at(0), at(1), at(2), at(3), word(4)),
            "retry" => {
                let delay = word(3).map_or(0.0, |text| number(text).unwrap());
                self.retry(at(0), at(1), at(2), delay, word(4), word(5))
            }
            "heartbeat" => self.heartbeat(at(0), at(1), word(2)),
            "timeout" => self.timeout(words),
            "cancel" => self.cancel(words),
            "depends" => self.depends(at(0), at(1), rest(2)),
            "priority" => self.priority(at(0), at(1)),
            "log" => self.log(at(0), at(1), word(2)),
            "tag" => match at(0) {
                "add" => self.tag_add(at(1), rest(2)),
                "remove" => self.tag_remove(at(1), rest(2)),
                _ => Ok(Unjudged),
            },
            "track" => self.track(word(0), word(1)),
            "unfail" => self.unfail(
                at(0),
                at(1),
                word(2).map_or(25, |text| text.parse().unwrap()),
            ),
            "jobs" => {
                if at(0) == "scheduled" {
                    self.promote(at(1), -1);
                }
                Ok(Unjudged)
            }
            "queues" => {
                match word(0) {
                    Some(queue) => self.count_queue(queue),
                    None => {
                        let names = self.ascending("ql:queues");
                        // One call ends all expired pauses, if any queue is listed.
                        for queue in self.keys.set("ql:paused_queues") {
                            if !names.is_empty() {
                                self.paused(&queue);
                            }
                        }
                        names.iter().for_each(|(name, _)| self.count_queue(name));
                    }
                }
                Ok(Unjudged)
            }
            "pause" => {
                for queue in words {
                    self.sadd("ql:paused_queues", queue);
                    self.hdel("ql:pauses", queue);
                }
                Ok(Nil)
            }
            "unpause" => {
                for queue in words {
                    self.srem("ql:paused_queues", queue);
                    self.hdel("ql:pauses", queue);
                }
                Ok(Nil)
            }
            "queue.forget" => {
                words
                    .iter()
                    .for_each(|queue| _ = self.zrem("ql:queues", queue));
                Ok(Nil)
            }
            "worker.deregister" => {
                words
                    .iter()
                    .for_each(|worker| _ = self.zrem("ql:workers", worker));
                Ok(Nil)
            }
            "workers" => {
                let age = self.setting("max-worker-age").unwrap_or(86400.0);
                for worker in self.between("ql:workers", 0.0, self.now - age) {
                    self.del(&held(&worker));
                    self.zrem("ql:workers", &worker);
                }
                Ok(Unjudged)
            }
            "pop" => self.pop(at(0), at(1), at(2).parse().unwrap()),
            "peek" => self.peek(at(0), at(1).parse().unwrap()),
            "config.set" => {
                self.publish(
                    "log",
                    format!(
                        r#"{{"option":{},"event":"config_set","value":{}}}"#,
                        quoted(at(0)),
                        quoted(at(1))
                    ),
                );
                self.hset("ql:config", &[(at(0), at(1))]);
                Ok(Nil)
            }
            "config.unset" => {
                self.publish(
                    "log",
                    format!(r#"{{"event":"config_unset","option":{}}}"#, quoted(at(0))),
                );
                self.hdel("ql:config", at(0));
                Ok(Nil)
            }
            "recur" => self.recur(words),
            "unrecur" => {
                if let Some(queue) = self.hget(&format!("ql:r:{}", at(0)), "queue") {
                    self.zrem(&recur(&queue), at(0));
                    self.del(&format!("ql:r:{}", at(0)));
                }
                Ok(Int(1))
            }
            "recur.update" => self.recur_update(at(0), rest(1)),
            "recur.tag" => self.recur_tag(at(0), rest(1)),
            "recur.untag" => self.recur_untag(at(0), rest(1)),
            _ => self.guard(command, words),
        }
    }

    fn put(&mut self, words: &[String]) -> Answered {
        let at = |at: usize| words[at].as_str();
        let options = options(&words[6..]);
        let delay = number(at(5)).unwrap();
        let odd = |name: &str| {
            let json = options.get(name).copied();
            json.filter(|json| !names_only(json))
        };
        // Dependencies that are no list come before the tags, what is in the list after them.
        let depends = odd("depends").map(|json| format!("Put(): Arg \"depends\" not JSON: {json}"));
        match (depends, odd("tags")) {
            (Some(text), tags) if tags.is_none() || !text.ends_with(']') => return refuse(text),
            (_, Some(tags)) => return refuse(format!("Put(): Arg \"tags\" not JSON{tags}")),
            _ => {}
        }
        self.place(at(0), at(1), at(2), at(3), at(4), delay, &options);
        Ok(Text(at(2).into()))
    }

    /// Puts a job, new or not.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn place(
        &mut self,
        me: &str,
        queue: &str,
        jid: &str,
        klass: &str,
        data: &str,
        delay: f64,
        options: &BTreeMap<&str, &str>,
    ) {
        let key = job(jid);
        let new = !self.exists(jid);
        let old_tags = self.tags(jid);
        let tags = options
            .get("tags")
            .map_or_else(|| old_tags.clone(), |json| names(json));
        let kept = |name: &str, default: &str| match options.get(name) {
            Some(text) => text.to_string(),
            None if new => default.into(),
            None => self.text(jid, name),
        };
        let (priority, retries) = (kept("priority", "0"), kept("retries", "5"));
        let wanted = options
            .get("depends")
            .map_or_else(Vec::new, |json| names(json));
        let open = self.open(jid, &wanted);

        for tag in &old_tags {
            if !tags.contains(tag) {
                self.untag(jid, tag);
            }
        }
        for tag in &tags {
            self.tag(jid, tag);
        }
        if !wanted.is_empty() {
            for name in self.keys.set(&dependencies(jid)) {
                if !wanted.contains(&name) {
                    self.unlink(jid, &name);
                }
            }
        }
        self.put_again(me, queue, jid);
        let remaining = number(&retries).unwrap().floor();
        self.hset(
            &key,
            &[
                ("jid", jid),
                ("klass", klass),
                ("data", data),
                ("priority", &priority),
                ("tags", &stored_list(&tags)),
                ("retries", &retries),
                ("remaining", &g17(remaining)),
            ],
        );
        for name in open {
            self.link(jid, &name);
        }
        let due = (delay > 0.0).then_some(self.now + delay);
        self.settle(queue, jid, due);
    }

    /// The first half of every put: the job leaves its old sets.
    fn put_again(&mut self, me: &str, queue: &str, jid: &str) {
        self.publish(
            "log",
            format!(
                r#"{{"jid":{},"event":"put","queue":{}}}"#,
                quoted(jid),
                quoted(queue)
            ),
        );
        self.append_put(jid, queue);
        let (state, old_queue, worker) = (
            self.state(jid),
            self.text(jid, "queue"),
            self.text(jid, "worker"),
        );
        self.leave(&old_queue, jid);
        if !worker.is_empty() {
            self.zrem(&held(&worker), jid);
            if worker != me {
                self.lock_lost(jid, &worker);
            }
        }
        match state.as_str() {
            "complete" => _ = self.zrem("ql:completed", jid),
            "failed" => self.leave_group(jid),
            _ => {}
        }
    }

    /// The second half: the job enters its new set.
    fn settle(&mut self, queue: &str, jid: &str, due: Option<f64>) {
        let key = job(jid);
        self.hdel(&key, "grace");
        self.hdel(&key, "scheduled");
        let state = match (self.blocked(jid), due) {
            (true, due) => {
                if let Some(due) = due {
                    self.hset(&key, &[("scheduled", &g17(due))]);
                }
                self.zadd(&depends(queue), self.now, jid);
                "depends"
            }
            (false, Some(due)) => {
                self.zadd(&scheduled(queue), due, jid);
                "scheduled"
            }
            (false, None) => {
                self.wait_in(queue, jid);
                "waiting"
            }
        };
        let time = g17(self.now);
        self.hset(
            &key,
            &[
                ("state", state),
                ("worker", ""),
                ("expires", "0"),
                ("queue", queue),
                ("time", &time),
            ],
        );
        self.register(queue);
        self.if_tracked("put", jid);
    }

    fn complete(
        &mut self,
        jid: &str,
        worker: &str,
        queue: &str,
        data: &str,
        options: BTreeMap<&str, &str>,
    ) -> Answered {
        let next = options.get("next");
        for name in ["delay", "depends"] {
            if options.contains_key(name) && next.is_none() {
                return refuse(format!(
                    "Complete(): \"{name}\" cannot be used without a \"next\"."
                ));
            }
        }
        if !self.exists(jid) {
            return refuse(format!("Complete(): Job {jid} does not exist"));
        }
        let state = self.state(jid);
        if state != "running" {
            return refuse(format!(
                "Complete(): Job {jid} is not currently running: {state}"
            ));
        }
        let owner = self.text(jid, "worker");
        if owner != worker {
            return refuse(format!(
                "Complete(): Job {jid} has been handed out to another worker: {owner}"
            ));
        }
        let own = self.text(jid, "queue");
        if own != queue {
            return refuse(format!(
                "Complete(): Job {jid} running in another queue: {own}"
            ));
        }
        if let Some(odd) = options.get("depends").filter(|json| !names_only(json)) {
            return refuse(format!("Complete(): Arg \"depends\" not JSON: {odd}"));
        }
        let key = job(jid);
        self.append(jid, format!("[{},\"done\"]", self.when()));
        self.leave(queue, jid);
        self.sample("run", queue, self.now - self.field_number(jid, "time"));
        self.zrem(&held(worker), jid);
        self.if_tracked("completed", jid);
        self.hdel(&key, "grace");
        let remaining = g17(self.field_number(jid, "retries").floor());
        let time = g17(self.now);
        self.hset(
            &key,
            &[
                ("data", data),
                ("time", &time),
                ("worker", ""),
                ("failure", "{}"),
                ("expires", "0"),
                ("remaining", &remaining),
            ],
        );
        let Some(next) = next else {
            return self.finish(jid, queue);
        };
        self.publish(
            "log",
            format!(
                r#"{{"jid":{},"to":{},"event":"advanced","queue":{}}}"#,
                quoted(jid),
                quoted(next),
                quoted(queue)
            ),
        );
        self.append_put(jid, next);
        self.register(next);
        let wanted = options
            .get("depends")
            .map_or_else(Vec::new, |json| names(json));
        for name in self.open(jid, &wanted) {
            self.link(jid, &name);
        }
        let delay = options
            .get("delay")
            .map_or(0.0, |text| number(text).unwrap());
        let due = self.now + delay;
        let state = if self.blocked(jid) {
            if delay > 0.0 {
                self.hset(&key, &[("scheduled", &g17(due))]);
            }
            self.zadd(&depends(next), self.now, jid);
            "depends"
        } else if delay > 0.0 {
            self.zadd(&scheduled(next), due, jid);
            "scheduled"
        } else {
            self.wait_in(next, jid);
            "waiting"
        };
        self.hset(&key, &[("state", state), ("queue", next)]);
        Ok(Text(state.into()))
    }

    fn finish(&mut self, jid: &str, queue: &str) -> Answered {
        self.publish(
            "log",
            format!(
                r#"{{"jid":{},"event":"completed","queue":{}}}"#,
                quoted(jid),
                quoted(queue)
            ),
        );
        self.hset(&job(jid), &[("state", "complete"), ("queue", "")]);
        self.zadd("ql:completed", self.now, jid);
        self.release_dependents(jid);
        let age = self.setting("jobs-history").unwrap_or(604800.0);
        let most = self.setting("jobs-history-count").unwrap_or(50000.0) as usize;
        let mut expired = self.between("ql:completed", 0.0, self.now - age);
        let left: Vec<_> = self
            .ascending("ql:completed")
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let left: Vec<_> = left
            .into_iter()
            .filter(|name| !expired.contains(name))
            .collect();
        expired.extend_from_slice(&left[..left.len().saturating_sub(most)]);
        for name in expired {
            self.zrem("ql:completed", &name);
            self.delete(&name);
        }
        Ok(Text("complete".into()))
    }

    /// Deletes a job that is in no set any more.
    fn delete(&mut self, jid: &str) {
        for tag in self.tags(jid) {
            self.untag(jid, &tag);
        }
        for name in self.keys.set(&dependencies(jid)) {
            self.unlink(jid, &name);
        }
        for key in [job(jid), history(jid), dependents(jid)] {
            self.del(&key);
        }
    }

    fn fail(
        &mut self,
        jid: &str,
        worker: &str,
        group: &str,
        message: &str,
        data: Option<&str>,
    ) -> Answered {
        if !self.exists(jid) {
            return refuse(format!("Fail(): Job {jid}does not exist"));
        }
        let state = self.state(jid);
        if state != "running" {
            return refuse(format!("Fail(): Job {jid}not currently running: {state}"));
        }
        let owner = self.text(jid, "worker");
        if owner != worker {
            return refuse(format!(
                "Fail(): Job {jid} running with another worker: {owner}"
            ));
        }
        let queue = self.text(jid, "queue");
        self.publish("log", self.failure_event(jid, group, message, worker));
        self.if_tracked("failed", jid);
        self.zrem(&held(worker), jid);
        self.append(
            jid,
            format!(
                "[{},\"failed\",{{\"group\":{},\"worker\":{}}}]",
                self.when(),
                quoted(group),
                quoted(worker)
            ),
        );
        self.leave(&queue, jid);
        if let Some(data) = data.filter(|data| *data != "false") {
            self.hset(&job(jid), &[("data", data)]);
        }
        let failure = self.failure_text(group, message, worker);
        self.hset(
            &job(jid),
            &[
                ("state", "failed"),
                ("worker", ""),
                ("expires", ""),
                ("failure", &failure),
            ],
        );
        self.hdel(&job(jid), "grace");
        self.enter_group(jid, group, &queue);
        Ok(Text(jid.into()))
    }

    fn retry(
        &mut self,
        jid: &str,
        queue: &str,
        worker: &str,
        delay: f64,
        group: Option<&str>,
        message: Option<&str>,
    ) -> Answered {
        if !self.exists(jid) {
            return refuse(format!("Retry(): Job {jid} does not exist"));
        }
        let state = self.state(jid);
        if state != "running" {
            return refuse(format!(
                "Retry(): Job {jid} is not currently running: {state}"
            ));
        }
        let owner = self.text(jid, "worker");
        if owner != worker {
            return refuse(format!(
                "Retry(): Job {jid} has been given to another worker: {owner}"
            ));
        }
        let key = job(jid);
        let old_queue = self.text(jid, "queue");
        let left = self.field_number(jid, "remaining").floor() - 1.0;
        self.hdel(&key, "grace");
        self.zrem(&locks(&old_queue), jid);
        self.zrem(&held(worker), jid);
        // D-18, D-40: the job moves with all its index entries.
        self.hset(&key, &[("remaining", &g17(left)), ("queue", queue)]);
        self.register(queue);
        let given = group.zip(message);
        if let Some((group, message)) = given {
            let failure = self.failure_text(group, message, worker);
            self.hset(&key, &[("failure", &failure)]);
        }
        if left >= 0.0 {
            if delay > 0.0 {
                self.zadd(&scheduled(queue), self.now + delay, jid);
                self.hset(&key, &[("state", "scheduled")]);
            } else {
                self.wait_in(queue, jid);
                self.hset(&key, &[("state", "waiting")]);
            }
        } else {
            let group = group.map_or_else(|| format!("failed-retries-{queue}"), str::to_owned);
            if given.is_none() {
                let message = format!("Job exhausted retries in queue \"{old_queue}\"");
                let failure = self.failure_text(&group, &message, "");
                self.hset(&key, &[("failure", &failure)]);
            }
            self.append(
                jid,
                format!(
                    "[{},\"failed\",{{\"group\":{}}}]",
                    self.when(),
                    quoted(&group)
                ),
            );
            self.hset(
                &key,
                &[("state", "failed"), ("worker", ""), ("expires", "")],
            );
            self.if_tracked("failed", jid);
            self.enter_group(jid, &group, queue);
        }
        Ok(Int(left as i64))
    }

    fn heartbeat(&mut self, jid: &str, worker: &str, data: Option<&str>) -> Answered {
        if !self.exists(jid) {
            return refuse(format!("Heartbeat(): Job {jid} does not exist"));
        }
        let state = self.state(jid);
        if state != "running" {
            return refuse(format!(
                "Heartbeat(): Job {jid} not currently running: {state}"
            ));
        }
        let owner = self.text(jid, "worker");
        if owner != worker || worker.is_empty() {
            return refuse(format!(
                "Heartbeat(): Job {jid} given out to another worker: {owner}"
            ));
        }
        let queue = self.text(jid, "queue");
        let expires = self.now + self.heartbeat_of(&queue);
        self.hset(&job(jid), &[("expires", &g17(expires)), ("worker", worker)]);
        if let Some(data) = data.filter(|data| *data != "false") {
            self.hset(&job(jid), &[("data", data)]);
        }
        self.hdel(&job(jid), "grace");
        self.zadd(&held(worker), expires, jid);
        self.zadd("ql:workers", self.now, worker);
        self.zadd(&locks(&queue), expires, jid);
        Ok(Int(expires.trunc() as i64))
    }

    fn timeout(&mut self, jids: &[String]) -> Answered {
        for jid in jids {
            if !self.exists(jid) {
                return refuse(format!("Timeout(): Job {jid} does not exist"));
            }
            if self.state(jid) != "running" {
                return refuse(format!("Timeout(): Job {jid} not running"));
            }
            let (queue, worker) = (self.text(jid, "queue"), self.text(jid, "worker"));
            self.append(jid, format!("[{},\"timed-out\"]", self.when()));
            self.zrem(&locks(&queue), jid);
            self.zrem(&held(&worker), jid);
            self.zadd(&work(&queue), f64::INFINITY, jid);
            self.hset(&job(jid), &[("state", "stalled"), ("expires", "0")]);
            self.hdel(&job(jid), "grace");
            self.lock_lost(jid, &worker);
        }
        Ok(Nil)
    }

    fn cancel(&mut self, jids: &[String]) -> Answered {
        for jid in jids {
            for dependent in self.keys.set(&dependents(jid)) {
                if !jids.contains(&dependent) {
                    return refuse(format!(
                        "Cancel(): {jid} is a dependency of {dependent} but is not mentioned to be canceled"
                    ));
                }
            }
        }
        for jid in jids {
            if self.state(jid) == "complete" {
                continue;
            }
            self.cancel_one(jid);
        }
        Ok(Texts(jids.to_vec()))
    }

    pub(crate) fn cancel_one(&mut self, jid: &str) {
        let shown = |text: Option<String>| text.map_or("false".into(), |text| quoted(&text));
        let (worker, queue) = (
            self.hget(&job(jid), "worker"),
            self.hget(&job(jid), "queue"),
        );
        let payload = format!(
            r#"{{"jid":{},"queue":{},"event":"canceled","worker":{}}}"#,
            quoted(jid),
            shown(queue.clone()),
            shown(worker.clone())
        );
        self.publish("log", &*payload);
        if let Some(worker) = worker.filter(|worker| !worker.is_empty()) {
            self.zrem(&held(&worker), jid);
            self.publish(&format!("w:{worker}"), payload);
        }
        if let Some(queue) = queue {
            self.leave(&queue, jid);
        }
        if self.state(jid) == "failed" {
            self.leave_group(jid);
        }
        self.if_tracked("canceled", jid);
        self.delete(jid);
    }

    fn depends(&mut self, jid: &str, how: &str, jids: &[String]) -> Answered {
        let state = self
            .hget(&job(jid), "state")
            .unwrap_or_else(|| "false".into());
        if state != "depends" {
            return refuse(format!(
                "Depends(): Job {jid} not in the depends state: {state}"
            ));
        }
        match how {
            "on" => {
                for name in self.open(jid, jids) {
                    self.link(jid, &name);
                }
            }
            _ => {
                let all = jids.first().is_some_and(|first| first == "all");
                let off = if all {
                    self.keys.set(&dependencies(jid))
                } else {
                    jids.iter().cloned().collect()
                };
                for name in off {
                    self.unlink(jid, &name);
                }
                if !self.blocked(jid) {
                    self.free(jid, true);
                }
            }
        }
        Ok(Int(1))
    }

    fn priority(&mut self, jid: &str, text: &str) -> Answered {
        if !self.exists(jid) {
            return refuse(format!("Priority(): Job {jid} does not exist"));
        }
        let priority = number(text).unwrap();
        let line = work(&self.text(jid, "queue"));
        if let Some(score) = self.keys.score(&line, jid) {
            let moved = score - self.field_number(jid, "priority") + priority;
            self.zadd(&line, moved, jid);
        }
        self.hset(&job(jid), &[("priority", text)]);
        Ok(Int(priority.trunc() as i64))
    }

    fn log(&mut self, jid: &str, message: &str, data: Option<&str>) -> Answered {
        if !self.exists(jid) {
            return refuse(format!("Log(): Job {jid} does not exist"));
        }
        let data = match data {
            None => String::new(),
            Some(data) if data.starts_with('{') => format!(",{data}"),
            Some(data) => format!(",{{\"data\":{data}}}"),
        };
        self.append(jid, format!("[{},{}{data}]", self.when(), quoted(message)));
        Ok(Nil)
    }

    fn tag_add(&mut self, jid: &str, given: &[String]) -> Answered {
        if !self.exists(jid) {
            return refuse(format!("Tag(): Job {jid} does not exist"));
        }
        let mut tags = self.tags(jid);
        for tag in given {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
            self.tag(jid, tag);
        }
        self.hset(&job(jid), &[("tags", &stored_list(&tags))]);
        Ok(Names(tags))
    }

    fn tag_remove(&mut self, jid: &str, given: &[String]) -> Answered {
        if !self.exists(jid) {
            return refuse(format!("Tag(): Job {jid} does not exist"));
        }
        let mut tags = self.tags(jid);
        for tag in given {
            tags.retain(|other| other != tag);
            self.untag(jid, tag);
        }
        self.hset(&job(jid), &[("tags", &stored_list(&tags))]);
        Ok(Names(tags))
    }

    fn track(&mut self, action: Option<&str>, jid: Option<&str>) -> Answered {
        let Some((action, jid)) = action.zip(jid) else {
            return Ok(Unjudged);
        };
        let was = self.tracked(jid);
        let gone = action == "untrack" && was;
        if !self.exists(jid) && !gone {
            return refuse("Track(): Job does not exist");
        }
        self.publish(action, jid);
        match action {
            "track" => self.zadd("ql:tracked", self.now, jid),
            _ => _ = self.zrem("ql:tracked", jid),
        }
        let changed = if action == "track" { !was } else { was };
        Ok(Text(if changed { "1".into() } else { "0".into() }))
    }

    fn unfail(&mut self, queue: &str, group: &str, count: i64) -> Answered {
        let list = self.keys.list(&format!("ql:f:{group}"));
        let taken = if count == 0 {
            &[][..]
        } else {
            &list[ranks(list.len(), -count, -1)]
        };
        if !taken.is_empty() {
            self.register(queue);
        }
        for jid in taken {
            self.leave_group(jid);
            self.append_put(jid, queue);
            let remaining = g17(self.field_number(jid, "retries").floor());
            self.hset(
                &job(jid),
                &[
                    ("state", "waiting"),
                    ("worker", ""),
                    ("expires", "0"),
                    ("queue", queue),
                    ("remaining", &remaining),
                ],
            );
            self.wait_in(queue, jid);
        }
        Ok(Int(taken.len() as i64))
    }

    /// What the count of a queue writes: due jobs wait, an expired pause ends.
    fn count_queue(&mut self, queue: &str) {
        self.promote(queue, -1);
        self.paused(queue);
    }

    fn pop(&mut self, queue: &str, worker: &str, count: i64) -> Answered {
        if self.paused(queue) {
            return Ok(Jobs(Vec::new()));
        }
        self.zadd("ql:workers", self.now, worker);
        let most = self
            .setting(&format!("{queue}-max-concurrency"))
            .unwrap_or(0.0) as i64;
        let live =
            |model: &Model| model.between(&locks(queue), model.now, f64::INFINITY).len() as i64;
        let mut count = count;
        if most > 0 {
            count = count.min((most - live(self)).max(0));
        }
        if count == 0 {
            return Ok(Jobs(Vec::new()));
        }
        let mut taken = self.take_lost(queue, count);
        let mut rest = count - taken.len() as i64;
        if most > 0 {
            // D-07: a renewed lock counts against the limit, and so do jobs that are popped again.
            let again = self.keys.zset(&locks(queue));
            let dead = taken
                .iter()
                .filter(|jid| again[jid.as_str()] < self.now)
                .count() as i64;
            rest = rest.min((most - live(self) - dead).max(0));
        }
        self.spawn(queue, rest);
        self.promote(queue, rest);
        taken.extend(self.in_line(queue).into_iter().take(rest as usize));
        let expires = self.now + self.heartbeat_of(queue);
        for jid in &taken {
            self.append(
                jid,
                format!(
                    "[{},\"popped\",{{\"worker\":{}}}]",
                    self.when(),
                    quoted(worker)
                ),
            );
            self.sample("wait", queue, self.now - self.field_number(jid, "time"));
            self.zadd(&held(worker), expires, jid);
            let time = g17(self.now);
            self.hset(
                &job(jid),
                &[
                    ("worker", worker),
                    ("expires", &g17(expires)),
                    ("state", "running"),
                    ("time", &time),
                ],
            );
            self.zadd(&locks(queue), expires, jid);
            self.zrem(&work(queue), jid);
            self.if_tracked("popped", jid);
        }
        Ok(Jobs(taken))
    }

    /// The two phases of an expired lock. Returns the jobs to pop again.
    fn take_lost(&mut self, queue: &str, count: i64) -> Vec<String> {
        let grace = self.setting("grace-period").unwrap_or(10.0);
        let mut again = Vec::new();
        let stats = format!("ql:s:stats:{}:{queue}", day(self.now));
        for jid in limit(
            self.between(&locks(queue), f64::NEG_INFINITY, self.now),
            0,
            count,
        ) {
            let key = job(&jid);
            let worker = self.text(&jid, "worker");
            self.zrem(&held(&worker), &jid);
            let warned = self.hget(&key, "grace").is_some();
            if !warned || grace <= 0.0 {
                self.if_tracked("stalled", &jid);
                self.append(&jid, format!("[{},\"timed-out\"]", self.when()));
                self.lock_lost(&jid, &worker);
                self.hincr(&stats, "retries", 1);
                if grace > 0.0 {
                    self.hset(&key, &[("grace", "1")]);
                    self.zadd(&locks(queue), self.now + grace, &jid);
                    continue;
                }
            }
            self.hdel(&key, "grace");
            let left = self.field_number(&jid, "remaining").floor() - 1.0;
            self.hset(&key, &[("remaining", &g17(left))]);
            if left >= 0.0 {
                again.push(jid);
                continue;
            }
            let group = format!("failed-retries-{queue}");
            let message = format!("Job exhausted retries in queue \"{queue}\"");
            self.leave(queue, &jid);
            self.append(
                &jid,
                format!(
                    "[{},\"failed\",{{\"group\":{}}}]",
                    self.when(),
                    quoted(&group)
                ),
            );
            let failure = self.failure_text(&group, &message, "");
            self.hset(
                &key,
                &[
                    ("state", "failed"),
                    ("worker", ""),
                    ("expires", ""),
                    ("failure", &failure),
                ],
            );
            self.enter_group(&jid, &group, queue);
            self.if_tracked("failed", &jid);
            self.publish("log", self.failure_event(&jid, &group, &message, &worker));
        }
        again
    }

    fn peek(&mut self, queue: &str, count: i64) -> Answered {
        self.paused(queue);
        let lost = self.between(&locks(queue), f64::NEG_INFINITY, self.now);
        let rest = count - limit(lost, 0, count).len() as i64;
        self.spawn(queue, rest);
        self.promote(queue, rest);
        Ok(Unjudged)
    }

    fn recur(&mut self, words: &[String]) -> Answered {
        let at = |at: usize| words[at].as_str();
        let (queue, jid) = (at(0), at(1));
        let options = options(&words[7..]);
        let of = |name: &str| options.get(name).copied().unwrap_or("0").to_owned();
        let key = format!("ql:r:{jid}");
        if let Some(old) = self.hget(&key, "queue") {
            self.zrem(&recur(&old), jid);
        }
        let count = self.hget(&key, "count").unwrap_or_else(|| "0".into());
        let tags = stored_list(
            &options
                .get("tags")
                .map_or_else(Vec::new, |json| names(json)),
        );
        self.hset(
            &key,
            &[
                ("jid", jid),
                ("klass", at(2)),
                ("data", at(3)),
                ("priority", &of("priority")),
                ("tags", &tags),
                ("state", "recur"),
                ("queue", queue),
                ("type", "interval"),
                ("count", &count),
                ("interval", at(5)),
                ("retries", &of("retries")),
                ("backlog", &of("backlog")),
            ],
        );
        self.zadd(&recur(queue), self.now + number(at(6)).unwrap(), jid);
        self.register(queue);
        Ok(Text(jid.into()))
    }

    fn recur_update(&mut self, jid: &str, pairs: &[String]) -> Answered {
        let key = format!("ql:r:{jid}");
        if !self.keys.has(&key) {
            return refuse(format!("Recur(): No recurring job {jid}"));
        }
        for pair in pairs.chunks(2) {
            let (name, value) = (pair[0].as_str(), pair[1].as_str());
            let queue = self.hget(&key, "queue").unwrap();
            let next = self.keys.score(&recur(&queue), jid).expect("an entry");
            match name {
                "interval" => {
                    let old = number(&self.hget(&key, "interval").unwrap()).unwrap();
                    self.zadd(&recur(&queue), next + (number(value).unwrap() - old), jid);
                }
                "queue" => {
                    self.zrem(&recur(&queue), jid);
                    self.zadd(&recur(value), next, jid);
                    self.register(value);
                }
                _ => {}
            }
            self.hset(&key, &[(name, value)]);
        }
        Ok(Int(1))
    }

    fn recur_tag(&mut self, jid: &str, given: &[String]) -> Answered {
        let key = format!("ql:r:{jid}");
        let Some(stored) = self.hget(&key, "tags") else {
            return refuse(format!("Tag(): Job {jid} does not exist"));
        };
        let mut tags = names(&stored);
        for tag in given {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
        }
        self.hset(&key, &[("tags", &stored_list(&tags))]);
        Ok(Names(tags))
    }

    fn recur_untag(&mut self, jid: &str, given: &[String]) -> Answered {
        let key = format!("ql:r:{jid}");
        let Some(stored) = self.hget(&key, "tags") else {
            return refuse(format!("Untag(): Job {jid} does not exist"));
        };
        let mut tags = names(&stored);
        tags.retain(|tag| !given.contains(tag));
        self.hset(&key, &[("tags", &stored_list(&tags))]);
        Ok(Names(tags))
    }
}

// Own commands, as far as random calls use them.
impl Model {
    fn guard(&mut self, command: &str, words: &[String]) -> Answered {
        match command {
            "guard.put" => Ok(self.guard_put(words)),
            "guard.requeue" => Ok(self.guard_requeue(words)),
            "guard.cancel" => Ok(self.guard_cancel(words)),
            "guard.depends" => Ok(self.guard_depends(words)),
            "guard.pause" => {
                let note: Value = serde_json::from_str(&words[1]).unwrap_or_else(|_| json!({}));
                let end = number(&words[0]);
                let pause = json!({
                    "since": self.now,
                    "until": end,
                    "reason": note["reason"],
                    "by": note["by"],
                });
                for queue in &words[2..] {
                    self.sadd("ql:paused_queues", queue);
                    self.hset("ql:pauses", &[(queue, &pause.to_string())]);
                }
                Ok(Nil)
            }
            other => panic!("the model does not know `{other}`"),
        }
    }

    fn note(&mut self, jid: &str, note: &str) {
        if !note.is_empty() {
            self.append(jid, format!("[{},\"cli\",{note}]", self.when()));
        }
    }

    /// Whether a dependency on `wanted` would close a cycle.
    fn closes_a_cycle(&self, jid: &str, wanted: &[String]) -> bool {
        let mut reached: Vec<String> = wanted.to_vec();
        let mut at = 0;
        while at < reached.len() {
            if reached[at] == jid {
                return true;
            }
            for name in self.keys.set(&dependencies(&reached[at])) {
                if !reached.contains(&name) {
                    reached.push(name);
                }
            }
            at += 1;
        }
        false
    }

    fn judge_dependencies(
        &self,
        jid: &str,
        wanted: &[String],
        missing_too: bool,
    ) -> Result<Vec<String>, Row> {
        if wanted.iter().any(|name| name == jid) {
            return Err(self.outcome("cycle", jid, vec![jid.into()]));
        }
        if self.closes_a_cycle(jid, wanted) {
            return Err(self.outcome("cycle", jid, Vec::new()));
        }
        let missing: Vec<String> = wanted
            .iter()
            .filter(|name| !self.exists(name))
            .cloned()
            .collect();
        if !missing.is_empty() && !missing_too {
            return Err(self.outcome("missing_dependency", jid, missing));
        }
        let open = self.open(jid, wanted);
        Ok(wanted
            .iter()
            .filter(|name| !open.contains(name))
            .cloned()
            .collect())
    }

    fn outcome(&self, outcome: &str, jid: &str, details: Vec<String>) -> Row {
        let mark = match outcome {
            "done" => String::new(),
            _ if self.exists(jid) => self.mark(jid),
            _ => String::new(),
        };
        let mut row = vec![Some(outcome.to_owned()), Some(mark)];
        row.extend(details.into_iter().map(Some));
        row
    }

    fn guard_put(&mut self, words: &[String]) -> Answer {
        let policy: Value = serde_json::from_str(&words[0]).expect("a policy");
        let me = policy["me"].as_str().unwrap_or("");
        let mut rows = Vec::new();
        let mut at = 1;
        while at < words.len() {
            let count: usize = words[at].parse().expect("a count");
            let of = &words[at + 1..at + 1 + count];
            at += 1 + count;
            let (queue, jid) = (&of[0], &of[1]);
            let options = options(&of[5..]);
            let wanted = options
                .get("depends")
                .map_or_else(Vec::new, |json| names(json));
            if self.exists(jid) && policy["replace"] != json!(true) {
                rows.push(self.outcome("exists", jid, self.times(jid)));
                continue;
            }
            let met =
                match self.judge_dependencies(jid, &wanted, policy["missing"] == json!("allow")) {
                    Ok(met) => met,
                    Err(row) => {
                        rows.push(row);
                        continue;
                    }
                };
            let delay = match options.get("at") {
                Some(at) => number(at).unwrap() - self.now,
                None => number(&of[4]).unwrap(),
            };
            self.place(me, queue, jid, &of[2], &of[3], delay, &options);
            self.note(jid, options.get("note").copied().unwrap_or(""));
            let mut details = vec![self.state(jid)];
            details.extend(met);
            rows.push(self.outcome("done", jid, details));
        }
        Rows(rows)
    }

    /// The time of a job's first history entry and of its newest `put`.
    fn times(&self, jid: &str) -> Vec<String> {
        let entries: Vec<Value> = self
            .keys
            .list(&history(jid))
            .iter()
            .map(|entry| serde_json::from_str(entry).expect("an entry"))
            .collect();
        let put = entries.iter().rev().find(|entry| entry[1] == "put");
        let when =
            |entry: Option<&Value>| entry.map_or(String::new(), |entry| entry[0].to_string());
        vec![when(entries.first()), when(put)]
    }

    fn guard_requeue(&mut self, words: &[String]) -> Answer {
        let policy: Value = serde_json::from_str(&words[0]).expect("options");
        let from: Vec<String> = match policy["from"].as_array() {
            Some(states) => states
                .iter()
                .map(|state| state.as_str().unwrap().to_owned())
                .collect(),
            None => vec!["failed".into()],
        };
        let mut rows = Vec::new();
        for item in words[2..].chunks(3) {
            let (jid, mark, due) = (&item[0], &item[1], number(&item[2]));
            let state = self.state(jid);
            if !self.exists(jid) {
                rows.push(self.outcome("gone", jid, Vec::new()));
                continue;
            }
            if !from.contains(&state) || !(mark.is_empty() || *mark == self.mark(jid)) {
                rows.push(self.outcome("state_changed", jid, Vec::new()));
                continue;
            }
            let own = match state.as_str() {
                "complete" => {
                    let puts = self.keys.list(&history(jid)).into_iter().rev();
                    let mut puts = puts.map(|entry| serde_json::from_str::<Value>(&entry).unwrap());
                    let put = puts.find(|entry| entry[1] == "put");
                    put.and_then(|entry| Some(entry[2]["q"].as_str()?.to_owned()))
                }
                _ => Some(self.text(jid, "queue")),
            };
            let Some(queue) = policy["to"].as_str().map(str::to_owned).or(own) else {
                rows.push(self.outcome("invalid", jid, Vec::new()));
                continue;
            };
            self.put_again("", &queue, jid);
            if let Some(priority) = policy["priority"].as_f64() {
                self.hset(&job(jid), &[("priority", &g17(priority))]);
            }
            if policy["keep"] != json!(true) {
                let remaining = g17(self.field_number(jid, "retries").floor());
                self.hset(&job(jid), &[("remaining", &remaining)]);
            }
            self.settle(&queue, jid, due.filter(|due| *due > self.now));
            self.note(jid, &words[1]);
            rows.push(self.outcome("done", jid, vec![self.state(jid), queue]));
        }
        Rows(rows)
    }

    fn waiting_for(&self, jid: &str) -> Vec<String> {
        self.keys.set(&dependents(jid)).into_iter().collect()
    }

    /// All direct and indirect dependents of a job.
    fn tree(&self, jid: &str) -> Vec<String> {
        let mut tree = self.waiting_for(jid);
        let mut at = 0;
        while at < tree.len() {
            for name in self.waiting_for(&tree[at]) {
                if !tree.contains(&name) && name != jid {
                    tree.push(name);
                }
            }
            at += 1;
        }
        tree.retain(|name| name != jid);
        tree
    }

    /// Only the outcomes; the keys show which jobs are cascaded.
    fn guard_cancel(&mut self, words: &[String]) -> Answer {
        let policy = words[0].as_str();
        let items: Vec<(&String, &String)> = words[1..]
            .chunks(2)
            .map(|item| (&item[0], &item[1]))
            .collect();
        let fits = |model: &Model, jid: &String, mark: &String| {
            mark.is_empty() || *mark == model.mark(jid)
        };
        // One of its mentions has an outdated mark.
        let pinned: Vec<String> = items
            .iter()
            .filter(|(jid, mark)| self.exists(jid) && !fits(self, jid, mark))
            .map(|(jid, _)| jid.to_string())
            .collect();
        let mut going: Vec<String> = Vec::new();
        for (jid, mark) in &items {
            if self.exists(jid)
                && self.state(jid) != "complete"
                && fits(self, jid, mark)
                && !pinned.contains(jid)
            {
                going.push(jid.to_string());
            }
        }
        match policy {
            "cancel" => {
                going.retain(|jid| self.tree(jid).iter().all(|below| !pinned.contains(below)));
                for jid in going.clone() {
                    going.extend(self.tree(&jid));
                }
            }
            "refuse" => loop {
                let before = going.len();
                let still = going.clone();
                going.retain(|jid| {
                    self.waiting_for(jid)
                        .iter()
                        .all(|name| still.contains(name))
                });
                if going.len() == before {
                    break;
                }
            },
            _ => {}
        }
        let mut rows = Vec::new();
        for (jid, mark) in &items {
            let outcome = if going.contains(jid) {
                "done"
            } else if !self.exists(jid) {
                "gone"
            } else if !fits(self, jid, mark) {
                "state_changed"
            } else if self.state(jid) == "complete" {
                "complete"
            } else if pinned.contains(jid) {
                "state_changed"
            } else {
                "has_dependents"
            };
            rows.push(self.outcome(outcome, jid, Vec::new()));
        }
        going.sort();
        going.dedup();
        let mut released = Vec::new();
        for jid in &going {
            for name in self.waiting_for(jid) {
                self.unlink(&name, jid);
                if !going.contains(&name) {
                    released.push(name);
                }
            }
        }
        for jid in &going {
            self.cancel_one(jid);
        }
        released.sort();
        released.dedup();
        for jid in released {
            if !self.blocked(&jid) {
                self.free(&jid, false);
            }
        }
        Rows(rows)
    }

    fn guard_depends(&mut self, words: &[String]) -> Answer {
        let (jid, mark, note) = (&words[0], &words[1], &words[2]);
        let mut wanted: Vec<String> = Vec::new();
        for name in &words[3..] {
            if !wanted.contains(name) {
                wanted.push(name.clone());
            }
        }
        if !self.exists(jid) {
            return Rows(vec![self.outcome("gone", jid, Vec::new())]);
        }
        if self.state(jid) != "depends" || !(mark.is_empty() || *mark == self.mark(jid)) {
            return Rows(vec![self.outcome("state_changed", jid, Vec::new())]);
        }
        let met = match self.judge_dependencies(jid, &wanted, false) {
            Ok(met) => met,
            Err(row) => return Rows(vec![row]),
        };
        for name in self.open(jid, &wanted) {
            self.link(jid, &name);
        }
        self.note(jid, note);
        Rows(vec![self.outcome("done", jid, met)])
    }
}

/// One row of a reply of `guard.*`.
pub(crate) type Row = Vec<Option<String>>;
