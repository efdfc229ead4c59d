//! `qless failed`

use expect_test::expect;

use crate::house::redis::Redis;

fn fails() -> Redis {
    let redis = Redis::start();
    let api = |now: f64, line: &str| redis.at(now).run(&format!("api {line}")).ok();
    for (n, queue) in ["mail", "images", "mail"].iter().enumerate() {
        let at = n as f64 * 10.0;
        api(at, &format!("put me {queue} u{n} K {{}} 0"));
        api(at + 1.0, &format!("pop {queue} w 1"));
        api(
            at + 2.0,
            &format!("fail u{n} w 'upload error' 'cannot open {n}\nline two'"),
        );
    }
    api(50.0, "put me test bad K {} 0");
    api(51.0, "pop test w 1");
    api(52.0, r#"fail bad w 'bad payload' 'key "user" missing'"#);
    redis
}

#[test]
fn groups_are_listed_largest_first() {
    let redis = fails();
    redis
        .at(200)
        .run("failed --headers always --time-format relative")
        .shows(expect![[r#"
            GROUP	JOBS	LAST	QUEUES	SAMPLE
            upload error	3	2m ago	images, mail	cannot open 2
            bad payload	1	2m ago	test	key "user" missing
        "#]]);
    redis.at(200).run("failed -o json").shows(expect![[r#"
        {
          "kind": "failed",
          "v": 1,
          "total": 2,
          "offset": 0,
          "items": [
            {
              "group": "upload error",
              "jobs": 3,
              "last": "1970-01-01T00:00:22.000Z",
              "queues": [
                "images",
                "mail"
              ],
              "sample": "cannot open 2\nline two"
            },
            {
              "group": "bad payload",
              "jobs": 1,
              "last": "1970-01-01T00:00:52.000Z",
              "queues": [
                "test"
              ],
              "sample": "key \"user\" missing"
            }
          ]
        }
    "#]]);
    redis
        .at(200)
        .run("failed --limit 1 --columns group")
        .shows(expect![[r#"
            upload error
        "#]]);
}

#[test]
fn the_jobs_of_a_group_come_newest_first() {
    let redis = fails();
    redis
        .at(200)
        .run("failed --group 'upload error' -o jid")
        .shows(expect![[r#"
            u2
            u1
            u0
        "#]]);
    redis
        .at(200)
        .run("failed --group 'upload error' --limit 1 --offset 1 -o jid")
        .shows(expect![[r#"
            u1
        "#]]);
    redis
        .at(200)
        .run("failed --group 'upload error'")
        .shows(expect![[r#"
            u2	K	failed	mail	0	5/5	1970-01-01T00:00:22.000Z	upload error: cannot open 2
            u1	K	failed	images	0	5/5	1970-01-01T00:00:12.000Z	upload error: cannot open 1
            u0	K	failed	mail	0	5/5	1970-01-01T00:00:02.000Z	upload error: cannot open 0
        "#]]);
    redis
        .at(200)
        .run("failed --queue mail -o jid")
        .shows(expect![[r#"
            u2
            u0
        "#]]);
    redis
        .at(200)
        .run("failed --group '*' -o jid")
        .shows(expect![[r#"
            bad
            u2
            u1
            u0
        "#]]);
}

#[test]
fn an_unknown_group_is_not_found() {
    fails()
        .at(200)
        .run("failed --group 'upload eror'")
        .shows(expect![[r#"
            --- stderr
            error: group `upload eror` does not exist
            hint: did you mean `upload error`?
            --- exit 4
        "#]]);
    fails()
        .at(200)
        .run("failed --group 'upload eror' --queue mail -o json")
        .exits(4);
}

#[test]
fn no_failures_are_an_empty_list() {
    let redis = Redis::start();
    redis.at(0).run("failed").shows(expect![[""]]);
    redis.at(0).run("failed -o json").shows(expect![[r#"
        {
          "kind": "failed",
          "v": 1,
          "total": 0,
          "offset": 0,
          "items": []
        }
    "#]]);
}

#[test]
fn raw_is_the_reply_of_the_core() {
    let redis = fails();
    let told = redis.at(200).run("api failed").stdout();
    assert_eq!(redis.at(200).run("failed -o raw").stdout(), told);
    let told = redis.at(200).run("api failed 'upload error' 1 1").stdout();
    assert_eq!(
        redis
            .at(200)
            .run("failed --group 'upload error' --offset 1 --limit 1 -o raw")
            .stdout(),
        told
    );
    redis.at(200).run("failed --queue mail -o raw").exits(2);
}

#[test]
fn groups_take_three_round_trips_and_few_calls() {
    let redis = fails();
    redis.send(&["CONFIG", "RESETSTAT"]);
    redis.at(200).run("failed -o json").ok();
    assert_eq!(redis.scripts_run(), 1 + 2 + 1);
}
