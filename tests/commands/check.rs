//! `qless check`

use expect_test::expect;

use crate::house::jobs::mixed;
use crate::house::redis::Redis;

/// Jobs of two queues, one of which is run, one blocked.
fn healthy() -> Redis {
    let redis = Redis::start();
    for jid in ["a1", "a2", "a3"] {
        let put = format!("put mail K {{}} --jid {jid} --tag eu");
        redis.at(100).run(&put).ok();
    }
    redis
        .at(101)
        .run("put mail K {} --jid b1 --depends a1")
        .ok();
    redis.at(102).run("put images K {} --jid r1").ok();
    redis.at(103).run("pop images --worker w1").ok();
    redis
}

#[test]
fn a_healthy_database_is_clean() {
    for redis in [Redis::start(), healthy(), mixed()] {
        let ran = redis.at(110).run("check --skip queue-empty");
        assert_eq!(ran.stdout(), "");
        assert!(ran.stderr().ends_with("s, nothing is damaged\n"));
    }
    healthy().at(110).run("check").shows(expect![[r#"
        --- stderr
        scanned 21 keys, 5 jobs, 2 queues in 0.0s, nothing is damaged
    "#]]);
    healthy().at(110).run("check -o json").shows(expect![[r#"
            {
              "kind": "check",
              "v": 1,
              "keys": 21,
              "jobs": 5,
              "queues": 2,
              "elapsed_s": 0,
              "complete": true,
              "clean": true,
              "fail_on": "warn",
              "causes": [],
              "items": []
            }
            --- stderr
            scanned 21 keys, 5 jobs, 2 queues in 0.0s, nothing is damaged
        "#]]);
    healthy()
        .at(110)
        .run("check -o ndjson -q")
        .shows(expect![[r#""#]]);
}

#[test]
fn a_job_that_was_deleted_by_hand_is_found_with_all_it_left() {
    let redis = healthy();
    redis.send(&["DEL", "ql:j:a1"]);
    redis
        .at(110)
        .run("check --headers always")
        .shows(expect![[r#"
            SEVERITY	FINDING	COUNT	PROBLEM	EXAMPLES
            critical	ghost-waiting	1	id waits in a queue, the job does not exist	mail: a1
            error	dependency-missing	1	job waits for a job that does not exist	b1 needs a1
            warn	tag-index	1	tag's index disagrees with the tags of a job	eu: a1
            info	edges-orphan	1	dependencies of a job that does not exist	j:a1-dependents
            info	history-orphan	1	history of a job that does not exist	j:a1-history
            --- stderr
            scanned 20 keys, 4 jobs, 2 queues in 0.0s
            likely cause: somebody deleted keys of jobs (DEL) instead of the jobs: 1 history is left behind
            --- exit 7
        "#]]);
    redis
        .at(110)
        .run("check -o json --only dependency-missing")
        .shows(expect![[r#"
            {
              "kind": "check",
              "v": 1,
              "keys": 20,
              "jobs": 4,
              "queues": 2,
              "elapsed_s": 0,
              "complete": true,
              "clean": false,
              "fail_on": "warn",
              "causes": [],
              "items": [
                {
                  "severity": "error",
                  "finding": "dependency-missing",
                  "count": 1,
                  "at_least": false,
                  "problem": "job waits for a job that does not exist",
                  "invariants": [
                    "I-10"
                  ],
                  "mends": 0,
                  "asks": 1,
                  "choices": [
                    "what it waited for was done, or need not be: `qless check --repair --only dependency-missing`",
                    "the same for one job: `qless depends JID --off OTHER`",
                    "it was lost, and is to run first: `qless put QUEUE KLASS DATA --jid OTHER`",
                    "give up what waits for it: `qless cancel JID`"
                  ],
                  "examples": [
                    {
                      "item": "b1",
                      "detail": "a1"
                    }
                  ]
                }
              ]
            }
            --- stderr
            scanned 20 keys, 4 jobs, 2 queues in 0.0s
            --- exit 7
        "#]]);
    redis
        .at(110)
        .run("check -o ndjson --skip history-orphan,edges-orphan,tag-index -q")
        .shows(expect![[r#"
            {"severity":"critical","finding":"ghost-waiting","count":1,"at_least":false,"problem":"id waits in a queue, the job does not exist","invariants":["I-03"],"mends":1,"asks":0,"choices":[],"examples":[{"item":"a1","detail":"mail"}]}
            {"severity":"error","finding":"dependency-missing","count":1,"at_least":false,"problem":"job waits for a job that does not exist","invariants":["I-10"],"mends":0,"asks":1,"choices":["what it waited for was done, or need not be: `qless check --repair --only dependency-missing`","the same for one job: `qless depends JID --off OTHER`","it was lost, and is to run first: `qless put QUEUE KLASS DATA --jid OTHER`","give up what waits for it: `qless cancel JID`"],"examples":[{"item":"b1","detail":"a1"}]}
            --- exit 7
        "#]]);
}

#[test]
fn the_worst_stand_first() {
    let redis = healthy();
    redis.send(&["DEL", "ql:q:images-locks"]);
    redis.send(&["ZADD", "ql:tags", "9", "eu"]);
    redis.send(&["HSET", "ql:j:a1", "tags", "{"]);
    redis.send(&["SET", "ql:f:odd", "x"]);
    redis.at(110).run("check").shows(expect![[r#"
        critical	key-type	1	key of a wrong type, or a job id with a reserved ending	f:odd: is a string, not a list
        error	job-unreadable	1	field or history entry that does not parse	a1: tags
        error	running-without-lock	1	job runs without a lock, it can't time out	images: r1
        warn	tag-count	1	tag counter differs from the tagged jobs	eu: 9, is 3
        info	queue-empty	1	queue is listed or paused, and there is nothing in it	images: nothing in it
        --- stderr
        scanned 21 keys, 5 jobs, 2 queues in 0.0s
        likely cause: clients with the reference core work here, too: its `tag` leaves tag-count
        --- exit 7
    "#]]);
}

#[test]
fn names_that_are_none_are_refused_with_the_nearest() {
    let redis = Redis::start();
    redis
        .at(1)
        .run("check --only ghost-waiting,goast-lock")
        .shows(expect![[r#"
            --- stderr
            error: `--only` wants the name of a finding, not `goast-lock`
            hint: did you mean `ghost-lock`?
            --- exit 2
        "#]]);
    redis.at(1).run("check --skip all").shows(expect![[r#"
        --- stderr
        error: `--skip` wants the name of a finding, not `all`
        --- exit 2
    "#]]);
    redis.at(1).run("check --fail-on bad").shows(expect![[r#"
            --- stderr
            error: `--fail-on` cannot be `bad`, it is one of `critical`, `error`, `warn`, `info`
            --- exit 2
        "#]]);
    redis.at(1).run("check --queue none").shows(expect![[r#"
            --- stderr
            error: queue `none` does not exist
            --- exit 4
        "#]]);
}
