//! What one call does at most, so that no call holds up the server: by counts of keys and
//! commands. `make bench PART=dearest` measures milliseconds.

use serde_json::json;

use super::cost::commands;
use crate::support::core::{Core, Reply, short};

/// A JSON array of `n` names.
fn list(prefix: &str, n: usize) -> String {
    let names: Vec<String> = (0..n).map(|n| format!("\"{prefix}{n}\"")).collect();
    format!("[{}]", names.join(","))
}

/// `n` names, each behind a blank.
fn words(prefix: &str, n: usize) -> String {
    (0..n).map(|n| format!(" {prefix}{n}")).collect()
}

/// Makes calls that are refused without any change.
#[track_caller]
fn refused(core: &mut Core, call: &str, why: &str) {
    assert_eq!(short(&core.refused(call)), format!("user_script:N: {why}"));
}

/// The number of tags in the document that a call replies.
fn tags(core: &mut Core, call: &str) -> usize {
    core.json(call)["tags"].as_array().unwrap().len()
}

/// What became of each job of a call.
fn outcomes(core: &mut Core, call: &str) -> Vec<String> {
    let reply = core.ok(call);
    let rows = reply.list().iter();
    rows.map(|row| row.list()[0].text().to_owned()).collect()
}

/// The number of members of a sorted set.
fn zcard(core: &mut Core, key: &str) -> i64 {
    core.redis(&format!("ZCARD {key}")).int()
}

/// A database with `n` jobs of queue `q` and state `scheduled` that are due at 10.
fn due(n: usize) -> Core {
    let mut core = Core::new();
    core.put_jobs(0, (0..n).map(|n| format!("q j{n:04} K {{}} 10")));
    core
}

#[test]
fn a_job_gets_at_most_1000_tags() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0 tags [\"old\"]; recur 0 q r K {} interval 60 0 tags [\"old\"]");
    let (json, many) = (list("t", 1001), words("t", 1001));
    let text = |area: &str| format!("{area}(): Arg \"tags\" has more than 1000 tags");
    for (call, area) in [
        (format!("put 1 w q new K {{}} 0 tags {json}"), "Put"),
        (format!("put 1 w q j K {{}} 0 tags {json}"), "Put"),
        (format!("requeue 1 w q j K {{}} 0 tags {json}"), "Put"),
        (
            format!("recur 1 q r K {{}} interval 60 0 tags {json}"),
            "Recur",
        ),
        (format!("tag 1 add j{many}"), "Tag"),
        (format!("tag 1 add j{}", words("t", 1000)), "Tag"),
        (format!("recur.tag 1 r{many}"), "Tag"),
        (
            format!("guard.put 1 {{}} 7 q new K {{}} 0 tags {json}"),
            "Guard",
        ),
        (
            format!("guard.recur 1 put '' q r K {{}} interval 60 0 tags {json}"),
            "Recur",
        ),
    ] {
        refused(&mut core, &call, &text(area));
    }
    for change in [format!("add j{many}"), format!("swap j 1 old{many}")] {
        let reply = core.ok(&format!("guard.call 1 j '' '' tag {change}"));
        assert_eq!(reply.list()[0].text(), "invalid");
    }

    core.ok(&format!("put 2 w q new K {{}} 0 tags {}", list("t", 1000)));
    core.ok(&format!("tag 2 add j{}", words("t", 999)));
    let swap = format!("guard.call 2 j '' '' tag swap j 1 old{}", words("t", 1000));
    assert_eq!(core.ok(&swap).list()[0].text(), "done");
    assert_eq!(tags(&mut core, "get 3 j"), 1000);
    core.ok(&format!("recur.tag 2 r{}", words("t", 999)));
    assert_eq!(tags(&mut core, "recur.get 3 r"), 1000);
}

