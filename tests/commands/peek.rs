//! `qless peek`

use expect_test::expect;

use super::jobs::busy;
use crate::support::redis::Redis;

#[test]
fn the_next_jobs_are_shown_in_the_order_of_pop() {
    let redis = busy();
    let peeked = redis.at(100).run("peek mail --count 3 -o jid").ok();
    // The pop warns the worker of `stalls` first.
    assert_eq!(peeked.replace('\n', " "), "taken waits waits-2");
    redis
        .at(100)
        .run("peek mail --count 2")
        .shows(expect![[r#"
            taken	Mail::Digest	stalled	mail	0	5/5	1970-01-01T00:01:02.000Z	mx-1 lost its lock 1970-01-01T00:01:02.000Z
            waits	Mail::Welcome	waiting	mail	0	5/5	1970-01-01T00:01:10.000Z	waits since 1970-01-01T00:01:10.000Z
        "#]]);
    assert_eq!(
        redis.at(100).run("peek mail --count 1 -o json").json()["kind"],
        "jobs"
    );
}

#[test]
fn peek_shows_what_a_pop_would_get_without_the_pause() {
    let redis = Redis::start();
    redis
        .at(0)
        .run("put mail K --jid held --throttle s3 --priority 9")
        .ok();
    redis.at(0).run("put mail K --jid free").ok();
    redis.at(0).run("throttle set s3 -1").ok();
    redis.at(0).run("pause mail").ok();
    let before = redis.dump();
    assert_eq!(redis.at(1).run("peek mail -o jid").ok(), "free");
    assert_eq!(redis.dump(), before);
}

#[test]
fn raw_prints_the_reply_of_peek() {
    let redis = busy();
    let printed = redis.at(100).run("api peek mail 2").stdout();
    assert_eq!(
        redis.at(100).run("peek mail --count 2 -o raw").stdout(),
        printed
    );
}

#[test]
fn peek_accepts_an_empty_queue_and_refuses_an_unknown_one() {
    let redis = busy();
    redis.at(100).run("peek images").shows(expect![[""]]);
    redis.at(100).run("peek imges").shows(expect![[r#"
        --- stderr
        error: queue `imges` does not exist
        hint: did you mean `images`?
        --- exit 4
    "#]]);
    redis.at(100).run("peek images -o json").shows(expect![[r#"
            {
              "kind": "jobs",
              "v": 1,
              "total": 0,
              "offset": 0,
              "items": [],
              "missing": []
            }
        "#]]);
}

#[test]
fn peek_shows_jobs_that_recurring_jobs_would_put() {
    let redis = Redis::start();
    let api = |now: f64, line: &str| redis.at(now).run(&format!("api {line}")).ok();
    api(0.0, "put me q stalls K {} 0");
    api(1.0, "pop q w 1");
    api(2.0, "put me q taken K {} 0");
    api(3.0, "pop q w 1");
    api(4.0, "timeout taken");
    api(5.0, "put me q low K {} 0 priority -1");
    api(6.0, "put me q soon K {} 10 priority 3");
    api(7.0, "put me q later K {} 1000");
    api(8.0, "recur q nightly Nightly {} interval 40 12 priority 1");
    api(9.0, "put me q plain K {} 0 priority 1");
    let before = redis.dump();
    let foreseen = redis.at(70).run("--read-only peek q -o jid").ok();
    redis
        .at(70)
        .run("peek q --read-only --time-format relative")
        .shows(expect![[r#"
            taken	K	stalled	q	0	5/5	1m 6s	w lost its lock 1m 6s ago
            soon	K	scheduled	q	3	5/5	1m 4s	due 54s ago
            plain	K	waiting	q	1	5/5	1m 1s	waits 1m 1s
            nightly-1	Nightly	(due)	q	1	0/0	–	from nightly
            nightly-2	Nightly	(due)	q	1	0/0	–	from nightly
            low	K	waiting	q	-1	5/5	1m 5s	waits 1m 5s
        "#]]);
    assert_eq!(redis.dump(), before);
    assert_eq!(redis.at(70).run("peek q -o jid").ok(), foreseen);
    redis
        .at(70)
        .run("peek q --read-only -o raw")
        .shows(expect![[r#"
            --- stderr
            error: the core's own `peek` may change something, and `--read-only` was given
            --- exit 9
        "#]]);
}

#[test]
fn an_invalid_peek_count_is_a_usage_error() {
    let redis = Redis::start();
    redis.at(0).run("peek mail --count x").shows(expect![[r#"
        --- stderr
        error: `--count` expects a whole number between 0 and 9007199254740992, not `x`
        --- exit 2
    "#]]);
    let most = "peek mail --count 18446744073709551615";
    redis.at(0).run(most).exits(2);
    redis.at(0).run("api put w mail j K {} 0").ok();
    let most = "peek mail --count 9007199254740992 -o jid";
    assert_eq!(redis.at(0).run(most).ok(), "j");
}
