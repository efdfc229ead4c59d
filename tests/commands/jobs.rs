//! `qless jobs`

use expect_test::expect;

use crate::commands::selectors::assert_selected;
use crate::support::redis::Redis;
use crate::support::text::words;

/// Two queues with jobs in every state, at the moment 100.
pub fn busy() -> Redis {
    let redis = Redis::start();
    let api = |now: f64, line: &str| (now, words(line));
    redis.calls([
        api(0.0, "config.set heartbeat 60"),
        api(1.0, "put me mail stalls Mail::Welcome {} 0 priority 10"),
        api(2.0, "pop mail mx-2 1"),
        api(40.0, "put me mail runs Mail::Digest {} 0"),
        api(59.0, "pop mail mx-1 1"),
        api(60.0, "put me mail taken Mail::Digest {} 0"),
        api(61.0, "pop mail mx-1 1"),
        api(62.0, "timeout taken"),
        api(
            70.0,
            r#"put me mail waits Mail::Welcome {} 0 tags '["eu","vip"]'"#,
        ),
        api(
            71.0,
            r#"put me mail waits-2 Mail::Welcome {} 0 tags '["eu"]'"#,
        ),
        api(72.0, "put me mail later Mail::Welcome {} 7500"),
        api(73.0, "put me images breaks Thumb {} 0"),
        api(74.0, "pop images d-1 1"),
        api(75.0, "fail breaks d-1 boom 'first line\nsecond line'"),
        api(
            76.0,
            r#"put me mail blocked Deploy {} 0 depends '["runs","breaks"]'"#,
        ),
        api(77.0, "put me images done Thumb {} 0"),
        api(78.0, "pop images d-1 1"),
        api(79.0, "complete done d-1 images {}"),
    ]);
    redis
}