#[test]
fn a_job_that_has_more_tags_keeps_them() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    core.redis_words(&[b"HSET", b"ql:j:j", b"tags", list("t", 1200).as_bytes()]);
    core.all("put 1 w q j K {} 0; requeue 1 w q j K {} 0; tag 1 add j t7");
    assert_eq!(tags(&mut core, "get 1 j"), 1200);
    refused(
        &mut core,
        "tag 1 add j new",
        "Tag(): Arg \"tags\" has more than 1000 tags",
    );
    core.ok(&format!("tag 1 remove j{}", words("t", 300)));
    core.ok("tag 1 add j new");
    assert_eq!(tags(&mut core, "get 1 j"), 901);
}

#[test]
fn children_get_the_first_1000_tags_of_a_template() {
    let mut core = Core::new();
    core.ok("recur 0 q r K {} interval 60 0");
    core.redis_words(&[b"HSET", b"ql:r:r", b"tags", list("t", 1200).as_bytes()]);
    let child = core.json("pop 0 q w1 1")[0].clone();
    assert_eq!(child["tags"].as_array().unwrap().len(), 1000);
    assert_eq!(zcard(&mut core, "ql:tags"), 1000);
    assert_eq!(tags(&mut core, "recur.get 1 r"), 1200);
}

#[test]
fn a_call_enters_20000_tags_of_children_and_the_next_goes_on() {
    let mut core = Core::new();
    core.ok(&format!(
        "recur 0 q r K {{}} interval 60 0 tags {}",
        list("t", 1000)
    ));
    assert_eq!(core.jids("pop 6000 q w1 50").len(), 20);
    assert_eq!(zcard(&mut core, "ql:t:t0"), 20);
    assert_eq!(core.jids("pop 6000 q w1 50")[0], "r-21");
    let mut popped = 40;
    for _ in 0..4 {
        popped += core.jids("pop 6000 q w1 50").len();
    }
    assert_eq!(popped, 101);
}

#[test]
fn a_call_makes_at_most_1000_children_and_the_next_goes_on() {
    let mut core = Core::new();
    let now = 1_790_000_000;
    for call in [
        format!("peek {now} q 100000"),
        format!("pop {now} q w1 100000"),
        format!("guard.turn {now} w1 100000 4 q 100000 p 100000"),
    ] {
        core.flush();
        core.all("recur 0 q r K {} interval 60 0; recur 0 p s K {} interval 60 0");
        for round in 1..=2 {
            core.ok(&call);
            let made = core.redis("KEYS ql:j:*-history");
            assert_eq!(made.list().len(), 1000 * round, "{call}");
        }
    }
}

#[test]
fn children_with_options_are_at_most_1000_in_a_call_too() {
    let mut core = Core::new();
    core.ok("recur 0 q r K {} interval 60 0 throttles [\"t\"]");
    core.ok("peek 1790000000 q 100000");
    assert_eq!(zcard(&mut core, "ql:q:q-work"), 1000);
    assert_eq!(core.json("recur.get 1 r")["count"], 1000);
}

#[test]
fn a_call_promotes_5000_due_jobs_and_counts_the_others_as_waiting() {
    let mut core = due(6000);
    core.ok("put 0 w q later K {} 100");
    let seen = core.json("queues 20 q");
    assert_eq!(
        (&seen["waiting"], &seen["scheduled"]),
        (&json!(6000), &json!(1))
    );
    assert_eq!(zcard(&mut core, "ql:q:q-scheduled"), 1001);
    assert_eq!(core.json("queues 20")[0], seen);
    assert_eq!(zcard(&mut core, "ql:q:q-scheduled"), 1);

    let mut core = due(6000);
    core.ok("put 0 w q later K {} 100");
    assert_eq!(core.ok("jobs 20 scheduled q 0 50").texts(), ["later"]);
    assert_eq!(zcard(&mut core, "ql:q:q-work"), 5000);
    assert_eq!(core.ok("jobs 20 scheduled q 0 50").texts(), ["later"]);
    assert_eq!(zcard(&mut core, "ql:q:q-work"), 6000);
}

