//! Readers of stdout and stderr that stop reading: a stopped terminal, a pager, a log collector that
//! hangs. The worker goes on with what it holds.

use std::io::Read;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::work::{WorkSite, is_alive, until};

/// Starts `qless work` with pipes that nobody reads.
fn unread(site: &WorkSite, line: &str, script: &str) -> Child {
    let mut command = site.qless().command();
    command.arg("work").args(line.split(' '));
    command.args(["--", "sh", "-c", script]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn end(child: &mut Child) -> Option<i32> {
    until("the worker ends", || child.try_wait().unwrap().is_some());
    child.wait().unwrap().code()
}

#[test]
fn locks_are_extended_and_signals_obeyed_while_nobody_reads_the_output() {
    for stream in ["1", "2"] {
        let mut site = WorkSite::new();
        site.config("heartbeat", "2");
        site.config("grace-period", "0");
        site.put("mail", "a", "{}");
        let script = format!("echo $$ > $D/pid; head -c 1000000 /dev/zero | tr '\\0' x >&{stream}");
        let mut worker = unread(&site, "mail --kill-after 1s", &script);
        site.until_lines("pid", 1);
        let begun = site.job("a")["expires"].as_f64().unwrap();
        // The command waits for its reader, and keeps its lock.
        until("the lock is extended", || {
            assert_eq!(site.client.pop("mail", "other", 1), [""; 0]);
            thread::sleep(Duration::from_millis(50));
            site.job("a")["expires"].as_f64().unwrap() > begun + 3.0
        });
        let job = site.client.entry("a").unwrap();
        assert_eq!((job.count("popped"), job.count("timed-out")), (1, 0));
        let pid = site.pid("pid");
        assert!(is_alive(pid));
        for _ in 0..2 {
            kill_process(Pid::from_child(&worker), Signal::TERM).unwrap();
            thread::sleep(Duration::from_millis(1050));
        }
        assert_eq!(end(&mut worker), Some(143));
        assert!(!is_alive(pid));
        assert_eq!(site.state("a"), "stalled");
        site.must_be_clean();
    }
}

#[test]
fn events_that_nobody_reads_stop_the_popping_until_someone_does() {
    const JOBS: usize = 400;

    let mut site = WorkSite::new();
    for at in 0..JOBS {
        // Long events fill the pipe after a few jobs.
        site.put("mail", &format!("{at:0500}"), "{}");
    }
    let mut worker = unread(&site, "mail -c 4 --drain -o ndjson", "true");
    let mut count = |name: &str| site.client.json(&["queues", "mail"])[name].clone();
    until("the worker stops popping", || {
        if count("running") != 0 || count("waiting") == JOBS {
            return false;
        }
        let waiting = count("waiting");
        thread::sleep(Duration::from_millis(300));
        count("waiting") == waiting
    });
    assert_ne!(count("waiting"), 0);
    let mut events = String::new();
    let stdout = worker.stdout.as_mut().unwrap();
    stdout.read_to_string(&mut events).unwrap();
    assert_eq!(end(&mut worker), Some(0));
    for what in ["started", "completed"] {
        let what = format!("\"event\":\"{what}\"");
        assert_eq!(events.matches(&what).count(), JOBS, "{what}");
    }
    assert_eq!(count("waiting"), 0);
    site.must_be_clean();
}
