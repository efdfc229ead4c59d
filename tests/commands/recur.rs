//! `qless recur`

use expect_test::expect;

use crate::house::redis::Redis;

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
fn one_template_is_one_document() {
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
fn raw_is_the_reply_of_the_core() {
    let redis = templates();
    let told = redis.at(100).run("api recur.get warm").stdout();
    assert_eq!(redis.at(100).run("recur get warm -o raw").stdout(), told);
    redis.at(100).run("recur list -o raw").exits(2);
}