#[test]
fn a_call_pops_at_most_10000_jobs_and_looks_at_5000_locks() {
    let mut core = Core::new();
    core.put_jobs(0, (0..21_000).map(|n| format!("q{} j{n} K {{}} 0", n % 2)));
    let held = |core: &mut Core| zcard(core, "ql:w:w1:jobs");
    let turn = "guard.turn 1 w1 100000 4 q0 100000 q1 100000";
    core.ok(turn);
    assert_eq!(held(&mut core), 10_000);
    assert_eq!(core.jids("peek 1 q1 100000").len(), 10_000);
    core.ok("pop 1 q1 w1 100000");
    assert_eq!(held(&mut core), 20_000);
    core.ok("pop 1 q1 w1 -1");
    core.ok(turn);
    assert_eq!(held(&mut core), 21_000);

    // All locks are lost: 5000 are given a grace period in one call.
    core.ok("guard.turn 100 w2 100000 4 q0 100000 q1 100000");
    assert_eq!(held(&mut core), 16_000);
    core.ok("pop 100 q0 w2 100000");
    assert_eq!(held(&mut core), 11_000);
}

#[test]
fn too_many_names_are_refused() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; put 0 w q k K {} 0 depends [\"j\"]; pop 1 q w 1");
    for (call, most, why) in [
        ("multiget 1", 10_000, "Multiget(): more than 10000 jids"),
        ("cancel 1", 10_000, "Cancel(): more than 10000 jids"),
        ("timeout 1", 10_000, "Timeout(): more than 10000 jids"),
        ("lag 1", 10_000, "Lag(): more than 10000 queues"),
        ("tag 1 remove j", 10_000, "Tag(): more than 10000 tags"),
        ("tag 1 add j", 10_000, "Tag(): more than 10000 tags"),
        (
            "unfail.jobs 1 q g",
            10_000,
            "Unfail(): more than 10000 jids",
        ),
        ("depends 1 k on", 20_000, "Depends(): more than 20000 jids"),
        (
            "throttle.release 1 t",
            10_000,
            "Throttle(): more than 10000 jids",
        ),
        ("look.queues 1", 10_000, "Look(): more than 10000 queues"),
        ("look.ready 1", 10_000, "Look(): more than 10000 queues"),
        ("pause 1", 100_000, "More than 100000 args"),
    ] {
        refused(&mut core, &format!("{call}{}", words("n", most + 1)), why);
    }
    let depends = list("n", 20_001);
    refused(
        &mut core,
        &format!("put 1 w q new K {{}} 0 depends {depends}"),
        "Put(): Arg \"depends\" has more than 20000 jids",
    );
    refused(
        &mut core,
        &format!("guard.put 1 {{}} 7 q new K {{}} 0 depends {depends}"),
        "Guard(): Arg \"depends\" has more than 5000 jids",
    );
    refused(
        &mut core,
        &format!("complete 1 j w q {{}} next q depends {depends}"),
        "Complete(): Arg \"depends\" has more than 20000 jids",
    );
    assert_eq!(
        core.ok(&format!("multiget 1{}", words("n", 10_000))).text(),
        "{}"
    );
    assert_eq!(
        core.ok(&format!("cancel 1{}", words("n", 10_000)))
            .list()
            .len(),
        10_000
    );
    core.ok(&format!("depends 1 k on{}", words("n", 20_000)));
}

#[test]
fn unfail_moves_10000_jobs_and_the_next_call_goes_on() {
    let mut core = Core::new();
    for count in ["100000", "-1"] {
        core.flush();
        core.redis_words(&[
            b"EVAL",
            b"for i = 1, 12000 do redis.call('lpush', 'ql:f:g', 'j' .. i) end redis.call('sadd', 'ql:failures', 'g')",
            b"0",
        ]);
        assert_eq!(
            core.ok(&format!("unfail 1 q g {count}")),
            Reply::Int(10_000)
        );
        let rest = if count == "-1" { 1999 } else { 2000 };
        assert_eq!(core.ok(&format!("unfail 1 q g {count}")), Reply::Int(rest));
    }
}

