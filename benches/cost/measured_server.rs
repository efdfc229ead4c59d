//! A private server that gets thousands of pipelined calls, so that it never waits for the client;
//! and its own figures of what they cost.

use qless::internals::Script;
use redis::{Connection, ConnectionLike, Value, cmd};

use crate::private_redis::Redis;

/// The arguments of a call after the name of the script: command, time, arguments.
pub type Call = Vec<String>;

/// What one call costs.
#[derive(Clone, Copy)]
pub struct Cost {
    /// Redis commands run inside the script.
    pub commands: f64,
    /// CPU of the server's main thread.
    pub micros: f64,
}

/// What a job costs.
pub struct Spent {
    /// CPU of the server's main thread.
    pub micros: f64,
    /// Redis commands run inside the script.
    pub commands: f64,
    /// Calls of the script.
    pub calls: f64,
}

pub struct Server {
    connection: Connection,
    sha: String,
    empty: String,
    /// Ends with the value.
    pub redis: Redis,
}

impl Server {
    pub fn start() -> Server {
        Server::on(Redis::start())
    }

    /// Starts one and connects to it by TCP, as clients do by default.
    pub fn on_loopback() -> Server {
        let (redis, url) = Redis::on_loopback();
        let connection = Redis::connect_to(&url);
        Server::over(connection, redis)
    }

    /// Starts one whose calls are not interrupted, if that is possible: for the slow log.
    pub fn undisturbed() -> Server {
        Server::on(Redis::undisturbed())
    }

    fn on(redis: Redis) -> Server {
        Server::over(redis.connect(), redis)
    }

    fn over(mut connection: Connection, redis: Redis) -> Server {
        let mut load = |text: &str| -> String {
            let mut load = cmd("SCRIPT");
            load.arg("LOAD").arg(text).query(&mut connection).unwrap()
        };
        Server {
            sha: load(&Script::new("ql:").script_text()),
            empty: load(""),
            connection,
            redis,
        }
    }

    /// Returns the address.
    pub fn url(&self) -> String {
        self.redis.url()
    }

    /// Logs calls that take longer than these microseconds; none without a number.
    pub fn watch_slow(&mut self, slower: Option<u32>) {
        let slower = slower.map_or("-1".to_owned(), |micros| micros.to_string());
        for words in [
            &["CONFIG", "SET", "slowlog-max-len", "1000000"][..],
            &["CONFIG", "SET", "slowlog-log-slower-than", &slower],
            &["SLOWLOG", "RESET"],
        ] {
            let mut command = cmd(words[0]);
            let () = command
                .arg(&words[1..])
                .query(&mut self.connection)
                .unwrap();
        }
    }

    /// Returns the milliseconds of the slowest call.
    pub fn slowest(&mut self) -> f64 {
        let micros = self.slow_calls().into_iter().map(|(micros, _)| micros);
        micros.fold(0.0, f64::max) / 1e3
    }

    /// How many of the logged calls were of this command of the core.
    pub fn slow_calls_of(&mut self, name: &str) -> usize {
        let of_it = |(_, words): &(f64, Vec<String>)| words.get(3).is_some_and(|word| word == name);
        self.slow_calls().iter().filter(|call| of_it(call)).count()
    }

    /// The microseconds and the words of each logged call: EVALSHA, the script, 0, the command of the core.
    fn slow_calls(&mut self) -> Vec<(f64, Vec<String>)> {
        let mut get = cmd("SLOWLOG");
        get.arg("GET").arg(1_000_000);
        let entries: Vec<(u64, u64, f64, Vec<String>, String, String)> =
            get.query(&mut self.connection).unwrap();
        let calls = entries.into_iter();
        calls
            .map(|(_, _, micros, words, _, _)| (micros, words))
            .collect()
    }

    /// Returns the name of the core.
    pub fn sha(&self) -> String {
        self.sha.clone()
    }

    pub fn version(&mut self) -> String {
        self.info("server", "redis_version:").unwrap_or_default()
    }

    /// Makes calls of the core; none may be refused.
    pub fn call(&mut self, calls: &[Call]) {
        let sha = self.sha.clone();
        self.send(&sha, calls);
    }

    /// Returns the cost of a call of the core, and of an empty script with its arguments.
    pub fn measure(&mut self, calls: &[Call]) -> (Cost, Cost) {
        let (sha, empty) = (self.sha.clone(), self.empty.clone());
        let empty = self.cost(&empty, calls);
        (self.cost(&sha, calls), empty)
    }

