//! A real Redis Cluster on free loopback ports: three masters with a replica each. REDIS_SERVER names
//! another program.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::{Connection, FromRedisValue, Value};
use tempfile::TempDir;

use super::proxy::free_port;
use super::qless::Qless;
use super::redis::program;

const SLOTS: u64 = 16_384;

/// The milliseconds after which a silent node counts as failed.
const NODE_TIMEOUT: &str = "700";

/// How long the cluster may take to agree about something.
const PATIENCE: Duration = Duration::from_secs(30);

/// One process of a topology.
pub struct Member {
    child: Child,
    pub port: u16,
    dir: TempDir,
    options: Vec<String>,
}

impl Member {
    /// Starts a process on a free port.
    pub fn start(options: &[&str]) -> Member {
        let options: Vec<String> = options.iter().map(|one| one.to_string()).collect();
        loop {
            let dir = tempfile::Builder::new()
                .prefix("ql")
                .tempdir_in("/tmp")
                .unwrap();
            // The bus of a cluster has a port 10,000 above.
            let port = free_port();
            if port > 55_000 {
                continue;
            }
            let child = spawn(dir.path(), port, &options);
            let mut member = Member {
                child,
                port,
                dir,
                options,
            };
            if member.answers() {
                return member;
            }
            return Member::start(
                &member
                    .options
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>(),
            );
        }
    }

    /// Starts it again on its port, with what it has on disk.
    pub fn restart(&mut self) {
        self.kill();
        self.child = spawn(self.dir.path(), self.port, &self.options);
        assert!(self.answers(), "redis-server ended");
    }

