//! No false alarm: a check finds nothing while other clients write. Each verdict is about entries
//! that were read a moment ago, so that many have moved by then.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use qless::internals::finding::{FindingId, Severity};
use qless::internals::verdict::{FindingRepairState, Verdict};
use redis::Value;

use crate::support::check_calls::{COMPANIONS, NAMES};
use crate::support::client::Client;
use crate::support::random::{self, Draw};
use crate::support::redis::Redis;
use crate::support::traffic::{Actor, QUEUES, run_bulk_commands};

/// The number of verdicts in `make test`; `make soak` asks for twelve times as many.
const VERDICTS: u64 = 12_000;

/// The number of calls of other clients at least.
const CALLS: u64 = 2_000;

/// Requests verdicts.
struct Verifier<'a> {
    client: Client,
    connection: redis::Connection,
    draw: Draw,
    asked: &'a AtomicU64,
    kinds: BTreeMap<String, u64>,
    reported: BTreeMap<String, u64>,
    faults: &'a Mutex<Vec<String>>,
}

fn texts(value: Value) -> Vec<Vec<u8>> {
    redis::from_redis_value(value).unwrap_or_default()
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Verifier<'_> {
    fn ask(&mut self, words: &[&[u8]]) -> Value {
        let mut command = redis::cmd(&shown(words[0]));
        command.arg(&words[1..]);
        command.query(&mut self.connection).unwrap()
    }

    fn list(&mut self, words: &[&str]) -> Vec<Vec<u8>> {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let reply = self.ask(&words);
        texts(reply)
    }

    /// A random key, and its members.
    fn candidates(&mut self) -> (String, String, Vec<Vec<u8>>) {
        let part = self
            .draw
            .of(&["work", "locks", "scheduled", "depends", "recur"]);
        let queue = self.draw.of(&QUEUES);
        let some = |kind: &str, name: &str, items| (kind.to_owned(), name.to_owned(), items);
        match self.draw.below(16) {
            0..6 => {
                let keys = self.keys("ql:j:*", "ql:j:");
                let companion =
                    |jid: &Vec<u8>| COMPANIONS.iter().any(|end| jid.ends_with(end.as_bytes()));
                let jids = keys.into_iter().filter(|jid| !companion(jid)).collect();
                some("job", "", jids)
            }
            6..10 => {
                let members = self.list(&["ZRANGE", &format!("ql:q:{queue}-{part}"), "0", "-1"]);
                some(part, queue, members)
            }
            10 => {
                let keys = self.keys("ql:w:*", "ql:w:");
                let worker = keys.first().map(|name| shown(name)).unwrap_or_default();
                let members = self.list(&["ZRANGE", &format!("ql:w:{worker}"), "0", "-1"]);
                let worker = worker.trim_end_matches(":jobs").to_owned();
                // The name of a worker may end with the suffix of its key.
                let worker = match worker.as_str() {
                    "w-4" => "w-4:jobs",
                    other => other,
                };
                some("worker", worker, members)
            }
            11 => {
                let groups = self.list(&["SMEMBERS", "ql:failures"]);
                let group = groups.first().map(|name| shown(name)).unwrap_or_default();
                let members = self.list(&["LRANGE", &format!("ql:f:{group}"), "0", "-1"]);
                some("group", &group, members)
            }
            12 => {
                let tags = self.list(&["ZRANGE", "ql:tags", "0", "-1"]);
                let at = self.draw.below(tags.len() as u64) as usize;
                let tag = tags.get(at).map(|name| shown(name)).unwrap_or_default();
                let members = self.list(&["ZRANGE", &format!("ql:t:{tag}"), "0", "-1"]);
                some("tag", &tag, members)
            }
            13 => {
                let (kind, key) = self
                    .draw
                    .of(&[("completed", "ql:completed"), ("tracked", "ql:tracked")]);
                let members = self.list(&["ZRANGE", key, "0", "-1"]);
                some(kind, "", members)
            }
            14 => {
                let name = self.draw.of(&NAMES);
                let key = format!("ql:{name}");
                let members = match name {
                    "failures" | "paused_queues" => self.list(&["SMEMBERS", &key]),
                    "config" => self.list(&["HKEYS", &key]),
                    _ => self.list(&["ZRANGE", &key, "0", "-1"]),
                };
                some("names", name, members)
            }
            _ if self.draw.below(3) == 0 => {
                let templates = self.keys("ql:r:*", "ql:r:");
                some("recurring", "", templates)
            }
            _ => {
                let keys = self.keys("ql:*", "ql:");
                some("key", "", keys)
            }
        }
    }

    /// Keys without their prefix.
    fn keys(&mut self, pattern: &str, front: &str) -> Vec<Vec<u8>> {
        let keys = self.list(&["KEYS", pattern]);
        keys.iter().map(|key| key[front.len()..].to_vec()).collect()
    }

    /// Requests verdicts until there are enough.
    fn verify_all(&mut self, enough: &AtomicBool) {
        while !enough.load(Ordering::Relaxed) {
            let (kind, name, mut items) = self.candidates();
            while items.len() > 600 {
                items.swap_remove(self.draw.below(items.len() as u64) as usize);
            }
            for slice in items.chunks(100) {
                self.slice(&kind, &name, slice);
            }
        }
    }

    fn slice(&mut self, kind: &str, name: &str, items: &[Vec<u8>]) {
        let rows = self.client.verdicts(kind, name, items);
        self.asked.fetch_add(items.len() as u64, Ordering::Relaxed);
        *self.kinds.entry(kind.to_owned()).or_default() += items.len() as u64;
        for verdict in rows {
            *self.reported.entry(verdict.id.to_string()).or_default() += 1;
            if verdict.severity(false, false) > Severity::Info {
                let fault = self.fault(kind, name, &verdict);
                self.faults.lock().unwrap().push(fault);
            }
        }
    }

    /// Describes a false alarm, and the present state of the job.
    fn fault(&mut self, kind: &str, name: &str, verdict: &Verdict) -> String {
        let again = self
            .client
            .verdicts(kind, name, &[verdict.item.as_bytes().to_vec()]);
        let key = [b"ql:j:", verdict.item.as_bytes()].concat();
        let mut reported = format!(
            "{kind} {name}: {} {:?} {:?}\n  asked again: {again:?}\n",
            verdict.id,
            shown(verdict.item.as_bytes()),
            shown(verdict.detail.as_bytes()),
        );
        for (command, end) in [
            ("HGETALL", ""),
            ("LRANGE", "-history"),
            ("SMEMBERS", "-dependencies"),
            ("SMEMBERS", "-dependents"),
        ] {
            let key = [&key, end.as_bytes()].concat();
            let mut words: Vec<&[u8]> = vec![command.as_bytes(), &key];
            if command == "LRANGE" {
                words.extend([&b"0"[..], b"-1"]);
            }
            let reply = texts(self.ask(&words));
            let reply: Vec<String> = reply.iter().map(|text| shown(text)).collect();
            reported.push_str(&format!("  {command} {}: {reply:?}\n", shown(&key)));
        }
        reported
    }
}

