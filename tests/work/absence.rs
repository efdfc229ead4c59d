//! Servers that go away for longer under a running `qless work`: a failover to a replica, and a server
//! that does not reply until locks have expired.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, geteuid, getrlimit};

use crate::replicas::pair;
use crate::support::client::Client;
use crate::support::proxy::{forward, forward_with_time_ahead, listen};
use crate::support::qless::RunOutput;
use crate::support::redis::Redis;
use crate::support::work::{WorkSite, Worker, until};

/// The jobs of a failover.
const JOBS: usize = 60;

#[test]
fn after_a_failover_the_work_goes_on_with_the_replica() {
    let (primary, replica) = pair();
    let mut site = WorkSite::on(primary);
    for at in 0..JOBS {
        site.put("mail", &format!("{at:02}"), "{}");
    }
    until("the replica has the jobs", || {
        replica.dump() == site.redis.dump()
    });
    // One address that leads to the present primary, as a virtual address or a proxy does.
    let present: Arc<Mutex<PathBuf>> = Arc::new(Mutex::new(site.redis.socket()));
    let shared = present.clone();
    let port = listen(move |client| {
        let socket = shared.lock().unwrap().clone();
        if UnixStream::connect(&socket).is_ok() {
            forward(client, &socket, None);
        }
    });
    let qless = site
        .qless()
        .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
    let mut worker = site.start_as(
        &qless,
        "mail -c 4 --poll 100ms",
        "echo $QLESS_JID >> $D/ran; sleep 0.05",
    );
    site.until_lines("ran", 15);
    // What Sentinel does. The replica lacks at most what was not sent to it yet.
    site.redis.kill();
    worker.until_says("running jobs go on until their locks expire");
    replica.send(&["REPLICAOF", "NO", "ONE"]);
    *present.lock().unwrap() = replica.socket();
    worker.until_says("the server replies again after");
    site.client = Client::new(&replica);
    site.redis = replica;
    until("all jobs are complete", || {
        let queue = site.client.json(&["queues", "mail"]);
        queue["waiting"] == 0 && queue["running"] == 0
    });
    for at in 0..JOBS {
        let jid = format!("{at:02}");
        let job = site.job(&jid);
        assert_eq!(job["state"], "complete", "{jid} {job}");
    }
    worker.stop().exits(0);
    let ran = site.file("ran");
    let mut ran: Vec<&str> = ran.lines().collect();
    let runs = ran.len();
    ran.sort_unstable();
    ran.dedup();
    assert_eq!(ran.len(), JOBS);
    // A job whose pop or end had not reached the replica runs once more, and no other.
    assert!(runs <= JOBS + 2 * 4, "{runs}");
    site.must_be_clean();
}

/// In `make soak` the server is away for longer than a lock of default length lasts.
#[test]
fn random_jobs_are_not_lost_by_a_server_that_is_away_longer_than_their_locks() {
    let is_long = ["TEST_ROUNDS", "TEST_SEED"]
        .into_iter()
        .any(|name| std::env::var_os(name).is_some());
    let (lock, away) = if is_long {
        (60, Duration::from_secs(75))
    } else {
        (1, Duration::from_secs(2))
    };
    let mut site = WorkSite::new();
    site.config("heartbeat", &lock.to_string());
    site.config("grace-period", "0");
    for at in 0..12 {
        site.put("mail", &format!("{at:02}"), "{}");
    }
    // The jobs that run when the server goes away run on until their locks expire; those of a
    // second attempt end.
    let script = "echo $QLESS_JID >> $D/ran; test -e $D/back || exec sleep 300";
    let mut worker = site.start(
        "mail -c 4 --poll 100ms --timeout 1s --kill-after 1s",
        script,
    );
    site.until_lines("ran", 4);
    site.redis.freeze();
    worker.until_says("running jobs go on until their locks expire");
    thread::sleep(away);
    std::fs::write(site.dir().join("back"), "").unwrap();
    // Nothing was popped meanwhile, and nobody runs a job whose lock has expired.
    assert_eq!(site.file("ran").lines().count(), 4);
    site.redis.thaw();
    for at in 0..12 {
        site.until_state(&format!("{at:02}"), "complete");
    }
    let ended = worker.stop().exits(0);
    let back = ended.stderr.matches("the server replies again after");
    assert_eq!(back.count(), 1, "{}", ended.stderr);
    // A lock that the server granted in the name of a call from before may be over when its reply
    // comes: then the job runs once more.
    let runs = site.file("ran").lines().count();
    assert!((16..=24).contains(&runs), "{runs}: {}", ended.stderr);
    for at in 0..12 {
        let history = site.job(&format!("{at:02}"))["history"].to_string();
        assert_eq!(history.matches("done").count(), 1, "{history}");
    }
    site.must_be_clean();
}

