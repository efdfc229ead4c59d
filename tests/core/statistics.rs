//! What is counted, on which day, and how it is answered.

use expect_test::expect;

use crate::support::core::Core;

#[test]
fn statistics_are_kept() {
    Core::new().session(expect![[r#"
        == An unknown queue has zeros everywhere
        stats 0 nope 0 | retries failed failures wait.count wait.mean wait.std run.count run.mean run.std → 0 0 0 0 0 0 0 0 0

        == Mean and deviation are updated incrementally
        put 863998 w q a K {} 0; pop 864000 q w1 1; put 863997 w q b K {} 0; pop 864001 q w1 1
        put 863993 w q c K {} 0; pop 864002 q w1 1
        stats 864010 q 864010 | wait.count wait.mean wait.std → 3 5 3.605551275464

        == The histogram has seconds, minutes, hours and days
        put 863999.1 w q a K {} 0; pop 864000 q w1 1; put 863942 w q b K {} 0; pop 864001 q w1 1
        put 863942 w q c K {} 0; pop 864002 q w1 1; put 860404 w q d K {} 0; pop 864003 q w1 1
        put 860404 w q e K {} 0; pop 864004 q w1 1; put 777606 w q f K {} 0; pop 864005 q w1 1
        put 777606 w q g K {} 0; pop 864006 q w1 1; put 345607 w q h K {} 0; pop 864007 q w1 1
        stats 864010 q 864010 | wait.count wait.histogram.0 wait.histogram.59 wait.histogram.60 → 8 1 1 1
        stats 864010 q 864010 | wait.histogram.118 wait.histogram.119 wait.histogram.141 → 1 1 1
        stats 864010 q 864010 | wait.histogram.142 wait.histogram.147 wait.histogram.148 → 1 1 -

        == D-71: long and negative times are counted in no slot
        put 259200 w q a K {} 0; pop 864000 q w1 1; put 864006 w q b K {} 0; pop 864001 q w1 1
        stats 864010 q 864010 | wait.count wait.histogram.147 wait.histogram.0 → 2 0 0
        HMGET ql:s:wait:864000:q d7 s-5 → 1 1

        == Waiting counts for the popped queue and running for the completed one
        put 0 w q j K {} 0; pop 10 q w1 1; complete 25 j w1 q {} next p; pop 30 p w1 1; complete 31 j w1 p {}
        stats 31 q 0 | wait.mean run.mean → 10 15
        stats 31 p 0 | wait.mean run.mean → 5 1

        == After a retry, waiting is counted from the pop before
        put 0 w q j K {} 0; pop 10 q w1 1; retry 20 j q w1; pop 25 q w1 1
        stats 25 q 0 | wait.count wait.histogram.10 wait.histogram.15 → 2 1 1

        == A day is a day of the caller's clock
        put 86399 w q j K {} 0; pop 86400 q w1 1; complete 172800 j w1 q {}
        stats 0 q 86399 | wait.count → 0
        stats 0 q 86400 | wait.count → 1
        stats 0 q 172799.5 | run.count → 0
        stats 0 q 172800 | run.count → 1
        put -10 w q k K {} 0; pop -5 q w1 1
        stats 0 q -1 | wait.count → 1
        EXISTS ql:s:wait:-86400:q → :1

        == Failures stay counted and failed decreases
        put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M
        stats 9 q 0 | failures failed → 1 1
        put 3 w q j K {} 0
        stats 9 q 0 | failures failed → 1 0
        pop 4 q w1 1; fail 5 j w1 G M; cancel 6 j
        stats 9 q 0 | failures failed → 2 0

        == D-37: failed decreases where it increased
        put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M; put 90000 w p j K {} 0
        stats 90000 q 0 | failed → 0
        EXISTS ql:s:stats:86400:p ql:s:stats:0:p → :0

        == D-52: unfail lowers failed
        put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M; unfail 90000 p G
        stats 90000 q 0 | failed → 0
        get 90000 j | failure.group → G

        == D-72: retries counts warnings
        put 0 w q j K {} 0; pop 1 q w1 1; retry 2 j q w1; pop 3 q w1 1; timeout 4 j; pop 5 q w1 1
        stats 5 q 0 | retries → 0
        pop 100 q w1 1
        stats 100 q 0 | retries → 1
        pop 120 q w1 1
        stats 120 q 0 | retries → 1

        == D-31: a failed job without its counter can be cancelled
        put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M; DEL ql:s:stats:0:q
        cancel 3 j → j
        EXISTS ql:j:j ql:failures → :0

        == D-69: statistics do not expire
        put 863995 w q j K {} 0; pop 864000 q w1 1
        config.set 0 stats-history 1; config.set 0 histogram-history 1
        put 864000000 w q late K {} 0; pop 864000000 q w1 5; stats 864000000 q 864000000
        stats 864000000 q 864000 | wait.count → 1

        == Replies have fourteen digits and stored values seventeen
        put 864000 w q a K {} 0; pop 864000 q w1 1; put 864001 w q b K {} 0; pop 864001 q w1 1
        put 864001 w q c K {} 0; pop 864002 q w1 1
        stats 864010 q 864010 | wait.mean → 0.33333333333333
        HGET ql:s:wait:864000:q mean → 0.33333333333333331
    "#]]);
}

#[test]
fn jobs_popped_in_one_call_are_counted_one_by_one() {
    let mut core = Core::new();
    core.many((0..300).map(|n| format!("put {n} w q j{n} K {{}} 0")));
    core.ok("pop 300 q w1 300");
    let wait = core.json("stats 300 q 300")["wait"].clone();
    assert_eq!(
        (wait["count"].as_i64(), wait["mean"].as_f64()),
        (Some(300), Some(150.5))
    );
    let std = (1..=300).map(|n| (n as f64 - 150.5).powi(2)).sum::<f64>() / 299.0;
    assert!((wait["std"].as_f64().unwrap() - std.sqrt()).abs() < 1e-6);
    let slots = wait["histogram"].as_array().unwrap().iter();
    assert_eq!(slots.map(|slot| slot.as_i64().unwrap()).sum::<i64>(), 300);
}
