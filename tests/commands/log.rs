//! `qless log`

use expect_test::expect;

use crate::support::redis::Redis;

#[test]
fn log_appends_an_entry_to_the_history() {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid a").ok();
    redis
        .at(2)
        .args([
            "log",
            "a",
            "disk swapped",
            "--data",
            r#"{"rack":9007199254740993,"l":[]}"#,
        ])
        .shows(expect![[r#""#]]);
    redis.at(3).run("log a again -o json").shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "log",
              "targets": [
                "a"
              ]
            }
        "#]]);
    let job = redis.at(4).run("get a -o json").ok();
    let start = job.find("\"history\"").unwrap();
    expect![[r#"
        "history": [
            {
              "what": "put",
              "when": "1970-01-01T00:00:01.000Z",
              "queue": "mail"
            },
            {
              "what": "disk swapped",
              "when": "1970-01-01T00:00:02.000Z",
              "rack": 9007199254740993,
              "l": []
            },
            {
              "what": "again",
              "when": "1970-01-01T00:00:03.000Z"
            }
          ]
        }"#]]
    .assert_eq(&job[start..]);
}

#[test]
fn entries_reserved_for_the_core_are_refused() {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid a").ok();
    redis.at(2).run("log a popped").shows(expect![[r#"
        --- stderr
        error: `MESSAGE` cannot be `popped`: the core writes that itself
        --- exit 2
    "#]]);
    redis.at(2).run("log a ''").shows(expect![[r#"
        --- stderr
        error: `MESSAGE` is empty
        --- exit 2
    "#]]);
    redis.at(2).run("log a x --data '[1]'").shows(expect![[r#"
        --- stderr
        error: `--data` expects a JSON object
        hint: name the value: `--data '{"value":7}'`
        --- exit 2
    "#]]);
    redis.at(2).run("log a x --data '{'").exits(2);
    redis.at(2).run("log nope x").shows(expect![[r#"
        --- stderr
        error: job `nope` does not exist
        --- exit 4
    "#]]);
    redis.at(2).run("log a x -n").shows(expect![[r#"
        --- stderr
        would append to the history of a
    "#]]);
}
