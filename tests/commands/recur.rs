//! `qless recur`

use expect_test::expect;

use crate::support::redis::Redis;

fn templates() -> Redis {
    let redis = Redis::start();
    let api = |now: f64, line: &str| redis.at(now).run(&format!("api {line}")).ok();
    api(0.0, "recur web warm Warm {} interval 300 60");
    api(
        0.0,
        r#"recur reports nightly Nightly '{"n":1.10}' interval 86400 11620 tags '["a"]' backlog 1 priority 5"#,
    );
    redis
}

#[test]
fn templates_are_listed_by_queue() {
    let redis = templates();
    redis
        .at(100)
        .run("recur list --headers always --time-format relative")
        .shows(expect![[r#"
            JID	QUEUE	KLASS	EVERY	NEXT	SPAWNED	BACKLOG
            nightly	reports	Nightly	1d	in 3h 12m	0	1
            warm	web	Warm	5m	due 40s ago	0	0
        "#]]);
    redis
        .at(100)
        .run("recur list reports -o json")
        .shows(expect![[r#"
            {
              "kind": "recurring-jobs",
              "v": 1,
              "total": 1,
              "offset": 0,
              "items": [
                {
                  "jid": "nightly",
                  "klass": "Nightly",
                  "queue": "reports",
                  "every_s": 86400,
                  "next": "1970-01-01T03:13:40.000Z",
                  "backlog": 1,
                  "count": 0,
                  "priority": 5,
                  "retries": 0,
                  "tags": [
                    "a"
                  ],
                  "data": {"n":1.10}
                }
              ]
            }
        "#]]);
    redis.at(100).run("recur list -o jid").shows(expect![[r#"
        nightly
        warm
    "#]]);
    redis.at(100).run("recur list reprts").shows(expect![[r#"
        --- stderr
        error: queue `reprts` does not exist
        hint: did you mean `reports`?
        --- exit 4
    "#]]);
}

#[test]
fn recur_show_prints_one_document() {
    let redis = templates();
    redis
        .at(100)
        .run("recur get nightly -o json")
        .shows(expect![[r#"
            {
              "kind": "recurring",
              "v": 1,
              "jid": "nightly",
              "klass": "Nightly",
              "queue": "reports",
              "every_s": 86400,
              "next": "1970-01-01T03:13:40.000Z",
              "backlog": 1,
              "count": 0,
              "priority": 5,
              "retries": 0,
              "tags": [
                "a"
              ],
              "data": {"n":1.10}
            }
        "#]]);
    redis.at(100).run("recur get nightly").shows(expect![[r#"
        jid	nightly
        klass	Nightly
        queue	reports
        state	recurring
        every	1d
        next	1970-01-01T03:13:40.000Z
        spawned	0
        backlog	1
        priority	5	higher runs first
        retries	0
        tags	a
        data	{"n":1.10}
    "#]]);
    let list = redis.at(100).run("recur get nightly warm -o json").json();
    assert_eq!(
        (list["kind"].as_str(), list["total"].as_u64()),
        (Some("recurring-jobs"), Some(2))
    );
}

#[test]
fn an_unknown_template_is_not_found() {
    let redis = templates();
    redis.at(100).run("recur get nope").shows(expect![[r#"
        --- stderr
        error: recurring job `nope` does not exist
        --- exit 4
    "#]]);
    redis
        .at(100)
        .run("recur get warm nope also -o jid")
        .shows(expect![[r#"
            warm
            --- stderr
            error: recurring jobs do not exist: `nope`, `also`
            --- exit 4
        "#]]);
}

#[test]
fn raw_prints_the_reply_of_recur() {
    let redis = templates();
    let printed = redis.at(100).run("api recur.get warm").stdout();
    assert_eq!(redis.at(100).run("recur get warm -o raw").stdout(), printed);
    redis.at(100).run("recur list -o raw").exits(2);
}

#[test]
fn a_template_is_put() {
    let redis = Redis::start();
    let line =
        "recur put reports Nightly --every 1d --at 03:00 --jid nightly --tag a --arg n:=1.10";
    redis.at(100).run(line).shows(expect![[r#"
        nightly
    "#]]);
    redis
        .at(100)
        .run("recur get nightly -o json")
        .shows(expect![[r#"
            {
              "kind": "recurring",
              "v": 1,
              "jid": "nightly",
              "klass": "Nightly",
              "queue": "reports",
              "every_s": 86400,
              "next": "1970-01-01T03:00:00.000Z",
              "backlog": 0,
              "count": 0,
              "priority": 0,
              "retries": 5,
              "tags": [
                "a"
              ],
              "data": {"n":1.10}
            }
        "#]]);
    redis.at(100).run(line).shows(expect![[r#"
        --- stderr
        error: cannot put `nightly`: a recurring job of this id exists already
        hint: `--if-absent` leaves it as it is, `--replace` replaces it
        --- exit 5
    "#]]);
    redis
        .at(100)
        .run(&format!("{line} --if-absent -o json"))
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "recur put",
              "targets": [
                "nightly"
              ]
            }
        "#]]);
    redis
        .at(100)
        .run(&format!("{line} --replace --offset 5m"))
        .exits(2);
    redis
        .at(100)
        .run("recur put web Warm --every 5m --offset 60 --jid nightly --replace --backlog 2")
        .shows(expect![[r#"
            nightly
        "#]]);
    redis.at(100).run("recur list").shows(expect![[r#"
        nightly	web	Warm	5m	1970-01-01T00:02:40.000Z	0	2
    "#]]);
    let fresh = redis.at(100).run("recur put web Warm --every 90").ok();
    assert_eq!(fresh.len(), 32);
    redis
        .at(100)
        .run("recur put web Warm --every 5m -n")
        .shows(expect![[r#"
            --- stderr
            would put a recurring job in web, every 5m
        "#]]);
}

#[test]
fn an_invalid_template_is_refused() {
    let redis = Redis::start();
    redis.at(0).run("recur put web Warm").shows(expect![[r#"
            --- stderr
            error: `--every` is missing
            hint: usage: `qless recur put --every <D> <QUEUE> <KLASS> [DATA]`
            --- exit 2
        "#]]);
    redis
        .at(0)
        .run("recur put web Warm --every 0")
        .shows(expect![[r#"
            --- stderr
            error: `--every` expects at least 1ms, not `0`
            --- exit 2
        "#]]);
    redis.at(0).run("recur put web Warm --every -5").exits(2);
    redis
        .at(0)
        .run("recur put web Warm --every 5m '{'")
        .exits(2);
    redis.at(0).run("recur put '' Warm --every 5m").exits(2);
    redis
        .at(0)
        .run("recur put web Warm --every 5m --jid a-history")
        .exits(2);
    assert_eq!(redis.at(0).run("recur list").ok(), "");
}

#[test]
fn a_template_is_changed() {
    let redis = templates();
    redis
        .at(100)
        .run("recur set nightly --every 12h --priority -5 --queue late --klass N --retries 1")
        .shows(expect![[r#""#]]);
    redis
        .at(100)
        .run("recur set nightly --backlog 3 --data '[1]' -o json")
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "recur set",
              "targets": [
                "nightly"
              ]
            }
        "#]]);
    redis
        .at(100)
        .run("recur get nightly -o json")
        .shows(expect![[r#"
            {
              "kind": "recurring",
              "v": 1,
              "jid": "nightly",
              "klass": "N",
              "queue": "late",
              "every_s": 43200,
              "next": "1969-12-31T15:13:40.000Z",
              "backlog": 3,
              "count": 0,
              "priority": -5,
              "retries": 1,
              "tags": [
                "a"
              ],
              "data": [1]
            }
        "#]]);
    redis.at(100).run("recur set nightly").shows(expect![[r#"
        --- stderr
        error: no change is given
        hint: `qless recur set --help` lists what can be changed
        --- exit 2
    "#]]);
    redis
        .at(100)
        .run("recur set nope --priority 1")
        .shows(expect![[r#"
            --- stderr
            error: recurring job `nope` does not exist
            --- exit 4
        "#]]);
    redis.at(100).run("recur set nightly --every 0").exits(2);
    redis
        .at(100)
        .run("recur set nightly --priority 9 -n")
        .shows(expect![[r#"
            --- stderr
            would change nightly
        "#]]);
}

#[test]
fn a_template_is_tagged() {
    let redis = templates();
    redis
        .at(100)
        .run("recur tag nightly --add b --remove a")
        .shows(expect![[r#"
            nightly	b
        "#]]);
    redis
        .at(100)
        .run("recur tag nightly --add c -o raw")
        .shows(expect![[r#"
            ["b","c"]
        "#]]);
    redis.at(100).run("recur tag nightly").exits(2);
    redis
        .at(100)
        .run("recur tag nope --add c")
        .shows(expect![[r#"
            --- stderr
            error: recurring job `nope` does not exist
            --- exit 4
        "#]]);
}

#[test]
fn recur_run_puts_a_copy_immediately() {
    let redis = templates();
    let jid = redis.at(100).run("recur run nightly").ok();
    let job = redis.at(101).run(&format!("get {jid} -o json")).json();
    assert_eq!(job["queue"], "reports");
    assert_eq!(job["klass"], "Nightly");
    assert_eq!(job["spawned_from"], "nightly");
    assert_eq!(job["priority"], 5);
    assert_eq!(job["tags"], serde_json::json!(["a"]));
    assert_eq!(
        redis.at(101).run(&format!("get {jid} --data")).ok(),
        r#"{"n":1.10}"#
    );
    redis.at(101).run("recur run nope").shows(expect![[r#"
        --- stderr
        error: recurring job `nope` does not exist
        --- exit 4
    "#]]);
    redis.at(101).run("recur run nightly -n").exits(0);
    assert_eq!(redis.at(101).run("jobs --queue reports -o jid").ok(), jid);
}

#[test]
fn templates_are_removed() {
    let redis = templates();
    redis
        .at(100)
        .run("recur rm nightly warm")
        .shows(expect![[r#"
            --- stderr
            error: cannot ask whether to remove 2 recurring jobs; nothing was changed
            hint: add `--yes`
            --- exit 9
        "#]]);
    redis
        .at(100)
        .run("recur rm nightly nope --yes")
        .shows(expect![[r#"
            --- stderr
            error: recurring job `nope` does not exist
            --- exit 4
        "#]]);
    redis.at(100).run("recur rm nightly -n").shows(expect![[r#"
            --- stderr
            would remove nightly
        "#]]);
    redis
        .at(100)
        .run("recur rm nightly -o json")
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "recur rm",
              "targets": [
                "nightly"
              ]
            }
        "#]]);
    redis.at(100).run("recur rm nightly").exits(4);
    redis.at(100).run("recur rm warm").shows(expect![[r#""#]]);
    assert_eq!(redis.at(101).run("recur list").ok(), "");
}
