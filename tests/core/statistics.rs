//! What is counted, on which day, and how it is answered.

use serde_json::{Value, json};

use crate::support::core::Core;

fn slots(side: &Value) -> Vec<(usize, i64)> {
    let list = side["histogram"].as_array().expect("an array");
    assert_eq!(list.len(), 148);
    let counted = list
        .iter()
        .enumerate()
        .map(|(at, count)| (at, count.as_i64().unwrap()));
    counted.filter(|(_, count)| *count != 0).collect()
}

/// Makes a job wait for each of these times.
fn waited(seconds: &[f64]) -> Core {
    let mut core = Core::new();
    for (n, seconds) in seconds.iter().enumerate() {
        let now = 864_000.0 + n as f64;
        core.ok(&format!("put {} w q j{n} K {{}} 0", now - seconds));
        core.ok(&format!("pop {now} q w1 1"));
    }
    core
}

#[test]
fn an_unknown_queue_has_zeros_everywhere() {
    let mut core = Core::new();
    let stats = core.json("stats 0 nope 0");
    for name in ["retries", "failed", "failures"] {
        assert_eq!(stats[name], 0);
    }
    for side in ["wait", "run"] {
        assert_eq!(stats[side]["count"], 0);
        assert_eq!(
            (&stats[side]["mean"], &stats[side]["std"]),
            (&json!(0), &json!(0))
        );
        assert!(slots(&stats[side]).is_empty());
    }
}

#[test]
fn mean_and_deviation_are_updated_incrementally() {
    let mut core = waited(&[2.0, 4.0, 9.0]);
    let wait = core.json("stats 864010 q 864010")["wait"].clone();
    assert_eq!((&wait["count"], &wait["mean"]), (&json!(3), &json!(5)));
    assert!((wait["std"].as_f64().unwrap() - 13f64.sqrt()).abs() < 1e-9);
}

#[test]
fn the_histogram_has_seconds_minutes_hours_and_days() {
    let mut core = waited(&[
        0.9,
        59.0,
        60.0,
        3599.0,
        3600.0,
        86399.0,
        86400.0,
        6.0 * 86400.0,
    ]);
    let wait = core.json("stats 864010 q 864010")["wait"].clone();
    let wanted = [
        (0, 1),
        (59, 1),
        (60, 1),
        (118, 1),
        (119, 1),
        (141, 1),
        (142, 1),
        (147, 1),
    ];
    assert_eq!(slots(&wait), wanted);
}

#[test]
fn d_71_long_and_negative_times_are_counted_in_no_slot() {
    let mut core = waited(&[7.0 * 86400.0, -5.0]);
    let wait = core.json("stats 864010 q 864010")["wait"].clone();
    assert_eq!(wait["count"], 2);
    assert!(slots(&wait).is_empty());
    let hash = core.dump().hash("ql:s:wait:864000:q");
    assert_eq!((hash["d7"].as_str(), hash["s-5"].as_str()), ("1", "1"));
}

#[test]
fn waiting_counts_for_the_popped_queue_and_running_for_the_completed_one() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 10 q w1 1; complete 25 j w1 q {} next p; pop 30 p w1 1; complete 31 j w1 p {}");
    let (q, p) = (core.json("stats 31 q 0"), core.json("stats 31 p 0"));
    assert_eq!(
        (&q["wait"]["mean"], &q["run"]["mean"]),
        (&json!(10), &json!(15))
    );
    assert_eq!(
        (&p["wait"]["mean"], &p["run"]["mean"]),
        (&json!(5), &json!(1))
    );
}

#[test]
fn after_a_retry_waiting_is_counted_from_the_pop_before() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 10 q w1 1; retry 20 j q w1; pop 25 q w1 1");
    assert_eq!(
        slots(&core.json("stats 25 q 0")["wait"]),
        [(10, 1), (15, 1)]
    );
}

#[test]
fn a_day_is_a_day_of_the_callers_clock() {
    let mut core = Core::new();
    core.all("put 86399 w q j K {} 0; pop 86400 q w1 1; complete 172800 j w1 q {}");
    assert_eq!(core.json("stats 0 q 86399")["wait"]["count"], 0);
    assert_eq!(core.json("stats 0 q 86400")["wait"]["count"], 1);
    assert_eq!(core.json("stats 0 q 172799.5")["run"]["count"], 0);
    assert_eq!(core.json("stats 0 q 172800")["run"]["count"], 1);
    core.all("put -10 w q k K {} 0; pop -5 q w1 1");
    assert_eq!(core.json("stats 0 q -1")["wait"]["count"], 1);
    assert!(core.dump().has("ql:s:wait:-86400:q"));
}

