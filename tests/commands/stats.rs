//! `qless stats`

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::text::{Shows, words};

const DAY: f64 = 86400.0;

fn worked() -> Redis {
    let redis = Redis::start();
    let call = |now: f64, line: &str| (DAY + now, words(line));
    redis.calls([
        call(0.0, "put me mail j0 K {} 0"),
        call(2.0, "pop mail w 1"),
        call(3.0, "complete j0 w mail {}"),
        call(100.0, "put me mail j1 K {} 0"),
        call(104.0, "pop mail w 1"),
        call(107.0, "complete j1 w mail {}"),
        call(300.0, "put me mail bad K {} 0"),
        call(301.0, "pop mail w 1"),
        call(302.0, "fail bad w boom bang"),
    ]);
    redis
}

#[test]
fn stats_counts_a_day_of_a_queue() {
    let redis = worked();
    // It is 500 seconds after the midnight that begins the second day.
    redis.session(expect![[r#"
        86900 $ qless stats mail --headers always
        QUEUE	DAY	COMPLETED	FAILURES	STILL FAILED	LOCKS LOST	WAITS	WAIT MEAN	WAIT STD	WAIT P50	WAIT P90	WAIT P95	WAIT P99	WAIT MAX	RUNS	RUN MEAN	RUN STD	RUN P50	RUN P90	RUN P95	RUN P99	RUN MAX
        mail	1970-01-02	2	1	1	0	3	2.3s	1.5s	≤ 3s	≤ 5s	≤ 5s	≤ 5s	≤ 5s	2	2.0s	1.4s	≤ 2s	≤ 4s	≤ 4s	≤ 4s	≤ 4s
        86900 $ qless stats mail -o json | jq -c
        {"kind":"stats","v":1,"total":1,"offset":0,"items":[{"queue":"mail","day":"1970-01-02","completed":2,"failures":1,"failed":1,"retries":0,"wait":{"count":3,"mean_s":2.3333333333333,"std_s":1.5275252316519,"p50":{"lo_s":2,"hi_s":3},"p90":{"lo_s":4,"hi_s":5},"p95":{"lo_s":4,"hi_s":5},"p99":{"lo_s":4,"hi_s":5},"max":{"lo_s":4,"hi_s":5},"buckets":[{"le_s":2,"count":1},{"le_s":3,"count":1},{"le_s":5,"count":1}]},"run":{"count":2,"mean_s":2,"std_s":1.4142135623731,"p50":{"lo_s":1,"hi_s":2},"p90":{"lo_s":3,"hi_s":4},"p95":{"lo_s":3,"hi_s":4},"p99":{"lo_s":3,"hi_s":4},"max":{"lo_s":3,"hi_s":4},"buckets":[{"le_s":2,"count":1},{"le_s":4,"count":1}]},"completed_per_hour":14.4,"change":null}]}
        86900 $ qless stats mial
        --- stderr
        error: queue `mial` does not exist
        hint: did you mean `mail`?
        --- exit 4
    "#]]);
    let printed = redis.at(86900).run("api stats mail 86400").stdout();
    assert_eq!(redis.at(86900).run("stats mail -o raw").stdout(), printed);
}

#[test]
fn days_are_given_as_dates_or_words() {
    worked().session(expect![[r#"
        216000 $ qless stats mail --day yesterday -o json | jq -c '[.items[0].day, .items[0].completed]'
        ["1970-01-02",2]
        216000 $ qless stats mail --day today -o json | jq -c '[.items[0].day, .items[0].completed]'
        ["1970-01-03",0]
        216000 $ qless stats mail --day 1970-01-02 -o json | jq -c '[.items[0].day, .items[0].completed]'
        ["1970-01-02",2]
        0 $ qless stats mail --day 1970-13-01
        --- stderr
        error: `--day` expects a day such as `2026-11-20`, `today` or `yesterday`, not `1970-13-01`
        --- exit 2
        0 $ qless stats mail --day soon &>/dev/null
        --- exit 2
    "#]]);
}

/// Jobs that wait for the given times, all on the second day, and run for a second.
fn waited(waits: &[f64]) -> Redis {
    let redis = Redis::start();
    let calls = waits.iter().enumerate().flat_map(|(n, wait)| {
        let popped = DAY + 40_000.0 + n as f64 / 100.0;
        [
            (popped - wait, words(&format!("put me mail j{n} K {{}} 0"))),
            (popped, words("pop mail w 1")),
            (popped + 1.0, words(&format!("complete j{n} w mail {{}}"))),
        ]
    });
    redis.calls(calls);
    redis
}

#[test]
fn percentiles_are_bounds_from_the_histogram() {
    let redis = waited(&[
        0.5, 0.5, 23.4, 23.4, 23.4, 90.0, 4000.0, 90_000.0, 700_000.0,
    ]);
    redis.session(expect![[r#"
        136400 $ qless stats mail -o json | jq -c '[.items[0].wait.p50, .items[0].wait.p90, .items[0].wait.max]'
        [{"lo_s":23,"hi_s":24},{"lo_s":604800,"hi_s":null},{"lo_s":604800,"hi_s":null}]
        136400 $ qless stats mail --histogram wait --headers always
        QUEUE	DAY	MEASURE	BUCKET	JOBS
        mail	1970-01-02	wait	≤ 1s	2
        mail	1970-01-02	wait	≤ 24s	3
        mail	1970-01-02	wait	≤ 2m	1
        mail	1970-01-02	wait	≤ 2h	1
        mail	1970-01-02	wait	≤ 2d	1
        mail	1970-01-02	wait	> 7d	1
        136400 $ qless stats mail --histogram run
        mail	1970-01-02	run	≤ 2s	9
    "#]]);
}

#[test]
fn a_terminal_shows_a_histogram() {
    let redis = waited(&[0.5, 0.5, 23.4, 23.4, 23.4, 90.0, 4000.0]);
    redis.on_terminal(DAY + 50_000.0, "stats mail").shows(expect![[r#"
        mail on 1970-01-02 (UTC, so far)    7 completed   0 failures   0 still failed   0 locks lost

              COUNT    MEAN     STD    P50   P90   P95   P99   MAX
        wait      7  9m 54s  25m 2s  ≤ 24s  ≤ 2h  ≤ 2h  ≤ 2h  ≤ 2h
        run       7    1.0s    0.0s   ≤ 2s  ≤ 2s  ≤ 2s  ≤ 2s  ≤ 2s

        wait  1s ▇▇▇▇▇▇▇▇▇▇▇▇▇▇ 2   10s –   1m ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ 3   10m ▇▇▇▇▇▇▇ 1   1h –   1d ▇▇▇▇▇▇▇ 1
    "#]]);
    let line = "stats mail --day yesterday --histogram run";
    redis.on_terminal(DAY + 50_000.0, line).shows(expect![[r#"
        mail on 1970-01-01 (UTC)    0 completed   0 failures   0 still failed   0 locks lost
    "#]]);
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
        $ qless stats mail --days 2 -o json | jq -c '[.total, .items[0].completed_per_hour, .items[].change]'
        [2,0.083,null,-1]
    "#]]);
    let lines = qless.run("stats mail --days 2 -o ndjson").stdout();
    assert_eq!(lines.lines().count(), 2);
    let each = [86400, 172_800].map(|day| qless.run(&format!("api stats mail {day}")).stdout());
    let raw = qless.run("stats mail --days 2 -o raw").stdout();
    assert_eq!(raw, each.concat());
    redis.session(expect![[r#"
        172800 $ qless put other K &>/dev/null
        176400 $ qless stats other mail --days 2
        other	1970-01-02	0	0.0	–	0	–	–
        other	1970-01-03	0	0.0	–	0	–	–
        mail	1970-01-02	2	0.1	–	1	≤ 5s	≤ 4s
        mail	1970-01-03	0	0.0	-100%	0	–	–
    "#]]);
}

#[test]
fn days_excludes_day_and_has_limits() {
    let redis = Redis::start();
    for wrong in [
        "--days 2 --day today",
        "--days 2 --histogram run",
        "--histogram both",
        "--days 2 --columns nope",
        "--days=367",
        "--days=-1",
        "--days=x",
    ] {
        redis.at(0).run(&format!("stats mail {wrong}")).exits(2);
    }
    redis.session(expect![[r#"
        0 $ qless stats mail --days 0
        --- stderr
        error: `--days` expects a number of days between 1 and 366, not `0`
        --- exit 2
        86400 $ qless stats mail --days 2 &>/dev/null
        --- exit 4
    "#]]);
}
