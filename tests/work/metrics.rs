//! `qless work --metrics`: what a worker says of itself while it works.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;

use crate::support::config::ConfigHome;
use crate::support::listener::{PATIENCE, bind, read_to_end, summary};
use crate::support::promtool;
use crate::support::work::{WorkSite, Worker, until};

/// The listener of a worker.
struct Probe {
    address: String,
}

impl Probe {
    /// Waits until the worker says where it listens.
    #[track_caller]
    fn of(worker: &mut Worker) -> Probe {
        worker.until_says(" for /metrics");
        let said = worker.stderr();
        let (_, rest) = said.split_once("listening on http://").unwrap();
        let (address, _) = rest.split_once(' ').unwrap();
        Probe {
            address: address.to_owned(),
        }
    }

    /// The status and the body of the answer to a path, asked with a further header.
    fn ask_with(&self, path: &str, header: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\n{header}\r\n").unwrap();
        summary(&read_to_end(&mut stream))
    }

    fn ask(&self, path: &str) -> String {
        self.ask_with(path, "")
    }

    #[track_caller]
    fn until(&self, path: &str, expected: &str) {
        until(&format!("{path} is {expected}"), || {
            self.ask(path) == expected
        });
    }

    /// The figures, without the status of the answer.
    fn metrics(&self) -> String {
        let answer = self.ask("/metrics");
        answer.strip_prefix("200 OK: ").unwrap().to_owned() + "\n"
    }

    #[track_caller]
    fn until_metric(&self, line: &str) {
        let whole = format!("{line}\n");
        until(line, || self.metrics().contains(&whole));
    }
}

/// The value of a figure without labels.
fn value(text: &str, name: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap().parse().unwrap()
}

#[test]
fn a_worker_counts_its_jobs_while_it_works() {
    let mut site = WorkSite::with_jobs("mail", &["done", "fails", "again", "long"]);
    let script = r#"case $QLESS_JID in
        fails) exit 1;;
        again) exit 75;;
        long) until [ -e $D/go ]; do sleep 0.01; done;;
    esac"#;
    let mut worker = site.start(
        "mail --metrics :0 -c 2 --poll 100ms --retry-delay 1h",
        script,
    );
    let probe = Probe::of(&mut worker);
    probe.until_metric("qless_work_run_seconds_count 3");
    probe.until_metric("qless_work_busy 1");
    let text = probe.metrics();
    promtool::assert_silent(&text);
    let sum = value(&text, "qless_work_run_seconds_sum");
    assert!(sum > 0.0 && sum < 3.0, "{text}");
    assert!(
        value(&text, "qless_work_last_turn_seconds") < 30.0,
        "{text}"
    );
    assert!(text.contains("qless_build_info{version="), "{text}");
    let is_stable = |line: &&str| {
        let varies = ["build_info{", "last_turn_seconds ", "_sum ", "le=\""];
        !varies.iter().any(|part| line.contains(part)) || line.contains("+Inf")
    };
    let stable: Vec<&str> = text.lines().filter(is_stable).collect();
    expect![[r##"
        # HELP qless_build_info The version of qless and the hash of its core
        # TYPE qless_build_info gauge
        # HELP qless_work_slots Processes that may run at the same time
        # TYPE qless_work_slots gauge
        qless_work_slots 2
        # HELP qless_work_busy Processes that have a job
        # TYPE qless_work_busy gauge
        qless_work_busy 1
        # HELP qless_work_jobs_total Jobs of this worker that ended since its start, by how they did
        # TYPE qless_work_jobs_total counter
        qless_work_jobs_total{queue="mail",result="completed"} 1
        qless_work_jobs_total{queue="mail",result="advanced"} 0
        qless_work_jobs_total{queue="mail",result="retried"} 1
        qless_work_jobs_total{queue="mail",result="failed"} 1
        qless_work_jobs_total{queue="mail",result="lost"} 0
        qless_work_jobs_total{queue="mail",result="released"} 0
        qless_work_jobs_total{queue="mail",result="unknown"} 0
        # HELP qless_work_run_seconds How long jobs ran that this worker completed, advanced, retried or failed
        # TYPE qless_work_run_seconds histogram
        qless_work_run_seconds_bucket{le="+Inf"} 3
        qless_work_run_seconds_count 3
    "##]]
    .assert_eq(&(stable.join("\n") + "\n"));
    std::fs::write(site.dir().join("go"), "").unwrap();
    probe.until_metric("qless_work_jobs_total{queue=\"mail\",result=\"completed\"} 2");
    probe.until_metric("qless_work_busy 0");
    worker.stop().exits(0);
}

#[test]
fn names_of_queues_stay_labels() {
    let mut site = WorkSite::new();
    let hostile = "a\"} 1\nqless_work_busy 7 \\";
    site.put(hostile, "a", "{}");
    let mut worker = site.start("* --metrics :0", "true");
    let probe = Probe::of(&mut worker);
    promtool::assert_silent(&probe.metrics());
    site.until_state("a", "complete");
    probe.until_metric("qless_work_run_seconds_count 1");
    let text = probe.metrics();
    promtool::assert_silent(&text);
    let named = text
        .lines()
        .find(|line| line.contains("result=\"completed\""));
    expect![[
        r#"qless_work_jobs_total{queue="a\"} 1\\nqless_work_busy 7 \\",result="completed"} 1"#
    ]]
    .assert_eq(named.unwrap());
    assert_eq!(text.matches("\nqless_work_busy ").count(), 1, "{text}");
}

#[test]
fn a_worker_is_not_ready_but_alive_while_redis_is_frozen() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let poll = Duration::from_millis(100);
    let timeout = Duration::from_millis(300);
    let mut worker = site.start("mail --metrics :0 --poll 100ms --timeout 300ms", "true");
    let probe = Probe::of(&mut worker);
    probe.until("/readyz", "200 OK: ok");
    site.until_state("a", "complete");
    site.redis.freeze();
    probe.until("/readyz", "503 Service Unavailable: Redis is away");
    // Longer than a stuck worker counts as alive.
    let end = Instant::now() + 4 * (poll + timeout);
    while Instant::now() < end {
        assert_eq!(probe.ask("/livez"), "200 OK: ok");
    }
    let text = probe.metrics();
    assert!(value(&text, "qless_work_last_turn_seconds") > 1.0, "{text}");
    assert_eq!(
        probe.ask("/readyz"),
        "503 Service Unavailable: Redis is away"
    );
    site.redis.thaw();
    probe.until("/readyz", "200 OK: ok");
    let ended = worker.stop();
    assert_eq!(ended.code, 0);
    // Only the note about the listener names a path: no request is logged.
    assert_eq!(ended.stderr.matches("livez").count(), 1, "{}", ended.stderr);
}

