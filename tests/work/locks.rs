//! `qless work`: locks, signals, and servers that are away.

use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;

use crate::support::proxy::{Cut, proxy, proxy_then};
use crate::support::redis::Redis;
use crate::support::text::lines_with;
use crate::support::work::{WorkSite, is_alive, until};

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// How often the history of a job says something.
fn count(site: &mut WorkSite, jid: &str, what: &str) -> usize {
    site.client.entry(jid).unwrap().count(what)
}

#[test]
fn a_job_that_runs_longer_than_its_lock_keeps_it() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "2");
    site.config("grace-period", "0");
    site.put("mail", "a", "{}");
    let worker = site.start("mail --drain", "echo x >> $D/ran; sleep 4.5");
    site.until_lines("ran", 1);
    // Another worker gets nothing meanwhile.
    while site.state("a") == "running" {
        assert_eq!(site.client.pop("mail", "other", 1), [""; 0]);
        thread::sleep(millis(100));
    }
    worker.end().exits(0);
    assert_eq!(
        (site.words("ran").as_str(), site.state("a").as_str()),
        ("x", "complete")
    );
    assert_eq!(count(&mut site, "a", "popped"), 1);
    site.must_be_clean();
}

#[test]
fn the_first_signal_lets_jobs_end_and_pops_nothing_more() {
    let mut site = WorkSite::new();
    // With `--count 1`, the last job is popped already.
    for (flags, signal) in [
        ("", Signal::INT),
        ("", Signal::TERM),
        ("", Signal::HUP),
        ("--count 1", Signal::TERM),
    ] {
        site.put("mail", "a", "{}");
        site.put("mail", "b", "{}");
        let script = "echo $QLESS_JID >> $D/ran; until test -e $D/go; do sleep 0.02; done";
        let mut worker = site.start(&format!("mail {flags}"), script);
        site.until_lines("ran", 1);
        worker.signal(signal);
        worker.until_says(
            "stopping: 1 job is still running; a second signal stops it and gives it back",
        );
        std::fs::write(site.dir().join("go"), "").unwrap();
        worker.end().exits(0);
        assert_eq!(site.words("ran"), "a");
        assert_eq!([site.state("a"), site.state("b")], ["complete", "waiting"]);
        for name in ["go", "ran"] {
            std::fs::remove_file(site.dir().join(name)).unwrap();
        }
    }
    site.must_be_clean();
}

#[test]
fn a_worker_that_stood_still_beyond_its_locks_ends_its_programs() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "1");
    site.config("grace-period", "0");
    site.put("mail", "a", "{}");
    let script = "echo $$ >> $D/ran; while :; do sleep 0.02; done";
    let mut worker = site.start("mail", script);
    site.until_lines("ran", 1);
    let pid = site.pid("ran");
    worker.signal(Signal::STOP);
    until("another worker gets the job", || {
        site.client.pop("mail", "other", 1) == ["a"]
    });
    worker.signal(Signal::CONT);
    until("the program is gone", || !is_alive(pid));
    worker.until_says("lost      a of mail");
    site.client
        .call(&["complete", "a", "other", "mail", "{}"])
        .unwrap();
    worker.stop().exits(0);
    assert_eq!(site.state("a"), "complete");
    site.must_be_clean();
}

#[test]
fn what_a_program_answers_after_its_lock_expired_is_not_written_by_a_worker_that_wakes_up() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "1");
    site.config("grace-period", "0");
    site.put("mail", "a", "{}");
    let script = "echo >> $D/begun; until [ -e $D/end ]; do sleep 0.02; done";
    let mut worker = site.start("mail", script);
    let note = "note: a lock of queue `mail` lasts 1s, and a call may take 10s";
    worker.until_says(note);
    site.until_lines("begun", 1);
    worker.signal(Signal::STOP);
    // The program ends well, but while its worker stands still another one gets the job.
    std::fs::write(site.dir().join("end"), "").unwrap();
    until("another worker gets the job", || {
        site.client.pop("mail", "other", 1) == ["a"]
    });
    worker.signal(Signal::CONT);
    worker.until_says("lost      a of mail");
    assert_eq!(site.job("a")["worker"], "other");
    worker.stop().exits(0);
}