#[test]
fn a_completion_removes_20000_tags_of_old_jobs_and_the_next_goes_on() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-history 10");
    let tags = list("t", 1000);
    for n in 0..30 {
        core.all(&format!(
            "put 0 w q old{n} K {{}} 0 tags {tags}; pop 1 q w 1; complete 1 old{n} w q {{}}"
        ));
    }
    core.many((0..3).map(|n| format!("put 100 w q new{n} K {{}} 0")));
    core.ok("pop 100 q w 3");
    for left in [10 + 1, 2, 3] {
        let new = if left == 11 { 0 } else { left - 1 };
        core.ok(&format!("complete 100 new{new} w q {{}}"));
        assert_eq!(zcard(&mut core, "ql:completed"), left);
    }
}

#[test]
fn many_completions_in_one_call_delete_as_many_old_jobs_as_two() {
    let mut core = Core::new();
    core.all("config.set 0 jobs-history 10");
    core.redis_words(&[
        b"EVAL",
        b"for i = 1, 9000 do redis.call('zadd', 'ql:completed', 1, 'old' .. i) end",
        b"0",
    ]);
    core.many((0..9).map(|n| format!("put 100 w q new{n} K {{}} 0")));
    core.ok("pop 100 q w 9");
    let ends: String = (0..9)
        .map(|n| format!(" 4 new{n} q complete {{}}"))
        .collect();
    let seen = commands(&mut core, &[format!("guard.finish 100 w{ends}")]);
    assert!(seen < 5000, "{seen} commands");
    assert_eq!(zcard(&mut core, "ql:completed"), 7009);
}

#[test]
fn a_completion_releases_10000_dependents_and_pops_of_any_queue_the_others() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-history-count 0");
    core.all("put 0 w q p K {} 0; pop 1 q w 1");
    core.put_jobs(
        2,
        (0..16_000).map(|n| format!("d j{n} K {{}} 0 depends [\"p\"]")),
    );
    core.ok("complete 3 p w q {}");
    let waiting = |core: &mut Core| core.json("queues 4 d")["waiting"].clone();
    assert_eq!(waiting(&mut core), 10_000);
    assert_eq!(core.redis("LLEN ql:releasing"), Reply::Int(2 * 6000));
    // A job that was cancelled meanwhile does not come back.
    let Reply::Text(cancelled) = core.redis("LINDEX ql:releasing 1") else {
        panic!("no list")
    };
    core.ok(&format!("cancel 4 {cancelled}"));
    core.ok("pop 4 other w 1");
    assert_eq!(waiting(&mut core), 14_999);
    core.ok("pop 4 other w 1");
    assert_eq!(waiting(&mut core), 15_999);
    let dump = core.dump();
    assert!(!dump.has("ql:releasing") && !dump.has("ql:q:d-depends"));
    assert!(!dump.has(&format!("ql:j:{cancelled}")));
}

#[test]
fn a_throttle_wakes_5000_held_jobs_and_the_next_end_wakes_the_others() {
    let mut core = Core::new();
    core.all("throttle.set 0 t 1; put 0 w q first K {} 0 throttles [\"t\"]; pop 1 q w 1");
    core.put_jobs(
        2,
        (0..5500).map(|n| format!("q j{n} K {{}} 0 throttles [\"t\"]")),
    );
    assert_eq!(zcard(&mut core, "ql:q:q-throttled"), 5500);
    core.ok("throttle.set 3 t 100000");
    assert_eq!(zcard(&mut core, "ql:q:q-throttled"), 500);
    core.ok("complete 4 first w q {}");
    assert_eq!(zcard(&mut core, "ql:q:q-throttled"), 0);
}

