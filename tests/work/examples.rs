//! The workers in `examples/`, and the lines in `qless help work-protocol`, against the real thing.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use expect_test::expect;
use qless::internals::launcher;
use qless::internals::process::answer::Answer;
use qless::internals::work::PoppedJob;
use qless::internals::{Name, WORK};
use serde_json::Value;

use crate::support::qless::RunOutput;
use crate::support::redis::Redis;

/// The time after which a job that ignores its cancellation would end, in seconds.
const LONG: u64 = 60;

fn example(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(file);
    path.into_os_string().into_string().unwrap()
}

/// Whether these programs are installed. Notes on the real stderr which test could not run.
fn has(programs: &[&str]) -> bool {
    for program in programs {
        let found = Command::new("sh")
            .args(["-c", "command -v \"$0\"", program])
            .output();
        if !found.unwrap().status.success() {
            // Without print macros, whose output a passed test hides.
            _ = writeln!(
                std::io::stderr(),
                "note: skipped, `{program}` is not installed"
            );
            return false;
        }
    }
    true
}

/// Runs `qless work q --persistent` with further flags and a command.
fn work(redis: &Redis, flags: &[&str], command: &[&str]) -> RunOutput {
    let fixed = ["work", "q", "--persistent"];
    redis
        .qless()
        .args([&fixed, flags, &["--"], command].concat())
}

#[test]
fn the_worker_of_the_help_completes_jobs() {
    if !has(&["python3"]) {
        return;
    }
    let redis = Redis::start();
    let qless = redis.qless();
    let help = qless.run("work --help").ok();
    let program = help
        .lines()
        .skip_while(|line| !line.starts_with("    import json"));
    let program = program.take_while(|line| line.starts_with("    "));
    let program: Vec<&str> = program.map(|line| &line[4..]).collect();
    assert_eq!(program.len(), 6, "{help}");
    for jid in ["a", "b"] {
        qless.run(&format!("put q K --jid {jid}")).ok();
    }
    work(
        &redis,
        &["--drain"],
        &["python3", "-c", &program.join("\n")],
    )
    .exits(0);
    let done = qless.run("jobs --state complete --count").ok();
    assert!(done.contains('2'), "{done}");
}

/// Runs four jobs with a worker, and checks what it did to each.
fn check_worker(language: &str, command: &[&str], completed: &str) {
    let redis = Redis::start();
    let qless = redis.qless();
    qless.run("put q K '{\"photo\":1}' --jid plain").ok();
    qless.run("put q K '{\"fail\":true}' --jid broken").ok();
    qless.run("put q K '{\"retry\":true}' --jid again").ok();
    qless
        .run("put q K '{\"retry\":true}' --jid last --retries 0")
        .ok();
    let ran = work(&redis, &["--drain"], command).exits(8);
    let of = |jid: &str| -> Value {
        serde_json::from_str(&qless.run(&format!("get {jid} -o json")).ok()).unwrap()
    };
    let plain = of("plain");
    assert_eq!(plain["state"], "complete", "{language}: {}", ran.stderr());
    let expected: Value = serde_json::from_str(completed).unwrap();
    assert_eq!(plain["data"], expected, "{language}");
    let broken = of("broken");
    assert_eq!(broken["failure"]["group"], "picture", "{language}");
    assert_eq!(
        broken["failure"]["message"], "the file is broken",
        "{language}"
    );
    let again = of("again");
    assert_eq!(
        (&again["state"], &again["remaining"]),
        (&"scheduled".into(), &4.into())
    );
    let last = of("last");
    assert_eq!(last["failure"]["group"], "failed-retries-q", "{language}");
    assert!(redis.qless().run("check").ok().is_empty(), "{language}");
}