    fn answers(&mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while self.connect().is_err() {
            assert!(Instant::now() < deadline, "redis-server does not answer");
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }

    fn connect(&self) -> redis::RedisResult<Connection> {
        let url = format!("redis://127.0.0.1:{}", self.port);
        redis::Client::open(url)?.get_connection_with_timeout(Duration::from_secs(2))
    }

    /// Sends one command.
    pub fn try_send<T: FromRedisValue>(&self, words: &[&str]) -> redis::RedisResult<T> {
        self.send_within(Duration::from_secs(5), words)
    }

    /// Sends one command, which must succeed. A Sentinel that writes its file to a busy disk replies late.
    pub fn send<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let reply = self.send_within(Duration::from_secs(30), words);
        reply.unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    fn send_within<T: FromRedisValue>(
        &self,
        limit: Duration,
        words: &[&str],
    ) -> redis::RedisResult<T> {
        let mut connection = self.connect()?;
        connection.set_read_timeout(Some(limit))?;
        redis::cmd(words[0]).arg(&words[1..]).query(&mut connection)
    }

    pub fn kill(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }

    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(dir: &std::path::Path, port: u16, options: &[String]) -> Child {
    // A Sentinel needs a file that it may write.
    std::fs::write(dir.join("conf"), "").unwrap();
    let is_sentinel = options.iter().any(|option| option == "--sentinel");
    let data: &[&str] = if is_sentinel {
        &[]
    } else {
        &["--save", "", "--appendonly", "no"]
    };
    Command::new(program())
        .arg(dir.join("conf"))
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(data)
        .arg("--dir")
        .arg(dir)
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("cannot start redis-server; install it or set REDIS_SERVER")
}

/// Waits for a condition.
#[track_caller]
pub fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A running cluster. The masters come first, their replicas after them.
pub struct Cluster {
    pub members: Vec<Member>,
    ids: Vec<String>,
}

impl Cluster {
    /// Starts three masters and three replicas.
    pub fn start() -> Cluster {
        Cluster::of(3, 1)
    }

    /// Starts a cluster of these masters, each with this number of replicas.
    pub fn of(masters: usize, replicas: usize) -> Cluster {
        let options = [
            "--cluster-enabled",
            "yes",
            "--cluster-node-timeout",
            NODE_TIMEOUT,
            "--repl-diskless-sync-delay",
            "0",
        ];
        let count = masters * (1 + replicas);
        let members: Vec<Member> = (0..count).map(|_| Member::start(&options)).collect();
        let mut cluster = Cluster {
            ids: Vec::new(),
            members,
        };
        for (at, member) in cluster.members.iter().enumerate() {
            member.send::<()>(&["CLUSTER", "SET-CONFIG-EPOCH", &(at + 1).to_string()]);
            cluster.ids.push(member.send(&["CLUSTER", "MYID"]));
            if at < masters {
                let share = |at: usize| at as u64 * SLOTS / masters as u64;
                for first in (share(at)..share(at + 1)).step_by(1000) {
                    let slots: Vec<String> = (first..share(at + 1).min(first + 1000))
                        .map(|slot| slot.to_string())
                        .collect();
                    let mut words = vec!["CLUSTER", "ADDSLOTS"];
                    words.extend(slots.iter().map(String::as_str));
                    member.send::<()>(&words);
                }
            }
        }
        for member in &cluster.members[1..] {
            let port = cluster.members[0].port.to_string();
            member.send::<()>(&["CLUSTER", "MEET", "127.0.0.1", &port]);
        }
        await_that("all nodes know each other", || {
            let known = |member: &Member| -> usize {
                let nodes: String = member.send(&["CLUSTER", "NODES"]);
                nodes
                    .lines()
                    .filter(|line| !line.contains("handshake"))
                    .count()
            };
            cluster.members.iter().all(|member| known(member) == count)
        });
        for at in masters..count {
            let master = cluster.ids[(at - masters) % masters].clone();
            await_that("the replica accepts its master", || {
                let member = &cluster.members[at];
                member
                    .try_send::<()>(&["CLUSTER", "REPLICATE", &master])
                    .is_ok()
            });
        }
        await_that("the cluster is up", || cluster.is_up());
        cluster
    }

    /// Whether all living nodes are in agreement and all replicas are connected.
    fn is_up(&self) -> bool {
        self.members.iter().all(|member| {
            let info: String = member.try_send(&["CLUSTER", "INFO"]).unwrap_or_default();
            let replication: String = member
                .try_send(&["INFO", "replication"])
                .unwrap_or_default();
            info.contains("cluster_state:ok") && !replication.contains("master_link_status:down")
        })
    }

    /// The address of one node.
    pub fn url(&self) -> String {
        format!("redis-cluster://127.0.0.1:{}", self.members[0].port)
    }

    /// The address of all nodes.
    pub fn urls(&self) -> String {
        let ports = self
            .members
            .iter()
            .map(|member| format!("127.0.0.1:{}", member.port));
        format!("redis-cluster://{}", ports.collect::<Vec<_>>().join(","))
    }

    /// The binary, pointed at this cluster and a prefix.
    pub fn qless(&self, prefix: &str) -> Qless {
        let mut qless = Qless::bare()
            .env("QLESS_REDIS_URL", self.urls())
            .env("QLESS_PREFIX", prefix);
        for (at, member) in self.members.iter().enumerate() {
            qless = qless.hide(&member.port.to_string(), &format!("PORT{at}"));
        }
        qless
    }

    /// The slot of a prefix.
    pub fn slot(&self, prefix: &str) -> u64 {
        self.members[0].send(&["CLUSTER", "KEYSLOT", prefix])
    }

    /// The member that has a prefix, as it says itself: the others learn of it later.
    pub fn owner(&self, prefix: &str) -> usize {
        let mut owner = None;
        await_that("a member has the slot", || {
            owner = (0..self.members.len()).find(|at| self.has(*at, prefix));
            owner.is_some()
        });
        owner.unwrap()
    }

    /// Whether a member says that it has a prefix itself.
    fn has(&self, at: usize, prefix: &str) -> bool {
        let member = &self.members[at];
        let Ok(slot) = member.try_send::<u64>(&["CLUSTER", "KEYSLOT", prefix]) else {
            return false;
        };
        let ranges: Vec<Vec<Value>> = member.try_send(&["CLUSTER", "SLOTS"]).unwrap_or_default();
        let number = |value: &Value| redis::from_redis_value::<u64>(value.clone()).unwrap();
        ranges.iter().any(|range| {
            let Value::Array(node) = &range[2] else {
                return false;
            };
            let slots = number(&range[0])..=number(&range[1]);
            slots.contains(&slot) && number(&node[1]) == u64::from(member.port)
        })
    }

    /// A master that does not have a prefix.
    pub fn other(&self, prefix: &str) -> usize {
        let owner = self.owner(prefix);
        (0..3).find(|at| *at != owner).unwrap()
    }

    /// Begins to move the slot of a prefix: from now on it is on its way.
    pub fn begin_move(&self, prefix: &str, to: usize) {
        let (slot, from) = (self.slot(prefix).to_string(), self.owner(prefix));
        let (target, source) = (&self.members[to], &self.members[from]);
        target.send::<()>(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &self.ids[from]]);
        source.send::<()>(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &self.ids[to]]);
    }