impl Client {
    /// Requests verdicts.
    fn verdicts(&mut self, kind: &str, name: &str, items: &[Vec<u8>]) -> Vec<Verdict> {
        let mut words: Vec<&[u8]> = vec![b"check.slice", b"look", b"", b"", kind.as_bytes()];
        words.push(name.as_bytes());
        words.extend(items.iter().map(Vec::as_slice));
        let reply = self
            .call(&words)
            .unwrap_or_else(|error| panic!("{kind} {name}: {error}"));
        let mut rows: Vec<Vec<Value>> = redis::from_redis_value(reply).unwrap();
        let bytes = |value: &Value| -> Vec<u8> { redis::from_redis_value(value.clone()).unwrap() };
        // The number of items that were judged, and jobs to be judged one by one.
        let count = rows.pop_if(|row| bytes(&row[0])[0].is_ascii_digit());
        let others: Vec<Vec<u8>> = count.iter().flatten().skip(1).map(bytes).collect();
        let mut others = if others.is_empty() {
            Vec::new()
        } else {
            self.verdicts("group", name, &others)
        };
        let rows = rows.into_iter().map(|row| {
            let text = |at: usize| bytes(&row[at]);
            let id = FindingId::from_name(&shown(&text(0))).expect("a finding of the table");
            Verdict {
                outcome: match text(2).as_slice() {
                    b"found" => FindingRepairState::Repairable,
                    b"decide" => FindingRepairState::NeedsOnly,
                    _ => FindingRepairState::Report,
                },
                ..Verdict::report_only(id, text(1).into(), text(3).into())
            }
        });
        others.extend(rows);
        others
    }
}

