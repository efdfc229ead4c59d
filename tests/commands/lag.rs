//! `qless lag`

use expect_test::expect;

use crate::support::redis::Redis;

fn queues() -> Redis {
    let redis = Redis::start();
    redis.ok(10, "put mail K --jid a");
    redis.ok(20, "put images K --jid b");
    redis.ok(30, "put later K --jid c --delay 1h");
    redis
}

/// With `--older-than`, only what exceeds it: an alarm is silent if all is well, and otherwise exits with 10.
#[test]
fn the_lag_of_each_queue_is_listed() {
    let redis = queues();
    redis.session(expect![[r#"
        100 $ qless lag
        images	1m 20s	b	no worker has taken it yet
        later	0s	–	–
        mail	1m 30s	a	no worker has taken it yet
        100 $ qless lag --sort lag --reverse -o table
        QUEUE   LAG     JOB  WHY
        mail    1m 30s  a    no worker has taken it yet
        images  1m 20s  b    no worker has taken it yet
        later   0s      –    –
        100 $ qless lag mail later
        mail	1m 30s	a	no worker has taken it yet
        later	0s	–	–
        100 $ qless lag 'ma*' -o raw
        {"mail":90}
        100 $ qless lag nope
        --- stderr
        error: queue `nope` does not exist
        --- exit 4
        100 $ qless lag --read-only mail
        mail	1m 30s	a	no worker has taken it yet
        100 $ qless lag --older-than 85s
        mail	1m 30s	a	no worker has taken it yet
        --- exit 10
        100 $ qless lag --older-than 80s -o json | jq -c .total
        2
        --- exit 10
        100 $ qless lag --older-than 2m
        100 $ qless lag later --older-than 1ms
        100 $ qless lag --older-than 0s &>/dev/null
        --- exit 2
        100 $ qless lag --older-than 5m -o raw &>/dev/null
        --- exit 2
    "#]]);
}

#[test]
fn k17_the_json_of_lag_equals_what_the_core_measures() {
    queues().session(expect![[r#"
        100.5 $ qless lag -o json | jq -c
        {"kind":"lag","v":1,"total":3,"offset":0,"items":[{"queue":"images","lag_s":80.5,"jid":"b","why":"waiting","held_by":null},{"queue":"later","lag_s":0,"jid":null,"why":null,"held_by":null},{"queue":"mail","lag_s":90.5,"jid":"a","why":"waiting","held_by":null}]}
        3640 $ qless lag later -o ndjson
        {"queue":"later","lag_s":10,"jid":"c","why":"waiting","held_by":null}
        1 $ qless lag --prefix empty: -o json | jq -c
        {"kind":"lag","v":1,"total":0,"offset":0,"items":[]}
    "#]]);
}

#[test]
fn a_queue_with_a_key_of_a_wrong_type_is_left_out() {
    let redis = queues();
    redis.send(&["SET", "ql:q:bad-work", "x"]);
    redis.send(&["ZADD", "ql:queues", "1", "bad"]);
    redis.session(expect![[r#"
        100 $ qless lag
        images	1m 20s	b	no worker has taken it yet
        later	0s	–	–
        mail	1m 30s	a	no worker has taken it yet
        --- stderr
        error: cannot read queue `bad`: key `ql:q:bad-work` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
}

#[test]
fn k17_the_states_of_queues_are_those_that_their_jobs_have() {
    let redis = Redis::start();
    for line in [
        "put mail K --jid a --key one",
        "put mail K --jid b --key one",
        "put mail K --jid c --throttle t=1",
        "put mail K --jid d --throttle t",
        "put mail K --jid e --delay 1h",
        "put mail K --jid f",
        "pop mail --worker w1 --count 3",
        "pop mail --worker w1",
    ] {
        redis.at(10).run(line);
    }
    let queue = &redis.json(20, "queues mail -o json")["items"][0].clone();
    for (state, jobs) in [
        ("waiting", 0),
        ("running", 3),
        ("throttled", 1),
        ("depends", 1),
        ("scheduled", 1),
    ] {
        assert_eq!(queue[state], jobs, "{state}: {queue}");
        let count = format!("jobs --queue mail --state {state} --count -o json");
        assert_eq!(redis.json(20, &count)[state], jobs, "{state}");
    }
}

#[test]
fn jobs_that_are_held_count_from_when_they_were_due() {
    let redis = Redis::start();
    redis.ok(1, "throttle set s3 -1");
    for line in [
        "put export K --jid a --throttle s3",
        "put later K --jid b --throttle s3 --delay 20s",
        "put lanes K --jid c --key k",
        "put lanes K --jid d --key k",
        "put paused K --jid e",
        "put dead K --jid f",
    ] {
        redis.ok(10, line);
    }
    redis.ok(11, "pop lanes dead --count 2 --worker w");
    redis.ok(12, "pause paused");
    redis.at(500).run("pop export").exits(4);
    redis.at(500).run("pop later").exits(4);
    redis.session(expect![[r#"
        502 $ qless lag
        dead	7m 11s	f	its lock expired
        export	8m 12s	a	throttle s3 has no free slot
        lanes	8m 12s	d	behind other jobs in lane lanes/k
        later	2s	b	throttle s3 has no free slot
        paused	8m 12s	e	the queue is paused
        502 $ qless jobs --state throttled
        a	K	throttled	export	0	5/5	1970-01-01T00:00:10.000Z	needs s3
        b	K	throttled	later	0	5/5	1970-01-01T00:08:20.000Z	needs s3
    "#]]);
    // A worker does not begin with a queue whose jobs are held.
    let raw = redis.at(502).run("lag export -o raw").stdout();
    assert_eq!(raw, "{\"export\":0}\n");
    redis.ok(503, "throttle set s3 0");
    redis.session(expect![[r#"
        504 $ qless jobs --queue export --queue later
        a	K	waiting	export	0	5/5	1970-01-01T00:00:10.000Z	waits since 1970-01-01T00:00:10.000Z
        b	K	waiting	later	0	5/5	1970-01-01T00:08:20.000Z	waits since 1970-01-01T00:08:20.000Z
    "#]]);
}

/// The place of `large` does not say when: its score is rounded to some 20 minutes.
#[test]
fn released_jobs_wait_since_their_release() {
    let redis = Redis::start();
    for line in [
        "put q K --jid first",
        "put q K --jid next --depends first",
        "put q K --jid large --depends first --priority 1000000000",
        "put lanes K --jid c --key k",
        "put lanes K --jid d --key k",
        "put later K --jid e --delay 20s",
    ] {
        redis.ok(10, line);
    }
    redis.ok(20, "pop q lanes --worker w --count 2");
    redis.ok(30.25, "complete first --worker w");
    redis.ok(40, "complete c --worker w");
    // A call that asks for jobs queues the due ones.
    redis.ok(50, "pop later --count 1 --worker w");
    redis.session(expect![[r#"
        100 $ qless jobs --state waiting
        d	K	waiting	lanes	0	5/5	1970-01-01T00:00:40.000Z	waits since 1970-01-01T00:00:40.000Z
        large	K	waiting	q	1000000000	5/5	1970-01-01T00:00:10.000Z	waits since 1970-01-01T00:00:10.000Z
        next	K	waiting	q	0	5/5	1970-01-01T00:00:30.250Z	waits since 1970-01-01T00:00:30.250Z
        100 $ qless lag
        lanes	1m	d	no worker has taken it yet
        later	0s	–	–
        q	1m 30s	large	no worker has taken it yet
    "#]]);
    let queues = redis.json(100, "queues q lanes -o json");
    assert_eq!(queues["items"][0]["head_wait_s"], 90, "{queues}");
    assert_eq!(queues["items"][1]["head_wait_s"], 60, "{queues}");
    // A note in the history ends no wait.
    redis.ok(110, "priority d --to 7");
    redis.at(110).run("jobs --queue lanes").shows(expect![[r#"
            d	K	waiting	lanes	7	5/5	1970-01-01T00:00:40.000Z	waits since 1970-01-01T00:00:40.000Z
        "#]]);
}

#[test]
fn a_queue_that_runs_as_many_jobs_as_it_may_says_so() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless config set mail-max-concurrency 1 &>/dev/null
        10 $ qless put mail K --jid first &>/dev/null
        20 $ qless put mail K --jid second &>/dev/null
        20 $ qless recur put mail K --every 1h --jid r &>/dev/null
        20 $ qless config set mail-heartbeat 3600 &>/dev/null
        21 $ qless pop mail --worker w &>/dev/null
        100 $ qless lag
        mail	1m 20s	second	the queue runs as many jobs as its max-concurrency allows
        100 $ qless lag -o json | jq -c .items[0].why
        "limited"
    "#]]);
    let status = redis.ok(100, "status");
    assert!(status.contains("max-concurrency"), "{status}");
    redis.session(expect![[r#"
        100 $ qless config unset mail-max-concurrency --yes &>/dev/null
        100 $ qless lag -o json | jq -c .items[0].why
        "waiting"
    "#]]);
}

#[test]
fn a_recurring_job_that_no_pop_has_put_counts() {
    Redis::start().session(expect![[r#"
        10 $ qless recur put nightly K --every 1h --jid r &>/dev/null
        100 $ qless lag
        nightly	1m 30s	r	a recurring job is due, and no pop has put its job
        100 $ qless lag -o json | jq -c .items[0].why
        "recurring"
        100 $ qless lag --older-than 30s &>/dev/null
        --- exit 10
        100 $ qless recur pause r
        100 $ qless lag --older-than 30s
        100 $ qless recur resume r &>/dev/null
        101 $ qless pop nightly --worker w &>/dev/null
        102 $ qless lag
        nightly	0s	–	–
    "#]]);
}
