//! `qless defaults`

use expect_test::expect;

use crate::support::redis::Redis;

#[test]
fn defaults_are_set_shown_and_removed() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless defaults hi
        10 $ qless defaults hi -o json | jq -c
        {"kind":"defaults","v":1,"queue":"hi","defaults":null}
        10 $ qless defaults hi '{"lock":"*","ttl":"1d","hold":true,"retries":25,"throttles":["api"]}'
        {"lock":"*","ttl":86400,"hold":1,"retries":25,"throttles":["api"]}
        10 $ qless defaults hi
        {"lock":"*","ttl":86400,"hold":1,"retries":25,"throttles":["api"]}
        10 $ qless config get hi-defaults
        {"lock":"*","ttl":86400,"hold":1,"retries":25,"throttles":["api"]}
        10 $ qless config list --columns key,value
        backoff-factor	3
        backoff-initial-delay	0
        grace-period	10
        heartbeat	60
        hi-defaults	{"lock":"*","ttl":86400,"hold":1,"retries":25,"throttles":["api"]}
        jobs-failed-history	–
        jobs-history	604800
        jobs-history-count	50000
        max-job-history	100
        max-pop-scan	1000
        max-worker-age	86400
        merge-max	1000
        10 $ qless defaults hi --unset &>/dev/null
        --- exit 9
        10 $ qless defaults hi --unset --yes -o json | jq -c
        {"kind":"defaults","v":1,"queue":"hi","defaults":null}
        10 $ qless defaults hi
    "#]]);
}

#[test]
fn defaults_apply_to_puts_that_give_nothing() {
    let redis = Redis::start();
    let defaults = r#"{"key":"{data.customer}","dup":"merge","backoff":"exp:30s","retries":7}"#;
    redis.at(10).args(["defaults", "orders", defaults]).ok();
    let put = |now: u32, data: &str| {
        redis
            .at(now)
            .args(["put", "orders", "Sync", data, "-o", "json"])
            .json()
    };
    let first = put(11, r#"{"customer":7,"v":1}"#);
    let second = put(12, r#"{"customer":7,"v":2}"#);
    assert_eq!(
        (&second["jid"], &second["new"]),
        (&first["jid"], &false.into())
    );
    let jid = first["jid"].as_str().unwrap();
    let job = redis.json(13, &format!("get {jid} -o json"));
    assert_eq!(job["key"], "orders/7");
    assert_eq!(job["retries"], 7);
    assert_eq!(job["backoff"], "exp:30");
    assert_eq!(job["payloads"][1]["data"]["v"], 2);
    // The defaults have the key that the score needs.
    let third = [
        "put",
        "orders",
        "Sync",
        r#"{"customer":7,"v":3}"#,
        "--score",
        "1",
    ];
    assert_eq!(redis.at(14).args(third).ok(), jid);
    let job = redis.json(15, &format!("get {jid} -o json"));
    assert_eq!(job["payloads"][0]["data"]["v"], 3);
}

#[test]
fn wrong_defaults_are_refused_before_they_are_written() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless defaults q '[]'
        --- stderr
        error: the defaults of a queue are a JSON object
        --- exit 2
        10 $ qless config set q-defaults '[]' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"lock":'
        --- stderr
        error: data is not JSON: line 1, column 9: EOF while parsing a value
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        --- exit 2
        10 $ qless config set q-defaults '{"lock":' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"lok":"*"}'
        --- stderr
        error: a queue has no default for `lok`
        hint: did you mean `lock`?
        --- exit 2
        10 $ qless config set q-defaults '{"lok":"*"}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"delay":1}'
        --- stderr
        error: a queue has no default for `delay`
        hint: the options are throttles, lock, key, dup, until, ttl, score, rescore, hold, backoff, retries, priority, order
        --- exit 2
        10 $ qless config set q-defaults '{"delay":1}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"lock":1}'
        --- stderr
        error: `lock` expects a text, not `1`
        --- exit 2
        10 $ qless config set q-defaults '{"lock":1}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"key":"{data.}"}'
        --- stderr
        error: `key` has `{data.}`, which is no part of a job
        hint: a job has {klass}, {queue}, {data} and {data.a.b}
        --- exit 2
        10 $ qless config set q-defaults '{"key":"{data.}"}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"key":"{customer}"}'
        --- stderr
        error: `key` has `{customer}`, which is no part of a job
        hint: a job has {klass}, {queue}, {data} and {data.a.b}
        --- exit 2
        10 $ qless config set q-defaults '{"key":"{customer}"}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"key":"{data.x","dup":"skip"}'
        --- stderr
        error: `key` has `{data.x`, which has no closing brace
        hint: a job has {klass}, {queue}, {data} and {data.a.b}
        --- exit 2
        10 $ qless config set q-defaults '{"key":"{data.x","dup":"skip"}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"lock":"{klass}-{data.{x}"}'
        --- stderr
        error: `lock` has `{data.{x}`, which has no closing brace
        hint: a job has {klass}, {queue}, {data} and {data.a.b}
        --- exit 2
        10 $ qless config set q-defaults '{"lock":"{klass}-{data.{x}"}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"throttles":["api","{data.x","{klass}"]}'
        --- stderr
        error: `throttles` has `{data.x`, which has no closing brace
        hint: a job has {klass}, {queue}, {data} and {data.a.b}
        --- exit 2
        10 $ qless config set q-defaults '{"throttles":["api","{data.x","{klass}"]}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"throttles":"api"}'
        --- stderr
        error: `throttles` expects an array of texts, not `"api"`
        --- exit 2
        10 $ qless config set q-defaults '{"throttles":"api"}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"dup":"both"}'
        --- stderr
        error: `dup` expects `queue`, `merge`, `skip` or `replace`, not `"both"`
        --- exit 2
        10 $ qless config set q-defaults '{"dup":"both"}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"backoff":"often"}'
        --- stderr
        error: `backoff` expects `fixed:30s`, `linear:30s`, `exp:30s` with a factor, a maximum and a share of jitter (`exp:30s:2:1h:0.1`), `lowkiq`, or for lost locks `{"initial_delay":30,"factor":2}`, not `"often"`
        --- exit 2
        10 $ qless config set q-defaults '{"backoff":"often"}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"retries":-1}'
        --- stderr
        error: `retries` expects a whole number between 0 and 9007199254740992, not `-1`
        --- exit 2
        10 $ qless config set q-defaults '{"retries":-1}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"order":"fifo"}'
        --- stderr
        error: `order` expects `due`, not `"fifo"`
        --- exit 2
        10 $ qless config set q-defaults '{"order":"fifo"}' &>/dev/null
        --- exit 2
        10 $ qless defaults q '{"lock":"a","lock":"b"}'
        --- stderr
        error: `lock` stands there twice
        --- exit 2
        10 $ qless config set q-defaults '{"lock":"a","lock":"b"}' &>/dev/null
        --- exit 2
    "#]]);
    assert!(redis.dump().is_empty());
}