/// timeout(1), systemd and process managers signal a process and then its group.
#[test]
fn signals_within_a_second_are_one() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "echo x >> $D/ran; until test -e $D/go; do sleep 0.02; done";
    let mut worker = site.start("mail", script);
    site.until_lines("ran", 1);
    for signal in [Signal::TERM, Signal::TERM, Signal::INT] {
        worker.signal(signal);
        worker.until_says("stopping: 1 job is still running");
    }
    std::fs::write(site.dir().join("go"), "").unwrap();
    worker.end().exits(0);
    assert_eq!(site.state("a"), "complete");
    site.must_be_clean();
}

#[test]
fn the_second_signal_gives_jobs_back_without_a_retry() {
    let mut site = WorkSite::new();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        site.put_with("mail", "a", "{}", &["retries", "0"]);
        site.put_with("mail", "b", "{}", &["retries", "0"]);
        let script = "trap 'echo TERM >> $D/got; exit 0' TERM; echo x >> $D/ran; while :; do sleep 0.02; done";
        let worker = site.start("mail -c 2", script);
        site.until_lines("ran", 2);
        worker.signal(signal);
        worker.signal_again(signal);
        let ended = worker.end().exits(code);
        assert_eq!(site.words("got"), "TERM TERM");
        for jid in ["a", "b"] {
            assert_eq!(site.state(jid), "stalled");
            assert_eq!(site.job(jid)["remaining"], 0);
        }
        ended.says("2 given back");
        for name in ["got", "ran"] {
            std::fs::remove_file(site.dir().join(name)).unwrap();
        }
    }
    assert_eq!(site.work("mail --drain", "true").code(), 0);
    assert_eq!(site.state("a"), "complete");
    site.must_be_clean();
}

#[test]
fn a_program_that_ignores_sigterm_is_killed_after_a_while() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "trap '' TERM; echo $$ > $D/pid; sleep 1000 & echo $! > $D/child; while :; do sleep 0.05; done";
    let mut worker = site.start("mail --kill-after 300ms", script);
    site.until_lines("child", 1);
    worker.signal(Signal::TERM);
    worker.until_says("stopping");
    worker.signal_again(Signal::TERM);
    worker.end().exits(143);
    for name in ["pid", "child"] {
        let pid = site.pid(name);
        until("the group is gone", || !is_alive(pid));
    }
    assert_eq!(site.client.pop("mail", "other", 1), ["a"]);
}

#[test]
fn two_signals_end_the_work_while_the_server_is_away() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "echo $$ > $D/pid; exec sleep 300";
    let mut worker = site.start("mail --kill-after 1h --timeout 500ms", script);
    site.until_lines("pid", 1);
    site.redis.kill();
    worker.signal(Signal::TERM);
    worker.until_says("stopping");
    worker.signal_again(Signal::TERM);
    let ended = worker.end().exits(143);
    let line = "error: stopped by a second signal; 1 job could not be given back; \
                it comes back when its lock expires\n";
    assert!(ended.stderr.ends_with(line), "{}", ended.stderr);
    let pid = site.pid("pid");
    until("the command is gone", || !is_alive(pid));
}

#[test]
fn the_third_signal_waits_neither_for_commands_nor_for_the_server() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "trap 'echo TERM >> $D/got' TERM; echo $$ > $D/pid; while :; do sleep 0.02; done";
    let mut worker = site.start("mail --kill-after 1h --timeout 1h", script);
    site.until_lines("pid", 1);
    site.redis.freeze();
    worker.signal(Signal::TERM);
    worker.until_says("stopping");
    worker.signal_again(Signal::TERM);
    site.until_lines("got", 1);
    worker.signal_again(Signal::TERM);
    let ended = worker.end().exits(143);
    ended.says("1 job could not be given back");
    let pid = site.pid("pid");
    until("the command is gone", || !is_alive(pid));
    site.redis.thaw();
}