/// Cancels a job that would run for long while the worker has two, and checks that the worker leaves
/// it and completes the other.
fn check_cancellation(language: &str, in_flight: &str, command: &[&str]) {
    let redis = Redis::start();
    let qless = redis.qless();
    let long = format!("put q K '{{\"seconds\":{LONG}}}' --jid long --priority 1");
    qless.run(&long).ok();
    qless.run("put q K '{}' --jid short").ok();
    let begun = Instant::now();
    let flags = [
        "--count",
        "2",
        "--kill-after",
        "4s",
        "--in-flight",
        in_flight,
    ];
    let ran = std::thread::scope(|scope| {
        let running = scope.spawn(|| work(&redis, &flags, command));
        while !qless
            .run("jobs --state running -o jid")
            .ok()
            .contains("long")
        {
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "{language}: not popped"
            );
        }
        qless.run("cancel long --yes").ok();
        running.join().unwrap()
    });
    let stderr = ran.stderr();
    assert!(
        begun.elapsed() < Duration::from_secs(LONG),
        "{language}: {stderr}"
    );
    assert!(
        stderr.contains("lost      long of q"),
        "{language}: {stderr}"
    );
    assert!(
        stderr.contains("1 completed, 1 lost"),
        "{language}: {stderr}"
    );
    // A worker that ended itself would have been started again.
    assert!(!stderr.contains("it starts again"), "{language}: {stderr}");
    let short = qless.run("get short -o json").ok();
    assert!(short.contains("\"complete\""), "{language}: {short}");
}

#[test]
fn the_example_in_shell_works() {
    if !has(&["sh", "jq"]) {
        return;
    }
    let worker = example("work.sh");
    let completed = r#"{"by":"sh","input":{"photo":1}}"#;
    check_worker("sh", &["sh", &worker], completed);
}

