//! `qless peek`

use expect_test::expect;

use super::jobs::busy;
use crate::support::redis::Redis;

#[test]
fn the_next_jobs_are_shown_in_the_order_of_pop() {
    let redis = busy();
    // The pop warns the worker of `stalls` first.
    redis.session(expect![[r#"
        100 $ qless peek mail --count 3 -o jid
        taken
        waits
        waits-2
        100 $ qless peek mail --count 2
        taken	Mail::Digest	stalled	mail	0	5/5	1970-01-01T00:01:02.000Z	mx-1 lost its lock 1970-01-01T00:01:02.000Z
        waits	Mail::Welcome	waiting	mail	0	5/5	1970-01-01T00:01:10.000Z	waits since 1970-01-01T00:01:10.000Z
        100 $ qless peek images
        100 $ qless peek images -o json | jq -c
        {"kind":"jobs","v":1,"total":0,"offset":0,"items":[],"missing":[]}
        100 $ qless peek imges
        --- stderr
        error: queue `imges` does not exist
        hint: did you mean `images`?
        --- exit 4
    "#]]);
    let printed = redis.at(100).run("api peek mail 2").stdout();
    let raw = redis.at(100).run("peek mail --count 2 -o raw").stdout();
    assert_eq!(raw, printed);
}

#[test]
fn peek_shows_what_a_pop_would_get_without_the_pause() {
    let redis = Redis::start();
    redis.ok(0, "put mail K --jid held --throttle s3 --priority 9");
    redis.ok(0, "put mail K --jid free");
    redis.ok(0, "throttle set s3 -1");
    redis.ok(0, "pause mail");
    let before = redis.dump();
    assert_eq!(redis.ok(1, "peek mail -o jid"), "free");
    assert_eq!(redis.dump(), before);
}

#[test]
fn peek_shows_jobs_that_recurring_jobs_would_put() {
    let redis = Redis::start();
    for (now, line) in [
        (0, "put me q stalls K {} 0"),
        (1, "pop q w 1"),
        (2, "put me q taken K {} 0"),
        (3, "pop q w 1"),
        (4, "timeout taken"),
        (5, "put me q low K {} 0 priority -1"),
        (6, "put me q soon K {} 10 priority 3"),
        (7, "put me q later K {} 1000"),
        (8, "recur q nightly Nightly {} interval 40 12 priority 1"),
        (9, "put me q plain K {} 0 priority 1"),
    ] {
        redis.ok(now, &format!("api {line}"));
    }
    let before = redis.dump();
    let foreseen = redis.ok(70, "--read-only peek q -o jid");
    redis.session(expect![[r#"
        70 $ qless peek q --read-only --time-format relative
        taken	K	stalled	q	0	5/5	1m 6s	w lost its lock 1m 6s ago
        soon	K	scheduled	q	3	5/5	1m 4s	due 54s ago
        plain	K	waiting	q	1	5/5	1m 1s	waits 1m 1s
        nightly-1	Nightly	(due)	q	1	0/0	–	from nightly
        nightly-2	Nightly	(due)	q	1	0/0	–	from nightly
        low	K	waiting	q	-1	5/5	1m 5s	waits 1m 5s
        70 $ qless peek q --read-only -o raw
        --- stderr
        error: the core's own `peek` may change something, and `--read-only` was given
        --- exit 9
    "#]]);
    assert_eq!(redis.dump(), before);
    assert_eq!(redis.ok(70, "peek q -o jid"), foreseen);
}

#[test]
fn an_invalid_peek_count_is_a_usage_error() {
    Redis::start().session(expect![[r#"
        0 $ qless peek mail --count x
        --- stderr
        error: `--count` expects a whole number between 0 and 9007199254740992, not `x`
        --- exit 2
        0 $ qless peek mail --count 18446744073709551615 &>/dev/null
        --- exit 2
        0 $ qless put mail K --jid j &>/dev/null
        0 $ qless peek mail --count 9007199254740992 -o jid
        j
    "#]]);
}