/// Stops the first thread of a process, which is the loop of a worker, and no other, until its stdin ends.
#[cfg(target_os = "linux")]
const FREEZE: &str = r#"import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
libc.ptrace.restype = ctypes.c_long
PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
for request in PTRACE_SEIZE, PTRACE_INTERRUPT:
    if libc.ptrace(request, int(sys.argv[1]), 0, 0) != 0:
        sys.exit(print(os.strerror(ctypes.get_errno())))
print("frozen", flush=True)
sys.stdin.read()"#;

#[cfg(target_os = "linux")]
#[test]
fn a_worker_whose_loop_is_frozen_is_not_alive() {
    use std::io::{BufRead, BufReader};

    let mut site = WorkSite::new();
    let mut worker = site.start("mail --metrics :0 --poll 100ms --timeout 300ms", "true");
    let probe = Probe::of(&mut worker);
    probe.until("/readyz", "200 OK: ok");
    let freezer = Command::new("python3")
        .args(["-c", FREEZE, &worker.pid().as_raw_nonzero().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut freezer) = freezer else {
        eprintln!("skipped: python3 is not installed");
        return;
    };
    let mut said = String::new();
    let mut stdout = BufReader::new(freezer.stdout.take().unwrap());
    stdout.read_line(&mut said).unwrap();
    if said != "frozen\n" {
        eprintln!("skipped: this user may not trace a process: {said}");
        freezer.wait().unwrap();
        return;
    }
    let stuck = "503 Service Unavailable: stuck: the last turn or heartbeat ended ";
    for path in ["/livez", "/readyz"] {
        until(path, || probe.ask(path).starts_with(stuck));
    }
    drop(freezer.stdin.take());
    freezer.wait().unwrap();
    probe.until("/livez", "200 OK: ok");
    probe.until("/readyz", "200 OK: ok");
    worker.stop().exits(0);
}

#[test]
fn a_worker_whose_redis_refuses_changes_is_not_ready() {
    let mut site = WorkSite::new();
    let mut worker = site.start("mail --metrics :0 --poll 100ms", "true");
    let probe = Probe::of(&mut worker);
    probe.until("/readyz", "200 OK: ok");
    site.redis.send(&["CONFIG", "SET", "maxmemory", "1"]);
    probe.until("/readyz", "503 Service Unavailable: Redis refuses changes");
    assert_eq!(probe.ask("/livez"), "200 OK: ok");
    site.redis.send(&["CONFIG", "SET", "maxmemory", "0"]);
    probe.until("/readyz", "200 OK: ok");
}

#[test]
fn a_worker_is_not_ready_from_the_first_signal_on() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "echo > $D/began; until [ -e $D/go ]; do sleep 0.01; done";
    let mut worker = site.start("mail --metrics :0", script);
    let probe = Probe::of(&mut worker);
    site.until_lines("began", 1);
    assert_eq!(probe.ask("/readyz"), "200 OK: ok");
    worker.signal(Signal::TERM);
    probe.until(
        "/readyz",
        "503 Service Unavailable: stopping: no further job is popped",
    );
    assert_eq!(probe.ask("/livez"), "200 OK: ok");
    probe.until_metric("qless_work_busy 1");
    std::fs::write(site.dir().join("go"), "").unwrap();
    worker.end().exits(0);
    assert_eq!(site.state("a"), "complete");
    let refused = TcpStream::connect(&probe.address).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
}