/// Runs the check of the binary until there are enough verdicts. Returns how often.
fn check(redis: &Redis, enough: &AtomicBool, faults: &Mutex<Vec<String>>) -> u64 {
    let mut runs = 0;
    while !enough.load(Ordering::Relaxed) || runs < 3 {
        let ran = redis.qless().run("check --fail-on warn");
        if ran.code() != 0 {
            let fault = format!("exit {}\n{}{}", ran.code(), ran.stdout(), ran.stderr());
            faults.lock().unwrap().push(fault);
            break;
        }
        runs += 1;
    }
    runs
}

#[test]
fn random_traffic_causes_no_false_alarm() {
    random::rounds(check_under_traffic);
}

fn check_under_traffic(seed: u64) {
    let redis = Redis::start();
    let (stop, enough) = (AtomicBool::new(false), AtomicBool::new(false));
    let (done, asked) = (AtomicU64::new(0), AtomicU64::new(0));
    let faults = Mutex::new(Vec::new());
    let target = if random::soaking() {
        12 * VERDICTS
    } else {
        VERDICTS
    };
    let begun = Instant::now();
    let deadline = begun + Duration::from_secs(120 + target / 1000);
    let (reported, kinds, runs, verbs) = thread::scope(|scope| {
        for number in 0..2 {
            let mut actor = Actor::new(&redis, seed + number, &stop, &done);
            scope.spawn(move || actor.write());
            let mut actor = Actor::new(&redis, seed + 10 + number, &stop, &done);
            scope.spawn(move || actor.work());
        }
        let verbs = scope.spawn(|| run_bulk_commands(&redis, &stop));
        let checks = scope.spawn(|| check(&redis, &enough, &faults));
        let mut verifier = Verifier {
            client: Client::new(&redis),
            connection: redis.connection(),
            draw: Draw::new(seed + 42),
            asked: &asked,
            kinds: BTreeMap::new(),
            reported: BTreeMap::new(),
            faults: &faults,
        };
        let enough_verdicts = &enough;
        let verifications = scope.spawn(move || {
            verifier.verify_all(enough_verdicts);
            (verifier.reported, verifier.kinds)
        });
        while (asked.load(Ordering::Relaxed) < target || done.load(Ordering::Relaxed) <= CALLS)
            && Instant::now() < deadline
            && faults.lock().unwrap().is_empty()
            && !verifications.is_finished()
        {
            thread::sleep(Duration::from_millis(5));
        }
        enough.store(true, Ordering::Relaxed);
        let runs = checks.join();
        stop.store(true, Ordering::Relaxed);
        let (reported, kinds) = verifications.join().expect("the looks");
        (
            reported,
            kinds,
            runs.expect("the checks"),
            verbs.join().expect("the verbs"),
        )
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let (asked, done) = (asked.into_inner(), done.into_inner());
    let story = format!(
        "{asked} verdicts, {runs} checks, {verbs} verbs, {done} calls in {:?}; as information {reported:?}; asked {kinds:?}",
        begun.elapsed()
    );
    println!("{story}");
    assert!(asked >= target, "too slow: {story}");
    // Otherwise there was too little traffic.
    assert!(done > CALLS && runs > 2, "{story}");
}
