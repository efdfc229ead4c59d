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
    costs_per(core, goal, calls.len(), calls);
}

/// `calls` for `units` jobs cost at most `goal` commands for each of them.
#[track_caller]
fn costs_per(core: &mut Core, goal: f64, units: usize, calls: impl IntoIterator<Item = String>) {
    let calls: Vec<String> = calls.into_iter().collect();
    let seen = commands(core, &calls) as f64 / units as f64;
    assert!(
        seen <= goal + 1e-9,
        "{:?} costs {seen} commands, not {goal}",
        calls[0]
    );
}

fn put(n: usize, options: &str) -> impl Iterator<Item = String> {
    (0..n).map(move |n| format!("put 1 w q j{n} K {{}} 0{options}"))
}

fn empty(core: &mut Core) -> &mut Core {
    core.flush();
    core
}

/// An empty database with `n` jobs that wait.
fn waiting<'c>(core: &'c mut Core, n: usize, options: &str) -> &'c mut Core {
    core.flush();
    core.many(put(n, options));
    core
}

/// An empty database with `n` jobs that run.
fn running(core: &mut Core, n: usize) -> &mut Core {
    waiting(core, n, "").ok(&format!("pop 2 q w1 {n}"));
    core
}

/// An empty database with `n` jobs that have failed.
fn failed(core: &mut Core, n: usize) -> &mut Core {
    running(core, n).many(each(n, "fail 3 j# w1 G M"));
    core
}

/// The line for each number below `n`, in place of its `#`.
fn each(n: usize, line: &'static str) -> impl Iterator<Item = String> {
    (0..n).map(move |n| line.replace('#', &n.to_string()))
}

#[test]
fn the_cheapest_call_is_one_command() {
    costs(&mut Core::new(), 1.0, each(10, "config.get 1 heartbeat"));
}

#[test]
fn put_stays_within_its_budget() {
    let core = &mut Core::new();
    costs(core, 8.0, put(100, ""));
    costs(empty(core), 8.0, each(100, "put 1 w q j# K {} 600"));
    let options = r#" tags ["t","u"] priority 5"#;
    costs(empty(core), 12.0, put(100, options));
    let depends = r#"put 1 w q k# K {} 0 depends ["j0","j1"]"#;
    costs(waiting(core, 2, ""), 14.0, each(100, depends));
    let moves = each(100, "put 2 w other j# K {} 0");
    costs(waiting(core, 100, ""), 11.0, moves);
}

#[test]
fn the_cost_of_pop_grows_with_its_batch_only() {
    let core = &mut Core::new();
    costs(running(core, 1), 7.0, each(100, "pop 3 q w1 1"));
    costs(waiting(core, 100, ""), 19.0, each(100, "pop 2 q w1 1"));
    let pops = each(4, "pop 2 q w1 100");
    costs_per(waiting(core, 400, ""), 4.2, 400, pops);
    empty(core).many(each(400, "put 1 w q j# K {} 600"));
    costs_per(core, 6.2, 400, each(4, "pop 1000 q w1 100"));
    let template = r#"recur 1 q r# K {} interval 3600 0 tags ["cron"]"#;
    empty(core).many(each(400, template));
    costs_per(core, 9.3, 400, each(4, "pop 2 q w1 100"));
}

#[test]
fn expired_locks_are_handled_in_batches() {
    let core = &mut Core::new();
    let pops = ["pop 100 q w1 1000", "pop 200 q w1 1000"].map(str::to_owned);
    costs_per(running(core, 1000), 13.0, 1000, pops);
}