#[test]
fn a_pop_holds_at_most_5000_jobs_whatever_max_pop_scan_is() {
    let mut core = Core::new();
    core.all("config.set 0 max-pop-scan 1000000; throttle.set 0 x -1");
    core.put_jobs(2, (0..5500).map(|n| format!("q j{n} K {{}} 0 lock l{n}")));
    core.many((0..5500).map(|n| format!("throttle.set 3 lock:l{n} -1")));
    for held in [5000, 5500] {
        assert!(core.jids("pop 4 q w 10000").is_empty());
        assert_eq!(zcard(&mut core, "ql:q:q-throttled"), held);
    }
}

#[test]
fn guard_cancel_leaves_a_job_with_more_than_20000_dependents_alone() {
    let mut core = Core::new();
    for mode in ["refuse", "cancel", "release"] {
        core.flush();
        core.all("put 0 w q top K {} 0; put 0 w q p K {} 0 depends [\"top\"]; put 0 w q x K {} 0");
        core.redis_words(&[
            b"EVAL",
            b"for i = 1, 20001 do redis.call('sadd', 'ql:j:p-dependents', 'j' .. i) end",
            b"0",
        ]);
        let before = core.dump();
        let reply = core.ok(&format!("guard.cancel 1 {mode} p ''"));
        let rows = reply.list();
        let row = rows[0].clone().texts();
        assert_eq!(
            (&row[0][..], &row[2][..]),
            ("invalid", "more than 20000 dependents")
        );
        assert_eq!(core.dump(), before);
        // Another job of the call goes, and the job above it too, if it need not take it along.
        let above = match mode {
            "release" => "done",
            _ => "has_dependents",
        };
        let outcomes = outcomes(&mut core, &format!("guard.cancel 1 {mode} x '' top ''"));
        assert_eq!(outcomes, ["done", above], "{mode}");
    }
}

#[test]
fn of_too_many_names_looks_reply_with_some_or_with_their_number() {
    let mut core = Core::new();
    let fill = "for i = 1, 5001 do
        redis.call('zadd', 'ql:queues', i, 'q' .. i)
        redis.call('zadd', 'ql:workers', i, 'w' .. i)
        redis.call('sadd', 'ql:failures', 'g' .. i)
      end";
    core.redis_words(&[b"EVAL", fill.as_bytes(), b"0"]);
    for call in ["look.queues 10", "look.workers 10"] {
        assert_eq!(core.ok(call).texts(), ["5001"]);
    }
    let status = core.ok("look.status 90000 0 counts").list().to_vec();
    let counts = [3, 4, 5].map(|at| status[at].text());
    assert_eq!(counts, ["5001", "5001", "1401"]);
    for rows in [7, 8, 9, 10] {
        assert_eq!(status[rows].list().len(), 500, "{rows}");
    }
    // The oldest and the newest queues, and the workers that were seen last.
    let name = |rows: usize, at: usize| status[rows].list()[at].list()[1].text().to_owned();
    assert_eq!((name(9, 0), name(9, 249)), ("q1".into(), "q250".into()));
    assert_eq!(
        (name(9, 250), name(9, 499)),
        ("q5001".into(), "q4752".into())
    );
    assert_eq!(
        (name(10, 0), name(10, 499)),
        ("w5001".into(), "w4502".into())
    );

    assert_eq!(core.ok("look.queues 10 q1 q5001").list().len(), 2);
    let workers = core.ok("look.workers 90000 w1 w5001 none").list().to_vec();
    let recent = workers
        .iter()
        .map(|row| row.field("recent").unwrap().text());
    assert_eq!(recent.collect::<Vec<_>>(), ["0", "1", "0"]);
    let status = core
        .ok("look.status 10 0 counts 2 g2 g1 q700 q7")
        .list()
        .to_vec();
    let groups = status[7].list();
    assert_eq!((groups[0].list()[0].text(), groups.len()), ("g2", 500));
    assert_eq!(status[9].list()[0].list()[1].text(), "q700");
    assert_eq!(status[8].list().len(), 500);
    for (call, why) in [
        (
            format!("look.workers 1{}", words("w", 10_001)),
            "Look(): more than 10000 workers",
        ),
        (
            format!("look.status 1 0 counts 0{}", words("q", 501)),
            "Look(): more than 500 names",
        ),
        (
            "look.status 1 0 counts 2 g".to_owned(),
            "Look(): wrong number of groups: 2",
        ),
    ] {
        refused(&mut core, &call, why);
    }
}

