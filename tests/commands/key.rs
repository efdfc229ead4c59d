//! `qless key`, lanes in `get` and `explain`, and the selector `--key`.

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::text::Shows;

/// Three jobs of customer 7, one of customer 8, and one of all queues.
fn lanes() -> Redis {
    let redis = Redis::start();
    for (now, line) in [
        (10, "put orders Sync --jid a --key customer-7"),
        (11, "put orders Sync --jid b --key customer-7"),
        (12, "put orders Sync --jid c --key customer-7 --hold"),
        (13, "put orders Sync --jid d --key customer-8"),
        (14, "put mail Send --jid e --key /customer-7"),
    ] {
        redis.ok(now, line);
    }
    redis
}

#[test]
fn the_jobs_of_a_lane_are_listed_in_order() {
    let redis = lanes();
    redis.session(expect![[r#"
        20 $ qless key orders customer-7
        a	Sync	waiting	orders	0	5/5	1970-01-01T00:00:10.000Z	waits since 1970-01-01T00:00:10.000Z
        b	Sync	depends	orders	0	5/5	1970-01-01T00:00:11.000Z	on 1 job
        c	Sync	depends	orders	0	5/5	1970-01-01T00:00:12.000Z	on 1 job
        20 $ qless key orders customer-7 -o jid
        a
        b
        c
        20 $ qless key orders customer-7 -o raw
        {"key":"orders\/customer-7","jobs":[{"jid":"a","state":"waiting","queue":"orders"},{"jid":"b","state":"depends","queue":"orders"},{"jid":"c","state":"depends","queue":"orders"}]}
        20 $ qless key anything /customer-7 -o jid
        e
    "#]]);
    redis
        .on_terminal(20.0, "key orders nobody")
        .shows(expect![[r#"
        lane orders/nobody has no jobs
    "#]]);
}

#[test]
fn a_job_shows_its_lane() {
    let redis = lanes();
    redis.on_terminal(20.0, "get c").shows(expect![[r#"
        jid         c
        klass       Sync
        queue       orders
        state       depends              on 1 job
        blocked     2 jobs come before it in lane orders/customer-7: b (orders, depends)
        priority    0                    higher runs first
        retries     5 of 5 remaining
        tags        –
        tracked     no
        depends on  b (depends)
        needed by   –
        lane        orders/customer-7    blocked if the job fails
        data        {}

        history (1)
          1970-01-01 00:00:12  put  in orders
        hint: qless key orders customer-7
    "#]]);
    let job = redis.json(20, "get c -o json");
    assert_eq!(
        (&job["key"], &job["hold"]),
        (&"orders/customer-7".into(), &true.into())
    );
    let columns = redis.ok(20, "jobs --columns jid,lane");
    assert!(columns.contains("a\torders/customer-7"), "{columns}");
    assert!(columns.contains("e\t/customer-7"), "{columns}");
}

#[test]
fn a_failed_job_that_left_its_lane_has_no_job_before_it() {
    let redis = Redis::start();
    redis.ok(10, "put a K --jid x1 --key k");
    redis.ok(11, "put a K --jid x2 --key k");
    redis.ok(12, "pop a");
    redis.ok(13, "fail x1 --group g --message m");
    let explain = redis.json(20, "explain x1 -o json");
    let reasons = explain["reasons"].as_array().unwrap();
    let codes: Vec<&serde_json::Value> = reasons.iter().map(|reason| &reason["code"]).collect();
    assert_eq!(codes, ["failed"]);
}

#[test]
fn explain_names_the_job_before_it_in_its_lane() {
    let redis = lanes();
    redis.on_terminal(20.0, "explain c").shows(expect![[r#"
        Sync in orders depends on other jobs and cannot run now

          ✗ 2 jobs come before it in lane orders/customer-7  b (orders, depends)
              qless key orders customer-7
          ✗ 1 job must be complete first  a (orders, waiting)
              qless explain a
    "#]]);
    redis.at(20).run("explain b -o json").shows(expect![[r#"
        {
          "kind": "explain",
          "v": 1,
          "jid": "b",
          "klass": "Sync",
          "queue": "orders",
          "state": "depends",
          "recurring": false,
          "runnable": false,
          "next_jid": "a",
          "last_pop": null,
          "oldest_wait_s": 10,
          "reasons": [
            {
              "code": "ordered",
              "blocking": true,
              "evidence": {
                "lane": "orders/customer-7",
                "jobs": 1,
                "roots": [
                  {
                    "jid": "a",
                    "klass": "Sync",
                    "queue": "orders",
                    "state": "waiting"
                  }
                ]
              },
              "fix": [
                "qless",
                "key",
                "orders",
                "customer-7"
              ]
            },
            {
              "code": "depends",
              "blocking": true,
              "evidence": {
                "jobs": 1,
                "roots": [
                  {
                    "jid": "a",
                    "klass": "Sync",
                    "queue": "orders",
                    "state": "waiting"
                  }
                ]
              },
              "fix": [
                "qless",
                "explain",
                "a"
              ]
            }
          ]
        }
    "#]]);
}

#[test]
fn jobs_are_selected_by_key() {
    let redis = lanes();
    let found = |line: &str| {
        let line = format!("jobs {line} -o jid");
        redis.ok(30, &line).replace('\n', " ")
    };
    assert_eq!(found("--key customer-7"), "a b c");
    assert_eq!(found("--key /customer-7"), "e");
    assert_eq!(found("--key orders/customer-7"), "a b c");
    assert_eq!(found("--key customer-7 --key customer-8"), "a b c d");
    assert_eq!(found("--key customer-7 --state waiting"), "a");
    assert_eq!(found("--key customer-7 --queue mail"), "");
    redis.ok(21, "move b --to later");
    assert_eq!(found("--key customer-7 --queue later"), "b");
    redis.ok(22, "pop orders --worker w");
    redis.ok(23, "fail a --as-holder --group g --message m");
    assert_eq!(found("--key customer-7"), "b c");
    assert_eq!(found("--key customer-7 --state failed"), "a");
    redis.ok(24, "cancel --key customer-7 --yes");
    assert_eq!(found("--key customer-7"), "");
    let mut rest: Vec<String> = found("--all").split(' ').map(str::to_owned).collect();
    rest.sort();
    assert_eq!(rest, ["a", "d", "e"]);
}

#[test]
fn a_lane_of_a_queue_that_does_not_exist_is_not_found() {
    lanes()
        .at(20)
        .run("key ordesr customer-7")
        .shows(expect![[r#"
            --- stderr
            error: queue `ordesr` does not exist
            hint: did you mean `orders`?
            --- exit 4
        "#]]);
}

#[test]
fn explain_says_that_the_job_before_it_has_lost_its_lock() {
    let redis = lanes();
    redis.ok(20, "pop orders --worker w");
    let explained = redis.json(200, "explain b -o json");
    for reason in explained["reasons"].as_array().unwrap() {
        assert_eq!(reason["evidence"]["roots"][0]["jid"], "a");
        assert_eq!(
            reason["evidence"]["roots"][0]["state"], "stalled",
            "{reason}"
        );
    }
}
