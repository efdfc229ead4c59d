//! A database under random calls, and the ledger of what was accepted. After each call: documented
//! refusals change nothing, no accepted payload is lost (11), fences grow (12), and the invariants hold.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::invariants::{self, Excuses, holders, maximum, throttles_of, violations};
use crate::check::invariants::Excuses as CoreExcuses;
use crate::support::check_calls::{describe_all, repair, verify_all};
use crate::support::clean::alarms;
use crate::support::core::{Core, Dump, Key, Reply, short};

/// Parts of the texts with which the core refuses correct calls.
const REFUSALS: [&str; 20] = [
    "does not exist",
    "not currently running: ",
    "has been handed out to another worker: ",
    "running in another queue: ",
    "running with another worker: ",
    "has been given to another worker: ",
    "given out to another worker: ",
    "not in the depends state: ",
    " not running",
    "Bury(): Job ",
    " is a dependency of ",
    " precedes ",
    " closes a cycle: ",
    "cannot be used without",
    "Arg \"key\" longer than",
    "Arg \"dup\" must be",
    "Arg \"until\" must be",
    "Arg \"ttl\" not a positive number",
    "Arg \"score\" not a number",
    "Arg \"backoff\" not a policy",
];

/// The tokens `#17` of payloads, each with the jobs that carry it.
type Tokens = BTreeMap<String, BTreeSet<String>>;

