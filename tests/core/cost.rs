//! The cost of a call in Redis commands, against the budgets of the project. Counts are exact, so
//! an added command is noticed. `make bench` measures microseconds.

use crate::support::core::{Core, Reply};

/// The commands that the script ran during these calls.
pub(crate) fn commands(core: &mut Core, lines: &[String]) -> u64 {
    core.redis("CONFIG RESETSTAT");
    core.many(lines.iter().cloned());
    let Reply::Text(stats) = core.redis("INFO commandstats") else {
        panic!("no statistics")
    };
    let counts = stats.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let outside = name.starts_with("evalsha")
            || name.starts_with("config|")
            || name == "info"
            || name == "config";
        let count: u64 = rest.split(',').next()?.parse().ok()?;
        (!outside).then_some(count)
    });
    counts.sum()
}

/// `calls` cost at most `goal` commands each.
#[track_caller]
fn costs(core: &mut Core, goal: f64, calls: impl IntoIterator<Item = String>) {
    let calls: Vec<String> = calls.into_iter().collect();
    costs_per(core, goal, calls.len(), &calls);
}

#[track_caller]
fn costs_per(core: &mut Core, goal: f64, units: usize, calls: &[String]) {
    let seen = commands(core, calls) as f64 / units as f64;
    assert!(
        seen <= goal + 1e-9,
        "{:?} costs {seen} commands, not {goal}",
        calls[0]
    );
}

fn put(n: usize, options: &str) -> impl Iterator<Item = String> {
    (0..n).map(move |n| format!("put 1 w q j{n} K {{}} 0{options}"))
}

fn waiting(n: usize, options: &str) -> Core {
    let mut core = Core::new();
    core.many(put(n, options));
    core
}

fn running(n: usize) -> Core {
    let mut core = waiting(n, "");
    core.ok(&format!("pop 2 q w1 {n}"));
    core
}

fn each(n: usize, line: &'static str) -> impl Iterator<Item = String> {
    (0..n).map(move |n| line.replace('#', &n.to_string()))
}

#[test]
fn the_cheapest_call_is_one_command() {
    costs(&mut Core::new(), 1.0, each(10, "config.get 1 heartbeat"));
}

