//! `qless status`.

use expect_test::expect;
use serde_json::json;

use crate::support::redis::Redis;
use crate::support::terminal::Terminal;
use crate::support::text::{Shows, words};

/// Fills a database with something of everything. The time is 90,000: an hour after midnight.
fn filled() -> Redis {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.at(now).env("USER", "ann").run(line).ok();
    for (second, jid) in ["a", "b", "c", "d"].iter().enumerate() {
        at(
            89_000 + second as u32,
            &format!("put mail Mail::Welcome --jid {jid}"),
        );
    }
    at(89_010, "pop mail --count 3 --worker w1");
    at(89_020, "complete a --worker w1");
    at(89_030, "fail b --worker w1 --group old --message m");
    at(89_900, "put mail K --jid e --priority 3");
    at(89_950, "pop mail --worker w2");
    at(89_960, "fail e --worker w2 --group new --message m");
    at(89_990, "put images Thumb --jid f");
    at(89_990, "put images Thumb --jid g --depends f");
    at(89_990, "put images Thumb --jid h --delay 1h");
    at(89_900, "recur put web Warm --jid r --every 600s");
    at(89_991, "pause images --reason 'disk swap'");
    redis
}

#[test]
fn everything_is_on_one_screen() {
    let redis = filled();
    redis.send(&["CONFIG", "SET", "maxmemory", "4gb"]);
    let ran = redis.at(90_000).run("status --since 5m");
    let host = qless::internals::host_name();
    let text = ran.ok().replace(&format!("ann@{host}"), "ann@HOST");
    let (server, rest) = text.split_once('\n').unwrap();
    assert!(server.starts_with("server\tRedis "), "{server}");
    for fact in [", master, up ", " of 4.0 GiB, noeviction, "] {
        assert!(server.contains(fact), "{server}");
    }
    format!("{rest}\n").shows(expect![[r#"
        problems	new: 1 job has failed in the last 5m: `qless failed --group=new`
        problems	1 job has lost its lock: `qless jobs --state stalled`
        problems	mail: the oldest job has waited 16m 37s: `qless explain --queue=mail`
        problems	web: 1 recurring job is late by 1m 40s: no pop has come for it: `qless recur list`
        problems	images is paused for 9s by ann@HOST (disk swap), 1 job waits: `qless unpause images`
        jobs	2 waiting, 0 running, 1 stalled, 1 scheduled, 1 depends, 2 failed, 1 complete
        queues	3 known, 1 recurring job, 2 groups of failures
        today	4 popped, 1 completed, 2 failures
        lately	0 completed, over 5m
        workers	2 known workers, 0 hold jobs
        oldest wait	mail 16m 37s (d)
        oldest wait	images 10s (f): the queue is paused
    "#]]);
}

#[test]
fn what_stops_jobs_until_somebody_acts_comes_first() {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    at(90_000, "throttle set s3 -1");
    for n in 0..3 {
        at(90_000, &format!("put export K --jid e{n} --throttle s3"));
    }
    at(90_001, "put mail K --jid c1 --key customer");
    at(90_001, "put mail K --jid c2 --key customer");
    at(90_002, "pop mail --worker w1");
    at(90_003, "put done K --jid d");
    at(90_004, "pop done --worker w2");
    at(90_005, "complete d --worker w2");
    redis.at(90_006).run("pop export --worker w3").exits(4);
    let ran = redis.at(90_786).run("status");
    let text = ran.ok();
    let (_, rest) = text.split_once('\n').unwrap();
    format!("{rest}\n").shows(expect![[r#"
        problems	no worker has been seen for 13m, and 4 jobs wait: `qless workers`
        problems	throttle s3 lets no job run, and it holds 3 jobs: `qless throttle set s3 N`
        problems	lane mail/customer waits for c1, whose worker w1 lost its lock: `qless timeout c1`
        problems	1 job has lost its lock (w1, seen 13m 4s ago): `qless jobs --state stalled`
        jobs	0 waiting, 0 running, 1 stalled, 0 scheduled, 1 depends, 3 throttled, 0 failed, 1 complete
        queues	3 known, 0 recurring jobs, 0 groups of failures
        today	2 popped, 1 completed, 0 failures
        lately	0 completed, over 5m
        workers	3 known workers, 1 holds jobs, none of them has been seen for 13m
        oldest wait	export 13m 6s (e0): throttle s3 has no free slot
        oldest wait	mail 13m 5s (c2): behind other jobs in lane mail/customer
    "#]]);
    let doc = redis.json(90_100, "status -o json");
    assert_eq!(doc["recent"], json!({"seconds": 95, "completed": 1}));
    assert_eq!(doc["waits"][0]["held_by"], "s3");
}

/// However many jobs wait before the jobs of the lane.
#[test]
fn a_lane_with_an_expired_lock_is_found_behind_many_waiting_jobs() {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    at(90_000, "put other K --jid root");
    for n in 0..25 {
        at(90_000, &format!("put mail K --jid d{n} --depends root"));
    }
    at(90_001, "put mail K --jid c1 --key customer");
    at(90_001, "put mail K --jid c2 --key customer");
    at(90_001, "put mail K --jid o1 --key order");
    at(90_001, "put mail K --jid o2 --key order");
    at(90_002, "pop mail --worker w1 --count 2");
    assert!(!at(90_003, "status").contains("lane"));
    let text = at(90_200, "status");
    let problems = text.lines().filter(|line| line.contains("lost its lock:"));
    let problems: Vec<&str> = problems.collect();
    problems.join("\n").shows(expect![[r#"
        problems	lane mail/customer waits for c1, whose worker w1 lost its lock: `qless timeout c1`
        problems	lane mail/order waits for o1, whose worker w1 lost its lock: `qless timeout o1`"#]]);
}

#[test]
fn silent_workers_beside_a_busy_one_are_a_problem() {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    at(90_000, "config set heartbeat 3600");
    at(90_001, "put mail K --jid a");
    at(90_001, "put mail K --jid b");
    at(90_010, "pop mail --worker busy");
    let silent = |now: u32| at(now, "status").contains("problems\tno worker");
    assert!(!silent(90_200));
    redis.at(90_020).run("pop other --worker idle").exits(4);
    assert!(!silent(90_100));
    let text = at(90_800, "status");
    let problem = "no idle worker has been seen for 13m, and 1 job waits: `qless workers`";
    assert!(text.contains(&format!("problems\t{problem}\n")), "{text}");
}

#[test]
fn workers_that_end_after_each_job_are_not_missed() {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    for n in 0..3 {
        at(90_000, &format!("put mail K --jid j{n}"));
    }
    redis.at(90_001).run("pop other --worker gone").exits(4);
    let silent = |now: u32| at(now, "status").contains("problems\tno worker");
    assert!(silent(90_400));
    at(90_390, "pop mail --worker cron");
    at(90_391, "complete j2 --as-holder");
    at(90_392, "forget worker cron --yes");
    assert!(!silent(90_400));
    assert!(silent(90_800));
}

/// No two lines are of different moments.
#[test]
fn all_figures_come_from_one_call() {
    let redis = filled();
    let before = redis.scripts_run();
    redis.ok(90_000, "status");
    assert_eq!(redis.scripts_run() - before, 1);
}

/// One key of a wrong type hides its queue, and nothing else.
#[test]
fn a_queue_that_cannot_be_read_is_a_problem() {
    let redis = filled();
    redis.send(&["DEL", "ql:q:mail-locks"]);
    redis.send(&["SET", "ql:q:mail-locks", "x"]);
    let first = |redis: &Redis| {
        let text = redis.ok(90_000, "status");
        text.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(
        first(&redis),
        "problems\tcannot be read, because a key has the wrong type: queue mail: `qless check --only key-type`"
    );
    let doc = redis.json(90_000, "status -o json");
    assert_eq!(doc["problems"][0]["queue"], "mail");
    assert_eq!(doc["totals"]["waiting"], 1);
    assert_eq!(doc["omitted"]["queues"], 0);
    redis.send(&["SET", "ql:w:w9:jobs", "x"]);
    redis.send(&["ZADD", "ql:workers", "89999", "w9"]);
    assert!(first(&redis).contains("queue mail, the workers: `"));
    let health = redis.at(90_000).run("health --max-waiting 100").exits(10);
    assert!(
        health.stdout().starts_with("✗ cannot be read"),
        "{}",
        health.stdout()
    );
    let metrics = redis.ok(90_000, "metrics");
    assert!(metrics.contains("qless_queue_paused{queue=\"images\"} 1"));
    assert!(!metrics.contains("queue=\"mail\""));
}

/// One list of a wrong type hides itself, and nothing else.
#[test]
fn lists_that_cannot_be_read_are_a_problem() {
    let redis = filled();
    for (key, list) in [
        ("ql:workers", "the workers"),
        ("ql:queues", "the list of queues"),
        ("ql:failures", "the groups of failures"),
        ("ql:completed", "the complete jobs"),
    ] {
        redis.send(&["RENAME", key, "aside"]);
        redis.send(&["SET", key, "x"]);
        let problem = format!("cannot be read, because a key has the wrong type: {list}");
        let line = format!("problems\t{problem}: `qless check --only key-type`");
        let text = redis.ok(90_000, "status");
        assert_eq!(text.lines().nth(1), Some(&line[..]));
        assert!(!text.contains("no worker"), "{text}");
        let health = redis.at(90_000).run("health --min-workers 1").exits(10);
        assert!(health.stdout().starts_with(&format!("✗ {problem}")));
        let metrics = redis.ok(90_000, "metrics");
        let is_up = !metrics.contains("qless_up 0");
        assert_eq!(is_up, key != "ql:queues", "{metrics}");
        let knows = |family: &str| metrics.contains(&format!("\n{family}"));
        assert_eq!(knows("qless_complete_jobs "), key != "ql:completed");
        assert_eq!(knows("qless_workers{"), key != "ql:workers");
        let doctor = redis.qless().run("doctor").exits(1);
        let line = format!("✗\tkeys\t{problem}\t`qless check --only key-type` names the keys");
        assert!(doctor.stdout().contains(&line), "{}", doctor.stdout());
        redis.send(&["RENAME", "aside", key]);
    }
}

#[test]
fn statistics_of_any_size_are_no_defect() {
    let redis = filled();
    for (queue, count) in [("mail", "1e400"), ("images", "99999999999999999999999")] {
        redis.send(&["HSET", &format!("ql:s:wait:86400:{queue}"), "total", count]);
    }
    for line in ["status", "status -o json", "metrics", "health"] {
        assert!(redis.at(90_000).run(line).code() != 101, "{line}");
    }
}

#[test]
fn a_throttle_that_no_pop_has_met_holds_no_jobs_yet() {
    let redis = Redis::start();
    redis.ok(1000, "put export K --throttle s3");
    redis.ok(1001, "throttle set s3 -1");
    let what = |now| redis.json(now, "status -o json")["problems"][1]["message"].clone();
    assert_eq!(
        what(1002),
        "throttle s3 lets no job run, and at least one job needs it: `qless throttle set s3 N`"
    );
    redis.at(1003).run("pop export").exits(4);
    let problems = redis.json(1004, "status -o json")["problems"].to_string();
    assert!(problems.contains("and it holds 1 job: "), "{problems}");
}

#[test]
fn recurring_jobs_of_a_paused_queue_are_no_problem_of_their_own() {
    let redis = Redis::start();
    redis.ok(1000, "put mail K");
    redis.ok(1000, "recur put mail K --every 1m --jid tick");
    redis.ok(1001, "pause mail");
    redis.at(5000).run("pop mail --worker w1").exits(4);
    let doc = redis.json(5001, "status -o json");
    let problems = doc["problems"].as_array().unwrap();
    assert!(problems.iter().all(|problem| problem["code"] == "paused"));
    assert_eq!(doc["late_recurring"][0]["queue"], "mail");
    redis.ok(5002, "unpause mail");
    redis.session(expect![[r#"
        5003 $ qless explain --queue mail
        mail	recurring_not_polled	delaying	1 recurring job is late	qless recur list mail
        mail	next		tick-1	
    "#]]);
}

#[test]
fn the_document_has_the_totals() {
    let redis = filled();
    let host = qless::internals::host_name();
    redis.at(90_000).hide(&host, "HOST").session(expect![[r#"
        $ qless status -o json | jq -c .totals
        {"queues":3,"waiting":2,"running":0,"stalled":1,"scheduled":1,"depends":1,"failed":2,"complete":1,"recurring":1,"groups":2,"workers":2,"busy_workers":0,"last_seen":"1970-01-02T00:59:10.000Z"}
        $ qless status -o json | jq -c .today
        {"popped":4,"completed":1,"failures":2,"popped_per_s":0.001,"completed_per_s":0}
        $ qless status -o json | jq -c .failures
        [{"group":"new","recent":1,"jobs":1},{"group":"old","recent":1,"jobs":1}]
        $ qless status -o json | jq -c .problems
        [{"code":"failing","message":"new: 1 job has failed in the last 1h: `qless failed --group=new`","queue":null,"group":"new","worker":null,"jobs":1,"age_s":null,"fix":["qless","failed","--group=new"]},{"code":"failing","message":"old: 1 job has failed in the last 1h: `qless failed --group=old`","queue":null,"group":"old","worker":null,"jobs":1,"age_s":null,"fix":["qless","failed","--group=old"]},{"code":"stalled","message":"1 job has lost its lock: `qless jobs --state stalled`","queue":null,"group":null,"worker":null,"jobs":1,"age_s":null,"fix":["qless","jobs","--state","stalled"]},{"code":"late","message":"mail: the oldest job has waited 16m 37s: `qless explain --queue=mail`","queue":"mail","group":null,"worker":null,"jobs":null,"age_s":997,"fix":["qless","explain","--queue=mail"]},{"code":"late_recurring","message":"web: 1 recurring job is late by 1m 40s: no pop has come for it: `qless recur list`","queue":"web","group":null,"worker":null,"jobs":1,"age_s":100,"fix":["qless","recur","list"]},{"code":"paused","message":"images is paused for 9s by ann@HOST (disk swap), 1 job waits: `qless unpause images`","queue":"images","group":null,"worker":null,"jobs":1,"age_s":9,"fix":["qless","unpause","images"]}]
        $ qless status -o json | jq -c '[.server.role, .waits[0].queue, .paused[0].reason, .last_minute]'
        ["master","mail","disk swap",null]
        $ qless --read-only status &>/dev/null
        $ qless status --prefix empty: -o json | jq -c '[.totals.waiting, .problems]'
        [0,[]]
    "#]]);
}

#[test]
fn a_job_that_has_waited_for_an_unknown_time_is_counted() {
    let redis = Redis::start();
    redis.ok(1000, "put mail K --jid a");
    // Another script's `priority` leaves no time in the score.
    redis.send(&["ZADD", "ql:q:mail-work", "0", "a"]);
    redis.send(&["DEL", "ql:j:a-history"]);
    let document = redis.json(1001, "status -o json");
    assert_eq!(document["totals"]["waiting"], 1, "{document}");
}

/// The number of calls is the same however many jobs there are.
#[test]
fn the_calls_do_not_grow_with_the_jobs() {
    let redis = Redis::start();
    let cost = |line: &str| {
        let before = redis.scripts_run();
        assert_ne!(redis.at(90_000).run(line).code(), 2);
        redis.scripts_run() - before
    };
    let call = |now: f64, line: String| (now, words(&line));
    let put = |queue: &str, jids: std::ops::Range<usize>| {
        redis.calls(jids.map(|at| call(89_000.0, format!("put me {queue} j{at} K {{}} 0"))));
    };
    put("q", 0..1);
    put("p", 1..2);
    let lines = ["status", "explain j0", "explain --queue q"];
    let few = lines.map(cost);
    put("q", 2..2000);
    put("p", 2000..3000);
    redis.calls((0..20).map(|_| call(89_001.0, "pop p w 60".into())));
    redis.calls((2000..3000).map(|at| call(89_002.0, format!("fail j{at} w g m"))));
    assert_eq!(lines.map(cost), few);
}

/// A user who may not run INFO gets the rest, and the server logs no denial.
#[test]
fn a_user_without_info_sees_the_rest() {
    let redis = filled();
    let rules = "ACL SETUSER poor on nopass ~ql:* resetchannels &ql:* +@all -info";
    redis.send(&words(rules).iter().map(String::as_str).collect::<Vec<_>>());
    let url = format!("{}?user=poor", redis.url());
    let poor = redis.at(90_000).env("QLESS_REDIS_URL", url);
    let poor = poor.env("QLESS_REDIS_PASSWORD", "any");
    let doc = poor.run("status -o json").json();
    assert_eq!(doc["server"], serde_json::Value::Null);
    assert_eq!(doc["totals"]["complete"], 1);
    if Redis::has_selective_rights() {
        // The script asks for the right first, so that the server logs no denial.
        assert_eq!(redis.send(&["ACL", "LOG"]), redis::Value::Array(Vec::new()));
    }
}

#[test]
fn a_watch_shows_rates() {
    let redis = Redis::start();
    let mut command = redis.qless().command();
    command
        .args(["status", "--watch=0.5s"])
        .env("TERM", "xterm");
    let screen = Terminal::start(command, 100, 24);
    screen.until(|written| written.contains("now  "));
    redis.qless().run("put q K").ok();
    screen.until(|written| {
        let rates = written.split("now  ").skip(1);
        rates
            .into_iter()
            .any(|rest| !rest.trim_start().starts_with("0.0/s put"))
    });
    screen.signal("-INT");
    screen.end().exits(0);
}

#[test]
fn the_short_help_begins_with_status_and_recipes() {
    let ran = crate::support::qless::Qless::bare().run("");
    let help = ran.stderr();
    let start = help.find("qless status").unwrap();
    assert!(start < help.find("qless help recipes").unwrap(), "{help}");
    assert!(help.find("qless help recipes").unwrap() < help.find("Inspect:").unwrap());
    ran.exits(2);
}

/// A long lock keeps a job from every other worker, although its own may be gone.
#[test]
fn a_silent_worker_with_a_long_lock_and_what_waits_for_it_are_problems() {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    at(90_000, "config set reports-heartbeat 36000");
    for jid in ["a", "b"] {
        at(90_000, &format!("put reports K --jid {jid} --key ann"));
    }
    at(90_000, "pop reports --worker gone");
    let alive = |now: u32| redis.at(now).run("pop other --worker alive").exits(4);
    let rest = |now: u32| {
        alive(now - 1);
        let text = at(now, "status");
        let lines = text.lines();
        let lines =
            lines.filter(|line| line.starts_with("problems") || line.starts_with("workers"));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    // It has time to extend its lock.
    rest(108_000).shows(expect![[r#"
        problems	reports: the oldest job has waited 5h, behind other jobs in lane reports/ann (a runs on gone, silent for 5h): `qless explain --queue=reports`
        workers	2 known workers, 1 holds jobs
    "#]]);
    rest(108_002).shows(expect![[r#"
        problems	reports: the oldest job has waited 5h, behind other jobs in lane reports/ann (a runs on gone, silent for 5h): `qless explain --queue=reports`
        problems	worker gone is silent for 5h, holding 1 job for up to 4h 59m more: `qless workers gone`
        workers	2 known workers, 1 holds jobs, gone is silent for 5h
    "#]]);
    let doc = redis.json(108_002, "status -o json");
    assert_eq!(doc["problems"][1]["worker"], "gone");
    assert_eq!(doc["waits"][0]["holder"], "a");
    assert_eq!(doc["waits"][0]["worker"], "gone");
    assert_eq!(doc["problems"][1]["code"], "silent_holder");
    // It may be busy: a warning.
    redis.session(expect![[r#"
        108002 $ qless health --nagios
        QLESS CRITICAL - reports: the oldest job has waited 5h, behind other jobs in lane reports/ann (a runs on gone, silent for 5h); worker gone is silent for 5h, holding 1 job for up to 4h 59m more
        --- exit 2
    "#]]);
    at(108_003, "heartbeat a --worker gone");
    assert!(!rest(108_004).contains("silent"));
}

/// Nobody would learn of its end for days.
#[test]
fn a_silent_worker_whose_lock_lasts_for_days_is_a_problem_after_an_hour() {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    at(90_000, "config set mail-heartbeat 604800");
    at(90_000, "put mail K --jid a");
    at(90_000, "pop mail --worker gone");
    redis.at(93_599).run("pop other --worker alive").exits(4);
    let says_nothing = |now| !at(now, "health").contains("silent");
    assert!(says_nothing(93_600));
    redis.session(expect![[r#"
        93601 $ qless health
        ! worker gone is silent for 1h, holding 1 job for up to 6d 22h more: `qless workers gone`
        --- exit 10
    "#]]);
    at(93_602, "heartbeat a --worker gone");
    assert!(says_nothing(93_603));
}

/// However short the lock: half of it passes soon.
#[test]
fn a_worker_that_lets_half_of_a_short_lock_pass_is_no_problem() {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    at(90_000, "config set heartbeat 3600");
    at(90_000, "put mail K --jid a");
    at(90_000, "pop mail --worker busy");
    redis.at(93_000).run("pop other --worker alive").exits(4);
    let text = at(93_001, "status");
    assert!(!text.contains("problems"), "{text}");
    assert!(text.ends_with(", busy is silent for 50m 1s"), "{text}");
}

#[test]
fn the_wait_for_a_throttle_or_a_full_queue_names_who_holds_it() {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    at(90_000, "config set heartbeat 3600");
    for jid in ["a", "b"] {
        at(90_000, &format!("put export K --jid {jid} --throttle s3=1"));
    }
    at(90_000, "config set full-max-concurrency 1");
    for jid in ["c", "d"] {
        at(90_001, &format!("put full K --jid {jid}"));
    }
    at(90_002, "pop export full --worker w1 --count 4");
    let text = at(90_200, "status");
    for wait in [
        "export 3m 20s (a): throttle s3 has no free slot (b runs on w1, silent for 3m 18s)",
        "full 3m 19s (c): the queue runs as many jobs as its max-concurrency allows (d runs on w1, silent for 3m 18s)",
    ] {
        assert!(text.contains(wait), "{text}");
    }
}

#[test]
fn a_person_is_told_that_nothing_is_under_this_prefix() {
    let shown = Redis::start().on_terminal(90_000, "status");
    let note = "no queue exists under this prefix: `qless doctor` looks for others\n";
    assert!(shown.starts_with(note), "{shown}");
}