#[test]
fn a_lane_is_shown_in_pages() {
    let mut core = Core::new();
    core.many((0..5).map(|n| format!("put {n} w q j{n} K {{}} 0 key k")));
    let page = |core: &mut Core, line: &str| {
        let jobs = core.json(&format!("key.get 9 q/k{line}"))["jobs"].clone();
        let jobs = jobs.as_array().cloned().unwrap_or_default();
        let jids = jobs
            .iter()
            .map(|job| job["jid"].as_str().unwrap().to_owned());
        jids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(page(&mut core, ""), "j0 j1 j2 j3 j4");
    assert_eq!(page(&mut core, " 1 2"), "j1 j2");
    assert_eq!(page(&mut core, " 4"), "j4");
    assert_eq!(page(&mut core, " 0 0"), "");
    for (line, name) in [("x", "offset"), ("-1", "offset"), ("0 x", "count")] {
        let why = format!("Key(): Arg \"{name}\" is not a whole number");
        refused(&mut core, &format!("key.get 9 q/k {line}"), &why);
    }
}

#[test]
fn a_call_deletes_and_puts_jobs_with_a_limited_number_of_tags() {
    let mut core = Core::new();
    core.many((0..51).map(|n| format!("put 0 w q j{n} K {{}} 0")));
    for n in 0..51 {
        let key = format!("ql:j:j{n}");
        core.redis_words(&[b"HSET", key.as_bytes(), b"tags", list("t", 1000).as_bytes()]);
    }
    refused(
        &mut core,
        &format!("cancel 1{}", words("j", 51)),
        "Cancel(): jids with more than 50000 tags and dependencies",
    );
    let job = |n: usize| format!(" 7 q n{n} K {{}} 0 tags {}", list("t", 1000));
    let jobs: String = (0..51).map(job).collect();
    refused(
        &mut core,
        &format!("guard.put 1 {{}}{jobs}"),
        "Guard(): \"tags\" and \"depends\" of all jobs have more than 50000 names",
    );
    let marked =
        |range: std::ops::Range<usize>| -> String { range.map(|n| format!(" j{n} ''")).collect() };
    let call = format!("guard.cancel 1 refuse{}", marked(0..51));
    assert_eq!(core.ok(&call).list().len(), 21);
    let call = format!("guard.cancel 1 refuse{}", marked(21..51));
    assert_eq!(core.ok(&call).list().len(), 21);
    assert_eq!(
        core.ok(&format!("cancel 2{}", words("j", 51))).list().len(),
        51
    );
    assert_eq!(core.ok("get 3 j50"), Reply::Nil);
}

#[test]
fn a_number_of_an_own_call_that_is_no_count_is_refused() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0 key k; put 0 w q i K {} 0; recur 0 q r K {} interval 60 0; throttle.set 0 t 1");
    for call in [
        "look.next 1 # pop q",
        "look.next 1 # peek q",
        "look.index 1 waiting q # 5",
        "look.index 1 waiting q 0 #",
        "look.scan 1 keys 0 #",
        "look.scan 1 keys # 5",
        "look.status 1 0 counts # q",
        "guard.turn 1 w # 2 q 1",
        "guard.turn 1 w 1 # q 1",
        "guard.turn 1 w 1 2 q #",
        "guard.finish 1 w # j q fail G M",
        "guard.put 1 {} # q new K {} 0",
        "guard.call 1 j '' '' tag swap j # t",
        "check.slice 1 look '' '' entries G #",
        "throttle.wake 1 t #",
        "key.get 1 q/k #",
        "key.get 1 q/k 0 #",
    ] {
        for count in [
            "-1", "-0.5", "1.5", "nan", "-nan", "inf", "-inf", "1e300", "x", "''",
        ] {
            let error = core.refused(&call.replace('#', count));
            let area = ["Look()", "Guard()", "Check()", "Throttle()", "Key()"];
            let ours = |area| error.contains(&format!(": {area}: "));
            assert!(area.into_iter().any(ours), "{call} with {count}: {error}");
        }
    }
    // Redis does not take -0 for a number.
    for call in [
        "look.next 1 # pop q",
        "look.index 1 waiting q # #",
        "throttle.wake 1 t #",
        "key.get 1 q/k # #",
    ] {
        for zero in ["0", "-0", "0.0"] {
            core.ok(&call.replace('#', zero));
        }
    }
}

