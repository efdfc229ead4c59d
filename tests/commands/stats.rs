//! `qless stats`

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::terminal;

const DAY: f64 = 86400.0;

fn worked() -> Redis {
    let redis = Redis::start();
    let api = |now: f64, line: &str| redis.ok(now, &format!("api {line}"));
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
fn stats_counts_a_day_of_a_queue() {
    let redis = worked();
    redis
        .at(DAY + 500.0)
        .run("stats mail --headers always")
        .shows(expect![[r#"
            QUEUE	DAY	COMPLETED	FAILURES	STILL FAILED	LOCKS LOST	WAITS	WAIT MEAN	WAIT STD	WAIT P50	WAIT P90	WAIT P95	WAIT P99	WAIT MAX	RUNS	RUN MEAN	RUN STD	RUN P50	RUN P90	RUN P95	RUN P99	RUN MAX
            mail	1970-01-02	2	1	1	0	3	2.3s	1.5s	≤ 3s	≤ 5s	≤ 5s	≤ 5s	≤ 5s	2	2.0s	1.4s	≤ 2s	≤ 4s	≤ 4s	≤ 4s	≤ 4s
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
                    "std_s": 1.5275252316519,
                    "p50": {
                      "lo_s": 2,
                      "hi_s": 3
                    },
                    "p90": {
                      "lo_s": 4,
                      "hi_s": 5
                    },
                    "p95": {
                      "lo_s": 4,
                      "hi_s": 5
                    },
                    "p99": {
                      "lo_s": 4,
                      "hi_s": 5
                    },
                    "max": {
                      "lo_s": 4,
                      "hi_s": 5
                    },
                    "buckets": [
                      {
                        "le_s": 2,
                        "count": 1
                      },
                      {
                        "le_s": 3,
                        "count": 1
                      },
                      {
                        "le_s": 5,
                        "count": 1
                      }
                    ]
                  },
                  "run": {
                    "count": 2,
                    "mean_s": 2,
                    "std_s": 1.4142135623731,
                    "p50": {
                      "lo_s": 1,
                      "hi_s": 2
                    },
                    "p90": {
                      "lo_s": 3,
                      "hi_s": 4
                    },
                    "p95": {
                      "lo_s": 3,
                      "hi_s": 4
                    },
                    "p99": {
                      "lo_s": 3,
                      "hi_s": 4
                    },
                    "max": {
                      "lo_s": 3,
                      "hi_s": 4
                    },
                    "buckets": [
                      {
                        "le_s": 2,
                        "count": 1
                      },
                      {
                        "le_s": 4,
                        "count": 1
                      }
                    ]
                  },
                  "completed_per_hour": 14.4,
                  "change": null
                }
              ]
            }
        "#]]);
}