#[test]
fn without_a_selector_all_jobs_in_queues_are_listed() {
    busy().at(100).run("jobs").shows(expect![[r#"
        runs	Mail::Digest	running	mail	0	5/5	1970-01-01T00:00:59.000Z	mx-1, lock until 1970-01-01T00:01:59.000Z
        stalls	Mail::Welcome	stalled	mail	10	5/5	1970-01-01T00:00:02.000Z	the lock of mx-2 expired 1970-01-01T00:01:02.000Z
        taken	Mail::Digest	stalled	mail	0	5/5	1970-01-01T00:01:02.000Z	mx-1 lost its lock 1970-01-01T00:01:02.000Z
        waits	Mail::Welcome	waiting	mail	0	5/5	1970-01-01T00:01:10.000Z	waits since 1970-01-01T00:01:10.000Z
        waits-2	Mail::Welcome	waiting	mail	0	5/5	1970-01-01T00:01:11.000Z	waits since 1970-01-01T00:01:11.000Z
        later	Mail::Welcome	scheduled	mail	0	5/5	1970-01-01T00:01:12.000Z	1970-01-01T02:06:12.000Z
        blocked	Deploy	depends	mail	0	5/5	1970-01-01T00:01:16.000Z	on 2 jobs, 1 failed
    "#]]);
}

#[test]
fn states_narrow_and_repeats_widen() {
    assert_selected(
        &busy(),
        "
        --queue mail --state running,stalled | runs stalls taken
        --queue mail --state running | runs
        --queue mail --state stalled | stalls taken
        --queue mail --state waiting | waits waits-2
        --state scheduled --state depends | blocked later
        --state complete | done
        --state failed | breaks
        --queue images | breaks
        --queue 'im*' --queue nomatch-* --state failed,complete | breaks
        --group boom | breaks
        --group 'b*' --queue mail |
        --group boom --state waiting,failed | breaks
        --tag eu | waits waits-2
        --tag eu --tag vip | waits
        --tag eu --state running |
        --tag nobody |
    ",
    );
}

#[test]
fn totals_are_reported_if_an_index_knows_them() {
    busy().session(expect![[r#"
        100 $ qless jobs --limit 1 -o json | jq -c .total
        7
        100 $ qless jobs --tag eu --limit 1 -o json | jq -c .total
        2
        100 $ qless jobs --queue mail --state waiting --limit 1 -o json | jq -c .total
        null
        100 $ qless jobs --queue mail --state waiting -o json | jq -c .total
        2
        100 $ qless jobs --state failed --limit 0 -o json | jq -c .total
        1
        100 $ qless jobs --queue mail --limit 2 --offset 1 -o json | jq -c '[.offset, .items[].jid]'
        [1,"stalls","taken"]
    "#]]);
}

#[test]
fn the_list_document_has_the_specified_fields() {
    busy().session(expect![[r#"
        100 $ qless jobs --tag vip -o json
        {
          "kind": "jobs",
          "v": 1,
          "total": 1,
          "offset": 0,
          "items": [
            {
              "jid": "waits",
              "klass": "Mail::Welcome",
              "queue": "mail",
              "state": "waiting",
              "state_stored": "waiting",
              "priority": 0,
              "retries": 5,
              "remaining": 5,
              "worker": null,
              "expires": null,
              "tracked": false,
              "tags": [
                "eu",
                "vip"
              ],
              "data": {},
              "failure": null,
              "dependencies": [],
              "dependents": [],
              "spawned_from": null,
              "scheduled_for": null,
              "since": "1970-01-01T00:01:10.000Z"
            }
          ],
          "missing": []
        }
        100 $ qless jobs --tag vip -o ndjson
        {"jid":"waits","klass":"Mail::Welcome","queue":"mail","state":"waiting","state_stored":"waiting","priority":0,"retries":5,"remaining":5,"worker":null,"expires":null,"tracked":false,"tags":["eu","vip"],"data":{},"failure":null,"dependencies":[],"dependents":[],"spawned_from":null,"scheduled_for":null,"since":"1970-01-01T00:01:10.000Z"}
        100 $ qless jobs --tag nobody -o json | jq -c
        {"kind":"jobs","v":1,"total":0,"offset":0,"items":[],"missing":[]}
    "#]]);
}

#[test]
fn counts_are_numbers_per_state() {
    let redis = busy();
    redis.session(expect![[r#"
        100 $ qless jobs --count
        running	1
        stalled	2
        waiting	2
        scheduled	1
        depends	1
        failed	1
        complete	1
        100 $ qless jobs --count --queue images -o json | jq -c
        {"kind":"counts","v":1,"waiting":0,"running":0,"stalled":0,"scheduled":0,"depends":0,"complete":0,"failed":1}
        100 $ qless jobs --count --tag eu -o json | jq -c
        {"kind":"counts","v":1,"waiting":2,"running":0,"stalled":0,"scheduled":0,"depends":0,"complete":0,"failed":0}
        100 $ qless jobs --count --state waiting,failed -o ndjson
        {"kind":"counts","v":1,"waiting":2,"running":0,"stalled":0,"scheduled":0,"depends":0,"complete":0,"failed":1}
        100 $ qless jobs --count -o jid
        --- stderr
        error: `-o jid` is only for commands whose result is jobs
        --- exit 2
    "#]]);
}

#[test]
fn unknown_names_are_refused_with_the_nearest_known_ones() {
    let redis = busy();
    redis.session(expect![[r#"
        100 $ qless jobs --queue mial
        --- stderr
        error: queue `mial` does not exist
        hint: did you mean `mail`?
        --- exit 4
        100 $ qless jobs --queue mial --state waiting &>/dev/null
        --- exit 4
        100 $ qless jobs --group bom
        --- stderr
        error: group `bom` does not exist
        hint: did you mean `boom`?
        --- exit 4
        100 $ qless jobs --group bom -o json
        --- stderr
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"group `bom` does not exist","hint":"did you mean `boom`?","jid":null}
        --- exit 4
        100 $ qless jobs --state asleep
        --- stderr
        error: `--state` expects one of `running`, `stalled`, `waiting`, `scheduled`, `depends`, `throttled`, `failed`, `complete`, not `asleep`
        --- exit 2
        100 $ qless jobs --queue 'x*'
    "#]]);
}

#[test]
fn only_tables_have_an_order() {
    let redis = Redis::start();
    for line in ["jobs", "jobs --sort jid", "queues", "morgue q ls", "failed"] {
        for format in ["json", "ndjson"] {
            let line = format!("{line} --reverse -o {format}");
            let refused = redis.at(0).run(&line).exits(2);
            let only = "is only for tables";
            refused.says(only);
        }
    }
    redis.at(0).run("jobs --sort jid -o jid").exits(2);
}

#[test]
fn columns_order_headers_and_times_follow_the_flags() {
    let redis = busy();
    redis.session(expect![[r#"
        100 $ qless jobs --columns jid,state,pri,tags --sort jid --reverse --headers always --limit 3
        JID	STATE	PRI	TAGS
        waits-2	waiting	0	eu
        waits	waiting	0	eu, vip
        taken	stalled	0	–
        100 $ qless jobs --columns jid,nope
        --- stderr
        error: `--columns`: no column is called `nope`
        hint: the columns are jid, klass, state, queue, pri, remaining, age, worker, tags, lane, throttles, group, data, detail
        --- exit 2
        100 $ qless jobs --queue mail --state running,scheduled --time-format relative
        runs	Mail::Digest	running	mail	0	5/5	41s	mx-1, lock 19s
        later	Mail::Welcome	scheduled	mail	0	5/5	28s	in 2h 4m
        100 $ qless jobs --queue mail --state running,scheduled --time-format unix
        runs	Mail::Digest	running	mail	0	5/5	59	mx-1, lock until 119
        later	Mail::Welcome	scheduled	mail	0	5/5	72	7572
    "#]]);
}

#[test]
fn raw_prints_the_reply_of_jobs_if_there_is_one() {
    let redis = busy();
    redis.session(expect![[r#"
        100 $ qless jobs --queue mail --state running -o raw
        runs
        100 $ qless jobs --state complete -o raw
        done
        100 $ qless jobs -o raw
        --- stderr
        error: the core's own `jobs` takes one state of one queue, or `complete`
        hint: give both: `--state running --queue Q`; other states are stalled, scheduled, depends and throttled
        --- exit 2
    "#]]);
}

#[test]
fn long_lists_are_read_in_slices_with_few_calls() {
    let redis = Redis::start();
    let put = |n: u32| words(&format!("put me q j{n:04} K {{}} 0"));
    redis.calls((0..1203).map(|n| (f64::from(n), put(n))));
    let cost = |line: &str| {
        redis.send(&["CONFIG", "RESETSTAT"]);
        (redis.ok(5000, line), redis.scripts_run())
    };
    let all: Vec<String> = (0..1203).map(|n| format!("j{n:04}")).collect();
    let list = "jobs --queue q --state waiting -o jid";
    assert_eq!(cost(list), (all.join("\n"), 1 + 3));
    let few = "jobs --queue q --state waiting,stalled --limit 5 -o jid";
    assert_eq!(cost(few), (all[..5].join("\n"), 3));
}

#[test]
fn a_closed_pipe_ends_jobs_without_an_error() {
    let redis = busy();
    let mut child = redis
        .at(100)
        .command()
        .args(["jobs", "-o", "ndjson"])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn pages_are_whole_numbers() {
    let redis = Redis::start();
    for flag in ["limit", "offset"] {
        for wrong in ["x", "1.5", "99999999999999999999"] {
            let ran = redis.at(0).run(&format!("jobs --{flag} {wrong}")).exits(2);
            ran.says(&format!(
                "`--{flag}` expects a whole number between 0 and 9007199254740992"
            ));
        }
    }
}

#[test]
fn require_match_makes_an_empty_list_an_error() {
    busy().session(expect![[r#"
        100 $ qless jobs --klass Nothing --require-match
        --- stderr
        scanning all jobs: `--klass` has no index
        error: no job matches
        --- exit 4
        100 $ qless jobs --klass Nothing
        --- stderr
        scanning all jobs: `--klass` has no index
        100 $ qless jobs --klass Nothing --require-match -o json | jq -c .total
        0
        --- stderr
        scanning all jobs: `--klass` has no index
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"no job matches","hint":null,"jid":null}
        --- exit 4
        100 $ qless jobs --klass Nothing --count --require-match &>/dev/null
        --- exit 4
        100 $ qless jobs --klass Nothing --require-match -o jid &>/dev/null
        --- exit 4
        100 $ qless jobs --klass 'Mail::*' --require-match &>/dev/null
        100 $ qless jobs --klass 'Mail::*' --count --require-match &>/dev/null
    "#]]);
}
