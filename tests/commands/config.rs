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