#[test]
fn a_number_that_is_no_time_or_amount_is_refused() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; recur 0 q r K {} interval 60 0; throttle.set 0 t 1");
    for call in [
        "look.status 1 # counts",
        "guard.pause 1 # '' q",
        "guard.recur 1 update # r priority 2",
        "guard.requeue 1 {} '' j '' #",
        "guard.requeue 1 {\"priority\":#} '' j '' ''",
        "guard.put 1 {} 5 q new K {} #",
        "guard.put 1 {} 7 q new K {} 0 at #",
        "guard.put 1 {} 7 q new K {} 0 priority #",
        "guard.put 1 {} 7 q new K {} 0 retries #",
        "guard.put 1 {} 7 q new K {} 0 remaining #",
        "throttle.set 1 t #",
        "throttle.set 1 t 1 #",
        "queue.throttle.set 1 q #",
    ] {
        for number in ["nan", "-nan", "inf", "-inf", "1e999", "x"] {
            let error = core.refused(&call.replace('#', number));
            let area = ["Look()", "Guard()", "Throttle()"];
            let ours = |area| error.contains(&format!(": {area}: "));
            assert!(area.into_iter().any(ours), "{call} with {number}: {error}");
        }
    }
    // Lua reads blanks around a number, which Redis does not.
    core.redis_words(&[b"HSET", b"ql:r:r", b"priority", b"1"]);
    core.ok("guard.recur 1 update ' 30 ' r priority 2");
    assert_eq!(core.score("ql:q:q-recur", "r"), Some(30.0));
}

/// Five jobs `p0` to `p4`, and 9,000 jobs that wait for all of them.
pub(crate) fn many_dependents() -> Core {
    let mut core = Core::new();
    core.many((0..5).map(|n| format!("put 0 w q p{n} K {{}} 0")));
    let fill = "for i = 1, 9000 do
        local key = 'ql:j:d-' .. i
        redis.call('hset', key, 'jid', 'd-' .. i, 'state', 'depends', 'queue', 'q', 'priority', 0)
        redis.call('zadd', 'ql:q:q-depends', i, 'd-' .. i)
        for n = 0, 4 do
          redis.call('sadd', key .. '-dependencies', 'p' .. n)
          redis.call('sadd', 'ql:j:p' .. n .. '-dependents', 'd-' .. i)
        end
      end";
    core.redis_words(&[b"EVAL", fill.as_bytes(), b"0"]);
    core
}

#[test]
fn a_call_reads_20000_dependents_and_the_next_goes_on() {
    let mut core = many_dependents();
    for fields in ["brief", "full", "dependents"] {
        let reply = core.ok(&format!("look.jobs 1 {fields} p0 p1 p2 p3 p4"));
        assert_eq!(reply.list().len(), 3, "{fields}");
        let again = core.ok(&format!("look.jobs 1 {fields} p0 p0 p0 p0"));
        assert_eq!(again.list().len(), 3, "{fields}");
        let dependents = reply.list()[2].field("dependents").unwrap();
        assert_eq!(dependents.list().len(), 9000);
    }
    let reply = core.ok("look.jobs 1 mark p0 p1 p2 p3 p4");
    assert_eq!(reply.list().len(), 5);

    let call = "guard.cancel 1 refuse p0 '' p1 '' p2 '' p3 '' p4 ''";
    assert!(commands(&mut core, &[call.to_owned()]) < 1000);
    let reply = core.ok(call);
    assert_eq!(reply.list().len(), 3);
    for row in reply.list() {
        assert_eq!(row.list()[0].text(), "has_dependents");
        assert_eq!(row.list().len(), 102);
    }
    let reply = core.ok("guard.cancel 1 release p0 '' p1 '' p2 '' p3 '' p4 ''");
    assert_eq!(reply.list().len(), 3);
    let reply = core.ok("guard.cancel 1 release p3 '' p4 ''");
    assert_eq!(reply.list()[1].list().len(), 9002);
    assert_eq!(zcard(&mut core, "ql:q:q-depends"), 0);
    assert_eq!(zcard(&mut core, "ql:q:q-work"), 9000);
}

