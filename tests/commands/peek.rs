//! `qless peek`

use expect_test::expect;

use super::jobs::busy;
use crate::house::redis::Redis;

#[test]
fn the_next_jobs_are_shown_in_the_order_of_pop() {
    let redis = busy();
    let peeked = redis.at(100).run("peek mail --count 3 -o jid").ok();
    assert_eq!(peeked.replace('\n', " "), "stalls taken waits");
    redis
        .at(100)
        .run("peek mail --count 2")
        .shows(expect![[r#"
            stalls	Mail::Welcome	stalled	mail	10	5/5	1970-01-01T00:00:02.000Z	mx-2 lost it 1970-01-01T00:01:02.000Z
            taken	Mail::Digest	stalled	mail	0	5/5	1970-01-01T00:01:02.000Z	mx-1 lost it 1970-01-01T00:01:02.000Z
        "#]]);
    assert_eq!(
        redis.at(100).run("peek mail --count 1 -o json").json()["kind"],
        "jobs"
    );
}

#[test]
fn due_recurring_jobs_are_put_as_by_the_core() {
    let redis = Redis::start();
    redis
        .at(0)
        .run("api recur reports nightly Nightly {} interval 60 0")
        .ok();
    redis.at(0).run("peek reports -o jid").shows(expect![[r#"
        nightly-1
    "#]]);
}

#[test]
fn raw_is_the_reply_of_the_core() {
    let redis = busy();
    let told = redis.at(100).run("api peek mail 2").stdout();
    assert_eq!(
        redis.at(100).run("peek mail --count 2 -o raw").stdout(),
        told
    );
}

#[test]
fn an_empty_queue_is_fine_and_an_unknown_one_is_not() {
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
