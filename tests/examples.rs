//! The examples in help texts and man pages are valid commands: none is a usage error, names an
//! unknown program, or fails.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use super::support::listening::Listening;
use super::support::redis::Redis;
use super::support::terminal;

/// Programs that examples name and a machine may lack.
const OTHERS: &[&str] = &[
    "jq",
    "logger",
    "page-someone",
    "redis-cli",
    "run",
    "send",
    "send-mail",
    "send-mails",
];

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
        let worker = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/work.py");
        std::fs::copy(worker, dir.path().join("thumbs.py")).unwrap();
        let redis = Redis::start();
        // Something to repair, so that the example of an undo file writes one.
        redis.send(&["ZADD", "ql:q:mail-work", "1", "no-such-job"]);
        Home { dir, redis }
    }

    /// A bash that runs a script.
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

/// A script for a line with `qless work`: jobs for it, and the line, which ends when they have.
fn with_jobs(line: &str) -> String {
    if line.contains(" --listen ") {
        // It listens until it is told to end.
        return format!("timeout -s INT 1 {line}");
    }
    let Some((_, options)) = line.split_once("qless work ") else {
        return line.to_owned();
    };
    let data = r#"{"to":"ana@example.com","repo":"."}"#;
    let jobs: String = ["ci", "debug", "high", "low", "mail", "thumbs"]
        .iter()
        .map(|queue| format!(r#"{{"queue":"{queue}","klass":"K","data":{data}}}"#) + "\n")
        .collect();
    let ends = options.contains("--drain") || options.contains("--count");
    let line = if ends {
        line.to_owned()
    } else {
        line.replacen(" -- ", " --drain -- ", 1)
    };
    format!("echo '{jobs}' | qless -q put --from - >jids && {line}")
}

#[test]
fn examples_in_help_are_valid() {
    let home = Home::new();
    let mut examples = Vec::new();
    collect(&qless::internals::clap_tree(), &mut examples);
    assert!(examples.len() > 30, "{examples:?}");
    let mut wrong = Vec::new();
    for example in examples {
        // Another program of this machine may listen at the port of the examples.
        let example = example.replace(":9123", ":0").replace(":7979", ":0");
        // Stops what an example started.
        let script = format!(
            "set -o pipefail; {}; code=$?\n\
             [ ! -e night ] || qless local stop --redis local:$PWD/night; exit $code",
            with_jobs(&example)
        );
        let ran = home.bash(&script).output().unwrap();
        // The codes of plugins mean something else.
        let is_plugin = example.contains("--nagios");
        // Its arguments are right if a terminal is all that it misses.
        let said = String::from_utf8_lossy(&ran.stderr);
        let is_screen =
            example.starts_with("qless top") && said.contains("`top` requires a terminal");
        let is_wrong = |code: i32| WRONG.contains(&code) && !is_plugin && !is_screen;
        if ran.status.code().is_none_or(is_wrong) {
            let output = String::from_utf8_lossy(&ran.stderr);
            wrong.push(format!("{example}\n{}\n{output}", ran.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs on a terminal, as a reader would; Ctrl-C ends commands that do not end by themselves.
#[test]
fn commands_in_the_topics_are_valid() {
    let home = Home::new();
    let mut wrong = Vec::new();
    let mut lines = 0;
    // A deeper indent is the content of a file.
    let verbatim = |line: &'static str| line.strip_prefix("    ").filter(|it| !it.starts_with(' '));
    let recipes = qless::internals::RECIPES.lines().filter_map(verbatim);
    let protocol = qless::internals::WORK.lines().filter_map(verbatim);
    for typed in recipes.chain(protocol.filter(|line| line.starts_with("qless "))) {
        lines += 1;
        let typed = with_jobs(typed)
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

#[test]
fn the_worker_of_the_protocol_is_that_of_the_examples() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/work.py");
    let program = std::fs::read_to_string(path).unwrap();
    let lines = qless::internals::WORK.lines();
    let lines = lines.skip_while(|line| *line != "A WORKER").skip(4);
    let shown = lines.take_while(|line| line.is_empty() || line.starts_with("      "));
    let shown: Vec<&str> = shown
        .map(|line| line.strip_prefix("      ").unwrap_or(""))
        .collect();
    assert_eq!(shown.join("\n").trim_end(), program.trim_end());
}

/// The lines of the recipes with an indent of six blanks, after one that begins so.
fn file_in_the_recipes(first: &str) -> String {
    let lines = qless::internals::RECIPES.lines();
    let lines = lines.map(|line| line.strip_prefix("      ").unwrap_or(line));
    let file = lines.skip_while(|line| !line.starts_with(first));
    file.take_while(|line| !line.starts_with("  "))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn the_unit_of_the_recipes_is_that_of_the_examples() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/qless-work@.service");
    let unit = std::fs::read_to_string(path).unwrap();
    let plain: String = unit
        .split_inclusive('\n')
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert_eq!(file_in_the_recipes("[Unit]"), plain);
    // The command that systemd starts, for the queue of the instance.
    let line = plain
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/"));
    let line = line.unwrap().replace("%i", "mail");
    let home = Home::new();
    std::fs::copy(home.dir.path().join("run"), home.dir.path().join("work")).unwrap();
    let ran = home.bash(&with_jobs(&line)).output().unwrap();
    let output = String::from_utf8_lossy(&ran.stderr);
    assert!(output.contains("1 completed"), "{output}");
}

#[test]
fn the_command_of_the_web_unit_asks_for_its_token() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/qless-web.service");
    let unit = std::fs::read_to_string(path).unwrap();
    let prefix = "ExecStart=/usr/local/bin/qless web --listen 127.0.0.1:7979 ";
    let flags = unit.lines().find_map(|line| line.strip_prefix(prefix));
    let dir = tempfile::tempdir().unwrap();
    let shown = dir.path().to_str().unwrap();
    let flags = flags
        .unwrap()
        .replace("${CREDENTIALS_DIRECTORY}", shown)
        .replace("${STATE_DIRECTORY}", shown);
    std::fs::write(dir.path().join("token"), "opens-it\n").unwrap();
    let redis = Redis::start();
    let web = Listening::start(&redis.qless(), &redis, "web", &flags);
    assert_eq!(web.get("/", "localhost").0, 401);
    // The password of any user, in base64.
    let login = "Host: localhost\r\nAuthorization: Basic eDpvcGVucy1pdA==\r\n";
    assert_eq!(web.ask("GET /", login, "").0, 200);
    web.end(Signal::TERM);
    assert!(dir.path().join("history").exists());
}

#[test]
fn the_cron_line_of_the_recipes_runs_all_jobs_silently() {
    let line = file_in_the_recipes("*/5");
    let line = line.lines().next().unwrap();
    let (_, command) = line.split_once("flock -n mail.lock ").unwrap();
    let ran = Home::new().bash(&with_jobs(command)).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(
        (ran.status.code(), text(&ran.stdout), text(&ran.stderr)),
        (Some(0), String::new(), String::new())
    );
}

#[test]
fn the_cron_lines_of_the_recipes_print_nothing_while_all_is_well() {
    let lines = [
        "qless lag --older-than 5m",
        "qless failed --older-than 10m --limit 20",
        "qless check --fail-on error -q || page-someone",
        "qless -q put --from night.ndjson --jid-from content --journal night.journal",
    ];
    let home = Home::new();
    home.redis.send(&["DEL", "ql:q:mail-work"]);
    // A job runs, one waits, one has just failed, one is complete.
    let jobs = "for jid in a b c d; do qless put mail K --jid $jid; done; qless pop mail --count 3
        qless fail a --group g --message m --as-holder; qless complete b --as-holder";
    assert!(home.bash(jobs).output().unwrap().status.success());
    let run = |line: &str| {
        assert!(
            qless::internals::RECIPES.contains(&format!("    {line}\n")),
            "{line}"
        );
        let ran = home.bash(line).output().unwrap();
        let output = [ran.stdout, ran.stderr].concat();
        (ran.status.code(), String::from_utf8(output).unwrap())
    };
    for line in lines {
        // The second time as well.
        for _ in 0..2 {
            assert_eq!(run(line), (Some(0), String::new()), "{line}");
        }
    }
    // Something is wrong: a job is late, one failed long ago, an entry has no job.
    let ago = home.redis.at(1_000_000);
    ago.run("put late K --jid late").ok();
    ago.run("put old K --jid old").ok();
    ago.run("pop old --worker w").ok();
    ago.run("fail old --group g --message m --worker w").ok();
    home.redis
        .send(&["ZADD", "ql:q:mail-work", "1", "no-such-job"]);
    for (line, code) in lines.into_iter().zip([10, 10, 0]) {
        let (exit, output) = run(line);
        assert_eq!(exit, Some(code), "{line}");
        assert!(!output.is_empty(), "{line}");
    }
}

#[test]
fn the_cron_line_for_weekdays_puts_one_job_a_day_silently() {
    let lines = file_in_the_recipes("CRON_TZ");
    let line = lines.lines().nth(1).unwrap();
    let command = line
        .strip_prefix("30 7 * * 1-5 ")
        .unwrap()
        .replace("\\%", "%");
    let home = Home::new();
    for _ in 0..2 {
        let ran = home.bash(&command).output().unwrap();
        let silent = ran.stdout.is_empty() && ran.stderr.is_empty();
        assert!(ran.status.success() && silent, "{ran:?}");
    }
    let listed = home
        .bash("qless jobs --klass Daily -o jid")
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(
        listed.starts_with("daily-") && listed.lines().count() == 1,
        "{listed}"
    );
}

/// Collects the text between backticks in the paragraphs that begin with `FindingExample`.
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