#[test]
fn sigttin_shows_what_runs() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let mut worker = site.start(
        "mail -c 2",
        "echo x >> $D/ran; until test -e $D/go; do sleep 0.02; done",
    );
    site.until_lines("ran", 1);
    worker.signal(Signal::TTIN);
    worker.until_says("1 job running, no results waiting to be written, 1 popped so far");
    worker.says("slot 1: `a` of queue `mail` for ");
    worker.says("slot 2: free");
    std::fs::write(site.dir().join("go"), "").unwrap();
    worker.stop().exits(0);
    assert_eq!(site.state("a"), "complete");
}

#[test]
fn a_cancelled_job_is_stopped_and_nothing_is_written() {
    let mut site = WorkSite::new();
    for (jid, script) in [
        (
            "soft",
            "trap 'echo soft >> $D/got; exit 0' TERM; echo $$ >> $D/pids; while :; do sleep 0.02; done",
        ),
        (
            "hard",
            "trap '' TERM; echo $$ >> $D/pids; while :; do sleep 0.02; done",
        ),
    ] {
        site.put("mail", jid, "{}");
        let mut worker = site.start("mail --kill-after 300ms", script);
        site.until_lines("pids", 1);
        let pid = site.pid("pids");
        site.client.call(&["cancel", jid]).unwrap();
        until("the program is gone", || !is_alive(pid));
        worker.until_says("cancelled");
        let ended = worker.stop().exits(0);
        ended.says("1 lost");
        assert_eq!(site.state(jid), "gone");
        std::fs::remove_file(site.dir().join("pids")).unwrap();
    }
    assert_eq!(site.words("got"), "soft");
    site.must_be_clean();
}

#[test]
fn a_job_whose_lock_is_revoked_is_stopped_and_runs_again() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script =
        "echo $$ >> $D/ran; test $(wc -l < $D/ran) = 2 && exit 0; while :; do sleep 0.02; done";
    let worker = site.start("mail --count 2 -c 2 --poll 20ms", script);
    site.until_lines("ran", 1);
    let pid = site.pid("ran");
    site.client.call(&["timeout", "a"]).unwrap();
    site.until_state("a", "complete");
    until("the first run is gone", || !is_alive(pid));
    worker.end().exits(0);
    assert_eq!(site.file("ran").lines().count(), 2);
    site.must_be_clean();
}

#[test]
fn programs_end_before_another_worker_can_have_their_jobs() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "1");
    site.config("grace-period", "10");
    site.put("mail", "a", "{}");
    // Only the first run does not end.
    let script =
        "[ -s $D/ran ] && exit 0; trap '' TERM; echo $$ >> $D/ran; while :; do sleep 0.02; done";
    let mut worker = site.start("mail --kill-after 30s --timeout 500ms", script);
    site.until_lines("ran", 1);
    let pid = site.pid("ran");
    site.redis.freeze();
    let frozen = Instant::now();
    until("the program is gone", || !is_alive(pid));
    let lived = frozen.elapsed();
    // The lock ends within a second, and the grace period ten seconds later.
    assert!(lived < millis(10_900), "{lived:?}");
    assert!(lived > millis(400), "{lived:?}");
    site.redis.thaw();
    worker.until_says("its lock expired before it was extended");
    worker.until_says("the server replies again after");
    site.until_state("a", "complete");
    worker.signal(Signal::TERM);
    worker.end().exits(0);
    site.must_be_clean();
}

