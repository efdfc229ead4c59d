//! `qless throttle`, and how `queues`, `jobs`, `explain` and `status` show throttled jobs.

use expect_test::{Expect, expect};

use crate::support::redis::Redis;
use crate::support::terminal;
use crate::support::text::words;

/// Runs a command on a terminal of 100 columns, and compares all that it writes.
#[track_caller]
fn on_terminal(redis: &Redis, now: f64, line: &str, expected: Expect) {
    let mut command = redis.at(now).command();
    command
        .args(words(line))
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .env("QLESS_PAGER", "cat");
    expected.assert_eq(&terminal::run(command, 100).stdout());
}

/// `a` runs with the only slot of `api`; `b` and `c` wait for it.
fn full() -> Redis {
    let redis = Redis::start();
    redis.at(10).run("throttle set api 1").ok();
    for (now, jid) in [(10, "a"), (11, "b"), (12, "c")] {
        let line = format!("put mail Call --jid {jid} --throttle api");
        redis.at(now).run(&line).ok();
        if jid == "a" {
            redis.at(now).run("pop mail --worker w").ok();
        }
    }
    redis
}

#[test]
fn a_maximum_is_set_shown_and_removed() {
    let redis = Redis::start();
    redis.at(10).run("throttle set api 10").shows(expect![[""]]);
    redis
        .at(10)
        .run("throttle set db 3 -o json")
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "throttle set",
              "targets": [
                "db"
              ]
            }
        "#]]);
    redis
        .at(10)
        .run("throttle list --headers always")
        .shows(expect![[r#"
        THROTTLE	MAXIMUM	LOCKS	PENDING	EXPIRES
        api	10	0	0	–
        db	3	0	0	–
    "#]]);
    let shown = redis.at(10).run("throttle show api -o json").json();
    let by = shown["changed_by"].as_str().unwrap();
    redis
        .at(10)
        .hide(by, "BY")
        .run("throttle show api -o json")
        .shows(expect![[r#"
        {
          "kind": "throttle",
          "v": 1,
          "id": "api",
          "maximum": 10,
          "defined": true,
          "ttl_s": null,
          "locks": 0,
          "pending": 0,
          "changed": "1970-01-01T00:00:10.000Z",
          "changed_by": "BY",
          "holders": [],
          "waiting": []
        }
    "#]]);
    redis
        .at(10)
        .run("throttle show api -o raw")
        .shows(expect![[r#"
        {"id":"api","maximum":10,"ttl":-1}
    "#]]);
    redis
        .at(10)
        .run("throttle rm api db --yes")
        .shows(expect![[""]]);
    redis.at(10).run("throttle list").shows(expect![[""]]);
    redis.at(10).run("throttle rm api --yes").shows(expect![[r#"
        --- stderr
        error: the maximum of throttle `api` does not exist
        hint: nothing is stored under the prefix `ql:` in `unix://DIR/s`
        --- exit 4
    "#]]);
}

#[test]
fn a_dry_run_changes_no_throttle() {
    let redis = full();
    let before = redis.dump();
    for line in [
        "throttle set api 7 --dry-run",
        "throttle rm api --dry-run",
        "throttle release api b --dry-run",
        "put mail Call --throttle api=7 --dry-run",
    ] {
        redis.at(20).run(line).ok();
    }
    assert!(redis.dump() == before);
}

#[test]
fn wrong_words_are_refused() {
    let redis = Redis::start();
    for (line, expected) in [
        (
            "throttle set api ten",
            expect![[r#"
            --- stderr
            error: `MAX` expects a whole number between -9007199254740992 and 9007199254740992, not `ten`
            --- exit 2
        "#]],
        ),
        (
            "throttle set api 1.5",
            expect![[r#"
            --- stderr
            error: `MAX` expects a whole number between -9007199254740992 and 9007199254740992, not `1.5`
            --- exit 2
        "#]],
        ),
        (
            "throttle set api 1 --ttl 0",
            expect![[r#"
            --- stderr
            error: `--ttl` expects a duration of more than 0, not `0`
            --- exit 2
        "#]],
        ),
        (
            "throttle release api",
            expect![[r#"
            --- stderr
            error: `JID` is missing
            hint: usage: `qless throttle release <ID> <JID>...`
            --- exit 2
        "#]],
        ),
        (
            "put q K --throttle api=ten",
            expect![[r#"
            --- stderr
            error: `--throttle` expects `ID` or `ID=MAX`, where MAX is a number (`a=b=` is the id `a=b`), not `api=ten`
            --- exit 2
        "#]],
        ),
        (
            "put q K --throttle =10",
            expect![[r#"
            --- stderr
            error: `--throttle` is empty
            --- exit 2
        "#]],
        ),
        (
            "put q K --throttle api=1 --throttle api=2",
            expect![[r#"
            --- stderr
            error: `--throttle` gives `api` two maxima
            --- exit 2
        "#]],
        ),
    ] {
        redis.at(10).run(line).exits(2).shows(expected);
    }
    redis.at(10).run("throttle release api nobody").exits(4);
    assert!(redis.dump().is_empty());
}

#[test]
fn a_maximum_that_is_no_number_of_jobs_says_what_it_means() {
    let redis = Redis::start();
    for (maximum, meaning) in [
        ("0", "0 (no limit)"),
        ("-1", "-1 (no job runs)"),
        ("7", "7"),
    ] {
        let ran = redis.at(10).run(&format!("throttle set api {maximum} -n"));
        let expected = format!("\nwould set the maximum of throttle api to {meaning}\n");
        assert!(ran.exits(0).stderr().ends_with(&expected));
    }
    let help = redis.at(10).run("throttle set --help").ok();
    assert!(help.contains("0 removes the limit. A negative number lets no job run."));
}

#[test]
fn a_job_without_a_free_slot_is_throttled() {
    let redis = full();
    redis.at(20).run("throttle list -o json").shows(expect![[r#"
        {
          "kind": "throttles",
          "v": 1,
          "total": 1,
          "offset": 0,
          "items": [
            {
              "id": "api",
              "maximum": 1,
              "defined": true,
              "ttl_s": null,
              "locks": 1,
              "pending": 2
            }
          ]
        }
    "#]]);
    // The name of the operator differs.
    redis.send(&["HDEL", "ql:th:api", "changed", "by"]);
    on_terminal(
        &redis,
        20.0,
        "throttle show api",
        expect![[r#"
        throttle  api
        maximum   1
        locks     1
                  a    mail, running
        pending   2
                  b    mail, throttled
                  c    mail, throttled
    "#]],
    );
    on_terminal(
        &redis,
        20.0,
        "queues",
        expect![[r#"
        QUEUE  WAITING  RUNNING  STALLED  SCHEDULED  DEPENDS  THROTTLED  RECURRING  NEXT WAITS  STATE
        mail         0        1        0          0        0          2          0  –
    "#]],
    );
    on_terminal(
        &redis,
        20.0,
        "jobs --state throttled",
        expect![[r#"
        JID  KLASS  STATE      QUEUE  PRI  REMAINING  AGE  DETAIL
        b    Call   throttled  mail     0        5/5  9s   needs api
        c    Call   throttled  mail     0        5/5  8s   needs api
    "#]],
    );
    on_terminal(
        &redis,
        20.0,
        "explain c",
        expect![[r#"
            Call in mail is throttled and cannot run now

              ✗ throttle api has no free slot  1 of 1 taken, 2 jobs wait for it, a (mail, running on w)
                  qless throttle show api
              ✓ newest held lock was granted  10s ago
        "#]],
    );
    on_terminal(
        &redis,
        20.0,
        "explain --queue mail",
        expect![[r#"
            no job can be popped from mail now
            1 running, 2 throttled, the oldest wait is 9s

              ✗ throttle api has no free slot  1 of 1 taken, 2 jobs wait for it, a (mail, running on w)
                  qless throttle show api
              ✓ newest held lock was granted  10s ago
        "#]],
    );
    on_terminal(
        &redis,
        20.0,
        "get c",
        expect![[r#"
            jid         c
            klass       Call
            queue       mail
            state       throttled    needs api
            blocked     throttle api has no free slot: 1 of 1 taken, 2 jobs wait for it, a (mail, running on w)
            priority    0            higher runs first
            retries     5 of 5 remaining
            tags        –
            tracked     no
            depends on  –
            needed by   –
            throttles   api
            data        {}

            history (2)
              1970-01-01 00:00:12  put        in mail
              1970-01-01 00:00:12  throttled  by api
            hint: qless throttle show api
        "#]],
    );
    let counts = redis.at(20).run("jobs --queue mail --count -o json").json();
    assert_eq!(counts["throttled"], 2);
    let totals = redis.at(20).run("status -o json").json();
    assert_eq!(totals["totals"]["throttled"], 2);
}

#[test]
fn a_queue_is_explained_by_what_its_next_pop_does_with_held_jobs() {
    // A maximum that expired wakes nobody: the next pop looks at the held jobs.
    let redis = full();
    redis.send(&["DEL", "ql:th:api"]);
    on_terminal(
        &redis,
        20.0,
        "explain --queue mail",
        expect![[r#"
            a pop of mail would get b
            1 running, 2 throttled, the oldest wait is 9s

              · 2 jobs wait for throttles; slots are free           qless jobs --queue=mail --state=throttled
              ✓ newest held lock was granted               10s ago
        "#]],
    );
    let before = redis.dump();
    let found = redis.at(20).run("explain --queue mail -o json").json();
    assert_eq!(found["runnable"], true);
    assert!(redis.dump() == before);
    assert_eq!(redis.at(21).run("pop mail --worker w -o jid").ok(), "b");

    // So does a slot of a job that another script ended.
    let redis = full();
    redis.send(&["HSET", "ql:j:a", "state", "complete"]);
    for line in ["explain --queue mail -o json", "explain b -o json"] {
        let found = redis.at(20).run(line).json();
        assert_eq!(found["runnable"], true, "{line}");
    }
    assert_eq!(redis.at(21).run("pop mail --worker w -o jid").ok(), "b");

    // Each throttle is full, or has no job that waits for it: the pop gets nothing.
    let redis = full();
    redis.at(13).run("throttle set db 1").ok();
    redis.at(13).run("put mail Call --jid d --throttle db").ok();
    assert_eq!(redis.at(14).run("pop mail --worker w -o jid").ok(), "d");
    let found = redis.at(20).run("explain --queue mail -o json").json();
    assert_eq!(found["runnable"], false);
    redis.at(21).run("pop mail --worker w -o jid").exits(4);
    // A paused queue gives nothing, whatever is free.
    redis.send(&["DEL", "ql:th:api"]);
    redis.at(22).run("pause mail").ok();
    let found = redis.at(23).run("explain --queue mail -o json").json();
    assert_eq!(found["runnable"], false);
    redis.at(24).run("unpause mail").ok();
    // Nor does a queue whose limit is used up.
    redis.at(24).run("config set mail-max-concurrency 2").ok();
    let found = redis.at(25).run("explain --queue mail -o json").json();
    assert_eq!(found["runnable"], false);
    redis.at(26).run("pop mail --worker w -o jid").exits(4);
}

#[test]
fn a_job_that_is_moved_or_retried_is_throttled_as_a_put_one() {
    let redis = full();
    redis.at(20).run("move b --to slow").ok();
    redis
        .at(21)
        .run("jobs --queue slow --columns jid,state")
        .shows(expect![[r#"
        b	throttled
    "#]]);
    redis.at(22).run("bury c --group G --message M").ok();
    redis.at(23).run("retry c").ok();
    assert_eq!(
        redis.at(24).run("get c -o json").json()["state"],
        "throttled"
    );
    redis.at(25).run("complete a --worker w").ok();
    assert_eq!(redis.at(26).run("pop slow --worker w -o jid").ok(), "b");
}

#[test]
fn queues_without_throttled_jobs_have_no_column_for_them() {
    let redis = Redis::start();
    redis.at(10).run("put mail Call --throttle api").ok();
    let text = redis.at(10).run("queues --headers always").ok();
    assert!(!text.contains("THROTTLED"), "{text}");
    let queues = redis.at(10).run("queues -o json").json();
    assert_eq!(queues["items"][0].get("throttled"), None);
}

#[test]
fn holders_and_waiting_jobs_are_listed_in_order() {
    let redis = full();
    redis
        .at(20)
        .run("throttle locks api -o jid")
        .shows(expect![[r#"
        a
    "#]]);
    redis
        .at(20)
        .run("throttle pending api -o jid")
        .shows(expect![[r#"
        b
        c
    "#]]);
    redis
        .at(20)
        .run("throttle pending api -o raw")
        .shows(expect![[r#"
        ["b","c"]
    "#]]);
    redis
        .at(20)
        .run("throttle locks other -o json")
        .shows(expect![[r#"
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

#[test]
fn a_freed_slot_lets_the_next_job_run() {
    let redis = full();
    redis.at(20).run("complete a --worker w").ok();
    let waiting = redis.at(20).run("jobs --state waiting -o jid").ok();
    assert_eq!(waiting, "b");
    redis.at(20).run("throttle set api 2").ok();
    let waiting = redis.at(20).run("jobs --state waiting -o jid").ok();
    assert_eq!(waiting, "b\nc");
}

#[test]
fn a_released_job_goes_on_without_the_throttle() {
    let redis = full();
    redis
        .at(20)
        .run("throttle release api c -o json")
        .shows(expect![[r#"
        {
          "kind": "done",
          "v": 1,
          "action": "throttle release",
          "targets": [
            "c"
          ]
        }
    "#]]);
    let job = redis.at(20).run("get c -o json").json();
    assert_eq!(
        (&job["state"], job.get("throttles")),
        (&"waiting".into(), None)
    );
    redis.at(20).run("throttle release api a b").exits(9);
    redis.at(20).run("throttle release api a b --yes").ok();
    assert_eq!(redis.at(20).run("throttle locks api -o jid").ok(), "");
}

#[test]
fn a_throttle_shows_who_changed_it_and_when() {
    let redis = Redis::start();
    let shown = |at: u32| redis.at(at).run("throttle show api -o json").ok();
    assert!(!shown(1).contains("changed"));
    redis.at(10).run("throttle set api 3").ok();
    let text = shown(11);
    assert!(
        text.contains(r#""changed": "1970-01-01T00:00:10.000Z","#),
        "{text}"
    );
    assert!(text.contains(r#""changed_by": ""#), "{text}");
    let text = redis.at(12).run("throttle show api").ok();
    assert!(
        text.contains("changed\t1970-01-01T00:00:10.000Z\tby "),
        "{text}"
    );
    // Another client does not say who it is.
    redis.at(20).run("api throttle.set api 4").ok();
    let text = shown(21);
    assert!(
        text.contains("00:00:20") && !text.contains("changed_by"),
        "{text}"
    );
    redis.at(30).run("put q K --throttle db=2").ok();
    assert!(redis.at(31).run("throttle show db").ok().contains("by "));
    redis.at(40).run("check").exits(0);
    redis.at(41).run("throttle rm api --yes").ok();
    assert!(!shown(42).contains("changed"));
}

#[test]
fn only_jobs_that_use_the_throttle_are_released() {
    let redis = full();
    redis.at(13).run("put mail Call --jid plain").ok();
    let before = redis.dump();
    let release = |line: &str| redis.at(20).run(&format!("throttle release {line} --yes"));
    release("nope a").shows(expect![[r#"
        --- stderr
        error: throttle `nope` does not exist
        --- exit 4
    "#]]);
    release("apu b").shows(expect![[r#"
        --- stderr
        error: throttle `apu` does not exist
        hint: did you mean `api`?
        --- exit 4
    "#]]);
    release("api plain").shows(expect![[r#"
        --- stderr
        error: `plain` neither holds a slot of throttle `api` nor waits for one
        --- exit 4
    "#]]);
    release("api nobody").shows(expect![[r#"
        --- stderr
        error: job `nobody` does not exist
        --- exit 4
    "#]]);
    assert!(redis.dump() == before);
    // The others of the list are released.
    release("api plain c nobody").shows(expect![[r#"
        --- stderr
        error: job `nobody` does not exist; `plain` neither holds a slot of throttle `api` nor waits for one
        --- exit 4
    "#]]);
    assert_eq!(redis.at(20).run("throttle pending api -o jid").ok(), "b");
    // The core lists a job that two throttles hold back only for the first of them.
    redis.at(20).run("throttle set db 0").ok();
    redis
        .at(21)
        .run("put mail Call --jid two --throttle api --throttle db")
        .ok();
    release("db two").ok();
    let job = redis.at(22).run("get two -o json").json();
    assert_eq!(job["throttles"], serde_json::json!(["api"]));
    // A slot may outlive its job.
    redis.send(&["ZADD", "ql:th:api-locks", "1", "lost"]);
    release("api lost").ok();
    assert_eq!(redis.at(22).run("throttle locks api -o jid").ok(), "a");
}

#[test]
fn a_throttle_with_a_key_of_a_wrong_type_is_named() {
    let redis = full();
    redis.send(&["SET", "ql:th:bad", "x"]);
    redis.send(&["SET", "ql:th:late-locks", "x"]);
    redis.at(20).run("throttle list --all").shows(expect![[r#"
        api	1	1	2	–
        --- stderr
        error: cannot read throttle `bad`: key `ql:th:bad` has the wrong type; cannot read throttle `late`: key `ql:th:late-locks` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
    redis.at(20).run("throttle list 'a*'").shows(expect![[r#"
        api	1	1	2	–
    "#]]);
    redis
        .at(20)
        .run("throttle list bad late")
        .shows(expect![[r#"
            --- stderr
            error: cannot read throttle `bad`: key `ql:th:bad` has the wrong type; cannot read throttle `late`: key `ql:th:late-locks` has the wrong type
            hint: qless check --only key-type
            --- exit 3
        "#]]);
    redis.send(&["SET", "ql:throttles", "x"]);
    redis.at(20).run("throttle list api").shows(expect![[r#"
        api	1	1	2	–
    "#]]);
    redis
        .at(20)
        .run("throttle list --all api")
        .shows(expect![[r#"
            api	1	1	2	–
        "#]]);
    for id in ["bad", "late"] {
        redis.at(20).run(&format!("throttle show {id}")).exits(3);
    }
    redis.at(20).run("throttle show bad").shows(expect![[r#"
        --- stderr
        error: cannot read throttle `bad`: key `ql:th:bad` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
}

#[test]
fn jobs_are_selected_by_throttle() {
    let redis = full();
    redis.at(13).run("put mail Call --jid d").ok();
    redis
        .at(14)
        .run("put mail Call --jid e --delay 1h --throttle api-2")
        .ok();
    let found = |line: &str| {
        let line = format!("jobs {line} -o jid");
        let mut found: Vec<String> = redis
            .at(20)
            .run(&line)
            .ok()
            .lines()
            .map(str::to_owned)
            .collect();
        found.sort();
        found.join(" ")
    };
    assert_eq!(found("--throttle api"), "a b c");
    assert_eq!(found("--throttle 'api*' --state scheduled,running"), "a e");
    assert_eq!(
        found("--throttle api --queue mail --state throttled"),
        "b c"
    );
    assert_eq!(found("--throttle nothing"), "");
    redis
        .at(20)
        .run("jobs --throttle api --count -o json")
        .shows(expect![[r#"
            {
              "kind": "counts",
              "v": 1,
              "waiting": 0,
              "running": 1,
              "stalled": 0,
              "scheduled": 0,
              "depends": 0,
              "throttled": 2,
              "complete": 0,
              "failed": 0
            }
            --- stderr
            scanning all jobs: `--throttle` has no index
        "#]]);
}

#[test]
fn put_sets_a_maximum_that_differs_first() {
    let redis = Redis::start();
    let line = |id: &str| format!("put mail Call --throttle {id}");
    redis.at(10).run(&line("api=2")).ok();
    let maximum =
        |redis: &Redis| redis.at(10).run("throttle show api -o json").json()["maximum"].clone();
    assert_eq!(maximum(&redis), 2);
    redis.at(10).run(&line("api")).ok();
    assert_eq!(maximum(&redis), 2);
    redis.at(10).run("throttle set api 2 --ttl 1h").ok();
    redis.at(10).run(&line("api=5")).ok();
    assert_eq!(maximum(&redis), 5);
    let throttle = redis.at(10).run("throttle show api -o json").json();
    assert!(throttle["ttl_s"].as_u64().unwrap() > 3000, "{throttle}");
    redis.at(10).run(&line("api=0")).ok();
    assert_eq!(maximum(&redis), 0);
}

#[test]
fn an_id_with_the_ending_of_a_list_is_refused_and_one_of_another_client_is_listed() {
    let redis = Redis::start();
    for line in ["throttle set api-locks 3", "put q K --throttle api-pending"] {
        redis.at(10).run(line).exits(2);
    }
    let line = r#"{"queue":"q","klass":"K","throttles":["api-locks"]}"#;
    redis.at(10).input(line).run("put --from -").exits(2);
    assert!(redis.dump().is_empty());
    redis.at(10).run("api throttle.set other-locks 3").exits(2);
    redis.send(&[
        "HSET",
        "ql:th:other-locks",
        "id",
        "other-locks",
        "maximum",
        "3",
    ]);
    redis.at(10).run("put mail Call --throttle api").ok();
    redis.at(10).run("pop mail --worker w").ok();
    let throttles = redis.at(10).run("throttle list --all").ok();
    assert_eq!(throttles, "api\tno limit\t1\t0\t–\nother-locks\t3\t0\t0\t–");
    let line = "throttle list --all 'other*' -o json";
    let one = redis.at(10).run(line).json();
    assert_eq!(one["items"][0]["id"], "other-locks");
}

#[test]
fn of_many_queues_some_are_not_read_and_the_list_says_so() {
    let redis = full();
    for jid in ["d", "e"] {
        let line = format!("put mail Call --jid {jid} --key k");
        redis.at(13).run(&line).ok();
    }
    let fill =
        "for i = 1, 600 do redis.call('zadd', 'ql:queues', i < 300 and 1 or 99, 'q' .. i) end";
    redis.send(&["EVAL", fill, "0"]);
    redis.at(20).run("throttle list").shows(expect![[r#"
        api	1	1	2	–
        --- stderr
        101 queues not read: `--all` lists what holds a job back there alone
    "#]]);
    redis.at(20).run("throttle list api").shows(expect![[r#"
        api	1	1	2	–
    "#]]);
    redis.at(20).run("throttle list mail/k").shows(expect![[r#"
            --- stderr
            101 queues not read: `--all` lists what holds a job back there alone
        "#]]);
    redis.at(20).run("throttle list --all").shows(expect![[r#"
        api	1	1	2	–
        mail/k	1 (lane)	1	1	–
    "#]]);
}

#[test]
fn the_list_is_one_call_and_lacks_maxima_of_other_clients_until_a_job_waits() {
    let redis = full();
    for id in ["foreign", "other"] {
        redis.send(&["HSET", &format!("ql:th:{id}"), "id", id, "maximum", "-1"]);
    }
    redis.send(&["CONFIG", "RESETSTAT"]);
    redis.at(20).run("throttle list").shows(expect![[r#"
        api	1	1	2	–
    "#]]);
    let calls = format!("{:?}", redis.send(&["INFO", "commandstats"]));
    assert!(!calls.contains("cmdstat_scan:"), "{calls}");
    assert!(calls.contains("cmdstat_evalsha:calls=1,"), "{calls}");
    redis.at(20).run("throttle list foreign").shows(expect![[r#"
            foreign	none may run	0	0	–
        "#]]);
    redis.at(20).run("throttle list --all").shows(expect![[r#"
        api	1	1	2	–
        foreign	none may run	0	0	–
        other	none may run	0	0	–
    "#]]);

    redis
        .at(20)
        .run("put mail Call --jid f --throttle foreign")
        .ok();
    redis.at(20).run("throttle list").shows(expect![[r#"
        api	1	1	2	–
        foreign	none may run	0	1	–
        --- stderr
        another client or an earlier version has set the maximum of throttle `foreign`; others that it has set are missing here, unless a job waits for them: `--all` lists them
    "#]]);
    redis
        .at(20)
        .run("throttle list 'a*' -o json")
        .shows(expect![[r#"
            {
              "kind": "throttles",
              "v": 1,
              "total": 1,
              "offset": 0,
              "items": [
                {
                  "id": "api",
                  "maximum": 1,
                  "defined": true,
                  "ttl_s": null,
                  "locks": 1,
                  "pending": 2
                }
              ]
            }
            --- stderr
            another client or an earlier version has set the maximum of throttle `foreign`; others that it has set are missing here, unless a job waits for them: `--all` lists them
        "#]]);
    redis.at(20).run("throttle list api").shows(expect![[r#"
        api	1	1	2	–
    "#]]);
    redis.at(20).run("throttle list -q").shows(expect![[r#"
        api	1	1	2	–
        foreign	none may run	0	1	–
    "#]]);
    redis.at(20).run("check --repair --yes -q").ok();
    redis.at(20).run("throttle list").shows(expect![[r#"
        api	1	1	2	–
        foreign	none may run	0	1	–
        other	none may run	0	0	–
    "#]]);
}

#[test]
fn a_lane_that_holds_a_job_is_listed_behind_the_throttles() {
    let redis = full();
    for jid in ["x", "y", "z"] {
        let line = format!("put mail Call --jid {jid} --key ann");
        redis.at(20).run(&line).ok();
    }
    on_terminal(
        &redis,
        20.0,
        "throttle list",
        expect![[r#"
        THROTTLE  MAXIMUM   LOCKS  PENDING
        api       1             1        2
        mail/ann  1 (lane)      1        2
    "#]],
    );
    let all = redis.at(20).run("throttle list --all -o json").json();
    assert_eq!(
        all["items"],
        redis.at(20).run("throttle list -o json").json()["items"]
    );
    redis
        .at(20)
        .run("throttle list 'mail/*' -o json")
        .shows(expect![[r#"
            {
              "kind": "throttles",
              "v": 1,
              "total": 1,
              "offset": 0,
              "items": [
                {
                  "id": "mail/ann",
                  "maximum": 1,
                  "defined": false,
                  "ttl_s": null,
                  "locks": 1,
                  "pending": 2,
                  "lane": true
                }
              ]
            }
        "#]]);
    on_terminal(
        &redis,
        20.0,
        "throttle list none",
        expect![[r#"
        no throttles
    "#]],
    );
    on_terminal(
        &redis,
        20.0,
        "throttle list 'none*'",
        expect![[r#"
        no throttles
        hint: read the names of all keys: qless throttle list --all
    "#]],
    );
}

#[test]
fn an_unknown_throttle_of_a_release_is_told_from_one_that_is_not_listed() {
    let redis = full();
    redis.send(&["HSET", "ql:th:foreign", "id", "foreign", "maximum", "2"]);
    redis
        .at(20)
        .run("throttle release foreign b --yes")
        .exits(4)
        .shows(expect![[r#"
            --- stderr
            error: `b` neither holds a slot of throttle `foreign` nor waits for one
            --- exit 4
        "#]]);
    redis
        .at(20)
        .run("throttle release apo b --yes")
        .exits(4)
        .shows(expect![[r#"
            --- stderr
            error: throttle `apo` does not exist
            hint: did you mean `api`?
            --- exit 4
        "#]]);
}

#[test]
fn a_larger_maximum_releases_all_jobs_that_can_run() {
    let redis = Redis::start();
    redis.at(1).run("throttle set s3 -1").ok();
    redis.calls((0..2600).map(|n| {
        let words = words("put me q JID K {} 0 throttles '[\"s3\"]'").into_iter();
        let words = words.map(|word| word.replace("JID", &format!("j{n}")));
        (2.0, words.collect())
    }));
    let state = |state: &str| redis.at(3).run("queues q -o json").json()["items"][0][state].clone();
    redis.at(3).run("pop q").exits(4);
    assert_eq!(state("throttled"), 2600);
    on_terminal(
        &redis,
        4.0,
        "throttle set s3 1500",
        expect![[r#"
        set the maximum of throttle s3 to 1500; 1,500 jobs returned to the queue
    "#]],
    );
    assert_eq!(
        (state("waiting"), state("throttled")),
        (1500.into(), 1100.into())
    );
    on_terminal(
        &redis,
        5.0,
        "throttle set s3 0",
        expect![[r#"
            set the maximum of throttle s3 to 0 (no limit); 1,100 jobs returned to the queue
        "#]],
    );
    assert_eq!(state("waiting"), 2600);
    on_terminal(
        &redis,
        6.0,
        "throttle set s3 0",
        expect![[r#"
            set the maximum of throttle s3 to 0 (no limit)
        "#]],
    );
}

#[test]
fn a_maximum_below_0_may_stand_after_two_dashes() {
    let redis = Redis::start();
    for line in ["throttle set x -1", "throttle set y -- -1"] {
        redis.at(10).run(line).ok();
    }
    redis.at(11).run("throttle list").shows(expect![[r#"
        x	none may run	0	0	–
        y	none may run	0	0	–
    "#]]);
}

#[test]
fn the_end_of_a_maximum_is_a_full_time_for_programs() {
    let redis = Redis::start();
    redis.at(10).run("throttle set api 1 --ttl 1h").ok();
    // The server counts the hour on, so the seconds are not certain.
    let listed = redis.at(10).run("throttle list -o tsv").ok();
    let shown = redis.at(10).run("throttle show api -o tsv").ok();
    for (text, before) in [(listed, "api\t1\t0\t0\t"), (shown, "expires\t")] {
        let time = text.lines().find_map(|line| line.strip_prefix(before));
        let hour = ["1970-01-01T00:59:", "1970-01-01T01:00:"];
        assert!(
            time.is_some_and(
                |time| hour.iter().any(|hour| time.starts_with(hour)) && time.ends_with(".000Z")
            ),
            "{text}"
        );
    }
}

#[test]
fn the_id_of_a_lane_shows_the_lane() {
    let redis = Redis::start();
    for jid in ["a", "b"] {
        redis
            .at(10)
            .run(&format!("put mail K --jid {jid} --key ann"))
            .ok();
    }
    redis
        .at(11)
        .run("throttle show mail/ann")
        .shows(expect![[r#"
            throttle	mail/ann
            maximum	1 (lane)
            locks	1
            holder	a	mail, waiting
            pending	1
            waiting	b	mail, depends
            --- stderr
            note: `mail/ann` is a lane, which runs one job at a time; `qless key` lists its jobs
        "#]]);
    let set = redis.at(11).run("throttle set mail/ann 3").exits(0);
    assert!(
        set.stderr().starts_with("note: `mail/ann` is a lane, "),
        "{}",
        set.stderr()
    );
    // Now it is the id of a throttle, too.
    let shown = redis.at(11).run("throttle show mail/ann -o json").json();
    assert_eq!(shown["maximum"], 3);
}

#[test]
fn a_throttle_that_nothing_uses_is_new_and_names_the_nearest() {
    let redis = full();
    let line = "note: throttle `apii` is new: no job uses it; did you mean `api`?\n";
    for command in ["throttle set apii 3 -n", "throttle set zzz 3 -n"] {
        let said = redis.at(13).run(command).exits(0).stderr();
        assert_eq!(said.contains(line), command.contains("apii"), "{said}");
        assert!(said.contains("is new: no job uses it"), "{said}");
    }
    // A script hears nothing, as of new queues.
    let said = redis.at(13).run("throttle show apii").exits(0).stderr();
    assert_eq!(said, "");
    let mut command = redis.at(13).command();
    command.args(["throttle", "show", "apii"]);
    let said = terminal::run(command, 100).stdout();
    assert!(said.ends_with(line), "{said}");
    assert_eq!(redis.at(13).run("throttle set api 2").stderr(), "");
}
