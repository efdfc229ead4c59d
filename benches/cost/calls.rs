//! The measured calls: the jobs of a round are put, read, popped, and brought to every possible
//! end. The rest is cancelled, so that each round starts in the same state.

use crate::Row;
use crate::measured_server::{Call, Server};

const QUEUE: &str = "uploads";
/// The queue of every other failed job.
const OTHER: &str = "thumbs";
const WORKER: &str = "mx-1.example.com-4242";
const DATA: &str = r#"{"account":1234567,"photo":"sunrise.jpg"}"#;
pub const GROUP: &str = "upload error";

/// The number of jobs per end in a round.
const PART: usize = 1_000;
/// 2026-11-20 22:40:00 UTC.
const START: f64 = 1_795_214_400.0;

/// The progress of the calls: ids are never used again, and time advances.
pub struct Calls {
    ids: u128,
    now: f64,
}

impl Calls {
    pub fn new() -> Calls {
        Calls { ids: 0, now: START }
    }

    /// Puts the resident jobs.
    pub fn fill(server: &mut Server, resident: usize) -> Calls {
        let mut calls = Calls::new();
        let mut left = resident;
        while left > 0 {
            let page = left.min(10_000);
            let jids = calls.jids(page);
            server.call(&calls.put(&jids, 0));
            left -= page;
        }
        calls
    }

    /// Measures each call on jobs of its own.
    pub fn round(&mut self, server: &mut Server) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut row = |server: &mut Server, name, jobs, calls: &[Call]| {
            let (core, empty) = server.measure(calls);
            rows.push(Row {
                name,
                jobs,
                core,
                empty,
            });
        };
        let jids = self.jids(5 * PART);
        let part = |at: usize| &jids[at * PART..(at + 1) * PART];

        // Their priority puts them before the resident jobs; they are popped in order of time.
        row(server, "put", 1, &self.put(&jids, 10));
        let get = self.each(part(0), "get", &[]);
        row(server, "get", 1, &get);
        let queues = self.times(PART, "queues", &[]);
        row(server, "queues (3 of them)", 1, &queues);
        let pop = self.times(PART, "pop", &[QUEUE, WORKER, "1"]);
        row(server, "pop of 1", 1, &pop);
        let pop = self.times(3 * PART / 100, "pop", &[QUEUE, WORKER, "100"]);
        row(server, "pop of 100", 100, &pop);
        let heartbeat = self.each(part(0), "heartbeat", &[WORKER, DATA]);
        row(server, "heartbeat", 1, &heartbeat);
        let complete = self.each(part(0), "complete", &[WORKER, QUEUE, DATA]);
        row(server, "complete", 1, &complete);
        let next = [
            WORKER, QUEUE, DATA, "next", "thumbs", "delay", "0", "depends", "[]",
        ];
        let complete = self.each(part(1), "complete", &next);
        row(server, "complete to the next queue", 1, &complete);
        let message = "PUT /bucket: 503 Slow Down";
        let fail = self.each(part(2), "fail", &[WORKER, GROUP, message, DATA]);
        row(server, "fail", 1, &fail);
        let retry = self.each(part(3), "retry", &[QUEUE, WORKER, "0"]);
        row(server, "retry", 1, &retry);
        let cancel = self.each(part(4), "cancel", &[]);
        row(server, "cancel", 1, &cancel);

        let rest = self.each(&jids[PART..4 * PART], "cancel", &[]);
        server.call(&rest);
        rows
    }

    /// Fails new jobs in one group, every other one in another queue. Returns their ids, the oldest
    /// failure first.
    pub fn failed(&mut self, server: &mut Server, count: usize) -> Vec<String> {
        let jids = self.jids(count);
        for jids in jids.chunks(10_000) {
            let mut calls = self.put(jids, 0);
            for put in calls.iter_mut().skip(1).step_by(2) {
                put[3] = OTHER.to_string();
            }
            server.call(&calls);
            for queue in [QUEUE, OTHER] {
                let pop = self.times(jids.len().div_ceil(200), "pop", &[queue, WORKER, "100"]);
                server.call(&pop);
            }
            let message = "PUT /bucket: 503 Slow Down";
            let fail = self.each(jids, "fail", &[WORKER, GROUP, message, DATA]);
            server.call(&fail);
        }
        jids
    }

    /// Retries or cancels each failed job by a call of its own.
    pub fn alone(&mut self, command: &str, jids: &[String]) -> Vec<Call> {
        let note = r#"{"verb":"retry","by":"ann@mx-1.example.com"}"#;
        let calls = jids.iter().enumerate().map(|(at, jid)| {
            let queue = if at % 2 == 0 { QUEUE } else { OTHER };
            let words: Vec<&str> = match command {
                "guard.requeue" => vec!["{}", note, jid, "", ""],
                "requeue" => vec![WORKER, queue, jid, "Photo::Upload", DATA, "0"],
                _ => vec![jid],
            };
            self.call(command, words.into_iter().map(str::to_string))
        });
        calls.collect()
    }

    /// Cancels the remaining jobs.
    pub fn empty(&mut self, server: &mut Server, jids: &[String]) {
        for jids in jids.chunks(1_000) {
            let cancel = self.call("cancel", jids.iter().cloned());
            server.call(&[cancel]);
        }
    }

    fn put(&mut self, jids: &[String], priority: u32) -> Vec<Call> {
        let priority = priority.to_string();
        let words = |jid: &str| {
            let words = [
                WORKER,
                QUEUE,
                jid,
                "Photo::Upload",
                DATA,
                "0",
                "priority",
                &priority,
                "tags",
                "[]",
                "retries",
                "5",
                "depends",
                "[]",
            ];
            words.map(str::to_string)
        };
        let put = jids.iter().map(|jid| self.call("put", words(jid)));
        put.collect()
    }

    /// The same for each job, its id first.
    fn each(&mut self, jids: &[String], command: &str, words: &[&str]) -> Vec<Call> {
        let each = jids.iter().map(|jid| {
            let words = words.iter().map(|word| word.to_string());
            self.call(command, [jid.clone()].into_iter().chain(words))
        });
        each.collect()
    }

    fn times(&mut self, count: usize, command: &str, words: &[&str]) -> Vec<Call> {
        let words = || words.iter().map(|word| word.to_string());
        (0..count).map(|_| self.call(command, words())).collect()
    }

    fn call(&mut self, command: &str, words: impl IntoIterator<Item = String>) -> Call {
        self.now += 0.0005;
        let mut call = vec![command.to_string(), format!("{:.6}", self.now)];
        call.extend(words);
        call
    }

    /// Ids as clients make them, the same in each run.
    fn jids(&mut self, count: usize) -> Vec<String> {
        let jid = |_| {
            self.ids += 1;
            format!(
                "{:032x}",
                self.ids
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
            )
        };
        (0..count).map(jid).collect()
    }
}