#[test]
fn a_server_that_refuses_to_write_is_waited_for_quietly() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    site.redis.send(&["CONFIG", "SET", "maxmemory", "1"]);
    let worker = site.start("mail", "echo ran >> $D/ran");
    thread::sleep(Duration::from_millis(1500));
    site.redis.send(&["CONFIG", "SET", "maxmemory", "0"]);
    site.until_state("a", "complete");
    let ended = worker.stop();
    let count = |text: &str| ended.stderr.matches(text).count();
    let counts = (
        count("is out of memory"),
        count("takes changes again"),
        count("replies again"),
    );
    assert_eq!(counts, (1, 1, 0), "{}", ended.stderr);
}

/// Servers that refuse to write: the setting, its values that begin and end the refusals, and the warning.
const REFUSALS: [(&str, [&str; 2], &str); 2] = [
    ("maxmemory", ["1", "0"], "is out of memory"),
    (
        "min-replicas-to-write",
        ["1", "0"],
        "has too few replicas and refuses changes",
    ),
];

/// The options of jobs whose ending also changes the keys of other jobs.
const COORDINATED: [(&str, &[&str]); 3] = [
    ("lane", &["key", "k"]),
    ("throttle", &["throttles", r#"["api"]"#]),
    ("lock", &["lock", "l"]),
];

/// The server refuses to write while jobs run, and still when they end.
#[track_caller]
fn results_must_outlast_refusals(line: &str, script: &str, jobs: &[(&str, &[&str])]) {
    for (setting, [refuse, accept], warning) in REFUSALS {
        let mut site = WorkSite::new();
        for (jid, more) in jobs {
            site.put_with("mail", jid, "{}", more);
        }
        let mut worker = site.start(&format!("mail --poll 100ms {line}"), script);
        site.until_lines("ran", jobs.len());
        site.redis.send(&["CONFIG", "SET", setting, refuse]);
        std::fs::write(site.dir().join("go"), "").unwrap();
        worker.until_says(warning);
        // The worker repeats the refused call, also with a search for what the call may have done.
        let calls = site.redis.scripts_run();
        until("the call is repeated", || {
            site.redis.scripts_run() >= calls + 3
        });
        site.redis.send(&["CONFIG", "SET", setting, accept]);
        for (jid, _) in jobs {
            site.until_state(jid, "complete");
        }
        let ended = worker.stop().exits(0);
        ended.says(&format!("{} completed in ", jobs.len()));
        for wrong in ["bad-answer", "unknown", "failed", "lost", "cannot pop"] {
            assert!(!ended.stderr.contains(wrong), "{wrong}: {}", ended.stderr);
        }
        let ran = site.file("ran");
        assert_eq!(ran.lines().count(), jobs.len(), "{ran}{}", ended.stderr);
        site.must_be_clean();
        site.must_keep_invariants();
    }
}

const UNTIL_GO: &str = "until [ -e $D/go ]; do sleep 0.01; done";

#[test]
fn the_result_of_a_job_with_a_lane_a_throttle_or_a_lock_outlasts_refused_writes() {
    let script = format!("echo $QLESS_JID >> $D/ran; {UNTIL_GO}");
    for job in COORDINATED {
        results_must_outlast_refusals("", &script, &[job]);
    }
}

#[test]
fn the_results_of_several_jobs_outlast_refused_writes() {
    let script = format!("echo $QLESS_JID >> $D/ran; {UNTIL_GO}");
    let mut jobs = COORDINATED.to_vec();
    jobs.push(("plain", &[]));
    results_must_outlast_refusals("-c 4", &script, &jobs);
}

#[test]
fn the_answers_of_persistent_processes_outlast_refused_writes() {
    let script = format!(
        r#"while read -r line; do
            jid=${{line#*\"jid\":\"}}; jid=${{jid%%\"*}}
            echo $jid >> $D/ran
            {UNTIL_GO}
            echo "{{\"jid\":\"$jid\",\"result\":\"complete\"}}" >&3
        done"#
    );
    results_must_outlast_refusals("-c 3 --persistent", &script, &COORDINATED);
}

#[test]
fn a_user_who_may_not_write_cannot_work() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let user = "ACL SETUSER w on >secret ~* &* +@all -zrem";
    site.redis.send(&user.split(' ').collect::<Vec<_>>());
    let qless = site.qless().with_user(&site.redis.url(), "w", "secret");
    let ran = qless.run("work mail -- true").exits(6);
    ran.says("hint: `qless help acl` prints the line an administrator needs");
    if Redis::has_selective_rights() {
        ran.says("error: user `w` may not run ZREM on `ql:*`; nothing was changed");
        assert_eq!(site.state("a"), "waiting");
    } else {
        // Such a server refuses a command of a script only when it comes to it.
        ran.says("error: user `w` may not run this command or subcommand; the call may have been applied in part");
    }
}

#[test]
fn events_that_cannot_be_written_are_an_error_and_the_work_is_done() {
    let mut site = WorkSite::with_jobs("mail", &["a", "b"]);
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = site.qless().command();
    command.args(["work", "mail", "--drain", "-o", "ndjson", "--", "true"]);
    let ended = RunOutput::of_child(command.stdout(full).spawn().unwrap());
    assert_eq!(ended.code(), 1, "{}", ended.stderr());
    let count = ended.stderr().matches("no space left on device").count();
    assert_eq!(count, 2, "{}", ended.stderr());
    assert_eq!(
        (site.state("a"), site.state("b")),
        ("complete".into(), "complete".into())
    );
}

#[test]
fn jobs_whose_data_is_deleted_while_they_run_are_no_success() {
    for (slots, error) in [
        (
            1,
            "error: 1 running job does not exist any more, and nobody cancelled it\n",
        ),
        (
            2,
            "error: 2 running jobs do not exist any more, and nobody cancelled them\n",
        ),
    ] {
        let mut site = WorkSite::with_numbered_jobs("q", 20);
        let script = "echo $QLESS_JID >> $D/ran; until [ -e $D/flushed ]; do sleep 0.02; done";
        let worker = site.start(&format!("q --drain -c {slots}"), script);
        site.until_lines("ran", slots);
        site.redis.send(&["FLUSHALL"]);
        std::fs::write(site.dir().join("flushed"), "").unwrap();
        let ended = worker.end().exits(8);
        ended.says(error);
        let count = |text: &str| ended.stderr.matches(text).count();
        let warning = "warning: a running job does not exist any more, and nobody cancelled it";
        assert_eq!(count(warning), 1, "{}", ended.stderr);
        let lost = ": it does not exist any more";
        assert_eq!(count(lost), slots, "{}", ended.stderr);
    }
}

#[test]
fn a_reconnect_waits_for_a_limit_of_threads_to_be_lifted() {
    let mut site = WorkSite::with_jobs("q", &["a"]);
    let socket = site.redis.socket();
    let clients: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let shared = clients.clone();
    let port = listen(move |client| {
        shared.lock().unwrap().push(client.try_clone().unwrap());
        forward(client, &socket, None);
    });
    let url = format!("redis://127.0.0.1:{port}");
    let mut command = site.qless().env("QLESS_REDIS_URL", url).command();
    command.args(["work", "q", "--", "sleep", "1"]);
    // The system sets the superuser no limit.
    let user = if geteuid().is_root() {
        2_000_000_000 + std::process::id()
    } else {
        geteuid().as_raw()
    };
    let mut worker = site.start_command(command.uid(user));
    site.until_state("a", "running");
    let pid = worker.pid().to_string();
    let hard = getrlimit(Resource::Nproc).maximum;
    let hard = hard.map_or_else(|| "unlimited".to_owned(), |hard| hard.to_string());
    let limit = |threads: &str| {
        let mut prlimit = Command::new("prlimit");
        let limit = format!("--nproc={threads}:{hard}");
        let limited = prlimit.args(["--pid", &pid, &limit]).uid(user).status();
        assert!(limited.unwrap().success());
    };
    limit("1");
    for client in clients.lock().unwrap().drain(..) {
        _ = client.shutdown(Shutdown::Both);
    }
    worker.until_says("warning: lost ");
    // Some attempts fail.
    thread::sleep(Duration::from_millis(500));
    limit(&hard);
    worker.until_says("the server replies again");
    site.until_state("a", "complete");
    let stderr = worker.stop().stderr;
    assert_eq!(stderr.matches("started ").count(), 1, "{stderr}");
}

#[test]
fn a_jump_of_the_servers_clock_changes_no_duration() {
    for ahead in [3600, -3600] {
        let mut site = WorkSite::with_jobs("q", &["a"]);
        let socket = site.redis.socket();
        let clients: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let is_set = Arc::new(Mutex::new(0));
        let (shared, jump) = (clients.clone(), is_set.clone());
        let port = listen(move |client| {
            shared.lock().unwrap().push(client.try_clone().unwrap());
            let ahead = *jump.lock().unwrap();
            forward_with_time_ahead(client, &socket, move || ahead);
        });
        let url = format!("redis://127.0.0.1:{port}");
        let qless = site.qless().env("QLESS_REDIS_URL", url);
        let script = "echo x >> $D/ran; until [ -e $D/set ]; do sleep 0.02; done";
        let mut worker = site.start_as(&qless, "q", script);
        site.until_lines("ran", 1);
        *is_set.lock().unwrap() = ahead;
        for client in clients.lock().unwrap().drain(..) {
            _ = client.shutdown(Shutdown::Both);
        }
        worker.until_says(if ahead < 0 {
            "note: the server's clock jumped back by "
        } else {
            "note: the server's clock jumped by "
        });
        std::fs::write(site.dir().join("set"), "").unwrap();
        site.until_state("a", "complete");
        let stderr = worker.stop().stderr;
        assert_eq!(stderr.matches("clock jumped").count(), 1, "{stderr}");
        assert!(stderr.contains("completed a of q after"), "{stderr}");
        // Neither an hour nor less than nothing passed.
        assert!(!stderr.contains("after 1h"), "{stderr}");
        assert!(!stderr.contains("after -"), "{stderr}");
        assert!(!stderr.contains("lost      a"), "{stderr}");
    }
}

#[test]
fn a_jump_of_the_servers_clock_is_followed_without_a_new_connection() {
    let mut site = WorkSite::with_jobs("q", &["a"]);
    let socket = site.redis.socket();
    let ahead = Arc::new(AtomicI64::new(0));
    let jump = ahead.clone();
    let port = listen(move |client| {
        let jump = jump.clone();
        forward_with_time_ahead(client, &socket, move || jump.load(Ordering::Relaxed));
    });
    let qless = site
        .qless()
        .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
    let script = "echo x >> $D/ran; until [ -e $D/set ]; do sleep 0.02; done";
    let mut worker = site.start_as(&qless, "q -c 2", script);
    site.until_lines("ran", 1);
    let expires = |site: &WorkSite| match site.redis.send(&["HGET", "ql:j:a", "expires"]) {
        redis::Value::BulkString(text) => std::str::from_utf8(&text).unwrap().parse().unwrap(),
        _ => 0.0,
    };
    let before: f64 = expires(&site);
    ahead.store(3600, Ordering::Relaxed);
    worker.until_says("note: the server's clock jumped by ");
    // The lock is extended by the new clock.
    until("the lock follows", || expires(&site) > before + 3000.0);
    std::fs::write(site.dir().join("set"), "").unwrap();
    site.until_state("a", "complete");
    let stderr = worker.stop().stderr;
    assert_eq!(stderr.matches("clock jumped").count(), 1, "{stderr}");
    assert!(!stderr.contains("lost"), "{stderr}");
}

#[test]
fn a_slow_start_is_no_jump_of_the_servers_clock() {
    let site = WorkSite::with_jobs("q", &["a"]);
    let ran = site.work("q --drain --on-start 'sleep 6'", "true").exits(0);
    assert!(!ran.stderr().contains("jumped"), "{}", ran.stderr());
}

#[test]
fn a_running_job_that_is_cancelled_is_no_loss() {
    let mut site = WorkSite::with_jobs("q", &["a"]);
    let mut worker = site.start("q --drain", "sleep 20");
    worker.until_says("started   a");
    site.client.call(&["cancel", "a"]).unwrap();
    let ended = worker.end().exits(0);
    ended.says(": cancelled\n");
}

/// Forwards everything but turns: one gets this reply; without one, its connection is closed.
fn forward_without_turns(mut client: TcpStream, socket: &Path, reply: Option<&[u8]>) {
    let mut server = UnixStream::connect(socket).unwrap();
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || std::io::copy(&mut from, &mut to));
    let mut bytes = vec![0; 1 << 20];
    while let Ok(count @ 1..) = client.read(&mut bytes) {
        let turn = b"\r\nguard.turn\r\n";
        let is_turn = bytes[..count]
            .windows(turn.len())
            .any(|bytes| bytes == turn);
        match (is_turn, reply) {
            (false, _) => server.write_all(&bytes[..count]).unwrap(),
            (true, Some(reply)) => client.write_all(reply).unwrap(),
            (true, None) => break,
        }
    }
    _ = client.shutdown(Shutdown::Both);
    _ = server.shutdown(Shutdown::Both);
}

/// Starts a worker on a server that takes no turns.
fn without_turns(site: &mut WorkSite, reply: Option<&'static [u8]>) -> Worker {
    site.put("mail", "a", "{}");
    let socket = site.redis.socket();
    let port = listen(move |client| forward_without_turns(client, &socket, reply));
    let url = format!("redis://127.0.0.1:{port}");
    let qless = site.qless().env("QLESS_REDIS_URL", url);
    site.start_as(&qless, "mail --poll 100ms", "true")
}

#[test]
fn an_error_that_repeats_is_reported_once_and_counted() {
    let mut site = WorkSite::new();
    let mut worker = without_turns(&mut site, None);
    worker.until_says("warning: lost");
    thread::sleep(Duration::from_secs(2));
    let ended = worker.stop();
    let said = |text: &str| ended.stderr.matches(text).count();
    assert_eq!(said("running jobs go on until"), 1, "{}", ended.stderr);
    assert!(said("replies again") <= 1, "{}", ended.stderr);
    assert_eq!(said(" more times: lost `"), 1, "{}", ended.stderr);
}

#[test]
fn a_call_that_is_refused_for_good_ends_the_work() {
    let reply = b"-ERR user_script:1: Guard(): wrong number of words: 10000 script: 0, on @user_script:1.\r\n";
    let mut site = WorkSite::new();
    let ended = without_turns(&mut site, Some(reply)).end().exits(6);
    let error = "error: the server refuses a call of the worker for good: guard.turn: wrong number of words";
    assert_eq!(ended.stderr.matches(error).count(), 1, "{}", ended.stderr);
    assert_eq!(site.state("a"), "waiting");
}
