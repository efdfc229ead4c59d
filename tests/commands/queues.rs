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
        100 $ qless queues mail -o json
        {
          "kind": "queues",
          "v": 1,
          "total": 1,
          "offset": 0,
          "items": [
            {
              "name": "mail",
              "waiting": 2,
              "running": 1,
              "stalled": 2,
              "scheduled": 1,
              "depends": 1,
              "recurring": 0,
              "paused": false,
              "paused_since": null,
              "paused_until": null,
              "paused_reason": null,
              "paused_by": null,
              "head_wait_s": 38
            }
          ]
        }
    "#]]);
}

#[test]
fn queues_accepts_globs() {
    let redis = busy();
    let names = |line: &str| redis.ok(100, &format!("queues {line} --columns queue"));
    assert_eq!(names("'*a*'"), "images\nmail");
    assert_eq!(names("mail images"), "mail\nimages");
    assert_eq!(names("'nothing*'"), "");
    redis.at(100).run("queues mali").shows(expect![[r#"
        --- stderr
        error: queue `mali` does not exist
        hint: did you mean `mail`?
        --- exit 4
    "#]]);
}

#[test]
fn listing_queues_changes_nothing() {
    let redis = busy();
    let before = redis.dump();
    redis.ok(10_000, "queues");
    redis.ok(10_000, "jobs");
    redis.ok(10_000, "workers");
    redis.ok(10_000, "failed");
    redis.ok(10_000, "get later");
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
fn raw_prints_the_reply_of_queues() {
    let redis = busy();
    let printed = redis.at(100).run("api queues mail").stdout();
    assert_eq!(redis.at(100).run("queues mail -o raw").stdout(), printed);
}

#[test]
fn a_queue_with_a_key_of_a_wrong_type_is_left_out_and_named() {
    let redis = Redis::start();
    for (queue, jid) in [("q", "a"), ("p", "b"), ("r", "c")] {
        let line = format!("put {queue} K --jid {jid}");
        redis.ok(100, &line);
    }
    redis.send(&["DEL", "ql:q:q-work"]);
    redis.send(&["SET", "ql:q:q-work", "x"]);
    let run = |line: &str| redis.at(160).run(line);
    run("queues").shows(expect![[r#"
        p	1	0	0	0	0	0	1m	
        r	1	0	0	0	0	0	1m	
        --- stderr
        error: cannot read queue `q`: key `ql:q:q-work` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
    run("queues q p -o json --columns queue").exits(3);
    run("queues q -q").shows(expect![[r#"
        --- stderr
        error: cannot read queue `q`: key `ql:q:q-work` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
    run("jobs").shows(expect![[r#"
        b	K	waiting	p	0	5/5	1970-01-01T00:01:40.000Z	waits since 1970-01-01T00:01:40.000Z
        c	K	waiting	r	0	5/5	1970-01-01T00:01:40.000Z	waits since 1970-01-01T00:01:40.000Z
        --- stderr
        error: cannot read queue `q`: key `ql:q:q-work` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
    run("jobs -o json").exits(3);
    run("jobs --state waiting --queue q").shows(expect![[r#"
        --- stderr
        error: cannot read queue `q`: key `ql:q:q-work` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
    run("jobs --state waiting").exits(3);
    run("jobs --held-by '*'").exits(3);
    run("jobs --count").shows(expect![[r#"
        running	0
        stalled	0
        waiting	2
        scheduled	0
        depends	0
        failed	0
        complete	0
        --- stderr
        error: cannot read queue `q`: key `ql:q:q-work` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
    let exported = run("export --all").exits(3);
    for jid in ["a", "b", "c"] {
        let job = format!(r#""jid":"{jid}""#);
        assert!(
            exported.stdout().contains(&job),
            "{jid}: {}",
            exported.stdout()
        );
    }
    let left_out = "error: cannot read queue `q`: key `ql:q:q-work` has the wrong type\n";
    assert!(
        exported.stderr().starts_with(left_out),
        "{}",
        exported.stderr()
    );
    // A command that changes jobs does nothing without knowing all of them.
    let before = redis.dump();
    run("cancel --state waiting --yes").shows(expect![[r#"
        --- stderr
        error: cannot read queue `q`: key `ql:q:q-work` has the wrong type
        hint: qless check --only key-type
        --- exit 1
    "#]]);
    run("priority --queue q --to 5 --yes").exits(1);
    assert_eq!(redis.dump(), before);
    // The queue still exists.
    run("pause q").ok();
    redis.send(&["SET", "ql:q:p-locks", "x"]);
    redis.send(&["SET", "ql:q:p-recur", "x"]);
    let error = run("queues -o json").error();
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