#[test]
fn put_stays_within_its_budget() {
    costs(&mut Core::new(), 8.0, put(100, ""));
    costs(&mut Core::new(), 8.0, each(100, "put 1 w q j# K {} 600"));
    costs(
        &mut Core::new(),
        12.0,
        put(100, r#" tags ["t","u"] priority 5"#),
    );
    let mut core = waiting(2, "");
    costs(
        &mut core,
        14.0,
        each(100, r#"put 1 w q k# K {} 0 depends ["j0","j1"]"#),
    );
    costs(
        &mut waiting(100, ""),
        11.0,
        each(100, "put 2 w other j# K {} 0"),
    );
}

#[test]
fn the_cost_of_pop_grows_with_its_batch_only() {
    costs(&mut running(1), 7.0, each(100, "pop 3 q w1 1"));
    costs(&mut waiting(100, ""), 19.0, each(100, "pop 2 q w1 1"));
    costs_per(
        &mut waiting(400, ""),
        4.2,
        400,
        &each(4, "pop 2 q w1 100").collect::<Vec<_>>(),
    );
    let mut core = Core::new();
    core.many(each(400, "put 1 w q j# K {} 600"));
    costs_per(
        &mut core,
        6.2,
        400,
        &each(4, "pop 1000 q w1 100").collect::<Vec<_>>(),
    );
    let mut core = Core::new();
    core.many(each(
        400,
        r#"recur 1 q r# K {} interval 3600 0 tags ["cron"]"#,
    ));
    costs_per(
        &mut core,
        9.3,
        400,
        &each(4, "pop 2 q w1 100").collect::<Vec<_>>(),
    );
}

#[test]
fn expired_locks_are_handled_in_batches() {
    let mut core = running(1000);
    costs_per(
        &mut core,
        13.0,
        1000,
        &["pop 100 q w1 1000".into(), "pop 200 q w1 1000".into()],
    );
}

#[test]
fn finishing_a_job_stays_within_its_budget() {
    costs(&mut running(100), 15.0, each(100, "complete 3 j# w1 q {}"));
    costs(
        &mut running(100),
        12.0,
        each(100, "complete 3 j# w1 q {} next other"),
    );
    let mut core = running(100);
    core.many(each(100, r#"put 2 w other k# K {} 0 depends ["j#"]"#));
    costs(&mut core, 22.0, each(100, "complete 3 j# w1 q {}"));
    costs(&mut running(100), 6.0, each(100, "heartbeat 3 j# w1"));
    costs(&mut running(100), 6.0, each(100, "heartbeat 3 j# w1 {}"));
    costs(&mut running(100), 12.0, each(100, "fail 3 j# w1 G M"));
    costs(&mut running(100), 6.0, each(100, "retry 3 j# q w1 0"));
    costs(&mut running(100), 8.0, each(100, "timeout 3 j#"));
}

#[test]
fn the_reason_of_a_retry_costs_one_command() {
    let ends: String = (0..100)
        .map(|n| format!(" 7 j{n} q retry 0 G M 75"))
        .collect();
    let call = format!("guard.finish 3 w1{ends}");
    costs_per(&mut running(100), 3.2, 100, &[call]);
}

#[test]
fn completing_with_a_full_history_deletes_one_old_job() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-history-count 50");
    core.many(put(150, r#" tags ["a","b"]"#));
    core.ok("pop 2 q w1 150");
    core.many((0..50).map(|n| format!("complete 3 j{n} w1 q {{}}")));
    costs(
        &mut core,
        22.0,
        (50..150).map(|n| format!("complete 3 j{n} w1 q {{}}")),
    );
}

#[test]
fn a_full_job_cycle_stays_within_its_budget() {
    let lines: Vec<String> = (0..100)
        .flat_map(|n| {
            [
                format!("put 1 w q j{n} K {{}} 0"),
                "pop 1 q w1 1".to_owned(),
                format!("heartbeat 1 j{n} w1"),
                format!("complete 1 j{n} w1 q {{}}"),
            ]
        })
        .collect();
    costs_per(&mut Core::new(), 48.0, 100, &lines);
}

#[test]
fn retrying_and_cancelling_stay_within_their_budgets() {
    let failed = || {
        let mut core = running(400);
        core.many(each(400, "fail 3 j# w1 G M"));
        core
    };
    costs_per(
        &mut failed(),
        3.1,
        400,
        &each(4, "unfail 4 q G 100").collect::<Vec<_>>(),
    );
    costs(&mut waiting(100, ""), 7.0, each(100, "cancel 2 j#"));
    costs(
        &mut waiting(100, r#" tags ["a","b"]"#),
        11.0,
        each(100, "cancel 2 j#"),
    );
    costs(&mut failed(), 9.0, each(100, "cancel 4 j#"));
    costs(&mut failed(), 13.0, each(100, "put 4 w q j# K {} 0"));
    let all: String = (0..400).map(|n| format!(" j{n}")).collect();
    costs_per(&mut failed(), 6.0, 400, &[format!("cancel 4{all}")]);
}

#[test]
fn a_batch_of_new_jobs_writes_each_tag_once() {
    let batch = |tags: &str| {
        let job = |n| format!(" 9 q j{n} K {{}} 0 tags {tags} priority 1");
        format!("guard.put 1 {{}}{}", (0..100).map(job).collect::<String>())
    };
    let mut core = Core::new();
    costs_per(&mut core, 3.13, 100, &[batch("[]")]);
    // Per tag: its type, its entries and its count; and the type of the counts.
    core.flush();
    costs_per(&mut core, 3.2, 100, &[batch(r#"["a","b"]"#)]);
    assert_eq!(core.score("ql:tags", "a"), Some(100.0));
    assert_eq!(core.dump().zset("ql:t:b").len(), 100);
}

#[test]
fn reading_stays_within_its_budget() {
    let mut core = running(100);
    costs(&mut core, 3.0, each(100, "get 3 j#"));
    let all: String = (0..100).map(|n| format!(" j{n}")).collect();
    costs(&mut core, 202.0, [format!("multiget 3{all}")]);
    costs(&mut waiting(100, ""), 57.0, each(5, "peek 2 q 25"));
    let mut core = waiting(20, "");
    costs(&mut core, 3.0, each(20, "track 2 track j#"));
    costs(&mut core, 43.0, each(5, "track 3"));
    costs(&mut core, 8.0, each(5, "queues 3 q"));
    costs(&mut core, 3.0, each(5, "length 3 q"));
    costs(&mut core, 3.0, each(5, "stats 3 q 3"));
    costs(&mut core, 2.0, each(5, "failed 3 G 0 25"));
}

#[test]
fn long_lists_stay_within_their_budgets() {
    let mut core = Core::new();
    core.many(each(50, "put 1 w queue-# j# K {} 0"));
    costs(&mut core, 352.0, each(3, "queues 2"));
    core.many(each(100, "pop 3 none worker-# 0"));
    costs(&mut core, 203.0, each(3, "workers 4"));
    costs(&mut core, 4.0, each(3, "workers 4 worker-1"));
    let mut core = running(50);
    core.many(each(50, "fail 3 j# w1 group-# M"));
    costs(&mut core, 51.0, each(3, "failed 4"));
    let mut core = Core::new();
    core.many(each(1000, "put 1 w q j# K {} 600"));
    costs_per(&mut core, 2.05, 1000, &["queues 2000 q".into()]);
}

#[test]
fn a_look_stays_within_its_budget() {
    let mut core = Core::new();
    core.many(each(20, "put 1 w failing f# K {} 0"));
    core.many(each(20, "pop 2 failing w1 1"));
    core.many(each(20, "fail 2 f# w1 group-# M"));
    for jid in ["a", "b", "c"] {
        core.many(each(50, "put 3 w queue-# jid-# K {} 0").map(|line| line.replace("jid", jid)));
    }
    core.many(each(50, "pop 4 queue-# busy-# 2"));
    // 10 for each queue with jobs, 3 for each group, 2 for each worker with jobs.
    costs(&mut core, 677.0, each(3, "look.status 5 0 counts"));
    // And for each queue 3 that tell since when its two jobs run.
    costs(&mut core, 827.0, each(3, "look.status 5 0 spreads"));
    let mut idle = Core::new();
    idle.many(each(50, "put 3 w queue-# a# K {} 0"));
    idle.many(each(50, "put 3 w queue-# b# K {} 0"));
    // 5 for each queue in which nothing runs and nothing happened today.
    costs(&mut idle, 263.0, each(3, "look.status 90000 0 spreads"));
}

#[test]
fn changing_a_job_stays_within_its_budget() {
    costs(&mut waiting(100, ""), 4.0, each(100, "priority 2 j# 7"));
    costs(
        &mut waiting(100, ""),
        4.0,
        each(100, r#"log 2 j# note {"a":1}"#),
    );
    costs(
        &mut waiting(100, ""),
        6.0,
        each(100, "tag 2 add j# one two"),
    );
    let mut core = waiting(100, r#" tags ["one","two","three"]"#);
    costs(&mut core, 6.0, each(99, "tag 2 remove j# one two"));
    costs(&mut core, 2.0, each(5, "tag 3 get three 0 25"));
}
