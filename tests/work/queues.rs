//! `qless work`: from which queues jobs come, where programs run, hooks, and what is reported.

use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;

use crate::support::files::mode;
use crate::support::text::{Shows, lines_with, pick};
use crate::support::work::{WorkSite, until};

/// Three queues with three jobs each, put in turns.
fn three_queues() -> WorkSite {
    let mut site = WorkSite::new();
    for at in 1..=3 {
        for queue in ["C", "A", "B"] {
            site.put(queue, &format!("{queue}{at}"), "{}");
        }
    }
    site
}

const RAN: &str = "echo $QLESS_JID >> $D/ran";

#[test]
fn queues_are_emptied_one_after_the_other_in_turn_or_by_their_weights() {
    let ordered = "A1 A2 A3 B1 B2 B3 C1 C2 C3";
    for (line, expected) in [
        ("A B C", ordered),
        ("A B C --order ordered", ordered),
        ("A B C --order round-robin", "A1 B1 C1 A2 B2 C2 A3 B3 C3"),
        ("A=2 B C --order round-robin", "A1 A2 B1 C1 A3 B2 C2 B3 C3"),
    ] {
        let site = three_queues();
        site.work(&format!("{line} --drain"), RAN).exits(0);
        assert_eq!(site.words("ran"), expected, "{line}");
    }
}

#[test]
fn a_drain_ends_after_its_number_of_jobs_or_when_there_are_fewer() {
    let site = three_queues();
    site.work("A B C --drain --count 4 -c 2", "echo >> $D/$QLESS_QUEUE")
        .exits(0);
    site.work("A B C --drain --count 2", RAN).exits(0);
    assert_eq!(site.words("ran"), "B2 B3");
    site.work("A B C --drain --count 9", RAN).exits(0);
    assert_eq!(site.words("ran"), "B2 B3 C1 C2 C3");
}

#[test]
fn a_batch_takes_queues_in_turn_too() {
    let site = three_queues();
    let script = r#"sed 's/.*"jid":"\([^"]*\)".*/\1/' | sort | tr '\n' ' ' >> $D/ran"#;
    site.work("A B C --drain --order round-robin --batch 3", script)
        .exits(0);
    assert_eq!(site.words("ran").trim(), "A1 B1 C1 A2 B2 C2 A3 B3 C3");
}

#[test]
fn k13_lag_order_picks_the_oldest_due_job() {
    let mut site = WorkSite::new();
    // The oldest waits in C; A has the most jobs, and B one that became due before the last of C.
    for (now, queue, jid, delay) in [
        ("10", "C", "C10", "0"),
        ("20", "A", "A20", "0"),
        ("25", "B", "B30", "5"),
        ("35", "A", "A35", "0"),
        ("40", "C", "C40", "0"),
    ] {
        let line = format!("put {queue} K --jid {jid} --delay {delay}s");
        site.redis.ok(now, &line);
    }
    site.put("new", "new", "{}");
    site.work("A B C new empty --drain --order lag", RAN)
        .exits(0);
    assert_eq!(site.words("ran"), "C10 A20 B30 A35 C40 new");
    site.must_be_clean();
}

#[test]
fn k13_a_paused_queue_with_the_largest_lag_blocks_no_other() {
    let mut site = WorkSite::new();
    site.redis.ok(10, "put A K --jid old");
    site.redis.ok(10, "pause A");
    site.put("B", "b", "{}");
    site.work("A B --drain --order lag -c 2", RAN).exits(0);
    assert_eq!(site.words("ran"), "b");
}

#[test]
fn lag_order_puts_recurring_jobs_of_queues_without_a_lag() {
    let mut site = WorkSite::new();
    site.client
        .call(&["recur", "A", "nightly", "K", "{}", "interval", "3600", "0"])
        .unwrap();
    site.work("A B --drain --order lag", RAN).exits(0);
    assert_eq!(site.words("ran"), "nightly-1");
}

#[test]
fn k13_round_robin_visits_all_queues() {
    let mut site = WorkSite::new();
    let queues: Vec<String> = (0..9).map(|at| format!("q{at}")).collect();
    for queue in &queues {
        for at in 0..3 {
            site.put(queue, &format!("{queue}-{at}"), "{}");
        }
    }
    let script = "echo $QLESS_QUEUE >> $D/ran";
    site.work("q* --drain --order round-robin", script).exits(0);
    let ran = site.file("ran");
    let ran: Vec<&str> = ran.lines().collect();
    for round in ran.chunks(9) {
        assert_eq!(round, queues);
    }
    assert_eq!(ran.len(), 27);
}

