//! Mixed traffic for one server from several clients at the same time: one puts jobs, one works on
//! them, one runs bulk commands. A seed decides what each client does next; how they interleave is
//! left to the machine.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::client::Client;
use super::random::Draw;
use super::redis::Redis;

pub const QUEUES: [&str; 4] = ["mail", "images", "a b-work", "größe\n*"];
const TAGS: [&str; 6] = ["eu", "us", "x y", "1", "größe", "*"];
const WORKERS: [&str; 4] = ["w1", "w2", "w 3", "w-4:jobs"];
const GROUPS: [&str; 3] = ["boom", "upload error", "f-1"];

/// How many different jobs are put.
pub const JOBS: u64 = 600;

/// The name of a job; some names are hard to parse.
fn name(number: u64) -> String {
    match number % 40 {
        0 => format!("-j {number}\n"),
        1 => format!("j*[{number}]-work"),
        _ => format!("j{number}"),
    }
}

/// A client that makes calls until it is stopped.
pub struct Actor<'a> {
    client: Client,
    draw: Draw,
    stop: &'a AtomicBool,
    done: &'a AtomicU64,
    templates: u64,
    seed: u64,
}

impl<'a> Actor<'a> {
    pub fn new(redis: &Redis, seed: u64, stop: &'a AtomicBool, done: &'a AtomicU64) -> Actor<'a> {
        Actor {
            client: Client::new(redis),
            draw: Draw::new(seed),
            stop,
            done,
            templates: 0,
            seed,
        }
    }

    /// Makes a call. The core may refuse it with its own message; a call that fails half-way is a
    /// fault.
    fn call(&mut self, words: &[String]) -> bool {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match self.client.call(&words) {
            Ok(_) => {
                self.done.fetch_add(1, Ordering::Relaxed);
                true
            }
            Err(error) => {
                let text = error.to_string();
                let refused = text.contains("(): ") || text.contains("is not currently running");
                assert!(refused, "{words:?} says {text}");
                false
            }
        }
    }

    fn say(&mut self, line: &[&str]) -> bool {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        self.call(&words)
    }

    fn job(&mut self) -> u64 {
        self.draw.below(JOBS)
    }

    fn queue(&mut self) -> &'static str {
        self.draw.of(&QUEUES)
    }

    /// Dependencies that cannot form a cycle.
    fn before(&mut self, job: u64, most: u64) -> String {
        let count = self.draw.below(most + 1);
        let list: Vec<String> = (0..count)
            .map(|_| name(self.draw.below(job.max(1))))
            .filter(|other| *other != name(job))
            .collect();
        serde_json::to_string(&list).unwrap()
    }

    fn tags(&mut self) -> String {
        serde_json::to_string(&self.draw.some(&TAGS, 3)).unwrap()
    }

    fn delay(&mut self) -> &'static str {
        self.draw.of(&["0", "0", "0", "0.02", "0.3", "60"])
    }

    /// The arguments of a put after its name: queue, jid, klass, data, delay, options.
    fn put_words(&mut self, job: u64) -> Vec<String> {
        let data = self
            .draw
            .of(&["{}", "[]", r#"{"a":[1,{"b":null}]}"#, "\"text\"", "17"]);
        let mut words: Vec<String> = [self.queue(), &name(job), "K", data, self.delay()]
            .map(str::to_owned)
            .into();
        let priority = self.draw.of(&["0", "5", "-2.5", "1000000", "0.25"]);
        let retries = self.draw.of(&["0", "1", "3"]);
        for (name, value) in [
            ("priority", priority.to_owned()),
            ("retries", retries.to_owned()),
            ("tags", self.tags()),
            ("depends", self.before(job, 3)),
        ] {
            if self.draw.below(2) == 0 {
                words.extend([name.to_owned(), value]);
            }
        }
        words
    }

    /// Puts jobs and changes them.
    pub fn write(&mut self) {
        while !self.stop.load(Ordering::Relaxed) {
            self.write_once();
        }
    }

    fn write_once(&mut self) {
        let job = self.job();
        let (jid, other) = (name(job), self.job());
        let (queue, tag) = (self.queue(), self.draw.of(&TAGS));
        match self.draw.below(100) {
            0..30 => {
                let verb = self.draw.of(&["put", "put", "put", "requeue"]);
                let mut words = vec![verb.to_owned(), self.draw.of(&WORKERS).to_owned()];
                words.extend(self.put_words(job));
                self.call(&words);
            }
            30..38 => {
                let policy = r#"{"replace":true,"missing":"allow"}"#;
                let mut words = vec!["guard.put".to_owned(), policy.to_owned()];
                for _ in 0..=self.draw.below(4) {
                    let job = self.job();
                    let put = self.put_words(job);
                    words.push(put.len().to_string());
                    words.extend(put);
                }
                self.call(&words);
            }
            38..42 => {
                let verb = self.draw.of(&["add", "remove"]);
                let more = self.draw.of(&TAGS);
                self.say(&["tag", verb, &jid, tag, more, tag]);
            }
            42..46 => {
                let priority = self.draw.of(&["0", "7", "-1", "0.5"]);
                self.say(&["priority", &jid, priority]);
            }
            46..52 => {
                let above = name(self.draw.below(job.max(1)));
                match self.draw.below(4) {
                    0 => self.say(&["depends", &jid, "off", "all"]),
                    1 => self.say(&["depends", &jid, "off", &above]),
                    2 => self.say(&["guard.depends", &jid, "", "", &above]),
                    _ if above != jid => self.say(&["depends", &jid, "on", &above]),
                    _ => false,
                };
            }
            52..60 => {
                let mode = self.draw.of(&["refuse", "cancel", "release"]);
                match self.draw.below(3) {
                    0 => self.say(&["cancel", &jid]),
                    1 => self.say(&["cancel", &jid, &name(other), &jid]),
                    _ => self.say(&["guard.cancel", mode, &jid, "", &name(other), ""]),
                };
            }
            60..64 => {
                let data = self.draw.of(&[r#"{"x":1}"#, "17", "[1]"]);
                self.say(&["log", &jid, "a note", data]);
            }
            64..66 => {
                let verb = self.draw.of(&["track", "untrack"]);
                self.say(&["track", verb, &jid]);
            }
            66..74 => self.recur(queue, tag),
            74..80 => self.configure(queue),
            80..82 => {
                let verb = self.draw.of(&["pause", "unpause", "unpause"]);
                self.say(&[verb, queue]);
            }
            82..84 => {
                let to = self.draw.of(&[r#"{"by":"me"}"#, ""]);
                self.say(&["guard.pause", "", to, queue]);
                self.say(&["unpause", queue]);
            }
            84..88 => {
                let line = self.draw.of(&["peek", "queues", "length", "look.queues"]);
                match line {
                    "peek" => self.say(&["peek", queue, "5"]),
                    _ => self.say(&[line, queue]),
                };
            }
            88..91 => {
                let group = self.draw.of(&GROUPS);
                let count = self.draw.of(&["1", "3", "100"]);
                self.say(&["unfail", queue, group, count]);
            }
            91..96 => {
                let from = r#"{"from":["failed","waiting","scheduled","complete","depends"]}"#;
                let to =
                    r#"{"from":["failed","waiting","running","stalled"],"to":"mail","priority":3}"#;
                let options = self.draw.of(&[from, to]);
                self.say(&[
                    "guard.requeue",
                    options,
                    "",
                    &jid,
                    "",
                    "",
                    &name(other),
                    "",
                    "9e9",
                ]);
            }
            96 => {
                let worker = self.draw.of(&WORKERS);
                self.say(&["worker.deregister", worker]);
            }
            97 => {
                self.say(&["workers"]);
            }
            _ => {
                let state = self
                    .draw
                    .of(&["running", "stalled", "scheduled", "depends"]);
                self.say(&["jobs", state, queue]);
            }
        }
    }

    /// Changes templates. A deleted template never returns under its name, because its jobs still
    /// exist.
    fn recur(&mut self, queue: &str, tag: &str) {
        let jid = |number: u64, seed: u64| format!("r{seed}.{number}");
        let known = self.draw.below(self.templates.max(1));
        let known = jid(known, self.seed);
        let interval = self.draw.of(&["0.1", "0.7", "5"]);
        match self.draw.below(8) {
            0..3 if self.templates < 12 => {
                self.templates += 1;
                let fresh = jid(self.templates, self.seed);
                let tags = self.tags();
                let offset = self.draw.of(&["0", "0.1"]);
                let retries = self.draw.of(&["0", "2"]);
                self.say(&[
                    "recur", queue, &fresh, "K", "{}", "interval", interval, offset, "tags", &tags,
                    "retries", retries, "backlog", "5",
                ]);
            }
            3 => {
                self.say(&["recur.update", &known, "queue", queue, "interval", interval]);
            }
            4 => {
                self.say(&["recur.tag", &known, tag]);
            }
            5 => {
                self.say(&["recur.untag", &known, tag]);
            }
            6 if self.templates > 6 => {
                for number in 1..=self.templates {
                    self.say(&["unrecur", &jid(number, self.seed)]);
                }
                self.seed += 100;
                self.templates = 0;
            }
            _ => {
                self.say(&["recur.get", &known]);
            }
        }
    }

    fn configure(&mut self, queue: &str) {
        let (option, values): (String, &[&str]) = match self.draw.below(8) {
            0 => ("heartbeat".into(), &["0.05", "0.3", "60"]),
            1 => (format!("{queue}-heartbeat"), &["0.02", "1", "60"]),
            2 => ("grace-period".into(), &["0", "0.02", "10"]),
            3 => ("jobs-history-count".into(), &["5", "50", "50000"]),
            4 => ("jobs-history".into(), &["0.1", "5", "604800"]),
            5 => ("max-job-history".into(), &["1", "2", "3", "20", "100"]),
            6 => (format!("{queue}-max-concurrency"), &["1", "5", "0"]),
            _ => ("histogram-history".into(), &["7"]),
        };
        let value = self.draw.of(values);
        match self.draw.below(3) {
            0 => self.say(&["config.unset", &option]),
            _ => self.say(&["config.set", &option, value]),
        };
    }

    /// Pops jobs, and does with them everything a worker can do.
    pub fn work(&mut self) {
        let mut held: Vec<(String, &str, &str)> = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            let (queue, worker) = (self.queue(), self.draw.of(&WORKERS));
            let count = 1 + self.draw.below(8) as u32;
            let popped = self.client.pop(queue, worker, count);
            self.done.fetch_add(1, Ordering::Relaxed);
            held.extend(popped.into_iter().map(|jid| (jid, queue, worker)));
            for _ in 0..self.draw.below(u64::from(count)) {
                if held.is_empty() {
                    break;
                }
                let at = self.draw.below(held.len() as u64) as usize;
                let (jid, queue, worker) = held[at].clone();
                if self.finish(&jid, queue, worker) {
                    held.swap_remove(at);
                }
            }
            // The locks of forgotten jobs expire.
            held.truncate(40);
        }
    }

    /// One action of a holder. Returns whether it released the job.
    fn finish(&mut self, jid: &str, queue: &str, worker: &str) -> bool {
        let next = self.queue();
        match self.draw.below(100) {
            0..35 => {
                self.say(&["complete", jid, worker, queue, r#"{"done":true}"#]);
            }
            35..55 => {
                // Children of templates get no dependents, so that no cycle can form.
                let number = jid.trim_matches(|c: char| !c.is_ascii_digit()).parse();
                let mut words: Vec<String> = ["complete", jid, worker, queue, "{}", "next", next]
                    .map(str::to_owned)
                    .into();
                if self.draw.below(3) == 0 {
                    words.extend(["delay".to_owned(), self.delay().to_owned()]);
                }
                if let (0, Ok(number)) = (self.draw.below(3), number) {
                    words.extend(["depends".to_owned(), self.before(number, 2)]);
                }
                self.call(&words);
            }
            55..70 => {
                let group = self.draw.of(&GROUPS);
                self.say(&["fail", jid, worker, group, "a message"]);
            }
            70..82 => {
                let delay = self.delay();
                match self.draw.below(3) {
                    0 => self.say(&["retry", jid, queue, worker, delay, "boom", "why"]),
                    1 => self.say(&["retry", jid, next, worker, delay]),
                    _ => self.say(&["retry", jid, queue, worker]),
                };
            }
            82..87 => {
                self.say(&["timeout", jid]);
            }
            _ => {
                self.say(&["heartbeat", jid, worker, r#"{"beat":1}"#]);
                return false;
            }
        }
        true
    }
}

/// Runs bulk commands through the binary until it is stopped. Returns how many.
pub fn run_bulk_commands(redis: &Redis, stop: &AtomicBool) -> usize {
    let lines = [
        "failed --all-groups --retry-all --yes",
        "move --queue mail --to images --yes",
        "retry --group boom --yes",
        "promote --queue mail --yes",
        "timeout --queue images --yes",
        "tag --queue mail --add eu --remove us --yes",
        "config set mail-max-concurrency 20",
        "cancel --group f-1 --yes --dependents release",
        "retry --state failed --queue mail --yes",
        "cancel --queue images --tag us --yes --dependents cancel",
    ];
    let mut runs = 0;
    for line in lines.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let ran = redis.qless().run(line);
        assert!(
            [0, 3, 4, 5].contains(&ran.code()),
            "{line}: {} {}",
            ran.code(),
            ran.stderr()
        );
        runs += 1;
    }
    runs
}
