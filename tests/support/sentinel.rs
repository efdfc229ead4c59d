//! Three real Sentinels with a master and two replicas, on free loopback ports.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use super::cluster::{Member, await_that};
use super::proxy::listen;
use super::qless::Qless;

/// The name of the master.
pub const MASTER: &str = "mymaster";

/// Sentinels and the servers that they watch.
pub struct Sentinels {
    pub sentinels: Vec<Member>,
    pub servers: Vec<Member>,
}

impl Sentinels {
    /// Starts them, and waits until they know each other.
    pub fn start() -> Sentinels {
        // Otherwise the master waits 5 seconds for further replicas before it sends its data.
        let options = ["--repl-diskless-sync-delay", "0"];
        let mut servers = vec![Member::start(&options)];
        let port = servers[0].port.to_string();
        for _ in 0..2 {
            let replica = ["--replicaof", "127.0.0.1", &port];
            servers.push(Member::start(&[&replica, &options[..]].concat()));
        }
        let sentinels: Vec<Member> = (0..3).map(|_| Member::start(&["--sentinel"])).collect();
        for sentinel in &sentinels {
            // They find each other and the replicas in a tenth of the usual time. Redis 6.2 lacks this.
            let periods = ["PUBLISH-PERIOD", "200", "INFO-PERIOD", "500"];
            let words = [&["SENTINEL", "DEBUG"], &periods[..]].concat();
            _ = sentinel.try_send::<()>(&words);
            sentinel.send::<()>(&["SENTINEL", "MONITOR", MASTER, "127.0.0.1", &port, "2"]);
            for (option, value) in [
                // Long enough for a server that gets no core for a while: a test begins each failover itself.
                ("down-after-milliseconds", "5000"),
                ("failover-timeout", "3000"),
            ] {
                sentinel.send::<()>(&["SENTINEL", "SET", MASTER, option, value]);
            }
        }
        let topology = Sentinels { sentinels, servers };
        await_that("the Sentinels know all", || {
            topology.sentinels.iter().all(|sentinel| {
                let info: String = sentinel.send(&["INFO", "sentinel"]);
                info.contains("slaves=2,sentinels=3")
            })
        });
        topology.await_replicas();
        topology
    }

    /// Waits until both replicas have all changes of the master.
    pub fn await_replicas(&self) {
        await_that("the replicas are connected", || {
            let master = &self.servers[self.master()];
            // A master takes a replica for online that has not read its copy yet: Valkey 9 begins that
            // up to a second after the copy came.
            let links = self.servers.iter().filter(|server| {
                let info: String = server
                    .try_send(&["INFO", "replication"])
                    .unwrap_or_default();
                info.contains("master_link_status:up")
            });
            links.count() == 2 && master.send::<u64>(&["WAIT", "2", "2000"]) == 2
        });
    }

    /// The address of all Sentinels.
    pub fn url(&self) -> String {
        self.url_of(&[0, 1, 2])
    }

    /// The address of some Sentinels.
    pub fn url_of(&self, which: &[usize]) -> String {
        let ports = which
            .iter()
            .map(|at| format!("127.0.0.1:{}", self.sentinels[*at].port));
        let nodes = ports.collect::<Vec<_>>().join(",");
        format!("redis-sentinel://{nodes}/0?master={MASTER}")
    }

    /// The binary, pointed at the Sentinels.
    pub fn qless(&self) -> Qless {
        let mut qless = Qless::bare().env("QLESS_REDIS_URL", self.url());
        for (at, member) in self.sentinels.iter().enumerate() {
            qless = qless.hide(&member.port.to_string(), &format!("SENTINEL{at}"));
        }
        for (at, member) in self.servers.iter().enumerate() {
            qless = qless.hide(&member.port.to_string(), &format!("SERVER{at}"));
        }
        qless
    }

    /// The server that the Sentinels name.
    pub fn master(&self) -> usize {
        let words = ["SENTINEL", "get-master-addr-by-name", MASTER];
        let asked = self
            .sentinels
            .iter()
            .find_map(|one| one.try_send::<Vec<String>>(&words).ok());
        let port: u16 = asked.expect("a Sentinel replies")[1].parse().unwrap();
        let mut servers = self.servers.iter();
        servers.position(|server| server.port == port).unwrap()
    }

    /// Has the Sentinels wait four minutes before they demote the old master of a planned failover: it goes on accepting
    /// changes. Redis 6.2 lacks this, and waits eight seconds.
    pub fn delay_demotion(&self) {
        for sentinel in &self.sentinels {
            _ = sentinel.try_send::<()>(&["SENTINEL", "DEBUG", "PUBLISH-PERIOD", "60000"]);
        }
    }

    /// Kills the master and waits until another server is the master. Returns the killed one.
    pub fn kill_master(&mut self) -> usize {
        let killed = self.master();
        self.servers[killed].kill();
        self.fail_over(killed);
        killed
    }

    /// Has a Sentinel name another server than this one, and waits until that is the master.
    pub fn fail_over(&self, old: usize) {
        let begin = || self.sentinels[0].try_send::<()>(&["SENTINEL", "FAILOVER", MASTER]);
        await_that("a Sentinel begins a failover", || {
            begin().is_ok() || self.master() != old
        });
        let mut begun = Instant::now();
        await_that("another server is the master", || {
            let master = self.master();
            // On a busy machine a failover may be given up: no replica has replied in time.
            if master == old && begun.elapsed() > Duration::from_secs(5) {
                _ = begin();
                begun = Instant::now();
            }
            master != old && {
                let info: String = self.servers[master]
                    .try_send(&["INFO", "replication"])
                    .unwrap_or_default();
                info.contains("role:master")
            }
        });
    }
}

/// What a Sentinel of [`played_sentinel`] says about the master.
pub struct Named {
    pub port: u16,
    pub flags: &'static str,
    pub epoch: u64,
}

/// Plays a Sentinel on a free port: `naming` says which master it names each time. With `None` it is silent, and ends the
/// connection.
pub fn played_sentinel(naming: impl Fn() -> Option<Named> + Send + Sync + 'static) -> u16 {
    listen(move |mut stream| {
        let mut asked = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut asked) {
            let asked = String::from_utf8_lossy(&asked[..length]).to_lowercase();
            let mut reply = String::new();
            let Some(named) = naming() else {
                return;
            };
            for command in asked.split('*').skip(1) {
                if command.contains("get-master-addr-by-name") {
                    reply += &array_of(&["127.0.0.1", &named.port.to_string()]);
                } else if command.contains("masters") {
                    let epoch = named.epoch.to_string();
                    let fields = ["name", MASTER, "flags", named.flags, "config-epoch", &epoch];
                    reply += &format!("*1\r\n{}", array_of(&fields));
                } else {
                    reply += "-ERR unknown command 'HELLO'\r\n";
                }
            }
            if stream.write_all(reply.as_bytes()).is_err() {
                return;
            }
        }
    })
}

fn array_of(words: &[&str]) -> String {
    let words = words.iter();
    let bulk = words.map(|word| format!("${}\r\n{word}\r\n", word.len()));
    format!("*{}\r\n{}", bulk.len(), bulk.collect::<String>())
}