    /// Moves some keys of a slot that is on its way. Returns whether there were any.
    pub fn move_keys(&self, prefix: &str, from: usize, to: usize) -> bool {
        let slot = self.slot(prefix).to_string();
        let source = &self.members[from];
        let keys: Vec<String> = source.send(&["CLUSTER", "GETKEYSINSLOT", &slot, "200"]);
        let port = self.members[to].port.to_string();
        let mut words = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"];
        words.extend(keys.iter().map(String::as_str));
        if !keys.is_empty() {
            source.send::<Value>(&words);
        }
        !keys.is_empty()
    }

    /// Ends a move.
    pub fn end_move(&self, prefix: &str, from: usize, to: usize) {
        while self.move_keys(prefix, from, to) {}
        for at in [to, from] {
            self.name_owner(at, prefix, to).unwrap();
        }
        // The other nodes would learn of it, though later than the next move may come.
        for at in 0..self.members.len() {
            _ = self.name_owner(at, prefix, to);
        }
    }

    /// Tells one member which one has the slot of a prefix. A replica refuses.
    pub fn name_owner(&self, at: usize, prefix: &str, owner: usize) -> redis::RedisResult<()> {
        let slot = self.slot(prefix).to_string();
        self.members[at].try_send(&["CLUSTER", "SETSLOT", &slot, "NODE", &self.ids[owner]])
    }

    /// Moves the slot of a prefix to another master.
    pub fn move_slot(&self, prefix: &str, to: usize) {
        let from = self.owner(prefix);
        self.begin_move(prefix, to);
        self.end_move(prefix, from, to);
    }

    /// Kills the master of a prefix and waits until a replica has taken its place. Returns the member
    /// that was killed.
    pub fn kill_owner(&mut self, prefix: &str) -> usize {
        let killed = self.owner(prefix);
        self.members[killed].kill();
        await_that("a replica took the place", || {
            let owner = self.owner(prefix);
            owner != killed && {
                let info: String = self.members[owner]
                    .try_send(&["CLUSTER", "INFO"])
                    .unwrap_or_default();
                info.contains("cluster_state:ok")
            }
        });
        killed
    }

    /// Starts a killed member again, as a replica of who took its place, and waits for the cluster.
    pub fn revive(&mut self, at: usize) {
        self.members[at].restart();
        await_that("the cluster is whole again", || {
            let info = self.members[at].try_send(&["INFO", "replication"]);
            let info: String = info.unwrap_or_default();
            info.contains("master_link_status:up") && self.is_up()
        });
    }

    /// How often each command was called on all members, except by the cluster itself.
    pub fn calls(&self, name: &str) -> u64 {
        let count = |member: &Member| -> u64 {
            let info: String = member.send(&["INFO", "commandstats"]);
            let start = format!("cmdstat_{name}:calls=");
            let calls = info
                .lines()
                .find_map(|line| line.strip_prefix(&start)?.split(',').next());
            calls.map_or(0, |calls| calls.parse().unwrap())
        };
        self.members.iter().map(count).sum()
    }
}