#[test]
fn jobs_run_on_while_the_server_is_away_and_their_ends_are_written_then() {
    let mut site = WorkSite::with_numbered_jobs("mail", 4);
    let script = "echo $QLESS_JID >> $D/ran; sleep 0.3; echo $QLESS_JID >> $D/done";
    let mut worker = site.start("mail -c 2 --poll 100ms --timeout 300ms", script);
    site.until_lines("ran", 2);
    site.redis.freeze();
    worker.until_says("running jobs go on until their locks expire");
    assert_eq!(site.file("done").lines().count(), 2);
    site.redis.thaw();
    for at in 0..4 {
        site.until_state(&format!("{at}"), "complete");
    }
    let ended = worker.stop().exits(0);
    let back = lines_with(&ended.stderr, "the server replies again after");
    assert_eq!(back.lines().count(), 1, "{}", ended.stderr);
    assert_eq!(site.file("ran").lines().count(), 4);
    site.must_be_clean();
}

#[test]
fn a_server_that_restarts_with_its_data_loses_no_job() {
    let always = ["--appendonly", "yes", "--appendfsync", "always"];
    let mut site = WorkSite::on(Redis::with(&always));
    for at in 0..30 {
        site.put("mail", &format!("{at:02}"), "{}");
    }
    let worker = site.start(
        "mail -c 3 --poll 100ms",
        "sleep 0.05; echo $QLESS_JID >> $D/ran",
    );
    for lines in [3, 10] {
        site.until_lines("ran", lines);
        site.redis.kill();
        thread::sleep(millis(200));
        site.redis.restart_with(&always);
    }
    site.client = crate::support::client::Client::new(&site.redis);
    for at in 0..30 {
        site.until_state(&format!("{at:02}"), "complete");
    }
    worker.stop().exits(0);
    // An ending whose reply was lost is settled, and no program ran twice.
    assert_eq!(site.file("ran").lines().count(), 30);
    site.must_be_clean();
}

#[test]
fn a_script_flush_is_not_noticed() {
    let mut site = WorkSite::with_numbered_jobs("mail", 30);
    let worker = site.start("mail -c 2 --drain", "echo x >> $D/ran");
    for lines in [2, 10, 20] {
        site.until_lines("ran", lines);
        site.redis.send(&["SCRIPT", "FLUSH"]);
    }
    let ended = worker.end().exits(0);
    assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
    assert_eq!(site.file("ran").lines().count(), 30);
    site.must_be_clean();
}

#[test]
fn programs_of_a_worker_that_is_killed_end_and_their_jobs_come_back() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "1");
    site.config("grace-period", "0");
    site.put_with("mail", "a", "{}", &["retries", "2"]);
    let script = "echo $$ >> $D/ran; test $QLESS_ATTEMPT = 2 || sleep 1000";
    let worker = site.start("mail", script);
    site.until_lines("ran", 1);
    let pid = site.pid("ran");
    drop(worker);
    until("the program is gone", || !is_alive(pid));
    assert_eq!(site.state("a"), "running");
    let worker = site.start("mail --count 1 --poll 100ms", script);
    worker.end().exits(0);
    assert_eq!(
        (
            site.state("a").as_str(),
            site.job("a")["remaining"].as_u64()
        ),
        ("complete", Some(2))
    );
    site.must_be_clean();
}

#[test]
fn jobs_of_a_pop_whose_reply_was_lost_run_at_once_and_once() {
    let mut lost = 0;
    for in_turn in 5..11 {
        let mut site = WorkSite::new();
        for at in 0..12 {
            site.put("mail", &format!("{at:02}"), "{}");
        }
        let port = proxy(site.redis.socket(), Cut::After(in_turn));
        let url = format!("redis://127.0.0.1:{port}");
        let qless = site.qless().env("QLESS_REDIS_URL", url);
        let begun = Instant::now();
        let worker = site.start_as(&qless, "mail -c 4 --drain", "echo $QLESS_JID >> $D/ran");
        let ended = worker.end();
        // A lock lasts 60 seconds.
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(20), "{took:?}");
        if ended.code == 6 {
            // The first calls decide whether there is a server: without a reply nothing is popped.
            assert_eq!(site.state("00"), "waiting");
            continue;
        }
        assert_eq!(ended.code, 0, "{in_turn}: {}", ended.stderr);
        lost += usize::from(ended.stderr.contains("the server replies again after"));
        let ran = site.file("ran");
        let mut ran: Vec<&str> = ran.lines().collect();
        ran.sort_unstable();
        let all: Vec<String> = (0..12).map(|at| format!("{at:02}")).collect();
        assert_eq!(ran, all, "{in_turn}: {}", ended.stderr);
        for jid in &all {
            assert_eq!(site.state(jid), "complete", "{in_turn}: {}", ended.stderr);
            assert_eq!(count(&mut site, jid, "popped"), 1);
        }
        site.must_be_clean();
    }
    assert!(lost >= 2, "{lost}");
}