#[test]
fn failures_stay_counted_and_failed_decreases() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M");
    let counted = |core: &mut Core| {
        let stats = core.json("stats 9 q 0");
        (
            stats["failures"].as_i64().unwrap(),
            stats["failed"].as_i64().unwrap(),
        )
    };
    assert_eq!(counted(&mut core), (1, 1));
    core.ok("put 3 w q j K {} 0");
    assert_eq!(counted(&mut core), (1, 0));
    core.all("pop 4 q w1 1; fail 5 j w1 G M; cancel 6 j");
    assert_eq!(counted(&mut core), (2, 0));
}

#[test]
fn d_37_failed_decreases_where_it_increased() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M; put 90000 w p j K {} 0");
    assert_eq!(core.json("stats 90000 q 0")["failed"], 0);
    assert!(!core.dump().has("ql:s:stats:86400:p") && !core.dump().has("ql:s:stats:0:p"));
}

#[test]
fn d_52_unfail_lowers_failed() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M; unfail 90000 p G");
    assert_eq!(core.json("stats 90000 q 0")["failed"], 0);
    assert_eq!(core.json("get 90000 j")["failure"]["group"], "G");
}

#[test]
fn d_72_retries_counts_warnings() {
    let mut core = Core::new();
    core.all(
        "put 0 w q j K {} 0; pop 1 q w1 1; retry 2 j q w1; pop 3 q w1 1; timeout 4 j; pop 5 q w1 1",
    );
    assert_eq!(core.json("stats 5 q 0")["retries"], 0);
    core.ok("pop 100 q w1 1");
    assert_eq!(core.json("stats 100 q 0")["retries"], 1);
    core.ok("pop 120 q w1 1");
    assert_eq!(core.json("stats 120 q 0")["retries"], 1);
}

#[test]
fn d_31_a_failed_job_without_its_counter_can_be_cancelled() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M");
    core.redis("DEL ql:s:stats:0:q");
    assert_eq!(core.ok("cancel 3 j").texts(), ["j"]);
    assert!(!core.dump().has("ql:j:j") && !core.dump().has("ql:failures"));
}

#[test]
fn d_69_statistics_do_not_expire() {
    let mut core = waited(&[5.0]);
    core.all("config.set 0 stats-history 1; config.set 0 histogram-history 1");
    core.all("put 864000000 w q late K {} 0; pop 864000000 q w1 5; stats 864000000 q 864000000");
    assert_eq!(core.json("stats 864000000 q 864000")["wait"]["count"], 1);
}

#[test]
fn jobs_popped_in_one_call_are_counted_one_by_one() {
    let mut core = Core::new();
    core.many((0..300).map(|n| format!("put {n} w q j{n} K {{}} 0")));
    core.ok("pop 300 q w1 300");
    let wait = core.json("stats 300 q 300")["wait"].clone();
    assert_eq!(
        (&wait["count"], &wait["mean"]),
        (&json!(300), &json!(150.5))
    );
    let std = (1..=300).map(|n| (n as f64 - 150.5).powi(2)).sum::<f64>() / 299.0;
    assert!((wait["std"].as_f64().unwrap() - std.sqrt()).abs() < 1e-6);
    assert_eq!(
        slots(&wait).iter().map(|(_, count)| count).sum::<i64>(),
        300
    );
}

#[test]
fn replies_have_fourteen_digits_and_stored_values_seventeen() {
    let mut core = waited(&[0.0, 0.0, 1.0]);
    let text = core.ok("stats 864010 q 864010").text().to_owned();
    assert!(
        text.contains(r#""mean":0.33333333333333,"#)
            || text.contains(r#""mean":0.33333333333333}"#),
        "{text}"
    );
    let mean = core.dump().hash("ql:s:wait:864000:q")["mean"].clone();
    assert!(
        (mean.parse::<f64>().unwrap() - 1.0 / 3.0).abs() < 1e-16,
        "{mean}"
    );
}
