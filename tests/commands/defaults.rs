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
        10 $ qless defaults hi --unset &>/dev/null
        --- exit 9
        10 $ qless defaults hi --unset --yes -o json | jq -c
        {"kind":"defaults","v":1,"queue":"hi","defaults":null}
        10 $ qless defaults hi
    "#]]);
}

#[test]
fn defaults_apply_to_puts_that_give_nothing() {
    // The defaults have the key that the score needs.
    Redis::start().session(expect![[r#"
        10 $ qless defaults orders '{"key":"{data.customer}","dup":"merge","backoff":"exp:30s","retries":7}' &>/dev/null
        11 $ qless put orders Sync '{"customer":7,"v":1}' --jid a
        a
        12 $ qless put orders Sync '{"customer":7,"v":2}' -o json | jq -c '[.jid, .new]'
        ["a",false]
        13 $ qless get a -o json | jq -c '[.key, .retries, .backoff, .payloads[].data.v]'
        ["orders/7",7,"exp:30",1,2]
        14 $ qless put orders Sync '{"customer":7,"v":3}' --score 1
        a
        15 $ qless get a -o json | jq -c .payloads[0].data.v
        3
    "#]]);
}

#[test]
fn wrong_defaults_are_refused_before_they_are_written() {
    let redis = Redis::start();
    let mut table = String::new();
    for defaults in [
        r#"[]"#,
        r#"{"lock":"#,
        r#"{"lok":"*"}"#,
        r#"{"delay":1}"#,
        r#"{"lock":1}"#,
        r#"{"key":"{data.}"}"#,
        r#"{"key":"{customer}"}"#,
        r#"{"key":"{data.x","dup":"skip"}"#,
        r#"{"lock":"{klass}-{data.{x}"}"#,
        r#"{"throttles":["api","{data.x","{klass}"]}"#,
        r#"{"throttles":"api"}"#,
        r#"{"dup":"both"}"#,
        r#"{"backoff":"often"}"#,
        r#"{"retries":-1}"#,
        r#"{"order":"fifo"}"#,
        r#"{"lock":"a","lock":"b"}"#,
    ] {
        let ran = redis.at(10).args(["defaults", "q", defaults]).exits(2);
        table += &format!("{defaults}\n{}", ran.stderr());
        let set = ["config", "set", "q-defaults", defaults];
        redis.at(10).args(set).exits(2);
    }
    expect![[r#"
        []
        error: the defaults of a queue are a JSON object
        {"lock":
        error: data is not JSON: line 1, column 9: EOF while parsing a value
        hint: quote it for the shell, or build it from pairs: `--arg user:=42`
        {"lok":"*"}
        error: a queue has no default for `lok`
        hint: did you mean `lock`?
        {"delay":1}
        error: a queue has no default for `delay`
        hint: the options are throttles, lock, key, dup, until, ttl, score, rescore, hold, backoff, retries, priority, order
        {"lock":1}
        error: `lock` expects a text, not `1`
        {"key":"{data.}"}
        error: `key` has `{data.}`, which is no part of a job
        hint: a job has {klass}, {queue}, {data} and {data.a.b}
        {"key":"{customer}"}
        error: `key` has `{customer}`, which is no part of a job
        hint: a job has {klass}, {queue}, {data} and {data.a.b}
        {"key":"{data.x","dup":"skip"}
        error: `key` has `{data.x`, which has no closing brace
        hint: a job has {klass}, {queue}, {data} and {data.a.b}
        {"lock":"{klass}-{data.{x}"}
        error: `lock` has `{data.{x}`, which has no closing brace
        hint: a job has {klass}, {queue}, {data} and {data.a.b}
        {"throttles":["api","{data.x","{klass}"]}
        error: `throttles` has `{data.x`, which has no closing brace
        hint: a job has {klass}, {queue}, {data} and {data.a.b}
        {"throttles":"api"}
        error: `throttles` expects an array of texts, not `"api"`
        {"dup":"both"}
        error: `dup` expects `queue`, `merge`, `skip` or `replace`, not `"both"`
        {"backoff":"often"}
        error: `backoff` expects `fixed:30s`, `linear:30s`, `exp:30s` with a factor, a maximum and a share of jitter (`exp:30s:2:1h:0.1`), `lowkiq`, or for lost locks `{"initial_delay":30,"factor":2}`, not `"often"`
        {"retries":-1}
        error: `retries` expects a whole number between 0 and 9007199254740992, not `-1`
        {"order":"fifo"}
        error: `order` expects `due`, not `"fifo"`
        {"lock":"a","lock":"b"}
        error: `lock` stands there twice
    "#]]
    .assert_eq(&table);
    assert!(redis.dump().is_empty());
}

#[test]
fn a_dry_run_leaves_the_defaults() {
    Redis::start().session(expect![[r#"
        10 $ qless defaults q '{"lock":"*"}' &>/dev/null
        10 $ qless defaults q '{"lock":"x"}' --dry-run -o json | jq -c
        {"kind":"defaults","v":1,"queue":"q","defaults":{"lock":"x"},"dry_run":true}
        --- stderr
        would set the defaults of queue q to {"lock":"x"}
        10 $ qless defaults q --unset --dry-run &>/dev/null
        10 $ qless defaults q
        {"lock":"*"}
    "#]]);
}

#[test]
fn a_limit_that_no_flag_raises_has_no_such_hint() {
    Redis::start().session(expect![[r#"
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

#[test]
fn a_stored_placeholder_without_a_closing_brace_is_plain_text() {
    let redis = Redis::start();
    let stored = r#"{"key":"{data.x","backoff":"fixed:5"}"#;
    redis.send(&["HSET", "ql:config", "q-defaults", stored]);
    redis.session(expect![[r#"
        10 $ qless put q K --jid a &>/dev/null
        11 $ qless get a -o json | jq -c '[.key, .backoff]'
        ["q/{data.x","fixed:5"]
        12 $ qless defaults q
        {"key":"{data.x","backoff":"fixed:5"}
        --- stderr
        warning: not all defaults of queue q can be used: `key` has `{data.x`, which has no closing brace
    "#]]);
}

#[test]
fn stored_defaults_that_are_ignored_are_named() {
    let redis = Redis::start();
    redis.send(&["HSET", "ql:config", "q-defaults", "{]"]);
    let unknown = r#"{"lok":"*","ttl":5}"#;
    redis.send(&["HSET", "ql:config", "p-defaults", unknown]);
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
        10 $ qless defaults q --unset --yes &>/dev/null
        10 $ qless defaults p --unset --yes &>/dev/null
        10 $ qless check &>/dev/null
    "#]]);
}
