//! `qless throttle`, and how `queues`, `jobs`, `explain` and `status` show throttled jobs.

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::text::{Shows, words};

/// `a` runs with the only slot of `api`; `b` and `c` wait for it.
fn full() -> Redis {
    let redis = Redis::start();
    for (now, line) in [
        (10, "throttle set api 1"),
        (10, "put mail Call --jid a --throttle api"),
        (10, "pop mail --worker w"),
        (11, "put mail Call --jid b --throttle api"),
        (12, "put mail Call --jid c --throttle api"),
    ] {
        redis.ok(now, line);
    }
    redis
}

/// 2,600 jobs that `s3` lets not run.
fn held_back(redis: &Redis) {
    redis.send(&["FLUSHALL"]);
    redis.ok(1, "throttle set s3 -1");
    redis.calls((0..2600).map(|n| {
        let line = format!("put me q j{n} K {{}} 0 throttles '[\"s3\"]'");
        (2.0, words(&line))
    }));
    redis.at(3).run("pop q").exits(4);
    assert_eq!(count(redis, "throttled"), 2600);
}

/// How many jobs of `q` are in a state.
fn count(redis: &Redis, state: &str) -> u64 {
    let queue = &redis.json(3, "queues q -o json")["items"][0];
    queue[state].as_u64().unwrap_or(0)
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
    let user = format!("ann@{}", qless::internals::host_name());
    let ann = redis.at(10).env("USER", "ann").hide(&user, "BY");
    ann.session(expect![[r#"
        $ qless throttle set api 10
        $ qless throttle set db 3 -o json | jq -c
        {"kind":"done","v":1,"action":"throttle set","targets":["db"]}
        $ qless throttle list --headers always
        THROTTLE	MAXIMUM	LOCKS	PENDING	EXPIRES
        api	10	0	0	–
        db	3	0	0	–
        $ qless throttle show api -o json | jq -c
        {"kind":"throttle","v":1,"id":"api","maximum":10,"defined":true,"ttl_s":null,"locks":0,"pending":0,"changed":"1970-01-01T00:00:10.000Z","changed_by":"BY","holders":[],"waiting":[]}
        $ qless throttle show api -o raw
        {"id":"api","maximum":10,"ttl":-1}
        $ qless throttle rm api db --yes
        $ qless throttle list
        $ qless throttle rm api --yes
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
        10 $ qless throttle set api 1.5 &>/dev/null
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
        10 $ qless throttle release api nobody &>/dev/null
        --- exit 4
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
        10 $ qless throttle set api-locks 3 &>/dev/null
        --- exit 2
        10 $ qless put q K --throttle api-pending &>/dev/null
        --- exit 2
        10 $ printf '{"queue":"q","klass":"K","throttles":["api-locks"]}' | qless put --from - &>/dev/null
        --- exit 2
        10 $ qless api throttle.set other-locks 3 &>/dev/null
        --- exit 2
    "#]]);
    assert!(redis.dump().is_empty());
}

#[test]
fn a_maximum_that_is_no_number_of_jobs_says_what_it_means() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless throttle set api 0 -n
        --- stderr
        note: throttle `api` is new: no job uses it
        would set the maximum of throttle api to 0 (no limit)
        10 $ qless throttle set api -1 -n
        --- stderr
        note: throttle `api` is new: no job uses it
        would set the maximum of throttle api to -1 (no job runs)
        10 $ qless throttle set api 7 -n
        --- stderr
        note: throttle `api` is new: no job uses it
        would set the maximum of throttle api to 7
    "#]]);
    let help = redis.ok(10, "throttle set --help");
    assert!(help.contains("0 removes the limit. A negative number lets no job run."));
}

#[test]
fn a_job_without_a_free_slot_is_throttled() {
    let redis = full();
    redis.session(expect![[r#"
        20 $ qless throttle list -o json | jq -c
        {"kind":"throttles","v":1,"total":1,"offset":0,"items":[{"id":"api","maximum":1,"defined":true,"ttl_s":null,"locks":1,"pending":2}]}
        20 $ qless throttle locks api -o jid
        a
        20 $ qless throttle pending api -o jid
        b
        c
        20 $ qless throttle pending api -o raw
        ["b","c"]
        20 $ qless throttle locks other -o json | jq -c
        {"kind":"jobs","v":1,"total":0,"offset":0,"items":[],"missing":[]}
        20 $ qless jobs --queue mail --count -o json | jq -c .throttled
        2
        20 $ qless status -o json | jq -c .totals.throttled
        2
    "#]]);
    // The name of the operator differs.
    redis.send(&["HDEL", "ql:th:api", "changed", "by"]);
    let shown = |line: &str| format!("$ qless {line}\n{}", redis.on_terminal(20.0, line));
    let lines = [
        "throttle show api",
        "queues",
        "jobs --state throttled",
        "explain c",
        "explain --queue mail",
        "get c",
    ];
    lines.map(shown).concat().shows(expect![[r#"
        $ qless throttle show api
        throttle  api
        maximum   1
        locks     1
                  a    mail, running
        pending   2
                  b    mail, throttled
                  c    mail, throttled
        $ qless queues
        QUEUE  WAITING  RUNNING  STALLED  SCHEDULED  DEPENDS  THROTTLED  RECURRING  NEXT WAITS  STATE
        mail         0        1        0          0        0          2          0  –
        $ qless jobs --state throttled
        JID  KLASS  STATE      QUEUE  PRI  REMAINING  AGE  DETAIL
        b    Call   throttled  mail     0        5/5  9s   needs api
        c    Call   throttled  mail     0        5/5  8s   needs api
        $ qless explain c
        Call in mail is throttled and cannot run now

          ✗ throttle api has no free slot  1 of 1 taken, 2 jobs wait for it, a (mail, running on w)
              qless throttle show api
          ✓ newest held lock was granted  10s ago
        $ qless explain --queue mail
        no job can be popped from mail now
        1 running, 2 throttled, the oldest wait is 9s

          ✗ throttle api has no free slot  1 of 1 taken, 2 jobs wait for it, a (mail, running on w)
              qless throttle show api
          ✓ newest held lock was granted  10s ago
        $ qless get c
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
}

#[test]
fn a_queue_is_explained_by_what_its_next_pop_does_with_held_jobs() {
    // A maximum that expired wakes nobody: the next pop looks at the held jobs.
    let redis = full();
    redis.send(&["DEL", "ql:th:api"]);
    let before = redis.dump();
    redis.on_terminal(20.0, "explain --queue mail").shows(expect![[r#"
            a pop of mail would get b
            1 running, 2 throttled, the oldest wait is 9s

              · 2 jobs wait for throttles; slots are free           qless jobs --queue=mail --state=throttled
              ✓ newest held lock was granted               10s ago
        "#]]);
    assert!(redis.dump() == before);
    redis.session(expect![[r#"
        20 $ qless explain --queue mail -o json | jq -c .runnable
        true
        21 $ qless pop mail --worker w -o jid
        b
    "#]]);

    // So does a slot of a job that another script ended.
    let redis = full();
    redis.send(&["HSET", "ql:j:a", "state", "complete"]);
    redis.session(expect![[r#"
        20 $ qless explain --queue mail -o json | jq -c .runnable
        true
        20 $ qless explain b -o json | jq -c .runnable
        true
        21 $ qless pop mail --worker w -o jid
        b
    "#]]);

    // Each throttle is full, or has no job that waits for it: the pop gets nothing.
    let redis = full();
    redis.session(expect![[r#"
        13 $ qless throttle set db 1
        13 $ qless put mail Call --jid d --throttle db &>/dev/null
        14 $ qless pop mail --worker w -o jid
        d
        20 $ qless explain --queue mail -o json | jq -c .runnable
        false
        21 $ qless pop mail --worker w -o jid
        --- exit 4
    "#]]);
    // A paused queue gives nothing, whatever is free. Nor does a queue whose limit is used up.
    redis.send(&["DEL", "ql:th:api"]);
    redis.session(expect![[r#"
        22 $ qless pause mail
        23 $ qless explain --queue mail -o json | jq -c .runnable
        false
        24 $ qless unpause mail
        24 $ qless config set mail-max-concurrency 2 &>/dev/null
        25 $ qless explain --queue mail -o json | jq -c .runnable
        false
        26 $ qless pop mail --worker w -o jid
        --- exit 4
    "#]]);
}

#[test]
fn a_job_that_is_moved_or_retried_is_throttled_as_a_put_one() {
    full().session(expect![[r#"
        20 $ qless move b --to slow
        21 $ qless get b --field state
        throttled
        22 $ qless bury c --group G --message M &>/dev/null
        23 $ qless retry c &>/dev/null
        24 $ qless get c --field state
        throttled
        25 $ qless complete a --worker w &>/dev/null
        26 $ qless pop slow --worker w -o jid
        b
    "#]]);
}

#[test]
fn queues_without_throttled_jobs_have_no_column_for_them() {
    let redis = Redis::start();
    redis.ok(10, "put mail Call --throttle api");
    let text = redis.ok(10, "queues --headers always") + &redis.ok(10, "queues -o json");
    assert!(text.contains("\"waiting\": 1"), "{text}");
    assert!(!text.to_lowercase().contains("throttled"), "{text}");
}

#[test]
fn a_freed_slot_lets_the_next_job_run() {
    full().session(expect![[r#"
        20 $ qless complete a --worker w &>/dev/null
        20 $ qless jobs --state waiting -o jid
        b
        20 $ qless throttle set api 2
        20 $ qless jobs --state waiting -o jid
        b
        c
    "#]]);
}

#[test]
fn a_released_job_goes_on_without_the_throttle() {
    full().session(expect![[r#"
        20 $ qless throttle release api c -o json | jq -c
        {"kind":"done","v":1,"action":"throttle release","targets":["c"]}
        20 $ qless get c -o json | jq -c '[.state, .throttles]'
        ["waiting",null]
        20 $ qless throttle release api a b &>/dev/null
        --- exit 9
        20 $ qless throttle release api a b --yes
        20 $ qless throttle locks api -o jid
    "#]]);
}

#[test]
fn a_throttle_shows_who_changed_it_and_when() {
    let redis = Redis::start();
    let user = format!("ann@{}", qless::internals::host_name());
    let ann = redis.qless().env("USER", "ann").hide(&user, "BY");
    // Another client does not say who it is.
    ann.session(expect![[r#"
        1 $ qless throttle show api -o json | jq -c '[.changed, .changed_by]'
        [null,null]
        --- stderr
        note: throttle `api` is new: no job uses it
        10 $ qless throttle set api 3
        11 $ qless throttle show api -o json | jq -c '[.changed, .changed_by]'
        ["1970-01-01T00:00:10.000Z","BY"]
        12 $ qless throttle show api
        throttle	api
        maximum	3
        changed	1970-01-01T00:00:10.000Z	by BY
        locks	0
        pending	0
        20 $ qless api throttle.set api 4
        21 $ qless throttle show api -o json | jq -c '[.changed, .changed_by]'
        ["1970-01-01T00:00:20.000Z",null]
        30 $ qless put q K --throttle db=2 &>/dev/null
        31 $ qless throttle show db -o json | jq -c .changed_by
        "BY"
        40 $ qless check &>/dev/null
        41 $ qless throttle rm api --yes
        42 $ qless throttle show api -o json | jq -c '[.changed, .changed_by]'
        [null,null]
        --- stderr
        note: throttle `api` is new: no job uses it
    "#]]);
}

#[test]
fn only_jobs_that_use_the_throttle_are_released() {
    let redis = full();
    redis.ok(13, "put mail Call --jid plain");
    redis.send(&["HSET", "ql:th:foreign", "id", "foreign", "maximum", "2"]);
    let before = redis.dump();
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
        20 $ qless throttle release foreign b --yes
        --- stderr
        error: `b` neither holds a slot of throttle `foreign` nor waits for one
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
    // The others of the list are released. The core lists a job that two throttles hold back only for the
    // first of them.
    redis.session(expect![[r#"
        20 $ qless throttle release api plain c nobody --yes
        --- stderr
        released 1 job from throttle api
        error: job `nobody` does not exist; `plain` neither holds a slot of throttle `api` nor waits for one
        --- exit 4
        20 $ qless throttle pending api -o jid
        b
        20 $ qless throttle set db 0
        21 $ qless put mail Call --jid two --throttle api --throttle db &>/dev/null
        20 $ qless throttle release db two --yes
        22 $ qless get two -o json | jq -c .throttles
        ["api"]
    "#]]);
    // A slot may outlive its job.
    redis.send(&["ZADD", "ql:th:api-locks", "1", "lost"]);
    redis.session(expect![[r#"
        22 $ qless throttle release api lost --yes
        22 $ qless throttle locks api -o jid
        a
    "#]]);
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
        20 $ qless throttle show late &>/dev/null
        --- exit 3
        20 $ qless throttle show bad
        --- stderr
        error: cannot read throttle `bad`: key `ql:th:bad` has the wrong type
        hint: qless check --only key-type
        --- exit 3
    "#]]);
}

#[test]
fn jobs_are_selected_by_throttle() {
    let redis = full();
    redis.session(expect![[r#"
        13 $ qless put mail Call --jid d &>/dev/null
        14 $ qless put mail Call --jid e --delay 1h --throttle api-2 &>/dev/null
        20 $ qless jobs --throttle api --sort jid --columns jid -q
        a
        b
        c
        20 $ qless jobs --throttle 'api*' --state scheduled,running --sort jid --columns jid -q
        a
        e
        20 $ qless jobs --throttle api --queue mail --state throttled -o jid
        b
        c
        20 $ qless jobs --throttle nothing -o jid -q
        20 $ qless jobs --throttle api --count -o json | jq -c
        {"kind":"counts","v":1,"waiting":0,"running":1,"stalled":0,"scheduled":0,"depends":0,"throttled":2,"complete":0,"failed":0}
        --- stderr
        scanning all jobs: `--throttle` has no index
    "#]]);
}

#[test]
fn put_sets_a_maximum_that_differs_first() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        10 $ qless put mail Call --throttle api=2 &>/dev/null
        10 $ qless throttle list --columns maximum
        2
        10 $ qless put mail Call --throttle api &>/dev/null
        10 $ qless throttle list --columns maximum
        2
        10 $ qless throttle set api 2 --ttl 1h
        10 $ qless put mail Call --throttle api=5 &>/dev/null
        10 $ qless throttle list --columns maximum
        5
    "#]]);
    let throttle = redis.json(10, "throttle show api -o json");
    assert!(throttle["ttl_s"].as_u64().unwrap() > 3000, "{throttle}");
    redis.session(expect![[r#"
        10 $ qless put mail Call --throttle api=0 &>/dev/null
        10 $ qless throttle show api -o json | jq -c .maximum
        0
    "#]]);
}

#[test]
fn an_id_of_another_client_with_the_ending_of_a_list_is_listed() {
    let redis = Redis::start();
    redis.send(&["HSET", "ql:th:o-locks", "id", "o-locks", "maximum", "3"]);
    redis.session(expect![[r#"
        10 $ qless put mail Call --throttle api &>/dev/null
        10 $ qless pop mail --worker w &>/dev/null
        10 $ qless throttle list --all
        api	no limit	1	0	–
        o-locks	3	0	0	–
        10 $ qless throttle list --all 'o*' --columns throttle
        o-locks
    "#]]);
}

#[test]
fn of_many_queues_some_are_not_read_and_the_list_says_so() {
    let redis = full();
    for jid in ["d", "e"] {
        redis.ok(13, &format!("put mail Call --jid {jid} --key k"));
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
    assert_eq!(redis.ok(20, "throttle list"), "api\t1\t1\t2\t–");
    let calls = format!("{:?}", redis.send(&["INFO", "commandstats"]));
    assert!(!calls.contains("cmdstat_scan:"), "{calls}");
    assert!(calls.contains("cmdstat_evalsha:calls=1,"), "{calls}");
    redis.session(expect![[r#"
        20 $ qless throttle list foreign
        foreign	none may run	0	0	–
        20 $ qless throttle list --all
        api	1	1	2	–
        foreign	none may run	0	0	–
        other	none may run	0	0	–
        20 $ qless put mail Call --jid f --throttle foreign &>/dev/null
        20 $ qless throttle list
        api	1	1	2	–
        foreign	none may run	0	1	–
        --- stderr
        another client or an earlier version has set the maximum of throttle `foreign`; others that it has set are missing here, unless a job waits for them: `--all` lists them
        20 $ qless throttle list 'a*'
        api	1	1	2	–
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
        redis.ok(20, &format!("put mail Call --jid {jid} --key ann"));
    }
    let shown = |line: &str| format!("$ qless {line}\n{}", redis.on_terminal(20.0, line));
    let lines = [
        "throttle list",
        "throttle list none",
        "throttle list 'none*'",
    ];
    lines.map(shown).concat().shows(expect![[r#"
        $ qless throttle list
        THROTTLE  MAXIMUM   LOCKS  PENDING
        api       1             1        2
        mail/ann  1 (lane)      1        2
        $ qless throttle list none
        no throttles
        $ qless throttle list 'none*'
        no throttles
        hint: read the names of all keys: qless throttle list --all
    "#]]);
    redis.session(expect![[r#"
        20 $ qless throttle list --all
        api	1	1	2	–
        mail/ann	1 (lane)	1	2	–
        20 $ qless throttle list 'mail/*' -o json | jq -c .items[0]
        {"id":"mail/ann","maximum":1,"defined":false,"ttl_s":null,"locks":1,"pending":2,"lane":true}
    "#]]);
}

#[test]
fn a_larger_maximum_releases_all_jobs_that_can_run() {
    let redis = Redis::start();
    held_back(&redis);
    let set = |maximum: u32| redis.on_terminal(4.0, &format!("throttle set s3 {maximum}"));
    assert_eq!(
        set(1500),
        "set the maximum of throttle s3 to 1500; 1,500 jobs returned to the queue\n"
    );
    assert_eq!(
        (count(&redis, "waiting"), count(&redis, "throttled")),
        (1500, 1100)
    );
    let unlimited = "set the maximum of throttle s3 to 0 (no limit)";
    assert_eq!(
        set(0),
        format!("{unlimited}; 1,100 jobs returned to the queue\n")
    );
    assert_eq!(count(&redis, "waiting"), 2600);
    assert_eq!(set(0), format!("{unlimited}\n"));
}

#[test]
fn a_removed_maximum_releases_all_its_jobs_also_if_the_first_run_was_interrupted() {
    let redis = Redis::start();
    held_back(&redis);
    redis.ok(4, "throttle rm s3 --yes");
    assert_eq!(count(&redis, "throttled"), 0);
    held_back(&redis);
    redis.ok(4, "api throttle.delete s3 --yes");
    assert_ne!(count(&redis, "throttled"), 0);
    redis.ok(5, "throttle rm s3 --yes");
    assert_eq!(count(&redis, "throttled"), 0);
    redis.at(6).run("throttle rm s3 --yes").exits(4);
    // Without a maximum, a lock has one slot.
    redis.send(&["FLUSHALL"]);
    redis.session(expect![[r#"
        1 $ qless throttle set lock:x -1
        2 $ qless put q K --jid a --throttle lock:x &>/dev/null
        2 $ qless put q K --jid b --throttle lock:x &>/dev/null
        2 $ qless put q K --jid c --throttle lock:x &>/dev/null
        3 $ qless pop q
        --- exit 4
        3 $ qless jobs --columns jid,state
        a	throttled
        b	throttled
        c	throttled
        4 $ qless throttle rm lock:x --yes
        4 $ qless jobs --columns jid,state
        a	waiting
        b	throttled
        c	throttled
        5 $ qless throttle rm lock:x --yes &>/dev/null
        --- exit 4
    "#]]);
}

#[test]
fn a_maximum_below_0_may_stand_after_two_dashes() {
    Redis::start().session(expect![[r#"
        10 $ qless throttle set x -1
        10 $ qless throttle set y -- -1
        11 $ qless throttle list
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
    // At its end, it is the id of a throttle, too.
    redis.session(expect![[r#"
        10 $ qless put mail K --jid a --key ann &>/dev/null
        10 $ qless put mail K --jid b --key ann &>/dev/null
        11 $ qless throttle show mail/ann
        throttle	mail/ann
        maximum	1 (lane)
        locks	1
        holder	a	mail, waiting
        pending	1
        waiting	b	mail, depends
        --- stderr
        note: `mail/ann` is a lane, which runs one job at a time; `qless key` lists its jobs
        11 $ qless throttle set mail/ann 3
        --- stderr
        note: `mail/ann` is a lane, which runs one job at a time; `qless key` lists its jobs
        11 $ qless throttle show mail/ann -o json | jq -c .maximum
        3
    "#]]);
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
    // `show` says so to a script, too, and its document stays the same.
    let shown = redis.at(13).run("throttle show apii -o json").exits(0);
    assert_eq!(shown.stderr(), line);
    assert_eq!(
        redis.at(13).run("throttle show apii -q").exits(0).stderr(),
        ""
    );
    assert_eq!(
        redis.at(13).run("throttle locks apii").exits(0).stderr(),
        ""
    );
    let said = redis.on_terminal(13.0, "throttle show apii");
    assert!(said.ends_with(line), "{said}");
    assert_eq!(redis.at(13).run("throttle set api 2").stderr(), "");
}
