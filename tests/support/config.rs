//! Config files for the tests, and a server with a protected context.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::keyboard;
use super::qless::{Qless, RunOutput};
use super::redis::Redis;

/// A config file in a directory of its own.
pub struct ConfigHome {
    dir: TempDir,
}

impl ConfigHome {
    pub fn new(text: &str) -> ConfigHome {
        let home = ConfigHome::empty();
        std::fs::create_dir_all(home.path().parent().unwrap()).unwrap();
        home.write(text);
        home
    }

    pub fn empty() -> ConfigHome {
        let dir = tempfile::tempdir().unwrap();
        ConfigHome { dir }
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("qless/config.toml")
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn write(&self, text: &str) {
        std::fs::write(self.path(), text).unwrap();
        self.mode(0o600);
    }

    pub fn mode(&self, mode: u32) {
        std::fs::set_permissions(self.path(), PermissionsExt::from_mode(mode)).unwrap();
    }

    pub fn text(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }

    /// The binary, with this file in the default location.
    pub fn qless(&self) -> Qless {
        self.with(Qless::bare())
    }

    pub fn with(&self, qless: Qless) -> Qless {
        let dir = self.dir.path().to_str().unwrap();
        qless.env("XDG_CONFIG_HOME", dir).hide(dir, "HOME")
    }

    pub fn run(&self, line: &str) -> RunOutput {
        self.qless().run(line)
    }
}

/// A server, and a config file in which its context `prod` is protected.
pub struct ProtectedServer {
    pub redis: Redis,
    pub home: ConfigHome,
}

impl ProtectedServer {
    pub fn new(more: &str) -> ProtectedServer {
        let redis = Redis::start();
        let home = ConfigHome::new(&format!(
            "[context.prod]\nredis = \"{}\"\nprotected = true\n{more}",
            redis.url()
        ));
        ProtectedServer { redis, home }
    }

    /// The binary with no setting but the file.
    pub fn qless(&self) -> Qless {
        let qless = self.redis.at(1000).env("QLESS_REDIS_URL", "");
        self.home.with(qless)
    }

    pub fn prod(&self) -> Qless {
        self.qless().env("QLESS_CONTEXT", "prod")
    }

    /// Puts jobs and fails them.
    pub fn failed(&self, jids: &[&str]) {
        for jid in jids {
            self.prod().run(&format!("put mail K --jid {jid}")).ok();
        }
        let count = jids.len();
        self.prod()
            .run(&format!("pop mail --count {count} --worker w"))
            .ok();
        for jid in jids {
            let fail = format!("fail {jid} --group boom --message m --worker w");
            self.prod().run(&fail).ok();
        }
    }

    pub fn count(&self, state: &str) -> u64 {
        self.prod().run("jobs --count -o json").json()[state]
            .as_u64()
            .unwrap()
    }

    pub fn answers(&self, args: &[&str], dialogue: &[(&str, &str)]) -> (i32, String) {
        let mut command = self.prod().command();
        command.args(args);
        let ran = keyboard::answer(command, dialogue);
        let seen = ran.stdout();
        (ran.code(), seen.replace(&self.redis.url(), "URL"))
    }
}
