//! The examples in help texts and man pages are valid commands: none is a usage error, names an
//! unknown program, or fails.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::support::redis::Redis;
use super::support::terminal;

/// Programs that examples name and a machine may lack.
const OTHERS: &[&str] = &["jq", "redis-cli", "send", "page-someone"];

/// Exit codes of a wrong example: error, usage, not executable, not found, panic.
const WRONG: &[i32] = &[1, 2, 101, 126, 127];

/// A home directory with the other programs, and the files that examples name.
struct Home {
    dir: TempDir,
    redis: Redis,
}

impl Home {
    fn new() -> Home {
        let dir = tempfile::Builder::new()
            .prefix("ql")
            .tempdir_in("/tmp")
            .unwrap();
        for name in OTHERS {
            let path = dir.path().join(name);
            std::fs::write(&path, "#!/bin/sh\nexec cat >/dev/null\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let job = "{\"queue\":\"uploads\",\"klass\":\"Photo::Upload\",\"data\":{\"photo\":1}}\n";
        std::fs::write(dir.path().join("night.ndjson"), job).unwrap();
        let redis = Redis::start();
        // Something to repair, so that the example of an undo file writes one.
        redis.send(&["ZADD", "ql:q:mail-work", "1", "no-such-job"]);
        Home { dir, redis }
    }

    /// Returns a bash that runs a script.
    fn bash(&self, script: &str) -> Command {
        let path = [
            self.dir.path().as_os_str(),
            Path::new(env!("CARGO_BIN_EXE_qless"))
                .parent()
                .unwrap()
                .as_os_str(),
            &std::env::var_os("PATH").unwrap(),
        ]
        .join(":".as_ref());
        let mut bash = Command::new("bash");
        bash.args(["-c", script])
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", &path)
            .env("HOME", self.dir.path())
            .env("QLESS_REDIS_URL", self.redis.url())
            .env("jid", "0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a");
        if let Ok(program) = std::env::var("REDIS_SERVER") {
            bash.env("QLESS_REDIS_SERVER", program);
        }
        bash
    }
}

#[test]
fn examples_in_help_are_valid() {
    let home = Home::new();
    let mut examples = Vec::new();
    collect(&qless::internals::command(), &mut examples);
    assert!(examples.len() > 30, "{examples:?}");
    let mut wrong = Vec::new();
    for example in examples {
        // Stops what an example started.
        let script = format!(
            "set -o pipefail; {example}; code=$?\n\
             [ ! -e night ] || qless local stop --redis local:$PWD/night; exit $code"
        );
        let ran = home.bash(&script).output().unwrap();
        if ran.status.code().is_none_or(|code| WRONG.contains(&code)) {
            let output = String::from_utf8_lossy(&ran.stderr);
            wrong.push(format!("{example}\n{}\n{output}", ran.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs on a terminal, as a reader would; Ctrl-C ends commands that do not end by themselves.
#[test]
fn commands_in_the_recipes_are_valid() {
    let home = Home::new();
    let mut wrong = Vec::new();
    let mut lines = 0;
    for line in qless::internals::RECIPES.lines() {
        let Some(typed) = line.strip_prefix("    ") else {
            continue;
        };
        lines += 1;
        let typed = typed
            .replace("redis://old.example:6379/0", &home.redis.url())
            .replace("redis://new.example:6379/0", &home.redis.url());
        let watched = typed.contains("--watch");
        let typed = if watched {
            format!("timeout -s INT 1 {typed}")
        } else {
            typed
        };
        // No one answers the prompt of the command that saves these jobs.
        let saved = "[ -e tmp-jobs.ndjson ] || qless -q export --all --file tmp-jobs.ndjson";
        // A revert needs an earlier repair.
        let repaired = "qless -q put mail K --jid j >jid; qless -q api queue.forget mail; \
                      qless -q check --repair --undo before.ndjson --yes >mended";
        // The queue that the line waits for exists, and none of its jobs runs.
        let idle = "qless -q put mail K >idle; qless -q timeout --queue mail --yes >idle";
        let before = match typed.as_str() {
            typed if typed.starts_with("qless wait --queue") => idle,
            typed if typed.contains("import tmp-jobs") => saved,
            typed if typed.contains("check --revert") => repaired,
            _ => ":",
        };
        let mut bash = home.bash(&format!("set -o pipefail; {before}; {typed}"));
        bash.env("PAGER", "cat").env("TERM", "xterm");
        let ran = terminal::run(bash, 100);
        let output = ran.stdout();
        let understood = match ran.code() {
            124 => watched || typed.contains("--wait="),
            code => code < 128 && !WRONG.contains(&code),
        };
        if !understood {
            wrong.push(format!("{typed}\nexit {}\n{output}", ran.code()));
        }
    }
    assert!(lines > 30);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Collects the text between backticks in the paragraphs that begin with `Example`.
fn collect(command: &clap::Command, examples: &mut Vec<String>) {
    let help = command.get_long_about().unwrap_or_default().to_string();
    for paragraph in help.split("\n\n") {
        if paragraph.starts_with("Example") {
            let quoted = paragraph.split('`').skip(1).step_by(2);
            examples.extend(quoted.map(|example| example.replace('\n', " ")));
        }
    }
    for below in command.get_subcommands() {
        collect(below, examples);
    }
}
