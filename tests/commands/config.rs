//! `qless config`

use expect_test::expect;

use crate::house::redis::Redis;

fn configured() -> Redis {
    let redis = Redis::start();
    for line in [
        "heartbeat 90",
        "mail-heartbeat 300",
        "images-max-concurrency 3",
        "odd 'a b'",
    ] {
        redis.at(0).run(&format!("api config.set {line}")).ok();
    }
    redis
}

#[test]
fn options_are_listed_with_default_and_meaning() {
    configured()
        .at(0)
        .run("config list --headers always")
        .shows(expect![[r#"
            KEY	VALUE	DEFAULT	MEANING
            grace-period	10	10	seconds a worker may still settle a job whose lock ran out
            heartbeat	90	60	seconds a lock lasts between heartbeats
            images-max-concurrency	3	–	most jobs running at once in images
            jobs-history	604800	604800	seconds completed jobs are kept (7d)
            jobs-history-count	50000	50000	most completed jobs kept
            mail-heartbeat	300	–	the same for queue mail
            max-job-history	100	100	most history entries kept of a job
            max-worker-age	86400	86400	seconds after which a silent worker is forgotten
            odd	a b	–	unknown to the core
        "#]]);
}

#[test]
fn all_includes_what_nothing_reads() {
    let redis = configured();
    let keys = redis.at(0).run("config list --all --columns key").ok();
    assert!(keys.lines().any(|key| key == "application"), "{keys}");
    assert!(
        !redis
            .at(0)
            .run("config list --columns key")
            .ok()
            .contains("application")
    );
}

#[test]
fn one_option_is_printed_bare() {
    let redis = configured();
    assert_eq!(redis.at(0).run("config get heartbeat").stdout(), "90\n");
    assert_eq!(redis.at(0).run("config get grace-period").stdout(), "10\n");
    assert_eq!(
        redis.at(0).run("config get max-job-history").stdout(),
        "100\n"
    );
    assert_eq!(redis.at(0).run("config get odd").stdout(), "a b\n");
    redis
        .at(0)
        .run("config get mail-heartbeat -o json")
        .shows(expect![[r#"
            {
              "kind": "config",
              "v": 1,
              "total": 1,
              "offset": 0,
              "items": [
                {
                  "key": "mail-heartbeat",
                  "value": "300",
                  "default": null,
                  "known": true
                }
              ]
            }
        "#]]);
}

#[test]
fn what_is_not_set_is_not_found() {
    let redis = configured();
    redis
        .at(0)
        .run("config get test-heartbeat")
        .shows(expect![[r#"
            --- stderr
            error: option `test-heartbeat` is not set
            hint: it has no default of its own: see `qless config list`
            --- exit 4
        "#]]);
    redis.at(0).run("config get hartbeat").shows(expect![[r#"
        --- stderr
        error: option `hartbeat` does not exist
        hint: did you mean `heartbeat`?
        --- exit 4
    "#]]);
}

#[test]
fn raw_is_the_reply_of_the_core() {
    let redis = configured();
    let told = redis.at(0).run("api config.get").stdout();
    assert_eq!(redis.at(0).run("config list -o raw").stdout(), told);
    assert_eq!(
        redis.at(0).run("config get grace-period -o raw").stdout(),
        "10\n"
    );
}

#[test]
fn known_options_are_checked() {
    let redis = Redis::start();
    redis
        .at(0)
        .run("config set heartbeat 2m images-max-concurrency 5")
        .shows(expect![[r#""#]]);
    redis.at(0).run("config get heartbeat").shows(expect![[r#"
            120
        "#]]);
    redis
        .at(0)
        .run("config get images-max-concurrency")
        .shows(expect![[r#"
            5
        "#]]);
    redis
        .at(0)
        .run("config set grace-period 0 jobs-history 1.5 -o json")
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "config set",
              "targets": [
                "grace-period",
                "jobs-history"
              ]
            }
        "#]]);
    redis.at(0).run("config set heartbeat 0").shows(expect![[r#"
            --- stderr
            error: `heartbeat` wants more than no time, not `0`
            --- exit 2
        "#]]);
    redis
        .at(0)
        .run("config set heartbeat soon")
        .shows(expect![[r#"
            --- stderr
            error: `heartbeat` wants seconds, or a duration such as `5m`, not `soon`
            --- exit 2
        "#]]);
    redis
        .at(0)
        .run("config set images-max-concurrency 1.5")
        .shows(expect![[r#"
            --- stderr
            error: `images-max-concurrency` wants a whole number of at least 0, not `1.5`
            --- exit 2
        "#]]);
    redis
        .at(0)
        .run("config set jobs-history -1")
        .shows(expect![[r#"
            --- stderr
            error: `jobs-history` wants seconds, or a duration such as `5m`, not `-1`
            --- exit 2
        "#]]);
    redis.at(0).run("config set heartbeat").exits(2);
    redis
        .at(0)
        .run("config set heartbeat 5 grace-period")
        .shows(expect![[r#"
            --- stderr
            error: `grace-period` has no value
            --- exit 2
        "#]]);
    assert_eq!(redis.at(0).run("config get heartbeat").ok(), "120");
}

#[test]
fn unknown_options_need_force() {
    let redis = Redis::start();
    redis.at(0).run("config set hartbeat 5").shows(expect![[r#"
            --- stderr
            error: option `hartbeat` does not exist
            hint: did you mean `heartbeat`?
            --- exit 4
        "#]]);
    redis
        .at(0)
        .run("config set heartbeat-mail 5")
        .shows(expect![[r#"
            --- stderr
            error: option `heartbeat-mail` does not exist
            hint: the queue comes first: `mail-heartbeat`
            --- exit 4
        "#]]);
    redis
        .at(0)
        .run("config set max-concurrency-mail 5")
        .shows(expect![[r#"
            --- stderr
            error: option `max-concurrency-mail` does not exist
            hint: the queue comes first: `mail-max-concurrency`
            --- exit 4
        "#]]);
    redis.at(0).run("config set zebra 5").shows(expect![[r#"
            --- stderr
            error: option `zebra` does not exist
            hint: `--force` sets it nevertheless
            --- exit 4
        "#]]);
    redis.at(0).run("config set heartbeat 5 zebra 5").exits(4);
    assert_eq!(redis.at(0).run("config get heartbeat").ok(), "60");
    redis.at(0).run("config set zebra stripes --force").ok();
    assert_eq!(redis.at(0).run("config get zebra").ok(), "stripes");
    redis
        .at(0)
        .run("config set zebra 5 -n --force")
        .shows(expect![[r#"
            --- stderr
            would set zebra to 5
        "#]]);
}

#[test]
fn an_option_gets_its_default_back() {
    let redis = configured();
    redis.at(0).run("config unset heartbeat").shows(expect![[r#"
            --- stderr
            error: cannot ask whether to unset `heartbeat`; nothing was changed
            hint: add `--yes`
            --- exit 9
        "#]]);
    redis
        .at(0)
        .run("config unset heartbeat -n")
        .shows(expect![[r#"
            --- stderr
            would unset `heartbeat`
        "#]]);
    redis
        .at(0)
        .run("config unset heartbeat odd --yes -o json")
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "config unset",
              "targets": [
                "heartbeat",
                "odd"
              ]
            }
        "#]]);
    assert_eq!(redis.at(0).run("config get heartbeat").ok(), "60");
    redis.at(0).run("config unset odd --yes").shows(expect![[r#"
            --- stderr
            error: option `odd` does not exist
            --- exit 4
        "#]]);
    redis.at(0).run("config unset grace-period --yes").ok();
}