/// A database under test.
pub(crate) struct Ledger<'a> {
    core: &'a mut Core,
    /// All keys after the last call.
    pub(crate) dump: Dump,
    tokens: Tokens,
    pub(crate) now: f64,
    pub(crate) excuses: Excuses,
    /// The last fence of each lane and throttle.
    fences: BTreeMap<String, f64>,
    /// The calls made, for the report.
    calls: Vec<String>,
    /// Whether a call added a dependency, so that a cycle may remain.
    pub(crate) depended: bool,
    /// Whether a setting limits what one pop returns beside its count.
    pub(crate) limited: bool,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(core: &'a mut Core, excuses: Excuses) -> Ledger<'a> {
        core.flush();
        Ledger {
            core,
            dump: Dump::default(),
            tokens: Tokens::new(),
            now: 1000.0,
            excuses,
            fences: BTreeMap::new(),
            calls: Vec::new(),
            depended: false,
            limited: false,
        }
    }

    /// The stored jobs: jid and fields.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, String>)> {
        jobs(&self.dump)
    }

    /// What `check` reports now.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        let excuses = CoreExcuses {
            reference: true,
            unrecurred: true,
            ..CoreExcuses::default()
        };
        let found = alarms(verify_all(self.core, self.now, ""), excuses);
        if found.is_empty() {
            Ok(())
        } else {
            Err(self.report(&describe_all(&found)))
        }
    }

    /// Repairs what `check` finds. A second check finds nothing that it would repair.
    pub(crate) fn repair(&mut self) -> Result<(), String> {
        let repaired = repair(self.core, self.now, "");
        self.dump = self.core.dump();
        let mut left = verify_all(self.core, self.now, "");
        left.retain(|one| one.outcome == "found");
        if left.is_empty() {
            Ok(())
        } else {
            Err(self.report(&[describe_all(&repaired), describe_all(&left)].concat()))
        }
    }

    /// The calls made so far, and what is wrong.
    pub(crate) fn report(&self, wrong: &[String]) -> String {
        let calls = self.calls.join("\n    ");
        format!("\n    {calls}\n{}", wrong.join("\n"))
    }

    /// Makes one call, and verifies what it left. `line` has no time.
    pub(crate) fn call(&mut self, line: &str) -> Result<Option<Reply>, String> {
        let words = self.words(line);
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let reply = self.core.call(&argv);
        self.judge(&words, reply)
    }

    /// Makes one call through another script on the same server.
    pub(crate) fn call_through(
        &mut self,
        other: &mut Core,
        line: &str,
    ) -> Result<Option<Reply>, String> {
        let words = self.words(line);
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let reply = other.call(&argv);
        let last = self.calls.len() - 1;
        self.calls[last].push_str("  -- by the foreign script");
        self.judge(&words, reply)
    }

    fn words(&mut self, line: &str) -> Vec<String> {
        let mut words = crate::support::core::words(line);
        words.insert(1, format!("{}", self.now));
        self.calls.push(words.join(" "));
        words
    }

    fn judge(
        &mut self,
        words: &[String],
        reply: Result<Reply, String>,
    ) -> Result<Option<Reply>, String> {
        let before = std::mem::replace(&mut self.dump, self.core.dump());
        let mut wrong = Vec::new();
        let reply = match reply {
            Err(error) => {
                let text = short(&error);
                let documented = text.starts_with("user_script:N: ")
                    && REFUSALS.iter().any(|part| text.contains(part));
                if !documented {
                    wrong.push(format!("not a documented refusal: {text}"));
                }
                if before != self.dump {
                    wrong.push(format!("refused, and keys changed: {text}"));
                }
                None
            }
            Ok(reply) => Some(reply),
        };
        let foreign = self.excuses.foreign;
        self.keep_excuses(words, &before, reply.is_some());
        wrong.extend(violations(&self.dump, &self.excuses));
        self.excuses.holders = holders(&self.dump);
        let tokens = tokens(&self.dump);
        if let Some(reply) = &reply
            && !foreign
        {
            let losers = self.may_lose(words, reply, &before);
            for (token, carriers) in &self.tokens {
                if !tokens.contains_key(token) && carriers.is_disjoint(&losers) {
                    wrong.push(format!("11: the payload {token} of {carriers:?} is lost"));
                }
            }
            wrong.extend(accepted(words, reply, &before, &tokens));
            for queue_reply in grants(words, reply) {
                wrong.extend(self.fence(&queue_reply));
            }
            if words[0] == "pop" && !self.limited {
                wrong.extend(self.short_pop(words, reply, &before));
            }
        }
        self.tokens = tokens;
        if wrong.is_empty() {
            Ok(reply)
        } else {
            Err(self.report(&wrong))
        }
    }

    /// Notes what the call excuses, and forgets what no longer holds.
    fn keep_excuses(&mut self, words: &[String], before: &Dump, done: bool) {
        let command = words[0].as_str();
        if done && command == "throttle.release" {
            for jid in &words[3..] {
                if state(before, jid) == "running" {
                    self.excuses
                        .released
                        .insert((words[2].clone(), jid.clone()));
                }
            }
        }
        let dump = &self.dump;
        let held = |id: &str, jid: &str| dump.score(&format!("ql:th:{id}-locks"), jid).is_some();
        self.excuses
            .released
            .retain(|(id, jid)| state(dump, jid) == "running" && !held(id, jid));
        let data = match command {
            "heartbeat" => words.get(4),
            "fail" => words.get(6),
            _ => None,
        };
        if done && data.is_some() {
            self.excuses.replaced.insert(words[2].clone());
        }
        if command == "guard.heartbeat" || command == "guard.finish" || command == "guard.turn" {
            let named = words[2..].iter().filter(|word| exists(before, word));
            self.excuses.replaced.extend(named.cloned());
        }
        self.excuses.replaced.retain(|jid| {
            let key = format!("ql:j:{jid}-payloads");
            dump.has(&key) && before.zset(&key) == dump.zset(&key)
        });
    }

    /// The jobs whose payloads this call may end: completed, canceled, or replaced by their client.
    fn may_lose(&self, words: &[String], reply: &Reply, before: &Dump) -> BTreeSet<String> {
        let one = |jid: &str| BTreeSet::from([jid.to_owned()]);
        match words[0].as_str() {
            "complete" => one(&words[2]),
            "heartbeat" if words.len() > 4 => one(&words[2]),
            "fail" if words.len() > 6 => one(&words[2]),
            "put" | "requeue" => {
                let own = &words[4];
                let merging = option(words, 8, "dup") == Some("merge");
                let field = |name| before.field(&format!("ql:j:{own}"), name);
                match field("state") {
                    Some(_) if merging && field("dup").as_deref() == Some("merge") => {
                        BTreeSet::new()
                    }
                    Some(_) => one(own),
                    None if option(words, 8, "dup") == Some("replace") => one(reply.text()),
                    None => BTreeSet::new(),
                }
            }
            "cancel" | "guard.cancel" => jobs(before)
                .map(|(jid, _)| jid.to_owned())
                .filter(|jid| !exists(&self.dump, jid))
                .collect(),
            "guard.put" => replaced(&words[3..], before),
            "guard.finish" => ended(&words[3..]),
            "guard.turn" => {
                let queues: usize = words[4].parse().expect("a number of words");
                ended(&words[5 + queues..])
            }
            _ => BTreeSet::new(),
        }
    }

    /// 12, and which jobs have a fence.
    fn fence(&mut self, job: &Value) -> Vec<String> {
        let jid = job["jid"].as_str().unwrap_or_default();
        let hash = self.dump.hash(&format!("ql:j:{jid}"));
        let lane = hash.get("key").filter(|lane| !lane.is_empty());
        let lane = lane.map(|lane| format!("lane {lane}"));
        let ids = throttles_of(&hash)
            .into_iter()
            .map(|id| format!("throttle {id}"));
        let names: Vec<String> = lane.into_iter().chain(ids).collect();
        let mut wrong = Vec::new();
        match job["fence"].as_f64() {
            None if names.is_empty() => {}
            None => wrong.push(format!("12: `{jid}` has {names:?} and no fence: {job}")),
            Some(_) if names.is_empty() => {
                wrong.push(format!("12: `{jid}` has a fence and no lane or throttle"));
            }
            Some(fence) => {
                for name in names {
                    let last = self.fences.insert(name.clone(), fence);
                    if last.is_some_and(|last| last >= fence) {
                        wrong.push(format!("12: the fence of {name} is {fence} after {last:?}"));
                    }
                }
            }
        }
        wrong
    }

    /// 7.3: a pop that returns fewer jobs than asked for leaves no runnable job, except those that
    /// its re-check returned to work.
    fn short_pop(&self, words: &[String], reply: &Reply, before: &Dump) -> Vec<String> {
        let queue = &words[2];
        let count: usize = words[4].parse().expect("a count");
        let popped = reply.json().as_array().map_or(0, Vec::len);
        if popped >= count || before.set("ql:paused_queues").contains(queue) {
            return Vec::new();
        }
        let left = self.dump.zset(&format!("ql:q:{queue}-work"));
        let left = left
            .keys()
            .filter(|jid| state(before, jid) != "throttled")
            .map(|jid| format!("7.3: {popped} of {count} jobs were popped, and `{jid}` is left"));
        left.chain(self.kept_back(queue, before)).collect()
    }

    /// 8: after a pop that returned fewer jobs than asked for, no job of its queue is held whose
    /// throttles have a free slot, except one that the pop itself gave to another held job. One pop
    /// checks ten held jobs, and in a second divisible by ten it does so before it frees slots of lost
    /// locks: the next pop finds those.
    fn kept_back(&self, queue: &str, before: &Dump) -> Vec<String> {
        let held = self.dump.zset(&format!("ql:q:{queue}-throttled"));
        if held.len() > 10 || self.now.floor() % 10.0 == 0.0 {
            return Vec::new();
        }
        let free = |id: &String| {
            let Some(maximum) = maximum(&self.dump, id) else {
                return true;
            };
            let woken = self.jobs().filter(|(jid, hash)| {
                let woken = hash["state"] == "waiting" && state(before, jid) == "throttled";
                woken && throttles_of(hash).contains(id)
            });
            let taken = self.dump.zset(&format!("ql:th:{id}-locks")).len();
            maximum > taken + woken.count()
        };
        held.keys()
            .filter(|jid| {
                let hash = self.dump.hash(&format!("ql:j:{jid}"));
                throttles_of(&hash).iter().all(free)
            })
            .map(|jid| format!("8: `{jid}` is held after the pop, and its throttles are free"))
            .collect()
    }

    /// Runs everything that can run to its end. Nothing may remain held.
    pub(crate) fn drain(&mut self) -> Result<(), String> {
        let queues: Vec<String> = ["a", "b"].map(str::to_owned).to_vec();
        self.call(&format!("unpause {}", queues.join(" ")))?;
        let templates = self.dump.0.keys();
        let templates: Vec<String> = templates
            .filter_map(|name| name.strip_prefix("ql:r:").map(str::to_owned))
            .collect();
        for jid in templates {
            self.call(&format!("unrecur {jid}"))?;
        }
        let ids: BTreeSet<String> = self
            .jobs()
            .flat_map(|(_, hash)| throttles_of(hash))
            .collect();
        for id in ids {
            if maximum(&self.dump, &id) == Some(0) {
                self.call(&format!("throttle.set {id} 1"))?;
            }
        }
        let mut idle = 0;
        while idle < 8 && self.open().next().is_some() {
            let mut popped = 0;
            for group in self.dump.set("ql:failures") {
                self.call(&format!("unfail a '{group}' 100"))?;
                popped += 1;
            }
            for queue in &queues {
                let reply = self.call(&format!("pop {queue} drain 50"))?;
                let jobs = reply.map_or(Value::Null, |reply| reply.json());
                for job in jobs.as_array().into_iter().flatten() {
                    let jid = job["jid"].as_str().unwrap_or_default();
                    self.call(&format!("complete {jid} drain {queue} {{}}"))?;
                    popped += 1;
                }
            }
            if popped > 0 {
                idle = 0;
                continue;
            }
            idle += 1;
            // The start of a second divisible by ten, after all locks and soon after all delays.
            let wait = if idle < 4 { 200.0 } else { 30_000.0 };
            self.now = ((self.now + wait) / 10.0).ceil() * 10.0;
        }
        let mut wrong: Vec<String> = self
            .open()
            .filter(|(_, hash)| !(self.depended && hash["state"] == "depends"))
            .map(|(jid, hash)| format!("drain: `{jid}` remains {}", hash["state"]))
            .collect();
        if self.open().next().is_none() && !self.excuses.foreign {
            wrong.extend(invariants::leftovers(&self.dump));
        }
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(self.report(&wrong))
        }
    }

    fn open(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, String>)> {
        self.jobs()
            .filter(|(_, hash)| hash.get("state").is_some_and(|state| state != "complete"))
    }
}

