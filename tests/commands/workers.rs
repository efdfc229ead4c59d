//! `qless workers`

use expect_test::expect;

use super::jobs::busy;
use crate::support::redis::Redis;

#[test]
fn workers_are_listed_last_seen_first_but_for_those_that_lost_jobs() {
    let redis = busy();
    redis.session(expect![[r#"
        100 $ qless workers --headers always --time-format relative
        WORKER	RUNNING	STALLED	LAST SEEN	HOST	PID	SLOTS	VERSION
        mx-2	0	1	1m 38s ago	–	–	–	–
        d-1	0	0	22s ago	–	–	–	–
        mx-1	1	0	39s ago	–	–	–	–
        100 $ qless workers -o json | jq -c
        {"kind":"workers","v":1,"total":3,"offset":0,"items":[{"name":"mx-2","running":0,"stalled":1,"last_seen":"1970-01-01T00:00:02.000Z","host":null,"pid":null,"slots":null,"version":null},{"name":"d-1","running":0,"stalled":0,"last_seen":"1970-01-01T00:01:18.000Z","host":null,"pid":null,"slots":null,"version":null},{"name":"mx-1","running":1,"stalled":0,"last_seen":"1970-01-01T00:01:01.000Z","host":null,"pid":null,"slots":null,"version":null}]}
        100 $ qless workers 'mx-*' --columns worker
        mx-2
        mx-1
        100 $ qless workers mx-2
        stalls	Mail::Welcome	stalled	mail	10	5/5	1970-01-01T00:00:02.000Z	the lock of mx-2 expired 1970-01-01T00:01:02.000Z
        100 $ qless workers mx-1 -o json | jq -c
        {"kind":"worker","v":1,"name":"mx-1","last_seen":"1970-01-01T00:01:01.000Z","jobs":["runs"],"stalled":[]}
        100 $ qless workers mx-1 -o jid
        runs
        100 $ qless workers d-1 -o json | jq -c
        {"kind":"worker","v":1,"name":"d-1","last_seen":"1970-01-01T00:01:18.000Z","jobs":[],"stalled":[]}
        100 $ qless workers mx-3
        --- stderr
        error: worker `mx-3` does not exist
        hint: did you mean `mx-1`?
        --- exit 4
    "#]]);
    let printed = redis.at(100).run("api workers mx-1").stdout();
    assert_eq!(redis.at(100).run("workers mx-1 -o raw").stdout(), printed);
}

#[test]
fn workers_that_need_somebody_come_first() {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    at(1, "config set long-heartbeat 4000");
    at(1, "put long K --jid a");
    at(1, "put mail K --jid b");
    at(1, "pop long --worker silent");
    at(2, "pop mail --worker lost");
    redis.at(2990).run("pop other --worker fresh").exits(4);
    redis.at(2995).run("pop other --worker fresher").exits(4);
    let names = at(3000, "workers --columns WORKER");
    assert_eq!(names, "lost\nsilent\nfresher\nfresh");
}