#[test]
fn a_call_that_ends_early_keeps_the_marks_of_the_jobs_behind() {
    let mut core = many_dependents();
    // Two trees of 3,000 jobs would be more than the 5,000 of one call; with entries of jobs that do not wait, the call
    // ends behind the third.
    core.redis("DEL ql:j:p3-dependents");
    core.all("put 1 w q child K {} 0 depends [\"p3\"]");
    core.redis_words(&[
        b"EVAL",
        b"for n = 0, 2 do
            for i = 1, 9000 do redis.call('srem', 'ql:j:d-' .. i .. '-dependencies', 'p' .. n) end
          end",
        b"0",
    ]);
    let call = "guard.cancel 1 cancel p3 '' p0 '' p1 '' p2 '' child other";
    let outcomes = outcomes(&mut core, call);
    assert_eq!(outcomes, ["has_dependents", "done", "done", "done"]);
    assert_eq!(core.state("child"), "depends");
}

#[test]
fn guard_cancel_refuse_takes_a_job_with_its_many_dependents_of_the_same_call() {
    let mut core = Core::new();
    core.ok("put 0 w q p K {} 0");
    core.many((0..300).map(|n| format!("put 0 w q d{n} K {{}} 0 depends [\"p\"]")));
    let all: String = (0..300).map(|n| format!(" d{n} ''")).collect();
    let outcomes = outcomes(&mut core, &format!("guard.cancel 1 refuse p ''{all}"));
    assert!(outcomes.iter().all(|outcome| outcome == "done"));
}

#[test]
fn an_own_call_reads_a_name_that_comes_again_once() {
    let mut core = Core::new();
    core.all(
        "put 0 w q j K {} 0 key k tags [\"t\"]; put 0 w q i K {} 0 depends [\"j\"]; recur 0 q r K {} interval 60 0; \
         put 0 w q f K {} 0; pop 1 q w 9; fail 1 f w G M; put 1 w q l K {} 0",
    );
    for call in [
        "look.jobs 9 full# j",
        "look.jobs 9 brief# none",
        "look.jobs 9 slots,unlisted# i",
        "look.recurs 9# r",
        "look.recurs 9# none",
        "look.queues 9# q",
        "look.ready 9# q",
        "look.workers 9# w",
        "look.lag 9# q",
        "look.next 9 5 pop# q",
        "look.status 9 0 counts 0# q",
        "lag 9# q",
    ] {
        let (area, name) = call.split_once('#').unwrap();
        let once = format!("{area}{name}");
        let often = format!("{area}{}", name.repeat(100));
        let (one, many) = (
            commands(&mut core, std::slice::from_ref(&once)),
            commands(&mut core, std::slice::from_ref(&often)),
        );
        assert_eq!(many, one, "{call}");
        let (one, many) = (core.ok(&once), core.ok(&often));
        let per_name = [
            "look.jobs",
            "look.recurs",
            "look.queues",
            "look.workers",
            "look.lag",
        ];
        if per_name.contains(&call.split(' ').next().unwrap()) {
            assert_eq!(many.list().len(), 100, "{call}");
            assert!(
                many.list().iter().all(|row| *row == one.list()[0]),
                "{call}"
            );
        }
    }
}