fn jobs(dump: &Dump) -> impl Iterator<Item = (&str, &BTreeMap<String, String>)> {
    dump.0.iter().filter_map(|(name, key)| match key {
        Key::Hash(hash) => Some((name.strip_prefix("ql:j:")?, hash)),
        _ => None,
    })
}

fn exists(dump: &Dump, jid: &str) -> bool {
    dump.has(&format!("ql:j:{jid}"))
}

fn state(dump: &Dump, jid: &str) -> String {
    dump.field(&format!("ql:j:{jid}"), "state")
        .unwrap_or_default()
}

/// The value of an option among pairs of words.
pub(crate) fn option<'w>(words: &'w [String], from: usize, name: &str) -> Option<&'w str> {
    let mut pairs = words.get(from..)?.chunks_exact(2);
    let found = pairs.rfind(|pair| pair[0] == name)?;
    Some(&found[1])
}

/// The words of each job in a call for several: their number comes before them.
fn items(words: &[String]) -> Vec<&[String]> {
    let mut items = Vec::new();
    let mut rest = words;
    while let [count, tail @ ..] = rest {
        let count: usize = count.parse().expect("a number of words");
        let (item, after) = tail.split_at(count);
        items.push(item);
        rest = after;
    }
    items
}

/// The jobs that the words of `guard.finish` complete, or fail with data.
fn ended(words: &[String]) -> BTreeSet<String> {
    let ended = items(words)
        .into_iter()
        .filter(|job| job[2] == "complete" || job[2] == "fail" && job.len() > 5);
    ended.map(|job| job[0].clone()).collect()
}

