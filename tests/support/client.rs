//! A client that calls the core beside the binary, and reads the state of jobs.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::core::script_sha;
use super::redis::{Redis, load_script};

/// A client of the core with the real time.
pub struct Client {
    connection: redis::Connection,
}

impl Client {
    pub fn new(redis: &Redis) -> Client {
        let mut connection = redis.connection();
        load_script(&mut connection);
        Client { connection }
    }

    /// Makes a call; a refusal by the core is an error.
    pub fn call(
        &mut self,
        words: &[impl redis::ToRedisArgs + Copy],
    ) -> redis::RedisResult<redis::Value> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let mut call = redis::cmd("EVALSHA");
        call.arg(script_sha()).arg(0).arg(words[0]);
        call.arg(now.as_secs_f64()).arg(&words[1..]);
        call.query(&mut self.connection)
    }

    /// Makes a call that answers a document. Its members are sorted.
    pub fn json(&mut self, words: &[&str]) -> Value {
        let reply = self.call(words).unwrap();
        match redis::from_redis_value::<Option<String>>(reply).unwrap() {
            Some(text) => {
                let mut document: Value = serde_json::from_str(&text).unwrap();
                document.sort_all_objects();
                document
            }
            None => Value::Null,
        }
    }

    /// Pops jobs. Returns their ids.
    pub fn pop(&mut self, queue: &str, worker: &str, count: u32) -> Vec<String> {
        let popped = self.json(&["pop", queue, worker, &count.to_string()]);
        let jobs = popped.as_array().cloned().unwrap_or_default();
        let jids = jobs.iter().filter_map(|job| job["jid"].as_str());
        jids.map(str::to_string).collect()
    }

    /// The stored job, or `None` if it does not exist.
    pub fn entry(&mut self, jid: &str) -> Option<Entry> {
        let job = self.json(&["get", jid]);
        let text = |name: &str| job[name].as_str().unwrap_or_default().to_string();
        let history = job["history"].as_array()?;
        let history = history.iter().map(|event| match &event["what"] {
            Value::String(what) if what == "cli" => {
                format!("cli {}", event["verb"].as_str().unwrap())
            }
            what => what.as_str().unwrap().to_string(),
        });
        Some(Entry {
            state: text("state"),
            queue: text("queue"),
            history: history.collect(),
        })
    }
}

/// A stored job.
#[derive(Debug)]
pub struct Entry {
    pub state: String,
    pub queue: String,
    /// The event of each history entry.
    pub history: Vec<String>,
}

impl Entry {
    /// How often an event is in the history.
    pub fn count(&self, what: &str) -> usize {
        self.history.iter().filter(|event| *event == what).count()
    }
}