    fn cost(&mut self, script: &str, calls: &[Call]) -> Cost {
        let () = cmd("CONFIG")
            .arg("RESETSTAT")
            .query(&mut self.connection)
            .unwrap();
        let before = self.cpu();
        self.send(script, calls);
        let micros = self.cpu() - before;
        let count = calls.len() as f64;
        Cost {
            commands: self.commands() / count,
            micros: micros / count,
        }
    }

    fn send(&mut self, script: &str, calls: &[Call]) -> Vec<Value> {
        let mut bytes = Vec::new();
        for call in calls {
            let mut evalsha = cmd("EVALSHA");
            evalsha.arg(script).arg(0).arg(call);
            bytes.extend(evalsha.get_packed_command());
        }
        let replies = self
            .connection
            .req_packed_commands(&bytes, 0, calls.len())
            .unwrap();
        for (call, reply) in calls.iter().zip(&replies) {
            if let Value::ServerError(error) = reply {
                panic!("{call:?} was refused: {error:?}");
            }
        }
        replies
    }

    /// Removes all keys.
    pub fn flush(&mut self) {
        let () = cmd("FLUSHALL").query(&mut self.connection).unwrap();
    }

    /// Makes one call and waits for its reply.
    pub fn ask(&mut self, call: &Call) -> Value {
        let mut replies = self.pipeline(std::slice::from_ref(call));
        replies.pop().expect("a reply")
    }

    /// Makes calls in one round trip; none may be refused.
    pub fn pipeline(&mut self, calls: &[Call]) -> Vec<Value> {
        let sha = self.sha.clone();
        self.send(&sha, calls)
    }

    /// Returns what it costs to run this many jobs.
    pub fn spent(&mut self, jobs: usize, run: impl FnOnce(&mut Server)) -> Spent {
        let mut reset = cmd("CONFIG");
        let () = reset.arg("RESETSTAT").query(&mut self.connection).unwrap();
        let before = self.cpu();
        run(self);
        let micros = self.cpu() - before;
        let each = |total: f64| total / jobs as f64;
        Spent {
            micros: each(micros),
            commands: each(self.commands()),
            calls: each(self.stat("evalsha")),
        }
    }

    /// Returns how often a command was run since the last reset.
    fn stat(&mut self, name: &str) -> f64 {
        let line = self.info("commandstats", &format!("cmdstat_{name}:calls="));
        let calls = line.and_then(|line| line.split(',').next()?.parse().ok());
        calls.unwrap_or_default()
    }

    /// CPU microseconds used by the server: those of its main thread, if it reports them.
    pub fn cpu(&mut self) -> f64 {
        let info: String = cmd("INFO").arg("cpu").query(&mut self.connection).unwrap();
        let read = |name: String| {
            let line = info.lines().find_map(|line| line.strip_prefix(&name))?;
            line.parse::<f64>().ok()
        };
        let sum = |of: &str| {
            let user = read(format!("used_cpu_user{of}:"))?;
            Some(1e6 * (user + read(format!("used_cpu_sys{of}:"))?))
        };
        sum("_main_thread")
            .or_else(|| sum(""))
            .expect("the server tells its CPU time")
    }

    /// Starts to count commands that take longer than this many microseconds.
    pub fn watch(&mut self, micros: u64) {
        let mut config = |name: &str, value: u64| {
            let mut set = cmd("CONFIG");
            let set = set.arg("SET").arg(name).arg(value);
            set.query::<()>(&mut self.connection).unwrap();
        };
        config("slowlog-max-len", 1_000_000);
        config("slowlog-log-slower-than", micros);
    }

    /// Returns how many there were.
    pub fn slow(&mut self) -> usize {
        cmd("SLOWLOG")
            .arg("LEN")
            .query(&mut self.connection)
            .unwrap()
    }

    /// Commands since the last reset, without those of the benchmark.
    fn commands(&mut self) -> f64 {
        let info: String = cmd("INFO")
            .arg("commandstats")
            .query(&mut self.connection)
            .unwrap();
        let calls = info.lines().filter_map(|line| {
            let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
            let ours = ["evalsha", "info", "config|resetstat", "config"];
            let calls: f64 = rest.split(',').next()?.parse().ok()?;
            (!ours.contains(&name)).then_some(calls)
        });
        calls.sum()
    }

    fn info(&mut self, section: &str, name: &str) -> Option<String> {
        let info: String = cmd("INFO")
            .arg(section)
            .query(&mut self.connection)
            .unwrap();
        let line = info.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.to_string())
    }
}