#[test]
fn days_are_given_as_dates_or_words() {
    let redis = worked();
    let completed = |now: f64, day: &str| {
        let stats = redis.json(now, &format!("stats mail --day {day} -o json"));
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
    redis.session(expect![[r#"
        0 $ qless stats mail --day 1970-13-01
        --- stderr
        error: `--day` expects a day such as `2026-11-20`, `today` or `yesterday`, not `1970-13-01`
        --- exit 2
    "#]]);
    redis.at(0).run("stats mail --day soon").exits(2);
}

#[test]
fn stats_of_an_unknown_queue_is_not_found() {
    worked().at(DAY).run("stats mial").shows(expect![[r#"
        --- stderr
        error: queue `mial` does not exist
        hint: did you mean `mail`?
        --- exit 4
    "#]]);
}

#[test]
fn raw_prints_the_reply_of_stats() {
    let redis = worked();
    let printed = redis.at(DAY + 500.0).run("api stats mail 86400").stdout();
    assert_eq!(
        redis.at(DAY + 500.0).run("stats mail -o raw").stdout(),
        printed
    );
}

/// Jobs that wait for the given times, all on the second day, and run for a second.
fn waited(waits: &[f64]) -> Redis {
    let redis = Redis::start();
    let mut calls = Vec::new();
    for (n, wait) in waits.iter().enumerate() {
        let (popped, queue) = (DAY + 40_000.0 + n as f64 / 100.0, "mail");
        let jid = format!("j{n}");
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        calls.push((
            popped - wait,
            words(&format!("put me {queue} {jid} K {{}} 0")),
        ));
        calls.push((popped, words(&format!("pop {queue} w 1"))));
        let complete = format!("complete {jid} w {queue} {{}}");
        calls.push((popped + 1.0, words(&complete)));
    }
    redis.calls(calls);
    redis
}

#[test]
fn percentiles_are_bounds_from_the_histogram() {
    let redis = waited(&[
        0.5, 0.5, 23.4, 23.4, 23.4, 90.0, 4000.0, 90_000.0, 700_000.0,
    ]);
    let stats = redis.json(DAY + 50_000.0, "stats mail -o json --day 1970-01-02");
    let wait = &stats["items"][0]["wait"];
    let printed = |name: &str| (wait[name]["lo_s"].clone(), wait[name]["hi_s"].clone());
    assert_eq!(printed("p50"), (23.into(), 24.into()));
    assert_eq!(printed("p90"), (604_800.into(), serde_json::Value::Null));
    assert_eq!(printed("max"), (604_800.into(), serde_json::Value::Null));
    redis
        .at(DAY + 50_000.0)
        .run("stats mail --histogram wait --headers always")
        .shows(expect![[r#"
            QUEUE	DAY	MEASURE	BUCKET	JOBS
            mail	1970-01-02	wait	≤ 1s	2
            mail	1970-01-02	wait	≤ 24s	3
            mail	1970-01-02	wait	≤ 2m	1
            mail	1970-01-02	wait	≤ 2h	1
            mail	1970-01-02	wait	≤ 2d	1
            mail	1970-01-02	wait	> 7d	1
        "#]]);
    redis
        .at(DAY + 50_000.0)
        .run("stats mail --histogram run")
        .shows(expect![[r#"
            mail	1970-01-02	run	≤ 2s	9
        "#]]);
}

#[test]
fn a_terminal_shows_a_histogram() {
    let redis = waited(&[0.5, 0.5, 23.4, 23.4, 23.4, 90.0, 4000.0]);
    let mut qless = redis.at(DAY + 50_000.0).command();
    qless.args(["stats", "mail"]);
    let seen = terminal::run(qless, 100).stdout();
    expect![[r#"
        mail on 1970-01-02 (UTC, so far)    7 completed   0 failures   0 still failed   0 locks lost

              COUNT    MEAN     STD    P50   P90   P95   P99   MAX
        wait      7  9m 54s  25m 2s  ≤ 24s  ≤ 2h  ≤ 2h  ≤ 2h  ≤ 2h
        run       7    1.0s    0.0s   ≤ 2s  ≤ 2s  ≤ 2s  ≤ 2s  ≤ 2s

        wait  1s ▇▇▇▇▇▇▇▇▇▇▇▇▇▇ 2   10s –   1m ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ 3   10m ▇▇▇▇▇▇▇ 1   1h –   1d ▇▇▇▇▇▇▇ 1
    "#]].assert_eq(&seen);
    let mut qless = redis.at(DAY + 50_000.0).command();
    qless.args(["stats", "mail", "--day", "yesterday", "--histogram", "run"]);
    let seen = terminal::run(qless, 100).stdout();
    expect![[r#"
        mail on 1970-01-01 (UTC)    0 completed   0 failures   0 still failed   0 locks lost
    "#]]
    .assert_eq(&seen);
}

#[test]
fn days_are_compared_with_the_day_before() {
    let redis = worked();
    let qless = redis.at(DAY * 2.0 + 3600.0);
    qless.session(expect![[r#"
        $ qless stats mail --days 3 --headers always
        QUEUE	DAY	COMPLETED	PER HOUR	CHANGE	FAILURES	WAIT P95	RUN P95
        mail	1970-01-01	0	0.0	–	0	–	–
        mail	1970-01-02	2	0.1	–	1	≤ 5s	≤ 4s
        mail	1970-01-03	0	0.0	-100%	0	–	–
        $ qless stats mail --days 2 --headers always --columns day,wait-p95 --sort day --reverse
        DAY	WAIT P95
        1970-01-03	–
        1970-01-02	≤ 5s
    "#]]);
    let printed = qless.run("stats mail --days 2 -o json").json();
    assert_eq!(printed["total"], 2);
    assert_eq!(printed["items"][0]["completed_per_hour"], 0.083);
    assert_eq!(printed["items"][0]["change"], serde_json::Value::Null);
    assert_eq!(printed["items"][1]["change"], -1);
    assert_eq!(
        qless
            .run("stats mail --days 2 -o ndjson")
            .stdout()
            .lines()
            .count(),
        2
    );
    let each: String = [86400, 172_800]
        .map(|day| qless.run(&format!("api stats mail {day}")).stdout())
        .concat();
    assert_eq!(qless.run("stats mail --days 2 -o raw").stdout(), each);
}

#[test]
fn each_queue_has_days_of_its_own() {
    let redis = worked();
    redis.ok(DAY * 2.0, "api put me other x K {} 0");
    redis
        .at(DAY * 2.0 + 3600.0)
        .run("stats other mail --days 2")
        .shows(expect![[r#"
            other	1970-01-02	0	0.0	–	0	–	–
            other	1970-01-03	0	0.0	–	0	–	–
            mail	1970-01-02	2	0.1	–	1	≤ 5s	≤ 4s
            mail	1970-01-03	0	0.0	-100%	0	–	–
        "#]]);
}

#[test]
fn days_excludes_day_and_has_limits() {
    let redis = Redis::start();
    redis.at(0).run("stats mail --days 2 --day today").exits(2);
    redis
        .at(0)
        .run("stats mail --days 2 --histogram run")
        .exits(2);
    redis.at(0).run("stats mail --histogram both").exits(2);
    redis
        .at(0)
        .run("stats mail --days 2 --columns nope")
        .exits(2);
    for wrong in ["0", "367", "-1", "x"] {
        redis
            .at(0)
            .run(&format!("stats mail --days={wrong}"))
            .exits(2);
    }
    redis.at(0).run("stats mail --days 0").shows(expect![[r#"
        --- stderr
        error: `--days` expects a number of days between 1 and 366, not `0`
        --- exit 2
    "#]]);
    redis.at(DAY).run("stats mail --days 2").exits(4);
}
