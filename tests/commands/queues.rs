//! `qless queues`

use expect_test::expect;

use super::jobs::busy;
use crate::support::redis::Redis;

#[test]
fn queues_are_counted_by_state() {
    let redis = busy();
    redis.at(100).run("api pause images").ok();
    redis
        .at(100)
        .run("queues --headers always")
        .shows(expect![[r#"
            QUEUE	WAITING	RUNNING	STALLED	SCHEDULED	DEPENDS	RECURRING	HEAD WAIT	STATE
            images	0	0	0	0	0	0	–	paused
            mail	2	1	2	1	1	0	38s	
        "#]]);
    redis.at(100).run("queues mail -o json").shows(expect![[r#"
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
                  "head_wait_s": 38
                }
              ]
            }
        "#]]);
}

#[test]
fn queues_accepts_globs() {
    let redis = busy();
    let names = |line: &str| {
        redis
            .at(100)
            .run(&format!("queues {line} --columns queue"))
            .ok()
    };
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
    redis.at(10_000).run("queues").ok();
    redis.at(10_000).run("jobs").ok();
    redis.at(10_000).run("workers").ok();
    redis.at(10_000).run("failed").ok();
    redis.at(10_000).run("get later").ok();
    assert_eq!(redis.dump(), before);
}

#[test]
fn no_queues_give_an_empty_list() {
    let redis = Redis::start();
    redis.at(0).run("queues").shows(expect![[""]]);
    redis.at(0).run("queues -o json").shows(expect![[r#"
        {
          "kind": "queues",
          "v": 1,
          "total": 0,
          "offset": 0,
          "items": []
        }
    "#]]);
    redis.at(0).run("queues -o ndjson").shows(expect![[""]]);
    redis.at(0).run("queues -o jid").shows(expect![[r#"
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