#[test]
fn finishing_a_job_stays_within_its_budget() {
    let core = &mut Core::new();
    let mut finishing = |goal, line| costs(running(core, 100), goal, each(100, line));
    finishing(15.0, "complete 3 j# w1 q {}");
    finishing(12.0, "complete 3 j# w1 q {} next other");
    finishing(6.0, "heartbeat 3 j# w1");
    finishing(6.0, "heartbeat 3 j# w1 {}");
    finishing(12.0, "fail 3 j# w1 G M");
    finishing(6.0, "retry 3 j# q w1 0");
    finishing(8.0, "timeout 3 j#");
    let dependents = each(100, r#"put 2 w other k# K {} 0 depends ["j#"]"#);
    running(core, 100).many(dependents);
    costs(core, 22.0, each(100, "complete 3 j# w1 q {}"));
}

#[test]
fn the_reason_of_a_retry_costs_one_command() {
    let ends: String = each(100, " 7 j# q retry 0 G M 75").collect();
    let call = format!("guard.finish 3 w1{ends}");
    costs_per(running(&mut Core::new(), 100), 3.2, 100, [call]);
}

#[test]
fn completing_with_a_full_history_deletes_one_old_job() {
    let mut core = Core::new();
    core.ok("config.set 0 jobs-history-count 50");
    core.many(put(150, r#" tags ["a","b"]"#));
    core.ok("pop 2 q w1 150");
    let mut completions = each(150, "complete 3 j# w1 q {}");
    core.many(completions.by_ref().take(50));
    costs(&mut core, 22.0, completions);
}

#[test]
fn a_full_job_cycle_stays_within_its_budget() {
    let cycle = "put 1 w q j# K {} 0; pop 1 q w1 1; heartbeat 1 j# w1; complete 1 j# w1 q {}";
    let lines: Vec<String> = each(100, cycle)
        .flat_map(|lines| lines.split("; ").map(str::to_owned).collect::<Vec<_>>())
        .collect();
    costs_per(&mut Core::new(), 48.0, 100, lines);
}

#[test]
fn retrying_and_cancelling_stay_within_their_budgets() {
    let core = &mut Core::new();
    let unfails = each(4, "unfail 4 q G 100");
    costs_per(failed(core, 400), 3.1, 400, unfails);
    costs(waiting(core, 100, ""), 7.0, each(100, "cancel 2 j#"));
    let tagged = waiting(core, 100, r#" tags ["a","b"]"#);
    costs(tagged, 11.0, each(100, "cancel 2 j#"));
    costs(failed(core, 400), 9.0, each(100, "cancel 4 j#"));
    let puts = each(100, "put 4 w q j# K {} 0");
    costs(failed(core, 400), 13.0, puts);
    let all: String = each(400, " j#").collect();
    costs_per(failed(core, 400), 6.0, 400, [format!("cancel 4{all}")]);
}

#[test]
fn a_batch_of_new_jobs_writes_each_tag_once() {
    let batch = |tags: &str| {
        let job = |n| format!(" 9 q j{n} K {{}} 0 tags {tags} priority 1");
        format!("guard.put 1 {{}}{}", (0..100).map(job).collect::<String>())
    };
    let mut core = Core::new();
    costs_per(&mut core, 3.13, 100, [batch("[]")]);
    // Per tag: its type, its entries and its count; and the type of the counts.
    core.flush();
    costs_per(&mut core, 3.2, 100, [batch(r#"["a","b"]"#)]);
    assert_eq!(core.score("ql:tags", "a"), Some(100.0));
    assert_eq!(core.dump().zset("ql:t:b").len(), 100);
}

#[test]
fn reading_stays_within_its_budget() {
    let core = &mut Core::new();
    costs(running(core, 100), 3.0, each(100, "get 3 j#"));
    let all: String = each(100, " j#").collect();
    costs(core, 202.0, [format!("multiget 3{all}")]);
    costs(waiting(core, 100, ""), 57.0, each(5, "peek 2 q 25"));
    costs(waiting(core, 20, ""), 3.0, each(20, "track 2 track j#"));
    costs(core, 43.0, each(5, "track 3"));
    costs(core, 8.0, each(5, "queues 3 q"));
    costs(core, 3.0, each(5, "length 3 q"));
    costs(core, 3.0, each(5, "stats 3 q 3"));
    costs(core, 2.0, each(5, "failed 3 G 0 25"));
}

#[test]
fn long_lists_stay_within_their_budgets() {
    let core = &mut Core::new();
    core.many(each(50, "put 1 w queue-# j# K {} 0"));
    costs(core, 352.0, each(3, "queues 2"));
    core.many(each(100, "pop 3 none worker-# 0"));
    costs(core, 203.0, each(3, "workers 4"));
    costs(core, 4.0, each(3, "workers 4 worker-1"));
    running(core, 50).many(each(50, "fail 3 j# w1 group-# M"));
    costs(core, 51.0, each(3, "failed 4"));
    empty(core).many(each(1000, "put 1 w q j# K {} 600"));
    costs_per(core, 2.05, 1000, ["queues 2000 q".to_owned()]);
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
    core.flush();
    core.many(each(50, "put 3 w queue-# a# K {} 0"));
    core.many(each(50, "put 3 w queue-# b# K {} 0"));
    // 5 for each queue in which nothing runs and nothing happened today.
    costs(&mut core, 263.0, each(3, "look.status 90000 0 spreads"));
}

#[test]
fn changing_a_job_stays_within_its_budget() {
    let core = &mut Core::new();
    let mut changing = |goal, line| costs(waiting(core, 100, ""), goal, each(100, line));
    changing(4.0, "priority 2 j# 7");
    changing(4.0, r#"log 2 j# note {"a":1}"#);
    changing(6.0, "tag 2 add j# one two");
    let tagged = waiting(core, 100, r#" tags ["one","two","three"]"#);
    costs(tagged, 6.0, each(99, "tag 2 remove j# one two"));
    costs(tagged, 2.0, each(5, "tag 3 get three 0 25"));
}