/// The jobs of the lanes in which the words of `guard.put` replace one.
fn replaced(words: &[String], before: &Dump) -> BTreeSet<String> {
    let lanes = items(words)
        .into_iter()
        .filter(|item| option(item, 5, "dup") == Some("replace"))
        .filter_map(|item| {
            let key = option(item, 5, "key")?;
            Some(if key.starts_with('/') {
                key.to_owned()
            } else {
                format!("{}/{key}", item[0])
            })
        });
    lanes
        .flat_map(|lane| invariants::lane(before, &lane))
        .collect()
}

/// The jobs in the replies of pops.
fn grants(words: &[String], reply: &Reply) -> Vec<Value> {
    let texts: Vec<&Reply> = match (words[0].as_str(), reply) {
        ("pop", text) => vec![text],
        ("guard.turn", Reply::List(rows)) => rows
            .iter()
            .filter(|row| matches!(row, Reply::Text(_)))
            .collect(),
        _ => Vec::new(),
    };
    texts
        .into_iter()
        .filter_map(|text| text.json().as_array().cloned())
        .flatten()
        .collect()
}

/// Whether the payload of a put is where the reply says.
fn accepted(words: &[String], reply: &Reply, before: &Dump, tokens: &Tokens) -> Vec<String> {
    if words[0] != "put" && words[0] != "requeue" {
        return Vec::new();
    }
    let (own, returned) = (&words[4], reply.text());
    let dup = option(words, 8, "dup").unwrap_or("queue");
    let mut wrong = Vec::new();
    if returned != own {
        if exists(before, own) {
            wrong.push(format!(
                "4: `{own}` exists, and its put answered `{returned}`"
            ));
        }
        if dup == "queue" {
            wrong.push(format!("4: a put without dup answered `{returned}`"));
        }
        if dup == "skip" {
            return wrong;
        }
    }
    for token in tokens_in(&words[6]) {
        let carried = tokens
            .get(&token)
            .is_some_and(|carriers| carriers.contains(returned));
        if !carried {
            wrong.push(format!(
                "11: `{returned}` does not carry the accepted {token}"
            ));
        }
    }
    wrong
}

fn tokens(dump: &Dump) -> Tokens {
    let mut tokens = Tokens::new();
    for (jid, hash) in jobs(dump) {
        if hash.get("state").is_some_and(|state| state == "complete") {
            continue;
        }
        let mut texts: Vec<&str> = hash.get("data").map(String::as_str).into_iter().collect();
        if let Some(Key::Zset(payloads)) = dump.0.get(&format!("ql:j:{jid}-payloads")) {
            texts.extend(payloads.keys().map(String::as_str));
        }
        for token in texts.into_iter().flat_map(tokens_in) {
            tokens.entry(token).or_default().insert(jid.to_owned());
        }
    }
    tokens
}

fn tokens_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in text.split('#').skip(1) {
        let end = part.find(|c: char| !c.is_ascii_digit());
        let digits = &part[..end.unwrap_or(part.len())];
        if !digits.is_empty() {
            found.push(format!("#{digits}"));
        }
    }
    found
}