#[test]
fn k13_weights_of_3_to_1_give_3_to_1() {
    for options in ["", "-c 2", "-c 5", "--batch 4"] {
        let mut site = WorkSite::new();
        for at in 0..60 {
            site.put("A", &format!("A{at}"), "{}");
            site.put("B", &format!("B{at}"), "{}");
        }
        let script = r#"if [ -n "$QLESS_QUEUE" ]; then echo $QLESS_QUEUE; else sed 's/.*"queue":"\([^"]*\)".*/\1/'; fi >> $D/ran"#;
        let line = format!("A=3 B=1 --count 40 --order round-robin {options}");
        site.work(&line, script).exits(0);
        let ran = site.file("ran");
        let count = |queue: &str| ran.lines().filter(|ran| *ran == queue).count();
        assert_eq!((count("A"), count("B")), (30, 10), "{options}: {ran}");
    }
}

#[test]
fn stored_priority_patterns_order_the_queues() {
    let mut site = WorkSite::new();
    for at in 1..=2 {
        for queue in ["low-a", "mid-a", "high-b", "high-a"] {
            site.put(queue, &format!("{queue}{at}"), "{}");
        }
    }
    let set = "queuePriorityPatterns.setAll";
    let fair = r#"{"fairly":true,"pattern":["high-*"]}"#;
    let low = r#"{"fairly":false,"pattern":["low-*"]}"#;
    let call = [set, fair, r#"{"pattern":["default"]}"#, low];
    site.client.call(&call).unwrap();
    let ordered = "high-a1 high-b1 high-a2 high-b2 mid-a1 mid-a2 low-a1 low-a2";
    site.work("* --drain --order patterns", RAN).exits(0);
    assert_eq!(site.words("ran"), ordered);
    site.must_be_clean();
}

#[test]
fn a_fair_pattern_gives_what_a_queue_lacks_to_its_others_first() {
    let mut site = WorkSite::new();
    for at in 1..=4 {
        site.put("high-a", &format!("a{at}"), "{}");
        site.put("low", &format!("low{at}"), "{}");
    }
    site.put("high-b", "b1", "{}");
    site.client
        .call(&["put", "me", "high-a", "later", "K", "{}", "3600"])
        .unwrap();
    let fair = r#"{"fairly":true,"pattern":["high-*"]}"#;
    let call = ["queuePriorityPatterns.setAll", fair];
    site.client.call(&call).unwrap();
    let script =
        r#"sed 's/.*"jid":"\([^"]*\)".*/\1/' | sort | tr '\n' ' ' >> $D/ran; echo >> $D/ran"#;
    let ran = site
        .work("* --drain --order patterns --batch 4", script)
        .exits(0);
    // Both of its places in the order are one queue.
    let note = "note: queue `high-a` still has jobs: 1 scheduled";
    assert_eq!(ran.stderr().matches(note).count(), 1, "{}", ran.stderr());
    site.file("ran").shows(expect![[r#"
        a1 a2 a3 b1 
        a4 low1 low2 low3 
        low4 
    "#]]);
}

#[test]
fn an_identifier_pattern_stands_for_its_queues() {
    let mut site = WorkSite::new();
    for queue in ["web-a", "web-b", "web-old", "mail", "x[1]"] {
        site.put(queue, queue, "{}");
    }
    let set = "queueIdentifierPatterns.setAll";
    site.client
        .call(&[set, "web", r#"["web-*", "!web-old", "x[1]"]"#])
        .unwrap();
    site.work("@web !x* !none --drain", RAN).exits(0);
    assert_eq!(site.words("ran"), "web-a web-b");
    let ran = site.work("@nothing mail --drain", RAN).exits(0);
    ran.says("note: no identifier pattern `nothing` is stored\n");
    assert_eq!(site.words("ran"), "web-a web-b mail");
    let ran = site.work("* !@web --drain", RAN).exits(0);
    assert_eq!(
        site.words("ran"),
        "web-a web-b mail web-old",
        "{}",
        ran.stderr()
    );
    site.work("@ --drain", RAN).exits(2);
}

#[test]
fn patterns_that_are_stored_later_are_found_while_it_works() {
    let mut site = WorkSite::with_jobs("web-a", &["a"]);
    let mut worker = site.start("@web --poll 1s", RAN);
    worker.until_says("no identifier pattern `web` is stored");
    site.client
        .call(&["queueIdentifierPatterns.setAll", "web", r#"["web-*"]"#])
        .unwrap();
    site.until_state("a", "complete");
    worker.stop().exits(0);
}

#[test]
fn queues_may_be_globs_and_left_out() {
    let mut site = WorkSite::new();
    for queue in ["mail-a", "mail-b", "mail-c", "other"] {
        site.put(queue, queue, "{}");
    }
    site.work("mail-* !mail-b --drain", RAN).exits(0);
    assert_eq!(site.words("ran"), "mail-a mail-c");
    let ran = site.work("none-* --drain", RAN).exits(0);
    ran.says("note: no queue matches\n");
}

#[test]
fn a_text_that_is_no_number_behind_an_equals_sign_belongs_to_the_name_of_the_queue() {
    let mut site = WorkSite::new();
    for queue in ["a=b", "nan=inf", "a=1x"] {
        site.put(queue, queue, "{}");
    }
    site.work("a=b nan=inf a=1x=2 --drain", RAN).exits(0);
    assert_eq!(site.words("ran"), "a=b nan=inf a=1x");
}

#[test]
fn programs_run_in_an_empty_directory_per_slot() {
    let site = WorkSite::with_numbered_jobs("mail", 4);
    let script = "ls -A | wc -l >> $D/ran; pwd >> $D/where; mkdir -p .a/b; echo x > .a/b/c; touch file; sleep 0.05";
    let line = format!("mail --drain -c 2 --sandbox {}/boxes", site.dir().display());
    site.work(&line, script).exits(0);
    assert_eq!(site.words("ran"), "0 0 0 0");
    let dir = site.dir().to_str().unwrap();
    let places = site.file("where").replace(dir, "");
    let mut places: Vec<&str> = places.lines().collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places, ["/boxes/slot-1", "/boxes/slot-2"]);
}

#[test]
fn a_very_deep_tree_in_a_sandbox_costs_no_lock() {
    let mut site = WorkSite::new();
    site.config("heartbeat", "1");
    site.config("grace-period", "0");
    for jid in ["long", "deep", "next", "last"] {
        site.put("mail", jid, "{}");
    }
    // A process may have few descriptors open, and the tree is deeper than a path can say.
    let script = "case $QLESS_JID in
        long) until [ -e $D/over ]; do sleep 0.05; done ;;
        deep) perl -e 'for (1..4000) { mkdir \"d\"; chdir \"d\" } open(F, \">\", \"file\")' ;;
        *) ls -A | wc -l >> $D/left; sleep 0.3 ;;
    esac; echo $QLESS_JID >> $D/ran";
    let sandbox = site.dir().join("boxes");
    let line = format!("mail --drain -c 2 --sandbox {}", sandbox.display());
    let mut worker = site.start(&line, script);
    site.until_lines("ran", 3);
    std::fs::write(site.dir().join("over"), "").unwrap();
    worker.says("started   next");
    until("the worker has ended", || worker.has_ended());
    assert_eq!(site.words("left"), "0 0");
    assert_eq!(site.words("ran"), "deep next last long");
    let ended = worker.end();
    assert!(!ended.stderr.contains("lost"), "{}", ended.stderr);
    site.must_be_clean();
}

#[test]
fn a_sandbox_that_cannot_be_used_gives_the_jobs_back() {
    let mut site = WorkSite::new();
    site.put_with("mail", "a", "{}", &["retries", "0"]);
    let slot = site.dir().join("boxes/slot-1");
    std::fs::create_dir(site.dir().join("boxes")).unwrap();
    mode(site.dir().join("boxes"), 0o700);
    std::fs::write(&slot, "a file").unwrap();
    let line = format!("mail --poll 50ms --sandbox {}/boxes", site.dir().display());
    let mut worker = site.start(&line, "echo ran > $D/ran");
    worker.until_says("cannot use the sandbox");
    std::fs::remove_file(&slot).unwrap();
    site.until_state("a", "complete");
    assert_eq!(site.words("ran"), "ran");
    worker.stop().exits(0);
    site.must_be_clean();
}

#[test]
fn a_slot_directory_that_cannot_be_used_three_times_in_a_row_ends_the_work() {
    for is_link in [true, false] {
        let mut site = WorkSite::new();
        site.put_with("mail", "a", "{}", &["retries", "0"]);
        let slot = site.dir().join("boxes/slot-1");
        let precious = site.dir().join("precious");
        for dir in ["boxes", "precious"] {
            std::fs::create_dir(site.dir().join(dir)).unwrap();
            mode(site.dir().join(dir), 0o700);
        }
        std::fs::write(precious.join("file"), "1").unwrap();
        if is_link {
            std::os::unix::fs::symlink(&precious, &slot).unwrap()
        } else {
            std::fs::write(&slot, "a file").unwrap()
        }
        let line = format!(
            "mail --drain --poll 50ms --sandbox {}/boxes",
            site.dir().display()
        );
        let ended = site.start(&line, "echo ran > $D/ran").end().exits(1);
        let stderr = ended.stderr.replace(site.dir().to_str().unwrap(), "$D");
        let why = "error: three starts in a row found no directory for their slot: \
                   cannot use the sandbox `$D/boxes/slot-1`: it is not a directory\n\
                   hint: the jobs were given back\n";
        assert!(stderr.ends_with(why), "{stderr}");
        assert_eq!(site.file("ran"), "");
        assert_eq!(site.file("precious/file"), "1");
        // No retry was used.
        assert_eq!(site.job("a")["remaining"], 0);
        assert_eq!(site.client.pop("mail", "other", 1), ["a"]);
        site.must_be_clean();
    }
}

#[test]
fn a_sandbox_that_cannot_be_a_directory_is_refused_before_any_pop() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    std::fs::write(site.dir().join("file"), "").unwrap();
    let mut refusals = String::new();
    for dir in ["file", "file/below"] {
        let line = format!("mail --drain --sandbox {}/{dir}", site.dir().display());
        refusals += &site.work(&line, "true").exits(1).stderr();
    }
    refusals.shows(expect![[r#"
        error: `$D/file` is not a directory
        hint: no job was popped
        error: cannot create the directory `$D/file/below`: not a directory
        hint: no job was popped
    "#]]);
    assert_eq!(site.job("a")["history"].as_array().unwrap().len(), 1);
}

#[test]
fn programs_share_a_directory_and_a_relative_program_is_found_from_outside() {
    let site = WorkSite::with_jobs("mail", &["a"]);
    std::fs::create_dir(site.dir().join("in")).unwrap();
    let line = format!("mail --drain --chdir {}/in", site.dir().display());
    site.work(&line, "pwd > here").exits(0);
    assert!(site.file("in/here").ends_with("/in\n"));
}

#[test]
fn a_start_hook_that_fails_ends_the_work_before_any_pop() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let ran = site
        .work("mail --drain --on-start 'echo no disk >&2; exit 4'", RAN)
        .exits(1);
    ran.stderr().shows(expect![[r#"
        no disk
        error: `--on-start` failed: exit status: 4
        hint: no job was popped
    "#]]);
    assert_eq!(site.job("a")["history"].as_array().unwrap().len(), 1);
    let line = "mail --drain --on-start 'touch $D/first'";
    site.work(line, "test -e $D/first").exits(0);
    assert_eq!(site.state("a"), "complete");
}

#[test]
fn hooks_run_after_a_failure_and_after_a_crash() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    site.put_with("mail", "b", "{}", &["retries", "0"]);
    site.put("mail", "c", "{}");
    site.put("mail", "d", "{}");
    let hook = "echo $QLESS_JID $QLESS_QUEUE $QLESS_KLASS $QLESS_FAILURE >> $D/exhausted";
    let crash = "echo $QLESS_SLOT $QLESS_SIGNAL $QLESS_FAILURE >> $D/crash";
    let line = format!("mail --drain --on-exhausted '{hook}' --on-crash '{crash}'");
    let script = "case $QLESS_JID in
            a) echo no >&2; exit 3;;
            b) exit 75;;
            c) echo segment >&2; kill -SEGV $$;;
        esac";
    site.work(&line, script).exits(8);
    let exhausted = site.file("exhausted");
    let mut exhausted: Vec<&str> = exhausted.lines().collect();
    exhausted.sort();
    (exhausted.join("\n") + "\n").shows(expect![[r#"
        a mail K exit-3: no
        b mail K failed-retries-mail: the command ended with exit code 75 and wrote nothing to stderr
        c mail K signal-SEGV: segment
    "#]]);
    site.file("crash").shows(expect![[r#"
        1 SEGV segment
    "#]]);
    site.must_be_clean();
}

#[test]
fn hooks_that_fail_are_reported_and_change_nothing() {
    let mut site = WorkSite::with_jobs("mail", &["a"]);
    let line = "mail --drain --on-exhausted 'exit 9' --on-crash 'exit 4'";
    let ran = site.work(line, "echo oh >&2; kill -SEGV $$").exits(8);
    ran.says("warning: `--on-exhausted` ended with exit code 9\n");
    ran.says("warning: `--on-crash` ended with exit code 4\n");
    assert_eq!(site.failure("a"), "failed signal-SEGV: oh");
}

#[test]
fn events_are_lines_of_json() {
    let site = WorkSite::with_jobs("mail", &["0", "3", "75", "KILL"]);
    let script = "echo out; case $QLESS_JID in [0-9]*) exit $QLESS_JID;; *) kill -KILL $$;; esac";
    let ran = site
        .work("mail --drain --retry-delay 1h -o ndjson", script)
        .exits(8);
    let mut events = String::new();
    for line in ran.stdout().lines() {
        let event = pick(line, "[.event, .jid, .attempt, .exit, .signal, .message]");
        let (common, elapsed) = (
            pick(line, "[.kind, .queue, .klass]"),
            pick(line, ".elapsed_s"),
        );
        assert_eq!(common, r#"["work-event","mail","K"]"#);
        assert_eq!(
            elapsed == "null",
            event.starts_with(r#"["started""#),
            "{line}"
        );
        events.push_str(&format!("{event}\n"));
    }
    events.shows(expect![[r#"
        ["started","0",1,null,null,null]
        ["completed","0",1,0,null,null]
        ["started","3",1,null,null,null]
        ["failed","3",1,3,null,"exit-3: the command ended with exit code 3 and wrote nothing to stderr"]
        ["started","75",1,null,null,null]
        ["retried","75",1,75,null,"4 left"]
        ["started","KILL",1,null,null,null]
        ["failed","KILL",1,null,"KILL","signal-KILL: the command ended with signal KILL and wrote nothing to stderr"]
    "#]]);
    // Output of programs never mixes with the events.
    ran.says("out\n");
}

#[test]
fn a_put_wakes_an_idle_worker_before_its_next_poll() {
    let mut site = WorkSite::with_jobs("mail", &["first"]);
    let worker = site.start("mail --poll 60s", "date +%s.%N >> $D/ran");
    site.until_lines("ran", 1);
    // The worker subscribes when it has waited for a moment.
    std::thread::sleep(Duration::from_millis(600));
    let begun = Instant::now();
    site.qless().run("put mail K --jid a").exits(0);
    site.until_lines("ran", 2);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    // The same at once after that: nothing is missed while the worker is between work and waiting.
    for at in 0..20 {
        site.put("mail", &format!("{at}"), "{}");
        let begun = Instant::now();
        site.until_lines("ran", 3 + at);
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{at}: {:?}",
            begun.elapsed()
        );
        std::thread::sleep(Duration::from_millis(10 * at as u64));
    }
    worker.stop().exits(0);
}

#[test]
fn a_user_who_may_not_subscribe_is_told_once_and_polls() {
    let mut site = WorkSite::new();
    let user = "ACL SETUSER worker on >secret ~* resetchannels &ql:* +@all -subscribe -psubscribe";
    site.redis.send(&user.split(' ').collect::<Vec<_>>());
    let url = site.redis.url();
    let qless = site.qless().with_user(&url, "worker", "secret");
    let script = "test -z $QLESS_REDIS_PASSWORD && echo x >> $D/ran";
    let worker = site.start_as(&qless, "mail --poll 100ms", script);
    for at in 0..3 {
        std::thread::sleep(Duration::from_millis(300));
        site.put("mail", &format!("{at}"), "{}");
        site.until_state(&format!("{at}"), "complete");
    }
    let ended = worker.stop().exits(0);
    lines_with(&ended.stderr, "polling").shows(expect![[r#"
        note: user `worker` may not run `subscribe`; new jobs are found by polling, lost locks by heartbeats
    "#]]);
}

/// Puts a job into each of many queues.
fn many_queues(count: usize) -> WorkSite {
    let site = WorkSite::new();
    let line = |at: usize| format!("{{\"queue\":\"q-{at}\",\"jid\":\"j{at}\",\"klass\":\"K\"}}\n");
    let lines: String = (0..count).map(line).collect();
    site.qless().input(lines).run("put --from -").ok();
    site
}

/// A program that stays and completes each job.
const COMPLETES: &str = r#"while read -r line; do
    jid=${line#*\"jid\":\"}; jid=${jid%%\"*}; echo $jid >> $D/ran
    echo "{\"jid\":\"$jid\",\"result\":\"complete\"}" >&3; done"#;

#[test]
fn more_queues_than_one_call_takes_are_all_emptied_in_each_order() {
    for order in ["ordered", "round-robin", "lag", "patterns"] {
        let mut site = many_queues(700);
        site.put("q-600", "second", "{}");
        site.client.call(&["pause", "q-3"]).unwrap();
        let line = format!("q-* --drain --persistent -c 2 --in-flight 50 --order {order}");
        let ran = site.work(&line, COMPLETES).exits(0);
        ran.says("\n700 completed in");
        assert_eq!(site.file("ran").lines().count(), 700, "{order}");
        assert_eq!(site.state("j3"), "waiting");
        assert_eq!(site.state("second"), "complete");
    }
}

#[test]
fn among_very_many_queues_the_order_holds() {
    let mut site = many_queues(700);
    site.put("q-1", "again", "{}");
    site.work("q-* !q-5* --count 5", RAN).exits(0);
    assert_eq!(site.words("ran"), "j0 j1 again j10 j100");
    site.work("q-* --count 3 --order round-robin", RAN).exits(0);
    assert_eq!(site.words("ran"), "j0 j1 again j10 j100 j101 j102 j103");
}

#[test]
fn an_idle_worker_of_very_many_queues_makes_few_calls_and_finds_a_job_at_once() {
    let mut site = many_queues(1200);
    site.work("q-* --drain --persistent -c 2 --in-flight 50", COMPLETES)
        .exits(0);
    let mut worker = site.start("q-* next --poll 300ms", RAN);
    worker.until_says("note: queue `next`");
    // It has popped once and listens for new jobs, in addition to notices about its own.
    until("it listens", || site.redis.subscribers() > 1);
    thread::sleep(Duration::from_millis(300));
    let (before, begun) = (site.redis.scripts_run(), Instant::now());
    thread::sleep(Duration::from_millis(1500));
    let made = site.redis.scripts_run() - before;
    // A look and a turn for each poll, and after the subscription, whatever the number of queues.
    let polls = begun.elapsed().as_millis() as u64 / 300 + 4;
    assert!(
        (2..=2 * polls).contains(&made),
        "{made} calls in {polls} polls"
    );
    site.put("q-7", "first", "{}");
    site.until_lines("ran", 1201);
    worker.stop().exits(0);
}

/// `--drain` waits for jobs that another worker may release, and says so once.
#[test]
fn a_drain_says_what_it_waits_for() {
    let mut site = WorkSite::new();
    for jid in ["first", "second"] {
        let line = format!("put q K --jid {jid} --key customer");
        site.qless().run(&line).ok();
    }
    assert_eq!(site.client.pop("q", "other", 1), ["first"]);
    let mut worker = site.start("q --drain --poll 50ms", RAN);
    worker.until_says("note: waiting: ");
    worker.says("1 blocked, 1 running on another worker");
    site.qless().run("complete first --worker other").ok();
    until("the drain has ended", || worker.has_ended());
    assert_eq!(site.words("ran"), "second");
    assert_eq!(worker.stderr().matches("note: waiting: ").count(), 1);
}