#[test]
fn the_example_in_python_works() {
    if !has(&["python3"]) {
        return;
    }
    let worker = example("work.py");
    let command = ["python3", &worker];
    check_worker("python", &command, r#"{"photo":1,"by":"python"}"#);
    check_cancellation("python", "1", &command);
}

#[test]
fn the_example_in_ruby_works() {
    if !has(&["ruby"]) {
        return;
    }
    let worker = example("work.rb");
    let command = ["ruby", &worker];
    check_worker("ruby", &command, r#"{"photo":1,"by":"ruby"}"#);
    check_cancellation("ruby", "4", &command);
}

#[test]
fn the_example_in_javascript_works() {
    if !has(&["node"]) {
        return;
    }
    let worker = example("work.js");
    let command = ["node", &worker];
    check_worker("node", &command, r#"{"photo":1,"by":"node"}"#);
    check_cancellation("node", "4", &command);
}

#[test]
fn the_example_in_go_works() {
    if !has(&["go"]) {
        return;
    }
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let worker = dir.join("example-worker");
    let built = Command::new("go")
        .args(["build", "-o"])
        .arg(&worker)
        .arg(example("work.go"))
        .env("GOCACHE", dir.join("go-cache"))
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let command = [worker.to_str().unwrap()];
    check_worker("go", &command, r#"{"photo":1,"by":"go"}"#);
    check_cancellation("go", "4", &command);
}

#[test]
fn eight_processes_in_python_complete_a_thousand_jobs() {
    if !has(&["python3"]) {
        return;
    }
    let redis = Redis::start();
    let job =
        |photo| format!("{{\"queue\":\"q\",\"klass\":\"Thumb\",\"data\":{{\"photo\":{photo}}}}}\n");
    let jobs: String = (0..1000).map(job).collect();
    redis.qless().input(jobs).run("put --from - -q").ok();
    let worker = example("work.py");
    let flags = ["-q", "--concurrency", "8", "--drain"];
    let ran = work(&redis, &flags, &["python3", &worker]);
    assert_eq!((ran.code(), ran.stderr()), (0, String::new()));
    let complete = redis
        .qless()
        .run("jobs --state complete --limit 2000 -o ndjson")
        .ok();
    let photos: std::collections::BTreeSet<u64> = complete
        .lines()
        .map(|line| {
            let job: Value = serde_json::from_str(line).unwrap();
            assert_eq!(job["data"]["by"], "python");
            job["data"]["photo"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(photos.len(), 1000);
}

/// The lines of JSON in `qless help work-protocol`.
fn documented() -> impl Iterator<Item = &'static str> {
    let lines = WORK.lines().filter_map(|line| line.strip_prefix("    "));
    lines.filter(|line| line.starts_with('{'))
}

#[test]
fn the_documented_line_of_a_job_is_the_one_that_programs_get() {
    let job = PoppedJob {
        jid: Name::from("9f31c0"),
        klass: Name::from("Thumb"),
        queue: Name::from("thumbs"),
        data: br#"{"photo":7}"#.to_vec(),
        tags: vec![Name::from("eu")],
        retries: 5,
        remaining: 5,
        expires: 1_795_214_460.0,
        ..PoppedJob::default()
    };
    let mut line = Vec::new();
    launcher::append_job_line(&job, &mut line).unwrap();
    let line = String::from_utf8(line).unwrap();
    let shown = documented().find(|line| line.contains("\"attempt\""));
    assert_eq!(shown.unwrap(), line.trim_end());
}

#[test]
fn the_documented_answers_are_answers() {
    let answers =
        documented().filter(|line| line.contains("\"result\"") || line.contains("\"progress\""));
    let mut count = 0;
    for line in answers {
        let answer = Answer::parse_line(line.as_bytes(), true, Duration::ZERO);
        answer.content.unwrap();
        count += 1;
    }
    assert_eq!(count, 6);
}

#[test]
fn the_documented_event_has_the_fields_of_a_real_one() {
    let redis = Redis::start();
    redis.qless().run("put q K --jid 9f31c0").ok();
    let ran = redis
        .qless()
        .run("work q --drain -o ndjson -- sh -c 'exit 7'");
    let ran = ran.stdout();
    let keys = |line: &str| -> Vec<String> {
        let event: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
        event.keys().cloned().collect()
    };
    let shown = documented()
        .find(|line| line.contains("work-event"))
        .unwrap();
    for line in ran.lines() {
        assert_eq!(keys(shown), keys(line));
    }
    let values = |line: &str| -> Vec<Value> {
        let event: Value = serde_json::from_str(line).unwrap();
        ["kind", "v", "event", "jid", "attempt", "exit", "signal"]
            .map(|key| event[key].clone())
            .into()
    };
    assert_eq!(values(shown), values(ran.lines().last().unwrap()));
}

#[test]
fn the_documented_line_of_a_cancelled_job_is_the_one_that_programs_get() {
    let redis = Redis::start();
    let qless = redis.qless();
    qless.run("put q K --jid 9f31c0").ok();
    let dir = tempfile::tempdir().unwrap();
    let lines = dir.path().join("lines");
    // It writes down what it gets, and gives any answer to the second line.
    let script = r#"read -r job; read -r line; echo "$line" >"$0"
        echo '{"jid":"9f31c0","result":"retry"}' >&3; read -r none"#;
    let command = ["sh", "-c", script, lines.to_str().unwrap()];
    let ran = std::thread::scope(|scope| {
        let running = scope.spawn(|| work(&redis, &["--count", "1"], &command));
        let begun = Instant::now();
        while qless.run("jobs --state running -o jid").ok().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(30), "not popped");
        }
        qless.run("cancel 9f31c0 --yes").ok();
        running.join().unwrap()
    });
    assert_eq!(ran.code(), 8, "{}", ran.stderr());
    let shown = documented()
        .find(|line| line.contains("\"cancel\""))
        .unwrap();
    assert_eq!(std::fs::read_to_string(lines).unwrap().trim_end(), shown);
}

#[test]
fn jobs_are_given_back_at_the_second_signal() {
    let redis = Redis::start();
    let qless = redis.qless();
    qless.run("put q K --jid j").ok();
    let begun = Instant::now();
    let started = redis.socket().with_file_name("started");
    let program = format!(
        "trap exit\\ 0 TERM; : >{}; sleep 60 & wait",
        started.display()
    );
    let mut worker = qless.start(&format!("work q -- sh -c '{program}'"));
    // A job whose program has not started yet is released at the first signal.
    while !started.exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    // A server that replies gets the job back also after a third signal.
    while !worker.has_ended() {
        worker.signal(rustix::process::Signal::TERM);
        std::thread::sleep(Duration::from_millis(100));
    }
    let ran = worker.end();
    assert_eq!(ran.code(), 143);
    ran.says("1 given back");
    let next = qless.run("pop q --worker other -o ndjson").ok();
    let job: Value = serde_json::from_str(&next).unwrap();
    expect!["j 5"].assert_eq(&format!(
        "{} {}",
        job["jid"].as_str().unwrap(),
        job["remaining"]
    ));
}
