//! `qless queues`

use expect_test::expect;

use super::jobs::busy;
use crate::support::redis::Redis;

#[test]
fn queues_are_counted_by_state() {
    let redis = busy();
    redis.ok(100, "api pause images");
    redis.session(expect![[r#"
        100 $ qless queues --headers always
        QUEUE	WAITING	RUNNING	STALLED	SCHEDULED	DEPENDS	RECURRING	NEXT WAITS	STATE
        images	0	0	0	0	0	0	–	paused
        mail	2	1	2	1	1	0	38s	
        100 $ qless queues mail -o json | jq -c
        {"kind":"queues","v":1,"total":1,"offset":0,"items":[{"name":"mail","waiting":2,"running":1,"stalled":2,"scheduled":1,"depends":1,"recurring":0,"paused":false,"paused_since":null,"paused_until":null,"paused_reason":null,"paused_by":null,"head_wait_s":38}]}
        100 $ qless queues '*a*' --columns queue
        images
        mail
        100 $ qless queues mail images --columns queue
        mail
        images
        100 $ qless queues 'nothing*' --columns queue
        100 $ qless queues mali
        --- stderr
        error: queue `mali` does not exist
        hint: did you mean `mail`?
        --- exit 4
    "#]]);
    let printed = redis.at(100).run("api queues mail").stdout();
    assert_eq!(redis.at(100).run("queues mail -o raw").stdout(), printed);
}

#[test]
fn an_entry_without_a_job_does_not_hide_how_long_the_next_job_has_waited() {
    let redis = Redis::start();
    redis.ok(100, "put mail K --jid a");
    redis.send(&["ZADD", "ql:q:mail-work", "0", "ghost"]);
    redis.session(expect![[r#"
        130 $ qless queues --columns queue,waiting,next-waits
        mail	2	30s
        130 $ qless health --max-head-wait 20s --nagios
        QLESS CRITICAL - mail: the next job has waited 30s, limit 20s | 'mail max-head-wait'=30s;20;20;0
        --- exit 2
    "#]]);
    redis.send(&["ZREM", "ql:q:mail-work", "a"]);
    redis.session(expect![[r#"
        130 $ qless queues --columns queue,waiting,next-waits
        mail	1	–
        130 $ qless put mail K --jid b --delay 10s &>/dev/null
        145 $ qless queues --columns queue,waiting,next-waits
        mail	2	5s
    "#]]);
}

#[test]
fn a_delayed_job_waits_since_it_is_due() {
    let redis = Redis::start();
    redis.ok(100, "put mail K --jid a --delay 20s");
    redis.session(expect![[r#"
        123 $ qless queues --columns queue,waiting,next-waits
        mail	1	3s
        123 $ qless health --max-head-wait 10s
        ✓ mail: the next job has waited 3s, limit 10s
    "#]]);
}

#[test]
fn listing_queues_changes_nothing() {
    let redis = busy();
    let before = redis.dump();
    for line in ["queues", "jobs", "workers", "failed", "get later"] {
        redis.ok(10_000, line);
    }
    assert_eq!(redis.dump(), before);
}

#[test]
fn no_queues_give_an_empty_list() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        0 $ qless queues
        0 $ qless queues -o json | jq -c
        {"kind":"queues","v":1,"total":0,"offset":0,"items":[]}
        0 $ qless queues -o ndjson
        0 $ qless queues -o jid
        --- stderr
        error: `-o jid` is only for commands whose result is jobs
        --- exit 2
    "#]]);
}

#[test]
fn a_queue_with_a_key_of_a_wrong_type_is_left_out_and_named() {
    let redis = Redis::start();
    for (queue, jid) in [("q", "a"), ("p", "b"), ("r", "c")] {
        redis.ok(100, &format!("put {queue} K --jid {jid}"));
    }
    redis.send(&["DEL", "ql:q:q-work"]);
    redis.send(&["SET", "ql:q:q-work", "x"]);
    redis.session(expect![[r#"
        160 $ qless queues
        p	1	0	0	0	0	0	1m	
        r	1	0	0	0	0	0	1m	
        --- stderr
        error: cannot read queue `q`: key `ql:q:q-work` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
    // Each list has what can be read, and names the queue that cannot.
    let left_out = "error: cannot read queue `q`: key `ql:q:q-work` has the wrong type\n\
                    hint: qless check --only key-type\n";
    for (line, printed) in [
        ("queues q p --columns queue", "p\n"),
        ("queues q -q", ""),
        ("jobs --columns jid", "b\nc\n"),
        ("jobs --state waiting --queue q", ""),
        ("jobs --state waiting --columns jid", "b\nc\n"),
        ("jobs --held-by '*'", ""),
    ] {
        let ran = redis.at(160).run(line).exits(3);
        assert_eq!(ran.stdout(), printed, "{line}");
        assert_eq!(ran.stderr(), left_out, "{line}");
    }
    redis.at(160).run("jobs -o json").exits(3);
    let counted = redis.at(160).run("jobs --count").exits(3);
    assert_eq!(counted.stderr(), left_out);
    assert!(counted.stdout().contains("waiting\t2\n"));
    let exported = redis.at(160).run("export --all").exits(3);
    for jid in ["a", "b", "c"] {
        let job = format!(r#""jid":"{jid}""#);
        assert!(exported.stdout().contains(&job), "{}", exported.stdout());
    }
    assert!(left_out.starts_with(exported.stderr().lines().next().unwrap()));
    // A command that changes jobs does nothing without knowing all of them.
    let before = redis.dump();
    redis.session(expect![[r#"
        160 $ qless cancel --state waiting --yes
        --- stderr
        error: cannot read queue `q`: key `ql:q:q-work` has the wrong type
        hint: qless check --only key-type
        --- exit 1
        160 $ qless priority --queue q --to 5 --yes &>/dev/null
        --- exit 1
    "#]]);
    assert_eq!(redis.dump(), before);
    // The queue still exists.
    redis.ok(160, "pause q");
    redis.send(&["SET", "ql:q:p-locks", "x"]);
    redis.send(&["SET", "ql:q:p-recur", "x"]);
    let error = redis.at(160).run("queues -o json").error();
    assert_eq!(
        error["message"],
        "cannot read queue `p`: keys `ql:q:p-locks`, `ql:q:p-recur` have the wrong type; \
         cannot read queue `q`: key `ql:q:q-work` has the wrong type"
    );
}

#[test]
fn the_document_says_who_paused_a_queue_and_why() {
    let redis = Redis::start();
    redis.ok(1, "put mail K");
    let ann = redis.at(2).env("USER", "ann");
    ann.run("pause mail --reason 'disk swap'").ok();
    let queue = &redis.json(3, "queues -o json")["items"][0];
    assert_eq!(queue["paused_reason"], "disk swap");
    let host = qless::internals::host_name();
    assert_eq!(queue["paused_by"], format!("ann@{host}"));
}
