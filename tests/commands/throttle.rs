//! `qless throttle`, and how `queues`, `jobs`, `explain` and `status` show throttled jobs.

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::terminal;
use crate::support::text::{Shows, words};

/// `a` runs with the only slot of `api`; `b` and `c` wait for it.
fn full() -> Redis {
    let redis = Redis::start();
    redis.ok(10, "throttle set api 1");
    for (now, jid) in [(10, "a"), (11, "b"), (12, "c")] {
        let line = format!("put mail Call --jid {jid} --throttle api");
        redis.ok(now, &line);
        if jid == "a" {
            redis.ok(now, "pop mail --worker w");
        }
    }
    redis
}

#[test]
fn a_full_server_changes_no_maximum() {
    let redis = Redis::start();
    redis.ok(1, "throttle set api 5");
    redis.send(&["CONFIG", "SET", "maxmemory", "1mb"]);
    redis.session(expect![[r#"
        2 $ qless throttle set api 6
        --- stderr
        error: `unix://DIR/s` is out of memory; nothing was changed
        hint: `qless cancel` and a shorter `jobs-history` free some
        --- exit 6
    "#]]);
}

#[test]
fn a_maximum_is_set_shown_and_removed() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless throttle set api 10
        10 $ qless throttle set db 3 -o json | jq -c
        {"kind":"done","v":1,"action":"throttle set","targets":["db"]}
        10 $ qless throttle list --headers always
        THROTTLE	MAXIMUM	LOCKS	PENDING	EXPIRES
        api	10	0	0	–
        db	3	0	0	–
    "#]]);
    let shown = redis.json(10, "throttle show api -o json");
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
    redis.session(expect![[r#"
        10 $ qless throttle show api -o raw
        {"id":"api","maximum":10,"ttl":-1}
        10 $ qless throttle rm api db --yes
        10 $ qless throttle list
        10 $ qless throttle rm api --yes
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
        redis.ok(20, line);
    }
    assert!(redis.dump() == before);
}

#[test]
fn wrong_words_are_refused() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless throttle set api ten
        --- stderr
        error: `MAX` expects a whole number between -9007199254740992 and 9007199254740992, not `ten`
        --- exit 2
        10 $ qless throttle set api 1.5
        --- stderr
        error: `MAX` expects a whole number between -9007199254740992 and 9007199254740992, not `1.5`
        --- exit 2
        10 $ qless throttle set api 1 --ttl 0
        --- stderr
        error: `--ttl` expects a duration of more than 0, not `0`
        --- exit 2
        10 $ qless throttle release api
        --- stderr
        error: `JID` is missing
        hint: usage: `qless throttle release <ID> <JID>...`
        --- exit 2
        10 $ qless put q K --throttle api=ten
        --- stderr
        error: `--throttle` expects `ID` or `ID=MAX`, where MAX is a number (`a=b=` is the id `a=b`), not `api=ten`
        --- exit 2
        10 $ qless put q K --throttle =10
        --- stderr
        error: `--throttle` is empty
        --- exit 2
        10 $ qless put q K --throttle api=1 --throttle api=2
        --- stderr
        error: `--throttle` gives `api` two maxima
        --- exit 2
    "#]]);
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
    let help = redis.ok(10, "throttle set --help");
    assert!(help.contains("0 removes the limit. A negative number lets no job run."));
}

#[test]
fn a_job_without_a_free_slot_is_throttled() {
    let redis = full();
    redis.session(expect![[r#"
        20 $ qless throttle list -o json | jq -c
        {"kind":"throttles","v":1,"total":1,"offset":0,"items":[{"id":"api","maximum":1,"defined":true,"ttl_s":null,"locks":1,"pending":2}]}
    "#]]);
    // The name of the operator differs.
    redis.send(&["HDEL", "ql:th:api", "changed", "by"]);
    redis
        .on_terminal(20.0, "throttle show api")
        .shows(expect![[r#"
        throttle  api
        maximum   1
        locks     1
                  a    mail, running
        pending   2
                  b    mail, throttled
                  c    mail, throttled
    "#]]);
    redis.on_terminal(20.0, "queues").shows(expect![[r#"
        QUEUE  WAITING  RUNNING  STALLED  SCHEDULED  DEPENDS  THROTTLED  RECURRING  NEXT WAITS  STATE
        mail         0        1        0          0        0          2          0  –
    "#]]);
    redis
        .on_terminal(20.0, "jobs --state throttled")
        .shows(expect![[r#"
        JID  KLASS  STATE      QUEUE  PRI  REMAINING  AGE  DETAIL
        b    Call   throttled  mail     0        5/5  9s   needs api
        c    Call   throttled  mail     0        5/5  8s   needs api
    "#]]);
    redis.on_terminal(20.0, "explain c").shows(expect![[r#"
            Call in mail is throttled and cannot run now

              ✗ throttle api has no free slot  1 of 1 taken, 2 jobs wait for it, a (mail, running on w)
                  qless throttle show api
              ✓ newest held lock was granted  10s ago
        "#]]);
    redis.on_terminal(20.0, "explain --queue mail").shows(expect![[r#"
            no job can be popped from mail now
            1 running, 2 throttled, the oldest wait is 9s

              ✗ throttle api has no free slot  1 of 1 taken, 2 jobs wait for it, a (mail, running on w)
                  qless throttle show api
              ✓ newest held lock was granted  10s ago
        "#]]);
    redis.on_terminal(20.0, "get c").shows(expect![[r#"
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
        "#]]);
    let counts = redis.json(20, "jobs --queue mail --count -o json");
    assert_eq!(counts["throttled"], 2);
    let totals = redis.json(20, "status -o json");
    assert_eq!(totals["totals"]["throttled"], 2);
}

#[test]
fn a_queue_is_explained_by_what_its_next_pop_does_with_held_jobs() {
    // A maximum that expired wakes nobody: the next pop looks at the held jobs.
    let redis = full();
    redis.send(&["DEL", "ql:th:api"]);
    redis.on_terminal(20.0, "explain --queue mail").shows(expect![[r#"
            a pop of mail would get b
            1 running, 2 throttled, the oldest wait is 9s

              · 2 jobs wait for throttles; slots are free           qless jobs --queue=mail --state=throttled
              ✓ newest held lock was granted               10s ago
        "#]]);
    let before = redis.dump();
    let found = redis.json(20, "explain --queue mail -o json");
    assert_eq!(found["runnable"], true);
    assert!(redis.dump() == before);
    assert_eq!(redis.ok(21, "pop mail --worker w -o jid"), "b");

    // So does a slot of a job that another script ended.
    let redis = full();
    redis.send(&["HSET", "ql:j:a", "state", "complete"]);
    for line in ["explain --queue mail -o json", "explain b -o json"] {
        let found = redis.json(20, line);
        assert_eq!(found["runnable"], true, "{line}");
    }
    assert_eq!(redis.ok(21, "pop mail --worker w -o jid"), "b");

    // Each throttle is full, or has no job that waits for it: the pop gets nothing.
    let redis = full();
    redis.ok(13, "throttle set db 1");
    redis.ok(13, "put mail Call --jid d --throttle db");
    assert_eq!(redis.ok(14, "pop mail --worker w -o jid"), "d");
    let found = redis.json(20, "explain --queue mail -o json");
    assert_eq!(found["runnable"], false);
    redis.at(21).run("pop mail --worker w -o jid").exits(4);
    // A paused queue gives nothing, whatever is free.
    redis.send(&["DEL", "ql:th:api"]);
    redis.ok(22, "pause mail");
    let found = redis.json(23, "explain --queue mail -o json");
    assert_eq!(found["runnable"], false);
    redis.ok(24, "unpause mail");
    // Nor does a queue whose limit is used up.
    redis.ok(24, "config set mail-max-concurrency 2");
    let found = redis.json(25, "explain --queue mail -o json");
    assert_eq!(found["runnable"], false);
    redis.at(26).run("pop mail --worker w -o jid").exits(4);
}

#[test]
fn a_job_that_is_moved_or_retried_is_throttled_as_a_put_one() {
    let redis = full();
    redis.ok(20, "move b --to slow");
    redis.session(expect![[r#"
        21 $ qless jobs --queue slow --columns jid,state
        b	throttled
    "#]]);
    redis.ok(22, "bury c --group G --message M");
    redis.ok(23, "retry c");
    assert_eq!(redis.json(24, "get c -o json")["state"], "throttled");
    redis.ok(25, "complete a --worker w");
    assert_eq!(redis.ok(26, "pop slow --worker w -o jid"), "b");
}

#[test]
fn queues_without_throttled_jobs_have_no_column_for_them() {
    let redis = Redis::start();
    redis.ok(10, "put mail Call --throttle api");
    let text = redis.ok(10, "queues --headers always");
    assert!(!text.contains("THROTTLED"), "{text}");
    let queues = redis.json(10, "queues -o json");
    assert_eq!(queues["items"][0].get("throttled"), None);
}

#[test]
fn holders_and_waiting_jobs_are_listed_in_order() {
    let redis = full();
    redis.session(expect![[r#"
        20 $ qless throttle locks api -o jid
        a
        20 $ qless throttle pending api -o jid
        b
        c
        20 $ qless throttle pending api -o raw
        ["b","c"]
        20 $ qless throttle locks other -o json | jq -c
        {"kind":"jobs","v":1,"total":0,"offset":0,"items":[],"missing":[]}
    "#]]);
}

#[test]
fn a_freed_slot_lets_the_next_job_run() {
    let redis = full();
    redis.ok(20, "complete a --worker w");
    let waiting = redis.ok(20, "jobs --state waiting -o jid");
    assert_eq!(waiting, "b");
    redis.ok(20, "throttle set api 2");
    let waiting = redis.ok(20, "jobs --state waiting -o jid");
    assert_eq!(waiting, "b\nc");
}

#[test]
fn a_released_job_goes_on_without_the_throttle() {
    let redis = full();
    redis.session(expect![[r#"
        20 $ qless throttle release api c -o json | jq -c
        {"kind":"done","v":1,"action":"throttle release","targets":["c"]}
    "#]]);
    let job = redis.json(20, "get c -o json");
    assert_eq!(
        (&job["state"], job.get("throttles")),
        (&"waiting".into(), None)
    );
    redis.at(20).run("throttle release api a b").exits(9);
    redis.ok(20, "throttle release api a b --yes");
    assert_eq!(redis.ok(20, "throttle locks api -o jid"), "");
}

#[test]
fn a_throttle_shows_who_changed_it_and_when() {
    let redis = Redis::start();
    let shown = |at: u32| redis.ok(at, "throttle show api -o json");
    assert!(!shown(1).contains("changed"));
    redis.ok(10, "throttle set api 3");
    let text = shown(11);
    assert!(
        text.contains(r#""changed": "1970-01-01T00:00:10.000Z","#),
        "{text}"
    );
    assert!(text.contains(r#""changed_by": ""#), "{text}");
    let text = redis.ok(12, "throttle show api");
    assert!(
        text.contains("changed\t1970-01-01T00:00:10.000Z\tby "),
        "{text}"
    );
    // Another client does not say who it is.
    redis.ok(20, "api throttle.set api 4");
    let text = shown(21);
    assert!(
        text.contains("00:00:20") && !text.contains("changed_by"),
        "{text}"
    );
    redis.ok(30, "put q K --throttle db=2");
    assert!(redis.ok(31, "throttle show db").contains("by "));
    redis.at(40).run("check").exits(0);
    redis.ok(41, "throttle rm api --yes");
    assert!(!shown(42).contains("changed"));
}

#[test]
fn only_jobs_that_use_the_throttle_are_released() {
    let redis = full();
    redis.ok(13, "put mail Call --jid plain");
    let before = redis.dump();
    let release = |line: &str| redis.at(20).run(&format!("throttle release {line} --yes"));
    redis.session(expect![[r#"
        20 $ qless throttle release nope a --yes
        --- stderr
        error: throttle `nope` does not exist
        --- exit 4
        20 $ qless throttle release apu b --yes
        --- stderr
        error: throttle `apu` does not exist
        hint: did you mean `api`?
        --- exit 4
        20 $ qless throttle release api plain --yes
        --- stderr
        error: `plain` neither holds a slot of throttle `api` nor waits for one
        --- exit 4
        20 $ qless throttle release api nobody --yes
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
    assert_eq!(redis.ok(20, "throttle pending api -o jid"), "b");
    // The core lists a job that two throttles hold back only for the first of them.
    redis.ok(20, "throttle set db 0");
    redis.ok(21, "put mail Call --jid two --throttle api --throttle db");
    release("db two").ok();
    let job = redis.json(22, "get two -o json");
    assert_eq!(job["throttles"], serde_json::json!(["api"]));
    // A slot may outlive its job.
    redis.send(&["ZADD", "ql:th:api-locks", "1", "lost"]);
    release("api lost").ok();
    assert_eq!(redis.ok(22, "throttle locks api -o jid"), "a");
}

#[test]
fn a_throttle_with_a_key_of_a_wrong_type_is_named() {
    let redis = full();
    redis.send(&["SET", "ql:th:bad", "x"]);
    redis.send(&["SET", "ql:th:late-locks", "x"]);
    redis.session(expect![[r#"
        20 $ qless throttle list --all
        api	1	1	2	–
        --- stderr
        error: cannot read throttle `bad`: key `ql:th:bad` has the wrong type; cannot read throttle `late`: key `ql:th:late-locks` has the wrong type
        hint: qless check --only key-type
        --- exit 3
        20 $ qless throttle list 'a*'
        api	1	1	2	–
        20 $ qless throttle list bad late
        --- stderr
        error: cannot read throttle `bad`: key `ql:th:bad` has the wrong type; cannot read throttle `late`: key `ql:th:late-locks` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
    redis.send(&["SET", "ql:throttles", "x"]);
    redis.session(expect![[r#"
        20 $ qless throttle list api
        api	1	1	2	–
        20 $ qless throttle list --all api
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
    redis.ok(13, "put mail Call --jid d");
    redis.ok(14, "put mail Call --jid e --delay 1h --throttle api-2");
    let found = |line: &str| {
        let line = format!("jobs {line} -o jid");
        let mut found: Vec<String> = redis.ok(20, &line).lines().map(str::to_owned).collect();
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
    redis.session(expect![[r#"
        20 $ qless jobs --throttle api --count -o json | jq -c
        {"kind":"counts","v":1,"waiting":0,"running":1,"stalled":0,"scheduled":0,"depends":0,"throttled":2,"complete":0,"failed":0}
        --- stderr
        scanning all jobs: `--throttle` has no index
    "#]]);
}

#[test]
fn put_sets_a_maximum_that_differs_first() {
    let redis = Redis::start();
    let line = |id: &str| format!("put mail Call --throttle {id}");
    redis.ok(10, &line("api=2"));
    let maximum = |redis: &Redis| redis.json(10, "throttle show api -o json")["maximum"].clone();
    assert_eq!(maximum(&redis), 2);
    redis.ok(10, &line("api"));
    assert_eq!(maximum(&redis), 2);
    redis.ok(10, "throttle set api 2 --ttl 1h");
    redis.ok(10, &line("api=5"));
    assert_eq!(maximum(&redis), 5);
    let throttle = redis.json(10, "throttle show api -o json");
    assert!(throttle["ttl_s"].as_u64().unwrap() > 3000, "{throttle}");
    redis.ok(10, &line("api=0"));
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
    redis.ok(10, "put mail Call --throttle api");
    redis.ok(10, "pop mail --worker w");
    let throttles = redis.ok(10, "throttle list --all");
    assert_eq!(throttles, "api\tno limit\t1\t0\t–\nother-locks\t3\t0\t0\t–");
    let line = "throttle list --all 'other*' -o json";
    let one = redis.json(10, line);
    assert_eq!(one["items"][0]["id"], "other-locks");
}

#[test]
fn of_many_queues_some_are_not_read_and_the_list_says_so() {
    let redis = full();
    for jid in ["d", "e"] {
        let line = format!("put mail Call --jid {jid} --key k");
        redis.ok(13, &line);
    }
    let fill =
        "for i = 1, 600 do redis.call('zadd', 'ql:queues', i < 300 and 1 or 99, 'q' .. i) end";
    redis.send(&["EVAL", fill, "0"]);
    redis.session(expect![[r#"
        20 $ qless throttle list
        api	1	1	2	–
        --- stderr
        101 queues not read: `--all` lists what holds a job back there alone
        20 $ qless throttle list api
        api	1	1	2	–
        20 $ qless throttle list mail/k
        --- stderr
        101 queues not read: `--all` lists what holds a job back there alone
        20 $ qless throttle list --all
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

    redis.session(expect![[r#"
        20 $ qless put mail Call --jid f --throttle foreign &>/dev/null
        20 $ qless throttle list
        api	1	1	2	–
        foreign	none may run	0	1	–
        --- stderr
        another client or an earlier version has set the maximum of throttle `foreign`; others that it has set are missing here, unless a job waits for them: `--all` lists them
        20 $ qless throttle list 'a*' -o json | jq -c
        {"kind":"throttles","v":1,"total":1,"offset":0,"items":[{"id":"api","maximum":1,"defined":true,"ttl_s":null,"locks":1,"pending":2}]}
        --- stderr
        another client or an earlier version has set the maximum of throttle `foreign`; others that it has set are missing here, unless a job waits for them: `--all` lists them
        20 $ qless throttle list api
        api	1	1	2	–
        20 $ qless throttle list -q
        api	1	1	2	–
        foreign	none may run	0	1	–
        20 $ qless check --repair --yes -q &>/dev/null
        20 $ qless throttle list
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
        redis.ok(20, &line);
    }
    redis.on_terminal(20.0, "throttle list").shows(expect![[r#"
        THROTTLE  MAXIMUM   LOCKS  PENDING
        api       1             1        2
        mail/ann  1 (lane)      1        2
    "#]]);
    let all = redis.json(20, "throttle list --all -o json");
    assert_eq!(
        all["items"],
        redis.json(20, "throttle list -o json")["items"]
    );
    redis.session(expect![[r#"
        20 $ qless throttle list 'mail/*' -o json | jq -c
        {"kind":"throttles","v":1,"total":1,"offset":0,"items":[{"id":"mail/ann","maximum":1,"defined":false,"ttl_s":null,"locks":1,"pending":2,"lane":true}]}
    "#]]);
    redis
        .on_terminal(20.0, "throttle list none")
        .shows(expect![[r#"
        no throttles
    "#]]);
    redis
        .on_terminal(20.0, "throttle list 'none*'")
        .shows(expect![[r#"
        no throttles
        hint: read the names of all keys: qless throttle list --all
    "#]]);
}

#[test]
fn an_unknown_throttle_of_a_release_is_told_from_one_that_is_not_listed() {
    let redis = full();
    redis.send(&["HSET", "ql:th:foreign", "id", "foreign", "maximum", "2"]);
    redis.session(expect![[r#"
        20 $ qless throttle release foreign b --yes
        --- stderr
        error: `b` neither holds a slot of throttle `foreign` nor waits for one
        --- exit 4
        20 $ qless throttle release apo b --yes
        --- stderr
        error: throttle `apo` does not exist
        hint: did you mean `api`?
        --- exit 4
    "#]]);
}

#[test]
fn a_larger_maximum_releases_all_jobs_that_can_run() {
    let redis = Redis::start();
    redis.ok(1, "throttle set s3 -1");
    redis.calls((0..2600).map(|n| {
        let words = words("put me q JID K {} 0 throttles '[\"s3\"]'").into_iter();
        let words = words.map(|word| word.replace("JID", &format!("j{n}")));
        (2.0, words.collect())
    }));
    let state = |state: &str| redis.json(3, "queues q -o json")["items"][0][state].clone();
    redis.at(3).run("pop q").exits(4);
    assert_eq!(state("throttled"), 2600);
    redis
        .on_terminal(4.0, "throttle set s3 1500")
        .shows(expect![[r#"
        set the maximum of throttle s3 to 1500; 1,500 jobs returned to the queue
    "#]]);
    assert_eq!(
        (state("waiting"), state("throttled")),
        (1500.into(), 1100.into())
    );
    redis
        .on_terminal(5.0, "throttle set s3 0")
        .shows(expect![[r#"
            set the maximum of throttle s3 to 0 (no limit); 1,100 jobs returned to the queue
        "#]]);
    assert_eq!(state("waiting"), 2600);
    redis
        .on_terminal(6.0, "throttle set s3 0")
        .shows(expect![[r#"
            set the maximum of throttle s3 to 0 (no limit)
        "#]]);
}

#[test]
fn a_removed_maximum_releases_all_its_jobs_also_if_the_first_run_was_interrupted() {
    let redis = Redis::start();
    let throttled = || {
        let queue = &redis.json(3, "queues q -o json")["items"][0];
        queue["throttled"].as_u64().unwrap_or(0)
    };
    let hold = || {
        redis.send(&["FLUSHALL"]);
        redis.ok(1, "throttle set s3 -1");
        redis.calls((0..2600).map(|n| {
            let words = words("put me q JID K {} 0 throttles '[\"s3\"]'").into_iter();
            let words = words.map(|word| word.replace("JID", &format!("j{n}")));
            (2.0, words.collect())
        }));
        redis.at(3).run("pop q").exits(4);
        assert_eq!(throttled(), 2600);
    };
    hold();
    redis.ok(4, "throttle rm s3 --yes");
    assert_eq!(throttled(), 0);
    hold();
    redis.ok(4, "api throttle.delete s3 --yes");
    assert_ne!(throttled(), 0);
    redis.ok(5, "throttle rm s3 --yes");
    assert_eq!(throttled(), 0);
    redis.at(6).run("throttle rm s3 --yes").exits(4);
    // Without a maximum, a lock has one slot.
    redis.send(&["FLUSHALL"]);
    redis.ok(1, "throttle set lock:x -1");
    for jid in ["a", "b", "c"] {
        redis.ok(2, &format!("put q K --jid {jid} --throttle lock:x"));
    }
    redis.at(3).run("pop q").exits(4);
    assert_eq!(throttled(), 3);
    redis.ok(4, "throttle rm lock:x --yes");
    assert_eq!(throttled(), 2);
    redis.at(5).run("throttle rm lock:x --yes").exits(4);
}

#[test]
fn a_maximum_below_0_may_stand_after_two_dashes() {
    let redis = Redis::start();
    for line in ["throttle set x -1", "throttle set y -- -1"] {
        redis.ok(10, line);
    }
    redis.at(11).run("throttle list").shows(expect![[r#"
        x	none may run	0	0	–
        y	none may run	0	0	–
    "#]]);
}

#[test]
fn the_end_of_a_maximum_is_a_full_time_for_programs() {
    let redis = Redis::start();
    redis.ok(10, "throttle set api 1 --ttl 1h");
    // The server counts the hour on, so the seconds are not certain.
    let listed = redis.ok(10, "throttle list -o tsv");
    let shown = redis.ok(10, "throttle show api -o tsv");
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
        redis.ok(10, &format!("put mail K --jid {jid} --key ann"));
    }
    redis.session(expect![[r#"
        11 $ qless throttle show mail/ann
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
    let shown = redis.json(11, "throttle show mail/ann -o json");
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