#[test]
fn a_worker_is_not_ready_before_its_first_pop() {
    let mut site = WorkSite::new();
    let hook = "until [ -e $D/go ]; do sleep 0.01; done";
    let mut worker = site.start(&format!("mail --metrics :0 --on-start '{hook}'"), "true");
    let probe = Probe::of(&mut worker);
    assert_eq!(
        probe.ask("/readyz"),
        "503 Service Unavailable: starting: no job has been popped"
    );
    assert_eq!(probe.ask("/livez"), "200 OK: ok");
    std::fs::write(site.dir().join("go"), "").unwrap();
    probe.until("/readyz", "200 OK: ok");
}

#[test]
fn an_address_that_is_taken_ends_the_worker_before_it_pops() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let taken = bind("127.0.0.1:0", Default::default());
    let address = taken.url().replace("http://", "");
    let port = address.strip_prefix("127.0.0.1:").unwrap();
    let qless = site.qless().hide(port, "PORT");
    let line = format!("work mail --metrics {address} -- true");
    qless.run(&line).shows(expect![[r#"
        --- stderr
        error: cannot listen on `127.0.0.1:PORT`: address already in use
        hint: another process listens there: name another port, or 0 for any free one
        --- exit 1
    "#]]);
    assert_eq!(site.state("a"), "waiting");
    for line in [
        "work mail --metrics 0.0.0.0:0 -- true",
        "work mail --metrics nope -- true",
        "work mail --token-file t -- true",
        "work mail --allow-host h -- true",
    ] {
        site.qless().run(line).exits(2);
    }
    assert_eq!(site.state("a"), "waiting");
}

#[test]
fn only_clients_with_the_token_and_a_known_host_are_answered() {
    let mut site = WorkSite::new();
    let token = site.dir().join("token");
    crate::support::files::write_private(&token, "s3cret\n");
    let line = format!(
        "mail --metrics 0.0.0.0:0 --allow-host worker.example --token-file {}",
        token.display()
    );
    let mut worker = site.start(&line, "true");
    let probe = Probe::of(&mut worker);
    let bearer = "Authorization: Bearer s3cret\r\n";
    let hosts = ["worker.example", "evil.example"];
    let mut answers = vec![probe.ask("/livez"), probe.ask_with("/nope", bearer)];
    answers.extend(hosts.map(|host| {
        let headers = format!("Host: {host}\r\n{bearer}");
        probe.ask_with("/livez", &headers)
    }));
    expect![[r#"
        401 Unauthorized: the request needs the token: `Authorization: Bearer TOKEN`
        404 Not Found: this listener has /metrics, /livez and /readyz
        200 OK: ok
        421 Misdirected Request: `evil.example` is not a name of this listener: start it with `--allow-host` and the name
    "#]].assert_eq(&(answers.join("\n") + "\n"));
}

#[test]
fn the_listener_ends_with_a_worker_that_has_a_limit() {
    let mut site = WorkSite::with_jobs("mail", &["a", "b", "c"]);
    let socket = site.dir().join("m.sock");
    let count = format!("mail --count 1 --metrics unix:{}", socket.display());
    let ended = site.work(&count, "true");
    assert_eq!(ended.code(), 0);
    assert!(!socket.exists());
    let drain = format!("mail --drain --metrics unix:{}", socket.display());
    let script = "echo > $D/began; until [ -e $D/go ]; do sleep 0.01; done";
    let worker = site.start(&drain, script);
    site.until_lines("began", 1);
    let mut stream = UnixStream::connect(&socket).unwrap();
    write!(stream, "GET /livez HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!(summary(&read_to_end(&mut stream)), "200 OK: ok");
    std::fs::write(site.dir().join("go"), "").unwrap();
    worker.end().exits(0);
    assert!(!socket.exists());
}

#[test]
fn members_cannot_share_an_address() {
    let home = ConfigHome::new("[context.both]\nprefixes = [\"a:\", \"b:\"]\nredis = \"local:\"\n");
    home.run("--context both work mail --metrics :0 -- true")
        .shows(expect![[r#"
            --- stderr
            error: `--metrics` opens one address, and each member has a worker of its own
            hint: `--prefix` names one member; start a worker for each, with addresses of their own
            --- exit 2
        "#]]);
}
