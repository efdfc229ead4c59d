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

#[test]
fn a_note_does_not_change_since_when_a_job_is_in_its_state() {
    let redis = Redis::start();
    for jid in ["fails", "ends", "runs"] {
        redis.at(1).run(&format!("put mail K --jid {jid}")).ok();
    }
    redis.at(2).run("pop mail --count 3 --worker w").ok();
    redis
        .at(3)
        .run("fail fails --worker w --group g --message m")
        .ok();
    redis.at(3).run("complete ends --worker w").ok();
    redis.at(4).run("put mail K --jid waits").ok();
    redis.at(4).run("put mail K --jid later --delay 1h").ok();
    redis
        .at(4)
        .run("put mail K --jid blocked --depends runs")
        .ok();
    let states = "--state running,failed,scheduled,depends,complete,waiting";
    let old = |now: u32| {
        let line = format!("jobs {states} --older-than 30s -o jid");
        let mut jids: Vec<String> = redis
            .at(now)
            .run(&line)
            .ok()
            .lines()
            .map(str::to_owned)
            .collect();
        jids.sort();
        jids
    };
    let all = old(40);
    assert_eq!(all, ["blocked", "ends", "fails", "later", "runs", "waits"]);
    for jid in &all {
        redis.at(41).run(&format!("log {jid} note")).ok();
        redis.at(41).run(&format!("tag {jid} --add x")).ok();
    }
    assert_eq!(old(42), all);
}

#[test]
fn data_has_no_field_that_an_entry_has_anyway() {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid a").ok();
    redis
        .at(2)
        .args(["log", "a", "note", "--data", r#"{"x":1,"when":5}"#])
        .shows(expect![[r#"
            --- stderr
            error: `--data` cannot have a field `when`: the entry has one of its own
            --- exit 2
        "#]]);
    redis.at(2).run("log a throttled").exits(2);
}