#[test]
fn a_dry_run_leaves_the_defaults() {
    let redis = Redis::start();
    redis.ok(10, r#"defaults q '{"lock":"*"}'"#);
    redis.session(expect![[r#"
        10 $ qless defaults q '{"lock":"x"}' --dry-run -o json | jq -c
        {"kind":"defaults","v":1,"queue":"q","defaults":{"lock":"x"},"dry_run":true}
        --- stderr
        would set the defaults of queue q to {"lock":"x"}
    "#]]);
    redis.ok(10, "defaults q --unset --dry-run");
    assert_eq!(redis.ok(10, "defaults q"), r#"{"lock":"*"}"#);
}

#[test]
fn a_stored_placeholder_without_a_closing_brace_is_plain_text() {
    let redis = Redis::start();
    let stored = r#"{"key":"{data.x","backoff":"fixed:5"}"#;
    redis.send(&["HSET", "ql:config", "q-defaults", stored]);
    redis.ok(10, "put q K --jid a");
    let job = redis.json(11, "get a -o json");
    assert_eq!(
        (&job["key"], &job["backoff"]),
        (&"q/{data.x".into(), &"fixed:5".into())
    );
    redis.at(12).run("defaults q").shows(expect![[r#"
        {"key":"{data.x","backoff":"fixed:5"}
        --- stderr
        warning: not all defaults of queue q can be used: `key` has `{data.x`, which has no closing brace
    "#]]);
}

#[test]
fn stored_defaults_that_are_ignored_are_named() {
    let redis = Redis::start();
    let unknown = r#"{"lok":"*","ttl":5}"#;
    redis.send(&[
        "HSET",
        "ql:config",
        "q-defaults",
        "{]",
        "p-defaults",
        unknown,
    ]);
    redis.session(expect![[r#"
        10 $ qless defaults q
        --- stderr
        warning: the defaults of queue q are no JSON object and ignored: {]
        10 $ qless defaults p
        {"lok":"*","ttl":5}
        --- stderr
        warning: not all defaults of queue p can be used: a queue has no default for `lok`
        10 $ qless check
        warn	config-value	2	setting has a value that cannot be used	p-defaults: is ignored in part: lok, q-defaults: is ignored, is no JSON object
        --- stderr
        scanned 1 key, 0 jobs, 0 queues in 0.0s
        --- exit 7
    "#]]);
    redis.ok(10, "defaults q --unset --yes");
    redis.ok(10, "defaults p --unset --yes");
    redis.at(10).run("check").exits(0);
}

#[test]
fn a_limit_that_no_flag_raises_has_no_such_hint() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        1 $ qless defaults q @/dev/zero
        --- stderr
        error: `/dev/zero` is longer than 65536 bytes
        --- exit 2
        1 $ qless put q K @/dev/zero --max-data 5
        --- stderr
        error: `/dev/zero` is longer than 5 bytes
        hint: `--max-data` raises the limit
        --- exit 2
    "#]]);
}