#[test]
fn an_ending_whose_reply_came_late_and_was_lost_is_reported_as_what_it_was() {
    let mut lost = 0;
    for in_turn in 6..10 {
        let mut site = WorkSite::with_jobs("mail", &["a", "b", "c"]);
        // The ending is in the history two seconds before the worker can ask what became of it.
        let port = proxy_then(site.redis.socket(), Cut::After(in_turn), || {
            std::thread::sleep(Duration::from_secs(2));
        });
        let url = format!("redis://127.0.0.1:{port}");
        let qless = site.qless().env("QLESS_REDIS_URL", url);
        let worker = site.start_as(&qless, "mail -c 1 --drain", "true");
        let ended = worker.end();
        if ended.code == 6 {
            continue;
        }
        lost += usize::from(ended.stderr.contains("the server replies again after"));
        for jid in ["a", "b", "c"] {
            let line = format!("completed {jid} of mail");
            assert!(ended.stderr.contains(&line), "{in_turn}: {}", ended.stderr);
        }
        site.must_be_clean();
    }
    assert!(lost >= 2, "{lost}");
}

#[test]
fn much_output_is_passed_on_in_little_memory() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "head -c 40000000 /dev/zero | tr '\\0' 'x' >&2; head -c 40000000 /dev/zero; echo last words >&2; touch $D/written; until test -e $D/go; do sleep 0.02; done; exit 1";
    let worker = site.start("mail --drain -q", script);
    until("all is written", || site.dir().join("written").exists());
    let pid = worker.pid().as_raw_nonzero();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").trim().parse().unwrap();
    std::fs::write(site.dir().join("go"), "").unwrap();
    worker.end().exits(8);
    assert!(peak < 64 * 1024, "{peak} kB");
    assert!(site.failure("a").ends_with("last words"));
}

#[test]
fn a_program_may_close_its_descriptors() {
    let mut site = WorkSite::new();
    site.put("mail", "a", &format!("\"{}\"", "x".repeat(1_000_000)));
    site.put("mail", "b", "{}");
    let script = "exec 0<&- 1>&- 2>&- 3>&-; sleep 0.1; test $QLESS_JID = a || exit 3";
    site.work("mail --drain", script).exits(8);
    assert_eq!(site.state("a"), "complete");
    expect!["failed exit-3: the command ended with exit code 3 and wrote nothing to stderr"]
        .assert_eq(&site.failure("b"));
    site.put("mail", "c", "{}");
    let script = "exec 0<&- 1>&- 2>&- 3>&-; sleep 0.1; exit 5";
    site.work("mail --drain --persistent", script).exits(8);
    assert!(site.failure("c").starts_with("failed exit-5"));
    site.must_be_clean();
}

#[test]
fn a_process_that_a_program_leaves_behind_delays_nothing() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let script = "sleep 90 & echo $! > $D/pid; (setsid sleep 90 & echo $! > $D/away)";
    let begun = Instant::now();
    site.work("mail --drain", script).exits(0);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_eq!(site.state("a"), "complete");
    for name in ["pid", "away"] {
        _ = rustix::process::kill_process(site.pid(name), Signal::KILL);
    }
}
