//! `qless stats`

use expect_test::expect;

use crate::house::redis::Redis;

const DAY: f64 = 86400.0;

fn worked() -> Redis {
    let redis = Redis::start();
    let api = |now: f64, line: &str| redis.at(now).run(&format!("api {line}")).ok();
    for (n, (wait, run)) in [(2.0, 1.0), (4.0, 3.0)].into_iter().enumerate() {
        let at = DAY + 100.0 * n as f64;
        api(at, &format!("put me mail j{n} K {{}} 0"));
        api(at + wait, "pop mail w 1");
        api(at + wait + run, &format!("complete j{n} w mail {{}}"));
    }
    api(DAY + 300.0, "put me mail bad K {} 0");
    api(DAY + 301.0, "pop mail w 1");
    api(DAY + 302.0, "fail bad w boom bang");
    redis
}

#[test]
fn a_day_of_a_queue_is_counted() {
    let redis = worked();
    redis
        .at(DAY + 500.0)
        .run("stats mail --headers always")
        .shows(expect![[r#"
            QUEUE	DAY	COMPLETED	FAILURES	FAILED	RETRIES	WAITS	WAIT MEAN	WAIT STD	RUNS	RUN MEAN	RUN STD
            mail	1970-01-02	2	1	1	0	3	2.3s	1.5s	2	2.0s	1.4s
        "#]]);
    redis
        .at(DAY + 500.0)
        .run("stats mail -o json")
        .shows(expect![[r#"
            {
              "kind": "stats",
              "v": 1,
              "total": 1,
              "offset": 0,
              "items": [
                {
                  "queue": "mail",
                  "day": "1970-01-02",
                  "completed": 2,
                  "failures": 1,
                  "failed": 1,
                  "retries": 0,
                  "wait": {
                    "count": 3,
                    "mean_s": 2.3333333333333,
                    "std_s": 1.5275252316519
                  },
                  "run": {
                    "count": 2,
                    "mean_s": 2,
                    "std_s": 1.4142135623731
                  }
                }
              ]
            }
        "#]]);
}

#[test]
fn days_are_named_or_near() {
    let redis = worked();
    let completed = |now: f64, day: &str| {
        let stats = redis
            .at(now)
            .run(&format!("stats mail --day {day} -o json"))
            .json();
        (
            stats["items"][0]["day"].clone(),
            stats["items"][0]["completed"].clone(),
        )
    };
    assert_eq!(
        completed(DAY * 2.5, "yesterday"),
        ("1970-01-02".into(), 2.into())
    );
    assert_eq!(
        completed(DAY * 2.5, "today"),
        ("1970-01-03".into(), 0.into())
    );
    assert_eq!(
        completed(DAY * 2.5, "1970-01-02"),
        ("1970-01-02".into(), 2.into())
    );
    redis
        .at(0)
        .run("stats mail --day 1970-13-01")
        .shows(expect![[r#"
            --- stderr
            error: `--day` wants a day such as `2026-11-20`, `today` or `yesterday`, not `1970-13-01`
            --- exit 2
        "#]]);
    redis.at(0).run("stats mail --day soon").exits(2);
}

#[test]
fn a_queue_never_seen_is_not_found() {
    worked().at(DAY).run("stats mial").shows(expect![[r#"
        --- stderr
        error: queue `mial` does not exist
        hint: did you mean `mail`?
        --- exit 4
    "#]]);
}

#[test]
fn raw_is_the_reply_of_the_core() {
    let redis = worked();
    let told = redis.at(DAY + 500.0).run("api stats mail 86400").stdout();
    assert_eq!(
        redis.at(DAY + 500.0).run("stats mail -o raw").stdout(),
        told
    );
}
