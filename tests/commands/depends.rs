//! `qless depends`

use expect_test::expect;

use super::jobs::busy;
use crate::house::redis::Redis;

#[test]
fn both_directions_are_shown_with_states() {
    let redis = busy();
    redis.at(100).run("depends blocked").shows(expect![[r#"
        waits for	breaks	Thumb	images	failed
        waits for	runs	Mail::Digest	mail	running
    "#]]);
    redis
        .at(100)
        .run("depends blocked -o json")
        .shows(expect![[r#"
            {
              "kind": "dependencies",
              "v": 1,
              "jid": "blocked",
              "klass": "Deploy",
              "queue": "mail",
              "dependencies": [
                {
                  "jid": "breaks",
                  "klass": "Thumb",
                  "queue": "images",
                  "state": "failed"
                },
                {
                  "jid": "runs",
                  "klass": "Mail::Digest",
                  "queue": "mail",
                  "state": "running"
                }
              ],
              "dependents": []
            }
        "#]]);
    redis.at(100).run("depends runs").shows(expect![[r#"
        needed by	blocked	Deploy	mail	depends
    "#]]);
    redis.at(100).run("depends runs -o jid").shows(expect![[r#"
            blocked
        "#]]);
}

#[test]
fn an_unknown_job_is_not_found() {
    busy().at(100).run("depends nope").shows(expect![[r#"
        --- stderr
        error: job `nope` does not exist
        --- exit 4
    "#]]);
}

/// `d` waits for `a`; `b` waits for nothing, `c` is complete.
fn waiting() -> Redis {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid c").ok();
    redis.at(2).run("pop mail --worker w").ok();
    redis.at(3).run("complete c --worker w").ok();
    redis.at(4).run("put mail K --jid a").ok();
    redis.at(5).run("put mail K --jid b").ok();
    redis.at(6).run("put mail K --jid d --depends a").ok();
    redis
}

#[test]
fn dependencies_are_added_and_dropped() {
    let redis = waiting();
    redis.at(10).run("depends d --on b c").shows(expect![[r#"
            waits for	a	K	mail	waiting
            waits for	b	K	mail	waiting
            --- stderr
            note: `c` is complete already, not a dependency
        "#]]);
    redis.at(11).run("depends d --off a").shows(expect![[r#"
            waits for	b	K	mail	waiting
        "#]]);
    redis
        .at(12)
        .run("depends d --off b")
        .shows(expect![[r#""#]]);
    assert_eq!(redis.at(13).run("get d --field state").ok(), "waiting");
}

#[test]
fn all_are_dropped_at_once() {
    let redis = waiting();
    redis.at(10).run("depends d --on b").ok();
    redis
        .at(11)
        .run("depends d --off-all -n")
        .shows(expect![[r#"
            waits for	a	K	mail	waiting
            waits for	b	K	mail	waiting
            --- stderr
            would change what the job waits for; now it is:
        "#]]);
    redis
        .at(11)
        .run("depends d --off-all -o json")
        .shows(expect![[r#"
            {
              "kind": "dependencies",
              "v": 1,
              "jid": "d",
              "klass": "K",
              "queue": "mail",
              "dependencies": [],
              "dependents": []
            }
        "#]]);
    assert_eq!(redis.at(13).run("get d --field state").ok(), "waiting");
}

#[test]
fn what_cannot_be_waited_for_is_refused() {
    let redis = waiting();
    redis.at(10).run("depends d --on b nope").shows(expect![[r#"
        --- stderr
        error: cannot change the dependencies of `d`: `nope` does not exist
        --- exit 4
    "#]]);
    redis.at(10).run("depends d --on d").shows(expect![[r#"
        --- stderr
        error: cannot change the dependencies of `d`: it would wait for itself, through `d`
        --- exit 5
    "#]]);
    redis.at(10).run("put mail K --jid e --depends d").ok();
    redis.at(10).run("depends d --on e").shows(expect![[r#"
        --- stderr
        error: cannot change the dependencies of `d`: it would wait for itself, through `d`, `e`
        --- exit 5
    "#]]);
    redis.at(10).run("depends a --on b").shows(expect![[r#"
        --- stderr
        error: cannot change the dependencies of `a`: it is waiting, it waits for no job
        --- exit 5
    "#]]);
    redis.at(10).run("depends nope --on b").shows(expect![[r#"
            --- stderr
            error: job `nope` does not exist
            --- exit 4
        "#]]);
    redis.at(10).run("depends d --off b").shows(expect![[r#"
            waits for	a	K	mail	waiting
            needed by	e	K	mail	depends
            --- stderr
            note: it does not wait for `b`
        "#]]);
    redis.at(10).run("depends d --off a --off-all").exits(2);
    redis.at(11).run("depends d").shows(expect![[r#"
        waits for	a	K	mail	waiting
        needed by	e	K	mail	depends
    "#]]);
}
